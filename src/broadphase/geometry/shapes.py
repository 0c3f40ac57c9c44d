"""Box, circle and convex polygon: immutable values; moving one makes a copy.

All lengths are in the caller's own unit, and y may point up or down: the code does not depend on it.
"""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Self, TypeAlias, overload

import numpy as np

from broadphase.geometry.polygons import convex_parts, corners_of, form_of, middle_of, reach_of, read_only
from broadphase.inputs.arrays import rectangle_of
from broadphase.inputs.numeric import real
from broadphase.kernels.shapes.table import BOX, CIRCLE, POLYGON, ShapeColumns, cosine_sine, turn_points
from broadphase.runtime.arrays import Floats

# -----------------------------------------------------------------------------------------------------------
# Single numbers from the caller, checked once.


_EXACT = 1 << 53  # each int below is a float


def finite(value: Any, name: str) -> float:
    """``value`` as a finite float.

    Raises
    ------
    TypeError
        It is not a real number.
    ValueError
        It is NaN or infinite.

    Examples
    --------
    >>> finite(3, "x")
    3.0
    """
    if type(value) is float and math.isfinite(value):  # nearly all values, in a fifth of the time
        return value
    if type(value) is int and -_EXACT < value < _EXACT:
        return float(value)
    number = real(value, name)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {number}")
    return number


def two(value: Any, name: str) -> tuple[float, float]:
    """A point as two finite floats; errors as for `finite`."""
    try:
        x, y = value
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be two real numbers; got {value!r}") from None
    return finite(x, name), finite(y, name)


def extent(value: Any, name: str) -> float:
    """``value`` as a finite float that is not negative; errors as for `finite`."""
    number = finite(value, name)
    if number < 0.0:
        raise ValueError(f"{name} must not be negative; got {number:g}")
    return number


Bounds: TypeAlias = tuple[float, float, float, float]
"""``min_x, min_y, max_x, max_y``."""

_Point: TypeAlias = tuple[float, float]
_set = object.__setattr__


@dataclass(frozen=True, slots=True, init=False)
class Box:
    """An axis-aligned box, placed by its min corner.

    Parameters
    ----------
    x, y : float
        The corner with the smallest coordinates.
    width, height : float
        Not negative; a box without width or height is legal.

    Instead of four numbers it takes one rectangle: a ``Rect`` or ``FRect`` of pygame, a ``Rect`` of arcade,
    or a sprite that has one.

    Raises
    ------
    TypeError
        An argument is not a real number.
    ValueError
        An argument is NaN, infinite or a negative length, or the far edge is beyond the range of float64.

    Examples
    --------
    >>> Box(1, 2, 10, 20).bounds
    (1.0, 2.0, 11.0, 22.0)
    """

    x: float
    y: float
    width: float
    height: float

    @overload
    def __init__(self, x: float, y: float, width: float, height: float) -> None: ...
    @overload
    def __init__(self, x: Any) -> None: ...
    def __init__(self, x: Any, y: Any = None, width: Any = None, height: Any = None) -> None:
        if y is None and width is None and height is None:
            rect = rectangle_of(x)
            if rect is None:
                raise TypeError(f"Box takes x, y, width, height, or one rectangle; got {x!r}")
            x, y, width, height = rect
        elif height is None:
            raise TypeError(f"Box takes x, y, width, height, or one rectangle; got {(x, y, width)}")
        if not (
            type(x) is type(y) is type(width) is type(height) is float
            and width >= 0.0
            and height >= 0.0
            and math.isfinite(x + width)
            and math.isfinite(y + height)
        ):  # something to convert, or to refuse; a finite sum has finite parts
            x, y = finite(x, "x"), finite(y, "y")
            width, height = extent(width, "width"), extent(height, "height")
            _check_bounds((x, y, x + width, y + height))
        _set(self, "x", x)
        _set(self, "y", y)
        _set(self, "width", width)
        _set(self, "height", height)

    @staticmethod
    def from_center(center: Any, *size: float) -> "Box":
        """A box around a point: ``((x, y), width, height)`` or ``(x, y, width, height)``.

        Examples
        --------
        >>> Box.from_center((10, 10), 4, 2), Box.from_center(10, 10, 4, 2)
        (Box(x=8.0, y=9.0, width=4.0, height=2.0), Box(x=8.0, y=9.0, width=4.0, height=2.0))
        """
        if len(size) == 3:
            center, size = (center, size[0]), size[1:]
        if len(size) != 2:
            raise TypeError(f"from_center takes a center, a width and a height; got {(center, *size)}")
        x, y = two(center, "center")
        width, height = size
        width, height = extent(width, "width"), extent(height, "height")
        return Box(x - 0.5 * width, y - 0.5 * height, width, height)

    @property
    def bounds(self) -> Bounds:
        """The edges of the box."""
        return self.x, self.y, self.x + self.width, self.y + self.height

    @property
    def center(self) -> tuple[float, float]:
        """The centre."""
        return self.x + 0.5 * self.width, self.y + 0.5 * self.height

    def moved_to(self, x: float, y: float) -> "Box":
        """The same box at another position."""
        return Box(x, y, self.width, self.height)

    def rotated(self, angle: float, about: tuple[float, float] | None = None) -> "Polygon":
        """The box rotated, as a polygon; see `Polygon.rotated`.

        Raises
        ------
        ValueError
            The box has no width or no height, so there is no such polygon.

        Examples
        --------
        >>> Box(0, 0, 4, 2).rotated(90).bounds
        (1.0, -1.0, 3.0, 3.0)
        """
        if not (self.width > 0.0 and self.height > 0.0):
            raise ValueError(f"{self} can not be turned: it needs a width and a height")
        # The corners relative to the position, which rounds nothing: rotated back, it is this box again.
        polygon = Polygon([(0.0, 0.0), (self.width, 0.0), (self.width, self.height), (0.0, self.height)])
        _set(polygon, "_middle", (0.5 * self.width, 0.5 * self.height))
        return polygon.moved_to(self.x, self.y).rotated(angle, about)


