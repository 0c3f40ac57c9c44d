"""Queries of shapes whose boxes are in trees: the first on a ray, and the nearest to a point; one or many.

``trees`` are two of ``edges, children, boxes, names``: box ``i`` of a tree is around shape ``names[i]``.
"""

import math

import numpy as np

from broadphase.kernels.arrays.passes import answers_at
from broadphase.kernels.arrays.results import STACK_CAPACITY, STACK_ROWS, larger, result, sort_few
from broadphase.kernels.boxes.queries import insert_nearest, ray_distance, set_array
from broadphase.kernels.machine.floats import next_up
from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import holds_gil, inline, jit, numbers, objects, rows
from broadphase.kernels.machine.memory import few, many, one_row, some_rows, with_columns
from broadphase.kernels.machine.objects import append_items, length_of, read_numbers
from broadphase.kernels.machine.simd import lowest_lane
from broadphase.kernels.shapes.contact import contact_of
from broadphase.kernels.shapes.queries import (
    distance_of,
    fits,
    is_box_crossed,
    place_nearest,
    ray_of,
)
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns, bounds_of, bounds_overlap
from broadphase.kernels.tree.dynamic_tree import (
    NODE_0,
    WIDTH,
    child_of,
    push_roots,
    stack_by_key,
    stack_size,
)
from broadphase.kernels.tree.queries import (
    find_candidates,
    prepare_rays,
    reach_of,
    set_limits,
    sides_entered,
    slots_hit,
    squares_of,
)

# A shape's distance is computed from the shape and not from its box: by rounding it may be less than that of
# the box.  Nodes are kept that are farther by this much of the coordinates.
_ROUNDING = 1e-9
_OFTEN = 1 << 14  # what is wanted of points between two looks for signals: 20 ms
_FARTHEST = 2.0**1000
_NO_WAY = math.nan, math.nan
NO_ROW = np.int64(-1)
REFUSED = np.int64(-3)
"""What kernels answer that check a single query: its numbers are not sound, or it finds too much."""


@inline
def _is_far(x, y):
    """Whether a place is not finite, or so far away that sums with it may not be."""
    return not (abs(x) < _FARTHEST and abs(y) < _FARTHEST)


# -----------------------------------------------------------------------------------------------------------
# The shapes that overlap a box or hold a point.


@inline
def _put_near(trees, waiting, bits, limits, queue, shapes, candidates):
    """Write the rows of the shapes whose bounds overlap a box, in any order; how many, or `REFUSED`.

    ``limits``, the box, and ``queue`` are one row each, and are written to; ``bits`` say which trees count.
    ``waiting`` are shapes that are not where trees have them: those that are listed, the list of each tree,
    how long each list is and all are, which shapes are alive, and in which tree (a bit of the layer).
    """
    (listed, changed, counts, alive, layer), box = waiting, limits[NODE_0]
    bounds, none_waits = (box[0], box[1], box[2], box[3]), counts[counts.shape[0] - 1] == 0
    set_limits(limits[NODE_0], False, limits, NODE_0)
    no_sets, count, bit = few(0, np.uint32), np.int64(0), 1
    for edges, children, boxes, names in trees:
        if bits & bit != 0:
            source = (edges, children, boxes, no_sets, no_sets, np.int64(-1), np.int64(-1))
            first, last, _ = find_candidates(source, limits, np.int64(1), queue, False)
            if first < 0 or count + (last - first) > candidates.shape[0]:
                return REFUSED
            for entry in range(first, last):
                row = names[queue[0, entry]]
                candidates[count] = row
                count += np.int64(none_waits or listed[row] & bits == 0)
        bit *= 2
    for index in range(changed.shape[0]):
        for k in range(counts[index] if bits & (1 << index) != 0 else 0):
            row = changed[index, k]
            is_first = listed[row] & bits & ((1 << index) - 1) == 0  # it may be in several lists
            there = alive[row] and bits & (1 << (layer[row] & 1)) != 0
            if is_first and there and bounds_overlap(bounds, bounds_of(shapes, row)):
                if count == candidates.shape[0]:
                    return REFUSED
                candidates[count] = row
                count += 1
    return count


