"""How to divide the world into strips: which axis is swept, and how wide the strips are.

The decision uses a sample of the boxes, because a mean over all of them could be decided by one giant box.
The widths come from a cost model: narrow strips make copies, wide strips make comparisons.  A world that is
small enough stays in one piece.  If equal widths leave the boxes crowded in a few strips
(`broadphase.methods.strips` sees that from the exact counts), the borders come from the data instead:
equal shares of a larger sample, but never narrower than the boxes that lie there.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.passes import answers
from broadphase.kernels.arrays.sorting import sampled_row, share_reached
from broadphase.kernels.boxes.overlap import all_ordinary, high_edge, is_extreme, low_edge, overlaps_nothing
from broadphase.kernels.machine.floats import inverse_root
from broadphase.kernels.machine.jit import always_inline, inline, jit, unsigned
from broadphase.kernels.machine.memory import few, many, prefetch, some_rows, with_columns

# -----------------------------------------------------------------------------------------------------------
# Boxes into strips: which strips each box touches, how many copies that makes, and the copies.
#
# The strips divide the world on every axis except the swept one: rows in 2-D, a lattice of columns in 3-D.  A
# box is copied into every strip that it touches.  A copy is marked as *continued* on an axis if the box
# began in an earlier strip of that axis; two copies may be paired only where no axis is marked in both,
# which is true in exactly one of the strips that a pair shares (the two-layer rule of Tsitsigkos and
# Mamoulis, 2023).
#
# ``axes`` is the swept axis, then the cut ones.  A strip is found through one monotone function for both
# ends of a box (`strip_of`): two boxes that overlap always share a strip, whatever rounding does.
#
# Boxes are processed in blocks, in a loop of its own for each step.  The first loop computes the strip of
# every number of the block, including those on the swept axis: for all boxes, in vectors, this takes 0.5 ns a
# box; only what is needed, box by box, takes 2.5.  The second loop makes each box's first copy without a
# branch and notes the boxes that reach into further strips for a third loop, because a branch on how far each
# box reaches would be mispredicted at most of them.


# Class bits of a copy: continued on the first cut axis, on the second; the classes of `filters` follow.
NEW = np.int32(0)
CONTINUED_Y = np.int32(1)
CONTINUED_Z = np.int32(2)
FIRST_CLASS_BIT = 2

# Columns of a lattice; it has a row for each cut axis, in the boxes' own float type.
HALF_ORIGIN, SCALE, LAST = 0, 1, 2

_BLOCK = 256
BLOCK = unsigned(_BLOCK)
# Memory is prefetched this many copies ahead of the one that is written.  The next copy of a strip comes
# after those of hundreds of others, more streams than the processor can follow: the copies of a million boxes
# in 351 strips take 9 ns a box with prefetching, 23 without.
FURTHER = unsigned(12)
ONE, TWO = unsigned(1), unsigned(2)


class Division(NamedTuple):
    """How a world is divided into strips."""

    axes: tuple[int, ...]
    """The swept axis, then the cut ones."""
    lattice: npt.NDArray[Any]
    borders: npt.NDArray[Any]  # empty where the strips are of equal width

    @property
    def strips(self) -> int:
        """How many strips there are."""
        return math.prod(int(last) + 1 for last in self.lattice[:, LAST].tolist())


@inline
def as_one_row(boxes):
    """All numbers of boxes as a row; where there is no box, it must not be read."""
    return with_columns(boxes, max(boxes.shape[0] * boxes.shape[1], 1))


@always_inline
def strip_at(value, half_origin, scale, last):
    """Number of the strip of equal width that holds a coordinate.

    From numbers at hand: with loads from a lattice, LLVM would not make vectors of a loop over coordinates.
    """
    kind = type(value)
    return np.int32(min(max(kind(0), (value * kind(0.5) - half_origin) * scale), last))


@always_inline
def strip_of(value, lattice, borders, cut):
    """Number of the strip that holds a coordinate; the outermost strips reach to infinity.

    With ``borders``, as many as are not above the coordinate; else strips of equal width.  There, half
    the coordinate is used so that the width of the widest world does not overflow, and the clamp comes
    before the conversion to an integer, which is undefined for numbers that do not fit.  A NaN, which another
    thread may write after the boxes were checked, is in strip 0: what comes second in `max` is left out then.
    """
    if borders.shape[1] == 0:
        half_origin, scale, last = lattice[cut, HALF_ORIGIN], lattice[cut, SCALE], lattice[cut, LAST]
        return unsigned(strip_at(value, half_origin, scale, last))
    below, above = unsigned(0), unsigned(lattice[cut, LAST])
    while below < above:
        middle = (below + above) >> ONE
        if borders[cut, middle] <= value:
            below = middle + ONE
        else:
            above = middle
    return below


@always_inline
def strips_of(boxes, i, axes, lattice, borders):
    """First strip of a box and the one after its last, on each cut axis (0 and 1 on the second in 2-D).

    There is at least one, also where another thread has just made ``min > max`` of the box.
    """
    dim = unsigned(len(axes))  # known to the compiler, unlike the shape
    y, z = unsigned(axes[1]), unsigned(axes[-1])
    first = strip_of(boxes[i, y], lattice, borders, 0)
    end = max(first, strip_of(boxes[i, dim + y], lattice, borders, 0)) + ONE
    first_z, end_z = unsigned(0), ONE
    if len(axes) == 3:
        first_z = strip_of(boxes[i, z], lattice, borders, 1)
        end_z = max(first_z, strip_of(boxes[i, dim + z], lattice, borders, 1)) + ONE
    return first, end, first_z, end_z


@inline
def _strips_of_numbers(flat, lattice, cut, numbers):
    """The strip on a cut axis, of equal width, for each number of ``flat``, whatever axis it is of."""
    half_origin, scale, last = lattice[cut, HALF_ORIGIN], lattice[cut, SCALE], lattice[cut, LAST]
    for k in range(flat.shape[0]):
        numbers[k] = strip_at(flat[k], half_origin, scale, last)


@inline
def _find_spans(boxes, flat, axes, lattice, borders, start, stop, numbers, spans):
    """Write the strips of boxes ``start .. stop - 1`` to ``spans``, first and end; ``numbers`` is scratch."""
    dim = len(axes)  # known to the compiler, unlike the shape
    begin, end = 2 * dim * np.int64(start), 2 * dim * np.int64(stop)
    if borders.shape[1] > 0:
        for i in range(start, stop):
            first, past, first_z, past_z = strips_of(boxes, i, axes, lattice, borders)
            spans[i, 0] = first
            spans[i, 1] = past
            if dim == 3:
                spans[i, 2] = first_z
                spans[i, 3] = past_z
        return
    _strips_of_numbers(flat[0, begin:end], lattice, 0, numbers[0])
    if dim == 3:
        _strips_of_numbers(flat[0, begin:end], lattice, 1, numbers[1])
    low_y, high_y = unsigned(axes[1]), unsigned(axes[1] + dim)
    low_z, high_z = unsigned(axes[-1]), unsigned(axes[-1] + dim)
    for i in range(start, stop):
        offset = (i - start) * unsigned(2 * dim)
        spans[i, 0] = numbers[0, offset + low_y]
        spans[i, 1] = max(numbers[0, offset + low_y], numbers[0, offset + high_y]) + np.int32(1)
        if dim == 3:
            spans[i, 2] = numbers[1, offset + low_z]
            spans[i, 3] = max(numbers[1, offset + low_z], numbers[1, offset + high_z]) + np.int32(1)


_OFTEN = unsigned(1 << 20)  # boxes between two calls of `answers`


@jit
def count_copies(boxes, plan, touching, begin, end, numbers, spans, steps):
    """Write every box's strips to ``spans``, first and end; note in ``steps`` where its copies begin and end.

    Each box adds 1 where its strips begin and subtracts 1 where they end, at the corners of a rectangle in
    3-D; `broadphase.methods.strips` sums that up.  There is no loop over a box's strips, and so no branch to
    mispredict: half the time in 3-D.  ``numbers`` is scratch: a row for each cut axis, for all numbers of
    `BLOCK` boxes.  Returns whether a box holds the largest finite number, for
    which the sign of a difference does not decide (`broadphase.kernels.boxes.overlap`).
    """
    axes, lattice, borders = plan
    flat = as_one_row(boxes)
    row = unsigned(lattice[0, LAST]) + TWO
    width = 2 * len(axes)
    extreme = False
    for start in range(unsigned(begin), unsigned(end), BLOCK):
        stop = min(start + BLOCK, unsigned(end))
        _find_spans(boxes, flat, axes, lattice, borders, start, stop, numbers, spans)
        if not all_ordinary(flat, width * np.int64(start), width * np.int64(stop)):
            for i in range(start, stop):
                extreme |= is_extreme(boxes, i)
                if not touching and overlaps_nothing(boxes, i):
                    spans[i, 1] = spans[i, 0]  # no copy
        for i in range(start, stop):
            first, past, first_z, past_z = _span(spans, i, axes)
            steps[first_z * row + first] += 1
            steps[first_z * row + past] -= 1
            if len(axes) == 3:
                steps[past_z * row + first] -= 1
                steps[past_z * row + past] += 1
        if start % _OFTEN == 0 and not answers(end - begin):
            break
    return extreme


@inline
def _span(spans, i, axes):
    if len(axes) == 2:
        return unsigned(spans[i, 0]), unsigned(spans[i, 1]), unsigned(0), ONE
    return unsigned(spans[i, 0]), unsigned(spans[i, 1]), unsigned(spans[i, 2]), unsigned(spans[i, 3])


@always_inline
def id_column(tags):
    """The column of the tags that holds the number of the box; its class bits are the column after it."""
    return unsigned(tags.shape[1]) - TWO


@always_inline
def write_copy(boxes, i, axes, touching, class_bits, place, edges, tags):
    """Copy box ``i`` to row ``place``, its edges comparable by subtraction."""
    smallest, largest = np.finfo(boxes.dtype).min, np.finfo(boxes.dtype).max
    zero = boxes.dtype.type(0)
    # Written out, so that LLVM makes a few instructions for all columns: 5 ns a copy against 18.
    edges[place, 0] = low_edge(boxes[i, 0], smallest, largest, zero)
    edges[place, 1] = low_edge(boxes[i, 1], smallest, largest, zero)
    if len(axes) == 2:
        edges[place, 2] = high_edge(boxes[i, 2], touching, smallest, largest, zero)
        edges[place, 3] = high_edge(boxes[i, 3], touching, smallest, largest, zero)
    else:
        edges[place, 2] = low_edge(boxes[i, 2], smallest, largest, zero)
        edges[place, 3] = high_edge(boxes[i, 3], touching, smallest, largest, zero)
        edges[place, 4] = high_edge(boxes[i, 4], touching, smallest, largest, zero)
        edges[place, 5] = high_edge(boxes[i, 5], touching, smallest, largest, zero)
    prefetch(edges, place + FURTHER, 0)
    tags[place, id_column(tags)] = i
    tags[place, id_column(tags) + ONE] = class_bits


@inline
def class_bits_of(classes, i):
    """The classes of a box, in the bits above those of its copies."""
    if classes.shape[0] == 0:
        return NEW
    return np.int32(classes[i]) << FIRST_CLASS_BIT


@inline
def _next_strip(y, z, first, past):
    """The strip after ``y, z`` in a box's rectangle of strips, row by row."""
    y += ONE
    if y == past:
        return first, z + ONE
    return y, z


