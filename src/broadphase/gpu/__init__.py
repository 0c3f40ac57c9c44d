"""Searches of arrays that lie on a graphics card, where they lie: arrays of torch, CuPy, JAX and Warp.

The extra ``gpu`` installs Warp, which compiles the kernels when they are first called: some seconds, then
they are kept.  Arrays in main memory are searched too, by the same kernels on one core: to try them out.

Examples
--------
>>> import warp as wp
>>> from broadphase import gpu
>>> boxes = wp.array([[0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]], dtype=wp.float32, device="cpu")
>>> gpu.pairs(boxes).numpy()
array([[0, 1],
       [1, 2]], dtype=int32)
"""

import math
from typing import Any, NamedTuple

from broadphase.errors import TOO_MANY_NEAR, PairLimitExceeded, need
from broadphase.methods.task import pair_limit

__all__ = [
    *("NearPoints", "PairChanges", "RayHits"),
    *("changes", "count_pairs", "join", "neighbors", "pairs", "raycast"),
]


class NearPoints(NamedTuple):
    """Pairs of points near each other, ``(m,)`` each, in the library and on the device of the points."""

    i: Any
    """int32 row numbers of the points."""
    j: Any
    """Of the points too, ``i < j``; with ``other=`` of the others."""
    distance: Any
    """In the points' dtype, as `broadphase.neighbors` computes it."""


class RayHits(NamedTuple):
    """The first hit of each ray, in the library and on the device of the boxes."""

    ids: Any
    """int32 row numbers of the boxes; -1 where nothing is hit."""
    distances: Any
    """float64; inf where nothing is hit, 0 where the ray starts inside."""
    normals: Any
    """float64, unit vectors; zeros where the ray starts inside or hits nothing."""


class PairChanges(NamedTuple):
    """How pairs differ from those before: ``(m, 2)`` int32 arrays, sorted."""

    began: Any
    stayed: Any
    ended: Any


def pairs(
    boxes: Any,
    *,
    touching: bool = True,
    sort: bool = True,
    static: Any = None,
    categories: Any = None,
    masks: Any = None,
    env: Any = None,
    max_pairs: int | None = None,
) -> Any:
    """Find every pair of boxes that overlap, on the device that holds them.

    Parameters
    ----------
    boxes : array of torch, CuPy, JAX or Warp
        float32 or float64, ``(n, 4)`` or ``(n, 6)``, or ``(worlds, n, 4)`` and ``(worlds, n, 6)``.
    touching, sort, max_pairs
        As for `broadphase.pairs`.  Without ``sort`` too the order is the same in every call.
    static, categories, masks, env : array, optional
        As for `broadphase.pairs`; on the device of the boxes.

    Returns
    -------
    array of the library of ``boxes``
        ``(m, 2)`` int32 on the same device: exactly what `broadphase.pairs` returns.

    Raises
    ------
    TypeError, ValueError, PairLimitExceeded
        As for `broadphase.pairs`; also for NumPy arrays, which are never moved to a card unasked, for other
        types of numbers, and for arrays that lie on different devices.
    MemoryError
        The device cannot hold what was counted; before it is asked for it.
    RuntimeError
        A CUDA graph is being captured.

    Examples
    --------
    >>> import warp as wp
    >>> from broadphase import gpu
    >>> boxes = wp.array([[0, 0, 2, 2], [1, 1, 3, 3]], dtype=wp.float32, device="cpu")
    >>> gpu.pairs(boxes).numpy()
    array([[0, 1]], dtype=int32)
    """
    limit = pair_limit(max_pairs)
    rules = {"static": static, "categories": categories, "masks": masks}
    return _tasks().find_pairs({"boxes": boxes}, env, bool(touching), rules, limit, bool(sort))


def join(
    a: Any,
    b: Any,
    *,
    touching: bool = True,
    sort: bool = True,
    env: tuple[Any, Any] | None = None,
    max_pairs: int | None = None,
) -> Any:
    """Find every row of ``b`` that each row of ``a`` overlaps, on the device that holds them.

    Parameters
    ----------
    a, b : array
        Boxes as for `pairs`; if only one is float32, both are computed in float64.
    touching, sort, max_pairs
        As for `pairs`.
    env : tuple of array, optional
        The environments of both sides, as for `broadphase.pairs`.

    Returns
    -------
    array of the library of ``a``
        ``(m, 2)`` int32: exactly what `broadphase.join` returns.

    Raises
    ------
    TypeError, ValueError, PairLimitExceeded, MemoryError, RuntimeError
        As for `pairs`; also when the dimensions differ.

    Examples
    --------
    >>> import warp as wp
    >>> from broadphase import gpu
    >>> shots = wp.array([[0, 0, 1, 1], [8, 8, 9, 9]], dtype=wp.float32, device="cpu")
    >>> ships = wp.array([[5, 5, 7, 7], [8, 8, 10, 10]], dtype=wp.float32, device="cpu")
    >>> gpu.join(shots, ships).numpy()
    array([[1, 1]], dtype=int32)
    """
    limit = pair_limit(max_pairs)
    return _tasks().find_pairs({"a": a, "b": b}, env, bool(touching), {}, limit, bool(sort))


