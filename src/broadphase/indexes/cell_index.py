"""What the uniform grid and the spatial hash have in common: all but where their cells lie.

Boxes that move and static ones are kept in cells of their own: static boxes are never paired with each
other, and a frame costs nothing for them but the cells that moving boxes touch.
"""

from abc import abstractmethod
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes.arguments import Floats, Given, Rows
from broadphase.indexes.cell_lists import CellLists, Plan, as_query
from broadphase.indexes.cell_report import CellReport, report_on
from broadphase.indexes.protocol import Structure, find_in_parts
from broadphase.indexes.results import Distances
from broadphase.indexes.storage import IdArray
from broadphase.kernels.arrays.found_ids import FEW
from broadphase.kernels.cells.ask import HOMELESS, REFUSED
from broadphase.memory import Scratch
from broadphase.methods.cell_size import check_cell_size
from broadphase.methods.task import Found

CellSize: TypeAlias = float | Literal["auto"] | None

_MOVING, _STATIC = 0, 1
_ENOUGH_QUERIES = 1_000


class CellStructure(Structure):
    """The cells of a grid or a hash; see `broadphase.UniformGrid` and `broadphase.SpatialHash`."""

    changes_by_query = 0.1
    cell_size: float | None
    """As the caller wants it; None: chosen from the boxes."""

    @abstractmethod
    def _plan(self, boxes: BoxArray) -> Plan:
        """Cells for these boxes, at least one of them."""

    # ---- the cells follow the boxes

    def reset(self) -> None:
        self._lists = (CellLists(), CellLists())
        self._leaving: tuple[IdArray, ...] = ()
        self._build_all_later()

    def _build_all_later(self) -> None:
        for lists in self._lists:
            lists.build_later()
        self.stale = True

    def refresh(self) -> None:
        for lists, ids in zip(self._lists, self._shared_out(self.store.ids()), strict=True):
            if lists.unbuilt:
                if len(ids):
                    lists.build(self.store, ids, self._plan(self.store.boxes[ids]))
                else:
                    lists.empty()

    def _shared_out(self, ids: IdArray) -> tuple[IdArray, IdArray]:
        """Those of the ids that move, and the static ones."""
        if not self.store.any_static:
            return ids, ids[:0]
        static = self.store.classes[ids] != 0
        return ids[~static], ids[static]

    def inserted(self, ids: IdArray) -> None:
        for lists, own in zip(self._lists, self._shared_out(ids), strict=True):
            if len(own):
                self.stale = True  # until it is done: memory may run out
                lists.insert(self.store, own)
        self.stale = self._lists[_MOVING].unbuilt or self._lists[_STATIC].unbuilt

    def removing(self, ids: IdArray) -> None:
        self.stale = True  # until it is done: it may be interrupted
        for lists, own in zip(self._lists, self._shared_out(ids), strict=True):
            if len(own):
                lists.remove(self.store, own)
        self.stale = self._lists[_MOVING].unbuilt or self._lists[_STATIC].unbuilt

    def moving(self, ids: IdArray, boxes: BoxArray) -> None:
        store = self.store
        self.stale = True  # until `moved` is done
        if store.any_static:
            static = store.classes[ids] != 0
            parts = [(ids[~static], boxes[~static]), (ids[static], boxes[static])]
        else:
            parts = [(ids, boxes)]
        self._leaving = tuple(
            lists.leave(store, *part) for lists, part in zip(self._lists, parts, strict=False)
        )

    def moved(self, ids: IdArray) -> None:
        for lists, leaving in zip(self._lists, self._leaving, strict=False):
            if len(leaving):
                self.stale = True
                lists.enter(self.store, leaving)
        self._leaving = ()
        self.stale = self._lists[_MOVING].unbuilt or self._lists[_STATIC].unbuilt

    def ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        store, lists = self.store, self._lists[_MOVING]
        if store.any_static:
            return False
        done = lists.ask_move(store, id, values)
        if done == HOMELESS:
            self._leaving = (np.array([id], np.int32),)
            self.moved(self._leaving[0])
        return done is not None and done != REFUSED

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        store = self.store
        moving, static = self._lists
        moving_ids, static_ids = self._shared_out(store.ids())
        rules = store.filter()._replace(
            classes=np.empty(0, np.uint8)
        )  # the two sets of cells are the classes
        most = threads.resolve(self.threads)
        chunks, tests = moving.pairs(store, moving_ids, self.touching, rules, most, limit)
        if moving.boxes and static.boxes and sum(map(len, chunks)) <= limit:
            few, many = sorted((moving_ids, static_ids), key=len)
            lists = static if many is static_ids else moving

            def search(begin: int, end: int) -> tuple[PairArray, int]:
                return self._pairs_with(lists, few[begin:end])

            pairs, made = find_in_parts(search, len(few), len(many), limit)
            chunks.append(pairs)
            tests += made
        return Found(chunks, sum(map(len, chunks)), tests, self.cell_count())

    def _pairs_with(self, lists: CellLists, ids: IdArray) -> tuple[PairArray, int]:
        """Ask about some boxes in the cells of others: one kind moves, the other is static."""
        store = self.store
        queries = store.boxes[ids].astype(np.float64)
        parts = min(threads.resolve(self.threads), len(ids) // _ENOUGH_QUERIES + 1)
        spans = threads.shares(len(ids), parts)
        found = threads.run_all(
            [partial(lists.search, store, queries[begin:end], self.touching, -1, -1) for begin, end in spans]
        )
        for (begin, end), (rows, _) in zip(spans, found, strict=True):
            rows[:, 0] = ids[begin:end][rows[:, 0]]
        pairs = np.concatenate([rows for rows, _ in found])
        if store.any_sets:
            i, j = pairs[:, 0], pairs[:, 1]
            may = store.categories[i] & store.masks[j] != 0
            may &= store.categories[j] & store.masks[i] != 0
            pairs = pairs[may]
        pairs.sort(axis=1)
        return pairs, sum(tests for _, tests in found)

    # ---- queries

    def ask_box(self, values: Given) -> tuple[IdArray, int] | None:
        lists = self._only_lists()
        return None if lists is None else lists.ask_box(self.store, values, self.touching)

    def ask_ray(
        self, origin: Given, direction: Given, furthest: float
    ) -> tuple[int, int, float, float, float, float] | None:
        lists = self._only_lists()
        if lists is None:
            return None
        answer: tuple[int, int, float, float, float, float] | None = lists.ask_ray(
            self.store, origin, direction, furthest, self.touching
        )
        return answer

    def ask_nearest(self, point: Given, k: int) -> tuple[IdArray, Distances, int] | None:
        lists = self._only_lists()
        return None if lists is None else lists.ask_nearest(self.store, point, k)

    def _only_lists(self) -> CellLists | None:
        """The cells of all boxes, where all move or all are static."""
        moving, static = self._lists
        if not static.boxes:
            return moving
        return None if moving.boxes else static

    def find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        rows, tests = self.find_in_boxes(as_query(box), touching, category, mask)
        ids = rows[:, 1].copy()
        if len(ids) <= FEW:
            ids.sort()
        return ids, tests

    def find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        found = [
            lists.search(self.store, boxes, touching, category, mask) for lists in self._lists if lists.boxes
        ]
        if not found:
            return np.empty((0, 2), np.int32), 0
        if len(found) == 1:
            return found[0]
        rows = np.concatenate([rows for rows, _ in found])
        # Two ordered halves: a stable sort merges them.
        return rows[np.argsort(rows[:, 0], kind="stable")], sum(tests for _, tests in found)

    def find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        found = [
            lists.hits(self.store, as_query(ray), self.touching, category, mask)
            for lists in self._lists
            if lists.boxes
        ]
        ids = np.concatenate([np.empty(0, np.int32), *[rows[:, 1] for rows, _ in found]])
        return np.unique(ids), sum(tests for _, tests in found)

    def find_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, IdArray, int]:
        keys = [np.empty(0, np.int64)]
        tests = 0
        for lists in self._lists:
            if lists.boxes:
                rows, made = lists.hits(self.store, rays, self.touching, category, mask)
                keys.append(rows[:, 0].astype(np.int64) << 32 | rows[:, 1])
                tests += made
        found = np.unique(np.concatenate(keys))
        counts = np.bincount(found >> 32, minlength=len(rays)).astype(np.int32)
        return (found & 0xFFFFFFFF).astype(np.int32), counts, tests

    def find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        ids, tests = self.find_first_on_rays(as_query(ray), category, mask)
        return int(ids[0]), tests

    def find_first_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, int]:
        best = np.full(len(rays), -1, np.int32)
        nearest = np.full(len(rays), np.inf)
        tests = 0
        for lists in self._lists:
            if lists.boxes:
                tests += lists.first_hits(self.store, rays, best, nearest, self.touching, category, mask)
        return best, tests

    def find_nearest(self, point: Floats, k: int, category: int, mask: int) -> tuple[IdArray, Distances, int]:
        ids, tests = self.find_nearest_many(as_query(point), k, category, mask)
        found, distances = self.ranked(ids[ids >= 0], point)
        return found, distances, tests

    def find_nearest_many(self, points: Rows, k: int, category: int, mask: int) -> tuple[IdArray, int]:
        ids = np.full((len(points), k), -1, np.int32)
        heap = ids, np.empty((len(points), k)), np.zeros(len(points), np.int64)
        tests = 0
        for lists in self._lists:
            if lists.boxes:
                tests += lists.nearest(self.store, points, heap, category, mask)
        return ids, tests

    # ---- about itself

    def explain(self) -> CellReport:
        """Whether the cells are too large, too small or right, and why."""
        self.ready()
        moving, static = self._lists
        moving_ids, static_ids = self._shared_out(self.store.ids())
        lists, ids = (moving, moving_ids) if moving.boxes or not static.boxes else (static, static_ids)
        return report_on(lists, self.store.boxes[ids], self.cell_size)

    def tune(self) -> None:
        """Choose the cell size again from the boxes as they are now, and bin all of them."""
        before = self.explain()
        if self.cell_size is not None and before.verdict in ("too large", "too small"):
            self.cell_size = before.suggested
        self._build_all_later()

    def cell_count(self) -> int:
        return sum(lists.places_in_use for lists in self._lists)

    def check(self) -> None:
        for lists, ids in zip(self._lists, self._shared_out(self.store.ids()), strict=True):
            lists.check(self.store, ids)


def as_cell_size(cell_size: Any) -> float | None:
    """``cell_size=`` as a number, or None for ``"auto"``."""
    if cell_size is None or (isinstance(cell_size, str) and cell_size == "auto"):
        return None
    if isinstance(cell_size, str):
        raise TypeError(f'cell_size must be a number or "auto"; got {cell_size!r}')
    return check_cell_size(cell_size)
