"""Time of impact: when two moving boxes meet.

Every edge moves at constant velocity from where it is to its goal.  Two boxes overlap while, on every axis,
the min of each is not above the max of the other: differences that are linear in time, so that each is
decided by its two ends.  One that is above 0 at the start and not at the end gives a lower bound of the time,
one that is not and is then gives an upper bound; ``from <= until`` compares two products.

The decision is exact: differences have an exact sign, and products that are too near to each other for
floating point are left to the caller, unless they were computed without rounding.

Of spheres the square of the distance of two centres is a quadratic in time, and they meet at its first root.

In a periodic world two of them may meet in several images, each a few periods away.
"""

import math

import numpy as np

from broadphase.kernels.arrays.growing import larger
from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.memory import few, some_rows

MISSED, UNSURE = -1.0, -2.0
# The relative error of a product of two differences is less than three units of rounding, each 1.2e-16.
_MARGIN = 1e-15
# Of a number made of a few squares of the coordinates, relative to their sum.
_MARGIN_OF_SQUARES = 1e-14
_SPLIT = 134217729.0  # 2**27 + 1: halves a float64 into two of 26 bits


# Pairs and images between two looks for signals: some 50 ms.
_OFTEN = 1 << 19
MOST_IMAGES = 1_100_000  # of one pair; they take half a second


@inline
def _is_exact_difference(a, b, difference):
    """Whether ``a - b`` was not rounded: the error of a sum, after Knuth."""
    back = a - difference
    error = (a - (difference + back)) + (back - b)
    return error == 0.0


