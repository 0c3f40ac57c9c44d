"""The neighbours of a float, and roots, without calls to the C library."""

import math

import numpy as np

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.machine.simd import twin

LARGE = 2.0**64


@twin
def next_down(value):
    """The next float below a finite ``value`` or ``+inf``."""
    return np.nextafter(value, -np.inf)


@inline
def next_up(value):
    """The next float above a finite ``value`` or ``-inf``."""
    return -next_down(-value)


@inline
def inverse_root(n, dim):
    """``n ** (-1 / dim)`` for two or three dimensions and ``n`` of 1 and more."""
    if dim == 2:
        return 1.0 / math.sqrt(n)
    # Newton's method for the cube root; from above it converges in each step until rounding stops it.
    root = float(n)
    nearer = (2.0 * root + n / (root * root)) / 3.0
    while nearer < root:
        root = nearer
        nearer = (2.0 * root + n / (root * root)) / 3.0
    return 1.0 / root


@inline
def below_one(x, y):
    """A direction of any length, scaled by a power of two so that its larger component is in 0.5 to 1.

    The scaling is exact, and later products do not overflow.
    """
    size = max(abs(x), abs(y))
    while LARGE <= size < math.inf:
        x, y, size = x / LARGE, y / LARGE, size / LARGE
    while 1.0 <= size < math.inf:
        x, y, size = 0.5 * x, 0.5 * y, 0.5 * size
    while 0.0 < size < 1.0 / LARGE:
        x, y, size = x * LARGE, y * LARGE, size * LARGE
    while 0.0 < size < 0.5:
        x, y, size = 2.0 * x, 2.0 * y, 2.0 * size
    return x, y
