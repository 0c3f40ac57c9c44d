"""Pathfinding on tiles: which steps a body may take, distances to a goal, and the flow field."""

import math

from broadphase.kernels.machine.jit import inline, jit, unsigned
from broadphase.kernels.shapes.contact import length
from broadphase.kernels.tiles.grid import cell_at, edge, sides_at
from broadphase.kernels.tiles.slopes import profile_at

# -----------------------------------------------------------------------------------------------------------
# The steps that a body of whole tiles may take.
#
# The position of a body is its first tile, the one of the smallest column and row, and it covers ``wide``
# times ``high`` tiles.  Step ``k`` takes it to the next tile, straight (0 to 3) or diagonally (4 to 7).


COLUMN_STEPS = (1, -1, 0, 0, 1, -1, 1, -1)
ROW_STEPS = (0, 0, 1, -1, 1, 1, -1, -1)


@jit
def find_free_tiles(grid, wide, high, begin, end, free):
    """Mark where a body fits, for its first tiles in rows ``begin`` to ``end``: on the map, in no slope."""
    rows, columns = grid.solid.shape
    for row in range(begin, end):
        for column in range(columns):
            fits = row + high <= rows and column + wide <= columns
            if fits:
                for y in range(row, row + high):
                    for x in range(column, column + wide):
                        fits = fits and not grid.solid[y, x] and profile_at(grid, x, y) == 0
            free[row, column] = fits


@inline
def _lets_in(grid, column, row, wide, high, k):
    """Whether no one-way tile blocks the side through which straight step ``k`` enters a new row of tiles."""
    bit = 1 << k  # right enters through the left side, and so on: the bits of `grid.Side` in this order
    x, y = column, row
    across, down = wide, high
    if k < 2:
        x, across = (column + wide if k == 0 else column - 1), 1
    else:
        y, down = (row + high if k == 2 else row - 1), 1
    for at_row in range(y, y + down):
        for at_column in range(x, x + across):
            if sides_at(grid, at_column, at_row) & bit:
                return False
    return True


@inline
def _straight(grid, free, column, row, wide, high, k):
    """Whether straight step ``k`` is open."""
    rows, columns = free.shape
    x, y = column + COLUMN_STEPS[k], row + ROW_STEPS[k]
    if not (0 <= x < columns and 0 <= y < rows and free[y, x]):
        return False
    return grid.one_way.shape[0] == 0 or _lets_in(grid, column, row, wide, high, k)


@jit
def find_steps(grid, wide, high, diagonal, begin, end, free, steps):
    """The open steps out of the tiles in rows ``begin`` to ``end``, as bits.

    A diagonal step is open if both ways around the corner are open too: then the body touches no corner,
    whatever its size.
    """
    columns = free.shape[1]
    for row in range(begin, end):
        for column in range(columns):
            found = 0
            if free[row, column]:
                for k in range(4):
                    if _straight(grid, free, column, row, wide, high, k):
                        found |= 1 << k
                if diagonal:
                    for k in range(4, 8):
                        first = 0 if COLUMN_STEPS[k] > 0 else 1
                        second = 2 if ROW_STEPS[k] > 0 else 3
                        if (
                            found & (1 << first)
                            and found & (1 << second)
                            and _straight(grid, free, column + COLUMN_STEPS[k], row, wide, high, second)
                            and _straight(grid, free, column, row + ROW_STEPS[k], wide, high, first)
                        ):
                            found |= 1 << k
            steps[row, column] = found


# -----------------------------------------------------------------------------------------------------------
# Dijkstra's distances to a goal from all tiles, and the step that leads there.
#
# Source: E. W. Dijkstra, *A note on two problems in connexion with graphs*, 1959.  There are only three
# lengths of a step (along a row, along a column, diagonally), so three queues replace the heap: each is
# sorted, because an entry is never nearer than the one before it.  Cost: eight neighbours for each tile
# reached.


@inline
def _next_queue(queues, ends, settled, distances):
    """The queue whose head is the nearest tile that is not settled yet; -1 if all are empty."""
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
def flood(steps, columns, costs, farthest, target, most, distances, directions, settled, queues, ends):
    """Settle up to ``most`` tiles, nearest first; whether that was all.

    Tiles are numbered row by row, and each array has one entry a tile.  ``steps``: the open steps, see
    `find_steps`.  ``costs``: of a step along a row, a column, across a corner.  ``distances``: infinite but
    for the goals.  ``directions``: the step towards the goal, -1 if there is none.
    ``queues``: ``(3, n)`` tiles with the goals in the first; ``ends``: head and tail of each.  The flood is
    also done when the tile ``target`` is settled, or the next one is farther than ``farthest``.
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
                    directions[other] = k
                    queues[q, ends[q, 1]] = other
                    ends[q, 1] += 1
    return False


# -----------------------------------------------------------------------------------------------------------
# Following a flow field: from points, and tile by tile.


@inline
def _first_tile(grid, x, y, wide, high):
    """The first tile of the block of tiles whose middle is nearest to a point; row -1: not on the map."""
    rows, columns = grid.solid.shape
    column = cell_at(x - 0.5 * (wide - 1) * grid.width, grid.x, grid.width, columns)
    row = cell_at(y - 0.5 * (high - 1) * grid.height, grid.y, grid.height, rows)
    if not (0 <= column < columns and 0 <= row < rows):
        return -1, -1
    return column, row


@jit
def distances_at(grid, wide, high, distances, points, out):
    """The distance of the tile that each point, the middle of a body, belongs to; infinite outside."""
    for k in range(points.shape[0]):
        column, row = _first_tile(grid, points[k, 0], points[k, 1], wide, high)
        out[k] = distances[row, column] if row >= 0 else float("inf")


@jit
def directions_at(grid, wide, high, directions, points, out):
    """The unit vector from each point to the middle of the next step's tile; zeros if there is no step."""
    for k in range(points.shape[0]):
        x, y = points[k, 0], points[k, 1]
        column, row = _first_tile(grid, x, y, wide, high)
        step = directions[row, column] if row >= 0 else -1
        out[k, 0] = out[k, 1] = 0.0
        if step >= 0:
            column, row = column + COLUMN_STEPS[step], row + ROW_STEPS[step]
            dx = edge(grid.x, grid.width, column) + 0.5 * wide * grid.width - x
            dy = edge(grid.y, grid.height, row) + 0.5 * high * grid.height - y
            far = length(dx, dy)
            if far > 0.0:
                out[k, 0], out[k, 1] = dx / far, dy / far


@jit
def trace(directions, column, row, out):
    """Write the tiles from one to the goal until ``out`` is full; returns how many there are."""
    count = 0
    while True:
        if count < out.shape[0]:
            out[count, 0], out[count, 1] = column, row
        count += 1
        step = directions[row, column]
        if step < 0:
            return count
        column, row = column + COLUMN_STEPS[step], row + ROW_STEPS[step]