@inline
def _is_exact_product(a, b, product):
    """Whether ``a * b`` was not rounded: the error of a product, after Dekker."""
    if a == 0.0 or b == 0.0:
        return True
    if not 1e-200 < product < 1e200 or not max(a, b) < 1e200:
        return False
    c = _SPLIT * a
    a_high = c - (c - a)
    c = _SPLIT * b
    b_high = c - (c - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return error == 0.0


@inline
def _time_of_boxes(starts, goals, i, j, shift, touching, differences):
    """When two boxes first meet: 0 to 1, `MISSED`, or `UNSURE`; a number infinite at one end is so at both.

    They are moved by rows of ``shift``.  The differences are scratch.
    """
    dim = starts.shape[1] // 2
    # From when on: high / (high + below), one for each difference; until when likewise.
    from_high, from_below, until_high, until_below, from_exact, until_exact = differences
    froms = untils = 0
    never = False
    for side in range(2):
        a, b = (i, j) if side == 0 else (j, i)
        for axis in range(dim):
            to_a, to_b = shift[side, axis], shift[1 - side, axis]
            low, high = starts[a, axis] + to_a, starts[b, dim + axis] + to_b
            low_goal, high_goal = goals[a, axis] + to_a, goals[b, dim + axis] + to_b
            apart = low > high if touching else low >= high
            apart_goal = low_goal > high_goal if touching else low_goal >= high_goal
            never |= apart & apart_goal
            if apart == apart_goal:
                continue
            before, after = abs(low - high), abs(low_goal - high_goal)
            exact = _is_exact_difference(low, high, low - high)
            exact &= _is_exact_difference(low_goal, high_goal, low_goal - high_goal)
            if apart:
                from_high[froms], from_below[froms], from_exact[froms] = before, after, exact
                froms += 1
            else:
                until_high[untils], until_below[untils], until_exact[untils] = before, after, exact
                untils += 1
    if never:
        return MISSED
    time = 0.0
    unsure = False
    for k in range(froms):
        share = from_high[k] / (from_high[k] + from_below[k])
        if from_high[k] + from_below[k] == np.inf:  # halves do not overflow
            share = 0.5 * from_high[k] / (0.5 * from_high[k] + 0.5 * from_below[k])
        time = max(time, share)
        for m in range(untils):
            one, two = from_high[k] * until_below[m], until_high[m] * from_below[k]
            if from_exact[k] and until_exact[m]:
                exact = _is_exact_product(from_high[k], until_below[m], one)
                exact &= _is_exact_product(until_high[m], from_below[k], two)
            else:
                exact = False
            if exact:
                never |= one > two if touching else one >= two
            elif not (1e-290 < max(one, two) < 1e300) or abs(one - two) <= _MARGIN * max(one, two):
                unsure = True
            else:
                never |= one > two
    if never:
        return MISSED
    return UNSURE if unsure else time


@inline
def _time_of_spheres(starts, goals, reach, i, j, shift):
    """The same for two spheres whose radii have the sum ``reach``."""
    square = product = length = last = 0.0
    for axis in range(starts.shape[1]):
        to_i, to_j = shift[0, axis], shift[1, axis]
        start = (starts[j, axis] + to_j) - (starts[i, axis] + to_i)
        goal = (goals[j, axis] + to_j) - (goals[i, axis] + to_i)
        way = goal - start
        square, last = square + start * start, last + goal * goal
        product, length = product + start * way, length + way * way
    scale, outside = square + last + reach * reach, square - reach * reach
    end = square + 2.0 * product + length - reach * reach
    roots = product * product - length * outside
    close = _MARGIN_OF_SQUARES * scale
    unsure = not scale < 1e300 or not scale > 1e-280 or abs(outside) <= close
    if outside > 0.0 and length > 0.0:
        unsure |= abs(end) <= close or abs(roots) <= close * scale * 4.0
        unsure |= abs(product) <= close or abs(length + product) <= close
    if unsure:
        return UNSURE
    if outside <= 0.0:
        return 0.0
    if product < 0.0:
        turns = -product < length  # the centres are nearest within the frame
        if (turns and roots >= 0.0) or (not turns and end <= 0.0):
            return max(0.0, min(1.0, outside / (math.sqrt(max(roots, 0.0)) - product)))
    return MISSED


@inline
def _center(places, k, axis, dim, shift):
    """The centre of a box or sphere; NaN where it is infinite."""
    if places.shape[1] == dim:
        return places[k, axis] + shift
    middle = (places[k, axis] + shift) / 2.0 + (places[k, dim + axis] + shift) / 2.0
    return middle if abs(middle) < np.inf else np.nan


@inline
def _nearest_approach(starts, goals, i, j, dim, shift):
    """When the centres are nearest, and how far apart they are then."""
    before, after, largest = few(3, np.float64), few(3, np.float64), 0.0
    for axis in range(dim):
        to_i, to_j = shift[0, axis], shift[1, axis]
        before[axis] = _center(starts, j, axis, dim, to_j) - _center(starts, i, axis, dim, to_i)
        after[axis] = _center(goals, j, axis, dim, to_j) - _center(goals, i, axis, dim, to_i)
        size = abs(before[axis]) + abs(after[axis])
        if not size < np.inf:
            return np.nan, np.nan
        largest = max(largest, size)
    if largest == 0.0:
        return 0.0, 0.0
    along = length = square = 0.0
    for axis in range(dim):  # in parts of the largest, so that no square overflows
        start, way = before[axis] / largest, after[axis] / largest - before[axis] / largest
        along, length = along + start * way, length + way * way
    moment = 0.0 if length == 0.0 else max(0.0, min(1.0, -along / length))
    for axis in range(dim):
        start, way = before[axis] / largest, after[axis] / largest - before[axis] / largest
        square += (start + moment * way) * (start + moment * way)
    return moment, math.sqrt(square) * largest


@inline
def _count_images(bounds, i, j, dim, period, spans):
    """How many images of two may meet; in ``spans`` the first turn on each axis, and how many there."""
    images = 1.0
    for axis in range(dim):
        spans[0, axis], spans[1, axis] = 0.0, 1.0
        if period[axis] < np.inf:
            first = math.ceil((bounds[i, axis] - bounds[j, dim + axis]) / period[axis])
            last = math.floor((bounds[i, dim + axis] - bounds[j, axis]) / period[axis])
            if abs(first) < np.inf and abs(last) < np.inf:  # else one of them is everywhere
                spans[0, axis], spans[1, axis] = first, max(last - first + 1.0, 0.0)
        images *= spans[1, axis]
    return images


@inline
def _set_shift(image, dim, spans, period, shift):
    """How far both are moved to make an image.  The higher is moved down: edges of the world stay exact."""
    for back in range(dim):
        axis = dim - 1 - back
        turn = spans[0, axis]
        if spans[1, axis] > 1.0:
            count = np.int64(spans[1, axis])
            turn += image % count
            image //= count
        shift[0, axis] = shift[1, axis] = 0.0
        if turn != 0.0:
            shift[0 if turn > 0.0 else 1, axis] = -abs(turn) * period[axis]


@jit
def first_meetings(starts, goals, radii, bounds, period, pairs, touching, times, near):
    """When the boxes of each pair, or spheres with radii, first meet: 0 to 1, or `MISSED`.

    All is float64.  With a ``period``, inf on an axis without one, any images may meet, as the ``bounds`` of
    ways say.  Rows of ``near``, if there are any, are when the centres are nearest, and how far apart they
    are then: of the images that meet first the nearest.

    Returns ``row, images, unsure, count``: a row with more than `MOST_IMAGES`, or -1; and what floating point
    does not decide: row, nearest approach, and by how much both are moved.
    """
    dim = period.shape[0]
    differences = (
        few(6, np.float64), few(6, np.float64), few(6, np.float64), few(6, np.float64),
        few(6, np.bool_), few(6, np.bool_),
    )  # fmt: skip
    spans, shift = some_rows(2, 3, np.float64), some_rows(2, 3, np.float64)
    unsure, count, looked = np.empty((0, 9)), np.int64(0), np.int64(0)
    shift[:] = 0.0
    for row in range(pairs.shape[0]):
        i, j = np.int64(pairs[row, 0]), np.int64(pairs[row, 1])
        images = _count_images(bounds, i, j, dim, period, spans)
        if not images <= MOST_IMAGES:
            return np.int64(row), images, unsure, count
        best, moment, distance = np.inf, 0.0, 0.0
        for image in range(np.int64(images)):
            looked += 1
            if looked % _OFTEN == 0 and not goes_on():
                return np.int64(-1), 0.0, unsure, count
            _set_shift(np.int64(image), dim, spans, period, shift)
            if radii.shape[0] > 0:
                time = _time_of_spheres(starts, goals, radii[i] + radii[j], i, j, shift)
            else:
                time = _time_of_boxes(starts, goals, i, j, shift, touching, differences)
            if time == MISSED or time > best:
                continue
            at, apart = 0.0, 0.0
            if near.shape[0] > 0:
                at, apart = _nearest_approach(starts, goals, i, j, dim, shift)
            if time == UNSURE:
                if count == unsure.shape[0]:
                    unsure = larger(unsure, count)
                unsure[count, 0], unsure[count, 1], unsure[count, 2] = row, at, apart
                for axis in range(3):
                    unsure[count, 3 + axis], unsure[count, 6 + axis] = shift[0, axis], shift[1, axis]
                count += 1
            elif time < best or apart < distance or (apart == distance and at < moment):
                best, moment, distance = time, at, apart
        times[row] = best if best < np.inf else MISSED
        if near.shape[0] > 0:
            near[row, 0], near[row, 1] = moment, distance
    return np.int64(-1), 0.0, unsure, count


@jit
def bound_ways(places, starts, goals, radii, longest, bounds):
    """Write bounds around ways from ``starts`` to ``goals``, larger than necessary if anything is rounded.

    ``places`` are the starts before they were wrapped into a world whose ``longest`` period is given, 0 for
    none; their goals are moved by as much.
    """
    columns, dim, are_round = starts.shape[1], bounds.shape[1] // 2, radii.shape[0] > 0
    slack = 8.0 * np.finfo(bounds.dtype).eps
    for i in range(starts.shape[0]):
        largest = 0.0
        for column in range(columns):
            start = starts[i, column]
            if start != places[i, column]:
                is_finite = abs(start) < np.inf  # what covers an axis stays there
                goals[i, column] = start + (goals[i, column] - places[i, column]) if is_finite else start
        for axis in range(dim):
            high = columns - dim + axis
            bounds[i, axis] = min(starts[i, axis], goals[i, axis])
            bounds[i, dim + axis] = max(starts[i, high], goals[i, high])
            for side in range(2):
                size = abs(bounds[i, side * dim + axis])
                largest = max(largest, size if size < np.inf else 0.0)
        if are_round or longest > 0.0:
            more = slack * (largest + longest)
            if are_round:
                more += radii[i] * (1.0 + slack)
            for axis in range(dim):
                bounds[i, axis] -= more
                bounds[i, dim + axis] += more
