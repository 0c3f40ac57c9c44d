"""Sweep and prune: the ends of all boxes sorted on every axis, and the pairs kept between frames.

Two boxes overlap on an axis while each one's lower end lies before the other's upper end.  As boxes move a
little, few ends change places with their neighbours; where a lower end passes an upper one, or the other
way round, an overlap on that axis begins or ends, and only there can a pair have changed.  So the ends are
kept sorted by insertion, the pairs in a list, and a frame costs what happens in it: the boxes that moved, the
ends that they passed, the pairs that changed.  ``pairs`` is then a copy of the list.

Source: Baraff's coordinate sorting (1992); Cohen, Lin, Manocha and Ponamgi, "I-COLLIDE" (1995), for all
axes and the persistent pairs; Ericson, "Real-Time Collision Detection" (2005), section 7.5.

Cost: nothing for a box that did not move; for one that did, its swaps, which grow with its displacement and
with the number of boxes beside it on each axis.  A new box is inserted behind all others, and a frame in
which some are removed visits all ends once.  When much moves, the ends are sorted and the pairs found again.
It wins where a world of thousands is nearly still and ``pairs`` is needed; it loses where everything moves,
where boxes move far or pile up on an axis (each passes all others), and to any other index in memory: about
100 bytes a box in 2-D float32, 8 bytes a pair.  Then `broadphase.BoxTree` (for ``changes`` and queries) or
`broadphase.Strips` (for ``pairs``) is better.
"""

from functools import partial

import numpy as np
import numpy.typing as npt

from broadphase.indexes.changes import History, from_all_pairs
from broadphase.indexes.protocol import Shared, Structure, all_pairs, search_live
from broadphase.indexes.results import PairChanges
from broadphase.indexes.storage import BoxStore, IdArray, Touched, expect
from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.arrays.sorting import bits_of, ordered_columns, stable_argsort
from broadphase.kernels.sorted import boxes_that_moved, close_up, move_ends, sort_ends
from broadphase.methods import choose
from broadphase.methods.pair_order import PairKeys, as_pairs, pair_keys
from broadphase.methods.task import Found
from broadphase.runtime import threads, thresholds
from broadphase.runtime.arrays import joined, rows_at, sorted_keys
from broadphase.runtime.memory import PairArray, Scratch

_MOST_IDS = 2**30


