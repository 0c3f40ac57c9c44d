"""Queries of boxes in cells: what overlaps a box, what a ray hits, what is nearest to a point.

Each looks into the cells that it touches, and then at the boxes that are in no cell: ``others``, the large
ones and those that moved since all were entered.  The entries of the latter are still where they were;
``listed`` says of each id whether it is one of the others, and so to be skipped in a cell.

A query may touch more cells than there are boxes (a box over the whole world, a ray into empty space).  Then
all boxes are tested instead, so that no query takes longer than by brute force, whatever its coordinates are.

Helpers take ``source``: the boxes, the rules of the query and ``listed``.
"""

import numpy as np

from broadphase.kernels.arrays.results import STACK_CAPACITY, finished, result
from broadphase.kernels.boxes.checks import take_box, take_point, take_ray
from broadphase.kernels.boxes.queries import (
    box_meets,
    distance_to_box,
    is_live,
    keep_nearest,
    nearer,
    passes,
    ray_distance,
    set_ray,
    sort_by_distance,
    write_normal,
)
from broadphase.kernels.cells.bins import BOX, NEXT, Span, cell_of, count_cells, place_of, span_of
from broadphase.kernels.machine.jit import common, holds_gil, inline, jit, numbers
from broadphase.kernels.machine.memory import few, many, one_row, some_rows

# -----------------------------------------------------------------------------------------------------------
# Boxes: the owner cell of box and query reports a box that lies in several of the cells.


@jit
def search_boxes(
    boxes, categories, masks, bins, listed, others, queries, begin, out, touching, category, mask
):
    """Rows ``[query, id]`` of the queries from ``begin`` on, until ``out`` is full.

    Returns the next query, the rows and the tests.  A query is answered completely or not at all.
    """
    source = (boxes, categories, masks, listed, category, mask)
    rows = np.int64(0)  # not 0: Numba would compile the helpers a second time for the constant
    tests = np.int64(0)
    for q in range(begin, queries.shape[0]):
        found, made = _search(source, bins, others, queries, q, touching, out, rows)
        if found > out.shape[0]:
            return q, rows, tests
        rows = found
        tests += made
    return queries.shape[0], rows, tests


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


# -----------------------------------------------------------------------------------------------------------
# Rays: a walk through the cells along the ray.
#
# The walk of Amanatides and Woo ("A fast voxel traversal algorithm for ray tracing", 1987), column by column:
# from the times at which the ray enters and leaves a column of its main axis follow the cells that it crosses
# there.  They are computed a little too wide, which rounding cannot break.  The outermost cells of a lattice
# extend to infinity, because boxes beyond are clamped into them.

# Relative: far larger than the error of where a ray crosses a border.  Absolute: smaller than every cell, and
# larger than the error of a product that underflows.
DOUBT, TINY = 1e-14, 1e-305
LARGEST = np.finfo(np.float64).max


@jit
def walk_rays(
    boxes, categories, masks, bins, listed, others,
    rays, begin, ray, first_only, best, nearest, out, touching, category, mask,
):  # fmt: skip
    """Hits of the rays from ``begin`` on; returns the next ray, the rows and the tests.

    ``first_only``: lower ``best[q]`` and ``nearest[q]`` to the first hit and its distance.  Otherwise write
    rows ``[ray, id]`` until ``out`` is full; a box in several cells may be written several times.  ``ray`` is
    scratch, as long as a row of ``rays``.
    """
    source = (boxes, categories, masks, listed, category, mask)
    rows = tests = np.int64(0)
    for q in range(begin, rays.shape[0]):
        set_ray(rays[q], ray)
        found, made = _cast(source, bins, others, ray, q, first_only, best, nearest, out, rows, touching)
        if found > out.shape[0]:
            return q, rows, tests
        rows = found
        tests += made
    return rays.shape[0], rows, tests


