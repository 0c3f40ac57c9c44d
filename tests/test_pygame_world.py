"""Bodies that follow sprites."""

import numpy as np
import pytest

pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")

from sprite_helpers import NamedSprite  # noqa: E402

import broadphase as bp  # noqa: E402
from broadphase.adapters.pygame import SpriteBodies, WorldGroup  # noqa: E402


def box(name, *rect, kind=pygame.Rect, **attributes):
    return NamedSprite(name, kind(*rect), **attributes)


def test_bodies_are_where_the_rects_are():
    bodies = SpriteBodies()
    plain, turned = box("a", 1, 2, 3, 4), box("b", 10, 10, -4, -6)
    disc, wide = box("c", 0, 0, 9, 5), box("d", 0, 0, 8, 8, radius=3)
    assert bodies.add(plain, tag="x").shape == bp.Box(1, 2, 3, 4)
    assert bodies.add(turned).shape == bp.Box(6, 4, 4, 6)
    assert bodies.add(disc, round=True).shape == bp.Circle(4.5, 2.5, 4.5)
    assert bodies.add(wide, round=True).shape == bp.Circle(4, 4, 3)
    assert bodies.body(plain).data is plain
    assert bodies.body(plain).tag == "x"
    with pytest.raises(ValueError, match="has a body already"):
        bodies.add(plain)


def test_bodies_go_where_sprites_go():
    bodies = SpriteBodies()
    a, b, c = box("a", 0, 0, 4, 4), box("b", 50, 0, 4, 4), box("c", 9, 9, 4, 4)
    for member in (a, b):
        bodies.add(member, tag="thing")
    bodies.add(c, round=True)
    bodies.world.on("thing", "thing")
    assert len(bodies.world.update().began) == 0
    b.rect.x = 2
    c.rect.move_ip(5, 5)
    a.rect.width = 40
    bodies.sync()
    assert bodies.body(a).shape == bp.Box(0, 0, 40, 4)
    assert bodies.body(c).shape == bp.Circle(16, 16, 2)
    (contact,) = bodies.world.update().began
    assert {contact.a.data, contact.b.data} == {a, b}


def test_a_rect_of_whole_numbers_after_one_of_fractions():
    bodies = SpriteBodies()
    member = box("a", 1.5, 2, 4, 4, kind=pygame.FRect)
    bodies.add(member)
    member.rect = pygame.Rect(1, 2, 4, 4)
    bodies.sync()
    assert bodies.body(member).shape == bp.Box(1, 2, 4, 4)
    member.rect = pygame.FRect(1.5, 2, 4, 4)
    bodies.sync()
    assert bodies.body(member).shape == bp.Box(1.5, 2, 4, 4)


def test_a_body_that_the_world_has_removed_follows_no_more():
    bodies = SpriteBodies()
    member = box("a", 1, 2, 4, 4)
    bodies.world.remove(bodies.add(member))
    member.rect.x += 1
    bodies.sync()
    assert len(bodies.world) == 0


def test_a_group_is_followed_as_it_changes():
    bodies = SpriteBodies()
    group = pygame.sprite.Group()
    first, second = box("a", 0, 0, 4, 4), box("b", 9, 9, 4, 4)
    group.add(first)
    alone = box("c", 5, 5, 2, 2)
    bodies.add(alone)
    bodies.follow(group, tag="ball", round=True)
    group.add(second)
    first.kill()
    bodies.sync()
    assert {body.data for body in bodies.world} == {second, alone}
    assert bodies.body(second).tag == "ball"
    assert isinstance(bodies.body(second).shape, bp.Circle)
    with pytest.raises(KeyError):
        bodies.body(first)
    bodies.world.remove(bodies.body(second))
    second.kill()
    bodies.sync()
    assert [body.data for body in bodies.world] == [alone]


@pytest.mark.parametrize("kind", [pygame.Rect, pygame.FRect])
def test_sprites_go_where_the_world_moves_them(kind):
    bodies = SpriteBodies()
    player, wall = box("p", 0, 0, 10, 10, kind=kind), box("w", 30, -50, 10, 100, kind=kind)
    bodies.add(player)
    bodies.add(wall, static=True)
    for _ in range(8):
        bodies.move(player, 0.25, 0.125)
    assert tuple(player.rect) == (2, 1, 10, 10)
    player.rect.y = 5  # the game has a say too
    move = bodies.move(player, 100, 0)
    assert move.right
    assert move.hits[0].other.data is wall
    assert tuple(player.rect) == (20, 5, 10, 10)
    bodies.sync()
    assert bodies.body(player).position == (20, 5)


