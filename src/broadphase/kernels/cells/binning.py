"""Boxes into cells: the binning that the uniform grid and the spatial hash share.

Both cut space into square cells and keep, for every *place* (a cell of the grid, a slot of the hash
table), the boxes that touch it.  They differ in one line, `place`: a grid has a place for every cell, a
hash folds endless cells into a table.

Boxes of very different sizes do not fit one cell size, so there are levels, each with cells a few times
larger than the level before.  A box is entered on the finest level on which it lies in at most
`MOST_PLACES` cells.  The coarsest level is a single cell: the list of oversize boxes.

What makes this exact is `cell`: one function, never decreasing, for every edge of every box.  Whatever
rounding does, two boxes that overlap share the cell that holds the lower corner of their intersection.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.cells.spatial_hash import slot
from broadphase.kernels.cells.uniform_grid import cell_number
from broadphase.kernels.machine.jit import inline, jit

# Copies of one box, at most.  Four cells are enough for a square of one cell's size, eight for a cube.
MOST_PLACES = 12

# The farthest cell of an endless level, beyond which float64 cannot tell neighbouring cells apart.
FARTHEST = 2**53


class Layout(NamedTuple):
    """Where the cells of every level lie and which places they have; level 0 is the finest."""

    origin: npt.NDArray[np.float64]
    """``(3,)``: the corner of cell 0, the same on every level."""
    per_unit: npt.NDArray[np.float64]
    """``(levels,)``: cells per unit of length."""
    first: npt.NDArray[np.float64]
    """``(levels, 3)``: the lowest cell on each axis; what lies below is clamped to it."""
    last: npt.NDArray[np.float64]
    """``(levels, 3)``: the highest cell on each axis."""
    offsets: npt.NDArray[np.int64]
    """``(levels + 1,)``: where each level's places begin, and how many places there are."""
    hashed: bool
    """Whether a level's places are slots of a hash table or the cells of a grid themselves."""


class Cells(NamedTuple):
    """Boxes in their places: place ``p`` holds ``entries[starts[p] : starts[p + 1]]``."""

    layout: Layout
    levels: npt.NDArray[np.uint8]
    """``(boxes,)``: the level of each box."""
    population: npt.NDArray[np.int64]
    """``(levels,)``: how many boxes each level has."""
    starts: npt.NDArray[np.signedinteger]
    entries: npt.NDArray[np.int32]
    """Ids of the boxes, place by place."""
    fullest: int
    """The most boxes of one place."""
    axis: int
    """In each place the boxes come in the order of their lower edge on this axis; -1: no order."""


@inline
def clamped_cell(value, origin, per_unit, first, last):
    """Cell of a coordinate: floor, clamped first, so that no infinity is ever made an integer."""
    return math.floor(min(max((value - origin) * per_unit, first), last))


@inline
def cell(value, layout, level, axis):
    """Cell of a coordinate on one level."""
    return clamped_cell(
        value,
        layout.origin[axis],
        layout.per_unit[level],
        layout.first[level, axis],
        layout.last[level, axis],
    )


@inline
def span(boxes, i, layout, level):
    """First and last cell of box ``i`` on the three axes; the third is 0, 0 in 2-D."""
    dim = boxes.shape[1] // 2
    x0 = cell(boxes[i, 0], layout, level, 0)
    x1 = cell(boxes[i, dim], layout, level, 0)
    y0 = cell(boxes[i, 1], layout, level, 1)
    y1 = cell(boxes[i, dim + 1], layout, level, 1)
    if dim == 2:
        return x0, x1, y0, y1, 0, 0
    return x0, x1, y0, y1, cell(boxes[i, 2], layout, level, 2), cell(boxes[i, 5], layout, level, 2)


