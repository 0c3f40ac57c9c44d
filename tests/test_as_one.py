"""Bodies of several shapes move and turn as one; walkers push crates."""

import numpy as np
import pytest

import broadphase as bp


def test_the_parts_cross_sensors_and_are_in_contact_with_what_stopped_them():
    world, heard = bp.World(), []
    boss = world.add_many([[0, 0, 10, 10], [10, 0, 20, 30]], tag="boss")
    world.add(bp.Box(40, 20, 5, 5), tag="coin", sensor=True)
    wall = world.add(bp.Box(80, 20, 5, 50), tag="wall")
    world.on("boss", "coin", lambda contact: heard.append("coin"))
    world.on("boss", "wall", lambda contact: heard.append(contact.b))
    move = world.move_as_one(boss, (200, 0), response="touch")
    world.update()
    assert heard == ["coin", wall]
    assert boss.positions.tolist() == [[60, 0], [70, 0]]
    assert move.hits[0].time == pytest.approx(0.3)
    assert world.move_as_one(boss, 10, 0, ignore=wall).x == 70


def test_they_turn_as_one_unless_something_is_in_the_way():
    world = bp.World()
    parts = world.add_many([[0, 0, 40, 10], [0, 10, 10, 20]])
    wall = world.add(bp.Box(-40, 12, 15, 15), static=True)
    before = [body.shape for body in parts]
    assert world.turn_as_one(parts, 180, about=(0, 10)) is wall
    assert [body.shape for body in parts] == before
    assert world.turn_as_one(parts, 90, about=(0, 0)) is None
    assert [body.bounds for body in parts] == [(-10, 0, 0, 40), (-20, 0, -10, 10)]
    with pytest.raises(ValueError, match="bodies is empty"):
        world.turn_as_one([], 5)
    with pytest.raises(ValueError, match="bodies is empty"):
        world.move_as_one([], 5, 0)
    with pytest.raises(ValueError, match="unknown response"):
        world.move_as_one(parts, 5, 0, "jump")


def room():
    world = bp.World()
    world.add_many([[-100, 50, 300, 60], [200, 0, 210, 50]], tag="wall", static=True)
    hero = world.add(bp.Box(0, 34, 10, 16), tag="hero")
    crates = world.add_many([[20, 38, 32, 50], [40, 38, 52, 50]], tag="crate")
    return world, hero, crates


def test_a_walker_pushes_a_row_of_crates_until_a_wall_holds_them():
    world, hero, crates = room()
    for _ in range(20):
        walk = world.walk(hero, 3, 1, pushes="crate")
    assert not walk.right or walk.hits
    assert hero.x == 60
    assert crates.positions[:, 0].tolist() == [70, 82]
    for _ in range(60):
        walk = world.walk(hero, 3, 1, pushes=["crate", "barrel"])
    assert walk.right
    assert crates.positions[:, 0].tolist() == [176, 188]
    assert hero.x == 166
    for _ in range(10):
        world.walk(hero, -3, 1, pushes="crate")
    assert crates.positions[:, 0].tolist() == [176, 188]


@pytest.mark.parametrize("gap", [0, 2])
def test_crates_on_each_other_are_pushed_together(gap):
    """Each by as much as is left of the way where the walker meets it."""
    world, hero, _ = room()
    upper, lower, beyond = world.add_many(
        [[10, 34, 18, 42], [10 + gap, 42, 18 + gap, 50], [18, 36, 19, 40]], tag="crate"
    )
    assert world.walk(hero, 6, 1, pushes="crate").x == 6
    assert (upper.x, lower.x, beyond.x) == (16, 16, 24)


@pytest.mark.parametrize("stopped", [0, 1])
@pytest.mark.parametrize("beyond", [0, 1])
def test_where_one_of_two_crates_is_stopped_the_other_does_not_run_ahead(stopped, beyond):
    world = bp.World()
    hero = world.add(bp.Box(0, 30, 10, 20))
    crates = [world.add(bp.Box(10, y, 10, 10), tag="crate") for y in (30, 40)]
    if beyond:  # it is stopped by another that it pushes
        world.add(bp.Box(20, (30, 40)[stopped], 4, 10), tag="crate")
    world.add(bp.Box(24 + 4 * beyond, (30, 40)[stopped], 10, 10), static=True)
    for way in (1, 30, 30):
        world.walk(hero, way, 0, pushes="crate")
    assert [hero.x, *(crate.x for crate in crates)] == pytest.approx([4, 14, 14], abs=1e-9)


