"""Rays and nearest boxes, asked of boxes in the order of one axis (`broadphase.kernels.sorted.insertion`).

Both are asked about the boxes in a window around the ray or the point.  What is found makes the window
smaller: the walk begins where the nearest are to be expected, and ends where the window does.
``order`` and ``rules`` are as in `broadphase.kernels.sorted.search`.
"""

import numpy as np

from broadphase.kernels.arrays.results import ROOM, finished, result
from broadphase.kernels.boxes.queries import (
    distance_to_box,
    keep_nearest,
    passes,
    ray_distance,
    set_array,
    set_ray,
    sort_by_distance,
)
from broadphase.kernels.machine.jit import inline, jit, numbers
from broadphase.kernels.machine.scratch import few, many
from broadphase.kernels.machine.simd import LANES, lowest_lane
from broadphase.kernels.sorted.insertion import next_block, previous_block
from broadphase.kernels.sorted.search import blocks_before, boxes_in, overlapping, query_keys


@inline
def _around_point(point, radius, window):
    """A box that certainly holds whatever is judged to lie within the radius."""
    dim = point.shape[0]
    for axis in range(dim):
        at = float(point[axis])
        far = radius + (abs(at) + radius) * 4e-15
        window[axis] = at - far
        window[dim + axis] = at + far


@inline
def _around_ray(ray, furthest, window):
    """A box that certainly holds some of whatever the ray is judged to hit within ``furthest``."""
    dim = window.shape[0] // 2
    for axis in range(dim):
        at, step = float(ray[axis]), float(ray[dim + axis])
        way = step * furthest if step != 0.0 else 0.0
        slack = (abs(at) + abs(way)) * 4e-15 + 1e-290
        window[axis] = at + min(way, 0.0) - slack
        window[dim + axis] = at + max(way, 0.0) + slack
        if way == np.inf:
            window[axis] = at - abs(at) * 4e-15 - 1e-290
        if way == -np.inf:
            window[dim + axis] = at + abs(at) * 4e-15 + 1e-290


@jit
@numbers(values=(2, 3))
def search_nearest(order, rules, boxes, values, k, lowered):
    """The ``k`` nearest boxes by distance, then id; returns ``ids, distances, tests``.

    Outwards from the point on both sides, by turns, until the window ends.
    """
    columns, ids, maxima, first_axis = order
    categories, masks, category, mask = rules
    point = few(len(values), np.float64)
    set_array(values, point)
    dim = len(values)
    blocks = maxima.shape[0] // 2
    window, edges = few(2 * dim, np.float64), few(2 * dim, columns.dtype)
    kept_ids, distances = result(k, np.int32), result(k, np.float64)
    kept = 0
    tests = 0
    _around_point(point, 0.0, window)
    query_keys(window, first_axis, True, lowered, edges)
    right = blocks_before(columns, edges[dim])
    left = right - 1
    _around_point(point, np.inf, window)
    query_keys(window, first_axis, True, lowered, edges)
    while left >= 0 or right < blocks:
        for side in range(2):
            if side == 0:
                left = previous_block(maxima, left, edges[0])
                block = left
                left -= 1
            else:
                right = next_block(maxima, right, edges[0])
                block = right
                right += 1
                if block < blocks and columns[0, block * LANES] > edges[dim]:
                    right = blocks
                    continue
            if block < 0 or block >= blocks:
                continue
            hits = overlapping(columns, block * LANES, edges)
            tests += boxes_in(columns, block)
            while hits != 0:
                i = ids[0, block * LANES + lowest_lane(hits)]
                hits &= hits - 1
                if passes(categories, masks, i, category, mask):
                    before = distances[0]
                    kept = keep_nearest(distances, kept_ids, kept, distance_to_box(boxes, i, point), i)
                    if kept == k and distances[0] != before:
                        _around_point(point, distances[0], window)
                        query_keys(window, first_axis, True, lowered, edges)
    sort_by_distance(distances, kept_ids, kept)
    return kept_ids[:kept], distances[:kept], tests


@jit
@numbers(values=(5, 7))
def search_ray(order, rules, boxes, values, touching, lowered, begin):
    """Ids of the boxes in the blocks from ``begin`` on that the ray hits; returns ``ids, tests, next``.

    Where the room for ids is full, it stops: ``next`` is the block to go on with, -1 when done.
    """
    columns, ids, maxima, first_axis = order
    categories, masks, category, mask = rules
    ray = few(len(values), np.float64)
    set_ray(values, ray)
    dim = len(values) // 2
    window, edges = few(2 * dim, np.float64), few(2 * dim, columns.dtype)
    _around_ray(ray, float(ray[2 * dim]), window)
    query_keys(window, first_axis, True, lowered, edges)
    out = many(ROOM, np.int32)
    found = np.int64(0)
    tests = 0
    last = blocks_before(columns, edges[dim])
    block = next_block(maxima, begin, edges[0])
    while block < last:
        if found + LANES > ROOM:
            return finished(out, found), tests, block
        hits = overlapping(columns, block * LANES, edges)
        tests += boxes_in(columns, block)
        while hits != 0:
            i = ids[0, block * LANES + lowest_lane(hits)]
            hits &= hits - 1
            hit = ray_distance(boxes, i, ray, touching) >= 0.0
            if hit and passes(categories, masks, i, category, mask):
                out[found] = i
                found += 1
        block = next_block(maxima, block + 1, edges[0])
    return finished(out, found), tests, np.int64(-1)


@jit
@numbers(values=(5, 7))
def search_first(order, rules, boxes, values, touching, lowered):
    """The box that the ray hits first, the lowest id among equals, or -1; returns ``id, tests``.

    Along the ray, so that what is hit first is found early and the window ends there.
    """
    columns, ids, maxima, first_axis = order
    categories, masks, category, mask = rules
    ray = few(len(values), np.float64)
    set_ray(values, ray)
    dim = len(values) // 2
    blocks = maxima.shape[0] // 2
    window, edges = few(2 * dim, np.float64), few(2 * dim, columns.dtype)
    nearest = float(ray[2 * dim])
    best = np.int64(-1)
    tests = 0
    _around_ray(ray, nearest, window)
    query_keys(window, first_axis, True, lowered, edges)
    backwards = ray[dim + first_axis] < 0.0
    block = blocks_before(columns, edges[dim]) - 1 if backwards else np.int64(0)
    while True:
        if backwards:
            block = previous_block(maxima, block, edges[0])
            if block < 0:
                return best, tests
        else:
            block = next_block(maxima, block, edges[0])
            if block == blocks or columns[0, block * LANES] > edges[dim]:
                return best, tests
        hits = overlapping(columns, block * LANES, edges)
        tests += boxes_in(columns, block)
        while hits != 0:
            i = np.int64(ids[0, block * LANES + lowest_lane(hits)])
            hits &= hits - 1
            if passes(categories, masks, i, category, mask):
                distance = ray_distance(boxes, i, ray, touching)
                if distance >= 0.0 and (best < 0 or distance < nearest or (distance == nearest and i < best)):
                    best = i
                    nearest = distance
                    _around_ray(ray, nearest, window)
                    query_keys(window, first_axis, True, lowered, edges)
        block += -1 if backwards else 1
