"""What the uniform grid and the spatial hash share: filling cells, the search, and the size of cells."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray, sides_of
from broadphase.inputs.numeric import real
from broadphase.kernels import cells as kernel
from broadphase.kernels.arrays.sorting import stable_argsort
from broadphase.kernels.cells import Bins, Lattice, pairs_in_cells, pairs_of_lists
from broadphase.methods.sort_and_sweep import choose_axis
from broadphase.methods.task import Found, Task, find_in_shares
from broadphase.runtime import threads, thresholds
from broadphase.runtime.arrays import joined, rows_at
from broadphase.runtime.memory import Scratch

IdArray = npt.NDArray[np.int32]

MOST_WORK = 2**62
# The largest table: places are numbers of 32 bits.
MOST_PLACES = 2**31 - 1


def bounded_lattice(low: "FloatArray", high: "FloatArray", size: float) -> Lattice:
    """A grid of equal cells from one corner of a region to the other."""
    origin, last = np.zeros(3), np.zeros(3)
    origin[: len(low)] = low
    last[: len(low)] = np.floor((high - low) * (1.0 / size))
    return Lattice(origin, 1.0 / size, np.zeros(3), last, 0)


def endless_lattice(dim: int, size: float, slots: int) -> Lattice:
    """Cells without bounds in a hash table."""
    last = np.zeros(3)
    last[:dim] = kernel.FARTHEST
    return Lattice(np.zeros(3), 1.0 / size, -last, last, slots)


def fill(boxes: BoxArray, ids: IdArray, lattice: Lattice, axis: int = -1) -> Bins:
    """Enter boxes into the cells that they touch.

    Parameters
    ----------
    boxes : numpy.ndarray
        Rows by id.
    ids : numpy.ndarray
        Which of them, ascending.
    lattice : Lattice
        Where the cells are.
    axis : int
        The axis to sort by; -1 if they are to be sorted only where a place would hold very many.

    Returns
    -------
    Bins
    """
    order, n = ids, len(ids)
    if axis >= 0:
        # NumPy would treat denormals as equal if the calling thread flushes them to zero.
        order = rows_at(ids, stable_argsort(rows_at(np.ascontiguousarray(boxes[:, axis]), ids)))
    heads = np.zeros(lattice.slots or int((lattice.last + 1.0).prod()), np.int32)
    most = (thresholds.MANY_LARGE, thresholds.MANY_TESTS * n) if axis < 0 else (n, MOST_WORK)
    entries, reach, small, large, tally = kernel.enter(boxes, order, lattice, heads, *most)
    if tally[kernel.ENTRIES] > kernel.MOST_ENTRIES:
        raise MemoryError("the cells hold too many boxes; make them larger")
    many, few, fullest = (int(tally[slot]) for slot in (kernel.SMALL, kernel.LARGE, kernel.FULLEST))
    if few > most[0] or tally[kernel.WORK] > most[1]:
        return fill(boxes, ids, lattice, choose_axis(rows_at(boxes, ids), "auto"))
    if many == 0:
        reach[:] = 0.0  # an infinity must not become an integer
    filled, held = entries[: tally[kernel.ENTRIES]], (small[n - many :], large[n - few :])
    return Bins(lattice, heads, filled, reach, *held, axis, int(tally[kernel.PLACES]), fullest)


def search(task: Task, bins: Bins) -> Found:
    """All pairs of the boxes in cells and of the large ones: cell by cell, then by lists."""
    found = find_in_shares(
        task,
        partial(pairs_in_cells, task.boxes, task.touching, task.filter, bins),
        [(1 + begin, 1 + end) for begin, end in _shares(task, len(bins.entries) - 1)],
        cells=bins.places,
    )
    for others in (None, bins.small):
        if len(bins.large) == 0 or (others is not None and len(others) == 0) or found.pairs > task.limit:
            continue
        ids = bins.large if others is None else joined([bins.large, others])
        lists = task.boxes, task.touching, task.filter, (ids, len(bins.large), bins.axis)
        # The pairs that were found before are in the task's own scratch memory.
        rest = replace(task, limit=task.limit - found.pairs, scratch=Scratch())
        found = found.and_more(find_in_shares(rest, partial(pairs_of_lists, *lists), _shares(task, len(ids))))
    return found


def _shares(task: Task, rows: int) -> list[tuple[int, int]]:
    """All rows, for the threads of a task."""
    # Cells hold different numbers of boxes: several shares for each thread balance the load.
    return threads.shares(rows, task.threads, cost=50.0, pieces=8)


# -----------------------------------------------------------------------------------------------------------
# How large cells should be, from a sample of the boxes.
#
# The rule of thumb is a cell two to three times the size of a typical box: in much smaller cells a box is
# copied too often, in much larger ones it is compared with too many boxes that it does not overlap.


FloatArray = npt.NDArray[np.float64]

CELLS_PER_SIZE = 2.5
MOST_SAMPLED, MOST_SAMPLED_IN_A_FRAME = 1024, 256

# Beyond these, 1 / size would leave the range of float64; a few more decades are reserved for growth.
SMALLEST_CELL = 2.0**-1000
LARGEST_CELL = 2.0**1000


class Sample(NamedTuple):
    """A sample of the boxes at regular distances, without boxes that have an infinite edge."""

    lows: FloatArray
    """``(m, dim)``: lower edges."""
    highs: FloatArray
    """``(m, dim)``: upper edges."""
    boxes: int
    """How many boxes there are in all."""


def suggest_cell_size(boxes: BoxArray) -> float:
    """A cell size, positive and finite, for any boxes.

    Examples
    --------
    >>> suggest_cell_size(np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [8, 8, 9, 9]]))  # 2.5 times the middle one
    5.0
    """
    return typical_cell(take_sample(boxes))


def check_cell_size(cell_size: Any) -> float:
    """``cell_size`` as a float, if it is a positive finite number."""
    size = real(cell_size, "cell_size", "a number or None")
    if not (math.isfinite(size) and size > 0):
        raise ValueError(f"cell_size must be positive and finite; got {cell_size!r}")
    return min(max(size, SMALLEST_CELL), LARGEST_CELL)


def take_sample(boxes: BoxArray, ids: IdArray | None = None) -> Sample:
    """Some of the boxes, evenly spaced in their array: about a thousand, or 256 of those that ids name."""
    dim, count = boxes.shape[1] // 2, len(boxes) if ids is None else len(ids)
    if ids is None:
        sample = boxes[:: max(1, count // MOST_SAMPLED)].astype(np.float64)
    else:
        sample = boxes[ids[:: max(1, count // MOST_SAMPLED_IN_A_FRAME)]].astype(np.float64, copy=False)
    sample = sample[np.isfinite(sample).all(axis=1)]
    return Sample(sample[:, :dim], sample[:, dim:], count)


def typical_cell(sample: Sample) -> float:
    """Two and a half times the size of the median box, or the mean spacing if no box has a size.

    The size of a box is the side of the square (the cube) of the same content, but at least a quarter of
    its longest side: a long thin wall covers a few cells, not hundreds, and does not need cells as large as
    itself.
    """
    sides = sides_of(np.hstack((sample.lows, sample.highs)))
    longest = sides.max(axis=1, keepdims=True)
    sized = (longest[:, 0] > 0) & (longest[:, 0] < np.inf)
    sides, longest = sides[sized], longest[sized]
    # Ratios to the longest side: their product cannot overflow.
    content = (sides / longest).prod(axis=1) ** (1 / sides.shape[1])
    sizes = longest[:, 0] * np.maximum(content, 0.25)
    if len(sizes):
        middle = float(np.partition(sizes, len(sizes) // 2)[len(sizes) // 2])
        return min(max(CELLS_PER_SIZE * middle, SMALLEST_CELL), LARGEST_CELL)
    low, high = world_of(sample)
    width = float((high - low).max())
    return max(width / sample.boxes ** (1 / len(low)), SMALLEST_CELL) if width > 0 else 1.0


def at_most(most_cells: int, size: float, world: tuple[FloatArray, FloatArray]) -> float:
    """The cell size nearest above ``size`` with which the world has at most ``most_cells`` cells."""
    low, high = world
    return max(size, side_for((high - low).tolist(), max(1, most_cells)))


def side_for(lengths: Sequence[float], cells: float) -> float:
    """The side of cells of which this many fill a world of these lengths; an axis shorter than that has one.

    Examples
    --------
    >>> [round(side_for(lengths, 4), 9) for lengths in ([4.0, 9.0], [0.5, 8.0])]
    [3.0, 2.0]
    """
    long, side = [length for length in lengths if length > 0.0], 0.0
    while long:
        side = math.exp((sum(map(math.log, long)) - math.log(cells)) / len(long))
        if len(long) == 1 or min(long) >= side:
            return side
        long = [length for length in long if length >= side]
    return side  # rounded up beyond the longest axis: one cell


def world_of(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Low and high corner of the region of nearly all boxes.

    One box in twenty may be outside on each side, so that outliers do not stretch the grid; a margin
    includes boxes only just outside again.
    """
    if len(sample.lows) == 0:
        return np.zeros(sample.lows.shape[1]), np.zeros(sample.lows.shape[1])
    strays = len(sample.lows) // 20
    low = np.partition(sample.lows, strays, axis=0)[strays].clip(-LARGEST_CELL, LARGEST_CELL)
    high = np.partition(sample.highs, -1 - strays, axis=0)[-1 - strays].clip(-LARGEST_CELL, LARGEST_CELL)
    high = np.maximum(low, high)
    if strays:
        margin = (high - low) * 0.06
        low, high = low - margin, high + margin
    return low, high
