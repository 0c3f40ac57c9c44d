"""Grid and hash for one call: boxes binned into cells, and the pairs inside the cells.

The binning that the uniform grid and the spatial hash share: boxes into cells.

Both divide space into square cells and keep, for every *place* (a cell of the grid, a slot of the hash
table), the boxes that touch it.  They differ in one function, `place`: a grid has a place for every cell, a
hash maps endless cells to a table.

Boxes of very different sizes do not fit one cell size, so there are levels, each with cells a few times
larger than the level before.  A box is entered on the finest level on which it covers at most
`MOST_PLACES` cells.  The coarsest level is a single cell: the list of oversize boxes.

The search is exact because of `cell`: one function, never decreasing, for every edge of every box.  Whatever
rounding does, two boxes that overlap share the cell that holds the lower corner of their intersection.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.results import put
from broadphase.kernels.boxes.overlap import may_pair, overlap
from broadphase.kernels.machine.jit import inline, jit

# -----------------------------------------------------------------------------------------------------------
# Which cell of a bounded grid: its number, row by row.


@inline
def cell_number(x, y, z, columns, rows):
    """Number of the cell in column ``x``, row ``y``, layer ``z``; every cell has its own."""
    return (z * rows + y) * columns + x


# -----------------------------------------------------------------------------------------------------------
# Which slot of a hash table: the cell's coordinates, each times a large prime, mixed by XOR.


PRIME_X = 1640531513
PRIME_Y = 2654435789
PRIME_Z = 3367900313

# The primes have 32 bits.  With 31 bits of each coordinate no product leaves a signed 64-bit integer;
# cells that differ only above bit 31 share a slot, as other distant cells do.
LOW_31_BITS = 0x7FFFFFFF


@inline
def slot(x, y, z, table_size):
    """Slot of the cell ``(x, y, z)``; cells far from each other may share it. In 2-D ``z`` is 0."""
    mixed = ((x & LOW_31_BITS) * PRIME_X) ^ ((y & LOW_31_BITS) * PRIME_Y) ^ ((z & LOW_31_BITS) * PRIME_Z)
    return mixed % table_size


# Copies of one box, at most.  Four cells are enough for a square of one cell's size, eight for a cube.
MOST_PLACES = 12

# The farthest cell of an endless level: beyond it float64 does not distinguish neighbouring cells.
FARTHEST = 2**53


class Layout(NamedTuple):
    """Where the cells of every level are and which places they have; level 0 is the finest."""

    origin: npt.NDArray[np.float64]
    """``(3,)``: the corner of cell 0, the same on every level."""
    per_unit: npt.NDArray[np.float64]
    """``(levels,)``: cells per unit of length."""
    first: npt.NDArray[np.float64]
    """``(levels, 3)``: the lowest cell on each axis; coordinates below are clamped to it."""
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


class Span(NamedTuple):
    """A block of cells: the first and the last on each axis; on the third axis 0 and 0 in 2-D."""

    x0: Any
    x1: Any
    y0: Any
    y1: Any
    z0: Any
    z1: Any


@inline
def span(boxes, i, layout, level):
    """The cells of box ``i`` on a level."""
    dim = boxes.shape[1] // 2
    x0 = cell(boxes[i, 0], layout, level, 0)
    x1 = cell(boxes[i, dim], layout, level, 0)
    y0 = cell(boxes[i, 1], layout, level, 1)
    y1 = cell(boxes[i, dim + 1], layout, level, 1)
    if dim == 2:
        return Span(x0, x1, y0, y1, np.int64(0), np.int64(0))
    z0, z1 = cell(boxes[i, 2], layout, level, 2), cell(boxes[i, 5], layout, level, 2)
    return Span(x0, x1, y0, y1, z0, z1)


@inline
def is_few(span, hashed):
    """Whether these are so few cells that a box is entered into each."""
    # Each factor is limited first: the product of three spans can exceed 64 bits.
    enough = MOST_PLACES + 1
    copies = min(span.x1 - span.x0 + 1, enough) * min(span.y1 - span.y0 + 1, enough)
    copies *= min(span.z1 - span.z0 + 1, enough)
    if hashed:
        # Coordinates that are clamped to the end of an endless level may be many cells of a coarser one.
        lowest, highest = min(span.x0, span.y0, span.z0), max(span.x1, span.y1, span.z1)
        return copies <= MOST_PLACES and -FARTHEST < lowest and highest < FARTHEST
    return copies <= MOST_PLACES


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
    cells = span(boxes, i, layout, level)
    count = 0
    for z in range(cells.z0, cells.z1 + 1):
        for y in range(cells.y0, cells.y1 + 1):
            for x in range(cells.x0, cells.x1 + 1):
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
    """Whether box ``i`` covers few enough cells of this level, and so of every coarser one."""
    return is_few(span(boxes, i, layout, level), layout.hashed)


@jit
def assign_levels(boxes, layout, levels, population, begin, end):
    """Write the level of the boxes ``begin .. end - 1``; count those of each level in ``population``."""
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
    """Turn the counts ``begin .. end - 1``, from 2 on, into the starts of places.

    Returns how many of these places are in use, and how many boxes the fullest one holds.
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

    An empty order means that boxes are taken by id; ``places`` as in `count_copies`.
    """
    for k in range(begin, end):
        i = order[k] if order.shape[0] > 0 else k
        for q in range(distinct_places(boxes, i, layout, levels[i], places)):
            entries[starts[places[q] + 1]] = i
            starts[places[q] + 1] += 1


# -----------------------------------------------------------------------------------------------------------
# The pairs inside cells: boxes of one level with each other, and with the larger boxes of coarser levels.
#
# If some cells are overfull, the boxes were entered in the order of their lower edge on one axis
# (``axis >= 0``), and the search in a cell is a sweep that stops early.  ``axis = -1``: no order.


# How many boxes are compared between two checks of the output's capacity; less than `LEAST_CAPACITY`.
TOGETHER = 256
# The cost of copying a box, and of checking where an overlap is reported, in comparisons.
WORK_OF_A_COPY = 8
WORK_OF_A_HIT = 16


class Block(NamedTuple):
    """Scratch memory for the search of one level: the boxes of the current place, contiguous."""

    sides: npt.NDArray[np.floating[Any]]
    """``(2 * dim, fullest)``: one row for each edge."""
    corners: npt.NDArray[np.int64]
    """``(fullest, 3)``: the low cell of each."""
    near: npt.NDArray[np.bool_]
    hits: npt.NDArray[np.int32]


def make_block(columns: int, fullest: int, dtype: "np.dtype[Any]") -> Block:
    """Memory for places of up to ``fullest`` boxes with ``columns`` edges."""
    return Block(
        np.empty((columns, fullest), dtype),
        np.zeros((fullest, 3), np.int64),
        np.empty(TOGETHER, np.bool_),
        np.empty(TOGETHER, np.int32),
    )


@inline
def first_at_least(values, key, begin, end):
    """First index in ``begin .. end`` of the rising ``values`` whose value is at least ``key``."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < key:
            begin = middle + 1
        else:
            end = middle
    return begin


