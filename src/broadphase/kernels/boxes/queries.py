"""Tests of one box against a query (box, point, ray, nearest), and results sorted by distance."""

import math

import numpy as np

from broadphase.kernels.arrays.passes import PIECE
from broadphase.kernels.boxes.checks import take_point
from broadphase.kernels.machine.floats import next_down
from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import always_inline, common, holds_gil, inline, jit, numbers
from broadphase.kernels.machine.memory import few

ROUNDING = 4e-15
"""Of a coordinate and a radius: more than what is lost where they are added."""

# -----------------------------------------------------------------------------------------------------------
# The tests of one query against one box: the geometry that all indexes share.
#
# All of it is computed in float64, whatever the type of the boxes.  Every rounded operation is monotone in
# the edges of the box, so a box that contains another is never judged farther away, and a tree may prune its
# nodes with the same functions.
#
# A query reaches a kernel as a small tuple of floats and is written here into a float64 array:
#
# - a box ``[min..., max...]``;
# - a point ``[coordinate...]``;
# - a ray ``[origin..., unit direction..., max_distance]``.
#
# ``category`` and ``mask`` are 32-bit sets as plain integers; -1 means that the caller set no rule.
#
# These functions have no loops over the axes, and use arrays only in branches that return: where two branches
# join, or in a loop, Numba counts references to arrays atomically, which takes 10 ns a call, 20 times the
# test.


@inline
def set_array(values, array):
    """Copy a tuple of numbers, or a row, into ``array``."""
    for k in range(len(values)):
        array[k] = values[k]


@common
def set_ray(values, ray):
    """``[origin..., direction..., max_distance]`` into ``ray``, with the direction scaled to length 1.

    Divided by the largest component first, so that neither 1e200 nor 1e-200 overflows or underflows.
    """
    set_array(values, ray)
    dim = (len(values) - 1) // 2
    largest = 0.0
    for axis in range(dim, 2 * dim):
        largest = max(largest, abs(ray[axis]))
    total = 0.0
    for axis in range(dim, 2 * dim):
        ray[axis] /= largest
        total += ray[axis] * ray[axis]
    length = math.sqrt(total)
    for axis in range(dim, 2 * dim):
        ray[axis] /= length


@inline
def is_live(boxes, i):
    """Whether row ``i`` holds a box: the rows of removed ids hold NaN."""
    return boxes[i, 0] == boxes[i, 0]


@inline
def passes(categories, masks, i, category, mask):
    """Whether the query's ``category`` and ``mask`` accept box ``i``."""
    # Without a filter the two arrays may be empty: they must not even be read.
    return (category < 0 and mask < 0) or _wanted(categories[i], masks[i], category, mask)


@inline
def _wanted(own_category, own_mask, category, mask):
    if category >= 0 and own_mask & category == 0:
        return False
    return mask < 0 or own_category & mask != 0


@inline
def farthest(value, touching, kind):
    """The largest number of a type that a low edge may be without being beyond a high edge at ``value``.

    So one comparison is enough, whatever the types are and whether touching counts.  The least that a high
    edge may be is ``-farthest(-value)``.
    """
    limit = kind(value)
    if limit > value or (limit == value and not touching):
        return next_down(limit) if limit > -np.inf else kind(np.nan)  # nothing is less than -inf
    return limit


@inline
def gap(low, high, coordinate):
    """The distance from a coordinate to an interval; 0 inside."""
    return max(float(low) - float(coordinate), float(coordinate) - float(high), 0.0)


@inline
def _length(x, y, z):
    """The length of a vector without negative components."""
    largest = max(x, y, z)
    if 1e-140 < largest < 1e140:
        return math.sqrt(x * x + y * y + z * z)
    if largest == 0.0 or largest == np.inf:
        return largest
    x, y, z = x / largest, y / largest, z / largest  # squares would overflow or underflow: scale first
    return largest * math.sqrt(x * x + y * y + z * z)


