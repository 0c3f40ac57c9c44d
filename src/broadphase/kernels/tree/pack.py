"""Make a living tree of a binary one that was built for all boxes at once.

The binary tree of `tree_build` divides well, but its leaves are neither full nor equally deep.  From its
leaves upwards, what lies below a part of it is gathered as long as it fits into one node.  Where it does not,
both halves become nodes, and from there on upwards everything does that is large enough; what is too small
to stand alone is gathered with its neighbours further up.  Then the nodes made so are gathered in the same
way, level by level, until one is left.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.tree.nodes import (
    COUNT,
    HEIGHT,
    HELD,
    LEAST,
    LOOSE,
    NODE_0,
    WIDTH,
    fit_above,
    hang,
    new_node,
)

# Columns of what is gathered below a part of the binary tree: a list and its length.
_FIRST, _LAST, _SIZE = 0, 1, 2
_ONE = np.int64(1)


def most_nodes(boxes: int) -> int:
    """How many nodes a tree of so many boxes is packed into at most.

    All nodes of a level but one have `LEAST` children or more.
    """
    return boxes // (LEAST - 1) + 16


@inline
def _make_node(edges, children, links, where, boxes, reach, order, following, lists, k, level, tree):
    """Make a node of the list of ``k``, and empty the list; returns the node."""
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
    """Put a list behind that of ``k``."""
    if lists[k, _SIZE] == 0:
        lists[k, _FIRST] = first
    else:
        following[lists[k, _LAST]] = first
    lists[k, _LAST] = last
    lists[k, _SIZE] += size


@jit
def pack_nodes(edges, children, links, where, boxes, reach, order, begin, after, tree):
    """Fill an empty tree with the boxes ``order``; there must be room for `most_nodes`."""
    rows = boxes.shape[1]
    n = order.shape[0]
    parts = after.shape[0]
    # What is gathered: nodes, and on the first level boxes, by numbers behind those of all nodes.
    boxes_from = children.shape[0]
    following = np.empty(boxes_from + n, np.int64)
    lists = np.zeros((parts, 3), np.int64)
    made = np.zeros(parts, np.int64)  # the node made at a part of the binary tree, 0 for none
    cut = np.zeros(parts, np.bool_)  # whether there is more below a part than fits into one node
    level = np.int64(0)
    total = np.int64(2)
    while total > 1:
        total = 0
        for k in range(parts - 1, -1, -1):
            if level == 0 and after[k] == k + 1:
                for at in range(begin[k], begin[k + 1]):
                    _append(following, lists, k, boxes_from + at, boxes_from + at, _ONE)
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
                    made[c] = _make_node(
                        edges, children, links, where, boxes, reach, order, following, lists, c, level, tree
                    )
                    total += 1
                if lists[c, _SIZE] > 0:
                    _append(following, lists, k, lists[c, _FIRST], lists[c, _LAST], lists[c, _SIZE])
                    lists[c, _SIZE] = 0
        if lists[0, _SIZE] > 0:
            made[0] = _make_node(
                edges, children, links, where, boxes, reach, order, following, lists, NODE_0, level, tree
            )
            total += 1
        level += 1
    root = made[0]
    hang(children, links, where, NODE_0, tree, root, level)
    fit_above(edges, links, root, rows)
    children[0, HEIGHT + tree] = level
    children[0, HELD + tree] = n
