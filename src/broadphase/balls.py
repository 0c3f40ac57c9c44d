"""Elastic balls in a box, on any index: the simulation that broad phases are usually shown with.

A time step has three parts.  Every pair of touching balls bounces (an impulse along the line between their
centres, by Newton's rule with a coefficient of restitution).  The balls move under gravity and bounce off the
walls.  The index finds the pairs of boxes again, so that positions, boxes and pairs match after a step.

Between collisions the path is exact.  Collisions are detected once per step, so a ball that moves by more
than about its radius in one step may pass through another.  Choose ``dt`` or ``substeps`` accordingly.  The
simulation is made for flying balls: balls in a heap at rest overlap by a part of their radius.

Cost: that of the index, and some 20 nanoseconds per ball.  Pairs are resolved in sorted order on one thread,
so a run repeats bit for bit on every index, method, machine and number of threads.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes import Choice, make_index
from broadphase.indexes.base import Index
from broadphase.inputs import arrays
from broadphase.inputs.arrays import BOXES, NUMBERS, POINTS, WAYS, Wanted, as_float_array, settled
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import count, plain, real
from broadphase.inputs.periods import as_period
from broadphase.kernels.movement import balls as kernel
from broadphase.periods.images import Periodic, wrapped
from broadphase.runtime.memory import PairArray

Vectors = npt.NDArray[np.float64]
Walls = tuple[float, float, float, float]
EVERYWHERE: Walls = (-math.inf, -math.inf, math.inf, math.inf)


class BallSimulation:
    """Balls that bounce off each other and off the walls.

    Parameters
    ----------
    n : int, optional
        How many balls.  They are scattered over ``bounds``, without overlaps if there is enough space.  By
        default there is one ball for each row of ``positions``.
    radius : float, (float, float) or array_like, shape (n,)
        One radius for all balls; a range from which radii are drawn evenly; or one for each ball.
    bounds : (float, float, float, float) or None
        The walls, ``min_x, min_y, max_x, max_y``; ``None`` for no walls.
    period : (float or None, float or None), optional
        The period of the world on each axis.  A periodic axis has no walls, whatever ``bounds`` says, and
        balls are scattered from 0 to the period.
    positions, velocities : array_like, shape (n, 2), optional
        The centres and the velocities; tables are read by column name (``x, y`` and ``vx, vy``).
    masses : float or array_like, shape (n,), optional
        By default the area of each ball.
    speed : float
        Without ``velocities``: each ball gets a random direction and between half of this speed and all of
        it.
    gravity : (float, float)
        Accelerates all balls, such as ``(0, 500)`` if y points down.
    restitution : float
        0 to 1: the share of the speed that remains after a bounce.  1 conserves energy.
    seed : int
        Of the random number generator.
    index : str or Index
        A name of `broadphase.INDEXES`, or your own empty 2-D index, made with ``touching=True``.

    Raises
    ------
    TypeError, ValueError
        A value has the wrong type or shape, is not finite, or is out of range; or a ball does not fit between
        the walls.

    Notes
    -----
    `positions`, `velocities`, `radii` and `masses` are the arrays of the simulation: write to them between
    steps, or assign to them.  The number of balls is fixed.

    Without gravity, kinetic energy is conserved to about 1e-12 over thousands of steps, and so is momentum
    until balls hit a wall.  With gravity, the sum of kinetic and potential energy is conserved to about 1e-4,
    because a ball at rest that others press into a wall is lifted out of it.

    Examples
    --------
    >>> from broadphase.balls import BallSimulation
    >>> balls = BallSimulation(
    ...     positions=[[10, 50], [90, 50]], velocities=[[30, 0], [-10, 0]], radius=5, bounds=(0, 0, 100, 100)
    ... )
    >>> for _ in range(120):
    ...     balls.step(1 / 60)
    >>> balls.velocities.round(9).tolist()  # balls of equal mass swap velocities
    [[-10.0, 0.0], [30.0, 0.0]]
    >>> balls.pairs.tolist()
    []
    """

    def __init__(
        self,
        n: int | None = None,
        *,
        radius: Any = (4.0, 8.0),
        bounds: tuple[float, float, float, float] | None = (0.0, 0.0, 800.0, 600.0),
        period: Any = None,
        positions: Any = None,
        velocities: Any = None,
        masses: Any = None,
        speed: float = 100.0,
        gravity: tuple[float, float] = (0.0, 0.0),
        restitution: float = 1.0,
        seed: int = 0,
        index: Choice | Index = "strips",
    ) -> None:
        random = np.random.default_rng(plain(seed, "seed"))
        count = count_of(n, positions)
        self._period, self._bounds, region = world(bounds, period)
        self._gravity = two(gravity, "gravity")
        self._restitution = number(restitution, "restitution", 0.0, 1.0)
        self._radii = radii_of(radius, count, random)
        self._masses = one_each(np.pi * self._radii**2 if masses is None else masses, count, "masses")
        self._region = region
        check_region(region, self._radii)
        if positions is None:
            self._positions = scattered(self._radii, region, random)
        else:
            self._positions = vectors(positions, count, "positions")
        if velocities is None:
            self._velocities = flying(count, number(speed, "speed", 0.0, math.inf), random)
        else:
            self._velocities = vectors(velocities, count, "velocities", WAYS)
        self._held = np.zeros(count, np.bool_)
        self._targets = np.zeros((count, 2))
        self._positions = wrapped(self._positions, np.array(self._period))
        self._pairs: PairArray | None = None
        reach = self._radii[:, None]
        self._boxes = np.hstack((self._positions - reach, self._positions + reach))
        self.use(index)

    def use(self, index: Choice | Index) -> None:
        """Continue with another index; the balls move exactly as with the old one.

        Parameters
        ----------
        index : str or Index
            As for the class.

        Raises
        ------
        ValueError
            The index is unknown, not empty, not 2-D, or made with ``touching=False``; nothing has changed.
        """
        period = None if self._period == (math.inf, math.inf) else self._period
        fresh = make_index(index, period=period) if isinstance(index, str) else index
        if not isinstance(fresh, Index):
            raise TypeError(f"index must be a name or an index; got {index!r}")
        if fresh.dim != 2 or len(fresh) or not fresh.touching:
            raise ValueError(f"index must be empty, 2-D and made with touching=True; got {fresh!r}")
        if fresh.period != self.period:
            raise ValueError(f"index must have the period of the world, {self.period}; got {fresh.period}")
        try:
            fresh.insert_many(self._boxes)
            candidates = _candidates(fresh)
        except BaseException:  # leave the index as it was given
            fresh.clear()
            raise
        self._index, self._candidates, self._pairs = fresh, candidates, None

    def step(self, dt: float, substeps: int = 1) -> None:
        """Advance by ``dt``.

        Parameters
        ----------
        dt : float
            Seconds, if velocities are in units per second.
        substeps : int
            How many equal parts the step has, for fast balls or heavy piles.

        Raises
        ------
        ValueError
            ``dt`` is negative or not finite, or a position was set to NaN or infinity.
        """
        whole = number(dt, "dt", 0.0, math.inf)
        parts = count(substeps, "substeps")
        before = self._positions.copy(), self._velocities.copy(), self._boxes.copy(), self._candidates
        try:
            for _ in range(parts):
                self._advance(whole / parts)
        except BaseException:  # undo the step
            self._positions[:], self._velocities[:], self._boxes[:], self._candidates = before
            self._pairs = None
            self._index.update(self._boxes)
            raise

    def _advance(self, dt: float) -> None:
        balls, world = (
            (self._positions, self._velocities, self._radii),
            (self._bounds, self._period, self._gravity),
        )
        kernel.collide_balls(
            *balls, self._masses, self._held, self._candidates, self._period, self._restitution
        )
        kernel.advance_balls(*balls, self._held, self._targets, world, dt, self._restitution, self._boxes)
        self._index.update(self._boxes)
        self._candidates, self._pairs = _candidates(self._index), None

    # ---- state

    def __len__(self) -> int:
        return len(self._radii)

    def __repr__(self) -> str:
        walls = "no walls" if self.bounds is None else f"bounds={self.bounds}"
        return f"<BallSimulation: {len(self)} balls, {walls}, index={self._index.name!r}>"

    @property
    def positions(self) -> Vectors:
        """``(n, 2)``: the centres."""
        return self._positions[:]  # a view, so that reshaping it does not reshape the array of the kernels

    @positions.setter
    def positions(self, positions: Any) -> None:
        self._positions[:] = vectors(positions, len(self), "positions")

    @property
    def velocities(self) -> Vectors:
        """``(n, 2)``"""
        return self._velocities[:]

    @velocities.setter
    def velocities(self, velocities: Any) -> None:
        self._velocities[:] = vectors(velocities, len(self), "velocities", WAYS)

    @property
    def radii(self) -> Vectors:
        """``(n,)``"""
        return self._radii[:]

    @radii.setter
    def radii(self, radii: Any) -> None:
        checked = one_each(radii, len(self), "radii")
        check_region(self._region, checked)
        self._radii[:] = checked

    @property
    def masses(self) -> Vectors:
        """``(n,)``"""
        return self._masses[:]

    @masses.setter
    def masses(self, masses: Any) -> None:
        self._masses[:] = one_each(masses, len(self), "masses")

    @property
    def index(self) -> Index:
        """The index; its ``stats`` are those of the last step."""
        return self._index

    @property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """The walls, or ``None``."""
        return None if self._bounds == EVERYWHERE else self._bounds

    @property
    def period(self) -> tuple[float | None, ...] | None:
        """The period on each axis, ``None`` for an axis without one; ``None`` for no period at all."""
        if self._period == (math.inf, math.inf):
            return None
        return tuple(length if length < math.inf else None for length in self._period)

    @property
    def boxes(self) -> BoxArray:
        """``(n, 4)``: the bounding boxes after the last step; read-only, and valid until the next."""
        boxes = self._boxes[:]
        boxes.flags.writeable = False
        return boxes

    @property
    def candidates(self) -> PairArray:
        """``(m, 2)`` int32, sorted: the pairs of balls whose boxes overlap after the last step."""
        return self._candidates

    @property
    def pairs(self) -> PairArray:
        """``(m, 2)`` int32, sorted: the balls that touch after the last step and bounce in the next."""
        if self._pairs is None:
            touch = np.empty(len(self._candidates), np.bool_)
            kernel.touching_balls(self._positions, self._radii, self._candidates, self._period, touch)
            self._pairs = self._candidates[touch]
        return self._pairs

    @property
    def energy(self) -> float:
        """Kinetic energy plus, with gravity, potential energy relative to the point 0, 0."""
        kinetic = 0.5 * math.fsum(self._masses * (self._velocities**2).sum(axis=1))
        return kinetic - math.fsum(self._masses * (self._positions @ np.array(self._gravity)))

    @property
    def momentum(self) -> tuple[float, float]:
        """The sum of mass times velocity."""
        along_x, along_y = (self._masses[:, None] * self._velocities).T
        return math.fsum(along_x), math.fsum(along_y)

    # ---- grabbing and dragging balls

    def ball_at(self, x: float, y: float) -> int | None:
        """The ball that contains a point after the last step; of several, the one with the nearest centre."""
        ids = self._index.query_point((x, y))
        places = self._positions[ids]
        offsets = places - (x, y) - Periodic(np.array(self._period)).nearest_shift(places, np.array((x, y)))
        squared = (offsets**2).sum(axis=1)
        inside = squared <= self._radii[ids] ** 2
        if not inside.any():
            return None
        return int(ids[np.argmin(np.where(inside, squared, math.inf))])

    def grab(self, ball: int) -> None:
        """Grab a ball: it then moves only where it is dragged, whatever hits it.

        Raises
        ------
        IndexError
            There is no such ball.
        """
        row = self._row(ball)
        self._held[row] = True
        self._targets[row] = self._positions[row]

    def drag(self, ball: int, position: tuple[float, float]) -> None:
        """Drag a held ball: the next step moves it there, or as near as the walls allow.

        Raises
        ------
        IndexError
            There is no such ball.
        ValueError
            The ball is not held, or the position is not finite; nothing has changed.
        """
        row = self._row(ball)
        if not self._held[row]:
            raise ValueError(f"ball {ball} is not held; grab({ball}) first")
        self._targets[row] = two(position, "position")

    def release(self, ball: int, velocity: tuple[float, float] | None = None) -> None:
        """Release a ball; it keeps the velocity of the drag, or gets ``velocity``.

        Releasing a ball that is not held changes nothing.

        Raises
        ------
        IndexError
            There is no such ball.
        ValueError
            The velocity is not finite; nothing has changed.
        """
        row = self._row(ball)
        if velocity is not None:
            self._velocities[row] = two(velocity, "velocity")
        self._held[row] = False

    @property
    def held(self) -> npt.NDArray[np.int64]:
        """The held balls, ascending."""
        return np.flatnonzero(self._held)

    def _row(self, ball: int) -> int:
        row = plain(ball, "ball")
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < len(self):
            raise IndexError(f"there is no ball {ball!r}; there are {len(self)}, from 0 up")
        return row


def _candidates(index: Index) -> PairArray:
    """The pairs of boxes in sorted order, so that the order of bounces does not depend on the index."""
    found = index.pairs()
    return found if index.sort else found[np.lexsort((found[:, 1], found[:, 0]))]


# ---- arguments, and where balls start


def count_of(n: int | None, positions: Any) -> int:
    """The number of balls."""
    if n is None:
        if positions is None:
            raise ValueError("say how many balls there are with n=, or where they are with positions=")
        return len(as_float_array(positions, "positions", POINTS))
    return count(n, "n", 0, "an int")


def number(value: float, name: str, low: float, high: float) -> float:
    """A finite number in a range."""
    checked = real(value, name, "a number")
    if not (low <= checked <= high and math.isfinite(checked)):
        raise ValueError(f"{name} must be finite and between {low:g} and {high:g}; got {checked}")
    return checked


def two(values: Any, name: str) -> tuple[float, float]:
    """A point or a vector."""
    array = settled(values, name, NUMBERS)
    if array.shape != (2,) or not np.isfinite(array).all():
        raise ValueError(f"{name} must be two finite numbers; got {values!r}")
    return float(array[0]), float(array[1])


def walls(bounds: Any) -> Walls:
    """Four finite numbers in order."""
    array = settled(bounds, "bounds", BOXES)
    if array.shape != (4,) or not np.isfinite(array).all() or (array[:2] > array[2:]).any():
        raise ValueError(f"bounds must be finite numbers min_x, min_y, max_x, max_y, or None; got {bounds!r}")
    left, top, right, bottom = array.tolist()
    return left, top, right, bottom


def world(bounds: Any, period: Any) -> tuple[tuple[float, float], Walls, Walls]:
    """The period (inf for none), the walls, and the region over which balls are scattered."""
    lengths = as_period(period, 2)
    around = EVERYWHERE if bounds is None else walls(bounds)
    if lengths is None:
        return (math.inf, math.inf), around, around
    open_axes, region = np.array(around).reshape(2, 2), np.array(around).reshape(2, 2)
    periodic = np.isfinite(lengths)
    open_axes[:, periodic] = [[-math.inf], [math.inf]]
    region[0, periodic], region[1, periodic] = 0.0, lengths[periodic]
    return tuple(lengths.tolist()), tuple(open_axes.ravel().tolist()), tuple(region.ravel().tolist())


def radii_of(radius: Any, n: int, random: np.random.Generator) -> Vectors:
    """One radius, a range of them (a tuple of two), or one each."""
    if isinstance(radius, tuple) and len(radius) == 2:
        low, high = two(radius, "radius")
        if not 0.0 < low <= high:
            raise ValueError(f"radius is (smallest, largest), and both are positive; got {radius!r}")
        return random.uniform(low, high, n)
    return one_each(radius, n, "radius")


def one_each(values: Any, n: int, name: str) -> Vectors:
    """``(n,)`` positive numbers, a copy, from one for all balls or one for each."""
    array = as_float_array(values, name).astype(np.float64)
    array = arrays.one_each(array, n, f"{name} must be one number or one for each of the {n} balls")
    unsound = np.flatnonzero(~((array > 0.0) & np.isfinite(array)))
    if len(unsound):
        row = int(unsound[0])
        raise ValueError(f"{name} must be positive and finite; ball {row} has {array[row]}")
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


def check_region(bounds: Walls, radii: Vectors) -> None:
    """Raise if the largest ball does not fit between the walls."""
    side = min(bounds[2] - bounds[0], bounds[3] - bounds[1])
    if len(radii) and 2.0 * radii.max() > side:
        raise ValueError(
            f"a ball of radius {radii.max():g} does not fit between walls that are {side:g} apart"
        )


def scattered(radii: Vectors, bounds: Walls, random: np.random.Generator) -> Vectors:
    """Random centres: each in its own cell if there are enough cells, else anywhere."""
    if not math.isfinite(bounds[2] - bounds[0] + bounds[3] - bounds[1]):
        raise ValueError("without bounds there is no place to scatter balls over; give positions=")
    n = len(radii)
    low, high = np.array(bounds[:2]), np.array(bounds[2:])
    if not n:
        return np.empty((0, 2))
    slots = np.maximum((high - low) // (2.0 * radii.max()), 1.0)
    # At most about two cells per ball, so that a ball need not lie in the middle of its cell.
    slots = np.maximum(np.floor(slots * min(1.0, math.sqrt(2.0 * n / slots.prod()))), 1.0).astype(np.int64)
    if slots.prod() < n:
        anywhere: Vectors = low + radii[:, None] + random.random((n, 2)) * (high - low - 2.0 * radii[:, None])
        return anywhere
    cells = random.choice(int(slots.prod()), n, replace=False)
    size = (high - low) / slots
    corners = low + np.stack([cells % slots[0], cells // slots[0]], axis=1) * size
    centres: Vectors = corners + radii[:, None] + random.random((n, 2)) * (size - 2.0 * radii[:, None])
    return centres


def flying(n: int, speed: float, random: np.random.Generator) -> Vectors:
    """Random velocities in all directions, from half of ``speed`` to all of it."""
    angles = random.uniform(0.0, 2.0 * math.pi, n)
    speeds = speed * random.uniform(0.5, 1.0, n)
    velocities: Vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) * speeds[:, None]
    return velocities
