"""Obstacles around a walker, and tests against them: boxes, and the sloped sides of other shapes.

Everything is computed with gravity towards larger y.  Where gravity points to the side, x and y of what is
around are exchanged; for gravity towards smaller numbers every y is negated (which is exact).  What a walk
answers is turned back.  An obstacle is its bounding box, compared edge for edge as everywhere in
the library, intersected with half planes ``nx * x + ny * y <= c``, one for each sloped side.  A round
corner, of an obstacle or of the walker, is replaced by a polygon around it (``ring``); for a walker that
begins inside that polygon the tangent nearest to the walker is added, so that a walker that is flush with it
is outside.

A round walker is its bounding box here.  A plane that its corner of radius ``r`` touches is as far from the
corner of the box as ``r * (|nx| + |ny| - 1)``: by so much it is moved back, and what a box of this size meets
is what the walker meets.

Along straight edges all comparisons are exact.  A walker keeps a ``tolerance`` from sloped sides: some 200
units in the last place of the largest coordinate around.  That is so much larger than any rounding error
here, and so much smaller than the distance `World.grounded` looks down, that a walker that rests on a slope
is outside of it in exact arithmetic too.

A walker is ``left, top, right, bottom``.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import common, inline
from broadphase.kernels.machine.memory import few, some_rows
from broadphase.kernels.movement.one_way import SLANTED, blocks, sides_of
from broadphase.kernels.movement.sweep import ALL_SIDES, NEVER, pass_by
from broadphase.kernels.movement.sweep_shapes import ROW, set_tile, table_for_one
from broadphase.kernels.shapes.contact import length
from broadphase.kernels.shapes.table import bounds_of, corner_at, corners, rounding
from broadphase.kernels.tiles.grid import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    bounds_of_cell,
    cells_of_box,
    sides_at,
    tile_of,
)
from broadphase.kernels.tiles.slopes import is_ladder, profile_at, slope_of

TOLERANCE = 5e-14  # of the largest coordinate
TOUCH = 8.0  # this many tolerances apart counts as touching
OUTSIDE = 0.25  # this share of a tolerance counts as outside

X_FACE, Y_FACE, FIRST_PLANE = 0, 1, 2

_PARALLEL = 1e-9  # the sine of an angle


class WalkSettings(NamedTuple):
    """How to walk."""

    snap: float
    """How far down a floor is followed."""
    rise: float
    """Of the steepest slope that can be walked: its tangent, and the sine of its normal."""
    upright: float
    step: float
    corner: float
    flip: float
    """-1 where gravity points to smaller y, or to smaller x, else 1."""
    drop: bool
    """Whether the walker falls through tiles that block only on top."""
    turned: bool
    """Whether gravity points along x."""


class Obstacles(NamedTuple):
    """Scratch memory for the obstacles around one walker."""

    boxes: npt.NDArray[np.float64]
    """``(n, 4)``"""
    names: npt.NDArray[np.int64]
    """``(n, 4)``: row of the body or -1, column and row of the tile or -1, sides that block."""
    first: npt.NDArray[np.int64]
    """``(n + 1,)``: where the planes of each begin."""
    planes: npt.NDArray[np.float64]
    """``(p, 4)``: unit normal, how far the obstacle reaches along it, and 1 at a round corner."""
    counts: npt.NDArray[np.int64]
    """``(2,)``: how many there are, and whether there were more than the memory holds."""
    tolerance: npt.NDArray[np.float64]
    """``(1,)``: how far a walker keeps from sloped sides."""


@inline
def exchanged(x, y, rules):
    """A point or vector of the world as a walk takes it, or back: gravity points along y."""
    return (y, x) if rules.turned else (x, y)


@inline
def exchanged_box(box, rules):
    """`exchanged` for a box."""
    left, top, right, bottom = box
    return (top, left, bottom, right) if rules.turned else (left, top, right, bottom)


@inline
def _floor_side(rules):
    """The side of the world's bodies and tiles on which walkers stand."""
    if rules.turned:
        return np.int64(LEFT if rules.flip > 0.0 else RIGHT)
    return np.int64(TOP if rules.flip > 0.0 else BOTTOM)


