"""Checks the invariants of the cells of a dynamic index, for tests."""

import numpy as np

from broadphase.kernels.cells.lattice import HIGHEST, LOWEST, places_of, span_of
from broadphase.kernels.cells.lists import ENTRIES, FREE, HEADER, PLACES, TALLY, TOP, UNIT
from broadphase.kernels.machine.jit import jit


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
