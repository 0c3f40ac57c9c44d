"""Few points of any kind: read, checked, searched, and returned in one call.

Preparing a larger search takes longer than all of this: five points take 1 us, and preparing 20.  Each point
is compared with each, `LANES` at a time; where there are more than about a hundred, in a world without a
period, those that may be found are sorted along one axis first, and a search goes from each point along the
axis until the gap on it alone is too long.  What a kernel does not take (points outside of a periodic world,
numbers that are not finite, too many that are near each other) it answers with `UNSUITABLE`; another search
then says what is so.

Squares are only compared with a bound that no near point exceeds; `distance` decides which points count, as
in the other searches.  For all images of few points each pair is looked at with each image that may be near.
"""

import math

import numpy as np

from broadphase.kernels.arrays.results import larger
from broadphase.kernels.arrays.sorting import ordered, place_among, sort_keys
from broadphase.kernels.boxes.queries import insert_nearest
from broadphase.kernels.machine.jit import inline, jit, numbers
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
from broadphase.kernels.points.distance import distance, double_length, squares_of_ways
from broadphase.kernels.points.lattice import (
    farthest_folded,
    folded_squares,
    nearest_way,
    put_in_cell,
)

UNSUITABLE = -1
"""These points need another search: not all are finite, or too many are near each other."""
MOST_TESTS, MOST_SORTED = 1 << 17, 1_000
"""Of each point with each; and the most points that are sorted."""
_LEAST_SORTED = 128
# Among sorted points a search gives up after so many comparisons a point, or pairs a point: where many points
# are in one place, sorting along a curve is faster.
_MOST_COMPARISONS, _MOST_PAIRS_EACH = 256, 8
_MOST_UNFOLDED = 1 << 14
"""Where ways in a lattice are longer than what can be folded, each is compared with many images."""
_MOST_CELLS = 2.0**52
_FARTHEST = 2.0**100
"""Where a world with lattice vectors is not periodic: in float32 too, no product of numbers overflows."""
_WIDER = 1e-9
"""How much farther images are searched: the distance of each is then computed from where the points are."""


@inline
def _is_plain(around, dim):
    """Whether the world has no period."""
    plain = around.shape[0] <= 3
    for k in range(dim):
        plain &= not around[k] < np.inf
    return plain


@inline
def _squares_in_space(columns, j, points, i, around, plain):
    """Squares of ways to the nearest images of the points from ``j`` on, in a lattice to the folded ones."""
    if plain:
        x, y = load(columns, 0, j) - splat(points[i, 0]), load(columns, 1, j) - splat(points[i, 1])
        squares = x * x + y * y
        if columns.shape[0] == 3:
            z = load(columns, 2, j) - splat(points[i, 2])
            squares = squares + z * z
        return squares
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
        inside = np.empty((n, dim), given.dtype)
        sound = put_in_cell(given, around, units, _MOST_CELLS, 0, n, inside) < 0
        for i in range(n):
            for axis in range(dim):
                sound &= abs(inside[i, axis]) < _FARTHEST
        return inside, sound
    for axis in range(dim):
        if around.shape[0] <= 3 and around[axis] < np.inf:
            for i in range(n):
                sound &= 0 <= given[i, axis] <= around[axis]
        else:
            for i in range(n):
                total += given[i, axis] * given.dtype.type(0)  # NaN, where one of them is not finite
    return given, sound and total == 0


@inline
def safe_bound(points, square):
    """No square is more than this whose distance is at most that of ``square``, however they were rounded."""
    kind = points.dtype.type
    factor, small = kind(1.0 + 2.0**-20), kind(2.0**-120)
    if points.itemsize == 8:
        factor, small = kind(1.0 + 2.0**-49), kind(2.0**-1000)
    return square * factor + small


@inline
def _meet(envs, other_envs, i, j):
    return envs.shape[0] == 0 or envs[i] == other_envs[j] or envs[i] == -1 or other_envs[j] == -1


@inline
def _fits(points, found, period, cell, envs, other_envs, radii, other_radii):
    n, m, dim = points.shape[0], found.shape[0], points.shape[1]
    fits = (dim == 2 or dim == 3) and found.shape[1] == dim
    fits &= cell.shape[0] == 0 or cell.shape[0] == dim + 2 * dim * dim
    fits &= cell.shape[0] > 0 or len(period) >= dim
    fits &= envs.shape[0] == 0 or (envs.shape[0] == n and other_envs.shape[0] == m)
    fits &= radii.shape[0] == 0 or (radii.shape[0] == n and other_radii.shape[0] == m)
    return fits