@holds_gil
@numbers(origin=(2, 3), direction=(2, 3))
def cast_ray(
    boxes, categories, masks, bins, listed, others, origin, direction, max_distance, touching, category, mask
):
    """The box that one ray hits first, or -1; returns ``id, tests, distance`` and the normal's components.

    Tests of -1: the ray is not sound.
    """
    values, ray = few(2 * len(origin) + 1, np.float64), few(2 * len(origin) + 1, np.float64)
    if not take_ray(origin, direction, max_distance, boxes, values):
        return np.int64(-1), np.int64(-1), 0.0, 0.0, 0.0, 0.0
    set_ray(values, ray)
    source = (boxes, categories, masks, listed, category, mask)
    best, nearest, normal = few(1, np.int32), few(1, np.float64), few(3, np.float64)
    best[0], nearest[0], normal[2] = -1, np.inf, 0.0
    none, no_rows = np.int64(0), some_rows(0, 2, np.int32)
    _, tests = _cast(source, bins, others, ray, none, True, best, nearest, no_rows, none, touching)
    hit = np.int64(best[0])
    if hit < 0:
        return hit, tests, 0.0, 0.0, 0.0, 0.0
    distance = ray_distance(boxes, hit, ray, True)
    write_normal(boxes, hit, ray, distance, normal)
    return hit, tests, distance, float(normal[0]), float(normal[1]), float(normal[2])


@inline
def _cast(source, bins, others, ray, q, first_only, best, nearest, out, found, touching):
    """Test what a ray may hit; returns how many are found, and the tests."""
    boxes, categories, masks, _, category, mask = source
    for k in range(others.shape[0]):
        if passes(categories, masks, others[k], category, mask):
            found = _hit(boxes, others[k], ray, q, first_only, best, nearest, out, found, touching)
    tests = np.int64(others.shape[0])
    if bins.small.shape[0] > 0:
        found, made = _walk(source, bins, ray, q, first_only, best, nearest, out, found, touching)
        tests += made
    return found, tests


@inline
def _hit(boxes, i, ray, q, first_only, best, nearest, out, found, touching):
    """Test a box; returns how many are found."""
    distance = ray_distance(boxes, i, ray, touching)
    if distance < 0.0:
        return found
    if not first_only:
        return _put(out, found, q, i)
    if nearer(distance, i, nearest[q], best[q]):
        nearest[q], best[q] = distance, i
    return found


@common
def _walk(source, bins, ray, q, first_only, best, nearest, out, found, touching):
    """Test the boxes in the cells along a ray; returns how many are found, and the tests."""
    boxes, lattice, entries, reach = source[0], bins.lattice, bins.entries, bins.reach
    dim = boxes.shape[1] // 2
    main = 0
    for axis in range(1, dim):
        if abs(ray[dim + axis]) > abs(ray[dim + main]):
            main = axis
    towards = 1 if ray[dim + main] > 0.0 else -1
    low, high = int(reach[0, main]), int(reach[1, main])
    # A column more at each end, should rounding have moved it into the next one.
    begin = cell_of(ray[main], lattice, main) - towards
    end = cell_of(ray[main] + ray[dim + main] * ray[2 * dim], lattice, main) + towards
    column, end = min(max(begin, low), high), min(max(end, low), high)
    first_row = found
    tests = np.int64(0)
    looked = 0.0
    while (end - column) * towards >= 0:
        enters, leaves, doubt = _crossing(lattice, ray, dim, main, column)
        span = _crossed(lattice, reach, ray, dim, main, column, enters, leaves)
        cells = count_cells(span) if enters <= leaves else 0.0
        looked += 1.0 + cells
        if looked > 2.0 * bins.small.shape[0] + 8.0:
            # More cells than boxes: test all boxes instead.
            found = first_row
            for k in range(bins.small.shape[0]):
                if _counts(source, bins.small[k]):
                    found = _hit(
                        boxes, bins.small[k], ray, q, first_only, best, nearest, out, found, touching
                    )
            return found, tests + bins.small.shape[0]
        if cells > 0.0:
            for z in range(span.z0, span.z1 + 1):
                for y in range(span.y0, span.y1 + 1):
                    for x in range(span.x0, span.x1 + 1):
                        entry = bins.heads[place_of(x, y, z, lattice)]
                        while entry != 0:
                            i = entries[entry, BOX]
                            tests += 1
                            if _counts(source, i):
                                found = _hit(
                                    boxes, i, ray, q, first_only, best, nearest, out, found, touching
                                )
                            entry = entries[entry, NEXT]
        # What lies in later columns is hit when the ray is there.
        if first_only and nearest[q] < leaves - 2.0 * doubt:
            break
        column += towards
    return found, tests


