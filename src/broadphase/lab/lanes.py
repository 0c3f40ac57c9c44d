"""One method at work on a scene: an index, as users make it, and what its calls cost."""

import math
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes import Choice, make_index
from broadphase.indexes.base import Index
from broadphase.indexes.classes import CellIndex, Strips, SweepAndPrune
from broadphase.indexes.results import Stats
from broadphase.indexes.sweep_and_prune import MOST_TOUCHED
from broadphase.kernels.cells.lists import ENTRIES
from broadphase.lab import cutting
from broadphase.lab.tracing import MOST_STRUCTURE, MOST_TRACED, strips
from broadphase.methods.cell_size import at_most, suggest_cell_size, take_sample, world_of

# The page shows no more cells than this anyway, and a grid over far clusters would have billions.
MOST_CELLS = 1_000_000
LARGEST_TABLE = 2_000_000
# A tight loop takes so many seconds, and no more rounds than these.
_LOOP, _MOST_ROUNDS = 0.004, 25
_PLACES = 4  # digits of a cell size: a number that fits into a line


@dataclass(frozen=True)
class Outcome:
    """What one frame of one lane found and cost."""

    pairs: PairArray
    stats: Stats
    seconds: float
    copies: float = math.nan
    """In how many cells or strips a body lies on average; NaN where there are none."""
    fell_back: bool = False
    """Whether so much had moved that sweep and prune sorted and searched everything anew."""


def move_patiently(index: Index, ids: npt.NDArray[np.intp], boxes: BoxArray) -> None:
    """Move boxes of a sweep and prune a few at a time, so that their ends are swapped however many move.

    When more than a third of its boxes move at once, `broadphase.SweepAndPrune` sorts them and finds all
    pairs anew, which is quicker; but then nothing can be seen of what it is about.

    Examples
    --------
    >>> import numpy as np, broadphase as bp
    >>> index = bp.SweepAndPrune()
    >>> ids = index.insert_many([[0, 0, 2, 2], [3, 0, 5, 2], [6, 0, 8, 2], [9, 0, 11, 2]])
    >>> len(index.pairs())
    0
    >>> move_patiently(index, ids, np.array([[4, 0, 6, 2], [3, 0, 5, 2], [7, 0, 9, 2], [9, 0, 11, 2]]))
    >>> index.pairs().tolist(), index.stats.swaps
    ([[0, 1], [2, 3]], 6)
    """
    at_once = max(1, int(MOST_TOUCHED * len(index)))
    for begin in range(0, len(ids), at_once):
        index.move_many(ids[begin : begin + at_once], boxes[begin : begin + at_once])
        index._structure.ready()


def options_for(name: str, boxes: BoxArray, cell_scale: float | None, slots: float | None) -> dict[str, Any]:
    """What the sliders mean for an index over these boxes: the options that a program would write."""
    options: dict[str, Any] = {}
    if name in ("uniform_grid", "spatial_hash") and cell_scale is not None:
        size = cell_scale * suggest_cell_size(boxes).size
        if name == "uniform_grid":
            size = at_most(MOST_CELLS, size, world_of(take_sample(boxes)))
        options["cell_size"] = float(f"{size:.{_PLACES}g}")
    if name == "spatial_hash" and slots is not None:
        options["table_size"] = min(max(1, round(slots * len(boxes))), LARGEST_TABLE)
    return options


