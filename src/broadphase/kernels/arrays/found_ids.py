"""Where found ids go: onto the stack, and from there into an array of just their number.

The idiom of a kernel that answers one query and returns ``ids, tests``::

    out = many(ROOM, np.int32)
    found = search(..., out)  # writes what there is room for, and counts all
    if found > ROOM:
        ids = result(found, np.int32)
        search(..., ids)  # again, or from where the array was full
        return ids, tests
    return finished(out, found), tests

The kernel makes the array that it returns: ``np.empty`` and a slice in Python take 0.17 microseconds, a third
of the time of such a call.  A batch kernel writes rows
``[query, id]`` with `put_row` into memory that the caller brings.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline

# Up to this many results are sorted where they were found; beyond it NumPy's sort is faster.
FEW = 32
# So many ids lie on the stack: more are looked for twice.  Half of what a kernel should have there.
ROOM = 512


@inline
def result(count, dtype):
    """An array that the kernel returns: the only memory that a kernel allocates."""
    return np.empty(count, dtype)


@inline
def begun(out, kept, found):
    """The result for ``found`` ids with those that are known already, the first ``kept`` of ``out``."""
    ids = result(found, np.int32)
    for k in range(kept):  # a slice assignment costs seconds of compile time
        ids[k] = out[k]
    return ids


@inline
def finished(out, found):
    """The found ids as the result; in order when they are few."""
    if found <= FEW:
        for k in range(1, found):
            value = out[k]
            at = k
            while at > 0 and out[at - 1] > value:
                out[at] = out[at - 1]
                at -= 1
            out[at] = value
    return begun(out, found, found)


@inline
def put_row(out, at, query, i):
    """Write the row ``[query, id]``."""
    out[at, 0] = query
    out[at, 1] = i
