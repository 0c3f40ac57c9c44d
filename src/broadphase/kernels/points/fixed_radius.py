"""Fixed-radius search: points are sorted into cells, compared with the cells around, and sorted."""

from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.arrays.passes import answers_at, looked
from broadphase.kernels.arrays.results import mark, put_marked, rank, result, with_columns
from broadphase.kernels.machine.jit import always_inline, holds_gil, inline, jit, rows, unsigned
from broadphase.kernels.machine.memory import AHEAD, one_row, prefetch, some_rows
from broadphase.kernels.machine.simd import (
    LANES,
    absolute,
    bits,
    count_lanes,
    load,
    lowest_lane,
    root,
    smaller,
    splat,
    store,
)
from broadphase.kernels.points.distance import distance, put_hits, squares_of_ways, take_place
from broadphase.kernels.points.few_points import UNSUITABLE, safe_bound

# -----------------------------------------------------------------------------------------------------------
# Points into cells for one call: which cell, and a counting sort.
#
# A ``grid`` is an array of five rows, one column for each axis: where cells begin, cells per unit, the first
# and the last cell, and the period (inf where the axis is not periodic).  Points outside belong to the cells
# at the edge.
#
# The place of a cell in memory is its *slot*.  Either all cells have slots, row by row; or, if there would be
# too many of them, the slots are a hash table of blocks of neighbouring cells of a row: cells far apart may
# share a slot then, which costs comparisons and does not change the result.  In both cases neighbouring cells
# of a row usually have neighbouring slots.
#
# In a world with lattice vectors, cells are cut along these: what is above is in units of the vectors, and
# periods are inf.  Below are the inverse of the vectors and the vectors, with zeros for an axis without one.
# Cells beyond the boundary are those of the other side, seen from a point that is moved by a vector.


ORIGIN, PER_UNIT, FIRST, LAST, PERIOD, INVERSE = 0, 1, 2, 3, 4, 5


class Grid(NamedTuple):
    """Cells of one size."""

    rows: Any
    """The ``grid`` above."""
    steps: tuple[int, int, int]
    """From row to row, plane to plane and world to world."""
    blocks: int
    """How many blocks the hash table has; 0 if all cells have slots."""
    slots: int
    wider: bool
    """Whether the cells are wider than necessary."""


class Cells(NamedTuple):
    """Points by cells."""

    grid: Grid
    columns: Any
    """One row for each axis, then the radii."""
    ids: Any
    """The numbers of the points, then their environments."""
    starts: Any
    """Where each slot begins."""


# Truncation makes the cell at zero twice as wide as the others if there are negative ones: this is harmless.
BLOCK = 16  # cells that stay together in the table
_BITS = 4


@inline
def cell_on(value, grid, axis):
    """The cell of a coordinate on one axis."""
    place = (np.float64(value) - grid[ORIGIN, axis]) * grid[PER_UNIT, axis]
    # With the two bounds in this order, a NaN that another thread writes becomes a valid cell too.
    return np.int64(max(grid[FIRST, axis], min(grid[LAST, axis], place)))


