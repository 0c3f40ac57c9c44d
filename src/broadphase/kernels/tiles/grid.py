"""A grid of solid tiles: which tiles a box covers, and rays through the grid.

There is one definition of where a tile begins: `edge`.  Neighbours share it to the last bit, so that no
gap can open between two tiles, and every cell number found by division is checked against it.
"""

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import below_one
from broadphase.kernels.machine.jit import holds_gil, inline, jit
from broadphase.kernels.shapes.contact import length

# The sides of a one-way tile that block, as bits.  Top is the side of the smaller y.
LEFT, RIGHT, TOP, BOTTOM = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
Side: TypeAlias = Literal["left", "right", "top", "bottom"]
SIDES: dict[Side, np.uint8] = {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}


class TileGrid(NamedTuple):
    """Tiles by ``[row, column]``."""

    solid: npt.NDArray[np.bool_]
    one_way: npt.NDArray[np.uint8]
    """Blocking sides of tiles that are not solid; shape ``(0, 0)`` if there are no such tiles."""
    x: float
    y: float
    width: float
    """Of one tile."""
    height: float
    ground: npt.NDArray[np.uint16] = np.empty((0, 0), np.uint16)
    """Slopes and ladders; shape ``(0, 0)`` if there are none.  See `kernels.tiles.slopes`."""
    profiles: npt.NDArray[np.float64] = np.empty((0, 3))
    """``(k, 3)``, of slopes: heights at the left and at the right edge, in parts of a tile; 1 where it hangs
    from the side of the smaller y, 0 where it stands on that of the larger."""
    around: int = 0
    """The axes on which the tiles begin again after the last: 1 for x, 2 for y, 3 for both.  There the
    numbers of cells go on, and the tile of each is that at the remainder."""


def no_tiles() -> TileGrid:
    """A grid without a tile, for worlds that have none."""
    return TileGrid(np.empty((0, 0), np.bool_), np.empty((0, 0), np.uint8), 0.0, 0.0, 1.0, 1.0)


@inline
def without_tiles(grid):
    """A grid without a tile, where another is at hand."""
    size = grid.x, grid.y, grid.width, grid.height
    return TileGrid(grid.solid[:0], grid.one_way[:0], *size, grid.ground[:0], grid.profiles[:0], 0)


@inline
def edge(origin, size, k):
    """Where cell ``k`` begins and cell ``k - 1`` ends."""
    return origin + k * size


@inline
def cell_at(value, origin, size, count, least=0):
    """The cell whose half-open range holds ``value``; ``least - 1`` before all, ``count`` after the last."""
    guess = (value - origin) / size
    k = least - 1
    if guess >= count:  # compared as numbers first: a huge one does not fit into an integer
        k = count
    elif guess >= least:
        k = math.floor(guess)
    while k < count and edge(origin, size, k + 1) <= value:
        k += 1
    while k >= least and edge(origin, size, k) > value:
        k -= 1
    return k


# Cells that go around have numbers to here and to its negative.
_FARTHEST = 1 << 52


@inline
def _cells_between(lo, hi, origin, size, count, around):
    """The cells that the open interval from ``lo`` to ``hi`` overlaps: the first, and one after the last.

    Cells that it only touches are not among them; an interval without length is in a cell unless it is on an
    edge.
    """
    least = -_FARTHEST if around else 0
    most = _FARTHEST if around else count
    first = cell_at(lo, origin, size, most, least)
    last = cell_at(hi, origin, size, most, least)
    if last < least or edge(origin, size, last) < hi:
        last += 1
    return (first if first > least else least), (last if last < most else most)


@inline
def columns_between(grid, lo, hi):
    """The columns that the open interval from ``lo`` to ``hi`` overlaps: the first, one after the last."""
    return _cells_between(lo, hi, grid.x, grid.width, grid.solid.shape[1], grid.around & 1 != 0)


@inline
def rows_between(grid, lo, hi):
    """`columns_between`, for rows."""
    return _cells_between(lo, hi, grid.y, grid.height, grid.solid.shape[0], grid.around & 2 != 0)


