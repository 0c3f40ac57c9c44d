"""Moves bodies of a world, one or many, and lists the rows that its indexes have to update.

A world has one list for each of its indexes.  A row is in a list once, however often it changes before the
index is read.  A row that is listed without a change costs little and is never wrong, so every change lists
its rows first and writes afterwards.  Both happen in one kernel if a body only moves.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import holds_gil, inline, jit
from broadphase.kernels.machine.memory import few, some_rows
from broadphase.kernels.movement.depenetration import overlapping_shapes
from broadphase.kernels.movement.separation import push_from
from broadphase.kernels.movement.sweep import (
    BEFORE_ALL,
    BOUNCE,
    CROSS,
    FARTHEST,
    MOST_TURNS,
    SLIDE,
    first_hit,
    free_place,
    is_inside,
    normal_of,
    turn,
)
from broadphase.kernels.movement.sweep_shapes import BEFORE_ALL as BEFORE_ALL_SHAPES
from broadphase.kernels.movement.sweep_shapes import ROW, first_shape_hit, sides_reached
from broadphase.kernels.shapes.contact import box_box, length
from broadphase.kernels.shapes.queries import sort_near
from broadphase.kernels.shapes.table import BOX, bounds_of, shape_at
from broadphase.kernels.tiles.grid import bounds_of_cell, cells_of_box
from broadphase.kernels.tiles.slopes import any_slope

# The bits of `Bodies.listed`: bit k says whether the row is in the list of index k; the bits from here on say
# whether index k has to drop the row's former state first, because that was another body.
REPLACED = 4


class Bodies(NamedTuple):
    """The columns of bodies that a movement reads and marks, by row."""

    sensor: npt.NDArray[np.bool_]
    category: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.uint32]
    static: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.bool_]
    layer: npt.NDArray[np.int8]
    """The index to which a body belongs."""
    listed: npt.NDArray[np.uint8]
    changed: npt.NDArray[np.int32]
    """``(indexes, rows)``: the list of each index."""
    counts: npt.NDArray[np.int64]
    """How long each list is, and then their total length."""


@inline
def _list(bodies, row, layer):
    """Add a row to the list of an index, unless it is in it."""
    if not bodies.listed[row] & (1 << layer):
        bodies.changed[layer, bodies.counts[layer]] = row
        bodies.counts[layer] += 1
        bodies.counts[-1] += 1
        bodies.listed[row] |= np.uint8(1 << layer)


@inline
def moved(bodies, row):
    """Mark a body that has moved, or is about to."""
    bodies.touched[row] = True
    _list(bodies, row, np.int64(bodies.layer[row]))


@holds_gil
def put(xs, ys, bodies, row, x, y):
    """Set the position of a body."""
    if xs[row] != x or ys[row] != y:
        moved(bodies, row)
        xs[row], ys[row] = x, y


@jit
def put_many(xs, ys, bodies, rows, places):
    """Set the positions of bodies; if a row comes twice, its last position counts."""
    for k in range(rows.shape[0]):
        row = rows[k]
        if xs[row] != places[k, 0] or ys[row] != places[k, 1]:
            moved(bodies, row)
            xs[row], ys[row] = places[k, 0], places[k, 1]


@jit
def moved_many(bodies, rows):
    """`moved` for many bodies."""
    for k in range(rows.shape[0]):
        moved(bodies, rows[k])


@holds_gil
def list_replaced(bodies, row, layer):
    """List a row for an index that has to drop the row's former state first."""
    _list(bodies, row, layer)
    bodies.listed[row] |= np.uint8(1 << (layer + REPLACED))


@jit
def list_many_replaced(bodies, rows, layers):
    """`list_replaced` for many bodies, each with its index."""
    for k in range(rows.shape[0]):
        layer = np.int64(layers[k])
        _list(bodies, rows[k], layer)
        bodies.listed[rows[k]] |= np.uint8(1 << (layer + REPLACED))


