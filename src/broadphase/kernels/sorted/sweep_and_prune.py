"""Move the end points of boxes to where they belong, and report the overlaps that begin or end on the way.

Two boxes overlap on an axis while each one's lower end lies before the other's upper end.  So an overlap
begins on an axis when a lower end passes an upper end downwards, or an upper end a lower one upwards, and
ends when they pass the other way.  Both boxes' keys on the other axes lie next to the end point that is
passed, so 16 of them are compared at a time without looking a box up.

One box after the other is moved, on all axes, so that the columns always describe a definite state: some
boxes where they are now, the others where they were.  An overlap that begins on one axis is one of the
boxes as they are after the move; one that ends was one before it.

The items are ``2 * id`` for a lower end and ``2 * id + 1`` for an upper one, whose keys on its own axis are
exchanged: the key of an item is its end's, in a lower end's place.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, lowest_lane
from broadphase.kernels.pairs.pair_set import pair_key
from broadphase.kernels.sorted.gapped import (
    FAN,
    box_keys,
    first_at_least,
    first_at_least_from,
    lift,
    lowest_key,
    put_in,
    take_out,
    write_box,
)
from broadphase.kernels.sorted.gapped_search import along, beside, last_block, live_boxes, next_hits

_ALL_LANES = (1 << LANES) - 1


@inline
def _in_turn(edges, axis, turned):
    """A box's keys with the axes in turn from ``axis``, to compare with the columns of that axis."""
    dim = edges.shape[0] // 2
    for turn in range(dim):
        source = (axis + turn) % dim
        turned[turn] = edges[source]
        turned[dim + turn] = edges[dim + source]


@inline
def _read_box(columns, places, dim, i, edges):
    """The keys of a box as the columns have them."""
    for axis in range(dim):
        edges[axis] = columns[2 * dim * axis, places[axis, 2 * i]]
        edges[dim + axis] = columns[2 * dim * axis, places[axis, 2 * i + 1]]


@inline
def _write_end(columns, axis, slot, edges, end):
    dim = edges.shape[0] // 2
    base = 2 * dim * axis
    write_box(columns, base, axis, slot, edges)
    if end == 1:
        columns[base, slot] = edges[dim + axis]
        columns[base + dim, slot] = edges[axis]


@inline
def _distance(columns, places, slots, dim, i, edges):
    """How many slots the ends of a box have to pass, as `_move_ends` moves them."""
    total = 0
    for axis in range(dim):
        base = 2 * dim * axis
        for end in range(2):
            slot = np.int64(places[axis, 2 * i + end])
            key = edges[dim * end + axis]
            if key != columns[base, slot]:
                at = first_at_least_from(columns, base, slots, slot, key + end)
                total += abs(at - slot)
    return total


@inline
def _pass(axes, columns, items, axis, begin, end, kind, i, turned, sign, events, count):
    """Report the boxes that overlap ``turned`` of the items of this kind in slots ``begin .. end``."""
    base = 2 * len(axes) * axis
    swaps = 0
    for slot in range(begin, end, LANES):
        passed = _ALL_LANES if end - slot >= LANES else (1 << (end - slot)) - 1
        swaps += count_lanes(live_boxes(axes, columns, base, slot, turned) & passed)
        near = bits(beside(axes, columns, base, slot, turned)) & passed
        if near != 0:
            near &= bits(along(axes, columns, base, kind, slot, turned))
        while near != 0:
            item = items[axis, slot + lowest_lane(near)]
            near &= near - 1
            if item & 1 == kind and item >> 1 != i:
                events[count] = sign * pair_key(i, item >> 1)
                count += 1
    return count, swaps


@inline
def _search(axes, columns, items, reach, axis, slots, i, turned, events, count):
    """Report all boxes that overlap ``turned``."""
    base = 2 * len(axes) * axis
    last = last_block(axes, columns, base, slots, turned)
    tests = 0
    block = np.int64(0)
    while block < last:
        block, hits, made = next_hits(axes, columns, base, slots, reach, block, last, turned)
        tests += made
        while hits != 0:
            item = items[axis, block * FAN + lowest_lane(hits)]
            hits &= hits - 1
            if item & 1 == 0:
                events[count] = pair_key(i, item >> 1)
                count += 1
        block += 1
    return count, tests


