"""Move boxes of the dynamic tree that stay in their leaves.

A box that stays within its slot costs this look, unless it has become much smaller than the slot.  One
that stays within the bounds of its leaf gets a new slot box there.  The others are handed back: they have to
be removed and inserted.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.tree.nodes import LOOSE, MOVING, WIDTH, fit_upwards, place_above


@inline
def _within(edges, row, slot, low, high, dim):
    """Whether a slot reaches from ``low`` to ``high`` on the axis of ``row``, its row of lower edges."""
    return (edges[row, slot] <= low) & (high <= edges[row + dim, slot])


@inline
def _widest_reach(rows, k):
    """How far a box may be widened at most: half its longest side."""
    dim = rows.shape[1] // 2
    side = 0.0
    for axis in range(dim):
        side = max(side, float(rows[k, dim + axis]) - float(rows[k, axis]))
    return 0.5 * side if side < np.inf else 0.0


@inline
def _step(boxes, i, rows, k):
    """The longest way that an edge of box ``i`` goes when it moves to ``rows[k]``."""
    step = 0.0
    for column in range(rows.shape[1]):
        way = abs(float(rows[k, column]) - float(boxes[i, column]))
        if way > step:  # not where infinite edges differ by nan
            step = way
    return step


@jit
def move_boxes(edges, children, links, where, boxes, reach, tree, ids, rows, margin, steps, leaving, most):
    """Move ``ids`` of one tree from ``boxes`` to ``rows``; returns how many must change their leaf.

    Their places in ``ids`` are written to ``leaving``.  ``reach`` becomes how far each is to be widened: by
    ``margin``, or where that is negative by ``steps`` times its step, but no more than half its longest side:
    a box that jumps must not become a giant.  After ``most`` of them the rest is not looked at: it costs less
    to rebuild the tree.
    """
    dim = boxes.shape[1] // 2
    left = np.int64(0)
    for k in range(ids.shape[0]):
        i = np.int64(ids[k])
        node = np.int64(where[i]) // WIDTH
        slot = np.int64(where[i]) % WIDTH
        widest = margin if margin >= 0.0 else _widest_reach(rows, k)
        if left < most:
            stays = True
            slack = 4.0 * min(float(reach[i]), widest)
            for axis in range(dim):
                row = node * 2 * dim + axis
                low, high = rows[k, axis], rows[k, dim + axis]
                stays &= _within(edges, row, slot, low, high, dim)
                stays &= edges[row + dim, slot] - edges[row, slot] <= (high - low) + slack
            if stays:
                children[0, LOOSE + tree] = 1
                continue
        if tree == MOVING:
            reach[i] = margin if margin >= 0.0 else min(steps * _step(boxes, i, rows, k), widest)
        if left >= most:
            continue
        above, place = place_above(links, node)
        fits = True
        for axis in range(dim):
            low, high = rows[k, axis] - reach[i], rows[k, dim + axis] + reach[i]
            fits &= _within(edges, above * 2 * dim + axis, place, low, high, dim)
        if not fits:
            leaving[left] = k
            left += 1
            continue
        for axis in range(dim):
            edges[node * 2 * dim + axis, slot] = rows[k, axis] - reach[i]
            edges[node * 2 * dim + dim + axis, slot] = rows[k, dim + axis] + reach[i]
        if reach[i] > 0.0:
            children[0, LOOSE + tree] = 1
        fit_upwards(edges, links, node, 2 * dim)
    return left
