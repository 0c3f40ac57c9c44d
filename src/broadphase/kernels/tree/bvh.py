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

from broadphase.kernels.arrays.results import LEAST_CAPACITY, put
from broadphase.kernels.arrays.sorting import AT_ONCE, bits_of, ordered, ordered_columns, ordered_rows, pieces
from broadphase.kernels.boxes.overlap import (
    allowed_lanes,
    lanes_that_meet,
    may_pair,
    overlap,
    overlapping_lanes,
)
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


# The next step for a part: choose by what to divide it; find the middle; mark which boxes go first, by
# size or by the middle; reorder one row after the other, and the ids last.
_CHOOSE, _BY_SIZE, _FIND_MIDDLE, _BY_MIDDLE, _ARRANGE = range(5)
_FIRST_STEP = (0, _CHOOSE, 0, 0, 0, 0)


class Scratch(NamedTuple):
    """Scratch memory for building a tree."""

    counts: npt.NDArray[np.int64]
    goes_first: npt.NDArray[np.bool_]
    sources: npt.NDArray[np.uint32]
    spare_ids: npt.NDArray[np.int32]
    spare_keys: npt.NDArray[np.signedinteger[Any]]
    waiting: npt.NDArray[np.int64]
    """Parts still to be divided: begin, end, the node whose second child it is (or -1), splits by size."""


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
    order = _grouped(len(boxes), classes)
    begin, after = _divide(_keys_of(boxes, order), order, classes)
    bounds = np.empty((len(after), boxes.shape[1]), boxes.dtype)
    last = len(after)
    while last > 0:
        last = fit_bounds(boxes, order, begin, after, bounds, last, AT_ONCE)
    return Tree(order, begin, after, bounds)


