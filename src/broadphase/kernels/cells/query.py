"""Box queries: the cells that the box covers, or all boxes of a level where those are fewer.

Reading a cell takes three steps, place, block, boxes, and among many boxes each step waits for memory.  So
the cells of several queries are collected first and every step is taken for all of them: the processor then
fetches a dozen lines at a time, which is five times as fast among a million boxes.

A query that covers many cells is answered cell by cell: what it meets is marked, a bit for each id, and read
off in order, so that a box in several cells is found once.  Most of these cells lie within the query on one
axis or on all, and their boxes need not be looked at for that.
"""

import numpy as np

from broadphase.kernels.arrays.found_ids import put_row
from broadphase.kernels.arrays.sort_ids import clear_marks, count_marked, mark, put_marked
from broadphase.kernels.boxes.query_tests import box_meets, passes
from broadphase.kernels.cells.lattice import BOXES, HIGHEST, LOWEST, cell_of, place_of, span_of
from broadphase.kernels.cells.lists import HEADER, UNIT
from broadphase.kernels.machine.jit import inline, jit, unsigned

# So many cells are collected at most, and so many boxes; what they need lies in the nearest cache.
CELLS = 128
NEAR = 512
AT_ONCE = 64
# A query of more cells than these is wide, if it also has one for so many ids, whose marks are gone through.
NARROW = 4
_IDS_PER_CELL = 65_536
# The columns of a collected cell.
BLOCK, QUERY, LEVEL, X, Y, Z, COUNT = range(7)


@jit
def search_boxes(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    queries, begin, cells, near, words, out, touching, category, mask,
):  # fmt: skip
    """Rows ``[query, id]`` of the queries from ``begin`` on, until ``out`` is full.

    Returns the query to go on with, the rows and the tests.  A query is answered wholly or not at all.
    ``cells`` and ``near`` are scratch: `CELLS` rows of 7 int64, 2 rows of `NEAR` int32; ``words`` are zeros
    before and after, for ids less than ``end`` (`broadphase.kernels.arrays.sort_ids.words_for`).
    """
    # Not plain zeros: Numba would compile the helpers once more, for a number that is known to be 0.
    collected = found = rows = np.int64(0)
    tests = made = 0
    done = begin
    for q in range(begin, queries.shape[0]):
        for level in range(lattice.shape[0]):
            if lattice[level, BOXES] == 0:
                continue
            x0, x1, y0, y1, z0, z1 = span_of(queries, q, lattice, level)
            x0, x1 = max(x0, int(lattice[level, LOWEST])), min(x1, int(lattice[level, HIGHEST]))
            y0, y1 = max(y0, int(lattice[level, LOWEST + 1])), min(y1, int(lattice[level, HIGHEST + 1]))
            z0, z1 = max(z0, int(lattice[level, LOWEST + 2])), min(z1, int(lattice[level, HIGHEST + 2]))
            if x0 > x1 or y0 > y1 or z0 > z1:
                continue
            covered = float(x1 - x0 + 1) * float(y1 - y0 + 1) * float(z1 - z0 + 1)
            all_boxes = covered > end
            wide = all_boxes or covered > max(NARROW, end / _IDS_PER_CELL)
            # Once around for what is answered without collecting cells.
            last_x, last_y, last_z = (x0, y0, z0) if wide else (x1, y1, z1)
            for z in range(z0, last_z + 1):
                for y in range(y0, last_y + 1):
                    for x in range(x0, last_x + 1):
                        if wide or collected == CELLS:
                            found, here = _look_into(
                                boxes, categories, masks, pool, lattice, levels, table, queries,
                                cells, collected, near, out, found, touching, category, mask,
                            )  # fmt: skip
                            tests += here
                            collected = np.int64(0)
                        if all_boxes:
                            found, here = _look_at_all(
                                boxes, end, categories, masks, levels, level, queries, q,
                                out, found, touching, category, mask,
                            )  # fmt: skip
                            tests += here
                            continue
                        if wide:
                            here = mark_overlaps(
                                boxes, end, heads, pool, lattice, levels, level, table, queries, q,
                                x0, x1, y0, y1, z0, z1, touching, words,
                            )  # fmt: skip
                            tests += here
                            found = _report_marked(
                                end, categories, masks, q, words, here, out, found, category, mask,
                            )  # fmt: skip
                            continue
                        cells[collected, BLOCK] = heads[place_of(x, y, z, lattice, level, table)]
                        cells[collected, QUERY] = q
                        cells[collected, LEVEL] = level
                        cells[collected, X] = x
                        cells[collected, Y] = y
                        cells[collected, Z] = z
                        collected += 1
        if collected > CELLS // 2 or found > rows or q == queries.shape[0] - 1:
            found, here = _look_into(
                boxes, categories, masks, pool, lattice, levels, table, queries,
                cells, collected, near, out, found, touching, category, mask,
            )  # fmt: skip
            tests += here
            collected = np.int64(0)
            if found > out.shape[0]:
                return done, rows, made
            done = q + 1
            rows = found
            made = tests
    return done, rows, made


