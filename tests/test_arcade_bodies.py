"""Bodies that follow arcade's sprites, and sprites that follow bodies."""

import json
import os
import random
from pathlib import Path

import pytest

os.environ.setdefault("ARCADE_HEADLESS", "True")  # before the import: no display is needed
arcade = pytest.importorskip(
    "arcade",
    exc_type=ImportError,
    reason="the extra arcade, or the system's libGL that it loads, is not installed",
)

import broadphase as bp  # noqa: E402
from broadphase.adapters.arcade import SpriteBodies, check_for_collision_with_list  # noqa: E402

DISC = arcade.make_circle_texture(30, (255, 255, 255))
BENT = [(-12, -12), (12, -12), (12, -6), (-6, -6), (-6, 12), (-12, 12)]
MAPS = [
    path
    for path in sorted(Path(arcade.__file__).parent.glob("resources/assets/tiled_maps/*.json"))
    if json.loads(path.read_text())["type"] == "map"
]


def block(width, height, x=0.0, y=0.0):
    return arcade.SpriteSolidColor(width, height, center_x=x, center_y=y)


def listed(*sprites):
    made = arcade.SpriteList(lazy=True)
    made.extend(sprites)
    return made


def agree(sprite, body):
    """The hit box and the shape have the same corners."""
    shape = body.shape
    if isinstance(shape, bp.Box):
        left, bottom, right, top = shape.bounds
        corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
    else:
        corners = shape.points
    for x, y in corners:
        near = [abs(px - x) + abs(py - y) for px, py in sprite.hit_box.get_adjusted_points()]
        assert min(near) < 1e-6, (x, y)


def test_a_body_has_the_hull_of_the_hit_box():
    bodies = SpriteBodies()
    assert bodies.add(block(10, 20, 5, 5), tag="x").shape == bp.Box(0, -5, 10, 20)
    disc = arcade.Sprite(DISC, 2, 50, 50)
    body = bodies.add(disc)
    assert len(body.shape.points) == len(disc.hit_box.points)
    agree(disc, body)
    assert body.data is disc
    assert bodies.body(disc) is body
    bent = block(24, 24)
    bent.hit_box = arcade.hitbox.HitBox(BENT)
    assert len(bodies.add(bent).shape.points) == 5
    assert bodies.add(arcade.Sprite(DISC), boxed=True).shape == bp.Box(-15, -15, 30, 30)
    with pytest.raises(ValueError, match="has a body already"):
        bodies.add(disc)
    with pytest.raises(ValueError, match='leader must be "sprite" or "body"; got'):
        bodies.add(block(1, 1), leader="me")
    with pytest.raises(ValueError, match='leader must be "sprite" or "body"; got'):
        bodies.follow(listed(), leader="me")


def test_bodies_go_where_sprites_go_turned_and_scaled():
    bodies, rng = SpriteBodies(), random.Random(1)
    sprites = [arcade.Sprite(DISC, 1, 20 * k, 0) for k in range(5)] + [
        block(10, 4, 20 * k, 50) for k in range(5)
    ]
    for sprite in sprites:
        bodies.add(sprite)
    for _ in range(40):
        for sprite in rng.sample(sprites, 5):
            sprite.position = rng.uniform(-50, 50), rng.uniform(-50, 50)
        one = rng.choice(sprites)
        one.angle = rng.uniform(0, 360)
        rng.choice(sprites).scale = rng.choice([0.5, 1, 2])
        sprites[0].texture = rng.choice([DISC, sprites[-1].texture])
        bodies.sync()
        for sprite in sprites:
            agree(sprite, bodies.body(sprite))


def test_sprites_go_where_bodies_go():
    bodies, rng = SpriteBodies(), random.Random(2)
    disc, plank = arcade.Sprite(DISC, 1, 20, 0), block(40, 6, 0, 80)
    wedge = block(24, 24, -50, 9)
    wedge.hit_box = arcade.hitbox.HitBox([(-12, -12), (12, -12), (-12, 5)], position=wedge.position)
    disc.angle = 30
    followers = listed(disc, plank, wedge)
    bodies.follow(followers, leader="body")
    for _ in range(30):
        for sprite in followers:
            body = bodies.body(sprite)
            body.move_to(body.x + rng.uniform(-5, 5), body.y + rng.uniform(-5, 5))
            if rng.random() < 0.5:
                body.turn_to(rng.uniform(-180, 180))
        bodies.sync()
        for sprite in followers:
            agree(sprite, bodies.body(sprite))
    bodies.world.remove(bodies.body(plank))
    bodies.sync()
    assert list(followers) == [disc, wedge]
    with pytest.raises(KeyError):
        bodies.body(plank)


