"""The arguments of a call, checked; and its plan: sizes that fit into memory, tiles, space on disk.

The memory bound is for all tasks that run at the same time together.  Python, NumPy and pyarrow take about
150 MB a process on top of it.  A run that resumes another uses the plan of that run.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, field, replace
from time import monotonic
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from broadphase.errors import FileError, path_of
from broadphase.inputs.arrays import settled
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import count, whole
from broadphase.methods.task import pair_limit
from broadphase.outofcore.inputs import (
    RULE_TYPES,
    FileInfo,
    Input,
    InputFile,
    ReadOptions,
    boxes_in,
    divide,
    file_info,
    identity,
)
from broadphase.outofcore.tiles import PartitionOptions, Tiling, make_tiling, sample_unit, spread_over
from broadphase.outofcore.work import WorkFolder, load, run_tasks
from broadphase.runtime import threads

FORMAT = 3  # of the files in a work folder; a run does not resume the work of another version
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)

Step = Literal["copy", "sample", "partition", "join"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call is going to do, and what that takes.

    Attributes
    ----------
    boxes, tiles, workers : int
    chunks : int
        How many files of boxes the input is written to.
    memory : int
        Bytes that all tasks together may hold.
    temporary_bytes : int
        The most that the work folder takes on disk, in addition to the output.
    """

    boxes: int
    chunks: int
    tiles: int
    memory: int
    workers: int
    temporary_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.boxes:,} boxes in {self.tiles:,} tiles; at most {self.memory / 1e9:.2f} GB of memory "
            f"for {self.workers} workers, at most {self.temporary_bytes / 1e9:.2f} GB of temporary files"
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a call.

    Attributes
    ----------
    step : str
        ``"copy"``, ``"sample"``, ``"partition"`` or ``"join"``.
    done, total : int
        Boxes that were read, or joins that are done, and all; 0 if the total is unknown.
    pairs : int
        How many were found so far.
    seconds_left : float or None
        The rest of this step, estimated from the time that it took so far.
    plan : Plan or None
        What the call is going to take; known once the sample is taken.
    """

    step: Step
    done: int
    total: int
    pairs: int
    seconds_left: float | None
    plan: Plan | None


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a call that writes to a folder.

    Attributes
    ----------
    folder : str
        A folder of Parquet files.
    pairs, boxes, tiles : int
    was_done : bool
        Whether an earlier call had finished this already, and all parts are still as it wrote them.
    """

    folder: str
    pairs: int
    boxes: int
    tiles: int
    was_done: bool


class Reporter:
    """Tracks the progress of a call, and reports it to the caller's function."""

    def __init__(self, callback: Callable[[Progress], None] | None) -> None:
        self._callback = callback
        self._now = Progress("sample", 0, 0, 0, None, None)
        self._started, self._done_before = monotonic(), 0

    def begin(self, step: Step, total: int, done: int = 0, pairs: int = 0) -> None:
        """Begin a step of ``total`` parts, of which earlier runs did ``done`` and found ``pairs``."""
        self._started, self._done_before = monotonic(), done
        self._report(step=step, done=done, total=total, pairs=pairs, seconds_left=None)

    def set_plan(self, plan: Plan) -> None:
        """Report what the call is going to take."""
        self._report(plan=plan)

    def advance(self, parts: int, pairs: int = 0) -> None:
        """Count this many more parts of the step as done, and this many more pairs as found."""
        done, left = self._now.done + parts, None
        if self._now.total and done > self._done_before:
            took = monotonic() - self._started
            left = took * (self._now.total - done) / (done - self._done_before)
        self._report(done=done, pairs=self._now.pairs + pairs, seconds_left=left)

    @property
    def pairs(self) -> int:
        """The pairs that were found so far."""
        return self._now.pairs

    def _report(self, **changes: Any) -> None:
        self._now = replace(self._now, **changes)
        if self._callback is not None:
            self._callback(self._now)


