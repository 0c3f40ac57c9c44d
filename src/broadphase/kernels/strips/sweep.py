"""Strips sorted along the swept axis, and the diagonal sweep over them."""

import numpy as np

from broadphase.kernels.arrays.passes import PIECE, answers
from broadphase.kernels.arrays.results import LEAST_CAPACITY, larger
from broadphase.kernels.arrays.sorting import DIGITS, bits_of, ordered, sort_keys
from broadphase.kernels.boxes.overlap import agree
from broadphase.kernels.machine.floats import next_down
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import common, inline, jit, unsigned
from broadphase.kernels.machine.simd import (
    COMPRESSES,
    LANES,
    bits,
    count_lanes,
    load,
    lowest_lane,
    mask_of,
    negative,
    nonzero,
    put_pairs,
    signs,
    splat,
    without,
)
from broadphase.kernels.strips.bin import id_column

# -----------------------------------------------------------------------------------------------------------
# One strip's copies, sorted along the swept axis into a structure of arrays.
#
# A counting sort into buckets of equal width, about one bucket for each box.  If that would leave crowded
# buckets (distant clusters share a strip), the strip is sorted exactly, and the ranks serve as buckets.
# Either way a box's *reach* is the last bucket in which a partner can begin,
# so the sweep only compares integers to know when to stop.


# Rows of `marks`: what the sweep reads, then scratch of the sort.  They are one array, because each array
# that a kernel is given costs something.
BUCKET, REACH, ID, CLASS, BUCKET_OF, HISTOGRAM = 0, 1, 2, 3, 4, 5
MARKS = 6

PADDING = 2 * LANES  # the sweep reads past a strip's last box
NO_BUCKET = np.int32(2**31 - 1)  # beyond the reach of every box
MOST_BUCKETS = 2**15
# A strip is crowded when a box shares its bucket with more others than this on average.  Each of them costs
# one lane of the sweep, about 0.2 ns; sorting costs about 30 ns a box.
CROWDED = 128
# More boxes are always sorted exactly: that sort answers signals.
MANY = 1 << 20
# The cost of sorting a copy, in comparisons.
_WORK_OF_A_COPY = 30
ONE = unsigned(1)

# What has to be done with a strip's edges before they are comparable by subtraction
# (`kernels.boxes.overlap`).
COMPARABLE, RAW_TOUCHING, RAW_APART = 0, 1, 2


@inline
def buckets_for(n):
    """How many buckets sort ``n`` boxes: a power of two, one or two for each."""
    buckets = 16
    while buckets < n and buckets < MOST_BUCKETS:
        buckets *= 2
    return buckets


@inline
def length_for(n):
    """How long the rows of `columns` and `marks` must be for strips of up to ``n`` boxes."""
    return max(n + PADDING, buckets_for(n) + 1)


@inline
def sort_strip(axes, edges, tags, begins, ends, strip, form, columns, marks, n):
    """Sort the ``n`` copies of a strip into ``columns`` (edges) and ``marks`` (integers).

    They are in one segment for each part that binned boxes: ``begins[part, strip]`` to ``ends[part, strip]``.
    ``form`` is the form of the edges.  Returns whether it is done; a crowded strip is not.  The arguments are
    plain arrays and not a named tuple: Numba counts references at each access to a field, which made this
    three times slower.
    """
    kind = edges.dtype.type
    x = unsigned(axes[0])
    if n > MANY:
        return False
    low, high = _extent(edges, x, begins, ends, strip)
    buckets = buckets_for(n)
    # Halves, so that the width does not overflow; a bounded scale, so that 0 * scale stays 0.
    half_low = low * kind(0.5)
    half_width = high * kind(0.5) - half_low
    scale = kind(0)
    if half_width > 0:
        scale = min(kind(buckets) / half_width, np.finfo(edges.dtype).max)
    last = kind(buckets - 1)
    for bucket in range(buckets + 1):
        marks[HISTOGRAM, bucket] = 0
    k = unsigned(0)
    for part in range(begins.shape[0]):
        for t in range(unsigned(begins[part, strip]), unsigned(ends[part, strip])):
            # In an order of the two bounds in which a NaN, written by another thread, becomes a bucket too.
            bucket = np.int32(max(kind(0), min(last, (edges[t, x] * kind(0.5) - half_low) * scale)))
            marks[BUCKET_OF, k] = bucket
            marks[HISTOGRAM, unsigned(bucket) + ONE] += 1
            k += ONE
    crowding = 0
    for bucket in range(buckets):
        count = np.int64(marks[HISTOGRAM, bucket + 1])
        crowding += count * count
        marks[HISTOGRAM, bucket + 1] += marks[HISTOGRAM, bucket]
    if crowding > CROWDED * n:
        return False
    k = unsigned(0)
    for part in range(begins.shape[0]):
        for t in range(unsigned(begins[part, strip]), unsigned(ends[part, strip])):
            bucket = unsigned(marks[BUCKET_OF, k])
            place = unsigned(marks[HISTOGRAM, bucket])
            marks[HISTOGRAM, bucket] = place + ONE
            _place(axes, edges, tags, t, place, columns, marks)
            k += ONE
    if form != COMPARABLE:
        _make_comparable(columns, 0, n, form)
    # From the sorted columns, 16 at a time, and not one by one while they are placed: 5 ns a copy for the
    # whole sort against 7.
    for place in range(n):
        bucket_at = (columns[0, place] * kind(0.5) - half_low) * scale
        marks[BUCKET, place] = np.int32(max(kind(0), min(last, bucket_at)))
        reach = (columns[1, place] * kind(0.5) - half_low) * scale
        marks[REACH, place] = np.int32(min(max(kind(0), reach), last))
    close(marks, n)
    return True