@inline
def _put(obstacles, box, body, column, row, sides, rules):
    """Append an obstacle, without planes yet."""
    count = obstacles.counts[0]
    if count + 1 >= obstacles.first.shape[0]:
        obstacles.counts[1] = 1
        return
    left, top, right, bottom = exchanged_box(box, rules)
    if rules.turned:
        sides = (sides & SLANTED) | (sides & (LEFT | RIGHT)) << 2 | (sides & (TOP | BOTTOM)) >> 2
    if rules.flip < 0.0:
        top, bottom = -bottom, -top
        turned = sides & (LEFT | RIGHT | SLANTED)
        turned |= BOTTOM if sides & TOP != 0 else np.int64(0)
        turned |= TOP if sides & BOTTOM != 0 else np.int64(0)
        sides = turned
    obstacles.boxes[count, 0], obstacles.boxes[count, 1] = left, top
    obstacles.boxes[count, 2], obstacles.boxes[count, 3] = right, bottom
    obstacles.names[count, 0], obstacles.names[count, 1], obstacles.names[count, 2] = body, column, row
    obstacles.names[count, 3] = sides
    obstacles.first[count + 1] = obstacles.first[count]
    obstacles.counts[0] = count + 1


@inline
def plane_for(nx, ny, c, radius, rules):
    """A plane, as a corner with this radius touches it."""
    nx, ny = exchanged(nx, ny, rules)
    return nx, rules.flip * ny, c + radius * (1.0 - abs(nx) - abs(ny))


@inline
def _put_plane(obstacles, nx, ny, c, radius, is_round, rules):
    """Append a plane of the last obstacle.

    One of a round corner that is a side of the obstacle is left out: what stops there has met that side.
    """
    count, planes = obstacles.counts[0], obstacles.planes
    last = obstacles.first[count]
    if last >= planes.shape[0]:
        obstacles.counts[1] = 1
        return
    planes[last, 0], planes[last, 1], planes[last, 2] = plane_for(nx, ny, c, radius, rules)
    planes[last, 3] = 1.0 if is_round else 0.0
    if is_round:
        for j in range(obstacles.first[count - 1], last):
            across = planes[j, 0] * planes[last, 1] - planes[j, 1] * planes[last, 0]
            along = planes[j, 0] * planes[last, 0] + planes[j, 1] * planes[last, 1]
            if planes[j, 3] != 0.0:
                break
            if abs(across) < _PARALLEL and along > 0.0:
                return
    obstacles.first[count] = last + 1


@inline
def _reach_of(shapes, row, nx, ny):
    """How far the core of a shape reaches along a normal, relative to its position."""
    x, y = corner_at(shapes, row, 0)
    best = x * nx + y * ny
    for k in range(1, corners(shapes, row)):
        x, y = corner_at(shapes, row, k)
        best = max(best, x * nx + y * ny)
    return best


@inline
def _nearer(best, px, py, qx, qy):
    """The shorter displacement: ``square, x, y, dx, dy`` from a point of a core to one of a walker."""
    dx, dy = qx - px, qy - py
    square = dx * dx + dy * dy
    return (square, px, py, dx, dy) if square < best[0] else best


@common
def tangent_of(shapes, row, walker, radius):
    """The normal of a round shape towards a walker, and how far the shape reaches along it: ``nx, ny, c``.

    The normal is zero if the core of the shape meets that of the walker.
    """
    left, top, right, bottom = walker
    left, top = left + radius, top + radius
    right, bottom = max(right - radius, left), max(bottom - radius, top)
    x, y, grown, sides = shapes.x[row], shapes.y[row], rounding(shapes, row), corners(shapes, row)
    best = (math.inf, 0.0, 0.0, 0.0, 0.0)
    for k in range(sides):
        px, py = corner_at(shapes, row, k)
        px, py = x + px, y + py
        best = _nearer(best, px, py, min(max(px, left), right), min(max(py, top), bottom))
        qx, qy = corner_at(shapes, row, k + 1 if k + 1 < sides else 0)
        wx, wy = x + qx - px, y + qy - py
        along = wx * wx + wy * wy
        for c in range(4 if along > 0.0 else 0):
            cx, cy = (left if c < 2 else right), (top if c % 2 == 0 else bottom)
            part = min(max(((cx - px) * wx + (cy - py) * wy) / along, 0.0), 1.0)
            best = _nearer(best, px + part * wx, py + part * wy, cx, cy)
    size = length(best[3], best[4])
    if size == 0.0:
        return 0.0, 0.0, 0.0
    nx, ny = best[3] / size, best[4] / size
    reach = nx * best[1] + ny * best[2]
    if nx * x + ny * y + _reach_of(shapes, row, nx, ny) > reach + 0.5 * size:
        return 0.0, 0.0, 0.0  # from within
    return nx, ny, reach + grown