@inline
def place(x, y, z, layout, level):
    """Place of a cell: its slot in the hash table of its level, or its number in the grid."""
    offset = layout.offsets[level]
    if layout.hashed:
        return offset + slot(x, y, z, layout.offsets[level + 1] - offset)
    columns = int(layout.last[level, 0]) + 1
    return offset + cell_number(x, y, z, columns, int(layout.last[level, 1]) + 1)


@inline
def home_cell(boxes, i, j, layout, level):
    """Cell of the lower corner of the intersection of ``i`` and ``j``: the only one that reports them."""
    x = cell(max(boxes[i, 0], boxes[j, 0]), layout, level, 0)
    y = cell(max(boxes[i, 1], boxes[j, 1]), layout, level, 1)
    if boxes.shape[1] == 4:
        return x, y, 0
    return x, y, cell(max(boxes[i, 2], boxes[j, 2]), layout, level, 2)


@inline
def distinct_places(boxes, i, layout, level, places):
    """Write the places of box ``i``, each once even if several of its cells share a slot; how many."""
    x0, x1, y0, y1, z0, z1 = span(boxes, i, layout, level)
    count = 0
    for z in range(z0, z1 + 1):
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                candidate = place(x, y, z, layout, level)
                fresh = True
                for k in range(count):
                    fresh &= places[k] != candidate
                if fresh:
                    places[count] = candidate
                    count += 1
    return count


@inline
def fits(boxes, i, layout, level):
    """Whether box ``i`` lies in few enough cells of this level, and so of every coarser one."""
    x0, x1, y0, y1, z0, z1 = span(boxes, i, layout, level)
    # Each factor is cut off first: the product of three spans can exceed 64 bits.
    enough = MOST_PLACES + 1
    copies = min(x1 - x0 + 1, enough) * min(y1 - y0 + 1, enough) * min(z1 - z0 + 1, enough)
    if layout.hashed:
        # What is clamped to the end of an endless level may be many cells of a coarser one.
        lowest, highest = min(x0, y0, z0), max(x1, y1, z1)
        return copies <= MOST_PLACES and -FARTHEST < lowest and highest < FARTHEST
    return copies <= MOST_PLACES


@jit
def assign_levels(boxes, layout, levels, population, begin, end):
    """Write the level of the boxes ``begin .. end - 1``; add up those of each level in ``population``."""
    oversize = layout.per_unit.shape[0] - 1
    for i in range(begin, end):
        level = 0
        while level < oversize and not fits(boxes, i, layout, level):
            level += 1
        levels[i] = level
        population[level] += 1


@jit
def count_copies(boxes, layout, levels, starts, places, begin, end):
    """Count the copies of the boxes ``begin .. end - 1`` in each of their places.

    ``starts`` has two entries more than there are places, all 0 at first, and counts two places ahead: when
    `scatter_copies` has moved the end of each place to where the next one starts, all are where they belong.
    ``places`` is scratch for `MOST_PLACES`.
    """
    for i in range(begin, end):
        for k in range(distinct_places(boxes, i, layout, levels[i], places)):
            starts[places[k] + 2] += 1


@jit
def add_up(starts, begin, end):
    """Turn the counts ``begin .. end - 1``, from 2 on, into where places start.

    Returns how many of these places are in use, and the fullest one's boxes.
    """
    used = 0
    fullest = 0
    for p in range(begin, end):
        count = starts[p]
        if count > 0:
            used += 1
            fullest = max(fullest, count)
        starts[p] = starts[p - 1] + count
    return used, fullest


@jit
def scatter_copies(boxes, layout, levels, order, starts, entries, places, begin, end):
    """Enter boxes into the places that were counted: those at ``begin .. end - 1`` of the given order.

    Without an order as they are; ``places`` as of `count_copies`.
    """
    for k in range(begin, end):
        i = order[k] if order.shape[0] > 0 else k
        for q in range(distinct_places(boxes, i, layout, levels[i], places)):
            entries[starts[places[q] + 1]] = i
            starts[places[q] + 1] += 1
