"""Bodies of several shapes move and turn as one; walkers push crates."""

import numpy as np
import pytest

import broadphase as bp


def scene(seed):
    """A level, and a body of two boxes whose outline is one box; another world has that box."""
    rng = np.random.default_rng(seed)
    worlds, solid = (bp.World(), bp.World()), rng.random((12, 12)) < 0.12
    walls = rng.uniform(0, 180, (8, 2))
    for world in worlds:
        world.tiles = bp.TileMap(solid, 16)
        world.add_many(np.hstack((walls, np.add(walls, (9, 14)))), tag="wall", static=True)
    while True:
        x, y = rng.uniform(0, 170, 2).tolist()
        if worlds[0].blocker(bp.Box(x, y, 12, 8)) is None:
            break
    return (
        *worlds,
        worlds[0].add(bp.Box(x, y, 12, 8)),
        [worlds[1].add(bp.Box(*at, 6, 8)) for at in ((x, y), (x + 6, y))],
    )


@pytest.mark.parametrize("response", ["slide", "touch", "bounce"])
def test_two_halves_of_a_box_move_as_the_box(response):
    hits = 0
    for seed in range(6):
        one, two, box, halves = scene(seed)
        rng = np.random.default_rng(seed)
        for _ in range(15):
            dx, dy = rng.uniform(-30, 30, 2).tolist()
            whole, parts = one.move(box, dx, dy, response), two.move_as_one(halves, dx, dy, response)
            assert (parts.x, parts.y) == pytest.approx((whole.x, whole.y), abs=1e-9)
            assert halves[1].x - halves[0].x == pytest.approx(6, abs=1e-9)
            assert halves[1].y == pytest.approx(halves[0].y, abs=1e-9)
            box.move_to(*halves[0].position)
            hits += len(parts.hits)
    assert hits > 12


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
