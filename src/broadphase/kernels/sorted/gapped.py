"""Sorted columns with gaps: a box, or one of its ends, is put in or taken out without moving the rest.

An array that is kept sorted costs a shift of half of it for each insertion.  Library sort (Bender,
Farach-Colton and Mosteiro, "Insertion sort is O(n log n)", 2004) leaves gaps, as a librarian leaves room
on every shelf: a new entry moves its neighbours up to the nearest gap, a few places.  Where the
neighbourhood is full, the smallest surroundings that are not too full are spread out evenly again.

There may be several orders side by side, ``a = 0, 1, ...``.  All have ``slots`` slots:

- ``items[a, slot]`` is what lies there, or `DEAD` where there is a gap;
- ``places[a, item]`` is the slot of an item, or -1;
- ``columns[base : base + 2 * dim]``, ``base = 2 * dim * a``, are the ordered keys
  (`kernels.arrays.ordered_bits`) of its box, the axes in turn from the one that is sorted along: lower
  edges, then upper ones.  Row ``base`` is sorted, gaps included.  The upper edges of a gap are lower than
  any key, so that a gap overlaps nothing.

Behind the slots there are `PADDING` more columns, larger than any key, where every walk to the right ends.

``reach`` is a tree of maxima over the upper edges on the sorted axis, by `FAN` slots, by ``FAN ** 2``, and so
on: a search leaves out at once what ends before it begins, also where one giant lies far to the left.
"""

import numpy as np

from broadphase.kernels.arrays.ordered_bits import ordered
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.machine.simd import LANES

DEAD = -1
FAN = LANES

# How far a gap is looked for on either side.
_NEAR = 48
# Surroundings of so many slots are spread out again unless they are so full; larger ones must be emptier.
_SMALLEST_WINDOW = 4 * _NEAR
_FULLEST_SMALL, _FULLEST_LARGE = 0.97, 0.88
# The whole must not be fuller than this; below the limit of every window, so that one is always found.
FULLEST = 0.85


@inline
def lowest_key(columns):
    """Lower than the key of any number, higher than what gaps hold as upper edges."""
    return (-1 << (8 * columns.itemsize - 1)) + 1


@inline
def box_keys(bits, i, touching, edges):
    """The ordered keys of box ``i``: lower edges, then upper ones, these one lower unless ``touching``."""
    dim = bits.shape[1] // 2
    top = 8 * bits.itemsize - 1
    for axis in range(dim):
        edges[axis] = ordered(bits[i, axis], top)
        edges[dim + axis] = ordered(bits[i, dim + axis], top) - (not touching)


@inline
def write_box(columns, base, first_axis, slot, edges):
    """Write a box's keys into a slot, the axes in turn from ``first_axis``."""
    dim = edges.shape[0] // 2
    for turn in range(dim):
        axis = first_axis + turn if first_axis + turn < dim else first_axis + turn - dim
        columns[base + turn, slot] = edges[axis]
        columns[base + dim + turn, slot] = edges[dim + axis]


@inline
def first_at_least(columns, base, begin, end, key):
    """The first slot of ``begin .. end`` whose key is at least ``key``; ``end`` if there is none."""
    while begin < end:
        middle = (begin + end) >> 1
        if columns[base, middle] < key:
            begin = middle + 1
        else:
            end = middle
    return begin


@inline
def first_at_least_from(columns, base, slots, near, key):
    """The same among all slots, quickly where it is not far from slot ``near``."""
    step = 1
    if columns[base, near] < key:
        begin, end = near + 1, near + 1
        while end < slots and columns[base, end] < key:
            begin = end + 1
            end += step
            step *= 2
        return first_at_least(columns, base, begin, min(end, slots), key)
    begin, end = near, near
    while begin > 0 and columns[base, begin - 1] >= key:
        end = begin - 1
        begin -= min(step, begin)
        step *= 2
    return first_at_least(columns, base, begin, end, key)


