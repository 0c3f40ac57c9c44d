"""Pathfinding on tiles: which steps a body may take, distances to a goal, the flow field, and one path."""

import math

import numpy as np

from broadphase.kernels.arrays.passes import looked
from broadphase.kernels.arrays.results import larger
from broadphase.kernels.machine.jit import common, inline, jit, unsigned
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

# A tile that is settled takes as long as so many comparisons, see `interrupts.OFTEN`.
LOOKS = 128

# Which diagonal steps a body may take.
STRAIGHT, BETWEEN_FREE, PAST_ONE_CORNER, PAST_CORNERS = 0, 1, 2, 3


@inline
def _fits(grid, column, row, wide, high):
    """Whether a body may stand here: on the map, in no solid tile and in no slope."""
    rows, columns = grid.solid.shape
    if column < 0 or row < 0 or column + wide > columns or row + high > rows:
        return False
    for y in range(row, row + high):
        for x in range(column, column + wide):
            if grid.solid[y, x] or profile_at(grid, x, y) != 0:
                return False
    return True


@inline
def _lets_in(grid, column, row, wide, high, k):
    """Whether no one-way tile blocks the side through which straight step ``k`` enters a new row of tiles."""
    if grid.one_way.shape[0] == 0:
        return True
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
def _is_open(grid, wide, high, diagonal, column, row, k):
    """Whether a body may take step ``k`` from a tile to one where it fits, by the rule ``diagonal``.

    With ``BETWEEN_FREE`` both ways around the corner must be open: then the body touches no corner, whatever
    its size.  ``PAST_ONE_CORNER``: one of them.  ``PAST_CORNERS``: the last step of one of them, whatever is
    on the corner.
    """
    if not _fits(grid, column, row, wide, high):
        return False
    if k < 4:
        return _lets_in(grid, column, row, wide, high, k)
    to_column, to_row = column + COLUMN_STEPS[k], row + ROW_STEPS[k]
    across, down = (0 if COLUMN_STEPS[k] > 0 else 1), (2 if ROW_STEPS[k] > 0 else 3)
    across_first = _lets_in(grid, to_column, row, wide, high, down)
    down_first = _lets_in(grid, column, to_row, wide, high, across)
    if diagonal == PAST_CORNERS:
        return across_first or down_first
    across_first = across_first and _fits(grid, to_column, row, wide, high)
    across_first = across_first and _lets_in(grid, column, row, wide, high, across)
    down_first = down_first and _fits(grid, column, to_row, wide, high)
    down_first = down_first and _lets_in(grid, column, row, wide, high, down)
    if diagonal == PAST_ONE_CORNER:
        return across_first or down_first
    return across_first and down_first


@inline
def _factor(cost, column, row, wide, high):
    """How many times its length a step to a tile costs: the largest factor of the tiles that are covered."""
    largest = 1.0
    if cost.shape[0] > 0:
        for y in range(row, row + high):
            for x in range(column, column + wide):
                largest = max(largest, cost[y, x])
    return largest


# -----------------------------------------------------------------------------------------------------------
# A binary heap of rows ``[key, value]``, the smallest key first, for searches in which steps differ in cost.


@inline
def _push(heap, count, key, value):
    """Add a row; returns the heap, which has grown where it was full."""
    if count == heap.shape[0]:
        heap = larger(heap, count)
    k = count
    while k > 0 and heap[(k - 1) >> 1, 0] > key:
        heap[k, 0], heap[k, 1] = heap[(k - 1) >> 1, 0], heap[(k - 1) >> 1, 1]
        k = (k - 1) >> 1
    heap[k, 0], heap[k, 1] = key, value
    return heap


@inline
def _drop_first(heap, count):
    """Take the first of ``count`` rows away."""
    last = count - 1
    key, value = heap[last, 0], heap[last, 1]
    k = 0
    while 2 * k + 1 < last:
        child = 2 * k + 1
        if child + 1 < last and heap[child + 1, 0] < heap[child, 0]:
            child += 1
        if heap[child, 0] >= key:
            break
        heap[k, 0], heap[k, 1] = heap[child, 0], heap[child, 1]
        k = child
    heap[k, 0], heap[k, 1] = key, value