@jit
def scatter_copies(boxes, plan, touching, classes, begin, end, spans, starts, edges, tags):
    """Copy boxes ``begin..end`` into the strips of ``spans``; ``starts`` moves on to where copies go next.

    ``edges`` gets the boxes' rows, ``tags`` the number of the box and the class bits.
    """
    axes, lattice, _ = plan
    strips, later = unsigned(lattice[0, LAST]) + ONE, many(_BLOCK, np.int32)
    for start in range(unsigned(begin), unsigned(end), BLOCK):
        reaching = unsigned(0)
        for i in range(start, min(start + BLOCK, unsigned(end))):
            first, past, first_z, past_z = _span(spans, i, axes)
            if past > first:
                place = unsigned(starts[first_z * strips + first])
                starts[first_z * strips + first] = place + ONE
                write_copy(boxes, i, axes, touching, class_bits_of(classes, i), place, edges, tags)
            later[reaching] = i
            reaching += unsigned((past - first) * (past_z - first_z) > ONE)
        for k in range(reaching):
            i = unsigned(later[k])
            first, past, first_z, past_z = _span(spans, i, axes)
            class_bits = class_bits_of(classes, i)
            y, z = first, first_z
            for _ in range(ONE, (past - first) * (past_z - first_z)):
                y, z = _next_strip(y, z, first, past)
                continued = (CONTINUED_Y if y > first else NEW) | (CONTINUED_Z if z > first_z else NEW)
                place = unsigned(starts[z * strips + y])
                starts[z * strips + y] = place + ONE
                write_copy(boxes, i, axes, touching, class_bits | continued, place, edges, tags)
        if start % _OFTEN == 0 and not answers(np.int64(end - begin)):
            break


