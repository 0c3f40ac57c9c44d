r"""Slopes: a walker follows the side of its floor, up or down, with its feet on it.

The side that is followed is the one ahead, which may belong to the next obstacle: of several that begin
where the walker is, it is the one that falls least (`floor_ahead`)::

      ______            A leg of the path ends where a side does: at the foot of the
     /      \           slope, at its top, and where it goes down again.
    /        \____      A corner of the walker is on the side, so on the way up it is the
                        front one that touches, on the way down the one behind.

A slope that rises more steeply than ``steepest`` is not followed; it stops the walker like a wall.
"""

import math

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.movement.sweep import flush_before
from broadphase.kernels.movement.walk_ground import is_level, rest_on, room_at
from broadphase.kernels.movement.walk_obstacles import (
    X_FACE,
    Y_FACE,
    gap,
    height_of,
    is_clear_of_all,
    touch_of,
)
from broadphase.kernels.movement.walk_path import edges_at, place_with_feet
from broadphase.kernels.tiles.grid import TOP

# A leg ends this many tolerances before a sloped side.  `TOUCH` is no multiple of it: on a slope of whole
# numbers rounding would decide whether the head (or the feet) touch.
_BACK = 1.9


@inline
def _touches(obstacles, k, walker):
    """Whether a walker is so near to all sides of an obstacle that it touches it, beside a corner too."""
    if walker[3] < obstacles.boxes[k, 1] - touch_of(obstacles):
        return False
    for j in range(obstacles.first[k], obstacles.first[k + 1]):
        if gap(obstacles.planes, j, walker) > touch_of(obstacles):
            return False
    return True


@inline
def level_side_at(obstacles, k, walker, trip):
    """A slanted side of an obstacle that can be walked on and begins where the walker is; -1 for none."""
    if _touches(obstacles, k, walker):
        for j in range(obstacles.first[k], obstacles.first[k + 1]):
            if obstacles.planes[j, 1] < 0.0 and is_level(obstacles, j, trip):
                surface = height_of(obstacles, j, walker[0], walker[2])
                if abs(walker[3] - surface) <= room_at(obstacles, j):
                    return j
    return -1


@inline
def floor_ahead(obstacles, walker, forward):
    """The floor that a walker follows: ``obstacle, plane, slope, height``; obstacle -1 if nothing holds it.

    Slope is how far down it goes for each step forward.  Of one obstacle the side that falls most is
    followed; of all obstacles the one that falls least holds the walker up.  Height is where feet rest on the
    highest of them; rounding separates obstacles that begin where another ends.
    """
    best, best_plane, best_slope, highest = -1, -1, math.inf, walker[3]
    boxes, planes = obstacles.boxes, obstacles.planes
    for k in range(obstacles.counts[0]):
        left, right, tolerance = walker[0], walker[2], touch_of(obstacles)
        if forward > 0.0:
            beside = boxes[k, 2] <= left or boxes[k, 0] > right + tolerance
        else:
            beside = boxes[k, 0] >= right or boxes[k, 2] < left - tolerance
        if beside or obstacles.names[k, 3] & TOP == 0:
            continue
        height, top = rest_on(obstacles, k, walker)
        if abs(walker[3] - height) > room_at(obstacles, top):
            # A steep side where it begins hides that it is touched.
            if obstacles.first[k] == obstacles.first[k + 1] or not _touches(obstacles, k, walker):
                continue
        else:
            highest = min(highest, height)
        plane, slope = -1, -math.inf
        if abs(walker[3] - boxes[k, 1]) <= tolerance:
            slope = 0.0
        for j in range(obstacles.first[k], obstacles.first[k + 1]):
            nx, ny = planes[j, 0], planes[j, 1]
            if ny >= 0.0:
                continue
            apart = abs(walker[3] - height_of(obstacles, j, left, right))
            falls = -forward * nx / ny
            if apart <= room_at(obstacles, j) and falls > slope:
                plane, slope = j, falls
        if -math.inf < slope < best_slope:
            best, best_plane, best_slope = k, plane, slope
    return best, best_plane, best_slope, highest


@inline
def surface_at(obstacles, k, plane, x, trip):
    """Where the feet are on a side of an obstacle, at a place."""
    if plane < 0:
        return obstacles.boxes[k, 1]
    return height_of(obstacles, plane, x, x + trip.width)


@inline
def feet_on(obstacles, k, plane, x, trip):
    """`surface_at`, by rounding not above the top: a gap there may be exactly as high as the walker."""
    return max(surface_at(obstacles, k, plane, x, trip), obstacles.boxes[k, 1])


@inline
def end_of_side(obstacles, k, plane, x, goal, trip):
    """How far a walker can move along one side of its floor, up to a goal."""
    width = trip.width
    if goal > x:
        goal = min(goal, obstacles.boxes[k, 2])
    elif goal + width < obstacles.boxes[k, 0]:
        goal = flush_before(obstacles.boxes[k, 0], width)
    surface = surface_at(obstacles, k, plane, x, trip)
    surface_after = surface_at(obstacles, k, plane, goal, trip)
    part = 1.0
    for j in range(obstacles.first[k] - 1, obstacles.first[k + 1]):
        other = -1 if j < obstacles.first[k] else j
        if other == plane or (other >= 0 and obstacles.planes[other, 1] >= 0.0):
            continue
        before = surface_at(obstacles, k, other, x, trip)
        after = surface_at(obstacles, k, other, goal, trip)
        if after > surface_after + obstacles.tolerance[0] and before <= surface:
            part = min(part, (surface - before) / ((surface - before) + (after - surface_after)))
    return goal if part == 1.0 else x + part * (goal - x)


@inline
def lifted(obstacles, feet, x, y, trip):
    """The y of a walker whose feet are a rounding error too low."""
    if edges_at(x, y, trip)[3] <= feet:
        return y
    up = place_with_feet(feet, trip)
    return up if is_clear_of_all(obstacles, edges_at(x, up, trip)) else y


@inline
def place_at_meeting(obstacles, k, side, time, x, goal, falls, trip):
    """The x at which a leg that meets an obstacle ends; one that ``falls`` gets all the way to a floor."""
    forward = 1.0 if goal > x else -1.0
    if side == X_FACE:
        place = flush_before(obstacles.boxes[k, 0], trip.width) if forward > 0.0 else obstacles.boxes[k, 2]
    else:
        back = 0.0 if falls and side == Y_FACE else forward * _BACK * obstacles.tolerance[0]
        place = x + time * (goal - x) - back
    return max(place, x) if forward > 0.0 else min(place, x)
