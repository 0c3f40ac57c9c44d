"""Swept shapes of any kind: when and where one hits static shapes and tiles.

Two convex shapes meet when the position of one enters the other grown by it (their Minkowski difference),
so the question is when a point on a straight path enters a convex set.  For two polygons the set is the
intersection of strips between two lines, one for each axis, and the last line to be crossed decides (J. M.
Cyrus and J. Beck, *Generalized two- and three-dimensional clipping*, 1978).  With a circle it is a polygon
with rounded corners: lines parallel to the edges, circles around the corners, and the first crossing decides.

Lengths are rounded here, so "flush" has a tolerance (`slack`): a shape stops this far before the other, and
one that starts this near is not stopped by a rounding error.  So a circle on a floor rolls without a snag.

As in `sweep`, which does this for boxes, hits are ordered by their first five numbers: ``time, corner,
body, row, column, normal_x, normal_y, stop``.
"""

import math

import numpy as np

from broadphase.kernels.machine.floats import next_up
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.machine.memory import few, some_rows
from broadphase.kernels.movement.sweep import (
    ALL_SIDES,
    NEVER,
    comes_before,
    flush_before,
    pass_by,
    place_at,
)
from broadphase.kernels.shapes.contact import length
from broadphase.kernels.shapes.table import (
    BOX,
    CIRCLE,
    POLYGON,
    ShapeColumns,
    axes_of,
    bounds_at,
    bounds_of,
    is_rounded,
    points_of,
    rounding,
    set_axes,
    span_of_points,
)
from broadphase.kernels.tiles.grid import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    bounds_of_cell,
    cells_between,
    edge,
    sides_at,
)
from broadphase.kernels.tiles.slopes import profile_at, slope_of

# Relative to the coordinates: some hundred units in the last place, far less than a pixel in any world.
_SLACK = 2e-14

NO_HIT = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
BEFORE_ALL = (-1.0, 0.0, -1.0, -1.0, -1.0, 0.0, 0.0, 0.0)

MISS = (NEVER, 0.0, 0.0, 0.0, 0.0)
_INSIDE = -1.0
_STRAIGHT = 1e-9

# Of the mover in its table; not 0, or Numba would compile every function once more for the constant.
ROW = np.int64(0)


@inline
def slack(mover, m, table, i):
    """How far apart, or how deep in each other, two shapes count as flush."""
    return _SLACK * (
        abs(mover.x[m])
        + abs(mover.y[m])
        + abs(table.x[i])
        + abs(table.y[i])
        + mover.width[m]
        + mover.height[m]
        + table.width[i]
        + table.height[i]
    )


@inline
def _outline(table, i, corners):
    """The corners of a shape relative to its position, counter-clockwise; a circle is its centre."""
    if table.kinds[i] == POLYGON:
        return points_of(table, i)
    if table.kinds[i] == CIRCLE:
        corners[0, 0], corners[0, 1] = 0.0, 0.0
        return corners[:1]
    width, height = table.width[i], table.height[i]
    corners[0, 0], corners[0, 1] = 0.0, 0.0
    corners[1, 0], corners[1, 1] = width, 0.0
    corners[2, 0], corners[2, 1] = width, height
    corners[3, 0], corners[3, 1] = 0.0, height
    return corners[:4]


@inline
def _axes(table, i, box_axes):
    """One axis for each edge of the outline; none for a circle."""
    if table.kinds[i] == POLYGON:
        return axes_of(table, i)
    if table.kinds[i] == CIRCLE:
        return box_axes[:0]
    return box_axes[:4]