# Nanoseconds: to count a box's copies; to make a copy; to sort one; for a comparison, with what it finds; and
# for the overhead of more than one strip.  Only their ratios matter.
COUNT, SCATTER, SORT, TEST, MORE = 3.0, 4.0, 6.0, 0.6, 500.0
# Sorting takes up to three times as long in a strip of more boxes than the L2 cache holds.
FAR = 8_000.0
# In distant clusters strips of equal width are useless: nanoseconds to find a box's strips by borders from
# the data after counting them in vain, and to sort a box exactly.  An axis this uneven is treated as
# clusters.
HALF_STEP = 2.0**0.5  # from one width that is tried to the next
SHARES, EXACT, UNEVEN = 80.0, 30.0, 16.0
# Strips are crowded if a copy shares its strip with this many times more copies than if all were equal.
CROWDED = 2.5

# Whether the world may be swept in one piece.
IN_STRIPS, WHOLE, WHOLE_SORTED = 0, 1, 2

# Columns of the statistics of an axis.
LOW, HIGH, SPANNED, REACHED = 0, 1, 2, 3


@inline
def sample_axes(boxes, edges, spanned, statistics):
    """Statistics of each axis from a sample of the boxes, and how much of each axis each of them spans.

    ``statistics`` becomes, for each axis, the lowest and highest finite min; how much of the width between
    them a box spans on average, from 0 to 1; and `share_reached`.  ``spanned[axis]`` is of each sampled
    box; ``edges`` is scratch for the two edges of each.
    """
    n, dim = boxes.shape[0], boxes.shape[1] // 2
    most = np.finfo(boxes.dtype).max
    size = edges.shape[1]
    lows, highs = edges[0], edges[1]
    for axis in range(dim):
        low, high = np.inf, -np.inf
        for k in range(size):
            row = sampled_row(k, n)
            lows[k] = boxes[row, axis]
            highs[k] = boxes[row, dim + axis]
            if abs(lows[k]) <= most:
                low = min(low, lows[k])
                high = max(high, lows[k])
        half_width = high * 0.5 - low * 0.5
        statistics[axis, LOW] = low if half_width > 0.0 else 0.0
        statistics[axis, HIGH] = high if half_width > 0.0 else 0.0
        total = 0.0
        for k in range(size):
            share = (highs[k] * 0.5 - lows[k] * 0.5) / half_width if half_width > 0.0 else 1.0
            spanned[axis, k] = share if share < 1.0 else 1.0  # 1 too for a NaN: a box at infinity
            total += spanned[axis, k]
        statistics[axis, SPANNED] = total / size
        statistics[axis, REACHED] = share_reached(lows, highs, 2.0 * total / size)


