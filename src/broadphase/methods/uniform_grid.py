"""Uniform grid: divide the world into equal cells and compare only boxes that share one.

The simple grid of the game textbooks: a two-dimensional array of lists.  Every box is entered into the list
of each cell that it touches, and the boxes of a list are compared with each other.  A cell two to three times
the size of a typical box is best: in smaller ones a box is entered too often, in larger ones it has too many
companions.  Two boxes may share several cells; the cell with the lower corner of their intersection reports
them (`broadphase.kernels.cells` compares this with the other ways).

The grid is bounded: it covers the region of nearly all boxes, and what lies outside is clamped to the cells
at the edge.  It has at most about two cells for each box.  A box that covers more than 32 cells is in none:
such large boxes are kept in a list, which is compared with all others.

Cost: about ``n``, for boxes of like size that are spread evenly.  It loses if sizes vary widely, because many
boxes are then large, and if boxes crowd in a few distant clusters: cells as small as the boxes would be too
many, and a cell holds a cluster.  Where cells are so full, or more than eight boxes are large, all boxes are
sorted along an axis first, and the lists are swept, which costs about ``n ** 1.5`` and not ``n ** 2``.
"""

import numpy as np

from broadphase.kernels.cells import Lattice
from broadphase.methods.cells import (
    LARGEST_CELL,
    Sample,
    at_most,
    bounded_lattice,
    fill,
    search,
    take_sample,
    typical_cell,
    world_of,
)
from broadphase.methods.task import Found, Task

MOST_CELLS = 2**28  # a gigabyte of empty cells
# So many cells for each box, and so many in all, are always affordable.
_CELLS_PER_BOX, _FEW_CELLS = 2, 1_024


def find(task: Task) -> Found:
    """Find all pairs by entering the boxes into a bounded grid.

    Parameters
    ----------
    task : Task
        What to search.

    Returns
    -------
    Found
        The pairs; ``cells`` is the number of cells that hold a box.
    """
    ids, lattice = np.arange(len(task.boxes), dtype=np.int32), lay_out(take_sample(task.boxes))
    return search(task, fill(task.boxes, ids, lattice))


def lay_out(
    sample: Sample, bounds: tuple[float, ...] | None = None, cell_size: float | None = None
) -> Lattice:
    """As many columns and rows as cover the world, or these bounds; by default of a size that suits."""
    low, high = world_of(sample)
    if bounds is not None:
        low, high = np.split(np.array(bounds).clip(-LARGEST_CELL, LARGEST_CELL), 2)
    size, most = cell_size, MOST_CELLS
    if size is None:
        size, most = typical_cell(sample), max(_FEW_CELLS, _CELLS_PER_BOX * sample.boxes)
    return bounded_lattice(low, high, at_most(most, size, (low, high)))
