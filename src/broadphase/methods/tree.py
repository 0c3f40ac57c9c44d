"""Tree: a bounding volume hierarchy, built for one search.

Boxes that are near each other share a leaf, leaves share a node, and each node has the bounding box
of everything below it.  Two nodes whose bounds do not overlap are skipped with everything below
them.  The tree is divided from the top at the middle of the boxes' centres, with boxes too large for their
surroundings in nodes of their own (`kernels.tree.bvh` says how); it is that of `broadphase.BoxTree`.

Source: the ray tracers' bounding volume hierarchy (Rubin and Whitted 1980; Kay and Kajiya 1986), and the
R-tree (Guttman 1984) for large boxes among small ones.  Cost: n log n to build, about log n plus its
pairs for each leaf.  No distribution makes it quadratic: it is the method for clusters, mixed sizes and
unknown scenes.  It loses, by a constant factor, to grids and strips if boxes are similar and spread
evenly, because it sorts by comparisons while they place boxes by arithmetic.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial, reduce
from operator import and_
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.tree import dynamic_tree as kernel
from broadphase.kernels.tree.bvh import build, join_leaf_pairs, leaves_that_meet
from broadphase.methods.task import Found, Task, find_in_shares
from broadphase.runtime import threads
from broadphase.runtime.memory import Scratch, aligned

_FIRST_NODES = 16
IdArray = npt.NDArray[np.int32]
Empty = Callable[[str, tuple[int, ...], Any], npt.NDArray[Any]]
"""Makes an array of undefined content: what for, its shape, its type; aligned to a cache line."""


def _empty(_: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    return aligned(shape, dtype)


class TreeArrays:
    """The nodes of both trees (see `broadphase.kernels.tree.dynamic_tree`), and the slot of each id."""

    def __init__(
        self, dim: int, dtype: "np.dtype[Any]", nodes: int = _FIRST_NODES, ids: int = 0, empty: Empty = _empty
    ) -> None:
        self.rows = 2 * dim
        self.edges, self.children, self.links = self._nodes(1 + nodes, dtype, empty)
        self.where = np.full(ids, -1, np.int32)
        """The place of each id's slot; -1 where it has none."""
        self.reach: npt.NDArray[np.floating[Any]] = np.zeros(ids, dtype)
        """How much wider than its box an id's slot is made on every side."""
        self.edges[: self.rows], self.children[0], self.links[0] = np.nan, 0, (-1, 2)
        self.children[0, kernel.USED] = 1

    @property
    def nodes(self) -> tuple[npt.NDArray[Any], ...]:
        """What kernels take as ``nodes``."""
        return self.edges, self.children, self.links, self.where

    @cached_property
    def scratch(self) -> tuple[npt.NDArray[Any], ...]:
        """Memory for `kernel.insert_boxes`."""
        return kernel.insert_scratch(self.rows, self.edges.dtype)

    def reserve_nodes(self, nodes: int) -> None:
        """Reserve memory for ``nodes`` more nodes."""
        old, capacity = len(self.children), self.children.item(kernel.NODES) + 1 + nodes
        if capacity > old:
            self._resize(max(capacity, old + old // 2))

    def reserve_ids(self, capacity: int) -> None:
        """Reserve memory for ids below ``capacity``."""
        old = len(self.where)
        if capacity > old:
            where = np.full(capacity, -1, np.int32)
            where[:old] = self.where
            reach = np.zeros(capacity, self.reach.dtype)
            reach[:old] = self.reach
            self.where, self.reach = where, reach

    def build(self, boxes: BoxArray, ids: npt.NDArray[np.int32] | None, tree: int) -> None:
        """Make an empty tree one of these boxes, by default of all."""
        kept = boxes if ids is None else boxes[ids]
        if len(kept):
            order, begin, after = build(kept)
            self.reserve_nodes(kernel.most_nodes(len(kept)))
            order = order if ids is None else ids[order]
            kernel.pack_nodes(self.nodes, boxes, self.reach, order, begin, after, tree)

    def slots(self, places: npt.NDArray[np.integer[Any]]) -> BoxArray:
        """The boxes of these slots, one a row."""
        nodes = self.edges.reshape(-1, self.rows, kernel.WIDTH)
        boxes: BoxArray = nodes[places // kernel.WIDTH, :, places % kernel.WIDTH]
        return boxes

    def used(self, nodes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
        """``(m, WIDTH)``: which slots of these nodes hold something."""
        used: npt.NDArray[np.bool_] = np.arange(kernel.WIDTH) < self.links[nodes, kernel.COUNT][:, None]
        return used

    def _resize(self, capacity: int) -> None:
        kept = min(len(self.children), capacity)
        # All arrays are made before one is replaced: memory may run out.
        edges, children, links = self._nodes(capacity, self.edges.dtype, _empty)
        edges[: kept * self.rows] = self.edges[: kept * self.rows]
        children[:kept] = self.children[:kept]
        links[:kept] = self.links[:kept]
        self.edges, self.children, self.links = edges, children, links

    def _nodes(self, count: int, dtype: "np.dtype[Any]", empty: Empty) -> tuple[BoxArray, IdArray, IdArray]:
        """Memory for so many nodes: edges, children, links."""
        edges = empty("edges", (count * self.rows, kernel.WIDTH), dtype)
        children = empty("children", (count, kernel.WIDTH), np.int32)
        return edges, children, empty("links", (count, 2), np.int32)


def find(task: Task) -> Found:
    """Find all pairs with a tree; ``Found.cells`` counts nodes, ``Found.tests`` tests of nodes and boxes.

    Boxes of the class that most have, such as static ones or a side of a join, are in a tree of their own,
    which is never paired with itself.
    """
    n, classes = len(task.boxes), task.filter.classes
    arrays = TreeArrays(task.dim, task.boxes.dtype, kernel.most_nodes(n), n, task.scratch.array)
    if not len(classes):
        arrays.build(task.boxes, None, kernel.MOVING)
        found = pairs_of_trees(arrays, task, kernel.MOVING)
        return found._replace(cells=arrays.children.item(kernel.NODES))
    counts = {kind: count for kind, count in enumerate(np.bincount(classes).tolist()) if count}
    bit = max((1 << k for k in range(8)), key=lambda bit: sum(counts[kind] for kind in counts if kind & bit))
    second = (classes & bit).astype(np.bool_)
    for tree, which in ((kernel.MOVING, ~second), (kernel.STATIC_TREE, second)):
        arrays.build(task.boxes, np.flatnonzero(which).astype(np.int32), tree)
    if len(counts) == 2 and not min(counts) & max(counts):  # the trees are the classes
        task = replace(task, filter=task.filter._replace(classes=classes[:0]))
    found = pairs_of_trees(arrays, task, kernel.STATIC_TREE)
    if found.pairs <= task.limit and not reduce(and_, (kind for kind in counts if not kind & bit), 255):
        found = found.and_more(pairs_of_trees(arrays, replace(task, scratch=Scratch()), kernel.MOVING))
    return found._replace(cells=arrays.children.item(kernel.NODES))


def pairs_of_trees(arrays: TreeArrays, task: Task, other: int) -> Found:
    """Pairs of the moving tree with itself or with ``other``, the static one."""
    leaves, tests = leaves_that_meet(arrays.nodes, other)
    count = leaves.shape[1]
    loose = arrays.children.item(kernel.LOOSE + kernel.MOVING) or arrays.children.item(kernel.LOOSE + other)
    rules = not loose, task.touching, task.filter
    search = partial(join_leaf_pairs, arrays.nodes, leaves, task.boxes, rules)
    found = find_in_shares(task, search, threads.shares(count, task.threads, cost=100.0, pieces=4))
    return found._replace(tests=found.tests + tests)
