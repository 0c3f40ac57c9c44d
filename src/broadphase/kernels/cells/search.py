"""The pairs inside cells: boxes of one level with each other, and with the larger boxes above them.

Where some cells are overfull the boxes were entered in the order of their lower edge on one axis
(``axis >= 0``): then the search in a cell is a sweep with an early way out.  ``axis = -1``: no order.
"""

import numpy as np

from broadphase.kernels.arrays.emit import grow, put
from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.boxes.overlap import overlap
from broadphase.kernels.cells.binning import cell, home_cell, place, span
from broadphase.kernels.machine.jit import inline, jit


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
def gather(boxes, entries, begin, end, layout, level, sides, corners):
    """Copy the boxes of a place side by side: one row of ``sides`` for every edge, and each low cell."""
    dim = boxes.shape[1] // 2
    for k in range(end - begin):
        i = entries[begin + k]
        sides[0, k], sides[dim, k] = boxes[i, 0], boxes[i, dim]
        sides[1, k], sides[dim + 1, k] = boxes[i, 1], boxes[i, dim + 1]
        corners[k, 0] = cell(boxes[i, 0], layout, level, 0)
        corners[k, 1] = cell(boxes[i, 1], layout, level, 1)
        if dim == 3:
            sides[2, k], sides[5, k] = boxes[i, 2], boxes[i, 5]
            corners[k, 2] = cell(boxes[i, 2], layout, level, 2)


@inline
def mark(sides, p, end, touching, near):
    """Set ``near[q]`` for the boxes ``p + 1 .. end`` that overlap box ``p``; loops without branches."""
    dim = sides.shape[0] // 2
    for q in range(p + 1, end):
        near[q] = True
    for axis in range(dim):
        low, high = sides[axis, p], sides[dim + axis, p]
        for q in range(p + 1, end):
            near[q] &= meet(low, high, sides[axis, q], sides[dim + axis, q], touching)


@jit
def pairs_of_one_level(boxes, touching, filter, cells, begin, end, out, limit, store):  # noqa: A002
    """Pairs of boxes on the same level, in the places whose section starts in ``begin .. end``.

    Returns ``out, found, tests``.  Two boxes may share several places; the pair is reported in the home
    of their intersection only.

    Each place is copied into a small block first, and comparing is kept apart from reporting: about one
    comparison in four finds something, which no processor can predict.
    """
    layout, starts, entries, axis = cells.layout, cells.starts, cells.entries, cells.axis
    fullest = max(1, cells.fullest)
    sides = np.empty((boxes.shape[1], fullest), boxes.dtype)
    corners = np.zeros((fullest, 3), np.int64)
    near = np.empty(fullest, np.bool_)
    hits = np.empty(fullest, np.int32)
    found = 0
    tests = 0
    last_place = starts.shape[0] - 2
    here = first_at_least(starts, begin, 0, last_place)
    while here < last_place and starts[here] < end:
        section = starts[here]
        count = starts[here + 1] - section
        if count > 1:
            level = cells.levels[entries[section]]
            gather(boxes, entries, section, section + count, layout, level, sides, corners)
        for p in range(count - 1):
            stop = count
            if axis >= 0:
                stop = p + 1
                high = sides[sides.shape[0] // 2 + axis, p]
                while stop < count and not begins_beyond(sides[axis, stop], high, touching):
                    stop += 1
            mark(sides, p, stop, touching, near)
            tests += stop - p - 1
            hit = 0
            for q in range(p + 1, stop):
                hits[hit] = q
                hit += near[q]
            i = entries[section + p]
            for h in range(hit):
                q = hits[h]
                j = entries[section + q]
                # The cell of a maximum is the maximum of the cells: the home of the intersection.
                x = max(corners[p, 0], corners[q, 0])
                y = max(corners[p, 1], corners[q, 1])
                z = max(corners[p, 2], corners[q, 2])
                if place(x, y, z, layout, level) == here and may_pair(filter, i, j):
                    if store:
                        if found == len(out):
                            if found > limit:
                                return out, found, tests
                            out = grow(out, limit)
                        put(out, found, i, j)
                    found += 1
        here += 1
    return out, found, tests


@jit
def running_reach(boxes, cells, reach):
    """Per entry, the highest upper edge on the sweep's axis among it and those before it in its place."""
    starts, entries = cells.starts, cells.entries
    upper = boxes.shape[1] // 2 + cells.axis
    for here in range(starts.shape[0] - 2):
        for p in range(starts[here], starts[here + 1]):
            reach[p] = boxes[entries[p], upper]
            if p > starts[here]:
                reach[p] = max(reach[p], reach[p - 1])


@jit
def pairs_with_larger(boxes, touching, filter, cells, reach, begin, end, out, limit, store):  # noqa: A002
    """Pairs of a box in ``begin .. end`` with the boxes of coarser levels; returns ``out, found, tests``.

    A box visits each of its cells on a coarser level once, also where two of them share a slot, so the
    pair is reported where the home of the intersection is this very cell.
    """
    dim = boxes.shape[1] // 2
    layout, starts, entries, axis = cells.layout, cells.starts, cells.entries, cells.axis
    hits = np.empty(max(1, cells.fullest), np.int32)
    found = 0
    tests = 0
    for i in range(begin, end):
        for level in range(cells.levels[i] + 1, cells.population.shape[0]):
            if cells.population[level] == 0:
                continue
            x0, x1, y0, y1, z0, z1 = span(boxes, i, layout, level)
            columns, rows = x1 - x0 + 1, y1 - y0 + 1
            visits = columns * rows * (z1 - z0 + 1)
            for visit in range(visits):
                x = x0 + visit % columns
                y = y0 + visit // columns % rows
                z = z0 + visit // (columns * rows)
                here = place(x, y, z, layout, level)
                section, section_end = starts[here], starts[here + 1]
                if axis >= 0:  # skip those that all end before this box begins
                    section = first_at_least(reach, boxes[i, axis], section, section_end)
                hit = 0
                for p in range(section, section_end):
                    j = entries[p]
                    if axis >= 0 and begins_beyond(boxes[j, axis], boxes[i, dim + axis], touching):
                        break
                    tests += 1
                    hits[hit] = j
                    hit += overlap(boxes, i, j, touching)
                for h in range(hit):
                    j = hits[h]
                    # A box in a single cell shares no other with anyone.
                    at_home = visits == 1 or home_cell(boxes, i, j, layout, level) == (x, y, z)
                    if at_home and may_pair(filter, i, j):
                        if store:
                            if found == len(out):
                                if found > limit:
                                    return out, found, tests
                                out = grow(out, limit)
                            put(out, found, i, j)
                        found += 1
    return out, found, tests
