"""Sort and sweep: keeps the boxes sorted by their lower edges on one axis.

Once the boxes are sorted, each one overlaps only boxes that begin before it ends: a walk to the right.
From one frame to the next little of the order changes.  So it is kept, and sorted again by insertion: a box
changes places with the few that it has overtaken, and an order that is nearly right is put right in nearly
linear time.  Where insertion takes too many steps (everything jumped about), a radix sort starts afresh, so
no frame costs more than a few passes over the boxes.

Source: the single-axis case of Baraff's coordinate sorting (1992), with its temporal coherence; Ericson,
"Real-Time Collision Detection" (2005), section 7.5.

Cost: linear in the boxes for the first read after a change, however few were touched; ``pairs`` adds the
pairs that overlap on the sorted axis.  Queries are answered by a tree, as in every index that has no way of
its own.  It loses where boxes pile up on that axis: in a scene that is spread evenly in the plane, a box
shares it with about the square root of all.  Then `broadphase.BoxTree` is better, and `broadphase.Strips`
where everything moves.
"""

import numpy as np

from broadphase.indexes.protocol import Shared, Structure
from broadphase.indexes.storage import IdArray, Touched, expect
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import thread_count
from broadphase.kernels.arrays.sorting import PADDING, bits_of, ordered_columns, stable_argsort
from broadphase.kernels.sorted import insertion_sort
from broadphase.methods.sort_and_sweep import Axis, choose_axis, sweep_ordered
from broadphase.methods.task import Found, Task
from broadphase.runtime import thresholds
from broadphase.runtime.arrays import rows_at
from broadphase.runtime.memory import Scratch

# Insertion may take so many steps a box, and so many in all, before sorting from scratch costs less.
MOST_STEPS, MOST_STEPS_IN_ALL = 8, 1 << 24


class SortStructure(Structure):
    """The order of a `broadphase.SortAndSweep`; its axis, checked, and what `Structure` takes.

    The boxes lie in columns of keys, see `broadphase.kernels.sorted`.
    """

    def __init__(self, axis: Axis, shared: Shared) -> None:
        self._wanted = axis
        self._touched = Touched()
        super().__init__(shared)

    def __len__(self) -> int:
        return int(self.columns.shape[1]) - PADDING

    @property
    def changes_by_query(self) -> float:  # type: ignore[override]
        return 0.1 if self.store.live >= thresholds.FEWEST_BOXES else 0.0

    # ---- the order follows the boxes

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        if boxes is None:
            self._touched.add(ids, self.store.live)
        self.stale = True

    def enter(self, ids: IdArray, fresh: bool) -> None:
        self._touched.add(ids, self.store.live)
        self.stale = True

    def reset(self) -> None:
        self._touched.clear()
        self._sorted = False
        self._steps = self._reported = 0
        self.axis: int = 0 if self._wanted == "auto" else self._wanted
        self._take(np.empty(0, np.int32))

    def refresh(self) -> None:
        """By insertion; where that is too far, everything is sorted from scratch."""
        steps = self._insert(self._touched.ids()) if self._sorted else -1
        if steps < 0:
            self._sort()
        self._steps += max(steps, 0)
        self._touched.clear()
        self._sorted = True

    def _sort(self) -> None:
        """Sort all live boxes, along the axis that suits them."""
        boxes, ids = self.store.live_boxes(), self.store.ids()
        if len(ids):
            self.axis = choose_axis(boxes, self._wanted)
        self._take(rows_at(ids, stable_argsort(boxes[:, self.axis])))

    def _insert(self, touched: IdArray) -> int:
        """Sort by insertion; returns the steps, -1 where it gave up because there were too many."""
        store, n = self.store, len(self)
        alive = store.alive[touched]
        moved = touched[alive]  # the others were added and removed again
        known = touched < len(self.places)
        known[known] = self.places[touched[known]] >= 0
        if (alive != known).any():
            kept = self.ids[0, :n]
            self._take(np.concatenate((kept[store.alive[kept]], touched[alive & ~known])))
            moved = moved[:0]
        most = min(MOST_STEPS * len(self), MOST_STEPS_IN_ALL)
        how = self.axis, self.touching, self.columns, self.ids, self.places, most
        return int(insertion_sort(bits_of(store.boxes), moved, *how))

    def _take(self, order: IdArray) -> None:
        """Lay out the boxes in this order."""
        bits, end = bits_of(self.store.boxes), self.store.end
        self.columns, self.ids = ordered_columns(bits, order, self.axis, self.touching)
        self.places = np.full(end, -1, np.int32)
        self.places[order] = np.arange(len(order))

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        self._reported, self._steps = self._steps, 0
        store = self.store
        task = Task(store.boxes, self.touching, store.filter(), thread_count(self.threads), limit)
        return sweep_ordered(task, self.columns, self.ids, len(self))

    # ---- about itself

    def counts(self) -> tuple[int, int]:
        return 0, self._reported

    def check(self) -> None:
        n, ids, bits = len(self), self.ids[0, : len(self)], bits_of(self.store.boxes)
        expect(np.array_equal(np.sort(ids), self.store.ids()), "all live boxes are in the order")
        expect(bool((self.columns[0, 1:] >= self.columns[0, :-1]).all()), "lower edges are sorted")
        expect(np.array_equal(self.places[ids], np.arange(n)), "places say where the boxes are")
        expect(int((self.places >= 0).sum()) == n, "removed boxes have no place")
        wanted, _ = ordered_columns(bits, ids, self.axis, self.touching)
        expect(np.array_equal(self.columns, wanted), "keys are the boxes'")
