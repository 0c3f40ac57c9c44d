"""Items: food, keys, treasure and stairs.  They are sensors, so they do not block."""

import random

import broadphase as bp
from examples.dungeon.level import TILE, Level

SIZE = 20.0


def middle(tile: bp.Tile) -> tuple[float, float]:
    """The centre of a tile."""
    return (tile.column + 0.5) * TILE, (tile.row + 0.5) * TILE


def put(world: bp.World, kind: str, tile: bp.Tile) -> bp.Body:
    """Place an item at the centre of a tile."""
    x, y = middle(tile)
    shape = bp.Box(x - SIZE / 2, y - SIZE / 2, SIZE, SIZE)
    return world.add(shape, tag=("item", kind), sensor=True, data=kind)


def scatter(world: bp.World, level: Level, rng: random.Random, last: bool) -> None:
    """Place all items of a level; the last level has the amulet instead of stairs."""
    taken = set()

    def lay(kind: str, room: tuple[int, int]) -> None:
        tile = next(tile for tile in level.free_tiles(room) if tile not in taken)
        taken.add(tile)
        put(world, kind, tile)

    goal = level.farthest()
    taken |= {goal, level.start_tile}
    put(world, "amulet" if last else "stairs", goal)
    for room in level.key_rooms():
        lay("key", room)
    for room in level.rooms:
        for kind, share in (("food", 0.7), ("gold", 0.8), ("gold", 0.4), ("gem", 0.25)):
            if rng.random() < share:
                lay(kind, room)