def boxes_of(*columns: Floats) -> list[Box]:
    """Boxes from their columns, which are valid: all at once, in a tenth of the time of one by one.

    Examples
    --------
    >>> boxes_of(*np.array([[1.0], [2.0], [10.0], [20.0]]))
    [Box(x=1.0, y=2.0, width=10.0, height=20.0)]
    """
    boxes = list(map(object.__new__, repeat(Box, len(columns[0]))))
    for name, column in zip(("x", "y", "width", "height"), columns, strict=True):
        deque(map(getattr(Box, name).__set__, boxes, column.tolist()), 0)
    return boxes


@dataclass(frozen=True, slots=True, init=False)
class Circle:
    """A circle, placed by its centre.

    Parameters
    ----------
    x, y : float
        The centre; or one point for both, a ``Vector2`` or a tuple: ``Circle((x, y), radius)``.
    radius : float
        Not negative; a circle without radius is a point.

    Raises
    ------
    TypeError, ValueError
        As for `Box`.

    Examples
    --------
    >>> Circle(0, 0, 5).bounds
    (-5.0, -5.0, 5.0, 5.0)
    >>> Circle((2, 3), 1), Circle((2, 3), radius=1)
    (Circle(x=2.0, y=3.0, radius=1.0), Circle(x=2.0, y=3.0, radius=1.0))
    """

    x: float
    y: float
    radius: float

    @overload
    def __init__(self, x: float, y: float, radius: float) -> None: ...
    @overload
    def __init__(self, x: Any, y: float) -> None: ...
    @overload
    def __init__(self, x: Any, *, radius: float) -> None: ...
    def __init__(self, x: Any, y: Any = None, radius: Any = None) -> None:
        if type(x) is not float and np.ndim(x) == 1:  # a point, then the radius
            (x, y), radius = two(x, "center"), y if radius is None else radius
        if not (
            type(x) is type(y) is type(radius) is float
            and radius >= 0.0
            and math.isfinite(abs(x) + radius)
            and math.isfinite(abs(y) + radius)
        ):  # something to convert, or to refuse; a finite sum has finite parts
            x, y, radius = finite(x, "x"), finite(y, "y"), extent(radius, "radius")
            _check_bounds((x - radius, y - radius, x + radius, y + radius))
        _set(self, "x", x)
        _set(self, "y", y)
        _set(self, "radius", radius)

    @property
    def bounds(self) -> Bounds:
        """The smallest box around the circle."""
        return self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius

    @property
    def center(self) -> tuple[float, float]:
        """The centre."""
        return self.x, self.y

    def moved_to(self, x: float, y: float) -> "Circle":
        """The same circle at another position."""
        return Circle(x, y, self.radius)

    def rotated(self, angle: float, about: tuple[float, float] | None = None) -> "Circle":
        """The circle rotated about a point, see `Polygon.rotated`; about its own centre nothing changes.

        Examples
        --------
        >>> Circle(2, 0, 1).rotated(90, about=(0, 0))
        Circle(x=0.0, y=2.0, radius=1.0)
        """
        degrees = finite(angle, "angle")
        if about is None:
            return self
        x, y = turned_point((self.x, self.y), degrees, about)
        return Circle(x, y, self.radius)


