"""Box arrays: the only place where boxes are checked and converted.

A box is a row ``[min..., max...]``; boxes are an ``(n, 4)`` array in 2-D, ``(n, 6)`` in 3-D.  float32
is computed in float32, everything else in float64.  Infinite boxes are legal, NaN and ``min > max``
are not.
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs import foreign
from broadphase.inputs.foreign import BOXES, NUMBERS, Wanted
from broadphase.inputs.numeric import thread_count
from broadphase.kernels.arrays.sorting import AT_ONCE
from broadphase.kernels.boxes.checks import copy_sound_rows, first_unsound_row
from broadphase.kernels.boxes.overlap import IN_A, IN_B, STATIC, PairFilter, no_filter
from broadphase.runtime.threads import run_all, shares

BoxArray = npt.NDArray[np.floating[Any]]

MOST_BOXES = 2**31 - 1  # ids are int32
_AXES = "xyz"
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_PLAIN = 0x101  # of NumPy's flags: C-contiguous and aligned
# Fewer boxes are copied in the time that a second thread takes to begin.
_ENOUGH_FOR_THREADS = 200_000
# Fewer are looked at while it wakes; from here on a search has work for it next (`methods.strips`).
_ENOUGH_FOR_A_LOOK = 40_000


def as_boxes(boxes: Any, name: str = "boxes", threads: int = 1) -> BoxArray:
    """Check boxes once and return them C-contiguous, without a copy where they already are.

    Arguments of a public function are copied first, by `settled`.

    Parameters
    ----------
    boxes : array_like
        Rows ``[min_x, min_y, max_x, max_y]`` or ``[min_x, min_y, min_z, max_x, max_y, max_z]``; a table
        or structured array, read by the names of its columns (`broadphase.inputs.foreign`); or shapes,
        taken by their bounds.  An empty list counts as no boxes in 2-D.
    name : str
        What the caller's argument is called, for the error messages.
    threads : int
        The most threads to use.

    Returns
    -------
    numpy.ndarray
        ``(n, 4)`` or ``(n, 6)``, float32 if it was float32, else float64.

    Raises
    ------
    TypeError
        The values are not real numbers.
    ValueError
        The shape is wrong, the rows are ragged, a column is missing, or a row holds NaN, null or
        ``min > max``; the message names the argument, the row and the value.

    Examples
    --------
    >>> as_boxes([[0, 0, 1, 1]])
    array([[0., 0., 1., 1.]])
    """
    array = as_float_array(boxes, name, BOXES)
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 4)
    if array.ndim != 2 or array.shape[1] not in (4, 6):
        raise ValueError(
            f"{name} must have shape (n, 4) in 2-D or (n, 6) in 3-D, rows of [min..., max...]; "
            f"got shape {array.shape}"
        )
    if len(array) > MOST_BOXES:
        raise ValueError(f"{name} has {len(array)} rows; ids are 32 bits wide, so {MOST_BOXES} is the most")
    check_sound(array, name, threads)
    return array


def as_float_array(values: Any, name: str, wanted: Wanted = NUMBERS) -> BoxArray:
    """``values`` as a C-contiguous float32 or float64 array; anything but real numbers is refused.

    ``wanted`` is the meaning of a row, where rows may also come as named columns or as shapes.
    """
    array = values if type(values) is np.ndarray else foreign.as_array(values, name, wanted)
    if array.dtype in _FLOATS:
        return array if array.flags.num & _PLAIN == _PLAIN else np.array(array, order="C")
    if array.dtype.kind not in "biuf":
        return as_float_array(foreign.numbers_in(array, name, wanted), name)
    return np.asarray(array, dtype=np.float64, order="C")


def as_plain_array(values: Any, name: str) -> npt.NDArray[Any]:
    """``values`` as an array of whatever it holds; a value that is missing (null, masked) is refused."""
    return values if type(values) is np.ndarray else foreign.column(values, name)


def settled(values: Any, name: str, wanted: Wanted | None = None) -> Any:
    """``values`` as an array of the call's own, which nothing else writes to or resizes.

    Another thread may write to an argument after it was checked, and the ``__array__`` of one argument may
    shrink the array that is another one.  So every public function calls this for all of its arrays before it
    looks at any: `as_boxes` and the others look.  ``wanted`` is given where the values are real numbers, as
    for `as_float_array`; without it None stays None.
    """
    if values is None and wanted is None:
        return None
    array = as_plain_array(values, name) if wanted is None else as_float_array(values, name, wanted)
    # What was converted from numbers in Python, or by NumPy to another type or order, is a copy already.
    kind = type(values)
    fresh = kind is list or kind is tuple or (kind is np.ndarray and array is not values)
    return array if fresh else array.copy()


def check_sound(boxes: BoxArray, name: str, threads: int = 1) -> None:
    """Raise ``ValueError`` for the first row with NaN or with ``min > max``."""
    row = unsound_row(boxes, threads)
    if row >= 0:
        raise unsound_row_error(boxes, row, name)


def unsound_row(boxes: BoxArray, threads: int = 1) -> int:
    """The first row with NaN or with ``min > max``, or -1."""
    n = len(boxes)
    if n < _ENOUGH_FOR_A_LOOK:
        return int(first_unsound_row(boxes))
    # Short pieces: helpers that are asleep come when half of it is done.
    spans = shares(n, max(4 * threads, n // AT_ONCE))
    rows = run_all([partial(first_unsound_row, boxes[begin:end]) for begin, end in spans], threads)
    found = (begin + int(row) for (begin, _), row in zip(spans, rows, strict=True) if row >= 0)
    return next(found, -1)


def copy_sound(boxes: BoxArray, into: BoxArray, name: str, threads: int | None = None) -> None:
    """Copy boxes into as many rows of another array and check these; raises what `check_sound` does."""
    n = len(boxes)
    if n < _ENOUGH_FOR_THREADS:
        # By the shortest way: the other one is 1.5 us longer, where a small index follows in 2.2.
        rows = [copy_sound_rows(boxes, into, 0, n)]
    else:
        parts = thread_count(threads)
        spans = shares(n, max(parts, n // AT_ONCE))
        rows = run_all([partial(copy_sound_rows, boxes, into, begin, end) for begin, end in spans], parts)
    for row in map(int, rows):
        if row >= 0:
            raise unsound_row_error(into, row, name)


def unsound_row_error(boxes: BoxArray, row: int, name: str) -> ValueError:
    """Say what is wrong with a row that holds NaN or ``min > max``, and how to mend it."""
    return unsound_box_error(boxes[row], f"{name}[{row}]")


def unsound_box_error(box: npt.NDArray[Any], name: str) -> ValueError:
    """The same for one box."""
    dim = len(box) // 2
    columns = [f"{end}_{_AXES[axis]}" for end in ("min", "max") for axis in range(dim)]
    for column, value in zip(columns, box, strict=True):
        if np.isnan(value):
            return ValueError(
                f"{name} has {column} = nan; remove the row, or give the box finite or infinite edges"
            )
    for axis in range(dim):
        low, high = box[axis], box[dim + axis]
        if low > high:
            return ValueError(
                f"{name} has min_{_AXES[axis]} = {low:g} > max_{_AXES[axis]} = {high:g}; "
                "a box is a row [min..., max...], not [x, y, width, height]"
            )
    raise AssertionError(f"{name} is sound")


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
    return one_each(flags, n, "static")


def bit_sets(values: Any, n: int, name: str) -> npt.NDArray[np.uint32]:
    """One 32-bit set for each of ``n`` boxes, from one for all or one each."""
    array = as_plain_array(values, name)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must be integers, sets of 32 bits; got dtype {array.dtype}")
    array = one_each(array, n, name)
    outside = np.flatnonzero((array < 0) | (array > 0xFFFFFFFF))
    if len(outside):
        row = int(outside[0])
        raise ValueError(f"{name}[{row}] = {array[row]} does not fit into 32 bits")
    return np.ascontiguousarray(array, dtype=np.uint32)


def one_each(array: npt.NDArray[Any], n: int, name: str) -> npt.NDArray[Any]:
    """``array`` with one entry for each of ``n`` boxes, from one for all or one each."""
    if array.ndim == 0:
        return np.full(n, array)
    if array.shape != (n,):
        raise ValueError(f"{name} must hold one entry for each of the {n} boxes; got shape {array.shape}")
    return array
