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
    exchanged_box,
    height_of,
    height_on,
    is_beside,
    is_clear,
    is_clear_of_all,
    plane_for,
    tangent_of,
    touch_of,
)
from broadphase.kernels.movement.walk_path import edges_at, place_with_feet
from broadphase.kernels.tiles.grid import TOP

# How much higher the polygon around a corner may be, for each unit of its width, on slopes of up to 60
# degrees; how many steps of Newton's method lead down; and where the side of a corner is as good as upright.
_HIGHER = 0.005
_STEPS = 5
_SHARP = 0.2


@inline
def rest_on(obstacles, k, walker, out=-1.0):
    """Where feet rest on an obstacle: the height, and the plane, -1 for its top.

    With ``out`` 1, where a head touches it from below.
    """
    best, plane = obstacles.boxes[k, 1 if out < 0.0 else 3], -1
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        if out * obstacles.planes[j, 1] > 0.0:
            height = height_of(obstacles, j, walker[0], walker[2])
            if out * height < out * best:
                best, plane = height, j
    return best, plane


@inline
def is_level(obstacles, plane, trip):
    """Whether a surface is flat enough to walk on."""
    return plane < 0 or -obstacles.planes[plane, 1] >= trip.rules.upright


@inline
def holds(obstacles, k, plane, height, trip):
    """Whether a walker whose feet are at a height stands on a surface, rather than slides down.

    Its round corner holds it as far as it could step up, or a short walk up a step would slide back.
    """
    if is_level(obstacles, plane, trip):
        return True
    is_round = trip.radius > 0.0 and obstacles.planes[plane, 3] != 0.0
    return is_round and height - obstacles.boxes[k, 1] <= trip.rules.step


@inline
def stand_on(obstacles, k, walker, trip):
    """`rest_on`, but a walker whose corner is at the upper end of a steep side stands on that side.

    The side may continue in the next obstacle.  Of two steep sides it is the steeper, which leads on.
    """
    height, plane = rest_on(obstacles, k, walker)
    planes = obstacles.planes
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        if planes[j, 1] >= 0.0 or is_level(obstacles, j, trip):
            continue
        leads_on = is_level(obstacles, plane, trip) or (
            planes[j, 1] > planes[plane, 1] and planes[j, 0] * planes[plane, 0] > 0.0
        )
        tolerance = touch_of(obstacles) / -planes[j, 1]
        if leads_on and height_of(obstacles, j, walker[0], walker[2]) >= height - tolerance:
            plane = j
    return height, plane


@inline
def room_at(obstacles, plane):
    """How far up feet (or a head) may be from a side that they touch: farther if it is steep."""
    return touch_of(obstacles) if plane < 0 else touch_of(obstacles) / abs(obstacles.planes[plane, 1])


@inline
def floor_under(obstacles, walker, trip):
    """The floor that a walker stands on, the flattest, then the first: ``obstacle, plane``; -1 for none."""
    best, best_plane, best_up = -1, -1, 0.0
    for k in range(obstacles.counts[0]):
        if is_beside(obstacles.boxes, k, walker) or obstacles.names[k, 3] & TOP == 0:
            continue
        height, plane = stand_on(obstacles, k, walker, trip)
        is_there = abs(walker[3] - height) <= room_at(obstacles, plane)
        if not is_there or not holds(obstacles, k, plane, height, trip):
            continue
        up = 1.0 if plane < 0 else -obstacles.planes[plane, 1]
        if up > best_up:
            best, best_plane, best_up = k, plane, up
    return best, best_plane


@inline
def eased(obstacles, x, y, trip):
    """The y of a walker that may be a rounding error too low, and whether it is clear of all: ``y, free``."""
    walker = edges_at(x, y, trip)
    if is_clear_of_all(obstacles, walker):
        return y, True
    highest = walker[3]
    for k in range(obstacles.counts[0]):
        if not is_clear(obstacles, k, walker):
            highest = min(highest, rest_on(obstacles, k, walker)[0])
    if walker[3] - highest > touch_of(obstacles):
        return y, False
    up = place_with_feet(highest, trip)
    free = is_clear_of_all(obstacles, edges_at(x, up, trip))
    return (up if free else y), free


@inline
def _leads_further(obstacles, k, plane, other, other_plane, trip):
    """Whether a steep side of an obstacle leads farther down than that of another."""
    if is_level(obstacles, plane, trip) or is_level(obstacles, other_plane, trip):
        return False
    if obstacles.planes[plane, 0] > 0.0:
        return obstacles.planes[other_plane, 0] > 0.0 and obstacles.boxes[k, 2] > obstacles.boxes[other, 2]
    return obstacles.planes[other_plane, 0] < 0.0 and obstacles.boxes[k, 0] < obstacles.boxes[other, 0]


