"""How much work a frame is, counted and not timed: its bodies, overlaps and tests, and where they crowd.

Times of one frame depend on what else the machine was doing; counts do not.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.api.one_shot import search
from broadphase.inputs.boxes import BoxArray, sides_of
from broadphase.inputs.numeric import readable
from broadphase.inputs.search import Space
from broadphase.kernels.boxes.overlap import IN_B, rules_of
from broadphase.methods.task import Task
from broadphase.runtime.memory import PairArray

Rows = npt.NDArray[np.intp]

_CROWDED = 8  # overlaps of a body, to be part of a crowd
_LEAST_CROWD = 10  # bodies
_GIANT = 10  # times the median longest side
_MOST_PAIRS = 2_000_000  # pairs in which a crowd is searched; of more, a sample of the boxes
_MOST_STEPS = 64
# A frame is busy with this many times the median number of tests, and with so many at least: fewer take
# microseconds.
_BUSY, _LEAST_TESTS = 2.0, 100


class Work(NamedTuple):
    """The work of one frame."""

    bodies: int
    overlaps: int
    """Pairs of boxes that overlap and may be paired."""
    tests: int
    """The comparisons with which the method ``"tree"`` finds them.

    It suits all scenes, and the number changes little while bodies only move about.
    """


def count_work(task: Task, space: Space | None = None) -> Work:
    """Search the boxes of a task once, without storing pairs."""
    found = search("tree", replace(task, store=False), space)
    return Work(len(task.boxes), found.pairs, found.tests)


def overlaps_of(task: Task, rows: Rows, space: Space | None = None) -> int:
    """How many overlaps these boxes have, with each other and with all others."""
    classes = np.full(len(task.boxes), IN_B, np.uint8)
    classes[rows] = 0
    if len(task.filter.classes):
        classes |= task.filter.classes
    task = replace(task, store=False, filter=task.filter._replace(classes=classes))
    return search("strips", task, space).pairs


# ---- where bodies crowd


class Crowd(NamedTuple):
    """Boxes that overlap many others, in one place."""

    rows: Rows
    bounds: list[float]
    """A box around them: all ``min``, then all ``max``."""

    @property
    def place(self) -> str:
        """Where it is, in words."""
        dim = len(self.bounds) // 2
        low, high = np.array(self.bounds[:dim]), np.array(self.bounds[dim:])
        size = " x ".join(readable(side, 3) for side in (high - low).tolist())
        return f"within {size} around ({', '.join(map(readable, (low / 2 + high / 2).tolist()))})"


def find_giants(boxes: BoxArray) -> Rows:
    """The rows of boxes that are much larger than the median, infinite ones too; none if they are many."""
    longest = longest_sides(boxes)
    sized = longest[longest > 0]
    giants: Rows = np.flatnonzero(longest / _GIANT > np.median(sized)) if len(sized) else np.empty(0, np.intp)
    return giants if len(giants) <= len(boxes) // 20 else giants[:0]


def longest_sides(boxes: BoxArray) -> npt.NDArray[np.float64]:
    """The longest side of each box."""
    longest: npt.NDArray[np.float64] = sides_of(boxes).max(axis=1)
    return longest


def find_crowd(task: Task, overlaps: int) -> Crowd | None:
    """The place where boxes overlap most others; None if no box overlaps many.

    From the box with the most overlaps it extends over all others that have many and overlap one of them.
    Giants do not count.  A crowd ends at the edge of a periodic world.
    """
    boxes = task.boxes
    thin = math.ceil(math.sqrt(overlaps / _MOST_PAIRS)) if overlaps > _MOST_PAIRS else 1
    finite = np.flatnonzero(np.isfinite(boxes).all(axis=1))
    usual = np.setdiff1d(finite, find_giants(boxes)).astype(np.int32)[::thin]
    chunks = search("strips", replace(task, boxes=boxes[usual], filter=rules_of(task.filter, usual))).chunks
    if not chunks:
        return None
    pairs = np.concatenate(chunks)
    degrees = np.bincount(pairs.ravel(), minlength=len(usual))
    descending = np.sort(degrees)[::-1]
    # Half of all overlaps are those of boxes with at least as many as this one.
    middle = descending[np.searchsorted(np.cumsum(descending), len(pairs))]
    heavy = degrees >= max(middle / 4, _CROWDED / thin)
    if np.count_nonzero(heavy) < _LEAST_CROWD / thin:
        return None
    members = boxes[usual[_together(pairs[heavy[pairs].all(axis=1)], heavy, int(degrees.argmax()))]]
    dim = boxes.shape[1] // 2
    low, high = members[:, :dim].min(axis=0), members[:, dim:].max(axis=0)
    inside = (boxes[:, :dim] >= low).all(axis=1) & (boxes[:, dim:] <= high).all(axis=1)
    rows = np.flatnonzero(inside)
    return Crowd(rows, [*low.tolist(), *high.tolist()]) if len(rows) >= _LEAST_CROWD else None


def _together(pairs: PairArray, heavy: npt.NDArray[np.bool_], first: int) -> Rows:
    """What hangs together with one row by pairs."""
    reached = np.zeros(len(heavy), np.bool_)
    reached[first] = True
    for _ in range(_MOST_STEPS):
        before = np.count_nonzero(reached)
        reached[pairs[reached[pairs].any(axis=1)]] = True
        if np.count_nonzero(reached) == before:
            break
    return np.flatnonzero(reached)


# ---- which frames are busy


class Busy(NamedTuple):
    """A stretch of frames with much more work than the median."""

    begin: int
    peak: int
    """The frame with the most tests."""
    end: int
    """The frame after the last one."""
    times: float
    """The tests at the peak, as a multiple of the median."""


def busy_stretches(tests: npt.NDArray[np.int64]) -> list[Busy]:
    """The stretches with at least twice the median number of tests, the one with the most first."""
    usual = max(float(np.median(tests)), 1.0) if len(tests) else 1.0
    busy = np.pad(tests >= max(_BUSY * usual, _LEAST_TESTS), 1)
    found = []
    for begin, end in np.flatnonzero(np.diff(busy)).reshape(-1, 2).tolist():
        peak = begin + int(tests[begin:end].argmax())
        found.append(Busy(begin, peak, end, float(tests[peak] / usual)))
    return sorted(found, key=lambda stretch: (-stretch.times, stretch.peak))


# ---- the sentence


def sentence(
    task: Task, space: Space | None, work: Work, usual: list[float], names: Callable[[int], str]
) -> str:
    """The boxes of a frame in words; ``usual`` are the medians of all frames, ``names`` names a row."""
    bodies, overlaps, tests = (
        f"{count:,} {one if count == 1 else many}{compared(count, median)}"
        for count, median, one, many in zip(
            work, usual, ("body", "overlap", "test"), ("bodies", "overlaps", "tests"), strict=True
        )
    )
    crowd = find_crowd(task, work.overlaps)
    where = f"{len(crowd.rows):,} of {bodies} lie {crowd.place}" if crowd else bodies
    giants = find_giants(task.boxes)
    met = overlaps_of(task, giants, space) if len(giants) else 0
    if 2 * met < max(work.overlaps, 2 * _LEAST_CROWD):
        return f"{where}; {tests}; {overlaps}"
    who = names(int(giants[0])) if len(giants) == 1 else f"{len(giants)} bodies"
    return f"{where}; {tests}; {overlaps}, {met:,} of them with {who}, much larger than the others"


def compared(count: int, usual: float) -> str:
    """How a count compares with the median; nothing where it is as usual."""
    if count == usual:
        return ""
    if usual and count >= 2 * usual:
        times = count / usual
        return f", {times:,.0f} times the median" if times >= 10 else f", {times:.1f} times the median"
    return f" (median {usual:,.0f})"
