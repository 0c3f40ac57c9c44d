"""Every box against every later box: the definition of the problem, and the oracle of the tests.

One box is compared with `LANES` others at a time, with only the comparisons of the definition.
This is the shortest example of a search for pairs.
"""

import numpy as np

from broadphase.kernels.arrays.passes import looked
from broadphase.kernels.arrays.results import STACK_ROWS, finished, larger, put_row, result
from broadphase.kernels.boxes.checks import take_box, take_point
from broadphase.kernels.boxes.overlap import allowed_lanes, overlap
from broadphase.kernels.boxes.queries import (
    distance_to_box,
    keep_nearest,
    passes,
    sort_by_distance,
)
from broadphase.kernels.machine.jit import inline, jit, rows
from broadphase.kernels.machine.memory import one_row, some_rows
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    load,
    put_pairs,
    splat,
)

PADDING = LANES


@jit
def lay_in_columns(boxes, columns):
    """The boxes, one column each, followed by `PADDING` boxes of NaN, which overlap nothing."""
    n = boxes.shape[0]
    for column in range(boxes.shape[1]):
        for i in range(n):
            columns[column, i] = boxes[i, column]
        for i in range(n, n + PADDING):
            columns[column, i] = np.nan


@jit
def compare_all(columns, ids, n, touching, filter, begin, end, out, limit, store):  # noqa: A002
    """Pairs ``i < j`` of ``n`` boxes with ``begin <= i < end``, in order: the pairs, how many, and the tests.

    ``columns``: see `lay_in_columns`; ``ids``: the numbers from 0 on, in one row of the same length.
    """
    found = tests = checked = np.int64(0)
    filtered = filter.classes.shape[0] + filter.categories.shape[0] > 0
    for i in range(begin, end):
        # In the loop over j it would take a fourth of the time.
        while store and found + n - i + LANES > out.shape[0]:
            out = larger(out, found)
        if filtered:
            found = _compare_one(columns, ids, n, touching, filter, i, out, found, store, True)
        else:
            found = _compare_one(columns, ids, n, touching, filter, i, out, found, store, False)
        tests += n - 1 - i
        if found > limit:
            break
        checked = looked(tests, checked)
        if checked < 0:
            break
    return out, found, tests


@inline
def _compare_one(columns, ids, n, touching, filter, i, out, found, store, filtered):  # noqa: A002
    """Compare box ``i`` with all later ones, for which ``out`` has room; returns the number of pairs."""
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
                together = allowed_lanes(filter, ids, i, j, bits(together))
            if store:
                found += put_pairs(out, found, first, load(ids, 0, j), together)
            else:
                found += count_lanes(bits(together))
    return found


# -----------------------------------------------------------------------------------------------------------
# Queries by brute force: every box is tested.  The oracle, and the fallback of small indexes.


@jit
@rows(queries=(4, 6))
def scan_for_boxes(boxes, n, categories, masks, queries, touching, category, mask, found_rows):
    """What of the first ``n`` rows overlaps each query: ``rows, ids, found, tests``.

    See `broadphase.kernels.arrays.results`.
    """
    one, out = found_rows.shape[0] == 0, some_rows(STACK_ROWS, 2, np.int32)
    if not one:
        out = found_rows
    elif not take_box(queries[0], boxes, queries):
        return found_rows, result(0, np.int32), np.int64(0), np.int64(-1)
    query = one_row(boxes.shape[1], np.float64)
    found = tests = checked = np.int64(0)
    for q in range(queries.shape[0]):
        for column in range(boxes.shape[1]):  # in registers while the boxes are read
            query[0, column] = queries[q, column]
        for i in range(n):
            if overlap(boxes, i, query, 0, touching) and passes(categories, masks, i, category, mask):
                if found == out.shape[0]:
                    out = larger(out, found)
                put_row(out, found, q, i)
                found += 1
        tests += n
        checked = looked(tests, checked)
        if checked < 0:
            break
    return found_rows if one else out, finished(out[:, 1], found if one else 0), found, tests


@jit
@rows(points=(2, 3))
def scan_for_nearest(boxes, points, k):
    """The ``k`` rows nearest to one point by distance, then id; returns ``ids, distances, tests``."""
    ids, distances = result(k, np.int32), result(k, np.float64)
    point = points[0]
    if not take_point(point, boxes, point):
        return ids, distances, np.int64(-1)
    n, kept = np.int64(boxes.shape[0]), np.int64(0)
    for i in range(n):
        kept = keep_nearest(distances, ids, kept, distance_to_box(boxes, i, point), i)
    sort_by_distance(distances, ids, kept)
    return ids, distances, n
