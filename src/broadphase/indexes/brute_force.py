"""Brute force: every question is put to every box.

No structure, so nothing to keep up to date: inserting, moving and removing cost next to nothing.  ``pairs``
compares ``n (n - 1) / 2`` pairs, a query looks at ``n`` boxes.  The best index below a few hundred boxes
and the one that the others are held against; it loses everywhere else.
"""

from broadphase.indexes.base import Index
from broadphase.memory import Scratch
from broadphase.methods import brute_force
from broadphase.methods.task import Found


class BruteForce(Index):
    """No index at all: for a few hundred boxes, and to check the others.

    Parameters
    ----------
    dim, dtype, touching, sort, threads
        As of `broadphase.Index`.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.BruteForce(touching=False)
    >>> index.insert_many([[0, 0, 1, 1], [1, 0, 2, 1]])
    array([0, 1], dtype=int32)
    >>> index.pairs()
    array([], shape=(0, 2), dtype=int32)
    """

    name = "brute_force"
    answers_boxes_quickly = False
    nearest_by_cells = False

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        return self._search_live(brute_force.find, limit, scratch)
