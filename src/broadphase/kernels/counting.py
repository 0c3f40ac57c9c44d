"""The step between the two passes of every counting sort here."""

import numpy as np

from broadphase.kernels.jit import jit


@jit
def starts_from_counts(counts, ends):
    """Turn ``counts[part, bin]`` into where each part's share of each bin begins.

    ``ends[bin]`` becomes where the bin ends.  Returns how many items there are, the most in one bin,
    and how many items share a bin, summed over the items: what a crowd costs.
    """
    total = 0
    fullest = 0
    crowding = 0.0
    for bin in range(counts.shape[1]):  # noqa: A001
        before = total
        for part in range(counts.shape[0]):
            count = counts[part, bin]
            counts[part, bin] = total
            total += count
        ends[bin] = total
        fullest = max(fullest, total - before)
        crowding += np.float64(total - before) ** 2
    return total, fullest, crowding
