"""The nearest of many points: sorted along a Morton curve, with bounding boxes of consecutive points.

See `broadphase.kernels.points.nearest_points`.  It assumes nothing about the distribution of the points:
crowds within crowds, lines and a point far away are nearly as fast as evenly spread points.

Cost: sorting, then for each point about ten groups of 16 boxes and as many leaves of 16 points.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.numeric import whole
from broadphase.inputs.points import Numbers, PointQuery, Points
from broadphase.inputs.room import check_room_for_nearest
from broadphase.kernels.arrays.sorting import argsort_keys
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.nearest_points import (
    Scale,
    Scratch,
    Sorted,
    Tree,
    bound_leaves,
    bound_levels,
    find_keys,
    search_points,
    take_in_order,
)
from broadphase.methods.morton import Curve, curve_for
from broadphase.points.few import find_small_nearest
from broadphase.runtime import threads
from broadphase.runtime.slices import ranges, slices

_ENOUGH_FOR_THREADS = 5_000
_PIECES = 4
_COMPARISONS = 400.0  # the cost of a point, for `slices`; more for those that want many
_LARGEST_EXPONENT = 508  # of scaled coordinates: three squares of differences fit
_LARGEST_SINGLE = 40  # of coordinates that are searched in float32


class CurveTree(NamedTuple):
    """The points to search among along the curve, and the boxes around them."""

    curve: Curve
    kind: "np.dtype[Any]"
    scale: float
    tree: Tree
    keys: npt.NDArray[np.int64]
    """Where the points are along the curve, unless the queries are the same points."""


def make_tree(query: PointQuery, parts: int) -> CurveTree:
    """Sort the points to search among; there is at least one."""
    curve = curve_for(query.found, query.low, query.high, query.worlds)
    kind, scale = _kind_and_scale(query)
    envs = query.envs if query.others is None else query.other_envs
    held, keys, order = _along(query.found, envs, curve, kind, scale, parts)
    tree = _boxes_around(held, len(query.found), parts)
    return CurveTree(curve, kind, scale, tree, keys[:0] if query.others is None else keys[order])


def sorted_tree(points: Points, envs: Numbers, curve: Curve, parts: int) -> Tree:
    """Points as they are along a curve, and the boxes around them."""
    return _boxes_around(_along(points, envs, curve, points.dtype, 1.0, parts)[0], len(points), parts)


def find_nearest_points(
    query: PointQuery, k: int, r: float, parts: int, made: CurveTree | None = None
) -> tuple[Numbers, Points]:
    """Numbers and distances of the nearest, -1 and inf where there are fewer; ``made`` is a tree kept."""
    few = find_small_nearest(query, k, r)
    if few is not None:
        return few
    n, kind = len(query.points), query.points.dtype
    ids, distances = np.empty((n, k), np.int32), np.empty((n, k), kind)
    same = query.others is None
    far = None if same else _far_rows(query, made)
    if far is not None:
        own = _some_of(query, far)
        farthest = np.abs(own.points).max(axis=0).astype(np.float64)
        own = own._replace(low=np.minimum(query.low, -farthest), high=np.maximum(query.high, farthest))
        ids[far], distances[far] = find_nearest_points(own, k, r, parts)
        ids[~far], distances[~far] = find_nearest_points(_some_of(query, ~far), k, r, parts, made)
        return ids, distances
    wanted = min(k, len(query.found) - same)
    if n == 0 or wanted <= 0:
        ids.fill(-1)
        distances.fill(np.inf)
        return ids, distances
    curve, kind, scale, tree, known = made or make_tree(query, parts)
    queries, places = tree.points, known
    if not same:
        queries, keys, order = _along(query.points, query.envs, curve, kind, scale, parts)
        places = np.searchsorted(known, keys[order]).astype(np.int64, copy=False)
    with np.errstate(over="ignore"):
        around = query.period.astype(kind) * kind.type(scale)
    fixed = (
        *(tree, Scale(scale, around, query.period), r),
        *(query.points, query.found, queries, places),
    )

    def search(first: int, last: int) -> None:
        scratch = _scratch(tree, wanted)
        for begin, end in slices(first, last, _COMPARISONS + wanted * wanted / 4):
            search_points(*fixed, begin, end, wanted, scratch, ids, distances)

    pieces = threads.shares(n, _PIECES * parts if parts > 1 and n >= _ENOUGH_FOR_THREADS else 1)
    threads.run_all([partial(search, *piece) for piece in pieces], parts)
    return ids, distances


def _scratch(tree: Tree, wanted: int) -> Scratch:
    capacity = 2 * wanted + 12 * LANES
    return Scratch(
        np.empty(2 * LANES * (len(tree.levels) + 1), np.int64),
        np.empty((1, capacity), tree.points.columns.dtype),
        np.empty((2, capacity)),
        np.empty((2, capacity), np.int32),
    )


def _far_rows(query: PointQuery, made: CurveTree | None) -> npt.NDArray[np.bool_] | None:
    """Which query points are so far away that squares overflow as the others are scaled; None for none."""
    if not len(query.points) or not len(query.found):
        return None
    kind, scale = _kind_and_scale(query) if made is None else (made.kind, made.scale)
    reach = 2.0**_LARGEST_SINGLE if kind.itemsize == 4 else 2.0**_LARGEST_EXPONENT / scale
    if -reach <= float(query.points.min()) and float(query.points.max()) <= reach:
        return None
    far: npt.NDArray[np.bool_] = np.logical_or.reduce(np.abs(query.points) > reach, axis=1)
    return far


def _some_of(query: PointQuery, rows: npt.NDArray[np.bool_]) -> PointQuery:
    """The same query for some of its points."""
    return query._replace(points=query.points[rows], envs=query.envs[rows] if len(query.envs) else query.envs)


def _kind_and_scale(query: PointQuery) -> "tuple[np.dtype[Any], float]":
    """The type to search in, and a power of two to scale by: no square overflows, and few underflow.

    Squares of float32 numbers of all sizes fit into float64.  float64 numbers are scaled so that squares
    just do not overflow; then one point far away does not make the squares of the others underflow.
    """
    kind = query.points.dtype
    with np.errstate(over="ignore"):
        largest = float(np.maximum(np.abs(query.low), np.abs(query.high)).max())
    exponent = math.frexp(largest)[1] if largest > 0.0 else 0
    if kind.itemsize == 4:
        return (kind if abs(exponent) <= _LARGEST_SINGLE else np.dtype(np.float64)), 1.0
    return kind, 1.0 if abs(exponent) <= 300 else 2.0 ** min(_LARGEST_EXPONENT - exponent, 1022)


def _along(
    points: Points, envs: Numbers, curve: Curve, kind: "np.dtype[Any]", scale: float, parts: int
) -> tuple[Sorted, npt.NDArray[np.int64], Numbers]:
    """The points along the curve, the keys in their former order, and their order."""
    n, dim = points.shape
    keys = np.empty(n, np.int64)
    columns = np.zeros((dim, n + LANES), kind)
    own = np.zeros((1 + (len(envs) > 0), n + LANES), np.int32)
    spans = threads.shares(n, parts if n >= _ENOUGH_FOR_THREADS else 1)

    def find(first: int, last: int) -> None:
        for span in ranges(first, last):
            find_keys(points, envs, curve.low, curve.per_unit, curve.width, *span, keys)

    threads.run_all([partial(find, *span) for span in spans], parts)
    order = argsort_keys(keys)

    def take(first: int, last: int) -> None:
        for span in ranges(first, last):
            take_in_order(points, envs, order, scale, *span, columns, own)

    threads.run_all([partial(take, *span) for span in spans], parts)
    return Sorted(columns, own), keys, order


def _boxes_around(held: Sorted, n: int, parts: int) -> Tree:
    """With the boxes of all levels, each filled up to a multiple of `LANES` with empty boxes."""
    dim, kind = len(held.columns), held.columns.dtype
    sizes = [-(-n // LANES)]
    while sizes[-1] > LANES:
        sizes.append(-(-sizes[-1] // LANES))
    levels = np.cumsum([0, *(-(-size // LANES) * LANES for size in sizes)], dtype=np.int64)
    boxes = np.empty((2 * dim, int(levels[-1])), kind)
    boxes[:dim], boxes[dim:] = np.inf, -np.inf
    worlds = np.empty((2, int(levels[-1]) if len(held.own) > 1 else 0), np.int32)
    worlds[0:1], worlds[1:2] = np.iinfo(np.int32).max, -1
    spans = threads.shares(sizes[0], parts if n >= _ENOUGH_FOR_THREADS else 1)

    def bound(first: int, last: int) -> None:
        for span in ranges(first, last):
            bound_leaves(held.columns, held.own, n, *span, boxes, worlds)

    threads.run_all([partial(bound, *span) for span in spans], parts)
    bound_levels(levels, boxes, worlds)
    return Tree(held, boxes, worlds, levels)


class Places(NamedTuple):
    """Which of the nearest to return."""

    most: int
    columns: list[int] | None
    """Of the answer for so many; None for all."""

    def capped(self, n: int, m: int, images: bool = False) -> int:
        """How many of ``m`` points to search for, for each of ``n``: no more than there are, but of images.

        Raises
        ------
        MemoryError
            The results are more than the memory that is free.
        """
        k = self.most if self.columns is None else len(self.columns)
        most = self.most if images else min(self.most, max(m, 1))
        check_room_for_nearest(n, max(k, most), m)
        return most

    def of(self, *found: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
        """Those of ids, distances and shifts, which may have fewer columns if there are fewer points."""
        width = found[0].shape[1]
        if self.columns is None and self.most == width:
            return found
        columns = range(self.most) if self.columns is None else self.columns
        if self.most > width:  # one more column, of those that are missing
            columns = [min(column, width) for column in columns]
            missing = zip(found, (-1, np.inf, 0), strict=False)
            found = tuple(np.insert(array, width, value, axis=1) for array, value in missing)
        return tuple(array[:, columns] for array in found)


def as_places(k: Any) -> Places:
    """Check ``k``: how many of the nearest, or a list of places."""
    if not isinstance(k, (list, tuple)):
        return Places(as_count(k), None)
    columns = [as_count(one, f"k[{place}]") - 1 for place, one in enumerate(k)]
    return Places(max(columns, default=0) + 1, columns)


def as_count(k: Any, name: str = "k") -> int:
    """Check ``k``, the number of nearest points."""
    count = whole(k, name, "an int")
    if count < 1:
        raise ValueError(f"{name} must be at least 1; got {count}")
    return count
