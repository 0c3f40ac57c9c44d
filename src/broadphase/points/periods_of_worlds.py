"""A period or a cell for each environment: each is searched by itself, and the results are put together.

Cost: a search for each environment, some 20 us where it is small.  Where all have the same period, one for
all is faster.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.environments import POINT_WIDTHS, as_env, rows_of_both, rows_of_worlds
from broadphase.inputs.periods import is_matrix
from broadphase.inputs.points import GivenPoints, PointQuery, as_query

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

    query: PointQuery
    """All points, without a period."""
    periods: tuple[Any, ...]
    rows: list[Rows]
    """Of the points of each environment."""
    others: list[Rows]
    """Of the points that may be found."""

    def each(self) -> Iterator[World]:
        """The environments that have points, in order; before these, one without points or period."""
        points, others, none = self.query.points, self.query.others, np.empty(0, np.intp)
        worlds = zip((None, *self.periods), (none, *self.rows), (none, *self.others), strict=True)
        for period, rows, found in worlds:
            if period is None or (len(rows) and len(found)):
                among = None if others is None else others[found]
                yield World(GivenPoints(points[rows], among, period, None), rows, found)


def has_periods_of_worlds(given: GivenPoints) -> bool:
    """Whether the period is ``(worlds, dim)`` or ``(worlds, dim, dim)``.

    ``(dim, dim)`` is a lattice, unless an axis has no period; `as_query` refuses what may be lengths too.
    """
    period = given.period
    if not is_matrix(period) or (given.env is None and given.points.ndim != 3):
        return False
    if not all(isinstance(one, tuple) for one in period):
        return False
    if all(map(is_matrix, period)) or (len(period),) != given.points.shape[-1:]:
        return True
    return any(length is None or length == math.inf for one in period for length in one)


def worlds_of(given: GivenPoints) -> Worlds:
    """The environments of settled points.

    Raises
    ------
    ValueError
        An environment has no period: they are the numbers of the periods, from 0 on.
    """
    points, other, periods, env = given
    query = as_query(points, other, None, env)  # what is wrong is named by its row among all
    if other is None:
        _, env = rows_of_worlds(points, env, "points", POINT_WIDTHS)
        rows = _rows_of_each(env, len(query.points), "env", len(periods))
        return Worlds(query, periods, rows, rows)
    *_, env = rows_of_both(points, other, env, ("points", "other"), POINT_WIDTHS)
    rows = _rows_of_each(env[0], len(query.points), "env[0]", len(periods))
    return Worlds(query, periods, rows, _rows_of_each(env[1], len(query.found), "env[1]", len(periods)))


def _rows_of_each(env: Any, n: int, name: str, count: int) -> list[Rows]:
    """The rows of each environment, ascending."""
    numbers = np.asarray(as_env(env, n, name))
    wrong = np.flatnonzero((numbers < 0) | (numbers >= count))
    if len(wrong):
        raise ValueError(
            f"{name}[{wrong[0]}] = {numbers[wrong[0]]} has no period: period holds those of the environments "
            f"0 to {count - 1}"
        )
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.searchsorted(numbers[order], np.arange(1, count)))
