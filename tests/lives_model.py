"""A world as a list of shapes: every question and every movement compares all with all, in exact arithmetic.

All coordinates are multiples of 1/8 and small, so sums, differences and squares of float64 have no error;
only the path up to a circle has a square root.  A period is a list of shifts: a shape stands for all of its
images.  Rays and movements go along an axis.
"""

import math
from itertools import product

import numpy as np


class ModelBody:
    """A box (``r`` is None; ``x, y`` its lower corner) or a circle (``x, y`` its centre), with its rules."""

    def __init__(
        self, x, y, w, h, r=None, *, tag=None, static=False, sensor=False, category=1, mask=0xFFFFFFFF
    ):
        self.x, self.y, self.w, self.h, self.r = x, y, w, h, r
        self.tag, self.static, self.sensor, self.category, self.mask = tag, static, sensor, category, mask

    def copy(self):
        return ModelBody(
            *(self.x, self.y, self.w, self.h, self.r),
            **{name: getattr(self, name) for name in ("tag", "static", "sensor", "category", "mask")},
        )

    @property
    def bounds(self):
        if self.r is None:
            return self.x, self.y, self.x + self.w, self.y + self.h
        return self.x - self.r, self.y - self.r, self.x + self.r, self.y + self.r

    def meets(self, other):
        return bool(self.category & other.mask and other.category & self.mask)


