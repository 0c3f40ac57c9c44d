"""Spatial hash: a grid without bounds, folded into a table.

The cell ``(x, y)`` of an endless grid is kept in slot ``(x * 1640531513 ^ y * 2654435789) % table_size``.
The size of the table is a prime, about ten times the number of boxes (the rule of thumb of Chipmunk2D's
authors; the hash is that of its ``cpSpaceHash``, here with a third prime for ``z``).  Nothing has to be known
of the world, and empty space costs nothing.

Distant cells may share a slot: their boxes are compared, and the box test rejects them.  Too small a table
has many such false positives, too large a one is slow to clear.  A box may fall into one slot with two of its
cells and is then entered once.  Two boxes that share several slots are reported in one of them: the slot of
the cell that holds the lower corner of their intersection.  Large boxes, and slots that are very full, are
treated as in a grid (`broadphase.methods.uniform_grid`).

Cost: about ``n``, wherever the boxes are, with a cache miss for nearly every slot.  It loses to a grid if the
world is bounded and evenly filled, and where the sizes of boxes vary widely.
"""

import math

import numpy as np

from broadphase.kernels.arrays.results import FEW
from broadphase.kernels.cells import Lattice
from broadphase.methods.cells import Sample, endless_lattice, fill, search, take_sample, typical_cell
from broadphase.methods.task import Found, Task

_SLOTS_PER_BOX = 10


def find(task: Task) -> Found:
    """Find all pairs by hashing the cells that each box touches.

    Parameters
    ----------
    task : Task
        What to search.

    Returns
    -------
    Found
        The pairs; ``cells`` is the number of slots that hold a box.
    """
    ids, lattice = np.arange(len(task.boxes), dtype=np.int32), lay_out(take_sample(task.boxes))
    return search(task, fill(task.boxes, ids, lattice))


def lay_out(sample: Sample, cell_size: float | None = None, table_size: int | None = None) -> Lattice:
    """The endless cells and a table for them; by default of sizes that suit."""
    slots = next_prime(table_size or _SLOTS_PER_BOX * max(FEW, sample.boxes))
    return endless_lattice(sample.lows.shape[1], cell_size or typical_cell(sample), slots)


def next_prime(least: int) -> int:
    """Smallest prime not below ``least``; 1 counts, as the smallest table.

    >>> next_prime(1), next_prime(14), next_prime(1_000_000)
    (1, 17, 1000003)
    """
    if least <= 2:
        return max(1, least)
    candidate = least | 1
    while any(candidate % divisor == 0 for divisor in range(3, math.isqrt(candidate) + 1, 2)):
        candidate += 2
    return candidate
