"""Bodies that start inside something are first pushed out by the shortest displacement (depenetration)."""

from itertools import product

import numpy as np
import pytest
from cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sweep_scenes import boxes_of_tiles, go, overlaps

from broadphase import Box, Circle, Tile, TileMap, World
from broadphase.kernels.movement.depenetration import MOST_EDGES

BLOCK = (0, 0, 10, 10)


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("box", "place", "normal"),
    [
        ((-3, 4, 4, 4), (-4, 4), (-1, 0)),
        ((8, 4, 4, 4), (10, 4), (1, 0)),
        ((3, -3, 4, 4), (3, -4), (0, -1)),
        ((3, 8, 4, 4), (3, 10), (0, 1)),
        ((-3, -3, 4, 4), (-4, -3), (-1, 0)),  # a tie goes to x
        ((3, 3, 4, 4), (-4, 3), (-1, 0)),  # and to the smaller side
        ((3, 5, 0, 0), (0, 5), (-1, 0)),
    ],
)
@pytest.mark.parametrize("response", ["slide", "touch", "bounce", lambda hit: "slide"])
def test_out_of_one_block(box, place, normal, response):
    move = go(box, (0, 0), [BLOCK], response=response)
    assert (move.x, move.y) == place
    assert [(hit.other, hit.time, hit.normal, hit.touch) for hit in move.hits] == [(0, 0, normal, place)]
    assert move.blocked


@pytest.mark.smaller_set
def test_the_motion_begins_where_the_push_ends():
    for response in ("slide", "touch", "bounce"):
        move = go((-1, 4, 4, 4), (-5, 7), [BLOCK], response=response)
        assert (move.x, move.y) == (-9, 11)
        assert len(move.hits) == 1
    back = go((-1, 4, 4, 4), (5, 7), [BLOCK])
    assert (back.x, back.y) == (-4, 11)
    assert [hit.time for hit in back.hits] == [0, 0]
    assert [hit.touch for hit in back.hits] == [(-4, 4), (-4, 4)]


@pytest.mark.smaller_set
def test_out_of_a_corner_on_both_axes():
    floor, wall = (-100, 10, 100, 200), (20, -100, 300, 100)
    move = go((17, 8, 5, 5), (0, 0), [floor, wall])
    assert (move.x, move.y) == (15, 5)
    assert [(hit.other, hit.normal) for hit in move.hits] == [(0, (0, -1)), (1, (-1, 0))]
    assert move.bottom
    assert move.right


@pytest.mark.smaller_set
def test_not_into_the_next():
    """The nearest edge of the one is inside the other."""
    move = go((8, 4, 4, 4), (0, 0), [BLOCK, (11, -2, 21, 12)])
    assert (move.x, move.y) == (7, 10)
    move = go((3, 3, 4, 4), (0, 0), [BLOCK, (-4, 0, 0, 10), (10, 0, 12, 10), (0, -5, 10, 0)])
    assert (move.x, move.y) == (3, 10)


@pytest.mark.smaller_set
def test_up_from_a_floor_of_tiles_not_sideways():
    """Each tile alone would rather push to the side, into the next one."""
    tiles = TileMap([[True] * 6], 10, (0, 50))
    for x, response in product((19, 20, 21, 27, 28.5), ("slide", lambda hit: "slide")):
        move = go((x, 44, 4, 9), (0, 0), tiles=tiles, response=response)
        assert (move.x, move.y) == (x, 41)
        assert {hit.normal for hit in move.hits} == {(0, -1)}


@pytest.mark.smaller_set
def test_from_deep_inside():
    tiles = TileMap(np.ones((20, 12), np.bool_), 10)
    move = go((43, 101, 4, 4), (0, 0), tiles=tiles)
    assert (move.x, move.y) == (-4, 101)
    tiles.set(7, 9, False)
    tiles.set(8, 9, False)
    assert go((43, 101, 4, 4), (0, 0), tiles=tiles)[:2] == (70, 96)


