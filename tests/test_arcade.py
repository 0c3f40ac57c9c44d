"""The drop-ins against arcade's own functions: the same sprites, the same answers."""

import contextlib
import math
import os
import random
import subprocess
import sys

import pytest

os.environ.setdefault("ARCADE_HEADLESS", "True")  # before the import: no display is needed
arcade = pytest.importorskip(
    "arcade",
    exc_type=ImportError,
    reason="the extra arcade, or the system's libGL that it loads, is not installed",
)

from broadphase.adapters import arcade as ours  # noqa: E402

SQUARE = arcade.make_soft_square_texture(24, (255, 255, 255), 255, 255)
DISC = arcade.make_circle_texture(30, (255, 255, 255))
WIDE = arcade.Texture.create_empty("wide", (60, 8))
TEXTURES = [SQUARE, SQUARE, DISC, WIDE]
BENT = [(-12, -12), (12, -12), (12, -6), (-6, -6), (-6, 12), (-12, 12)]


class Card:
    """Stands in for what a list keeps on the graphics card, so that lists are live without a window."""

    def add(self, texture):
        return 0, 0

    def grow_sprite_buffers(self):
        pass

    def grow_index_buffer(self):
        pass


def live(sprites, **options):
    """A sprite list as it is once it has been drawn."""
    made = arcade.SpriteList(lazy=True, **options)
    made._atlas = made._data = Card()
    made._initialized = True
    made.extend(sprites)
    return made


def scatter(seed, count, side=400.0):
    """Sprites of all kinds, many of them on whole coordinates, so that edges meet."""
    rng = random.Random(seed)
    sprites = []
    for _ in range(count):
        sprite = arcade.Sprite(rng.choice(TEXTURES), scale=rng.choice([1, 1, 0.5, 2.5, -1]))
        sprite.position = rng.choice(
            [(rng.uniform(0, side), rng.uniform(0, side)), (12 * rng.randrange(40), 12 * rng.randrange(40))]
        )
        if rng.random() < 0.3:
            sprite.angle = rng.uniform(0, 360)
        if rng.random() < 0.1:
            sprite.hit_box = arcade.hitbox.RotatableHitBox(
                BENT, position=sprite.position, scale=sprite.scale, angle=sprite.angle
            )
        sprites.append(sprite)
    return sprites


def by_the_book(sprite, sprites):
    """Every sprite of a list, one after the other."""
    return [other for other in sprites if other is not sprite and arcade.check_for_collision(sprite, other)]


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("count", [5, 60, 400])
def test_the_answers_are_arcades(count, hashed):
    hits = 0
    for seed in range(4):
        sprites = scatter(seed, count)
        whole = live(sprites, use_spatial_hash=hashed)
        for sprite in (*sprites[:25], *scatter(seed + 100, 25)):
            expected = by_the_book(sprite, whole)
            found = ours.check_for_collision_with_list(sprite, whole)
            theirs = arcade.check_for_collision_with_list(sprite, whole, 1 if hashed else 3)
            assert set(found) == set(theirs) == set(expected)
            assert len(found) == len(expected)
            if count > 24 or not hashed:
                assert found == expected, "in the order of the list"
            hits += len(found)
    assert hits


def test_long_lists_with_a_hash_are_queried_through_it(monkeypatch):
    monkeypatch.setattr(ours, "_MANY_SPRITES", 50)
    monkeypatch.setattr(ours, "near_slots", lambda *_: pytest.fail("passed over the arrays"))
    sprites = scatter(3, 300)
    whole = live(sprites, use_spatial_hash=True)
    for sprite in (*sprites[:50], *scatter(103, 50)):
        assert ours.check_for_collision_with_list(sprite, whole) == by_the_book(sprite, whole)


