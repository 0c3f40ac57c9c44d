"""Queries in a grid or hash that is kept between frames: box, ray and nearest, many at a time or one."""

import numpy as np

from broadphase.kernels.arrays.results import (
    STACK_CAPACITY,
    clear_marks,
    count_marked,
    finished,
    mark,
    put_marked,
    put_row,
    result,
)
from broadphase.kernels.arrays.spin_wait import claim, let_go
from broadphase.kernels.boxes.checks import take_box, take_point, take_ray
from broadphase.kernels.boxes.queries import (
    box_meets,
    distance_to_box,
    keep_nearest,
    passes,
    ray_distance,
    set_ray,
    sort_by_distance,
    write_normal,
)
from broadphase.kernels.cells.dynamic_cells import (
    BOXES,
    HEADER,
    HIGHEST,
    LOWEST,
    MOST_LEVELS,
    PER_UNIT,
    UNIT,
    cell_of,
    enter_boxes,
    find_rebinned,
    leave_cells,
    place_of,
    span_of,
)
from broadphase.kernels.cells.one_shot import MOST_PLACES, Span
from broadphase.kernels.machine.jit import common, holds_gil, inline, jit, numbers, unsigned
from broadphase.kernels.machine.memory import few, many, one_row, some_rows

# -----------------------------------------------------------------------------------------------------------
# Box queries: the cells that the box covers, or all boxes of a level if there are fewer boxes than cells.
#
# Reading a cell takes three steps (place, block, boxes), and with many boxes each step waits for memory.  So
# the cells of several queries are collected first, and each step is done for all of them: the processor then
# fetches a dozen cache lines at a time, which is five times as fast with a million boxes.
#
# A query that covers many cells is answered cell by cell: each box found sets one bit, and the bits are read
# in order of id, so a box in several cells is found once.  Most of these cells are inside the query on one
# axis or on all axes, and there the boxes need not be compared on those axes.
#
# Helpers take ``source``, the boxes with the end of their ids and the rules, and ``grid``, the cells.


# Limits on collected cells and collected boxes; both arrays fit into the L1 cache.
CELLS = 128
NEAR = 512
AT_ONCE = 64
# A query is wide if it covers more cells than `NARROW` and at least one cell for every `_IDS_PER_CELL` ids.
NARROW = 4
_IDS_PER_CELL = 65_536
# The columns of a collected cell.
BLOCK, QUERY, LEVEL, X, Y, Z, COUNT = range(7)


@inline
def _covered(queries, q, lattice, level):
    """The cells of a query among those that boxes of the level reach."""
    span = span_of(queries, q, lattice, level)
    return Span(
        max(span.x0, int(lattice[level, LOWEST])),
        min(span.x1, int(lattice[level, HIGHEST])),
        max(span.y0, int(lattice[level, LOWEST + 1])),
        min(span.y1, int(lattice[level, HIGHEST + 1])),
        max(span.z0, int(lattice[level, LOWEST + 2])),
        min(span.z1, int(lattice[level, HIGHEST + 2])),
    )


@inline
def _count_cells(span):
    """How many cells there are, as a float, because three spans may exceed 64 bits."""
    if span.x0 > span.x1 or span.y0 > span.y1 or span.z0 > span.z1:
        return 0.0
    return float(span.x1 - span.x0 + 1) * float(span.y1 - span.y0 + 1) * float(span.z1 - span.z0 + 1)


