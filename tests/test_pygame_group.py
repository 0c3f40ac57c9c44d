"""Groups whose sprites have bodies."""

import math

import numpy as np
import pytest

pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")

from hypothesis import example, given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import broadphase as bp  # noqa: E402
from broadphase.adapters.pygame import SpriteBodies, WorldGroup  # noqa: E402


class Ball(pygame.sprite.Sprite):
    """Made as pygame's tutorials do: in its groups before it has a rect."""

    def __init__(self, *groups, rect=(0, 0, 4, 4)):
        super().__init__(*groups)
        self.rect = pygame.Rect(rect)

    def update(self, dx=0):
        self.rect.x += dx


def members(world):
    return {body.data for body in world}


def test_a_sprite_has_a_body_while_it_is_in_the_group():
    balls = WorldGroup(tag="ball", round=True)
    first, second = Ball(balls), Ball(balls, rect=(9, 9, 8, 8))
    assert len(balls.world) == 0  # they had no rect when they joined
    balls.update()
    assert members(balls.world) == {first, second}
    assert balls.body(second).shape == bp.Circle(13, 13, 4)
    assert balls.body(second).tag == "ball"
    first.kill()
    assert members(balls.world) == {second}
    balls.empty()
    assert len(balls.world) == 0
    balls.add([first, second])
    assert balls.body(first).shape == bp.Circle(2, 2, 2)  # read: no update is needed
    balls.remove(first)
    with pytest.raises(KeyError, match="not in this group"):
        balls.body(first)
    balls.world.remove(balls.body(second))
    second.kill()
    assert len(balls) == 0


def test_bodies_go_where_update_takes_their_sprites():
    balls = WorldGroup()
    ball, other = Ball(balls), Ball(balls, rect=(50, 0, 4, 4))
    balls.update(3)
    assert balls.body(ball).shape == bp.Box(3, 0, 4, 4)
    balls.world.remove(balls.body(other))  # its sprite lives on, without a body
    balls.update(3)
    assert balls.body(ball).shape == bp.Box(6, 0, 4, 4)
    assert members(balls.world) == {ball}


def test_groups_of_one_world():
    bodies = SpriteBodies()
    walls = WorldGroup(Ball(rect=(50, -50, 10, 100)), bodies=bodies, tag="wall", static=True)
    players = WorldGroup(bodies=bodies, tag="player")
    player = Ball(players, rect=(0, 0, 16, 16))
    assert walls.world is players.world is bodies.world
    walls.update()
    move = players.move(player, 100, 5)
    assert move.hits[0].other.data is walls.sprites()[0]
    assert player.rect == (34, 5, 16, 16)
    assert walls.colliding(player) == []
    player.rect.x += 1
    assert walls.colliding(player) == walls.sprites()
    assert players.colliding(player) == []
    with pytest.raises(KeyError, match="not in this group"):
        players.move(walls.sprites()[0], 1, 1)


def test_a_copy_is_a_plain_group():
    balls = WorldGroup(Ball(), Ball())
    copy = balls.copy()
    assert type(copy) is pygame.sprite.Group
    assert copy.sprites() == balls.sprites()
    copy.empty()
    balls.update()
    assert len(balls.world) == 2


def test_a_walk_along_the_floor():
    bodies = SpriteBodies()
    hero, floor = Ball(rect=(0, 10, 4, 6)), Ball(rect=(-50, 16, 100, 8))
    bodies.add(hero)
    bodies.add(floor, static=True)
    walk = bodies.walk(hero, 3.5, 1.0)
    assert walk.floor.data is floor
    assert hero.rect == (4, 10, 4, 6)
    bodies.walk(hero, 3.5, 1.0)
    assert hero.rect == (7, 10, 4, 6)


def test_a_sprite_without_a_body_yet_still_blocks():
    bodies = SpriteBodies()
    walls, plain = WorldGroup(bodies=bodies, static=True), pygame.sprite.Group()
    bodies.follow(plain, static=True)
    player = Ball(rect=(0, 0, 16, 16))
    bodies.add(player)
    Ball(walls, rect=(50, -50, 10, 100))
    later = Ball(plain, rect=(-50, -50, 10, 100))
    assert bodies.move(player, 100, 0).right
    assert bodies.move(player, -100, 0).left
    assert player.rect == (-40, 0, 16, 16)
    assert bodies.body(later).static
    later.kill()
    assert not bodies.move(player, -100, 0).hits


