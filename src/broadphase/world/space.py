"""The space of a world: plain, or periodic.

Everything else in a world is written once and calls its space.  In a plain space there are no images.  In a
periodic one every body is kept once, at the place that lies in ``0 <= x < period``; its shape may reach
beyond the edge (the seam).  What lies across the seam is found as an image, moved by whole periods; images
are made for a region when it is searched (`broadphase.periods`).

Movement is computed in coordinates that continue beyond the edge.  Kernels take tiles that go around: beyond
the last column comes the first again (`TileGrid.around`).
"""

import math

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Bounds, Box, Shape
from broadphase.inputs.periods import Period
from broadphase.kernels.shapes import images
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.periods.images import Periodic, wrapped
from broadphase.runtime.arrays import Floats
from broadphase.world.tiles import TileMap

MOST_TURNS = 100
"""The most times that a movement may wrap around the world."""
TOLERANCE = 1e-9
"""Of the period: more than places are rounded by, far less than is visible."""


FITS = 1e-12
"""Of the period: by rounding, a map of tiles of 0.1 may be so much longer or shorter."""


class Space(Periodic):
    """The lengths of a world, and how far shapes reach beyond the places of their bodies.

    In a plain space, without lengths, places are not wrapped, and the only image of a body is itself.

    Examples
    --------
    >>> space = Space(np.array([100.0, np.inf]))
    >>> space.place(-10.0, -10.0), space.place(250.0, 5.0)
    ((90.0, -10.0), (50.0, 5.0))
    """

    def __init__(self, lengths: Period | None = None) -> None:
        self.periodic = lengths is not None
        super().__init__(np.full(2, np.inf) if lengths is None else lengths)
        self._x, self._y = self.lengths.tolist()
        self.period = (_finite(self._x), _finite(self._y)) if self.periodic else None
        self.around = int(self._x < math.inf) | int(self._y < math.inf) << 1
        """The axes with a period, as kernels take them: 1 for x, 2 for y."""
        self.longest = MOST_TURNS * self.lengths
        """The longest displacement on each axis."""
        # If there is a free place, one is within half a period on each axis.  Along an axis without a period
        # there always is one; it is searched for up to this distance only, because images fill a square.
        self.repeats = self.largest * (1.0 if self._goes_around.all() else 100.0) or math.inf
        """If no place within this distance is free, no place is."""

    # ---- places

    def place(self, x: float, y: float) -> tuple[float, float]:
        """A place wrapped into the period."""
        return images.wrapped(x, self._x), images.wrapped(y, self._y)

    def places(self, places: Floats) -> Floats:
        """`place` for ``(m, 2)``."""
        if not self.periodic:
            return places
        return wrapped(places.astype(np.float64, copy=False), self.lengths)

    def admit(self, shape: Shape, name: str) -> Shape:
        """A shape that enters the world, with its place wrapped into the period; see `extent_of`."""
        if not self.periodic:
            return shape
        self.note(self.extent_of(shape, name))
        x, y = self.place(shape.x, shape.y)
        return shape if (x, y) == (shape.x, shape.y) else shape.moved_to(x, y)

    def extent_of(self, shape: Shape, name: str) -> Bounds:
        """The bounds of a shape relative to its place.

        Raises
        ------
        ValueError
            It is longer than the world.
        """
        left, top, right, bottom = extent = shape.moved_to(0.0, 0.0).bounds
        for axis, length in ((0, right - left), (1, bottom - top)):
            if length > self.lengths[axis] * (1.0 + TOLERANCE):
                raise ValueError(
                    f"{name} = {shape!r} is {length:g} long on axis {'xy'[axis]}, and the world begins again "
                    f"after {self.lengths[axis]:g}, its period: it would meet itself; give a shorter one"
                )
        return extent

    def admit_boxes(self, boxes: Floats, name: str) -> Floats:
        """`admit` for boxes ``x, y, width, height``."""
        if not len(boxes):
            return boxes
        sizes = boxes[:, 2:]
        long = np.flatnonzero((sizes > self.lengths * (1.0 + TOLERANCE)).any(axis=1))
        if len(long):
            self.admit(Box(*boxes[long[0]].tolist()), f"{name}[{long[0]}]")  # says what is wrong
        width, height = sizes.max(axis=0).tolist()
        self.note((0.0, 0.0, width, height))
        return np.hstack((self.places(boxes[:, :2]), sizes))

    def check_displacement(self, dx: float, dy: float, name: str = "dx, dy") -> None:
        """Raise ``ValueError`` if a finite displacement wraps around too often."""
        wraps = not (abs(dx) <= MOST_TURNS * self._x and abs(dy) <= MOST_TURNS * self._y)
        if wraps and math.isfinite(dx) and math.isfinite(dy):
            raise ValueError(
                f"{name} = {[dx, dy]} leads around a world of period {self.period} "
                f"more than {MOST_TURNS} times; go there in several movements"
            )

    # ---- how far shapes reach

    def note(self, extent: Bounds) -> None:
        """Note how far a shape reaches; its bounds are relative to its place."""
        left, top, right, bottom = extent
        self.reach_to(np.array((-left, -top)), np.array((right, bottom)))

    def is_inner(self, bounds: Bounds) -> bool:
        """Whether no image of any body, other than the body itself, can touch these bounds."""
        if not self.periodic:
            return True
        (left, top), (right, bottom) = self.inner
        return left < bounds[0] and bounds[2] < right and top < bounds[1] and bounds[3] < bottom

    def images_of_box(self, box: Bounds) -> list[Bounds]:
        """A box moved by whole periods, wherever it may overlap a body at its place.

        One that is longer than the period meets everything there, without images.
        """
        slack = self.slack(np.array([box])).item()
        spans: list[list[tuple[float, float]]] = []
        for axis, length in enumerate((self._x, self._y)):
            low, high = box[axis] - slack, box[axis + 2] + slack
            if length == math.inf:
                spans.append([(low, high)])
            elif not high - low < length:
                spans.append([(-math.inf, math.inf)])
            else:
                first = math.ceil((low - self.high.item(axis)) / length) - 1
                last = math.floor((high + self.low.item(axis)) / length)
                shifts = [turns * length for turns in range(first, last + 1)]
                spans.append([(low - shift, high - shift) for shift in shifts])
        return [(left, top, right, bottom) for left, right in spans[0] for top, bottom in spans[1]]


def moved_columns(columns: ShapeColumns, rows: npt.NDArray[np.integer], shift: Floats) -> ShapeColumns:
    """Some shapes, displaced."""
    places = columns.x[rows] + shift[:, 0], columns.y[rows] + shift[:, 1]
    return ShapeColumns(
        *(columns.kinds[rows], *places, columns.width[rows], columns.height[rows]),
        *(columns.starts[rows], columns.counts[rows], columns.points, columns.axes),
    )


def _finite(length: float) -> float | None:
    return length if length < math.inf else None


# ---- tiles


def check_fills(tiles: TileMap, space: Space) -> None:
    """Raise ``ValueError`` if a map does not fill the world on an axis with a period."""
    left, top, right, bottom = tiles.bounds
    for axis, low, high in (("x", left, right), ("y", top, bottom)):
        length = space.lengths["xy".index(axis)]
        if length < math.inf and not (low == 0.0 and abs(high - length) <= FITS * length):
            raise ValueError(
                f"tiles = {tiles!r} reach from {low:g} to {high:g} on axis {axis}, and the world begins "
                f"again after {length:g}: give a map from 0 to {length:g}, or a world with that period"
            )
