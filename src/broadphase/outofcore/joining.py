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
from dataclasses import dataclass
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
from broadphase.inputs.rules import as_filter
from broadphase.kernels.boxes.overlap import IN_A, IN_B, STATIC, PairFilter, rules_of
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import Task
from broadphase.outofcore.inputs import TEXT, file_system, grouped
from broadphase.outofcore.tiling import Columns, Counts, Tiling, began_before, read_copies, touches
from broadphase.outofcore.work import Mark, WorkFolder, part_name
from broadphase.runtime.memory import PairArray, borrowed_scratch

LATER = np.uint8(128)
"""Class bit of the boxes after the range that is searched: they do not pair with each other."""
GROUP = 1 << 20
"""Pairs of a row group of the output."""

Numbers = npt.NDArray[np.int64]


# ---- the tasks


class ChunkPart(NamedTuple):
    """The boxes of one chunk that a tile needs; a row of `Block.parts`."""

    number: int
    first_row: int
    copies: int
    """The numbers of all tiles, in the file of the chunk."""
    begin: int
    own: int
    large: int
    """How many large boxes the file ends with; 0 if none of them touches the tile."""
    shared: int
    """How many of those touch the tile."""
    check: int
    """The checksum of its own boxes."""
    large_check: int


class Block(NamedTuple):
    """Boxes of one side, by ascending row."""

    side: int
    parts: Numbers
    """One `ChunkPart` for each row."""

    @property
    def boxes(self) -> int:
        """How many boxes there are."""
        return int(self.parts[:, 4].sum() + self.parts[:, 6].sum())


class TaskSpec(NamedTuple):
    """Which blocks of a tile are joined with each other: ranges among the chunks of a side."""

    tile: int
    left: tuple[int, int]
    right: tuple[int, int] | None
    boxes: int


@dataclass(frozen=True, slots=True)
class TileTask:
    """One join: of a block with itself, or of two blocks with each other."""

    number: int
    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    left: Block
    right: Block | None


class ChunkTable:
    """The chunks of all input, and how many boxes of each are in every tile.

    Parameters
    ----------
    chunks : sequence
        Side and first row of each.
    counts : sequence
        What `read_counts` reads of each.
    sides, tiles : int
    """

    def __init__(
        self,
        chunks: Sequence[tuple[int, int]],
        counts: Sequence[Counts],
        sides: int,
        tiles: int,
    ) -> None:
        # 16 bytes for each chunk in each tile: 40 MB for a billion boxes.
        self._checks = np.array([count.checks for count in counts], np.uint32).reshape(-1, tiles + 1)
        self._own = np.array([count.own for count in counts], np.int32).reshape(-1, tiles + 1)
        self._ends = np.cumsum(self._own, axis=1, dtype=np.int32)
        self._shared = np.array([count.shared for count in counts], np.int32).reshape(-1, tiles)
        self._first_rows = np.array([first for _, first in chunks], np.int64)
        of_side = np.array([side for side, _ in chunks])
        self._sides = [np.flatnonzero(of_side == side) for side in range(sides)]

    def specs(self, most: int) -> list[TaskSpec]:
        """All tasks; each holds at most ``most`` boxes, unless a single chunk has more in the tile."""
        return [spec for tile in range(self._shared.shape[1]) for spec in self._of_tile(tile, most)]

    def _boxes(self, tile: int) -> Numbers:
        return np.add(self._own[:, tile], self._shared[:, tile], dtype=np.int64)

    def _of_tile(self, tile: int, most: int) -> Iterator[TaskSpec]:
        total = int(self._boxes(tile).sum())
        share = total if total <= most else most // 2
        left = self._blocks(tile, 0, share)
        if len(self._sides) > 1:
            for a, size_a in left:
                for b, size_b in self._blocks(tile, 1, share):
                    yield TaskSpec(tile, a, b, size_a + size_b)
            return
        for k, (block, size) in enumerate(left):
            if size > 1:
                yield TaskSpec(tile, block, None, size)
            for later, size_later in left[k + 1 :]:
                yield TaskSpec(tile, block, later, size + size_later)

    def _blocks(self, tile: int, side: int, most: int) -> list[tuple[tuple[int, int], int]]:
        """Ranges of chunks with at most ``most`` boxes in the tile, or of one chunk; and how many boxes."""
        sizes = self._boxes(tile)[self._sides[side]].tolist()
        return [((begin, end), sum(sizes[begin:end])) for begin, end in grouped(sizes, most)]

    def task(self, number: int, spec: TaskSpec, tiling: Tiling) -> TileTask:
        """A task with everything that it needs."""
        left = self._block(spec.tile, 0, spec.left)
        right = None if spec.right is None else self._block(spec.tile, len(self._sides) - 1, spec.right)
        return TileTask(number, tiling.low[spec.tile], tiling.high[spec.tile], left, right)

    def _block(self, tile: int, side: int, chunks: tuple[int, int]) -> Block:
        numbers = self._sides[side][slice(*chunks)]
        numbers = numbers[self._boxes(tile)[numbers] > 0]
        count, shared = self._own[numbers, tile], self._shared[numbers, tile]
        return Block(
            side,
            np.stack(
                [
                    numbers,
                    self._first_rows[numbers],
                    self._ends[numbers, -1],
                    self._ends[numbers, tile] - count,
                    count,
                    np.where(shared > 0, self._own[numbers, -1], 0),
                    shared,
                    self._checks[numbers, tile],
                    self._checks[numbers, -1],
                ],
                axis=1,
            ),
        )


