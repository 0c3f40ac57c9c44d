"""Pairs of points within some distances are counted: pairs of boxes that lie wholly within one at once.

Both sides are sorted along a curve, with boxes around `LANES` points that follow each other, the leaves,
around as many of these boxes, and so on (`broadphase.kernels.points.nearest_points`). A leaf is compared
with `LANES` boxes at a time. Those that are too far away are left out, those that are near as a whole
are counted by multiplication, and the others are opened (A. Gray, A. Moore, N-body problems in
statistical learning, 2000).

It is decided exactly as by comparing all: the least and the largest square of a pair of boxes are computed as
that of two points, and as rounding is monotone, no rounded square is beyond them.
"""

from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.arrays.passes import looked
from broadphase.kernels.machine.jit import always_inline, inline, jit
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    larger,
    load,
    lowest_lane,
    smaller,
    splat,
    store,
)
from broadphase.kernels.points.distance import gaps

_MOST_OPEN = 16 * LANES


@inline
def _points_of(level):
    """How many points a full box of a level holds: a power, without the C library's function."""
    capacity = np.int64(LANES)
    for _ in range(level):
        capacity *= LANES
    return capacity


@inline
def _nodes(n, level):
    """How many boxes of a level ``n`` points have."""
    capacity = _points_of(level)
    return (n + capacity - 1) // capacity


@inline
def _points_in(n, level, node):
    """How many of ``n`` points are in a box."""
    capacity = _points_of(level)
    return max(min(n - node * capacity, capacity), 0)


@always_inline
def _squares_of_boxes(edges, highs, i, others, first, around, shift, factor):
    """The least and the largest squares of box ``i``, shifted back, and `LANES` others.

    ``highs``: the row of its first upper edge, 0 for a point.
    """
    dim, none = others.shape[0] // 2, splat(others.dtype.type(0))
    least = most = none
    for axis in range(dim):
        low, high = splat(edges[axis, i] - shift[axis]), splat(edges[highs + axis, i] - shift[axis])
        below, above = load(others, axis, first), load(others, dim + axis, first)
        nearest, farthest = larger(larger(below - high, low - above), none), larger(above - low, high - below)
        if around[axis] < np.inf:
            # The way around shrinks as the difference grows: the least is at an end.
            period = splat(around[axis])
            beside = period - nearest
            nearest, farthest = (
                smaller(smaller(nearest, beside), smaller(farthest, period - farthest)),
                smaller(farthest, beside),
            )
        nearest, farthest = nearest * splat(factor), farthest * splat(factor)
        least, most = least + nearest * nearest, most + farthest * farthest
    return least, most


@always_inline
def _squares_of_points(columns, i, others, first, around, shift, factor):
    squares = splat(columns.dtype.type(0))
    for axis in range(columns.shape[0]):
        gap = gaps(others, axis, first, columns[axis, i] - shift[axis], around[axis]) * splat(factor)
        squares = squares + gap * gap
    return squares


class Sides(NamedTuple):
    """Points and others that are counted, and how."""

    tree: Any
    n: int
    """How many points the tree holds."""
    others: Any
    m: int
    among: bool
    """Whether the others are the points: each pair is counted once."""
    around: Any
    """The period."""
    shift: Any
    """By which the points of the tree are shifted back."""
    factor: Any
    """By which differences are multiplied before they are squared."""
    bounds: Any
    """Of squares, ascending."""


@inline
def _compare_leaves(sides, factor, a, group, lanes, ranges, found):
    """Count the pairs of the points of a leaf and those of some leaves of a group, and how many are compared.

    ``ranges``: the first distance and the last for each of these leaves.
    """
    tree, n, others, m, among, around, shift, _, bounds = sides
    columns, theirs, tests = tree.points.columns, others.points.columns, np.int64(0)
    worlds, last = tree.points.ids.shape[0] > 1, bounds.shape[0] - 1
    for i in range(a * LANES, min((a + 1) * LANES, n)):
        first = group * LANES
        least, _ = _squares_of_boxes(columns, 0, i, others.boxes, first, around, shift, factor)
        candidates = lanes & bits(least <= splat(bounds[last]))
        while candidates != 0:
            lane = lowest_lane(candidates)
            candidates &= candidates - 1
            first = (group * LANES + lane) * LANES
            counted = np.int64((1 << min(m - first, LANES)) - 1)
            if among and a == group * LANES + lane:
                counted &= -(np.int64(2) << (i - first))
            if worlds:
                world, other_worlds = splat(tree.points.ids[1, i]), load(others.points.ids, 1, first)
                counted &= bits((other_worlds <= world) & (world <= other_worlds))
            squares = _squares_of_points(columns, i, theirs, first, around, shift, factor)
            for k in range(ranges[0, lane], ranges[1, lane]):
                found[k] += count_lanes(bits(squares <= splat(bounds[k])) & counted)
            tests += LANES * (1 + ranges[1, lane] - ranges[0, lane])
    return tests


