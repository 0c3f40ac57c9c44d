"""A single query in one call: the arguments read as the caller wrote them, the search, the result.

Each kernel takes the query as tuples of numbers and checks it first (`broadphase.kernels.boxes.given`).
Tests of -1 say that it is invalid, or of another dimension, and those of -2 that the tree is too tall for
what a kernel has on the stack.  No rules: these have calls of their own.
"""

import numpy as np

from broadphase.kernels.arrays.found_ids import result
from broadphase.kernels.boxes.given import take_box, take_point, take_ray
from broadphase.kernels.boxes.query_tests import ray_distance, set_ray, write_normal
from broadphase.kernels.boxes.ranking import sort_by_distance
from broadphase.kernels.machine.jit import brief, numbers
from broadphase.kernels.machine.scratch import few, many, one_row, some_rows
from broadphase.kernels.tree.move import move_boxes
from broadphase.kernels.tree.nearest import search_around
from broadphase.kernels.tree.nodes import MOVING, NODE_0, WAITING, WIDTH, stack_room
from broadphase.kernels.tree.query import set_limits
from broadphase.kernels.tree.query_one import search_one
from broadphase.kernels.tree.ray import NO_BOX, first_hit

_NO_RULE = np.int64(-1)

# What has become of a box that was to be moved: nothing, for it is refused; it is where it should be; it has
# its new row, and must be put into another leaf.
REFUSED, STAYS, LEAVES = range(3)


@brief
@numbers(values=(4, 6))
def ask_box(edges, children, boxes, values, touching):
    """Ids that meet a box, sorted if they are few; returns ``ids, tests``."""
    limits = one_row(len(values), edges.dtype)
    if not take_box(values, boxes, limits):
        return result(0, np.int32), np.int64(-1)
    if not touching:
        set_limits(limits[NODE_0], touching, limits, NODE_0)  # as they were rounded
    no_sets = few(0, np.uint32)
    return search_one(edges, children, boxes, no_sets, no_sets, limits, _NO_RULE, _NO_RULE)


@brief
@numbers(origin=(2, 3), direction=(2, 3))
def ask_ray(edges, children, boxes, origin, direction, furthest, touching):
    """What a ray hits first, or -1; returns ``id, tests, distance`` and the three numbers of the normal."""
    values = few(2 * len(origin) + 1, np.float64)
    if not take_ray(origin, direction, furthest, boxes, values):
        return np.int64(-1), np.int64(-1), 0.0, 0.0, 0.0, 0.0
    if stack_room(children) > WAITING:
        return np.int64(-1), np.int64(-2), 0.0, 0.0, 0.0, 0.0
    times, keys = some_rows(2, WIDTH, np.float64), many(WAITING, np.float64)
    nodes = many(WAITING, np.int64)
    ray = few(2 * len(origin) + 1, np.float64)
    set_ray(values, ray)
    no_sets = few(0, np.uint32)
    hit, tests = first_hit(
        edges, children, boxes, no_sets, no_sets, ray, touching, _NO_RULE, _NO_RULE, NO_BOX, nodes, keys,
        times,
    )  # fmt: skip
    if hit < 0:
        return hit, tests, 0.0, 0.0, 0.0, 0.0
    normal = few(3, np.float64)
    normal[2] = 0.0
    distance = ray_distance(boxes, hit, ray, True)
    write_normal(boxes, hit, ray, distance, normal)
    return int(hit), tests, distance, float(normal[0]), float(normal[1]), float(normal[2])


@brief
@numbers(values=(2, 3))
def ask_nearest(edges, children, boxes, values, k):
    """The ``k`` nearest boxes by distance, then id; returns ``ids, distances, tests``."""
    point = few(len(values), np.float64)
    ids, distances = result(k, np.int32), result(k, np.float64)
    if not take_point(values, boxes, point):
        return ids, distances, np.int64(-1)
    if stack_room(children) > WAITING:
        return ids, distances, np.int64(-2)
    squares, keys = many(WIDTH, np.float64), many(WAITING, np.float64)
    nodes = many(WAITING, np.int64)
    no_sets = few(0, np.uint32)
    kept, tests = search_around(
        edges, children, boxes, no_sets, no_sets, point, _NO_RULE, _NO_RULE,
        ids, distances, nodes, keys, squares, np.inf,
    )  # fmt: skip
    sort_by_distance(distances, ids, kept)
    return ids[:kept], distances[:kept], tests


@brief
@numbers(values=(4, 6))
def ask_move(edges, children, links, where, boxes, reach, alive, end, i, values, margin, steps):
    """Give box ``i`` of the moving tree a new row, and the tree what `move_boxes` does."""
    rows = one_row(len(values), boxes.dtype)
    if i < 0 or i >= end or not alive[i] or not take_box(values, boxes, rows):
        return REFUSED
    ids, leaving = few(1, np.int32), few(1, np.int64)
    ids[0] = i
    nodes = (edges, children, links, where)
    left = move_boxes(*nodes, boxes, reach, MOVING, ids, rows, margin, steps, leaving, np.int64(2))
    for column in range(boxes.shape[1]):
        boxes[i, column] = rows[0, column]
    return LEAVES if left > 0 else STAYS
