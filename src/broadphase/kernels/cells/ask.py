"""A single query in one call: the arguments read as the caller wrote them, the search, the result.

Each kernel takes the query as tuples of numbers and checks it first (`broadphase.kernels.boxes.given`).
Tests of -1 say that it is invalid, or of another dimension.  Queries with categories have calls of their own.
"""

import numpy as np

from broadphase.kernels.arrays.found_ids import ROOM, finished, result
from broadphase.kernels.arrays.sort_ids import count_marked, put_marked
from broadphase.kernels.boxes.given import take_box, take_point, take_ray
from broadphase.kernels.boxes.query_tests import ray_distance, set_ray, write_normal
from broadphase.kernels.boxes.ranking import sort_by_distance
from broadphase.kernels.cells.binning import MOST_PLACES
from broadphase.kernels.cells.lattice import BOXES, HIGHEST, LOWEST, MOST_LEVELS, cell_of, place_of, span_of
from broadphase.kernels.cells.lists import HEADER, UNIT, enter_boxes, find_rebinned, leave_cells
from broadphase.kernels.cells.nearest import search_levels
from broadphase.kernels.cells.query import NARROW, mark_overlaps
from broadphase.kernels.cells.rays import walk_level
from broadphase.kernels.machine.jit import brief, inline, numbers, unsigned
from broadphase.kernels.machine.scratch import few, many, one_row, some_rows
from broadphase.kernels.machine.waiting import claim, let_go

_NO_RULE = np.int64(-1)
_IDS_PER_CELL = 16_384

# What has become of a box that was to be moved: nothing, for it is refused; it is where it should be; it has
# its new row and is in no cell, for the pool is full.
REFUSED, MOVED, HOMELESS = range(3)


@brief
@numbers(values=(4, 6))
def ask_box(boxes, end, heads, pool, lattice, levels, table, words, values, touching):
    """Ids that meet a box, sorted if they are few; returns ``ids, tests``.

    ``words`` are zeros before and after (`broadphase.kernels.arrays.sort_ids.words_for`), and behind them one
    more.  Threads may share them: a call that comes while another has them returns tests of -2.
    """
    query = one_row(len(values), np.float64)
    if not take_box(values, boxes, query):
        return result(0, np.int32), np.int64(-1)
    end = np.int64(min(end, len(levels)))
    if _is_wide(end, lattice, query):
        own = len(words) - 1
        if not claim(words, own):
            return result(0, np.int32), np.int64(-2)
        ids, tests = _marked(boxes, end, heads, pool, lattice, levels, table, query, touching, words)
        let_go(words, own)
        return ids, tests
    out = many(ROOM, np.int32)
    found, tests = _meet_all(boxes, end, heads, pool, lattice, levels, table, query, touching, out)
    if found <= ROOM:
        return finished(out, found), tests
    ids = result(found, np.int32)
    _meet_all(boxes, end, heads, pool, lattice, levels, table, query, touching, ids)
    return ids, tests


@inline
def _covered(query, lattice, level):
    """First and last cell of the query on the three axes, among those that boxes of the level reach."""
    x0, x1, y0, y1, z0, z1 = span_of(query, 0, lattice, level)
    x0, x1 = max(x0, int(lattice[level, LOWEST])), min(x1, int(lattice[level, HIGHEST]))
    y0, y1 = max(y0, int(lattice[level, LOWEST + 1])), min(y1, int(lattice[level, HIGHEST + 1]))
    z0, z1 = max(z0, int(lattice[level, LOWEST + 2])), min(z1, int(lattice[level, HIGHEST + 2]))
    return x0, x1, y0, y1, z0, z1


