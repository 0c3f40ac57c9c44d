"""What is near one point: read, checked and searched in one call, among all points or in a tree.

New points are columns and nothing else, and `LANES` of them are compared at a time: a thousand take 0.5 us.
In a tree (`broadphase.kernels.points.nearest_points`) the nearest box is opened first.
"""

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.arrays.results import result
from broadphase.kernels.machine.jit import holds_gil, inline, numbers, rows
from broadphase.kernels.machine.memory import few, many, one_row, with_columns
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, splat, store
from broadphase.kernels.points.distance import (
    distance_along,
    minimum_image,
    plus,
    squares_of_ways,
    take_place,
    times,
)
from broadphase.kernels.points.few_points import insert_nearest, safe_bound
from broadphase.kernels.points.nearest_points import box_offsets

_OPEN = 128  # boxes that wait: `LANES` on each of at most eight levels


@holds_gil
def take_points(given):
    """The columns of some points, ended by `LANES` infinite ones, and whether all are finite."""
    n, dim = given.shape
    columns, total = np.empty((dim, n + LANES), given.dtype), given.dtype.type(0)
    for axis in range(dim):
        for i in range(n):
            value = given[i, axis]
            columns[axis, i] = value
            total += value * given.dtype.type(0)  # NaN, where one of them is not finite
        for i in range(n, n + LANES):
            columns[axis, i] = np.inf
    return columns, total == 0


@inline
def _squares_of_boxes(boxes, at, point, around):
    """The least squares of the ways from a point to `LANES` boxes."""
    dim, squares = boxes.shape[0] // 2, splat(boxes.dtype.type(0))
    for axis in range(dim):
        gap = box_offsets(boxes, axis, dim + axis, at, splat(point[0, axis]), around[axis])
        squares = plus(squares, times(gap, gap))
    return squares


@inline
def _distance(columns, at, point, around):
    """As `distance.distance`, from a point to the one in a column."""
    dim = columns.shape[0]
    x = minimum_image(columns[0, at] - point[0, 0], around[0])
    y = minimum_image(columns[1, at] - point[0, 1], around[1])
    z = columns.dtype.type(0)
    if dim == 3:
        z = minimum_image(columns[dim - 1, at] - point[0, dim - 1], around[dim - 1])
    return distance_along(x, y, z, columns)


@inline
def _insert(columns, own, begin, last, point, around, i, k, reach, bound, ids, distances, count):
    """Insert those of `LANES` points before ``last`` that are among the nearest; the new bound and count."""
    near = bits(squares_of_ways(columns, begin, point, 0, around) <= splat(bound))
    if begin + LANES > last:
        near &= (1 << (last - begin)) - 1
    while near != 0:
        at = begin + lowest_lane(near)
        near &= near - 1
        d = _distance(columns, at, point, around)
        if d <= reach:
            name = np.int64(own[0, at]) if own.shape[0] > 0 else at
            count = insert_nearest(ids, distances, i, k, count, name, d)
            if count == k:
                bound = min(bound, safe_bound(columns, distances[i, k - 1] * distances[i, k - 1]))
    return bound, count


@inline
def _no_period(dtype):
    around = few(3, dtype)
    for axis in range(3):
        around[axis] = np.inf
    return around


@inline
def _none_yet(ids, distances, i, k):
    for place in range(k):
        ids[i, place], distances[i, place] = -1, np.inf


@holds_gil
@rows(values=(2, 3))
def scan_nearest(columns, values, k, r):
    """The ``k`` nearest of each of some within ``r``, -1 and inf for fewer; and whether all are sound."""
    n, m, kind = columns.shape[1] - LANES, values.shape[0], columns.dtype.type
    point, around = one_row(columns.shape[0], columns.dtype), _no_period(columns.dtype)
    ids, distances = result((m, k), np.int32), result((m, k), columns.dtype)
    reach, sound = kind(r), r >= 0 and values.shape[1] == columns.shape[0]
    no_names = np.empty((0, 1), np.int32)
    for turn in range(m if sound else np.int64(0)):
        sound &= take_place(values[turn], around, point)
        count, bound = np.int64(0), safe_bound(columns, reach * reach)
        _none_yet(ids, distances, turn, k)
        for at in range(0, n, LANES):
            bound, count = _insert(
                columns, no_names, at, n, point, around, turn, k, reach, bound, ids, distances, count
            )
    return ids, distances, sound


