"""Spatial hash: a grid without bounds, folded into a table.

What `broadphase.methods.spatial_hash` does for one call, kept between frames (`broadphase.indexes.cells`):
the cell ``(x, y)`` of an endless grid is kept in slot ``(x * 1640531513 ^ y * 2654435789) % table_size``.
Nothing has to be known of the world, and empty space costs nothing.

Cost: as a grid's, but with a cache miss for nearly every slot.  It loses to a grid where the world is bounded
and evenly filled; and as a grid, where the sizes of boxes vary widely.
"""

from typing import Any

import numpy as np

from broadphase.indexes.cells import CellStructure
from broadphase.indexes.protocol import Shared
from broadphase.kernels.cells import Lattice
from broadphase.methods.cells import MOST_PLACES, Sample
from broadphase.methods.spatial_hash import lay_out


class HashStructure(CellStructure):
    """The cells of a `broadphase.SpatialHash`; its options, checked, and what `Structure` takes."""

    def __init__(self, cell_size: float | None, table_size: int | None, shared: Shared) -> None:
        self.cell_size, self._table_size = cell_size, table_size
        super().__init__(shared)

    def _plan(self, sample: Sample) -> Lattice:
        return lay_out(sample, self.cell_size, self._table_size)


def as_table_size(table_size: Any) -> int | None:
    """``table_size=`` as a number, or None for ``"auto"``."""
    if table_size is None or (isinstance(table_size, str) and table_size == "auto"):
        return None
    if isinstance(table_size, bool) or not isinstance(table_size, (int, np.integer)):
        raise TypeError(f'table_size must be an int or "auto"; got {table_size!r}')
    if not 1 <= table_size <= MOST_PLACES:
        raise ValueError(f"table_size must be between 1 and {MOST_PLACES}; got {table_size}")
    return int(table_size)
