"""Boxes in cells, kept between frames: the code that the uniform grid and the spatial hash share.

They differ only in where the cells are (`CellStructure._plan`).  As in the textbooks, a frame begins with
empty cells: where boxes moved, ``pairs`` enters all of them again (`broadphase.methods.cells.fill`).  Moving
and static boxes are in cells of their own: static boxes are never paired with each other, and are entered
again only when one of them was added, moved or removed.

Between two frames a program may ask and move in turns.  It need not wait for all boxes to be entered each
time: boxes that changed since are *loose*.  They are kept with the large boxes in one list, which every query
tests beside the cells that it touches.  When the list has grown long, the next query enters all boxes again.
"""

import math
from abc import abstractmethod
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.indexes import protocol, thresholds
from broadphase.indexes.arguments import NO_RULES, BoxRules, Given, Rows
from broadphase.indexes.protocol import NO_IDS, NO_ROWS, FoundInBoxes, Ids, Searched
from broadphase.indexes.results import expected_rows
from broadphase.indexes.storage import IdArray, expect
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import readable, thread_count
from broadphase.kernels.arrays.results import FEW
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.kernels.cells import queries
from broadphase.kernels.cells.bins import BOX, LENGTH, PLACE, Bins, Lattice
from broadphase.kernels.machine.kernel import try_call
from broadphase.methods.cells import (
    Sample,
    check_cell_size,
    fill,
    search,
    search_lists,
    suggest_cell_size,
    take_sample,
)
from broadphase.methods.sort_and_sweep import choose_axis
from broadphase.methods.task import Found, Task
from broadphase.runtime.memory import PairArray, Scratch
from broadphase.runtime.slices import joined

Part: TypeAlias = tuple[Bins, npt.NDArray[np.uint8], IdArray]

# Boxes that share a cell with more others than this spend most time on comparisons.
_CROWD = 24.0
# More rows or columns of cells would be one grey area in a picture.
_MOST_DRAWN = 1_000
# A square of 0.4 times a cell lies in two cells on average, a cube in 2.7; twice that is too often.
_MOST_COPIES = {2: 4.0, 3: 6.0}
# Sizes within this factor of the suggested one cost about the same.
_NEAR_ENOUGH = 1.6
_try_boxes = try_call(queries.search_boxes)


class Filled:
    """The boxes of an index in cells, and the others: the large and the loose ones."""

    def __init__(self, moving: Bins, static: Bins, capacity: int) -> None:
        self.moving, self.static = moving, static
        self.large = joined([moving.large, static.large])
        self.most = FEW + math.isqrt(thresholds.LOOSE_FOR_ONE * (len(moving.small) + len(static.small)))
        """How many boxes may be loose before all are entered again."""
        self.loose = 0
        self.listed = np.zeros(capacity, np.uint8)
        """For each id, whether it is one of the others."""
        self.listed[self.large] = 1
        self._others = np.empty(len(self.large) + self.most, np.int32)
        self._others[: len(self.large)] = self.large
        self._share_out()

    def loosen(self, ids: IdArray) -> bool:
        """Note that these boxes changed; False, and nothing is noted, if too many have."""
        if self.loose + len(ids) > self.most or int(ids.max(initial=0)) >= len(self.listed):
            return False
        fresh = ids[self.listed[ids] == 0]
        count = len(self.large) + self.loose
        self._others[count : count + len(fresh)] = fresh
        self.listed[fresh] = 1
        self.loose += len(fresh)
        self._share_out()
        return True

    def _share_out(self) -> None:
        others = self._others[: len(self.large) + self.loose]
        self.parts: list[Part] = [(self.moving, self.listed, others)]
        """The cells to search, what to skip in them, and what to test beside them."""
        if len(self.static.small):
            self.parts.append((self.static, self.listed, NO_IDS))


