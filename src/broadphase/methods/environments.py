"""Environments: many worlds in one call, in which only boxes of one environment meet.

Boxes are grouped by environment, unless they are already.  Then a small
world is one strip: all small worlds are sorted and swept in one kernel call for each thread, each in the L1
or L2 cache, without division and without copies.  Other worlds (thousands of crowded boxes, infinite
edges) are searched one by one.  What meets the boxes that all environments share is found by a second
search, which pairs these with the others only: a few are compared with all, many are searched by a tree.

Cost: that of sweeping each world, so that a thousand worlds of a thousand boxes cost as much as one uniform
world of a million.  Methods other than strips search one world after the other, at some 20 microseconds for
each call.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.environments import Envs, numbered
from broadphase.kernels.arrays.sorting import starts_from_counts
from broadphase.kernels.boxes.overlap import SHARED, rules_of
from broadphase.kernels.partition import (
    BY_ITSELF,
    count_worlds,
    place_boxes,
    plan_worlds,
    survey_envs,
)
from broadphase.kernels.strips.bin import FIRST_CLASS_BIT
from broadphase.kernels.strips.sweep import RAW_APART, RAW_TOUCHING
from broadphase.methods import brute_force, tree
from broadphase.methods.strips import strips_of, tags_of
from broadphase.methods.task import Found, Task, find_in_shares, together
from broadphase.runtime import threads, thresholds
from broadphase.runtime.memory import Scratch

Find = Callable[[Task], Found]

_FEW_WORLDS = 1024
# Two boxes that share a class bit are never paired; `broadphase.methods.periodic` has the bit before.
_SHARED, _OTHERS = np.uint8(16), np.uint8(32)


class Grouped(NamedTuple):
    """Boxes grouped by environment."""

    boxes: BoxArray
    tags: npt.NDArray[np.int32]
    """The row and the class bits of each."""
    starts: npt.NDArray[np.int64]
    """Where each world begins, and the end."""

    @property
    def worlds(self) -> int:
        """How many worlds there are; some may be empty."""
        return len(self.starts) - 1


def find_in_worlds(task: Task, env: Envs, find: Find, *, sweep: bool) -> Found:
    """The pairs of boxes of the same environment, or of which one is in the environment that all share.

    ``find`` searches one world; with ``sweep`` only those that are not swept together.
    """
    spans = _shares(len(env), task.threads)
    seen = threads.run_all([partial(survey_envs, env, *span) for span in spans], task.threads)
    lows, highs, falls = zip(*seen, strict=True)
    low, high = int(min(lows)), int(max(highs))
    if low == high:
        return find(task)
    groups = _mixed(task, env, low, high) if any(falls) else _in_order(task, env)
    plan = np.full(groups.worlds, BY_ITSELF)
    if sweep:
        plan_worlds(groups.boxes, groups.boxes.reshape(1, -1), groups.starts, plan)
    found = [_sweep(task, groups, plan, axis) for axis in range(task.dim) if (plan == axis).any()]
    for world in np.flatnonzero(plan == BY_ITSELF).tolist():
        if sum(part.pairs for part in found) > task.limit:
            break
        begin, end = groups.starts[world : world + 2].tolist()
        if end - begin > 1:
            # Copied out of the scratch memory, which the next search overwrites.  Within a world rows ascend,
            # so pairs of places in it are pairs of rows in the same order.
            rows = np.ascontiguousarray(groups.tags[begin:end, 0])
            alone = replace(task, boxes=groups.boxes[begin:end], filter=rules_of(task.filter, rows))
            part = find(alone)
            found.append(part._replace(chunks=[rows.take(chunk) for chunk in part.chunks]))
    if low <= SHARED <= high:
        found.append(_with_shared(task, env == SHARED))
    return together(found, sum(part.cells for part in found))


def _with_shared(task: Task, shared: npt.NDArray[np.bool_]) -> Found:
    """The pairs of one of these boxes and one of the others."""
    classes = np.where(shared, _SHARED, _OTHERS)
    if len(task.filter.classes):
        classes |= task.filter.classes
    task = replace(task, filter=task.filter._replace(classes=classes))
    few = int(np.count_nonzero(shared))
    if few > thresholds.FEW_SHARED:
        return tree.find(task)
    rows = np.argsort(~shared, kind="stable").astype(np.int32)
    boxes, rules = task.boxes.take(rows, 0), rules_of(task.filter, rows)
    found = brute_force.find(replace(task, boxes=boxes, filter=rules), few)
    return found._replace(chunks=[np.sort(rows[chunk], axis=1) for chunk in found.chunks], ordered=False)


def _shares(n: int, parts: int) -> list[tuple[int, int]]:
    return threads.shares(n, parts, cost=10.0)


def _in_order(task: Task, env: Envs) -> Grouped:
    """Rows that are grouped by environment already."""
    borders = np.flatnonzero(env[1:] != env[:-1])
    starts = np.zeros(len(borders) + 2, np.int64)
    starts[1:-1] = borders + 1
    starts[-1] = len(env)
    return Grouped(task.boxes, tags_of(task), starts)


def _mixed(task: Task, env: Envs, low: int, high: int) -> Grouped:
    """Boxes grouped by one counting sort, together with their numbers.

    Nothing is sorted before and nothing renumbered after: the results are the caller's rows.
    """
    n, scratch, classes = len(env), task.scratch, task.filter.classes
    worlds = high - low + 1
    if worlds > 2 * n + _FEW_WORLDS:  # with wide gaps: renumbered in their order
        (numbered_envs,), worlds = numbered(env)
        env, low = numbered_envs.astype(np.int64), 0
    spans = _shares(n, task.threads)
    counts = scratch.array("world counts", (len(spans), worlds), np.int64)
    numbers = scratch.array("world numbers", (n,), np.int32)
    boxes = scratch.array("world boxes", task.boxes.shape, task.boxes.dtype)
    tags = scratch.array("world tags", (n, 2), np.int32)
    starts = np.zeros(worlds + 1, np.int64)

    def count(part: int, first: int, last: int) -> None:
        counts[part] = 0
        count_worlds(env, low, first, last, part, numbers, counts)

    def place(part: int, first: int, last: int) -> None:
        place_boxes(task.boxes, classes, FIRST_CLASS_BIT, numbers, first, last, part, counts, boxes, tags)

    threads.run_all([partial(count, part, *span) for part, span in enumerate(spans)], task.threads)
    starts_from_counts(counts, starts[1:])
    threads.run_all([partial(place, part, *span) for part, span in enumerate(spans)], task.threads)
    return Grouped(boxes, tags, starts)


def _sweep(task: Task, groups: Grouped, plan: npt.NDArray[np.int64], axis: int) -> Found:
    """The pairs of all worlds that are swept along an axis."""
    worlds = np.flatnonzero(plan == axis)
    begins, ends = groups.starts[worlds], groups.starts[worlds + 1]
    axes = (axis, *(other for other in range(task.dim) if other != axis))
    form = RAW_TOUCHING if task.touching else RAW_APART
    strips = groups.boxes, groups.tags, begins[None], ends[None], form, False
    shares = threads.shares(len(worlds), task.threads, 10.0 * len(task.boxes) / len(worlds), pieces=4)
    # The pairs of another axis are in the task's own scratch memory.
    kernel = strips_of(task, axes, *strips)
    return find_in_shares(replace(task, scratch=Scratch()), kernel, shares, cells=len(worlds), expected=2)
