"""Some hundred points of one set, sorted along one axis and compared `LANES` at a time.

No cells, no curve, no threads: sorting into cells takes 60 microseconds before it begins.  From each point
the search goes along the axis until the gap on it alone is too long.  `any_few` compares fewer points, and
all others, each with each.

Squares are only compared with a bound that no near point exceeds; `distance` decides which points count, as
in the other searches.
"""

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.arrays.sorting import ordered, sort_keys
from broadphase.kernels.machine.jit import common, inline
from broadphase.kernels.machine.memory import many, one_row
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    load,
    lowest_lane,
    mask_of,
    put_lanes,
    smaller,
    splat,
    store,
)
from broadphase.kernels.points.distance import distance, plus, times

UNSUITABLE = -1
"""These points need another search: not all are finite, or too many are near each other."""
# A search gives up after so many comparisons a point: where many points are in one place, sorting along a
# curve is faster.
_MOST_COMPARISONS = 256
_MOST_PAIRS_EACH = 8
"""Pairs a point; where there are more, sorting is a small part of the time."""


@inline
def _sorted_points(points):
    """The points in columns, sorted along the widest axis, which comes first; and their rows, in one row.

    After the points come `LANES` infinite ones.
    """
    n, dim = points.shape
    columns, order = np.empty((dim, n + LANES), points.dtype), np.empty((1, n + LANES), np.int32)
    words, counts = np.empty((2, n), np.int64), many(256, np.int64)
    widest, first = points.dtype.type(-1), np.int64(0)
    for axis in range(dim):
        low = high = points[0, axis]
        for i in range(n):
            low, high = min(low, points[i, axis]), max(high, points[i, axis])
        if high - low > widest:
            widest, first = high - low, np.int64(axis)
    if points.itemsize == 4:
        short = np.empty(n, np.int32)
        for i in range(n):
            short[i] = ordered(np.float32(points[i, first]).view(np.int32), 31)
        sort_keys(short, n, words, counts, order[0])
    else:
        long = np.empty(n, np.int64)
        for i in range(n):
            long[i] = ordered(np.float64(points[i, first]).view(np.int64), 63)
        sort_keys(long, n, words, counts, order[0])
    for turn in range(dim):
        axis = (first + turn) % dim
        for k in range(n):
            columns[turn, k] = points[order[0, k], axis]
        for k in range(n, n + LANES):
            columns[turn, k] = np.inf
    return columns, order


@inline
def safe_bound(points, square):
    """No square is more than this whose distance is at most that of ``square``, however they were rounded."""
    kind = points.dtype.type
    factor, small = kind(1.0 + 2.0**-20), kind(2.0**-120)
    if points.itemsize == 8:
        factor, small = kind(1.0 + 2.0**-49), kind(2.0**-1000)
    return square * factor + small


@inline
def _squares(columns, i, j):
    """The squares of the distances of point ``i`` and the points from ``j`` on."""
    x, y = load(columns, 0, j) - splat(columns[0, i]), load(columns, 1, j) - splat(columns[1, i])
    squares = plus(times(x, x), times(y, y))
    if columns.shape[0] == 3:
        z = load(columns, 2, j) - splat(columns[2, i])
        squares = plus(squares, times(z, z))
    return squares


@inline
def _reach(columns, i, k, groups):
    """A square that the ``k`` nearest of point ``i`` do not exceed: those in the groups around it.

    The lanes are dealt to ``k + 1`` lists.  One holds the point itself, each of the others another one.
    """
    group = i // LANES
    least = _squares(columns, i, group * LANES)
    for other in range(max(group - k, 0), min(group + k + 1, groups)):
        least = smaller(least, _squares(columns, i, other * LANES))
    each = one_row(LANES, columns.dtype)
    store(each, 0, 0, least)
    most = columns.dtype.type(0)
    for first in range(k + 1):
        square = each[0, first]
        for lane in range(first + k + 1, LANES, k + 1):
            square = min(square, each[0, lane])
        most = max(most, square)
    return most


