"""A neighbour list that is searched anew only when a point has moved far (L. Verlet, Phys. Rev. 159, 1967).

Pairs are searched up to ``r`` and a skin.  While no point has moved by more than half of the skin, every pair
within ``r`` is among them; so a step compares their distances, and neither sorts nor searches.

Cost: of a step, one distance for each pair of the list, and now and then a search.  It wins where a search is
dear: points that barely move, radii that differ much.  For points of one radius a search takes only half as
long again as a look at all pairs of the list; a plain `neighbors` in each step is nearly as good.
"""

import math
from typing import Any

import numpy as np

from broadphase.errors import instead
from broadphase.inputs import Lengths
from broadphase.inputs.arrays import rounded, settled
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.periods import settled_period
from broadphase.inputs.points import (
    GivenPoints,
    PointQuery,
    as_distance,
    as_query,
    settled_points,
    settled_reach,
)
from broadphase.methods.task import NO_LIMIT
from broadphase.points.fixed_radius import Reach, near_among
from broadphase.points.lattice import along_vectors, is_short
from broadphase.points.neighbor_lists import Neighbors
from broadphase.points.neighborhoods import (
    How,
    near_in,
    near_of_several,
    offsets_of,
    radii_in_rows,
    reach_of,
    within_rounded,
)
from broadphase.points.several import Part, has_periods_of_worlds, split_by_world

_ROUNDING = 32.0