@inline
def distance_to_box(boxes, i, point):
    """The distance from a point to box ``i``; 0 inside."""
    dim = boxes.shape[1] // 2
    if dim == 2:
        return _length(gap(boxes[i, 0], boxes[i, 2], point[0]), gap(boxes[i, 1], boxes[i, 3], point[1]), 0.0)
    return _length(
        gap(boxes[i, 0], boxes[i, 3], point[0]),
        gap(boxes[i, 1], boxes[i, 4], point[1]),
        gap(boxes[i, 2], boxes[i, 5], point[dim - 1]),
    )


@inline
def _slab(low, high, step):
    """The times between which a coordinate that starts at 0 and moves by ``step`` is in ``low .. high``."""
    if step == 0.0:
        return (-np.inf, np.inf) if low <= 0.0 and high >= 0.0 else (np.inf, -np.inf)
    # No branch: where rays go is not to be foreseen.
    first, last = (high, low) if step < 0.0 else (low, high)
    return first / step, last / step


@inline
def slab_times(boxes, i, ray, axis):
    """When the ray enters and leaves box ``i`` on one axis; ``(inf, -inf)`` if it is never inside.

    On an axis along which the ray does not move, it is inside from -inf to inf or never; a ray that is flush
    with an edge counts as inside here (see `ray_distance` for ``touching=False``).
    """
    dim = boxes.shape[1] // 2
    origin = float(ray[axis])
    return _slab(float(boxes[i, axis]) - origin, float(boxes[i, dim + axis]) - origin, float(ray[dim + axis]))


@inline
def ray_distance(boxes, i, ray, touching):
    """The distance along the ray at which box ``i`` begins: 0 if the ray starts inside, -1.0 if it misses.

    With ``touching`` the box and the segment are closed.  Without it the ray must cross the box: it does not
    hit if it only passes along an edge or a corner, or only starts or ends on one.  A wall without thickness
    that is crossed counts either way, as it does for pairs.
    """
    dim = boxes.shape[1] // 2
    x, y = float(ray[0]), float(ray[1])
    dx, dy, max_distance = float(ray[dim]), float(ray[dim + 1]), float(ray[2 * dim])
    if dim == 2:
        x0, x1 = float(boxes[i, 0]) - x, float(boxes[i, 2]) - x
        y0, y1 = float(boxes[i, 1]) - y, float(boxes[i, 3]) - y
        return _hit_at(x0, x1, dx, y0, y1, dy, -np.inf, np.inf, 0.0, max_distance, touching)
    z, dz = float(ray[dim - 1]), float(ray[dim + 2])
    x0, x1 = float(boxes[i, 0]) - x, float(boxes[i, 3]) - x
    y0, y1 = float(boxes[i, 1]) - y, float(boxes[i, 4]) - y
    z0, z1 = float(boxes[i, 2]) - z, float(boxes[i, 5]) - z
    return _hit_at(x0, x1, dx, y0, y1, dy, z0, z1, dz, max_distance, touching)


@always_inline
def _hit_at(x0, x1, dx, y0, y1, dy, z0, z1, dz, max_distance, touching):
    """`ray_distance` for a box around or ahead of the origin."""
    enter_x, leave_x = _slab(x0, x1, dx)
    enter_y, leave_y = _slab(y0, y1, dy)
    enter_z, leave_z = _slab(z0, z1, dz)
    if not (enter_x <= leave_x and enter_y <= leave_y and enter_z <= leave_z):  # also where the row is NaN
        return -1.0
    tmin = max(enter_x, enter_y, enter_z)
    tmax = min(leave_x, leave_y, leave_z)
    if tmin > tmax or tmin > max_distance or tmax < 0.0 or tmin == np.inf:
        return -1.0
    if not touching:
        if tmax == 0.0 or tmin == max_distance:
            return -1.0
        if _slides(x0, x1, dx) or _slides(y0, y1, dy) or _slides(z0, z1, dz):
            return -1.0
        if tmin == tmax:  # in and out at the same time: a thin wall if one axis does both, else a corner
            entering = (enter_x == tmin) + 2 * (enter_y == tmin) + 4 * (enter_z == tmin)
            leaving = (leave_x == tmax) + 2 * (leave_y == tmax) + 4 * (leave_z == tmax)
            if entering != leaving or entering & (entering - 1) != 0:
                return -1.0
    return tmin if tmin > 0.0 else 0.0


