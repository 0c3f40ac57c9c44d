"""Insert boxes into the dynamic tree, one after the other.

From the root downwards a box goes to the child that has to grow least to hold it, and among those that need
not grow to the smallest.  Size is the sum of the sides; a surface would say nothing about flat boxes.  A full
node is cut in two, and its parent gets one child more; so all leaves stay equally deep, and no order of
insertion makes the tree deeper than ``log(n) / log(LEAST)``.

A node is cut where ``count * perimeter`` of both halves is least, along any axis or by size: a giant among
dust leaves with the largest.

Source: Guttman's R-tree (1984); the cut along a sorted axis is that of Beckmann's R*-tree (1990), judged by
the surface area heuristic of the ray tracers (MacDonald and Booth, 1990).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.tree.nodes import (
    COUNT,
    FIRST,
    HEIGHT,
    HELD,
    LEAST,
    LEAVES,
    LOOSE,
    NODE_0,
    WIDTH,
    child_of,
    count_of,
    finite,
    fit_above,
    hang,
    new_node,
    place_above,
    room_left,
)

# How much worse it is to widen a child than to go to a wide one: measured on uniform, clustered and mixed
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
        at = k
        while at > 0 and keys[order[at - 1]] > key:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@inline
def _perimeters(boxes, order, step, sums):
    """Write to ``sums[m]`` the sides of the box around ``m + 1`` entries: the first or, backwards, last."""
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
        # From the middle outwards: where all cuts cost the same, both halves are equal.
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
def _append(edges, children, links, where, node, box, child, level, rows):
    """Use the next slot of a node that has one left."""
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
        _append(edges, children, links, where, node, box, new, LEAVES, rows)
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
    # Upwards: `new` with the box boxes[WIDTH] is waiting for a place in `node`.
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
            at = best_order[k]
            _append(edges, children, links, where, half, boxes[at], ids[at], level, rows)
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
        # The other half's box: through the slot that it is about to get.
        for row in range(rows):
            bound = edges[other * rows + row, 0]
            for k in range(1, count_of(links, other)):
                value = edges[other * rows + row, k]
                bound = min(bound, value) if 2 * row < rows else max(bound, value)
            boxes[WIDTH, row] = bound
        new = other
        node = above
    _append(edges, children, links, where, node, boxes[WIDTH], new, level, rows)


def insert_scratch(columns: int, dtype: "np.dtype[Any]") -> tuple[npt.NDArray[Any], ...]:
    """What `insert_boxes` works in: a box, then what a node that is cut in two holds, and how to cut it."""
    whole = [np.empty(_MANY, np.int64) for _ in range(3)]
    sums = [np.empty(_MANY, np.float64) for _ in range(3)]
    return (np.empty(columns, dtype), np.empty((_MANY, columns), dtype), *whole, *sums)


@jit
def insert_boxes(edges, children, links, where, boxes, reach, classes, ids, first, fresh, scratch):
    """Insert ``ids[first:]``, each with its box widened by its ``reach``; returns the first one left.

    ``fresh`` ids have no reach yet.  It stops early when there might be too few nodes for the next.
    ``scratch``: see `insert_scratch`.
    """
    dim = boxes.shape[1] // 2
    box, held, own_ids, order, best_order, keys, ahead, behind = scratch
    cut = (held, own_ids, order, best_order, keys, ahead, behind)
    for at in range(first, ids.shape[0]):
        i = np.int64(ids[at])
        tree = np.int64(classes[i] & 1)
        if room_left(children) < children[0, HEIGHT + tree] + 1:
            return at
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
