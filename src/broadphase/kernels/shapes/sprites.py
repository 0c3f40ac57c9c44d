"""Sprites of pygame and arcade: their rects as boxes, which of them hit, and when on a path."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import holds_gil, inline, jit, objects
from broadphase.kernels.machine.memory import few
from broadphase.kernels.machine.objects import append, drop, is_same, item, read_numbers
from broadphase.kernels.shapes.table import BOX

FARTHEST = 1e300  # beyond, no body has its place

# -----------------------------------------------------------------------------------------------------------
# Rects of sprites, ``x, y, width, height``, as boxes.


@jit
def edges_of_rects(rects, boxes):
    """Boxes of rects; a negative size extends to the left or up.

    Returns how many have no width or no height, and the number that is farthest from zero; NaN if one of
    them is NaN.
    """
    flat = 0
    largest = 0.0
    for k in range(rects.shape[0]):
        flat += rects[k, 2] == 0.0 or rects[k, 3] == 0.0
        for axis in range(2):
            begin, end = rects[k, axis], rects[k, axis] + rects[k, 2 + axis]
            boxes[k, axis], boxes[k, 2 + axis] = min(begin, end), max(begin, end)
        for column in range(4):
            size = abs(rects[k, column])
            if size > largest or size != size:  # NaN stays
                largest = size
    return flat, largest


# What happened to the rect of a sprite, or to its body.
SAME, MOVED, RESIZED, ASTRAY = range(4)


class Agreed(NamedTuple):
    """The rects of sprites and the places of their bodies when they last agreed, by row of the body."""

    rects: npt.NDArray[np.float64]
    places: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.float64]
    """From body to rect."""
    halves: npt.NDArray[np.float64]
    """The part of its size by which the body is placed from the corner of the rect: 0, or 0.5 for circles."""


@holds_gil
def bodies_of_rects(rects, agreed, rows, xs, ys):
    """What happened to each sprite that leads, and which bodies belong elsewhere.

    ``rows`` are those of the bodies at ``xs, ys``, -1 for one that is gone.

    Returns the kinds, the rows of those that moved or went astray and where they belong, how many are
    resized, how many are astray, and whether all are within `FARTHEST`.
    """
    count = rows.shape[0]
    kinds, placed, goals = np.empty(count, np.uint8), np.empty(count, np.int32), np.empty((count, 2))
    moved = resized = astray = 0
    sound = True
    for k in range(rows.shape[0]):
        row = rows[k]
        kinds[k] = SAME
        if row < 0:
            continue
        for axis in range(2):
            low, size = rects[k, axis], rects[k, 2 + axis]
            if size != agreed.rects[row, 2 + axis]:
                kinds[k] = RESIZED
            elif low != agreed.rects[row, axis] and kinds[k] == SAME:
                kinds[k] = MOVED
            goals[moved, axis] = min(low, low + size) + agreed.halves[row] * abs(size)
        if kinds[k] == RESIZED:
            resized += 1
            continue
        if kinds[k] == SAME:
            if xs[row] == agreed.places[row, 0] and ys[row] == agreed.places[row, 1]:
                continue
            kinds[k] = ASTRAY
            astray += 1
            goals[moved, 0], goals[moved, 1] = agreed.places[row, 0], agreed.places[row, 1]
        sound &= abs(goals[moved, 0]) < FARTHEST and abs(goals[moved, 1]) < FARTHEST
        placed[moved] = row
        moved += 1
    return kinds, placed[:moved], goals[:moved], resized, astray, sound


@holds_gil
def agree(rects, rows, kinds, xs, ys, agreed):
    """Note the rects that have changed, and their bodies, which are where they belong."""
    for k in range(rows.shape[0]):
        row = rows[k]
        if kinds[k] == MOVED or kinds[k] == RESIZED:
            for column in range(4):
                agreed.rects[row, column] = rects[k, column]
            agreed.places[row, 0], agreed.places[row, 1] = xs[row], ys[row]
            agreed.offsets[row, 0], agreed.offsets[row, 1] = rects[k, 0] - xs[row], rects[k, 1] - ys[row]


@holds_gil
@objects("rect", "sprites", "sprite", "found")
def put_boxes_among(shapes, rows, rect, sprites, sprite, found):
    """Append the sprites whose ``rows`` are boxes with an area that overlap a rect, without ``sprite``.

    ``rect`` is ``x, y, width, height`` as the caller has it: reading it in Python takes as long as the rest.
    Rows of -1 are passed over.  Returns whether this is known: the rect is one, and all are boxes.
    """
    candidates, sides, count = np.empty(rows.shape[0], np.int32), few(4, np.float64), 0
    if not read_numbers(rect, sides):
        return False
    left, right = min(sides[0], sides[0] + sides[2]), max(sides[0], sides[0] + sides[2])
    top, bottom = min(sides[1], sides[1] + sides[3]), max(sides[1], sides[1] + sides[3])
    if not (left < right and top < bottom):
        return True
    for k in range(rows.shape[0]):
        row = rows[k]
        if row < 0:
            continue
        if shapes.kinds[row] != BOX:
            return False
        x, y = shapes.x[row], shapes.y[row]
        far_x, far_y = x + shapes.width[row], y + shapes.height[row]
        candidates[count] = k
        # Without a branch: a thousand boxes take 1 us.
        across = (max(x, left) < min(far_x, right)) & (x < far_x)
        count += across & (max(y, top) < min(far_y, bottom)) & (y < far_y)
    for k in range(count):
        one = item(sprites, np.int64(candidates[k]))
        if not is_same(one, sprite):
            append(found, one)
        drop(one)
    return True


# -----------------------------------------------------------------------------------------------------------
# One sprite of arcade against a list: which sprites are near.
#
# The kernel reads the arrays that arcade keeps for the graphics card, float32.


# The most by which float32 may have rounded places and sizes.
_ROUNDING = 1e-6
# Half of a diagonal, as arcade has it.
_REACH = 0.71


@jit
def near_sprites(places, sizes, slots, x, y, size, out):
    """Positions in ``slots`` of the sprites that may pass arcade's first test; returns how many.

    ``places`` holds four numbers for each slot, x and y first, ``sizes`` two.  NaN passes.
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


