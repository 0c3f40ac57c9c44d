"""Stable argsort of floats in linear time.

Radix sort from the lowest digit up (LSD) over order-preserving integers (`ordered_bits`): no comparison,
no worst case, and equal keys keep their order, so the result does not depend on the machine as that of
NumPy's vectorised sorts does.  Key and index travel together in one 64-bit word.  A digit that all keys
share costs nothing beyond its count.

Cost: float32 three passes of 11 bits, float64 six; about 1 ns a key and pass.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.ordered_bits import bits_of, ordered_column
from broadphase.kernels.machine.jit import inline, jit

_LOW_HALF = 0xFFFFFFFF
_WIDTH = 11
DIGITS = 1 << _WIDTH


def stable_argsort(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int32]:
    """Indices that sort a 1-D array of float32 or float64 without NaN; -0.0 equals +0.0."""
    contiguous = np.ascontiguousarray(values)
    return argsort_keys(ordered_column(bits_of(contiguous).reshape(-1, 1), 0))


def argsort_keys(keys: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[np.int32]:
    """Indices that sort int32 or int64 ``keys``, stable."""
    n = len(keys)
    order = np.empty(n, np.int32)
    words = np.empty((2, n), np.int64)
    argsort_into(keys, n, words, np.empty(DIGITS, np.int64), order)
    return order


@inline
def _sort_words(words, n, now, counts, top_is_sign):
    """Sort row ``now`` of ``words`` by the upper 32 bits, stable; returns the row of the result."""
    # Small inputs get small counters: clearing 2,048 of them costs more than one more pass.
    width = _WIDTH if n > 4096 else 8
    shift = 32
    while shift < 64:
        digits = 1 << min(width, 64 - shift)
        # The highest digit holds the sign, whose two halves have to change places.
        flip = digits >> 1 if top_is_sign and shift + width >= 64 else 0
        given, sorted_ = words[now], words[1 - now]
        for digit in range(digits):
            counts[digit] = 0
        for k in range(n):
            counts[((given[k] >> shift) & (digits - 1)) ^ flip] += 1
        if counts[((given[0] >> shift) & (digits - 1)) ^ flip] < n:
            total = 0
            for digit in range(digits):
                count = counts[digit]
                counts[digit] = total
                total += count
            for k in range(n):
                digit = ((given[k] >> shift) & (digits - 1)) ^ flip
                sorted_[counts[digit]] = given[k]
                counts[digit] += 1
            now = 1 - now
        shift += width
    return now


@jit
def argsort_into(keys, n, words, counts, order):
    """Write to ``order`` what sorts ``n`` keys; two rows of ``words``, and ``counts``, are scratch."""
    sort_keys(keys, n, words, counts, order)


@inline
def sort_keys(keys, n, words, counts, order):
    """What `argsort_into` does, for kernels."""
    if n == 0:
        return
    now = 0
    if keys.itemsize == 8:
        for i in range(n):
            low = int(keys[i]) & _LOW_HALF
            words[0, i] = ((low - ((low >> 31) << 32)) << 32) | i
        now = _sort_words(words, n, now, counts, False)
        for k in range(n):
            i = words[now, k] & _LOW_HALF
            words[now, k] = ((int(keys[i]) >> 32) << 32) | i
    else:
        for i in range(n):
            words[0, i] = (int(keys[i]) << 32) | i
    now = _sort_words(words, n, now, counts, True)
    for k in range(n):
        order[k] = words[now, k] & _LOW_HALF
