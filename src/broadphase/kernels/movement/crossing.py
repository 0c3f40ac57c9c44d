"""When a body first overlaps others on its path that do not stop it, such as sensors."""

import numpy as np

from broadphase.kernels.boxes.overlap import agree
from broadphase.kernels.machine.jit import holds_gil, inline, jit
from broadphase.kernels.machine.memory import few
from broadphase.kernels.movement.sweep import BEFORE_ALL, NEVER, cross_box
from broadphase.kernels.movement.sweep_shapes import ROW, first_shape_hit, slack
from broadphase.kernels.shapes.contact import contact_of
from broadphase.kernels.shapes.images import shifted, turns_between
from broadphase.kernels.shapes.table import (
    BOX,
    bounds_at,
    bounds_overlap,
    shape_at,
    tolerance_of,
    widened,
)


@inline
def _on_leg(mover, goal_x, goal_y, table, rows, grid):
    """As `cross_box`, for a mover of any shape and ``table[rows[0]]``; ``grid`` has no tiles."""
    i = rows[0]
    x, y, width, height = mover.x[ROW], mover.y[ROW], mover.width[ROW], mover.height[ROW]
    if mover.kinds[ROW] == BOX and table.kinds[i] == BOX:
        left, top = table.x[i], table.y[i]
        other = left, top, left + table.width[i], top + table.height[i]
        return cross_box((x, y, width, height, goal_x, goal_y), other)
    hit, nx, ny, depth = contact_of(mover, ROW, table, i, False)
    if hit and depth > slack(mover, ROW, table, i):
        return 0.0, nx, ny, x, y
    sides = few(0, np.uint8), few(0, np.int64)
    met, place = first_shape_hit(mover, goal_x, goal_y, table, rows, *sides, grid, BEFORE_ALL)
    if met[0] > 1.0:
        return NEVER, 0.0, 0.0, goal_x, goal_y
    return met[0], met[5], met[6], place[0], place[1]


@inline
def sort_by_time(out, first, end):
    """Sort rows by time, then by body (Shell, 1959): they are few, and many are no disaster."""
    gap = (end - first) // 2
    while gap > 0:
        for k in range(first + gap, end):
            at = k
            while at - gap >= first and (
                out[at, 0] < out[at - gap, 0]
                or (out[at, 0] == out[at - gap, 0] and out[at, 5] < out[at - gap, 5])
            ):
                for column in range(out.shape[1]):
                    out[at, column], out[at - gap, column] = out[at - gap, column], out[at, column]
                at -= gap
        gap //= 2


# Where rows of hits, and the bends of walkers, hold a place, and the time.
HITS, BENDS = (3, 0), (1, 3)


@inline
def _bounds_on_way(shapes, row, way):
    """The bounds of a mover on its whole way, and a little more."""
    start, end, bends, (at, _), first, last = way
    box = bounds_at(shapes, row, start[0], start[1])
    low_x = high_x = low_y = high_y = 0.0
    for leg in range(first, last + 1):
        x, y = end[0], end[1]
        if leg < last:
            x, y = bends[leg, at], bends[leg, at + 1]
        x, y = x - start[0], y - start[1]
        low_x, high_x, low_y, high_y = min(low_x, x), max(high_x, x), min(low_y, y), max(high_y, y)
    bounds = box[0] + low_x, box[1] + low_y, box[2] + high_x, box[3] + high_y
    return widened(bounds, tolerance_of(bounds))


@inline
def _cross(shapes, row, way, swept, table, other, place, period, memory, nothing, out, found):
    """Write when a mover first overlaps a body at a place, or an image of it; whether it does.

    At time 0 it overlaps it at the start.  Its ``way`` are the start, the end, and the rows of bends, from
    ``first`` to ``last``, at which it was stopped or turned.  ``memory`` is for places of both, and for a
    row, 0.
    """
    start, end, bends, (at, when), first, last = way
    xs, ys, other_xs, other_ys, only = memory
    soonest, boxes = NEVER, shapes.kinds[row] == BOX and table.kinds[other] == BOX
    least_x, most_x, least_y, most_y = turns_between(
        swept, bounds_at(table, other, place[0], place[1]), period
    )
    for turns in range((most_x + 1 - least_x) * (most_y + 1 - least_y)):
        across, down = divmod(turns, most_y + 1 - least_y)
        other_xs[0] = shifted(place[0], least_x + across, period[0])
        other_ys[0] = shifted(place[1], least_y + down, period[1])
        # Most are near, but not on the path: 5 ns for each instead of 50.
        if not bounds_overlap(swept, bounds_at(table, other, other_xs[0], other_ys[0])):
            continue
        right, bottom = other_xs[0] + table.width[other], other_ys[0] + table.height[other]
        since = 0.0
        xs[0], ys[0] = start[0], start[1]
        for leg in range(first, last + 1):
            to_x, to_y, until = end[0], end[1], 1.0
            if leg < last:
                to_x, to_y, until = bends[leg, at], bends[leg, at + 1], bends[leg, when]
            if leg == first or to_x != xs[0] or to_y != ys[0]:
                if boxes:  # without tables for one shape, in a third of the time
                    path = xs[0], ys[0], shapes.width[row], shapes.height[row], to_x, to_y
                    hit = cross_box(path, (other_xs[0], other_ys[0], right, bottom))
                else:
                    mover, one = shape_at(shapes, row, xs, ys), shape_at(table, other, other_xs, other_ys)
                    hit = _on_leg(mover, to_x, to_y, one, only, nothing)
                if hit[0] <= 1.0:
                    time = since + hit[0] * (until - since)
                    if time < soonest:
                        soonest = out[found, 0] = time
                        out[found, 1], out[found, 2], out[found, 3], out[found, 4] = hit[1:]
                        out[found, 5], out[found, 6], out[found, 7] = float(other), -1.0, -1.0
                    break
            xs[0], ys[0], since = to_x, to_y, until
    return soonest != NEVER