class Polygon:
    """A convex polygon, placed by its first point.

    The other points are stored relative to the first, so that a polygon that moves far keeps its shape.

    Parameters
    ----------
    points : iterable of (float, float)
        At least three corners in order, in either direction; a last point equal to the first is
        dropped, so closed rings are accepted.  A corner may lie on a straight side.
    radius : float
        How far the polygon is grown: its corners become round; see also `RoundedBox` and `Capsule`.

    Raises
    ------
    TypeError
        The points are not pairs of real numbers.
    ValueError
        There are fewer than three, two neighbours are equal, all lie on a line, a side crosses another,
        or a corner turns inwards; the message names the corner.  The radius is negative.

    Examples
    --------
    >>> Polygon([(0, 0), (4, 0), (4, 3)]).bounds
    (0.0, 0.0, 4.0, 3.0)
    >>> Polygon([(0, 0), (4, 0), (4, 3)], radius=0.5).bounds
    (-0.5, -0.5, 4.5, 3.5)
    """

    __slots__ = ("_middle", "axes", "extent", "offsets", "radius", "x", "y")

    x: float
    y: float
    offsets: Floats
    """``(n, 2)``: the points relative to its position, counter-clockwise if y points up."""
    axes: Floats
    """``(n, 2)``: the normal of the side that begins at each point, of any length."""
    radius: float
    extent: Bounds
    """The smallest box around the polygon, relative to its position."""
    _middle: _Point

    def __init__(self, points: Iterable[Any], *, radius: float = 0.0) -> None:
        # In plain floats: for the few corners of a shape, each NumPy call would cost more than all of this.
        xs, ys = corners_of(points)
        x, y = xs[0], ys[0]
        offsets, axes, reach = form_of([other - x for other in xs], [other - y for other in ys])
        self._fill(x, y, offsets, axes, extent(radius, "radius"), reach, middle_of(offsets, reach))

    def _fill(
        self, x: float, y: float, offsets: Floats, axes: Floats, radius: float, reach: Bounds, middle: _Point
    ) -> Self:
        """Set all attributes; ``reach`` is the box around the points, relative to the position."""
        left, top, right, bottom = reach
        _set(self, "x", x)
        _set(self, "y", y)
        _set(self, "offsets", offsets)
        _set(self, "axes", axes)
        _set(self, "radius", radius)
        _set(self, "extent", (left - radius, top - radius, right + radius, bottom + radius))
        _set(self, "_middle", middle)
        _check_bounds(self.bounds)
        return self

    def _turn(
        self, x: float, y: float, corners: Floats, degrees: float, radius: float, middle: _Point
    ) -> Self:
        """Set all attributes, from corners relative to the position that are turned about the middle."""
        offsets, axes = np.empty_like(corners), np.empty_like(corners)
        turn_points(corners, *middle, degrees, offsets, axes)
        return self._fill(x, y, *read_only(offsets, axes), radius, reach_of(offsets), middle)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a {type(self).__name__} is never changed; use moved_to() for one at another place ({name})"
        )

    @staticmethod
    def convex_parts(points: Iterable[Any]) -> "list[Polygon]":
        """Cut a polygon that may be concave into convex ones, which only touch each other.

        Parameters
        ----------
        points : iterable of (float, float)
            At least three corners in order, in either direction, as of `Polygon`; no holes.  Corners on
            straight sides are left out.

        Returns
        -------
        list of Polygon
            One where it is convex; at most four times as many as are needed.

        Raises
        ------
        TypeError
            The points are not pairs of real numbers.
        ValueError
            There are fewer than three, or more than 1,000 and it is concave; all lie on a line; or its
            outline crosses or touches itself.

        Examples
        --------
        >>> corner = [(0, 0), (4, 0), (4, 2), (2, 2), (2, 4), (0, 4)]
        >>> [part.bounds for part in Polygon.convex_parts(corner)]
        [(0.0, 0.0, 4.0, 2.0), (0.0, 0.0, 2.0, 4.0)]
        """
        return [Polygon(part) for part in convex_parts([*zip(*corners_of(points), strict=True)])]

    @property
    def points(self) -> Floats:
        """``(n, 2)``: the corners from the first one on, counter-clockwise if y points up."""
        points: Floats = self.offsets + np.array([self.x, self.y])
        return points

    @property
    def bounds(self) -> Bounds:
        """The smallest box around the polygon."""
        left, top, right, bottom = self.extent
        return self.x + left, self.y + top, self.x + right, self.y + bottom

    @property
    def center(self) -> tuple[float, float]:
        """The centre of mass, about which it rotates."""
        return self.x + self._middle[0], self.y + self._middle[1]

    def moved_to(self, x: float, y: float) -> Self:
        """The same polygon at another position."""
        moved = object.__new__(type(self))
        _set(moved, "x", finite(x, "x"))
        _set(moved, "y", finite(y, "y"))
        for name in ("offsets", "axes", "radius", "extent", "_middle"):
            _set(moved, name, getattr(self, name))
        _check_bounds(moved.bounds)
        return moved

    def rotated(self, angle: float, about: tuple[float, float] | None = None) -> "Polygon":
        """The polygon rotated.

        Its position stays: ``x, y`` are where its first point would be if it were not rotated, so that a
        shape that rotates about its centre does not appear to move.

        Parameters
        ----------
        angle : float
            In degrees, from x towards y: clockwise on a screen, where y points down.  Quarter turns are
            exact.
        about : (float, float), optional
            A fixed point; by default its centre.

        Returns
        -------
        Polygon

        Raises
        ------
        TypeError, ValueError
            The angle or the point is not a finite number.

        Examples
        --------
        >>> Polygon([(0, 0), (3, 0), (0, 3)]).rotated(90).points.tolist()
        [[2.0, 0.0], [2.0, 3.0], [-1.0, 0.0]]
        >>> Polygon([(0, 0), (3, 0), (0, 3)]).rotated(180, about=(0, 0)).bounds
        (-3.0, -3.0, 0.0, 0.0)
        """
        degrees = finite(angle, "angle")
        x, y = self.x, self.y
        if about is not None:
            center = self.center
            to_x, to_y = turned_point(center, degrees, about)
            x, y = x + (to_x - center[0]), y + (to_y - center[1])
        kind = Capsule if isinstance(self, Capsule) else Polygon
        return object.__new__(kind)._turn(x, y, self.offsets, degrees, self.radius, self._middle)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Polygon):
            return NotImplemented
        same_place = self.x == other.x and self.y == other.y and self.radius == other.radius
        return same_place and np.array_equal(self.offsets, other.offsets)

    def __hash__(self) -> int:
        return hash((self.x, self.y, self.radius, (self.offsets + 0.0).tobytes()))

    def __repr__(self) -> str:
        grown = f", radius={self.radius:g}" if self.radius else ""
        return f"Polygon({[tuple(point) for point in self.points.tolist()]}{grown})"

    def __reduce__(self) -> tuple[Any, ...]:
        form = self.offsets, self.axes, self.radius, reach_of(self.offsets), self._middle
        return _polygon_from, (type(self), self.x, self.y, *form)