@inline
def tile_of(grid, column, row):
    """The numbers of a cell in the map, where cells go around; of those outside of it, as they are."""
    rows, columns = grid.solid.shape
    if grid.around & 1 != 0 and not 0 <= column < columns:
        column %= columns
    if grid.around & 2 != 0 and not 0 <= row < rows:
        row %= rows
    return column, row


@inline
def is_in(grid, column, row):
    """Whether the map has a tile for a cell."""
    rows, columns = grid.solid.shape
    return (grid.around & 1 != 0 or 0 <= column < columns) and (grid.around & 2 != 0 or 0 <= row < rows)


@inline
def is_solid(grid, column, row):
    """Whether the tile of a cell, which the map has, is solid."""
    column, row = tile_of(grid, column, row)
    return grid.solid[row, column]


@inline
def sides_at(grid, column, row):
    """The sides of a tile that block, and 0 for a free one; a solid tile blocks on all sides."""
    column, row = tile_of(grid, column, row)
    sides = np.int64(0)
    if grid.solid[row, column]:
        sides = np.int64(15)
    elif grid.one_way.shape[0] > 0:
        sides = np.int64(grid.one_way[row, column])
    return sides


# -----------------------------------------------------------------------------------------------------------
# The tiles that a box overlaps, the tile at a point, and the bounds of a tile.


@holds_gil
def cell_of_point(grid, x, y):
    """Column and row of the half-open cell that holds a point; -1 or the count where it is outside."""
    rows, columns = grid.solid.shape
    return cell_at(x, grid.x, grid.width, columns), cell_at(y, grid.y, grid.height, rows)


@holds_gil
def bounds_of_cell(grid, column, row):
    """The box of a cell: left, top, right, bottom."""
    left, right = edge(grid.x, grid.width, column), edge(grid.x, grid.width, column + 1)
    top, bottom = edge(grid.y, grid.height, row), edge(grid.y, grid.height, row + 1)
    return left, top, right, bottom


@holds_gil
def cells_of_box(grid, left, top, right, bottom):
    """The cells that a box overlaps: first column, column after the last, first row, row after the last."""
    first_column, end_column = columns_between(grid, left, right)
    first_row, end_row = rows_between(grid, top, bottom)
    return first_column, max(first_column, end_column), first_row, max(first_row, end_row)


@jit
def solid_tiles(grid, left, top, right, bottom):
    """``(m, 2)``: all solid tiles that a box overlaps, row by row: column and row."""
    first_column, end_column, first_row, end_row = cells_of_box(grid, left, top, right, bottom)
    found = 0
    for row in range(first_row, end_row):
        for column in range(first_column, end_column):
            found += grid.solid[row, column]
    tiles = np.empty((found, 2), np.int64)
    found = 0
    for row in range(first_row, end_row):
        for column in range(first_column, end_column):
            # Another thread may have set tiles since they were counted.
            if found < tiles.shape[0] and grid.solid[row, column]:
                tiles[found, 0], tiles[found, 1] = column, row
                found += 1
    return tiles[:found]


# -----------------------------------------------------------------------------------------------------------
# Rays through a grid of tiles, cell by cell.
#
# Source: J. Amanatides and A. Woo, *A Fast Voxel Traversal Algorithm for Ray Tracing*, Eurographics 1987.
# Cost: one step for each cell that the ray crosses.  Where they add a constant step, this divides at every
# edge: a division costs little more, and on a map of 10,000 columns no error accumulates.


@inline
def _time_of_next_edge(start, speed, origin, size, k):
    if speed > 0.0:
        return (edge(origin, size, k + 1) - start) / speed
    if speed < 0.0:
        return (edge(origin, size, k) - start) / speed
    return math.inf


@inline
def _step(speed):
    return 1 if speed > 0.0 else (-1 if speed < 0.0 else 0)


@inline
def _solid(grid, column, row):
    return is_in(grid, column, row) and is_solid(grid, column, row)


