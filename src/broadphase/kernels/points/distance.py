"""Distances of points, with a period or without, and the vector arithmetic for them."""

import math
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.machine.jit import always_inline, inline
from broadphase.kernels.machine.simd import (
    LANES,
    absolute,
    bits,
    load,
    mask_of,
    put_floats,
    put_lanes,
    smaller,
    splat,
)

# -----------------------------------------------------------------------------------------------------------
# The distance of two points, without overflow and underflow.
#
# Squares overflow and underflow long before the numbers do, so very large and very small differences are
# first multiplied by a power of two, which changes no digit.


@inline
def minimum_image(difference, period):
    """The difference of two coordinates to the nearest image; unchanged if two images are equally near."""
    # Both are computed: the sign is as good as random, and a wrong guess of it takes as long as all the rest.
    around = difference - (period if difference > 0 else -period)
    return around if abs(around) < abs(difference) else difference


@inline
def length(x, y, z, small, large, up, down):
    """The length of an offset, first scaled by ``up`` if below ``small``, by ``down`` if above ``large``."""
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


@inline
def step_to_nearest(along):
    """By how many vectors the nearest image is shifted, from the way along a vector; -1, 0 or 1."""
    return 0.0 - (along > 0.5) + (along < -0.5)


@inline
def folded_way(points, others, i, j, around):
    """The way from row ``i`` to the image of row ``j`` that is at most half of each lattice vector away.

    ``around`` is as in `broadphase.kernels.points.lattice`, and both points lie in the cell.
    """
    dim = points.shape[1]
    x, y, z = others[j, 0] - points[i, 0], others[j, 1] - points[i, 1], points.dtype.type(0)
    if dim == 3:
        z = others[j, dim - 1] - points[i, dim - 1]
    for k in range(dim):
        along = x * around[dim + k] + y * around[2 * dim + k] + z * around[dim * dim + k]
        step, vector = points.dtype.type(step_to_nearest(along)), dim + (dim + k) * dim
        x, y = x + step * around[vector], y + step * around[vector + 1]
        if dim == 3:
            z += step * around[vector + dim - 1]
    return x, y, z


@inline
def double_length(x, y, z):
    """The length of an offset in float64."""
    return length(x, y, z, 2.0**-200, 2.0**500, 2.0**600, 2.0**-600)


@always_inline
def distance_along(x, y, z, points):
    """The length of a way, in the type of the points."""
    kind = points.dtype.type
    small, large = kind(2.0**-30), kind(2.0**60)
    up, down = kind(2.0**92), kind(2.0**-92)
    if points.itemsize == 8:
        small, large = kind(2.0**-200), kind(2.0**500)
        up, down = kind(2.0**600), kind(2.0**-600)
    # As Python, `math.sqrt` returns a float64 of float32 too.
    return kind(length(x, y, z, small, large, up, down))


class Space(NamedTuple):
    """Points, those that may be near, and the periods, or the lattice as `lattice` takes it."""

    points: Any
    others: Any
    around: Any


@always_inline
def distance(points, others, i, j, around):
    """The distance from row ``i`` to row ``j`` of the others; in a lattice along folded ways."""
    dim = points.shape[1]
    if around.shape[0] > 3:
        x, y, z = folded_way(points, others, i, j, around)
        return distance_along(x, y, z, points)
    x = minimum_image(others[j, 0] - points[i, 0], around[0])
    y = minimum_image(others[j, 1] - points[i, 1], around[1])
    z = points.dtype.type(0)
    if dim == 3:
        z = minimum_image(others[j, dim - 1] - points[i, dim - 1], around[dim - 1])
    return distance_along(x, y, z, points)


@inline
def take_place(values, around, point):
    """Write one point, rounded as the others are, into a row; whether it is finite and within the world."""
    if len(values) != point.shape[1]:
        return False
    within = True
    for axis in range(len(values)):
        place = point.dtype.type(values[axis])
        point[0, axis] = place
        within &= (0 <= place <= around[axis]) if around[axis] < np.inf else abs(place) < np.inf
    return within


# -----------------------------------------------------------------------------------------------------------
# `LANES` points at a time.


@always_inline
def gaps(columns, axis, first, place, around):
    """How far `LANES` points are from a place on one axis, the shorter way around."""
    gap = absolute(load(columns, axis, first) - splat(place))
    return smaller(gap, splat(around) - gap) if around < np.inf else gap


@always_inline
def squares_of_ways(columns, first, points, i, around):
    """The squares of the ways from row ``i`` to `LANES` points, with a period or without."""
    squares = splat(columns.dtype.type(0))
    for axis in range(columns.shape[0]):
        gap = gaps(columns, axis, first, points[i, axis], around[axis])
        squares = squares + gap * gap
    return squares


@always_inline
def put_hits(is_near, left, squares, numbers, out, ids, held):
    """Append the ``is_near`` ones of the first ``left`` lanes to ``out`` and ``ids``; returns the new end."""
    hits = bits(is_near)
    if left < LANES:
        hits &= (1 << left) - 1
    if hits != 0:
        mask = mask_of(hits)
        put_floats(out, 0, held, squares, mask)
        held += put_lanes(ids, 0, held, numbers, mask)
    return held
