"""Numba's ``njit``; without Numba the function as it is."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over pairs, at its first call."""
    if find_spec("numba") is None:
        return function
    from numba import njit

    compiled: Callable[..., Any] = njit(function)
    return compiled