def test_a_sprite_that_joined_has_a_body_before_the_next_sync():
    bodies, group, late = SpriteBodies(), listed(), block(4, 4)
    bodies.follow(group, tag="coin")
    group.append(late)
    assert bodies.body(late).tag == "coin"


@pytest.mark.parametrize("leader", ["sprite", "body"])
def test_a_list_is_followed_as_it_changes(leader):
    bodies, first, second, alone = SpriteBodies(), block(4, 4), block(4, 4, 9, 9), block(2, 2, 5, 5)
    group = listed(first)
    bodies.add(alone)
    bodies.follow(group, leader=leader, tag="coin")
    group.append(second)
    first.kill()
    bodies.sync()
    assert {body.data for body in bodies.world} == {second, alone}
    assert bodies.body(second).tag == "coin"
    bodies.remove(alone)
    group.clear()
    bodies.sync()
    assert len(bodies.world) == 0


def test_a_body_that_was_removed_stays_away_from_a_sprite_that_leads():
    bodies, sprite = SpriteBodies(), block(4, 4)
    bodies.world.remove(bodies.add(sprite))
    sprite.center_x = 9
    bodies.sync()
    bodies.remove(sprite)
    assert len(bodies.world) == 0


def test_a_sprite_whose_body_was_removed_can_get_another():
    bodies, sprite = SpriteBodies(), block(4, 4)
    for leader in ("sprite", "body"):
        bodies.add(sprite, leader=leader).remove()
        assert sprite not in bodies
        bodies.sync()
        again = bodies.add(sprite)
        assert bodies.body(sprite) is again
        again.remove()


def test_a_sprite_that_goes_with_its_body_may_take_others_along():
    class Ship(arcade.SpriteSolidColor):
        def remove_from_sprite_lists(self):
            super().remove_from_sprite_lists()
            bodies.remove(turret)

    bodies, ship, turret, other = SpriteBodies(), Ship(4, 4), block(4, 4, 50), block(4, 4, 99)
    for sprite in (ship, turret, other):
        bodies.add(sprite, leader="body")
    bodies.body(ship).remove()
    bodies.body(turret).remove()
    bodies.body(other).x += 5
    bodies.sync()
    assert (turret in bodies, other.center_x) == (False, 104)


def test_a_body_that_follows_is_put_back_and_the_program_is_told():
    bodies, sprite = SpriteBodies(bp.World(period=(100, 100), check_sprites=True)), block(4, 4, 20, 20)
    body = bodies.add(sprite)
    body.x = 40
    with pytest.warns(bp.WorldWarning, match="goes back"):
        bodies.sync()
    sprite.center_x = 130
    for _ in range(2):
        bodies.sync()  # without a warning
        assert (body.position, sprite.position) == ((28, 18), (130, 20))


def test_a_sprite_of_no_size_is_named():
    bodies, sprite = SpriteBodies(), block(4, 4)
    bodies.add(sprite)
    sprite.scale = 0
    with pytest.raises(
        ValueError, match=r"the hit box of <.*SpriteSolidColor.* has no area; its scale is \(0"
    ):
        bodies.sync()
    sprite.scale = 2
    bodies.sync()
    assert bodies.body(sprite).shape == bp.Box(-4, -4, 8, 8)


def test_the_world_moves_sprites_with_either_leader():
    for leader in ("sprite", "body"):
        bodies = SpriteBodies()
        player, wall = block(10, 10), block(10, 100, 35, 0)
        bodies.add(player, leader=leader)
        bodies.add(wall, static=True)
        move = bodies.move(player, 100, 3)
        assert move.hits[0].other.data is wall
        assert player.position == (25, 3)
        bodies.sync()
        assert player.position == (25, 3)
        assert bodies.body(player).bounds == (20, -2, 30, 8)
    player.position = 0, 0
    bodies.sync()
    assert player.position == (25, 3), "the body leads"