@inline
def _put_sides(obstacles, shapes, row, ring, mover, rules):
    """Append the slanted sides of a shape, and of its round corners and those of the walker, in the world."""
    walker, radius, tangents = mover
    x, y, grown, sides = shapes.x[row], shapes.y[row], rounding(shapes, row), corners(shapes, row)
    for k in range(sides if sides > 1 else 0):
        px, py = corner_at(shapes, row, k)
        qx, qy = corner_at(shapes, row, k + 1 if k + 1 < sides else 0)
        size = length(qx - px, qy - py)
        nx, ny = (qy - py) / size, (px - qx) / size
        if nx != 0.0 and ny != 0.0:
            reach = (nx * px + ny * py) + grown
            _put_plane(obstacles, nx, ny, (nx * x + ny * y) + reach, radius, False, rules)
    if grown + radius > 0.0:
        for k in range(ring.shape[0]):
            nx, ny = ring[k, 0], ring[k, 1]
            reach = (nx * x + ny * y) + (_reach_of(shapes, row, nx, ny) + grown)
            _put_plane(obstacles, nx, ny, reach, radius, True, rules)
        nx, ny, reach = tangent_of(shapes, row, walker, radius) if tangents else (0.0, 0.0, 0.0)
        if nx != 0.0 and ny != 0.0:
            _put_plane(obstacles, nx, ny, reach, radius, True, rules)


@inline
def _put_tile(obstacles, grid, column, row, tile, ring, mover, rules):
    sides, slope = ALL_SIDES, profile_at(grid, column, row) != 0
    if slope:
        left, top, right, bottom, _, _, _ = slope_of(grid, column, row)
        box = left, top, right, bottom
    else:
        sides = _sides_for_walkers(grid, column, row, rules)
        box = bounds_of_cell(grid, column, row)
    if sides == 0:
        return
    _put(obstacles, box, -1, column, row, sides, rules)
    if slope or mover[1] > 0.0:
        set_tile(tile, grid, column, row)
        _put_sides(obstacles, tile, ROW, ring, mover, rules)


@inline
def _sides_for_walkers(grid, column, row, rules):
    """`sides_at`, but a ladder's top can be stood on, and dropping walkers pass one-way tops."""
    sides = sides_at(grid, column, row)
    if sides == ALL_SIDES:
        return sides
    up_x, up_y = exchanged(0, -1 if rules.flip > 0.0 else 1, rules)
    if is_ladder(grid, column, row) and not is_ladder(grid, column + up_x, row + up_y):
        sides |= _floor_side(rules)
    if rules.drop:
        sides &= ~_floor_side(rules)
    return sides & ALL_SIDES


@common
def gather(obstacles, around, region, x, y, trip, tangents):
    """Collect everything that blocks within a region.

    ``around`` are the shapes and which of them are near, their one-way sides, the tiles, and the ring of
    normals; ``tangents`` to round corners from where the walker is are added.
    """
    (shapes, rows, one_way, grid, ring), rules = around, trip.rules
    left, top, right, bottom = exchanged_box(region, rules)
    walker = exchanged_box((x, y, x + trip.width, y + trip.height), rules)
    mover = walker, trip.radius, tangents
    obstacles.first[0] = obstacles.counts[0] = 0
    for k in range(rows.shape[0]):
        row = rows[k]
        a, b, c, d = bounds_of(shapes, row)
        if a <= right and left <= c and b <= bottom and top <= d:
            sides = sides_of(shapes, row, one_way[row])
            if rules.drop and sides != ALL_SIDES:
                sides &= ~_floor_side(rules)
            _put(obstacles, (a, b, c, d), np.int64(row), -1, -1, sides, rules)
            _put_sides(obstacles, shapes, row, ring, mover, rules)
    if grid.solid.shape[0] == 0:
        return
    kind, numbers, span = few(1, np.uint8), some_rows(4, 1, np.float64), some_rows(2, 1, np.int64)
    tile = table_for_one(kind, numbers, span, some_rows(8, 2, np.float64))
    first, end, top_row, low_row = cells_of_box(grid, left, top, right, bottom)
    for row in range(top_row, low_row):
        for column in range(first, end):
            _put_tile(obstacles, grid, column, row, tile, ring, mover, rules)


@inline
def ladder_at(grid, x, y, width, height, rules):
    """The ladder that holds the middle of a walker, or its feet; -1, -1 for none."""
    if grid.ground.shape[0] == 0:
        return -1, -1
    middle = x + 0.5 * width
    feet = 0.999 if rules.flip > 0.0 else 0.001
    for part in range(2):
        middle_y = y + height * (0.5 if part == 0 else feet)
        across, down = exchanged(middle, middle_y, rules)
        column = math.floor((across - grid.x) / grid.width)
        row = math.floor((down - grid.y) / grid.height)
        if is_ladder(grid, column, row):
            return tile_of(grid, column, row)
    return -1, -1


@inline
def gap(planes, j, walker):
    """How far a walker is outside of a plane."""
    nx, ny = planes[j, 0], planes[j, 1]
    x = walker[0] if nx > 0.0 else walker[2]
    y = walker[1] if ny > 0.0 else walker[3]
    return nx * x + ny * y - planes[j, 2]


