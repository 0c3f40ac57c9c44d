"""The nearest boxes of many points: both are sorted into cells, and the cells around a point are searched.

A ``lattice`` is a ``(3, dim)`` array: where the cells begin on each axis, cells per unit, and how many cells.
Boxes and points outside belong to the cells at the edge.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.arrays.passes import PIECE
from broadphase.kernels.boxes.queries import distance_to_box, is_live, passes
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import always_inline, inline, jit, unsigned
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, lowest_lane, splat, store
from broadphase.kernels.points.distance import double_length

ORIGIN, PER_UNIT, CELLS = 0, 1, 2


@inline
def cell_of(value, lattice, axis):
    """The cell of a coordinate, which may be infinite, on one axis."""
    place = (value - lattice[ORIGIN, axis]) * lattice[PER_UNIT, axis]
    return int(min(max(place, 0.0), lattice[CELLS, axis] - 1.0))


@inline
def _middle(low, high):
    return 0.5 * float(low) + 0.5 * float(high)


@inline
def _place_of(x, y, z, lattice):
    """The number of the cell of a point, row by row; in 2-D without ``z``."""
    place = cell_of(y, lattice, 1) * int(lattice[CELLS, 0]) + cell_of(x, lattice, 0)
    if lattice.shape[1] == 2:
        return place
    return place + cell_of(z, lattice, 2) * int(lattice[CELLS, 0]) * int(lattice[CELLS, 1])


@jit
def count_boxes(
    boxes, categories, masks, category, mask, lattice, largest, begin, end, part, cells, counts, halves
):
    """Write the cell of each box of a share into ``cells``, and how many are in each into ``counts[part]``.

    The last bin is for boxes that reach further than ``largest`` from their middles.  Boxes that are not
    searched or not alive are in none: -1.  ``halves[part]`` becomes how far the others reach on each axis.
    """
    dim = lattice.shape[1]
    for place in range(counts.shape[1]):
        counts[part, place] = 0
    for axis in range(dim):
        halves[part, axis] = 0.0
    for i in range(begin, end):
        if not (is_live(boxes, i) and passes(categories, masks, i, category, mask)):
            cells[i] = -1
            continue
        longest = 0.0
        for axis in range(dim):
            half = 0.5 * float(boxes[i, dim + axis]) - 0.5 * float(boxes[i, axis])
            longest = max(longest, half) if half == half else np.inf
        place = counts.shape[1] - 1
        if longest <= largest:
            x, y = _middle(boxes[i, 0], boxes[i, dim]), _middle(boxes[i, 1], boxes[i, dim + 1])
            z = _middle(boxes[i, dim - 1], boxes[i, 2 * dim - 1])
            place = _place_of(x, y, z, lattice)
            if longest > 0.0:
                for axis in range(dim):
                    half = 0.5 * float(boxes[i, dim + axis]) - 0.5 * float(boxes[i, axis])
                    halves[part, axis] = max(halves[part, axis], half)
        cells[i] = place
        counts[part, place] += 1


@jit
def place_boxes(boxes, begin, end, part, cells, counts, columns, ids):
    """Copy the boxes, or points, of a share to their places, and write ``ids`` in this order.

    ``columns`` has a row for each edge (points: each axis), or none.
    """
    for i in range(begin, end):
        if (i + 1) % PIECE == 0 and not goes_on():
            break
        place = cells[i]
        if place >= 0:
            at = counts[part, place]
            counts[part, place] = at + 1
            ids[at] = i
            for row in range(columns.shape[0]):
                columns[row, at] = boxes[i, row]


@jit
def count_points(points, lattice, begin, end, part, cells, counts):
    """Write the cell of each point of a share into ``cells``, and count each cell in ``counts[part]``."""
    dim = lattice.shape[1]
    for place in range(counts.shape[1]):
        counts[part, place] = 0
    for q in range(begin, end):
        place = _place_of(points[q, 0], points[q, 1], points[q, dim - 1], lattice)
        cells[q] = place
        counts[part, place] += 1


# -----------------------------------------------------------------------------------------------------------
# The nearest boxes of many points, through cells that are built for the call.
#
# Neighbours are searched one after the other, and the result of one bounds the distance for the next:
# the square around a point is searched once, row of cells by row of cells, 16 boxes at a time.  Only if it
# turns out to hold too few boxes it is searched again, twice as wide.


# Each box in the square is compared with each other: for more boxes a heap would be faster.
MOST_WANTED = 128
# The square is this much wider than the previous point's result; less if a smaller one is certainly enough.
WIDER = 1.2


@inline
def _distance(columns, at, high, boxes, i, point, dim):
    """What `distance_to_box` returns, without reading the box itself unless scaling is needed."""
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
    """Sort row 0 by distance, then id, and keep the first entries; returns how many are left, in both rows.

    The position of each entry is the number of nearer ones: no branch depends on a comparison; for so few
    unsorted entries mispredicted branches would cost more than all comparisons together.
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
    """The distance from a point to the cells."""
    max_distance = max(_beyond(point[0], lattice, 0), _beyond(point[1], lattice, 1))
    return max(max_distance, _beyond(point[2], lattice, 2)) if lattice.shape[1] == 3 else max_distance


