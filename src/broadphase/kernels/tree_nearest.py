"""The nearest boxes to a point in the living tree: nearer nodes first, and none that is too far."""

import numpy as np

from broadphase.kernels.jit import inline, jit
from broadphase.kernels.query_tests import distance_to_box, passes
from broadphase.kernels.ranking import keep_nearest
from broadphase.kernels.tree_nodes import WIDTH, child_of, push_roots, stack_room


@inline
def _squares(edges, node, dim, point, squares):
    """Squared distances of the 16 boxes of a node; nan in unused slots."""
    for k in range(WIDTH):
        squares[k] = 0.0
    for axis in range(dim):
        at = point[axis]
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
def _too_far(square, limit):
    """Whether a node at this squared distance certainly holds nothing as near as ``limit``.

    Distances are rounded, and their squares may vanish or overflow: then nothing is left out.
    """
    return square * (1.0 - 1e-13) > limit * limit + 1e-300


@jit
def search_nearest(edges, children, boxes, categories, masks, points, category, mask, out):
    """The nearest ids of each point into its row of ``out``, in no order, then -1; returns the tests."""
    dim = boxes.shape[1] // 2
    room = stack_room(children)
    squares, keys = np.empty(WIDTH), np.empty(room)
    nodes = np.empty(room, np.int64)
    wanted = out.shape[1]
    distances = np.empty(wanted)
    tests = np.int64(0)
    for q in range(points.shape[0]):
        point = points[q]
        ids = out[q]
        kept = np.int64(0)
        limit = np.inf
        left = push_roots(children, nodes, keys)
        while left > 0:
            left -= 1
            if _too_far(keys[left], limit):
                continue
            node = nodes[left] >> 6
            level = nodes[left] & 63
            _squares(edges, node, dim, point, squares)
            tests += WIDTH
            begin = left
            for k in range(WIDTH):
                if squares[k] >= 0.0 and not _too_far(squares[k], limit):
                    child = child_of(children, node, k)
                    if level > 0:
                        nodes[left] = (child << 6) | (level - 1)
                        keys[left] = squares[k]
                        # The nearest on top; the others in any order.
                        if left > begin and keys[left] > keys[left - 1]:
                            nodes[left], nodes[left - 1] = nodes[left - 1], nodes[left]
                            keys[left], keys[left - 1] = keys[left - 1], keys[left]
                        left += 1
                    elif passes(categories, masks, child, category, mask):
                        tests += 1
                        kept = keep_nearest(
                            distances, ids, kept, distance_to_box(boxes, child, point), np.int32(child)
                        )
                        if kept == wanted:
                            limit = distances[0]
        for k in range(kept, wanted):
            ids[k] = -1
    return tests
