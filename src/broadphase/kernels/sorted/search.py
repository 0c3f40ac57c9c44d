"""Boxes that overlap a box, asked of boxes in the order of one axis (`broadphase.kernels.sorted.insertion`).

On the sorted axis, the boxes that begin before the query ends are those up to a place that binary search
finds.  Among these, the tree of maxima leaves out what ends before the query begins.  So the cost is that of
the boxes that overlap on the sorted axis, and a logarithm.

What is asked of a kernel comes as ``order``: the columns, the ids, the tree of maxima and the sorted axis;
and ``rules``: categories and masks by id, then category and mask of the query.
"""

import numpy as np

from broadphase.kernels.arrays.results import ROOM, finished, put_row
from broadphase.kernels.arrays.sorting import ordered
from broadphase.kernels.boxes.queries import passes, set_array
from broadphase.kernels.machine.jit import inline, jit, numbers
from broadphase.kernels.machine.scratch import few, many
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, splat
from broadphase.kernels.sorted.insertion import first_above, next_block

_FIRST = np.int64(0)  # not a plain 0, for which Numba would compile once more
_LARGEST_SINGLE = 3.4028234663852886e38


@inline
def low_key(value, single, touching, lowered):
    """The least key of an upper edge that reaches a query's lower edge ``value``, a float64.

    ``single``: the columns hold float32, whose nearest number may lie on either side of ``value``.
    ``lowered``: their upper edges are one lower.
    """
    near, key = _nearest_key(value, single)
    return key + (not (near > value or (touching and near == value))) - lowered


@inline
def high_key(value, single, touching):
    """The greatest key of a lower edge that a query's upper edge ``value`` reaches."""
    near, key = _nearest_key(value, single)
    return key - (not (near < value or (touching and near == value)))


@inline
def _nearest_key(value, single):
    """The nearest number that the columns can hold, and its key."""
    if not single:
        double = np.float64(value)
        return value, np.int64(ordered(double.view(np.int64), 63))
    if abs(value) > _LARGEST_SINGLE:
        value = np.inf if value > 0.0 else -np.inf
    near = np.float32(value)
    return float(near), np.int64(ordered(near.view(np.int32), 31))


@inline
def query_keys(query, first_axis, touching, lowered, edges):
    """Write the keys to compare with, the axes in turn from ``first_axis``: lower edges, then upper ones."""
    dim = edges.shape[0] // 2
    single = edges.itemsize == 4
    for turn in range(dim):
        axis = (first_axis + turn) % dim
        edges[turn] = low_key(float(query[axis]), single, touching, lowered)
        edges[dim + turn] = high_key(float(query[dim + axis]), single, touching)


@inline
def overlapping(columns, at, edges):
    """Which of the `LANES` boxes from column ``at`` overlap ``edges``, as bits."""
    dim = columns.shape[0] // 2
    hits = load(columns, 0, at) <= splat(edges[dim])
    hits = hits & (splat(edges[0]) <= load(columns, dim, at))
    hits = hits & (load(columns, 1, at) <= splat(edges[dim + 1]))
    hits = hits & (splat(edges[1]) <= load(columns, dim + 1, at))
    if dim == 3:
        hits = hits & (load(columns, 2, at) <= splat(edges[5]))
        hits = hits & (splat(edges[2]) <= load(columns, 5, at))
    return bits(hits)


@inline
def blocks_before(columns, key):
    """The boxes that begin at ``key`` or before lie in the blocks before this one."""
    return (first_above(columns, key) + LANES - 1) // LANES


@inline
def boxes_in(columns, block):
    """How many boxes there are in a block."""
    return min(LANES, columns.shape[1] - LANES - block * LANES)


@inline
def _collect(order, rules, edges, block, query, out, found):
    """Write rows ``[query, id]``, or ids where ``out`` has no columns, from ``block`` on until it is full.

    Returns the block that is next, -1 where all are done, how many rows there are, and the tests.
    """
    columns, ids, maxima, _ = order
    categories, masks, category, mask = rules
    last = blocks_before(columns, edges[columns.shape[0] // 2])
    tests = 0
    block = next_block(maxima, block, edges[0])
    while block < last:
        if found + LANES > out.shape[0]:
            return block, found, tests
        hits = overlapping(columns, block * LANES, edges)
        tests += boxes_in(columns, block)
        while hits != 0:
            i = ids[0, block * LANES + lowest_lane(hits)]
            hits &= hits - 1
            if passes(categories, masks, i, category, mask):
                if out.ndim == 1:
                    out[found] = i
                else:
                    put_row(out, found, query, i)
                found += 1
        block = next_block(maxima, block + 1, edges[0])
    return np.int64(-1), found, tests


@jit
def search_boxes(order, rules, queries, begin, edges, out, touching, lowered):
    """Rows ``[query, id]`` of the queries from ``begin`` on, until ``out`` is full.

    Returns the query to go on with, the rows and the tests.  A query is answered wholly or not at all.
    ``touching`` is the query's rule; ``lowered`` says whether upper edges in the columns are lowered.
    ``edges`` is scratch for the keys of a query.
    """
    found = tests = np.int64(0)
    for q in range(begin, queries.shape[0]):
        query_keys(queries[q], order[3], touching, lowered, edges)
        block, rows, made = _collect(order, rules, edges, _FIRST, q, out, found)
        if block >= 0:
            return q, found, tests
        found = rows
        tests += made
    return queries.shape[0], found, tests


@jit
@numbers(values=(4, 6))
def search_box(order, rules, values, touching, lowered, begin):
    """Ids of the boxes in the blocks from ``begin`` on that overlap one box; returns ``ids, tests, next``.

    Where the room for ids is full, it stops: ``next`` is the block to go on with, -1 when done.
    """
    query = few(len(values), np.float64)
    set_array(values, query)
    edges = few(len(values), order[0].dtype)
    query_keys(query, order[3], touching, lowered, edges)
    out = many(ROOM, np.int32)
    block, found, tests = _collect(order, rules, edges, begin, _FIRST, out, _FIRST)
    return finished(out, found), tests, block
