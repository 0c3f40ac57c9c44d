"""Contacts of two shapes: the smallest displacement that separates them, one function for each pair of kinds.

Boxes and convex polygons by the separating axis theorem: two convex shapes are apart if and only if they
are apart along the normal of some edge; if they are not, the axis of the smallest overlap is the
shortest displacement.  Source: S. Gottschalk, M. C. Lin and D. Manocha, *OBBTree*, SIGGRAPH 1996 (the
theorem itself is Minkowski's).  A circle is its centre with the other shape grown by its radius, so that
the nearest point of the other shape decides.

Every function answers ``hit, normal_x, normal_y, depth``: moving the first shape by ``depth`` along the
unit normal makes the two flush.  The normal points out of the second shape, towards the first.
"""

import math

import numpy as np

from broadphase.kernels.machine.jit import common, holds_gil, inline, jit
from broadphase.kernels.machine.memory import few
from broadphase.kernels.shapes.table import (
    BOX,
    CIRCLE,
    ShapeColumns,
    axes_of,
    axis_at,
    corner_at,
    corners,
    is_rounded,
    points_of,
    rounding,
    span_of_points,
)

# Beyond these the square of a coordinate leaves the range of float64.
_HUGE, _TINY = 1e150, 1e-150
_UP, _DOWN = 2.0**600, 2.0**-600

APART = (False, 0.0, 0.0, 0.0)


@inline
def length(x, y):
    """The length of a vector, without overflow; unlike ``hypot`` the same in every C library."""
    largest = max(abs(x), abs(y))
    if largest > _HUGE:
        return math.sqrt((x * _DOWN) * (x * _DOWN) + (y * _DOWN) * (y * _DOWN)) * _UP
    if largest < _TINY:
        return math.sqrt((x * _UP) * (x * _UP) + (y * _UP) * (y * _UP)) * _DOWN
    return math.sqrt(x * x + y * y)


@inline
def reaches(gap, reach, touching):
    """Whether ``gap`` is small enough to count."""
    if touching:
        return gap <= reach
    return gap < reach


@inline
def part_intervals(a_lo, a_hi, b_lo, b_hi):
    """The shorter displacement of interval a out of interval b: ``sign, distance``.

    Equal edges are tested first, because infinity minus infinity is NaN.  If both displacements are
    equally long, the interval that begins earlier moves to the smaller side: so a against b and b against
    a separate in opposite directions, unless the two are the same interval.
    """
    down = 0.0 if a_hi == b_lo else a_hi - b_lo
    up = 0.0 if b_hi == a_lo else b_hi - a_lo
    if down < up or (down == up and a_lo <= b_lo):
        return -1.0, down
    return 1.0, up


@inline
def box_box(ax, ay, a_right, a_bottom, bx, by, b_right, b_bottom, touching):
    """Two boxes, each by its edges; a tie between the axes goes to x."""
    if touching:
        if ax > b_right or bx > a_right or ay > b_bottom or by > a_bottom:
            return APART
    elif ax >= b_right or bx >= a_right or ay >= b_bottom or by >= a_bottom:
        return APART
    sign_x, depth_x = part_intervals(ax, a_right, bx, b_right)
    sign_y, depth_y = part_intervals(ay, a_bottom, by, b_bottom)
    if depth_x <= depth_y:
        return True, sign_x, 0.0, depth_x
    return True, 0.0, sign_y, depth_y


@inline
def circle_circle(ax, ay, a_radius, bx, by, b_radius, touching):
    """Two circles; with the same centre, the first moves towards smaller x."""
    dx = ax - bx
    dy = ay - by
    distance = length(dx, dy)
    reach = a_radius + b_radius
    if not reaches(distance, reach, touching):
        return APART
    if distance == 0.0:
        return True, -1.0, 0.0, reach
    return True, dx / distance, dy / distance, reach - distance


@inline
def circle_box(x, y, radius, left, top, right, bottom, touching):
    """A circle against a box."""
    near_x = min(max(x, left), right)
    near_y = min(max(y, top), bottom)
    dx = x - near_x
    dy = y - near_y
    if dx != 0.0 or dy != 0.0:
        distance = length(dx, dy)
        if not reaches(distance, radius, touching):
            return APART
        return True, dx / distance, dy / distance, radius - distance
    # The centre is in the box: out through the nearest side, x before y, smaller before larger.
    on_edge = x == left or x == right or y == top or y == bottom
    if on_edge and radius == 0.0 and not touching:
        return APART
    nx, ny, depth = -1.0, 0.0, x - left
    if right - x < depth:
        nx, ny, depth = 1.0, 0.0, right - x
    if y - top < depth:
        nx, ny, depth = 0.0, -1.0, y - top
    if bottom - y < depth:
        nx, ny, depth = 0.0, 1.0, bottom - y
    return True, nx, ny, radius + depth