@inline
def cross_on_way(shapes, row, way, table, rows, period, nothing, out, first):
    """Write hits of those of ``table[rows]`` that a mover overlaps to ``out``, by time, then by body.

    Returns how many, -1 if they might not fit.
    """
    memory = few(1, np.float64), few(1, np.float64), few(1, np.float64), few(1, np.float64), few(1, np.int32)
    memory[4][0] = 0
    swept, end = _bounds_on_way(shapes, row, way), first
    for k in range(rows.shape[0]):
        if end == out.shape[0]:
            return np.int64(-1)
        other = np.int64(rows[k])
        place = table.x[other], table.y[other]
        if _cross(shapes, row, way, swept, table, other, place, period, memory, nothing, out, end):
            out[end, 8] = 0.0
            end += 1
    sort_by_time(out, first, end)
    return end - first


@holds_gil
def cross_path(shapes, at, row, start, end, bends, columns, bodies, table, near, period, nothing, out):
    """`cross_on_way` over all ``bends``, of those of ``near`` that let body ``row`` through."""
    rows, count = np.empty(near.shape[0], np.int32), 0
    for k in range(near.shape[0]):
        other = near[k]
        if other != row and agree(bodies.category, bodies.mask, row, other):
            if bodies.sensor[other] or bodies.sensor[row]:
                rows[count] = other
                count += 1
    way = start, end, bends, columns, 0, bends.shape[0]
    return cross_on_way(shapes, at, way, table, rows[:count], period, nothing, out, 0)


# ---- many movers


@inline
def _way_of(paths, m):
    """The way of a mover; `cross_paths` says what paths are."""
    _, starts, ends, bends, columns, first = paths
    return (starts[m, 0], starts[m, 1]), (ends[m, 0], ends[m, 1]), bends, columns, first[m], first[m + 1]


@jit
def bounds_of_paths(shapes, paths, out):
    """The bounds of each mover on its whole path, and a little more."""
    for m in range(out.shape[0]):
        row = np.int64(paths[0][m])
        out[m, 0], out[m, 1], out[m, 2], out[m, 3] = _bounds_on_way(shapes, row, _way_of(paths, m))


@inline
def _may_cross(bodies, tags, row, other, passes):
    """Whether it is of interest that a mover crosses another body, and nothing forbids it.

    Sensors always are of interest; a body in a layer of ``passes``, which does not block, is if it and the
    mover have a listener.
    """
    if other == row or not agree(bodies.category, bodies.mask, row, other):
        return False
    if bodies.sensor[other] or bodies.sensor[row]:
        return True
    groups, bits = tags
    heard = bits[groups[row], 0] & bits[groups[other], 1] != 0
    return heard and (passes >> np.int64(bodies.layer[other])) & 1 != 0


@jit
def cross_paths(shapes, bodies, tags, passes, paths, begin, near, number_of, period, nothing, out):
    """What each mover first overlaps on its path: sensors, and bodies that do not block.

    ``paths`` are ``rows, starts, ends, bends, columns, first``: mover ``m`` is body ``rows[m]``, and the rows
    ``bends[first[m]:first[m + 1]]`` are where it was stopped or turned.  ``near`` are
    ``first, rows``: the bodies ``rows[first[m]:first[m + 1]]``, or images of them, are near its path.
    ``number_of[row]`` is the number of a body among the movers, or -1: a mover meets those before it where
    they are now, and those after it where they started.

    Writes rows as `motion.move_many` does, by mover, then time, then body.  Returns ``next, found``: it
    stops before a mover for which ``out`` might be too small.
    """
    rows, starts = paths[0], paths[1]
    first, others = near
    memory = few(1, np.float64), few(1, np.float64), few(1, np.float64), few(1, np.float64), few(1, np.int32)
    memory[4][0] = 0
    found = np.int64(0)
    for m in range(begin, rows.shape[0]):
        if found + (first[m + 1] - first[m]) > out.shape[0]:
            return m, found
        if first[m + 1] == first[m]:
            continue
        row, mine, way = np.int64(rows[m]), found, _way_of(paths, m)
        swept = _bounds_on_way(shapes, row, way)
        for k in range(first[m], first[m + 1]):
            other = np.int64(others[k])
            if not _may_cross(bodies, tags, row, other, passes):
                continue
            place = shapes.x[other], shapes.y[other]
            if number_of[other] > m:
                place = starts[number_of[other], 0], starts[number_of[other], 1]
            if _cross(shapes, row, way, swept, shapes, other, place, period, memory, nothing, out, found):
                out[found, 8] = m
                found += 1
        sort_by_time(out, mine, found)
    return rows.shape[0], found


@inline
def _copy_hit(hits, row, out, at):
    for column in range(9):
        out[at, column] = hits[row, column]


@jit
def join_hits(first, second, out):
    """Two lists of hits, as `cross_paths` writes them, as one; both are in the order of their movers."""
    a, b, end = np.int64(0), np.int64(0), np.int64(0)
    while a < first.shape[0] or b < second.shape[0]:
        mover, begin = np.inf, end
        if a < first.shape[0]:
            mover = first[a, 8]
        if b < second.shape[0]:
            mover = min(mover, second[b, 8])
        while a < first.shape[0] and first[a, 8] == mover:
            _copy_hit(first, a, out, end)
            a += 1
            end += 1
        while b < second.shape[0] and second[b, 8] == mover:
            _copy_hit(second, b, out, end)
            b += 1
            end += 1
        sort_by_time(out, begin, end)