def test_fractions_are_kept_though_the_rect_is_whole():
    bodies = SpriteBodies()
    player = box("p", 0, 0, 10, 10)
    bodies.add(player)
    for _ in range(100):
        bodies.move(player, 0.3, -0.3)
        bodies.sync()
    assert player.rect.topleft == (30, -30)


def monsters_towards(leader, kind):
    """A crowd that walks to a player among walls, its sprites and its bodies."""
    rng = np.random.default_rng(4)
    bodies = SpriteBodies()
    walls = WorldGroup(bodies=bodies, tag="wall", static=True)
    for x, y in rng.integers(0, 300, (12, 2)).tolist():
        pygame.sprite.Sprite(walls).rect = pygame.Rect(x, y, 20, 10)
    crowd = WorldGroup(bodies=bodies, tag="monster", leader=leader)
    for x, y in rng.integers(0, 300, (40, 2)).tolist():
        pygame.sprite.Sprite(crowd).rect = kind(x, y, 6, 6)
    walls.sync()
    crowd.sync()
    return bodies, crowd


@pytest.mark.parametrize("kind", [pygame.Rect, pygame.FRect])
@pytest.mark.parametrize("leader", ["sprite", "body"])
def test_many_sprites_move_as_one_by_one(leader, kind):
    (_, many), (one_by_one, each) = (monsters_towards(leader, kind) for _ in range(2))
    for frame in range(15):
        ways = np.array((150.0, 150.0)) - many.centers
        ways *= 1.7 / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1.0)
        if frame % 2:
            moved = many.move_many(ways, movers_block=True)
            for sprite, way in zip(each.sprites(), ways.tolist(), strict=True):
                one_by_one.move(sprite, way)
        else:
            moved = many.walk_many(*ways.T, movers_block=True)
            for sprite, way in zip(each.sprites(), ways.tolist(), strict=True):
                one_by_one.walk(sprite, way)
        bodies = [many.body(sprite) for sprite in many.sprites()]
        assert moved.places.tolist() == [list(body.position) for body in bodies]
        assert [sprite.rect for sprite in many] == [sprite.rect for sprite in each]
        for sprite, body in zip(many.sprites(), bodies, strict=True):
            assert abs(sprite.rect.x - body.x) < 1.0


@pytest.mark.parametrize("leader", ["sprite", "body"])
def test_sprites_follow_bodies_with_a_velocity(leader):
    bodies, crowd = monsters_towards(leader, pygame.FRect)
    sprite = crowd.sprites()[0]
    body = crowd.body(sprite)
    body.move_to(-100, -100)
    if leader == "body":
        bodies.sync()
        assert sprite.rect.topleft == (-100, -100)
    before = sprite.rect.topleft
    body.velocity = 8, -2
    stepped = bodies.step(0.5)
    assert stepped.ids.tolist() == [body.id]
    assert sprite.rect.topleft == (before[0] + 4, before[1] - 1)


def test_a_sprite_that_is_led_goes_with_its_body():
    bodies, crowd = monsters_towards("body", pygame.Rect)
    sprite, other = crowd.sprites()[:2]
    crowd.body(sprite).remove()
    crowd.body(other).move_to(400.4, 500.6)
    other.rect.x = 7
    bodies.sync()
    assert not sprite.alive()
    assert sprite not in bodies
    assert len(crowd) == 39
    crowd.body(other).x += 1.2
    bodies.sync()
    assert crowd.body(other).position == (401.59999999999997, 500.6)
    with pytest.raises(ValueError, match='leader must be "sprite" or "body"'):
        bodies.follow(crowd, leader="both")


# ---- picture and body stay together