def _grouped(n: int, classes: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """Ids ``0 .. n - 1``, those of one class together."""
    return (np.argsort(classes, kind="stable") if len(classes) else np.arange(n)).astype(np.int32)


def _keys_of(boxes: npt.NDArray[np.floating[Any]], order: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    """Centres, then half extents of the boxes in the given order as ordered keys, one row an axis."""
    measures = np.empty((boxes.shape[1], len(order)), boxes.dtype)
    keys = bits_of(measures)
    for begin, end in pieces(len(order)):
        measure(boxes, order, np.finfo(boxes.dtype).max, measures, keys, begin, end)
    return keys


def _divide(
    keys: npt.NDArray[Any], order: npt.NDArray[np.int32], classes: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Arrange ``order`` and ``keys`` leaf by leaf; where the nodes begin, and what comes after each."""
    n = len(order)
    begins, second, after = np.empty((3, 2 * n + 1), np.int32)
    scratch = Scratch(
        np.empty(_BINS + 1, np.int64), np.empty(n, np.bool_), np.empty(n, np.uint32), np.empty(n, np.int32),
        np.empty(n, keys.dtype), np.empty((_STACK, 4), np.int64),
    )  # fmt: skip
    scratch.waiting[0] = 0, n, -1, _SPLITS_BY_SIZE
    at = (min(n, 1), *_FIRST_STEP)
    while at[0] > 0:
        at = split_some(keys, order, classes, begins, second, after, scratch, at, AT_ONCE)
    nodes = at[1]
    begins[nodes] = n
    return begins[: nodes + 1].copy(), after[:nodes].copy()


@jit
def measure(boxes, order, largest, measures, keys, begin, end):
    """Write centres, then half extents of the boxes ``begin .. end - 1`` in order; infinity made finite.

    They are written as ordered ``keys``, which are in the memory of ``measures``.
    """
    dim = boxes.shape[1] // 2
    for k in range(begin, end):
        for axis in range(dim):
            low = min(max(boxes[order[k], axis], -largest), largest) / 2
            high = min(max(boxes[order[k], dim + axis], -largest), largest) / 2
            measures[axis, k] = low + high
            measures[dim + axis, k] = high - low
    for row in range(2 * dim):
        for k in range(begin, end):
            keys[row, k] = ordered(keys[row, k], 8 * keys.itemsize - 1)


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
def _find_what_comes_after(second, nodes, after):
    """Write the node after each node's subtree, from the second child of each (-1 for leaves)."""
    if nodes > 0:
        after[0] = nodes
    for k in range(nodes):
        if second[k] >= 0:
            after[k + 1] = second[k]
            after[second[k]] = after[k]


@jit
def split_some(keys, order, classes, begins, second, after, scratch, at, most):
    """Continue dividing boxes from ``at`` until every part is a leaf; returns the progress.

    Arranges ``order`` and ``keys`` (of `measure`), writes where each node begins, its second child or -1, and
    at last the node after its subtree.  ``at = depth, nodes, step, row, smallest, largest, below``: how many
    parts wait, how many nodes are made, and the state of the part on top.  Stops after more than ``most``
    keys.
    """
    counts, goes_first, sources, spare_ids, spare_keys, waiting = scratch
    rows = keys.shape[0]
    depth, nodes, step, row, smallest, largest, below = at
    while depth > 0 and most >= 0:
        begin, end, parent = waiting[depth - 1, 0], waiting[depth - 1, 1], waiting[depth - 1, 2]
        by_size_left = waiting[depth - 1, 3]
        border = end
        if step == _CHOOSE:
            border = _class_border(order, begin, end, classes)
            if border == end and end - begin > LEAF:
                row, smallest, largest, by_size = _choose_row(keys, begin, end, by_size_left > 0)
                waiting[depth - 1, 3] -= by_size
                by_size_left -= by_size
                step = np.int64(_BY_SIZE if by_size else _FIND_MIDDLE)
                below = np.int64(0)
                most -= rows * (end - begin)
        while step == _FIND_MIDDLE and most >= 0:
            found, smallest, largest, below = _narrow(keys[row, begin:end], smallest, largest, below, counts)
            step += found
            most -= end - begin
        if step == _BY_SIZE or (step == _BY_MIDDLE and most >= 0):
            marks = goes_first[: end - begin]
            _mark(keys[row, begin:end], smallest, largest, step == _BY_SIZE, marks)
            below = _partition(marks, sources, spare_ids)
            step = np.int64(_ARRANGE)
            most -= 2 * (end - begin)
        while _ARRANGE <= step < _ARRANGE + rows and most >= 0:
            _rearrange(keys[step - _ARRANGE, begin:end], sources, spare_keys)
            step += 1
            most -= end - begin
        if step == _ARRANGE + rows:
            _rearrange(order[begin:end], sources, spare_ids)
            border = begin + below
            step = np.int64(_CHOOSE)
        if step != _CHOOSE:
            break
        if parent >= 0:
            second[parent] = nodes
        begins[nodes] = begin
        second[nodes] = -1
        depth -= 1
        if border < end:
            waiting[depth, 0], waiting[depth, 1] = border, end
            waiting[depth, 2], waiting[depth, 3] = nodes, by_size_left
            waiting[depth + 1, 0], waiting[depth + 1, 1] = begin, border
            waiting[depth + 1, 2], waiting[depth + 1, 3] = -1, by_size_left
            depth += 2
        nodes += 1
        most -= LEAF
    if depth == 0:
        _find_what_comes_after(second, nodes, after)
    return depth, nodes, step, row, smallest, largest, below


@jit
def fit_bounds(boxes, order, begin, after, bounds, last, most):
    """Write the smallest box around the boxes of each node before ``last``, from the last to the first.

    Stops after more than ``most`` boxes; returns the first node that is done.
    """
    dim = boxes.shape[1] // 2
    node = last
    while node > 0 and most >= 0:
        node -= 1
        for axis in range(dim):
            bounds[node, axis] = np.inf
            bounds[node, dim + axis] = -np.inf
        if after[node] == node + 1:
            most -= begin[node + 1] - begin[node]
            for k in range(begin[node], begin[node + 1]):
                _enclose(bounds, node, boxes, order[k])
        else:
            _enclose(bounds, node, bounds, np.int32(node + 1))
            _enclose(bounds, node, bounds, after[node + 1])
    return node


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
def join_leaves(axes, leaves, filter, at, end, out, most, store):  # noqa: A002
    """Pairs whose earlier leaf is a node before ``end``, from ``at = leaf, node`` on.

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.results`).  ``axes``: a tuple of the dimension's
    length.  Tests are those of a node with a node, of a box with a node, and of a box with a box.
    """
    begin, after, bounds, common, columns, ids = leaves
    filtered = filter.classes.shape[0] > 0 or filter.categories.shape[0] > 0
    nodes = after.shape[0]
    leaf, node = at
    found = tests = np.int64(0)
    while leaf < end:
        node = max(node, leaf)
        if after[leaf] > leaf + 1:
            node = np.int64(nodes)
        own, own_end = begin[leaf], begin[leaf + 1]
        while node < nodes:
            if tests > most or (store and found + LEAST_CAPACITY > out.shape[0]):
                return (leaf, node), found, tests
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
        leaf += 1
        node = np.int64(0)
    return (leaf, node), found, tests


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


IdPairs = npt.NDArray[np.int32]
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


def leaves_that_meet(edges: Any, children: Any, links: Any, other: int) -> tuple[IdPairs, int]:
    """Pairs of leaves that overlap: of the moving tree with itself or (``other`` 1) with the static tree.

    Returns ``leaves, tests``; the first row of ``leaves`` names moving ones.
    """
    roots = children[0, [MOVING, other]]
    level, other_level = (children[0, [HEIGHT + MOVING, HEIGHT + other]] - 1).tolist()
    if not roots.all():
        return np.empty((2, 0), np.int32), 0
    now, then = np.empty((2, 2, _FIRST_CAPACITY), np.int32)
    now[:, 0] = roots
    count, tests = 1, 0
    while level > 0 or other_level > 0:
        at = found = 0
        while at < count:
            at, found, made = pair_children(
                edges, children, links, now, count, then, level - other_level, at, found, AT_ONCE
            )
            tests += made
            if found + LEAST_CAPACITY > then.shape[1]:
                larger = np.empty((2, 2 * then.shape[1]), np.int32)
                larger[:, :found] = then[:, :found]
                then = larger
        level, other_level = level - (level >= other_level), other_level - (other_level >= level)
        now, then, count = then, now, found
        if then.shape[1] < now.shape[1]:
            then = np.empty_like(now)
    return np.ascontiguousarray(now[:, :count]), tests


@jit
def pair_children(edges, children, links, now, count, then, higher, at, found, most):
    """For the pairs of nodes from ``at`` on, write the pairs of children that meet to ``then[:, found:]``.

    ``higher``: by how many levels the first nodes are higher than the second; the children of the higher ones
    are paired with the others as they are.  Stops when ``then`` is full or ``most`` tests are made; returns
    ``at, found, tests``.
    """
    dim = edges.shape[0] // children.shape[0] // 2
    tests = np.int64(0)
    while at < count and tests <= most and found + LEAST_CAPACITY <= then.shape[1]:
        a = np.int64(now[0, at])
        b = np.int64(now[1, at])
        tests += count_of(links, a)
        if higher == 0:
            found = _add_children(edges, children, links, a, b, dim, then, found)
        elif higher > 0:
            found = _add_lower(edges, children, links, a, b, dim, then, found)
        else:
            before = found
            found = _add_lower(edges, children, links, b, a, dim, then, found)
            for k in range(before, found):
                then[0, k], then[1, k] = then[1, k], then[0, k]
        at += 1
    return at, found, tests


@jit
def join_leaf_pairs(
    edges, children, links, leaves, boxes, exact, touching, filter, at, end, out, most, store,  # noqa: A002
):  # fmt: skip
    """Pairs of boxes of the leaf pairs before ``end``, from ``at = row,`` on.

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.results`).  ``exact``: slots that meet are a
    pair, and boxes and rules need no further test.
    """
    dim = boxes.shape[1] // 2
    row = at[0]
    found = tests = np.int64(0)
    while row < end and tests <= most:
        if store and found + LEAST_CAPACITY > out.shape[0]:
            break
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
        row += 1
    return (row,), found, tests
