"""What a file of boxes holds: its columns by name (see `broadphase.columns`), and its ids."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import columns
from broadphase.boxes import BoxArray
from broadphase.columns import Column, Layout
from broadphase.errors import FileError


class Table(NamedTuple):
    """What a file of boxes holds."""

    boxes: BoxArray
    """``(n, 4)`` or ``(n, 6)``; float32 if the file holds float32 edges, else float64."""
    ids: npt.NDArray[Any] | None = None
    """One id a row, integers or ``str`` objects; None where the file names none."""


def find_layout(names: Sequence[str], file: str, id_column: str | None = None) -> Layout:
    """`broadphase.columns.find_layout`; what is wrong with the names is wrong with the file."""
    try:
        return columns.find_layout(names, file, id_column)
    except ValueError as error:
        raise FileError(str(error)) from None


def boxes_from_columns(
    layout: Layout, values: Mapping[str, Column], file: str, row_name: Callable[[int], str]
) -> BoxArray:
    """`broadphase.columns.boxes_from_columns`; what is wrong with a row is wrong with the file."""
    try:
        return columns.boxes_from_columns(layout, values, file, row_name)
    except ValueError as error:
        raise FileError(str(error)) from None


def ids_from_text(texts: list[str]) -> npt.NDArray[Any]:
    """Ids as int64 where every text is a plain integer such as ``17`` (not ``017``), else as they are."""
    try:
        numbers = np.fromiter(map(int, texts), np.int64, len(texts))
    except (ValueError, OverflowError):
        return object_array(texts)
    return numbers if list(map(str, numbers.tolist())) == texts else object_array(texts)


def ids_from_values(values: list[Any]) -> npt.NDArray[Any]:
    """Ids as int64 where all are whole numbers, else as text."""
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)
    return object_array([value if isinstance(value, str) else json.dumps(value) for value in values])


def object_array(texts: Sequence[str]) -> npt.NDArray[Any]:
    """``str`` objects: picking ids for millions of pairs then copies references, not characters."""
    array = np.empty(len(texts), object)
    array[:] = texts
    return array
