"""Pairs by place in a tile become pairs by row of the whole input."""

from broadphase.kernels.machine.jit import jit


@jit
def rows_of_pairs(pairs, rows, i, j):
    """Look up the rows of both columns of ``pairs``."""
    for k in range(pairs.shape[0]):
        i[k] = rows[pairs[k, 0]]
        j[k] = rows[pairs[k, 1]]
