"""Turned shapes and bodies: exact quarter turns, hinges, thousands in one call, snapshots, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadphase import Box, Capsule, Circle, Polygon, RoundedBox, Tile, TileMap, World, overlap
from broadphase.kernels.shapes.table import cosine_sine

SHAPES = [
    Box(3, 4, 10, 2),
    Circle(5, 5, 3),
    Polygon([(0, 0), (6, 1), (2, 5)]),
    Capsule(0, 0, 8, 2, 1.5),
    RoundedBox(-4, -4, 9, 5, 1),
]


@given(st.floats(-1e9, 1e9))
def test_the_sine_is_that_of_mathematics(angle):
    cosine, sine = cosine_sine(angle)
    exact = math.radians(math.fmod(angle, 360.0))
    assert cosine == pytest.approx(math.cos(exact), abs=4e-15)
    assert sine == pytest.approx(math.sin(exact), abs=4e-15)
    assert cosine * cosine + sine * sine == pytest.approx(1, abs=4e-16)


@pytest.mark.smaller_set
def test_quarter_turns_are_exact():
    turns = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}
    for angle, expected in turns.items():
        for whole in (-(2**40) * 360.0, -360.0, 0.0, 360.0, 3.6e6, 2**45 * 360.0):
            assert cosine_sine(angle + whole) == expected
    assert Box(0.1, 0.7, 4, 2).rotated(90).rotated(-90).bounds == pytest.approx((0.1, 0.7, 4.1, 2.7), abs=0)
    for angle in (1e15, -1e15, 1e300):
        cosine, sine = cosine_sine(angle)
        rest = math.radians(math.fmod(angle, 360.0))
        assert (cosine, sine) == pytest.approx((math.cos(rest), math.sin(rest)), abs=1e-14)


@pytest.mark.smaller_set
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize("about", [None, (7, -3)])
def test_every_corner_turns(shape, about):
    fixed = shape.center if about is None else about
    for angle in (0, 30, 90, 200.5, -77, 1e4):
        turned = shape.rotated(angle, about)
        cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        if isinstance(shape, Circle):
            before, after = np.array([[shape.x, shape.y]]), np.array([[turned.x, turned.y]])
        else:
            before = shape.rotated(0).points
            after = turned.points
        seen = before - fixed
        expected = np.column_stack(
            (seen[:, 0] * cosine - seen[:, 1] * sine, seen[:, 0] * sine + seen[:, 1] * cosine)
        )
        np.testing.assert_allclose(after, expected + fixed, atol=1e-10)
        assert turned.center == pytest.approx(tuple(_turned(shape.center, angle, fixed)), abs=1e-10)
        if about is None:
            assert (turned.x, turned.y) == (shape.x, shape.y)


def _turned(point, angle, about):
    turn = math.radians(angle)
    dx, dy = point[0] - about[0], point[1] - about[1]
    return (
        about[0] + dx * math.cos(turn) - dy * math.sin(turn),
        about[1] + dx * math.sin(turn) + dy * math.cos(turn),
    )


@pytest.mark.smaller_set
def test_bodies_turn_as_their_shapes_do():
    world = World()
    bodies = [world.add(shape, tag="thing") for shape in SHAPES]
    for angle in (10, 45, 400, -0.25):
        for body, shape in zip(bodies, SHAPES, strict=True):
            body.turn_to(angle)
            assert body.shape == shape.rotated(angle)
            assert body.position == (shape.x, shape.y)
            assert (body.angle, body.bounds) == (angle, shape.rotated(angle).bounds)
        world.update()
        world.validate()
    for body, shape in zip(bodies, SHAPES, strict=True):
        body.angle = 720.0
        if not isinstance(shape, Box):
            assert body.bounds == pytest.approx(shape.bounds)
        else:
            assert body.shape == shape
        body.turn_to(33, about=(1, 2))
        assert body.bounds == pytest.approx(shape.rotated(33, about=(1, 2)).bounds)
        body.shape = shape
        assert (body.angle, body.shape) == (0, shape)
    world.validate()


@settings(deadline=None)
@given(st.lists(st.floats(-720, 720), min_size=5, max_size=5))
def test_many_in_one_call(angles):
    world = World()
    bodies = [world.add(shape) for shape in SHAPES]
    world.query_box((0, 0, 1, 1))
    world.turn_many(bodies, angles)
    for body, shape, angle in zip(bodies, SHAPES, angles, strict=True):
        turned = shape.rotated(angle)
        assert body.shape == turned or body.bounds == turned.bounds
        assert body.angle == angle
    world.validate()
    overlapping = {(i, j) for i in range(5) for j in range(i) if overlap(bodies[i].shape, bodies[j].shape)}
    assert {(a.id, b.id) for b in bodies for a in world.query_shape(b.shape) if a.id > b.id} == overlapping


@pytest.mark.smaller_set
def test_contacts_come_and_go_with_angles():
    world = World()
    heard = []
    needle = world.add(Box(0, 0, 20, 2), tag="needle")
    world.add(Circle(10, 12, 4), tag="ball")
    world.on("needle", "ball", begin=lambda c: heard.append("begin"), end=lambda c: heard.append("end"))
    world.update()
    world.turn_many([needle], 90)
    world.update()
    needle.angle = 0
    world.update()
    assert heard == ["begin", "end"]


@pytest.mark.smaller_set
def test_refused_where_it_does_not_fit():
    world = World()
    wall = world.add(Box(0, 0, 100, 10), static=True)
    tank = world.add(Box(20, 12, 30, 10))
    assert world.try_turn(tank, 90) is wall
    assert (tank.angle, tank.bounds) == (0, (20, 12, 50, 22))
    assert world.try_turn(tank, 5, about=(20, 22)) is None
    assert tank.angle == 5
    assert not overlap(tank.shape, wall.shape)
    world.tiles = TileMap(np.ones((1, 40), bool), 10, (0, 40))
    assert isinstance(world.try_turn(tank, -60), (Tile, type(wall)))
    assert tank.angle == 5
    world.turn_many([tank], 0)
    world.remove(tank)
    assert tank.angle == 0


@pytest.mark.smaller_set
def test_going_back():
    world = World()
    bodies = [world.add(shape) for shape in SHAPES]
    world.turn_many(bodies, [10, 20, 30, 40, 50])
    shapes = [body.shape for body in bodies]
    moment = world.snapshot()
    world.turn_many(bodies, 77)
    bodies[0].shape = Circle(0, 0, 1)
    bodies[1].move_to(100, 100)
    world.remove(bodies[2])
    world.restore(moment)
    assert [body.shape for body in bodies] == shapes
    assert [body.angle for body in bodies] == [10, 20, 30, 40, 50]
    world.validate()


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("turn", "error", "said"),
    [
        (lambda w, b: w.turn_many(b, [1, math.nan, 3, 4, 5]), ValueError, r"angles\[1\] = nan"),
        (lambda w, b: w.turn_many(b, [1, 2]), ValueError, r"shape \(5,\); got shape \(2,\)"),
        (lambda w, b: w.turn_many([b[0], b[0]], [1, 2]), ValueError, "twice"),
        (lambda w, b: b[0].turn_to("east"), TypeError, "angle must be a real number"),
        (lambda w, b: b[0].turn_to(1, about=(0, math.inf)), ValueError, "about must be finite"),
        (lambda w, b: w.try_turn(b[0], math.inf), ValueError, "angle must be finite"),
        (lambda w, b: w.turn_many([w.add(Box(0, 0, 5, 0))], 3), ValueError, "needs a width and a height"),
    ],
)
def test_what_is_refused_changes_nothing(turn, error, said):
    world = World()
    bodies = [world.add(shape) for shape in SHAPES]
    with pytest.raises(error, match=said):
        turn(world, bodies)
    assert [body.shape for body in bodies] == SHAPES
    assert [body.angle for body in bodies] == [0] * 5
    world.validate()


@pytest.mark.smaller_set
@pytest.mark.parametrize("angle", [45, 30.5, 90, -270])
def test_turned_back_it_is_the_shape_that_it_was(angle, exhaustive):
    rng = np.random.default_rng(5)
    for x, y, width, height in rng.uniform(1, 30, (100 if exhaustive else 20, 4)).tolist():
        shapes = (
            Box(x, y, width, height),
            Polygon([(x, y), (x + width, y + 0.1), (x + 0.3, y + height)]),
            Polygon([(x, y), (x + width, y), (x, y + height)], radius=0.1),
        )
        for shape in shapes:
            world = World()
            body = world.add(shape)
            body.turn_to(angle)
            world.turn_many([body], [0])
            assert body.shape == shape
            body.move_to(height, width)
            assert body.bounds == shape.moved_to(height, width).bounds
            assert world.query_box(body.bounds) == [body]
            world.validate()
            _, top, right, bottom = body.bounds
            flush = world.add(Box(right, top, 5, bottom - top))
            if isinstance(shape, Box):
                assert world.blocker(body) is None
                flush.x = math.nextafter(right, -math.inf)
                assert world.blocker(body) is flush
                flush.x = right + 3
                assert world.move(body, 10, 0).x + width <= flush.x
