"""Strips whose boxes crowd in a few places of the swept axis, sorted exactly.

Far clusters in one strip, or one box a million times further out than the others: buckets of equal width
put nearly all boxes into one.  Rare, so it is compiled and run only when `sort_strip` has met such a strip.
"""

import numpy as np

from broadphase.kernels.arrays.ordered_bits import ordered
from broadphase.kernels.arrays.radix_sort import argsort_keys
from broadphase.kernels.machine.jit import jit


@jit
def sort_crowded(axes, bits, begins, ends, strips, first, last):
    """Sort the copies of ``strips[first:last]`` by their min on the swept axis, each strip in its place.

    ``bits`` is the memory of the copies as integers.
    """
    top = 8 * bits.itemsize - 1
    for s in range(first, last):
        n = 0
        for part in range(begins.shape[0]):
            n += ends[part, strips[s]] - begins[part, strips[s]]
        keys, rows = np.empty(n, bits.dtype), np.empty(n, np.int64)
        held = np.empty((n, bits.shape[1]), bits.dtype)
        n = 0
        for part in range(begins.shape[0]):
            for t in range(begins[part, strips[s]], ends[part, strips[s]]):
                rows[n] = t
                keys[n] = ordered(bits[t, axes[0]], top)
                for column in range(bits.shape[1]):
                    held[n, column] = bits[t, column]
                n += 1
        order = argsort_keys(keys)
        for k in range(n):
            for column in range(bits.shape[1]):
                bits[rows[k], column] = held[order[k], column]
