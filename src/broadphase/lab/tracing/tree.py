"""Trace of the box tree: its nodes by depth, and which boxes were compared on its leaves."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.arguments import NO_RULES
from broadphase.indexes.box_tree import _SPARSE
from broadphase.indexes.classes import BoxTree
from broadphase.indexes.protocol import find_rows
from broadphase.kernels.tree.dynamic_tree import ABOVE, COUNT, HEIGHT, HELD, MOVING, STATIC_TREE, WIDTH
from broadphase.lab.tracing.trace import Ids, Numbers, Trace, traces

Edges = npt.NDArray[np.floating[Any]]

MOST_NODES = 4_000


class Nodes(NamedTuple):
    """The bounds of the nodes of both trees, from the roots down."""

    boxes: npt.NDArray[np.float64]
    """``(m, 4)``"""
    depths: Numbers
    leaves: npt.NDArray[np.bool_]


class _Tree:
    """The arrays of a `BoxTree`, one row a node."""

    def __init__(self, index: BoxTree) -> None:
        self.arrays = arrays = index._structure._arrays
        self.edges = arrays.edges.reshape(-1, 4, WIDTH)
        self.children, self.used = arrays.children, arrays.used
        self.counts = arrays.links[:, COUNT].astype(np.int64)

    def bounds(self, nodes: Numbers) -> Edges:
        """``(m, 4)``: the slots above these nodes."""
        bounds: Edges = self.arrays.slots(self.arrays.links[nodes, ABOVE])
        return bounds

    def meeting(self, nodes: Numbers, bounds: Edges) -> npt.NDArray[np.bool_]:
        """``(m, WIDTH)``: which slots of each node overlap its box."""
        return _meet(self.edges[nodes], bounds[:, :, None])


def structure(index: BoxTree) -> Nodes | None:
    """All nodes; None if there are too many to draw."""
    index._structure.ready()
    tree = _Tree(index)
    boxes: list[Edges] = []
    depths: list[Numbers] = []
    leaves: list[npt.NDArray[np.bool_]] = []
    for root in (MOVING, STATIC_TREE):
        height = int(tree.children[0, HEIGHT + root])
        level = np.array([tree.children[0, root]], np.int64)
        for depth in range(height):
            boxes.append(tree.bounds(level))
            depths.append(np.full(len(level), depth))
            leaves.append(np.full(len(level), depth == height - 1))
            level = tree.children[level][tree.used(level)].astype(np.int64)
    if not boxes or sum(map(len, boxes)) > MOST_NODES:
        return None
    return Nodes(np.concatenate(boxes).astype(np.float64), np.concatenate(depths), np.concatenate(leaves))


@traces("box_tree")
def trace_tree(index: BoxTree) -> Trace:
    """The pairs of boxes compared, leaf pair by leaf pair, and how many other comparisons there were."""
    tree = _Tree(index)
    pairs, others = [], 0
    moving, static = tree.children[0, HELD : HELD + 2].tolist()
    for other in (MOVING, STATIC_TREE):
        if other == STATIC_TREE and 0 < moving * _SPARSE < static:
            compared, made = _few_with_static(index)
            pairs.append(compared)
            others += made
            continue
        a, b, made = _leaf_pairs(tree, other)
        compared, with_bounds = _on_leaves(tree, a, b)
        pairs.append(compared)
        others += made + with_bounds
    return Trace(np.concatenate(pairs), others)


def _few_with_static(index: BoxTree) -> tuple[Ids, int]:
    """If few boxes move, each is a query; of these comparisons, only the hits are known."""
    movers = next(own for _, own in index._structure._by_tree(index.ids))
    boxes = index._store.boxes[movers].astype(np.float64)
    rows, made = find_rows(index._structure, boxes, True, NO_RULES)
    pairs = np.column_stack([movers[rows[:, 0]], rows[:, 1]])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs, int(made) - len(pairs)


def _leaf_pairs(tree: _Tree, other: int) -> tuple[Numbers, Numbers, int]:
    """Pairs of leaves that overlap, level by level from the roots down, and how many tests that took."""
    a = np.array([tree.children[0, MOVING]], np.int64)
    b = np.array([tree.children[0, other]], np.int64)
    if not (a[0] > 0 and b[0] > 0):
        return a[:0], b[:0], 0
    level = int(tree.children[0, HEIGHT + MOVING]) - 1
    other_level = int(tree.children[0, HEIGHT + other]) - 1
    made = 0
    while level > 0 or other_level > 0:
        made += int(tree.counts[a].sum())
        if level == other_level:
            a, b = _children_that_meet(tree, a, b)
            level, other_level = level - 1, other_level - 1
        elif level > other_level:
            at, slot = np.nonzero(tree.meeting(a, tree.bounds(b)))
            a, b = tree.children[a[at], slot].astype(np.int64), b[at]
            level -= 1
        else:
            at, slot = np.nonzero(tree.meeting(b, tree.bounds(a)))
            a, b = a[at], tree.children[b[at], slot].astype(np.int64)
            other_level -= 1
    return a, b, made


def _children_that_meet(tree: _Tree, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    wanted = _candidates(tree, a, b)[:, :, None] & _slots_that_meet(tree, a, b)
    wanted &= (a != b)[:, None, None] | np.triu(np.ones((WIDTH, WIDTH), np.bool_))
    at, i, k = np.nonzero(wanted)
    return tree.children[a[at], i].astype(np.int64), tree.children[b[at], k].astype(np.int64)


def _on_leaves(tree: _Tree, a: Numbers, b: Numbers) -> tuple[Ids, int]:
    if not len(a):
        return np.empty((0, 2), np.int32), 0
    with_bounds = int(tree.counts[a[a != b]].sum())
    compared = _candidates(tree, a, b)[:, :, None] & tree.used(b)[:, None, :]
    compared &= (a != b)[:, None, None] | np.triu(np.ones((WIDTH, WIDTH), np.bool_), 1)
    at, i, k = np.nonzero(compared)
    return np.column_stack([tree.children[a[at], i], tree.children[b[at], k]]), with_bounds


def _candidates(tree: _Tree, a: Numbers, b: Numbers) -> npt.NDArray[np.bool_]:
    """``(m, WIDTH)``: the slots of each ``a`` that overlap the bounds of ``b``; all if both are one node."""
    return np.where((a == b)[:, None], tree.used(a), tree.meeting(a, tree.bounds(b)))


def _slots_that_meet(tree: _Tree, a: Numbers, b: Numbers) -> npt.NDArray[np.bool_]:
    """``(m, WIDTH, WIDTH)``: which slots of ``a`` overlap which of ``b``."""
    return _meet(tree.edges[a][:, :, :, None], tree.edges[b][:, :, None, :])


def _meet(a: Edges, b: Edges) -> npt.NDArray[np.bool_]:
    """Whether boxes overlap; edges lie along axis 1, and NaN (an unused slot) overlaps nothing."""
    meets: npt.NDArray[np.bool_] = (a[:, 0] <= b[:, 2]) & (b[:, 0] <= a[:, 2])
    meets &= (a[:, 1] <= b[:, 3]) & (b[:, 1] <= a[:, 3])
    return meets
