"""Who stands in which cell: the article's own structure, in plain Python.

An entity no larger than a tile lies in one, two or four cells.  Each entity remembers its cells and each cell
its occupants, so to see whether a place is free is to look into four short lists, whatever else there is.
"""

from typing import Any, Protocol

from broadphase import Tile, TileMap


class Entity(Protocol):
    """Anything with a place and a size."""

    x: float
    y: float
    size: float
    cells: tuple[range, range]
    """The columns and rows of tiles that it touches."""


NOWHERE = (range(0), range(0))


class Cells:
    """The cells of a tile map with those who stand in them."""

    def __init__(self, tiles: TileMap) -> None:
        self.tile = int(tiles.tile_size[0])
        self.solid = tiles.solid  # the map's own array: an opened door counts at once
        self.occupants: dict[tuple[int, int], list[Any]] = {}

    def covered(self, x: float, y: float, size: float) -> tuple[range, range]:
        """The columns and rows that a square touches: pixel to tile."""
        tile = self.tile
        return (
            range(int(x // tile), int(-(-(x + size) // tile))),
            range(int(y // tile), int(-(-(y + size) // tile))),
        )

    def occupy(self, entity: Entity, x: float, y: float) -> None:
        """Put an entity somewhere, unchecked: out of the cells that it leaves, into those that it enters."""
        entity.x, entity.y = x, y
        cells = self.covered(x, y, entity.size)
        if cells != entity.cells:
            self.leave(entity)
            for row in cells[1]:
                for column in cells[0]:
                    self.occupants.setdefault((column, row), []).append(entity)
            entity.cells = cells

    def leave(self, entity: Entity) -> None:
        """Take an entity out."""
        for row in entity.cells[1]:
            for column in entity.cells[0]:
                self.occupants[column, row].remove(entity)
        entity.cells = NOWHERE

    def occupied(self, x: float, y: float, size: float, ignore: Entity | None = None) -> Any:
        """The first thing in the way at a place: a `Tile`, an entity, or ``None``."""
        columns, rows = self.covered(x, y, size)
        right, bottom = x + size, y + size
        for row in rows:
            for column in columns:
                if self.solid[row, column]:
                    return Tile(column, row)
                for other in self.occupants.get((column, row), ()):
                    if (
                        other.x < right
                        and x < other.x + other.size
                        and other.y < bottom
                        and y < other.y + other.size
                        and other is not ignore
                    ):
                        return other
        return None

    def try_move(self, entity: Entity, dx: float, dy: float) -> Any:
        """Move an entity if nothing is in the way; returns what is."""
        x, y = entity.x + dx, entity.y + dy
        blocker = self.occupied(x, y, entity.size, entity)
        if blocker is None:
            self.occupy(entity, x, y)
        return blocker
