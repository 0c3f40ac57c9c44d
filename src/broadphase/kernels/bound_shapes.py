"""The bounding boxes of shapes of any kind: what a broad phase is given."""

from broadphase.kernels.contact import span_of_points
from broadphase.kernels.jit import jit
from broadphase.kernels.shape_table import BOX, CIRCLE, points_of


@jit
def bound_rows(table, rows, out):
    """Write the bounding box of each shape in ``rows`` into ``out``; no rows: of every shape."""
    for k in range(out.shape[0]):
        i = rows[k] if rows.shape[0] > 0 else k
        x, y = table.x[i], table.y[i]
        if table.kinds[i] == BOX:
            out[k, 0], out[k, 1] = x, y
            out[k, 2], out[k, 3] = x + table.width[i], y + table.height[i]
        elif table.kinds[i] == CIRCLE:
            radius = table.width[i]
            out[k, 0], out[k, 1] = x - radius, y - radius
            out[k, 2], out[k, 3] = x + radius, y + radius
        else:
            points = points_of(table, i)
            left, right = span_of_points(points, 1.0, 0.0)
            top, bottom = span_of_points(points, 0.0, 1.0)
            out[k, 0], out[k, 1] = x + left, y + top
            out[k, 2], out[k, 3] = x + right, y + bottom
