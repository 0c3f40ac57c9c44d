"""One box among the bodies and tiles of a world: all of its way in one call.

Calling costs more than moving, so what lies near the way is sorted, sifted and passed here, and the place
that was found is written back.  What this does not do (start inside something, meet circles or polygons,
hit more than there is room for) it leaves to the general way, and has changed nothing then.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import brief, inline
from broadphase.kernels.movement.bodies import moved
from broadphase.kernels.movement.first_hit import BEFORE_ALL, first_hit, free_place, is_inside
from broadphase.kernels.movement.travel import CROSS, FARTHEST, MOST_TURNS, normal_of, turn
from broadphase.kernels.shapes.near import sort_near
from broadphase.kernels.shapes.table import BOX

ALWAYS, IF_FREE, NEVER = 0, 1, 2  # when a body goes, and is not only asked what it would hit


class Room(NamedTuple):
    """Memory for one movement, used for all of them."""

    near: npt.NDArray[np.int32]
    """Rows of bodies near the way; then those that block."""
    sensors: npt.NDArray[np.int32]
    boxes: npt.NDArray[np.float64]
    """Of those that block."""
    every: npt.NDArray[np.int64]
    """0, 1, 2, ..."""
    hits: npt.NDArray[np.float64]
    """``(h, 8)``"""


@brief
def way_of_box(shapes, row, dx, dy, mirrored):
    """A box that touches all that box ``row`` can meet on its way; NaN where this file is no help.

    A way that may be mirrored leads to both sides.
    """
    x, y, width, height = shapes.x[row], shapes.y[row], shapes.width[row], shapes.height[row]
    far_x, far_y = max(abs(dx), abs(x + dx)), max(abs(dy), abs(y + dy))
    if shapes.kinds[row] != BOX or not (far_x < FARTHEST and far_y < FARTHEST):
        return math.nan, math.nan, math.nan, math.nan
    if mirrored:
        pad_x = abs(dx) + 1e-12 * (abs(x) + abs(dx) + width)
        pad_y = abs(dy) + 1e-12 * (abs(y) + abs(dy) + height)
        left, top, right, bottom = x - pad_x, y - pad_y, x + width + pad_x, y + height + pad_y
    else:
        goal_x, goal_y = x + dx, y + dy
        left, right = min(x, goal_x), max(x + width, goal_x + width)
        top, bottom = min(y, goal_y), max(y + height, goal_y + height)
    if not (right - left < math.inf and bottom - top < math.inf):
        return math.nan, math.nan, math.nan, math.nan
    return next_down(left), next_down(top), next_up(right), next_up(bottom)


@inline
def _sift(shapes, bodies, row, near, count, boxes, sensors):
    """What blocks comes to the front of ``near`` and into ``boxes``; how many, and how many ``sensors``.

    A moving sensor is blocked by no body: it passes all of them.  -1 where something blocks that is no box.
    """
    blockers = met = 0
    for k in range(count):
        other = near[k]
        meets = bodies.category[row] & bodies.mask[other] and bodies.mask[row] & bodies.category[other]
        if other == row or not meets:
            continue
        if bodies.sensor[other] or bodies.sensor[row]:
            sensors[met] = other
            met += 1
            continue
        if shapes.kinds[other] != BOX:
            return -1, met
        x, y = shapes.x[other], shapes.y[other]
        boxes[blockers, 0], boxes[blockers, 1] = x, y
        boxes[blockers, 2], boxes[blockers, 3] = x + shapes.width[other], y + shapes.height[other]
        near[blockers] = other
        blockers += 1
    return blockers, met


@brief
def go(shapes, bodies, row, dx, dy, response, when, count, room, grid):
    """Move box ``row`` among the first ``count`` of ``room.near``, and mark it as moved.

    Returns ``hits, sensors, x, y, start_x, start_y``; -1 hits where this file is no help.  A row of
    ``room.hits`` is ``time, normal, place, body, column, row``, with -1 for what it is not; sensors near the
    way stand in ``room.sensors``.  With `IF_FREE` it stays where it is when it hits anything.
    """
    start_x, start_y = shapes.x[row], shapes.y[row]
    width, height = shapes.width[row], shapes.height[row]
    nothing = (-1, 0, start_x, start_y, start_x, start_y)
    sort_near(room.near, count)
    blockers, sensors = _sift(shapes, bodies, row, room.near, count, room.boxes, room.sensors)
    if blockers < 0:
        return nothing
    mine = room.every[:blockers]
    if is_inside(start_x, start_y, width, height, room.boxes, mine, grid):
        return nothing
    x, y = start_x, start_y
    goal_x, goal_y = x + dx, y + dy
    passed, after, turns, found = 0.0, BEFORE_ALL, 0, 0
    while True:
        hit = first_hit(x, y, width, height, goal_x, goal_y, room.boxes, mine, grid, after)
        if hit[0] > 1.0:
            x, y = goal_x, goal_y
            break
        if found == room.hits.shape[0]:
            return nothing
        at = free_place(x, y, width, height, goal_x, goal_y, room.boxes, mine, grid, after, hit)
        time = passed + (1.0 - passed) * hit[0]
        _write(room, found, hit, blockers, time, normal_of(hit, x, y, goal_x, goal_y), at)
        found += 1
        if response == CROSS:
            after = hit
        else:
            x, y = at
            goal_x, goal_y = turn(x, y, goal_x, goal_y, hit[5], response)
            passed, after = time, BEFORE_ALL
            turns += 1
            if turns == MOST_TURNS:
                break
        if goal_x == x and goal_y == y:
            break
    goes = when == ALWAYS or (when == IF_FREE and found == 0)
    if goes and (x != start_x or y != start_y):
        moved(bodies, row)
        shapes.x[row], shapes.y[row] = x, y
    return found, sensors, x, y, start_x, start_y


@inline
def _write(room, at, hit, blockers, time, normal, place):
    hits = room.hits
    is_body = hit[2] < blockers
    hits[at, 0] = time
    hits[at, 1], hits[at, 2] = normal
    hits[at, 3], hits[at, 4] = place
    hits[at, 5] = float(room.near[int(hit[2])]) if is_body else -1.0
    hits[at, 6] = -1.0 if is_body else hit[4]
    hits[at, 7] = -1.0 if is_body else hit[3]
