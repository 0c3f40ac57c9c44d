"""Depenetration: what a box or shape overlaps, and the shortest displacement of a box out of all overlaps.

The places that are not free for a box are a union of rectangles: each blocker, grown by the box.  The nearest
free place is on the edge of one of them, straight ahead, or where two edges cross.  So it is enough to
try every x at which the box would be flush with some blocker, and its own, with every such y, nearest
first.  Cost: the square of the number of blockers nearby, times the few that each place is compared with;
beyond 256 edges on an axis only the four straight directions are tried.
"""

import math

import numpy as np

from broadphase.kernels.machine.floats import next_up
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.machine.memory import few, some_rows
from broadphase.kernels.movement.sweep import ALL_SIDES, FARTHEST, edges_of_body, flush_before
from broadphase.kernels.movement.sweep_shapes import ROW, set_tile, slack, table_for_one
from broadphase.kernels.shapes.contact import box_box, contact_of, length, part_intervals
from broadphase.kernels.shapes.images import contact_of_images, shifted, turns_between, wrapped
from broadphase.kernels.shapes.table import BOX, TOLERANCE, bounds_at, bounds_of, bounds_overlap, shape_at
from broadphase.kernels.tiles.grid import bounds_of_cell, cells_of_box, edge, is_solid
from broadphase.kernels.tiles.slopes import any_slope, profile_at, slope_of

MOST_EDGES = 256


@inline
def filled_in(grid, left, top, right, bottom):
    """Whether a box overlaps a solid tile, or a slope by its bounds, and the column and row of the first."""
    if grid.solid.shape[0] > 0:
        first, last, top_row, low_row = cells_of_box(grid, left, top, right, bottom)
        for row in range(top_row, low_row):
            for column in range(first, last):
                if is_solid(grid, column, row):
                    return True, column, row
                if profile_at(grid, column, row) != 0:
                    _, its_top, _, its_bottom, _, _, _ = slope_of(grid, column, row)
                    if top < its_bottom and its_top < bottom:
                        return True, column, row
    return False, 0, 0


@inline
def _body_in(boxes, left, top, right, bottom):
    """The row of a body that a box overlaps, or -1."""
    for k in range(boxes.shape[0]):
        if bounds_overlap((left, top, right, bottom), edges_of_body(boxes, k)):
            return k
    return -1


@inline
def _note(places, count, place, start):
    """Insert a place in the order of distance from the start; among equal ones the smaller is first."""
    if count >= MOST_EDGES:
        return MOST_EDGES + 1
    position = count
    while position > 0:
        before = places[position - 1]
        if before == place:
            return count
        distance_before, distance = abs(before - start), abs(place - start)
        if distance_before < distance or (distance_before == distance and before < place):
            break
        position -= 1
    for k in range(count, position, -1):
        places[k] = places[k - 1]
    places[position] = place
    return count + 1


@inline
def _note_both(places, count, lo, hi, size, start):
    if lo > -math.inf:
        count = _note(places, count, flush_before(lo, size), start)
    if hi < math.inf:
        count = _note(places, count, hi, start)
    return count


