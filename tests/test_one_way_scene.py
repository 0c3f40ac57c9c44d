"""One-way bodies are one-way tiles at the same place, and a periodic world is a plain one of copies."""

import numpy as np
import pytest

import broadphase as bp

ROUND = {
    "circle": lambda x, y: bp.Circle(x, y, 6),
    "capsule": lambda x, y: bp.Capsule(x, y - 10, x, y, 6),
    "rounded": lambda x, y: bp.RoundedBox(x - 6, y - 6, 12, 12, 4),
}
PLANKS = {
    "box": lambda: bp.Box(18, 0, 48, 12),
    "polygon": lambda: bp.Polygon([(18, 0), (66, 0), (66, 12), (18, 12)]),
}


# ---- bodies and tiles


@pytest.mark.parametrize("plank", PLANKS)
@pytest.mark.parametrize("kind", ROUND)
def test_the_end_of_a_one_way_body_holds_what_is_round(kind, plank):
    for many in (False, True):
        world = bp.World()
        body = world.add(PLANKS[plank](), static=True)
        body.one_way = "top"
        hero = world.add(ROUND[kind](17, -30))
        start = hero.position
        for motion in (60, 1, 20):
            if many:
                floors = world.walk_many([hero], 0, motion).floors
                assert floors[0, 0] == body.id
            else:
                assert world.walk(hero, 0, motion).floor is body
        hero.position = start
        for motion in (60, 1, 20):
            if many:
                world.move_many([hero], 0, motion, "touch")
            else:
                world.move(hero, 0, motion, "touch")
            assert world.grounded(hero).other is body


@pytest.mark.parametrize("as_tile", [True, False])
def test_a_round_walker_on_an_end_stays_there_however_far_it_would_fall(as_tile):
    """The tolerance grows with what is near: with the fall."""
    for fall in (1, 16, 20, 50, 300):
        world = bp.World()
        if as_tile:
            world.tiles = bp.TileMap([[False]], 12, origin=(18, 0))
            world.tiles.set_one_way(0, 0, "top")
        else:
            world.add(bp.Box(18, 0, 12, 12), static=True).one_way = "top"
        hero = world.add(bp.Circle(15.25, -30, 6))
        world.walk(hero, 0, 60)
        world.walk(hero, 1.25, 0)
        place = hero.position
        assert world.walk(hero, 0, fall).floor is not None
        assert hero.position == pytest.approx(place, abs=1e-6)


def test_walkers_neither_snap_nor_step_onto_a_body_that_does_not_block_on_top():
    world = bp.World()
    world.add(bp.Box(0, 0, 20, 50), static=True)
    aside = world.add(bp.Box(20, 3, 40, 20), static=True)
    aside.one_way = "left"
    hero = world.add(bp.Box(5, -10, 10, 10))
    walk = world.walk(hero, 20, 0, snap=5)
    assert (hero.y, walk.floor) == (-10, None)
    for sides, place in (("bottom", 35), (("right", "bottom"), 35), ("left", 10)):
        world = bp.World()
        world.add(bp.Box(0, 0, 100, 50), static=True)
        step = world.add(bp.Box(20, -3, 40, 3), static=True)
        step.one_way = sides
        hero = world.add(bp.Box(5, -10, 10, 10))
        walk = world.walk(hero, 30, 1, step=5)
        assert hero.position == (place, -10)
        hero.position = 70, -10
        world.walk(hero, -30, 1, step=5)
        assert hero.position == ((60, -10) if "right" in sides else (40, -10))


def test_a_lift_that_lets_through_from_below_pushes_only_what_it_meets_with_its_upper_side():
    world = bp.World()
    lift = world.add(bp.Box(0, 0, 40, 4), static=True)
    lift.one_way = "top"
    ball, beside = world.add(bp.Circle(42, -5.7, 6)), world.add(bp.Circle(50, 2, 6))
    pushed = world.push(lift, 0, -6)
    assert (pushed.carried, pushed.pushed) == ([], [ball])
    assert world.push(lift, 10, 0).pushed == []
    assert beside.position == (50, 2)


def test_a_sensor_that_is_moved_is_met_where_it_was_by_few_and_by_many():
    """A static body waits until all have moved: its place in the order of bodies does not matter."""
    for others in (0, 14, 15, 40):
        world, met = bp.World(), []
        sensor = world.add(bp.Box(50, 0, 10, 10), tag="coin", static=True, sensor=True)
        hero = world.add(bp.Box(0, 0, 5, 5), tag="hero")
        world.on(
            "hero",
            "coin",
            *(lambda _, log=met, name=name: log.append(name) for name in ("begin", "stay", "end")),
        )
        sensor.velocity, hero.velocity = (0, 500), (100, 0)
        for k in range(others):
            world.add(bp.Box(1000 + 20 * k, 0, 5, 5)).velocity = 1, 0
        world.step(1.0)
        world.update()
        assert met == ["begin", "end"]


# ---- periods


def test_tiles_beyond_the_edge_block_what_was_pushed_out_of_a_wall():
    solid = np.zeros((10, 10), bool)
    solid[:, 0] = True
    world = bp.World(period=(100, 100))
    world.tiles = bp.TileMap(solid, 10)
    world.add(bp.Box(82, 40, 6, 20), static=True)
    hero = world.add(bp.Box(85, 45, 8, 8))
    for act in (lambda: world.move(hero, 6, 0), lambda: world.walk(hero, 20, 0)):
        hero.position = 85, 45
        assert act().hits[-1].other == bp.Tile(0, 4)
        assert hero.x == 92


@pytest.mark.parametrize("size", [1e5, 1e300])
def test_a_shape_longer_than_its_periodic_world_is_refused(size):
    world = bp.World(period=(10, 10))
    world.tiles = bp.TileMap(np.zeros((10, 10), bool), 1.0)
    assert world.blocker(bp.Box(3, 3, 10, 10)) is None
    for act in (
        lambda: world.blocker(bp.Box(0, 0, size, 1)),
        lambda: world.shape_cast(bp.Box(0, 0, 1, size), 1, 1),
    ):
        with pytest.raises(ValueError, match="begins again"):
            act()
    assert bp.World().blocker(bp.Box(0, 0, size, size)) is None
