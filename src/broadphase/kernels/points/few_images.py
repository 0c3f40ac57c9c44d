"""All images of few points within a distance, in one call: each pair, with each image that may be near."""

import math

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.memory import few
from broadphase.kernels.points.distance import double_length

UNSUITABLE = np.int64(-1)
_FARTHEST = 2.0**18
"""In vectors of the cell: farther away, rounding of places is more than what is searched wider."""


@inline
def _write_places(points, inverse, wide, places):
    """Write points in vectors of the cell, 0 for axes without a period; whether all are finite and near."""
    near, dim = True, points.shape[1]
    for i in range(points.shape[0]):
        for k in range(dim):
            place = 0.0
            for axis in range(dim):
                place += points[i, axis] * inverse[axis, k]
            near &= points[i, k] * 0.0 == 0.0
            near &= wide[k] == 0.0 or abs(place) < _FARTHEST
            places[k, i] = place if wide[k] > 0.0 else 0.0
    return near


@jit
def find_images_of_few(points, found, among, cell, inverse, wide, r, most):
    """``i, j, distance, offset, shift`` of all images within ``r``, in order; and how many, or `UNSUITABLE`.

    ``wide``: how many vectors a way of length ``r`` has at most along each, 0 for axes without a period.
    """
    n, dim, m = points.shape[0], points.shape[1], found.shape[0]
    rows, far = np.empty((256, 5), np.int32), np.empty((256, 4))
    places, others, near = np.zeros((3, n)), np.zeros((3, m)), np.empty(m, np.int32)
    count, looks = np.int64(0), 1.0
    first, last, reach = few(3, np.int64), few(3, np.int64), few(3, np.float64)
    for k in range(3):
        reach[k] = wide[k] if k < dim else 0.0
        looks *= 2.0 * reach[k] + 1.0
    fits = (dim == 2 or dim == 3) and found.shape[1] == dim and cell.shape[0] == dim and r >= 0.0
    if not fits or not n * m * looks <= most:
        count, n = UNSUITABLE, np.int64(0)
    elif not (_write_places(points, inverse, wide, places) and _write_places(found, inverse, wide, others)):
        count, n = UNSUITABLE, np.int64(0)
    for i in range(n):
        # Those that may have an image near, without a branch: one in ten in a cell four times as wide as r.
        begin, near_by = i if among else np.int64(0), 0
        x, y, z = places[0, i], places[1, i], places[2, i]
        for j in range(begin, m):
            a, b, c = others[0, j] - x, others[1, j] - y, others[2, j] - z
            may_be = abs(a - math.floor(a + 0.5)) <= reach[0]
            may_be &= abs(b - math.floor(b + 0.5)) <= reach[1]
            may_be &= abs(c - math.floor(c + 0.5)) <= reach[2]
            near[near_by] = j
            near_by += may_be
        for at in range(near_by):
            j = near[at]
            for k in range(3):
                along = others[k, j] - places[k, i]
                first[k], last[k] = math.ceil(-reach[k] - along), math.floor(reach[k] - along)
            for a in range(first[0], last[0] + 1):
                for b in range(first[1], last[1] + 1):
                    for c in range(first[2], last[2] + 1):
                        if among and i == j and not (a > 0 or (a == 0 and (b > 0 or (b == 0 and c > 0)))):
                            continue
                        x = found[j, 0] - points[i, 0] + (a * cell[0, 0] + b * cell[1, 0])
                        y = found[j, 1] - points[i, 1] + (a * cell[0, 1] + b * cell[1, 1])
                        z = 0.0
                        if dim == 3:
                            x, y = x + c * cell[2, 0], y + c * cell[2, 1]
                            z = found[j, 2] - points[i, 2]
                            z += a * cell[0, 2] + b * cell[1, 2] + c * cell[2, 2]
                        d = double_length(x, y, z)
                        if d <= r:
                            if count == rows.shape[0]:
                                rows, far = larger(rows, count), larger(far, count)
                            rows[count, 0], rows[count, 1] = i, j
                            rows[count, 2], rows[count, 3], rows[count, 4] = a, b, c
                            far[count, 0], far[count, 1], far[count, 2], far[count, 3] = d, x, y, z
                            count += 1
    size = max(count, 0)
    one, two, distances = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    ways, shifts = np.empty((size, dim)), np.empty((size, dim), np.int32)
    for k in range(size):
        one[k], two[k], distances[k] = rows[k, 0], rows[k, 1], far[k, 0]
        for axis in range(dim):
            ways[k, axis], shifts[k, axis] = far[k, 1 + axis], rows[k, 2 + axis]
    return one, two, distances, ways, shifts, count
