"""The bounding boxes of shapes of any kind: what a broad phase is given."""

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.shapes.table import BOX, CIRCLE, points_of, span_of_points


@inline
def bounds_at(table, i, x, y):
    """The bounding box of one shape if it were at ``x, y``: left, top, right, bottom."""
    if table.kinds[i] == BOX:
        return x, y, x + table.width[i], y + table.height[i]
    if table.kinds[i] == CIRCLE:
        radius = table.width[i]
        return x - radius, y - radius, x + radius, y + radius
    points, grown = points_of(table, i), table.width[i]
    left, right = span_of_points(points, 1.0, 0.0)
    top, bottom = span_of_points(points, 0.0, 1.0)
    return x + (left - grown), y + (top - grown), x + (right + grown), y + (bottom + grown)


@inline
def bounds_of(table, i):
    """The bounding box of one shape: left, top, right, bottom."""
    return bounds_at(table, i, table.x[i], table.y[i])


@jit
def bound_rows(table, rows, out):
    """Write the bounding box of each shape in ``rows`` into ``out``; no rows: of every shape."""
    for k in range(out.shape[0]):
        left, top, right, bottom = bounds_of(table, rows[k] if rows.shape[0] > 0 else k)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = left, top, right, bottom
