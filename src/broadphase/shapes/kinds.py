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

Bounds: TypeAlias = tuple[float, float, float, float]
"""``min_x, min_y, max_x, max_y``."""

# A turn whose sine is smaller than this counts as straight on: rounding bends a straight side by 1e-16.
_STRAIGHT = 1e-12


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
        object.__setattr__(self, "x", finite(self.x, "x"))
        object.__setattr__(self, "y", finite(self.y, "y"))
        object.__setattr__(self, "width", extent(self.width, "width"))
        object.__setattr__(self, "height", extent(self.height, "height"))
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
        object.__setattr__(self, "x", finite(self.x, "x"))
        object.__setattr__(self, "y", finite(self.y, "y"))
        object.__setattr__(self, "radius", extent(self.radius, "radius"))
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
        corners = _as_points(points)
        _set(self, "x", float(corners[0, 0]))
        _set(self, "y", float(corners[0, 1]))
        with np.errstate(over="ignore"):
            offsets = corners - corners[0]
        if not np.isfinite(offsets).all():
            raise ValueError("points lie too far apart: their distance is beyond the range of float64")
        if _direction_round(offsets) < 0:
            offsets = np.ascontiguousarray(np.concatenate([offsets[:1], offsets[:0:-1]]))
        _set(self, "offsets", offsets)
        _set(self, "axes", _axes_of(offsets))
        offsets.flags.writeable = False
        self.axes.flags.writeable = False
        _set(self, "_extent", (*offsets.min(axis=0).tolist(), *offsets.max(axis=0).tolist()))
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
        for name in ("offsets", "axes", "_extent"):
            _set(moved, name, getattr(self, name))
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

_set = object.__setattr__


def _polygon_from(x: float, y: float, offsets: npt.NDArray[np.float64]) -> Polygon:
    return Polygon(offsets).moved_to(x, y)


def _check_bounds(bounds: Bounds) -> None:
    if not all(map(math.isfinite, bounds)):
        raise ValueError(f"the shape reaches beyond the range of float64: bounds {bounds}")


def _as_points(points: Iterable[Any]) -> npt.NDArray[np.float64]:
    rows = points if isinstance(points, np.ndarray) else list(points)
    try:
        array = np.asarray(rows)
    except ValueError:
        raise ValueError("points must be pairs (x, y); got rows of different lengths") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"points must be pairs of real numbers; got dtype {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"points must have shape (n, 2), pairs (x, y); got shape {array.shape}")
    array = array.astype(np.float64)
    for row, point in enumerate(array):
        if not np.isfinite(point).all():
            raise ValueError(f"points[{row}] = {tuple(point.tolist())} must be finite")
    if len(array) > 1 and (array[0] == array[-1]).all():
        array = array[:-1]
    if len(array) < 3:
        raise ValueError(f"points must hold at least three different corners; got {len(array)}")
    return array


def _direction_round(offsets: npt.NDArray[np.float64]) -> int:
    """1 for counter-clockwise, -1 for clockwise; raises where the polygon is not convex."""
    _, power = math.frexp(float(np.abs(offsets).max()))
    scaled = np.ldexp(offsets, -power)
    sides = np.roll(scaled, -1, axis=0) - scaled
    lengths = np.hypot(sides[:, 0], sides[:, 1])
    if (lengths == 0.0).any():
        row = int(np.flatnonzero(lengths == 0.0)[0])
        raise ValueError(f"points[{(row + 1) % len(sides)}] repeats points[{row}]; give each corner once")
    sides /= lengths[:, None]
    following = np.roll(sides, -1, axis=0)
    turns = sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0]
    ahead = (sides * following).sum(axis=1)
    angles = np.arctan2(turns, ahead)
    angles[np.abs(turns) < _STRAIGHT] = np.where(ahead[np.abs(turns) < _STRAIGHT] > 0.0, 0.0, math.pi)
    direction = 1 if angles.sum() > 0.0 else -1
    if (np.abs(angles) == math.pi).any():
        row = (int(np.flatnonzero(np.abs(angles) == math.pi)[0]) + 1) % len(sides)
        raise ValueError(f"points turn back on themselves at points[{row}]; a polygon must have an area")
    if (angles * direction < 0.0).any():
        row = (int(np.flatnonzero(angles * direction < 0.0)[0]) + 1) % len(sides)
        raise ValueError(f"points are not convex: the polygon turns inwards at points[{row}]; cut it up")
    if abs(angles.sum()) > 3.0 * math.pi:
        raise ValueError("points are not convex: the outline crosses itself; give the corners in order")
    return direction


def _axes_of(offsets: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """At right angles to each side, towards larger x, or straight towards larger y.

    Scaled by a power of two, which is exact: products with coordinates of any size then stay in range.
    """
    sides = np.roll(offsets, -1, axis=0) - offsets
    _, powers = np.frexp(np.abs(sides).max(axis=1))
    sides = np.ldexp(sides, -powers[:, None])
    axes = np.stack([-sides[:, 1], sides[:, 0]], axis=1)
    backwards = (axes[:, 0] < 0.0) | ((axes[:, 0] == 0.0) & (axes[:, 1] < 0.0))
    axes[backwards] *= -1.0
    return np.ascontiguousarray(axes) + 0.0