@jit
def search_boxes(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    queries, begin, cells, near, words, out, touching, category, mask,
):  # fmt: skip
    """Rows ``[query, id]`` of the queries from ``begin`` on, until ``out`` is full.

    Returns the query to go on with, the rows and the tests.  A query is answered wholly or not at all.
    ``cells`` and ``near`` are scratch: `CELLS` rows of 7 int64, 2 rows of `NEAR` int32; ``words`` are zeros
    before and after, for ids less than ``end`` (`broadphase.kernels.arrays.results.words_for`).
    """
    source = (boxes, end, categories, masks, category, mask)
    grid = (heads, pool, lattice, levels, table)
    # np.int64(0) and not 0: Numba would compile the helpers a second time for the constant 0.
    collected = found = rows = np.int64(0)
    tests = made = 0
    done = begin
    for q in range(begin, queries.shape[0]):
        for level in range(lattice.shape[0]):
            if lattice[level, BOXES] == 0:
                continue
            span = _covered(queries, q, lattice, level)
            covered = _count_cells(span)
            if covered == 0.0:
                continue
            x0, x1, y0, y1, z0, z1 = span
            all_boxes = covered > end
            wide = all_boxes or covered > max(NARROW, end / _IDS_PER_CELL)
            # One iteration only where the query is answered without collecting cells.
            last_x, last_y, last_z = (x0, y0, z0) if wide else (x1, y1, z1)
            for z in range(z0, last_z + 1):
                for y in range(y0, last_y + 1):
                    for x in range(x0, last_x + 1):
                        if wide or collected == CELLS:
                            found, here = _look_into(
                                source, grid, queries, cells, collected, near, out, found, touching
                            )
                            tests += here
                            collected = np.int64(0)
                        if all_boxes:
                            found, here = _look_at_all(
                                source, levels, level, queries, q, out, found, touching
                            )
                            tests += here
                            continue
                        if wide:
                            here = mark_overlaps(boxes, end, grid, level, queries, q, span, touching, words)
                            tests += here
                            found = _report_marked(source, q, words, here, out, found)
                            continue
                        cells[collected, BLOCK] = heads[place_of(x, y, z, lattice, level, table)]
                        cells[collected, QUERY] = q
                        cells[collected, LEVEL] = level
                        cells[collected, X] = x
                        cells[collected, Y] = y
                        cells[collected, Z] = z
                        collected += 1
        if collected > CELLS // 2 or found > rows or q == queries.shape[0] - 1:
            found, here = _look_into(source, grid, queries, cells, collected, near, out, found, touching)
            tests += here
            collected = np.int64(0)
            if found > out.shape[0]:
                return done, rows, made
            done = q + 1
            rows = found
            made = tests
    return done, rows, made


@inline
def _look_into(source, grid, queries, cells, collected, near, out, found, touching):
    """Compare the boxes in the collected cells; returns how many rows are found so far, and the tests."""
    boxes, pool = source[0], grid[1]
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
                found = _report(source, grid, queries, cells, near, close, out, found)
                close = np.int64(0)
            until = min(first + AT_ONCE, stop)
            close = _compare(boxes, pool, first, until, queries, cells[c, QUERY], c, touching, near, close)
            first = until
    return _report(source, grid, queries, cells, near, close, out, found), tests


