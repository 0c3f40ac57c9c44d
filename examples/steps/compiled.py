"""What the compiled loops share: Numba's ``njit``, without Numba the function as it is, and a period."""

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


@jit
def wrapped(way: float, side: float) -> float:
    """The way to the nearest image, along one axis of a world of this side."""
    if way > side / 2:
        return way - side
    if way < -side / 2:
        return way + side
    return way
