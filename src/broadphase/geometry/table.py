"""Many shapes of mixed kinds as columns, so that one kernel call handles thousands of them."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.geometry.polygons import reach_of, read_only
from broadphase.geometry.shapes import Box, Capsule, Polygon, Shape, boxes_of
from broadphase.geometry.shapes import columns_of as columns_of
from broadphase.kernels.shapes.table import (
    BOX,
    CIRCLE,
    POLYGON,
    ShapeColumns,
    bound_rows,
    middle_of,
    place_around,
    turn_rows,
)

_FIRST_CAPACITY = 16
_BY_ROW = 7  # how many of the columns have one entry for each shape
_NO_ROWS = np.empty(0, np.int64)
_NO_POINTS = np.empty((0, 2))
# How a shape is rotated, see `ShapeTable`.
_AS_A_BOX, _AS_IT_IS = np.array(((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 2.0, 0.0)))


class BoxRows:
    """Boxes that were put into rows at once, from an array: one becomes an object when it is first read."""

    __slots__ = ("_made", "_rows", "_sizes")

    def __init__(self, rows: npt.NDArray[np.integer[Any]], sizes: npt.NDArray[np.float64]) -> None:
        self._rows = rows
        """Ascending."""
        self._sizes = sizes
        self._made: dict[int, Box] = {}

    def at(self, row: int) -> Box:
        """The box of a row, at the origin; the same object each time."""
        box = self._made.get(row)
        if box is None:
            width, height = self._sizes[np.searchsorted(self._rows, row)].tolist()
            box = self._made[row] = Box(0.0, 0.0, width, height)
        return box


Base: TypeAlias = Shape | BoxRows
"""What was put into a row."""


def shapes_of(bases: Sequence[Base]) -> list[Shape]:
    """The shapes of the first rows, at any position."""
    return [base.at(row) if isinstance(base, BoxRows) else base for row, base in enumerate(bases)]


class ShapeTable:
    """Shapes by row number; the rows' positions are plain arrays that may be written to.

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
        self.bases: list[Base] = []
        """What was put into the rows, the same object while it is there; read-only, see `shapes_of`."""
        self.places = _empty_columns(_FIRST_CAPACITY)
        """`columns` with spare rows and without points, for kernels that query and move boxes only."""
        self._points = np.empty((0, 2))
        self._axes = np.empty((0, 2))
        self._base = np.empty((0, 2))
        """The points at angle 0."""
        self._points_used = 0
        self._turning = np.zeros((_FIRST_CAPACITY, 4))
        """By row: x and y of the centre, relative to the position; 0 for a box without points, 1 for
        one with points, 2 for any other shape; the angle."""
        self._turned: dict[int, Polygon] = {}
        """The results of `form` since the row was rotated."""
        self._columns: ShapeColumns | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Copies create their own ``columns``: copied ones would no longer be views of the positions."""
        return {**self.__dict__, "_columns": None}

    def __len__(self) -> int:
        return len(self.bases)

    @property
    def x(self) -> npt.NDArray[np.float64]:
        """The x of each shape; a live view until the next `append`."""
        return self.places.x[: len(self)]

    @property
    def y(self) -> npt.NDArray[np.float64]:
        """The y of each shape; a live view until the next `append`."""
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
        """Allocate this many rows."""
        capacity = len(self.places.x)
        if rows <= capacity:
            return
        larger, turning = _empty_columns(max(rows, 2 * capacity)), np.zeros((max(rows, 2 * capacity), 4))
        for name in ShapeColumns._fields[:_BY_ROW]:
            getattr(larger, name)[:capacity] = getattr(self.places, name)
        turning[:capacity] = self._turning
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.places, self._turning, self._columns = larger, turning, None

    def append(self, shape: Shape) -> int:
        """Append a shape and return its row."""
        row = len(self)
        self.put(row, shape)
        return row

    def put(self, row: int, shape: Base) -> None:
        """Replace the shape of a row, or append one; completely or not at all."""
        self.reserve(row + 1)
        self._turned.pop(row, None)
        known = shape.at(row) if isinstance(shape, BoxRows) else shape
        if isinstance(known, Polygon):
            self._put_polygon(row, known)
            return
        is_box = isinstance(known, Box)
        width, height = (known.width, known.height) if isinstance(known, Box) else (known.radius, 0.0)
        places, x, y = self.places, known.x, known.y
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.bases[row : row + 1] = (shape,)
        places.kinds[row], places.x[row], places.y[row] = BOX if is_box else CIRCLE, x, y
        places.width[row], places.height[row] = width, height
        places.starts[row] = places.counts[row] = 0
        self._turning[row] = _AS_A_BOX if is_box else _AS_IT_IS
        self._columns = None

    def put_many(
        self, rows: npt.NDArray[np.integer[Any]], shapes: Sequence[Shape] | npt.NDArray[np.float64]
    ) -> None:
        """`put` for ascending rows, some of them after the last; nothing may read the table meanwhile.

        An array is of boxes, ``x, y, width, height``.
        """
        bases: Sequence[Any]
        if isinstance(shapes, np.ndarray):
            boxes, bases = shapes, [BoxRows(rows, shapes[:, 2:])] * len(rows)
        elif set(map(type, shapes)) == {Box}:
            columns = [map(attrgetter(name), shapes) for name in ("x", "y", "width", "height")]
            boxes = np.column_stack([np.fromiter(column, np.float64, len(rows)) for column in columns])
            bases = shapes
        else:
            for row, shape in zip(rows.tolist(), shapes, strict=True):
                self.put(row, shape)
            return
        self.reserve(int(rows[-1]) + 1)
        known = int(np.searchsorted(rows, len(self)))
        for row, base in zip(rows[:known].tolist(), bases, strict=False):
            self._turned.pop(row, None)
            self.bases[row] = base
        places, more = self.places, bases[known:]
        places.x[rows], places.y[rows], places.width[rows], places.height[rows] = boxes.T
        places.kinds[rows] = BOX
        places.starts[rows] = places.counts[rows] = 0
        self._turning[rows] = _AS_A_BOX
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.bases += more
        self._columns = None

    def base(self, row: int) -> Shape:
        """The shape that was put into a row, not rotated."""
        base = self.bases[row]
        return base.at(row) if isinstance(base, BoxRows) else base

    @property
    def forms(self) -> list[Shape]:
        """The shapes by row as they are rotated now, at any position."""
        if not self._turning[: len(self), 3].any():
            return shapes_of(self.bases)
        return [self.form(row) for row in range(len(self))]

    def form(self, row: int) -> Shape:
        """The shape of a row as it is rotated now, at any position."""
        if self._turning.item(row, 3) == 0.0:
            return self.base(row)
        return self._turned.get(row) or self._made_form(row)

    def shape(self, row: int) -> Shape:
        """The shape of a row, where it is now."""
        places = self.places
        x, y = places.x.item(row), places.y.item(row)
        if places.kinds.item(row) == BOX:
            return Box(x, y, places.width.item(row), places.height.item(row))
        return self.form(row).moved_to(x, y)

    def shapes(self, rows: npt.NDArray[np.integer[Any]]) -> list[Shape]:
        """The shapes of many rows, where they are now."""
        places = self.places
        if (places.kinds[rows] != BOX).any() or self._turning[rows, 3].any():
            return [self.shape(row) for row in rows.tolist()]
        return [*boxes_of(places.x[rows], places.y[rows], places.width[rows], places.height[rows])]

    def angle(self, row: int) -> float:
        """The angle of the shape of a row, in degrees."""
        return self._turning.item(row, 3)

    def angles_of(self, rows: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """The angles of the shapes of many rows."""
        angles: npt.NDArray[np.float64] = self._turning[rows, 3]
        return angles

    def center(self, row: int) -> tuple[float, float]:
        """The middle of the shape of a row: as ``shape(row).center``, without making the shape."""
        middle: tuple[float, float] = middle_of(self.places, self._turning, row)
        return middle

    def place_around(self, row: int, x: float, y: float) -> tuple[float, float]:
        """Where the shape of a row is placed if its middle is at ``x, y``."""
        place: tuple[float, float] = place_around(self.places, self._turning, row, x, y)
        return place

    def centers(self, rows: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """``(m, 2)``: the middles of the shapes of many rows."""
        x, y, width, height = (column[rows] for column in self.places[1:5])
        middles, plain = self._turning[rows, :2], self._turning[rows, 2] == 0.0
        middles[plain] = 0.5 * np.column_stack((width, height))[plain]
        centers: npt.NDArray[np.float64] = np.column_stack((x, y)) + middles
        return centers

    @property
    def angles(self) -> npt.NDArray[np.float64]:
        """The angle of each shape."""
        return self._turning[: len(self), 3].copy()

    def turn(
        self, rows: npt.NDArray[np.integer[Any]], angles: npt.NDArray[np.float64], places: Any = None
    ) -> None:
        """Rotate shapes about their centres, to finite angles in degrees, and put them to ``places``.

        Raises
        ------
        ValueError
            A shape is a box without width or height; nothing has changed.

        Examples
        --------
        >>> from broadphase import Box
        >>> table = table_of([Box(0, 0, 4, 2)])
        >>> table.turn(np.array([0]), np.array([90.0]))
        >>> table.bounds(), table.shape(0).bounds
        (array([[ 1., -1.,  3.,  3.]]), (1.0, -1.0, 3.0, 3.0))
        """
        boxes = rows[self._turning[rows, 2] == 0.0].tolist()
        polygons = {row: self.base(row).rotated(0.0) for row in boxes}
        for row, polygon in polygons.items():
            self._put_polygon(row, polygon, is_box=True)
        self._turned.clear()
        columns, turning, all_rows = self.columns, self._turning, rows.astype(np.int64)
        x, y = (columns.x[rows], columns.y[rows]) if places is None else places
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        columns.x[rows], columns.y[rows] = x, y
        turning[rows, 3] = angles
        turn_rows(columns, self._base, turning, all_rows, angles)

    def _made_form(self, row: int) -> Shape:
        base = self.base(row)
        if not isinstance(base, Box | Polygon):
            return base
        if isinstance(base, Box) and self.places.kinds[row] == BOX:
            return base  # rotated by whole turns
        places = self.places
        region = slice(places.starts.item(row), places.starts.item(row) + places.counts.item(row))
        middle = self._turning.item(row, 0), self._turning.item(row, 1)
        kind = Capsule if isinstance(base, Capsule) else Polygon
        offsets, axes = read_only(self._points[region].copy(), self._axes[region].copy())
        form = object.__new__(kind)._fill(
            *(base.x, base.y, offsets, axes, places.width.item(row), reach_of(offsets), middle)
        )
        self._turned[row] = form
        return form

    def bounds(self, rows: npt.NDArray[np.integer[Any]] | None = None) -> npt.NDArray[np.float64]:
        """``(n, 4)``: the bounding boxes of all shapes, or of some."""
        out = np.empty((len(self) if rows is None else len(rows), 4))
        if len(out):
            bound_rows(self.columns, _NO_ROWS if rows is None else np.asarray(rows, np.int64), out)
        return out

    def _put_polygon(self, row: int, polygon: Shape, is_box: bool = False) -> None:
        """Put a polygon into a row, or give the box there, rotated for the first time, its corners."""
        assert isinstance(polygon, Polygon)
        offsets, axes, count = polygon.offsets, polygon.axes, len(polygon.offsets)
        start = self.places.starts.item(row)
        if self.places.counts.item(row) != count:  # else probably a polygon that rotates: it keeps its place
            if self._points_used + count > len(self._points):
                self._gather_points(count)
            start = self._points_used
        end, used, places = start + count, max(self._points_used, start + count), self.places
        base: Base = polygon
        kind, x, y, width, height = POLYGON, polygon.x, polygon.y, polygon.radius, 0.0
        if is_box:
            columns = (places.x, places.y, places.width, places.height)
            base, kind, (x, y, width, height) = self.bases[row], BOX, (one.item(row) for one in columns)
        turning = np.array((*polygon._middle, 1.0 if is_box else 2.0, 0.0))
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self._points[start:end], self._axes[start:end], self._base[start:end] = offsets, axes, offsets
        self.bases[row : row + 1] = (base,)
        places.kinds[row], places.x[row], places.y[row] = kind, x, y
        places.width[row], places.height[row] = width, height
        places.starts[row], places.counts[row] = start, count
        self._turning[row] = turning
        self._points_used, self._columns = used, None

    def _gather_points(self, wanted: int) -> None:
        """Move the points in use into a block twice as large as they and ``wanted`` need."""
        counts, starts = self.places.counts[: len(self)], self.places.starts.copy()
        points, axes, base = np.empty((3, 2 * (int(counts.sum()) + wanted), 2))
        used = 0
        for row in np.flatnonzero(counts).tolist():
            count = counts.item(row)
            old, new = slice(starts.item(row), starts.item(row) + count), slice(used, used + count)
            points[new], axes[new], base[new] = self._points[old], self._axes[old], self._base[old]
            starts[row] = used
            used += count
        places = self.places._replace(starts=starts)
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.places, self._points, self._axes, self._base = places, points, axes, base
        self._points_used, self._columns = used, None


def table_of(shapes: Iterable[Shape]) -> ShapeTable:
    """A table of some shapes."""
    table = ShapeTable()
    for shape in shapes:
        table.append(shape)
    return table


def plain_columns(kind: np.uint8, places: npt.NDArray[np.float64], width: Any, height: Any) -> ShapeColumns:
    """Boxes or circles as kernels take them."""
    none, columns = np.zeros(len(places), np.int64), np.empty((4, len(places)))
    columns[:2], columns[2], columns[3] = places.T, width, height
    kinds = np.full(len(places), kind)
    return ShapeColumns._make((kinds, *columns, none, none, _NO_POINTS, _NO_POINTS))


def _empty_columns(rows: int) -> ShapeColumns:
    """Columns for this many shapes, and none for points, which are stored separately."""
    dtypes = (np.uint8, *(np.float64,) * 4, np.int64, np.int64)
    by_row = [np.zeros(rows, dtype) for dtype in dtypes]
    return ShapeColumns._make([*by_row, np.empty((0, 2)), np.empty((0, 2))])
