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

from broadphase.kernels.arrays.passes import answers_at
from broadphase.kernels.arrays.results import larger
from broadphase.kernels.boxes.few_boxes import find_pairs_of_few
from broadphase.kernels.boxes.periodic import wrapped
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
def first_meetings(starts, goals, radii, bounds, period, pairs, offset, touching, closest):
    """The pairs of boxes or spheres that meet, and when: ``met, times, approaches, unsure, images``.

    All numbers are float64.  With a ``period``, inf on an axis without one, any images may meet, as the
    ``bounds`` of ways say.  ``offset`` is taken from the second row of pairs that meet.  Times are from 0
    to 1, or `UNSURE`.  If ``closest``, rows of ``approaches`` are when the centres are nearest, and how
    far apart they are then: of the images that meet first the nearest.  ``unsure`` is what floating point
    does not decide: the row of ``met``, nearest approach, and by how much both are moved.  ``images`` is
    above 0 if the pair that was met last has so many, more than `MOST_IMAGES`.
    """
    dim = period.shape[0]
    differences = (
        few(6, np.float64), few(6, np.float64), few(6, np.float64), few(6, np.float64),
        few(6, np.bool_), few(6, np.bool_),
    )  # fmt: skip
    spans, shift = some_rows(2, 3, np.float64), some_rows(2, 3, np.float64)
    # Pages of memory that nothing is written to take none.
    found, times, approaches = (
        np.empty(pairs.shape, np.int32),
        np.empty(len(pairs)),
        np.empty((len(pairs), 2)),
    )
    unsure, met, count, looked, too_many = np.empty((0, 9)), np.int64(0), np.int64(0), np.int64(0), 0.0
    shift[:] = 0.0
    for row in range(pairs.shape[0]):
        i, j = np.int64(pairs[row, 0]), np.int64(pairs[row, 1])
        found[met, 0], found[met, 1] = i, j - offset
        images = _count_images(bounds, i, j, dim, period, spans)
        if not images <= MOST_IMAGES:
            met, too_many = met + 1, images
            break
        best, moment, distance, known = np.inf, 0.0, 0.0, count
        for image in range(np.int64(images)):
            looked += 1
            if looked % _OFTEN == 0 and not goes_on():
                return found[:0], times[:0], approaches[:0], unsure, 0.0
            _set_shift(np.int64(image), dim, spans, period, shift)
            if starts.shape[1] == dim:
                time = _time_of_spheres(starts, goals, radii[i] + radii[j], i, j, shift)
            else:
                time = _time_of_boxes(starts, goals, i, j, shift, touching, differences)
            if time == MISSED or time > best:
                continue
            time_nearest, apart = 0.0, 0.0
            if closest:
                time_nearest, apart = _nearest_approach(starts, goals, i, j, dim, shift)
            if time == UNSURE:
                if count == unsure.shape[0]:
                    unsure = larger(unsure, count)
                unsure[count, 0], unsure[count, 1], unsure[count, 2] = met, time_nearest, apart
                for axis in range(3):
                    unsure[count, 3 + axis], unsure[count, 6 + axis] = shift[0, axis], shift[1, axis]
                count += 1
            elif time < best or apart < distance or (apart == distance and time_nearest < moment):
                best, moment, distance = time, time_nearest, apart
        if best < np.inf or count > known:
            times[met] = best if best < np.inf else UNSURE
            if closest:
                approaches[met, 0], approaches[met, 1] = moment, distance
            met += 1
    return found[:met], times[:met], approaches[:met], unsure[:count], too_many


