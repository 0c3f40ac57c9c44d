"""Many worlds in one call: only boxes of one environment meet.

The rows are brought into the order of their environments, where they are not in it already.  Then a small
world is one strip: all small worlds are sorted and swept in one kernel call a thread, each in the nearest
cache, without being cut and without copies.  What is no small world (thousands of boxes that crowd, infinite
edges) is searched as if it were alone.

Cost: that of sweeping each world, so that a thousand worlds of a thousand boxes cost what one uniform world
of a million does.  Methods other than strips search one world after the other, at some 20 microseconds a
call.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.kernels.arrays.radix_sort import argsort_keys
from broadphase.kernels.boxes.filters import PairFilter, rules_of
from broadphase.kernels.pairs.worlds import BY_ITSELF, plan_worlds
from broadphase.kernels.strips.bin import FIRST_CLASS_BIT
from broadphase.kernels.strips.sort import MARKS, RAW_APART, RAW_TOUCHING, room_for
from broadphase.kernels.strips.sweep import sweep_strips
from broadphase.methods.task import Found, Task, together
from broadphase.slices import Part, search_from
from broadphase.space import Envs

Find = Callable[[Task], Found]

ENOUGH_FOR_THREADS = 20_000


class Grouped(NamedTuple):
    """Rows in the order of their environments."""

    order: npt.NDArray[np.int32] | None
    """The rows; ``None`` where they lay in that order."""
    starts: npt.NDArray[np.int64]
    """Where each world begins, and the end."""

    @property
    def worlds(self) -> int:
        """How many worlds there are."""
        return len(self.starts) - 1


def grouped(env: Envs) -> Grouped:
    """Rows by environment; within one they keep their order."""
    order = None
    if not bool((env[1:] >= env[:-1]).all()):
        order = argsort_keys(env)
        env = env[order]
    borders = np.flatnonzero(env[1:] != env[:-1])
    starts = np.zeros(len(borders) + 2, np.int64)
    starts[1:-1] = borders + 1
    starts[-1] = len(env)
    return Grouped(order, starts)


def find_in_worlds(task: Task, env: Envs, find: Find, *, sweep: bool) -> Found:
    """The pairs of boxes of one environment.

    ``find`` searches one world; with ``sweep`` only those that are not swept together.
    """
    groups = grouped(env)
    if groups.worlds == 1:
        return find(task)
    if groups.order is not None:
        rules = rules_of(task.filter, groups.order)
        task = replace(task, boxes=task.boxes.take(groups.order, 0), filter=rules)
    ways = np.full(groups.worlds, BY_ITSELF)
    if sweep:
        plan_worlds(task.boxes, task.boxes.reshape(1, -1), groups.starts, ways)
    found = [_sweep(task, groups, ways, axis) for axis in range(task.dim) if (ways == axis).any()]
    for world in np.flatnonzero(ways == BY_ITSELF).tolist():
        if sum(part.pairs for part in found) > task.limit:
            break
        begin, end = groups.starts[world : world + 2].tolist()
        found.append(_alone(task, begin, end, find))
    chunks = [chunk for part in found for chunk in part.chunks]
    if groups.order is not None:
        chunks = [_renamed(chunk, groups.order) for chunk in chunks]
    return Found(
        chunks,
        sum(part.pairs for part in found),
        sum(part.tests for part in found),
        sum(part.cells for part in found),
    )


def _renamed(chunk: PairArray, rows: npt.NDArray[np.int32]) -> PairArray:
    """Pairs of places in the order of environments, as pairs of rows: within one world rows ascend too."""
    named: PairArray = rows.take(chunk)
    return named


def _alone(task: Task, begin: int, end: int, find: Find) -> Found:
    """The pairs of one world, in memory of their own: the next search writes into the same scratch."""
    if end - begin < 2:
        return Found([], 0, 0)
    classes, *sets = task.filter
    rules = PairFilter(classes[begin:end], *(column[begin:end] for column in sets))
    found = find(replace(task, boxes=task.boxes[begin:end], filter=rules))
    return found._replace(chunks=[chunk + np.int32(begin) for chunk in found.chunks])


def _sweep(task: Task, groups: Grouped, ways: npt.NDArray[np.int64], axis: int) -> Found:
    """The pairs of all worlds that are swept along an axis."""
    worlds = np.flatnonzero(ways == axis)
    begins, ends = groups.starts[worlds], groups.starts[worlds + 1]
    axes = (axis, *(other for other in range(task.dim) if other != axis))
    crowded = np.zeros(len(worlds), np.bool_)
    form = RAW_TOUCHING if task.touching else RAW_APART
    strips = (task.boxes, _tags(task), begins[None], ends[None], form, crowded, False)
    fullest = int((ends - begins).max())

    def search(first: int, last: int) -> Part:
        columns = np.empty((2 * task.dim, room_for(fullest)), task.boxes.dtype)
        marks = np.empty((MARKS, room_for(fullest)), np.int32)
        kernel = partial(
            sweep_strips, axes, *strips, task.filter.categories, task.filter.masks, columns, marks
        )
        room = 2 * int(ends[last - 1] - begins[first]) + 1024 if task.store else 0
        out = np.empty((min(room, task.limit + 1024), 2), np.int32)
        return search_from(kernel, (first, 0, 0, 0, 0, 0), last, out, task.limit, task.store)

    parts = min(4 * task.threads, len(worlds)) if len(task.boxes) >= ENOUGH_FOR_THREADS else 1
    shares = threads.shares(len(worlds), parts if task.threads > 1 else 1)
    found = together(
        threads.run_all([partial(search, *share) for share in shares], task.threads), len(worlds)
    )
    # What crowds is seen only when it is sorted: it has been left out, and goes its own way.
    ways[worlds[crowded]] = BY_ITSELF
    return found


def _tags(task: Task) -> npt.NDArray[np.int32]:
    """The number and class bits of each box."""
    classes: Any = task.filter.classes
    tags = np.zeros((len(task.boxes), 2), np.int32)
    tags[:, 0] = np.arange(len(tags))
    if len(classes):
        np.left_shift(classes, FIRST_CLASS_BIT, out=tags[:, 1], dtype=np.int32)
    return tags
