"""Points by id that are searched often: `broadphase.neighbors` and `nearest` without sorting each time.

An index that was just made is its points and nothing else, which a few queries scan (`few.NewPoints`).  The
cells of `broadphase.points.fixed_radius` and the tree of `broadphase.points.nearest` are made when they are
first needed, and kept until a point changes.

Cost: a change is that of a row; the first query after it sorts all points.  So it wins where there are many
queries for each change, and gains nothing where everything moves in each frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from broadphase.errors import instead
from broadphase.indexes import arguments
from broadphase.indexes.arguments import Given, Reader
from broadphase.indexes.results import Nearest, in_axes
from broadphase.indexes.storage import EVERY_BIT, BoxStore, ById, IdArray, MadeLater, as_kind, read_only
from broadphase.inputs import Array, Lengths, Numbers, Place, RowsLike
from broadphase.inputs.arrays import POINTS, settled
from broadphase.inputs.environments import POINT_WIDTHS, Envs, as_env, rows_of_worlds
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.periods import as_point_period, is_matrix, settled_period
from broadphase.inputs.points import (
    GivenPoints,
    PointQuery,
    Points,
    as_query,
    as_reach,
    query_from,
    settled_points,
    settled_reach,
)
from broadphase.kernels.boxes.overlap import SHARED
from broadphase.kernels.machine.kernel import try_call
from broadphase.kernels.points.nearest_points import nearest_in_tree
from broadphase.methods.task import pair_limit
from broadphase.periods.lattice import Lattice
from broadphase.points.few import NewPoints, find_in_cells, new_points
from broadphase.points.lattice import Kept
from broadphase.points.nearest import Counted, as_places
from broadphase.points.neighbor_lists import Neighbors
from broadphase.points.neighborhoods import (
    How,
    near_of,
    near_of_several,
    nearest_of,
    nearest_of_several,
    offsets_of,
)
from broadphase.points.several import Part, Several, are_periods_of_worlds, check_worlds, split_by_world
from broadphase.runtime.thresholds import NEAREST_AT_ONCE

_nearest_in_tree = try_call(nearest_in_tree)
_new = tuple.__new__


@dataclass(slots=True)
class _Kept(Kept):
    """What was made of the points since they last changed."""

    query: PointQuery = field(kw_only=True)
    ids: IdArray | None = field(kw_only=True)
    """Of the rows, then -1 for the row -1; None where they are the same numbers."""
    envs: Envs | None = field(kw_only=True)
    """The environments that there are, ascending; None where all points share one."""
    end: int = field(kw_only=True)
    """All ids are below."""
    worlds: dict[int, Part] = field(default_factory=dict)
    """Of environments with a period of their own, by their place in ``envs``."""
    plain: bool = field(kw_only=True)
    """Whether kernels read and answer single queries: no environments, no lattice, no rounding afterwards."""

    def near_one(self, point: Given, r: float) -> tuple[Any, Any] | None:
        """As `NewPoints.near_one`, in cells."""
        reach = as_reach(r, self.query)
        pairs = find_in_cells(self.query, self.cells.cells(self.query, reach, 1), point, reach)
        return None if pairs is None else pairs[1:]

    def nearest_one(self, point: Given, k: int, r: float) -> tuple[Any, ...] | None:
        """As `NewPoints.nearest_one`, in the tree; None if there is none yet."""
        query, made = self.query, self.tree
        points, n = query.found, len(query.found)
        if made is None or k > n or made.scale != 1.0 or made.kind != points.dtype:
            return None
        found = _nearest_in_tree(made.tree, n, query.period, point, k, r)
        return found if found is not None and found[2] else None

    def nearest_many(self, points: Points, k: int, r: Any) -> tuple[Numbers, Points] | None:
        """The same of a few points, in rows."""
        if len(points) * (1 + k) > NEAREST_AT_ONCE or type(r) is not float:
            return None
        rows: Any = np.ascontiguousarray(points, np.float64)
        found = self.nearest_one(rows, k, r)
        return None if found is None else (found[0].reshape(-1, k), found[1].reshape(-1, k))


_OTHER_NAMES = {
    **dict.fromkeys(["query", "search", "knn"], "it is nearest(points, k) here"),
    **dict.fromkeys(
        ["query_ball_point", "query_radius", "query_pairs", "radius_neighbors"],
        "it is neighbors(points, r) here",
    ),
}


@instead(_OTHER_NAMES)
class PointIndex(ById):
    """Points that are built once and searched often.

    Parameters
    ----------
    points : array_like, optional
        ``(n, 2)`` or ``(n, 3)``, finite: the first points, with the ids 0 to n - 1.
    dim : {2, 3}, optional
        By default that of the first points, and 2 until there are any.
    dtype : numpy.float64 or numpy.float32, optional
        What the points are kept in, to which others are rounded.  By default that of the first points.
    period : sequence of float or None, float, optional
        As for `broadphase.neighbors`; with one for each environment these are 0, 1, ...  Points are kept as
        they were given.

    Raises
    ------
    TypeError, ValueError
        As for `broadphase.neighbors`.

    Notes
    -----
    ``env=`` of a query is the environment to search, or one for each query: points of other environments do
    not count.  By default it is 0; if the index has environments, 0, 1, ... along the first of several axes.
    Points of -1 are in every environment, and a query in -1 searches all points: then nothing is kept, and
    each search sorts all points.

    Many threads may search at once.  Insertions, moves and removals must have the index to themselves.

    The first search after a change sorts all points; those that an index was just made of are scanned, until
    scans have cost as much.  Cells are kept for the last four distances, and each
    serves smaller distances too, down to half of its own.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.PointIndex([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> index.nearest((0.0, 0.9), 2).ids
    array([2, 0], dtype=int32)
    >>> index.remove(2)
    >>> index.neighbors((0.0, 0.9), 1.0).j
    array([0], dtype=int32)
    >>> index.insert((1.0, 1.0))
    2
    """

    def __init__(
        self,
        points: RowsLike | None = None,
        *,
        dim: int | None = None,
        dtype: npt.DTypeLike | None = None,
        period: Lengths | None = None,
    ) -> None:
        dim, kept_in = as_kind(dim, dtype)
        self._asked_period = settled_period(period)
        axes = self._asked_period
        if is_matrix(axes):
            axes = next(row for row in axes if isinstance(row, tuple))
        if dim is None and isinstance(axes, tuple) and len(axes) in (2, 3):
            dim = len(axes)
        self._periods: tuple[Any, ...] = ()
        """One for each environment, where these differ."""
        several = dim is not None and are_periods_of_worlds(self._asked_period, (dim,))
        if several and all(len(one) == dim for one in self._asked_period):
            self._periods = self._asked_period
        self._given: tuple[int | None, np.dtype[Any] | None] | None = dim, kept_in
        """Dimension and dtype, None where the first points decide; None altogether after these."""
        self._kept: _Kept | None = None
        self._asked: NewPoints | _Kept | None = None
        """What answers single queries as the caller wrote them."""
        if points is not None and period is None:
            self._asked = new_points(points, dim, kept_in)
        if self._asked is not None:
            self._given = None
        else:
            self._store, self._reader = self._for(None)
            if points is not None:
                self.insert_many(points)

    if not TYPE_CHECKING:  # a `__getattr__` would slow all other attributes
        _store, _reader = MadeLater(), MadeLater()

    def _make_whole(self) -> None:
        """Give an index of new points what all others have."""
        new = self._asked
        if isinstance(new, NewPoints):
            made = PointIndex(dim=new.rows.shape[1], dtype=new.rows.dtype)
            made.insert_many(new.rows)
            self.__dict__.update(made.__dict__)  # all or nothing, if this is interrupted

    def _forget(self) -> None:
        """Before points change: nothing is kept of them."""
        self._make_whole()
        self._kept = self._asked = None

    def _for(self, points: Any) -> tuple[BoxStore, Reader]:
        """Where points like these belong: before the first ones, an empty store of their kind."""
        if self._given is None:
            return self._store, self._reader
        dim, dtype = self._given
        if points is not None:
            dim = dim or (points.shape[-1] if points.ndim and points.shape[-1] in (2, 3) else None)
            dtype = points.dtype if dtype is None else dtype
        reader = Reader(dim or 2, np.dtype(np.float64) if dtype is None else dtype)
        for period in self._periods or (self._asked_period,):
            as_point_period(period, reader.dim)
        return BoxStore(reader.dim, reader.dtype, what="point"), reader

    @property
    def period(self) -> tuple[Any, ...] | None:
        """The length of the world on each axis, ``None`` without a period; or lattice vectors.

        Or one of these for each environment.
        """
        if self._periods:
            return self._periods
        lengths = as_point_period(self._asked_period, self.dim)
        if lengths is None:
            return None
        if isinstance(lengths, Lattice):
            matrix: tuple[tuple[float, ...], ...] = self._asked_period
            return matrix
        return tuple(length if np.isfinite(length) else None for length in lengths.tolist())

    # ---- filling and changing

    def insert(self, point: Place | Array, *, env: int = 0) -> int:
        """Add a point.

        Parameters
        ----------
        point : array_like, shape (dim,)
        env : int
            Its environment: points of different ones never meet, but those of -1 are in all of them.

        Returns
        -------
        int
            Its id: the lowest that is free.

        Raises
        ------
        TypeError, ValueError
            It is not a point, or not finite; nothing has changed.
        """
        point, env = settled(point, "point", POINTS), settled(env, "env")
        store, reader = self._for(point)
        row, envs = _one(reader, point), as_env(env, 1)
        assert envs is not None
        self._check_envs(envs)
        self._forget()
        if envs[0]:
            store.use_envs()
        new = store.add(row, False, 1, EVERY_BIT, int(envs[0]))
        self._store, self._reader, self._given = store, reader, None
        return new

    def insert_many(self, points: RowsLike, *, env: Any = None) -> IdArray:
        """Add points, in their order, at the lowest free ids.

        Parameters
        ----------
        points : array_like, shape (n, dim)
            Also a table or geometry points: see `broadphase.neighbors`.  Points of shape ``(worlds, n, dim)``
            are those of the environments 0, 1, ...
        env : int or array_like of int, shape (n,), optional
            The environment of all points, or of each; 0 by default.

        Returns
        -------
        numpy.ndarray
            ``(n,)`` int32: the new ids, ascending.

        Raises
        ------
        TypeError, ValueError
            As for `insert`, naming the row; nothing has changed.
        """
        given, env = settled(points, "points", POINTS), settled(env, "env")
        given, env = rows_of_worlds(given, env, "points", POINT_WIDTHS)
        store, reader = self._for(given)
        rows = _many(reader, given)
        n = len(rows)
        envs = as_env(env, n)
        self._check_envs(envs)
        self._forget()
        if envs is not None and envs.any():
            store.use_envs()
        rules = np.zeros(n, np.bool_), np.ones(n, np.uint32), np.full(n, EVERY_BIT, np.uint32)
        ids = store.add_many(rows, *rules, envs)
        if given.ndim == 2:  # an empty list says nothing
            self._store, self._reader, self._given = store, reader, None
        return ids

    def move(self, id: int, point: Place | Array) -> None:  # noqa: A002 - the word that users know
        """Give a point a new place.

        Parameters
        ----------
        id : int
        point : array_like, shape (dim,)

        Raises
        ------
        KeyError
            No point has this id.
        TypeError, ValueError
            It is not a point, or not finite; nothing has changed.
        """
        row = np.array(_one(self._reader, settled(point, "point", POINTS)), self.dtype)
        known = self._store.known_id(id)
        self._forget()
        self._store.boxes[known] = row

    def move_many(self, ids: Numbers, points: RowsLike) -> None:
        """Give points new places.

        Parameters
        ----------
        ids : array_like of int, shape (k,)
            Each id once.
        points : array_like, shape (k, dim)

        Raises
        ------
        KeyError
            An id is not in use; nothing has changed.
        TypeError, ValueError
            An id is named twice, a point is not finite, or the lengths differ; nothing has changed.
        """
        ids, points = settled(ids, "ids"), settled(points, "points", POINTS)
        known = self._store.known_ids(ids)
        rows = _many(self._reader, points)
        if len(known) != len(rows):
            raise ValueError(
                f"ids and points must have one length; got {len(known)} ids and {len(rows)} points"
            )
        before = self._store.rows_before(known, rows)
        self._forget()
        try:
            self._store.write(known, rows)
        except BaseException:  # it was interrupted
            self._store.take_back(known, before)
            raise

    def clear(self) -> None:
        """Take all points out; ids begin at 0 again.  Dimension, dtype and period stay."""
        self._forget()
        self._store.empty()

    def _leave(self, ids: IdArray) -> None:
        self._forget()
        self._store.drop(ids)

    @property
    def points(self) -> Points:
        """The points in id order: ``(len, dim)``, read-only; good until the next change."""
        return read_only(self._store.live_boxes())

    # ---- searching

    def neighbors(
        self,
        points: Place | RowsLike,
        r: Any,
        *,
        r_min: float = 0.0,
        exclude_self: bool = False,
        sort: bool = True,
        threads: int | None = None,
        max_pairs: int | None = None,
        offsets: bool = False,
        env: Any = None,
    ) -> Neighbors:
        """The points of the index within a distance of others, or of one.

        Parameters
        ----------
        points : array_like, shape (m, dim) or (dim,)
            Finite; rounded to the dtype of the index.  Of several leading axes the rows of the result are
            those of ``points.reshape(-1, dim)``.
        r : float or array_like, shape (m,)
            The distance, or one for each query.
        exclude_self : bool
            Whether row ``i`` of the points and row ``i`` of ``index.points`` are not a pair, for a search
            from the points of the index.
        r_min, sort, threads, max_pairs, offsets
            As for `broadphase.neighbors`.
        env : int or array_like of int, shape (m,), optional
            The environment to search; see `PointIndex`.

        Returns
        -------
        Neighbors
            What ``broadphase.neighbors(points, r, other=index.points)`` returns, with ids in ``j``: row ``i``
            of the query is near point ``j`` of the index.

        Raises
        ------
        TypeError, ValueError, PairLimitExceeded
            As for `broadphase.neighbors`.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.PointIndex([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
        >>> index.neighbors([[0.0, 0.5], [3.0, 3.0]], 1.0).edge_index()
        array([[0, 0, 1],
               [0, 2, 1]])
        """
        parts, limit, r = thread_count(threads), pair_limit(max_pairs), settled_reach(r)
        asked, plain = self._asked, type(r_min) is float and r_min == 0.0 and not (exclude_self or offsets)
        if asked is not None and plain and env is None:
            at_once = self._near_at_once(asked, points, r, parts, limit)
            if at_once is not None:
                return at_once
        (points, r), env, _ = self._in_rows(env, points, r)
        query, kept, several = self._query(points, env)
        how = How(r_min, bool(exclude_self), bool(sort), offsets, parts, limit)
        found = near_of(query, r, how, kept) if several is None else near_of_several(several, r, how)
        found.shape, found.has_other_ids = (len(query.points), kept.end), True
        if kept.ids is not None:
            found.j = kept.ids[found.j]
        return found

    def nearest(
        self,
        points: Place | RowsLike,
        k: int | Sequence[int],
        *,
        r: float = np.inf,
        exclude_self: bool = False,
        threads: int | None = None,
        env: Any = None,
    ) -> Nearest:
        """The ``k`` points of the index that are nearest to each of others, or to one.

        Parameters
        ----------
        points : array_like, shape (..., dim)
            Finite; rounded to the dtype of the index.
        k, r, threads
            As for `broadphase.nearest`.
        exclude_self : bool
            Whether row ``i`` of ``index.points`` does not count for row ``i`` of the points.
        env : int or array_like of int, shape (m,), optional
            The environment to search; see `PointIndex`.

        Returns
        -------
        Nearest
            What ``broadphase.nearest(points, k, other=index.points)`` returns, with the ids of the index, in
            shape ``(..., k)``: of one point ``(k,)``.

        Raises
        ------
        TypeError, ValueError
            As for `broadphase.nearest`.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.PointIndex([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
        >>> index.nearest((3.0, 3.0), [1, 3])
        Nearest(ids=array([1, 0], dtype=int32), distances=array([1.        , 4.24264069]))
        """
        asked = self._asked
        if asked is not None and type(k) is int and k > 0 and env is threads is None and not exclude_self:
            given = points if type(points) is tuple else arguments.as_given(points)
            if given and type(r) is float:
                found = asked.nearest_one(given, k, r)
                if found is not None:
                    ids = found[0] if asked.ids is None else asked.ids[found[0]]
                    return _new(Nearest, (ids, found[1]))
        parts, places, r = thread_count(threads), as_places(k), settled_reach(r)
        if asked is not None and env is None and not exclude_self:
            points = rows = settled(points, "points", POINTS)
            many = asked.nearest_many(rows, places.most, r) if rows.ndim == 2 else None
            if many is not None:
                ids, distances = places.of(*many)
                return Nearest(ids if asked.ids is None else asked.ids[ids], distances)
        (points,), env, axes = self._in_rows(env, points)
        query, kept, several = self._query(points, env)
        counted = Counted(bool(exclude_self))
        if several is None:
            ids, distances = nearest_of(query, places, r, parts, counted, kept)
        else:
            ids, distances = nearest_of_several(several, places, r, parts, counted)
        if kept.ids is not None:
            ids = kept.ids[ids]
        return in_axes(Nearest(ids, distances), axes)

    def _near_at_once(
        self, asked: NewPoints | _Kept, points: Any, r: Any, parts: int, limit: int
    ) -> Neighbors | None:
        """What `neighbors` returns for one point or a few; None where that is not the usual case."""
        given = arguments.as_given(points)
        if given:
            found_near = asked.near_one(given, r) if type(r) is float and r >= 0.0 else None
            if found_near is None or len(found_near[0]) > limit:
                return None
            rows, distance = found_near
            i, n = np.zeros(len(rows), np.int32), 1
        else:
            given = settled(points, "points", POINTS)
            few = None
            if isinstance(asked, NewPoints) and given.ndim == 2:
                few = asked.near_many(given, r, limit)
            if few is None:
                return None
            (i, rows, distance), n = few, len(given)
        ways = partial(_ways_from, asked, given, i, rows)
        ids = rows if asked.ids is None else asked.ids[rows]
        found = Neighbors(i, ids, distance, (n, asked.end), among=False, parts=parts, find_offsets=ways)
        found.has_other_ids = True
        return found

    def _in_rows(self, env: Any, points: Any, *r: Any) -> tuple[list[Any], Any, arguments.Axes | None]:
        """Points and distances in rows, environments, and the axes of the question if it has several."""
        points, env = settled(points, "points", POINTS), arguments.settled_env(env)
        if points.ndim < 3:  # the usual case
            return [points, *r], env, None
        named = [(points, "points", self._for(points)[1].dim), *((one, "r", 0) for one in r)]
        return arguments.in_rows(named, env, self._store.envs is not None)

    def _query(self, points: Any, env: Any) -> tuple[PointQuery, _Kept, Several | None]:
        """The query, what is kept for it, and the searches in place of it where points are shared."""
        store, reader = self._for(points)
        given = reader.point_or_points(points, "points", finite=True)
        one, rows = given.ndim == 1, np.atleast_2d(given).astype(reader.dtype, copy=False)
        asked = as_env(env, len(rows))
        self._check_envs(asked)
        kept, apart = self._kept, store.envs is not None or len(self._periods) > 0
        known = store is self._store and (apart or env is None or not np.any(env))
        if kept is None or not known:
            kept = self._made(store, reader, apart or not known)
            if known:
                self._kept = kept
                self._asked = kept if kept.plain else None
        query = query_from(kept.query, rows, one)
        if kept.envs is None:
            return query, kept, None
        asked = np.zeros(len(rows), np.int64) if asked is None else asked
        places = np.searchsorted(kept.envs, asked)
        found = np.append(kept.envs, 0)[places] == asked
        # The last number is that of an environment without points.
        numbers = np.where(found & (places < len(kept.envs)), places, len(kept.envs)).astype(np.int32)
        several = None
        if self._periods:
            return query, kept, self._in_worlds(kept, query, numbers)
        if SHARED in kept.envs or SHARED in asked:
            envs, points_asked = (asked, store.live_envs()), rows[0] if one else rows
            several = split_by_world(
                settled_points(points_asked, store.live_boxes(), self._asked_period, envs)
            )
        return query._replace(envs=numbers), kept, several

    def _check_envs(self, envs: Envs | None) -> None:
        if self._periods and envs is not None:
            check_worlds(envs, "env", len(self._periods))

    def _in_worlds(self, kept: _Kept, query: PointQuery, places: npt.NDArray[np.int32]) -> Several:
        """A search for each environment in ``places`` of those that there are, with what is kept for it."""
        assert kept.envs is not None
        none = np.empty(0, np.intp)
        parts = [Part(GivenPoints(query.points[:0], query.found[:0], None, None), none, none)]
        for place in np.unique(places[places < len(kept.envs)]).tolist():
            world = kept.worlds.get(place)
            if world is None:
                others = np.flatnonzero(query.other_envs == place)
                period = self._periods[kept.envs[place]]
                given = GivenPoints(query.points[:0], query.found[others], period, None)
                world = kept.worlds[place] = Part(given, none, others, (as_query(*given), Kept()))
            assert world.made is not None
            rows = np.flatnonzero(places == place)
            points = query.points[rows].astype(query.kind, copy=False)
            made = query_from(world.made[0], points, False), world.made[1]
            parts.append(world._replace(rows=rows, made=made))
        return Several(query, parts)

    def _made(self, store: BoxStore, reader: Reader, with_envs: bool) -> _Kept:
        """What searches need of the points, with environments or without."""
        no_points, ids, envs = np.empty((0, reader.dim), reader.dtype), store.ids(), store.live_envs()
        env = (np.empty(0, np.int64), envs) if with_envs else None
        period = None if self._periods else self._asked_period
        query = as_query(*settled_points(no_points, store.live_boxes(), period, env))
        return _Kept(
            query=query._replace(worlds=query.worlds + 1) if with_envs else query,
            ids=None if store.live == store.end else np.append(ids, np.int32(-1)),
            end=int(ids[-1]) + 1 if len(ids) else 0,
            envs=np.unique(envs) if with_envs else None,
            plain=not with_envs and query.lattice is None and query.kind == query.found.dtype,
        )

    # ---- about itself

    def __getstate__(self) -> dict[str, Any]:
        self._make_whole()
        return self.__dict__ | {"_kept": None, "_asked": None}

    def __repr__(self) -> str:
        about = f"dim={self.dim}, dtype={self.dtype}"
        if self.period is not None:
            about += f", period={self.period}"
        return f"<PointIndex: {len(self)} points, {about}>"


def _ways_from(asked: NewPoints | _Kept, points: Any, i: IdArray, rows: IdArray) -> Points:
    """The offsets from one point or several to some of an index."""
    return offsets_of(query_from(asked.query, np.atleast_2d(np.array(points)), True), 1, i, rows)


def _one(reader: Reader, point: Any) -> tuple[float, ...]:
    given = reader.point_or_points(point, "point", finite=True)
    if given.ndim == 2:
        raise ValueError(
            f"point must be one point of shape ({reader.dim},); got shape {given.shape}; "
            "insert_many() and move_many() take several"
        )
    return tuple(given.tolist())


def _many(reader: Reader, points: Any) -> Points:
    given = reader.point_or_points(points, "points", finite=True)
    if given.ndim == 1:
        raise ValueError(f"points must have shape (n, {reader.dim}); got shape ({reader.dim},)")
    return given.astype(reader.dtype, copy=False)
