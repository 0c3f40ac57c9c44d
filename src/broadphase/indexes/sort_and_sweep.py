"""Sort and sweep: the boxes in the order of their lower edges on one axis, and that order kept.

Once the boxes are sorted, each one overlaps only boxes that begin before it ends: a walk to the right.
From one frame to the next little of the order changes.  So it is kept, and sorted again by insertion: a box
changes places with the few that it has overtaken, and an order that is nearly right is put right in nearly
linear time.  Where insertion takes too many steps (everything jumped about), a radix sort starts afresh, so
no frame costs more than a few passes over the boxes.

Source: the single-axis case of Baraff's coordinate sorting (1992), with its temporal coherence; Ericson,
"Real-Time Collision Detection" (2005), section 7.5.

Cost: linear in the boxes for the first read after a change, however few were touched; ``pairs`` adds the
pairs that overlap on the sorted axis, and a query the boxes that overlap it there.  It loses where boxes
pile up on that axis: in a scene that is spread evenly in the plane, a box shares it with about the square
root of all.  And it loses where questions and changes of single boxes take turns among very many.  Then
`broadphase.BoxTree` is the answer, and `broadphase.Strips` where everything moves.
"""

from typing import Any

from broadphase import threads
from broadphase.indexes.sorted_boxes import SortedBoxes, SortedQueries
from broadphase.indexes.storage import IdArray
from broadphase.indexes.touched import Touched
from broadphase.memory import Scratch
from broadphase.methods.sort_and_sweep import Axis, sweep_ordered
from broadphase.methods.task import Found, Task


class SortStructure(SortedQueries):
    """The order of a `broadphase.SortAndSweep`; its axis, checked, and what `Structure` takes."""

    changes_by_query = 0.1

    def __init__(self, axis: Axis, *kept: Any) -> None:
        self._axis = axis
        self._touched = Touched()
        super().__init__(*kept)

    # ---- the structure follows the boxes

    def inserted(self, ids: IdArray) -> None:
        self._touched.add(ids, self.store.live)
        self.stale = True

    removing = moved = inserted

    def reset(self) -> None:
        self._sorted = SortedBoxes(self.dim, self.dtype, self._axis, self.touching)
        self._steps = self._reported = 0
        self.stale = True

    def refresh(self) -> None:
        self._steps += self._sorted.follow(self.store, self._touched.ids())
        self.query_axis = self._sorted.axis
        self._touched.clear()

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        self._reported, self._steps = self._steps, 0
        store, order = self.store, self._sorted
        task = Task(store.boxes, self.touching, store.filter(), threads.resolve(self.threads), limit)
        return sweep_ordered(task, order.columns, order.ids, len(order))

    # ---- about itself

    def swap_count(self) -> int:
        return self._reported

    def check(self) -> None:
        self._sorted.check(self.store)
