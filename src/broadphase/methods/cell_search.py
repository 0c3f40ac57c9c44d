"""The steps that the uniform grid and the spatial hash share: bin the boxes, then search every cell."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import BoxArray
from broadphase.kernels.arrays.pieces import pieces
from broadphase.kernels.arrays.radix_sort import stable_argsort
from broadphase.kernels.cells import binning as kernel
from broadphase.kernels.cells.binning import MOST_PLACES, Cells, Layout
from broadphase.kernels.cells.search import (
    TOGETHER,
    make_block,
    pairs_of_one_level,
    pairs_with_larger,
    running_reach,
)
from broadphase.methods.task import Found, Task, search_in_shares
from broadphase.slices import Resumable, paced, ranges

# Where a place holds more boxes than this, sorting all boxes costs less than comparing them unsorted.
OVERFULL = 64

# Cells are of different fullness: several shares for each thread even that out.
SHARES = 8
ENOUGH_FOR_THREADS = 4_000


def assign_levels(boxes: BoxArray, layout: Layout) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Level of every box, and how many boxes each level has."""
    levels = np.empty(len(boxes), np.uint8)
    population = np.zeros(len(layout.per_unit), np.int64)
    for begin, end in pieces(len(boxes)):
        kernel.assign_levels(boxes, layout, levels, population, begin, end)
    return levels, population


def enter(
    boxes: BoxArray,
    layout: Layout,
    levels: npt.NDArray[np.uint8],
    population: npt.NDArray[np.int64],
) -> tuple[Cells, int]:
    """Enter every box into the places that it touches, by a counting sort; also how many are in use."""
    # 32 bits are enough for the copies of all but the very largest scenes, and halve the table.
    index = np.int32 if len(boxes) * MOST_PLACES < 2**31 else np.int64
    starts: npt.NDArray[Any] = np.zeros(int(layout.offsets[-1]) + 2, index)
    places = np.empty(MOST_PLACES, np.int64)
    for begin, end in paced(0, len(boxes)):
        kernel.count_copies(boxes, layout, levels, starts, places, begin, end)
    used = fullest = 0
    for begin, end in ranges(2, len(starts)):
        more, most = kernel.add_up(starts, begin, end)
        used, fullest = used + more, max(fullest, most)
    axis, order = -1, np.empty(0, np.int32)
    if fullest > OVERFULL:
        axis = sweep_axis(boxes)
        # A counting sort keeps the order in which it is fed.  NumPy would take denormals for equal where the
        # calling thread flushes them.
        order = stable_argsort(boxes[:, axis])
    entries = np.empty(int(starts[-1]), np.int32)
    for begin, end in paced(0, len(boxes)):
        kernel.scatter_copies(boxes, layout, levels, order, starts, entries, places, begin, end)
    return Cells(layout, levels, population, starts, entries, int(fullest), axis), int(used)


def search(task: Task, cells: Cells, used: int) -> Found:
    """Compare the boxes that share a place, then each box with the larger ones in the places above it."""
    boxes = task.boxes
    rules = (boxes, task.touching, task.filter, cells)
    parts = task.threads * SHARES if task.threads > 1 and len(boxes) > ENOUGH_FOR_THREADS else 1

    def within() -> Resumable:
        return partial(
            pairs_of_one_level, *rules, make_block(boxes.shape[1], max(1, cells.fullest), boxes.dtype)
        )

    found = search_in_shares(task, within, _equal_places(cells.starts, parts), (0, 0, 0), cells=used)
    if np.count_nonzero(cells.population) == 1 or found.pairs > task.limit:
        return found
    reach = np.empty(len(cells.entries) if cells.axis >= 0 else 0, boxes.dtype)
    for begin, end in paced(0, len(reach)):
        running_reach(boxes, cells, reach, begin, end)

    def upward() -> Resumable:
        return partial(pairs_with_larger, *rules, reach, np.empty(TOGETHER, np.int32))

    rest = replace(task, limit=task.limit - found.pairs)
    above = search_in_shares(rest, upward, threads.shares(len(boxes), parts), (0, 0, 0))
    return Found(found.chunks + above.chunks, found.pairs + above.pairs, found.tests + above.tests, used)


def _equal_places(starts: npt.NDArray[Any], parts: int) -> list[tuple[int, int]]:
    """All places, cut into ranges with about equally many entries."""
    places, entries = len(starts) - 2, int(starts[-1])
    cuts = np.array([entries * part // parts for part in range(1, parts)], starts.dtype)
    return list(pairwise([0, *np.searchsorted(starts[:places], cuts).tolist(), places]))


def sweep_axis(boxes: BoxArray) -> int:
    """The axis on which the fewest boxes of a sample overlap."""
    dim = boxes.shape[1] // 2
    sample = boxes[:: max(1, len(boxes) // 1024)]
    # Of two boxes, the one that begins later overlaps the other on the axis unless it begins beyond it.
    begun = [
        np.searchsorted(np.sort(sample[:, axis]), sample[:, dim + axis], "right").sum() for axis in range(dim)
    ]
    return int(np.argmin(begun))