@inline
def _slides(low, high, step):
    """Whether the ray goes along an edge on this axis."""
    return step == 0.0 and (low == 0.0 or high == 0.0)


@inline
def write_normal(boxes, i, ray, distance, normal):
    """Write the unit normal of the face through which the ray enters box ``i`` into ``normal``.

    If it enters through an edge or a corner, the face of the lowest axis.  Zero if the ray starts inside, or
    on the surface without entering through it.
    """
    dim = boxes.shape[1] // 2
    found = False
    for axis in range(dim):
        enter, _ = slab_times(boxes, i, ray, axis)
        # Without branches: through which face a ray enters is not to be foreseen.
        is_entered = (enter == distance) & (not found)
        normal[axis] = (-1.0 if ray[dim + axis] > 0.0 else 1.0) if is_entered else 0.0
        found |= is_entered


@jit
@numbers(values=(2, 3))
def keep_within(boxes, ids, values, radius, touching):
    """Move those of ``ids`` that are within ``radius`` of the point to the front; returns how many."""
    point = few(len(values), np.float64)
    take_point(values, boxes, point)
    kept = 0
    for h in range(ids.shape[0]):
        distance = distance_to_box(boxes, ids[h], point)
        if distance < radius or (touching and distance == radius):
            ids[kept] = ids[h]
            kept += 1
    return kept


@holds_gil
@numbers(values=(2, 3))
def box_around(boxes, values, radius):
    """A box around all that is within a radius, despite rounding: whether both are sound, and the corners.

    In 2-D the third coordinate of a corner is to be left out.
    """
    point = few(3, np.float64)
    point[2] = 0.0
    sound = take_point(values, boxes, point) and radius >= 0.0
    largest = max(max(abs(point[0]), abs(point[1])), abs(point[2]))
    rounding = ROUNDING
    if boxes.dtype.type(ROUNDING) != ROUNDING:  # float32 has fewer digits, and none beyond these
        sound = sound and 1e-30 < radius < 1e30 and largest < 1e30
        rounding = 2.5e-7
    far = radius + (largest + radius) * rounding
    return (
        sound, point[0] - far, point[1] - far, point[2] - far, point[0] + far, point[1] + far, point[2] + far
    )  # fmt: skip


@jit
def boxes_around(centers, radii, dim):
    """Boxes around all that is within the radii, despite rounding; columns after the coordinates stay."""
    columns = centers.shape[1]
    boxes = np.empty((centers.shape[0], columns + dim), np.float64)
    for k in range(centers.shape[0]):
        largest = 0.0
        for axis in range(dim):
            largest = max(largest, abs(centers[k, axis]))
        far = radii[k] + (largest + radii[k]) * ROUNDING
        for axis in range(dim):
            boxes[k, axis], boxes[k, dim + axis] = centers[k, axis] - far, centers[k, axis] + far
        for column in range(dim, columns):
            boxes[k, dim + column] = centers[k, column]
    return boxes


# -----------------------------------------------------------------------------------------------------------
# Results by distance, then id: the k nearest so far, and all hits in order.


@inline
def nearer(distance, i, other_distance, j):
    """Whether box ``i`` at ``distance`` comes before box ``j`` at ``other_distance``."""
    return distance < other_distance or (distance == other_distance and i < j)


@inline
def insert_nearest(ids, distances, i, k, found, other, d):
    """Insert into row ``i``, sorted, of the ``found`` nearest so far, at most ``k``; how many there are then.

    For a few; beyond some ten a heap (`keep_nearest`) is faster.
    """
    place = found
    if found == k:
        # Of equal distances the lower id counts.
        last = distances[i, k - 1]
        if d > last or (d == last and other > ids[i, k - 1]):
            return found
        place = k - 1
    while place > 0:
        before = distances[i, place - 1]
        if before < d or (before == d and ids[i, place - 1] < other):
            break
        ids[i, place], distances[i, place] = ids[i, place - 1], before
        place -= 1
    ids[i, place], distances[i, place] = other, d
    return min(found + 1, k)


