"""Uniform grid: a bounded world cut into equal cells, each with a list of the boxes that touch it.

The simple grid of the game textbooks.  Every cell that a box touches lists it, and boxes outside the bounds
are clamped to the cells at the edge.  When a box moves, its old and new cells are compared, and it is removed
and inserted again only if they differ.  If most boxes have moved to other cells, nothing is done until the
next read: then all are binned again and searched at once.  Two boxes meet in each cell that they share; the
one with the lower corner of their intersection reports them (the reference point rule of Dittrich and Seeger,
2000), which does what the query stamps of the textbooks do and lets many threads read at once.

A cell two to three times the size of a typical box is best.  Boxes that would lie in more than a dozen
cells go into a coarser grid of a hierarchy, each four times as coarse as the one before, and smaller ones
look them up there.

Cost: a few cells for an insert, a removal, a move, a query of a small box; ``pairs`` about the number of
boxes.  It loses where the world is large and mostly empty (memory, and cells too large for their boxes: see
`broadphase.SpatialHash`) and where boxes crowd in few cells.
"""

from typing import Any

import numpy as np

from broadphase.boxes import BoxArray, as_float_array
from broadphase.foreign import BOXES
from broadphase.indexes.cells import CellStructure, Plan, empty_lattice, ladder
from broadphase.kernels.cells.dynamic_cells import LAST, OFFSET
from broadphase.methods.cells import LARGEST_CELL, at_most, take_sample, typical_cell, world_of
from broadphase.methods.uniform_grid import CELLS_PER_BOX

MOST_CELLS = 2**28  # a gigabyte of empty cells
# So many cells are always affordable.
_FEW_CELLS = 1_024


class GridStructure(CellStructure):
    """The cells of a `broadphase.UniformGrid`; its options, checked, and what `Structure` takes."""

    def __init__(self, bounds: tuple[float, ...] | None, cell_size: float | None, *kept: Any) -> None:
        self.cell_size, self._bounds = cell_size, bounds
        super().__init__(*kept)

    def _plan(self, boxes: BoxArray) -> Plan:
        sample = take_sample(boxes)
        low, high = world_of(sample)
        if self._bounds is not None:
            low, high = np.split(np.array(self._bounds).clip(-LARGEST_CELL, LARGEST_CELL), 2)
        if self.cell_size is None:
            finest = at_most(
                max(_FEW_CELLS, CELLS_PER_BOX * len(boxes)), typical_cell(sample).size, (low, high)
            )
        else:
            finest = at_most(MOST_CELLS, self.cell_size, (low, high))
        sizes = ladder(finest)
        last = np.floor((high - low) / sizes[:, None])
        several = int(np.count_nonzero(last.any(axis=1)))  # levels of a single cell are all alike
        lattice = empty_lattice(sizes[:several], low)
        lattice[:-1, LAST : LAST + len(low)] = last[:several]
        cells = (lattice[:, LAST : LAST + 3] + 1).prod(axis=1)
        lattice[1:, OFFSET] = cells[:-1].cumsum()
        return Plan(lattice, int(cells.sum()), hashed=False)


def as_bounds(bounds: Any, dim: int) -> tuple[float, ...]:
    """``bounds=``, checked."""
    array = as_float_array(bounds, "bounds", BOXES).astype(np.float64)
    if array.shape != (2 * dim,):
        raise ValueError(f"bounds must have shape ({2 * dim},), [min..., max...]; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"bounds = {array.tolist()} must be finite; SpatialHash needs no bounds")
    if not (array[:dim] <= array[dim:]).all():
        raise ValueError(f"bounds = {array.tolist()}: min > max")
    return tuple(array.tolist())


def check_cells(bounds: tuple[float, ...], cell_size: float, dim: int) -> None:
    """Raise ``ValueError`` where there would be too many cells."""
    with np.errstate(over="ignore"):
        widths = np.subtract(bounds[dim:], bounds[:dim])
        cells = float((np.floor(widths / cell_size) + 1).prod())
    if cells > MOST_CELLS:
        raise ValueError(
            f"bounds with cell_size = {cell_size} make {cells:.3g} cells, more than {MOST_CELLS}; "
            "use larger cells, or SpatialHash, which pays for no empty ones"
        )
