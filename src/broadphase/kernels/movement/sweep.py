"""Swept boxes (swept AABB): when and where a moving box hits static boxes and tiles.

`meet` is the test of two boxes: on each axis the times at which the two intervals start and stop overlapping;
the boxes meet when the later axis starts, if the other has not stopped by then.  Source: the slab method of
T. L. Kay and J. T. Kajiya, *Ray Tracing Complex Scenes*, SIGGRAPH 1986, on the sum of the two boxes.

Wherever possible edges decide and not rounded times.  Edges are the numbers that every overlap
test of the library uses, ``x`` and ``x + width`` as rounded, at the start and at the goal.  So a goal that
overlaps a blocker is always a hit, and one that is flush with it never is, whatever the divisions give.
Only whether a box clips or clears a corner in passing is left to the times, where both answers are right.

`first_box_hit` is the first of all.  A hit is ``time, corner, body, row, column, normal_x, normal_y, stop``:
hits come in the order of these, so by time, faces before corners, bodies in their order before tiles, tiles
row by row.  For a tile, ``body`` is the number of bodies; ``stop`` is for other shapes (`sweep_shapes`).
Tiles are visited column by column along the path, in each column only the rows that the box can touch while
it passes; every solid one is then tested exactly as a body would be.  Cost: at most one step for each tile of
the swept area, and none after the first hit.

`cross_box` tests a leg of a path against a box that does not stop it.
"""

import math

import numpy as np

from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import common, inline
from broadphase.kernels.shapes.contact import box_box
from broadphase.kernels.shapes.table import tolerance_of
from broadphase.kernels.tiles.grid import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    bounds_of_cell,
    cells_of_box,
    columns_between,
    edge,
    rows_between,
    sides_at,
)

SLIDE, TOUCH, CROSS, BOUNCE = 0, 1, 2, 3

# A box that bounces in a gap of its own size would never end.
MOST_TURNS = 256

# Movement ends here: beyond, differences of coordinates would overflow.
FARTHEST = 1e300

NEVER = 4.0
ALL_SIDES = np.int64(15)  # not 15: Numba would compile every function once more for the constant

BEFORE_ALL = (-1.0, 0.0, -1.0, -1.0, -1.0, 0.0, 0.0, 0.0)
# Until the first hit is known, the axis of its normal stands for the normal.
_NO_HIT = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0)


