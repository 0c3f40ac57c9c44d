"""Arrays and single numbers of other libraries, as NumPy and Python have them.

An array is whatever NumPy reads, or has ``__dlpack__``.  A number is one of Python or NumPy, whatever turns
into one (``__float__``, ``__index__``), or an array or tensor without axes: a loop over a tensor gives those.
"""

from collections.abc import Callable
from numbers import Integral, Real
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_PLAIN = (int, float, bool, str, type(None))
_IN_MAIN_MEMORY = (1, 3, 11, 13)  # CPU, and what graphics cards share with it
_BFLOAT = 4  # of DLPack's kinds of numbers; 1 is an unsigned integer
_UNSIGNED = 1


def as_numpy(values: Any, name: str) -> Array:
    """What NumPy makes of ``values``, or of what they hand out by ``__dlpack__``.

    Raises
    ------
    TypeError
        They lie on another device, or a gradient follows them.
    """
    kind = type(values)
    if hasattr(kind, "requires_grad") and values.requires_grad:
        raise TypeError(
            f"{name} requires grad, and no gradient comes out of this function; give {name}.detach()"
        )
    if not hasattr(kind, "__dlpack__"):
        return np.asarray(values)
    if hasattr(kind, "__array__"):
        try:
            return np.asarray(values)
        except TypeError:  # a type that NumPy does not have, or another device
            pass
    return _from_dlpack(values, name)


def _from_dlpack(values: Any, name: str) -> Array:
    """Half precision, also with eight bits of exponent (bfloat16), becomes float32, which holds all of it."""
    if values.__dlpack_device__()[0] not in _IN_MAIN_MEMORY:
        raise TypeError(f"{name} lies on a graphics card; give a copy in main memory, such as {name}.cpu()")
    try:
        array = np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError):
        bits = np.from_dlpack(_AsBits(values, name))
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32) if array.dtype == np.float16 else array


class _AsBits:
    """bfloat16 as the unsigned integers of the same bits, which NumPy takes."""

    def __init__(self, values: Any, name: str) -> None:
        self._values, self._name = values, name

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()

    def __dlpack__(self, **_: Any) -> Any:
        import ctypes  # here: hardly ever needed

        capsule = self._values.__dlpack__()
        pointer: Callable[..., int] = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)  # type: ignore[attr-defined]
        # Of a tensor: where its numbers are, device (8 bytes), axes (4), and what a number is.
        kind = ctypes.c_uint8.from_address(
            pointer(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p) + 8 + 4
        )
        bits = ctypes.c_uint8.from_address(ctypes.addressof(kind) + 1).value
        if (kind.value, bits) != (_BFLOAT, 16):
            raise TypeError(f"{self._name} must hold real numbers; got {self._values!r}")
        kind.value = _UNSIGNED  # the capsule is ours alone
        return capsule


def plain(value: Any, name: str) -> Any:
    """A number of Python for a scalar of NumPy and for what has no axes; anything else as it is.

    Examples
    --------
    >>> plain(np.array(2.5), "r"), plain(np.int32(3), "k"), plain([1, 2], "r")
    (2.5, 3, [1, 2])
    """
    kind = type(value)
    if kind in _PLAIN or not (hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")):
        return value
    if getattr(value, "ndim", 0) != 0:
        return value
    array = as_numpy(value, name)
    return array.item() if array.ndim == 0 and array.dtype.kind in "biuf" else value


def real(value: Any, name: str, wanted: str = "a real number") -> float:
    """A number as a float.

    Raises
    ------
    TypeError
        It is no number.
    ValueError
        It is an int that no float can hold.

    Examples
    --------
    >>> real(np.array(3), "r")
    3.0
    """
    number = plain(value, name)
    if isinstance(number, bool) or not (isinstance(number, Real) or _turns_into(number, "__float__")):
        raise TypeError(f"{name} must be {wanted}; got {value!r}")
    try:
        return float(number)
    except OverflowError:
        raise ValueError(f"{name} = {number} does not fit into a float") from None


def whole(value: Any, name: str, wanted: str = "an integer") -> int:
    """A whole number as an int.

    Raises
    ------
    TypeError
        It is none; 2.0 is none either.

    Examples
    --------
    >>> whole(np.array(3), "k")
    3
    """
    number = plain(value, name)
    if isinstance(number, bool) or not (isinstance(number, Integral) or _turns_into(number, "__index__")):
        raise TypeError(f"{name} must be {wanted}; got {value!r}")
    return index(number)


def _turns_into(value: Any, by: str) -> bool:
    """Whether it says what number it is; an array that has axes, or holds no numbers, does not."""
    kind = type(value)
    return hasattr(kind, by) and not (hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"))
