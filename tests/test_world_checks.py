"""With `check=True` a world names what does not do what it seems to, once, at the line of the user."""

import copy
import pickle
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
    assert one == (
        "no body has had the tag 'plyer' in 60 updates, and <Listener for 'plyer' and 'coin'> asks for it; "
        "did you mean 'player'?"
    )
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
        "no body has had the tag 'mnster' in 60 updates, and a query with tag='mnster' asks for it; "
        "did you mean 'monster'?",
        "no body has had the tag 'monstre' in 60 updates, and set_response('monstre', ...) asks for it; "
        "did you mean 'monster'?",
        "no body has had the tag 'spawned' in 600 updates, and a query with tag='spawned' asks for it",
    ]


def test_names_in_masks_that_are_no_category_are_named(caught):
    world = World(check=True)
    world.add(Box(0, 0, 5, 5), mask=["wall", "mnster"])
    world.update()
    assert caught == []
    world.add(Box(10, 0, 5, 5), tag="wall", category="monster")
    for _ in range(700):
        world.update()
    first, second = map(str, (one.message for one in caught))
    assert first.startswith("a mask asks for the category 'wall', which no body has")
    assert first.endswith("category='wall'")
    assert second == (
        "no body has had the category 'mnster' in 60 updates, and mask='mnster' asks for it; "
        "did you mean 'monster'?"
    )


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
    told = sorted(said(caught, bp.WorldWarning))
    for one, (what, hint) in zip(
        told,
        [
            ("no body has had the tag 'crate' in 600 updates", "asks for it"),
            ("no body has had the tag 'heroes' in 60 updates", "did you mean 'hero'?"),
            (
                "no tile has had the tag 'lava' in 600 updates",
                "<TileListener for 'hero' in 'lava'> asks for it",
            ),
            ("no tile has had the tag 'watre' in 60 updates", "did you mean 'water'?"),
        ],
        strict=True,
    ):
        assert one.startswith(what)
        assert one.endswith(hint)


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


@pytest.mark.parametrize("how", ["warned", "heard", "solid", "sensor wall", "cross", "beside", "fired"])
def test_a_bullet_that_is_a_sensor_and_flies_through_a_wall_is_warned_of_once(caught, how):
    world = World(check=True)
    world.set_response("bullet", "cross" if how == "cross" else "touch")
    world.add(Box(20, 0, 4, 40), tag="wall", static=True, sensor=how == "sensor wall")
    x = 21 if how == "fired" else 0
    bullets = [world.add(Box(x, y, 2, 2), tag="bullet", sensor=how != "solid") for y in (8, 16)]
    if how == "heard":
        world.on("bullet", "wall", begin=lambda contact: None)
    for bullet in bullets:
        bullet.velocity = {"beside": (-100, 0), "fired": (20, 0)}.get(how, (600, 0))
    for _ in range(4):
        world.step(1 / 60)
        world.update()
    if how == "warned":
        (message,) = said(caught, bp.errors.WorldWarning)
        assert "is a sensor, so it flies through" in message
        assert "only tiles stop sensors" in message
    else:
        assert not caught


@pytest.mark.parametrize("how", ["move", "walk", "step", "a sensor", "a free tile", "moved out", "rests"])
def test_a_body_that_begins_to_move_in_a_solid_tile_is_named(caught, how):
    world = World(check=True)
    world.tiles = bp.TileMap(["....", ".p#.", "####"], 16)
    hero = world.add(Box(17, 17, 14, 14), tag="hero", sensor=how == "a sensor")
    other = world.add(Box(50, 1, 14, 14))
    if how == "a free tile":
        world.tiles.set(1, 1, False)
    elif how == "moved out":
        hero.move_to(1, 1)
    elif how == "step":
        hero.velocity = 1, 0
    for _ in range(3):
        if how == "walk":
            world.walk(hero, 1, 0)
        elif how not in ("step", "rests"):
            world.move(hero, 1, 0)
        world.move(other, 1, 0)
        world.step(1 / 60)
        world.update()
    if how in ("move", "walk", "step"):
        (one,) = said(caught, bp.WorldWarning)
        assert "begins to move inside of the solid Tile(column=1, row=1)" in one
    else:
        assert not caught


@pytest.mark.parametrize("many", [False, True])
def test_a_ray_that_hits_the_body_at_whose_centre_it_begins_is_named(caught, many):
    world = World(check=True)
    hero, zone = world.add(Box(0, 0, 10, 10)), world.add(Box(20, 0, 30, 30), sensor=True)
    world.raycast(hero, (1, 0))
    world.raycast(hero.center, (1, 0), ignore=hero)
    assert world.raycast((22, 3), (1, 0)).other is zone
    assert world.raycast([(22, 3)], [(1, 0)]).distances.tolist() == [0]
    world.raycast([hero.center, (22, 3)], [(1, 0)] * 2, ignore=[hero, zone])
    assert not caught, "a ray within something else is asked for"
    for _ in range(2):
        world.raycast(*([[(9, -9), hero.center], [(1, 0), (0, 1)]] if many else [hero.center, (30, 9)]))
    (one,) = said(caught, bp.WorldWarning)
    assert one.startswith(f"a ray hits {hero!r}, at whose center it begins")


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
def test_a_world_that_is_checked_is_copied_and_pickled(copy_of, caught):
    world = World(check=True)
    world.add(Box(0, 0, 1, 1), tag="coin")
    world.add(Box(5, 0, 1, 1), data={"worth": 3})
    world.update()
    again = copy_of(world)
    assert [(body.bounds, body.tag, body.data) for body in again] == [
        (body.bounds, body.tag, body.data) for body in world
    ]
    again.set_response("coinz", "touch")
    for _ in range(60):
        again.update()
    (one,) = said(caught, bp.WorldWarning)
    assert "'coinz'" in one