class CellStructure(Searched):
    """The cells of a grid or a hash; see `broadphase.UniformGrid` and `broadphase.SpatialHash`."""

    told_before_moves = False
    changes_by_query = 0.1
    cell_size: float | None
    """As the caller wants it; None: chosen from the boxes."""

    @abstractmethod
    def _plan(self, sample: Sample) -> Lattice:
        """Cells for boxes like these."""

    # ---- the cells follow the boxes

    def reset(self) -> None:
        self._filled: Filled | None = None
        self._touched = True, True
        self._axis = -1
        self.stale = True

    def refresh(self) -> None:
        """Enter the moving boxes and, if one of them changed, the static ones, into empty cells."""
        store, before = self.store, self._filled
        which = self._split(store.ids())
        bins = [None if before is None else before.moving, None if before is None else before.static]
        axis = self._axis
        if axis < 0 and len(which[1]):
            # Static boxes are sorted seldom, and moving ones find them faster in their order.
            axis = choose_axis(store.live_boxes(), "auto")
        for again in (False, True):
            for part, ids in enumerate(which):
                known = bins[part]
                if known is None or (self._touched[part] and not again) or known.axis < axis:
                    lattice = self._plan(take_sample(store.boxes, ids))
                    known = bins[part] = fill(store.boxes, ids, lattice, axis)
                axis = max(axis, known.axis)  # lists of both are swept along one axis
        assert bins[0] is not None
        assert bins[1] is not None
        filled = Filled(bins[0], bins[1], len(store.alive))
        self._filled, self._axis, self._touched = filled, axis, (False, False)

    def _split(self, ids: IdArray) -> tuple[IdArray, IdArray]:
        """The ids of moving boxes, and those of static ones."""
        if not self.store.any_static:
            return ids, ids[:0]
        static = self.store.classes[ids] != 0
        return ids[~static], ids[static]

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        # The row of a removed box overlaps nothing; who gets its id next is loose.
        self._touch(ids)

    def enter(self, ids: IdArray, fresh: bool) -> None:
        self._touch(ids)
        if self._filled is None or not self._filled.loosen(ids):
            self.stale = True

    def moved_one(self, id: int) -> None:  # noqa: A002
        filled = self._filled
        if filled is None or self.store.any_static or id >= len(filled.listed) or not filled.listed[id]:
            super().moved_one(id)
        else:  # one of those that are tested beside the cells already: a fifth of the time
            self._touched = True, self._touched[1]

    def _touch(self, ids: IdArray) -> None:
        moving, static = map(len, self._split(ids))
        self._touched = self._touched[0] or moving > 0, self._touched[1] or static > 0

    def _settle(self) -> None:
        """Enter all boxes again if any is loose; other threads may go on with the cells that they have."""
        if any(self._touched):
            with self._lock:
                if any(self._touched):
                    self.refresh()

    def _for(self, queries: int) -> Filled:
        """The cells for so many queries: without loose boxes, where testing those would cost more."""
        filled = self._filled
        assert filled is not None
        if filled.loose * queries > thresholds.LOOSE_FOR_ONE * self.store.live:
            self._settle()
            filled = self._filled
            assert filled is not None
        return filled

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        store, moving, static = self.store, *self.cells()
        # The two sets of cells are the classes.
        rules = store.filter()._replace(classes=no_filter().classes)
        task = Task(store.boxes, self.touching, rules, thread_count(self.threads), limit)
        found = search(task, moving)._replace(cells=moving.places + static.places)
        for some, others in (
            (static.large, moving.small),
            (moving.large, static.small),
            (moving.large, static.large),
        ):
            found = search_lists(task, found, some, others, moving.axis)
        if found.pairs > limit or not len(moving.small) or not len(static.small):
            return found
        cells, few, many = static, moving.small, static.small
        if len(few) > len(many):
            cells, few, many = moving, many, few
        pairs, tests = protocol.pairs_between(store, few, len(many), partial(self._meeting, cells), limit)
        return found._replace(
            chunks=[*found.chunks, pairs], pairs=found.pairs + len(pairs), tests=found.tests + tests
        )

    def _meeting(self, cells: Bins, boxes: Rows) -> Ids:
        """Rows ``[query, id]`` of what lies in the cells and overlaps each box; threads share the queries."""
        part = cells, np.zeros(len(self.store.alive), np.uint8), NO_IDS

        def search_share(begin: int, _: int, some: Rows) -> Ids:
            how = self.touching, *NO_RULES, expected_rows(some)
            rows, _, found, tests = queries.search_boxes(*self._source(), *part, some, *how)
            rows[:found, 0] += begin
            return rows[:found], tests

        found = self._in_shares(len(boxes), search_share, boxes)
        return joined([rows for rows, _ in found]), sum(tests for _, tests in found)

    # ---- box queries: of the cells of the moving boxes, then of those of the static ones

    def _source(self) -> tuple[Any, ...]:
        return self.store.boxes, self.store.categories, self.store.masks

    def find_in_boxes(
        self, boxes: Given | Rows, touching: bool, rules: BoxRules, out: PairArray = NO_ROWS
    ) -> FoundInBoxes | None:
        source, how = self._source(), (boxes, touching, *rules)
        parts = self._for(1 if isinstance(boxes, tuple) else len(boxes)).parts
        found: FoundInBoxes | None = _try_boxes(*source, *parts[0], *how, out)
        if len(parts) == 1 or found is None or found[3] < 0:
            return found
        more = _try_boxes(*source, *parts[1], *how, np.empty_like(out))
        rows, ids = joined((found[0][: found[2]], more[0][: more[2]])), joined((found[1], more[1]))
        # Two ordered halves: a stable sort merges them.
        return (
            rows[np.argsort(rows[:, 0], kind="stable")],
            np.sort(ids),
            found[2] + more[2],
            found[3] + more[3],
        )

    # ---- about itself

    def cells(self) -> tuple[Bins, Bins]:
        """Those of the moving boxes and those of the static ones, without loose boxes."""
        self.ready()
        self._settle()
        filled = self._filled
        assert filled is not None
        return filled.moving, filled.static

    def parts(self, view: Rows) -> Rows:
        parts = [super().parts(view)]
        for bins in self.cells():
            (x, y, _), size = bins.lattice.origin.tolist(), 1.0 / bins.lattice.per_unit
            low, high = (bins.reach[k, :2] + k for k in (0, 1))  # in cells
            first = np.maximum(low, np.floor((view[:2] - (x, y)) / size))
            last = np.minimum(high, np.ceil((view[2:] - (x, y)) / size))
            if not (last > first).all() or (last - first).max() > _MOST_DRAWN:
                continue
            for axis in (0, 1):
                strips = np.repeat([[*first, *last]], int(last[axis] - first[axis]), axis=0)
                strips[:, axis] = first[axis] + np.arange(len(strips))
                strips[:, axis + 2] = strips[:, axis] + 1
                parts.append(strips * size + (x, y, x, y))
        return np.concatenate(parts)

    def explain(self) -> "CellReport":
        """Whether the cells are too large, too small or right, and why."""
        moving, static = self.cells()
        bins = moving if len(moving.small) + len(moving.large) or not self.store.live else static
        return report_on(bins, self.store.boxes)

    def tune(self) -> None:
        """Choose the cell size again from the boxes as they are now, and enter all of them."""
        before = self.explain()
        if self.cell_size is not None and before.verdict in ("too large", "too small"):
            self.cell_size = before.suggested
        self.reset()

    def counts(self) -> tuple[int, int]:
        filled = self._filled
        return (0 if filled is None else filled.moving.places + filled.static.places), 0

    def check(self) -> None:
        filled, store = self._filled, self.store
        expect(filled is not None, "cells are filled before they are read")
        assert filled is not None
        for bins, ids in zip((filled.moving, filled.static), self._split(store.ids()), strict=True):
            entries = bins.entries[1:]
            settled = ids[filled.listed[ids] == 0]
            own = entries[np.isin(entries[:, BOX], settled)]
            wanted = fill(store.boxes, settled, bins.lattice, bins.axis)
            expect(len(wanted.large) == 0, "large boxes are in no cell")
            same = np.array_equal(_sorted(own), _sorted(wanted.entries[1:]))
            expect(same and len(own) == len(wanted.entries) - 1, "boxes are in the cells they touch, once")
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
    suggested = suggest_cell_size(boxes).size
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
