"""What becomes of kernels in this process; decided once, by the environment."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

COMPILING = os.environ.get("BROADPHASE_COMPILING") == "1"
"""Whether this process is the compiler (`broadphase.compiler`): kernels are Numba's functions."""

PLAIN = not COMPILING and os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Whether kernels run as the plain Python that they are: slow, but a debugger works inside them.

The variable has Numba's name because everybody who works with Numba knows it.
"""


def plain(function: Callable[..., Any]) -> Any:
    """The function itself; compiled code wraps and overflows in silence, and so does this."""
    return np.errstate(all="ignore")(function)
