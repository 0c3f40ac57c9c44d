"""Tiling: a sample of the boxes decides how to divide the world into tiles; chunks are written by tile.

The world is split where half of the sampled boxes begin on either side, then each half again, until a
tile holds few enough boxes.  Each split is made along the axis on which the fewest boxes would be on both
sides.  If no split helps, because all boxes begin at one place or nearly all would be copied, the tile stays
large and its boxes are joined block by block instead (`broadphase.outofcore.joining`).

The overlap of two boxes has a lowest corner: the larger of their lower edges on every axis.  Tiles are
half-open, so that corner is in exactly one of them, and only there the pair counts.  A tile holds the
corner of a pair if on no axis both boxes began before the tile.  Each box has a class bit for each axis, and
the AND of two boxes must be 0, which the search tests anyway.  (This is the two-layer rule of Tsitsigkos and
Mamoulis, as in the strips.)

`make_tiling` makes the tiles, `spread_over` counts the copies of each box, and `partition_unit` writes the
chunks of a unit of input to files that are sorted by tile.
"""

import errno
import os
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.partition import LEFT, RIGHT, copy_to_tiles, count_tiles
from broadphase.outofcore.inputs import TEXT, Chunk, ReadOptions, Unit, chunks_of
from broadphase.outofcore.work import WorkFolder

_MOST_TILES = 1 << 15
_LEAST_SAMPLE = 8  # sampled boxes in a tile that is still split
_MOST_COPIED = 1.5  # a split must not multiply the boxes by more than this
_BALANCE = 0.9  # nor leave a larger share than this on one side
_NO_LIMIT = 2**31 - 1  # copies of a box


@dataclass(frozen=True)
class Tiling:
    """A tree of splits; its leaves are the tiles."""

    nodes: npt.NDArray[np.int32]
    """One row for each node, the tiles last: axis, and the next nodes; see `broadphase.kernels.partition`."""
    splits: npt.NDArray[Any]
    """Where each node splits."""
    depth: int
    """Of the deepest tile."""
    low: npt.NDArray[Any]
    """``(tiles, dim)``: where each tile begins, ``-inf`` at the edge of the world."""
    high: npt.NDArray[Any]
    """Where it ends; boxes on this edge belong to the next tile."""

    @property
    def tiles(self) -> int:
        """How many tiles there are."""
        return len(self.low)


def make_tiling(sample: BoxArray, boxes_each: float, tile: int) -> Tiling:
    """Divide the world into tiles of about ``tile`` boxes; a sampled box stands for ``boxes_each``."""
    dim = sample.shape[1] // 2
    nodes: list[list[int]] = []
    splits: list[Any] = []
    lows: list[Any] = []
    highs: list[Any] = []
    edge = np.full(dim, np.inf, sample.dtype)
    # Parts that are still to be split: which boxes, between which edges, how deep, and where in `nodes` to
    # note it.
    todo = [(np.arange(len(sample)), -edge, edge, 0, -1, 0)]
    deepest = 0
    while todo:
        rows, low, high, depth, parent, side = todo.pop()
        enough = len(rows) * boxes_each <= tile or len(rows) < _LEAST_SAMPLE
        full = len(lows) + len(todo) >= _MOST_TILES
        best = None if enough or full else _best_split(sample, rows, low)
        if parent >= 0:
            nodes[parent][side] = ~len(lows) if best is None else len(nodes)
        if best is None:
            deepest = max(deepest, depth)
            lows.append(low)
            highs.append(high)
            continue
        axis, split = best
        left, right = high.copy(), low.copy()
        left[axis] = right[axis] = split
        here = len(nodes), depth + 1
        todo.append((rows[sample[rows, dim + axis] >= split], right, high, here[1], here[0], RIGHT))
        todo.append((rows[sample[rows, axis] < split], low, left, here[1], here[0], LEFT))
        nodes.append([axis, 0, 0])
        splits.append(split)
    return Tiling(
        _with_tiles(nodes, len(lows)),
        np.array([*splits, *[np.nan] * len(lows)], sample.dtype),
        deepest,
        np.array(lows, sample.dtype),
        np.array(highs, sample.dtype),
    )