@inline
def _crossing(lattice, ray, dim, axis, column):
    """When the ray enters and leaves a column of its main axis, a little early and late; and by how much."""
    origin, size = lattice.origin[axis], 1.0 / lattice.per_unit
    low = origin + column * size if column > lattice.first[axis] else -np.inf
    high = origin + (column + 1) * size if column < lattice.last[axis] else np.inf
    pace = 1.0 / ray[dim + axis]
    reached = abs(origin) + abs(ray[axis])
    if low > -np.inf:
        reached = max(reached, abs(origin) + abs(ray[axis]) + abs(low))
    if high < np.inf:
        reached = max(reached, abs(origin) + abs(ray[axis]) + abs(high))
    doubt = DOUBT * reached * abs(pace) + TINY
    near, far = (low, high) if pace > 0.0 else (high, low)
    enters = (near - ray[axis]) * pace - doubt
    leaves = (far - ray[axis]) * pace + doubt
    return max(enters, 0.0), min(leaves, ray[2 * dim]), doubt


@inline
def _crossed(lattice, reach, ray, dim, main, column, enters, leaves):
    """The cells of a column that the ray crosses between two times, among those in use."""
    x0, x1 = _crossed_on(lattice, ray, dim, 0, enters, leaves)
    y0, y1 = _crossed_on(lattice, ray, dim, 1, enters, leaves)
    z0, z1 = np.int64(0), np.int64(0)
    if dim == 3:
        z0, z1 = _crossed_on(lattice, ray, dim, 2, enters, leaves)
    if main == 0:
        x0 = x1 = np.int64(column)
    elif main == 1:
        y0 = y1 = np.int64(column)
    else:
        z0 = z1 = np.int64(column)
    return _within_reach(Span(x0, x1, y0, y1, z0, z1), reach)


@inline
def _crossed_on(lattice, ray, dim, axis, enters, leaves):
    """The first and the last cell on one axis."""
    at, step = ray[axis], ray[dim + axis]
    a = b = at
    if step != 0.0:
        a = min(max(at + enters * step, -LARGEST), LARGEST)
        b = min(max(at + leaves * step, -LARGEST), LARGEST)
    doubt = DOUBT * (abs(a) + abs(b) + abs(at) + abs(lattice.origin[axis])) + TINY
    return cell_of(min(a, b) - doubt, lattice, axis), cell_of(max(a, b) + doubt, lattice, axis)


# -----------------------------------------------------------------------------------------------------------
# The nearest boxes: rings of cells around a point, until no further ring can hold a nearer box.


@jit
def search_nearest(
    boxes, categories, masks, bins, listed, others, points, ids, distances, kept, category, mask
):  # fmt: skip
    """Offer boxes to the ``k`` nearest of each point; returns the tests.

    ``ids`` and ``distances`` are ``(m, k)`` heaps of which ``kept`` entries each are filled.
    """
    source = (boxes, categories, masks, listed, category, mask)
    tests = np.int64(0)
    for q in range(points.shape[0]):
        kept[q], made = _look_around(source, bins, others, points[q], ids[q], distances[q], kept[q])
        tests += made
    return tests


@holds_gil
@numbers(values=(2, 3))
def nearest_to(boxes, categories, masks, bins, listed, others, values, k, category, mask):
    """The ``k`` boxes nearest to one point by distance, then id; returns ``ids, distances, tests``.

    Tests of -1: the point is not sound.
    """
    point = few(len(values), np.float64)
    ids, distances = result(k, np.int32), result(k, np.float64)
    if not take_point(values, boxes, point):
        return ids, distances, np.int64(-1)
    source = (boxes, categories, masks, listed, category, mask)
    kept, tests = _look_around(source, bins, others, point, ids, distances, np.int64(0))
    sort_by_distance(distances, ids, kept)
    return ids[:kept], distances[:kept], tests


@inline
def _look_around(source, bins, others, point, ids, distances, kept):
    """Offer boxes to the nearest of a point; returns how many are kept, and the tests."""
    boxes, categories, masks, _, category, mask = source
    for k in range(others.shape[0]):
        i = others[k]
        if is_live(boxes, i) and passes(categories, masks, i, category, mask):
            kept = keep_nearest(distances, ids, kept, distance_to_box(boxes, i, point), i)
    tests = np.int64(others.shape[0])
    if bins.small.shape[0] > 0:
        kept, made = _search_rings(source, bins, point, ids, distances, kept)
        tests += made
    return kept, tests