@inline
def _edges_near(x, y, width, height, boxes, grid, reach, xs, ys):
    """Write the places on each axis that are worth trying into ``xs`` and ``ys``; how many on each."""
    xs[0], ys[0] = x, y
    count_x, count_y = 1, 1
    left, top, right, bottom = x - reach, y - reach, x + width + reach, y + height + reach
    for k in range(boxes.shape[0]):
        if bounds_overlap((left, top, right, bottom), edges_of_body(boxes, k)):
            count_x = _note_both(xs, count_x, boxes[k, 0], boxes[k, 2], width, x)
            count_y = _note_both(ys, count_y, boxes[k, 1], boxes[k, 3], height, y)
    if grid.solid.shape[0] > 0:
        first, last, top_row, low_row = cells_of_box(grid, left, top, right, bottom)
        for column in range(first, last if last - first < MOST_EDGES else first):
            low, high = edge(grid.x, grid.width, column), edge(grid.x, grid.width, column + 1)
            count_x = _note_both(xs, count_x, low, high, width, x)
        for row in range(top_row, low_row if low_row - top_row < MOST_EDGES else top_row):
            low, high = edge(grid.y, grid.height, row), edge(grid.y, grid.height, row + 1)
            count_y = _note_both(ys, count_y, low, high, height, y)
        if last - first >= MOST_EDGES or low_row - top_row >= MOST_EDGES:
            count_x = MOST_EDGES + 1
        elif grid.ground.shape[0] > 0:
            for row in range(top_row, low_row):
                for column in range(first, last):
                    if profile_at(grid, column, row) != 0:
                        _, low, _, high, _, _, _ = slope_of(grid, column, row)
                        count_y = _note_both(ys, count_y, low, high, height, y)
    return count_x, count_y


@inline
def _walk_straight(x, y, width, height, boxes, grid, axis, sign, reach):
    """Move in one direction from blocker to blocker, until the box is free or gone farther than ``reach``."""
    start_x, start_y = x, y
    while abs(x - start_x) + abs(y - start_y) <= reach:
        right, bottom = x + width, y + height
        body = _body_in(boxes, x, y, right, bottom)
        if body >= 0:
            low, high = boxes[body, axis], boxes[body, 2 + axis]
        else:
            found, column, row = filled_in(grid, x, y, right, bottom)
            if not found:
                return x, y
            if axis == 0:
                low, high = edge(grid.x, grid.width, column), edge(grid.x, grid.width, column + 1)
            else:
                low, high = edge(grid.y, grid.height, row), edge(grid.y, grid.height, row + 1)
        if axis == 0:
            x = high if sign > 0 else flush_before(low, width)
        else:
            y = high if sign > 0 else flush_before(low, height)
    return x, y


@inline
def deepest(x, y, width, height, boxes, grid):
    """The displacement to leave each single blocker: the longest of these; 0 if the box is free."""
    right, bottom = x + width, y + height
    longest = 0.0
    for k in range(boxes.shape[0]):
        if bounds_overlap((x, y, right, bottom), edges_of_body(boxes, k)):
            across = part_intervals(x, right, boxes[k, 0], boxes[k, 2])[1]
            along = part_intervals(y, bottom, boxes[k, 1], boxes[k, 3])[1]
            longest = max(longest, min(across, along))
    if filled_in(grid, x, y, right, bottom)[0]:
        longest = max(longest, min(grid.width, grid.height))
    return longest


@inline
def push_out(x, y, width, height, boxes, grid, reach, scratch):
    """The nearest free place within ``reach`` on each axis: ``found, x, y, distance``.

    ``boxes`` must hold every body that overlaps the box grown by ``reach``.  Of equal displacements, the one
    along x comes first, then the one towards smaller coordinates.  ``scratch`` is ``(2, MOST_EDGES)``.
    """
    xs, ys = scratch[0], scratch[1]
    count_x, count_y = _edges_near(x, y, width, height, boxes, grid, reach, xs, ys)
    best, best_x, best_y = math.inf, x, y
    if count_x > MOST_EDGES or count_y > MOST_EDGES:
        for axis in range(2):
            for sign in range(-1, 2, 2):
                at_x, at_y = _walk_straight(x, y, width, height, boxes, grid, axis, sign, reach)
                distance = abs(at_x - x) + abs(at_y - y)
                if distance < best and distance <= reach:
                    best, best_x, best_y = distance, at_x, at_y
        return best < math.inf, best_x, best_y, best
    for j in range(count_y):
        at_y = ys[j]
        if abs(at_y - y) > reach or abs(at_y - y) >= best:
            break
        for i in range(count_x):
            at_x = xs[i]
            distance = length(at_x - x, at_y - y)
            if abs(at_x - x) > reach or distance >= best:
                break
            if _body_in(boxes, at_x, at_y, at_x + width, at_y + height) >= 0:
                continue
            if not filled_in(grid, at_x, at_y, at_x + width, at_y + height)[0]:
                best, best_x, best_y = distance, at_x, at_y
                break
    return best < math.inf, best_x, best_y, best


