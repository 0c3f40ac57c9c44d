"""Periodic worlds: boxes wrapped into the period, ghosts across the periodic boundary, and queries."""

import math

import numpy as np

from broadphase.kernels.arrays.passes import PIECE, answers
from broadphase.kernels.boxes.overlap import overlap
from broadphase.kernels.boxes.queries import distance_to_box, gap
from broadphase.kernels.machine.jit import always_inline, inline, jit
from broadphase.kernels.machine.memory import few
from broadphase.kernels.machine.simd import count_lanes

# -----------------------------------------------------------------------------------------------------------
# Periodic worlds: boxes wrapped into the period, and the ghosts of those that cross the periodic boundary.
#
# On an axis with a period an interval is *in the world* if it begins in ``0 <= min < period``.  One that
# reaches the boundary at ``period`` has a second piece, its *ghost*, one period lower.  Two boxes overlap on
# such an axis if a piece of one overlaps a piece of the other.  For boxes in the world this is decided
# without rounding: ``max - period`` is exact between one and two periods, and the min of a ghost is below 0,
# where every comparison with it has the same result however it was rounded.
#
# A box that covers a whole axis is from -inf to inf on it: it meets everything there and has no ghost.
#
# ``period`` has an entry for each axis, in the type of the boxes: inf for an axis that is not periodic.


# Why a box cannot be wrapped: it is at infinity, or so far away that rounding loses its position.
AT_INFINITY, TOO_FAR = np.int64(1), np.int64(2)
_ROUNDS = 8


@inline
def _crossed_axes(boxes, i, period, touching):
    """The axes on which a box in the world has a ghost, as bits; on one that it covers it has none."""
    crossed = np.int64(0)
    dim = boxes.shape[1] // 2
    for axis in range(dim):
        low, high, end = boxes[i, axis], boxes[i, dim + axis], period[axis]
        if low > -np.inf and end < np.inf and (high >= end if touching else high > end):
            crossed |= 1 << axis
    return crossed


@inline
def _ghosts(axes):
    """How many ghosts a box has that crosses these axes."""
    return (1 << count_lanes(axes)) - 1


@inline
def wrapped(low, high, periods, axis, touching):
    """An interval wrapped into the world, and what is wrong with it: 0 if nothing is."""
    kind, period = periods.dtype.type, periods[axis]
    everywhere = kind(np.inf)  # not np.inf, which would make float64 of float32
    if low == everywhere or high == -everywhere:
        return low, high, AT_INFINITY
    if low == -everywhere or high == everywhere:
        return -everywhere, everywhere, np.int64(0)
    farthest = kind(1.0) / np.finfo(periods.dtype).eps
    for _ in range(_ROUNDS):
        if kind(0.0) <= low < period:
            break
        times = low / period
        if not abs(times) < farthest:
            return low, high, TOO_FAR
        whole = kind(np.int64(times))
        if whole > times or (low < kind(0.0) and whole == kind(0.0)):  # down, and also where -0.0 is left
            whole -= kind(1.0)
        low -= whole * period
        high -= whole * period
    if high >= period and (high - period >= low if touching else high - period > low):
        return -everywhere, everywhere, np.int64(0)
    return low, high, np.int64(0)


@always_inline
def _lies_inside(boxes, i, period):
    """Whether a box is in the world and reaches no boundary, so that it stays as it is."""
    # Both dimensions are written out, as in `checks`: nearly all boxes end here.
    if boxes.shape[1] == 4:
        return (boxes[i, 0] >= 0) & (boxes[i, 2] < period[0]) & (boxes[i, 1] >= 0) & (boxes[i, 3] < period[1])
    return (
        (boxes[i, 0] >= 0)
        & (boxes[i, 3] < period[0])
        & (boxes[i, 1] >= 0)
        & (boxes[i, 4] < period[1])
        & (boxes[i, 2] >= 0)
        & (boxes[i, 5] < period[2])
    )


@jit
def wrap_boxes(boxes, period, touching, begin, end, out, crossing):
    """Wrap valid boxes into the period: ``crossed, ghosts, row, axis, trouble``.

    The rows that cross a boundary are written to ``crossing``; ``crossed`` is how many, ``ghosts`` how many
    ghosts they have.  ``row, axis, trouble`` describe the first box that cannot be wrapped; row -1 for none.
    """
    dim = boxes.shape[1] // 2
    crossed = ghosts = np.int64(0)
    for i in range(begin, end):
        for column in range(boxes.shape[1]):
            out[i, column] = boxes[i, column]
        if _lies_inside(out, i, period):
            continue
        for axis in range(dim):
            if period[axis] < np.inf:
                low, high, trouble = wrapped(out[i, axis], out[i, dim + axis], period, axis, touching)
                if trouble != 0:
                    return crossed, ghosts, np.int64(i), np.int64(axis), trouble
                out[i, axis] = low
                out[i, dim + axis] = high
        axes = _crossed_axes(out, i, period, touching)
        if axes != 0:
            crossing[crossed] = i
            crossed += 1
            ghosts += _ghosts(axes)
    return crossed, ghosts, np.int64(-1), np.int64(0), np.int64(0)


