"""Few points: `neighbors` and `nearest` where sorting into cells or along a curve takes too long.

See `broadphase.kernels.points.few_points`.  ``python benchmarks/neighbors.py --points 100 1000`` compares it
with other libraries.  Cost: for points that are spread evenly about ``n ** 1.5`` comparisons in 2-D and
``n ** 1.67`` in 3-D.  It loses to cells from about a thousand points on, and to the curve of
`broadphase.points.nearest` where many of the nearest are wanted.

With other points, a period or cell, environments or radii, each point is compared with each
(`find_small_pairs`, `find_small_nearest`), which loses from a few hundred points on.
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs.points import Numbers, PointQuery, Points
from broadphase.kernels.arrays.sorting import bits_of
from broadphase.kernels.machine.kernel import try_call
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.few_points import (
    Memory,
    find_nearest_in_space,
    find_nearest_of_few,
    find_pairs_in_space,
    find_pairs_of_few,
)
from broadphase.kernels.points.fixed_radius import (
    MOST_RANGES,
    RANGE_ROWS,
    Cells,
    find_few_near,
    near_point,
)
from broadphase.runtime.memory import Group, borrowed_scratch

_near_point = try_call(near_point)

_MOST = 1_000
_MOST_FOR_NEAREST = 8_000
"""Points times the square of how many of the nearest are wanted."""
_MOST_TESTS, _MOST_TESTS_FOR_NEAREST = 1 << 17, 1 << 15
"""Of each point with each point to search among: from here on, sorting is faster."""
_MOST_QUERIES, _MOST_OF_A_QUERY = 16, 256
"""Of points with many others in cells: more neighbours of one of them are not sorted by inserting each."""
_PAIRS_EACH = 8
"""Capacity in pairs a point; where there are more, sorting is a small part of the time."""


def _is_few(points: Any) -> bool:
    """Whether these are some but not many points, in an array that needs no conversion."""
    return points.ndim == 2 and 0 < len(points) <= _MOST and points.shape[1] in (2, 3)


def _is_length(r: Any) -> bool:
    return type(r) is float and r >= 0.0


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


Pairs = tuple[Numbers, Numbers, Points]


def find_pairs(own: Points, r: Any, limit: int) -> Pairs | None:
    """Pairs ``i < j`` in order, with distances; None if the points are many, not plain or not finite."""
    if not (_is_few(own) and _is_length(r)):
        return None
    with borrowed_scratch() as scratch:
        memory = scratch.group(*_FEW[own.shape[1], own.itemsize])
        found = find_pairs_of_few(own, float(r), _PAIRS_EACH * len(own), memory)
        return _copied(memory, found) if 0 <= found <= limit else None


def _copied(memory: Memory, found: int) -> Pairs:
    """The pairs that a kernel has found."""
    both = memory.rows[:, :found].copy()
    return both[0], both[1], memory.distances[:found].copy()


def find_nearest(own: Points, k: int, r: Any) -> tuple[Numbers, Points] | None:
    """Ids and distances of the ``k`` nearest; None if the points are many, not plain or not finite."""
    if not (_is_few(own) and _is_length(r)) or len(own) * k * k > _MOST_FOR_NEAREST:
        return None
    ids: Numbers = np.empty((len(own), k), np.int32)
    distances: npt.NDArray[Any] = np.empty((len(own), k), own.dtype)
    with borrowed_scratch() as scratch:
        memory = scratch.group(*_FEW[own.shape[1], own.itemsize])
        status = find_nearest_of_few(own, k, float(r), memory, ids, distances)
    return (ids, distances) if status == 0 else None


def _is_small(query: PointQuery, most: int) -> bool:
    n, m = len(query.points), len(query.found)
    return 0 < m <= _MOST and 0 < n * m <= most


def _around(query: PointQuery) -> Points:
    return query.period if query.lattice is None else query.lattice.around


def find_small_pairs(query: PointQuery, r: float, radii: Points, other_radii: Points) -> Pairs | None:
    """All pairs in order, with distances, of a query of any kind; None if it is not small."""
    if not _is_small(query, _MOST_TESTS):
        return None
    points, found = query.points, query.found
    with borrowed_scratch() as scratch:
        memory = scratch.group(*_FEW[points.shape[1], points.itemsize])
        count = find_pairs_in_space(
            *(query.others is None, points, found, _around(query), query.envs, query.other_envs),
            *(radii, other_radii, r, memory),
        )
        return _copied(memory, count) if count >= 0 else None


def find_in_cells(query: PointQuery, cells: Cells, r: float) -> Pairs | None:
    """All pairs in order, with distances, of few points with others in cells; None if it is not as small."""
    points = query.points
    if query.others is None or query.worlds > 1 or len(points) > _MOST_QUERIES:
        return None
    with borrowed_scratch() as scratch:
        memory = scratch.group(*_FEW[points.shape[1], points.itemsize])
        ranges = scratch.array("few ranges", (RANGE_ROWS, MOST_RANGES), np.int64)
        count = find_few_near(cells, points, query.others, query.period, r, _MOST_OF_A_QUERY, ranges, memory)
        return _copied(memory, count) if count >= 0 else None


def find_near_point(query: PointQuery, cells: Cells, point: Any, r: float) -> tuple[Numbers, Points] | None:
    """Numbers, in order, and distances of what is near one point, which is read and checked here.

    ``query`` has no environments and no lattice.  None if the point is not a tuple of numbers within the
    world, or if much is near it.
    """
    try:
        found = _near_point(cells, query.found, query.period, point, r)
    except OverflowError:  # an int that no float can hold
        return None
    return (found[0], found[1]) if found is not None and found[2] else None


def find_small_nearest(query: PointQuery, k: int, r: float) -> tuple[Numbers, Points] | None:
    """Ids and distances of the ``k`` nearest, of a query of any kind; None if it is not small."""
    n = len(query.points)
    if not _is_small(query, _MOST_TESTS_FOR_NEAREST) or n * k * k > _MOST_FOR_NEAREST:
        return None
    ids: Numbers = np.empty((n, k), np.int32)
    distances: npt.NDArray[Any] = np.empty((n, k), query.points.dtype)
    with borrowed_scratch() as scratch:
        find_nearest_in_space(
            *(query.others is None, query.points, query.found, _around(query), query.envs, query.other_envs),
            *(k, r, scratch.group(*_FEW[query.points.shape[1], query.points.itemsize]), ids, distances),
        )
    return ids, distances