@inline
def _take_all(points, found, among, period, cell, units, place):
    """The space; both sides, in it; and whether all is sound."""
    around = _space(period, cell, points.shape[1], place)
    inside, sound = _take(points, around, units)
    others = inside
    if not among:
        others, known = _take(found, around, units)
        sound &= known
    return around, inside, others, sound


@inline
def _in_columns(found, sorts):
    """Points in columns, ended by `LANES` infinite ones; their rows, in one row; and the axis of their order.

    If ``sorts``, they are sorted along the widest axis; otherwise it is -1.
    """
    n, dim = found.shape
    columns, order = np.empty((dim, n + LANES), found.dtype), np.empty((1, n + LANES), np.int32)
    widest, axis = found.dtype.type(-1), np.int64(-1)
    if sorts:
        for k in range(dim):
            low = high = found[0, k]
            for i in range(n):
                low, high = min(low, found[i, k]), max(high, found[i, k])
            if high - low > widest:
                widest, axis = high - low, np.int64(k)
        keys, words, counts = np.empty(n, np.int64), np.empty((2, n), np.int64), many(256, np.int64)
        for i in range(n):
            keys[i] = ordered(np.float64(found[i, axis]).view(np.int64), 63)
        sort_keys(keys, n, words, counts, order[0])
    else:
        for i in range(n):
            order[0, i] = i
    for k in range(dim):
        for i in range(n):
            columns[k, i] = found[order[0, i], k]
        for i in range(n, n + LANES):
            columns[k, i] = np.inf
    return columns, order, axis


