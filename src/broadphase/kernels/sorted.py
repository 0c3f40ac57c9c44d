"""Boxes in the order of their lower edges on one axis, and the ends of boxes in order on every axis.

::

    a ├───────┤
    b     ├──────────┤          b begins before a ends: compare
    c              ├───┤        c begins after a ends: a is done

The boxes are columns of keys (`broadphase.kernels.arrays.sorting.ordered_columns`): one row for each edge,
the sorted axis first, so that `LANES` of them are compared at a time.  ``places[i]`` is the column of box
``i``, or -1.

The second half of the file is sweep and prune, which keeps the ends of all boxes in order on every axis.
"""

import numpy as np

from broadphase.kernels.arrays.passes import answers_at, looked
from broadphase.kernels.arrays.results import LEAST_CAPACITY, larger
from broadphase.kernels.arrays.sorting import DIGITS, bits_of, ordered, sort_keys
from broadphase.kernels.boxes.overlap import allowed_lanes, may_pair, overlap
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, put_pairs, splat


@jit
def insertion_sort(edges, moved, first_axis, touching, columns, ids, places, most):
    """Write the keys of the boxes that ``moved``, and sort all by insertion.

    ``edges`` are the boxes as integers.  Returns how many places they moved, or -1 if it gave up because that
    would be more than ``most``.
    """
    dim, top, lower = edges.shape[1] // 2, 8 * edges.itemsize - 1, columns[0]
    for k in range(moved.shape[0]):
        i = moved[k]
        column = places[i]
        if not answers_at(k):
            return -1
        for turn in range(dim):
            axis = (first_axis + turn) % dim
            columns[turn, column] = ordered(edges[i, axis], top)
            columns[dim + turn, column] = ordered(edges[i, dim + axis], top) - (not touching)
    steps, k, end = 0, 1, columns.shape[1] - LANES
    while k < end:
        if bits(load(columns, 0, k) < load(columns, 0, k - 1)) == 0:  # all in order: nearly always
            k += LANES
            continue
        column = k
        while column > 0 and lower[column - 1] > lower[k]:
            column -= 1
        steps += k - column
        if steps > most:
            return -1
        if column < k:
            for row in range(columns.shape[0]):
                key = columns[row, k]
                for slot in range(k, column, -1):
                    columns[row, slot] = columns[row, slot - 1]
                columns[row, column] = key
            i = ids[0, k]
            for slot in range(k, column, -1):
                ids[0, slot] = ids[0, slot - 1]
                places[ids[0, slot]] = slot
            ids[0, column] = i
            places[i] = column
        k += 1
    return steps


# -----------------------------------------------------------------------------------------------------------
# The walk of sort and sweep: from each box to the right, until one begins beyond its right edge.


@jit
def sweep(axes, columns, ids, filter, begin, end, out, limit, store):  # noqa: A002
    """Pairs whose left box is at ``begin <= i < end`` in sorted order: the pairs, how many, and the tests.

    ``columns`` and ``ids`` hold the boxes in sorted order, with `LANES` of padding (`ordered_columns`).
    ``axes``: a tuple of the dimension's length.  A test is a box that begins before this one ends.
    """
    found = tests = checked = np.int64(0)
    left = columns[0]
    # A walk must end before it leaves the padding: another thread could make a box NaN in the meantime.
    most_right = left[columns.shape[1] - 1] - 1
    for i in range(begin, end):
        right = columns.dtype.type(min(columns[len(axes), i], most_right))
        j = np.int64(i + 1)
        while left[j] <= right:
            if store and found + LEAST_CAPACITY > out.shape[0]:
                out = larger(out, found)
            j, found, compared = _walk(axes, columns, ids, filter, i, j, right, out, found, store)
            tests += compared
        if found > limit:
            break
        checked = looked(tests + i - begin, checked)
        if checked < 0:
            break
    return out, found, tests


@inline
def _walk(axes, columns, ids, filter, i, j, right, out, found, store):  # noqa: A002
    """Compare box ``i`` with those from ``j`` on that begin before ``right``, while ``out`` has room.

    Returns the next one, how many pairs there are, and the tests.
    """
    dim, tests = len(axes), np.int64(0)
    filtered = filter.classes.shape[0] > 0 or filter.categories.shape[0] > 0
    left, room = columns[0], out.shape[0] - LANES
    x0, x1 = splat(columns[0, i]), splat(right)
    y0, y1 = splat(columns[1, i]), splat(columns[dim + 1, i])
    z0, z1 = splat(columns[dim - 1, i]), splat(columns[2 * dim - 1, i])
    while left[j] <= right and (found <= room or not store):
        reached = load(columns, 0, j) <= x1
        hits = reached & (load(columns, 1, j) <= y1) & (y0 <= load(columns, dim + 1, j))
        if len(axes) == 3:
            hits = hits & (load(columns, 2, j) <= z1) & (z0 <= load(columns, 5, j))
        if bits(hits) != 0:
            # Box i begins first, so it begins before the others end, unless one of them is only a
            # point on the axis and touching does not count.
            hits = hits & (x0 <= load(columns, dim, j))
            if filtered:
                hits = allowed_lanes(filter, ids, i, j, bits(hits))
            if store:
                found += put_pairs(out, found, splat(ids[0, i]), load(ids, 0, j), hits)
            else:
                found += count_lanes(bits(hits))
        tests += count_lanes(bits(reached))
        j += LANES
    return j, found, tests


