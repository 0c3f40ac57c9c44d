"""Results that grow inside a kernel.

A search writes into the array that it is given, and when that is full into a larger one of its own; it
returns the array that it wrote last::

    if found + LANES > out.shape[0]:
        out = larger(out, found)
"""

import numpy as np

from broadphase.kernels.machine.jit import common, inline


@inline
def larger(rows, filled):
    """An array of twice as many rows, and some; its first ``filled`` rows are those of ``rows``."""
    return with_room(rows, filled, np.int64(2 * rows.shape[0] + 1024))


@common
def with_room(rows, filled, count):
    """An array of ``count`` rows; its first ``filled`` rows are those of ``rows``."""
    out = np.empty((count, rows.shape[1]), rows.dtype)
    for row in range(filled):
        for column in range(rows.shape[1]):
            out[row, column] = rows[row, column]
    return out


@common
def with_columns(rows, filled, count):
    """An array of ``count`` columns; its first ``filled`` columns are those of ``rows``."""
    out = np.empty((rows.shape[0], count), rows.dtype)
    for row in range(rows.shape[0]):
        for column in range(filled):
            out[row, column] = rows[row, column]
    return out
