"""The dynamic tree: its nodes, and how boxes are inserted, removed and moved.

A node has up to 16 children, all leaves are equally deep, and the nodes are in flat arrays.

A node has `WIDTH` slots, the first ``count`` of them in use.  A slot holds a box and a child: in a leaf the
id of a box, in any other node the number of a node.  Three arrays with one entry a node:

- ``edges``, ``(nodes * 2 * dim, WIDTH)``: ``2 * dim`` rows a node, one an edge (``min..., max...``), so that
  the 16 boxes of a node are compared at once.  Unused slots hold NaN, which meets nothing;
- ``children``, ``(nodes, WIDTH)`` int32;
- ``links``, ``(nodes, 2)`` int32: the place of the slot above (``node * WIDTH + slot``) and the count.

Node 0 is not part of a tree: its slots `MOVING` and `STATIC_TREE` hold the two roots with their bounds (0
where a tree is empty), and the rest of its ``children`` row the counters named below.  So every root has
a slot above it like any other node, and two arrays are all that a query needs.

``where[id]`` is the place of a box's own slot.  ``nodes`` are ``edges, children, links, where``.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.passes import answers, answers_at
from broadphase.kernels.machine.jit import inline, jit

WIDTH = 16
# A node other than a root is merged with another when it has fewer children than this.
LEAST = 5

# An entry of a search's stack is ``node << 6 | level``.  The stack holds this many entries, enough for a tree
# of 8 levels (`stack_size`).  As trees grow, with ten children in each node, that is a hundred million boxes.
WAITING = 2 + WIDTH + (WIDTH - 1) * 8

# As arguments these are 64-bit numbers and not literals, for each of which Numba would compile a helper.
NODE_0 = np.int64(0)
LEAVES = np.int64(0)  # the lowest level
FIRST = np.int64(0)  # slot

# Slots of node 0.
MOVING = 0
STATIC_TREE = 1
# Further entries of children[0]; the first three have one for each tree.
HEIGHT = 2  # levels: 1 where the root is a leaf
LOOSE = 4  # 1 once a slot may hold more than its box: then a hit has to be compared with the box
HELD = 6  # boxes
FREE = 8  # the first free node, 0 for none; links[node, ABOVE] is the next
USED = 9  # nodes from here on were never used
NODES = 10  # nodes in use, without node 0

# Columns of links.
ABOVE = 0
COUNT = 1


@inline
def new_node(edges, children, links, rows):
    """A node without children; the caller has checked that one is left."""
    node = np.int64(children[0, FREE])
    if node > 0:
        children[0, FREE] = links[node, ABOVE]
    else:
        node = np.int64(children[0, USED])
        children[0, USED] = node + 1
    children[0, NODES] += 1
    links[node, COUNT] = 0
    for row in range(node * rows, node * rows + rows):
        for k in range(WIDTH):
            edges[row, k] = np.nan
    return node


@inline
def free_node(children, links, node):
    """Free a node."""
    links[node, ABOVE] = children[0, FREE]
    children[0, FREE] = node
    children[0, NODES] -= 1


@inline
def free_nodes(children):
    """How many nodes can be made before the arrays must grow."""
    return children.shape[0] - 1 - children[0, NODES]


@inline
def child_of(children, node, slot):
    """The child of a slot.

    All numbers are 64 bits wide in the kernels: of a helper that is given both widths, Numba makes two.
    """
    return np.int64(children[node, slot])


@inline
def count_of(links, node):
    """How many slots of a node are in use."""
    return np.int64(links[node, COUNT])


@inline
def place_above(links, node):
    """The node above and the slot there."""
    place = np.int64(links[node, ABOVE])
    return place // WIDTH, place % WIDTH


@inline
def hang(children, links, where, node, slot, child, level):
    """Make ``child`` the child of a slot; on level 0 it is a box."""
    children[node, slot] = child
    if level == 0:
        where[child] = node * WIDTH + slot
    else:
        links[child, ABOVE] = node * WIDTH + slot


@inline
def empty_slot(edges, node, slot, rows):
    """Mark a slot as unused."""
    for row in range(node * rows, node * rows + rows):
        edges[row, slot] = np.nan


@inline
def _bound(edges, links, node, row, rows):
    """The least of the lower edges, or the greatest of the upper edges, of a node's children."""
    bound = edges[node * rows + row, 0]
    for k in range(1, count_of(links, node)):
        edge = edges[node * rows + row, k]
        bound = min(bound, edge) if 2 * row < rows else max(bound, edge)
    return bound