def count_pairs(
    boxes: Any,
    *,
    touching: bool = True,
    static: Any = None,
    categories: Any = None,
    masks: Any = None,
    env: Any = None,
) -> int:
    """Count the pairs of boxes that overlap, without storing them; arguments as for `pairs`.

    Examples
    --------
    >>> import warp as wp
    >>> from broadphase import gpu
    >>> gpu.count_pairs(wp.array([[0, 0, 2, 2], [1, 1, 3, 3]], dtype=wp.float32, device="cpu"))
    1
    """
    rules = {"static": static, "categories": categories, "masks": masks}
    return int(_tasks().count_pairs({"boxes": boxes}, env, bool(touching), rules))


def neighbors(
    points: Any,
    r: float,
    *,
    other: Any = None,
    env: Any = None,
    sort: bool = True,
    max_pairs: int | None = None,
) -> NearPoints:
    """All pairs of points within a distance ``r`` of each other, on the device that holds them.

    Parameters
    ----------
    points, other : array of torch, CuPy, JAX or Warp
        float32 or float64, ``(n, 2)`` or ``(n, 3)``, or with the worlds as first axis; finite.
    r : float
        One distance for all.
    env, sort, max_pairs
        As for `broadphase.neighbors`.

    Returns
    -------
    NearPoints
        ``i, j, distance``: number for number what `broadphase.neighbors` returns.

    Raises
    ------
    TypeError, ValueError, PairLimitExceeded, MemoryError, RuntimeError
        As for `pairs`; also if a coordinate is not finite or ``r`` is negative or NaN.

    Examples
    --------
    >>> import warp as wp
    >>> from broadphase import gpu
    >>> points = wp.array([[0, 0], [3, 4], [0, 9]], dtype=wp.float32, device="cpu")
    >>> i, j, distance = gpu.neighbors(points, 5.0)
    >>> i.numpy(), j.numpy(), distance.numpy()
    (array([0], dtype=int32), array([1], dtype=int32), array([5.], dtype=float32))
    """
    limit = pair_limit(max_pairs)
    given = {"points": points} if other is None else {"points": points, "other": other}
    try:
        return NearPoints(*_tasks().find_near(given, r, env, limit, bool(sort)))
    except PairLimitExceeded:
        raise PairLimitExceeded(limit, TOO_MANY_NEAR) from None


def raycast(
    boxes: Any,
    origins: Any,
    directions: Any,
    *,
    max_distance: Any = math.inf,
    env: tuple[Any, Any] | None = None,
    ignore: Any = None,
    touching: bool = True,
) -> RayHits:
    """The first box that each ray hits; of several at one distance, the lowest row.

    Parameters
    ----------
    boxes : array
        As for `pairs`.
    origins, directions : array of the same dtype
        ``(m, dim)``, finite; a direction has any length but zero.  With boxes ``(worlds, n, 2 * dim)`` also
        ``(worlds, m, dim)``; the answer then has that shape.
    max_distance : float or array
        In world units, not in lengths of the directions.
    env : tuple of array, optional
        The environments of the boxes and of the rays, as for `broadphase.pairs`.
    ignore : array of int, optional
        For each ray the row of a box that it passes through, such as the body that casts it; -1 for none.
    touching : bool
        Whether a ray hits a box that it only touches at an edge or a corner.

    Returns
    -------
    RayHits
        ``ids, distances, normals``: number for number what ``raycast`` of an index returns.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As for `pairs`; also if an origin is not finite, a direction is zero, or a distance is negative.

    Examples
    --------
    >>> import warp as wp
    >>> from broadphase import gpu
    >>> boxes = wp.array([[4, -1, 5, 1]], dtype=wp.float32, device="cpu")
    >>> origins, ways = (wp.array([row], dtype=wp.float32, device="cpu") for row in ([0, 0], [2, 0]))
    >>> gpu.raycast(boxes, origins, ways).distances.numpy()
    array([4.])
    """
    given = boxes, origins, directions, max_distance, ignore
    return RayHits(*_tasks().find_hits(*given, env, bool(touching)))


def changes(before: Any, after: Any) -> PairChanges:
    """Which pairs began, stayed and ended between two frames.

    Parameters
    ----------
    before, after : array, shape (m, 2)
        What `pairs` returned, sorted, in two frames; on one device.

    Returns
    -------
    PairChanges
        ``began, stayed, ended``.

    Examples
    --------
    >>> import warp as wp
    >>> from broadphase import gpu
    >>> before = wp.array([[0, 1], [0, 2]], dtype=wp.int32, device="cpu")
    >>> after = wp.array([[0, 2], [1, 2]], dtype=wp.int32, device="cpu")
    >>> [rows.numpy().tolist() for rows in gpu.changes(before, after)]
    [[[1, 2]], [[0, 2]], [[0, 1]]]
    """
    return PairChanges(*_tasks().find_changes(before, after))


def _tasks() -> Any:
    need("warp", extra="gpu", purpose="searching on a graphics card")
    from broadphase.gpu import tasks

    return tasks
