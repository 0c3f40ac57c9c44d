"""Shapes of any kind on their way: the first hit among shapes and tiles, and what they start in.

As in `first_hit`, which does this for boxes, hits come in the order of their first five numbers: ``time,
corner, body, row, column, normal_x, normal_y, stop``.
"""

import math

import numpy as np

from broadphase.kernels.machine.floats import next_up
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.movement.first_hit import comes_before
from broadphase.kernels.movement.sweep import ALL_SIDES, NEVER, flush_before, pass_by, place_at
from broadphase.kernels.movement.sweep_shapes import meet_shapes, slack
from broadphase.kernels.movement.travel import BOUNCE, SLIDE, TOUCH
from broadphase.kernels.shapes.bounds import bounds_of
from broadphase.kernels.shapes.contact_rows import contact_of
from broadphase.kernels.shapes.table import BOX, ShapeColumns
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP, cells_between, edge, sides_at

NO_HIT = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
BEFORE_ALL = (-1.0, 0.0, -1.0, -1.0, -1.0, 0.0, 0.0, 0.0)


# Of the mover in its table; not 0, or Numba would compile every function that takes it once more.
ROW = np.int64(0)


@inline
def _scratch():
    axes = np.zeros((4, 2))
    axes[0, 1] = axes[1, 0] = axes[2, 1] = axes[3, 0] = 1.0
    return np.empty((4, 2)), np.empty((4, 2)), axes


@inline
def _table_of_tiles(room):
    """Boxes without a place yet, to stand for tiles."""
    return ShapeColumns(
        np.full(room, BOX, np.uint8),
        np.zeros(room),
        np.zeros(room),
        np.zeros(room),
        np.zeros(room),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.empty((0, 2)),
        np.empty((0, 2)),
    )


@inline
def _set_tile(tiles, at, grid, column, row):
    tiles.x[at], tiles.y[at] = edge(grid.x, grid.width, column), edge(grid.y, grid.height, row)
    tiles.width[at] = edge(grid.x, grid.width, column + 1) - tiles.x[at]
    tiles.height[at] = edge(grid.y, grid.height, row + 1) - tiles.y[at]


@inline
def _blocks(sides, nx, ny):
    """Whether a tile blocks on the side that a normal points out of, most nearly."""
    if sides == ALL_SIDES:
        return True
    if abs(ny) > abs(nx):
        return sides & (BOTTOM if ny > 0.0 else TOP) != 0
    return sides & (RIGHT if nx > 0.0 else LEFT) != 0


@inline
def _rows_on_the_way(grid, column, bounds, vx, vy):
    """When a moving box enters a column, and the rows that it touches there: ``enter, first, end``."""
    left, top, right, bottom = bounds
    left_edge, right_edge = edge(grid.x, grid.width, column), edge(grid.x, grid.width, column + 1)
    enter, leave = pass_by(left, right, left + vx, right + vx, left_edge, right_edge)
    if enter == NEVER:
        return enter, 0, 0
    way_in = place_at(0.0, vy, enter) if enter > 0.0 else 0.0
    way_out = place_at(0.0, vy, leave)
    if way_out < way_in:
        way_in, way_out = way_out, way_in
    first, end = cells_between(top + way_in, bottom + way_out, grid.y, grid.height, grid.solid.shape[0])
    return enter, first, end


@inline
def _stop_before(goes_up, lo, hi, other_lo, other_hi):
    """The place at which an interval from ``place + lo`` to ``place + hi`` is flush with another."""
    if goes_up:
        return flush_before(other_lo, hi)
    at = other_hi - lo
    while at + lo < other_hi:
        at = next_up(at)
    return at


@inline
def _place_of(mover, vx, vy, others, i, hit):
    """Where the mover stops: on an axis normal at the very edge of the other, else a hair before it."""
    x, y = mover.x[0], mover.y[0]
    at_x, at_y = x + hit[7] * vx, y + hit[7] * vy
    left, top, right, bottom = bounds_of(mover, ROW)
    other_left, other_top, other_right, other_bottom = bounds_of(others, i)
    if hit[6] == 0.0:
        at_x = _stop_before(hit[5] < 0.0, left - x, right - x, other_left, other_right)
    elif hit[5] == 0.0:
        at_y = _stop_before(hit[6] < 0.0, top - y, bottom - y, other_top, other_bottom)
    return at_x, at_y


