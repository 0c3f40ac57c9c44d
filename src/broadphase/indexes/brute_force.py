"""Brute force: every box query tests every box.

It has no structure to keep up to date: inserting, moving and removing cost next to nothing.  ``pairs``
compares ``n (n - 1) / 2`` pairs, a box query tests ``n`` boxes.  It is the best index below a few hundred
boxes and the reference for the others; with more boxes it is the slowest.  Rays, and what is nearest, are
found by a tree, as in every index.
"""

from broadphase.indexes.arguments import BoxRules, Given, Rows
from broadphase.indexes.protocol import NO_ROWS, FoundInBoxes, Searched, search_live
from broadphase.kernels.boxes.brute_force import scan_for_boxes
from broadphase.kernels.machine.kernel import try_call
from broadphase.methods import brute_force
from broadphase.methods.task import Found
from broadphase.runtime.memory import PairArray, Scratch

_try_boxes = try_call(scan_for_boxes)


class NoStructure(Searched):
    """Nothing but the boxes."""

    has_fast_box_queries = False
    sorts_rows = True

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        return search_live(self, brute_force.find, limit, scratch)

    def find_in_boxes(
        self, boxes: Given | Rows, touching: bool, rules: BoxRules, out: PairArray = NO_ROWS
    ) -> FoundInBoxes | None:
        store, (category, mask) = self.store, rules
        return _try_boxes(  # type: ignore[no-any-return]
            store.boxes, store.end, store.categories, store.masks, boxes, touching, category, mask, out
        )