def change(rng, whole):
    """Something that games do to a sprite list."""
    kind = rng.randrange(14)
    sprite = rng.choice(whole.sprite_list)
    if kind == 0:
        sprite.position = rng.uniform(0, 400), rng.uniform(0, 400)
    elif kind == 1:
        sprite.center_x += rng.uniform(-50, 50)
    elif kind == 2:
        sprite.scale = rng.choice([0.5, 1, 3, -1])
    elif kind == 3:
        sprite.width = rng.uniform(1, 80)
    elif kind == 4:
        sprite.texture = rng.choice(TEXTURES)
    elif kind == 5:
        sprite.angle = rng.uniform(0, 360)
    elif kind == 6:
        sprite.kill()
    elif kind == 7:
        whole.append(scatter(rng.random(), 1)[0])
    elif kind == 8:
        whole.insert(rng.randrange(len(whole)), scatter(rng.random(), 1)[0])
    elif kind == 9:
        whole.pop(rng.choice([-1, 0, 5, -2]))
    elif kind == 10:
        with contextlib.suppress(ValueError):  # arcade's, where pop(-2) has lost count
            whole.swap(rng.randrange(len(whole)), rng.randrange(len(whole)))
    elif kind == 11:
        whole.reverse()
    elif kind == 12:
        whole.sort(key=lambda one: one.center_y)
    else:
        whole.sprite_list.sort(key=lambda one: one.center_x)  # behind the list's back


@pytest.mark.covering
@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_to_the_list(seed, hashed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(ours, "_MANY_SPRITES", 50)
    rng = random.Random(seed)
    sprites = scatter(seed, 100)
    whole = live(sprites, use_spatial_hash=hashed, capacity=16)
    for step in range(300):
        change(rng, whole)
        if len(whole) < 40:
            whole.extend(scatter(step, 30))
        for sprite in (rng.choice(whole.sprite_list), scatter(1000 + step, 1)[0]):
            expected = by_the_book(sprite, whole)
            found = ours.check_for_collision_with_list(sprite, whole)
            assert len(found) == len(expected), step
            assert set(found) == set(expected), step


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    "place", [(1e30, 1e30), (3e38, 0), (math.nan, 0), (math.inf, 0), (1e300, 1e300), (1e-40, 0)]
)
def test_far_and_odd_places(place):
    whole = live(scatter(1, 60))
    for k in (0, 30):
        whole[k].position = place
    for sprite in (whole[0], whole[1], arcade.Sprite(SQUARE, center_x=place[0], center_y=place[1])):
        assert ours.check_for_collision_with_list(sprite, whole) == by_the_book(sprite, whole)


def test_another_sprite_of_the_same_number():
    """One sprite is removed and one added, in another row of the arrays."""
    whole = live(scatter(4, 60))
    for k in (10, 20):
        whole[k].kill()
    new = arcade.Sprite(SQUARE, center_x=-500, center_y=-500)
    assert ours.check_for_collision_with_list(new, whole) == []
    whole[40].kill()
    whole.append(arcade.Sprite(SQUARE, center_x=-510, center_y=-500))
    assert ours.check_for_collision_with_list(new, whole) == [whole[-1]]


@pytest.mark.smaller_set
def test_several_lists():
    lists = [live(scatter(seed, 80), use_spatial_hash=seed == 2) for seed in range(3)]
    lists[2].append(lists[0][0])
    for sprite in scatter(7, 60):
        expected = [other for one in lists for other in by_the_book(sprite, one)]
        assert ours.check_for_collision_with_lists(sprite, lists) == expected
        assert ours.check_for_collision_with_lists(sprite, iter(lists), 3) == expected
    assert ours.check_for_collision_with_lists(lists[0][0], []) == []


def test_our_functions_may_replace_those_of_arcade(monkeypatch):
    whole = live(scatter(1, 60))
    expected = by_the_book(whole[0], whole)
    monkeypatch.setattr(arcade, "check_for_collision_with_list", ours.check_for_collision_with_list)
    monkeypatch.setattr(arcade, "check_for_collision_with_lists", ours.check_for_collision_with_lists)
    whole._initialized = False
    assert arcade.check_for_collision_with_list(whole[0], whole) == expected
    assert arcade.check_for_collision_with_lists(whole[0], [whole]) == expected


@pytest.mark.parametrize("count", [5, 60, 300])
def test_a_list_that_was_never_drawn(count):
    """Such a list does not note the size of a new texture."""
    whole = arcade.SpriteList(lazy=True)
    whole.extend(scatter(5, count))
    others = scatter(6, 30)
    for turn in range(3):
        for sprite in others:
            assert ours.check_for_collision_with_list(sprite, whole) == by_the_book(sprite, whole)
        for sprite in whole.sprite_list[turn::4]:
            sprite.texture = WIDE if turn != 1 else DISC
        whole.remove(whole[turn])
        whole.append(scatter(turn, 1)[0])
        whole.sprite_list.sort(key=lambda one: one.center_x)


