"""Make a dynamic tree of a binary one that was built for all boxes.

The binary tree of `tree_build` divides well, but its leaves are neither full nor equally deep.  From its
leaves upwards, what lies below a part of it is gathered as long as it fits into one node.  Where it does not,
both halves become nodes, and from there on upwards everything does that is large enough; what is too small
to stand alone is gathered with its neighbours further up.  Then the nodes made so are gathered in the same
way, level by level, until one is left.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.pieces import AT_ONCE
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
PACKED = -1  # the level of a tree that is done


def most_nodes(boxes: int) -> int:
    """How many nodes a tree of so many boxes is packed into at most.

    All nodes of a level but one have `LEAST` children or more.
    """
    return boxes // (LEAST - 1) + 16


def pack_nodes(
    nodes: tuple[npt.NDArray[Any], ...],
    boxes: npt.NDArray[Any],
    reach: npt.NDArray[Any],
    order: npt.NDArray[np.int32],
    begin: npt.NDArray[np.int32],
    after: npt.NDArray[np.int32],
    tree: int,
) -> None:
    """Fill an empty tree, of ``nodes = edges, children, links, where``, with the boxes ``order``.

    There must be room for `most_nodes`.
    """
    parts = len(after)
    following = np.empty(len(nodes[1]) + len(order), np.int64)
    lists, made = np.zeros((parts, 3), np.int64), np.zeros(parts, np.int64)
    cut = np.zeros(parts, np.bool_)
    at = (0, parts, 0)
    while at[0] != PACKED:
        at = pack_some(
            *nodes, boxes, reach, order, begin, after, tree, following, lists, made, cut, at, AT_ONCE
        )


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
def pack_some(
    edges, children, links, where, boxes, reach, order, begin, after, tree,
    following, lists, made, cut, at, most,
):  # fmt: skip
    """Go on from ``at`` to fill an empty tree with the boxes ``order``, for about ``most`` of them.

    There must be room for `most_nodes`.  ``at = level, part, made on it``, at first ``0, parts, 0``; returns
    how far it came, and `PACKED` for the level when it is done.  Scratch: ``following`` for all nodes and the
    boxes behind them, and by part of the binary tree, at first 0, the ``lists`` of what is gathered, the node
    ``made`` there, and whether there is more below than fits into one, which is ``cut``.
    """
    rows = boxes.shape[1]
    parts = after.shape[0]
    boxes_from = children.shape[0]
    level, k, total = at
    while most > 0:
        while k > 0 and most > 0:
            k -= 1
            most -= 1
            if level == 0 and after[k] == k + 1:
                most -= begin[k + 1] - begin[k]
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
                    made[c] = _make_node(
                        edges, children, links, where, boxes, reach, order, following, lists, c, level, tree
                    )
                    total += 1
                if lists[c, _SIZE] > 0:
                    _append(following, lists, k, lists[c, _FIRST], lists[c, _LAST], lists[c, _SIZE])
                    lists[c, _SIZE] = 0
        if k > 0:
            break
        if lists[0, _SIZE] > 0:
            made[0] = _make_node(
                edges, children, links, where, boxes, reach, order, following, lists, NODE_0, level, tree
            )
            total += 1
        level += 1
        if total <= 1:
            root = made[0]
            hang(children, links, where, NODE_0, tree, root, level)
            fit_above(edges, links, root, rows)
            children[0, HEIGHT + tree] = level
            children[0, HELD + tree] = order.shape[0]
            return np.int64(PACKED), k, total
        k, total = np.int64(parts), np.int64(0)
    return level, k, total