@jit
def take_list(bodies, alive, layer, ids, gone, known, fresh):
    """Empty the list of an index into arrays of updates; ``ids`` are those of the rows in the index, or -1.

    Ids to be removed are written to ``gone``, rows that the index has to ``known``, the others to ``fresh``.
    Returns how many of each.
    """
    bit, drop = 1 << layer, 1 << (layer + REPLACED)
    kept = np.uint8(0xFF ^ (bit | drop))
    leave = stay = come = 0
    for k in range(bodies.counts[layer]):
        row = bodies.changed[layer, k]
        wanted = alive[row] and bodies.layer[row] == layer
        is_known = ids[row] >= 0
        if is_known and (not wanted or bodies.listed[row] & drop):
            gone[leave] = ids[row]
            leave += 1
            is_known = False
        if wanted and is_known:
            known[stay] = row
            stay += 1
        elif wanted:
            fresh[come] = row
            come += 1
        bodies.listed[row] &= kept
    bodies.counts[-1] -= bodies.counts[layer]
    bodies.counts[layer] = 0
    return leave, stay, come


@holds_gil
def take_moved(bodies, alive, layer, ids, shapes):
    """`take_list` where the only change is that one body moved, as between two movements.

    Returns its id in the index and its bounds; -1, and nothing is taken, where that is not so.
    """
    row = bodies.changed[layer, 0]
    drop = 1 << (layer + REPLACED)
    here = alive[row] and bodies.layer[row] == layer and row < ids.shape[0] and ids[row] >= 0
    if bodies.counts[layer] != 1 or bodies.listed[row] & drop or not here:
        return np.int64(-1), (0.0, 0.0, 0.0, 0.0)
    box = bounds_of(shapes, row)
    bodies.listed[row] &= np.uint8(0xFF ^ (1 << layer))
    bodies.counts[-1] -= 1
    bodies.counts[layer] = 0
    return np.int64(ids[row]), box


# -----------------------------------------------------------------------------------------------------------
# Moves bodies: from hit to hit, each answered with a response, until the goal or a stop.
#
# `move_body` moves one body of a world in one call.  A call takes longer than the movement, so the bodies
# near the path are sorted and filtered here, and the new position is written back.  `move_many` moves many
# bodies, one after the other.
#
# The path is stored as a goal and not as a remainder that shrinks: on an axis without a hit, a body arrives
# at its start plus the movement, to the last bit.


ALWAYS, IF_FREE, NEVER = 0, 1, 2  # when a body moves: always, only if nothing is hit, or never (a test)

# The results of `move_body`.
NOT_HERE = -1  # nothing has changed; the general path handles it
DONE = 0
# Nothing has changed; call again with what is near in a larger region.
EXACT, PADDED, WIDE = 1, 2, 3
FULL = 4  # the hits do not fit
EVERY_LAYER = 15  # a bit for each index

TOLERANCE = 1e-9  # of the coordinates
# The most surfaces that may hold a shape at one place.
_MOST_HELD = 16


class Buffers(NamedTuple):
    """Scratch memory for movements, reused by all of them."""

    near: npt.NDArray[np.int32]
    """Rows of bodies near the path; then those that block."""
    open: npt.NDArray[np.int32]
    """Rows of bodies near the path that let the mover through: sensors, and layers that do not block."""
    boxes: npt.NDArray[np.float64]
    """Of those that block."""
    every: npt.NDArray[np.int64]
    """0, 1, 2, ..."""
    hits: npt.NDArray[np.float64]
    """``(h, 9)``: time, normal, place, body, column and row of the tile, mover; -1 where not applicable."""


# ---- the region of a path


@inline
def _tolerance(bounds):
    """More than the gap that is kept before sloped surfaces, and less than anyone sees."""
    left, top, right, bottom = bounds
    return TOLERANCE * max(max(abs(left), abs(right)), max(abs(top), abs(bottom)))


@inline
def _swept(bounds, dx, dy, pad):
    """The region that bounds can touch on a straight path, padded."""
    left, top, right, bottom = bounds
    from_x, to_x = min(left, left + dx) - pad, max(right, right + dx) + pad
    from_y, to_y = min(top, top + dy) - pad, max(bottom, bottom + dy) + pad
    return from_x, from_y, to_x, to_y