@inline
def _look_into(
    boxes, categories, masks, pool, lattice, levels, table, queries,
    cells, collected, near, out, found, touching, category, mask,
):  # fmt: skip
    """Boxes in the collected cells; returns the rows found by now, and the tests."""
    for c in range(collected):
        cells[c, COUNT] = pool[cells[c, BLOCK] * UNIT] if cells[c, BLOCK] > 0 else 0
    tests = 0
    close = np.int64(0)
    for c in range(collected):
        first = cells[c, BLOCK] * UNIT + HEADER
        stop = first + cells[c, COUNT]
        tests += cells[c, COUNT]
        while first < stop:
            if close + AT_ONCE > near.shape[1]:
                found = _report(
                    boxes, categories, masks, lattice, levels, table, queries,
                    cells, near, close, out, found, category, mask,
                )  # fmt: skip
                close = np.int64(0)
            until = min(first + AT_ONCE, stop)
            close = _compare(boxes, pool, first, until, queries, cells[c, QUERY], c, touching, near, close)
            first = until
    found = _report(
        boxes, categories, masks, lattice, levels, table, queries,
        cells, near, close, out, found, category, mask,
    )  # fmt: skip
    return found, tests


@inline
def _compare(boxes, pool, first, until, queries, q, c, touching, near, close):
    """Add those of some ids in the pool to ``near`` that overlap query ``q``; how many there are then.

    As `box_meets`, without branches: while one box comes from memory, the next ones are fetched too.
    """
    if boxes.shape[1] == 4:
        x0, y0, x1, y1 = queries[q, 0], queries[q, 1], queries[q, 2], queries[q, 3]
        for k in range(first, until):
            i = np.uintp(pool[k])
            near[0, close] = i
            near[1, close] = c
            if touching:
                close += (boxes[i, 0] <= x1) & (x0 <= boxes[i, 2]) & (boxes[i, 1] <= y1) & (y0 <= boxes[i, 3])
            else:
                close += (boxes[i, 0] < x1) & (x0 < boxes[i, 2]) & (boxes[i, 1] < y1) & (y0 < boxes[i, 3])
        return close
    query = queries[q]
    for k in range(first, until):
        near[0, close] = pool[k]
        near[1, close] = c
        close += box_meets(boxes, pool[k], query, touching)
    return close


@inline
def _report(
    boxes, categories, masks, lattice, levels, table, queries, cells, near, close, out, found, category, mask
):  # fmt: skip
    """Write the rows of the overlaps that have their lower corner in the cell at hand: one cell of each."""
    for h in range(close):
        i = near[0, h]
        c = near[1, h]
        q = cells[c, QUERY]
        level = cells[c, LEVEL]
        home = cell_of(max(float(boxes[i, 0]), queries[q, 0]), lattice, level, 0) == cells[c, X]
        home &= cell_of(max(float(boxes[i, 1]), queries[q, 1]), lattice, level, 1) == cells[c, Y]
        if boxes.shape[1] == 6:
            home &= cell_of(max(float(boxes[i, 2]), queries[q, 2]), lattice, level, 2) == cells[c, Z]
        # The slot of a hash table may hold boxes of several levels.
        if home and (table == 0 or levels[i] == level) and passes(categories, masks, i, category, mask):
            if found < out.shape[0]:
                put_row(out, found, q, i)
            found += 1
    return found


@inline
def _look_at_all(
    boxes, end, categories, masks, levels, level, queries, q, out, found, touching, category, mask
):  # fmt: skip
    tests = 0
    query = queries[q]
    for i in range(end):
        if levels[i] == level:
            tests += 1
            if box_meets(boxes, i, query, touching) and passes(categories, masks, i, category, mask):
                if found < out.shape[0]:
                    put_row(out, found, q, i)
                found += 1
    return found, tests


@inline
def mark_overlaps(
    boxes, end, heads, pool, lattice, levels, level, table, queries, q,
    x0, x1, y0, y1, z0, z1, touching, words,
):  # fmt: skip
    """Mark the boxes of a level in some cells that overlap query ``q``; the tests."""
    dim = boxes.shape[1] // 2
    query = queries[q]
    tests = np.int64(0)
    for z in range(z0, z1 + 1):
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                at = np.int64(heads[unsigned(place_of(x, y, z, lattice, level, table))]) * UNIT
                if at == 0:
                    continue
                first, stop = at + HEADER, at + HEADER + pool[at]
                tests += stop - first
                if table > 0:
                    # The slot of a hash table may hold boxes of other cells, and of several levels.
                    for k in range(first, stop):
                        meets = box_meets(boxes, pool[k], query, touching) & (levels[pool[k]] == level)
                        mark(words, end, pool[k], meets)
                elif x0 < x < x1 and y0 < y < y1 and (dim == 2 or z0 < z < z1):
                    # Cells never decrease along an axis: what lies in one between those of the query's ends
                    # lies between these ends.
                    for k in range(first, stop):
                        mark(words, end, pool[k], True)
                else:
                    for k in range(first, stop):
                        mark(words, end, pool[k], box_meets(boxes, pool[k], query, touching))
    return tests


@inline
def _report_marked(end, categories, masks, q, words, most, out, found, category, mask):
    """Write the rows of the marked boxes, at ``most`` so many, in order, and clear their marks.

    Returns the rows found by now.
    """
    if found + most > out.shape[0]:
        needed = found + count_marked(words, end)
        if needed > out.shape[0]:
            clear_marks(words)
            return needed
    behind = put_marked(words, end, out, found, q)
    if category < 0 and mask < 0:
        return behind
    kept = found
    for at in range(found, behind):
        i = out[at, 1]
        put_row(out, kept, q, i)
        kept += np.int64(passes(categories, masks, i, category, mask))
    return kept
