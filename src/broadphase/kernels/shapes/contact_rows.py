"""Contacts for whole arrays of pairs: boxes, circles, or shapes of any kind in one table."""

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.shapes.contact import (
    box_box,
    circle_box,
    circle_circle,
    circle_polygon,
    part_intervals,
    polygon_box,
    polygon_polygon,
)
from broadphase.kernels.shapes.contact_rounded import contact_rounded
from broadphase.kernels.shapes.table import BOX, CIRCLE, axes_of, is_rounded, points_of


@jit
def contact_boxes(a, b, pairs, touching, overlapping, normals, depths):
    """Box ``a[i]`` against ``b[j]`` for every pair ``i, j``; without pairs, row by row.

    A loop over the axes instead of `box_box`, for boxes of any dimension: the axis with the smallest
    overlap is the displacement, and of equal ones the first.
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
        overlapping[k], normals[k, 0], normals[k, 1], depths[k] = contact_of(
            table, pairs[k, 0], table, pairs[k, 1], touching
        )


@inline
def contact_of(a, i, b, j, touching):
    """Shape ``i`` of table a against ``j`` of b: the kinds in order, the answer turned if they were not."""
    if is_rounded(a, i) or is_rounded(b, j):
        return contact_rounded(a, i, b, j, touching)
    if a.kinds[i] <= b.kinds[j]:
        return _in_order(a, i, b, j, touching)
    hit, nx, ny, depth = _in_order(b, j, a, i, touching)
    return hit, 0.0 - nx, 0.0 - ny, depth


@inline
def _in_order(a, i, b, j, touching):
    """Circles before polygons before boxes."""
    ax, ay, bx, by = a.x[i], a.y[i], b.x[j], b.y[j]
    b_right, b_bottom = bx + b.width[j], by + b.height[j]
    if a.kinds[i] == CIRCLE:
        radius = a.width[i]
        if b.kinds[j] == CIRCLE:
            return circle_circle(ax, ay, radius, bx, by, b.width[j], touching)
        if b.kinds[j] == BOX:
            return circle_box(ax, ay, radius, bx, by, b_right, b_bottom, touching)
        return circle_polygon(ax, ay, radius, bx, by, points_of(b, j), axes_of(b, j), touching)
    if a.kinds[i] == BOX:
        return box_box(ax, ay, ax + a.width[i], ay + a.height[i], bx, by, b_right, b_bottom, touching)
    points, axes = points_of(a, i), axes_of(a, i)
    if b.kinds[j] == BOX:
        return polygon_box(ax, ay, points, axes, bx, by, b.width[j], b.height[j], touching)
    return polygon_polygon(ax, ay, points, axes, bx, by, points_of(b, j), axes_of(b, j), touching)
