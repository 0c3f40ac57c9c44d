"""Few points of any kind, each compared with each: read, checked, searched, and returned in one call.

With other points, a period, a lattice, environments or radii, preparing a larger search takes longer than all
of this: five points take 1 us, and preparing 20.  What a kernel does not take (points outside of a periodic
world, numbers that are not finite, too many points) it answers with `UNSUITABLE`; another search then says
what is so.
"""

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.machine.jit import inline, jit, numbers
from broadphase.kernels.machine.memory import many, one_row
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, smaller, splat, store
from broadphase.kernels.points.distance import distance, plus, size, times
from broadphase.kernels.points.few_points import insert_nearest, near_lanes, safe_bound
from broadphase.kernels.points.lattice import (
    farthest_folded,
    folded_lanes,
    folded_squares,
    nearest_way,
    put_in_cell,
)

MOST_TESTS = 1 << 17
_MOST_UNFOLDED = 1 << 14
"""Where ways in a lattice are longer than what can be folded, each is compared with many images."""
_MOST_CELLS = 2.0**52
_FARTHEST = 2.0**100
"""Where a world with lattice vectors is not periodic: in float32 too, no product of numbers overflows."""
UNSUITABLE = np.int64(-1)


@inline
def _take_columns(found, columns):
    """Write the points that may be found in columns, in their order."""
    n, dim = found.shape
    for axis in range(dim):
        for j in range(n):
            columns[axis, j] = found[j, axis]
        for j in range(n, n + LANES):
            columns[axis, j] = np.inf


@inline
def _near_in_space(columns, n, points, i, j, around, folded, bound):
    """`near_lanes`, also in a lattice, where ``folded`` is the square up to which ways are folded."""
    if around.shape[0] <= 3:
        return near_lanes(columns, n, points, i, j, around, bound)
    if bound <= folded:
        return folded_lanes(columns, n, points, i, j, around, bound)
    return (1 << min(n - j, LANES)) - 1


@inline
def _distance_in_space(points, found, i, j, around):
    if around.shape[0] <= 3:
        return distance(points, found, i, j, around)
    return nearest_way(points, found, i, j, around)[3]


@inline
def _space(period, cell, dim, place):
    """The periods or the lattice as one row."""
    count = np.int64(dim)
    if cell.shape[0] > 0:
        count = np.int64(cell.shape[0])
        for k in range(count):
            place[k] = cell[k]
    else:
        for k in range(dim):
            place[k] = period[k]
    return place[:count]


@inline
def _take(given, around, units):
    """A copy of the points within the world; and whether all are finite and there already."""
    n, dim = given.shape
    own = np.empty((n, dim), given.dtype)
    if units.shape[0] > 0:
        sound = put_in_cell(given, around, units, _MOST_CELLS, 0, n, own) < 0
        for i in range(n):
            for axis in range(dim):
                sound &= abs(own[i, axis]) < _FARTHEST
        return own, sound
    sound = True
    for i in range(n):
        for axis in range(dim):
            value = given[i, axis]
            own[i, axis] = value
            periodic = around.shape[0] <= 3 and around[axis] < np.inf
            sound &= (0 <= value <= around[axis]) if periodic else abs(value) < np.inf
    return own, sound


@inline
def _meet(envs, other_envs, i, j):
    return envs.shape[0] == 0 or envs[i] == other_envs[j] or envs[i] == -1 or other_envs[j] == -1


@inline
def _fits(points, found, period, cell, envs, other_envs, radii, other_radii):
    n, m, dim = points.shape[0], found.shape[0], points.shape[1]
    fits = (dim == 2 or dim == 3) and found.shape[1] == dim and n * m <= MOST_TESTS
    fits &= cell.shape[0] == 0 or cell.shape[0] == dim + 2 * dim * dim
    fits &= cell.shape[0] > 0 or len(period) >= dim
    fits &= envs.shape[0] == 0 or (envs.shape[0] == n and other_envs.shape[0] == m)
    fits &= radii.shape[0] == 0 or (radii.shape[0] == n and other_radii.shape[0] == m)
    return fits


