"""Uniform grid: a bounded world cut into equal cells, each with a list of the boxes that touch it.

The simple grid of the game textbooks.  A box stands in the list of every cell that it touches, and whatever
lies outside the bounds is clamped to the cells at the edge.  A box that moves is compared with the cells it
lies in, and only if they are others now, it is taken out and entered anew.  Where most boxes have moved to
other cells, nothing is done until somebody asks: then all are binned again and searched in one go.  Two boxes
meet in each cell that they share; the one with the lower corner of their intersection reports them (the
reference point rule of Dittrich and Seeger, 2000), which does what the query stamps of the textbooks do and
lets many threads read at once.

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
from broadphase.indexes.cell_index import CellIndex, CellSize, as_cell_size
from broadphase.indexes.cell_lists import Plan, empty_lattice, ladder
from broadphase.kernels.cells.lattice import LAST, OFFSET
from broadphase.methods.cell_size import LARGEST_CELL, at_most, take_sample, typical_cell, world_of
from broadphase.methods.uniform_grid import CELLS_PER_BOX

MOST_CELLS = 2**28  # a gigabyte of empty cells
# So many cells are always affordable.
_FEW_CELLS = 1_024


class UniformGrid(CellIndex):
    """Equal cells over a bounded world: for boxes of like size, evenly spread, such as a game's level.

    Parameters
    ----------
    bounds : array_like, shape (2 * dim,), optional
        ``[min..., max...]`` of the world.  Boxes outside are legal: they are clamped to the cells at the
        edge, which become slow when there are many.  By default the bounds are where most boxes are,
        looked up again whenever their number has doubled.
    cell_size : float or "auto"
        Side of the finest cells.  ``"auto"`` is two and a half times a typical box, or more where the world
        would have more than two cells a box.
    dim, dtype, touching, sort, threads
        As of `broadphase.Index`.

    Raises
    ------
    TypeError, ValueError
        The bounds are not finite or not in order, the cell size is not positive, or the grid would have more
        than 2 ** 28 cells.

    Examples
    --------
    >>> import broadphase as bp
    >>> grid = bp.UniformGrid([0, 0, 800, 600], cell_size=64)
    >>> grid.insert_many([[10, 10, 30, 30], [20, 20, 40, 40], [-50, 300, -40, 310]])
    array([0, 1, 2], dtype=int32)
    >>> grid.pairs()
    array([[0, 1]], dtype=int32)
    >>> grid.query_point([-45, 305])
    array([2], dtype=int32)
    """

    name = "uniform_grid"

    def __init__(self, bounds: Any = None, cell_size: CellSize = "auto", **common: Any) -> None:
        super().__init__(**common)  # first: the bounds depend on the dimension, and nothing yet on them
        self._cell_size = as_cell_size(cell_size)
        self._bounds = None if bounds is None else _as_bounds(bounds, self.dim)
        if self._bounds is not None and self._cell_size is not None:
            _check_cells(self._bounds, self._cell_size, self.dim)

    @property
    def bounds(self) -> tuple[float, ...] | None:
        """As they were given: None where they follow the boxes."""
        return self._bounds

    def _options(self) -> dict[str, Any]:
        return {
            "bounds": None if self._bounds is None else list(self._bounds),
            "cell_size": self.cell_size,
        }

    def _plan(self, boxes: BoxArray) -> Plan:
        sample = take_sample(boxes)
        low, high = world_of(sample)
        if self._bounds is not None:
            low, high = np.split(np.array(self._bounds).clip(-LARGEST_CELL, LARGEST_CELL), 2)
        if self._cell_size is None:
            finest = at_most(
                max(_FEW_CELLS, CELLS_PER_BOX * len(boxes)), typical_cell(sample).size, (low, high)
            )
        else:
            finest = at_most(MOST_CELLS, self._cell_size, (low, high))
        sizes = ladder(finest)
        last = np.floor((high - low) / sizes[:, None])
        several = int(np.count_nonzero(last.any(axis=1)))  # levels of a single cell are all alike
        lattice = empty_lattice(sizes[:several], low)
        lattice[:-1, LAST : LAST + len(low)] = last[:several]
        cells = (lattice[:, LAST : LAST + 3] + 1).prod(axis=1)
        lattice[1:, OFFSET] = cells[:-1].cumsum()
        return Plan(lattice, int(cells.sum()), hashed=False)


def _as_bounds(bounds: Any, dim: int) -> tuple[float, ...]:
    array = as_float_array(bounds, "bounds", BOXES).astype(np.float64)
    if array.shape != (2 * dim,):
        raise ValueError(f"bounds must have shape ({2 * dim},), [min..., max...]; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"bounds = {array.tolist()} must be finite; SpatialHash needs no bounds")
    if not (array[:dim] <= array[dim:]).all():
        raise ValueError(f"bounds = {array.tolist()}: min > max")
    return tuple(array.tolist())


def _check_cells(bounds: tuple[float, ...], cell_size: float, dim: int) -> None:
    with np.errstate(over="ignore"):
        widths = np.subtract(bounds[dim:], bounds[:dim])
        cells = float((np.floor(widths / cell_size) + 1).prod())
    if cells > MOST_CELLS:
        raise ValueError(
            f"bounds with cell_size = {cell_size} make {cells:.3g} cells, more than {MOST_CELLS}; "
            "use larger cells, or SpatialHash, which pays for no empty ones"
        )
