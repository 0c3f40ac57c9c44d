"""A task is done: its boxes are read, searched as `broadphase.pairs` would, and their pairs written."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from broadphase.boxes import PairArray
from broadphase.errors import PairLimitExceeded
from broadphase.kernels.boxes.filters import PairFilter, rules_of
from broadphase.kernels.partition.rows import rows_of_pairs
from broadphase.memory import borrowed_scratch
from broadphase.methods.task import NO_LIMIT, Task
from broadphase.one_shot import search
from broadphase.outofcore.chunk_file import Columns
from broadphase.outofcore.files_of import file_system
from broadphase.outofcore.loading import Loaded, load
from broadphase.outofcore.parts import GROUP, open_part, schema_for
from broadphase.outofcore.tasks import TileTask
from broadphase.outofcore.work import Mark, WorkFolder, part_name
from broadphase.pair_order import one_array

LATER = np.uint8(128)
"""Class bit of the boxes behind those whose pairs are looked for: they do not pair with each other."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Joining:
    """What every task that joins has to know."""

    folder: str
    columns: tuple[Columns, ...]
    """Of each side."""
    id_types: tuple[str | None, ...]
    """Of either column of the output."""
    touching: bool
    store: bool
    most_stored: int
    """Pairs that one search may store."""
    max_pairs: int
    threads: int
    remote: str | None = None
    """Where parts go that are not to stay in the work folder."""


def join_tile(task: TileTask, how: Joining) -> int:
    """Find the pairs of a task and write them; returns how many there are.

    Raises
    ------
    PairLimitExceeded
        There are more than ``max_pairs``; nothing of the task is left.
    """
    folder = WorkFolder(Path(how.folder))
    loaded = load(folder, task, how.columns)
    mark = _written(folder, task.number, loaded, how) if how.store else Mark(_counted(loaded, how))
    folder.note(folder.mark(task.number), [mark.pairs, mark.size, mark.checksum])
    return mark.pairs


def _counted(loaded: Loaded, how: Joining) -> int:
    with borrowed_scratch() as scratch:
        asked = Task(
            loaded.boxes, how.touching, loaded.filter, how.threads, NO_LIMIT, store=False, scratch=scratch
        )
        return search("auto", asked).pairs


def _written(folder: WorkFolder, number: int, loaded: Loaded, how: Joining) -> Mark:
    """Write all pairs to the part of the task; where there is none, no part."""
    found = _stored(loaded, 0, loaded.left, how)
    first = next(found, None)
    if first is None:
        return Mark(0)
    count = 0
    path = folder.part(number)
    schema = schema_for(how.id_types)
    with folder.appearing(path) as begun:
        with closing(open_part(str(begun), schema)) as writer:
            while first is not None:
                count += len(first[0])
                if count > how.max_pairs:
                    raise PairLimitExceeded(how.max_pairs)
                _write(writer, schema, loaded, *first)
                first = next(found, None)
        mark = Mark.of(count, begun)
        if how.remote is not None:
            system, inner = file_system(how.remote)
            system.put_file(str(begun), f"{inner}/{part_name(number)}")
    if how.remote is not None:
        path.unlink()
    return mark


def _stored(
    loaded: Loaded, begin: int, end: int, how: Joining
) -> Iterator[tuple[PairArray, npt.NDArray[np.int64] | None]]:
    """The pairs of the boxes ``begin .. end - 1`` of the left block, in order, as many at a time as fit.

    With the pairs comes where in the tile the boxes stand that they number, if not just there.
    """
    try:
        pairs, places = _search(loaded, begin, end, how)
    except PairLimitExceeded:
        # How many there are tells at once into how many ranges to divide; a range that holds more than its
        # share is divided again.  One box meets no more than all others, and for so many there is room.
        total = _count(loaded, begin, end, how)
        if total > how.max_pairs:
            raise PairLimitExceeded(how.max_pairs) from None
        parts = min(end - begin, max(2, 5 * total // (4 * how.most_stored) + 1))
        for part in range(parts):
            first, last = begin + (end - begin) * part // parts, begin + (end - begin) * (part + 1) // parts
            yield from _stored(loaded, first, last, how)
        return
    if len(pairs):
        yield pairs, places


def _among(loaded: Loaded, begin: int, end: int, how: Joining) -> tuple[Any, PairFilter, Numbers | None]:
    """The boxes among which the pairs of a range of the left block are, and where in the tile they stand."""
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


def _search(loaded: Loaded, begin: int, end: int, how: Joining) -> tuple[PairArray, Numbers | None]:
    boxes, rules, places = _among(loaded, begin, end, how)
    with borrowed_scratch() as scratch:
        asked = Task(boxes, how.touching, rules, how.threads, how.most_stored, scratch=scratch)
        found = search("auto", asked)
        pairs = one_array(found.chunks, len(boxes), not found.ordered, scratch, how.threads)
    return pairs, places


def _count(loaded: Loaded, begin: int, end: int, how: Joining) -> int:
    boxes, rules, _ = _among(loaded, begin, end, how)
    with borrowed_scratch() as scratch:
        asked = Task(boxes, how.touching, rules, how.threads, store=False, scratch=scratch)
        return search("auto", asked).pairs


def _write(writer: Any, schema: Any, loaded: Loaded, pairs: PairArray, places: Numbers | None) -> None:
    for begin in range(0, len(pairs), GROUP):
        some = pairs[begin : begin + GROUP]
        if all(ids is None for ids in loaded.ids):
            rows = loaded.rows if places is None else loaded.rows.take(places)
            columns = list(np.empty((2, len(some)), np.int64))
            rows_of_pairs(some, rows, *columns)
        else:
            columns = [_column(loaded, side, some[:, side], places) for side in (0, 1)]
        arrays = [pa.array(column) if isinstance(column, np.ndarray) else column for column in columns]
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _column(loaded: Loaded, side: int, numbers: npt.NDArray[np.int32], places: Numbers | None) -> Any:
    """What a column of the output says: ids of the boxes, or their rows."""
    at = numbers if places is None else places.take(numbers)
    ids = loaded.ids[side]
    if ids is None:
        return loaded.rows.take(at)
    crossing = loaded.left < len(loaded.rows)
    own = at - loaded.left if side == 1 and crossing else at
    return ids.take(own) if isinstance(ids, np.ndarray) else ids.take(pa.array(own))
