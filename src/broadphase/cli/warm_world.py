"""A small game that does with a world whatever games do, so that all of it is compiled."""

import numpy as np

from broadphase.shapes.kinds import Box, Circle, Polygon, Shape
from broadphase.world.listeners import ANY
from broadphase.world.tiles import TileMap
from broadphase.world.world import World

_BODIES = 300  # more than one node of a tree


def play() -> None:
    """Add, move, ask, listen and go back, for shapes of every kind."""
    world = World()
    world.on(ANY, ANY)
    level = np.zeros((40, 40), np.bool_)
    level[::7, ::5] = True
    world.tiles = TileMap(level, 32)
    world.tiles.set_one_way(1, 1, "top")
    places = np.random.default_rng(0).uniform(0, 1280, (_BODIES, 2))
    boxes = [world.add(Box(x, y, 20, 20)) for x, y in places.tolist()]
    world.add(Box(500, 500, 100, 20), static=True)
    world.add(Box(500, 400, 100, 20), sensor=True)
    world.update()
    world.move_many(boxes, 5, 5, movers_block=True)
    world.move_many(boxes, 5, 5)
    world.move_all(boxes, places)
    world.update()
    for shape in (Box(9, 40, 20, 20), Circle(20, 50, 10), Polygon([(0, 0), (20, 0), (10, 20)])):
        _walk(world, shape)
    moment = world.snapshot()
    for body in boxes[: _BODIES // 2]:
        world.remove(body)
    world.update()
    world.restore(moment)
    world.update()


def _walk(world: World, shape: Shape) -> None:
    body = world.add(shape, category=3)
    for response in ("slide", "bounce", "touch", "cross"):
        world.move(body, 300, 200, response)
        world.move_many([body], -200, -100, response)
    world.try_move(body, 1, 0)
    world.grounded(body)
    world.blocker(body)
    world.push(body, 20, 0)
    x, y = body.position
    world.resize(body, Circle(x, y, 5))
    world.query_box((x, y, x + 50, y + 50), category=1)
    world.query_box((x, y, x + 50, y + 50))
    world.query_point((x, y))
    world.query_radius((x, y), 50)
    world.raycast((x, y), (1, 0.5), 500)
    world.nearest((x, y), 3)
    world.update()
