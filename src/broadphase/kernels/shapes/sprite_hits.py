"""One sprite of arcade against a list: which sprites are near, and whose hit boxes overlap.

Reads the arrays that arcade keeps for the graphics card, float32.  The arithmetic of the second kernel is
arcade's, operation for operation, so that the answers are the same to the last bit.
"""

import math

from broadphase.kernels.machine.jit import inline, jit

# What float32 may have rounded off places and sizes.
_ROUNDING = 1e-6
# Half of a diagonal, as arcade has it.
_REACH = 0.71


@jit
def near_sprites(places, sizes, slots, x, y, size, out):
    """Positions in ``slots`` of the sprites that arcade's first test could let through; returns how many.

    ``places`` holds four numbers a slot, x and y first, ``sizes`` two.  What is no number is let through.
    """
    found = 0
    for k in range(slots.shape[0]):
        slot = slots[k]
        px, py = places[4 * slot], places[4 * slot + 1]
        other = max(sizes[2 * slot], sizes[2 * slot + 1])
        seen = abs(px) + abs(py) + abs(other) + abs(x) + abs(y) + abs(size)
        reach = _REACH * abs(size + other) + _ROUNDING * seen
        dx, dy = px - x, py - y
        if not (dx * dx + dy * dy > reach * reach):
            out[found] = k
            found += 1
    return found


@jit
def hit_polygons(points, ends, hits):
    """Whether polygon 0 meets each of the others; polygon k ends before row ``ends[k]`` of ``points``."""
    first = ends[0]
    for k in range(1, ends.shape[0]):
        low, high = ends[k - 1], ends[k]
        hits[k - 1] = (
            first > 0
            and high > low
            and not _parted(points, 0, first, 0, first, low, high)
            and not _parted(points, low, high, 0, first, low, high)
        )


@inline
def _parted(points, begin, end, a_begin, a_end, b_begin, b_end):
    """Whether, seen along one of the edges from ``begin`` to ``end``, a lies beside b."""
    for i in range(begin, end):
        j = i + 1 if i + 1 < end else begin
        nx, ny = points[j, 1] - points[i, 1], points[i, 0] - points[j, 0]
        a_low, a_high = _shadow(points, a_begin, a_end, nx, ny)
        b_low, b_high = _shadow(points, b_begin, b_end, nx, ny)
        if a_high <= b_low or b_high <= a_low:
            return True
    return False


@inline
def _shadow(points, begin, end, nx, ny):
    low, high = math.inf, -math.inf
    for i in range(begin, end):
        along = nx * points[i, 0] + ny * points[i, 1]
        if along < low:
            low = along
        if along > high:
            high = along
    return low, high
