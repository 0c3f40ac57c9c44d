"""Recycled memory: clearing fresh pages costs more than finding the pairs.

The operating system hands out memory in pages that it must clear first, at about 3 GB/s.  For two
million pairs that takes 5 ms, a quarter of the whole search.  So scratch arrays are kept between calls, and
the memory of a large result is recycled when the last array that uses it is deleted.
"""

import ctypes
import math
import sys
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

PairArray = npt.NDArray[np.int32]

SMALL = 1 << 16  # bytes; below, malloc recycles well enough by itself
_LINE = 64  # bytes
MOST_KEPT = 1 << 28  # bytes of scratch, and of results, that are kept while unused


Arrays = TypeVar("Arrays")


def available_memory() -> int | None:
    """Bytes that can be allocated without swapping; None if the system does not report it."""
    if sys.platform == "win32":
        return _available_on_windows()
    try:
        with open("/proc/meminfo", "rb") as file:  # noqa: PTH123 - pathlib loads slowly
            lines = file.readlines()
    except (FileNotFoundError, PermissionError):  # not what a signal's handler raises meanwhile
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(b"MemAvailable:")), None)


def usable_memory() -> int:
    """`available_memory`, or 4 GB where the system does not report it."""
    return available_memory() or 4_000_000_000


class _MemoryStatus(ctypes.Structure):
    """``MEMORYSTATUSEX``."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("physical", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("more", ctypes.c_uint64 * 5),
    )


def _available_on_windows() -> int | None:
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    kernel32 = ctypes.CDLL("kernel32.dll")  # 64-bit Windows has one way to call functions
    answered = kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.available) if answered else None


class Group(NamedTuple, Generic[Arrays]):
    """Arrays that are always used together."""

    rows: int
    """The capacity, in rows of any kind."""
    size: int
    """Bytes."""
    arrays: Arrays


class Scratch:
    """Arrays by name, kept from call to call; their content is undefined."""

    def __init__(self) -> None:
        self._memory: dict[str, npt.NDArray[np.uint8]] = {}
        # The array that was made last for each name: its shape, its dtype as given, and the array.
        self._made: dict[str, tuple[tuple[int, ...], npt.DTypeLike, npt.NDArray[Any]]] = {}
        self._pairs: PairArray = np.empty((0, 2), np.int32)
        self._groups: dict[Hashable, Group[Any]] = {}
        self.size = 0
        """Bytes held."""

    def array(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of undefined content; valid until the next call with this name."""
        made = self._made.get(name)
        if made is not None and made[0] == shape and made[1] is dtype:
            return made[2]  # as in the frame before: 0.2 us, not 1.2, and a search needs twenty arrays
        kind = np.dtype(dtype)
        size = kind.itemsize
        for length in shape:
            size *= length
        memory = self._memory.get(name)
        if memory is None or len(memory) < size:
            # A quarter more than requested: the next frame's count is a little different.
            memory = self._take(name, size + size // 4 + 64)
        array = memory[:size].view(kind).reshape(shape)
        self._made[name] = shape, dtype, array
        return array

    def pairs(self, rows: int) -> PairArray:
        """Memory for at least this many pairs, cheaper than `array`; earlier pairs are kept."""
        if len(self._pairs) < rows:
            self.size -= self._pairs.nbytes
            self._pairs = np.empty((rows + rows // 4, 2), np.int32)
            self.size += self._pairs.nbytes
        return self._pairs

    def group(self, name: Hashable, rows: int, make: Callable[[int], Group[Arrays]]) -> Arrays:
        """Arrays for this many rows, as their last user left them; ``make`` makes larger ones."""
        group: Group[Arrays] | None = self._groups.get(name)
        if group is None or group.rows < rows:
            made = make(rows + rows // 4)
            self.size += made.size - (0 if group is None else group.size)
            self._groups[name] = group = made
        return group.arrays

    def reserve(self, name: str, size: int) -> None:
        """Hold this many bytes from now on, if they can be kept; the content of the old ones stays."""
        if self.held(name) < size <= MOST_KEPT:
            self._take(name, size + size // 4)

    def held(self, name: str) -> int:
        """Bytes held under a name."""
        return len(self._memory.get(name, ()))

    def _take(self, name: str, size: int) -> npt.NDArray[np.uint8]:
        self.size += size - self.held(name)
        self._made.pop(name, None)
        memory = self._memory[name] = _from_a_cache_line(size)
        return memory


def _from_a_cache_line(size: int) -> npt.NDArray[np.uint8]:
    """Bytes aligned to a cache line, so that a row of 32 bytes is never in two of them."""
    memory = np.empty(size + _LINE, np.uint8)
    begin = -memory.ctypes.data % _LINE
    return memory[begin : begin + size]


def aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array of undefined content, aligned to a cache line."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    return _from_a_cache_line(size).view(dtype).reshape(shape)


_idle_scratch: list[Scratch] = []


class borrowed_scratch:  # noqa: N801 - reads as the function that it replaces, at a third of the cost
    """Scratch for one caller until the block ends.

    If the block ends by an exception the scratch is dropped, so it does not matter whether a thread
    still writes to it.
    """

    __slots__ = ("_scratch",)

    def __enter__(self) -> Scratch:
        try:
            self._scratch = _idle_scratch.pop()  # atomic under the GIL, unlike testing the length first
        except IndexError:
            self._scratch = Scratch()
        return self._scratch

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None and self._scratch.size <= MOST_KEPT and len(_idle_scratch) < 4:
            _idle_scratch.append(self._scratch)


class _Lease:
    """Memory of one result; it is recycled with the last array that uses it."""

    __slots__ = ("__array_interface__", "_memory")

    def __init__(self, memory: npt.NDArray[np.int32], rows: int) -> None:
        self._memory = memory
        self.__array_interface__ = {
            "shape": (rows, 2),
            "typestr": memory.dtype.str,
            "data": (memory.ctypes.data, False),
            "version": 3,
        }

    def __del__(self) -> None:
        memory = getattr(self, "_memory", None)  # missing if the constructor was interrupted
        if (
            memory is not None
            and _shelf is not None
            and sum(map(len, _shelf)) + len(memory) <= MOST_KEPT // 8
        ):
            _shelf.append(memory)


_shelf: list[npt.NDArray[np.int32]] = []


def pair_array(rows: int) -> PairArray:
    """An ``(rows, 2)`` int32 array of undefined content: an ordinary array that the caller may keep."""
    if rows * 8 < SMALL:
        return np.empty((rows, 2), np.int32)
    for place, memory in enumerate(_shelf):
        # Not more than twice as much: a small result must not hold a large block.
        if rows <= len(memory) <= 2 * rows:
            try:
                memory = _shelf.pop(place)
            except IndexError:  # another thread was faster
                break
            if rows <= len(memory) <= 2 * rows:
                return np.asarray(_Lease(memory, rows))
            _shelf.append(memory)
            break
    return np.asarray(_Lease(np.empty((rows + rows // 8, 2), np.int32), rows))


def result_array(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The same of any shape and any type of 4 or 8 bytes; more than is free is refused.

    Raises
    ------
    MemoryError
        It does not fit: most systems promise more memory than they have.
    """
    kind, count = np.dtype(dtype), math.prod(shape)
    size = count * kind.itemsize
    if size < SMALL:
        return np.empty(shape, kind)
    _check_room(size, "results", "ask for fewer")
    words = pair_array((size + 7) // 8).reshape(-1)
    return words.view(kind)[:count].reshape(shape)


# ---- results that do not fit into memory, refused before they are computed

_ENOUGH_TO_ASK = 1 << 28  # bytes; to ask the system takes 30 us
_BYTES_OF_NEAREST = 24  # an id and a distance, twice: as they are found and as they are returned


def free_for(size: float) -> int | None:
    """The bytes that are free; None if so many are few, or the system does not say."""
    return available_memory() if size > _ENOUGH_TO_ASK else None


def check_room_for_nearest(n: int, k: int, m: int) -> None:
    """Refuse results that do not fit, before memory is asked for: most systems promise more than they have.

    Raises
    ------
    MemoryError
        ``k`` nearest for each of ``n`` points are more than is free; ``m`` are there.
    """
    what = f"the {k} nearest of each of {n} points"
    _check_room(n * k * _BYTES_OF_NEAREST, what, f"there are {m} to find: give a smaller k")


def _check_room(size: int, what: str, fix: str) -> None:
    free = free_for(size)
    if free is not None and size > free:
        raise MemoryError(f"{what} take {size / 1e9:.3g} GB more, and {free / 1e9:.3g} GB are free; {fix}")
