"""The public functions; all that is checked, before the device is asked for an answer.

Rows are checked by the kernels that read them.  Each notes the first row that is wrong; `_refusing` says what
is wrong with it, when the host waits for the device anyway.

Arrays of torch, CuPy, JAX and Warp are taken where they lie, through DLPack and without a copy; results too.
DLPack makes the search wait for the caller's stream, and the caller's stream for the result.  Nothing is
copied from one device to another.
"""

import math
import sys
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from broadphase.errors import TOO_MANY_NEAR, PairLimitExceeded, need

need("warp", extra="gpu", purpose="searching on a graphics card")

import warp as wp

from broadphase.gpu import kernels, rays, sweep
from broadphase.gpu.kernels import FLOATS
from broadphase.inputs.arrays import MOST_IDS
from broadphase.inputs.boxes import unsound_box_error
from broadphase.inputs.environments import BOX_WIDTHS, POINT_WIDTHS
from broadphase.inputs.points import as_distance, unsound_point_error
from broadphase.methods.task import pair_limit

Array = Any
"""An array of Warp."""
_KEYS = dict(zip(kernels.FLOATS, kernels.KEYS, strict=True))
# The keys of -inf and inf: what is beyond is NaN.
_ENDS = {wp.uint32: (0x007FFFFF, 0xFF800000), wp.uint64: (0x000FFFFFFFFFFFFF, 0xFFF0000000000000)}
# What can be squared without underflow or overflow, and the factors to get there: as on the processor.
_METRIC = {wp.float32: (-30, 60, 92, -92), wp.float64: (-200, 500, 600, -600)}
_BOXES = "rows of [min..., max...]"
_WIDER = 1.0 + 2.0**-20  # the boxes around points near each other overlap, despite rounding


