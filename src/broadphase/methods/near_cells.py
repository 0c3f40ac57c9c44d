"""Points sorted into cells that are no narrower than the search distance.

Even cells over all the world, row by row, where there are about as many of them as points; else (a few points
far away, worlds of their own sizes, crowds much closer than the points are on average) a table of cells.

Cost: linear in points and in comparisons, three to eight for each neighbour.  It loses where radii
differ much: cells are as wide as two of the largest.  A few giants are taken apart
(`broadphase.methods.near_mixed`).
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.kernels.arrays.counting import starts_from_counts
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.lattice import BLOCK, count_cells, place_points
from broadphase.memory import Scratch
from broadphase.points import Numbers, Points, Question
from broadphase.slices import paced

Floats = npt.NDArray[np.float64]

ENOUGH_FOR_THREADS = 20_000
# So much wider than the distance that rounding never puts two points that near into cells apart.
_WIDER = 1.0 + 2.0**-9
_LAST_CELL = 2.0**41
_NARROWEST, _WIDEST = 1e-290, 1e290
# Cells for each point, at most; a point that shares its cell with so many more than expected is in a crowd.
_CELLS_EACH = 1.0
_CROWDED = 12.0
_TABLE_EACH = 4
_SAMPLE = 1024
_FINEST = 2.0**-20


class Grid(NamedTuple):
    """See `broadphase.kernels.points.lattice`."""

    rows: Floats
    steps: tuple[int, int, int]
    blocks: int
    slots: int
    wider: bool
    """Whether the cells are wider than they need be."""


class Cells(NamedTuple):
    """Points by cells."""

    grid: Grid
    columns: Points
    own: Numbers
    starts: npt.NDArray[np.int64]


def sort_into_cells(question: Question, reach: float, radii: Points, parts: int, scratch: Scratch) -> Cells:
    """The points that may be found, into cells no narrower than ``reach``."""
    found, envs = question.found, question.other_envs
    grid = _even_grid(question, reach)
    if grid is not None:
        cells = _placed(grid, found, envs, radii, parts, scratch, "found", crowd_counts=grid.wider)
        if cells is not None:
            return cells
    cells = _placed(_table(question, reach), found, envs, radii, parts, scratch, "found")
    assert cells is not None
    return cells


def sort_askers(question: Question, cells: Cells, radii: Points, parts: int, scratch: Scratch) -> Cells:
    """The query points, sorted by the same cells."""
    asking = _placed(cells.grid, question.points, question.envs, radii, parts, scratch, "asking")
    assert asking is not None
    return asking


def _even_grid(question: Question, reach: float) -> Grid | None:
    """Cells of one size over all the world; None where it is too large for that."""
    periodic = np.isfinite(question.period)
    low = np.where(periodic, 0.0, question.low)
    with np.errstate(over="ignore"):
        spread = np.where(periodic, question.period, question.high - low)
    if not (spread < _WIDEST).all():
        return None
    budget = max(_CELLS_EACH * len(question.found) / question.worlds, 1.0)
    least = max(reach * _WIDER, _NARROWEST)
    side = max(least, _side_for(spread, budget))
    cells = np.maximum(np.floor(spread / side), 1.0) + np.where(periodic | (spread == 0.0), 0.0, 1.0)
    if side >= _WIDEST:
        cells = np.ones(len(spread))
    per_unit = np.full(len(spread), 1.0 / min(side, _WIDEST))
    per_unit[periodic] = (cells / np.maximum(spread, _NARROWEST))[periodic]
    rows = np.array([low, per_unit, np.zeros(len(low)), cells - 1.0, question.period])
    counts = [int(count) for count in cells]
    plane = counts[0] * counts[1]
    world = math.prod(counts)
    return Grid(rows, (counts[0], plane, world), 0, world * question.worlds, side > least)


def _side_for(spread: Floats, cells: float) -> float:
    """How wide cells are of which so many fill the world; an axis shorter than that has one."""
    long = spread > 0.0
    while long.any():
        side = math.exp((float(np.log(spread[long]).sum()) - math.log(cells)) / int(long.sum()))
        if (spread[long] >= side).all() or long.sum() == 1:
            return side
        long &= spread >= side
    return 0.0


def _table(question: Question, reach: float) -> Grid:
    """Cells just as wide as they must be, wherever they are, in a table."""
    found = question.found
    step = max(len(found) // _SAMPLE, 1)
    sample = np.sort(found[::step].astype(np.float64), axis=0)
    middle = sample[len(sample) // 2]
    with np.errstate(over="ignore"):
        bulk = float((sample[(3 * len(sample)) // 4] - sample[len(sample) // 4]).max())
        whole = float((question.high - question.low).max())
    side = reach * _WIDER
    if side == 0.0:
        side = bulk * _FINEST if bulk > 0.0 else whole * _FINEST
    side = min(max(side, _NARROWEST), _WIDEST)
    periodic = np.isfinite(question.period)
    around = np.where(periodic, question.period, 1.0)
    cells = np.clip(np.floor(around / side), 1.0, _LAST_CELL)
    rows = np.array(
        [
            np.where(periodic, 0.0, middle),
            np.where(periodic, cells / around, 1.0 / side),
            np.where(periodic, 0.0, -_LAST_CELL),
            np.where(periodic, cells - 1.0, _LAST_CELL),
            question.period,
        ]
    )
    blocks = 1 << max(_TABLE_EACH * len(found) // BLOCK, 16).bit_length()
    return Grid(rows, (0, 0, 0), blocks, blocks * BLOCK, False)


def _placed(
    grid: Grid,
    points: Points,
    envs: Numbers,
    radii: Points,
    parts: int,
    scratch: Scratch,
    name: str,
    crowd_counts: bool = False,
) -> Cells | None:
    """The points in the order of their cells; None where they crowd in few of them and that counts."""
    n, dim = points.shape
    spans = threads.shares(n, parts if n >= ENOUGH_FOR_THREADS else 1)
    slots = scratch.array(f"{name} slots", (n,), np.int32 if grid.slots < 2**31 else np.int64)
    counts = scratch.array(f"{name} counts", (len(spans), grid.slots), np.int64)

    def count(part: int, first: int, last: int) -> None:
        counts[part] = 0
        for begin, end in paced(first, last):
            count_cells(points, envs, grid.rows, grid.steps, grid.blocks, begin, end, part, slots, counts)

    threads.run_all([partial(count, part, *span) for part, span in enumerate(spans)], parts)
    starts = scratch.array(f"{name} starts", (grid.slots + 1,), np.int64)
    starts[0] = 0
    _, _, crowding = starts_from_counts(counts, starts[1:])
    if crowd_counts and crowding > _CROWDED * n:
        return None
    # What lies behind the last point is read and never used; but it must not be what stops the processor.
    columns = scratch.array(f"{name} columns", (dim + (len(radii) > 0), n + LANES), points.dtype)
    own = scratch.array(f"{name} own", (1 + (len(envs) > 0), n + LANES), np.int32)
    columns[:, n:] = 0.0
    own[:, n:] = 0

    def place(part: int, first: int, last: int) -> None:
        for begin, end in paced(first, last):
            place_points(points, envs, radii, begin, end, part, slots, counts, columns, own)

    threads.run_all([partial(place, part, *span) for part, span in enumerate(spans)], parts)
    return Cells(grid, columns, own, starts)


def none_of(kind: Any) -> Points:
    """No radii."""
    return np.empty(0, kind)