@inline
def _padded(bounds, dx, dy, reach):
    """The region of a path whose legs have their own tolerances; `WIDE`: for any change of direction."""
    far = abs(dx) + abs(dy)
    pad = 4.0 * (TOLERANCE * far + _tolerance(bounds))
    if reach == WIDE:
        return _swept(bounds, 0.0, 0.0, far + pad)
    return _swept(bounds, dx, dy, pad)


@inline
def swept_region(x, y, width, height, dx, dy, mirrored):
    """The region that a box sweeps; with ``mirrored``, for a bounce, to both sides."""
    if mirrored:
        pad_x = abs(dx) + 1e-12 * (abs(x) + abs(dx) + width)
        pad_y = abs(dy) + 1e-12 * (abs(y) + abs(dy) + height)
        return x - pad_x, y - pad_y, x + width + pad_x, y + height + pad_y
    goal_x, goal_y = x + dx, y + dy
    return min(x, goal_x), min(y, goal_y), max(x + width, goal_x + width), max(y + height, goal_y + height)


@holds_gil
def meets_slope(box, dx, dy, mirrored, grid):
    """Whether the region that a box sweeps holds a slope; then the box moves as other shapes do."""
    x, y, width, height = box
    left, top, right, bottom = swept_region(x, y, width, height, dx, dy, mirrored)
    return any_slope(grid, left, top, right, bottom)


@holds_gil
def region_of(shapes, row, dx, dy, mirrored, reach):
    """A box around everything that body ``row`` can meet on its path; NaN if `move_body` cannot be used.

    `EXACT` is for boxes among boxes; for other shapes it is `PADDED`.
    """
    x, y = shapes.x[row], shapes.y[row]
    far_x, far_y = max(abs(dx), abs(x + dx)), max(abs(dy), abs(y + dy))
    if not (far_x < FARTHEST and far_y < FARTHEST):
        return math.nan, math.nan, math.nan, math.nan
    if reach == EXACT and shapes.kinds[row] == BOX:
        left, top, right, bottom = swept_region(x, y, shapes.width[row], shapes.height[row], dx, dy, mirrored)
    else:
        left, top, right, bottom = _padded(bounds_of(shapes, row), dx, dy, reach)
    if not (right - left < math.inf and bottom - top < math.inf):
        return math.nan, math.nan, math.nan, math.nan
    return next_down(left), next_down(top), next_up(right), next_up(bottom)


# ---- the whole path


@inline
def _write(hits, at, mover, names, bodies, hit, time, normal, place):
    is_body = hit[2] < bodies
    hits[at, 0] = time
    hits[at, 1], hits[at, 2] = normal
    hits[at, 3], hits[at, 4] = place
    hits[at, 5] = float(names[int(hit[2])]) if is_body else -1.0
    hits[at, 6] = -1.0 if is_body else hit[4]
    hits[at, 7] = -1.0 if is_body else hit[3]
    hits[at, 8] = float(mover)


@inline
def box_along(mover, box, dx, dy, boxes, rows, names, grid, response, hits, found):
    """Move a box among ``boxes[rows]``: ``found, x, y``.

    ``found`` is how many hits there are then, -1 if they do not fit; ``names[k]`` is the number that a hit
    uses for the body ``rows[k]``.
    """
    x, y, width, height = box
    goal_x, goal_y = x + dx, y + dy
    passed, after, turns = 0.0, BEFORE_ALL, 0
    while turns < MOST_TURNS and (goal_x != x or goal_y != y):
        hit = first_hit(x, y, width, height, goal_x, goal_y, boxes, rows, grid, after)
        if hit[0] > 1.0:
            return found, goal_x, goal_y
        if found == hits.shape[0]:
            return np.int64(-1), x, y
        at = free_place(x, y, width, height, goal_x, goal_y, boxes, rows, grid, after, hit)
        normal = normal_of(hit, x, y, goal_x, goal_y)
        time = passed + (1.0 - passed) * hit[0]
        _write(hits, found, mover, names, rows.shape[0], hit, time, normal, at)
        found += 1
        if response == CROSS:
            after = hit
        else:
            x, y = at
            goal_x, goal_y = turn(x, y, goal_x, goal_y, normal[0], normal[1], response)
            passed, after = time, BEFORE_ALL
            turns += 1
    return found, x, y


