"""Swept shapes of any kind: when and where one hits static shapes and tiles.

Two convex shapes meet when the position of one enters the other grown by it (their Minkowski difference),
so the question is when a point on a straight path enters a convex set.  For two polygons the set is the
intersection of strips between two lines, one for each axis, and the last line to be crossed decides (J. M.
Cyrus and J. Beck, *Generalized two- and three-dimensional clipping*, 1978).  With a circle it is a polygon
with rounded corners: lines parallel to the edges, circles around the corners, and the first crossing decides.

Lengths are rounded here, so "flush" has a tolerance (`slack`): a shape stops this far before the other, and
one that starts this near is not stopped by a rounding error.  So a circle on a floor rolls without a snag.

Hits are those of `sweep`, which does this for boxes.
"""

import math

import numpy as np

from broadphase.kernels.machine.floats import next_up
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.machine.memory import few, some_rows
from broadphase.kernels.movement.one_way import SLANTED, blocks
from broadphase.kernels.movement.sweep import (
    ALL_SIDES,
    NEVER,
    comes_before,
    flush_before,
    pass_by,
    place_at,
)
from broadphase.kernels.shapes.contact import length, nearest, part_cores
from broadphase.kernels.shapes.table import (
    BOX,
    CIRCLE,
    POLYGON,
    ShapeColumns,
    axes_of,
    bounds_at,
    bounds_of,
    bounds_overlap,
    corners,
    is_rounded,
    points_of,
    rounding,
    set_axes,
    span_of_points,
    tolerance_of,
    widened,
)
from broadphase.kernels.tiles.grid import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    bounds_of_cell,
    cells_of_box,
    columns_between,
    edge,
    rows_between,
    sides_at,
)
from broadphase.kernels.tiles.slopes import profile_at, slope_of

# Relative to the coordinates: some hundred units in the last place, far less than a pixel in any world.
SLACK = 2e-14

# Where a mover hits something, what lies so many times the slack beside it counts as touched too.
_TOUCHED = 2.0
_MOST_TOUCHED = 15  # with 16 it takes more than a page of stack, which Windows touches page by page
_APART, _TOUCHES, _WITHIN = 0, 1, 2
# Sines of angles: normals of one surface differ by less; those of a side and a round corner likewise.
_PARALLEL = 1e-9
_SMOOTH = 1e-5

NO_HIT = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

MISS = (NEVER, 0.0, 0.0, 0.0, 0.0)
_INSIDE = -1.0
_STRAIGHT = 1e-9
_THIN = 0.25

# Of the mover in its table; not 0, or Numba would compile every function once more for the constant.
ROW = np.int64(0)


@inline
def slack(mover, table, i):
    """How far apart, or how deep in each other, two shapes count as flush."""
    largest = abs(mover.x[ROW]) + abs(mover.y[ROW]) + abs(table.x[i]) + abs(table.y[i])
    return SLACK * (largest + mover.width[ROW] + mover.height[ROW] + table.width[i] + table.height[i])


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
def _gaps(dx, dy, a, a_axes, b, b_axes, k):
    """Axis ``k`` of polygons a and b, and how far b is ahead of a and behind it on that axis.

    ``dx, dy`` is b's position relative to a's.
    """
    axis = a_axes[k] if k < a_axes.shape[0] else b_axes[k - a_axes.shape[0]]
    size = length(axis[0], axis[1])
    x, y = axis[0] / size, axis[1] / size
    a_lo, a_hi = span_of_points(a, x, y)
    b_lo, b_hi = span_of_points(b, x, y)
    offset = dx * x + dy * y
    return x, y, (b_lo - a_hi) + offset, (a_lo - b_hi) - offset


@inline
def _enter_lines(dx, dy, vx, vy, a, a_axes, b, b_axes, grow):
    """When polygon a, moving by v, enters polygon b grown by ``grow``: see `_enter` and `_gaps`."""
    enter, leave, thickness = -1.0, math.inf, math.inf
    corner, nx, ny = 0.0, 0.0, 0.0
    for k in range(a_axes.shape[0] + b_axes.shape[0]):
        x, y, ahead, behind = _gaps(dx, dy, a, a_axes, b, b_axes, k)
        ahead, behind, speed = ahead - grow, behind - grow, vx * x + vy * y
        thickness = min(thickness, 0.0 - (ahead + behind))
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
    return enter, corner, nx, ny, thickness


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
            foot = ((from_x + advance * ux) * edge_x + (from_y + advance * uy) * edge_y) / size
            if advance <= best and 0.0 <= foot <= size:
                best, nx, ny = advance, out_x, out_y
    if nearest < radius or highest < 0.0:
        return _INSIDE, 0.0, 0.0, 0.0, radius
    return best / speed, 0.0, nx + 0.0, ny + 0.0, radius


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
            best = (found[0], found[1], 0.0 - found[2], 0.0 - found[3], radius)
    return best


