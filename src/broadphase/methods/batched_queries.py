"""Many queries in one call: the nearest boxes of many points."""

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.arrays.sorting import starts_from_counts
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.nearest_boxes import (
    MOST_WANTED,
    BoxCells,
    count_boxes,
    count_points,
    place_boxes,
    search_nearest,
)
from broadphase.methods.even_cells import side_for
from broadphase.runtime import threads
from broadphase.runtime.memory import Scratch, borrowed_scratch

# -----------------------------------------------------------------------------------------------------------
# The nearest boxes of many points: both are sorted into cells, and a point searches the cells around it.
#
# A tree answers one point after another, each from its root.  Neighbours among many points have nearly the
# same answer: in the order of a uniform grid the boxes that one has searched are in the L1 cache for the
# next, and its result bounds the distance for the next (`broadphase.kernels.points`).
#
# Cost: a counting sort of boxes and points, then for each point about three times as many comparisons as
# boxes are wanted, 16 at a time.  It loses if no cell size suits all places (clusters within clusters,
# all on a diagonal line, all equal) and if boxes are large: a sample shows this, and `plan_cells` returns
# None.


Rows = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]
Sets = npt.NDArray[np.uint32]

# Cells pay for enough points: they cost the sorting of a sample of the boxes and of all, and save more, the
# more are wanted.  Among 1,000, 10,000 and 100,000 boxes from 1,400, 5,000 and 5,000 points on; where eight
# are wanted, from 580, 2,100 and 3,100 on (measured by `benchmarks/queries.py`, on one thread).
_AT_LEAST, _EACH_BOX, _BOXES, _PER_POINT, _MOST_BOXES_EACH = 5_000, 2, 10_000, 4, 32
_SAMPLE = 4096
_GOLDEN = 0.6180339887498949
_TRIMMED = 0.005
# A world this many times as large as the region of nearly all of its boxes has outliers.
_FAR_OUT = 1.6
# Boxes in a cell for each wanted result.
_PER_WANTED = 0.5
_LEAST_IN_CELL, _MOST_IN_CELL = 2.0, 32.0
# Crowded boxes get more cells, but at most this many times as many; beyond, cells do not pay.
_MOST_FINER = 32.0
_MOST_CROWDED = 128.0
# How far a box may reach from its middle, in cells; this share of boxes may reach further.
_LARGEST = 0.5
_MOST_LARGE = 1e-4
# Points in a row of `side_by_side` that is as long as it is high.
_IN_A_SQUARE = 8
_ENOUGH_FOR_THREADS = 5_000
_PIECES = 4  # for each thread, so that no thread waits long for the last


class CellPlan(NamedTuple):
    """The cells, and the expected numbers."""

    lattice: Rows
    """See `broadphase.kernels.points.nearest_boxes`."""
    size: float
    """The side of a cell."""
    in_cell: float
    """Boxes in a cell, on average over all cells."""
    crowded: float
    """How many times the average number of boxes a box has around it."""


class NearestFound(NamedTuple):
    """``(m, k)`` ids and distances, by distance, then id; -1 and inf where there are fewer."""

    ids: Ids
    distances: Rows
    found: int
    """How many ids there are in all."""
    tests: int


def plan_cells(boxes: BoxArray, k: int) -> CellPlan | None:
    """Cells that suit the boxes, or None if none do; rows of NaN are not boxes."""
    n, dim = len(boxes), boxes.shape[1] // 2
    sample = _sample(boxes).astype(np.float64)
    sample = sample[np.isfinite(sample).all(axis=1)]
    if len(sample) < 2:
        return None
    with np.errstate(over="ignore", under="ignore"):
        middles = 0.5 * sample[:, :dim] + 0.5 * sample[:, dim:]
        reach = (0.5 * sample[:, dim:] - 0.5 * sample[:, :dim]).max(axis=1)
        low, high = _bulk(middles)
        spread = high - low
    if not (np.isfinite(spread).all() and spread.max() > 1e-140 and spread.max() < 1e140):
        return None
    in_cell = min(max(_PER_WANTED * k, _LEAST_IN_CELL), _MOST_IN_CELL)
    plan = _cut(low, spread, n, in_cell)
    crowded = _crowding(middles, plan.lattice)
    if crowded > _MOST_CROWDED:
        return None
    if crowded > 1.5:
        plan = _cut(low, spread, n, in_cell / min(crowded, _MOST_FINER))
    if np.quantile(reach, 1.0 - 2.0 / len(reach)) > _LARGEST * plan.size:
        return None
    return plan._replace(crowded=max(crowded, 1.0))


