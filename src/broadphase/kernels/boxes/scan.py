"""Queries by brute force: every box is tested.  The oracle, and the fallback of small indexes."""

import numpy as np

from broadphase.kernels.arrays.found_ids import ROOM, begun, finished, put_row, result
from broadphase.kernels.boxes.query_tests import (
    box_meets,
    distance_to_box,
    is_live,
    passes,
    ray_distance,
    set_array,
    set_ray,
)
from broadphase.kernels.boxes.ranking import keep_nearest, sort_by_distance
from broadphase.kernels.machine.jit import inline, jit, numbers
from broadphase.kernels.machine.scratch import few, many

_FIRST = np.int64(0)  # not a plain 0, for which Numba would compile once more


@jit
@numbers(values=(4, 6))
def scan_for_box(boxes, n, categories, masks, values, touching, category, mask):
    """Ids of the first ``n`` rows that overlap the box; returns ``ids, tests``."""
    query = few(len(values), np.float64)
    set_array(values, query)
    return _scan(boxes, n, categories, masks, query, False, touching, category, mask)


@inline
def _scan(boxes, n, categories, masks, asked, by_ray, touching, category, mask):
    """Ids that a ray hits, or that overlap a box; returns ``ids, tests``."""
    out = many(ROOM, np.int32)
    found = _meet(boxes, _FIRST, n, categories, masks, asked, by_ray, touching, category, mask, out, _FIRST)
    if found <= ROOM:
        return finished(out, found), n
    ids = begun(out, ROOM, found)
    after = out[ROOM - 1] + 1
    _meet(boxes, after, n, categories, masks, asked, by_ray, touching, category, mask, ids, ROOM)
    return ids, n


@inline
def _meet(boxes, begin, end, categories, masks, asked, by_ray, touching, category, mask, out, found):
    """The same for ids ``begin .. end - 1``, in order: as many as there is room for; how many there are."""
    for i in range(begin, end):
        if by_ray:
            meets = ray_distance(boxes, i, asked, touching) >= 0.0
        else:
            meets = box_meets(boxes, i, asked, touching)
        if meets and passes(categories, masks, i, category, mask):
            if found < len(out):
                out[found] = i
            found += 1
    return found


@jit
def scan_for_boxes(boxes, n, categories, masks, queries, begin, out, touching, category, mask):
    """Rows ``[query, id]`` of the queries from ``begin`` on, until ``out`` is full.

    Returns the query to go on with, the rows and the tests.  A query is answered wholly or not at all.
    """
    found = np.int64(0)
    for q in range(begin, queries.shape[0]):
        before = found
        query = queries[q]
        for i in range(n):
            if box_meets(boxes, i, query, touching) and passes(categories, masks, i, category, mask):
                if found < out.shape[0]:
                    put_row(out, found, q, i)
                found += 1
        if found > out.shape[0]:
            return q, before, n * (q - begin)
    return queries.shape[0], found, n * (queries.shape[0] - begin)


@jit
@numbers(values=(5, 7))
def scan_for_ray(boxes, n, categories, masks, values, touching, category, mask):
    """Ids of all boxes that the ray hits; returns ``ids, tests``."""
    ray = few(len(values), np.float64)
    set_ray(values, ray)
    return _scan(boxes, n, categories, masks, ray, True, touching, category, mask)


@jit
@numbers(values=(5, 7))
def scan_for_first(boxes, n, categories, masks, values, touching, category, mask):
    """The box that the ray hits first, the lowest id among equals, or -1; returns ``id, tests``."""
    ray = few(len(values), np.float64)
    set_ray(values, ray)
    best = -1
    nearest = np.inf
    for i in range(n):
        distance = ray_distance(boxes, i, ray, touching)
        if 0.0 <= distance < nearest and passes(categories, masks, i, category, mask):
            best = i
            nearest = distance
    return best, n


@jit
@numbers(values=(2, 3))
def scan_for_nearest(boxes, n, categories, masks, values, k, category, mask):
    """The ``k`` nearest boxes by distance, then id; returns ``ids, distances, tests``."""
    point = few(len(values), np.float64)
    set_array(values, point)
    ids, distances = result(k, np.int32), result(k, np.float64)
    kept = 0
    for i in range(n):
        if is_live(boxes, i) and passes(categories, masks, i, category, mask):
            kept = keep_nearest(distances, ids, kept, distance_to_box(boxes, i, point), i)
    sort_by_distance(distances, ids, kept)
    return ids[:kept], distances[:kept], n