@holds_gil
@numbers(values=(4,))
def put_in_box(trees, waiting, bits, values, shapes, candidates):
    """`_put_near` for a box."""
    limits, queue = one_row(4, np.float64), some_rows(1, STACK_CAPACITY, np.int32)
    set_array(values, limits[NODE_0])
    return _put_near(trees, waiting, bits, limits, queue, shapes, candidates)


@inline
def _overlapping(trees, waiting, limits, queue, query, shapes, rules, candidates):
    """Write the shapes that overlap shape 0 of ``query``, sorted; how many, or `REFUSED`.

    ``limits``, its bounds, and ``queue`` are one row each, and are written to.
    """
    found, count = _put_near(trees, waiting, 3, limits, queue, shapes, candidates[0]), np.int64(0)
    for k in range(found):
        row = candidates[0, k]
        known = query.kinds[0] == BOX and shapes.kinds[row] == BOX
        if fits(rules, row) and (known or contact_of(query, 0, shapes, row, False)[0]):
            candidates[0, count] = row
            count += 1
    sort_few(candidates[0], count)
    return found if found < 0 else count


@inline
def _one_shape(kind, sides, none, no_points):
    """A box or a circle in memory on the stack, which only the kernel itself can take."""
    return ShapeColumns(kind, sides[0], sides[1], sides[2], sides[3], none, none, no_points, no_points)


@inline
def _take_query(left, top, right, bottom, radius, limits, query):
    """Write a box, or a circle with a ``radius`` of at least 0, as query and limits; whether it is sound."""
    width, height = right - left, bottom - top
    query.kinds[0], query.x[0], query.y[0], query.width[0], query.height[0] = BOX, left, top, width, height
    if radius >= 0.0:
        query.kinds[0], query.width[0] = CIRCLE, radius
        left, top, right, bottom = left - radius, top - radius, right + radius, bottom + radius
        width, height = right - left, bottom - top
    limits[NODE_0, 0], limits[NODE_0, 1], limits[NODE_0, 2], limits[NODE_0, 3] = left, top, right, bottom
    is_near = not _is_far(left, top) and not _is_far(left + width, top + height)
    return is_near and width >= 0.0 and height >= 0.0


@holds_gil
@objects("place", "bodies", "found")
def put_overlapping(trees, waiting, place, is_sized, radius, shapes, rules, bodies, found):
    """Append those of ``bodies`` that overlap a box or a circle or hold a point to ``found``, by row.

    ``place`` are the edges of a box, or its corner and sides if it is sized, or a point, the centre of a
    circle with a ``radius`` of at least 0.  Returns whether its numbers are sound and find not too much.
    """
    count, sides = length_of(place), few(4, np.float64)
    limits, queue = one_row(4, np.float64), some_rows(1, STACK_CAPACITY, np.int32)
    candidates, edges = some_rows(1, STACK_ROWS, np.int32), some_rows(4, 1, np.float64)
    no_points = one_row(2, np.float64)
    query = _one_shape(few(1, np.uint8), edges, few(1, np.int64), no_points)
    if not (count == 4 or count == 2) or not read_numbers(place, sides[:count]):
        return False
    left, top, right, bottom = sides[0], sides[1], sides[count - 2], sides[count - 1]
    if is_sized:
        right, bottom = left + right, top + bottom
    if not _take_query(left, top, right, bottom, radius, limits, query):
        return False
    total = _overlapping(trees, waiting, limits, queue, query, shapes, rules, candidates)
    append_items(found, bodies, candidates[0], total)
    return total >= 0


@holds_gil
def overlapping_shape(trees, waiting, query, shapes, rules):
    """The rows of the shapes that overlap shape 0 of ``query``, ascending, and how many, or `REFUSED`."""
    limits, queue = one_row(4, np.float64), some_rows(1, STACK_CAPACITY, np.int32)
    candidates, box = some_rows(1, STACK_ROWS, np.int32), limits[NODE_0]
    box[0], box[1], box[2], box[3] = bounds_of(query, 0)
    total = _overlapping(trees, waiting, limits, queue, query, shapes, rules, candidates)
    found = result(max(total, np.int64(0)), np.int32)
    for k in range(found.shape[0]):
        found[k] = candidates[0, k]
    return found, total