@inline
def _is_held(dx, dy, normals, count):
    """Whether a path leads into a surface that the shape slid along at this very place."""
    least = -1e-12 * length(dx, dy)
    for k in range(count):
        if dx * normals[k, 0] + dy * normals[k, 1] < least:
            return True
    return False


@inline
def _holds(region, part):
    return region[0] <= part[0] and region[1] <= part[1] and part[2] <= region[2] and part[3] <= region[3]


@inline
def _shape_along(name, mover, dx, dy, shapes, rows, grid, response, hits, first, reach):
    """`box_along` for a shape among ``shapes[rows]``: ``state, found``; the mover's position is updated.

    The hits are written from row ``first`` on.

    Along a slope a shape leaves the straight path: its next leg may need what is near in a wider region.
    """
    x, y = mover.x[0], mover.y[0]
    goal_x, goal_y = x + dx, y + dy
    stays = goal_x == x and goal_y == y
    started_in = 0
    if stays or response == CROSS:
        state, started_in = _overlapped_shapes(name, mover, rows, shapes, grid, hits, first)
        if state != DONE or (started_in > 0 and response != CROSS):
            return (NOT_HERE if state == DONE else state), 0
        if stays:
            return DONE, started_in
    region = _padded(bounds_of(mover, ROW), dx, dy, reach)
    normals = some_rows(_MOST_HELD, 2, np.float64)
    passed, after, turns, held, found = 0.0, BEFORE_ALL_SHAPES, 0, 0, started_in
    while turns < MOST_TURNS:
        inside, hit, place = first_shape_hit(mover, goal_x, goal_y, shapes, rows, grid, after)
        if inside and found == 0 and response != CROSS:
            return NOT_HERE, 0
        if hit[0] <= 1.0 and first + found == hits.shape[0]:
            return FULL, 0
        if hit[0] > 1.0:
            mover.x[0], mover.y[0] = goal_x, goal_y
            break
        time, nx, ny = passed + (1.0 - passed) * hit[0], hit[5], hit[6]
        _write(hits, first + found, name, rows, rows.shape[0], hit, time, (nx, ny), place)
        found += 1
        if response == CROSS:
            after = hit
            continue
        if length(place[0] - x, place[1] - y) > _tolerance(bounds_of(mover, ROW)):
            held = 0
        x, y = place
        mover.x[0], mover.y[0] = x, y
        goal_x, goal_y = turn(x, y, goal_x, goal_y, nx, ny, response)
        if goal_x == x and goal_y == y:
            break
        if response == SLIDE and _is_held(goal_x - x, goal_y - y, normals, held):
            break
        bounds = bounds_of(mover, ROW)
        if not _holds(region, _swept(bounds, goal_x - x, goal_y - y, _tolerance(bounds))):
            return (NOT_HERE if reach == WIDE else WIDE), 0
        if held == _MOST_HELD:
            return NOT_HERE, 0
        normals[held, 0], normals[held, 1] = nx, ny
        held += 1
        passed, after, turns = time, BEFORE_ALL_SHAPES, turns + 1
    return DONE, found


# ---- what blocks


@inline
def _sift(shapes, bodies, row, source, first, end, layers, region, buffers):
    """Copy the rows that block from ``source[first:end]`` to ``buffers.near``, as far as they reach a region.

    Returns how many block, how many are open to the mover (``buffers.open``), and whether the mover and all
    that blocks it are boxes.  No body blocks a moving sensor.  ``layers`` are the bits of those that block.
    """
    blockers = opened = 0
    only_boxes = shapes.kinds[row] == BOX
    left, top, right, bottom = region
    for k in range(first, end):
        other = source[k]
        meets = bodies.category[row] & bodies.mask[other] and bodies.mask[row] & bodies.category[other]
        if other == row or not meets:
            continue
        if bodies.sensor[other] or bodies.sensor[row] or not (layers >> np.int64(bodies.layer[other])) & 1:
            buffers.open[opened] = other
            opened += 1
            continue
        box = bounds_of(shapes, other)
        if not (box[0] < right and left < box[2] and box[1] < bottom and top < box[3]):
            continue
        only_boxes &= shapes.kinds[other] == BOX
        buffers.boxes[blockers, 0], buffers.boxes[blockers, 1] = box[0], box[1]
        buffers.boxes[blockers, 2], buffers.boxes[blockers, 3] = box[2], box[3]
        buffers.near[blockers] = other
        blockers += 1
    return blockers, opened, only_boxes


