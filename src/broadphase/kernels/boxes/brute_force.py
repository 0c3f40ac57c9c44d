"""Every box against every later box: the definition of the problem, and the oracle of the tests.

One box is compared with `LANES` others at a time, by the comparisons of the definition and nothing else.
"""

import numpy as np

from broadphase.kernels.arrays.emit import grow_for_lanes
from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, mask_of, put_pairs, splat


@jit
def columns_of(boxes):
    """The boxes, one row a column, and behind them boxes of NaN, which overlap nothing."""
    n = boxes.shape[0]
    columns = np.empty((boxes.shape[1], n + LANES), boxes.dtype)
    for column in range(boxes.shape[1]):
        for i in range(n):
            columns[column, i] = boxes[i, column]
        for i in range(n, n + LANES):
            columns[column, i] = np.nan
    return columns


@jit
def compare_all(columns, touching, filter, begin, end, out, limit, store):  # noqa: A002
    """Pairs ``i < j`` with ``begin <= i < end``, in order; returns ``out, found, tests``."""
    n = columns.shape[1] - LANES
    ids = np.empty((1, n + LANES), np.int32)
    for i in range(n + LANES):
        ids[0, i] = i
    filtered = filter.classes.shape[0] + filter.categories.shape[0] > 0
    found = counted = tests = np.int64(0)
    for i in range(begin, end):
        if found + n - i + LANES > out.shape[0]:
            if found > limit:
                return out, found, tests
            out = grow_for_lanes(out, found, n - i + LANES)
        tests += n - 1 - i
        if filtered:
            found = _compare_one(columns, ids, touching, i, n, out, found, filter, True)
        else:
            found = _compare_one(columns, ids, touching, i, n, out, found, filter, False)
        if not store:
            counted += found
            found = 0
    return out, found + counted, tests


@inline
def _compare_one(columns, ids, touching, i, n, out, found, filter, filtered):  # noqa: A002
    """Box ``i`` against all behind it; returns how many pairs ``out`` holds now."""
    flat = columns.shape[0] == 4
    dim = columns.shape[0] // 2
    x0, y0, z0 = splat(columns[0, i]), splat(columns[1, i]), splat(columns[dim - 1, i])
    x1, y1, z1 = splat(columns[dim, i]), splat(columns[dim + 1, i]), splat(columns[2 * dim - 1, i])
    first = splat(ids[0, i])
    for j in range(i + 1, n, LANES):
        if touching:
            together = (x0 <= load(columns, dim, j)) & (load(columns, 0, j) <= x1)
            together = together & (y0 <= load(columns, dim + 1, j)) & (load(columns, 1, j) <= y1)
            if not flat:
                together = together & (z0 <= load(columns, 5, j)) & (load(columns, 2, j) <= z1)
        else:
            together = (x0 < load(columns, dim, j)) & (load(columns, 0, j) < x1)
            together = together & (y0 < load(columns, dim + 1, j)) & (load(columns, 1, j) < y1)
            if not flat:
                together = together & (z0 < load(columns, 5, j)) & (load(columns, 2, j) < z1)
        if bits(together) != 0:
            if filtered:
                together = _let_through(bits(together), i, j, filter)
            found += put_pairs(out, found, first, load(ids, 0, j), together)
    return found


@inline
def _let_through(lanes, i, j, filter):  # noqa: A002
    kept = np.int64(0)
    while lanes != 0:
        lane = lowest_lane(lanes)
        if may_pair(filter, i, j + lane):
            kept |= lanes & -lanes
        lanes &= lanes - 1
    return mask_of(kept)
