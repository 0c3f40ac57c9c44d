"""The nearest points of many points, through boxes around neighbours on a curve (`curve`).

The query points follow each other along the curve too.  The result of the one before bounds how far it can
be for this one, so mostly there is one walk down the boxes, `LANES` at a time, and all points within that
distance are put in order once.  Where the curve jumps, the points next to it on the curve say how far it can
be.  Many points may be at one place: there the answer of the one before is taken over, or each would look at
all (20,000 equal points: 13 s).

A box is never nearer than a point in it, also as rounded: rounding keeps what is less from becoming more.
"""

import math

import numpy as np

from broadphase.kernels.machine.jit import inline, jit, unsigned
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    load,
    lowest_lane,
    mask_of,
    put_lanes,
    splat,
)
from broadphase.kernels.points.apart import distance
from broadphase.kernels.points.lane_math import greater, lesser, plus, put_floats, size, times
from broadphase.kernels.points.nearest import _keep_nearest

# How the stack holds what is still to be looked at: the level above the number of the box.
_LEVEL = 40
# A point that is farther from the one before than so many times its search radius looks at its neighbours
# on the curve.
_JUMP = 0.6


@inline
def _box_ways(boxes, axis, high, at, point, around):
    """How far boxes are on one axis, the shorter way around."""
    to_low, to_high = load(boxes, axis, at) - point, point - load(boxes, high, at)
    zero = point - point
    inner = greater(greater(to_low, to_high), zero)
    if not around < np.inf:
        return inner
    furthest = greater(load(boxes, high, at) - point, point - load(boxes, axis, at))
    return lesser(inner, splat(around) - furthest)


@inline
def _near_boxes(boxes, worlds, at, point, env, around, dim, bound):
    """Which of the `LANES` boxes from ``at`` on may hold points whose squares are up to the bound."""
    x = _box_ways(boxes, 0, dim, at, splat(point[0]), around[0])
    y = _box_ways(boxes, 1, dim + 1, at, splat(point[1]), around[1])
    square = plus(times(x, x), times(y, y))
    if dim == 3:
        z = _box_ways(boxes, 2, 5, at, splat(point[2]), around[2])
        square = plus(square, times(z, z))
    near = square <= splat(bound)
    if worlds.shape[1] > 0:
        world = splat(env)
        near = near & (load(worlds, 0, at) <= world) & (world <= load(worlds, 1, at))
    return bits(near)


@inline
def _bound(limit, scale, kind, more, least):
    """A square that no point within the limit exceeds, however both were rounded.

    It is finite, unlike the way to a box that holds nothing.
    """
    far = limit * scale
    return kind(min(far * far * more + least, float(np.finfo(kind).max)))


@inline
def _ways(columns, axis, at, point, around):
    way = load(columns, axis, at) - point
    if not around < np.inf:
        return way
    way = size(way)
    return lesser(way, splat(around) - way)


@inline
def _look_into(columns, own, leaf, n, point, env, me, around, dim, bound, squares, ids, held):
    """Put the points of a leaf that are within the bound behind the others; how many there are now."""
    at = leaf * LANES
    x = _ways(columns, 0, at, splat(point[0]), around[0])
    y = _ways(columns, 1, at, splat(point[1]), around[1])
    square = plus(times(x, x), times(y, y))
    if dim == 3:
        z = _ways(columns, 2, at, splat(point[2]), around[2])
        square = plus(square, times(z, z))
    names, own_name = load(own, 0, at), splat(me)
    near = (square <= splat(bound)) & ((names < own_name) | (own_name < names))
    if own.shape[0] > 1:
        theirs, world = load(own, 1, at), splat(env)
        near = near & (theirs <= world) & (world <= theirs)
    hits = bits(near)
    if n - at < LANES:
        hits &= (1 << (n - at)) - 1
    if hits != 0:
        mask = mask_of(hits)
        put_floats(squares, 0, held, square, mask)
        put_lanes(ids, 0, held, names, mask)
        held += count_lanes(hits)
    return held


@inline
def _settle(squares, distances, ids, ready, held, wanted, points, others, i, period, plain, low, high):
    """The nearest of those held, by distance, then number; how many there are."""
    for k in range(ready, held):
        square = squares[0, k]
        if plain and low < square < high:
            distances[0, k] = math.sqrt(square)
        else:
            distances[0, k] = distance(points, others, i, np.int64(ids[0, k]), period)
    return _keep_nearest(distances, ids, held, wanted)


@inline
def _is_known(points, i, last, same, me, ids, wanted):
    """Whether the answer for row ``last`` holds all that row ``i`` may find, but for row ``last`` itself.

    Both are at one place, and ``i`` is not in that answer: without ``i`` there would be one too few.
    """
    for axis in range(points.shape[1]):
        if points[i, axis] != points[last, axis]:
            return False
    if same:
        for k in range(wanted):
            if ids[0, k] == me:
                return False
    return True


