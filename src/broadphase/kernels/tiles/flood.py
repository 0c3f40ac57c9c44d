"""Dijkstra's distances to a goal from all tiles, and the step that leads there.

Source: E. W. Dijkstra, *A note on two problems in connexion with graphs*, 1959.  There are only three lengths
of a step (along a row, along a column, across a corner), so three queues stand in for the heap: what is put
behind one is never nearer than what stands there.  Cost: a look at eight neighbours for each tile reached.
"""

import math

from broadphase.kernels.machine.jit import inline, jit, unsigned
from broadphase.kernels.tiles.steps import COLUMN_STEPS, ROW_STEPS


@inline
def _next_queue(queues, ends, settled, distances):
    """The queue whose head is the nearest tile that is not settled yet; -1: all are empty."""
    chosen, least = -1, math.inf
    for q in range(3):
        while ends[q, 0] < ends[q, 1] and settled[unsigned(queues[q, ends[q, 0]])]:
            ends[q, 0] += 1
        if ends[q, 0] < ends[q, 1]:
            distance = distances[unsigned(queues[q, ends[q, 0]])]
            if distance < least:
                chosen, least = q, distance
    return chosen


@jit
def flood(steps, columns, costs, farthest, target, most, distances, ways, settled, queues, ends):
    """Settle up to ``most`` tiles, nearest first; whether that was all.

    Tiles are numbered row by row, and each array has one entry a tile.  ``steps``: the open steps, see
    `find_steps`.  ``costs``: of a step along a row, a column, across a corner.  ``distances``: infinite but
    for the goals.  ``ways``: the step towards the goal, -1 where there is none.  ``queues``: ``(3, n)`` tiles
    with the goals in the first; ``ends``: head and tail of each.  It is all done too when the tile
    ``target`` is settled, or the next is farther than ``farthest``.
    """
    rows = steps.shape[0] // max(columns, 1)
    for _ in range(most):
        chosen = _next_queue(queues, ends, settled, distances)
        if chosen < 0:
            return True
        tile = queues[chosen, ends[chosen, 0]]
        ends[chosen, 0] += 1
        settled[tile] = True
        if tile == target:
            return True
        row = tile // columns
        column = tile - row * columns
        for k in range(8):  # the tile from which step k leads here
            y, x = row - ROW_STEPS[k], column - COLUMN_STEPS[k]
            if not (0 <= y < rows and 0 <= x < columns):
                continue
            other = unsigned(y * columns + x)
            if steps[other] & (1 << k):
                q = 2 if k > 3 else k // 2
                distance = distances[tile] + costs[q]
                if distance < distances[other] and distance <= farthest:
                    distances[other] = distance
                    ways[other] = k
                    queues[q, ends[q, 1]] = other
                    ends[q, 1] += 1
    return False
