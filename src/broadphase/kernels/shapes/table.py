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
    """A circle's radius."""
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
