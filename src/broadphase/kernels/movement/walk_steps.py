"""The two parts of a walk: along the floor, then up or down.

A walk is a row of straight legs.  Every place at which a leg ends is certainly clear of everything, or the
leg is not taken.  A walker is kept by its place in the world (`walk_trip`).
"""

import math

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.movement.sweep import flush_before
from broadphase.kernels.movement.walk_planes import (
    FIRST_PLANE,
    TOUCH,
    X_FACE,
    first_meeting,
    floor_ahead,
    floor_under,
    hang_from,
    height_of,
    is_beside,
    is_clear,
    is_clear_of_all,
    is_level,
    normal_of,
    rest_on,
)
from broadphase.kernels.movement.walk_scene import ALL_SIDES
from broadphase.kernels.movement.walk_trip import (
    edges_at,
    log_bend,
    log_hit,
    place_with_feet,
    place_with_head,
)
from broadphase.kernels.tiles.grid import BOTTOM, TOP

MOST_LEGS = 256
_BACK = 2.0  # so many hairs before a slanted side a leg ends
_EVEN = 1.0 + 1e-9  # the steepest slope may itself be rounded


@inline
def _surface(room, k, plane, x, trip, hair):
    """Where the feet are on a side of an obstacle, at a place."""
    if plane < 0:
        return room.boxes[k, 1]
    return height_of(room.planes, plane, x, x + trip.width, hair)


@inline
def _end_of_side(room, k, plane, x, goal, trip, hair):
    """How far a walker can go along one side of what it stands on, up to a goal."""
    width = trip.width
    if goal > x:
        goal = min(goal, room.boxes[k, 2])
    elif goal + width < room.boxes[k, 0]:
        goal = flush_before(room.boxes[k, 0], width)
    here, there = _surface(room, k, plane, x, trip, hair), _surface(room, k, plane, goal, trip, hair)
    part = 1.0
    for j in range(room.first[k] - 1, room.first[k + 1]):
        other = -1 if j < room.first[k] else j
        if other == plane or (other >= 0 and room.planes[other, 1] >= 0.0):
            continue
        before, after = _surface(room, k, other, x, trip, hair), _surface(room, k, other, goal, trip, hair)
        if after > there + hair and before <= here:
            part = min(part, (here - before) / ((here - before) + (after - there)))
    return goal if part == 1.0 else x + part * (goal - x)


@inline
def eased(room, count, x, y, trip, hair, rules):
    """The y of a walker that may be a rounding too low, and whether it is clear of all: ``y, free``."""
    walker = edges_at(x, y, trip, rules)
    if is_clear_of_all(room, count, walker, hair):
        return y, True
    highest = walker[3]
    for k in range(count):
        if not is_clear(room, k, walker, hair):
            highest = min(highest, rest_on(room, k, walker[0], walker[2], hair)[0])
    if walker[3] - highest > TOUCH * hair:
        return y, False
    up = place_with_feet(highest, trip, rules)
    free = is_clear_of_all(room, count, edges_at(x, up, trip, rules), hair)
    return (up if free else y), free


@inline
def _lifted(room, count, feet, x, y, trip, hair, rules):
    """The y of a walker whose feet are a rounding too low."""
    if edges_at(x, y, trip, rules)[3] <= feet:
        return y
    up = place_with_feet(feet, trip, rules)
    return up if is_clear_of_all(room, count, edges_at(x, up, trip, rules), hair) else y


@inline
def _place_at_meeting(room, k, side, time, x, goal, trip, hair):
    """The x at which a leg ends that meets something."""
    forward = 1.0 if goal > x else -1.0
    if side == X_FACE:
        at = flush_before(room.boxes[k, 0], trip.width) if forward > 0.0 else room.boxes[k, 2]
    else:
        at = x + time * (goal - x) - forward * _BACK * hair
    return max(at, x) if forward > 0.0 else min(at, x)


