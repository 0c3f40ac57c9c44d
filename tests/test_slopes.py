"""Slopes of tiles: what they are, and that rays and movement take them for the polygons that they are."""

import math

import numpy as np
import pytest

from broadphase import Box, Circle, Slope, Tile, TileMap, World


def maps(rng, size=10.0):
    """A world of tiles with slopes, and one with bodies in the places of those tiles, in their order."""
    tiles = TileMap(rng.random((6, 8)) < 0.2, size, (-20, 5))
    world, other = World(), World()
    world.tiles = tiles
    for row, column in np.argwhere(rng.random((6, 8)) < 0.4).tolist():
        left, right = rng.choice([0, 0.25, 0.5, 1], 2).tolist()
        tiles.set_slope(column, row, left, right, base=["bottom", "top"][rng.integers(2)])
    for row, column in np.ndindex(tiles.solid.shape):
        cell = Box(*tiles.bounds_of(column, row)[:2], size, size)
        slopes = [shape for _, shape in tiles.slopes_in(cell.bounds)]
        for shape in [cell] if tiles.is_solid(column, row) else slopes:
            other.add(shape, static=True, data=Tile(column, row))
    return world, other


@pytest.mark.smaller_set
def test_setting_and_reading():
    tiles = TileMap(np.zeros((2, 3), bool), 16)
    assert not tiles.has_slopes
    assert tiles.slope(0, 0) is None
    tiles.set_slope(1, 0, 0.25, 0.5, base="top")
    tiles.set_ladder(1, 0)
    assert tiles.slope(1, 0) == Slope(0.25, 0.5, "top")
    assert tiles.is_ladder(1, 0)
    assert tiles.slope(-1, 0) is None
    same = tiles.copy()
    tiles.set_slope(1, 0, 0, 0)
    tiles.set_ladder(1, 0, False)
    assert tiles.slope(1, 0) is None
    assert not tiles.is_ladder(1, 0)
    assert same.slope(1, 0) == (0.25, 0.5, "top")
    for wrong, error in [
        ((9, 0, 0, 1), IndexError),
        ((0, 0, 0, 1.5), ValueError),
        ((0, 0, -1, 0), ValueError),
    ]:
        with pytest.raises(error):
            tiles.set_slope(*wrong)
    with pytest.raises(ValueError, match="choose bottom or top"):
        tiles.set_slope(0, 0, 0, 1, base="left")
    assert tiles.slope(0, 0) is None


@pytest.mark.smaller_set
def test_a_solid_tile_becomes_a_slope():
    tiles = TileMap([[False, False, False], [True, True, True]], 16)
    tiles.set(1, 0, True)
    tiles.set_slope(1, 0, 0, 1)
    world = World()
    world.tiles = tiles
    assert (tiles.is_solid(1, 0), tiles.slope(1, 0)) == (False, Slope(0, 1))
    hero = world.add(Box(0, 8, 8, 8))
    walk = world.walk(hero, 16, 0)  # its right foot is 24: half way up
    assert walk.y == pytest.approx(0, abs=1e-9)
    tiles.set(1, 0, True)
    assert (tiles.is_solid(1, 0), tiles.slope(1, 0)) == (True, None)
    tiles.set_slope(1, 0, 0, 0)
    assert (tiles.is_solid(1, 0), tiles.slope(1, 0)) == (True, None)


@pytest.mark.smaller_set
def test_going_back():
    world = World()
    world.tiles = TileMap(np.zeros((2, 3), bool), 16)
    world.tiles.set_slope(1, 1, 0, 1)
    moment = world.snapshot(tiles=True)
    world.tiles.set_slope(1, 1, 1, 0)
    world.tiles.set_slope(2, 1, 1, 1)
    world.restore(moment)
    assert world.tiles.slope(1, 1) == (0, 1, "bottom")
    assert world.tiles.slope(2, 1) is None


def test_rays(each):
    def check(seed):
        rng = np.random.default_rng(seed)
        world, other = maps(rng)
        starts = rng.uniform(-30, 80, (60, 2))
        angles = rng.choice([*np.arange(8) * math.pi / 4, *rng.uniform(0, 6, 8)], 60)
        motions = np.column_stack((np.cos(angles), np.sin(angles)))
        found = world.tiles.raycast(starts, motions)
        for k, (start, motion) in enumerate(zip(starts.tolist(), motions.tolist(), strict=True)):
            hit = other.raycast(tuple(start), tuple(motion))
            one = world.tiles.raycast(tuple(start), tuple(motion))
            assert (one is None) == (hit is None) == (found.tiles[k, 0] < 0)
            if hit is not None:
                assert one.distance == found.distances[k] == pytest.approx(hit.distance, abs=1e-9)
                assert one.point == pytest.approx(hit.point, abs=1e-9)
                assert world.raycast(tuple(start), tuple(motion)).other == one.tile
                end = (start[0] + motion[0] * 40, start[1] + motion[1] * 40)
                far = abs(hit.distance - 40) > 1e-9
                assert not far or world.tiles.line_of_sight(tuple(start), end) == (hit.distance > 40)

    each(check, range(60), of=12)


def test_movement(each):
    """Boxes and balls go as among polygons; one in a call and many.

    One that starts inside is pushed to a free place, never farther than out of polygons.
    """

    def check(seed):
        rng = np.random.default_rng(seed)
        world, other = maps(rng)
        for number in range(12):
            x, y = rng.uniform(-25, 60, 2).tolist()
            shape = Circle(x, y, 3) if number % 3 == 0 else Box(x, y, 4, 6)
            blocker = other.blocker(shape)
            assert world.blocker(shape) == (blocker and blocker.data)
            one, two = world.add(shape, mask=2), other.add(shape)
            if blocker is not None:
                move, same = world.move(one, 0, 0), other.move(two, 0, 0)
                other.remove(two)
                assert world.blocker(one) is None
                assert other.blocker(shape.moved_to(move.x, move.y)) is None
                assert math.dist((x, y), move[:2]) <= math.dist((x, y), same[:2]) + 1e-9
                world.remove(one)
                continue
            motion = rng.uniform(-40, 40, 2).tolist()
            response = ["slide", "touch", "bounce"][number % 3]
            move, same = (
                world.move(one, *motion, response=response),
                other.move(two, *motion, response=response),
            )
            assert (move.x, move.y) == pytest.approx((same.x, same.y), abs=1e-9)
            assert [hit.other for hit in move.hits] == [hit.other.data for hit in same.hits]
            other.remove(two)
            one.move_to(x, y)
            many = world.move_many([one], *motion, response=response)
            assert many.places[0].tolist() == [move.x, move.y]
            assert world.grounded(one) == world.grounded(one)
            world.remove(one)

    each(check, range(60), of=10)