# -----------------------------------------------------------------------------------------------------------
# Dijkstra's distances to a goal from all tiles, and the step that leads there.
#
# Source: E. W. Dijkstra, *A note on two problems in connexion with graphs*, 1959.  Where all tiles cost the
# same there are only three lengths of a step (along a row, along a column, diagonally), so three queues
# replace the heap: each is sorted, because an entry is never nearer than the one before it.  A map of
# 1,000 x 1,000 takes a third of the time.  Cost: eight neighbours for each tile reached.


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
def find_distances(grid, wide, high, diagonal, cost, goals, farthest):
    """The distance of every tile to the nearest of ``goals``, and the step towards it, row by row.

    Distances are infinite and steps -1 where there is no path, or none as short as ``farthest``.  ``goals``:
    numbers of tiles, counted row by row.  ``cost``: a factor for each tile, or no row.
    """
    rows, columns = grid.solid.shape
    distances, directions = np.empty(rows * columns), np.empty(rows * columns, np.int8)
    distances[:] = math.inf
    directions[:] = -1
    settled = np.zeros(rows * columns, np.bool_)
    weighted = cost.shape[0] > 0
    lengths = (grid.width, grid.height, length(grid.width, grid.height))
    queues = np.empty((3, 0 if weighted else max(rows * columns, goals.shape[0])), np.int64)
    ends = np.zeros((3, 2), np.int64)
    heap, count = np.empty((1024, 2)), 0
    for goal in goals:
        row = goal // columns
        if _fits(grid, goal - row * columns, row, wide, high):
            distances[goal] = 0.0
            if weighted:
                heap = _push(heap, count, 0.0, goal)
                count += 1
            else:
                queues[0, ends[0, 1]] = goal
                ends[0, 1] += 1
    last_step = 4 if diagonal == STRAIGHT else 8
    looks = checked = np.int64(0)
    while True:
        looks += LOOKS
        checked = looked(looks, checked)
        if checked < 0:
            break
        if weighted:
            if count == 0:
                break
            tile = np.int64(heap[0, 1])
            _drop_first(heap, count)
            count -= 1
            if settled[tile]:
                continue
        else:
            chosen = _next_queue(queues, ends, settled, distances)
            if chosen < 0:
                break
            tile = queues[chosen, ends[chosen, 0]]
            ends[chosen, 0] += 1
        settled[tile] = True
        row = tile // columns
        column = tile - row * columns
        factor = _factor(cost, column, row, wide, high)
        for k in range(last_step):  # the tile from which step k leads here
            x, y = column - COLUMN_STEPS[k], row - ROW_STEPS[k]
            if not (0 <= y < rows and 0 <= x < columns):
                continue
            other = unsigned(y * columns + x)
            q = 2 if k > 3 else k // 2
            distance = distances[tile] + lengths[q] * factor
            if (
                distance < distances[other]
                and distance <= farthest
                and _is_open(grid, wide, high, diagonal, x, y, k)
            ):
                distances[other] = distance
                directions[other] = k
                if weighted:
                    heap = _push(heap, count, distance, y * columns + x)
                    count += 1
                else:
                    queues[q, ends[q, 1]] = y * columns + x
                    ends[q, 1] += 1
    return distances, directions


# -----------------------------------------------------------------------------------------------------------
# One path, by A*.
#
# Source: P. Hart, N. Nilsson, B. Raphael, *A Formal Basis for the Heuristic Determination of Minimum Cost
# Paths*, 1968.  Tiles that have been seen are rows of a table that grows, found by a hash table of their
# numbers, so that a short path on a large map costs what it sees and not what the map holds.  It loses to the
# distances of all tiles where one must search most of the map: a row costs several times a tile of an array.