# -----------------------------------------------------------------------------------------------------------
# One outline against others: which it overlaps at a place, and when it meets them along a path.
#
# The arithmetic of the first kernel is arcade's, operation for operation, so that the answers are the same to
# the last bit.
# Outlines that share only an edge or a corner do not meet.


# A part of a path that is only rounding error: an outline that is only left is not met.
TOLERANCE = 1e-9


@jit
def meets(outline, x, y, points, ends, hits):
    """The outlines that ``outline``, moved by x and y, overlaps; returns how many.

    Outline k of the others ends before row ``ends[k]`` of ``points``.
    """
    count, low = 0, 0
    for k in range(ends.shape[0]):
        high = ends[k]
        hits[k] = _overlap(outline, x, y, points, low, high)
        count += hits[k]
        low = high
    return count


class Outlines(NamedTuple):
    """Sprites of arcade: their corners, one after the other, where those of each end, places and sizes."""

    corners: npt.NDArray[np.float64]
    ends: npt.NDArray[np.int64]
    places: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.float64]


@jit
def pairs_that_meet(sprites, others, pairs):
    """Which pairs pass both tests of arcade: by distance, and by outline; to the last bit as there."""
    hits = np.empty(pairs.shape[0], np.bool_)
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        reach = 0.71 * (sprites.sizes[i] + others.sizes[j])
        dx, dy = sprites.places[i, 0] - others.places[j, 0], sprites.places[i, 1] - others.places[j, 1]
        squared, along_x, along_y = reach * reach, dx * dx, dy * dy
        begin = sprites.ends[i - 1] if i > 0 else np.int64(0)
        low = others.ends[j - 1] if j > 0 else np.int64(0)
        outline, high = sprites.corners[begin : sprites.ends[i]], others.ends[j]
        is_near = not (along_x > squared or along_y > squared or along_x + along_y > squared)
        hits[k] = is_near and _overlap(outline, 0.0, 0.0, others.corners, low, high)
    return hits


