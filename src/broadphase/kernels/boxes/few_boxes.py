"""Few boxes, each compared with each: checked, searched and returned in one call.

With a period, environments or sets, preparing a larger search takes longer than all of this: five boxes take
1 us, and preparing 20 to 100.  What the kernel does not take (NaN, ``min > max``, boxes without a place in a
periodic world, sets of more than 32 bits) it answers with `UNSUITABLE`; another search then says what is so.
"""

import numpy as np

from broadphase.kernels.arrays.results import larger
from broadphase.kernels.boxes.overlap import SHARED, may_pair
from broadphase.kernels.boxes.periodic import wrapped
from broadphase.kernels.machine.jit import inline, jit, numbers
from broadphase.kernels.machine.memory import few
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, splat

MOST_TESTS = 1 << 16
UNSUITABLE = np.int64(-1)
_MOST_BITS = 0xFFFFFFFF


@inline
def _take(boxes, lengths, touching, columns):
    """Write boxes, wrapped into the period, as columns, and after them NaN; whether all are sound."""
    n, dim, sound = boxes.shape[0], boxes.shape[1] // 2, True
    for axis in range(dim):
        around = lengths[axis] < np.inf
        for i in range(n):
            low, high = boxes[i, axis], boxes[i, dim + axis]
            sound &= low <= high
            if around and not (low >= 0 and high < lengths[axis]):
                low, high, trouble = wrapped(low, high, lengths, axis, touching)
                sound &= trouble == 0
            columns[axis, i], columns[dim + axis, i] = low, high
        for i in range(n, n + LANES):
            columns[axis, i] = columns[dim + axis, i] = np.nan
    return sound


@inline
def _take_lengths(period, dim, lengths):
    """The period in the type of the boxes; whether it fits."""
    fits = True
    for axis in range(dim):
        lengths[axis] = period[axis]
        fits &= lengths[axis] > 0 and (lengths[axis] < np.inf) == (period[axis] < np.inf)
    return fits


@inline
def _meet_on_axis(low, high, lows, highs, length, touching):
    """Mask of the intervals that one overlaps on an axis, or of which a piece one period lower does.

    That decides it without rounding, see `broadphase.kernels.boxes.periodic`.
    """
    if touching:
        meet = (lows <= splat(high)) & (splat(low) <= highs)
        if length < np.inf:
            meet = meet | (splat(low) <= highs - splat(length)) | (lows <= splat(high - length))
    else:
        meet = (lows < splat(high)) & (splat(low) < highs)
        if length < np.inf:
            meet = meet | (splat(low) < highs - splat(length)) | (lows < splat(high - length))
    return bits(meet)


@inline
def _fit_bits(sets):
    fit = True
    for k in range(sets.shape[0]):
        fit &= (sets[k] >= 0) & (sets[k] <= _MOST_BITS)
    return fit


@inline
def _is_each(values, n):
    """Whether there is one for each row, or none."""
    return values.shape[0] == 0 or values.shape[0] == n


@jit
@numbers(period=(2, 3))
def find_pairs_of_few(boxes, others, among, touching, period, filter, envs, other_envs):  # noqa: A002
    """Pairs that overlap, in order: ``rows, found``, or `UNSUITABLE`.

    If ``among``, the others are the boxes, and pairs are ``i < j``.  ``period``: inf for an axis without one.
    Environments may be empty.
    """
    n, m, columns = np.int64(boxes.shape[0]), np.int64(others.shape[0]), np.int64(boxes.shape[1])
    dim = columns // 2
    rows = np.empty((4 * n + 2 * LANES, 2), np.int32)
    lengths = few(3, boxes.dtype)
    fits = (columns == 4 or columns == 6) and others.shape[1] == columns and n * m <= MOST_TESTS
    fits &= len(period) >= dim and _is_each(envs, n) and _is_each(other_envs, m)
    fits &= _is_each(filter.classes, n) and _is_each(filter.categories, n)
    fits &= filter.masks.shape[0] == filter.categories.shape[0]
    if not fits or not _take_lengths(period, dim, lengths):
        return rows[:0], UNSUITABLE
    filtered = filter.classes.shape[0] + filter.categories.shape[0] > 0
    sound = _fit_bits(filter.categories) and _fit_bits(filter.masks)
    first = np.empty((columns, n + LANES), boxes.dtype)
    sound &= _take(boxes, lengths, touching, first)
    second = first
    if not among:
        second = np.empty((columns, m + LANES), boxes.dtype)
        sound &= _take(others, lengths, touching, second)
    if not sound:
        return rows[:0], UNSUITABLE
    found = np.int64(0)
    for i in range(n):
        for j in range(i + 1 if among else 0, m, LANES):
            candidates = np.int64(-1)
            for axis in range(dim):
                candidates &= _meet_on_axis(
                    first[axis, i], first[dim + axis, i], load(second, axis, j), load(second, dim + axis, j),
                    lengths[axis], touching,
                )  # fmt: skip
            while candidates != 0:
                other = j + lowest_lane(candidates)
                candidates &= candidates - 1
                if filtered and not may_pair(filter, i, other):
                    continue
                if envs.shape[0] > 0:
                    env, other_env = envs[i], other_envs[other]
                    if env != other_env and env != SHARED and other_env != SHARED:
                        continue
                if found == rows.shape[0]:
                    rows = larger(rows, found)
                rows[found, 0], rows[found, 1] = i, other
                found += 1
    return rows[:found], found
