"""The nearest geometries of shapely: boxes around them give the candidates, GEOS the distances.

The geometries of which the middles of the bounds are the nearest give, by their exact distances, how far one
has to look; a join of the bounds, each grown by that reach, finds all that can be as near.  So a geometry
costs a few exact distances, 0.5 to 70 us each.  It loses where bounds say little, such as for long diagonal
lines that cross each other's bounds.
"""

import sys
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.api.geometries import Side, as_side, grown, pieces_of
from broadphase.api.one_shot import join
from broadphase.inputs.foreign import check_same_crs
from broadphase.inputs.points import PointQuery, as_distance, as_query
from broadphase.points.nearest import Places, find_nearest_points
from broadphase.runtime.arrays import Floats
from broadphase.runtime.slices import growing
from broadphase.runtime.threads import run_all

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
    candidates, count = (
        find_nearest_points(_middles(left, right), k + (b is None), np.inf, threads)[0],
        len(reach),
    )
    if b is None:
        candidates = np.where(candidates == np.arange(count)[:, None], -1, candidates)
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


def _middles(left: Side, right: Side) -> PointQuery:
    middles, others = (0.5 * side.boxes[:, :2] + 0.5 * side.boxes[:, 2:] for side in (left, right))
    return as_query(middles, others, None, None)


def _distances(left: Side, right: Side, firsts: Rows, seconds: Rows, threads: int) -> Floats:
    """How far apart the geometries of some pairs are."""
    distance, out = sys.modules["shapely"].distance, np.empty(len(firsts))

    def find(begin: int, end: int) -> None:
        for first, last in growing(end, begin):
            portion = slice(first, last)
            out[portion] = distance(left.at(firsts[portion]), right.at(seconds[portion]))

    run_all([partial(find, *piece) for piece in pieces_of(len(firsts), threads)], threads)
    return out
