"""The one way in which a function becomes a kernel.

Kernels are compiled when the package is built.  What the decorators give back is a builtin that runs the
machine code; in the process that compiles it is Numba's function, and where there is neither machine
code nor a compiler it is the plain Python that stands in the file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from broadphase.kernels.machine.kernel import kernel
from broadphase.kernels.machine.mode import COMPILING, PLAIN, plain

# IEEE division instead of a ZeroDivisionError: kernels never raise.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

COMMON: set[str] = set()
"""Functions that are compiled by themselves, ``"broadphase.kernels.room.file.name"``."""

# What counts from zero: halved and shifted in one instruction, and -1 is more than any of them.
unsigned = np.uint64


def numbers(**sizes: tuple[int, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say of parameters that Python gives them as tuples of numbers: ``values=(4, 6)``, of four or of six.

    Machine code gets them as a row whose length is known when it is called: one function for planes and for
    space, where tuples of different lengths are different types.
    """

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__dict__["numbers"] = sizes
        return function

    return mark


def jit(function: Callable[..., Any]) -> Any:
    """Make a kernel that Python calls; it lets the GIL go while it runs."""
    if COMPILING:
        return _compiled(function)
    if PLAIN:
        return plain(function)
    return kernel(function)


def brief(function: Callable[..., Any]) -> Any:
    """As `jit`, for kernels that answer within microseconds: they keep the GIL.

    Letting it go and taking it again costs as much as the rest of such a call, and where another thread runs
    Python that one may keep it for 5 ms.
    """
    function.__dict__["brief"] = True
    return jit(function)


def inline(function: Callable[..., Any]) -> Any:
    """Make a small function that only kernels call; LLVM inlines it there."""
    return _compiled(function) if COMPILING else function


def common(function: Callable[..., Any]) -> Any:
    """As `inline`, for a large function that several kernels call: it is compiled once, by itself.

    Not for what runs for every box: calling it costs some nanoseconds, more with many arrays.
    """
    COMMON.add(f"{function.__module__}.{function.__qualname__}")
    return inline(function)


def always_inline(function: Callable[..., Any]) -> Any:
    """As `inline`, where LLVM would rather call: finding a 3-D box's strips takes 6 ns inlined, 16 called."""
    return _compiled(function, forceinline=True) if COMPILING else function


def _compiled(function: Callable[..., Any], **more: bool) -> Any:
    import numba

    return numba.njit(**_OPTIONS, **more)(function)
