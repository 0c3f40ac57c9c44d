"""How a `broadphase.balls.BallSimulation` begins: its arguments checked, its balls scattered."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_float_array
from broadphase.foreign import BOXES, POINTS, Wanted
from broadphase.numeric import real, whole
from broadphase.space import as_period

Vectors = npt.NDArray[np.float64]
Walls = tuple[float, float, float, float]
EVERYWHERE: Walls = (-math.inf, -math.inf, math.inf, math.inf)


def count_of(n: int | None, positions: Any) -> int:
    """How many balls there are to be."""
    if n is None:
        if positions is None:
            raise ValueError("say how many balls there are with n=, or where they are with positions=")
        return len(as_float_array(positions, "positions", POINTS))
    count = whole(n, "n", "an int")
    if count < 0:
        raise ValueError(f"n must not be negative; got {count}")
    return count


def number(value: float, name: str, low: float, high: float) -> float:
    """A finite number in a range."""
    own = real(value, name, "a number")
    if not (low <= own <= high and math.isfinite(own)):
        raise ValueError(f"{name} must be finite and between {low:g} and {high:g}; got {own}")
    return own


def two(values: Any, name: str) -> tuple[float, float]:
    """A point or a vector."""
    array = as_float_array(values, name)
    if array.shape != (2,) or not np.isfinite(array).all():
        raise ValueError(f"{name} must be two finite numbers; got {values!r}")
    return float(array[0]), float(array[1])


def walls(bounds: Any) -> Walls:
    """Four finite numbers in order."""
    array = as_float_array(bounds, "bounds", BOXES)
    if array.shape != (4,) or not np.isfinite(array).all() or (array[:2] > array[2:]).any():
        raise ValueError(f"bounds must be finite numbers min_x, min_y, max_x, max_y, or None; got {bounds!r}")
    left, top, right, bottom = array.tolist()
    return left, top, right, bottom


def world(bounds: Any, period: Any) -> tuple[tuple[float, float], Walls, Walls]:
    """The period, inf for none; the walls; and the ground that balls are scattered over."""
    lengths = as_period(period, 2)
    around = EVERYWHERE if bounds is None else walls(bounds)
    if lengths is None:
        return (math.inf, math.inf), around, around
    low, high, ground_low, ground_high = [*around[:2]], [*around[2:]], [*around[:2]], [*around[2:]]
    for axis, length in enumerate(lengths.tolist()):
        if length < math.inf:
            low[axis], high[axis] = -math.inf, math.inf
            ground_low[axis], ground_high[axis] = 0.0, length
    return (
        (float(lengths[0]), float(lengths[1])),
        (low[0], low[1], high[0], high[1]),
        (ground_low[0], ground_low[1], ground_high[0], ground_high[1]),
    )


def radii_of(radius: Any, n: int, random: np.random.Generator) -> Vectors:
    """One radius, a range of them (a tuple of two), or one each."""
    if isinstance(radius, tuple) and len(radius) == 2:
        low, high = two(radius, "radius")
        if low > high:
            raise ValueError(f"radius is (smallest, largest); got {radius!r}")
        return random.uniform(low, high, n)
    return one_each(radius, n, "radius")


def one_each(values: Any, n: int, name: str) -> Vectors:
    """``(n,)``, a copy, from one number for all or one each."""
    array = as_float_array(values, name).astype(np.float64)
    if array.ndim == 0:
        return np.full(n, array)
    if array.shape != (n,):
        raise ValueError(
            f"{name} must be one number or one for each of the {n} balls; got shape {array.shape}"
        )
    return array


def vectors(values: Any, n: int, name: str, wanted: Wanted = POINTS) -> Vectors:
    """``(n, 2)`` finite numbers, a copy."""
    array: Vectors = as_float_array(values, name, wanted).astype(np.float64)
    if n == 0 and array.size == 0:
        return array.reshape(0, 2)
    if array.shape != (n, 2):
        raise ValueError(f"{name} must have shape ({n}, 2); got shape {array.shape}")
    unsound = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(unsound):
        row = int(unsound[0])
        raise ValueError(f"{name}[{row}] = {array[row].tolist()} is not finite")
    return array


def check_positive(values: Vectors, name: str) -> None:
    """Radii and masses are above 0."""
    unsound = np.flatnonzero(~((values > 0.0) & np.isfinite(values)))
    if len(unsound):
        row = int(unsound[0])
        raise ValueError(f"{name} must be positive and finite; ball {row} has {values[row]}")


def check_room(bounds: Walls, radii: Vectors) -> None:
    """The largest ball fits between the walls."""
    room = min(bounds[2] - bounds[0], bounds[3] - bounds[1])
    if len(radii) and 2.0 * radii.max() > room:
        raise ValueError(
            f"a ball of radius {radii.max():g} does not fit between walls that are {room:g} apart"
        )


def scattered(radii: Vectors, bounds: Walls, random: np.random.Generator) -> Vectors:
    """Centres by chance: each in a cell of its own if there are enough, else wherever it falls."""
    if not math.isfinite(bounds[2] - bounds[0] + bounds[3] - bounds[1]):
        raise ValueError("without bounds there is no place to scatter balls over; give positions=")
    n = len(radii)
    low, high = np.array(bounds[:2]), np.array(bounds[2:])
    if not n:
        return np.empty((0, 2))
    slots = np.maximum((high - low) // (2.0 * radii.max()), 1.0)
    # No more cells than about two a ball, so that each has some room to be elsewhere than in the middle.
    slots = np.maximum(np.floor(slots * min(1.0, math.sqrt(2.0 * n / slots.prod()))), 1.0).astype(np.int64)
    if slots.prod() < n:
        anywhere: Vectors = low + radii[:, None] + random.random((n, 2)) * (high - low - 2.0 * radii[:, None])
        return anywhere
    cells = random.choice(int(slots.prod()), n, replace=False)
    size = (high - low) / slots
    corners = low + np.stack([cells % slots[0], cells // slots[0]], axis=1) * size
    centres: Vectors = corners + radii[:, None] + random.random((n, 2)) * (size - 2.0 * radii[:, None])
    return centres


def carried_in(positions: Vectors, period: tuple[float, float]) -> Vectors:
    """The same places as they lie in a world that begins again."""
    for axis, length in enumerate(period):
        if length < math.inf:
            positions[:, axis] = np.mod(positions[:, axis], length)
            positions[positions[:, axis] == length, axis] = 0.0  # rounded up to it
    return positions


def flying(n: int, speed: float, random: np.random.Generator) -> Vectors:
    """Velocities in all directions, half of ``speed`` up to all of it."""
    angles = random.uniform(0.0, 2.0 * math.pi, n)
    speeds = speed * random.uniform(0.5, 1.0, n)
    velocities: Vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) * speeds[:, None]
    return velocities
