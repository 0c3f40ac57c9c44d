"""Many shapes of mixed kinds as columns, so that one kernel call serves thousands of them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.kernels.shapes.bounds import bound_rows
from broadphase.kernels.shapes.contact_rows import contact_shapes
from broadphase.kernels.shapes.table import BOX, CIRCLE, POLYGON, ShapeColumns
from broadphase.kernels.shapes.turn import turn_rows
from broadphase.shapes.columns import columns_of as columns_of
from broadphase.shapes.kinds import Box, Polygon, Shape
from broadphase.shapes.narrow_phase import ContactArrays, as_pairs
from broadphase.shapes.outline import reach_of, read_only

_FIRST_ROOM = 16
_BY_ROW = 7  # how many of the columns have one entry a shape
_NO_ROWS = np.empty(0, np.int64)


class ShapeTable:
    """Shapes by row number; the rows' places are plain arrays that may be written to.

    Examples
    --------
    >>> from broadphase import Box, Circle
    >>> table = ShapeTable()
    >>> table.append(Box(0, 0, 2, 2)), table.append(Circle(3, 1, 2))
    (0, 1)
    >>> table.x[0] = -5
    >>> table.bounds()
    array([[-5.,  0., -3.,  2.],
           [ 1., -1.,  5.,  3.]])
    """

    def __init__(self) -> None:
        self._shapes: list[Shape] = []
        self._room = _rooms(_FIRST_ROOM)
        self._points = np.empty((0, 2))
        self._axes = np.empty((0, 2))
        self._base = np.empty((0, 2))
        """The points as they are at angle 0."""
        self._points_used = 0
        self._turning = np.zeros((_FIRST_ROOM, 4))
        """By row: x and y of the centre, seen from the place; 0 for a box without points, 1 for
        one with points, 2 for what is no box; the angle."""
        self._turned: dict[int, Polygon] = {}
        """What `form` has made since the row was turned."""
        self._columns: ShapeColumns | None = None

    def __len__(self) -> int:
        return len(self._shapes)

    @property
    def x(self) -> npt.NDArray[np.float64]:
        """Where each shape is; a live view until the next `append`."""
        return self._room.x[: len(self)]

    @property
    def y(self) -> npt.NDArray[np.float64]:
        """Where each shape is; a live view until the next `append`."""
        return self._room.y[: len(self)]

    @property
    def columns(self) -> ShapeColumns:
        """What kernels take; views that stay valid until the next `append` or `put`."""
        if self._columns is None:
            n, used = len(self), self._points_used
            rows = [column[:n] for column in self._room[:_BY_ROW]]
            self._columns = ShapeColumns._make([*rows, self._points[:used], self._axes[:used]])
        return self._columns

    @property
    def places(self) -> ShapeColumns:
        """As `columns`, with spare rows and no points: what kernels take that ask and move boxes only."""
        return self._room

    def append(self, shape: Shape) -> int:
        """Add a shape behind the others and return its row."""
        row = len(self)
        if row == len(self._room.x):
            larger = _rooms(2 * row)
            for name in ShapeColumns._fields[:_BY_ROW]:
                getattr(larger, name)[:row] = getattr(self._room, name)
            self._room = larger
            self._turning = np.vstack((self._turning, np.zeros_like(self._turning)))
        self._shapes.append(shape)
        self._write(row, shape)
        return row

    def put(self, row: int, shape: Shape) -> None:
        """Another shape in a row."""
        self._shapes[row] = shape
        self._write(row, shape)

    def base(self, row: int) -> Shape:
        """The shape of a row as it was put there, not turned."""
        return self._shapes[row]

    @property
    def forms(self) -> list[Shape]:
        """The shapes by row as they are turned now, at any place; nobody writes to it."""
        if not self._turning[: len(self), 3].any():
            return self._shapes
        return [self.form(row) for row in range(len(self))]

    def form(self, row: int) -> Shape:
        """The shape of a row as it is turned now, at any place."""
        if self._turning.item(row, 3) == 0.0:
            return self._shapes[row]
        return self._turned.get(row) or self._made_form(row)

    def shape(self, row: int) -> Shape:
        """The shape of a row, where it is now."""
        return self.form(row).moved_to(self._room.x.item(row), self._room.y.item(row))

    def angle(self, row: int) -> float:
        """How far the shape of a row is turned, in degrees."""
        return self._turning.item(row, 3)

    @property
    def angles(self) -> npt.NDArray[np.float64]:
        """How far each shape is turned."""
        return self._turning[: len(self), 3].copy()

    def turn(self, rows: npt.NDArray[np.integer[Any]], angles: npt.NDArray[np.float64]) -> None:
        """Turn shapes about their centres, to angles in degrees that are finite.

        Raises
        ------
        ValueError
            One is a box without width or height; nothing has changed.

        Examples
        --------
        >>> from broadphase import Box
        >>> table = table_of([Box(0, 0, 4, 2)])
        >>> table.turn(np.array([0]), np.array([90.0]))
        >>> table.bounds(), table.shape(0).bounds
        (array([[ 1., -1.,  3.,  3.]]), (1.0, -1.0, 3.0, 3.0))
        """
        boxes = rows[self._turning[rows, 2] == 0.0].tolist()
        polygons = {row: self._shapes[row].rotated(0.0) for row in boxes}
        for row, polygon in polygons.items():
            self._give_points(row, polygon)
        self._turning[rows, 3] = angles
        self._turned.clear()
        turn_rows(self.columns, self._base, self._turning, rows.astype(np.int64), angles)

    def _give_points(self, row: int, polygon: Shape) -> None:
        """Corners for a box that is turned for the first time."""
        assert isinstance(polygon, Polygon)
        self._columns = None
        self._write_points(row, polygon)
        self._turning[row] = (*polygon._middle, 1.0, 0.0)

    def _made_form(self, row: int) -> Shape:
        base = self._shapes[row]
        if not isinstance(base, Box | Polygon):
            return base
        if isinstance(base, Box) and self._room.kinds[row] == BOX:
            return base  # turned by whole turns
        room = self._room
        at = slice(room.starts.item(row), room.starts.item(row) + room.counts.item(row))
        middle = self._turning.item(row, 0), self._turning.item(row, 1)
        kind = base._when_turned if isinstance(base, Polygon) else Polygon
        offsets, axes = read_only(self._points[at].copy(), self._axes[at].copy())
        form = object.__new__(kind)._fill(
            *(base.x, base.y, offsets, axes, room.width.item(row), reach_of(offsets), middle)
        )
        self._turned[row] = form
        return form

    def one(self, row: int) -> ShapeColumns:
        """A table of its own for one shape, where it is now: what movement kernels push about."""
        return table_of([self.shape(row)]).columns

    def bounds(self, rows: npt.NDArray[np.integer[Any]] | None = None) -> BoxArray:
        """``(n, 4)``: the bounding boxes of all shapes, or of some."""
        out = np.empty((len(self) if rows is None else len(rows), 4))
        if len(out):
            bound_rows(self.columns, _NO_ROWS if rows is None else np.asarray(rows, np.int64), out)
        return out

    def contacts(self, pairs: Any, *, touching: bool = False) -> ContactArrays:
        """Contacts of row with row, as in `contact`; see `contact_boxes` for the form of the answer.

        The bounding boxes are taken to overlap: that is what a broad phase has found out.
        """
        rows = as_pairs(pairs, len(self), len(self))
        count = len(rows)
        found = ContactArrays(np.zeros(count, np.bool_), np.zeros((count, 2)), np.zeros(count))
        contact_shapes(self.columns, rows, bool(touching), *found)
        return found

    def _write(self, row: int, shape: Shape) -> None:
        room, self._columns = self._room, None
        room.x[row], room.y[row] = shape.x, shape.y
        room.width[row] = room.height[row] = 0.0
        self._turning[row] = 0.0
        self._turned.pop(row, None)
        if isinstance(shape, Polygon):
            room.kinds[row] = POLYGON
            room.width[row] = shape.radius
            self._turning[row, :3] = *shape._middle, 2.0
            self._write_points(row, shape)
            return
        room.starts[row] = room.counts[row] = 0
        if isinstance(shape, Box):
            room.kinds[row] = BOX
            room.width[row], room.height[row] = shape.width, shape.height
        else:
            room.kinds[row] = CIRCLE
            room.width[row] = shape.radius
            self._turning[row, 2] = 2.0

    def _write_points(self, row: int, polygon: Polygon) -> None:
        room, count = self._room, len(polygon.offsets)
        if room.counts[row] == count:  # a polygon that turns, most likely: in the place that it has
            start = int(room.starts[row])
        else:
            if self._points_used + count > len(self._points):
                self._drop_unused_points(row, count)
            start = self._points_used
            self._points_used += count
            room.starts[row], room.counts[row] = start, count
        self._points[start : start + count] = polygon.offsets
        self._axes[start : start + count] = polygon.axes
        self._base[start : start + count] = polygon.offsets

    def _drop_unused_points(self, row: int, wanted: int) -> None:
        """Move the points that are in use together, into twice the room that they and ``wanted`` need."""
        room = self._room
        room.counts[row] = 0
        in_use = int(room.counts[: len(self)].sum()) + wanted
        points, axes, base = np.empty((3, 2 * in_use, 2))
        used = 0
        for other in np.flatnonzero(room.counts[: len(self)]):
            start, count = room.starts[other], room.counts[other]
            points[used : used + count] = self._points[start : start + count]
            axes[used : used + count] = self._axes[start : start + count]
            base[used : used + count] = self._base[start : start + count]
            room.starts[other] = used
            used += count
        self._points, self._axes, self._base, self._points_used = points, axes, base, int(used)


def table_of(shapes: Iterable[Shape]) -> ShapeTable:
    """A table of some shapes."""
    table = ShapeTable()
    for shape in shapes:
        table.append(shape)
    return table


def _rooms(rows: int) -> ShapeColumns:
    """Columns with room for so many shapes, and none for points, which are kept apart."""
    dtypes = (np.uint8, *(np.float64,) * 4, np.int64, np.int64)
    by_row = [np.zeros(rows, dtype) for dtype in dtypes]
    return ShapeColumns._make([*by_row, np.empty((0, 2)), np.empty((0, 2))])