@jit
def wrap_points(points, period):
    """Wrap points into the period in place; returns the first row and axis that cannot be wrapped, or -1."""
    for i in range(points.shape[0]):
        for axis in range(points.shape[1]):
            if period[axis] < np.inf:
                coordinate, _, trouble = wrapped(points[i, axis], points[i, axis], period, axis, True)
                if trouble != 0:
                    return np.int64(i), np.int64(axis)
                points[i, axis] = coordinate
    return np.int64(-1), np.int64(0)


@jit
def make_ghosts(boxes, crossing, period, touching, ghosts, sources, reach):
    """Write all ghosts of the rows ``crossing``, in the world, and the row of each; returns how many.

    ``reach`` becomes, for each axis, the highest max of a ghost that is shifted along it; -inf for none.
    """
    dim = boxes.shape[1] // 2
    made = np.int64(0)
    for axis in range(dim):
        reach[axis] = -np.inf
    for k in range(crossing.shape[0]):
        i = crossing[k]
        crossed = _crossed_axes(boxes, i, period, touching)
        for shifted in range(1, 1 << dim):
            if shifted & ~crossed != 0:
                continue
            for axis in range(dim):
                low, high = boxes[i, axis], boxes[i, dim + axis]
                if shifted >> axis & 1 != 0:
                    low, high = low - period[axis], high - period[axis]
                    reach[axis] = max(reach[axis], high)
                ghosts[made, axis], ghosts[made, dim + axis] = low, high
            sources[made] = i
            made += 1
    return made


@jit
def rows_near_seam(boxes, reach, begin, end, rows):
    """Write the rows of boxes in the world that a ghost may meet into ``rows``; returns how many."""
    found = np.int64(0)
    for i in range(begin, end):
        is_near = (boxes[i, 0] <= reach[0]) | (boxes[i, 1] <= reach[1])
        if boxes.shape[1] == 6:
            is_near |= boxes[i, 2] <= reach[2]
        rows[found] = i
        found += np.int64(is_near)
    return found


@jit
def new_pairs(pairs, sources, boxes, touching, keys):
    """From pairs of pieces, pairs of two boxes that do not overlap inside the world: keys ``i << 32 | j``.

    ``boxes`` are in the world; ``sources``: the row of each piece.  Returns how many, with duplicates.
    """
    found = np.int64(0)
    for row in range(pairs.shape[0]):
        i, j = sources[pairs[row, 0]], sources[pairs[row, 1]]
        if i == j or overlap(boxes, i, boxes, j, touching):
            continue
        keys[found] = np.int64(min(i, j)) << 32 | np.int64(max(i, j))
        found += 1
    return found


# -----------------------------------------------------------------------------------------------------------
# Images: what lies at a place of the world lies at this place plus any whole number of periods, its *turns*.


_SLACK = 1e-12  # of the region: an image too many is sorted out by the exact test, one too few is missed


@jit
def spans_near(regions, period, low, high, spans):
    """The images that may meet each region, the first turn on each axis, then how many; how many in all.

    Shapes reach ``low`` below and ``high`` above their places.  A region that has no end on an axis meets
    everything there, and has one.
    """
    dim = period.shape[0]
    total = np.int64(0)
    for k in range(regions.shape[0]):
        largest = 0.0
        for column in range(2 * dim):
            if period[column % dim] < np.inf:
                largest = max(largest, period[column % dim])
            if abs(regions[k, column]) < np.inf:
                largest = max(largest, abs(regions[k, column]))
        slack, images = _SLACK * largest, np.int64(1)
        for axis in range(dim):
            begin, end = regions[k, axis], regions[k, dim + axis]
            first = last = np.int64(0)
            if period[axis] < np.inf and abs(begin) < np.inf and abs(end) < np.inf:
                first = math.ceil((begin - slack - high[axis]) / period[axis]) - 1
                last = math.floor((end + slack + low[axis]) / period[axis])
            spans[k, axis] = first
            spans[k, dim + axis] = last - first + 1
            images *= last - first + 1
        total += images
    return total