@inline
def _extent(edges, x, begins, ends, strip):
    """The least and the largest of a column over a strip's copies."""
    low = low_b = low_c = low_d = np.finfo(edges.dtype).max
    high = high_b = high_c = high_d = np.finfo(edges.dtype).min
    for part in range(begins.shape[0]):
        begin, end = unsigned(begins[part, strip]), unsigned(ends[part, strip])
        # Four accumulators, because each `min` waits for the one before it: a search takes 3 % less time.
        quarter = (end - begin) >> unsigned(2)
        for t in range(begin, begin + quarter):
            a, b = edges[t, x], edges[t + quarter, x]
            c, d = edges[t + quarter + quarter, x], edges[end - ONE - (t - begin), x]
            low, low_b, low_c, low_d = min(low, a), min(low_b, b), min(low_c, c), min(low_d, d)
            high, high_b, high_c, high_d = max(high, a), max(high_b, b), max(high_c, c), max(high_d, d)
        for t in range(begin + unsigned(3) * quarter, end - quarter):
            low, high = min(low, edges[t, x]), max(high, edges[t, x])
    return min(min(low, low_b), min(low_c, low_d)), max(max(high, high_b), max(high_c, high_d))


@inline
def copies_of(begins, ends, strip):
    """How many copies a strip holds."""
    n = np.int64(0)
    for part in range(begins.shape[0]):
        n += ends[part, strip] - begins[part, strip]
    return n


@common
def sort_exactly(axes, edges, tags, begins, ends, strip, form, columns, marks, n):
    """As `sort_strip` for any copies: a box's bucket is its rank.  Returns whether the result is wanted.

    With distant clusters in one strip, or one box a million times further out than the others, buckets of
    equal width put nearly all boxes into one.
    """
    numbers = bits_of(edges)
    keys, rows, order = np.empty(n, numbers.dtype), np.empty(n, np.int64), np.empty(n, np.int32)
    top = 8 * edges.itemsize - 1
    k = np.int64(0)
    for part in range(begins.shape[0]):
        for t in range(begins[part, strip], ends[part, strip]):
            keys[k], rows[k] = ordered(numbers[t, axes[0]], top), t
            k += 1
    if not sort_keys(keys, n, np.empty((2, n), np.int64), np.empty(DIGITS, np.int64), order):
        return False
    for begin in range(0, n, PIECE):
        for k in range(begin, min(begin + PIECE, n)):
            _place(axes, edges, tags, unsigned(rows[order[k]]), unsigned(k), columns, marks)
        if not answers(n):
            return False
    if form != COMPARABLE:
        _make_comparable(columns, 0, n, form)
    for rank in range(n):
        step = 1  # gallop, then halve: most boxes reach only a few others
        while rank + step < n and columns[0, rank + step] <= columns[1, rank]:
            step *= 2
        below, above = rank + step // 2, min(rank + step, n)
        while below < above:
            middle = (below + above) // 2
            if columns[0, middle] <= columns[1, rank]:
                below = middle + 1
            else:
                above = middle
        marks[BUCKET, rank] = rank
        marks[REACH, rank] = below - 1
        if rank % PIECE == 0 and not answers(n):
            return False
    close(marks, n)
    return True


@inline
def _make_comparable(columns, begin, end, form):
    """Convert finite edges so that one subtraction decides an overlap."""
    zero = columns.dtype.type(0)
    for row in range(columns.shape[0]):
        for place in range(begin, end):
            columns[row, place] += zero
        if form == RAW_APART and row % 2 == 1:
            for place in range(begin, end):
                columns[row, place] = next_down(columns[row, place])