def test_a_sprite_without_a_rect_keeps_waiting():
    group = WorldGroup()
    late, here, none = (
        pygame.sprite.Sprite(group),
        Ball(group, rect=(0, 0, 5, 5)),
        pygame.sprite.Sprite(group),
    )
    none.rect = None
    query = Ball(rect=(1, 1, 5, 5))
    assert group.colliding(query) == [here]
    late.rect = pygame.Rect(2, 2, 3, 3)
    assert group.colliding(query) == [late, here]
    group.update()
    assert members(group.world) == {late, here}
    none.rect = pygame.Rect(9, 9, 2, 2)
    group.update()
    assert members(group.world) == {late, here, none}


def test_other_bodies_in_the_world_are_no_sprites():
    group = WorldGroup(Ball(rect=(0, 0, 5, 5)))
    group.world.add(bp.Box(0, 0, 5, 5), data=[1])
    assert group.colliding(Ball(rect=(1, 1, 5, 5))) == group.sprites()


def test_the_first_of_its_groups_gives_a_sprite_its_body_and_then_another():
    bodies = SpriteBodies()
    red, blue = (WorldGroup(bodies=bodies, tag=tag) for tag in ("red", "blue"))
    plain, query = pygame.sprite.Group(), Ball(rect=(2, 2, 4, 4))
    bodies.follow(plain, tag="plain")
    ball = Ball(red, blue, plain)
    red.update()
    blue.update()
    assert (red.body(ball).tag, len(bodies.world)) == ("red", 1)
    blue.remove(ball)
    assert members(bodies.world) == {ball}
    blue.add(ball)
    red.remove(ball)
    assert blue.colliding(query) == [ball]
    assert bodies.body(ball).tag == "blue"
    assert bodies.move(ball, 1, 0).x == 1
    blue.remove(ball)
    assert bodies.move(ball, 1, 0).x == 2
    assert bodies.body(ball).tag == "plain"
    blue.add(ball)
    plain.remove(ball)
    bodies.sync()
    assert bodies.body(ball).tag == "blue"
    ball.kill()
    bodies.sync()
    assert len(bodies.world) == 0


def test_a_world_is_no_sprite():
    world = bp.World()
    for wrong in ([world], [SpriteBodies(world)]):
        with pytest.raises(TypeError, match=r"bodies=SpriteBodies\(world\)"):
            WorldGroup(*wrong)
    with pytest.raises(TypeError, match=r"bodies must be SpriteBodies, such as SpriteBodies\(world\)"):
        WorldGroup(bodies=world)


class Counted(pygame.sprite.Group):
    """Counts how often somebody goes through all of it."""

    walked = 0

    def sprites(self):
        self.walked += 1
        return super().sprites()


class CountedWorldGroup(Counted, WorldGroup):
    """The same with bodies."""


def test_a_look_and_a_move_go_through_no_group():
    bodies = SpriteBodies()
    group, plain = CountedWorldGroup(bodies=bodies), Counted()
    bodies.follow(plain)
    player, others = Ball(rect=(0, 0, 9, 9)), [Ball(one, rect=(5, 5, 9, 9)) for one in (group, plain)]
    bodies.add(player)
    bodies.sync()
    group.colliding(player)
    for one in (group, plain):
        one.walked = 0
    assert group.colliding(player) == others[:1]
    bodies.move(player, 1, 1)
    group.move(others[0], 1, 1)
    assert (group.walked, plain.walked) == (0, 0)


numbers = st.one_of(st.integers(-20, 20), st.floats(-20, 20, width=32))
kinds = st.sampled_from([pygame.Rect, pygame.FRect])
steps = st.lists(
    st.tuples(st.sampled_from(["sync", "look", "kill", "join", "leave", "set"]), st.integers(0, 9))
)