TILE, DISTANCE, STEP, KEY = 0, 1, 2, 3
"""Columns of a seen tile: its number, the distance to the goal, the step there, and the key of its entry in
the heap that counts (an older one has another key)."""


@inline
def _slot(slots, seen, column, row, tile):
    """The slot of a tile in the hash table, whose entries are rows of ``seen``; that of none holds -1."""
    mask = slots.shape[0] - 1
    slot = ((column * 73856093) ^ (row * 19349663)) & mask
    while slots[slot] >= 0 and seen[slots[slot], TILE] != tile:
        slot = (slot + 1) & mask
    return slot


@common
def _with_room(slots, seen, count, columns):
    """The table and its slots with room for twice as many tiles."""
    seen = larger(seen, count)
    size = slots.shape[0]
    while size < 2 * seen.shape[0]:
        size *= 2
    slots = np.empty(size, np.int64)
    slots[:] = -1
    for node in range(count):
        tile = np.int64(seen[node, TILE])
        row = tile // columns
        slots[_slot(slots, seen, tile - row * columns, row, tile)] = node
    return slots, seen


@inline
def _least_left(grid, diagonal, columns, rows):
    """The length of the shortest path over so many columns and rows; a little less, for the rounding of sums.

    Without that a sum that is rounded down could be found too late.
    """
    across, down = abs(columns), abs(rows)
    both = 0 if diagonal == STRAIGHT else min(across, down)
    straight = (across - both) * grid.width + (down - both) * grid.height
    return (straight + both * length(grid.width, grid.height)) * (1.0 - 1e-12)


