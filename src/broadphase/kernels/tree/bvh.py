"""A binary bounding volume hierarchy for one search: built top down, then all its pairs.

The hierarchy is a binary tree of boxes in flat arrays.

The layout allows traversal without a stack: nodes are in depth-first order, so a node's first child is the
next node, its second child follows the subtree of the first, and a search that skips a node continues with
the node after its subtree.

How a node is divided:

- at the middle of its boxes' centres on the axis on which these are spread most: half to each side,
  whatever the distribution.  Distant clusters and outliers cost one or two splits, and no resolution;
- boxes larger than the spread of all centres first go to a child of their own, so that a giant box does
  not enlarge the nodes of the small boxes around it (the idea of the priority R-tree: Arge and others, 2004);
- at the top by class: sides of a join, or static and moving boxes, never share a node, so that pairs that
  may not count are skipped a subtree at a time.

Cost: n log n; every level is a few linear passes.  Middles are found by counting in ordered integers,
not by quickselect, so no input makes it slower than that.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.arrays.passes import PIECE, answers
from broadphase.kernels.arrays.results import LEAST_CAPACITY, put
from broadphase.kernels.arrays.sorting import bits_of, ordered, ordered_columns, ordered_rows
from broadphase.kernels.boxes.overlap import (
    allowed_lanes,
    lanes_that_meet,
    may_pair,
    overlap,
    overlapping_lanes,
)
from broadphase.kernels.machine.interrupts import OFTEN, goes_on
from broadphase.kernels.machine.jit import inline, jit
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


class Tree(NamedTuple):
    """A bounding volume hierarchy over ``n`` boxes, with ``m`` nodes in depth-first order.

    Node 0 is the root.  Node ``k`` and everything below it are the nodes ``k`` to ``after[k] - 1``; it
    is a leaf when ``after[k] == k + 1``.  Else its children are ``k + 1`` and ``after[k + 1]``.  The
    boxes below it are ``order[begin[k] : begin[after[k]]]``; those of a leaf are of one class.
    """

    order: npt.NDArray[np.int32]
    """``(n,)``: ids of the boxes, leaf by leaf."""
    begin: npt.NDArray[np.int32]
    """``(m + 1,)``: where in ``order`` a node's boxes begin; the last entry is ``n``."""
    after: npt.NDArray[np.int32]
    """``(m,)``: the first node that is not below this one; ``m`` where there is none."""
    bounds: npt.NDArray[np.floating[Any]]
    """``(m, 2 * dim)``: the smallest box around a node's boxes."""


def build_tree(boxes: npt.NDArray[np.floating[Any]], classes: npt.NDArray[np.uint8]) -> Tree:
    """Build a tree over valid boxes; ``classes`` (one for each box, or none) are kept apart at the top."""
    return Tree(*build(boxes, classes))


@jit
def build(boxes, classes):
    """The arrays of `build_tree`."""
    order = _grouped(boxes.shape[0], classes)
    keys, wanted = _measured(boxes, order)
    begin, second = _divide(keys, order, classes, wanted)
    after = _nodes_after(second)
    return order, begin, after, _bounds(boxes, order, begin, after)


@inline
def _grouped(n, classes):
    """Ids ``0 .. n - 1``, those of one class together."""
    order = np.empty(n, np.int32)
    if classes.shape[0] == 0:
        for i in range(n):
            order[i] = i
        return order
    starts = np.zeros(257, np.int64)
    for i in range(n):
        starts[np.int64(classes[i]) + 1] += 1
    for k in range(256):
        starts[k + 1] += starts[k]
    for i in range(n):
        order[starts[classes[i]]] = i
        starts[classes[i]] += 1
    return order


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
def _divide(keys, order, classes, wanted):
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
        border = _class_border(order, begin, end, classes)
        if border == end and end - begin > LEAF:
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
    at = 0
    while below + counts[at] <= half:
        below += counts[at]
        at += 1
    # The median is in bin `at`, and `below` keys are before that bin.
    if below >= half - slack:
        return True, (first + at) << shift, np.int64(0), below
    if below + counts[at] <= half + slack:
        return True, (first + at + 1) << shift, np.int64(0), below
    return False, max(smallest, (first + at) << shift), min(largest, ((first + at + 1) << shift) - 1), below


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


@inline
def _class_border(order, begin, end, classes):
    """Where in ``order[begin:end]``, grouped by class, the second class begins; ``end`` if nowhere."""
    if classes.shape[0] == 0 or classes[order[begin]] == classes[order[end - 1]]:
        return end
    at = begin
    while classes[order[at]] == classes[order[begin]]:
        at += 1
    return at


