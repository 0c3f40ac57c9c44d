"""When does a moving box meet a box that stands still?

A swept box test: on each axis the times at which the two intervals begin and cease to overlap; the boxes
meet when the later axis begins, if the other has not ceased by then.  Source: the slab method of T. L. Kay
and J. T. Kajiya, *Ray Tracing Complex Scenes*, SIGGRAPH 1986, on the sum of the two boxes.

What decides is never a rounded time where it can be an edge.  Edges are the numbers that every overlap
test of the library uses, ``x`` and ``x + width`` as rounded, at the start and at the goal.  So a goal that
overlaps a blocker is always a hit, and one that is flush with it never is, whatever the divisions say.
Only whether a box clips or clears a corner in passing is left to them, where both are right.
"""

import numpy as np

from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import inline
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP

NEVER = 4.0
ALL_SIDES = np.int64(15)  # not 15: Numba would compile every function that takes it once more


@inline
def pass_by(lo, hi, lo_goal, hi_goal, other_lo, other_hi):
    """When a moving interval begins and ceases to overlap one that stands still: ``enter, leave``.

    In 0..1 of the way.  Enter is -1 where they overlap from the start, and `NEVER` where they do not even
    at the goal; leave is 2 where they still do at the goal.
    """
    if lo == hi and other_lo == other_hi:
        return _pass_line(lo, lo_goal, other_lo)
    if hi <= other_lo:
        if hi_goal <= other_lo:
            return NEVER, NEVER
        leave = 2.0 if lo_goal < other_hi else (other_hi - lo) / (lo_goal - lo)
        return (other_lo - hi) / (hi_goal - hi), leave
    if lo >= other_hi:
        if lo_goal >= other_hi:
            return NEVER, NEVER
        leave = 2.0 if hi_goal > other_lo else (hi - other_lo) / (hi - hi_goal)
        return (lo - other_hi) / (lo - lo_goal), leave
    if lo_goal >= other_hi:
        return -1.0, (other_hi - lo) / (lo_goal - lo)
    if hi_goal <= other_lo:
        return -1.0, (hi - other_lo) / (hi - hi_goal)
    return -1.0, 2.0


@inline
def _pass_line(at, goal, line):
    """A point and a point: they never overlap, so to reach is to meet, or nothing would stop a point.

    It stops one unit in the last place before the line, see `flush_place`, so that its place tells on
    which side it is.  A point that was put on the line may leave to both sides.
    """
    if at == line or (goal < line and at < line) or (goal > line and at > line):
        return NEVER, NEVER
    time = (line - at) / (goal - at)
    return time, time


@inline
def meet(x, y, right, bottom, goal_x, goal_y, goal_right, goal_bottom, other, sides):
    """When and how a moving box hits one that stands still: ``time, corner, axis``.

    Time is `NEVER` where it does not, where it clears the corner, and where it starts inside.  Corner is 1
    where both axes begin at the same time: such a hit yields to one on a face, or else a body that walks
    along a floor would trip over the tile that only its corner touches.  ``sides`` are those that block.
    """
    enter_x, leave_x = pass_by(x, right, goal_x, goal_right, other[0], other[2])
    if enter_x == NEVER:
        return NEVER, 0.0, 0.0
    enter_y, leave_y = pass_by(y, bottom, goal_y, goal_bottom, other[1], other[3])
    if enter_y == NEVER or not (enter_x < leave_y and enter_y < leave_x):
        return NEVER, 0.0, 0.0
    if enter_x < 0.0 and enter_y < 0.0:
        return NEVER, 0.0, 0.0
    corner = 1.0 if enter_x == enter_y else 0.0
    side_x = LEFT if goal_x > x else RIGHT
    side_y = TOP if goal_y > y else BOTTOM
    axis = 0.0 if enter_x > enter_y or (corner == 1.0 and sides & side_x != 0) else 1.0
    if sides & (side_x if axis == 0.0 else side_y) == 0:
        return NEVER, 0.0, 0.0
    time = enter_x if enter_x > enter_y else enter_y
    return (time if time < 1.0 else 1.0), corner, axis


@inline
def flush_before(edge, size):
    """The largest place (nearly) from which an interval of this size does not reach beyond ``edge``."""
    at = edge - size
    while at + size > edge:  # at most once: the difference was rounded by half a unit
        at = next_down(at)
    return at


@inline
def flush_place(start, size, goal, other_lo, other_hi):
    """Where a moving interval stops in front of another, without ever going back behind its start."""
    if size == 0.0 and other_lo == other_hi:
        return next_down(other_lo) if goal > start else next_up(other_lo)
    if goal > start:
        at = flush_before(other_lo, size)
        return at if at > start else start
    return other_hi if other_hi < start else start


@inline
def place_at(start, goal, time):
    """Where a coordinate is on its way."""
    at = start + time * (goal - start)
    if time >= 1.0 or (at > goal) == (goal > start):
        return goal
    return at