@inline
def span_of_box(width, height, nx, ny):
    """The projection on an axis of a box whose min corner is the origin."""
    along_x = width * nx
    along_y = height * ny
    return min(along_x, 0.0) + min(along_y, 0.0), max(along_x, 0.0) + max(along_y, 0.0)


@inline
def part_shadows(best, nx, ny, a_lo, a_hi, b_lo, b_hi, offset, touching):
    """Try one more axis, one that points to larger x, or straight to larger y; returns the best so far.

    The projections are relative to each shape's own position and ``offset`` is b's position relative to a's:
    so far from the origin nothing is lost, and exchanging a and b gives exactly the opposite answer.
    """
    down = (a_hi - b_lo) - offset
    up = (b_hi - a_lo) + offset
    if not (reaches(-down, 0.0, touching) and reaches(-up, 0.0, touching)):
        return APART
    to_smaller = down < up or (down == up and a_lo - b_lo <= offset)
    size = length(nx, ny)
    depth = (down if to_smaller else up) / size
    nx /= size
    ny /= size
    if depth > best[3]:
        return best
    if depth == best[3]:
        # Not the axis that came first, which depends on the order: the one closer to x, then to +y.
        best_ny = -best[2] if best[1] < 0.0 or (best[1] == 0.0 and best[2] < 0.0) else best[2]
        if nx < abs(best[1]) or (nx == abs(best[1]) and ny <= best_ny):
            return best
    sign = -1.0 if to_smaller else 1.0
    return True, sign * nx + 0.0, sign * ny + 0.0, depth


@inline
def polygon_contact(a, i, b, j, touching):
    """A convex polygon against another or a box, whose axes are x and y: one axis for each edge of both."""
    dx, dy, best = b.x[j] - a.x[i], b.y[j] - a.y[i], (True, 0.0, 0.0, math.inf)
    points, axes, others, other_axes = points_of(a, i), axes_of(a, i), points_of(b, j), axes_of(b, j)
    count, is_box = axes.shape[0], b.kinds[j] == BOX
    for k in range(count + (2 if is_box else other_axes.shape[0])):
        if k < count:
            nx, ny = axes[k, 0], axes[k, 1]
        elif is_box:
            nx, ny = 1.0 - (k - count), 1.0 * (k - count)
        else:
            nx, ny = other_axes[k - count, 0], other_axes[k - count, 1]
        a_lo, a_hi = span_of_points(points, nx, ny)
        if is_box:
            b_lo, b_hi = span_of_box(b.width[j], b.height[j], nx, ny)
        else:
            b_lo, b_hi = span_of_points(others, nx, ny)
        best = part_shadows(best, nx, ny, a_lo, a_hi, b_lo, b_hi, dx * nx + dy * ny, touching)
        if not best[0]:
            return best
    return best


@inline
def circle_polygon(x, y, radius, polygon_x, polygon_y, points, axes, touching):
    """A circle against a convex polygon whose points run counter-clockwise."""
    cx = x - polygon_x
    cy = y - polygon_y
    count = points.shape[0]
    height, nx, ny = -math.inf, 0.0, 0.0  # of the edge that the centre is farthest outside of
    shortest, dx, dy = math.inf, 0.0, 0.0  # from the nearest point of the outline to the centre
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        edge_x = points[after, 0] - points[k, 0]
        edge_y = points[after, 1] - points[k, 1]
        size = length(edge_x, edge_y)
        from_x = cx - points[k, 0]
        from_y = cy - points[k, 1]
        # Divided by the length last, so that an integer height stays an integer.
        out = 1.0 if edge_y > 0.0 or (edge_y == 0.0 and edge_x < 0.0) else -1.0
        axis = length(axes[k, 0], axes[k, 1])
        over = out * (from_x * axes[k, 0] + from_y * axes[k, 1]) / axis
        out_x, out_y = out * axes[k, 0] / axis + 0.0, out * axes[k, 1] / axis + 0.0
        if over > height:
            height, nx, ny = over, out_x, out_y
        along = from_x * (edge_x / size) + from_y * (edge_y / size)
        if along <= 0.0:
            px, py = from_x, from_y
        elif along >= size:
            px, py = cx - points[after, 0], cy - points[after, 1]
        else:
            px, py = over * out_x, over * out_y
        distance = length(px, py)
        if distance < shortest:
            shortest, dx, dy = distance, px, py
    if height > 0.0 and shortest > 0.0:
        if not reaches(shortest, radius, touching):
            return APART
        return True, dx / shortest, dy / shortest, radius - shortest
    if height >= 0.0 and radius == 0.0 and not touching:
        return APART
    return True, nx, ny, radius - height


