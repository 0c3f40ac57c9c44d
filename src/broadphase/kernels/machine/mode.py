"""How kernels run in this process; environment variables decide it once."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

COMPILING = os.environ.get("BROADPHASE_COMPILING") == "1"
"""Whether this process is the compiler (`broadphase.compiler`); kernels are then Numba's functions."""

PLAIN = not COMPILING and os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Whether kernels run as plain Python, which is slow but lets a debugger step into them.

The variable has Numba's name because users of Numba know it.
"""


def plain(function: Callable[..., Any]) -> Any:
    """The function without NumPy's warnings: like compiled code, it wraps and overflows silently."""
    return np.errstate(all="ignore")(function)