@inline
def _is_wide(end, lattice, query):
    """Whether the query covers many cells, so that to mark ids takes less than to look where each box begins.

    A cell for 16,384 ids: the marks, a bit each, have to be made zero before.
    """
    covered = 0.0
    for level in range(lattice.shape[0]):
        if lattice[level, BOXES] > 0:
            x0, x1, y0, y1, z0, z1 = _covered(query, lattice, level)
            if x0 <= x1 and y0 <= y1 and z0 <= z1:
                covered += float(x1 - x0 + 1) * float(y1 - y0 + 1) * float(z1 - z0 + 1)
    return max(NARROW, end / _IDS_PER_CELL) < covered <= end


@inline
def _marked(boxes, end, heads, pool, lattice, levels, table, query, touching, words):
    """Ids of what meets a wide query, in order; returns ``ids, tests``."""
    tests = np.int64(0)
    for level in range(lattice.shape[0]):
        if lattice[level, BOXES] == 0:
            continue
        x0, x1, y0, y1, z0, z1 = _covered(query, lattice, level)
        if x0 <= x1 and y0 <= y1 and z0 <= z1:
            tests += mark_overlaps(
                boxes, end, heads, pool, lattice, levels, level, table, query, np.int64(0),
                x0, x1, y0, y1, z0, z1, touching, words,
            )  # fmt: skip
    ids = result(count_marked(words, end), np.int32)
    put_marked(words, end, ids, np.int64(0), np.int64(0))
    return ids, tests


@inline
def _meet_all(boxes, end, heads, pool, lattice, levels, table, query, touching, out):
    """As many ids as there is room for into ``out``; how many meet the query, and the tests."""
    found = tests = np.int64(0)
    for level in range(lattice.shape[0]):
        if lattice[level, BOXES] == 0:
            continue
        x0, x1, y0, y1, z0, z1 = _covered(query, lattice, level)
        if x0 > x1 or y0 > y1 or z0 > z1:
            continue
        if float(x1 - x0 + 1) * float(y1 - y0 + 1) * float(z1 - z0 + 1) > end:
            for k in range(end):
                i = unsigned(k)
                if levels[i] == level:
                    tests += 1
                    if _meets(boxes, i, query, touching):
                        if found < len(out):
                            out[found] = i
                        found += 1
            continue
        for z in range(z0, z1 + 1):
            for y in range(y0, y1 + 1):
                for x in range(x0, x1 + 1):
                    at = np.int64(heads[unsigned(place_of(x, y, z, lattice, level, table))]) * UNIT
                    if at == 0:
                        continue
                    count = np.int64(pool[at])
                    tests += count
                    for entry in range(at + HEADER, at + HEADER + count):
                        i = unsigned(pool[unsigned(entry)])
                        # The slot of a hash table may hold boxes of several levels.
                        if (
                            _meets(boxes, i, query, touching)
                            and _is_home(boxes, i, query, lattice, level, x, y, z)
                            and (table == 0 or levels[i] == level)
                        ):
                            if found < len(out):
                                out[found] = i
                            found += 1
    return found, tests


@inline
def _meets(boxes, i, query, touching):
    """What `query_tests.box_meets` says of row 0 of ``query``, without a row of it: that would be counted."""
    dim = boxes.shape[1] // 2
    meets = _overlap(boxes[i, 0], boxes[i, dim], query[0, 0], query[0, dim], touching)
    meets &= _overlap(boxes[i, 1], boxes[i, dim + 1], query[0, 1], query[0, dim + 1], touching)
    # The last axis: in 2-D once more the second.
    return meets & _overlap(
        boxes[i, dim - 1], boxes[i, 2 * dim - 1], query[0, dim - 1], query[0, 2 * dim - 1], touching
    )


@inline
def _overlap(low, high, other_low, other_high, touching):
    inside = (low < other_high) & (other_low < high)
    return inside | (touching & (low <= other_high) & (other_low <= high))


@inline
def _is_home(boxes, i, query, lattice, level, x, y, z):
    """Whether the lower corner of what a box shares with the query lies in this cell."""
    home = cell_of(max(float(boxes[i, 0]), query[0, 0]), lattice, level, 0) == x
    home &= cell_of(max(float(boxes[i, 1]), query[0, 1]), lattice, level, 1) == y
    if boxes.shape[1] == 6:
        home &= cell_of(max(float(boxes[i, 2]), query[0, 2]), lattice, level, 2) == z
    return home


