"""One method at work on a scene: an index, as users make it, and what its calls cost."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes import Choice, make_index
from broadphase.indexes.base import Index
from broadphase.indexes.cell_index import CellIndex
from broadphase.indexes.results import Stats
from broadphase.methods.cell_size import at_most, suggest_cell_size, take_sample, world_of

# The page shows no more cells than this anyway, and a grid over far clusters would have billions.
MOST_CELLS = 1_000_000
LARGEST_TABLE = 2_000_000
_PLACES = 4  # digits of a cell size: a number that fits into a line


@dataclass(frozen=True)
class Outcome:
    """What one frame of one lane found and cost."""

    pairs: PairArray
    stats: Stats
    seconds: float


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
    """

    def __init__(
        self,
        method: str,
        boxes: BoxArray,
        static: npt.NDArray[np.bool_],
        cell_scale: float | None = None,
        slots: float | None = None,
    ) -> None:
        self.method = method
        self.options = options_for(method, boxes, cell_scale, slots)
        self.index: Index = make_index(cast(Choice, method), **self.options)
        self.index.insert_many(boxes, static=static)
        self._boxes = boxes
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
        moved = np.flatnonzero((boxes != self._boxes).any(axis=1))
        self._boxes = boxes
        start = perf_counter()
        if len(moved) == len(boxes):
            self.index.update(boxes)
        elif len(moved):
            self.index.move_many(moved, boxes[moved])
        pairs = self.index.pairs()
        seconds = perf_counter() - start
        return Outcome(pairs, self.index.stats, seconds)

    def report(self) -> dict[str, Any]:
        """What is worth saying about the cells, in words."""
        said: dict[str, Any] = {"method": self.method, "name": self.name, "options": self.options}
        if isinstance(self.index, CellIndex):
            report = self.index.explain()
            said["cells"] = {
                "verdict": {"too large": "too big", "right": "just right"}.get(
                    report.verdict, report.verdict
                ),
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
