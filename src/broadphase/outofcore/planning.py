"""The plan of a call: sizes that fit into memory, the tiles, and how much disk space that takes.

The memory bound is for all tasks that run at the same time together.  Python, NumPy and pyarrow take about
150 MB a process on top of it.  A run that resumes another uses the plan of that run.
"""

import errno
import math
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from broadphase.errors import FileError
from broadphase.inputs.boxes import BoxArray
from broadphase.outofcore.inputs import (
    RULE_TYPES,
    TEXT,
    FileInfo,
    Input,
    InputFile,
    ReadOptions,
    Unit,
    batches_of,
    common_type,
    divide,
    file_info,
)
from broadphase.outofcore.request import Plan, Reporter, Request
from broadphase.outofcore.tiling import Columns, PartitionOptions, Tiling, make_tiling, spread_over
from broadphase.outofcore.work import WorkFolder, run_tasks, with_checksum

LEAST_MEMORY = 10_000
"""Bytes of a task; with less there would be more tiles than boxes."""
MOST_ROWS = 1 << 20
"""Rows of a chunk of input."""
BEST_BOXES = 400_000
"""Boxes of a tile, if memory allows: their columns and counters stay in the processor's cache."""
PAIRS_A_BOX = 4
"""A search stores at most this many pairs for each box that a task may hold; then it continues in parts."""

_MOST_UNITS = 128
"""Units from which a sample is taken; from more input, this many at regular distances."""
_SAMPLED_A_TILE = 200
_MANY_TILES = 4096
"""Above this number tiles become larger instead, as far as memory allows: every file lists each tile."""
_LEAST_SAMPLE, _MOST_SAMPLE = 20_000, 1_000_000
_MOST_COPIES = 8.0
_LETTERS = 16  # bytes assumed for a text id when memory is planned


@dataclass(frozen=True, slots=True)
class Sizes:
    """What one task may hold."""

    rows: int
    """Rows of input in a chunk."""
    boxes: int
    """Boxes in memory at a time."""
    tile: int
    """Boxes of a tile, as `make_tiling` aims for."""
    pairs: int
    """Pairs that one search may store."""


