"""The replacements of arcade's engines: compared frame by frame, with the reasons for differences."""

import copy
import math
import os
import random
import sys
from pathlib import Path

import pytest

os.environ.setdefault("ARCADE_HEADLESS", "True")  # before the import: no display is needed
arcade = pytest.importorskip(
    "arcade",
    exc_type=ImportError,
    reason="the extra arcade, or the system's libGL that it loads, is not installed",
)

sys.path.insert(0, str(Path(__file__).parent.parent))

from examples import arcade_engines as ours  # noqa: E402

HERO = ":resources:images/animated_characters/female_adventurer/femaleAdventurer_idle.png"


def block(width, height, x=0.0, y=0.0, angle=0.0, **motion):
    sprite = arcade.SpriteSolidColor(width, height, center_x=x, center_y=y)
    sprite.angle = angle
    for name, value in motion.items():
        setattr(sprite, name, value)
    return sprite


def listed(*sprites, **options):
    made = arcade.SpriteList(lazy=True, **options)
    made.extend(sprites)
    return made


def simple(player, *walls):
    return ours.PhysicsEngineSimple(player, listed(*walls))


def platformer(player, *walls, gravity=0.0, **options):
    return ours.PhysicsEnginePlatformer(player, walls=listed(*walls), gravity_constant=gravity, **options)


def level(name, start, gravity, engine):
    """A map that comes with arcade, and its hero."""
    parts = arcade.load_tilemap(
        f":resources:tiled_maps/{name}.json", 0.5, {"Platforms": {"use_spatial_hash": True}}, lazy=True
    ).sprite_lists
    hero = arcade.Sprite(HERO, 0.5, *start)
    made = engine(
        hero,
        platforms=parts.get("Moving Platforms"),
        gravity_constant=gravity,
        ladders=parts.get("Ladders"),
        walls=parts["Platforms"],
    )
    return hero, made, [parts["Platforms"], *made.platforms]


def played(name, start, speed, jump, gravity, frames, engine):
    """The positions of a hero that runs, jumps and climbs by a script."""
    hero, made, solid = level(name, start, gravity, engine)
    rng, path = random.Random(1), []
    while len(path) < frames:
        direction, up = rng.choice([1, 1, 1, 0, -1]), rng.choice([0, 0, 1, -1])
        jumps_at = rng.choice([3, 3, 99])
        for frame in range(rng.randrange(5, 60)):
            hero.change_x = direction * speed
            if made.is_on_ladder():
                hero.change_y = up * speed
            elif frame == jumps_at and made.can_jump():
                made.jump(jump)
            hits = made.update()
            inside = arcade.check_for_collision_with_lists(hero, solid)
            path.append((*hero.position, hero.change_y, len(hits), bool(inside)))
            if hero.center_y < -200:
                hero.position, hero.change_y = start, 0
    return path[:frames]


@pytest.mark.parametrize(
    ("name", "start", "jump"),
    [("map_with_ladders", (100, 300), 15), ("map2_level_1", (128, 300), 20), ("test_map_3", (200, 300), 15)],
)
def test_on_whole_pixels_the_path_is_arcades(name, start, jump):
    theirs = played(name, start, 5, jump, 1, 250, arcade.PhysicsEnginePlatformer)
    assert played(name, start, 5, jump, 1, 250, ours.PhysicsEnginePlatformer) == theirs
    assert len({place[:2] for place in theirs}) > 50, "it gets about"


def test_off_whole_pixels_it_ends_at_floors_and_ceilings_and_not_before():
    """arcade's falls end up to a quarter of a pixel too high, jumps under a ceiling up to one too low."""
    direction = ("map2_level_1", (128, 300), 7, 18.3, 0.9, 250)
    theirs = played(*direction, arcade.PhysicsEnginePlatformer)
    found = played(*direction, ours.PhysicsEnginePlatformer)
    assert [place[0] for place in found] == [place[0] for place in theirs]
    assert all(-0.25 <= mine[1] - its[1] < 1 for mine, its in zip(found, theirs, strict=True))
    assert not any(place[4] for place in found)


@pytest.mark.parametrize("make", [simple, platformer])
@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1), (0, -1)])
@pytest.mark.parametrize("speed", [2, 7, 60, 400])
def test_a_wall_stops_however_fast_it_comes(make, direction, speed):
    far = 6 + 20
    wall = block(12, 12, far * direction[0], far * direction[1])
    player = block(10, 10, change_x=speed * direction[0], change_y=speed * direction[1])
    engine = make(player, wall)
    met = []
    for _ in range(10):
        met += engine.update()
        player.change_x, player.change_y = speed * direction[0], speed * direction[1]
    assert player.position == (15 * direction[0], 15 * direction[1])
    assert wall in met
    assert not arcade.check_for_collision(player, wall)