@jit
def search_points(
    columns, own, boxes, worlds, levels, around, scale, r, points, others, period, asked, askers, same,
    begin, end, wanted, stack, squares, near_distances, near_ids, ids, distances,
):  # fmt: skip
    """The nearest of the points ``asked[:, begin : end]``; how many were found.

    Parameters
    ----------
    columns, own, boxes, worlds, levels
        The points that may be found: see `broadphase.kernels.points.curve`.
    around, scale, period
        The period as the columns are scaled, by how much, and as it is.
    r
        The furthest that counts.
    points, others
        The query points, and those that may be found, as they came.
    asked, askers, same
        The query points along the curve; and whether they are also those that may be found.
    wanted
        How many of each; the columns of ``ids`` and ``distances`` beyond become -1 and inf.
    stack, squares, near_distances, near_ids
        Scratch: `LANES` for each level and more; one, two and two rows with room for twice as many as wanted
        and eight times `LANES`.
    """
    kind = columns.dtype.type
    dim, n = columns.shape[0], others.shape[0]
    top = levels.shape[0] - 2
    plain = scale == 1.0 and columns.itemsize == points.itemsize
    low, high = kind(2.0**-60), kind(2.0**100)
    more, least = 1.0 + 2.0**-20, 2.0**-126
    if columns.itemsize == 8:
        low, high = kind(2.0**-400), kind(2.0**900)
        more, least = 1.0 + 2.0**-48, 2.0**-1022
        if points.itemsize == 4:  # distances are rounded to float32, the least to multiples of 2**-149
            more, least = 1.0 + 2.0**-20, 2.0**-270
    full = squares.shape[1] - 3 * LANES
    ring = (around[0], around[1], around[dim - 1])
    before = (kind(0), kind(0), kind(0))
    usual, world, last = np.inf, np.int32(-1), np.int64(-1)
    found = np.int64(0)
    for turn in range(begin, end):
        i = np.int64(askers[0, turn])
        me = askers[0, turn] if same else np.int32(-1)
        env = askers[1, turn] if askers.shape[0] > 1 else np.int32(0)
        point = (asked[0, turn], asked[1, turn], asked[dim - 1, turn])
        limit = r
        x, y = float(point[0]) - float(before[0]), float(point[1]) - float(before[1])
        z = float(point[2]) - float(before[2]) if dim == 3 else 0.0
        step = math.sqrt(x * x + y * y + z * z) / scale
        if env == world and step <= _JUMP * usual:
            limit = min(limit, (usual + step) * more)
        else:
            leaf = turn // LANES
            if not same:
                leaf = _descend(boxes, worlds, levels, point, env, ring, dim)
            held = np.int64(0)
            reach = wanted // LANES + 1
            last_leaf = (n - 1) // LANES
            bound = kind(np.inf)
            for other in range(max(leaf - reach, 0), min(leaf + reach, last_leaf) + 1):
                if held > full:
                    held = _settle(
                        squares, near_distances, near_ids, np.int64(0), held, wanted, points, others, i,
                        period, plain, low, high,
                    )  # fmt: skip
                    break
                held = _look_into(
                    columns, own, other, n, point, env, me, ring, dim, bound, squares, near_ids, held
                )
            else:
                held = _settle(
                    squares, near_distances, near_ids, np.int64(0), held, wanted, points, others, i, period,
                    plain, low, high,
                )  # fmt: skip
            if held == wanted:
                limit = min(limit, near_distances[0, wanted - 1])
        bound = _bound(limit, scale, kind, more, least)
        held = ready = np.int64(0)
        stack[0] = np.int64(top) << _LEVEL
        waiting = 1
        if (env == world) & (step == 0.0) & (usual < np.inf) and _is_known(
            points, i, last, same, me, near_ids, wanted
        ):
            waiting = 0
            held = ready = np.int64(wanted)
            if same:
                near_distances[0, wanted], near_ids[0, wanted] = 0.0, np.int32(last)
                held = ready = np.int64(wanted + 1)
        while waiting > 0:
            waiting -= 1
            level, group = stack[waiting] >> _LEVEL, stack[waiting] & ((np.int64(1) << _LEVEL) - 1)
            lanes = _near_boxes(boxes, worlds, levels[level] + group * LANES, point, env, ring, dim, bound)
            while lanes != 0:
                child = group * LANES + lowest_lane(lanes)
                lanes &= lanes - 1
                if level > 0:
                    stack[waiting] = ((level - 1) << _LEVEL) | child
                    waiting += 1
                    continue
                held = _look_into(
                    columns, own, child, n, point, env, me, ring, dim, bound, squares, near_ids, held
                )
                if held > full:
                    held = ready = _settle(
                        squares, near_distances, near_ids, ready, held, wanted, points, others, i, period,
                        plain, low, high,
                    )  # fmt: skip
                    if held == wanted:
                        limit = min(limit, near_distances[0, wanted - 1])
                        bound = _bound(limit, scale, kind, more, least)
        held = _settle(
            squares,
            near_distances,
            near_ids,
            ready,
            held,
            wanted,
            points,
            others,
            i,
            period,
            plain,
            low,
            high,
        )
        usual = near_distances[0, wanted - 1] if held == wanted else np.inf
        before, world, last = point, env, i
        row = unsigned(i)
        some = np.int64(0)
        for k in range(held):
            if near_distances[0, k] <= r:
                ids[row, k] = near_ids[0, k]
                distances[row, k] = near_distances[0, k]
                some += 1
        for k in range(some, ids.shape[1]):
            ids[row, k] = -1
            distances[row, k] = np.inf
        found += some
    return found


@inline
def _descend(boxes, worlds, levels, point, env, ring, dim):
    """A leaf near a point: down to the nearest box each time, which need not hold the nearest point."""
    node = np.int64(0)
    for down in range(levels.shape[0] - 1):
        level = levels.shape[0] - 2 - down
        best, nearest = np.inf, node * LANES
        first = levels[level] + node * LANES
        for at in range(first, first + LANES):
            if worlds.shape[1] > 0 and not (worlds[0, at] <= env <= worlds[1, at]):
                continue
            square = 0.0
            for axis in range(dim):
                way = max(boxes[axis, at] - point[axis], point[axis] - boxes[dim + axis, at], 0.0)
                square += float(way) * float(way)
            if square < best:
                best, nearest = square, node * LANES + at - first
        node = nearest
    return node
