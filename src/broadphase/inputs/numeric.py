"""Arrays and single numbers of other libraries as NumPy arrays and Python numbers.

An array is anything that NumPy converts or that has ``__dlpack__``.  A number is one of Python or NumPy, an
object with ``__float__`` or ``__index__``, or an array or tensor without axes, as a loop over a tensor
yields.
"""

from collections.abc import Callable
from numbers import Integral, Real
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.runtime.threads import cores

Array = npt.NDArray[Any]

_PLAIN = (int, float, bool, str, type(None))
_IN_MAIN_MEMORY = (1, 3, 11, 13)  # the CPU, and memory that graphics cards share with it
_BFLOAT = 4  # DLPack's code of bfloat16
_UNSIGNED = 1  # DLPack's code of unsigned integers


def as_numpy(values: Any, name: str) -> Array:
    """Convert ``values`` with NumPy, or through ``__dlpack__``.

    Raises
    ------
    TypeError
        They are on another device, or a gradient is tracked for them.
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
        except TypeError:  # a dtype that NumPy does not have, or another device
            pass
    return _from_dlpack(values, name)


def _from_dlpack(values: Any, name: str) -> Array:
    """An array through DLPack; float16 and bfloat16 become float32, which holds all of their values."""
    if values.__dlpack_device__()[0] not in _IN_MAIN_MEMORY:
        raise TypeError(f"{name} lies on a graphics card; give a copy in main memory, such as {name}.cpu()")
    try:
        array = np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError):
        bits = np.from_dlpack(_AsBits(values, name))
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32) if array.dtype == np.float16 else array


def on_gpu(values: Any) -> bool:
    """Whether an array lies on a graphics card, where NumPy cannot read it."""
    kind = type(values)
    if kind is np.ndarray or not hasattr(kind, "__dlpack_device__"):
        return False
    return values.__dlpack_device__()[0] not in _IN_MAIN_MEMORY


class _AsBits:
    """bfloat16 as unsigned integers with the same bits, which NumPy accepts."""

    def __init__(self, values: Any, name: str) -> None:
        self._values, self._name = values, name

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()

    def __dlpack__(self, **_: Any) -> Any:
        import ctypes  # imported here because it is rarely needed

        capsule = self._values.__dlpack__()
        pointer: Callable[..., int] = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)  # type: ignore[attr-defined]
        # The fields of a DLTensor: data pointer, device (8 bytes), number of axes (4 bytes), type.
        kind = ctypes.c_uint8.from_address(
            pointer(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p) + 8 + 4
        )
        bits = ctypes.c_uint8.from_address(ctypes.addressof(kind) + 1).value
        if (kind.value, bits) != (_BFLOAT, 16):
            raise TypeError(f"{self._name} must hold real numbers; got {self._values!r}")
        kind.value = _UNSIGNED  # no other code uses this capsule
        return capsule


def plain(value: Any, name: str) -> Any:
    """A Python number for a NumPy scalar or an array without axes; anything else unchanged.

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
    """Convert a number to a float.

    Raises
    ------
    TypeError
        It is not a number.
    ValueError
        It is an int that is too large for a float.

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
    except OverflowError:  # the number itself may have too many digits to be shown
        raise ValueError(
            f"{name} must be below 1.8e308; the given integer does not fit into a float"
        ) from None


def whole(value: Any, name: str, wanted: str = "an integer") -> int:
    """Convert a whole number to an int.

    Raises
    ------
    TypeError
        It is not a whole number; neither is 2.0.

    Examples
    --------
    >>> whole(np.array(3), "k")
    3
    """
    if type(value) is int:
        return value
    number = plain(value, name)
    if isinstance(number, bool) or not (isinstance(number, Integral) or _turns_into(number, "__index__")):
        got = f"an array of shape {np.shape(value)}" if np.ndim(value) else repr(value)
        raise TypeError(f"{name} must be {wanted}; got {got}")
    return index(number)


def count(value: Any, name: str, least: int = 1, wanted: str = "an integer") -> int:
    """A whole number of at least ``least``."""
    number = whole(value, name, wanted)
    if number < least:
        raise ValueError(f"{name} must be at least {least}; got {number}")
    return number


def not_negative(value: Any, name: str) -> float:
    """A length or the like: not negative, not NaN; infinity is legal."""
    if type(value) is float and value >= 0.0:  # the usual case, in a fifth of the time
        return value
    number = real(value, name)
    if not number >= 0.0:
        raise ValueError(f"{name} = {number:g} must not be negative or nan")
    return number


def thread_count(threads: int | None) -> int:
    """The number of threads for ``threads=``; ``None`` is all cores."""
    return cores() if threads is None else count(threads, "threads", wanted="an int or None")


def _turns_into(value: Any, by: str) -> bool:
    """Whether an object that is not an array has this conversion."""
    kind = type(value)
    return hasattr(kind, by) and not (hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"))


def readable(value: float, digits: int = 4) -> str:
    """A number for readers: a few digits, and no exponent unless it is very large or very small.

    >>> readable(1130.4, 3), readable(1234567.0), readable(0.25), readable(3e-9)
    ('1130', '1235000', '0.25', '3e-09')
    """
    short = f"{value:.{digits}g}"
    return f"{float(short):.0f}" if "e+" in short and abs(value) < 1e12 else short
