"""Shapes of any kind as columns: what kernels take where boxes, circles and polygons come mixed."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import inline

# In the order in which the pair functions of `contact` take them: circles first, boxes last.
CIRCLE = np.uint8(0)
POLYGON = np.uint8(1)
BOX = np.uint8(2)


class ShapeColumns(NamedTuple):
    """One entry a shape; the points of all polygons lie behind each other."""

    kinds: npt.NDArray[np.uint8]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    width: npt.NDArray[np.float64]
    """A circle's radius; of a polygon, how far it is grown: 0 where its corners are sharp."""
    height: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    points: npt.NDArray[np.float64]
    """``(p, 2)``, relative to the polygon's place."""
    axes: npt.NDArray[np.float64]
    """``(p, 2)``, one a point: the normal of the edge that begins there."""


@inline
def points_of(table, i):
    """The points of polygon ``i``."""
    return table.points[table.starts[i] : table.starts[i] + table.counts[i]]


@inline
def axes_of(table, i):
    """The axes of polygon ``i``."""
    return table.axes[table.starts[i] : table.starts[i] + table.counts[i]]


@inline
def rounding(table, i):
    """How far shape ``i`` reaches beyond its core."""
    return 0.0 if table.kinds[i] == BOX else table.width[i]


@inline
def is_rounded(table, i):
    """Whether shape ``i`` is a polygon that is grown by a radius."""
    return table.kinds[i] == POLYGON and table.width[i] > 0.0


@inline
def corners(table, i):
    """How many corners the core of shape ``i`` has."""
    if table.kinds[i] == BOX:
        return 4
    if table.kinds[i] == CIRCLE:
        return 1
    return table.counts[i]


@inline
def corner_at(table, i, k):
    """Corner ``k`` of the core of shape ``i``, seen from its place; counter-clockwise."""
    if table.kinds[i] == BOX:
        return (table.width[i] if 0 < k < 3 else 0.0), (table.height[i] if k > 1 else 0.0)
    if table.kinds[i] == CIRCLE:
        return 0.0, 0.0
    at = table.starts[i] + k
    return table.points[at, 0], table.points[at, 1]


@inline
def axis_at(table, i, k):
    """At right angles to the side that begins at corner ``k``; zeros where there is none."""
    if table.kinds[i] == BOX:
        return (1.0, 0.0) if k % 2 == 1 else (0.0, 1.0)
    if table.kinds[i] == CIRCLE:
        return 0.0, 0.0
    at = table.starts[i] + k
    return table.axes[at, 0], table.axes[at, 1]


@inline
def span_of_points(points, nx, ny):
    """The shadow of a polygon on an axis: smallest and largest product of a point with the axis."""
    lo = points[0, 0] * nx + points[0, 1] * ny
    hi = lo
    for k in range(1, points.shape[0]):
        at = points[k, 0] * nx + points[k, 1] * ny
        lo = min(lo, at)
        hi = max(hi, at)
    return lo, hi
