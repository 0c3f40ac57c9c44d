"""A few numbers that a function of a kernel needs until it returns.

They lie on the stack, where nobody has to ask for memory and to give it back: 40 ns a call for each array.
"""

import numpy as np

from broadphase.kernels.machine.simd import twin

MOST = 16
"""As many numbers may be asked for."""


@twin
def few(count, dtype):
    """``count`` numbers, at most `MOST`, with any values; not to be returned."""
    return np.empty(count, dtype)


@twin
def one_row(columns, dtype):
    """The same as the only row of an array."""
    return np.empty((1, columns), dtype)
