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
    TOUCH,
    X_FACE,
    first_meeting,
    height_of,
    is_clear_of_all,
    normal_of,
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
def _can_rise(obstacles, count, x, y, to_y, trip, tolerance, rules):
    """Whether a walker can move straight up."""
    here, there = edges_at(x, y, trip, rules), edges_at(x, to_y, trip, rules)
    meets = first_meeting(obstacles, count, here, there, tolerance)[1] >= 0
    return not meets and is_clear_of_all(obstacles, count, there, tolerance)


@inline
def _surface_met(obstacles, k, walker, tolerance, rules):
    """Where feet would be on an obstacle that a walker meets: ``height, room, level``.

    ``room`` is how far off they may be, and ``level`` says whether it can be walked on there.
    """
    surface, plane = rest_on(obstacles, k, walker, tolerance)
    begins = level_side_at(obstacles, k, walker, tolerance, rules)
    if begins >= 0:
        surface = height_of(obstacles.planes, begins, walker[0], walker[2], tolerance)
        plane = begins
    if abs(walker[3] - obstacles.boxes[k, 1]) <= TOUCH * tolerance:  # at its top, except for rounding
        surface, plane = min(surface, obstacles.boxes[k, 1]), -1
    level = is_level(obstacles, plane, rules) and obstacles.names[k, 3] & TOP != 0
    return surface, room_at(obstacles, plane, tolerance), level


@inline
def go_along(obstacles, count, start, x, y, goal, trip, tolerance, rules, log):
    """Move to another x, along the floor if the walker stands on one: ``x, y, is_round``.

    ``start`` is where it comes from; ``is_round`` says that a round corner stopped it.

    One loop, because each leg depends on the whole state after the previous one: where it ended, on what, and
    whether it was a step up that is undone if it leads nowhere.
    """
    forward, is_round = (1.0 if goal > x else -1.0), False
    grounded = floor_under(obstacles, count, edges_at(x, y, trip, rules), trip, tolerance, rules)[0] >= 0
    stepped_x, stepped_y = math.nan, 0.0
    for _ in range(MOST_LEGS):
        if x == goal:
            break
        walker = edges_at(x, y, trip, rules)
        floor, plane, slope, highest = -1, -1, 0.0, walker[3]
        if grounded:
            floor, plane, slope, highest = floor_ahead(obstacles, count, walker, forward, tolerance)
        if slope > rules.rise * _EVEN:
            floor = -1  # too steep to be followed
        to_x, to_y = goal, y
        if floor >= 0 and slope < -rules.rise * _EVEN:
            met, side, time = floor, FIRST_PLANE + plane, 0.0
        else:
            if floor >= 0:
                y = lifted(obstacles, count, highest, x, y, trip, tolerance, rules)
                walker, to_y = edges_at(x, y, trip, rules), y
                to_x = end_of_side(obstacles, floor, plane, x, goal, trip, tolerance)
                feet = feet_on(obstacles, floor, plane, to_x, trip, tolerance)
                if plane >= 0 or walker[3] > feet:
                    to_y = place_with_feet(feet, trip, rules)
            there = edges_at(to_x, to_y, trip, rules)
            time, met, side = first_meeting(obstacles, count, walker, there, tolerance)
            if met < 0:
                to_y, free = eased(obstacles, count, to_x, to_y, trip, tolerance, rules)
                if not free:
                    break
                x, y = to_x, to_y
                log_bend(log, trip, rules, abs(x - start), x, y)
                continue
        at_x, at_y = x, y
        if time > 0.0 or side == X_FACE:
            at_x = place_at_meeting(obstacles, met, side, time, x, to_x, slope > 0.0, trip, tolerance)
        if floor >= 0 and at_x != x:
            feet = feet_on(obstacles, floor, plane, at_x, trip, tolerance)
            if plane >= 0 or walker[3] > feet:
                at_y = place_with_feet(feet, trip, rules)
        at_y, free = eased(obstacles, count, at_x, at_y, trip, tolerance, rules)
        if not free:
            at_x, at_y = x, y
        at = edges_at(at_x, at_y, trip, rules)
        surface, room, level = _surface_met(obstacles, met, at, tolerance, rules)
        if level and at[3] - surface <= room:  # the border of two tiles, or the foot of a slope
            up = place_with_feet(surface, trip, rules) if at[3] > surface else at_y
            clear = is_clear_of_all(obstacles, count, edges_at(at_x, up, trip, rules), tolerance)
            if clear and (at_x != x or up != y or not grounded):
                x, y, grounded = at_x, up, True
                log_bend(log, trip, rules, abs(x - start), x, y)
                continue
        top = surface if level else obstacles.boxes[met, 1]
        up = place_with_feet(top, trip, rules)
        steps = grounded and 0.0 < at[3] - top <= rules.step and obstacles.names[met, 3] & TOP != 0
        steps = steps and at_x != stepped_x
        if steps and _can_rise(obstacles, count, at_x, at_y, up, trip, tolerance, rules):
            log_bend(log, trip, rules, abs(at_x - start), at_x, at_y)
            stepped_x, stepped_y = at_x, at_y
            x, y = at_x, up
            log_bend(log, trip, rules, abs(x - start), x, y)
            continue
        x, y = at_x, (stepped_y if at_x == stepped_x else at_y)
        log_bend(log, trip, rules, abs(x - start), x, y)
        there = edges_at(to_x, to_y, trip, rules)
        normal = normal_of(obstacles, side, forward, there[3] - walker[3])
        log_hit(log, obstacles, trip, rules, met, normal, abs(x - start), x, y)
        is_round = side >= FIRST_PLANE and obstacles.planes[side - FIRST_PLANE, 3] != 0.0
        break
    reach = rules.snap
    if trip.radius > 0.0 and not math.isnan(stepped_x):  # down on the corner of the step
        reach = max(reach, rules.step)
    if grounded and x != start and reach > 0.0:
        y = snapped(obstacles, count, x, y, reach, trip, tolerance, rules)
    return x, y, is_round
