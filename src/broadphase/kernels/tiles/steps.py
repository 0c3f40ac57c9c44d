"""The steps that a body of whole tiles may take.

A body stands with its first tile, the one of the smallest column and row, and covers ``wide`` times ``high``.
Step ``k`` takes it to the next tile, straight (0 to 3) or across a corner (4 to 7).
"""

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.tiles.grid import sides_at

COLUMN_STEPS = (1, -1, 0, 0, 1, -1, 1, -1)
ROW_STEPS = (0, 0, 1, -1, 1, 1, -1, -1)


@jit
def find_room(grid, wide, high, begin, end, room):
    """Where a body fits, for its first tiles in rows ``begin`` to ``end``: on the map, and nothing solid."""
    rows, columns = grid.solid.shape
    for row in range(begin, end):
        for column in range(columns):
            fits = row + high <= rows and column + wide <= columns
            if fits:
                for y in range(row, row + high):
                    for x in range(column, column + wide):
                        fits = fits and not grid.solid[y, x]
            room[row, column] = fits


@inline
def _lets_in(grid, column, row, wide, high, k):
    """Whether no one-way tile blocks the side through which straight step ``k`` enters a new row of tiles."""
    bit = 1 << k  # right enters through the left side, and so on: the bits of `grid.Side` in this order
    x, y = column, row
    across, down = wide, high
    if k == 0:
        x, across = column + wide, 1
    elif k == 1:
        x, across = column - 1, 1
    elif k == 2:
        y, down = row + high, 1
    else:
        y, down = row - 1, 1
    for at_row in range(y, y + down):
        for at_column in range(x, x + across):
            if sides_at(grid, at_column, at_row) & bit:
                return False
    return True


@inline
def _straight(grid, room, column, row, wide, high, k):
    """Whether straight step ``k`` is open."""
    rows, columns = room.shape
    x, y = column + COLUMN_STEPS[k], row + ROW_STEPS[k]
    if not (0 <= x < columns and 0 <= y < rows and room[y, x]):
        return False
    return grid.one_way.shape[0] == 0 or _lets_in(grid, column, row, wide, high, k)


@jit
def find_steps(grid, wide, high, diagonal, begin, end, room, steps):
    """The open steps out of the tiles in rows ``begin`` to ``end``, as bits.

    A step across a corner is open where the body could as well go round it on either side: it then touches
    no corner on its way, whatever its size.
    """
    columns = room.shape[1]
    for row in range(begin, end):
        for column in range(columns):
            found = 0
            if room[row, column]:
                for k in range(4):
                    if _straight(grid, room, column, row, wide, high, k):
                        found |= 1 << k
                if diagonal:
                    for k in range(4, 8):
                        first = 0 if COLUMN_STEPS[k] > 0 else 1
                        second = 2 if ROW_STEPS[k] > 0 else 3
                        if (
                            found & (1 << first)
                            and found & (1 << second)
                            and _straight(grid, room, column + COLUMN_STEPS[k], row, wide, high, second)
                            and _straight(grid, room, column, row + ROW_STEPS[k], wide, high, first)
                        ):
                            found |= 1 << k
            steps[row, column] = found