@inline
def _blocks(grid, column, row, between_columns, between_rows):
    """Whether a tile stops the ray; a ray between two columns or rows meets both at once."""
    if not _solid(grid, column, row):
        return False
    if between_columns and not _solid(grid, column - 1, row):
        return False
    return not between_rows or _solid(grid, column, row - 1)


@inline
def _leaves(k, step, count, around):
    """Whether a ray in cell ``k`` can meet no further cell of the map."""
    return not around and ((k < 0 and step <= 0) or (k >= count and step >= 0))


@inline
def cast_ray(grid, x, y, dx, dy, size, longest):
    """The first solid tile on a ray from ``x, y`` towards ``dx, dy``.

    Returns ``column, row, time, normal_x, normal_y``: the ray enters the tile at ``x + time * dx``.
    Column -1: none with ``time * size`` up to ``longest``.  A ray that starts in a solid tile hits it at
    0 with no normal.  Tiles are open: a ray along an edge, or through a corner, is stopped only where the
    tiles on both sides are solid.
    """
    rows, columns = grid.solid.shape
    around_x, around_y = grid.around & 1 != 0, grid.around & 2 != 0
    column = cell_at(x, grid.x, grid.width, _FARTHEST if around_x else columns, -_FARTHEST if around_x else 0)
    row = cell_at(y, grid.y, grid.height, _FARTHEST if around_y else rows, -_FARTHEST if around_y else 0)
    step_x, step_y = _step(dx), _step(dy)
    on_edge_x = edge(grid.x, grid.width, column) == x
    on_edge_y = edge(grid.y, grid.height, row) == y
    along_x, along_y = on_edge_x and step_x == 0, on_edge_y and step_y == 0
    ahead_x, ahead_y = on_edge_x and step_x != 0, on_edge_y and step_y != 0
    if not ahead_x and not ahead_y and _blocks(grid, column, row, along_x, along_y):
        return column, row, 0.0, 0.0, 0.0
    # On an edge the ray has yet to enter the tile ahead, at time 0 and through a side.
    if ahead_x and step_x > 0:
        column -= 1
    if ahead_y and step_y > 0:
        row -= 1
    while not (_leaves(column, step_x, columns, around_x) or _leaves(row, step_y, rows, around_y)):
        time_x = _time_of_next_edge(x, dx, grid.x, grid.width, column)
        time_y = _time_of_next_edge(y, dy, grid.y, grid.height, row)
        time = min(time_x, time_y)
        if time * size > longest or time == math.inf:
            break
        through_corner = time_x == time_y
        if through_corner and _solid(grid, column + step_x, row) and _solid(grid, column, row + step_y):
            return column + step_x, row, time, -1.0 * step_x, 0.0
        if time_x <= time_y:
            column += step_x
        if time_y <= time_x:
            row += step_y
        if _blocks(grid, column, row, along_x, along_y):
            if time_x <= time_y:
                return column, row, time, -1.0 * step_x, 0.0
            return column, row, time, 0.0, -1.0 * step_y
    return -1, -1, math.inf, 0.0, 0.0


@inline
def cast_ray_far(grid, x, y, dx, dy, longest):
    """`cast_ray` in distances, for a direction of any length: ``column, row, distance, normal, point``.

    The direction is scaled by a power of two, which is exact and lets nothing overflow; along an axis it
    becomes 1, so that distances there are exact.
    """
    dx, dy = below_one(dx, dy)
    if dx == 0.0 or dy == 0.0:
        dx, dy = float(_step(dx)), float(_step(dy))
    size = length(dx, dy)
    column, row, time, nx, ny = cast_ray(grid, x, y, dx, dy, size, longest)
    if time == math.inf:
        return column, row, time, nx, ny, x, y
    at_x, at_y = x + time * dx, y + time * dy
    if nx != 0.0:  # on the edge itself, not a rounding error away from it
        at_x = edge(grid.x, grid.width, column + (1 if nx > 0.0 else 0))
    if ny != 0.0:
        at_y = edge(grid.y, grid.height, row + (1 if ny > 0.0 else 0))
    return column, row, time * size, nx, ny, at_x, at_y
