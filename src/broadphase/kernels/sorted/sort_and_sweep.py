"""The walk of sort and sweep: from each box to the right, until one begins beyond its right edge."""

import numpy as np

from broadphase.kernels.boxes.overlap import allowed_lanes
from broadphase.kernels.machine.jit import jit
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, put_pairs, splat


@jit
def sweep(axes, columns, ids, filter, at, end, out, most, store):  # noqa: A002
    """Pairs whose left box is before ``end`` in sorted order, from ``at = i, j`` on.

    ``columns`` and ``ids`` hold the boxes in sorted order, with `LANES` of padding (`ordered_columns`).
    ``axes``: a tuple of the dimension's length.  A test is a box that begins before this one ends.
    Returns ``at, found, tests`` (`broadphase.kernels.arrays.results`).
    """
    i, j = at
    found = tests = np.int64(0)
    filtered = filter.classes.shape[0] > 0 or filter.categories.shape[0] > 0
    dim = len(axes)
    left = columns[0]
    # A walk must end before it leaves the padding: another thread could make a box NaN in the meantime.
    most_right = left[columns.shape[1] - 1] - 1
    while i < end and tests <= most:
        right = columns.dtype.type(min(columns[dim, i], most_right))
        x0, x1 = splat(columns[0, i]), splat(right)
        y0, y1 = splat(columns[1, i]), splat(columns[dim + 1, i])
        z0, z1 = splat(columns[dim - 1, i]), splat(columns[2 * dim - 1, i])
        j = max(j, i + 1)
        while left[j] <= right:
            reached = load(columns, 0, j) <= x1
            hits = reached & (load(columns, 1, j) <= y1) & (y0 <= load(columns, dim + 1, j))
            if len(axes) == 3:
                hits = hits & (load(columns, 2, j) <= z1) & (z0 <= load(columns, 5, j))
            if bits(hits) != 0:
                if store and found + LANES > out.shape[0]:
                    return (i, j), found, tests
                # Box i begins first, so it begins before the others end, unless one of them is only a
                # point on the axis and touching does not count.
                hits = hits & (x0 <= load(columns, dim, j))
                if filtered:
                    hits = allowed_lanes(filter, ids, i, j, bits(hits))
                if store:
                    found += put_pairs(out, found, splat(ids[0, i]), load(ids, 0, j), hits)
                else:
                    found += count_lanes(bits(hits))
            tests += count_lanes(bits(reached))
            j += LANES
        i += 1
        j = np.int64(0)
    return (i, j), found, tests
