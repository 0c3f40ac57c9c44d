"""What is here, near this, or in the way of that: the questions one can ask an index."""

import math
from functools import partial
from typing import Any

import numpy as np

from broadphase import threads
from broadphase.indexes.arguments import (
    Floats,
    Rows,
    around,
    around_many,
    as_given,
    count,
    distance_or_distances,
    lined_up,
    rule,
)
from broadphase.indexes.asking import Asking
from broadphase.indexes.results import Nearest, RayHit, RayHits, RayRows
from broadphase.indexes.storage import IdArray
from broadphase.kernels.arrays.found_ids import FEW, sort_few_rows
from broadphase.kernels.boxes import query_tests, ranking
from broadphase.methods import nearest as methods_nearest

# Fewer queries a thread than this are answered faster than they are handed over.
_SHARE = 1_000


class Queries(Asking):
    """The part of `broadphase.Index` that answers questions; the rules of all queries are told there."""

    def query_box(
        self, box: Any, *, category: int | None = None, mask: int | None = None, env: Any = None
    ) -> IdArray:
        """Ids of the boxes that overlap ``box``.

        Parameters
        ----------
        box : array_like, shape (2 * dim,) or (m, 2 * dim)
            ``[min..., max...]``.
        category, mask : int, optional
            See `broadphase.Index`.
        env : int or array_like of int, shape (m,), optional
            The environment that the question is about, 0 by default; see `broadphase.Index`.

        Returns
        -------
        numpy.ndarray
            int32: ``(n,)`` ids, ascending; of a batch ``(n, 2)`` rows ``[query, id]``, sorted.

        Raises
        ------
        TypeError, ValueError
            The box is no sound box, or of another dimension.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
        array([0, 1, 2], dtype=int32)
        >>> index.query_box([2, 2, 5, 5])
        array([0, 1, 2], dtype=int32)
        >>> index.query_box([[0, 0, 1, 1], [5, 5, 9, 9]])
        array([[0, 0],
               [0, 1],
               [1, 2]], dtype=int32)
        """
        if category is None and mask is None and env is None:
            given = tuple(box) if type(box) is list else as_given(box)
            if given is not None:
                found = self._at_once("query_box", given)
                if found is not None:
                    return found
        query = self._reader.box_or_boxes(box)
        if env is not None or self.many:
            return self._in_env("query_box", (query,), env, category, mask)
        return self._in_box("query_box", query, rule(category, "category"), rule(mask, "mask"))

    def query_point(
        self, point: Any, *, category: int | None = None, mask: int | None = None, env: Any = None
    ) -> IdArray:
        """Ids of the boxes that contain ``point``; without ``touching``, in their inside.

        Parameters
        ----------
        point : array_like, shape (dim,) or (m, dim)
        category, mask, env
            As of `query_box`.

        Returns
        -------
        numpy.ndarray
            As of `query_box`.

        Raises
        ------
        TypeError, ValueError
            A coordinate is NaN, or the dimension is another.
        """
        if category is None and mask is None and env is None:
            given = as_given(point)
            if given is not None:
                found = self._at_once("query_point", given + given)
                if found is not None:
                    return found
        at = self._reader.point_or_points(point, "point")
        if env is not None or self.many:
            return self._in_env("query_point", (at,), env, category, mask)
        query = at + at if isinstance(at, tuple) else np.hstack((at, at))
        return self._in_box("query_point", query, rule(category, "category"), rule(mask, "mask"))

    def query_radius(
        self,
        center: Any,
        r: Any,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
    ) -> IdArray:
        """Ids of the boxes at a distance of at most ``r``; without ``touching``, of less than ``r``.

        Parameters
        ----------
        center : array_like, shape (dim,) or (m, dim)
            Finite.
        r : float or array_like, shape (m,)
            Not negative; infinity is legal.
        category, mask, env
            As of `query_box`.

        Returns
        -------
        numpy.ndarray
            As of `query_box`.

        Raises
        ------
        TypeError, ValueError
            The centre is not finite or of another dimension, or ``r`` is negative or NaN.
        """
        at = self._reader.point_or_points(center, "center", finite=True)
        radius = distance_or_distances(r, "r")
        if env is not None or self.many:
            circles = (at, radius)
            if isinstance(at, np.ndarray) or isinstance(radius, np.ndarray):
                circles = lined_up(at, radius, "center", "r")
            return self._in_env("query_radius", circles, env, category, mask)
        rules = rule(category, "category"), rule(mask, "mask")
        if isinstance(at, tuple) and isinstance(radius, float):
            return self._in_circle(at, radius, *rules)
        return self._in_circles(*lined_up(at, radius, "center", "r"), *rules)

    def raycast(
        self,
        origin: Any,
        direction: Any,
        max_distance: Any = math.inf,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
        ignore: Any = None,
    ) -> RayHit | RayHits | None:
        """The first box that a ray hits; of several at one distance, the lowest id.

        Parameters
        ----------
        origin : array_like, shape (dim,) or (m, dim)
            Finite.
        direction : array_like, shape (dim,) or (m, dim)
            Of any length but zero.
        max_distance : float or array_like, shape (m,)
            In world units, not in lengths of ``direction``.
        category, mask, env
            As of `query_box`.
        ignore : int or array_like of int, shape (m,), optional
            The id of a box that the ray passes through, such as the body of who is looking; -1 for none.

        Returns
        -------
        RayHit or None
            ``id, distance, normal``.  A ray that starts inside a box hits it at distance 0, with a normal
            of zeros.  A box at an infinite distance is not hit.
        RayHits
            Of a batch: arrays with one entry a ray; where nothing is hit, the id is -1 and the distance inf.

        Raises
        ------
        TypeError, ValueError
            A direction is zero, a coordinate is not finite, ``max_distance`` is negative or NaN, or the
            shapes do not fit.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert([4, -1, 5, 1])
        0
        >>> index.raycast([0, 0], [2, 0])
        RayHit(id=0, distance=4.0, normal=(-1.0, 0.0))
        """
        if category is None and mask is None and env is None and ignore is None:
            hits = self._ray_at_once(origin, direction, max_distance)
            if hits is not None:
                return hits[0]
        rays = self._rays(origin, direction, max_distance)
        if env is not None or ignore is not None or self.many:
            from broadphase.indexes import in_env

            rules = {"category": category, "mask": mask}
            return in_env.ask_first(self, rays, 0 if env is None else env, ignore, rules)
        return self._cast(rays, rule(category, "category"), rule(mask, "mask"))

    def _cast(self, rays: Floats | Rows, category: int, mask: int) -> RayHit | RayHits | None:
        rules = category, mask
        self._ready()
        if not isinstance(rays, tuple):
            return self._first_hits(rays, *rules)
        hit, tests = self._find_first_on_ray(rays, *rules)
        self._last = ("raycast", tests, int(hit >= 0))
        if hit < 0:
            return None
        distance, *normal = ranking.describe_first(self._store.boxes, hit, rays)
        return RayHit(int(hit), distance, tuple(normal[: self._reader.dim]))

    def query_ray(
        self,
        origin: Any,
        direction: Any,
        max_distance: Any = math.inf,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
    ) -> RayHits | RayRows:
        """Every box that a ray hits, by distance, then id.

        Parameters
        ----------
        origin, direction, max_distance, category, mask, env
            As of `raycast`.

        Returns
        -------
        RayHits
            Arrays ``ids, distances, normals``.
        RayRows
            Of a batch: arrays ``rows, distances, normals``, where a row is ``[query, id]``.

        Raises
        ------
        TypeError, ValueError
            As of `raycast`.
        """
        rays = self._rays(origin, direction, max_distance)
        if env is not None or self.many:
            from broadphase.indexes import in_env

            rules = {"category": category, "mask": mask}
            return in_env.ask_all(self, rays, 0 if env is None else env, rules)
        return self._cast_all(rays, rule(category, "category"), rule(mask, "mask"))

    def _cast_all(self, rays: Floats | Rows, category: int, mask: int) -> RayHits | RayRows:
        rules = category, mask
        self._ready()
        if isinstance(rays, tuple):
            table = np.array([rays])
            ids, tests = self._find_on_ray(rays, *rules)
            counts = np.array([len(ids)], np.int32)
        else:
            table = rays
            ids, counts, tests = self._find_on_rays(rays, *rules)
        self._last = ("query_ray", tests, len(ids))
        distances, normals = self._room_for_hits(len(ids))
        ends = np.concatenate(([0], np.cumsum(counts)))
        ranking.rank_hits(self._store.boxes, ids, ends, table, distances, normals)
        if isinstance(rays, tuple):
            return RayHits(ids, distances, normals)
        queries = np.repeat(np.arange(len(table), dtype=np.int32), counts)
        return RayRows(np.column_stack((queries, ids)), distances, normals)

    def nearest(
        self,
        point: Any,
        k: int = 1,
        *,
        category: int | None = None,
        mask: int | None = None,
        env: Any = None,
    ) -> Nearest:
        """The ``k`` boxes nearest to a point, by distance, then id; inside a box the distance is 0.

        Parameters
        ----------
        point : array_like, shape (dim,) or (m, dim)
            Finite.
        k : int
            At least 1.
        category, mask, env
            As of `query_box`.

        Returns
        -------
        Nearest
            ``ids, distances`` of shape ``(k,)``, shorter where fewer boxes count; of a batch ``(m, k)``,
            filled up with -1 and inf.

        Raises
        ------
        TypeError, ValueError
            A coordinate is not finite, the dimension is another, or ``k`` is less than 1.
        """
        if category is None and mask is None and env is None and type(k) is int and k > 0:
            nearest = self._nearest_at_once(point, k)
            if nearest is not None:
                return nearest
        at = self._reader.point_or_points(point, "point", finite=True)
        most = count(k, "k", 1)
        if env is not None or self.many:
            from broadphase.indexes import in_env

            return in_env.ask_nearest(
                self, at, most, 0 if env is None else env, {"category": category, "mask": mask}
            )
        rules = rule(category, "category"), rule(mask, "mask")
        held = min(most, self._store.live)
        if isinstance(at, tuple):
            self._ready()
            return self._nearest_one(at, held, *rules)
        return self._nearest_many(at, most, *rules)

    # ---- what the queries share

    def _in_env(
        self, call: str, asked: tuple[Any, ...], env: Any, category: int | None, mask: int | None
    ) -> IdArray:
        from broadphase.indexes import in_env  # here: in most programs there is one world

        rules = {"category": category, "mask": mask}
        return in_env.ask_rows(self, call, asked, 0 if env is None else env, rules)

    def _world_of(self, env: int) -> "tuple[Queries, IdArray] | None":
        """The index of an environment, and the id here of each id there; ``None`` where nothing is in it."""
        return (self, np.arange(self._store.end, dtype=np.int32)) if env == 0 and self._store.live else None

    def _in_box(self, call: str, query: Floats | Rows, category: int, mask: int) -> IdArray:
        if self._stale:
            self._ready()
        if isinstance(query, tuple):
            ids, tests = self._find_in_box(query, self._touching, category, mask)
            self._last = (call, tests, len(ids))
            if len(ids) > FEW and self._sort:
                ids.sort()
            return ids
        rows, tests = self._find_rows(query, self._touching, category, mask)
        self._last = (call, tests, len(rows))
        return self._arranged_rows(rows)

    def _find_rows(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """A batch of boxes, a large one shared out between threads."""
        parts = min(threads.resolve(self._threads), len(boxes) // _SHARE)
        if parts < 2:
            return self._find_in_boxes(boxes, touching, category, mask)
        spans = threads.shares(len(boxes), parts)
        found = threads.run_all(
            [partial(self._find_in_boxes, boxes[begin:end], touching, category, mask) for begin, end in spans]
        )
        for (begin, _), (rows, _) in zip(spans, found, strict=True):
            rows[:, 0] += begin
        return np.concatenate([rows for rows, _ in found]), sum(tests for _, tests in found)

    def _in_circle(self, center: Floats, radius: float, category: int, mask: int) -> IdArray:
        self._ready()
        candidates, tests = self._find_in_box(around(center, radius), True, category, mask)
        ids: IdArray = query_tests.keep_within(self._store.boxes, candidates, center, radius, self._touching)
        self._last = ("query_radius", tests, len(ids))
        if self._sort and len(candidates) > FEW:
            ids.sort()
        return ids

    def _in_circles(self, centers: Rows, radii: Rows, category: int, mask: int) -> IdArray:
        self._ready()
        rows, tests = self._find_rows(around_many(centers, radii), True, category, mask)
        kept = query_tests.keep_rows_within(self._store.boxes, rows, centers, radii, self._touching)
        self._last = ("query_radius", tests, len(kept))
        return self._arranged_rows(kept)

    def _nearest_one(self, point: Floats, k: int, category: int, mask: int) -> Nearest:
        if k == 0:
            self._last = ("nearest", 0, 0)
            return Nearest(np.empty(0, np.int32), np.empty(0))
        ids, tests = self._find_nearest(point, k, category, mask)
        self._last = ("nearest", tests, len(ids))
        return Nearest(ids, ranking.rank_nearest_one(self._store.boxes, ids, point))

    def _nearest_many(self, points: Rows, k: int, category: int, mask: int) -> Nearest:
        store = self._store
        held = min(k, store.live)
        found = None
        if held and self.nearest_by_cells:
            # Without `_ready`: cells are made of the boxes as they are.
            sets = store.categories, store.masks
            parts = threads.resolve(self._threads)
            boxes = store.boxes[: store.end]
            found = methods_nearest.find_nearest(boxes, sets, (category, mask), points, held, parts)
        if found is not None:
            self._last = ("nearest", found.tests, found.found)
            if held == k:
                return Nearest(found.ids, found.distances)
        ids = np.full((len(points), k), -1, np.int32)
        distances = np.full(ids.shape, np.inf)
        if found is not None:
            ids[:, :held], distances[:, :held] = found.ids, found.distances
            return Nearest(ids, distances)
        self._ready()
        tests = 0
        if held:
            ids[:, :held], tests = self._find_nearest_many(points, held, category, mask)
        self._last = ("nearest", tests, int((ids >= 0).sum()))
        ranking.rank_nearest(store.boxes, ids, points, distances)
        return Nearest(ids, distances)

    def _first_hits(self, rays: Rows, category: int, mask: int) -> RayHits:
        ids, tests = self._find_first_on_rays(rays, category, mask)
        self._last = ("raycast", tests, int((ids >= 0).sum()))
        distances, normals = self._room_for_hits(len(ids))
        ranking.describe_firsts(self._store.boxes, ids, rays, distances, normals)
        return RayHits(ids, distances, normals)

    def _room_for_hits(self, n: int) -> tuple[Rows, Rows]:
        return np.full(n, np.inf), np.zeros((n, self._reader.dim))

    def _arranged_rows(self, rows: IdArray) -> IdArray:
        if self._sort and sort_few_rows(rows):
            return rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        return rows

    def _rays(self, origin: Any, direction: Any, max_distance: Any) -> Floats | Rows:
        """Origin, direction and greatest distance side by side."""
        at = self._reader.point_or_points(origin, "origin", finite=True)
        towards = self._reader.direction_or_directions(direction)
        furthest = distance_or_distances(max_distance, "max_distance")
        if isinstance(at, tuple) and isinstance(towards, tuple) and isinstance(furthest, float):
            return (*at, *towards, furthest)
        # The length decides for all three; a point given once is repeated by the second pass.
        if isinstance(at, tuple) and isinstance(towards, tuple):
            at, furthest = lined_up(at, furthest, "origin", "max_distance")
        at, towards = lined_up(at, towards, "origin", "direction")
        at, furthest = lined_up(at, furthest, "origin", "max_distance")
        return np.column_stack((at, towards, furthest))
