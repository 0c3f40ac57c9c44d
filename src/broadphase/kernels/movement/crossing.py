"""When a body first overlaps others on its path that do not stop it, such as sensors."""

import numpy as np

from broadphase.kernels.machine.jit import holds_gil, inline
from broadphase.kernels.machine.memory import few
from broadphase.kernels.movement.sweep import NEVER, cross_box
from broadphase.kernels.movement.sweep_shapes import BEFORE_ALL, ROW, first_shape_hit, slack
from broadphase.kernels.shapes.contact import contact_of
from broadphase.kernels.shapes.table import BOX, ShapeColumns


@inline
def _on_leg(mover, goal_x, goal_y, table, rows, grid):
    """As `cross_box`, for a mover of any shape and ``table[rows[0]]``; ``grid`` has no tiles."""
    i = rows[0]
    x, y, width, height = mover.x[ROW], mover.y[ROW], mover.width[ROW], mover.height[ROW]
    if mover.kinds[ROW] == BOX and table.kinds[i] == BOX:
        left, top = table.x[i], table.y[i]
        other = left, top, left + table.width[i], top + table.height[i]
        return cross_box(x, y, width, height, goal_x, goal_y, other)
    hit, nx, ny, depth = contact_of(mover, ROW, table, i, False)
    if hit and depth > slack(mover, ROW, table, i):
        return 0.0, nx, ny, x, y
    _, met, place = first_shape_hit(mover, goal_x, goal_y, table, rows, grid, BEFORE_ALL)
    if met[0] > 1.0:
        return NEVER, 0.0, 0.0, goal_x, goal_y
    return met[0], met[5], met[6], place[0], place[1]


@holds_gil
def cross_path(movers, at, path, table, rows, grid, values):
    """When and where shape ``at`` of ``movers`` on a path first overlaps each of ``table[rows]``.

    ``path`` are rows ``x, y, time``: the start, every place of a turn, and the end.  A row of ``values`` is
    ``time, normal, place`` as for a hit: time 0 for overlaps at the start, `NEVER` for a miss.
    """
    xs, ys = few(1, np.float64), few(1, np.float64)
    here = slice(at, at + 1)
    mover = ShapeColumns(
        movers.kinds[here],
        xs,
        ys,
        movers.width[here],
        movers.height[here],
        movers.starts[here],
        movers.counts[here],
        movers.points,
        movers.axes,
    )
    for k in range(rows.shape[0]):
        values[k, 0] = NEVER
        for leg in range(path.shape[0] - 1):
            xs[0], ys[0] = path[leg, 0], path[leg, 1]
            goal_x, goal_y = path[leg + 1, 0], path[leg + 1, 1]
            if leg > 0 and goal_x == xs[0] and goal_y == ys[0]:
                continue
            time, nx, ny, x, y = _on_leg(mover, goal_x, goal_y, table, rows[k : k + 1], grid)
            if time > 1.0:
                continue
            time = path[leg, 2] + time * (path[leg + 1, 2] - path[leg, 2])
            if time < values[k, 0]:
                values[k, 0], values[k, 1], values[k, 2], values[k, 3], values[k, 4] = time, nx, ny, x, y
