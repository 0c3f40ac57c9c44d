"""Copies the boxes of a chunk into the tiles of a world on disk, and converts found pairs back to rows.

A tile is a leaf of a tree whose nodes each split one axis: a box that begins before the split goes left, a
box that ends at the split or after it goes right, so a box is copied into every tile that it touches.  The
edges of boxes are only compared, never computed with, so the result is exact for all numbers, infinities
included.

`count_tiles` counts the copies, `copy_to_tiles` makes them, and `rows_of_pairs` converts the pairs of a tile
to rows of the whole input.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit, unsigned

# Columns of a node: the axis that it splits, and the next node on either side.  The last nodes are the tiles;
# their next node is themselves and their split is NaN, so a further step changes nothing.
AXIS, LEFT, RIGHT = 0, 1, 2


@inline
def _only_leaf(boxes, i, nodes, splits, depth):
    """The node of the tile that contains box ``i`` entirely, or -1 if it touches several tiles.

    It always takes ``depth`` steps, and the side of each step is an index and not a branch: with hundreds of
    tiles most branches would be mispredicted.  A box takes 20 ns instead of 120.
    """
    dim = unsigned(boxes.shape[1] // 2)
    node = unsigned(0)
    crossing = False
    for _ in range(depth):
        axis = unsigned(nodes[node, AXIS])
        split = splits[node]
        ends_right = boxes[i, dim + axis] >= split
        crossing |= ends_right & (boxes[i, axis] < split)
        node = unsigned(nodes[node, unsigned(LEFT) + unsigned(ends_right)])
    return np.int64(-1) if crossing else np.int64(node)


@inline
def _leaves_of(boxes, i, nodes, splits, stack, leaves):
    """Write the tiles that box ``i`` touches to ``leaves``, ascending; returns how many."""
    dim = boxes.shape[1] // 2
    inner = nodes.shape[0] // 2
    found = top = np.int64(0)
    node = np.int64(0)
    while True:
        while node < inner:
            axis = nodes[node, AXIS]
            ends_right = boxes[i, dim + axis] >= splits[node]
            if ends_right & (boxes[i, axis] < splits[node]):
                stack[top] = nodes[node, RIGHT]
                top += 1
                node = np.int64(nodes[node, LEFT])
            else:
                node = np.int64(nodes[node, LEFT + np.int64(ends_right)])
        leaves[found] = node - inner
        found += 1
        if top == 0:
            return found
        top -= 1
        node = np.int64(stack[top])


@jit
def count_tiles(boxes, nodes, splits, depth, most, stack, leaves, first, copies, own, shared):
    """Count, for each tile, the boxes that are to be copied into it.

    ``first[i]`` becomes the first tile that box ``i`` touches, and ``copies[i]`` the number of tiles.
    ``own`` of a tile counts the boxes that touch at most ``most`` tiles, ``shared`` the larger ones, of which
    no copies are made.  ``depth`` is that of the deepest tile.  ``stack`` and ``leaves`` are scratch, one
    entry for each tile.
    """
    inner = nodes.shape[0] // 2
    for i in range(boxes.shape[0]):
        only = _only_leaf(boxes, i, nodes, splits, depth)
        if only >= 0:
            first[i] = only - inner
            copies[i] = 1
            own[only - inner] += 1
            continue
        found = _leaves_of(boxes, i, nodes, splits, stack, leaves)
        first[i] = leaves[0]
        copies[i] = found
        if found <= most:
            for k in range(found):
                own[leaves[k]] += 1
        else:
            for k in range(found):
                shared[leaves[k]] += 1


@jit
def copy_to_tiles(boxes, nodes, splits, most, stack, leaves, first, copies, at, out, order):
    """Copy each box into its tiles, in the order of the rows.

    ``at[t]`` is where the next copy of tile ``t`` goes; the last entry of ``at`` is where the next box goes
    that touches more than ``most`` tiles.  ``order`` becomes the row of each copy.
    """
    width = boxes.shape[1]
    large = at.shape[0] - 1
    for i in range(boxes.shape[0]):
        found = np.int64(1)
        if copies[i] == 1:
            leaves[0] = first[i]
        elif copies[i] <= most:
            found = _leaves_of(boxes, i, nodes, splits, stack, leaves)
        else:
            leaves[0] = large
        for k in range(found):
            place = at[leaves[k]]
            at[leaves[k]] = place + 1
            order[place] = i
            for column in range(width):
                out[place, column] = boxes[i, column]


@jit
def rows_of_pairs(pairs, rows, i, j):
    """Write the rows of both columns of ``pairs``, which number boxes of a tile, to ``i`` and ``j``."""
    for k in range(pairs.shape[0]):
        i[k] = rows[pairs[k, 0]]
        j[k] = rows[pairs[k, 1]]
