"""The nearest boxes of many points, through cells that are made for the call.

Neighbours are searched one after the other, and the result of one bounds the distance for the next:
the square around a point is searched once, row of cells by row of cells, 16 boxes at a time.  Only where it
turns out to hold too few it is searched again, twice as wide.
"""

import math

import numpy as np

from broadphase.kernels.boxes.query_tests import distance_to_box
from broadphase.kernels.machine.jit import always_inline, inline, jit, unsigned
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, lowest_lane, splat, store
from broadphase.kernels.points.sort import CELLS, ORIGIN, PER_UNIT, cell_of

# Each box in the square is compared with each other: of more a heap would be faster.
MOST_WANTED = 128
# The square is so much wider than what the point before needed; less where that is certainly enough.
WIDER = 1.2


@inline
def _distance(columns, at, high, boxes, i, point, dim):
    """What `distance_to_box` says, without looking at the box itself where it need not be scaled."""
    x = max(columns[0, at] - point[0], point[0] - columns[high, at], 0.0)
    y = max(columns[1, at] - point[1], point[1] - columns[high + 1, at], 0.0)
    z = 0.0
    if dim == 3:
        z = max(columns[dim - 1, at] - point[2], point[2] - columns[high + dim - 1, at], 0.0)
    largest = max(x, y, z)
    if 1e-140 < largest < 1e140:
        return math.sqrt(x * x + y * y + z * z)
    if largest == 0.0:
        return 0.0
    return distance_to_box(boxes, i, point)


@inline
def _keep_nearest(distances, ids, held, wanted):
    """Sort row 0 by distance, then id, keep the first; how many are left, in both rows.

    The place of each is how many are nearer: no comparison steers a branch, which for so few in no order
    would cost more than all comparisons together.
    """
    store(distances, 0, held, splat(np.nan))  # nearer than nothing
    places = 0
    for i in range(held):
        distance = splat(distances[0, i])
        nearer = 0
        for j in range(0, held, LANES):
            nearer += count_lanes(bits(load(distances, 0, j) < distance))
        places += nearer
        distances[1, unsigned(nearer)] = distances[0, i]
        ids[1, unsigned(nearer)] = ids[0, i]
    if places != held * (held - 1) // 2:  # some are equally far
        for i in range(held):
            distance = splat(distances[0, i])
            nearer = 0
            for j in range(0, held, LANES):
                before = (load(distances, 0, j) <= distance) & (load(ids, 0, j) < splat(ids[0, i]))
                nearer += count_lanes(bits((load(distances, 0, j) < distance) | before))
            distances[1, nearer] = distances[0, i]
            ids[1, nearer] = ids[0, i]
    left = min(held, wanted)
    for i in range(left):
        distances[0, i] = distances[1, i]
        ids[0, i] = ids[1, i]
    return left


@always_inline
def _outside(point, lattice):
    """From a point to the cells."""
    furthest = max(_beyond(point[0], lattice, 0), _beyond(point[1], lattice, 1))
    return max(furthest, _beyond(point[2], lattice, 2)) if lattice.shape[1] == 3 else furthest


@inline
def _beyond(at, lattice, axis):
    low = lattice[ORIGIN, axis]
    return max(low - at, at - (low + lattice[CELLS, axis] / lattice[PER_UNIT, axis]), 0.0)


