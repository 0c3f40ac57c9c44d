"""Few points: `neighbors` and `nearest` where sorting into cells or along a curve takes too long.

See `broadphase.kernels.points.few_points`.  ``python benchmarks/neighbors.py --points 100 1000`` compares it
with other libraries.  Cost: for points that are spread evenly about ``n ** 1.5`` comparisons in 2-D and
``n ** 1.67`` in 3-D.  It loses to cells from about a thousand points on, and to the curve of
`broadphase.methods.nearest_points` where many of the nearest are wanted.
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_float_array
from broadphase.kernels.arrays.sorting import bits_of
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.few_points import Memory, find_nearest_of_few, find_pairs_of_few
from broadphase.points import Numbers, Points
from broadphase.runtime.memory import Group, borrowed_scratch

_MOST = 1_000
_MOST_FOR_NEAREST = 8_000
"""Points times the square of how many of the nearest are wanted."""
_LARGEST_INT = 1 << 53  # an int beyond this may be no float
_PAIRS_EACH = 8
"""Capacity in pairs a point; where there are more, sorting is a small part of the time."""


def _copied(points: Any) -> Points | None:
    """A copy of some but not many points in an array that needs no conversion; None for anything else."""
    if (
        type(points) is np.ndarray
        and points.ndim == 2
        and 0 < len(points) <= _MOST
        and points.shape[1] in (2, 3)
        and points.dtype.kind == "f"
        and as_float_array(points, "points") is points
    ):
        return points.copy()
    return None


def _is_length(r: Any) -> bool:
    return (type(r) is float and r >= 0.0) or (type(r) is int and 0 <= r < _LARGEST_INT)


def _memory(dim: int, dtype: "np.dtype[Any]", _: int) -> Group[Memory]:
    columns, rows = np.empty((dim, _MOST + LANES), dtype), np.empty((2, _PAIRS_EACH * _MOST), np.int32)
    memory = Memory(
        columns,
        np.empty((1, _MOST + LANES), np.int32),
        bits_of(columns[0]),
        np.empty((2, _MOST), np.int64),
        np.empty((_MOST, 32), np.uint32),
        np.empty(_MOST, np.uint32),
        rows,
        np.empty(rows.shape[1], dtype),
    )
    return Group(_MOST, sum(array.nbytes for array in memory), memory)


_FEW = {
    (dim, dtype.itemsize): (f"few {dim} {dtype}", _MOST, partial(_memory, dim, dtype))
    for dim in (2, 3)
    for dtype in (np.dtype(np.float32), np.dtype(np.float64))
}
"""What `Scratch.group` takes, by dimension and size of a number."""


def find_pairs(points: Any, r: Any, limit: int) -> tuple[Numbers, Numbers, Points] | None:
    """Pairs ``i < j`` in order, with distances; None if the points are many, not plain or not finite."""
    own = _copied(points) if _is_length(r) else None
    if own is None:
        return None
    with borrowed_scratch() as scratch:
        memory = scratch.group(*_FEW[own.shape[1], own.itemsize])
        found = find_pairs_of_few(own, float(r), _PAIRS_EACH * len(own), memory)
        if not 0 <= found <= limit:
            return None
        both = memory.rows[:, :found].copy()
        return both[0], both[1], memory.distances[:found].copy()


def find_nearest(points: Any, k: int, r: Any) -> tuple[Numbers, Points] | None:
    """Ids and distances of the ``k`` nearest; None if the points are many, not plain or not finite."""
    own = _copied(points) if _is_length(r) else None
    if own is None or len(own) * k * k > _MOST_FOR_NEAREST:
        return None
    ids: Numbers = np.empty((len(own), k), np.int32)
    distances: npt.NDArray[Any] = np.empty((len(own), k), own.dtype)
    with borrowed_scratch() as scratch:
        memory = scratch.group(*_FEW[own.shape[1], own.itemsize])
        status = find_nearest_of_few(own, k, float(r), memory, ids, distances)
    return (ids, distances) if status == 0 else None
