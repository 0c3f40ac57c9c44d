"""The arguments that searches for pairs of boxes share, and rules: settled first, then checked, once each.

Settled, they are the call's own, and no code of the caller's runs any more; what is checked then stays so.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.arrays import BOXES, as_plain_array, one_each, settled
from broadphase.inputs.boxes import BoxArray, checked_boxes
from broadphase.inputs.environments import (
    BOX_WIDTHS,
    POINT_WIDTHS,
    Envs,
    as_env,
    in_rows,
    rows_of_both,
    rows_of_worlds,
    settled_envs,
)
from broadphase.inputs.periods import Period, as_period, settled_period
from broadphase.kernels.boxes.overlap import IN_A, IN_B, STATIC, PairFilter, no_filter


class Space(NamedTuple):
    """The period and the environments of a search."""

    period: Period | None
    env: Envs | None


class GivenBoxes(NamedTuple):
    """The arguments of a search among boxes as arrays of the call's own, in rows and not yet checked."""

    boxes: Any
    static: Any
    categories: Any
    masks: Any
    period: Any
    env: Any

    def checked(self, threads: int) -> tuple[BoxArray, PairFilter, Space | None]:
        """The same, checked; no space for a plain world."""
        boxes, static, categories, masks, period, env = self
        array = checked_boxes(boxes, "boxes", threads, period)
        if static is categories is masks is period is env is None:  # as in most calls
            return array, no_filter(), None
        return array, as_filter(len(array), static, categories, masks), as_space(period, env, array)


def settled_search(boxes: Any, static: Any, categories: Any, masks: Any, period: Any, env: Any) -> GivenBoxes:
    """The arguments of a search among boxes, settled."""
    boxes = settled(boxes, "boxes", BOXES)
    static, categories = settled(static, "static"), settled(categories, "categories")
    masks, period, env = settled(masks, "masks"), settled_period(period), settled(env, "env")
    # All are the call's own: from here on they are looked at.
    if boxes.ndim == 3:
        static, categories, masks = (in_rows(values, boxes) for values in (static, categories, masks))
    boxes, env = rows_of_worlds(boxes, env, "boxes", BOX_WIDTHS)
    return GivenBoxes(boxes, static, categories, masks, period, env)