def sizes_for(memory: int, workers: int, box_bytes: int, more_bytes: int) -> Sizes:
    """What each of ``workers`` may hold, for boxes of ``box_bytes`` bytes and ``more_bytes`` of columns.

    The factors are measured at the peak of a task, with some reserve: a box is held as it was read, as two or
    three copies in strips with their class bits, and as columns; a pair as it was found, partitioned, sorted,
    and as two columns of int64.
    """
    each = memory // workers
    if each < LEAST_MEMORY:
        raise ValueError(
            f"memory={memory} leaves {each} bytes for each of {workers} workers; "
            f"give at least {LEAST_MEMORY * workers}, or fewer workers"
        )
    boxes = each // (4 * (box_bytes + 8) + 3 * more_bytes + 60 * PAIRS_A_BOX)
    rows = each // (6 * box_bytes + 3 * more_bytes + 80)
    return Sizes(
        min(max(rows, 8), MOST_ROWS, max(boxes // 2, 8)),
        max(boxes, 16),
        max(min(boxes // 2, BEST_BOXES), 8),
        PAIRS_A_BOX * max(boxes, 16),
    )


@dataclass(frozen=True)
class FullPlan:
    """All that the tasks need to know."""

    input: Input
    sizes: Sizes
    partition: PartitionOptions
    summary: Plan
    """The part that callers see."""
    chunks: list[tuple[int, int]]
    """Side and first row of every chunk, by its number."""
    buffered: int
    """Bytes of temporary files that are written already: input that can be read only once."""


def make_plan(
    request: Request,
    identity: dict[str, Any],
    files: Sequence[list[InputFile]],
    folder: WorkFolder,
    reporter: Reporter,
) -> FullPlan:
    """Inspect all files and a sample of their boxes, and plan how the work is divided.

    The plan is saved in the folder with the ``identity`` of the call, or read from there.
    """
    more = list(request.rules.values())
    infos = [
        [file_info(file, ids, more, MOST_ROWS) for file in side]
        for side, ids in zip(files, request.ids, strict=True)
    ]
    dim, dtype = common_type(files, infos)
    used = {**request.rules, **request.given}
    rules = {rule: kind for rule, kind in RULE_TYPES.items() if rule in used}
    before = folder.read_plan() if folder.plan.exists() else None
    if before is not None:
        sizes = Sizes(**before["sizes"])
    else:
        more_bytes = sum(np.dtype(kind).itemsize for kind in rules.values()) + _id_bytes(infos)
        sizes = sizes_for(request.memory, request.workers, 2 * dim * np.dtype(dtype).itemsize, more_bytes)
    input_ = divide(files, infos, sizes.rows)
    reading = ReadOptions(dim, dtype, sizes.rows, request.ids, input_.id_types, request.rules)
    if before is None:
        folder.write_json(folder.plan, with_checksum({"request": identity, "sizes": asdict(sizes)}))
    if not folder.tiling.exists():
        tile = max(sizes.tile, min(input_.total // _MANY_TILES, sizes.boxes // 2))
        sample, letters = _take_sample(request, input_, reading, tile, folder, reporter)
        tiling = make_tiling(sample, input_.total / max(len(sample), 1), tile)
        most_copies = _most_copies(sample, tiling)
        with folder.appearing(folder.tiling) as part, part.open("wb") as file:
            np.savez(file, **asdict(tiling), most_copies=most_copies, letters=letters)
    else:
        tiling, most_copies, letters = _read_tiling(folder)
    columns = tuple(Columns.of(dim, dtype, rules, kind, tiling.tiles) for kind in input_.id_types)
    chunks = [
        (unit.side, unit.first_row + begin)
        for unit in input_.units
        for begin in range(0, unit.rows, sizes.rows)
    ]
    temporary = sum(
        math.ceil(rows * most_copies * (own.width + text))
        for rows, own, text in zip(input_.rows, columns, letters, strict=True)
    )
    temporary += len(chunks) * 8 * (3 * tiling.tiles + 3)
    buffered = sum(path.stat().st_size for path in folder.buffer.rglob("*.arrow"))
    summary = Plan(
        input_.total, len(chunks), tiling.tiles, request.memory, request.workers, temporary + buffered
    )
    partition = PartitionOptions(str(folder.root), reading, tiling, columns, most_copies)
    return FullPlan(input_, sizes, partition, summary, chunks, buffered)


def _id_bytes(infos: Sequence[Sequence[FileInfo]]) -> int:
    kinds = {info.id_type for own in infos for info in own}
    return 16 + _LETTERS if TEXT in kinds else 8 if kinds - {None} else 0


def _most_copies(sample: BoxArray, tiling: Tiling) -> float:
    """How many copies of a box there may be on average: a quarter more than in the sample."""
    if not len(sample):
        return 1.0
    expected = float(spread_over(sample, tiling, _MOST_COPIES).own.sum()) / len(sample)
    return min(_MOST_COPIES, 1.25 * expected + 0.25)


def _take_sample(
    request: Request,
    input_: Input,
    reading: ReadOptions,
    tile: int,
    folder: WorkFolder,
    reporter: Reporter,
) -> tuple[BoxArray, list[float]]:
    """Boxes from all over the input, and how many letters the ids of each side have.

    Those of each unit are kept in the folder, so that a run that is killed before it has a plan gets on.
    """
    wanted = min(max(_LEAST_SAMPLE, _SAMPLED_A_TILE * input_.total // tile), _MOST_SAMPLE)
    units = input_.units
    if len(units) > _MOST_UNITS:
        units = [units[len(units) * k // _MOST_UNITS] for k in range(_MOST_UNITS)]
    rows = sum(unit.rows for unit in units)
    share = min(1.0, wanted / max(rows, 1))
    parts = {k: part for k in range(len(units)) if (part := _read_sample(folder.sample(k))) is not None}
    todo = [k for k in range(len(units)) if k not in parts]
    known = sum(units[k].rows for k in parts)
    reporter.begin("sample", rows, rows - known, done=known)

    def done(number: int, part: tuple[BoxArray, float]) -> None:
        parts[number] = part
        with folder.appearing(folder.sample(number)) as path, path.open("wb") as file:
            np.savez(file, boxes=part[0], letters=part[1])
        reporter.advance(units[number].rows, units[number].rows)

    tasks = ((k, (units[k], reading, share)) for k in todo)
    run_tasks(request.executor, request.workers, sample_unit, tasks, done)
    letters = [
        max((parts[k][1] for k, unit in enumerate(units) if unit.side == side), default=0.0)
        for side in range(len(input_.rows))
    ]
    empty = np.empty((0, 2 * reading.dim), reading.dtype)
    return np.concatenate([empty, *(parts[k][0] for k in range(len(units)))]), letters


def _read_sample(path: Path) -> tuple[BoxArray, float] | None:
    """The sample that an earlier run took from a unit; None where there is none or it is damaged."""
    try:
        with path.open("rb") as file, np.load(file) as saved:
            return saved["boxes"], float(saved["letters"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def sample_unit(unit: Unit, reading: ReadOptions, share: float) -> tuple[BoxArray, float]:
    """About ``share`` of the boxes of a unit, and how many letters its ids have."""
    random = np.random.default_rng([unit.number, unit.rows])
    taken, letters = [np.empty((0, 2 * reading.dim), reading.dtype)], 0.0
    for piece in unit.pieces:
        for batch in batches_of(piece, unit.side, reading):
            n = len(batch.boxes)
            chosen = (
                np.unique(random.integers(0, n, random.binomial(n, share))) if share < 1.0 else slice(None)
            )
            taken.append(batch.boxes[chosen].astype(reading.dtype))
            ids = batch.columns.get("ids")
            if ids is not None and not isinstance(ids, np.ndarray) and n:
                letters = max(letters, ids.nbytes / n)
    return np.concatenate(taken), letters


def _read_tiling(folder: WorkFolder) -> tuple[Tiling, float, list[float]]:
    try:
        with folder.tiling.open("rb") as file, np.load(file) as archive:
            saved = dict(archive)
        most_copies, letters = float(saved.pop("most_copies")), saved.pop("letters").tolist()
        return Tiling(**{**saved, "depth": int(saved["depth"])}), most_copies, letters
    except MemoryError:
        raise
    except Exception as error:
        raise FileError(
            f"{folder.tiling}: is damaged, so the work was removed; call again ({error})"
        ) from None


def check_disk_space(folder: WorkFolder, needed: int) -> None:
    """Raise ``OSError`` if the disk has fewer bytes free."""
    free = shutil.disk_usage(folder.root).free
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"the temporary files may take {needed / 1e9:.2f} GB and {free / 1e9:.2f} GB are free; "
            "name another folder with work=",
            str(folder.root),
        )
