"""Few objects of a program, read and compared with each other in one call: circles, and rectangles.

Reading the attributes of ten objects in Python and calling a search takes longer than the loop that a program
would write itself.  Here an attribute takes 40 ns, and all are compared with all, `LANES` at a time.
"""

import math

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.machine.jit import holds_gil, inline, objects
from broadphase.kernels.machine.objects import attribute, drop, is_there, item, length_of, number_of
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, splat
from broadphase.kernels.points.distance import double_length

UNSUITABLE = -1
"""Instead of the number of pairs: there are too many objects, or one is not understood."""


@inline
def _read_numbers(sequence, out, row, count):
    """Whether a sequence has so many finite numbers, which go to columns of ``out``."""
    for k in range(count):
        one = item(sequence, k)
        if not is_there(one):
            return False
        out[k, row] = number_of(one)
        drop(one)
        if not abs(out[k, row]) < math.inf:
            return False
    return length_of(sequence) == count


@inline
def _read_centers(things, at, out, n):
    """Whether an attribute of each is a place of two numbers."""
    for row in range(n):
        thing = item(things, row)
        value = attribute(thing, at)
        drop(thing)
        if not is_there(value):
            return False
        is_place = _read_numbers(value, out, row, 2)
        drop(value)
        if not is_place:
            return False
    return True


@inline
def _read_radii(things, name, has_name, radius, out, n):
    """Whether an attribute of each is a radius; without a name all have the same."""
    for row in range(n):
        if has_name:
            thing = item(things, row)
            value = attribute(thing, name)
            drop(thing)
            if not is_there(value):
                return False
            out[2, row] = number_of(value)
            drop(value)
        else:
            out[2, row] = radius
        if not 0.0 <= out[2, row] < math.inf:
            return False
    return True


@inline
def _take_bounds(out, n):
    """The bounds of circles, a little too large for what is rounded: left, top, right, bottom."""
    for k in range(n):
        reach = out[2, k] + 1e-15 * (abs(out[0, k]) + abs(out[1, k]) + out[2, k])
        out[3, k], out[4, k] = out[0, k] - reach, out[1, k] - reach
        out[5, k], out[6, k] = out[0, k] + reach, out[1, k] + reach


@inline
def _columns(rows, n):
    """Columns of ``n`` things, and after them NaN, which is near nothing."""
    out = np.empty((rows, n + LANES))
    for row in range(rows):
        for k in range(n, n + LANES):
            out[row, k] = np.nan
    return out


@holds_gil
@objects("things", "others", "at", "name")
def near_circles(things, others, among, at, name, has_name, radius, other_radius, margin, touching, most):
    """Pairs of circles whose centres are nearer than their radii and a margin, in order.

    ``name``: the attribute that holds the radius of each; without one all have ``radius``.  The others have
    ``other_radius``, or if that is negative a radius as the things have.  ``among``: pairs ``i < j`` of the
    things.  ``touching``: at exactly that distance they are one, too.  Returns ``pairs, distances, found``.
    """
    n, m = np.int64(length_of(things)), np.int64(length_of(others))
    pairs, distances = np.empty((4 * n + LANES, 2), np.int32), np.empty((4 * n + LANES, 1))
    if n * m > most:
        return pairs[:0], distances[:0], UNSUITABLE
    a = _columns(7, n)
    if not (_read_centers(things, at, a, n) and _read_radii(things, name, has_name, radius, a, n)):
        return pairs[:0], distances[:0], UNSUITABLE
    b = a
    if not among:
        b = _columns(7, m)
        by_name = has_name and other_radius < 0.0
        given = radius if other_radius < 0.0 else other_radius
        if not (_read_centers(others, at, b, m) and _read_radii(others, name, by_name, given, b, m)):
            return pairs[:0], distances[:0], UNSUITABLE
    _take_bounds(b, m)
    found = np.int64(0)
    for i in range(n):
        x, y, reach = a[0, i], a[1, i], a[2, i] + margin
        reach += 1e-15 * (abs(x) + abs(y) + reach)
        left, top, right, bottom = splat(x - reach), splat(y - reach), splat(x + reach), splat(y + reach)
        for j in range(i + 1 if among else 0, m, LANES):
            across = (load(b, 3, j) <= right) & (left <= load(b, 5, j))
            near = bits(across & (load(b, 4, j) <= bottom) & (top <= load(b, 6, j)))
            while near != 0:
                k = j + lowest_lane(near)
                near &= near - 1
                distance = double_length(b[0, k] - x, b[1, k] - y, 0.0)
                limit = a[2, i] + b[2, k] + margin
                if distance < limit or (touching and distance == limit):
                    if found == pairs.shape[0]:
                        pairs, distances = larger(pairs, found), larger(distances, found)
                    pairs[found, 0], pairs[found, 1] = i, k
                    distances[found, 0] = distance
                    found += 1
    return pairs[:found], distances[:found], found


@inline
def _read_rectangles(rects, out, n):
    """Whether each is a rectangle ``x, y, width, height``; their edges go to columns."""
    for row in range(n):
        rect = item(rects, row)
        is_rect = _read_numbers(rect, out, row, 4)
        drop(rect)
        if not (is_rect and out[2, row] >= 0.0 and out[3, row] >= 0.0):
            return False
        out[2, row] += out[0, row]
        out[3, row] += out[1, row]
    return True


@holds_gil
@objects("rects", "others")
def overlapping_rectangles(rects, others, among, most):
    """Pairs of rectangles ``x, y, width, height`` that overlap, in order: ``pairs, found``."""
    n, m = np.int64(length_of(rects)), np.int64(length_of(others))
    pairs = np.empty((4 * n + LANES, 2), np.int32)
    if n * m > most:
        return pairs[:0], UNSUITABLE
    a = _columns(4, n)
    if not _read_rectangles(rects, a, n):
        return pairs[:0], UNSUITABLE
    b = a
    if not among:
        b = _columns(4, m)
        if not _read_rectangles(others, b, m):
            return pairs[:0], UNSUITABLE
    found = np.int64(0)
    for i in range(n):
        left, top, right, bottom = splat(a[0, i]), splat(a[1, i]), splat(a[2, i]), splat(a[3, i])
        for j in range(i + 1 if among else 0, m, LANES):
            across = (load(b, 0, j) < right) & (left < load(b, 2, j))
            near = bits(across & (load(b, 1, j) < bottom) & (top < load(b, 3, j)))
            while near != 0:
                if found == pairs.shape[0]:
                    pairs = larger(pairs, found)
                pairs[found, 0], pairs[found, 1] = i, j + lowest_lane(near)
                found += 1
                near &= near - 1
    return pairs[:found], found
