"""Pairs into their canonical order: by first id, then by second.

These are counting sorts, linear in boxes plus pairs: by first id, in partitions of neighbouring first ids so
that the counters stay in the L1 or L2 cache; then each id's few partners by exchanging neighbours, two rounds
of it in vectors, which leaves little to the final insertion sort.  Sorting each id's partners by insertion
alone mispredicts a branch at every other id: 9.6 ns a pair against 3.7.  If ids have many partners each,
pairs are first sorted by second id, with a stable sort.
"""

import numpy as np

from broadphase.kernels.arrays.passes import PIECE, answers
from broadphase.kernels.machine.jit import common, inline, jit, unsigned
from broadphase.kernels.machine.memory import prefetch, with_columns

MOST_PARTITIONS = 128
FEW = 24  # partners; beyond, exchanging neighbours takes too many rounds
# From this many pairs for each id on, pairs are first sorted by second id.
MANY = 4
ONE = unsigned(1)
# Memory is prefetched this many pairs ahead of the one that is written: in a search that finds two million
# pairs, partitioning takes 4 ns a pair, 7 without.
FURTHER = unsigned(16)


def partition_shift(n: int) -> int:
    """By how many bits to shift an id below ``n`` so that at most `MOST_PARTITIONS` numbers remain."""
    return max(0, (max(n, 1) - 1).bit_length() - (MOST_PARTITIONS - 1).bit_length())


@jit
def count_partitions(pairs, shift, counts):
    """Add to ``counts[partition]`` how many of the pairs belong there."""
    pairs = with_columns(pairs, 2)
    for begin in range(0, pairs.shape[0], PIECE):
        for p in range(begin, min(begin + PIECE, pairs.shape[0])):
            counts[unsigned(pairs[p, 0]) >> unsigned(shift)] += 1
        if not answers(pairs.shape[0]):
            break


@jit
def scatter_to_partitions(pairs, shift, starts, parted):
    """Write the pairs into their partitions of ``parted``; ``starts`` advance."""
    pairs, parted = with_columns(pairs, 2), with_columns(parted, 2)
    for begin in range(0, pairs.shape[0], PIECE):
        for p in range(begin, min(begin + PIECE, pairs.shape[0])):
            partition = unsigned(pairs[p, 0]) >> unsigned(shift)
            place = unsigned(starts[partition])
            starts[partition] = place + ONE
            prefetch(parted, place + FURTHER, 0)
            parted[place, 0] = pairs[p, 0]
            parted[place, 1] = pairs[p, 1]
        if not answers(pairs.shape[0]):
            break


@jit
def sort_partitions(parted, ends, shift, first, last, row_ends, seconds, keys, out):
    """`put_in_order` for callers in Python."""
    put_in_order(parted, ends, shift, first, last, row_ends, seconds, keys, out)


@common
def put_in_order(parted, ends, shift, first, last, row_ends, seconds, keys, out):
    """Sort the partitions ``first .. last - 1`` of ``parted`` into the same rows of ``out``.

    ``keys`` is scratch for the pairs of the fullest of them, ``row_ends`` for one number more than ids in
    one, ``seconds`` for one more than all ids, or none where they have few partners.
    """
    parted, out = with_columns(parted, 2), with_columns(out, 2)
    begin = ends[first - 1] if first > 0 else np.int64(0)
    for partition in range(first, last):
        end = ends[partition]
        if seconds.shape[0] > 0 and end - begin >= MANY * seconds.shape[0]:
            _by_second_id(parted, begin, end, seconds, out)
            _by_first_id(out, begin, end, partition << shift, row_ends, keys)
        else:
            longest = _by_first_id(parted, begin, end, partition << shift, row_ends, keys)
            if longest > FEW:
                _sort_long_rows(row_ends, keys)
            _insertion_sort(keys, end - begin)
        for p in range(end - begin):
            out[begin + p, 0] = keys[p] >> 32
            out[begin + p, 1] = keys[p] & 0xFFFFFFFF
        if not answers(MOST_PARTITIONS * (end - begin)):
            break
        begin = end


@inline
def _by_second_id(parted, begin, end, seconds, out):
    """The pairs of a partition, sorted by second id, in the same rows of ``out``."""
    for k in range(seconds.shape[0]):
        seconds[k] = 0
    for p in range(begin, end):
        seconds[unsigned(parted[p, 1]) + ONE] += 1
    for k in range(seconds.shape[0] - 1):
        seconds[k + 1] += seconds[k]
    for p in range(begin, end):
        k = unsigned(parted[p, 1])
        place = unsigned(begin + seconds[k])
        seconds[k] += 1
        out[place, 0] = parted[p, 0]
        out[place, 1] = parted[p, 1]


@inline
def _by_first_id(parted, begin, end, first_id, row_ends, keys):
    """Both ids as one number, by the first, and ``row_ends``; returns the most partners of one id."""
    for k in range(row_ends.shape[0]):
        row_ends[k] = 0
    for p in range(begin, end):
        row_ends[unsigned(parted[p, 0] - first_id) + ONE] += 1
    longest = total = np.int32(0)
    for k in range(1, row_ends.shape[0]):
        longest = max(longest, row_ends[k])
        total += row_ends[k]
        row_ends[k] = total
    for p in range(begin, end):
        k = unsigned(parted[p, 0] - first_id)
        place = unsigned(row_ends[k])
        row_ends[k] = place + ONE
        keys[place] = np.int64(parted[p, 0]) << 32 | np.int64(parted[p, 1])
    return longest


@inline
def _sort_long_rows(row_ends, keys):
    """Sort the rows of ids with many partners (D. L. Shell, 1959): rare, so the code is short, not fast."""
    begin = np.int64(0)
    for k in range(row_ends.shape[0] - 1):
        end = np.int64(row_ends[k])
        gap = np.int64(1)
        while gap < (end - begin) // 3:
            gap = 3 * gap + 1
        while gap > 1:  # the last step, between neighbours, is left to `_insertion_sort`
            for p in range(begin + gap, end):
                value = keys[p]
                left = p
                while left >= begin + gap and keys[left - gap] > value:
                    keys[left] = keys[left - gap]
                    left -= gap
                keys[left] = value
            gap //= 3
        begin = end


@inline
def _insertion_sort(keys, n):
    """Sort numbers that are only a few places away from their final position."""
    for _ in range(2):
        for p in range(n // 2):
            a, b = keys[2 * p], keys[2 * p + 1]
            keys[2 * p] = min(a, b)
            keys[2 * p + 1] = max(a, b)
        for p in range((n - 1) // 2):
            a, b = keys[2 * p + 1], keys[2 * p + 2]
            keys[2 * p + 1] = min(a, b)
            keys[2 * p + 2] = max(a, b)
    for p in range(1, n):
        value = keys[p]
        if keys[p - 1] > value:
            left = p
            while left > 0 and keys[left - 1] > value:
                keys[left] = keys[left - 1]
                left -= 1
            keys[left] = value
