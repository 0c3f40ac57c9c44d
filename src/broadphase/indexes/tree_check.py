"""Is a `BoxTree` what it should be?  For tests."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes.storage import BoxStore, expect
from broadphase.indexes.tree_arrays import TreeArrays
from broadphase.kernels.tree.nodes import (
    ABOVE,
    COUNT,
    FREE,
    HEIGHT,
    HELD,
    LOOSE,
    NODES,
    USED,
    WIDTH,
)


def check_tree(arrays: TreeArrays, store: BoxStore) -> None:
    """Raise ``AssertionError`` where the nodes, the places and the boxes contradict each other."""
    in_use = [_check_levels(arrays, store, tree) for tree in (0, 1)]
    nodes = np.concatenate([np.empty(0, np.int64), *in_use])
    used = int(arrays.children[0, USED])
    free: list[int] = []
    node = int(arrays.children[0, FREE])
    while node and len(free) < used:
        free.append(node)
        node = int(arrays.links[node, ABOVE])
    expect(sorted([*nodes.tolist(), *free]) == list(range(1, used)), "every node is in use or free")
    expect(int(arrays.children[0, NODES]) == len(nodes), "nodes are counted")


def _check_levels(arrays: TreeArrays, store: BoxStore, tree: int) -> npt.NDArray[Any]:
    """Walk a tree level by level; returns its nodes."""
    root, height = int(arrays.children[0, tree]), int(arrays.children[0, HEIGHT + tree])
    wanted = store.ids()[store.classes[store.ids()] == tree]
    expect((root > 0) == (height > 0) == (len(wanted) > 0), "an empty tree has no root")
    expect(int(arrays.children[0, HELD + tree]) == len(wanted), "the boxes of a tree are counted")
    seen = [np.empty(0, np.int64)]
    level = np.array([root] if root else [], np.int64)
    places = np.array([tree] if root else [], np.int64)
    for depth in range(height):
        expect(np.array_equal(arrays.links[level, ABOVE], places), "a node knows its place")
        counts = arrays.links[level, COUNT]
        expect(bool(((counts >= 1) & (counts <= WIDTH)).all()), "no node is empty or overfull")
        expect(depth == height - 1 or depth > 0 or counts[0] > 1, "a root has several children")
        slots = np.arange(WIDTH) < counts[:, None]
        edges = arrays.edges.reshape(-1, arrays.rows, WIDTH)[level]
        expect(bool((np.isnan(edges) == ~slots[:, None, :]).all()), "unused slots hold nan")
        above = arrays.edges.reshape(-1, arrays.rows, WIDTH)[places // WIDTH, :, places % WIDTH]
        expect(_inside(edges.transpose(0, 2, 1), above[:, None, :], slots), "a slot holds what is below it")
        seen.append(level)
        places = (level[:, None] * WIDTH + np.arange(WIDTH))[slots]
        level = arrays.children[level].astype(np.int64)[slots]
    if root:
        expect(np.array_equal(np.sort(level), wanted), "the leaves hold the boxes of their tree, each once")
        expect(np.array_equal(arrays.where[level], places), "an id knows its place")
        boxes = arrays.edges.reshape(-1, arrays.rows, WIDTH)[places // WIDTH, :, places % WIDTH]
        expect(_inside(store.boxes[level], boxes, np.ones(len(level), bool)), "a slot holds its box")
        tight = bool((store.boxes[level] == boxes).all())
        expect(tight or bool(arrays.children[0, LOOSE + tree]), "a loose slot is known")
    return np.concatenate(seen)


def _inside(inner: npt.NDArray[Any], outer: npt.NDArray[Any], which: npt.NDArray[np.bool_]) -> bool:
    dim = inner.shape[-1] // 2
    inside = (outer[..., :dim] <= inner[..., :dim]) & (inner[..., dim:] <= outer[..., dim:])
    return bool(np.all(inside, axis=-1)[which].all())