@inline
def is_beside(boxes, k, walker):
    """Whether a walker is neither above nor below an obstacle."""
    return walker[0] >= boxes[k, 2] or walker[2] <= boxes[k, 0]


@inline
def is_outside(obstacles, k, walker):
    """Whether a walker is certainly outside of an obstacle."""
    boxes = obstacles.boxes
    if is_beside(boxes, k, walker) or walker[1] >= boxes[k, 3] or walker[3] <= boxes[k, 1]:
        return True
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        if gap(obstacles.planes, j, walker) >= OUTSIDE * obstacles.tolerance[0]:
            return True
    return False


@inline
def is_clear(obstacles, k, walker):
    """Whether a walker may be where it is: it may be inside of what blocks on some sides only."""
    return obstacles.names[k, 3] != ALL_SIDES or is_outside(obstacles, k, walker)


@inline
def is_clear_of_all(obstacles, walker):
    """`is_clear` for all obstacles."""
    for k in range(obstacles.counts[0]):
        if not is_clear(obstacles, k, walker):
            return False
    return True


@inline
def touch_of(obstacles):
    """How far apart counts as touching."""
    return TOUCH * obstacles.tolerance[0]


@inline
def height_on(plane, left, right, tolerance):
    """Where the feet (or the head) of a walker rest on a plane."""
    nx, ny, reach = plane
    return (reach + tolerance - nx * (left if nx > 0.0 else right)) / ny


@inline
def height_of(obstacles, j, left, right):
    """Where the feet (or the head) of a walker rest on a sloped side."""
    plane = obstacles.planes[j, 0], obstacles.planes[j, 1], obstacles.planes[j, 2]
    return height_on(plane, left, right, obstacles.tolerance[0])


@inline
def normal_of(obstacles, side, forward, down):
    """The normal out of the side that was met."""
    if side == X_FACE:
        return (-1.0 if forward > 0.0 else 1.0), 0.0
    if side == Y_FACE:
        return 0.0, (-1.0 if down > 0.0 else 1.0)
    return obstacles.planes[side - FIRST_PLANE, 0], obstacles.planes[side - FIRST_PLANE, 1]


@inline
def _meet(obstacles, k, walker, goal):
    """When and through what a walker on a straight path enters an obstacle: ``time, side``."""
    never, boxes, tolerance = (math.inf, 0), obstacles.boxes, obstacles.tolerance[0]
    enter_x, leave_x = pass_by(walker[0], walker[2], goal[0], goal[2], boxes[k, 0], boxes[k, 2])
    if enter_x == NEVER:
        return never
    enter_y, leave_y = pass_by(walker[1], walker[3], goal[1], goal[3], boxes[k, 1], boxes[k, 3])
    if enter_y == NEVER or not (enter_x < leave_y and enter_y < leave_x):
        return never
    enter, side = (enter_x, X_FACE) if enter_x > enter_y else (enter_y, Y_FACE)
    leave = min(leave_x, leave_y)
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        before, after = gap(obstacles.planes, j, walker), gap(obstacles.planes, j, goal)
        if before < OUTSIDE * tolerance:
            if after >= OUTSIDE * tolerance and before >= -tolerance:
                return never  # it was on the edge, and leaves
            if after > tolerance:
                leave = min(leave, (tolerance - before) / (after - before))
        elif after >= OUTSIDE * tolerance:
            return never  # outside of this side on the whole path
        else:
            time = max((before - tolerance) / (before - after), 0.0)
            if time > enter:
                enter, side = time, FIRST_PLANE + j
    if enter < 0.0 or not enter < leave:
        return never
    sides = obstacles.names[k, 3]
    if side >= FIRST_PLANE and obstacles.planes[side - FIRST_PLANE, 3] != 0.0:
        sides &= ~SLANTED
    if not blocks(sides, *normal_of(obstacles, side, goal[0] - walker[0], goal[3] - walker[3])):
        return never
    return min(enter, 1.0), side


@inline
def first_meeting(obstacles, walker, goal):
    """The first thing that a walker meets on a straight path: ``time, obstacle, side``.

    Of the foot of a slope and a lower side, met at once, it is the lower one, whatever their order.
    """
    best, which, side, slanted = math.inf, -1, 0, False
    for k in range(obstacles.counts[0]):
        time, through = _meet(obstacles, k, walker, goal)
        first, end = obstacles.first[k], obstacles.first[k + 1]
        slopes = first < end and obstacles.planes[first, 3] == 0.0
        at_once = which >= 0 and time == best and through == X_FACE and side == X_FACE
        at_once = at_once and (slopes or slanted)
        if time < best or (at_once and obstacles.boxes[k, 1] > obstacles.boxes[which, 1]):
            best, which, side, slanted = time, k, through, slopes
    return best, which, side
