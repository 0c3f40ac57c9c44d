"""Time of impact of circles and spheres that move straight: the first root of a quadratic, decided exactly.

The square of the distance of two centres is a quadratic in time.  Where floating point cannot decide its
signs, rational numbers do.
"""

import math

import numpy as np

from broadphase.runtime.arrays import Floats

# Of a number made of a few squares of the coordinates, relative to their sum.
_MARGIN = 1e-14


def sphere_times(start: Floats, goal: Floats, reach: Floats, touching: bool) -> Floats:
    """When spheres first meet: 0 to 1, or -1 for never.

    ``start`` and ``goal`` are ``(m, dim)`` offsets from the first to the second centre at both ends of the
    frame, ``reach`` the sums of radii.

    Examples
    --------
    >>> sphere_times(np.array([[4.0, 0.0]]), np.array([[-4.0, 0.0]]), np.array([2.0]), True)
    array([0.25])
    """
    with np.errstate(all="ignore"):
        way = goal - start
        square, product, length = (
            np.einsum("ij,ij->i", *two) for two in ((start, start), (start, way), (way, way))
        )
        scale = square + np.einsum("ij,ij->i", goal, goal) + reach * reach
        outside = square - reach * reach
        end = square + 2.0 * product + length - reach * reach
        roots = product * product - length * outside
        turns = -product < length  # the centres are nearest within the frame
        meets = (product < 0.0) & np.where(turns, roots >= 0.0, end <= 0.0)
        times = outside / (-product + np.sqrt(np.maximum(roots, 0.0)))
        times = np.where(outside <= 0.0, 0.0, np.where(meets, np.clip(times, 0.0, 1.0), -1.0))
        close = _MARGIN * scale
        unsure = ~(scale < 1e300) | ~(scale > 1e-280) | (np.abs(outside) <= close)
        moving = (outside > 0.0) & (length > 0.0)
        unsure |= moving & ((np.abs(end) <= close) | (np.abs(roots) <= close * scale * 4.0))
        unsure |= moving & ((np.abs(product) <= close) | (np.abs(length + product) <= close))
    for row in np.flatnonzero(unsure).tolist():
        times[row] = _exactly(start[row].tolist(), goal[row].tolist(), float(reach[row]), touching)
    return times


def _exactly(start: list[float], goal: list[float], reach: float, touching: bool) -> float:
    """The same for one pair, with rational numbers."""
    from fractions import Fraction  # imported here because it is hardly ever needed

    if math.isinf(reach):
        return 0.0
    places = [Fraction(value) for value in (*start, *goal, reach)]
    largest = max(map(abs, places)) or Fraction(1)
    *ends, limit = (place / largest for place in places)
    first, last = ends[: len(start)], ends[len(start) :]
    way = [b - a for a, b in zip(first, last, strict=True)]
    outside = sum((a * a for a in first), -limit * limit)
    if outside < 0 or (outside == 0 and touching):
        return 0.0
    product = sum((a * b for a, b in zip(first, way, strict=True)), Fraction(0))
    length = sum((b * b for b in way), Fraction(0))
    if product >= 0:  # they part
        return -1.0
    roots = product * product - length * outside
    deepest = -roots if -product < length else sum((b * b for b in last), -limit * limit)
    if deepest > 0 or (deepest == 0 and not touching):
        return -1.0
    return min(float(outside / (-product + Fraction(math.sqrt(abs(roots))))), 1.0)