@inline
def _uneven(statistics, axis):
    """Whether boxes meet far more often on an axis than if they were spread evenly."""
    return statistics[axis, REACHED] > UNEVEN * statistics[axis, SPANNED]


@inline
def _sort_cost(boxes, clusters):
    """Nanoseconds to sort one of ``boxes`` boxes of a strip."""
    return EXACT if clusters else SORT * (1.0 + 2.0 * min(boxes / FAR, 1.0))


@inline
def strip_counts(n, statistics, spanned, swept, cuts, best):
    """How many strips to cut each axis of ``cuts`` into, by the cost model: written to ``best``."""
    dim, size = spanned.shape
    a, b = cuts[0], cuts[dim - 2]
    both = 0.0  # how much of the lattice a box spans; boxes long on one cut axis are often long on both
    for k in range(size):
        both += spanned[a, k] * spanned[b, k] / size
    reached = statistics[swept, REACHED]
    clusters = _uneven(statistics, swept)
    shares = SHARES if _uneven(statistics, a) or _uneven(statistics, b) else 0.0
    best[0] = best[dim - 2] = 1
    best_cost = n * (_sort_cost(n, clusters) + TEST * n * reached)
    most = 60_000.0 if dim == 2 else 244.0  # strip numbers are 16 bits wide
    even = inverse_root(n, dim)
    times = 0.125 / HALF_STEP
    for _ in range(-6, 17):
        times *= HALF_STEP
        size_a = times * (statistics[a, SPANNED] + even)
        size_b = times * (statistics[b, SPANNED] + even)
        # An axis without width is not divided.
        strips_a = np.floor(min(max(1.0 / size_a, 1.0), most)) if statistics[a, SPANNED] < 1.0 else 1.0
        strips_b = np.floor(min(max(1.0 / size_b, 1.0), most)) if statistics[b, SPANNED] < 1.0 else 1.0
        copies = 1.0 + statistics[a, SPANNED] * (strips_a - 1.0)
        strips = strips_a
        if dim == 3:
            strips *= strips_b
            copies += (statistics[b, SPANNED] + both * (strips_a - 1.0)) * (strips_b - 1.0)
        tests = n * copies * copies / strips * reached
        copying = (SCATTER + _sort_cost(n * copies / strips, clusters)) * copies
        cost = MORE + n * (COUNT + shares + copying + TEST * tests)
        if strips > 1.0 and cost < best_cost:
            best_cost = cost
            best[0] = np.int64(strips_a)
            best[dim - 2] = np.int64(strips_b)


