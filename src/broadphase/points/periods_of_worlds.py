"""A period or a cell for each environment: each is searched by itself, and the results are put together.

Cost: a search for each environment, some 20 us where it is small.  Where all have the same period, one for
all is faster.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.environments import POINT_WIDTHS, as_env, rows_of_both, rows_of_worlds
from broadphase.inputs.points import GivenPoints, as_query

Rows = npt.NDArray[np.intp]


class World(NamedTuple):
    """One environment."""

    given: GivenPoints
    rows: Rows
    """Of its points among all."""
    others: Rows
    """Of the points that may be found."""


class Worlds(NamedTuple):
    """Points of several environments, each with a period of its own."""

    points: npt.NDArray[Any]
    others: npt.NDArray[Any] | None
    env: npt.NDArray[np.int64]
    other_env: npt.NDArray[np.int64]
    periods: tuple[Any, ...]

    @property
    def nothing(self) -> World:
        """No points."""
        none = np.empty(0, np.intp)
        others = None if self.others is None else self.others[:0]
        return World(GivenPoints(self.points[:0], others, None, None), none, none)

    @property
    def shape(self) -> tuple[int, int]:
        """How many points there are, and how many may be found."""
        return len(self.points), len(self.points if self.others is None else self.others)

    def each(self) -> Iterator[World]:
        """The environments that have points, in order."""
        for number, period in enumerate(self.periods):
            rows = np.flatnonzero(self.env == number)
            others, found = rows, None
            if self.others is not None:
                others = np.flatnonzero(self.other_env == number)
                found = self.others[others]
            if len(rows) and len(others):
                yield World(GivenPoints(self.points[rows], found, period, None), rows, others)


def has_periods_of_worlds(given: GivenPoints) -> bool:
    """Whether the period is ``(worlds, dim)`` or ``(worlds, dim, dim)``.

    ``(dim, dim)`` is a lattice beside ``env=``; beside ``dim`` worlds of points it is refused elsewhere.
    """
    period = given.period
    if not isinstance(period, tuple) or (given.env is None and np.ndim(given.points) != 3):
        return False
    if not period or not all(isinstance(one, (tuple, np.ndarray)) for one in period):
        return False
    return all(map(_is_cell, period)) or len(period) != np.shape(given.points)[-1]


def _is_cell(one: Any) -> bool:
    return np.ndim(one) == 2 if isinstance(one, np.ndarray) else any(isinstance(row, tuple) for row in one)


def worlds_of(given: GivenPoints) -> Worlds:
    """The environments of settled points.

    Raises
    ------
    ValueError
        An environment has no period: they are the numbers of the periods, from 0 on.
    """
    points, other, env = given.points, given.other, given.env
    as_query(points, other, None, env)  # what is wrong is named by its row among all
    if other is None:
        points, env = rows_of_worlds(points, env, "points", POINT_WIDTHS)
        envs = [as_env(env, len(points))] * 2
    else:
        points, other, env = rows_of_both(points, other, env, ("points", "other"), POINT_WIDTHS)
        if not isinstance(env, (tuple, list)) or len(env) != 2:
            raise ValueError("env must be a pair with other=: one array for the points, one for the others")
        envs = [as_env(env[0], len(points), "env[0]"), as_env(env[1], len(other), "env[1]")]
    periods = tuple(
        tuple(map(tuple, one.tolist())) if isinstance(one, np.ndarray) else one for one in given.period
    )
    numbers = [np.asarray(one, np.int64) for one in envs]
    for one, name in zip(numbers, ("env", "env[1]"), strict=True):
        wrong = np.flatnonzero((one < 0) | (one >= len(periods)))
        if len(wrong):
            raise ValueError(
                f"{name}[{wrong[0]}] = {one[wrong[0]]} has no period: period holds those of the environments "
                f"0 to {len(periods) - 1}"
            )
    return Worlds(points, other, numbers[0], numbers[1], periods)


def radii_of(r: Any, world: World, worlds: Worlds) -> Any:
    """The distance, or the radii of an environment's points."""
    if isinstance(r, tuple) and len(r) == 2 and worlds.others is not None:
        return _of_rows(r[0], "r[0]", world.rows, worlds.points), _of_rows(
            r[1], "r[1]", world.others, worlds.others
        )
    return r if np.ndim(r) == 0 else _of_rows(r, "r", world.rows, worlds.points)


def _of_rows(radii: Any, name: str, rows: Rows, points: npt.NDArray[Any]) -> Any:
    if len(radii) != len(points):
        raise ValueError(f"{name} must have {len(points)} radii, one a point; got {len(radii)}")
    return np.asarray(radii)[rows]