@inline
def _enter_lines(dx, dy, vx, vy, a, a_axes, b, b_axes, grow):
    """When polygon a, moving by v, enters polygon b grown by ``grow``: as `meet_shapes`, without a stop.

    ``dx, dy`` is b's position relative to a's.  Time -1: a is inside from the start.
    """
    enter, leave = -1.0, math.inf
    corner, nx, ny = 0.0, 0.0, 0.0
    for k in range(a_axes.shape[0] + b_axes.shape[0]):
        axis = a_axes[k] if k < a_axes.shape[0] else b_axes[k - a_axes.shape[0]]
        size = length(axis[0], axis[1])
        x, y = axis[0] / size, axis[1] / size
        a_lo, a_hi = span_of_points(a, x, y)
        b_lo, b_hi = span_of_points(b, x, y)
        offset, speed = dx * x + dy * y, vx * x + vy * y
        ahead = (b_lo - a_hi) + offset - grow
        behind = (a_lo - b_hi) - offset - grow
        begin, sign = -1.0, 0.0
        if ahead >= 0.0 or behind >= 0.0:
            sign = -1.0 if ahead >= 0.0 else 1.0
            if speed * sign >= 0.0:
                return MISS
            begin = (ahead if sign < 0.0 else behind) / abs(speed)
        if speed != 0.0:
            end = (-behind if speed > 0.0 else -ahead) / abs(speed)
            leave = end if end < leave else leave
        if begin > enter:
            enter, corner, nx, ny = begin, 0.0, sign * x, sign * y
        elif begin == enter and begin >= 0.0 and abs(nx * y - ny * x) > 1e-9:
            corner = 1.0
    if not enter < leave:
        return MISS
    return enter, corner, nx, ny, 0.0


@inline
def _straightened(nx, ny):
    """A normal that is nearly on an axis, made exact: rounding must not tilt it where two tiles meet."""
    if abs(nx) < _STRAIGHT:
        return 0.0, (1.0 if ny > 0.0 else -1.0)
    if abs(ny) < _STRAIGHT:
        return (1.0 if nx > 0.0 else -1.0), 0.0
    return nx, ny


@inline
def _enter_rounded(cx, cy, vx, vy, points, axes, radius):
    """When a centre, moving by v, comes nearer than ``radius`` to a polygon, or to a single point."""
    speed = length(vx, vy)
    ux, uy = vx / speed, vy / speed
    best, nx, ny = math.inf, 0.0, 0.0
    nearest, highest = math.inf, -math.inf
    for k in range(points.shape[0]):
        from_x, from_y = cx - points[k, 0], cy - points[k, 1]
        distance = length(from_x, from_y)
        nearest = distance if distance < nearest else nearest
        # The circle around the corner: by its distance from the path, which is exact for far starts too.
        along, across = from_x * ux + from_y * uy, from_x * uy - from_y * ux
        if along < 0.0 and abs(across) < radius:
            advance = -along - math.sqrt((radius - across) * (radius + across))
            if distance >= radius and advance < best:
                best = advance if advance > 0.0 else 0.0  # it comes from outside, whatever rounding says
                nx, ny = _straightened((from_x + advance * ux) / radius, (from_y + advance * uy) / radius)
        after = k + 1 if k + 1 < points.shape[0] else 0
        edge_x, edge_y = points[after, 0] - points[k, 0], points[after, 1] - points[k, 1]
        size = length(edge_x, edge_y)
        if size == 0.0:
            highest = math.inf  # a point or a line has no inside
            continue
        axis = length(axes[k, 0], axes[k, 1])
        out = 1.0 if edge_y > 0.0 or (edge_y == 0.0 and edge_x < 0.0) else -1.0
        out_x, out_y = out * axes[k, 0] / axis, out * axes[k, 1] / axis
        height, sinking = from_x * out_x + from_y * out_y, -(ux * out_x + uy * out_y)
        highest = height if height > highest else highest
        beside = (from_x * edge_x + from_y * edge_y) / size
        if 0.0 <= beside <= size and 0.0 <= height < nearest:
            nearest = height
        if sinking > 0.0 and height >= radius:
            advance = (height - radius) / sinking
            at = ((from_x + advance * ux) * edge_x + (from_y + advance * uy) * edge_y) / size
            if advance <= best and 0.0 <= at <= size:
                best, nx, ny = advance, out_x, out_y
    if nearest < radius or highest < 0.0:
        return _INSIDE, 0.0, 0.0, 0.0, 0.0
    return best / speed, 0.0, nx + 0.0, ny + 0.0, 0.0


