"""Exact geometry behind boxes: the candidates of `join` that a predicate of shapely confirms.

The broad phase finds the pairs whose bounding boxes overlap, and shapely's vectorised predicates decide on
them.  Where a geometry has many candidates, it is worth preparing: GEOS then makes an index of its edges.  It
makes that index at the first test, without a lock.  So each piece of work prepares copies of its own: no two
threads share one, and the caller's geometries stay as they are.
"""

import sys
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from broadphase.errors import PairLimitExceeded, not_one_of
from broadphase.inputs.foreign import as_geometries
from broadphase.inputs.points import as_distance, as_radii, settled_reach
from broadphase.methods.pair_order import one_array
from broadphase.runtime.memory import PairArray
from broadphase.runtime.slices import growing
from broadphase.runtime.threads import run_all, shares

Boxes = npt.NDArray[np.float64]

Predicate = Literal[
    "intersects",
    "within",
    "contains",
    "dwithin",
    "covers",
    "covered_by",
    "contains_properly",
    "crosses",
    "overlaps",
    "touches",
]
PREDICATES: tuple[Predicate, ...] = get_args(Predicate)

_TURNED: dict[str, str] = {
    "within": "contains",
    "contains": "within",
    "covers": "covered_by",
    "covered_by": "covers",
}
"""What the second geometry is to the first; all others but ``"contains_properly"`` are symmetric."""

# The same tests for points, by their coordinates: a third of the time, because no geometry is looked at.
_OF_POINTS = {"contains": "contains_xy", "intersects": "intersects_xy", "covers": "intersects_xy"}
_POINT = 0  # GEOS' number of the type

_NEVER_PREPARED = ("within", "covered_by")  # it would only cost: 0.66 us, not 0.35, for a point in a decagon
# Distances take 70 us, and prepared 25, for two polygons of 400 corners; 4 and 8 for two of 60.
_PREPARED_FOR_DISTANCES = 20_000  # the product of both numbers of corners

# A second thread pays from a few milliseconds of work on; a candidate takes one to ten microseconds.
_ENOUGH_FOR_THREADS = 2_000
_MOST_IN_A_PIECE = 1 << 16
# A distance that GEOS computes, relative to the largest coordinate, is at most this far from the exact one.
_ROUNDING = 16 * np.finfo(np.float64).eps


class Side(NamedTuple):
    """The geometries of one argument that have an extent."""

    shapes: npt.NDArray[Any]
    rows: npt.NDArray[np.int32]
    """Their rows in the argument: missing and empty ones are left out."""
    boxes: Boxes


class GeometryJoin(NamedTuple):
    """A predicate and the two sides that it is about."""

    predicate: str
    first: Side
    second: Side
    turned: bool
    """Whether the first is ``b``."""
    prepared: bool
    """Whether tests are faster with the first prepared."""
    distances: Boxes | None
    """One for each geometry of ``a``, for ``"dwithin"``."""
    rows: int
    """How many geometries ``a`` has, missing ones included."""
    coordinates: tuple[Boxes, ...]
    """x and y of the second geometries, if they are points and are tested by these."""

    def decide(self, candidates: PairArray, sort: bool, threads: int, limit: int) -> PairArray:
        """Rows of a and b for which the predicate holds, from pairs of both sides sorted by the first."""
        pieces = pieces_of(len(candidates), threads)
        chunks = run_all([partial(self._kept, candidates[begin:end]) for begin, end in pieces], threads)
        if sum(map(len, chunks)) > limit:
            raise PairLimitExceeded(limit)
        ids = max(len(self.first.shapes), len(self.second.shapes))
        found = one_array(chunks, ids, sort and self.turned, parts=threads)
        own, others = (self.second, self.first) if self.turned else (self.first, self.second)
        return np.stack([own.rows[found[:, 0]], others.rows[found[:, 1]]], axis=1)

    def _kept(self, candidates: PairArray) -> PairArray:
        """Rows of a and b among some candidates, in their order."""
        shapely = sys.modules["shapely"]
        test = getattr(shapely, _OF_POINTS[self.predicate] if self.coordinates else self.predicate)
        others = self.coordinates or (self.second.shapes,)
        firsts, seconds = candidates[:, 0], candidates[:, 1]
        begins = np.ones(len(candidates), bool)
        np.not_equal(firsts[1:], firsts[:-1], out=begins[1:])
        owned, places = self.first.shapes[firsts[begins]], np.cumsum(begins) - 1
        owned = shapely.set_srid(owned, shapely.get_srid(owned))  # copies: the caller's may be prepared
        if self.prepared:
            shapely.prepare(owned)
        holds = np.empty(len(candidates), bool)
        for begin, end in growing(len(candidates)):
            some = slice(begin, end)
            more = () if self.distances is None else (self.distances[candidates[some, int(self.turned)]],)
            holds[some] = test(owned[places[some]], *(side[seconds[some]] for side in others), *more)
        kept = candidates[holds]
        return np.ascontiguousarray(kept[:, ::-1]) if self.turned else kept


