"""Search of few points in one call: sorted along one axis, and compared `LANES` at a time.

No cells, no curve, no threads: sorting into cells takes 60 microseconds before it begins.  From each point
the search goes along the axis until the gap on it alone is too long.

Squares are only compared with a bound that no near point exceeds; `distance` decides which points count, as
in the other searches.

With other points to search among, a period, environments or radii, each is compared with all, in their order.
"""

from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.arrays.sorting import ordered, sort_keys
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.memory import few, many, one_row
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
from broadphase.kernels.points.distance import distance, plus, size, times

UNSUITABLE = -1
"""These points need another search: not all are finite, or too many are near each other."""
# A search gives up after so many comparisons a point: where many points are in one place, sorting along a
# curve is faster.
_MOST_COMPARISONS = 256
# From so many comparisons in a lattice on, all images are faster, unless ways are folded.
_MOST_UNFOLDED = 1 << 14


class Memory(NamedTuple):
    """Scratch memory for a search of ``n`` points."""

    columns: Any
    """``(dim, n + LANES)``: the points, sorted along the axis of the first row."""
    order: Any
    """``(1, n + LANES)``: their rows."""
    keys: Any
    """The memory of the first column as integers."""
    words: Any
    """``(2, n)``"""
    marks: Any
    """``(n, 32)``: a bit for each two points."""
    filled: Any
    """``(n,)``: a bit for each word of ``marks`` that is not zero."""
    rows: Any
    """``(2, m)``: the pairs that were found."""
    distances: Any


@inline
def _sort(points, memory):
    """Write the points, ended by `LANES` infinite ones, and their order; whether all are finite."""
    columns, order, keys = memory.columns, memory.order[0], memory.keys
    n, dim = points.shape
    kind, top = points.dtype.type, 8 * points.itemsize - 1
    total, widest, first = kind(0), kind(-1), np.int64(0)
    for axis in range(dim):
        low = high = points[0, axis]
        for i in range(n):
            value = points[i, axis]
            total += value * kind(0)  # NaN, where one of them is not finite
            low, high = min(low, value), max(high, value)
        if high - low > widest:
            widest, first = high - low, np.int64(axis)
    if total != 0:
        return False
    for i in range(n):
        columns[0, i] = points[i, first]
        keys[i] = ordered(keys[i], top)
    sort_keys(keys, n, memory.words, many(256, np.int64), order)
    for turn in range(dim):
        axis = (first + turn) % dim
        for k in range(n):
            columns[turn, k] = points[order[k], axis]
        for k in range(n, n + LANES):
            columns[turn, k] = np.inf
    return True


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


@inline
def _no_period(points):
    around = few(3, points.dtype)
    for axis in range(3):
        around[axis] = np.inf
    return around


@jit
def find_pairs_of_few(points, r, capacity, memory):
    """Write the pairs of points within ``r``, in order, into the memory; how many, or `UNSUITABLE`."""
    n = points.shape[0]
    if not _sort(points, memory):
        return UNSUITABLE
    columns, order, marks, filled = memory.columns, memory.order, memory.marks, memory.filled
    rows, distances = memory.rows, memory.distances
    for i in range(n):
        filled[i] = 0
        for word in range(i >> 5, (n >> 5) + 1):
            marks[i, word] = 0
    most = points.dtype.type(r)
    around, bound, held = _no_period(points), safe_bound(points, most * most), np.int64(0)
    for k in range(n):
        i, count = np.int64(order[0, k]), np.int64(0)
        for j in range(k + 1, n, LANES):
            gap = columns[0, j] - columns[0, k]
            if gap * gap > bound:
                break
            near = bits(_squares(columns, k, j) <= splat(bound))
            if j + LANES > n:
                near &= (1 << (n - j)) - 1
            # Without a branch for each of them: a branch that is not foreseen takes as long as all of this.
            put_lanes(rows, 1, count, load(order, 0, j), mask_of(near))
            count += count_lanes(near)
        held += count
        if held > capacity and bound < np.inf:  # else squares overflow, and say nothing
            return UNSUITABLE
        for at in range(count):
            other = np.int64(rows[1, at])
            low, high = min(i, other), max(i, other)
            marks[low, high >> 5] |= 1 << (high & 31)
            filled[low] |= 1 << (high >> 5)
    found = np.int64(0)
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
                if d <= most:
                    if found == capacity:
                        return UNSUITABLE
                    rows[0, found], rows[1, found], distances[found] = i, other, d
                    found += 1
    return found


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


@jit
def find_nearest_of_few(points, k, r, memory, ids, distances):
    """Write the ``k`` nearest of each point within ``r``, sorted by distance, then by id.

    Where there are fewer, ids are -1 and distances inf.  Returns 0 or `UNSUITABLE`.
    """
    n = points.shape[0]
    if not _sort(points, memory):
        return UNSUITABLE
    columns, order, groups = memory.columns, memory.order[0], (n + LANES - 1) // LANES
    most, around, left = points.dtype.type(r), _no_period(points), _MOST_COMPARISONS * n
    for turn in range(n):
        i, x = np.int64(order[turn]), columns[0, turn]
        for place in range(k):
            ids[i, place], distances[i, place] = -1, np.inf
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
            return UNSUITABLE
    return 0


@inline
def near_lanes(columns, n, points, i, j, around, bound):
    """A bit for each of the points from ``j`` on whose nearest image may be near point ``i``."""
    squares = splat(points.dtype.type(0))
    for axis in range(columns.shape[0]):
        gap = size(load(columns, axis, j) - splat(points[i, axis]))
        if around[axis] < np.inf:
            gap = smaller(gap, splat(around[axis]) - gap)
        squares = plus(squares, times(gap, gap))
    near = bits(squares <= splat(bound))
    if j + LANES > n:
        near &= (1 << (n - j)) - 1
    return near
