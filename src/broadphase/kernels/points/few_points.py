"""Brute force over few points, `LANES` at a time: one call does all, without cells, a curve or threads.

Cost: ``n * n`` tests for the nearest, half of that for pairs, about 0.1 ns each.  Sorting into cells costs 60
microseconds before it begins, so up to some hundred points this is faster.

Squares are only compared with a bound that no near point exceeds; `distance` decides which points count, as
in the other searches.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.memory import few
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, splat
from broadphase.kernels.points.distance import distance, plus, times

NOT_FINITE, TOO_MANY = -1, -2


@inline
def _lay_out(points, columns):
    """Copy the points to columns, ended by `LANES` infinite ones; whether all are finite."""
    n, dim = points.shape
    total = points.dtype.type(0)
    for axis in range(dim):
        for i in range(n):
            columns[axis, i] = points[i, axis]
            total += points[i, axis] * points.dtype.type(0)  # NaN, where one of them is not finite
        for i in range(n, n + LANES):
            columns[axis, i] = np.inf
    return total == 0


@inline
def _bound(points, d):
    """No square of a distance of at most ``d`` is more than this, however it was rounded."""
    kind = points.dtype.type
    factor, small = kind(1.0 + 2.0**-20), kind(2.0**-120)
    if points.itemsize == 8:
        factor, small = kind(1.0 + 2.0**-49), kind(2.0**-1000)
    return d * d * factor + small


@inline
def _near_lanes(columns, i, j, bound):
    """Which of the points from ``j`` on are near point ``i``, by the bound of their squares; as bits."""
    x, y = load(columns, 0, j) - splat(columns[0, i]), load(columns, 1, j) - splat(columns[1, i])
    squares = plus(times(x, x), times(y, y))
    if columns.shape[0] == 3:
        z = load(columns, 2, j) - splat(columns[2, i])
        squares = plus(squares, times(z, z))
    return bits(squares <= splat(bound))


@inline
def _no_period(points):
    around = few(3, points.dtype)
    for axis in range(3):
        around[axis] = np.inf
    return around


@jit
def find_pairs_of_few(points, r, columns, rows, distances):
    """Pairs of points within ``r``, in order, into ``rows`` and ``distances``, while there is room.

    Returns how many; `NOT_FINITE` or `TOO_MANY` if this search cannot be used.
    """
    n = points.shape[0]
    if not _lay_out(points, columns):
        return NOT_FINITE
    most = points.dtype.type(r)
    around, bound, found = _no_period(points), _bound(points, most), np.int64(0)
    for i in range(n):
        for j in range(i + 1, n, LANES):
            near = _near_lanes(columns, i, j, bound)
            while near != 0:
                other = j + lowest_lane(near)
                near &= near - 1
                if other >= n:
                    break
                d = distance(points, points, i, other, around)
                if d <= most:
                    if found == distances.shape[0]:
                        return TOO_MANY
                    rows[0, found], rows[1, found], distances[found] = i, other, d
                    found += 1
    return found


@jit
def find_nearest_of_few(points, k, r, columns, ids, distances):
    """Write the ``k`` nearest of each point within ``r``, sorted by distance, then by id.

    Where there are fewer, ids are -1 and distances inf.  Returns 0, or `NOT_FINITE` if this search cannot be
    used.
    """
    n = points.shape[0]
    if not _lay_out(points, columns):
        return NOT_FINITE
    most, around = points.dtype.type(r), _no_period(points)
    for i in range(n):
        for place in range(k):
            ids[i, place], distances[i, place] = -1, np.inf
        found, bound = np.int64(0), _bound(points, most)
        for j in range(0, n, LANES):
            near = _near_lanes(columns, i, j, bound)
            while near != 0:
                other = j + lowest_lane(near)
                near &= near - 1
                if other >= n:
                    break
                if other == i:
                    continue
                d = distance(points, points, i, other, around)
                # Of equal distances the lower id counts, which was found before.
                if d > most or (found == k and d >= distances[i, k - 1]):
                    continue
                place = min(found, k - 1)
                while place > 0 and distances[i, place - 1] > d:
                    ids[i, place], distances[i, place] = ids[i, place - 1], distances[i, place - 1]
                    place -= 1
                ids[i, place], distances[i, place] = other, d
                found = min(found + 1, k)
                if found == k:
                    bound = _bound(points, distances[i, k - 1])
    return 0
