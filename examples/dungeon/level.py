"""A level: rooms in rows, walls between them, some gaps open, some with a locked door.

The stairs can be reached whichever doors the player opens first: a door always leads to rooms that have no
other entrance, and these rooms hold a key for each further door.
"""

import random
from typing import NamedTuple

import numpy as np

import broadphase as bp

TILE = 32
ROOM = 12
"""Tiles from one wall to the next."""

Room = tuple[int, int]
# What stands in a quarter of a room, where it blocks no gap: pillars, a hook, a bar.
BLOCKS = (
    ("....", ".##.", ".##.", "...."),
    ("....", "###.", "..#.", "..#."),
    ("....", ".#..", "....", "...#"),
    (".#..", ".#..", ".###", "...."),
    ("....", "....", "....", "...."),
)


class Gap(NamedTuple):
    """Where the wall between two neighbouring rooms may be open."""

    a: Room
    b: Room
    tiles: list[bp.Tile]


class Union:
    """Groups of connected rooms (a disjoint-set forest)."""

    def __init__(self) -> None:
        self.above: dict[Room, Room] = {}

    def of(self, room: Room) -> Room:
        """The representative of the group of this room."""
        while room in self.above:
            room = self.above[room]
        return room

    def join(self, a: Room, b: Room) -> bool:
        """Join two groups; return whether they were separate."""
        a, b = self.of(a), self.of(b)
        if a != b:
            self.above[b] = a
        return a != b


class Level:
    """Walls and doors as a tile map, and the places for items."""

    def __init__(self, across: int, down: int, rng: random.Random) -> None:
        self.rng, self.across, self.down = rng, across, down
        solid = np.zeros((down * ROOM + 1, across * ROOM + 1), bool)
        solid[::ROOM, :] = solid[:, ::ROOM] = True
        self.tiles = bp.TileMap(solid, TILE)
        self.doors: dict[bp.Tile, list[bp.Tile]] = {}
        """By tile, all tiles of its door."""
        self.rooms = [(column, row) for row in range(down) for column in range(across)]
        self.start = across // 2, down // 2
        for room in self.rooms:
            if room != self.start:
                self._furnish(room)
        self._open_gaps()

    @property
    def start_tile(self) -> bp.Tile:
        """The centre of the room where the hero starts."""
        return bp.Tile(*(k * ROOM + ROOM // 2 for k in self.start))

    def open(self, tile: bp.Tile) -> list[bp.Tile]:
        """Open the door that a tile belongs to and return its tiles; flow fields follow at once."""
        found = self.doors.get(tile, [])
        for part in found:
            self.tiles.set(*part, False)
            del self.doors[part]
        return found

    def free_tiles(self, room: Room) -> list[bp.Tile]:
        """The tiles of a room on which items may lie, in any order."""
        left, top = room[0] * ROOM, room[1] * ROOM
        inside = self.tiles.solid[top + 1 : top + ROOM, left + 1 : left + ROOM]
        free = [bp.Tile(left + 1 + c, top + 1 + r) for r, c in np.argwhere(~inside).tolist()]
        self.rng.shuffle(free)
        return free

    def opened(self) -> bp.TileMap:
        """The tiles as if all doors were open."""
        tiles = self.tiles.copy()
        for column, row in self.doors:
            tiles.set(column, row, False)
        return tiles

    def farthest(self) -> bp.Tile:
        """The tile farthest from the start if all doors are open: the place of the stairs."""
        distances = self.opened().flow_field(self.start_tile, size=2).distances
        row, column = np.unravel_index(
            np.argmax(np.where(np.isinf(distances), -1, distances)), distances.shape
        )
        return bp.Tile(int(column), int(row))

    def key_rooms(self) -> list[Room]:
        """A room for the key of each door that can be reached before the door is open."""
        return [self.rng.choice(rooms) for rooms in self._before_doors]

    # ---- generation

    def _furnish(self, room: Room) -> None:
        """Something in each quarter, turned at random."""
        left, top = room[0] * ROOM + 1, room[1] * ROOM + 1
        for x, y in ((0, 0), (7, 0), (0, 7), (7, 7)):
            block = np.array([[cell == "#" for cell in line] for line in self.rng.choice(BLOCKS)])
            block = np.rot90(block, self.rng.randrange(4))
            self.tiles.solid[top + y : top + y + 4, left + x : left + x + 4] = block

    def _open_gaps(self) -> None:
        """First open gaps, which connect rooms to regions; then doors, which connect regions to a tree."""
        gaps = self._gaps()
        self.rng.shuffle(gaps)
        together, regions = Union(), Union()
        shut = []
        for gap in gaps:
            if self.rng.random() < 0.55:
                regions.join(gap.a, gap.b)
                for tile in gap.tiles:
                    self.tiles.set(*tile, False)
            else:
                shut.append(gap)
        for room in self.rooms:
            if regions.of(room) != room:
                together.join(regions.of(room), room)
        doors = [gap for gap in shut if together.join(gap.a, gap.b)]
        for gap in doors:
            self.doors.update(dict.fromkeys(gap.tiles, gap.tiles))
        self._before_doors = self._rooms_before(doors, regions)

    def _gaps(self) -> list[Gap]:
        gaps = []
        for column, row in self.rooms:
            x, y = column * ROOM + ROOM // 2, row * ROOM + ROOM // 2
            wide = self.rng.choice((1, 1, 2))
            if column + 1 < self.across:
                side = (column + 1) * ROOM
                tiles = [bp.Tile(side, y + k) for k in range(-wide, wide + 1)]
                gaps.append(Gap((column, row), (column + 1, row), tiles))
            if row + 1 < self.down:
                side = (row + 1) * ROOM
                tiles = [bp.Tile(x + k, side) for k in range(-wide, wide + 1)]
                gaps.append(Gap((column, row), (column, row + 1), tiles))
        return gaps

    def _rooms_before(self, doors: list[Gap], regions: Union) -> list[list[Room]]:
        """For each door the rooms of the region on the side of the start."""
        reached, found = {regions.of(self.start)}, []
        rest = list(doors)
        while rest:
            gap = next(g for g in rest if {regions.of(g.a), regions.of(g.b)} & reached)
            near = next(of for of in (regions.of(gap.a), regions.of(gap.b)) if of in reached)
            found.append([room for room in self.rooms if regions.of(room) == near])
            reached |= {regions.of(gap.a), regions.of(gap.b)}
            rest.remove(gap)
        return found
