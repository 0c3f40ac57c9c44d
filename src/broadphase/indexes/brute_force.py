"""Brute force: every query tests every box.

It has no structure to keep up to date: inserting, moving and removing cost next to nothing.  ``pairs``
compares ``n (n - 1) / 2`` pairs, a query tests ``n`` boxes.  It is the best index below a few hundred boxes
and the reference for the others; with more boxes it is the slowest.
"""

from broadphase.indexes.protocol import Structure, search_live
from broadphase.methods import brute_force
from broadphase.methods.task import Found
from broadphase.runtime.memory import Scratch


class NoStructure(Structure):
    """Nothing but the boxes."""

    has_fast_box_queries = False
    nearest_by_cells = False

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        return search_live(self, brute_force.find, limit, scratch)
