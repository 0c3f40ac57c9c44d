"""Make a living tree of a binary one that was built for all boxes at once.

The binary tree (`tree_build`) divides well but is unevenly deep and two wide.  Its leaves become leaves here;
then, level by level, the largest parts of it that have at most `WIDTH` of the nodes made last become one
node each, until one is left.
"""

import numpy as np

from broadphase.kernels.jit import jit
from broadphase.kernels.tree_nodes import COUNT, HEIGHT, HELD, LOOSE, WIDTH, fit_above, hang, new_node


@jit
def pack_nodes(edges, children, links, where, boxes, reach, order, begin, after, tree):
    """Fill an empty tree with the boxes ``order``; there is room for ``2 * len(after)`` nodes."""
    rows = edges.shape[0] // children.shape[0]
    dim = rows // 2
    nodes = after.shape[0]
    made = np.zeros(nodes, np.int32)  # the node that was made of a part; 0: not yet
    open_parts = np.zeros(nodes, np.int32)  # how many nodes made last are below it
    for k in range(nodes):
        if after[k] == k + 1:
            node = new_node(edges, children, links, rows)
            made[k] = node
            for at in range(begin[k], begin[k + 1]):
                i = order[at]
                slot = links[node, COUNT]
                for axis in range(dim):
                    edges[node * rows + axis, slot] = boxes[i, axis] - reach[i]
                    edges[node * rows + dim + axis, slot] = boxes[i, dim + axis] + reach[i]
                if reach[i] > 0.0:
                    children[0, LOOSE + tree] = 1
                hang(children, links, where, node, slot, i, 0)
                links[node, COUNT] = slot + 1
    height = 1
    while made[0] == 0:
        for k in range(nodes - 1, -1, -1):
            if made[k] > 0:
                open_parts[k] = 1
            elif after[k] > k + 1:
                open_parts[k] = open_parts[k + 1] + open_parts[after[k + 1]]
            else:
                open_parts[k] = 0
        # parts that become one node
        k = 0
        while k < nodes:
            if open_parts[k] <= WIDTH:
                node = new_node(edges, children, links, rows)
                for part in range(k, after[k]):
                    if made[part] > 0:
                        slot = links[node, COUNT]
                        hang(children, links, where, node, slot, made[part], height)
                        links[node, COUNT] = slot + 1
                        fit_above(edges, links, made[part], rows)
                        made[part] = 0
                made[k] = node
                k = after[k]
            else:
                k += 1
        height += 1
    hang(children, links, where, 0, tree, made[0], height)
    fit_above(edges, links, made[0], rows)
    children[0, HEIGHT + tree] = height
    children[0, HELD + tree] = order.shape[0]
