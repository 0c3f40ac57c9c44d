"""With `check=True` a world names what does not do what it seems to, once, at the line of the user."""

import warnings

import pytest

import broadphase as bp
from broadphase import Box, World


@pytest.fixture
def caught():
    """What was warned of, all at lines of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    assert all(one.filename == __file__ for one in caught)


def said(caught, kind):
    assert all(one.category is kind for one in caught)
    return [str(one.message) for one in caught]


def test_a_tag_that_no_body_has_is_warned_of_once(caught):
    world = World(check=True)
    world.on("plyer", "coin")
    world.on("late", bp.ANY)
    world.add(Box(0, 0, 1, 1), tag="player")
    world.add(Box(0, 0, 1, 1), tag="coin").remove()
    for frame in range(200):
        if frame == 30:
            world.add(Box(0, 0, 1, 1), tag="late")
        world.update()
    (one,) = said(caught, bp.WorldWarning)
    assert one.endswith("waits for a tag that no body has had: 'plyer'; did you mean 'player'?")
    assert world.check_sprites


def test_tags_of_queries_and_responses_are_checked_too(caught):
    world = World(check=True)
    world.add(Box(0, 0, 1, 1), tag="monster")
    world.set_response("monstre", "bounce")
    for frame in range(700):
        if frame == 599:
            assert len(caught) == 2, "a bullet may be shot late"
        world.query_box((0, 0, 9, 9), tag=["monster", "mnster"])
        world.nearest((0, 0), tag="spawned")
        world.update()
    assert sorted(said(caught, bp.WorldWarning)) == [
        "a query with tag='mnster' waits for a tag that no body has had: 'mnster'; did you mean 'monster'?",
        "a query with tag='spawned' waits for a tag that no body has had: 'spawned'",
        "set_response('monstre', ...) waits for a tag that no body has had: 'monstre'; "
        "did you mean 'monster'?",
    ]


def test_tags_of_tiles_and_crates_are_checked_too(caught):
    world = World(check=True)
    world.tiles = bp.TileMap([[False] * 3], 16)
    hero = world.add(Box(0, 0, 1, 1), tag="hero")
    world.tiles.set_data(1, 0, "water")
    for tile in ("watre", "water", "lava", "frost", bp.ANY):
        world.on_tile("hero", tile)
    world.on_tile("heroes", "water")
    for frame in range(700):
        if frame == 300:
            world.tiles.set_data(2, 0, "frost")
        world.walk(hero, 0, 0, pushes=["crate", "hero"])
        world.update()
    told = [tuple(one.split(" waits for a tag that ")) for one in said(caught, bp.WorldWarning)]
    assert sorted(end for _, end in told) == [
        "no body has had: 'crate'",
        "no body has had: 'heroes'; did you mean 'hero'?",
        "no tile has had: 'lava'",
        "no tile has had: 'watre'; did you mean 'water'?",
    ]
    assert ("<TileListener for 'hero' in 'lava'>", "no tile has had: 'lava'") in told


@pytest.mark.covering
@pytest.mark.parametrize(
    "move",
    [
        lambda world, body: world.move(body, 1, 0),
        lambda world, body: world.walk(body, 1, 0),
        lambda world, body: world.move_many([body], 1, 0),
        lambda world, body: world.walk_many([body], 1, 0),
        lambda world, body: world.step(0.1),
        lambda world, body: world.bodies().move(1, 0),
        lambda world, body: world.try_move(body, 1, 0),
        lambda world, body: world.push(body, 1, 0),
        lambda world, body: world.move_as_one([body], 1, 0),
        lambda world, body: world.separate([body]),
    ],
)
@pytest.mark.parametrize("listen", [World.on, World.on_tile])
def test_a_forgotten_update_is_named(caught, move, listen):
    world = World(check=True)
    body = world.add(Box(0, 0, 1, 1))
    for _ in range(200):
        move(world, body)
    assert not caught, "nobody listens"
    world.update()
    listen(world, bp.ANY, bp.ANY)
    for _ in range(200):
        move(world, body)
        world.update()
    assert not caught
    for _ in range(300):
        move(world, body)
    (one,) = said(caught, bp.WorldWarning)
    assert "has moved 120 times, and world.update()" in one


def test_a_static_body_that_is_moved_into_another_is_named(caught):
    world = World(check=True)
    lift = world.add(Box(0, 0, 10, 10), tag="lift", static=True)
    world.add(bp.Circle(30, 30, 10), tag="spikes", static=True)
    world.add(Box(0, 0, 10, 10), tag="spikes", static=True)
    world.update()
    lift.move_to(12, 12)
    world.update()
    assert not caught, "nobody listens, or only the bounds overlap"
    world.on("lift", "spikes")
    lift.move_to(12.5, 12.5)
    world.update()
    assert not caught
    for x in (20, 21):
        lift.move_to(x, 20)
        world.update()
    (one,) = said(caught, bp.WorldWarning)
    assert one.startswith(f"{lift!r}"[:16])
    assert "was moved into" in one


def test_a_static_body_with_a_velocity_is_named(caught):
    world = World(check=True)
    cloud = world.add(Box(0, 0, 10, 10), static=True)
    world.step(0.1)
    assert not caught
    cloud.velocity = 3, 0
    world.step(0.1)
    world.step(0.1)
    (one,) = said(caught, bp.WorldWarning)
    assert "is static and has a velocity" in one


@pytest.mark.parametrize("up", [1, -1])
def test_a_walker_that_falls_up_is_named(caught, up):
    world = World(check=True)
    world.add(Box(-500, 20 * up if up > 0 else -30, 1_000, 10), static=True)
    hero = world.add(Box(0, 0, 10, 10))
    for _ in range(200):
        world.walk(hero, 0, 2 * up, down=(0, up))
    assert not caught, "it stands"
    world.add(Box(-500, -20 if up > 0 else 20, 1_000, 10), static=True)
    for _ in range(14_700):
        world.walk(hero, 0, -2 * up, down=(0, up))
    assert not caught, "it has stood"
    other = world.add(Box(0, 0, 10, 10))
    for _ in range(200):
        world.walk(other, 1, 2 * up, down=(0, -up))
    (one,) = said(caught, bp.WorldWarning)
    assert f"pass down=(0, {up})" in one


def test_without_check_nothing_is_said(caught):
    world = World()
    world.on("a", "b")
    body = world.add(Box(0, 0, 1, 1), static=True)
    body.velocity = 1, 0
    for _ in range(150):
        world.step(0.1)
    for _ in range(70):
        world.update()
    assert not caught


@pytest.mark.parametrize("how", ["warned", "heard", "solid", "sensor wall", "cross", "beside"])
def test_a_bullet_that_is_a_sensor_and_flies_through_a_wall_is_warned_of_once(caught, how):
    world = World(check=True)
    world.set_response("bullet", "cross" if how == "cross" else "touch")
    world.add(Box(20, 0, 4, 40), tag="wall", static=True, sensor=how == "sensor wall")
    bullets = [world.add(Box(0, y, 2, 2), tag="bullet", sensor=how != "solid") for y in (8, 16)]
    if how == "heard":
        world.on("bullet", "wall", begin=lambda contact: None)
    for bullet in bullets:
        bullet.velocity = (-100, 0) if how == "beside" else (600, 0)
    for _ in range(4):
        world.step(1 / 60)
        world.update()
    if how == "warned":
        (message,) = said(caught, bp.errors.WorldWarning)
        assert "is a sensor, so it flies through" in message
        assert "only tiles stop sensors" in message
    else:
        assert not caught
