"""Shapes of any kind on their way: the first hit among shapes and tiles, and what they start in.

As in `first_hit`, which does this for boxes, hits come in the order of their first five numbers: ``time,
corner, body, row, column, normal_x, normal_y, stop``.
"""

import math

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import next_up
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.scratch import few
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


def shape_scratch() -> npt.NDArray[np.float64]:
    """What `next_hit` works in: the corners of two boxes, and the axes of one."""
    return np.empty((12, 2))


@inline
def _set_axes(axes):
    for k in range(4):
        axes[k, 0], axes[k, 1] = float(k % 2), float((k + 1) % 2)


@inline
def _set_tile(tile, grid, column, row):
    """Let a table of one box stand for a tile."""
    tile.kinds[0] = BOX
    tile.x[0], tile.y[0] = edge(grid.x, grid.width, column), edge(grid.y, grid.height, row)
    tile.width[0] = edge(grid.x, grid.width, column + 1) - tile.x[0]
    tile.height[0] = edge(grid.y, grid.height, row + 1) - tile.y[0]


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
def next_hit(mover, goal_x, goal_y, table, rows, grid, after, scratch):
    """One step of ``mover[0]`` among ``table[rows]`` and tiles: ``inside, hit, place``.

    The bodies first, then the tiles that the mover's bounds pass, one column after the other.  What it
    starts in is no hit; ``inside`` says that there is something.  ``scratch`` is a `shape_scratch`.
    """
    outlines = scratch[:4], scratch[4:8], scratch[8:]
    _set_axes(outlines[2])
    vx, vy = goal_x - mover.x[0], goal_y - mover.y[0]
    best, place, inside, bodies = NO_HIT, (goal_x, goal_y), False, rows.shape[0]
    if vx == 0.0 and vy == 0.0:
        return inside, best, place
    bounds = bounds_of(mover, ROW)
    from_x, to_x = (bounds[0], bounds[2] + vx) if vx >= 0.0 else (bounds[0] + vx, bounds[2])
    first, end = cells_between(from_x, to_x, grid.x, grid.width, grid.solid.shape[1])
    # Tiles are asked about one at a time, each as the box of a table: of points it has none of its own.
    kind, x, y = few(1, np.uint8), few(1, np.float64), few(1, np.float64)
    width, height = few(1, np.float64), few(1, np.float64)
    tile = ShapeColumns(kind, x, y, width, height, mover.starts, mover.counts, mover.points, mover.axes)
    others, column, top, low = table, -1, 0, bodies
    # One place that asks about shapes, for bodies and tiles alike: the question is long to compile.
    for step in range(first - 1, end):
        if step >= first:
            column = step if vx >= 0.0 else first + end - 1 - step
            enter, top, low = _rows_on_the_way(grid, column, bounds, vx, vy)
            if enter == NEVER:
                continue
            if enter > best[0]:
                break
            others = tile
        for k in range(top, low):  # a body, or a row of tiles
            i, solid = ROW, True
            if column < 0:
                i = rows[k]
            elif sides_at(grid, column, k) == 0:
                continue
            else:
                _set_tile(tile, grid, column, k)
                solid = grid.solid[k, column]
            time, corner, nx, ny, stop = meet_shapes(mover, ROW, goal_x, goal_y, others, i, outlines)
            inside |= time < 0.0 and solid
            if time < 0.0 or time == NEVER:
                continue
            if not solid and not _blocks(sides_at(grid, column, k), nx, ny):
                continue
            hit = (time, corner, float(k), 0.0, 0.0, nx, ny, stop)
            if column >= 0:
                hit = (time, corner, float(bodies), float(k), float(column), nx, ny, stop)
            if comes_before(hit, best) and comes_before(after, hit):
                best, place = hit, _place_of(mover, vx, vy, others, i, hit)
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
def overlapping(mover, table, rows, grid, out):
    """Everything that ``mover[0]`` is in, deeper than flush, as far as there is room in ``out``; how much.

    Rows ``body, column, row, normal, depth, slack``, bodies first.  Body is -1 for a tile, and column and row
    are for a body.  Slack is how far apart counts as flush.
    """
    left, top, right, bottom = bounds_of(mover, ROW)
    first, end = cells_between(left, right, grid.x, grid.width, grid.solid.shape[1])
    first_row, end_row = cells_between(top, bottom, grid.y, grid.height, grid.solid.shape[0])
    kind, x, y = few(1, np.uint8), few(1, np.float64), few(1, np.float64)
    width, height = few(1, np.float64), few(1, np.float64)
    tile = ShapeColumns(kind, x, y, width, height, mover.starts, mover.counts, mover.points, mover.axes)
    found = 0
    # First the bodies, then the tiles row by row: one place that asks, as in `next_hit`.
    for row in range(first_row - 1, end_row):
        for k in range(0 if row < first_row else first, rows.shape[0] if row < first_row else end):
            body, column, i, others = k, -1, ROW, tile
            if row < first_row:
                i, others = rows[k], table
            elif grid.solid[row, k]:
                body, column = -1, k
                _set_tile(tile, grid, column, row)
            else:
                continue
            hit, nx, ny, depth = contact_of(mover, ROW, others, i, False)
            flush = slack(mover, ROW, others, i)
            if hit and depth > flush:
                if found < out.shape[0]:
                    out[found, 0], out[found, 1] = float(body), float(column)
                    out[found, 2] = float(row) if body < 0 else -1.0
                    out[found, 3], out[found, 4], out[found, 5], out[found, 6] = nx, ny, depth, flush
                found += 1
    return found
