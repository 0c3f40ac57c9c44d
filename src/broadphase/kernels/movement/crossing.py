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
    bounds_of,
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


@holds_gil
def cross_path(movers, at, path, table, rows, period, grid, values):
    """When and where shape ``at`` of ``movers`` on a path first overlaps each of ``table[rows]``.

    ``path`` are rows ``x, y, time``: the start, every place of a turn, and the end.  A row of ``values`` is
    ``time, normal, place`` as for a hit: time 0 for overlaps at the start, `NEVER` for a miss.
    """
    xs, ys, only = few(1, np.float64), few(1, np.float64), few(1, np.int32)
    other_xs, other_ys = few(1, np.float64), few(1, np.float64)
    mover, only[0] = shape_at(movers, at, xs, ys), 0
    box = bounds_at(movers, at, path[0, 0], path[0, 1])
    low_x, high_x, low_y, high_y = box[0], box[2], box[1], box[3]
    for leg in range(1, path.shape[0]):
        box = bounds_at(movers, at, path[leg, 0], path[leg, 1])
        low_x, high_x = min(low_x, box[0]), max(high_x, box[2])
        low_y, high_y = min(low_y, box[1]), max(high_y, box[3])
    for k in range(rows.shape[0]):
        values[k, 0] = NEVER
        other = np.int64(rows[k])
        least_x, most_x, least_y, most_y = turns_between(
            (low_x, low_y, high_x, high_y), bounds_of(table, other), period
        )
        for turns in range((most_x + 1 - least_x) * (most_y + 1 - least_y)):
            across, down = divmod(turns, most_y + 1 - least_y)
            other_xs[0] = shifted(table.x[other], least_x + across, period[0])
            other_ys[0] = shifted(table.y[other], least_y + down, period[1])
            one = shape_at(table, other, other_xs, other_ys)
            for leg in range(path.shape[0] - 1):
                xs[0], ys[0] = path[leg, 0], path[leg, 1]
                goal_x, goal_y = path[leg + 1, 0], path[leg + 1, 1]
                if leg > 0 and goal_x == xs[0] and goal_y == ys[0]:
                    continue
                time, nx, ny, x, y = _on_leg(mover, goal_x, goal_y, one, only, grid)
                if time > 1.0:
                    continue
                time = path[leg, 2] + time * (path[leg + 1, 2] - path[leg, 2])
                if time < values[k, 0]:
                    values[k, 0], values[k, 1], values[k, 2], values[k, 3], values[k, 4] = time, nx, ny, x, y


# ---- many movers


@inline
def _bounds_of_path(shapes, paths, m):
    """The bounds of a mover on its whole path, and a little more."""
    rows, starts, ends, bends, first_bends = paths
    box = bounds_at(shapes, np.int64(rows[m]), starts[m, 0], starts[m, 1])
    low_x = high_x = low_y = high_y = 0.0
    for leg in range(first_bends[m], first_bends[m + 1] + 1):
        x, y = ends[m, 0], ends[m, 1]
        if leg < first_bends[m + 1]:
            x, y = bends[leg, 0], bends[leg, 1]
        x, y = x - starts[m, 0], y - starts[m, 1]
        low_x, high_x, low_y, high_y = min(low_x, x), max(high_x, x), min(low_y, y), max(high_y, y)
    bounds = box[0] + low_x, box[1] + low_y, box[2] + high_x, box[3] + high_y
    return widened(bounds, tolerance_of(bounds))


@jit
def bounds_of_paths(shapes, paths, out):
    """`_bounds_of_path` of each mover; `cross_paths` says what paths are."""
    for m in range(out.shape[0]):
        out[m, 0], out[m, 1], out[m, 2], out[m, 3] = _bounds_of_path(shapes, paths, m)


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


@inline
def _sort_by_time(out, first, end):
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


