"""What lies in a box: the living cells that it covers, or all boxes of a level where those are fewer."""

import numpy as np

from broadphase.kernels.cell_lists import HEADER, UNIT
from broadphase.kernels.found_ids import put_row
from broadphase.kernels.jit import inline, jit
from broadphase.kernels.lattice import BOXES, HIGHEST, LOWEST, cell_of, place_of, span_of
from broadphase.kernels.query_tests import box_meets, passes


@jit
def search_boxes(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    queries, begin, out, touching, category, mask,
):  # fmt: skip
    """Rows ``[query, id]`` of the queries from ``begin`` on, until ``out`` is full.

    Returns the query to go on with, the rows and the tests.  A query is answered wholly or not at all.
    """
    rows = 0
    tests = 0
    for q in range(begin, queries.shape[0]):
        found = rows
        made = 0
        for level in range(lattice.shape[0]):
            if lattice[level, BOXES] > 0:
                found, here = _search_level(
                    boxes, end, categories, masks, heads, pool, lattice, levels, table,
                    level, queries, q, out, found, touching, category, mask,
                )  # fmt: skip
                made += here
        if found > out.shape[0]:
            return q, rows, tests
        rows = found
        tests += made
    return queries.shape[0], rows, tests


@inline
def _search_level(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    level, queries, q, out, found, touching, category, mask,
):  # fmt: skip
    query = queries[q]
    dim = boxes.shape[1] // 2
    x0, x1, y0, y1, z0, z1 = span_of(queries, q, lattice, level)
    x0, x1 = max(x0, int(lattice[level, LOWEST])), min(x1, int(lattice[level, HIGHEST]))
    y0, y1 = max(y0, int(lattice[level, LOWEST + 1])), min(y1, int(lattice[level, HIGHEST + 1]))
    z0, z1 = max(z0, int(lattice[level, LOWEST + 2])), min(z1, int(lattice[level, HIGHEST + 2]))
    if x0 > x1 or y0 > y1 or z0 > z1:
        return found, 0
    tests = 0
    if float(x1 - x0 + 1) * float(y1 - y0 + 1) * float(z1 - z0 + 1) > end:
        for i in range(end):
            if levels[i] == level:
                tests += 1
                if box_meets(boxes, i, query, touching) and passes(categories, masks, i, category, mask):
                    if found < out.shape[0]:
                        put_row(out, found, q, i)
                    found += 1
        return found, tests
    for z in range(z0, z1 + 1):
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                at = np.int64(heads[place_of(x, y, z, lattice, level, table)]) * UNIT
                if at == 0:
                    continue
                count = np.int64(pool[at])
                tests += count
                for k in range(at + HEADER, at + HEADER + count):
                    i = pool[k]
                    if not box_meets(boxes, i, query, touching):
                        continue
                    # Once: in the cell that holds the lower corner of the intersection.  This also leaves
                    # out what another level has put into the same slot of a hash table.
                    if (
                        levels[i] == level
                        and max(cell_of(boxes[i, 0], lattice, level, 0), x0) == x
                        and max(cell_of(boxes[i, 1], lattice, level, 1), y0) == y
                        and (dim == 2 or max(cell_of(boxes[i, 2], lattice, level, 2), z0) == z)
                        and passes(categories, masks, i, category, mask)
                    ):
                        if found < out.shape[0]:
                            put_row(out, found, q, i)
                        found += 1
    return found, tests
