"""Slopes and ladders: their profiles, and rays that meet a slope."""

import math

import numpy as np

from broadphase.kernels.arrays.results import larger
from broadphase.kernels.machine.floats import below_one
from broadphase.kernels.machine.jit import common, holds_gil, inline, jit, rows
from broadphase.kernels.shapes.contact import length
from broadphase.kernels.tiles.grid import (
    bounds_of_cell,
    cast_ray,
    cast_ray_far,
    cells_of_box,
    columns_between,
    edge,
    is_in,
    rows_between,
    tile_of,
)

LADDER = np.uint16(0x8000)
PROFILE = np.uint16(0x7FFF)  # the bits of a cell that number its slope; 0: none


@inline
def profile_at(grid, column, row):
    """The number of a tile's slope, 0 for none; a solid tile has none."""
    if grid.ground.shape[0] == 0:
        return np.int64(0)
    column, row = tile_of(grid, column, row)
    if grid.solid[row, column]:
        return np.int64(0)
    return np.int64(grid.ground[row, column] & PROFILE)


@inline
def is_ladder(grid, column, row):
    """Whether a tile is a ladder; none is outside the map."""
    if grid.ground.shape[0] == 0 or not is_in(grid, column, row):
        return False
    column, row = tile_of(grid, column, row)
    return grid.ground[row, column] & LADDER != 0


@inline
def _height(top, bottom, part, hangs):
    """Where the surface is; whole heights are the edges of the tile, to the last bit."""
    if part == 0.0:
        return top if hangs else bottom
    if part == 1.0:
        return bottom if hangs else top
    return top + part * (bottom - top) if hangs else bottom - part * (bottom - top)


@holds_gil
def slope_of(grid, column, row):
    """Of a tile with a slope: ``left, top, right, bottom, y at the left, y at the right, hangs``.

    The first four are the bounds of what is filled.
    """
    left, top, right, bottom = bounds_of_cell(grid, column, row)
    column, row = tile_of(grid, column, row)
    profile = np.int64(grid.ground[row, column] & PROFILE) - 1
    hangs = grid.profiles[profile, 2] != 0.0
    from_y = _height(top, bottom, grid.profiles[profile, 0], hangs)
    to_y = _height(top, bottom, grid.profiles[profile, 1], hangs)
    if hangs:
        bottom = max(from_y, to_y)
    else:
        top = min(from_y, to_y)
    return left, top, right, bottom, from_y, to_y, hangs


@common
def any_slope(grid, left, top, right, bottom):
    """Whether a box overlaps a tile with a slope."""
    if grid.ground.shape[0] > 0:
        first_column, end_column, first_row, end_row = cells_of_box(grid, left, top, right, bottom)
        rows, columns = grid.ground.shape
        for row in range(first_row, min(end_row, first_row + rows)):
            for column in range(first_column, min(end_column, first_column + columns)):
                if profile_at(grid, column, row) != 0:
                    return True
    return False


@holds_gil
def slope_tiles(grid, left, top, right, bottom):
    """``(m, 2)``: tiles with slopes that a box overlaps, row by row."""
    first_column, end_column, first_row, end_row = cells_of_box(grid, left, top, right, bottom)
    tiles, found = np.empty((64, 2), np.int64), 0
    for row in range(first_row, end_row):
        for column in range(first_column, end_column):
            if profile_at(grid, column, row) != 0:
                if found == tiles.shape[0]:
                    tiles = larger(tiles, found)
                tiles[found, 0], tiles[found, 1] = column, row
                found += 1
    return tiles[:found]


@inline
def _through(grid, column, row, x, y, dx, dy):
    """Where a ray enters a slope, and its normal there; infinity where it misses.

    Clipped at the line of each side, as of any polygon; see `kernels.shapes.queries`.
    """
    left, top, right, bottom, from_y, to_y, hangs = slope_of(grid, column, row)
    size = length(right - left, to_y - from_y)
    up = -1.0 if hangs else 1.0
    enter, leave, normal_x, normal_y = -math.inf, math.inf, 0.0, 0.0
    for side in range(5):
        if side == 0:
            nx, ny, height = -1.0, 0.0, left - x
        elif side == 1:
            nx, ny, height = 1.0, 0.0, x - right
        elif side == 2:
            nx, ny, height = 0.0, -1.0, top - y
        elif side == 3:
            nx, ny, height = 0.0, 1.0, y - bottom
        else:
            nx, ny = up * (to_y - from_y) / size, up * (left - right) / size
            height = (x - left) * nx + (y - from_y) * ny
        towards = dx * nx + dy * ny
        if towards == 0.0:
            if height >= 0.0:
                return math.inf, 0.0, 0.0
        elif towards < 0.0:
            if -height / towards > enter:
                enter, normal_x, normal_y = -height / towards, nx, ny
        else:
            leave = min(leave, -height / towards)
    if not (enter < leave and leave > 0.0):
        return math.inf, 0.0, 0.0
    if enter < 0.0:
        return 0.0, 0.0, 0.0
    return enter, normal_x + 0.0, normal_y + 0.0