@inline
def _beyond(at, lattice, axis):
    low = lattice[ORIGIN, axis]
    return max(low - at, at - (low + lattice[CELLS, axis] / lattice[PER_UNIT, axis]), 0.0)


class BoxCells(NamedTuple):
    """Boxes by cell: those of cell ``c`` from ``starts[c]`` on; every search includes the last cell."""

    columns: Any
    """One row for each edge."""
    ids: Any
    starts: Any
    lattice: Any
    half: Any
    """How far a box reaches from its middle, on each axis; boxes in the last cell may reach further."""


@jit
def search_nearest(cells, boxes, points, order, first, last, usual, near_distances, near_ids, ids, distances):
    """The nearest of the points ``order[first : last]``; returns how many were found, and the tests.

    ``usual``: a first guess of the distance to the farthest result.  ``near_...``: two rows of scratch, large
    enough for twice `LANES` more than ``wanted``.  Each point's row of ``ids`` and ``distances`` is filled by
    distance, then id; -1 and inf where there are fewer.
    """
    starts, lattice, half = cells.starts, cells.lattice, cells.half
    dim = lattice.shape[1]
    wanted = ids.shape[1]
    wide, tall = int(lattice[CELLS, 0]), int(lattice[CELLS, 1])
    last_cell = starts.shape[0] - 2
    tests = checked = np.int64(0)
    found = np.int64(0)
    point = (0.0, 0.0, 0.0)
    held = 0  # the results of the previous point
    max_distance = np.inf
    for turn in range(first, last):
        if tests + turn - first > checked + OFTEN // 4:
            checked = tests + turn - first
            if not goes_on():
                break
        q = np.int64(order[turn])
        before = point
        point = (points[q, 0], points[q, 1], points[q, dim - 1] if dim == 3 else 0.0)
        if not (held == wanted and point == before):
            reach = max(usual, _outside(point, lattice))
            if held == wanted:
                step = double_length(point[0] - before[0], point[1] - before[1], point[2] - before[2])
                reach = min(max_distance + step, max(WIDER * max_distance, _outside(point, lattice)))
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
                            cells, begin, end, boxes, point, near_distances, near_ids, held, limit, wanted
                        )
                begin, end = starts[last_cell], starts[last_cell + 1]
                if begin < end:
                    tests += end - begin
                    held, limit = _scan(
                        cells, begin, end, boxes, point, near_distances, near_ids, held, limit, wanted
                    )
                if held >= wanted or reach == np.inf:
                    break
                whole = x0 == 0 and y0 == 0 and z0 == 0 and (z1 * tall + y1) * wide + x1 == last_cell - 1
                reach = np.inf if whole else max(2.0 * reach, usual)
            held = _keep_nearest(near_distances, near_ids, held, wanted)
            max_distance = near_distances[0, wanted - 1]
        found += held
        for k in range(held):
            ids[q, k] = near_ids[0, k]
            distances[q, k] = near_distances[0, k]
        for k in range(held, wanted):
            ids[q, k] = -1
            distances[q, k] = np.inf
    return found, tests


@inline
def _slack(reach, at):
    """A distance with a margin larger than the rounding error of the ends of an interval that long."""
    return reach + 1e-14 * (reach + abs(at)) + 1e-300


@inline
def _cells_within(point, reach, lattice, half):
    """The first and the last cell on each axis in which the middle of a box within reach may be."""
    x, y = point[0], point[1]
    wide, tall = _slack(reach + half[0], x), _slack(reach + half[1], y)
    x0, x1 = cell_of(x - wide, lattice, 0), cell_of(x + wide, lattice, 0)
    y0, y1 = cell_of(y - tall, lattice, 1), cell_of(y + tall, lattice, 1)
    if lattice.shape[1] == 2:
        return x0, x1, y0, y1, 0, 0
    deep = _slack(reach + half[2], point[2])
    return x0, x1, y0, y1, cell_of(point[2] - deep, lattice, 2), cell_of(point[2] + deep, lattice, 2)


@always_inline
def _scan(cells, begin, end, boxes, point, distances, ids, held, limit, wanted):
    """Append the boxes ``begin .. end - 1`` that are within the limit; how many are held, and the limit.

    When the scratch is full only the nearest are kept, and the limit is lowered to the farthest of them.
    """
    columns, own, dim = cells.columns, cells.ids, cells.lattice.shape[1]
    high = columns.shape[0] - dim
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