def test_what_is_pushed_is_in_contact_with_what_pushes_it():
    world, hero, crates = room()
    seen = []
    world.on(
        "hero",
        "crate",
        begin=lambda contact: seen.append(contact.b),
        stay=lambda contact: seen.append("stay"),
    )
    for _ in range(8):
        world.walk(hero, 3, 1, pushes="crate")
        world.update()
    assert seen == [crates[0], *["stay"] * 4]


def test_a_row_of_crates_is_pushed_wherever_it_is():
    for far in (0.0, 300.0, -1347.0):
        world = bp.World()
        hero = world.add(bp.Circle(far + 28.653237621371186, 34.88853672155593, 2.0521912922563468))
        crates = (
            bp.Box(far + 30.705428913627532, 35.01859479132092, 6.735723670757377, 1.9221332224913539),
            bp.Box(far + 38, 34, 6, 3),
        )
        crates = [world.add(crate, tag="crate") for crate in crates]
        start = hero.x
        for way in (2, 2.2527464566486177, 2, 2, 1.3, 2 / 3):
            world.walk(hero, way, 0, pushes="crate")
        assert hero.x - start == pytest.approx(8.2527464566486177 + 1.3 + 2 / 3)
        assert crates[1].x - crates[0].x == pytest.approx(6.735723670757377)


def test_what_has_no_such_tag_or_is_static_is_not_pushed():
    world, hero, crates = room()
    crates[0].tag = "safe"
    for _ in range(20):
        walk = world.walk(hero, 3, 1, pushes="crate")
    assert walk.right
    assert crates.positions[:, 0].tolist() == [20, 40]
    crates[0].tag, crates[0].static = "crate", True
    world.walk(hero, 3, 1, pushes="crate")
    assert hero.x == 10
    crates[0].static = False
    for _ in range(5):
        world.walk(hero, 3, 1, pushes="crate", ignore=crates[0])
    assert crates[0].x == 20
    assert hero.x == 25


@pytest.mark.parametrize("at", [85, 5])
def test_across_the_edge_of_a_period_the_parts_cross_what_is_on_their_way(at):
    world, heard = bp.World(period=(100, 100)), []
    world.add_many([[at + 35, 0, at + 40, 10]], static=True)
    coins = world.add_many([[at + 20, 0, at + 25, 5], [at + 60, 0, at + 65, 5]], tag="coin", sensor=True)
    parts = world.add_many([[at, 0, at + 5, 5], [at, 5, at + 5, 10]], tag="boss")
    world.on("boss", "coin", lambda contact: heard.append(contact.b))
    world.update()
    move = world.move_as_one(parts, 60, 0)
    assert [hit.other for hit in move.crossed] == [coins[0]]
    assert parts.positions.tolist() == [[(at + 30) % 100, 0], [(at + 30) % 100, 5]]
    world.update()
    assert heard == [coins[0]]


@pytest.mark.parametrize("about", [None, (100, 15)])
def test_parts_on_both_sides_of_an_edge_turn_about_their_own_middle(about):
    world = bp.World(period=(100, 100))
    parts = world.add_many([[90, 10, 100, 20], [0, 10, 10, 20]])
    assert world.turn_as_one(parts, 90, about) is None
    assert [tuple(np.mod(center, 100)) for center in parts.centers.tolist()] == [(0, 10), (0, 20)]


def test_a_part_that_starts_in_something_leaves_it_only_if_there_is_room_for_all():
    world = bp.World()
    wall = world.add(bp.Box(-21, -50, 1, 100), static=True)
    parts = world.add_many([[0, 0, 10, 10], [-20, 0, -10, 10]])
    crate = world.add(bp.Box(9, 0, 10, 10))
    assert world.move_as_one(parts, 0, 5).y == 5
    assert parts.positions.tolist() == [[0, 5], [-20, 5]]
    world.remove(wall)
    move = world.move_as_one(parts, 0, 5)
    assert parts.positions.tolist() == [[-1, 10], [-21, 10]]
    assert [hit.other for hit in move.hits] == [crate]
    world.tiles = bp.TileMap([[True]], (4, 100), (-21, -50))  # in tiles, with no room at the other end
    world.add(bp.Box(9, -50, 1, 200), static=True)
    world.move_as_one(parts, 0, 5)
    assert parts.positions.tolist() == [[-1, 10], [-21, 10]]


