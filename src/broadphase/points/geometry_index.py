"""Geometries of shapely that are kept, with bounds and prepared: joined often, the nearest, which overlap.

The nearest of kept geometries or of others: those of which the middles of the bounds are the nearest give, by
their exact distances, how far one has to look; a join of the bounds, each grown by that reach, finds all that
can be as near.  So a geometry costs a few exact distances, 0.5 to 70 us each.  It loses where bounds say
little, such as for long diagonal lines that cross each other's bounds.
"""

import sys
from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.api.geometries import (
    Kept,
    KeptGeometries,
    Predicate,
    Side,
    as_geometry_join,
    as_side,
    grown,
    pieces_of,
)
from broadphase.api.one_shot import join
from broadphase.indexes.results import Nearest
from broadphase.inputs import RowsLike
from broadphase.inputs.arrays import are_geometries, as_geometries, check_same_crs, crs_of, index_of
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.points import as_distance, as_query, settled_reach
from broadphase.methods.task import pair_limit
from broadphase.points.nearest import Places, as_places, find_nearest_points
from broadphase.runtime.arrays import Floats, ranges
from broadphase.runtime.memory import PairArray
from broadphase.runtime.threads import run_all

# Of all others, j is to i what i is to j.
_ONE_WAY = ("within", "contains", "covers", "covered_by", "contains_properly")
_AT_A_TIME = 256  # distances: between large polygons each takes some 0.1 ms


class GeometryIndex(KeptGeometries):
    """Geometries of shapely that are prepared once, and asked often.

    `broadphase.join` takes it in the place of geometries.  They are copied: those that were given are not
    prepared, and what becomes of their table does not matter.

    Parameters
    ----------
    geometries : array_like of geometries
        GeoDataFrame, GeoSeries, arrays and lists of shapely.  Missing and empty ones keep their row, and are
        found by nothing.

    Raises
    ------
    TypeError, ValueError
        These are not a row of geometries of shapely; the first object that is not one is named.

    Notes
    -----
    Several threads may ask at once; tests of prepared geometries then wait for each other, because GEOS
    changes a prepared geometry at its first tests.

    Examples
    --------
    >>> import broadphase as bp
    >>> import shapely
    >>> parks = bp.GeometryIndex(shapely.buffer(shapely.points([[5, 5], [8, 5], [20, 5]]), 2))
    >>> trees = [[5, 5], [6.5, 5], [0, 0]]
    >>> bp.join(trees, parks, predicate="within")
    array([[0, 0],
           [1, 0],
           [1, 1]], dtype=int32)
    >>> bp.join(trees, parks, predicate="dwithin", distance=1)
    array([[0, 0],
           [0, 1],
           [1, 0],
           [1, 1]], dtype=int32)
    >>> parks.nearest(trees).ids.ravel()
    array([0, 0, 0], dtype=int32)
    >>> parks.pairs()
    array([[0, 1]], dtype=int32)
    """

    crs: Any = None
    """The coordinate system of the table that was given; None where it is unknown."""
    index: Any = None
    """The labels of its rows, for ``join(..., labels=True)``; None where it has none."""

    def __init__(self, geometries: RowsLike) -> None:
        self.crs, self.index = crs_of(geometries), index_of(geometries)
        given = "GeometryIndex", "for boxes make an index, such as BoxTree"
        self._keep(as_geometries(geometries, "geometries", *given))

    def _keep(self, geometries: npt.NDArray[Any]) -> None:
        self._geometries = geometries
        side = as_side(geometries, "geometries")
        prepared = np.empty(0, object)
        if len(side.rows):
            shapely = sys.modules["shapely"]
            prepared = shapely.set_srid(side.shapes, shapely.get_srid(side.shapes))  # copies
            shapely.prepare(prepared)
        self._side = side._replace(kept=Kept(prepared, Lock()))

    def __getstate__(self) -> dict[str, Any]:
        return {"crs": self.crs, "index": self.index, "_geometries": self._geometries}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.crs, self.index = state["crs"], state["index"]
        self._keep(state["_geometries"])

    def __len__(self) -> int:
        return self._side.total

    def __repr__(self) -> str:
        return f"<GeometryIndex: {len(self)} geometries>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self._geometries.astype(object if dtype is None else dtype)

    @property
    def geom_type(self) -> npt.NDArray[Any]:
        """The type of each geometry, as of a GeoSeries; None where it is missing."""
        return np.array([None if one is None else one.geom_type for one in self._geometries], object)

    @property
    def bounds(self) -> npt.NDArray[np.float64]:
        """``(n, 4)``: the bounding boxes; NaN where a geometry is missing or empty."""
        boxes = np.full((len(self), 4), np.nan)
        boxes[self._side.rows] = self._side.boxes
        return boxes

    def nearest(
        self, points: RowsLike, k: int | Sequence[int] = 1, *, r: float = np.inf, threads: int | None = None
    ) -> Nearest:
        """Find the ``k`` nearest geometries of each point, or of other geometries; inside the distance is 0.

        Parameters
        ----------
        points : array_like, shape (2,) or (n, 2), or geometries
            Finite.
        k, r, threads
            As for `broadphase.nearest`.

        Returns
        -------
        Nearest
            ``ids`` and ``distances``, ``(n, k)``, of one point ``(k,)``, by distance, then row; -1 and inf
            where there are fewer.  Distances are those of GEOS.

        Raises
        ------
        TypeError, ValueError, MemoryError
            As for `broadphase.nearest`.
        """
        parts, places, reach = thread_count(threads), as_places(k), settled_reach(r)
        one = not are_geometries(points) and np.shape(points) == (2,)
        ids, distances = find_nearest_geometries([points] if one else points, self, places, reach, parts)
        return Nearest(ids[0], distances[0]) if one else Nearest(ids, distances)

    def pairs(
        self,
        predicate: Predicate = "intersects",
        *,
        distance: float | None = None,
        threads: int | None = None,
        max_pairs: int | None = None,
    ) -> PairArray:
        """Every pair of geometries for which a predicate holds.

        Parameters
        ----------
        predicate : str
            As for `broadphase.join`.
        distance : float, optional
            For ``predicate="dwithin"``: the largest distance.
        threads, max_pairs
            As for `broadphase.pairs`.

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` int32, sorted rows ``[i, j]``, ``i < j``.  Of ``"within"``, ``"contains"``,
            ``"covers"``, ``"covered_by"`` and ``"contains_properly"``, which hold one way, also ``i > j``:
            row ``i`` is within row ``j``, and so on.

        Raises
        ------
        TypeError, ValueError, PairLimitExceeded
            As for `broadphase.join`.
        """
        if distance is not None and np.ndim(distance):
            raise ValueError(f"distance must be one number for all pairs; got shape {np.shape(distance)}")
        parts, limit = thread_count(threads), pair_limit(max_pairs)
        question = as_geometry_join(self, self, predicate, distance)
        candidates = join(question.first.boxes, question.second.boxes, threads=parts)
        first, second = candidates.T
        candidates = candidates[first != second if predicate in _ONE_WAY else first < second]
        return question.decide(candidates, True, parts, limit)


