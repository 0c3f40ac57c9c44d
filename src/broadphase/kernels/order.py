"""Pairs into their canonical order: by first id, then by second.

Not a comparison sort: a counting sort by the first id, then each first id's few partners.  Linear in
boxes plus pairs.
"""

import numpy as np
import numpy.typing as npt

from broadphase.kernels.jit import jit


@jit
def count_firsts(pairs, ends):
    """Add to ``ends[i + 1]`` how many of ``pairs`` begin with id ``i``."""
    for p in range(pairs.shape[0]):
        ends[pairs[p, 0] + 1] += 1


@jit
def scatter_seconds(pairs, ends, seconds):
    """Write every pair's second id into its first id's section; ``ends`` moves from starts to ends."""
    for p in range(pairs.shape[0]):
        first = pairs[p, 0]
        seconds[ends[first]] = pairs[p, 1]
        ends[first] += 1


@jit
def write_sorted(seconds, ends, out):
    """Sort each first id's section of ``seconds`` and write the pairs in order into ``out``."""
    begin = 0
    for first in range(ends.shape[0] - 1):
        end = ends[first]
        section = seconds[begin:end]
        if end - begin > 24:  # beyond this, insertion sort loses to NumPy's quicksort
            section.sort()
        else:
            for k in range(1, end - begin):
                value = section[k]
                at = k
                while at > 0 and section[at - 1] > value:
                    section[at] = section[at - 1]
                    at -= 1
                section[at] = value
        for k in range(begin, end):
            out[k, 0] = first
            out[k, 1] = seconds[k]
        begin = end


def sorted_pairs(chunks: list[npt.NDArray[np.int32]], n: int) -> npt.NDArray[np.int32]:
    """All pairs of ``chunks``, arrays of rows ``i, j`` with ``i < n``, as one sorted array."""
    ends = np.zeros(n + 1, np.int64)
    for chunk in chunks:
        count_firsts(chunk, ends)
    np.cumsum(ends, out=ends)
    total = int(ends[-1])
    seconds = np.empty(total, np.int32)
    for chunk in chunks:
        scatter_seconds(chunk, ends, seconds)
    out = np.empty((total, 2), np.int32)
    write_sorted(seconds, ends, out)
    return out