@dataclass(slots=True)
class Request:
    """The arguments of one call of `pairs`, `join` or `count_pairs`; they are checked when it is made.

    ``sources`` has one source or the two sides of a join, by the name of the caller's argument, and ``ids``
    the column of each; ``rules`` become the names of columns, ``given`` those rules that are arrays.
    """

    sources: dict[str, Any]
    out: Any = None
    _: KW_ONLY
    touching: bool = True
    ids: Any = None
    static: InitVar[Any] = None
    categories: InitVar[Any] = None
    masks: InitVar[Any] = None
    memory: Any = "2 GB"
    executor: Any = None
    workers: Any = None
    work: Any = None
    max_pairs: Any = None
    progress: Callable[[Progress], None] | None = None
    store: bool = field(init=False, default=True)
    rules: dict[str, str] = field(init=False)
    given: dict[str, Any] = field(init=False)

    def __post_init__(self, static: Any, categories: Any, masks: Any) -> None:
        if self.progress is not None and not callable(self.progress):
            raise TypeError(f"progress must be a function or None; got {self.progress!r}")
        used = {"static": static, "categories": categories, "masks": masks}
        if len(self.sources) > 1 and any(value is not None for value in used.values()):
            raise ValueError("static, categories and masks are rules of one source, not of two")
        self.rules = {rule: value for rule, value in used.items() if isinstance(value, str)}
        self.given = {
            rule: settled(value, rule)
            for rule, value in used.items()
            if value is not None and rule not in self.rules
        }
        self.out = None if self.out is None else path_of(self.out, "out")
        self.touching = bool(self.touching)
        self.ids = _id_columns(self.ids, len(self.sources))
        self.memory = parse_size(self.memory)
        self.workers = worker_count(self.executor, self.workers)
        self.work = None if self.work is None else path_of(self.work, "work")
        self.max_pairs = pair_limit(self.max_pairs)


def _id_columns(ids: Any, sides: int) -> tuple[str | None, ...]:
    columns = tuple(ids) if isinstance(ids, (tuple, list)) else (ids,) * sides
    if len(columns) != sides or not all(name is None or isinstance(name, str) for name in columns):
        raise TypeError(f"ids must name a column, or in join one of each side; got {ids!r}")
    return columns


def parse_size(memory: Any) -> int:
    """A number of bytes, from an int or from text such as ``"2 GB"`` or ``"512MiB"``.

    Examples
    --------
    >>> parse_size("2 GB"), parse_size("1.5MiB"), parse_size(4096)
    (2000000000, 1572864, 4096)
    """
    if isinstance(memory, str):
        found = _SIZE.fullmatch(memory)
        if found is None:
            raise ValueError(
                f'memory={memory!r} is no size; write it as "2 GB", "512 MiB" or a number of bytes'
            )
        return int(float(found[1]) * (1024 if found[3] else 1000) ** " kmgt".index(found[2].lower() or " "))
    return whole(memory, "memory", 'a size such as "2 GB" or a number of bytes')