@inline
def _cast_at_slopes(grid, x, y, dx, dy, longest):
    """The first slope on a ray: ``column, row, distance, normal``; column -1 for none.

    The ray passes the columns one by one, and in each the rows that it covers there.
    """
    dx, dy = below_one(dx, dy)
    size = length(dx, dy)
    dx, dy = dx / size, dy / size
    rows, columns = grid.ground.shape
    best = (-1, -1, math.inf, 0.0, 0.0)
    max_distance, first_column, end_column = longest, 0, columns
    if grid.around == 0:
        reach = length(grid.width * columns, grid.height * rows)
        reach += length(x - grid.x, y - grid.y)
        max_distance = min(longest, reach)
    if grid.around & 1 != 0:
        to_x = x if dx == 0.0 else x + dx * max_distance
        first_column, end_column = columns_between(grid, min(x, to_x), max(x, to_x))
        first_column, end_column = first_column - 1, end_column + 1
    for step in range(first_column, end_column):
        column = step if dx >= 0.0 else first_column + end_column - 1 - step
        left, right = edge(grid.x, grid.width, column), edge(grid.x, grid.width, column + 1)
        begin, end = 0.0, max_distance
        if dx == 0.0:
            if not left <= x <= right:
                continue
        else:
            first, last = (left - x) / dx, (right - x) / dx
            begin, end = max(begin, min(first, last)), min(end, max(first, last))
        if begin > best[2]:
            break
        if not begin <= end:
            continue
        low, high = y + begin * dy, y + end * dy
        if high < low:
            low, high = high, low
        top, beyond = rows_between(grid, low, high)
        for row in range(top - 1, beyond + 1):
            if not is_in(grid, column, row) or profile_at(grid, column, row) == 0:
                continue
            distance, nx, ny = _through(grid, column, row, x, y, dx, dy)
            if distance <= longest and distance < best[2]:
                best = (column, row, distance, nx, ny)
    return best


@holds_gil
def cast_far(grid, x, y, dx, dy, longest):
    """The first solid tile or slope on a ray, as of `cast_ray_far`; of two as near, the tile."""
    column, row, distance, nx, ny, at_x, at_y = cast_ray_far(grid, x, y, dx, dy, longest)
    if grid.ground.shape[0] > 0:
        slope = _cast_at_slopes(grid, x, y, dx, dy, min(longest, distance))
        if slope[2] < distance:
            column, row, distance, nx, ny = slope
            dx, dy = below_one(dx, dy)
            time = distance / length(dx, dy)
            at_x, at_y = x + time * dx, y + time * dy
    column, row = tile_of(grid, column, row) if distance < math.inf else (column, row)
    return column, row, distance, nx, ny, at_x, at_y


@jit
def cast_rays(grid, rays, tiles, distances, normals):
    """The first solid tile or slope on each of ``rays``: ``x, y, dx, dy, longest``; column -1 for none."""
    for k in range(rays.shape[0]):
        tiles[k, 0], tiles[k, 1], distances[k], normals[k, 0], normals[k, 1], _, _ = cast_far(
            grid, rays[k, 0], rays[k, 1], rays[k, 2], rays[k, 3], rays[k, 4]
        )


@inline
def _sees(grid, x, y, to_x, to_y):
    """Whether no solid tile and no slope is between two points; the same in both directions."""
    if to_x < x or (to_x == x and to_y < y):
        x, y, to_x, to_y = to_x, to_y, x, y
    dx, dy = to_x - x, to_y - y
    if cast_ray(grid, x, y, dx, dy, 1.0, 1.0)[2] < 1.0:
        return False
    far = length(dx, dy)
    return grid.ground.shape[0] == 0 or far == 0.0 or not _cast_at_slopes(grid, x, y, dx, dy, far)[2] < far


@jit
@rows(starts=(2,), ends=(2,))
def see(grid, starts, ends):
    """Whether no solid tile and no slope is between a point and another, row by row."""
    visible = np.empty(starts.shape[0], np.bool_)
    for k in range(starts.shape[0]):
        visible[k] = _sees(grid, starts[k, 0], starts[k, 1], ends[k, 0], ends[k, 1])
    return visible