@inline
def _compare(boxes, pool, first, until, queries, q, c, touching, near, close):
    """Append the ids in the pool that overlap query ``q`` to ``near``; returns how many it holds then.

    Like `box_meets`, but without branches: the processor fetches the next boxes while it waits for one.
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
def _report(source, grid, queries, cells, near, close, out, found):
    """Write the rows of overlaps whose lower corner is in this cell, so that only one cell reports each."""
    boxes, _, categories, masks, category, mask = source
    for h in range(close):
        i, c = near[0, h], near[1, h]
        q = cells[c, QUERY]
        if _is_home(
            boxes, i, queries, q, grid, cells[c, LEVEL], cells[c, X], cells[c, Y], cells[c, Z]
        ) and passes(categories, masks, i, category, mask):
            if found < out.shape[0]:
                put_row(out, found, q, i)
            found += 1
    return found


@inline
def _is_home(boxes, i, queries, q, grid, level, x, y, z):
    """Whether the lower corner of the intersection of a box and a query is in this cell of its level."""
    _, _, lattice, levels, table = grid
    home = cell_of(max(float(boxes[i, 0]), queries[q, 0]), lattice, level, 0) == x
    home &= cell_of(max(float(boxes[i, 1]), queries[q, 1]), lattice, level, 1) == y
    if boxes.shape[1] == 6:
        home &= cell_of(max(float(boxes[i, 2]), queries[q, 2]), lattice, level, 2) == z
    # A slot of a hash table may hold boxes of several levels.
    return home and (table == 0 or levels[i] == level)


@inline
def _look_at_all(source, levels, level, queries, q, out, found, touching):
    boxes, end, categories, masks, category, mask = source
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
def mark_overlaps(boxes, end, grid, level, queries, q, span, touching, words):
    """Mark the boxes of a level in a range of cells that overlap query ``q``; returns the tests."""
    heads, pool, lattice, levels, table = grid
    dim = boxes.shape[1] // 2
    query = queries[q]
    tests = np.int64(0)
    x0, x1, y0, y1, z0, z1 = span
    for z in range(z0, z1 + 1):
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                at = np.int64(heads[unsigned(place_of(x, y, z, lattice, level, table))]) * UNIT
                if at == 0:
                    continue
                first, stop = at + HEADER, at + HEADER + pool[at]
                tests += stop - first
                if table > 0:
                    # A slot of a hash table may hold boxes of other cells and of several levels.
                    for k in range(first, stop):
                        meets = box_meets(boxes, pool[k], query, touching) & (levels[pool[k]] == level)
                        mark(words, end, pool[k], meets)
                elif x0 < x < x1 and y0 < y < y1 and (dim == 2 or z0 < z < z1):
                    # Cell numbers never decrease along an axis: a box in a cell strictly between the first
                    # and the last cell of the query is inside the query on that axis.
                    for k in range(first, stop):
                        mark(words, end, pool[k], True)
                else:
                    for k in range(first, stop):
                        mark(words, end, pool[k], box_meets(boxes, pool[k], query, touching))
    return tests


@inline
def _report_marked(source, q, words, most, out, found):
    """Write the rows of the marked boxes (at most ``most``), in order, and clear the marks.

    Returns how many rows are found so far.
    """
    _, end, categories, masks, category, mask = source
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


# -----------------------------------------------------------------------------------------------------------
# Rays: a walk through the cells that the ray crosses, in order.
#
# The walk is that of Amanatides and Woo ("A fast voxel traversal algorithm for ray tracing", 1987), in a form
# that rounding cannot break: the ray is divided into slabs, one for each cell of its main axis.  In each slab
# the cells on the other axes are computed from the points where the ray enters and leaves it, slightly
# widened.  The outermost cells of a grid extend to infinity, because boxes outside are clamped into them.


# A relative tolerance far larger than the rounding error of where the ray crosses the border of a cell.
DOUBT = 1e-14
# An absolute tolerance: smaller than every cell, larger than the error of a product that underflows.
TINY = 1e-305
HUGE = 1e307


@jit
def walk_rays(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    rays, begin, ray, cell, first_only, best, nearest, out, touching, category, mask,
):  # fmt: skip
    """Hits of the rays from ``begin`` on; returns the next ray, the rows and the tests.

    ``first_only``: lower ``best[q]`` and ``nearest[q]`` to the first hit and its distance.  Otherwise write
    rows ``[ray, id]`` until ``out`` is full; a box in several cells may be written several times.
    ``ray``, as long as a row of ``rays``, and ``cell``, three int64, are scratch.
    """
    source = (boxes, end, categories, masks, category, mask)
    grid = (heads, pool, lattice, levels, table)
    rows = np.int64(0)  # not a plain 0: Numba would compile the helpers once more for it
    tests = 0
    for q in range(begin, rays.shape[0]):
        set_ray(rays[q], ray)
        found = rows
        made = 0
        for level in range(lattice.shape[0]):
            if lattice[level, BOXES] > 0:
                found, here = walk_level(
                    source, grid, level, ray, q, cell, first_only, best, nearest, out, found, touching
                )
                made += here
        if found > out.shape[0]:
            return q, rows, tests
        rows = found
        tests += made
    return rays.shape[0], rows, tests


@common
def walk_level(source, grid, level, ray, q, cell, first_only, best, nearest, out, found, touching):
    """Search one level; returns how many rows are found so far, and the tests."""
    boxes, end, _, _, _, _ = source
    heads, pool, lattice, levels, table = grid
    dim = boxes.shape[1] // 2
    max_distance = ray[2 * dim]
    if first_only:
        max_distance = min(max_distance, nearest[q] * (1.0 + DOUBT))
    main = np.int64(0)
    for axis in range(1, dim):
        if abs(ray[dim + axis]) > abs(ray[dim + main]):
            main = np.int64(axis)
    second = (main + 1) % dim
    third = (main + 2) % dim  # in 2-D this is the main axis again, and it is not used
    forward = ray[dim + main] > 0.0
    size = 1.0 / lattice[level, PER_UNIT]
    pace, second_pace = _pace(ray[dim + main]), _pace(ray[dim + second])
    tests = 0
    cell[2] = 0

    first, last = _cells_between(lattice, level, ray, dim, main, 0.0, max_distance)
    low, high = max(first, int(lattice[level, LOWEST + main])), min(last, int(lattice[level, HIGHEST + main]))
    around, beyond = _cells_between(lattice, level, ray, dim, second, 0.0, max_distance)
    steps = float(high - low + 1) + float(
        min(beyond, int(lattice[level, HIGHEST + second])) - max(around, int(lattice[level, LOWEST + second]))
    )
    if steps > end:
        for i in range(end):
            if levels[i] == level:
                tests += 1
                found = _meet_box(source, i, ray, q, first_only, best, nearest, out, found, touching)
        return found, tests

    for turn in range(high - low + 1):
        k = low + turn if forward else high - turn
        enters, leaves = _stay(lattice, level, ray, main, k, first, last, 0.0, max_distance, size, pace)
        if first_only and enters > nearest[q]:
            break
        cell[main] = k
        first_row, last_row = _cells_between(lattice, level, ray, dim, second, enters, leaves)
        for row in range(
            max(first_row, int(lattice[level, LOWEST + second])),
            min(last_row, int(lattice[level, HIGHEST + second])) + 1,
        ):
            cell[second] = row
            first_layer = last_layer = 0
            if dim == 3:
                comes, goes = _stay(
                    lattice, level, ray, second, row, first_row, last_row, enters, leaves, size, second_pace
                )
                first_layer, last_layer = _cells_between(lattice, level, ray, dim, third, comes, goes)
                first_layer = max(first_layer, int(lattice[level, LOWEST + third]))
                last_layer = min(last_layer, int(lattice[level, HIGHEST + third]))
            for layer in range(first_layer, last_layer + 1):
                if dim == 3:
                    cell[third] = layer
                at = np.int64(heads[place_of(cell[0], cell[1], cell[2], lattice, level, table)]) * UNIT
                if at == 0:
                    continue
                count = np.int64(pool[at])
                tests += count
                for entry in range(at + HEADER, at + HEADER + count):
                    i = np.int64(pool[entry])
                    if levels[i] == level:
                        found = _meet_box(source, i, ray, q, first_only, best, nearest, out, found, touching)
    return found, tests


@inline
def _meet_box(source, i, ray, q, first_only, best, nearest, out, found, touching):
    boxes, _, categories, masks, category, mask = source
    distance = ray_distance(boxes, i, ray, touching)
    if distance >= 0.0 and passes(categories, masks, i, category, mask):
        if first_only:
            if distance < nearest[q] or (distance == nearest[q] and i < best[q]):
                nearest[q] = distance
                best[q] = i
        else:
            if found < out.shape[0]:
                put_row(out, found, q, i)
            found += 1
    return found


@inline
def _cells_between(lattice, level, ray, dim, axis, enters, leaves):
    """Lowest and highest cell on an axis between two times of the ray."""
    at = ray[axis]
    step = ray[dim + axis]
    if step == 0.0:
        cell = cell_of(at, lattice, level, axis)
        return cell, cell
    low = at + enters * step
    high = at + leaves * step
    if step < 0.0:
        low, high = high, low
    low = min(low, HUGE)  # if the sum overflowed, inf - inf would be NaN
    high = max(high, -HUGE)
    low -= DOUBT * (abs(at) + abs(low)) + TINY
    high += DOUBT * (abs(at) + abs(high)) + TINY
    return cell_of(low, lattice, level, axis), cell_of(high, lattice, level, axis)


@inline
def _pace(step):
    """The time a ray takes for one unit along an axis; 0 if it does not move along it."""
    return 0.0 if step == 0.0 else 1.0 / step


@inline
def _stay(lattice, level, ray, axis, k, first, last, enters, leaves, size, pace):
    """The times at which the ray enters and leaves slab ``k`` of an axis, for slabs ``first`` to ``last``."""
    if pace == 0.0:
        return enters, leaves
    origin = lattice[level, axis]
    for upper in range(2):
        # The slab's lower border is its end if the ray moves down; the outermost slabs have no border.
        if (k == last) if upper == 1 else (k == first):
            continue
        border = origin + (k + upper) * size
        doubt = DOUBT * (abs(border) + abs(ray[axis]) + abs(origin)) * abs(pace)
        time = (border - ray[axis]) * pace
        # If this overflows (inf - inf or 0 * inf), the comparison leaves the time unchanged.
        if (upper == 0) == (pace > 0.0):
            if time - doubt > enters:
                enters = time - doubt
        elif time + doubt < leaves:
            leaves = time + doubt
    return enters, leaves


# -----------------------------------------------------------------------------------------------------------
# The nearest boxes: the cells around a point, ring by ring, until no further ring can hold a nearer box.


# A relative tolerance far larger than the rounding error of the distance to the border of a cell.
DOUBT_OF_DISTANCES = 1e-13


@jit
def search_nearest(
    boxes, end, categories, masks, heads, pool, lattice, levels, table,
    points, ids, distances, kept, done, category, mask,
):  # fmt: skip
    """Offer the boxes in these cells to the ``k`` nearest of each point; returns the tests.

    ``ids`` and ``distances`` are ``(m, k)`` heaps of which ``kept`` entries each are filled; ``done`` is
    scratch, one for each level.
    """
    source = (boxes, end, categories, masks, category, mask)
    grid = (heads, pool, lattice, levels, table)
    tests = 0
    for q in range(points.shape[0]):
        kept[q], made = search_levels(source, grid, points[q], ids[q], distances[q], kept[q], done)
        tests += made
    return tests


@common
def search_levels(source, grid, point, ids, distances, kept, done):
    """Search all levels for one point; returns how many are kept now, and the tests."""
    lattice = grid[2]
    tests = np.int64(0)
    for level in range(lattice.shape[0]):
        done[level] = lattice[level, BOXES] == 0
    for _ in range(lattice.shape[0]):
        # The level with the most boxes first: its results limit how far the others are searched.
        fullest = np.int64(-1)  # np.int64(-1) and not -1: see `search_boxes`
        for level in range(lattice.shape[0]):
            if not done[level] and (fullest < 0 or lattice[level, BOXES] > lattice[fullest, BOXES]):
                fullest = np.int64(level)
        if fullest < 0:
            break
        done[fullest] = True
        kept, made = _search_rings(source, grid, fullest, point, ids, distances, kept)
        tests += made
    return kept, tests


@common
def _search_rings(source, grid, level, point, ids, distances, kept):
    """Search one level; returns how many are kept now, and the tests."""
    boxes, end, categories, masks, category, mask = source
    heads, pool, lattice, levels, table = grid
    deep = boxes.shape[1] == 6
    x = cell_of(point[0], lattice, level, 0)
    y = cell_of(point[1], lattice, level, 1)
    z = cell_of(point[2], lattice, level, 2) if deep else 0
    low_x, high_x = int(lattice[level, LOWEST]), int(lattice[level, HIGHEST])
    low_y, high_y = int(lattice[level, LOWEST + 1]), int(lattice[level, HIGHEST + 1])
    low_z, high_z = int(lattice[level, LOWEST + 2]), int(lattice[level, HIGHEST + 2])
    ring = max(low_x - x, x - high_x, low_y - y, y - high_y, low_z - z, z - high_z, 0)
    last_ring = max(x - low_x, high_x - x, y - low_y, high_y - y, z - low_z, high_z - z)
    tests = 0
    visited = 0.0
    while ring <= last_ring:
        if kept == ids.shape[0] and _ring_distance(lattice, level, point, x, y, z, ring) > distances[0]:
            break
        x0, x1 = max(x - ring, low_x), min(x + ring, high_x)
        y0, y1 = max(y - ring, low_y), min(y + ring, high_y)
        z0, z1 = max(z - ring, low_z), min(z + ring, high_z)
        wide, high, thick = float(x1 - x0 + 1), float(y1 - y0 + 1), float(z1 - z0 + 1)
        sides = 2.0 * (wide * high + wide * thick) + 2.0 * high * thick if deep else 2.0 * (wide + high)
        visited += min(wide * high * thick, sides)
        if visited > end:
            # The rings hold more cells than the level has boxes: compare all boxes that were not seen yet.
            for i in range(end):
                if levels[i] == level:
                    nx, ny, nz = _nearest_cell(boxes, i, lattice, level, x, y, z)
                    if max(abs(nx - x), abs(ny - y), abs(nz - z)) >= ring:
                        tests += 1
                        if passes(categories, masks, i, category, mask):
                            distance = distance_to_box(boxes, i, point)
                            kept = keep_nearest(distances, ids, kept, distance, i)
            break
        for cz in range(z0, z1 + 1):
            for cy in range(y0, y1 + 1):
                whole = abs(cz - z) == ring or abs(cy - y) == ring
                step = 1 if whole else max(2 * ring, 1)
                cx = x0 if whole or x0 == x - ring else x + ring
                while cx <= x1:
                    at = np.int64(heads[place_of(cx, cy, cz, lattice, level, table)]) * UNIT
                    if at > 0:
                        count = np.int64(pool[at])
                        tests += count
                        for k in range(at + HEADER, at + HEADER + count):
                            i = np.int64(pool[k])
                            # Count a box once: in the one of its cells that is nearest to the middle, which
                            # is reached first.
                            if levels[i] == level and passes(categories, masks, i, category, mask):
                                nx, ny, nz = _nearest_cell(boxes, i, lattice, level, x, y, z)
                                if nx == cx and ny == cy and nz == cz:
                                    distance = distance_to_box(boxes, i, point)
                                    kept = keep_nearest(distances, ids, kept, distance, i)
                    cx += step
        ring += 1
    return kept, tests


@inline
def _nearest_cell(boxes, i, lattice, level, x, y, z):
    """The cell of box ``i`` that is nearest to the given cell on every axis."""
    span = span_of(boxes, i, lattice, level)
    return min(max(x, span.x0), span.x1), min(max(y, span.y0), span.y1), min(max(z, span.z0), span.z1)


@inline
def _ring_distance(lattice, level, point, x, y, z, ring):
    """A lower bound for the distance of a box that is first seen in this ring."""
    size = 1.0 / lattice[level, PER_UNIT]
    nearest = np.inf
    for axis in range(point.shape[0]):
        middle = x if axis == 0 else (y if axis == 1 else z)
        origin = lattice[level, axis]
        if middle + ring <= lattice[level, HIGHEST + axis]:
            border = origin + (middle + ring) * size
            doubt = DOUBT_OF_DISTANCES * (abs(border) + abs(point[axis]) + abs(origin))
            nearest = min(nearest, border - point[axis] - doubt)
        if middle - ring >= lattice[level, LOWEST + axis]:
            border = origin + (middle - ring + 1) * size
            doubt = DOUBT_OF_DISTANCES * (abs(border) + abs(point[axis]) + abs(origin))
            nearest = min(nearest, point[axis] - border - doubt)
    return nearest * (1.0 - DOUBT_OF_DISTANCES) if nearest > 0.0 else nearest


# -----------------------------------------------------------------------------------------------------------
# A single query in one call: read the arguments as the caller wrote them, search, return the result.
#
# Each kernel takes the query as tuples of numbers and checks it first (`broadphase.kernels.boxes.checks`).
# Tests of -1 mean that the query is invalid or of another dimension.  Queries with categories have their own
# calls.


_NO_RULE = np.int64(-1)
_IDS_PER_CELL_OF_ONE = 16_384

# The outcome of a move: refused; done; or done, but the box is in no cell because the pool is full.
REFUSED, MOVED, HOMELESS = range(3)


@holds_gil
@numbers(values=(4, 6))
def query_box(boxes, end, heads, pool, lattice, levels, table, words, values, touching):
    """Ids that meet a box, sorted if they are few; returns ``ids, tests``.

    ``words`` are zeros before and after (`broadphase.kernels.arrays.results.words_for`), followed by one word
    that is a lock: threads may share them, and a call that finds them in use returns tests of -2.
    """
    query = one_row(len(values), np.float64)
    if not take_box(values, boxes, query):
        return result(0, np.int32), np.int64(-1)
    end = np.int64(min(end, len(levels)))
    grid = (heads, pool, lattice, levels, table)
    if _is_wide(end, lattice, query):
        own = len(words) - 1
        if not claim(words, own):
            return result(0, np.int32), np.int64(-2)
        ids, tests = _marked(boxes, end, grid, query, touching, words)
        let_go(words, own)
        return ids, tests
    out = many(STACK_CAPACITY, np.int32)
    found, tests = _meet_all(boxes, end, grid, query, touching, out)
    if found <= STACK_CAPACITY:
        return finished(out, found), tests
    ids = result(found, np.int32)
    _meet_all(boxes, end, grid, query, touching, ids)
    return ids, tests


@inline
def _is_wide(end, lattice, query):
    """Whether the query covers so many cells that marking ids is cheaper than comparing lower corners.

    At least one cell for 16,384 ids: the marks, one bit each, have to be cleared first.
    """
    covered = 0.0
    for level in range(lattice.shape[0]):
        if lattice[level, BOXES] > 0:
            covered += _count_cells(_covered(query, 0, lattice, level))
    return max(NARROW, end / _IDS_PER_CELL_OF_ONE) < covered <= end


@inline
def _marked(boxes, end, grid, query, touching, words):
    """Ids that meet a wide query, in order; returns ``ids, tests``."""
    lattice = grid[2]
    tests = np.int64(0)
    for level in range(lattice.shape[0]):
        if lattice[level, BOXES] == 0:
            continue
        span = _covered(query, 0, lattice, level)
        if _count_cells(span) > 0.0:
            tests += mark_overlaps(boxes, end, grid, level, query, np.int64(0), span, touching, words)
    ids = result(count_marked(words, end), np.int32)
    put_marked(words, end, ids, np.int64(0), np.int64(0))
    return ids, tests


@inline
def _meet_all(boxes, end, grid, query, touching, out):
    """Write ids into ``out`` until it is full; returns how many boxes meet the query, and the tests."""
    heads, pool, lattice, levels, table = grid
    found = tests = np.int64(0)
    for level in range(lattice.shape[0]):
        if lattice[level, BOXES] == 0:
            continue
        span = _covered(query, 0, lattice, level)
        covered = _count_cells(span)
        if covered == 0.0:
            continue
        if covered > end:
            for k in range(end):
                i = unsigned(k)
                if levels[i] == level:
                    tests += 1
                    if box_meets(boxes, i, query[0], touching):
                        if found < len(out):
                            out[found] = i
                        found += 1
            continue
        for z in range(span.z0, span.z1 + 1):
            for y in range(span.y0, span.y1 + 1):
                for x in range(span.x0, span.x1 + 1):
                    at = np.int64(heads[unsigned(place_of(x, y, z, lattice, level, table))]) * UNIT
                    if at == 0:
                        continue
                    count = np.int64(pool[at])
                    tests += count
                    for entry in range(at + HEADER, at + HEADER + count):
                        i = unsigned(pool[unsigned(entry)])
                        meets = box_meets(boxes, i, query[0], touching)
                        if meets and _is_home(boxes, i, query, 0, grid, level, x, y, z):
                            if found < len(out):
                                out[found] = i
                            found += 1
    return found, tests


@holds_gil
@numbers(origin=(2, 3), direction=(2, 3))
def query_ray(boxes, end, heads, pool, lattice, levels, table, origin, direction, max_distance, touching):
    """The first box that a ray hits, or -1; returns ``id, tests, distance`` and the normal's components."""
    values = few(2 * len(origin) + 1, np.float64)
    if not take_ray(origin, direction, max_distance, boxes, values):
        return np.int64(-1), np.int64(-1), 0.0, 0.0, 0.0, 0.0
    ray = few(2 * len(origin) + 1, np.float64)
    set_ray(values, ray)
    best, nearest = few(1, np.int32), few(1, np.float64)
    no_sets, no_rows = few(0, np.uint32), some_rows(0, 2, np.int32)
    best[0], nearest[0] = -1, np.inf
    cell = few(3, np.int64)
    cell[0] = cell[1] = cell[2] = 0
    source = (boxes, min(end, len(levels)), no_sets, no_sets, _NO_RULE, _NO_RULE)
    grid = (heads, pool, lattice, levels, table)
    tests = np.int64(0)
    for level in range(lattice.shape[0]):
        if lattice[level, BOXES] > 0:
            _, made = walk_level(
                source, grid, level, ray, 0, cell, True, best, nearest, no_rows, np.int64(0), touching
            )
            tests += made
    hit = np.int64(best[0])
    if hit < 0:
        return hit, tests, 0.0, 0.0, 0.0, 0.0
    normal = few(3, np.float64)
    normal[2] = 0.0
    distance = ray_distance(boxes, hit, ray, True)
    write_normal(boxes, hit, ray, distance, normal)
    return int(hit), tests, distance, float(normal[0]), float(normal[1]), float(normal[2])


