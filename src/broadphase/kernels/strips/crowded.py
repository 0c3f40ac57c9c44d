"""Strips whose boxes crowd in a few places of the swept axis, sorted exactly.

Far clusters in one strip, or one box a million times further out than the others: buckets of equal width
put nearly all boxes into one.  Rare, so it is compiled and run only when `sort_strip` has met such a strip.
"""

import numpy as np

from broadphase.kernels.arrays.ordered_bits import ordered
from broadphase.kernels.arrays.radix_sort import SORTED, sort_some
from broadphase.kernels.machine.jit import inline, jit

# Where a strip is: the stage, and where in it.
_HELD, _SORTING, _BACK = 0, 1, 2


@jit
def sort_crowded(axes, bits, begins, ends, strips, at, last, keys, held, words, counts, order, most):
    """Sort the copies of ``strips[:last]`` by their min on the swept axis, each strip in its place.

    Goes on from ``at = strip, stage, half, step, row, now`` and returns how far it came with about ``most``
    rows.  ``bits`` is the memory of the copies as integers.  All from ``keys`` on is scratch for the copies
    of the fullest of the strips: their keys, ``held``, a row each, and what `sort_some` takes.
    """
    s, stage, half, step, row, now = at
    while s < last and most > 0:
        n = np.int64(0)
        for part in range(begins.shape[0]):
            n += ends[part, strips[s]] - begins[part, strips[s]]
        if stage == _SORTING:
            half, step, row, now = sort_some(keys, n, words, counts, order, (half, step, row, now), most)
            if half < SORTED:
                break
            stage, half, step, row, now = np.int64(_BACK), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            most -= n
            continue
        stop = min(n, row + most)
        most -= stop - row
        _move_rows(axes, bits, begins, ends, strips[s], stage, row, stop, keys, held, order)
        row = stop
        if row == n:
            row = np.int64(0)
            if stage == _HELD:
                stage = np.int64(_SORTING)
            else:
                stage = np.int64(_HELD)
                s += 1
    return s, stage, half, step, row, now


@inline
def _move_rows(axes, bits, begins, ends, strip, stage, first, last, keys, held, order):
    """Take out the copies of a strip from the ``first`` on, or put them back in order, up to the ``last``."""
    top = 8 * bits.itemsize - 1
    before = np.int64(0)
    for part in range(begins.shape[0]):
        begin, count = begins[part, strip], ends[part, strip] - begins[part, strip]
        for n in range(max(first, before), min(last, before + count)):
            t = begin + n - before
            if stage == _HELD:
                keys[n] = ordered(bits[t, axes[0]], top)
                for column in range(bits.shape[1]):
                    held[n, column] = bits[t, column]
            else:
                for column in range(bits.shape[1]):
                    bits[t, column] = held[order[n], column]
        before += count
