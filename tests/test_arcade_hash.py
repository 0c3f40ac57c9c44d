"""The replacement of arcade's spatial hash: the same changes and queries give the same results."""

import os
import random

import pytest

os.environ.setdefault("ARCADE_HEADLESS", "True")  # before the import: no display is needed
arcade = pytest.importorskip(
    "arcade",
    exc_type=ImportError,
    reason="the extra arcade, or the system's libGL that it loads, is not installed",
)
from arcade.sprite_list.spatial_hash import SpatialHash as Theirs  # noqa: E402

from broadphase.adapters import arcade as ours  # noqa: E402

DISC = arcade.make_circle_texture(30, (255, 255, 255))
WIDE = arcade.Texture.create_empty("wide", (60, 8))


def some(rng):
    sprite = arcade.Sprite(rng.choice([DISC, WIDE]), rng.choice([0.5, 1, 2]))
    sprite.position = rng.choice(
        [(rng.uniform(-90, 90), rng.uniform(-90, 90)), (16 * rng.randrange(-6, 6), 16 * rng.randrange(-6, 6))]
    )
    return sprite


def change(rng, whole):
    """Something that games do to the sprites of a list."""
    sprite, kind = rng.choice(whole.sprite_list), rng.randrange(8)
    if kind < 3:
        sprite.position = some(rng).position
    elif kind == 3:
        sprite.angle = rng.uniform(0, 360)
    elif kind == 4:
        sprite.scale = rng.choice([0.5, 1, 3])
    elif kind == 5:
        sprite.texture = rng.choice([DISC, WIDE])
        sprite.center_x += 1  # arcade notifies its hash of moves, not of new hit boxes
    elif kind == 6 and len(whole) > 5:
        sprite.kill()
    else:
        whole.append(some(rng))


@pytest.mark.parametrize("cell_size", [7, 32])
def test_the_same_changes_and_queries_give_the_same_results(cell_size):
    rng, hits = random.Random(cell_size), 0
    whole = arcade.SpriteList(lazy=True)
    whole.extend(some(rng) for _ in range(30))
    made = ours.SpatialHash.of(whole, cell_size)
    assert whole.spatial_hash is made
    for _ in range(60):
        for _ in range(rng.randrange(4)):
            change(rng, whole)
        by_the_book = Theirs(cell_size)
        for sprite in whole:
            by_the_book.add(sprite)
        probe = some(rng)
        left, bottom = rng.uniform(-90, 90), rng.uniform(-90, 90)
        rect = arcade.LRBT(left, left + rng.uniform(0, 90), bottom, bottom + rng.uniform(0, 90))
        found = made.get_sprites_near_sprite(probe)
        assert found == by_the_book.get_sprites_near_sprite(probe)
        assert made.get_sprites_near_point(probe.position) == by_the_book.get_sprites_near_point(
            probe.position
        )
        assert made.get_sprites_near_rect(rect) == by_the_book.get_sprites_near_rect(rect)
        assert made.count == by_the_book.count == len(whole)
        assert set(arcade.check_for_collision_with_list(probe, whole)) == {
            one for one in whole if arcade.check_for_collision(probe, one)
        }
        hits += len(found)
    assert hits


def test_nothing_is_updated_before_a_query(monkeypatch):
    whole = arcade.SpriteList(lazy=True)
    whole.extend(some(random.Random(1)) for _ in range(10))
    made = ours.SpatialHash.of(whole, 32)
    looked = []
    cells_of = made._cells_of
    monkeypatch.setattr(made, "_cells_of", lambda sprites: looked.append(len(sprites)) or cells_of(sprites))
    for sprite in whole:
        sprite.center_x += 5
        sprite.center_y += 5
    assert looked == []
    made.get_sprites_near_point((0, 0))
    assert looked == [10]
    whole[0].center_x += 5
    whole[0].angle = 30
    made.get_sprites_near_point((0, 0))
    assert looked == [10, 1]


def test_an_unknown_sprite_is_named():
    made, sprite = ours.SpatialHash(cell_size=10), some(random.Random(1))
    for call in (made.move, made.remove):
        with pytest.raises(KeyError):
            call(sprite)
    made.add(sprite)
    made.move(sprite)
    made.remove(sprite)
    assert made.count == 0
    for _ in range(2):
        made.add(sprite)
        assert made.get_sprites_near_sprite(sprite) == {sprite}
    assert made.count == 1
    made.reset()
    assert made.get_sprites_near_sprite(sprite) == set()
    with pytest.raises(TypeError, match="cell_size must be an int"):
        ours.SpatialHash(1.5)
    with pytest.raises(ValueError, match="cell_size must be greater than 0; got 0"):
        ours.SpatialHash(0)


def test_pictures_beyond_number_are_forgotten(monkeypatch):
    monkeypatch.setattr(ours, "_MOST_EXTENTS", 4)
    made, sprite = ours.SpatialHash(10), some(random.Random(2))
    made.add(sprite)
    for angle in range(20):
        sprite.angle = angle
        made.move(sprite)
        made.get_sprites_near_sprite(sprite)
    assert len(made._extents) <= 4
