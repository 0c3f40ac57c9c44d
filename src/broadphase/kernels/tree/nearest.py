"""The nearest boxes to a point in the dynamic tree: nearer nodes first, and none that is too far.

The result of a point bounds how far its neighbour has to look: points that are searched in an order in
which they lie close together begin with nearly the distance that they end with.
"""

import numpy as np

from broadphase.kernels.boxes.query_tests import distance_to_box, passes
from broadphase.kernels.boxes.ranking import keep_nearest
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.tree.nodes import WIDTH, child_of, push_roots, stack_by_key


@inline
def _squares(edges, node, dim, point, squares):
    """Squared distances of the 16 slots of a node; nan where a slot is not in use."""
    for k in range(WIDTH):
        squares[k] = 0.0
    for axis in range(dim):
        at = float(point[axis])
        low = edges[(2 * node) * dim + axis]
        high = edges[(2 * node + 1) * dim + axis]
        for k in range(WIDTH):
            below = float(low[k]) - at
            above = at - float(high[k])
            # In this form nan, from an unused slot, stays.
            gap = above if above >= below else below
            gap = 0.0 if gap <= 0.0 else gap
            squares[k] += gap * gap


@inline
def _reach(distance):
    """The square of a distance, a little more: no node beyond holds anything so near.

    Distances are rounded, and squares may vanish or overflow: then nothing is left out.
    """
    return distance * distance * (1.0 + 1e-13) + 1e-300


@inline
def _way(point, other):
    """From a point to another at most, along the axes: no square that could vanish."""
    way = abs(point[0] - other[0]) + abs(point[1] - other[1])
    return way + abs(point[2] - other[2]) if point.shape[0] == 3 else way


@inline
def search_around(
    edges,
    children,
    boxes,
    categories,
    masks,
    point,
    category,
    mask,
    ids,
    distances,
    nodes,
    keys,
    squares,
    furthest,
):
    """The nearest ids of a point, as many as there is room in ``ids``, as a heap; how many, and the tests.

    ``furthest`` is a bound of the squared distance of the last of them that is known before, or infinity.
    """
    dim = boxes.shape[1] // 2
    wanted = len(ids)
    kept = tests = np.int64(0)
    left = push_roots(children, nodes, keys)
    while left > 0:
        left -= 1
        if keys[left] > furthest:
            continue
        node = nodes[left] >> 6
        level = nodes[left] & 63
        _squares(edges, node, dim, point, squares)
        tests += WIDTH
        begin = left
        for k in range(WIDTH):
            square = squares[k]
            if not square <= furthest:  # also where the slot is not in use
                continue
            child = child_of(children, node, k)
            if level > 0:
                left = stack_by_key(nodes, keys, left, begin, child, level, square)
            elif passes(categories, masks, child, category, mask):
                tests += 1
                distance = distance_to_box(boxes, child, point)
                kept = keep_nearest(distances, ids, kept, distance, np.int32(child))
                if kept == wanted:
                    furthest = _reach(distances[0])
    return kept, tests


@jit
def search_nearest(
    edges, children, boxes, categories, masks, points, first, last, category, mask, scratch, out
):  # fmt: skip
    """The nearest ids of the points ``first .. last - 1`` into their rows of ``out``; returns the tests.

    As many as a row is long, in no order; the rest of it is -1.  ``scratch``: nodes and keys of
    `stack_room`, `WIDTH` squares and the distances of a row.
    """
    nodes, keys, squares, distances = scratch
    wanted = out.shape[1]
    tests = np.int64(0)
    kept = np.int64(0)
    for q in range(first, last):
        furthest = np.inf  # squared
        if q > first and kept == wanted:
            way = _way(points[q], points[q - 1])
            if way == 0.0:
                for k in range(wanted):
                    out[q, k] = out[q - 1, k]
                continue
            furthest = _reach(distances[0] + way)
        kept, made = search_around(
            edges, children, boxes, categories, masks, points[q], category, mask,
            out[q], distances, nodes, keys, squares, furthest,
        )  # fmt: skip
        tests += made
        for k in range(kept, wanted):
            out[q, k] = -1
    return tests