@inline
def fit_above(edges, links, node, rows):
    """Make the slot above a node the smallest box around its children; whether it changed."""
    above, slot = place_above(links, node)
    changed = False
    for row in range(rows):
        bound = _bound(edges, links, node, row, rows)
        if edges[above * rows + row, slot] != bound:
            edges[above * rows + row, slot] = bound
            changed = True
    return changed


@inline
def fit_upwards(edges, links, node, rows):
    """`fit_above` for all nodes above, until nothing changes."""
    while node > 0 and fit_above(edges, links, node, rows):
        node, _ = place_above(links, node)


@inline
def finite(value):
    """An edge as a finite number for cost computations: infinity becomes far away, and sums stay finite."""
    return min(max(float(value), -1e300), 1e300)


@inline
def stack_size(children):
    """The most entries that a depth-first search has on its stack."""
    return 2 + WIDTH + (WIDTH - 1) * np.int64(max(children[0, HEIGHT], children[0, HEIGHT + 1]))


@inline
def stack_by_key(nodes, keys, left, begin, child, level, key):
    """Push a child of a node of ``level`` on the stack that starts at ``begin``; returns its new height.

    The entry with the smallest key is on top; the others are in any order.
    """
    nodes[left] = (child << 6) | (level - 1)
    keys[left] = key
    if left > begin and keys[left] > keys[left - 1]:
        nodes[left], nodes[left - 1] = nodes[left - 1], nodes[left]
        keys[left], keys[left - 1] = keys[left - 1], keys[left]
    return left + 1


@inline
def push_roots(children, nodes, keys):
    """Begin a depth-first search: ``node << 6 | level`` for both roots; how many there are."""
    left = np.int64(0)
    for tree in range(2):
        if children[0, tree] > 0:
            nodes[left] = (child_of(children, NODE_0, tree) << 6) | (children[0, HEIGHT + tree] - 1)
            keys[left] = 0.0
            left += 1
    return left


@jit
def drop_tree(nodes, tree, stack):
    """Free all nodes of a tree; ``stack`` is scratch for `stack_size` of them."""
    edges, children, links, _ = nodes
    rows = edges.shape[0] // children.shape[0]
    if children[0, tree] > 0:
        stack[0] = (child_of(children, NODE_0, tree) << 6) | (children[0, HEIGHT + tree] - 1)
        left = np.int64(1)
        while left > 0:
            left -= 1
            node = stack[left] >> 6
            level = stack[left] & 63
            if level > 0:
                for k in range(count_of(links, node)):
                    stack[left] = (child_of(children, node, k) << 6) | (level - 1)
                    left += 1
            free_node(children, links, node)
    children[0, tree] = 0
    children[0, HEIGHT + tree] = 0
    children[0, HELD + tree] = 0
    children[0, LOOSE + tree] = 0
    empty_slot(edges, NODE_0, tree, rows)


# -----------------------------------------------------------------------------------------------------------
# Convert a binary tree that was built for all boxes to a dynamic tree.
#
# The binary tree of `bvh` divides well, but its leaves are neither full nor equally deep.  From its leaves
# upwards, the boxes below a part of it are gathered as long as they fit into one node.  When they do not,
# both halves become nodes, and above them every part that is large enough does; parts that are too small for
# a node of their own are gathered with their neighbours further up.  Then these nodes are gathered in the
# same way, level by level, until one is left.


# Columns of what is gathered below a part of the binary tree: a list and its length.
_FIRST, _LAST, _SIZE = 0, 1, 2
_ONE = np.int64(1)
# Parts of a binary tree, of some ten boxes each, between two calls of `answers`.
_OFTEN = 1 << 17