@inline
def _overlapped_boxes(name, box, place, blockers, buffers, grid, found):
    """Write what a box starts in as hits at time 0 and ``place``; how many hits there are then, or -1."""
    x, y, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
    first_column, end_column, first_row, end_row = cells_of_box(grid, x, y, right, bottom)
    # First the bodies, then the tiles row by row.
    for row in range(first_row - 1, end_row):
        begin, end = (0, blockers) if row < first_row else (first_column, end_column)
        for k in range(begin, end):
            if row < first_row:
                other = buffers.boxes[k, 0], buffers.boxes[k, 1], buffers.boxes[k, 2], buffers.boxes[k, 3]
                which = 0.0, 0.0, float(k), -1.0, -1.0
            elif grid.solid[row, k]:
                other = bounds_of_cell(grid, k, row)
                which = 0.0, 0.0, float(blockers), float(row), float(k)
            else:
                continue
            inside, nx, ny, _ = box_box(x, y, right, bottom, other[0], other[1], other[2], other[3], False)
            if inside:
                if found == buffers.hits.shape[0]:
                    return np.int64(-1)
                _write(buffers.hits, found, name, buffers.near, blockers, which, 0.0, (nx, ny), place)
                found += 1
    return found


@inline
def _overlapped_shapes(name, mover, rows, shapes, grid, hits, first):
    """`_overlapped_boxes` for a shape among ``shapes[rows]``: ``state, found``."""
    overlaps = some_rows(_MOST_HELD, 7, np.float64)
    count = overlapping_shapes(mover, shapes, rows, grid, overlaps)
    if count > _MOST_HELD:
        return NOT_HERE, 0
    if first + count > hits.shape[0]:
        return FULL, 0
    place = mover.x[0], mover.y[0]
    for k in range(count):
        body, column, row = overlaps[k, 0], overlaps[k, 1], overlaps[k, 2]
        which = 0.0, 0.0, (body if body >= 0.0 else float(rows.shape[0])), row, column
        normal = overlaps[k, 3], overlaps[k, 4]
        _write(hits, first + k, name, rows, rows.shape[0], which, 0.0, normal, place)
    return DONE, count


@inline
def _along(shapes, static, row, name, path, blockers, only_boxes, buffers, grid, reach, first):
    """The path of body ``row`` among the first ``blockers`` of ``buffers.near``: ``state, found, x, y``.

    ``path`` is the displacement, the response, and how far others that it starts in may push it.  Only hits
    are written, from row ``first`` of ``buffers.hits`` on; they name the mover ``name``.
    """
    x, y = shapes.x[row], shapes.y[row]
    (dx, dy), response, most = path
    if reach == EXACT and shapes.kinds[row] == BOX:
        box = x, y, shapes.width[row], shapes.height[row]
        if not only_boxes or meets_slope(box, dx, dy, response == BOUNCE, grid):
            return PADDED, 0, x, y
        mine, found = buffers.every[:blockers], first
        if is_inside(box[0], box[1], box[2], box[3], buffers.boxes, mine, grid):
            if response != CROSS:
                if most == 0.0:
                    return NOT_HERE, 0, x, y
                pushed, x, y = _pushed_box(shapes, static, row, most, blockers, buffers, grid)
                if not pushed:
                    return NOT_HERE, 0, x, y
            found = _overlapped_boxes(name, box, (x, y), blockers, buffers, grid, first)
        if found >= 0:
            box = x, y, box[2], box[3]
            found, x, y = box_along(
                name, box, dx, dy, buffers.boxes, mine, buffers.near, grid, response, buffers.hits, found
            )
        return (FULL if found < 0 else DONE), found - first, x, y
    if reach == EXACT:
        reach = PADDED
    xs, ys = few(1, np.float64), few(1, np.float64)
    xs[0], ys[0] = x, y
    mover = shape_at(shapes, row, xs, ys)
    rows = buffers.near[:blockers]
    state, found = _shape_along(name, mover, dx, dy, shapes, rows, grid, response, buffers.hits, first, reach)
    return state, found, xs[0], ys[0]