@inline
def _sink(distances, ids, place, end, distance, i):
    """Put an entry into the heap's empty place ``place``, or below it: the farthest entry is on top."""
    while 2 * place + 1 < end:
        below = 2 * place + 1
        if below + 1 < end and nearer(distances[below], ids[below], distances[below + 1], ids[below + 1]):
            below += 1
        if not nearer(distance, i, distances[below], ids[below]):
            break
        distances[place] = distances[below]
        ids[place] = ids[below]
        place = below
    distances[place] = distance
    ids[place] = i


@inline
def keep_nearest(distances, ids, kept, distance, i):
    """Offer a box to the ``len(ids)`` nearest so far; returns how many are kept now.

    While ``kept < len(ids)`` every box is taken; afterwards only boxes nearer than ``distances[0]``, the
    farthest.
    """
    if kept == len(ids):
        # The usual case returns at once: see above on branches that join.
        if not nearer(distance, i, distances[0], ids[0]):
            return kept
        _sink(distances, ids, 0, kept, distance, i)
        return kept
    _rise(distances, ids, kept, distance, i)
    return kept + 1


@inline
def _rise(distances, ids, place, distance, i):
    """Put an entry into the heap's empty place ``place``, its end, or above it."""
    while place > 0:
        above = (place - 1) // 2
        if not nearer(distances[above], ids[above], distance, i):
            break
        distances[place] = distances[above]
        ids[place] = ids[above]
        place = above
    distances[place] = distance
    ids[place] = i


@common
def sort_by_distance(distances, ids, count):
    """Heap sort of the first ``count`` entries."""
    for k in range(count // 2 - 1, -1, -1):
        _sink(distances, ids, k, count, distances[k], ids[k])
    for end in range(count - 1, 0, -1):
        distance = distances[end]
        i = ids[end]
        distances[end] = distances[0]
        ids[end] = ids[0]
        _sink(distances, ids, 0, end, distance, i)


@jit
def rank_nearest(boxes, ids, points, distances):
    """Sort every row of ``ids`` by distance from its point; ids of -1 stay at the end, with distance inf."""
    done = np.int64(0)
    for q in range(ids.shape[0]):
        done += ids.shape[1]
        if done > PIECE:
            done = 0
            if not goes_on():
                break
        count = 0
        while count < ids.shape[1] and ids[q, count] >= 0:
            distances[q, count] = distance_to_box(boxes, ids[q, count], points[q])
            count += 1
        sort_by_distance(distances[q], ids[q], count)
        for k in range(count, ids.shape[1]):
            distances[q, k] = np.inf


@jit
def rank_hits(boxes, rows, rays):
    """Sort the rows ``[ray, id]`` of every ray by distance, then id; returns their distances and normals.

    They are known to be hits, so the distance is computed for closed boxes, which gives the same.
    """
    n, dim = rows.shape[0], boxes.shape[1] // 2
    distances, normals, ids = np.empty(n, np.float64), np.empty((n, dim), np.float64), np.empty(n, np.int32)
    ray = few(rays.shape[1], np.float64)
    end = checked = np.int64(0)
    while end < n:
        if end > checked + PIECE:
            checked = end
            if not goes_on():
                break
        first, q = end, np.int64(rows[end, 0])
        set_ray(rays[q], ray)
        while end < n and rows[end, 0] == q:
            ids[end] = rows[end, 1]
            distances[end] = ray_distance(boxes, rows[end, 1], ray, True)
            end += 1
        sort_by_distance(distances[first:end], ids[first:end], end - first)
        for k in range(first, end):
            rows[k, 1] = ids[k]
            write_normal(boxes, ids[k], ray, distances[k], normals[k])
    return distances, normals
