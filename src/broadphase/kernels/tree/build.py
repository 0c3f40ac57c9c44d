"""Build a bounding volume hierarchy: a binary tree of boxes in flat arrays, top down.

The layout is for walking without a stack: nodes lie in depth-first order, so a node's first child is the
next node, its second child is what comes after the first, and a search that leaves a node out jumps to
what comes after it.

How a node is split:

- at the middle of its boxes' centres on the axis on which these are spread most: half to each side,
  whatever the distribution.  Clusters far apart and outliers cost a split or two, no resolution;
- but boxes larger than the spread of all centres go to a child of their own first, so that a giant does
  not blow up the nodes of the dust around it (the idea of the priority R-tree: Arge and others, 2004);
- and at the top by class: sides of a join, or static and moving, never share a node, so that pairs that
  may not count are left out a subtree at a time.

Cost: n log n; every level is a few linear passes.  Middles are found by counting in ordered integers,
not by quickselect, so no input makes it slower than that.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.ordered_bits import bits_of, ordered
from broadphase.kernels.arrays.pieces import AT_ONCE, pieces
from broadphase.kernels.machine.jit import inline, jit

# Leaves hold at most this many boxes: as many as a wide processor compares at a time.
LEAF = 16
# A box is too large for its node when it is this many times as long as the node's centres are spread.
TOO_LARGE = 2.0
# A path through the tree holds at most this many splits by size, and so its depth is bounded: the other
# splits leave at most 5/8 of the boxes on either side.
_SPLITS_BY_SIZE = 40
_STACK = 128
_BINS = 64


# What is to be done next for a part: choose by what to divide it; find the middle; mark who goes first, by
# size or by the middle; bring one row after the other into the new order, and the ids last.
_CHOOSE, _BY_SIZE, _FIND_MIDDLE, _BY_MIDDLE, _ARRANGE = range(5)
_FIRST_STEP = (0, _CHOOSE, 0, 0, 0, 0)


class Scratch(NamedTuple):
    """Memory for the building of a tree."""

    counts: npt.NDArray[np.int64]
    goes_first: npt.NDArray[np.bool_]
    sources: npt.NDArray[np.uint32]
    spare_ids: npt.NDArray[np.int32]
    spare_keys: npt.NDArray[np.signedinteger[Any]]
    one: npt.NDArray[np.floating[Any]]
    """One float, and in ``one_bits`` the same memory as bits."""
    one_bits: npt.NDArray[np.signedinteger[Any]]
    waiting: npt.NDArray[np.int64]
    """What is still to be divided: begin, end, the node whose second child it is (or -1), splits by size."""


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
    """Build a tree over sound boxes; ``classes`` (one a box, or none) are kept apart at the top."""
    order = _grouped(len(boxes), classes)
    begin, after = _divide(_keys_of(boxes, order), order, classes, boxes.dtype)
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
        measure(boxes, order, np.finfo(boxes.dtype).max, measures, begin, end)
        order_measures(keys, begin, end)
    return keys


def _divide(
    keys: npt.NDArray[Any], order: npt.NDArray[np.int32], classes: npt.NDArray[np.uint8], dtype: Any
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Arrange ``order`` and ``keys`` leaf by leaf; where the nodes begin, and what comes after each."""
    n = len(order)
    begins, second, after = np.empty((3, 2 * n + 1), np.int32)
    one = np.empty(1, dtype)
    scratch = Scratch(
        np.empty(_BINS + 1, np.int64), np.empty(n, np.bool_), np.empty(n, np.uint32), np.empty(n, np.int32),
        np.empty(n, keys.dtype), one, bits_of(one), np.empty((_STACK, 4), np.int64),
    )  # fmt: skip
    scratch.waiting[0] = 0, n, -1, _SPLITS_BY_SIZE
    at = (min(n, 1), *_FIRST_STEP)
    while at[0] > 0:
        at = split_some(keys, order, classes, begins, second, scratch, at, AT_ONCE)
    nodes = at[1]
    begins[nodes] = n
    find_what_comes_after(second, nodes, after)
    return begins[: nodes + 1].copy(), after[:nodes].copy()


@jit
def measure(boxes, order, largest, measures, begin, end):
    """Write centres, then half extents of the boxes ``begin .. end - 1`` in order; infinity made finite."""
    dim = boxes.shape[1] // 2
    for k in range(begin, end):
        for axis in range(dim):
            low = min(max(boxes[order[k], axis], -largest), largest) / 2
            high = min(max(boxes[order[k], dim + axis], -largest), largest) / 2
            measures[axis, k] = low + high
            measures[dim + axis, k] = high - low