@inline
def slot_of(x, y, z, env, steps, blocks):
    """The slot of a cell; ``steps`` are those from row to row, plane to plane and world to world."""
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
    """Write the extent of a share of points into ``low[part]`` and ``high[part]``; the first bad row or -1.

    A row is bad if it holds NaN or infinity.
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
        odd += (x - x) + (y - y) + (z - z)  # NaN from the first number on that is not finite
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
    """Write the slot of each point of a share into ``slots``, and count them into ``counts[part]``."""
    dim, lattice = points.shape[1], grid.shape[0] > INVERSE
    for i in range(begin, end):
        x, y, z = np.float64(points[i, 0]), np.float64(points[i, 1]), np.float64(points[i, dim - 1])
        if lattice:
            x, y, z = _along(points[i], grid, 0), _along(points[i], grid, 1), _along(points[i], grid, dim - 1)
        x, y = cell_on(x, grid, 0), cell_on(y, grid, 1)
        z = cell_on(z, grid, dim - 1) if dim == 3 else np.int64(0)
        env = np.int64(envs[i]) if envs.shape[0] > 0 else np.int64(0)
        slot = slot_of(x, y, z, env, steps, blocks)
        slots[i] = slot
        counts[part, slot] += 1
        if not answers_at(i):
            break


@jit
def place_points(points, envs, radii, begin, end, part, slots, counts, columns, ids):
    """Copy the points of a share to their places: a row of ``columns`` for each axis, then the radii.

    ``ids`` becomes their numbers and, in its second row, their environments.
    """
    dim = points.shape[1]
    for i in range(begin, end):
        # The places are scattered: with prefetching a point among a million takes 14 ns, not 19.
        if i + 2 * AHEAD < end:
            prefetch(counts, part, slots[i + 2 * AHEAD])
            place = counts[part, slots[i + AHEAD]]
            prefetch(ids, 0, place)
            prefetch(columns, 0, place)
            prefetch(columns, 1, place)
        slot = slots[i]
        position = np.uint64(counts[part, slot])
        counts[part, slot] = position + np.uint64(1)
        ids[0, position] = i
        columns[0, position] = points[i, 0]
        columns[1, position] = points[i, 1]
        if dim == 3:
            columns[2, position] = points[i, 2]
        if radii.shape[0] > 0:
            columns[dim, position] = radii[i]
        if envs.shape[0] > 0:
            ids[1, position] = envs[i]
        if not answers_at(i):
            break


# -----------------------------------------------------------------------------------------------------------
# All points within a distance of each point, through cells that are no narrower than the distance.
#
# Each point is compared with those in its cell and in the cells around it: three consecutive cells of a row
# are one range, and `LANES` points of a range are compared at a time.  The finds of one point are contiguous,
# so the answer is sorted row by row (`put_rows`) and never pair by pair.
#
# The coordinates' own arithmetic decides which pairs count: the rounded differences, on an axis with a period
# the smaller of ``d`` and ``period - d``; their rounded squares, added up x, y, z.  None of it depends on the
# cells.


RANGE_ROWS, MOST_RANGES = 6, 27
# Of a point among few, which are searched with the GIL: points of a range, and neighbours, each of which is
# inserted.
_CROWD, _MOST_OF_A_POINT = 1 << 12, 256


@inline
def _has_vector(grid, axis):
    """Whether there is a lattice vector for this axis."""
    dim = grid.shape[1]
    row = INVERSE + dim + axis
    return grid.shape[0] > INVERSE and (grid[row, 0] != 0 or grid[row, 1] != 0 or grid[row, dim - 1] != 0)


@inline
def _around(cell, grid, axis):
    """The first cell, how many cells, and whether differences there may cross the periodic boundary."""
    first, last = np.int64(grid[FIRST, axis]), np.int64(grid[LAST, axis])
    if _has_vector(grid, axis):
        return cell - 1, np.int64(3), False
    if grid[PERIOD, axis] == np.inf:
        begin = max(cell - 1, first)
        return begin, min(cell + 1, last) - begin + 1, False
    cells = last + 1
    if cells < 4:
        return np.int64(0), cells, True
    return cell - 1, np.int64(3), cell == 0 or cell == last


@inline
def _wrapped(cell, grid, axis):
    """The cell within the period, and by how many lattice vectors its points are shifted."""
    cells = np.int64(grid[LAST, axis]) + 1
    lattice = _has_vector(grid, axis)
    if grid[PERIOD, axis] == np.inf and not lattice:
        return cell, 0
    if cell < 0:
        return cell + cells, -1 if lattice else 0
    return (cell - cells, 1 if lattice else 0) if cell >= cells else (cell, 0)


@inline
def _along(point, grid, axis):
    """A coordinate in units of the lattice vectors."""
    along = point[0] * grid[INVERSE, axis] + point[1] * grid[INVERSE + 1, axis]
    return along + point[2] * grid[INVERSE + 2, axis] if grid.shape[1] == 3 else along


_WRITTEN = 7  # comparisons that a pair counts as: memory that was never written takes the system longer
_NOT_SHIFTED = 13  # in base 3, with the digits 0, 1 and 2 for shifts of -1, 0 and 1


@inline
def _moved(point, shift, grid):
    """A point in the place where points shifted by lattice vectors are seen as they are seen unshifted."""
    dim = grid.shape[1]
    x, y, z = point
    for axis in range(dim):
        step, row = shift % 3 - 1, INVERSE + dim + axis
        x, y, z = x - step * grid[row, 0], y - step * grid[row, 1], z - step * grid[row, dim - 1]
        shift //= 3
    return x, y, z


@inline
def _collect_ranges(x, y, z, env, grid, steps, blocks, starts, ranges):
    """Write the ranges of places around a cell into ``ranges``; how many, and whether they are folded.

    Row 2 becomes how their points are shifted.
    """
    dim = grid.shape[1]
    x0, wide, folded = _around(x, grid, 0)
    y0, tall, fold = _around(y, grid, 1)
    folded |= fold
    z0, deep = np.int64(0), np.int64(1)
    if dim == 3:
        z0, deep, fold = _around(z, grid, dim - 1)
        folded |= fold
    found = 0
    slots = 0  # ranges of slots, in rows 3 to 5; the last of them may still grow
    for c in range(z0, z0 + deep):
        plane, above = _wrapped(c, grid, dim - 1) if dim == 3 else (np.int64(0), 0)
        for b in range(y0, y0 + tall):
            row, aside = _wrapped(b, grid, 1)
            shift = _NOT_SHIFTED + 3 * aside + 9 * above
            if blocks == 0 and x0 >= 0 and x0 + wide <= np.int64(grid[LAST, 0]) + 1:
                slot = slot_of(x0, row, plane, env, steps, blocks)
                begin, end = starts[unsigned(slot)], starts[unsigned(slot + wide)]
                if begin < end:
                    ranges[0, found], ranges[1, found], ranges[2, found] = begin, end, shift
                    found += 1
                continue
            for a in range(x0, x0 + wide):
                column, ahead = _wrapped(a, grid, 0)
                slot = slot_of(column, row, plane, env, steps, blocks)
                if slots > 0 and slot == ranges[4, slots - 1] and ranges[5, slots - 1] == shift + ahead:
                    ranges[4, slots - 1] = slot + 1
                    continue
                ranges[3, slots], ranges[4, slots], ranges[5, slots] = slot, slot + 1, shift + ahead
                slots += 1
    for k in range(slots):
        begin, end = ranges[3, k], ranges[4, k]
        if blocks > 0:
            # In the hash table cells may share slots; none is searched twice.
            begin, end = _not_yet(begin, end, k, ranges)
        if begin < end and starts[begin] < starts[end]:
            ranges[0, found], ranges[1, found], ranges[2, found] = starts[begin], starts[end], ranges[5, k]
            found += 1
    return found, folded


@inline
def _not_yet(begin, end, k, ranges):
    """A range of slots without those that earlier ranges hold, shifted alike."""
    for before in range(k):
        low, high = ranges[3, before], ranges[4, before]
        if ranges[5, before] != ranges[5, k]:
            continue  # at most one image of a point is near
        if low < end and begin < high:
            # A range is at most three cells, so the rest is at one end; what remains is split into single
            # cells.
            while begin < end and low <= begin < high:
                begin += 1
            while begin < end and low < end <= high:
                end -= 1
    return begin, end


class Rule(NamedTuple):
    """Which points are near."""

    upward: bool
    """Whether only points with a higher number are found, as among points of one set."""
    reach: float
    """Squares of distances up to this count; with radii it has no meaning."""
    scale: float
    """A power of two by which differences are multiplied."""
    careful: bool
    """Needed if the scale is not 1, radii differ, or environments share slots."""


class Finds(NamedTuple):
    """The finds of all points, contiguous for each."""

    rows: Any
    """``(n, 2)``: where the finds of each point begin, and how many there are."""
    ids: Any
    """``(1, length)``"""
    squares: Any
    """``(1, length)``"""
    scale: float
    """By which differences were multiplied before they were squared."""


class _Search(NamedTuple):
    """What is the same for all points."""

    bound: Any
    """Squares up to this count."""
    factor: Any
    around: Any
    """The period."""
    mixed: bool
    """Whether radii differ."""
    worlds: bool
    """Whether points have environments."""


class _Query(NamedTuple):
    """The point at hand."""

    point: Any
    env: Any
    least: Any
    """Only points with a higher number are found."""
    radius: Any


@jit
def search_near(cells, queries, rule, rows, ids, squares, base, begin, end, limit):
    """Find the points of ``cells`` near some of the ``queries``, which are `Cells` too, in their order.

    ``rows``, ``ids``, ``squares`` become `Finds`, counted from ``base``.  It ends after more than ``limit``.
    Returns ``ids, squares, found``: these arrays, or larger ones.
    """
    grid, steps, blocks = cells.grid.rows, cells.grid.steps, cells.grid.blocks
    columns, starts = cells.columns, cells.starts
    query_columns, query_ids = queries.columns, queries.ids
    ranges = np.empty((RANGE_ROWS, MOST_RANGES), np.int64)
    kind = columns.dtype.type
    dim = grid.shape[1]
    found = tests = checked = np.int64(0)
    mixed = columns.shape[0] > dim
    worlds, lattice = cells.ids.shape[0] > 1, grid.shape[0] > INVERSE
    cell = (np.int64(-1), np.int64(-1), np.int64(-1), np.int64(-2))
    number, folded = 0, False
    around = kind(grid[PERIOD, 0]), kind(grid[PERIOD, 1]), kind(grid[PERIOD, dim - 1])
    search = _Search(kind(rule.reach), kind(rule.scale), around, mixed, worlds)
    for position in range(begin, end):
        point = (query_columns[0, position], query_columns[1, position], query_columns[dim - 1, position])
        env = np.int64(query_ids[1, position]) if worlds else np.int64(0)
        ahead, aside, above = np.float64(point[0]), np.float64(point[1]), np.float64(point[2])
        if lattice:
            ahead, aside, above = _along(point, grid, 0), _along(point, grid, 1), _along(point, grid, dim - 1)
        x, y = cell_on(ahead, grid, 0), cell_on(aside, grid, 1)
        z = cell_on(above, grid, dim - 1) if dim == 3 else np.int64(0)
        if not (x == cell[0] and y == cell[1] and z == cell[2] and env == cell[3]):
            cell = (x, y, z, env)
            number, folded = _collect_ranges(x, y, z, env, grid, steps, blocks, starts, ranges)
        before = found
        i = np.int64(query_ids[0, position])
        least = query_ids[0, position] if rule.upward else np.int32(-1)
        radius = query_columns[dim, position] if mixed else kind(0)
        query = _Query(point, env, least, radius)
        for k in range(number):
            first, last = ranges[0, k], ranges[1, k]
            room = found + last - first + 2 * LANES
            if room > ids.shape[1]:
                ids, squares = with_columns(ids, found, 2 * room), with_columns(squares, found, 2 * room)
            tests += last - first
            if lattice and ranges[2, k] != _NOT_SHIFTED:
                ahead, aside, above = _moved(point, ranges[2, k], grid)
                query = _Query((kind(ahead), kind(aside), kind(above)), env, least, radius)
            elif lattice:
                query = _Query(point, env, least, radius)
            # With constants the usual case takes less.
            if rule.careful or folded:
                found = _compare(cells, first, last, query, search, dim, True, ids, squares, found)
            else:
                found = _compare(cells, first, last, query, search, dim, False, ids, squares, found)
        rows[i, 0] = base + before
        rows[i, 1] = found - before
        if found > limit:
            break
        made = tests + _WRITTEN * found
        checked = looked(made, checked)
        if checked < 0:
            break
    return ids, squares, found


@inline
def _put_near(cells, point, i, found, around, r, ranges, pairs, distances, begin):
    """Write what is near a point, number ``i``, from ``begin`` on, in order; its end, or `UNSUITABLE`."""
    dim, kind = point.shape[1], point.dtype.type
    grid, steps, blocks = cells.grid.rows, cells.grid.steps, cells.grid.blocks
    limit, count = kind(r), begin
    bound = safe_bound(point, limit * limit)
    x, y = cell_on(point[0, 0], grid, 0), cell_on(point[0, 1], grid, 1)
    z = cell_on(point[0, dim - 1], grid, dim - 1) if dim == 3 else np.int64(0)
    number, _ = _collect_ranges(x, y, z, np.int64(0), grid, steps, blocks, cells.starts, ranges)
    for k in range(number):
        last = ranges[1, k]
        if last - ranges[0, k] > _CROWD:
            return UNSUITABLE
        for j in range(ranges[0, k], last, LANES):
            near_bits = bits(squares_of_ways(cells.columns, j, point, 0, around) <= splat(bound))
            near_bits &= (1 << min(last - j, LANES)) - 1
            while near_bits != 0:
                other = np.int64(cells.ids[0, j + lowest_lane(near_bits)])
                near_bits &= near_bits - 1
                d = distance(point, found, 0, other, around)
                if d > limit:
                    continue
                if count - begin == _MOST_OF_A_POINT:
                    return UNSUITABLE
                place = count
                while place > begin and pairs[1, place - 1] > other:
                    pairs[1, place], distances[place] = pairs[1, place - 1], distances[place - 1]
                    place -= 1
                pairs[0, count], pairs[1, place], distances[place] = i, other, d
                count += 1
    return count


@holds_gil
@rows(values=(2, 3))
def near_points(cells, found, around, values, r):
    """``i, j, distance`` of what is near a few points, in order, and whether it was found in this way.

    Without environments and radii.  Not if a point is not within the world, if there is much near it, or if
    its cells are crowded.
    """
    few_points, count = values.shape[0], np.int64(0)
    point, ranges = one_row(found.shape[1], found.dtype), some_rows(RANGE_ROWS, MOST_RANGES, np.int64)
    pairs = np.empty((2, few_points * _MOST_OF_A_POINT), np.int32)
    distances = np.empty(few_points * _MOST_OF_A_POINT, found.dtype)
    for i in range(few_points):
        if not take_place(values[i], around, point):
            count = np.int64(UNSUITABLE)
            break
        count = _put_near(cells, point, i, found, around, r, ranges, pairs, distances, count)
        if count == UNSUITABLE:
            break
    held = max(count, 0)
    first, second, apart = result(held, np.int32), result(held, np.int32), result(held, found.dtype)
    for k in range(held):
        first[k], second[k], apart[k] = pairs[0, k], pairs[1, k], distances[k]
    return first, second, apart, count >= 0


@always_inline
def _apart(columns, axis, first, point, around, factor, careful):
    """How far the points are from this one on an axis; with care the shorter way around, scaled."""
    gap = load(columns, axis, first) - point
    if careful:
        gap = absolute(gap)
        gap = smaller(gap, around - gap) * factor
    return gap


@always_inline
def _compare(cells, first, last, query, search, dim, careful, ids, squares, found):
    """Append the points of a range that are near; returns how many finds there are now.

    ``careful``, a constant: for periodic worlds, different radii, and very large or small numbers.
    """
    columns, around = cells.columns, search.around
    px, py, pz = splat(query.point[0]), splat(query.point[1]), splat(query.point[2])
    wide, tall, deep = splat(around[0]), splat(around[1]), splat(around[2])
    low, most, by, own_radius = (
        splat(query.least),
        splat(search.bound),
        splat(search.factor),
        splat(query.radius),
    )
    world = splat(np.int32(query.env))
    for position in range(first, last, LANES):
        x, y = (
            _apart(columns, 0, position, px, wide, by, careful),
            _apart(columns, 1, position, py, tall, by, careful),
        )
        square = x * x + y * y
        if dim == 3:
            z = _apart(columns, dim - 1, position, pz, deep, by, careful)
            square = square + z * z
        names = load(cells.ids, 0, position)
        is_near = low < names
        if careful and search.mixed:
            is_near = is_near & (root(square) <= (own_radius + load(columns, dim, position)) * by)
        else:
            is_near = is_near & (square <= most)
        if careful and search.worlds:
            theirs = load(cells.ids, 1, position)
            is_near = is_near & (theirs <= world) & (world <= theirs)
        found = put_hits(is_near, last - position, square, names, squares, ids, found)
    return found


# -----------------------------------------------------------------------------------------------------------
# Write the finds to the result: row by row, each row sorted by number.
#
# The finds of a point are contiguous and few, so their positions are counted (how many are less) without
# branches; the many finds in a crowd are marked as bits and read in order.


RANKED = 128
_AHEAD = 12


@jit
def count_finds(order, rows, first, last):
    """How many finds the points ``order[first : last]`` have, and the most of one; no order is 0, 1, ..."""
    total = most = np.int64(0)
    for turn in range(first, last):
        count = rows[np.int64(order[turn]) if order.shape[0] > 0 else turn, 1]
        total += count
        most = max(most, count)
    return total, most


class PairRows(NamedTuple):
    """The result: both numbers and the distance of each pair, ``(1, m)``."""

    first: Any
    second: Any
    distances: Any


@jit
def put_rows(order, sort, finds, space, first, last, position, ends, words, out):
    """Write the finds of the points ``order[first : last]`` into ``out`` from ``position`` to ``ends``.

    ``words`` is scratch if rows may exceed `RANKED` (`words_for`).
    """
    (rows, ids, squares, scale), (points, others, around) = finds, space
    first_ids, second_ids, distances = out.first, out.second, out.distances
    kind = squares.dtype.type
    back = kind(1.0 / scale)
    # Outside these limits the squares have lost digits, and so would their roots.
    least, largest = (2.0**-60, 2.0**100) if squares.itemsize == 4 else (2.0**-400, 2.0**900)
    low, high = splat(kind(least)), splat(kind(largest))
    roots, checked = np.empty((1, RANKED + LANES), squares.dtype), position
    for turn in range(first, last):
        checked = looked(position, checked)
        if checked < 0:
            break
        i = np.int64(order[turn]) if order.shape[0] > 0 else np.int64(turn)
        if turn + _AHEAD < last and sort:
            # The finds are in the order of the cells: without prefetching, half of the time is spent waiting
            # for memory.
            ahead = rows[turn + _AHEAD, 0]
            prefetch(ids, 0, ahead)
            prefetch(squares, 0, ahead)
        begin, count = rows[i, 0], rows[i, 1]
        if sort and count > RANKED:
            for k in range(begin, begin + count):
                mark(words, others.shape[0], ids[0, k], True)
            put_marked(words, others.shape[0], second_ids[0], position, i)
            for k in range(position, position + count):
                first_ids[0, k] = i
                distances[0, k] = distance(points, others, i, np.int64(second_ids[0, k]), around)
            position += count
            continue
        for part in range(0, count, RANKED):
            few = min(count - part, RANKED)
            odd = np.int64(0)
            for k in range(0, few, LANES):
                square = load(squares, 0, begin + part + k)
                outside = bits((square < low) | (high < square))
                if few - k < LANES:
                    outside &= (1 << (few - k)) - 1
                odd |= outside
                store(roots, 0, k, root(square) * splat(back))
            if odd != 0:
                for k in range(few):
                    j = np.int64(ids[0, begin + part + k])
                    roots[0, k] = distance(points, others, i, j, around)
            _put_few(begin + part, few, sort, i, ids, roots, position + part, ends, out)
        position += count


@inline
def _put_few(begin, few, sort, i, ids, roots, position, ends, out):
    first_ids, second_ids, distances = out
    if few <= LANES and position + LANES <= ends:  # the next row overwrites the excess
        store(first_ids, 0, position, splat(np.int32(i)))
    else:
        for k in range(position, position + few):
            first_ids[0, k] = i
    if not sort:
        for k in range(few):
            second_ids[0, position + k] = ids[0, begin + k]
            distances[0, position + k] = roots[0, k]
    elif few <= LANES:
        names = load(ids, 0, begin)
        held = (1 << few) - 1
        for k in range(few):
            name = ids[0, begin + k]
            place = unsigned(position + count_lanes(bits(names < splat(name)) & held))
            second_ids[0, place] = name
            distances[0, place] = roots[0, k]
    else:
        for k in range(few):
            name = ids[0, begin + k]
            place = position + rank(ids, begin, few, name)
            second_ids[0, place] = name
            distances[0, place] = roots[0, k]
