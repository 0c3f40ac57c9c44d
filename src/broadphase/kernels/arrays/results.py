"""Results: how pairs and ids are written, into arrays that grow, and how ids are sorted.

A search for pairs is one call::

    out, found, tests = kernel(..., begin, end, out, limit, store)

It searches the rows ``begin .. end - 1`` (boxes, leaves, strips) and writes pairs to ``out``, an ``(m, 2)``
int32 array, or a larger one when that is full (`larger`); it returns the array
that it wrote last.  It may end early once more than ``limit`` pairs are found.  Without ``store`` it only
counts, and ``out`` is scratch.  `broadphase.methods.task.find_in_shares` calls it;
`broadphase.kernels.boxes.brute_force` is the shortest example.

A batch of queries is one call too::

    rows, ids, found, tests = kernel(..., queries, ..., rows)

It writes rows ``[query, id]`` in the order of the queries.  If ``rows`` is empty there is one query, a tuple
as a caller wrote it: the kernel checks it (tests of -1 refuse it) and returns ``ids`` as an array of their
own, sorted if they are few.
"""

import numpy as np

from broadphase.kernels.arrays.passes import PIECE
from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import always_inline, common, inline, jit, unsigned
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, lowest_lane, splat

# Memory for so many pairs is enough for most small results.
FIRST_CAPACITY = 1024
# The most rows that most kernels write between two checks of the capacity: two leaves of a tree with 16 boxes
# each, and the lanes that are written after the last pair.
LEAST_CAPACITY = 16 * 16 + LANES


@inline
def put(out, row, i, j):
    """Write a pair into a row, smaller id first."""
    out[row, 0] = min(i, j)
    out[row, 1] = max(i, j)


# Up to this many results are sorted by the kernel; beyond it NumPy's sort is faster.
FEW = 32
# How many ids of one query the stack holds, and how many rows; kernels should use half of their stack.
STACK_CAPACITY, STACK_ROWS = 512, 256


@inline
def result(count, dtype):
    """An array that the kernel returns."""
    return np.empty(count, dtype)


@inline
def sort_few(ids, count):
    """Sort ascending, by insertion among rows that are ever closer together (D. L. Shell, 1959)."""
    gap = 40 if count > 120 else 13 if count > 40 else 4 if count > 12 else 1
    while gap > 0:
        for k in range(gap, count):
            row = ids[k]
            slot = k
            while slot >= gap and ids[slot - gap] > row:
                ids[slot] = ids[slot - gap]
                slot -= gap
            ids[slot] = row
        gap //= 3


@inline
def finished(out, found):
    """The ids that one query found, as an array that the kernel returns; sorted if they are few."""
    ids = result(found, np.int32)
    for k in range(found):  # a slice assignment costs seconds of compile time
        ids[k] = out[k]
    if found <= FEW:
        sort_few(ids, found)
    return ids


@inline
def put_row(out, row, query, i):
    """Write the row ``[query, id]``."""
    out[row, 0] = query
    out[row, 1] = i


# -----------------------------------------------------------------------------------------------------------
# Results that grow.  A search writes into the array that it is given, and when that is full into a larger one
# of its own; it returns the array that it wrote last::
#
#     if found + LANES > out.shape[0]:
#         out = larger(out, found)


@inline
def larger(rows, filled):
    """An array of twice as many rows, and some; its first ``filled`` rows are those of ``rows``."""
    return with_room(rows, filled, np.int64(2 * rows.shape[0] + 1024))


@common
def with_room(rows, filled, count):
    """An array of ``count`` rows; its first ``filled`` rows are those of ``rows``."""
    out = np.empty((count, rows.shape[1]), rows.dtype)
    for row in range(filled):
        for column in range(rows.shape[1]):
            out[row, column] = rows[row, column]
    return out


@common
def with_columns(rows, filled, count):
    """An array of ``count`` columns; its first ``filled`` columns are those of ``rows``."""
    out = np.empty((rows.shape[0], count), rows.dtype)
    for row in range(rows.shape[0]):
        for column in range(filled):
            out[row, column] = rows[row, column]
    return out


# -----------------------------------------------------------------------------------------------------------
# Sort the ids that queries found: a few by counting how many are smaller, many by marking bits.
#
# Neither has branches that depend on comparisons; each misprediction would cost 15 cycles.  14 million rows
# of 50,000 queries took 917 ms when sorted as pairs (`broadphase.methods.pair_order`), and take 40 ms this
# way.


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
    for column in range(begin, end):
        starts[found[1, column] + 1] += 1
    for k in range(count):
        starts[k + 1] += starts[k]
    for column in range(begin, end):
        place = starts[found[1, column]]
        starts[found[1, column]] = place + 1
        grouped[0, place] = found[0, column]
        grouped[1, place] = found[1, column]


