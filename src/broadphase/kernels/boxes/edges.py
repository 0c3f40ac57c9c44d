"""Edges of boxes, brought into the form in which one subtraction decides an overlap.

The fast kernels ask for the sign of ``a.max - b.min``, which is exact in IEEE arithmetic once three
things are out of the way:

- ``-0.0 - 0.0`` is negative though the edges touch: adding 0.0 turns -0.0 into 0.0;
- ``inf - inf`` is NaN: infinite edges become the largest finite number;
- ``touching=False`` asks ``a.min < b.max``.  For floats that is the same as ``a.min <= b.max`` with every
  max moved down to the next float, so that no kernel needs a second comparison.

A box that holds the largest finite number itself must not come here (`is_extreme`).
"""

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from broadphase.kernels.machine.jit import inline


def next_down(value):
    """The next float below a finite ``value`` or ``+inf``."""
    return np.nextafter(value, value.dtype.type(-np.inf))


@overload(next_down)
def _next_down_compiled(value):
    return lambda value: _next_down(value)


@intrinsic
def _next_down(typingctx, value):
    """Through the bits: one step toward zero for positive numbers, away from it for negative ones."""
    bits = {types.float32: 32, types.float64: 64}[value]

    def codegen(context, builder, signature, args):
        integer = ir.IntType(bits)
        raw = builder.bitcast(builder.fadd(args[0], ir.Constant(args[0].type, 0.0)), integer)
        step = builder.select(
            builder.icmp_signed("<", raw, ir.Constant(integer, 0)),
            ir.Constant(integer, 1),
            ir.Constant(integer, -1),
        )
        below_zero = ir.Constant(integer, (1 << (bits - 1)) + 1)
        is_zero = builder.icmp_signed("==", raw, ir.Constant(integer, 0))
        return builder.bitcast(builder.select(is_zero, below_zero, builder.add(raw, step)), args[0].type)

    return value(value), codegen


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
