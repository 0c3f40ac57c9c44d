"""A walker among obstacles: is it clear of them, where do its feet rest on one, what does its way meet?

Along straight edges all comparisons are exact.  A slanted side is kept off by a ``hair``: some 200 units in
the last place of the largest coordinate around.  So much more than any rounding here, and so much less than
what `World.grounded` looks beyond, that who rests on a slope is outside of it in exact arithmetic too.

A walker is ``left, top, right, bottom``.
"""

import math

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.movement.sweep import NEVER, pass_by
from broadphase.kernels.movement.walk_scene import ALL_SIDES
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP

HAIR = 5e-14  # of the largest coordinate
TOUCH = 8.0  # so many hairs apart are together
OUTSIDE = 0.25  # so much of a hair is outside

X_FACE, Y_FACE, FIRST_PLANE = 0, 1, 2
NO_MEETING = (math.inf, -1, 0)


@inline
def gap(planes, j, walker):
    """How far a walker is outside of a plane."""
    nx, ny = planes[j, 0], planes[j, 1]
    x = walker[0] if nx > 0.0 else walker[2]
    y = walker[1] if ny > 0.0 else walker[3]
    return nx * x + ny * y - planes[j, 2]


@inline
def is_beside(boxes, k, walker):
    """Whether a walker is neither over nor under an obstacle."""
    return walker[0] >= boxes[k, 2] or walker[2] <= boxes[k, 0]


@inline
def is_clear(room, k, walker, hair):
    """Whether a walker is certainly outside of an obstacle; of what blocks on one side only it always is."""
    boxes = room.boxes
    if is_beside(boxes, k, walker) or walker[1] >= boxes[k, 3] or walker[3] <= boxes[k, 1]:
        return True
    if room.names[k, 3] != ALL_SIDES:
        return True
    for j in range(room.first[k], room.first[k + 1]):
        if gap(room.planes, j, walker) >= OUTSIDE * hair:
            return True
    return False


@inline
def is_clear_of_all(room, count, walker, hair):
    """As `is_clear`, of all."""
    for k in range(count):
        if not is_clear(room, k, walker, hair):
            return False
    return True


@inline
def height_of(planes, j, left, right, hair):
    """Where the feet (or the head) of a walker rest on a slanted side."""
    nx, ny = planes[j, 0], planes[j, 1]
    return (planes[j, 2] + hair - nx * (left if nx > 0.0 else right)) / ny


@inline
def rest_on(room, k, left, right, hair):
    """Where feet rest on an obstacle: the height, and the plane, -1 for its top."""
    best, plane = room.boxes[k, 1], -1
    for j in range(room.first[k], room.first[k + 1]):
        if room.planes[j, 1] < 0.0:
            at = height_of(room.planes, j, left, right, hair)
            if at > best:
                best, plane = at, j
    return best, plane


@inline
def hang_from(room, k, left, right, hair):
    """As `rest_on`, for the head, under an obstacle."""
    best, plane = room.boxes[k, 3], -1
    for j in range(room.first[k], room.first[k + 1]):
        if room.planes[j, 1] > 0.0:
            at = height_of(room.planes, j, left, right, hair)
            if at < best:
                best, plane = at, j
    return best, plane


@inline
def is_level(room, plane, rules):
    """Whether a surface is flat enough to walk on."""
    return plane < 0 or -room.planes[plane, 1] >= rules.upright


@inline
def floor_under(room, count, walker, hair, rules):
    """What a walker stands on, the flattest, then the first: ``obstacle, plane``; -1 for none."""
    best, best_plane, best_up = -1, -1, 0.0
    for k in range(count):
        if is_beside(room.boxes, k, walker) or room.names[k, 3] & TOP == 0:
            continue
        height, plane = rest_on(room, k, walker[0], walker[2], hair)
        if abs(walker[3] - height) > TOUCH * hair or not is_level(room, plane, rules):
            continue
        if room.names[k, 3] != ALL_SIDES and walker[3] > height:
            continue
        up = 1.0 if plane < 0 else -room.planes[plane, 1]
        if up > best_up:
            best, best_plane, best_up = k, plane, up
    return best, best_plane


