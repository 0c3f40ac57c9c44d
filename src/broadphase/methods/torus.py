"""Worlds without edges: any search, on a torus.

The boxes are carried into the world and searched as usual: that finds all pairs that overlap as they lie.  Those
that reach over the seam have ghosts, one period lower (`broadphase.kernels.boxes.torus`), and a second search
asks what meets a ghost, among the boxes that lie near enough to the seam.  Only what that finds can be found
twice, so only that is looked through.

Cost: a pass over the boxes, and what the ghosts cost.  Where few boxes cross the seam that is next to nothing;
with boxes half as wide as the world it is a second search.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.kernels.boxes import torus as kernel
from broadphase.kernels.boxes.filters import rules_of
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.space import Period

# Boxes that share a class bit are never paired: those that have been, as they lie.
_AS_THEY_LIE = np.uint8(8)
_AXES = "xyz"

Search = Callable[[Task, "npt.NDArray[np.int32] | None"], Found]
"""Pairs of a task whose rows are such rows of the caller's; ``None``: they are the same."""


def period_of(period: Period, dtype: Any) -> npt.NDArray[np.floating[Any]]:
    """The period in the type of the boxes.

    Raises
    ------
    ValueError
        It is no length there: too small or too large for float32.
    """
    with np.errstate(over="ignore", under="ignore"):
        lengths = period.astype(dtype)
    for axis in np.flatnonzero((lengths == 0.0) | (np.isinf(lengths) != np.isinf(period))).tolist():
        raise ValueError(f"period[{axis}] = {period[axis]:g} does not fit into {lengths.dtype}; use float64")
    return lengths


def carried_in(
    boxes: BoxArray, lengths: npt.NDArray[Any], touching: bool, into: BoxArray, name: str = "boxes"
) -> int:
    """Write boxes into ``into`` as they lie in the world; returns how many ghosts they have.

    Raises
    ------
    ValueError
        A box lies at infinity, or so far away that its place in the world is lost in rounding.
    """
    ghosts, row, axis, trouble = kernel.carry_in(boxes, lengths, touching, into)
    if row >= 0:
        at = boxes[row, axis]
        where = f"{name}[{row}] has min_{_AXES[axis]} = {at:g}"
        if trouble == kernel.AT_INFINITY:
            raise ValueError(f"{where}, but infinity has no place in a world with a period; give it a finite one")
        raise ValueError(
            f"{where}, so many periods of {lengths[axis]:g} away from the world that its place in it is lost "
            "in rounding; bring it nearer"
        )
    return int(ghosts)


def find_on_torus(task: Task, period: Period, search: Search) -> Found:
    """All pairs that overlap on a torus."""
    lengths = period_of(period, task.boxes.dtype)
    boxes = task.scratch.array("torus boxes", task.boxes.shape, task.boxes.dtype)
    count = carried_in(task.boxes, lengths, task.touching, boxes)
    task = replace(task, boxes=boxes)
    found = search(task, None)
    if not count or found.pairs > task.limit:
        return found
    more = _across(task, lengths, count, search, found.pairs)
    return Found(
        [*found.chunks, *more.chunks], found.pairs + more.pairs, found.tests + more.tests, found.cells
    )


def _across(task: Task, lengths: npt.NDArray[Any], count: int, search: Search, before: int) -> Found:
    """The pairs that overlap only across the seam; chunks of the search before stay as they are."""
    boxes, dim = task.boxes, task.dim
    ghosts, sources = np.empty((count, 2 * dim), boxes.dtype), np.empty(count, np.int32)
    reach = np.empty(dim, boxes.dtype)
    made = int(kernel.make_ghosts(boxes, lengths, task.touching, ghosts, sources, reach))
    rows = task.scratch.array("torus rows", (len(boxes),), np.int32)
    near = rows[: kernel.rows_near_seam(boxes, reach, rows)]
    pieces = np.concatenate((near, sources[:made]))
    rules = rules_of(task.filter, pieces)
    classes = rules.classes if len(rules.classes) else np.zeros(len(pieces), np.uint8)
    classes[: len(near)] |= _AS_THEY_LIE
    # A pair is found at most so often; what is a pair already, or no pair, takes room too.
    limit = task.limit if task.limit == NO_LIMIT else 4**dim * (task.limit + made) + 1
    asked = Task(
        np.concatenate((boxes.take(near, 0), ghosts[:made])),
        task.touching,
        rules._replace(classes=classes),
        task.threads,
        limit,
    )
    found = search(asked, pieces)
    keys = np.empty(sum(map(len, found.chunks)), np.int64)
    kept = 0
    for chunk in found.chunks:
        kept += kernel.new_pairs(chunk, pieces, boxes, task.touching, keys[kept:])
    own = np.unique(keys[:kept])
    pairs = np.empty((len(own), 2), np.int32)
    pairs[:, 0] = own >> 32
    pairs[:, 1] = own & 0xFFFFFFFF
    total = len(pairs) if found.pairs <= limit else max(task.limit - before + 1, len(pairs))
    return Found([pairs], total, found.tests, found.cells)