# -----------------------------------------------------------------------------------------------------------
# Contacts of shapes with rounded corners: capsules, rounded boxes, polygons that are grown by a radius.
#
# Such a shape is a core (a polygon, a box, a line of two points, the centre of a circle) grown by a radius.
# If the cores are apart, their distance decides, which is that of a corner of one from a side of the
# other; if they are not, the shortest displacement of the cores, by the separating axis theorem, plus the
# radii.


@inline
def _shadow(table, i, nx, ny):
    """The projection of a core on an axis, relative to its position."""
    if table.kinds[i] == BOX:
        return span_of_box(table.width[i], table.height[i], nx, ny)
    return (0.0, 0.0) if table.kinds[i] == CIRCLE else span_of_points(points_of(table, i), nx, ny)


@inline
def _try_axis(best, nx, ny, a, i, b, j, dx, dy):
    """Try one more axis, see `part_shadows`; an axis without length is skipped."""
    if not best[0] or (nx == 0.0 and ny == 0.0):
        return best
    a_lo, a_hi = _shadow(a, i, nx, ny)
    b_lo, b_hi = _shadow(b, j, nx, ny)
    return part_shadows(best, nx, ny, a_lo, a_hi, b_lo, b_hi, dx * nx + dy * ny, True)


@common
def part_cores(a, i, b, j, dx, dy):
    """The shortest displacement that separates two cores, `APART` if they are apart.

    ``dx, dy`` is the place of b relative to that of a.
    """
    best = (True, 0.0, 0.0, math.inf)
    for part in range(2):
        table, row = (a, i) if part == 0 else (b, j)
        count = corners(table, row)
        for k in range(count if count > 1 else 0):
            nx, ny = axis_at(table, row, k)
            best = _try_axis(best, nx, ny, a, i, b, j, dx, dy)
        if count == 2:  # none of their normals separates two collinear lines
            nx, ny = axis_at(table, row, 0)
            along = (ny, -nx) if ny > 0.0 else (0.0 - ny, nx)
            best = _try_axis(best, along[0], along[1], a, i, b, j, dx, dy)
    return best


@inline
def _from_side(x, y, table, i, k):
    """The vector from side ``k`` of a core to a point, relative to its position; whether not from an end."""
    px, py = corner_at(table, i, k)
    after = k + 1 if k + 1 < corners(table, i) else 0
    qx, qy = corner_at(table, i, after)
    side_x, side_y = qx - px, qy - py
    size = length(side_x, side_y)
    from_x, from_y = x - px, y - py
    if size == 0.0:
        return from_x, from_y, False
    along = from_x * (side_x / size) + from_y * (side_y / size)
    if along <= 0.0:
        return from_x, from_y, False
    if along >= size:
        return x - qx, y - qy, False
    nx, ny = axis_at(table, i, k)
    axis = length(nx, ny)
    over = (from_x * nx + from_y * ny) / axis
    return over * (nx / axis), over * (ny / axis), True


@common
def nearest(a, i, b, j, place_x, place_y):
    """The shortest vector from core b to core a, which are apart: ``length, x, y, on_side``.

    The place is that of a relative to b.  On a side, one of its ends is not a corner.
    """
    shortest, best_x, best_y, on_side = math.inf, 0.0, 0.0, False
    for part in range(2):
        sign = 1.0 if part == 0 else -1.0
        one, m, other, n = (a, i, b, j) if part == 0 else (b, j, a, i)
        for corner in range(corners(one, m)):
            x, y = corner_at(one, m, corner)
            for side in range(corners(other, n)):
                dx, dy, inner = _from_side(x + sign * place_x, y + sign * place_y, other, n, side)
                distance = length(dx, dy)
                # Of one vector, rounded in two ways, not the first: that depends on the order of a and b.
                longer = abs(dx) > abs(best_x) or (abs(dx) == abs(best_x) and abs(dy) > abs(best_y))
                if distance < shortest or (distance == shortest and longer):
                    shortest, best_x, best_y, on_side = distance, sign * dx, sign * dy, inner
    return shortest, best_x, best_y, on_side


@inline
def contact_rounded(a, i, b, j, touching):
    """Shape ``i`` of table a against ``j`` of b, of any kind: ``hit, normal_x, normal_y, depth``."""
    reach = rounding(a, i) + rounding(b, j)
    hit, nx, ny, depth = part_cores(a, i, b, j, b.x[j] - a.x[i], b.y[j] - a.y[i])
    if hit:
        if depth + reach == 0.0 and not touching:
            return APART
        return True, nx, ny, depth + reach
    gap, dx, dy, _ = nearest(a, i, b, j, a.x[i] - b.x[j], a.y[i] - b.y[j])
    if not reaches(gap, reach, touching):
        return APART
    if gap == 0.0:  # only by rounding
        return True, -1.0, 0.0, reach
    return True, dx / gap + 0.0, dy / gap + 0.0, reach - gap


