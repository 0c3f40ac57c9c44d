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

from broadphase.kernels.arrays.results import LEAST_CAPACITY
from broadphase.kernels.arrays.samples import sampled_row
from broadphase.kernels.arrays.sorting import starts_from_steps
from broadphase.kernels.boxes.overlap import rules_of
from broadphase.kernels.strips.bin import (
    BLOCK,
    FIRST_CLASS_BIT,
    IN_STRIPS,
    LAST,
    WHOLE,
    are_crowded,
    count_copies,
    equal_shares,
    equal_widths,
    scatter_copies,
)
from broadphase.kernels.strips.small_worlds import (
    NOTHING,
    ORDERED,
    ROWS,
    TILE,
    Memory,
    search_plane,
    search_space,
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
from broadphase.methods.few_among_many import boxes_near, of_one_class
from broadphase.methods.task import Found, Kernel, Task, find_in_shares
from broadphase.runtime import threads, thresholds
from broadphase.runtime.memory import Group, aligned

# -----------------------------------------------------------------------------------------------------------
# Strips of a small world in one call of a kernel (`broadphase.kernels.strips.small_worlds`), and its memory.
# The general path is below.


# The size of the sample that decides how to divide a world.
_SAMPLES = (32, 64, 128)
SMALL_SAMPLE, SAMPLE = _SAMPLES[1:]
_LINE = 64  # bytes of a cache line


def find_at_once(task: Task, plan: "Division | None" = None, most_crowding: float = 0.0) -> Found | None:
    """Find all pairs of a world that is small enough for one call; ``None`` if it needs the general path.

    With a plan, the world is divided by it, unless copies are more crowded than allowed.
    """
    boxes = task.boxes
    n, width = boxes.shape
    if n >= thresholds.ONE_CALL or (plan is not None and plan.borders.size):
        return None
    memories = task.scratch.group((width, boxes.itemsize), n, _MEMORIES[width, boxes.itemsize])
    memory = memories[0 if n <= thresholds.TINY_WORLD else 1 if n <= thresholds.SMALL_WORLD else 2]
    axes = _AXES[width]
    if plan is not None:
        axes = plan.axes
        memory.lattice[:] = plan.lattice
    given = task.scratch.pairs(4 * n + LEAST_CAPACITY)
    state, strips, out, found, tests = _SEARCHES[width](
        *(boxes, boxes.reshape(1, -1), task.touching, task.filter, plan is not None, axes),
        *(most_crowding, memory, given, task.limit, task.store, task.sort),
    )
    if state == NOTHING:
        return None
    if out is not given:
        task.scratch.pairs(len(out))  # so that they fit the next time
    if not task.store:
        return Found([], found, tests, strips)
    ordered = bool(state == ORDERED)
    return Found([(memory.ordered if ordered else out)[:found]], found, tests, strips, ordered)


def _make_memories(dim: int, dtype: type[np.floating[Any]], n: int) -> Group[list[Memory]]:
    """Memory for worlds of up to ``n`` boxes, with samples of each size."""
    copies = _rows(ROWS, n * dim + 64, np.int32)
    capacity = copies.shape[1]
    memory = Memory(
        edges=np.empty((2, 0)),
        spanned=np.empty((dim, 0)),
        statistics=np.empty((dim, 4)),
        cuts=np.empty(dim - 1, np.int64),
        counts=np.empty(dim - 1, np.int64),
        lattice=np.empty((dim - 1, 3), dtype),
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
    memories = [memory._replace(edges=np.empty((2, k)), spanned=np.empty((dim, k))) for k in _SAMPLES]
    return Group(n, sum(one.nbytes for one in memory), memories)


def _rows(count: int, length: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Rows of at least this length, each of an odd number of cache lines.

    Rows of 4,096 bytes, or of twice as many, would all map to the same lines of the L1 cache.
    """
    line_items = _LINE // np.dtype(dtype).itemsize
    lines = -(-length // line_items) | 1
    return aligned((count, lines * line_items), dtype)


_MEMORIES = {
    (2 * dim, kind(0).itemsize): partial(_make_memories, dim, kind)
    for dim in (2, 3)
    for kind in (np.float32, np.float64)
}
_AXES = {4: (0, 1), 6: (0, 1, 2)}
_SEARCHES = {4: search_plane, 6: search_space}


# -----------------------------------------------------------------------------------------------------------
# How a world is divided into strips, and the copies of its boxes in them.


LARGE_SAMPLE = 4096


class Division(NamedTuple):
    """How the world is divided."""

    axes: tuple[int, ...]  # the swept axis, then the cut ones
    lattice: npt.NDArray[Any]
    borders: npt.NDArray[Any]  # empty where the strips are of equal width

    @property
    def strips(self) -> int:
        """How many strips there are."""
        return math.prod(int(last) + 1 for last in self.lattice[:, LAST].tolist())


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


class Cut(NamedTuple):
    """How to divide the world, as estimated from a sample."""

    swept: int
    cuts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    """How many strips the cost model wants on each cut axis."""
    lattice: npt.NDArray[Any]
    whole: int
    """Whether the world may be swept in one piece; see `broadphase.kernels.strips.bin`."""

    @property
    def axes(self) -> tuple[int, ...]:
        """The swept axis, then the cut ones: what the kernels take."""
        return self.swept, *self.cuts.tolist()


def cut_world(task: Task) -> Cut:
    """Take a sample and decide."""
    n = len(task.boxes)
    size = min(n, SMALL_SAMPLE if n <= thresholds.SMALL_WORLD else SAMPLE)
    boxes, dim = task.boxes, task.dim
    edges, spanned, statistics = np.empty((2, size)), np.empty((dim, size)), np.empty((dim, 4))
    cuts, counts = np.empty(dim - 1, np.int64), np.empty(dim - 1, np.int64)
    lattice = np.empty((dim - 1, 3), boxes.dtype)
    swept, whole = equal_widths(
        boxes, boxes.reshape(1, -1), edges, spanned, statistics, cuts, counts, lattice
    )
    return Cut(swept, cuts, counts, lattice, whole)


def parts_for(task: Task) -> int:
    """Into how many parts the boxes are divided, one for each thread."""
    return task.threads if len(task.boxes) >= thresholds.ONE_CALL else 1


def bin_boxes(task: Task, cut: Cut, parts: int) -> tuple[Division, Binned]:
    """Count the copies in each strip, and make them."""
    boxes, n = task.boxes, len(task.boxes)
    plan = Division(cut.axes, cut.lattice, np.empty((task.dim - 1, 0), boxes.dtype))
    counted = _count(task, plan, parts)
    copies, _, crowding = counted[-1]
    if are_crowded(crowding, copies, plan.strips):
        borders = np.empty((task.dim - 1, int(cut.counts.max()) + 1), boxes.dtype)
        lattice, sample = cut.lattice.copy(), sampled_row(np.arange(min(n, LARGE_SAMPLE)), n)
        for c, axis in enumerate(plan.axes[1:]):
            rows = sample[np.isfinite(boxes[sample, axis])]
            rows = rows[np.argsort(boxes[rows, axis], kind="stable")]
            lattice[c, LAST] = equal_shares(boxes, axis, cut.counts.item(c), rows, borders[c])
        plan = Division(plan.axes, lattice, borders)
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
    flat = task.boxes.reshape(1, -1)
    numbers = task.scratch.array("numbers", (parts, task.dim - 1, int(BLOCK) * 2 * task.dim), np.int32)

    def count(part: int, first: int, last: int) -> bool:
        extreme: bool = count_copies(
            *(task.boxes, flat, plan.axes, task.touching, plan.lattice, plan.borders),
            *(first, last, numbers[part], spans, steps[part]),
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
    strips = int(plan.lattice[0, LAST]) + 1
    later = task.scratch.array("later", (len(starts), int(BLOCK)), np.int32)

    def scatter(part: int, first: int, last: int) -> None:
        scatter_copies(
            *(task.boxes, plan.axes, strips, task.touching, task.filter.classes),
            *(first, last, later[part], spans, starts[part], edges, tags),
        )

    spread = threads.shares(len(task.boxes), len(starts))
    threads.run_all([partial(scatter, part, *share) for part, share in enumerate(spread)], len(starts))
    return Binned(edges, tags, begins, starts, copies, fullest, extreme, crowding / max(copies, 1))


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
    found = find_at_once(task)
    if found is not None:
        return found
    cut = cut_world(task)
    if cut.whole != IN_STRIPS:
        return _sweep_whole(task, cut)
    parts = parts_for(task)
    return sweep(task, *bin_boxes(task, cut, parts), parts)


def _sweep_whole(task: Task, cut: Cut) -> Found:
    """Sweep a small world in one piece, straight from its boxes."""
    form, n = RAW_TOUCHING if task.touching else RAW_APART, len(task.boxes)
    strip = task.boxes, tags_of(task), _FIRST, np.array([[n]], np.int64), form, cut.whole != WHOLE
    return find_in_shares(task, strips_of(task, cut.axes, *strip), [(0, 1)], cells=1)


_FIRST = np.zeros((1, 1), np.int64)


def strips_of(task: Task, axes: tuple[int, ...], *strips: Any) -> Kernel:
    """The kernel that sweeps ``strips = edges, tags, begins, ends, form, exactly`` (`sweep_strips`)."""
    return partial(sweep_strips, axes, *strips, task.filter.categories, task.filter.masks)


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