@inline
def _enter_grown(dx, dy, vx, vy, a, a_axes, b, b_axes, radius):
    """When polygon a, moving by v, comes nearer than ``radius`` to polygon b: with a corner of either.

    Cores that overlap from the start need not have a corner near the other.
    """
    core = _enter_lines(dx, dy, vx, vy, a, a_axes, b, b_axes, 0.0)
    if core[0] == _INSIDE and a.shape[0] > 1 and b.shape[0] > 1:
        return core
    best = MISS
    for k in range(a.shape[0]):
        found = _enter_rounded(a[k, 0] - dx, a[k, 1] - dy, vx, vy, b, b_axes, radius)
        if found[0] < best[0]:
            best = found
    for k in range(b.shape[0]):
        found = _enter_rounded(b[k, 0] + dx, b[k, 1] + dy, -vx, -vy, a, a_axes, radius)
        if found[0] < best[0]:
            best = (found[0], found[1], 0.0 - found[2], 0.0 - found[3], 0.0)
    return best


@inline
def _enter(mover, m, vx, vy, table, i, grow, scratch):
    """When the mover enters the other grown by ``grow``: as `meet_shapes`, without a stop."""
    dx, dy = table.x[i] - mover.x[m], table.y[i] - mover.y[m]
    a, b = _outline(mover, m, scratch[0]), _outline(table, i, scratch[1])
    a_axes, b_axes = _axes(mover, m, scratch[2]), _axes(table, i, scratch[2])
    round_a, round_b = mover.kinds[m] == CIRCLE, table.kinds[i] == CIRCLE
    radius = rounding(mover, m) + rounding(table, i) + grow
    if round_a and round_b and radius <= 0.0:
        return MISS  # two points never overlap
    grown = round_a or round_b or is_rounded(mover, m) or is_rounded(table, i)
    if not grown or radius <= 0.0:
        return _enter_lines(dx, dy, vx, vy, a, a_axes, b, b_axes, radius)
    if not (round_a or round_b):
        return _enter_grown(dx, dy, vx, vy, a, a_axes, b, b_axes, radius)
    # The circle moves toward the polygon; if the polygon moves, the direction is reversed.
    sign = -1.0
    if not round_a:
        sign, b, b_axes = 1.0, a, a_axes
    found = _enter_rounded(sign * dx, sign * dy, -sign * vx, -sign * vy, b, b_axes, radius)
    return found[0], found[1], 0.0 - sign * found[2], 0.0 - sign * found[3], 0.0


@inline
def _bounds_overlap_at(mover, m, x, y, table, i):
    left, top, right, bottom = bounds_at(mover, m, x, y)
    other_left, other_top, other_right, other_bottom = bounds_at(table, i, table.x[i], table.y[i])
    return left < other_right and other_left < right and top < other_bottom and other_top < bottom


@inline
def meet_shapes(mover, m, goal_x, goal_y, table, i, scratch):
    """When and how the mover, moving to a goal, hits shape ``i``: ``time, corner, normal, stop``.

    Time is `NEVER` if it does not, and -1 if it starts inside.  Stop is the time at which it has to stop, a
    tolerance before.  ``scratch`` holds memory for two outlines, and the axes of a box.

    If the mover starts farther away than `slack`, there is no special case.  If it starts flush, its path may
    enter the other only by a rounding error; that counts as a hit if it goes deeper than slack, or ends in a
    place that a broad phase would call an overlap.
    """
    tolerance = slack(mover, m, table, i)
    vx, vy = goal_x - mover.x[m], goal_y - mover.y[m]
    meets = MISS
    for grow in (0.0, tolerance, -tolerance):  # one call in a loop: the function takes long to compile
        found = _enter(mover, m, vx, vy, table, i, grow, scratch)
        if grow == 0.0:
            meets = found
            if found[0] > 1.0:
                return MISS
        elif grow > 0.0:
            if found[0] >= 0.0:
                stop = found[0] if found[0] < meets[0] else meets[0]
                return meets[0], meets[1], meets[2], meets[3], stop
        elif found[0] < 0.0:
            return _INSIDE, 0.0, 0.0, 0.0, 0.0
        elif found[0] <= 1.0:
            return (meets[0] if meets[0] > 0.0 else 0.0), found[1], found[2], found[3], 0.0
        elif meets[0] >= 0.0 and _bounds_overlap_at(mover, m, goal_x, goal_y, table, i):
            return meets[0], meets[1], meets[2], meets[3], 0.0
    return MISS


