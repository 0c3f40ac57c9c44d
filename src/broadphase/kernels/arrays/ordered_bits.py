"""Floats as integers of the same order, so that edges are compared as plain integers.

The bits of an IEEE float, read as an integer, already rise with the value; for negative values they
fall, so all but the sign bit are flipped there.  What that buys:

- infinities and denormals are ordinary integers, and no processor mode flushes them;
- -0.0 becomes +0.0, so equal values have equal keys;
- a key minus one is the next smaller float, so ``a < b`` is ``a <= b - 1``: boxes that may not touch are
  searched by the same code with their upper edges one lower (no key is so low that this wraps round);
- minima and maxima of integers vectorise without fast-math, and radix sort takes them as they are.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.pieces import pieces
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import LANES

PADDING = LANES


def bits_of(floats: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.signedinteger[Any]]:
    """The same memory as int32 (of float32) or int64 (of float64)."""
    return floats.view(np.int32) if floats.dtype == np.float32 else floats.view(np.int64)


@inline
def ordered(bits, top):
    """The key of one float's ``bits``; ``top`` is the place of the sign bit, 31 or 63.

    Turning a key again gives the float's bits back.
    """
    key = bits ^ ((bits >> top) & ~(-1 << top))
    return key + (key == -1)  # -1 is what becomes of -0.0


def ordered_column(bits: npt.NDArray[Any], column: int) -> npt.NDArray[Any]:
    """Keys of one column of ``bits``, the bits of ``(n, 2 * dim)`` boxes."""
    keys = np.empty(len(bits), bits.dtype)
    for begin, end in pieces(len(bits)):
        order_column(bits, column, keys, begin, end)
    return keys


@jit
def order_column(bits, column, keys, begin, end):
    """Write the keys of one column, of the rows ``begin .. end - 1``."""
    top = 8 * bits.itemsize - 1
    for i in range(begin, end):
        keys[i] = ordered(bits[i, column], top)


def ordered_rows(bits: npt.NDArray[Any], touching: bool) -> npt.NDArray[Any]:
    """Keys of all edges, in the layout of ``bits``; upper edges one lower unless ``touching``."""
    keys = np.empty(bits.shape, bits.dtype)
    for begin, end in pieces(len(bits)):
        order_rows(bits, touching, keys, begin, end)
    return keys


@jit
def order_rows(bits, touching, keys, begin, end):
    """Write the keys of all edges of the rows ``begin .. end - 1`` (`ordered_rows`)."""
    dim = bits.shape[1] // 2
    top = 8 * bits.itemsize - 1
    for i in range(begin, end):
        for axis in range(dim):
            keys[i, axis] = ordered(bits[i, axis], top)
            keys[i, dim + axis] = ordered(bits[i, dim + axis], top) - (not touching)


def ordered_columns(
    bits: npt.NDArray[Any], order: npt.NDArray[np.int32], first_axis: int, touching: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Keys of the boxes in the given order, one row an edge, ``(2 * dim, n)``, and ``order`` as ``(1, n)``.

    ``first_axis`` comes first, the others follow in turn; upper edges are one lower unless ``touching``.
    Both have `PADDING` more columns than there are boxes; keys there are larger than every other, so
    that a walk along lower edges ends there.
    """
    columns = np.empty((bits.shape[1], len(order) + PADDING), bits.dtype)
    ids = np.empty((1, len(order) + PADDING), np.int32)
    for begin, end in pieces(len(order)):
        order_columns(bits, order, first_axis, touching, columns, ids, begin, end)
    return columns, ids


@jit
def order_columns(bits, order, first_axis, touching, columns, ids, begin, end):
    """Write the keys of the boxes at ``begin .. end - 1`` of an order, and the order (`ordered_columns`)."""
    n = order.shape[0]
    dim = bits.shape[1] // 2
    top = 8 * bits.itemsize - 1
    for turn in range(dim):
        axis = (first_axis + turn) % dim
        for k in range(begin, end):
            columns[turn, k] = ordered(bits[order[k], axis], top)
            columns[dim + turn, k] = ordered(bits[order[k], dim + axis], top) - (not touching)
    for k in range(begin, end):
        ids[0, k] = order[k]
    if end < n:
        return
    for k in range(n, n + PADDING):
        ids[0, k] = 0
        for row in range(2 * dim):
            columns[row, k] = ~(-1 << top)
