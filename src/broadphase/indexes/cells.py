"""Boxes in cells, kept between frames: the code that the uniform grid and the spatial hash share.

They differ only in where the cells are (`CellStructure._plan`).  As in the textbooks, a frame begins with
empty cells: where boxes changed, ``pairs`` enters all that move again (`broadphase.methods.cells.fill`).
Static boxes lie in the tree that answers queries, which each moving box is looked up in.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from broadphase.indexes.arguments import Rows
from broadphase.indexes.box_tree import QueryTree
from broadphase.indexes.protocol import Structure
from broadphase.indexes.storage import IdArray, expect
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import readable, thread_count
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.kernels.cells import BOX, LENGTH, PLACE, Bins, Lattice
from broadphase.methods.cells import (
    Sample,
    check_cell_size,
    fill,
    search,
    suggest_cell_size,
    take_sample,
)
from broadphase.methods.task import Found, Task
from broadphase.runtime.arrays import joined
from broadphase.runtime.memory import Scratch

# Boxes that share a cell with more others than this spend most time on comparisons.
_CROWD = 24.0
# More rows or columns of cells would be one grey area in a picture.
_MOST_DRAWN = 1_000
# A square of 0.4 times a cell lies in two cells on average, a cube in 2.7; twice that is too often.
_MOST_COPIES = {2: 4.0, 3: 6.0}
# Sizes within this factor of the suggested one cost about the same.
_NEAR_ENOUGH = 1.6


class CellStructure(Structure):
    """The cells of a grid or a hash; see `broadphase.UniformGrid` and `broadphase.SpatialHash`."""

    changes_by_query = 0.1
    query_tree: QueryTree
    cell_size: float | None
    """As the caller wants it; None: chosen from the boxes."""

    @abstractmethod
    def _plan(self, sample: Sample) -> Lattice:
        """Cells for boxes like these."""

    # ---- the cells follow the boxes

    def reset(self) -> None:
        self._bins: Bins | None = None
        self._axis = -1
        self.stale = True

    def refresh(self) -> None:
        """Enter the moving boxes into empty cells."""
        self._bins = self._fill(self._movers())
        self._axis = self._bins.axis  # sorted once, because of crowds, they are sorted in the next frame too

    def _fill(self, ids: IdArray) -> Bins:
        return fill(self.store.boxes, ids, self._plan(take_sample(self.store.boxes, ids)), self._axis)

    def _movers(self) -> IdArray:
        ids, store = self.store.ids(), self.store
        return ids[store.classes[ids] == 0] if store.any_static else ids

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """Of the moving boxes by cells; those that meet static ones by the tree of these."""
        store, bins = self.store, self._bins
        assert bins is not None
        rules = store.filter()._replace(classes=no_filter().classes)
        task = Task(store.boxes, self.touching, rules, thread_count(self.threads), limit)
        found = search(task, bins)
        if not store.any_static or found.pairs > limit:
            return found
        return found.and_more(self.query_tree.pairs_with_static(limit))

    # ---- about itself

    def cells(self) -> Bins:
        """The cells of the moving boxes; of the static ones, which lie in a tree, if nothing moves."""
        self.ready()
        bins, store = self._bins, self.store
        assert bins is not None
        return bins if len(bins.small) + len(bins.large) or not store.live else self._fill(store.ids())

    def parts(self, view: Rows) -> Rows:
        parts, bins = [super().parts(view)], self.cells()
        (x, y, _), size = bins.lattice.origin.tolist(), 1.0 / bins.lattice.per_unit
        low, high = (bins.reach[k, :2] + k for k in (0, 1))  # in cells
        first = np.maximum(low, np.floor((view[:2] - (x, y)) / size))
        last = np.minimum(high, np.ceil((view[2:] - (x, y)) / size))
        if (last > first).all() and (last - first).max() <= _MOST_DRAWN:
            for axis in (0, 1):
                strips = np.repeat([[*first, *last]], int(last[axis] - first[axis]), axis=0)
                strips[:, axis] = first[axis] + np.arange(len(strips))
                strips[:, axis + 2] = strips[:, axis] + 1
                parts.append(strips * size + (x, y, x, y))
        return np.concatenate(parts)

    def explain(self) -> "CellReport":
        """Whether the cells are too large, too small or right, and why."""
        return report_on(self.cells(), self.store.boxes)

    def tune(self) -> None:
        """Choose the cell size again from the boxes as they are now, and enter all of them."""
        before = self.explain()
        if self.cell_size is not None and before.verdict in ("too large", "too small"):
            self.cell_size = before.suggested
        self.reset()

    def counts(self) -> tuple[int, int]:
        return 0 if self._bins is None else self._bins.places, 0

    def check(self) -> None:
        bins = self._bins
        expect(bins is not None, "cells are filled before they are read")
        assert bins is not None
        wanted = fill(self.store.boxes, self._movers(), bins.lattice, bins.axis)
        expect(np.array_equal(np.sort(bins.large), np.sort(wanted.large)), "large boxes are in no cell")
        entries, expected = bins.entries[1:], wanted.entries[1:]
        same = np.array_equal(_sorted(entries), _sorted(expected)) and len(entries) == len(expected)
        expect(same, "boxes are in the cells they touch, once")
        heads = bins.heads[np.unique(entries[:, PLACE])]
        expect(int(bins.entries[heads, LENGTH].sum()) == len(entries), "lists hold all entries")


def _sorted(entries: IdArray) -> IdArray:
    """The boxes and places of entries."""
    return np.unique(entries[:, [BOX, PLACE]], axis=0)


def as_cell_size(cell_size: Any) -> float | None:
    """``cell_size=`` as a number, or None for ``"auto"``."""
    if cell_size is None or (isinstance(cell_size, str) and cell_size == "auto"):
        return None
    if isinstance(cell_size, str):
        raise TypeError(f'cell_size must be a number or "auto"; got {cell_size!r}')
    return check_cell_size(cell_size)


# ---- are the cells too large, too small or right?


class CellReport(NamedTuple):
    """What `UniformGrid.explain` and `SpatialHash.explain` measured; print it to read it."""

    verdict: str
    """``"too large"``, ``"too small"``, ``"right"``, or ``"empty"`` where there is no box to judge by."""
    reason: str
    cell_size: float
    """Side of the cells."""
    suggested: float
    """What suits the boxes best: two to three times the size of a typical one."""
    boxes: int
    places: int
    """Cells, or slots of the hash table."""
    used: int
    """How many of them hold a box."""
    copies: float
    """In how many places a box lies that is not too large for them, on average."""
    company: float
    """With how many others a box shares a place, on average."""
    fullest: int
    """The most boxes in one place."""
    oversize: float
    """Share of the boxes that would cover more than 32 cells and lie in none; every search tests them."""

    def __str__(self) -> str:
        return "\n".join(
            (
                f"cells of {readable(self.cell_size)} are {self.verdict}: {self.reason}",
                f"{self.boxes:,} boxes in {self.used:,} of {self.places:,} places",
                f"a box lies in {self.copies:.1f} of them and shares each with {self.company:.1f} others; "
                f"the fullest holds {self.fullest:,}",
                f"{self.oversize:.1%} of the boxes are too large for cells, and every search tests them",
            )
        )


def report_on(bins: Bins, by_id: BoxArray) -> CellReport:
    """Measure and judge the cells of some boxes."""
    boxes = by_id[np.sort(joined([bins.small, bins.large]))]
    if not len(boxes):
        return CellReport("empty", "there is no box to judge by", 0.0, 0.0, 0, 0, 0, 0.0, 0.0, 0, 0.0)
    heads = bins.heads[np.unique(bins.entries[1:, PLACE])]
    held = bins.entries[heads, LENGTH].astype(np.float64)
    copies = (len(bins.entries) - 1) / max(len(bins.small), 1)
    company = float((held * held).sum() / held.sum()) - 1.0 if len(held) else 0.0
    oversize = len(bins.large) / len(boxes)
    size = 1.0 / bins.lattice.per_unit
    suggested = suggest_cell_size(boxes)
    verdict, reason = _judge(size, suggested, copies, company, oversize, boxes.shape[1] // 2)
    if len(held) == 1 and len(boxes) > 1 and size > suggested * _NEAR_ENOUGH:
        parted = _cells_in_use(boxes, suggested)
        if parted > 1:
            better = readable(suggested)
            reason = f"all {len(boxes):,} boxes lie in one cell; with {better} they lie in {parted:,}"
            verdict = "too large"
    if bins.axis >= 0 and company > _CROWD:
        reason += "; the boxes in such full cells are sorted and swept, which makes fewer tests"
    counts = len(boxes), len(bins.heads), bins.places
    return CellReport(verdict, reason, size, suggested, *counts, copies, company, bins.fullest, oversize)


def _cells_in_use(boxes: BoxArray, size: float) -> int:
    """How many cells of a size hold the middle of a box; boxes without end are left out."""
    dim = boxes.shape[1] // 2
    middles = 0.5 * (boxes[:, :dim] + boxes[:, dim:]).astype(np.float64)
    middles = middles[np.isfinite(middles).all(axis=1)]
    return len(np.unique(np.floor(middles / size), axis=0))


def _judge(
    size: float, suggested: float, copies: float, company: float, oversize: float, dim: int
) -> tuple[str, str]:
    better = readable(suggested)
    much_smaller, much_larger = size * _NEAR_ENOUGH < suggested, size > suggested * _NEAR_ENOUGH
    if much_smaller and oversize > 0.5:
        return "too small", f"{oversize:.0%} of the boxes do not fit; {better} would suit them"
    if much_smaller and copies > _MOST_COPIES[dim]:
        return "too small", f"a box lies in {copies:.1f} cells; with {better} it would lie in fewer"
    if company <= _CROWD:
        return "right", f"a box meets {company:.1f} others in a cell and lies in {copies:.1f} cells"
    if much_larger:
        return "too large", f"a box meets {company:.0f} others in a cell; with {better}, far fewer"
    return "right", f"a box meets {company:.0f} others in a cell, but smaller cells would not part them"
