"""What is at a place, and what is flush with a body."""

import math

import numpy as np
import pytest
from sweep_scenes import Around, around_boxes, beside, blocker_at, resolve

from broadphase import Box, Circle, Polygon, Tile, TileMap

DOWN, UP, LEFT, RIGHT = (0, 1), (0, -1), (-1, 0), (1, 0)


nothing = Around([])


@pytest.mark.smaller_set
def test_whether_a_body_can_stand_up():
    tiles = TileMap([[True, False], [False, False], [True, True]], 10)
    crouching, standing = Box(2, 14, 6, 6), Box(2, 8, 6, 12)
    assert blocker_at(crouching, nothing, tiles) is None
    assert blocker_at(standing, nothing, tiles) == Tile(0, 0)
    assert blocker_at(standing.moved_to(12, 8), nothing, tiles) is None
    tiles.set(0, 0, False)
    assert blocker_at(standing, nothing, tiles) is None


@pytest.mark.smaller_set
def test_bodies_come_before_tiles_in_the_order_given():
    tiles = TileMap([[True]], 10)
    boxes = [(50, 0, 60, 10), (4, 4, 6, 6), (0, 0, 10, 10)]
    assert blocker_at(Box(1, 1, 4, 4), around_boxes(boxes, "abc"), tiles) == "b"
    assert blocker_at(Box(1, 1, 3, 3), around_boxes(boxes, "abc"), tiles) == "c"
    assert blocker_at(Box(20, 1, 3, 3), around_boxes(boxes, "abc"), tiles) is None
    assert blocker_at(Box(10, 0, 3, 3), around_boxes(boxes, "abc"), tiles) is None  # flush


@pytest.mark.smaller_set
def test_shapes_of_any_kind():
    others = Around([Circle(0, 0, 5), Polygon([(20, 0), (30, 0), (20, 10)])])
    assert blocker_at(Box(4, 4, 2, 2), others) is None  # only the bounds overlap
    assert blocker_at(Box(3, 3, 2, 2), others) == 0
    assert blocker_at(Circle(27, 7, 2), others) is None
    assert blocker_at(Circle(24, 4, 2), others) == 1
    assert blocker_at(Circle(5, 5, 2), nothing, TileMap([[True]], 4)) == Tile(0, 0)


@pytest.mark.smaller_set
def test_the_floor_of_a_body():
    tiles = TileMap([[False, False, True], [True, True, True]], 10)
    body = Box(14, 4, 6, 6)
    assert beside(body, DOWN, nothing, tiles).other == Tile(1, 1)
    assert beside(body, RIGHT, nothing, tiles).other == Tile(2, 0)
    assert beside(body, UP, nothing, tiles) is None
    assert beside(body, LEFT, nothing, tiles) is None
    assert beside(body.moved_to(14, 3.999), DOWN, nothing, tiles) is None
    tiles.set(1, 1, False)
    assert beside(body, DOWN, nothing, tiles) is None
    tiles.set_one_way(1, 1, "top")
    assert beside(body, DOWN, nothing, tiles).other == Tile(1, 1)
    assert beside(body, DOWN, around_boxes([(0, 10, 50, 20)], ["lift"]), tiles).other == "lift"


@pytest.mark.parametrize("offset", [0.0, 0.1, 1e3 / 3, -1e7, 1e9])
@pytest.mark.parametrize(
    "shape", [Box(0, 0, 0.7, 0.3), Circle(0, 0, 1.1), Polygon([(0, 0), (0.3, 0.7), (-0.4, 0.9)])]
)
def test_what_stopped_a_body_is_flush_with_it(shape, offset):
    slope = Polygon([(0, 10), (10, 7), (10, 10)])
    blockers = Around([slope.moved_to(offset, offset + 10), Box(offset - 20, offset + 30, 50, 5)])
    for x in (offset + 5, offset - 10):
        move = resolve(shape.moved_to(x, offset - 5), 0, 60, blockers, None, "touch")
        landed = shape.moved_to(move.x, move.y)
        assert beside(landed, DOWN, blockers).other == move.hits[0].other
        assert beside(landed, UP, blockers) is None
        assert beside(landed.moved_to(landed.x, landed.y - 0.01), DOWN, blockers) is None


@pytest.mark.smaller_set
def test_a_point_at_the_origin():
    assert beside(Box(0, 0, 0, 0), DOWN, around_boxes([(-1, 0, 1, 1)])).other == 0
    assert beside(Box(0, 0, 0, 0), UP, around_boxes([(-1, 0, 1, 1)])) is None


@pytest.mark.parametrize("direction", [(0, 0), (math.nan, 0), (np.inf, 0)])
def test_bad_directions_are_named(direction):
    with pytest.raises(ValueError, match=r"direction.* must be finite"):
        beside(Box(0, 0, 1, 1), direction, nothing)