def overlapping(members, placed, rect):
    """The sprites whose rects overlap another, edges apart; those without an area never do."""

    def edges(x, y, width, height):
        return min(x, x + width), min(y, y + height), max(x, x + width), max(y, y + height)

    def meet(a, b):
        low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
        return bool((low < high).all()) and a[0] < a[2] and a[1] < a[3] and b[0] < b[2] and b[1] < b[3]

    query = edges(*rect)
    return [one for one in members if meet(edges(*placed[one]), query)]


@given(st.lists(st.tuples(*[numbers] * 4), min_size=1, max_size=12), kinds, kinds, kinds, steps)
@example([(0, 0, 9, 9), (1, 1, 9, 9)], *[pygame.Rect] * 3, [("leave", 0), ("join", 0), ("sync", 0)])
@example([(5, 5, 4, 4), (3.2, 3.2, 2.3, 2.3)], *[pygame.Rect] * 2, pygame.FRect, [])
def test_a_group_answers_for_where_its_sprites_were_at_the_last_sync(rects, kind, odd, asking, steps):
    group = WorldGroup()
    sprites, placed = [Ball(group) for _ in rects], {}

    def put(k, at):
        sprites[k].rect = (kind if k else odd)(rects[at])

    def look():
        for at in range(len(rects)):
            query = Ball()
            query.rect = asking(rects[at])
            for one in (query, sprites[at], query.rect):
                found = group.colliding(one)
                for member in group:
                    placed.setdefault(member, tuple(member.rect))
                expected = overlapping(group.sprites(), placed, getattr(one, "rect", one))
                assert found == [other for other in expected if other is not one]

    for k in range(len(rects)):
        put(k, k)
    for step, number in [("sync", 0), ("look", 0), *steps, ("look", 0)]:
        k = number % len(rects)
        if step == "look":
            look()
        elif step == "set":
            put(k, (7 * k + number) % len(rects))
        elif step == "sync":
            group.sync()
            placed = {one: tuple(one.rect) for one in group}
        elif step == "join":
            group.add(sprites[k])
        elif step == "leave":
            group.remove(sprites[k])
            placed.pop(sprites[k], None)
        elif step == "kill":
            sprites[k].kill()
            placed.pop(sprites[k], None)
    assert [body.bounds[:2] for body in group.world if body.data in placed] == [
        (min(x, x + width), min(y, y + height))
        for x, y, width, height in (placed[body.data] for body in group.world if body.data in placed)
    ]


