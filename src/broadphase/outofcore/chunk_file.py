"""The file of a chunk: its boxes by tile, so that what a tile needs of it is read in one go.

Columns of fixed width stand one after the other, each in the order of the tiles: boxes, rows within the
chunk, what was asked for of static flags, categories, masks and ids (of text, where each begins and ends, and
behind all the rest the letters).  The boxes that touch too many tiles to be copied come last, once.  At the
end of the file stands how many copies each tile has, and how many of the large boxes touch it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

TEXT = "text"


@dataclass(frozen=True, slots=True)
class Columns:
    """What stands in the files of one side's chunks: names and types, ``boxes`` and ``rows`` first."""

    fields: tuple[tuple[str, str, int], ...]
    """Name, type and how many numbers a box."""
    tiles: int

    @classmethod
    def of(cls, dim: int, dtype: str, rules: Mapping[str, str], id_type: str | None, tiles: int) -> "Columns":
        """``rules`` by name with their types."""
        fields = [("boxes", dtype, 2 * dim), ("rows", "uint32", 1)]
        fields += [(rule, kind, 1) for rule, kind in rules.items()]
        if id_type is not None:
            fields.append(("ids", "int64", 2) if id_type == TEXT else ("ids", id_type, 1))
        return cls(tuple(fields), tiles)

    @property
    def width(self) -> int:
        """Bytes of a copy; of text without its letters."""
        return sum(np.dtype(kind).itemsize * count for _, kind, count in self.fields)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many boxes of a chunk are in each tile."""

    own: npt.NDArray[np.int64]
    """Copies in each tile, and at the end the large boxes."""
    shared: npt.NDArray[np.int64]
    """Large boxes that touch each tile."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Copies ``begin .. begin + count - 1`` of a file of so many."""

    path: str
    copies: int
    begin: int
    count: int


def write(path: Path, columns: Sequence[npt.NDArray[Any]], letters: Any, counts: Counts) -> None:
    """Write a file: its columns in order, the letters of ids that are text, and the counts."""
    with path.open("wb", buffering=0) as file:
        for column in columns:
            _write_all(file, _bytes_of(column))
        if letters is not None:
            _write_all(file, memoryview(letters))
        _write_all(file, _bytes_of(np.concatenate([counts.own, counts.shared])))


def _bytes_of(column: npt.NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(column).reshape(-1).view(np.uint8).data)


def _write_all(file: Any, data: memoryview) -> None:
    while len(data):
        data = data[file.write(data) :]


def read_counts(path: Path, tiles: int) -> Counts:
    """How many boxes of the chunk are in each tile."""
    size = 8 * (2 * tiles + 1)
    with path.open("rb") as file:
        file.seek(-size, os.SEEK_END)
        numbers = np.frombuffer(file.read(size), np.int64)
    return Counts(numbers[: tiles + 1], numbers[tiles + 1 :])


def read_into(segment: Segment, columns: Columns, arrays: Mapping[str, npt.NDArray[Any]], at: int) -> Any:
    """Read the copies of a segment into the rows of ``arrays`` from ``at`` on; returns ids that are text."""
    if not segment.count:
        return None
    offset, texts = 0, None
    handle = os.open(segment.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    with open(handle, "rb", buffering=0) as file:  # noqa: PTH123 - a number and not a path
        for name, kind, count in columns.fields:
            size = np.dtype(kind).itemsize * count
            if name == "ids" and count == 2:
                file.seek(offset + size * segment.begin)
                bounds = np.empty((segment.count, 2), np.int64)
                _read_all(file, bounds, segment.path)
                texts = _texts(file, bounds, offset + size * segment.copies, segment.path)
            else:
                file.seek(offset + size * segment.begin)
                _read_all(file, arrays[name][at : at + segment.count], segment.path)
            offset += size * segment.copies
    return texts


def _texts(file: Any, bounds: npt.NDArray[np.int64], letters: int, path: str) -> Any:
    first, last = int(bounds[0, 0]), int(bounds[-1, 1])
    file.seek(letters + first)
    data = np.empty(last - first, np.uint8)
    _read_all(file, data, path)
    offsets = np.append(bounds[:, 0], last) - first
    return pa.LargeStringArray.from_buffers(len(bounds), pa.py_buffer(offsets), pa.py_buffer(data))


def _read_all(file: Any, into: npt.NDArray[Any], path: str) -> None:
    rest = memoryview(into.reshape(-1).view(np.uint8).data)
    while len(rest):
        got = file.readinto(rest)
        if not got:
            raise OSError(f"{path}: ends too early; remove the work folder and call again")
        rest = rest[got:]