def most_nodes(boxes: int) -> int:
    """An upper bound for the nodes of a packed tree of this many boxes.

    All nodes of a level except one have `LEAST` children or more.
    """
    return boxes // (LEAST - 1) + 16


@inline
def _make_node(nodes, boxes, reach, order, following, lists, k, level, tree):
    """Make a node of the list of ``k``, and empty the list; returns the node."""
    edges, children, links, where = nodes
    rows = boxes.shape[1]
    dim = rows // 2
    node = new_node(edges, children, links, rows)
    part = lists[k, _FIRST]
    for slot in range(lists[k, _SIZE]):
        if level == 0:
            i = np.int64(order[part - children.shape[0]])
            for axis in range(dim):
                edges[node * rows + axis, slot] = boxes[i, axis] - reach[i]
                edges[node * rows + dim + axis, slot] = boxes[i, dim + axis] + reach[i]
            if reach[i] > 0.0:
                children[0, LOOSE + tree] = 1
            hang(children, links, where, node, slot, i, level)
        else:
            hang(children, links, where, node, slot, part, level)
            fit_above(edges, links, part, rows)
        part = following[part]
    links[node, COUNT] = lists[k, _SIZE]
    lists[k, _SIZE] = 0
    return node


@inline
def _append(following, lists, k, first, last, size):
    """Append a list to that of ``k``."""
    if lists[k, _SIZE] == 0:
        lists[k, _FIRST] = first
    else:
        following[lists[k, _LAST]] = first
    lists[k, _LAST] = last
    lists[k, _SIZE] += size


@jit
def pack_nodes(nodes, boxes, reach, order, begin, after, tree):
    """Fill an empty tree with the boxes ``order``, whose binary tree is ``begin`` and ``after``.

    The arrays must be large enough for `most_nodes`.
    """
    edges, children, links, where = nodes
    rows = boxes.shape[1]
    parts = after.shape[0]
    boxes_from = children.shape[0]
    # For all nodes and the boxes after them; for each part of the binary tree the list of what is gathered,
    # the node made there, and whether more is below it than fits into one node.
    following = np.empty(children.shape[0] + order.shape[0], np.int64)
    lists, made, cut = np.zeros((parts, 3), np.int64), np.zeros(parts, np.int64), np.zeros(parts, np.bool_)
    level, total = np.int64(0), np.int64(2)
    while total > 1:
        total = np.int64(0)
        for k in range(parts - 1, -1, -1):
            if level == 0 and after[k] == k + 1:
                for place in range(begin[k], begin[k + 1]):
                    _append(following, lists, k, boxes_from + place, boxes_from + place, _ONE)
            if made[k] > 0:
                _append(following, lists, k, made[k], made[k], _ONE)
                made[k] = 0
            cut[k] = False
            if after[k] > k + 1:
                size = lists[k, _SIZE] + lists[k + 1, _SIZE] + lists[after[k + 1], _SIZE]
                cut[k] = cut[k + 1] | cut[after[k + 1]] | (size > WIDTH)
            for turn in range(2 if after[k] > k + 1 else 0):
                c = k + 1 if turn == 0 else np.int64(after[k + 1])
                if cut[k] and lists[c, _SIZE] >= LEAST:
                    made[c] = _make_node(nodes, boxes, reach, order, following, lists, c, level, tree)
                    total += 1
                if lists[c, _SIZE] > 0:
                    _append(following, lists, k, lists[c, _FIRST], lists[c, _LAST], lists[c, _SIZE])
                    lists[c, _SIZE] = 0
            if k % _OFTEN == 0 and not answers(order.shape[0]):
                return
        if lists[0, _SIZE] > 0:
            made[0] = _make_node(nodes, boxes, reach, order, following, lists, NODE_0, level, tree)
            total += 1
        level += 1
    root = made[0]
    hang(children, links, where, NODE_0, tree, root, level)
    fit_above(edges, links, root, rows)
    children[0, HEIGHT + tree] = level
    children[0, HELD + tree] = order.shape[0]