@pytest.mark.covering
@pytest.mark.parametrize("leader", ["sprite", "body"])
@pytest.mark.parametrize("kind", [pygame.Rect, pygame.FRect])
def test_picture_and_body_do_not_drift_apart(kind, leader):
    bodies = SpriteBodies()
    walker, disc = box("w", 0, 7, 10, 10, kind=kind), box("d", 3, 50, 9, 9, kind=kind)
    bodies.add(walker, leader=leader)
    bodies.add(disc, leader=leader, round=True)
    for _ in range(6_000):
        bodies.move(walker, 0.1, 0)
        bodies.move_many([disc], 0.1, 0)
    half = 0.5 if kind is pygame.Rect else 1e-4  # a rect of whole numbers, and one of float32
    assert bodies.body(walker).x == pytest.approx(600)
    assert abs(walker.rect.x - bodies.body(walker).x) <= half
    assert abs(disc.rect.x + 4.5 - bodies.body(disc).x) <= half
    assert (walker.rect.y, disc.rect.y) == (7, 50)


def test_a_body_that_follows_is_put_back_and_the_program_is_told():
    for check in (False, True):
        bodies = SpriteBodies(check_sprites=check)
        led, leading, gone = (box(name, 0, 20 * k, 4, 4) for k, name in enumerate(("led", "leading", "gone")))
        body = bodies.add(led)
        bodies.add(leading, leader="body").x = 30
        bodies.add(gone).remove()
        body.x = 40
        if check:
            with pytest.warns(
                bp.WorldWarning, match=r"the body of led has moved to \(40.0, 0.0\).*goes back"
            ):
                bodies.sync()
        else:
            bodies.sync()
        assert (body.position, led.rect.topleft, leading.rect.topleft) == ((0, 0), (0, 0), (30, 20))
        bodies.sync()  # says nothing more
        led.rect.x = 5
        body.x = 60
        bodies.sync()
        assert body.position == (5, 0), "the sprite has moved, too"


def test_a_sprite_that_follows_goes_to_its_body_wherever_the_game_has_put_it():
    bodies = SpriteBodies()
    sprite = box("a", 3, 4, 9, 9)
    body = bodies.add(sprite, leader="body", round=True)
    sprite.rect = pygame.FRect(50, 60, 9, 9)
    body.position = 10.25, 20.5
    bodies.sync()
    assert sprite.rect.topleft == (5.75, 16)
    assert body.position == (10.25, 20.5)


def test_bodies_around_a_period_are_where_they_belong():
    bodies = SpriteBodies(bp.World(period=(100, 100)), check_sprites=True)
    sprite = box("a", 90, 0, 4, 4)
    body = bodies.add(sprite)
    sprite.rect.x = 130
    for _ in range(2):
        bodies.sync()  # without a warning
        assert (body.x, sprite.rect.x) == (30, 130)


class Ship(pygame.sprite.Sprite):
    """Takes its turret with it."""

    def kill(self):
        super().kill()
        self.turret.kill()


@pytest.mark.parametrize("alone", [False, True])
def test_a_sprite_that_is_killed_with_its_body_may_kill_others(alone):
    bodies = SpriteBodies()
    group = WorldGroup(bodies=bodies, leader="body")
    ship, turret, other = Ship(), pygame.sprite.Sprite(), pygame.sprite.Sprite()
    ship.turret = turret
    for k, sprite in enumerate((ship, turret, other)):
        sprite.rect = pygame.Rect(40 * k, 0, 10, 10)
        if alone:
            bodies.add(sprite, leader="body")
        else:
            group.add(sprite)
    bodies.sync()
    bodies.body(ship).remove()
    if alone:
        bodies.body(turret).remove()
    bodies.body(other).x += 5
    bodies.sync()
    assert (ship in bodies, turret in bodies, other in bodies) == (False, False, True)
    assert other.rect.x == 85
    assert [body.data for body in bodies.world] == [other]


def test_a_sprite_whose_body_was_removed_can_get_another():
    bodies = SpriteBodies()
    sprite = box("a", 1, 2, 4, 4)
    for leader in ("sprite", "body"):
        bodies.add(sprite, leader=leader).remove()
        assert sprite not in bodies
        bodies.sync()
        again = bodies.add(sprite, tag="again")
        assert bodies.body(sprite) is again
        assert sprite in bodies
        again.remove()
    assert len(bodies.world) == 0


