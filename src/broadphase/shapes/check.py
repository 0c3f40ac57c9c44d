"""Single numbers from the caller, checked once."""

import math
from typing import Any

from broadphase.numeric import real

_EXACT = 1 << 53  # each int below is a float


def finite(value: Any, name: str) -> float:
    """``value`` as a finite float.

    Raises
    ------
    TypeError
        It is not a real number.
    ValueError
        It is NaN or infinite.

    Examples
    --------
    >>> finite(3, "x")
    3.0
    """
    if type(value) is float and math.isfinite(value):  # what nearly all are, in a fifth of the time
        return value
    if type(value) is int and -_EXACT < value < _EXACT:
        return float(value)
    number = real(value, name)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {number}")
    return number


def two(value: Any, name: str) -> tuple[float, float]:
    """A point as two finite floats; errors as for `finite`."""
    try:
        x, y = value
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be two real numbers; got {value!r}") from None
    return finite(x, name), finite(y, name)


def extent(value: Any, name: str) -> float:
    """``value`` as a finite float that is not negative; errors as for `finite`."""
    number = finite(value, name)
    if number < 0.0:
        raise ValueError(f"{name} must not be negative; got {number:g}")
    return number
