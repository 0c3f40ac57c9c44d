"""Many rays through a tile map with slopes, each of a length of its own."""

from broadphase.kernels.machine.jit import jit
from broadphase.kernels.tiles.ground import cast_at_slopes
from broadphase.kernels.tiles.walk import cast_ray_far


@jit
def cast_rays_each(grid, ground, rays, tiles, distances, normals):
    """The first solid tile or slope on each of ``x, y, dx, dy, furthest``; column -1 for none."""
    for k in range(rays.shape[0]):
        x, y, dx, dy, furthest = rays[k, 0], rays[k, 1], rays[k, 2], rays[k, 3], rays[k, 4]
        column, row, distance, nx, ny, _, _ = cast_ray_far(grid, x, y, dx, dy, furthest)
        if ground.cells.shape[0] > 0:
            longest = min(furthest, distance)
            at_column, at_row, sooner, slope_x, slope_y = cast_at_slopes(grid, ground, x, y, dx, dy, longest)
            if at_column >= 0:
                column, row, distance, nx, ny = at_column, at_row, sooner, slope_x, slope_y
        tiles[k, 0], tiles[k, 1], distances[k] = column, row, distance
        normals[k, 0], normals[k, 1] = nx, ny