class GivenJoin(NamedTuple):
    """The arguments of a join as arrays of the call's own, in rows and not yet checked."""

    a: Any
    b: Any
    period: Any
    env: Any

    def checked(self) -> tuple[BoxArray, BoxArray, Space | None]:
        """The same, checked: boxes of one dimension, and their space."""
        a, b, period, env = self
        first, second = _same_dimension(checked_boxes(a, "a", 1, period), checked_boxes(b, "b", 1, period))
        if period is None and env is None:
            return first, second, None
        lengths, envs = as_period(period, first.shape[1] // 2), both_envs(env, len(first), len(second))
        return first, second, Space(lengths, envs)


def settled_join(a: Any, b: Any, period: Any, env: Any) -> GivenJoin:
    """The arguments of a join, settled; points are boxes without size."""
    a, b, period = settled(a, "a", BOXES), settled(b, "b", BOXES), settled_period(period)
    if points_among(a, b):
        a = np.concatenate((a, a), axis=-1)
    elif points_among(b, a):
        b = np.concatenate((b, b), axis=-1)
    a, b, env = rows_of_both(a, b, settled_envs(env), ("a", "b"), BOX_WIDTHS)
    return GivenJoin(a, b, period, env)


def points_among(points: Any, boxes: Any) -> bool:
    """Whether these are arrays whose rows are points, and boxes of the same dimension."""
    sizes = [side.shape[-1] if getattr(side, "ndim", 0) > 1 else 0 for side in (points, boxes)]
    return sizes[0] in POINT_WIDTHS and sizes[1] == 2 * sizes[0]


def as_space(period: Any, env: Any, boxes: BoxArray) -> Space | None:
    """Both arguments, checked; ``None`` for a plain world."""
    if period is None and env is None:
        return None
    return Space(as_period(period, boxes.shape[1] // 2), as_env(env, len(boxes)))


def both_envs(env: Any, rows_of_a: int, rows_of_b: int) -> Envs | None:
    """The environments of both sides of a join, for the rows of both."""
    if env is None:
        return None
    if not isinstance(env, (tuple, list)) or len(env) != 2:
        raise TypeError(f"env must be two, the environments of a and of b; got {type(env).__name__}")
    first, second = as_env(env[0], rows_of_a, "env[0]"), as_env(env[1], rows_of_b, "env[1]")
    if first is None or second is None:
        raise TypeError("env must be two, the environments of a and of b; one of them is None")
    return np.concatenate((first, second))


def _same_dimension(a: BoxArray, b: BoxArray) -> tuple[BoxArray, BoxArray]:
    if a.shape[1] == b.shape[1]:
        return a, b
    # An empty list has no dimension.
    if len(a) == 0:
        return np.empty((0, b.shape[1]), b.dtype), b
    if len(b) == 0:
        return a, np.empty((0, a.shape[1]), a.dtype)
    raise ValueError(
        f"a is {a.shape[1] // 2}-D and b is {b.shape[1] // 2}-D (shapes {a.shape} and {b.shape}); "
        "both sides of a join must have the same dimension"
    )


# ---- which pairs may count, wherever they are: static, categories, masks, pairs to exclude


def as_filter(n: int, static: Any = None, categories: Any = None, masks: Any = None) -> PairFilter:
    """Check the optional per-box rules of `broadphase.pairs` and pack them for the kernels."""
    if static is None and categories is None and masks is None:
        return no_filter()
    classes = np.empty(0, np.uint8)
    if static is not None:
        classes = static_flags(static, n).astype(np.uint8) * STATIC
    if categories is None and masks is None:
        return PairFilter(classes, np.empty(0, np.uint32), np.empty(0, np.uint32))
    everything = np.full(n, 0xFFFFFFFF, np.uint32)
    return PairFilter(
        classes,
        np.ones(n, np.uint32) if categories is None else bit_sets(categories, n, "categories"),
        everything if masks is None else bit_sets(masks, n, "masks"),
    )


def join_filter(rows_of_a: int, rows_of_b: int) -> PairFilter:
    """Rows of a against rows of b: two boxes of one side are never paired."""
    classes = np.full(rows_of_a + rows_of_b, IN_B, np.uint8)
    classes[:rows_of_a] = IN_A
    return no_filter()._replace(classes=classes)


def static_flags(static: Any, n: int) -> npt.NDArray[np.bool_]:
    """One flag for each of ``n`` boxes, from one for all or one each."""
    flags = as_plain_array(static, "static")
    if flags.dtype != np.bool_ and flags.size:  # to NumPy an empty list is float64
        raise TypeError(f"static must be an array of bool, one a box; got dtype {flags.dtype}")
    return one_each(flags, n, f"static must hold one entry for each of the {n} boxes")


def bit_sets(values: Any, n: int, name: str) -> npt.NDArray[np.uint32]:
    """One 32-bit set for each of ``n`` boxes, from one for all or one each."""
    array = as_plain_array(values, name)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must be integers, sets of 32 bits; got dtype {array.dtype}")
    array = one_each(array, n, f"{name} must hold one entry for each of the {n} boxes")
    outside = np.flatnonzero((array < 0) | (array > 0xFFFFFFFF))
    if len(outside):
        row = int(outside[0])
        raise ValueError(f"{name}[{row}] = {array[row]} does not fit into 32 bits")
    return np.ascontiguousarray(array, dtype=np.uint32)


def as_excluded(exclude: Any, n: int, m: int, among: bool) -> npt.NDArray[np.int32]:
    """Pairs of ``n`` and ``m`` rows that do not count, as columns ``i`` and ``j``, in order.

    Of rows ``among`` themselves the lesser is first.
    """
    i, j = pairs_of_rows(exclude, "exclude", n, m).astype(np.int64).T
    if among:
        i, j = np.minimum(i, j), np.maximum(i, j)
    keys = np.sort(i << 32 | j)
    return np.stack((keys >> 32, keys & 0xFFFFFFFF)).astype(np.int32)


def pairs_of_rows(pairs: npt.NDArray[Any], name: str, n: int, m: int) -> npt.NDArray[np.int32]:
    """Pairs of one of ``n`` rows and one of ``m``, checked: ``(k, 2)``."""
    if pairs.size == 0:
        return np.empty((0, 2), np.int32)
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers, pairs of rows; got dtype {pairs.dtype}")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"{name} must have shape (k, 2), a pair a row; got shape {pairs.shape}")
    lengths = np.array((n, m))
    outside = (pairs < 0) | (pairs >= lengths)
    if outside.any():
        row, side = np.argwhere(outside)[0].tolist()
        raise ValueError(
            f"{name}[{row}] = {pairs[row].tolist()} names row {pairs[row, side]}; "
            f"there are {lengths[side]} rows"
        )
    return np.ascontiguousarray(pairs, np.int32)
