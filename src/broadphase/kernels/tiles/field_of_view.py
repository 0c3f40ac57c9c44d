"""Field of view on tiles: symmetric shadow casting.

Source: the recursive shadow casting of roguelikes (B. Bergström, 2001) in the symmetric form of A. Ford,
*Symmetric Shadowcasting*, 2017.  The view is cut into four quadrants, and each is read row by row, away from
the viewer.  A row is seen through one or several sectors, each between two slopes; a wall ends a sector or
narrows it for the rows behind.  A wall counts as the diamond that joins the middles of its sides, so no line
of sight squeezes between two walls that share a corner, nor between two that it touches on both sides.
Slopes are fractions of small integers: nothing is
rounded.  Cost: each tile in sight is looked at once or twice.  `TileMap.line_of_sight` is another question:
from point to point, with walls as squares.
"""

import math

import numpy as np

from broadphase.kernels.arrays.results import larger
from broadphase.kernels.machine.jit import inline, jit


@inline
def _place(column, row, quadrant, depth, across):
    """Column and row of a tile ``depth`` rows away and ``across`` to the side; right, left, down, up."""
    if quadrant < 2:
        return column + (depth if quadrant == 0 else -depth), row + across
    return column + across, row + (depth if quadrant == 2 else -depth)


@jit
def find_visible(solid, column, row, radius):
    """``[row, column]``: which tiles are visible from the middle of one.

    A free tile is visible where no wall lies between the two middles, so of two free tiles either each sees
    the other or none does.  A solid one is where it bounds a sector.  ``radius``: how far the middle of a
    visible tile may be away, in tiles.
    """
    rows, columns = solid.shape
    visible = np.zeros((rows, columns), np.bool_)
    visible[row, column] = True
    # No tile beyond the radius lies before one within it.
    farthest = np.int64(max(rows, columns) if radius >= max(rows, columns) else math.floor(radius))
    sectors = np.empty((64, 5), np.int64)
    for quadrant in range(4):
        sectors[0] = (1, -1, 1, 1, 1)
        waiting = 1
        while waiting > 0:
            waiting -= 1
            # From slope ``low / below`` to slope ``high / above``.
            depth, low, below, high, above = sectors[waiting]
            if depth > farthest:
                continue
            first = (2 * depth * low + below) // (
                2 * below
            )  # a middle is in the sector, or the tile's nearer half
            last = -((above - 2 * depth * high) // (2 * above))
            first, last = max(first, -farthest), min(last, farthest)
            behind_wall = True  # a sector for the next row begins at the first tile that is no wall
            opened = False
            for across in range(first, last + 1):
                x, y = _place(column, row, quadrant, depth, across)
                inside = 0 <= x < columns and 0 <= y < rows
                is_wall = not inside or solid[y, x]
                if inside and depth * depth + across * across <= radius * radius:
                    faces = across * below >= depth * low and across * above <= depth * high
                    if is_wall or faces:
                        visible[y, x] = True
                if is_wall:
                    if opened and low * 2 * depth < (2 * across - 1) * below:
                        if waiting + 1 >= sectors.shape[0]:
                            sectors = larger(sectors, waiting)
                        sectors[waiting] = (depth + 1, low, below, 2 * across - 1, 2 * depth)
                        waiting += 1
                    opened, behind_wall = False, True
                else:
                    if behind_wall and across > first:
                        low, below = 2 * across - 1, 2 * depth
                    opened, behind_wall = True, False
            if opened and low * above < high * below:
                sectors[waiting] = (depth + 1, low, below, high, above)
                waiting += 1
    return visible
