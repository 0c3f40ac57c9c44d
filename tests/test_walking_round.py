"""Walkers next to round or sloped shapes: exact depth, starting where `World.move` has ended."""

import math
from fractions import Fraction

import numpy as np
import pytest

from broadphase import Box, Capsule, Circle, Polygon, RoundedBox, World

KINDS = ["circle", "capsule", "rounded", "polygon"]


def random_shape(rng, kind):
    a, b, c = rng.uniform(2, 9, 3).tolist()
    if kind == "circle":
        return Circle(0, 0, a)
    if kind == "capsule":
        return Capsule(-b, -c, b, c * rng.uniform(-1, 1), a)
    if kind == "rounded":
        return RoundedBox(-b, -c, 2 * b, 2 * c, 0.9 * min(b, c))
    return Polygon([(-a, -b), (c, -a), (b, c), (-b, a)])


def core(shape):
    """Corners whose hull, grown by a radius, is the shape."""
    if isinstance(shape, Circle):
        return [(shape.x, shape.y)], shape.radius
    return [tuple(point) for point in shape.points.tolist()], shape.radius


def squared_distance(bounds, points):
    """Between a box and a convex hull, in exact arithmetic; 0 where they overlap."""
    left, top, right, bottom = map(Fraction, bounds)
    hull = [(Fraction(x), Fraction(y)) for x, y in points]
    box = [(left, top), (right, top), (right, bottom), (left, bottom)]
    if len(hull) > 1 and not _apart(box, hull):
        return Fraction(0)
    best = None
    for some, others in ((box, hull), (hull, box)):
        for px, py in some:
            for k, (ax, ay) in enumerate(others):
                bx, by = others[(k + 1) % len(others)]
                dx, dy = bx - ax, by - ay
                size = dx * dx + dy * dy
                part = ((px - ax) * dx + (py - ay) * dy) / size if size else Fraction(0)
                part = min(max(part, Fraction(0)), Fraction(1))
                away = (px - ax - part * dx) ** 2 + (py - ay - part * dy) ** 2
                best = away if best is None else min(best, away)
    if len(hull) == 1 and left <= hull[0][0] <= right and top <= hull[0][1] <= bottom:
        return Fraction(0)
    return best


def _apart(box, hull):
    """Whether a line along a side of either is between them."""
    for ring in (box, hull):
        for k, (ax, ay) in enumerate(ring):
            bx, by = ring[(k + 1) % len(ring)]
            nx, ny = by - ay, ax - bx
            one = [nx * x + ny * y for x, y in box]
            other = [nx * x + ny * y for x, y in hull]
            if max(one) < min(other) or max(other) < min(one):
                return True
    return False


def depth(body, shape, at=(0.0, 0.0)):
    """How deep a box is in a shape; 0 or less where it is free."""
    points, radius = core(shape)
    left, top, right, bottom = body.bounds
    bounds = left - at[0], top - at[1], right - at[0], bottom - at[1]
    away = squared_distance(bounds, points)
    if radius == 0.0:
        if away > 0:
            return -math.sqrt(away)
        return _polygon_depth(bounds, points)
    return radius - math.sqrt(away)


def _polygon_depth(bounds, points):
    left, top, right, bottom = bounds
    box = [(left, top), (right, top), (right, bottom), (left, bottom)]
    shallowest = math.inf
    for ring, others in ((box, points), (points, box)):
        for k, (ax, ay) in enumerate(ring):
            bx, by = ring[(k + 1) % len(ring)]
            size = math.hypot(bx - ax, by - ay)
            nx, ny = (by - ay) / size, (ax - bx) / size
            if max(nx * (x - ax) + ny * (y - ay) for x, y in ring) > 1e-9:
                nx, ny = -nx, -ny
            inward = -min(nx * (x - ax) + ny * (y - ay) for x, y in others)
            shallowest = min(shallowest, inward)
    return shallowest


def motions(rng, hero):
    """Towards the middle, through it, and about."""
    x, y = hero.x, hero.y
    yield -x / 2, -y / 2
    for _ in range(4):
        yield tuple(rng.uniform(-30, 30, 2).tolist())
    yield -2 * hero.x, -2 * hero.y


