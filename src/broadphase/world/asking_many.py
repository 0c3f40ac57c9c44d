"""The questions of `asking` by the thousand: one call, arrays out."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_boxes
from broadphase.indexes import arguments
from broadphase.kernels.shapes.near import keep_overlapping_rows
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns
from broadphase.world.arguments import as_points
from broadphase.world.layers import ALL
from broadphase.world.listeners import as_tags
from broadphase.world.state import State

_Floats = npt.NDArray[np.float64]
_Rows = npt.NDArray[np.int32]

# What kernels subtract must stay finite.
_FARTHEST = 1e300
_NO_POINTS = np.empty((0, 2))


def is_batch(values: Any) -> bool:
    """Whether it is rows of numbers, and not one row.

    Examples
    --------
    >>> is_batch((0, 0, 1, 1)), is_batch([[0, 0, 1, 1]]), is_batch(np.zeros((0, 4)))
    (False, True, True)
    """
    if isinstance(values, (list, tuple)):
        return len(values) > 0 and np.ndim(values[0]) == 1 and not hasattr(values, "_fields")
    return getattr(values, "ndim", 0) == 2


class AskingMany(State):
    """The part of `World` that answers many questions at once."""

    def _in_many_boxes(self, boxes: Any, tag: Any, category: int | None, mask: int | None) -> _Rows:
        """``[query, id]`` of the bodies that overlap each of ``(m, 4)`` boxes."""
        asked = as_boxes(boxes, "box").astype(np.float64, copy=False)
        if asked.shape[1] != 4:
            raise ValueError(f"box must have 4 columns, min_x, min_y, max_x, max_y; got shape {asked.shape}")
        near = np.clip(asked, -_FARTHEST, _FARTHEST)
        widths, heights = (near[:, 2:] - near[:, :2]).T
        shapes = _columns(BOX, near[:, 0], near[:, 1], widths, heights)
        return self._overlapping_many(asked, shapes, tag, category, mask)

    def _at_many_points(self, points: Any, tag: Any, category: int | None, mask: int | None) -> _Rows:
        """``[query, id]`` of the bodies whose inside holds each of ``(m, 2)`` points."""
        at = as_points(points, "point")
        nothing = np.zeros(len(at))
        shapes = _columns(BOX, at[:, 0], at[:, 1], nothing, nothing)
        return self._overlapping_many(np.hstack((at, at)), shapes, tag, category, mask)

    def _in_many_circles(
        self, centers: Any, r: Any, tag: Any, category: int | None, mask: int | None
    ) -> _Rows:
        """``[query, id]`` of the bodies at less than ``r`` from each of ``(m, 2)`` points."""
        at = as_points(centers, "center")
        radii = np.asarray(arguments.distance_or_distances(r, "r"), np.float64)
        if radii.ndim and len(radii) != len(at):
            raise ValueError(f"center has {len(at)} rows and r has {len(radii)}")
        radii = np.broadcast_to(np.minimum(radii, _FARTHEST), (len(at),))
        reach = np.hstack((at - radii[:, None], at + radii[:, None]))
        shapes = _columns(CIRCLE, at[:, 0], at[:, 1], radii, np.zeros(len(at)))
        return self._overlapping_many(reach, shapes, tag, category, mask)

    def _overlapping_many(
        self, bounds: _Floats, asked: ShapeColumns, tag: Any, category: int | None, mask: int | None
    ) -> _Rows:
        """``[query, id]``, sorted, of the bodies that overlap each of the shapes that are asked about."""
        self._layers.sync()
        rows = np.ascontiguousarray(self._layers.in_boxes(np.ascontiguousarray(bounds), ALL))
        rows = rows[: keep_overlapping_rows(rows, asked, self._store.table.columns)]
        rows = rows[self._fitting(rows[:, 1], tag, category, mask)]
        return rows[np.lexsort((rows[:, 1], rows[:, 0]))]

    def _fitting(
        self, rows: _Rows, tag: Any, category: int | None, mask: int | None
    ) -> npt.NDArray[np.bool_]:
        """Which bodies the rules of a question leave."""
        store = self._store
        fits = np.ones(len(rows), np.bool_)
        if tag is not None:
            wanted = as_tags(tag)
            tags = store.listeners.groups
            groups = [k for k, known in enumerate(tags) if not wanted.isdisjoint(known)]
            fits &= np.isin(store.group[rows], groups)
        if category is not None:
            fits &= store.mask[rows] & np.uint32(arguments.bit_set(category, "category")) != 0
        if mask is not None:
            fits &= store.category[rows] & np.uint32(arguments.bit_set(mask, "mask")) != 0
        return fits


def _columns(kind: np.uint8, x: _Floats, y: _Floats, width: _Floats, height: _Floats) -> ShapeColumns:
    """Boxes or circles as kernels take them."""
    none = np.zeros(len(x), np.int64)
    kinds = np.full(len(x), kind)
    x, y, width, height = np.array((x, y, width, height), np.float64)
    return ShapeColumns(kinds, x, y, width, height, none, none, _NO_POINTS, _NO_POINTS)