Shape: TypeAlias = Box | Circle | Polygon


def known_shape(value: Any) -> Shape | None:
    """A shape, that of a body, or a rectangle of another library as a box; None for anything else."""
    if isinstance(value, (Box, Circle, Polygon)):
        return value
    if hasattr(type(value), "shape") and isinstance(shape := value.shape, (Box, Circle, Polygon)):
        return shape
    return None if rectangle_of(value) is None else Box(value)


def as_known_shape(value: Any, name: str) -> Shape:
    """`known_shape`, which raises ``TypeError`` for anything else."""
    shape = known_shape(value)
    if shape is None:
        raise TypeError(f"{name} must be a Box, Circle or Polygon, a body or a rectangle; got {value!r}")
    return shape


def _polygon_from(kind: type[Polygon], x: float, y: float, *form: Any) -> Polygon:
    offsets, axes, *rest = form
    return object.__new__(kind)._fill(x, y, *read_only(offsets, axes), *rest)


def turned_point(
    point: tuple[float, float], degrees: float, about: tuple[float, float]
) -> tuple[float, float]:
    """Rotate a point.

    Examples
    --------
    >>> turned_point((3.0, 1.0), 90.0, (1, 1))
    (1.0, 3.0)
    """
    x, y = two(about, "about")
    cosine, sine = cosine_sine(degrees)
    dx, dy = point[0] - x, point[1] - y
    return x + (dx * cosine - dy * sine), y + (dx * sine + dy * cosine)


