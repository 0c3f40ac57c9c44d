"""The boxes of a tile, read from the files of its chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from broadphase.boxes import BoxArray
from broadphase.kernels.boxes.filters import IN_A, IN_B, STATIC, PairFilter
from broadphase.outofcore.chunk_file import Columns, Segment, read_into
from broadphase.outofcore.cut import began_before, touches
from broadphase.outofcore.tasks import Block, ChunkPart, TileTask
from broadphase.outofcore.work import WorkFolder


@dataclass(slots=True)
class Loaded:
    """The boxes of a task: first those of its left block, then those of its right one."""

    boxes: BoxArray
    rows: npt.NDArray[np.int64]
    filter: PairFilter
    left: int
    """How many are of the left block."""
    ids: tuple[Any, Any]
    """What either column of the output shows instead of rows, for the boxes of its block; or None."""


def load(folder: WorkFolder, task: TileTask, columns: Sequence[Columns]) -> Loaded:
    """Read all boxes of a task, and settle which may pair: see `broadphase.outofcore.cut`."""
    blocks = [task.left] if task.right is None else [task.left, task.right]
    total = sum(block.boxes for block in blocks)
    arrays = _room(total, columns[0])
    rows = np.empty(total, np.int64)
    at, ids = 0, []
    for block in blocks:
        ids.append(_read_block(folder, block, columns[block.side], task, arrays, rows, at))
        at += block.boxes
    classes = began_before(arrays["boxes"], task.low)
    left = task.left.boxes
    if task.right is not None:
        classes[:left] |= IN_A
        classes[left:] |= IN_B
    if "static" in arrays:
        classes |= arrays["static"] * STATIC
    return Loaded(arrays["boxes"], rows, _filter(classes, arrays), left, (ids[0], ids[-1]))


def _room(total: int, columns: Columns) -> dict[str, npt.NDArray[Any]]:
    """Arrays for all columns but ids, which the sides of a join may have of different types."""
    return {
        name: np.empty((total, count) if count > 1 else total, kind)
        for name, kind, count in columns.fields
        if name != "ids"
    }


def _filter(classes: npt.NDArray[np.uint8], arrays: dict[str, npt.NDArray[Any]]) -> PairFilter:
    if "categories" not in arrays and "masks" not in arrays:
        return PairFilter(classes, np.empty(0, np.uint32), np.empty(0, np.uint32))
    n = len(classes)
    categories = arrays.get("categories")
    masks = arrays.get("masks")
    return PairFilter(
        classes,
        np.ones(n, np.uint32) if categories is None else categories,
        np.full(n, 0xFFFFFFFF, np.uint32) if masks is None else masks,
    )


def _read_block(
    folder: WorkFolder,
    block: Block,
    columns: Columns,
    task: TileTask,
    arrays: dict[str, npt.NDArray[Any]],
    rows: npt.NDArray[np.int64],
    at: int,
) -> Any:
    """Read a block into the arrays from ``at`` on; returns its ids."""
    kind = next(((kind, count) for name, kind, count in columns.fields if name == "ids"), None)
    own = dict(arrays)
    texts: list[Any] = []
    if kind is not None and kind[1] == 1:
        # As long as the others, so that one offset serves all; what is not of this block is not looked at.
        own["ids"] = np.empty(len(rows), kind[0])
    begin = at
    for part in map(ChunkPart._make, block.parts.tolist()):
        path = str(folder.chunk(part.number))
        text = read_into(Segment(path, part.copies, part.begin, part.own), columns, own, at)
        if part.shared:
            large = Segment(path, part.copies, part.copies - part.large, part.large)
            text = _add_large(part, large, columns, task, own, at, text)
        if text is not None:
            texts.append(text)
        end = at + part.own + part.shared
        np.add(own["rows"][at:end], part.first_row, out=rows[at:end], dtype=np.int64)
        at = end
    if kind is None:
        return None
    return pa.concat_arrays(texts) if kind[1] == 2 else own["ids"][begin:at]


def _add_large(
    part: ChunkPart,
    segment: Segment,
    columns: Columns,
    task: TileTask,
    arrays: dict[str, npt.NDArray[Any]],
    at: int,
    text: Any,
) -> Any:
    """Add the large boxes of a chunk that touch the tile; all of the chunk is in the order of rows then."""
    large = {name: np.empty((part.large, *values.shape[1:]), values.dtype) for name, values in arrays.items()}
    more = read_into(segment, columns, large, 0)
    near = np.flatnonzero(touches(large["boxes"], task.low, task.high))
    begin, end = at + part.own, at + part.own + part.shared
    for name, values in arrays.items():
        values[begin:end] = large[name][near]
    order = np.argsort(arrays["rows"][at:end], kind="stable")
    for values in arrays.values():
        values[at:end] = values[at:end][order]
    if more is None:
        return None
    texts = [more.take(pa.array(near))] if text is None else [text, more.take(pa.array(near))]
    return pa.concat_arrays(texts).take(pa.array(order))
