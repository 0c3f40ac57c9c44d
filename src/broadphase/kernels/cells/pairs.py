"""Pairs in a dynamic index: within each cell, and of each box with larger boxes on coarser levels."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.emit import put
from broadphase.kernels.arrays.merge_sort import merge_neighbours
from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.boxes.overlap import overlap
from broadphase.kernels.cells.lattice import BOXES, cell_of, place_of, span_of
from broadphase.kernels.cells.lists import HEADER, UNIT
from broadphase.kernels.cells.search import TOGETHER, WORK_OF_A_COPY, WORK_OF_A_HIT, compare_some
from broadphase.kernels.machine.jit import inline, jit

# In a place with more boxes than this a sweep along an axis costs less than comparing all.
OVERFULL = 64
# What is to be done next in a place: look at it, sort its boxes, copy them side by side, compare them.
LOOK, SORT, COPY, COMPARE = range(4)
# Instead: its boxes need a larger block.
CRAMPED = -1


class Block(NamedTuple):
    """Memory for the place that a search is at: its boxes, side by side."""

    sides: npt.NDArray[np.floating[Any]]
    """``(2 * dim, room)``: one row an edge."""
    ids: npt.NDArray[np.int32]
    order: npt.NDArray[np.int32]
    spare: npt.NDArray[np.int32]
    near: npt.NDArray[np.bool_]
    hits: npt.NDArray[np.int32]


def make_block(columns: int, room: int, dtype: "np.dtype[Any]") -> Block:
    """Memory for places of up to ``room`` boxes with so many edges."""
    ids, order, spare = np.empty((3, room), np.int32)
    near, hits = np.empty(TOGETHER, np.bool_), np.empty(TOGETHER, np.int32)
    return Block(np.empty((columns, room), dtype), ids, order, spare, near, hits)


@jit
def pair_places(
    boxes, touching, filter, heads, pool, lattice, levels, table, visited, block, at, end, out, most, store,  # noqa: A002
):  # fmt: skip
    """Pairs of boxes of one level that share a place, from ``at = turn, to do, axis, p, q`` on.

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.emit`).  ``visited`` are the places to look at in
    turn; if that is empty, all of them.  Two boxes may share several places: their pair is reported where the
    lower corner of their intersection lies.  Each place is copied into the ``block`` first; where that has no
    room for all of its boxes, the search stops and is `CRAMPED`.
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

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.emit`).
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
