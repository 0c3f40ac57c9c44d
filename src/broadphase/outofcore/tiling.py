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

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.partition import LEFT, RIGHT, copy_to_tiles, count_tiles
from broadphase.outofcore.inputs import ReadOptions, Unit, box_column, boxes_in, chunks_of, tables_of
from broadphase.outofcore.work import WorkFolder, damaged, sealed, unsealed

_MOST_TILES = 1 << 15
_LEAST_SAMPLE = 8  # sampled boxes in a tile that is still split
_MOST_COPIED = 1.5  # a split must not multiply the boxes by more than this
_BALANCE = 0.9  # nor leave a larger share than this on one side
_NO_LIMIT = 2**31 - 1  # copies of a box


@dataclass(frozen=True)
class Tiling:
    """A tree of splits; its leaves are the tiles.

    ``nodes`` has a row for each node, the tiles last: axis, and the next nodes; ``splits`` is where each node
    splits, see `broadphase.kernels.partition`.  ``depth`` is that of the deepest tile.  Tiles begin at
    ``low``, ``(tiles, dim)``, ``-inf`` at the edge of the world, and end before ``high``.
    """

    nodes: npt.NDArray[np.int32]
    splits: npt.NDArray[Any]
    depth: int
    low: npt.NDArray[Any]
    high: npt.NDArray[Any]

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
        place = len(nodes), depth + 1
        todo.append((rows[sample[rows, dim + axis] >= split], right, high, place[1], place[0], RIGHT))
        todo.append((rows[sample[rows, axis] < split], low, left, place[1], place[0], LEFT))
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
        left_of = np.searchsorted(inside, inside[len(inside) // 2]) if len(inside) else 0
        if left_of == 0:  # the middle one is the smallest too: try the next larger value
            left_of = np.searchsorted(inside, inside[0], side="right") if len(inside) else 0
        if left_of == len(inside):
            continue
        split = inside[left_of]
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


class Spread(NamedTuple):
    """In how many tiles each box of a chunk is, and which boxes are too large to be copied.

    ``counts`` are the copies in each tile, and at the end the large boxes, which touch more than ``most``
    tiles; ``shared`` are the large boxes that touch each tile.
    """

    first: npt.NDArray[np.int32]
    copies: npt.NDArray[np.int32]
    most: int
    counts: npt.NDArray[np.int64]
    shared: npt.NDArray[np.int64]


def spread_over(boxes: BoxArray, tiling: Tiling, most_copies: float) -> Spread:
    """Count copies; if there would be more than ``most_copies`` a box, the largest boxes are not copied.

    They are stored once, and every tile that they touch reads them.
    """
    n, tiles = len(boxes), tiling.tiles
    first, copies = np.empty(n, np.int32), np.empty(n, np.int32)
    stack, leaves = np.empty(tiles + 1, np.int32), np.empty(tiles + 1, np.int32)
    counts, shared = np.zeros(tiles + 1, np.int64), np.zeros(tiles, np.int64)
    scratch = stack, leaves, first, copies, counts, shared
    count_tiles(boxes, tiling.nodes, tiling.splits, tiling.depth, _NO_LIMIT, *scratch)
    most = _NO_LIMIT
    if counts.sum() > most_copies * n:
        most = _most_for(copies, most_copies)
        counts[:] = 0
        count_tiles(boxes, tiling.nodes, tiling.splits, tiling.depth, most, *scratch)
        counts[tiles] = np.count_nonzero(copies > most)
    return Spread(first, copies, most, counts, shared)


def _most_for(copies: npt.NDArray[np.int32], most_copies: float) -> int:
    """The most copies of a box, such that all together are not more than ``most_copies`` a box."""
    values, counts = np.unique(copies, return_counts=True)
    extra = np.cumsum((values - 1) * counts)
    within = np.flatnonzero(extra <= (most_copies - 1.0) * len(copies))
    return int(values[within[-1]]) if len(within) else 1


def _copied(boxes: BoxArray, tiling: Tiling, spread: Spread) -> tuple[BoxArray, npt.NDArray[np.uint32]]:
    """The copies in the order of the tiles, and the row of each."""
    total = int(spread.counts.sum())
    out, order = np.empty((total, boxes.shape[1]), boxes.dtype), np.empty(total, np.uint32)
    begins = np.cumsum(spread.counts) - spread.counts
    stack, leaves = np.empty(tiling.tiles + 1, np.int32), np.empty(tiling.tiles + 1, np.int32)
    scratch = stack, leaves, spread.first, spread.copies, begins, out, order
    copy_to_tiles(boxes, tiling.nodes, tiling.splits, spread.most, *scratch)
    return out, order


# ---- chunk files: the boxes of a chunk by tile, so that a tile reads its part in one go.
#
# Each tile is a message, a record batch as Arrow writes it to streams, and a checksum.  The boxes that touch
# too many tiles to be copied are the last message.  The index of the chunk says where each message ends; a
# chunk whose index exists is finished.


class PartitionOptions(NamedTuple):
    """How input is partitioned; ``most_copies`` of a box, averaged over a chunk."""

    folder: str
    reading: ReadOptions
    tiling: Tiling
    most_copies: float


def sample_unit(number: int, unit: Unit, folder: str, reading: ReadOptions, share: float) -> int:
    """Save about ``share`` of the boxes of a unit, and the bytes that a box takes; returns its rows."""
    random = np.random.default_rng([number, unit.rows])
    schema = reading.schemas[unit.side]
    sampled, size = [boxes_in(schema.empty_table())], 0
    for table in tables_of(unit, reading):
        boxes, n = boxes_in(table), table.num_rows
        size += table.nbytes
        rows = np.unique(random.integers(0, n, random.binomial(n, share))) if share < 1.0 else slice(None)
        sampled.append(boxes[rows])
    work = WorkFolder(Path(folder))
    work.save(work.file("samples", number), boxes=np.concatenate(sampled), box_bytes=size / max(unit.rows, 1))
    return unit.rows


def partition_unit(unit: Unit, options: PartitionOptions, given: Mapping[str, npt.NDArray[Any]]) -> int:
    """Write the files of all chunks of a unit, with rules that came as arrays; returns its rows."""
    folder = WorkFolder(Path(options.folder))
    row = unit.first_row
    for number, table in enumerate(chunks_of(unit, options.reading), unit.first_chunk):
        rows = np.arange(row, row + table.num_rows)
        if not folder.file("indexes", number).exists():
            columns = {name: values[rows - unit.first_row] for name, values in given.items()}
            _write_chunk(folder, number, table, rows, columns, options.reading.schemas[unit.side], options)
        row += table.num_rows
    return unit.rows


def _write_chunk(
    folder: WorkFolder,
    number: int,
    table: Any,
    rows: npt.NDArray[np.int64],
    given: Mapping[str, npt.NDArray[Any]],
    schema: Any,
    options: PartitionOptions,
) -> None:
    boxes = boxes_in(table)
    spread = spread_over(boxes, options.tiling, options.most_copies)
    copies, order = _copied(boxes, options.tiling, spread)
    columns = {"box": box_column(copies), "row": pa.array(rows[order], schema.field("row").type)}
    columns |= {name: pa.array(values[order]) for name, values in given.items()}
    rest = [name for name in schema.names if name not in columns]
    columns |= {name: table.column(name).combine_chunks().take(pa.array(order)) for name in rest}
    batch = pa.record_batch([columns[name] for name in schema.names], schema=schema)
    ends, position, begin = [], 0, 0
    with folder.appearing(folder.file("chunks", number, "")) as part, part.open("wb") as file:
        for count in spread.counts.tolist():
            if count:
                position += file.write(sealed(batch.slice(begin, count).serialize().to_pybytes()))
            begin += count
            ends.append(position)
    folder.save(
        folder.file("indexes", number),
        boxes=spread.counts.astype(np.int32),
        shared=spread.shared.astype(np.int32),
        ends=np.array(ends, np.int64),
    )


def read_message(folder: WorkFolder, chunk: int, begin: int, end: int, schema: Any) -> Any:
    """The boxes of a tile.

    Raises
    ------
    OSError
        The file is damaged; it and its index were removed.
    """
    path, message = folder.file("chunks", chunk, ""), None
    with suppress(FileNotFoundError), path.open("rb") as file:
        file.seek(begin)
        message = unsealed(file.read(end - begin))
    if message is None:
        folder.file("indexes", chunk).unlink(missing_ok=True)
        raise damaged(path)
    return ipc.read_record_batch(pa.py_buffer(message), schema)
