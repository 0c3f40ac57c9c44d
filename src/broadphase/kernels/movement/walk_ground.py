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

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.movement.sweep import ALL_SIDES
from broadphase.kernels.movement.walk_obstacles import TOUCH, height_of, is_beside, is_clear, is_clear_of_all
from broadphase.kernels.movement.walk_path import edges_at, place_with_feet
from broadphase.kernels.tiles.grid import TOP


@inline
def rest_on(obstacles, k, left, right, tolerance):
    """Where feet rest on an obstacle: the height, and the plane, -1 for its top."""
    best, plane = obstacles.boxes[k, 1], -1
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        if obstacles.planes[j, 1] < 0.0:
            at = height_of(obstacles.planes, j, left, right, tolerance)
            if at > best:
                best, plane = at, j
    return best, plane


@inline
def is_level(obstacles, plane, rules):
    """Whether a surface is flat enough to walk on."""
    return plane < 0 or -obstacles.planes[plane, 1] >= rules.upright


@inline
def stand_on(obstacles, k, walker, tolerance, rules):
    """`rest_on`, but a walker whose corner is at the upper end of a steep side stands on that side.

    The side may continue in the next obstacle.
    """
    height, plane = rest_on(obstacles, k, walker[0], walker[2], tolerance)
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        steep = obstacles.planes[j, 1] < 0.0 and not is_level(obstacles, j, rules)
        if steep and is_level(obstacles, plane, rules):
            near = TOUCH * tolerance / -obstacles.planes[j, 1]
            if height_of(obstacles.planes, j, walker[0], walker[2], tolerance) >= height - near:
                plane = j
    return height, plane


@inline
def floor_under(obstacles, count, walker, tolerance, rules):
    """The floor that a walker stands on, the flattest, then the first: ``obstacle, plane``; -1 for none."""
    best, best_plane, best_up = -1, -1, 0.0
    for k in range(count):
        if is_beside(obstacles.boxes, k, walker) or obstacles.names[k, 3] & TOP == 0:
            continue
        height, plane = stand_on(obstacles, k, walker, tolerance, rules)
        if abs(walker[3] - height) > TOUCH * tolerance or not is_level(obstacles, plane, rules):
            continue
        if obstacles.names[k, 3] != ALL_SIDES and walker[3] > height:
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
            highest = min(highest, rest_on(obstacles, k, walker[0], walker[2], tolerance)[0])
    if walker[3] - highest > TOUCH * tolerance:
        return y, False
    up = place_with_feet(highest, trip, rules)
    free = is_clear_of_all(obstacles, count, edges_at(x, up, trip, rules), tolerance)
    return (up if free else y), free


@inline
def room_at(obstacles, plane, tolerance):
    """How far feet (or a head) may be above a side that they touch: farther if it is steep."""
    return TOUCH * tolerance if plane < 0 else TOUCH * tolerance / abs(obstacles.planes[plane, 1])


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
        room_below = room_at(obstacles, plane, tolerance) if obstacles.names[k, 3] == ALL_SIDES else 0.0
        if walker[3] > height + room_below:
            continue
        nearest = min(nearest, height)
        flatter = (
            is_level(obstacles, plane, rules) and best >= 0 and not is_level(obstacles, best_plane, rules)
        )
        further = best >= 0 and _leads_further(obstacles, k, plane, best, best_plane, rules)
        as_near = TOUCH * tolerance if flatter or further else -TOUCH * tolerance
        if best < 0 or height < best_height + as_near:
            best, best_plane, best_height = k, plane, height
    return best, best_plane, nearest


@inline
def snapped(obstacles, count, x, y, trip, tolerance, rules):
    """Move down to the floor that a walker has just walked off, if one is near."""
    walker = edges_at(x, y, trip, rules)
    if floor_under(obstacles, count, walker, tolerance, rules)[0] >= 0:
        return y
    floor, plane, height = nearest_floor(obstacles, count, walker, tolerance, rules)
    if floor < 0 or height - walker[3] > rules.snap or not is_level(obstacles, plane, rules):
        return y
    down, free = eased(obstacles, count, x, place_with_feet(height, trip, rules), trip, tolerance, rules)
    return down if free else y