@holds_gil
@numbers(values=(2, 3))
def scan_near(columns, values, r):
    """The points within ``r`` in order, their distances, and whether the point and ``r`` are sound."""
    n, kind = columns.shape[1] - LANES, columns.dtype.type
    point, around = one_row(columns.shape[0], columns.dtype), _no_period(columns.dtype)
    found, far, count = np.empty((64, 1), np.int32), np.empty((64, 1), columns.dtype), np.int64(0)
    reach, sound = kind(r), take_place(values, around, point) and r >= 0
    bound = safe_bound(columns, reach * reach)
    for begin in range(0, n if sound else np.int64(0), LANES):
        near = bits(squares_of_ways(columns, begin, point, 0, around) <= splat(bound))
        if begin + LANES > n:
            near &= (1 << (n - begin)) - 1
        while near != 0:
            at = begin + lowest_lane(near)
            near &= near - 1
            d = _distance(columns, at, point, around)
            if d <= reach:
                if count == found.shape[0]:
                    found, far = larger(found, count), larger(far, count)
                found[count, 0], far[count, 0] = at, d
                count += 1
    ids, distances = result(count, np.int32), result(count, columns.dtype)
    for k in range(count):
        ids[k], distances[k] = found[k, 0], far[k, 0]
    return ids, distances, sound


@holds_gil
@rows(values=(2, 3))
def nearest_in_tree(tree, n, around, values, k, r):
    """What `scan_nearest` returns, of ``n`` points in a tree, but in one row: one point after the other."""
    columns, own, boxes, levels = tree.points.columns, tree.points.own, tree.boxes, tree.levels
    kind = columns.dtype.type
    point, squares = one_row(columns.shape[0], columns.dtype), one_row(LANES, columns.dtype)
    m, reach, sound = values.shape[0], kind(r), r >= 0
    all_ids, all_distances = result((1, m * k), np.int32), result((1, m * k), columns.dtype)
    ids, distances = with_columns(all_ids, k), with_columns(all_distances, k)
    groups, least = many(_OPEN, np.int64), many(_OPEN, np.float64)
    for turn in range(m):
        _none_yet(ids, distances, turn, k)
        sound &= take_place(values[turn], around, point)
        count, bound = np.int64(0), safe_bound(columns, reach * reach)
        groups[0], least[0], waiting = np.int64(levels.shape[0] - 2) << 40, 0.0, np.int64(sound)
        while waiting > 0:
            waiting -= 1
            if least[waiting] > bound:
                continue
            level, group = groups[waiting] >> 40, groups[waiting] & ((np.int64(1) << 40) - 1)
            if level < 0:
                bound, count = _insert(
                    columns,
                    own,
                    group * LANES,
                    n,
                    point,
                    around,
                    turn,
                    k,
                    reach,
                    bound,
                    ids,
                    distances,
                    count,
                )
                continue
            at, some = levels[level] + group * LANES, splat(kind(np.inf))
            near = _squares_of_boxes(boxes, at, point, around)
            store(squares, 0, 0, near)
            # Boxes that hold nothing are infinitely far away, which an infinite bound would let pass.
            lanes, first = bits((near <= splat(bound)) & (load(boxes, 0, at) < some)), waiting
            while lanes != 0:
                lane = lowest_lane(lanes)
                lanes &= lanes - 1
                groups[waiting] = ((level - 1) << 40) | (group * LANES + lane)
                least[waiting] = squares[0, lane]
                waiting += 1
                # The nearest is opened first.
                before = waiting - 2
                if before >= first and least[before] < least[waiting - 1]:
                    groups[before], groups[waiting - 1] = groups[waiting - 1], groups[before]
                    least[before], least[waiting - 1] = least[waiting - 1], least[before]
    return all_ids[0], all_distances[0], sound