# -----------------------------------------------------------------------------------------------------------
# Sweep and prune: moved ends are sorted again, and changed pairs are reported.
#
# Two boxes overlap on an axis while each one's lower end is before the other's upper end.  So a pair can
# only begin or end where a lower end of one passes an upper end of the other.
#
# The arrays, a row for each axis, with the ends in order in the first ``count`` columns:
#
# - ``keys``: the keys of the ends (`broadphase.kernels.arrays.sorting`), upper ones one lower unless
#   ``touching``; of equal keys, lower ends come first;
# - ``items``: whose end it is, ``2 * id`` for a lower end and ``2 * id + 1`` for an upper one;
# - ``places[item]``: its column, or -1.


@inline
def _comes_first(key, item, other_key, other):
    """Whether an end comes before another one."""
    return key < other_key or (key == other_key and item & 1 < other & 1)


@inline
def _toggles(boxes, before, i, j, touching, approach):
    """Whether boxes ``i`` and ``j`` overlap now and did not before; or the opposite, unless ``approach``."""
    if approach:
        return overlap(boxes, i, boxes, j, touching) and not overlap(before, i, before, j, touching)
    return overlap(before, i, before, j, touching) and not overlap(boxes, i, boxes, j, touching)


@jit
def move_ends(ids, boxes, before, touching, filter, keys, items, places, count, most):  # noqa: A002
    """Exchange the ends of some boxes with their neighbours until they are in order.

    ``boxes`` are the boxes as they are now, ``before`` as they were when all ends were in order; NaN for a
    new box, whose ends are after all others.  An event is the key of a pair that begins, ``i << 32 | j``, or
    minus the key of one that ends; a pair may come more than once.
    Returns the events, one a row, and how many ends were passed; it gives up where that would be more than
    ``most``, and the ends are then in no order.
    """
    dim, edges = keys.shape[0], bits_of(boxes)
    top = 8 * edges.itemsize - 1
    events, found, passed = np.empty((ids.shape[0] + 64, 1), np.int64), np.int64(0), np.int64(0)
    for k in range(ids.shape[0]):
        if not answers_at(k):
            break
        i = np.int64(ids[k])
        is_new = before[i, 0] != before[i, 0]
        for axis in range(dim):
            rises = boxes[i, dim + axis] > before[i, dim + axis]
            for turn in range(2):
                end = 1 - turn if rises else turn  # so that no end passes the box's own other one
                item = 2 * i + end
                key = ordered(edges[i, dim * end + axis], top) - (end == 1 and not touching)
                column = np.int64(places[axis, item])
                down = column > 0 and _comes_first(key, item, keys[axis, column - 1], items[axis, column - 1])
                step = -1 if down else 1
                while 0 <= column + step < count:
                    other_key, other = keys[axis, column + step], np.int64(items[axis, column + step])
                    if down:
                        if not _comes_first(key, item, other_key, other):
                            break
                    elif not _comes_first(other_key, other, key, item):
                        break
                    if passed == most:
                        return events[:found], passed + 1
                    passed += 1
                    keys[axis, column] = other_key
                    items[axis, column] = other
                    places[axis, other] = column
                    column += step
                    j = other >> 1
                    # A new box passes all that it may overlap on the first axis already.
                    if (item ^ other) & 1 == 1 and i != j and (axis == 0 or not is_new):
                        # A lower end that goes down past an upper one, or an upper end up past a lower one.
                        approach = down == (end == 0)
                        if _toggles(boxes, before, i, j, touching, approach) and may_pair(filter, i, j):
                            pair = (min(i, j) << 32) | max(i, j)
                            if found == events.shape[0]:
                                events = larger(events, found)
                            events[found, 0] = pair if approach else -pair
                            found += 1
                keys[axis, column] = key
                items[axis, column] = item
                places[axis, item] = column
    return events[:found], passed


@jit
def boxes_that_moved(ids, alive, boxes, before):
    """Those of ``ids`` that are in use and have moved."""
    out, count = np.empty(ids.shape[0], np.int32), np.int64(0)
    for k in range(ids.shape[0]):
        i = ids[k]
        if alive[i]:
            moved = False
            for edge in range(boxes.shape[1]):
                moved |= boxes[i, edge] != before[i, edge]
            if moved:
                out[count] = i
                count += 1
        if not answers_at(k):
            break
    return out[:count]


@jit
def close_up(keys, items, places, count):
    """Keep those of ``count`` ends that still have a place, in their order; returns how many there are."""
    kept = np.int64(0)
    for axis in range(keys.shape[0]):
        kept = np.int64(0)
        for column in range(count):
            item = items[axis, column]
            if places[axis, item] >= 0:
                keys[axis, kept] = keys[axis, column]
                items[axis, kept] = item
                places[axis, item] = kept
                kept += 1
            if not answers_at(column):
                break
    return kept


@jit
def sort_ends(bits, ids, axis, touching, keys, items, places):
    """Sort the ends of ``ids`` on an axis; they are all that there are."""
    n, dim, top = ids.shape[0], bits.shape[1] // 2, 8 * bits.itemsize - 1
    unsorted, ranks = np.empty(2 * n, bits.dtype), np.empty(2 * n, np.int32)
    for k in range(n):
        if not answers_at(k):
            return
        unsorted[k] = ordered(bits[ids[k], axis], top)
        unsorted[n + k] = ordered(bits[ids[k], dim + axis], top) - (not touching)
    if not sort_keys(unsorted, 2 * n, np.empty((2, 2 * n), np.int64), np.empty(DIGITS, np.int64), ranks):
        return
    for column in range(2 * n):
        if not answers_at(column):
            return
        upper = ranks[column] >= n
        item = 2 * ids[ranks[column] - n * upper] + upper
        keys[axis, column] = unsorted[ranks[column]]
        items[axis, column] = item
        places[axis, item] = column
