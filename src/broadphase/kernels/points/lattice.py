"""Points into cells for the time of one call: which cell, and a counting sort.

A ``grid`` is an array of five rows, one column an axis: where cells begin, cells a unit, the first and the
last cell, and the period (inf where the axis does not begin again).  What lies outside belongs to the cells
at the edge.

The place of a cell in memory is its *slot*.  Either all cells have slots, row by row; or, where there would
be too many of them, the slots are a table and blocks of neighbouring cells of a row are thrown into it: cells
far apart may share a slot then, which costs comparisons and changes nothing.  Both ways cells that follow
each other in a row mostly have slots that do.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.prefetch import AHEAD, prefetch

ORIGIN, PER_UNIT, FIRST, LAST, PERIOD = 0, 1, 2, 3, 4
# Truncation makes the cell at zero twice as wide as the others where there are negative ones: no harm.
BLOCK = 16  # cells that stay together in the table
_BITS = 4


@inline
def cell_on(value, grid, axis):
    """The cell of a coordinate on one axis."""
    place = (np.float64(value) - grid[ORIGIN, axis]) * grid[PER_UNIT, axis]
    # In an order of the two bounds in which a NaN, written by another thread, becomes a cell too.
    return np.int64(max(grid[FIRST, axis], min(grid[LAST, axis], place)))


@inline
def slot_of(x, y, z, env, steps, blocks):
    """Where a cell lies: ``steps`` are those from row to row, plane to plane and world to world."""
    if blocks == 0:
        return x + y * steps[0] + z * steps[1] + env * steps[2]
    # Multiplication by odd numbers and shifts mix all bits (after Knuth and Stafford).
    key = np.int64(x >> _BITS) * np.int64(-7046029254386353131)
    key = (key ^ np.int64(y)) * np.int64(-4417276706812531889)
    key ^= (key >> np.int64(29)) & np.int64(0x7FFFFFFFF)
    key = (key ^ np.int64(z)) * np.int64(-7723592293110705685)
    key ^= (key >> np.int64(31)) & np.int64(0x1FFFFFFFF)
    key = (key ^ np.int64(env)) * np.int64(-4658895280553007687)
    key ^= (key >> np.int64(30)) & np.int64(0x3FFFFFFFF)
    return (key & (blocks - 1)) * BLOCK + (x & (BLOCK - 1))


@jit
def find_extent(points, begin, end, part, low, high):
    """Into ``low[part]`` and ``high[part]`` how far a share of the points reaches; the first bad row, or -1.

    A row is bad that holds NaN or infinity.
    """
    dim = points.shape[1]
    kind = points.dtype.type
    x0 = y0 = z0 = kind(np.inf)
    x1 = y1 = z1 = kind(-np.inf)
    odd = kind(0)
    for i in range(begin, end):
        x, y, z = points[i, 0], points[i, 1], points[i, dim - 1]
        x0, x1 = min(x0, x), max(x1, x)
        y0, y1 = min(y0, y), max(y1, y)
        z0, z1 = min(z0, z), max(z1, z)
        odd += (x - x) + (y - y) + (z - z)  # NaN from the first that is not finite on
    low[part, 0], low[part, 1], low[part, dim - 1] = x0, y0, z0 if dim == 3 else y0
    high[part, 0], high[part, 1], high[part, dim - 1] = x1, y1, z1 if dim == 3 else y1
    if odd == 0:
        return -1
    for i in range(begin, end):
        for axis in range(dim):
            if not abs(points[i, axis]) < np.inf:
                return i
    return -1


@jit
def count_cells(points, envs, grid, steps, blocks, begin, end, part, slots, counts):
    """The slot of each point of a share into ``slots``, and how many are in each into ``counts[part]``."""
    dim = points.shape[1]
    for i in range(begin, end):
        x, y = cell_on(points[i, 0], grid, 0), cell_on(points[i, 1], grid, 1)
        z = cell_on(points[i, dim - 1], grid, dim - 1) if dim == 3 else np.int64(0)
        env = np.int64(envs[i]) if envs.shape[0] > 0 else np.int64(0)
        slot = slot_of(x, y, z, env, steps, blocks)
        slots[i] = slot
        counts[part, slot] += 1


@jit
def place_points(points, envs, radii, begin, end, part, slots, counts, columns, own):
    """Copy the points of a share to their places: a row of ``columns`` an axis, the radii behind them.

    ``own`` becomes their numbers, in its second row their environments.
    """
    dim = points.shape[1]
    for i in range(begin, end):
        # Places are all over memory; with prefetching a point among a million takes 14 ns, not 19.
        if i + 2 * AHEAD < end:
            prefetch(counts, part, slots[i + 2 * AHEAD])
            place = counts[part, slots[i + AHEAD]]
            prefetch(own, 0, place)
            prefetch(columns, 0, place)
            prefetch(columns, 1, place)
        slot = slots[i]
        at = np.uint64(counts[part, slot])
        counts[part, slot] = at + np.uint64(1)
        own[0, at] = i
        columns[0, at] = points[i, 0]
        columns[1, at] = points[i, 1]
        if dim == 3:
            columns[2, at] = points[i, 2]
        if radii.shape[0] > 0:
            columns[dim, at] = radii[i]
        if envs.shape[0] > 0:
            own[1, at] = envs[i]