@jit
def count_within(sides, begin, end):
    """How many pairs have a square of at most each of the bounds.

    From the leaves ``begin .. end - 1`` of the tree to all others.
    """
    tree, n, others, m, among, around, shift, factor, bounds = sides
    kind, worlds = tree.boxes.dtype.type, tree.worlds.shape[1] > 0
    factor, dim = kind(factor), tree.points.columns.shape[0]
    number, tests, checked = bounds.shape[0], np.int64(0), np.int64(0)
    found, whole = np.zeros(number, np.int64), np.zeros(number + 1, np.int64)
    stack = np.empty((_MOST_OPEN, 4), np.int64)
    squares, ranges = np.empty((2, LANES), tree.boxes.dtype), np.empty((2, LANES), np.int64)
    for a in range(begin, end):
        held, waiting = _points_in(n, 0, a), 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = others.levels.shape[0] - 2, 0, 0, number
        while waiting > 0:
            checked = looked(tests, checked)
            if checked < 0:
                return found
            waiting -= 1
            level, group = stack[waiting, 0], stack[waiting, 1]
            first, last = stack[waiting, 2], stack[waiting, 3]
            node, leaves, ours = others.levels[level] + group * LANES, np.int64(0), np.int64(-1)
            lanes = np.int64((1 << max(min(_nodes(m, level) - group * LANES, LANES), 0)) - 1)
            if among:  # those that follow, and the one that holds this leaf
                ours = a * LANES // _points_of(level) - group * LANES
                lanes &= -(np.int64(1) << min(max(ours, 0), LANES))
            if lanes == 0:
                continue
            tests += LANES
            least, most = _squares_of_boxes(tree.boxes, dim, a, others.boxes, node, around, shift, factor)
            lanes &= bits(least <= splat(bounds[last - 1]))
            all_near, of_one = lanes & bits(most <= splat(bounds[first])), np.int64(-1)
            if 0 <= ours < LANES:
                all_near &= ~(np.int64(1) << ours)
            if worlds:
                low, high = splat(tree.worlds[0, a]), splat(tree.worlds[1, a])
                lows, highs = load(others.worlds, 0, node), load(others.worlds, 1, node)
                lanes &= bits((lows <= high) & (low <= highs))
                of_one = bits((highs <= low) & (high <= lows))
            all_near &= of_one
            lanes, pairs = lanes & ~all_near, np.int64(0)
            while all_near != 0:
                pairs += held * _points_in(m, level, group * LANES + lowest_lane(all_near))
                all_near &= all_near - 1
            whole[first] += pairs
            whole[last] -= pairs
            store(squares, 0, 0, least)
            store(squares, 1, 0, most)
            while lanes != 0:
                lane = lowest_lane(lanes)
                lanes &= lanes - 1
                b, k, end_k = group * LANES + lane, first, last
                while bounds[k] < squares[0, lane]:
                    k += 1
                apart = lane == ours or (of_one >> lane) & 1 == 0
                while not apart and end_k > k and squares[1, lane] <= bounds[end_k - 1]:
                    end_k -= 1
                if end_k < last:
                    pairs = held * _points_in(m, level, b)
                    whole[end_k] += pairs
                    whole[last] -= pairs
                if k == end_k:
                    continue
                if level == 0:
                    ranges[0, lane], ranges[1, lane] = k, end_k
                    leaves |= np.int64(1) << lane
                    continue
                stack[waiting, 0], stack[waiting, 1] = level - 1, b
                stack[waiting, 2], stack[waiting, 3] = k, end_k
                waiting += 1
            if leaves != 0:
                tests += _compare_leaves(sides, factor, a, group, leaves, ranges, found)
    total = np.int64(0)
    for k in range(number):
        total += whole[k]
        found[k] += total
    return found