@pytest.mark.covering
@pytest.mark.parametrize("flip", [1.0, -1.0])
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("period", [None, 128.0])
@pytest.mark.parametrize("kind", KINDS)
def test_no_walker_ends_inside_or_passes_through(kind, period, many, flip, exhaustive):
    rng = np.random.default_rng(31)
    for _ in range(25 if exhaustive else 8):
        world = World() if period is None else World(period=(period, period))
        shape = random_shape(rng, kind)
        at = (0.0, 0.0) if period is None else (64.0, 64.0)
        world.add(shape.moved_to(shape.x + at[0], shape.y + at[1]), static=True)
        angle = rng.uniform(0, 2 * math.pi)
        x, y = 40 * math.cos(angle), 40 * math.sin(angle)
        hero = world.add(Box(at[0] + x, at[1] + y, *rng.uniform(0.5, 4, 2).tolist()))
        world.move(hero, -1.2 * x, -1.2 * y, "touch")
        for dx, dy in motions(rng, hero if period is None else Box(hero.x - 64, hero.y - 64, 1, 1)):
            if many:
                world.walk_many([hero], dx, dy, down=(0, flip))
            else:
                world.walk(hero, dx, dy, down=(0, flip))
            assert depth(hero, shape, at) < 1e-11, (shape, hero.bounds, dx, dy)


def test_a_walker_that_only_touches_a_circle_is_outside():
    for sx, sy in ((3, 4), (4, 3), (-3, 4), (-4, -3), (4, -3)):
        world = World()
        ball = world.add(Circle(0, 0, 5), static=True)
        hero = world.add(Box(sx - (2 if sx < 0 else 0), sy - (2 if sy < 0 else 0), 2, 2))
        before = hero.position
        walk = world.walk(hero, -math.copysign(20, sx), 0)
        assert [hit.other for hit in walk.hits] == [ball]
        assert hero.position == pytest.approx(before, abs=1e-11)
        assert depth(hero, ball.shape) < 1e-11


@pytest.mark.parametrize("period", [None, 128.0])
@pytest.mark.parametrize("flip", [1.0, -1.0])
@pytest.mark.parametrize("radius", [0.0, 3.0])
def test_a_walk_leads_up_to_a_round_corner_itself(period, flip, radius):
    """To the side as well as up, whatever the angle: not to a polygon around the corner."""
    for dip in (0.5, 1.0, 2.5, 4.0):
        for sign in (1.0, -1.0):
            far = math.sqrt((5.0 + radius) ** 2 - (5.0 + radius - dip) ** 2)
            world = World(period=period and (period, period))
            world.add(Circle(64, 64, 5), static=True)
            size = 2.0 * radius or 3.0
            x, y = 64.0 + sign * 30.0, 64.0 + 5.0 + radius - dip
            hero = world.add(
                Circle(x, y, radius)
                if radius
                else Box(x if sign > 0 else x - size, 64.0 + 5.0 - dip, size, size)
            )
            before = hero.x
            walk = world.walk(hero, -40.0 * sign, 0, down=(0, flip), steepest=0)
            assert hero.x - before == pytest.approx(sign * (far - 30.0), abs=1e-10)
            again = world.walk(hero, -40.0 * sign, 0, down=(0, flip), steepest=0)
            assert (again.x, again.y) == pytest.approx((walk.x, walk.y), abs=1e-10)
            # Up, from below the corner.
            up = World(period=period and (period, period))
            up.add(Circle(64, 64, 5), static=True)
            x, y = 64.0 + sign * (5.0 + radius - dip), 64.0 + flip * 30.0
            left, top = (x if sign > 0 else x - size), (y if flip > 0 else y - size)
            jumper = up.add(Circle(x, y, radius) if radius else Box(left, top, size, size))
            before = jumper.y
            up.walk(jumper, 0, -40.0 * flip, down=(0, flip), steepest=89)
            assert jumper.y - before == pytest.approx(flip * (far - 30.0), abs=1e-10)
