"""When a body first overlaps others on its path that do not stop it, such as sensors."""

import math

import numpy as np

from broadphase.kernels.boxes.overlap import agree
from broadphase.kernels.machine.jit import holds_gil, inline
from broadphase.kernels.machine.memory import few
from broadphase.kernels.movement.sweep import BEFORE_ALL, NEVER, cross_box
from broadphase.kernels.movement.sweep_shapes import ROW, first_shape_hit, slack
from broadphase.kernels.shapes.contact import contact_of
from broadphase.kernels.shapes.images import shifted, turns_between
from broadphase.kernels.shapes.table import (
    BOX,
    CIRCLE,
    POLYGON,
    TOLERANCE,
    bounds_at,
    bounds_of,
    bounds_overlap,
    shape_at,
    tolerance_of,
    widened,
)


@inline
def _parts(mover, goal_x, goal_y, other):
    """Whether a line parts two boxes, or circles in them, on the way of the first: they never meet.

    It is at right angles to the shortest way between the two at the start.  Of both are given their kind and
    ``x, y, width, height``.
    """
    (kind, x, y, width, height), (its, left, top, wide, high) = mover, other
    # A circle is its middle, and what it reaches beyond.
    reach = (width if kind == CIRCLE else 0.0) + (wide if its == CIRCLE else 0.0)
    right, bottom = x + (width if kind == BOX else 0.0), y + (height if kind == BOX else 0.0)
    far_x, far_y = left + (wide if its == BOX else 0.0), top + (high if its == BOX else 0.0)
    nx, ny = max(left - right, 0.0) + min(far_x - x, 0.0), max(top - bottom, 0.0) + min(far_y - y, 0.0)
    dx, dy, apart = goal_x - x, goal_y - y, math.sqrt(nx * nx + ny * ny)
    largest = max(max(abs(x), abs(right)), max(abs(y), abs(bottom))) + reach + apart + abs(dx) + abs(dy)
    room = apart - reach - 8.0 * TOLERANCE * largest
    return (room > 0.0) & (max(dx * nx + dy * ny, 0.0) < room * apart)


@inline
def passes_beside(shapes, row, start, end, table, other, place):
    """Whether a circle certainly passes beside something, or a box beside a circle: a quick look.

    Their bounds often meet where they do not.  For two boxes, and for polygons, the answer is no.
    """
    kind, its = shapes.kinds[row], table.kinds[other]
    quick = (kind == CIRCLE or its == CIRCLE) and kind != POLYGON and its != POLYGON
    mover = kind, start[0], start[1], shapes.width[row], shapes.height[row]
    return quick and _parts(mover, *end, (its, *place, table.width[other], table.height[other]))


@inline
def _on_leg(mover, goal_x, goal_y, table, rows, grid):
    """As `cross_box`, for ``table[rows[0]]`` where one of the two is no box; ``grid`` has no tiles."""
    hit, nx, ny, depth = contact_of(mover, ROW, table, rows[0], False)
    if hit and depth > slack(mover, table, rows[0]):
        return 0.0, nx, ny, mover.x[ROW], mover.y[ROW]
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
            i = k
            while i - gap >= first and (
                out[i, 0] < out[i - gap, 0] or (out[i, 0] == out[i - gap, 0] and out[i, 5] < out[i - gap, 5])
            ):
                for column in range(out.shape[1]):
                    out[i, column], out[i - gap, column] = out[i - gap, column], out[i, column]
                i -= gap
        gap //= 2


# Where rows of hits, and the bends of walkers, hold a place, and the time.
HITS, BENDS = (3, 0), (0, 2)


@inline
def _bounds_on_way(shapes, row, way):
    """The bounds of a mover on its whole way, and a little more."""
    start, end, bends, (column, _), first, last = way
    box = bounds_at(shapes, row, start[0], start[1])
    low_x = high_x = low_y = high_y = 0.0
    for leg in range(first, last + 1):
        x, y = end[0], end[1]
        if leg < last:
            x, y = bends[leg, column], bends[leg, column + 1]
        x, y = x - start[0], y - start[1]
        low_x, high_x, low_y, high_y = min(low_x, x), max(high_x, x), min(low_y, y), max(high_y, y)
    bounds = box[0] + low_x, box[1] + low_y, box[2] + high_x, box[3] + high_y
    return widened(bounds, tolerance_of(bounds))