@inline
def close(marks, n):
    """No box reaches beyond the last one."""
    for place in range(n, n + PADDING):
        marks[BUCKET, place] = NO_BUCKET
        marks[REACH, place] = -1


@inline
def _place(axes, edges, tags, t, place, columns, marks):
    # Written out and not as a loop over the columns, whose number the compiler does not know: 7 ns a
    # copy for the whole sort against 18.
    dim = unsigned(len(axes))
    x, y, z = unsigned(axes[0]), unsigned(axes[1]), unsigned(axes[-1])
    columns[0, place] = edges[t, x]
    columns[1, place] = edges[t, dim + x]
    columns[2, place] = edges[t, y]
    columns[3, place] = edges[t, dim + y]
    if len(axes) == 3:
        columns[4, place] = edges[t, z]
        columns[5, place] = edges[t, dim + z]
    marks[ID, place] = tags[t, id_column(tags)]
    marks[CLASS, place] = tags[t, id_column(tags) + ONE]


# -----------------------------------------------------------------------------------------------------------
# The diagonal sweep: 16 boxes of a strip against 16 boxes at a time.
#
# `LANES` consecutive boxes are compared with the `LANES` boxes one further on, then two further on, and so
# on until no lane reaches its partner: every lane works even if each box reaches only three others.
# If only a few lanes continue (a long box among short ones), each of those boxes is compared with `LANES`
# others at a time instead.
#
# Two boxes are apart if one of the differences ``max - min`` is negative.  The sign of an IEEE difference is
# exact, so the sign bits are joined with ``|`` and tested once: on AVX-512 this takes half the time of four
# comparisons.
#
# Source: the box pruning of Terdiman and Giesen, rotated by 45 degrees.


STEPS = LEAST_CAPACITY // LANES - 1  # comparisons between two checks of room and lanes
_PAIRS = 72  # comparisons for a pair, where pairs are many
FEW_LANES = 4  # so few lanes continue one by one
DIAGONAL, ROW = np.int64(1), np.int64(0)  # not literals: Numba compiles a function once more for a literal


@jit
def sweep_strips(axes, strips, rules, first, last, out, limit, store):
    """All pairs of the strips ``first .. last - 1``: the pairs, how many, and the tests.

    ``strips``: the edges and tags of their copies, where each begins and ends, the form of the edges, and
    whether copies are sorted exactly and not into buckets.  ``rules``: categories and masks.  Where pairs are
    only counted, ``out`` is scratch.
    """
    edges, tags, begins, ends, form, exactly = strips
    fullest = np.int64(0)
    for strip in range(first, last):
        fullest = max(fullest, copies_of(begins, ends, strip))
    columns = np.empty((2 * len(axes), length_for(fullest)), edges.dtype)
    marks = np.empty((MARKS, length_for(fullest)), np.int32)
    work = checked = np.int64(0)
    so_far = out, np.int64(0), np.int64(0), np.int64(0)
    for strip in range(first, last):
        n = copies_of(begins, ends, strip)
        if n < 2:
            continue
        done = not exactly and sort_strip(axes, edges, tags, begins, ends, strip, form, columns, marks, n)
        if not done and not sort_exactly(axes, edges, tags, begins, ends, strip, form, columns, marks, n):
            break
        so_far = sweep_sorted(axes, n, columns, marks, rules, so_far, limit, store)
        _, counted, found, tests = so_far
        if counted + found > limit:
            break
        work += _WORK_OF_A_COPY * n
        if tests + work > checked + OFTEN:
            checked = tests + work
            if not goes_on():
                break
    out, counted, found, tests = so_far
    return out, counted + found, tests


@common
def sweep_sorted(axes, n, columns, marks, rules, so_far, limit, store):
    """All pairs of the ``n`` copies in ``columns``, added to what was found ``so_far``.

    That is the pairs, how many were found and left no trace, how many ``out`` holds, and the tests.
    """
    (categories, masks), (out, counted, found, tests) = rules, so_far
    checked = tests
    for i in range(0, n, LANES):
        j = np.int64(i + 1)
        lanes = np.int64(-1)  # all are still together
        while count_lanes(lanes) > FEW_LANES:
            if found + LEAST_CAPACITY > out.shape[0]:
                out, counted, found = _more_room(out, counted, found, store)
            found, tests, j, lanes = _diagonals(
                axes, columns, marks, i, j, categories, masks, out, found, tests
            )
        while lanes != 0:
            lane = lowest_lane(lanes)
            lanes &= lanes - 1
            partner = np.int64(j + lane)
            while marks[BUCKET, partner] <= marks[REACH, i + lane]:
                if found + LEAST_CAPACITY > out.shape[0]:
                    out, counted, found = _more_room(out, counted, found, store)
                found, tests, partner = _row(
                    axes, columns, marks, i + lane, partner, categories, masks, out, found, tests
                )
        if counted + found > limit:
            break
        if tests > checked + OFTEN:
            checked = tests
            if not goes_on():
                break
    return out, counted, found, tests


