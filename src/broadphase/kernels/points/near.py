"""All points within a distance of each point, through cells that are no narrower than it.

Each point is compared with those in its cell and in the cells around: three cells that follow each other in a
row are one range, and of a range `LANES` points are compared at a time.  What one point finds lies side by
side, so the answer is put in order row by row (`broadphase.kernels.points.rows`) and never pair by pair.

Which pairs count is decided by the coordinates' own arithmetic: the differences, rounded, on an axis with a
period the smaller of ``d`` and ``period - d``; their squares, rounded, added up x, y, z.  None of it depends
on the cells.
"""

import numpy as np

from broadphase.kernels.machine.jit import always_inline, inline, jit, unsigned
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, mask_of, put_lanes, splat
from broadphase.kernels.points.lane_math import lesser, plus, put_floats, root, size, times
from broadphase.kernels.points.lattice import FIRST, LAST, PERIOD, cell_on, slot_of

MOST_RANGES = 27


@inline
def _around(cell, grid, axis):
    """From which cell on to look, how many cells, and whether differences there may go around the world."""
    first, last = np.int64(grid[FIRST, axis]), np.int64(grid[LAST, axis])
    if grid[PERIOD, axis] == np.inf:
        begin = max(cell - 1, first)
        return begin, min(cell + 1, last) - begin + 1, False
    cells = last + 1
    if cells < 4:
        return np.int64(0), cells, True
    return cell - 1, np.int64(3), cell == 0 or cell == last


@inline
def _wrapped(cell, grid, axis):
    cells = np.int64(grid[LAST, axis]) + 1
    if grid[PERIOD, axis] == np.inf:
        return cell
    return cell + cells if cell < 0 else (cell - cells if cell >= cells else cell)


@inline
def _collect_ranges(x, y, z, env, grid, steps, blocks, starts, ranges):
    """The places of the points in the cells around one: ``ranges``; how many, and whether they are folded."""
    dim = grid.shape[1]
    x0, wide, folded = _around(x, grid, 0)
    y0, tall, fold = _around(y, grid, 1)
    folded |= fold
    z0, deep = np.int64(0), np.int64(1)
    if dim == 3:
        z0, deep, fold = _around(z, grid, dim - 1)
        folded |= fold
    found = 0
    slots = 0  # ranges of slots, in rows 2 and 3: the last of them may still grow
    for c in range(z0, z0 + deep):
        plane = _wrapped(c, grid, dim - 1) if dim == 3 else np.int64(0)
        for b in range(y0, y0 + tall):
            row = _wrapped(b, grid, 1)
            if blocks == 0 and x0 >= 0 and x0 + wide <= np.int64(grid[LAST, 0]) + 1:
                slot = slot_of(x0, row, plane, env, steps, blocks)
                begin, end = starts[unsigned(slot)], starts[unsigned(slot + wide)]
                if begin < end:
                    ranges[0, found], ranges[1, found] = begin, end
                    found += 1
                continue
            for a in range(x0, x0 + wide):
                slot = slot_of(_wrapped(a, grid, 0), row, plane, env, steps, blocks)
                if slots > 0 and slot == ranges[3, slots - 1]:
                    ranges[3, slots - 1] = slot + 1
                    continue
                ranges[2, slots] = slot
                ranges[3, slots] = slot + 1
                slots += 1
    for k in range(slots):
        begin, end = ranges[2, k], ranges[3, k]
        if blocks > 0:
            # In the table cells may meet; none is looked at twice.
            begin, end = _not_yet(begin, end, k, ranges)
        if begin < end and starts[begin] < starts[end]:
            ranges[0, found], ranges[1, found] = starts[begin], starts[end]
            found += 1
    return found, folded


@inline
def _not_yet(begin, end, k, ranges):
    """A range of slots without those that earlier ranges hold."""
    for before in range(k):
        low, high = ranges[2, before], ranges[3, before]
        if low < end and begin < high:
            # A range is at most three cells, so what is left is at one end; the rest becomes single cells.
            while begin < end and low <= begin < high:
                begin += 1
            while begin < end and low < end <= high:
                end -= 1
    return begin, end


