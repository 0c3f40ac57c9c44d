"""Spatial hash: a grid without bounds, mapped to a hash table.

The cell ``(x, y)`` of an endless grid is kept in slot ``(x * 1640531513 ^ y * 2654435789) % table_size``
of a hash table; the table size is a prime, about ten times the number of boxes (the rule of thumb that
Chipmunk2D's authors give; the hash is that of its ``cpSpaceHash``, here with a third prime for ``z``).
No bounds of the world are needed, and empty space costs nothing.

Because the cells share a table, distant cells may share a slot; their boxes are compared, and the box test
rejects them.  A box may fall into one slot with two of its cells; it is entered once.  Two boxes that share
several slots are reported in one of them: the slot of the cell that holds the lower corner of their
intersection.

Boxes much larger than a cell go to a coarser level, with cells and a table of its own, and smaller boxes
are looked up there (hierarchical hash grids: Eitz and Lixu, 2007).

Cost: about ``n``, wherever the boxes are, with a high constant for the table (some ten entries for each box).
It loses to a grid if the world is bounded and evenly filled, and if many boxes that are far smaller
than the typical one crowd in one cell; overfull cells are swept along an axis.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.kernels.cells.one_shot import FARTHEST, Layout
from broadphase.methods.cells import (
    assign_levels,
    check_cell_size,
    enter,
    level_sizes,
    search,
    take_sample,
    typical_cell,
)
from broadphase.methods.task import Found, Task

SLOTS_PER_BOX = 10
LARGEST_TABLE = 2**40


def find(task: Task, *, cell_size: float | None = None, table_size: int | None = None) -> Found:
    """Find all pairs by hashing the cells that each box touches.

    Parameters
    ----------
    task : Task
        What to search.
    cell_size : float, optional
        Side of the finest cells; by default `suggest_cell_size` of the boxes.
    table_size : int, optional
        Slots of all levels together, about; each level's table has the next prime.  By default ten
        times the boxes.

    Returns
    -------
    Found
        The pairs; ``cells`` is the number of slots that hold a box.

    Raises
    ------
    TypeError, ValueError
        ``cell_size`` is not a positive finite number, or ``table_size`` is not a positive integer.
    """
    endless = lay_out(task.boxes, cell_size)
    levels, population = assign_levels(task.boxes, endless)
    if table_size is None:
        table_size = max(1, SLOTS_PER_BOX * len(task.boxes))
    tables = table_sizes(population, table_size)
    layout = endless._replace(offsets=np.concatenate([[0], np.cumsum(tables)]))
    return search(task, *enter(task.boxes, layout, levels, population))


def lay_out(boxes: BoxArray, cell_size: float | None = None) -> Layout:
    """The endless cells of each level, and one for the oversize boxes; no tables yet."""
    sample = take_sample(boxes)
    finest = typical_cell(sample).size if cell_size is None else check_cell_size(cell_size)
    sizes = level_sizes(finest, sample)
    farthest = np.full((len(sizes) + 1, 3), float(FARTHEST))
    farthest[-1] = 0
    return Layout(
        origin=np.zeros(3),
        per_unit=np.append(1 / sizes, 1.0),
        first=-farthest,
        last=farthest,
        offsets=np.zeros(len(sizes) + 2, np.int64),
        hashed=True,
    )


def table_sizes(population: npt.NDArray[np.int64], table_size: Any) -> npt.NDArray[np.int64]:
    """Divide the slots among the levels by their boxes, each share raised to a prime."""
    if isinstance(table_size, bool) or not isinstance(table_size, (int, np.integer)):
        raise TypeError(f"table_size must be an int or None; got {table_size!r}")
    if not 1 <= table_size <= LARGEST_TABLE:
        raise ValueError(f"table_size must be between 1 and {LARGEST_TABLE}; got {table_size}")
    boxes = max(1, int(population.sum()))
    # The oversize boxes have one cell, so one slot.
    shares = [int(table_size) * int(count) // boxes for count in population[:-1]]
    return np.array([next_prime(share) for share in shares] + [1], np.int64)


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
