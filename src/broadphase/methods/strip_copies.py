"""How a world is cut into strips, and the copies of its boxes in them; see `broadphase.methods.strips`."""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.kernels.arrays.counting import starts_from_steps
from broadphase.kernels.strips.bin import BLOCK, LAST, count_copies, scatter_copies
from broadphase.kernels.strips.plan import are_crowded, equal_shares, equal_widths
from broadphase.methods.at_once import SAMPLE, SMALL_SAMPLE, SMALL_WORLD, TOO_MANY
from broadphase.methods.task import Task
from broadphase.slices import paced

LARGE_SAMPLE = 4096
# Waking a second thread three times costs about 200 microseconds, a fifth of what so many boxes take.
ENOUGH_FOR_THREADS = TOO_MANY


class Plan(NamedTuple):
    """How the world is cut."""

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
    """The box of a copy at the beginning of its row."""
    tags: npt.NDArray[np.int32]
    """The number of the box and the class bits in the last two columns."""
    begins: npt.NDArray[np.int64]
    """``(parts, strips)``: where the copies begin that a thread made."""
    ends: npt.NDArray[np.int64]
    copies: int
    fullest: int
    """The most copies in one strip."""
    extreme: bool
    """Whether a box holds the largest finite number, with which subtraction cannot deal."""
    crowding: float
    """With how many copies a copy shares its strip."""


class Cut(NamedTuple):
    """How to cut the world, as estimated from a sample."""

    swept: int
    cuts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    """How many strips the cost model wants on each cut axis."""
    lattice: npt.NDArray[Any]
    whole: int
    """Whether the world may be swept in one piece; see `broadphase.kernels.strips.plan`."""

    @property
    def axes(self) -> tuple[int, ...]:
        """The swept axis, then the cut ones: what the kernels take."""
        return self.swept, *self.cuts.tolist()


def cut_world(task: Task) -> Cut:
    """Look at a sample and decide."""
    n = len(task.boxes)
    size = min(n, SMALL_SAMPLE if n <= SMALL_WORLD else SAMPLE)
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
    return task.threads if len(task.boxes) >= ENOUGH_FOR_THREADS else 1


def bin_boxes(task: Task, cut: Cut, parts: int) -> tuple[Plan, Binned]:
    """Count the copies in each strip, and make them."""
    boxes, n = task.boxes, len(task.boxes)
    plan = Plan(cut.axes, cut.lattice, np.empty((task.dim - 1, 0), boxes.dtype))
    counted = _count(task, plan, parts)
    copies, _, crowding = counted[-1]
    if are_crowded(crowding, copies, plan.strips):
        borders = np.empty((task.dim - 1, int(cut.counts.max()) + 1), boxes.dtype)
        lattice, size = cut.lattice.copy(), min(n, LARGE_SAMPLE)
        lows, rows = np.empty(size, boxes.dtype), np.empty((3, size), np.int64)
        equal_shares(boxes, cut.cuts, cut.counts, lows, rows, lattice, borders)
        plan = Plan(plan.axes, lattice, borders)
        counted = _count(task, plan, parts)
    return plan, _scatter(task, plan, *counted)


def bin_again(task: Task, plan: Plan, parts: int, most_crowding: float) -> Binned | None:
    """The same by an earlier plan; ``None`` where that would leave the copies more crowded than this."""
    counted = _count(task, plan, parts)
    copies, _, crowding = counted[-1]
    return None if crowding > most_crowding * copies else _scatter(task, plan, *counted)


def _count(task: Task, plan: Plan, parts: int) -> tuple[Any, ...]:
    n, strips = len(task.boxes), plan.strips
    spans = task.scratch.array("spans", (n, 2 * len(plan.lattice)), np.uint16)
    rows = [int(last) + 2 for last in plan.lattice[:, LAST].tolist()]
    steps = task.scratch.array("steps", (parts, math.prod(rows)), np.int32)
    steps[:] = 0
    counts = task.scratch.array("counts", (parts, strips), np.int64)
    flat = task.boxes.reshape(1, -1)
    numbers = task.scratch.array("numbers", (parts, task.dim - 1, int(BLOCK) * 2 * task.dim), np.int32)

    def count(part: int, first: int, last: int) -> bool:
        extreme = False
        for begin, end in paced(first, last):
            extreme |= count_copies(
                *(task.boxes, flat, plan.axes, task.touching, plan.lattice, plan.borders),
                *(begin, end, numbers[part], spans, steps[part]),
            )
        return extreme

    extreme = threads.run_all(
        [partial(count, part, *share) for part, share in enumerate(threads.shares(n, parts))], parts
    )
    totals = starts_from_steps(steps, rows[0], counts, task.scratch.array("ends", (strips,), np.int64))
    return spans, counts, any(extreme), totals


def _scatter(task: Task, plan: Plan, spans: Any, starts: Any, extreme: bool, totals: Any) -> Binned:
    copies, fullest, crowding = totals
    # The tags of a copy behind its edges, so that it is written to one cache line and not to two: a million
    # 3-D boxes, each with two copies in 3,600 strips, are scattered in 10 ms and not in 26.
    width = 2 * task.dim + (2 if task.boxes.dtype == np.float32 else 1)
    edges = task.scratch.array("copies", (copies, width), task.boxes.dtype)
    tags = edges.view(np.int32)
    begins = task.scratch.array("begins", starts.shape, np.int64)
    begins[:] = starts
    strips = int(plan.lattice[0, LAST]) + 1
    later = task.scratch.array("later", (len(starts), int(BLOCK)), np.int32)

    def scatter(part: int, first: int, last: int) -> None:
        for begin, end in paced(first, last):
            scatter_copies(
                *(task.boxes, plan.axes, strips, task.touching, task.filter.classes),
                *(begin, end, later[part], spans, starts[part], edges, tags),
            )

    spread = threads.shares(len(task.boxes), len(starts))
    threads.run_all([partial(scatter, part, *share) for part, share in enumerate(spread)], len(starts))
    return Binned(edges, tags, begins, starts, copies, fullest, extreme, crowding / max(copies, 1))
