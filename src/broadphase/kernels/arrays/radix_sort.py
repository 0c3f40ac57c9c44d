"""Stable argsort of floats in linear time.

Radix sort from the lowest digit up (LSD) over order-preserving integers (`ordered_bits`): no comparison,
no worst case, and equal keys keep their order, so the result does not depend on the machine as that of
NumPy's vectorised sorts does.  Key and index travel together in one 64-bit word.  A digit that all keys
share costs nothing beyond its count.  It is done in steps that stop anywhere and go on there, so that no call
of a kernel takes long.

Cost: float32 three passes of 11 bits, float64 six; about 1 ns a key and pass.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.ordered_bits import bits_of, ordered_column
from broadphase.kernels.arrays.pieces import AT_ONCE
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.machine.prefetch import prefetch

_LOW_HALF = 0xFFFFFFFF
# From so many words on, more than a near cache holds, memory ahead of the written word is prefetched:
# four million keys are sorted in 13 ns each instead of 19.
_MANY, _FURTHER = 1 << 19, 16
_WIDTH = 11
DIGITS = 1 << _WIDTH

# Where a sort begins: the half of the keys, the step in it, the row, and which row of words holds them now.
BEGIN = (0, 0, 0, 0)
SORTED = 2  # the half at which it is done
# The steps of a half: write the words, then count and move them by each digit, then write the order.
_WORDS = 0


def stable_argsort(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int32]:
    """Indices that sort a 1-D array of float32 or float64 without NaN; -0.0 equals +0.0."""
    contiguous = np.ascontiguousarray(values)
    return argsort_keys(ordered_column(bits_of(contiguous).reshape(-1, 1), 0))


def argsort_keys(keys: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[np.int32]:
    """Indices that sort int32 or int64 ``keys``, stable."""
    n = len(keys)
    order = np.empty(n, np.int32)
    words, counts = np.empty((2, n), np.int64), np.empty(DIGITS, np.int64)
    at = BEGIN
    while at[0] < SORTED:
        at = argsort_some(keys, n, words, counts, order, at, AT_ONCE)
    return order


@jit
def argsort_some(keys, n, words, counts, order, at, most):
    """Go on from ``at`` to sort ``n`` keys, for about ``most`` rows; returns how far.

    It is done at `SORTED`: then ``order`` holds what sorts them.  Two rows of ``words``, and ``counts``, are
    scratch that is left alone in between.
    """
    return sort_some(keys, n, words, counts, order, at, most)


@common
def sort_some(keys, n, words, counts, order, at, most):
    """What `argsort_some` does, for kernels."""
    half, step, k, now = at
    if n == 0:
        return np.int64(SORTED), step, k, now
    if half == 0 and keys.itemsize == 4:
        half = np.int64(1)
    # Small inputs get small counters: clearing 2,048 of them costs more than one more pass.
    width = _WIDTH if n > 4096 else 8
    last_step = 2 * ((31 + width) // width)
    while half < SORTED and most > 0:
        stop = min(n, k + most)
        most -= stop - k
        if step == _WORDS:
            _write_words(keys, words, now, half, k, stop)
        elif step > last_step:
            for row in range(k, stop):
                order[row] = words[now, row] & _LOW_HALF
        else:
            shift = 32 + width * ((step - 1) // 2)
            digits = 1 << min(width, 64 - shift)
            # The highest digit holds the sign, whose two halves have to change places.
            flip = digits >> 1 if half == 1 and shift + width >= 64 else 0
            if step & 1 == 1:
                alike = _count_digits(words[now], n, counts, shift, digits, flip, k, stop)
                step += alike  # nothing to move
            else:
                _move_by_digit(words[now], words[1 - now], n, counts, shift, digits, flip, k, stop)
                if stop == n:
                    now = 1 - now
        k = stop
        if k == n:
            k = np.int64(0)
            step += 1
            if step > last_step + half:
                step = np.int64(_WORDS)
                half += 1
    return half, step, k, now


@common
def _write_words(keys, words, now, half, begin, end):
    """The half of each key that is sorted by, above its index; the lower half comes first."""
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
def _count_digits(given, n, counts, shift, digits, flip, begin, end):
    """Count the digits of some words; with the last of them, where each digit's words go.

    Returns 1 if it was the last and all have the same digit, else 0.
    """
    if begin == 0:
        for digit in range(digits):
            counts[digit] = 0
    for k in range(begin, end):
        counts[((given[k] >> shift) & (digits - 1)) ^ flip] += 1
    if end < n:
        return 0
    if counts[((given[0] >> shift) & (digits - 1)) ^ flip] == n:
        return 1
    total = 0
    for digit in range(digits):
        count = counts[digit]
        counts[digit] = total
        total += count
    return 0


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