@jit
def next_hit(mover, goal_x, goal_y, table, rows, grid, after):
    """One step of ``mover[0]`` among ``table[rows]`` and tiles: ``inside, hit, place``.

    The bodies first, then the tiles that the mover's bounds pass, one column after the other.  What it
    starts in is no hit; ``inside`` says that there is something.
    """
    scratch = _scratch()
    vx, vy = goal_x - mover.x[0], goal_y - mover.y[0]
    best, place, inside, bodies = NO_HIT, (goal_x, goal_y), False, rows.shape[0]
    if vx == 0.0 and vy == 0.0:
        return inside, best, place
    bounds = bounds_of(mover, ROW)
    from_x, to_x = (bounds[0], bounds[2] + vx) if vx >= 0.0 else (bounds[0] + vx, bounds[2])
    from_y, to_y = (bounds[1], bounds[3] + vy) if vy >= 0.0 else (bounds[1] + vy, bounds[3])
    first, end = cells_between(from_x, to_x, grid.x, grid.width, grid.solid.shape[1])
    top, low = cells_between(from_y, to_y, grid.y, grid.height, grid.solid.shape[0])
    most = low - top if low > top else 0
    tiles, numbers, tile_rows = _table_of_tiles(most), np.arange(most), np.empty(most, np.int64)
    others, chosen, column = table, rows, -1
    # One place that asks about shapes, for bodies and tiles alike: the question is long to compile.
    for step in range(first - 1, end):
        if step >= first:
            column = step if vx >= 0.0 else first + end - 1 - step
            enter, top, low = _rows_on_the_way(grid, column, bounds, vx, vy)
            if enter == NEVER:
                continue
            if enter > best[0]:
                break
            count = 0
            for row in range(top, low):
                if sides_at(grid, column, row) != 0 and count < most:
                    _set_tile(tiles, count, grid, column, row)
                    tile_rows[count] = row
                    count += 1
            others, chosen = tiles, numbers[:count]
        for k in range(chosen.shape[0]):
            time, corner, nx, ny, stop = meet_shapes(mover, ROW, goal_x, goal_y, others, chosen[k], scratch)
            solid = column < 0 or grid.solid[tile_rows[k], column]
            inside |= time < 0.0 and solid
            if time < 0.0 or time == NEVER:
                continue
            if not solid and not _blocks(sides_at(grid, column, tile_rows[k]), nx, ny):
                continue
            hit = (time, corner, float(k), 0.0, 0.0, nx, ny, stop)
            if column >= 0:
                hit = (time, corner, float(bodies), float(tile_rows[k]), float(column), nx, ny, stop)
            if comes_before(hit, best) and comes_before(after, hit):
                best, place = hit, _place_of(mover, vx, vy, others, chosen[k], hit)
    return inside, best, place


@jit
def turn(x, y, goal_x, goal_y, nx, ny, response):
    """The new goal of a shape that was stopped at ``x, y`` by something with this normal."""
    if response == TOUCH:
        return x, y
    if nx == 0.0:
        return goal_x, (y if response == SLIDE else y + (y - goal_y))
    if ny == 0.0:
        return (x if response == SLIDE else x + (x - goal_x)), goal_y
    into = (goal_x - x) * nx + (goal_y - y) * ny
    if into >= 0.0:
        return goal_x, goal_y
    if response == BOUNCE:
        into *= 2.0
    return goal_x - into * nx, goal_y - into * ny


@jit
def overlapping(mover, table, rows, grid):
    """Everything that ``mover[0]`` is in, deeper than flush: ``body, column, row``; ``normal, depth, room``.

    Body is -1 for a tile, and column and row are for a body.  Room is how far apart counts as flush.
    """
    left, top, right, bottom = bounds_of(mover, ROW)
    first, end = cells_between(left, right, grid.x, grid.width, grid.solid.shape[1])
    first_row, end_row = cells_between(top, bottom, grid.y, grid.height, grid.solid.shape[0])
    room = (end - first) * (end_row - first_row) if end > first and end_row > first_row else 0
    tiles, numbers = _table_of_tiles(room), np.arange(room)
    cells = np.full((rows.shape[0] + room, 3), -1, np.int64)
    found = count = 0
    for row in range(first_row, end_row):
        for column in range(first, end):
            if grid.solid[row, column]:
                _set_tile(tiles, count, grid, column, row)
                cells[rows.shape[0] + count, 1], cells[rows.shape[0] + count, 2] = column, row
                count += 1
    for k in range(rows.shape[0]):
        cells[k, 0] = k
    values = np.empty((rows.shape[0] + room, 4))
    for part in range(2):
        others, chosen = (table, rows) if part == 0 else (tiles, numbers[:count])
        for k in range(chosen.shape[0]):
            hit, nx, ny, depth = contact_of(mover, ROW, others, chosen[k], False)
            flush = slack(mover, ROW, others, chosen[k])
            if hit and depth > flush:
                source = k if part == 0 else rows.shape[0] + k
                for column in range(3):
                    cells[found, column] = cells[source, column]
                values[found, 0], values[found, 1], values[found, 2], values[found, 3] = nx, ny, depth, flush
                found += 1
    return cells[:found], values[:found]