class Side(NamedTuple):
    """Boxes or points: all of them, those of a, or those of b."""

    name: str
    given: Any
    array: Array
    """``(n, width)``."""
    world_rows: int | None
    """How many rows each world has, if these were given as ``(worlds, n, width)``."""


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
    rules = {"static": static, "categories": categories, "masks": masks}
    return _find_pairs({"boxes": boxes}, env, touching, rules, max_pairs, sort)


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
    return _find_pairs({"a": a, "b": b}, env, touching, {}, max_pairs, sort)


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
    sides = _sides({"boxes": boxes}, BOX_WIDTHS, _BOXES)
    with wp.ScopedDevice(sides[0].array.device):
        return sweep.count_all(_search(sides, env, bool(touching), rules))


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
    sides = _sides(given, POINT_WIDTHS, "rows of coordinates")
    with wp.ScopedDevice(sides[0].array.device):
        search = _search(sides, env, True, {}, radius=r)
        try:
            found = sweep.distances_of(sweep.find_all(search, limit, sort=bool(sort)), search)
        except PairLimitExceeded:
            raise PairLimitExceeded(limit, TOO_MANY_NEAR) from None
        return NearPoints(*(given_back(column, points) for column in found))


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
    box_side, *_ = _sides({"boxes": boxes}, BOX_WIDTHS, _BOXES)
    n, dim = len(box_side.array), box_side.array.shape[1] // 2
    lines = _sides({"origins": origins, "directions": directions}, (dim, dim), f"as the boxes are {dim}-D")
    start, m = lines[0], len(lines[0].array)
    same_device(start.array, "origins", box_side.array)
    alike = len({side.array.dtype for side in (box_side, *lines)}) == 1
    if not alike or len(lines[1].array) != m or (start.world_rows is None) != (box_side.world_rows is None):
        shapes = [tuple(array.shape) for array in (boxes, origins, directions)]
        raise ValueError(
            "boxes, origins and directions must have one dtype, one direction for each origin, and all or "
            f"none of them worlds; got shapes {shapes}"
        )
    with wp.ScopedDevice(box_side.array.device):
        if isinstance(max_distance, Real):
            reach = wp.full(1, float(max_distance), dtype=wp.float64)
        else:
            reach = _widened(one_each(max_distance, m, "max_distance", start.array, kernels.FLOATS)).reshape(
                m
            )
        ignored = wp.empty(0 if ignore is None else m, dtype=wp.int64)
        if ignore is not None:
            _read_integers(ignore, "ignore", start.array, ignored, 0)
        bad = wp.full(1 + len(lines) + 1, MOST_IDS, dtype=int)
        keys = wp.empty((2 * dim, n), dtype=_KEYS[box_side.array.dtype])
        _read_boxes(box_side.array, keys, 0, True, bad, 0)
        found: tuple[Any, ...] = rays.first_hits(
            box_side.array,
            keys,
            start.array,
            lines[1].array,
            reach,
            ignored,
            _envs([box_side, start], env),
            bool(touching),
            _refusing([box_side, *lines, Side("max_distance", None, reach, None)]),
            bad,
        )
        if start.world_rows is not None:
            found = tuple(column.reshape((*start.given.shape[:2], *column.shape[1:])) for column in found)
        return RayHits(*(given_back(column, boxes) for column in found))


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
    sides = [taken(before, "before"), taken(after, "after")]
    same_device(sides[1], "after", sides[0])
    with wp.ScopedDevice(sides[0].device):
        bad, packed = wp.full(2, MOST_IDS, dtype=int), []
        for k, (array, name) in enumerate(zip(sides, ("before", "after"), strict=True)):
            if array.dtype != wp.int32 or array.ndim != 2 or array.shape[1] != 2:
                raise ValueError(f"{name} must be (m, 2) int32, as pairs returns; got shape {array.shape}")
            packed.append(wp.empty(len(array), dtype=wp.uint64))
            wp.launch(kernels.pack, len(array), [array, packed[k], bad, k])
        for name, row in zip(("before", "after"), bad.numpy().tolist(), strict=True):
            if row < MOST_IDS:
                raise ValueError(
                    f"{name}[{row}] is not after the row before; take pairs found with sort=True"
                )

        def chosen(side: int, wanted: int) -> Any:
            count = len(packed[side])
            counts = wp.zeros(count + 1, dtype=int)
            wp.launch(kernels.find_each, count, [packed[side], packed[1 - side], wanted, counts])
            places = sweep.scanned(counts)
            out = wp.empty((sweep.last(places), 2), dtype=int)
            wp.launch(kernels.keep, count, [sides[side], places, out])
            return given_back(out, after)

        return PairChanges(chosen(1, 0), chosen(1, 1), chosen(0, 0))


# ---- from arguments to a search


def _find_pairs(
    given: dict[str, Any], env: Any, touching: bool, rules: dict[str, Any], max_pairs: int | None, sort: bool
) -> Any:
    limit = pair_limit(max_pairs)
    sides = _sides(given, BOX_WIDTHS, _BOXES)
    with wp.ScopedDevice(sides[0].array.device):
        search = _search(sides, env, bool(touching), rules)
        found = sweep.find_all(search, limit, sort=bool(sort))
        return given_back(sweep.pairs_of(found, search.rows_of_a), sides[0].given)


def _sides(given: dict[str, Any], widths: tuple[int, int], said: str) -> list[Side]:
    """All of one dimension, with worlds or without, on one device."""
    sides = [Side(name, values, *rows(values, name, widths, said)) for name, values in given.items()]
    first, last = sides[0], sides[-1]
    same_device(last.array, last.name, first.array)
    if first.array.shape[1] != last.array.shape[1] or (first.world_rows is None) != (last.world_rows is None):
        raise ValueError(
            f"{first.name} has shape {tuple(first.given.shape)} and {last.name} {tuple(last.given.shape)}; "
            "give both in one dimension, and both with worlds or both without"
        )
    if sum(len(side.array) for side in sides) > MOST_IDS:
        raise ValueError(f"{first.name} has too many rows; ids are 32 bits wide, so {MOST_IDS} is the most")
    return sides


