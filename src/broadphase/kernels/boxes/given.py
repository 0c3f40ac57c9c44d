"""Arguments of a query, read by the kernel that answers it: rounded as the boxes are, and refused if invalid.

A game makes thousands of queries a frame, and checking one in Python costs as much as the search.  The kernel
only refuses it; `broadphase.indexes.arguments` then checks again and raises with a message.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline


@inline
def take_box(values, boxes, query):
    """Write a box into row 0 of ``query``; whether it is a sound one of the dimension of ``boxes``."""
    dim = boxes.shape[1] // 2
    if len(values) != 2 * dim:
        return False
    for column in range(len(values)):
        query[0, column] = boxes.dtype.type(values[column])
    sound = True
    for axis in range(dim):
        sound &= query[0, axis] <= query[0, dim + axis]  # also where one is nan
    return sound


@inline
def take_point(values, boxes, point):
    """Write a point into ``point``; whether it is finite and of the dimension of ``boxes``."""
    if 2 * len(values) != boxes.shape[1]:
        return False
    finite = True
    for axis in range(len(values)):
        point[axis] = boxes.dtype.type(values[axis])
        finite &= abs(point[axis]) < np.inf
    return finite


@inline
def take_ray(origin, direction, furthest, boxes, ray):
    """Write a ray as `query_tests.set_ray` reads it; whether it is a valid ray."""
    dim = len(origin)
    if len(direction) != dim or not take_point(origin, boxes, ray):
        return False
    moves = False
    finite = True
    for axis in range(dim):
        step = float(direction[axis])
        ray[dim + axis] = step
        finite &= abs(step) < np.inf
        moves |= step != 0.0
    ray[2 * dim] = furthest
    return finite and moves and furthest >= 0.0