def test_a_sprite_that_has_no_rect_is_named():
    bodies = SpriteBodies()
    sprite, other = box("a", 1, 2, 4, 4), box("b", 50, 2, 4, 4)
    with pytest.raises(TypeError, match=r"nothing has no rect; set sprite\.rect"):
        bodies.add(NamedSprite("nothing", None))
    with pytest.raises(TypeError, match="has no rect"):
        bodies.add(bodies.world)
    bodies.add(other)
    bodies.add(sprite)
    sprite.rect = None
    other.rect.x = 60
    for call in (bodies.sync, lambda: bodies.move(sprite, 1, 0), lambda: bodies.move_many([sprite], 1, 0)):
        with pytest.raises(TypeError, match="a has no rect"):
            call()
    assert bodies.body(other).x == 50, "nothing has moved"


def test_after_a_group_is_refused_another_is_followed():
    bodies, group = SpriteBodies(), pygame.sprite.Group(box("a", 1, 2, 4, 4))
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'tags'.*'tag'"):
        bodies.follow(group, tags="x")
    with pytest.raises(TypeError, match="unexpected keyword argument 'tags'"):
        bodies.follow(pygame.sprite.Group(), tags="x")
    with pytest.raises(TypeError, match="unexpected keyword argument 'tags'"):
        WorldGroup(bodies=bodies, tags="x")
    with pytest.raises(TypeError, match=r"a group holds sprites; got a, which SpriteBodies\.add"):
        bodies.follow(*group)
    round_ones = [box("b", 1, 2, 4, 4), box("c", 1, 2, 4, 4)]
    round_ones[1].radius = -1
    more = pygame.sprite.Group(round_ones)
    with pytest.raises(ValueError, match="radius"):
        bodies.follow(more, round=True)
    bodies.sync()
    assert len(bodies.world) == 0
    bodies.follow(group, tag="x")
    round_ones[1].radius = 1
    bodies.follow(more, round=True, tag="y")
    assert [bodies.body(sprite).tag for sprite in (*group, *round_ones)] == ["x", "y", "y"]
    assert len(bodies.world) == 3


def test_what_has_no_body_is_named():
    bodies, stranger = SpriteBodies(), box("stranger", 1, 2, 4, 4)
    calls = bodies.body, bodies.remove, lambda one: bodies.move(one, 1, 0), lambda one: bodies.walk(one, 1, 0)
    for call in (*calls, lambda one: bodies.move_many([one], 1, 0)):
        with pytest.raises(KeyError, match=r"stranger has no body; SpriteBodies\.add"):
            call(stranger)
    with pytest.raises(TypeError, match="is no sprite; World"):
        bodies.add(pygame.Rect(0, 0, 4, 4))


def test_what_is_no_world_is_refused():
    group = pygame.sprite.Group()
    with pytest.raises(TypeError, match=r"world must be a broadphase\.World"):
        SpriteBodies(group)


@pytest.mark.parametrize("leader", ["sprite", "body"])
def test_the_sprites_of_crates_and_riders_go_with_them(leader):
    bodies = SpriteBodies()
    hero, crate, lift = box("h", 0, 0, 10, 10), box("c", 15, 0, 10, 10), box("l", 10, 10, 30, 4)
    bodies.add(hero, leader=leader)
    bodies.add(crate, tag="crate", leader=leader)
    bodies.add(lift, leader=leader)
    if leader == "sprite":
        crate.rect.x = 12  # it has moved since the last sync
    else:
        bodies.body(crate).x = 12
    bodies.walk(hero, 5, 0, pushes="crate")
    assert (hero.rect.x, crate.rect.x) == (5, 15)
    bodies.sync()
    assert bodies.body(crate).x == 15
    bodies.body(lift).one_way = "top"
    bodies.move(lift, 0, -6)
    assert (crate.rect.y, lift.rect.y) == (-6, 4)
    bodies.move_many([lift], 1, -2)
    bodies.body(lift).velocity = 0, -2
    bodies.step(1.0)
    bodies.sync()
    assert (crate.rect.topleft, lift.rect.topleft) == ((16, -10), (11, 0))
    assert bodies.body(crate).position == (16, -10)
