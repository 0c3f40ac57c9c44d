"""Objects, and the templates that they are made of."""

from collections.abc import Callable, Iterator
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from broadphase.errors import FileError
from broadphase.files.tiled import fields
from broadphase.files.tiled.documents import read_document
from broadphase.files.tiled.fields import Node
from broadphase.files.tiled.things import NUMBER, TURNED, Form, Object, Point, Tile

TileOf = Callable[[int, str], Tile]
"""The tile that has a number."""
_FORMS: tuple[Form, ...] = ("ellipse", "capsule", "polygon", "polyline", "point", "text")
_MOST_POINTS = 10_000_000
"""Of all objects that are read together: those that share a template of a long polygon count it each."""


class Reader:
    """Reads the objects of one map."""

    def __init__(self, file: Path, open_tileset: Callable[[Node, Path, str], TileOf]) -> None:
        self._file = file
        self._open_tileset = open_tileset
        self._templates: dict[Path, tuple[Node, TileOf | None]] = {}
        self._points = 0

    def objects(self, layer: Node, where: str, folder: Path, tile_of: TileOf | None) -> Iterator[Object]:
        """The objects of a layer; names of templates are seen from ``folder``."""
        for raw in fields.parts(layer, "objects", where):
            part = fields.node(raw, f"{where}, object {shown(raw)}")
            number = fields.whole(part, "id", f"{where}, object", default=0)
            name = fields.text(part, "name", f"{where}, object {number}", "")
            place = f"{where}, object {shown(name) if name else number}"
            source, tiles = part.get("template"), tile_of
            if source is not None:
                source = fields.text(part, "template", place)
                model, own_tiles = self._template(folder / source, place)
                part, tiles = _over(model, part, place), own_tiles if "gid" not in part else tile_of
            yield self._object(part, number, place, tiles)

    def _template(self, file: Path, where: str) -> tuple[Node, TileOf | None]:
        if file not in self._templates:
            place = f"{where}: {file}"
            document = read_document(file, "template", place)
            if "object" not in document:
                raise FileError(f"{place} has no 'object'")
            tiles = None
            if document.get("tileset") is not None:
                tiles = self._open_tileset(fields.node(document["tileset"], place), file.parent, place)
            self._templates[file] = fields.node(document["object"], place), tiles
        return self._templates[file]

    def _object(self, raw: Node, number: int, where: str, tile_of: TileOf | None) -> Object:
        form: Form = next((kind for kind in _FORMS if raw.get(kind)), "box")
        tile, turned = None, 0
        if raw.get("gid") is not None:
            form = "tile"
            gid = fields.number(raw, "gid", where, least=0.0)
            if not gid.is_integer() or gid >= 2**32 or tile_of is None:
                raise FileError(f"{where} has gid = {shown(raw['gid'])}, where the number of a tile belongs")
            turned = int(gid) & int(TURNED)
            tile = tile_of(int(gid) & int(NUMBER), where)
        usual = (0.0, 0.0) if tile is None else tile.size
        width = fields.number(raw, "width", where, usual[0], least=0.0)
        height = fields.number(raw, "height", where, usual[1], least=0.0)
        if tile is not None and tile.size == (0.0, 0.0):  # of no tileset: nobody knows the picture
            tile = tile._replace(size=(width, height))
        return Object(
            where,
            number,
            fields.text(raw, "name", where, ""),
            fields.class_of(raw, where, "class", "type"),
            form,
            fields.number(raw, "x", where),
            fields.number(raw, "y", where),
            width,
            height,
            fields.number(raw, "rotation", where, 0.0),
            fields.flag(raw, "visible", where, True),
            self._points_of(raw, form, where),
            _text(raw, where) if form == "text" else "",
            fields.properties(raw, where),
            tile,
            turned,
        )

    def _points_of(self, raw: Node, form: Form, where: str) -> tuple[Point, ...]:
        if form not in ("polygon", "polyline"):
            return ()
        points = fields.parts(raw, form, where)
        self._points += len(points)
        if self._points > _MOST_POINTS:
            raise FileError(f"{where}: there are more than {_MOST_POINTS:,} points in all polygons")
        place = f"{where}, {form}"
        nodes = [fields.node(point, place) for point in points]
        return tuple((fields.number(one, "x", place), fields.number(one, "y", place)) for one in nodes)


def _text(raw: Node, where: str) -> str:
    words = raw["text"]
    return fields.text(fields.node(words, where), "text", where, "")


def _over(model: Node, own: Node, where: str) -> Node:
    """What a template says, where the object itself says nothing else."""
    words = {one.get("name"): one for one in _named(model, where)} | {
        one.get("name"): one for one in _named(own, where)
    }
    place = {"x": 0.0, "y": 0.0} | {key: own[key] for key in ("x", "y") if key in own}
    return {**model, **own, **place, "properties": list(words.values())}


def _named(owner: Node, where: str) -> list[Any]:
    return [fields.node(one, f"{where}, property") for one in fields.parts(owner, "properties", where)]
