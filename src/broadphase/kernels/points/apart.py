"""How far two points are apart: the one place where it stands in full.

Squares overflow and vanish long before numbers do, so where a difference is very large or very small all are
multiplied by a power of two first, which changes no digit.
"""

import math

import numpy as np

from broadphase.kernels.machine.jit import inline, jit

_STEP_32, _STEP_64 = 2.0**100, 2.0**600


@inline
def shorter_way(way, period):
    """A difference of two coordinates, the shorter way around; of two that are as long, as it is."""
    if way > 0 and period - way < way:
        return way - period
    if way < 0 and period + way < -way:
        return way + period
    return way


@inline
def length(x, y, z, small, step):
    """The length of an offset."""
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0 or largest == np.inf:
        return largest
    if small < largest < 1 / small:
        return math.sqrt(x * x + y * y + z * z)
    by = step if largest <= small else 1 / step
    x, y, z = x * by, y * by, z * by
    return math.sqrt(x * x + y * y + z * z) / by


@inline
def distance(points, others, i, j, around):
    """From row ``i`` to row ``j`` of the others."""
    kind = points.dtype.type
    dim = points.shape[1]
    small, step = kind(2.0**-30), kind(_STEP_32)
    if points.itemsize == 8:
        small, step = kind(2.0**-200), kind(_STEP_64)
    x = shorter_way(others[j, 0] - points[i, 0], around[0])
    y = shorter_way(others[j, 1] - points[i, 1], around[1])
    z = kind(0)
    if dim == 3:
        z = shorter_way(others[j, dim - 1] - points[i, dim - 1], around[dim - 1])
    return length(x, y, z, small, step)


@jit
def find_offsets(points, others, around, i, j, begin, end, offsets):
    """Where row ``j`` of the others is, seen from row ``i``: ``offsets[begin:end]``."""
    for at in range(begin, end):
        for axis in range(points.shape[1]):
            way = others[j[at], axis] - points[i[at], axis]
            offsets[at, axis] = shorter_way(way, around[axis])
