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
from typing import Any

import numpy as np

from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.cells.bins import Lattice
from broadphase.methods.cells import (
    MOST_PLACES,
    check_cell_size,
    endless_lattice,
    fill,
    search,
    suggest_cell_size,
)
from broadphase.methods.task import Found, Task

SLOTS_PER_BOX = 10


def find(task: Task, *, cell_size: float | None = None, table_size: int | None = None) -> Found:
    """Find all pairs by hashing the cells that each box touches.

    Parameters
    ----------
    task : Task
        What to search.
    cell_size : float, optional
        Side of the cells; by default `suggest_cell_size` of the boxes.
    table_size : int, optional
        Slots, raised to a prime.  By default ten times the boxes.

    Returns
    -------
    Found
        The pairs; ``cells`` is the number of slots that hold a box.

    Raises
    ------
    TypeError, ValueError
        ``cell_size`` is not a positive finite number, or ``table_size`` is not a positive integer.
    """
    lattice = lay_out(task.boxes, cell_size, table_size)
    return search(task, fill(task.boxes, np.arange(len(task.boxes), dtype=np.int32), lattice))


def lay_out(boxes: BoxArray, cell_size: float | None = None, table_size: int | None = None) -> Lattice:
    """The endless cells, and a table for so many boxes."""
    size = suggest_cell_size(boxes).size if cell_size is None else check_cell_size(cell_size)
    slots = max(1, SLOTS_PER_BOX * len(boxes)) if table_size is None else check_table_size(table_size)
    return endless_lattice(boxes.shape[1] // 2, size, next_prime(slots))


def check_table_size(table_size: Any) -> int:
    """``table_size`` as an int, if it is a positive one."""
    if isinstance(table_size, bool) or not isinstance(table_size, (int, np.integer)):
        raise TypeError(f"table_size must be an int or None; got {table_size!r}")
    if not 1 <= table_size <= MOST_PLACES:
        raise ValueError(f"table_size must be between 1 and {MOST_PLACES}; got {table_size}")
    return int(table_size)


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