@pytest.mark.parametrize(("count", "more"), [(0, 40), (3, 60), (40, 3), (80, 90), (300, 200)])
@pytest.mark.parametrize("drawn", [False, True])
def test_list_against_list(count, more, drawn):
    lists = [live(scatter(seed, n)) for seed, n in enumerate((count, more))]
    for one in lists:
        one._initialized = drawn
    lists[0].extend(lists[1][:2])
    for a, b in (lists, reversed(lists), (lists[0], lists[0])):
        expected = [(sprite, other) for sprite in a for other in by_the_book(sprite, b)]
        assert ours.check_for_collision_between_lists(a, b) == expected
    with pytest.raises(TypeError, match="others must be a SpriteList"):
        ours.check_for_collision_between_lists(lists[0], list(lists[1]))


def test_lists_of_ones_own():
    class Silent(arcade.SpriteList):
        def _update_position(self, sprite):
            pass

    class Doubled(arcade.SpriteList):
        def draw_twice(self):
            pass

    assert not ours.keeps_arrays(Silent)
    assert ours.keeps_arrays(Doubled)
    made = Silent(lazy=True)
    made._initialized, made._atlas, made._data = True, Card(), Card()
    made.extend(scatter(8, 60))
    for sprite in made:
        sprite.center_x += 30
    for sprite in scatter(9, 20):
        assert ours.check_for_collision_with_list(sprite, made) == by_the_book(sprite, made)


def test_wrong_types_are_arcades_errors():
    whole = live(scatter(1, 60))
    for sprite, where in ((None, whole), (whole, whole), (whole[0], [whole[1]]), (whole[0], None)):
        with pytest.raises(TypeError) as theirs:
            arcade.check_for_collision_with_list(sprite, where)
        with pytest.raises(TypeError) as own:
            ours.check_for_collision_with_list(sprite, where)
        assert str(own.value) == str(theirs.value)
    with pytest.raises(TypeError, match="Parameter 1"):
        ours.check_for_collision_with_lists(None, [whole])


def test_the_list_can_still_grow():
    """No view of its arrays outlives a call."""
    whole = live(scatter(1, 60), capacity=16)
    for sprite in scatter(2, 300):
        ours.check_for_collision_with_list(sprite, whole)
        whole.append(sprite)
    assert len(whole) == 360


WINDOW = """
import arcade, random
from broadphase.adapters import arcade as ours
window = arcade.Window(64, 64)
texture = arcade.make_soft_square_texture(24, (255, 255, 255), 255, 255)
rng = random.Random(0)
for hashed in (False, True):
    whole = arcade.SpriteList(use_spatial_hash=hashed)
    for _ in range(2000):
        whole.append(arcade.Sprite(texture, center_x=rng.uniform(0, 900), center_y=rng.uniform(0, 900)))
    whole.draw()
    hits = 0
    for sprite in whole[::100] if isinstance(whole, list) else whole.sprite_list[::100]:
        found = ours.check_for_collision_with_list(sprite, whole)
        assert set(found) == set(arcade.check_for_collision_with_list(sprite, whole))
        hits += len(found)
    assert hits
import broadphase as bp
world = bp.World()
assert not ours.draw_world(world)
world.add(bp.Box(10, 20, 30, 30), tag="box")
world.add(bp.Circle(900, 20, 30))
camera = arcade.Camera2D(position=(40, 40), viewport=window.rect)
window.clear()
with camera.activate():
    ours.draw_world(world, colors={"box": (255, 0, 0)})
image = arcade.get_image(0, 0, 64, 64).convert("RGB")
red = [(x, 63 - y) for x in range(64) for y in range(64) if image.getpixel((x, y))[0] > 200]
assert red and min(red) in [(2, y) for y in range(11, 14)] and max(red)[0] in (31, 32), red
print("right")
"""


def test_in_a_window_on_the_graphics_card():
    """arcade uses the graphics card for more than 1,500 sprites; the answers are still the same."""
    done = subprocess.run(
        [sys.executable, "-c", WINDOW], capture_output=True, text=True, timeout=300, check=False
    )
    if "right" not in done.stdout and any(word in done.stderr for word in ("EGL", "libGL", "display")):
        pytest.skip("this machine has no EGL to draw with: " + done.stderr.strip().splitlines()[-1])
    assert done.stdout.strip() == "right", done.stderr
