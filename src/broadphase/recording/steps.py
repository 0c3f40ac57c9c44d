"""Numbers that move from frame to frame, as small differences to what they are likely to be.

What moves in a game mostly moves as far as before: on this axis or on that one, there or back.  So each row
remembers the last few lengths of its steps, and a number is guessed to have stayed, or to be one such length
above or below.  What is written is which guess was nearest and by how many representable numbers it missed,
seldom more than one or two: the number comes back bit for bit, in about a fifth of its bytes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.floating[Any]]
Bytes = npt.NDArray[np.uint8]

_KEPT = 4
# Two steps count as one length when they differ by less than this share: they are sums of rounded numbers.
_ALIKE = 1e-6
_INTEGERS: dict[int, tuple[Any, Any]] = {4: (np.int32, np.uint32), 8: (np.int64, np.uint64)}


class Steps:
    """The lengths that each row remembers, and guesses from them.

    Examples
    --------
    >>> writer, reader = Steps(np.float64), Steps(np.float64)
    >>> rows, before = np.array([0]), np.array([[0.5, 7.0]])
    >>> for after in ([[0.6, 7.0]], [[0.7, 7.0]], [[0.7, 6.9]]):
    ...     guess, missed = writer.encode(rows, before, np.array(after))
    ...     assert reader.decode(rows, before, guess, missed).tolist() == after
    ...     before = np.array(after)
    >>> guess.tolist(), len(missed)
    ([0, 5], 2)
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._lengths: Numbers = np.zeros((0, _KEPT), self._dtype)

    def copy(self) -> "Steps":
        """With a memory of its own."""
        twin = Steps(self._dtype)
        twin._lengths = self._lengths.copy()
        return twin

    def forget(self, rows: npt.NDArray[np.int32]) -> None:
        """These rows are new."""
        self._reserve(rows)
        self._lengths[rows] = 0

    def encode(self, rows: npt.NDArray[np.int32], before: Numbers, after: Numbers) -> tuple[Bytes, Bytes]:
        """Which guess, and by how much it missed, for ``(k, c)`` numbers of some rows."""
        guesses = self._guesses(rows, before)
        with np.errstate(over="ignore"):
            missed = _ordered(after)[None] - _ordered(guesses)
            far = np.where(missed < 0, ~missed, missed)
        chosen = far.argmin(axis=0).astype(np.uint8)
        best = np.take_along_axis(missed, chosen[None].astype(np.int64), axis=0)[0]
        self._learn(rows, before, after)
        return chosen.ravel(), _planes(best)

    def decode(self, rows: npt.NDArray[np.int32], before: Numbers, guess: Bytes, missed: Bytes) -> Numbers:
        """What `encode` was given as ``after``."""
        chosen = guess.reshape(before.shape)
        guesses = self._guesses(rows, before)
        best = np.take_along_axis(guesses, chosen[None].astype(np.int64), axis=0)[0]
        with np.errstate(over="ignore"):
            after = _numbers(_ordered(best) + _from_planes(missed, before.shape, self._dtype), self._dtype)
        self._learn(rows, before, after)
        return after

    def _guesses(self, rows: npt.NDArray[np.int32], before: Numbers) -> Numbers:
        """``(1 + 2 * _KEPT, k, c)``"""
        self._reserve(rows)
        lengths = self._lengths[rows].T[:, :, None]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.concatenate([before[None], before + lengths, before - lengths])

    def _learn(self, rows: npt.NDArray[np.int32], before: Numbers, after: Numbers) -> None:
        lengths = self._lengths[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            for column in range(before.shape[1]):
                length = np.abs(after[:, column] - before[:, column])
                known = (np.abs(lengths - length[:, None]) <= _ALIKE * length[:, None]).any(axis=1)
                fresh = ~known & (length > 0) & np.isfinite(length)
                lengths[fresh, 1:] = lengths[fresh, :-1]
                lengths[fresh, 0] = length[fresh]
        self._lengths[rows] = lengths

    def _reserve(self, rows: npt.NDArray[np.int32]) -> None:
        end = int(rows.max(initial=-1)) + 1
        if end > len(self._lengths):
            larger = np.zeros((2 * end, _KEPT), self._dtype)
            larger[: len(self._lengths)] = self._lengths
            self._lengths = larger


def _ordered(numbers: Numbers) -> npt.NDArray[Any]:
    """Integers in the order of the numbers: neighbours among these are neighbours among those.

    >>> (_ordered(np.array([1.0, -0.0])) - _ordered(np.array([np.nextafter(1.0, 0), 0.0]))).tolist()
    [1, -1]
    """
    signed, _ = _INTEGERS[numbers.dtype.itemsize]
    bits = np.ascontiguousarray(numbers).view(signed)
    ordered: npt.NDArray[Any] = np.where(bits < 0, bits ^ np.iinfo(signed).max, bits)
    return ordered


def _numbers(ordered: npt.NDArray[Any], dtype: np.dtype[Any]) -> Numbers:
    """Back from `_ordered`."""
    most = np.iinfo(ordered.dtype).max
    numbers: Numbers = np.where(ordered < 0, ordered ^ most, ordered).view(dtype)
    return numbers


def _planes(missed: npt.NDArray[Any]) -> Bytes:
    """Signed integers byte by byte: first the lowest bytes of all; high ones that are all 0 are left out."""
    width = missed.dtype.itemsize
    unsigned = _INTEGERS[width][1]
    folded = np.where(missed < 0, (~missed).view(unsigned) * 2 + 1, missed.view(unsigned) * 2).astype(
        unsigned
    )
    planes = folded.astype(f"<u{width}").reshape(-1, 1).view(np.uint8).reshape(-1, width).T
    used = int(np.flatnonzero(planes.any(axis=1)).max(initial=0)) + 1
    return np.ascontiguousarray(planes[:used]).ravel()


def _from_planes(wire: Bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Back from `_planes`."""
    width = dtype.itemsize
    signed, unsigned = _INTEGERS[width]
    count = int(np.prod(shape))
    planes = np.zeros((width, count), np.uint8)
    planes[: len(wire) // max(count, 1)] = wire.reshape(-1, count) if count else 0
    folded = np.ascontiguousarray(planes.T).view(f"<u{width}").ravel().astype(unsigned)
    half = (folded >> unsigned(1)).view(signed)
    missed: npt.NDArray[Any] = np.where(folded & unsigned(1), ~half, half).reshape(shape)
    return missed