@jit
def search_near(
    columns, own, starts, grid, steps, blocks, asked, askers, upward, reach, scale, careful,
    ranges, rows, base, ids, squares, at, end, most, limit,
):  # fmt: skip
    """What is near the points ``asked[:, at : end]``, in their order by cells; returns ``at, found, tests``.

    Parameters
    ----------
    columns, own, starts, grid, steps, blocks
        The points that may be found: see `broadphase.kernels.points.lattice`.
    asked, askers
        The query points, in the same form.
    upward
        Whether only points with a higher number are found, as among points of one set.
    reach
        Squares of distances up to this count; with radii it has no meaning.
    scale, careful
        A power of two by which differences are multiplied; where it is 1, all radii are the same and there is
        one environment, or each has slots of its own, the search need not be careful.
    ranges
        Scratch, ``(4, MOST_RANGES)``.
    rows, base
        ``rows[i]`` becomes where the finds of point ``i`` begin, counted from ``base``, and how many there
        are.
    ids, squares
        Where the finds go, ``(1, room)``.
    most, limit
        It stops after so many tests, or more than so many finds; and where there is no more room for a point.
    """
    kind = columns.dtype.type
    dim = grid.shape[1]
    found = tests = np.int64(0)
    mixed = columns.shape[0] > dim
    worlds = own.shape[0] > 1
    room = ids.shape[1] - 2 * LANES
    cell = (np.int64(-1), np.int64(-1), np.int64(-1), np.int64(-2))
    number, folded = 0, False
    factor, bound = kind(scale), kind(reach)
    around = (
        kind(grid[PERIOD, 0]), kind(grid[PERIOD, 1]), kind(grid[PERIOD, dim - 1])
    )  # fmt: skip
    while at < end:
        point = (asked[0, at], asked[1, at], asked[dim - 1, at])
        env = np.int64(askers[1, at]) if worlds else np.int64(0)
        x, y = cell_on(point[0], grid, 0), cell_on(point[1], grid, 1)
        z = cell_on(point[2], grid, dim - 1) if dim == 3 else np.int64(0)
        if not (x == cell[0] and y == cell[1] and z == cell[2] and env == cell[3]):
            cell = (x, y, z, env)
            number, folded = _collect_ranges(x, y, z, env, grid, steps, blocks, starts, ranges)
        begin = found
        i = np.int64(askers[0, at])
        least = askers[0, at] if upward else np.int32(-1)
        radius = asked[dim, at] if mixed else kind(0)
        for k in range(number):
            first, last = ranges[0, k], ranges[1, k]
            if found + last - first > room:
                return at, begin, tests
            tests += last - first
            if careful or folded:
                found = _compare_with_care(
                    columns, own, first, last, point, env, least, radius, bound, factor, around, dim, mixed,
                    worlds, ids, squares, found,
                )  # fmt: skip
            else:
                found = _compare(columns, own, first, last, point, least, bound, dim, ids, squares, found)
        rows[i, 0] = base + begin
        rows[i, 1] = found - begin
        at += 1
        if tests > most or found > limit:
            break
    return at, found, tests


@always_inline
def _compare(columns, own, first, last, point, least, bound, dim, ids, squares, found):
    """Put those of a range that are near behind the others; how many there are now."""
    px, py, pz = splat(point[0]), splat(point[1]), splat(point[2])
    low, most = splat(least), splat(bound)
    for at in range(first, last, LANES):
        x, y = load(columns, 0, at) - px, load(columns, 1, at) - py
        square = plus(times(x, x), times(y, y))
        if dim == 3:
            z = load(columns, dim - 1, at) - pz
            square = plus(square, times(z, z))
        names = load(own, 0, at)
        hits = bits((square <= most) & (low < names))
        if last - at < LANES:
            hits &= (1 << (last - at)) - 1
        if hits != 0:
            mask = mask_of(hits)
            put_floats(squares, 0, found, square, mask)
            put_lanes(ids, 0, found, names, mask)
            found += count_lanes(hits)
    return found


@always_inline
def _apart(columns, axis, at, point, around, factor):
    """How far the points are from this one on an axis, the shorter way around, scaled."""
    way = size(load(columns, axis, at) - point)
    return times(lesser(way, around - way), factor)


@inline
def _compare_with_care(
    columns, own, first, last, point, env, least, radius, bound, factor, around, dim, mixed, worlds,
    ids, squares, found,
):  # fmt: skip
    """As `_compare`, where the world begins again, radii differ or numbers are very large or small."""
    px, py, pz = splat(point[0]), splat(point[1]), splat(point[2])
    wide, tall, deep = splat(around[0]), splat(around[1]), splat(around[2])
    low, most, by, own_radius = splat(least), splat(bound), splat(factor), splat(radius)
    world = splat(np.int32(env))
    for at in range(first, last, LANES):
        x = _apart(columns, 0, at, px, wide, by)
        y = _apart(columns, 1, at, py, tall, by)
        square = plus(times(x, x), times(y, y))
        if dim == 3:
            z = _apart(columns, dim - 1, at, pz, deep, by)
            square = plus(square, times(z, z))
        names = load(own, 0, at)
        near = low < names
        if mixed:
            near = near & (root(square) <= times(plus(own_radius, load(columns, dim, at)), by))
        else:
            near = near & (square <= most)
        if worlds:
            theirs = load(own, 1, at)
            near = near & (theirs <= world) & (world <= theirs)
        hits = bits(near)
        if last - at < LANES:
            hits &= (1 << (last - at)) - 1
        if hits != 0:
            mask = mask_of(hits)
            put_floats(squares, 0, found, square, mask)
            put_lanes(ids, 0, found, names, mask)
            found += count_lanes(hits)
    return found
