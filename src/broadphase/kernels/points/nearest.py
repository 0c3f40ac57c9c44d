"""The nearest boxes of many points, through cells that were made for the question.

Neighbours ask one after the other, and what the one before has found says how far it can be for this one:
the square around a point is searched once, row of cells by row of cells, 16 boxes at a time.  Only where it
turns out to hold too few it is searched again, twice as wide.
"""

import math

import numpy as np

from broadphase.kernels.boxes.query_tests import distance_to_box
from broadphase.kernels.boxes.ranking import keep_nearest, nearer
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, splat
from broadphase.kernels.points.sort import CELLS, ORIGIN, PER_UNIT, cell_of

# Up to so many a sorted list beats a heap, which has to be sorted in the end.
MOST_IN_ORDER = 48
# The square is so much wider than the one before needed, if that is enough to be sure.
WIDER = 1.3


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
def _offer(distances, ids, q, kept, distance, i):
    """Offer a box to the nearest so far, a sorted row; how many are kept now."""
    at = kept
    if kept == ids.shape[1]:
        at -= 1
        if not nearer(distance, i, distances[q, at], ids[q, at]):
            return kept
        kept -= 1
    while at > 0 and nearer(distance, i, distances[q, at - 1], ids[q, at - 1]):
        distances[q, at] = distances[q, at - 1]
        ids[q, at] = ids[q, at - 1]
        at -= 1
    distances[q, at] = distance
    ids[q, at] = i
    return kept + 1


@inline
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
    columns, own, starts, lattice, half, boxes, points, order, first, last, ids, distances, usual
):  # fmt: skip
    """The nearest of the points ``order[first : last]`` into their rows; returns how many were found, and the tests.

    ``columns, own`` are the boxes and their ids by cells, those of cell ``c`` from ``starts[c]`` on; the last
    cell is met by every search.  ``half``: how far a box reaches from its middle.  ``usual``: a first guess at
    the distance of the furthest.  As many ids as a row is long, up to `MOST_IN_ORDER` by distance, then id;
    the rest of it is -1.
    """
    dim = lattice.shape[1]
    wanted = ids.shape[1]
    sorting = wanted <= MOST_IN_ORDER
    high = columns.shape[0] - dim
    wide, tall = int(lattice[CELLS, 0]), int(lattice[CELLS, 1])
    last_cell = starts.shape[0] - 2
    tests = np.int64(0)
    found = np.int64(0)
    point = (0.0, 0.0, 0.0)
    before = np.int64(-1)
    for turn in range(first, last):
        q = np.int64(order[turn])
        last_point = point
        point = (points[q, 0], points[q, 1], points[q, 2] if dim == 3 else 0.0)
        step = _squared(point[0] - last_point[0], point[1] - last_point[1], point[2] - last_point[2])
        reach = max(usual, _outside(point, lattice))
        if before >= 0 and ids[before, wanted - 1] >= 0:
            if point == last_point:
                found += wanted
                for k in range(wanted):
                    ids[q, k] = ids[before, k]
                    distances[q, k] = distances[before, k]
                continue
            furthest = distances[before, wanted - 1] if sorting else distances[before, 0]
            reach = min(furthest + math.sqrt(step) * (1.0 + 1e-14), max(WIDER * furthest, reach))
        kept = np.int64(0)
        while True:
            kept = 0
            limit = reach
            x0, x1, y0, y1, z0, z1 = _cells_within(point, reach, lattice, half)
            for z in range(z0, z1 + 1):
                for y in range(y0, y1 + 1):
                    row = (z * tall + y) * wide
                    kept, limit, made = _scan(
                        columns, own, high, starts[row + x0], starts[row + x1 + 1], boxes, point, dim,
                        ids, distances, q, kept, limit, sorting,
                    )  # fmt: skip
                    tests += made
            kept, limit, made = _scan(
                columns, own, high, starts[last_cell], starts[last_cell + 1], boxes, point, dim,
                ids, distances, q, kept, limit, sorting,
            )  # fmt: skip
            tests += made
            if kept == wanted or reach == np.inf:
                break
            whole = x0 == 0 and y0 == 0 and z0 == 0 and (z1 * tall + y1) * wide + x1 == last_cell - 1
            reach = np.inf if whole else max(2.0 * reach, usual)
        found += kept
        for k in range(kept, wanted):
            ids[q, k] = -1
            distances[q, k] = np.inf
        before = q
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


@inline
def _scan(columns, own, high, begin, end, boxes, point, dim, ids, distances, q, kept, limit, sorting):
    """Offer the boxes ``begin .. end - 1`` to a point; how many are kept now, how far the last, the tests."""
    for at in range(begin, end, LANES):
        x, y = _slack(limit, point[0]), _slack(limit, point[1])
        near = (load(columns, 0, at) <= splat(point[0] + x)) & (
            splat(point[0] - x) <= load(columns, high, at)
        )
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
            k = at + lowest_lane(lanes)
            lanes &= lanes - 1
            i = own[k]
            distance = _distance(columns, k, high, boxes, i, point, dim)
            if distance <= limit:
                if sorting:
                    kept = _offer(distances, ids, q, kept, distance, i)
                    if kept == ids.shape[1]:
                        limit = distances[q, kept - 1]
                else:
                    kept = keep_nearest(distances[q], ids[q], kept, distance, i)
                    if kept == ids.shape[1]:
                        limit = distances[q, 0]
    return kept, limit, max(end - begin, 0)