@pytest.mark.parametrize("make", [simple, platformer])
def test_next_to_a_wall_nothing_is_hit(make):
    player = block(10, 10, change_x=1)
    engine = make(player, block(10, 10, 11, 0))
    assert engine.update() == []
    assert player.position == (1, 0)


def test_at_a_slant_it_stops_on_a_whole_pixel_and_a_platformer_climbs():
    for sign in (1, -1):
        slant = block(10, 10, sign * 15, -5, 45)
        for speed in range(2, 7):
            player = block(10, 10, change_x=sign * speed)
            assert len(simple(player, slant).update()) == (speed > 2)
            assert player.position == (sign * 2, 0)
            player = block(10, 10, change_x=sign * speed)
            platformer(player, slant).update()
            assert player.position == (sign * speed, speed - 2)


@pytest.mark.parametrize("make", [simple, platformer])
@pytest.mark.parametrize(("turn", "moved"), [(1, 1), (45, 4)])
def test_turning_finds_space_or_is_undone(make, turn, moved):
    for x, y in ((1, 0), (-1, 0), (0, 1)):
        wall, player = block(10, 10, 10 * x, 10 * y), block(10, 10, change_angle=turn)
        assert make(player, wall).update() == [wall]
        assert player.position == (-moved * x, -moved * y)
        assert player.angle == turn
    cage = [block(10, 10, 10 * x, 10 * y) for x in range(-3, 4) for y in range(-3, 4) if x or y]
    player = block(10, 10, change_angle=turn)
    assert len(make(player, *cage).update()) == 4
    assert (player.position, player.angle) == ((0, 0), 0)


@pytest.mark.parametrize("make", [simple, platformer])
def test_a_sprite_in_a_wall_is_pushed_out_by_the_shortest_displacement(make):
    player = block(10, 10)
    make(player, block(10, 10, 9, 0)).update()
    assert player.position == (-1, 0)
    player, slant = block(10, 10, 18, 3), block(40, 40, angle=30)
    make(player, slant).update()
    assert not arcade.check_for_collision(player, slant)
    # The sloped side is 20 from the middle; the player's nearest corner is 11.5 along its normal.
    normal = math.cos(math.radians(30)), -math.sin(math.radians(30))
    depth = 20 - ((18 - 5) * normal[0] + (3 + 5) * normal[1])
    assert math.dist(player.position, (18, 3)) == pytest.approx(depth, abs=0.011)


@pytest.mark.parametrize("make", [simple, platformer])
def test_wedged_between_two_it_is_freed_and_walled_in_it_stays(make):
    walls = block(20, 20, -12), block(20, 20, 12)
    player = block(10, 10)
    make(player, *walls).update()
    assert not any(arcade.check_for_collision(player, wall) for wall in walls)
    player = block(10, 10)
    make(player, block(10**8, 10**8)).update()
    assert math.dist(player.position, (0, 0)) <= 10**8, "it ends: arcade's search does not"


def test_no_tile_is_jumped_by_climbing():
    """However fast it runs, it climbs no more at a time than itself."""
    player = block(32, 32, 0, 18)
    wall = block(4, 300, 150, 150)
    engine = platformer(player, block(1000, 4), wall, gravity=1)
    for _ in range(30):
        player.change_x = 400
        engine.update()
    assert 0 <= wall.left - player.right < 1


def test_snap_keeps_it_on_the_floor_down_a_ramp():
    air = {}
    for snap in (0, 6):
        player = block(10, 10, -60, 60, change_x=4)
        engine = platformer(player, block(300, 20, angle=30), gravity=1, snap=snap)
        frames = []
        for _ in range(40):
            engine.update()
            frames.append(engine.can_jump(0.05))
        air[snap] = frames[12:30].count(False)
    assert air[6] == 0 < air[0]
    with pytest.raises(ValueError, match="snap must not be negative"):
        platformer(block(1, 1), snap=-1)


