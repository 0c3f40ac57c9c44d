"""The join: the pairs of each tile, found by tasks that are independent of each other.

Usually a tile is one task.  A tile that holds more boxes than fit into memory, because no cut could divide
it, is joined block by block: consecutive chunks form a block, and each block is joined with itself and with
every later one.

A task reads its boxes from the chunk files (`_load`), searches them as `broadphase.pairs` would, and writes
their pairs to a Parquet file.  A search that would store more pairs than fit into memory is divided into
ranges of boxes (`_stored`).
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from broadphase.api.one_shot import search
from broadphase.errors import PairLimitExceeded
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.search import as_filter
from broadphase.kernels.boxes.overlap import IN_A, IN_B, STATIC, PairFilter, rules_of
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import NO_LIMIT, Task
from broadphase.outofcore.inputs import RULE_TYPES, boxes_in, grouped
from broadphase.outofcore.tiling import Tiling, began_before, read_message, touches
from broadphase.outofcore.work import Mark, WorkFolder, size_and_checksum
from broadphase.runtime.memory import PairArray, borrowed_scratch

LATER = np.uint8(128)
"""Class bit of the boxes after the range that is searched: they do not pair with each other."""
GROUP = 1 << 20
"""Pairs of a row group of the output."""

Numbers = npt.NDArray[np.int64]


# ---- the tasks


class TaskSpec(NamedTuple):
    """Which blocks of a tile are joined with each other: ranges of chunks."""

    tile: int
    left: tuple[int, int]
    right: tuple[int, int] | None


class Message(NamedTuple):
    """Where boxes are in the file of a chunk, and whether they are its large ones: some touch the tile."""

    chunk: int
    begin: int
    end: int
    large: int


class TileTask(NamedTuple):
    """One join: of a block with itself, or of two blocks with each other; a block is rows of `Message`."""

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
    """Read all boxes of a task, and mark which may pair: see `broadphase.outofcore.tiling`."""
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
    for message in map(Message._make, messages.tolist()):
        batch = read_message(folder, *message[:3], schema)
        if message.large:
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
