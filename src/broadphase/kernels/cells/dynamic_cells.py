"""Grid and hash kept between frames: which boxes are in which cell, and their pairs.

The levels of a dynamic index: the cells that a box covers, on levels that are kept between frames.

The idea is that of `kernels.cells.one_shot`: the same function from coordinate to cell, the same hash and the
same limit of copies.  Here one array holds all properties of the levels, one row for each level, because an
index passes it to a kernel thousands of times a frame.

Every ``lattice`` below is that table, ``(levels, WIDTH)`` float64; ``table`` is the number of slots of a hash
table, or 0 for a grid, where each cell has a place of its own.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.results import put
from broadphase.kernels.arrays.sorting import merge_neighbours
from broadphase.kernels.boxes.overlap import may_pair, overlap
from broadphase.kernels.cells.one_shot import (
    TOGETHER,
    WORK_OF_A_COPY,
    WORK_OF_A_HIT,
    Span,
    cell_number,
    clamped_cell,
    compare_some,
    is_few,
    slot,
)
from broadphase.kernels.machine.jit import inline, jit

# The columns of a lattice; all but the first two are whole numbers.
ORIGIN = 0  # three: the corner of cell 0
PER_UNIT = 3  # cells per unit of length
FIRST = 4  # three: the lowest cell; coordinates below are clamped to it
LAST = 7  # three: the highest cell
OFFSET = 10  # of a grid's first place; in a hash table, a number that makes the cells of each level differ
BOXES = 11  # how many boxes the level holds
LOWEST = 12  # three: no box of the level reaches below this cell
HIGHEST = 15  # three: no box of the level reaches above this cell
WIDTH = 18

# The most levels of a lattice: one for each size, and one for everything larger.
MOST_LEVELS = 17
# The level of an id that is not in these cells.
ABSENT = 255


@inline
def cell_of(value, lattice, level, axis):
    """Cell of a coordinate on a level; rounding never makes it decrease."""
    return clamped_cell(
        value,
        lattice[level, axis],
        lattice[level, PER_UNIT],
        lattice[level, FIRST + axis],
        lattice[level, LAST + axis],
    )


@inline
def span_of(boxes, i, lattice, level):
    """The cells of row ``i`` on a level."""
    dim = boxes.shape[1] // 2
    x0 = cell_of(boxes[i, 0], lattice, level, 0)
    x1 = cell_of(boxes[i, dim], lattice, level, 0)
    y0 = cell_of(boxes[i, 1], lattice, level, 1)
    y1 = cell_of(boxes[i, dim + 1], lattice, level, 1)
    if dim == 2:
        return Span(x0, x1, y0, y1, np.int64(0), np.int64(0))
    z0, z1 = cell_of(boxes[i, 2], lattice, level, 2), cell_of(boxes[i, 5], lattice, level, 2)
    return Span(x0, x1, y0, y1, z0, z1)


@inline
def place_of(x, y, z, lattice, level, table):
    """Place of a cell: its slot in the hash table, or its number in the grid."""
    offset = int(lattice[level, OFFSET])
    if table > 0:
        return slot(x + offset, y, z, table)
    return offset + cell_number(x, y, z, int(lattice[level, LAST]) + 1, int(lattice[level, LAST + 1]) + 1)


@inline
def choose_level(boxes, i, lattice, table):
    """The finest level on which row ``i`` covers few cells, and these cells; the coarsest accepts any box."""
    level = 0
    span = span_of(boxes, i, lattice, level)
    while level < lattice.shape[0] - 1 and not is_few(span, table > 0):
        level += 1
        span = span_of(boxes, i, lattice, level)
    return level, span


@inline
def places_between(span, lattice, level, table, places):
    """Write the places of a range of cells, each once even if cells share a slot; returns how many."""
    count = 0
    for z in range(span.z0, span.z1 + 1):
        for y in range(span.y0, span.y1 + 1):
            for x in range(span.x0, span.x1 + 1):
                place = place_of(x, y, z, lattice, level, table)
                fresh = True
                if table > 0:
                    for k in range(count):
                        fresh &= places[k] != place
                places[count] = place
                count += fresh
    return count


@inline
def places_of(boxes, i, lattice, level, table, places):
    """Write the places of row ``i`` on its level; returns how many."""
    return places_between(span_of(boxes, i, lattice, level), lattice, level, table, places)


@inline
def widen_reach(span, lattice, level):
    """Extend the level's lowest and highest cell by those of a box."""
    lattice[level, LOWEST] = min(lattice[level, LOWEST], span.x0)
    lattice[level, LOWEST + 1] = min(lattice[level, LOWEST + 1], span.y0)
    lattice[level, LOWEST + 2] = min(lattice[level, LOWEST + 2], span.z0)
    lattice[level, HIGHEST] = max(lattice[level, HIGHEST], span.x1)
    lattice[level, HIGHEST + 1] = max(lattice[level, HIGHEST + 1], span.y1)
    lattice[level, HIGHEST + 2] = max(lattice[level, HIGHEST + 2], span.z1)


