"""Few points of any kind, each compared with each: read, checked, searched, and returned in one call.

Preparing a larger search takes longer than all of this: five points take 1 us, and preparing 20.  More
points of one set in a plain world are sorted first (`few_points`).  What a kernel does not take (points
outside of a periodic world, numbers that are not finite, too many points) it answers with `UNSUITABLE`;
another search then says what is so.
"""

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.machine.jit import inline, jit, numbers
from broadphase.kernels.machine.memory import many, one_row
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, smaller, splat, store
from broadphase.kernels.points.distance import distance, squares_of_ways
from broadphase.kernels.points.few_points import (
    UNSUITABLE,
    insert_nearest,
    nearest_along_axis,
    pairs_along_axis,
    safe_bound,
)
from broadphase.kernels.points.lattice import (
    farthest_folded,
    folded_squares,
    nearest_way,
    put_in_cell,
)

MOST_TESTS, MOST_SORTED = 1 << 17, 1_000
"""Of each point with each; and the most points that are sorted."""
_LEAST_SORTED, _LEAST_SORTED_FOR_NEAREST = 128, 64
_MOST_UNFOLDED = 1 << 14
"""Where ways in a lattice are longer than what can be folded, each is compared with many images."""
_MOST_CELLS = 2.0**52
_FARTHEST = 2.0**100
"""Where a world with lattice vectors is not periodic: in float32 too, no product of numbers overflows."""


@inline
def _take_columns(found, columns):
    """Write the points that may be found in columns, in their order, ended by `LANES` infinite ones."""
    n, dim = found.shape
    for axis in range(dim):
        for j in range(n):
            columns[axis, j] = found[j, axis]
        for j in range(n, n + LANES):
            columns[axis, j] = np.inf


@inline
def _squares_in_space(columns, j, points, i, around):
    """Squares of ways to the nearest images of the points from ``j`` on, in a lattice to the folded ones."""
    if around.shape[0] <= 3:
        return squares_of_ways(columns, j, points, i, around)
    return folded_squares(columns, points, i, j, around)


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
    """The points within the world, and whether all are finite and, but in a lattice, there already."""
    (n, dim), sound, total = given.shape, True, given.dtype.type(0)
    if units.shape[0] > 0:
        own = np.empty((n, dim), given.dtype)
        sound = put_in_cell(given, around, units, _MOST_CELLS, 0, n, own) < 0
        for i in range(n):
            for axis in range(dim):
                sound &= abs(own[i, axis]) < _FARTHEST
        return own, sound
    for axis in range(dim):
        if around.shape[0] <= 3 and around[axis] < np.inf:
            for i in range(n):
                sound &= 0 <= given[i, axis] <= around[axis]
        else:
            for i in range(n):
                total += given[i, axis] * given.dtype.type(0)  # NaN, where one of them is not finite
    return given, sound and total == 0


@inline
def _take_all(points, found, among, period, cell, units, place):
    """The space; both sides, in it; columns of what may be found; and whether all is sound."""
    around = _space(period, cell, points.shape[1], place)
    own, sound = _take(points, around, units)
    others = own
    if not among:
        others, known = _take(found, around, units)
        sound &= known
    columns = np.empty((points.shape[1], found.shape[0] + LANES), points.dtype)
    _take_columns(others, columns)
    return around, own, others, columns, sound


@inline
def _meet(envs, other_envs, i, j):
    return envs.shape[0] == 0 or envs[i] == other_envs[j] or envs[i] == -1 or other_envs[j] == -1


@inline
def _is_plain(among, period, cell, envs, radii):
    """Whether these are points of one set, which all meet, in a world without a period."""
    plain = among and cell.shape[0] == 0 and envs.shape[0] == 0 and radii.shape[0] == 0
    for axis in range(len(period)):
        plain &= period[axis] == np.inf
    return plain


@inline
def _fits(points, found, period, cell, envs, other_envs, radii, other_radii):
    n, m, dim = points.shape[0], found.shape[0], points.shape[1]
    fits = (dim == 2 or dim == 3) and found.shape[1] == dim
    fits &= cell.shape[0] == 0 or cell.shape[0] == dim + 2 * dim * dim
    fits &= cell.shape[0] > 0 or len(period) >= dim
    fits &= envs.shape[0] == 0 or (envs.shape[0] == n and other_envs.shape[0] == m)
    fits &= radii.shape[0] == 0 or (radii.shape[0] == n and other_radii.shape[0] == m)
    return fits


@jit
@numbers(period=(2, 3))
def find_near_of_few(
    points, found, among, period, cell, units, envs, other_envs, radii, other_radii, r, r_min, half, alone,
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
        count = np.int64(UNSUITABLE)
    else:
        around, own, others, columns, sound = _take_all(
            points, found, among, period, cell, units, many(24, points.dtype)
        )
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
        folded, bound, least = farthest_folded(around, dim), safe_bound(own, most * most), kind(r_min)
        plain = n > _LEAST_SORTED and _is_plain(among, period, cell, envs, radii)
        if not sound or (not bound <= folded and n * m > _MOST_UNFOLDED) or (plain and not half):
            count, n = np.int64(UNSUITABLE), np.int64(0)
        elif plain:
            rows, far, count = pairs_along_axis(own, most, least, around, rows, far)
            n = np.int64(0)
        for i in range(n):
            first = i + 1 if among and half else np.int64(0)
            for j in range(first, m, LANES):
                near = np.int64((1 << min(m - j, LANES)) - 1)
                if bound <= folded:
                    near &= bits(_squares_in_space(columns, j, own, i, around) <= splat(bound))
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
                break
        if count > limit:
            count = np.int64(UNSUITABLE)
    size = max(count, 0)
    a, b, distances = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, points.dtype)
    for k in range(size):
        a[k], b[k], distances[k] = rows[k, 0], rows[k, 1], far[k, 0]
    return a, b, distances, count


@jit
@numbers(period=(2, 3))
def find_nearest_of_any(points, found, among, period, cell, units, envs, other_envs, k, r):
    """Ids and distances of the ``k`` nearest, -1 and inf where there are fewer; and 0 or `UNSUITABLE`."""
    n, m, dim = points.shape[0], found.shape[0], points.shape[1]
    reach = points.dtype.type(r)
    ids, distances = np.empty((n, max(k, 1)), np.int32), np.empty((n, max(k, 1)), points.dtype)
    fits = _fits(points, found, period, cell, envs, other_envs, units[:0], units[:0])
    if not fits or not r >= 0 or k < 1:
        return ids, distances, np.int64(UNSUITABLE)
    around, own, others, columns, sound = _take_all(
        points, found, among, period, cell, units, many(24, points.dtype)
    )
    if not sound:
        return ids, distances, np.int64(UNSUITABLE)
    for i in range(n):
        for place in range(k):
            ids[i, place], distances[i, place] = -1, np.inf
    if n > _LEAST_SORTED_FOR_NEAREST and _is_plain(among, period, cell, envs, units):
        return ids, distances, nearest_along_axis(own, k, reach, around, ids, distances)
    folded, lists = farthest_folded(around, dim), k + 1 if among else k
    squares = np.empty((1, m + LANES), points.dtype)
    for i in range(n):
        count, bound = np.int64(0), safe_bound(own, reach * reach)
        least = splat(points.dtype.type(np.inf))
        for j in range(0, m, LANES):
            store(squares, 0, j, _squares_in_space(columns, j, own, i, around))
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
    return ids, distances, np.int64(0)
