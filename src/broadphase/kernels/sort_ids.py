"""Sort the ids that queries found: few by counting which are smaller, many by marking bits.

Neither compares in order to branch, which would cost 15 cycles for each wrong guess.
"""

import numpy as np

from broadphase.kernels.jit import inline
from broadphase.kernels.simd import LANES, bits, count_lanes, load, lowest_lane, splat

# Up to this many ids are sorted by rank.
RANKED = 32


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
def put_rows(found, begin, end, starts, count, sort, rows, first_row, first_query):
    """Write ids ``found[0]`` and their queries ``found[1] < count``, which come in order, as rows.

    With ``sort`` the ids of a query that has no more than `RANKED` are put in order.  Sets ``starts`` to the
    row, counted from ``first_row``, at which every query begins; returns how many rows a query has at most.
    """
    for k in range(count + 1):
        starts[k] = 0
    for at in range(begin, end):
        starts[found[1, at] + 1] = at + 1 - begin
    most = np.int64(0)
    for k in range(count):
        starts[k + 1] = max(starts[k + 1], starts[k])
        most = max(most, starts[k + 1] - starts[k])
    for at in range(begin, end):
        k = np.int64(found[1, at])
        row = first_row + at - begin
        if sort and starts[k + 1] - starts[k] <= RANKED:
            row = first_row + starts[k]
            row += rank(found, begin + starts[k], starts[k + 1] - starts[k], found[0, at])
        rows[row, 0] = first_query + k
        rows[row, 1] = found[0, at]
    return most


@inline
def sort_rows_by_bits(rows, first_row, starts, count, words, end):
    """Sort the ids, all less than ``end``, of the queries that have more than `RANKED` rows; see `put_rows`.

    ``words`` are zeros before and after: one bit an id, and behind them one bit for each of these words.
    """
    summary = end // 64 + 1
    for k in range(count):
        at = first_row + starts[k]
        if starts[k + 1] - starts[k] <= RANKED:
            continue
        for row in range(at, first_row + starts[k + 1]):
            i = np.int64(rows[row, 1])
            words[i >> 6] |= np.int64(1) << (i & 63)
            words[summary + (i >> 12)] |= np.int64(1) << ((i >> 6) & 63)
        for block in range(end // 4096 + 1):
            marked = words[summary + block]
            words[summary + block] = 0
            while marked != 0:
                word = block * 64 + lowest_lane(marked)
                marked &= marked - 1
                left = words[word]
                words[word] = 0
                while left != 0:
                    rows[at, 1] = word * 64 + lowest_lane(left)
                    at += 1
                    left &= left - 1
