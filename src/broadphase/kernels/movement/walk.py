"""Walkers move one after the other among the obstacles around them, earlier ones at their new places.

A walk goes horizontally first and then vertically, so that moving and gravity in one call or in two give the
same result.  It is a sequence of straight legs.  A leg is only taken if its end is certainly clear of
everything.  A walker is stored by its position in the world.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import holds_gil, inline, jit
from broadphase.kernels.movement.sweep import ALL_SIDES, flush_before
from broadphase.kernels.movement.walk_obstacles import (
    FIRST_PLANE,
    TOLERANCE,
    TOUCH,
    X_FACE,
    first_meeting,
    floor_ahead,
    floor_under,
    gap,
    gather,
    hang_from,
    height_of,
    is_beside,
    is_clear,
    is_clear_of_all,
    is_level,
    ladder_at,
    level_side_at,
    normal_of,
    rest_on,
    stand_on,
)
from broadphase.kernels.shapes.table import BOX, ShapeColumns
from broadphase.kernels.tiles.grid import BOTTOM, TOP, TileGrid

DONE, BUFFER_FULL, MORE_LOG, INSIDE = 0, 1, 2, 3

MOST_LEGS = 256
_BACK = 2.0  # a leg ends this many tolerances before a sloped side
_EVEN = 1.0 + 1e-9  # the steepest slope may itself be rounded


# ---- a walker on its path


class Scene(NamedTuple):
    """Walkers and what is around them."""

    shapes: ShapeColumns
    rows: npt.NDArray[np.int64]
    """Of the walkers."""
    near: npt.NDArray[np.int32]
    """``near[starts[m]:starts[m + 1]]`` are the rows of possible obstacles for walker ``m``."""
    starts: npt.NDArray[np.int64]
    grid: TileGrid
    ring: npt.NDArray[np.float64]
    """``(k, 2)``: the normals of the sides of the polygon that replaces round shapes."""


class Ends(NamedTuple):
    """Where walkers ended, one row each."""

    places: npt.NDArray[np.float64]
    floors: npt.NDArray[np.int64]
    """``(m, 5)``: body, column and row of the floor, then column and row of a ladder; -1 for none."""
    tops: npt.NDArray[np.float64]
    """``(m, 2)``: out of the floor; NaN in the air."""


class Log(NamedTuple):
    """What walkers met, and where they turned."""

    hits: npt.NDArray[np.float64]
    """``(h, 9)``, as in `path.Buffers`."""
    bends: npt.NDArray[np.float64]
    """``(b, 4)``: mover, place, time."""
    counts: npt.NDArray[np.int64]
    """``(2,)``: how many of each; a number beyond the length counts rows that were not written."""


class Trip(NamedTuple):
    """One walker, and the origin of its times."""

    mover: int
    width: float
    height: float
    length: float
    """Of both parts together."""


@inline
def edges_at(x, y, trip, rules):
    """The edges of a walker at a place."""
    if rules.flip > 0.0:
        return x, y, x + trip.width, y + trip.height
    return x, -(y + trip.height), x + trip.width, -y


@inline
def place_with_feet(feet, trip, rules):
    """The y of a walker whose feet are at a height."""
    return flush_before(feet, trip.height) if rules.flip > 0.0 else -feet


@inline
def place_with_head(head, trip, rules):
    """The y of a walker whose head is there."""
    return head if rules.flip > 0.0 else flush_before(-head, trip.height)


@inline
def log_hit(log, obstacles, trip, rules, k, normal, gone, x, y):
    """Record a hit after a part of the path."""
    at = log.counts[0]
    log.counts[0] = at + 1
    if at < log.hits.shape[0]:
        log.hits[at, 0] = min(gone / trip.length, 1.0) if trip.length > 0.0 else 0.0
        log.hits[at, 1], log.hits[at, 2] = normal[0] + 0.0, rules.flip * normal[1] + 0.0
        log.hits[at, 3], log.hits[at, 4] = x, y
        for column in range(3):
            log.hits[at, 5 + column] = float(obstacles.names[k, column])
        log.hits[at, 8] = float(trip.mover)


@inline
def log_bend(log, trip, gone, x, y):
    """Record the end of a leg."""
    at = log.counts[1]
    log.counts[1] = at + 1
    if at < log.bends.shape[0]:
        log.bends[at, 0], log.bends[at, 1], log.bends[at, 2] = float(trip.mover), x, y
        log.bends[at, 3] = min(gone / trip.length, 1.0) if trip.length > 0.0 else 0.0


# ---- legs along the floor, then up or down


@inline
def _surface(obstacles, k, plane, x, trip, tolerance):
    """Where the feet are on a side of an obstacle, at a place."""
    if plane < 0:
        return obstacles.boxes[k, 1]
    return height_of(obstacles.planes, plane, x, x + trip.width, tolerance)


@inline
def _end_of_side(obstacles, k, plane, x, goal, trip, tolerance):
    """How far a walker can move along one side of its floor, up to a goal."""
    width = trip.width
    if goal > x:
        goal = min(goal, obstacles.boxes[k, 2])
    elif goal + width < obstacles.boxes[k, 0]:
        goal = flush_before(obstacles.boxes[k, 0], width)
    here, there = (
        _surface(obstacles, k, plane, x, trip, tolerance),
        _surface(obstacles, k, plane, goal, trip, tolerance),
    )
    part = 1.0
    for j in range(obstacles.first[k] - 1, obstacles.first[k + 1]):
        other = -1 if j < obstacles.first[k] else j
        if other == plane or (other >= 0 and obstacles.planes[other, 1] >= 0.0):
            continue
        before, after = (
            _surface(obstacles, k, other, x, trip, tolerance),
            _surface(obstacles, k, other, goal, trip, tolerance),
        )
        if after > there + tolerance and before <= here:
            part = min(part, (here - before) / ((here - before) + (after - there)))
    return goal if part == 1.0 else x + part * (goal - x)


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
def _lifted(obstacles, count, feet, x, y, trip, tolerance, rules):
    """The y of a walker whose feet are a rounding error too low."""
    if edges_at(x, y, trip, rules)[3] <= feet:
        return y
    up = place_with_feet(feet, trip, rules)
    return up if is_clear_of_all(obstacles, count, edges_at(x, up, trip, rules), tolerance) else y


@inline
def _place_at_meeting(obstacles, k, side, time, x, goal, trip, tolerance):
    """The x at which a leg that meets an obstacle ends."""
    forward = 1.0 if goal > x else -1.0
    if side == X_FACE:
        at = flush_before(obstacles.boxes[k, 0], trip.width) if forward > 0.0 else obstacles.boxes[k, 2]
    else:
        at = x + time * (goal - x) - forward * _BACK * tolerance
    return max(at, x) if forward > 0.0 else min(at, x)


@inline
def _can_rise(obstacles, count, x, y, to_y, trip, tolerance, rules):
    """Whether a walker can move straight up."""
    here, there = edges_at(x, y, trip, rules), edges_at(x, to_y, trip, rules)
    meets = first_meeting(obstacles, count, here, there, tolerance)[1] >= 0
    return not meets and is_clear_of_all(obstacles, count, there, tolerance)


@inline
def go_along(obstacles, count, x, y, goal, trip, tolerance, rules, log):
    """Move to another x, along the floor if the walker stands on one: ``x, y``.

    One loop, because each leg depends on the whole state after the previous one: where it ended, on what, and
    whether it was a step up that is undone if it leads nowhere.
    """
    forward = 1.0 if goal > x else -1.0
    start = x
    grounded = floor_under(obstacles, count, edges_at(x, y, trip, rules), tolerance, rules)[0] >= 0
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
                y = _lifted(obstacles, count, highest, x, y, trip, tolerance, rules)
                walker, to_y = edges_at(x, y, trip, rules), y
                to_x = _end_of_side(obstacles, floor, plane, x, goal, trip, tolerance)
                feet = _surface(obstacles, floor, plane, to_x, trip, tolerance)
                if plane >= 0 or walker[3] > feet:
                    to_y = place_with_feet(feet, trip, rules)
            there = edges_at(to_x, to_y, trip, rules)
            time, met, side = first_meeting(obstacles, count, walker, there, tolerance)
            if met < 0:
                to_y, free = eased(obstacles, count, to_x, to_y, trip, tolerance, rules)
                if not free:
                    break
                x, y = to_x, to_y
                log_bend(log, trip, abs(x - start), x, y)
                continue
        at_x, at_y = x, y
        if time > 0.0 or side == X_FACE:
            at_x = _place_at_meeting(obstacles, met, side, time, x, to_x, trip, tolerance)
        if floor >= 0 and at_x != x:
            feet = _surface(obstacles, floor, plane, at_x, trip, tolerance)
            if plane >= 0 or walker[3] > feet:
                at_y = place_with_feet(feet, trip, rules)
        at_y, free = eased(obstacles, count, at_x, at_y, trip, tolerance, rules)
        if not free:
            at_x, at_y = x, y
        at = edges_at(at_x, at_y, trip, rules)
        surface, its_plane = rest_on(obstacles, met, at[0], at[2], tolerance)
        begins = level_side_at(obstacles, met, at, tolerance, rules)
        if begins >= 0:
            surface = height_of(obstacles.planes, begins, at[0], at[2], tolerance)
            its_plane = begins
        if abs(at[3] - obstacles.boxes[met, 1]) <= TOUCH * tolerance:  # at its top, except for rounding
            surface, its_plane = min(surface, obstacles.boxes[met, 1]), -1
        level = is_level(obstacles, its_plane, rules) and obstacles.names[met, 3] & TOP != 0
        if level and at[3] - surface <= TOUCH * tolerance:  # the border of two tiles, or the foot of a slope
            up = place_with_feet(surface, trip, rules) if at[3] > surface else at_y
            clear = is_clear_of_all(obstacles, count, edges_at(at_x, up, trip, rules), tolerance)
            if clear and (at_x != x or up != y or not grounded):
                x, y, grounded = at_x, up, True
                log_bend(log, trip, abs(x - start), x, y)
                continue
        top = surface if level else obstacles.boxes[met, 1]
        up = place_with_feet(top, trip, rules)
        steps = grounded and 0.0 < at[3] - top <= rules.step and obstacles.names[met, 3] & TOP != 0
        if (
            steps
            and at_x != stepped_x
            and _can_rise(obstacles, count, at_x, at_y, up, trip, tolerance, rules)
        ):
            log_bend(log, trip, abs(at_x - start), at_x, at_y)
            stepped_x, stepped_y = at_x, at_y
            x, y = at_x, up
            log_bend(log, trip, abs(x - start), x, y)
            continue
        x, y = at_x, (stepped_y if at_x == stepped_x else at_y)
        log_bend(log, trip, abs(x - start), x, y)
        there = edges_at(to_x, to_y, trip, rules)
        normal = normal_of(obstacles, side, forward, there[3] - walker[3])
        log_hit(log, obstacles, trip, rules, met, normal, abs(x - start), x, y)
        break
    if grounded and x != start and rules.snap > 0.0:
        y = _snapped(obstacles, count, x, y, trip, tolerance, rules)
    return x, y


@inline
def _slack(obstacles, plane, tolerance):
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
def _nearest_floor(obstacles, count, walker, tolerance, rules):
    """The floor below; among floors equally near, a level one: ``obstacle, plane, height``; -1 for none.

    Of steep ones it is the one that leads on downwards.  The height is that of the nearest.
    """
    best, best_plane, best_height, nearest = -1, -1, math.inf, math.inf
    for k in range(count):
        if is_beside(obstacles.boxes, k, walker) or obstacles.names[k, 3] & TOP == 0:
            continue
        height, plane = stand_on(obstacles, k, walker, tolerance, rules)
        room_below = _slack(obstacles, plane, tolerance) if obstacles.names[k, 3] == ALL_SIDES else 0.0
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
def _snapped(obstacles, count, x, y, trip, tolerance, rules):
    """Move down to the floor that a walker has just walked off, if one is near."""
    walker = edges_at(x, y, trip, rules)
    if floor_under(obstacles, count, walker, tolerance, rules)[0] >= 0:
        return y
    floor, plane, height = _nearest_floor(obstacles, count, walker, tolerance, rules)
    if floor < 0 or height - walker[3] > rules.snap or not is_level(obstacles, plane, rules):
        return y
    down, free = eased(obstacles, count, x, place_with_feet(height, trip, rules), trip, tolerance, rules)
    return down if free else y


@inline
def fall(obstacles, count, x, y, length, gone, trip, tolerance, rules, log):
    """Move down until a level floor holds the walker; it slides down steeper ones: ``x, y``."""
    left_over = length
    for _ in range(MOST_LEGS):
        walker = edges_at(x, y, trip, rules)
        floor, plane = floor_under(obstacles, count, walker, tolerance, rules)
        height = walker[3]
        if floor < 0:
            floor, plane, height = _nearest_floor(obstacles, count, walker, tolerance, rules)
        drop = height - walker[3]
        if floor < 0 or drop > left_over:
            return x, y + rules.flip * left_over
        if drop > TOUCH * tolerance:
            down, free = eased(
                obstacles, count, x, place_with_feet(height, trip, rules), trip, tolerance, rules
            )
            if free:
                y = down
            left_over -= drop
            log_bend(log, trip, gone + length - left_over, x, y)
        normal = (0.0, -1.0) if plane < 0 else (obstacles.planes[plane, 0], obstacles.planes[plane, 1])
        log_hit(log, obstacles, trip, rules, floor, normal, gone + length - left_over, x, y)
        if is_level(obstacles, plane, rules) or left_over <= 0.0:
            return x, y
        along = left_over * normal[0] * -normal[1]
        goal = x + along
        if goal == x:
            return x, y
        to_x = _end_of_side(obstacles, floor, plane, x, goal, trip, tolerance)
        feet = _surface(obstacles, floor, plane, to_x, trip, tolerance)
        to_y = place_with_feet(feet, trip, rules)
        walker = edges_at(x, y, trip, rules)
        there = edges_at(to_x, to_y, trip, rules)
        time, met, side = first_meeting(obstacles, count, walker, there, tolerance)
        if met < 0:
            to_y, free = eased(obstacles, count, to_x, to_y, trip, tolerance, rules)
            if to_x == x or not free:
                return x, y
            left_over -= left_over * (to_x - x) / along
            x, y = to_x, to_y
            log_bend(log, trip, gone + length - left_over, x, y)
            continue
        at_x = _place_at_meeting(obstacles, met, side, time, x, to_x, trip, tolerance)
        at_y = place_with_feet(_surface(obstacles, floor, plane, at_x, trip, tolerance), trip, rules)
        at_y, free = eased(obstacles, count, at_x, at_y, trip, tolerance, rules)
        if free:
            left_over -= left_over * (at_x - x) / along
            x, y = at_x, at_y
            log_bend(log, trip, gone + length - left_over, x, y)
        normal = normal_of(obstacles, side, along, 1.0)
        log_hit(log, obstacles, trip, rules, met, normal, gone + length - left_over, x, y)
        return x, y
    return x, y


@inline
def _nearest_ceiling(obstacles, count, walker, tolerance):
    """What the head would hit, and where it is then: ``obstacle, plane, height``; -1 for none."""
    best, best_plane, best_height = -1, -1, -math.inf
    for k in range(count):
        if is_beside(obstacles.boxes, k, walker) or obstacles.names[k, 3] & BOTTOM == 0:
            continue
        height, plane = hang_from(obstacles, k, walker[0], walker[2], tolerance)
        room_above = _slack(obstacles, plane, tolerance) if obstacles.names[k, 3] == ALL_SIDES else 0.0
        if walker[1] >= height - room_above and height > best_height:
            best, best_plane, best_height = k, plane, height
    return best, best_plane, best_height


@inline
def _around_corner(obstacles, count, k, x, y, trip, tolerance, rules):
    """The x at which a walker gets past an obstacle above its head, the nearer side first; else its own x."""
    to_left = flush_before(obstacles.boxes[k, 0], trip.width)
    to_right = obstacles.boxes[k, 2]
    if to_right - x < x - to_left:
        to_left, to_right = to_right, to_left
    walker = edges_at(x, y, trip, rules)
    for part in range(2):
        to_x = to_left if part == 0 else to_right
        if abs(to_x - x) > rules.corner:
            continue
        there = edges_at(to_x, y, trip, rules)
        if first_meeting(obstacles, count, walker, there, tolerance)[1] >= 0:
            continue
        ceiling, _, height = _nearest_ceiling(obstacles, count, there, tolerance)
        if ceiling < 0 or walker[1] - height > TOUCH * tolerance:
            return to_x
    return x


@inline
def climb(obstacles, count, x, y, length, gone, trip, tolerance, rules, log):
    """Move up; around an obstacle if only its corner blocks: ``x, y``."""
    left_over = length
    for _ in range(MOST_LEGS):
        walker = edges_at(x, y, trip, rules)
        ceiling, plane, height = _nearest_ceiling(obstacles, count, walker, tolerance)
        rise = walker[1] - height
        if ceiling < 0 or rise > left_over:
            return x, y - rules.flip * left_over
        if rise > TOUCH * tolerance:
            up = place_with_head(height, trip, rules)
            if is_clear_of_all(obstacles, count, edges_at(x, up, trip, rules), tolerance):
                y = up
            left_over -= rise
            log_bend(log, trip, gone + length - left_over, x, y)
        if rules.corner > 0.0 and left_over > 0.0:
            to_x = _around_corner(obstacles, count, ceiling, x, y, trip, tolerance, rules)
            if to_x != x:
                x = to_x
                log_bend(log, trip, gone + length - left_over, x, y)
                continue
        normal = (0.0, 1.0) if plane < 0 else (obstacles.planes[plane, 0], obstacles.planes[plane, 1])
        log_hit(log, obstacles, trip, rules, ceiling, normal, gone + length - left_over, x, y)
        return x, y
    return x, y


# ---- one walker after the other


@inline
def _power_above(size):
    """A power of two, so that places near each other have one tolerance."""
    power = 1.0
    while power < size:
        power *= 2.0
    while 0.0 < size <= 0.5 * power and power < math.inf:
        power *= 0.5
    return power


@inline
def _tolerance(obstacles, count, x, y, trip, reach_x, reach_y, gone):
    """See `walk_obstacles`; for the region that a part of a walk may reach, which moves it by ``gone``.

    Whatever the rules allow, a walker gets no farther than that, or to the obstacles there.
    """
    far_x = max(abs(x), abs(x + trip.width)) + gone
    far_y = max(abs(y), abs(y + trip.height)) + gone
    for k in range(count):
        far_x = max(far_x, max(abs(obstacles.boxes[k, 0]), abs(obstacles.boxes[k, 2])))
        far_y = max(far_y, max(abs(obstacles.boxes[k, 1]), abs(obstacles.boxes[k, 3])))
    across = min(far_x, max(abs(x - reach_x), abs(x + trip.width + reach_x)))
    along = min(far_y, max(abs(y - reach_y), abs(y + trip.height + reach_y)))
    return TOLERANCE * _power_above(max(across, along))


@inline
def _let_through(obstacles, count, walker, tolerance):
    """Exclude obstacles that a walker is inside of and cannot leave."""
    for k in range(count):
        if not is_clear(obstacles, k, walker, tolerance):
            obstacles.names[k, 3] = 0


@inline
def _straighten(obstacles, count, kinds, walker, tolerance):
    """Move edges of shapes other than boxes back by a rounding error where a walker is flush with them.

    Their corners are rounded, so that a floor of many may have steps that nobody sees.
    """
    for k in range(count):
        row = obstacles.names[k, 0]
        if kinds[row] == BOX if row >= 0 else obstacles.first[k] == obstacles.first[k + 1]:
            continue
        for edge in range(4):  # left, top, right, bottom, and the opposite edge of the walker
            opposite = walker[(edge + 2) % 4]
            inside = opposite - obstacles.boxes[k, edge] if edge < 2 else obstacles.boxes[k, edge] - opposite
            if 0.0 < inside <= TOUCH * tolerance:
                obstacles.boxes[k, edge] = opposite


@inline
def _set_back(obstacles, count, walker, tolerance):
    """Move a side back by a rounding error if a walker is flush with it, as `World.move` leaves it.

    Otherwise the walker would count as inside, and pass through.
    """
    for k in range(count):
        first, end = obstacles.first[k], obstacles.first[k + 1]
        if first == end or is_clear(obstacles, k, walker, tolerance):
            continue
        best = first
        for j in range(first + 1, end):
            if gap(obstacles.planes, j, walker) > gap(obstacles.planes, best, walker):
                best = j
        apart = gap(obstacles.planes, best, walker)
        if apart >= -TOUCH * tolerance:
            obstacles.planes[best, 2] -= tolerance - apart


@inline
def region_of(x, y, width, height, dx, dy, rules):
    """The region that a walk can touch: left, top, right, bottom."""
    across = abs(dx) + 0.5 * abs(dy) + rules.corner
    along = abs(dx) * rules.rise + abs(dy) + rules.snap + rules.step
    across += 1e-9 * (across + abs(x) + width)
    along += 1e-9 * (along + abs(y) + height)
    return x - across, y - along, x + width + across, y + height + along


@holds_gil
def reach_of(x, y, width, height, dx, dy, rules):
    """`region_of` for one, enlarged by rounding: what touches it overlaps it."""
    left, top, right, bottom = region_of(x, y, width, height, dx, dy, rules)
    return next_down(left), next_down(top), next_up(right), next_up(bottom)


@jit
def regions_of(movers, rules, out):
    """`region_of` for rows ``x, y, width, height, dx, dy``."""
    for m in range(movers.shape[0]):
        out[m, 0], out[m, 1], out[m, 2], out[m, 3] = region_of(
            movers[m, 0], movers[m, 1], movers[m, 2], movers[m, 3], movers[m, 4], movers[m, 5], rules
        )


@jit
def walk_rows(scene, motions, begin, through, rules, obstacles, log, ends):
    """Let the boxes in ``scene.rows`` walk: ``next, state``.

    It ends early if memory is full, or before a mover that starts inside something, unless it is ``through``;
    the movers before ``next`` are done.
    """
    shapes, grid, ring = scene.shapes, scene.grid, scene.ring
    for m in range(begin, scene.rows.shape[0]):
        row = scene.rows[m]
        x, y, width, height = shapes.x[row], shapes.y[row], shapes.width[row], shapes.height[row]
        dx, dy = motions[m, 0], motions[m, 1]
        trip = Trip(m, width, height, abs(dx) + abs(dy))
        region = region_of(x, y, width, height, dx, dy, rules)
        mine = scene.near[scene.starts[m] : scene.starts[m + 1]]
        walker = x, y, x + width, y + height
        count = gather(obstacles, shapes, mine, grid, ring, region, walker, False, rules)
        if count < 0:
            return m, BUFFER_FULL
        hits, bends = log.counts[0], log.counts[1]
        reach = abs(dx) * rules.rise + rules.snap + rules.step
        tolerance = _tolerance(obstacles, count, x, y, trip, abs(dx), reach, abs(dx))
        _straighten(obstacles, count, shapes.kinds, edges_at(x, y, trip, rules), tolerance)
        y, free = eased(obstacles, count, x, y, trip, tolerance, rules)
        if not free:
            count = gather(obstacles, shapes, mine, grid, ring, region, walker, True, rules)
            if count < 0:
                return m, BUFFER_FULL
            _straighten(obstacles, count, shapes.kinds, edges_at(x, y, trip, rules), tolerance)
            _set_back(obstacles, count, edges_at(x, y, trip, rules), tolerance)
            y, free = eased(obstacles, count, x, y, trip, tolerance, rules)
        if not free:
            if through != m:
                return m, INSIDE
            _let_through(obstacles, count, edges_at(x, y, trip, rules), tolerance)
        if dx != 0.0:
            x, y = go_along(obstacles, count, x, y, x + dx, trip, tolerance, rules, log)
        reach = 0.5 * abs(dy) + rules.corner
        tolerance = _tolerance(obstacles, count, x, y, trip, reach, abs(dy), abs(dy))
        down = dy * rules.flip
        if down > 0.0:
            x, y = fall(obstacles, count, x, y, down, abs(dx), trip, tolerance, rules, log)
        elif down < 0.0:
            x, y = climb(obstacles, count, x, y, -down, abs(dx), trip, tolerance, rules, log)
        if log.counts[0] > log.hits.shape[0] or log.counts[1] > log.bends.shape[0]:
            log.counts[0], log.counts[1] = hits, bends
            return m, MORE_LOG
        ends.places[m, 0], ends.places[m, 1] = x, y
        floors, tops = ends.floors, ends.tops
        shapes.x[row], shapes.y[row] = x, y
        floor, plane = floor_under(obstacles, count, edges_at(x, y, trip, rules), tolerance, rules)
        tops[m, 0], tops[m, 1] = math.nan, math.nan
        for column in range(3):
            floors[m, column] = -1 if floor < 0 else obstacles.names[floor, column]
        if floor >= 0:
            tops[m, 0] = 0.0 if plane < 0 else obstacles.planes[plane, 0]
            tops[m, 1] = -rules.flip if plane < 0 else rules.flip * obstacles.planes[plane, 1]
        floors[m, 3], floors[m, 4] = ladder_at(grid, x, y, width, height, rules.flip)
    return scene.rows.shape[0], DONE
