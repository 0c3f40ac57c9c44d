"""`World.step`: bodies with a velocity move, and the velocity follows from what they hit."""

import math

import numpy as np
import pytest

import broadphase as bp
from broadphase import Box, Circle, TileMap, World

RESPONSES = ["slide", "touch", "cross", "bounce"]


def crowd(seed, period=None):
    """Boxes and circles with velocities among walls and tiles; the bodies by their response."""
    rng = np.random.default_rng(seed)
    world = World(period=period)
    solid = rng.random((20, 20)) < 0.1
    solid[10, 10] = False
    world.tiles = TileMap(solid, 10)
    for x, y in rng.uniform(0, 190, (20, 2)).tolist():
        world.add(Box(x, y, 8, 4), static=True, tag="wall")
    world.on("mover", "wall")
    movers = []
    for k, (x, y) in enumerate(rng.uniform(0, 190, (60, 2)).tolist()):
        body = world.add(Circle(x, y, 2) if k % 6 == 5 else Box(x, y, 3, 3), tag="mover")
        body.velocity = rng.normal(size=2).tolist() if k % 7 else (0, 0)
        body.response = RESPONSES[k % 4]
        movers.append(body)
    return world, movers


@pytest.mark.smaller_set
@pytest.mark.parametrize("period", [None, (200, 200)])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_move_many_by_velocity_times_dt(seed, period):
    world, movers = crowd(seed, period)
    other, others = crowd(seed, period)
    for frame in range(20):
        dt = 0.5 + frame
        before = np.array([body.velocity for body in movers])
        stepped = world.step(dt)
        moving = [k for k in range(len(movers)) if before[k].any()]
        assert stepped.ids.tolist() == [movers[k].id for k in moving]
        for response in RESPONSES:
            rows = [k for k in moving if movers[k].response == response]
            moved = other.move_many([others[k] for k in rows], before[rows] * dt, response=response)
            at = np.array([moving.index(k) for k in rows])
            assert np.array_equal(stepped.places[at], moved.places)
            for mine, its in ((stepped.hits, moved.hits), (stepped.crossed, moved.crossed)):
                own = np.isin(mine.movers, at)
                assert np.array_equal(mine.movers[own], at[its.movers])
                for name in ("others", "tiles", "times", "normals", "touches"):
                    assert np.array_equal(getattr(mine, name)[own], getattr(its, name))
        for k in moving:
            movers[k].velocity = before[k]
        assert [body.position for body in movers] == [body.position for body in others]
        assert [len(part) for part in world.update()] == [len(part) for part in other.update()]


@pytest.mark.parametrize(
    ("response", "after"),
    [("slide", (0, 3)), ("touch", (0, 0)), ("cross", (8, 3)), ("bounce", (-8, 3)), (None, (0, 3))],
)
def test_the_velocity_after_a_wall(response, after):
    world = World()
    world.add(Box(10, -500, 10, 1_000), static=True)
    body = world.add(Box(0, 0, 2, 2), tag="ball")
    body.velocity, body.response = (8, 3), response
    world.step(2)
    assert body.velocity == after
    assert body.response == response


def test_a_ball_in_a_corner_comes_back_on_both_axes():
    world = World()
    world.add_many([[10, -50, 20, 50], [-50, 10, 50, 20]], static=True)
    ball = world.add(Box(0, 0, 2, 2))
    ball.velocity, ball.response = (8, 8), "bounce"
    world.step(2)
    assert ball.velocity == (-8, -8)
    assert ball.position == (0, 0)


def test_a_bounce_off_a_round_body_keeps_the_speed():
    world = World()
    world.add(Circle(20, 1, 5), static=True)
    ball = world.add(Circle(0, 0, 2))
    ball.velocity, ball.response = (10, 0), "bounce"
    world.step(3)
    assert ball.velocity[1] < 0.0
    assert math.hypot(*ball.velocity) == pytest.approx(10)


def test_the_own_response_comes_before_that_of_a_tag_and_the_first_tag_counts():
    world = World()
    world.add(Box(10, -500, 10, 1_000), static=True)
    world.set_response("rubber", "bounce")
    world.set_response("sticky", "touch")
    bodies = [world.add(Box(0, 10 * k, 2, 2), tag=["rubber", "sticky"]) for k in range(2)]
    bodies.append(world.add(Box(0, 40, 2, 2), tag="sticky"))
    bodies[1].response = "slide"
    for body in bodies:
        body.velocity = 20, 1
    world.step(1)
    assert [body.velocity for body in bodies] == [(-20, 1), (0, 1), (0, 0)]
    world.set_response("sticky", None)
    bodies[2].velocity = 20, 1
    world.step(1)
    assert bodies[2].velocity == (0, 1)


