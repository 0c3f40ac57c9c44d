"""Boxes in the cells that they touch, for the uniform grid and the spatial hash, and their pairs.

::

    ┌────┬────┬────┐
    │ a  │ ab │ b  │    a and b share one cell: their pair is reported there, and in no other
    └────┴────┴────┘

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

from broadphase.kernels.arrays.results import larger, put
from broadphase.kernels.boxes.overlap import may_pair, overlap
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.memory import many

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


# -----------------------------------------------------------------------------------------------------------
# The pairs of boxes in cells: those that share a place, and those with a large box.
#
# Two boxes may share several cells, and their pair is to be reported once.  There are three ways:
#
# - *A set* of the pairs that were reported: the simplest, and the slowest, because each find is looked up.
# - *Marked copies*: each entry says whether its box began in an earlier column or row; two entries that both
#   did so are skipped.  It saves the comparison too (Tsitsigkos and Mamoulis, 2019; see
#   `broadphase.methods.strips`), but in a hash table the entries of several cells share a slot.
# - *The owner cell*: only the cell with the lower corner of their intersection reports two boxes (Dittrich
#   and Seeger, 2000).  It needs no memory, and it also serves queries.  It is what is done here.
#
# Where lists are long, the boxes come in the order of their lower edges on one axis (``axis >= 0``), and the
# walk along a list ends at the first that begins beyond the box: a crowded cell costs what sort and sweep
# does.


# How many boxes are compared between two checks of the output's capacity.
TOGETHER = 64
# The cost of finding where a walk begins, in comparisons.
_WORK_OF_A_SEARCH = 64
# A comparison reads memory at random: up to 0.3 us among millions of boxes.
_COMPARED_OFTEN = OFTEN // 100


@jit
def pairs_in_cells(boxes, touching, filter, bins, begin, end, out, limit, store):  # noqa: A002
    """Pairs of boxes that share a place, for the entries ``begin .. end - 1``.

    Returns the pairs, how many, and the tests.  Each entry is compared with those behind it in its list.
    """
    lattice, entries, axis = bins.lattice, bins.entries, bins.axis
    candidates = many(TOGETHER, np.int32)
    found = tests = checked = np.int64(0)
    for entry in range(begin, end):
        i = entries[entry, BOX]
        other = np.int64(entries[entry, NEXT])
        # Each group of comparisons looks at the limit: in one place there may be thousands of boxes.
        while other != 0 and found <= limit:
            if store and found + TOGETHER > out.shape[0]:
                out = larger(out, found)
            # First compared, then reported: no branch predictor can guess which of them overlap.
            count = np.int64(0)
            for _ in range(TOGETHER):
                j = entries[other, BOX]
                if axis >= 0 and _begins_beyond(boxes, i, j, axis, touching):
                    other = np.int64(0)
                    break
                tests += 1
                candidates[count] = j
                count += overlap(boxes, i, boxes, j, touching)
                other = np.int64(entries[other, NEXT])
                if other == 0:
                    break
            for k in range(count):
                j = candidates[k]
                if _owner(boxes, i, j, lattice) == entries[entry, PLACE] and may_pair(filter, i, j):
                    if store:
                        put(out, found, i, j)
                    found += 1
        if found > limit:
            break
        if tests + entry - begin > checked + _COMPARED_OFTEN:
            checked = tests + entry - begin
            if not goes_on():
                break
    return out, found, tests


@inline
def _owner(boxes, i, j, lattice):
    """The place of the lower corner of the intersection of two boxes."""
    x = cell_of(max(boxes[i, 0], boxes[j, 0]), lattice, 0)
    y = cell_of(max(boxes[i, 1], boxes[j, 1]), lattice, 1)
    if boxes.shape[1] == 4:
        return place_of(x, y, 0, lattice)
    return place_of(x, y, cell_of(max(boxes[i, 2], boxes[j, 2]), lattice, 2), lattice)


@inline
def _begins_beyond(boxes, i, j, axis, touching):
    """Whether box ``j``, and so all behind it, cannot overlap box ``i``."""
    high = boxes[i, boxes.shape[1] // 2 + axis]
    return boxes[j, axis] > high or (boxes[j, axis] == high and not touching)


@jit
def pairs_of_lists(boxes, touching, filter, lists, begin, end, out, limit, store):  # noqa: A002
    """Pairs of the boxes in ``ids[:split]`` with those in ``ids[split:]``; with each other if that is empty.

    For the rows ``begin .. end - 1`` of ``lists = ids, split, axis``: the pairs, how many, and the tests.
    Both lists are in the order of ``axis``.  A box is compared with those of the other list that begin within
    it; of two boxes that begin at one coordinate, the one in the first list is compared with the other.
    """
    ids, split, axis = lists
    found = tests = checked = np.int64(0)
    alone = split == ids.shape[0]
    for row in range(begin, end):
        i = ids[row]
        place, stop = (split, ids.shape[0]) if row < split else (np.int64(0), split)
        if alone:
            place, stop = np.int64(row + 1), split
        elif axis >= 0:
            place = _first_behind(boxes, ids, axis, place, stop, boxes[i, axis], row >= split)
        elif row >= split:
            place = stop  # it was compared as the other one
        while place < stop and found <= limit:
            if store and found + TOGETHER > out.shape[0]:
                out = larger(out, found)
            for _ in range(min(stop - place, TOGETHER)):
                j = ids[place]
                if axis >= 0 and _begins_beyond(boxes, i, j, axis, touching):
                    stop = place
                    break
                tests += 1
                if overlap(boxes, i, boxes, j, touching) and may_pair(filter, i, j):
                    if store:
                        put(out, found, i, j)
                    found += 1
                place += 1
        if found > limit:
            break
        work = tests + _WORK_OF_A_SEARCH * (row - begin)
        if work > checked + _COMPARED_OFTEN:
            checked = work
            if not goes_on():
                break
    return out, found, tests


@inline
def _first_behind(boxes, ids, axis, begin, end, value, beyond):
    """First place in ``begin .. end`` of a box that begins at ``value`` or, if ``beyond``, after it."""
    while begin < end:
        middle = (begin + end) // 2
        low = boxes[ids[middle], axis]
        if low < value or (beyond and low == value):
            begin = middle + 1
        else:
            end = middle
    return begin
