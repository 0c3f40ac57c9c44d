"""Kernels that run for long let signal handlers run, and end when one of them raises.

Such a kernel calls `goes_on` every `OFTEN` comparisons and returns at once when that is false; above the
layer of arrays `broadphase.kernels.arrays.passes` says it in two lines::

    checked = looked(tests, checked)
    if checked < 0:
        break

The caller then gets the exception and not the result.  So a kernel runs to its end in one call, and Ctrl-C is
answered within a fraction of a second.
"""

from collections.abc import Callable

import numpy as np

from broadphase.kernels.machine.mode import PLAIN
from broadphase.kernels.machine.simd import twin

OFTEN = np.int64(20_000 if PLAIN else 20_000_000)
"""Comparisons between two calls of `goes_on`: 20 to 60 ms."""

checks: list[Callable[[], object]] = []
"""What `goes_on` calls besides signal handlers; it raises to end it (`broadphase.runtime.threads`)."""


def check() -> None:
    """Run the checks.  The interpreter runs signal handlers when it enters this function."""
    for one in checks:
        one()


@twin
def goes_on():
    """Whether the kernel's result is still wanted; if not, an exception is set and the kernel must return.

    It must also not read what it has not computed.
    """
    check()
    return True