@instead({"period": "the period of a step is neighbors(points, period=)"})
class VerletList:
    """Neighbours of points that move little from step to step.

    Parameters
    ----------
    r : float or array_like
        The distance, or a radius for each point, as for `broadphase.neighbors`.
    skin : float
        How much farther to search.  Pairs are searched again once a point has moved by more than half of it.
    period, exclude, threads
        As for `broadphase.neighbors`; a period that changes is given with each step.  Where lattice vectors
        change, or ``r`` is so long that it reaches half of one, each step is a search.

    Attributes
    ----------
    searches : int
        In how many steps pairs were searched.

    Raises
    ------
    TypeError, ValueError
        As for `broadphase.neighbors`; some of it in the first step.

    Examples
    --------
    >>> import broadphase as bp
    >>> near = bp.VerletList(5.0, 1.0)
    >>> len(near.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 9.0]])), near.searches
    (1, 1)
    >>> len(near.neighbors([[0.0, 0.0], [3.0, 4.1], [0.0, 8.9]])), near.searches
    (0, 1)
    """

    __slots__ = (
        "_env",
        "_exclude",
        "_list",
        "_lists",
        "_parts",
        "_period",
        "_query",
        "_r",
        "_shape",
        "_skin",
        "searches",
    )

    def __init__(
        self,
        r: Any,
        skin: float,
        *,
        period: Lengths | None = None,
        exclude: Any = None,
        threads: int | None = None,
    ) -> None:
        self._parts, self._r = thread_count(threads), settled_reach(r)
        self._skin = as_distance(settled_reach(skin), np.dtype(np.float64), "skin")
        self._period, self._exclude = settled_period(period), settled(exclude, "exclude")
        self._list: Neighbors | None = None
        self._query: PointQuery | None = None
        self._env: Any = None
        self._shape: tuple[int, ...] = ()
        self._lists: dict[int, VerletList] = {}
        """By their first points those of environments with a period of their own."""
        self.searches = 0

    def neighbors(
        self,
        points: Any,
        *,
        period: Any = None,
        env: Any = None,
        offsets: bool = False,
        half: bool = True,
    ) -> Neighbors:
        """What ``broadphase.neighbors(points, r)`` returns, number for number.

        Parameters
        ----------
        points : array_like
            As many as in the last step, or others: then all pairs are searched.
        period : sequence of float or None, optional
            The period from this step on, in a world that changes (NPT); by default that of the step before.
            Pairs are searched again when the skin no longer covers how points and world have changed.
        env, offsets, half
            As for `broadphase.neighbors`.

        Raises
        ------
        TypeError, ValueError
            As for `broadphase.neighbors`; the list is as it was.
        """
        period = self._period if period is None else settled_period(period)
        given = settled_points(points, None, period, env)
        how = How(0.0, False, True, bool(offsets), self._parts, NO_LIMIT, bool(half), self._exclude)
        r = radii_in_rows(self._r, given)
        if has_periods_of_worlds(given):
            found = self._in_worlds(given, r, how)
            self._period = period
            return found
        query = as_query(*given)
        reach = reach_of(r, query)
        if not len(query.points) or (query.lattice is not None and not is_short(query, reach.r)):
            found = near_in(given, r, how)
            self._period, self.searches = period, self.searches + 1
            return found
        kept = self._list
        if kept is None or not np.array_equal(given.env, self._env) or self._is_stale(query, reach.r):
            kept = near_in(given, self._searched(query, reach), how._replace(offsets=False, half=True))
            self._list, self._query, self._env = kept, query, given.env
            self.searches += 1
        self._period = period
        around = query if query.lattice is None else along_vectors(query)
        pairs = near_among(around, kept.i, kept.j, reach, self._parts)
        which = within_rounded(query, reach, *pairs)
        i, j, distance = (column[which] for column in pairs)
        offset = rounded(offsets_of(query, self._parts, i, j), query.kind) if offsets else None
        shape = len(query.points), len(query.points)
        found = Neighbors(i, j, rounded(distance, query.kind), shape, offset=offset, parts=self._parts)
        return found if half else found.in_both_directions()

    def _in_worlds(self, given: GivenPoints, r: Any, how: How) -> Neighbors:
        """A list for each environment."""
        several = split_by_world(given)
        assert several is not None
        if given.points.shape != self._shape or not np.array_equal(given.env, self._env):
            self._lists, self._shape, self._env = {}, given.points.shape, given.env
        before = sum(one.searches for one in self._lists.values())

        def step(part: Part, r: Any, how: How) -> Neighbors:
            first = int(part.rows[0]) if len(part.rows) else -1  # a part without points is for types
            kept_list = self._lists.get(first)
            if kept_list is None:
                kept_list = VerletList(r, self._skin, period=part.given.period, threads=self._parts)
                if first >= 0:
                    self._lists[first] = kept_list
            return kept_list.neighbors(part.given.points, period=part.given.period, offsets=how.offsets)

        found = near_of_several(several, r, how, step)
        self.searches += sum(one.searches for one in self._lists.values()) > before
        return found

    def _searched(self, query: PointQuery, reach: Reach) -> Any:
        """The distance or radii of the search: larger than necessary by more than rounding takes away."""
        lengths = query.period if query.lattice is None else np.abs(query.lattice.vectors)
        around = lengths[np.isfinite(lengths)].max(initial=0.0) * np.finfo(np.float64).eps
        more = 1.0 + _ROUNDING * float(np.finfo(query.kind).eps)
        if not len(reach.radii):
            return (reach.r + self._skin) * more + _ROUNDING * around
        with np.errstate(over="ignore"):
            return (reach.radii.astype(np.float64) + self._skin / 2) * more + _ROUNDING * around

    def _is_stale(self, query: PointQuery, r: float) -> bool:
        """Whether the pairs in the list may not be all that are near.

        Where the period has changed, places are compared in the world of before: there a way of length ``r``
        is at most ``r`` times as long as the world has shrunk.
        """
        before = self._query
        assert before is not None
        if query.points.shape != before.points.shape or query.kind != before.kind:
            return True
        if not np.array_equal(query.envs, before.envs):
            return True
        if query.lattice is not None or before.lattice is not None:
            if before.lattice is None or query.lattice is not before.lattice:
                return True
            away = query.points - before.points
            # Few cross the cell's boundary, or have moved so far along an axis.
            most = self._skin / (2.0 * math.sqrt(away.shape[1]))
            away = away[np.flatnonzero(np.abs(away) > most) // away.shape[1]]
            away -= np.rint(away @ before.lattice.inverse) @ before.lattice.vectors
            return bool((2.0 * np.hypot.reduce(away, axis=1) > self._skin).any())
        ends = list(zip(before.period.tolist(), query.period.tolist(), strict=True))
        if any(math.isfinite(old) != math.isfinite(new) for old, new in ends):
            return True
        scales = [old / new if old != new else 1.0 for old, new in ends]
        skin = self._skin
        if max(scales) > 1.0:
            skin -= (max(scales) - 1.0) * r
        squares = np.zeros(len(query.points))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not a number is stale
            for axis, ((length, _), scale) in enumerate(zip(ends, scales, strict=True)):
                away = np.abs(query.points[:, axis].astype(np.float64) * scale - before.points[:, axis])
                np.minimum(away, np.abs(length - away), out=away)
                squares += away * away
            return bool(not 2.0 * math.sqrt(squares.max()) <= skin)