# -----------------------------------------------------------------------------------------------------------
# The lists of a dynamic index: which boxes are in which cell, kept up to date between frames.
#
# ``heads[place]`` is 0 for an empty place, else the number of a *block* in ``pool``: an array of ids that
# grows by doubling.  A block of class ``c`` has ``UNIT << c`` numbers: how many ids it holds, its class, the
# ids.  So the ids of a place are contiguous, an empty place costs four bytes, and freed blocks are kept in a
# free list of their class.  ``tally`` holds the counters below.


UNIT = 4  # the smallest block; blocks are numbered in these
HEADER = 2  # numbers before the ids

# The entries of a tally.
TOP = 0  # units of the pool that were ever given out; unit 0 is none
PLACES = 1  # places in use
ENTRIES = 2  # ids in all places
BINNED = 3  # how often a box was entered into its cells
FREE = 4  # from here on, per class, the first free block or 0
TALLY = FREE + 32


@jit
def count_boxes(boxes, ids, heads, tally, lattice, levels, table, places, begin, end):
    """First step of filling empty cells: choose levels and count each place's boxes in ``heads``.

    For ``ids[begin:end]``.  ``places`` is scratch for `MOST_PLACES`, here and below.
    """
    for k in range(begin, end):
        i = ids[k]
        level, span = choose_level(boxes, i, lattice, table)
        levels[i] = level
        lattice[level, BOXES] += 1
        widen_reach(span, lattice, level)
        count = places_between(span, lattice, level, table, places)
        for p in range(count):
            heads[places[p]] += 1
        tally[ENTRIES] += count
    tally[BINNED] += end - begin


@jit
def units_of_all(heads):
    """The units that blocks for the counted boxes will need."""
    units = 1
    for place in range(heads.shape[0]):
        if heads[place] > 0:
            units += 1 << class_for(heads[place])
    return units


@jit
def lay_out_blocks(heads, pool, tally):
    """Second step: lay empty blocks out in the order of their places."""
    top = 1
    for place in range(heads.shape[0]):
        if heads[place] > 0:
            size_class = class_for(heads[place])
            heads[place] = top
            pool[top * UNIT] = 0
            pool[top * UNIT + 1] = size_class
            top += 1 << size_class
            tally[PLACES] += 1
    tally[TOP] = top


@jit
def fill_blocks(boxes, ids, heads, pool, lattice, levels, table, places, begin, end):
    """Third step: enter the boxes ``ids[begin:end]``."""
    for k in range(begin, end):
        i = ids[k]
        for p in range(places_of(boxes, i, lattice, levels[i], table, places)):
            at = np.int64(heads[places[p]]) * UNIT
            pool[at + HEADER + pool[at]] = i
            pool[at] += 1


@jit
def enter_boxes(boxes, ids, begin, end, heads, pool, tally, lattice, levels, table, places):
    """Enter the boxes ``ids[begin:end]``; returns how far it came before the pool was full."""
    capacity = pool.shape[0] // UNIT
    for k in range(begin, end):
        i = ids[k]
        level, span = choose_level(boxes, i, lattice, table)
        count = places_between(span, lattice, level, table, places)
        if tally[TOP] + units_needed(places, count, heads, pool) > capacity:
            return k
        for p in range(count):
            _append(heads, pool, tally, places[p], i)
        levels[i] = level
        lattice[level, BOXES] += 1
        widen_reach(span, lattice, level)
        tally[ENTRIES] += count
        tally[BINNED] += 1
    return end


@jit
def leave_cells(boxes, ids, heads, pool, tally, lattice, levels, table, places):
    """Take boxes out of their cells; their rows still hold what they were entered with."""
    for k in range(ids.shape[0]):
        i = ids[k]
        level = levels[i]
        count = places_of(boxes, i, lattice, level, table, places)
        for p in range(count):
            _take_out(heads, pool, tally, places[p], i)
        tally[ENTRIES] -= count
        lattice[level, BOXES] -= 1
        levels[i] = ABSENT


