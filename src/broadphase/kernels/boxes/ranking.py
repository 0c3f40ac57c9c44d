"""Results by distance, then id: the k nearest so far, and all hits in order."""

import numpy as np

from broadphase.kernels.boxes.query_tests import (
    distance_to_box,
    ray_distance,
    set_array,
    set_ray,
    write_normal,
)
from broadphase.kernels.machine.jit import common, inline, jit, numbers
from broadphase.kernels.machine.scratch import few


@inline
def nearer(distance, i, other_distance, j):
    """Whether box ``i`` at ``distance`` comes before box ``j`` at ``other_distance``."""
    return distance < other_distance or (distance == other_distance and i < j)


@inline
def _sink(distances, ids, at, end, distance, i):
    """Put an entry into the heap's hole at ``at``, or below it: the farthest is on top."""
    while 2 * at + 1 < end:
        below = 2 * at + 1
        if below + 1 < end and nearer(distances[below], ids[below], distances[below + 1], ids[below + 1]):
            below += 1
        if not nearer(distance, i, distances[below], ids[below]):
            break
        distances[at] = distances[below]
        ids[at] = ids[below]
        at = below
    distances[at] = distance
    ids[at] = i


@inline
def keep_nearest(distances, ids, kept, distance, i):
    """Offer a box to the ``len(ids)`` nearest so far; returns how many are kept now.

    While ``kept < len(ids)`` everything is taken; afterwards ``distances[0]`` is the farthest, which has to
    be beaten.
    """
    if kept == len(ids):
        # The usual case returns at once: see `query_tests` on branches that meet again.
        if not nearer(distance, i, distances[0], ids[0]):
            return kept
        _sink(distances, ids, 0, kept, distance, i)
        return kept
    _rise(distances, ids, kept, distance, i)
    return kept + 1


@inline
def _rise(distances, ids, at, distance, i):
    """Put an entry into the heap's hole at ``at``, its end, or above it."""
    while at > 0:
        above = (at - 1) // 2
        if not nearer(distances[above], ids[above], distance, i):
            break
        distances[at] = distances[above]
        ids[at] = ids[above]
        at = above
    distances[at] = distance
    ids[at] = i


@common
def sort_by_distance(distances, ids, count):
    """Heap sort of the first ``count`` entries."""
    for at in range(count // 2 - 1, -1, -1):
        _sink(distances, ids, at, count, distances[at], ids[at])
    for end in range(count - 1, 0, -1):
        distance = distances[end]
        i = ids[end]
        distances[end] = distances[0]
        ids[end] = ids[0]
        _sink(distances, ids, 0, end, distance, i)


@jit
def rank_nearest(boxes, ids, points, distances):
    """Sort every row of ``ids`` by distance from its point; ids of -1 stay behind, at inf."""
    for q in range(ids.shape[0]):
        count = 0
        while count < ids.shape[1] and ids[q, count] >= 0:
            distances[q, count] = distance_to_box(boxes, ids[q, count], points[q])
            count += 1
        sort_by_distance(distances[q], ids[q], count)
        for k in range(count, ids.shape[1]):
            distances[q, k] = np.inf


@jit
@numbers(values=(2, 3))
def rank_nearest_one(boxes, ids, values, distances):
    """Sort ``ids`` by distance from the point; the distances, too, are written."""
    point = few(len(values), np.float64)
    set_array(values, point)
    for k in range(ids.shape[0]):
        distances[k] = distance_to_box(boxes, ids[k], point)
    sort_by_distance(distances, ids, ids.shape[0])


@jit
def rank_hits(boxes, ids, ends, rays, ray, distances, normals):
    """Sort the hits of every ray by distance and describe them; ray ``q`` owns ``ids[ends[q]:ends[q + 1]]``.

    They are known to be hits, so closed boxes do for the distance, which is the same.  ``ray`` is scratch, as
    long as a row of ``rays``.
    """
    for q in range(rays.shape[0]):
        set_ray(rays[q], ray)
        own_ids = ids[ends[q] : ends[q + 1]]
        own_distances = distances[ends[q] : ends[q + 1]]
        for h in range(own_ids.shape[0]):
            own_distances[h] = ray_distance(boxes, own_ids[h], ray, True)
        sort_by_distance(own_distances, own_ids, own_ids.shape[0])
        for h in range(own_ids.shape[0]):
            write_normal(boxes, own_ids[h], ray, own_distances[h], normals[ends[q] + h])


@jit
def describe_firsts(boxes, ids, rays, ray, distances, normals):
    """Distance and normal of every ray's first hit; nothing where the id is -1; ``ray`` as above."""
    for q in range(ids.shape[0]):
        if ids[q] >= 0:
            set_ray(rays[q], ray)
            distances[q] = ray_distance(boxes, ids[q], ray, True)
            write_normal(boxes, ids[q], ray, distances[q], normals[q])


@jit
@numbers(values=(5, 7))
def describe_first(boxes, i, values):
    """Distance and normal of one hit, the normal padded to three axes."""
    ray, normal = few(len(values), np.float64), few(3, np.float64)
    set_ray(values, ray)
    normal[2] = 0.0
    distance = ray_distance(boxes, i, ray, True)
    write_normal(boxes, i, ray, distance, normal)
    return distance, normal[0], normal[1], normal[2]
