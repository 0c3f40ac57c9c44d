"""Contacts where corners are rounded: capsules, rounded boxes, polygons that are grown by a radius.

Such a shape is a core (a polygon, a box, a line of two points, the centre of a circle) grown by a radius.
Where the cores are apart, their distance decides, which is that of a corner of one from a side of the other;
where they are not, the shortest way to part the cores, by the separating axis theorem, and the radii on top.
"""

import math

from broadphase.kernels.machine.jit import brief, common, inline
from broadphase.kernels.shapes.contact import APART, length, part_shadows, reaches
from broadphase.kernels.shapes.table import axis_at, corner_at, corners, rounding


@inline
def _shadow(table, i, nx, ny):
    """The shadow of a core on an axis, seen from its place."""
    x, y = corner_at(table, i, 0)
    lo = x * nx + y * ny
    hi = lo
    for k in range(1, corners(table, i)):
        x, y = corner_at(table, i, k)
        at = x * nx + y * ny
        lo, hi = min(lo, at), max(hi, at)
    return lo, hi


@inline
def _try_axis(best, nx, ny, a, i, b, j, dx, dy):
    """One more axis, see `part_shadows`; one without length is none."""
    if not best[0] or (nx == 0.0 and ny == 0.0):
        return best
    a_lo, a_hi = _shadow(a, i, nx, ny)
    b_lo, b_hi = _shadow(b, j, nx, ny)
    return part_shadows(best, nx, ny, a_lo, a_hi, b_lo, b_hi, dx * nx + dy * ny, True)


@common
def _part_cores(a, i, b, j):
    """The shortest way to part two cores, `APART` where they are apart."""
    dx, dy = b.x[j] - a.x[i], b.y[j] - a.y[i]
    best = (True, 0.0, 0.0, math.inf)
    for part in range(2):
        table, row = (a, i) if part == 0 else (b, j)
        count = corners(table, row)
        for k in range(count if count > 1 else 0):
            nx, ny = axis_at(table, row, k)
            best = _try_axis(best, nx, ny, a, i, b, j, dx, dy)
        if count == 2:  # two lines behind each other are parted by none of their normals
            nx, ny = axis_at(table, row, 0)
            along = (ny, -nx) if ny > 0.0 else (0.0 - ny, nx)
            best = _try_axis(best, along[0], along[1], a, i, b, j, dx, dy)
    return best


@inline
def _from_side(x, y, table, i, k):
    """From side ``k`` of a core to a point that is seen from the core's place: a vector."""
    px, py = corner_at(table, i, k)
    after = k + 1 if k + 1 < corners(table, i) else 0
    qx, qy = corner_at(table, i, after)
    side_x, side_y = qx - px, qy - py
    size = length(side_x, side_y)
    from_x, from_y = x - px, y - py
    if size == 0.0:
        return from_x, from_y
    along = from_x * (side_x / size) + from_y * (side_y / size)
    if along <= 0.0:
        return from_x, from_y
    if along >= size:
        return x - qx, y - qy
    nx, ny = axis_at(table, i, k)
    axis = length(nx, ny)
    over = (from_x * nx + from_y * ny) / axis
    return over * (nx / axis), over * (ny / axis)


@common
def _nearest(a, i, b, j):
    """The shortest vector from core b to core a, which are apart."""
    near, best_x, best_y = math.inf, 0.0, 0.0
    for part in range(2):
        sign = 1.0 if part == 0 else -1.0
        one, m, other, n = (a, i, b, j) if part == 0 else (b, j, a, i)
        place_x, place_y = one.x[m] - other.x[n], one.y[m] - other.y[n]
        for corner in range(corners(one, m)):
            x, y = corner_at(one, m, corner)
            for side in range(corners(other, n)):
                dx, dy = _from_side(x + place_x, y + place_y, other, n, side)
                distance = length(dx, dy)
                # Of two that are equally near, not the first, which depends on the order of a and b.
                if distance < near or (distance == near and abs(dx) > abs(best_x)):
                    near, best_x, best_y = distance, sign * dx, sign * dy
    return near, best_x, best_y


@inline
def contact_rounded(a, i, b, j, touching):
    """Shape ``i`` of table a against ``j`` of b, of any kind: ``hit, normal_x, normal_y, depth``."""
    reach = rounding(a, i) + rounding(b, j)
    hit, nx, ny, depth = _part_cores(a, i, b, j)
    if hit:
        if depth + reach == 0.0 and not touching:
            return APART
        return True, nx, ny, depth + reach
    near, dx, dy = _nearest(a, i, b, j)
    if not reaches(near, reach, touching):
        return APART
    if near == 0.0:  # by a rounding alone
        return True, -1.0, 0.0, reach
    return True, dx / near + 0.0, dy / near + 0.0, reach - near


@brief
def touch_rounded(a, b, touching):
    """The only shape of a table against the only one of another."""
    return contact_rounded(a, 0, b, 0, touching)