@inline
def _set_box_axes(axes):
    for k in range(4):
        axes[k, 0], axes[k, 1] = float(k % 2), float((k + 1) % 2)


@inline
def table_for_one(kind, numbers, span, corners):
    """A table for one shape, over memory for its kind, 4 numbers, 2 integers, and 4 corners and axes."""
    return ShapeColumns(
        kind, numbers[0], numbers[1], numbers[2], numbers[3], span[0], span[1], corners[:4], corners[4:]
    )


@inline
def set_tile(tile, grid, column, row):
    """Put a tile into a table for one shape: a box, or the polygon of a slope."""
    if profile_at(grid, column, row) != 0:
        _set_slope(tile, grid, column, row)
        return
    left, top, right, bottom = bounds_of_cell(grid, column, row)
    tile.kinds[0], tile.x[0], tile.y[0] = BOX, left, top
    tile.width[0], tile.height[0] = right - left, bottom - top


@inline
def _set_slope(tile, grid, column, row):
    """The corners from left to right along the upper side, and back along the lower one."""
    left, top, right, bottom, from_y, to_y, hangs = slope_of(grid, column, row)
    base = top if hangs else bottom
    tile.kinds[0], tile.x[0], tile.y[0] = POLYGON, left, base
    tile.width[0], tile.height[0], tile.starts[0] = 0.0, 0.0, 0
    count = 0
    for k in range(4):
        is_left = k == 0 or k == 3
        x, y = (0.0 if is_left else right - left), (from_y if is_left else to_y) - base
        if hangs == (k < 2):
            y = 0.0
        elif y == 0.0:
            continue  # nothing is filled at this edge: a triangle
        tile.points[count, 0], tile.points[count, 1] = x, y
        count += 1
    tile.counts[0] = count
    set_axes(tile.points, 0, count, tile.axes)


@inline
def _blocks(sides, nx, ny):
    """Whether a tile blocks on the side that is nearest to a normal's direction."""
    if sides == ALL_SIDES:
        return True
    if abs(ny) > abs(nx):
        return sides & (BOTTOM if ny > 0.0 else TOP) != 0
    return sides & (RIGHT if nx > 0.0 else LEFT) != 0


@inline
def _rows_on_the_way(grid, column, bounds, vx, vy):
    """When a moving box enters a column, and the rows that it touches there: ``enter, first, end``."""
    left, top, right, bottom = bounds
    left_edge, right_edge = edge(grid.x, grid.width, column), edge(grid.x, grid.width, column + 1)
    enter, leave = pass_by(left, right, left + vx, right + vx, left_edge, right_edge)
    if enter == NEVER:
        return enter, 0, 0
    way_in = place_at(0.0, vy, enter) if enter > 0.0 else 0.0
    way_out = place_at(0.0, vy, leave)
    if way_out < way_in:
        way_in, way_out = way_out, way_in
    first, end = cells_between(top + way_in, bottom + way_out, grid.y, grid.height, grid.solid.shape[0])
    return enter, first, end


@inline
def _stop_before(goes_up, lo, hi, other_lo, other_hi):
    """The place at which an interval from ``place + lo`` to ``place + hi`` is flush with another."""
    if goes_up:
        return flush_before(other_lo, hi)
    at = other_hi - lo
    while at + lo < other_hi:
        at = next_up(at)
    return at