def _sample(boxes: BoxArray) -> BoxArray:
    """Some of the rows, at irregular distances."""
    n = len(boxes)
    if n <= 4 * _SAMPLE:
        return boxes
    return boxes[(np.arange(_SAMPLE) * _GOLDEN % 1.0 * n).astype(np.int64)]


def _bulk(middles: Rows) -> tuple[Rows, Rows]:
    """The region of the boxes without a few outliers; large enough that cells at the edge are typical."""
    ordered = np.sort(middles, axis=0)
    aside = int(_TRIMMED * len(ordered))
    low, high = ordered[aside], ordered[-1 - aside]
    far = ordered[-1] - ordered[0] > _FAR_OUT * (high - low)
    margin = 0.1 * (high - low)
    return np.where(far, low - margin, ordered[0]), np.where(far, high + margin, ordered[-1])


def _cut(low: Rows, spread: Rows, n: int, in_cell: float) -> CellPlan:
    """Cells of one size; an axis shorter than a cell has one."""
    size = side_for(spread.tolist(), max(n / in_cell, 1.0))
    counts = np.maximum(np.ceil(spread / size), 1.0)
    return CellPlan(np.array([low, np.full(len(low), 1.0 / size), counts]), size, in_cell, 1.0)


def _crowding(middles: Rows, lattice: Rows) -> float:
    """How many times the average number of boxes share the cell of a box."""
    places = np.clip((middles - lattice[0]) * lattice[1], 0.0, lattice[2] - 1.0).astype(np.int64)
    place = places[:, 0]
    cells = float(lattice[2, 0])
    for axis in range(1, lattice.shape[1]):
        place = place + places[:, axis] * int(cells)
        cells *= float(lattice[2, axis])
    together = np.unique(place, return_counts=True)[1].astype(np.float64)
    # By chance, this many pairs of the sample would share a cell.
    pairs = float((together * (together - 1.0)).sum())
    return float(pairs * cells) / (len(middles) * (len(middles) - 1.0))


def find_nearest(
    boxes: BoxArray, sets: tuple[Sets, Sets], rule: tuple[int, int], points: Rows, k: int, parts: int
) -> NearestFound | None:
    """Find the ``k`` nearest of each point among the rows that hold a box and pass the rule.

    Returns None if a tree is faster: for few points, for many results, and see `plan_cells`.

    Parameters
    ----------
    boxes : numpy.ndarray
        ``(n, 2 * dim)``; a row of NaN is not a box.
    sets, rule : tuple
        Categories and masks by row, and those of the query; -1 for none.
    points : numpy.ndarray
        ``(m, dim)``, float64.
    k : int
        At most as many as there are boxes.
    parts : int
        Threads.
    """
    n, gain = len(boxes), (_PER_POINT + k) * len(points)
    if k > MOST_WANTED or gain < _AT_LEAST + _EACH_BOX * min(n, _BOXES) or _MOST_BOXES_EACH * len(points) < n:
        return None
    plan = plan_cells(boxes, k)
    if plan is None:
        return None
    with borrowed_scratch() as scratch:
        held = _sorted_boxes(plan, boxes, sets, rule, parts, scratch)
        if held is None:
            return None
        order = order_by_cells(plan.lattice, points, parts, scratch)
        return _search(plan, held, boxes, points, order, k, parts)