@jit
def put_turns(spans, rows, turns):
    """Write all turns of all `spans_near`, and the row of each."""
    dim = turns.shape[1]
    made = 0
    for k in range(spans.shape[0]):
        count = np.int64(1)
        for axis in range(dim):
            count *= spans[k, dim + axis]
        for image in range(count):
            rest = np.int64(image)
            for back in range(dim):
                axis = dim - 1 - back
                turns[made, axis] = spans[k, axis] + rest % spans[k, dim + axis]
                rest //= spans[k, dim + axis]
            rows[made] = k
            made += 1


# -----------------------------------------------------------------------------------------------------------
# Queries in a periodic world: the distance to the nearest image of a box, and results by that distance.
#
# The distance to a box is that to its nearest image.  On each axis the point is tried where it is, one
# period lower and one higher (both rounded as any sum): for a box and a point in the world, no other image is
# nearer.
#
# ``period`` is float64 here: inf for an axis that is not periodic.


@inline
def periodic_distance(boxes, i, points, q, period, image):
    """From point ``q`` to the nearest image of box ``i``; ``image`` is scratch, one number for each axis."""
    dim = period.shape[0]
    for axis in range(dim):
        low, high, coordinate = boxes[i, axis], boxes[i, dim + axis], points[q, axis]
        image[axis] = coordinate
        if period[axis] < np.inf:
            least = gap(low, high, coordinate)
            lower, higher = coordinate - period[axis], coordinate + period[axis]
            if gap(low, high, lower) < least:
                image[axis] = lower
                least = gap(low, high, lower)
            if gap(low, high, higher) < least:
                image[axis] = higher
    return distance_to_box(boxes, i, image)


@jit
def crossing_rows(boxes, period, touching, rows):
    """Write the rows of boxes that cross a boundary into ``rows``; how many, and how many ghosts.

    The rows of removed ids hold NaN, which crosses nothing.
    """
    crossed = ghosts = np.int64(0)
    for i in range(boxes.shape[0]):
        axes = _crossed_axes(boxes, i, period, touching)
        if axes != 0:
            rows[crossed] = i
            crossed += 1
            ghosts += _ghosts(axes)
    return crossed, ghosts


@jit
def keep_rows_meeting(boxes, rows, queries, period, touching):
    """Keep the rows ``[query, id]`` whose boxes overlap, in their order; both are in the world.

    On each axis one of them overlaps the other, or its piece one period lower, which is exact, see above.
    """
    dim = queries.shape[1] // 2
    kept = 0
    for h in range(rows.shape[0]):
        q, i = rows[h, 0], rows[h, 1]
        together = True
        for axis in range(dim):
            low, high = float(boxes[i, axis]), float(boxes[i, dim + axis])
            begin, end = queries[q, axis], queries[q, dim + axis]
            meet = (low <= end) & (begin <= high) if touching else (low < end) & (begin < high)
            if period[axis] < np.inf and not meet:
                high, end = high - period[axis], end - period[axis]
                meet = (begin <= high) | (low <= end) if touching else (begin < high) | (low < end)
            together &= meet
        if together:
            rows[kept, 0] = q
            rows[kept, 1] = i
            kept += 1
    return kept


@jit
def keep_rows_within(boxes, rows, begin, end, points, radii, period, touching):
    """Keep those of the rows ``[query, id]`` from ``begin`` to ``end - 1`` that are within their radius.

    In their order; returns where they end.
    """
    kept, around = np.int64(begin), False
    for axis in range(period.shape[0]):
        around |= period[axis] < np.inf
    for first in range(begin, end, PIECE):
        last = min(first + PIECE, end)
        if around:
            kept = _keep_within(boxes, rows, first, last, points, radii, period, touching, kept, True)
        else:
            kept = _keep_within(boxes, rows, first, last, points, radii, period, touching, kept, False)
        if not answers(end - begin):
            break
    return kept


@always_inline
def _keep_within(boxes, rows, begin, end, points, radii, period, touching, kept, around):
    image = few(period.shape[0], np.float64)
    for h in range(begin, end):
        query, i = rows[h, 0], rows[h, 1]
        if around:
            distance = periodic_distance(boxes, i, points, query, period, image)
        else:
            distance = distance_to_box(boxes, i, points[query])
        if distance < radii[query] or (touching and distance == radii[query]):
            rows[kept, 0] = query
            rows[kept, 1] = i
            kept += 1
    return kept
