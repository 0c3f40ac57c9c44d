"""The lists of a dynamic index: which boxes lie in which cell, kept up to date between frames.

``heads[place]`` is 0 for an empty place, else the number of a *block* in ``pool``: an array of ids that grows
by doubling.  A block of class ``c`` has ``UNIT << c`` numbers: how many ids it holds, its class, the ids.
So the boxes of a place lie side by side, an empty place costs four bytes, and blocks that are given back
wait in a list for their class.  ``tally`` holds the counters below.
"""

import numpy as np

from broadphase.kernels.cells.lattice import (
    ABSENT,
    BOXES,
    is_few,
    places_between,
    places_of,
    settle,
    span_of,
    widen_reach,
)
from broadphase.kernels.machine.jit import inline, jit

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
        level, x0, x1, y0, y1, z0, z1 = settle(boxes, i, lattice, table)
        levels[i] = level
        lattice[level, BOXES] += 1
        widen_reach(x0, x1, y0, y1, z0, z1, lattice, level)
        count = places_between(x0, x1, y0, y1, z0, z1, lattice, level, table, places)
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
    room = pool.shape[0] // UNIT
    for k in range(begin, end):
        i = ids[k]
        level, x0, x1, y0, y1, z0, z1 = settle(boxes, i, lattice, table)
        count = places_between(x0, x1, y0, y1, z0, z1, lattice, level, table, places)
        if tally[TOP] + units_needed(places, count, heads, pool) > room:
            return k
        for p in range(count):
            _append(heads, pool, tally, places[p], i)
        levels[i] = level
        lattice[level, BOXES] += 1
        widen_reach(x0, x1, y0, y1, z0, z1, lattice, level)
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
            x0, x1, y0, y1, z0, z1 = span_of(rows, k, lattice, level - 1)
            changes = is_few(x0, x1, y0, y1, z0, z1, table)
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