class Ends:
    """The sorted ends of all boxes; see `broadphase.kernels.sorted`."""

    def __init__(self, store: BoxStore, touching: bool) -> None:
        dim, dtype = store.boxes.shape[1] // 2, store.boxes.dtype
        self.touching = touching
        self._type = np.dtype(f"i{dtype.itemsize}")
        self.count = 2 * store.live
        self.keys = np.empty((dim, self.count), self._type)
        self.items = np.empty((dim, self.count), np.int32)
        self.places = np.empty((dim, 0), np.int32)
        self.before = np.empty((0, 2 * dim), dtype)
        """The boxes when the ends were in order; NaN where there was none."""
        self._reserve(store.end)
        boxes, ends = bits_of(store.boxes), (touching, self.keys, self.items, self.places)
        threads.run_all([partial(sort_ends, boxes, store.ids(), axis, *ends) for axis in range(dim)])
        self.before[: store.end] = store.boxes[: store.end]

    def has(self, ids: IdArray) -> npt.NDArray[np.bool_]:
        """Which of the boxes were there when the ends were in order."""
        known: npt.NDArray[np.bool_] = 2 * ids.astype(np.int64) < self.places.shape[1]
        known[known] = self.places[0, 2 * ids[known]] >= 0
        return known

    def drop(self, ids: IdArray) -> None:
        """Take the ends of these boxes out."""
        self.places[:, 2 * ids] = self.places[:, 2 * ids + 1] = -1
        self.before[ids] = np.nan
        self.count = int(close_up(self.keys, self.items, self.places, self.count))

    def add(self, ids: IdArray, end: int) -> None:
        """Put the ends of these new boxes behind all others; ids are below ``end``."""
        self._reserve(end)
        begin, self.count = self.count, self.count + 2 * len(ids)
        if self.count > self.keys.shape[1]:
            self.keys, self.items = (
                np.concatenate((rows[:, :begin], np.empty_like(rows, shape=(len(rows), self.count))), axis=1)
                for rows in (self.keys, self.items)
            )
        self.keys[:, begin : self.count] = np.iinfo(self._type).max
        items = np.column_stack((2 * ids, 2 * ids + 1)).ravel()
        self.items[:, begin : self.count] = items
        self.places[:, items] = np.arange(begin, self.count)

    def moved(self, store: BoxStore, ids: IdArray) -> IdArray:
        """Those of ``ids`` that are in use and have moved."""
        self._reserve(store.end)
        moved: IdArray = boxes_that_moved(ids, store.alive, store.boxes, self.before)
        return moved

    def check(self, store: BoxStore) -> None:
        """Raise ``AssertionError`` where an invariant is broken."""
        ids = store.ids()
        expect(self.count == 2 * len(ids), "each end is there once")
        for axis in range(len(self.keys)):
            keys, items = self.keys[axis, : self.count], self.items[axis, : self.count]
            columns, _ = ordered_columns(bits_of(store.boxes), ids, axis, self.touching)
            wanted = np.concatenate((columns[0, : len(ids)], columns[len(self.keys), : len(ids)]))
            named = np.concatenate((2 * ids, 2 * ids + 1))
            expect(np.array_equal(np.sort(items), np.sort(named)), "the ends are those of the live boxes")
            expect(np.array_equal(keys[self.places[axis, named]], wanted), "keys are the boxes'")
            expect(np.array_equal(items[self.places[axis, named]], named), "places say where the ends are")
            in_order = (keys[1:] > keys[:-1]) | ((keys[1:] == keys[:-1]) & (items[1:] & 1 >= items[:-1] & 1))
            expect(bool(in_order.all()), "the ends are in order")
            expect(int((self.places[axis] >= 0).sum()) == self.count, "removed boxes have no place")
        expect(np.array_equal(self.before[ids], store.boxes[ids]), "the boxes are those of the ends")

    def _reserve(self, end: int) -> None:
        held = len(self.before)
        if end > held:
            if end > _MOST_IDS:
                raise MemoryError(f"an index of this class holds at most {_MOST_IDS} ids: its ends are int32")
            more = max(end, 2 * held)
            places = np.empty((len(self.places), 2 * more), np.int32)
            before = np.empty((more, self.before.shape[1]), self.before.dtype)
            before[:held], before[held:] = self.before, np.nan
            places[:, : 2 * held], places[:, 2 * held :] = self.places[:, : 2 * held], -1
            self.places, self.before = places, before


