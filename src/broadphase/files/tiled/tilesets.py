"""Tilesets, in the map or in files of their own."""

import warnings
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from broadphase.files.tiled import fields
from broadphase.files.tiled.documents import read_document
from broadphase.files.tiled.fields import Node
from broadphase.files.tiled.objects import Reader
from broadphase.files.tiled.things import Object, Point, Tile, Tileset

_IN_TILED = (":/", "qrc:/")
"""How sources begin that Tiled keeps in itself, such as the marks of its rules for automapping."""


class Tilesets:
    """The tilesets of one map, and of the templates of its objects."""

    def __init__(self, file: Path) -> None:
        self.objects = Reader(file, self.of_template)
        self._read: dict[Path, tuple[Node, str]] = {}

    def add_all(self, raw: list[Any], folder: Path, where: str) -> "Numbered":
        """The tilesets of a document."""
        found = Numbered()
        for one in raw:
            self._add(found, fields.node(one, f"{where}: tileset {shown(one)}"), folder, where)
        return found

    def of_template(self, raw: Node, folder: Path, where: str) -> Callable[[int, str], Tile]:
        """Which tile has a number, in a template."""
        found = Numbered()
        self._add(found, raw, folder, where)
        return found.tile_of

    def _add(self, found: "Numbered", raw: Node, folder: Path, where: str) -> None:
        tileset = raw
        source, own = raw.get("source"), where
        if isinstance(source, str) and source.startswith(_IN_TILED):
            warnings.warn(
                f"{where}: the tileset {shown(source)} is a part of Tiled and no file: nothing is known of "
                "its tiles, they are read without properties and shapes",
                stacklevel=2,
            )
            tileset = {"name": source}
        elif source is not None:
            file = folder / fields.text(raw, "source", f"{where}: tileset")
            if file not in self._read:
                self._read[file] = read_document(file, "tileset", f"{where}: {file}"), f"{where}: {file}"
            tileset, own = self._read[file]
            folder = file.parent
        name = fields.text(tileset, "name", f"{own}: tileset")
        place = f"{own}: tileset {shown(name)}"
        first = fields.whole(raw, "firstgid", place, least=1)
        shared = _shared(tileset, name, place)
        size = (
            fields.number(tileset, "tilewidth", place, 0.0, least=0.0),
            fields.number(tileset, "tileheight", place, 0.0, least=0.0),
        )
        found.add(first, Tile(place, "", {}, size, (), shared))
        for raw_tile in fields.parts(tileset, "tiles", place):
            tile = fields.node(raw_tile, f"{place}, tile {shown(raw_tile)}")
            number = fields.whole(tile, "id", f"{place}, a tile", least=0)
            found.tiles[first + number] = self._tile(tile, f"{place}, tile {number}", size, shared, folder)

    def _tile(self, raw: Node, where: str, size: Point, shared: Tileset, folder: Path) -> Tile:
        group = raw.get("objectgroup")
        shapes: tuple[Object, ...] = ()
        own = tuple(
            fields.number(raw, side, where, fields.number(raw, f"image{side}", where, usual, least=0.0))
            for side, usual in zip(("width", "height"), size, strict=True)
        )
        if group is not None:
            layer = fields.node(group, f"{where}, its collision shapes")
            shapes = tuple(self.objects.objects(layer, where, folder, None))
        return Tile(
            where,
            fields.class_of(raw, where, "class", "type"),
            fields.properties(raw, where),
            (own[0], own[1]),
            shapes,
            shared,
        )


class Numbered:
    """Tiles by the numbers that a map gives them."""

    def __init__(self) -> None:
        self.tiles: dict[int, Tile] = {}
        """Those of which something is said."""
        self._firsts: list[int] = []
        self._plain: list[Tile] = []

    def add(self, first: int, plain: Tile) -> None:
        """Numbers from ``first`` on are of a tileset, of which ``plain`` is any tile."""
        at = bisect_right(self._firsts, first)
        self._firsts.insert(at, first)
        self._plain.insert(at, plain)

    def tile_of(self, number: int, where: str) -> Tile:
        """The tile that has a number."""
        if number in self.tiles:
            return self.tiles[number]
        at = bisect_right(self._firsts, number)
        if at == 0:
            warnings.warn(
                f"{where} has the tile {number}, which is in no tileset: it is read without a picture",
                stacklevel=2,
            )
            return Tile(where, "", {}, (0.0, 0.0), (), Tileset("", (0.0, 0.0), "unspecified", False))
        return self._plain[at - 1]


def _shared(tileset: Node, name: str, where: str) -> Tileset:
    raw = fields.node(tileset.get("tileoffset") or {}, f"{where}, tileoffset")
    offset = fields.number(raw, "x", where, 0.0), fields.number(raw, "y", where, 0.0)
    return Tileset(
        name,
        offset,
        fields.text(tileset, "objectalignment", where, "unspecified"),
        fields.text(tileset, "tilerendersize", where, "tile") == "grid",
    )