@inline
def _enter(mover, vx, vy, table, i, grow, scratch):
    """When the mover enters the other grown by ``grow``: ``time, corner, normal, thickness``.

    Time is -1 if it is inside from the start.  Thickness is that of the set that its position enters, or of
    its rounding.
    """
    dx, dy = table.x[i] - mover.x[ROW], table.y[i] - mover.y[ROW]
    a, b = _outline(mover, ROW, scratch[0]), _outline(table, i, scratch[1])
    a_axes, b_axes = _axes(mover, ROW, scratch[2]), _axes(table, i, scratch[2])
    round_a, round_b = mover.kinds[ROW] == CIRCLE, table.kinds[i] == CIRCLE
    radius = rounding(mover, ROW) + rounding(table, i) + grow
    if round_a and round_b and radius <= 0.0:
        return MISS  # two points never overlap
    grown = round_a or round_b or is_rounded(mover, ROW) or is_rounded(table, i)
    if not grown or radius <= 0.0:
        return _enter_lines(dx, dy, vx, vy, a, a_axes, b, b_axes, radius)
    if not (round_a or round_b):
        return _enter_grown(dx, dy, vx, vy, a, a_axes, b, b_axes, radius)
    # The circle moves toward the polygon; if the polygon moves, the direction is reversed.
    sign = -1.0
    if not round_a:
        sign, b, b_axes = 1.0, a, a_axes
    found = _enter_rounded(sign * dx, sign * dy, -sign * vx, -sign * vy, b, b_axes, radius)
    return found[0], found[1], 0.0 - sign * found[2], 0.0 - sign * found[3], radius


@inline
def _widen(cone, nx, ny, sides):
    """A cone of normals ``count, first, last``, counter-clockwise, with one more, if a tile blocks there."""
    count, ax, ay, bx, by = cone
    if not blocks(sides, nx, ny):
        return cone
    if count == 0:
        return 1, nx, ny, nx, ny
    if ax * ny - ay * nx < 0.0:
        ax, ay = nx, ny
    if bx * ny - by * nx > 0.0:
        bx, by = nx, ny
    return count + 1, ax, ay, bx, by


@common
def _touch(mover, at_x, at_y, table, i, sides, tolerance, scratch):
    """How the mover touches shape ``i`` at a place: ``state, cone of normals, whether with a corner``.

    Of a cone the first and the last normal; with a corner that is round it has only one.
    """
    dx, dy = table.x[i] - at_x, table.y[i] - at_y
    radius = rounding(mover, ROW) + rounding(table, i)
    cone = 0, 0.0, 0.0, 0.0, 0.0
    state, round_corner = _TOUCHES, False
    if radius > 0.0:
        distance, nx, ny, on_side = nearest(mover, ROW, table, i, 0.0 - dx, 0.0 - dy)
        deep = distance < radius - tolerance
        if corners(mover, ROW) > 1 or corners(table, i) > 1:  # a centre may be within a polygon
            deep |= part_cores(mover, ROW, table, i, dx, dy)[0]
        if deep:
            state = _WITHIN
        elif distance > radius + tolerance:
            state = _APART
        else:
            round_corner = not on_side
            if round_corner:
                sides &= ~SLANTED
            cone = _widen(cone, *_straightened(nx / distance, ny / distance), sides)
        return state, cone, round_corner
    a, b = _outline(mover, ROW, scratch[0]), _outline(table, i, scratch[1])
    a_axes, b_axes = _axes(mover, ROW, scratch[2]), _axes(table, i, scratch[2])
    touches = False
    for k in range(a_axes.shape[0] + b_axes.shape[0]):
        x, y, ahead, behind = _gaps(dx, dy, a, a_axes, b, b_axes, k)
        if ahead > tolerance or behind > tolerance:
            return _APART, cone, False
        if ahead >= -tolerance:
            touches = True
            cone = _widen(cone, 0.0 - x, 0.0 - y, sides)
        if behind >= -tolerance:
            touches = True
            cone = _widen(cone, x, y, sides)
    return (_TOUCHES if touches else _WITHIN), cone, False


