"""What the uniform grid and the spatial hash share: the size of cells, binning, and the search."""

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.kernels.arrays.sorting import pieces, stable_argsort
from broadphase.kernels.cells import one_shot as kernel
from broadphase.kernels.cells.one_shot import (
    MOST_PLACES,
    TOGETHER,
    Cells,
    Layout,
    make_block,
    pairs_of_one_level,
    pairs_with_larger,
    running_reach,
)
from broadphase.methods.task import Found, Task, search_in_shares
from broadphase.numeric import readable, real
from broadphase.runtime import threads
from broadphase.runtime.slices import Resumable, paced, ranges

# -----------------------------------------------------------------------------------------------------------
# The steps that the uniform grid and the spatial hash share: bin the boxes, then search every cell.


# If a place holds more boxes than this, sorting all boxes costs less than comparing them unsorted.
OVERFULL = 64

# Cells hold different numbers of boxes: several shares for each thread balance the load.
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
        # A counting sort keeps the order of its input.  NumPy would treat denormals as equal if the calling
        # thread flushes them to zero.
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
    """All places, in ranges with about equally many entries."""
    places, entries = len(starts) - 2, int(starts[-1])
    cuts = np.array([entries * part // parts for part in range(1, parts)], starts.dtype)
    return list(pairwise([0, *np.searchsorted(starts[:places], cuts).tolist(), places]))


def sweep_axis(boxes: BoxArray) -> int:
    """The axis on which the fewest boxes of a sample overlap."""
    dim = boxes.shape[1] // 2
    sample = boxes[:: max(1, len(boxes) // 1024)]
    # Of two boxes, the one that begins later overlaps the other on the axis unless it begins beyond its end.
    begun = [
        np.searchsorted(np.sort(sample[:, axis]), sample[:, dim + axis], "right").sum() for axis in range(dim)
    ]
    return int(np.argmin(begun))


# -----------------------------------------------------------------------------------------------------------
# How large cells should be, from a sample of the boxes.
#
# The rule of thumb is a cell two to three times the size of a typical box: in much smaller cells a box is
# copied too often, in much larger ones it is compared with too many boxes that it does not overlap.


FloatArray = npt.NDArray[np.float64]

CELLS_PER_SIZE = 2.5
MOST_SAMPLED = 1024

# Beyond these, 1 / size would leave the range of float64; a few more decades are reserved for growth.
SMALLEST_CELL = 2.0**-1000
LARGEST_CELL = 2.0**1000


class CellSize(NamedTuple):
    """A cell size and the reason for it."""

    size: float
    reason: str


class Sample(NamedTuple):
    """A sample of the boxes at regular distances, without boxes that have an infinite edge."""

    lows: FloatArray
    """``(m, dim)``: lower edges."""
    highs: FloatArray
    """``(m, dim)``: upper edges."""
    boxes: int
    """How many boxes there are in all."""

    @property
    def longest(self) -> FloatArray:
        """``(m,)``: the longest side of each box."""
        longest: FloatArray = _sides(self).max(axis=1)
        return longest


def suggest_cell_size(boxes: BoxArray) -> CellSize:
    """Suggest a cell size for any boxes, and say why.

    Parameters
    ----------
    boxes : numpy.ndarray
        ``(n, 4)`` or ``(n, 6)``, checked.

    Returns
    -------
    CellSize
        ``size`` is positive and finite, ``reason`` a sentence for readers.

    Examples
    --------
    >>> size, reason = suggest_cell_size(np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [8, 8, 9, 9]]))
    >>> size, reason
    (5.0, '2.5 times the size of the middle box, 2')
    """
    return typical_cell(take_sample(boxes))


def check_cell_size(cell_size: Any) -> float:
    """``cell_size`` as a float, if it is a positive finite number."""
    size = real(cell_size, "cell_size", "a number or None")
    if not (math.isfinite(size) and size > 0):
        raise ValueError(f"cell_size must be positive and finite; got {cell_size!r}")
    return min(max(size, SMALLEST_CELL), LARGEST_CELL)


def take_sample(boxes: BoxArray) -> Sample:
    """At most about a thousand of the boxes, evenly spaced in their array."""
    dim = boxes.shape[1] // 2
    some = boxes[:: max(1, len(boxes) // MOST_SAMPLED)].astype(np.float64)
    some = some[np.isfinite(some).all(axis=1)]
    return Sample(some[:, :dim], some[:, dim:], len(boxes))


def typical_cell(sample: Sample) -> CellSize:
    """Two and a half times the size of the median box, or the mean spacing if no box has a size.

    The size of a box is the side of the square (the cube) of the same content, but at least a quarter of
    its longest side: a long thin wall covers a few cells, not hundreds, and does not need cells as large as
    itself.
    """
    sides = _sides(sample)
    longest = sides.max(axis=1, keepdims=True)
    sized = (longest[:, 0] > 0) & (longest[:, 0] < np.inf)
    sides, longest = sides[sized], longest[sized]
    # Ratios to the longest side: their product cannot overflow.
    content = (sides / longest).prod(axis=1) ** (1 / sides.shape[1])
    sizes = longest[:, 0] * np.maximum(content, 0.25)
    if len(sizes):
        middle = float(np.partition(sizes, len(sizes) // 2)[len(sizes) // 2])
        return CellSize(
            min(max(CELLS_PER_SIZE * middle, SMALLEST_CELL), LARGEST_CELL),
            f"{CELLS_PER_SIZE:g} times the size of the middle box, {readable(middle)}",
        )
    low, high = world_of(sample)
    width = float((high - low).max())
    if width > 0:
        spacing = width / sample.boxes ** (1 / len(low))
        return CellSize(max(spacing, SMALLEST_CELL), "the mean spacing: no box that was looked at has a size")
    return CellSize(1.0, "any would do: the boxes that were looked at have neither sizes nor distances")


def grid_cell(sample: Sample, world: tuple[FloatArray, FloatArray], most_cells: int) -> CellSize:
    """`typical_cell`, raised until the grid has no more than ``most_cells`` cells."""
    size, reason = typical_cell(sample)
    raised = at_most(most_cells, size, world)
    if raised > size:
        reason = f"as small as {most_cells} cells allow; {reason}, would be {readable(size)}"
    return CellSize(raised, reason)


def at_most(most_cells: int, size: float, world: tuple[FloatArray, FloatArray]) -> float:
    """The cell size nearest above ``size`` with which the world has at most ``most_cells`` cells."""
    widths = world[1] - world[0]
    while True:
        cells = float((np.log2(np.maximum(widths, size)) - math.log2(size)).sum())  # their logarithm
        excess = cells - math.log2(max(1, most_cells))
        # After some iterations only a rounding error remains.
        if excess <= 1e-9:
            return size
        long_axes = int((widths > size).sum())
        size *= 2.0 ** min(excess / long_axes, 1000.0)


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


def level_sizes(finest: float, sample: Sample, most_levels: int = 15) -> FloatArray:
    """Cell sizes of the levels, from ``finest`` up: about a factor of four apart, more where sizes jump.

    Three levels beyond the largest sampled box are for larger boxes that the sample missed.
    """
    longest = np.sort(sample.longest.clip(0, LARGEST_CELL))
    most_above = most_levels - 4
    factor = 4.0
    if len(longest) and longest[-1] > finest:
        factor = max(factor, 2.0 ** ((math.log2(longest[-1]) - math.log2(finest)) / most_above))
    sizes = [finest]
    while len(sizes) <= most_above:
        at = int(np.searchsorted(longest, sizes[-1], "right"))
        if at == len(longest):
            break
        sizes.append(min(max(factor * sizes[-1], float(longest[at])), LARGEST_CELL))
    sizes += [min(sizes[-1] * 8.0**beyond, LARGEST_CELL) for beyond in (1, 2, 3)]
    return np.array(sizes)


def _sides(sample: Sample) -> FloatArray:
    with np.errstate(over="ignore"):  # an infinite side counts as one
        sides: FloatArray = np.subtract(sample.highs, sample.lows)
    return sides
