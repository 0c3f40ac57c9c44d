"""The ends of all boxes, sorted on every axis: moved ends are sorted again, and changed pairs are reported.

Two boxes overlap on an axis while each one's lower end is before the other's upper end.  So a pair can
only begin or end where a lower end of one passes an upper end of the other.

The arrays, a row for each axis, with the ends in order in the first ``count`` columns:

- ``keys``: the keys of the ends (`broadphase.kernels.arrays.sorting`), upper ones one lower unless
  ``touching``; of equal keys, lower ends come first;
- ``items``: whose end it is, ``2 * id`` for a lower end and ``2 * id + 1`` for an upper one;
- ``places[item]``: its column, or -1.
"""

import numpy as np

from broadphase.kernels.arrays.sorting import ordered
from broadphase.kernels.boxes.overlap import may_pair, overlap
from broadphase.kernels.machine.jit import inline, jit


@inline
def _comes_first(key, item, other_key, other):
    """Whether an end comes before another one."""
    return key < other_key or (key == other_key and item & 1 < other & 1)


@inline
def _toggles(boxes, before, i, j, touching, approach):
    """Whether boxes ``i`` and ``j`` overlap now and did not before; or the opposite, unless ``approach``."""
    if approach:
        return overlap(boxes, i, j, touching) and not overlap(before, i, j, touching)
    return overlap(before, i, j, touching) and not overlap(boxes, i, j, touching)


@jit
def move_ends(ids, k, boxes, bits, before, touching, filter, keys, items, places, count, events, most):  # noqa: A002
    """Exchange the ends of the boxes ``ids[k:]`` with their neighbours until they are in order.

    ``boxes`` are the boxes as they are now (``bits``: the same memory as integers), ``before`` as they were
    when all ends were in order; NaN for a new box, whose ends are after all others.  An event is the key of a
    pair that begins, ``i << 32 | j``, or minus the key of one that ends; a pair may come more than once.  The
    kernel stops when ``events`` is full or ``most`` ends have been passed, even halfway through an end's
    moves.  Returns the box to continue with, the events, and the number of ends that were passed.
    """
    dim = keys.shape[0]
    top = 8 * bits.itemsize - 1
    found = 0
    passed = 0
    while k < ids.shape[0]:
        i = np.int64(ids[k])
        is_new = before[i, 0] != before[i, 0]
        for axis in range(dim):
            rises = boxes[i, dim + axis] > before[i, dim + axis]
            for turn in range(2):
                end = 1 - turn if rises else turn  # so that no end passes the box's own other one
                item = 2 * i + end
                key = ordered(bits[i, dim * end + axis], top) - (end == 1 and not touching)
                at = np.int64(places[axis, item])
                down = at > 0 and _comes_first(key, item, keys[axis, at - 1], items[axis, at - 1])
                step = -1 if down else 1
                while 0 <= at + step < count:
                    other_key, other = keys[axis, at + step], np.int64(items[axis, at + step])
                    if down:
                        if not _comes_first(key, item, other_key, other):
                            break
                    elif not _comes_first(other_key, other, key, item):
                        break
                    if passed == most or found == events.shape[0]:
                        keys[axis, at] = key
                        items[axis, at] = item
                        places[axis, item] = at
                        return k, found, passed
                    passed += 1
                    keys[axis, at] = other_key
                    items[axis, at] = other
                    places[axis, other] = at
                    at += step
                    j = other >> 1
                    # A new box passes all that it may overlap on the first axis already.
                    if (item ^ other) & 1 == 1 and i != j and (axis == 0 or not is_new):
                        # A lower end that goes down past an upper one, or an upper end up past a lower one.
                        approach = down == (end == 0)
                        if _toggles(boxes, before, i, j, touching, approach) and may_pair(filter, i, j):
                            pair = (min(i, j) << 32) | max(i, j)
                            events[found] = pair if approach else -pair
                            found += 1
                keys[axis, at] = key
                items[axis, at] = item
                places[axis, item] = at
        k += 1
    return k, found, passed


@jit
def boxes_that_moved(ids, alive, boxes, before, out, count, begin, end):
    """Append those of ``ids[begin:end]`` that are in use and have moved to the first ``count`` of ``out``.

    Returns how many there are then.
    """
    for k in range(begin, end):
        i = ids[k]
        if alive[i]:
            moved = False
            for edge in range(boxes.shape[1]):
                moved |= boxes[i, edge] != before[i, edge]
            if moved:
                out[count] = i
                count += 1
    return count


@jit
def close_up(keys, items, places, axis, count, begin, end):
    """Move the ends at ``begin .. end - 1`` that still have a place to after the first ``count``.

    Returns how many there are then.
    """
    for at in range(begin, end):
        item = items[axis, at]
        if places[axis, item] >= 0:
            keys[axis, count] = keys[axis, at]
            items[axis, count] = item
            places[axis, item] = count
            count += 1
    return count


@jit
def end_keys(bits, ids, axis, touching, keys, begin, end):
    """Write the keys of the ends of ``ids[begin:end]`` on an axis: all lower ones, then all upper ones."""
    n = ids.shape[0]
    dim = bits.shape[1] // 2
    top = 8 * bits.itemsize - 1
    for k in range(begin, end):
        keys[k] = ordered(bits[ids[k], axis], top)
        keys[n + k] = ordered(bits[ids[k], dim + axis], top) - (not touching)


@jit
def lay_out(ids, ranks, unsorted, keys, items, places, axis, begin, end):
    """Write the ends at ``begin .. end - 1`` of the order ``ranks`` of their `end_keys`."""
    n = ids.shape[0]
    for at in range(begin, end):
        upper = ranks[at] >= n
        item = 2 * ids[ranks[at] - n * upper] + upper
        keys[axis, at] = unsorted[ranks[at]]
        items[axis, at] = item
        places[axis, item] = at
