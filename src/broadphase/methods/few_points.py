"""Brute force over few points: `neighbors` and `nearest` where sorting takes longer than comparing.

Cost: see `broadphase.kernels.points.few_points`.  A call for 100 points takes 5 us (`nearest` of three: 20),
and 125 with cells or the curve of `broadphase.methods.nearest_points`; ``python benchmarks/neighbors.py
--points 100`` compares it with other libraries.  It loses to cells from about a thousand points on, and to
the curve from about 300.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_float_array
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.few_points import find_nearest_of_few, find_pairs_of_few
from broadphase.points import Numbers, Points
from broadphase.runtime.memory import borrowed_scratch

_MOST_FOR_PAIRS = 1_000
_MOST_FOR_NEAREST = 300
_LARGEST_K = 16
_LARGEST_INT = 1 << 53  # an int beyond this may be no float
_PAIRS_EACH = 8
"""Capacity in pairs a point; where there are more, sorting is a small part of the time."""


def _is_plain(points: Any, most: int) -> bool:
    """Whether it is an array that needs no conversion, of some but not many points."""
    return (
        type(points) is np.ndarray
        and points.ndim == 2
        and 0 < len(points) <= most
        and points.shape[1] in (2, 3)
        and points.dtype.kind == "f"
        and as_float_array(points, "points") is points
    )


def _is_length(r: Any) -> bool:
    return (type(r) is float and r >= 0.0) or (type(r) is int and 0 <= r < _LARGEST_INT)


def find_pairs(points: Any, r: Any, limit: int) -> tuple[Numbers, Numbers, Points] | None:
    """Pairs ``i < j`` in order, with distances; None if the points are many, not plain or not finite."""
    if not (_is_plain(points, _MOST_FOR_PAIRS) and _is_length(r)):
        return None
    n, dim = points.shape
    with borrowed_scratch() as scratch:
        columns = scratch.array("few columns", (dim, n + LANES), points.dtype)
        rows = scratch.array("few rows", (2, _PAIRS_EACH * n), np.int32)
        distances = scratch.array("few distances", (_PAIRS_EACH * n,), points.dtype)
        found = find_pairs_of_few(points, float(r), columns, rows, distances)
        if not 0 <= found <= limit:
            return None
        both = rows[:, :found].copy()
        return both[0], both[1], distances[:found].copy()


def find_nearest(points: Any, k: int, r: Any) -> tuple[Numbers, Points] | None:
    """Ids and distances of the ``k`` nearest; None if the points are many, not plain or not finite."""
    if not (_is_plain(points, _MOST_FOR_NEAREST) and _is_length(r) and k <= _LARGEST_K):
        return None
    n, dim = points.shape
    ids: Numbers = np.empty((n, k), np.int32)
    distances: npt.NDArray[Any] = np.empty((n, k), points.dtype)
    with borrowed_scratch() as scratch:
        columns = scratch.array("few columns", (dim, n + LANES), points.dtype)
        status = find_nearest_of_few(points, k, float(r), columns, ids, distances)
    return (ids, distances) if status == 0 else None