# -----------------------------------------------------------------------------------------------------------
# Insert boxes into the dynamic tree, one after the other.
#
# From the root downwards a box goes to the child that has to grow least to hold it; among children that need
# not grow, to the smallest.  Size is the sum of the sides; the area of a flat box would be 0.  A full node is
# split, and its parent gets one child more; so all leaves stay equally deep, and no order of insertion makes
# the tree deeper than ``log(n) / log(LEAST)``.
#
# A node is split where ``count * perimeter`` of both halves is least, along any axis or by size: a giant
# among small boxes goes with the largest.
#
# Source: Guttman's R-tree (1984); the split along a sorted axis is that of Beckmann's R*-tree (1990), judged
# by the surface area heuristic of ray tracing (MacDonald and Booth, 1990).


# The weight of widening a child against choosing a wide one: measured on uniform, clustered and mixed
# boxes.  With 8, every wide node attracts boxes and grows wider: ten times as many nodes are visited.
_OTHERS = 1000.0
_MANY = WIDTH + 1
_FORWARDS, _BACKWARDS = np.int64(1), np.int64(-1)


@inline
def _best_child(edges, node, count, box, rows, costs):
    """The slot where the box costs least."""
    dim = rows // 2
    for k in range(WIDTH):
        costs[k] = 0.0
    for axis in range(dim):
        low_row = edges[node * rows + axis]
        high_row = edges[node * rows + dim + axis]
        low = finite(box[axis])
        high = finite(box[dim + axis])
        for k in range(WIDTH):
            own_low = finite(low_row[k])
            own_high = finite(high_row[k])
            wider = max(own_low - low, 0.0) + max(high - own_high, 0.0)
            costs[k] += (own_high - own_low) + _OTHERS * wider
    best = np.int64(0)
    for k in range(1, count):
        if costs[k] < costs[best]:
            best = k
    return best


@inline
def _sort_by_key(keys, order):
    """Insertion sort of few entries."""
    for k in range(_MANY):
        key = keys[k]
        place = k
        while place > 0 and keys[order[place - 1]] > key:
            order[place] = order[place - 1]
            place -= 1
        order[place] = k


@inline
def _perimeters(boxes, order, step, sums):
    """Write to ``sums[m]`` the sides of the box around ``m + 1`` entries, the first ones or the last ones."""
    dim = boxes.shape[1] // 2
    first = 0 if step > 0 else _MANY - 1
    for m in range(_MANY):
        sums[m] = 0.0
    for axis in range(dim):
        low = finite(boxes[order[first], axis])
        high = finite(boxes[order[first], dim + axis])
        for m in range(_MANY):
            low = min(low, finite(boxes[order[first + m * step], axis]))
            high = max(high, finite(boxes[order[first + m * step], dim + axis]))
            sums[m] += high - low


