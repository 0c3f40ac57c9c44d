"""All overlapping pairs of the boxes of one tree: every leaf against itself and the leaves after it.

From a leaf the walk goes forward through the nodes in depth-first order, past whatever none of its boxes
meets.  Later nodes only: so each pair of leaves meets once, and each pair of boxes is found once.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.emit import LEAST_ROOM
from broadphase.kernels.arrays.ordered_bits import bits_of, ordered_columns, ordered_rows
from broadphase.kernels.boxes.overlap_lanes import allowed_lanes, overlapping_lanes
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    load,
    lowest_lane,
    mask_of,
    put_pairs,
    splat,
)
from broadphase.kernels.tree.build import LEAF, Tree


class Leaves(NamedTuple):
    """A tree and its boxes as the search wants them."""

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
    """Prepare a tree over ``boxes`` for `join_leaves`."""
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

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.emit`).  ``axes``: a tuple of the dimension's
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
            if tests > most or (store and found + LEAST_ROOM > out.shape[0]):
                return (leaf, node), found, tests
            tests += 1
            if common[leaf] & common[node] != 0 or not _bounds_overlap(axes, bounds, leaf, node):
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
def _bounds_overlap(axes, bounds, a, b):
    """Whether the bounds of two nodes overlap."""
    dim = len(axes)
    together = (bounds[a, 0] <= bounds[b, dim]) & (bounds[b, 0] <= bounds[a, dim])
    together &= (bounds[a, 1] <= bounds[b, dim + 1]) & (bounds[b, 1] <= bounds[a, dim + 1])
    if len(axes) == 3:
        together &= (bounds[a, 2] <= bounds[b, 5]) & (bounds[b, 2] <= bounds[a, 5])
    return together


@inline
def _boxes_that_meet(axes, columns, begin, end, bounds, node):
    """The boxes ``begin <= i < end`` of a leaf that overlap the bounds of a node, as bits from ``begin``."""
    found = bits(_lanes_that_meet(axes, columns, begin, bounds, node))
    if LANES < LEAF and end - begin > LANES:
        found |= bits(_lanes_that_meet(axes, columns, begin + LANES, bounds, node)) << LANES
    return found & ((1 << int(end - begin)) - 1)


@inline
def _lanes_that_meet(axes, columns, j, bounds, node):
    """Mask of the boxes from ``j`` that overlap the bounds of a node."""
    dim = len(axes)
    hits = load(columns, 0, j) <= splat(bounds[node, dim])
    hits = hits & (splat(bounds[node, 0]) <= load(columns, dim, j))
    hits = hits & (load(columns, 1, j) <= splat(bounds[node, dim + 1]))
    hits = hits & (splat(bounds[node, 1]) <= load(columns, dim + 1, j))
    if len(axes) == 3:
        hits = hits & (load(columns, 2, j) <= splat(bounds[node, 5]))
        hits = hits & (splat(bounds[node, 2]) <= load(columns, 5, j))
    return hits
