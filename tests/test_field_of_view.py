"""Field of view: against lines between the middles of tiles, in whole numbers, and seen both ways."""

import math

import numpy as np
import pytest

from broadphase import TileMap


def is_between(wall, a, b):
    """Where the diamond of a wall lies on the line from tile to tile: -1 beside it, 0 touched, 1 crossed.

    Along the axis on which the line is longer, a diamond is met where its diagonal across is.
    """
    (ax, ay), (bx, by), (wx, wy) = a, b, wall
    if abs(bx - ax) < abs(by - ay):
        ax, ay, bx, by, wx, wy = ay, ax, by, bx, wy, wx
    if not min(ax, bx) < wx < max(ax, bx):
        return -1, 0
    # How far the line is beside the middle of the wall, times twice its length.
    beside = 2 * ((ay - wy) * (bx - ax) + (by - ay) * (wx - ax))
    half = abs(bx - ax)
    if abs(beside) < half:
        return 1, 0
    return (0, 1 if beside > 0 else -1) if abs(beside) == half else (-1, 0)


def sees(solid, a, b):
    """Whether a line of sight passes all walls; those that touch it from both sides close it."""
    touched = set()
    for row, column in np.argwhere(solid).tolist():
        met, side = is_between((column, row), a, b)
        if met == 1:
            return False
        if met == 0:
            touched.add(side * (1 if (b[0] - a[0], b[1] - a[1]) > (0, 0) else -1))
    return len(touched) < 2


@pytest.mark.parametrize("seed", range(8))
def test_free_tiles_are_seen_along_lines_that_no_wall_crosses(seed):
    rng = np.random.default_rng(seed)
    solid = rng.random(rng.integers(1, 14, 2)) < rng.choice([0.05, 0.2, 0.4])
    rows, columns = solid.shape
    tiles = TileMap(solid, 8)
    views = {
        (x, y): tiles.visible_from((x, y)) for y in range(rows) for x in range(columns) if not solid[y, x]
    }
    for a, view in views.items():
        assert view[a[::-1]]
        for b in views:
            assert view[b[::-1]] == sees(solid, a, b), (a, b)
            assert view[b[::-1]] == views[b][a[::-1]], "each sees the other, or none does"


def test_a_radius_is_the_distance_of_middles():
    for radius in (0, 0.9, 1, 1.5, 2.3, 5, 100, math.inf):
        view = TileMap(np.zeros((9, 14), bool), 3).visible_from((4, 3), radius)
        rows, columns = np.indices((9, 14))
        assert np.array_equal(view, np.hypot(rows - 3, columns - 4) <= radius)
    rng = np.random.default_rng(5)
    solid = rng.random((30, 40)) < 0.15
    solid[12, 20] = False
    rows, columns = np.indices(solid.shape)
    whole = TileMap(solid, 3).visible_from((20, 12))
    for radius in (3, 6.5, 11):
        near = np.hypot(rows - 12, columns - 20) <= radius
        assert np.array_equal(TileMap(solid, 3).visible_from((20, 12), radius), whole & near)


def test_walls_around_a_room_are_seen_and_nothing_behind():
    room = TileMap(["#######", "#.....#", "#.....#", "#######", "......."], 16)
    for place in ((1, 1), (3, 2), (5, 1)):
        view = room.visible_from(place)
        assert view[:4].all()
        assert not view[4].any()
    assert room.visible_from((0, 0))[0, 0], "also from within a wall"


def test_the_view_turns_with_the_map():
    rng = np.random.default_rng(2)
    solid = rng.random((11, 17)) < 0.25
    view = TileMap(solid, 1).visible_from((6, 4))
    assert np.array_equal(TileMap(solid.T, 1).visible_from((4, 6)), view.T)
    assert np.array_equal(TileMap(solid[::-1], 1).visible_from((6, 6)), view[::-1])
    assert np.array_equal(TileMap(solid[:, ::-1], 1).visible_from((10, 4)), view[:, ::-1])


def test_what_is_wrong_is_named():
    tiles = TileMap(["..."], 1)
    with pytest.raises(IndexError, match=r"place\[0\] = \[3, 0\] lies outside"):
        tiles.visible_from((3, 0))
    with pytest.raises(ValueError, match="place must be one tile, column and row; got 2"):
        tiles.visible_from([(0, 0), (1, 0)])
    with pytest.raises(ValueError, match=r"radius = .* must not be negative"):
        tiles.visible_from((0, 0), -1)
    with pytest.raises(ValueError, match=r"radius = .* must not be negative"):
        tiles.visible_from((0, 0), math.nan)
