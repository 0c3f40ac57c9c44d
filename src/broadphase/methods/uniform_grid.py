"""Uniform grid: divide the world into equal cells and compare only boxes that share one.

The simple grid of the game textbooks, in the compact form of molecular dynamics' cell lists: count the
boxes of every cell, compute prefix sums of the counts, enter every box into each cell that it touches.  A
cell two to three times the size of a typical box is best.  Two boxes may share several cells; their pair is
reported only in the cell that holds the lower corner of their intersection (the reference point rule of
Dittrich and Seeger, "Data redundancy and duplicate detection in spatial join processing", 2000).

The grid is bounded: it covers the region of nearly all boxes, outliers are in its edge cells, and it has at
most about two cells for each box.  Boxes much larger than a cell go into a coarser grid of a hierarchy (each
four times as coarse as the one before), and smaller boxes are looked up there.

Cost: about ``n``, for boxes of any mix of sizes that are spread evenly.  It loses if the boxes crowd
in a few distant clusters: then cells as small as the boxes would be too many, and a cell holds a cluster.
Overfull cells are swept along an axis, which costs about ``n ** 1.5`` and not ``n ** 2``.
"""

import numpy as np

from broadphase.boxes import BoxArray
from broadphase.kernels.cells.one_shot import Layout
from broadphase.methods.cells import (
    assign_levels,
    at_most,
    check_cell_size,
    enter,
    grid_cell,
    level_sizes,
    search,
    take_sample,
    world_of,
)
from broadphase.methods.task import Found, Task

CELLS_PER_BOX = 2
# A cell size that the caller chooses may cost more memory, up to a limit.
CELLS_PER_BOX_IF_ASKED = 16


def find(task: Task, *, cell_size: float | None = None) -> Found:
    """Find all pairs by binning the boxes into a bounded grid.

    Parameters
    ----------
    task : Task
        What to search.
    cell_size : float, optional
        Side of the finest cells; by default `suggest_cell_size` of the boxes, or larger.  A size that would
        give more than 16 cells for each box is raised.

    Returns
    -------
    Found
        The pairs; ``cells`` is the number of cells that hold a box.

    Raises
    ------
    TypeError, ValueError
        ``cell_size`` is not a positive finite number.
    """
    layout = lay_out(task.boxes, cell_size)
    return search(task, *enter(task.boxes, layout, *assign_levels(task.boxes, layout)))


def lay_out(boxes: BoxArray, cell_size: float | None = None) -> Layout:
    """The grid of each level: as many columns and rows as cover the world, numbered row by row."""
    sample = take_sample(boxes)
    low, high = world_of(sample)
    if cell_size is None:
        finest = grid_cell(sample, (low, high), CELLS_PER_BOX * len(boxes)).size
    else:
        finest = at_most(CELLS_PER_BOX_IF_ASKED * len(boxes), check_cell_size(cell_size), (low, high))
    sizes = level_sizes(finest, sample)
    shape = np.ones((len(sizes), 3))
    shape[:, : len(low)] = np.floor((high - low) / sizes[:, None]) + 1
    # Levels of a single cell are all equal; one is kept, for the oversize boxes.
    several = int(np.count_nonzero(shape.prod(axis=1) > 1))
    shape = np.vstack([shape[:several], np.ones((1, 3))])
    origin = np.zeros(3)
    origin[: len(low)] = low
    return Layout(
        origin=origin,
        per_unit=np.append(1 / sizes[:several], 1.0),
        first=np.zeros_like(shape),
        last=shape - 1,
        offsets=np.concatenate([[0], shape.prod(axis=1).cumsum()]).astype(np.int64),
        hashed=False,
    )
