"""Passes over long arrays, in pieces, so that signals are answered between two of them::

for begin in range(0, n, PIECE):
    for k in range(begin, min(begin + PIECE, n)):
        ...
    if not answers(n):
        break
"""

import numpy as np

from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import inline

PIECE = np.int64(1 << 22)
"""Rows of a piece: 5 to 40 ms."""
_STEPS = np.int64(1 << 14)


@inline
def answers(rows):
    """As `goes_on`, after a step of a pass over so many rows; nothing to do if it took no time."""
    return rows < PIECE or goes_on()


@inline
def answers_at(step):
    """As `goes_on`, at every 16,384th step of a loop: changes of a structure, or rows at random places."""
    return (step + 1) & (_STEPS - 1) != 0 or goes_on()


@inline
def looked(made, checked):
    """How many comparisons were made when signal handlers last ran, every `OFTEN`; -1: the kernel ends.

    ``checked`` is what the last call returned.
    """
    if made <= checked + OFTEN:
        return np.int64(checked)
    return np.int64(made) if goes_on() else np.int64(-1)