# A stopped body is moved a little at most this often, until it overlaps nothing despite rounding.
_MOST_NUDGES = 8
# Of the period: a map of tiles may be so much longer or shorter.
_FITS = 1e-12


@inline
def _deepest_image(shapes, row, place, is_put, hits, period, numbers, most):
    """The deepest overlap of a body with one that it hit, up to ``most``: ``depth, normal``.

    Across an edge it is another number whether the one is moved by a period or the other.  Bodies at
    their own places count only if this one ``is_put`` elsewhere than its path ended: the path keeps off them.
    """
    best = 0.0, 0.0, 0.0
    box = bounds_at(shapes, row, *place)
    for k in range(hits.shape[0] if most > 0.0 else 0):
        if hits[k, 5] < 0.0:
            continue
        other = np.int64(hits[k, 5])
        x, y = shapes.x[other], shapes.y[other]
        least_x, most_x, least_y, most_y = turns_between(box, bounds_of(shapes, other), period)
        for across in range(least_x, most_x + 1):
            for down in range(least_y, most_y + 1):
                if across == 0 and down == 0 and not is_put:
                    continue
                there = shifted(x, across, period[0]), shifted(y, down, period[1])
                _, nx, ny, depth = contact_of_images(shapes, row, place, other, there, period, numbers)
                if best[0] < depth <= most:
                    best = depth, nx, ny
                back = shifted(place[0], -across, period[0]), shifted(place[1], -down, period[1])
                _, nx, ny, depth = contact_of_images(shapes, other, (x, y), row, back, period, numbers)
                if best[0] < depth <= most:
                    best = depth, 0.0 - nx, 0.0 - ny
    return best


@jit
def free_place(shapes, row, x, y, hits, period, grid):
    """The place of a stopped body in the period, moved a little if rounding lets it overlap what stopped it.

    ``x, y`` is where its path ends; ``hits`` are rows as `path.follow` writes them.
    """
    end = x, y
    x, y = wrapped(x, period[0]), wrapped(y, period[1])
    is_put = x != end[0] or y != end[1]
    numbers = some_rows(8, 1, np.float64)
    largest = max(period[0] if period[0] < math.inf else 0.0, period[1] if period[1] < math.inf else 0.0)
    least = next_up(largest) - largest
    for _ in range(_MOST_NUDGES):
        depth, nx, ny = _deepest_image(
            shapes, row, (x, y), is_put, hits, period, numbers, TOLERANCE * largest
        )
        if depth == 0.0:
            break
        x, y = wrapped(x + nx * (depth + least), period[0]), wrapped(y + ny * (depth + least), period[1])
        least *= 2.0
    xs, ys, found = few(1, np.float64), few(1, np.float64), some_rows(1, 7, np.float64)
    nobody = few(0, np.int32)
    for k in range(hits.shape[0] if x != end[0] or y != end[1] else 0):
        far = next_up(largest) - largest
        while hits[k, 5] < 0.0 and far < _FITS * largest:
            xs[0], ys[0] = x, y
            mover = shape_at(shapes, row, xs, ys)
            exact = mover.kinds[ROW] == BOX and not any_slope(grid, *bounds_of(mover, ROW))
            if write_overlaps(mover, mover, nobody, exact, grid, found) == 0:
                break
            x, y = wrapped(x + hits[k, 1] * far, period[0]), wrapped(y + hits[k, 2] * far, period[1])
            far *= 2.0
    return x, y