@pytest.mark.parametrize("count", [5, 1200])
@pytest.mark.parametrize("options", [{}, {"round": True}, {"leader": "body"}])
@pytest.mark.parametrize("period", [None, (400, 400)])
def test_few_and_many_sprites_are_found_in_the_order_of_their_group(count, options, period):
    rng = np.random.default_rng(4)
    world = bp.World(period=period)
    bodies = SpriteBodies(world)
    others = WorldGroup(bodies=bodies)
    group = WorldGroup(bodies=bodies, **options)
    places = rng.integers(0, 390, (count, 2)).tolist()
    sprites = [Ball(rect=(x, y, 9, 9)) for x, y in places]
    for k in rng.permutation(count).tolist():
        group.add(sprites[k])
        Ball(others, rect=(*places[k], 9, 9))
    group.sync()
    moment = world.snapshot()
    for removed in (None, sprites[count // 2]):
        if removed is not None:
            world.remove(group.body(removed))
            group.add(Ball(rect=(1, 1, 9, 9)))
        for x, y in places[:20]:
            box = (x - 20, y - 20, x + 30, y + 30)
            near = {body.data for body in world.query_box(box) if body.data in group}
            asked = pygame.Rect(x - 20, y - 20, 50, 50)
            assert group.colliding(asked) == [one for one in group.sprites() if one in near]
    world.restore(moment)
    assert sprites[count // 2] in group.colliding(sprites[count // 2].rect)


def test_a_body_that_is_moved_in_its_world_is_found_there():
    group = WorldGroup()
    ball = Ball(group, rect=(0, 0, 9, 9))
    group.body(ball).center = 104.5, 4.5
    assert (group.colliding((0, 0, 9, 9)), group.colliding((100, 0, 9, 9))) == ([], [ball])
    group.body(ball).shape = bp.Circle(50, 50, 4)
    assert group.colliding((40, 40, 8, 8)) == [ball]
    assert group.colliding((40, 40, 6.5, 6.5)) == []  # the corner of its bounds only


def test_colliding_is_in_the_order_of_the_group_and_without_empty_rects():
    """Ids are used again, but who joined later comes later: the first is that of ``spritecollideany``."""
    for own_bodies in (SpriteBodies(), None):
        bricks = [Ball(rect=(x, 0, 5, 5)) for x in (0, 5, 10)]
        group = WorldGroup(*bricks, bodies=own_bodies)
        group.sync()
        bricks[0].kill()
        late, empty = Ball(rect=(15, 0, 5, 5)), Ball(rect=(13, 2, 0, 2))
        group.add(late, empty)
        for _ in range(2):
            query = Ball(rect=(12, 0, 8, 5))
            assert (
                group.colliding(query)
                == pygame.sprite.spritecollide(query, group, False)
                == [bricks[2], late]
            )
            assert group.colliding(query)[0] is pygame.sprite.spritecollideany(query, group)
            assert group.colliding(empty) == pygame.sprite.spritecollide(empty, group, False) == []
            group.sync()


@pytest.mark.parametrize(
    ("n", "kind"), [(0, pygame.Rect), (1, pygame.FRect), (17, pygame.Rect), (300, pygame.FRect)]
)
def test_in_range_reads_the_rects_as_they_are(n, kind):
    creeps, towers = WorldGroup(), [Ball(rect=(7 * k, 5 * k, 8, 8)) for k in range(5)]
    for k in range(n):
        Ball(creeps).rect = kind(k * 37 % 101, k * 53 % 89, 4, 6)
    creeps.update()
    for creep in creeps:
        creep.rect.x += 3
    for k, tower in enumerate(towers):
        tower.reach = 9 * k
    places = [tower.rect.center for tower in towers]
    apart = [{creep: math.dist(place, creep.rect.center) for creep in creeps} for place in places]

    def within(*radii):
        return [
            [one for one in creeps if far[one] <= radius] for far, radius in zip(apart, radii, strict=True)
        ]

    assert n < 300 or all(within(*[20] * 5))
    vectors = [pygame.Vector2(place) for place in places]
    for others in (towers, places, vectors, [tower.rect for tower in towers]):
        for radius in (20, 20.0, lambda _: 20):
            assert creeps.in_range(others, radius) == within(*[20] * 5)
    assert creeps.in_range(towers, "reach") == within(0, 9, 18, 27, 36)
    ordered = creeps.in_range(towers, 20, sort="distance")
    assert ordered == [
        sorted(near, key=far.__getitem__) for near, far in zip(within(*[20] * 5), apart, strict=True)
    ]


def test_in_range_refuses_what_is_no_place():
    creeps = WorldGroup()
    Ball(creeps)
    with pytest.raises(TypeError, match=r"ones\[1\]"):
        creeps.in_range([(0, 0), "tower"], 20)
    with pytest.raises(ValueError, match="negative"):
        creeps.in_range([(0, 0)], -1)
    with pytest.raises(ValueError, match='sort must be "list" or "distance"'):
        creeps.in_range([(0, 0)], 20, sort="name")


@pytest.mark.parametrize("in_world", [False, True])
def test_colliding_takes_a_rect(in_world):
    group = WorldGroup(bodies=SpriteBodies()) if in_world else WorldGroup()
    first, second = Ball(group), Ball(group, rect=(9, 9, 8, 8))
    group.update()
    for kind in (pygame.Rect, pygame.FRect, lambda *rect: rect):
        assert group.colliding(kind(2, 2, 9, 9)) == [first, second]
        assert group.colliding(kind(4, 0, 5, 9)) == []
        assert group.colliding(kind(17, 17, -4, -4)) == [second]
    with pytest.raises(TypeError, match=r"a point x, y is \(x, y, 1, 1\)"):
        group.colliding((2, 2))
