"""Boxes that overlap a box, in sorted columns with gaps (`broadphase.kernels.sorted.gapped`).

On the sorted axis, the boxes that begin before the query ends are the slots up to a place that binary
search finds.  Among these, the tree of maxima leaves out what ends before the query begins.  So the cost
is that of the boxes that overlap on the sorted axis, and a logarithm.

An item is ``id << kinds | kind``.  With ``kinds = 1`` the items of kind 1 are upper ends, and only those of
kind 0, the lower ends, stand for a box.
"""

import numpy as np

from broadphase.kernels.arrays.found_ids import ROOM, finished, put_row
from broadphase.kernels.arrays.ordered_bits import ordered
from broadphase.kernels.boxes.query_tests import passes, set_array
from broadphase.kernels.machine.jit import inline, jit, numbers
from broadphase.kernels.machine.scratch import few, many
from broadphase.kernels.machine.simd import bits, count_lanes, load, lowest_lane, splat
from broadphase.kernels.sorted.gapped import FAN, first_at_least, lowest_key

_FIRST = np.int64(0)  # not a plain 0, for which Numba would compile once more
_LARGEST_SINGLE = 3.4028234663852886e38


@inline
def low_key(value, single, touching, lowered):
    """The least key of an upper edge that reaches a query's lower edge ``value``, a float64.

    ``single``: the columns hold float32, whose nearest number may lie on either side of ``value``.
    ``lowered``: their upper edges are one lower (`gapped.box_keys`).
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
def query_keys(query, columns, first_axis, touching, lowered, edges):
    """Write the keys to compare with, the axes in turn from ``first_axis``: lower edges, then upper ones."""
    dim = edges.shape[0] // 2
    single = columns.itemsize == 4
    edges[2 * dim] = lowest_key(columns)
    for turn in range(dim):
        axis = (first_axis + turn) % dim
        edges[turn] = low_key(float(query[axis]), single, touching, lowered)
        edges[dim + turn] = high_key(float(query[dim + axis]), single, touching)


@inline
def next_block(reach, blocks, block, low):
    """The first block of `FAN` slots from ``block`` on with an upper edge of at least ``low``.

    ``blocks`` is their number, and the answer where there is none.
    """
    while block < blocks:
        skip = 0
        base, nodes, width = 0, blocks, 1
        # Up the tree, as long as a node that begins here ends too early as a whole.
        while reach[base + block // width] < low:
            skip = width
            if nodes == 1 or block % (width * FAN) != 0:
                break
            base += nodes
            nodes = (nodes + FAN - 1) // FAN
            width *= FAN
        if skip == 0:
            return block
        block += skip
    return blocks


@inline
def beside(axes, columns, base, slot, edges):
    """Which of the `FAN` boxes from ``slot`` overlap ``edges`` on all axes but the sorted one; a mask."""
    dim = len(axes)
    hits = load(columns, base + 1, slot) <= splat(edges[dim + 1])
    hits = hits & (splat(edges[1]) <= load(columns, base + dim + 1, slot))
    if len(axes) == 3:
        hits = hits & (load(columns, base + 2, slot) <= splat(edges[5]))
        hits = hits & (splat(edges[2]) <= load(columns, base + 5, slot))
    return hits


@inline
def along(axes, columns, base, kind, slot, edges):
    """Which of them overlap it on the sorted axis, if they are items of this kind; a mask."""
    dim = len(axes)
    hits = load(columns, base + dim * kind, slot) <= splat(edges[dim])
    return hits & (splat(edges[0]) <= load(columns, base + dim * (1 - kind), slot))


@inline
def live_boxes(axes, columns, base, slot, edges):
    """Bits of those of the `FAN` slots from ``slot`` that are no gaps.

    ``edges[2 * dim]`` is the `lowest_key`.
    """
    return bits(splat(edges[2 * len(axes)]) <= load(columns, base + len(axes) + 1, slot))


@inline
def next_hits(axes, columns, base, slots, reach, block, last, edges):
    """The first block from ``block`` on, before ``last``, that holds boxes that overlap ``edges``.

    Returns the block, their bits, and how many boxes were compared; ``last`` and 0 where there is none.
    Most of the boxes that are looked at overlap on the sorted axis, few on the others: these come first.
    """
    blocks = slots // FAN
    tests = 0
    while block < last:
        if reach[block] < edges[0]:
            block = next_block(reach, blocks, block, edges[0])
            continue
        near = bits(beside(axes, columns, base, block * FAN, edges))
        tests += count_lanes(live_boxes(axes, columns, base, block * FAN, edges))
        if near != 0:
            near &= bits(along(axes, columns, base, np.int64(0), block * FAN, edges))
            if near != 0:
                return block, near, tests
        block += 1
    return last, np.int64(0), tests


@inline
def last_block(axes, columns, base, slots, edges):
    """The blocks before this one hold the boxes that begin before ``edges`` end."""
    return (first_at_least(columns, base, np.int64(0), slots, edges[len(axes)] + 1) + FAN - 1) // FAN


@inline
def _collect(axes, columns, items, reach, a, slots, kinds, rules, edges, block, query, out, found):
    """Write rows ``[query, id]``, or ids where ``out`` has no columns, from ``block`` on until it is full.

    Returns the block that is next, how many rows there are, and how many boxes were compared.
    """
    categories, masks, category, mask = rules
    base = 2 * len(axes) * a
    last = last_block(axes, columns, base, slots, edges)
    tests = 0
    while found + FAN <= out.shape[0]:
        block, hits, made = next_hits(axes, columns, base, slots, reach, block, last, edges)
        tests += made
        if block >= last:
            return slots // FAN, found, tests
        while hits != 0:
            item = items[a, block * FAN + lowest_lane(hits)]
            hits &= hits - 1
            if item & kinds == 0 and passes(categories, masks, item >> kinds, category, mask):
                if out.ndim == 1:
                    out[found] = item >> kinds
                else:
                    put_row(out, found, query, item >> kinds)
                found += 1
        block += 1
    return block, found, tests


@jit
def search_boxes(axes, columns, items, reach, a, slots, kinds, rules, queries, begin, edges, out, modes):
    """Rows ``[query, id]`` of the queries from ``begin`` on, until ``out`` is full.

    Returns the query to go on with, the rows and the tests.  A query is answered wholly or not at all.

    ``axes``: the axes, in turn from the sorted one.  ``rules``: categories and masks by id,
    category and mask of the query.  ``modes``: whether touching counts for the query, and whether the
    upper edges are lowered.  ``edges`` is scratch for the keys of a query (`query_keys`).
    """
    found = tests = np.int64(0)
    for q in range(begin, queries.shape[0]):
        query_keys(queries[q], columns, axes[0], modes[0], modes[1], edges)
        block, rows, made = _collect(
            axes, columns, items, reach, a, slots, kinds, rules, edges, np.int64(0), q, out, found
        )
        if block * FAN < slots:
            return q, found, tests
        found = rows
        tests += made
    return queries.shape[0], found, tests


@jit
@numbers(values=(4, 6))
def search_box(axes, columns, items, reach, a, slots, kinds, rules, values, modes, begin):
    """Ids of the boxes in the blocks from ``begin`` on that overlap one box; returns ``ids, tests, next``.

    Where the room for ids is full, it stops: ``next`` is the block to go on with, 0 when done.
    """
    query = few(len(values), np.float64)
    set_array(values, query)
    edges = few(2 * len(axes) + 1, columns.dtype)
    query_keys(query, columns, axes[0], modes[0], modes[1], edges)
    out = many(ROOM, np.int32)
    block, found, tests = _collect(
        axes, columns, items, reach, a, slots, kinds, rules, edges, begin, _FIRST, out, _FIRST
    )
    return finished(out, found), tests, block if block * FAN < slots else _FIRST
