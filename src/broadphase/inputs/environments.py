"""What ``env=`` and arrays of worlds mean: the environment of each row, checked."""

from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs.arrays import as_plain_array, one_each, settled
from broadphase.kernels.partition import number_worlds, survey_envs

Envs = npt.NDArray[np.int64]


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
        They are not whole numbers.
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
    array = one_each(array, n, f"{name} must hold one number for each of the {n} rows")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        row = int(array.argmax())
        raise ValueError(f"{name}[{row}] = {array[row]} does not fit into 64 bits with a sign")
    return np.ascontiguousarray(array, dtype=np.int64)


def settled_envs(env: Any) -> Any:
    """The environments of two sides as arrays of the call's own; anything but a pair is refused later."""
    if isinstance(env, (tuple, list)) and len(env) == 2:
        return settled(env[0], "env[0]"), settled(env[1], "env[1]")
    return env


BOX_WIDTHS, POINT_WIDTHS = (4, 6), (2, 3)
"""How many numbers a box or a point has, in 2-D and in 3-D."""


def rows_of_worlds(array: Any, env: Any, name: str, widths: tuple[int, int]) -> tuple[Any, Any]:
    """The rows of an array of worlds ``(worlds, n, width)``, and the environment of each; others as they are.

    Examples
    --------
    >>> rows, env = rows_of_worlds(np.zeros((2, 3, 4)), None, "boxes", BOX_WIDTHS)
    >>> rows.shape, env
    ((6, 4), array([0, 0, 0, 1, 1, 1]))
    """
    if getattr(array, "ndim", 2) != 3:
        return array, env
    array = as_plain_array(array, name)
    worlds, n, width = array.shape
    if width not in widths:
        said = " or ".join(f"(worlds, n, {one})" for one in widths)
        raise ValueError(f"{name} must have shape {said} for several environments; got shape {array.shape}")
    if env is not None:
        raise ValueError(
            f"{name} has shape {array.shape}, whose first axis is the environment; leave env= out, or give "
            f"rows of shape ({worlds * n}, {width})"
        )
    return array.reshape(worlds * n, width), np.repeat(np.arange(worlds), n)


def in_rows(values: Any, array: Any) -> Any:
    """Values in the axes ``(worlds, n)`` of an array of worlds as one for each row; others as they are.

    Examples
    --------
    >>> in_rows(np.zeros((2, 3)), np.zeros((2, 3, 4))).shape, in_rows(None, np.zeros((2, 3, 4))) is None
    ((6,), True)
    """
    shape, axes = np.shape(values), np.shape(array)[:2]
    return values.reshape(-1, *shape[2:]) if len(shape) > 1 and shape[:2] == axes else values


def rows_of_both(
    a: Any, b: Any, env: Any, names: tuple[str, str], widths: tuple[int, int]
) -> tuple[Any, Any, Any]:
    """The same of two arrays, and their environments as a pair."""
    if getattr(a, "ndim", 2) != 3 != getattr(b, "ndim", 2):
        return a, b, env
    worlds = [len(array) if getattr(array, "ndim", 2) == 3 else None for array in (a, b)]
    if worlds[0] != worlds[1]:
        said = " and ".join(
            f"{name} has shape {np.shape(array)}" for name, array in zip(names, (a, b), strict=True)
        )
        raise ValueError(f"{said}; give both as (worlds, n, width) with as many worlds, or both as rows")
    a, first = rows_of_worlds(a, env, names[0], widths)
    b, second = rows_of_worlds(b, env, names[1], widths)
    return a, b, (first, second)


def numbered(*envs: Envs) -> tuple[list[npt.NDArray[np.int32]], int]:
    """The same environments numbered from 0 on, in their order, together over all arrays; and how many.

    Examples
    --------
    >>> numbered(np.array([7, -2, 7]), np.array([9, 7]))
    ([array([1, 0, 1], dtype=int32), array([2, 1], dtype=int32)], 3)
    """
    together = envs[0] if len(envs) == 1 else np.concatenate(envs)
    if len(together) == 0:
        return [np.empty(0, np.int32) for _ in envs], 0
    low, high = map(int, survey_envs(together, 0, len(together))[:2])
    if high - low < 2 * len(together) + 1024:  # nearly without gaps: counting is faster than sorting
        numbers: npt.NDArray[np.int32] = np.empty(len(together), np.int32)
        count = int(number_worlds(together, low, np.zeros(high - low + 1, np.int32), numbers))
    else:
        distinct, places = np.unique(together, return_inverse=True)
        count, numbers = len(distinct), places.astype(np.int32)
    ends = accumulate(len(env) for env in envs)
    return [numbers[end - len(env) : end] for env, end in zip(envs, ends, strict=True)], count
