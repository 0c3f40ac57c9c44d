"""A few boxes against many: a prefilter that drops boxes that can meet none of the few.

If ten thousand boxes are joined with a million, most of the million are near none of them, and dividing
these into strips is wasted work.  One pass over the many, one bit each
(`broadphase.kernels.strips.near_few`), leaves a tenth of them; the few and those are then searched as usual.

Cost: a pass over the many, about a sixth of the time for finding their pairs, and the cells of the few.  It
loses if the few cover most of the world: a sample shows this, and then nothing is dropped.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray, sides_of
from broadphase.kernels.boxes.checks import finite_bounds
from broadphase.kernels.strips.bin import HALF_ORIGIN, LAST, SCALE
from broadphase.kernels.strips.near_few import BLOCK, mark_cells, select_near
from broadphase.methods.task import Task
from broadphase.runtime import threads, thresholds
from broadphase.runtime.memory import Scratch

_SAMPLE = 256
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


class _Picture(NamedTuple):
    """The resolution of the bitmap of the few."""

    lattice: npt.NDArray[Any]
    """One row for each axis, as `broadphase.kernels.strips.bin.strip_of` takes it."""
    slack: npt.NDArray[Any]


def boxes_near(few: BoxArray, many: BoxArray, parts: int, scratch: Scratch) -> Near | None:
    """The boxes of ``many``, of the same type, that may overlap one of ``few``; ``None`` if all may."""
    if not len(few) or len(many) < max(thresholds.MANY_BOXES, thresholds.MANY_FOR_EACH * len(few)):
        return None
    picture = _plan(few, many)
    if picture is None:
        return None
    cells = math.prod(int(last) + 1 for last in picture.lattice[:, LAST].tolist())
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
            partial(select_near, *shared, begin, end, np.empty(BLOCK, np.int32), rows[begin:], others[begin:])
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
    usual = np.bincount(classes[:: len(classes) // _SAMPLE]).argmax()
    if usual == 0:
        return None  # boxes without a class are paired with each other
    many: npt.NDArray[np.bool_] = classes == usual
    return many if (len(many) - np.count_nonzero(many)) * thresholds.MANY_FOR_EACH <= len(many) else None


@np.errstate(all="ignore")  # if all is one point, or a box is infinite
def _plan(few: BoxArray, many: BoxArray) -> _Picture | None:
    """The bitmap that drops most boxes, judged by a sample; ``None`` if it would not drop many."""
    dim, kind = few.shape[1] // 2, few.dtype
    low, high = bounds = np.empty((2, few.shape[1] // 2))
    finite_bounds(few, bounds)
    sides, lengths = (sides_of(boxes[:: max(len(boxes) // _SAMPLE, 1)]) for boxes in (few, many))
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
    return _Picture(lattice, wide) if np.isfinite(lattice).all() and lattice[:, SCALE].all() else None
