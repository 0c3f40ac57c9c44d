"""Exact geometry behind boxes: the candidates of `join` that a predicate of shapely confirms.

The broad phase finds the pairs whose bounding boxes overlap, and shapely's vectorised predicates decide on
them.  Where a geometry has many candidates, it is worth preparing: GEOS then makes an index of its edges.  It
makes that index at the first test, without a lock, so no two threads may share a prepared geometry.  One
that is prepared for a call is a copy, and the caller's stay as they are; those of a
`broadphase.GeometryIndex` are kept, and one call at a time tests them.  Where two pieces of work meet in a
geometry, the later one has a copy.
"""

import sys
from contextlib import nullcontext
from functools import partial
from threading import Lock
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from broadphase.errors import PairLimitExceeded, not_one_of
from broadphase.inputs.arrays import BOXES, POINTS, as_array, as_geometries, settled
from broadphase.inputs.points import as_distance, as_radii, settled_reach, unsound_point_error
from broadphase.methods.pair_order import one_array
from broadphase.runtime.arrays import ranges
from broadphase.runtime.memory import PairArray
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
# A geometry is prepared for so many tests; for points by their coordinates (of 10 to 760 corners, 13 to 23
# tests cost as much as preparing saves), and for others.
_ENOUGH_POINTS, _ENOUGH = 16, 4
# Distances take 70 us, and prepared 25, for two polygons of 400 corners; 4 and 8 for two of 60.
_PREPARED_FOR_DISTANCES = 20_000  # the product of both numbers of corners

_MOST_IN_A_PIECE = 1 << 16
# Tests by shapely, which answers no signals: they may take a millisecond each, and those of points 50 us.
_AT_A_TIME, _POINTS_AT_A_TIME = 1_024, 4_096
# A distance that GEOS computes, relative to the largest coordinate, is at most this far from the exact one.
_ROUNDING = 16 * np.finfo(np.float64).eps


class Kept(NamedTuple):
    """Geometries that stay prepared between calls."""

    prepared: npt.NDArray[Any]
    lock: Lock


