"""Two sorted pair lists compared: which pairs began and which ended; and a list with some pairs toggled."""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit


@inline
def _key(pairs, row):
    """A pair as one number that sorts as the pair does."""
    return (np.int64(pairs[row, 0]) << 32) | np.int64(pairs[row, 1])


@jit
def split_changes(before, now, renewed, b, n, began, ended):
    """One merge of two sorted lists, from their rows ``b`` and ``n`` on: ``b, n, come, gone``.

    How many began and ended.  Where there is no room for more, it stops, and goes on at the rows that it
    returns; it is done when these are the ends of both lists.

    A pair in both lists has stayed, unless one of its ids was reused in between: then what was
    has ended, and what is has begun.
    """
    come = np.int64(0)
    gone = np.int64(0)
    while (b < before.shape[0] or n < now.shape[0]) and come < began.shape[0] and gone < ended.shape[0]:
        leaves = n == now.shape[0] or (b < before.shape[0] and _key(before, b) <= _key(now, n))
        enters = b == before.shape[0] or (n < now.shape[0] and _key(now, n) <= _key(before, b))
        if leaves and enters and not (renewed[now[n, 0]] or renewed[now[n, 1]]):
            b += 1
            n += 1
            continue
        if leaves:
            ended[gone, 0] = before[b, 0]
            ended[gone, 1] = before[b, 1]
            gone += 1
            b += 1
        if enters:
            began[come, 0] = now[n, 0]
            began[come, 1] = now[n, 1]
            come += 1
            n += 1
    return b, n, come, gone


@jit
def toggle_pairs(base, keys, out):
    """Copy the sorted ``base`` to ``out``, without the pairs of ``keys`` that it has, with those it has not.

    ``keys`` are sorted, ``first << 32 | second``; one that is there an even number of times counts for
    nothing.  Returns how many pairs were written.
    """
    b = 0
    written = 0
    k = 0
    while k < keys.shape[0]:
        key = keys[k]
        times = 0
        while k < keys.shape[0] and keys[k] == key:
            times += 1
            k += 1
        if times % 2 == 0:
            continue
        while b < base.shape[0] and _key(base, b) < key:
            out[written, 0] = base[b, 0]
            out[written, 1] = base[b, 1]
            written += 1
            b += 1
        if b < base.shape[0] and _key(base, b) == key:
            b += 1
        else:
            out[written, 0] = key >> 32
            out[written, 1] = key & 0xFFFFFFFF
            written += 1
    while b < base.shape[0]:
        out[written, 0] = base[b, 0]
        out[written, 1] = base[b, 1]
        written += 1
        b += 1
    return written
