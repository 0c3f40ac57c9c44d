"""What `changes` remembers between two calls: the pairs that there were, and the boxes touched since.

*The journal* knows which ids were inserted, moved or removed since the last call of ``changes``, and what
their boxes were at that time.

*The history* is the sorted pairs at some earlier call, and what began and ended since.  Nothing is copied
while nobody asks; ``stayed`` is put together when somebody does, also when the index has long moved on.  When
the changes have grown to half of the pairs, they are merged into them: a fixed cost for each change.
"""

from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import PairArray
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.kernels.pairs import journal as kernel
from broadphase.kernels.pairs.pair_changes import split_changes, toggle_pairs
from broadphase.slices import MOST_ROOM, MOST_ROWS, first_of, joined, ranges, sorted_keys

PairKeys = npt.NDArray[np.int64]
"""Pairs as numbers ``i << 32 | j``, which sort as the pairs do."""

# Among fewer boxes than this all pairs are found in less time than asking about some takes.
FEWEST_BOXES = 1000
_FIRST_ROOM = 64
_FIRST_CHANGES = 1024
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
        come, gone = pair_keys([began]), pair_keys([ended])
        self._steps += [keys for keys in (come, gone) if len(keys)]
        self._weight += len(come) + len(gone)
        return partial(_toggled, self._base, self._steps, len(self._steps), come)

    def replace(self, pairs: PairArray, began: PairArray) -> Callable[[], PairArray]:
        """Start again from all pairs; returns what makes the array of the pairs that stayed."""
        self._base, self._steps, self._weight = pairs, [], 0
        return partial(_toggled, pairs, self._steps, 0, pair_keys([began]))

    def state(self) -> tuple[PairArray, list[PairKeys], int, int]:
        """Where it is, for `go_back`."""
        return self._base, self._steps, len(self._steps), self._weight

    def go_back(self, state: tuple[PairArray, list[PairKeys], int, int]) -> None:
        """Forget what was noted since."""
        self._base, self._steps, count, self._weight = state
        del self._steps[count:]

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
            self._kept = _like(store, 0)

    def close(self) -> None:
        """Stop keeping it: everything may have changed."""
        self.open = False
        self._count = 0
        self._slots = np.empty(0, np.int32)
        self._kept = ()

    def note(self, store: BoxStore, ids: IdArray, fresh: bool = False) -> None:
        """Before these ids move or go, or (``fresh``) after they have come.

        Never fails: it closes.
        """
        count = -1
        try:
            if len(ids) <= self._most:
                with suppress(MemoryError):
                    self._make_room(store, min(self._count + len(ids), self._most))
                    count = kernel.note(
                        ids, fresh, by_id(store), self._slots, self._kept, self._count, self._most
                    )
        except BaseException:  # it was interrupted
            self.close()
            raise
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
            larger = _like(store, max(2 * len(self._kept[0]), count, _FIRST_ROOM))
            for column, rows in zip(self._kept, larger, strict=True):
                rows[: self._count] = column[: self._count]
            self._kept = larger


def by_id(store: BoxStore) -> tuple[npt.NDArray[Any], ...]:
    """What a pair depends on, by id: boxes, classes, categories and masks."""
    return store.boxes, store.classes, store.categories, store.masks


def _like(store: BoxStore, room: int) -> tuple[npt.NDArray[Any], ...]:
    """Ids and empty arrays like those of the store."""
    return np.empty(room, np.int32), *(
        np.empty((room, *column.shape[1:]), column.dtype) for column in by_id(store)
    )


def pair_keys(chunks: list[PairArray]) -> PairKeys:
    """Pairs as numbers."""
    keys: PairKeys = np.empty(sum(map(len, chunks)), np.int64)
    at = 0
    for chunk in chunks:
        for begin, end in ranges(0, len(chunk)):
            part = chunk[begin:end]
            keys[at + begin : at + end] = (part[:, 0].astype(np.int64) << 32) | part[:, 1]
        at += len(chunk)
    return keys


def _toggled(base: PairArray, steps: list[PairKeys], count: int, *more: PairKeys) -> PairArray:
    """The pairs of ``base`` after the first ``count`` steps, in an array of their own.

    A pair ends only where it is and begins only where it is not: each step changes its state.
    """
    keys = sorted_keys([*steps[:count], *more])
    out = np.empty((len(base) + len(keys), 2), np.int32)
    if len(base) + len(keys) <= MOST_ROWS:
        return out[: toggle_pairs(base, keys, out)]
    written = key = 0
    for begin, end in ranges(0, len(base)):
        last = len(keys) if end == len(base) else int(np.searchsorted(keys, _key_of(base[end])))
        written += toggle_pairs(base[begin:end], keys[key:last], out[written:])
        key = last
    return out[:written]


def changes_between(
    before: PairArray, now: PairArray, renewed: npt.NDArray[np.bool_]
) -> tuple[PairArray, PairArray]:
    """What began and what ended, of two sorted lists of pairs; see `kernels.pairs.pair_changes`."""
    if len(before) + len(now) <= MOST_ROWS:
        come, gone = _split(before, now, renewed)
        return (come[0], gone[0]) if len(come) == 1 else (joined(come), joined(gone))
    come, gone = [], []
    at = 0
    for begin, end in ranges(0, len(now)):
        last = len(before)
        if end < len(now):
            last = bisect_left(range(len(before)), _key_of(now[end]), key=lambda row: _key_of(before[row]))
        more, fewer = _split(before[at:last], now[begin:end], renewed)
        come += more
        gone += fewer
        at = last
    return joined(come), joined(gone)


def _split(
    before: PairArray, now: PairArray, renewed: npt.NDArray[np.bool_]
) -> tuple[list[PairArray], list[PairArray]]:
    """The same in chunks: as many as it takes to hold all that came and all that went."""
    come: list[PairArray] = []
    gone: list[PairArray] = []
    b = n = 0
    room = _FIRST_CHANGES
    while not come or b < len(before) or n < len(now):
        began, ended = np.empty((room, 2), np.int32), np.empty((room, 2), np.int32)
        b, n, more, fewer = split_changes(before, now, renewed, b, n, began, ended)
        come.append(first_of(began, more))
        gone.append(first_of(ended, fewer))
        room = min(4 * room, MOST_ROOM)
    return come, gone


def _key_of(pair: npt.NDArray[np.int32]) -> int:
    """As `pair_keys`."""
    return (int(pair[0]) << 32) | int(pair[1])