class Side(NamedTuple):
    """The geometries of one argument that have an extent."""

    shapes: npt.NDArray[Any] | None
    """None for points that were given as numbers."""
    rows: npt.NDArray[np.int32]
    """Their rows in the argument: missing and empty ones are left out."""
    boxes: Boxes
    total: int
    """How many rows the argument has."""
    kept: Kept | None = None

    def at(self, places: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
        """The geometries of some of the rows, as a new array."""
        if self.shapes is None:
            made: npt.NDArray[Any] = sys.modules["shapely"].points(self.boxes[places, :2])
        else:
            made = self.shapes[places]
        return made


class KeptGeometries:
    """What `broadphase.GeometryIndex` is to a join: geometries whose side is made once."""

    _side: Side


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
    by_coordinates: bool
    """Whether the second geometries are points that are tested by their x and y."""

    def decide(self, candidates: PairArray, sort: bool, threads: int, limit: int) -> PairArray:
        """Rows of a and b for which the predicate holds, from pairs of both sides sorted by the first."""
        pieces = pieces_of(len(candidates), threads)
        with nullcontext() if self.first.kept is None else self.first.kept.lock:
            chunks = run_all([partial(self._kept, candidates, *piece) for piece in pieces], threads)
        if sum(map(len, chunks)) > limit:
            raise PairLimitExceeded(limit)
        ids = max(len(self.first.rows), len(self.second.rows))
        found = one_array(chunks, ids, sort and self.turned, parts=threads)
        firsts, seconds = (self.second, self.first) if self.turned else (self.first, self.second)
        return np.stack([firsts.rows[found[:, 0]], seconds.rows[found[:, 1]]], axis=1)

    def _kept(self, candidates: PairArray, begin: int, end: int) -> PairArray:
        """Rows of a and b among some candidates, in their order."""
        shapely = sys.modules["shapely"]
        test = getattr(shapely, _OF_POINTS[self.predicate] if self.by_coordinates else self.predicate)
        shared = 0 < begin < end and candidates[begin - 1, 0] == candidates[begin, 0]
        candidates = candidates[begin:end]
        firsts, seconds = candidates[:, 0], candidates[:, 1]
        begins = np.ones(len(candidates), bool)
        np.not_equal(firsts[1:], firsts[:-1], out=begins[1:])
        owned, places = self._prepared(firsts[begins], np.flatnonzero(begins), shared), np.cumsum(begins) - 1
        x, y = self.second.boxes[:, 0], self.second.boxes[:, 1]
        holds = np.empty(len(candidates), bool)
        most = _POINTS_AT_A_TIME if self.by_coordinates else _AT_A_TIME
        for first, last in ranges(0, len(candidates), most):
            rows = slice(first, last)
            numbers = seconds[rows]
            others = (self.second.at(numbers),) if not self.by_coordinates else (x[numbers], y[numbers])
            more = () if self.distances is None else (self.distances[candidates[rows, int(self.turned)]],)
            holds[rows] = test(owned[places[rows]], *others, *more)
        kept = candidates.compress(holds, axis=0)  # an index takes five times as long
        return np.ascontiguousarray(kept[:, ::-1]) if self.turned else kept

    def _prepared(
        self, rows: npt.NDArray[np.int32], begins: npt.NDArray[np.intp], shared: bool
    ) -> npt.NDArray[Any]:
        """The first geometries of a piece, prepared if that pays, so that no other thread tests them.

        With ``shared`` the piece before tests the first of them too.
        """
        shapely = sys.modules["shapely"]
        if self.first.kept is not None and self.prepared:
            owned: npt.NDArray[Any] = self.first.kept.prepared[rows]
            copied = worth = np.zeros(len(rows), bool)
            copied[:1] = shared
        else:
            owned, copied = self.first.at(rows), np.zeros(len(rows), bool)
            least = _ENOUGH_POINTS if self.by_coordinates else _ENOUGH
            worth = (np.diff(begins, append=len(begins)) >= least) & self.prepared
            copied = worth | shapely.is_prepared(owned)  # the caller may test them meanwhile
        owned[copied] = shapely.set_srid(owned[copied], shapely.get_srid(owned[copied]))
        shapely.prepare(owned[worth])
        return owned


def pieces_of(count: int, threads: int) -> list[tuple[int, int]]:
    """The rows of exact tests that a thread makes at a time."""
    pieces = len(shares(count, threads, cost=100.0, pieces=4))
    return shares(count, max(pieces, count // _MOST_IN_A_PIECE))


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
    left, right = as_side(a, "a", *given), as_side(b, "b", *given)
    if left.shapes is None and right.shapes is None:
        raise TypeError("predicate= needs geometries of shapely or boxes on one side; a and b are points")
    distances = None
    if distance is not None:
        distances = _as_distances(distance, left.total)[left.rows]
        if left.shapes is None and len(right.rows):  # before its boxes say no more where the points are
            left = left._replace(shapes=left.at(np.arange(len(left.rows))))
        left = left._replace(boxes=grown(left.boxes, right.boxes, distances))
    # The first is the side that is kept; else that with fewer geometries, as these have more candidates each.
    turned = len(right.rows) < len(left.rows)
    if (left.kept is None) != (right.kept is None):
        turned = left.kept is None
    turned &= predicate != "contains_properly"
    first, second = (right, left) if turned else (left, right)
    test = _TURNED.get(predicate, predicate) if turned else predicate
    prepared = test not in _NEVER_PREPARED
    if test == "dwithin":
        prepared = _detail(left) * _detail(right) > _PREPARED_FOR_DISTANCES
    by_coordinates = test in _OF_POINTS and _are_points(second)
    return GeometryJoin(test, first, second, turned, prepared, distances, left.total, by_coordinates)


def as_side(values: Any, name: str, needed_by: str = "", fix: str = "") -> Side:
    """The geometries that have an extent, with their bounds; points may be ``(n, 2)`` numbers.

    Raises
    ------
    TypeError, ValueError
        As of `broadphase.inputs.arrays.as_geometries`; also if a number is not finite.
    """
    if isinstance(values, KeptGeometries):
        return values._side
    array = values if type(values) is np.ndarray else as_array(values, name, BOXES)
    if array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iuf":
        points = settled(array, name, POINTS).astype(np.float64, copy=False)
        finite = np.isfinite(points)
        if not finite.all():
            row = int(finite.all(axis=1).argmin())
            raise unsound_point_error(points[row], f"{name}[{row}]")
        return Side(None, np.arange(len(points), dtype=np.int32), np.hstack((points, points)), len(points))
    shapes = as_geometries(array, name, needed_by, fix)
    if not len(shapes):  # then shapely may not be imported
        return Side(shapes, np.empty(0, np.int32), np.empty((0, 4)), 0)
    boxes, rows = sys.modules["shapely"].bounds(shapes), np.arange(len(shapes), dtype=np.int32)
    if np.isnan(boxes).any():  # seldom; otherwise nothing is copied
        rows = np.flatnonzero(~np.isnan(boxes).any(axis=1)).astype(np.int32)
        return Side(shapes[rows], rows, boxes[rows], len(shapes))
    return Side(shapes, rows, boxes, len(shapes))


def _are_points(side: Side) -> bool:
    """Whether all of some geometries are points: their boxes then hold the coordinates."""
    if side.shapes is None or not len(side.rows):
        return side.shapes is None
    return bool((sys.modules["shapely"].get_type_id(side.shapes) == _POINT).all())


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
    if side.shapes is None or not len(side.rows):
        return float(len(side.rows) > 0)
    return float(sys.modules["shapely"].get_num_coordinates(side.shapes).mean())