@jit
def equal_widths(boxes, size):
    """Divide the world into strips of equal width, from a sample of so many boxes.

    Returns the swept axis and then the cut ones; of each of these what
    `strip_of` takes; and whether the world may be swept in one piece, straight from the boxes: one strip and
    no infinite edges.
    """
    n, dim = boxes.shape[0], boxes.shape[1] // 2
    edges, spanned = some_rows(2, 128, np.float64)[:, :size], np.empty((dim, size), np.float64)
    statistics, lattice = some_rows(3, 4, np.float64)[:dim], np.empty((dim - 1, 3), boxes.dtype)
    axes, counts = np.empty(dim, np.int64), few(2, np.int64)
    sample_axes(boxes, edges, spanned, statistics)
    swept = np.int64(0)
    for axis in range(1, dim):
        if statistics[axis, REACHED] < statistics[swept, REACHED]:
            swept = axis
    axes[0], cuts = swept, axes[1:]
    for c in range(dim - 1):
        cuts[c] = c if c < swept else c + 1
    strip_counts(np.float64(n), statistics, spanned, swept, cuts, counts)
    strips = 1
    for c in range(dim - 1):
        low, high = statistics[cuts[c], LOW], statistics[cuts[c], HIGH]
        half_width = high * 0.5 - low * 0.5
        lattice[c, HALF_ORIGIN] = low * 0.5
        lattice[c, SCALE] = np.finfo(boxes.dtype).tiny  # not 0, which makes NaN of infinite edges
        lattice[c, LAST] = 0.0
        if half_width > 0.0:
            lattice[c, SCALE] = min(counts[c] / half_width, np.float64(np.finfo(boxes.dtype).max))
            lattice[c, LAST] = counts[c] - 1
        strips *= counts[c]
    if strips > 1 or not all_ordinary(as_one_row(boxes), np.int64(0), np.int64(2 * dim * n)):
        return axes, lattice, IN_STRIPS
    return axes, lattice, WHOLE_SORTED if _uneven(statistics, swept) else WHOLE


@inline
def are_crowded(crowding, copies, strips):
    """Whether strips of equal width leave the copies crowded in a few; ``crowding`` is summed over them."""
    return crowding * strips > CROWDED * copies * copies + 64.0 * copies * strips


@jit
def equal_shares(lows, highs, count, borders):
    """Fill ``borders`` so that ``count`` strips hold equal shares of a sample; returns how many borders.

    The sampled boxes are finite and sorted by where they begin.  A strip is at least as wide as those that
    begin in it are on average, so that crowds of overlapping boxes are not copied into ever narrower strips.
    """
    strips = 0
    taken = 0
    extents = 0.0
    border = -np.inf
    for k in range(lows.shape[0]):
        low = lows[k]
        if taken * count >= lows.shape[0] and low * 0.5 - border * 0.5 > 0.5 * extents / taken:
            border = borders[strips] = low
            strips += 1
            taken = 0
            extents = 0.0
        taken += 1
        extents += highs[k] - low
    return strips
