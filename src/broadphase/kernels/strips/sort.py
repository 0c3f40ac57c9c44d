"""One strip's copies, sorted along the swept axis into a structure of arrays.

A counting sort into buckets of equal width, about one bucket a box.  Where that would leave crowded
buckets (far clusters share a strip), the strip is put off until `broadphase.kernels.strips.crowded` has
sorted it exactly, and the ranks serve as buckets.  Either way a box's *reach* is the last bucket in which
a partner can begin, so the sweep only compares integers to know when to stop.
"""

import numpy as np

from broadphase.kernels.machine.floats import next_down
from broadphase.kernels.machine.jit import inline, unsigned
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.strips.bin import id_column

# Rows of `marks`: what the sweep reads, then scratch of the sort.  In one array, because each that a kernel
# is given or makes costs something.
BUCKET, REACH, ID, CLASS, BUCKET_OF, HISTOGRAM = 0, 1, 2, 3, 4, 5
MARKS = 6

PADDING = 2 * LANES  # the sweep reads past a strip's last box
NO_BUCKET = np.int32(2**31 - 1)  # no box reaches it
MOST_BUCKETS = 2**15
# A strip is crowded when a box shares its bucket with more others than this on average.  Each of them costs
# one lane of the sweep, about 0.2 ns; sorting costs about 30 ns a box.
CROWDED = 128
# So many boxes are always sorted exactly: that stops and goes on anywhere, what is done here does not.
MANY = 1 << 20
# Sorting a copy, counted in comparisons.
WORK_OF_A_COPY = 30
ONE = unsigned(1)

# What a strip's edges still need before they can be compared by subtraction (`kernels.boxes.edges`).
COMPARABLE, RAW_TOUCHING, RAW_APART = 0, 1, 2


@inline
def buckets_for(n):
    """How many buckets sort ``n`` boxes: a power of two, one or two for each."""
    buckets = 16
    while buckets < n and buckets < MOST_BUCKETS:
        buckets *= 2
    return buckets


@inline
def room_for(n):
    """How long the rows of `columns` and `marks` must be for strips of up to ``n`` boxes."""
    return max(n + PADDING, buckets_for(n) + 1)


@inline
def sort_strip(axes, edges, tags, begins, ends, strip, form, columns, marks, crowded):
    """Sort the copies of a strip into ``columns`` (edges) and ``marks`` (integers); returns how many.

    They lie in one segment for each part that binned boxes: ``begins[part, strip]`` to
    ``ends[part, strip]``.  ``form`` is the form of the edges.  A crowded strip is noted in
    ``crowded`` instead.  Plain arrays and not one named tuple of them: Numba
    counts references at each access to a field, which made this three times slower.
    """
    kind = edges.dtype.type
    x = unsigned(axes[0])
    n = copies_of(begins, ends, strip)
    if n > MANY:
        crowded[strip] = True
        return np.int64(0)
    if n < 2:
        return n
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
        crowded[strip] = True
        return np.int64(0)
    k = unsigned(0)
    for part in range(begins.shape[0]):
        for t in range(unsigned(begins[part, strip]), unsigned(ends[part, strip])):
            bucket = unsigned(marks[BUCKET_OF, k])
            at = unsigned(marks[HISTOGRAM, bucket])
            marks[HISTOGRAM, bucket] = at + ONE
            _place(axes, edges, tags, t, at, columns, marks)
            k += ONE
    if form != COMPARABLE:
        _make_comparable(columns, 0, n, form)
    # From the sorted columns, 16 at a time, and not one by one while they are placed: 5 ns a copy for the
    # whole sort against 7.
    for at in range(n):
        bucket_at = (columns[0, at] * kind(0.5) - half_low) * scale
        marks[BUCKET, at] = np.int32(max(kind(0), min(last, bucket_at)))
        reach = (columns[1, at] * kind(0.5) - half_low) * scale
        marks[REACH, at] = np.int32(min(max(kind(0), reach), last))
    close(marks, n)
    return n


@inline
def _extent(edges, x, begins, ends, strip):
    """The least and the largest of a column over a strip's copies."""
    low = low_b = low_c = low_d = np.finfo(edges.dtype).max
    high = high_b = high_c = high_d = np.finfo(edges.dtype).min
    for part in range(begins.shape[0]):
        begin, end = unsigned(begins[part, strip]), unsigned(ends[part, strip])
        # Four side by side, for each `min` waits for the one before it: a search takes 3 % less time.
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


@inline
def take_sorted_strip(axes, edges, tags, begins, ends, strip, form, columns, marks, placed, ranked, most):
    """As `sort_strip`, for copies that lie in order already: a box's bucket is its rank.

    Goes on where so many copies are placed and so many of these ranked, for about ``most`` comparisons'
    time; returns how many are now.  It is done when all are ranked.
    """
    n = copies_of(begins, ends, strip)
    if placed < n:
        stop = min(n, placed + max(most // WORK_OF_A_COPY, 1))
        before = np.int64(0)
        for part in range(begins.shape[0]):
            count = ends[part, strip] - begins[part, strip]
            for k in range(max(placed - before, 0), min(stop - before, count)):
                t = unsigned(begins[part, strip] + k)
                _place(axes, edges, tags, t, unsigned(before + k), columns, marks)
            before += count
        if form != COMPARABLE:
            _make_comparable(columns, placed, stop, form)
        return stop, ranked
    stop = min(n, ranked + max(most // WORK_OF_A_COPY, 1))
    for rank in range(ranked, stop):
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
    if stop == n:
        close(marks, n)
    return placed, stop


@inline
def _make_comparable(columns, begin, end, form):
    """Bring finite edges into the form in which one subtraction decides an overlap."""
    zero = columns.dtype.type(0)
    for row in range(columns.shape[0]):
        for at in range(begin, end):
            columns[row, at] += zero
        if form == RAW_APART and row % 2 == 1:
            for at in range(begin, end):
                columns[row, at] = next_down(columns[row, at])


@inline
def close(marks, n):
    """No box reaches beyond the last one."""
    for at in range(n, n + PADDING):
        marks[BUCKET, at] = NO_BUCKET
        marks[REACH, at] = -1


@inline
def _place(axes, edges, tags, t, at, columns, marks):
    # Written out and not as a loop over the columns, whose number the compiler does not know: 7 ns a
    # copy for the whole sort against 18.
    dim = unsigned(len(axes))
    x, y, z = unsigned(axes[0]), unsigned(axes[1]), unsigned(axes[-1])
    columns[0, at] = edges[t, x]
    columns[1, at] = edges[t, dim + x]
    columns[2, at] = edges[t, y]
    columns[3, at] = edges[t, dim + y]
    if len(axes) == 3:
        columns[4, at] = edges[t, z]
        columns[5, at] = edges[t, dim + z]
    marks[ID, at] = tags[t, id_column(tags)]
    marks[CLASS, at] = tags[t, id_column(tags) + ONE]