@jit
def find_path(grid, wide, high, diagonal, cost, goals, column, row):
    """``(m, 2)``: the tiles of a shortest path from a tile to the nearest of ``goals``; no row without one.

    The search goes backwards, from the goals.  ``goals`` and ``cost`` as in `find_distances`.
    """
    columns = grid.solid.shape[1]
    lengths = (grid.width, grid.height, length(grid.width, grid.height))
    seen, slots, count = np.empty((256, 4)), np.empty(1024, np.int64), 0
    slots[:] = -1
    heap, waiting = np.empty((256, 2)), 0
    last_step = 4 if diagonal == STRAIGHT else 8
    start = row * columns + column
    found = -1
    for goal in goals:
        y = goal // columns
        x = goal - y * columns
        if not _fits(grid, x, y, wide, high):
            continue
        if count == seen.shape[0]:
            slots, seen = _with_room(slots, seen, count, columns)
        key = _least_left(grid, diagonal, column - x, row - y)
        slots[_slot(slots, seen, x, y, goal)] = count
        seen[count, TILE], seen[count, DISTANCE], seen[count, STEP], seen[count, KEY] = goal, 0.0, -1.0, key
        heap = _push(heap, waiting, key, count)
        waiting += 1
        count += 1
    looks = checked = np.int64(0)
    while waiting > 0:
        looks += LOOKS
        checked = looked(looks, checked)
        if checked < 0:
            break
        key, node = heap[0, 0], np.int64(heap[0, 1])
        _drop_first(heap, waiting)
        waiting -= 1
        if key != seen[node, KEY]:
            continue  # a shorter way has been found since
        tile = np.int64(seen[node, TILE])
        if tile == start:
            found = node
            break
        seen[node, KEY] = -1.0  # settled
        at_row = tile // columns
        at_column = tile - at_row * columns
        factor = _factor(cost, at_column, at_row, wide, high)
        for k in range(last_step):  # the tile from which step k leads here
            x, y = at_column - COLUMN_STEPS[k], at_row - ROW_STEPS[k]
            if not _is_open(grid, wide, high, diagonal, x, y, k):
                continue
            distance = seen[node, DISTANCE] + lengths[2 if k > 3 else k // 2] * factor
            other = y * columns + x
            slot = _slot(slots, seen, x, y, other)
            known = slots[slot]
            if not distance < (seen[known, DISTANCE] if known >= 0 else math.inf):
                continue
            if known < 0:
                if count == seen.shape[0]:
                    slots, seen = _with_room(slots, seen, count, columns)
                    slot = _slot(slots, seen, x, y, other)
                known = slots[slot] = count
                count += 1
            key = distance + _least_left(grid, diagonal, column - x, row - y)
            seen[known, TILE], seen[known, DISTANCE] = other, distance
            seen[known, STEP], seen[known, KEY] = k, key
            heap = _push(heap, waiting, key, known)
            waiting += 1
    return _followed(seen, slots, columns, found)


@inline
def _followed(seen, slots, columns, node):
    """The tiles from a seen one along its steps to the goal; none from -1."""
    tiles, count = np.empty((64, 2), np.int64), 0
    while node >= 0:
        if count == tiles.shape[0]:
            tiles = larger(tiles, count)
        tile = np.int64(seen[node, TILE])
        tiles[count, 1] = tile // columns
        tiles[count, 0] = tile - tiles[count, 1] * columns
        count += 1
        node = _next_seen(seen, slots, columns, node)
    return tiles[:count]


@inline
def _next_seen(seen, slots, columns, node):
    """The seen tile to which the step of one leads; -1 behind the goal."""
    k = np.int64(seen[node, STEP])
    if k < 0:
        return -1
    tile = np.int64(seen[node, TILE])
    row = tile // columns
    x, y = tile - row * columns + COLUMN_STEPS[k], row + ROW_STEPS[k]
    return slots[_slot(slots, seen, x, y, y * columns + x)]


# -----------------------------------------------------------------------------------------------------------
# Following a flow field, whose arrays begin at column and row ``corner``: from points, and tile by tile.


@inline
def _first_tile(grid, x, y, wide, high, corner, field):
    """The first tile of the block of tiles whose middle is nearest to a point; row -1: outside."""
    rows, columns = grid.solid.shape
    column = cell_at(x - 0.5 * (wide - 1) * grid.width, grid.x, grid.width, columns) - corner[0]
    row = cell_at(y - 0.5 * (high - 1) * grid.height, grid.y, grid.height, rows) - corner[1]
    if not (0 <= column < field.shape[1] and 0 <= row < field.shape[0]):
        return -1, -1
    return column, row


@jit
def distances_at(grid, wide, high, corner, distances, points, out):
    """The distance of the tile that each point, the middle of a body, belongs to; infinite outside."""
    for k in range(points.shape[0]):
        column, row = _first_tile(grid, points[k, 0], points[k, 1], wide, high, corner, distances)
        out[k] = distances[row, column] if row >= 0 else math.inf


@jit
def directions_at(grid, wide, high, corner, directions, points, out):
    """The unit vector from each point to the middle of the next step's tile; zeros if there is no step."""
    for k in range(points.shape[0]):
        x, y = points[k, 0], points[k, 1]
        column, row = _first_tile(grid, x, y, wide, high, corner, directions)
        step = directions[row, column] if row >= 0 else -1
        out[k, 0] = out[k, 1] = 0.0
        if step >= 0:
            column, row = corner[0] + column + COLUMN_STEPS[step], corner[1] + row + ROW_STEPS[step]
            dx = edge(grid.x, grid.width, column) + 0.5 * wide * grid.width - x
            dy = edge(grid.y, grid.height, row) + 0.5 * high * grid.height - y
            far = length(dx, dy)
            if far > 0.0:
                out[k, 0], out[k, 1] = dx / far, dy / far


@jit
def trace(directions, column, row):
    """``(m, 2)``: the tiles from one to the goal."""
    tiles, count = np.empty((64, 2), np.int64), 1
    tiles[0, 0], tiles[0, 1] = column, row
    while directions[row, column] >= 0:
        step = directions[row, column]
        column, row = column + COLUMN_STEPS[step], row + ROW_STEPS[step]
        if count == tiles.shape[0]:
            tiles = larger(tiles, count)
        tiles[count, 0], tiles[count, 1] = column, row
        count += 1
    return tiles[:count]