def test_out_of_a_huge_block():
    solid = np.zeros((3_000, 3_000), np.bool_)
    solid[100:2_900, 200:2_900] = True
    assert go((15_000, 12_000, 9, 9), (0, 0), tiles=TileMap(solid, 10))[:2] == (15_000, 991)


def test_out_of_a_huge_pile():
    random = np.random.default_rng(1)
    corners = random.uniform(0, 30, (3 * MOST_EDGES, 2))
    boxes = np.concatenate([corners, corners + 5], axis=1)
    move = go((15, 15, 5, 5), (0, 0), boxes)
    assert not any(overlaps(move.x, move.y, 5, 5, box) for box in boxes)
    assert sorted([move.x == 15, move.y == 15]) == [False, True]


@pytest.mark.smaller_set
def test_no_free_place():
    for shape in (Box(3, 4, 5, 6), Circle(3, 4, 5)):
        world = World(period=(20, 20))
        everything = world.add(Box(0, 0, 20, 20), static=True)
        move = world.move(world.add(shape), 7, 1)
        assert (move.x, move.y) == (10, 5)
        assert {(hit.other, hit.time) for hit in move.hits} == {(everything, 0)}


@pytest.mark.smaller_set
def test_what_is_crossed_does_not_push():
    boxes = [BLOCK, (8, 0, 18, 10)]
    move = go((9, 4, 4, 4), (1, 1), boxes, response="cross")
    assert (move.x, move.y) == (10, 5)
    assert [(hit.other, hit.time, hit.touch) for hit in move.hits] == [(0, 0, (9, 4)), (1, 0, (9, 4))]
    assert not move.blocked
    for answer in ("cross", None):
        move = go(
            (9, 4, 4, 4), (0, 0), boxes, response=lambda hit, answer=answer: [answer, "slide"][hit.other]
        )
        assert (move.x, move.y) == (4, 4)
        assert [hit.other for hit in move.hits] == ([0, 1] if answer else [1])
    move = go((9, 4, 4, 4), (1, 0), boxes, response=lambda hit: None)
    assert move[:3] == (10, 4, ())


@pytest.mark.smaller_set
def test_tiles_may_be_crossed_and_bodies_not():
    tiles = TileMap([[True]], 10)

    def response(hit):
        return "cross" if isinstance(hit.other, Tile) else "slide"

    move = go((8, 4, 4, 4), (0, 0), [(9, 0, 19, 10)], tiles, response)
    assert (move.x, move.y) == (5, 4)
    assert [(hit.other, hit.response) for hit in move.hits] == [(0, "slide"), (Tile(0, 0), "cross")]


coordinates = st.integers(0, 24)
sizes = st.integers(1, 9)


def nearest_free(box, boxes):
    """By trying every whole place; scenes of whole numbers have their nearest free place on one."""
    x, y, width, height = box
    best = None
    for dy in range(-60, 61):
        for dx in range(-60, 61):
            key = (dx * dx + dy * dy, abs(dy), dy, dx)
            if best is not None and key > best:
                continue
            if not any(overlaps(x + dx, y + dy, width, height, other) for other in boxes):
                best = key
    return x + best[3], y + best[2]


@settings(deadline=None, max_examples=examples(25))
@given(
    st.tuples(coordinates, coordinates, sizes, sizes),
    st.lists(st.tuples(coordinates, coordinates, sizes, sizes), max_size=6),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8),
)
def test_the_nearest_place_of_all(box, blocks, cells):
    tiles = TileMap(np.zeros((5, 5), np.bool_), 5)
    for column, row in cells:
        tiles.set(column, row, True)
    boxes = [(x, y, x + width, y + height) for x, y, width, height in blocks]
    move = go(box, (0, 0), boxes, tiles)
    assert (move.x, move.y) == nearest_free(box, boxes + boxes_of_tiles(tiles))
