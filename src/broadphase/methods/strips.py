"""Strips: the fast one.

The world is cut into strips (2-D: rows; 3-D: columns over a lattice), every box is copied into each
strip that it touches, and every strip is sorted and swept along the remaining axis, 16 boxes at a time.
A pair is reported in exactly one of the strips that its boxes share, without any memory of what was
reported before: see `broadphase.kernels.strips.bin`.

Source: the two-layer partitioning of Tsitsigkos and Mamoulis; box pruning as by Terdiman; their
combination and the diagonal sweep are our own.

Cost: linear in boxes, copies and comparisons; memory for the copies, 24 bytes each in 2-D float32 (64 in
small worlds).  It loses to brute force below some hundred boxes, and it is at its worst where most boxes are
long in one direction, others long in another, and few of them meet.
"""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.kernels.arrays.counting import equal_ranges
from broadphase.kernels.arrays.ordered_bits import bits_of
from broadphase.kernels.arrays.pieces import AT_ONCE
from broadphase.kernels.arrays.radix_sort import DIGITS, stable_argsort
from broadphase.kernels.boxes.filters import rules_of
from broadphase.kernels.strips.bin import FIRST_CLASS_BIT
from broadphase.kernels.strips.crowded import sort_crowded
from broadphase.kernels.strips.plan import IN_STRIPS, WHOLE
from broadphase.kernels.strips.sort import COMPARABLE, MARKS, RAW_APART, RAW_TOUCHING, room_for
from broadphase.kernels.strips.sweep import sweep_strips
from broadphase.methods import at_once, finder
from broadphase.methods.few_among_many import boxes_near, of_one_class
from broadphase.methods.strip_copies import Binned, Cut, Plan, bin_boxes, cut_world, parts_for
from broadphase.methods.task import Found, Task, search_all, search_rest, together
from broadphase.slices import (
    Part,
    Position,
    Resumable,
    limit_of_shares,
    rows_at,
    search_from,
    stop_if_unwanted,
)


def find(task: Task) -> Found:
    """Find all pairs with strips."""
    many = of_one_class(task)
    near = None if many is None else boxes_near(task.boxes[~many], task.boxes, task.threads, task.scratch)
    if near is None:
        return _find_among(task)
    found = _find_among(replace(task, boxes=near.others, filter=rules_of(task.filter, near.rows)))
    return found._replace(chunks=[near.rows.take(chunk) for chunk in found.chunks])


def _find_among(task: Task) -> Found:
    found = find_at_once(task)
    if found is not None:
        return found
    cut = cut_world(task)
    if cut.whole != IN_STRIPS:
        return _sweep_whole(task, cut)
    parts = parts_for(task)
    return sweep(task, *bin_boxes(task, cut, parts), parts)


def find_at_once(task: Task, plan: Plan | None = None, most_crowding: float = 0.0) -> Found | None:
    """Find all pairs of a world that is small enough for one call; ``None`` where that does not do.

    With a plan, it is cut by that, as long as copies are no more crowded than said.
    """
    if len(task.boxes) >= at_once.TOO_MANY or (plan is not None and plan.borders.size):
        return None
    if plan is None:
        found = at_once.begin(task)
    else:
        found = at_once.begin(task, plan.axes, plan.lattice, most_crowding)
    return _finish(task, found) if isinstance(found, at_once.Begun) else found


def _finish(task: Task, begun: at_once.Begun) -> Found:
    """Go on where there was no room for more pairs."""
    room, strips = begun.room, begun.strips
    found = Found([begun.out[: begun.pairs]] if task.store else [], begun.pairs, begun.tests, strips)
    if found.pairs <= task.limit:
        # Of a strip that is sorted no more is read than its columns and marks.
        there = (task.boxes, _NO_TAGS, _FIRST, _FIRST, COMPARABLE, np.zeros(1, np.bool_), False)
        kernel = _kernel(task, begun.axes, there, room.columns, room.marks)
        found = _both(found, search_rest(task, kernel, begun.at, 1, begun.out, found.pairs))
    return found


def _both(found: Found, more: Found | Part) -> Found:
    return found._replace(
        chunks=[*found.chunks, *more.chunks], pairs=found.pairs + more.pairs, tests=found.tests + more.tests
    )


def _sweep_whole(task: Task, cut: Cut) -> Found:
    """Sweep a small world in one piece, straight from its boxes."""
    crowded = np.zeros(1, np.bool_)
    if cut.whole == WHOLE:
        found = _sweep_one(task, cut, task.boxes, _tags(task), crowded, False)
        if not crowded[0]:
            return found
    order = stable_argsort(task.boxes[:, cut.swept])
    crowded[0] = True
    return _sweep_one(task, cut, rows_at(task.boxes, order), rows_at(_tags(task), order), crowded, True)


def _sweep_one(task: Task, cut: Cut, edges: Any, tags: Any, crowded: Any, in_order: bool) -> Found:
    form = RAW_TOUCHING if task.touching else RAW_APART
    strip = (edges, tags, _FIRST, np.array([[len(edges)]]), form, crowded, in_order)
    kernel = _kernel(task, cut.axes, strip, *_memory(task, len(edges), 0))
    return search_all(task, kernel, _begin(0), 1, 4 * len(edges), cells=1)


_FIRST = np.zeros((1, 1), np.int64)
_NO_TAGS = np.empty((0, 2), np.int32)


