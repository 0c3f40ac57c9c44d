"""Hundreds of monsters as arrays: one call moves them all, without a Python loop.

A flow field (`TileMap.flow_field`) has for each tile the step that leads to the hero: one field for monsters
that cover one tile and one for those that cover two by two.  `World.move_many` slides them along walls and
each other.
"""

from typing import NamedTuple

import numpy as np

import broadphase as bp
from examples.dungeon.hero import MONSTER
from examples.dungeon.level import TILE


class Kind(NamedTuple):
    """The properties of a kind of monster."""

    name: str
    side: float
    speed: float
    health: int
    bite: int
    score: int
    tiles: int
    """How many tiles it covers along each axis."""


KINDS = (
    Kind("rat", 18, 1.7, 1, 3, 10, 1),
    Kind("skeleton", 22, 1.2, 2, 5, 20, 1),
    Kind("imp", 20, 1.0, 2, 3, 40, 1),
    Kind("ogre", 46, 0.8, 8, 8, 100, 2),
)
SHARES = (0.42, 0.36, 0.14, 0.08)
IMP = 2
SIDES = np.array([kind.side for kind in KINDS])
SPEEDS = np.array([kind.speed for kind in KINDS])
BITES = np.array([kind.bite for kind in KINDS])
SCORES = np.array([kind.score for kind in KINDS])
TILES = np.array([kind.tiles for kind in KINDS])


