"""The data and algorithms of `Index.changes`: touched boxes, earlier pairs, and pairs that began and ended.

*The journal* records which ids were inserted, moved or removed since the last call of ``changes``, and what
their boxes were at that time.

*The history* holds the sorted pairs at some earlier call, and the pairs that began and ended since.  Nothing
is copied until it is needed; ``stayed`` is computed on first access, even if the index has changed since.
When the changes have grown to half of the pairs, they are merged into them: a fixed cost for each change.

*Incremental changes* cost what was touched: most frames move a few boxes among many.  A pair can only have
begun or ended if one of its boxes is in the journal.  So one batch of queries searches around the old and the
new places of these boxes, and every result is compared: did the boxes overlap before, do they now?
Two boxes that are both in the journal are a special case: the index no longer has the old place of the other
one, so the old boxes are paired among themselves.  If more than a share of all boxes was touched
(`Structure.changes_by_query`), all pairs are found again and the two lists compared, which is cheaper.

A call of ``changes`` computes everything first and then takes the step in lines without a call; one that is
interrupted before has not happened.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.results import PairChanges, expected_rows
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.inputs.numeric import thread_count
from broadphase.kernels.arrays.sorting import stable_argsort
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.kernels.pairs import changes as kernel
from broadphase.kernels.pairs.changes import split_changes, toggle_pairs
from broadphase.methods import choose
from broadphase.methods.pair_order import PairKeys, pair_keys, sorted_rows
from broadphase.methods.task import Task
from broadphase.runtime import threads, thresholds
from broadphase.runtime.arrays import first_of, joined, rows_at, sorted_keys
from broadphase.runtime.memory import PairArray

Columns = tuple[npt.NDArray[Any], ...]
FindAll = Callable[..., tuple[PairArray, int]]
"""``find_all(sort=True)``: all pairs, and the tests made."""
Compared = tuple[PairArray, PairArray, int]
"""The pairs that began, those that ended, and the tests made."""

_FIRST_CAPACITY = 64
_SMALLEST_MERGE = 1024


class Step(NamedTuple):
    """Pairs: those of an earlier call, and what changed since."""

    base: PairArray
    changed: list[PairKeys]
    """Shared by the steps on one base: each adds to its end."""
    length: int
    """How many of them belong to this step."""
    weight: int
    """How many pairs these hold."""

    def pairs(self, *more: PairKeys) -> PairArray:
        """The sorted pairs, after some more changes, in an array of their own."""
        return _toggled(self.base, [*self.changed[: self.length], *more])


class History:
    """The sorted pairs at the last call of ``changes``."""

    def __init__(self, pairs: PairArray) -> None:
        self._last = Step(pairs, [], 0, 0)

    def pairs(self) -> PairArray:
        """The sorted pairs, in an array of their own."""
        return self._last.pairs()

    def known(self) -> PairArray:
        """`pairs`, to be read only: not copied if nothing has changed since the last merge."""
        return self._last.pairs() if self._last.length else self._last.base

    def stay(self) -> PairChanges:
        """No pair began or ended."""
        return PairChanges(np.empty((0, 2), np.int32), np.empty((0, 2), np.int32), self._last.pairs)

    def advance(self, began: PairArray, ended: PairArray, store: BoxStore | None = None) -> PairChanges:
        """Take a step by the pairs that began and ended; afterwards no id of the ``store`` is renewed."""
        last = self._last
        if last.weight > len(last.base) // 2 + _SMALLEST_MERGE:
            last = Step(last.pairs(), [], 0, 0)
        come, gone = pair_keys([began]), pair_keys([ended])
        # An interrupted call may have added to the list.
        changed = last.changed if len(last.changed) == last.length else last.changed[: last.length]
        changed += [keys for keys in (come, gone) if len(keys)]
        changes = PairChanges(began, ended, partial(last._replace(changed=changed).pairs, gone))
        weight = last.weight + len(come) + len(gone)
        self._take(Step(last.base, changed, len(changed), weight), store)
        return changes

    def replace(self, pairs: PairArray, began: PairArray, ended: PairArray, store: BoxStore) -> PairChanges:
        """Take a step to these pairs; afterwards no id of the ``store`` is renewed."""
        step = Step(pairs, [], 0, 0)
        changes = PairChanges(began, ended, partial(step.pairs, pair_keys([began])))
        self._take(step, store)
        return changes

    def _take(self, step: Step, store: BoxStore | None) -> None:
        if store is None:
            self._last = step
        else:
            none = np.zeros(len(store.renewed), np.bool_)
            # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
            self._last, store.renewed = step, none


class Entries(NamedTuple):
    """The contents of the journal."""

    slots: IdArray
    """The entry of an id, or -1."""
    kept: Columns
    """Ids, and the boxes, classes, categories and masks that they had; a box of NaN if none."""
    held: int
    """How many entries there are."""

    def columns(self) -> Columns:
        """The rows of what is kept."""
        return tuple(column[: self.held] for column in self.kept)


_NO_ENTRIES = Entries(np.empty(0, np.int32), (), 0)


class Journal:
    """Which ids were touched since the last call of ``changes``, and what their boxes were then.

    It is ``open`` while it is kept.  It is closed if it would hold too much, if ``changes`` is not called,
    and if a call touches everything at once: then all pairs are found again.  Where it may hold nothing, the
    first change closes it.  While entries are written it is closed, so that an interrupt leaves it closed.
    """

    def __init__(self) -> None:
        self.open = False
        self._most = 0
        self._entries = _NO_ENTRIES

    def begin(self, store: BoxStore, share: float, entries: Entries) -> None:
        """Open it for so many entries, or for none; ``entries`` is what it held, to be forgotten."""
        if entries.held:
            entries.slots[entries.kept[0][: entries.held]] = -1
        self._most = int(share * store.live)
        self._put(Entries(entries.slots, entries.kept or _like(store, 0), 0))

    @property
    def is_empty(self) -> bool:
        """Whether it is open, and nothing was touched."""
        return self.open and not self._entries.held

    def close(self) -> Entries:
        """Stop keeping it: everything may have changed.  Returns what it held."""
        entries = self._entries
        self.open, self._entries = False, _NO_ENTRIES
        return entries

    def note(self, store: BoxStore, ids: IdArray, fresh: bool = False) -> None:
        """Note ids before they change, or (``fresh``) after they were added; a failure closes it."""
        entries = self.close()
        if len(ids) <= self._most:
            with suppress(MemoryError):
                slots, kept = _with_capacity(store, entries, min(entries.held + len(ids), self._most))
                count = kernel.note(ids, fresh, by_id(store), slots, kept, entries.held, self._most)
                if count >= 0:
                    self._put(Entries(slots, kept, count))

    def check(self, store: BoxStore) -> None:
        """Raise ``AssertionError`` where entries and slots contradict each other."""
        if self.open:
            slots, ids = self._entries.slots, self._entries.columns()[0]
            known = np.flatnonzero(slots >= 0)
            expect(np.array_equal(np.sort(ids), known), "the journal has one entry for each slot")
            expect(bool((slots[ids] == np.arange(len(ids))).all()), "slots say where entries are")
            expect(not store.renewed[~np.isin(np.arange(len(store.renewed)), ids)].any(), "new ids are noted")

    def _put(self, entries: Entries) -> None:
        self._entries, self.open = entries, True


def _with_capacity(store: BoxStore, entries: Entries, count: int) -> tuple[IdArray, Columns]:
    """The slots and what is kept, with room for all ids and for so many entries."""
    slots, kept, held = entries
    if len(slots) < store.end:
        slots = np.full(len(store.alive), -1, np.int32)
        slots[: len(entries.slots)] = entries.slots
    if count > len(kept[0]):
        kept = _like(store, max(2 * len(kept[0]), count, _FIRST_CAPACITY))
        for column, rows in zip(entries.kept, kept, strict=True):
            rows[:held] = column[:held]
    return slots, kept


def by_id(store: BoxStore) -> Columns:
    """The columns that decide a pair, by id: boxes, classes, categories and masks."""
    return store.boxes, store.classes, store.categories, store.masks


def _like(store: BoxStore, capacity: int) -> Columns:
    """Ids and empty arrays like those of the store."""
    return np.empty(capacity, np.int32), *(
        np.empty((capacity, *column.shape[1:]), column.dtype) for column in by_id(store)
    )


def _toggled(base: PairArray, changed: list[PairKeys]) -> PairArray:
    """The pairs of ``base`` after these changes, in an array of their own.

    A pair ends only if it exists and begins only if it does not: each change toggles its state.
    """
    pairs: PairArray = toggle_pairs(base, sorted_keys(changed))
    return pairs


# ---- what began and ended


def find_changes(
    structure: Any, find_all: FindAll, history: History, journal: Journal, by_query: float
) -> tuple[PairChanges, int]:
    """Which pairs began and which ended since the last call, and the tests made.

    Up to the share ``by_query`` of touched boxes, the structure, a `Searched` one, is queried for them;
    beyond, ``find_all`` finds all pairs.
    """
    if journal.is_empty:
        return history.stay(), 0
    store, was_open, entries = structure.store, journal.open, journal.close()
    if was_open:
        structure.ready()
        began, ended, tests = _from_queries(structure, entries)
        changes = history.advance(began, ended, store)
    else:
        changes, tests = from_all_pairs(store, find_all, history)
    journal.begin(store, by_query, entries)
    return changes, tests


def from_all_pairs(store: BoxStore, find_all: FindAll, history: History) -> tuple[PairChanges, int]:
    """By finding all pairs and comparing them with those of the last call."""
    now, tests = find_all(sort=True)
    began, ended = split_changes(history.known(), now, store.renewed)
    return history.replace(now, began, ended, store), tests


def _from_queries(structure: Any, entries: Entries) -> tuple[PairArray, PairArray, int]:
    store = structure.store
    kept = entries.columns()
    ids, old = kept[0], kept[1]
    queries = np.empty((2 * len(ids), old.shape[1]), np.float64)
    owners = np.empty(2 * len(ids), np.int32)
    planned = kernel.plan_queries(ids, len(ids), old, store.boxes, queries, owners)
    # In the order of one axis: what one query reads, the next one finds in the cache.
    order = stable_argsort(queries[:planned, 0])
    queries, owners = rows_at(queries, order), rows_at(owners, order)
    noted = np.zeros(store.end, np.bool_)
    noted[ids] = True
    # Nearly all finds are looked up here, and bits, unlike slots, stay in the L1 cache.
    marks = np.packbits(noted, bitorder="little")
    columns = by_id(store)
    now, renewed = store.boxes.take(ids, 0), store.renewed.take(ids)
    ruled = store.any_static or store.any_sets

    def search(begin: int, end: int) -> Compared:
        part = queries[begin:end]
        out = expected_rows(part)
        rows, _, found, tests = structure.find_in_boxes(part, structure.touching, (-1, -1), out)
        rows = rows[:found]
        ended = np.empty_like(rows)
        come, gone = kernel.compare_found(
            *(rows, owners[begin:end], columns, marks, entries.slots, now, kept, renewed, ruled),
            *(structure.touching, ended),
        )
        return first_of(rows, come), first_of(ended, gone), tests

    # The rows of a part are compared while they are in the cache.
    parts = planned // thresholds.QUERIES_AT_ONCE + 1
    calls: list[Callable[[], Compared]] = [partial(_ended_among, structure, kept, columns)]
    calls += [partial(search, *span) for span in threads.shares(planned, parts)]
    most = len(threads.shares(planned, thread_count(structure.threads), cost=1_000.0))
    found = threads.run_all(calls, most)
    return (
        sorted_rows([began for began, _, _ in found], store.end),
        sorted_rows([ended for _, ended, _ in found], store.end),
        sum(int(tests) for *_, tests in found),
    )


def _ended_among(structure: Any, kept: Columns, columns: Any) -> Compared:
    """Pairs of two boxes of the journal that have ended; none of them began."""
    was_there = kept[1][:, 0] == kept[1][:, 0]
    if not was_there.all():
        kept = tuple(column[was_there] for column in kept)
    boxes = kept[1]
    found = choose.find(Task(boxes, structure.touching, PairFilter(*kept[2:])))
    entries = joined([np.empty((0, 2), np.int32), *found.chunks])
    gone = kernel.compare_old(entries, columns, structure.store.renewed, kept, structure.touching)
    return entries[:0], entries[:gone], found.tests
