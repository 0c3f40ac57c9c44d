"""A level: rooms in rows, walls between them, some doorways open and some with a door."""

import random

import numpy as np

from broadphase import Tile, TileMap

TILE = 32
ROOM = 12
"""Tiles from one wall to the next."""


class Level:
    """Walls and doors as a live tile map."""

    def __init__(self, across: int, down: int, rng: random.Random) -> None:
        columns, rows = across * ROOM + 1, down * ROOM + 1
        solid = np.zeros((rows, columns), bool)
        solid[::ROOM, :] = True
        solid[:, ::ROOM] = True
        self.tiles = TileMap(solid, TILE)
        self.doors: dict[Tile, list[Tile]] = {}
        for across_room in range(across):
            for down_room in range(down):
                middle = across_room * ROOM + ROOM // 2, down_room * ROOM + ROOM // 2
                if across_room + 1 < across:
                    column = (across_room + 1) * ROOM
                    self.cut([Tile(column, middle[1] + k) for k in (-1, 0, 1)], rng)
                if down_room + 1 < down:
                    row = (down_room + 1) * ROOM
                    self.cut([Tile(middle[0] + k, row) for k in (-1, 0, 1)], rng)

    def cut(self, gap: list[Tile], rng: random.Random) -> None:
        """Open a gap in a wall, or put a door into it."""
        if rng.random() < 0.4:
            for tile in gap:
                self.doors[tile] = gap
        else:
            for tile in gap:
                self.tiles.set(*tile, False)

    def open(self, tile: Tile) -> bool:
        """Open the door that a tile belongs to; whether it was one."""
        gap = self.doors.get(tile)
        if gap is None:
            return False
        for part in gap:
            self.tiles.set(*part, False)
            del self.doors[part]
        return True
