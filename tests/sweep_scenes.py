"""What the tests of movement share: scenes as lists of boxes, and an answer in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np

from broadphase import Box
from broadphase.geometry.table import plain_columns
from broadphase.kernels.shapes.table import BOX
from broadphase.world.hits import Blockers
from broadphase.world.movement.sweep import resolve


def around_boxes(boxes, others=None):
    """Blockers by brute force; a hit names a box by its number."""
    array = np.array(boxes, np.float64).reshape(-1, 4)
    names = list(range(len(array))) if others is None else list(others)

    def around(bounds):
        left, top, right, bottom = bounds
        near = (array[:, 0] <= right) & (left <= array[:, 2]) & (array[:, 1] <= bottom) & (top <= array[:, 3])
        rows = np.flatnonzero(near)
        some, each = array[rows], np.arange(len(rows), dtype=np.int32)
        table = plain_columns(BOX, some[:, :2], *(some[:, 2:] - some[:, :2]).T)
        return Blockers(some, [names[row] for row in rows], table, each, np.ones(len(rows), np.bool_))

    return around


def go(box, motion, boxes=(), tiles=None, response="slide"):
    return resolve(Box(*map(float, box)), *motion, around_boxes(boxes), tiles, response)


def overlaps(x, y, width, height, box):
    return x < box[2] and box[0] < x + width and y < box[3] and box[1] < y + height


def boxes_of_tiles(tiles):
    if tiles is None:
        return []
    return [tiles.bounds_of(int(column), int(row)) for row, column in np.argwhere(tiles.solid)]


def exact_first_hit(box, motion, boxes):
    """``time, corner, number, axis`` of the first hit, or ``None``: the definition, in fractions."""
    hits = []
    for number, other in enumerate(boxes):
        enter, leave, lines = [], [], set()
        for axis in range(2):
            lo, size, step = Fraction(box[axis]), Fraction(box[axis + 2]), Fraction(motion[axis])
            other_lo, other_hi = Fraction(other[axis]), Fraction(other[axis + 2])
            if step == 0:
                apart = lo + size <= other_lo or lo >= other_hi
                enter.append(math.inf if apart else -math.inf)
                leave.append(math.inf)
                continue
            times = sorted([(other_lo - lo - size) / step, (other_hi - lo) / step])
            if times[0] == times[1]:
                lines.add(axis)
            enter.append(times[0])
            leave.append(times[1])
        time = max(enter)
        axis = 0 if enter[0] >= enter[1] else 1
        if axis in lines:  # without thickness on both sides: to reach is to hit
            hit = 0 < time <= 1 and enter[1 - axis] < time < leave[1 - axis]
        else:
            hit = 0 <= time < min(leave) and time < 1
        if hit:
            corner = enter[0] == enter[1]
            hits.append((time, corner, number, axis))
    return min(hits, default=None)


def passes_through(start, goal, width, height, other, slack):
    """Whether a box on the straight path from start to goal enters another by more than ``slack``."""
    first, last = Fraction(0), Fraction(1)
    for axis, size in enumerate((width, height)):
        at, step = Fraction(start[axis]), Fraction(goal[axis]) - Fraction(start[axis])
        lo, hi = Fraction(other[axis]) - Fraction(size) + slack, Fraction(other[axis + 2]) - slack
        if lo >= hi:
            return False
        if step == 0:
            if not lo < at < hi:
                return False
            continue
        times = sorted([(lo - at) / step, (hi - at) / step])
        first, last = max(first, times[0]), min(last, times[1])
    return first < last