@inline
def _is_between(x, y, ax, ay, bx, by):
    """Whether a direction leads against both of two normals."""
    least = -_PARALLEL * length(x, y)
    return x * ax + y * ay < least and x * bx + y * by < least


@inline
def _ends_inside(mover, goal_x, goal_y, table, i, scratch):
    """Whether a motion leads into a shape where a broad phase would call it an overlap."""
    if not bounds_overlap(bounds_at(mover, ROW, goal_x, goal_y), bounds_of(table, i)):
        return False
    tolerance = _TOUCHED * slack(mover, table, i)
    _, cone, _ = _touch(mover, goal_x, goal_y, table, i, ALL_SIDES, tolerance, scratch)
    vx, vy = goal_x - mover.x[0], goal_y - mover.y[0]
    return cone[0] > 0 and _is_between(vx, vy, cone[1], cone[2], cone[3], cone[4])


@inline
def meet_shapes(mover, goal_x, goal_y, table, i, scratch):
    """When and how the mover, moving to a goal, hits shape ``i``: ``time, corner, normal, stop``.

    Time is `NEVER` if it does not, and -1 if it starts inside.  Stop is the time at which it has to stop, a
    tolerance before.  ``scratch`` holds memory for two outlines, and the axes of a box.

    Rounding errors alone let a path along a surface enter what lies ahead in it.  So it is a hit only if it
    leads deeper than `slack` (or than a part of what is thinner than that), or into a place that a broad
    phase would call an overlap.
    """
    tolerance = slack(mover, table, i)
    vx, vy = goal_x - mover.x[ROW], goal_y - mover.y[ROW]
    meets = deep = touches = MISS
    grow = 0.0
    for step in range(3):  # one call in a loop: the function takes long to compile
        found = _enter(mover, vx, vy, table, i, grow, scratch)
        if step == 0:
            if found[0] > 1.0:
                return MISS
            meets, grow = found, 0.0 - min(tolerance, _THIN * found[4])
        elif step == 1:
            if found[0] < 0.0:
                return _INSIDE, 0.0, 0.0, 0.0, 0.0
            if found[0] > 1.0 and meets[0] < 0.0:
                return MISS
            if found[0] > 1.0 and not _ends_inside(mover, goal_x, goal_y, table, i, scratch):
                return MISS
            deep, grow = found, tolerance
        else:
            touches = found
    if touches[0] >= 0.0:
        return meets[0], meets[1], meets[2], meets[3], (touches[0] if touches[0] < meets[0] else meets[0])
    # It starts flush: which side it enters through is only certain farther in.
    normal = meets if deep[0] > 1.0 else deep
    return (meets[0] if meets[0] > 0.0 else 0.0), meets[1], normal[2], normal[3], 0.0


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
    """Put a tile into a table for one shape: a box, or the polygon of a slope; the sides that block."""
    if profile_at(grid, column, row) != 0:
        _set_slope(tile, grid, column, row)
        return ALL_SIDES
    left, top, right, bottom = bounds_of_cell(grid, column, row)
    tile.kinds[0], tile.x[0], tile.y[0] = BOX, left, top
    tile.width[0], tile.height[0] = right - left, bottom - top
    return sides_at(grid, column, row)


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
    first, end = rows_between(grid, top + way_in, bottom + way_out)
    return enter, first, end


@inline
def _stop_before(goes_up, lo, hi, other_lo, other_hi):
    """The place at which an interval from ``place + lo`` to ``place + hi`` is flush with another."""
    if goes_up:
        return flush_before(other_lo, hi)
    stop = other_hi - lo
    while stop + lo < other_hi:
        stop = next_up(stop)
    return stop


@inline
def _place_of(mover, vx, vy, other, hit):
    """Where the mover stops: on an axis normal at the very edge of the other, else a tolerance before it."""
    x, y = mover.x[0], mover.y[0]
    at_x, at_y = x + hit[7] * vx, y + hit[7] * vy
    left, top, right, bottom = bounds_of(mover, ROW)
    if hit[6] == 0.0:
        at_x = _stop_before(hit[5] < 0.0, left - x, right - x, other[0], other[2])
    elif hit[5] == 0.0:
        at_y = _stop_before(hit[6] < 0.0, top - y, bottom - y, other[1], other[3])
    return at_x, at_y


