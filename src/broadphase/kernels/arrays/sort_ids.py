"""Sort the ids that queries found: few by counting which are smaller, many by marking bits.

Neither compares in order to branch, which would cost 15 cycles for each wrong guess: 14 million rows of
50,000 queries took 917 ms as pairs of any order (`broadphase.pair_order`), and take 40 so.
"""

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import always_inline, inline, jit, unsigned
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, lowest_lane, splat

# Up to this many ids are sorted by rank.
RANKED = 32
# Shifts from an id to its word of 64 bits and to its block of 64 words.
_WORD, _BLOCK = unsigned(6), unsigned(12)
_BIT, _ONE = unsigned(63), unsigned(1)


@inline
def rank(ids, begin, count, value):
    """How many of ``ids[0, begin : begin + count]`` are less than ``value``, which is one of them.

    Reads up to ``LANES`` entries more.
    """
    wanted = splat(value)
    not_larger = np.int64(0)
    for lane in range(0, count, LANES):
        left = min(count - lane, LANES)
        not_larger += count_lanes(bits(load(ids, 0, begin + lane) <= wanted) & ((1 << left) - 1))
    return not_larger - 1


@inline
def group_by_query(found, begin, end, grouped, starts, count):
    """Copy the columns ``begin .. end - 1`` of ``found`` to ``grouped``, ordered by ``found[1] < count``."""
    for k in range(count + 1):
        starts[k] = 0
    for at in range(begin, end):
        starts[found[1, at] + 1] += 1
    for k in range(count):
        starts[k + 1] += starts[k]
    for at in range(begin, end):
        place = starts[found[1, at]]
        starts[found[1, at]] = place + 1
        grouped[0, place] = found[0, at]
        grouped[1, place] = found[1, at]


@inline
def count_rows(found, begin, end, starts, count):
    """How many rows a query has at most; ``starts`` becomes where those of each begin, counted from 0.

    ``found[1, begin:end]`` are the queries ``< count`` of what was found; they come in order.
    """
    for k in range(count + 1):
        starts[k] = 0
    for at in range(begin, end):
        starts[found[1, at] + 1] = at + 1 - begin
    most = np.int64(0)
    for k in range(count):
        starts[k + 1] = max(starts[k + 1], starts[k])
        most = max(most, starts[k + 1] - starts[k])
    return most


@inline
def put_rows(found, begin, starts, count, sort, rows, first_row, first_query):
    """Write ids ``found[0]`` and their queries ``found[1] < count`` as rows, from ``first_row`` on.

    With ``sort`` the ids of each query, of which there are no more than `RANKED`, in order.
    """
    for at in range(starts[count]):
        k = np.int64(found[1, begin + at])
        row = first_row + at
        if sort:
            row = first_row + starts[k]
            row += rank(found, begin + starts[k], starts[k + 1] - starts[k], found[0, begin + at])
        rows[row, 0] = first_query + k
        rows[row, 1] = found[0, begin + at]


@inline
def put_long_rows(found, begin, starts, count, rows, first_row, first_query, words, end):
    """The same in order, however many ids a query has; all are less than ``end``.

    ``words`` are zeros before and after (`words_for`).
    """
    for k in range(count):
        row = first_row + starts[k]
        few = starts[k + 1] - starts[k]
        if few <= RANKED:
            for at in range(begin + starts[k], begin + starts[k + 1]):
                place = row + rank(found, begin + starts[k], few, found[0, at])
                rows[place, 0] = first_query + k
                rows[place, 1] = found[0, at]
            continue
        for at in range(begin + starts[k], begin + starts[k + 1]):
            mark(words, end, found[0, at], True)
        put_marked(words, end, rows, row, first_query + k)


def words_for(end_of_ids: int) -> npt.NDArray[np.uint64]:
    """Zeros to mark ids in: one bit an id, and behind them one bit for each of these words of 64."""
    return np.zeros(end_of_ids // 64 + end_of_ids // 4096 + 2, np.uint64)


@always_inline
def mark(words, end, i, meets):
    """Mark id ``i < end``, if it ``meets``; without a branch."""
    i, yes = unsigned(i), unsigned(meets)
    summary = unsigned(end) // unsigned(64) + _ONE
    words[i >> _WORD] |= yes << (i & _BIT)
    words[summary + (i >> _BLOCK)] |= yes << ((i >> _WORD) & _BIT)


@inline
def put_marked(words, end, out, at, query):
    """Write the marked ids in order into ``out`` from ``at`` on, and clear their marks.

    ``out``, which has room for all, is an array of ids or of rows ``[query, id]``.  Returns where it ends.
    """
    summary = unsigned(end) // unsigned(64) + _ONE
    at = unsigned(at)
    for block in range(unsigned(end) // unsigned(4096) + _ONE):
        marked = words[summary + block]
        words[summary + block] = unsigned(0)
        while marked != unsigned(0):
            word = (block << _WORD) + unsigned(lowest_lane(np.int64(marked)))
            marked &= marked - _ONE
            left = words[word]
            words[word] = unsigned(0)
            while left != unsigned(0):
                i = (word << _WORD) + unsigned(lowest_lane(np.int64(left)))
                left &= left - _ONE
                if out.ndim == 1:
                    out[at] = i
                else:
                    out[at, 0] = query
                    out[at, 1] = i
                at += _ONE
    return np.int64(at)


@inline
def count_marked(words, end):
    """How many ids are marked."""
    count = np.int64(0)
    for word in range(unsigned(end) // unsigned(64) + _ONE):
        count += count_lanes(np.int64(words[word]))
    return count


@inline
def clear_marks(words):
    """Mark nothing."""
    for word in range(len(words)):
        words[word] = unsigned(0)


@jit
def sort_rows_of_each(rows, begin, end, words, end_of_ids):
    """Sort the ids, all less than ``end_of_ids``, of every query that has a row in ``begin .. end - 1``.

    The rows of a query lie together, and those before ``begin`` are in order, with all of their queries.
    ``words`` are zeros before and after (`words_for`).
    """
    at = np.int64(begin)
    while at < end:
        first = at
        query = rows[first, 0]
        at += 1
        ordered = True
        while at < rows.shape[0] and rows[at, 0] == query:
            ordered &= rows[at - 1, 1] <= rows[at, 1]
            at += 1
        if ordered:
            continue
        if at - first <= RANKED:
            for k in range(first + 1, at):
                value = rows[k, 1]
                place = k
                while place > first and rows[place - 1, 1] > value:
                    rows[place, 1] = rows[place - 1, 1]
                    place -= 1
                rows[place, 1] = value
        else:
            for k in range(first, at):
                mark(words, end_of_ids, rows[k, 1], True)
            put_marked(words, end_of_ids, rows, first, query)
