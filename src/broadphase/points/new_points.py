"""The points of an index that was just made of them: columns and nothing else, which a few queries scan.

As `broadphase.indexes.new_boxes` does for boxes.  Rows by id, cells and a tree take 40 us for ten points and
2 ms for 10,000; a scan takes 0.3 us and 6 us.
"""

from typing import Any

import numpy as np

from broadphase.indexes.arguments import Given
from broadphase.indexes.thresholds import MOST_SCANNED, SCANNED_AT_LEAST, SCANS
from broadphase.inputs.points import GivenPoints, Numbers, Points
from broadphase.kernels.machine.kernel import try_call
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.one_point import scan_near, scan_nearest, take_points
from broadphase.points import thresholds
from broadphase.points.few import find_few

_take_points, _scan_near, _scan_nearest = map(try_call, (take_points, scan_near, scan_nearest))


class NewPoints:
    """Answers queries until a tree would have paid; None where the index has to answer."""

    __slots__ = ("_left", "_rows", "columns")
    ids = None
    """They are the rows."""

    def __init__(self, columns: Points) -> None:
        self.columns = columns
        """One for each axis, ended by infinite points."""
        self._left = SCANNED_AT_LEAST + SCANS * columns.shape[1]
        self._rows: Points | None = None

    @property
    def end(self) -> int:
        """All ids are below."""
        return int(self.columns.shape[1]) - LANES

    @property
    def rows(self) -> Points:
        """The points."""
        if self._rows is None:
            self._rows = np.ascontiguousarray(self.columns[:, :-LANES].T)
        return self._rows

    def near_one(self, point: Given, r: float) -> tuple[Numbers, Points] | None:
        """The points within a distance of one, in order, and how far they are."""
        return self._scanned(_scan_near, point, r)

    def nearest_one(self, point: Given, k: int, r: float) -> tuple[Numbers, Points] | None:
        """The ``k`` nearest of a point and how far they are, -1 and inf where there are fewer."""
        found = self._scanned(_scan_nearest, point, k, r) if k <= thresholds.SCANNED_RESULTS else None
        return None if found is None else (found[0][0], found[1][0])

    def _scanned(self, scan: Any, point: Given, *how: Any) -> tuple[Numbers, Points] | None:
        if self._left < 0:
            return None
        self._left -= self.columns.shape[1]
        try:
            found = scan(self.columns, point, *how)
        except OverflowError:  # an int that no float can hold
            return None
        return found[:2] if found is not None and found[2] else None

    def near_many(self, points: Points, r: Any, limit: int) -> tuple[Numbers, Numbers, Points] | None:
        """The points within a distance of several, in order."""
        given = GivenPoints(points, self.rows, None, None)
        return find_few(given, r, 0.0, True, False, limit) if self._pays(points) else None

    def nearest_many(self, points: Points, k: int, r: Any) -> tuple[Numbers, Points] | None:
        """The ``k`` nearest of several."""
        if not self._pays(points) or k > thresholds.SCANNED_RESULTS or type(r) is not float:
            return None
        rows = points.astype(np.float64, copy=False)
        found: tuple[Any, Any, bool] | None = _scan_nearest(self.columns, rows, k, r)
        return found[:2] if found is not None and found[2] else None

    def _pays(self, points: Points) -> bool:
        """Whether so many are compared with all in less time than a tree takes."""
        tests = len(points) * self.columns.shape[1]
        if self._left < 0 or tests > thresholds.SCANNED_TESTS:
            return False
        self._left -= tests
        return True


def new_points(points: Any, dim: int | None, dtype: "np.dtype[Any] | None") -> NewPoints | None:
    """An array of sound points; None for what has to be read in another way."""
    if type(points) is not np.ndarray or points.ndim != 2 or len(points) > MOST_SCANNED:
        return None
    width = points.shape[1]
    if width not in (2, 3) or (dim is not None and dim != width):
        return None
    if dtype is not None and dtype != points.dtype:
        return None
    found = _take_points(points)
    return NewPoints(found[0]) if found is not None and found[1] else None