@inline
def _can_rise(room, count, x, y, to_y, trip, hair, rules):
    """Whether a walker can go straight up."""
    here, there = edges_at(x, y, trip, rules), edges_at(x, to_y, trip, rules)
    meets = first_meeting(room, count, here, there, hair)[1] >= 0
    return not meets and is_clear_of_all(room, count, there, hair)


@inline
def go_along(room, count, x, y, goal, trip, hair, rules, log):
    """Go to another x, along the floor where the walker stands on one: ``x, y``.

    One loop, because each leg follows from all that the one before has left: where it ended, on what, and
    whether it was a step up that is taken back if it leads nowhere.
    """
    forward = 1.0 if goal > x else -1.0
    start = x
    grounded = floor_under(room, count, edges_at(x, y, trip, rules), hair, rules)[0] >= 0
    stepped_x, stepped_y = math.nan, 0.0
    for _ in range(MOST_LEGS):
        if x == goal:
            break
        walker = edges_at(x, y, trip, rules)
        floor, plane, slope, highest = -1, -1, 0.0, walker[3]
        if grounded:
            floor, plane, slope, highest = floor_ahead(room, count, walker, forward, hair)
        if slope > rules.rise * _EVEN:
            floor = -1  # it falls too steeply to be followed
        to_x, to_y = goal, y
        if floor >= 0 and slope < -rules.rise * _EVEN:
            met, side, time = floor, FIRST_PLANE + plane, 0.0
        else:
            if floor >= 0:
                y = _lifted(room, count, highest, x, y, trip, hair, rules)
                walker, to_y = edges_at(x, y, trip, rules), y
                to_x = _end_of_side(room, floor, plane, x, goal, trip, hair)
                feet = _surface(room, floor, plane, to_x, trip, hair)
                if plane >= 0 or walker[3] > feet:
                    to_y = place_with_feet(feet, trip, rules)
            there = edges_at(to_x, to_y, trip, rules)
            time, met, side = first_meeting(room, count, walker, there, hair)
            if met < 0:
                to_y, free = eased(room, count, to_x, to_y, trip, hair, rules)
                if not free:
                    break
                x, y = to_x, to_y
                log_bend(log, trip, abs(x - start), x, y)
                continue
        at_x, at_y = x, y
        if time > 0.0 or side == X_FACE:
            at_x = _place_at_meeting(room, met, side, time, x, to_x, trip, hair)
        if floor >= 0 and at_x != x:
            feet = _surface(room, floor, plane, at_x, trip, hair)
            if plane >= 0 or walker[3] > feet:
                at_y = place_with_feet(feet, trip, rules)
        at_y, free = eased(room, count, at_x, at_y, trip, hair, rules)
        if not free:
            at_x, at_y = x, y
        at = edges_at(at_x, at_y, trip, rules)
        surface, its_plane = rest_on(room, met, at[0], at[2], hair)
        if abs(at[3] - room.boxes[met, 1]) <= TOUCH * hair:  # at its very top, by a rounding on its side
            surface, its_plane = min(surface, room.boxes[met, 1]), -1
        level = is_level(room, its_plane, rules) and room.names[met, 3] & TOP != 0
        if level and at[3] - surface <= TOUCH * hair:  # a seam, or the foot of a slope
            up = place_with_feet(surface, trip, rules) if at[3] > surface else at_y
            clear = is_clear_of_all(room, count, edges_at(at_x, up, trip, rules), hair)
            if clear and (at_x != x or up != y or not grounded):
                x, y, grounded = at_x, up, True
                log_bend(log, trip, abs(x - start), x, y)
                continue
        top = surface if level else room.boxes[met, 1]
        up = place_with_feet(top, trip, rules)
        steps = grounded and 0.0 < at[3] - top <= rules.step and room.names[met, 3] & TOP != 0
        if steps and at_x != stepped_x and _can_rise(room, count, at_x, at_y, up, trip, hair, rules):
            log_bend(log, trip, abs(at_x - start), at_x, at_y)
            stepped_x, stepped_y = at_x, at_y
            x, y = at_x, up
            log_bend(log, trip, abs(x - start), x, y)
            continue
        x, y = at_x, (stepped_y if at_x == stepped_x else at_y)
        log_bend(log, trip, abs(x - start), x, y)
        there = edges_at(to_x, to_y, trip, rules)
        normal = normal_of(room, side, forward, there[3] - walker[3])
        log_hit(log, room, trip, rules, met, normal, abs(x - start), x, y)
        break
    if grounded and x != start and rules.snap > 0.0:
        y = _snapped(room, count, x, y, trip, hair, rules)
    return x, y