@inline
def _take_way(places, motion, i, are_goals, single, period, touching, starts, goals, row):
    """Write where one begins, in the world, and ends; whether it is sound and has a place there."""
    columns, dim, sound = places.shape[1], period.shape[0], True
    for axis in range(dim):
        last = columns - dim + axis
        low, high, trouble = places[i, axis], places[i, last], np.int64(0)
        sound &= low <= high and (columns > dim or abs(low) < np.inf)
        if period[axis] < np.inf:
            low, high, trouble = wrapped(low, high, period, axis, touching or columns == dim)
        sound &= trouble == 0
        for column, start in ((axis, low), (last, high)):
            place, step = places[i, column], motion[i, column if are_goals else axis]
            goal = step if are_goals else place + step
            if single:
                goal = np.float64(np.float32(goal))
            # No edge comes from infinity or goes there.
            sound &= (abs(place) < np.inf) == (abs(goal) < np.inf) and (are_goals or abs(step) < np.inf)
            if start != place:  # the goal is moved by as much; what covers an axis stays there
                goal = start + (goal - place) if abs(start) < np.inf else start
            starts[row, column], goals[row, column] = start, goal
    return sound


@inline
def _bound_way(starts, goals, radius, row, longest, bounds):
    """Write bounds around a way, larger than necessary by what may be rounded."""
    dim, largest, slack = bounds.shape[1] // 2, longest, 8.0 * np.finfo(np.float64).eps
    for axis in range(dim):
        high = starts.shape[1] - dim + axis
        bounds[row, axis] = min(starts[row, axis], goals[row, axis])
        bounds[row, dim + axis] = max(starts[row, high], goals[row, high])
        for size in (abs(bounds[row, axis]), abs(bounds[row, dim + axis])):
            largest = max(largest, longest + size if size < np.inf else 0.0)
    for axis in range(dim):
        bounds[row, axis] -= slack * largest + radius * (1.0 + slack)
        bounds[row, dim + axis] += slack * largest + radius * (1.0 + slack)


@jit
def take_ways(sides, among, are_goals, period, touching):
    """Two sides in rows, or if ``among`` the first: ``starts, goals, radii, bounds, sound``; all float64.

    A side is ``places, motion, radii, single``: boxes, or the centres of spheres with radii; how far they go,
    or the goals; and whether these are rounded to float32.  Those that are not ``sound``, or have no place in
    a world with this ``period``, have to be named by the caller.
    """
    n, dim, columns = np.int64(sides[0][0].shape[0]), np.int64(period.shape[0]), sides[0][0].shape[1]
    total, longest, sound = n if among else n + sides[1][0].shape[0], 0.0, True
    starts, goals, bounds = np.empty((total, columns)), np.empty((total, columns)), np.empty((total, 2 * dim))
    sizes, radius = np.empty(total), 0.0
    for axis in range(dim):
        longest = max(longest, period[axis] if period[axis] < np.inf else 0.0)
    for row in range(total):
        side = np.int64(row >= n)
        places, motion, radii, single = sides[side]
        i = row - side * n
        sound &= _take_way(places, motion, i, are_goals, single, period, touching, starts, goals, row)
        if columns == dim:
            sizes[row] = radius = radii[i]
        _bound_way(starts, goals, radius, row, longest, bounds)
        if not answers_at(row):
            return starts, goals, sizes, bounds, False
    return starts, goals, sizes, bounds, sound


@jit
def meet_few(sides, among, are_goals, period, touching, filter, envs, other_envs, closest):  # noqa: A002
    """What `first_meetings` returns of few, each compared with each; and ``starts, goals, radii``.

    ``images`` is -1 where another search must say.
    """
    starts, goals, sizes, bounds, sound = take_ways(sides, among, are_goals, period, touching)
    n, found, pairs = np.int64(sides[0][0].shape[0]), np.int64(-1), np.empty((0, 2), np.int32)
    offset = np.int64(0) if among else n
    if sound:
        pairs, found = find_pairs_of_few(
            bounds[:n], bounds[offset:], among, True, period, filter, envs, other_envs
        )
    for k in range(found):
        pairs[k, 1] += offset
    met, times, approaches, unsure, images = first_meetings(
        starts, goals, sizes, bounds, period, pairs, offset, touching, closest
    )
    return met, times, approaches, unsure, images if found >= 0 else -1.0, (starts, goals, sizes)
