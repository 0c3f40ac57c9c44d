"""Changes at the cost of what was touched: most frames move a few boxes among many.

Two things make that possible.

*The journal* knows which ids were inserted, moved or removed since the last call of ``changes``, and what
their boxes were at that time.  A pair can only have begun or ended if one of its boxes is in there.  So the
index is asked, in one batch, what lies around the old and the new places of these boxes, and every find is
compared: did they overlap before, do they now?  Two boxes that are both in the journal are a case apart:
where the other one was, the index does not know any more, so the old boxes are paired among themselves.

*The history* is the sorted pairs at some earlier call, and what began and ended since.  Nothing is copied
while nobody asks; ``stayed`` is put together when somebody does, also when the index has long moved on.  When
the changes have grown to half of the pairs, they are merged into them: a fixed cost for each change.

Cost: one query for each touched box, and the changes.  Where more than a share of all boxes was touched
(`Hooks._changes_by_query`), finding all pairs anew and merging the two lists is cheaper, and is done.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from broadphase import choose, methods, threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes.results import PairChanges
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.kernels.boxes.filters import PairFilter
from broadphase.kernels.pairs import journal as kernel
from broadphase.kernels.pairs.pair_changes import split_changes, toggle_pairs
from broadphase.methods.task import Task
from broadphase.pair_order import sorted_pairs

if TYPE_CHECKING:
    from broadphase.indexes.protocol import Hooks

PairKeys = npt.NDArray[np.int64]
"""Pairs as numbers ``i << 32 | j``, which sort as the pairs do."""
Compared = tuple[PairArray, int, PairArray, int, int]
"""What began, how many, what ended, how many, and the tests made."""

# Among fewer boxes than this all pairs are found in less time than the Python code below takes.
FEWEST_BOXES = 1000
# So few touched boxes are asked about by one thread; a second one costs as much to call.
_ENOUGH_FOR_THREADS = 200
_A_PART = 500  # queries: 5,000 at once take 1.3 times as long
_FIRST_ROOM = 64
_SMALLEST_MERGE = 1024


class History:
    """The sorted pairs at the last call of ``changes``: those of an earlier one, and what changed since."""

    def __init__(self, pairs: PairArray) -> None:
        self._base = pairs
        self._steps: list[PairKeys] = []
        self._weight = 0

    def advance(self, began: PairArray, ended: PairArray) -> Callable[[], PairArray]:
        """Take a step; returns what makes the array of the pairs that stayed."""
        if self._weight > len(self._base) // 2 + _SMALLEST_MERGE:
            # A new list: those who were given the old one may still ask.
            self._base, self._steps, self._weight = self.pairs(), [], 0
        come, gone = _keys([began]), _keys([ended])
        self._steps += [keys for keys in (come, gone) if len(keys)]
        self._weight += len(come) + len(gone)
        return partial(_toggled, self._base, self._steps, len(self._steps), come)

    def replace(self, pairs: PairArray, began: PairArray) -> Callable[[], PairArray]:
        """Start again from all pairs; returns what makes the array of the pairs that stayed."""
        self._base, self._steps, self._weight = pairs, [], 0
        return partial(_toggled, pairs, self._steps, 0, _keys([began]))

    def pairs(self) -> PairArray:
        """The sorted pairs, in an array of their own."""
        return _toggled(self._base, self._steps, len(self._steps))


class Journal:
    """Which ids were touched since the last call of ``changes``, and what their boxes were then.

    ``open`` while it is kept.  It is closed when it would hold too much, when nobody asks for changes, and
    where a call touches everything at once: then all pairs are found anew.
    """

    def __init__(self) -> None:
        self.open = False
        self._most = 0
        self._count = 0
        self._slots = np.empty(0, np.int32)
        self._kept: tuple[npt.NDArray[Any], ...] = ()

    def begin(self, store: BoxStore, share: float) -> None:
        """Forget everything, and open it if that is worth the while."""
        if self.open:
            kernel.forget(self._kept[0], self._count, self._slots, store.renewed)
        else:
            self._slots = np.empty(0, np.int32)
            store.renewed[: store.end] = False
        self._count = 0
        self._most = int(share * store.live)
        self.open = share > 0.0 and store.live >= FEWEST_BOXES
        if self.open and not self._kept:
            self._kept = _columns_of(store, 0)

    def close(self) -> None:
        """Stop keeping it: everything may have changed."""
        self.open = False
        self._count = 0
        self._slots = np.empty(0, np.int32)
        self._kept = ()

    def note(self, store: BoxStore, ids: IdArray, fresh: bool = False) -> None:
        """Before these ids move or go, or (``fresh``) after they have come.  Never fails: it closes."""
        count = -1
        if len(ids) <= self._most:
            with suppress(MemoryError):
                self._make_room(store, min(self._count + len(ids), self._most))
                count = kernel.note(
                    ids, fresh, _columns(store), self._slots, self._kept, self._count, self._most
                )
        if count < 0:
            self.close()
        else:
            self._count = count

    def entries(self) -> tuple[npt.NDArray[Any], ...]:
        """Ids, and the boxes, classes, categories and masks that they had; a box of NaN if none."""
        return tuple(column[: self._count] for column in self._kept)

    @property
    def slots(self) -> IdArray:
        """The entry of an id, or -1."""
        return self._slots

    def check(self, store: BoxStore) -> None:
        """Raise ``AssertionError`` where entries and slots contradict each other."""
        if self.open:
            ids = self.entries()[0]
            known = np.flatnonzero(self._slots >= 0)
            expect(np.array_equal(np.sort(ids), known), "the journal has one entry for each slot")
            expect(bool((self._slots[ids] == np.arange(len(ids))).all()), "slots say where entries are")
            expect(not store.renewed[~np.isin(np.arange(len(store.renewed)), ids)].any(), "new ids are noted")

    def _make_room(self, store: BoxStore, count: int) -> None:
        if len(self._slots) < store.end:
            slots = np.full(len(store.alive), -1, np.int32)
            slots[: len(self._slots)] = self._slots
            self._slots = slots
        if count > len(self._kept[0]):
            larger = _columns_of(store, max(2 * len(self._kept[0]), count, _FIRST_ROOM))
            for column, rows in zip(self._kept, larger, strict=True):
                rows[: self._count] = column[: self._count]
            self._kept = larger


def find_changes(index: "Hooks") -> tuple[PairChanges, int]:
    """Against the last call, and the tests made."""
    journal = index._journal
    if not journal.open:
        changes, tests = from_all_pairs(index)
    else:
        began, ended, tests = _from_queries(index)
        changes = PairChanges(began, ended, index._history.advance(began, ended))
    journal.begin(index._store, index._changes_by_query)
    return changes, tests


def from_all_pairs(index: "Hooks") -> tuple[PairChanges, int]:
    """By finding all pairs and comparing them with those of the last call."""
    now, tests = index._pairs(sort=True)
    began, come, ended, gone = split_changes(index._history.pairs(), now, index._store.renewed)
    began, ended = began[:come], ended[:gone]
    return PairChanges(began, ended, index._history.replace(now, began)), tests


def _from_queries(index: "Hooks") -> tuple[PairArray, PairArray, int]:
    store = index._store
    kept = index._journal.entries()
    ids, old = kept[0], kept[1]
    queries = np.empty((2 * len(ids), old.shape[1]), np.float64)
    asked = np.empty(2 * len(ids), np.int32)
    planned = kernel.plan_queries(ids, len(ids), old, store.boxes, queries, asked)
    # Neighbours one after the other: what one query reads, the next one finds in the cache.
    order = np.argsort(queries[:planned, index._query_axis])
    queries, asked = queries[order], asked[order]
    marks = np.zeros((store.end >> 3) + 1, np.uint8)
    kernel.mark_noted(ids, len(ids), marks)
    columns = _columns(store)
    now, renewed = store.boxes.take(ids, 0), store.renewed.take(ids)
    ruled = store.any_static or store.any_sets

    def search(begin: int, end: int) -> Compared:
        rows, tests = index._find_in_boxes(queries[begin:end], index._touching, -1, -1)
        began, come, ended, gone = kernel.compare_found(
            *(rows, asked[begin:end], columns, marks, index._journal.slots, now, kept, renewed, ruled),
            index._touching,
        )
        return began, come, ended, gone, tests

    def search_old() -> Compared:
        ended, tests = _ended_among(index, kept, columns)
        return ended[:0], 0, ended, len(ended), tests

    # What a part finds is compared while it is in the near cache.
    parts = planned // _A_PART + 1
    calls: list[Callable[[], Compared]] = [search_old]
    calls += [partial(search, *span) for span in threads.shares(planned, parts)]
    most = threads.resolve(index._threads) if planned > _ENOUGH_FOR_THREADS else 1
    found = threads.run_all(calls, most)
    return (
        _in_order([began[:count] for began, count, *_ in found], store.end),
        _in_order([ended[:count] for _, _, ended, count, _ in found], store.end),
        sum(int(tests) for *_, tests in found),
    )


def _ended_among(index: "Hooks", kept: tuple[npt.NDArray[Any], ...], columns: Any) -> tuple[PairArray, int]:
    """Pairs of two boxes of the journal that have ended, and the tests made."""
    was_there = kept[1][:, 0] == kept[1][:, 0]
    if not was_there.all():
        kept = tuple(column[was_there] for column in kept)
    boxes: BoxArray = kept[1]
    if len(boxes) < 2:
        return np.empty((0, 2), np.int32), 0
    task = Task(boxes, index._touching, PairFilter(*kept[2:]))
    found = methods.finder(choose.choose(boxes))(task)
    entries = np.concatenate([np.empty((0, 2), np.int32), *found.chunks])
    gone = kernel.compare_old(entries, columns, index._store.renewed, kept, index._touching)
    return entries[:gone], found.tests


def _columns(store: BoxStore) -> tuple[npt.NDArray[Any], ...]:
    return store.boxes, store.classes, store.categories, store.masks


def _columns_of(store: BoxStore, room: int) -> tuple[npt.NDArray[Any], ...]:
    """Ids and empty arrays like those of the store."""
    return np.empty(room, np.int32), *(
        np.empty((room, *column.shape[1:]), column.dtype) for column in _columns(store)
    )


def _in_order(chunks: list[PairArray], end: int) -> PairArray:
    count = sum(map(len, chunks))
    if count * 16 > end:
        return sorted_pairs(chunks, end)
    keys = np.sort(_keys(chunks))  # few pairs: the counting sort would look at every id
    out = np.empty((count, 2), np.int32)
    out[:, 0] = keys >> 32
    out[:, 1] = keys & 0xFFFFFFFF
    return out


def _keys(chunks: list[PairArray]) -> PairKeys:
    pairs = np.concatenate([np.empty((0, 2), np.int32), *chunks])
    keys: PairKeys = (pairs[:, 0].astype(np.int64) << 32) | pairs[:, 1]
    return keys


def _toggled(base: PairArray, steps: list[PairKeys], count: int, *more: PairKeys) -> PairArray:
    """The pairs of ``base`` after the first ``count`` steps, in an array of their own.

    A pair ends only where it is and begins only where it is not: each step changes its state.
    """
    keys = np.sort(np.concatenate([np.empty(0, np.int64), *steps[:count], *more]))
    out = np.empty((len(base) + len(keys), 2), np.int32)
    return out[: toggle_pairs(base, keys, out)]
