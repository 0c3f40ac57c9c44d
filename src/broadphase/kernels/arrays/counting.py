"""The step between the two passes of every counting sort here."""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit


@jit
def starts_from_counts(counts, ends):
    """Turn ``counts[part, bin]`` into where each part's share of each bin begins.

    ``ends[bin]`` becomes where the bin ends.  Returns how many items there are, the most in one bin,
    and how many items share a bin, summed over the items: what a crowd costs.
    """
    return _starts(counts, ends)


@jit
def starts_from_steps(steps, row, counts, ends):
    """The same where ``steps[part]`` say at which bin of a row, or corner in rows, counts begin and end.

    Summed up along the rows of ``row`` steps, and from row to row, they are the counts; the last step of each
    row, and in more than one row the last row, lies behind the bins.
    """
    bins = row - 1
    for part in range(steps.shape[0]):
        for z in range(counts.shape[1] // bins):
            total = np.int64(0)
            for y in range(bins):
                total += steps[part, z * row + y]
                above = counts[part, (z - 1) * bins + y] if z > 0 else np.int64(0)
                counts[part, z * bins + y] = above + total
    return _starts(counts, ends)


@jit
def equal_ranges(begins, ends, total, borders):
    """Write to ``borders[1:-1]`` at which bins to cut, so that the ranges hold about equally many items.

    ``begins[part, bin]`` and ``ends[part, bin]`` are where the items lie, ``total`` of them.
    """
    shares = borders.shape[0] - 1
    borders[0], borders[shares] = 0, ends.shape[1]
    share, so_far = np.int64(1), np.int64(0)
    for bin in range(ends.shape[1]):  # noqa: A001
        for part in range(ends.shape[0]):
            so_far += ends[part, bin] - begins[part, bin]
        while share < shares and so_far >= share * total // shares:
            borders[share] = bin
            share += 1


@inline
def _starts(counts, ends):
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
