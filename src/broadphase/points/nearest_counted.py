"""The nearest that count: without those that are too near, excluded, the point itself, or a farther image.

A search finds some more than are wanted, those that do not count are left out, and for the points that have
too few it is repeated: for twice as many, or twice as far where images were laid up to a distance.

Cost: that of the search for so many, and of another for each doubling.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.results import Nearest
from broadphase.inputs.points import Numbers, PointQuery, Points, as_distance, rounded
from broadphase.inputs.search import as_excluded
from broadphase.points.nearest import CurveTree, find_nearest_points, make_tree
from broadphase.runtime.memory import check_room_for_nearest

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

    def of(self, rows: Rows, others: Rows) -> "Counted":
        """The same for some of the points."""
        return self._replace(rows=rows, others=others)

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
            own = j == i[:, None]
            counts &= ~own if found.shift is None else ~own | found.shift.any(axis=2)
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
        held, envs = min(count, len(query.found)), query.envs[rows] if len(query.envs) else query.envs
        some = query._replace(points=query.points[rows], envs=envs, others=query.found)
        ids, distances = find_nearest_points(some, held, r, parts, made)
        full = may_be_more(ids, len(query.found))
        return Candidates(ids, distances, None, np.ones(ids.shape, np.bool_), full)

    return find_nearest_counted(query, k, counted, find, r, r)
