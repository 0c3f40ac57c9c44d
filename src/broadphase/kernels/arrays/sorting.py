"""Sorting of plain arrays: order-preserving integers, counting sort, radix sort, and which axis to sort."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.passes import PIECE, answers
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.machine.memory import prefetch
from broadphase.kernels.machine.simd import LANES, twin

# -----------------------------------------------------------------------------------------------------------
# Floats as integers of the same order, so that edges are compared as plain integers.
#
# The bits of an IEEE float, read as an integer, already increase with the value; for negative values they
# decrease, so all but the sign bit are flipped there.  Advantages:
#
# - infinities and denormals are ordinary integers, and no processor mode flushes them;
# - -0.0 becomes +0.0, so equal values have equal keys;
# - a key minus one is the next smaller float, so ``a < b`` is ``a <= b - 1``: boxes that may not touch are
#   searched by the same code with their upper edges one lower (no key is so low that this wraps round);
# - minima and maxima of integers vectorise without fast-math, and radix sort takes them as they are.


PADDING = LANES


@twin
def bits_of(floats: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.signedinteger[Any]]:
    """The same memory as int32 (of float32) or int64 (of float64)."""
    return floats.view(np.int32) if floats.dtype == np.float32 else floats.view(np.int64)


@inline
def ordered(bits, top):
    """The key of one float's ``bits``; ``top`` is the place of the sign bit, 31 or 63.

    Applying the function to a key again gives the float's bits.
    """
    key = bits ^ ((bits >> top) & ~(-1 << top))
    return key + (key == -1)  # -0.0 became -1


@jit
def ordered_columns(bits, order, first_axis, touching):
    """Keys of the boxes in the given order, a row for each edge: ``(2 * dim, n)``; and ``order``: ``(1, n)``.

    ``first_axis`` comes first, then the other axes; upper edges are one lower unless ``touching``.
    Both arrays have `PADDING` more columns than there are boxes; the keys there are larger than all others,
    so that a walk along lower edges ends there.
    """
    n, dim = order.shape[0], bits.shape[1] // 2
    columns = np.empty((2 * dim, n + PADDING), bits.dtype)
    ids = np.empty((1, n + PADDING), np.int32)
    top = 8 * bits.itemsize - 1
    for begin in range(0, n, PIECE):
        end = min(begin + PIECE, n)
        for turn in range(dim):
            axis = (first_axis + turn) % dim
            for k in range(begin, end):
                columns[turn, k] = ordered(bits[order[k], axis], top)
                columns[dim + turn, k] = ordered(bits[order[k], dim + axis], top) - (not touching)
        for k in range(begin, end):
            ids[0, k] = order[k]
        if not answers(n):
            break
    for k in range(n, n + PADDING):
        ids[0, k] = 0
        for row in range(2 * dim):
            columns[row, k] = ~(-1 << top)
    return columns, ids


# -----------------------------------------------------------------------------------------------------------
# The step between the two passes of every counting sort here.


@jit
def starts_from_counts(counts, ends):
    """Turn ``counts[part, bin]`` into the position where each part begins to write in each bin.

    ``ends[bin]`` becomes where the bin ends.  Returns how many items there are, the most in one bin,
    and the sum over all items of how many share the item's bin, which is the cost of a crowd.
    """
    return _starts(counts, ends)


@jit
def starts_from_steps(steps, row, counts, ends):
    """Like `starts_from_counts`, where ``steps[part]`` say at which bin of a row counts begin and end.

    The counts are the running sums of the steps along each row of ``row`` steps and from row to row; the last
    step of each row, and with more than one row the last row, is after the bins.
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


# -----------------------------------------------------------------------------------------------------------
# Stable argsort of floats in linear time.
#
# Radix sort from the lowest digit up (LSD) over order-preserving integers (`ordered`): no comparisons, no
# worst case, and equal keys keep their order, so the result does not depend on the machine, as that of
# NumPy's vectorised sorts does.  Key and index are together in one 64-bit word.  A digit that all keys
# share is counted and not moved.
# Cost: float32 three passes of 11 bits, float64 six; about 1 ns a key and pass.


_LOW_HALF = 0xFFFFFFFF
# From this many words on, more than the L2 cache holds, memory ahead of the written word is prefetched:
# four million keys are sorted in 13 ns each instead of 19.
_MANY, _FURTHER = 1 << 19, 16
_WIDTH = 11
DIGITS = 1 << _WIDTH


