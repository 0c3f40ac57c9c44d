"""What takes several searches: a period or a cell for each environment, and points that all of these share.

Cost: a search for each environment that has a period of its own, some 20 us where it is small; where all have
the same period, one for all is faster.  Shared points are searched once more, beside all others.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.environments import POINT_WIDTHS, as_env, rows_of_both, rows_of_worlds
from broadphase.inputs.periods import as_point_period, is_matrix
from broadphase.inputs.points import GivenPoints, PointQuery, as_query
from broadphase.kernels.boxes.overlap import SHARED
from broadphase.points.lattice import Kept

Rows = npt.NDArray[np.intp]


class Part(NamedTuple):
    """One search."""

    given: GivenPoints
    rows: Rows
    """Of its points among all."""
    others: Rows
    """Of the points that may be found."""
    made: tuple[PointQuery, Kept] | None = None
    """Its query and what is kept for it, where points are searched often."""

    def query(self) -> tuple[PointQuery, Kept | None]:
        """The query, checked, and what is kept for it."""
        return self.made or (as_query(*self.given), None)


class Several(NamedTuple):
    """The searches, of which no two find the same pair."""

    query: PointQuery
    """All points, without a period."""
    parts: list[Part]
    """At least one, for the types of results."""

    def both_ways(self) -> list[Part]:
        """Those that find all for each point; of points among themselves a part may be from one side only."""
        back = [
            Part(GivenPoints(other, points, period, env), others, rows)
            for (points, other, period, env), rows, others, _ in self.parts
            if self.query.others is None and other is not None
        ]
        return [*self.parts, *back]


def split_by_world(given: GivenPoints) -> Several | None:
    """The searches that answer these settled arguments together; None if one does."""
    if has_periods_of_worlds(given):
        return _in_periods_of_worlds(given)
    if given.env is None:
        return None
    pair = given.other is not None and isinstance(given.env, (tuple, list))
    shares = any(np.any(env == SHARED) for env in (given.env if pair else [given.env]))
    return _with_shared(given) if shares else None


def _with_shared(given: GivenPoints) -> Several:
    """All points in their environments, and those that all share beside the others."""
    query = as_query(*given._replace(period=None))
    periodic = as_point_period(given.period, query.points.shape[1]) is not None
    kind = np.dtype(np.float64) if periodic else query.kind  # as `as_query`; distances are rounded in the end
    points, found = query.points.astype(kind, copy=False), query.found.astype(kind, copy=False)
    others, envs = (None, [given.env]) if query.others is None else (found, given.env)
    sides = zip(envs, (points, found), strict=False)
    shared = [np.asarray(as_env(env, len(side))) == SHARED for env, side in sides]
    whole = GivenPoints(points, others, given.period, given.env)
    parts = [Part(whole, np.arange(len(points)), np.arange(len(found)))]
    for chosen, beside in ((shared[0], ~shared[-1]), (~shared[0], shared[-1]))[: len(shared)]:
        rows, others = np.flatnonzero(chosen), np.flatnonzero(beside)
        parts.append(Part(GivenPoints(points[rows], found[others], given.period, None), rows, others))
    return Several(query._replace(points=points, others=None if query.others is None else found), parts)


def has_periods_of_worlds(given: GivenPoints) -> bool:
    """Whether there are environments, and the period is one for each."""
    apart = given.env is not None or given.points.ndim == 3
    return apart and are_periods_of_worlds(given.period, given.points.shape[-1:])


def are_periods_of_worlds(period: Any, axes: tuple[int, ...]) -> bool:
    """Whether the period is ``(worlds, dim)`` or ``(worlds, dim, dim)``.

    ``(dim, dim)`` is a lattice, unless an axis of lengths has no period; `as_query` refuses what may be both.
    """
    if not is_matrix(period) or not all(isinstance(one, tuple) for one in period):
        return False
    if all(map(is_matrix, period)) or (len(period),) != axes:
        return True
    lengths = [length for one in period for length in one]
    open_axes = [length for length in lengths if length is None or length == math.inf]
    return len(open_axes) > 0 and all(
        isinstance(one, (int, float)) and one > 0.0 for one in lengths if one is not None
    )


def _in_periods_of_worlds(given: GivenPoints) -> Several:
    """Each environment by itself.

    Raises
    ------
    ValueError
        An environment has no period: they are the numbers of the periods, from 0 on.
    """
    points, other, periods, env = given
    query = as_query(points, other, None, env)  # what is wrong is named by its row among all
    if other is None:
        _, env = rows_of_worlds(points, env, "points", POINT_WIDTHS)
        rows = others = _rows_of_each(env, len(query.points), "env", len(periods))
    else:
        *_, env = rows_of_both(points, other, env, ("points", "other"), POINT_WIDTHS)
        rows = _rows_of_each(env[0], len(query.points), "env[0]", len(periods))
        others = _rows_of_each(env[1], len(query.found), "env[1]", len(periods))
    # Before those that have points, one without points or period.
    none, parts = np.empty(0, np.intp), []
    for period, members, found in zip((None, *periods), (none, *rows), (none, *others), strict=True):
        if period is None or (len(members) and len(found)):
            among = None if other is None else query.found[found]
            parts.append(Part(GivenPoints(query.points[members], among, period, None), members, found))
    return Several(query, parts)


def _rows_of_each(env: Any, n: int, name: str, count: int) -> list[Rows]:
    """The rows of each environment, ascending."""
    numbers = np.asarray(as_env(env, n, name))
    check_worlds(numbers, name, count)
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.searchsorted(numbers[order], np.arange(1, count)))


def check_worlds(numbers: npt.NDArray[np.int64], name: str, count: int) -> None:
    """Refuse environments without a period of their own."""
    wrong = np.flatnonzero((numbers < 0) | (numbers >= count))
    if len(wrong):
        raise ValueError(
            f"{name}[{wrong[0]}] = {numbers[wrong[0]]} has no period: period holds those of the environments "
            f"0 to {count - 1}"
        )
