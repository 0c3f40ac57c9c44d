"""Following a flow field: from points, and tile by tile."""

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.shapes.contact import length
from broadphase.kernels.tiles.grid import cell_at, edge
from broadphase.kernels.tiles.steps import COLUMN_STEPS, ROW_STEPS


@inline
def _first_tile(grid, x, y, wide, high):
    """The first tile of the block of tiles whose middle lies nearest to a point; row -1: not on the map."""
    rows, columns = grid.solid.shape
    column = cell_at(x - 0.5 * (wide - 1) * grid.width, grid.x, grid.width, columns)
    row = cell_at(y - 0.5 * (high - 1) * grid.height, grid.y, grid.height, rows)
    if not (0 <= column < columns and 0 <= row < rows):
        return -1, -1
    return column, row


@jit
def distances_at(grid, wide, high, distances, points, out):
    """The distance from the tile that each point, the middle of a body, stands for; infinite outside."""
    for k in range(points.shape[0]):
        column, row = _first_tile(grid, points[k, 0], points[k, 1], wide, high)
        out[k] = distances[row, column] if row >= 0 else float("inf")


@jit
def ways_at(grid, wide, high, ways, points, out):
    """The unit vector from each point to the middle of where the next step leads; zeros where none does."""
    for k in range(points.shape[0]):
        x, y = points[k, 0], points[k, 1]
        column, row = _first_tile(grid, x, y, wide, high)
        step = ways[row, column] if row >= 0 else -1
        out[k, 0] = out[k, 1] = 0.0
        if step >= 0:
            column, row = column + COLUMN_STEPS[step], row + ROW_STEPS[step]
            dx = edge(grid.x, grid.width, column) + 0.5 * wide * grid.width - x
            dy = edge(grid.y, grid.height, row) + 0.5 * high * grid.height - y
            far = length(dx, dy)
            if far > 0.0:
                out[k, 0], out[k, 1] = dx / far, dy / far


@jit
def trace(ways, column, row, out):
    """Write the tiles from one to the goal, as long as there is room; how many there are."""
    count = 0
    while True:
        if count < out.shape[0]:
            out[count, 0], out[count, 1] = column, row
        count += 1
        step = ways[row, column]
        if step < 0:
            return count
        column, row = column + COLUMN_STEPS[step], row + ROW_STEPS[step]