# -----------------------------------------------------------------------------------------------------------
# A surface made of pieces behaves as one piece.
#
# Where a mover hits a piece, the piece's own normal may belong to an edge that lies within the surface: the
# next tile of a floor has a side, but nothing can touch it.  (Such contacts are known as ghost collisions
# with internal edges.)  So the normal is that of the union of everything that the mover touches there.
# A side blocks the directions of a half plane, a corner fewer.  The directions that are blocked around the
# motion end on both sides at a surface that the mover can really touch; of these two, the one that is more
# against the motion is the normal; where they are two pieces, that of the piece which is hit first, so that a
# hit has the name and the normal of the same body.


@inline
def _one_way_stops(mover, at_x, at_y, others, i, sides, among, tile, scratch):
    """Whether what blocks on some sides stops a mover that hits it at a place.

    A slanted normal may be that of an end of it: none that is within the next piece of the same surface.
    ``among`` are the bodies and tiles that may be that piece; ``tile`` is written.
    """
    tolerance, (left, top, right, bottom) = _TOUCHED * slack(mover, others, i), bounds_of(others, i)
    count, nx, ny, to_x, to_y = _touch(mover, at_x, at_y, others, i, sides, tolerance, scratch)[1]
    if nx == 0.0 or ny == 0.0:
        nx, ny = to_x, to_y
    if count == 0 or nx == 0.0 or ny == 0.0 or others.kinds[i] != BOX:
        return count > 0
    table, rows, all_sides, numbers_of, grid = among
    lies_flat, x, y = abs(ny) > abs(nx), (right if nx > 0.0 else left), (bottom if ny > 0.0 else top)
    first, end, top_row, low_row = cells_of_box(grid, *widened((x, y, x, y), tolerance))
    for column in range(first - 1, end):
        low, high = (0, rows.shape[0]) if column < first else (top_row, low_row)
        for k in range(low, high):  # a body, or a row of tiles
            row, pieces, its_sides = ROW, tile, ALL_SIDES
            if column >= first:
                its_sides = set_tile(tile, grid, column, k)
            else:
                row, pieces = np.int64(rows[k]), table
                if all_sides.shape[0] > 0:
                    its_sides = np.int64(all_sides[numbers_of[k]])
            box = bounds_of(pieces, row)
            its_x = box[0] if (nx > 0.0) == lies_flat else box[2]
            its_y = box[1] if (ny > 0.0) != lies_flat else box[3]
            if abs(its_x - x) > tolerance or abs(its_y - y) > tolerance or not blocks(its_sides, nx, ny):
                continue
            if _touch(mover, at_x, at_y, pieces, row, its_sides, tolerance, scratch)[0] == _WITHIN:
                return False
    return True


@inline
def _is_blocked(x, y, touched, k):
    """Whether a direction leads into something that the mover touches."""
    return _is_between(x, y, touched[k, 0], touched[k, 1], touched[k, 2], touched[k, 3])


@inline
def _surface_of(touched, count, vx, vy, own_x, own_y):
    """The surface that stops a mover: ``row, column``, where its normal is in ``touched``.

    Row -1: nothing that is touched blocks the motion.  ``own`` is the normal of what is hit first.
    """
    begin = -1
    for k in range(count):
        if _is_blocked(vx, vy, touched, k):
            begin = k
            break
    if begin < 0:
        return begin, 0
    best, best_end, most, one, named = begin, 0, math.inf, begin, False
    for end in range(0, 4, 2):
        entry, turn = begin, (1.0 if end == 0 else -1.0)
        for _ in range(count):
            # The last direction that this one blocks; what blocks it too continues the surface.
            x, y = turn * touched[entry, end + 1], -turn * touched[entry, end]
            for k in range(count):
                if k != entry and _is_blocked(x, y, touched, k):
                    entry = k
                    break
        nx, ny = touched[entry, end], touched[entry, end + 1]
        is_named = abs(nx * own_y - ny * own_x) < _PARALLEL and nx * own_x + ny * own_y > 0.0
        against = vx * nx + vy * ny
        # Which end of one piece is met first, rounding decides.
        if is_named if end != 0 and entry != one and is_named != named else against < most:
            best, best_end, most = entry, end, against
        one, named = entry, is_named
    # Both lie along the motion where a slot as wide as the mover ends: its end is the surface.
    for k in range(count if most >= -_PARALLEL * length(vx, vy) else 0):
        for end in range(0, 4, 2):
            against = vx * touched[k, end] + vy * touched[k, end + 1]
            if against < most:
                best, best_end, most = k, end, against
    return best, best_end


