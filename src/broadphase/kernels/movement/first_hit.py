"""The first thing that a moving box hits, among boxes and tiles.

A hit is ``time, corner, body, row, column, axis``: hits come in the order of these, so by time, faces before
corners, bodies in their order before tiles, tiles row by row.  For a tile, ``body`` is the number of bodies.

Tiles are visited column by column along the way, in each column only the rows that the box can touch while
it passes; every solid one is then asked exactly as a body would be.  Cost: one step a tile of the swept
area at most, and none behind the first hit.
"""

import math

from broadphase.kernels.machine.jit import common, inline
from broadphase.kernels.movement.sweep import ALL_SIDES, NEVER, flush_place, meet, pass_by, place_at
from broadphase.kernels.tiles.grid import cells_between, edge, sides_at

NO_HIT = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0)
BEFORE_ALL = (-1.0, 0.0, -1.0, -1.0, -1.0, 0.0)


@inline
def comes_before(a, b):
    """Whether hit ``a`` comes before hit ``b``."""
    for k in range(4):
        if a[k] != b[k]:
            return a[k] < b[k]
    return a[4] < b[4]


@inline
def _edges_of_body(boxes, row):
    return boxes[row, 0], boxes[row, 1], boxes[row, 2], boxes[row, 3]


@inline
def _edges_of_tile(grid, column, row):
    return (
        edge(grid.x, grid.width, column),
        edge(grid.y, grid.height, row),
        edge(grid.x, grid.width, column + 1),
        edge(grid.y, grid.height, row + 1),
    )


@common
def first_hit(x, y, width, height, goal_x, goal_y, boxes, rows, grid, after):
    """The first hit that comes after the hit ``after``; `NO_HIT` where the way is free.

    ``boxes[rows]`` are the bodies; the number of a body in a hit is its place in ``rows``.
    """
    right, bottom = x + width, y + height
    goal_right, goal_bottom = goal_x + width, goal_y + height
    best = NO_HIT
    for k in range(rows.shape[0]):
        time, corner, axis = meet(
            x,
            y,
            right,
            bottom,
            goal_x,
            goal_y,
            goal_right,
            goal_bottom,
            _edges_of_body(boxes, rows[k]),
            ALL_SIDES,
        )
        if time != NEVER:
            hit = (time, corner, float(k), 0.0, 0.0, axis)
            if comes_before(hit, best) and comes_before(after, hit):
                best = hit
    if grid.solid.shape[0] > 0:
        best = _first_tile(x, y, width, height, goal_x, goal_y, rows.shape[0], grid, after, best)
    return best


@inline
def _first_tile(x, y, width, height, goal_x, goal_y, bodies, grid, after, best):
    rows, columns = grid.solid.shape
    right, bottom = x + width, y + height
    goal_right, goal_bottom = goal_x + width, goal_y + height
    from_x, to_x = (x, goal_right) if goal_x >= x else (goal_x, right)
    first, end = cells_between(from_x, to_x, grid.x, grid.width, columns)
    for step in range(first, end):
        column = step if goal_x >= x else first + end - 1 - step
        left_edge, right_edge = edge(grid.x, grid.width, column), edge(grid.x, grid.width, column + 1)
        enter, leave = pass_by(x, right, goal_x, goal_right, left_edge, right_edge)
        if enter == NEVER:
            continue
        if enter > best[0]:
            break
        y_in = place_at(y, goal_y, enter) if enter > 0.0 else y
        y_out = place_at(y, goal_y, leave)
        if y_out < y_in:
            y_in, y_out = y_out, y_in
        top, low = cells_between(y_in, y_out + height, grid.y, grid.height, rows)
        for row_step in range(top, low):
            row = row_step if goal_y >= y else top + low - 1 - row_step
            sides = sides_at(grid, column, row)
            if sides == 0:
                continue
            time, corner, axis = meet(
                x,
                y,
                right,
                bottom,
                goal_x,
                goal_y,
                goal_right,
                goal_bottom,
                _edges_of_tile(grid, column, row),
                sides,
            )
            if time != NEVER:
                hit = (time, corner, float(bodies), float(row), float(column), axis)
                if comes_before(hit, best) and comes_before(after, hit):
                    best = hit
    return best


