"""Boxes in cells, kept between frames: the code that the uniform grid and the spatial hash share.

They differ only in where the cells are (`Plan`).  Moving and static boxes are kept in separate cells
(`CellLists`): static boxes are never paired with each other, and in a frame they only cost the cells that
moving boxes touch.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.indexes import protocol
from broadphase.indexes.arguments import NO_RULES, Floats, Given, Rows, Rules
from broadphase.indexes.protocol import FirstHit, Ids, NearestIds, Structure
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.kernels.arrays.results import FEW as FEW_IDS
from broadphase.kernels.arrays.results import words_for
from broadphase.kernels.arrays.sorting import pieces
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.kernels.cells import dynamic_cells as kernel
from broadphase.kernels.cells import queries
from broadphase.kernels.cells.one_shot import MOST_PLACES
from broadphase.kernels.machine.kernel import try_call
from broadphase.methods.cells import (
    ENOUGH_FOR_THREADS,
    LARGEST_CELL,
    SHARES,
    check_cell_size,
    suggest_cell_size,
)
from broadphase.methods.task import Found, Task, search_in_shares
from broadphase.numeric import readable
from broadphase.runtime import threads
from broadphase.runtime.memory import PairArray, Scratch
from broadphase.runtime.slices import Position, few_at_a_time, growing, in_chunks

CellSize: TypeAlias = float | Literal["auto"] | None

# Up to so many boxes are entered one by one, and there are cells for at least so many.
FEW = 64
# If more than this share of the boxes changes cells, filling all cells again costs less.
_REBIN_ALL = 3
# With more places than this for each box, visiting the places of the boxes is faster than scanning all.
_PLACES_PER_BOX = 16
_STEPS = (4.0,) * 11 + (64.0,) * (kernel.MOST_LEVELS - 13)
_MOVING, _STATIC = 0, 1
_ENOUGH_QUERIES = 1_000
# Boxes that share a cell with more others than this spend most time on comparisons.
_CROWD = 24.0
# A square of 0.4 times a cell lies in two cells on average, a cube in 2.7; twice that is too often.
_MOST_COPIES = {2: 4.0, 3: 6.0}
# Sizes within this factor of the suggested one cost about the same.
_NEAR_ENOUGH = 1.6
_try_box, _try_ray, _try_nearest, _try_move = map(
    try_call, (queries.query_box, queries.query_ray, queries.query_nearest, queries.move_box)
)


class Plan(NamedTuple):
    """Where the cells lie, and how many places there are for them."""

    lattice: npt.NDArray[np.float64]
    """As of `broadphase.kernels.cells.dynamic_cells`."""
    places: int
    hashed: bool


class Findings(NamedTuple):
    """What a search for pairs found."""

    chunks: list[PairArray]
    tests: int


def ladder(finest: float) -> npt.NDArray[np.float64]:
    """Cell sizes of the levels: a factor of four apart, and wide steps for what is larger than that."""
    with np.errstate(over="ignore"):  # cells beyond the range of float64 are left out
        sizes: npt.NDArray[np.float64] = finest * np.cumprod(np.array((1.0, *_STEPS)))
    return sizes[: max(1, int(np.searchsorted(sizes, LARGEST_CELL)))]


def empty_lattice(sizes: npt.NDArray[np.float64], origin: npt.NDArray[np.float64]) -> Any:
    """A lattice without boxes; the coarsest level, one cell, is added to those of the given sizes."""
    lattice = np.zeros((len(sizes) + 1, kernel.WIDTH))
    lattice[:, kernel.ORIGIN : kernel.ORIGIN + len(origin)] = origin
    lattice[:, kernel.PER_UNIT] = [*(1.0 / sizes), 1.0]
    lattice[:, kernel.LOWEST : kernel.LOWEST + 3] = math.inf
    lattice[:, kernel.HIGHEST : kernel.HIGHEST + 3] = -math.inf
    return lattice


class CellLists:
    """Some boxes of an index in their cells; the index chooses the boxes and the cells.

    ``unbuilt``: the cells do not follow the boxes until `build` is called.
    """

    def __init__(self, store: BoxStore) -> None:
        self.store = store
        self.tally = np.zeros(kernel.TALLY, np.int64)
        self._places = np.empty(MOST_PLACES, np.int64)
        self.empty()

    def __getstate__(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "words": _words_for(len(self.levels)),
        }  # another thread may mark ids just now

    def empty(self) -> None:
        """No boxes, and one cell to put some in."""
        binned = self.tally[kernel.BINNED]
        self.unbuilt = False
        self.boxes = 0
        self.table = 0
        """The slots of the hash table, 0 for a grid: an argument of the kernels."""
        self.heads = np.zeros(1, np.int32)
        self.pool = np.zeros(kernel.UNIT, np.int32)
        self.tally = np.zeros(kernel.TALLY, np.int64)
        self.tally[kernel.BINNED] = binned
        self.lattice = empty_lattice(np.empty(0), np.zeros(3))
        self.levels = np.empty(0, np.uint8)
        self.words = _words_for(0)
        """What `query_box` marks ids in, as long as ``levels`` says."""
        self._limit = 0

    @property
    def places_in_use(self) -> int:
        """How many cells or slots hold a box."""
        return int(self.tally[kernel.PLACES])

    @property
    def binned(self) -> int:
        """How often a box was entered into its cells."""
        return int(self.tally[kernel.BINNED])

    # ---- the cells follow the boxes

    def build_later(self) -> None:
        """Forget the cells: too much has changed."""
        self.empty()
        self.unbuilt = True

    def build(self, ids: IdArray, plan: Plan) -> None:
        """Fill new cells with these boxes, by a counting sort."""
        heads = np.zeros(plan.places, np.int32)
        levels = np.full(len(self.store.alive), kernel.ABSENT, np.uint8)
        tally = np.zeros(kernel.TALLY, np.int64)
        tally[kernel.BINNED] = self.tally[kernel.BINNED]
        lattice = plan.lattice
        table = plan.places if plan.hashed else 0
        cells, places = (lattice, levels, table), np.empty(MOST_PLACES, np.int64)
        for span in pieces(len(ids)):
            kernel.count_boxes(self.store.boxes, ids, heads, tally, *cells, places, *span)
        units = int(kernel.units_of_all(heads))
        pool = _pool_of(units + units // 8)
        kernel.lay_out_blocks(heads, pool, tally)
        for span in pieces(len(ids)):
            kernel.fill_blocks(self.store.boxes, ids, heads, pool, *cells, places, *span)
        self.heads, self.pool, self.tally, self.lattice, self.levels = heads, pool, tally, lattice, levels
        self.table, self.words = table, _words_for(len(levels))
        self.boxes = len(ids)
        self._limit = max(FEW, 2 * len(ids))
        self.unbuilt = False

    def insert(self, ids: IdArray) -> None:
        """Enter new boxes; where there are too many for the cells, build later."""
        if self.unbuilt:
            return
        if self.boxes + len(ids) > self._limit:
            self.build_later()
            return
        self.enter(ids)
        self.boxes += len(ids)

    def enter(self, ids: IdArray) -> None:
        """Enter boxes that are in no cell."""
        boxes, capacity = self.store.boxes, len(self.store.alive)
        if len(self.levels) < self.store.end:
            levels = np.full(capacity, kernel.ABSENT, np.uint8)
            levels[: len(self.levels)] = self.levels
            self.words = _words_for(capacity)
            self.levels = levels
        for begin, end in few_at_a_time(len(ids)):
            while (begin := kernel.enter_boxes(boxes, ids, begin, end, *self._lists())) < end:
                self._grow()

    def remove(self, ids: IdArray) -> None:
        """Take boxes out, before their rows go."""
        if self.unbuilt:
            return
        if len(ids) > FEW and 2 * len(ids) > self.boxes:
            self.build_later()
            return
        self._leave(ids)
        self.boxes -= len(ids)

    def leave(self, ids: IdArray, rows: BoxArray) -> IdArray:
        """Remove the boxes whose cells change with their new ``rows``; returns their ids."""
        if self.unbuilt:
            return ids[:0]
        found = []
        for begin, end in pieces(len(ids)):
            rebinned = np.empty(end - begin + 1, np.int64)
            cells = (self.lattice, self.levels, self.table)
            count = kernel.find_rebinned(self.store.boxes, ids[begin:end], rows[begin:end], *cells, rebinned)
            found.append(begin + rebinned[:count] if begin else rebinned[:count])
        leaving = ids[found[0] if len(found) == 1 else np.concatenate(found)]
        if len(leaving) > FEW and len(leaving) * _REBIN_ALL > self.boxes:
            self.build_later()
            return ids[:0]
        if len(leaving):
            self._leave(leaving)
        return leaving

    def _leave(self, ids: IdArray) -> None:
        for begin, end in few_at_a_time(len(ids)):
            kernel.leave_cells(self.store.boxes, ids[begin:end], *self._lists())

    def _lists(self) -> tuple[Any, ...]:
        return self.heads, self.pool, self.tally, self.lattice, self.levels, self.table, self._places

    def _grow(self) -> None:
        units = len(self.pool) // kernel.UNIT
        pool = _pool_of(2 * units + FEW)
        pool[: len(self.pool)] = self.pool
        self.pool = pool

    # ---- searches

    def _end(self) -> int:
        """One more than the largest id that may be in these cells."""
        return min(self.store.end, len(self.levels))

    def in_box(self, box: Given, touching: bool) -> Ids | None:
        """Ids and tests; tests below 0 if the box is not valid, or another thread runs a query."""
        return _try_box(  # type: ignore[no-any-return]
            self.store.boxes, self.store.end, self.heads, self.pool, self.lattice, self.levels, self.table,
            self.words, box, touching,
        )  # fmt: skip

    def on_ray(self, origin: Given, direction: Given, max_distance: float, touching: bool) -> FirstHit | None:
        """What the ray hits first or -1, tests, distance, and the normal on three axes."""
        return _try_ray(  # type: ignore[no-any-return]
            self.store.boxes, self.store.end, self.heads, self.pool, self.lattice, self.levels, self.table,
            origin, direction, max_distance, touching,
        )  # fmt: skip

    def around(self, point: Given, k: int) -> NearestIds | None:
        """The nearest ids and their distances in order, and tests."""
        return _try_nearest(  # type: ignore[no-any-return]
            self.store.boxes, self.store.end, self.heads, self.pool, self.lattice, self.levels, self.table,
            point, k,
        )  # fmt: skip

    def cells(self) -> tuple[Any, ...]:
        """The cells, as kernels take them."""
        return self.heads, self.pool, self.lattice, self.levels, self.table

    def search(self, boxes: Rows, touching: bool, rules: Rules, out: PairArray | None = None) -> Ids:
        """Rows ``[query, id]``, ordered by query, and the tests made."""
        cells, near = np.empty((queries.CELLS, 7), np.int64), np.empty((2, queries.NEAR), np.int32)
        words = words_for(self._end())

        def search_part(begin: int, end: int, out: PairArray) -> Any:
            return queries.search_boxes(
                self.store.boxes, self._end(), self.store.categories, self.store.masks, *self.cells(),
                boxes[:end], begin, cells, near, words, out, touching, *rules,
            )  # fmt: skip

        return in_chunks(search_part, len(boxes), protocol.expected_rows(boxes) if out is None else out)

    def first_hits(self, rays: Rows, best: IdArray, nearest: Rows, touching: bool, rules: Rules) -> int:
        """Lower ``best`` and ``nearest`` to what each ray hits first here; returns the tests."""
        none, scratch = np.empty((0, 2), np.int32), (np.empty(rays.shape[1]), np.empty(3, np.int64))
        tests = 0
        for begin, end in growing(len(rays)):
            tests += queries.walk_rays(
                self.store.boxes, self._end(), self.store.categories, self.store.masks, *self.cells(),
                rays[:end], begin, *scratch, True, best, nearest, none, touching, *rules,
            )[2]  # fmt: skip
        return tests

    def hits(self, rays: Rows, touching: bool, rules: Rules) -> Ids:
        """Rows ``[ray, id]``, some of them several times, and the tests made."""
        scratch = np.empty(rays.shape[1]), np.empty(3, np.int64)
        unused = np.empty(0, np.int32), np.empty(0)

        def search_part(begin: int, end: int, out: PairArray) -> Any:
            return queries.walk_rays(
                self.store.boxes, self._end(), self.store.categories, self.store.masks, *self.cells(),
                rays[:end], begin, *scratch, False, *unused, out, touching, *rules,
            )  # fmt: skip

        return in_chunks(search_part, len(rays), 16 * len(rays) + FEW)

    def nearest(self, points: Rows, heap: tuple[IdArray, Rows, npt.NDArray[np.int64]], rules: Rules) -> int:
        """Offer these boxes to the ids, distances and counts of ``heap``; returns the tests."""
        done, tests = np.empty(len(self.lattice), np.bool_), 0
        for begin, end in growing(len(points)):
            some = (points[begin:end], *(part[begin:end] for part in heap))
            tests += queries.search_nearest(
                self.store.boxes, self._end(), self.store.categories, self.store.masks, *self.cells(),
                *some, done, *rules,
            )  # fmt: skip
        return tests

    def pairs(
        self, ids: IdArray, touching: bool, rules: PairFilter, most_threads: int, limit: int
    ) -> Findings:
        """All pairs among these boxes; it may stop when there are more than ``limit``."""
        if self.boxes < 2:
            return Findings([], 0)
        parts = most_threads * SHARES if most_threads > 1 and self.boxes > ENOUGH_FOR_THREADS else 1
        places = len(self.heads)
        visited = np.empty(0, np.int64)
        if places > _PLACES_PER_BOX * self.boxes:
            visited = np.empty(int(self.tally[kernel.ENTRIES]), np.int64)
            places, own = 0, np.empty(MOST_PLACES, np.int64)
            for span in pieces(len(ids)):
                places = kernel.places_led_by(
                    self.store.boxes, ids, *self.cells(), own, *span, visited, places
                )
        common = (self.store.boxes, touching, rules, *self.cells())
        task = Task(self.store.boxes, touching, rules, most_threads, limit)
        within = search_in_shares(
            task, lambda: _Places(common, visited), threads.shares(places, parts), (kernel.LOOK, 0, 0, 0)
        )
        if np.count_nonzero(self.lattice[:, kernel.BOXES]) < 2 or within.pairs > limit:
            return Findings(within.chunks, within.tests)
        upward = partial(kernel.pair_with_larger, *common)
        rest = replace(task, limit=limit - within.pairs)
        above = search_in_shares(rest, lambda: upward, threads.shares(self._end(), parts), (0, 0, 0))
        return Findings(within.chunks + above.chunks, within.tests + above.tests)

    def check(self, ids: IdArray) -> None:
        """Raise ``AssertionError`` if the cells do not hold exactly these boxes."""
        expect(not self.unbuilt, "cells are built before they are read")
        expect(self.boxes == len(ids), "the number of boxes in cells is right")
        expect(int(self.lattice[:, kernel.BOXES].sum()) == len(ids), "levels count their boxes")
        in_cells = np.flatnonzero(self.levels != kernel.ABSENT)
        expect(np.array_equal(in_cells, ids), "ids in cells are those that should be")
        fault = kernel.check_lists(self.store.boxes, ids, *self._lists())
        expect(fault == 0, f"cells hold the boxes that touch them, once, and blocks add up (case {fault})")


class _Places:
    """`pair_places` with memory for one place: as much as the fullest so far has needed."""

    def __init__(self, common: tuple[Any, ...], visited: npt.NDArray[np.int64]) -> None:
        self._common, self._visited = common, visited
        self._make_block(kernel.OVERFULL)

    def __call__(self, at: Position, end: int, out: PairArray, most: int, store: bool) -> Any:
        """Continue, with a larger block if one is needed."""
        if at[1] == kernel.CRAMPED:
            _, _, _, heads, pool, *_ = self._common
            place = self._visited[at[0]] if len(self._visited) else at[0]
            self._make_block(2 * int(pool[int(heads[place]) * kernel.UNIT]))
            at = (at[0], kernel.LOOK, 0, 0, 0)
        return kernel.pair_places(*self._common, self._visited, self._block, at, end, out, most, store)

    def _make_block(self, capacity: int) -> None:
        boxes = self._common[0]
        self._block = kernel.make_block(boxes.shape[1], capacity, boxes.dtype)


def _pool_of(units: int) -> npt.NDArray[np.int32]:
    if units >= 2**31:
        raise MemoryError("the cells hold too many boxes; make them larger")
    return np.empty(max(units, 2) * kernel.UNIT, np.int32)


def _words_for(end: int) -> npt.NDArray[np.uint64]:
    """Bits to mark ids in, all zero, and a word that says whether a thread uses them."""
    return np.append(words_for(end), np.uint64(0))


class CellStructure(Structure):
    """The cells of a grid or a hash; see `broadphase.UniformGrid` and `broadphase.SpatialHash`."""

    reads_given = True
    changes_by_query = 0.1
    cell_size: float | None
    """As the caller wants it; None: chosen from the boxes."""

    @abstractmethod
    def _plan(self, boxes: BoxArray) -> Plan:
        """Cells for these boxes, at least one of them."""

    # ---- the cells follow the boxes

    def reset(self) -> None:
        self._lists = (CellLists(self.store), CellLists(self.store))
        self._leaving: tuple[IdArray, ...] = ()
        self._build_all_later()

    def _build_all_later(self) -> None:
        for lists in self._lists:
            lists.build_later()
        self.stale = True

    def refresh(self) -> None:
        for lists, ids in zip(self._lists, self._split(self.store.ids()), strict=True):
            if lists.unbuilt:
                if len(ids):
                    lists.build(ids, self._plan(self.store.boxes[ids]))
                else:
                    lists.empty()

    def _split(self, ids: IdArray) -> tuple[IdArray, IdArray]:
        """The ids of moving boxes, and those of static ones."""
        if not self.store.any_static:
            return ids, ids[:0]
        static = self.store.classes[ids] != 0
        return ids[~static], ids[static]

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        if boxes is None:
            for lists, own in zip(self._lists, self._split(ids), strict=True):
                if len(own):
                    lists.remove(own)
        elif self.store.any_static:
            static = self.store.classes[ids] != 0
            parts = ((ids[~static], boxes[~static]), (ids[static], boxes[static]))
            self._leaving = tuple(lists.leave(*part) for lists, part in zip(self._lists, parts, strict=True))
        else:
            self._leaving = (self._lists[_MOVING].leave(ids, boxes),)
        self._look_whether_built()

    def enter(self, ids: IdArray, fresh: bool) -> None:
        parts, self._leaving = self._split(ids) if fresh else self._leaving, ()
        for lists, own in zip(self._lists, parts, strict=False):
            if len(own) and fresh:
                lists.insert(own)
            elif len(own):
                lists.enter(own)
        self._look_whether_built()

    def _look_whether_built(self) -> None:
        self.stale = self._lists[_MOVING].unbuilt or self._lists[_STATIC].unbuilt

    def move_one(self, id: Any, box: Given) -> bool:  # noqa: A002
        store, lists = self.store, self._lists[_MOVING]
        if store.any_static:
            return False
        done = _try_move(
            store.boxes, store.alive, store.end, lists.heads, lists.pool, lists.tally, lists.lattice,
            lists.levels, lists.table, id, box,
        )  # fmt: skip
        if done == queries.HOMELESS:
            lists.enter(np.array([id], np.int32))
        return done is not None and done != queries.REFUSED

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        store = self.store
        moving, static = self._lists
        moving_ids, static_ids = self._split(store.ids())
        # The two sets of cells are the classes.
        rules = store.filter()._replace(classes=np.empty(0, np.uint8))
        most = threads.resolve(self.threads)
        chunks, tests = moving.pairs(moving_ids, self.touching, rules, most, limit)
        if moving.boxes and static.boxes and sum(map(len, chunks)) <= limit:
            few, many = sorted((moving_ids, static_ids), key=len)
            search_part = partial(self._search_in_parts, static if many is static_ids else moving)
            pairs, made = protocol.pairs_between(store, few, len(many), search_part, limit)
            chunks.append(pairs)
            tests += made
        return Found(chunks, sum(map(len, chunks)), tests, self.counts()[0])

    def _search_in_parts(self, lists: CellLists, boxes: Rows) -> Ids:
        """Rows ``[query, id]`` for a batch of boxes, searched by several threads."""
        parts = min(threads.resolve(self.threads), len(boxes) // _ENOUGH_QUERIES + 1)

        def search(begin: int, end: int) -> Ids:
            rows, tests = lists.search(boxes[begin:end], self.touching, NO_RULES)
            rows[:, 0] += begin
            return rows, tests

        found = threads.run_all([partial(search, *span) for span in threads.shares(len(boxes), parts)])
        return np.concatenate([rows for rows, _ in found]), sum(tests for _, tests in found)

    # ---- queries: one without rules asks the kernels of one or both lists

    def _only(self) -> CellLists | None:
        """The cells of all boxes, where all move or all are static."""
        moving, static = self._lists
        if not static.boxes:
            return moving
        return None if moving.boxes else static

    def find_in_box(self, box: Given, touching: bool, rules: Rules) -> Ids | None:
        if rules != NO_RULES:
            return protocol.box_as_many(self, box, touching, rules)
        only = self._only()
        if only is not None:
            return only.in_box(box, touching)
        moving, static = (lists.in_box(box, touching) for lists in self._lists)
        if moving is None or static is None or moving[1] < 0 or static[1] < 0:
            return None
        ids = np.concatenate((moving[0], static[0]))
        if len(ids) <= FEW_IDS:
            ids.sort()
        return ids, moving[1] + static[1]

    def find_first_on_ray(
        self, origin: Given, direction: Given, max_distance: float, rules: Rules
    ) -> FirstHit | None:
        if rules != NO_RULES:
            ray = (*origin, *direction, max_distance)
            hits: Any = self.find_first_on_rays(np.array((ray,), np.float64), protocol.NO_IDS, rules)
            return protocol.described(self.store, hits[0].item(), hits[1], ray)
        only, query = self._only(), (origin, direction, max_distance, self.touching)
        if only is not None:
            return only.on_ray(*query)
        moving, static = (lists.on_ray(*query) for lists in self._lists)
        if moving is None or static is None or moving[1] < 0 or static[1] < 0:
            return None
        # A hit before a miss; by distance, then id.
        first = min(moving, static, key=lambda hit: (hit[0] < 0, hit[2], hit[0]))
        return first[0], moving[1] + static[1], *first[2:]

    def find_nearest(self, point: Given, k: int, rules: Rules) -> NearestIds | None:
        if rules != NO_RULES:
            return protocol.nearest_as_many(self, point, k, rules)
        only = self._only()
        if only is not None:
            return only.around(point, k)
        moving, static = (lists.around(point, k) for lists in self._lists)
        if moving is None or static is None or moving[2] < 0 or static[2] < 0:
            return None
        ids, distances = np.concatenate((moving[0], static[0])), np.concatenate((moving[1], static[1]))
        order = np.lexsort((ids, distances))[:k]
        return ids[order], distances[order], moving[2] + static[2]

    def find_in_boxes(self, boxes: Rows, touching: bool, rules: Rules, out: PairArray | None = None) -> Ids:
        only = self._only()
        if only is not None:
            return only.search(boxes, touching, rules, out)
        found = [lists.search(boxes, touching, rules) for lists in self._lists]
        rows = np.concatenate([rows for rows, _ in found])
        # Two ordered halves: a stable sort merges them.
        return rows[np.argsort(rows[:, 0], kind="stable")], sum(tests for _, tests in found)

    def find_on_ray(self, ray: Floats, rules: Rules) -> Ids:
        ids, _, tests = self.find_on_rays(np.array((ray,), np.float64), rules)
        return ids, tests

    def find_on_rays(self, rays: Rows, rules: Rules) -> tuple[IdArray, IdArray, int]:
        keys = [np.empty(0, np.int64)]
        tests = 0
        for lists in self._lists:
            if lists.boxes:
                rows, made = lists.hits(rays, self.touching, rules)
                keys.append(rows[:, 0].astype(np.int64) << 32 | rows[:, 1])
                tests += made
        found = np.unique(np.concatenate(keys))
        counts = np.bincount(found >> 32, minlength=len(rays)).astype(np.int32)
        return (found & 0xFFFFFFFF).astype(np.int32), counts, tests

    def find_first_on_rays(self, rays: Rows, ignored: IdArray, rules: Rules) -> Ids | None:
        if len(ignored):
            return None
        best = np.full(len(rays), -1, np.int32)
        nearest = np.full(len(rays), np.inf)
        tests = 0
        for lists in self._lists:
            if lists.boxes:
                tests += lists.first_hits(rays, best, nearest, self.touching, rules)
        return best, tests

    def find_nearest_many(self, points: Rows, k: int, rules: Rules) -> Ids:
        ids = np.full((len(points), k), -1, np.int32)
        heap = ids, np.empty((len(points), k)), np.zeros(len(points), np.int64)
        tests = 0
        for lists in self._lists:
            if lists.boxes:
                tests += lists.nearest(points, heap, rules)
        return ids, tests

    # ---- about itself

    def explain(self) -> "CellReport":
        """Whether the cells are too large, too small or right, and why."""
        self.ready()
        moving, static = self._lists
        moving_ids, static_ids = self._split(self.store.ids())
        lists, ids = (moving, moving_ids) if moving.boxes or not static.boxes else (static, static_ids)
        return report_on(lists, self.store.boxes[ids], self.cell_size)

    def tune(self) -> None:
        """Choose the cell size again from the boxes as they are now, and bin all of them."""
        before = self.explain()
        if self.cell_size is not None and before.verdict in ("too large", "too small"):
            self.cell_size = before.suggested
        self._build_all_later()

    def counts(self) -> tuple[int, int]:
        return sum(lists.places_in_use for lists in self._lists), 0

    def check(self) -> None:
        for lists, ids in zip(self._lists, self._split(self.store.ids()), strict=True):
            lists.check(ids)


def as_cell_size(cell_size: Any) -> float | None:
    """``cell_size=`` as a number, or None for ``"auto"``."""
    if cell_size is None or (isinstance(cell_size, str) and cell_size == "auto"):
        return None
    if isinstance(cell_size, str):
        raise TypeError(f'cell_size must be a number or "auto"; got {cell_size!r}')
    return check_cell_size(cell_size)


# ---- are the cells too large, too small or right?


@dataclass(frozen=True)
class CellReport:
    """What `UniformGrid.explain` and `SpatialHash.explain` measured; print it to read it."""

    verdict: str
    """``"too large"``, ``"too small"``, ``"right"``, or ``"empty"`` where there is no box to judge by."""
    reason: str
    cell_size: float
    """Side of the finest cells."""
    suggested: float
    """What suits the boxes best: two to three times the size of a typical one."""
    boxes: int
    places: int
    """Cells, or slots of the hash table; of all levels."""
    used: int
    """How many of them hold a box."""
    copies: float
    """In how many places a box lies, on average."""
    company: float
    """With how many others a box shares a place, on average."""
    fullest: int
    """The most boxes in one place."""
    oversize: float
    """Share of the boxes that are too large for the finest cells and lie in coarser ones."""

    def __str__(self) -> str:
        return "\n".join(
            (
                f"cells of {readable(self.cell_size)} are {self.verdict}: {self.reason}",
                f"{self.boxes:,} boxes in {self.used:,} of {self.places:,} places",
                f"a box lies in {self.copies:.1f} of them and shares each with {self.company:.1f} others; "
                f"the fullest holds {self.fullest:,}",
                f"{self.oversize:.1%} of the boxes lie in coarser cells",
            )
        )


def report_on(lists: CellLists, boxes: BoxArray, cell_size: float | None) -> CellReport:
    """Measure and judge; ``boxes`` are those of the cells, ``cell_size`` is None where it was chosen."""
    if not len(boxes):
        return CellReport("empty", "there is no box to judge by", 0.0, 0.0, 0, 0, 0, 0.0, 0.0, 0, 0.0)
    blocks = lists.heads[lists.heads != 0].astype(np.int64)
    held = lists.pool[blocks * kernel.UNIT].astype(np.float64)
    copies = float(lists.tally[kernel.ENTRIES]) / len(boxes)
    company = float((held * held).sum() / held.sum()) - 1.0
    oversize = 1.0 - float(lists.lattice[0, kernel.BOXES]) / len(boxes)
    # A grid whose cells are larger than its bounds has one cell, which knows no size.
    size = 1.0 / float(lists.lattice[0, kernel.PER_UNIT])
    if len(lists.lattice) == 1 and cell_size is not None:
        size = cell_size
    suggested = suggest_cell_size(boxes).size
    verdict, reason = _judge(size, suggested, copies, company, oversize, boxes.shape[1] // 2)
    if len(blocks) == 1 and len(boxes) > 1 and size > suggested * _NEAR_ENOUGH:
        parted = _cells_in_use(boxes, suggested)
        if parted > 1:
            better = readable(suggested)
            reason = f"all {len(boxes):,} boxes lie in one cell; with {better} they lie in {parted:,}"
            verdict = "too large"
    if held.max() > kernel.OVERFULL:
        swept = f"cells with more than {kernel.OVERFULL} boxes are sorted and swept"
        reason += f"; {swept}, which makes fewer tests and takes longer"
    return CellReport(
        verdict,
        reason,
        size,
        suggested,
        len(boxes),
        len(lists.heads),
        len(blocks),
        copies,
        company,
        int(held.max()),
        oversize,
    )


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