@inline
def _smooth(touched, count):
    """Leave out round corners where the mover touches a side beside them; returns how many are left.

    Near the border of two tiles a ball on the one touches the other with a normal that is a little off.
    """
    kept = 0
    for k in range(count):
        hidden = False
        for j in range(count if touched[k, 4] != 0.0 else 0):
            across = touched[k, 0] * touched[j, 1] - touched[k, 1] * touched[j, 0]
            along = touched[k, 0] * touched[j, 0] + touched[k, 1] * touched[j, 1]
            hidden |= touched[j, 4] == 0.0 and abs(across) < _SMOOTH and along > 0.0
        if not hidden:
            for column in range(touched.shape[1]):
                touched[kept, column] = touched[k, column]
            kept += 1
    return kept


@common
def first_shape_hit(mover, goal_x, goal_y, table, rows, all_sides, numbers_of, grid, after):
    """The first hit of ``mover[0]`` among ``table[rows]`` and tiles: ``hit, place``.

    The bodies first, then the tiles that the mover's bounds pass, column by column.  Overlaps at the start
    are not hits.
    """
    # The corners of two boxes, and the axes of one.
    outlines = some_rows(4, 2, np.float64), some_rows(4, 2, np.float64), some_rows(4, 2, np.float64)
    _set_box_axes(outlines[2])
    vx, vy = goal_x - mover.x[0], goal_y - mover.y[0]
    best, place, bodies = NO_HIT, (goal_x, goal_y), rows.shape[0]
    if vx == 0.0 and vy == 0.0:
        return best, place
    bounds, there = bounds_of(mover, ROW), bounds_at(mover, ROW, goal_x, goal_y)
    low_x, high_x = min(bounds[0], there[0]), max(bounds[2], there[2])
    low_y, high_y = min(bounds[1], there[1]), max(bounds[3], there[3])
    region = low_x, low_y, high_x, high_y
    # Tiles are tested one at a time.
    kind, numbers, span = few(1, np.uint8), some_rows(4, 1, np.float64), some_rows(2, 1, np.int64)
    tile = table_for_one(kind, numbers, span, some_rows(8, 2, np.float64))
    # Of everything that is touched: its cone of normals, whether it is a round corner, and its bounds.
    touched = some_rows(_MOST_TOUCHED, 9, np.float64)
    count, at_x, at_y = 0, mover.x[0], mover.y[0]
    # First the first hit, then what is touched there; one call tests shapes, for bodies and tiles alike: the
    # function takes long to compile.
    for part in range(2):
        if part == 1:
            if best[0] > 1.0:
                return best, place
            at_x, at_y = mover.x[0] + best[0] * vx, mover.y[0] + best[0] * vy
            there = bounds_at(mover, ROW, at_x, at_y)
            region = widened(there, tolerance_of(there))
        others, column, top, low = table, -1, 0, bodies
        first, end = columns_between(grid, region[0], region[2])
        for step in range(first - 1, end):
            if step >= first:
                column = step if vx >= 0.0 else first + end - 1 - step
                enter, top, low = 0.0, 0, 0
                if part == 0:
                    enter, top, low = _rows_on_the_way(grid, column, bounds, vx, vy)
                else:
                    top, low = rows_between(grid, region[1], region[3])
                if enter == NEVER:
                    continue
                if enter > best[0]:
                    break
                others = tile
            for k in range(top, low):  # a body, or a row of tiles
                i, sides = ROW, ALL_SIDES
                if step < first:
                    i = rows[k]
                    if all_sides.shape[0] > 0:
                        sides = np.int64(all_sides[numbers_of[k]])
                else:
                    sides = set_tile(tile, grid, column, k)
                    if sides == 0:
                        continue
                other = bounds_of(others, i)
                wide = slack(mover, others, i) * _TOUCHED * part
                if not bounds_overlap(widened(other, wide), region):
                    continue
                time, corner, nx, ny, stop = meet_shapes(mover, goal_x, goal_y, others, i, outlines)
                hit = (time, corner, float(k), 0.0, 0.0, nx, ny, stop)
                if step >= first:
                    hit = (time, corner, float(bodies), float(k), float(column), nx, ny, stop)
                passed = 0.0 <= time and time != NEVER and not comes_before(after, hit)
                if part == 1:
                    if time < 0.0 or passed or count == _MOST_TOUCHED:
                        continue
                    state, cone, round_corner = _touch(mover, at_x, at_y, others, i, sides, wide, outlines)
                    if state == _TOUCHES and cone[0] > 0:
                        touched[count, 0], touched[count, 1] = cone[1], cone[2]
                        touched[count, 2], touched[count, 3] = cone[3], cone[4]
                        touched[count, 4] = 1.0 if round_corner else 0.0
                        touched[count, 5], touched[count, 6] = other[0], other[1]
                        touched[count, 7], touched[count, 8] = other[2], other[3]
                        count += 1
                    continue
                if time < 0.0 or time == NEVER or passed or not comes_before(hit, best):
                    continue
                if sides != ALL_SIDES:
                    met_x, met_y = mover.x[0] + time * vx, mover.y[0] + time * vy
                    among = table, rows, all_sides, numbers_of, grid
                    if not _one_way_stops(mover, met_x, met_y, others, i, sides, among, tile, outlines):
                        continue
                best, place = hit, _place_of(mover, vx, vy, other, hit)
    count = _smooth(touched, count)
    k, end = _surface_of(touched, count, vx, vy, best[5], best[6])
    if k >= 0 and (count > 1 or touched[k, 0] != touched[k, 2] or touched[k, 1] != touched[k, 3]):
        nx, ny = _straightened(touched[k, end], touched[k, end + 1])
        best = (best[0], best[1], best[2], best[3], best[4], nx, ny, best[7])
        other = touched[k, 5], touched[k, 6], touched[k, 7], touched[k, 8]
        place = _place_of(mover, vx, vy, other, best)
    return best, place