@common
def _search_rings(source, bins, point, ids, distances, kept):
    """Offer the boxes in cells; returns how many are kept, and the tests."""
    boxes, lattice, entries, reach = source[0], bins.lattice, bins.entries, bins.reach
    deep = boxes.shape[1] == 6
    x, y = cell_of(point[0], lattice, 0), cell_of(point[1], lattice, 1)
    z = cell_of(point[2], lattice, 2) if deep else np.int64(0)
    x0, x1, y0, y1, z0, z1 = _within_reach(Span(x, x, y, y, z, z), reach)
    # From the point to the cells in use, and to the farthest of them.
    ring = max(x0 - x, x - x1, y0 - y, y - y1, z0 - z, z - z1, 0)
    low_x, high_x, low_y, high_y = int(reach[0, 0]), int(reach[1, 0]), int(reach[0, 1]), int(reach[1, 1])
    low_z, high_z = int(reach[0, 2]), int(reach[1, 2])
    last = max(x - low_x, high_x - x, y - low_y, high_y - y, z - low_z, high_z - z)
    tests = np.int64(0)
    looked = 0.0
    while ring <= last:
        if kept == ids.shape[0] and ring > 0:
            if _ring_distance(lattice, reach, point, x, y, z, ring) > distances[0]:
                break
        x0, x1 = max(x - ring, low_x), min(x + ring, high_x)
        y0, y1 = max(y - ring, low_y), min(y + ring, high_y)
        z0, z1 = max(z - ring, low_z), min(z + ring, high_z)
        wide, tall, thick = float(x1 - x0 + 1), float(y1 - y0 + 1), float(z1 - z0 + 1)
        sides = wide * tall + wide * thick + tall * thick if deep else wide + tall
        looked += min(wide * tall * thick, 2.0 * sides)
        if looked > bins.small.shape[0] + 16.0:
            # More cells than boxes: test those that no ring has reached yet.
            for k in range(bins.small.shape[0]):
                i = bins.small[k]
                if is_live(boxes, i) and _counts(source, i):
                    nx, ny, nz = _nearest_cell(boxes, i, lattice, x, y, z)
                    if max(abs(nx - x), abs(ny - y), abs(nz - z)) >= ring:
                        tests += 1
                        kept = keep_nearest(distances, ids, kept, distance_to_box(boxes, i, point), i)
            break
        for cz in range(z0, z1 + 1):
            for cy in range(y0, y1 + 1):
                whole = abs(cz - z) == ring or abs(cy - y) == ring
                cx = x0 if whole or x0 == x - ring else x + ring
                while cx <= x1:
                    entry = bins.heads[place_of(cx, cy, cz, lattice)]
                    while entry != 0:
                        i = entries[entry, BOX]
                        tests += 1
                        if is_live(boxes, i) and _counts(source, i):
                            # A box counts in the one of its cells that is nearest, which is reached first.
                            nx, ny, nz = _nearest_cell(boxes, i, lattice, x, y, z)
                            if nx == cx and ny == cy and nz == cz:
                                kept = keep_nearest(distances, ids, kept, distance_to_box(boxes, i, point), i)
                        entry = entries[entry, NEXT]
                    cx += 1 if whole else max(2 * ring, 1)
        ring += 1
    return kept, tests


@inline
def _nearest_cell(boxes, i, lattice, x, y, z):
    """The cell of box ``i`` that is nearest to the given cell on every axis."""
    span = span_of(boxes, i, lattice)
    return min(max(x, span.x0), span.x1), min(max(y, span.y0), span.y1), min(max(z, span.z0), span.z1)


@inline
def _ring_distance(lattice, reach, point, x, y, z, ring):
    """A lower bound for the distance of a box that is first seen in this ring."""
    size = 1.0 / lattice.per_unit
    nearest = np.inf
    for axis in range(point.shape[0]):
        middle = x if axis == 0 else (y if axis == 1 else z)
        origin = lattice.origin[axis]
        below, above = origin + (middle - ring + 1) * size, origin + (middle + ring) * size
        doubt = 10.0 * DOUBT * (max(abs(below), abs(above)) + abs(point[axis]) + abs(origin))
        if middle + ring <= reach[1, axis]:
            nearest = min(nearest, above - point[axis] - doubt)
        if middle - ring >= reach[0, axis]:
            nearest = min(nearest, point[axis] - below - doubt)
    return nearest * (1.0 - 10.0 * DOUBT) if nearest > 0.0 else nearest
