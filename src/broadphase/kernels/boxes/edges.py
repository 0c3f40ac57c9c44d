"""Edges of boxes, brought into the form in which one subtraction decides an overlap.

The fast kernels take the sign of ``a.max - b.min``, which is exact in IEEE arithmetic once three
things are out of the way:

- ``-0.0 - 0.0`` is negative though the edges touch: adding 0.0 turns -0.0 into 0.0;
- ``inf - inf`` is NaN: infinite edges become the largest finite number;
- ``touching=False`` means ``a.min < b.max``.  For floats that is the same as ``a.min <= b.max`` with every
  max moved down to the next float, so that no kernel needs a second comparison.

A box that holds the largest finite number itself must not come here (`is_extreme`).
"""

import numpy as np

from broadphase.kernels.machine.floats import next_down
from broadphase.kernels.machine.jit import inline


@inline
def low_edge(value, smallest, largest, zero):
    """A box's min, comparable by subtraction."""
    return min(max(value, smallest), largest) + zero


@inline
def high_edge(value, touching, smallest, largest, zero):
    """A box's max, comparable by subtraction."""
    if touching:
        return min(max(value, smallest), largest) + zero
    return max(next_down(value), smallest)


@inline
def overlaps_nothing(boxes, i):
    """Whether a box lies at infinity, where nothing overlaps it unless touching counts."""
    dim = boxes.shape[1] // 2
    nothing = False
    for axis in range(dim):
        nothing |= (boxes[i, axis] == np.inf) | (boxes[i, dim + axis] == -np.inf)
    return nothing


@inline
def is_extreme(boxes, i):
    """Whether a box holds the largest finite number, with which subtraction cannot deal."""
    largest = np.finfo(boxes.dtype).max
    extreme = False
    for column in range(boxes.shape[1]):
        extreme |= abs(boxes[i, column]) == largest
    return extreme