Rows = npt.NDArray[np.integer[Any]]


def find_nearest_geometries(
    a: Any, b: Any, places: Places, r: Any, threads: int
) -> tuple[npt.NDArray[Any], ...]:
    """Rows of b and distances, ``(n, k)``: by distance, then row; -1 and inf where there are fewer.

    ``b`` is None for the geometries themselves, of which none is its own neighbour.
    """
    if b is not None:
        check_same_crs(a, "points", b, "other")
    given = ("nearest of geometries", "make geometries of them by shapely.box")
    left = as_side(a, "points", *given)
    right = left if b is None else as_side(b, "other", *given)
    k = places.capped(left.total, len(right.rows))
    reach = np.full(len(left.rows), as_distance(r, np.dtype(np.float64)))
    ids, distances = np.full((left.total, k), -1, np.int32), np.full((left.total, k), np.inf)
    if not (len(left.rows) and len(right.rows)):
        return places.of(ids, distances)
    middles, others = (0.5 * side.boxes[:, :2] + 0.5 * side.boxes[:, 2:] for side in (left, right))
    candidates, _ = find_nearest_points(
        as_query(middles, others, None, None), k + (b is None), np.inf, threads
    )
    if b is None:
        candidates = np.where(candidates == np.arange(len(reach))[:, None], -1, candidates)
    known = np.flatnonzero((candidates >= 0).sum(axis=1) >= k)
    firsts, columns = np.nonzero(candidates[known] >= 0)
    apart = np.full((len(known), candidates.shape[1]), -np.inf)
    apart[firsts, columns] = _distances(
        left, right, known[firsts], candidates[known][firsts, columns], threads
    )
    # With one more than k, the farthest may be left out; without a distance a row looks at all.
    reach[known] = np.minimum(reach[known], np.sort(apart, axis=1)[:, -1])
    pairs = join(grown(left.boxes, right.boxes, reach), right.boxes, threads=threads)
    if b is None:
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    apart = _distances(left, right, pairs[:, 0], pairs[:, 1], threads)
    kept = np.flatnonzero(apart <= reach[pairs[:, 0]])
    pairs, apart = pairs[kept], apart[kept]
    order = np.lexsort((right.rows[pairs[:, 1]], apart, pairs[:, 0]))
    pairs, apart = pairs[order], apart[order]
    place = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0])
    first = place < k
    rows, place = left.rows[pairs[first, 0]], place[first]
    ids[rows, place], distances[rows, place] = right.rows[pairs[first, 1]], apart[first]
    return places.of(ids, distances)


def _distances(left: Side, right: Side, firsts: Rows, seconds: Rows, threads: int) -> Floats:
    """How far apart the geometries of some pairs are."""
    distance, out = sys.modules["shapely"].distance, np.empty(len(firsts))

    def find(begin: int, end: int) -> None:
        for first, last in ranges(begin, end, _AT_A_TIME):
            portion = slice(first, last)
            out[portion] = distance(left.at(firsts[portion]), right.at(seconds[portion]))

    run_all([partial(find, *piece) for piece in pieces_of(len(firsts), threads)], threads)
    return out
