"""One outline against others: which it overlaps at a place, and when it meets them along a path.

The arithmetic of the first kernel is arcade's, operation for operation, as that of `sprite_hits` is.
Outlines that share only an edge or a corner do not meet.
"""

import math

from broadphase.kernels.machine.jit import inline, jit

# A part of a way that is nothing but rounding: what is only left behind is not met.
HAIR = 1e-9


@jit
def meets(outline, x, y, points, ends, hits):
    """The outlines that ``outline``, moved by x and y, overlaps; returns how many.

    Outline k of the others ends before row ``ends[k]`` of ``points``.
    """
    count, low = 0, 0
    for k in range(ends.shape[0]):
        high = ends[k]
        hits[k] = (
            outline.shape[0] > 0
            and high > low
            and not _parted(outline, x, y, 0, outline.shape[0], True, points, low, high)
            and not _parted(outline, x, y, low, high, False, points, low, high)
        )
        count += hits[k]
        low = high
    return count


@jit
def ways(outline, x, y, dx, dy, points, ends, enter, leave):
    """When ``outline``, which goes from x, y by dx, dy, enters and leaves each of the others.

    In parts of the way, and 0 for what it stands in; ``inf`` for both where it meets it on no part of the
    way.  Returns how much of the way is clear: 0 to 1.
    """
    low, clear = 0, 1.0
    for k in range(ends.shape[0]):
        high = ends[k]
        enter[k], leave[k] = -math.inf, math.inf
        if high == low or outline.shape[0] == 0:
            enter[k] = math.inf
        for i in range(outline.shape[0]):
            nx, ny = _normal(outline, i, 0, outline.shape[0], x, y)
            _narrow(outline, x, y, dx, dy, points, low, high, nx, ny, k, enter, leave)
        for i in range(low, high):
            nx, ny = _normal(points, i, low, high, 0.0, 0.0)
            _narrow(outline, x, y, dx, dy, points, low, high, nx, ny, k, enter, leave)
        if not (enter[k] < leave[k] and enter[k] < 1.0 and leave[k] > HAIR):
            enter[k], leave[k] = math.inf, math.inf
        enter[k] = max(enter[k], 0.0)
        clear = min(clear, enter[k])
        low = high
    return clear


@inline
def _normal(points, i, begin, end, x, y):
    """Across the edge that begins at row i; of points that are moved by x and y."""
    j = i + 1 if i + 1 < end else begin
    return (points[j, 1] + y) - (points[i, 1] + y), (points[i, 0] + x) - (points[j, 0] + x)


@inline
def _parted(outline, x, y, begin, end, own, points, low, high):
    """Whether, seen along one edge of the outline or of the other, they lie beside each other."""
    for i in range(begin, end):
        if own:
            nx, ny = _normal(outline, i, begin, end, x, y)
        else:
            nx, ny = _normal(points, i, begin, end, 0.0, 0.0)
        a_low, a_high = _shadow(outline, 0, outline.shape[0], x, y, nx, ny)
        b_low, b_high = _shadow(points, low, high, 0.0, 0.0, nx, ny)
        if a_high <= b_low or b_high <= a_low:
            return True
    return False


@inline
def _narrow(outline, x, y, dx, dy, points, low, high, nx, ny, k, enter, leave):
    """Cut the time in which they meet down to that in which their shadows do."""
    if nx == 0.0 and ny == 0.0:
        return
    a_low, a_high = _shadow(outline, 0, outline.shape[0], x, y, nx, ny)
    b_low, b_high = _shadow(points, low, high, 0.0, 0.0, nx, ny)
    speed = nx * dx + ny * dy
    if speed > 0.0:
        first, last = (b_low - a_high) / speed, (b_high - a_low) / speed
    elif speed < 0.0:
        first, last = (b_high - a_low) / speed, (b_low - a_high) / speed
    elif a_high <= b_low or b_high <= a_low:
        first, last = math.inf, -math.inf
    else:
        first, last = -math.inf, math.inf
    enter[k] = max(enter[k], first)
    leave[k] = min(leave[k], last)


@inline
def _shadow(points, begin, end, x, y, nx, ny):
    low, high = math.inf, -math.inf
    for i in range(begin, end):
        along = nx * (points[i, 0] + x) + ny * (points[i, 1] + y)
        low = min(low, along)
        high = max(high, along)
    return low, high
