"""Boxes grouped by part of the world, to search each part on its own: tiles on disk, and environments.

A tile is a leaf of a tree whose nodes each split one axis: a box that begins before the split goes left, a
box that ends at the split or after it goes right, so a box is copied into every tile that it touches.  The
edges of boxes are only compared, never computed with, so the result is exact for all numbers, infinities
included.

`count_tiles` counts the copies, and `copy_to_tiles` makes them.

An environment is a small world of its own.  `count_worlds` and `place_boxes` group boxes by environment, and
`plan_worlds` decides which are swept together.
"""

import numpy as np

from broadphase.kernels.arrays.passes import PIECE, answers
from broadphase.kernels.arrays.sorting import sampled_row, share_reached
from broadphase.kernels.boxes.overlap import all_ordinary
from broadphase.kernels.machine.jit import inline, jit, unsigned
from broadphase.kernels.machine.memory import few

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
def count_tiles(boxes, nodes, splits, depth, most, first, copies, counts, shared):
    """Count, for each tile, the boxes that are to be copied into it.

    ``first[i]`` becomes the first tile that box ``i`` touches, and ``copies[i]`` the number of tiles.
    ``counts`` of a tile counts the boxes that touch at most ``most`` tiles, ``shared`` the larger ones, of
    which no copies are made.  ``depth`` is that of the deepest tile.
    """
    inner = nodes.shape[0] // 2
    stack, leaves = np.empty(inner + 1, np.int32), np.empty(inner + 1, np.int32)
    for i in range(boxes.shape[0]):
        only = _only_leaf(boxes, i, nodes, splits, depth)
        if only >= 0:
            first[i] = only - inner
            copies[i] = 1
            counts[only - inner] += 1
            continue
        found = _leaves_of(boxes, i, nodes, splits, stack, leaves)
        first[i] = leaves[0]
        copies[i] = found
        if found <= most:
            for k in range(found):
                counts[leaves[k]] += 1
        else:
            for k in range(found):
                shared[leaves[k]] += 1


@jit
def copy_to_tiles(boxes, nodes, splits, most, first, copies, begins, out, order):
    """Copy each box into its tiles, in the order of the rows.

    ``begins[t]`` is where the next copy of tile ``t`` goes; the last entry of ``begins`` is where the next
    box goes that touches more than ``most`` tiles.  ``order`` becomes the row of each copy.
    """
    width = boxes.shape[1]
    large = begins.shape[0] - 1
    stack, leaves = np.empty(large + 1, np.int32), np.empty(large + 1, np.int32)
    for i in range(boxes.shape[0]):
        found = np.int64(1)
        if copies[i] == 1:
            leaves[0] = first[i]
        elif copies[i] <= most:
            found = _leaves_of(boxes, i, nodes, splits, stack, leaves)
        else:
            leaves[0] = large
        for k in range(found):
            place = begins[leaves[k]]
            begins[leaves[k]] = place + 1
            order[place] = i
            for column in range(width):
                out[place, column] = boxes[i, column]


# -----------------------------------------------------------------------------------------------------------
# Many small environments: boxes grouped by environment, and the search of each chosen in one pass.
#
# A small world is one strip of `broadphase.kernels.strips.sweep`: sorted along an axis and swept in the L1 or
# L2 cache, in the same kernel call as all others.  That is the fastest method for a few thousand boxes that
# are not crowded; crowded worlds, or worlds with edges that need care, are searched one by one.


# For a world that is swept, the result is its axis; otherwise one of these.
BY_ITSELF, NOTHING = np.int64(-1), np.int64(-2)
SAMPLE = 16
# Worlds of up to this many boxes are always swept: comparing all pairs would be as fast.
FEW = 256
# From this many comparisons for each box on, dividing the world into strips costs less.
MOST_TESTS = 150.0


@jit
def survey_envs(envs, begin, end):
    """The lowest and the highest of rows ``begin .. end - 1``, and whether they are out of order."""
    low = high = envs[begin]
    falls = 0
    for first in range(begin, end, PIECE):
        last = min(first + PIECE, end)
        for i in range(first, last):
            low, high = min(low, envs[i]), max(high, envs[i])
        for i in range(max(first, 1), last):
            falls |= np.int64(envs[i] < envs[i - 1])
        if not answers(end - begin):
            break
    return low, high, falls