@inline
def nearest_floor(obstacles, walker, trip):
    """The floor below; among floors equally near, a level one: ``obstacle, plane, height``; -1 for none.

    Of steep ones it is the one that leads on downwards.  The height is that of the nearest.
    """
    best, best_plane, best_height, nearest = -1, -1, math.inf, math.inf
    for k in range(obstacles.counts[0]):
        if is_beside(obstacles.boxes, k, walker) or obstacles.names[k, 3] & TOP == 0:
            continue
        height, plane = stand_on(obstacles, k, walker, trip)
        if walker[3] > height + room_at(obstacles, plane):
            continue
        nearest = min(nearest, height)
        level = is_level(obstacles, plane, trip)
        flatter = best >= 0 and level and not is_level(obstacles, best_plane, trip)
        further = best >= 0 and _leads_further(obstacles, k, plane, best, best_plane, trip)
        as_near = touch_of(obstacles) if flatter or further else -touch_of(obstacles)
        if best < 0 or height < best_height + as_near:
            best, best_plane, best_height = k, plane, height
    return best, best_plane, nearest


@inline
def snapped(obstacles, x, y, reach, trip):
    """Move down to the floor that a walker has just walked off, if one is within reach."""
    walker = edges_at(x, y, trip)
    if floor_under(obstacles, walker, trip)[0] >= 0:
        return y
    floor, plane, height = nearest_floor(obstacles, walker, trip)
    if floor < 0 or height - walker[3] > reach or not holds(obstacles, floor, plane, height, trip):
        return y
    down, free = eased(obstacles, x, place_with_feet(height, trip), trip)
    return down if free else y


@inline
def _tangent(obstacles, k, shapes, grid, x, y, trip):
    """The tangent to a round corner of an obstacle from a walker there, as a plane."""
    names, table, row = obstacles.names, shapes, obstacles.names[k, 0]
    kind, numbers, span = few(1, np.uint8), some_rows(4, 1, np.float64), some_rows(2, 1, np.int64)
    tile = table_for_one(kind, numbers, span, some_rows(8, 2, np.float64))
    if row < 0:
        set_tile(tile, grid, names[k, 1], names[k, 2])
        table, row = tile, ROW
    there = exchanged_box((x, y, x + trip.width, y + trip.height), trip.rules)
    return plane_for(*tangent_of(table, row, there, trip.radius), trip.radius, trip.rules)


@inline
def lowered(obstacles, shapes, grid, x, y, trip):
    """The y of a walker that stands on the polygon around a round corner: down on the corner itself.

    By Newton's method: it goes down to the tangent to the corner from where it is, again and again.
    """
    boxes, names, first, planes = obstacles.boxes, obstacles.names, obstacles.first, obstacles.planes
    walker = edges_at(x, y, trip)
    floor = floor_under(obstacles, walker, trip)[0]
    if floor < 0 or first[floor] == first[floor + 1] or planes[first[floor + 1] - 1, 3] == 0.0:
        return y
    highest = math.inf
    for k in range(obstacles.counts[0]):
        height, _ = rest_on(obstacles, k, walker)
        below = height - walker[3]
        if is_beside(boxes, k, walker) or names[k, 3] & TOP == 0 or below < -touch_of(obstacles):
            continue
        if below > _HIGHER * (trip.width + boxes[k, 2] - boxes[k, 0]):
            continue
        place = y
        for _ in range(_STEPS):
            tangent = _tangent(obstacles, k, shapes, grid, x, place, trip)
            if tangent[1] > -_SHARP:
                break
            height = height_on(tangent, walker[0], walker[2], obstacles.tolerance[0])
            place = place_with_feet(height, trip)
        highest = min(highest, height)
    is_lower = touch_of(obstacles) < highest - walker[3] < math.inf  # inf: rounding says that it is on none
    return place_with_feet(highest, trip) if is_lower else y


@inline
def normal_of_floor(obstacles, k, plane, shapes, grid, x, y, trip):
    """The normal of a floor: of a round corner that of the corner itself, not of the polygon around it."""
    if plane < 0:
        return 0.0, -1.0
    normal = obstacles.planes[plane, 0], obstacles.planes[plane, 1]
    if obstacles.planes[plane, 3] != 0.0:
        tangent = _tangent(obstacles, k, shapes, grid, x, y, trip)
        if tangent[1] < 0.0:
            normal = tangent[0], tangent[1]
    return normal
