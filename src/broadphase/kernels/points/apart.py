"""The distance of two points, without overflow and underflow.

Squares overflow and underflow long before numbers do, so very large and very small differences are
multiplied by a power of two first, which changes no digit.
"""

import math

import numpy as np

from broadphase.kernels.machine.jit import always_inline, inline


@inline
def shorter_way(way, period):
    """A difference of two coordinates, to the nearest image; unchanged where two images are equally near."""
    if way > 0 and period - way < way:
        return way - period
    if way < 0 and period + way < -way:
        return way + period
    return way


@inline
def length(x, y, z, small, large, up, down):
    """The length of an offset; what is less than small or more than large is taken up or down first."""
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0 or largest == np.inf:
        return largest
    if small < largest < large:
        return math.sqrt(x * x + y * y + z * z)
    if largest <= small:
        x, y, z = x * up, y * up, z * up
        return math.sqrt(x * x + y * y + z * z) * down
    x, y, z = x * down, y * down, z * down
    return math.sqrt(x * x + y * y + z * z) * up


@always_inline
def distance(points, others, i, j, around):
    """From row ``i`` to row ``j`` of the others."""
    kind = points.dtype.type
    dim = points.shape[1]
    small, large = kind(2.0**-30), kind(2.0**60)
    up, down = kind(2.0**92), kind(2.0**-92)
    if points.itemsize == 8:
        small, large = kind(2.0**-200), kind(2.0**500)
        up, down = kind(2.0**600), kind(2.0**-600)
    x = shorter_way(others[j, 0] - points[i, 0], around[0])
    y = shorter_way(others[j, 1] - points[i, 1], around[1])
    z = kind(0)
    if dim == 3:
        z = shorter_way(others[j, dim - 1] - points[i, dim - 1], around[dim - 1])
    return length(x, y, z, small, large, up, down)