# -----------------------------------------------------------------------------------------------------------
# Contacts for whole arrays of pairs: boxes, circles, or shapes of any kind in one table.


@jit
def contact_boxes(a, b, pairs, touching, overlapping, normals, depths):
    """Box ``a[i]`` against ``b[j]`` for every pair ``i, j``; without pairs, row by row.

    A loop over the axes instead of `box_box`, for boxes of any dimension: the axis with the smallest
    overlap is the displacement, the first among equal ones.
    """
    dim = a.shape[1] // 2
    for k in range(overlapping.shape[0]):
        i = pairs[k, 0] if pairs.shape[0] > 0 else k
        j = pairs[k, 1] if pairs.shape[0] > 0 else k
        together = True
        for axis in range(dim):
            if touching:
                together &= (a[i, axis] <= b[j, dim + axis]) & (b[j, axis] <= a[i, dim + axis])
            else:
                together &= (a[i, axis] < b[j, dim + axis]) & (b[j, axis] < a[i, dim + axis])
        overlapping[k] = together
        if together:
            out = -1
            for axis in range(dim):
                sign, depth = part_intervals(a[i, axis], a[i, dim + axis], b[j, axis], b[j, dim + axis])
                if out < 0 or depth < depths[k]:
                    if out >= 0:
                        normals[k, out] = 0.0
                    out = axis
                    normals[k, axis] = sign
                    depths[k] = depth


@jit
def contact_circles(a, b, pairs, touching, overlapping, normals, depths):
    """Circle ``a[i]`` against ``b[j]``, rows ``x, y, radius``; without pairs, row by row."""
    for k in range(overlapping.shape[0]):
        i = pairs[k, 0] if pairs.shape[0] > 0 else k
        j = pairs[k, 1] if pairs.shape[0] > 0 else k
        overlapping[k], normals[k, 0], normals[k, 1], depths[k] = circle_circle(
            a[i, 0], a[i, 1], a[i, 2], b[j, 0], b[j, 1], b[j, 2], touching
        )


@inline
def contact_of(a, i, b, j, touching):
    """Shape ``i`` of table a against ``j`` of b: the kinds in order, the answer reversed if they were not."""
    if is_rounded(a, i) or is_rounded(b, j):
        return contact_rounded(a, i, b, j, touching)
    if a.kinds[i] <= b.kinds[j]:
        return _in_order(a, i, b, j, touching)
    hit, nx, ny, depth = _in_order(b, j, a, i, touching)
    return hit, 0.0 - nx, 0.0 - ny, depth


@inline
def _in_order(a, i, b, j, touching):
    """Circles before polygons before boxes."""
    ax, ay, bx, by = a.x[i], a.y[i], b.x[j], b.y[j]
    b_right, b_bottom = bx + b.width[j], by + b.height[j]
    if a.kinds[i] == CIRCLE:
        radius = a.width[i]
        if b.kinds[j] == CIRCLE:
            return circle_circle(ax, ay, radius, bx, by, b.width[j], touching)
        if b.kinds[j] == BOX:
            return circle_box(ax, ay, radius, bx, by, b_right, b_bottom, touching)
        return circle_polygon(ax, ay, radius, bx, by, points_of(b, j), axes_of(b, j), touching)
    if a.kinds[i] == BOX:
        return box_box(ax, ay, ax + a.width[i], ay + a.height[i], bx, by, b_right, b_bottom, touching)
    return polygon_contact(a, i, b, j, touching)


@holds_gil
def touch(a, b, touching):
    """Two shapes, each a row of a table: kind, ``x, y, width, height``, points and axes."""
    kinds, values, counts = few(2, np.uint8), few(8, np.float64), few(3, np.int64)
    kinds[0], kinds[1], counts[0], counts[1], counts[2] = a[0], b[0], 0, a[5].shape[0], b[5].shape[0]
    values[0], values[1], values[2], values[3] = a[1:5]
    values[4], values[5], values[6], values[7] = b[1:5]
    size, other_size = (values[2:3], values[3:4]), (values[6:7], values[7:])
    first = ShapeColumns(kinds[:1], values[:1], values[1:2], *size, counts[:1], counts[1:2], a[5], a[6])
    second = ShapeColumns(
        kinds[1:], values[4:5], values[5:6], *other_size, counts[:1], counts[2:], b[5], b[6]
    )
    return contact_of(first, 0, second, 0, touching)
