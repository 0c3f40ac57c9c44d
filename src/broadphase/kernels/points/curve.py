"""Points in the order of a curve that fills the space, and boxes around those that follow each other.

The curve is G. M. Morton's (1966): the bits of all coordinates in turn.  `LANES` points that follow each
other are a leaf; `LANES` leaves have a box around them, and so on.  It is a tree that nobody has to build:
where what lies follows from the numbers, and crowds and empty places are all the same to it.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import LANES


@inline
def _with_one_gap(v):
    """The 31 bits of a number, each followed by a gap of one."""
    v = (v | (v << 16)) & 0x0000FFFF0000FFFF
    v = (v | (v << 8)) & 0x00FF00FF00FF00FF
    v = (v | (v << 4)) & 0x0F0F0F0F0F0F0F0F
    v = (v | (v << 2)) & 0x3333333333333333
    return (v | (v << 1)) & 0x5555555555555555


@inline
def _with_two_gaps(v):
    """The 21 bits of a number, each followed by a gap of two."""
    v = (v | (v << 32)) & 0x001F00000000FFFF
    v = (v | (v << 16)) & 0x001F0000FF0000FF
    v = (v | (v << 8)) & 0x100F00F00F00F00F
    v = (v | (v << 4)) & 0x10C30C30C30C30C3
    return (v | (v << 2)) & 0x1249249249249249


@inline
def _step(value, low, per_unit, last):
    return np.int64(max(0.0, min(last, (np.float64(value) - low) * per_unit)))


@jit
def find_keys(points, envs, low, per_unit, width, begin, end, keys):
    """Where the points of a share are along the curve, world after world; ``width`` bits an axis."""
    dim = points.shape[1]
    last = float((np.int64(1) << width) - 1)
    for i in range(begin, end):
        x = _step(points[i, 0], low[0], per_unit[0], last)
        y = _step(points[i, 1], low[1], per_unit[1], last)
        if dim == 2:
            key = _with_one_gap(x) | (_with_one_gap(y) << 1)
        else:
            z = _step(points[i, 2], low[2], per_unit[2], last)
            key = _with_two_gaps(x) | (_with_two_gaps(y) << 1) | (_with_two_gaps(z) << 2)
        if envs.shape[0] > 0:
            key |= np.int64(envs[i]) << (dim * width)
        keys[i] = key


@jit
def take_in_order(points, envs, order, scale, begin, end, columns, own):
    """The points by their places on the curve, scaled, a row an axis; ``own``: their numbers and worlds."""
    factor = points.dtype.type(scale)
    for at in range(begin, end):
        i = np.int64(order[at])
        own[0, at] = i
        for axis in range(points.shape[1]):
            columns[axis, at] = points[i, axis] * factor
        if envs.shape[0] > 0:
            own[1, at] = envs[i]


@jit
def bound_leaves(columns, own, n, begin, end, boxes, worlds):
    """The boxes around the leaves of a share: lower edges, then upper; and which worlds are in them."""
    dim = columns.shape[0]
    for leaf in range(begin, end):
        first, last = leaf * LANES, min((leaf + 1) * LANES, n)
        for axis in range(dim):
            low = high = columns[axis, first]
            for at in range(first + 1, last):
                low, high = min(low, columns[axis, at]), max(high, columns[axis, at])
            boxes[axis, leaf], boxes[dim + axis, leaf] = low, high
        if worlds.shape[1] > 0:
            worlds[0, leaf], worlds[1, leaf] = own[1, first], own[1, last - 1]


@jit
def bound_levels(levels, boxes, worlds):
    """The boxes around boxes: level ``k`` begins at ``levels[k]``, and each of its boxes holds `LANES`."""
    dim = boxes.shape[0] // 2
    for level in range(1, levels.shape[0] - 1):
        begin, end = levels[level - 1], levels[level]
        for node in range((end - begin) // LANES):
            first = begin + node * LANES
            for axis in range(dim):
                low, high = boxes[axis, first], boxes[dim + axis, first]
                for at in range(first + 1, first + LANES):
                    low, high = min(low, boxes[axis, at]), max(high, boxes[dim + axis, at])
                boxes[axis, end + node], boxes[dim + axis, end + node] = low, high
            if worlds.shape[1] > 0:
                low, high = worlds[0, first], worlds[1, first]
                for at in range(first + 1, first + LANES):
                    low, high = min(low, worlds[0, at]), max(high, worlds[1, at])
                worlds[0, end + node], worlds[1, end + node] = low, high