@inline
def _bounds(boxes, order, begin, after):
    """The smallest box around the boxes of each node."""
    nodes, dim = after.shape[0], boxes.shape[1] // 2
    bounds = np.empty((nodes, 2 * dim), boxes.dtype)
    for node in range(nodes - 1, -1, -1):
        for axis in range(dim):
            bounds[node, axis] = np.inf
            bounds[node, dim + axis] = -np.inf
        if after[node] == node + 1:
            for k in range(begin[node], begin[node + 1]):
                _enclose(bounds, node, boxes, order[k])
        else:
            _enclose(bounds, node, bounds, np.int32(node + 1))
            _enclose(bounds, node, bounds, after[node + 1])
        if node % PIECE == 0 and not answers(nodes):
            break
    return bounds


@inline
def _enclose(bounds, node, boxes, i):
    """Widen a node's bounds to hold box ``i``."""
    dim = boxes.shape[1] // 2
    for axis in range(dim):
        bounds[node, axis] = min(bounds[node, axis], boxes[i, axis])
        bounds[node, dim + axis] = max(bounds[node, dim + axis], boxes[i, dim + axis])


# -----------------------------------------------------------------------------------------------------------
# All overlapping pairs of the boxes of one tree: every leaf with itself and with the leaves after it.
#
# From a leaf the walk goes forward through the nodes in depth-first order and skips subtrees that none of its
# boxes meets.  Only later nodes are visited, so each pair of leaves, and each pair of boxes, is found once.


class Leaves(NamedTuple):
    """A tree and its boxes in the form that the search reads."""

    begin: npt.NDArray[np.int32]
    after: npt.NDArray[np.int32]
    bounds: npt.NDArray[np.signedinteger[Any]]
    """Of the nodes, as ordered keys."""
    common: npt.NDArray[np.uint8]
    """The class bits that all boxes below a node share; two nodes that share one cannot make a pair."""
    columns: npt.NDArray[np.signedinteger[Any]]
    """The boxes in the tree's order, as ordered keys, one row an edge."""
    ids: npt.NDArray[np.int32]
    """``(1, n)``, in the same order."""


def lay_out(tree: Tree, boxes: npt.NDArray[np.floating[Any]], classes: Any, touching: bool) -> Leaves:
    """Prepare a tree over ``boxes`` for `join_leaf_pairs`."""
    common = np.zeros(len(tree.after), np.uint8)
    if len(classes):
        find_common_classes(tree.order, tree.begin, tree.after, classes, common)
    columns, ids = ordered_columns(bits_of(boxes), tree.order, 0, touching)
    return Leaves(tree.begin, tree.after, ordered_rows(bits_of(tree.bounds), touching), common, columns, ids)


@jit
def find_common_classes(order, begin, after, classes, common):
    """Write for every node the class bits that all boxes below it share."""
    for node in range(after.shape[0] - 1, -1, -1):
        if after[node] == node + 1:
            common[node] = classes[order[begin[node]]]  # a leaf holds boxes of one class
        else:
            common[node] = common[node + 1] & common[after[node + 1]]


@jit
def join_leaves(axes, leaves, filter, first, end, out, limit, store):  # noqa: A002
    """Pairs whose earlier leaf is a node ``first <= leaf < end``: the pairs, how many, and the tests.

    ``axes``: a tuple of the dimension's length.  Tests are those of a node with a node, of a box with a node,
    and of a box with a box.
    """
    begin, after, bounds, common, columns, ids = leaves
    filtered = filter.classes.shape[0] > 0 or filter.categories.shape[0] > 0
    nodes = after.shape[0]
    found = tests = checked = np.int64(0)
    for leaf in range(first, end):
        own, own_end = begin[leaf], begin[leaf + 1]
        node = np.int64(leaf if after[leaf] == leaf + 1 else nodes)
        while node < nodes:
            tests += 1
            if common[leaf] & common[node] != 0 or not overlap(bounds, leaf, node, True):
                node = np.int64(after[node])
                continue
            # A leaf of few boxes far apart (three movers among ten thousand walls) has bounds that meet
            # almost everything; its boxes do not.
            tests += own_end - own
            some = _boxes_that_meet(axes, columns, own, own_end, bounds, node)
            if some == 0:
                node = np.int64(after[node])
                continue
            last = begin[node + 1] if after[node] == node + 1 else 0
            if store and last > 0 and found + LEAST_CAPACITY > out.shape[0]:
                out = larger(out, found)
            while last > 0 and some != 0:
                i = own + lowest_lane(some)
                some &= some - 1
                j = i + 1 if node == leaf else begin[node]
                while j < last:
                    rest = min(last - j, LANES)
                    hits = overlapping_lanes(axes, columns, i, j) & mask_of((1 << rest) - 1)
                    if filtered:
                        hits = allowed_lanes(filter, ids, i, j, bits(hits))
                    if store:
                        found += put_pairs(out, found, splat(ids[0, i]), load(ids, 0, j), hits)
                    else:
                        found += count_lanes(bits(hits))
                    tests += rest
                    j += LANES
            node += 1
        if found > limit:
            break
        if tests > checked + OFTEN:
            checked = tests
            if not goes_on():
                break
    return out, found, tests


