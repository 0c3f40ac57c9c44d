"""Boxes divided from the top into a binary tree, of which `pack_nodes` makes a dynamic tree; and its pairs.

The nodes are in depth-first order: a node's first child is the next node, and its second child follows the
subtree of the first.

How a node is divided:

- at the middle of its boxes' centres on the axis on which these are spread most: half to each side,
  whatever the distribution.  Distant clusters and outliers cost one or two splits, and no resolution;
- boxes larger than the spread of all centres first go to a child of their own, so that a giant box does
  not enlarge the nodes of the small boxes around it (the idea of the priority R-tree: Arge and others, 2004).

Cost: n log n; every level is a few linear passes.  Middles are found by counting in ordered integers,
not by quickselect, so no input makes it slower than that.
"""

import numpy as np

from broadphase.kernels.arrays.passes import PIECE, answers, looked
from broadphase.kernels.arrays.results import LEAST_CAPACITY, larger, put, with_columns
from broadphase.kernels.arrays.sorting import bits_of, ordered
from broadphase.kernels.boxes.overlap import (
    may_pair,
    overlap,
)
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import always_inline, inline, jit
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    load,
    lowest_lane,
    mask_of,
    put_lanes,
    put_pairs,
    splat,
)
from broadphase.kernels.machine.simd import store as store_lanes
from broadphase.kernels.tree.dynamic_tree import HEIGHT, MOVING, WIDTH, count_of, place_above

# Leaves hold at most this many boxes: as many as a wide processor compares at a time.
LEAF = 16
# A box is too large for its node if it is this many times as long as the spread of the node's centres.
TOO_LARGE = 2.0
# A path through the tree holds at most this many splits by size, and so its depth is bounded: the other
# splits leave at most 5/8 of the boxes on either side.
_SPLITS_BY_SIZE = 40
_STACK = 128
_BINS = 64


@jit
def build(boxes):
    """A binary tree over valid boxes, with ``m`` nodes in depth-first order: ``order, begin, after``.

    ``order`` are the numbers of the boxes, leaf by leaf.  Node 0 is the root.  Node ``k`` and everything
    below it are the nodes ``k`` to ``after[k] - 1``; it is a leaf when ``after[k] == k + 1``.  Else its
    children are ``k + 1`` and ``after[k + 1]``.  The boxes below it are
    ``order[begin[k] : begin[after[k]]]``; the last entry of ``begin`` is their number.
    """
    order = np.empty(boxes.shape[0], np.int32)
    for i in range(boxes.shape[0]):
        order[i] = i
    keys, wanted = _measured(boxes, order)
    begin, second = _divide(keys, order, wanted)
    return order, begin, _nodes_after(second)


@inline
def _measured(boxes, order):
    """Centres, then half extents of the boxes in the given order as ordered keys, one row an axis.

    Infinities are made finite.  Returns also whether they are still wanted.
    """
    n, dim = order.shape[0], boxes.shape[1] // 2
    measures, largest = np.empty((2 * dim, n), boxes.dtype), np.finfo(boxes.dtype).max
    keys = bits_of(measures)
    for begin in range(0, n, PIECE):
        end = min(begin + PIECE, n)
        for k in range(begin, end):
            for axis in range(dim):
                low = min(max(boxes[order[k], axis], -largest), largest) / 2
                high = min(max(boxes[order[k], dim + axis], -largest), largest) / 2
                measures[axis, k] = low + high
                measures[dim + axis, k] = high - low
        for row in range(2 * dim):
            for k in range(begin, end):
                keys[row, k] = ordered(keys[row, k], 8 * keys.itemsize - 1)
        if not answers(n):
            return keys, False
    return keys, True