@pytest.mark.parametrize(("x", "moved"), [(120, 2), (144, -2)])
def test_it_moves_with_the_platform_that_supports_most_of_it(x, moved):
    rows = listed(block(64, 32, 100, 16, change_x=2), block(64, 32, 164, 16, change_x=-2))
    player = block(32, 32, x, 48)
    ours.PhysicsEnginePlatformer(player, platforms=rows, gravity_constant=1).update()
    assert player.center_x == x + moved


@pytest.mark.parametrize("walk", [0, 3])
def test_a_platform_also_carries_a_walking_sprite_but_not_into_walls(walk):
    row = listed(block(400, 32, 100, 16, change_x=2))
    player, wall = block(32, 32, 100, 48), block(20, 200, 171, 150)
    engine = ours.PhysicsEnginePlatformer(player, row, 1, None, listed(wall))
    player.change_x = walk
    engine.update()
    assert player.center_x == 102 + walk
    for _ in range(40):
        engine.update()
        assert not arcade.check_for_collision(player, wall)
    assert player.right == wall.left


@pytest.mark.parametrize("speed", [1, 3, 7])
def test_lifts_lift_and_turn_around_at_their_ends(speed):
    lift = block(32, 32, 0, 16, change_y=speed, boundary_bottom=0, boundary_top=100)
    player = block(10, 10, 14, 37)  # nearly off it: sideways would be the shorter displacement
    engine = ours.PhysicsEnginePlatformer(player, listed(lift), gravity_constant=1)
    for _ in range(100):
        engine.update()
        assert 0 <= player.bottom - lift.top <= speed + 1
        if lift.change_y < 0:
            break
    assert (lift.change_y, lift.top) == (-speed, 100 - speed)


def test_jumps_are_counted():
    player = block(10, 10, 0, 5)
    engine = platformer(player, block(200, 20, 0, -10), gravity=1)
    assert engine.can_jump()
    engine.jump(15)
    engine.update()
    engine.update()
    assert engine.jumps_since_ground == 0
    assert not engine.can_jump()
    player.position = 0, 5
    engine.enable_multi_jump(2)
    assert engine.can_jump()
    for _ in range(2):
        engine.jump(15)
        engine.update()
        engine.update()
    assert engine.jumps_since_ground == 2
    assert not engine.can_jump()
    engine.disable_multi_jump()
    assert (engine.allowed_jumps, engine.allow_multi_jump, engine.jumps_since_ground) == (1, False, 0)
    player.position = 0, 9
    assert engine.can_jump()
    assert not engine.can_jump(3)


def test_on_ladders_there_is_no_gravity():
    player = block(10, 10)
    engine = ours.PhysicsEnginePlatformer(player, gravity_constant=1, ladders=listed(block(8, 40)))
    assert engine.is_on_ladder()
    engine.update()
    assert player.position == (0, 0)
    del engine.ladders
    assert not engine.is_on_ladder()
    engine.update()
    assert player.position == (0, -1)


def test_the_lists_are_kept_as_arcade_keeps_them():
    one, two = listed(block(1, 1)), listed(block(1, 1))
    engine = ours.PhysicsEnginePlatformer(block(1, 1), [one], walls=two)
    for name in ("walls", "platforms", "ladders"):
        kept = getattr(engine, name)
        setattr(engine, name, [one, two])
        assert getattr(engine, name) is kept
        assert kept[-2:] == [one, two]
        setattr(engine, name, None)
        assert kept == []
        setattr(engine, name, one)
        assert kept == [one]
        delattr(engine, name)
        assert getattr(engine, name) is kept
        assert kept == []
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(NotImplementedError):
            copied(engine)
    with pytest.raises(TypeError, match="player_sprite must be a Sprite"):
        ours.PhysicsEnginePlatformer(arcade.BasicSprite(block(1, 1).texture))


def test_thousands_of_walls_with_hash_arrays_or_neither():
    """Each kind of list is read differently."""
    tiles = [block(16, 16, 16 * column, 16 * (column % 3)) for column in range(60)]
    ends = []
    for walls in (listed(*tiles), listed(*tiles, use_spatial_hash=True), listed(*tiles)):
        walls._initialized = len(ends) == 2
        player = block(10, 10, 8, 60, change_x=3)
        engine = ours.PhysicsEnginePlatformer(player, walls=walls, gravity_constant=1)
        path = []
        for _ in range(80):
            hits = engine.update()
            if hits:
                engine.jump(9)
            path.append((hits, player.position))
        ends.append(path)
    assert ends[0] == ends[1] == ends[2]
    assert any(hits for hits, _ in ends[0])
