"""Box, circle and convex polygon: small values that are never changed, only copied to another place.

All lengths are in the caller's own unit, and y may point up or down: nothing here depends on it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.shapes.check import extent, finite
from broadphase.shapes.outline import corners_of, form_of

Bounds: TypeAlias = tuple[float, float, float, float]
"""``min_x, min_y, max_x, max_y``."""

_set = object.__setattr__


@dataclass(frozen=True, slots=True)
class Box:
    """An axis-aligned box, placed by its min corner.

    Parameters
    ----------
    x, y : float
        The corner with the smallest coordinates.
    width, height : float
        Not negative; a box without width or height is legal.

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

    def __post_init__(self) -> None:
        x, y, width, height = self.x, self.y, self.width, self.height
        if (
            type(x) is type(y) is type(width) is type(height) is float
            and width >= 0.0
            and height >= 0.0
            and math.isfinite(x + width)
            and math.isfinite(y + height)
        ):
            return  # nothing to convert, and a finite sum has finite parts
        _set(self, "x", finite(x, "x"))
        _set(self, "y", finite(y, "y"))
        _set(self, "width", extent(width, "width"))
        _set(self, "height", extent(height, "height"))
        _check_bounds(self.bounds)

    @property
    def bounds(self) -> Bounds:
        """The box itself, by its edges."""
        return self.x, self.y, self.x + self.width, self.y + self.height

    def moved_to(self, x: float, y: float) -> "Box":
        """The same box at another place."""
        return Box(x, y, self.width, self.height)


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle, placed by its centre.

    Parameters
    ----------
    x, y : float
        The centre.
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
    """

    x: float
    y: float
    radius: float

    def __post_init__(self) -> None:
        x, y, radius = self.x, self.y, self.radius
        if (
            type(x) is type(y) is type(radius) is float
            and radius >= 0.0
            and math.isfinite(abs(x) + radius)
            and math.isfinite(abs(y) + radius)
        ):
            return  # nothing to convert, and a finite sum has finite parts
        _set(self, "x", finite(x, "x"))
        _set(self, "y", finite(y, "y"))
        _set(self, "radius", extent(radius, "radius"))
        _check_bounds(self.bounds)

    @property
    def bounds(self) -> Bounds:
        """The smallest box around the circle."""
        return self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius

    def moved_to(self, x: float, y: float) -> "Circle":
        """The same circle at another place."""
        return Circle(x, y, self.radius)


class Polygon:
    """A convex polygon, placed by its first point.

    The other points are kept relative to the first, so that a polygon that travels far keeps its form.

    Parameters
    ----------
    points : iterable of (float, float)
        At least three corners in order, in either direction round; a last point equal to the first is
        dropped, so that closed rings are welcome.  A corner may lie on a straight side.

    Raises
    ------
    TypeError
        The points are not pairs of real numbers.
    ValueError
        There are fewer than three, two neighbours are equal, all lie on a line, a side crosses another,
        or a corner turns inwards; the message names the corner.

    Examples
    --------
    >>> Polygon([(0, 0), (4, 0), (4, 3)]).bounds
    (0.0, 0.0, 4.0, 3.0)
    """

    __slots__ = ("_extent", "axes", "offsets", "x", "y")

    x: float
    y: float
    offsets: npt.NDArray[np.float64]
    """``(n, 2)``: the points seen from the first, counter-clockwise where y points up."""
    axes: npt.NDArray[np.float64]
    """``(n, 2)``: at right angles to the side that begins at each point, of any length."""
    _extent: Bounds

    def __init__(self, points: Iterable[Any]) -> None:
        # In plain floats: for the few corners that shapes have, each call of NumPy would cost more than all.
        xs, ys = corners_of(points)
        x, y = xs[0], ys[0]
        offsets, axes, reach = form_of([other - x for other in xs], [other - y for other in ys])
        _set(self, "x", x)
        _set(self, "y", y)
        _set(self, "offsets", offsets)
        _set(self, "axes", axes)
        _set(self, "_extent", reach)
        _check_bounds(self.bounds)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Polygon is never changed; use moved_to() for one at another place ({name})")

    @property
    def points(self) -> npt.NDArray[np.float64]:
        """``(n, 2)``: the corners from the first one on, counter-clockwise where y points up."""
        points: npt.NDArray[np.float64] = self.offsets + np.array([self.x, self.y])
        return points

    @property
    def extent(self) -> Bounds:
        """The smallest box around the polygon, seen from its first point."""
        return self._extent

    @property
    def bounds(self) -> Bounds:
        """The smallest box around the polygon."""
        left, top, right, bottom = self._extent
        return self.x + left, self.y + top, self.x + right, self.y + bottom

    def moved_to(self, x: float, y: float) -> Self:
        """The same polygon with its first point at another place."""
        moved = object.__new__(type(self))
        _set(moved, "x", finite(x, "x"))
        _set(moved, "y", finite(y, "y"))
        _set(moved, "offsets", self.offsets)
        _set(moved, "axes", self.axes)
        _set(moved, "_extent", self._extent)
        _check_bounds(moved.bounds)
        return moved

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Polygon):
            return NotImplemented
        same_place = self.x == other.x and self.y == other.y
        return same_place and np.array_equal(self.offsets, other.offsets)

    def __hash__(self) -> int:
        return hash((self.x, self.y, (self.offsets + 0.0).tobytes()))

    def __repr__(self) -> str:
        return f"Polygon({[tuple(point) for point in self.points.tolist()]})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _polygon_from, (self.x, self.y, self.offsets)


Shape: TypeAlias = Box | Circle | Polygon


def _polygon_from(x: float, y: float, offsets: npt.NDArray[np.float64]) -> Polygon:
    return Polygon(offsets).moved_to(x, y)


def _check_bounds(bounds: Bounds) -> None:
    # A finite sum has finite parts; where it overflows although they are, look again.
    if not math.isfinite(sum(bounds)) and not all(map(math.isfinite, bounds)):
        raise ValueError(f"the shape reaches beyond the range of float64: bounds {bounds}")
