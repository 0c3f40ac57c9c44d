"""Lists of pairs: both directions of each, sums over the pairs of a point, and the rows of an earlier list.

A list is two arrays of row numbers, ``i`` and ``j``.  Sums add up in the order of the list.
"""

import math

import numpy as np

from broadphase.kernels.machine.jit import always_inline, jit, unsigned
from broadphase.kernels.machine.memory import AHEAD, prefetch
from broadphase.kernels.points.distance import distance

# -----------------------------------------------------------------------------------------------------------
# Each pair in both directions, in rows of one point each.


@jit
def count_both(i, j, begin, end, part, counts):
    """Add to ``counts[part, row]`` in how many of the pairs each row is."""
    for at in range(begin, end):
        counts[part, unsigned(i[at])] += 1
        counts[part, unsigned(j[at])] += 1


@jit
def put_both(i, j, distances, offsets, begin, end, part, ends, columns, values, ways):
    """Write pairs into the rows of both points; sorted pairs give sorted rows.  ``ends[part]`` advance.

    ``offsets`` may have no rows; their signs are those of the direction.
    """
    dim = offsets.shape[1] if offsets.shape[0] > 0 else 0
    for at in range(begin, end):
        ahead = j[min(at + AHEAD, end - 1)]
        prefetch(ends, part, ahead)
        a, b = unsigned(i[at]), unsigned(j[at])
        first = unsigned(ends[part, a])
        ends[part, a] += 1
        second = unsigned(ends[part, b])  # afterwards: a point may be near an image of itself
        ends[part, b] += 1
        columns[first], columns[second] = j[at], i[at]
        values[first] = values[second] = distances[at]
        for axis in range(dim):
            way = offsets[at, axis]
            ways[first, axis], ways[second, axis] = way, -way


# -----------------------------------------------------------------------------------------------------------
# Sums over the pairs of each point.


@always_inline
def _sum_columns(i, j, values, both, begin, end, sums, width):
    for at in range(begin, end):
        a, b = unsigned(i[at]), unsigned(j[at])
        for k in range(width):
            sums[a, k] += values[b, k]
        if both:
            for k in range(width):
                sums[b, k] += values[a, k]


@jit
def sum_neighbors(i, j, values, both, begin, end, sums):
    """Add the values of the neighbours of each row: of ``j`` to ``i``, with ``both`` of ``i`` to ``j``."""
    width = values.shape[1]
    # A loop over a constant number of columns is unrolled.
    if width == 1:
        _sum_columns(i, j, values, both, begin, end, sums, 1)
    elif width == 2:
        _sum_columns(i, j, values, both, begin, end, sums, 2)
    elif width == 3:
        _sum_columns(i, j, values, both, begin, end, sums, 3)
    else:
        _sum_columns(i, j, values, both, begin, end, sums, width)


@always_inline
def _scatter_columns(i, j, values, along, vectors, sign, begin, end, sums, width):
    for at in range(begin, end):
        a, b, row = unsigned(i[at]), unsigned(j[at]), unsigned(at)
        for k in range(width):
            value = values[row, 0] * along[row, k] if vectors else values[row, k]
            sums[a, k] += value
            if sign > 0:
                sums[b, k] += value
            elif sign < 0:
                sums[b, k] -= value


@always_inline
def _scatter(i, j, values, along, vectors, sign, begin, end, sums):
    width = sums.shape[1]
    if width == 1:
        _scatter_columns(i, j, values, along, vectors, sign, begin, end, sums, 1)
    elif width == 2:
        _scatter_columns(i, j, values, along, vectors, sign, begin, end, sums, 2)
    elif width == 3:
        _scatter_columns(i, j, values, along, vectors, sign, begin, end, sums, 3)
    else:
        _scatter_columns(i, j, values, along, vectors, sign, begin, end, sums, width)


@jit
def scatter_pairs(i, j, values, along, sign, begin, end, sums):
    """Add the value of each pair to row ``i``, and ``sign`` times the value to row ``j``.

    ``along`` are vectors that single values are multiplied by; it may have no rows.
    """
    # With constants in place of these conditions the loop takes half as long.
    if along.shape[0] > 0:
        if sign < 0:
            _scatter(i, j, values, along, True, -1, begin, end, sums)
        else:
            _scatter(i, j, values, along, True, sign, begin, end, sums)
    elif sign < 0:
        _scatter(i, j, values, along, False, -1, begin, end, sums)
    else:
        _scatter(i, j, values, along, False, sign, begin, end, sums)


# -----------------------------------------------------------------------------------------------------------
# Pairs of points and images that are near.


@jit
def keep_images(
    places, cell, home, source, steps, i, at, r, strict, begin, end, place, columns, ways, distances
):
    """Write the pairs that are near from ``place`` on; returns where they end.

    What ``at`` numbers are the points, then images: ``source`` are their points, ``steps`` their shifts.
    ``home`` are those of the cells in which the points lie.  ``ways`` become offsets, then shifts.
    """
    n, dim = places.shape
    for row in range(begin, end):
        a, b = np.int64(i[row]), np.int64(at[row])
        image = b - n
        if image >= 0:
            b = np.int64(source[image])
        for axis in range(dim):
            step = home[a, axis] - home[b, axis]
            ways[place, dim + axis] = step + steps[image, axis] if image >= 0 else step
        square = 0.0
        for axis in range(dim):
            way = places[b, axis] - places[a, axis]
            shift = 0.0
            for k in range(dim):
                shift += ways[place, dim + k] * cell[k, axis]
            way += shift
            ways[place, axis] = way
            square += way * way
        apart = math.sqrt(square)
        columns[0, place], columns[1, place], distances[place] = a, b, apart
        place += apart < r if strict else apart <= r
    return place


# -----------------------------------------------------------------------------------------------------------
# The pairs of a list that are near now, and the same pairs in an earlier list.


@jit
def keep_near(points, others, around, i, j, radii, other_radii, r, begin, end, place, columns, distances):
    """Write those of the pairs that are within ``r``, or the sum of their radii, from ``place`` on.

    Their numbers become the rows of ``columns``.  Returns where they end.
    """
    limit = points.dtype.type(r)
    mixed = radii.shape[0] > 0
    for at in range(begin, end):
        prefetch(others, j[min(at + AHEAD, end - 1)], 0)
        a, b = unsigned(i[at]), unsigned(j[at])
        if mixed:
            limit = radii[a] + other_radii[b]
        apart = distance(points, others, a, b, around)
        # Written in any case, and kept if near: a wrong guess would take longer.
        columns[0, place], columns[1, place], distances[place] = i[at], j[at], apart
        place += apart <= limit
    return place


@jit
def match_rows(i, j, old_i, old_j, old, begin, end, rows):
    """Write the row of each pair in another list, or -1; both are sorted, and ``old`` is where to begin."""
    last = old_i.shape[0]
    for at in range(begin, end):
        a, b = i[at], j[at]
        while old < last and (old_i[old] < a or (old_i[old] == a and old_j[old] < b)):
            old += 1
        rows[at] = old if old < last and old_i[old] == a and old_j[old] == b else -1
    return old
