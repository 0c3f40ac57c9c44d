"""One method at work on a scene: an index, as users make it, and what its calls cost.

Also here: strips in a chosen number, and the cost of a method against the number of bodies.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from broadphase.indexes import Choice, make_index
from broadphase.indexes.base import Index
from broadphase.indexes.classes import AdaptiveIndex, CellIndex, Strips, SweepAndPrune
from broadphase.indexes.results import Stats
from broadphase.indexes.strips import StripsFrame
from broadphase.indexes.sweep_and_prune import MOST_TOUCHED
from broadphase.inputs.boxes import BoxArray
from broadphase.lab.scenes import make_scene
from broadphase.lab.tracing import MOST_STRUCTURE, MOST_TRACED, strips
from broadphase.methods.cells import at_most, suggest_cell_size, take_sample, world_of
from broadphase.methods.strips import Division
from broadphase.runtime.memory import PairArray
from broadphase.runtime.slices import stop_if_unwanted

# The page cannot show more cells, and a grid over far clusters would have billions.
MOST_CELLS = 1_000_000
LARGEST_TABLE = 2_000_000
# A tight loop runs for this many seconds, with at most this many rounds.
_LOOP, _MOST_ROUNDS = 0.004, 25
_DIGITS = 4  # of a cell size, so that it fits into a line


@dataclass(frozen=True)
class Outcome:
    """What one frame of one lane found and cost."""

    pairs: PairArray
    stats: Stats
    seconds: float
    copies: float = math.nan
    """How many cells or strips a body covers on average; NaN if there are none."""
    fell_back: bool = False
    """Whether enough boxes moved that sweep and prune sorted and searched from scratch."""


def move_patiently(index: Index, ids: npt.NDArray[np.intp], boxes: BoxArray) -> None:
    """Move the boxes of a sweep and prune a few at a time, so that it swaps ends however many boxes move.

    When more than a third of its boxes move in one call, `broadphase.SweepAndPrune` sorts them and searches
    from scratch, which is faster; but then there are no swaps to show.

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
    """Convert slider values to the options of an index over these boxes, as a program would write them."""
    options: dict[str, Any] = {}
    if name in ("uniform_grid", "spatial_hash") and cell_scale is not None:
        size = cell_scale * suggest_cell_size(boxes).size
        if name == "uniform_grid":
            size = at_most(MOST_CELLS, size, world_of(take_sample(boxes)))
        options["cell_size"] = float(f"{size:.{_DIGITS}g}")
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
        ``(n, 4)``: the bodies, which are inserted into the index.
    static : numpy.ndarray
        ``(n,)`` bool: which bodies never move.
    cell_scale, slots : float, optional
        See `options_for`.
    cut : int, optional
        How many strips; by default the engine chooses.
    """

    def __init__(
        self,
        method: str,
        boxes: BoxArray,
        static: npt.NDArray[np.bool_],
        cell_scale: float | None = None,
        slots: float | None = None,
        cut: int | None = None,
    ) -> None:
        self.method = method
        self.cut = cut if method == "strips" else None
        self.options = options_for(method, boxes, cell_scale, slots)
        self.index: Index = make_index(cast(Choice, method), **self.options)
        self.index.insert_many(boxes, static=static)
        self._boxes = self._last = boxes
        self.steady = math.nan
        """Seconds per frame at the last `measure`."""
        self.before: Index | None = None
        """A copy of the index from before the last frame, if the trace needs one."""

    @property
    def name(self) -> str:
        """The name of the index, or of the way that the adaptive one took last."""
        structure = self.index._structure
        return structure.way if isinstance(self.index, AdaptiveIndex) else self.index.name

    def run(self, boxes: BoxArray, *, remember: bool = False) -> Outcome:
        """Bring the index up to date with the scene and find the pairs.

        Parameters
        ----------
        boxes : numpy.ndarray
            ``(n, 4)``: all bodies.
        remember : bool
            Keep a copy of the index from before this frame.
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
        """Whether this is a sweep and prune that moves boxes a few at a time; see `move_patiently`."""
        return isinstance(self.index, SweepAndPrune) and len(self.index) <= MOST_TRACED

    def _follow(self, index: Index, moved: npt.NDArray[np.intp], boxes: BoxArray) -> None:
        if self.cut is not None and isinstance(index, Strips):
            cut_into(index, self.cut, boxes)
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
        """How many cells or strips a body covers on average."""
        if isinstance(self.index, CellIndex):
            entries = sum(len(bins.entries) - 1 for bins in self.index._structure.cells())
            return entries / max(len(self.index), 1)
        if isinstance(self.index, Strips) and len(self.index) <= MOST_STRUCTURE:
            cut = strips.structure(self.index)
            return math.nan if cut is None else float(cut.copies.sum()) / max(len(cut.continued), 1)
        return math.nan

    def measure(self) -> float:
        """Seconds for the last frame: the median of a tight loop that alternates between two frames.

        A single call between two pictures would be slower: caches are cold and the processor was idle.
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
        """What the page shows about the index and its cells."""
        fields: dict[str, Any] = {"method": self.method, "name": self.name, "options": self.options}
        if isinstance(self.index, CellIndex):
            fields["cells"] = asdict(self.index.explain())
        return fields


# ---- a chosen number of strips

MOST_STRIPS = 64


def cut_into(index: Strips, count: int, boxes: BoxArray) -> None:
    """Make an index of strips find its next pairs in ``count`` strips of equal width.

    The engine would choose the number: it sweeps up to some hundred boxes as one strip, because that is
    fastest.  With a chosen number, one sees what strips do and cost in the engine's own kernels.  The strips
    cut the y axis and are swept along x.

    Parameters
    ----------
    index : broadphase.Strips
        2-D.
    count : int
        1 to 64.
    boxes : numpy.ndarray
        ``(n, 4)``: the strips lie between their lowest and highest edge.

    Examples
    --------
    >>> import numpy as np, broadphase as bp
    >>> boxes = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    >>> index = bp.Strips()
    >>> ids = index.insert_many(boxes)
    >>> cut_into(index, 3, boxes)
    >>> index.pairs().tolist(), index.stats.cells
    ([[0, 1]], 3)
    """
    if not 1 <= count <= MOST_STRIPS:
        raise ValueError(f"count must be between 1 and {MOST_STRIPS}; got {count}")
    finite = boxes[np.isfinite(boxes).all(axis=1)]
    low = float(finite[:, 1].min(initial=np.inf)) if len(finite) else 0.0
    high = float(finite[:, 3].max(initial=-np.inf)) if len(finite) else 1.0
    half = high / 2 - low / 2
    limits = np.finfo(index.dtype)
    scale = min(count / half, float(limits.max)) if half > 0 else float(limits.tiny)
    lattice = np.array([[low / 2, scale, count - 1 if half > 0 else 0]], index.dtype)
    # An infinite limit: the index keeps these strips however crowded they are.
    index._structure.frame = StripsFrame(Division((0, 1), lattice, np.empty((1, 0), index.dtype)), math.inf)


# ---- cost against the number of bodies

SIZES = (20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
FRAMES = 4
# A method that takes longer than this for a frame is not measured with more bodies.
PATIENCE = 0.25

Report = Callable[[dict[str, Any]], None]


def scene_frames(
    scene: str, seed: int, given: BoxArray | None
) -> Callable[[int], tuple[list[BoxArray], Any]]:
    """A function that makes, for a number of bodies, some frames of boxes and which of them are static."""

    def frames(count: int) -> tuple[list[BoxArray], Any]:
        if given is not None:
            rows = np.sort(np.random.default_rng(seed).permutation(len(given))[:count])
            return [given[rows]] * FRAMES, np.zeros(len(rows), np.bool_)
        made = make_scene(scene, count=count, seed=seed)
        found = [made.boxes()]
        for _ in range(FRAMES - 1):
            made.step()
            found.append(made.boxes())
        return found, made.static

    return frames


def measure_growth(
    methods: tuple[str, ...],
    frames: Callable[[int], tuple[list[BoxArray], Any]],
    most: int,
    report: Report,
) -> None:
    """Measure every method at every size until it is cancelled; each result is reported immediately.

    Parameters
    ----------
    methods : tuple of str
        Names of `broadphase.INDEXES`.
    frames : callable
        See `scene_frames`.
    most : int
        The largest number of bodies.
    report : callable
        Called with ``{"method", "count", "milliseconds", "tests", "done", "total"}``.

    Raises
    ------
    Cancelled
        It was cancelled (`broadphase.runtime.threads.cancelled_by`).
    """
    sizes = [size for size in SIZES if size <= most] or [most]
    total = len(sizes) * len(methods)
    running = set(methods)
    done = 0
    for count in sizes:
        boxes, static = frames(count)
        for method in methods:
            stop_if_unwanted()
            done += 1
            if method in running:
                lane = Lane(method, boxes[0], static)
                outcomes = [lane.run(frame) for frame in boxes]
                seconds = median(outcome.seconds for outcome in outcomes[1:])
                tests = outcomes[-1].stats.tests
                point = {"method": method, "count": count, "milliseconds": seconds * 1e3, "tests": tests}
                report({**point, "done": done, "total": total})
                if seconds > PATIENCE:
                    running.remove(method)
            elif done == total:
                report({"done": done, "total": total})
