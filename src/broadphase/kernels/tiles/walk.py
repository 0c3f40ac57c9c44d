"""Rays through a grid of tiles, cell by cell.

Source: J. Amanatides and A. Woo, *A Fast Voxel Traversal Algorithm for Ray Tracing*, Eurographics 1987.
Cost: one step a cell that the ray crosses.  Where theirs adds up a constant step, this divides again at
every edge: a division costs little more, and on a map of 10,000 columns no error adds up.
"""

import math

from broadphase.kernels.machine.floats import below_one
from broadphase.kernels.machine.jit import brief, inline, jit
from broadphase.kernels.shapes.contact import length
from broadphase.kernels.tiles.grid import cell_at, edge


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
    rows, columns = grid.solid.shape
    return 0 <= column < columns and 0 <= row < rows and grid.solid[row, column]


@inline
def _blocks(grid, column, row, between_columns, between_rows):
    """Whether a tile stops the ray; one that runs between two columns or rows meets both at once."""
    if not _solid(grid, column, row):
        return False
    if between_columns and not _solid(grid, column - 1, row):
        return False
    return not between_rows or _solid(grid, column, row - 1)


@inline
def _leaves(k, step, count):
    """Whether a ray in cell ``k`` can meet no cell of the map any more."""
    return (k < 0 and step <= 0) or (k >= count and step >= 0)


@brief
def cast_ray(grid, x, y, dx, dy, size, longest):
    """The first solid tile on the way from ``x, y`` towards ``dx, dy``.

    Returns ``column, row, time, normal_x, normal_y``: the ray enters the tile at ``x + time * dx``.
    Column -1: none with ``time * size`` up to ``longest``.  A ray that starts in a solid tile hits it at
    0 with no normal.  Tiles are open: a ray along an edge, or through a corner, is stopped only where the
    tiles on both sides are solid.
    """
    rows, columns = grid.solid.shape
    column = cell_at(x, grid.x, grid.width, columns)
    row = cell_at(y, grid.y, grid.height, rows)
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
    while not (_leaves(column, step_x, columns) or _leaves(row, step_y, rows)):
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


@brief
def cast_ray_far(grid, x, y, dx, dy, longest):
    """`cast_ray` in distances, for a direction of any length: ``column, row, distance, normal, point``.

    The direction is scaled by a power of two, which is exact and lets nothing overflow; along an axis it
    becomes 1, so that distances there are exact.
    """
    dx, dy = below_one(dx, dy)
    if dx == 0.0 or dy == 0.0:
        dx, dy = (
            (1.0 if dx > 0.0 else -1.0 if dx < 0.0 else 0.0),
            (1.0 if dy > 0.0 else -1.0 if dy < 0.0 else 0.0),
        )
    size = length(dx, dy)
    column, row, time, nx, ny = cast_ray(grid, x, y, dx, dy, size, longest)
    if column < 0:
        return column, row, math.inf, nx, ny, x, y
    at_x, at_y = x + time * dx, y + time * dy
    if nx != 0.0:  # on the edge itself, not a rounding error beside it
        at_x = edge(grid.x, grid.width, column + (1 if nx > 0.0 else 0))
    if ny != 0.0:
        at_y = edge(grid.y, grid.height, row + (1 if ny > 0.0 else 0))
    return column, row, time * size, nx, ny, at_x, at_y


@jit
def cast_rays(grid, origins, directions, longest, tiles, distances, normals):
    """`cast_ray_far` for every row of ``origins`` and ``directions``."""
    for k in range(origins.shape[0]):
        tiles[k, 0], tiles[k, 1], distances[k], normals[k, 0], normals[k, 1], _, _ = cast_ray_far(
            grid, origins[k, 0], origins[k, 1], directions[k, 0], directions[k, 1], longest
        )


@brief
def sees(grid, x, y, to_x, to_y):
    """Whether no solid tile lies between two points; the same in both directions."""
    if to_x < x or (to_x == x and to_y < y):
        x, y, to_x, to_y = to_x, to_y, x, y
    return not cast_ray(grid, x, y, to_x - x, to_y - y, 1.0, 1.0)[2] < 1.0


@jit
def see(grid, starts, ends, visible):
    """`sees` for every row."""
    for k in range(starts.shape[0]):
        visible[k] = sees(grid, starts[k, 0], starts[k, 1], ends[k, 0], ends[k, 1])