@jit
@rows(values=(2, 4))
def overlapping_each(trees, values, radii, radius, shapes, rules):
    """The shapes that overlap each of some boxes or circles, or hold points: rows ``[k, row]``, and how many.

    ``values`` are rows of a box or a point; with ``radii``, or a ``radius`` of at least 0, the points are
    centres.  How many is `REFUSED` if numbers are not sound, or if one finds too much.
    """
    m, columns, total = np.int64(values.shape[0]), values.shape[1], np.int64(0)
    limits, queue = one_row(4, np.float64), some_rows(1, STACK_CAPACITY, np.int32)
    candidates, found = some_rows(1, STACK_ROWS, np.int32), np.empty((8 * m, 2), np.int32)
    edges, no_points = some_rows(4, 1, np.float64), one_row(2, np.float64)
    query = _one_shape(few(1, np.uint8), edges, few(1, np.int64), no_points)
    around = radii.shape[0] > 0 or radius >= 0.0
    flags, counts = few(1, np.uint8), few(1, np.int64)
    counts[0] = 0
    waiting = flags, some_rows(1, 1, np.int32), counts, flags, flags
    if not (columns == 4 or columns == 2) or (radii.shape[0] > 0 and radii.shape[0] != m):
        return found[:0], REFUSED
    if around and columns != 2:
        return found[:0], REFUSED
    for k in range(m):
        if not answers_at(k):
            break
        right, bottom = values[k, columns - 2], values[k, columns - 1]
        reach = radii[k] if radii.shape[0] > 0 else radius
        if around and not reach >= 0.0:
            return found[:0], REFUSED
        if not _take_query(values[k, 0], values[k, 1], right, bottom, reach, limits, query):
            return found[:0], REFUSED
        count = _overlapping(trees, waiting, limits, queue, query, shapes, rules, candidates)
        if count < 0:
            return found[:0], REFUSED
        while total + count > found.shape[0]:
            found = larger(found, total)
        for place in range(count):
            found[total + place, 0], found[total + place, 1] = k, candidates[0, place]
        total += count
    return found[:total], total


# -----------------------------------------------------------------------------------------------------------
# The first shape on a ray.


@inline
def _memory_for(trees):
    """Nodes and keys for a search in each of the trees."""
    most = np.int64(0)
    for _, children, _, _ in trees:
        most = max(most, stack_size(children))
    return np.empty(most, np.int64), np.empty(most, np.float64)


@inline
def _nearer(edges, node, k, ray, time):
    """``time`` of slot ``k`` for the shapes below it, in 2-D: no shape there is nearer, despite rounding."""
    row = 4 * node
    size = max(max(abs(edges[row, k]), abs(edges[row + 2, k])), abs(ray[0]))
    size = max(size, max(max(abs(edges[row + 1, k]), abs(edges[row + 3, k])), abs(ray[1])))
    return time - _ROUNDING * (size + time)


@inline
def _counts(rules, excluded, k, row):
    """Whether query ``k`` may find a shape."""
    for column in range(excluded.shape[1]):
        if excluded[k, column] == row:
            return False
    return fits(rules, row)


