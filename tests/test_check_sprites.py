"""Sprites whose picture has moved and whose body has not: each is named once, and no other."""

import warnings
from types import SimpleNamespace

import pytest

import broadphase as bp

pygame = pytest.importorskip("pygame")


class Sprite(pygame.sprite.Sprite):
    def __init__(self, name, x, y, *groups):
        super().__init__(*groups)
        self.name = name
        self.rect = pygame.Rect(x, y, 16, 16)

    def __repr__(self):
        return f"<{self.name}>"


def updates(world, times, each=lambda k: None):
    """What is warned of in so many updates, each after something was done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(times):
            each(k)
            world.update()
    assert all(one.category is bp.WorldWarning for one in caught)
    assert all(one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


def bound(world, name="ghost", x=10, y=20):
    sprite = Sprite(name, x, y)
    return sprite, world.add(bp.Box(x, y, 16, 16), data=sprite, tag="monster")


def test_a_picture_that_walks_away_is_named_once_with_both_boxes():
    world = bp.World(check_sprites=True)
    ghost, body = bound(world)
    bound(world, "stone")
    said = updates(world, 10, lambda k: ghost.rect.move_ip(3, 0))
    assert len(said) == 1
    assert said[0].startswith("the picture of <ghost> has moved to (")
    assert f"but its body {body!r} has stayed at (10.0, 20.0, 26.0, 36.0)" in said[0]


def test_a_picture_that_is_put_elsewhere_is_named():
    world = bp.World(check_sprites=True)
    ghost, _ = bound(world)
    assert updates(world, 3) == []
    ghost.rect.x += 200
    (said,) = updates(world, 3)
    assert "(210.0, 20.0, 226.0, 36.0)" in said


def test_no_warning_if_sprites_follow_their_bodies_a_frame_late_or_at_an_offset():
    world = bp.World(check_sprites=True)
    early, early_body = bound(world, "early")
    late, late_body = bound(world, "late", 100, 100)
    beside = Sprite("beside", 300, 280)
    beside_body = world.add(bp.Circle(308, 308, 4), data=beside)

    def walk(k):
        late.rect.topleft = late_body.position  # where it was in the frame before
        if k % 20 < 10:
            for body in (early_body, late_body, beside_body):
                world.move(body, 2.3, 0.4)
        early.rect.topleft = tuple(map(round, early_body.position))
        beside.rect.center = round(beside_body.x), round(beside_body.y) - 20

    assert updates(world, 60, walk) == []


def test_a_picture_that_grows_is_not_one_that_moves():
    world = bp.World(check_sprites=True)
    ghost, _ = bound(world)
    assert updates(world, 6, lambda k: ghost.rect.inflate_ip(4, 4)) == []
    assert updates(world, 6, lambda k: setattr(ghost.rect, "width", 20 + k)) == []


def test_what_is_no_sprite_is_left_alone_and_the_switch_can_be_turned_off():
    world = bp.World(check_sprites=True)
    for data in (None, 7, "text", {"rect": 1}, SimpleNamespace(x=None, y=0, width=1, height=1)):
        world.add(bp.Box(0, 0, 1, 1), data=data)
    ghost, _ = bound(world)
    assert updates(world, 3) == []
    world.check_sprites = False
    assert updates(world, 5, lambda k: ghost.rect.move_ip(3, 0)) == []
    assert not bp.World().check_sprites
    with pytest.raises(TypeError, match="check_sprites"):
        bp.World(check_sprites="yes")


def test_sprite_bodies_that_are_not_brought_along_are_found():
    from broadphase.adapters.pygame import SpriteBodies

    group = pygame.sprite.Group()
    ghost = Sprite("ghost", 0, 0, group)
    bodies = SpriteBodies(check_sprites=True)
    bodies.follow(group)

    def walk(k):
        ghost.rect.move_ip(3, 0)
        bodies.sync()

    assert updates(bodies.world, 5, walk) == []
    assert len(updates(bodies.world, 5, lambda k: ghost.rect.move_ip(3, 0))) == 1


def test_sprites_of_arcade_and_pyglet_are_seen():
    from broadphase.world.checks import picture_of

    arcade = SimpleNamespace(rect=SimpleNamespace(left=1, right=5, bottom=2, top=9))  # y points up
    pyglet = SimpleNamespace(x=1, y=2, width=4, height=7)
    assert picture_of(arcade) == picture_of(pyglet) == (1, 2, 5, 9)
