"""Boxes in the order of their lower edges on one axis, kept by insertion, and how far they reach.

The boxes lie as columns of keys (`broadphase.kernels.arrays.sorting.ordered_columns`): one row an edge,
the sorted axis first, so that `LANES` of them are compared at a time.  ``places[i]`` is the column of box
``i``, or -1.

``maxima`` is a segment tree over blocks of `LANES` boxes: node 1 is the root, ``2 * k`` and ``2 * k + 1`` are
below node ``k``, the second half of the array are the blocks.  A node holds the greatest upper edge on the
sorted axis of what lies below it.  So a search leaves out at once what ends before it begins, also where one
giant lies far to the left.
"""

import numpy as np

from broadphase.kernels.arrays.sorting import ordered
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import LANES, bits, load


@jit
def write_boxes(edges, ids, places, first_axis, touching, columns, begin, end):
    """Write the keys of the boxes ``ids[begin:end]`` where they stand, which may leave them out of order.

    ``edges`` are the boxes as integers.
    """
    dim = edges.shape[1] // 2
    top = 8 * edges.itemsize - 1
    for k in range(begin, end):
        i = ids[k]
        at = places[i]
        for turn in range(dim):
            axis = (first_axis + turn) % dim
            columns[turn, at] = ordered(edges[i, axis], top)
            columns[dim + turn, at] = ordered(edges[i, dim + axis], top) - (not touching)


@jit
def insertion_sort(columns, ids, places, begin, end, most):
    """Sort the boxes at ``begin .. end - 1`` in among those before them, which are in order.

    Returns how many places they went, or -1 where it gave up because that would be more than ``most``.
    """
    lower = columns[0]
    steps = 0
    k = max(begin, 1)
    while k < end:
        if bits(load(columns, 0, k) < load(columns, 0, k - 1)) == 0:  # all in order: nearly always
            k += LANES
            continue
        at = k
        while at > 0 and lower[at - 1] > lower[k]:
            at -= 1
        steps += k - at
        if steps > most:
            return -1
        if at < k:
            for row in range(columns.shape[0]):
                key = columns[row, k]
                for slot in range(k, at, -1):
                    columns[row, slot] = columns[row, slot - 1]
                columns[row, at] = key
            i = ids[0, k]
            for slot in range(k, at, -1):
                ids[0, slot] = ids[0, slot - 1]
                places[ids[0, slot]] = slot
            ids[0, at] = i
            places[i] = at
        k += 1
    return steps


@jit
def make_maxima(columns, maxima):
    """Fill the tree of maxima."""
    upper = columns[columns.shape[0] // 2]
    blocks = maxima.shape[0] // 2
    taken = (columns.shape[1] - 1) // LANES  # the last of them with some of the padding
    for block in range(taken):
        most = upper[block * LANES]
        for at in range(block * LANES + 1, (block + 1) * LANES):
            most = max(most, upper[at])
        maxima[blocks + block] = most
    for block in range(taken, blocks):
        maxima[blocks + block] = -1 << (8 * columns.itemsize - 1)
    for node in range(blocks - 1, 0, -1):
        maxima[node] = max(maxima[2 * node], maxima[2 * node + 1])


@inline
def next_block(maxima, block, low):
    """The first block from ``block`` on with an upper edge of at least ``low``; their number if none has."""
    blocks = maxima.shape[0] // 2
    if block >= blocks:
        return blocks
    node = blocks + block
    while maxima[node] < low:
        node += 1
        while node & 1 == 0:  # to the largest part of the tree that begins there
            node >>= 1
        if node == 1:
            return blocks
    while node < blocks:
        node *= 2
        node += maxima[node] < low
    return node - blocks


@inline
def previous_block(maxima, block, low):
    """The last block up to ``block`` with an upper edge of at least ``low``, or -1."""
    blocks = maxima.shape[0] // 2
    if block < 0:
        return np.int64(-1)
    node = blocks + block
    while maxima[node] < low:
        if node & (node - 1) == 0:  # the first of its level
            return np.int64(-1)
        node -= 1
        while node & 1 == 1:  # to the largest part of the tree that ends there
            node >>= 1
    while node < blocks:
        node = 2 * node + 1
        node -= maxima[node] < low
    return node - blocks


@inline
def first_above(columns, key):
    """The first column whose lower edge is greater than ``key``."""
    begin = 0
    end = columns.shape[1] - LANES
    while begin < end:
        middle = (begin + end) >> 1
        if columns[0, middle] <= key:
            begin = middle + 1
        else:
            end = middle
    return begin
