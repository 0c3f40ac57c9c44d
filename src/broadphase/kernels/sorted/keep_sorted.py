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
def settle_boxes(ids, alive, bits, touching, order, axis, slots):
    """Bring some boxes to where they belong, one by one; returns how many slots they went.

    ``order`` are columns, items, places and the tree of maxima.  A box that is in use is put in if it is
    not there, one that is not is taken out if it is.
    """
    columns, items, places, reach = order
    dim = bits.shape[1] // 2
    base = np.int64(0)
    a = np.int64(0)
    edges = np.empty(2 * dim, columns.dtype)
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
def resort(ids, alive, bits, axis, items, places, slots, most, ranks):
    """Sort all boxes by insertion, beginning with the order they have; returns how many steps that took.

    Writes into ``ranks`` the order of the rows of ``ids``, the live ids; ids that are not in the order begin
    at its end.  Gives up and returns -1 when it would take more than ``most`` steps.
    """
    top = 8 * bits.itemsize - 1
    n = ids.shape[0]
    row_of = np.empty(alive.shape[0], np.int32)
    for row in range(n):
        row_of[ids[row]] = row
    count = 0
    for slot in range(slots):
        i = items[0, slot]
        if i != DEAD and alive[i]:
            ranks[count] = row_of[i]
            count += 1
    for row in range(n):
        if ids[row] >= places.shape[1] or places[0, ids[row]] < 0:
            ranks[count] = row
            count += 1
    keys = np.empty(n, bits.dtype)
    steps = 0
    for k in range(n):
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
def close_gaps(columns, items, slots, packed, ids):
    """Copy the boxes in their order, without the gaps; behind them a padding larger than every key."""
    rows = packed.shape[0]
    count = 0
    for slot in range(slots):
        if items[0, slot] != DEAD:
            ids[0, count] = items[0, slot]
            count += 1
    for row in range(rows):
        at = 0
        for slot in range(slots):
            # Written over and over until the next box comes: no branch to mispredict.
            packed[row, at] = columns[row, slot]
            at += items[0, slot] != DEAD
        for behind in range(count, packed.shape[1]):
            packed[row, behind] = columns[row, slots]
    for behind in range(count, packed.shape[1]):
        ids[0, behind] = 0
