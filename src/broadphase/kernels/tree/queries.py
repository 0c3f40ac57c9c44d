"""Queries of the dynamic tree: box, ray and nearest, in batches and one at a time."""

import math

import numpy as np

from broadphase.kernels.arrays.passes import looked
from broadphase.kernels.arrays.results import (
    RANKED,
    STACK_CAPACITY,
    count_rows,
    group_by_query,
    put_row,
    put_rows,
    rank,
    result,
    with_room,
    words_for,
)
from broadphase.kernels.arrays.results import larger as larger_rows
from broadphase.kernels.boxes.checks import take_box, take_point, take_ray
from broadphase.kernels.boxes.overlap import lanes_that_meet, overlap
from broadphase.kernels.boxes.queries import (
    distance_to_box,
    farthest,
    keep_nearest,
    passes,
    ray_distance,
    sort_by_distance,
    write_normal,
)
from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import always_inline, holds_gil, inline, jit, numbers, rows
from broadphase.kernels.machine.memory import AHEAD, few, many, one_row, prefetch, some_rows, with_columns
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    larger,
    load,
    lowest_lane,
    put_lanes,
    smaller,
    splat,
    store,
)
from broadphase.kernels.tree.dynamic_tree import (
    HEIGHT,
    HELD,
    LOOSE,
    MOVING,
    NODE_0,
    STATIC_TREE,
    WIDTH,
    child_of,
    move_boxes,
    push_roots,
    stack_by_key,
    stack_size,
)

# -----------------------------------------------------------------------------------------------------------
# Box queries of the dynamic tree, one or many.
#
# They descend level by level, many queries at once: a queue holds every node of a level together with the
# query that meets it; each is tested, 16 slots at a time, and the children that the query meets are appended
# for the next level.  No step depends on the result of the one before, so the processor fetches several nodes
# at once, and there is no branch to mispredict.  It is twice as fast as one query after the other.
#
# The results are candidates: a slot may be wider than its box, and rules may exclude a box.


BLOCK = 64  # queries that descend together
_ENDS = BLOCK + 1
SPARE = RANKED + WIDTH  # entries after the last one that may be overwritten or read
QUEUE_CAPACITY = 12_000  # queue entries: two rows of them are below the size at which malloc asks the system
_EACH = 512  # the same for each of few queries
_MOST_EXPECTED = 1 << 22  # rows for which memory is reserved that may not be needed


@inline
def set_limits(query, touching, limits, k):
    """Write the edges of a query into ``limits[k]``, in the nodes' type, for `overlap` with touching."""
    dim = limits.shape[1] // 2
    kind = limits.dtype.type
    for axis in range(dim):
        limits[k, axis] = -farthest(-query[axis], touching, kind)
        limits[k, dim + axis] = farthest(query[dim + axis], touching, kind)


@inline
def descend(edges, children, tree, limits, count, queue, start, several):
    """Let queries ``0 .. count - 1`` descend a tree, in the queue from ``start`` on.

    Returns where the candidates begin and end: ids in ``queue[0]`` and their queries in ``queue[1]``; -1 if
    the queue is too short.  Unless there may be ``several`` queries, the queue has only its first row.
    """
    dim = limits.shape[1] // 2
    begin = start
    end = start + count
    if end + SPARE > queue.shape[1]:
        return np.int64(-1), end
    for k in range(count):
        queue[0, start + k] = child_of(children, NODE_0, tree)
        if several:
            queue[1, start + k] = k
    for _ in range(children[0, HEIGHT + tree]):
        tail = end
        for entry in range(begin, end):
            if tail + SPARE > queue.shape[1]:
                return np.int64(-1), end
            node = np.int64(queue[0, entry])
            k = np.int64(queue[1, entry]) if several else NODE_0
            for lane in range(0, WIDTH, LANES):
                meets = lanes_that_meet(edges, node * (2 * dim), dim, lane, limits, k)
                if several:
                    store(queue, 1, tail, splat(np.int32(k)))
                tail += put_lanes(queue, 0, tail, load(children, node, lane), meets)
        begin = end
        end = tail
    return begin, end