@inline
def _first_shape(search, memory, values, first, excluded, way):
    """`raycast_shapes` for row ``first`` of ``values``, but for the shapes ``excluded[first]``.

    A row is ``x, y``, a unit vector and the length; ``search`` are ``trees, shapes, rules``.

    With a ``way`` boxes must also be crossed by a line that goes just so far: a unit vector is rounded.
    """
    (trees, shapes, rules), (stack, keys) = search, memory
    best, nearest, nx, ny = NO_ROW, math.inf, 0.0, 0.0
    rays, lines = some_rows(6, 1, np.float64), some_rows(8, 1, np.float64)
    prepare_rays(values, first, np.int64(1), rays, lines)
    ray, sides = rays[:-1, NODE_0], sides_entered(lines, NODE_0)
    times = some_rows(1, WIDTH, np.float64)
    x, y, dx, dy = values[first, 0], values[first, 1], values[first, 2], values[first, 3]
    for edges, children, boxes, names in trees:
        nodes = with_columns(edges, 4 * WIDTH)
        left = push_roots(children, stack, keys)
        while left > 0:
            left -= 1
            if keys[left] > nearest:
                continue
            node = stack[left] >> 6
            level = stack[left] & 63
            hit = slots_hit(nodes, node, lines, NODE_0, sides, ray[4], times)
            begin = left
            while hit != 0:
                k = lowest_lane(hit)
                hit &= hit - 1
                least = _nearer(edges, node, k, ray, times[0, k])
                if least > nearest:
                    continue
                child = child_of(children, node, k)
                if level > 0:
                    left = stack_by_key(stack, keys, left, begin, child, level, least)
                    continue
                row = np.int64(names[child])
                if not _counts(rules, excluded, first, row) or ray_distance(boxes, child, ray, True) < 0.0:
                    continue
                distance, out_x, out_y = ray_of(shapes, row, x, y, dx, dy, values[first, 4])
                if 0.0 <= distance <= nearest and (distance < nearest or best < 0 or row < best):
                    is_line = shapes.kinds[row] == BOX and way[0] == way[0]
                    if is_line and not is_box_crossed(shapes, row, x, y, way[0], way[1]):
                        continue
                    best, nearest, nx, ny = row, distance, out_x, out_y
    return best, nearest, nx, ny


@inline
def _take_ray(x, y, dx, dy, max_distance, ray):
    """Write a ray with a unit vector; whether it is sound.  What is exactly ``max_distance`` away is hit."""
    largest = max(abs(dx), abs(dy))
    if _is_far(x, y) or _is_far(dx, dy) or largest == 0.0 or not max_distance >= 0.0:
        return False
    dx, dy = dx / largest, dy / largest
    size = math.sqrt(dx * dx + dy * dy)
    ray[0, 0], ray[0, 1], ray[0, 2], ray[0, 3] = x, y, dx / size, dy / size
    ray[0, 4] = next_up(max_distance) if max_distance < math.inf else math.inf
    return True


@holds_gil
@numbers(origin=(2,), direction=(2,))
def raycast_shapes(trees, origin, direction, max_distance, shapes, rules):
    """The shape that a ray enters first: ``row, distance, normal``, and its direction as a unit vector.

    Of equals that with the lowest row counts; -1: it enters none; `REFUSED`: the numbers are not sound.
    """
    ray, excluded, memory = one_row(5, np.float64), one_row(1, np.int32), _memory_for(trees)
    x, y, dx, dy = float(origin[0]), float(origin[1]), float(direction[0]), float(direction[1])
    if not _take_ray(x, y, dx, dy, max_distance, ray):
        return REFUSED, 0.0, 0.0, 0.0, dx, dy
    excluded[0, 0] = NO_ROW
    row, distance, nx, ny = _first_shape((trees, shapes, rules), memory, ray, NODE_0, excluded, _NO_WAY)
    return row, distance, nx, ny, ray[0, 2], ray[0, 3]


@jit
@rows(origins=(2,), directions=(2,))
def raycast_each(trees, origins, directions, max_distance, shapes, rules):
    """The same for each of some rays: ``rows, distances, normals, done``; -1, inf and zeros for no hit."""
    m = max(np.int64(origins.shape[0]), np.int64(directions.shape[0]))
    found, distances, normals = np.empty(m, np.int32), np.empty(m, np.float64), np.empty((m, 2), np.float64)
    ray, excluded, memory = one_row(5, np.float64), one_row(1, np.int32), _memory_for(trees)
    excluded[0, 0] = NO_ROW
    done = origins.shape[1] == directions.shape[1] == 2
    done = done and (origins.shape[0] == m or origins.shape[0] == 1)
    done = done and (directions.shape[0] == m or directions.shape[0] == 1)
    for k in range(m):
        if not answers_at(k):
            break
        start, way = min(k, origins.shape[0] - 1), min(k, directions.shape[0] - 1)
        if not done or not _take_ray(
            origins[start, 0], origins[start, 1], directions[way, 0], directions[way, 1], max_distance, ray
        ):
            return found, distances, normals, False
        found[k], distances[k], normals[k, 0], normals[k, 1] = _first_shape(
            (trees, shapes, rules), memory, ray, NODE_0, excluded, _NO_WAY
        )
    return found, distances, normals, True


