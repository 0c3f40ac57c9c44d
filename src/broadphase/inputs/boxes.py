"""Box arrays: the only place where boxes are checked and converted.

A box is a row ``[min..., max...]``; boxes are an ``(n, 4)`` array in 2-D, ``(n, 6)`` in 3-D.  float32
is computed in float32, everything else in float64.  Infinite boxes are legal, NaN and ``min > max``
are not.
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.errors import with_hints
from broadphase.inputs import RowsLike
from broadphase.inputs.arrays import BOXES, NUMBERS, FloatArray, as_float_array, as_rows, settled
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.periods import as_period
from broadphase.kernels.boxes.checks import copy_sound_rows, first_unsound_row
from broadphase.runtime.threads import run_all, shares

BoxArray = npt.NDArray[np.floating[Any]]

_AXES = "xyz"
_SIZED = "(n, 4) or (n, 6), rows of x, y, width, height or x, y, z, width, height, depth"
# Rows that are read in one call: about a millisecond.
_PIECE = 1 << 18


def as_boxes(boxes: Any, name: str = "boxes") -> BoxArray:
    """Check boxes once and return them C-contiguous, without a copy where they already are.

    Arguments of a public function are copied first, by `settled`.

    Parameters
    ----------
    boxes : array_like
        Rows ``[min_x, min_y, max_x, max_y]`` or ``[min_x, min_y, min_z, max_x, max_y, max_z]``; a table
        or structured array, read by the names of its columns (`broadphase.inputs.arrays`); or shapes,
        taken by their bounds.  An empty list counts as no boxes in 2-D.
    name : str
        What the caller's argument is called, for the error messages.

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
    return checked_boxes(as_float_array(boxes, name, BOXES), name)


def checked_boxes(array: FloatArray, name: str, threads: int = 1, period: Any = None) -> BoxArray:
    """The second half of `as_boxes`; ``period``, settled, is for the error about a box across its edge."""
    if array.ndim == 2 and array.shape[1] in (2, 3):
        raise ValueError(
            f"{name} must have shape (n, 4) in 2-D or (n, 6) in 3-D, rows of [min..., max...]; "
            f"got shape {array.shape}; of points, neighbors() finds pairs"
        )
    array = as_rows(array, name, (4, 6), "(n, 4) in 2-D or (n, 6) in 3-D, rows of [min..., max...]")
    row = unsound_row(array, threads)
    if row >= 0:
        box, named = array[row], f"{name}[{row}]"
        raise _across_edge_error(box, named, period) or unsound_box_error(box, named)
    return array


@with_hints("columns are one argument: from_xywh(np.column_stack((x, y, width, height)))")
def from_xywh(rows: RowsLike) -> BoxArray:
    """Boxes from rows ``x, y, width, height``, or ``x, y, z, width, height, depth``; x, y is the min corner.

    Parameters
    ----------
    rows : array_like, shape (n, 4) or (n, 6)
        One row, ``(4,)`` or ``(6,)``, is one box.  Sizes are not negative.

    Returns
    -------
    numpy.ndarray
        Of the same shape: rows ``[min..., max...]``, as all functions take them; float32 of float32.

    Raises
    ------
    TypeError
        The values are not real numbers.
    ValueError
        The shape is wrong, a size is negative, or a value is NaN; the row and the value are named.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.from_xywh([[0, 0, 10, 20], [5, 5, 1, 1]])
    array([[ 0.,  0., 10., 20.],
           [ 5.,  5.,  6.,  6.]])
    """
    given = settled(rows, "rows", NUMBERS)
    boxes = as_rows(given[None] if given.ndim == 1 and given.size else given, "rows", (4, 6), _SIZED)
    dim = boxes.shape[1] // 2
    with np.errstate(invalid="ignore"):  # -inf + inf
        ends = boxes[:, :dim] + boxes[:, dim:]
    wrong = np.flatnonzero((np.isnan(ends) | (boxes[:, dim:] < 0)).any(axis=1))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"rows[{row}] = {boxes[row].tolist()}: sizes must not be negative, and x + width must be a number"
        )
    boxes[:, dim:] = ends
    return boxes.reshape(given.shape) if given.ndim == 1 and given.size else boxes


def check_sound(boxes: BoxArray, name: str) -> None:
    """Raise ``ValueError`` for the first row with NaN or with ``min > max``."""
    row = unsound_row(boxes)
    if row >= 0:
        raise unsound_box_error(boxes[row], f"{name}[{row}]")


def unsound_row(boxes: BoxArray, threads: int = 1) -> int:
    """The first row with NaN or with ``min > max``, or -1."""
    n = len(boxes)
    if n < _PIECE:
        return int(first_unsound_row(boxes))
    spans = _pieces(n, threads)
    rows = run_all([partial(first_unsound_row, boxes[begin:end]) for begin, end in spans], threads)
    found = (begin + int(row) for (begin, _), row in zip(spans, rows, strict=True) if row >= 0)
    return next(found, -1)


def _pieces(n: int, parts: int) -> list[tuple[int, int]]:
    """Ranges of a millisecond at most; short ones, since helpers that are asleep come when half is done."""
    return shares(n, max(4 * parts, n // _PIECE))


def copy_sound(boxes: BoxArray, copied: BoxArray, name: str, threads: int | None = None) -> None:
    """Copy boxes into as many rows of another array and check these; raises what `check_sound` does."""
    n = len(boxes)
    if n < _PIECE:
        # By the shortest way: the other one is 1.5 us longer, where a small index follows in 2.2.
        rows = [copy_sound_rows(boxes, copied, 0, n)]
    else:
        parts = thread_count(threads)
        rows = run_all([partial(copy_sound_rows, boxes, copied, *span) for span in _pieces(n, parts)], parts)
    for row in map(int, rows):
        if row >= 0:
            raise unsound_box_error(copied[row], f"{name}[{row}]")


def sides_of(boxes: BoxArray) -> npt.NDArray[np.float64]:
    """``(n, dim)``: how long each box is on each axis; inf for an infinite box, 0 for one at infinity."""
    dim = boxes.shape[1] // 2
    with np.errstate(invalid="ignore", over="ignore"):
        sides = boxes[:, dim:].astype(np.float64) - boxes[:, :dim]
    return np.nan_to_num(sides, nan=0.0, posinf=np.inf)


def _across_edge_error(box: npt.NDArray[Any], name: str, period: Any) -> ValueError | None:
    """What is wrong with a box that seems to lie across the edge of a period; None for any other."""
    dim = len(box) // 2
    lengths = as_period(period, dim)
    if lengths is None or np.isnan(box).any():
        return None
    for axis in np.flatnonzero((box[:dim] > box[dim:]) & np.isfinite(lengths)).tolist():
        left, right, letter = box[axis], box[dim + axis], _AXES[axis]
        return ValueError(
            f"{name} has min_{letter} = {left:g} > max_{letter} = {right:g}; a box across the edge of "
            f"the period ends beyond it: max_{letter} = {right + lengths[axis]:g}"
        )
    return None


def unsound_box_error(box: npt.NDArray[Any], name: str) -> ValueError:
    """Say what is wrong with a box that holds NaN or ``min > max``, and how to correct it."""
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