@jit
def find_rebinned(boxes, ids, rows, lattice, levels, table, rebinned):
    """Write into ``rebinned`` which of the new ``rows`` lie in other cells than their boxes; how many."""
    count = 0
    for k in range(ids.shape[0]):
        level = levels[ids[k]]
        changes = span_of(boxes, ids[k], lattice, level) != span_of(rows, k, lattice, level)
        # A box that has become smaller must not stay among the giants.
        if not changes and level > 0:
            changes = is_few(span_of(rows, k, lattice, level - 1), table > 0)
        rebinned[count] = k
        count += changes
    return count


@jit
def places_led_by(boxes, ids, heads, pool, lattice, levels, table, own, begin, end, places, found):
    """Add the places whose first box is one of ``ids[begin:end]`` to the ``found`` ones; how many then.

    Each place of theirs once.  ``own`` is scratch for `MOST_PLACES`.
    """
    for k in range(begin, end):
        i = ids[k]
        for p in range(places_of(boxes, i, lattice, levels[i], table, own)):
            at = np.int64(heads[own[p]]) * UNIT
            if pool[at + HEADER] == i and pool[at] > 1:
                places[found] = own[p]
                found += 1
    return found


@inline
def class_for(count):
    """The smallest class whose blocks hold ``count`` ids."""
    size_class = 0
    while (UNIT << size_class) < count + HEADER:
        size_class += 1
    return size_class


@inline
def units_needed(places, count, heads, pool):
    """Units that one more id in each of the places may cost."""
    units = 0
    for p in range(count):
        at = np.int64(heads[places[p]]) * UNIT
        if at == 0:
            units += 1
        elif pool[at] + HEADER == UNIT << pool[at + 1]:
            units += 2 << pool[at + 1]
    return units


@inline
def _new_block(pool, tally, size_class):
    block = tally[FREE + size_class]
    if block == 0:
        block = tally[TOP]
        tally[TOP] += 1 << size_class
    else:
        tally[FREE + size_class] = pool[block * UNIT]
    pool[block * UNIT] = 0
    pool[block * UNIT + 1] = size_class
    return block


@inline
def _give_back(pool, tally, block):
    size_class = pool[block * UNIT + 1]
    pool[block * UNIT] = tally[FREE + size_class]
    tally[FREE + size_class] = block


@inline
def _append(heads, pool, tally, place, i):
    block = np.int64(heads[place])
    if block == 0:
        block = _new_block(pool, tally, np.int64(0))
        heads[place] = block
        tally[PLACES] += 1
    at = block * UNIT
    count = np.int64(pool[at])
    if count + HEADER == UNIT << pool[at + 1]:
        larger = _new_block(pool, tally, np.int64(pool[at + 1]) + 1)
        for k in range(count):
            pool[larger * UNIT + HEADER + k] = pool[at + HEADER + k]
        _give_back(pool, tally, block)
        heads[place] = larger
        at = larger * UNIT
    pool[at + HEADER + count] = i
    pool[at] = count + 1


@inline
def _take_out(heads, pool, tally, place, i):
    block = np.int64(heads[place])
    at = block * UNIT
    last = at + HEADER + pool[at] - 1
    k = at + HEADER
    while pool[k] != i and k < last:
        k += 1
    pool[k] = pool[last]
    pool[at] -= 1
    if pool[at] == 0:
        _give_back(pool, tally, block)
        heads[place] = 0
        tally[PLACES] -= 1


# -----------------------------------------------------------------------------------------------------------
# Checks the invariants of the cells of a dynamic index, for tests.


@jit
def check_lists(boxes, ids, heads, pool, tally, lattice, levels, table, places):
    """0, or the number of the rule that is broken; ``places`` is scratch for `MOST_PLACES`."""
    entries = 0
    for i in ids:
        level = levels[i]
        x0, x1, y0, y1, z0, z1 = span_of(boxes, i, lattice, level)
        if min(x0 - lattice[level, LOWEST], y0 - lattice[level, LOWEST + 1]) < 0.0:
            return 1
        if max(x1 - lattice[level, HIGHEST], y1 - lattice[level, HIGHEST + 1]) > 0.0:
            return 2
        if z0 < lattice[level, LOWEST + 2] or z1 > lattice[level, HIGHEST + 2]:
            return 3
        for p in range(places_of(boxes, i, lattice, level, table, places)):
            at = np.int64(heads[places[p]]) * UNIT
            if at == 0:
                return 4
            times = 0
            for k in range(at + HEADER, at + HEADER + pool[at]):
                times += pool[k] == i
            if times != 1:
                return 5
            entries += 1
    if entries != tally[ENTRIES]:
        return 6
    used = 0
    units = 1 if tally[TOP] > 0 else 0
    for place in range(heads.shape[0]):
        at = np.int64(heads[place]) * UNIT
        if at > 0:
            used += 1
            entries -= pool[at]
            units += 1 << pool[at + 1]
            if pool[at] < 1 or pool[at] + HEADER > UNIT << pool[at + 1]:
                return 7
    if used != tally[PLACES] or entries != 0:
        return 8
    for size_class in range(TALLY - FREE):
        block = tally[FREE + size_class]
        while block != 0:
            units += 1 << size_class
            block = np.int64(pool[block * UNIT])
    return 0 if units == tally[TOP] else 9


