"""Elastic balls in a box, on any index: the simulation that broad phases are usually shown with.

A step of time is: every pair of balls that touch bounces (an impulse along the line between their centres,
Newton's rule with a coefficient of restitution), balls fly on under gravity and bounce off the walls, and
the index finds the pairs of boxes anew.  So after a step, positions, boxes and pairs belong together.

Between collisions the path is exact.  Collisions are seen once a step, not between steps: a ball that flies
further than about its radius in one step may pass another.  Choose ``dt`` accordingly, or ``substeps``.
It is made for flying balls: those of a heap at rest sink into each other by a part of their radius.

Cost: what the index costs, and some 20 nanoseconds a ball.  Pairs are worked off in their sorted order on one
thread, so a run repeats bit for bit on every index, method, machine and number of threads.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import ball_setup as setup
from broadphase.ball_setup import Vectors
from broadphase.boxes import BoxArray, PairArray
from broadphase.foreign import WAYS
from broadphase.indexes import Choice, make_index
from broadphase.indexes.base import Index
from broadphase.kernels.movement import balls as kernel
from broadphase.numeric import plain


class BallSimulation:
    """Balls that bounce off each other and off the walls.

    Parameters
    ----------
    n : int, optional
        How many balls; scattered over ``bounds`` without overlaps where there is room.  Left out, there is
        one for each row of ``positions``.
    radius : float, (float, float) or array_like, shape (n,)
        Of all balls; the smallest and largest, drawn evenly; or of each.
    bounds : (float, float, float, float) or None
        The walls, ``min_x, min_y, max_x, max_y``; ``None`` for none.
    period : (float or None, float or None), optional
        How long the world is on each axis before it begins again; there are no walls then on that axis,
        whatever ``bounds`` says, and balls are scattered from 0 on.
    positions, velocities : array_like, shape (n, 2), optional
        Where the centres are, and how fast and whereto they fly; tables are read by name (``x, y`` and
        ``vx, vy``).
    masses : float or array_like, shape (n,), optional
        By default a ball weighs as much as its area.
    speed : float
        Without ``velocities``: every ball flies somewhere with half of this up to all of this.
    gravity : (float, float)
        Pulls all balls, such as ``(0, 500)`` where y points down.
    restitution : float
        0 to 1: the share of the speed that a bounce leaves.  1 keeps the energy.
    seed : int
        Of all that is drawn by chance.
    index : str or Index
        A name of `broadphase.INDEXES`, or an empty 2-D index of yours, made with ``touching=True``.

    Raises
    ------
    TypeError, ValueError
        A value is of the wrong type or shape, not finite, or out of its range; a ball is wider than the
        walls are apart.

    Notes
    -----
    `positions`, `velocities`, `radii` and `masses` are the arrays that the simulation works on: write to
    them between steps as you like, or assign to them; there are always as many balls as in the beginning.

    Without gravity the kinetic energy is kept to about 1e-12 of itself over thousands of steps, and so is
    momentum until balls meet a wall.  With gravity, so is the sum of kinetic and potential energy, to about
    1e-4: a ball at rest that others press into a wall is lifted out of it.

    Examples
    --------
    >>> from broadphase.balls import BallSimulation
    >>> balls = BallSimulation(
    ...     positions=[[10, 50], [90, 50]], velocities=[[30, 0], [-10, 0]], radius=5, bounds=(0, 0, 100, 100)
    ... )
    >>> for _ in range(120):
    ...     balls.step(1 / 60)
    >>> balls.velocities.round(9).tolist()  # of equal mass: they have swapped velocities
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
        count = setup.count_of(n, positions)
        self._period, self._bounds, ground = setup.world(bounds, period)
        self._gravity = setup.two(gravity, "gravity")
        self._restitution = setup.number(restitution, "restitution", 0.0, 1.0)
        self._radii = setup.radii_of(radius, count, random)
        self._masses = setup.one_each(np.pi * self._radii**2 if masses is None else masses, count, "masses")
        setup.check_positive(self._radii, "radius")
        setup.check_positive(self._masses, "masses")
        self._ground = ground
        setup.check_room(ground, self._radii)
        if positions is None:
            self._positions = setup.scattered(self._radii, ground, random)
        else:
            self._positions = setup.vectors(positions, count, "positions")
        if velocities is None:
            self._velocities = setup.flying(count, setup.number(speed, "speed", 0.0, math.inf), random)
        else:
            self._velocities = setup.vectors(velocities, count, "velocities", WAYS)
        self._held = np.zeros(count, np.bool_)
        self._targets = np.zeros((count, 2))
        self._boxes = np.empty((count, 4))
        self._positions = setup.carried_in(self._positions, self._period)
        self._pairs: PairArray | None = None
        self._write_boxes()
        self.use(index)

    def use(self, index: Choice | Index) -> None:
        """Go on with another index; the balls fly exactly as they would have.

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
        except BaseException:  # as it was given
            fresh.clear()
            raise
        self._index, self._candidates, self._pairs = fresh, candidates, None

    def step(self, dt: float, substeps: int = 1) -> None:
        """Let ``dt`` of time pass.

        Parameters
        ----------
        dt : float
            Seconds, if velocities are in units a second.
        substeps : int
            Do it in so many equal parts, for fast balls or heavy piles.

        Raises
        ------
        ValueError
            ``dt`` is negative or not finite, or a position has been made NaN or infinite.
        """
        whole = setup.number(dt, "dt", 0.0, math.inf)
        parts = plain(substeps, "substeps")
        if isinstance(parts, bool) or not isinstance(parts, int) or parts < 1:
            raise ValueError(f"substeps must be a whole number from 1 up; got {substeps!r}")
        before = self._positions.copy(), self._velocities.copy(), self._boxes.copy(), self._candidates
        try:
            for _ in range(parts):
                self._advance(whole / parts)
        except BaseException:  # nothing has happened
            self._positions[:], self._velocities[:], self._boxes[:], self._candidates = before
            self._pairs = None
            self._index.update(self._boxes)
            raise

    def _advance(self, dt: float) -> None:
        kernel.collide_balls(
            self._positions,
            self._velocities,
            self._radii,
            self._masses,
            self._held,
            self._candidates,
            self._period,
            self._restitution,
        )
        kernel.advance_balls(
            self._positions,
            self._velocities,
            self._radii,
            self._held,
            self._targets,
            self._bounds,
            self._period,
            self._gravity,
            dt,
            self._restitution,
            self._boxes,
        )
        self._index.update(self._boxes)
        self._candidates, self._pairs = _candidates(self._index), None

    def _write_boxes(self) -> None:
        self._boxes[:, :2] = self._positions - self._radii[:, None]
        self._boxes[:, 2:] = self._positions + self._radii[:, None]

    # --- what there is to see ------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._radii)

    def __repr__(self) -> str:
        walls = "no walls" if self.bounds is None else f"bounds={self.bounds}"
        return f"<BallSimulation: {len(self)} balls, {walls}, index={self._index.name!r}>"

    @property
    def positions(self) -> Vectors:
        """``(n, 2)``: the centres."""
        return self._positions[:]  # a view: who reshapes it does not reshape what kernels are given

    @positions.setter
    def positions(self, positions: Any) -> None:
        self._positions[:] = setup.vectors(positions, len(self), "positions")

    @property
    def velocities(self) -> Vectors:
        """``(n, 2)``"""
        return self._velocities[:]

    @velocities.setter
    def velocities(self, velocities: Any) -> None:
        self._velocities[:] = setup.vectors(velocities, len(self), "velocities", WAYS)

    @property
    def radii(self) -> Vectors:
        """``(n,)``"""
        return self._radii[:]

    @radii.setter
    def radii(self, radii: Any) -> None:
        checked = setup.one_each(radii, len(self), "radii")
        setup.check_positive(checked, "radii")
        setup.check_room(self._ground, checked)
        self._radii[:] = checked

    @property
    def masses(self) -> Vectors:
        """``(n,)``"""
        return self._masses[:]

    @masses.setter
    def masses(self, masses: Any) -> None:
        checked = setup.one_each(masses, len(self), "masses")
        setup.check_positive(checked, "masses")
        self._masses[:] = checked

    @property
    def index(self) -> Index:
        """The index; its ``stats`` tell what the last step's search cost."""
        return self._index

    @property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """The walls, or ``None``."""
        return None if self._bounds == setup.EVERYWHERE else self._bounds

    @property
    def period(self) -> tuple[float | None, ...] | None:
        """How long the world is on each axis; ``None`` where it does not begin again."""
        if self._period == (math.inf, math.inf):
            return None
        return tuple(length if length < math.inf else None for length in self._period)

    @property
    def boxes(self) -> BoxArray:
        """``(n, 4)``: the box around each ball after the last step; read-only, good until the next."""
        boxes = self._boxes[:]
        boxes.flags.writeable = False
        return boxes

    @property
    def candidates(self) -> PairArray:
        """``(m, 2)`` int32, sorted: the pairs of balls whose boxes overlap after the last step."""
        return self._candidates

    @property
    def pairs(self) -> PairArray:
        """``(m, 2)`` int32, sorted: the balls that touch after the last step; the next bounces them."""
        if self._pairs is None:
            touch = np.empty(len(self._candidates), np.bool_)
            kernel.touching_balls(self._positions, self._radii, self._candidates, self._period, touch)
            self._pairs = self._candidates[touch]
        return self._pairs

    @property
    def energy(self) -> float:
        """Kinetic energy, and potential energy against the point 0, 0 where there is gravity."""
        kinetic = 0.5 * math.fsum(self._masses * (self._velocities**2).sum(axis=1))
        return kinetic - math.fsum(self._masses * (self._positions @ np.array(self._gravity)))

    @property
    def momentum(self) -> tuple[float, float]:
        """The sum of mass times velocity."""
        along_x, along_y = (self._masses[:, None] * self._velocities).T
        return math.fsum(along_x), math.fsum(along_y)

    # --- a hand in it --------------------------------------------------------------------------------

    def ball_at(self, x: float, y: float) -> int | None:
        """The ball that a point lies in, as of the last step; of several the one whose centre is nearest."""
        ids = self._index.query_point((x, y))
        ways = self._positions[ids] - (x, y)
        for axis, length in enumerate(self._period):
            if length < math.inf:
                ways[:, axis] -= np.round(ways[:, axis] / length) * length
        squared = (ways**2).sum(axis=1)
        inside = squared <= self._radii[ids] ** 2
        if not inside.any():
            return None
        return int(ids[np.argmin(np.where(inside, squared, math.inf))])

    def grab(self, ball: int) -> None:
        """Take hold of a ball: from now on it goes only where it is dragged, whatever hits it.

        Raises
        ------
        IndexError
            There is no such ball.
        """
        row = self._row(ball)
        self._held[row] = True
        self._targets[row] = self._positions[row]

    def drag(self, ball: int, position: tuple[float, float]) -> None:
        """Move a ball that is held: the next step takes it there, or as near as the walls let it.

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
        self._targets[row] = setup.two(position, "position")

    def release(self, ball: int, velocity: tuple[float, float] | None = None) -> None:
        """Let go of a ball; it flies on as the last step dragged it, or with ``velocity``.

        Letting go of a ball that is not held changes nothing.

        Raises
        ------
        IndexError
            There is no such ball.
        ValueError
            The velocity is not finite; nothing has changed.
        """
        row = self._row(ball)
        if velocity is not None:
            self._velocities[row] = setup.two(velocity, "velocity")
        self._held[row] = False

    @property
    def held(self) -> npt.NDArray[np.int64]:
        """The balls that are held, ascending."""
        return np.flatnonzero(self._held)

    def _row(self, ball: int) -> int:
        row = plain(ball, "ball")
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < len(self):
            raise IndexError(f"there is no ball {ball!r}; there are {len(self)}, from 0 up")
        return row


def _candidates(index: Index) -> PairArray:
    """Who may touch whom, in an order that does not depend on the index: that of the bounces."""
    found = index.pairs()
    return found if index.sort else found[np.lexsort((found[:, 1], found[:, 0]))]
