"""Where found pairs go: an ``(m, 2)`` int32 array that grows while a kernel runs.

The idiom of every textbook kernel, which returns ``out, found, tests``::

    if found == len(out):
        if found > limit:
            return out, found, tests  # more than the caller can use: stop
        out = grow(out, limit)
    put(out, found, i, j)
    found += 1
"""

import numpy as np

from broadphase.kernels.machine.jit import inline

# What a kernel that only counts is given for `out`; it never stores.
FIRST_ROOM = 1024


@inline
def grow(out, limit):
    """A copy of ``out`` with twice the room, but never more than ``limit + 1`` rows."""
    return _copy_rows(out, out.shape[0], min(max(2 * out.shape[0], FIRST_ROOM), limit + 1))


@inline
def grow_for_lanes(out, found, more):
    """A copy of the first ``found`` rows of ``out`` in twice the room, and room for ``more``."""
    return _copy_rows(out, found, max(2 * out.shape[0], found + more, FIRST_ROOM))


@inline
def _copy_rows(out, rows, room):
    larger = np.empty((room, 2), np.int32)
    # A loop and not a slice assignment, which takes Numba 2.4 s to compile; LLVM makes it a memcpy.
    for row in range(rows):
        larger[row, 0] = out[row, 0]
        larger[row, 1] = out[row, 1]
    return larger


@inline
def put(out, at, i, j):
    """Write the pair at row ``at``, smaller id first."""
    out[at, 0] = min(i, j)
    out[at, 1] = max(i, j)
