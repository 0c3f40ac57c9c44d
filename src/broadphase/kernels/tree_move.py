"""Give boxes of the living tree new places, as far as that needs no other leaf.

A box that stays within its slot costs this look, unless it has become much smaller than the slot.  One
that stays within the bounds of its leaf gets a new slot box there.  The others are handed back: they have
to be removed and inserted.
"""

import numpy as np

from broadphase.kernels.jit import inline, jit
from broadphase.kernels.tree_nodes import ABOVE, LOOSE, WIDTH, fit_upwards


@inline
def _within(edges, node, slot, low, high, axis, rows):
    """Whether a slot's box reaches from ``low`` to ``high`` on an axis."""
    row = node * rows + axis
    return (edges[row, slot] <= low) & (high <= edges[row + rows // 2, slot])


@inline
def _fills(edges, node, slot, low, high, reach, axis, rows):
    """Whether a slot is not much larger than it has to be: twice the margins and no more."""
    row = node * rows + axis
    return edges[row + rows // 2, slot] - edges[row, slot] <= (high - low) + 4 * reach


@inline
def _reach(boxes, i, rows, k, margin):
    """How far to widen box ``i``, which moves to ``rows[k]``; a negative margin: four times its step.

    At most half its longest side: a box that jumps must not become a giant.
    """
    if margin >= 0.0:
        return margin
    dim = boxes.shape[1] // 2
    step = 0.0
    side = 0.0
    for axis in range(dim):
        low = float(rows[k, axis])
        high = float(rows[k, dim + axis])
        way = max(abs(low - float(boxes[i, axis])), abs(high - float(boxes[i, dim + axis])))
        if way > step:  # not where infinite edges differ by nan
            step = way
        if high - low > side:
            side = high - low
    reach = min(-margin * step, 0.5 * side)
    return reach if reach < np.inf else 0.0


@jit
def move_boxes(edges, children, links, where, boxes, reach, classes, ids, rows, margin, leaving):
    """Move ``ids`` from ``boxes`` to ``rows``; returns how many must change their leaf.

    Their places in ``ids`` are written to ``leaving``, and how far they are to be widened to ``reach``.
    """
    dim = boxes.shape[1] // 2
    left = 0
    for k in range(ids.shape[0]):
        i = ids[k]
        node = where[i] // WIDTH
        slot = where[i] % WIDTH
        tree = np.int64(classes[i] & 1)
        stays = True
        for axis in range(dim):
            low, high = rows[k, axis], rows[k, dim + axis]
            stays &= _within(edges, node, slot, low, high, axis, 2 * dim)
            stays &= _fills(edges, node, slot, low, high, reach[i], axis, 2 * dim)
        if stays:
            children[0, LOOSE + tree] = 1
            continue
        if tree == 0:
            reach[i] = _reach(boxes, i, rows, k, margin)
        above = links[node, ABOVE] // WIDTH
        place = links[node, ABOVE] % WIDTH
        fits = True
        for axis in range(dim):
            low = rows[k, axis] - reach[i]
            high = rows[k, dim + axis] + reach[i]
            fits &= _within(edges, above, place, low, high, axis, 2 * dim)
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