@inline
def _divide(keys, order, wanted):
    """Arrange ``order`` and ``keys`` leaf by leaf; where the nodes begin, and the second child of each or -1.

    No nodes where they are not ``wanted`` any more.
    """
    n, rows = order.shape[0], keys.shape[0]
    begins, second = np.empty(2 * n + 1, np.int32), np.empty(2 * n + 1, np.int32)
    counts, goes_first = np.empty(_BINS + 1, np.int64), np.empty(n, np.bool_)
    sources, spare_ids, spare_keys = np.empty(n, np.uint32), np.empty(n, np.int32), np.empty(n, keys.dtype)
    # Parts still to be divided: begin, end, the node whose second child it is (or -1), splits by size.
    waiting = np.empty((_STACK, 4), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, n, -1, _SPLITS_BY_SIZE
    depth, nodes, work, checked = np.int64(min(n, 1)), np.int64(0), np.int64(0), np.int64(0)
    while wanted and depth > 0:
        depth -= 1
        begin, end, parent = waiting[depth, 0], waiting[depth, 1], waiting[depth, 2]
        splits = waiting[depth, 3]
        border = end
        if end - begin > LEAF:
            row, smallest, largest, by_size = _choose_row(keys, begin, end, splits > 0)
            splits -= by_size
            below, found = np.int64(0), by_size > 0
            while not found and wanted:
                found, smallest, largest, below = _narrow(
                    keys[row, begin:end], smallest, largest, below, counts
                )
                wanted = answers(end - begin)
            if not wanted:
                break
            marks = goes_first[: end - begin]
            _mark(keys[row, begin:end], smallest, largest, by_size, marks)
            border = begin + _partition(marks, sources, spare_ids)
            for k in range(rows):
                _rearrange(keys[k, begin:end], sources, spare_keys)
                wanted = wanted and answers(end - begin)
            _rearrange(order[begin:end], sources, spare_ids)
            work += (2 * rows + 4) * (end - begin)
        if parent >= 0:
            second[parent] = nodes
        begins[nodes], second[nodes] = begin, -1
        if border < end:
            waiting[depth, 0], waiting[depth, 1] = border, end
            waiting[depth, 2], waiting[depth, 3] = nodes, splits
            waiting[depth + 1, 0], waiting[depth + 1, 1] = begin, border
            waiting[depth + 1, 2], waiting[depth + 1, 3] = -1, splits
            depth += 2
        nodes += 1
        if work > checked + OFTEN:
            checked = work
            wanted = wanted and goes_on()
    nodes = nodes if wanted else np.int64(0)
    begins[nodes] = n
    return _first_numbers(begins, nodes + 1), _first_numbers(second, nodes)


@inline
def _first_numbers(numbers, count):
    """A copy of the first numbers, which does not keep the memory of the others."""
    out = np.empty(count, np.int32)
    for k in range(count):
        out[k] = numbers[k]
    return out


@inline
def _nodes_after(second):
    """The node after each node's subtree, from the second child of each (-1 for leaves)."""
    nodes = second.shape[0]
    after = np.empty(nodes, np.int32)
    if nodes > 0:
        after[0] = nodes
    for k in range(nodes):
        if second[k] >= 0:
            after[k + 1] = second[k]
            after[second[k]] = after[k]
    return after


# The parts of a node are passed on as slices: an index that counts up from zero needs no check for being
# negative, and such checks keep the compiler from using vectors.


@inline
def _key_range(keys):
    """Smallest and largest of the keys."""
    smallest = keys[0]
    largest = keys[0]
    for k in range(keys.shape[0]):
        smallest = min(smallest, keys[k])
        largest = max(largest, keys[k])
    return int(smallest), int(largest)


@inline
def _narrow(keys, smallest, largest, below, counts):
    """Look for a key near the median among ``smallest`` to ``largest``; ``below`` keys are smaller.

    Keys are counted in bins; a boundary between bins that leaves 3/8 to 5/8 of them on either side is good
    enough.  If there is none, the bin with the median is searched next, at most 11 times.  Returns whether
    the key is found, and where to look: ``smallest, largest, below``; if found, all keys below ``smallest``
    go first, and as many of those equal to it as ``largest`` says.
    """
    n = keys.shape[0]
    half = n // 2
    slack = n // 8
    if smallest >= largest:
        return True, smallest, half - below, below
    shift = 0
    if (largest >> 1) - (smallest >> 1) >= _BINS // 2:  # their difference itself might overflow
        shift = 1
        while (largest >> shift) - (smallest >> shift) >= _BINS:
            shift += 1
    first = smallest >> shift
    counts[:] = 0
    for k in range(n):
        key = int(keys[k])
        if smallest <= key and key <= largest:
            counts[(key >> shift) - first] += 1
    mid = 0
    while below + counts[mid] <= half:
        below += counts[mid]
        mid += 1
    # The median is in bin `mid`, and `below` keys are before that bin.
    if below >= half - slack:
        return True, (first + mid) << shift, np.int64(0), below
    if below + counts[mid] <= half + slack:
        return True, (first + mid + 1) << shift, np.int64(0), below
    return False, max(smallest, (first + mid) << shift), min(largest, ((first + mid + 1) << shift) - 1), below


@inline
def _value(key, single):
    """The float of an ordered key; ``single`` if it is a float32."""
    if single:
        return float(np.int32(ordered(np.int32(key), 31)).view(np.float32))
    return np.int64(ordered(np.int64(key), 63)).view(np.float64)


@inline
def _choose_row(keys, begin, end, may_split_by_size):
    """How to divide a node: ``row, smallest, largest, by_size``.

    The middle is searched among the keys of that row, from the smallest to the largest.  With ``by_size``
    the boxes whose key is above ``smallest`` go first, and no middle is searched.
    """
    dim, single = keys.shape[0] // 2, keys.itemsize == 4
    row = long_row = smallest = largest = short = long = np.int64(0)
    spread = length = -1.0
    for axis in range(dim):
        low, high = _key_range(keys[axis, begin:end])
        axis_spread = _value(high, single) / 2 - _value(low, single) / 2
        if axis_spread > spread:
            row, smallest, largest, spread = axis, low, high, axis_spread
        low, high = _key_range(keys[dim + axis, begin:end])
        axis_length = _value(high, single)
        if axis_length > length:
            long_row, short, long, length = dim + axis, low, high, axis_length
    if length > TOO_LARGE * spread:
        longest = np.float64(TOO_LARGE * spread)
        limit = np.int64(np.float32(longest).view(np.int32)) if single else np.float64(longest).view(np.int64)
        if short <= limit and limit < long and may_split_by_size:
            return long_row, limit, np.int64(0), np.int64(1)
        # All are too large, or all centres are equal: only their sizes can still separate the boxes.
        if length - _value(short, single) > spread:
            row, smallest, largest = long_row, short, long
    return row, smallest, largest, np.int64(0)


@inline
def _mark(keys, key, ties, by_size, goes_first):
    """Write for every box whether it goes first: by size those above the key, else those below, and ties."""
    if by_size:
        for k in range(keys.shape[0]):
            goes_first[k] = keys[k] > key
        return
    for k in range(keys.shape[0]):
        goes_first[k] = keys[k] < key
    k = 0
    while ties > 0:
        if keys[k] == key:
            goes_first[k] = True
            ties -= 1
        k += 1


@inline
def _partition(goes_first, sources, spare):
    """The source of every place: the marked boxes, then the others, both in their order.

    Returns how many boxes are marked.  Each place is written to both lists, and the next one overwrites
    it in the wrong list: no branch.
    """
    front = 0
    back = 0
    for k in range(goes_first.shape[0]):
        sources[front] = k
        spare[back] = k
        front += np.int64(goes_first[k])
        back = k + 1 - front
    for k in range(back):
        sources[front + k] = spare[k]
    return front


@inline
def _rearrange(row, sources, spare):
    """Fill every place of the row from its source."""
    for k in range(row.shape[0]):
        spare[k] = row[sources[k]]
    for k in range(row.shape[0]):
        row[k] = spare[k]


# -----------------------------------------------------------------------------------------------------------
# All pairs within the tree of moving boxes, and between it and the tree of static ones.
#
# Two nodes that overlap are replaced by those of their children that do, level by level, until pairs of
# leaves are left; then the boxes of these are compared, one against 16.


_FIRST_CAPACITY = 1024


@inline
def meeting(edges, node, lane, other, slot, dim, touching):
    """Which of the slots of ``node`` from ``lane`` on meet a slot of node ``other``."""
    row, other_row = node * (2 * dim), other * (2 * dim)
    meets = _meets(edges, row, lane, other_row, slot, dim, touching)
    meets = meets & _meets(edges, row + 1, lane, other_row + 1, slot, dim, touching)
    if dim == 3:
        meets = meets & _meets(edges, row + 2, lane, other_row + 2, slot, dim, touching)
    return meets


@always_inline
def _meets(edges, row, lane, other_row, slot, dim, touching):
    """The same on one axis."""
    low, high = splat(edges[other_row, slot]), splat(edges[other_row + dim, slot])
    if touching:
        return (load(edges, row, lane) <= high) & (low <= load(edges, row + dim, lane))
    return (load(edges, row, lane) < high) & (low < load(edges, row + dim, lane))


@inline
def meeting_bits(edges, node, other, slot, dim):
    """`meeting` for all 16 slots, as bits; touching counts."""
    found = bits(meeting(edges, node, 0, other, slot, dim, True))
    for lane in range(LANES, WIDTH, LANES):
        found |= bits(meeting(edges, node, lane, other, slot, dim, True)) << lane
    return found


@inline
def _add_children(edges, children, links, a, b, dim, out, end):
    """Append the pairs of children of ``a`` and ``b`` that meet; a node with itself: each once."""
    above, place = place_above(links, b)
    candidates = (1 << count_of(links, a)) - 1
    if a != b:
        candidates = meeting_bits(edges, a, above, place, dim)
    while candidates != 0:
        i = lowest_lane(candidates)
        candidates &= candidates - 1
        later = -1 if a != b else -1 << i
        for lane in range(0, WIDTH, LANES):
            wanted = mask_of(later >> lane) & meeting(edges, b, lane, a, i, dim, True)
            store_lanes(out, 0, end, splat(children[a, i]))
            end += put_lanes(out, 1, end, load(children, b, lane), wanted)
    return end


@inline
def _add_lower(edges, children, links, a, b, dim, out, end):
    """Append the pairs of a child of ``a`` with ``b``."""
    above, place = place_above(links, b)
    for lane in range(0, WIDTH, LANES):
        store_lanes(out, 1, end, splat(np.int32(b)))
        end += put_lanes(
            out, 0, end, load(children, a, lane), meeting(edges, a, lane, above, place, dim, True)
        )
    return end


@jit
def leaves_that_meet(nodes, other):
    """Pairs of leaves that overlap: of the moving tree with itself or (``other`` 1) with the static tree.

    Returns ``leaves, tests``; the first row of ``leaves`` names moving ones.
    """
    edges, children, links, _ = nodes
    dim = edges.shape[0] // children.shape[0] // 2
    level, other_level = children[0, HEIGHT + MOVING] - 1, children[0, HEIGHT + other] - 1
    now, then = np.empty((2, _FIRST_CAPACITY), np.int32), np.empty((2, _FIRST_CAPACITY), np.int32)
    now[0, 0], now[1, 0] = children[0, MOVING], children[0, other]
    count = np.int64(now[0, 0] > 0 and now[1, 0] > 0)
    tests = checked = np.int64(0)
    wanted = True
    while wanted and count > 0 and (level > 0 or other_level > 0):
        found = np.int64(0)
        for k in range(count):
            if found + LEAST_CAPACITY > then.shape[1]:
                then = with_columns(then, found, 2 * then.shape[1])
            a, b = np.int64(now[0, k]), np.int64(now[1, k])
            tests += count_of(links, a)
            if level == other_level:
                found = _add_children(edges, children, links, a, b, dim, then, found)
            elif level > other_level:
                found = _add_lower(edges, children, links, a, b, dim, then, found)
            else:
                before = found
                found = _add_lower(edges, children, links, b, a, dim, then, found)
                for place in range(before, found):
                    then[0, place], then[1, place] = then[1, place], then[0, place]
            if tests > checked + OFTEN // WIDTH:
                checked = tests
                wanted = goes_on()
                if not wanted:
                    break
        level, other_level = level - (level >= other_level), other_level - (other_level >= level)
        now, then, count = then, now, found
    leaves = np.empty((2, count), np.int32)
    for k in range(count):
        leaves[0, k], leaves[1, k] = now[0, k], now[1, k]
    return leaves, tests


@jit
def join_leaf_pairs(nodes, leaves, boxes, rules, begin, end, out, limit, store):
    """Pairs of boxes of the leaf pairs ``begin .. end - 1``: the pairs, how many, and the tests.

    ``rules``: whether slots are as large as their boxes, ``touching``, and the filter.
    """
    exact, touching, filter = rules  # noqa: A001
    found = tests = checked = np.int64(0)
    how = exact, exact and filter.classes.shape[0] + filter.categories.shape[0] == 0, touching, filter
    for row in range(begin, end):
        if store and found + LEAST_CAPACITY > out.shape[0]:
            out = larger(out, found)
        a, b = np.int64(leaves[0, row]), np.int64(leaves[1, row])
        if touching or not exact:
            found, made = _join_leaves(nodes, boxes, a, b, how, out, found, store, True)
        else:
            found, made = _join_leaves(nodes, boxes, a, b, how, out, found, store, False)
        tests += made
        if found > limit:
            break
        checked = looked(tests, checked)
        if checked < 0:
            break
    return out, found, tests


@inline
def _join_leaves(nodes, boxes, a, b, how, out, found, store, closed):
    """Pairs of boxes of two leaves, or of one, for which ``out`` has room: how many, and the tests."""
    edges, children, links, _ = nodes
    exact, sure, touching, filter = how  # noqa: A001
    dim, tests = boxes.shape[1] // 2, np.int64(0)
    candidates = (1 << count_of(links, a)) - 1
    if a != b:
        above, place = place_above(links, b)
        candidates = meeting_bits(edges, a, above, place, dim)
        tests += count_of(links, a)
    while candidates != 0:
        i = lowest_lane(candidates)
        candidates &= candidates - 1
        later = -1 if a != b else -2 << i
        tests += count_of(links, b) - (0 if a != b else i + 1)
        for lane in range(0, WIDTH, LANES):
            wanted = mask_of(later >> lane) & meeting(edges, b, lane, a, i, dim, closed)
            if sure and store:
                found += put_pairs(out, found, splat(children[a, i]), load(children, b, lane), wanted)
            elif sure:
                found += count_lanes(bits(wanted))
            else:
                left, one = bits(wanted), np.int64(children[a, i])
                while left != 0:
                    two = np.int64(children[b, lane + lowest_lane(left)])
                    left &= left - 1
                    if (exact or overlap(boxes, one, boxes, two, touching)) and may_pair(filter, one, two):
                        if store:
                            put(out, found, one, two)
                        found += 1
    return found, tests
