"""The walk along the floor: over slopes, and up steps.

*Step up.*  What stops a walker like a wall is a step if its top is at most ``step`` above the feet.  The
walker moves straight up to that height and on over the edge::

                 ________
        |      | 2      3         1  it is stopped by the side of the step
        |      |/_______          2  there is room to rise: it rises to the top
    ____1______|                  3  and goes on; if the next leg does not get over
               |                     the edge, it is put back to 1

The border of two tiles, and the foot of a slope, are steps of no height: they cost no ``step``.
"""

import math

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.movement.walk_ground import eased, floor_under, is_level, rest_on, room_at, snapped
from broadphase.kernels.movement.walk_obstacles import (
    FIRST_PLANE,
    X_FACE,
    first_meeting,
    height_of,
    is_clear_of_all,
    normal_of,
    touch_of,
)
from broadphase.kernels.movement.walk_path import MOST_LEGS, edges_at, log_bend, log_hit, place_with_feet
from broadphase.kernels.movement.walk_slope import (
    end_of_side,
    feet_on,
    floor_ahead,
    level_side_at,
    lifted,
    place_at_meeting,
)
from broadphase.kernels.tiles.grid import TOP

_EVEN = 1.0 + 1e-9  # the steepest slope may itself be rounded


@inline
def _can_rise(obstacles, x, y, to_y, trip):
    """Whether a walker can move straight up."""
    start, end = edges_at(x, y, trip), edges_at(x, to_y, trip)
    meets = first_meeting(obstacles, start, end)[1] >= 0
    return not meets and is_clear_of_all(obstacles, end)


@inline
def _surface_met(obstacles, k, walker, trip):
    """Where feet would be on an obstacle that a walker meets: ``height, room, level``.

    ``room`` is how far off they may be, and ``level`` says whether it can be walked on there.
    """
    surface, plane = rest_on(obstacles, k, walker)
    begins = level_side_at(obstacles, k, walker, trip)
    if begins >= 0:
        surface = height_of(obstacles, begins, walker[0], walker[2])
        plane = begins
    if abs(walker[3] - obstacles.boxes[k, 1]) <= touch_of(obstacles):  # at its top, except for rounding
        surface, plane = min(surface, obstacles.boxes[k, 1]), -1
    level = is_level(obstacles, plane, trip) and obstacles.names[k, 3] & TOP != 0
    return surface, room_at(obstacles, plane), level


@inline
def go_along(obstacles, start, x, y, goal, trip, log):
    """Move to another x, along the floor if the walker stands on one: ``x, y, is_round``.

    ``start`` is where it comes from; ``is_round`` says that a round corner stopped it.

    One loop, because each leg depends on the whole state after the previous one: where it ended, on what, and
    whether it was a step up that is undone if it leads nowhere.
    """
    forward, is_round = (1.0 if goal > x else -1.0), False
    grounded = floor_under(obstacles, edges_at(x, y, trip), trip)[0] >= 0
    stepped_x, stepped_y = math.nan, 0.0
    for _ in range(MOST_LEGS):
        if x == goal:
            break
        walker = edges_at(x, y, trip)
        floor, plane, slope, highest = -1, -1, 0.0, walker[3]
        if grounded:
            floor, plane, slope, highest = floor_ahead(obstacles, walker, forward)
        if slope > trip.rules.rise * _EVEN:
            floor = -1  # too steep to be followed
        to_x, to_y = goal, y
        if floor >= 0 and slope < -trip.rules.rise * _EVEN:
            met, side, time = floor, FIRST_PLANE + plane, 0.0
        else:
            if floor >= 0:
                y = lifted(obstacles, highest, x, y, trip)
                walker, to_y = edges_at(x, y, trip), y
                to_x = end_of_side(obstacles, floor, plane, x, goal, trip)
                feet = feet_on(obstacles, floor, plane, to_x, trip)
                if plane >= 0 or walker[3] > feet:
                    to_y = place_with_feet(feet, trip)
            there = edges_at(to_x, to_y, trip)
            time, met, side = first_meeting(obstacles, walker, there)
            if met < 0:
                to_y, free = eased(obstacles, to_x, to_y, trip)
                if not free:
                    break
                x, y = to_x, to_y
                log_bend(log, trip, abs(x - start), x, y)
                continue
        at_x, at_y = x, y
        if time > 0.0 or side == X_FACE:
            at_x = place_at_meeting(obstacles, met, side, time, x, to_x, slope > 0.0, trip)
        if floor >= 0 and at_x != x:
            feet = feet_on(obstacles, floor, plane, at_x, trip)
            if plane >= 0 or walker[3] > feet:
                at_y = place_with_feet(feet, trip)
        at_y, free = eased(obstacles, at_x, at_y, trip)
        if not free:
            at_x, at_y = x, y
        edges = edges_at(at_x, at_y, trip)
        surface, room, level = _surface_met(obstacles, met, edges, trip)
        if level and edges[3] - surface <= room:  # the border of two tiles, or the foot of a slope
            up = place_with_feet(surface, trip) if edges[3] > surface else at_y
            clear = is_clear_of_all(obstacles, edges_at(at_x, up, trip))
            if clear and (at_x != x or up != y or not grounded):
                x, y, grounded = at_x, up, True
                log_bend(log, trip, abs(x - start), x, y)
                continue
        top = surface if level else obstacles.boxes[met, 1]
        up = place_with_feet(top, trip)
        steps = grounded and 0.0 < edges[3] - top <= trip.rules.step and obstacles.names[met, 3] & TOP != 0
        steps = steps and at_x != stepped_x
        if steps and _can_rise(obstacles, at_x, at_y, up, trip):
            log_bend(log, trip, abs(at_x - start), at_x, at_y)
            stepped_x, stepped_y = at_x, at_y
            x, y = at_x, up
            log_bend(log, trip, abs(x - start), x, y)
            continue
        x, y = at_x, (stepped_y if at_x == stepped_x else at_y)
        log_bend(log, trip, abs(x - start), x, y)
        there = edges_at(to_x, to_y, trip)
        normal = normal_of(obstacles, side, forward, there[3] - walker[3])
        log_hit(log, obstacles, trip, met, normal, abs(x - start), x, y)
        is_round = side >= FIRST_PLANE and obstacles.planes[side - FIRST_PLANE, 3] != 0.0
        break
    reach = trip.rules.snap
    if trip.radius > 0.0 and not math.isnan(stepped_x):  # down on the corner of the step
        reach = max(reach, trip.rules.step)
    if grounded and x != start and reach > 0.0:
        y = snapped(obstacles, x, y, reach, trip)
    return x, y, is_round
