"""Which cell of a bounded grid: its number, row by row."""

from broadphase.kernels.machine.jit import inline


@inline
def cell_number(x, y, z, columns, rows):
    """Number of the cell in column ``x``, row ``y``, layer ``z``; every cell has its own."""
    return (z * rows + y) * columns + x