class SweepStructure(Structure):
    """The ends and the pairs of a `broadphase.SweepAndPrune`."""

    def __init__(self, shared: Shared) -> None:
        self._touched, self._gone = Touched(), Touched()
        super().__init__(shared)

    # ---- the ends follow the boxes

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        if boxes is None:
            self._gone.add(ids, self.store.live)
            self._touched.add(ids, self.store.live)
        self.stale = True

    def enter(self, ids: IdArray, fresh: bool) -> None:
        self._touched.add(ids, self.store.live)
        self.stale = True

    def reset(self) -> None:
        self._touched.clear()
        self._gone.clear()
        self._ends: Ends | None = None
        self._found = History(np.empty((0, 2), np.int32))
        self._toggled: list[PairKeys] | None = None
        """Keys of the pairs that began, and negative keys of those that ended, read by read since the last
        call of ``changes``; ``None`` if all pairs have to be compared."""
        self._toggles = 0
        self._work = self._reported = (0, 0)

    def refresh(self) -> None:
        if self._ends is None or not self._follow(self._ends):
            self._rebuild()
        self._touched.clear()
        self._gone.clear()

    def _follow(self, ends: Ends) -> bool:
        """Move the ends of what changed; False when that is too much."""
        store, touched = self.store, self._touched.ids()
        gone = self._gone.ids()
        gone = gone[ends.has(gone)]
        if len(gone) > thresholds.MOST_TOUCHED * store.live:
            return False
        if len(gone):
            self._note(-pair_keys([self._pairs_of(ends, gone)]))
            ends.drop(gone)
        moved = ends.moved(store, touched)
        if len(moved) > thresholds.MOST_TOUCHED * store.live:
            return False
        if not len(moved):
            return True
        new = moved[~ends.has(moved)]
        if len(new):
            ends.add(new, store.end)
        return self._move(ends, moved)

    def _pairs_of(self, ends: Ends, ids: IdArray) -> PairArray:
        """The pairs of some boxes."""
        named = np.zeros(len(ends.before), np.bool_)
        named[ids] = True
        pairs = self._found.pairs()
        return pairs[named[pairs[:, 0]] | named[pairs[:, 1]]]

    def _move(self, ends: Ends, ids: IdArray) -> bool:
        """Let ends pass each other until all are in order; False when too many do."""
        store = self.store
        most = max(thresholds.MOST_PASSED * store.live, thresholds.ALWAYS_PASSED)
        boxes = (store.boxes, ends.before, self.touching, store.filter())
        events, passed = move_ends(ids, *boxes, ends.keys, ends.items, ends.places, ends.count, most)
        if passed > most:
            return False
        self._work = self._work[0] + passed, self._work[1] + passed
        ends.before[ids] = store.boxes[ids]
        keys = sorted_keys([events.ravel()])
        self._note(keys[_first_of_each(keys)])
        return True

    def _note(self, toggled: PairKeys) -> None:
        """Add the pairs that began and, with negative keys, those that ended."""
        if len(toggled):
            began, ended = toggled[toggled > 0], -toggled[toggled < 0]
            self._found.advance(as_pairs(began), as_pairs(ended))
            self._toggles += len(toggled)
            if self._toggled is not None:
                self._toggled.append(toggled)
                if self._toggles > self.store.live // 4 + 1000:  # comparing all pairs costs less
                    self._toggled = None

    def _rebuild(self) -> None:
        """Sort all ends and find all pairs from scratch."""
        self._ends = Ends(self.store, self.touching)
        find = partial(search_live, self, choose.find)
        pairs, tests = all_pairs(self.store, self.threads, find, sort=True)
        self._found = History(pairs)
        self._work = self._work[0], self._work[1] + tests
        self._toggled = None

    # ---- pairs

    def _report(self) -> int:
        """Count the work since the last read for this one; returns the tests."""
        self._reported, self._work = self._work, (0, 0)
        return self._reported[1]

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        pairs = self._found.pairs()
        return Found([pairs], len(pairs), self._report(), ordered=True)

    def find_changes(self, history: History) -> tuple[PairChanges, int]:
        toggled, self._toggled = self._toggled, None  # until it is done: it may be interrupted
        if toggled is None:
            changes, _ = from_all_pairs(self.store, lambda **_: (self._found.pairs(), 0), history)
        else:
            changes = history.advance(*_net(toggled, self.store.renewed), self.store)
        self._toggled, self._toggles = [], 0
        return changes, self._report()

    # ---- about itself

    def counts(self) -> tuple[int, int]:
        return 0, self._reported[0]

    def check(self) -> None:
        if self._ends is not None:
            self._ends.check(self.store)


def _net(toggled: list[PairKeys], renewed: npt.NDArray[np.bool_]) -> tuple[PairArray, PairArray]:
    """The net change of pairs that began and ended repeatedly: sorted, began and ended.

    A pair that began and ended again has not changed, unless one of its ids was reused.
    """
    if not toggled:
        return np.empty((0, 2), np.int32), np.empty((0, 2), np.int32)
    signed = joined(toggled)
    signed = rows_at(signed, stable_argsort(np.abs(signed)))
    keys = np.abs(signed)
    first = _first_of_each(keys)
    last = np.roll(first, -1)
    was, now = signed[first] < 0, signed[last] > 0
    pairs = as_pairs(keys[first])
    new = renewed[pairs].any(axis=1)
    return pairs[now & (new | ~was)], pairs[was & (new | ~now)]


def _first_of_each(keys: PairKeys) -> npt.NDArray[np.bool_]:
    """Which of the sorted keys are not the same as the one before."""
    first = np.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    return first
