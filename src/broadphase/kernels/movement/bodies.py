"""The columns of a world's bodies that kernels read and mark, and lists of what the broad phase has to learn.

A world has one list for each of its indexes.  A row is in a list once, however often it changes before the
index is read.  A row that is listed without a change costs little and is never wrong, so every change lists
its rows first and writes afterwards.  Both happen in one kernel where a body only moves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import brief, inline, jit

# The bits of `Bodies.listed`: in bit k whether the row is in the list of index k; in the bits from here on
# whether index k is to drop what it knows of the row before it learns more, because that was another body.
REPLACED = 4


class Bodies(NamedTuple):
    """What a movement reads of bodies, and what it marks; by row."""

    sensor: npt.NDArray[np.bool_]
    category: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.uint32]
    touched: npt.NDArray[np.bool_]
    layer: npt.NDArray[np.int8]
    """In which index a body belongs."""
    listed: npt.NDArray[np.uint8]
    changed: npt.NDArray[np.int32]
    """``(indexes, rows)``: the list of each index."""
    counts: npt.NDArray[np.int64]
    """How long each list is, and then all of them together."""


@inline
def _list(bodies, row, layer):
    """Put a row into the list of an index, unless it is there."""
    if not bodies.listed[row] & (1 << layer):
        bodies.changed[layer, bodies.counts[layer]] = row
        bodies.counts[layer] += 1
        bodies.counts[-1] += 1
        bodies.listed[row] |= np.uint8(1 << layer)


@inline
def moved(bodies, row):
    """Mark a body that has moved, or is about to."""
    bodies.touched[row] = True
    _list(bodies, row, np.int64(bodies.layer[row]))


@brief
def put(xs, ys, bodies, row, x, y):
    """Another place for a body."""
    if xs[row] != x or ys[row] != y:
        moved(bodies, row)
        xs[row], ys[row] = x, y


@jit
def put_many(xs, ys, bodies, rows, places):
    """Other places for bodies; a row that comes twice ends at its last place."""
    for k in range(rows.shape[0]):
        row = rows[k]
        if xs[row] != places[k, 0] or ys[row] != places[k, 1]:
            moved(bodies, row)
            xs[row], ys[row] = places[k, 0], places[k, 1]


@jit
def moved_many(bodies, rows):
    """`moved` for many."""
    for k in range(rows.shape[0]):
        moved(bodies, rows[k])


@brief
def list_replaced(bodies, row, layer):
    """List a row in an index that is to drop what it knows of it before it learns more."""
    _list(bodies, row, layer)
    bodies.listed[row] |= np.uint8(1 << (layer + REPLACED))


@jit
def list_many_replaced(bodies, rows, layers):
    """`list_replaced` for many, each with its index."""
    for k in range(rows.shape[0]):
        layer = np.int64(layers[k])
        _list(bodies, rows[k], layer)
        bodies.listed[rows[k]] |= np.uint8(1 << (layer + REPLACED))


@jit
def take_list(bodies, alive, layer, ids, gone, known, fresh):
    """Empty the list of an index, and say what to tell it; ``ids`` are those that rows have in it, or -1.

    The ids that leave it go into ``gone``, the rows that it knows into ``known``, the others into ``fresh``.
    Returns how many each.
    """
    bit, drop = 1 << layer, 1 << (layer + REPLACED)
    kept = np.uint8(0xFF ^ (bit | drop))
    leave = stay = come = 0
    for k in range(bodies.counts[layer]):
        row = bodies.changed[layer, k]
        wanted = alive[row] and bodies.layer[row] == layer
        is_known = ids[row] >= 0
        if is_known and (not wanted or bodies.listed[row] & drop):
            gone[leave] = ids[row]
            leave += 1
            is_known = False
        if wanted and is_known:
            known[stay] = row
            stay += 1
        elif wanted:
            fresh[come] = row
            come += 1
        bodies.listed[row] &= kept
    bodies.counts[-1] -= bodies.counts[layer]
    bodies.counts[layer] = 0
    return leave, stay, come
