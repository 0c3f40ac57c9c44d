"""Pairs among the boxes of living cells: in each place, and of each box with larger ones above it."""

import numpy as np

from broadphase.kernels.arrays.emit import grow, put
from broadphase.kernels.arrays.merge_sort import argsort
from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.boxes.overlap import overlap
from broadphase.kernels.cells.lattice import BOXES, cell_of, place_of, span_of
from broadphase.kernels.cells.lists import HEADER, UNIT
from broadphase.kernels.cells.search import begins_beyond, mark
from broadphase.kernels.machine.jit import inline, jit

# In a place with more boxes than this a sweep along an axis costs less than comparing all.
OVERFULL = 64


@jit
def pair_places(
    boxes, touching, filter, heads, pool, lattice, levels, table, visited, begin, end, out, limit  # noqa: A002
):  # fmt: skip
    """Pairs of boxes of one level that share a place; returns ``out, found, tests``.

    ``visited[begin:end]`` are the places to look at; if that is empty, all of ``begin .. end``.  Two boxes
    may share several places: their pair is reported where the lower corner of their intersection lies.

    Each place is copied into a small block first, and comparing is kept apart from reporting: about one
    comparison in four finds something, which no processor can predict.
    """
    columns = boxes.shape[1]
    dim = columns // 2
    room = OVERFULL
    sides = np.empty((columns, room), boxes.dtype)
    ids = np.empty(room, np.int32)
    near = np.empty(room, np.bool_)
    hits = np.empty(room, np.int32)
    order = np.empty(room, np.int32)
    spare = np.empty(room, np.int32)
    listed = visited.shape[0] > 0
    found = 0
    tests = 0
    for turn in range(begin, end):
        here = visited[turn] if listed else turn
        at = np.int64(heads[here]) * UNIT
        if at == 0 or pool[at] < 2:
            continue
        count = np.int64(pool[at])
        at += HEADER
        if count > room:
            room = 2 * count
            sides = np.empty((columns, room), boxes.dtype)
            ids = np.empty(room, np.int32)
            near = np.empty(room, np.bool_)
            hits = np.empty(room, np.int32)
            order = np.empty(room, np.int32)
            spare = np.empty(room, np.int32)
        axis = -1
        if count > OVERFULL:
            axis = _widest_axis(boxes, pool, at, count)
            for k in range(count):
                sides[0, k] = boxes[pool[at + k], axis]
            argsort(sides[0], 0, count, order, spare)
            for k in range(count):
                ids[k] = pool[at + order[k]]
        else:
            for k in range(count):
                ids[k] = pool[at + k]
        for k in range(count):
            for column in range(columns):
                sides[column, k] = boxes[ids[k], column]
        for p in range(count - 1):
            stop = count
            if axis >= 0:
                stop = p + 1
                high = sides[dim + axis, p]
                while stop < count and not begins_beyond(sides[axis, stop], high, touching):
                    stop += 1
            mark(sides, p, stop, touching, near)
            tests += stop - p - 1
            hit = 0
            for q in range(p + 1, stop):
                hits[hit] = q
                hit += near[q]
            i = ids[p]
            level = levels[i]
            for h in range(hit):
                q = hits[h]
                j = ids[q]
                # The slot of a hash table may hold boxes of several levels.
                if levels[j] != level:
                    continue
                x = cell_of(max(sides[0, p], sides[0, q]), lattice, level, 0)
                y = cell_of(max(sides[1, p], sides[1, q]), lattice, level, 1)
                z = 0
                if dim == 3:
                    z = cell_of(max(sides[2, p], sides[2, q]), lattice, level, 2)
                if place_of(x, y, z, lattice, level, table) == here and may_pair(filter, i, j):
                    if found == out.shape[0]:
                        if found > limit:
                            return out, found, tests
                        out = grow(out, limit)
                    put(out, found, i, j)
                    found += 1
    return out, found, tests


@jit
def pair_with_larger(
    boxes, touching, filter, heads, pool, lattice, levels, table, begin, end, out, limit  # noqa: A002
):  # fmt: skip
    """Pairs of the boxes ``begin .. end`` with those of coarser levels; returns ``out, found, tests``."""
    dim = boxes.shape[1] // 2
    found = 0
    tests = 0
    coarsest = lattice.shape[0] - 1
    while coarsest > 0 and lattice[coarsest, BOXES] == 0:
        coarsest -= 1
    for i in range(begin, end):
        for level in range(
            np.int64(levels[i]) + 1, coarsest + 1
        ):  # none for an id that is not in these cells
            if lattice[level, BOXES] == 0:
                continue
            x0, x1, y0, y1, z0, z1 = span_of(boxes, i, lattice, level)
            columns, rows = x1 - x0 + 1, y1 - y0 + 1
            for step in range(columns * rows * (z1 - z0 + 1)):
                x = x0 + step % columns
                y = y0 + step // columns % rows
                z = z0 + step // (columns * rows)
                at = np.int64(heads[place_of(x, y, z, lattice, level, table)]) * UNIT
                if at == 0:
                    continue
                tests += pool[at]
                for k in range(at + HEADER, at + HEADER + pool[at]):
                    j = pool[k]
                    if (
                        overlap(boxes, i, j, touching)
                        and levels[j] == level
                        and cell_of(max(boxes[i, 0], boxes[j, 0]), lattice, level, 0) == x
                        and cell_of(max(boxes[i, 1], boxes[j, 1]), lattice, level, 1) == y
                        and (dim == 2 or cell_of(max(boxes[i, 2], boxes[j, 2]), lattice, level, 2) == z)
                        and may_pair(filter, i, j)
                    ):
                        if found == out.shape[0]:
                            if found > limit:
                                return out, found, tests
                            out = grow(out, limit)
                        put(out, found, i, j)
                        found += 1
    return out, found, tests


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
