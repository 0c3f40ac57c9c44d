"""Numbers that a function of a kernel needs until it returns.

They lie on the stack, where nobody has to ask for memory and to give it back: 40 ns a call for each array.
What a kernel needs there stays below 4 KB: a larger piece of stack is walked through page by page on some
systems, by a function of a C library that kernels do not have.
"""

import numpy as np

from broadphase.kernels.machine.simd import twin

MOST = 16
"""So many numbers may be asked for where their number is not known before; there is room for all."""
MOST_BYTES = 2048
"""So much may be asked for where it is."""


@twin
def few(count, dtype):
    """``count`` numbers, at most `MOST`, with any values; not to be returned."""
    return np.empty(count, dtype)


@twin
def one_row(columns, dtype):
    """The same as the only row of an array."""
    return np.empty((1, columns), dtype)


@twin
def many(count, dtype):
    """``count`` numbers, at most `MOST_BYTES`; ``count`` is a number that stands in the source."""
    return np.empty(count, dtype)


@twin
def some_rows(rows, columns, dtype):
    """The same as the rows of an array."""
    return np.empty((rows, columns), dtype)
