"""Contacts for whole arrays of pairs: boxes, circles, or shapes of any kind in one table."""

from broadphase.kernels.contact import (
    box_box,
    circle_box,
    circle_circle,
    circle_polygon,
    part_intervals,
    polygon_box,
    polygon_polygon,
)
from broadphase.kernels.jit import inline, jit
from broadphase.kernels.shape_table import BOX, CIRCLE, axes_of, points_of


@jit
def contact_boxes(a, b, pairs, touching, overlapping, normals, depths):
    """Box ``a[i]`` against ``b[j]`` for every pair ``i, j``; without pairs, row by row.

    A loop over the axes instead of `box_box`, for boxes of any dimension: the axis with the smallest
    overlap is the way out, and of equal ones the first.
    """
    dim = a.shape[1] // 2
    for k in range(overlapping.shape[0]):
        i = pairs[k, 0] if pairs.shape[0] > 0 else k
        j = pairs[k, 1] if pairs.shape[0] > 0 else k
        together = True
        for axis in range(dim):
            if touching:
                together &= (a[i, axis] <= b[j, dim + axis]) & (b[j, axis] <= a[i, dim + axis])
            else:
                together &= (a[i, axis] < b[j, dim + axis]) & (b[j, axis] < a[i, dim + axis])
        overlapping[k] = together
        if together:
            out = -1
            for axis in range(dim):
                sign, depth = part_intervals(a[i, axis], a[i, dim + axis], b[j, axis], b[j, dim + axis])
                if out < 0 or depth < depths[k]:
                    if out >= 0:
                        normals[k, out] = 0.0
                    out = axis
                    normals[k, axis] = sign
                    depths[k] = depth


@jit
def contact_circles(a, b, pairs, touching, overlapping, normals, depths):
    """Circle ``a[i]`` against ``b[j]``, rows ``x, y, radius``; without pairs, row by row."""
    for k in range(overlapping.shape[0]):
        i = pairs[k, 0] if pairs.shape[0] > 0 else k
        j = pairs[k, 1] if pairs.shape[0] > 0 else k
        overlapping[k], normals[k, 0], normals[k, 1], depths[k] = circle_circle(
            a[i, 0], a[i, 1], a[i, 2], b[j, 0], b[j, 1], b[j, 2], touching
        )


@jit
def contact_shapes(table, pairs, touching, overlapping, normals, depths):
    """Shape ``i`` against shape ``j`` of a table, whatever they are, for every pair ``i, j``."""
    for k in range(pairs.shape[0]):
        overlapping[k], normals[k, 0], normals[k, 1], depths[k] = contact_rows(
            table, pairs[k, 0], pairs[k, 1], touching
        )


@inline
def contact_rows(table, i, j, touching):
    """Shape ``i`` against shape ``j``: the kinds in order, and the answer turned round if they were not."""
    if table.kinds[i] <= table.kinds[j]:
        return _in_order(table, i, j, touching)
    hit, nx, ny, depth = _in_order(table, j, i, touching)
    return hit, 0.0 - nx, 0.0 - ny, depth


@inline
def _in_order(table, i, j, touching):
    """Circles before polygons before boxes."""
    ax, ay, bx, by = table.x[i], table.y[i], table.x[j], table.y[j]
    b_right, b_bottom = bx + table.width[j], by + table.height[j]
    if table.kinds[i] == CIRCLE:
        radius = table.width[i]
        if table.kinds[j] == CIRCLE:
            return circle_circle(ax, ay, radius, bx, by, table.width[j], touching)
        if table.kinds[j] == BOX:
            return circle_box(ax, ay, radius, bx, by, b_right, b_bottom, touching)
        return circle_polygon(ax, ay, radius, bx, by, points_of(table, j), axes_of(table, j), touching)
    if table.kinds[i] == BOX:
        return box_box(ax, ay, ax + table.width[i], ay + table.height[i], bx, by, b_right, b_bottom, touching)
    points, axes = points_of(table, i), axes_of(table, i)
    if table.kinds[j] == BOX:
        return polygon_box(ax, ay, points, axes, bx, by, table.width[j], table.height[j], touching)
    return polygon_polygon(ax, ay, points, axes, bx, by, points_of(table, j), axes_of(table, j), touching)
