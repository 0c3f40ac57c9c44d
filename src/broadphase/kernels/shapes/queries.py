"""Exact queries of shapes: rays and distances, for one, for a handful, and for many."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import next_up
from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import holds_gil, inline, jit
from broadphase.kernels.shapes.contact import contact_of, length, nearest
from broadphase.kernels.shapes.table import BOX, CIRCLE, is_rounded, points_of

# -----------------------------------------------------------------------------------------------------------
# Rays against shapes, and the distance of a shape from a point: for shapes of any kind, exactly.
#
# Shapes are open sets: what only touches an edge does not count.  A wall so thin or so far away that a ray
# enters and leaves it at the same number is hit: then it is left at the next one.

_THIN = -1.0 + 1e-6
"""Of two sides' normals: below this product they are the two faces of a wall."""
_OFTEN = (1 << 18) - 1  # rays at shapes between two looks for signals: 20 ms
_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


@inline
def distance_of(table, i, x, y):
    """The distance from a point to shape ``i``; 0 inside."""
    from_x, from_y = x - table.x[i], y - table.y[i]
    if table.kinds[i] == CIRCLE:
        return max(length(from_x, from_y) - table.width[i], 0.0)
    if table.kinds[i] == BOX:
        right, bottom = table.x[i] + table.width[i], table.y[i] + table.height[i]
        return length(max(-from_x, 0.0, x - right), max(-from_y, 0.0, y - bottom))
    return max(_distance_to_polygon(points_of(table, i), from_x, from_y) - table.width[i], 0.0)


@inline
def _distance_to_polygon(points, x, y):
    """The points run counter-clockwise: outside is to the right of a side."""
    nearest = math.inf
    count = points.shape[0]
    inside = count > 2  # a line has no inside
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        side_x, side_y = points[after, 0] - points[k, 0], points[after, 1] - points[k, 1]
        size = length(side_x, side_y)
        side_x, side_y = side_x / size, side_y / size
        from_x, from_y = x - points[k, 0], y - points[k, 1]
        height = from_x * side_y - from_y * side_x
        along = from_x * side_x + from_y * side_y
        inside &= height <= 0.0
        if along <= 0.0:
            distance = length(from_x, from_y)
        elif along >= size:
            distance = length(x - points[after, 0], y - points[after, 1])
        else:
            distance = abs(height)
        nearest = min(nearest, distance)
    return 0.0 if inside else nearest


@inline
def ray_of(table, i, x, y, dx, dy, max_distance):
    """How far along a ray shape ``i`` begins, and the normal there; -1 if the ray misses.

    ``dx, dy`` is a unit vector.  A ray that starts inside meets the shape at 0, with a normal of zeros.
    """
    from_x, from_y = x - table.x[i], y - table.y[i]
    if table.kinds[i] == CIRCLE:
        enter, leave, nx, ny = _through_circle(from_x, from_y, dx, dy, table.width[i])
    elif table.kinds[i] == BOX:
        enter, leave, nx, ny = _through_box(from_x, from_y, dx, dy, table.width[i], table.height[i])
    elif is_rounded(table, i):
        points, grown = points_of(table, i), table.width[i]
        enter, leave, nx, ny = _through_rounded(points, grown, from_x, from_y, dx, dy)
    else:
        enter, leave, nx, ny = _through_polygon(points_of(table, i), from_x, from_y, dx, dy)
    if not (enter < leave and leave > 0.0 and enter < max_distance):
        return -1.0, 0.0, 0.0
    if enter >= 0.0:
        return enter + 0.0, nx, ny  # not -0.0
    return 0.0, 0.0, 0.0


@inline
def _through_circle(x, y, dx, dy, radius):
    """When the ray enters and leaves, and the normal at the entry; infinity, minus infinity for a miss."""
    across = x * dy - y * dx
    if not abs(across) < radius:
        return math.inf, -math.inf, 0.0, 0.0
    out = across / radius
    along = math.sqrt((1.0 - out) * (1.0 + out))
    middle = -(x * dx + y * dy)
    enter = middle - radius * along
    nx, ny = out * dy - along * dx, -out * dx - along * dy
    size = length(nx, ny)
    return enter, max(middle + radius * along, next_up(enter)), nx / size, ny / size


