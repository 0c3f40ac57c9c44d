"""What a query asks of one box: the geometry that every index shares, written once.

All of it is computed in float64, whatever the boxes are.  Every rounded operation is monotone in the
edges of the box, so a box that contains another is never judged farther away, and a tree may prune by
its nodes with the very same functions.

A query reaches a kernel as a small tuple of floats and is laid out here as a float64 array:

- a box ``[min..., max...]``;
- a point ``[coordinate...]``;
- a ray ``[origin..., unit direction..., max_distance]``.

``category`` and ``mask`` are 32-bit sets as plain integers; -1 means that the caller set no rule.
"""

import math

import numpy as np

from broadphase.kernels.found_ids import first_ids, first_rows
from broadphase.kernels.jit import inline, jit


@inline
def as_array(values):
    """A tuple of floats, or a row, as a float64 array."""
    array = np.empty(len(values), np.float64)
    for k in range(len(values)):
        array[k] = values[k]
    return array


@inline
def as_ray(values):
    """``[origin..., direction..., max_distance]`` with the direction made one long.

    Divided by the largest component first: neither 1e200 nor 1e-200 may overflow or vanish.
    """
    ray = as_array(values)
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
    return ray


@inline
def is_live(boxes, i):
    """Whether row ``i`` holds a box: the rows of removed ids hold NaN."""
    return boxes[i, 0] == boxes[i, 0]


@inline
def passes(categories, masks, i, category, mask):
    """Whether the query's ``category`` and ``mask`` let box ``i`` count."""
    if category >= 0 and masks[i] & category == 0:
        return False
    return mask < 0 or categories[i] & mask != 0


@inline
def box_meets(boxes, i, query, touching):
    """Whether box ``i`` overlaps the box ``query``; a row of NaN overlaps nothing."""
    dim = boxes.shape[1] // 2
    together = True
    if touching:
        for axis in range(dim):
            together &= (boxes[i, axis] <= query[dim + axis]) & (query[axis] <= boxes[i, dim + axis])
    else:
        for axis in range(dim):
            together &= (boxes[i, axis] < query[dim + axis]) & (query[axis] < boxes[i, dim + axis])
    return together


@inline
def distance_to_box(boxes, i, point):
    """From a point to the nearest place of box ``i``; 0 inside."""
    dim = boxes.shape[1] // 2
    largest = 0.0
    total = 0.0
    for axis in range(dim):
        at = float(point[axis])
        gap = max(float(boxes[i, axis]) - at, at - float(boxes[i, dim + axis]), 0.0)
        largest = max(largest, gap)
        total += gap * gap
    if 1e-140 < largest < 1e140:
        return math.sqrt(total)
    if largest == 0.0 or largest == np.inf:
        return largest
    total = 0.0  # squares would overflow or vanish: scale first
    for axis in range(dim):
        at = float(point[axis])
        gap = max(float(boxes[i, axis]) - at, at - float(boxes[i, dim + axis]), 0.0)
        total += (gap / largest) * (gap / largest)
    return largest * math.sqrt(total)


@inline
def certainly_beyond(node_distance, limit):
    """Whether nothing inside a node can be as near as ``limit``.

    `distance_to_box` may round a node's distance past that of a box inside it by a few units in the last
    place, where it scales: prune with this and not with ``>``.
    """
    return node_distance * (1.0 - 1e-14) > limit


@inline
def slab_times(boxes, i, ray, axis):
    """When the ray enters and leaves box ``i`` on one axis; ``(inf, -inf)`` where it never is inside.

    On an axis along which the ray does not move, it is inside from -inf to inf or not at all; flush with
    an edge counts as inside here (see `ray_distance` for ``touching=False``).
    """
    dim = boxes.shape[1] // 2
    low = float(boxes[i, axis]) - float(ray[axis])
    high = float(boxes[i, dim + axis]) - float(ray[axis])
    step = float(ray[dim + axis])
    if step > 0.0:
        return low / step, high / step
    if step < 0.0:
        return high / step, low / step
    if low <= 0.0 and high >= 0.0:
        return -np.inf, np.inf
    return np.inf, -np.inf


@inline
def ray_distance(boxes, i, ray, touching):
    """How far along the ray box ``i`` begins: 0 when it starts inside, -1.0 when it misses.

    With ``touching`` the closed box counts, and the closed segment.  Without, the ray must cross the box:
    not pass along an edge or a corner, nor end or start on it and go away.  A wall of no thickness that
    is crossed counts either way, as it does for pairs.
    """
    dim = boxes.shape[1] // 2
    near = -np.inf
    far = np.inf
    for axis in range(dim):
        enter, leave = slab_times(boxes, i, ray, axis)
        if not enter <= leave:  # also where the row is NaN
            return -1.0
        near = max(near, enter)
        far = min(far, leave)
    furthest = float(ray[2 * dim])
    if near > far or near > furthest or far < 0.0 or near == np.inf:
        return -1.0
    if not touching and (far == 0.0 or near == furthest or not _crosses(boxes, i, ray, near, far)):
        return -1.0
    return near if near > 0.0 else 0.0


@inline
def _crosses(boxes, i, ray, near, far):
    """Whether a ray with ``near <= far`` passes through the box, and not only along its surface."""
    dim = boxes.shape[1] // 2
    entering = leaving = -1
    for axis in range(dim):
        if float(ray[dim + axis]) == 0.0:
            if boxes[i, axis] == ray[axis] or boxes[i, dim + axis] == ray[axis]:
                return False
        elif near == far:  # in and out at once: a thin wall if one axis does both, else a corner
            enter, leave = slab_times(boxes, i, ray, axis)
            if enter == near:
                if entering >= 0:
                    return False
                entering = axis
            if leave == far:
                if leaving >= 0:
                    return False
                leaving = axis
    return entering == leaving


@inline
def ray_reaches(boxes, i, ray, furthest):
    """Whether a node of a tree may hold a box that the ray hits within ``furthest``."""
    near = 0.0
    far = furthest
    for axis in range(boxes.shape[1] // 2):
        enter, leave = slab_times(boxes, i, ray, axis)
        near = max(near, enter)
        far = min(far, leave)
    return near <= far


@inline
def write_normal(boxes, i, ray, distance, normal):
    """Into ``normal``: the unit vector of the face through which the ray enters box ``i``.

    Through an edge or a corner, the face of the lowest axis.  Zero where the ray starts inside, or on the
    surface without entering through it.
    """
    dim = boxes.shape[1] // 2
    found = False
    for axis in range(dim):
        normal[axis] = 0.0
        if not found:
            enter, _ = slab_times(boxes, i, ray, axis)
            if enter == distance:
                normal[axis] = -1.0 if ray[dim + axis] > 0.0 else 1.0
                found = True


@jit
def keep_within(boxes, ids, values, radius, touching):
    """Those of ``ids`` that lie within ``radius`` of the point, in their order."""
    point = as_array(values)
    kept = 0
    for h in range(ids.shape[0]):
        distance = distance_to_box(boxes, ids[h], point)
        if distance < radius or (touching and distance == radius):
            ids[kept] = ids[h]
            kept += 1
    return first_ids(ids, kept)


@jit
def keep_rows_within(boxes, rows, points, radii, touching):
    """The same for rows ``[query, id]`` of a batch."""
    kept = 0
    for h in range(rows.shape[0]):
        query = rows[h, 0]
        distance = distance_to_box(boxes, rows[h, 1], points[query])
        if distance < radii[query] or (touching and distance == radii[query]):
            rows[kept, 0] = query
            rows[kept, 1] = rows[h, 1]
            kept += 1
    return first_rows(rows, kept)
