"""Time of impact: when two moving boxes meet.

Every edge moves at constant velocity from where it is to its goal.  Two boxes overlap while, on every axis,
the min of each is not above the max of the other: differences that are linear in time, so that each is
decided by its two ends.  One that is above 0 at the start and not at the end gives a lower bound of the time,
one that is not and is then gives an upper bound; ``from <= until`` compares two products.

The decision is exact: differences have an exact sign, and products that are too near to each other for
floating point are left to the caller, unless they were computed without rounding.

Of spheres the square of the distance of two centres is a quadratic in time, and they meet at its first root.
"""

import math

import numpy as np

from broadphase.kernels.machine.interrupts import goes_on
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.memory import few

MISSED, UNSURE = -1.0, -2.0
# The relative error of a product of two differences is less than three units of rounding, each 1.2e-16.
_MARGIN = 1e-15
# Of a number made of a few squares of the coordinates, relative to their sum.
_MARGIN_OF_SQUARES = 1e-14
_SPLIT = 134217729.0  # 2**27 + 1: halves a float64 into two of 26 bits


# Pairs between two looks for signals: some 50 ms.
_OFTEN = 1 << 19


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


@jit
def meeting_times(starts, goals, pairs, touching, times):
    """When the boxes of each pair first meet: 0 to 1, `MISSED`, or `UNSURE`.

    ``starts`` and ``goals`` are float64; a number that is infinite in one is the same in the other.
    """
    dim = starts.shape[1] // 2
    most = 2 * dim
    # From when on: high / (high + below), one for each difference; until when likewise.
    from_high, from_below = few(most, np.float64), few(most, np.float64)
    until_high, until_below = few(most, np.float64), few(most, np.float64)
    from_exact, until_exact = few(most, np.bool_), few(most, np.bool_)
    for row in range(pairs.shape[0]):
        if (row + 1) % _OFTEN == 0 and not goes_on():
            break
        froms = untils = 0
        never = False
        for side in range(2):
            a, b = pairs[row, side], pairs[row, 1 - side]
            for axis in range(dim):
                low, high = starts[a, axis], starts[b, dim + axis]
                low_goal, high_goal = goals[a, axis], goals[b, dim + axis]
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
        times[row] = MISSED
        if never:
            continue
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
        if not never:
            times[row] = UNSURE if unsure else time


@jit
def meeting_times_of_spheres(starts, goals, radii, pairs, times):
    """When the spheres of each pair first meet: 0 to 1, `MISSED`, or `UNSURE`; all is float64."""
    dim = starts.shape[1]
    for row in range(pairs.shape[0]):
        if (row + 1) % _OFTEN == 0 and not goes_on():
            break
        a, b = pairs[row, 0], pairs[row, 1]
        square = product = length = last = 0.0
        for axis in range(dim):
            start, goal = starts[b, axis] - starts[a, axis], goals[b, axis] - goals[a, axis]
            way = goal - start
            square, last = square + start * start, last + goal * goal
            product, length = product + start * way, length + way * way
        reach = radii[a] + radii[b]
        scale, outside = square + last + reach * reach, square - reach * reach
        end = square + 2.0 * product + length - reach * reach
        roots = product * product - length * outside
        close = _MARGIN_OF_SQUARES * scale
        unsure = not scale < 1e300 or not scale > 1e-280 or abs(outside) <= close
        if outside > 0.0 and length > 0.0:
            unsure |= abs(end) <= close or abs(roots) <= close * scale * 4.0
            unsure |= abs(product) <= close or abs(length + product) <= close
        times[row] = MISSED
        if unsure:
            times[row] = UNSURE
        elif outside <= 0.0:
            times[row] = 0.0
        elif product < 0.0:
            turns = -product < length  # the centres are nearest within the frame
            if (turns and roots >= 0.0) or (not turns and end <= 0.0):
                times[row] = max(0.0, min(1.0, outside / (math.sqrt(max(roots, 0.0)) - product)))
