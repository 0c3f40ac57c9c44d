"""All images of few points within a distance, in one call: each pair, with each image that may be near."""

import math

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.machine.jit import jit
from broadphase.kernels.machine.memory import few
from broadphase.kernels.points.distance import double_length

UNSUITABLE = np.int64(-1)
_FARTHEST = 2.0**30
"""In vectors of the cell: farther away, rounding loses the place of a point."""


@jit
def find_images_of_few(points, found, among, cell, inverse, wide, r, most):
    """``i, j, distance, offset, shift`` of all images within ``r``, in order; and how many, or `UNSUITABLE`.

    ``wide``: how many vectors a way of length ``r`` has at most along each, 0 for axes without a period.
    """
    n, dim, m = points.shape[0], points.shape[1], found.shape[0]
    rows, far = np.empty((256, 5), np.int32), np.empty((256, 4))
    count, looks = np.int64(0), 1.0
    first, last, along = few(3, np.int64), few(3, np.int64), few(3, np.float64)
    total, far_away = 0.0, False
    for i in range(n):
        for axis in range(dim):
            total += points[i, axis] * 0.0
    for i in range(m):
        for axis in range(dim):
            total += found[i, axis] * 0.0
    for axis in range(dim):
        looks *= 2.0 * max(wide[axis], 0.0) + 1.0
    fits = (dim == 2 or dim == 3) and found.shape[1] == dim and cell.shape[0] == dim and r >= 0.0
    if total != 0.0 or not fits or not n * m * looks <= most:
        count, n = UNSUITABLE, np.int64(0)
    for i in range(n):
        for j in range(i if among else np.int64(0), m):
            for k in range(3):
                first[k] = last[k] = 0
            for k in range(dim):
                along[k] = 0.0
                for axis in range(dim):
                    along[k] += (found[j, axis] - points[i, axis]) * inverse[axis, k]
                near_by = abs(along[k]) < _FARTHEST
                far_away |= wide[k] > 0.0 and not near_by
                if wide[k] > 0.0 and near_by:
                    first[k] = np.int64(math.ceil(-wide[k] - along[k]))
                    last[k] = np.int64(math.floor(wide[k] - along[k]))
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
    if far_away:
        count = UNSUITABLE
    size = max(count, 0)
    one, two, distances = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    ways, shifts = np.empty((size, dim)), np.empty((size, dim), np.int32)
    for k in range(size):
        one[k], two[k], distances[k] = rows[k, 0], rows[k, 1], far[k, 0]
        for axis in range(dim):
            ways[k, axis], shifts[k, axis] = far[k, 1 + axis], rows[k, 2 + axis]
    return one, two, distances, ways, shifts, count