@inline
def _pushed_box(shapes, static, row, most, blockers, buffers, grid):
    """Where a box comes to that bodies push that it starts in and that move, too: ``pushed, x, y``.

    As `world.movement` does it, see there.  Not where the box starts in anything else, or is pushed farther
    than ``most``.
    """
    x, y, width, height = shapes.x[row], shapes.y[row], shapes.width[row], shapes.height[row]
    fixed = 0
    for k in range(blockers):
        if static[buffers.near[k]]:
            at = blockers + fixed
            if at == buffers.boxes.shape[0]:
                return False, x, y
            for side in range(4):
                buffers.boxes[at, side] = buffers.boxes[k, side]
            fixed += 1
    walls = buffers.every[blockers : blockers + fixed]
    if is_inside(x, y, width, height, buffers.boxes, walls, grid):
        return False, x, y
    xs, ys = few(1, np.float64), few(1, np.float64)
    xs[0], ys[0] = x, y
    mover, rows = shape_at(shapes, row, xs, ys), buffers.near[:blockers]
    dx, dy, count = push_from(mover, shapes, rows, static)
    if max(abs(dx), abs(dy)) > most:
        return False, x, y
    if count == 1:
        xs[0], ys[0] = x + dx, y + dy
        _, _, more = push_from(mover, shapes, rows, static)
        if more > 0:
            dx, dy = 0.5 * dx, 0.5 * dy
    goal_x, goal_y, turns = x + dx, y + dy, 0
    while turns < MOST_TURNS and (goal_x != x or goal_y != y):
        hit = first_hit(x, y, width, height, goal_x, goal_y, buffers.boxes, walls, grid, BEFORE_ALL)
        if hit[0] > 1.0:
            return True, goal_x, goal_y
        at = free_place(x, y, width, height, goal_x, goal_y, buffers.boxes, walls, grid, BEFORE_ALL, hit)
        nx, ny = normal_of(hit, x, y, goal_x, goal_y)
        x, y = at
        goal_x, goal_y = turn(x, y, goal_x, goal_y, nx, ny, SLIDE)
        turns += 1
    return True, x, y


# ---- one body


@holds_gil
def move_body(shapes, bodies, row, dx, dy, response, when, layers, count, buffers, grid, reach):
    """Move body ``row`` among the first ``count`` of ``buffers.near``, and mark it as moved.

    Returns ``state, hits, opened, x, y, start_x, start_y, reached``; what is open near the path is in
    ``buffers.open``, and ``reached`` are the `sides_reached`.  With `IF_FREE` the body stays where it is when
    it hits anything.  ``layers`` are the bits of those that block, ``reach`` is the `region_of` for which
    ``near`` was queried.
    """
    start_x, start_y = shapes.x[row], shapes.y[row]
    sort_near(buffers.near, count)
    everywhere = -math.inf, -math.inf, math.inf, math.inf
    blockers, opened, only_boxes = _sift(
        shapes, bodies, row, buffers.near, 0, count, layers, everywhere, buffers
    )
    path = (dx, dy), response, 0.0
    state, found, x, y = _along(
        shapes, bodies.static, row, row, path, blockers, only_boxes, buffers, grid, reach, 0
    )
    if state == FULL:
        state = NOT_HERE
    if state != DONE:
        return state, 0, 0, start_x, start_y, start_x, start_y, np.int64(0)
    reached = np.int64(0)
    if response != CROSS and when != NEVER:
        xs, ys = few(1, np.float64), few(1, np.float64)
        xs[0], ys[0] = x, y
        mover = shape_at(shapes, row, xs, ys)
        reached = sides_reached(mover, dx, dy, shapes, buffers.near[:blockers], grid)
    goes = when == ALWAYS or (when == IF_FREE and found == 0)
    if goes and (x != start_x or y != start_y):
        moved(bodies, row)
        shapes.x[row], shapes.y[row] = x, y
    return state, found, opened, x, y, start_x, start_y, reached


