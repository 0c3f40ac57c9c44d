"""Rays and nearest boxes in sorted columns with gaps (`broadphase.kernels.sorted.gapped`).

Both are asked about the boxes in a window around the ray or the point.  What is found makes the window
smaller: the walk begins where the nearest are to be expected, and ends where the window does.
"""

import numpy as np

from broadphase.kernels.arrays.found_ids import ROOM, finished, result
from broadphase.kernels.boxes.query_tests import (
    distance_to_box,
    passes,
    ray_distance,
    set_array,
    set_ray,
)
from broadphase.kernels.boxes.ranking import keep_nearest, sort_by_distance
from broadphase.kernels.machine.jit import inline, jit, numbers
from broadphase.kernels.machine.scratch import few, many
from broadphase.kernels.machine.simd import bits, count_lanes, lowest_lane
from broadphase.kernels.sorted.gapped import FAN, first_at_least
from broadphase.kernels.sorted.gapped_search import (
    along,
    beside,
    last_block,
    live_boxes,
    next_block,
    query_keys,
)


@inline
def previous_block(reach, blocks, block, low):
    """The last block up to ``block`` with an upper edge of at least ``low``, or -1."""
    while block >= 0:
        skip = 0
        base, nodes, width = 0, blocks, 1
        while reach[base + block // width] < low:
            skip = width
            if nodes == 1 or (block + 1) % (width * FAN) != 0:
                break
            base += nodes
            nodes = (nodes + FAN - 1) // FAN
            width *= FAN
        if skip == 0:
            return block
        block -= skip
    return np.int64(-1)


@inline
def _hits_in(axes, columns, base, block, edges):
    """Bits of the boxes of a block that overlap ``edges``, and how many boxes were compared."""
    slot = block * FAN
    tests = count_lanes(live_boxes(axes, columns, base, slot, edges))
    hits = beside(axes, columns, base, slot, edges) & along(axes, columns, base, np.int64(0), slot, edges)
    return bits(hits), tests


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
def search_nearest(axes, columns, items, reach, a, slots, kinds, rules, boxes, values, k, lowered):
    """The ``k`` nearest boxes by distance, then id; returns ``ids, distances, tests``.

    Outwards from the point on both sides, by turns, until the window ends.
    """
    categories, masks, category, mask = rules
    point = few(len(values), np.float64)
    set_array(values, point)
    base = 2 * len(axes) * a
    blocks = slots // FAN
    window, edges = few(2 * len(axes), np.float64), few(2 * len(axes) + 1, columns.dtype)
    ids, distances = result(k, np.int32), result(k, np.float64)
    kept = 0
    tests = 0
    _around_point(point, 0.0, window)
    query_keys(window, columns, axes[0], True, lowered, edges)
    right = first_at_least(columns, base, np.int64(0), slots, edges[0] + lowered) // FAN
    left = right - 1
    _around_point(point, np.inf, window)
    query_keys(window, columns, axes[0], True, lowered, edges)
    while left >= 0 or right < blocks:
        for side in range(2):
            if side == 0:
                left = previous_block(reach, blocks, left, edges[0])
                block = left
                left -= 1
            else:
                right = next_block(reach, blocks, right, edges[0])
                block = right
                right += 1
                if block < blocks and columns[base, block * FAN] > edges[len(axes)]:
                    right = blocks
                    continue
            if block < 0 or block >= blocks:
                continue
            hits, made = _hits_in(axes, columns, base, block, edges)
            tests += made
            while hits != 0:
                item = items[a, block * FAN + lowest_lane(hits)]
                hits &= hits - 1
                i = item >> kinds
                if item & kinds == 0 and passes(categories, masks, i, category, mask):
                    before = distances[0]
                    kept = keep_nearest(distances, ids, kept, distance_to_box(boxes, i, point), i)
                    if kept == k and distances[0] != before:
                        _around_point(point, distances[0], window)
                        query_keys(window, columns, axes[0], True, lowered, edges)
    sort_by_distance(distances, ids, kept)
    return ids[:kept], distances[:kept], tests


@jit
@numbers(values=(5, 7))
def search_ray(axes, columns, items, reach, a, slots, kinds, rules, boxes, values, modes, begin):
    """Ids of the boxes in the blocks from ``begin`` on that the ray hits; returns ``ids, tests, next``.

    Where the room for ids is full, it stops: ``next`` is the block to go on with, 0 when done.
    """
    categories, masks, category, mask = rules
    touching, lowered = modes
    ray = few(len(values), np.float64)
    set_ray(values, ray)
    base = 2 * len(axes) * a
    blocks = slots // FAN
    window, edges = few(2 * len(axes), np.float64), few(2 * len(axes) + 1, columns.dtype)
    _around_ray(ray, float(ray[2 * len(axes)]), window)
    query_keys(window, columns, axes[0], True, lowered, edges)
    out = many(ROOM, np.int32)
    found = np.int64(0)
    tests = 0
    last = last_block(axes, columns, base, slots, edges)
    block = next_block(reach, blocks, begin, edges[0])
    while block < last:
        if found + FAN > ROOM:
            return finished(out, found), tests, block
        hits, made = _hits_in(axes, columns, base, block, edges)
        tests += made
        while hits != 0:
            item = items[a, block * FAN + lowest_lane(hits)]
            hits &= hits - 1
            i = item >> kinds
            if (
                item & kinds == 0
                and ray_distance(boxes, i, ray, touching) >= 0.0
                and passes(categories, masks, i, category, mask)
            ):
                out[found] = i
                found += 1
        block = next_block(reach, blocks, block + 1, edges[0])
    return finished(out, found), tests, np.int64(0)


@jit
@numbers(values=(5, 7))
def search_first(axes, columns, items, reach, a, slots, kinds, rules, boxes, values, modes):
    """The box that the ray hits first, the lowest id among equals, or -1; returns ``id, tests``.

    Along the ray, so that what is hit first is found early and the window ends there.
    """
    categories, masks, category, mask = rules
    touching, lowered = modes
    ray = few(len(values), np.float64)
    set_ray(values, ray)
    base = 2 * len(axes) * a
    blocks = slots // FAN
    window, edges = few(2 * len(axes), np.float64), few(2 * len(axes) + 1, columns.dtype)
    nearest = float(ray[2 * len(axes)])
    best = np.int64(-1)
    tests = 0
    _around_ray(ray, nearest, window)
    query_keys(window, columns, axes[0], True, lowered, edges)
    backwards = ray[len(axes) + axes[0]] < 0.0
    block = last_block(axes, columns, base, slots, edges) - 1 if backwards else np.int64(0)
    while True:
        if backwards:
            block = previous_block(reach, blocks, block, edges[0])
            if block < 0:
                return best, tests
        else:
            block = next_block(reach, blocks, block, edges[0])
            if block == blocks or columns[base, block * FAN] > edges[len(axes)]:
                return best, tests
        hits, made = _hits_in(axes, columns, base, block, edges)
        tests += made
        while hits != 0:
            item = items[a, block * FAN + lowest_lane(hits)]
            hits &= hits - 1
            i = np.int64(item >> kinds)
            if item & kinds == 0 and passes(categories, masks, i, category, mask):
                distance = ray_distance(boxes, i, ray, touching)
                if distance >= 0.0 and (best < 0 or distance < nearest or (distance == nearest and i < best)):
                    best = i
                    nearest = distance
                    _around_ray(ray, nearest, window)
                    query_keys(window, columns, axes[0], True, lowered, edges)
        block += -1 if backwards else 1
