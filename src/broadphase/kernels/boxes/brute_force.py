"""Every box against every later box: the definition of the problem, and the oracle of the tests.

One box is compared with `LANES` others at a time, by the comparisons of the definition and nothing else.
The shortest example of a search that stops and goes on (`broadphase.kernels.arrays.emit`).
"""

import numpy as np

from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    load,
    lowest_lane,
    mask_of,
    put_pairs,
    splat,
)

PADDING = LANES


@jit
def lay_in_columns(boxes, columns):
    """The boxes, one row a column, and behind them `PADDING` boxes of NaN, which overlap nothing."""
    n = boxes.shape[0]
    for column in range(boxes.shape[1]):
        for i in range(n):
            columns[column, i] = boxes[i, column]
        for i in range(n, n + PADDING):
            columns[column, i] = np.nan


@jit
def compare_all(columns, ids, n, touching, filter, at, end, out, most, store):  # noqa: A002
    """Pairs ``i < j`` of ``n`` boxes with ``i < end``, in order, from ``at = i, j`` on.

    Returns ``at, found, tests``.  ``columns``: see `lay_in_columns`; ``ids``: the numbers from 0 on, in one
    row that is as long.
    """
    i, j = at
    found = tests = np.int64(0)
    filtered = filter.classes.shape[0] + filter.categories.shape[0] > 0
    while i < end and tests <= most:
        j = max(j, i + 1)
        if filtered:
            j, found = _compare_one(columns, ids, n, touching, filter, i, j, out, found, store, True)
        else:
            j, found = _compare_one(columns, ids, n, touching, filter, i, j, out, found, store, False)
        if j < n:
            break
        tests += n - 1 - i
        i += 1
        j = np.int64(0)
    return (i, j), found, tests


@inline
def _compare_one(columns, ids, n, touching, filter, i, j, out, found, store, filtered):  # noqa: A002
    """Box ``i`` against all from ``j`` on, while there is room; returns how far, and how many are found."""
    flat = columns.shape[0] == 4
    dim = columns.shape[0] // 2
    x0, y0, z0 = splat(columns[0, i]), splat(columns[1, i]), splat(columns[dim - 1, i])
    x1, y1, z1 = splat(columns[dim, i]), splat(columns[dim + 1, i]), splat(columns[2 * dim - 1, i])
    first = splat(ids[0, i])
    while j < n:
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
            if store and found + LANES > out.shape[0]:
                return j, found
            if filtered:
                together = _let_through(bits(together), i, j, filter)
            if store:
                found += put_pairs(out, found, first, load(ids, 0, j), together)
            else:
                found += count_lanes(bits(together))
        j += LANES
    return j, found


@inline
def _let_through(lanes, i, j, filter):  # noqa: A002
    kept = np.int64(0)
    while lanes != 0:
        lane = lowest_lane(lanes)
        if may_pair(filter, i, j + lane):
            kept |= lanes & -lanes
        lanes &= lanes - 1
    return mask_of(kept)