@inline
def meet(low, high, other_low, other_high, touching):
    """Whether two intervals overlap."""
    if touching:
        return (low <= other_high) & (other_low <= high)
    return (low < other_high) & (other_low < high)


@inline
def begins_beyond(low, high, touching):
    """Whether a box that begins at ``low`` or later in the order cannot overlap one that ends at ``high``."""
    if touching:
        return low > high
    return low >= high


@inline
def mark(sides, p, begin, end, touching, near):
    """Set ``near[q - begin]`` for the boxes ``begin .. end`` that overlap box ``p``, without branches."""
    dim = sides.shape[0] // 2
    for k in range(end - begin):
        near[k] = True
    for axis in range(dim):
        low, high = sides[axis, p], sides[dim + axis, p]
        for k in range(end - begin):
            near[k] &= meet(low, high, sides[axis, begin + k], sides[dim + axis, begin + k], touching)


@inline
def compare_some(sides, p, begin, end, axis, touching, near, hits):
    """Compare box ``p`` of a place with ``begin .. end``; a sweep stops at the first that begins beyond it.

    Writes those that overlap to ``hits``; returns how many, and where it stopped.  Comparing is separate from
    reporting: about one comparison in four finds an overlap, which no branch predictor can guess.
    """
    if axis >= 0:
        high = sides[sides.shape[0] // 2 + axis, p]
        stop = begin
        while stop < end and not begins_beyond(sides[axis, stop], high, touching):
            stop += 1
        end = stop
    mark(sides, p, begin, end, touching, near)
    hit = 0
    for k in range(end - begin):
        hits[hit] = begin + k
        hit += near[k]
    return hit, end


@inline
def gather(boxes, entries, section, begin, end, layout, level, sides, corners):
    """Copy boxes of a place into contiguous memory: a row of ``sides`` for every edge, and each low cell."""
    dim = boxes.shape[1] // 2
    for k in range(begin, end):
        i = entries[section + k]
        sides[0, k], sides[dim, k] = boxes[i, 0], boxes[i, dim]
        sides[1, k], sides[dim + 1, k] = boxes[i, 1], boxes[i, dim + 1]
        corners[k, 0] = cell(boxes[i, 0], layout, level, 0)
        corners[k, 1] = cell(boxes[i, 1], layout, level, 1)
        if dim == 3:
            sides[2, k], sides[5, k] = boxes[i, 2], boxes[i, 5]
            corners[k, 2] = cell(boxes[i, 2], layout, level, 2)


@jit
def pairs_of_one_level(boxes, touching, filter, cells, block, at, end, out, most, store):  # noqa: A002
    """Pairs of boxes on the same level, in the places before ``end``, from ``at = place, copied, p, q`` on.

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.results`).  Two boxes may share several places;
    only the home cell of their intersection reports the pair.  Each place is copied into a small `Block`
    first.
    """
    layout, starts, entries, axis = cells.layout, cells.starts, cells.entries, cells.axis
    sides, corners, near, hits = block.sides, block.corners, block.near, block.hits
    here, copied, p, q = at
    found = tests = spent = np.int64(0)
    while here < end and spent <= most:
        section = starts[here]
        count = np.int64(starts[here + 1] - section)
        if count > 1:
            level = cells.levels[entries[section]]
            if copied < count:
                upto = min(count, copied + 1 + (most - spent) // WORK_OF_A_COPY)
                gather(boxes, entries, section, copied, upto, layout, level, sides, corners)
                spent += WORK_OF_A_COPY * (upto - copied)
                copied = upto
            while copied == count and p < count - 1 and spent <= most:
                q = max(q, p + 1)
                stop = min(q + TOGETHER, count)
                if store and found + stop - q > out.shape[0]:
                    return (here, copied, p, q), found, tests
                hit, reached = compare_some(sides, p, q, stop, axis, touching, near, hits)
                tests += reached - q
                spent += reached - q + WORK_OF_A_HIT * hit + 4
                i = entries[section + p]
                for h in range(hit):
                    other = hits[h]
                    j = entries[section + other]
                    # The cell of a maximum is the maximum of the cells: the home of the intersection.
                    x = max(corners[p, 0], corners[other, 0])
                    y = max(corners[p, 1], corners[other, 1])
                    z = max(corners[p, 2], corners[other, 2])
                    if place(x, y, z, layout, level) == here and may_pair(filter, i, j):
                        if store:
                            put(out, found, i, j)
                        found += 1
                q = reached
                if reached < stop or stop == count:
                    p += 1
                    q = np.int64(0)
            if copied < count or p < count - 1:
                break
        spent += 1
        here += 1
        copied = p = q = np.int64(0)
    return (here, copied, p, q), found, tests


@jit
def running_reach(boxes, cells, reach, begin, end):
    """For each entry, the highest upper edge on the sweep's axis among it and those before it in its place.

    For the entries ``begin .. end``; those before them must be done.
    """
    starts, entries = cells.starts, cells.entries
    upper = boxes.shape[1] // 2 + cells.axis
    here = first_at_least(starts, begin + 1, 0, starts.shape[0] - 1) - 1
    for p in range(begin, end):
        while starts[here + 1] <= p:
            here += 1
        reach[p] = boxes[entries[p], upper]
        if p > starts[here]:
            reach[p] = max(reach[p], reach[p - 1])


@jit
def pairs_with_larger(boxes, touching, filter, cells, reach, hits, at, end, out, most, store):  # noqa: A002
    """Pairs of the boxes before ``end`` with those of coarser levels, from ``at = i, level, visit, p`` on.

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.results`).  A box visits each of its cells on a
    coarser level once, even if two of them share a slot; the pair is reported in the visited cell that is the
    home of the intersection.  ``hits`` is that of a `Block`.
    """
    dim = boxes.shape[1] // 2
    layout, starts, entries, axis = cells.layout, cells.starts, cells.entries, cells.axis
    i, level, visit, p = at
    found = tests = spent = np.int64(0)
    while i < end and spent <= most:
        level = max(level, np.int64(cells.levels[i]) + 1)
        spent += 1
        while level < cells.population.shape[0]:
            if cells.population[level] == 0:
                level += 1
                continue
            x0, x1, y0, y1, z0, z1 = span(boxes, i, layout, level)
            columns, rows = x1 - x0 + 1, y1 - y0 + 1
            visits = columns * rows * (z1 - z0 + 1)
            while visit < visits:
                x = x0 + visit % columns
                y = y0 + visit // columns % rows
                z = z0 + visit // (columns * rows)
                here = place(x, y, z, layout, level)
                section, section_end = np.int64(starts[here]), np.int64(starts[here + 1])
                if axis >= 0:  # skip boxes that end before this box begins
                    section = first_at_least(reach, boxes[i, axis], section, section_end)
                p = max(p, section)
                spent += 4
                while p < section_end:
                    stop = min(section_end, p + TOGETHER)
                    if store and found + stop - p > out.shape[0]:
                        return (i, level, visit, p), found, tests
                    spent += stop - p
                    hit = 0
                    while p < stop:
                        j = entries[p]
                        if axis >= 0 and begins_beyond(boxes[j, axis], boxes[i, dim + axis], touching):
                            section_end = p
                            break
                        tests += 1
                        hits[hit] = j
                        hit += overlap(boxes, i, j, touching)
                        p += 1
                    spent += WORK_OF_A_HIT * hit
                    for h in range(hit):
                        j = hits[h]
                        # A box in a single cell shares at most that one with any other box.
                        at_home = visits == 1 or home_cell(boxes, i, j, layout, level) == (x, y, z)
                        if at_home and may_pair(filter, i, j):
                            if store:
                                put(out, found, i, j)
                            found += 1
                    if spent > most and p < section_end:
                        return (i, level, visit, p), found, tests
                visit += 1
                p = np.int64(0)
                if spent > most:
                    return (i, level, visit, p), found, tests
            level += 1
            visit = np.int64(0)
        i += 1
        level = np.int64(0)
    return (i, level, visit, p), found, tests
