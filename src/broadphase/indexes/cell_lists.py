"""Boxes in their cells, kept between frames: the part that the uniform grid and the spatial hash share."""

import math
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes.arguments import Floats, Given, Rows
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.kernels.arrays.pieces import pieces
from broadphase.kernels.arrays.sort_ids import words_for
from broadphase.kernels.boxes.filters import PairFilter
from broadphase.kernels.cells import lattice as columns
from broadphase.kernels.cells import lists as kernel
from broadphase.kernels.cells.ask import ask_box, ask_move, ask_nearest, ask_ray
from broadphase.kernels.cells.binning import MOST_PLACES
from broadphase.kernels.cells.check import check_lists
from broadphase.kernels.cells.nearest import search_nearest
from broadphase.kernels.cells.pairs import CRAMPED, LOOK, OVERFULL, make_block, pair_places, pair_with_larger
from broadphase.kernels.cells.query import CELLS, NEAR, search_boxes
from broadphase.kernels.cells.rays import walk_rays
from broadphase.kernels.machine.kernel import trial
from broadphase.methods.cell_search import ENOUGH_FOR_THREADS, SHARES
from broadphase.methods.cell_size import LARGEST_CELL
from broadphase.methods.task import Task, search_in_shares
from broadphase.slices import Position, few_at_a_time, growing, in_chunks

# Up to here boxes are entered one by one, and cells are made for that many at least.
FEW = 64
# Where more than this share of the boxes lies in other cells, filling all cells anew costs less.
_REBIN_ALL = 3
# With more places than this for each box, going to the boxes' own is faster than looking at all.
_PLACES_PER_BOX = 16
_STEPS = (4.0,) * 11 + (64.0,) * (columns.MOST_LEVELS - 13)
_try_box, _try_ray, _try_nearest, _try_move = map(trial, (ask_box, ask_ray, ask_nearest, ask_move))


class Plan(NamedTuple):
    """Where the cells lie, and how many places there are for them."""

    lattice: npt.NDArray[np.float64]
    """As of `broadphase.kernels.cells.lattice`."""
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
    lattice = np.zeros((len(sizes) + 1, columns.WIDTH))
    lattice[:, columns.ORIGIN : columns.ORIGIN + len(origin)] = origin
    lattice[:, columns.PER_UNIT] = [*(1.0 / sizes), 1.0]
    lattice[:, columns.LOWEST : columns.LOWEST + 3] = math.inf
    lattice[:, columns.HIGHEST : columns.HIGHEST + 3] = -math.inf
    return lattice