@common
def pairs_along_axis(points, most, least, around, rows, far):
    """The pairs ``least`` to ``most`` apart, in order, and their distances; how many, or `UNSUITABLE`.

    They are written into ``rows`` and ``far``, or into larger arrays.
    """
    n, count, held = points.shape[0], np.int64(0), np.int64(0)
    columns, order = _sorted_points(points)
    # A bit for each two points, a bit for each word of these that is not zero, and what is near one point.
    marks, filled = np.empty((n, (n >> 5) + 1), np.uint32), np.zeros(n, np.uint32)
    for i in range(n):
        for word in range(i >> 5, (n >> 5) + 1):
            marks[i, word] = 0
    others, bound = np.empty((1, n + LANES), np.int32), safe_bound(points, most * most)
    for k in range(n):
        i, near_one = np.int64(order[0, k]), np.int64(0)
        for j in range(k + 1, n, LANES):
            gap = columns[0, j] - columns[0, k]
            if gap * gap > bound:
                break
            near = bits(_squares(columns, k, j) <= splat(bound))
            if j + LANES > n:
                near &= (1 << (n - j)) - 1
            # Without a branch for each of them: a branch that is not foreseen takes as long as all of this.
            put_lanes(others, 0, near_one, load(order, 0, j), mask_of(near))
            near_one += count_lanes(near)
        held += near_one
        if held > _MOST_PAIRS_EACH * n and bound < np.inf:  # else squares overflow, and say nothing
            return rows, far, np.int64(UNSUITABLE)
        for at in range(near_one):
            other = np.int64(others[0, at])
            low, high = min(i, other), max(i, other)
            marks[low, high >> 5] |= 1 << (high & 31)
            filled[low] |= 1 << (high >> 5)
    for i in range(n):
        words = np.int64(filled[i])
        while words != 0:
            word = lowest_lane(words)
            words &= words - 1
            near = np.int64(marks[i, word])
            while near != 0:
                other = 32 * word + lowest_lane(near)
                near &= near - 1
                d = distance(points, points, i, other, around)
                if d <= most and d >= least:
                    if count == rows.shape[0]:
                        rows, far = larger(rows, count), larger(far, count)
                    rows[count, 0], rows[count, 1], far[count, 0] = i, other, d
                    count += 1
    return rows, far, count


@inline
def insert_nearest(ids, distances, i, k, found, other, d):
    """Insert a point among the ``found`` nearest of point ``i``, at most ``k``; how many there are then."""
    place = found
    if found == k:
        # Of equal distances the lower id counts.
        last = distances[i, k - 1]
        if d > last or (d == last and other > ids[i, k - 1]):
            return found
        place = k - 1
    while place > 0:
        before = distances[i, place - 1]
        if before < d or (before == d and ids[i, place - 1] < other):
            break
        ids[i, place], distances[i, place] = ids[i, place - 1], before
        place -= 1
    ids[i, place], distances[i, place] = other, d
    return min(found + 1, k)


@common
def nearest_along_axis(points, k, most, around, ids, distances):
    """Write the ``k`` nearest of each point within ``most``, by distance, then id; 0 or `UNSUITABLE`.

    Where there are fewer, what is there stays.
    """
    n, (columns, rows) = points.shape[0], _sorted_points(points)
    order, groups, left = rows[0], (n + LANES - 1) // LANES, _MOST_COMPARISONS * n
    for turn in range(n):
        i, x = np.int64(order[turn]), columns[0, turn]
        found, bound = np.int64(0), safe_bound(points, most * most)
        group = turn // LANES
        if k < LANES:
            bound = min(bound, safe_bound(points, _reach(columns, turn, k, groups)))
        # The groups ``low .. high - 1`` have been compared.
        low, high = group, group + 1
        while left > 0:
            near = bits(_squares(columns, turn, group * LANES) <= splat(bound))
            left -= 1 + count_lanes(near)
            while near != 0:
                at = group * LANES + lowest_lane(near)
                near &= near - 1
                if at >= n:
                    break
                if at == turn:
                    continue
                other = order[at]
                d = distance(points, points, i, np.int64(other), around)
                if d > most:
                    continue
                found = insert_nearest(ids, distances, i, k, found, other, d)
                if found == k:
                    bound = safe_bound(points, distances[i, k - 1] * distances[i, k - 1])
            if low == 0 and high == groups:
                break
            after, before = columns[0, high * LANES] - x, x - columns[0, max(low * LANES - 1, 0)]
            if high < groups and (low == 0 or after <= before):
                gap, group = after, high
                high += 1
            else:
                low -= 1
                gap, group = before, low
            if gap * gap > bound:
                break
        if left <= 0:
            return np.int64(UNSUITABLE)
    return np.int64(0)
