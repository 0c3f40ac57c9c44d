"""A counting sort of boxes and of query points by cells.

A ``lattice`` is a ``(3, dim)`` array: where the cells begin on each axis, cells a unit, and how many cells.
What lies outside belongs to the cells at the edge.
"""

import numpy as np

from broadphase.kernels.boxes.query_tests import is_live, passes
from broadphase.kernels.machine.jit import inline, jit

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
def _place_of_box(boxes, i, lattice):
    """The number of its cell, row by row."""
    dim = lattice.shape[1]
    x = cell_of(_middle(boxes[i, 0], boxes[i, dim]), lattice, 0)
    y = cell_of(_middle(boxes[i, 1], boxes[i, dim + 1]), lattice, 1)
    place = y * int(lattice[CELLS, 0]) + x
    if dim == 2:
        return place
    z = cell_of(_middle(boxes[i, dim - 1], boxes[i, 2 * dim - 1]), lattice, dim - 1)
    return place + z * int(lattice[CELLS, 0]) * int(lattice[CELLS, 1])


@jit
def count_boxes(
    boxes, categories, masks, category, mask, lattice, largest, begin, end, part, cells, counts, halves
):
    """The cell of each box of a share into ``cells``, and how many are in each into ``counts[part]``.

    The last bin is for boxes that reach further than ``largest`` from their middles.  What is not searched,
    or not alive, is in none: -1.  ``halves[part]`` becomes how far the others reach on each axis.
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
            place = _place_of_box(boxes, i, lattice)
            if longest > 0.0:
                for axis in range(dim):
                    half = 0.5 * float(boxes[i, dim + axis]) - 0.5 * float(boxes[i, axis])
                    halves[part, axis] = max(halves[part, axis], half)
        cells[i] = place
        counts[part, place] += 1


@jit
def place_boxes(boxes, begin, end, part, cells, counts, columns, ids):
    """Copy the boxes of a share to their places: one row of ``columns`` an edge, or an axis of points."""
    for i in range(begin, end):
        place = cells[i]
        if place >= 0:
            at = counts[part, place]
            counts[part, place] = at + 1
            ids[at] = i
            for row in range(columns.shape[0]):
                columns[row, at] = boxes[i, row]


@jit
def count_points(points, lattice, begin, end, part, cells, counts):
    """The cell of each point of a share into ``cells``, and how many are in each into ``counts[part]``."""
    dim = lattice.shape[1]
    for place in range(counts.shape[1]):
        counts[part, place] = 0
    for q in range(begin, end):
        place = cell_of(points[q, 1], lattice, 1) * int(lattice[CELLS, 0]) + cell_of(points[q, 0], lattice, 0)
        if dim == 3:
            z = cell_of(points[q, dim - 1], lattice, dim - 1)
            place += z * int(lattice[CELLS, 0]) * int(lattice[CELLS, 1])
        cells[q] = place
        counts[part, place] += 1


@jit
def place_points(begin, end, part, cells, counts, order):
    """Number the points of a share in the order of their cells."""
    for q in range(begin, end):
        place = cells[q]
        at = counts[part, place]
        counts[part, place] = at + 1
        order[at] = q
