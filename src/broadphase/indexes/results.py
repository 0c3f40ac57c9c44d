"""The results of an index."""

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypedDict, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.indexes.storage import IdArray
from broadphase.runtime.arrays import brief
from broadphase.runtime.memory import PairArray, pair_array, result_array

Distances = npt.NDArray[np.float64]
_MOST_ROWS = 1 << 22  # more are only made when they are found
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
Made = TypeVar("Made")


class Stats(NamedTuple):
    """The work of the last call of an index."""

    method: str
    """The index's name, as `broadphase.make_index` takes it."""
    call: str
    """Which call this is about; empty before the first."""
    boxes: int
    """How many boxes the index holds."""
    tests: int
    """How many comparisons with a box were made."""
    pairs: int
    """How many pairs, ids or rows were found."""
    cells: int
    """How many cells, nodes or strips are in use; 0 where the index has none."""
    swaps: int = 0
    """How many ends of boxes were passed on the way to their new places; 0 where the index does not sort."""


class _RayHit(NamedTuple):
    id: int
    distance: float
    normal: tuple[float, ...]


class RayHit(_RayHit):
    """The first thing that a ray hits: a tuple of ``id``, ``distance`` and ``normal``.

    The distance is in world units, 0 where the ray starts inside.  The normal is the unit vector out of what
    was hit; zeros where the ray starts inside.  In a world ``id`` is that of a body, -1 for a tile.
    """

    other: Any
    """The `Body` or `Tile` that was hit, of a ray in a world."""
    point: tuple[float, float]
    """Where, of a ray in a world."""

    @property
    def body(self) -> Any:
        """The `Body`, of a ray in a world; ``None`` for a tile."""
        return self.other if self.id >= 0 else None

    __repr__ = brief


class _RayHits(NamedTuple):
    ids: IdArray
    distances: Distances
    normals: Distances


class RayHits(_RayHits):
    """Many hits: a tuple of the arrays ``ids``, ``distances`` and ``normals``, one entry a hit.

    Those of one ray are by distance, then id.  Of the first hits of many rays, the id is -1 and the distance
    inf where nothing is hit.  Normals are zeros where the ray starts inside or hits nothing; they have no
    columns with ``normals=False``.
    """

    rows: IdArray
    """``(n, 2)``: ``[query, id]`` of each hit, where many rays were asked for all that they hit."""
    tiles: npt.NDArray[np.int64]
    """``(..., 2)``, in a world: column and row of the tile that a ray hits, -1 where it hits none."""

    __repr__ = brief


class Wanted(TypedDict, total=False):
    """How the hits of rays are returned, for the signatures that type checkers read; see `Index.raycast`."""

    normals: bool
    dtype: npt.DTypeLike | None
    out: Any


class HowToCast(Wanted, total=False):
    """The same, and which boxes a ray may hit."""

    category: int | None
    mask: int | None


def hit_arrays(n: int, dim: int, dtype: npt.DTypeLike = np.float64) -> RayHits:
    """Arrays to write hits to; no normals with ``dim=0``."""
    return RayHits(result_array((n,), np.int32), result_array((n,), dtype), result_array((n, dim), dtype))


def hits_asked_for(
    axes: tuple[int, ...], dim: int, normals: bool, dtype: npt.DTypeLike | None, out: Any
) -> RayHits | None:
    """The arrays, in rows, for the first hits of a batch as `Index.raycast` takes them; None: any.

    Raises
    ------
    TypeError, ValueError
        Arrays are too few, of another shape or type, or cannot be written in place.
    """
    kind = np.dtype(np.float64 if dtype is None else dtype)
    if kind not in _FLOATS:
        raise ValueError(f"dtype must be float32 or float64; got {kind}")
    dim = dim if normals else 0
    if out is None:
        usual = not axes or (normals and kind == np.float64)
        return None if usual else hit_arrays(math.prod(axes), dim, kind)
    if dtype is not None or not axes:
        raise ValueError(
            "out= is for a batch of rays, and its arrays say the dtype; leave out= or dtype= out"
        )
    names = ("ids", "distances", "normals")[: 2 + normals]
    if not isinstance(out, (tuple, list)) or len(out) < len(names):
        raise TypeError(f"out must be a tuple of arrays ({', '.join(names)})")
    ids, distances, *rest = (
        _in_place(values, f"out, {name}") for values, name in zip(out, names, strict=False)
    )
    floats = [distances, *(rest or [np.empty((*axes, 0), distances.dtype)])]
    if ids.dtype != np.int32 or distances.dtype not in _FLOATS or floats[1].dtype != distances.dtype:
        said = ", ".join(f"{name} {array.dtype}" for name, array in zip(names, (ids, *floats), strict=False))
        raise TypeError(f"out must be ids int32 and the others float32 or float64, both alike; got {said}")
    for name, array, shape in zip(names, (ids, *floats), (axes, axes, (*axes, dim)), strict=False):
        if array.shape != shape:
            raise ValueError(f"out, {name} must have shape {shape}; got {array.shape}")
    return RayHits(ids.reshape(-1), distances.reshape(-1), floats[1].reshape(len(ids.reshape(-1)), dim))