def side_by_side(points: Rows) -> npt.NDArray[np.int64]:
    """An order in which consecutive points are near each other: row by row, as a page is read.

    Rows hold about as many points each, wherever the points are.
    """
    m, dim = points.shape
    rows = max(int((m / _IN_A_SQUARE) ** (1.0 / dim)), 1)
    place = _ranks(points[:, 0])
    for axis in range(1, dim):
        place += (_ranks(points[:, axis]) * rows // m) * rows ** (axis - 1) * m
    return np.argsort(place)


def _ranks(values: Rows) -> npt.NDArray[np.int64]:
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks


def _shares(n: int, parts: int) -> list[tuple[int, int]]:
    return threads.shares(n, parts if n >= _ENOUGH_FOR_THREADS else 1)


def _sorted_boxes(
    plan: CellPlan,
    boxes: BoxArray,
    sets: tuple[Sets, Sets],
    rule: tuple[int, int],
    parts: int,
    scratch: Scratch,
) -> BoxCells | None:
    n, dim = len(boxes), boxes.shape[1] // 2
    spans = _shares(n, parts)
    bins = int(plan.lattice[2].prod()) + 1
    cells = scratch.array("cells", (n,), np.int32)
    counts = scratch.array("counts", (len(spans), bins), np.int64)
    halves = np.empty((len(spans), dim))
    threads.run_all(
        [
            partial(
                count_boxes, boxes, *sets, *rule, plan.lattice, _LARGEST * plan.size, begin, end, part,
                cells, counts, halves,
            )
            for part, (begin, end) in enumerate(spans)
        ]
    )  # fmt: skip
    starts = scratch.array("starts", (bins + 1,), np.int64)
    starts[0] = 0
    count, _, crowding = starts_from_counts(counts, starts[1:])
    large = int(starts[-1] - starts[-2])
    if large > LANES + _MOST_LARGE * n:
        return None
    expected = 1.0 + plan.in_cell * plan.crowded
    if crowding - float(large) ** 2 > 4.0 * expected * count:
        return None  # the sample missed a crowd
    half = halves.max(axis=0)
    columns = scratch.array("columns", ((2 if half.any() or large else 1) * dim, count + LANES), np.float64)
    columns[:, count:] = np.nan
    ids = scratch.array("ids", (count,), np.int32)

    def place(part: int, begin: int, end: int) -> None:
        place_boxes(boxes, begin, end, part, cells, counts, columns, ids)

    threads.run_all([partial(place, part, *span) for part, span in enumerate(spans)])
    return BoxCells(columns, ids, starts, plan.lattice, half)


def order_by_cells(lattice: Rows, points: Rows, parts: int, scratch: Scratch) -> Ids:
    """The numbers of the points in the order of their cells, in scratch memory.

    ``lattice``: see `broadphase.kernels.points.nearest_boxes`.
    """
    m = len(points)
    spans = _shares(m, parts)
    bins = int(lattice[2].prod())
    cells = scratch.array("cells", (m,), np.int32)
    counts = scratch.array("counts", (len(spans), bins), np.int64)
    threads.run_all(
        [
            partial(count_points, points, lattice, begin, end, part, cells, counts)
            for part, (begin, end) in enumerate(spans)
        ]
    )
    starts_from_counts(counts, scratch.array("ends", (bins,), np.int64))
    order: Ids = scratch.array("order", (m,), np.int32)
    no_columns = np.empty((0, m))

    def place(part: int, begin: int, end: int) -> None:
        place_boxes(points, begin, end, part, cells, counts, no_columns, order)

    threads.run_all([partial(place, part, *span) for part, span in enumerate(spans)])
    return order


def _search(
    plan: CellPlan, held: BoxCells, boxes: BoxArray, points: Rows, order: Ids, k: int, parts: int
) -> NearestFound:
    m, dim = len(points), points.shape[1]
    ids, distances = np.empty((m, k), np.int32), np.empty((m, k))
    usual = plan.size * (k / plan.in_cell) ** (1.0 / dim)

    def search(begin: int, end: int) -> tuple[int, int]:
        capacity = 4 * k + 8 * LANES  # usually enough for all boxes in the square around a point
        buffers = np.empty((2, capacity)), np.empty((2, capacity), np.int32)
        found, tests = search_nearest(held, boxes, points, order, begin, end, usual, *buffers, ids, distances)
        return int(found), int(tests)

    pieces = _shares(m, _PIECES * parts if parts > 1 else 1)
    done = threads.run_all([partial(search, *piece) for piece in pieces], parts)
    return NearestFound(ids, distances, sum(some for some, _ in done), sum(made for _, made in done))
