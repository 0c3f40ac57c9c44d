"""What NumPy does too slowly or too long at a time, and how results print.

A call can be interrupted between two slices of long work.  A kernel that does not answer signals itself
(`broadphase.kernels.machine.interrupts`) runs for less than 0.1 s at a time, and exceptions from a signal's
handler, such as KeyboardInterrupt, are raised between two such calls (`ranges`, `joined`, `rows_at`).
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.sorting import stable_argsort
from broadphase.runtime.threads import stop_if_unwanted

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

T = TypeVar("T", bound=np.generic)


def distinct(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """The different values, ascending.

    Only when it returns more than them, `numpy.unique` does without `numpy.ma`, whose import takes a quarter
    of the time of a program's first world.
    """
    found: npt.NDArray[T] = np.unique(values, return_index=True)[0]
    return found


def by_matrix(rows: npt.NDArray[Any], matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Many short rows times a small matrix, without the threads of BLAS.

    Those wait for each other: on a busy machine they made a search of 100,000 points three times as long.
    """
    product: npt.NDArray[Any] = np.einsum("ij,jk->ik", rows, matrix)
    return product


_SHOWN = 8


Result = TypeVar("Result", bound=type)


def briefly(kind: Result) -> Result:
    """Give a named tuple of arrays a ``repr`` of a line or two, however long they are.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> @briefly
    ... class Found(NamedTuple):
    ...     ids: Integers
    ...     places: Floats
    >>> Found(np.array([3, 5]), np.zeros((300, 2)))
    Found(ids=array([3, 5]), places=<float64 array of shape (300, 2)>)
    """
    kind.__repr__ = brief  # type: ignore[assignment]
    return kind


def brief(result: Any) -> str:
    """The ``repr`` of such a tuple, and of what else it holds."""
    fields = (*zip(result._fields, result, strict=True), *getattr(result, "__dict__", {}).items())
    return f"{type(result).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in fields)})"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > _SHOWN:
        return f"<{value.dtype} array of shape {value.shape}>"
    if hasattr(value, "_fields") and not any(np.size(part) for part in value):
        return f"<empty {type(value).__name__}>"
    return " ".join(map(str.strip, repr(value).splitlines()))


# ---- long work in slices

MOST_ROWS = 4_000_000
"""Rows, of a range, that are copied or sorted at a time."""
_AT_RANDOM = 1 << 20
"""Rows that are read at random at a time: 10 to 60 ms."""
FIRST_ROWS = 1 << 17
"""Rows that are read or written at random in one piece."""


def ranges(begin: int, end: int, most: int = MOST_ROWS) -> Iterator[tuple[int, int]]:
    """``range(begin, end)`` in ranges of at most ``most`` rows.

    Raises
    ------
    Cancelled
        In a helper, where the caller of `runtime.threads.run_all` was interrupted.

    Examples
    --------
    >>> list(ranges(0, 1000))
    [(0, 1000)]
    """
    while end - begin > most:
        stop_if_unwanted()
        yield begin, begin + most
        begin += most
    yield begin, end


def joined(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The rows of all arrays, which are of one type, concatenated, as NumPy's ``concatenate``.

    Examples
    --------
    >>> joined([np.arange(2), np.arange(3)])
    array([0, 1, 0, 1, 2])
    """
    total = sum(map(len, arrays))
    if total <= MOST_ROWS:
        return np.concatenate(arrays)
    out = np.empty((total, *arrays[0].shape[1:]), arrays[0].dtype)
    start = 0
    for array in arrays:
        for begin, end in ranges(0, len(array)):
            out[start + begin : start + end] = array[begin:end]
        start += len(array)
    return out


def rows_at(array: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Some rows, which must exist, in the given order, as NumPy's ``take``.

    Examples
    --------
    >>> rows_at(np.array([5, 6, 7]), np.array([2, 0]))
    array([7, 5])
    """
    if len(rows) <= FIRST_ROWS:
        return array.take(rows, 0)
    out = np.empty((len(rows), *array.shape[1:]), array.dtype)
    for begin, end in ranges(0, len(rows), _AT_RANDOM):
        # With "clip" NumPy writes directly to `out`, and not to a copy first.
        array.take(rows[begin:end], 0, out[begin:end], "clip")
    return out


def sorted_keys(parts: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """The numbers of all parts, sorted.

    Examples
    --------
    >>> sorted_keys([np.array([5, 7]), np.array([6])])
    array([5, 6, 7])
    """
    keys = joined([np.empty(0, np.int64), *parts])
    # While that is quick, because it is several times as fast.
    return np.sort(keys) if len(keys) <= MOST_ROWS // 4 else rows_at(keys, stable_argsort(keys))


def first_of(out: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """The first rows of an array that a kernel has written; a small result does not hold a large block.

    Examples
    --------
    >>> first_of(np.arange(9), 2)
    array([0, 1])
    """
    return out[:count].copy() if 2 * count < len(out) else out[:count]