class CellLists:
    """Some boxes of an index in their cells; which boxes and which cells is the index's affair.

    ``unbuilt``: the cells do not follow the boxes until `build` is called.
    """

    def __init__(self) -> None:
        self.tally = np.zeros(kernel.TALLY, np.int64)
        self._places = np.empty(MOST_PLACES, np.int64)
        self.empty()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "words": _words_for(len(self.levels))}  # somebody may mark ids just now

    def empty(self) -> None:
        """No boxes, and one cell to put some in."""
        binned = self.tally[kernel.BINNED]
        self.unbuilt = False
        self.boxes = 0
        self.table = 0
        """What kernels are told: the slots of the hash table, 0 for a grid."""
        self.heads = np.zeros(1, np.int32)
        self.pool = np.zeros(kernel.UNIT, np.int32)
        self.tally = np.zeros(kernel.TALLY, np.int64)
        self.tally[kernel.BINNED] = binned
        self.lattice = empty_lattice(np.empty(0), np.zeros(3))
        self.levels = np.empty(0, np.uint8)
        self.words = _words_for(0)
        """What `ask_box` marks ids in, as long as ``levels`` says."""
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

    def build(self, store: BoxStore, ids: IdArray, plan: Plan) -> None:
        """Fill new cells with these boxes, by a counting sort."""
        heads = np.zeros(plan.places, np.int32)
        levels = np.full(len(store.alive), columns.ABSENT, np.uint8)
        tally = np.zeros(kernel.TALLY, np.int64)
        tally[kernel.BINNED] = self.tally[kernel.BINNED]
        lattice = plan.lattice
        table = plan.places if plan.hashed else 0
        cells, places = (lattice, levels, table), np.empty(MOST_PLACES, np.int64)
        for span in pieces(len(ids)):
            kernel.count_boxes(store.boxes, ids, heads, tally, *cells, places, *span)
        units = int(kernel.units_of_all(heads))
        pool = _pool_of(units + units // 8)
        kernel.lay_out_blocks(heads, pool, tally)
        for span in pieces(len(ids)):
            kernel.fill_blocks(store.boxes, ids, heads, pool, *cells, places, *span)
        self.heads, self.pool, self.tally, self.lattice, self.levels = heads, pool, tally, lattice, levels
        self.table, self.words = table, _words_for(len(levels))
        self.boxes = len(ids)
        self._limit = max(FEW, 2 * len(ids))
        self.unbuilt = False

    def insert(self, store: BoxStore, ids: IdArray) -> None:
        """Enter new boxes; where there are too many for the cells, build later."""
        if self.unbuilt:
            return
        if self.boxes + len(ids) > self._limit:
            self.build_later()
            return
        self.enter(store, ids)
        self.boxes += len(ids)

    def enter(self, store: BoxStore, ids: IdArray) -> None:
        """Enter boxes that are in no cell."""
        try:
            if len(self.levels) < store.end:
                levels = np.full(len(store.alive), columns.ABSENT, np.uint8)
                levels[: len(self.levels)] = self.levels
                self.words = _words_for(len(levels))
                self.levels = levels
            for begin, end in few_at_a_time(len(ids)):
                while (begin := kernel.enter_boxes(store.boxes, ids, begin, end, *self._lists())) < end:
                    self._make_room()
        except BaseException:
            self.build_later()
            raise

    def remove(self, store: BoxStore, ids: IdArray) -> None:
        """Take boxes out, before their rows go."""
        if self.unbuilt:
            return
        if len(ids) > FEW and 2 * len(ids) > self.boxes:
            self.build_later()
            return
        self._leave(store, ids)
        self.boxes -= len(ids)

    def leave(self, store: BoxStore, ids: IdArray, rows: BoxArray) -> IdArray:
        """Take those out of their cells that lie in others with their new ``rows``; they are returned."""
        if self.unbuilt:
            return ids[:0]
        found = []
        for begin, end in pieces(len(ids)):
            rebinned = np.empty(end - begin + 1, np.int64)
            cells = (self.lattice, self.levels, self.table)
            count = kernel.find_rebinned(store.boxes, ids[begin:end], rows[begin:end], *cells, rebinned)
            found.append(begin + rebinned[:count] if begin else rebinned[:count])
        leaving = ids[found[0] if len(found) == 1 else np.concatenate(found)]
        if len(leaving) > FEW and len(leaving) * _REBIN_ALL > self.boxes:
            self.build_later()
            return ids[:0]
        if len(leaving):
            self._leave(store, leaving)
        return leaving

    def _leave(self, store: BoxStore, ids: IdArray) -> None:
        try:
            for begin, end in few_at_a_time(len(ids)):
                kernel.leave_cells(store.boxes, ids[begin:end], *self._lists())
        except BaseException:
            self.build_later()
            raise

    def _lists(self) -> tuple[Any, ...]:
        return self.heads, self.pool, self.tally, self.lattice, self.levels, self.table, self._places

    def _make_room(self) -> None:
        units = len(self.pool) // kernel.UNIT
        pool = _pool_of(2 * units + FEW)
        pool[: len(self.pool)] = self.pool
        self.pool = pool

    def ask_move(self, store: BoxStore, id: Any, values: Given) -> int | None:  # noqa: A002
        """Move a box to its new cells; what has become of it (`broadphase.kernels.cells.ask`)."""
        done: int | None = _try_move(
            store.boxes, store.alive, store.end, self.heads, self.pool, self.tally, self.lattice, self.levels,
            self.table, id, values,
        )  # fmt: skip
        return done

    # ---- one question, with what a caller wrote; None for what the kernel does not take

    def ask_box(self, store: BoxStore, values: Given, touching: bool) -> Any:
        """Ids and tests; tests below 0 where the box is unsound, or another thread asks just now."""
        return _try_box(
            store.boxes, store.end, self.heads, self.pool, self.lattice, self.levels, self.table,
            self.words, values, touching,
        )  # fmt: skip

    def ask_ray(
        self, store: BoxStore, origin: Given, direction: Given, furthest: float, touching: bool
    ) -> Any:
        """What the ray hits first or -1, tests, distance, and the normal on three axes."""
        return _try_ray(
            store.boxes, store.end, self.heads, self.pool, self.lattice, self.levels, self.table,
            origin, direction, furthest, touching,
        )  # fmt: skip

    def ask_nearest(self, store: BoxStore, point: Given, k: int) -> Any:
        """Ids and distances in order, and tests."""
        return _try_nearest(
            store.boxes, store.end, self.heads, self.pool, self.lattice, self.levels, self.table, point, k
        )

    # ---- what lies in them

    def _end(self, store: BoxStore) -> int:
        """One more than the largest id that may be in these cells."""
        return min(store.end, len(self.levels))

    def _cells(self) -> tuple[Any, ...]:
        return self.heads, self.pool, self.lattice, self.levels, self.table

    def search(
        self, store: BoxStore, boxes: Rows, touching: bool, category: int, mask: int
    ) -> tuple[IdArray, int]:
        """Rows ``[query, id]``, ordered by query, and the tests made."""
        cells, near = np.empty((CELLS, 7), np.int64), np.empty((2, NEAR), np.int32)
        words = words_for(self._end(store))

        def ask(begin: int, end: int, out: PairArray) -> tuple[int, int, int]:
            answer: tuple[int, int, int] = search_boxes(
                store.boxes, self._end(store), store.categories, store.masks, *self._cells(),
                boxes[:end], begin, cells, near, words, out, touching, category, mask,
            )  # fmt: skip
            return answer

        return in_chunks(ask, len(boxes), 4 * len(boxes) + FEW)

    def first_hits(
        self,
        store: BoxStore,
        rays: Rows,
        best: IdArray,
        nearest: Rows,
        touching: bool,
        category: int,
        mask: int,
    ) -> int:
        """Lower ``best`` and ``nearest`` to what each ray hits first here; returns the tests."""
        none, scratch = np.empty((0, 2), np.int32), (np.empty(rays.shape[1]), np.empty(3, np.int64))
        tests = 0
        for begin, end in growing(len(rays)):
            tests += walk_rays(
                store.boxes, self._end(store), store.categories, store.masks, *self._cells(),
                rays[:end], begin, *scratch, True, best, nearest, none, touching, category, mask,
            )[2]  # fmt: skip
        return tests

    def hits(
        self, store: BoxStore, rays: Rows, touching: bool, category: int, mask: int
    ) -> tuple[IdArray, int]:
        """Rows ``[ray, id]``, some of them several times, and the tests made."""
        scratch = np.empty(rays.shape[1]), np.empty(3, np.int64)
        unused = np.empty(0, np.int32), np.empty(0)

        def ask(begin: int, end: int, out: PairArray) -> tuple[int, int, int]:
            answer: tuple[int, int, int] = walk_rays(
                store.boxes, self._end(store), store.categories, store.masks, *self._cells(),
                rays[:end], begin, *scratch, False, *unused, out, touching, category, mask,
            )  # fmt: skip
            return answer

        return in_chunks(ask, len(rays), 16 * len(rays) + FEW)

    def nearest(
        self,
        store: BoxStore,
        points: Rows,
        heap: tuple[IdArray, Rows, npt.NDArray[np.int64]],
        category: int,
        mask: int,
    ) -> int:
        """Offer these boxes to the ids, distances and counts of ``heap``; returns the tests."""
        done, tests = np.empty(len(self.lattice), np.bool_), 0
        for begin, end in growing(len(points)):
            some = (points[begin:end], *(part[begin:end] for part in heap))
            tests += search_nearest(
                store.boxes, self._end(store), store.categories, store.masks, *self._cells(),
                *some, done, category, mask,
            )  # fmt: skip
        return tests

    def pairs(
        self, store: BoxStore, ids: IdArray, touching: bool, rules: PairFilter, most_threads: int, limit: int
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
                places = kernel.places_led_by(store.boxes, ids, *self._cells(), own, *span, visited, places)
        common = (store.boxes, touching, rules, *self._cells())
        task = Task(store.boxes, touching, rules, most_threads, limit)
        within = search_in_shares(
            task, lambda: _Places(common, visited), threads.shares(places, parts), (LOOK, 0, 0, 0)
        )
        if np.count_nonzero(self.lattice[:, columns.BOXES]) < 2 or within.pairs > limit:
            return Findings(within.chunks, within.tests)
        upward = partial(pair_with_larger, *common)
        rest = replace(task, limit=limit - within.pairs)
        above = search_in_shares(rest, lambda: upward, threads.shares(self._end(store), parts), (0, 0, 0))
        return Findings(within.chunks + above.chunks, within.tests + above.tests)

    def check(self, store: BoxStore, ids: IdArray) -> None:
        """Raise ``AssertionError`` if the cells do not hold exactly these boxes."""
        expect(not self.unbuilt, "cells are built before they are read")
        expect(self.boxes == len(ids), "the number of boxes in cells is right")
        expect(int(self.lattice[:, columns.BOXES].sum()) == len(ids), "levels count their boxes")
        in_cells = np.flatnonzero(self.levels != columns.ABSENT)
        expect(np.array_equal(in_cells, ids), "ids in cells are those that should be")
        fault = check_lists(store.boxes, ids, *self._lists())
        expect(fault == 0, f"cells hold the boxes that touch them, once, and blocks add up (case {fault})")


class _Places:
    """`pair_places` with memory for the place that it is at: as much as the fullest so far has needed."""

    def __init__(self, common: tuple[Any, ...], visited: npt.NDArray[np.int64]) -> None:
        self._common, self._visited = common, visited
        self._make_block(OVERFULL)

    def __call__(self, at: Position, end: int, out: PairArray, most: int, store: bool) -> Any:
        """Go on, with a larger block where that was wanted."""
        if at[1] == CRAMPED:
            _, _, _, heads, pool, *_ = self._common
            place = self._visited[at[0]] if len(self._visited) else at[0]
            self._make_block(2 * int(pool[int(heads[place]) * kernel.UNIT]))
            at = (at[0], LOOK, 0, 0, 0)
        return pair_places(*self._common, self._visited, self._block, at, end, out, most, store)

    def _make_block(self, room: int) -> None:
        boxes = self._common[0]
        self._block = make_block(boxes.shape[1], room, boxes.dtype)


def _pool_of(units: int) -> npt.NDArray[np.int32]:
    if units >= 2**31:
        raise MemoryError("the cells hold too many boxes; make them larger")
    return np.empty(max(units, 2) * kernel.UNIT, np.int32)


def _words_for(end: int) -> npt.NDArray[np.uint64]:
    """Zeros to mark ids in, and one that says whether somebody does."""
    return np.append(words_for(end), np.uint64(0))


def as_query(values: Floats) -> Rows:
    """One query as a batch."""
    return np.array((values,), np.float64)
