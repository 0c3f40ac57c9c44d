"""The nearest images of points in a world with lattice vectors, which are reduced.

``around`` holds inf for each axis, the inverse of the matrix of vectors, and the vectors; these are zeros
where the world is not periodic, as in a slab, and the inverse is that of completed vectors.  The way to an
image is *folded* if it is at most half of each vector long, along these.  A folded way that is short is that
to the nearest image; otherwise the images next to it are compared.
"""

import math

import numpy as np

from broadphase.kernels.arrays.passes import answers_at
from broadphase.kernels.machine.jit import always_inline, inline, jit, unsigned
from broadphase.kernels.machine.memory import AHEAD, few, prefetch
from broadphase.kernels.machine.simd import load, splat
from broadphase.kernels.points.distance import distance_along, folded_way, minimum_image

# Half of a vector, and one and a half, less what rounding may add; nearest images are no farther than these
# (P. Nguyen and D. Stehle, Low-dimensional lattice basis reduction revisited, 2009).
_HALF, _FURTHEST = (0.5 - 1e-6) ** 2, (1.5 - 1e-6) ** 2


@inline
def _rounded(value, kind):
    """The nearest whole number, of numbers that are not large."""
    large = kind(1.5 * 2.0**52)
    return (value + large) - large


@jit
def put_in_cell(points, around, units, most, begin, end, inside):
    """Write points into ``inside``, brought into the cell and rounded to its units.

    Returns the first row that is ``most`` vectors or more away, or -1.
    """
    dim, kind = points.shape[1], points.dtype.type
    inverse, vectors = around[dim:], around[dim + dim * dim :]
    per_unit = few(3, np.float64)  # units are powers of two, so that nothing is rounded
    for axis in range(dim):
        per_unit[axis] = 1.0 / units[axis] if units[axis] > 0 else 0.0
    for i in range(begin, end):
        for axis in range(dim):
            inside[i, axis] = points[i, axis]
        for turn in range(2):
            moved = False
            x, y, z = inside[i, 0], inside[i, 1], inside[i, dim - 1]
            for k in range(dim):
                along = x * inverse[k] + y * inverse[dim + k]
                if dim == 3:
                    along += z * inverse[6 + k]
                if not _is_vector(around, dim, k):
                    continue
                if turn == 0 and not abs(along) < most:
                    return i
                step = math.floor(np.float64(along))  # of float32 it would be a function of the C library
                moved |= step != 0
                for axis in range(dim):
                    inside[i, axis] -= step * vectors[k * dim + axis]
            if not moved:  # what is far away is not exactly in the cell after the first time
                break
        for axis in range(dim):
            if units[axis] > 0:
                inside[i, axis] = _rounded(inside[i, axis] * kind(per_unit[axis]), kind) * kind(units[axis])
        if not answers_at(i):
            break
    return -1


@inline
def _is_vector(around, dim, k):
    vector = dim + (dim + k) * dim
    return around[vector] != 0 or around[vector + 1] != 0 or around[vector + dim - 1] != 0


@inline
def _gradient(around, dim, k):
    """The square of how many of vector ``k`` a length of 1 has at most; 0 if there is no such vector."""
    if not _is_vector(around, dim, k):
        return around.dtype.type(0)
    x, y = around[dim + k], around[2 * dim + k]
    z = around[3 * dim + k] if dim == 3 else x * 0
    return x * x + y * y + z * z


@inline
def farthest_folded(around, dim):
    """A square; images within it lie at the end of folded ways.  Without a lattice it is inf."""
    if around.shape[0] <= 3:
        return around.dtype.type(np.inf)
    largest = max(_gradient(around, dim, 0), _gradient(around, dim, 1), _gradient(around, dim, dim - 1))
    return around.dtype.type(_HALF / largest)


@always_inline
def folded_squares(columns, points, i, j, around):
    """The squares of the folded ways from point ``i`` to the points from ``j`` on."""
    dim, kind = columns.shape[0], points.dtype.type
    x, y = load(columns, 0, j) - splat(points[i, 0]), load(columns, 1, j) - splat(points[i, 1])
    z = load(columns, dim - 1, j) - splat(points[i, dim - 1])
    large = splat(kind(1.5 * 2.0**52))
    for k in range(dim):
        along = x * splat(around[dim + k]) + y * splat(around[2 * dim + k])
        if dim == 3:
            along = along + z * splat(around[3 * dim + k])
        step, vector = along + large - large, dim + (dim + k) * dim
        x, y = x - step * splat(around[vector]), y - step * splat(around[vector + 1])
        z = z - step * splat(around[vector + dim - 1])
    squares = x * x + y * y
    if dim == 3:
        squares = squares + z * z
    return squares


@inline
def _images_beside(square, gradient):
    """How many images on each side of the folded one may be as near."""
    margin = square * gradient  # NaN where squares have no room for exponents
    if margin < _HALF:
        return 0
    return 1 if margin < _FURTHEST else 2


@inline
def nearest_way(points, others, i, j, around):
    """The way from row ``i`` to the nearest image of row ``j``, and its length.

    Of images that are equally near the one counts that is shifted the least along the first vector, then
    along the next.
    """
    dim = points.shape[1]
    x, y, z = folded_way(points, others, i, j, around)
    nearest, square = distance_along(x, y, z, points), x * x + y * y + z * z
    wide = _images_beside(square, _gradient(around, dim, 0))
    tall = _images_beside(square, _gradient(around, dim, 1))
    deep = _images_beside(square, _gradient(around, dim, dim - 1)) if dim == 3 else 0
    if wide + tall + deep == 0:
        return x, y, z, nearest
    nearest, first, vectors = points.dtype.type(np.inf), (x, y, z), around[dim + dim * dim :]
    for a in range(-wide, wide + 1):
        for b in range(-tall, tall + 1):
            for c in range(-deep, deep + 1):
                ahead = first[0] + a * vectors[0] + b * vectors[dim]
                aside = first[1] + a * vectors[1] + b * vectors[dim + 1]
                above = first[2]
                if dim == 3:
                    ahead, aside = ahead + c * vectors[6], aside + c * vectors[7]
                    above += a * vectors[2] + b * vectors[5] + c * vectors[8]
                length = distance_along(ahead, aside, above, points)
                if length < nearest:
                    x, y, z, nearest = ahead, aside, above, length
    return x, y, z, nearest


@jit
def find_offsets(points, others, around, i, j, begin, end, offsets):
    """Write the ways from row ``i`` to the nearest image of row ``j`` into ``offsets[begin:end]``."""
    dim, lattice = points.shape[1], around.shape[0] > 3
    bound = farthest_folded(around, dim)
    bound = bound if 2.0**-80 < bound < 2.0**80 else around.dtype.type(-1)  # others overflow
    for pair in range(begin, end):
        # Sorted by ``i``, the pairs access ``j`` at random.
        prefetch(others, j[min(pair + AHEAD, end - 1)], 0)
        row, first, second = unsigned(pair), unsigned(i[pair]), unsigned(j[pair])
        if lattice:
            x, y, z = folded_way(points, others, first, second, around)
            if not x * x + y * y + z * z <= bound:
                x, y, z, _ = nearest_way(points, others, first, second, around)
        else:
            x = minimum_image(others[second, 0] - points[first, 0], around[0])
            y = minimum_image(others[second, 1] - points[first, 1], around[1])
            z = minimum_image(others[second, dim - 1] - points[first, dim - 1], around[dim - 1])
        offsets[row, 0], offsets[row, 1] = x, y
        if dim == 3:
            offsets[row, 2] = z
        if not answers_at(pair):
            break
