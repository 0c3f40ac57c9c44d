"""Contacts of two shapes: the smallest displacement that parts them, a function for each pair of kinds.

Boxes and convex polygons by the separating axis theorem: two convex shapes are apart if and only if they
are apart along the normal of some edge, and where they are not, the axis of the smallest overlap is the
shortest way to part them.  Source: S. Gottschalk, M. C. Lin and D. Manocha, *OBBTree*, SIGGRAPH 1996 (the
theorem itself is Minkowski's).  A circle is its centre with the other shape grown by its radius, so that
the nearest point of the other shape decides.

Every function answers ``hit, normal_x, normal_y, depth``: moving the first shape by ``depth`` along the
unit normal makes the two flush.  The normal points out of the second shape, towards the first.
"""

import math

from broadphase.kernels.machine.jit import brief, inline
from broadphase.kernels.shapes.table import span_of_points

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
    """The shorter way to clear interval a of interval b: ``sign, distance``.

    Equal edges are asked for first, because infinity minus infinity is no number.  Where both ways are
    equally long, the interval that begins earlier goes to the smaller side: so a against b and b against
    a part in opposite directions, unless the two are the same interval.
    """
    down = 0.0 if a_hi == b_lo else a_hi - b_lo
    up = 0.0 if b_hi == a_lo else b_hi - a_lo
    if down < up or (down == up and a_lo <= b_lo):
        return -1.0, down
    return 1.0, up


@brief
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


@brief
def circle_circle(ax, ay, a_radius, bx, by, b_radius, touching):
    """Two circles; with the same centre, the first goes towards smaller x."""
    dx = ax - bx
    dy = ay - by
    distance = length(dx, dy)
    reach = a_radius + b_radius
    if not reaches(distance, reach, touching):
        return APART
    if distance == 0.0:
        return True, -1.0, 0.0, reach
    return True, dx / distance, dy / distance, reach - distance


@brief
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
    # The centre lies in the box: out through the nearest side, x before y, smaller before larger.
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
    """The shadow on an axis of a box whose min corner is the origin."""
    along_x = width * nx
    along_y = height * ny
    return min(along_x, 0.0) + min(along_y, 0.0), max(along_x, 0.0) + max(along_y, 0.0)


@inline
def part_shadows(best, nx, ny, a_lo, a_hi, b_lo, b_hi, offset, touching):
    """Try one more axis, one that points to larger x, or straight to larger y; the best so far.

    The shadows are relative to each shape's own place and ``offset`` is b's place seen from a's: so that
    far from the origin nothing is lost, and exchanging a and b gives exactly the opposite answer.
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


@brief
def polygon_polygon(ax, ay, a_points, a_axes, bx, by, b_points, b_axes, touching):
    """Two convex polygons: points relative to their places, and one axis an edge."""
    dx = bx - ax
    dy = by - ay
    best = (True, 0.0, 0.0, math.inf)
    for k in range(a_axes.shape[0] + b_axes.shape[0]):
        axis = a_axes[k] if k < a_axes.shape[0] else b_axes[k - a_axes.shape[0]]
        nx, ny = axis[0], axis[1]
        a_lo, a_hi = span_of_points(a_points, nx, ny)
        b_lo, b_hi = span_of_points(b_points, nx, ny)
        best = part_shadows(best, nx, ny, a_lo, a_hi, b_lo, b_hi, dx * nx + dy * ny, touching)
        if not best[0]:
            return best
    return best


@brief
def polygon_box(x, y, points, axes, left, top, width, height, touching):
    """A convex polygon against a box: the axes x and y, then the polygon's own."""
    dx = left - x
    dy = top - y
    best = (True, 0.0, 0.0, math.inf)
    for k in range(axes.shape[0] + 2):
        if k < 2:
            nx, ny = 1.0 - k, 1.0 * k
        else:
            nx, ny = axes[k - 2, 0], axes[k - 2, 1]
        a_lo, a_hi = span_of_points(points, nx, ny)
        b_lo, b_hi = span_of_box(width, height, nx, ny)
        best = part_shadows(best, nx, ny, a_lo, a_hi, b_lo, b_hi, dx * nx + dy * ny, touching)
        if not best[0]:
            return best
    return best


@brief
def circle_polygon(x, y, radius, polygon_x, polygon_y, points, axes, touching):
    """A circle against a convex polygon whose points run counter-clockwise."""
    cx = x - polygon_x
    cy = y - polygon_y
    count = points.shape[0]
    height, nx, ny = -math.inf, 0.0, 0.0  # over the edge that the centre is farthest outside of
    near, dx, dy = math.inf, 0.0, 0.0  # from the nearest point of the outline to the centre
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        edge_x = points[after, 0] - points[k, 0]
        edge_y = points[after, 1] - points[k, 1]
        size = length(edge_x, edge_y)
        from_x = cx - points[k, 0]
        from_y = cy - points[k, 1]
        # Divided by the length last, so that a height that is a round number comes out as one.
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
        if distance < near:
            near, dx, dy = distance, px, py
    if height > 0.0 and near > 0.0:
        if not reaches(near, radius, touching):
            return APART
        return True, dx / near, dy / near, radius - near
    if height >= 0.0 and radius == 0.0 and not touching:
        return APART
    return True, nx, ny, radius - height
