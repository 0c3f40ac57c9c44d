"""What is right for walkers, in exact rational arithmetic, and nothing of the package in it but shapes.

Edges of boxes are the numbers that the library promises to compare: ``x`` and ``x + width`` as rounded.
"""

import math
from fractions import Fraction

from broadphase import Box, Circle, Polygon


class Thing:
    """Something that blocks: its bounds, and what is exact of it."""

    def __init__(self, shape, name):
        self.name = name
        self.shape = shape
        self.bounds = shape.bounds
        self.radius = Fraction(0)
        self.points = []
        if isinstance(shape, Circle):
            self.points = [(Fraction(shape.x), Fraction(shape.y))]
            self.radius = Fraction(shape.radius)
        elif isinstance(shape, Polygon):
            x, y = Fraction(shape.x), Fraction(shape.y)
            self.points = [(x + Fraction(a), y + Fraction(b)) for a, b in shape.offsets.tolist()]
            self.radius = Fraction(shape.radius)

    def corners(self):
        """Of its core."""
        left, top, right, bottom = map(Fraction, self.bounds)
        return self.points or [(left, top), (right, top), (right, bottom), (left, bottom)]

    def overlaps(self, box, shrink=Fraction(0), radius=0.0):
        """Whether a box ``left, top, right, bottom``, grown by a radius, is deeper in it than ``shrink``."""
        left, top, right, bottom = self.bounds
        grown = Fraction(radius)
        room = float(shrink - grown)
        if box[0] >= right - room or box[2] <= left + room or box[1] >= bottom - room or box[3] <= top + room:
            return False
        if self.radius or grown:
            reach = max(self.radius + grown - shrink, Fraction(0))
            return _distance_squared(box, self.corners()) < reach**2
        if not self.points:
            return True
        corners = [(Fraction(a), Fraction(b)) for a in box[::2] for b in box[1::2]]
        for (ax, ay), (bx, by) in zip(self.points, [*self.points[1:], self.points[0]], strict=True):
            nx, ny = by - ay, ax - bx
            least = min((x - ax) * nx + (y - ay) * ny for x, y in corners)
            if least >= 0 or (shrink and least >= -shrink * (abs(nx) + abs(ny))):
                return False
        return True

    def blocks_walkers(self, box, radius=0.0):
        """As `overlaps`; what is round blocks as the polygon of 32 sides around it."""
        left, top, right, bottom = self.bounds
        if not (self.radius or radius):
            return self.overlaps(box)
        if box[0] - radius >= right or box[2] + radius <= left:
            return False
        if box[1] - radius >= bottom or box[3] + radius <= top:
            return False
        points = [(float(x), float(y)) for x, y in self.corners()]
        sides = [math.tau * k / 32 for k in range(32)]
        sides += [
            math.atan2(ax - bx, by - ay)
            for (ax, ay), (bx, by) in zip(points, [*points[1:], points[0]], strict=True)
            if (ax, ay) != (bx, by)
        ]
        for angle in sides:
            nx, ny = math.cos(angle), math.sin(angle)
            reach = max(nx * x + ny * y for x, y in points) + float(self.radius) + radius
            nearest = nx * box[0 if nx > 0 else 2] + ny * box[1 if ny > 0 else 3]
            if nearest >= reach + 1e-9:
                return False
        return True

    def surface(self, left, right):
        """Where feet rest on it, in floats."""
        if not self.points:
            return self.bounds[1]
        points = [(float(x), float(y)) for x, y in self.points]
        if self.radius:
            return None
        best = min((y for x, y in points if left <= x <= right), default=float("inf"))
        for (ax, ay), (bx, by) in zip(points, [*points[1:], points[0]], strict=True):
            for at in (left, right):
                if ax != bx and min(ax, bx) <= at <= max(ax, bx):
                    best = min(best, ay + (by - ay) * (at - ax) / (bx - ax))
        return best


def _distance_squared(box, points):
    """From a box to a point, a line of two points, or a polygon; 0 where they overlap."""
    left, top, right, bottom = map(Fraction, box)
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    best = min(_from_box(x, y, left, top, right, bottom) for x, y in points)
    if len(points) > 1:
        for a, b in zip(points, [*points[1:], points[0]], strict=True):
            best = min(best, *(_from_line(corner, a, b) for corner in corners))
            if best and _crosses(a, b, left, top, right, bottom):
                return Fraction(0)
    if len(points) > 2 and _holds(points, corners[0]):
        return Fraction(0)
    return best


def _from_box(x, y, left, top, right, bottom):
    dx, dy = max(left - x, 0, x - right), max(top - y, 0, y - bottom)
    return dx * dx + dy * dy


def _from_line(point, a, b):
    dx, dy = b[0] - a[0], b[1] - a[1]
    px, py = point[0] - a[0], point[1] - a[1]
    part = min(max((px * dx + py * dy) / (dx * dx + dy * dy), Fraction(0)), Fraction(1))
    return (px - part * dx) ** 2 + (py - part * dy) ** 2


def _crosses(a, b, left, top, right, bottom):
    enter, leave = Fraction(0), Fraction(1)
    for at, motion, low, high in ((a[0], b[0] - a[0], left, right), (a[1], b[1] - a[1], top, bottom)):
        if motion == 0:
            if not low <= at <= high:
                return False
            continue
        first, last = sorted(((low - at) / motion, (high - at) / motion))
        enter, leave = max(enter, first), min(leave, last)
    return enter <= leave


def _holds(points, point):
    sides = zip(points, [*points[1:], points[0]], strict=True)
    return all((b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]) >= 0 for a, b in sides)


def core_of(shape):
    """The box inside a walker, relative to its position, and the radius around it."""
    if isinstance(shape, Box):
        return (0.0, 0.0, shape.width, shape.height), 0.0
    if isinstance(shape, Circle):
        return (0.0, 0.0, 0.0, 0.0), shape.radius
    low, high = shape.offsets.min(axis=0).tolist(), shape.offsets.max(axis=0).tolist()
    return (*low, *high), shape.radius


def things_of(world):
    """All that blocks walkers on all sides: bodies, solid tiles, slopes."""
    items = [Thing(body.shape, body) for body in world if not body.sensor]
    tiles = world.tiles
    if tiles is None:
        return items
    (width, height), (x, y) = tiles.tile_size, tiles.origin
    for row in range(tiles.rows):
        for column in range(tiles.columns):
            left, right = x + column * width, x + (column + 1) * width
            top, bottom = y + row * height, y + (row + 1) * height
            slope = tiles.slope(column, row)
            if tiles.is_solid(column, row):
                items.append(_tile(left, top, right, bottom, (column, row)))
            elif slope is not None:
                items.append(Thing(slope_shape(slope, left, top, right, bottom), (column, row)))
    return items


def _tile(left, top, right, bottom, name):
    item = Thing(Box(left, top, right - left, bottom - top), name)
    item.bounds = left, top, right, bottom
    return item


def slope_shape(slope, left, top, right, bottom):
    """The corners of a slope, as its docstring says."""
    base, other = (top, bottom) if slope.base == "top" else (bottom, top)
    ends = []
    for part in (slope.left, slope.right):
        whole = {0.0: base, 1.0: other}
        ends.append(whole.get(part, base + part * (other - base)))
    corners = [(left, base), (right, base), (right, ends[1]), (left, ends[0])]
    return Polygon([at for k, at in enumerate(corners) if at != corners[k - 1]])
