"""Strips: the fast method.

The world is divided into strips (2-D: rows; 3-D: columns over a lattice), every box is copied into each
strip that it touches, and every strip is sorted and swept along the remaining axis, 16 boxes at a time.
A pair is reported in exactly one of the strips that its boxes share, without a record of what was
reported before: see `broadphase.kernels.strips.bin`.

Source: the two-layer partitioning of Tsitsigkos and Mamoulis; box pruning as by Terdiman; their
combination and the diagonal sweep are new here.

Cost: linear in boxes, copies and comparisons; memory for the copies, 24 bytes each in 2-D float32 (64 in
small worlds).  It loses to brute force below some hundred boxes, and it is slowest if most boxes are
long in one direction, others long in another, and few of them meet.
"""

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray, sides_of
from broadphase.kernels.arrays.results import LEAST_CAPACITY
from broadphase.kernels.arrays.sorting import sampled_row, starts_from_steps
from broadphase.kernels.boxes.checks import finite_bounds
from broadphase.kernels.boxes.overlap import rules_of
from broadphase.kernels.strips.bin import (
    BLOCK,
    FIRST_CLASS_BIT,
    HALF_ORIGIN,
    IN_STRIPS,
    LAST,
    SCALE,
    WHOLE,
    Division,
    are_crowded,
    count_copies,
    equal_shares,
    equal_widths,
    scatter_copies,
)
from broadphase.kernels.strips.near_few import BLOCK as NEAR_BLOCK
from broadphase.kernels.strips.near_few import mark_cells, select_near
from broadphase.kernels.strips.small_worlds import (
    NOTHING,
    ORDERED,
    ROWS,
    TILE,
    Memory,
    search_small,
)
from broadphase.kernels.strips.sweep import (
    CLASS,
    COMPARABLE,
    PADDING,
    RAW_APART,
    RAW_TOUCHING,
    sweep_strips,
)
from broadphase.methods import finder
from broadphase.methods.task import Found, Kernel, Task, find_in_shares
from broadphase.runtime import threads, thresholds
from broadphase.runtime.memory import Group, Scratch, aligned

# -----------------------------------------------------------------------------------------------------------
# Strips of a small world in one call of a kernel (`broadphase.kernels.strips.small_worlds`), and its memory.
# The general path is below.


_LINE = 64  # bytes of a cache line


def find_at_once(task: Task, plan: "Division", most_crowding: float = -1.0) -> Found | None:
    """Find all pairs of a world that is small enough for one call; ``None`` if it needs the general path.

    Also where copies are more crowded than allowed; by default, than in strips of equal width.
    """
    boxes = task.boxes
    n, width = boxes.shape
    if n >= thresholds.ONE_CALL or plan.borders.size:
        return None
    memory = task.scratch.group((width, boxes.itemsize), n, _MEMORIES[width, boxes.itemsize])
    given = task.scratch.pairs(4 * n + LEAST_CAPACITY)
    state, strips, out, found, tests = search_small(
        *(boxes, plan, task.touching, task.filter, most_crowding),
        *(memory, given, task.limit, task.store, task.sort),
    )
    if state == NOTHING:
        return None
    if out is not given:
        task.scratch.pairs(len(out))  # so that they fit the next time
    if not task.store:
        return Found([], found, tests, strips)
    ordered = bool(state == ORDERED)
    return Found([(memory.ordered if ordered else out)[:found]], found, tests, strips, ordered)


def _make_memory(dim: int, dtype: type[np.floating[Any]], n: int) -> Group[Memory]:
    """Memory for worlds of up to ``n`` boxes."""
    copies = _rows(ROWS, n * dim + 64, np.int32)
    capacity = copies.shape[1]
    memory = Memory(
        extents=_rows(2, TILE, dtype),
        places=np.empty((dim, 3), dtype),
        numbers=_rows(2 * dim, int(BLOCK), np.int32),
        copies=copies,
        ends=aligned((4 * n + 1024,), np.int32),
        columns=_rows(2 * dim, capacity + PADDING, dtype),
        marks=_rows(CLASS + 1, capacity + PADDING, np.int32),
        found=np.empty(1, np.int64),
        order=np.empty(n + 1, np.int32),
        keys=aligned((2 * n,), np.int64),
        ordered=aligned((2 * n, 2), np.int32),
    )
    return Group(n, sum(one.nbytes for one in memory), memory)