@inline
def find_candidates(source, limits, count, queue, several):
    """The ids that the first ``count`` rows of ``limits`` meet; returns ``begin, end, tests`` of the queue.

    ``source``: the tree, its boxes and the rules.  The results of one tree are in the order of the queries.
    ``begin`` is -1 if the queue is too short.
    """
    edges, children, boxes, categories, masks, category, mask = source
    free = category < 0 and mask < 0
    begin = end = tests = np.int64(0)
    for tree in range(2):
        if children[0, tree] > 0:
            start, stop = descend(edges, children, tree, limits, count, queue, end, several)
            if start < 0:
                return np.int64(-1), end, tests
            tests += (start - end) * WIDTH
            if free and children[0, LOOSE + tree] == 0:
                if end == 0:
                    begin = start
                    end = stop
                    continue
                for entry in range(start, stop):
                    queue[0, end] = queue[0, entry]
                    if several:
                        queue[1, end] = queue[1, entry]
                    end += 1
            else:
                tests += stop - start
                for entry in range(start, stop):
                    k = NODE_0
                    if several:
                        prefetch(boxes, queue[0, min(entry + AHEAD, stop - 1)], 0)
                        k = np.int64(queue[1, entry])
                        queue[1, end] = k
                    i = np.int64(queue[0, entry])
                    queue[0, end] = i
                    meets = overlap(boxes, i, limits, k, True)
                    end += np.int64(meets and passes(categories, masks, i, category, mask))
    return begin, end, tests