@inline
def count_rows(found, begin, end, starts, count):
    """Write to ``starts`` where the rows of each query begin, counted from 0, and where the last ones end.

    ``found[1, begin:end]`` are the queries ``< count`` of what was found, in ascending order.
    """
    for k in range(count + 1):
        starts[k] = 0
    for column in range(begin, end):
        starts[found[1, column] + 1] = column + 1 - begin
    for k in range(count):
        starts[k + 1] = max(starts[k + 1], starts[k])


@inline
def put_rows(found, begin, starts, count, sort, rows, first_row, first_query, words, end):
    """Write ids ``found[0]`` of the queries ``0 .. count - 1`` as rows, from ``first_row`` on.

    With ``sort`` the ids of each query are sorted; all are less than ``end``.  ``words`` are zeros before and
    after (`words_for`).
    """
    for k in range(count):
        first, row, few = begin + starts[k], first_row + starts[k], starts[k + 1] - starts[k]
        if sort and few > RANKED:
            for column in range(first, first + few):
                mark(words, end, found[0, column], True)
            put_marked(words, end, rows, row, first_query + k)
            continue
        for column in range(first, first + few):
            place = row + (rank(found, first, few, found[0, column]) if sort else column - first)
            rows[place, 0] = first_query + k
            rows[place, 1] = found[0, column]


@inline
def words_for(end_of_ids):
    """Zeros for marking ids: one bit for each id, and after them one bit for each of these words of 64."""
    return np.zeros(end_of_ids // 64 + end_of_ids // 4096 + 2, np.uint64)


@always_inline
def mark(words, end, i, meets):
    """Mark id ``i < end`` if it ``meets``; without a branch."""
    i, yes = unsigned(i), unsigned(meets)
    summary = unsigned(end) // unsigned(64) + _ONE
    words[i >> _WORD] |= yes << (i & _BIT)
    words[summary + (i >> _BLOCK)] |= yes << ((i >> _WORD) & _BIT)


@inline
def put_marked(words, end, out, row, query):
    """Write the marked ids in order into ``out`` from ``row`` on, and clear their marks.

    ``out``, which is large enough for all, is an array of ids or of rows ``[query, id]``.  Returns the end.
    """
    summary = unsigned(end) // unsigned(64) + _ONE
    row = unsigned(row)
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
                    out[row] = i
                else:
                    out[row, 0] = query
                    out[row, 1] = i
                row += _ONE
    return np.int64(row)


@jit
def sort_rows_of_each(rows, words, end_of_ids):
    """Sort the ids, all less than ``end_of_ids``, of every query; the rows of a query are contiguous.

    ``words`` are zeros before and after (`words_for`).
    """
    row = checked = np.int64(0)
    while row < rows.shape[0]:
        if row > checked + PIECE:
            checked = row
            if not goes_on():
                break
        first = row
        query = rows[first, 0]
        row += 1
        ordered = True
        while row < rows.shape[0] and rows[row, 0] == query:
            ordered &= rows[row - 1, 1] <= rows[row, 1]
            row += 1
        if ordered:
            continue
        if row - first <= RANKED:
            sort_few(rows[first:row, 1], row - first)
        else:
            for k in range(first, row):
                mark(words, end_of_ids, rows[k, 1], True)
            put_marked(words, end_of_ids, rows, first, query)


# -----------------------------------------------------------------------------------------------------------
# Are these ids all in use and without duplicates?


FEW_IDS = 16


@jit
def first_bad_id(ids, alive, end, named):
    """Row of the first id that is not in use or is a duplicate; -1 if all are good.

    ``named`` is false for all ids below ``end``; up to `FEW_IDS` ids do not use it.
    """
    count = ids.shape[0]
    if count <= FEW_IDS:
        for k in range(count):
            if ids[k] < 0 or ids[k] >= end or not alive[ids[k]]:
                return k
            for earlier in range(k):
                if ids[earlier] == ids[k]:
                    return k
        return -1
    for k in range(count):
        if ids[k] < 0 or ids[k] >= end or not alive[ids[k]] or named[ids[k]]:
            return k
        named[ids[k]] = True
    return -1