# -----------------------------------------------------------------------------------------------------------
# Pairs in a dynamic index: within each cell, and of each box with larger boxes on coarser levels.


# In a place with more boxes than this a sweep along an axis costs less than comparing all.
OVERFULL = 64
# What is to be done next in a place: look at it, sort its boxes, copy them side by side, compare them.
LOOK, SORT, COPY, COMPARE = range(4)
# Instead: its boxes need a larger block.
CRAMPED = -1


class Block(NamedTuple):
    """Memory for the place that a search is at: its boxes, side by side."""

    sides: npt.NDArray[np.floating[Any]]
    """``(2 * dim, fullest)``: one row for each edge."""
    ids: npt.NDArray[np.int32]
    order: npt.NDArray[np.int32]
    spare: npt.NDArray[np.int32]
    near: npt.NDArray[np.bool_]
    hits: npt.NDArray[np.int32]


def make_block(columns: int, fullest: int, dtype: "np.dtype[Any]") -> Block:
    """Memory for places of up to ``fullest`` boxes with ``columns`` edges."""
    ids, order, spare = np.empty((3, fullest), np.int32)
    near, hits = np.empty(TOGETHER, np.bool_), np.empty(TOGETHER, np.int32)
    return Block(np.empty((columns, fullest), dtype), ids, order, spare, near, hits)


