"""The bodies of a world that begins again: their places lie inside the period, whatever is written."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from broadphase.shapes.kinds import Shape
from broadphase.world.arguments import as_shape
from broadphase.world.body import Body
from broadphase.world.body_rows import Floats, Rows
from broadphase.world.body_store import BodyStore
from broadphase.world.listeners import Listeners
from broadphase.world.torus import Torus


class PeriodicStore(BodyStore):
    """A `BodyStore` that carries all places into one period."""

    def __init__(self, listeners: Listeners, torus: Torus) -> None:
        super().__init__(listeners)
        self._torus = torus

    def add(
        self, shape: Shape, tag: Any, static: bool, sensor: bool, category: int, mask: int, data: Any
    ) -> Body:
        """Put a body into the lowest free row."""
        known = as_shape(shape)
        self._torus.check_fits(known, "shape")
        self._torus.reaches(_extent(known))  # first, should it be interrupted
        return super().add(self._torus.carried(known), tag, static, sensor, category, mask, data)

    def add_many(
        self, shapes: list[Shape], data: Sequence[Any], rules: tuple[Any, Any, Any, Any, Any]
    ) -> list[Body]:
        """Put bodies into the lowest free rows; ``rules`` are tag, static, sensor, category and mask."""
        if shapes:
            left, top, right, bottom = np.array([_extent(shape) for shape in shapes]).T
            self._torus.reaches((left.min(), top.min(), right.max(), bottom.max()))
        return super().add_many([self._torus.carried(shape) for shape in shapes], data, rules)

    def check_fits(self, shapes: list[Shape]) -> None:
        """Raise ``ValueError`` where a shape is longer than the world."""
        for at, shape in enumerate(shapes):
            self._torus.check_fits(shape, f"shapes[{at}]")

    def put(self, row: int, x: float, y: float) -> None:
        """Another place, checked before."""
        super().put(row, *self._torus.place(x, y))

    def put_many(self, rows: Rows, places: Floats) -> None:
        """Other places, checked before; a row that comes twice ends at its last place."""
        super().put_many(rows, self._torus.places(places))

    def put_shape(self, row: int, shape: Shape) -> None:
        """Another shape and place, checked before."""
        self._torus.check_fits(shape, "shape")
        self._torus.reaches(_extent(shape))  # first, should it be interrupted
        super().put_shape(row, self._torus.carried(shape))

    def turn_many(self, rows: Rows, angles: Floats) -> None:
        """Other angles, checked before."""
        reach = []
        for row, angle in zip(rows.tolist(), angles.tolist(), strict=True):
            turned = self.table.base(row).rotated(angle)
            self._torus.check_fits(turned, f"angle {angle:g} of body {row}: shape")
            reach.append(_extent(turned))
        for extent in reach:
            self._torus.reaches(extent)  # first, should it be interrupted
        super().turn_many(rows, angles)


def _extent(shape: Shape) -> tuple[float, float, float, float]:
    """Its bounds, seen from its place."""
    return shape.moved_to(0.0, 0.0).bounds