@jit
def times_on_path(outline, x, y, dx, dy, points, ends, enter, leave):
    """When ``outline``, moving from x, y by dx, dy, enters and leaves each of the others.

    In parts of the path, and 0 for those that it overlaps at the start; ``inf`` for both if it meets the
    other on no part of the path.  Returns how much of the path is clear: 0 to 1.
    """
    low, clear = 0, 1.0
    for k in range(ends.shape[0]):
        high = ends[k]
        enter[k], leave[k] = _times_of_overlap(outline, x, y, dx, dy, points, low, high)
        if not (enter[k] < leave[k] and enter[k] < 1.0 and leave[k] > TOLERANCE):
            enter[k], leave[k] = math.inf, math.inf
        enter[k] = max(enter[k], 0.0)
        clear = min(clear, enter[k])
        low = high
    return clear


@inline
def _overlap(outline, x, y, points, low, high):
    """Whether an outline, moved by x and y, overlaps another; without corners it overlaps nothing."""
    if outline.shape[0] == 0 or high == low:
        return False
    for edge in range(outline.shape[0] + high - low):
        _, _, a_low, a_high, b_low, b_high = _projections(outline, x, y, points, low, high, edge)
        if a_high <= b_low or b_high <= a_low:
            return False
    return True


@inline
def _times_of_overlap(outline, x, y, dx, dy, points, low, high):
    """When an outline that moves begins and ceases to overlap another: while all their projections do."""
    if outline.shape[0] == 0 or high == low:
        return math.inf, -math.inf
    enter, leave = -math.inf, math.inf
    for edge in range(outline.shape[0] + high - low):
        nx, ny, a_low, a_high, b_low, b_high = _projections(outline, x, y, points, low, high, edge)
        speed = nx * dx + ny * dy
        if speed > 0.0:
            enter, leave = max(enter, (b_low - a_high) / speed), min(leave, (b_high - a_low) / speed)
        elif speed < 0.0:
            enter, leave = max(enter, (b_high - a_low) / speed), min(leave, (b_low - a_high) / speed)
        elif (a_high <= b_low or b_high <= a_low) and (nx != 0.0 or ny != 0.0):
            return math.inf, -math.inf
    return enter, leave


@inline
def _projections(outline, x, y, points, low, high, edge):
    """A normal of an edge of one of two outlines, and from where to where each reaches along it."""
    count = outline.shape[0]
    if edge < count:
        nx, ny = _normal(outline, edge, 0, count, x, y)
    else:
        nx, ny = _normal(points, low + edge - count, low, high, 0.0, 0.0)
    a_low, a_high = _shadow(outline, 0, count, x, y, nx, ny)
    b_low, b_high = _shadow(points, low, high, 0.0, 0.0, nx, ny)
    return nx, ny, a_low, a_high, b_low, b_high


@inline
def _normal(points, i, begin, end, x, y):
    """The normal of the edge that begins at row i of points that are moved by x and y."""
    j = i + 1 if i + 1 < end else begin
    return (points[j, 1] + y) - (points[i, 1] + y), (points[i, 0] + x) - (points[j, 0] + x)


@inline
def _shadow(points, begin, end, x, y, nx, ny):
    low, high = math.inf, -math.inf
    for i in range(begin, end):
        along = nx * (points[i, 0] + x) + ny * (points[i, 1] + y)
        if along < low:
            low = along
        if along > high:
            high = along
    return low, high
