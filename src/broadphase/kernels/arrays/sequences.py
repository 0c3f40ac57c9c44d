"""Lists of sequences of numbers, such as tuples and vectors, as the rows of an array."""

import numpy as np

from broadphase.kernels.machine.jit import holds_gil, objects
from broadphase.kernels.machine.objects import drop, is_there, item, read_numbers

# Larger numbers may be ints to which NumPy gives another type than int64.
_TOO_LARGE = 2.0**63


@holds_gil
@objects("values")
def rows_of(values, n, width, are_rectangles):
    """Rows of floats from ``n`` sequences of ``width`` numbers each: ``rows, is_table``.

    ``is_table`` is False, and the rows mean nothing, where one has another length or holds anything but a
    float or an int: NaN and numbers beyond int64 too.  ``are_rectangles``: ``x, y, width, height`` become
    edges, and negative sizes are refused.
    """
    rows = np.empty((n, width))
    for row in range(n):
        sequence = item(values, row)
        if not is_there(sequence):
            return rows, False
        fits = read_numbers(sequence, rows[row])
        drop(sequence)
        for k in range(width):
            fits = fits and abs(rows[row, k]) < _TOO_LARGE
        if not fits:
            return rows, False
        if are_rectangles:
            if not (rows[row, 2] >= 0.0 and rows[row, 3] >= 0.0):
                return rows, False
            rows[row, 2] += rows[row, 0]
            rows[row, 3] += rows[row, 1]
    return rows, True