def _search(
    sides: list[Side], env: Any, touching: bool, rules: dict[str, Any], radius: Any = None
) -> sweep.Search:
    counts = [len(side.array) for side in sides]
    kind = max((side.array.dtype for side in sides), key=kernels.FLOATS.index)
    sides = [
        side._replace(array=side.array if side.array.dtype == kind else _widened(side.array))
        for side in sides
    ]
    bad, n = wp.full(len(sides) + 2, MOST_IDS, dtype=int), sum(counts)
    circles = sweep.Near(wp.empty((0, 0), dtype=kind), wp.empty(0, dtype=kind))
    if radius is None:
        keys = wp.empty((sides[0].array.shape[1], n), dtype=_KEYS[kind])
        for k, side in enumerate(sides):
            _read_boxes(side.array, keys, sum(counts[:k]), touching, bad, k)
    else:
        dim = sides[0].array.shape[1]
        circles = sweep.Near(wp.empty((n, dim), dtype=kind), _metric(radius, kind))
        boxes, keys = wp.empty((n, 2 * dim), dtype=kind), wp.empty((2 * dim, n), dtype=_KEYS[kind])
        for k, side in enumerate(sides):
            around = [side.array, circles.metric, sum(counts[:k]), boxes, circles.points, bad, k]
            wp.launch(kernels.boxes_around, counts[k], around)
        _read_boxes(boxes, keys, 0, True, wp.empty(1, dtype=int), 0)
    if 0 in counts:  # then nothing meets, and what is there has been checked
        keys = wp.empty((keys.shape[0], 0), dtype=_KEYS[kind])
    first = sides[0].array
    static = wp.empty(0, dtype=wp.bool)
    if rules.get("static") is not None:  # a copy: it is read twice, and no other stream may write in between
        static = wp.clone(one_each(rules["static"], n, "static", first, (wp.bool,)))
    given = [Side(name, rules.get(name), None, None) for name in ("categories", "masks")]
    categories, masks = _sets([side.given for side in given], first, bad, len(sides))
    packed = kernels.struct(kernels.Rules, unmoved=static, categories=categories, masks=masks)
    rows_of_a = counts[0] if len(sides) == 2 else 0
    refuse = _refusing([*sides, *given])
    return sweep.Search(keys, rows_of_a, _envs(sides, env), packed, circles, refuse, bad)


def _read_boxes(boxes: Array, keys: Array, begin: int, touching: bool, bad: Array, argument: int) -> None:
    kind = _KEYS[boxes.dtype]
    bits = wp.array(ptr=boxes.ptr, dtype=kind, shape=boxes.shape, strides=boxes.strides, device=boxes.device)
    ends = [kind(end) for end in _ENDS[kind]]
    apart = kind(int(not touching))
    wp.launch(kernels.read_boxes, len(boxes), [bits, *ends, apart, begin, keys, bad, argument])


def _widened(values: Array) -> Array:
    values = values if values.ndim == 2 else values.reshape((-1, 1))
    wide = wp.empty(values.shape, dtype=wp.float64)
    wp.launch(kernels.widen, values.shape, [values, wide])
    return wide


def _metric(radius: Any, kind: Any) -> Array:
    """See `kernels.distance_of`; and the distance, and how far the box around a point reaches."""
    numbers = np.dtype(np.float32 if kind is wp.float32 else np.float64)
    r = as_distance(radius, numbers)
    limits = [2.0**power for power in _METRIC[kind]]
    half = numbers.type(r / 2.0 * _WIDER) if r > limits[3] else r
    return wp.array([*limits, r, float(half)], dtype=kind)