@inline
def _choose_cut(boxes, order, best_order, keys, ahead, behind):
    """Sort 17 entries into ``best_order``; returns how many of them make the first half."""
    dim = boxes.shape[1] // 2
    least = np.inf
    cut = np.int64(_MANY // 2)
    for axis in range(dim + 1):
        for k in range(_MANY):
            keys[k] = 0.0
            if axis < dim:
                keys[k] = finite(boxes[k, axis]) + finite(boxes[k, dim + axis])
            else:
                for side in range(dim):
                    keys[k] = max(keys[k], finite(boxes[k, dim + side]) - finite(boxes[k, side]))
        _sort_by_key(keys, order)
        _perimeters(boxes, order, _FORWARDS, ahead)
        _perimeters(boxes, order, _BACKWARDS, behind)
        better = False
        # From the middle outwards: if all splits cost the same, both halves are equal.
        for step in range(_MANY - 2 * LEAST + 1):
            first = _MANY // 2 + ((step + 1) // 2 if step % 2 == 1 else -(step // 2))
            cost = first * ahead[first - 1] + (_MANY - first) * behind[_MANY - first - 1]
            if cost < least:
                least = cost
                cut = first
                better = True
        if better:
            for k in range(_MANY):
                best_order[k] = order[k]
    return cut


@inline
def _append_child(edges, children, links, where, node, box, child, level, rows):
    """Use the next free slot of a node that has one."""
    slot = count_of(links, node)
    for row in range(rows):
        edges[node * rows + row, slot] = box[row]
    hang(children, links, where, node, slot, child, level)
    links[node, COUNT] = slot + 1


@inline
def _insert_one(edges, children, links, where, tree, box, new, scratch):
    """Put one box into a tree."""
    rows = box.shape[0]
    boxes, ids, order, best_order, keys, ahead, behind = scratch
    node = child_of(children, NODE_0, tree)
    height = child_of(children, NODE_0, HEIGHT + tree)
    if node == 0:
        node = new_node(edges, children, links, rows)
        hang(children, links, where, NODE_0, tree, node, LEAVES + 1)
        children[0, HEIGHT + tree] = 1
        _append_child(edges, children, links, where, node, box, new, LEAVES, rows)
        fit_above(edges, links, node, rows)
        return
    for level in range(height - 1, -1, -1):
        above, slot = place_above(links, node)
        for row in range(rows // 2):
            edges[above * rows + row, slot] = min(edges[above * rows + row, slot], box[row])
        for row in range(rows // 2, rows):
            edges[above * rows + row, slot] = max(edges[above * rows + row, slot], box[row])
        if level > 0:
            node = child_of(children, node, _best_child(edges, node, count_of(links, node), box, rows, keys))
    # Upwards: `new` with the box boxes[WIDTH] needs a place in `node`.
    for row in range(rows):
        boxes[WIDTH, row] = box[row]
    level = np.int64(0)
    while links[node, COUNT] == WIDTH:
        for k in range(WIDTH):
            ids[k] = child_of(children, node, k)
            for row in range(rows):
                boxes[k, row] = edges[node * rows + row, k]
        ids[WIDTH] = new
        cut = _choose_cut(boxes, order, best_order, keys, ahead, behind)
        other = new_node(edges, children, links, rows)
        links[node, COUNT] = 0
        for k in range(_MANY):
            half = node if k < cut else other
            entry = best_order[k]
            _append_child(edges, children, links, where, half, boxes[entry], ids[entry], level, rows)
        for row in range(rows):
            for k in range(count_of(links, node), WIDTH):
                edges[node * rows + row, k] = np.nan
        above, _ = place_above(links, node)
        level += 1
        if above == 0:
            above = new_node(edges, children, links, rows)
            hang(children, links, where, NODE_0, tree, above, level)
            children[0, HEIGHT + tree] += 1
            hang(children, links, where, above, FIRST, node, level)
            links[above, COUNT] = 1
        fit_above(edges, links, node, rows)
        # The other half's box, through the slot that it gets next.
        for row in range(rows):
            boxes[WIDTH, row] = _bound(edges, links, other, row, rows)
        new = other
        node = above
    _append_child(edges, children, links, where, node, boxes[WIDTH], new, level, rows)


def insert_scratch(columns: int, dtype: "np.dtype[Any]") -> tuple[npt.NDArray[Any], ...]:
    """Scratch memory for `insert_boxes`: a box, the entries of a node that is split, and how to split it."""
    whole = [np.empty(_MANY, np.int64) for _ in range(3)]
    sums = [np.empty(_MANY, np.float64) for _ in range(3)]
    return (np.empty(columns, dtype), np.empty((_MANY, columns), dtype), *whole, *sums)


@jit
def insert_boxes(nodes, boxes, reach, classes, ids, first, fresh, scratch):
    """Insert ``ids[first:]``, each with its box widened by its ``reach``; returns the first one left.

    ``fresh`` ids have no reach yet.  It stops early if there may be too few nodes for the next box.
    ``scratch``: see `insert_scratch`.
    """
    edges, children, links, where = nodes
    dim = boxes.shape[1] // 2
    box, cut = scratch[0], scratch[1:]
    for k in range(first, ids.shape[0]):
        i = np.int64(ids[k])
        tree = np.int64(classes[i] & 1)
        if free_nodes(children) < children[0, HEIGHT + tree] + 1 or not answers_at(k):
            return k
        if fresh:
            reach[i] = 0.0
        for axis in range(dim):
            box[axis] = boxes[i, axis] - reach[i]
            box[dim + axis] = boxes[i, dim + axis] + reach[i]
        if reach[i] > 0.0:
            children[0, LOOSE + tree] = 1
        _insert_one(edges, children, links, where, tree, box, i, cut)
        children[0, HELD + tree] += 1
    return ids.shape[0]


# -----------------------------------------------------------------------------------------------------------
# Remove boxes from the dynamic tree.
#
# The last slot of the leaf fills the gap, and the bounds above shrink until nothing changes.  A node with few
# children left gives them to the neighbour that has enough free slots and grows least; if all neighbours are
# nearly full it stays as it is, because the tree is then full enough as a whole.  A root with one child is
# replaced by it.


@inline
def _take_out(edges, children, links, where, node, slot, level, rows):
    """Empty a slot; the last one in use takes its place."""
    last = count_of(links, node) - 1
    links[node, COUNT] = last
    if slot != last:
        for row in range(node * rows, node * rows + rows):
            edges[row, slot] = edges[row, last]
        hang(children, links, where, node, slot, child_of(children, node, last), level)
    empty_slot(edges, node, last, rows)


@inline
def _best_neighbour(edges, children, links, node, rows):
    """The neighbour with enough free slots for a node's children that would grow least, as a slot; or -1."""
    above, own_slot = place_above(links, node)
    best = np.int64(-1)
    least = np.inf
    for slot in range(count_of(links, above)):
        neighbour = child_of(children, above, slot)
        if slot != own_slot and count_of(links, neighbour) + count_of(links, node) <= WIDTH:
            cost = 0.0
            for row in range(above * rows, above * rows + rows // 2):
                high = max(finite(edges[row + rows // 2, slot]), finite(edges[row + rows // 2, own_slot]))
                cost += high - min(finite(edges[row, slot]), finite(edges[row, own_slot]))
            if cost < least:
                least = cost
                best = slot
    return best


@inline
def _merge(edges, children, links, where, node, other, level, rows):
    """Give all children of ``node`` to ``other``, which has enough free slots."""
    for k in range(count_of(links, node)):
        box, child = edges[node * rows : node * rows + rows, k], child_of(children, node, k)
        _append_child(edges, children, links, where, other, box, child, level, rows)
    fit_above(edges, links, other, rows)


@inline
def _remove_one(edges, children, links, where, tree, place, rows):
    """Take out the box at a place of a leaf."""
    node = place // WIDTH
    slot = place % WIDTH
    level = np.int64(0)
    while True:
        _take_out(edges, children, links, where, node, slot, level, rows)
        count = count_of(links, node)
        above, slot = place_above(links, node)
        if above == 0:
            break
        if count >= LEAST:
            fit_upwards(edges, links, node, rows)
            return
        if count > 0:
            neighbour = _best_neighbour(edges, children, links, node, rows)
            if neighbour < 0:
                fit_upwards(edges, links, node, rows)
                return
            _merge(edges, children, links, where, node, child_of(children, above, neighbour), level, rows)
        free_node(children, links, node)
        node = above
        level += 1
    # `node` is the root.
    if links[node, COUNT] == 0:
        free_node(children, links, node)
        children[0, tree] = 0
        children[0, HEIGHT + tree] = 0
        children[0, LOOSE + tree] = 0
        empty_slot(edges, NODE_0, tree, rows)
        return
    while level > 0 and links[node, COUNT] == 1:
        child = child_of(children, node, FIRST)
        free_node(children, links, node)
        hang(children, links, where, NODE_0, tree, child, level)
        node = child
        level -= 1
        children[0, HEIGHT + tree] -= 1
    fit_above(edges, links, node, rows)


@jit
def remove_boxes(nodes, classes, ids):
    """Take the boxes of these ids out of their trees."""
    edges, children, links, where = nodes
    rows = edges.shape[0] // children.shape[0]
    for k in range(ids.shape[0]):
        i = np.int64(ids[k])
        tree = np.int64(classes[i] & 1)
        _remove_one(edges, children, links, where, tree, np.int64(where[i]), rows)
        children[0, HELD + tree] -= 1
        where[i] = -1
        if not answers_at(k):
            break


# -----------------------------------------------------------------------------------------------------------
# Move boxes of the dynamic tree that stay in their leaves.
#
# A box that stays within its slot costs only this check, unless it has become much smaller than the slot.
# One that stays within the bounds of its leaf gets a new slot box there.  The others are returned: they have
# to be removed and inserted.


@inline
def _within(edges, row, slot, low, high, dim):
    """Whether a slot reaches from ``low`` to ``high`` on the axis of ``row``, its row of lower edges."""
    return (edges[row, slot] <= low) & (high <= edges[row + dim, slot])


@inline
def _widest_reach(rows, k):
    """The most by which a box may be widened: half its longest side."""
    dim = rows.shape[1] // 2
    side = 0.0
    for axis in range(dim):
        side = max(side, float(rows[k, dim + axis]) - float(rows[k, axis]))
    return 0.5 * side if side < np.inf else 0.0


@inline
def _step(boxes, i, rows, k):
    """The longest displacement of an edge of box ``i`` when it moves to ``rows[k]``."""
    step = 0.0
    for column in range(rows.shape[1]):
        moved = abs(float(rows[k, column]) - float(boxes[i, column]))
        if moved > step:  # not where infinite edges differ by NaN
            step = moved
    return step


@jit
def move_boxes(nodes, boxes, reach, tree, ids, rows, margin, steps, leaving, most):
    """Move ``ids`` of one tree from ``boxes`` to ``rows``; returns how many must change their leaf.

    Their places in ``ids`` are written to ``leaving``.  ``reach`` becomes how far each is to be widened: by
    ``margin``, or if that is negative by ``steps`` times its step, but no more than half its longest side:
    a box that jumps must not become a giant.  After ``most`` of them the rest is skipped: rebuilding the tree
    is cheaper.
    """
    edges, children, links, where = nodes
    dim = boxes.shape[1] // 2
    left = np.int64(0)
    for k in range(ids.shape[0]):
        if not answers_at(k):
            break
        i = np.int64(ids[k])
        node = np.int64(where[i]) // WIDTH
        slot = np.int64(where[i]) % WIDTH
        widest = margin if margin >= 0.0 else _widest_reach(rows, k)
        if left < most:
            stays = True
            slack = 4.0 * min(float(reach[i]), widest)
            for axis in range(dim):
                row = node * 2 * dim + axis
                low, high = rows[k, axis], rows[k, dim + axis]
                stays &= _within(edges, row, slot, low, high, dim)
                stays &= edges[row + dim, slot] - edges[row, slot] <= (high - low) + slack
            if stays:
                children[0, LOOSE + tree] = 1
                continue
        if tree == MOVING:
            reach[i] = margin if margin >= 0.0 else min(steps * _step(boxes, i, rows, k), widest)
        if left >= most:
            continue
        above, place = place_above(links, node)
        fits = True
        for axis in range(dim):
            low, high = rows[k, axis] - reach[i], rows[k, dim + axis] + reach[i]
            fits &= _within(edges, above * 2 * dim + axis, place, low, high, dim)
        if not fits:
            leaving[left] = k
            left += 1
            continue
        for axis in range(dim):
            edges[node * 2 * dim + axis, slot] = rows[k, axis] - reach[i]
            edges[node * 2 * dim + dim + axis, slot] = rows[k, dim + axis] + reach[i]
        if reach[i] > 0.0:
            children[0, LOOSE + tree] = 1
        fit_upwards(edges, links, node, 2 * dim)
    return left
