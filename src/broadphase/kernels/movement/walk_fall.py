r"""The vertical part of a walk: down to a floor, and up to a ceiling.

*Fall.*  It ends on the first floor below that is level.  A steep one lets the walker slide down along it for
the rest of its fall, until a level floor, a wall or the end of the side::

    |
    v  falls                     *Corner correction.*  Going up, a walker whose head meets an
     \  slides                   obstacle only at a corner moves aside by at most ``corner``,
      \                          and past it.
       \____  stands

A jump that meets a steep side above goes on as a fall in the world upside down: up along that side.
"""

import math

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.movement.sweep import flush_before
from broadphase.kernels.movement.walk_ground import eased, floor_under, holds, nearest_floor, rest_on, room_at
from broadphase.kernels.movement.walk_obstacles import (
    first_meeting,
    is_beside,
    is_clear_of_all,
    normal_of,
    touch_of,
)
from broadphase.kernels.movement.walk_path import (
    MOST_LEGS,
    edges_at,
    log_bend,
    log_hit,
    place_with_feet,
    place_with_head,
)
from broadphase.kernels.movement.walk_slope import end_of_side, place_at_meeting, surface_at
from broadphase.kernels.tiles.grid import BOTTOM


@inline
def fall(obstacles, x, y, length, gone, trip, log):
    """Move down until a level floor holds the walker; it slides down steeper ones: ``x, y``."""
    left_over = length
    for _ in range(MOST_LEGS):
        walker = edges_at(x, y, trip)
        floor, plane = floor_under(obstacles, walker, trip)
        height = walker[3]
        if floor < 0:
            floor, plane, height = nearest_floor(obstacles, walker, trip)
        drop = height - walker[3]
        if floor < 0 or drop > left_over:
            return x, y + trip.rules.flip * left_over
        if drop > touch_of(obstacles):
            down, free = eased(obstacles, x, place_with_feet(height, trip), trip)
            if free:
                y = down
            left_over -= drop
            log_bend(log, trip, gone + length - left_over, x, y)
        normal = (0.0, -1.0) if plane < 0 else (obstacles.planes[plane, 0], obstacles.planes[plane, 1])
        log_hit(log, obstacles, trip, floor, normal, gone + length - left_over, x, y)
        if holds(obstacles, floor, plane, height, trip) or left_over <= 0.0:
            return x, y
        along = left_over * normal[0] * -normal[1]
        goal = x + along
        if goal == x:
            return x, y
        to_x = end_of_side(obstacles, floor, plane, x, goal, trip)
        feet = surface_at(obstacles, floor, plane, to_x, trip)
        to_y = place_with_feet(feet, trip)
        walker = edges_at(x, y, trip)
        there = edges_at(to_x, to_y, trip)
        time, met, side = first_meeting(obstacles, walker, there)
        if met < 0:
            to_y, free = eased(obstacles, to_x, to_y, trip)
            if to_x == x or not free:
                return x, y
            left_over -= left_over * (to_x - x) / along
            x, y = to_x, to_y
            log_bend(log, trip, gone + length - left_over, x, y)
            continue
        at_x = place_at_meeting(obstacles, met, side, time, x, to_x, True, trip)
        at_y = place_with_feet(surface_at(obstacles, floor, plane, at_x, trip), trip)
        at_y, free = eased(obstacles, at_x, at_y, trip)
        if free:
            left_over -= left_over * (at_x - x) / along
            x, y = at_x, at_y
            log_bend(log, trip, gone + length - left_over, x, y)
        normal = normal_of(obstacles, side, along, 1.0)
        log_hit(log, obstacles, trip, met, normal, gone + length - left_over, x, y)
        return x, y
    return x, y


@inline
def _nearest_ceiling(obstacles, walker):
    """What the head would hit, and where it is then: ``obstacle, plane, height``; -1 for none."""
    best, best_plane, best_height = -1, -1, -math.inf
    for k in range(obstacles.counts[0]):
        if is_beside(obstacles.boxes, k, walker) or obstacles.names[k, 3] & BOTTOM == 0:
            continue
        height, plane = rest_on(obstacles, k, walker, out=1.0)
        if walker[1] >= height - room_at(obstacles, plane) and height > best_height:
            best, best_plane, best_height = k, plane, height
    return best, best_plane, best_height


@inline
def _around_corner(obstacles, k, x, y, most, trip):
    """The x, at most so far aside, at which a walker gets past an obstacle above its head; else its own x.

    The nearer side comes first.
    """
    to_left = flush_before(obstacles.boxes[k, 0], trip.width)
    to_right = obstacles.boxes[k, 2]
    if to_right - x < x - to_left:
        to_left, to_right = to_right, to_left
    walker = edges_at(x, y, trip)
    for part in range(2):
        to_x = to_left if part == 0 else to_right
        if abs(to_x - x) > most:
            continue
        there = edges_at(to_x, y, trip)
        if first_meeting(obstacles, walker, there)[1] >= 0:
            continue
        ceiling, _, height = _nearest_ceiling(obstacles, there)
        if ceiling < 0 or walker[1] - height > touch_of(obstacles):
            return to_x
    return x


@inline
def climb(obstacles, start, x, y, length, gone, trip, log):
    """Move up to a ceiling; around an obstacle if only its corner blocks: ``x, y, left_over, is_round``.

    A side that is too steep for a ceiling ends it too: what is left over leads up along that side.  ``start``
    is the x from which it goes aside, ``length`` how far it goes, ``gone`` how far before; ``is_round`` says
    that a round corner stopped it.
    """
    left_over = length
    for _ in range(MOST_LEGS):
        walker = edges_at(x, y, trip)
        ceiling, plane, height = _nearest_ceiling(obstacles, walker)
        rise = walker[1] - height
        if ceiling < 0 or rise > left_over:
            return x, y - trip.rules.flip * left_over, 0.0, False
        is_round = plane >= 0 and obstacles.planes[plane, 3] != 0.0
        is_ceiling = plane < 0 or obstacles.planes[plane, 1] >= trip.rules.upright
        # What it touches does not lift it off its floor; round corners it follows closely.
        room = touch_of(obstacles)
        if is_ceiling and not is_round:
            room = max(room_at(obstacles, plane), trip.wrapped)
        if rise > room:
            up = place_with_head(height, trip)
            if is_clear_of_all(obstacles, edges_at(x, up, trip)):
                y = up
            left_over -= rise
            log_bend(log, trip, gone + length - left_over, x, y)
        if trip.rules.corner > 0.0 and left_over > touch_of(obstacles):  # else it is flush
            most = trip.rules.corner - abs(x - start)  # several corners on the way add up
            to_x = _around_corner(obstacles, ceiling, x, y, most, trip)
            if to_x != x:
                x = to_x
                log_bend(log, trip, gone + length - left_over, x, y)
                continue
        if not is_ceiling:
            return x, y, left_over, False
        normal = (0.0, 1.0) if plane < 0 else (obstacles.planes[plane, 0], obstacles.planes[plane, 1])
        log_hit(log, obstacles, trip, ceiling, normal, gone + length - left_over, x, y)
        return x, y, 0.0, is_round
    return x, y, 0.0, False
