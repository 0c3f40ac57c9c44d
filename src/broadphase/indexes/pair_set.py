"""The arrays of a persistent set of pairs (`broadphase.kernels.pairs.pair_set`)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes.journal import PairKeys
from broadphase.indexes.storage import IdArray, expect
from broadphase.kernels.boxes.filters import PairFilter
from broadphase.kernels.pairs import pair_set as kernel
from broadphase.kernels.pairs.pair_set import NONE
from broadphase.slices import FIRST_CHANGES, growing, joined, paced, sorted_keys, whole_runs

_FIRST_ROOM = 64
_MOST_PAIRS = 2**30  # a row has two links, which are 32 bits wide


class PairSet:
    """Pairs that come and go, and the pairs of a box.

    Filled at once, it is a mere array; the table and the lists are made when the first pair changes.
    """

    def __init__(self) -> None:
        self.count = 0
        self._pairs: PairArray = np.empty((0, 2), np.int32)
        self._links: tuple[npt.NDArray[np.int32], ...] | None = None
        self._heads = np.empty(0, np.int32)

    def pairs(self) -> PairArray:
        """All pairs, in no order; good until the next change."""
        return self._pairs[: self.count]

    def fill(self, chunks: list[PairArray]) -> None:
        """Hold exactly these pairs."""
        pairs = joined([np.empty((0, 2), np.int32), *chunks])
        self._links = None
        self._pairs, self.count = pairs, len(pairs)

    def reserve(self, end: int, more: int) -> None:
        """Make room for so many more pairs of ids below ``end``."""
        room = len(self._pairs)
        if self.count + more > room or self._links is None:
            room = max(self.count + more, min(2 * self.count, _MOST_PAIRS), _FIRST_ROOM)
            if room > _MOST_PAIRS:
                raise MemoryError(f"an index of this class holds at most {_MOST_PAIRS} pairs")
            pairs = np.empty((room, 2), np.int32)
            pairs[: self.count] = self._pairs[: self.count]
            chain, after, before = (np.empty(room * links, np.int32) for links in (1, 2, 2))
            buckets = np.full(1 << (room - 1).bit_length(), NONE, np.int32)
            heads = np.full(end, NONE, np.int32)
            for begin, last in paced(0, self.count):
                kernel.link_rows((pairs, chain, buckets, after, before, heads), begin, last)
            # Only now, should it be interrupted.
            self._pairs, self._links, self._heads = pairs, (chain, buckets, after, before), heads
        elif end > len(self._heads):
            heads = np.full(max(end, 2 * len(self._heads)), NONE, np.int32)
            heads[: len(self._heads)] = self._heads
            self._heads = heads

    def drop_pairs_of(self, ids: IdArray) -> PairKeys:
        """Remove all pairs of these ids; returns them."""
        toggled = np.empty(self.count, np.int64)
        before = self.count
        for begin, end in growing(len(ids), most=FIRST_CHANGES):
            self.count = kernel.drop_pairs_of(
                self._arrays(), self.count, ids[begin:end], toggled[before - self.count :]
            )
        return toggled[: before - self.count].copy()

    def apply(
        self, events: PairKeys, end: int, boxes: BoxArray, touching: bool, rules: PairFilter
    ) -> PairKeys:
        """Let pairs begin and end (`kernels.pairs.pair_set.apply_events`); returns those that did."""
        self.reserve(end, len(events))
        # What begins may end again in the same call, when the other box goes far: so twice.
        toggled = np.empty(2 * len(events) + self.count, np.int64)
        toggles = 0
        for begin, last in growing(len(events), most=FIRST_CHANGES):
            self.count, more = kernel.apply_events(
                *(self._arrays(), self.count, events[begin:last], boxes, touching, rules),
                toggled[toggles:],
            )
            toggles += more
        return toggled[:toggles].copy()

    def split_toggled(
        self, toggled: list[PairKeys], renewed: npt.NDArray[np.bool_]
    ) -> tuple[PairArray, PairArray]:
        """Sorted pairs that began and that ended, of all that `drop_pairs_of` and `apply` returned."""
        keys = sorted_keys(toggled)
        began, ended = np.empty((2, len(keys), 2), np.int32)
        if not len(keys):
            return began, ended
        come = gone = 0
        for begin, end in whole_runs(keys):
            more, fewer = kernel.split_toggled(
                self._arrays(), keys[begin:end], renewed, began[come:], ended[gone:]
            )
            come, gone = come + more, gone + fewer
        return began[:come].copy(), ended[:gone].copy()

    def check(self) -> None:
        """Raise ``AssertionError`` where table, lists and array contradict each other."""
        if self._links is None:
            return
        chain, buckets, after, before = self._links
        rows = []
        for row in buckets.tolist():
            while row != NONE:
                rows.append(row)
                row = chain[row]
        expect(sorted(rows) == list(range(self.count)), "the table holds each row once")
        for i, link in enumerate(self._heads.tolist()):
            ahead = NONE
            while link != NONE:
                expect(before[link] == ahead, "lists lead back")
                expect(self._pairs[link >> 1, link & 1] == i, "a box's list holds its pairs")
                rows.append(link)
                ahead, link = link, int(after[link])
        expect(len(rows) == 3 * self.count, "each pair is on two lists")

    def _arrays(self) -> tuple[npt.NDArray[Any], ...]:
        if self._links is None:
            self.reserve(len(self._heads), 0)
        assert self._links is not None
        chain, buckets, after, before = self._links
        return self._pairs, chain, buckets, after, before, self._heads
