"""Periodic worlds: any method, with ghosts of the boxes that cross the periodic boundary.

The boxes are wrapped into the period and searched as usual: that finds all pairs that overlap inside the
world.  Boxes that cross the boundary have ghosts, one period lower (`broadphase.kernels.boxes.periodic`), and
a second search finds what meets a ghost, among the boxes that are near enough to the boundary.  Only the
second search can find a pair twice, so only its results are checked for duplicates.

Cost: a pass over the boxes, and that of the ghosts.  If few boxes cross the boundary, that is next to
nothing; with boxes half as wide as the world it is a second search.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.periods import Period
from broadphase.kernels.boxes import periodic as kernel
from broadphase.kernels.boxes.overlap import rules_of
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.runtime import threads

# Boxes that share a class bit are never paired: here the pairs that were found inside the world.
_AS_THEY_LIE = np.uint8(8)
_AXES = "xyz"
ENOUGH_FOR_THREADS = 50_000

Search = Callable[[Task, "npt.NDArray[np.int32] | None"], Found]
"""Searches a task, whose rows are these rows of the caller's boxes; ``None``: they are the same."""


def period_of(period: Period, dtype: Any) -> npt.NDArray[np.floating[Any]]:
    """The period in the type of the boxes.

    Raises
    ------
    ValueError
        The period is too small or too large for float32.
    """
    if period.dtype == dtype:
        return period
    with np.errstate(over="ignore", under="ignore"):
        lengths = period.astype(dtype)
    for axis in np.flatnonzero((lengths == 0.0) | (np.isinf(lengths) != np.isinf(period))).tolist():
        raise ValueError(f"period[{axis}] = {period[axis]:g} does not fit into {lengths.dtype}; use float64")
    return lengths


class Wrapped(NamedTuple):
    """Boxes wrapped into the world."""

    boxes: BoxArray
    lengths: npt.NDArray[np.floating[Any]]
    """The period in the type of the boxes."""
    touching: bool
    crossing: npt.NDArray[np.int32]
    """The rows that cross the boundary, ascending."""
    ghosts: int
    """How many ghosts they have."""

    def make_ghosts(self) -> tuple[BoxArray, npt.NDArray[np.int32], npt.NDArray[np.floating[Any]]]:
        """The ghosts, the row of each, and how far those that are shifted along each axis reach."""
        dim = self.boxes.shape[1] // 2
        ghosts = np.empty((self.ghosts, 2 * dim), self.boxes.dtype)
        sources, reach = np.empty(self.ghosts, np.int32), np.empty(dim, self.boxes.dtype)
        kernel.make_ghosts(self.boxes, self.crossing, self.lengths, self.touching, ghosts, sources, reach)
        return ghosts, sources, reach


def wrapped_boxes(
    boxes: BoxArray, period: Period, touching: bool, into: BoxArray, parts: int = 1, name: str = "boxes"
) -> Wrapped:
    """Write valid boxes into ``into``, wrapped into the world.

    Raises
    ------
    ValueError
        A box is at infinity, or so far away that rounding loses its place in the world.
    """
    lengths = period_of(period, boxes.dtype)
    crossing = np.empty(len(boxes), np.int32)
    spans = threads.shares(len(boxes), parts if len(boxes) >= ENOUGH_FOR_THREADS else 1)
    done = threads.run_all(
        [
            partial(kernel.wrap_boxes, boxes, lengths, touching, *span, into, crossing[span[0] :])
            for span in spans
        ],
        parts,
    )
    for _, _, row, axis, trouble in done:
        if row >= 0:
            raise _has_no_place(boxes, int(row), int(axis), int(trouble), lengths, name)
    rows = [crossing[begin : begin + part[0]] for (begin, _), part in zip(spans, done, strict=True)]
    own = rows[0].copy() if len(rows) == 1 else np.concatenate(rows)
    return Wrapped(into, lengths, touching, own, sum(int(part[1]) for part in done))


def _has_no_place(
    boxes: BoxArray, row: int, axis: int, trouble: int, lengths: npt.NDArray[Any], name: str
) -> ValueError:
    where = f"{name}[{row}] has min_{_AXES[axis]} = {boxes[row, axis]:g}"
    if trouble == kernel.AT_INFINITY:
        return ValueError(f"{where}, and infinity is no place in a world with a period; give it a finite one")
    return ValueError(
        f"{where}, so many periods of {lengths[axis]:g} away from the world that its place there is lost in "
        "rounding; bring it nearer"
    )


def find_periodic(task: Task, period: Period, search: Search) -> Found:
    """All pairs that overlap in a periodic world."""
    into = task.scratch.array("wrapped boxes", task.boxes.shape, task.boxes.dtype)
    carried = wrapped_boxes(task.boxes, period, task.touching, into, task.threads)
    task = replace(task, boxes=into)
    found = search(task, None)
    if not carried.ghosts or found.pairs > task.limit:
        return found
    more = find_across(task, carried, search, found.pairs)
    return Found(
        [*found.chunks, *more.chunks], found.pairs + more.pairs, found.tests + more.tests, found.cells
    )


def find_across(task: Task, carried: Wrapped, search: Search, before: int) -> Found:
    """The pairs that overlap only across the boundary; chunks of the search before stay as they are."""
    ghosts, sources, reach = carried.make_ghosts()
    near = _near_seam(task, reach)
    pieces = np.concatenate((near, sources))
    rules = rules_of(task.filter, pieces)
    classes = rules.classes if len(rules.classes) else np.zeros(len(pieces), np.uint8)
    classes[: len(near)] |= _AS_THEY_LIE
    # The most often that a pair can be found; duplicates and non-pairs take memory too.
    limit = task.limit if task.limit == NO_LIMIT else 4**task.dim * (task.limit + len(ghosts)) + 1
    boxes = np.concatenate((task.boxes.take(near, 0), ghosts))
    found = search(Task(boxes, task.touching, rules._replace(classes=classes), task.threads, limit), pieces)
    keys = np.empty(sum(map(len, found.chunks)), np.int64)
    kept = 0
    for chunk in found.chunks:
        kept += int(kernel.new_pairs(chunk, pieces, task.boxes, task.touching, keys[kept:]))
    own = np.unique(keys[:kept])
    pairs = np.empty((len(own), 2), np.int32)
    pairs[:, 0] = own >> 32
    pairs[:, 1] = own & 0xFFFFFFFF
    total = len(pairs) if found.pairs <= limit else max(task.limit - before + 1, len(pairs))
    return Found([pairs], total, found.tests, found.cells)


def _near_seam(task: Task, reach: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The rows that a ghost may meet."""
    boxes = task.boxes
    rows = task.scratch.array("crossing rows", (len(boxes),), np.int32)
    spans = threads.shares(len(boxes), task.threads if len(boxes) >= ENOUGH_FOR_THREADS else 1)
    calls = [partial(kernel.rows_near_seam, boxes, reach, *span, rows[span[0] :]) for span in spans]
    counts = threads.run_all(calls, task.threads)
    return np.concatenate(
        [rows[begin : begin + int(count)] for (begin, _), count in zip(spans, counts, strict=True)]
    )
