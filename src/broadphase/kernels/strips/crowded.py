"""Strips whose boxes crowd in a few places of the swept axis, sorted exactly.

Far clusters in one strip, or one box a million times further out than the others: buckets of equal width
put nearly all boxes into one.  Rare, so it is compiled and run only when `sort_strip` has met such a strip.
"""

from broadphase.kernels.arrays.ordered_bits import ordered
from broadphase.kernels.arrays.radix_sort import sort_keys
from broadphase.kernels.machine.jit import jit


@jit
def sort_crowded(axes, bits, begins, ends, strips, first, last, keys, held, words, counts, order):
    """Sort the copies of ``strips[first:last]`` by their min on the swept axis, each strip in its place.

    ``bits`` is the memory of the copies as integers.  All from ``keys`` on is scratch for the copies of the
    fullest of the strips: their keys, ``held``, a row each, and what `sort_keys` takes.
    """
    top = 8 * bits.itemsize - 1
    for s in range(first, last):
        n = 0
        for part in range(begins.shape[0]):
            for t in range(begins[part, strips[s]], ends[part, strips[s]]):
                keys[n] = ordered(bits[t, axes[0]], top)
                for column in range(bits.shape[1]):
                    held[n, column] = bits[t, column]
                n += 1
        sort_keys(keys, n, words, counts, order)
        n = 0
        for part in range(begins.shape[0]):
            for t in range(begins[part, strips[s]], ends[part, strips[s]]):
                for column in range(bits.shape[1]):
                    bits[t, column] = held[order[n], column]
                n += 1
