"""Bodies that come and go by the thousand: what `World.add_many` and `World.remove_many` do to the store."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from broadphase.boxes import as_boxes
from broadphase.shapes.kinds import Box, Circle, Polygon, Shape, boxes_of
from broadphase.world.arguments import as_shape
from broadphase.world.body import Body
from broadphase.world.body_store import BodyStore


def as_shapes(shapes: Any) -> list[Shape]:
    """Shapes, or the rows of an array of boxes as shapes.

    Examples
    --------
    >>> as_shapes([[0, 0, 10, 20]])
    [Box(x=0.0, y=0.0, width=10.0, height=20.0)]
    """
    known = (Box, Circle, Polygon)
    if isinstance(shapes, (list, tuple)) and all(isinstance(one, known) for one in shapes):
        return list(shapes)
    if isinstance(shapes, (list, tuple)) and any(isinstance(one, known) for one in shapes):
        return [as_shape(one) for one in shapes]  # names what is none
    boxes = as_boxes(shapes, "shapes")
    if boxes.shape[1] != 4:
        raise ValueError(f"shapes must be 2-D boxes, with 4 columns; got shape {boxes.shape}")
    wrong = np.flatnonzero(~np.isfinite(boxes).all(axis=1))
    if len(wrong):
        raise ValueError(
            f"shapes[{wrong[0]}] = {boxes[wrong[0]].tolist()} must be finite: bodies have an end"
        )
    corners = boxes.astype(np.float64, copy=False)
    sizes = corners[:, 2:] - corners[:, :2]
    sums = corners[:, :2] + sizes
    wrong = np.flatnonzero(~np.isfinite(sums).all(axis=1))
    if len(wrong):
        Box(*corners[wrong[0], :2].tolist(), *sizes[wrong[0]].tolist())  # says what is wrong
    return [*boxes_of(*corners[:, :2].T, *sizes.T)]


def add_many(
    store: BodyStore, shapes: Any, data: Sequence[Any] | None, rules: tuple[Any, bool, bool, int, int]
) -> list[Body]:
    """Put bodies into the lowest free rows; ``rules`` are tag, static, sensor, category and mask."""
    known = as_shapes(shapes)
    if data is not None and len(data) != len(known):
        raise ValueError(f"data has {len(data)} entries for {len(known)} shapes; give one each, or None")
    store.check_fits(known)
    return store.add_many(known, [None] * len(known) if data is None else data, rules)


def remove_many(store: BodyStore, bodies: Any) -> None:
    """Take bodies out, all or none."""
    rows = store.rows_of(bodies)
    if len(np.unique(rows)) < len(rows):
        raise ValueError("bodies names a body twice; each can be removed once")
    store.remove_many(rows)