def test_as_one_says_what_move_says():
    """All that is crossed, the surface that is reached exactly, and flush to the last bit."""
    said = []
    for as_one in (True, False):
        world, heard = bp.World(), []
        world.add(bp.Box(-50, 15, 300, 5), static=True)
        ghost = world.add(bp.Box(0, 0, 5, 5), tag="ghost")
        parts = [ghost, world.add(bp.Box(0.1, -7.3, 4.8, 7.3))] if as_one else [ghost]
        for x in (20, 40, 60):
            world.add(bp.Box(x, 0, 5, 5), tag="man")
        world.on("ghost", "man", lambda contact, heard=heard: heard.append(contact.b.x))
        world.update()

        def move(*way, world=world, parts=parts, as_one=as_one):
            return world.move_as_one(parts, *way) if as_one else world.move(parts[0], *way)

        crossed = move(100, 0, "cross")
        world.update()
        landed = move(0, 10)
        said.append(
            ([hit.other.x for hit in crossed.hits], heard, landed.bottom, landed.hits, ghost.position)
        )
        assert move(0.3, 7).bottom
        assert ghost.y == 10
    assert said[0] == said[1]


@pytest.mark.parametrize("call", ["move", "try_move", "move_as_one"])
def test_a_lift_carries_what_stands_on_it(call):
    world = bp.World()
    lift, rider = world.add(bp.Box(0, 20, 30, 3)), world.add(bp.Box(10, 15, 5, 5))
    lift.one_way = "top"
    cabin = [world.add(bp.Box(0, 23, 30, 10))] if call == "move_as_one" else []
    wall = world.add(bp.Box(60, 0, 5, 50), static=True)
    for dx, dy in ((4, 0), (0, -6), (2, 8)):
        getattr(world, call)([lift, *cabin] if cabin else lift, dx, dy)
    assert lift.position == (6, 22)
    assert rider.position == (16, 17)
    if call == "try_move":
        assert world.try_move(lift, 40, 0) is wall
        assert rider.position == (16, 17)
    else:
        world.move(lift, 5, 0, dry=True)
        assert rider.position == (16, 17)


@pytest.mark.parametrize(
    "wrong", [{"snap": -1}, {"dy": np.nan}, {"probe": -1}, {"steepest": 90}, {"drop": 1}, {"ignore": 5}]
)
def test_after_an_error_no_crate_has_moved(wrong):
    world, hero, crates = room()
    hero.x = 8
    with pytest.raises((TypeError, ValueError)):
        world.walk(hero, **{"dx": 5, "dy": 0, "pushes": "crate", **wrong})
    assert crates[0].x == 20
    turned = world.add(bp.Box(-40, 34, 10, 16).rotated(30))
    with pytest.raises(ValueError, match="can not walk"):
        world.walk(turned, 50, 0, pushes="crate")
    assert crates[0].x == 20


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("shape", ["box", "circle", "leaning"])
def test_a_walker_never_steps_onto_the_crate_that_it_pushes(side, shape):
    for k in range(1, 30, 4):
        world = bp.World()

        def points(*some, side=side):
            return [(side * x, y) for x, y in some]

        world.add(bp.Box(-500, 0, 1000, 10), static=True)
        hero = world.add(bp.Box(min(0, side * 6), -10, 6, 10))
        crate = {
            "box": bp.Polygon(points((10.3, -3), (15.3, -3), (15.3, 0), (10.3, 0))),
            "circle": bp.Circle(side * 12, -1.5, 1.5),
            "leaning": bp.Polygon(points((10.3, -3), (15.3, -3), (15.3, 0), (10.1, 0))),
        }[shape]
        crate = world.add(crate, tag="crate")
        coin = world.add(bp.Box(side * 12 - 1, -9, 2, 2), sensor=True)
        crossed = []
        for _ in range(12):
            start = crate.x
            walk = world.walk(hero, side * k / 7, 3, pushes="crate", step=4, snap=4)
            assert hero.y == -10
            assert walk.floor is not None
            crossed += [hit.other for hit in walk.crossed]
        assert side * (crate.x - start) == pytest.approx(k / 7) or 12 * k / 7 < 5
        assert side * hero.center[0] == pytest.approx(3 + 12 * k / 7)
        assert (coin in crossed) == (6 + 12 * k / 7 > 11)


def test_parts_that_are_held_between_two_sides_stop():
    world = bp.World()
    world.add(bp.Box(42, 7, 18, 12), static=True)
    world.add(bp.Polygon([(46, 7), (55, 7), (53, -6), (50, -6)]), static=True)
    parts = [world.add(bp.Box(58, 4, 7, 3)), world.add(bp.Capsule(44.5, 20.5, 44.5, 22.5, 1.5))]
    move = world.move_as_one(parts, -18, 0)
    assert len(move.hits) <= 3  # it went to and fro 35 times
    assert move.x == pytest.approx(54.98603024816, abs=1e-9)
