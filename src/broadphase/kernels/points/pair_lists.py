"""Lists of pairs: both directions of each, sums over the pairs of a point, and the rows of an earlier list.

A list is two arrays of row numbers, ``i`` and ``j``.  Sums add up in the order of the list.
"""

from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.arrays.passes import PIECE, answers, answers_at
from broadphase.kernels.machine.jit import always_inline, jit, unsigned
from broadphase.kernels.machine.memory import AHEAD, prefetch
from broadphase.kernels.points.distance import (
    distance,
    distance_along,
    double_length,
    folded_way,
    step_to_nearest,
)
from broadphase.kernels.points.lattice import farthest_folded

# -----------------------------------------------------------------------------------------------------------
# Each pair in both directions, in rows of one point each.


@jit
def count_both(i, j, begin, end, part, counts):
    """Add to ``counts[part, row]`` in how many of the pairs each row is."""
    for pair in range(begin, end):
        counts[part, unsigned(i[pair])] += 1
        counts[part, unsigned(j[pair])] += 1
        if not answers_at(pair):
            break


@jit
def put_both(pairs, begin, end, part, ends, out):
    """Write pairs into the rows of both points; sorted pairs give sorted rows.  ``ends[part]`` advance.

    ``pairs`` are ``i, j, distance, offset, shift``, and ``out`` takes all but the first for both directions.
    Offsets and shifts may have no rows; their signs are those of the direction.
    """
    (i, j, distances, offsets, shifts), (columns, values, ways, steps) = pairs, out
    dim = offsets.shape[1] if offsets.shape[0] > 0 else 0
    axes = shifts.shape[1] if shifts.shape[0] > 0 else 0
    for pair in range(begin, end):
        ahead = j[min(pair + AHEAD, end - 1)]
        prefetch(ends, part, ahead)
        a, b = unsigned(i[pair]), unsigned(j[pair])
        first = unsigned(ends[part, a])
        ends[part, a] += 1
        second = unsigned(ends[part, b])  # afterwards: a point may be near an image of itself
        ends[part, b] += 1
        columns[first], columns[second] = j[pair], i[pair]
        values[first] = values[second] = distances[pair]
        for axis in range(dim):
            way = offsets[pair, axis]
            ways[first, axis], ways[second, axis] = way, -way
        for axis in range(axes):
            step = shifts[pair, axis]
            steps[first, axis], steps[second, axis] = step, -step
        if not answers_at(pair):
            break


# -----------------------------------------------------------------------------------------------------------
# Sums over the pairs of each point.


@always_inline
def _add_columns(i, j, values, along, of_points, vectors, sign, begin, end, sums, width):
    for pair in range(begin, end):
        a, b, row = unsigned(i[pair]), unsigned(j[pair]), unsigned(pair)
        of_first, of_second = (b, a) if of_points else (row, row)
        for k in range(width):
            value = values[of_first, 0] * along[row, k] if vectors else values[of_first, k]
            sums[a, k] += value
            if of_points and sign > 0:
                value = values[of_second, k]
            if sign > 0:
                sums[b, k] += value
            elif sign < 0:
                sums[b, k] -= value


@always_inline
def _add(i, j, values, along, of_points, vectors, sign, begin, end, sums):
    width = sums.shape[1]
    # A loop over a constant number of columns is unrolled.
    if width == 1:
        _add_columns(i, j, values, along, of_points, vectors, sign, begin, end, sums, 1)
    elif width == 2:
        _add_columns(i, j, values, along, of_points, vectors, sign, begin, end, sums, 2)
    elif width == 3:
        _add_columns(i, j, values, along, of_points, vectors, sign, begin, end, sums, 3)
    else:
        _add_columns(i, j, values, along, of_points, vectors, sign, begin, end, sums, width)


@jit
def add_pairs(i, j, values, along, of_points, sign, begin, end, sums):
    """Add the value of each pair to row ``i``, and ``sign`` times the value to row ``j``.

    ``along`` are vectors that single values are multiplied by; it may have no rows.  If values are those
    ``of_points``, that of ``j`` is added to ``i``, and that of ``i`` to ``j`` unless ``sign`` is 0.
    """
    for first in range(begin, end, PIECE):
        last = min(first + PIECE, end)
        # With constants in place of these conditions the loop takes half as long.
        if of_points and sign > 0:
            _add(i, j, values, along, True, False, 1, first, last, sums)
        elif of_points:
            _add(i, j, values, along, True, False, 0, first, last, sums)
        elif along.shape[0] > 0 and sign < 0:
            _add(i, j, values, along, False, True, -1, first, last, sums)
        elif along.shape[0] > 0:
            _add(i, j, values, along, False, True, sign, first, last, sums)
        elif sign < 0:
            _add(i, j, values, along, False, False, -1, first, last, sums)
        else:
            _add(i, j, values, along, False, False, sign, first, last, sums)
        if not answers(end - begin):
            break


# -----------------------------------------------------------------------------------------------------------
# Pairs of points and images that are near.


