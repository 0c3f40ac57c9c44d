"""Maps: layers of tiles and of objects, in groups or not, with the tilesets that they name.

What is drawn only (images, colours, animations, terrain) is passed over, and so is whatever Tiled may add.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from reprlib import repr as shown
from typing import Any

import numpy as np

from broadphase.errors import FileError
from broadphase.files.tiled import fields
from broadphase.files.tiled.documents import read_document
from broadphase.files.tiled.fields import Node
from broadphase.files.tiled.numbers import Budget, Cells, unpack
from broadphase.files.tiled.things import Map, ObjectLayer, Point, TileLayer
from broadphase.files.tiled.tilesets import Numbered, Tilesets

ORIENTATIONS = ("orthogonal", "isometric", "staggered", "hexagonal")


def read_map(file: Path, *, named: str = "", budget: Budget | None = None) -> Map:
    """Read a map and the tilesets and templates that it names.

    Parameters
    ----------
    file : path
    named : str
        Its name for messages, where that is not the file alone.
    budget : Budget, optional
        How many tiles there may be in this map and others that are read together with it.

    Raises
    ------
    FileError
        It is no map, or a part of it is damaged; the message names file, element and value.
    """
    where = named or str(file)
    try:
        return _map(read_document(file, "map", where), file, where, budget or Budget())
    except RecursionError as error:
        raise FileError(f"{where} is nested too deeply") from error


def _map(level: Node, file: Path, where: str, budget: Budget) -> Map:
    orientation = fields.text(level, "orientation", where)
    if orientation not in ORIENTATIONS:
        raise FileError(f"{where} has the unknown orientation {shown(orientation)}")
    width = fields.whole(level, "tilewidth", where, least=1)
    height = fields.whole(level, "tileheight", where, least=1)
    tilesets = Tilesets(file)
    numbered = tilesets.add_all(fields.parts(level, "tilesets", where), file.parent, where)
    endless = fields.flag(level, "infinite", where, False)
    found = _Layers(tilesets, numbered, file.parent, endless, budget)
    for layer in fields.parts(level, "layers", where):
        found.add(layer, where, (0.0, 0.0), first=True)
    return Map(
        file,
        orientation,
        (fields.whole(level, "width", where, least=0), fields.whole(level, "height", where, least=0)),
        (float(width), float(height)),
        found.tiles,
        found.objects,
        numbered.tiles,
        endless,
        fields.properties(level, where),
        _stagger(level, orientation, where),
    )


def _stagger(level: Node, orientation: str, where: str) -> tuple[str, str, int]:
    axis = fields.text(level, "staggeraxis", where, "y")
    index = fields.text(level, "staggerindex", where, "odd")
    if axis not in ("x", "y") or index not in ("odd", "even"):
        raise FileError(f"{where} is staggered by {shown(axis)}, {shown(index)}; that is x or y, odd or even")
    side = fields.whole(level, "hexsidelength", where, 0, 0) if orientation == "hexagonal" else 0
    return axis, index, side


# ---- layers


class _Layers:
    """The layers of a map, out of their groups."""

    def __init__(
        self, tilesets: Tilesets, numbered: Numbered, folder: Path, endless: bool, budget: Budget
    ) -> None:
        self.tiles: list[TileLayer] = []
        self.objects: list[ObjectLayer] = []
        self._tilesets = tilesets
        self._numbered = numbered
        self._folder = folder
        self._endless = endless
        self._budget = budget

    def add(self, raw: Any, where: str, offset: Point, *, first: bool = False) -> None:
        """A layer, and those in it; ``offset`` is that of the group that it is in."""
        separator = ": " if first else ", "
        title = raw.get("name") if isinstance(raw, dict) else raw
        place = f"{where}{separator}layer {shown(title)}"
        layer = fields.node(raw, place)
        if not isinstance(title, str):
            raise FileError(f"{place} has a name that is no text")
        x = offset[0] + fields.number(layer, "offsetx", place, 0.0)
        y = offset[1] + fields.number(layer, "offsety", place, 0.0)
        kind = fields.text(layer, "type", place)
        if kind == "group":
            for inner in fields.parts(layer, "layers", place):
                self.add(inner, place, (x, y))
        elif kind == "tilelayer":
            self.tiles.append(self._tile_layer(layer, title, place, (x, y)))
        elif kind == "objectgroup":
            objects = self._tilesets.objects.objects(layer, place, self._folder, self._numbered.tile_of)
            self.objects.append(ObjectLayer(*_said(layer, title, place), list(objects), (x, y)))
        elif kind != "imagelayer":
            raise FileError(f"{place} has the unknown type {shown(kind)}")

    def _tile_layer(self, layer: Node, name: str, where: str, offset: Point) -> TileLayer:
        chunks = list(self._chunks(layer, where))
        left = min((column for column, _, _ in chunks), default=0)
        top = min((row for _, row, _ in chunks), default=0)
        width = max((column + cells.shape[1] for column, _, cells in chunks), default=0) - left
        height = max((row + cells.shape[0] for _, row, cells in chunks), default=0) - top
        if len(chunks) == 1:
            cells = chunks[0][2]
        else:
            self._budget.take(width, height, f"{where}: its chunks lie too far apart")
            cells = np.zeros((height, width), np.uint32)
            for column, row, part in chunks:
                rows, columns = part.shape
                cells[row - top : row - top + rows, column - left : column - left + columns] = part
        return TileLayer(*_said(layer, name, where), cells, left, top, offset)

    def _chunks(self, layer: Node, where: str) -> Iterator[tuple[int, int, Cells]]:
        chunks = fields.parts(layer, "chunks", where)
        for raw in chunks:
            chunk = fields.node(raw, f"{where}, a chunk")
            place = fields.whole(chunk, "x", where), fields.whole(chunk, "y", where)
            yield *place, self._cells(chunk, layer, f"{where}, the chunk at {place[0]}, {place[1]}")
        if not chunks and not (self._endless and layer.get("data") in (None, [])) and not self._bare(layer):
            yield 0, 0, self._cells(layer, layer, where)

    def _bare(self, layer: Node) -> bool:
        """Whether this is a layer of an endless map that has no tile at all."""
        data = layer.get("data")
        return self._endless and isinstance(data, str) and not data.strip()

    def _cells(self, part: Node, layer: Node, where: str) -> Cells:
        width = fields.whole(part, "width", where, least=0)
        height = fields.whole(part, "height", where, least=0)
        self._budget.take(width, height, f"{where} is too large")
        return unpack(
            part.get("data"), (width, height), layer.get("encoding"), layer.get("compression"), where
        )


def _said(layer: Node, name: str, where: str) -> tuple[str, str, str, Mapping[str, Any]]:
    return where, name, fields.class_of(layer, where, "class"), fields.properties(layer, where)
