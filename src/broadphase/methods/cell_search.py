"""The steps that the uniform grid and the spatial hash share: bin the boxes, then search every cell."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray, PairArray
from broadphase.kernels.arrays.radix_sort import stable_argsort
from broadphase.kernels.cells import binning as kernel
from broadphase.kernels.cells.binning import MOST_PLACES, Cells, Layout
from broadphase.kernels.cells.search import pairs_of_one_level, pairs_with_larger, running_reach
from broadphase.methods.task import Found, Task, run_in_shares
from broadphase.slices import MOST, Work

# Where a place holds more boxes than this, sorting all boxes costs less than comparing them unsorted.
OVERFULL = 64

# Cells are of different fullness: several shares for each thread even that out.
SHARES = 8
ENOUGH_FOR_THREADS = 4_000
# What a box costs in a place beside its comparisons, counted in such.
WORK_OF_A_ROW = 50


def assign_levels(boxes: BoxArray, layout: Layout) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Level of every box, and how many boxes each level has."""
    levels = np.empty(len(boxes), np.uint8)
    population = np.zeros(len(layout.per_unit), np.int64)
    kernel.assign_levels(boxes, layout, levels, population)
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
    used, fullest = kernel.count_copies(boxes, layout, levels, starts)
    axis, order = -1, np.empty(0, np.int64)
    if fullest > OVERFULL:
        axis = sweep_axis(boxes)
        # A counting sort keeps the order in which it is fed.  NumPy would take denormals for equal where the
        # calling thread flushes them.
        order = stable_argsort(boxes[:, axis]).astype(np.int64)
    entries = np.empty(int(starts[-1]), np.int32)
    kernel.scatter_copies(boxes, layout, levels, order, starts, entries)
    return Cells(layout, levels, population, starts, entries, int(fullest), axis), int(used)


def search(task: Task, cells: Cells, used: int) -> Found:
    """Compare the boxes that share a place, then each box with the larger ones in the places above it."""
    rules = (task.boxes, task.touching, task.filter, cells)
    parts = task.threads * SHARES if task.threads > 1 and len(task.boxes) > ENOUGH_FOR_THREADS else 1

    def within(begin: int, end: int, out: PairArray) -> Any:
        return pairs_of_one_level(*rules, begin, end, out, task.limit, task.store)

    found = run_in_shares(task, len(cells.entries), within, _work_within(cells), parts=parts, cells=used)
    if np.count_nonzero(cells.population) == 1 or found.pairs > task.limit:
        return found
    reach = np.empty(len(cells.entries) if cells.axis >= 0 else 0, task.boxes.dtype)
    if cells.axis >= 0:
        running_reach(task.boxes, cells, reach)

    def upward(begin: int, end: int, out: PairArray) -> Any:
        return pairs_with_larger(*rules, reach, begin, end, out, task.limit, task.store)

    work = Work.even(len(task.boxes), WORK_OF_A_ROW + cells.fullest)
    above = run_in_shares(task, len(task.boxes), upward, work, parts=parts)
    return Found(found.chunks + above.chunks, found.pairs + above.pairs, found.tests + above.tests, used)


def _work_within(cells: Cells) -> Work:
    """A place of k entries takes k (k - 1) / 2 comparisons, unless a sweep needs fewer."""
    entries = len(cells.entries)
    each = WORK_OF_A_ROW + cells.fullest / 2
    if entries * each <= MOST:
        return Work.even(entries, each)
    starts = cells.starts[:-1].astype(np.float64)
    counts = np.diff(starts)
    return Work(starts, np.append(0.0, np.cumsum(counts * (0.5 * counts + WORK_OF_A_ROW))))


def sweep_axis(boxes: BoxArray) -> int:
    """The axis on which the fewest boxes of a sample overlap."""
    dim = boxes.shape[1] // 2
    sample = boxes[:: max(1, len(boxes) // 1024)]
    # Of two boxes, the one that begins later overlaps the other on the axis unless it begins beyond it.
    begun = [
        np.searchsorted(np.sort(sample[:, axis]), sample[:, dim + axis], "right").sum() for axis in range(dim)
    ]
    return int(np.argmin(begun))
