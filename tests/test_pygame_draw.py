"""Boxes, contacts and cells drawn on pygame's surfaces."""

import numpy as np
import pytest

pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")

from sprite_helpers import NamedSprite  # noqa: E402

import broadphase as bp  # noqa: E402
from broadphase.adapters import pygame as ours  # noqa: E402


def picture(draw):
    surface = pygame.Surface((80, 60))
    surface.fill("black")
    draw(surface)
    return pygame.surfarray.array3d(surface)


def test_boxes_are_outlined_where_the_camera_sees_them():
    drawn = picture(lambda s: ours.draw_boxes(s, [[110, 210, 130, 220]], color="red", camera=(100, 200)))
    red = np.argwhere(drawn[:, :, 0] == 255)
    assert (red.min(axis=0).tolist(), red.max(axis=0).tolist()) == ([10, 10], [29, 19])
    assert not drawn[20, 15].any()
    sprites = [NamedSprite("a", pygame.Rect(30, 20, -20, -10))]
    assert np.array_equal(
        picture(lambda s: ours.draw_boxes(s, sprites, color="red")),
        picture(lambda s: ours.draw_boxes(s, [[10, 10, 30, 20]], color="red")),
    )
    infinite = picture(lambda s: ours.draw_boxes(s, [[-np.inf, 10, np.inf, 20]], color="red"))
    assert infinite[:, 10, 0].all()


def test_cells_are_outlined_with_their_counts():
    boxes = [[2, 2, 5, 5], [3, 3, 6, 6], [18, 2, 25, 5]]
    drawn = picture(lambda s: ours.draw_cells(s, boxes, 20, color="red"))
    assert drawn[0:41, 0, 0].all()
    assert not drawn[45:, :, 0].any()
    assert drawn[5:16, 5:16].any(), "a number"
    assert not picture(lambda s: ours.draw_cells(s, np.empty((0, 4)), 20)).any()
    with pytest.raises(ValueError, match="cell_size must be positive"):
        picture(lambda s: ours.draw_cells(s, boxes, 0))


def test_a_world_is_drawn_in_its_shapes():
    world = bp.World()
    world.tiles = bp.TileMap([[False, True], [False, False]], 10, origin=(100, 200))
    world.add(bp.Box(105, 215, 20, 20), tag="box")
    world.add(bp.Circle(150, 230, 8), static=True, tag="wall")
    world.add(bp.Polygon([(160, 210), (178, 210), (160, 250)]), tag="zone")
    world.add(bp.Box(500, 500, 9, 9), tag="box")
    green = dict.fromkeys(("wall", "tile", "slope"), "green1")
    colors = {"colors": {"box": "red", "zone": "blue"} | green}
    drawn = picture(lambda s: ours.draw_world(s, world, camera=(100, 200), **colors))
    seen = [np.argwhere(drawn[:, :, channel] == 255) for channel in range(3)]
    ends = [(part.min(axis=0).tolist(), part.max(axis=0).tolist()) for part in seen]
    assert ends[0] == ([5, 15], [24, 34])
    assert ends[1][0] == [10, 0], "the tile"
    assert 57 <= ends[1][1][0] <= 58, "the circle"
    assert ends[2] == ([60, 10], [78, 50])
    assert not drawn[65, 20].any(), "an outline"
    assert not picture(lambda s: ours.draw_world(s, bp.World())).any()
    world.tiles.set_slope(0, 1, 0, 1)
    drawn = picture(lambda s: ours.draw_world(s, world, camera=(100, 200), **colors))
    assert drawn[3, 15:19, 1].any(), "the slope, aslant"
    capsule = bp.World()
    capsule.add(bp.Capsule(20, 20, 40, 20, 5))
    capsule.body(0).tag = "one"
    drawn = picture(lambda s: ours.draw_world(s, capsule, colors={"one": "red"}))[:, :, 0]
    assert drawn[:, 20].any()
    assert 15 <= np.argwhere(drawn)[:, 0].min() <= 16
    larger = picture(lambda s: ours.draw_world(s, capsule, colors={"one": "red"}, camera=(10, 10), zoom=2))
    assert 10 <= np.argwhere(larger[:, :, 0])[:, 0].min() <= 12
    capsule.body(0).sensor = True
    faint = picture(lambda s: ours.draw_world(s, capsule, colors={"one": "red"}))[:, :, 0]
    assert 0 < faint.max() < 255
    with pytest.raises(ValueError, match="zoom = 0"):
        ours.draw_world(pygame.Surface((9, 9)), capsule, zoom=0)
