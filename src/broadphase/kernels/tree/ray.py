"""Rays through the dynamic tree: nearer nodes first, and none that begins behind the first hit."""

import numpy as np

from broadphase.kernels.arrays.found_ids import put_row
from broadphase.kernels.boxes.query_tests import passes, ray_distance, set_ray
from broadphase.kernels.machine.jit import common, jit, numbers
from broadphase.kernels.machine.scratch import few, many, some_rows
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane
from broadphase.kernels.tree.nodes import WAITING, WIDTH, child_of, push_roots, stack_by_key, stack_room

# Rows of the times at which a ray is in the slots of a node.
_NEAR, _FAR = 0, 1
NO_BOX = np.int64(-1)


@common
def _slots_hit(edges, node, dim, ray, times):
    """Which slots of a node the ray meets within its length, as bits, and in ``times`` when.

    The operations are those of `query_tests.slab_times`, so that no rounding prunes a hit.
    """
    furthest = ray[2 * dim]
    near = times[_NEAR]
    far = times[_FAR]
    for k in range(WIDTH):
        near[k] = 0.0
        far[k] = furthest
    for axis in range(dim):
        at = ray[axis]
        step = ray[dim + axis]
        first = edges[(2 * node) * dim + axis]
        last = edges[(2 * node + 1) * dim + axis]
        if step < 0.0:
            first, last = last, first
        if step == 0.0:
            for k in range(WIDTH):
                if not (first[k] <= at and at <= last[k]):
                    far[k] = -1.0
        else:
            for k in range(WIDTH):
                enter = (float(first[k]) - at) / step
                leave = (float(last[k]) - at) / step
                # In this form nan, from an unused slot, stays.
                near[k] = near[k] if near[k] >= enter else enter
                far[k] = far[k] if far[k] <= leave else leave
    hit = np.int64(0)
    for lane in range(0, WIDTH, LANES):
        hit |= bits(load(times, _NEAR, lane) <= load(times, _FAR, lane)) << lane
    return hit


@common
def first_hit(
    edges, children, boxes, categories, masks, ray, touching, category, mask, ignored, nodes, keys, times
):
    """The box but ``ignored`` that the ray hits first, the lowest id among equals, or -1; and the tests."""
    dim = boxes.shape[1] // 2
    best = np.int64(-1)
    nearest = np.inf
    tests = np.int64(0)
    left = push_roots(children, nodes, keys)
    while left > 0:
        left -= 1
        if keys[left] > nearest:
            continue
        node = nodes[left] >> 6
        level = nodes[left] & 63
        hit = _slots_hit(edges, node, dim, ray, times)
        tests += WIDTH
        begin = left
        while hit != 0:
            k = lowest_lane(hit)
            hit &= hit - 1
            near = times[_NEAR, k]
            if near > nearest:
                continue
            child = child_of(children, node, k)
            if level > 0:
                left = stack_by_key(nodes, keys, left, begin, child, level, near)
            elif child != ignored and passes(categories, masks, child, category, mask):
                tests += 1
                distance = ray_distance(boxes, child, ray, touching)
                if distance >= 0.0 and (distance < nearest or (distance == nearest and child < best)):
                    best = child
                    nearest = distance
    return best, tests


@jit
@numbers(values=(5, 7))
def search_first(edges, children, boxes, categories, masks, values, touching, category, mask):
    """The box that the ray hits first, the lowest id among equals, or -1; returns ``id, tests``.

    Tests of -2 where the tree is too tall for what a kernel has on the stack.
    """
    if stack_room(children) > WAITING:
        return np.int64(-1), np.int64(-2)
    times, keys = some_rows(2, WIDTH, np.float64), many(WAITING, np.float64)
    nodes = many(WAITING, np.int64)
    ray = few(len(values), np.float64)
    set_ray(values, ray)
    return first_hit(
        edges, children, boxes, categories, masks, ray, touching, category, mask, NO_BOX, nodes, keys, times
    )


@jit
def search_firsts(
    edges, children, boxes, categories, masks, rays, first, last, touching, category, mask, ignored, scratch,
    out,
):  # fmt: skip
    """The same for the rays ``first .. last - 1``, into ``out``; returns the tests.

    ``ignored``: a box for each ray that it passes through, or -1; or none at all.
    ``scratch``: nodes and keys of `stack_room`, two rows of `WIDTH` times, and one ray.
    """
    nodes, keys, times, ray = scratch
    tests = np.int64(0)
    for q in range(first, last):
        set_ray(rays[q], ray)
        own = np.int64(ignored[q]) if ignored.shape[0] > 0 else NO_BOX
        out[q], made = first_hit(
            edges, children, boxes, categories, masks, ray, touching, category, mask, own, nodes, keys, times
        )
        tests += made
    return tests


@jit
def search_rays(
    edges, children, boxes, categories, masks, rays, begin, touching, category, mask, scratch, out
):
    """Rows ``[ray, id]`` of all boxes that the rays from ``begin`` on hit, until ``out`` is full.

    Returns the ray to go on with, the rows and the tests.  A ray is answered wholly or not at all.
    ``scratch`` as above.
    """
    nodes, keys, times, ray = scratch
    dim = boxes.shape[1] // 2
    found = tests = np.int64(0)
    for q in range(begin, rays.shape[0]):
        set_ray(rays[q], ray)
        before, before_tests = found, tests
        left = push_roots(children, nodes, keys)
        while left > 0:
            left -= 1
            node = nodes[left] >> 6
            level = nodes[left] & 63
            hit = _slots_hit(edges, node, dim, ray, times)
            tests += WIDTH
            while hit != 0:
                child = child_of(children, node, lowest_lane(hit))
                hit &= hit - 1
                if level > 0:
                    nodes[left] = (child << 6) | (level - 1)
                    left += 1
                elif passes(categories, masks, child, category, mask):
                    tests += 1
                    if ray_distance(boxes, child, ray, touching) >= 0.0:
                        if found < out.shape[0]:
                            put_row(out, found, q, child)
                        found += 1
        if found > out.shape[0]:
            return q, before, before_tests
    return rays.shape[0], found, tests