# A shape is pushed out of one obstacle at a time; after so many pushes its bounds are pushed out as a box.
# The searched region doubles until it has a free place; so many rounds reach any place.
_MOST_PUSHES, _MOST_ROUNDS = 16, 200


@inline
def was_searched(searched, region, numbers):
    """Whether a region was searched; it is noted as needed if not."""
    (left, top, right, bottom), (from_x, from_y, to_x, to_y) = region, searched
    if from_x <= left and from_y <= top and right <= to_x and bottom <= to_y:
        return True
    numbers[0], numbers[1], numbers[2], numbers[3] = region
    return False


@inline
def _place_of_box(box, walls, grid, searched, buffers):
    """The nearest free place of a box: whether all was searched, whether there is one, and ``x, y``."""
    x, y, width, height = box
    reach = deepest(x, y, width, height, walls, grid)
    scratch = np.empty((2, MOST_EDGES))
    for _ in range(_MOST_ROUNDS if reach > 0.0 else 0):
        if not reach < FARTHEST:
            break
        if not was_searched(
            searched, (x - reach, y - reach, x + width + reach, y + height + reach), buffers.numbers
        ):
            return False, False, x, y
        found, free_x, free_y, distance = push_out(x, y, width, height, walls, grid, reach, scratch)
        if found and distance <= reach:
            return True, True, free_x, free_y
        if reach >= buffers.farthest:
            break
        # What was found is a bound: nothing nearer lies beyond its distance.
        reach = distance if found else 2.0 * reach
    return True, reach == 0.0, x, y


@inline
def _left_along(normal, start, free, width, box):
    """The axis along which a box has left an obstacle; the ``normal`` there was if it has not moved."""
    if free[0] >= box[2] or free[0] + width <= box[0]:
        return (1.0 if free[0] > start[0] else -1.0), 0.0
    if free[0] == start[0] and free[1] == start[1]:
        return normal[0], normal[1]
    return 0.0, (1.0 if free[1] > start[1] else -1.0)


@inline
def _pushed_apart(mover, table, rows, grid, searched, numbers):
    """Push a shape out of its deepest overlap until it is free: whether all was searched, and it is free."""
    found = np.empty((_MOST_PUSHES, 7))
    for _ in range(_MOST_PUSHES):
        if not was_searched(searched, bounds_of(mover, ROW), numbers):
            return False, False
        count = write_overlaps(mover, table, rows, False, grid, found)
        if count > found.shape[0]:
            found = np.empty((count, 7))
            write_overlaps(mover, table, rows, False, grid, found)
        if count == 0:
            return True, True
        most = 0
        for k in range(1, count):
            if found[k, 5] > found[most, 5]:
                most = k
        far = found[most, 5] + found[most, 6]
        mover.x[ROW] += found[most, 3] * far
        mover.y[ROW] += found[most, 4] * far
    return True, False