@jit
def cross_paths(shapes, bodies, tags, passes, paths, begin, near, number_of, period, nothing, out):
    """What each mover first overlaps on its path: sensors, and bodies that do not block.

    ``paths`` are ``rows, starts, ends, bends, first``: mover ``m`` is body ``rows[m]``, and the rows
    ``x, y, time`` of ``bends[first[m]:first[m + 1]]`` are where it was stopped or turned.  ``near`` are
    ``first, rows``: the bodies ``rows[first[m]:first[m + 1]]``, or images of them, are near its path.
    ``number_of[row]`` is the number of a body among the movers, or -1: a mover meets those before it where
    they are now, and those after it where they started.

    Writes rows as `motion.move_many` does, by mover, then time, then body.  Returns ``next, found``: it
    stops before a mover for which ``out`` might be too small.
    """
    rows, starts, ends, bends, first_bends = paths
    first, others = near
    xs, ys, only = few(1, np.float64), few(1, np.float64), few(1, np.int32)
    other_xs, other_ys = few(1, np.float64), few(1, np.float64)
    only[0] = 0
    found = np.int64(0)
    for m in range(begin, rows.shape[0]):
        if found + (first[m + 1] - first[m]) > out.shape[0]:
            return m, found
        if first[m + 1] == first[m]:
            continue
        row, mine, swept = np.int64(rows[m]), found, _bounds_of_path(shapes, paths, m)
        for k in range(first[m], first[m + 1]):
            other = np.int64(others[k])
            if not _may_cross(bodies, tags, row, other, passes):
                continue
            x, y = shapes.x[other], shapes.y[other]
            if number_of[other] > m:
                x, y = starts[number_of[other], 0], starts[number_of[other], 1]
            least_x, most_x, least_y, most_y = turns_between(swept, bounds_at(shapes, other, x, y), period)
            soonest = NEVER
            for turns in range((most_x + 1 - least_x) * (most_y + 1 - least_y)):
                across, down = divmod(turns, most_y + 1 - least_y)
                other_xs[0] = shifted(x, least_x + across, period[0])
                other_ys[0] = shifted(y, least_y + down, period[1])
                # Most are near, but not on the path: 5 ns for each instead of 50.
                if not bounds_overlap(swept, bounds_at(shapes, other, other_xs[0], other_ys[0])):
                    continue
                boxes = shapes.kinds[row] == BOX and shapes.kinds[other] == BOX
                right, bottom = other_xs[0] + shapes.width[other], other_ys[0] + shapes.height[other]
                since, bend, last = 0.0, first_bends[m], first_bends[m + 1]
                xs[0], ys[0] = starts[m, 0], starts[m, 1]
                for leg in range(bend, last + 1):
                    to_x, to_y, until = ends[m, 0], ends[m, 1], 1.0
                    if leg < last:
                        to_x, to_y, until = bends[leg, 0], bends[leg, 1], bends[leg, 2]
                    if leg == bend or to_x != xs[0] or to_y != ys[0]:
                        if boxes:  # without tables for one shape, in a third of the time
                            path = xs[0], ys[0], shapes.width[row], shapes.height[row], to_x, to_y
                            hit = cross_box(path, (other_xs[0], other_ys[0], right, bottom))
                        else:
                            mover = shape_at(shapes, row, xs, ys)
                            table = shape_at(shapes, other, other_xs, other_ys)
                            hit = _on_leg(mover, to_x, to_y, table, only, nothing)
                        if hit[0] <= 1.0:
                            time = since + hit[0] * (until - since)
                            if time < soonest:
                                soonest = out[found, 0] = time
                                out[found, 1], out[found, 2] = hit[1], hit[2]
                                out[found, 3], out[found, 4] = hit[3], hit[4]
                            break
                    xs[0], ys[0], since = to_x, to_y, until
            if soonest != NEVER:
                out[found, 5], out[found, 6], out[found, 7], out[found, 8] = other, -1.0, -1.0, m
                found += 1
        _sort_by_time(out, mine, found)
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
        _sort_by_time(out, begin, end)