def _sets(given: Sequence[Any], first: Array, bad: Array, argument: int) -> tuple[Array, Array]:
    """Categories and masks, both or neither; by default a category is 1 and a mask is full."""
    if all(values is None for values in given):
        return (wp.empty(0, dtype=wp.uint32),) * 2
    n, sets = len(first), []
    for k, (values, name, default) in enumerate(
        zip(given, ("categories", "masks"), (1, 0xFFFFFFFF), strict=True)
    ):
        sets.append(wp.full(n, wp.uint32(default), dtype=wp.uint32))
        if values is not None:
            read = one_each(values, n, name, first, kernels.INTEGERS)
            wp.launch(kernels.read_bits, n, [read, sets[k], bad, argument + k])
    return sets[0], sets[1]


def _read_integers(values: Any, name: str, rows: Array, out: Array, begin: int) -> None:
    read = one_each(values, len(rows), name, rows, kernels.INTEGERS)
    wp.launch(kernels.read_env, len(read), [read, begin, out])


def _envs(sides: list[Side], env: Any) -> Array | None:
    """Environments of all rows of the sides, and room to sort them."""
    if sides[0].world_rows is not None and env is not None:
        raise ValueError(f"{sides[0].name} has worlds as its first axis; leave env= out, or give rows")
    if sides[0].world_rows is None and env is None:
        return None
    parts = (env,) if len(sides) == 1 else env if env is not None else (None, None)
    if not isinstance(parts, (tuple, list)) or len(parts) != len(sides):
        raise ValueError(f"env must be a pair of arrays: one for {sides[0].name}, one for {sides[-1].name}")
    worlds = {side.given.shape[0] for side in sides if side.world_rows is not None}
    if len(worlds) > 1:
        raise ValueError(
            f"{sides[0].name} and {sides[-1].name} have {sorted(worlds)} worlds; give as many of both"
        )
    out, begin = wp.empty(2 * sum(len(side.array) for side in sides), dtype=wp.int64), 0
    for k, (side, values) in enumerate(zip(sides, parts, strict=True)):
        if side.world_rows is not None:
            wp.launch(kernels.number_worlds, len(side.array), [max(side.world_rows, 1), begin, out])
        else:
            _read_integers(values, "env" if len(sides) == 1 else f"env[{k}]", side.array, out, begin)
        begin += len(side.array)
    return out


def _refusing(arguments: list[Side]) -> Callable[[Array], None]:
    """A function that raises what is wrong with the first of the arguments that has a bad row."""

    def refuse(bad: Array) -> None:
        for argument, row in zip(arguments, bad.numpy().tolist(), strict=True):
            if row < MOST_IDS:
                raise _unsound(argument, row)

    return refuse


def _unsound(argument: Side, row: int) -> ValueError:
    name, given, array, _ = argument
    named = f"{name}[{row}]"
    if array is None:
        return ValueError(
            f"{named} = {taken(given, name)[row : row + 1].numpy()[0]} does not fit into 32 bits"
        )
    values = array[row : row + 1].numpy()[0]
    if name == "max_distance":
        return ValueError(f"{named} = {values} must not be negative or nan")
    if name == "directions":
        return ValueError(f"{named} = {values.tolist()} points nowhere or is not finite; give a finite way")
    if name in ("points", "other", "origins"):
        return unsound_point_error(values, named)
    return unsound_box_error(values, named)


# ---- arrays of torch, CuPy, JAX and Warp: taken where they lie, through DLPack; results too


wp.init()  # DLPack asks it which devices there are

_CPU, _CUDA = 1, (2, 13)  # DLPack's codes; memory that the driver moves is on a card too