@jit
@rows(queries=(4, 6))
def search_boxes(edges, children, boxes, categories, masks, queries, touching, category, mask, sort, rows):
    """What overlaps each query: ``rows, ids, found, tests``, see `broadphase.kernels.arrays.results`.

    With ``sort`` the ids of each query are sorted.
    """
    one, last, end_of_ids = rows.shape[0] == 0, np.int64(queries.shape[0]), boxes.shape[0]
    most, columns = min(last, BLOCK), boxes.shape[1]
    # The memory for one query is on the stack: allocating would take as long as the search.
    limits, starts = one_row(columns, edges.dtype), many(_ENDS, np.int64)
    queue, grouped = some_rows(1, STACK_CAPACITY, np.int32), some_rows(2, 1, np.int32)
    words = few(0, np.uint64)
    if not one:
        limits = np.empty((most, columns), edges.dtype)
        queue = np.empty((2, min(last * _EACH, QUEUE_CAPACITY)), np.int32)
    elif not take_box(queries[0], boxes, queries):
        return rows, result(0, np.int32), np.int64(0), np.int64(-1)
    source = (edges, children, boxes, categories, masks, category, mask)
    both = children[0, MOVING] > 0 and children[0, STATIC_TREE] > 0
    found = tests = checked = done = begin = np.int64(0)
    block = most
    while done < last:
        count = min(block, last - done)
        for k in range(count):
            set_limits(queries[done + k], touching, limits, k)
        begin, end, made = find_candidates(source, limits, count, queue, not one)
        if begin < 0:
            if count > 1:
                block = max(count // 4, 1)
            else:
                queue = np.empty((2, 8 * queue.shape[1]), np.int32)
            continue
        tests += made
        done += count
        if one:
            found = end - begin
            break
        needed = found + (end - begin)
        if needed > rows.shape[0]:  # as many as the queries so far have needed, for each that is left
            expected = needed + needed // done * (last - done) + needed // 8
            rows = with_room(rows, found, max(min(expected, _MOST_EXPECTED), 2 * needed))
        if sort and end - begin > RANKED and words.shape[0] == 0:
            words = words_for(end_of_ids)
        if both:
            if grouped.shape[1] < queue.shape[1]:
                grouped = np.empty((2, queue.shape[1]), np.int32)
            group_by_query(queue, begin, end, grouped, starts, count)
            queue, grouped = grouped, queue
            begin, end = NODE_0, end - begin
        count_rows(queue, begin, end, starts, count)
        put_rows(queue, begin, starts, count, sort, rows, found, done - count, words, end_of_ids)
        found += end - begin
        if 3 * (end + made // WIDTH) < queue.shape[1]:
            block = min(2 * count, most)
        checked = looked(tests, checked)
        if checked < 0:
            break
    ids = result(found if one else 0, np.int32)
    for k in range(len(ids)):
        i = queue[0, begin + k]
        ids[rank(queue, begin, found, i) if found <= RANKED else k] = i
    return rows, ids, found, tests


# -----------------------------------------------------------------------------------------------------------
# Rays through the dynamic tree: nearer nodes first, and no node that begins beyond the first hit.
#
# What a ray hits is decided by `ray_distance`.  Which slots of a node it may enter is computed for all of
# them at once, in the nodes' type and with reciprocals: a sixth of the time of divisions in float64.  The
# origin is moved by more than its rounding error, and the reciprocals are changed by more than those of all
# that is computed with them: so a slot is entered no later and left no earlier than `ray_distance` says.  If
# these times are then rounded to a type with fewer digits, their order does not change.
#
# Along an axis on which a ray does not move, it enters at once or later than any ray that moves, and leaves
# at infinity or not at all.


NO_BOX = np.int64(-1)
RAYS = 64  # rays that are prepared together, in less than half the time
_BOX = 63  # the level of boxes on a stack: below that of leaves, 0


@inline
def prepare_rays(values, first, count, rays, lines):
    """Write ``count`` rays from row ``first`` on to columns: to ``rays`` as `set_ray` does, and to ``lines``.

    ``lines`` has, with a row for each axis: where the ray starts and the reciprocal of its direction, for the
    edges at which it enters, and both for the edges at which it leaves.  The last row of ``rays`` is scratch.
    LLVM vectorises the loops.
    """
    dim = lines.shape[0] // 4
    size = rays[2 * dim + 1]
    for column in range(2 * dim + 1):
        row = rays[column]
        for k in range(count):
            row[k] = values[first + k, column]
    size[:count] = 0.0
    for axis in range(dim, 2 * dim):
        steps = rays[axis]
        for k in range(count):
            size[k] = max(size[k], abs(steps[k]))
    _divide_steps(rays, count)
    size[:count] = 0.0
    for axis in range(dim, 2 * dim):
        steps = rays[axis]
        for k in range(count):
            size[k] += steps[k] * steps[k]
    for k in range(count):
        size[k] = math.sqrt(size[k])
    _divide_steps(rays, count)
    kind = lines.dtype.type
    largest = next_down(kind(np.inf))
    slack = kind(8.0) * (next_up(kind(1.0)) - kind(1.0))
    for axis in range(dim):
        steps, enter, leave = rays[dim + axis], lines[dim + axis], lines[3 * dim + axis]
        for k in range(count):
            inverse = kind(1.0) / kind(steps[k] + 0.0)  # -0.0 becomes 0.0
            enter[k] = max(min(inverse * (kind(1.0) - slack), largest), -largest)
            leave[k] = inverse * (kind(1.0) + slack)
        origins, enter, leave = rays[axis], lines[axis], lines[2 * dim + axis]
        for k in range(count):
            # In a periodic world a ray may start beyond the largest float32.
            origin = min(max(kind(origins[k]), -largest), largest)
            below, above = next_down(origin), next_up(origin)
            back = steps[k] < 0.0
            enter[k] = below if back else above
            leave[k] = above if back else below


@inline
def _divide_steps(rays, count):
    """Divide the directions by the last row."""
    size = rays[rays.shape[0] - 1]
    for axis in range(rays.shape[0] // 2 - 1, rays.shape[0] - 2):
        steps = rays[axis]
        for k in range(count):
            steps[k] /= size[k]


@inline
def sides_entered(lines, k):
    """For each axis, how far behind a node's low edges those lie where ray ``k`` enters; in 2-D y twice."""
    dim = lines.shape[0] // 4
    x, y, z = lines[dim, k] < 0.0, lines[dim + 1, k] < 0.0, lines[2 * dim - 1, k] < 0.0
    high = np.int64(WIDTH * dim)
    return high * x, high * y, high * z


@always_inline
def _times(nodes, node, lines, k, axis, side, lane):
    """When ray ``k`` enters and leaves the slots from ``lane`` on, on one axis."""
    dim = lines.shape[0] // 4
    column = WIDTH * axis + lane
    enter = load(nodes, node, column + side) - splat(lines[axis, k])
    leave = load(nodes, node, column + WIDTH * dim - side) - splat(lines[2 * dim + axis, k])
    return enter * splat(lines[dim + axis, k]), leave * splat(lines[3 * dim + axis, k])


@always_inline
def slots_hit(nodes, node, lines, k, sides, bound, times):
    """Which slots of a node ray ``k`` may enter up to the time ``bound``, as bits, and when, in ``times``.

    A row of ``nodes`` holds all edges of a node.  Unused slots hold NaN, which the last comparison keeps.
    """
    hit = np.int64(0)
    for lane in range(0, WIDTH, LANES):
        enter, leave = _times(nodes, node, lines, k, 0, sides[0], lane)
        tmin, tmax = larger(splat(nodes.dtype.type(0.0)), enter), smaller(splat(bound), leave)
        enter, leave = _times(nodes, node, lines, k, 1, sides[1], lane)
        tmin, tmax = larger(tmin, enter), smaller(tmax, leave)
        if lines.shape[0] == 12:
            enter, leave = _times(nodes, node, lines, k, 2, sides[2], lane)
            tmin, tmax = larger(tmin, enter), smaller(tmax, leave)
        store(times, 0, lane, tmin)
        hit |= bits(tmin <= tmax) << lane
    return hit


@inline
def _first_hit(source, touching, k, ignored, scratch):
    """The first box on ray ``k`` but ``ignored``, of equals the lowest id, or -1; its distance; the tests."""
    edges, children, boxes, categories, masks, category, mask = source
    rays, lines, stack, keys = scratch
    dim = boxes.shape[1] // 2
    nodes, children = with_columns(edges, 2 * dim * WIDTH), with_columns(children, WIDTH)
    kind = edges.dtype.type
    ray = rays[:-1, k]
    sides = sides_entered(lines, k)
    times = some_rows(1, WIDTH, edges.dtype)
    best, nearest, bound = np.int64(-1), np.inf, kind(ray[2 * dim])
    tests = np.int64(0)
    left = push_roots(children, stack, keys)
    while left > 0:
        left -= 1
        if keys[left] > bound:
            continue
        child = stack[left] >> 6
        level = stack[left] & 63
        while level != _BOX:
            hit = slots_hit(nodes, child, lines, k, sides, bound, times)
            tests += WIDTH
            if hit == 0:
                break
            # On to the nearest one; the others wait.
            node, slot = child, lowest_lane(hit)
            hit &= hit - 1
            child, child_time = child_of(children, node, slot), times[0, slot]
            level = (level - 1) & 63
            while hit != 0:
                slot = lowest_lane(hit)
                hit &= hit - 1
                other, time = child_of(children, node, slot), times[0, slot]
                nearer = time < child_time
                stack[left] = ((child if nearer else other) << 6) | level
                keys[left] = child_time if nearer else time
                child, child_time = other if nearer else child, time if nearer else child_time
                left += 1
        if level != _BOX or (nearest == 0.0 and child > best):
            continue
        if child != ignored and passes(categories, masks, child, category, mask):
            tests += 1
            distance = ray_distance(boxes, child, ray, touching)
            if distance >= 0.0 and (distance < nearest or (distance == nearest and child < best)):
                best, nearest, bound = child, distance, kind(distance)
    return best, nearest, tests


@jit
@rows(rays=(5, 7))
def search_firsts(
    edges, children, boxes, categories, masks, rays, touching, category, mask, ignored,
    ids, distances, normals,
):  # fmt: skip
    """What each ray hits first, into ``ids``, ``distances`` and ``normals``.

    Where a ray hits nothing the id is -1 and the distance inf; without columns there are no normals.
    ``ignored``: a box for each ray that it passes through, or -1; an empty array ignores none.  Returns the
    tests, and id, distance and normal of the last ray; if ``ids`` is empty there is one ray, a tuple as a
    caller wrote it, which -1 tests refuse.
    """
    one, last, columns = ids.shape[0] == 0, np.int64(rays.shape[0]), boxes.shape[1]
    most, length, normal = min(last, RAYS), stack_size(children), few(3, np.float64)
    prepared, lines = np.empty((columns + 2, most)), np.empty((2 * columns, most), edges.dtype)
    stack, keys = np.empty(length, np.int64), np.empty(length, edges.dtype)
    source = (edges, children, boxes, categories, masks, category, mask)
    tests = checked = np.int64(0)
    hit, distance = NO_BOX, 0.0
    normal[0] = normal[1] = normal[2] = 0.0
    if one and not take_ray(rays[0], boxes, rays[0]):
        return np.int64(-1), hit, distance, 0.0, 0.0, 0.0
    for begin in range(0, last, RAYS):
        count = min(last - begin, RAYS)
        prepare_rays(rays, begin, count, prepared, lines)
        for k in range(count):
            q = begin + k
            passed = np.int64(ignored[q]) if ignored.shape[0] > 0 else NO_BOX
            hit, distance, made = _first_hit(source, touching, k, passed, (prepared, lines, stack, keys))
            tests += made
            if one:
                if hit >= 0:
                    write_normal(boxes, hit, prepared[:-1, k], distance, normal)
                break
            ids[q], distances[q] = hit, distance if hit >= 0 else np.inf
            for axis in range(normals.shape[1]):
                normals[q, axis] = 0.0
            if hit >= 0 and normals.shape[1] > 0:
                write_normal(boxes, hit, prepared[:-1, k], distance, normals[q])
        checked = looked(tests, checked)
        if checked < 0:
            break
    return tests, hit, distance, normal[0], normal[1], normal[2]


@jit
def search_rays(edges, children, boxes, categories, masks, rays, touching, category, mask, rows):
    """Rows ``[ray, id]`` of all boxes that each ray hits: the rows, how many there are, and the tests."""
    columns, length = boxes.shape[1], stack_size(children)
    prepared, lines = np.empty((columns + 2, 1)), np.empty((2 * columns, 1), edges.dtype)
    stack, keys = np.empty(length, np.int64), np.empty(length, edges.dtype)
    nodes = with_columns(edges, columns * WIDTH)
    ray = prepared[:-1, NODE_0]
    times = some_rows(1, WIDTH, edges.dtype)
    found = tests = checked = np.int64(0)
    for q in range(rays.shape[0]):
        prepare_rays(rays, q, np.int64(1), prepared, lines)
        bound, sides = edges.dtype.type(ray[columns]), sides_entered(lines, NODE_0)
        left = push_roots(children, stack, keys)
        while left > 0:
            left -= 1
            node = stack[left] >> 6
            level = stack[left] & 63
            hit = slots_hit(nodes, node, lines, NODE_0, sides, bound, times)
            tests += WIDTH
            while hit != 0:
                child = child_of(children, node, lowest_lane(hit))
                hit &= hit - 1
                if level > 0:
                    stack[left] = (child << 6) | (level - 1)
                    left += 1
                elif passes(categories, masks, child, category, mask):
                    tests += 1
                    if ray_distance(boxes, child, ray, touching) >= 0.0:
                        if found == rows.shape[0]:
                            rows = larger_rows(rows, found)
                        put_row(rows, found, q, child)
                        found += 1
        checked = looked(tests, checked)
        if checked < 0:
            break
    return rows, found, tests


# -----------------------------------------------------------------------------------------------------------
# The nearest boxes to a point in the dynamic tree: nearer nodes first, and no node that is too far.
#
# The result of a point bounds how far its neighbour has to search: points that are searched in an order in
# which neighbours follow each other begin with nearly the distance that they end with.


@inline
def squares_of(edges, node, dim, point, squares):
    """Squared distances of the 16 slots of a node; NaN for unused slots."""
    for k in range(WIDTH):
        squares[k] = 0.0
    for axis in range(dim):
        coordinate = float(point[axis])
        low = edges[(2 * node) * dim + axis]
        high = edges[(2 * node + 1) * dim + axis]
        for k in range(WIDTH):
            below = float(low[k]) - coordinate
            above = coordinate - float(high[k])
            # In this form NaN, from an unused slot, stays NaN.
            gap = above if above >= below else below
            gap = 0.0 if gap <= 0.0 else gap
            squares[k] += gap * gap


@inline
def reach_of(distance):
    """The square of a distance, slightly enlarged: no node beyond it holds anything as near.

    Distances are rounded, and squares may underflow or overflow: then nothing is pruned.
    """
    return distance * distance * (1.0 + 1e-13) + 1e-300


@inline
def _distance_bound(point, other):
    """An upper bound of the distance of two points, along the axes: no square can underflow."""
    bound = abs(point[0] - other[0]) + abs(point[1] - other[1])
    return bound + abs(point[2] - other[2]) if point.shape[0] == 3 else bound


@inline
def search_around(source, point, ids, distances, scratch, max_distance):
    """The nearest ids of a point, up to the length of ``ids``, as a heap; returns how many, and the tests.

    ``max_distance`` is a known bound of the squared distance of the last of them, or infinity.  ``scratch``:
    nodes and keys of `stack_size`, and `WIDTH` squares.
    """
    edges, children, boxes, categories, masks, category, mask = source
    nodes, keys, squares = scratch
    dim = boxes.shape[1] // 2
    wanted = len(ids)
    kept = tests = np.int64(0)
    left = push_roots(children, nodes, keys)
    while left > 0:
        left -= 1
        if keys[left] > max_distance:
            continue
        node = nodes[left] >> 6
        level = nodes[left] & 63
        squares_of(edges, node, dim, point, squares)
        tests += WIDTH
        begin = left
        for k in range(WIDTH):
            square = squares[k]
            if not square <= max_distance:  # also where the slot is not in use
                continue
            child = child_of(children, node, k)
            if level > 0:
                left = stack_by_key(nodes, keys, left, begin, child, level, square)
            elif passes(categories, masks, child, category, mask):
                tests += 1
                distance = distance_to_box(boxes, child, point)
                kept = keep_nearest(distances, ids, kept, distance, np.int32(child))
                if kept == wanted:
                    max_distance = reach_of(distances[0])
    return kept, tests


@jit
@rows(points=(2, 3))
def search_nearest(edges, children, boxes, categories, masks, points, category, mask, k, ids, distances):
    """The ``k`` nearest ids of each point by distance, then id.

    They are written into rows of ``ids`` and ``distances``, filled up with -1 and inf.  Without rows there is
    one point, a tuple as a caller wrote it, and they are returned: ``ids, distances, tests``; -1 tests refuse
    the point.
    """
    length, one = stack_size(children), ids.shape[0] == 0 and points.shape[0] > 0
    nodes, keys = np.empty(length, np.int64), np.empty(length, np.float64)
    scratch = nodes, keys, many(WIDTH, np.float64)
    source = (edges, children, boxes, categories, masks, category, mask)
    held = np.int64(children[0, HELD + MOVING] + children[0, HELD + STATIC_TREE]) if one else np.int64(0)
    found, far = result(min(k, held), np.int32), result(min(k, held), np.float64)
    tests = checked = kept = np.int64(0)
    if one:
        if not take_point(points[0], boxes, points[0]):
            return found, far, np.int64(-1)
        kept, tests = search_around(source, points[0], found, far, scratch, np.inf)
        sort_by_distance(far, found, kept)
        return found[:kept], far[:kept], tests
    for q in range(points.shape[0]):
        max_distance = np.inf  # squared
        if q > 0 and kept == k:
            bound = _distance_bound(points[q], points[q - 1])
            if bound == 0.0:
                for place in range(k):
                    ids[q, place], distances[q, place] = ids[q - 1, place], distances[q - 1, place]
                continue
            max_distance = reach_of(distances[q - 1, k - 1] + bound)
        kept, made = search_around(source, points[q], ids[q], distances[q], scratch, max_distance)
        sort_by_distance(distances[q], ids[q], kept)
        for place in range(kept, k):
            ids[q, place], distances[q, place] = -1, np.inf
        tests += made
        checked = looked(tests, checked)
        if checked < 0:
            break
    return found, far, tests


# -----------------------------------------------------------------------------------------------------------
# What a world asks, and the move of one box, in one call each.


# The outcome of a move: refused; done; or done, but the box must be put into another leaf.
REFUSED, STAYS, LEAVES = range(3)


@holds_gil
@numbers(values=(4, 6))
def move_box(nodes, boxes, reach, alive, end, i, values, margin, steps):
    """Give box ``i`` of the moving tree a new row, and update the tree as `move_boxes` does."""
    rows = one_row(len(values), boxes.dtype)
    if i < 0 or i >= end or not alive[i] or not take_box(values, boxes, rows):
        return REFUSED
    ids, leaving = few(1, np.int32), few(1, np.int64)
    ids[0] = i
    left = move_boxes(nodes, boxes, reach, MOVING, ids, rows, margin, steps, leaving, np.int64(2))
    for column in range(boxes.shape[1]):
        boxes[i, column] = rows[0, column]
    return LEAVES if left > 0 else STAYS
