"""Queries of boxes in cells: what overlaps a box.

A query looks into the cells that it touches, and then at the boxes that are in no cell: ``others``, the large
ones and those that moved since all were entered.  The entries of the latter are still where they were;
``listed`` says of each id whether it is one of the others, and so to be skipped in a cell.

A query may touch more cells than there are boxes, as a box over the whole world does.  Then all boxes are
tested instead, so that no query takes longer than by brute force, whatever its coordinates are.

Helpers take ``source``: the boxes, the rules of the query and ``listed``.
"""

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.arrays.results import STACK_CAPACITY, finished, result
from broadphase.kernels.boxes.checks import take_box
from broadphase.kernels.boxes.queries import box_meets, passes
from broadphase.kernels.cells.bins import BOX, NEXT, Span, cell_of, count_cells, place_of, span_of
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import holds_gil, inline, jit, numbers
from broadphase.kernels.machine.memory import many, one_row

# The owner cell of box and query reports a box that lies in several of the cells.


@jit
def search_boxes(boxes, categories, masks, bins, listed, others, queries, touching, category, mask, rows):
    """Rows ``[query, id]`` of what overlaps each query: the rows, how many there are, and the tests."""
    source = (boxes, categories, masks, listed, category, mask)
    found = tests = checked = np.int64(0)
    for q in range(queries.shape[0]):
        before = found
        found, made = _search(source, bins, others, queries, q, touching, rows, before)
        if found > rows.shape[0]:
            while found > rows.shape[0]:
                rows = larger(rows, before)
            _search(source, bins, others, queries, q, touching, rows, before)
        tests += made
        if tests > checked + OFTEN:
            checked = tests
            if not goes_on():
                break
    return rows, found, tests


@holds_gil
@numbers(values=(4, 6))
def search_box(boxes, categories, masks, bins, listed, others, values, touching, category, mask):
    """Ids that overlap one box, sorted if they are few; returns ``ids, tests``, -1 if it is not sound."""
    query = one_row(len(values), np.float64)
    if not take_box(values, boxes, query):
        return result(0, np.int32), np.int64(-1)
    source = (boxes, categories, masks, listed, category, mask)
    out = many(STACK_CAPACITY, np.int32)
    none = np.int64(0)
    found, tests = _search(source, bins, others, query, none, touching, out, none)
    if found <= STACK_CAPACITY:
        return finished(out, found), tests
    ids = result(found, np.int32)
    _search(source, bins, others, query, none, touching, ids, none)
    return ids, tests


@inline
def _search(source, bins, others, queries, q, touching, out, found):
    """Write what overlaps a query, from ``found`` on, while there is room; how many are found, and tests."""
    boxes, categories, masks, _, category, mask = source
    lattice, entries, small, query = bins.lattice, bins.entries, bins.small, queries[q]
    span = _within_reach(span_of(queries, q, lattice), bins.reach)
    covered = count_cells(span)
    tests = np.int64(others.shape[0])
    for k in range(others.shape[0]):
        i = others[k]
        if box_meets(boxes, i, query, touching) and passes(categories, masks, i, category, mask):
            found = _put(out, found, q, i)
    if covered > small.shape[0]:
        tests += small.shape[0]
        for k in range(small.shape[0]):
            i = small[k]
            if box_meets(boxes, i, query, touching) and _counts(source, i):
                found = _put(out, found, q, i)
        return found, tests
    if covered == 0.0:
        return found, tests
    for z in range(span.z0, span.z1 + 1):
        for y in range(span.y0, span.y1 + 1):
            for x in range(span.x0, span.x1 + 1):
                entry = bins.heads[place_of(x, y, z, lattice)]
                while entry != 0:
                    i = entries[entry, BOX]
                    tests += 1
                    if (
                        box_meets(boxes, i, query, touching)
                        and _owns(boxes, i, queries, q, lattice, x, y, z)
                        and _counts(source, i)
                    ):
                        found = _put(out, found, q, i)
                    entry = entries[entry, NEXT]
    return found, tests


@inline
def _put(out, found, q, i):
    """Write a find, an id or a row ``[query, id]``, if there is room; returns how many there are."""
    if found < out.shape[0]:
        if out.ndim == 1:
            out[found] = i
        else:
            out[found, 0] = q
            out[found, 1] = i
    return found + 1


@inline
def _counts(source, i):
    """Whether a box in a cell is still there, and the rules accept it."""
    _, categories, masks, listed, category, mask = source
    return listed[i] == 0 and passes(categories, masks, i, category, mask)


@inline
def _owns(boxes, i, queries, q, lattice, x, y, z):
    """Whether the lower corner of the intersection of a box and a query lies in this cell."""
    owns = cell_of(max(float(boxes[i, 0]), queries[q, 0]), lattice, 0) == x
    owns &= cell_of(max(float(boxes[i, 1]), queries[q, 1]), lattice, 1) == y
    if boxes.shape[1] == 6:
        owns &= cell_of(max(float(boxes[i, 2]), queries[q, 2]), lattice, 2) == z
    return owns


@inline
def _within_reach(span, reach):
    """Those of the cells beyond which no box lies."""
    return Span(
        max(span.x0, int(reach[0, 0])), min(span.x1, int(reach[1, 0])),
        max(span.y0, int(reach[0, 1])), min(span.y1, int(reach[1, 1])),
        max(span.z0, int(reach[0, 2])), min(span.z1, int(reach[1, 2])),
    )  # fmt: skip
