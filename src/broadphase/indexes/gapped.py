"""What `SortAndSweep` and `SweepAndPrune` share: sorted columns with gaps, and the queries on them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.indexes.arguments import Floats, Rows
from broadphase.indexes.protocol import Hooks
from broadphase.indexes.results import Distances
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.kernels.arrays.ordered_bits import PADDING, bits_of, ordered_rows
from broadphase.kernels.arrays.radix_sort import argsort_keys
from broadphase.kernels.sorted import gapped, gapped_search, gapped_walk
from broadphase.kernels.sorted.gapped import DEAD, FAN, FULLEST, end_keys, fill, lift_all, reach_room
from broadphase.slices import MOST_ROWS, in_chunks, joined, paced, ranges

# Of the slots of a new layout, so many are taken.
_TAKEN = 0.75
_MOST_IDS = 2**29
_IN_TURN = {
    dim: [(np.arange(dim) + first) % dim for first in range(dim)] for dim in (2, 3)
}  # made once: a question would take half a microsecond longer


class GappedOrders:
    """The arrays of `broadphase.kernels.sorted.gapped`.

    Parameters
    ----------
    dim, dtype
        Of the boxes.
    axes : tuple of int
        The axis that each order is sorted along.
    kinds : int
        0: an item is a box, at its lower edge.  1: it is an end of a box, lower or upper.
    touching : bool
        Whether boxes that share an edge overlap.
    """

    def __init__(
        self, dim: int, dtype: "np.dtype[Any]", axes: tuple[int, ...], kinds: int, touching: bool
    ) -> None:
        self.dim, self.axes, self.kinds, self.touching = dim, axes, kinds, touching
        self._type = np.dtype(f"i{dtype.itemsize}")
        self.slots = self.boxes = 0
        self.searched = 0
        """The order whose tree of maxima is kept, for queries."""
        self._allocate(0)
        self.places = self._no_places(0)

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """Columns, items, places and the tree of maxima."""
        return self.columns, self.items, self.places, self.reach

    def has_room(self, more: int) -> bool:
        """Whether so many more boxes can be put in one by one."""
        return ((self.boxes + more) << self.kinds) <= FULLEST * self.slots

    def reserve(self, end: int) -> None:
        """Make places for the ids below ``end``."""
        room = self.places.shape[1] >> self.kinds
        if end > room:
            self._check_size(end)
            places, known = self._no_places(max(end, 2 * room)), self.places.shape[1]
            for begin, last in ranges(0, known):
                places[:, begin:last] = self.places[:, begin:last]
            self.places = places

    def build(self, store: BoxStore, ranks: npt.NDArray[np.int32] | None = None) -> None:
        """Lay out the live boxes anew; ``ranks`` is the order of their `end_keys` where that is known."""
        self._check_size(store.end)
        self.boxes = store.live
        self._allocate(int((self.boxes << self.kinds) / _TAKEN))
        self.places = self._no_places(store.end)
        if self.boxes:
            calls: list[Callable[[], None]] = [
                partial(self._lay_out, store, a, ranks) for a in range(len(self.axes))
            ]
            threads.run_all(calls)
        self._lift()

    def grow(self, more: int) -> None:
        """Lay out what is there with room for so many more boxes, and then some."""
        columns, items, slots = self.columns, self.items, self.slots
        self._allocate(max(int(((self.boxes + more) << self.kinds) / _TAKEN), slots * 5 // 4))
        for a in range(len(self.axes)):
            taken = joined(
                [
                    (begin + np.flatnonzero(items[a, begin:end] != DEAD)).astype(np.int32)
                    for begin, end in ranges(0, slots)
                ]
            )
            for begin, end in paced(0, len(taken)):
                gapped.carry_over(
                    *(columns, items, taken, 2 * self.dim * a, self.dim, a),
                    *(self.columns, self.items, self.places, self.slots, begin, end),
                )
        self._lift()

    def scratch(self, boxes: int = 1) -> tuple[npt.NDArray[Any], ...]:
        """Memory for the keys of so many boxes, each with one more."""
        return tuple(np.empty(2 * self.dim + 1, self._type) for _ in range(boxes))

    def check(self, store: BoxStore) -> None:
        """Raise ``AssertionError`` where an invariant is broken."""
        ids = store.ids()
        rows = ordered_rows(bits_of(store.boxes[ids]), self.touching)
        row_of = np.full(store.end, -1)
        row_of[ids] = np.arange(len(ids))
        expect(self.boxes == len(ids), "all live boxes are in the columns")
        for a, axis in enumerate(self.axes):
            base = 2 * self.dim * a
            keys = self.columns[base, : self.slots]
            slots = np.flatnonzero(self.items[a, : self.slots] != DEAD)
            items = self.items[a, slots]
            kinds = items & self.kinds
            expect(bool((keys[1:] >= keys[:-1]).all()), "the keys are sorted")
            expect(len(items) == len(ids) << self.kinds, "each end is there once")
            expect(np.array_equal(self.places[a, items], slots), "places say where the items are")
            expect(int((self.places[a] >= 0).sum()) == len(items), "what is not there has no place")
            wanted = rows[row_of[items >> self.kinds]]
            turn = [(axis + k) % self.dim for k in range(self.dim)]
            wanted = wanted[:, turn + [self.dim + k for k in turn]]
            swapped = wanted.copy()
            swapped[:, [0, self.dim]] = wanted[:, [self.dim, 0]]
            wanted = np.where(kinds[:, None] == 1, swapped, wanted)
            expect(
                np.array_equal(self.columns[base : base + 2 * self.dim, slots].T, wanted),
                "keys are the boxes'",
            )
            gaps = np.flatnonzero(self.items[a, : self.slots] == DEAD)
            lowest = np.iinfo(self._type).min
            expect(
                bool((self.columns[base + self.dim : base + 2 * self.dim, gaps] == lowest).all()),
                "gaps overlap nothing",
            )
            lower = self.columns[base : base + self.dim, : self.slots]
            expect(bool((lower > lowest).all()), "gaps do not overlap each other")
            expect(
                bool((self.columns[base, self.slots :] == np.iinfo(self._type).max).all()),
                "walks to the right end behind the slots",
            )
        reach = self.reach.copy()
        self._lift()
        expect(np.array_equal(reach, self.reach), "the tree of maxima is up to date")

    def _no_places(self, room: int) -> npt.NDArray[np.int32]:
        places = np.empty((len(self.axes), room << self.kinds), np.int32)
        for begin, end in ranges(0, room << self.kinds):
            places[:, begin:end] = -1
        return places

    def _allocate(self, slots: int) -> None:
        self.slots = max(-(-slots // FAN) * FAN, 4 * FAN)
        orders = len(self.axes)
        limits = np.iinfo(self._type)
        self.columns = np.empty((2 * self.dim * orders, self.slots + PADDING), self._type)
        self.items = np.empty((orders, self.slots + PADDING), np.int32)
        for begin, end in ranges(0, self.slots, MOST_ROWS // 8):
            # All gaps: lower edges below any key, and upper edges below these, so that they overlap nothing.
            for row, column in enumerate(self.columns):
                column[begin:end] = limits.min + (row // self.dim % 2 == 0)
            self.items[:, begin:end] = DEAD
        self.columns[:, self.slots :] = limits.max
        self.items[:, self.slots :] = DEAD
        self.reach = np.empty(reach_room(self.slots), self._type)

    def _check_size(self, end: int) -> None:
        if end > _MOST_IDS:
            raise MemoryError(
                f"an index of this class holds at most {_MOST_IDS} ids: its slots are 32 bits wide"
            )

    def _lay_out(self, store: BoxStore, a: int, ranks: npt.NDArray[np.int32] | None) -> None:
        bits, ids, axis = bits_of(store.boxes), store.ids(), self.axes[a]
        if ranks is None:
            keys = np.empty(len(ids) << self.kinds, self._type)
            for begin, end in paced(0, len(ids)):
                end_keys(bits, ids, axis, self.touching, self.kinds, keys, begin, end)
            ranks = argsort_keys(keys)
        (edges,) = self.scratch()
        for begin, end in paced(0, len(ranks)):
            fill(
                *(ids, ranks, bits, self.touching, self.kinds),
                *(self.columns, self.items, self.places, a, axis, self.slots, edges[:-1], begin, end),
            )

    def _lift(self) -> None:
        row = 2 * self.dim * self.searched + self.dim
        lift_all(self.columns, row, self.slots, self.reach)


class GappedQueries(Hooks):
    """The queries of an index that keeps `GappedOrders`."""

    _orders: GappedOrders

    def _find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        ask, rules = gapped_search.search_box, (touching, not self._touching)
        ids, tests, block = ask(*self._searched(category, mask), box, rules, 0)
        if block:
            return _with_rest(partial(ask, *self._searched(category, mask), box, rules), ids, tests, block)
        return ids, tests

    def _find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        searched = self._searched(category, mask)

        edges = np.empty(2 * self._orders.dim + 1, self._orders.columns.dtype)

        def ask(begin: int, end: int, out: PairArray) -> tuple[int, int, int]:
            answer: tuple[int, int, int] = gapped_search.search_boxes(
                *searched, boxes[:end], begin, edges, out, (touching, not self._touching)
            )
            return answer

        return in_chunks(ask, len(boxes), 4 * len(boxes) + 2 * FAN)

    def _find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        ask, rules = gapped_walk.search_ray, (self._touching, not self._touching)
        ids, tests, block = ask(*self._searched(category, mask), self._store.boxes, ray, rules, 0)
        if block:
            asked = *self._searched(category, mask), self._store.boxes, ray, rules
            return _with_rest(partial(ask, *asked), ids, tests, block)
        return ids, tests

    def _find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        found: tuple[int, int] = gapped_walk.search_first(
            *self._searched(category, mask), self._store.boxes, ray, (self._touching, not self._touching)
        )
        return found

    def _find_nearest(
        self, point: Floats, k: int, category: int, mask: int
    ) -> tuple[IdArray, Distances, int]:
        found: tuple[IdArray, Distances, int] = gapped_walk.search_nearest(
            *self._searched(category, mask), self._store.boxes, point, k, not self._touching
        )
        return found

    def _searched(self, category: int, mask: int) -> tuple[Any, ...]:
        orders, store = self._orders, self._store
        first = orders.axes[orders.searched]
        axes = _IN_TURN[orders.dim][first]
        rules = (store.categories, store.masks, category, mask)
        return (
            *(axes, orders.columns, orders.items, orders.reach, orders.searched, orders.slots),
            *(orders.kinds, rules),
        )


def _with_rest(
    ask: Callable[[int], tuple[IdArray, int, int]], ids: IdArray, tests: int, block: int
) -> tuple[IdArray, int]:
    """What a kernel found before its room was full, and what it finds where it goes on."""
    parts = [ids]
    while block:
        ids, made, block = ask(block)
        parts.append(ids)
        tests += made
    return np.concatenate(parts), tests
