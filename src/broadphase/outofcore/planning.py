"""The plan of a call: sizes that fit into memory, the tiles, and how much disk space that takes.

The memory bound is for all tasks that run at the same time together.  Python, NumPy and pyarrow take about
150 MB a process on top of it.  A run that resumes another uses the plan of that run.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from broadphase.errors import FileError
from broadphase.inputs.boxes import BoxArray
from broadphase.outofcore.inputs import (
    RULE_TYPES,
    FileInfo,
    Input,
    InputFile,
    ReadOptions,
    boxes_in,
    divide,
    file_info,
)
from broadphase.outofcore.request import Plan, Reporter, Request
from broadphase.outofcore.tiling import PartitionOptions, Tiling, make_tiling, sample_unit, spread_over
from broadphase.outofcore.work import WorkFolder, load, run_tasks

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
