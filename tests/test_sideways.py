"""Gravity to the side is gravity down in a world in which x and y are exchanged."""

import numpy as np
import pytest

import broadphase as bp


def level(exchanged):
    rng, world = np.random.default_rng(3), bp.World()
    solid = rng.random((14, 10)) < 0.2
    one_way, ladder = rng.random((14, 10)) < 0.08, rng.random((14, 10)) < 0.05
    world.tiles = bp.TileMap(solid.T.copy() if exchanged else solid, (12, 16) if not exchanged else (16, 12))
    for row, column in np.argwhere(one_way & ~solid).tolist():
        at = (row, column) if exchanged else (column, row)
        world.tiles.set_one_way(*at, "left" if exchanged else "top")
    for row, column in np.argwhere(ladder & ~solid).tolist():
        world.tiles.set_ladder(*((row, column) if exchanged else (column, row)))
    shapes = []
    for x, y in rng.uniform(0, 150, (6, 2)).tolist():
        points = [(x, y), (x + 20, y + 6), (x + 3, y + 14)]
        shapes += [[(b, a) for a, b in points]] if exchanged else [points]
        box = (y, x, 9, 14) if exchanged else (x, y, 14, 9)
        world.add(bp.Box(*box), tag="box", static=True)
    for points in shapes:
        world.add(bp.Polygon(points), tag="rock", static=True)
    world.add(bp.Box(60, 20, 30, 90) if exchanged else bp.Box(20, 60, 90, 30), tag="zone", sensor=True)
    return world


@pytest.mark.parametrize("down", [1, -1])
def test_a_walk_to_the_side_is_a_walk_down_in_the_world_turned_over(down):
    upright, aside = level(False), level(True)
    heard = [], []
    for world, said in zip((upright, aside), heard, strict=True):
        world.on(
            "hero",
            "zone",
            lambda c, said=said: said.append("in"),
            end=lambda c, said=said: said.append("out"),
        )
    rng, stood = np.random.default_rng(1), 0
    options = {"snap": 4, "step": 3, "probe": 2}
    for _ in range(3):
        while True:
            x, y = rng.uniform(0, 110, 2).tolist()
            if upright.blocker(bp.Box(x, y, 8, 10)) is None:
                break
        one, other = upright.add(bp.Box(x, y, 8, 10), tag="hero"), aside.add(bp.Box(y, x, 10, 8), tag="hero")
        for _ in range(25):
            dx, dy = rng.uniform(-6, 6), rng.uniform(-6, 9) * down
            expected = upright.walk(one, dx, dy, down=(0, down), **options)
            walk = aside.walk(other, dy, dx, down=(down, 0), **options)
            assert other.position == pytest.approx(one.position[::-1], abs=1e-6)
            assert (walk.floor is None) == (expected.floor is None)
            assert len(walk.hits) == len(expected.hits)
            assert (walk.edge, walk.wall is None) == (expected.edge, expected.wall is None)
            if isinstance(expected.floor, bp.Tile):
                assert tuple(walk.floor) == tuple(expected.floor)[::-1]
            assert (walk.ladder and tuple(walk.ladder)) == (expected.ladder and tuple(expected.ladder)[::-1])
            if walk.floor is not None:
                stood += 1
                assert walk.normal[0] * down < 0
            other.move_to(*one.position[::-1])
            upright.update()
            aside.update()
        assert heard[0] == heard[1]
        one.remove()
        other.remove()
    assert stood > 15


def test_slopes_are_floors_too_and_other_directions_are_refused():
    world = bp.World()
    world.tiles = bp.TileMap([[False] * 4] * 4, 16)
    world.tiles.set_slope(2, 1, 1, 0)
    hero = world.add(bp.Box(0, 18, 8, 8))
    walk = world.walk(hero, 60, 0, down=(1, 0))
    assert walk.floor is None or walk.floor == bp.Tile(2, 1)
    for down in ((1, 1), (0, 0)):
        with pytest.raises(ValueError, match="down"):
            world.walk(hero, 1, 1, down=down)


def twins(build):
    """The same world upright and with x and y exchanged; ``build`` takes it, and a function for boxes."""
    return [build(bp.World(), lambda *box, turned=turned: swap(box) if turned else box) for turned in (0, 1)]


def swap(numbers):
    return tuple(numbers[k ^ 1] for k in range(len(numbers)))