@inline
def _slack(room, plane, hair):
    """How far feet (or a head) may be above a side that they touch: farther where it is steep."""
    return TOUCH * hair if plane < 0 else TOUCH * hair / abs(room.planes[plane, 1])


@inline
def _nearest_floor(room, count, walker, hair, rules):
    """The floor below, of several as near a level one: ``obstacle, plane, height``; -1 for none.

    The height is that of the nearest.
    """
    best, best_plane, best_height, nearest = -1, -1, math.inf, math.inf
    for k in range(count):
        if is_beside(room.boxes, k, walker) or room.names[k, 3] & TOP == 0:
            continue
        height, plane = rest_on(room, k, walker[0], walker[2], hair)
        room_below = _slack(room, plane, hair) if room.names[k, 3] == ALL_SIDES else 0.0
        if walker[3] > height + room_below:
            continue
        nearest = min(nearest, height)
        flatter = is_level(room, plane, rules) and best >= 0 and not is_level(room, best_plane, rules)
        as_near = TOUCH * hair if flatter else -TOUCH * hair
        if best < 0 or height < best_height + as_near:
            best, best_plane, best_height = k, plane, height
    return best, best_plane, nearest


@inline
def _snapped(room, count, x, y, trip, hair, rules):
    """Down to the floor that a walker has just walked off, where one is near."""
    walker = edges_at(x, y, trip, rules)
    if floor_under(room, count, walker, hair, rules)[0] >= 0:
        return y
    floor, plane, height = _nearest_floor(room, count, walker, hair, rules)
    if floor < 0 or height - walker[3] > rules.snap or not is_level(room, plane, rules):
        return y
    down, free = eased(room, count, x, place_with_feet(height, trip, rules), trip, hair, rules)
    return down if free else y


@inline
def fall(room, count, x, y, way, gone, trip, hair, rules, log):
    """Go down, until something level holds the walker; it slides down what is steeper: ``x, y``."""
    left_over = way
    for _ in range(MOST_LEGS):
        walker = edges_at(x, y, trip, rules)
        floor, plane = floor_under(room, count, walker, hair, rules)
        height = walker[3]
        if floor < 0:
            floor, plane, height = _nearest_floor(room, count, walker, hair, rules)
        drop = height - walker[3]
        if floor < 0 or drop > left_over:
            return x, y + rules.flip * left_over
        if drop > TOUCH * hair:
            down, free = eased(room, count, x, place_with_feet(height, trip, rules), trip, hair, rules)
            if free:
                y = down
            left_over -= drop
            log_bend(log, trip, gone + way - left_over, x, y)
        normal = (0.0, -1.0) if plane < 0 else (room.planes[plane, 0], room.planes[plane, 1])
        log_hit(log, room, trip, rules, floor, normal, gone + way - left_over, x, y)
        if is_level(room, plane, rules) or left_over <= 0.0:
            return x, y
        along = left_over * normal[0] * -normal[1]
        goal = x + along
        if goal == x:
            return x, y
        to_x = _end_of_side(room, floor, plane, x, goal, trip, hair)
        feet = _surface(room, floor, plane, to_x, trip, hair)
        to_y = place_with_feet(feet, trip, rules)
        walker = edges_at(x, y, trip, rules)
        there = edges_at(to_x, to_y, trip, rules)
        time, met, side = first_meeting(room, count, walker, there, hair)
        if met < 0:
            to_y, free = eased(room, count, to_x, to_y, trip, hair, rules)
            if to_x == x or not free:
                return x, y
            left_over -= left_over * (to_x - x) / along
            x, y = to_x, to_y
            log_bend(log, trip, gone + way - left_over, x, y)
            continue
        at_x = _place_at_meeting(room, met, side, time, x, to_x, trip, hair)
        at_y = place_with_feet(_surface(room, floor, plane, at_x, trip, hair), trip, rules)
        at_y, free = eased(room, count, at_x, at_y, trip, hair, rules)
        if free:
            left_over -= left_over * (at_x - x) / along
            x, y = at_x, at_y
            log_bend(log, trip, gone + way - left_over, x, y)
        normal = normal_of(room, side, along, 1.0)
        log_hit(log, room, trip, rules, met, normal, gone + way - left_over, x, y)
        return x, y
    return x, y


