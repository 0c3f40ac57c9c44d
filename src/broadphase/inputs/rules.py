"""Which pairs may count, wherever they are: static, categories, masks and pairs to exclude, checked."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs.arrays import as_plain_array, one_each
from broadphase.kernels.boxes.overlap import IN_A, IN_B, STATIC, PairFilter, no_filter


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
    if exclude.size == 0:
        return np.empty((2, 0), np.int32)
    if exclude.dtype.kind not in "iu":
        raise TypeError(f"exclude must hold whole numbers, pairs of rows; got dtype {exclude.dtype}")
    if exclude.ndim != 2 or exclude.shape[1] != 2:
        raise ValueError(f"exclude must have shape (k, 2), a pair a row; got shape {exclude.shape}")
    lengths = np.array((n, m))
    outside = (exclude < 0) | (exclude >= lengths)
    if outside.any():
        row, side = np.argwhere(outside)[0].tolist()
        raise ValueError(
            f"exclude[{row}] = {exclude[row].tolist()} names row {exclude[row, side]}; "
            f"there are {lengths[side]} rows"
        )
    i, j = exclude.astype(np.int64).T
    if among:
        i, j = np.minimum(i, j), np.maximum(i, j)
    keys = np.sort(i << 32 | j)
    return np.stack((keys >> 32, keys & 0xFFFFFFFF)).astype(np.int32)
