"""Brute force: every question is put to every box.

No structure, so nothing to keep up to date: inserting, moving and removing cost next to nothing.  ``pairs``
compares ``n (n - 1) / 2`` pairs, a query looks at ``n`` boxes.  The best index below a few hundred boxes
and the one that the others are held against; it loses everywhere else.
"""

from broadphase.indexes.protocol import Structure, search_live
from broadphase.methods import brute_force
from broadphase.methods.task import Found
from broadphase.runtime.memory import Scratch


class NoStructure(Structure):
    """Nothing but the boxes."""

    answers_boxes_quickly = False
    nearest_by_cells = False

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        return search_live(self, brute_force.find, limit, scratch)
