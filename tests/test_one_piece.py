"""A surface made of pieces behaves as one piece: the inputs of bug reports."""

import numpy as np
import pytest

from broadphase import Box, Capsule, Circle, Polygon, TileMap, World


@pytest.mark.smaller_set
@pytest.mark.parametrize("company", [Circle(44, 12, 4), Polygon([(41, 9), (44, 9), (44, 12)]), None])
def test_a_box_that_presses_on_a_seam_slides_on(company):
    world = World()
    world.tiles = TileMap([[False] * 6, [True] * 6], 16)
    if company:
        world.add(company, static=True)
    player = world.add(Box(32, 8, 8, 8))
    ways = [world.move(player, -1, 3) for _ in range(3)]
    assert [(move.x, move.y) for move in ways] == [(31, 8), (30, 8), (29, 8)]
    assert all({hit.normal for hit in move.hits} == {(0, -1)} for move in ways)


@pytest.mark.smaller_set
@pytest.mark.parametrize("quarter", [90, 180, 270])
def test_a_quarter_turn_slides_over_seams_of_slabs(quarter):
    world = World()
    for x in range(0, 96, 16):
        world.add(Polygon([(x, 16), (x + 16, 16), (x + 16, 32), (x, 32)]), static=True)
    player = world.add(Box(32, 8, 8, 8).rotated(quarter))
    start = player.x
    for steps in range(1, 4):
        move = world.move(player, -1, 3)
        assert (player.x, player.shape.bounds[3]) == (start - steps, 16)
        assert {hit.normal for hit in move.hits} == {(0, -1)}


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    "shape",
    [
        Box(4, 20, 8, 8).rotated(30),
        Circle(8, 24, 4),
        Capsule(6, 22, 10, 26, 2),
        Polygon([(4, 20), (12, 20), (9, 28)]),
    ],
)
def test_no_ghost_collisions_between_flush_boxes(shape):
    world = World()
    for x in (0, 16):
        world.add(Box(x, 48, 16, 16), static=True)
    player = world.add(shape)
    world.move(player, 0, 50)
    start, y = player.position
    for steps in range(1, 9):
        move = world.move(player, 1, 1)
        assert (move.x, move.y) == pytest.approx((start + steps, y), abs=1e-12)
        assert [hit.normal for hit in move.hits] == [(0, -1)]


@pytest.mark.smaller_set
@pytest.mark.parametrize("solid", [False, True])
def test_a_tip_does_not_slip_through_a_seam(solid):
    tiles = TileMap(np.zeros((3, 3), np.bool_), 16)
    for column in range(3):
        tiles.set(column, 1, solid) if solid else tiles.set_one_way(column, 1, "top")
    world = World()
    world.tiles = tiles
    player = world.add(Polygon([(8, 4), (20, 4), (14, 16)]))
    for steps in range(1, 5):
        move = world.move(player, 1, 3)
        assert (move.x, player.shape.bounds[3]) == (8 + steps, 16)


@pytest.mark.smaller_set
@pytest.mark.parametrize("split", ["tiles", "bodies", "both"])
def test_what_is_in_one_piece_of_a_one_way_floor_leaves_all_of_it(split):
    world = World()
    world.tiles = TileMap([[False] * 8], 16)
    for column in range(8):
        if split == "tiles" or (split == "both" and column % 2):
            world.tiles.set_one_way(column, 0, "top")
        else:
            world.add(Box(16 * column, 0, 16, 16), static=True).one_way = "top"
    player = world.add(Box(108, -7, 12, 7).rotated(30))
    move = world.move(player, 0, 5)
    assert (move.hits, player.y) == ((), Box(108, -7, 12, 7).rotated(30).y + 5)


@pytest.mark.smaller_set
def test_a_hit_of_what_a_function_lets_through_is_no_surface():
    """A ghost that lies flush with the floor does not lend its side to the hit on the floor."""
    world = World()
    ghost, floor = (world.add(Box(x, 48, 16, 16), static=True) for x in (16, 0))
    player = world.add(Box(4, 20, 8, 8).rotated(30))
    move = world.move(player, 10, 40, lambda hit: None if hit.other is ghost else "slide")
    assert [(hit.other, hit.normal) for hit in move.hits] == [(floor, (0, -1))]
    assert move.x == 14 + Box(4, 20, 8, 8).rotated(30).x - 4