@inline
def _put_ends(columns, items, places, reach, searched, slots, i, edges):
    dim = edges.shape[0] // 2
    for axis in range(dim):
        base = 2 * dim * axis
        for end in range(2):
            # Of equal keys, lower ends come first.
            key = edges[dim * end + axis] + end
            at = first_at_least(columns, base, np.int64(0), slots, key)
            slot, begin, last = put_in(columns, base, dim, items, places, axis, slots, at, key)
            items[axis, slot] = 2 * i + end
            places[axis, 2 * i + end] = slot
            _write_end(columns, axis, slot, edges, end)
            if axis == searched:
                lift(columns, base + dim, slots, reach, begin, last)


@inline
def _take_ends(columns, items, places, reach, searched, slots, dim, i):
    for axis in range(dim):
        base = 2 * dim * axis
        for end in range(2):
            slot = take_out(columns, base, dim, items, places, axis, 2 * i + end)
            if axis == searched:
                lift(columns, base + dim, slots, reach, slot, slot + 1)


@inline
def _move_ends(axes, columns, items, places, reach, searched, slots, i, old, edges, turned, events, count):
    """Move the ends of one box one by one."""
    dim = edges.shape[0] // 2
    swaps = 0
    for axis in range(dim):
        base = 2 * dim * axis
        rises = edges[dim + axis] > old[dim + axis]
        for turn in range(2):
            end = 1 - turn if rises else turn  # so that no end passes the box's own other one
            item = 2 * i + end
            slot = np.int64(places[axis, item])
            key = edges[dim * end + axis]
            before = columns[base, slot]
            first, last = slot, slot + 1
            if key != before:
                at = first_at_least_from(columns, base, slots, slot, key + end)
                # An upper end that rises and a lower one that falls begin overlaps.
                begins = (key > before) == (end == 1)
                _in_turn(edges if begins else old, axis, turned)
                low, high = min(at, slot + 1), max(at, slot)
                sign = 1 if begins else -1
                count, passed = _pass(
                    axes, columns, items, axis, low, high, 1 - end, i, turned, sign, events, count
                )
                swaps += passed
                take_out(columns, base, dim, items, places, axis, item)
                if axis == searched:
                    lift(columns, base + dim, slots, reach, slot, slot + 1)
                slot, first, last = put_in(columns, base, dim, items, places, axis, slots, at, key + end)
                items[axis, slot] = item
                places[axis, item] = slot
            _write_end(columns, axis, slot, edges, end)
            if axis == searched:
                lift(columns, base + dim, slots, reach, first, last)
    return count, swaps


@jit
def move_boxes(
    axes, ids, start, alive, bits, touching, order, searched, slots, far, budget, events, most, scratch
):  # fmt: skip
    """Bring the ends of the boxes ``ids[start:]`` to where the boxes are now.

    Boxes that are not in the columns are put in.  ``order`` are columns, items, places and the tree of
    maxima over the axis ``searched``.  Stops where ``events`` may not have room for the ``most`` events of
    one box, or when ``budget`` slots have been passed or searched.  ``scratch`` are three arrays for the keys
    of a box, the last of them with one more.  Returns how many ids are done, how many events were written,
    and the slots that were passed and that were searched.
    """
    columns, items, places, reach = order
    dim = len(axes)
    edges, old, turned = scratch
    turned[2 * dim] = lowest_key(columns)
    count = 0
    swaps = 0
    tests = 0
    done = start
    while done < ids.shape[0] and count + most <= events.shape[0] and swaps + tests <= budget:
        i = np.int64(ids[done])
        done += 1
        if not alive[i]:
            continue
        box_keys(bits, i, touching, edges)
        inside = places[0, 2 * i] >= 0
        if inside and _distance(columns, places, slots, dim, i, edges) <= far:
            _read_box(columns, places, dim, i, old)
            count, passed = _move_ends(
                *(axes, columns, items, places, reach, searched, slots),
                *(i, old, edges, turned, events, count),
            )
            swaps += passed
            continue
        if inside:
            _take_ends(columns, items, places, reach, searched, slots, dim, i)
            events[count] = pair_key(i, i)
            count += 1
        _in_turn(edges, searched, turned)
        count, made = _search(axes, columns, items, reach, searched, slots, i, turned, events, count)
        tests += made
        _put_ends(columns, items, places, reach, searched, slots, i, edges)
    return done, count, swaps, tests


@jit
def take_boxes(axes, ids, order, searched, slots):
    """Take the ends of boxes out of the columns; returns how many boxes were there."""
    columns, items, places, reach = order
    dim = len(axes)
    taken = 0
    for k in range(ids.shape[0]):
        i = np.int64(ids[k])
        if places[0, 2 * i] >= 0:
            _take_ends(columns, items, places, reach, searched, slots, dim, i)
            taken += 1
    return taken
