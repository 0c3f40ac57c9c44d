"""The nearest of many points, along a Morton curve (`broadphase.methods.nearest`), and which of them count.

Where some do not count, because they are too near, excluded, the point itself or a farther image, a search
finds some more than are wanted, these are left out, and for the points that have too few it is repeated: for
twice as many, or twice as far where images were laid up to a distance.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.results import Nearest
from broadphase.inputs.arrays import rounded
from broadphase.inputs.numeric import count
from broadphase.inputs.points import Numbers, PointQuery, Points, as_distance
from broadphase.inputs.search import as_excluded
from broadphase.kernels.points.nearest_points import Curve, Scale, Search, Tree
from broadphase.methods.nearest import curve_for, search_in_pieces, sort_along, tree_around
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
        far_query = some_of(query, far)
        farthest = np.abs(far_query.points).max(axis=0).astype(np.float64)
        low, high = np.minimum(query.low, -farthest), np.maximum(query.high, farthest)
        far_query = far_query._replace(low=low, high=high)
        ids[far], distances[far] = find_nearest_points(far_query, k, r, parts)
        ids[~far], distances[~far] = find_nearest_points(some_of(query, ~far), k, r, parts, made)
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
    scales, sides = Scale(scale, around, query.period), (query.points, query.found)
    search = Search(tree, len(query.found), scales, r, *sides, queries, known, keys, wanted)
    search_in_pieces(search, parts, ids, distances)
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


def some_of(query: PointQuery, rows: Any) -> PointQuery:
    """The same query for some of its points."""
    return query._replace(points=query.points[rows], envs=query.envs[rows] if len(query.envs) else query.envs)


def among_others(query: PointQuery, places: Points, rows: Any) -> PointQuery:
    """The same query among other places: images of the points that may be found, by their rows."""
    envs = query.envs if query.others is None else query.other_envs
    low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (query.low, query.high)
    envs = envs[rows] if len(envs) else envs
    return query._replace(others=places, other_envs=envs, low=low, high=high)


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
        return Places(count(k, "k", wanted="an int"), None)
    columns = [count(one, f"k[{place}]", wanted="an int") - 1 for place, one in enumerate(k)]
    return Places(max(columns, default=0) + 1, columns)


Rows = npt.NDArray[np.intp]
_NO_PAIRS: npt.NDArray[np.int64] = np.empty(0, np.int64)
_MOST_MORE = 8
"""At first so many more are searched for than are wanted, where pairs are excluded."""


class Counted(NamedTuple):
    """Which of the points that are found count."""

    alone: bool = False
    """Whether the row of the same number does not."""
    least: float = 0.0
    """Those that are nearer do not, by distances of this type."""
    kind: "np.dtype[Any]" = np.dtype(np.float64)
    excluded: npt.NDArray[np.int64] = _NO_PAIRS
    """Pairs of a row and one that is found, as numbers ``i << 32 | j``, in order."""
    images: bool = False
    """Whether each image of a point counts by itself."""
    rows: Rows | None = None
    """The numbers of rows among all; None where these are all."""
    others: Rows | None = None

    def are_all(self, query: PointQuery) -> bool:
        """Whether all that a plain search finds count."""
        return not (self.least or len(self.excluded) or (self.alone and query.others is not None))

    def keep(self, rows: Rows, found: "Candidates") -> npt.NDArray[np.bool_]:
        """Which of those found for some rows count."""
        ids = found.ids
        counts = found.certain & (ids >= 0)
        i, j = rows, ids
        if self.rows is not None and self.others is not None:
            i, j = self.rows[rows], np.append(self.others, -1)[ids]
        if self.alone:
            is_self = j == i[:, None]
            counts &= ~is_self if found.shift is None else ~is_self | found.shift.any(axis=2)
        if self.least:
            counts &= rounded(found.distances, self.kind) >= self.least
        if len(self.excluded):
            pairs = i[:, None].astype(np.int64) << 32 | j
            counts &= np.append(self.excluded, -1)[np.searchsorted(self.excluded, pairs)] != pairs
        return counts


def as_counted(query: PointQuery, r_min: Any, exclude: Any, exclude_self: bool, images: str) -> Counted:
    """Check which of the points that are found count."""
    if images not in ("nearest", "all"):
        raise ValueError(f"images must be 'nearest' or 'all'; got {images!r}")
    among, pairs = query.others is None, _NO_PAIRS
    if exclude is not None:
        i, j = as_excluded(exclude, len(query.points), len(query.found), among).astype(np.int64)
        pairs = np.unique(np.concatenate((i << 32 | j, j << 32 | i)) if among else i << 32 | j)
    least = as_distance(r_min, query.kind, "r_min")
    return Counted(among or exclude_self, least, query.kind, pairs, images == "all")


class Candidates(NamedTuple):
    """What a search finds for some rows: by distance, then number, then shift."""

    ids: Numbers
    """``(n, count)``; -1 where there are fewer."""
    distances: Points
    shift: Numbers | None
    """``(n, count, dim)`` where all images count."""
    certain: npt.NDArray[np.bool_]
    """Those of which none is missing before."""
    full: npt.NDArray[np.bool_]
    """The rows for which there may be more within the same distance."""


def nearest_with(ids: Numbers, distances: Points, shift: Numbers | None) -> Nearest:
    """What is nearest to each row; -1, inf and shifts of 0 where there are fewer."""
    found = Nearest(ids, distances)
    if shift is not None:
        found.shift = shift
    return found


def find_nearest_counted(
    query: PointQuery,
    k: int,
    counted: Counted,
    find: Callable[[Rows, int, float], Candidates],
    reach: float,
    most: float,
) -> Nearest:
    """The ``k`` nearest that count.

    ``find`` is called with some rows, how many to find for each, and how far to search: first to ``reach``,
    and at last to ``most``.
    """
    n, dim = query.points.shape
    ids, distances = np.full((n, k), -1, np.int32), np.full((n, k), np.inf, query.points.dtype)
    shift = np.zeros((n, k, dim), np.int32) if counted.images else None
    # Of images the farthest found is not certain: another may be equally far.
    count = k + counted.alone + counted.images + min(len(counted.excluded), _MOST_MORE)
    wanted = k if counted.images else min(k, len(query.found) - (query.others is None))
    rows = np.arange(n if wanted > 0 and len(query.found) else 0)
    while len(rows):
        check_room_for_nearest(len(rows), count, len(query.found))
        found = find(rows, count, reach)
        counts = counted.keep(rows, found)
        enough = counts.sum(axis=1) >= wanted
        done = enough if reach < most else enough | ~found.full
        place = np.cumsum(counts, axis=1) - 1
        row, column = np.nonzero(counts & (place < k) & done[:, None])
        put = rows[row], place[row, column]
        ids[put], distances[put] = found.ids[row, column], found.distances[row, column]
        if shift is not None and found.shift is not None:
            shift[put] = found.shift[row, column]
        if (~done & found.full).any():
            count *= 2
        if (~done & ~found.full).any():
            reach = min(2.0 * reach, most)
        rows = rows[~done]
    return nearest_with(ids, distances, shift)


def may_be_more(ids: Numbers, most: int) -> npt.NDArray[np.bool_]:
    """The rows of found numbers that are full, where more than there are columns might be found."""
    n, count = ids.shape
    full: npt.NDArray[np.bool_] = ids[:, -1] >= 0 if 0 < count < most else np.zeros(n, np.bool_)
    return full


def find_nearest_of_points(
    query: PointQuery, k: int, r: float, parts: int, counted: Counted, made: CurveTree | None
) -> Nearest:
    """The ``k`` nearest that count, where points have one image that may be near; ``made`` is a tree kept."""
    if counted.are_all(query):
        return Nearest(*find_nearest_points(query, k, r, parts, made))
    if made is None and len(query.found):
        made = make_tree(query._replace(others=query.found), parts)

    def find(rows: Rows, count: int, _: float) -> Candidates:
        queries = some_of(query, rows)._replace(others=query.found)
        ids, distances = find_nearest_points(queries, min(count, len(query.found)), r, parts, made)
        full = may_be_more(ids, len(query.found))
        return Candidates(ids, distances, None, np.ones(ids.shape, np.bool_), full)

    return find_nearest_counted(query, k, counted, find, r, r)