def worker_count(executor: Any, workers: int | None) -> int:
    """How many tasks run at the same time.

    Raises
    ------
    TypeError
        The executor has no ``submit``, or ``workers`` is not an int.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            "executor must have a method submit, as those of concurrent.futures "
            f"(of Dask: client.get_executor()); got {type(executor).__name__}"
        )
    if workers is not None:
        return count(workers, "workers", wanted="an int or None")
    client = getattr(executor, "_client", None)  # of Dask
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    return int(getattr(executor, "_max_workers", 0) or threads.cores())


def fingerprint(request: Request, files: list[list[InputFile]] | None) -> dict[str, Any]:
    """What must be equal in two calls for one to resume the work of the other.

    Without ``files`` the input was not read from files.  Such input cannot be compared with other input, so
    it counts as different each time.
    """
    if files is None:
        inputs = os.urandom(16).hex()
    else:
        inputs = digest([[identity(file) for file in side] for side in files])
    return {
        "format": FORMAT,
        "input": inputs,
        "touching": request.touching,
        "ids": list(request.ids),
        "rules": request.rules,
        "given": {
            rule: _hash(np.ascontiguousarray(values).tobytes()) for rule, values in request.given.items()
        },
        "memory": request.memory,
        "store": request.store,
    }


def digest(content: Any) -> str:
    """A short name for JSON content."""
    return _hash(json.dumps(content).encode())


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


# ---- the plan


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
_TEXT_BYTES = 32  # assumed for a text id when memory is planned
_FILE_BYTES, _COLUMN_BYTES = 1_500, 150  # what an index takes, and what a message takes for each column


class Sizes(NamedTuple):
    """What one task may hold: rows of input in a chunk, boxes in memory at a time."""

    rows: int
    boxes: int


def sizes_for(memory: int, workers: int, box_bytes: int, more_bytes: int) -> Sizes:
    """What each of ``workers`` may hold, for boxes of ``box_bytes`` bytes and ``more_bytes`` of columns.

    The factors are measured at the peak of a task, with some reserve: a box is held as it was read, as two or
    three copies in strips with their class bits, and as columns; a pair as it was found, partitioned, sorted,
    and as two columns of int64.
    """
    share = memory // workers
    if share < LEAST_MEMORY:
        raise ValueError(
            f"memory={memory} leaves {share} bytes for each of {workers} workers; "
            f"give at least {LEAST_MEMORY * workers}, or fewer workers"
        )
    boxes = share // (4 * (box_bytes + 8) + 3 * more_bytes + 60 * PAIRS_A_BOX)
    rows = share // (6 * box_bytes + 3 * more_bytes + 80)
    return Sizes(min(max(rows, 8), MOST_ROWS, max(boxes // 2, 8)), max(boxes, 16))


class FullPlan(NamedTuple):
    """All that the tasks need to know, and as ``summary`` what callers see.

    ``to_write``: the bytes of temporary files without buffered input, which is written already.
    """

    input: Input
    sizes: Sizes
    partition: PartitionOptions
    summary: Plan
    to_write: int


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
    columns = list(request.rules.values())
    infos = [
        [file_info(file, ids, columns) for file in side] for side, ids in zip(files, request.ids, strict=True)
    ]
    schemas = _schemas(request, files, infos)
    if folder.plan.exists():
        sizes = Sizes(*load(folder.plan)["sizes"].tolist())
    else:
        box = schemas[0].field("box").type
        box_bytes = box.list_size * box.value_type.bit_width // 8
        more_bytes = max(sum(map(_bytes_of, list(schema)[2:])) for schema in schemas)
        sizes = sizes_for(request.memory, request.workers, box_bytes, more_bytes)
        folder.save(folder.plan, request=json.dumps(identity), sizes=np.array(sizes, np.int64))
    input_ = divide(files, infos, sizes.rows)
    reading = ReadOptions(sizes.rows, request.ids, request.rules, schemas)
    total = sum(input_.rows)
    tile = min(sizes.boxes // 2, max(BEST_BOXES, total // _MANY_TILES))
    sample, sampled_bytes = _take_sample(request, input_, reading, tile, folder, reporter)
    if not folder.tiling.exists():
        folder.save(folder.tiling, **asdict(make_tiling(sample, total / max(len(sample), 1), tile)))
    arrays = load(folder.tiling)
    tiling = Tiling(**{**arrays, "depth": int(arrays["depth"])})
    most_copies = _most_copies(sample, tiling)
    chunks = len(input_.chunk_sides)
    to_write = chunks * _FILE_BYTES
    for schema, rows, box_bytes in zip(schemas, input_.rows, sampled_bytes, strict=True):
        box_bytes += sum(_bytes_of(field) for field in schema if field.name in ("row", *request.given))
        to_write += int(rows * most_copies * box_bytes)
        to_write += chunks * (tiling.tiles + 1) * _COLUMN_BYTES * (2 + len(schema))
    buffered = sum(path.stat().st_size for path in folder.buffer.rglob("*.*"))
    summary = Plan(total, chunks, tiling.tiles, request.memory, request.workers, to_write + buffered)
    partition = PartitionOptions(str(folder.root), reading, tiling, most_copies)
    return FullPlan(input_, sizes, partition, summary, to_write)


def _schemas(request: Request, sides: Sequence[list[InputFile]], infos: list[list[FileInfo]]) -> list[Any]:
    """How the boxes of each side are stored: in a type that suits all files, which have one dimension."""
    files = [file for side in sides for file in side]
    every = [info for side in infos for info in side]
    for file, info in zip(files, every, strict=True):
        if info.dim != every[0].dim:
            raise FileError(
                f"{file.name}: is {info.dim}-D and {files[0].name} is {every[0].dim}-D; "
                "all files must have the same dimension"
            )
    number = pa.float32() if every and all(info.single for info in every) else pa.float64()
    fields = [pa.field("box", pa.list_(number, 2 * every[0].dim if every else 4))]
    rules = [pa.field(*item) for item in RULE_TYPES.items() if item[0] in {**request.rules, **request.given}]
    schemas = []
    for ids, side in zip(request.ids, infos, strict=True):
        rows = sum(sum(info.sizes) for info in side)
        row = pa.field("row", pa.uint32() if rows <= 1 << 32 else pa.int64())
        kinds = {info.id_type for info in side}
        kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
        schemas.append(pa.schema([*fields, row, *rules, *([] if ids is None else [pa.field("id", kind)])]))
    return schemas


def _bytes_of(field: Any) -> int:
    """About how much one value of a column takes."""
    return _TEXT_BYTES if field.type == pa.large_string() else int(field.type.bit_width) // 8


def _most_copies(sample: BoxArray, tiling: Tiling) -> float:
    """How many copies of a box there may be on average: a quarter more than in the sample."""
    if not len(sample):
        return 1.0
    expected = float(spread_over(sample, tiling, _MOST_COPIES).counts.sum()) / len(sample)
    return min(_MOST_COPIES, 1.25 * expected + 0.25)


def _take_sample(
    request: Request, input_: Input, reading: ReadOptions, tile: int, folder: WorkFolder, reporter: Reporter
) -> tuple[BoxArray, list[float]]:
    """Boxes from all over the input, and how many bytes a box of each side takes with its columns.

    Those of each unit are kept in the folder, so that a run that is killed before it has a plan gets on.
    """
    wanted = min(max(_LEAST_SAMPLE, _SAMPLED_A_TILE * sum(input_.rows) // tile), _MOST_SAMPLE)
    units = input_.units
    if len(units) > _MOST_UNITS:
        units = [units[len(units) * k // _MOST_UNITS] for k in range(_MOST_UNITS)]
    rows = sum(unit.rows for unit in units)
    share = min(1.0, wanted / max(rows, 1))
    todo = [k for k in range(len(units)) if not folder.file("samples", k).exists()]
    reporter.begin("sample", rows, rows - sum(units[k].rows for k in todo))
    run_tasks(
        request.executor,
        request.workers,
        sample_unit,
        todo,
        lambda k: (k, units[k], str(folder.root), reading, share),
        lambda _, rows: reporter.advance(rows),
    )
    boxes, box_bytes = [boxes_in(reading.schemas[0].empty_table())], [0.0] * len(input_.rows)
    for k, unit in enumerate(units):
        sample = load(folder.file("samples", k))
        boxes.append(sample["boxes"])
        box_bytes[unit.side] = max(box_bytes[unit.side], float(sample["box_bytes"]))
    return np.concatenate(boxes), box_bytes
