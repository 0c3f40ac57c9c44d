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

from broadphase.kernels.machine.jit import inline, jit

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


@jit
def sort_few_rows(rows):
    """Sort the ids of every query that found few; True when a query that found many is left unsorted.

    The rows of one query lie together, and the queries are in order.
    """
    left = False
    begin = 0
    while begin < rows.shape[0]:
        end = begin + 1
        ordered = True
        while end < rows.shape[0] and rows[end, 0] == rows[begin, 0]:
            ordered &= rows[end - 1, 1] <= rows[end, 1]
            end += 1
        if not ordered:
            if end - begin > FEW:
                left = True
            else:
                for k in range(begin + 1, end):
                    value = rows[k, 1]
                    at = k
                    while at > begin and rows[at - 1, 1] > value:
                        rows[at, 1] = rows[at - 1, 1]
                        at -= 1
                    rows[at, 1] = value
        begin = end
    return left