@jit
def first_shapes_on_rays(trees, rays, excluded, shapes, rules, found, hits):
    """The same for each of ``rays``: the rows, -1 for none, and rows of distance and normal.

    Ray ``k`` passes through the shapes ``excluded[k]``.
    """
    memory = _memory_for(trees)
    for k in range(rays.shape[0]):
        if not answers_at(k):
            break
        row, distance, nx, ny = _first_shape((trees, shapes, rules), memory, rays, k, excluded, _NO_WAY)
        found[k] = row
        if row >= 0:
            hits[k, 0], hits[k, 1], hits[k, 2] = distance, nx, ny


@inline
def _between(search, memory, x, y, to_x, to_y, ray, excluded):
    """A shape between two points that is not ``excluded``, or `NO_ROW`; ``ray`` is scratch, one row."""
    if to_x < x or (to_x == x and to_y < y):  # the same rounding from both ends
        x, y, to_x, to_y = to_x, to_y, x, y
    way = to_x - x, to_y - y
    largest = max(abs(way[0]), abs(way[1]))
    if largest == 0.0:
        return NO_ROW
    across, down = way[0] / largest, way[1] / largest
    size = math.sqrt(across * across + down * down)
    ray[0, 0], ray[0, 1], ray[0, 2], ray[0, 3] = x, y, across / size, down / size
    ray[0, 4] = largest * size  # what begins where the line ends is not between
    return _first_shape(search, memory, ray, NODE_0, excluded, way)[0]


@holds_gil
@numbers(start=(2,), end=(2,))
def shape_between(trees, start, end, i, j, shapes, rules):
    """A shape between two points, but for shapes ``i`` and ``j``; `NO_ROW`: there is none."""
    ray, excluded, memory = one_row(5, np.float64), one_row(2, np.int32), _memory_for(trees)
    excluded[0, 0], excluded[0, 1] = i, j
    ends = float(start[0]), float(start[1]), float(end[0]), float(end[1])
    return _between((trees, shapes, rules), memory, *ends, ray, excluded)


@jit
def shapes_between(trees, starts, ends, from_rows, to_rows, shapes, rules, free):
    """Take those lines out of ``free`` between whose start and end there is a shape.

    There are as many starts, each with the row of its own shape or -1, as lines, or one; and so of ends.
    """
    ray, excluded, memory = one_row(5, np.float64), one_row(2, np.int32), _memory_for(trees)
    for k in range(free.shape[0]):
        if not answers_at(k):
            break
        m, n = min(k, starts.shape[0] - 1), min(k, ends.shape[0] - 1)
        excluded[0, 0], excluded[0, 1] = from_rows[m], to_rows[n]
        line = starts[m, 0], starts[m, 1], ends[n, 0], ends[n, 1]
        free[k] = free[k] and _between((trees, shapes, rules), memory, *line, ray, excluded) < 0


# -----------------------------------------------------------------------------------------------------------
# The shapes nearest to a point.


@inline
def _largest_coordinate(trees, memory):
    """The largest coordinate of all boxes, without its sign: distances of shapes are rounded by its size."""
    largest, (stack, keys) = 0.0, memory
    for edges, children, _, _ in trees:
        left = push_roots(children, stack, keys)
        while left > 0:
            left -= 1
            node = stack[left] >> 6
            for row in range(4 * node, 4 * node + 4):
                for slot in range(WIDTH):
                    if abs(edges[row, slot]) > largest:  # NaN where a slot is not in use
                        largest = float(abs(edges[row, slot]))
    return largest


