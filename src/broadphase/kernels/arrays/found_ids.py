"""Where found ids go: an int32 array that grows while a kernel runs.

The idiom of a kernel that answers one question, and returns ``ids, tests``::

    out = np.empty(FEW, np.int32)
    ...
    if found == len(out):
        out = grow_ids(out)
    out[found] = i
    found += 1
    ...
    return finished(out, found), tests

A batch kernel writes rows ``[query, id]`` with `put_row` into memory that the caller brings.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline

# Up to this many results are sorted where they were found; beyond it NumPy's sort is faster.
FEW = 32


@inline
def grow_ids(out):
    """A copy of ``out`` with twice the room."""
    larger = np.empty(2 * len(out), np.int32)
    for k in range(len(out)):  # a slice assignment costs seconds of compile time
        larger[k] = out[k]
    return larger


@inline
def first_ids(out, found):
    """The first ``found`` ids in an array of their own."""
    ids = np.empty(found, np.int32)
    for k in range(found):
        ids[k] = out[k]
    return ids


@inline
def finished(out, found):
    """The found ids in an array of their own; in order when they are few."""
    if found <= FEW:
        for k in range(1, found):
            value = out[k]
            at = k
            while at > 0 and out[at - 1] > value:
                out[at] = out[at - 1]
                at -= 1
            out[at] = value
    return first_ids(out, found)


@inline
def put_row(out, at, query, i):
    """Write the row ``[query, id]``."""
    out[at, 0] = query
    out[at, 1] = i
