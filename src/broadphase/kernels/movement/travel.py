"""Boxes on their way: from hit to hit, each answered with a response, until the goal or a stop.

The way is kept as a goal and not as a rest that shrinks: where an axis stays free, the box arrives at its
start plus the movement, to the last bit.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.movement.first_hit import BEFORE_ALL, NO_HIT, first_hit, free_place, is_inside

SLIDE, TOUCH, CROSS, BOUNCE = 0, 1, 2, 3

# A box that bounces in a gap of its own size would never end.
MOST_TURNS = 256

# Movement ends here: beyond, differences of coordinates would overflow.
FARTHEST = 1e300


@jit
def turn(x, y, goal_x, goal_y, axis, response):
    """The new goal of a box that was stopped at ``x, y``."""
    if response == TOUCH:
        return x, y
    if axis == 0.0:
        return (x if response == SLIDE else x + (x - goal_x)), goal_y
    return goal_x, (y if response == SLIDE else y + (y - goal_y))


@inline
def normal_of(hit, x, y, goal_x, goal_y):
    """Out of the side that was hit."""
    if hit[5] == 0.0:
        return (-1.0 if goal_x > x else 1.0), 0.0
    return 0.0, (-1.0 if goal_y > y else 1.0)


@jit
def next_hit(x, y, width, height, goal_x, goal_y, boxes, rows, grid, after, first):
    """One step of one box: ``inside, hit, place, normal``; where it starts inside, no more is asked."""
    if first and is_inside(x, y, width, height, boxes, rows, grid):
        return True, NO_HIT, (x, y), (0.0, 0.0)
    hit = first_hit(x, y, width, height, goal_x, goal_y, boxes, rows, grid, after)
    if hit[0] > 1.0:
        return False, hit, (goal_x, goal_y), (0.0, 0.0)
    place = free_place(x, y, width, height, goal_x, goal_y, boxes, rows, grid, after, hit)
    return False, hit, place, normal_of(hit, x, y, goal_x, goal_y)


@jit
def travel(movers, responses, begin, end, boxes, rows, starts, grid, places, inside, numbers, values):
    """All the way for many boxes that do not see each other; returns ``next, found, cramped``.

    ``movers`` are rows ``x, y, width, height, dx, dy``; ``rows[starts[m]:starts[m + 1]]`` are the boxes
    that may lie in the way of mover ``m``.  One that starts inside something is marked and stays.

    What they hit is written into ``numbers`` and ``values``, ``found`` rows.  Where there is no room for all
    hits of mover ``next``, it stops, ``cramped``, and goes on with that one when it is called again.
    """
    found = np.int64(0)
    for m in range(begin, end):
        more = go_along(
            movers, responses, m, boxes, rows, starts, grid, places, inside, numbers, values, found
        )
        if more < 0:
            return m, found, True
        found = more
    return end, found, False


@inline
def go_along(movers, responses, m, boxes, rows, starts, grid, places, inside, numbers, values, found):
    """All the way for mover ``m``, see `travel`; how many hits there are then, -1 where they have no room."""
    x, y, width, height = movers[m, 0], movers[m, 1], movers[m, 2], movers[m, 3]
    dx, dy = movers[m, 4], movers[m, 5]
    mine = rows[starts[m] : starts[m + 1]]
    goal_x, goal_y = x + dx, y + dy
    passed, after, turns = 0.0, BEFORE_ALL, 0
    inside[m] = is_inside(x, y, width, height, boxes, mine, grid)
    while not inside[m] and turns < MOST_TURNS and (goal_x != x or goal_y != y):
        hit = first_hit(x, y, width, height, goal_x, goal_y, boxes, mine, grid, after)
        if hit[0] > 1.0:
            x, y = goal_x, goal_y
            break
        if found == numbers.shape[0]:
            return np.int64(-1)
        at = free_place(x, y, width, height, goal_x, goal_y, boxes, mine, grid, after, hit)
        normal = normal_of(hit, x, y, goal_x, goal_y)
        time = passed + (1.0 - passed) * hit[0]
        _write(numbers, values, found, m, hit, mine, time, normal, at)
        found += 1
        if responses[m] == CROSS:
            after = hit
        else:
            x, y = at
            goal_x, goal_y = turn(x, y, goal_x, goal_y, hit[5], responses[m])
            passed, after = time, BEFORE_ALL
            turns += 1
    places[m, 0], places[m, 1] = x, y
    return found


@inline
def _write(numbers, values, at, mover, hit, rows, time, normal, place):
    is_body = hit[2] < rows.shape[0]
    numbers[at, 0] = mover
    numbers[at, 1] = rows[int(hit[2])] if is_body else -1
    numbers[at, 2] = -1 if is_body else int(hit[4])
    numbers[at, 3] = -1 if is_body else int(hit[3])
    values[at, 0] = time
    values[at, 1], values[at, 2] = normal
    values[at, 3], values[at, 4] = place