# ---- the boxes of a task


@dataclass(slots=True)
class Loaded:
    """The boxes of a task: first those of its left block, then those of its right block."""

    boxes: BoxArray
    rows: npt.NDArray[np.int64]
    filter: PairFilter
    left: int
    """How many boxes belong to the left block."""
    ids: tuple[Any, Any]
    """For each column of the output, the ids of the boxes of its block; None for row numbers."""


def _load(folder: WorkFolder, task: TileTask, columns: Sequence[Columns]) -> Loaded:
    """Read all boxes of a task, and mark which may pair: see `broadphase.outofcore.tiling`."""
    blocks = [task.left] if task.right is None else [task.left, task.right]
    total = sum(block.boxes for block in blocks)
    # Ids have arrays of their own: those of the two sides of a join may be of different types.
    arrays = {
        name: np.empty((total, count) if count > 1 else total, kind)
        for name, kind, count in columns[0].fields
        if name != "ids"
    }
    rows = np.empty(total, np.int64)
    at, ids = 0, []
    for block in blocks:
        own = {name: values[at : at + block.boxes] for name, values in arrays.items()}
        ids.append(_read_block(folder, block, columns[block.side], task, own, rows[at : at + block.boxes]))
        at += block.boxes
    classes = began_before(arrays["boxes"], task.low)
    left = task.left.boxes
    if task.right is not None:
        classes[:left] |= IN_A
        classes[left:] |= IN_B
    if "static" in arrays:
        classes |= arrays["static"] * STATIC
    rules = as_filter(total, None, arrays.get("categories"), arrays.get("masks"))._replace(classes=classes)
    return Loaded(arrays["boxes"], rows, rules, left, (ids[0], ids[-1]))


def _read_block(
    folder: WorkFolder,
    block: Block,
    columns: Columns,
    task: TileTask,
    arrays: dict[str, npt.NDArray[Any]],
    rows: npt.NDArray[np.int64],
) -> Any:
    """Read a block into arrays of its length; returns its ids."""
    id_field = next(((kind, count) for name, kind, count in columns.fields if name == "ids"), None)
    if id_field is not None and not columns.text_ids:
        arrays = {**arrays, "ids": np.empty(len(rows), id_field[0])}
    texts: list[Any] = []
    at = 0
    for part in map(ChunkPart._make, block.parts.tolist()):
        end = at + part.own + part.shared
        own = {name: values[at:end] for name, values in arrays.items()}
        texts.append(_read_part(folder.chunk(part.number), part, columns, task, own))
        np.add(own["rows"], part.first_row, out=rows[at:end], dtype=np.int64)
        at = end
    return pa.concat_arrays(texts) if columns.text_ids else arrays.get("ids")


def _read_part(
    path: Path, part: ChunkPart, columns: Columns, task: TileTask, arrays: dict[str, npt.NDArray[Any]]
) -> Any:
    """Read the boxes of one chunk, by ascending row; returns ids that are text."""
    text = read_copies(path, part.copies, part.begin, part.own, part.check, columns, arrays)
    if not part.shared:
        return text
    large = {name: np.empty((part.large, *values.shape[1:]), values.dtype) for name, values in arrays.items()}
    first = part.copies - part.large
    large_text = read_copies(path, part.copies, first, part.large, part.large_check, columns, large)
    near = np.flatnonzero(touches(large["boxes"], task.low, task.high))
    for name, values in arrays.items():
        values[part.own :] = large[name][near]
    order = np.argsort(arrays["rows"], kind="stable")
    for values in arrays.values():
        values[:] = values[order]
    if not columns.text_ids:
        return None
    return pa.concat_arrays([text, large_text.take(pa.array(near))]).take(pa.array(order))


# ---- the pairs of a task


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """The options of all tasks that join."""

    folder: str
    columns: tuple[Columns, ...]
    """Of each side."""
    id_types: tuple[str | None, ...]
    """Of the two columns of the output."""
    touching: bool
    store: bool
    most_stored: int
    """Pairs that one search may store."""
    max_pairs: int
    threads: int
    remote: str | None = None
    """The remote folder to which parts are moved from the work folder."""


def join_tile(task: TileTask, options: JoinOptions) -> int:
    """Find the pairs of a task and write them; returns how many there are.

    Raises
    ------
    PairLimitExceeded
        There are more than ``max_pairs``; nothing of the task is kept.
    """
    folder = WorkFolder(Path(options.folder))
    loaded = _load(folder, task, options.columns)
    if options.store:
        mark = _write_part(folder, task.number, loaded, options)
    else:
        mark = Mark(_count(loaded, 0, loaded.left, options))
    folder.write_json(folder.mark(task.number), [mark.pairs, mark.size, mark.checksum])
    return mark.pairs


