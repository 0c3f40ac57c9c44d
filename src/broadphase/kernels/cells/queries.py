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
from broadphase.kernels.arrays.results import STACK_ROWS, finished, put_row, result
from broadphase.kernels.boxes.checks import take_box
from broadphase.kernels.boxes.overlap import overlap
from broadphase.kernels.boxes.queries import passes
from broadphase.kernels.cells.bins import BOX, NEXT, Span, cell_of, count_cells, place_of, span_of
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import inline, jit, rows
from broadphase.kernels.machine.memory import some_rows

# The owner cell of box and query reports a box that lies in several of the cells.


@jit
@rows(queries=(4, 6))
def search_boxes(
    boxes, categories, masks, bins, listed, others, queries, touching, category, mask, found_rows
):
    """What overlaps each query: ``rows, ids, found, tests``, see `broadphase.kernels.arrays.results`."""
    source = (boxes, categories, masks, listed, category, mask)
    one, out = found_rows.shape[0] == 0, some_rows(STACK_ROWS, 2, np.int32)
    if not one:
        out = found_rows
    elif not take_box(queries[0], boxes, queries):
        return found_rows, result(0, np.int32), np.int64(0), np.int64(-1)
    found = tests = checked = np.int64(0)
    for q in range(queries.shape[0]):
        before = found
        found, made = _search(source, bins, others, queries, q, touching, out, before)
        if found > out.shape[0]:
            while found > out.shape[0]:
                out = larger(out, before)
            _search(source, bins, others, queries, q, touching, out, before)
        tests += made
        if tests > checked + OFTEN:
            checked = tests
            if not goes_on():
                break
    return found_rows if one else out, finished(out[:, 1], found if one else 0), found, tests


@inline
def _search(source, bins, others, queries, q, touching, out, found):
    """Write what overlaps a query, from ``found`` on, while there is room; how many are found, and tests."""
    boxes, categories, masks, _, category, mask = source
    lattice, entries, small = bins.lattice, bins.entries, bins.small
    span = _within_reach(span_of(queries, q, lattice), bins.reach)
    covered = count_cells(span)
    tests = np.int64(others.shape[0])
    for k in range(others.shape[0]):
        i = others[k]
        if overlap(boxes, i, queries, q, touching) and passes(categories, masks, i, category, mask):
            found = _put(out, found, q, i)
    if covered > small.shape[0]:
        tests += small.shape[0]
        for k in range(small.shape[0]):
            i = small[k]
            if overlap(boxes, i, queries, q, touching) and _counts(source, i):
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
                        overlap(boxes, i, queries, q, touching)
                        and _owns(boxes, i, queries, q, lattice, x, y, z)
                        and _counts(source, i)
                    ):
                        found = _put(out, found, q, i)
                    entry = entries[entry, NEXT]
    return found, tests


@inline
def _put(out, found, q, i):
    """Write a row ``[query, id]``, if there is room; returns how many there are."""
    if found < out.shape[0]:
        put_row(out, found, q, i)
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