@inline
def _place_of(mover, vx, vy, others, i, hit):
    """Where the mover stops: on an axis normal at the very edge of the other, else a tolerance before it."""
    x, y = mover.x[0], mover.y[0]
    at_x, at_y = x + hit[7] * vx, y + hit[7] * vy
    left, top, right, bottom = bounds_of(mover, ROW)
    other_left, other_top, other_right, other_bottom = bounds_of(others, i)
    if hit[6] == 0.0:
        at_x = _stop_before(hit[5] < 0.0, left - x, right - x, other_left, other_right)
    elif hit[5] == 0.0:
        at_y = _stop_before(hit[6] < 0.0, top - y, bottom - y, other_top, other_bottom)
    return at_x, at_y


@common
def first_shape_hit(mover, goal_x, goal_y, table, rows, grid, after):
    """The first hit of ``mover[0]`` among ``table[rows]`` and tiles: ``inside, hit, place``.

    The bodies first, then the tiles that the mover's bounds pass, column by column.  Overlaps at the start
    are not hits; ``inside`` says whether there are any.
    """
    # The corners of two boxes, and the axes of one.
    outlines = some_rows(4, 2, np.float64), some_rows(4, 2, np.float64), some_rows(4, 2, np.float64)
    _set_box_axes(outlines[2])
    vx, vy = goal_x - mover.x[0], goal_y - mover.y[0]
    best, place, inside, bodies = NO_HIT, (goal_x, goal_y), False, rows.shape[0]
    if vx == 0.0 and vy == 0.0:
        return inside, best, place
    bounds = bounds_of(mover, ROW)
    from_x, to_x = (bounds[0], bounds[2] + vx) if vx >= 0.0 else (bounds[0] + vx, bounds[2])
    first, end = cells_between(from_x, to_x, grid.x, grid.width, grid.solid.shape[1])
    # Tiles are tested one at a time.
    kind, numbers, span = few(1, np.uint8), some_rows(4, 1, np.float64), some_rows(2, 1, np.int64)
    tile = table_for_one(kind, numbers, span, some_rows(8, 2, np.float64))
    others, column, top, low = table, -1, 0, bodies
    # One call tests shapes, for bodies and tiles alike: the function takes long to compile.
    for step in range(first - 1, end):
        if step >= first:
            column = step if vx >= 0.0 else first + end - 1 - step
            enter, top, low = _rows_on_the_way(grid, column, bounds, vx, vy)
            if enter == NEVER:
                continue
            if enter > best[0]:
                break
            others = tile
        for k in range(top, low):  # a body, or a row of tiles
            i, solid = ROW, True
            if column < 0:
                i = rows[k]
            else:
                solid = grid.solid[k, column] or profile_at(grid, column, k) != 0
                if not solid and sides_at(grid, column, k) == 0:
                    continue
                set_tile(tile, grid, column, k)
            time, corner, nx, ny, stop = meet_shapes(mover, ROW, goal_x, goal_y, others, i, outlines)
            inside |= time < 0.0 and solid
            if time < 0.0 or time == NEVER:
                continue
            if not solid and not _blocks(sides_at(grid, column, k), nx, ny):
                continue
            hit = (time, corner, float(k), 0.0, 0.0, nx, ny, stop)
            if column >= 0:
                hit = (time, corner, float(bodies), float(k), float(column), nx, ny, stop)
            if comes_before(hit, best) and comes_before(after, hit):
                best, place = hit, _place_of(mover, vx, vy, others, i, hit)
    return inside, best, place


@jit
def next_hit(mover, goal_x, goal_y, table, rows, grid, after):
    """One step of a shape: ``inside, hit, place, normal``, as `sweep.next_hit` for a box."""
    inside, hit, place = first_shape_hit(mover, goal_x, goal_y, table, rows, grid, after)
    return inside, hit, place, (hit[5], hit[6])
