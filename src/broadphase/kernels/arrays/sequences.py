"""Lists of tuples, vectors and rectangles as the rows of an array."""

import numpy as np

from broadphase.kernels.machine.jit import holds_gil, inline, objects
from broadphase.kernels.machine.objects import (
    attribute,
    drop,
    is_alike,
    is_there,
    item,
    length_of,
    number_of,
    read_numbers,
)

# Larger numbers may be ints to which NumPy gives another type than int64.
_TOO_LARGE = 2.0**63


@inline
def _read_attributes(thing, names, numbers):
    """Write the numbers that an object has as these attributes; whether all are there."""
    for k in range(numbers.shape[0]):
        name = item(names, k)
        value = attribute(thing, name)
        drop(name)
        if not is_there(value):
            return False
        numbers[k] = number_of(value)
        drop(value)
    return True


@holds_gil
@objects("values", "names")
def rows_of(values, width, names, are_rectangles):
    """Rows of floats from objects of one type, in each ``width`` numbers: ``rows, is_table``.

    ``is_table`` is False, and the rows mean nothing, where one is of another type or length or holds anything
    but a float or an int: NaN and numbers beyond int64 too.  ``names`` are the attributes that hold the
    numbers, if it is no sequence of them.  ``are_rectangles``: ``x, y, width, height``, and for five numbers
    another y, of which the lesser counts, become edges; negative sizes are refused.
    """
    n = length_of(values)
    rows, numbers = np.empty((n, 4 if are_rectangles else width)), np.empty(width)
    first, fits = item(values, 0), True
    for row in range(n):
        thing = item(values, np.int64(row))
        if not is_there(thing):
            fits = False
            break
        fits = is_alike(thing, first)
        if fits and length_of(names) > 0:
            fits = _read_attributes(thing, names, numbers)
        elif fits:
            fits = read_numbers(thing, numbers)
        drop(thing)
        for k in range(width):
            fits = fits and abs(numbers[k]) < _TOO_LARGE
        if not fits:
            break
        for k in range(rows.shape[1]):
            rows[row, k] = numbers[k]
        if are_rectangles:
            if width == 5:
                rows[row, 1] = min(rows[row, 1], numbers[4])
            if not (rows[row, 2] >= 0.0 and rows[row, 3] >= 0.0):
                fits = False
                break
            rows[row, 2] += rows[row, 0]
            rows[row, 3] += rows[row, 1]
    drop(first)
    return rows, fits
