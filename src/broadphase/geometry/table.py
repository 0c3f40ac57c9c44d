"""Many shapes of mixed kinds as columns, so that one kernel call handles thousands of them."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.geometry.narrow_phase import ContactArrays, as_pairs
from broadphase.geometry.polygons import reach_of, read_only
from broadphase.geometry.shapes import Box, Polygon, Shape, boxes_of
from broadphase.geometry.shapes import columns_of as columns_of
from broadphase.kernels.shapes.contact import contact_shapes
from broadphase.kernels.shapes.table import BOX, CIRCLE, POLYGON, ShapeColumns, bound_rows, turn_rows

_FIRST_ROOM = 16
_BY_ROW = 7  # how many of the columns have one entry a shape
_NO_ROWS = np.empty(0, np.int64)
# What is known of how a shape turns, see `ShapeTable`.
_AS_A_BOX, _AS_IT_IS = (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 2.0, 0.0)
_Turning = tuple[float, float, float, float]


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
        self.places = _empty_columns(_FIRST_ROOM)
        """As `columns`, with spare rows and no points: what kernels take that ask and move boxes only."""
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

    def __getstate__(self) -> dict[str, Any]:
        """Copies make their own ``columns``: copied, these would no longer be views of the places."""
        return {**self.__dict__, "_columns": None}

    def __len__(self) -> int:
        return len(self._shapes)

    @property
    def x(self) -> npt.NDArray[np.float64]:
        """Where each shape is; a live view until the next `append`."""
        return self.places.x[: len(self)]

    @property
    def y(self) -> npt.NDArray[np.float64]:
        """Where each shape is; a live view until the next `append`."""
        return self.places.y[: len(self)]

    @property
    def columns(self) -> ShapeColumns:
        """What kernels take; views that stay valid until the next `append` or `put`."""
        if self._columns is None:
            n, used = len(self), self._points_used
            rows = [column[:n] for column in self.places[:_BY_ROW]]
            self._columns = ShapeColumns._make([*rows, self._points[:used], self._axes[:used]])
        return self._columns

    def reserve(self, rows: int) -> None:
        """Make room for so many rows."""
        room = len(self.places.x)
        if rows <= room:
            return
        larger, turning = _empty_columns(max(rows, 2 * room)), np.zeros((max(rows, 2 * room), 4))
        for name in ShapeColumns._fields[:_BY_ROW]:
            getattr(larger, name)[:room] = getattr(self.places, name)
        turning[:room] = self._turning
        # No calls from here on: nothing can come in between.
        self.places, self._turning, self._columns = larger, turning, None

    def append(self, shape: Shape) -> int:
        """Add a shape behind the others and return its row."""
        row = len(self)
        self.put(row, shape)
        return row

    def put(self, row: int, shape: Shape) -> None:
        """Another shape in a row, or a shape in the row behind the last: altogether or not at all."""
        self.reserve(row + 1)
        self._turned.pop(row, None)
        if isinstance(shape, Polygon):
            self._put_polygon(row, shape)
        elif isinstance(shape, Box):
            self._put(row, shape, BOX, shape.width, shape.height, _AS_A_BOX)
        else:
            self._put(row, shape, CIRCLE, shape.radius, 0.0, _AS_IT_IS)

    def put_many(self, rows: npt.NDArray[np.integer[Any]], shapes: Sequence[Shape]) -> None:
        """As `put` for ascending rows, some of them behind the last; nothing may read them meanwhile."""
        if set(map(type, shapes)) != {Box}:
            for row, shape in zip(rows.tolist(), shapes, strict=True):
                self.put(row, shape)
            return
        self.reserve(int(rows[-1]) + 1)
        known = int(np.searchsorted(rows, len(self)))
        for row, shape in zip(rows[:known].tolist(), shapes, strict=False):
            self.put(row, shape)
        places, numbers = self.places, len(shapes) - known
        begin, end = len(self), len(self) + numbers
        fresh: Any = shapes[known:]
        for name in ("x", "y", "width", "height"):
            getattr(places, name)[begin:end] = np.fromiter(map(attrgetter(name), fresh), np.float64, numbers)
        places.kinds[begin:end] = BOX
        places.starts[begin:end] = places.counts[begin:end] = 0
        self._turning[begin:end] = _AS_A_BOX
        # No calls from here on: nothing can come in between.
        self._shapes += fresh
        self._columns = None

    def base(self, row: int) -> Shape:
        """The shape of a row as it was put there, not turned."""
        return self._shapes[row]

    @property
    def forms(self) -> list[Shape]:
        """The shapes by row as they are turned now, at any place; read-only."""
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
        return self.form(row).moved_to(self.places.x.item(row), self.places.y.item(row))

    def shapes(self, rows: npt.NDArray[np.integer[Any]]) -> list[Shape]:
        """The shapes of many rows, where they are now."""
        places = self.places
        if (places.kinds[rows] != BOX).any() or self._turning[rows, 3].any():
            return [self.shape(row) for row in rows.tolist()]
        return [*boxes_of(places.x[rows], places.y[rows], places.width[rows], places.height[rows])]

    def angle(self, row: int) -> float:
        """How far the shape of a row is turned, in degrees."""
        return self._turning.item(row, 3)

    def angles_of(self, rows: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """How far the shapes of many rows are turned."""
        angles: npt.NDArray[np.float64] = self._turning[rows, 3]
        return angles

    @property
    def angles(self) -> npt.NDArray[np.float64]:
        """How far each shape is turned."""
        return self._turning[: len(self), 3].copy()

    def turn(
        self, rows: npt.NDArray[np.integer[Any]], angles: npt.NDArray[np.float64], places: Any = None
    ) -> None:
        """Turn shapes about their centres, to angles in degrees that are finite, and put them to ``places``.

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
        self._turned.clear()
        columns, turning, all_rows = self.columns, self._turning, rows.astype(np.int64)
        x, y = (columns.x[rows], columns.y[rows]) if places is None else places
        # Nothing can come in between from here on: the only call is the last thing.
        columns.x[rows], columns.y[rows] = x, y
        turning[rows, 3] = angles
        turn_rows(columns, self._base, turning, all_rows, angles)

    def _give_points(self, row: int, polygon: Shape) -> None:
        """Corners for a box that is turned for the first time."""
        assert isinstance(polygon, Polygon)
        offsets, axes, count = polygon.offsets, polygon.axes, len(polygon.offsets)
        start = self._start_for(row, count)
        end, used, places = start + count, max(self._points_used, start + count), self.places
        # No calls from here on: nothing can come in between.
        self._points[start:end], self._axes[start:end], self._base[start:end] = offsets, axes, offsets
        places.starts[row], places.counts[row] = start, count
        self._turning[row] = (*polygon._middle, 1.0, 0.0)
        self._points_used, self._columns = used, None

    def _made_form(self, row: int) -> Shape:
        base = self._shapes[row]
        if not isinstance(base, Box | Polygon):
            return base
        if isinstance(base, Box) and self.places.kinds[row] == BOX:
            return base  # turned by whole turns
        room = self.places
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

    def bounds(self, rows: npt.NDArray[np.integer[Any]] | None = None) -> npt.NDArray[np.float64]:
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

    def _put(self, row: int, shape: Shape, kind: Any, width: float, height: float, turning: _Turning) -> None:
        """Write what has no points."""
        places, x, y = self.places, shape.x, shape.y
        # No calls from here on: nothing can come in between.
        self._shapes[row : row + 1] = (shape,)
        places.kinds[row], places.x[row], places.y[row] = kind, x, y
        places.width[row], places.height[row] = width, height
        places.starts[row] = places.counts[row] = 0
        self._turning[row] = turning
        self._columns = None

    def _put_polygon(self, row: int, polygon: Polygon) -> None:
        offsets, axes, count = polygon.offsets, polygon.axes, len(polygon.offsets)
        start = self._start_for(row, count)
        end, used, places = start + count, max(self._points_used, start + count), self.places
        # No calls from here on: nothing can come in between.
        self._points[start:end], self._axes[start:end], self._base[start:end] = offsets, axes, offsets
        self._shapes[row : row + 1] = (polygon,)
        places.kinds[row], places.x[row], places.y[row] = POLYGON, polygon.x, polygon.y
        places.width[row], places.height[row] = polygon.radius, 0.0
        places.starts[row], places.counts[row] = start, count
        self._turning[row] = (*polygon._middle, 2.0, 0.0)
        self._points_used, self._columns = used, None

    def _start_for(self, row: int, count: int) -> int:
        """Where so many points of a row may be written."""
        if self.places.counts.item(row) == count:  # a polygon that turns, most likely: where it is
            return self.places.starts.item(row)
        if self._points_used + count > len(self._points):
            self._gather_points(count)
        return self._points_used

    def _gather_points(self, wanted: int) -> None:
        """Move the points that are in use together, into twice the room that they and ``wanted`` need."""
        counts, starts = self.places.counts[: len(self)], self.places.starts.copy()
        points, axes, base = np.empty((3, 2 * (int(counts.sum()) + wanted), 2))
        used = 0
        for row in np.flatnonzero(counts).tolist():
            count = counts.item(row)
            own, new = slice(starts.item(row), starts.item(row) + count), slice(used, used + count)
            points[new], axes[new], base[new] = self._points[own], self._axes[own], self._base[own]
            starts[row] = used
            used += count
        places = self.places._replace(starts=starts)
        # No calls from here on: nothing can come in between.
        self.places, self._points, self._axes, self._base = places, points, axes, base
        self._points_used, self._columns = used, None


def table_of(shapes: Iterable[Shape]) -> ShapeTable:
    """A table of some shapes."""
    table = ShapeTable()
    for shape in shapes:
        table.append(shape)
    return table


def _empty_columns(rows: int) -> ShapeColumns:
    """Columns with room for so many shapes, and none for points, which are kept apart."""
    dtypes = (np.uint8, *(np.float64,) * 4, np.int64, np.int64)
    by_row = [np.zeros(rows, dtype) for dtype in dtypes]
    return ShapeColumns._make([*by_row, np.empty((0, 2)), np.empty((0, 2))])
