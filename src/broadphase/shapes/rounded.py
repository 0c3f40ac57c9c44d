"""Shapes with round corners: polygons that are grown by a radius."""

from math import frexp, ldexp
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.shapes.turn import turn_points
from broadphase.shapes.check import extent, finite
from broadphase.shapes.kinds import Polygon
from broadphase.shapes.outline import reach_of, read_only


class Capsule(Polygon):
    """A line grown by a radius: what characters and bullets are made of.  Placed by its first end.

    Parameters
    ----------
    x, y, to_x, to_y : float
        The two ends of the line, which must differ.
    radius : float
        Positive.

    Raises
    ------
    TypeError
        An argument is not a real number.
    ValueError
        An argument is NaN or infinite, the radius is not positive, or the ends are the same.

    Examples
    --------
    >>> Capsule(0, 0, 0, 10, 3).bounds
    (-3.0, -3.0, 3.0, 13.0)
    >>> Capsule(0, 0, 0, 10, 3).rotated(90).ends
    ((5.0, 5.0), (-5.0, 5.0))
    """

    __slots__ = ()

    def __init__(self, x: float, y: float, to_x: float, to_y: float, radius: float) -> None:
        x, y, grown = finite(x, "x"), finite(y, "y"), _positive(radius)
        dx, dy = finite(to_x, "to_x") - x, finite(to_y, "to_y") - y
        if dx == 0.0 and dy == 0.0:
            raise ValueError(
                f"both ends of the capsule are {x:g}, {y:g}; use Circle({x:g}, {y:g}, {grown:g})"
            )
        _fill_with(self, x, y, [(0.0, 0.0), (dx, dy)], grown)

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The two ends of its line."""
        (ax, ay), (bx, by) = self.points.tolist()
        return (ax, ay), (bx, by)

    @property
    def _when_turned(self) -> type[Polygon]:
        return Capsule

    def __repr__(self) -> str:
        (x, y), (to_x, to_y) = self.ends
        return f"Capsule(x={x!r}, y={y!r}, to_x={to_x!r}, to_y={to_y!r}, radius={self.radius!r})"


class RoundedBox(Polygon):
    """A box whose corners are quarters of a circle.  Placed by the min corner of its bounds.

    Parameters
    ----------
    x, y, width, height : float
        As of `Box`: the bounds.
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
        x, y, grown = finite(x, "x"), finite(y, "y"), _positive(radius)
        right, bottom = extent(width, "width") - grown, extent(height, "height") - grown
        if right < grown or bottom < grown or (right == grown and bottom == grown):
            raise ValueError(
                f"radius = {grown:g} is too large for a box of {width:g} x {height:g};"
                " give a smaller one, or use Circle"
            )
        if right == grown or bottom == grown:  # two half circles: what is left of the box is a line
            corners = [(grown, grown), (right, bottom)]
        else:
            corners = [(grown, grown), (right, grown), (right, bottom), (grown, bottom)]
        _fill_with(self, x, y, corners, grown)

    @property
    def width(self) -> float:
        """Of its bounds."""
        return self.extent[2] - self.extent[0]

    @property
    def height(self) -> float:
        """Of its bounds."""
        return self.extent[3] - self.extent[1]

    def __repr__(self) -> str:
        size = f"width={self.width!r}, height={self.height!r}, radius={self.radius!r}"
        return f"RoundedBox(x={self.x!r}, y={self.y!r}, {size})"


def _positive(radius: Any) -> float:
    number = extent(radius, "radius")
    if number == 0.0:
        raise ValueError("radius must be positive; use Box or Polygon where corners are sharp")
    return number


def _fill_with(shape: Polygon, x: float, y: float, corners: list[tuple[float, float]], radius: float) -> None:
    """Corners that run counter-clockwise, seen from the place."""
    offsets = np.array(corners)
    axes: npt.NDArray[np.float64] = np.empty_like(offsets)
    for k, ((ax, ay), (bx, by)) in enumerate(zip(corners, [*corners[1:], corners[0]], strict=True)):
        nx, ny = ay - by, bx - ax
        sign = 1.0 if nx > 0.0 or (nx == 0.0 and ny > 0.0) else -1.0
        power = -frexp(max(abs(nx), abs(ny)))[1]  # a modest length, without rounding
        axes[k] = ldexp(sign * nx, power) + 0.0, ldexp(sign * ny, power) + 0.0
    left, top, right, bottom = reach_of(offsets)
    middle = 0.5 * (left + right), 0.5 * (top + bottom)
    shape._fill(x, y, *read_only(offsets, axes), radius, (left, top, right, bottom), middle)


def from_outline(kind: type[Polygon], outline: Any, radius: Any) -> Polygon:
    """The shape at 0, 0 that has these corners and, behind them, this centre, seen from its place.

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
    offsets, axes = np.empty_like(corners[:-1]), np.empty_like(corners[:-1])
    turn_points(corners[:-1], 0.0, 0.0, 0.0, offsets, axes)
    x, y = corners[-1].tolist()
    return object.__new__(kind)._fill(0.0, 0.0, *read_only(offsets, axes), grown, reach_of(offsets), (x, y))
