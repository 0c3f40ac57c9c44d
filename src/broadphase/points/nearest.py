"""The nearest of many points, along a Morton curve (`broadphase.methods.nearest`), and how many of them."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.numeric import whole
from broadphase.inputs.points import Numbers, PointQuery, Points
from broadphase.kernels.points.nearest_points import Scale, Tree
from broadphase.methods.nearest import Curve, curve_for, search_in_pieces, sort_along, tree_around
from broadphase.points.few import find_small_nearest
from broadphase.runtime.memory import check_room_for_nearest, result_array

_LARGEST_EXPONENT = 508  # of scaled coordinates: three squares of differences fit
_LARGEST_SINGLE = 40  # of coordinates that are searched in float32


class CurveTree(NamedTuple):
    """The points to search among along the curve, and the boxes around them."""

    curve: Curve
    kind: "np.dtype[Any]"
    scale: float
    tree: Tree
    keys: npt.NDArray[np.int64]
    """Where the points are along the curve."""


def make_tree(query: PointQuery, parts: int) -> CurveTree:
    """Sort the points to search among; there is at least one."""
    curve = curve_for(query.found, query.low, query.high, query.worlds)
    kind, scale = _kind_and_scale(query)
    envs = query.envs if query.others is None else query.other_envs
    held, keys = sort_along(curve, query.found, envs, kind, scale, parts)
    tree = tree_around(held, *query.found.shape)
    return CurveTree(curve, kind, scale, tree, keys)


def sorted_tree(points: Points, envs: Numbers, curve: Curve, parts: int) -> Tree:
    """Points as they are along a curve, and the boxes around them."""
    return tree_around(sort_along(curve, points, envs, points.dtype, 1.0, parts)[0], *points.shape)


def find_nearest_points(
    query: PointQuery, k: int, r: float, parts: int, made: CurveTree | None = None
) -> tuple[Numbers, Points]:
    """Numbers and distances of the nearest, -1 and inf where there are fewer; ``made`` is a tree kept."""
    few = find_small_nearest(query, k, r)
    if few is not None:
        return few
    n, kind = len(query.points), query.points.dtype
    ids, distances = result_array((n, k), np.int32), result_array((n, k), kind)
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
    queries, keys = tree.points, known
    if same:
        known = known[:0]
    else:
        queries, keys = sort_along(curve, query.points, query.envs, kind, scale, parts)
    with np.errstate(over="ignore"):
        around = query.period.astype(kind) * kind.type(scale)
    fixed = tree, len(query.found), Scale(scale, around, query.period), r, query.points, query.found
    search_in_pieces(n, parts, *fixed, queries, known, keys, wanted, ids, distances)
    return ids, distances


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
