"""Samples of rows: which rows, and how many others a box overlaps on one axis."""

import numpy as np

from broadphase.kernels.machine.jit import inline


@inline
def sampled_row(k, n):
    """Row ``k`` of a sample: always the same rows, scattered so that no pattern of the input shows."""
    return np.int64((np.uint64(k + 1) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) % np.uint64(n))


@inline
def share_reached(lows, highs, expected):
    """The share of the boxes that a box is compared with when they are sorted on this axis.

    These are the boxes that overlap it there and begin after it: half of the overlaps, counted pair by pair
    in the sample, so that clusters and outliers have their actual weight.  If the sample has none, the result
    is ``expected``, that of evenly spread boxes, but at most what the sample could have missed.
    """
    size = lows.shape[0]
    overlaps = -size
    for a in range(size):
        low, high = lows[a], highs[a]
        for b in range(size):
            overlaps += np.int32(lows[b] <= high) & np.int32(low <= highs[b])
    pairs = np.float64(max(size * (size - 1), 1))
    return 0.5 * max(np.float64(overlaps), min(0.5, expected * pairs)) / pairs
