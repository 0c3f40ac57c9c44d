"""Memory for kernels: arrays on the stack, rows of a known length, and prefetching.

`few`, `many`, `one_row` and `some_rows` are arrays on the stack.  They save allocating and freeing memory,
which takes 40 ns a call for each array.  A kernel uses less than 4 KB of them: on some systems, larger pieces
of stack need a function of a C library.

`with_columns` states the length of an array's rows.  The compiler then computes addresses without multiplying
and vectorises loops over rows: checking a thousand boxes takes 0.44 us instead of 1.1.

`prefetch` loads data that will be read soon.  Reading a random box of a large array takes 100 ns; if boxes
are requested some iterations ahead, ten of them load at the same time.
"""

import numpy as np

from broadphase.kernels.machine.simd import twin

MOST = 16
"""The most numbers in an array whose length is not known at compile time; all of this is reserved."""
MOST_BYTES = 2048
"""The most bytes in an array whose length is known at compile time."""


@twin
def few(count, dtype):
    """An array of ``count`` numbers, at most `MOST`, uninitialised; it must not be returned."""
    return np.empty(count, dtype)


@twin
def one_row(columns, dtype):
    """The same as the only row of an array."""
    return np.empty((1, columns), dtype)


@twin
def many(count, dtype):
    """An array of ``count`` numbers, at most `MOST_BYTES`; ``count`` must be a constant in the source."""
    return np.empty(count, dtype)


@twin
def some_rows(rows, columns, dtype):
    """The same as the rows of an array."""
    return np.empty((rows, columns), dtype)


@twin
def with_columns(rows, columns):
    """The same numbers of a C-contiguous array as rows of this many."""
    return rows.reshape(-1, columns)


# This many iterations of a short loop take as long as a read from memory.
AHEAD = 16


@twin
def prefetch(array, row, column):
    """Prefetch ``array[row, column]``, or ``array[row]`` with ``column = 0``; any row number is allowed."""