@inline
def _nearest_shapes(search, memory, x, y, largest, excluded, k, ids, distances, query):
    """Write the shapes nearest to a point, but `excluded[k]`, to row `query`, in order; returns how many."""
    (trees, shapes, rules), (stack, keys) = search, memory
    point, squares = few(2, np.float64), many(WIDTH, np.float64)
    point[0], point[1] = x, y
    kept, bound = np.int64(0), math.inf
    far = max(largest, abs(x), abs(y))
    for edges, children, _, names in trees:
        left = push_roots(children, stack, keys)
        while left > 0:
            left -= 1
            if keys[left] > bound:
                continue
            node = stack[left] >> 6
            level = stack[left] & 63
            squares_of(edges, node, 2, point, squares)
            begin = left
            for slot in range(WIDTH):
                square = squares[slot]
                if not square <= bound:  # also where the slot is not in use
                    continue
                child = child_of(children, node, slot)
                if level > 0:
                    left = stack_by_key(stack, keys, left, begin, child, level, square)
                    continue
                row = np.int64(names[child])
                if not _counts(rules, excluded, k, row):
                    continue
                distance = distance_of(shapes, row, x, y)
                kept = insert_nearest(ids, distances, query, ids.shape[1], kept, row, distance)
                if kept == ids.shape[1]:
                    last = distances[query, kept - 1]
                    bound = reach_of(last + _ROUNDING * (far + last))
    return kept


@holds_gil
@numbers(values=(2,))
@objects("bodies", "found")
def nearest_shapes(trees, values, k, shapes, rules, bodies, found):
    """The ``k`` shapes nearest to a point, by distance, then row: ``rows, distances, count``.

    Their ``bodies`` are appended to ``found``.  The count is how many there are, or `REFUSED`.
    """
    ids, distances = result((1, k), np.int32), result((1, k), np.float64)
    excluded, memory = one_row(1, np.int32), _memory_for(trees)
    excluded[0, 0] = NO_ROW
    x, y, count = float(values[0]), float(values[1]), REFUSED
    if not _is_far(x, y):
        far = _largest_coordinate(trees, memory)
        count = _nearest_shapes(
            (trees, shapes, rules), memory, x, y, far, excluded, NODE_0, ids, distances, NODE_0
        )
        append_items(found, bodies, ids[0], count)
    return ids[0, : max(count, 0)], distances[0, : max(count, 0)], count


@holds_gil
@rows(points=(2,))
def nearest_of_few(trees, points, k, shapes, rules):
    """The same for few points: ``ids, distances, places, done``; -1 and inf where there are fewer.

    Rows of ``places`` are the nearest point of a shape, and the unit vector from there.
    """
    m = np.int64(points.shape[0])
    ids, distances = np.empty((m, k), np.int32), np.empty((m, k), np.float64)
    places = np.empty((m, k, 4), np.float64)
    excluded, memory = one_row(1, np.int32), _memory_for(trees)
    edges, no_points = some_rows(4, 1, np.float64), one_row(2, np.float64)
    query = _one_shape(few(1, np.uint8), edges, few(1, np.int64), no_points)
    excluded[0, 0] = NO_ROW
    far = _largest_coordinate(trees, memory)
    for i in range(m):
        if points.shape[1] != 2 or _is_far(points[i, 0], points[i, 1]):
            return ids, distances, places, False
        x, y = points[i, 0], points[i, 1]
        count = _nearest_shapes(
            (trees, shapes, rules), memory, x, y, far, excluded, NODE_0, ids, distances, i
        )
        query.kinds[0], query.x[0], query.y[0], query.width[0], query.height[0] = CIRCLE, x, y, 0.0, 0.0
        for rank in range(k):
            if rank >= count:
                ids[i, rank], distances[i, rank] = -1, math.inf
                continue
            px, py, nx, ny = place_nearest(query, 0, shapes, np.int64(ids[i, rank]), distances[i, rank])
            places[i, rank, 0], places[i, rank, 1] = px, py
            places[i, rank, 2], places[i, rank, 3] = nx, ny
    return ids, distances, places, True


@jit
def nearest_shapes_of_many(trees, points, excluded, shapes, rules, ids, distances):
    """The same for each of ``points``, in rows of ``ids`` and ``distances``, which are -1 and inf before.

    Point ``k`` does not find the shapes ``excluded[k]``.
    """
    memory, waiting = _memory_for(trees), np.int64(0)
    far = _largest_coordinate(trees, memory)
    for k in range(points.shape[0]):
        waiting += ids.shape[1]
        if waiting > _OFTEN:
            waiting = np.int64(0)
            if not goes_on():
                break
        x, y = points[k, 0], points[k, 1]
        _nearest_shapes((trees, shapes, rules), memory, x, y, far, excluded, k, ids, distances, k)
