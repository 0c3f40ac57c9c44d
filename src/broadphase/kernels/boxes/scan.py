"""Queries by looking at every box: what an index does that has nothing better, and the oracle."""

import numpy as np

from broadphase.kernels.arrays.found_ids import FEW, finished, first_ids, grow_ids, put_row
from broadphase.kernels.boxes.query_tests import (
    as_array,
    as_ray,
    box_meets,
    distance_to_box,
    is_live,
    passes,
    ray_distance,
    set_ray,
)
from broadphase.kernels.boxes.ranking import keep_nearest
from broadphase.kernels.machine.jit import jit, numbers
from broadphase.kernels.machine.scratch import few


@jit
@numbers(values=(4, 6))
def scan_for_box(boxes, n, categories, masks, values, touching, category, mask):
    """Ids of the first ``n`` rows that overlap the box; returns ``ids, tests``."""
    query = as_array(values)
    out = np.empty(FEW, np.int32)
    found = 0
    for i in range(n):
        if box_meets(boxes, i, query, touching) and passes(categories, masks, i, category, mask):
            if found == len(out):
                out = grow_ids(out)
            out[found] = i
            found += 1
    return finished(out, found), n


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
    ray = as_ray(values)
    out = np.empty(FEW, np.int32)
    found = 0
    for i in range(n):
        if ray_distance(boxes, i, ray, touching) >= 0.0 and passes(categories, masks, i, category, mask):
            if found == len(out):
                out = grow_ids(out)
            out[found] = i
            found += 1
    return finished(out, found), n


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
    """The ``k`` nearest boxes in no order; returns ``ids, tests``."""
    point = as_array(values)
    distances = np.empty(k, np.float64)
    ids = np.empty(k, np.int32)
    kept = 0
    for i in range(n):
        if is_live(boxes, i) and passes(categories, masks, i, category, mask):
            kept = keep_nearest(distances, ids, kept, distance_to_box(boxes, i, point), i)
    return first_ids(ids, kept), n
