"""Uniform grid: a bounded world cut into equal cells, each with a list of the boxes that touch it.

The simple grid of the game textbooks: what `broadphase.methods.uniform_grid` does for one call, kept between
frames (`broadphase.indexes.cells`).  Queries and static boxes go to a tree, as in every index.

A cell two to three times the size of a typical box is best; ``explain`` says whether it is.

Cost: entering the boxes that move and comparing those that share a cell, about linear.  It loses where the
world is large and mostly empty (memory, and cells too large for their boxes: see `broadphase.SpatialHash`),
where boxes crowd in few cells, and where many boxes are too large for a cell: every search tests those.
"""

from typing import Any

import numpy as np

from broadphase.indexes.cells import CellStructure
from broadphase.indexes.protocol import Shared
from broadphase.inputs.arrays import BOXES, as_float_array
from broadphase.kernels.cells import Lattice
from broadphase.methods.cells import Sample
from broadphase.methods.uniform_grid import MOST_CELLS, lay_out


class GridStructure(CellStructure):
    """The cells of a `broadphase.UniformGrid`; its options, checked, and what `Structure` takes."""

    def __init__(self, bounds: tuple[float, ...] | None, cell_size: float | None, shared: Shared) -> None:
        self.cell_size, self._bounds = cell_size, bounds
        super().__init__(shared)

    def _plan(self, sample: Sample) -> Lattice:
        return lay_out(sample, self._bounds, self.cell_size)


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