@common
def push_from_walls(mover, scene, exact, grid, starts, buffers):
    """Push a shape out of all that does not move, if it starts in some of that.

    False, and nothing has changed: more has to be searched.  The tiles are those of ``grid``, and not of the
    scene (`path.follow`).  ``starts`` are the hits of what it starts in; those of a
    box get the axis along which it has left.  One-way bodies that it does not start in are no obstacles, as
    tiles of this kind are none.
    """
    table, fixed, blockers, searched, _ = scene
    x, y, count, inside = mover.x[ROW], mover.y[ROW], np.int64(0), False
    rows, boxes = np.empty(blockers, np.int32), np.empty((blockers, 4))
    for k in range(starts.shape[0]):
        inside |= starts[k, 5] < 0.0
    for k in range(blockers):
        row, met = buffers.near[k], False
        if not fixed[row] or buffers.sides[k] == 0:
            continue
        for j in range(starts.shape[0]):
            met |= np.int64(starts[j, 5]) == row
        if met or buffers.sides[k] == ALL_SIDES:
            rows[count] = row
            for column in range(4):
                boxes[count, column] = buffers.boxes[k, column]
            count += 1
            inside |= met
    if not inside:
        return True
    rows, boxes = rows[:count], boxes[:count]
    if exact:
        box = x, y, mover.width[ROW], mover.height[ROW]
        enough, _, free_x, free_y = _place_of_box(box, boxes, grid, searched, buffers)
        if not enough:
            return False
        mover.x[ROW], mover.y[ROW] = free_x, free_y
        for k in range(starts.shape[0]):
            body, normal = np.int64(starts[k, 5]), (starts[k, 1], starts[k, 2])
            for j in range(count if body >= 0 else 1):
                if body < 0:
                    wall = bounds_of_cell(grid, np.int64(starts[k, 6]), np.int64(starts[k, 7]))
                elif body == rows[j]:
                    wall = edges_of_body(boxes, j)
                else:
                    continue
                starts[k, 1], starts[k, 2] = _left_along(normal, (x, y), (free_x, free_y), box[2], wall)
        return True
    left, top, right, bottom = bounds_of(mover, ROW)
    enough, is_free = _pushed_apart(mover, table, rows, grid, searched, buffers.numbers)
    by_shape = mover.x[ROW], mover.y[ROW]
    mover.x[ROW], mover.y[ROW] = x, y
    if not enough:
        return False
    enough, by_box, free_x, free_y = _place_of_box(
        (left, top, right - left, bottom - top), boxes, grid, searched, buffers
    )
    if not enough:
        return False
    far, by_box_far = length(by_shape[0] - x, by_shape[1] - y), length(free_x - left, free_y - top)
    if is_free and (not by_box or far <= by_box_far):
        mover.x[ROW], mover.y[ROW] = by_shape
    elif by_box:
        mover.x[ROW], mover.y[ROW] = x + (free_x - left), y + (free_y - top)
    return True


@common
def write_overlaps(mover, table, rows, exact, grid, out):
    """Write everything that ``mover[0]`` overlaps into ``out`` until it is full; returns how much there is.

    The bodies are ``table[rows]``; ``exact`` if the mover and they are boxes.  Rows
    ``body, column, row, normal, depth, slack``, bodies first, then tiles row by row.
    Body is the number in ``rows``, -1 for a tile, and column and row are for a body.  Slack is the distance
    that counts as flush: nothing among boxes, among others only deeper overlaps count.
    """
    left, top, right, bottom = bounds_of(mover, ROW)
    first, end, first_row, end_row = cells_of_box(grid, left, top, right, bottom)
    kind, numbers, span = few(1, np.uint8), some_rows(4, 1, np.float64), some_rows(2, 1, np.int64)
    tile = table_for_one(kind, numbers, span, some_rows(8, 2, np.float64))
    found = 0
    # With one call of the test for bodies and tiles, as in `first_shape_hit`.
    for row in range(first_row - 1, end_row):
        for k in range(0 if row < first_row else first, rows.shape[0] if row < first_row else end):
            body, column, i, others = k, -1, ROW, tile
            if row < first_row:
                i, others = rows[k], table
            elif is_solid(grid, k, row) or profile_at(grid, k, row) != 0:
                body, column = -1, k
                set_tile(tile, grid, column, row)
            else:
                continue
            flush = 0.0 if exact else slack(mover, others, i)
            if exact and body < 0:
                cell = bounds_of_cell(grid, column, row)
                hit, nx, ny, depth = box_box(left, top, right, bottom, *cell, False)
            else:
                hit, nx, ny, depth = contact_of(mover, ROW, others, i, False)
            if hit and depth > flush:
                if found < out.shape[0]:
                    out[found, 0], out[found, 1] = float(body), float(column)
                    out[found, 2] = float(row) if body < 0 else -1.0
                    out[found, 3], out[found, 4], out[found, 5], out[found, 6] = nx, ny, depth, flush
                found += 1
    return found