@jit
def pair_places(
    boxes, touching, filter, heads, pool, lattice, levels, table, visited, block, at, end, out, most, store,  # noqa: A002
):  # fmt: skip
    """Pairs of boxes of one level that share a place, from ``at = turn, to do, axis, p, q`` on.

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.results`).  ``visited`` are the places to search;
    if that is empty, all of them.  Two boxes may share several places: their pair is reported in that of
    the lower corner of their intersection.  Each place is copied into the ``block`` first; if that
    is too small for all of its boxes, the search stops and is `CRAMPED`.
    """
    sides, ids, order, spare, near, hits = block
    columns = boxes.shape[1]
    dim = columns // 2
    listed = visited.shape[0] > 0
    turn, to_do, axis, p, q = at
    found = tests = spent = np.int64(0)
    while turn < end and spent <= most:
        here = visited[turn] if listed else turn
        head = np.int64(heads[here]) * UNIT
        count = np.int64(pool[head]) if head > 0 else np.int64(0)
        head += HEADER
        if count > 1:
            if to_do == LOOK:
                if count > ids.shape[0]:
                    return (turn, np.int64(CRAMPED), axis, p, q), found, tests
                axis = np.int64(-1)
                to_do = np.int64(COPY)
                if count > OVERFULL:
                    axis = np.int64(_widest_axis(boxes, pool, head, count))
                    for k in range(count):
                        sides[0, k] = boxes[pool[head + k], axis]
                        order[k] = k
                    to_do, p = np.int64(SORT), np.int64(1)
                    spent += 2 * count
                else:
                    for k in range(count):
                        ids[k] = pool[head + k]
            while to_do == SORT and spent <= most:
                merge_neighbours(sides[0], np.int64(0), count, p, order, spare)
                spent += WORK_OF_A_COPY * count
                p *= 2
                if p >= count:
                    for k in range(count):
                        ids[k] = pool[head + order[k]]
                    to_do, p = np.int64(COPY), np.int64(0)
            if to_do == COPY and spent <= most:
                upto = min(count, p + 1 + (most - spent) // WORK_OF_A_COPY)
                for k in range(p, upto):
                    for column in range(columns):
                        sides[column, k] = boxes[ids[k], column]
                spent += WORK_OF_A_COPY * (upto - p)
                p = upto
                if p == count:
                    to_do, p = np.int64(COMPARE), np.int64(0)
            while to_do == COMPARE and p < count - 1 and spent <= most:
                q = max(q, p + 1)
                stop = min(q + TOGETHER, count)
                if store and found + stop - q > out.shape[0]:
                    return (turn, to_do, axis, p, q), found, tests
                hit, reached = compare_some(sides, p, q, stop, axis, touching, near, hits)
                tests += reached - q
                spent += reached - q + WORK_OF_A_HIT * hit + 4
                i = ids[p]
                level = levels[i]
                for h in range(hit):
                    other = hits[h]
                    j = ids[other]
                    # The slot of a hash table may hold boxes of several levels.
                    if levels[j] != level:
                        continue
                    x = cell_of(max(sides[0, p], sides[0, other]), lattice, level, 0)
                    y = cell_of(max(sides[1, p], sides[1, other]), lattice, level, 1)
                    z = 0
                    if dim == 3:
                        z = cell_of(max(sides[2, p], sides[2, other]), lattice, level, 2)
                    if place_of(x, y, z, lattice, level, table) == here and may_pair(filter, i, j):
                        if store:
                            put(out, found, i, j)
                        found += 1
                q = reached
                if reached < stop or stop == count:
                    p += 1
                    q = np.int64(0)
            if to_do != COMPARE or p < count - 1:
                break
        spent += 1
        turn += 1
        to_do, p, q = np.int64(LOOK), np.int64(0), np.int64(0)
    return (turn, to_do, axis, p, q), found, tests


@jit
def pair_with_larger(
    boxes, touching, filter, heads, pool, lattice, levels, table, at, end, out, most, store  # noqa: A002
):  # fmt: skip
    """Pairs of the boxes before ``end`` with those of coarser levels, from ``at = i, level, step, k`` on.

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.results`).
    """
    dim = boxes.shape[1] // 2
    i, level, step, done = at
    found = tests = spent = np.int64(0)
    coarsest = lattice.shape[0] - 1
    while coarsest > 0 and lattice[coarsest, BOXES] == 0:
        coarsest -= 1
    while i < end and spent <= most:
        level = max(
            level, np.int64(levels[i]) + 1
        )  # beyond the coarsest for an id that is not in these cells
        spent += 1
        while level <= coarsest:
            if lattice[level, BOXES] == 0:
                level += 1
                continue
            x0, x1, y0, y1, z0, z1 = span_of(boxes, i, lattice, level)
            columns, rows = x1 - x0 + 1, y1 - y0 + 1
            steps = columns * rows * (z1 - z0 + 1)
            while step < steps:
                x = x0 + step % columns
                y = y0 + step // columns % rows
                z = z0 + step // (columns * rows)
                head = np.int64(heads[place_of(x, y, z, lattice, level, table)]) * UNIT
                count = np.int64(pool[head]) if head > 0 else np.int64(0)
                while done < count:
                    stop = min(count, done + TOGETHER)
                    if store and found + stop - done > out.shape[0]:
                        return (i, level, step, done), found, tests
                    for k in range(head + HEADER + done, head + HEADER + stop):
                        j = pool[k]
                        if (
                            overlap(boxes, i, j, touching)
                            and levels[j] == level
                            and cell_of(max(boxes[i, 0], boxes[j, 0]), lattice, level, 0) == x
                            and cell_of(max(boxes[i, 1], boxes[j, 1]), lattice, level, 1) == y
                            and (dim == 2 or cell_of(max(boxes[i, 2], boxes[j, 2]), lattice, level, 2) == z)
                            and may_pair(filter, i, j)
                        ):
                            if store:
                                put(out, found, i, j)
                            found += 1
                            spent += WORK_OF_A_HIT
                    tests += stop - done
                    spent += stop - done + 4
                    done = stop
                    if spent > most and done < count:
                        return (i, level, step, done), found, tests
                step += 1
                done = np.int64(0)
                if spent > most:
                    return (i, level, step, done), found, tests
            level += 1
            step = np.int64(0)
        i += 1
        level = np.int64(0)
    return (i, level, step, done), found, tests


@inline
def _widest_axis(boxes, pool, at, count):
    """The axis on which the lower edges of a place's boxes are spread the widest."""
    widest = 0
    width = -1.0
    for axis in range(boxes.shape[1] // 2):
        low = boxes[pool[at], axis]
        high = low
        for k in range(at + 1, at + count):
            low = min(low, boxes[pool[k], axis])
            high = max(high, boxes[pool[k], axis])
        if high - low > width:  # not where both are infinite
            width = high - low
            widest = axis
    return widest
