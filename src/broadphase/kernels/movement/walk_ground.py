r"""The ground probe and the snap: what a walker stands on, and the way down to it.

*Ground probe.*  Feet look down for a surface: the top of an obstacle, or a sloped side where a corner of
the walker rests on it.  A walker that is a rounding error above a surface stands on it, and so does one that
is a rounding error below (`eased`).  A level floor holds the walker, a steep one does not::

    |  walker  |                  the left corner rests on
    |          |                  the side, the right one
    o__________|                  is over air
    |\
    | \\  slope

*Snap.*  A walker that has just walked off its floor, over the top of a slope or down a small step, does not
fly on: if the ground probe finds a level floor within ``snap`` below, it moves down to that.
"""

import math

import numpy as np

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.machine.memory import few, some_rows
from broadphase.kernels.movement.sweep_shapes import ROW, set_tile, table_for_one
from broadphase.kernels.movement.walk_obstacles import (
    TOUCH,
    exchanged_box,
    height_of,
    is_beside,
    is_clear,
    is_clear_of_all,
    set_plane,
    tangent_of,
)
from broadphase.kernels.movement.walk_path import edges_at, place_with_feet
from broadphase.kernels.tiles.grid import TOP

# How much higher the polygon around a corner may be, for each unit of its width, on slopes of up to 60
# degrees; how many steps of Newton's method lead down; and where the side of a corner is as good as upright.
_HIGHER = 0.005
_STEPS = 5
_SHARP = 0.2


@inline
def rest_on(obstacles, k, walker, tolerance, out=-1.0):
    """Where feet rest on an obstacle: the height, and the plane, -1 for its top.

    With ``out`` 1, where a head touches it from below.
    """
    best, plane = obstacles.boxes[k, 1 if out < 0.0 else 3], -1
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        if out * obstacles.planes[j, 1] > 0.0:
            at = height_of(obstacles.planes, j, walker[0], walker[2], tolerance)
            if out * at < out * best:
                best, plane = at, j
    return best, plane


@inline
def is_level(obstacles, plane, rules):
    """Whether a surface is flat enough to walk on."""
    return plane < 0 or -obstacles.planes[plane, 1] >= rules.upright


@inline
def holds(obstacles, k, plane, height, trip, rules):
    """Whether a walker whose feet are at a height stands on a surface, rather than slides down.

    Its round corner holds it as far as it could step up, or a short walk up a step would slide back.
    """
    if is_level(obstacles, plane, rules):
        return True
    is_round = trip.radius > 0.0 and obstacles.planes[plane, 3] != 0.0
    return is_round and height - obstacles.boxes[k, 1] <= rules.step


@inline
def stand_on(obstacles, k, walker, tolerance, rules):
    """`rest_on`, but a walker whose corner is at the upper end of a steep side stands on that side.

    The side may continue in the next obstacle.  Of two steep sides it is the steeper, which leads on.
    """
    height, plane = rest_on(obstacles, k, walker, tolerance)
    planes = obstacles.planes
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        if planes[j, 1] >= 0.0 or is_level(obstacles, j, rules):
            continue
        leads_on = is_level(obstacles, plane, rules) or (
            planes[j, 1] > planes[plane, 1] and planes[j, 0] * planes[plane, 0] > 0.0
        )
        near = TOUCH * tolerance / -planes[j, 1]
        if leads_on and height_of(planes, j, walker[0], walker[2], tolerance) >= height - near:
            plane = j
    return height, plane


@inline
def room_at(obstacles, plane, tolerance):
    """How far up feet (or a head) may be from a side that they touch: farther if it is steep."""
    return TOUCH * tolerance if plane < 0 else TOUCH * tolerance / abs(obstacles.planes[plane, 1])


@inline
def floor_under(obstacles, count, walker, trip, tolerance, rules):
    """The floor that a walker stands on, the flattest, then the first: ``obstacle, plane``; -1 for none."""
    best, best_plane, best_up = -1, -1, 0.0
    for k in range(count):
        if is_beside(obstacles.boxes, k, walker) or obstacles.names[k, 3] & TOP == 0:
            continue
        height, plane = stand_on(obstacles, k, walker, tolerance, rules)
        is_there = abs(walker[3] - height) <= room_at(obstacles, plane, tolerance)
        if not is_there or not holds(obstacles, k, plane, height, trip, rules):
            continue
        up = 1.0 if plane < 0 else -obstacles.planes[plane, 1]
        if up > best_up:
            best, best_plane, best_up = k, plane, up
    return best, best_plane