@inline
def _places_of(points, columns, order, axis, among):
    """The column of each point, or before which it would be; 0 where there is no order."""
    places, m = np.zeros(points.shape[0], np.int64), order.shape[1] - LANES
    for i in range(points.shape[0] if axis >= 0 else np.int64(0)):
        if among:
            places[order[0, i]] = i
            continue
        places[i] = place_among(columns[axis], points[i, axis], m - 1)
    return places


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
        around, inside, others, sound = _take_all(
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
        folded, bound, least = farthest_folded(around, dim), safe_bound(inside, most * most), kind(r_min)
        if not sound or (not bound <= folded and n * m > _MOST_UNFOLDED):
            count, n, m = np.int64(UNSUITABLE), np.int64(0), np.int64(0)
        plain = _is_plain(around, dim)
        columns, order, axis = _in_columns(others[:m], plain and min(n, m) > _LEAST_SORTED)
        places, held = _places_of(inside[:n], columns, order, axis, among), np.int64(0)
        upward, near_ids = among and half, np.empty((1, m + LANES), np.int32)
        # A bit for each two points.
        marks = np.zeros((n, (m // (32 * LANES) + 1) * LANES), np.uint32)
        for turn in range(n):
            i = np.int64(order[0, turn]) if among else np.int64(turn)  # as in `find_nearest_of_any`
            low, near_count = i + 1 if upward else np.int64(0), np.int64(0)
            if axis >= 0:
                low = places[i] + 1 if upward else places[i]
                while not upward and low > 0:
                    gap = inside[i, axis] - columns[axis, low - 1]
                    if gap * gap > bound:
                        break
                    low = max(low - LANES, 0)
            for j in range(low, m, LANES):
                if axis >= 0:
                    gap = columns[axis, j] - inside[i, axis]
                    if gap > 0 and gap * gap > bound:
                        break
                near_bits = np.int64((1 << min(m - j, LANES)) - 1)
                if bound <= folded:
                    near_bits &= bits(_squares_in_space(columns, j, inside, i, around, plain) <= splat(bound))
                # Without a branch for each: one that is not foreseen takes as long as all of this.
                put_lanes(near_ids, 0, near_count, load(order, 0, j), mask_of(near_bits))
                near_count += count_lanes(near_bits)
            held += near_count
            if axis >= 0 and held > _MOST_PAIRS_EACH * (n + m) and bound < np.inf:  # else squares overflow
                count, n = np.int64(UNSUITABLE), np.int64(0)
                break
            for k in range(near_count):
                other = np.int64(near_ids[0, k])
                first, second = (min(i, other), max(i, other)) if upward else (i, other)
                marks[first, second >> 5] |= 1 << (second & 31)
        zero = splat(np.int32(0))
        for i in range(n):
            for begin in range(0, marks.shape[1], LANES):
                words = load(marks.view(np.int32), i, begin)
                filled = bits(words < zero) | bits(zero < words)
                while filled != 0:
                    word = begin + lowest_lane(filled)
                    filled &= filled - 1
                    near_bits = np.int64(marks[i, word])
                    while near_bits != 0:
                        other = 32 * word + lowest_lane(near_bits)
                        near_bits &= near_bits - 1
                        if not _meet(envs, other_envs, i, other) or (i == other and (among or alone)):
                            continue
                        if radii.shape[0] > 0:
                            most = radii[i] + other_radii[other]
                        d = _distance_in_space(inside, others, i, other, around)
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
    kind, reach = points.dtype.type, points.dtype.type(r)
    ids, distances = np.empty((n, max(k, 1)), np.int32), np.empty((n, max(k, 1)), points.dtype)
    fits = _fits(points, found, period, cell, envs, other_envs, units[:0], units[:0])
    if not fits or not r >= 0 or k < 1:
        return ids, distances, np.int64(UNSUITABLE)
    around, inside, others, sound = _take_all(
        points, found, among, period, cell, units, many(24, points.dtype)
    )
    if not sound:
        return ids, distances, np.int64(UNSUITABLE)
    for i in range(n):
        for place in range(k):
            ids[i, place], distances[i, place] = -1, np.inf
    if m == 0:
        return ids, distances, np.int64(0)
    plain = _is_plain(around, dim)
    columns, order, axis = _in_columns(others, plain and min(n, m) > _LEAST_SORTED // 2)
    places, groups = _places_of(inside, columns, order, axis, among), (m + LANES - 1) // LANES
    folded, lists = farthest_folded(around, dim), k + 1 if among else k
    squares, lane_squares = np.empty((1, m + LANES), points.dtype), one_row(LANES, points.dtype)
    left = _MOST_COMPARISONS * (n + m)
    for turn in range(n):
        # In their order, because then branches go as they went before.
        i = np.int64(order[0, turn]) if among else np.int64(turn)
        count, bound = np.int64(0), safe_bound(inside, reach * reach)
        # The lanes are dealt to so many lists.  One holds the point itself, each of the others another one.
        least, first, last, group = splat(kind(np.inf)), np.int64(0), groups, places[i] // LANES
        if axis >= 0:
            first, last = max(group - k, 0), min(group + k + 1, groups)
        for j in range(first * LANES, (last if axis < 0 or lists < LANES else first) * LANES, LANES):
            near_squares = _squares_in_space(columns, j, inside, i, around, plain)
            if axis < 0 or envs.shape[0] > 0:
                store(squares, 0, j, near_squares)
                for column in range(j, min(j + LANES, m) if envs.shape[0] > 0 else j):
                    if not _meet(envs, other_envs, i, np.int64(order[0, column])):
                        squares[0, column] = np.inf
                near_squares = load(squares, 0, j)
            if j + LANES <= m:
                least = smaller(near_squares, least)
        if lists < LANES:
            most = kind(0)
            store(lane_squares, 0, 0, least)
            for first in range(lists):
                square = lane_squares[0, first]
                for lane in range(first + lists, LANES, lists):
                    square = min(square, lane_squares[0, lane])
                most = max(most, square)
            bound = min(bound, safe_bound(inside, most))
        x = inside[i, max(axis, 0)]
        for side in range(2):  # where there is no order, all are on the first
            j, step = (group - side) * LANES, LANES - side * 2 * LANES
            while 0 <= j < m:
                near_bits = np.int64((1 << min(m - j, LANES)) - 1)
                if axis >= 0:
                    gap = columns[axis, j] - x if side == 0 else x - columns[axis, j + LANES - 1]
                    if gap > 0 and gap * gap > bound:
                        break
                    near_bits &= bits(_squares_in_space(columns, j, inside, i, around, True) <= splat(bound))
                    left -= 1 + count_lanes(near_bits)
                elif bound <= folded:
                    near_bits &= bits(load(squares, 0, j) <= splat(bound))
                while near_bits != 0:
                    other = np.int64(order[0, j + lowest_lane(near_bits)])
                    near_bits &= near_bits - 1
                    if (among and other == i) or not _meet(envs, other_envs, i, other):
                        continue
                    d = _distance_in_space(inside, others, i, other, around)
                    if d <= reach:
                        count = insert_nearest(ids, distances, i, k, count, other, d)
                if count == k:
                    bound = min(bound, safe_bound(inside, distances[i, k - 1] * distances[i, k - 1]))
                j += step
        if left <= 0 and axis >= 0:
            return ids, distances, np.int64(UNSUITABLE)
    return ids, distances, np.int64(0)


_FARTHEST_PLACE = 2.0**18
"""In vectors of the cell: farther away, rounding of places is more than what is searched wider."""


@inline
def _write_places(points, inverse, gradients, places):
    """Write points in vectors of the cell, 0 for axes without a period; whether all are finite and near."""
    fits, dim = True, points.shape[1]
    for i in range(points.shape[0]):
        for k in range(dim):
            place = 0.0
            for axis in range(dim):
                place += points[i, axis] * inverse[axis, k]
            fits &= points[i, k] * 0.0 == 0.0
            fits &= gradients[k] == 0.0 or abs(place) < _FARTHEST_PLACE
            places[k, i] = place if gradients[k] > 0.0 else 0.0
    return fits


@jit
def find_images_of_few(points, found, among, cell, inverse, gradients, r, most):
    """``i, j, distance, offset, shift`` of all images within ``r``, in order; and how many, or `UNSUITABLE`.

    ``gradients``: how many vectors a way of length 1 has at most along each, 0 for axes without a period.
    """
    n, dim, m = points.shape[0], points.shape[1], found.shape[0]
    rows, far = np.empty((256, 5), np.int32), np.empty((256, 4))
    places, others, candidates = np.zeros((3, n)), np.zeros((3, m)), np.empty(m, np.int32)
    count, looks = np.int64(0), 1.0
    first, last, reach = few(3, np.int64), few(3, np.int64), few(3, np.float64)
    for k in range(3):
        reach[k] = 0.0
        if k < dim and gradients[k] > 0.0:
            reach[k] = gradients[k] * (r * (1.0 + _WIDER)) + _WIDER
        looks *= 2.0 * reach[k] + 1.0
    fits = (dim == 2 or dim == 3) and found.shape[1] == dim and cell.shape[0] == dim and r >= 0.0
    if not fits or not n * m * looks <= most:
        count, n = UNSUITABLE, np.int64(0)
    elif not _write_places(points, inverse, gradients, places):
        count, n = UNSUITABLE, np.int64(0)
    elif not _write_places(found, inverse, gradients, others):
        count, n = UNSUITABLE, np.int64(0)
    for i in range(n):
        # Those that may have an image near, without a branch: one in ten in a cell four times as wide as r.
        begin, candidate_count = i if among else np.int64(0), 0
        x, y, z = places[0, i], places[1, i], places[2, i]
        for j in range(begin, m):
            a, b, c = others[0, j] - x, others[1, j] - y, others[2, j] - z
            may_be = abs(a - math.floor(a + 0.5)) <= reach[0]
            may_be &= abs(b - math.floor(b + 0.5)) <= reach[1]
            may_be &= abs(c - math.floor(c + 0.5)) <= reach[2]
            candidates[candidate_count] = j
            candidate_count += may_be
        for candidate in range(candidate_count):
            j = candidates[candidate]
            for k in range(3):
                along = others[k, j] - places[k, i]
                first[k], last[k] = math.ceil(-reach[k] - along), math.floor(reach[k] - along)
            for a in range(first[0], last[0] + 1):
                for b in range(first[1], last[1] + 1):
                    for c in range(first[2], last[2] + 1):
                        if among and i == j and not (a > 0 or (a == 0 and (b > 0 or (b == 0 and c > 0)))):
                            continue
                        x = found[j, 0] - points[i, 0] + (a * cell[0, 0] + b * cell[1, 0])
                        y = found[j, 1] - points[i, 1] + (a * cell[0, 1] + b * cell[1, 1])
                        z = 0.0
                        if dim == 3:
                            x, y = x + c * cell[2, 0], y + c * cell[2, 1]
                            z = found[j, 2] - points[i, 2]
                            z += a * cell[0, 2] + b * cell[1, 2] + c * cell[2, 2]
                        d = double_length(x, y, z)
                        if d <= r:
                            if count == rows.shape[0]:
                                rows, far = larger(rows, count), larger(far, count)
                            rows[count, 0], rows[count, 1] = i, j
                            rows[count, 2], rows[count, 3], rows[count, 4] = a, b, c
                            far[count, 0], far[count, 1], far[count, 2], far[count, 3] = d, x, y, z
                            count += 1
    size = max(count, 0)
    one, two, distances = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    ways, shifts = np.empty((size, dim)), np.empty((size, dim), np.int32)
    for k in range(size):
        one[k], two[k], distances[k] = rows[k, 0], rows[k, 1], far[k, 0]
        for axis in range(dim):
            ways[k, axis], shifts[k, axis] = far[k, 1 + axis], rows[k, 2 + axis]
    return one, two, distances, ways, shifts, count
