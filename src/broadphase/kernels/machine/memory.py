"""Memory as kernels see it: on the stack, in rows of a known length, and loaded ahead.

`few`, `many`, `one_row` and `some_rows` are arrays on the stack, where nobody has to allocate and free them:
40 ns a call for each array.  A kernel keeps them below 4 KB: larger pieces of stack need a function of a C
library on some systems.

`with_columns` states how long the rows of an array are.  The compiler then finds rows without multiplying and
vectorises loops over them: to check a thousand boxes takes 0.44 us instead of 1.1.

`prefetch` loads what will be read soon.  A box somewhere in a large array takes 100 ns to arrive; requested
some iterations ahead, ten of them travel at the same time.
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


@twin
def with_columns(rows, columns):
    """The same C-contiguous array, whose rows have so many numbers; nobody checks that in compiled code."""
    assert rows.shape[1] == columns
    return rows


# So many turns of a short loop take as long as memory.
AHEAD = 16


@twin
def prefetch(array, row, column):
    """Ask for ``array[row, column]``, or with ``column = 0`` for ``array[row]``; any row may be asked for."""