def _with_tiles(nodes: list[list[int]], tiles: int) -> npt.NDArray[np.int32]:
    """The nodes, and after them the tiles, which were numbered downward from -1."""
    inner = np.array(nodes, np.int32).reshape(-1, 3)
    inner[inner < 0] = len(inner) + ~inner[inner < 0]
    ends = np.arange(len(inner), len(inner) + tiles, dtype=np.int32)
    return np.concatenate([inner, np.stack([np.zeros_like(ends), ends, ends], axis=1)])


def _best_split(
    sample: BoxArray, rows: npt.NDArray[np.int64], low: npt.NDArray[Any]
) -> tuple[int, Any] | None:
    """The axis and the place of the cut that leaves the fewest boxes on both sides."""
    dim, n = len(low), len(rows)
    best, least = None, np.inf
    for axis in range(dim):
        begins, ends = sample[rows, axis], sample[rows, dim + axis]
        inside = np.sort(begins[np.isfinite(begins) & (begins >= low[axis])])
        at = np.searchsorted(inside, inside[len(inside) // 2]) if len(inside) else 0
        if at == 0:  # the middle one is the smallest too: try the next larger value
            at = np.searchsorted(inside, inside[0], side="right") if len(inside) else 0
        if at == len(inside):
            continue
        split = inside[at]
        left, right = np.count_nonzero(begins < split), np.count_nonzero(ends >= split)
        if left + right > _MOST_COPIED * n or max(left, right) > _BALANCE * n:
            continue
        # Short boxes seldom cross a split of the sample.  Then the expected number decides: the length of
        # the boxes relative to their spread; and among points, the axis with the largest spread.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            spread = np.float64(inside[-1]) - np.float64(inside[0])
            reach = np.minimum(ends.astype(np.float64) - begins, spread).mean() / spread
        cost = (left + right) / n + np.nan_to_num(reach, nan=1.0, posinf=1.0) + 1e-9 / (1.0 + spread)
        if cost < least:
            best, least = (axis, split), cost
    return best


def began_before(boxes: BoxArray, low: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The class bits of boxes in a tile that begins at ``low``: on which axes they began before it."""
    bits = np.zeros(len(boxes), np.uint8)
    for axis, edge in enumerate(low):
        if edge != -np.inf:
            bits |= (boxes[:, axis] < edge).view(np.uint8) << np.uint8(axis + 3)
    return bits


def touches(boxes: BoxArray, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which boxes the tree would copy into the tile between ``low`` and ``high``."""
    dim = len(low)
    inside = np.ones(len(boxes), np.bool_)
    for axis in range(dim):
        if low[axis] != -np.inf:
            inside &= boxes[:, dim + axis] >= low[axis]
        if high[axis] != np.inf:
            inside &= boxes[:, axis] < high[axis]
    return inside


# ---- the copies of boxes


@dataclass(frozen=True, slots=True)
class Spread:
    """In how many tiles each box of a chunk is, and which boxes are too large to be copied."""

    first: npt.NDArray[np.int32]
    copies: npt.NDArray[np.int32]
    most: int
    own: npt.NDArray[np.int64]
    """Copies in each tile, and at the end the large boxes."""
    shared: npt.NDArray[np.int64]
    """Large boxes that touch each tile."""


def spread_over(boxes: BoxArray, tiling: Tiling, most_copies: float) -> Spread:
    """Count copies; if there would be more than ``most_copies`` a box, the largest boxes are not copied.

    They are stored once, and every tile that they touch reads them.
    """
    n, tiles = len(boxes), tiling.tiles
    first, copies = np.empty(n, np.int32), np.empty(n, np.int32)
    stack, leaves = np.empty(tiles + 1, np.int32), np.empty(tiles + 1, np.int32)
    own, shared = np.zeros(tiles + 1, np.int64), np.zeros(tiles, np.int64)
    scratch = stack, leaves, first, copies, own, shared
    count_tiles(boxes, tiling.nodes, tiling.splits, tiling.depth, _NO_LIMIT, *scratch)
    most = _NO_LIMIT
    if own.sum() > most_copies * n:
        most = _most_for(copies, most_copies)
        own[:] = 0
        count_tiles(boxes, tiling.nodes, tiling.splits, tiling.depth, most, *scratch)
        own[tiles] = np.count_nonzero(copies > most)
    return Spread(first, copies, most, own, shared)


def _most_for(copies: npt.NDArray[np.int32], most_copies: float) -> int:
    """The most copies of a box, such that all together are not more than ``most_copies`` a box."""
    values, counts = np.unique(copies, return_counts=True)
    extra = np.cumsum((values - 1) * counts)
    within = np.flatnonzero(extra <= (most_copies - 1.0) * len(copies))
    return int(values[within[-1]]) if len(within) else 1


def _copied(boxes: BoxArray, tiling: Tiling, spread: Spread) -> tuple[BoxArray, npt.NDArray[np.uint32]]:
    """The copies in the order of the tiles, and the row of each."""
    total = int(spread.own.sum())
    out, order = np.empty((total, boxes.shape[1]), boxes.dtype), np.empty(total, np.uint32)
    at = np.zeros(tiling.tiles + 1, np.int64)
    np.cumsum(spread.own[:-1], out=at[1:])
    stack, leaves = np.empty(tiling.tiles + 1, np.int32), np.empty(tiling.tiles + 1, np.int32)
    scratch = stack, leaves, spread.first, spread.copies, at, out, order
    copy_to_tiles(boxes, tiling.nodes, tiling.splits, spread.most, *scratch)
    return out, order


# ---- chunk files: the boxes of a chunk by tile, so that a tile reads its part in one go.
#
# The columns have fixed width and follow each other, each in the order of the tiles: boxes, rows within the
# chunk, then static flags, categories, masks and ids if they are needed (for text ids, where each
# begins and ends; the letters follow after all columns).  The boxes that touch too many tiles to be copied
# come last, once.  The file ends with the number of copies in each tile, the number of large boxes that touch
# it, and a checksum of what each tile reads: a run that is resumed notices a file that was damaged meanwhile.


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns in the chunk files of one side: ``boxes`` and ``rows`` first."""

    fields: tuple[tuple[str, str, int], ...]
    """Name, type and how many numbers for each box."""
    tiles: int

    @classmethod
    def of(cls, dim: int, dtype: str, rules: Mapping[str, str], id_type: str | None, tiles: int) -> "Columns":
        """``rules``: their types by name."""
        fields = [("boxes", dtype, 2 * dim), ("rows", "uint32", 1)]
        fields += [(rule, kind, 1) for rule, kind in rules.items()]
        if id_type is not None:
            fields.append(("ids", "int64", 2) if id_type == TEXT else ("ids", id_type, 1))
        return cls(tuple(fields), tiles)

    @property
    def text_ids(self) -> bool:
        """Whether the ids are text: two numbers for each box, where each begins and ends."""
        return self.fields[-1] == ("ids", "int64", 2)

    @property
    def width(self) -> int:
        """Bytes of a copy, without the letters of text ids."""
        return sum(np.dtype(kind).itemsize * count for _, kind, count in self.fields)


@dataclass(frozen=True)
class PartitionOptions:
    """The options of all tasks that partition."""

    folder: str
    reading: ReadOptions
    tiling: Tiling
    columns: tuple[Columns, ...]
    """Of each side."""
    most_copies: float
    """The most copies of a box, averaged over a chunk."""


def partition_unit(unit: Unit, options: PartitionOptions, given: Mapping[str, npt.NDArray[Any]]) -> int:
    """Write the files of all chunks of a unit; returns its rows."""
    folder = WorkFolder(Path(options.folder))
    for k, chunk in enumerate(chunks_of(unit, options.reading, given)):
        path = folder.chunk(unit.first_chunk + k)
        if not path.exists():
            with folder.appearing(path) as part:
                _write_chunk(part, chunk, options, options.columns[unit.side])
    return unit.rows


def _write_chunk(path: Path, chunk: Chunk, options: PartitionOptions, columns: Columns) -> None:
    spread = spread_over(chunk.boxes, options.tiling, options.most_copies)
    boxes, order = _copied(chunk.boxes, options.tiling, spread)
    written: list[npt.NDArray[Any]] = [boxes, order]
    letters: Any = b""
    bounds = np.empty((0, 2), np.int64)
    for name, _, _ in columns.fields[2:]:
        values = chunk.columns[name]
        if name == "ids" and columns.text_ids:
            bounds, letters = _text_in_order(values, order)
            written.append(bounds)
        else:
            written.append(values.take(order))
    with path.open("wb", buffering=0) as file:
        for column in written:
            _write_all(file, _bytes_of(column))
        _write_all(file, memoryview(letters))
        ends = np.cumsum(spread.own)
        checks = [
            _checksum(
                [column[end - count : end] for column in written],
                _letters(bounds[end - count : end], letters),
            )
            for end, count in zip(ends.tolist(), spread.own.tolist(), strict=True)
        ]
        numbers = np.concatenate([spread.own, spread.shared, checks]).astype(np.int64)
        _write_all(file, _bytes_of(np.append(numbers, zlib.crc32(_bytes_of(numbers)))))


def _letters(bounds: npt.NDArray[np.int64], letters: Any) -> memoryview:
    """The letters of some text ids, which follow each other."""
    return memoryview(letters)[bounds[0, 0] : bounds[-1, 1]] if len(bounds) else memoryview(b"")


def _checksum(columns: Iterable[npt.NDArray[Any]], letters: Any) -> int:
    """The checksum of the copies that a tile reads together."""
    checksum = 0
    for column in columns:
        checksum = zlib.crc32(_bytes_of(column), checksum)
    return zlib.crc32(letters, checksum)


def _text_in_order(ids: Any, order: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], Any]:
    """Text ids in the order of the copies: where each begins and ends, and their letters."""
    taken = ids.take(pa.array(order))
    _, offsets, letters = taken.buffers()
    ends = np.frombuffer(offsets, np.int64, len(taken) + 1, 8 * taken.offset)
    return np.stack([ends[:-1], ends[1:]], axis=1), letters if letters is not None else b""


def _bytes_of(column: npt.NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(column).reshape(-1).view(np.uint8).data)


def _write_all(file: Any, data: memoryview) -> None:
    while len(data):
        data = data[file.write(data) :]


class Counts(NamedTuple):
    """The end of the file of a chunk."""

    own: npt.NDArray[np.int64]
    shared: npt.NDArray[np.int64]
    """Both as in `Spread`."""
    checks: npt.NDArray[np.int64]
    """The checksum of what each tile reads, and of the large boxes."""


def read_counts(path: Path, tiles: int) -> Counts:
    """How many boxes of a chunk are in each tile.

    Raises
    ------
    OSError
        The file is damaged; it was removed, so that the next call makes it again.
    """
    size = 8 * (3 * tiles + 3)
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - size, 0))
        data = file.read(size)
    if len(data) < size or zlib.crc32(data[:-8]) != int.from_bytes(data[-8:], sys.byteorder):
        raise _damaged(path)
    return Counts(*np.split(np.frombuffer(data[:-8], np.int64), [tiles + 1, 2 * tiles + 1]))


def _damaged(path: Path) -> OSError:
    path.unlink(missing_ok=True)
    return OSError(
        errno.EIO, "was damaged and has been removed; call again to make it anew and go on", str(path)
    )


def read_copies(
    path: Path,
    copies: int,
    begin: int,
    count: int,
    check: int,
    columns: Columns,
    arrays: Mapping[str, npt.NDArray[Any]],
) -> Any:
    """Read ``count`` of the ``copies`` in a file, from ``begin`` on; returns ids that are text.

    Raises
    ------
    OSError
        Their checksum is not ``check``: the file is damaged.  It was removed.
    """
    if not count:
        return pa.array([], pa.large_string()) if columns.text_ids else None
    offset, found, letters = 0, [], np.empty(0, np.uint8)
    with path.open("rb", buffering=0) as file:
        for name, kind, numbers in columns.fields:
            size = np.dtype(kind).itemsize * numbers
            file.seek(offset + size * begin)
            offset += size * copies
            is_text = name == "ids" and columns.text_ids
            found.append(np.empty((count, 2), np.int64) if is_text else arrays[name][:count])
            _read_all(file, found[-1], path)
        if columns.text_ids:
            bounds = found[-1]
            first, last = int(bounds[0, 0]), int(bounds[-1, 1])
            if not 0 <= first <= last <= path.stat().st_size - offset:
                raise _damaged(path)
            letters = np.empty(last - first, np.uint8)
            file.seek(offset + first)
            _read_all(file, letters, path)
    if _checksum(found, letters) != check:
        raise _damaged(path)
    if not columns.text_ids:
        return None
    offsets = np.append(bounds[:, 0], last) - first
    return pa.LargeStringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(letters))


def _read_all(file: Any, into: npt.NDArray[Any], path: Path) -> None:
    rest = memoryview(into.reshape(-1).view(np.uint8).data)
    while len(rest):
        got = file.readinto(rest)
        if not got:
            raise _damaged(path)
        rest = rest[got:]