def pieces_of(count: int, threads: int) -> list[tuple[int, int]]:
    """The rows of exact tests that a thread makes at a time."""
    parts = threads if count >= _ENOUGH_FOR_THREADS else 1
    return shares(count, max(4 * parts if parts > 1 else 1, count // _MOST_IN_A_PIECE))


def as_geometry_join(a: Any, b: Any, predicate: str, distance: Any) -> GeometryJoin:
    """Check the arguments of a join with a predicate, and choose which side is the first.

    Raises
    ------
    TypeError, ValueError
        As of `broadphase.join`.
    """
    if predicate not in PREDICATES:
        raise not_one_of(predicate, PREDICATES, "predicate")
    if (distance is not None) != (predicate == "dwithin"):
        raise ValueError(
            'predicate="dwithin" needs distance=, a number or one for each row of a'
            if distance is None
            else f'distance= is for predicate="dwithin"; leave it out with {predicate!r}'
        )
    distance = None if distance is None else settled_reach(distance)
    given = ("predicate=", "leave predicate out for boxes")
    shapes, others = as_geometries(a, "a", *given), as_geometries(b, "b", *given)
    left, right = as_side(shapes), as_side(others)
    distances = None
    if distance is not None:
        distances = _as_distances(distance, len(shapes))[left.rows]
        left = left._replace(boxes=grown(left.boxes, right.boxes, distances))
    # The side with fewer geometries is the first, because these have more candidates each.
    turned = len(right.shapes) < len(left.shapes) and predicate != "contains_properly"
    first, second = (right, left) if turned else (left, right)
    test = _TURNED.get(predicate, predicate) if turned else predicate
    prepared = test not in _NEVER_PREPARED
    if test == "dwithin":
        prepared = _detail(left) * _detail(right) > _PREPARED_FOR_DISTANCES
    coordinates: tuple[Boxes, ...] = ()
    if test in _OF_POINTS and len(second.shapes):
        shapely: Any = sys.modules["shapely"]
        if (shapely.get_type_id(second.shapes) == _POINT).all():
            coordinates = shapely.get_x(second.shapes), shapely.get_y(second.shapes)
    return GeometryJoin(test, first, second, turned, prepared, distances, len(shapes), coordinates)


def as_side(shapes: npt.NDArray[Any]) -> Side:
    """The geometries that have an extent, with their bounds."""
    if not len(shapes):  # then shapely may not be imported
        return Side(shapes, np.empty(0, np.int32), np.empty((0, 4)))
    boxes = sys.modules["shapely"].bounds(shapes)
    rows = np.flatnonzero(~np.isnan(boxes).any(axis=1)).astype(np.int32)
    return Side(shapes[rows], rows, boxes[rows])


def _as_distances(distance: Any, n: int) -> Boxes:
    kind = np.dtype(np.float64)
    if np.ndim(distance) == 0:
        return np.full(n, as_distance(distance, kind, "distance"))
    return as_radii(distance, n, kind, "distance").astype(kind, copy=False)


def grown(boxes: Boxes, others: Boxes, distances: Boxes) -> Boxes:
    """Boxes that overlap all that is within the distance, as GEOS rounds it."""
    largest = max(float(np.abs(side[np.isfinite(side)]).max(initial=0.0)) for side in (boxes, others))
    reach = (distances + _ROUNDING * (largest + distances))[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        wide = np.hstack([boxes[:, :2] - reach, boxes[:, 2:] + reach])
    return np.where(np.isnan(wide), [-np.inf, -np.inf, np.inf, np.inf], wide)  # inf - inf


def _detail(side: Side) -> float:
    """How many coordinates a geometry has, on average."""
    if not len(side.shapes):
        return 0.0
    return float(sys.modules["shapely"].get_num_coordinates(side.shapes).mean())