@inline
def _more_room(out, counted, found, store):
    """A larger array; where pairs are only counted the same, from its beginning."""
    if store or out.shape[0] < LEAST_CAPACITY:
        return larger(out, found), counted, found
    return out, counted + found, np.int64(0)


@inline
def _diagonals(axes, columns, marks, i, j, categories, masks, out, found, tests):
    """Boxes ``i + lane`` against ``j + lane``, then ``j + 1 + lane``, ... at most `STEPS` times.

    Returns how many pairs ``out`` holds now, the tests so far, the next ``j``, and which lanes reach it.
    """
    reach, ids, classes = load(marks, REACH, i), load(marks, ID, i), load(marks, CLASS, i)
    x0, x1 = load(columns, 0, i), load(columns, 1, i)
    y0, y1 = load(columns, 2, i), load(columns, 3, i)
    z0, z1 = load(columns, 2 * len(axes) - 2, i), load(columns, 2 * len(axes) - 1, i)
    # If a fifth or more of the steps find something, the branch is unpredictable.  Then it is cheaper to
    # always write the results, even if there are none: a search takes 3 to 25 % less time, among clusters up
    # to 40.
    often = COMPRESSES and found * _PAIRS > tests
    for j in range(j, j + STEPS):  # noqa: B020 - the caller goes on where this stops
        active = load(marks, BUCKET, j) <= reach
        lanes = bits(active)
        if lanes == 0:
            return found, tests, j, lanes
        tests += count_lanes(lanes)
        apart = signs(x1 - load(columns, 0, j)) | signs(load(columns, 1, j) - x0)
        apart = apart | signs(y1 - load(columns, 2, j)) | signs(load(columns, 3, j) - y0)
        if len(axes) == 3:
            apart = apart | signs(z1 - load(columns, 4, j)) | signs(load(columns, 5, j) - z0)
        forbidden = nonzero(classes & load(marks, CLASS, j))
        hits = without(without(active, negative(apart)), forbidden)
        if often or bits(hits) != 0:
            if categories.shape[0] > 0:
                hits = _let_through(bits(hits), marks, i, j, DIAGONAL, categories, masks)
            found += put_pairs(out, found, ids, load(marks, ID, j), hits)
    return found, tests, j + 1, bits(load(marks, BUCKET, j + 1) <= reach)


@inline
def _row(axes, columns, marks, i, j, categories, masks, out, found, tests):
    """Box ``i`` against the `LANES` boxes from ``j``, then the next ones, at most `STEPS` times.

    Returns how many pairs ``out`` holds now, the tests so far, and the next ``j``.
    """
    last = marks[REACH, i]
    reach, ids, classes = splat(last), splat(marks[ID, i]), splat(marks[CLASS, i])
    x0, x1 = splat(columns[0, i]), splat(columns[1, i])
    y0, y1 = splat(columns[2, i]), splat(columns[3, i])
    z0, z1 = splat(columns[2 * len(axes) - 2, i]), splat(columns[2 * len(axes) - 1, i])
    for _ in range(STEPS):
        if marks[BUCKET, j] > last:
            break
        apart = signs(x1 - load(columns, 0, j)) | signs(load(columns, 1, j) - x0)
        apart = apart | signs(y1 - load(columns, 2, j)) | signs(load(columns, 3, j) - y0)
        if len(axes) == 3:
            apart = apart | signs(z1 - load(columns, 4, j)) | signs(load(columns, 5, j) - z0)
        forbidden = nonzero(classes & load(marks, CLASS, j))
        active = load(marks, BUCKET, j) <= reach
        tests += count_lanes(bits(active))
        hits = without(without(active, negative(apart)), forbidden)
        if bits(hits) != 0:
            if categories.shape[0] > 0:
                hits = _let_through(bits(hits), marks, i, j, ROW, categories, masks)
            found += put_pairs(out, found, ids, load(marks, ID, j), hits)
        j += LANES
    return found, tests, j


@inline
def _let_through(lanes, marks, i, j, step, categories, masks):
    """The lanes whose two boxes may pair; lane k holds boxes ``i + k * step`` and ``j + k``."""
    kept = np.int64(0)
    while lanes != 0:
        lane = lowest_lane(lanes)
        if agree(categories, masks, marks[ID, i + lane * step], marks[ID, j + lane]):
            kept |= lanes & -lanes
        lanes &= lanes - 1
    return mask_of(kept)