def _in_place(values: Any, name: str) -> npt.NDArray[Any]:
    """An array of NumPy in the memory of another library's array."""
    array: npt.NDArray[Any] = values
    if type(values) is not np.ndarray:
        if not hasattr(values, "__array__"):
            raise TypeError(f"{name} must be an array; got {type(values).__name__}")
        array = values.__array__()
        if not np.may_share_memory(array, values.__array__()):
            raise TypeError(f"{name}: NumPy only gets a copy of a {type(values).__name__}; give an array")
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned and flags.writeable):
        raise ValueError(f"{name} must be writable and lie in one piece; make it by np.empty({array.shape})")
    return array


def hits_as_asked(
    found: Any, asked: RayHits | None, out: Any, shape: tuple[int, ...], axes: tuple[int, ...] | None
) -> Any:
    """Hits in the arrays that were asked for, or in ``out``; a search may have written them already.

    ``axes`` are those of a question that has several.
    """
    if asked is None:
        return in_axes(found, axes)
    if found is not asked:
        with np.errstate(over="ignore"):
            asked.ids[:], asked.distances[:] = found.ids, found.distances
            asked.normals[:] = found.normals[:, : asked.normals.shape[1]]
    if out is None:
        return in_axes(asked, axes)
    none = np.empty((*shape, 0), asked.distances.dtype)
    return RayHits(out[0], out[1], out[2] if asked.normals.shape[1] else none)


def in_axes(found: Made, axes: tuple[int, ...] | None) -> Made:
    """A result whose arrays have one entry for each row, in the axes of the question if it has several."""
    if axes is None:
        return found
    arrays: Any = found
    make: Any = type(found)
    shaped: Made = make(*(array.reshape(*axes, *array.shape[1:]) for array in arrays))
    for name, array in getattr(found, "__dict__", {}).items():
        setattr(shaped, name, array.reshape(*axes, *array.shape[1:]))
    return shaped


def hits_of_rows(rows: IdArray, distances: Distances, normals: Distances) -> RayHits:
    """All hits of a batch of rays, by query, then distance, then id."""
    hits = RayHits(rows[:, 1], distances, normals)
    hits.rows = rows
    return hits


class _Nearest(NamedTuple):
    ids: IdArray
    distances: npt.NDArray[np.floating[Any]]


class Nearest(_Nearest):
    """What is nearest to a point, or to each of many: a tuple of the arrays ``ids`` and ``distances``.

    Both are of shape ``(k,)``, shorter where there are fewer, and of many points ``(..., k)``, filled up with
    -1 and inf: by distance, then id.
    """

    shift: IdArray | None = None
    """``(n, k, dim)``, of points with ``images="all"``: by how many periods or vectors each is shifted."""
    points: Distances
    """Of `ShapeIndex.nearest`: the nearest point of each shape."""
    normals: Distances
    """Of `ShapeIndex.nearest`: the unit vector out of the shape there."""
    bodies: list[Any]
    """Of `World.nearest` for one point: the bodies."""

    __repr__ = brief


class PairChanges:
    """How the pairs differ from the call of ``changes`` before: three ``(m, 2)`` arrays of pairs.

    Unpacks as ``began, stayed, ended``.

    Parameters
    ----------
    began, ended : numpy.ndarray
        Sorted rows ``i < j``.
    stayed : callable
        Makes the third array on first access: it is the longest, and many programs never read it.
    """

    def __init__(self, began: PairArray, ended: PairArray, stayed: Callable[[], PairArray]) -> None:
        self.began = began
        self.ended = ended
        self._make_stayed = stayed

    @cached_property
    def stayed(self) -> PairArray:
        """Pairs that overlapped at the call before and still do."""
        return self._make_stayed()

    def __iter__(self) -> Iterator[PairArray]:
        return iter((self.began, self.stayed, self.ended))

    def __repr__(self) -> str:
        return f"PairChanges(began={len(self.began)}, stayed={len(self.stayed)}, ended={len(self.ended)})"


# ---- memory for what queries find


def expected_rows(queries: npt.NDArray[Any]) -> PairArray:
    """Memory for as many rows ``[query, id]`` as so many queries usually find; kernels make it larger."""
    return pair_array(min(8 * len(queries) + 64, _MOST_ROWS))