# ---- many bodies


@jit
def plan_step(
    velocity, place, alive, own, group, by_group, seconds, rows, velocities, displacements, responses
):
    """The bodies that have a velocity: their rows, velocities, displacements and responses.

    A body has its ``own`` response or, if that is negative, that of its group.  Returns how many, and how far
    from the origin they are going on an axis.
    """
    count, far = np.int64(0), 0.0
    for row in range(rows.shape[0]):
        vx, vy = velocity[0][row], velocity[1][row]
        if not alive[row] or (vx == 0.0 and vy == 0.0):
            continue
        dx, dy = vx * seconds, vy * seconds
        far = max(far, max(abs(place[0][row] + dx), abs(place[1][row] + dy)))
        rows[count] = row
        velocities[count, 0], velocities[count, 1] = vx, vy
        displacements[count, 0], displacements[count, 1] = dx, dy
        responses[count] = own[row] if own[row] >= 0 else by_group[group[row]]
        count += 1
    return count, far


@jit
def boxes_in_layers(shapes, bodies, alive, layers, number_of, regions, classes, rows, boxes, kinds):
    """Write the boxes to search: of the bodies in some layers, and of movers; returns how many.

    ``layers`` are bits; the bit beyond those of all layers stands for sensors in any.  ``number_of[row]`` is
    the number of a mover, or -1; its box is its region.  ``classes`` are those of movers, of other moving and
    of static bodies; they are written to ``kinds``.
    """
    count = np.int64(0)
    sensors = (layers >> REPLACED) & 1 != 0
    for row in range(number_of.shape[0]):
        m = number_of[row]
        wanted = (layers >> np.int64(bodies.layer[row])) & 1 != 0 or (sensors and bodies.sensor[row])
        if m >= 0:
            for column in range(4):
                boxes[count, column] = regions[m, column]
            kinds[count] = classes[0]
        elif wanted and alive[row]:
            boxes[count, 0], boxes[count, 1], boxes[count, 2], boxes[count, 3] = bounds_of(shapes, row)
            kinds[count] = classes[2 if bodies.static[row] else 1]
        else:
            continue
        rows[count] = row
        count += 1
    return count


@jit
def list_near(pairs, rows, number_of, first, others):
    """From sorted pairs among bodies, what is near each mover; returns how much that is.

    The bodies are ``rows``, ``number_of[row]`` the number of a mover, or -1.  What is near mover ``m`` is
    written to ``others[first[m]:first[m + 1]]``, ascending.  ``first`` are zeros, two more than movers.
    """
    for p in range(pairs.shape[0]):
        for side in range(2):
            m = number_of[rows[pairs[p, side]]]
            if m >= 0:
                first[m + 2] += 1
    for m in range(2, first.shape[0]):
        first[m] += first[m - 1]
    for p in range(pairs.shape[0]):
        for side in range(2):
            m = number_of[rows[pairs[p, side]]]
            if m >= 0:
                others[first[m + 1]] = rows[pairs[p, 1 - side]]
                first[m + 1] += 1
    return first[first.shape[0] - 1]


@inline
def _widened(region, far):
    """A region with ``far`` more on all sides."""
    return region[0] - far, region[1] - far, region[2] + far, region[3] + far


@jit
def regions_of(shapes, rows, displacements, responses, pushes, reach, out):
    """`region_of` for many bodies, each of which may be pushed before it moves."""
    for m in range(rows.shape[0]):
        dx, dy = displacements[m, 0], displacements[m, 1]
        region = _widened(region_of(shapes, rows[m], dx, dy, responses[m] == BOUNCE, reach), pushes[m])
        out[m, 0], out[m, 1], out[m, 2], out[m, 3] = region


