"""Boxes in the order of one axis, and the questions to them: for `SortAndSweep` and `SweepAndPrune`."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import PairArray
from broadphase.indexes.arguments import Floats, Rows
from broadphase.indexes.protocol import Structure
from broadphase.indexes.results import Distances
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.kernels.arrays.ordered_bits import PADDING, bits_of, ordered_column, ordered_columns
from broadphase.kernels.arrays.radix_sort import argsort_keys
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.sorted import search, walk
from broadphase.kernels.sorted.insertion import insertion_sort, make_maxima, write_boxes
from broadphase.methods.sort_and_sweep import Axis, choose_axis
from broadphase.slices import in_chunks, joined, paced, rows_at

# Insertion may take so many steps a box, and so many in all, before sorting afresh costs less.
MOST_STEPS, MOST_STEPS_IN_ALL = 8, 1 << 24


class SortedBoxes:
    """The boxes of a store by their lower edges on one axis; see `broadphase.kernels.sorted.insertion`.

    Parameters
    ----------
    dim, dtype
        Of the boxes.
    axis : int or "auto"
        As of `broadphase.SortAndSweep`.
    touching : bool
        Whether boxes that share an edge overlap.
    """

    def __init__(self, dim: int, dtype: "np.dtype[Any]", axis: Axis, touching: bool) -> None:
        self._wanted, self.touching = axis, touching
        self.axis: int = 0 if axis == "auto" else axis
        self.settled = False
        """Whether the order is right but for the boxes that were touched since."""
        nothing = bits_of(np.empty((0, 2 * dim), dtype))
        self._take(nothing, np.empty(0, np.int32), 0)
        self._make_maxima()

    @property
    def order(self) -> tuple[Any, ...]:
        """What kernels are asked with: columns, ids, the tree of maxima and the axis."""
        return self.columns, self.ids, self.maxima, self.axis

    def __len__(self) -> int:
        return int(self.columns.shape[1]) - PADDING

    def follow(self, store: BoxStore, touched: IdArray) -> int:
        """Bring the order up to date where just the boxes ``touched`` have changed since the last time.

        By insertion, and it returns how many places they went; where that is too far, everything is sorted
        afresh, and it is 0.
        """
        # Whoever interrupts what follows leaves it unsettled, and the next one sorts afresh.
        settled, self.settled = self.settled, False
        steps = self._insert(store, touched) if settled else -1
        if steps < 0:
            self._sort(store)
        self._make_maxima()
        self.settled = True
        return max(steps, 0)

    def _sort(self, store: BoxStore) -> None:
        """Sort all live boxes, along the axis that suits them."""
        boxes, ids = store.live_boxes(), store.ids()
        if len(ids):
            self.axis = choose_axis(boxes, self._wanted)
        order = argsort_keys(ordered_column(bits_of(boxes), self.axis))
        self._take(bits_of(store.boxes), rows_at(ids, order), store.end)

    def _insert(self, store: BoxStore, touched: IdArray) -> int:
        """Sort by insertion; returns the steps, -1 where it gave up because there were too many."""
        bits, n = bits_of(store.boxes), len(self)
        alive = store.alive[touched]
        known = touched < len(self.places)
        known[known] = self.places[touched[known]] >= 0
        if (alive != known).any():
            kept = [self.ids[0, begin:end] for begin, end in paced(0, n)]
            kept = [ids[store.alive[ids]] for ids in kept]
            self._take(bits, joined([*kept, touched[alive & ~known]]), store.end)
        else:
            moved = touched[alive]  # the others have come and gone again
            for begin, end in paced(0, len(moved)):
                write_boxes(*(bits, moved, self.places, self.axis, self.touching, self.columns, begin, end))
        steps, most = 0, min(MOST_STEPS * len(self), MOST_STEPS_IN_ALL)
        for begin, end in paced(0, len(self)):
            more = insertion_sort(self.columns, self.ids, self.places, begin, end, most - steps)
            if more < 0:
                return -1
            steps += more
        return steps

    def check(self, store: BoxStore) -> None:
        """Raise ``AssertionError`` where an invariant is broken."""
        n, ids = len(self), self.ids[0, : len(self)]
        expect(np.array_equal(np.sort(ids), store.ids()), "all live boxes are in the order")
        expect(bool((self.columns[0, 1:] >= self.columns[0, :-1]).all()), "lower edges are sorted")
        expect(np.array_equal(self.places[ids], np.arange(n)), "places say where the boxes are")
        expect(int((self.places >= 0).sum()) == n, "what is not there has no place")
        wanted, _ = ordered_columns(bits_of(store.boxes), ids, self.axis, self.touching)
        expect(np.array_equal(self.columns, wanted), "keys are the boxes'")
        maxima = self.maxima.copy()
        self._make_maxima()
        expect(np.array_equal(maxima[1:], self.maxima[1:]), "the tree of maxima is up to date")

    def _take(self, bits: npt.NDArray[Any], order: IdArray, end: int) -> None:
        """Lay out the boxes in this order."""
        self.columns, self.ids = ordered_columns(bits, order, self.axis, self.touching)
        self.places = np.empty(end, np.int32)
        for begin, last in paced(0, end):
            self.places[begin:last] = -1
        for begin, last in paced(0, len(order)):
            self.places[order[begin:last]] = np.arange(begin, last)

    def _make_maxima(self) -> None:
        blocks = max(-(-len(self) // LANES), 1)
        self.maxima = np.empty(2 << (blocks - 1).bit_length(), self.columns.dtype)
        make_maxima(self.columns, self.maxima)


class SortedQueries(Structure):
    """The queries of a structure that keeps `SortedBoxes`."""

    _sorted: SortedBoxes

    def find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        ask = partial(
            search.search_box, *self._asked(category, mask), box, touching, not self.touching
        )  # fmt: skip
        return _whole(ask)

    def find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        order, rules = self._asked(category, mask)
        edges = np.empty(boxes.shape[1], order[0].dtype)

        def ask(begin: int, end: int, out: PairArray) -> tuple[int, int, int]:
            answer: tuple[int, int, int] = search.search_boxes(
                order, rules, boxes[:end], begin, edges, out, touching, not self.touching
            )
            return answer

        return in_chunks(ask, len(boxes), 4 * len(boxes) + 2 * LANES)

    def find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        asked = *self._asked(category, mask), self.store.boxes, ray
        return _whole(partial(walk.search_ray, *asked, self.touching, not self.touching))

    def find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        asked = *self._asked(category, mask), self.store.boxes, ray
        found: tuple[int, int] = walk.search_first(*asked, self.touching, not self.touching)
        return found

    def find_nearest(self, point: Floats, k: int, category: int, mask: int) -> tuple[IdArray, Distances, int]:
        asked = *self._asked(category, mask), self.store.boxes, point
        found: tuple[IdArray, Distances, int] = walk.search_nearest(*asked, k, not self.touching)
        return found

    def _asked(self, category: int, mask: int) -> tuple[Any, ...]:
        return self._sorted.order, (self.store.categories, self.store.masks, category, mask)


def _whole(ask: Callable[[int], tuple[IdArray, int, int]]) -> tuple[IdArray, int]:
    """All that a kernel finds, which stops where its room is full."""
    ids, tests, block = ask(0)
    if block < 0:
        return ids, tests
    parts = [ids]
    while block >= 0:
        ids, made, block = ask(block)
        parts.append(ids)
        tests += made
    return np.concatenate(parts), tests
