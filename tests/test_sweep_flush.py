"""Flush is free: walking along floors and walls of tiles and of bodies, with any step, without a snag."""

import math

import numpy as np
import pytest
from sweep_scenes import around_boxes, boxes_of_tiles, go, overlaps

from broadphase import TileMap

STEPS = [0.1, 0.3, 1 / 3, 1.0, 7.7, 31.9, 32.0, 100.1, 1000.0]


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("size", [(20, 20), (0.1, 0.7), (31.9, 33.3), (100, 50)])
@pytest.mark.parametrize("tile_size", [32, 0.9, 10 / 3])
def test_walking_on_a_floor_of_tiles(step, direction, size, tile_size):
    """With gravity pressing down: no tile of the floor blocks the next step."""
    columns = int((step * 12 + size[0]) / tile_size) + 4
    tiles = TileMap(np.ones((2, columns), np.bool_), tile_size, (-tile_size, 100))
    x = 0.0 if direction > 0 else columns * tile_size - 2 * tile_size - size[0]
    move = go((x, 40, *size), (0, 200), tiles=tiles)
    y = move.y
    assert y + size[1] == pytest.approx(100)
    for _ in range(12):
        move = go((x, y, *size), (direction * step, step), tiles=tiles)
        assert move.x == x + direction * step
        assert move.y == y
        assert {hit.normal for hit in move.hits} == {(0.0, -1.0)}
        x = move.x
        level = go((x, y, *size), (direction * step, 0), tiles=tiles)
        assert (level.x, level.y, level.hits) == (x + direction * step, y, ())


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("side", [1, -1])
def test_walking_along_a_wall(step, direction, side):
    """Of tiles and of bodies, pressing against it."""
    count = int(step * 12 / 3.3) + 8
    tiles = TileMap(np.ones((count, 1), np.bool_), 3.3, (50, -3.3))
    boxes = around_boxes(boxes_of_tiles(tiles))
    for obstacles in ({"tiles": tiles}, {"boxes": boxes}):
        y = 0.0 if direction > 0 else (count - 3) * 3.3 - 2.1
        x = go((20 if side > 0 else 80, y, 1.7, 2.1), (side * 60, 0), **obstacles).x
        assert 48 < x < 54
        for _ in range(12):
            move = go((x, y, 1.7, 2.1), (side * step, direction * step), **obstacles)
            assert (move.x, move.y) == (x, y + direction * step)
            y = move.y


@pytest.mark.smaller_set
@pytest.mark.parametrize("size", [1.0, 0.7, 1 / 3])
def test_into_a_gap_of_its_own_size(size):
    """The floor of the gap and its ceiling are flush; walking in along the floor, nothing snags."""
    solid = [[True, True], [False, False], [True, True]]
    tiles = TileMap([[False, False, *row] for row in solid[:2]] + [[True] * 4], size)
    y = tiles.bounds_of(0, 1)[1]
    height = size if y + size <= tiles.bounds_of(0, 1)[3] else math.nextafter(size, 0)
    move = go((0, y, size / 2, height), (4 * size, size), tiles=tiles)
    assert move.x == 4 * size
    assert move.y == y


@pytest.mark.smaller_set
def test_pushing_against_a_wall_for_ever_changes_nothing():
    for wall, width in [(0.1, 1000.0), (1e6 + 0.1, 0.3), (3.3, 1.1), (-7e-5, 123.456)]:
        boxes = [(wall, -10, wall + 5, 10)]
        place = go((wall - 3 * width, 0, width, 1), (5 * width, 0.0), boxes)
        assert place.x + width <= wall
        assert math.nextafter(place.x, math.inf) + width >= wall
        again = place
        for _ in range(5):
            again = go((again.x, 0, width, 1), (width, 0), boxes)
            assert again.x == place.x
            assert again.right
        left = go((wall + 50, 0, width, 1), (-100, 0), boxes)
        assert left.x == wall + 5


def test_a_box_in_a_corridor_of_its_own_width_never_jitters():
    left, width = 0.1, 0.7
    right = left + width
    boxes = [(0, -100, left, 100), (right, -100, right + 1, 100)]
    x, y = left, 0.0
    for step in range(50):
        move = go((x, y, width, 1), (0.3 if step % 2 else -0.3, 1.1), boxes)
        assert (move.x, move.y) == (x, y + 1.1)
        y = move.y


@pytest.mark.parametrize("as_tiles", [True, False])
def test_into_a_corner_at_the_same_time_but_for_the_rounding(as_tiles):
    """Where the body is when it hits the one is rounded, and must not be a tolerance inside the other."""
    random = np.random.default_rng(4)
    corner = np.zeros((4, 4), np.bool_)
    corner[3, :] = corner[:, 3] = True
    for _ in range(100):
        size = random.choice([0.1, 1 / 3, 0.7, 3.3])
        tiles = TileMap(corner, size, random.integers(-50, 50, 2) * 0.1)
        boxes = boxes_of_tiles(tiles)
        right, bottom = tiles.bounds_of(3, 3)[:2]
        width, height = (random.uniform(0.1, 2, 2) * size).tolist()
        x = right - width - size * random.uniform(0.1, 0.9)
        y = bottom - height - size * random.uniform(0.1, 0.9)
        times = random.uniform(1.1, 9)
        motion = ((right - (x + width)) * times, (bottom - (y + height)) * times)
        for response in ("slide", "touch", "bounce"):
            obstacles = {"tiles": tiles} if as_tiles else {"boxes": random.permutation(boxes)}
            move = go((x, y, width, height), motion, response=response, **obstacles)
            assert not any(overlaps(move.x, move.y, width, height, box) for box in boxes)
            if response == "slide":
                assert (move.x, move.y) == pytest.approx((right - width, bottom - height))
