"""Keep boxes in the order of their lower edges as they move, come and go."""

import numpy as np

from broadphase.kernels.arrays.ordered_bits import ordered
from broadphase.kernels.machine.jit import jit
from broadphase.kernels.machine.prefetch import AHEAD, prefetch
from broadphase.kernels.sorted.gapped import (
    DEAD,
    box_keys,
    first_at_least,
    first_at_least_from,
    lift,
    put_in,
    take_out,
    write_box,
)


@jit
def settle_boxes(ids, alive, bits, touching, order, axis, slots, edges):
    """Bring some boxes to where they belong, one by one; returns how many slots they went.

    ``order`` are columns, items, places and the tree of maxima; ``edges`` is scratch for a box.  A box that
    is in use is put in if it is not there, one that is not is taken out if it is.
    """
    columns, items, places, reach = order
    dim = bits.shape[1] // 2
    base = np.int64(0)
    a = np.int64(0)
    steps = 0
    for k in range(ids.shape[0]):
        if k + AHEAD < ids.shape[0]:
            prefetch(bits, ids[k + AHEAD], 0)
            prefetch(places, 0, ids[k + AHEAD])
            near = max(places[0, ids[min(k + AHEAD // 2, ids.shape[0] - 1)]], 0)
            prefetch(items, 0, near)
            for row in range(2 * dim):
                prefetch(columns, row, near)
        i = np.int64(ids[k])
        slot = np.int64(places[0, i])
        if not alive[i]:
            if slot >= 0:
                take_out(columns, base, dim, items, places, a, i)
                lift(columns, dim, slots, reach, slot, slot + 1)
            continue
        box_keys(bits, i, touching, edges)
        key = np.int64(edges[axis])
        first, last = slot, slot + 1
        if slot < 0 or columns[0, slot] != key:
            if slot < 0:
                at = first_at_least(columns, base, np.int64(0), slots, key)
            else:
                at = first_at_least_from(columns, base, slots, slot, key)
                take_out(columns, base, dim, items, places, a, i)
                lift(columns, dim, slots, reach, slot, slot + 1)
            steps += abs(at - slot) if slot >= 0 else 0
            slot, first, last = put_in(columns, base, dim, items, places, a, slots, at, key)
            items[0, slot] = i
            places[0, i] = slot
        write_box(columns, base, axis, slot, edges)
        lift(columns, dim, slots, reach, first, last)
    return steps


@jit
def rows_in_order(items, alive, row_of, ranks, count, begin, end):
    """Write the rows of the live ids in the slots ``begin .. end - 1`` behind the first ``count`` ranks.

    ``row_of`` is the row of an id.  Returns how many ranks there are then.
    """
    for slot in range(begin, end):
        i = items[0, slot]
        if i != DEAD and alive[i]:
            ranks[count] = row_of[i]
            count += 1
    return count


@jit
def rows_out_of_order(ids, places, ranks, count, begin, end):
    """The same for the rows ``begin .. end - 1`` whose ids are in no slot."""
    for row in range(begin, end):
        if ids[row] >= places.shape[1] or places[0, ids[row]] < 0:
            ranks[count] = row
            count += 1
    return count


@jit
def insert_in_order(ids, bits, axis, keys, ranks, begin, end, most):
    """Sort ``ranks[begin:end]``, rows of ``ids``, into those before them by insertion.

    ``keys`` are those of the ranks that are sorted.  Returns how many steps that took, or -1 where it gave up
    because it would take more than ``most``.
    """
    top = 8 * bits.itemsize - 1
    steps = 0
    for k in range(begin, end):
        row = ranks[k]
        key = ordered(bits[ids[row], axis], top)
        at = k
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            ranks[at] = ranks[at - 1]
            at -= 1
        keys[at] = key
        ranks[at] = row
        steps += k - at
        if steps > most:
            return -1
    return steps


@jit
def close_gaps(columns, items, slots, packed, ids, count, begin, end):
    """Copy the boxes of the slots ``begin .. end - 1`` in their order, without gaps, behind ``count`` others.

    Returns how many there are then.  Behind the last ones comes a padding larger than every key.
    """
    rows = packed.shape[0]
    before = count
    for slot in range(begin, end):
        if items[0, slot] != DEAD:
            ids[0, count] = items[0, slot]
            count += 1
    for row in range(rows):
        at = before
        for slot in range(begin, end):
            # Written over and over until the next box comes: no branch to mispredict.
            packed[row, at] = columns[row, slot]
            at += items[0, slot] != DEAD
        if end == slots:
            for behind in range(count, packed.shape[1]):
                packed[row, behind] = columns[row, slots]
    if end == slots:
        for behind in range(count, packed.shape[1]):
            ids[0, behind] = 0
    return count
