"""Pairs into their canonical order: by first id, then by second.

Not a comparison sort but two counting sorts, linear in boxes plus pairs: first into partitions of
neighbouring first ids, so few that every partition's write position stays in the nearest cache; then
each partition by first id, and the few partners of each id by insertion.  One counting sort straight by
first id would miss the cache at every pair.
"""

import numpy as np

from broadphase.kernels.jit import inline, jit
from broadphase.kernels.merge_sort import sort_values

MOST_PARTITIONS = 512
FEW = 24  # partners; beyond, insertion sort loses to merging


def partition_shift(n: int) -> int:
    """By how many bits to shift an id below ``n`` so that at most `MOST_PARTITIONS` numbers remain."""
    return max(0, (max(n, 1) - 1).bit_length() - (MOST_PARTITIONS - 1).bit_length())


@jit
def count_partitions(pairs, shift, counts):
    """Add to ``counts[partition]`` how many of the pairs belong there."""
    for p in range(pairs.shape[0]):
        counts[pairs[p, 0] >> shift] += 1


@jit
def scatter_to_partitions(pairs, shift, starts, parted):
    """Write the pairs into their partitions of ``parted``; ``starts`` moves on."""
    for p in range(pairs.shape[0]):
        partition = pairs[p, 0] >> shift
        at = starts[partition]
        starts[partition] = at + 1
        parted[at, 0] = pairs[p, 0]
        parted[at, 1] = pairs[p, 1]


@jit
def sort_partitions(parted, ends, shift, first, last, out):
    """Sort the partitions ``first .. last - 1`` of ``parted`` into the same rows of ``out``."""
    width = 1 << shift
    at = np.empty(width + 1, np.int64)
    fullest = 0
    begin = ends[first - 1] if first > 0 else 0
    for partition in range(first, last):
        fullest = max(fullest, ends[partition] - begin)
        begin = ends[partition]
    seconds, spare = np.empty(fullest, np.int32), np.empty(fullest, np.int32)
    begin = ends[first - 1] if first > 0 else 0
    for partition in range(first, last):
        _sort_partition(parted, begin, ends[partition], partition << shift, at, seconds, spare, out)
        begin = ends[partition]


@inline
def _sort_partition(parted, begin, end, first_id, at, seconds, spare, out):
    for k in range(at.shape[0]):
        at[k] = 0
    for p in range(begin, end):
        at[parted[p, 0] - first_id + 1] += 1
    for k in range(at.shape[0] - 1):
        at[k + 1] += at[k]
    for p in range(begin, end):
        k = parted[p, 0] - first_id
        seconds[at[k]] = parted[p, 1]
        at[k] += 1
    row = np.int64(0)
    for k in range(at.shape[0] - 1):
        if at[k] - row > FEW:
            sort_values(seconds, row, at[k], spare)
        else:
            for right in range(row + 1, at[k]):
                value = seconds[right]
                left = right
                while left > row and seconds[left - 1] > value:
                    seconds[left] = seconds[left - 1]
                    left -= 1
                seconds[left] = value
        while row < at[k]:
            out[begin + row, 0] = first_id + k
            out[begin + row, 1] = seconds[row]
            row += 1