@inline
def _nearest_ceiling(room, count, walker, hair):
    """What the head would hit, and where it is then: ``obstacle, plane, height``; -1 for none."""
    best, best_plane, best_height = -1, -1, -math.inf
    for k in range(count):
        if is_beside(room.boxes, k, walker) or room.names[k, 3] & BOTTOM == 0:
            continue
        height, plane = hang_from(room, k, walker[0], walker[2], hair)
        room_above = _slack(room, plane, hair) if room.names[k, 3] == ALL_SIDES else 0.0
        if walker[1] >= height - room_above and height > best_height:
            best, best_plane, best_height = k, plane, height
    return best, best_plane, best_height


@inline
def _around_corner(room, count, k, x, y, trip, hair, rules):
    """The x from which a walker gets past what its head has hit, the nearer side first; else its own."""
    to_left = flush_before(room.boxes[k, 0], trip.width)
    to_right = room.boxes[k, 2]
    if to_right - x < x - to_left:
        to_left, to_right = to_right, to_left
    walker = edges_at(x, y, trip, rules)
    for part in range(2):
        to_x = to_left if part == 0 else to_right
        if abs(to_x - x) > rules.corner:
            continue
        there = edges_at(to_x, y, trip, rules)
        if first_meeting(room, count, walker, there, hair)[1] >= 0:
            continue
        ceiling, _, height = _nearest_ceiling(room, count, there, hair)
        if ceiling < 0 or walker[1] - height > TOUCH * hair:
            return to_x
    return x


@inline
def climb(room, count, x, y, way, gone, trip, hair, rules, log):
    """Go up; where only a corner is in the way, around it: ``x, y``."""
    left_over = way
    for _ in range(MOST_LEGS):
        walker = edges_at(x, y, trip, rules)
        ceiling, plane, height = _nearest_ceiling(room, count, walker, hair)
        rise = walker[1] - height
        if ceiling < 0 or rise > left_over:
            return x, y - rules.flip * left_over
        if rise > TOUCH * hair:
            up = place_with_head(height, trip, rules)
            if is_clear_of_all(room, count, edges_at(x, up, trip, rules), hair):
                y = up
            left_over -= rise
            log_bend(log, trip, gone + way - left_over, x, y)
        if rules.corner > 0.0 and left_over > 0.0:
            to_x = _around_corner(room, count, ceiling, x, y, trip, hair, rules)
            if to_x != x:
                x = to_x
                log_bend(log, trip, gone + way - left_over, x, y)
                continue
        normal = (0.0, 1.0) if plane < 0 else (room.planes[plane, 0], room.planes[plane, 1])
        log_hit(log, room, trip, rules, ceiling, normal, gone + way - left_over, x, y)
        return x, y
    return x, y