@inline
def take_out(columns, base, dim, items, places, a, item):
    """Leave a gap where the item is; returns its slot."""
    slot = np.int64(places[a, item])
    items[a, slot] = DEAD
    places[a, item] = -1
    _bury(columns, base, dim, slot)
    return slot


@inline
def _bury(columns, base, dim, slot):
    lowest = -1 << (8 * columns.itemsize - 1)
    for row in range(base + dim, base + 2 * dim):
        columns[row, slot] = lowest


@inline
def _carry(columns, base, dim, items, places, a, source, target):
    for row in range(base, base + 2 * dim):
        columns[row, target] = columns[row, source]
    item = items[a, source]
    items[a, target] = item
    places[a, item] = target


@common
def _open_near(columns, base, dim, items, places, a, slots, at):
    """A gap before slot ``at``: its slot, or -1 if there is none near, and which slots have changed."""
    left = at - 1
    right = at
    for _ in range(_NEAR):
        if left >= 0:
            if items[a, left] == DEAD:
                for slot in range(left, at - 1):
                    _carry(columns, base, dim, items, places, a, slot + 1, slot)
                return at - 1, left, at
            left -= 1
        if right < slots:
            if items[a, right] == DEAD:
                for slot in range(right, at, -1):
                    _carry(columns, base, dim, items, places, a, slot - 1, slot)
                return at, at, right + 1
            right += 1
    return -1, at, at


@common
def spread(columns, base, dim, items, places, a, begin, end):
    """Spread the items of slots ``begin .. end`` out evenly.

    In place, one row after the other: first close together to the left, then, the last one first, each to
    where it belongs, which is never to the left of those that still wait.
    """
    live = 0
    for slot in range(begin, end):
        live += items[a, slot] != DEAD
    if live == 0:  # nothing is left to say what the gaps' keys should be: below all others
        for slot in range(begin, end):
            columns[base, slot] = columns[base, begin - 1] if begin > 0 else lowest_key(columns)
            _bury(columns, base, dim, slot)
        return
    lowest = -1 << (8 * columns.itemsize - 1)
    for row in range(base, base + 2 * dim):
        at = begin
        for slot in range(begin, end):
            # Written over and over until the next item comes: no branch to mispredict.
            columns[row, at] = columns[row, slot]
            at += items[a, slot] != DEAD
        last = end
        for k in range(live - 1, -1, -1):
            first = begin + k * (end - begin) // live
            key = columns[row, begin + k]
            columns[row, first] = key
            for slot in range(first + 1, last):
                columns[row, slot] = key if row < base + dim else lowest
            last = first
    at = begin
    for slot in range(begin, end):
        item = items[a, slot]
        items[a, at] = item
        at += item != DEAD
    last = end
    for k in range(live - 1, -1, -1):
        first = begin + k * (end - begin) // live
        item = items[a, begin + k]
        items[a, first] = item
        places[a, item] = first
        for slot in range(first + 1, last):
            items[a, slot] = DEAD
        last = first


@jit
def carry_over(columns, items, taken, base, dim, a, new_columns, new_items, places, slots, begin, end):
    """Spread what lies in the slots ``taken`` out evenly over other columns, which are all gaps.

    Only those at ``begin .. end - 1`` of them.
    """
    live = taken.shape[0]
    for k in range(begin, end):
        source = np.int64(taken[k])
        first = k * slots // live
        last = (k + 1) * slots // live
        for row in range(base, base + 2 * dim):
            new_columns[row, first] = columns[row, source]
        for row in range(base, base + dim):
            for slot in range(first + 1, last):
                new_columns[row, slot] = columns[row, source]
        item = items[a, source]
        new_items[a, first] = item
        places[a, item] = first


@jit
def spread_around(columns, base, dim, items, places, a, slots, at):
    """Spread out the smallest surroundings of a slot that are not too full; returns where they are."""
    size = _SMALLEST_WINDOW
    full = _FULLEST_SMALL
    while True:
        begin = at // size * size
        end = min(begin + size, slots)
        live = 0
        for slot in range(begin, end):
            live += items[a, slot] != DEAD
        # The larger, the less full: else it would be full again at once, and then its surroundings.
        if live < full * (end - begin) or end - begin == slots:
            spread(columns, base, dim, items, places, a, begin, end)
            return begin, end
        size *= 2
        full = max(full - 0.01, _FULLEST_LARGE)