@inline
def _draw_back(way, at, other, sides, rank, after):
    """Back from ``at`` as far as needed to clear one box, along the axis on which it was met.

    Nothing happens where the box was inside from the start, where the other was let through before (it
    does not come after ``after``), and for a one-way tile that came through a side that does not block.
    ``rank`` is what a hit on the other would be, but for its time.
    """
    x, y, width, height, goal_x, goal_y = way
    right, bottom = at[0] + width, at[1] + height
    if at[0] >= other[2] or right <= other[0] or at[1] >= other[3] or bottom <= other[1]:
        return at
    right, bottom = x + width, y + height
    goal_right, goal_bottom = goal_x + width, goal_y + height
    enter_x, _ = pass_by(x, right, goal_x, goal_right, other[0], other[2])
    enter_y, _ = pass_by(y, bottom, goal_y, goal_bottom, other[1], other[3])
    time, corner, axis = meet(x, y, right, bottom, goal_x, goal_y, goal_right, goal_bottom, other, sides)
    if time != NEVER:
        if not comes_before(after, (time, corner, rank[0], rank[1], rank[2], axis)):
            return at
    elif sides == ALL_SIDES and (enter_x >= 0.0 or enter_y >= 0.0):
        axis = 0.0 if enter_x >= enter_y else 1.0  # the times say that it clears the corner: by a rounding
    else:
        return at
    if axis == 0.0:
        return flush_place(x, width, goal_x, other[0], other[2]), at[1]
    return at[0], flush_place(y, height, goal_y, other[1], other[3])


@common
def free_place(x, y, width, height, goal_x, goal_y, boxes, rows, grid, after, hit):
    """Where the box is when it hits: flush with the other, to the last bit, and clear of everything else.

    On the free axis the place is rounded, and two hits at the same rounded time need not be at the same
    place: either may leave the box a unit in the last place inside something that is not hit yet.  Drawing
    back from each once is enough, because a box that is clear of something stays so on its way back.
    """
    if hit[2] < rows.shape[0]:
        other = _edges_of_body(boxes, rows[int(hit[2])])
    else:
        other = _edges_of_tile(grid, int(hit[4]), int(hit[3]))
    if hit[5] == 0.0:
        at = (flush_place(x, width, goal_x, other[0], other[2]), place_at(y, goal_y, hit[0]))
    else:
        at = (place_at(x, goal_x, hit[0]), flush_place(y, height, goal_y, other[1], other[3]))
    way = (x, y, width, height, goal_x, goal_y)
    for k in range(rows.shape[0]):
        other = _edges_of_body(boxes, rows[k])
        at = _draw_back(way, at, other, ALL_SIDES, (float(k), 0.0, 0.0), after)
    if grid.solid.shape[0] > 0:
        count_rows, count_columns = grid.solid.shape
        first, last = cells_between(at[0], at[0] + width, grid.x, grid.width, count_columns)
        top, low = cells_between(at[1], at[1] + height, grid.y, grid.height, count_rows)
        for row in range(top, low):
            for column in range(first, last):
                sides = sides_at(grid, column, row)
                if sides != 0:
                    other = _edges_of_tile(grid, column, row)
                    at = _draw_back(
                        way, at, other, sides, (float(rows.shape[0]), float(row), float(column)), after
                    )
    return at


@inline
def is_inside(x, y, width, height, boxes, rows, grid):
    """Whether a box overlaps a body or a solid tile."""
    right, bottom = x + width, y + height
    for k in range(rows.shape[0]):
        left, top, far, low = _edges_of_body(boxes, rows[k])
        if x < far and left < right and y < low and top < bottom:
            return True
    if grid.solid.shape[0] > 0:
        count_rows, count_columns = grid.solid.shape
        first, last = cells_between(x, right, grid.x, grid.width, count_columns)
        top_row, low_row = cells_between(y, bottom, grid.y, grid.height, count_rows)
        for row in range(top_row, low_row):
            for column in range(first, last):
                if grid.solid[row, column]:
                    return True
    return False