@jit
@numbers(period=(2, 3))
def find_near_of_few(
    points, found, among, half, period, cell, units, envs, other_envs, radii, other_radii, r, r_min, alone,
    limit,
):  # fmt: skip
    """Pairs within ``r``, in order: ``i, j, distance``; and how many, or `UNSUITABLE`.

    If ``among``, the found points are the points, and pairs are ``i < j``, or both ways without ``half``.
    ``cell`` is a lattice (`broadphase.kernels.points.lattice`), with ``units`` to bring points into it; if
    these are empty, points are there.  Without a ``cell``, ``period`` holds the lengths.  Radii may be empty;
    else points are near within the sum of two.  ``alone``: no row is near the same row of the others.
    """
    n, m, dim = points.shape[0], found.shape[0], points.shape[1]
    count, kind = np.int64(0), points.dtype.type
    rows, far = np.empty((8 * n + 64, 2), np.int32), np.empty((8 * n + 64, 1), points.dtype)
    if not _fits(points, found, period, cell, envs, other_envs, radii, other_radii) or not (
        r >= 0 and r_min >= 0
    ):
        count = UNSUITABLE
    else:
        around = _space(period, cell, dim, many(24, points.dtype))
        own, sound = _take(points, around, units)
        others = own
        if not among:
            others, known = _take(found, around, units)
            sound &= known
        most = kind(r)
        for k in range(radii.shape[0]):
            sound &= radii[k] >= 0
        if radii.shape[0] > 0:
            first = second = kind(0)
            for k in range(n):
                first = max(first, radii[k])
            for k in range(m):
                sound &= other_radii[k] >= 0
                second = max(second, other_radii[k])
            most = first + second
        columns = np.empty((dim, m + LANES), points.dtype)
        _take_columns(others, columns)
        folded, bound, least = farthest_folded(around, dim), safe_bound(own, most * most), kind(r_min)
        if not sound or (not bound <= folded and n * m > _MOST_UNFOLDED):
            count, n = UNSUITABLE, np.int64(0)
        for i in range(n):
            first = i + 1 if among and half else np.int64(0)
            for j in range(first, m, LANES):
                near = _near_in_space(columns, m, own, i, j, around, folded, bound)
                while near != 0:
                    other = j + lowest_lane(near)
                    near &= near - 1
                    if not _meet(envs, other_envs, i, other) or (i == other and (among or alone)):
                        continue
                    if radii.shape[0] > 0:
                        most = radii[i] + other_radii[other]
                    d = _distance_in_space(own, others, i, other, around)
                    if d <= most and d >= least:
                        if count == rows.shape[0]:
                            rows, far = larger(rows, count), larger(far, count)
                        rows[count, 0], rows[count, 1], far[count, 0] = i, other, d
                        count += 1
            if count > limit:
                count = UNSUITABLE
                break
    size = max(count, 0)
    a, b, distances = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, points.dtype)
    for k in range(size):
        a[k], b[k], distances[k] = rows[k, 0], rows[k, 1], far[k, 0]
    return a, b, distances, count


@inline
def _squares_in_space(columns, points, i, j, around):
    """Squares of ways to the nearest images of the points from ``j`` on, in a lattice to the folded ones."""
    if around.shape[0] <= 3:
        squares = splat(points.dtype.type(0))
        for axis in range(columns.shape[0]):
            gap = size(load(columns, axis, j) - splat(points[i, axis]))
            if around[axis] < np.inf:
                gap = smaller(gap, splat(around[axis]) - gap)
            squares = plus(squares, times(gap, gap))
        return squares
    return folded_squares(columns, points, i, j, around)