class Monsters:
    """All monsters of a level, one row each."""

    def __init__(self, world: bp.World, kinds: np.ndarray, places: np.ndarray, seed: int) -> None:
        """Add monsters of the given kinds with their min corners at the given positions."""
        self.world, self.rng = world, np.random.default_rng(seed)
        self.kinds, self.places = kinds, places
        self.health = np.array([kind.health for kind in KINDS])[kinds]
        self.pace = SPEEDS[kinds] * self.rng.uniform(0.85, 1.15, len(kinds))
        self.flash = np.zeros(len(kinds), int)
        self.turn = self.rng.choice((-1.0, 1.0), len(kinds))
        self.stuck = np.zeros(len(kinds), int)
        self.reload = self.rng.integers(60, 180, len(kinds))
        self.distances = np.full(len(kinds), np.inf)
        """The walking distance of each to the hero; infinite if a door is between them."""
        boxes = np.hstack((places, places + SIDES[kinds][:, None]))
        bodies = world.add_many(boxes, tag="monster", category=MONSTER)
        self.ids = np.array([body.id for body in bodies], np.int64)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def middles(self) -> np.ndarray:
        """``(n, 2)``"""
        return self.places + SIDES[self.kinds][:, None] / 2

    def find_directions(self, tiles: bp.TileMap, hero: bp.Tile, middle: tuple[float, float]) -> np.ndarray:
        """A unit vector for each: along the field, and straight to the hero from a neighbouring tile."""
        middles, directions = self.middles, np.zeros((len(self), 2))
        for size in (1, 2):
            own = TILES[self.kinds] == size
            field = tiles.flow_field(hero, size=size)
            self.distances[own] = field.distances_at(middles[own])
            directions[own] = field.ways_at(middles[own])
        straight = np.array(middle) - middles
        far = np.hypot(*straight.T)
        near = np.isfinite(self.distances) & (far < 1.5 * TILE)
        directions[near] = straight[near] / np.maximum(far[near], 1.0)[:, None]
        return directions

    def plan(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Order and displacement: nearest first, so that those behind find space; stuck ones try to pass."""
        aside = (self.stuck > 20)[:, None] * self.turn[:, None] * directions[:, ::-1] * (1.0, -1.0)
        slower = np.where(aside.any(axis=1), 1.8, 1.0)[:, None]
        steps = self.pace[:, None] * (directions + 1.5 * aside) / slower
        order = np.argsort(self.distances, kind="stable")
        chosen = order[steps[order].any(axis=1)]
        return chosen, steps[chosen]

    def walk(self, chosen: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Move all in one call, along walls and each other; return their positions."""
        dx, dy = steps.T
        return self.world.move_many(self.ids[chosen], dx, dy, movers_block=True).places

    def arrive(self, chosen: np.ndarray, places: np.ndarray) -> None:
        """Store positions, and which monsters are stuck."""
        slow = np.hypot(*(places - self.places[chosen]).T) < 0.3 * self.pace[chosen]
        self.places[chosen] = places
        self.stuck[chosen] = np.where(slow, self.stuck[chosen] + 1, np.maximum(self.stuck[chosen] - 2, 0))
        tired = chosen[self.stuck[chosen] > 50]
        self.stuck[tired] = 0
        self.turn[tired] = self.rng.choice((-1.0, 1.0), len(tired))
        self.flash = np.maximum(self.flash - 1, 0)

    def biters(self, x: float, y: float, side: float) -> np.ndarray:
        """The rows of monsters that touch a square."""
        near = np.abs(self.middles - (x + side / 2, y + side / 2)).max(axis=1)
        return np.flatnonzero(near < (SIDES[self.kinds] + side) / 2 + 2)

    def who_fires(self, tiles: bp.TileMap, middle: tuple[float, float]) -> np.ndarray:
        """The rows of the imps that see the hero and are ready."""
        self.reload -= 1
        ready = np.flatnonzero((self.kinds == IMP) & (self.reload <= 0) & (self.distances < 10 * TILE))
        if len(ready):
            ready = ready[tiles.line_of_sight(self.middles[ready], middle)]
            self.reload[ready] = self.rng.integers(90, 150, len(ready))
        return ready

    def rows_of(self, ids: np.ndarray) -> np.ndarray:
        """The rows of bodies by their ids."""
        order = np.argsort(self.ids)
        return order[np.searchsorted(self.ids, ids, sorter=order)]

    def hit(self, ids: np.ndarray) -> np.ndarray:
        """One wound per id, several for repeated ids; return the rows of those that die."""
        rows = self.rows_of(ids)
        np.subtract.at(self.health, rows, 1)
        self.flash[rows] = 6
        return np.flatnonzero(self.health <= 0)

    def remove(self, rows: np.ndarray) -> None:
        """Remove rows from the world and from all columns."""
        if len(rows):
            self.world.remove_many(self.ids[rows])
            for name, column in list(vars(self).items()):
                if isinstance(column, np.ndarray):
                    setattr(self, name, np.delete(column, rows, axis=0))


def spawn(world: bp.World, tiles: bp.TileMap, count: int, start: bp.Tile, seed: int) -> Monsters:
    """Add ``count`` monsters of all kinds, each on its own tiles, none near the start."""
    rng = np.random.default_rng(seed)
    kinds = np.sort(rng.choice(len(KINDS), count, p=SHARES))[::-1]
    free = ~tiles.solid
    row, column = np.ogrid[: tiles.rows, : tiles.columns]
    free &= np.maximum(abs(row - start.row), abs(column - start.column)) > 7
    corners = np.argwhere(free[:-1, :-1] & free[1:, :-1] & free[:-1, 1:] & free[1:, 1:])
    places = []
    for row, column in rng.permutation(corners)[: np.count_nonzero(TILES[kinds] == 2) * 3].tolist():
        block = np.s_[row : row + 2, column : column + 2]
        if free[block].all() and len(places) < np.count_nonzero(TILES[kinds] == 2):
            free[block] = False
            places.append((column, row))
    single = np.argwhere(free)[:, ::-1]
    kinds = np.concatenate((kinds[: len(places)], kinds[TILES[kinds] == 1]))
    places += rng.permutation(single)[: len(kinds) - len(places)].tolist()
    kinds = kinds[: len(places)].copy()
    middles = (np.array(places, float).reshape(-1, 2) + TILES[kinds][:, None] / 2) * TILE
    return Monsters(world, kinds, middles - SIDES[kinds][:, None] / 2, seed)