@pytest.mark.parametrize("period", [None, (160, 160)])
@pytest.mark.parametrize("count", [2, 17])
def test_many_walk_to_the_side_in_a_period_too(period, count):
    def walk(_, box):
        rng, world = np.random.default_rng(5), bp.World(period=period)
        solid = rng.random((10, 10)) < 0.15
        world.tiles = bp.TileMap(solid.T.copy() if box(0, 1)[0] else solid, 16)
        for x, y in rng.uniform(0, 160, (8, 2)).tolist():
            world.add(bp.Box(*box(x, y, 20, 7)), static=True)
            world.add(bp.Circle(*box(y, x), 6), static=True)
        plank = world.add(bp.Box(*box(100, 150, 120, 6)), static=True)
        plank.one_way = "left" if box(0, 1)[0] else "top"
        movers = [world.add(bp.Box(*box(*at, 8, 10))) for at in rng.uniform(0, 150, (count, 2)).tolist()]
        ends = []
        for ways in rng.uniform((-9, -4), (9, 14), (12, count, 2)).tolist():
            dx, dy = zip(*[box(*way) for way in ways], strict=True)
            walks = world.walk_many(movers, dx, dy, down=box(0, 1), snap=4, step=3)
            ends.append([box(*place) for place in walks.places.tolist()])
            ends.append([box(*normal) for normal in walks.normals[walks.on_floor].tolist()])
        return ends

    upright, aside = twins(walk)
    for one, other in zip(upright, aside, strict=True):
        assert np.reshape(other, (-1, 2)) == pytest.approx(np.reshape(one, (-1, 2)), abs=1e-6)
    assert sum(map(len, upright[1::2])) > 2


@pytest.mark.parametrize("rules", [{}, {"category": 2, "mask": 2}, {"sensor": True}, {"mask": 0}])
def test_slopes_stop_whoever_tiles_stop(rules):
    def fall(world, box):
        world.tiles = bp.TileMap(np.zeros((6, 6), bool), 10)
        for k in range(6):
            world.tiles.set(*box(k, 4), True)
        world.tiles.set_slope(*box(2, 3), 0, 1)
        hero = world.add(bp.Box(*box(18, 20, 8, 4)), **rules)
        world.walk(hero, *box(0, 30), down=box(0, 1))
        return box(*hero.position)

    upright, aside = twins(fall)
    assert aside == pytest.approx(upright)
    assert upright[1] < 36


def test_a_steep_slope_leads_no_farther_than_to_the_ceiling():
    def climb(world, box):
        slope = [(0, 0), (200, 0), (200, -200 * np.tan(np.radians(75)))]
        world.add(bp.Polygon([box(x, y) for x, y in slope]), static=True)
        world.add(bp.Box(*box(-50, -75, 300, 15)), static=True)
        hero = world.add(bp.Box(*box(-5, -5, 5, 5)))
        world.walk(hero, *box(15, 0), steepest=80, down=box(0, 1))
        return box(*hero.position)

    upright, aside = twins(climb)
    assert aside == pytest.approx(upright)
    assert upright[1] >= -60


def test_only_what_lies_on_the_way_is_crossed_and_pushed():
    def walk(world, box):
        met = []
        world.on("hero", "coin", lambda contact: met.append(contact.b.data))
        world.add(bp.Polygon([box(0, 0), box(60, 0), box(60, -60)]), static=True)
        on_the_way, aside = bp.Box(*box(30, -45, 4, 4)), bp.Box(*box(45, -8, 4, 4))
        for name, shape in (("on", on_the_way), ("aside", aside)):
            world.add(shape, tag="coin", static=True, sensor=True, data=name)
        plank = world.add(bp.Box(*box(-40, 0, 40, 5)), static=True)
        plank.one_way = "left" if box(1, 2) == (2, 1) else "top"
        crate = world.add(bp.Box(*box(-30, -10, 10, 10)), tag="crate")
        hero = world.add(bp.Box(*box(-12, -10, 10, 10)), tag="hero")
        there = world.walk(hero, *box(60, 1), down=box(0, 1), steepest=50)
        world.update()
        hero.position = box(-12, -10)
        back = world.walk(hero, *box(-20, 1), down=box(0, 1), pushes="crate")
        return met, box(there.x, there.y), box(back.x, back.y), box(*crate.position), back.floor is plank

    upright, aside = twins(walk)
    assert upright[0] == aside[0] == ["on"]
    assert aside[4] == upright[4] is True
    for one, other in zip(upright[1:4], aside[1:4], strict=True):
        assert other == pytest.approx(one)
    assert upright[3][0] < -31