@jit
def pushes_of(shapes, bodies, rows, near, pushes):
    """How far each mover may be pushed by others that it starts in and that move, too; if both are boxes.

    Returns whether any is.
    """
    starts, others = near
    pushed = False
    for m in range(rows.shape[0]):
        row = np.int64(rows[m])
        left, top, right, bottom = bounds_of(shapes, row)
        deepest = 0.0
        for k in range(starts[m], starts[m + 1] if shapes.kinds[row] == BOX else starts[m]):
            other = others[k]
            if other == row or bodies.static[other] or shapes.kinds[other] != BOX:
                continue
            box = bounds_of(shapes, other)
            inside, _, _, depth = box_box(left, top, right, bottom, box[0], box[1], box[2], box[3], False)
            if inside:
                deepest = max(deepest, depth)
        pushes[m] = deepest * (1.0 + TOLERANCE)
        pushed |= deepest > 0.0
    return pushed


# A shape takes so many times as long as a box.
_SHAPE_WORK = 16.0


@inline
def _work(dx, dy, near, grid):
    """About how many blockers and tiles a movement tests."""
    tiles = 0.0
    if grid.solid.shape[0] > 0:
        rows, columns = grid.solid.shape
        tiles = min(abs(dx) / grid.width, float(columns)) + min(abs(dy) / grid.height, float(rows))
    return 4.0 + near + tiles


@jit
def move_many(shapes, bodies, movers, layers, waits, begin, near, reach, grid, buffers, places, most):
    """Move many bodies one after the other; each finds the earlier ones at their new places.

    ``movers`` are ``rows, displacements, responses, pushes, alone``, ``near`` are ``starts, others``: mover
    ``m`` is blocked by those of ``others[starts[m]:starts[m + 1]]`` that are in a layer of ``layers``.  They
    were searched for within `regions_of` ``reach``.  With ``waits`` static movers are not moved yet, only
    their places are written.

    Returns ``next, state, found``: all before mover ``next`` have moved, with ``found`` hits.  State is
    `FULL` if the hits of the next one do not fit, `NOT_HERE` if it is one for the general path, and `DONE` if
    about ``most`` boxes were tested or all is done.
    """
    rows, displacements, responses, pushes, alone = movers
    starts, others = near
    found, work = np.int64(0), 0.0
    for m in range(begin, rows.shape[0]):
        row, dx, dy = np.int64(rows[m]), displacements[m, 0], displacements[m, 1]
        state, count, x, y = EXACT, 0, shapes.x[row], shapes.y[row]
        if alone[m]:
            state = NOT_HERE
        push = 0.0
        while EXACT <= state <= reach:
            now = state
            region = _widened(region_of(shapes, row, dx, dy, responses[m] == BOUNCE, now), push)
            if region[0] != region[0]:
                state = NOT_HERE
                break
            blockers, _, only_boxes = _sift(
                shapes, bodies, row, others, starts[m], starts[m + 1], layers, region, buffers
            )
            is_box = now == EXACT and only_boxes
            if push > 0.0 and not (
                is_box and not any_slope(grid, region[0], region[1], region[2], region[3])
            ):
                state = NOT_HERE
                break
            work += (1.0 if is_box else _SHAPE_WORK) * _work(dx, dy, float(blockers), grid)
            path = (dx, dy), np.int64(responses[m]), push
            state, count, x, y = _along(
                shapes, bodies.static, row, m, path, blockers, only_boxes, buffers, grid, now, found
            )
            if state == NOT_HERE and is_box and push == 0.0 and pushes[m] > 0.0:
                state, push = EXACT, pushes[m]
        if state == FULL:
            return m, FULL, found
        if state != DONE:
            return m, NOT_HERE, found
        found += count
        places[m, 0], places[m, 1] = x, y
        stays = waits and bodies.static[row]
        if not stays and (x != shapes.x[row] or y != shapes.y[row]):
            moved(bodies, row)
            shapes.x[row], shapes.y[row] = x, y
        if work > most:
            return m + 1, DONE, found
    return rows.shape[0], DONE, found