@jit
@numbers(period=(2, 3))
def find_nearest_of_any(points, found, among, period, cell, units, envs, other_envs, k, r):
    """Ids and distances of the ``k`` nearest, -1 and inf where there are fewer; and 0 or `UNSUITABLE`."""
    n, m, dim, status = points.shape[0], found.shape[0], points.shape[1], np.int64(0)
    reach = points.dtype.type(r)
    ids, distances = np.empty((n, max(k, 1)), np.int32), np.empty((n, max(k, 1)), points.dtype)
    fits = _fits(points, found, period, cell, envs, other_envs, units[:0], units[:0])
    if not fits or not r >= 0 or k < 1:
        return ids, distances, UNSUITABLE
    around = _space(period, cell, dim, many(24, points.dtype))
    own, sound = _take(points, around, units)
    others = own
    if not among:
        others, known = _take(found, around, units)
        sound &= known
    if not sound:
        return ids, distances, UNSUITABLE
    columns = np.empty((dim, m + LANES), points.dtype)
    _take_columns(others, columns)
    folded, lists = farthest_folded(around, dim), k + 1 if among else k
    squares = np.empty((1, m + LANES), points.dtype)
    for i in range(n):
        for place in range(k):
            ids[i, place], distances[i, place] = -1, np.inf
        count, bound = np.int64(0), safe_bound(own, reach * reach)
        least = splat(points.dtype.type(np.inf))
        for j in range(0, m, LANES):
            store(squares, 0, j, _squares_in_space(columns, own, i, j, around))
            if envs.shape[0] > 0:
                for other in range(j, min(j + LANES, m)):
                    if not _meet(envs, other_envs, i, other):
                        squares[0, other] = np.inf
            if j + LANES <= m:
                least = smaller(load(squares, 0, j), least)
        if lists < LANES:
            each, most = one_row(LANES, points.dtype), points.dtype.type(0)
            store(each, 0, 0, least)
            for first in range(lists):
                square = each[0, first]
                for lane in range(first + lists, LANES, lists):
                    square = min(square, each[0, lane])
                most = max(most, square)
            bound = min(bound, safe_bound(own, most))
        for j in range(0, m, LANES):
            near = np.int64((1 << min(m - j, LANES)) - 1)
            if bound <= folded:
                near &= bits(load(squares, 0, j) <= splat(bound))
            while near != 0:
                other = j + lowest_lane(near)
                near &= near - 1
                if (among and other == i) or not _meet(envs, other_envs, i, other):
                    continue
                d = _distance_in_space(own, others, i, other, around)
                if d <= reach:
                    count = insert_nearest(ids, distances, i, k, count, other, d)
            if count == k:
                bound = min(bound, safe_bound(own, distances[i, k - 1] * distances[i, k - 1]))
    return ids, distances, status


@jit
@numbers(period=(2, 3))
def count_near_of_few(points, found, among, period, cell, units, envs, other_envs, lengths):
    """How many pairs lie within each of some lengths; and 0 or `UNSUITABLE`."""
    n, m, dim = points.shape[0], found.shape[0], points.shape[1]
    counts = np.zeros(lengths.shape[0], np.int64)
    most, sound = (
        points.dtype.type(0),
        _fits(points, found, period, cell, envs, other_envs, units[:0], units[:0]),
    )
    for k in range(lengths.shape[0]):
        sound &= lengths[k] >= 0
        most = max(most, lengths[k])
    if not sound or lengths.shape[0] == 0:
        return counts, UNSUITABLE
    around = _space(period, cell, dim, many(24, points.dtype))
    own, sound = _take(points, around, units)
    others = own
    if not among:
        others, known = _take(found, around, units)
        sound &= known
    folded, bound = farthest_folded(around, dim), safe_bound(own, most * most)
    if not sound or (not bound <= folded and n * m > _MOST_UNFOLDED):
        return counts, UNSUITABLE
    columns = np.empty((dim, m + LANES), points.dtype)
    _take_columns(others, columns)
    for i in range(n):
        first = i + 1 if among else np.int64(0)
        for j in range(first, m, LANES):
            near = _near_in_space(columns, m, own, i, j, around, folded, bound)
            while near != 0:
                other = j + lowest_lane(near)
                near &= near - 1
                if _meet(envs, other_envs, i, other):
                    d = _distance_in_space(own, others, i, other, around)
                    for k in range(lengths.shape[0]):
                        counts[k] += d <= lengths[k]
    return counts, np.int64(0)
