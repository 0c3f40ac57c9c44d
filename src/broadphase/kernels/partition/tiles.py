"""Which tiles a box touches: counted, then copied in their order."""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit, unsigned

# Columns of a node: which axis it cuts, and where to go on.  The last nodes are the tiles; they lead to
# themselves and cut at NaN, so that going on from them changes nothing.
AXIS, LEFT, RIGHT = 0, 1, 2


@inline
def _only_leaf(boxes, i, nodes, splits, depth):
    """The node of the tile in which box ``i`` lies as a whole, or -1 where it touches several.

    Always ``depth`` steps, and the side of each is an index and no branch: of hundreds of tiles a processor
    guesses none right.  A box takes 20 ns and not 120.
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

    ``first[i]`` and ``copies[i]`` become the first tile that a box touches and how many they are.  ``own`` of
    a tile counts the boxes that touch at most ``most`` tiles, ``shared`` the larger ones, of which no copies
    are made.  ``depth``: of the deepest tile.  ``stack`` and ``leaves`` are scratch with room for every tile.
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

    ``at[t]`` is where the next copy of tile ``t`` goes to; behind those of the tiles, where the next box goes
    that touches more than ``most`` of them.  ``order`` becomes the row of each copy.
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
