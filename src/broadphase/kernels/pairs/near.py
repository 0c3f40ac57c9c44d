"""What is near many movers: the boxes to search, and the pairs that were found as a list for each mover."""

import numpy as np

from broadphase.kernels.boxes.brute_force import PADDING, lay_in_columns
from broadphase.kernels.boxes.overlap import IN_A, IN_B, STATIC
from broadphase.kernels.machine.jit import jit
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, splat
from broadphase.kernels.shapes.table import bounds_of

SENSORS = 4  # the bit for sensors in any layer


@jit
def boxes_in_layers(shapes, bodies, alive, count, layers, movers, regions, parts):
    """The boxes to search, of the bodies in some layers and of movers: ``rows, boxes, kinds, number_of``.

    There are ``count`` rows.  ``layers`` are bits; the bit beyond those of all layers stands for sensors in
    any.  The box of a mover is its region.  ``kinds`` are the classes of the boxes: movers meet all others,
    and each other if any of them is in the layers; with ``parts`` two static bodies do not meet.
    ``number_of[row]`` is the number of a mover, or -1.
    """
    rows, boxes, kinds = np.empty(count, np.int32), np.empty((count, 4)), np.empty(count, np.uint8)
    number_of, of_movers = np.empty(count, np.int32), IN_A
    for row in range(count):
        number_of[row] = -1
    for m in range(movers.shape[0]):
        number_of[movers[m]] = m
        if (layers >> np.int64(bodies.layer[movers[m]])) & 1 != 0:
            of_movers = np.uint8(0)
    end, count = count, np.int64(0)
    sensors = (layers >> SENSORS) & 1 != 0
    for row in range(end):
        m = number_of[row]
        wanted = (layers >> np.int64(bodies.layer[row])) & 1 != 0 or (sensors and bodies.sensor[row])
        if m >= 0:
            for column in range(4):
                boxes[count, column] = regions[m, column]
        elif wanted and alive[row]:
            boxes[count, 0], boxes[count, 1], boxes[count, 2], boxes[count, 3] = bounds_of(shapes, row)
        else:
            continue
        kind = of_movers if m >= 0 else IN_B
        kinds[count] = kind | STATIC if parts and bodies.static[row] else kind
        rows[count] = row
        count += 1
    return rows[:count], boxes[:count], kinds[:count], number_of


@jit
def list_near(pairs, rows, number_of, movers):
    """From pairs among bodies, what is near each of so many movers: ``first, others``.

    The bodies are ``rows``, ``number_of[row]`` the number of a mover, or -1.  What is near mover ``m`` are
    ``others[first[m]:first[m + 1]]``, ascending where the pairs are sorted.
    """
    first, others = np.zeros(movers + 2, np.int64), np.empty(2 * pairs.shape[0], np.int32)
    for p in range(pairs.shape[0]):
        for side in range(2):
            m = number_of[rows[pairs[p, side]]]
            if m >= 0:
                first[m + 2] += 1
    for m in range(2, first.shape[0]):
        first[m] += first[m - 1]
    for p in range(pairs.shape[0]):
        for side in range(2):
            m = number_of[rows[pairs[p, side]]]
            if m >= 0:
                others[first[m + 1]] = rows[pairs[p, 1 - side]]
                first[m + 1] += 1
    return first[: movers + 1], others[: first[movers]]


@jit
def list_few(boxes, kinds, rows, number_of, regions):
    """`list_near` of few bodies without a search: the region of each mover beside `LANES` boxes at a time."""
    n, movers = boxes.shape[0], regions.shape[0]
    columns, box_of = np.empty((4, n + PADDING)), np.empty(movers, np.int64)
    lay_in_columns(boxes, columns)
    for k in range(n):
        if number_of[rows[k]] >= 0:
            box_of[number_of[rows[k]]] = k
    first, others = np.zeros(movers + 1, np.int64), np.empty(movers * n, np.int32)
    count = np.int64(0)
    for m in range(movers):
        left, top = splat(regions[m, 0]), splat(regions[m, 1])
        right, bottom = splat(regions[m, 2]), splat(regions[m, 3])
        for j in range(0, n, LANES):
            together = (left <= load(columns, 2, j)) & (load(columns, 0, j) <= right)
            together = together & (top <= load(columns, 3, j)) & (load(columns, 1, j) <= bottom)
            lanes = bits(together)
            while lanes != 0:
                k = j + lowest_lane(lanes)
                lanes &= lanes - 1
                if k != box_of[m] and kinds[k] & kinds[box_of[m]] == 0:
                    others[count] = rows[k]
                    count += 1
        first[m + 1] = count
    return first, others[:count]


@jit
def list_found(found, movers):
    """`list_near` of rows ``[mover, row]`` in any order, which those of each mover keep."""
    first, others = np.zeros(movers + 2, np.int64), np.empty(found.shape[0], np.int32)
    for p in range(found.shape[0]):
        first[found[p, 0] + 2] += 1
    for m in range(2, first.shape[0]):
        first[m] += first[m - 1]
    for p in range(found.shape[0]):
        others[first[found[p, 0] + 1]] = found[p, 1]
        first[found[p, 0] + 1] += 1
    return first[: movers + 1], others
