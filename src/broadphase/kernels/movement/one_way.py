"""Which sides of a body can stop a mover.

A one-way body is what a one-way tile at the same place is: it stops a mover that enters it through one of its
sides.  What is inside when a movement begins is free of it until it has left.
"""

import numpy as np

from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.movement.sweep import ALL_SIDES
from broadphase.kernels.shapes.contact import contact_of
from broadphase.kernels.shapes.table import POLYGON, bounds_of, bounds_overlap, tolerance_of
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP

SLANTED = np.int64(16)
"""A bit beside those of sides: they may be slanted, and count up to 60 degrees from the axis."""
STARTS_IN = np.int64(32)
"""A bit beside those of sides: the mover starts in it, and is neither pushed nor stopped by it."""
_STEEP = 0.5


@inline
def blocks(sides, nx, ny):
    """Whether something stops what enters it with a normal: on the nearest side, if it is not slanted."""
    if sides == ALL_SIDES:
        return True
    if sides & SLANTED != 0:
        if (sides & TOP != 0 and -ny > _STEEP) or (sides & BOTTOM != 0 and ny > _STEEP):
            return True
        return (sides & LEFT != 0 and -nx > _STEEP) or (sides & RIGHT != 0 and nx > _STEEP)
    if abs(ny) > abs(nx):
        return sides & (BOTTOM if ny > 0.0 else TOP) != 0
    return sides & (RIGHT if nx > 0.0 else LEFT) != 0


@inline
def sides_of(table, row, one_way):
    """The sides of a row that stop what is outside of it."""
    if one_way == 0 or one_way == ALL_SIDES:
        return ALL_SIDES
    return np.int64(one_way) | SLANTED if table.kinds[row] == POLYGON else np.int64(one_way)


@common
def sides_from(columns, mover, table, other, one_way):
    """The sides of a row that can stop a mover, with `STARTS_IN` where it is inside, and leaves freely.

    What overlaps it by less than the tolerance rests on it if the normal leads out of one of its sides.
    """
    sides = sides_of(table, other, one_way)
    if one_way == 0:
        return sides
    box, its = bounds_of(columns, mover), bounds_of(table, other)
    if bounds_overlap(box, its):
        hit, nx, ny, depth = contact_of(columns, mover, table, other, False)
        if hit and not (depth <= max(tolerance_of(box), tolerance_of(its)) and blocks(sides, nx, ny)):
            return sides | STARTS_IN
    return sides


@jit
def sides_of_rows(columns, mover, table, rows, one_way, out):
    """`sides_from` for rows of a table; ``one_way`` is of each of them."""
    for k in range(rows.shape[0]):
        out[k] = sides_from(columns, mover, table, np.int64(rows[k]), one_way[k])