@jit
def search_nearest(
    columns, own, starts, lattice, half, boxes, points, order, first, last, usual,
    near_distances, near_ids, ids, distances,
):  # fmt: skip
    """The nearest of the points ``order[first : last]``; returns how many were found, and the tests.

    ``columns, own`` are the boxes and their ids by cells, those of cell ``c`` from ``starts[c]`` on; the last
    cell is met by every search.  ``half``: how far a box reaches from its middle.  ``usual``: a first guess
    how far the furthest is.  ``near_...``: two rows of scratch, with room for
    twice `LANES` more than are wanted at least.  Each point's row of ``ids``
    and ``distances`` is filled by distance, then id; -1 and inf where there are fewer.
    """
    dim = lattice.shape[1]
    wanted = ids.shape[1]
    high = columns.shape[0] - dim
    wide, tall = int(lattice[CELLS, 0]), int(lattice[CELLS, 1])
    last_cell = starts.shape[0] - 2
    tests = np.int64(0)
    found = np.int64(0)
    point = (0.0, 0.0, 0.0)
    held = 0  # by the point before
    furthest = np.inf
    for turn in range(first, last):
        q = np.int64(order[turn])
        before = point
        point = (points[q, 0], points[q, 1], points[q, dim - 1] if dim == 3 else 0.0)
        if not (held == wanted and point == before):
            reach = max(usual, _outside(point, lattice))
            if held == wanted:
                step = math.sqrt(_squared(point[0] - before[0], point[1] - before[1], point[2] - before[2]))
                reach = min(furthest + step, max(WIDER * furthest, _outside(point, lattice)))
            held = 0
            while True:
                held = 0
                limit = reach
                x0, x1, y0, y1, z0, z1 = _cells_within(point, reach, lattice, half)
                for z in range(z0, z1 + 1):
                    for y in range(y0, y1 + 1):
                        row = (z * tall + y) * wide
                        begin, end = starts[row + x0], starts[row + x1 + 1]
                        tests += end - begin
                        held, limit = _scan(
                            columns, own, high, begin, end, boxes, point, dim,
                            near_distances, near_ids, held, limit, wanted,
                        )  # fmt: skip
                begin, end = starts[last_cell], starts[last_cell + 1]
                if begin < end:
                    tests += end - begin
                    held, limit = _scan(
                        columns, own, high, begin, end, boxes, point, dim,
                        near_distances, near_ids, held, limit, wanted,
                    )  # fmt: skip
                if held >= wanted or reach == np.inf:
                    break
                whole = x0 == 0 and y0 == 0 and z0 == 0 and (z1 * tall + y1) * wide + x1 == last_cell - 1
                reach = np.inf if whole else max(2.0 * reach, usual)
            held = _keep_nearest(near_distances, near_ids, held, wanted)
            furthest = near_distances[0, wanted - 1]
        found += held
        for k in range(held):
            ids[q, k] = near_ids[0, k]
            distances[q, k] = near_distances[0, k]
        for k in range(held, wanted):
            ids[q, k] = -1
            distances[q, k] = np.inf
    return found, tests


@inline
def _squared(x, y, z):
    return x * x + y * y + z * z


@inline
def _slack(reach, at):
    """A distance, and more than rounding can take away from the ends of an interval so long."""
    return reach + 1e-14 * (reach + abs(at)) + 1e-300


@inline
def _cells_within(point, reach, lattice, half):
    """The first and the last cell on each axis in which the middle of a box within reach may lie."""
    x, y = point[0], point[1]
    wide, tall = _slack(reach + half[0], x), _slack(reach + half[1], y)
    x0, x1 = cell_of(x - wide, lattice, 0), cell_of(x + wide, lattice, 0)
    y0, y1 = cell_of(y - tall, lattice, 1), cell_of(y + tall, lattice, 1)
    if lattice.shape[1] == 2:
        return x0, x1, y0, y1, 0, 0
    deep = _slack(reach + half[2], point[2])
    return x0, x1, y0, y1, cell_of(point[2] - deep, lattice, 2), cell_of(point[2] + deep, lattice, 2)


@always_inline
def _scan(columns, own, high, begin, end, boxes, point, dim, distances, ids, held, limit, wanted):
    """Put the boxes ``begin .. end - 1`` that are within the limit behind the others; how many, the limit.

    When there is no more room only the nearest are kept, and the limit is lowered to the last of them.
    """
    for at in range(begin, end, LANES):
        x, y = _slack(limit, point[0]), _slack(limit, point[1])
        near = load(columns, 0, at) <= splat(point[0] + x)
        near = near & (splat(point[0] - x) <= load(columns, high, at))
        near = near & (load(columns, 1, at) <= splat(point[1] + y))
        near = near & (splat(point[1] - y) <= load(columns, high + 1, at))
        if dim == 3:
            z = _slack(limit, point[2])
            near = near & (load(columns, dim - 1, at) <= splat(point[2] + z))
            near = near & (splat(point[2] - z) <= load(columns, high + dim - 1, at))
        lanes = bits(near)
        if end - at < LANES:
            lanes &= (1 << (end - at)) - 1
        while lanes != 0:
            k = unsigned(at + lowest_lane(lanes))
            lanes &= lanes - 1
            distance = _distance(columns, k, high, boxes, own[k], point, dim)
            distances[0, unsigned(held)] = distance
            ids[0, unsigned(held)] = own[k]
            held += distance <= limit
        if held > distances.shape[1] - 2 * LANES:
            held = _keep_nearest(distances, ids, held, wanted)
            if held == wanted:
                limit = distances[0, held - 1]
    return held, limit