def stable_argsort(values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Indices that sort a 1-D array of int32, int64, float32 or float64 without NaN; -0.0 equals +0.0."""
    contiguous = np.ascontiguousarray(values)
    if contiguous.dtype.kind == "f":
        return argsort_keys(bits_of(contiguous), True)
    return argsort_keys(contiguous, False)


@jit
def argsort_keys(keys, are_floats):
    """Indices that sort int32 or int64 ``keys``, stable; ``are_floats``: they are the bits of floats."""
    n, top = keys.shape[0], 8 * keys.itemsize - 1
    if are_floats:
        given, keys = keys, np.empty(n, keys.dtype)
        for i in range(n):
            keys[i] = ordered(given[i], top)
    order = np.empty(n, np.int32)
    sort_keys(keys, n, np.empty((2, n), np.int64), np.empty(DIGITS, np.int64), order)
    return order


@common
def sort_keys(keys, n, words, counts, order):
    """Write the indices that sort the first ``n`` keys; returns whether the result is still wanted.

    Two rows of ``words`` and `DIGITS` of ``counts``, or 256 for up to 4,096 keys, are scratch.
    """
    if n == 0:
        return True
    now = np.int64(0)
    # Small inputs get small counters: clearing 2,048 of them costs more than one more pass.
    width = _WIDTH if n > 4096 else 8
    for half in range(keys.itemsize == 4, 2):
        for begin in range(0, n, PIECE):
            _write_words(keys, words, now, half, begin, min(begin + PIECE, n))
            if not answers(n):
                return False
        for shift in range(32, 64, width):
            digits = 1 << min(width, 64 - shift)
            # The highest digit holds the sign: negative keys come first, so its halves are swapped.
            flip = digits >> 1 if half == 1 and shift + width >= 64 else 0
            if _count_digits(words[now], n, counts, shift, digits, flip):
                continue  # all have the same digit
            for begin in range(0, n, PIECE):
                end = min(begin + PIECE, n)
                _move_by_digit(words[now], words[1 - now], n, counts, shift, digits, flip, begin, end)
                if not answers(n):
                    return False
            now = 1 - now
    for row in range(n):
        order[row] = words[now, row] & _LOW_HALF
    return True


@common
def _write_words(keys, words, now, half, begin, end):
    """Write the half of each key that is sorted by, above its index; the lower half comes first."""
    if keys.itemsize == 4:
        for i in range(begin, end):
            words[0, i] = (int(keys[i]) << 32) | i
    elif half == 0:
        for i in range(begin, end):
            low = int(keys[i]) & _LOW_HALF
            words[0, i] = ((low - ((low >> 31) << 32)) << 32) | i
    else:
        for k in range(begin, end):
            i = words[now, k] & _LOW_HALF
            words[now, k] = ((int(keys[i]) >> 32) << 32) | i


@common
def _count_digits(given, n, counts, shift, digits, flip):
    """Compute where the words of each digit start; returns whether all have the same digit."""
    for digit in range(digits):
        counts[digit] = 0
    for k in range(n):
        counts[((given[k] >> shift) & (digits - 1)) ^ flip] += 1
    if counts[((given[0] >> shift) & (digits - 1)) ^ flip] == n:
        return True
    total = 0
    for digit in range(digits):
        count = counts[digit]
        counts[digit] = total
        total += count
    return False


@common
def place_among(known, key, count):
    """How many of the first ``count`` sorted numbers are less than a key."""
    first, last = np.int64(0), np.int64(count)
    while first < last:
        middle = (first + last) >> 1
        if known[middle] < key:
            first = middle + 1
        else:
            last = middle
    return first


@inline
def _move_by_digit(given, sorted_, n, counts, shift, digits, flip, begin, end):
    """Move some words to where their digits go."""
    for k in range(begin, end):
        digit = ((given[k] >> shift) & (digits - 1)) ^ flip
        place = counts[digit]
        if n > _MANY:
            prefetch(sorted_, place + _FURTHER, 0)
        sorted_[place] = given[k]
        counts[digit] = place + 1


# -----------------------------------------------------------------------------------------------------------
# Which axis to sort on, by a sample: which rows, and how many others a box overlaps on one axis.


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