@inline
def _cross(shapes, row, way, swept, table, other, period, memory, out, found):
    """Write when a mover first overlaps a body, or an image of it; whether it does.

    At time 0 it overlaps it at the start.  Its ``way`` are the start, the end, and the rows of bends, from
    ``first`` to ``last``, at which it was stopped or turned.  ``memory`` is for places of both, a row, 0, and
    a grid without tiles.
    """
    start, end, bends, (column, when), first, last = way
    xs, ys, other_xs, other_ys, only, nothing = memory
    soonest, boxes = NEVER, shapes.kinds[row] == BOX and table.kinds[other] == BOX
    least_x, most_x, least_y, most_y = turns_between(swept, bounds_of(table, other), period)
    for across in range(least_x, most_x + 1):
        other_xs[0] = shifted(table.x[other], across, period[0])
        for down in range(least_y, most_y + 1):
            other_ys[0] = shifted(table.y[other], down, period[1])
            # Most are near, but not on the path: 5 ns for each instead of 50.
            place = other_xs[0], other_ys[0]
            if not bounds_overlap(swept, bounds_at(table, other, place[0], place[1])) or (
                first == last and passes_beside(shapes, row, start, end, table, other, place)
            ):
                continue
            right, bottom = other_xs[0] + table.width[other], other_ys[0] + table.height[other]
            since = 0.0
            xs[0], ys[0] = start[0], start[1]
            for leg in range(first, last + 1):
                to_x, to_y, until = end[0], end[1], 1.0
                if leg < last:
                    to_x, to_y, until = bends[leg, column], bends[leg, column + 1], bends[leg, when]
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
    """Write hits of those of ``table[rows]`` that a mover overlaps to ``out``, from row ``first`` on.

    Returns how many, -1 if they might not fit.
    """
    places = few(1, np.float64), few(1, np.float64), few(1, np.float64), few(1, np.float64)
    memory = *places, few(1, np.int32), nothing
    memory[4][0] = 0
    swept, end = _bounds_on_way(shapes, row, way), first
    for k in range(rows.shape[0]):
        if end == out.shape[0]:
            return np.int64(-1)
        if _cross(shapes, row, way, swept, table, np.int64(rows[k]), period, memory, out, end):
            out[end, 8] = 0.0
            end += 1
    return end - first


@holds_gil
def cross_path(shapes, number, row, way, bodies, table, candidates, period, nothing, out):
    """`cross_on_way` of those of ``candidates`` that let body ``row`` through.

    ``way`` are ``start, end, bends, columns``: it bends at each of ``bends``.
    """
    rows, count, (start, end, bends, columns) = np.empty(candidates.shape[0], np.int32), 0, way
    for k in range(candidates.shape[0]):
        other = candidates[k]
        if other != row and agree(bodies.category, bodies.mask, row, other):
            if bodies.sensor[other] or bodies.sensor[row]:
                rows[count] = other
                count += 1
    legs = start, end, bends, columns, 0, bends.shape[0]
    return cross_on_way(shapes, number, legs, table, rows[:count], period, nothing, out, 0)


@inline
def cross_in_turn(shapes, m, row, way, met, others, period, nothing, out, first):
    """Write what mover ``m`` of many crosses to ``out``, by time, then by body; returns where that ends.

    That is the bodies among the hits ``met``, which did not stop it, each once, and `cross_on_way` of the
    rows ``others``.  Those before it are where they are now, and those after it have not moved yet.
    """
    end = first
    for k in range(met.shape[0]):
        is_new = met[k, 5] >= 0.0
        for j in range(first, end):
            is_new &= out[j, 5] != met[k, 5]
        for column in range(9 if is_new else 0):
            out[end, column] = met[k, column]
        end += 1 if is_new else 0
    end += cross_on_way(shapes, row, way, shapes, others, period, nothing, out, end)
    for k in range(first, end):
        out[k, 8] = float(m)
    sort_by_time(out, first, end)
    return end
