"""Passes over long arrays, in pieces, so that signals are answered between two of them::

for begin in range(0, n, PIECE):
    for k in range(begin, min(begin + PIECE, n)):
        ...
    if not answers(n):
        break
"""

import numpy as np

from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import inline

PIECE = np.int64(1 << 22)
"""Rows of a piece: 5 to 40 ms."""


@inline
def answers(rows):
    """As `goes_on`, after a step of a pass over so many rows; nothing to do if it took no time."""
    return rows < PIECE or goes_on()
