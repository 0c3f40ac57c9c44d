"""What is here, near this, or in the way of that: the questions one can ask an index."""

import math
from typing import Any

import numpy as np

from broadphase.indexes.answering import Answering
from broadphase.indexes.arguments import as_given, count, distance_or_distances, lined_up, rule
from broadphase.indexes.results import Nearest, RayHit, RayHits, RayRows
from broadphase.indexes.storage import IdArray


class Queries(Answering):
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
        if category is None and mask is None and env is None:
            found = self._circle_at_once(center, r)
            if found is not None:
                return found
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
