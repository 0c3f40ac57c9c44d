"""Cells, and lists of the boxes that touch them.

Every box is entered into each cell that it touches.  A grid has a list for each of its cells; a hash has a
table of lists, *slots*, and a formula that turns a cell into the number of a slot.  Both numbers are called
the *place* of a cell: it is all in which the two differ.

Lists are linked, as in the textbooks: ``heads[place]`` is the first entry of a place or 0, and every entry
holds a box and the next entry.  A new entry becomes the head.  So emptying all cells is filling ``heads``
with zeros, and nothing has to be counted beforehand.

A box that covers more than `MOST_CELLS` cells is *large*: it is entered nowhere and kept in one list, which
every search tests.  That bounds the work for a box, whatever its coordinates are.

The search is exact because of `cell_of`: one function, never decreasing, for every edge of every box.
Whatever rounding does, two boxes that overlap share the cell of the lower corner of their intersection.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.results import larger
from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import inline, jit

# Four cells are enough for a square of one cell's size, eight for a cube.
MOST_CELLS = 32
# The farthest cell of an endless lattice: beyond it float64 does not distinguish neighbouring cells.
FARTHEST = 2.0**53

# The hash of Chipmunk2D, with a third prime for z.  With 31 bits of each coordinate no product leaves a
# signed 64-bit integer; cells that differ only above bit 31 share a slot, as other distant cells do.
PRIME_X = 1640531513
PRIME_Y = 2654435789
PRIME_Z = 3367900313
LOW_31_BITS = 0x7FFFFFFF

# The columns of an entry: a box, the next entry of the place or 0, the place, the length of the list from
# here.
BOX, NEXT, PLACE, LENGTH = range(4)
# The entries of a tally: entries and one more, places in use, large boxes, boxes in cells, the longest list,
# and how many comparisons all lists amount to.
ENTRIES, PLACES, LARGE, SMALL, FULLEST, WORK = range(6)
TALLY = 6


# Entries are numbers of 32 bits.
MOST_ENTRIES = 2**31 - 1 - 64
# Boxes between two looks for signals: each touches memory at random.
_OFTEN = 1 << 15


class Lattice(NamedTuple):
    """Where the cells are."""

    origin: npt.NDArray[np.float64]
    """``(3,)``: the lower corner of cell 0."""
    per_unit: float
    """Cells per unit of length."""
    first: npt.NDArray[np.float64]
    """``(3,)``: the lowest cell on each axis; what lies below is clamped to it."""
    last: npt.NDArray[np.float64]
    """``(3,)``: the highest cell on each axis; on the third axis 0, as the first, in 2-D."""
    slots: int
    """Of a hash table; 0 for a grid."""


class Bins(NamedTuple):
    """Boxes in their cells."""

    lattice: Lattice
    heads: npt.NDArray[np.int32]
    """For each place its first entry, or 0."""
    entries: npt.NDArray[np.int32]
    """``(m, 4)``; entry 0 is none."""
    reach: npt.NDArray[np.float64]
    """``(2, 3)``: no box lies in cells below the first row or above the second."""
    small: npt.NDArray[np.int32]
    """The boxes in cells."""
    large: npt.NDArray[np.int32]
    """The boxes in none."""
    axis: int
    """Boxes in each list come in the order of their lower edges on this axis; -1: in that of their ids."""
    places: int
    """How many places hold a box."""
    fullest: int
    """The most boxes of one place."""


class Span(NamedTuple):
    """A block of cells: the first and the last on each axis; on the third axis 0 and 0 in 2-D."""

    x0: Any
    x1: Any
    y0: Any
    y1: Any
    z0: Any
    z1: Any


@inline
def cell_of(value, lattice, axis):
    """Cell of a coordinate: floor, clamped first, so that no infinity is ever made an integer."""
    cell = (value - lattice.origin[axis]) * lattice.per_unit
    return math.floor(min(max(cell, lattice.first[axis]), lattice.last[axis]))


@inline
def place_of(x, y, z, lattice):
    """Place of a cell: the slot of a hash table, or the number of the cell in a grid, row by row."""
    if lattice.slots > 0:
        mixed = ((x & LOW_31_BITS) * PRIME_X) ^ ((y & LOW_31_BITS) * PRIME_Y) ^ ((z & LOW_31_BITS) * PRIME_Z)
        return mixed % lattice.slots
    return (z * (int(lattice.last[1]) + 1) + y) * (int(lattice.last[0]) + 1) + x


@inline
def span_of(boxes, i, lattice):
    """The cells of row ``i``."""
    dim = boxes.shape[1] // 2
    x0, x1 = cell_of(boxes[i, 0], lattice, 0), cell_of(boxes[i, dim], lattice, 0)
    y0, y1 = cell_of(boxes[i, 1], lattice, 1), cell_of(boxes[i, dim + 1], lattice, 1)
    if dim == 2:
        return Span(x0, x1, y0, y1, np.int64(0), np.int64(0))
    return Span(x0, x1, y0, y1, cell_of(boxes[i, 2], lattice, 2), cell_of(boxes[i, 5], lattice, 2))


@inline
def count_cells(span):
    """How many cells these are: a float, because three spans may exceed 64 bits."""
    if span.x0 > span.x1 or span.y0 > span.y1 or span.z0 > span.z1:
        return 0.0
    return float(span.x1 - span.x0 + 1) * float(span.y1 - span.y0 + 1) * float(span.z1 - span.z0 + 1)


@jit
def enter(boxes, order, lattice, heads, most_large, most_work):
    """Enter boxes in this order into the cells of ``heads``, all zeros.

    Returns ``entries, reach, small, large, tally``, the first ones of `Bins`.  It ends early where more than
    ``most_large`` boxes are large, or where the lists amount to more than ``most_work`` comparisons.  A new
    entry becomes the head, so boxes are entered from the last to the first, and lists come in the given
    order; so do ``small`` and ``large``, which are filled from their ends.
    """
    n = order.shape[0]
    entries, tally = np.empty((5 * n // 2 + 2 * MOST_CELLS, 4), np.int32), np.zeros(TALLY, np.int64)
    small, large, reach = np.empty(n, np.int32), np.empty(n, np.int32), np.empty((2, 3))
    for axis in range(3):
        reach[0, axis], reach[1, axis] = np.inf, -np.inf
    tally[ENTRIES] = 1
    for k in range(n - 1, -1, -1):
        if tally[ENTRIES] + MOST_CELLS > entries.shape[0]:
            entries = larger(entries, tally[ENTRIES])
        i = order[k]
        span = span_of(boxes, i, lattice)
        if count_cells(span) > MOST_CELLS:
            tally[LARGE] += 1
            large[n - tally[LARGE]] = i
            if tally[LARGE] > most_large:
                break
            continue
        tally[SMALL] += 1
        small[n - tally[SMALL]] = i
        _widen(reach, span)
        for z in range(span.z0, span.z1 + 1):
            for y in range(span.y0, span.y1 + 1):
                for x in range(span.x0, span.x1 + 1):
                    _push(heads, entries, tally, place_of(x, y, z, lattice), i)
        if tally[WORK] > most_work or tally[ENTRIES] > MOST_ENTRIES:
            break
        if k % _OFTEN == 0 and n > _OFTEN and not goes_on():
            break
    return entries, reach, small, large, tally


@inline
def _push(heads, entries, tally, place, i):
    """Make box ``i`` the head of a place, unless it is: two of its cells may share a slot."""
    head = heads[place]
    if head != 0 and entries[head, BOX] == i:
        return
    entry = tally[ENTRIES]
    length = np.int64(1)
    if head != 0:
        length += entries[head, LENGTH]
    else:
        tally[PLACES] += 1
    entries[entry, BOX], entries[entry, NEXT] = i, head
    entries[entry, PLACE], entries[entry, LENGTH] = place, length
    heads[place] = entry
    tally[ENTRIES] = entry + 1
    tally[FULLEST] = max(tally[FULLEST], length)
    tally[WORK] += length - 1


@inline
def _widen(reach, span):
    """Extend the cells that are in use by those of a box."""
    reach[0, 0], reach[1, 0] = min(reach[0, 0], span.x0), max(reach[1, 0], span.x1)
    reach[0, 1], reach[1, 1] = min(reach[0, 1], span.y0), max(reach[1, 1], span.y1)
    reach[0, 2], reach[1, 2] = min(reach[0, 2], span.z0), max(reach[1, 2], span.z1)