@brief
@numbers(origin=(2, 3), direction=(2, 3))
def ask_ray(
    boxes,
    end,
    heads,
    pool,
    lattice,
    levels,
    table,
    origin,
    direction,
    furthest,
    touching,
):
    """What a ray hits first, or -1; returns ``id, tests, distance`` and the three numbers of the normal."""
    values = few(2 * len(origin) + 1, np.float64)
    if not take_ray(origin, direction, furthest, boxes, values):
        return np.int64(-1), np.int64(-1), 0.0, 0.0, 0.0, 0.0
    end = min(end, len(levels))
    ray = few(2 * len(origin) + 1, np.float64)
    set_ray(values, ray)
    best, nearest = few(1, np.int32), few(1, np.float64)
    no_sets, no_rows = few(0, np.uint32), some_rows(0, 2, np.int32)
    best[0], nearest[0] = -1, np.inf
    cell = few(3, np.int64)
    cell[0] = cell[1] = cell[2] = 0
    tests = np.int64(0)
    for level in range(lattice.shape[0]):
        if lattice[level, BOXES] > 0:
            _, made = walk_level(
                boxes, end, no_sets, no_sets, heads, pool, lattice, levels, table,
                level, ray, 0, cell, True, best, nearest, no_rows, np.int64(0), touching, _NO_RULE, _NO_RULE,
            )  # fmt: skip
            tests += made
    hit = np.int64(best[0])
    if hit < 0:
        return hit, tests, 0.0, 0.0, 0.0, 0.0
    normal = few(3, np.float64)
    normal[2] = 0.0
    distance = ray_distance(boxes, hit, ray, True)
    write_normal(boxes, hit, ray, distance, normal)
    return int(hit), tests, distance, float(normal[0]), float(normal[1]), float(normal[2])


@brief
@numbers(values=(2, 3))
def ask_nearest(boxes, end, heads, pool, lattice, levels, table, values, k):
    """The ``k`` nearest boxes by distance, then id; returns ``ids, distances, tests``."""
    point = few(len(values), np.float64)
    ids, distances = result(k, np.int32), result(k, np.float64)
    if not take_point(values, boxes, point):
        return ids, distances, np.int64(-1)
    done = many(MOST_LEVELS, np.bool_)
    no_sets = few(0, np.uint32)
    kept, tests = search_levels(
        boxes, min(end, len(levels)), no_sets, no_sets, heads, pool, lattice, levels, table,
        point, ids, distances, np.int64(0), _NO_RULE, _NO_RULE, done,
    )  # fmt: skip
    sort_by_distance(distances, ids, kept)
    return ids[:kept], distances[:kept], tests


@brief
@numbers(values=(4, 6))
def ask_move(boxes, alive, end, heads, pool, tally, lattice, levels, table, i, values):
    """Give box ``i`` a new row, and put it into its new cells."""
    rows = one_row(len(values), boxes.dtype)
    if i < 0 or i >= end or not alive[i] or not take_box(values, boxes, rows):
        return REFUSED
    ids, rebinned = few(1, np.int32), few(2, np.int64)
    places = few(MOST_PLACES, np.int64)
    ids[0] = i
    changes = find_rebinned(boxes, ids, rows, lattice, levels, table, rebinned) > 0
    if changes:
        leave_cells(boxes, ids, heads, pool, tally, lattice, levels, table, places)
    for column in range(boxes.shape[1]):
        boxes[i, column] = rows[0, column]
    if changes:
        lists = (heads, pool, tally, lattice, levels, table, places)
        if enter_boxes(boxes, ids, np.int64(0), np.int64(1), *lists) == 0:
            return HOMELESS
    return MOVED