@holds_gil
@numbers(values=(2, 3))
def query_nearest(boxes, end, heads, pool, lattice, levels, table, values, k):
    """The ``k`` nearest boxes by distance, then id; returns ``ids, distances, tests``."""
    point = few(len(values), np.float64)
    ids, distances = result(k, np.int32), result(k, np.float64)
    if not take_point(values, boxes, point):
        return ids, distances, np.int64(-1)
    done = many(MOST_LEVELS, np.bool_)
    no_sets = few(0, np.uint32)
    source = (boxes, min(end, len(levels)), no_sets, no_sets, _NO_RULE, _NO_RULE)
    grid = (heads, pool, lattice, levels, table)
    kept, tests = search_levels(source, grid, point, ids, distances, np.int64(0), done)
    sort_by_distance(distances, ids, kept)
    return ids[:kept], distances[:kept], tests


@holds_gil
@numbers(values=(4, 6))
def move_box(boxes, alive, end, heads, pool, tally, lattice, levels, table, i, values):
    """Give box ``i`` a new row, and put it into its new cells."""
    rows = one_row(len(values), boxes.dtype)
    if i < 0 or i >= end or not alive[i] or not take_box(values, boxes, rows):
        return REFUSED
    ids, rebinned = few(1, np.int32), few(2, np.int64)
    places = few(MOST_PLACES, np.int64)
    ids[0] = i
    changes = find_rebinned(boxes, ids, rows, lattice, levels, table, rebinned) > 0
    if changes:
        leave_cells(boxes, ids, heads, pool, tally, lattice, levels, table, places)
    for column in range(boxes.shape[1]):
        boxes[i, column] = rows[0, column]
    if changes:
        lists = (heads, pool, tally, lattice, levels, table, places)
        if enter_boxes(boxes, ids, np.int64(0), np.int64(1), *lists) == 0:
            return HOMELESS
    return MOVED