@inline
def _through_box(x, y, dx, dy, width, height):
    enter, leave, nx, ny = -math.inf, math.inf, 0.0, 0.0
    for axis in range(2):
        start, step, size = (x, dx, width) if axis == 0 else (y, dy, height)
        if step == 0.0:
            if start <= 0.0 or start >= size:
                return math.inf, -math.inf, 0.0, 0.0
            continue
        first, last = -start / step, (size - start) / step
        if first > last:
            first, last = last, first
        last = max(last, next_up(first))
        if first > enter:
            enter = first
            sign = -1.0 if step > 0.0 else 1.0
            nx, ny = (sign, 0.0) if axis == 0 else (0.0, sign)
        leave = min(leave, last)
    return enter, leave, nx, ny


@inline
def is_box_crossed(table, i, x, y, dx, dy):
    """Whether a line ``dx, dy`` from a point enters box ``i``: by the times at the edges, as on tiles."""
    from_x, from_y = x - table.x[i], y - table.y[i]
    enter, leave, _, _ = _through_box(from_x, from_y, dx, dy, table.width[i], table.height[i])
    return max(enter, 0.0) < min(leave, 1.0)


@inline
def _through_polygon(points, x, y, dx, dy):
    """Clip the ray at the line through each side (M. Cyrus and J. Beck, 1978)."""
    enter, leave, nx, ny, far_x, far_y, slack = -math.inf, math.inf, 0.0, 0.0, 0.0, 0.0, 0.0
    count = points.shape[0]
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        out_x, out_y = points[after, 1] - points[k, 1], points[k, 0] - points[after, 0]
        size = length(out_x, out_y)
        out_x, out_y = out_x / size, out_y / size
        height = (x - points[k, 0]) * out_x + (y - points[k, 1]) * out_y
        towards = dx * out_x + dy * out_y
        if towards == 0.0:
            if height >= 0.0:
                return math.inf, -math.inf, 0.0, 0.0
        elif towards < 0.0:
            if -height / towards > enter:
                enter, nx, ny = -height / towards, out_x, out_y
                slack = (abs(x - points[k, 0]) + abs(y - points[k, 1])) / -towards
        elif -height / towards < leave:
            leave, far_x, far_y = -height / towards, out_x, out_y
    if enter >= leave >= enter - _ROUNDING * slack and nx * far_x + ny * far_y < _THIN:
        leave = next_up(enter)
    return enter, leave, nx + 0.0, ny + 0.0


@inline
def _beside_side(points, k, grown, x, y, dx, dy):
    """Through the box on side ``k`` of a polygon, as high as the polygon is grown."""
    after = k + 1 if k + 1 < points.shape[0] else 0
    side_x, side_y = points[after, 0] - points[k, 0], points[after, 1] - points[k, 1]
    size = length(side_x, side_y)
    side_x, side_y = side_x / size, side_y / size
    from_x, from_y = x - points[k, 0], y - points[k, 1]
    enter, leave, along, out = _through_box(
        from_x * side_x + from_y * side_y,
        from_x * side_y - from_y * side_x,
        dx * side_x + dy * side_y,
        dx * side_y - dy * side_x,
        size,
        grown,
    )
    return enter, leave, along * side_x + out * side_y, along * side_y - out * side_x


@inline
def _through_rounded(points, grown, x, y, dx, dy):
    """A grown polygon is its core, a box on each side and a circle around each corner.

    The union is convex: the ray is inside from the first part that it enters to the last that it leaves.
    """
    enter, leave, nx, ny = math.inf, -math.inf, 0.0, 0.0
    count = points.shape[0]
    for k in range(2 * count + 1):
        if k < count:
            found = _through_circle(x - points[k, 0], y - points[k, 1], dx, dy, grown)
        elif k < 2 * count:
            found = _beside_side(points, k - count, grown, x, y, dx, dy)
        elif count > 2:
            found = _through_polygon(points, x, y, dx, dy)
        else:
            break
        if found[0] < found[1]:
            if found[0] < enter:
                enter, nx, ny = found[0], found[2], found[3]
            leave = max(leave, found[1])
    return enter, leave, nx + 0.0, ny + 0.0


class BodyRules(NamedTuple):
    """Which bodies a query finds, by row."""

    category: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.uint32]
    group: npt.NDArray[np.int32]
    """Which set of tags each has."""
    groups: npt.NDArray[np.bool_]
    """Which sets of tags count; empty: all."""
    sensor: npt.NDArray[np.bool_]
    """What is left out; empty: nothing."""
    ignored: npt.NDArray[np.int32]
    """Rows that are left out, ascending."""
    category_bits: int
    """The bits of a category that a body's mask must share, -1: any."""
    mask_bits: int
    """The bits of a mask that a body's category must share, -1: any."""