@jit
def order_measures(keys, begin, end):
    """Turn the bits of `measure` into ordered keys."""
    for row in range(keys.shape[0]):
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
    """Look for a key near the median among those of ``smallest`` to ``largest``, ``below`` which others lie.

    Keys are counted in bins; a boundary between bins that leaves 3/8 to 5/8 of them on either side will
    do.  If there is none, the bin with the median is to be looked into, at most 11 times.  Returns whether
    it is found, and where to look: ``smallest, largest, below``; found, all keys below ``smallest`` go first,
    and as many of those equal to it as ``largest`` says.
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
    # The median lies in bin `at`, and `below` keys lie before that bin.
    if below >= half - slack:
        return True, (first + at) << shift, np.int64(0), below
    if below + counts[at] <= half + slack:
        return True, (first + at + 1) << shift, np.int64(0), below
    return False, max(smallest, (first + at) << shift), min(largest, ((first + at + 1) << shift) - 1), below


@inline
def _value(key, one, one_bits):
    """The float of an ordered key."""
    top = 8 * one_bits.itemsize - 1
    one_bits[0] = key ^ ((key >> top) & ~(-1 << top))
    return float(one[0])


@inline
def _choose_row(keys, begin, end, may_split_by_size, one, one_bits):
    """By what to divide a node: ``row, smallest, largest, by_size``.

    Among the keys of that row, from the smallest to the largest, a middle is to be found.  With ``by_size``
    the boxes whose key lies above ``smallest`` go first, and that is all.
    """
    dim = keys.shape[0] // 2
    row = long_row = smallest = largest = short = long = np.int64(0)
    spread = length = -1.0
    for axis in range(dim):
        low, high = _key_range(keys[axis, begin:end])
        axis_spread = _value(high, one, one_bits) / 2 - _value(low, one, one_bits) / 2
        if axis_spread > spread:
            row, smallest, largest, spread = axis, low, high, axis_spread
        low, high = _key_range(keys[dim + axis, begin:end])
        axis_length = _value(high, one, one_bits)
        if axis_length > length:
            long_row, short, long, length = dim + axis, low, high, axis_length
    if length > TOO_LARGE * spread:
        one[0] = TOO_LARGE * spread
        limit = int(one_bits[0])
        if short <= limit and limit < long and may_split_by_size:
            return long_row, limit, np.int64(0), np.int64(1)
        # All are too large, or all centres are equal: only their sizes can still tell the boxes apart.
        if length - _value(short, one, one_bits) > spread:
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
    """Where every place is filled from: the marked boxes, then the others, all in their order.

    Returns how many boxes are marked.  Each place is written to both lists and the next one overwrites
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


@jit
def split_some(keys, order, classes, begins, second, scratch, at, most):
    """Go on from ``at`` to divide boxes until every part is a leaf; returns how far it came.

    Arranges ``order`` and ``keys`` (of `order_measures`), writes where each node begins, and its second
    child or -1.  ``at = depth, nodes, step, row, smallest, largest, below``: how many parts wait, how many
    nodes are made, and what is known of the part on top.  Stops when it has gone over ``most`` keys.
    """
    counts, goes_first, sources, spare_ids, spare_keys, one, one_bits, waiting = scratch
    rows = keys.shape[0]
    depth, nodes, step, row, smallest, largest, below = at
    while depth > 0 and most >= 0:
        begin, end, parent = waiting[depth - 1, 0], waiting[depth - 1, 1], waiting[depth - 1, 2]
        by_size_left = waiting[depth - 1, 3]
        border = end
        if step == _CHOOSE:
            border = _class_border(order, begin, end, classes)
            if border == end and end - begin > LEAF:
                row, smallest, largest, by_size = _choose_row(
                    keys, begin, end, by_size_left > 0, one, one_bits
                )
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
    return depth, nodes, step, row, smallest, largest, below


@jit
def find_what_comes_after(second, nodes, after):
    """Write the node after each node's subtree, from the second child of each (-1 for leaves)."""
    if nodes > 0:
        after[0] = nodes
    for k in range(nodes):
        if second[k] >= 0:
            after[k + 1] = second[k]
            after[second[k]] = after[k]


@jit
def fit_bounds(boxes, order, begin, after, bounds, last, most):
    """Write the smallest box around the boxes of each node before ``last``, those behind it first.

    Stops when it has looked at more than ``most`` boxes; returns the first node that is done.
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
