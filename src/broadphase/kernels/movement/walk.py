"""Walkers, one after the other: each among what lies around it, those before it at their new places.

A walk goes along first and then up or down, so that moving and gravity in one call and in two are the same.
"""

import math

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.movement.walk_planes import HAIR, TOUCH, floor_under, gap, is_clear
from broadphase.kernels.movement.walk_scene import gather, ladder_at
from broadphase.kernels.movement.walk_steps import climb, eased, fall, go_along
from broadphase.kernels.movement.walk_trip import Trip, edges_at

DONE, MORE_ROOM, MORE_LOG, INSIDE = 0, 1, 2, 3


@inline
def _power_above(size):
    """A power of two: so that places a little apart have one hair."""
    power = 1.0
    while power < size:
        power *= 2.0
    while 0.0 < size <= 0.5 * power:
        power *= 0.5
    return power


@inline
def _hair(x, y, trip, reach_x, reach_y):
    """See `walk_planes`; of where a part of a walk may lead."""
    across = max(abs(x - reach_x), abs(x + trip.width + reach_x))
    along = max(abs(y - reach_y), abs(y + trip.height + reach_y))
    return HAIR * _power_above(max(across, along))


@inline
def _let_through(room, count, walker, hair):
    """What a walker is in, and can not get out of, is no obstacle to it."""
    for k in range(count):
        if not is_clear(room, k, walker, hair):
            room.names[k, 3] = 0


@inline
def _set_back(room, count, walker, hair):
    """A side that a walker is flush with, as `World.move` leaves it, is set back by a rounding.

    Without, the walker would count as inside, and be let through.
    """
    for k in range(count):
        first, end = room.first[k], room.first[k + 1]
        if first == end or is_clear(room, k, walker, hair):
            continue
        for edge in range(4):  # left, top, right, bottom, and the opposite edge of the walker
            opposite = walker[(edge + 2) % 4]
            inside = opposite - room.boxes[k, edge] if edge < 2 else room.boxes[k, edge] - opposite
            if inside <= TOUCH * hair:
                room.boxes[k, edge] = opposite
        best = first
        for j in range(first + 1, end):
            if gap(room.planes, j, walker) > gap(room.planes, best, walker):
                best = j
        apart = gap(room.planes, best, walker)
        if apart >= -TOUCH * hair:
            room.planes[best, 2] -= hair - apart


@inline
def region_of(x, y, width, height, dx, dy, rules):
    """All that a walk can touch: left, top, right, bottom."""
    across = abs(dx) + 0.5 * abs(dy) + rules.corner
    along = abs(dx) * rules.rise + abs(dy) + rules.snap + rules.step
    across += 1e-9 * (across + abs(x) + width)
    along += 1e-9 * (along + abs(y) + height)
    return x - across, y - along, x + width + across, y + height + along


@jit
def regions_of(movers, rules, out):
    """`region_of` for rows ``x, y, width, height, dx, dy``."""
    for m in range(movers.shape[0]):
        out[m, 0], out[m, 1], out[m, 2], out[m, 3] = region_of(
            movers[m, 0], movers[m, 1], movers[m, 2], movers[m, 3], movers[m, 4], movers[m, 5], rules
        )


@jit
def walk_rows(
    shapes,
    rows,
    ways,
    begin,
    through,
    near,
    starts,
    grid,
    ground,
    ring,
    rules,
    room,
    log,
    places,
    floors,
    tops,
):
    """Let the boxes in ``rows`` walk: ``next, state``.

    ``near[starts[m]:starts[m + 1]]`` are the rows of what may lie in the way of mover ``m``.  Ends early for
    want of room, or before a mover that starts inside something, unless it is the one that may go
    ``through``; what is behind is done.  Rows of ``floors`` are body, column and row of what is stood on,
    then of a ladder; -1 for none; those of ``tops`` are the normal.
    """
    for m in range(begin, rows.shape[0]):
        row = rows[m]
        x, y, width, height = shapes.x[row], shapes.y[row], shapes.width[row], shapes.height[row]
        dx, dy = ways[m, 0], ways[m, 1]
        trip = Trip(m, width, height, abs(dx) + abs(dy))
        region = region_of(x, y, width, height, dx, dy, rules)
        mine = near[starts[m] : starts[m + 1]]
        walker = x, y, x + width, y + height
        count = gather(room, shapes, mine, grid, ground, ring, region, walker, False, rules)
        if count < 0:
            return m, MORE_ROOM
        hits, bends = log.counts[0], log.counts[1]
        reach = abs(dx) * rules.rise + rules.snap + rules.step
        hair = _hair(x, y, trip, abs(dx), reach)
        y, free = eased(room, count, x, y, trip, hair, rules)
        if not free:
            count = gather(room, shapes, mine, grid, ground, ring, region, walker, True, rules)
            if count < 0:
                return m, MORE_ROOM
            _set_back(room, count, edges_at(x, y, trip, rules), hair)
            y, free = eased(room, count, x, y, trip, hair, rules)
        if not free:
            if through != m:
                return m, INSIDE
            _let_through(room, count, edges_at(x, y, trip, rules), hair)
        if dx != 0.0:
            x, y = go_along(room, count, x, y, x + dx, trip, hair, rules, log)
        hair = _hair(x, y, trip, 0.5 * abs(dy) + rules.corner, abs(dy))
        down = dy * rules.flip
        if down > 0.0:
            x, y = fall(room, count, x, y, down, abs(dx), trip, hair, rules, log)
        elif down < 0.0:
            x, y = climb(room, count, x, y, -down, abs(dx), trip, hair, rules, log)
        if log.counts[0] > log.numbers.shape[0] or log.counts[1] > log.bends.shape[0]:
            log.counts[0], log.counts[1] = hits, bends
            return m, MORE_LOG
        places[m, 0], places[m, 1] = x, y
        shapes.x[row], shapes.y[row] = x, y
        floor, plane = floor_under(room, count, edges_at(x, y, trip, rules), hair, rules)
        tops[m, 0], tops[m, 1] = math.nan, math.nan
        for column in range(3):
            floors[m, column] = -1 if floor < 0 else room.names[floor, column]
        if floor >= 0:
            tops[m, 0] = 0.0 if plane < 0 else room.planes[plane, 0]
            tops[m, 1] = -rules.flip if plane < 0 else rules.flip * room.planes[plane, 1]
        floors[m, 3], floors[m, 4] = ladder_at(grid, ground, x, y, width, height, rules.flip)
    return rows.shape[0], DONE
