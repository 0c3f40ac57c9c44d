"""What the tests of movement share: scenes as lists of boxes, and an answer in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np

import broadphase as bp
from broadphase import Box


class Around:
    """A world of static shapes, which hits name by their numbers, or by other names, and tiles."""

    def __init__(self, shapes, others=None):
        self.names = list(range(len(shapes))) if others is None else list(others)
        self.shapes = shapes
        self._world = None

    def world(self, tiles=None):
        """The same at each call, as long as movers are taken out of it again."""
        if self._world is None:
            self._world = bp.World()
            for shape, name in zip(self.shapes, self.names, strict=True):
                self._world.add(shape, static=True, data=name)
        self._world.tiles = tiles
        return self._world


def named(other):
    return other.data if isinstance(other, bp.Body) else other


def resolve(shape, dx, dy, around=None, tiles=None, response="slide"):
    """The movement of one shape."""
    world = (around or Around([])).world(tiles)
    answer = response
    if callable(response):

        def answer(hit):
            return response(hit._replace(other=named(hit.other)))

    body = world.add(shape)
    move = world.move(body, dx, dy, response=answer)
    world.remove(body)
    return move._replace(hits=tuple(hit._replace(other=named(hit.other)) for hit in move.hits))


def beside(shape, direction, around=None, tiles=None):
    """What touches a shape in a direction."""
    world = (around or Around([])).world(tiles)
    body = world.add(shape)
    hit = world.grounded(body, direction)
    world.remove(body)
    return hit and hit._replace(other=named(hit.other))


def blocker_at(shape, around=None, tiles=None):
    """The first blocker that a shape overlaps."""
    return named((around or Around([])).world(tiles).blocker(shape))


def around_boxes(boxes, others=None):
    array = np.array(boxes, np.float64).reshape(-1, 4)
    return Around([Box(*box[:2], *(box[2:] - box[:2])) for box in array], others)


def go(box, motion, boxes=(), tiles=None, response="slide"):
    around = boxes if isinstance(boxes, Around) else around_boxes(boxes)
    return resolve(Box(*map(float, box)), *motion, around, tiles, response)


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