class Images(NamedTuple):
    """Images of points that are searched among."""

    source: Any
    """The row of each image."""
    steps: Any
    """The shift of each."""
    first: int
    """Images begin here; there may be none."""


@always_inline
def _shift(spots, other_spots, steps, a, b, image, axis):
    """By how many vectors an image of row ``b`` is shifted: one of the images, or the nearest."""
    step = spots[a, axis] - other_spots[b, axis]
    if image >= 0:
        return step + steps[image, axis]
    along = spots.shape[1] // 2 + axis
    return step + step_to_nearest(other_spots[b, along] - spots[a, along])


@jit
def keep_images(space, spots, images, i, neighbors, reach, begin, end, place, out):
    """Write the pairs that are near from ``place`` on; returns where they end.

    What ``neighbors`` numbers are the others, and then images.  The ``space`` has the vectors of the cell.
    ``spots`` are, for the points and the others, the cells in which they lie, then where in these, in units
    of the vectors.  ``reach`` is the distance, and whether pairs at it do not count.  ``out`` are both
    numbers as two rows, distances, offsets and shifts.
    """
    (points, others, cell), (point_spots, other_spots), (r, strict) = space, spots, reach
    (source, steps, first_image), (columns, distances, offsets, shifts) = images, out
    dim = points.shape[1]
    last = dim - 1
    for row in range(begin, end):
        next_row = min(np.int64(neighbors[min(row + AHEAD, end - 1)]), others.shape[0] - 1)
        prefetch(others, next_row, 0)
        prefetch(other_spots, next_row, 0)
        a, b = np.int64(i[row]), np.int64(neighbors[row])
        image = b - first_image
        if image >= 0:
            b = np.int64(source[image])
        ahead = _shift(point_spots, other_spots, steps, a, b, image, 0)
        aside = _shift(point_spots, other_spots, steps, a, b, image, 1)
        x = others[b, 0] - points[a, 0] + (ahead * cell[0, 0] + aside * cell[1, 0])
        y = others[b, 1] - points[a, 1] + (ahead * cell[0, 1] + aside * cell[1, 1])
        z = 0.0
        if dim == 3:
            above = _shift(point_spots, other_spots, steps, a, b, image, last)
            x, y = x + above * cell[last, 0], y + above * cell[last, 1]
            z = others[b, last] - points[a, last]
            z += ahead * cell[0, last] + aside * cell[1, last] + above * cell[last, last]
            offsets[place, last], shifts[place, last] = z, np.int32(above)
        offsets[place, 0], offsets[place, 1] = x, y
        shifts[place, 0], shifts[place, 1] = np.int32(ahead), np.int32(aside)
        apart = double_length(x, y, z)
        columns[0, place], columns[1, place], distances[place] = a, b, apart
        place += apart < r if strict else apart <= r
        if not answers_at(row):
            break
    return place


# -----------------------------------------------------------------------------------------------------------
# The pairs of a list that are near now, and the same pairs in an earlier list.


@jit
def keep_near(space, i, j, radii, r, begin, end, place, columns, distances):
    """Write those of the pairs that are within ``r``, or the sum of their radii, from ``place`` on.

    Their numbers become the rows of ``columns``.  Returns where they end.
    """
    (points, others, around), (point_radii, other_radii) = space, radii
    limit = points.dtype.type(r)
    mixed, lattice, dim = point_radii.shape[0] > 0, around.shape[0] > 3, points.shape[1]
    folded = farthest_folded(around, dim) if lattice else points.dtype.type(0)
    for pair in range(begin, end):
        prefetch(others, j[min(pair + AHEAD, end - 1)], 0)
        a, b = unsigned(i[pair]), unsigned(j[pair])
        if mixed:
            limit = point_radii[a] + other_radii[b]
        if lattice:
            x, y, z = others[b, 0] - points[a, 0], others[b, 1] - points[a, 1], points.dtype.type(0)
            if dim == 3:
                z = others[b, dim - 1] - points[a, dim - 1]
            if not x * x + y * y + z * z <= folded:  # else it is folded: few pairs cross the boundary
                x, y, z = folded_way(points, others, a, b, around)
            apart = distance_along(x, y, z, points)
        else:
            apart = distance(points, others, a, b, around)
        # Written in any case, and kept if near: a wrong guess would take longer.
        columns[0, place], columns[1, place], distances[place] = i[pair], j[pair], apart
        place += apart <= limit
        if not answers_at(pair):
            break
    return place


@jit
def match_rows(i, j, old_i, old_j, old, begin, end, rows):
    """Write the row of each pair in another list, or -1; both are sorted, and ``old`` is where to begin."""
    last = old_i.shape[0]
    for pair in range(begin, end):
        a, b = i[pair], j[pair]
        while old < last and (old_i[old] < a or (old_i[old] == a and old_j[old] < b)):
            old += 1
        rows[pair] = old if old < last and old_i[old] == a and old_j[old] == b else -1
        if not answers_at(pair):
            break
