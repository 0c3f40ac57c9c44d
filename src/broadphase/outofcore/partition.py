"""A unit of input becomes files of chunks whose boxes are sorted by tile."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from broadphase.boxes import BoxArray
from broadphase.kernels.partition.tiles import copy_to_tiles, count_tiles
from broadphase.outofcore import chunk_file
from broadphase.outofcore.chunk_file import Columns, Counts
from broadphase.outofcore.cut import Cut
from broadphase.outofcore.reading import Chunk, Reading, chunks_of
from broadphase.outofcore.sources import Unit
from broadphase.outofcore.work import WorkFolder

ALL_TILES = 2**31 - 1


@dataclass(frozen=True)
class Partition:
    """What every task that partitions has to know."""

    folder: str
    reading: Reading
    cut: Cut
    columns: tuple[Columns, ...]
    """Of each side."""
    most_copies: float
    """How many copies of a box there may be, on the average of a chunk."""


@dataclass(frozen=True, slots=True)
class Spread:
    """In how many tiles each box of a chunk lies, and which are too large to be copied."""

    first: npt.NDArray[np.int32]
    copies: npt.NDArray[np.int32]
    most: int
    own: npt.NDArray[np.int64]
    shared: npt.NDArray[np.int64]


def partition_unit(unit: Unit, how: Partition, given: Mapping[str, npt.NDArray[Any]]) -> int:
    """Write the files of all chunks of a unit; returns its rows."""
    folder = WorkFolder(Path(how.folder))
    for k, chunk in enumerate(chunks_of(unit, how.reading, given)):
        path = folder.chunk(unit.first_chunk + k)
        if not path.exists():
            with folder.appearing(path) as part:
                _write_chunk(part, chunk, how, how.columns[unit.side])
    return unit.rows


def _write_chunk(path: Path, chunk: Chunk, how: Partition, columns: Columns) -> None:
    spread = spread_over(chunk.boxes, how.cut, how.most_copies)
    boxes, order, counts = _copied(chunk.boxes, how.cut, spread)
    written: list[npt.NDArray[Any]] = [boxes, order]
    letters = None
    for name, _, count in columns.fields[2:]:
        values = chunk.columns[name]
        if name == "ids" and count == 2:
            bounds, letters = _letters(values, order)
            written.append(bounds)
        else:
            written.append(values.take(order))
    chunk_file.write(path, written, letters, counts)


def spread_over(boxes: BoxArray, cut: Cut, most_copies: float) -> Spread:
    """Count copies; where there would be more than ``most_copies`` a box, the largest boxes are not copied.

    They are kept once, and every tile that they touch looks at them.
    """
    n, tiles = len(boxes), cut.tiles
    first, copies = np.empty(n, np.int32), np.empty(n, np.int32)
    stack, leaves = np.empty(tiles + 1, np.int32), np.empty(tiles + 1, np.int32)
    own, shared = np.zeros(tiles + 1, np.int64), np.zeros(tiles, np.int64)
    scratch = stack, leaves, first, copies, own, shared
    count_tiles(boxes, cut.nodes, cut.splits, cut.depth, ALL_TILES, *scratch)
    most = ALL_TILES
    if own.sum() > most_copies * n:
        most = _most_for(copies, most_copies)
        own[:] = 0
        count_tiles(boxes, cut.nodes, cut.splits, cut.depth, most, *scratch)
        own[tiles] = np.count_nonzero(copies > most)
    return Spread(first, copies, most, own, shared)


def _most_for(copies: npt.NDArray[np.int32], most_copies: float) -> int:
    """The most copies of a box, such that all together are not more than ``most_copies`` a box."""
    values, counts = np.unique(copies, return_counts=True)
    extra = np.cumsum((values - 1) * counts)
    within = np.flatnonzero(extra <= (most_copies - 1.0) * len(copies))
    return int(values[within[-1]]) if len(within) else 1


def _copied(boxes: BoxArray, cut: Cut, spread: Spread) -> tuple[BoxArray, npt.NDArray[np.uint32], Counts]:
    total = int(spread.own.sum())
    out, order = np.empty((total, boxes.shape[1]), boxes.dtype), np.empty(total, np.uint32)
    at = np.zeros(cut.tiles + 1, np.int64)
    np.cumsum(spread.own[:-1], out=at[1:])
    stack, leaves = np.empty(cut.tiles + 1, np.int32), np.empty(cut.tiles + 1, np.int32)
    copy_to_tiles(
        boxes, cut.nodes, cut.splits, spread.most, stack, leaves, spread.first, spread.copies, at, out, order
    )
    return out, order, Counts(spread.own, spread.shared)


def _letters(ids: Any, order: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], Any]:
    """Ids that are text in the order of the copies: where each begins and ends, and their letters."""
    taken = ids.take(pa.array(order))
    _, offsets, letters = taken.buffers()
    ends = np.frombuffer(offsets, np.int64, len(taken) + 1, 8 * taken.offset)
    return np.stack([ends[:-1], ends[1:]], axis=1), letters if letters is not None else b""
