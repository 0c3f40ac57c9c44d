"""Remove boxes from the dynamic tree.

The last slot of the leaf fills the hole, and the bounds above shrink as far as anything changes.  A node
that is left with few children gives them to the neighbour that has room for them and grows least; where all
neighbours are nearly full it stays as it is, for the tree is then full enough as a whole.  A root with one
child is replaced by it.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.tree.nodes import (
    COUNT,
    FIRST,
    HEIGHT,
    HELD,
    LEAST,
    LOOSE,
    NODE_0,
    WIDTH,
    child_of,
    count_of,
    empty_slot,
    finite,
    fit_above,
    fit_upwards,
    free_node,
    hang,
    place_above,
)


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
    """The slot of a neighbour with room for a node's children that would grow least; -1 if there is none."""
    above, own = place_above(links, node)
    best = np.int64(-1)
    least = np.inf
    for slot in range(count_of(links, above)):
        neighbour = child_of(children, above, slot)
        if slot != own and count_of(links, neighbour) + count_of(links, node) <= WIDTH:
            cost = 0.0
            for row in range(above * rows, above * rows + rows // 2):
                high = max(finite(edges[row + rows // 2, slot]), finite(edges[row + rows // 2, own]))
                cost += high - min(finite(edges[row, slot]), finite(edges[row, own]))
            if cost < least:
                least = cost
                best = slot
    return best


@inline
def _merge(edges, children, links, where, node, other, level, rows):
    """Give all children of ``node`` to ``other``, which has room for them."""
    for k in range(count_of(links, node)):
        slot = count_of(links, other)
        for row in range(rows):
            edges[other * rows + row, slot] = edges[node * rows + row, k]
        hang(children, links, where, other, slot, child_of(children, node, k), level)
        links[other, COUNT] = slot + 1
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
def remove_boxes(edges, children, links, where, classes, ids):
    """Take the boxes of these ids out of their trees."""
    rows = edges.shape[0] // children.shape[0]
    for k in range(ids.shape[0]):
        i = np.int64(ids[k])
        tree = np.int64(classes[i] & 1)
        _remove_one(edges, children, links, where, tree, np.int64(where[i]), rows)
        children[0, HELD + tree] -= 1
        where[i] = -1