@inline
def floor_ahead(room, count, walker, forward, hair):
    """Along what a walker goes: ``obstacle, plane, slope, height``; obstacle -1 where nothing holds it.

    Slope is how far down it goes for each step forward.  Of one obstacle the side that falls most is the
    one that is followed, of all obstacles the one that falls least holds the walker up.  Height is where
    feet rest on the highest of them: roundings tell those apart that begin where another ends.
    """
    best, best_plane, best_slope, highest = -1, -1, math.inf, walker[3]
    for k in range(count):
        boxes = room.boxes
        left, right, near = walker[0], walker[2], TOUCH * hair
        if forward > 0.0:
            beside = boxes[k, 2] <= left or boxes[k, 0] > right + near
        else:
            beside = boxes[k, 0] >= right or boxes[k, 2] < left - near
        if beside or room.names[k, 3] & TOP == 0:
            continue
        height, _ = rest_on(room, k, left, right, hair)
        if abs(walker[3] - height) > TOUCH * hair:
            continue
        if room.names[k, 3] != ALL_SIDES and walker[3] > height:
            continue
        highest = min(highest, height)
        plane, slope = -1, -math.inf
        if abs(walker[3] - boxes[k, 1]) <= TOUCH * hair:
            slope = 0.0
        for j in range(room.first[k], room.first[k + 1]):
            nx, ny = room.planes[j, 0], room.planes[j, 1]
            if ny < 0.0 and abs(walker[3] - height_of(room.planes, j, left, right, hair)) <= TOUCH * hair:
                falls = -forward * nx / ny
                if falls > slope:
                    plane, slope = j, falls
        if slope < best_slope:
            best, best_plane, best_slope = k, plane, slope
    return best, best_plane, best_slope, highest


@inline
def _blocks(sides, axis, forward, down):
    """Whether an obstacle that blocks on some sides blocks here."""
    if sides == ALL_SIDES:
        return True
    if axis == X_FACE:
        return sides & (LEFT if forward > 0.0 else RIGHT) != 0
    return sides & (TOP if down > 0.0 else BOTTOM) != 0


@inline
def _meet(room, k, walker, goal, hair):
    """When and through what a walker on a straight way enters an obstacle: ``time, side``."""
    never = (math.inf, 0)
    boxes = room.boxes
    enter_x, leave_x = pass_by(walker[0], walker[2], goal[0], goal[2], boxes[k, 0], boxes[k, 2])
    if enter_x == NEVER:
        return never
    enter_y, leave_y = pass_by(walker[1], walker[3], goal[1], goal[3], boxes[k, 1], boxes[k, 3])
    if enter_y == NEVER or not (enter_x < leave_y and enter_y < leave_x):
        return never
    enter, side = (enter_x, X_FACE) if enter_x > enter_y else (enter_y, Y_FACE)
    leave = min(leave_x, leave_y)
    for j in range(room.first[k], room.first[k + 1]):
        before, after = gap(room.planes, j, walker), gap(room.planes, j, goal)
        if before < OUTSIDE * hair:
            if after >= OUTSIDE * hair and before >= -hair:
                return never  # it was on the edge, and leaves
            if after > hair:
                leave = min(leave, (hair - before) / (after - before))
        elif after >= OUTSIDE * hair:
            return never  # outside of this side all the way
        else:
            time = max((before - hair) / (before - after), 0.0)
            if time > enter:
                enter, side = time, FIRST_PLANE + j
    if enter < 0.0 or not enter < leave:
        return never
    if not _blocks(room.names[k, 3], side, goal[0] - walker[0], goal[3] - walker[3]):
        return never
    return min(enter, 1.0), side


@inline
def first_meeting(room, count, walker, goal, hair):
    """What a walker meets first on a straight way: ``time, obstacle, side``."""
    best, which, side = math.inf, -1, 0
    for k in range(count):
        time, through = _meet(room, k, walker, goal, hair)
        if time < best:
            best, which, side = time, k, through
    return best, which, side


@inline
def normal_of(room, side, forward, down):
    """Out of the side that was met."""
    if side == X_FACE:
        return (-1.0 if forward > 0.0 else 1.0), 0.0
    if side == Y_FACE:
        return 0.0, (-1.0 if down > 0.0 else 1.0)
    return room.planes[side - FIRST_PLANE, 0], room.planes[side - FIRST_PLANE, 1]


@inline
def hair_of(left, top, right, bottom):
    """Of the largest coordinate of a region."""
    return HAIR * max(max(abs(left), abs(right)), max(abs(top), abs(bottom)))
