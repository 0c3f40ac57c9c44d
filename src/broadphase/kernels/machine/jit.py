"""The decorators that turn a function into a kernel.

Kernels are compiled when the package is built.  The decorators return a builtin that runs the machine code.
In the process that compiles they return Numba's function, and without machine code and a compiler they return
the plain Python function in the file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from broadphase.kernels.machine.kernel import kernel
from broadphase.kernels.machine.mode import COMPILING, PLAIN, plain

# IEEE division instead of a ZeroDivisionError: kernels never raise.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

COMMON: set[str] = set()
"""Functions that are compiled separately, ``"broadphase.kernels.package.file.name"``."""

# Unsigned types for counters: halving and shifting take one instruction, and -1 exceeds all other values.
unsigned = np.uint64


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def numbers(**lengths: tuple[int, ...]) -> Decorator:
    """Declare parameters that Python passes as tuples of numbers: ``values=(4, 6)`` means four or six.

    Machine code receives them as a row whose length is known at the call.  So one function serves 2-D and
    3-D, although tuples of different lengths are different types.
    """
    return _declare({name: f"f8<{'|'.join(map(str, sizes))}>" for name, sizes in lengths.items()})


def rows(**lengths: tuple[int, ...]) -> Decorator:
    """As `numbers`, for parameters that are an array of rows of one of these lengths, or a tuple as its row.

    Machine code receives an array of rows in both cases: a single query is a batch of one, for which the
    kernel keeps the GIL (`holds_gil` says why).
    """
    return _declare({name: f"f8[2]<{'|'.join(map(str, sizes))}>" for name, sizes in lengths.items()})


def objects(*names: str) -> Decorator:
    """Declare parameters that are Python objects (`broadphase.kernels.machine.objects`)."""
    return _declare(dict.fromkeys(names, "o"))


def _declare(kinds: dict[str, str]) -> Decorator:
    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__dict__.setdefault("declared", {}).update(kinds)
        return function

    return mark


def jit(function: Callable[..., Any]) -> Any:
    """Make a kernel that Python calls; it releases the GIL while it runs."""
    if COMPILING:
        return _compiled(function)
    if PLAIN:
        return plain(function)
    return kernel(function)


def holds_gil(function: Callable[..., Any]) -> Any:
    """As `jit`, for kernels that return within microseconds: they hold the GIL.

    Releasing and acquiring the GIL costs as much as the rest of such a call, and another thread that runs
    Python may hold it for 5 ms.
    """
    function.__dict__["holds_gil"] = True
    return jit(function)


def inline(function: Callable[..., Any]) -> Any:
    """Make a small function that only kernels call; LLVM inlines it there."""
    return _compiled(function) if COMPILING else function


def common(function: Callable[..., Any]) -> Any:
    """As `inline`, for a large function that several kernels call: it is compiled once, separately.

    Do not use it for code that runs for every box: a call costs some nanoseconds, more with many arrays.
    """
    COMMON.add(f"{function.__module__}.{function.__qualname__}")
    return inline(function)


def always_inline(function: Callable[..., Any]) -> Any:
    """As `inline`, where LLVM would not inline: finding a 3-D box's strips takes 6 ns inlined, 16 called."""
    return _compiled(function, forceinline=True) if COMPILING else function


def _compiled(function: Callable[..., Any], **more: bool) -> Any:
    import numba

    return numba.njit(**_OPTIONS, **more)(function)
