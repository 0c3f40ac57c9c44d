"""The walk of the 1-D sort: from each box to the right, until one begins beyond its right edge."""

import numpy as np

from broadphase.kernels.arrays.emit import grow
from broadphase.kernels.boxes.overlap_lanes import allowed_lanes
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, put_pairs, splat


@jit
def sweep(axes, columns, ids, filter, begin, end, out, limit, store):  # noqa: A002
    """Pairs whose left box is one of ``begin <= i < end`` in sorted order; returns ``out, found, tests``.

    ``columns`` and ``ids`` hold the boxes in sorted order, with `LANES` of padding (`ordered_columns`).
    ``axes``: a tuple of the dimension's length.  A test is a box that begins before this one ends.
    """
    i, j, found, tests = np.int64(begin), np.int64(begin + 1), np.int64(0), np.int64(0)
    while True:
        i, j, found, tests = _walk(axes, columns, ids, filter, i, j, end, out, found, tests, store)
        if i == end or found > limit:
            return out, found, tests
        out = grow(out, limit + LANES)


@inline
def _walk(axes, columns, ids, filter, i, j, end, out, found, tests, store):  # noqa: A002
    """Go on with box ``i`` at box ``j`` until ``out`` is full; returns how far: ``i, j, found, tests``.

    A function that leaves ``out`` what it is: where an array may be exchanged in a loop, Numba counts
    references in each turn, and that took a third of the time.
    """
    filtered = filter.classes.shape[0] > 0 or filter.categories.shape[0] > 0
    dim = len(axes)
    left = columns[0]
    while i < end:
        right = columns[dim, i]
        x0, x1 = splat(columns[0, i]), splat(right)
        y0, y1 = splat(columns[1, i]), splat(columns[dim + 1, i])
        z0, z1 = splat(columns[dim - 1, i]), splat(columns[2 * dim - 1, i])
        while left[j] <= right:
            reached = load(columns, 0, j) <= x1
            hits = reached & (load(columns, 1, j) <= y1) & (y0 <= load(columns, dim + 1, j))
            if len(axes) == 3:
                hits = hits & (load(columns, 2, j) <= z1) & (z0 <= load(columns, 5, j))
            if bits(hits) != 0:
                if store and found + LANES > out.shape[0]:
                    return i, j, found, tests
                # Box i begins first, so it begins before the others end, unless one of them is but a
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
        j = i + 1
    return i, j, found, tests