def _rows(count: int, length: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Rows of at least this length, each of an odd number of cache lines.

    Rows of 4,096 bytes, or of twice as many, would all map to the same lines of the L1 cache.
    """
    line_items = _LINE // np.dtype(dtype).itemsize
    lines = -(-length // line_items) | 1
    return aligned((count, lines * line_items), dtype)


_MEMORIES = {
    (2 * dim, kind(0).itemsize): partial(_make_memory, dim, kind)
    for dim in (2, 3)
    for kind in (np.float32, np.float64)
}


# -----------------------------------------------------------------------------------------------------------
# How a world is divided into strips, and the copies of its boxes in them.


LARGE_SAMPLE = 4096


class Binned(NamedTuple):
    """Copies of the boxes, by strip."""

    edges: npt.NDArray[Any]
    """The edges of a box at the beginning of each row."""
    tags: npt.NDArray[np.int32]
    """The number of the box and the class bits in the last two columns."""
    begins: npt.NDArray[np.int64]
    """``(parts, strips)``: where the copies that a thread made begin."""
    ends: npt.NDArray[np.int64]
    copies: int
    fullest: int
    """The most copies in one strip."""
    extreme: bool
    """Whether a box holds the largest finite number, for which subtraction is not exact."""
    crowding: float
    """The average number of copies with which a copy shares its strip."""


def cut_world(task: Task) -> tuple[Division, int]:
    """How a sample says to divide the world, and whether it may be swept in one piece.

    See `broadphase.kernels.strips.bin`.
    """
    n = len(task.boxes)
    size = min(n, 32 if n <= thresholds.TINY_WORLD else 64 if n <= thresholds.SMALL_WORLD else 128)
    axes, lattice, whole = equal_widths(task.boxes, size)
    # Its own `__new__` takes 0.3 us longer, a fiftieth of a search of 300 boxes.
    return tuple.__new__(Division, (tuple(axes.tolist()), lattice, lattice[:, :0])), whole


def parts_for(task: Task) -> int:
    """Into how many parts the boxes are divided, one for each thread."""
    return task.threads if len(task.boxes) >= thresholds.ONE_CALL else 1


def bin_boxes(task: Task, plan: Division, parts: int) -> tuple[Division, Binned]:
    """Count the copies in each strip, and make them."""
    boxes, n = task.boxes, len(task.boxes)
    counted = _count(task, plan, parts)
    copies, _, crowding = counted[-1]
    if are_crowded(crowding, copies, plan.strips):
        borders = np.zeros((task.dim - 1, int(plan.lattice[:, LAST].max()) + 2))
        lattice, sample = plan.lattice.copy(), sampled_row(np.arange(min(n, LARGE_SAMPLE)), n)
        for c, axis in enumerate(plan.axes[1:]):
            ends = boxes[sample][:, [axis, task.dim + axis]].T
            ends = ends[:, np.isfinite(ends[0])]
            np.minimum(ends[1], np.finfo(boxes.dtype).max, out=ends[1])
            lows, highs = np.ascontiguousarray(ends[:, np.argsort(ends[0], kind="stable")], np.float64)
            lattice[c, LAST] = equal_shares(lows, highs, int(lattice[c, LAST]) + 1, borders[c])
        plan = Division(plan.axes, lattice, borders.astype(boxes.dtype))
        counted = _count(task, plan, parts)
    return plan, _scatter(task, plan, *counted)


def bin_again(task: Task, plan: Division, parts: int, most_crowding: float) -> Binned | None:
    """Bin by an earlier plan; ``None`` if that would leave the copies more crowded than allowed."""
    counted = _count(task, plan, parts)
    copies, _, crowding = counted[-1]
    return None if crowding > most_crowding * copies else _scatter(task, plan, *counted)


def _count(task: Task, plan: Division, parts: int) -> tuple[Any, ...]:
    n, strips = len(task.boxes), plan.strips
    spans = task.scratch.array("spans", (n, 2 * len(plan.lattice)), np.uint16)
    rows = [int(last) + 2 for last in plan.lattice[:, LAST].tolist()]
    steps = task.scratch.array("steps", (parts, math.prod(rows)), np.int32)
    steps[:] = 0
    counts = task.scratch.array("counts", (parts, strips), np.int64)
    numbers = task.scratch.array("numbers", (parts, task.dim - 1, int(BLOCK) * 2 * task.dim), np.int32)

    def count(part: int, first: int, last: int) -> bool:
        extreme: bool = count_copies(
            task.boxes, plan, task.touching, first, last, numbers[part], spans, steps[part]
        )
        return extreme

    extreme = threads.run_all(
        [partial(count, part, *share) for part, share in enumerate(threads.shares(n, parts))], parts
    )
    totals = starts_from_steps(steps, rows[0], counts, task.scratch.array("ends", (strips,), np.int64))
    return spans, counts, any(extreme), totals


def _scatter(task: Task, plan: Division, spans: Any, starts: Any, extreme: bool, totals: Any) -> Binned:
    copies, fullest, crowding = totals
    # The tags of a copy follow its edges, so that it is written to one cache line and not to two: a million
    # 3-D boxes, each with two copies in 3,600 strips, are scattered in 10 ms and not in 26.
    width = 2 * task.dim + (2 if task.boxes.dtype == np.float32 else 1)
    edges = task.scratch.array("copies", (copies, width), task.boxes.dtype)
    tags = edges.view(np.int32)
    begins = task.scratch.array("begins", starts.shape, np.int64)
    begins[:] = starts

    def scatter(part: int, first: int, last: int) -> None:
        scatter_copies(
            *(task.boxes, plan, task.touching, task.filter.classes),
            *(first, last, spans, starts[part], edges, tags),
        )

    spread = threads.shares(len(task.boxes), len(starts))
    threads.run_all([partial(scatter, part, *share) for part, share in enumerate(spread)], len(starts))
    return Binned(edges, tags, begins, starts, copies, fullest, extreme, crowding / max(copies, 1))


# -----------------------------------------------------------------------------------------------------------
# A few boxes against many: a prefilter that drops boxes that can meet none of the few.
#
# If ten thousand boxes are joined with a million, most of the million are near none of them, and dividing
# these into strips is wasted work.  One pass over the many, one bit each
# (`broadphase.kernels.strips.near_few`), leaves a tenth of them; the few and those are then searched as
# usual.
#
# Cost: a pass over the many, about a sixth of the time for finding their pairs, and the cells of the few.  It
# loses if the few cover most of the world: a sample shows this, and then nothing is dropped.


_SAMPLED = 256
# Cells of the lattice, one bit each: they fit into the L1 cache.
_MOST_CELLS = 1 << 22
# The ratio of the region around one of the few in which another box may begin to the side of a cell.
_CELLS_ACROSS = 3.0
_QUANTILES = (0.5, 0.75, 0.9, 1.0)


class Near(NamedTuple):
    """The few, and the rest of the many; in scratch memory."""

    both: BoxArray
    """First the few, then the others."""
    rows: npt.NDArray[np.int32]
    """Which of the many the others are, ascending."""

    @property
    def few(self) -> BoxArray:
        """The few."""
        return self.both[: len(self.both) - len(self.rows)]

    @property
    def others(self) -> BoxArray:
        """The rest of the many."""
        return self.both[len(self.both) - len(self.rows) :]


def boxes_near(few: BoxArray, many: BoxArray, parts: int, scratch: Scratch) -> Near | None:
    """The boxes of ``many``, of the same type, that may overlap one of ``few``; ``None`` if all may."""
    if not len(few) or len(many) < max(thresholds.MANY_BOXES, thresholds.MANY_FOR_EACH * len(few)):
        return None
    picture = _plan(few, many)
    if picture is None:
        return None
    cells = math.prod(int(last) + 1 for last in picture[0][:, LAST].tolist())
    marks = scratch.array("near marks", (cells // 64 + 1,), np.uint64)
    marks[:] = 0
    mark_cells(few, *picture, np.empty((few.shape[1] // 2, 0), few.dtype), marks)
    rows = scratch.array("near rows", (len(many),), np.int32)
    boxes = scratch.array("near boxes", (len(few) + len(many), few.shape[1]), few.dtype)
    boxes[: len(few)] = few
    others = boxes[len(few) :]
    shared = (many, many.reshape(-1), *picture, marks)
    spans = threads.shares(len(many), parts)
    counts = threads.run_all(
        [
            partial(
                select_near, *shared, begin, end, np.empty(NEAR_BLOCK, np.int32), rows[begin:], others[begin:]
            )
            for begin, end in spans
        ],
        parts,
    )
    left = 0
    for (begin, _), count in zip(spans, map(int, counts), strict=True):
        if begin > left:
            rows[left : left + count] = rows[begin : begin + count]
            others[left : left + count] = others[begin : begin + count]
        left += count
    return Near(boxes[: len(few) + left], rows[:left])


def of_one_class(task: Task) -> npt.NDArray[np.bool_] | None:
    """Which boxes have the class, such as static, that nearly all have; ``None`` if few have it."""
    classes = task.filter.classes
    if len(classes) < thresholds.MANY_BOXES:
        return None
    usual = np.bincount(classes[:: len(classes) // _SAMPLED]).argmax()
    if usual == 0:
        return None  # boxes without a class are paired with each other
    many: npt.NDArray[np.bool_] = classes == usual
    return many if (len(many) - np.count_nonzero(many)) * thresholds.MANY_FOR_EACH <= len(many) else None


@np.errstate(all="ignore")  # if all is one point, or a box is infinite
def _plan(few: BoxArray, many: BoxArray) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """The cells of the bitmap that drops most boxes and its slack; ``None`` if it would not drop many.

    Of the cells there is a row for each axis, as `broadphase.kernels.strips.bin.strip_of` takes it.
    """
    dim, kind = few.shape[1] // 2, few.dtype
    low, high = bounds = np.empty((2, few.shape[1] // 2))
    finite_bounds(few, bounds)
    sides, lengths = (sides_of(boxes[:: max(len(boxes) // _SAMPLED, 1)]) for boxes in (few, many))
    # One row for each slack that is tried.
    slack = np.sort(lengths, axis=0)[[int(share * (len(lengths) - 1)) for share in _QUANTILES]]
    space = high - low + slack
    most = _MOST_CELLS ** (1.0 / dim)
    cell = np.maximum((sides.mean(axis=0) + slack) / _CELLS_ACROSS, space / most)
    counts = np.fmin(np.fmax(np.floor(space / cell), 1.0), most)
    reached = np.fmin((sides + (slack + cell)[:, None]) / space[:, None], 1.0).prod(axis=2).mean(axis=1)
    longer = (lengths > slack[:, None]).any(axis=2).mean(axis=1)
    kept = np.where(np.isfinite(space + cell).all(axis=1), longer + len(few) * reached, np.inf)
    best = int(kept.argmin())
    if not kept[best] < thresholds.MOST_KEPT:
        return None
    # Numbers computed in the boxes' own type may be rounded.
    wide = (slack[best] * (1.0 + 8.0 * np.finfo(kind).eps)).astype(kind)
    half_width = 0.5 * high - 0.5 * low + 0.5 * wide
    lattice = np.empty((dim, 3), kind)
    lattice[:, HALF_ORIGIN] = 0.5 * low - 0.5 * wide
    lattice[:, SCALE] = np.where(
        half_width > 0.0, np.minimum(counts[best] / half_width, np.finfo(kind).max), 1.0
    )
    lattice[:, LAST] = np.floor(counts[best]) - 1.0
    # No number of a box may become NaN: at the end of the range there is no bitmap.
    return (lattice, wide) if np.isfinite(lattice).all() and lattice[:, SCALE].all() else None


# -----------------------------------------------------------------------------------------------------------
# The search.


def find(task: Task) -> Found:
    """Find all pairs with strips."""
    many = of_one_class(task)
    survivors = (
        None if many is None else boxes_near(task.boxes[~many], task.boxes, task.threads, task.scratch)
    )
    if survivors is None:
        return _find_among(task)
    found = _find_among(replace(task, boxes=survivors.others, filter=rules_of(task.filter, survivors.rows)))
    return found._replace(chunks=[survivors.rows.take(chunk) for chunk in found.chunks])


def _find_among(task: Task) -> Found:
    plan, whole = cut_world(task)
    found = find_at_once(task, plan)
    if found is not None:
        return found
    if whole != IN_STRIPS:
        return _sweep_whole(task, plan.axes, whole)
    parts = parts_for(task)
    return sweep(task, *bin_boxes(task, plan, parts), parts)


def _sweep_whole(task: Task, axes: tuple[int, ...], whole: int) -> Found:
    """Sweep a small world in one piece, straight from its boxes."""
    form, n = RAW_TOUCHING if task.touching else RAW_APART, len(task.boxes)
    strip = task.boxes, tags_of(task), _FIRST, np.array([[n]], np.int64), form, whole != WHOLE
    return find_in_shares(task, strips_of(task, axes, *strip), [(0, 1)], cells=1)


_FIRST = np.zeros((1, 1), np.int64)


def strips_of(task: Task, axes: tuple[int, ...], *strips: Any) -> Kernel:
    """The kernel that sweeps ``strips = edges, tags, begins, ends, form, exactly`` (`sweep_strips`)."""
    return partial(sweep_strips, axes, strips, (task.filter.categories, task.filter.masks))


def tags_of(task: Task) -> npt.NDArray[np.int32]:
    """The number and class bits of each box."""
    tags, classes = np.zeros((len(task.boxes), 2), np.int32), task.filter.classes
    tags[:, 0] = np.arange(len(tags))
    if len(classes):
        np.left_shift(classes, FIRST_CLASS_BIT, out=tags[:, 1], dtype=np.int32)
    return tags


def sweep(task: Task, plan: Division, binned: Binned, parts: int) -> Found:
    """Sort and sweep every strip."""
    if binned.extreme:
        return _without_subtraction(task)
    strips = binned.ends.shape[1]
    # Four ranges of strips for each thread, with equally many copies: crowded strips take longer.
    borders = [0, strips]
    if parts > 1:
        shares = min(4 * parts, strips)
        so_far = np.cumsum((binned.ends - binned.begins).sum(axis=0))
        wanted = np.arange(1, shares, dtype=np.int64) * binned.copies // shares
        borders[1:1] = np.searchsorted(so_far, wanted).tolist()
    kernel = strips_of(
        task, plan.axes, binned.edges, binned.tags, binned.begins, binned.ends, COMPARABLE, False
    )
    return find_in_shares(task, kernel, list(pairwise(borders)), cells=strips)


def _without_subtraction(task: Task) -> Found:
    """For boxes that hold the largest finite number itself; see `broadphase.kernels.boxes.overlap`."""
    if task.boxes.dtype == np.float32:
        return _find_among(replace(task, boxes=task.boxes.astype(np.float64)))
    return finder("sort_and_sweep")(task)
