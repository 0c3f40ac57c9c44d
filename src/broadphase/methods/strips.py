"""Strips: the fast one.

The world is cut into strips (2-D: rows; 3-D: columns over a lattice), every box is copied into each
strip that it touches, and every strip is sorted and swept along the remaining axis, 16 boxes at a time.
A pair is reported in exactly one of the strips that its boxes share, without any memory of what was
reported before: see `broadphase.kernels.strips_bin`.

Source: the two-layer partitioning of Tsitsigkos and Mamoulis; box pruning as by Terdiman; their
combination and the diagonal sweep are our own.

Cost: linear in boxes, copies and comparisons; memory for the copies, 24 bytes each in 2-D float32.  It
loses to brute force below some hundred boxes, and it is at its worst where most boxes are long in one
direction, others long in another, and few of them meet.
"""

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.kernels.counting import starts_from_counts
from broadphase.kernels.strips_bin import LAST, copies_from_steps, count_copies, scatter_copies
from broadphase.kernels.strips_plan import equal_shares, equal_widths
from broadphase.kernels.strips_sweep import sweep_strips
from broadphase.methods import finder
from broadphase.methods.task import Found, Task

SAMPLE, LARGE_SAMPLE = 128, 4096
# Handing work to a second thread costs about 50 microseconds, as much as sweeping so many boxes.
ENOUGH_FOR_THREADS = 8_000
# A strip is crowded when a copy shares its strip with so many times more copies than if all were equal.
CROWDED = 2.5


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
    tags: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int64]
    """``(parts, strips)``: where the copies begin that a thread made."""
    ends: npt.NDArray[np.int64]
    copies: int
    fullest: int
    """The most copies in one strip."""
    extreme: bool
    """Whether a box holds the largest finite number, with which subtraction cannot deal."""


def find(task: Task) -> Found:
    """Find all pairs with strips."""
    parts = parts_for(task)
    plan, binned = bin_boxes(task, parts)
    return sweep(task, plan, binned, parts)


def parts_for(task: Task) -> int:
    """Into how many parts the boxes are divided, one for each thread."""
    return task.threads if len(task.boxes) >= ENOUGH_FOR_THREADS else 1


def bin_boxes(task: Task, parts: int) -> tuple[Plan, Binned]:
    """Cut the world, count the copies in each strip, and make them."""
    boxes, n = task.boxes, len(task.boxes)
    swept, cuts, counts, lattice = equal_widths(boxes, min(n, SAMPLE))
    plan = Plan((swept, *cuts.tolist()), lattice, np.empty((task.dim - 1, 0), boxes.dtype))
    counted = _count(task, plan, parts)
    copies, _, crowding = counted[-1]
    if crowding * plan.strips > CROWDED * copies * copies + 64 * copies * plan.strips:
        borders = np.empty((task.dim - 1, int(counts.max()) + 1), boxes.dtype)
        shares = lattice.copy()
        equal_shares(boxes, cuts, counts, min(n, LARGE_SAMPLE), shares, borders)
        plan = Plan(plan.axes, shares, borders)
        counted = _count(task, plan, parts)
    return plan, _scatter(task, plan, *counted)


def _count(task: Task, plan: Plan, parts: int) -> tuple[Any, ...]:
    n, strips = len(task.boxes), plan.strips
    spans = task.scratch.array("spans", (n, 2 * len(plan.lattice)), np.uint16)
    rows = [int(last) + 2 for last in plan.lattice[:, LAST].tolist()]
    steps = task.scratch.array("steps", (parts, math.prod(rows)), np.int32)
    steps[:] = 0
    counts = task.scratch.array("counts", (parts, strips), np.int64)
    flat = task.boxes.reshape(1, -1)
    extreme = threads.run_all(
        [
            partial(
                count_copies,
                *(task.boxes, flat, plan.axes, task.touching, plan.lattice, plan.borders),
                *(begin, end, spans, steps[part]),
            )
            for part, (begin, end) in enumerate(threads.shares(n, parts))
        ],
        parts,
    )
    copies_from_steps(steps, plan.lattice, counts)
    totals = starts_from_counts(counts, task.scratch.array("ends", (strips,), np.int64))
    return spans, counts, any(extreme), totals


def _scatter(task: Task, plan: Plan, spans: Any, starts: Any, extreme: bool, totals: Any) -> Binned:
    copies, fullest, _ = totals
    edges = task.scratch.array("edges", (copies, 2 * task.dim), task.boxes.dtype)
    tags = task.scratch.array("tags", (copies, 2), np.int32)
    begins = task.scratch.array("begins", starts.shape, np.int64)
    begins[:] = starts
    strips = int(plan.lattice[0, LAST]) + 1
    threads.run_all(
        [
            partial(
                scatter_copies,
                *(task.boxes, plan.axes, strips, task.touching, task.filter.classes),
                *(begin, end, spans, starts[part], edges, tags),
            )
            for part, (begin, end) in enumerate(threads.shares(len(task.boxes), len(starts)))
        ],
        len(starts),
    )
    return Binned(edges, tags, begins, starts, copies, fullest, extreme)


def sweep(task: Task, plan: Plan, binned: Binned, parts: int) -> Found:
    """Sort and sweep every strip."""
    if binned.extreme:
        return _without_subtraction(task)
    strips = binned.ends.shape[1]
    # Four ranges of strips a thread, cut where the copies are equal: crowded strips take longer.
    shares = min(4 * parts, strips) if parts > 1 else 1
    borders = _equal_ranges(binned, shares) if shares > 1 else [0, strips]
    room = 2 * binned.copies // shares + 1024
    rooms = [max(room, task.scratch.room(f"pairs {share}") // 8) for share in range(shares)]
    results = threads.run_all(
        [
            partial(
                sweep_strips,
                *(plan.axes, binned.edges, binned.tags, binned.begins, binned.ends),
                *(first, last, binned.fullest, task.filter.categories, task.filter.masks),
                *(task.scratch.array(f"pairs {share}", (rooms[share], 2), np.int32), task.limit, task.store),
            )
            for share, (first, last) in enumerate(pairwise(borders))
        ],
        parts,
    )
    for share, (out, _, _) in enumerate(results):
        if len(out) > rooms[share]:
            task.scratch.keep(f"pairs {share}", out)
    return Found(
        [out[:found] for out, found, _ in results] if task.store else [],
        sum(int(found) for _, found, _ in results),
        sum(int(tests) for _, _, tests in results),
        strips,
    )


def _equal_ranges(binned: Binned, shares: int) -> list[int]:
    """Where to cut the strips into ranges with about equally many copies."""
    ends = (binned.ends - binned.begins).sum(axis=0).cumsum()
    cuts = np.searchsorted(ends, np.arange(1, shares) * binned.copies // shares)
    return [0, *cuts.tolist(), len(ends)]


def _without_subtraction(task: Task) -> Found:
    """For boxes that hold the largest finite number itself; see `broadphase.kernels.edges`."""
    if task.boxes.dtype == np.float32:
        return find(replace(task, boxes=task.boxes.astype(np.float64)))
    return finder("sort_and_sweep")(task)
