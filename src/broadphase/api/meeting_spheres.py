"""Time of impact of circles and spheres that move straight, decided with rational numbers.

Where floating point can decide it, `broadphase.kernels.movement.time_of_impact` does.
"""

import math


def meeting_of_spheres(start: list[float], goal: list[float], reach: float, touching: bool) -> float:
    """When two spheres first meet: 0 to 1, or -1 for never.

    ``start`` and ``goal`` are the offsets from the first to the second centre at both ends of the frame,
    ``reach`` the sum of the radii.

    Examples
    --------
    >>> meeting_of_spheres([4.0, 0.0], [-4.0, 0.0], 2.0, True)
    0.25
    """
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
