"""Spatial hash: a grid without bounds, folded into a table.

The cell ``(x, y)`` of an endless grid is kept in slot ``(x * 1640531513 ^ y * 2654435789) % table_size``.
The size of the table is a prime, about ten times the number of boxes (the rule of thumb of Chipmunk2D's
authors; the hash is that of its ``cpSpaceHash``), and grows with them.  Nothing has to be known of the world,
and empty space costs nothing.  Far cells may share a slot: then boxes are compared that are nowhere near each
other, and the box test rejects them.  A box that falls into one slot with two of its cells is entered once.

A box that moves is compared with the cells it lies in, and only if they are others now, it is taken out and
entered again.  Boxes too large for a dozen cells go to coarser cells, hashed into the same table, and
smaller ones look them up there (hierarchical hash grids: Eitz and Lixu, 2007).

Cost: a few slots for an insert, a removal, a move, a query of a small box; ``pairs`` about the number of
boxes, but with a cache miss for nearly every slot.  It loses to a grid where the world is bounded and
evenly filled, and where many boxes that are far smaller than the typical one crowd in one cell.
"""

from typing import Any

import numpy as np

from broadphase.boxes import BoxArray
from broadphase.indexes.cells import FEW, CellStructure, Plan, empty_lattice, ladder
from broadphase.kernels.cells.dynamic_cells import FIRST, LAST, OFFSET
from broadphase.kernels.cells.one_shot import FARTHEST
from broadphase.methods.cells import take_sample, typical_cell
from broadphase.methods.spatial_hash import SLOTS_PER_BOX, next_prime

LARGEST_TABLE = 2**31
# What the x of a level is moved by before it is hashed, so that levels do not all use the same slots.
_LEVELS_APART = 1_000_003


class HashStructure(CellStructure):
    """The cells of a `broadphase.SpatialHash`; its options, checked, and what `Structure` takes."""

    def __init__(self, cell_size: float | None, table_size: int | None, *kept: Any) -> None:
        self.cell_size, self._table_size = cell_size, table_size
        super().__init__(*kept)

    def _plan(self, boxes: BoxArray) -> Plan:
        finest = typical_cell(take_sample(boxes)).size if self.cell_size is None else self.cell_size
        sizes = ladder(finest)
        lattice = empty_lattice(sizes, np.zeros(3))
        lattice[:-1, FIRST : FIRST + 3] = -FARTHEST
        lattice[:-1, LAST : LAST + 3] = FARTHEST
        lattice[:, OFFSET] = np.arange(len(lattice)) * _LEVELS_APART
        wanted = self._table_size or SLOTS_PER_BOX * max(FEW, len(boxes))
        return Plan(lattice, next_prime(wanted), hashed=True)


def as_table_size(table_size: Any) -> int | None:
    """``table_size=`` as a number, or None for ``"auto"``."""
    if table_size is None or (isinstance(table_size, str) and table_size == "auto"):
        return None
    if isinstance(table_size, bool) or not isinstance(table_size, (int, np.integer)):
        raise TypeError(f'table_size must be an int or "auto"; got {table_size!r}')
    if not 1 <= table_size <= LARGEST_TABLE:
        raise ValueError(f"table_size must be between 1 and {LARGEST_TABLE}; got {table_size}")
    return int(table_size)
