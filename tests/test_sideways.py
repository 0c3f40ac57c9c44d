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


def twins(build):
    """The same world upright and with x and y exchanged; ``build`` takes it, and a function for boxes."""
    return [build(bp.World(), lambda *box, turned=turned: swap(box) if turned else box) for turned in (0, 1)]


def swap(numbers):
    return tuple(numbers[k ^ 1] for k in range(len(numbers)))


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
