"""Gravity to the side: the same walk in a world in which x and y are exchanged."""

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
    around = bp.World(period=(100, 100))
    body = around.add(bp.Box(0, 0, 1, 1))
    with pytest.raises(ValueError, match="period"):
        around.walk(body, 1, 0, down=(1, 0))