@jit
def sides_reached(mover, dx, dy, table, rows, all_sides, grid):
    """The sides on which a mover that has moved by ``dx, dy`` is flush with something ahead: their bits.

    A slanted surface counts for the sides within 60 degrees of its normal.
    """
    outlines = some_rows(4, 2, np.float64), some_rows(4, 2, np.float64), some_rows(4, 2, np.float64)
    _set_box_axes(outlines[2])
    kind, numbers, span = few(1, np.uint8), some_rows(4, 1, np.float64), some_rows(2, 1, np.int64)
    tile = table_for_one(kind, numbers, span, some_rows(8, 2, np.float64))
    bounds = bounds_of(mover, ROW)
    left, top, right, bottom = bounds
    first, end, top_row, low_row = cells_of_box(grid, *widened(bounds, tolerance_of(bounds)))
    reached = np.int64(0)
    for column in range(first - 1, end):
        low, high = (0, rows.shape[0]) if column < first else (top_row, low_row)
        for k in range(low, high):  # a body, or a row of tiles
            i, others, sides = ROW, tile, ALL_SIDES
            if column < first:
                i, others, sides = np.int64(rows[k]), table, np.int64(all_sides[k])
            else:
                sides = set_tile(tile, grid, column, k)
                if sides == 0:
                    continue
            tolerance = _TOUCHED * slack(mover, others, i)
            other = bounds_of(others, i)
            apart = other[0] - tolerance > right or left > other[2] + tolerance
            if apart or other[1] - tolerance > bottom or top > other[3] + tolerance:
                continue
            state, cone, _ = _touch(mover, mover.x[0], mover.y[0], others, i, sides, tolerance, outlines)
            _, nx, ny, to_x, to_y = cone
            is_side = (
                state == _TOUCHES and abs(nx * to_y - ny * to_x) < _PARALLEL and nx * to_x + ny * to_y > 0.0
            )
            if is_side and _is_between(dx, dy, nx, ny, nx, ny):
                reached |= (LEFT if nx > 0.5 else np.int64(0)) | (RIGHT if nx < -0.5 else np.int64(0))
                reached |= (TOP if ny > 0.5 else np.int64(0)) | (BOTTOM if ny < -0.5 else np.int64(0))
    return reached
