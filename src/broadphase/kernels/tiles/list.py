"""The tiles that a box overlaps, the tile at a point, and the bounds of a tile."""

from broadphase.kernels.machine.jit import brief, jit
from broadphase.kernels.tiles.grid import cell_at, cells_between, edge


@brief
def cell_of_point(grid, x, y):
    """Column and row of the half-open cell that holds a point; -1 or the count where it is outside."""
    rows, columns = grid.solid.shape
    return cell_at(x, grid.x, grid.width, columns), cell_at(y, grid.y, grid.height, rows)


@brief
def bounds_of_cell(grid, column, row):
    """The box of a cell: left, top, right, bottom."""
    return (
        edge(grid.x, grid.width, column),
        edge(grid.y, grid.height, row),
        edge(grid.x, grid.width, column + 1),
        edge(grid.y, grid.height, row + 1),
    )


@brief
def cells_of_box(grid, left, top, right, bottom):
    """The cells that a box overlaps: first column, column behind the last, first row, row behind the last."""
    rows, columns = grid.solid.shape
    first_column, end_column = cells_between(left, right, grid.x, grid.width, columns)
    first_row, end_row = cells_between(top, bottom, grid.y, grid.height, rows)
    return first_column, max(first_column, end_column), first_row, max(first_row, end_row)


@brief
def first_solid(grid, left, top, right, bottom):
    """The first solid tile that a box overlaps, row by row: ``column, row``, or -1, -1."""
    first_column, end_column, first_row, end_row = cells_of_box(grid, left, top, right, bottom)
    for row in range(first_row, end_row):
        for column in range(first_column, end_column):
            if grid.solid[row, column]:
                return column, row
    return -1, -1


@jit
def solid_tiles(grid, left, top, right, bottom, out):
    """All solid tiles that a box overlaps, row by row: column and row, as far as there is room in ``out``.

    Returns how many there are.
    """
    first_column, end_column, first_row, end_row = cells_of_box(grid, left, top, right, bottom)
    found = 0
    for row in range(first_row, end_row):
        for column in range(first_column, end_column):
            if grid.solid[row, column]:
                if found < out.shape[0]:
                    out[found, 0] = column
                    out[found, 1] = row
                found += 1
    return found
