"""The dungeon: rooms and corridors on a `broadphase.TileMap`, monsters that walk and turn at walls."""

import numpy as np
import numpy.typing as npt

from broadphase.lab.scenes.base import Scene, Start, Vectors
from broadphase.world.tiles import TileMap

TILE = 32.0
_DIRECTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
_TURNS = 0.01  # the share of the monsters that turn in a frame though nothing is in the way


def dungeon(count: int, seed: int) -> Scene:
    """A level with room for this many monsters, each smaller than a tile."""
    random = np.random.default_rng(seed)
    columns = max(30, int(np.sqrt(count * 6.0)))
    rows = max(22, columns * 3 // 4)
    level = TileMap(_rooms(random, columns, rows), TILE)
    floor = np.argwhere(~level.solid)[:, ::-1]
    centers = ((floor[random.integers(0, len(floor), count)] + 0.5) * TILE).astype(np.float64)
    halves = random.uniform(7, 13, (count, 2))
    velocities = _DIRECTIONS[random.integers(0, 4, count)] * random.uniform(0.6, 2.2, (count, 1))

    def advance(scene: Scene) -> None:
        _walk(scene, level, random)

    bounds = (0.0, 0.0, columns * TILE, rows * TILE)
    return Scene(Start(centers, halves, velocities, bounds), advance, tiles=level)


def _rooms(random: np.random.Generator, columns: int, rows: int) -> npt.NDArray[np.bool_]:
    """Solid rock, rooms cut out of it, and each room joined to the one before by a bent corridor."""
    solid = np.ones((rows, columns), np.bool_)
    before: tuple[int, int] | None = None
    for _ in range(max(6, columns * rows // 90)):
        width, height = random.integers(3, 8, 2)
        x = int(random.integers(1, columns - width))
        y = int(random.integers(1, rows - height))
        solid[y : y + height, x : x + width] = False
        middle = x + int(width) // 2, y + int(height) // 2
        if before is not None:
            low, high = sorted((before[0], middle[0]))
            solid[before[1], low : high + 1] = False
            low, high = sorted((before[1], middle[1]))
            solid[low : high + 1, middle[0]] = False
        before = middle
    solid[[0, -1], :] = True
    solid[:, [0, -1]] = True
    return solid


def _walk(scene: Scene, level: TileMap, random: np.random.Generator) -> None:
    """Try the step; who would stand in a wall stays and turns."""
    speeds = np.abs(scene.velocities).max(axis=1, keepdims=True)
    wanted = scene.centers + scene.velocities
    blocked = _in_wall(level, wanted, scene.halves) & ~_in_wall(level, scene.centers, scene.halves)
    outside = _in_wall(level, scene.centers, np.zeros_like(scene.halves))
    turning = blocked | (random.random(len(scene)) < _TURNS)
    headings = _DIRECTIONS[random.integers(0, 4, len(scene))]
    scene.centers[~blocked] = wanted[~blocked]
    scene.velocities[turning] = (headings * np.clip(speeds, 0.6, 2.2))[turning]
    # Who was dropped into rock walks home, towards the middle.
    middle = np.array(scene.bounds[2:]) / 2
    home = np.sign(middle - scene.centers)
    scene.velocities[outside] = home[outside]


def _in_wall(level: TileMap, centers: Vectors, halves: Vectors) -> npt.NDArray[np.bool_]:
    """Which bodies overlap a solid tile; all are smaller than a tile, so their corners say it."""
    rows, columns = level.solid.shape
    hit = np.zeros(len(centers), np.bool_)
    for corner in ((-1, -1), (1, -1), (-1, 1), (1, 1)):
        at = np.floor((centers + halves * corner) / TILE)
        column = np.clip(at[:, 0], 0, columns - 1).astype(np.int64)
        row = np.clip(at[:, 1], 0, rows - 1).astype(np.int64)
        hit |= level.solid[row, column]
    return hit