@inline
def _boxes_that_meet(axes, columns, begin, end, bounds, node):
    """The boxes ``begin <= i < end`` of a leaf that overlap the bounds of a node, as bits from ``begin``."""
    found = bits(lanes_that_meet(columns, 0, len(axes), begin, bounds, node))
    if LANES < LEAF and end - begin > LANES:
        found |= bits(lanes_that_meet(columns, 0, len(axes), begin + LANES, bounds, node)) << LANES
    return found & ((1 << int(end - begin)) - 1)


# -----------------------------------------------------------------------------------------------------------
# All pairs within the tree of moving boxes, and between it and the tree of static ones.
#
# Two nodes that overlap are replaced by those of their children that do, level by level, until pairs of
# leaves are left; then the boxes of these are compared, one against 16.


_FIRST_CAPACITY = 1024


@inline
def meeting(edges, node, lane, at, slot, dim):
    """Which of the slots of ``node`` from ``lane`` on meet a slot of node ``at``."""
    row = node * (2 * dim)
    own = at * (2 * dim)
    meets = load(edges, row, lane) <= splat(edges[own + dim, slot])
    meets = meets & (splat(edges[own, slot]) <= load(edges, row + dim, lane))
    meets = meets & (load(edges, row + 1, lane) <= splat(edges[own + dim + 1, slot]))
    meets = meets & (splat(edges[own + 1, slot]) <= load(edges, row + dim + 1, lane))
    if dim == 3:
        meets = meets & (load(edges, row + 2, lane) <= splat(edges[own + 5, slot]))
        meets = meets & (splat(edges[own + 2, slot]) <= load(edges, row + 5, lane))
    return meets


@inline
def meeting_bits(edges, node, at, slot, dim):
    """`meeting` for all 16 slots, as bits."""
    found = bits(meeting(edges, node, 0, at, slot, dim))
    for lane in range(LANES, WIDTH, LANES):
        found |= bits(meeting(edges, node, lane, at, slot, dim)) << lane
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
            wanted = mask_of(later >> lane) & meeting(edges, b, lane, a, i, dim)
            store_lanes(out, 0, end, splat(children[a, i]))
            end += put_lanes(out, 1, end, load(children, b, lane), wanted)
    return end


@inline
def _add_lower(edges, children, links, a, b, dim, out, end):
    """Append the pairs of a child of ``a`` with ``b``."""
    above, place = place_above(links, b)
    for lane in range(0, WIDTH, LANES):
        store_lanes(out, 1, end, splat(np.int32(b)))
        end += put_lanes(out, 0, end, load(children, a, lane), meeting(edges, a, lane, above, place, dim))
    return end


@jit
def leaves_that_meet(edges, children, links, other):
    """Pairs of leaves that overlap: of the moving tree with itself or (``other`` 1) with the static tree.

    Returns ``leaves, tests``; the first row of ``leaves`` names moving ones.
    """
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
                then = _wider(then, found)
            a, b = np.int64(now[0, k]), np.int64(now[1, k])
            tests += count_of(links, a)
            if level == other_level:
                found = _add_children(edges, children, links, a, b, dim, then, found)
            elif level > other_level:
                found = _add_lower(edges, children, links, a, b, dim, then, found)
            else:
                before = found
                found = _add_lower(edges, children, links, b, a, dim, then, found)
                for at in range(before, found):
                    then[0, at], then[1, at] = then[1, at], then[0, at]
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


@inline
def _wider(pairs, filled):
    """An array of twice as many columns; its first ``filled`` columns are those of ``pairs``."""
    out = np.empty((2, 2 * pairs.shape[1]), np.int32)
    for k in range(filled):
        out[0, k], out[1, k] = pairs[0, k], pairs[1, k]
    return out


@jit
def join_leaf_pairs(
    edges, children, links, leaves, boxes, exact, touching, filter, begin, end, out, limit, store,  # noqa: A002
):  # fmt: skip
    """Pairs of boxes of the leaf pairs ``begin .. end - 1``: the pairs, how many, and the tests.

    ``exact``: slots that meet are a pair, and boxes and rules need no further test.
    """
    dim = boxes.shape[1] // 2
    found = tests = checked = np.int64(0)
    for row in range(begin, end):
        if store and found + LEAST_CAPACITY > out.shape[0]:
            out = larger(out, found)
        a = np.int64(leaves[0, row])
        b = np.int64(leaves[1, row])
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
                wanted = mask_of(later >> lane) & meeting(edges, b, lane, a, i, dim)
                if exact and store:
                    found += put_pairs(out, found, splat(children[a, i]), load(children, b, lane), wanted)
                elif exact:
                    found += count_lanes(bits(wanted))
                else:
                    left = bits(wanted)
                    one = np.int64(children[a, i])
                    while left != 0:
                        two = np.int64(children[b, lane + lowest_lane(left)])
                        left &= left - 1
                        if overlap(boxes, one, two, touching) and may_pair(filter, one, two):
                            if store:
                                put(out, found, one, two)
                            found += 1
        if found > limit:
            break
        if tests > checked + OFTEN:
            checked = tests
            if not goes_on():
                break
    return out, found, tests
