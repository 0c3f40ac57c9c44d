"""Where to cut the world into strips: which axis is swept, and how wide the strips are.

From a sample of the boxes, because a mean over all of them would let one giant decide.  The widths come
from a model of the cost: narrow strips make copies, wide strips make comparisons.  A world that is small
enough stays in one piece.  Where equal widths leave the boxes crowded in a few strips
(`broadphase.methods.strips` sees that from the exact counts), the borders come from the data instead:
equal shares of a larger sample, but never narrower than the boxes that lie there.
"""

import numpy as np

from broadphase.kernels.arrays.sorting import argsort
from broadphase.kernels.machine.floats import inverse_root
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.strips.bin import HALF_ORIGIN, LAST, SCALE, all_ordinary

# Nanoseconds: to count a box's copies; to make a copy; to sort one; for a comparison, with what it finds; and
# for all that more than one strip takes besides.  What counts is how they compare with each other.
COUNT, SCATTER, SORT, TEST, MORE = 3.0, 4.0, 6.0, 0.6, 500.0
# Sorting takes up to three times as long in a strip of more boxes than the nearest cache holds.
FAR = 8_000.0
# In far clusters strips of equal width are of no use: nanoseconds to find a box's strips by borders from the
# data, after it was counted in vain, and to sort a box exactly.  So uneven an axis is taken for clusters.
HALF_STEP = 2.0**0.5  # from one width that is tried to the next
SHARES, EXACT, UNEVEN = 80.0, 30.0, 16.0
# Strips are crowded when a copy shares its strip with so many times more copies than if all were equal.
CROWDED = 2.5

# Whether the world may be swept in one piece.
IN_STRIPS, WHOLE, WHOLE_SORTED = 0, 1, 2

# Columns of the statistics of an axis.
LOW, HIGH, SPANNED, REACHED = 0, 1, 2, 3


@inline
def sampled_row(k, n):
    """Row ``k`` of a sample: always the same, and so scattered that no pattern of the input shows."""
    return np.int64((np.uint64(k + 1) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) % np.uint64(n))


@inline
def _share_reached(lows, highs, expected):
    """Which share of the boxes a box has to be compared with when they are sorted on this axis.

    Those that it overlaps there and that begin after it: half of the overlaps, counted pair by pair in the
    sample, so that clusters and outliers count as what they are.  Where there is none, what is
    ``expected`` of boxes that are spread evenly, but not so much that one would have been seen.
    """
    size = lows.shape[0]
    overlaps = -size
    for a in range(size):
        low, high = lows[a], highs[a]
        for b in range(size):
            overlaps += np.int32(lows[b] <= high) & np.int32(low <= highs[b])
    pairs = np.float64(max(size * (size - 1), 1))
    return 0.5 * max(np.float64(overlaps), min(0.5, expected * pairs)) / pairs


@inline
def sample_axes(boxes, edges, spanned, statistics):
    """Statistics of each axis from a sample of the boxes, and how much of each axis each of them spans.

    ``statistics`` becomes, for each axis, the lowest and highest finite min; how much of the width between
    them a box spans on average, from 0 to 1; and `_share_reached`.  ``spanned[axis]`` is of each sampled
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
        statistics[axis, REACHED] = _share_reached(lows, highs, 2.0 * total / size)


@inline
def _uneven(statistics, axis):
    """Whether boxes meet far more often on an axis than if they were spread evenly."""
    return statistics[axis, REACHED] > UNEVEN * statistics[axis, SPANNED]


@inline
def _sort_cost(boxes, clusters):
    """Nanoseconds to sort one of so many boxes of a strip."""
    return EXACT if clusters else SORT * (1.0 + 2.0 * min(boxes / FAR, 1.0))


@inline
def strip_counts(n, statistics, spanned, swept, cuts, best):
    """How many strips to cut each axis of ``cuts`` into, by the cost model: written to ``best``."""
    dim, size = spanned.shape
    a, b = cuts[0], cuts[dim - 2]
    both = 0.0  # how much of the lattice a box spans, for boxes long on both axes are long together
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
        # An axis without width is not cut.
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
def equal_widths(boxes, flat, edges, spanned, statistics, cuts, counts, lattice):
    """`plan_equal_widths` for callers in Python."""
    return plan_equal_widths(boxes, flat, edges, spanned, statistics, cuts, counts, lattice)


@common
def plan_equal_widths(boxes, flat, edges, spanned, statistics, cuts, counts, lattice):
    """Cut the world into strips of equal width, from a sample of the boxes.

    ``flat`` is ``boxes`` as one row; the next three arrays are scratch for the sample, as large as it shall
    be.  ``cuts`` becomes the cut axes, ``counts`` how many strips the model wants on each of them, and
    ``lattice`` what `broadphase.kernels.strips.bin.strip_of` takes.  Returns the swept axis, and whether the
    world may be swept in one piece, straight from the boxes: one strip and no infinite edges.

    The caller brings all memory: to compile what makes an array takes 0.1 s for each kind of it.
    """
    n, dim = boxes.shape[0], boxes.shape[1] // 2
    sample_axes(boxes, edges, spanned, statistics)
    swept = np.int64(0)
    for axis in range(1, dim):
        if statistics[axis, REACHED] < statistics[swept, REACHED]:
            swept = axis
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
    if strips > 1 or not all_ordinary(flat, np.int64(0), flat.shape[1]):
        return swept, IN_STRIPS
    return swept, WHOLE_SORTED if _uneven(statistics, swept) else WHOLE


@inline
def are_crowded(crowding, copies, strips):
    """Whether strips of equal width leave the copies crowded in a few; ``crowding`` is summed over them."""
    return crowding * strips > CROWDED * copies * copies + 64.0 * copies * strips


@jit
def equal_shares(boxes, cuts, counts, lows, rows, lattice, borders):
    """Fill ``borders`` so that each strip holds an equal share of a sample of the boxes.

    A strip is at least as wide as the sampled boxes that begin in it are on average, so that crowds of
    overlapping boxes are not copied into ever narrower strips.  ``lows`` and the three of ``rows`` are
    scratch, as large as the sample shall be.
    """
    n, dim = boxes.shape[0], boxes.shape[1] // 2
    most = np.finfo(boxes.dtype).max
    sampled, order, spare = rows[0], rows[1], rows[2]
    for c in range(cuts.shape[0]):
        finite = 0
        for k in range(lows.shape[0]):
            row = sampled_row(k, n)
            if abs(boxes[row, cuts[c]]) <= most:
                lows[finite] = boxes[row, cuts[c]]
                sampled[finite] = row
                finite += 1
        argsort(lows, 0, finite, order, spare)
        strips = 0
        taken = 0
        extents = 0.0
        border = -np.inf
        for k in range(finite):
            at = order[k]
            low = np.float64(lows[at])
            if taken * counts[c] >= finite and low * 0.5 - border * 0.5 > 0.5 * extents / taken:
                border = low
                borders[c, strips] = lows[at]
                strips += 1
                taken = 0
                extents = 0.0
            taken += 1
            extents += min(np.float64(boxes[sampled[at], dim + cuts[c]]), most) - low
        lattice[c, LAST] = strips
