"""Every box against every later box: the definition of the problem, and the oracle of the tests.

One box is compared with `LANES` others at a time, with only the comparisons of the definition.
This is the shortest example of a search for pairs.
"""

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.arrays.results import STACK_CAPACITY, begun, put_row, result
from broadphase.kernels.boxes.checks import take_box, take_point
from broadphase.kernels.boxes.overlap import may_pair
from broadphase.kernels.boxes.queries import (
    box_meets,
    distance_to_box,
    keep_nearest,
    passes,
    set_array,
    sort_by_distance,
)
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import holds_gil, inline, jit, numbers
from broadphase.kernels.machine.memory import few, many, one_row
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
        while (
            store and found + n - i + LANES > out.shape[0]
        ):  # in the loop over j it would take a fourth of the time
            out = larger(out, found)
        if filtered:
            found = _compare_one(columns, ids, n, touching, filter, i, out, found, store, True)
        else:
            found = _compare_one(columns, ids, n, touching, filter, i, out, found, store, False)
        tests += n - 1 - i
        if found > limit:
            break
        if tests > checked + OFTEN:
            checked = tests
            if not goes_on():
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
                together = _let_through(bits(together), i, j, filter)
            if store:
                found += put_pairs(out, found, first, load(ids, 0, j), together)
            else:
                found += count_lanes(bits(together))
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


# -----------------------------------------------------------------------------------------------------------
# Queries by brute force: every box is tested.  The oracle, and the fallback of small indexes.


# np.int64(0) and not 0, for which Numba would compile once more.
_FIRST, _NO_RULE = np.int64(0), np.int64(-1)


@jit
@numbers(values=(4, 6))
def scan_for_box(boxes, n, categories, masks, values, touching, category, mask):
    """Ids of the first ``n`` rows that overlap the box; returns ``ids, tests``."""
    query = few(len(values), np.float64)
    set_array(values, query)
    return _scan(boxes, n, categories, masks, query, touching, category, mask), n


@holds_gil
@numbers(values=(4, 6))
def scan_rows_for_box(boxes, values, touching):
    """Ids of all rows that overlap a box, which is read and checked here; returns ``ids, tests``."""
    query = one_row(len(values), boxes.dtype)
    if not take_box(values, boxes, query):
        return result(0, np.int32), np.int64(-1)
    n, no_sets = np.int64(boxes.shape[0]), few(0, np.uint32)
    return _scan(boxes, n, no_sets, no_sets, query[_FIRST], touching, _NO_RULE, _NO_RULE), n


@holds_gil
@numbers(values=(2, 3))
def scan_rows_for_nearest(boxes, values, k):
    """The ``k`` rows nearest to a point by distance, then id; returns ``ids, distances, tests``."""
    point = few(len(values), np.float64)
    ids, distances = result(k, np.int32), result(k, np.float64)
    if not take_point(values, boxes, point):
        return ids, distances, np.int64(-1)
    n, kept = np.int64(boxes.shape[0]), _FIRST
    for i in range(n):
        kept = keep_nearest(distances, ids, kept, distance_to_box(boxes, i, point), i)
    sort_by_distance(distances, ids, kept)
    return ids, distances, n


@inline
def _scan(boxes, n, categories, masks, query, touching, category, mask):
    """Ids of the first ``n`` rows that overlap the box, in order."""
    out = many(STACK_CAPACITY, np.int32)
    found = _meet(boxes, _FIRST, n, categories, masks, query, touching, category, mask, out, _FIRST)
    if found <= STACK_CAPACITY:
        return begun(out, found, found)
    ids = begun(out, STACK_CAPACITY, found)
    after = out[STACK_CAPACITY - 1] + 1
    _meet(boxes, after, n, categories, masks, query, touching, category, mask, ids, STACK_CAPACITY)
    return ids


@inline
def _meet(boxes, begin, end, categories, masks, query, touching, category, mask, out, found):
    """The same for ids ``begin .. end - 1``, in order, until ``out`` is full; returns how many meet."""
    for i in range(begin, end):
        if box_meets(boxes, i, query, touching) and passes(categories, masks, i, category, mask):
            if found < len(out):
                out[found] = i
            found += 1
    return found


@jit
def scan_for_boxes(boxes, n, categories, masks, queries, touching, category, mask, rows):
    """Rows ``[query, id]`` of what overlaps each query: the rows, how many there are, and the tests."""
    found = tests = checked = np.int64(0)
    for q in range(queries.shape[0]):
        query = queries[q]
        for i in range(n):
            if box_meets(boxes, i, query, touching) and passes(categories, masks, i, category, mask):
                if found == rows.shape[0]:
                    rows = larger(rows, found)
                put_row(rows, found, q, i)
                found += 1
        tests += n
        if tests > checked + OFTEN:
            checked = tests
            if not goes_on():
                break
    return rows, found, tests
