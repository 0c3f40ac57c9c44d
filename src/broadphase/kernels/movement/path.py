"""The path of one body, from hit to hit, each answered with a response, until the goal or a stop.

Everything that is swept goes this way: one body or thousands, a body that others push, and one whose hits
are answered by a function in Python.  For that `follow` can be left and continued: its state is in memory
(`Buffers`); where the hits are full it returns, and takes the response to the last one with the next call.

1. *Start.*  What the body starts in is a hit at time 0.  What does not move pushes it out the shortest way
   (`depenetration.push_from_walls`); then others that move push it gently, until something that does not move
   stops it.  It moves on through what it is still in.
2. *Leg.*  What is near a straight leg is chosen from all that is near the path.  A box among boxes is exact
   and needs one choice, because a hit only shortens its path or mirrors it.  Other shapes may be turned aside
   by a slope, so it is chosen again for each leg; `TOO_FAR` says that the leg needs what is near in a larger
   region.
3. *Response.*  A hit ends the leg, and its response turns the goal.

The path is stored as a goal and not as a remainder that shrinks: on an axis without a hit, a body arrives at
its start plus the movement, to the last bit.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.movement.depenetration import filled_in, push_from_walls, was_searched, write_overlaps
from broadphase.kernels.movement.one_way import STARTS_IN
from broadphase.kernels.movement.separation import push_from
from broadphase.kernels.movement.sweep import (
    BEFORE_ALL,
    BOUNCE,
    CROSS,
    MOST_TURNS,
    SLIDE,
    edges_of_body,
    first_box_hit,
    turn,
)
from broadphase.kernels.movement.sweep_shapes import ROW, first_shape_hit
from broadphase.kernels.shapes.contact import length
from broadphase.kernels.shapes.table import BOX, TOLERANCE, bounds_of, bounds_overlap, tolerance_of, widened
from broadphase.kernels.tiles.grid import tile_of, without_tiles
from broadphase.kernels.tiles.slopes import any_slope

# The results of `follow`.
DONE = 0
TOO_FAR = 1  # call again with all that is near in `Buffers.region`
FULL = 2  # read the hits, and call again with the response to the last

# The stages of a path: at its start, out of what does not move, while others push it, and on its way.
START, FREED, PUSHED, ON = 0, 1, 2, 3


class Buffers(NamedTuple):
    """Memory for one path at a time, reused by all."""

    near: npt.NDArray[np.int32]
    """Rows of bodies that may block."""
    boxes: npt.NDArray[np.float64]
    """``(n, 4)``: their bounds."""
    sides: npt.NDArray[np.uint8]
    """The sides of each that can stop the mover, see `one_way.sides_from`."""
    open: npt.NDArray[np.int32]
    """Rows of bodies near the path that let the mover through: sensors, and layers that do not block."""
    chosen: npt.NDArray[np.int64]
    """Numbers in ``near`` of those near the leg."""
    rows: npt.NDArray[np.int32]
    """Rows of those near the leg."""
    hits: npt.NDArray[np.float64]
    """``(h, 9)``: time, normal, place, body, column and row of the tile, mover; -1 where not applicable."""
    held: npt.NDArray[np.float64]
    """``(MOST_TURNS, 2)``: the normals of surfaces that a shape slid along at its very place."""
    numbers: npt.NDArray[np.float64]
    """``(20,)``: the region that the leg needs; the goal, the whole displacement, the time at which the leg
    begins; the last hit, its place, and its time."""
    counts: npt.NDArray[np.int64]
    """``(9,)``: the stage, turns, how many surfaces hold it, whether the last hit waits for its response, how
    many are chosen (-1: none yet), whether the leg is exact, how many hits there were before, and are, and
    whether tiles push it out."""
    farthest: float
    """No place for a body that starts in something is looked for farther away."""


@inline
def begin(buffers, x, y, dx, dy, stage, found):
    """Set the state to the start of a path; its hits follow those found before."""
    numbers, counts = buffers.numbers, buffers.counts
    numbers[4], numbers[5], numbers[6], numbers[7], numbers[8] = x + dx, y + dy, dx, dy, 0.0
    counts[0], counts[1], counts[2], counts[3] = stage, 0, 0, 0
    counts[4], counts[5], counts[6], counts[7], counts[8] = -1, 0, found, found, 1


@inline
def put_near(buffers, k, row, box, sides):
    """Write a body that may block, with its bounds."""
    buffers.near[k], buffers.sides[k] = row, np.uint8(sides)
    buffers.boxes[k, 0], buffers.boxes[k, 1], buffers.boxes[k, 2], buffers.boxes[k, 3] = box


# ---- regions


@inline
def swept_bounds(bounds, dx, dy, pad):
    """The region that bounds can touch on a straight path, padded."""
    left, top, right, bottom = bounds
    from_x, to_x = min(left, left + dx) - pad, max(right, right + dx) + pad
    from_y, to_y = min(top, top + dy) - pad, max(bottom, bottom + dy) + pad
    return from_x, from_y, to_x, to_y


@inline
def swept_region(x, y, width, height, dx, dy, mirrored):
    """The region that a box sweeps; with ``mirrored``, for a bounce, to both sides."""
    if mirrored:
        pad_x = abs(dx) + 1e-12 * (abs(x) + abs(dx) + width)
        pad_y = abs(dy) + 1e-12 * (abs(y) + abs(dy) + height)
        return x - pad_x, y - pad_y, x + width + pad_x, y + height + pad_y
    goal_x, goal_y = x + dx, y + dy
    return min(x, goal_x), min(y, goal_y), max(x + width, goal_x + width), max(y + height, goal_y + height)


@inline
def enlarged(region):
    """A region enlarged by rounding: what touches it overlaps it."""
    return next_down(region[0]), next_down(region[1]), next_up(region[2]), next_up(region[3])


@inline
def _choose(scene, stage, region, buffers):
    """Choose what reaches a region: how many, and whether all are boxes; -1 if more had to be searched.

    Only what is fixed stops a body that is pushed, and not what is one-way and has it inside.
    """
    (table, fixed, found, searched, _), region = scene, enlarged(region)
    if not was_searched(searched, region, buffers.numbers):
        return np.int64(-1), True
    count, only_boxes = np.int64(0), True
    for k in range(found):
        row = buffers.near[k]
        if (stage == PUSHED and not fixed[row]) or buffers.sides[k] == 0:
            continue
        if (stage == FREED or stage == PUSHED) and buffers.sides[k] & STARTS_IN != 0:
            continue
        if bounds_overlap(edges_of_body(buffers.boxes, k), region):
            only_boxes &= table.kinds[row] == BOX
            buffers.chosen[count] = k
            buffers.rows[count] = row
            count += 1
    return count, only_boxes


# ---- the path


@inline
def _is_held(dx, dy, normals, count):
    """Whether a path leads into a surface that the shape slid along at this very place."""
    least = -1e-12 * length(dx, dy)
    for k in range(count):
        if dx * normals[k, 0] + dy * normals[k, 1] < least:
            return True
    return False


@inline
def _write(hits, k, mover, time, normal, place, body, tile):
    hits[k, 0] = time
    hits[k, 1], hits[k, 2] = normal
    hits[k, 3], hits[k, 4] = place
    hits[k, 5], hits[k, 6], hits[k, 7], hits[k, 8] = body, float(tile[0]), float(tile[1]), float(mover)


@inline
def _push_of_others(mover, scene, chosen, buffers):
    """How far others that move push the mover: ``dx, dy, found``; not found if more has to be searched.

    Out of a single one it goes all the way, if there is room.  Else it goes a little, at most as far as the
    deepest overlap, also into others: a free place may be far away in a crowd.  The others make way when they
    move, and the next movement of this one does the rest.
    """
    table, fixed = scene[:2]
    dx, dy, pushers = push_from(mover, table, buffers.rows[:chosen], fixed)
    # Whichever way it slides, it gets no farther than that.
    bounds, far = bounds_of(mover, ROW), (1.0 + 2.0 * TOLERANCE) * length(dx, dy)
    region = widened(bounds, far + 2.0 * tolerance_of(bounds))
    chosen, _ = _choose(scene, FREED, region, buffers)
    if chosen < 0:
        return dx, dy, False
    if pushers == 1:
        x, y = mover.x[ROW], mover.y[ROW]
        mover.x[ROW], mover.y[ROW] = x + dx, y + dy
        _, _, others = push_from(mover, table, buffers.rows[:chosen], fixed)
        mover.x[ROW], mover.y[ROW] = x, y
        if others > 0:
            dx, dy = 0.5 * dx, 0.5 * dy
    return dx, dy, True


@inline
def _starts_near(bounds, buffers, chosen, grid):
    """Whether something chosen, or a tile, reaches into bounds: nothing else can be started in."""
    for k in range(chosen):
        if bounds_overlap(bounds, edges_of_body(buffers.boxes, buffers.chosen[k])):
            return True
    return filled_in(grid, *bounds)[0]


@inline
def _write_start(name, mover, table, chosen, exact, grid, found, buffers):
    """Write what the mover starts in after the hits that were found: ``state, how many``."""
    if not _starts_near(bounds_of(mover, ROW), buffers, chosen, grid):
        return DONE, 0
    rows, numbers, hits = buffers.rows[:chosen], buffers.chosen[:chosen], buffers.hits
    more = write_overlaps(mover, table, rows, exact, grid, hits[found:])
    if found + more > hits.shape[0]:
        return FULL, 0
    end = found
    for k in range(found, found + more):
        body, row, tile = np.int64(hits[k, 0]), -1.0, (hits[k, 1], hits[k, 2])
        if body >= 0:
            row = float(rows[body])
        if body >= 0 and buffers.sides[numbers[body]] & STARTS_IN != 0:
            continue
        place = mover.x[ROW], mover.y[ROW]
        _write(hits, end, name, 0.0, (hits[k, 3], hits[k, 4]), place, row, tile)
        end += 1
    return DONE, end - found


@inline
def name_tiles(grid, hits):
    """Name cells that go around by their tiles."""
    for k in range(hits.shape[0] if grid.around != 0 else 0):
        if hits[k, 5] < 0.0:
            column, row = tile_of(grid, np.int64(hits[k, 6]), np.int64(hits[k, 7]))
            hits[k, 6], hits[k, 7] = float(column), float(row)


@jit
def follow(name, mover, scene, response, asks, buffers):
    """Follow the path of ``mover[0]`` to its end, or until something is needed: see the results above.

    A scene is ``table, fixed, near, searched, grid``: ``buffers.near[:near]`` are the rows of the table that
    may block within the region ``searched``; those that are ``fixed``, by row, do not move; what has no sides
    is no obstacle.  With ``asks`` a function answers: it returns after each hit on its way (`FULL`).

    One loop, because each leg depends on the whole state after the one before.
    """
    table, _, _, _, grid = scene
    numbers, counts, hits = buffers.numbers, buffers.counts, buffers.hits
    stage, turns, held, pending, chosen = counts[0], counts[1], counts[2], counts[3], counts[4]
    exact, first, found, known = counts[5] != 0, counts[6], counts[7], counts[7]
    x, y, goal_x, goal_y = mover.x[ROW], mover.y[ROW], numbers[4], numbers[5]
    way_x, way_y, passed = numbers[6], numbers[7], numbers[8]
    place, time, hit, after, state = (numbers[17], numbers[18]), numbers[19], BEFORE_ALL, BEFORE_ALL, DONE
    if pending != 0:
        last = numbers[9:]
        hit = last[0], last[1], last[2], last[3], last[4], last[5], last[6], last[7]
    while True:
        if stage != PUSHED and found == hits.shape[0]:
            state = FULL
            break
        ends = False
        if pending != 0 and asks and stage == ON and found > known:
            state = FULL
            break
        if pending != 0:
            pending = np.int64(0)
            answer = SLIDE if stage == PUSHED else response
            if answer == CROSS:
                after = hit
            else:
                if not exact and length(place[0] - x, place[1] - y) > tolerance_of(bounds_of(mover, ROW)):
                    held = np.int64(0)
                x, y = place
                mover.x[ROW], mover.y[ROW] = x, y
                goal_x, goal_y = turn(x, y, goal_x, goal_y, hit[5], hit[6], answer)
                passed, after, turns = time, BEFORE_ALL, turns + 1
                ends = (goal_x == x and goal_y == y) or turns == MOST_TURNS
                if not (exact or ends):
                    ends = answer == SLIDE and _is_held(goal_x - x, goal_y - y, buffers.held, held)
                    buffers.held[held, 0], buffers.held[held, 1] = hit[5], hit[6]
                    held, chosen = held + 1, np.int64(-1)
        if not ends and chosen < 0:
            bounds, exact = bounds_of(mover, ROW), False
            if mover.kinds[ROW] == BOX and turns == 0:
                dx, dy = (goal_x - x, goal_y - y) if stage == PUSHED else (way_x, way_y)
                mirrored = stage != PUSHED and (asks or response == BOUNCE)
                region = swept_region(x, y, mover.width[ROW], mover.height[ROW], dx, dy, mirrored)
                chosen, exact = _choose(scene, stage, region, buffers)
                exact = exact and not any_slope(grid, *region)
            if not exact:
                region = swept_bounds(bounds, goal_x - x, goal_y - y, tolerance_of(bounds))
                chosen, _ = _choose(scene, stage, region, buffers)
            if chosen < 0:
                state = TOO_FAR
                break
        if stage == START:
            tiles = grid if counts[8] != 0 else without_tiles(grid)
            state, more = _write_start(name, mover, table, chosen, exact, tiles, found, buffers)
            if state != DONE:
                break
            found += more
            stage, starts = np.int64(FREED if more > 0 and response != CROSS else ON), hits[first:found]
            if stage == FREED:
                if not push_from_walls(mover, scene, exact, tiles, starts, buffers):
                    state = TOO_FAR
                    break
                x, y, chosen = mover.x[ROW], mover.y[ROW], np.int64(-1)
            name_tiles(grid, starts)
            continue
        if stage == FREED:
            dx, dy, enough = _push_of_others(mover, scene, chosen, buffers)
            if not enough:
                chosen, state = np.int64(-1), TOO_FAR
                break
            goal_x, goal_y = x + dx, y + dy
            stage, chosen = np.int64(PUSHED), np.int64(-1)
            continue
        if not ends:
            bodies = buffers.chosen[:chosen]
            if exact:
                path = x, y, mover.width[ROW], mover.height[ROW], goal_x, goal_y
                hit, place = first_box_hit(path, buffers.boxes, buffers.sides, bodies, grid, after)
            else:
                rows = buffers.rows[:chosen]
                hit, place = first_shape_hit(
                    mover, goal_x, goal_y, table, rows, buffers.sides, bodies, grid, after
                )
            if hit[0] > 1.0:
                x, y = goal_x, goal_y
                mover.x[ROW], mover.y[ROW] = x, y
                ends = True
            else:
                pending, time = np.int64(1), passed + (1.0 - passed) * hit[0]
                if stage == ON:
                    is_body = hit[2] < chosen
                    body, tile = -1.0, (np.int64(-1), np.int64(-1))
                    if is_body:
                        body = float(buffers.rows[np.int64(hit[2])])
                    else:
                        tile = tile_of(grid, np.int64(hit[4]), np.int64(hit[3]))
                    _write(hits, found, name, time, (hit[5], hit[6]), place, body, tile)
                    found += 1
        if ends and stage == ON:
            break
        if ends:  # pushed out of others: now the movement begins
            for k in range(first, found):
                hits[k, 3], hits[k, 4] = x, y
            goal_x, goal_y = x + way_x, y + way_y
            stage, turns, held, chosen = np.int64(ON), np.int64(0), np.int64(0), np.int64(-1)
            passed, after = 0.0, BEFORE_ALL
    numbers[4], numbers[5], numbers[8] = goal_x, goal_y, passed
    numbers[17], numbers[18], numbers[19] = place[0], place[1], time
    for k in range(8 if pending != 0 else 0):
        numbers[9 + k] = hit[k]
    counts[0], counts[1], counts[2], counts[3], counts[4] = stage, turns, held, pending, chosen
    counts[5], counts[7] = (1 if exact else 0), found
    return state