@jit
def number_worlds(envs, low, known, numbers):
    """Number the worlds that there are from 0 on, in their order; how many.  ``known`` is zeros for all."""
    last, count = np.int64(known.shape[0] - 1), np.int32(0)
    for i in range(envs.shape[0]):
        known[max(np.int64(0), min(last, envs[i] - low))] = 1
    for world in range(known.shape[0]):
        if known[world] > 0:
            known[world] = count
            count += np.int32(1)
    for i in range(envs.shape[0]):
        numbers[i] = known[max(np.int64(0), min(last, envs[i] - low))]
    return count


@jit
def count_worlds(envs, low, begin, end, part, numbers, counts):
    """Number the worlds from ``low`` on, and add to ``counts[part, number]`` how many boxes each has.

    The numbers are kept, so that a later write to ``envs`` by another thread does no harm.
    """
    last = np.int64(counts.shape[1] - 1)
    for i in range(begin, end):
        number = max(np.int64(0), min(last, envs[i] - low))
        numbers[i] = number
        counts[part, number] += 1
        if i % PIECE == 0 and not answers(end - begin):
            break


@jit
def place_boxes(boxes, classes, shift, numbers, begin, end, part, places, placed, tags):
    """Write the boxes of a share grouped by world, with their rows and class bits.

    ``places[part, number]`` is the position of the next box of a world, and advances.  The bits are shifted.
    """
    three = boxes.shape[1] == 6
    for i in range(begin, end):
        number = unsigned(numbers[i])
        place = unsigned(places[part, number])
        places[part, number] += 1
        # Written out, because the compiler does not know the number of columns.
        placed[place, 0], placed[place, 1] = boxes[i, 0], boxes[i, 1]
        placed[place, 2], placed[place, 3] = boxes[i, 2], boxes[i, 3]
        if three:
            placed[place, 4], placed[place, 5] = boxes[i, 4], boxes[i, 5]
        tags[place, 0] = i
        tags[place, 1] = np.int32(classes[i]) << shift if classes.shape[0] > 0 else 0
        if i % PIECE == 0 and not answers(end - begin):
            break


@jit
def plan_worlds(boxes, flat, starts, plan):
    """Write into ``plan`` the axis on which to sweep each world, `BY_ITSELF`, or `NOTHING` without pairs.

    World ``w`` is rows ``starts[w] .. starts[w + 1] - 1``; ``flat`` is ``boxes`` as one row.
    """
    dim = boxes.shape[1] // 2
    for w in range(starts.shape[0] - 1):
        begin, end = starts[w], starts[w + 1]
        if end - begin < 2:
            plan[w] = NOTHING
            continue
        best, least = BY_ITSELF, 1.0
        if all_ordinary(flat, 2 * dim * begin, 2 * dim * end):
            for axis in range(dim):
                reached = _share_reached(boxes, begin, end, axis)
                if best == BY_ITSELF or reached < least:
                    best, least = np.int64(axis), reached
            n = end - begin
            if n > FEW and n * least > MOST_TESTS:
                best = BY_ITSELF
        plan[w] = best


@inline
def _share_reached(boxes, begin, end, axis):
    """The share of a world that a box is compared with when sorted on this axis, from a sample."""
    dim = boxes.shape[1] // 2
    n = end - begin
    size = min(n, SAMPLE)
    lows, highs = few(size, np.float64), few(size, np.float64)
    low, high, total = np.inf, -np.inf, 0.0
    for k in range(size):
        i = begin + (np.int64(k) if n == size else sampled_row(k, n))
        lows[k], highs[k] = boxes[i, axis], boxes[i, dim + axis]
        low, high = min(low, lows[k]), max(high, lows[k])
        total += highs[k] - lows[k]
    evenly = min(2.0 * total / (size * (high - low)), 1.0) if high > low else 1.0
    return share_reached(lows, highs, evenly)
