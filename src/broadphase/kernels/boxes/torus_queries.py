"""Queries in a periodic world: the distance to the nearest image of a box, and what follows from it.

The distance to a box is that to its nearest image.  On each axis the point is looked at where it is, one
period lower and one higher (both rounded as any sum): of a box and a point in the world, no other image is
nearer.

``period`` is float64 here: inf for an axis that goes on.
"""

import numpy as np

from broadphase.kernels.boxes.query_tests import distance_to_box
from broadphase.kernels.boxes.ranking import keep_nearest, sort_by_distance
from broadphase.kernels.boxes.torus import reaches_seam
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.scratch import few


@inline
def _gap(boxes, i, axis, at):
    dim = boxes.shape[1] // 2
    return max(float(boxes[i, axis]) - at, at - float(boxes[i, dim + axis]), 0.0)


@inline
def distance_on_torus(boxes, i, points, q, period, image):
    """From point ``q`` to the nearest image of box ``i``; ``image`` is scratch, a number for each axis."""
    for axis in range(points.shape[1]):
        at = points[q, axis]
        image[axis] = at
        if period[axis] < np.inf:
            gap = _gap(boxes, i, axis, at)
            lower, higher = at - period[axis], at + period[axis]
            if _gap(boxes, i, axis, lower) < gap:
                image[axis] = lower
                gap = _gap(boxes, i, axis, lower)
            if _gap(boxes, i, axis, higher) < gap:
                image[axis] = higher
    return distance_to_box(boxes, i, image)


@jit
def crossing_rows(boxes, period, touching, rows):
    """The rows of boxes in the world that reach over a seam, into ``rows``: how many, and how many ghosts.

    The rows of removed ids hold NaN, which reaches nowhere.
    """
    dim = boxes.shape[1] // 2
    crossed = ghosts = np.int64(0)
    for i in range(boxes.shape[0]):
        pieces = np.int64(1)
        for axis in range(dim):
            if period[axis] < np.inf and reaches_seam(
                boxes[i, axis], boxes[i, dim + axis], period[axis], touching
            ):
                pieces *= 2
        if pieces > 1:
            rows[crossed] = i
            crossed += 1
            ghosts += pieces - 1
    return crossed, ghosts


@jit
def keep_rows_within(boxes, rows, points, radii, period, touching):
    """Of rows ``[query, id]`` those within the radius of their point, in their order; returns how many."""
    image = few(points.shape[1], np.float64)
    kept = 0
    for h in range(rows.shape[0]):
        query = rows[h, 0]
        distance = distance_on_torus(boxes, rows[h, 1], points, query, period, image)
        if distance < radii[query] or (touching and distance == radii[query]):
            rows[kept, 0] = query
            rows[kept, 1] = rows[h, 1]
            kept += 1
    return kept


@jit
def farthest_of(boxes, ids, points, period, radii):
    """Into ``radii``: how far the farthest of each row of ``ids`` is from its point; -1 ends a row."""
    image = few(points.shape[1], np.float64)
    for q in range(ids.shape[0]):
        farthest = 0.0
        for k in range(ids.shape[1]):
            if ids[q, k] < 0:
                break
            farthest = max(farthest, distance_on_torus(boxes, ids[q, k], points, q, period, image))
        radii[q] = farthest


@jit
def nearest_of_rows(boxes, rows, points, period, ids, distances):
    """The nearest of each point among rows ``[query, id]``, sorted by query: into rows of -1 and inf."""
    image = few(points.shape[1], np.float64)
    h = 0
    for q in range(ids.shape[0]):
        kept = 0
        while h < rows.shape[0] and rows[h, 0] == q:
            distance = distance_on_torus(boxes, rows[h, 1], points, q, period, image)
            kept = keep_nearest(distances[q], ids[q], kept, distance, rows[h, 1])
            h += 1
        sort_by_distance(distances[q], ids[q], kept)