@inline
def put_in(columns, base, dim, items, places, a, slots, at, key):
    """Open a slot for ``key`` before slot ``at``; returns it, and which slots have changed.

    There must be gaps (`FULLEST`).  The caller writes key, box, item and place.
    """
    slot, begin, end = _open_near(columns, base, dim, items, places, a, slots, at)
    if slot < 0:
        begin, end = spread_around(columns, base, dim, items, places, a, slots, min(at, slots - 1))
        at = first_at_least(columns, base, begin, end, key)
        slot, first, last = _open_near(columns, base, dim, items, places, a, slots, at)
        begin, end = min(begin, first), max(end, last)
    return slot, begin, end


def reach_room(slots: int) -> int:
    """How many nodes the tree of maxima has."""
    nodes = slots // FAN
    room = nodes
    while nodes > 1:
        nodes = -(-nodes // FAN)
        room += nodes
    return room


@inline
def lift(columns, row, slots, reach, begin, end):
    """Bring the tree of maxima up to date where slots ``begin .. end`` have changed."""
    first = begin // FAN
    last = (end - 1) // FAN
    changed = False
    for node in range(first, last + 1):
        most = columns[row, node * FAN]
        for slot in range(node * FAN + 1, (node + 1) * FAN):
            most = max(most, columns[row, slot])
        changed |= reach[node] != most
        reach[node] = most
    base = 0
    nodes = slots // FAN
    while changed and nodes > 1:
        changed = False
        above = base + nodes
        first //= FAN
        last //= FAN
        for node in range(first, last + 1):
            most = reach[base + node * FAN]
            for child in range(node * FAN + 1, min((node + 1) * FAN, nodes)):
                most = max(most, reach[base + child])
            changed |= reach[above + node] != most
            reach[above + node] = most
        base = above
        nodes = (nodes + FAN - 1) // FAN


@jit
def lift_all(columns, row, slots, reach):
    """Make the tree of maxima."""
    for node in range(reach.shape[0]):
        reach[node] = -1 << (8 * columns.itemsize - 1)
    lift(columns, row, slots, reach, np.int64(0), slots)


@jit
def end_keys(bits, ids, axis, touching, kinds, keys, begin, end):
    """Write the keys of the lower edges on an axis of the boxes ``ids[begin:end]``.

    With ``kinds = 1``, behind those of all boxes, also the keys of their upper edges.
    """
    n = ids.shape[0]
    dim = bits.shape[1] // 2
    top = 8 * bits.itemsize - 1
    for k in range(begin, end):
        keys[k] = ordered(bits[ids[k], axis], top)
    if kinds == 1:
        for k in range(begin, end):
            keys[n + k] = ordered(bits[ids[k], dim + axis], top) - (not touching)


@jit
def fill(ids, ranks, bits, touching, kinds, columns, items, places, a, axis, slots, edges, begin, end):
    """Lay out the ends of all boxes evenly, in the order ``ranks`` of their `end_keys`.

    Those at ``begin .. end - 1`` of it; ``edges`` is scratch for a box.
    """
    n = ids.shape[0]
    m = ranks.shape[0]
    dim = bits.shape[1] // 2
    base = 2 * dim * a
    for r in range(begin, end):
        kind = ranks[r] >= n
        i = np.int64(ids[ranks[r] - n * kind])
        item = (i << kinds) + kind
        first = r * slots // m
        box_keys(bits, i, touching, edges)
        write_box(columns, base, axis, first, edges)
        if kind:
            columns[base, first] = edges[dim + axis]
            columns[base + dim, first] = edges[axis]
        items[a, first] = item
        places[a, item] = first
        for slot in range(first + 1, (r + 1) * slots // m):
            columns[base, slot] = columns[base, first]
            items[a, slot] = DEAD
            _bury(columns, base, dim, slot)