def test_a_removed_body_and_the_next_in_its_place_have_no_velocity():
    world = World()
    body = world.add(Box(0, 0, 1, 1))
    body.velocity, body.response = (1, 1), "bounce"
    body.remove()
    assert (body.velocity, body.response) == ((0, 0), None)
    other = world.add(Box(0, 0, 1, 1))
    (third,) = world.add_many([[5, 5, 6, 6]])
    assert [(one.velocity, one.response) for one in (other, third)] == [((0, 0), None)] * 2
    assert len(world.step(1).ids) == 0


@pytest.mark.parametrize("dt", [math.nan, math.inf, "1", None, 1e305])
def test_what_is_refused_changes_nothing(dt):
    world = World()
    body = world.add(Box(0, 0, 1, 1))
    body.velocity = 1, 2
    with pytest.raises((TypeError, ValueError), match="dt"):
        world.step(dt)
    assert (body.position, body.velocity) == ((0, 0), (1, 2))
    for wrong in ((1,), 5, (math.nan, 0), "ab"):
        with pytest.raises((TypeError, ValueError), match="velocity"):
            body.velocity = wrong
    with pytest.raises(ValueError, match="unknown response"):
        body.response = "stick"
    with pytest.raises(ValueError, match="unknown response"):
        world.set_response("ball", "stick")
    assert (body.velocity, body.response) == ((1, 2), None)


def test_movers_block_each_other_only_where_that_is_asked_for():
    for block, expected in ((False, (20, 0)), (True, (8, 0))):
        world = World()
        world.add(Box(10, 0, 2, 2))
        body = world.add(Box(0, 0, 2, 2))
        body.velocity = 20, 0
        world.step(1, movers_block=block)
        assert body.position == expected


def test_vectors_wherever_two_numbers_are_taken():
    pygame = pytest.importorskip("pygame")
    world = World()
    vector = pygame.Vector2(3, 4)
    for way in (vector, (3, 4), [3, 4], np.array([3.0, 4.0])):
        body = world.add(Box(0, 0, 1, 1))
        body.move_to(way)
        assert body.position == (3, 4)
        assert world.move(body, way)[:2] == (6, 8)
        assert world.try_move(body, way) is None
        assert world.walk(body, way)[:2] == (12, 16)
        world.push(body, way)
        assert world.move_many([body], way).places.tolist() == [[18, 24]]
        assert world.move_many([body], [way]).places.tolist() == [[21, 28]]
        body.velocity = way
        world.step(2)
        assert body.position == (27, 36)
        body.center = way
        assert body.position == (2.5, 3.5)
        body.remove()
    with pytest.raises(TypeError, match="dx, dy must be 2 numbers"):
        world.move(world.add(Box(0, 0, 1, 1)), 5)


def test_rectangles_wherever_a_shape_is_taken():
    pygame = pytest.importorskip("pygame")
    sprite = pygame.sprite.Sprite()
    sprite.rect = pygame.Rect(1, 2, 3, 4)
    expected = Box(1, 2, 3, 4)
    for rect in (sprite.rect, pygame.FRect(1, 2, 3, 4), sprite):
        world = World()
        assert bp.Box(rect) == expected
        body = world.add(rect)
        assert body.shape == expected
        assert [one.shape for one in world.add_many([rect, Circle(50, 50, 2), rect])] == [
            expected,
            Circle(50, 50, 2),
            expected,
        ]
        assert len(world.query_box(rect)) == len(world.query_shape(rect)) == 3
        assert world.blocker(rect) is body
        other = world.add(Box(100, 100, 1, 1))
        other.shape = rect
        assert other.shape == expected
        assert world.resize(other, rect) is body
        assert pygame.Rect(body.rect) == sprite.rect
    assert World().add((1, 2, 4, 6)).shape == expected
    with pytest.raises(TypeError, match="Box takes x, y, width, height, or one rectangle"):
        bp.Box((1, 2, 3, 4))
    with pytest.raises(TypeError, match="shape must be a Box"):
        World().add("round")


def test_rectangles_of_arcade_have_their_bottom_at_the_smaller_y():
    arcade = pytest.importorskip("arcade")
    assert bp.Box(arcade.LBWH(1, 2, 3, 4)) == Box(1, 2, 3, 4)
