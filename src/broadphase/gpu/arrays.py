"""Arrays of torch, CuPy, JAX and Warp: taken where they lie, through DLPack and without a copy; results too.

DLPack makes the search wait for the caller's stream, and the caller's stream for the result.  Nothing is
copied from one device to another.
"""

import sys
from typing import Any

import numpy as np
import warp as wp

from broadphase.gpu.kernels import FLOATS

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