class Lane:
    """An index over the bodies of a scene.

    Parameters
    ----------
    method : str
        A name of `broadphase.INDEXES`.
    boxes : numpy.ndarray
        ``(n, 4)``: the bodies as they are now; the index is filled with them.
    static : numpy.ndarray
        ``(n,)`` bool: which of them never move.
    cell_scale, slots : float, optional
        See `options_for`.
    cut : int, optional
        Into how many strips the world is cut; as the engine chooses where it is not given.
    options : dict, optional
        Of the index, in place of what ``cell_scale`` and ``slots`` mean.
    """

    def __init__(
        self,
        method: str,
        boxes: BoxArray,
        static: npt.NDArray[np.bool_],
        cell_scale: float | None = None,
        slots: float | None = None,
        cut: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.cut = cut if method == "strips" else None
        self.options = options_for(method, boxes, cell_scale, slots) if options is None else options
        self.index: Index = make_index(cast(Choice, method), **self.options)
        self.index.insert_many(boxes, static=static)
        self._boxes = self._last = boxes
        self.steady = math.nan
        """Seconds of a frame as `measure` found them last."""
        self.before: Index | None = None
        """A copy of the index from before the last frame, where the tracing needs one."""

    @property
    def name(self) -> str:
        """What the index calls itself: what "auto" has become."""
        return self.index.name

    def run(self, boxes: BoxArray, *, remember: bool = False) -> Outcome:
        """Bring the index up to date with the scene and find the pairs.

        Parameters
        ----------
        boxes : numpy.ndarray
            ``(n, 4)``: all bodies.
        remember : bool
            Keep a copy of the index as it was before.
        """
        self.before = self.index.copy() if remember else None
        before, self._boxes = self._boxes, boxes
        moved = np.flatnonzero((boxes != before).any(axis=1))
        if len(moved):
            self._last = before
        start = perf_counter()
        self._follow(self.index, moved, boxes)
        pairs = self.index.pairs()
        seconds = perf_counter() - start
        return Outcome(pairs, self.index.stats, seconds, self._copies(), self._falls_back(len(moved)))

    @property
    def is_patient(self) -> bool:
        """Whether sweep and prune swaps ends however many boxes move; see `move_patiently`."""
        return isinstance(self.index, SweepAndPrune) and len(self.index) <= MOST_TRACED

    def _follow(self, index: Index, moved: npt.NDArray[np.intp], boxes: BoxArray) -> None:
        if self.cut is not None and isinstance(index, Strips):
            cutting.cut_into(index, self.cut, boxes)
        if self.is_patient:
            move_patiently(index, moved, boxes[moved])
        elif len(moved) == len(boxes):
            index.update(boxes)
        elif len(moved):
            index.move_many(moved, boxes[moved])

    def _falls_back(self, moved: int) -> bool:
        many = moved > MOST_TOUCHED * len(self.index)
        return many and isinstance(self.index, SweepAndPrune) and not self.is_patient

    def _copies(self) -> float:
        """In how many cells or strips a body lies on average."""
        if isinstance(self.index, CellIndex):
            entries = sum(int(lists.tally[ENTRIES]) for lists in self.index._structure._lists)
            return entries / max(len(self.index), 1)
        if isinstance(self.index, Strips) and len(self.index) <= MOST_STRUCTURE:
            cut = strips.structure(self.index)
            return math.nan if cut is None else float(cut.copies.sum()) / max(len(cut.continued), 1)
        return math.nan

    def measure(self) -> float:
        """Seconds that the last frame takes: the median of a tight loop, to and fro between two frames.

        A single call between two pictures finds cold caches and a processor that has just slept.
        """
        index = self.index.copy()
        moved = np.flatnonzero((self._boxes != self._last).any(axis=1))
        index.pairs()
        rounds: list[float] = []
        end = perf_counter() + _LOOP
        while len(rounds) < _MOST_ROUNDS and (len(rounds) < 3 or perf_counter() < end):
            boxes = self._boxes if len(rounds) % 2 else self._last
            start = perf_counter()
            if len(moved):
                self._follow(index, moved, boxes)
            index.pairs()
            rounds.append(perf_counter() - start)
        self.steady = median(rounds)
        return self.steady

    def report(self) -> dict[str, Any]:
        """What is worth saying about the cells, in words."""
        said: dict[str, Any] = {"method": self.method, "name": self.name, "options": self.options}
        if isinstance(self.index, CellIndex):
            report = self.index.explain()
            said["cells"] = {
                "verdict": report.verdict,
                "reason": report.reason,
                "size": report.cell_size,
                "suggested": report.suggested,
                "places": report.places,
                "used": report.used,
                "copies": report.copies,
                "company": report.company,
                "fullest": report.fullest,
                "oversize": report.oversize,
            }
        return said