@inline
def eased(obstacles, count, x, y, trip, tolerance, rules):
    """The y of a walker that may be a rounding error too low, and whether it is clear of all: ``y, free``."""
    walker = edges_at(x, y, trip, rules)
    if is_clear_of_all(obstacles, count, walker, tolerance):
        return y, True
    highest = walker[3]
    for k in range(count):
        if not is_clear(obstacles, k, walker, tolerance):
            highest = min(highest, rest_on(obstacles, k, walker, tolerance)[0])
    if walker[3] - highest > TOUCH * tolerance:
        return y, False
    up = place_with_feet(highest, trip, rules)
    free = is_clear_of_all(obstacles, count, edges_at(x, up, trip, rules), tolerance)
    return (up if free else y), free


@inline
def _leads_further(obstacles, k, plane, other, other_plane, rules):
    """Whether a steep side of an obstacle leads farther down than that of another."""
    if is_level(obstacles, plane, rules) or is_level(obstacles, other_plane, rules):
        return False
    if obstacles.planes[plane, 0] > 0.0:
        return obstacles.planes[other_plane, 0] > 0.0 and obstacles.boxes[k, 2] > obstacles.boxes[other, 2]
    return obstacles.planes[other_plane, 0] < 0.0 and obstacles.boxes[k, 0] < obstacles.boxes[other, 0]


@inline
def nearest_floor(obstacles, count, walker, tolerance, rules):
    """The floor below; among floors equally near, a level one: ``obstacle, plane, height``; -1 for none.

    Of steep ones it is the one that leads on downwards.  The height is that of the nearest.
    """
    best, best_plane, best_height, nearest = -1, -1, math.inf, math.inf
    for k in range(count):
        if is_beside(obstacles.boxes, k, walker) or obstacles.names[k, 3] & TOP == 0:
            continue
        height, plane = stand_on(obstacles, k, walker, tolerance, rules)
        if walker[3] > height + room_at(obstacles, plane, tolerance):
            continue
        nearest = min(nearest, height)
        level = is_level(obstacles, plane, rules)
        flatter = best >= 0 and level and not is_level(obstacles, best_plane, rules)
        further = best >= 0 and _leads_further(obstacles, k, plane, best, best_plane, rules)
        as_near = TOUCH * tolerance if flatter or further else -TOUCH * tolerance
        if best < 0 or height < best_height + as_near:
            best, best_plane, best_height = k, plane, height
    return best, best_plane, nearest


@inline
def snapped(obstacles, count, x, y, reach, trip, tolerance, rules):
    """Move down to the floor that a walker has just walked off, if one is within reach."""
    walker = edges_at(x, y, trip, rules)
    if floor_under(obstacles, count, walker, trip, tolerance, rules)[0] >= 0:
        return y
    floor, plane, height = nearest_floor(obstacles, count, walker, tolerance, rules)
    if floor < 0 or height - walker[3] > reach or not holds(obstacles, floor, plane, height, trip, rules):
        return y
    down, free = eased(obstacles, count, x, place_with_feet(height, trip, rules), trip, tolerance, rules)
    return down if free else y


@inline
def lowered(obstacles, count, shapes, grid, x, y, trip, tolerance, rules):
    """The y of a walker that stands on the polygon around a round corner: down on the corner itself.

    By Newton's method: it goes down to the tangent to the corner from where it is, again and again.
    """
    boxes, names, first, planes = obstacles.boxes, obstacles.names, obstacles.first, obstacles.planes
    walker = edges_at(x, y, trip, rules)
    floor = floor_under(obstacles, count, walker, trip, tolerance, rules)[0]
    if floor < 0 or first[floor] == first[floor + 1] or planes[first[floor + 1] - 1, 3] == 0.0:
        return y
    kind, numbers, span = few(1, np.uint8), some_rows(4, 1, np.float64), some_rows(2, 1, np.int64)
    tile = table_for_one(kind, numbers, span, some_rows(8, 2, np.float64))
    tangent, highest = some_rows(1, 3, np.float64), math.inf
    for k in range(count):
        height, _ = rest_on(obstacles, k, walker, tolerance)
        below = height - walker[3]
        if is_beside(boxes, k, walker) or names[k, 3] & TOP == 0 or below < -TOUCH * tolerance:
            continue
        if below > _HIGHER * (trip.width + boxes[k, 2] - boxes[k, 0]):
            continue
        table, row = shapes, names[k, 0]
        if row < 0:
            set_tile(tile, grid, names[k, 1], names[k, 2])
            table, row = tile, ROW
        at = y
        for _ in range(_STEPS):
            there = exchanged_box((x, at, x + trip.width, at + trip.height), rules)
            nx, ny, reach = tangent_of(table, row, there, trip.radius)
            set_plane(tangent, 0, nx, ny, reach, trip.radius, rules)
            if tangent[0, 1] > -_SHARP:
                break
            height = height_of(tangent, 0, walker[0], walker[2], tolerance)
            at = place_with_feet(height, trip, rules)
        highest = min(highest, height)
    return place_with_feet(highest, trip, rules) if highest - walker[3] > TOUCH * tolerance else y