class Lives:
    """Things by id, in a plain world or a periodic one."""

    def __init__(self, period):
        self.period = period
        self.bodies = {}
        self.listened = []
        self.before = {}
        self.images = {reach: self.shifts(reach) for reach in (1, 2, 3)}

    def add(self, body):
        new = next(k for k in range(len(self.bodies) + 1) if k not in self.bodies)
        self.place(body, body.x, body.y)
        self.bodies[new] = body
        return new

    def place(self, body, x, y):
        if self.period is not None:
            x, y = x % self.period[0], y % self.period[1]
        body.x, body.y = x, y

    def shifts(self, reach):
        if self.period is None:
            return [(0.0, 0.0)]
        width, height = self.period
        turns = range(-reach, reach + 1)
        return [(i * width, j * height) for i, j in product(turns, turns)]

    # ---- contacts

    def overlapping(self, query):
        """The ids of all bodies that overlap a body with more than an edge."""
        return self._overlapping(query, *self._table())

    def _table(self):
        """The ids of all bodies, and the bounds of all their images, as arrays."""
        ids = sorted(self.bodies)
        low_x, low_y, high_x, high_y = np.array([self.bodies[k].bounds for k in ids]).reshape(-1, 4).T
        dx, dy = np.array(self.images[2]).T[:, :, None]
        return ids, (low_x + dx, low_y + dy, high_x + dx, high_y + dy)

    def _overlapping(self, query, ids, bounds):
        left, top, right, bottom = query.bounds
        low_x, low_y, high_x, high_y = bounds
        near = (left < high_x) & (low_x < right) & (top < high_y) & (low_y < bottom)
        some = (ids[at] for at in np.flatnonzero(near.any(axis=0)))
        return [k for k in some if self.overlap(query, self.bodies[k])]

    def overlap(self, a, b):
        return any(overlap(a, b, dx, dy) for dx, dy in self.images[2])

    def update(self, stopped=(), crossed=()):
        """The pairs of ids that began, stayed and ended; what ``stopped`` a mover is in contact with it.

        What it ``crossed`` began and ended, if it is in contact neither before nor after.
        """
        now = {}
        table = self._table()
        heard = {tag for pair in self.listened for tag in pair}
        for i, a in self.bodies.items():
            for j in self._overlapping(a, *table) if a.tag in heard else ():
                b = self.bodies[j]
                if i < j and self.concerned(a, b) and a.meets(b):
                    now[i, j] = (a, b)
        now |= self._still_there(stopped)
        before, self.before = self.before, now
        same = {key for key in now if before.get(key) == now[key]}
        passed = self._still_there(crossed).items() - before.items()
        passed = {key for key, _ in passed if key not in now}
        return (set(now) - same) | passed, same, (set(before) - same) | passed

    def _still_there(self, pairs):
        """Those that a listener hears of and of which both are there, by their ids."""
        ids = {body: k for k, body in self.bodies.items()}
        there = {}
        for a, b in pairs:
            if a in ids and b in ids and self.concerned(a, b):
                i, j = sorted((ids[a], ids[b]))
                there[i, j] = (self.bodies[i], self.bodies[j])
        return there

    def concerned(self, a, b):
        if a.static and b.static:
            return False
        return any({a.tag, b.tag} == {s, t} and (s != t or a.tag == b.tag) for s, t in self.listened)

    # ---- rays

    def first_on_ray(self, x, y, axis, sign, max_distance, ignore=None):
        """The nearest box that a ray along an axis meets: ``distance, id``, or None."""
        found = []
        for k, body in self.bodies.items():
            if k == ignore:
                continue
            for sx, sy in self.images[3]:
                lower, upper = along(body, sx, sy, axis)
                across_lower, across_upper = along(body, sx, sy, 1 - axis)
                start, other = (x, y) if axis == 0 else (y, x)
                if across_lower < other < across_upper:
                    gap = lower - start if sign > 0 else start - upper
                    if lower < start < upper:
                        gap = 0.0
                    if 0.0 <= gap <= max_distance:
                        found.append((gap, k))
        return min(found) if found else None

    # ---- movement

    def free(self, mover, blockers):
        return not any(self.overlap(mover, other) for other in blockers)

    def blockers(self, mover, *, only_static=False):
        """What stops a mover.  Sensors stop nothing and are stopped by nothing but tiles."""
        if mover.sensor:
            return []
        return [
            other
            for other in self.bodies.values()
            if other is not mover
            and not other.sensor
            and mover.meets(other)
            and (other.static or not only_static)
        ]

    def motion(self, mover, axis, length, blockers):
        """How far a free body gets along an axis.

        A circle is a point with a radius: if the sides of two bodies are less than the sum of their
        radiuses apart, they meet that much of a chord before their middles would.
        """
        far = abs(length)
        for other in blockers:
            radius = (mover.r or 0.0) + (other.r or 0.0)
            for sx, sy in self.images[3]:
                lower, upper = core(mover, 0.0, 0.0, axis)
                low, high = core(other, sx, sy, axis)
                across_lower, across_upper = core(mover, 0.0, 0.0, 1 - axis)
                across_low, across_high = core(other, sx, sy, 1 - axis)
                apart = max(across_low - across_upper, across_lower - across_high)
                if not apart < radius:
                    continue
                chord = math.sqrt(radius * radius - max(apart, 0.0) ** 2)
                gap = (low - upper if length > 0 else lower - high) - chord
                if -1e-9 <= gap < far:  # of boxes it is exact, of a chord rounded
                    far = max(gap, 0.0)
        return far if length > 0 else -far

    # ---- nearest

    def distances(self, x, y):
        """The square of the distance of each box from a point, by distance, then id."""
        found = []
        for k, body in self.bodies.items():
            squares = []
            for sx, sy in self.images[1]:
                left, top, right, bottom = body.bounds
                dx = max(left + sx - x, x - right - sx, 0.0)
                dy = max(top + sy - y, y - bottom - sy, 0.0)
                squares.append(dx * dx + dy * dy)
            found.append((min(squares), k))
        return sorted(found)


def core(body, sx, sy, axis):
    """As `along`, without the radius."""
    lower, upper = along(body, sx, sy, axis)
    return (lower, upper) if body.r is None else (lower + body.r, upper - body.r)


def along(body, sx, sy, axis):
    left, top, right, bottom = body.bounds
    return (left + sx, right + sx) if axis == 0 else (top + sy, bottom + sy)


def overlap(a, b, dx, dy):
    """Whether ``a`` overlaps ``b`` shifted by ``dx, dy``."""
    if a.r is not None and b.r is not None:
        return (a.x - b.x - dx) ** 2 + (a.y - b.y - dy) ** 2 < (a.r + b.r) ** 2
    if a.r is not None:
        return overlap(b, a, -dx, -dy)
    left, top, right, bottom = a.bounds
    if b.r is not None:
        x, y = b.x + dx, b.y + dy
        gap_x, gap_y = max(left - x, x - right, 0.0), max(top - y, y - bottom, 0.0)
        return gap_x * gap_x + gap_y * gap_y < b.r * b.r
    low_x, low_y, high_x, high_y = b.bounds
    return left < high_x + dx and low_x + dx < right and top < high_y + dy and low_y + dy < bottom