def taken(values: Any, name: str) -> "wp.array[Any]":
    """An argument as an array of Warp, in the same memory.

    Raises
    ------
    TypeError
        It is in NumPy's hands, tracks a gradient, or has no ``__dlpack__``.
    RuntimeError
        A graph is being captured: how much memory a search takes depends on what it finds.
    """
    if isinstance(values, np.ndarray):
        raise TypeError(
            f"{name} is a NumPy array, and nothing is moved to a graphics card unasked; call the function of "
            f"broadphase itself, or move it, as by torch.from_numpy({name}).cuda()"
        )
    if getattr(values, "requires_grad", False):
        raise TypeError(
            f"{name} requires grad, and no gradient comes out of this function; give {name}.detach()"
        )
    if not isinstance(values, wp.array):
        if not hasattr(type(values), "__dlpack__"):
            raise TypeError(
                f"{name} must be an array of torch, CuPy, JAX or Warp; got {type(values).__name__}"
            )
        kind, number = values.__dlpack_device__()
        if kind != _CPU and (kind not in _CUDA or number >= wp.get_cuda_device_count()):
            raise TypeError(
                f"{name} lies on a device that Warp does not find; it takes CUDA devices whose driver is new "
                f"enough, and main memory: {name}.cpu()"
            )
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            raise RuntimeError(_CAPTURING)
        try:
            values = wp.from_dlpack(values)
        except (BufferError, RuntimeError, TypeError) as error:
            raise TypeError(f"{name} cannot be read by Warp: {error}") from None
    if values.device.is_capturing:
        raise RuntimeError(_CAPTURING)
    if wp.types.type_is_vector(values.dtype):
        values = wp.from_dlpack(values)  # vec2 and the like, as rows of numbers
    return values


_CAPTURING = (
    "a graph is being captured, and a search waits for what it finds to know how much memory it needs; "
    "call it outside of the capture"
)


def rows(values: Any, name: str, widths: tuple[int, int], said: str) -> "tuple[wp.array[Any], int | None]":
    """Rows of floats, and of ``(worlds, n, width)`` how many rows a world has, else None."""
    array = taken(values, name)
    if array.dtype not in FLOATS:
        raise TypeError(
            f"{name} must be float32 or float64; got {_name(array.dtype)}; convert it on its device"
        )
    row_width = None
    if array.ndim == 3:
        row_width = int(array.shape[1])
        array = array.contiguous().reshape((-1, array.shape[2]))
    if array.ndim != 2 or array.shape[1] not in widths:
        shapes = " or ".join(f"(n, {width})" for width in dict.fromkeys(widths))
        raise ValueError(f"{name} must have shape {shapes}, {said}; got shape {tuple(values.shape)}")
    return array, row_width


def one_each(
    values: Any, n: int, name: str, like: "wp.array[Any]", types: tuple[Any, ...]
) -> "wp.array[Any]":
    """One number or flag for each row, of one of some types, on the device of the rows."""
    array = taken(values, name)
    if array.ndim == 2:  # of worlds
        array = array.contiguous().flatten()
    same_device(array, name, like)
    if array.dtype not in types:
        wanted = " or ".join(map(_name, types)) if len(types) < 4 else "integers"
        raise TypeError(f"{name} must be {wanted}, one a row; got {_name(array.dtype)}")
    if array.shape != (n,):
        raise ValueError(f"{name} must hold one entry for each of the {n} rows; got shape {array.shape}")
    return array


def same_device(array: "wp.array[Any]", name: str, like: "wp.array[Any]") -> None:
    """Raise ``TypeError`` for an array that lies elsewhere than the first one."""
    if array.device != like.device:
        raise TypeError(
            f"{name} lies on {array.device} and the first argument on {like.device}; move one of them"
        )


def given_back(result: "wp.array[Any]", like: Any) -> Any:
    """The result as an array of the library of an argument, in the same memory."""
    if isinstance(like, wp.array):
        return result
    if hasattr(like, "__array_namespace__"):
        return like.__array_namespace__().from_dlpack(result)
    for kind in type(like).__mro__:  # a class of one's own may be derived from a tensor
        library = sys.modules[kind.__module__.partition(".")[0]]
        if hasattr(library, "from_dlpack"):
            return library.from_dlpack(result)
    return result


def _name(dtype: Any) -> str:
    return str(getattr(dtype, "__name__", dtype))