def _write_part(folder: WorkFolder, number: int, loaded: Loaded, options: JoinOptions) -> Mark:
    """Write all pairs to the part of the task; without pairs there is no part."""
    found = _stored(loaded, 0, loaded.left, options)
    first = next(found, None)
    if first is None:
        return Mark(0)
    count = 0
    path = folder.part(number)
    schema = schema_for(options.id_types)
    with folder.appearing(path) as temporary:
        with closing(open_part(str(temporary), schema)) as writer:
            for pairs, places in chain([first], found):
                count += len(pairs)
                if count > options.max_pairs:
                    raise PairLimitExceeded(options.max_pairs)
                _write(writer, schema, loaded, pairs, places)
        mark = Mark.of(count, temporary)
        if options.remote is not None:
            system, inner = file_system(options.remote)
            system.put_file(str(temporary), f"{inner}/{part_name(number)}")
    if options.remote is not None:
        path.unlink()
    return mark


def _stored(
    loaded: Loaded, begin: int, end: int, options: JoinOptions
) -> Iterator[tuple[PairArray, npt.NDArray[np.int64] | None]]:
    """The pairs of the boxes ``begin .. end - 1`` of the left block, in order, in portions that fit.

    Pairs are numbers of boxes in the tile; or indices into the array that comes with them, which holds the
    numbers in the tile.
    """
    try:
        pairs, places = _search(loaded, begin, end, options)
    except PairLimitExceeded:
        # The count decides into how many ranges to divide; a range that holds more than its share is divided
        # again.  One box has at most one pair with each other box, and the limit allows that many.
        total = _count(loaded, begin, end, options)
        if total > options.max_pairs:
            raise PairLimitExceeded(options.max_pairs) from None
        parts = min(end - begin, max(2, 5 * total // (4 * options.most_stored) + 1))
        for part in range(parts):
            first, last = begin + (end - begin) * part // parts, begin + (end - begin) * (part + 1) // parts
            yield from _stored(loaded, first, last, options)
        return
    if len(pairs):
        yield pairs, places


def _among(
    loaded: Loaded, begin: int, end: int, options: JoinOptions
) -> tuple[Any, PairFilter, Numbers | None]:
    """The boxes to search for the pairs of a range of the left block, and their numbers in the tile."""
    n, left = len(loaded.boxes), loaded.left
    if end - begin == left:
        return loaded.boxes, loaded.filter, None
    crossing = left < n
    others = np.arange(left, n) if crossing else np.arange(end, n)
    places = np.concatenate([np.arange(begin, end), others])
    rules = rules_of(loaded.filter, places.astype(np.int32))
    if not crossing:
        rules.classes[end - begin :] |= LATER
    return loaded.boxes.take(places, 0), rules, places


def _search(loaded: Loaded, begin: int, end: int, options: JoinOptions) -> tuple[PairArray, Numbers | None]:
    boxes, rules, places = _among(loaded, begin, end, options)
    with borrowed_scratch() as scratch:
        task = Task(boxes, options.touching, rules, options.threads, options.most_stored, scratch=scratch)
        found = search("auto", task)
        pairs = one_array(found.chunks, len(boxes), not found.ordered, scratch, options.threads)
    return pairs, places


def _count(loaded: Loaded, begin: int, end: int, options: JoinOptions) -> int:
    boxes, rules, _ = _among(loaded, begin, end, options)
    with borrowed_scratch() as scratch:
        task = Task(boxes, options.touching, rules, options.threads, store=False, scratch=scratch)
        return search("auto", task).pairs


def _write(writer: Any, schema: Any, loaded: Loaded, pairs: PairArray, places: Numbers | None) -> None:
    for begin in range(0, len(pairs), GROUP):
        some = pairs[begin : begin + GROUP]
        columns = [_column(loaded, side, some[:, side], places) for side in (0, 1)]
        arrays = [pa.array(column) if isinstance(column, np.ndarray) else column for column in columns]
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _column(loaded: Loaded, side: int, numbers: npt.NDArray[np.int32], places: Numbers | None) -> Any:
    """A column of the output: the ids of the boxes, or their rows."""
    at = numbers if places is None else places.take(numbers)
    ids = loaded.ids[side]
    if ids is None:
        return loaded.rows.take(at)
    crossing = loaded.left < len(loaded.rows)
    own = at - loaded.left if side == 1 and crossing else at
    return ids.take(own) if isinstance(ids, np.ndarray) else ids.take(pa.array(own))


# ---- the output


def schema_for(id_types: Sequence[str | None]) -> Any:
    """The two columns: rows as ``i`` and ``j``, ids as ``id_i`` and ``id_j``."""
    return pa.schema(
        [
            pa.field(name if kind is None else f"id_{name}", _type(kind), nullable=False)
            for name, kind in zip("ij", id_types, strict=True)
        ]
    )


def _type(kind: str | None) -> Any:
    if kind == TEXT:
        return pa.large_string()
    return pa.int64() if kind is None else pa.type_for_alias(kind)


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
