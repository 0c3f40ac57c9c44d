"""Arguments as arrays of the call's own: the first of two steps, before anything is checked."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs import foreign
from broadphase.inputs.foreign import NUMBERS, Wanted

FloatArray = npt.NDArray[np.floating[Any]]

MOST_IDS = 2**31 - 1  # ids are int32
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_PLAIN = 0x101  # of NumPy's flags: C-contiguous and aligned


def as_float_array(values: Any, name: str, wanted: Wanted = NUMBERS) -> FloatArray:
    """``values`` as a C-contiguous float32 or float64 array; anything but real numbers is refused.

    ``wanted`` is the meaning of a row, where rows may also come as named columns or as shapes.
    """
    kind = type(values)
    if kind is list or kind is tuple:
        rows = foreign.plain_rows(values, wanted)
        if rows is not None:
            return rows
    array = values if kind is np.ndarray else foreign.as_array(values, name, wanted)
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


def as_rows(array: FloatArray, name: str, widths: tuple[int, int], said: str) -> FloatArray:
    """An array of rows of one of two widths; an empty list counts as no rows of the first."""
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, widths[0])
    if array.ndim != 2 or array.shape[1] not in widths:
        raise ValueError(f"{name} must have shape {said}; got shape {array.shape}")
    if len(array) > MOST_IDS:
        raise ValueError(f"{name} has {len(array)} rows; ids are 32 bits wide, so {MOST_IDS} is the most")
    return array


def one_each(array: npt.NDArray[Any], n: int, said: str) -> npt.NDArray[Any]:
    """``array`` with ``n`` entries, from one for all or one each; ``said`` is what it must hold."""
    if array.ndim == 0:
        return np.full(n, array)
    if array.shape != (n,):
        raise ValueError(f"{said}; got shape {array.shape}")
    return array
