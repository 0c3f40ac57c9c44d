"""The points of an index that was just made of them: rows and nothing else, which a few queries scan.

As `broadphase.indexes.new_boxes` does for boxes.  Rows by id, cells and a tree take 40 us for ten points and
2 ms for 10,000; a scan takes 3 us and 30 us.
"""

from typing import Any

import numpy as np

from broadphase.indexes.arguments import Given
from broadphase.indexes.thresholds import MOST_SCANNED, SCANNED_AT_LEAST, SCANS
from broadphase.inputs.points import GivenPoints, Numbers, PointQuery, Points, as_query
from broadphase.kernels.points.fixed_radius import find_extent
from broadphase.methods.task import NO_LIMIT
from broadphase.points import thresholds
from broadphase.points.few import find_few, find_nearest_few

_LARGEST = 1e38  # below the largest float32


class NewPoints:
    """Answers queries until a tree would have paid; None where the index has to answer."""

    __slots__ = ("_left", "rows")
    ids = None
    """They are the rows."""

    def __init__(self, rows: Points) -> None:
        self.rows = rows
        """The points, sound, which belong to the index."""
        self._left = SCANNED_AT_LEAST + SCANS * len(rows)

    @property
    def end(self) -> int:
        """All ids are below."""
        return len(self.rows)

    @property
    def query(self) -> PointQuery:
        """A query that may find them."""
        return as_query(self.rows[:0], self.rows, None, None)

    def near_one(self, point: Given, r: float) -> tuple[Numbers, Points] | None:
        """The points within a distance of one, in order, and how far they are."""
        row = self._row(point)
        found = None if row is None else self.near_many(row, r, NO_LIMIT)
        return None if found is None else found[1:]

    def nearest_one(self, point: Given, k: int, r: float) -> tuple[Numbers, Points] | None:
        """The ``k`` nearest of a point and how far they are, -1 and inf where there are fewer."""
        row = self._row(point)
        found = None if row is None else self.nearest_many(row, k, r)
        return None if found is None else (found[0][0], found[1][0])

    def _row(self, point: Given) -> Points | None:
        """One point as a row; None if it is not one of usual numbers."""
        for value in point:
            if not ((type(value) is float or type(value) is int) and -_LARGEST < value < _LARGEST):
                return None
        return np.array([point], self.rows.dtype)

    def near_many(self, points: Points, r: Any, limit: int) -> tuple[Numbers, Numbers, Points] | None:
        """The points within a distance of several, in order."""
        given = GivenPoints(points, self.rows, None, None)
        most = thresholds.SCANNED_TESTS + len(self.rows)
        return find_few(given, r, 0.0, True, False, limit, most) if self._pays(points) else None

    def nearest_many(self, points: Points, k: int, r: Any) -> tuple[Numbers, Points] | None:
        """The ``k`` nearest of several."""
        given = GivenPoints(points, self.rows, None, None)
        most = thresholds.SCANNED_TESTS + len(self.rows)
        return find_nearest_few(given, k, r, most) if self._pays(points) else None

    def _pays(self, points: Points) -> bool:
        """Whether so many are compared with all in less time than a tree takes."""
        tests = len(points) * len(self.rows)
        if self._left < 0 or (len(points) > 1 and tests > thresholds.SCANNED_TESTS):
            return False
        self._left -= tests + 3 * len(self.rows)  # these are put in columns first
        return True


def new_points(points: Any, dim: int | None, dtype: "np.dtype[Any] | None") -> NewPoints | None:
    """An array of sound points; None for what has to be read in another way."""
    if type(points) is not np.ndarray or points.ndim != 2 or len(points) > MOST_SCANNED:
        return None
    width, kind = points.shape[1], points.dtype
    if width not in (2, 3) or (dim is not None and dim != width):
        return None
    if not (kind == np.float64 or kind == np.float32) or (dtype is not None and dtype != kind):
        return None
    rows = np.array(points, order="C")
    low, high = np.empty((2, 1, width))
    return NewPoints(rows) if find_extent(rows, 0, len(rows), 0, low, high) < 0 else None
