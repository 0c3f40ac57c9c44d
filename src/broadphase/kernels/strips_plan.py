"""Where to cut the world into strips: which axis is swept, and how wide the strips are.

From a sample of the boxes, because a mean over all of them would let one giant decide.  The widths come
from a model of the cost: narrow strips make copies, wide strips make comparisons.  Where equal widths
leave the boxes crowded in a few strips (`broadphase.methods.strips` sees that from the exact counts),
the borders come from the data instead: equal shares of a larger sample, but never narrower than the
boxes that lie there.
"""

import numpy as np

from broadphase.kernels.jit import inline, jit
from broadphase.kernels.merge_sort import argsort
from broadphase.kernels.strips_bin import HALF_ORIGIN, LAST, SCALE

# Nanoseconds for a copy in a strip and for a comparison; only their ratio matters.
COPY = 14.0
TEST = 0.22
MOST_STRIPS = 60_000  # strip numbers are 16 bits wide

# Columns of the statistics of an axis.
LOW, HIGH, EXTENT, REACHED = 0, 1, 2, 3


@inline
def sampled_row(k, n):
    """Row ``k`` of a sample: always the same, and so scattered that no pattern of the input shows."""
    return np.int64((np.uint64(k + 1) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) % np.uint64(n))


@inline
def _sorted_lows(boxes, axis, rows, lows, order, spare):
    """The finite mins of the sampled rows on an axis, in order; returns how many."""
    most = np.finfo(boxes.dtype).max
    finite = 0
    for k in range(rows.shape[0]):
        low = boxes[rows[k], axis]
        if abs(low) <= most:
            spare[finite] = low
            finite += 1
    argsort(spare, 0, finite, order[0], order[1])
    for k in range(finite):
        lows[k] = spare[order[0, k]]
    return finite


@inline
def sample_axes(boxes, size):
    """Statistics of each axis from ``size`` sampled boxes, and the sampled extents.

    Returns ``(dim, 4)`` float64: lowest and highest finite min; mean extent; the share of the other
    boxes that a box reaches on that axis.  And ``(size, dim)``: how much of the axis each box spans,
    from 0 to 1.
    """
    n, dim = boxes.shape[0], boxes.shape[1] // 2
    rows = np.empty(size, np.int64)
    for k in range(size):
        rows[k] = sampled_row(k, n)
    statistics = np.zeros((dim, 4))
    spanned = np.ones((size, dim))
    lows, spare = np.empty(size), np.empty(size)
    order = np.empty((2, size), np.int64)
    for axis in range(dim):
        finite = _sorted_lows(boxes, axis, rows, lows, order, spare)
        statistics[axis, REACHED] = 1.0
        half_width = 0.0
        if finite > 0:
            statistics[axis, LOW] = lows[0]
            statistics[axis, HIGH] = lows[finite - 1]
            half_width = lows[finite - 1] * 0.5 - lows[0] * 0.5
        if half_width <= 0.0:
            continue
        total = 0.0
        for k in range(size):
            low, high = boxes[rows[k], axis], boxes[rows[k], dim + axis]
            spanned[k, axis] = min((high * 0.5 - low * 0.5) / half_width, 1.0)
            total += spanned[k, axis]
        statistics[axis, EXTENT] = total / size * half_width * 2.0
        # The middle half of the mins, doubled, stands for the width: one far box must not make a
        # crowded axis look empty.
        core = 2.0 * (lows[(3 * finite) // 4] * 0.5 - lows[finite // 4] * 0.5)
        if core > 0.0:
            statistics[axis, REACHED] = min(1.0, 2.0 * total / size * half_width / core)
    return statistics, spanned


@inline
def strip_counts(n, statistics, spanned, swept, cuts):
    """How many strips to cut each axis of ``cuts`` into, by the cost model."""
    size, dim = spanned.shape
    best = np.ones(cuts.shape[0], np.int64)
    tried = np.ones(cuts.shape[0], np.int64)
    best_cost = np.inf
    most = np.float64(MOST_STRIPS) ** (1.0 / cuts.shape[0])
    for step in range(-6, 17):
        strips = 1.0
        for c in range(cuts.shape[0]):
            axis = cuts[c]
            width = statistics[axis, HIGH] - statistics[axis, LOW]
            tried[c] = 1
            if width > 0.0 and width < np.inf:
                typical = statistics[axis, EXTENT] / width + np.float64(n) ** (-1.0 / dim)
                tried[c] = np.int64(min(max(2.0 ** (-0.5 * step) / typical, 1.0), most))
            strips *= tried[c]
        copies = 0.0
        for k in range(size):
            touched = 1.0
            for c in range(cuts.shape[0]):
                touched *= 1.0 + spanned[k, cuts[c]] * (tried[c] - 1)
            copies += touched
        copies *= n / size
        cost = COPY * copies + TEST * copies * copies / strips * statistics[swept, REACHED]
        if cost < best_cost:
            best_cost = cost
            for c in range(cuts.shape[0]):
                best[c] = tried[c]
    return best


@jit
def equal_widths(boxes, size):
    """Cut the world into strips of equal width, from a sample of ``size`` boxes.

    Returns the swept axis, the cut axes, how many strips the model wants on each of them, and the
    lattice (see `broadphase.kernels.strips_bin.strip_of`).
    """
    n, dim = boxes.shape[0], boxes.shape[1] // 2
    statistics, spanned = sample_axes(boxes, size)
    swept = np.int64(0)
    for axis in range(1, dim):
        if statistics[axis, REACHED] < statistics[swept, REACHED]:
            swept = axis
    cuts = np.empty(dim - 1, np.int64)
    for c in range(dim - 1):
        cuts[c] = c if c < swept else c + 1
    counts = strip_counts(n, statistics, spanned, swept, cuts)
    lattice = np.empty((dim - 1, 3), boxes.dtype)
    for c in range(dim - 1):
        low, high = statistics[cuts[c], LOW], statistics[cuts[c], HIGH]
        half_width = high * 0.5 - low * 0.5
        lattice[c, HALF_ORIGIN] = low * 0.5
        lattice[c, SCALE] = np.finfo(boxes.dtype).tiny  # not 0, which makes NaN of infinite edges
        lattice[c, LAST] = 0.0
        if half_width > 0.0:
            lattice[c, SCALE] = min(counts[c] / half_width, np.float64(np.finfo(boxes.dtype).max))
            lattice[c, LAST] = counts[c] - 1
    return swept, cuts, counts, lattice


@jit
def equal_shares(boxes, cuts, counts, size, lattice, borders):
    """Fill ``borders`` so that each strip holds an equal share of a sample of the boxes.

    A strip is at least as wide as the sampled boxes that begin in it are on average, so that crowds of
    overlapping boxes are not copied into ever narrower strips.
    """
    n, dim = boxes.shape[0], boxes.shape[1] // 2
    most = np.finfo(boxes.dtype).max
    lows = np.empty(size, boxes.dtype)
    rows = np.empty(size, np.int64)
    order, spare = np.empty(size, np.int64), np.empty(size, np.int64)
    for c in range(cuts.shape[0]):
        finite = 0
        for k in range(size):
            row = sampled_row(k, n)
            if abs(boxes[row, cuts[c]]) <= most:
                lows[finite] = boxes[row, cuts[c]]
                rows[finite] = row
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
            extents += min(np.float64(boxes[rows[at], dim + cuts[c]]), most) - low
        lattice[c, LAST] = strips
