"""What lies around a direction: fans of rays, and cones of vision as polygons."""

import math
from typing import Any

import numpy as np

from broadphase.inputs import numeric
from broadphase.inputs.arrays import WAYS, settled
from broadphase.kernels.shapes.table import POLYGON, ShapeColumns
from broadphase.periods.images import unit_vectors
from broadphase.runtime.arrays import Floats

# A cone is cut into sectors, and the arc of each into sides of at most so many degrees.
_SECTOR, _SIDE = 90.0, 3.0


def ray_fan(direction: Any, angle: float, count: int) -> Floats:
    """Directions spread evenly around one: what a guard, a robot or a lamp looks along.

    Parameters
    ----------
    direction : (float, float) or array_like, shape (..., 2)
        The middle of the fan, of any length but 0; or many, for a fan each.
    angle : float
        From the first to the last, in degrees; 360 goes around, without the first one again.
    count : int
        How many, at least 2.

    Returns
    -------
    numpy.ndarray
        ``(..., count, 2)`` unit vectors, from x towards y; for `World.raycast` and the like.

    Raises
    ------
    TypeError, ValueError
        A direction is zero or not finite, or a number is out of range.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.ray_fan((0, 5), 180, 3).round(9).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
    >>> world = bp.World()
    >>> wall = world.add(bp.Box(10, -50, 5, 100))
    >>> fan = bp.ray_fan((1, 0), 90, 3)
    >>> hits = world.raycast((0, 0), fan, 100)
    >>> (fan * hits.distances[:, None]).round(9).tolist()  # where they end: the corners of what is seen
    [[10.0, -10.0], [10.0, 0.0], [10.0, 10.0]]
    """
    units = as_units(direction)
    degrees, most = as_angle(angle), numeric.count(count, "count", 2)
    turns = np.radians(np.linspace(-0.5 * degrees, 0.5 * degrees, most, endpoint=degrees < 360.0))
    return _turned(units[..., None, :], turns)


def as_angle(angle: Any) -> float:
    """An angle from more than 0 up to 360 degrees."""
    degrees = numeric.real(angle, "angle")
    if not 0.0 < degrees <= 360.0:
        raise ValueError(f"angle = {degrees:g} must be more than 0 and at most 360 degrees")
    return degrees


def as_units(direction: Any) -> Floats:
    """``(..., 2)``: directions, made 1 long."""
    given: Floats = settled(direction, "direction", WAYS).astype(np.float64)
    if given.shape[-1:] != (2,):
        raise ValueError(f"direction must be (x, y) or have shape (..., 2); got shape {given.shape}")
    if not (np.isfinite(given).all() and given.any(axis=-1).all()):
        raise ValueError(f"direction = {direction!r} must be finite and not zero")
    return unit_vectors(given)


def _turned(units: Floats, turns: Floats) -> Floats:
    """``(..., k, 2)``: unit vectors ``(..., 1, 2)`` turned by ``k`` angles."""
    x, y = units[..., 0], units[..., 1]
    cosine, sine = np.cos(turns), np.sin(turns)
    return np.stack((cosine * x - sine * y, sine * x + cosine * y), axis=-1)


def cones(origins: Floats, units: Floats, angle: float, radii: Floats) -> tuple[ShapeColumns, int]:
    """Cones of vision ``(m,)`` as polygons, each cut into the same number of sectors, which is returned too.

    Their round sides are polygons around the arc, at most 0.04 % of the radius too far.
    """
    sectors = math.ceil(angle / _SECTOR)
    step = angle / sectors
    sides = math.ceil(step / _SIDE)
    middles = np.radians(step * (np.arange(sectors) - 0.5 * (sectors - 1)))
    turns = np.radians(np.linspace(-0.5 * step, 0.5 * step, sides + 1))
    # The corners: the origin, the ends of the arc, and between them where tangents of the arc meet.
    tangents = 0.5 * (turns[1:] + turns[:-1])
    corners = np.concatenate((turns[:1], tangents, turns[-1:]))
    far = np.concatenate(([1.0], np.full(sides, 1.0 / math.cos(turns[1] - tangents[0])), [1.0]))
    around = _turned(_turned(units[:, None], middles)[:, :, None], corners) * far[:, None]
    arcs = (around * radii[:, None, None, None]).reshape(-1, sides + 2, 2)
    points = np.concatenate((np.zeros((len(arcs), 1, 2)), arcs), axis=1)
    count, edges = sides + 3, np.roll(points, -1, 1) - points
    axes = np.stack((-edges[..., 1], edges[..., 0]), -1) / np.maximum(radii, 1e-300).max(initial=1e-300)
    axes *= np.where((axes[..., :1] > 0.0) | ((axes[..., :1] == 0.0) & (axes[..., 1:] > 0.0)), 1.0, -1.0)
    none = np.zeros(len(points))
    x, y = np.repeat(origins, sectors, axis=0).T.copy()
    columns = ShapeColumns(
        *(np.full(len(points), POLYGON), x, y, none, none),
        *(count * np.arange(len(points)), np.full(len(points), count)),
        *(np.ascontiguousarray(points.reshape(-1, 2)), np.ascontiguousarray(axes.reshape(-1, 2) + 0.0)),
    )
    return columns, sectors
