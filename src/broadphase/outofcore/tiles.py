"""Tiles: a sample of the boxes divides the world, chunks are written by tile, and each tile is joined alone.

The world is split where half of the sampled boxes begin on either side, then each half again, until a
tile holds few enough boxes.  Each split is made along the axis on which the fewest boxes would be on both
sides.  If no split helps, because all boxes begin at one place or nearly all would be copied, the tile stays
large and its boxes are joined block by block instead.

The overlap of two boxes has a lowest corner: the larger of their lower edges on every axis.  Tiles are
half-open, so that corner is in exactly one of them, and only there the pair counts.  A tile holds the
corner of a pair if on no axis both boxes began before the tile.  Each box has a class bit for each axis, and
the AND of two boxes must be 0, which the search tests anyway.  (This is the two-layer rule of Tsitsigkos and
Mamoulis, as in the strips.)

Usually a tile is one task.  A tile that holds more boxes than fit into memory, because no cut could divide
it, is joined block by block: consecutive chunks form a block, and each block is joined with itself and with
every later one.

`make_tiling` makes the tiles, `spread_over` counts the copies of each box, and `partition_unit` writes the
chunks of a unit of input to files that are sorted by tile.  A task that joins reads its boxes from these
files (`_load`), searches them as `broadphase.pairs` would, and writes their pairs to a Parquet file.  A
search that would store more pairs than fit into memory is divided into ranges of boxes (`_stored`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.api.one_shot import search
from broadphase.errors import PairLimitExceeded
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.search import as_filter
from broadphase.kernels.boxes.overlap import IN_A, IN_B, STATIC, PairFilter, rules_of
from broadphase.kernels.partition import LEFT, RIGHT, copy_to_tiles, count_tiles
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import NO_LIMIT, Task
from broadphase.outofcore.inputs import (
    RULE_TYPES,
    ReadOptions,
    Unit,
    box_column,
    boxes_in,
    chunks_of,
    grouped,
    tables_of,
)
from broadphase.outofcore.work import Mark, WorkFolder, damaged, sealed, size_and_checksum, unsealed
from broadphase.runtime.memory import PairArray, borrowed_scratch

_MOST_TILES = 1 << 15
_LEAST_SAMPLE = 8  # sampled boxes in a tile that is still split
_MOST_COPIED = 1.5  # a split must not multiply the boxes by more than this
_BALANCE = 0.9  # nor leave a larger share than this on one side
_NO_LIMIT = 2**31 - 1  # copies of a box
LATER = np.uint8(128)
"""Class bit of the boxes after the range that is searched: they do not pair with each other."""
GROUP = 1 << 20
"""Pairs of a row group of the output."""

Numbers = npt.NDArray[np.int64]


# ---- where the world is divided


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
    counts, shared = np.zeros(tiles + 1, np.int64), np.zeros(tiles, np.int64)
    counted = first, copies, counts, shared
    count_tiles(boxes, tiling.nodes, tiling.splits, tiling.depth, _NO_LIMIT, *counted)
    most = _NO_LIMIT
    if counts.sum() > most_copies * n:
        most = _most_for(copies, most_copies)
        counts[:] = 0
        count_tiles(boxes, tiling.nodes, tiling.splits, tiling.depth, most, *counted)
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
    copies = spread.first, spread.copies, begins, out, order
    copy_to_tiles(boxes, tiling.nodes, tiling.splits, spread.most, *copies)
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


# ---- the tasks that join


class TaskSpec(NamedTuple):
    """Which blocks of a tile are joined with each other: ranges of chunks."""

    tile: int
    left: tuple[int, int]
    right: tuple[int, int] | None


class TileTask(NamedTuple):
    """One join: of a block with itself, or of two blocks with each other.

    A block has a row for each part of it: the chunk, where the part begins and ends in its file, and whether
    it holds the large boxes of the chunk, of which some touch the tile.
    """

    number: int
    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    left: Numbers
    right: Numbers | None


class ChunkTable:
    """The chunks of all input, and which boxes of each are in every tile.

    Parameters
    ----------
    chunk_sides : sequence
        The side of each chunk; those of a side follow each other.
    indexes : sequence
        The index of each chunk.
    """

    def __init__(self, chunk_sides: Sequence[int], indexes: Sequence[dict[str, Any]], tiling: Tiling) -> None:
        # 16 bytes for each chunk in each tile: 40 MB for a billion boxes.
        tiles = tiling.tiles
        self._tiling = tiling
        self._boxes = np.array([index["boxes"] for index in indexes], np.int32).reshape(-1, tiles + 1)
        self._shared = np.array([index["shared"] for index in indexes], np.int32).reshape(-1, tiles)
        self._ends = np.array([index["ends"] for index in indexes], np.int64).reshape(-1, tiles + 1)
        self._sides = [
            (chunk_sides.index(side), chunk_sides.index(side) + chunk_sides.count(side))
            for side in sorted(set(chunk_sides))
        ]

    def specs(self, most: int, sides: int) -> list[TaskSpec]:
        """All tasks; each holds at most ``most`` boxes, unless a single chunk has more in the tile."""
        if len(self._sides) < sides:
            return []
        return [spec for tile in range(self._tiling.tiles) for spec in self._specs_of(tile, most)]

    def _specs_of(self, tile: int, most: int) -> Iterator[TaskSpec]:
        sizes = np.add(self._boxes[:, tile], self._shared[:, tile], dtype=np.int64)
        most = most if sizes.sum() <= most else most // 2
        blocks = [
            [(first + begin, first + end) for begin, end in grouped(sizes[first:last].tolist(), most)]
            for first, last in self._sides
        ]
        if len(blocks) > 1:
            yield from (TaskSpec(tile, a, b) for a in blocks[0] for b in blocks[1])
            return
        for k, block in enumerate(blocks[0]):
            if sizes[slice(*block)].sum() > 1:
                yield TaskSpec(tile, block, None)
            yield from (TaskSpec(tile, block, later) for later in blocks[0][k + 1 :])

    def task(self, number: int, spec: TaskSpec) -> TileTask:
        """A task with everything that it needs."""
        low, high = self._tiling.low[spec.tile], self._tiling.high[spec.tile]
        left = self._messages(spec.tile, spec.left)
        right = None if spec.right is None else self._messages(spec.tile, spec.right)
        return TileTask(number, low, high, left, right)

    def _messages(self, tile: int, chunks: tuple[int, int]) -> Numbers:
        parts = []
        for place, counts in ((tile, self._boxes), (self._tiling.tiles, self._shared)):
            numbers = chunks[0] + np.flatnonzero(counts[slice(*chunks), tile])
            ends = self._ends[numbers, place]
            begins = self._ends[numbers, place - 1] if place else np.zeros_like(ends)
            large = np.full_like(ends, counts is self._shared)
            parts.append(np.stack([numbers, begins, ends, large], axis=1))
        return np.concatenate(parts)


# ---- the boxes of a task


class Loaded(NamedTuple):
    """The boxes of a task: first the ``left`` ones of its left block, then those of its right block.

    ``labels``: for each column of the output, what it says of the boxes of its block, rows or ids.
    """

    boxes: BoxArray
    filter: PairFilter
    left: int
    labels: tuple[Any, Any]


def _load(task: TileTask, options: "JoinOptions") -> Loaded:
    """Read all boxes of a task, and mark which may pair."""
    blocks = [task.left] if task.right is None else [task.left, task.right]
    schemas = (options.schemas[0], options.schemas[-1])
    tables = [
        _read_block(block, schema, task, options) for block, schema in zip(blocks, schemas, strict=False)
    ]
    boxes = np.concatenate([boxes_in(table) for table in tables])
    left = tables[0].num_rows
    classes = began_before(boxes, task.low)
    if task.right is not None:
        classes[:left] |= IN_A
        classes[left:] |= IN_B
    rules = {
        name: np.concatenate([table.column(name).to_numpy() for table in tables])
        for name in RULE_TYPES
        if name in schemas[0].names
    }
    if "static" in rules:
        classes |= rules["static"] * STATIC
    bits = as_filter(len(boxes), None, rules.get("categories"), rules.get("masks"))
    labels = [
        table.column("id" if "id" in table.column_names else "row").combine_chunks().cast(field.type)
        for table, field in zip((tables[0], tables[-1]), options.output, strict=True)
    ]
    return Loaded(boxes, bits._replace(classes=classes), left, (labels[0], labels[1]))


def _read_block(messages: Numbers, schema: Any, task: TileTask, options: "JoinOptions") -> Any:
    """The boxes of a block, by ascending row."""
    folder = WorkFolder(Path(options.folder))
    batches, is_sorted = [], True
    for chunk, begin, end, large in messages.tolist():
        batch = read_message(folder, chunk, begin, end, schema)
        if large:
            batch = batch.filter(pa.array(touches(boxes_in(batch), task.low, task.high)))
            is_sorted = False
        batches.append(batch)
    table = pa.Table.from_batches(batches, schema)
    return table if is_sorted else table.sort_by("row")


# ---- the pairs of a task


class JoinOptions(NamedTuple):
    """The options of all tasks that join: the schemas of each side and of the output, the rules, the limits.

    A search stores at most ``most_stored`` pairs.
    """

    folder: str
    schemas: list[Any]
    output: Any
    touching: bool
    store: bool
    most_stored: int
    max_pairs: int
    threads: int


def join_tile(task: TileTask, options: JoinOptions) -> int:
    """Find the pairs of a task and write them; returns how many there are.

    Raises
    ------
    PairLimitExceeded
        There are more than ``max_pairs``; nothing of the task is kept.
    """
    folder = WorkFolder(Path(options.folder))
    loaded = _load(task, options)
    if options.store:
        mark = _write_part(folder, task.number, loaded, options)
    else:
        mark = Mark(_search(loaded, 0, loaded.left, options, store=False)[0])
    folder.save(folder.file("marks", task.number), mark=np.array(mark, np.int64))
    return mark.pairs


def _write_part(folder: WorkFolder, number: int, loaded: Loaded, options: JoinOptions) -> Mark:
    """Write all pairs to the part of the task; without pairs there is no part."""
    portions = _stored(loaded, 0, loaded.left, options)
    first = next(portions, None)
    if first is None:
        return Mark(0)
    count = 0
    with folder.appearing(folder.part(number)) as temporary:
        with closing(open_part(str(temporary), options.output)) as writer:
            for pairs, places in chain([first], portions):
                count += len(pairs)
                if count > options.max_pairs:
                    raise PairLimitExceeded(options.max_pairs)
                _write(writer, loaded, pairs, places)
        return Mark(count, *size_and_checksum(temporary))


def _stored(
    loaded: Loaded, begin: int, end: int, options: JoinOptions
) -> Iterator[tuple[PairArray, Numbers]]:
    """The pairs of the boxes ``begin .. end - 1`` of the left block, in order, in portions that fit.

    Pairs are indices into the array that comes with them, which holds numbers of boxes in the tile.
    """
    try:
        _, pairs, places = _search(loaded, begin, end, options, store=True)
    except PairLimitExceeded:
        # The count decides into how many ranges to divide; a range that holds more than its share is divided
        # again.  One box has at most one pair with each other box, and the limit allows that many.
        total, _, _ = _search(loaded, begin, end, options, store=False)
        if total > options.max_pairs:
            raise PairLimitExceeded(options.max_pairs) from None
        parts = min(end - begin, max(2, 5 * total // (4 * options.most_stored) + 1))
        for part in range(parts):
            first, last = begin + (end - begin) * part // parts, begin + (end - begin) * (part + 1) // parts
            yield from _stored(loaded, first, last, options)
        return
    if len(pairs):
        yield pairs, places


def _search(
    loaded: Loaded, begin: int, end: int, options: JoinOptions, *, store: bool
) -> tuple[int, PairArray, Numbers]:
    """How many pairs a range of the left block has; with ``store`` the pairs, as `_stored` yields them."""
    boxes, left, rules, places = loaded.boxes, loaded.left, loaded.filter, np.arange(len(loaded.boxes))
    if end - begin < left:
        crossing = left < len(boxes)
        places = np.concatenate([places[begin:end], places[left if crossing else end :]])
        boxes, rules = boxes.take(places, 0), rules_of(rules, places.astype(np.int32))
        if not crossing:
            rules.classes[end - begin :] |= LATER
    with borrowed_scratch() as scratch:
        limit = options.most_stored if store else NO_LIMIT
        task = Task(boxes, options.touching, rules, options.threads, limit, store, scratch=scratch)
        found = search("auto", task)
        pairs = one_array(found.chunks, len(boxes), not found.ordered, scratch, options.threads)
    return found.pairs, pairs, places


def _write(writer: Any, loaded: Loaded, pairs: PairArray, places: Numbers) -> None:
    """Write pairs with the labels of their boxes."""
    crossing = loaded.left < len(loaded.boxes)
    for begin in range(0, len(pairs), GROUP):
        columns = []
        for side in (0, 1):
            numbers = places.take(pairs[begin : begin + GROUP, side])
            numbers = numbers - loaded.left if side == 1 and crossing else numbers
            columns.append(loaded.labels[side].take(pa.array(numbers)))
        writer.write_table(pa.Table.from_arrays(columns, schema=writer.schema))


# ---- the output


def output_schema(schemas: Sequence[Any]) -> Any:
    """The two columns for two sides of boxes: rows as ``i`` and ``j``, ids as ``id_i`` and ``id_j``."""
    return pa.schema(
        [
            pa.field(f"id_{name}", schema.field("id").type, nullable=False)
            if "id" in schema.names
            else pa.field(name, pa.int64(), nullable=False)
            for name, schema in zip("ij", (schemas[0], schemas[-1]), strict=True)
        ]
    )


def open_part(path: str, schema: Any) -> Any:
    """A writer of a Parquet file for such columns.

    Rows are stored as differences: the first column of a part is sorted, so it nearly vanishes, and the
    second keeps as many bits as the input has rows.  Two columns of int64 take 4.4 bytes a pair, not 16.
    """
    text = [field.name for field in schema if field.type == pa.large_string()]
    numbers = {field.name: "DELTA_BINARY_PACKED" for field in schema if field.name not in text}
    return parquet.ParquetWriter(
        path,
        schema,
        compression={name: "snappy" if name in text else "none" for name in schema.names},
        use_dictionary=text or False,
        column_encoding=numbers or None,
        write_statistics=[schema.names[0]],
    )