def _check_bounds(bounds: Bounds) -> None:
    # A finite sum has finite parts; if it overflows although they are finite, test each.
    if not math.isfinite(sum(bounds)) and not all(map(math.isfinite, bounds)):
        raise ValueError(f"the shape reaches beyond the range of float64: bounds {bounds}")


# -----------------------------------------------------------------------------------------------------------
# Shapes with round corners: polygons that are grown by a radius.


class Capsule(Polygon):
    """A line grown by a radius, for characters and bullets.  Placed by its first end.

    Parameters
    ----------
    x, y, to_x, to_y : float
        The two ends of the line, which must differ.
    radius : float
        Not negative; a capsule of radius 0 is a segment, which a `World` does not take.

    Raises
    ------
    TypeError
        An argument is not a real number.
    ValueError
        An argument is NaN or infinite, the radius is negative, or the ends are the same.

    Examples
    --------
    >>> Capsule(0, 0, 0, 10, 3).bounds
    (-3.0, -3.0, 3.0, 13.0)
    >>> Capsule(0, 0, 0, 10, 3).rotated(90).ends
    ((5.0, 5.0), (-5.0, 5.0))
    """

    __slots__ = ()

    def __init__(self, x: float, y: float, to_x: float, to_y: float, radius: float) -> None:
        x, y, grown = finite(x, "x"), finite(y, "y"), extent(radius, "radius")
        dx, dy = finite(to_x, "to_x") - x, finite(to_y, "to_y") - y
        if dx == 0.0 and dy == 0.0:
            raise ValueError(
                f"both ends of the capsule are {x:g}, {y:g}; use Circle({x:g}, {y:g}, {grown:g})"
            )
        self._turn(x, y, np.array([(0.0, 0.0), (dx, dy)]), 0.0, grown, (0.5 * dx, 0.5 * dy))

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The two ends of its line."""
        (ax, ay), (bx, by) = self.points.tolist()
        return (ax, ay), (bx, by)

    def __repr__(self) -> str:
        (x, y), (to_x, to_y) = self.ends
        return f"Capsule(x={x!r}, y={y!r}, to_x={to_x!r}, to_y={to_y!r}, radius={self.radius!r})"


class RoundedBox(Polygon):
    """A box whose corners are quarters of a circle.  Placed by the min corner of its bounds.

    Parameters
    ----------
    x, y, width, height : float
        As for `Box`: the bounds.
    radius : float
        Positive, and at most half of the width and half of the height.

    Raises
    ------
    TypeError
        An argument is not a real number.
    ValueError
        An argument is NaN or infinite, or the radius is too large or not positive.

    Examples
    --------
    >>> import broadphase as bp
    >>> box = RoundedBox(0, 0, 10, 10, 3)
    >>> box.bounds, bp.overlap(box, bp.Box(-5, -5, 5.5, 5.5)), bp.overlap(box, bp.Box(-5, -5, 6, 6))
    ((0.0, 0.0, 10.0, 10.0), False, True)
    """

    __slots__ = ()

    def __init__(self, x: float, y: float, width: float, height: float, radius: float) -> None:
        x, y, grown = finite(x, "x"), finite(y, "y"), extent(radius, "radius")
        if grown == 0.0:
            raise ValueError("radius must be positive; use Box or Polygon where corners are sharp")
        right, bottom = extent(width, "width") - grown, extent(height, "height") - grown
        if right < grown or bottom < grown or (right == grown and bottom == grown):
            raise ValueError(
                f"radius = {grown:g} is too large for a box of {width:g} x {height:g};"
                " give a smaller one, or use Circle"
            )
        if right == grown or bottom == grown:  # two half circles: the box between them is a line
            corners = [(grown, grown), (right, bottom)]
        else:
            corners = [(grown, grown), (right, grown), (right, bottom), (grown, bottom)]
        middle = 0.5 * (grown + right), 0.5 * (grown + bottom)
        self._turn(x, y, np.array(corners), 0.0, grown, middle)

    @property
    def width(self) -> float:
        """The width of its bounds."""
        return self.extent[2] - self.extent[0]

    @property
    def height(self) -> float:
        """The height of its bounds."""
        return self.extent[3] - self.extent[1]

    def __repr__(self) -> str:
        size = f"width={self.width!r}, height={self.height!r}, radius={self.radius!r}"
        return f"RoundedBox(x={self.x!r}, y={self.y!r}, {size})"


def from_outline(kind: type[Polygon], outline: Any, radius: Any) -> Polygon:
    """The shape at 0, 0 with these corners and, after them, this centre, relative to its position.

    Raises
    ------
    ValueError, TypeError
        There is no such shape.

    Examples
    --------
    >>> from_outline(Capsule, [[0, 0], [4, 0], [2, 0]], 1)
    Capsule(x=0.0, y=0.0, to_x=4.0, to_y=0.0, radius=1.0)
    """
    corners = np.array(outline, np.float64)
    grown = extent(radius, "radius")
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < (4 if grown == 0.0 else 3):
        raise ValueError(f"outline must be corners and a centre; got shape {corners.shape}")
    if not np.isfinite(corners).all():
        raise ValueError("outline must be finite")
    x, y = corners[-1].tolist()
    return object.__new__(kind)._turn(0.0, 0.0, corners[:-1], 0.0, grown, (x, y))


# -----------------------------------------------------------------------------------------------------------
# One shape as columns, for kernels that take tables of shapes.


_CIRCLE, _POLYGON, _BOX = map(int, (CIRCLE, POLYGON, BOX))
_NO_ONE = np.zeros(1, np.int64)
_NO_POINTS = np.empty((0, 2))


def row_of(shape: Shape) -> tuple[int, float, float, float, float, Floats, Floats]:
    """The row of a table: kind, ``x, y, width, height``, points and axes."""
    if isinstance(shape, Box):
        return _BOX, shape.x, shape.y, shape.width, shape.height, _NO_POINTS, _NO_POINTS
    if isinstance(shape, Circle):
        return _CIRCLE, shape.x, shape.y, shape.radius, 0.0, _NO_POINTS, _NO_POINTS
    return _POLYGON, shape.x, shape.y, shape.radius, 0.0, shape.offsets, shape.axes


def columns_of(shape: Shape) -> ShapeColumns:
    """The columns of a table with only this shape, in a fraction of the time."""
    kind, *values, points, axes = row_of(shape)
    x, y, width, height = np.array(values)[:, None]
    counts = np.array([len(points)], np.int64)
    return ShapeColumns(np.array([kind], np.uint8), x, y, width, height, _NO_ONE, counts, points, axes)
