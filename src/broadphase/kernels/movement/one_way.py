"""Jump-through bodies: whether one blocks a mover where it is, and whether a hit came through such a side."""

import math

from broadphase.kernels.machine.jit import common, holds_gil, inline, jit
from broadphase.kernels.shapes.contact import length
from broadphase.kernels.shapes.table import POLYGON, bounds_of, corner_at, corners, rounding, tolerance_of
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP

_STEEP = 0.5  # a slanted side is an upper one up to 60 degrees


@holds_gil
def is_through(sides, nx, ny):
    """Whether a hit with a normal came through one of some sides."""
    if (sides & TOP != 0 and -ny > _STEEP) or (sides & BOTTOM != 0 and ny > _STEEP):
        return True
    return (sides & LEFT != 0 and -nx > _STEEP) or (sides & RIGHT != 0 and nx > _STEEP)


@inline
def _is_beyond(columns, mover, table, other, sides, slack):
    """Whether a mover lies beyond a side that blocks of a polygon, whose inside is to the left of each."""
    reach, count = rounding(columns, mover) + rounding(table, other), corners(table, other)
    for k in range(count):
        px, py = corner_at(table, other, k)
        qx, qy = corner_at(table, other, k + 1 if k + 1 < count else 0)
        size = length(qx - px, qy - py)
        nx, ny = (qy - py) / size, (px - qx) / size
        if not is_through(sides, nx, ny):
            continue
        px, py, apart = px + table.x[other], py + table.y[other], math.inf
        for c in range(corners(columns, mover)):
            x, y = corner_at(columns, mover, c)
            apart = min(apart, (columns.x[mover] + x - px) * nx + (columns.y[mover] + y - py) * ny)
        if apart - reach >= -slack:
            return True
    return False


@common
def lets_through(columns, mover, table, other, sides):
    """Whether a body that blocks on some sides lets a mover through: it lies beyond none of them."""
    left, top, right, bottom = bounds_of(columns, mover)
    a, b, c, d = bounds_of(table, other)
    # What rests on a body is not inside it because a place was rounded.
    slack = max(tolerance_of((left, top, right, bottom)), tolerance_of((a, b, c, d)))
    if (sides & TOP != 0 and bottom <= b + slack) or (sides & BOTTOM != 0 and top >= d - slack):
        return False
    if (sides & LEFT != 0 and right <= a + slack) or (sides & RIGHT != 0 and left >= c - slack):
        return False
    return table.kinds[other] != POLYGON or not _is_beyond(columns, mover, table, other, sides, slack)


@jit
def let_through(columns, mover, table, others, sides, out):
    """Write which one-way bodies let a mover through; ``sides`` of all rows of their table."""
    for k in range(others.shape[0]):
        out[k] = lets_through(columns, mover, table, others[k], sides[others[k]])
