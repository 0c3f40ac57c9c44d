"""The pairs inside cells: boxes of one level with each other, and with the larger boxes above them.

Where some cells are overfull the boxes were entered in the order of their lower edge on one axis
(``axis >= 0``): then the search in a cell is a sweep with an early exit.  ``axis = -1``: no order.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.emit import put
from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.boxes.overlap import overlap
from broadphase.kernels.cells.binning import cell, home_cell, place, span
from broadphase.kernels.machine.jit import inline, jit

# Boxes that are compared between two looks at the room: less than `LEAST_ROOM`.
TOGETHER = 256
# What it takes to copy a box, and to see whether this is where an overlap is reported, in comparisons.
WORK_OF_A_COPY = 8
WORK_OF_A_HIT = 16


class Block(NamedTuple):
    """Memory for a search of one level: the boxes of the place that it is at, side by side."""

    sides: npt.NDArray[np.floating[Any]]
    """``(2 * dim, fullest)``: one row an edge."""
    corners: npt.NDArray[np.int64]
    """``(fullest, 3)``: the low cell of each."""
    near: npt.NDArray[np.bool_]
    hits: npt.NDArray[np.int32]


def make_block(columns: int, fullest: int, dtype: "np.dtype[Any]") -> Block:
    """Memory for places of up to ``fullest`` boxes with so many edges."""
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
    """Whether what begins at ``low``, or later in the order, can not overlap what ends at ``high``."""
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
    """Compare box ``p`` of a place with ``begin .. end`` of it, in a sweep up to what begins beyond it.

    Writes those that overlap to ``hits``; returns how many, and where it stopped.  Comparing is kept apart
    from reporting: about one comparison in four finds something, which no processor can predict.
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
    """Copy some boxes of a place side by side: one row of ``sides`` for every edge, and each low cell."""
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

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.emit`).  Two boxes may share several places; the
    pair is reported in the home of their intersection only.  Each place is copied into a small `Block` first.
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
    """Per entry, the highest upper edge on the sweep's axis among it and those before it in its place.

    For the entries ``begin .. end``, when those before them are done.
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

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.emit`).  A box visits each of its cells on a
    coarser level once, also where two of them share a slot, so the pair is reported where the home of the
    intersection is this very cell.  ``hits`` is that of a `Block`.
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
                if axis >= 0:  # skip those that all end before this box begins
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
                        # A box in a single cell shares no other with anyone.
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