@inline
def fits(rules, row):
    """Whether `BodyRules` let a query find a body."""
    if rules.category_bits >= 0 and rules.mask[row] & np.uint32(rules.category_bits) == 0:
        return False
    if rules.mask_bits >= 0 and rules.category[row] & np.uint32(rules.mask_bits) == 0:
        return False
    if rules.groups.shape[0] > 0 and not rules.groups[rules.group[row]]:
        return False
    if rules.sensor.shape[0] > 0 and rules.sensor[row]:
        return False
    low, high = 0, rules.ignored.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if rules.ignored[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low == rules.ignored.shape[0] or rules.ignored[low] != row


# -----------------------------------------------------------------------------------------------------------
# Which shape each of many rays meets first, and how far many points are from some shapes.


@jit
def first_on_rays(rays, rows, table, ignored, found, hits):
    """Update ``found`` and ``hits`` where a ray meets a shape sooner; among equals the lowest row counts.

    ``rays`` are ``x, y, dx, dy, max_distance``, and ``rows`` ``[k, shape]``; ray ``k`` passes through shape
    ``ignored[k]``.
    """
    for entry in range(rows.shape[0]):
        if entry & _OFTEN == _OFTEN and not goes_on():
            break
        k, row = rows[entry, 0], rows[entry, 1]
        if row == ignored[k]:
            continue
        distance, nx, ny = ray_of(table, row, rays[k, 0], rays[k, 1], rays[k, 2], rays[k, 3], rays[k, 4])
        if 0.0 <= distance <= hits[k, 0] and (distance < hits[k, 0] or found[k] < 0 or row < found[k]):
            found[k], hits[k, 0], hits[k, 1], hits[k, 2] = row, distance, nx, ny


@inline
def place_nearest(spots, k, table, row, distance):
    """The point of a shape that is nearest to circle ``k`` of ``spots``, and the unit vector from there."""
    x, y = spots.x[k], spots.y[k]
    nx = ny = size = 0.0
    if distance > 0.0:
        size, nx, ny, _ = nearest(spots, k, table, row, x - table.x[row], y - table.y[row])
    if size > 0.0:
        nx, ny = nx / size + 0.0, ny / size + 0.0
    return x - distance * nx, y - distance * ny, nx, ny


@jit
def nearest_of_rows(rows, spots, table, ids, found):
    """Update ``ids`` and ``found`` where a shape is nearer to a point; among equals the lowest row counts.

    Point ``k`` is circle ``k`` of ``spots``; ``rows`` are ``[k, shape]``, together for each point.  Rows of
    ``found`` are the distance, the nearest point of the shape, and the unit vector from there to ``k``.
    """
    for entry in range(rows.shape[0]):
        k, row = rows[entry, 0], rows[entry, 1]
        x, y = spots.x[k], spots.y[k]
        distance = distance_of(table, row, x, y)
        if 0 <= ids[k] and (distance > found[k, 0] or (distance == found[k, 0] and row > ids[k])):
            continue
        ids[k] = row
        found[k, 0] = distance
        found[k, 1], found[k, 2], found[k, 3], found[k, 4] = place_nearest(spots, k, table, row, distance)


# -----------------------------------------------------------------------------------------------------------
# The results of a broad phase near a place, as rows of a table of shapes: collected, sorted, filtered.


FEW = 64  # up to this many are sorted in kernels; more, the caller sorts


@jit
def keep_overlapping_rows(rows, query, table, rules):
    """Keep the rows ``[k, row]`` where shape ``k`` of ``query`` overlaps one of the table, and that fits.

    Returns how many.  For boxes the broad phase has already decided whether they overlap a box.
    """
    left = 0
    for entry in range(rows.shape[0]):
        k, row = rows[entry, 0], rows[entry, 1]
        known = query.kinds[k] == BOX and table.kinds[row] == BOX
        if fits(rules, row) and (known or contact_of(query, k, table, row, False)[0]):
            rows[left, 0], rows[left, 1] = k, row
            left += 1
    return left


@holds_gil
def keep_on_ray(candidates, table, rules, x, y, dx, dy, max_distance, hits):
    """Keep what fits and a ray meets, and return how much; rows of ``hits`` are distance and normal."""
    left = 0
    for k in range(candidates.shape[0]):
        distance, nx, ny = ray_of(table, candidates[k], x, y, dx, dy, max_distance)
        if distance >= 0.0 and fits(rules, candidates[k]):
            candidates[left] = candidates[k]
            hits[left, 0], hits[left, 1], hits[left, 2] = distance, nx, ny
            left += 1
    return left
