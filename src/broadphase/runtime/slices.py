"""Long work in slices, so that a call can be interrupted between two of them.

A kernel that does not answer signals itself (`broadphase.kernels.machine.interrupts`) runs for less than
0.1 s at a time, and exceptions from a signal's handler, such as KeyboardInterrupt, are raised between two
such calls.  There are two kinds:

- Work whose cost is not known is done in slices, whose size follows from how long the previous slice took
  (`growing`).
- Work that costs about the same for each row is done for a fixed number of rows at a time (`ranges`,
  `joined`, `rows_at`, and `broadphase.kernels.arrays.sorting`).
"""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.sorting import argsort_keys
from broadphase.runtime.threads import stop_if_unwanted

GOAL = 0.08
"""Seconds that a slice may take; a call must end within 0.2 s of an interrupt."""
MOST_ROWS = 4_000_000
"""Rows, of a range, that are copied or sorted at a time."""
_AT_RANDOM = 1 << 20
"""Rows that are read at random at a time: 10 to 60 ms."""
FIRST_ROWS = 1 << 17
"""Rows that are read or written at random in one piece."""
FEW_QUERIES = 64
"""Queries of a batch that are run first, to measure their cost."""


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
    return np.sort(keys) if len(keys) <= MOST_ROWS // 4 else rows_at(keys, argsort_keys(keys))


def growing(end: int, begin: int = 0, most: int = FEW_QUERIES) -> Iterator[tuple[int, int]]:
    """``range(begin, end)`` in slices for a kernel, if the cost of a row is not known.

    The first, of ``most`` rows, is short; its time decides how long the next may be.

    Raises
    ------
    Cancelled
        As of `ranges`.

    Examples
    --------
    >>> list(growing(FEW_QUERIES))
    [(0, 64)]
    """
    while end - begin > most:
        started = perf_counter()
        yield begin, begin + most
        stop_if_unwanted()
        took = perf_counter() - started
        begin += most
        most = min(8 * most, int(most * GOAL / max(took, 1e-6))) + 1
    yield begin, end


def first_of(out: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """The first rows of an array that a kernel has written; a small result does not hold a large block.

    Examples
    --------
    >>> first_of(np.arange(9), 2)
    array([0, 1])
    """
    return out[:count].copy() if 2 * count < len(out) else out[:count]