def _tags(task: Task) -> npt.NDArray[np.int32]:
    """The number and class bits of each box."""
    tags, classes = np.zeros((len(task.boxes), 2), np.int32), task.filter.classes
    tags[:, 0] = np.arange(len(tags))
    if len(classes):
        np.left_shift(classes, FIRST_CLASS_BIT, out=tags[:, 1], dtype=np.int32)
    return tags


def sweep(task: Task, plan: Plan, binned: Binned, parts: int) -> Found:
    """Sort and sweep every strip."""
    if binned.extreme:
        return _without_subtraction(task)
    strips = binned.ends.shape[1]
    # Four ranges of strips a thread, cut where the copies are equal: crowded strips take longer.
    shares = min(4 * parts, strips) if parts > 1 else 1
    borders = np.empty(shares + 1, np.int64)
    equal_ranges(binned.begins, binned.ends, binned.copies, borders)
    crowded = np.zeros(strips, np.bool_)
    found = _sweep_some(task, plan.axes, binned, borders, crowded, False)
    if crowded.any():
        found = _both(found, _sweep_crowds(task, plan.axes, binned, borders, crowded, parts))
    return found._replace(cells=strips)


def _sweep_crowds(
    task: Task,
    axes: tuple[int, ...],
    binned: Binned,
    borders: npt.NDArray[np.int64],
    crowded: npt.NDArray[np.bool_],
    parts: int,
) -> Found:
    """Sort and sweep the strips that are crowded."""
    _sort_crowds(task, axes, binned, np.flatnonzero(crowded), parts)
    return _sweep_some(task, axes, binned, borders, crowded, True)


def _sort_crowds(
    task: Task, axes: tuple[int, ...], binned: Binned, crowds: npt.NDArray[np.int64], parts: int
) -> None:
    """Sort the copies of crowded strips, exactly."""
    most = int((binned.ends - binned.begins).sum(axis=0)[crowds].max())
    bits = bits_of(binned.edges)

    def sort(first: int, last: int) -> None:
        keys, held = np.empty(most, bits.dtype), np.empty((most, bits.shape[1]), bits.dtype)
        words, counts, order = (
            np.empty((2, most), np.int64),
            np.empty(DIGITS, np.int64),
            np.empty(most, np.int32),
        )
        at = (first, 0, 0, 0, 0, 0)
        while at[0] < last:
            stop_if_unwanted()
            at = sort_crowded(
                *(axes, bits, binned.begins, binned.ends, crowds, at, last),
                *(keys, held, words, counts, order, AT_ONCE),
            )

    shares = threads.shares(len(crowds), min(parts, len(crowds)))
    threads.run_all([partial(sort, *share) for share in shares], parts)


def _sweep_some(
    task: Task,
    axes: tuple[int, ...],
    binned: Binned,
    borders: npt.NDArray[np.int64],
    crowded: npt.NDArray[np.bool_],
    again: bool,
) -> Found:
    """Sweep the ranges of strips between ``borders``: those that are not crowded, or those that are."""
    shares = len(borders) - 1
    room = 2 * binned.copies // shares + 1024
    names = [f"pairs {again:d} {share}" for share in range(shares)]
    rooms = [max(room, task.scratch.room(name) // 8) for name in names]
    strips = (binned.edges, binned.tags, binned.begins, binned.ends, COMPARABLE, crowded, again)

    left_of = limit_of_shares(task.limit, shares)
    # One for each share that is being searched, no more than there are threads.
    idle = [_memory(task, binned.fullest, number) for number in range(min(task.threads, shares))]

    def search(share: int, first: int, last: int, out: PairArray) -> Part:
        memory = idle.pop()
        kernel = _kernel(task, axes, strips, *memory)
        part = search_from(kernel, _begin(first), last, out, left_of(share), task.store)
        idle.append(memory)
        return part

    results = threads.run_all(
        [
            partial(search, share, *rows, task.scratch.array(names[share], (rooms[share], 2), np.int32))
            for share, rows in enumerate(pairwise(borders.tolist()))
        ],
        task.threads,
    )
    for name, before, part in zip(names, rooms, results, strict=True):
        if part.pairs > before and task.store:
            task.scratch.ask_for(name, 8 * part.pairs)
    return together(results, 1)


def _memory(task: Task, fullest: int, number: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Room for the columns and marks of the fullest strip, one of several."""
    room = room_for(fullest)
    columns = task.scratch.array(f"columns {number}", (2 * task.dim, room), task.boxes.dtype)
    return columns, task.scratch.array(f"marks {number}", (MARKS, room), np.int32)


def _kernel(
    task: Task,
    axes: tuple[int, ...],
    strips: tuple[Any, ...],
    columns: npt.NDArray[Any],
    marks: npt.NDArray[np.int32],
) -> Resumable:
    """What sweeps these strips, with memory for the one that it is at."""
    return partial(sweep_strips, axes, *strips, task.filter.categories, task.filter.masks, columns, marks)


def _begin(strip: int) -> Position:
    """Where a sweep begins that begins with this strip."""
    return strip, 0, 0, 0, 0, 0


def _without_subtraction(task: Task) -> Found:
    """For boxes that hold the largest finite number itself; see `broadphase.kernels.boxes.edges`."""
    if task.boxes.dtype == np.float32:
        return _find_among(replace(task, boxes=task.boxes.astype(np.float64)))
    return finder("sort_and_sweep")(task)