def test_sprites_walk_up_slopes_where_up_is_up():
    bodies = SpriteBodies()
    ramp, floor, player = block(200, 20, 100, 0), block(400, 20, 0, -20), arcade.Sprite(DISC, 1, -60, 40)
    ramp.angle = -30
    bodies.follow(listed(ramp, floor), static=True)
    bodies.add(player, boxed=True)
    walk = bodies.walk(player, 0, -60)
    assert walk.floor.data is floor
    assert player.bottom == pytest.approx(-10)
    for _ in range(30):
        walk = bodies.walk(player, 5, -1, snap=4)
    assert walk.floor.data is ramp
    assert player.bottom > 10
    with pytest.raises(ValueError, match="a walker is a Circle"):
        bodies.walk(ramp, 1, 0)


@pytest.mark.parametrize(
    "path",
    [path if k % 4 == 0 else pytest.param(path, marks=pytest.mark.exhaustive) for k, path in enumerate(MAPS)],
    ids=[path.stem for path in MAPS],
)
def test_on_every_layer_bodies_meet_what_arcade_finds(path):
    rng, hits = random.Random(3), 0
    layers = arcade.load_tilemap(path, lazy=True).sprite_lists
    for layer in layers.values():
        bodies = SpriteBodies()
        bodies.follow(layer, sensor=True)
        for one in rng.choices(list(layer), k=12) if len(layer) else ():
            probe = block(20, 30)
            probe.position = (
                one.center_x + rng.uniform(-1, 1) * one.width,
                one.center_y + rng.uniform(-1, 1) * one.height,
            )
            expected = arcade.check_for_collision_with_list(probe, layer, 3)
            box = probe.left, probe.bottom, probe.right, probe.top
            assert {body.data for body in bodies.world.query_box(box)} == set(expected)
            assert check_for_collision_with_list(probe, layer) == expected
            hits += len(expected)
    assert hits or not any(len(layer) for layer in layers.values())


def test_a_sprite_without_a_body_yet_still_blocks():
    bodies, walls = SpriteBodies(), arcade.SpriteList(lazy=True)
    bodies.follow(walls, static=True)
    player = block(10, 10)
    bodies.add(player)
    walls.append(block(10, 100, 35, 0))
    assert bodies.move(player, 100, 0).x == 20
    walls.clear()
    assert not bodies.move(player, 100, 0).hits


def test_the_sprite_of_a_crate_goes_with_it():
    bodies = SpriteBodies()
    hero, crate = block(10, 10), block(10, 10, 15)
    bodies.add(hero, boxed=True)
    bodies.add(crate, boxed=True, tag="crate")
    bodies.walk(hero, 10, 0, pushes="crate")
    assert (hero.center_x, crate.center_x) == (10, 20)
    bodies.sync()
    agree(crate, bodies.body(crate))


def test_a_walk_may_name_where_down_is():
    bodies, hero = SpriteBodies(), block(10, 10, 0, 6)
    bodies.follow(listed(block(100, 2)), static=True)
    bodies.add(hero)
    assert bodies.walk(hero, 0, -10).floor is not None
    assert bodies.walk(hero, 0, -10, down=(0, -1)) == bodies.walk(hero, 0, -10)
    assert bodies.walk(hero, 0, -10, down=(0, 1)).floor is None


def test_after_a_list_is_refused_another_is_followed():
    bodies, sprites = SpriteBodies(), listed(block(10, 10))
    with pytest.raises(TypeError, match="unexpected keyword argument 'tags'"):
        bodies.follow(sprites, tags="x")
    with pytest.raises(TypeError, match=r"a group holds sprites; got .*, which SpriteBodies\.add"):
        bodies.follow(sprites[0])
    flat = listed(block(10, 10), block(10, 10))
    flat[1].scale = 0.0
    with pytest.raises(ValueError, match="has no area"):
        bodies.follow(flat)
    bodies.sync()
    assert len(bodies.world) == 0
    bodies.follow(sprites, tag="x")
    assert bodies.body(sprites[0]).tag == "x"
    assert len(bodies.world) == 1
