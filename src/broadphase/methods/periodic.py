"""Periodic worlds: any method, with ghosts of the boxes that cross the periodic boundary.

The boxes are wrapped into the period and searched as usual: that finds all pairs that overlap inside the
world.  Boxes that cross the boundary have ghosts, one period lower (`broadphase.periods.ghosts`), and a
second search finds what meets a ghost, among the boxes that are near enough to the boundary.  Only the second
search can find a pair twice, so only its results are checked for duplicates.

Cost: a pass over the boxes, and that of the ghosts.  If few boxes cross the boundary, that is next to
nothing; with boxes half as wide as the world it is a second search.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.boxes import periodic as kernel
from broadphase.kernels.boxes.overlap import rules_of
from broadphase.methods.pair_order import as_pairs
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.periods.ghosts import Wrapped, wrapped_boxes
from broadphase.runtime import threads

# Boxes that share a class bit are never paired: here the pairs that were found inside the world.
_AS_THEY_LIE = np.uint8(8)

Search = Callable[[Task, "npt.NDArray[np.int32] | None"], Found]
"""Searches a task, whose rows are these rows of the caller's boxes; ``None``: they are the same."""


def find_periodic(task: Task, period: npt.NDArray[np.float64], search: Search) -> Found:
    """All pairs that overlap in a periodic world."""
    wrapped = task.scratch.array("wrapped boxes", task.boxes.shape, task.boxes.dtype)
    carried = wrapped_boxes(task.boxes, period, task.touching, wrapped, task.threads)
    task = replace(task, boxes=wrapped)
    found = search(task, None)
    if not carried.ghosts or found.pairs > task.limit:
        return found
    return with_across(task, carried, search, found)


def with_across(task: Task, carried: Wrapped, search: Search, before: Found) -> Found:
    """With the pairs that overlap only across the boundary; chunks of the search before stay as they are."""
    ghosts, sources, reach = carried.make_ghosts()
    candidates = _near_seam(task, reach)
    pieces = np.concatenate((candidates, sources))
    rules = rules_of(task.filter, pieces)
    classes = rules.classes if len(rules.classes) else np.zeros(len(pieces), np.uint8)
    classes[: len(candidates)] |= _AS_THEY_LIE
    # The most often that a pair can be found; duplicates and non-pairs take memory too.
    limit = min(4**task.dim * (task.limit + len(ghosts)) + 1, NO_LIMIT)
    boxes = np.concatenate((task.boxes.take(candidates, 0), ghosts))
    found = search(Task(boxes, task.touching, rules._replace(classes=classes), task.threads, limit), pieces)
    keys = np.empty(sum(map(len, found.chunks)), np.int64)
    kept = 0
    for chunk in found.chunks:
        kept += int(kernel.new_pairs(chunk, pieces, task.boxes, task.touching, keys[kept:]))
    pairs = as_pairs(np.unique(keys[:kept]))
    total = len(pairs) if found.pairs <= limit else max(task.limit - before.pairs + 1, len(pairs))
    return Found([*before.chunks, pairs], before.pairs + total, before.tests + found.tests, before.cells)


def _near_seam(task: Task, reach: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The rows that a ghost may meet."""
    boxes = task.boxes
    rows = task.scratch.array("crossing rows", (len(boxes),), np.int32)
    spans = threads.shares(len(boxes), task.threads, cost=4.0)
    calls = [partial(kernel.rows_near_seam, boxes, reach, *span, rows[span[0] :]) for span in spans]
    counts = threads.run_all(calls, task.threads)
    return np.concatenate(
        [rows[begin : begin + int(count)] for (begin, _), count in zip(spans, counts, strict=True)]
    )
