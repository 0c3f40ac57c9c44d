"""The space of a search: its period on each axis, and the environment of each box.

Both are checked here once, for everything that takes ``period=`` or ``env=``.
"""

import math
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_plain_array
from broadphase.numeric import as_numpy, plain

Period = npt.NDArray[np.float64]
Envs = npt.NDArray[np.int64]

_AXES = "xyz"
_PLAIN_NUMBERS = (bool, int, float)
# A turn takes some 50 us if nothing is hit: this many take half a second.
MOST_RAY_TURNS = 10_000


def as_period(period: Any, dim: int) -> Period | None:
    """The length of the world on each axis, inf where it does not begin again; None where no axis does.

    Parameters
    ----------
    period : sequence of float or None, float, optional
        One length for each axis, None or inf for an axis without a period; or one for all axes.
    dim : int
        How many axes there are.

    Raises
    ------
    TypeError
        A length is no number.
    ValueError
        A length is not positive, or there are not as many as axes.

    Examples
    --------
    >>> as_period((10, None), 2)
    array([10., inf])
    >>> as_period(None, 2) is None, as_period((None, np.inf), 2) is None
    (True, True)
    """
    period = settled_period(period)
    if period is None:
        return None
    lengths = np.empty(dim)
    for axis, value in enumerate(_one_an_axis(period, dim)):
        lengths[axis] = _length(value, f"period[{axis}]", _AXES[axis])
    return lengths if np.isfinite(lengths).any() else None


def settled_period(period: Any) -> Any:
    """The same of plain numbers, so that `as_period` runs no code of the caller's.

    Arrays and tensors without axes count as numbers; what is no number is left for `as_period` to refuse.

    Examples
    --------
    >>> settled_period((np.array(10.0), None)), settled_period(np.float32(4))
    ((10.0, None), 4.0)
    """
    number = _settled_length(period)
    if number is None or isinstance(number, _PLAIN_NUMBERS):
        return number
    try:
        return tuple(_settled_length(value) for value in period)
    except TypeError:
        return as_numpy(period, "period").tolist() if hasattr(type(period), "__dlpack__") else period


def _settled_length(value: Any) -> Any:
    number = plain(value, "period")
    return float(number) if isinstance(number, Real) and not isinstance(number, bool) else number


def _one_an_axis(period: Any, dim: int) -> tuple[Any, ...]:
    if isinstance(period, Real):
        return (period,) * dim
    try:
        values = tuple(period)
    except TypeError:
        raise TypeError(
            f"period must hold a length, None or inf for each of the {dim} axes; got {period!r}"
        ) from None
    if len(values) != dim:
        raise ValueError(
            f"period must hold a length, None or inf for each of the {dim} axes; got {len(values)}"
        )
    return values


def _length(value: Any, named: str, axis: str) -> float:
    if value is None:
        return math.inf
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{named} must be a number, None or inf; got {value!r}")
    length = float(value)
    if not length > 0.0:
        raise ValueError(
            f"{named} = {length:g} is not positive; give the world's length along {axis}, or None where it "
            "does not begin again"
        )
    return length


def as_env(env: Any, n: int, name: str = "env") -> Envs | None:
    """The environment of each of ``n`` rows, or None where all share one.

    Parameters
    ----------
    env : array_like of int, shape (n,), optional
        Any whole numbers; a single one counts for all rows.
    n : int
        How many rows there are.
    name : str
        What the caller's argument is called, for the error messages.

    Raises
    ------
    TypeError
        They are no whole numbers.
    ValueError
        There are not as many as rows, or one does not fit into 64 bits.

    Examples
    --------
    >>> as_env([3, 3, -1], 3)
    array([ 3,  3, -1])
    """
    if env is None:
        return None
    array = as_plain_array(env, name)
    if array.dtype.kind not in "iu" and array.size:  # to NumPy an empty list is float64
        raise TypeError(f"{name} must be whole numbers, one a row; got dtype {array.dtype}")
    if array.ndim == 0:
        array = np.full(n, array)
    if array.shape != (n,):
        raise ValueError(f"{name} must hold one number for each of the {n} rows; got shape {array.shape}")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        row = int(array.argmax())
        raise ValueError(f"{name}[{row}] = {array[row]} does not fit into 64 bits with a sign")
    return np.ascontiguousarray(array, dtype=np.int64)


def numbered(*envs: Envs) -> tuple[list[npt.NDArray[np.int32]], int]:
    """The same environments numbered from 0 on, in their order, together over all arrays; and how many.

    Examples
    --------
    >>> numbered(np.array([7, -2, 7]), np.array([9, 7]))
    ([array([1, 0, 1], dtype=int32), array([2, 1], dtype=int32)], 3)
    """
    together = np.concatenate(envs)
    if len(together) == 0:
        return [np.empty(0, np.int32) for _ in envs], 0
    low, high = int(together.min()), int(together.max())
    if high - low < 2 * len(together) + 1024:  # nearly without gaps: counting is faster than sorting
        places = together - low
        present = np.zeros(high - low + 1, np.int32)
        present[places] = 1
        count = int(present.sum())
        numbers = (np.cumsum(present, dtype=np.int32) - present)[places]
    else:
        own, numbers = np.unique(together, return_inverse=True)
        count = len(own)
        numbers = numbers.astype(np.int32)
    ends = np.cumsum([len(env) for env in envs])[:-1]
    return [np.ascontiguousarray(part) for part in np.split(numbers, ends)], count


def check_ray_lengths(furthest: npt.NDArray[np.float64], once: npt.NDArray[np.float64]) -> None:
    """Raise ``ValueError`` where a ray that hits nothing would go around a period for ever.

    ``furthest`` are the greatest distances, ``once`` how far rays go until they are around once.
    """
    often = np.flatnonzero((furthest > MOST_RAY_TURNS * once) & np.isfinite(once))
    if len(often):
        at = int(often[0])
        raise ValueError(
            f"max_distance = {furthest[at]:g} for ray {at}, which goes along an axis with a period: where it "
            f"hits nothing, it would go around more than {MOST_RAY_TURNS} times; give at most "
            f"{MOST_RAY_TURNS * once[at]:g}"
        )
