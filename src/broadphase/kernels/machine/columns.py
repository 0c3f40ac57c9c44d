"""Tell the compiler how long the rows of an array are.

Where one row ends and the next begins is known when a program runs; a loop over rows then multiplies for
each of them, and is not done in vectors.  Is their length a constant, both change: to see that a thousand
boxes are sound takes 0.44 us instead of 1.1, and to sort the pairs of a million 1.3 ms of 10 less.
"""

from broadphase.kernels.machine.simd import twin


@twin
def with_columns(rows, columns):
    """The same C-contiguous array, whose rows have so many numbers; nobody checks that in compiled code."""
    assert rows.shape[1] == columns
    return rows
