"""One shape as columns: what kernels take that are made for tables of shapes."""

import numpy as np

from broadphase.kernels.shapes.table import BOX, CIRCLE, POLYGON, ShapeColumns
from broadphase.shapes.kinds import Box, Polygon, Shape

_NO_ONE = np.zeros(1, np.int64)
_NO_POINTS = np.empty((0, 2))


def columns_of(shape: Shape) -> ShapeColumns:
    """As of a table that holds nothing else, in a fraction of the time."""
    kind, width, height = CIRCLE, 0.0, 0.0
    counts, points, axes = _NO_ONE, _NO_POINTS, _NO_POINTS
    if isinstance(shape, Polygon):
        kind, width = POLYGON, shape.radius
        counts, points, axes = np.array([len(shape.offsets)]), shape.offsets, shape.axes
    elif isinstance(shape, Box):
        kind, width, height = BOX, shape.width, shape.height
    else:
        width = shape.radius
    x, y, w, h = np.array([[shape.x], [shape.y], [width], [height]])
    return ShapeColumns(np.array([kind]), x, y, w, h, _NO_ONE, counts, points, axes)