@inline
def pass_by(lo, hi, lo_goal, hi_goal, other_lo, other_hi):
    """When a moving interval starts and stops overlapping a static one: ``enter, leave``.

    In 0..1 of the path.  Enter is -1 if they overlap from the start, and `NEVER` if they do not overlap even
    at the goal; leave is 2 if they still overlap at the goal.
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
def _pass_line(start, goal, line):
    """A point against a point: they never overlap, so reaching counts as meeting; else nothing stops a point.

    It stops one unit in the last place before the line (`flush_place`), so that its position says on
    which side it is.  A point that was put on the line may leave to both sides.
    """
    if start == line or (goal < line and start < line) or (goal > line and start > line):
        return NEVER, NEVER
    time = (line - start) / (goal - start)
    return time, time


@inline
def meet(box, goal, other, sides):
    """When and how a box on its way to a goal hits a static one: ``time, corner, axis``.

    Time is `NEVER` if it does not, if it clears the corner, and if it starts inside.  Corner is 1
    if both axes start at the same time: such a hit comes after a hit on a face, or else a body that walks
    along a floor would stop at the tile that only its corner touches.  ``sides`` are those that block.
    """
    enter_x, leave_x = pass_by(box[0], box[2], goal[0], goal[2], other[0], other[2])
    if enter_x == NEVER:
        return NEVER, 0.0, 0.0
    enter_y, leave_y = pass_by(box[1], box[3], goal[1], goal[3], other[1], other[3])
    if enter_y == NEVER or not (enter_x < leave_y and enter_y < leave_x):
        return NEVER, 0.0, 0.0
    if enter_x < 0.0 and enter_y < 0.0:
        return NEVER, 0.0, 0.0
    corner = 1.0 if enter_x == enter_y else 0.0
    side_x = LEFT if goal[0] > box[0] else RIGHT
    side_y = TOP if goal[1] > box[1] else BOTTOM
    axis = 0.0 if enter_x > enter_y or (corner == 1.0 and sides & side_x != 0) else 1.0
    if sides & (side_x if axis == 0.0 else side_y) == 0:
        return NEVER, 0.0, 0.0
    time = enter_x if enter_x > enter_y else enter_y
    return (time if time < 1.0 else 1.0), corner, axis


@inline
def flush_before(edge, size):
    """The largest place (nearly) from which an interval of this size does not reach beyond ``edge``."""
    place = edge - size
    while place + size > edge:  # at most once: the difference was rounded by half a unit
        place = next_down(place)
    return place


@inline
def flush_place(start, size, goal, other_lo, other_hi):
    """Where a moving interval stops in front of another, never behind its own start."""
    if size == 0.0 and other_lo == other_hi:
        return next_down(other_lo) if goal > start else next_up(other_lo)
    if goal > start:
        place = flush_before(other_lo, size)
        return place if place > start else start
    return other_hi if other_hi < start else start


@inline
def place_at(start, goal, time):
    """The coordinate at a time of its path."""
    place = start + time * (goal - start)
    if time >= 1.0 or (place > goal) == (goal > start):
        return goal
    return place


@inline
def comes_before(a, b):
    """Whether hit ``a`` comes before hit ``b``."""
    for k in range(4):
        if a[k] != b[k]:
            return a[k] < b[k]
    return a[4] < b[4]


@inline
def edges_of_body(boxes, row):
    """A row of bounds: left, top, right, bottom."""
    return boxes[row, 0], boxes[row, 1], boxes[row, 2], boxes[row, 3]


@inline
def _ends(path):
    """The edges of a box at the start and at the goal of its path."""
    x, y, width, height, goal_x, goal_y = path
    return (x, y, x + width, y + height), (goal_x, goal_y, goal_x + width, goal_y + height)


@common
def first_box_hit(path, boxes, sides, rows, grid, after):
    """The first hit that comes after the hit ``after``, and where: ``hit, place``.

    The path is ``x, y, width, height, goal_x, goal_y``.  ``boxes[rows]`` are the bodies; the number of a body
    in a hit is its place in ``rows``.  Time is inf, and the place is the goal, if the path is free.  Overlaps
    at the start are not hits.
    """
    place, nx, ny = (path[4], path[5]), 0.0, 0.0
    (box, goal), hit = _ends(path), _NO_HIT
    for k in range(rows.shape[0]):
        rank, blocking = (float(k), 0.0, 0.0), np.int64(sides[rows[k]])
        hit = _sooner(hit, box, goal, edges_of_body(boxes, rows[k]), blocking, rank, after)
    if grid.solid.shape[0] > 0:
        hit = _first_tile(path, rows.shape[0], grid, after, hit)
    if hit[0] <= 1.0:
        if hit[2] < rows.shape[0]:
            other = edges_of_body(boxes, rows[int(hit[2])])
        else:
            other = bounds_of_cell(grid, int(hit[4]), int(hit[3]))
        place, nx, ny = _place_and_normal(path, hit[0], hit[5], other)
        place = _clear_place(path, place, boxes, sides, rows, grid, after)
    return (hit[0], hit[1], hit[2], hit[3], hit[4], nx, ny, 0.0), place


@inline
def _sooner(best, box, goal, other, sides, rank, after):
    """The best hit so far, or that on one more box.  ``rank`` is the middle of that hit."""
    time, corner, axis = meet(box, goal, other, sides)
    hit = (time, corner, rank[0], rank[1], rank[2], axis)
    return hit if time != NEVER and comes_before(hit, best) and comes_before(after, hit) else best


@inline
def _set_back(other, box):
    """The sides of a one-way tile, set back where a box is inside by a rounding error: it rests there."""
    tolerance, (left, top, right, bottom) = tolerance_of(box), other
    left = box[2] if 0.0 < box[2] - left <= tolerance else left
    top = box[3] if 0.0 < box[3] - top <= tolerance else top
    right = box[0] if 0.0 < right - box[0] <= tolerance else right
    bottom = box[1] if 0.0 < bottom - box[1] <= tolerance else bottom
    return left, top, right, bottom


@inline
def _first_tile(path, bodies, grid, after, best):
    x, y, _, height, goal_x, goal_y = path
    box, goal = _ends(path)
    from_x, to_x = (x, goal[2]) if goal_x >= x else (goal_x, box[2])
    first, end = columns_between(grid, from_x, to_x)
    for step in range(first, end):
        column = step if goal_x >= x else first + end - 1 - step
        left_edge, right_edge = edge(grid.x, grid.width, column), edge(grid.x, grid.width, column + 1)
        enter, leave = pass_by(x, box[2], goal_x, goal[2], left_edge, right_edge)
        if enter == NEVER:
            continue
        if enter > best[0]:
            break
        y_in = place_at(y, goal_y, enter) if enter > 0.0 else y
        y_out = place_at(y, goal_y, leave)
        if y_out < y_in:
            y_in, y_out = y_out, y_in
        top, low = rows_between(grid, y_in, y_out + height)
        for row_step in range(top, low):
            row = row_step if goal_y >= y else top + low - 1 - row_step
            sides = sides_at(grid, column, row)
            if sides != 0:
                cell, rank = bounds_of_cell(grid, column, row), (float(bodies), float(row), float(column))
                if sides != ALL_SIDES:
                    cell = _set_back(cell, box)
                best = _sooner(best, box, goal, cell, sides, rank, after)
    return best


@inline
def _draw_back(path, place, other, sides, rank, after):
    """Move back from ``place`` until one box is clear, along the axis on which it was met.

    Nothing happens if the box was inside from the start, if the other was passed before (it does
    not come after ``after``), and for a one-way tile that was entered through a side that does not block.
    ``rank`` is what a hit on the other would be, except for its time.
    """
    right, bottom = place[0] + path[2], place[1] + path[3]
    if place[0] >= other[2] or right <= other[0] or place[1] >= other[3] or bottom <= other[1]:
        return place
    box, goal = _ends(path)
    enter_x, _ = pass_by(box[0], box[2], goal[0], goal[2], other[0], other[2])
    enter_y, _ = pass_by(box[1], box[3], goal[1], goal[3], other[1], other[3])
    time, corner, axis = meet(box, goal, other, sides)
    if time != NEVER:
        if not comes_before(after, (time, corner, rank[0], rank[1], rank[2], axis)):
            return place
    elif sides == ALL_SIDES and (enter_x >= 0.0 or enter_y >= 0.0):
        axis = 0.0 if enter_x >= enter_y else 1.0  # by the times it clears the corner, because of rounding
    else:
        return place
    return _flush(path, axis, other, place)


@inline
def _flush(path, axis, other, place):
    """The place ``place``, but flush with another box on an axis."""
    x, y, width, height, goal_x, goal_y = path
    if axis == 0.0:
        return flush_place(x, width, goal_x, other[0], other[2]), place[1]
    return place[0], flush_place(y, height, goal_y, other[1], other[3])


@inline
def _place_and_normal(path, time, axis, other):
    """Where a box that hits another is then, flush with it on an axis, and the normal."""
    x, y, _, _, goal_x, goal_y = path
    place = _flush(path, axis, other, (place_at(x, goal_x, time), place_at(y, goal_y, time)))
    if axis == 0.0:
        return place, (-1.0 if goal_x > x else 1.0), 0.0
    return place, 0.0, (-1.0 if goal_y > y else 1.0)


@inline
def _clear_place(path, place, boxes, sides, rows, grid, after):
    """The place ``place`` of a hit, moved back until the box is clear of everything else.

    On the free axis the position is rounded, and two hits at the same rounded time need not be at the same
    position: either may leave the box a unit in the last place inside something that is not hit yet.  Moving
    back from each once is enough, because a box that is clear of something stays so on its way back.
    """
    for k in range(rows.shape[0]):
        other = edges_of_body(boxes, rows[k])
        place = _draw_back(path, place, other, np.int64(sides[rows[k]]), (float(k), 0.0, 0.0), after)
    if grid.solid.shape[0] > 0:
        right, bottom = place[0] + path[2], place[1] + path[3]
        first, last, top, low = cells_of_box(grid, place[0], place[1], right, bottom)
        for row in range(top, low):
            for column in range(first, last):
                blocking = sides_at(grid, column, row)
                if blocking != 0:
                    rank = (float(rows.shape[0]), float(row), float(column))
                    place = _draw_back(path, place, bounds_of_cell(grid, column, row), blocking, rank, after)
    return place


@common
def turn(x, y, goal_x, goal_y, nx, ny, response):
    """The new goal of a box or shape that was stopped at ``x, y`` by something with this normal."""
    if response == TOUCH:
        return x, y
    if nx == 0.0:
        return goal_x, (y if response == SLIDE else y + (y - goal_y))
    if ny == 0.0:
        return (x if response == SLIDE else x + (x - goal_x)), goal_y
    depth = (goal_x - x) * nx + (goal_y - y) * ny
    if depth >= 0.0:
        return goal_x, goal_y
    if response == BOUNCE:
        depth *= 2.0
    return goal_x - depth * nx, goal_y - depth * ny


@inline
def cross_box(path, other):
    """When and where a box on a straight way starts to overlap another that does not stop it.

    ``time, normal, place`` as for a hit: time 0 for overlaps at the start, `NEVER` for a miss.
    """
    box, goal = _ends(path)
    inside, nx, ny, _ = box_box(*box, *other, False)
    if inside:
        return 0.0, nx, ny, box[0], box[1]
    time, _, axis = meet(box, goal, other, ALL_SIDES)
    if time == NEVER:
        return NEVER, nx, ny, box[0], box[1]
    place, nx, ny = _place_and_normal(path, time, axis, other)
    return time, nx, ny, place[0], place[1]
