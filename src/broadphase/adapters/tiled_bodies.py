"""What Tiled draws, as bodies: shapes at their place, tags and rules from classes and properties."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from broadphase.errors import FileError
from broadphase.io.tiled.level import (
    Shaped,
    corner_of,
    in_cells,
    is_staggered,
    outline_of_cell,
    outlines_in_cell,
)
from broadphase.io.tiled.maps import TURNED, Map, Object, ObjectLayer, Point
from broadphase.io.tiled.outlines import Frame, Outline, moved, outlines_of
from broadphase.shapes.kinds import Box, Circle, Polygon, Shape
from broadphase.shapes.parts import convex_parts
from broadphase.shapes.rounded import Capsule
from broadphase.world.bodies import Body

_EVERY_BIT = 0xFFFFFFFF


class TiledTile(NamedTuple):
    """The ``data`` of a body that is a tile."""

    layer: str
    column: int
    row: int
    """Where it is in its map, as Tiled shows it."""
    type: str
    """Its class."""
    properties: Mapping[str, Any]
    """Of its layer and its own, which win."""


class TiledObject:
    """An object of a map, and the ``data`` of its bodies.

    Attributes
    ----------
    id : int
        Its number in the map.
    name, type : str
        ``type`` is its class, or that of its tile or its layer where it has none.
    layer : str
        The name of its layer.
    form : str
        ``"box"``, ``"ellipse"``, ``"capsule"``, ``"polygon"``, ``"polyline"``, ``"point"``, ``"text"`` or
        ``"tile"``.
    x, y : float
        Its place in the world; of a tile usually the lower left corner.
    width, height : float
        As in Tiled, before it is turned.
    rotation : float
        In degrees, from x towards y.
    points : tuple of (float, float)
        Of polygons and polylines, in the world.
    text : str
        Of texts.
    visible : bool
        Whether Tiled shows it.
    properties : mapping
        Those of its layer, of its tile and its own; what comes later wins.
    bodies : list of Body
        None for points and texts; several where it is not convex.
    """

    __slots__ = (
        "bodies", "form", "height", "id", "layer", "name", "points", "properties", "rotation", "text", "type",
        "visible", "width", "x", "y",
    )  # fmt: skip

    def __init__(self, one: Object, layer: ObjectLayer, frame: Frame) -> None:
        tile = one.tile
        self.id = one.id
        self.name = one.name
        self.type: str = one.type or (tile.type if tile else "") or layer.type
        self.layer = layer.name
        self.form = one.form
        self.x, self.y = frame.point(one.x, one.y)
        self.width, self.height = one.width, one.height
        self.rotation = one.rotation if frame.y_y > 0.0 else -one.rotation
        self.points = tuple(frame.point(one.x + x, one.y + y) for x, y in one.points)
        self.text = one.text
        self.visible = one.visible
        of_tile = tile.properties if tile else {}
        self.properties: Mapping[str, Any] = {**layer.properties, **of_tile, **one.properties}
        self.bodies: list[Body] = []

    def __repr__(self) -> str:
        words = " ".join(repr(word) for word in (self.type, self.name) if word)
        return f"<TiledObject {self.id} {self.form}{' ' * bool(words)}{words} at {self.x:g}, {self.y:g}>"


class Rules(NamedTuple):
    """What `World.add` is given beside a shape."""

    tag: frozenset[str] | None
    static: bool
    sensor: bool
    category: int
    mask: int


class NewBody(NamedTuple):
    """What is to be added to a world."""

    shape: Shape
    rules: Rules
    data: TiledObject | TiledTile


class Maker:
    """Makes what is to be added to a world."""

    def __init__(self, turn: Frame, static: bool, line_width: float) -> None:
        self._turn = turn
        """What turns all maps over, where y points up."""
        self._static = static
        self._line_width = line_width

    # ---- objects

    def objects(
        self, level: Map, place: Point, layer: ObjectLayer
    ) -> Iterator[tuple[TiledObject, Object, Frame]]:
        """The objects of a layer, and the frame that brings them into the world."""
        x, y = in_cells(level, layer.offset)
        frame = moved(x + place[0], y + place[1]).then(self._turn)
        for one in layer.objects:
            yield TiledObject(one, layer, frame), one, frame

    def of_object(self, thing: TiledObject, one: Object, frame: Frame, level: Map) -> list[NewBody]:
        """The bodies of an object."""
        words = thing.properties
        if not _flag(words, "body", True, one.where):
            return []
        if level.orientation == "isometric" and one.tile is not None:
            return []  # a picture that stands on the map: how much of the ground it takes nothing says
        rules = self._rules(thing.type, words, self._static, one.where)
        shapes = self._shapes(outlines_of(one, frame), one.where)
        return [NewBody(shape, rules, thing) for shape in shapes]

    # ---- tiles

    def of_tiles(self, shaped: Shaped) -> Iterator[NewBody]:
        """The bodies of tiles whose shape no cell can have."""
        part, tile = shaped.part, shaped.tile
        level, layer = part.level, part.layer
        own = {} if tile is None else tile.properties
        words = {**layer.properties, **own}
        kind = (tile.type if tile else "") or layer.type
        where = layer.where if tile is None else tile.where
        rules = self._rules(kind, words, True, where)
        shapes = self._shapes(_outlines(shaped, self._turn._replace(y=0.0)), where)
        x, y = in_cells(level, layer.offset)
        for column, row in (shaped.places + np.array([layer.column, layer.row])).tolist():
            corner = (
                corner_of(level, column, row)
                if is_staggered(level)
                else (
                    column * level.tile_size[0],
                    row * level.tile_size[1],
                )
            )
            at_x, at_y = corner[0] + x + part.place[0], corner[1] + y + part.place[1]
            data = TiledTile(layer.name, column, row, kind, words)
            for shape in shapes:
                to_x, to_y = shape.x + at_x, shape.y + at_y * self._turn.y_y + self._turn.y
                yield NewBody(shape.moved_to(to_x, to_y), rules, data)

    # ---- both

    def _rules(self, kind: str, words: Mapping[str, Any], static: bool, where: str) -> Rules:
        tags = {kind, *(word.strip() for word in str(words.get("tag", "")).split(","))} - {""}
        return Rules(
            frozenset(tags) or None,
            _flag(words, "static", static, where),
            _flag(words, "sensor", False, where),
            _bits(words, "category", 1, where),
            _bits(words, "mask", _EVERY_BIT, where),
        )

    def _shapes(self, outlines: Iterable[Outline], where: str) -> list[Shape]:
        made: list[Shape] = []
        for outline in outlines:
            try:
                made += self._shapes_of(outline)
            except ValueError as error:
                warnings.warn(f"{where} becomes no body: {error}", stacklevel=5)
        return made

    def _shapes_of(self, outline: Outline) -> list[Shape]:
        points = outline.points
        match outline.kind:
            case "box":
                return [Box(*points[0], *points[1])]
            case "circle":
                return [Circle(*points[0], outline.radius)]
            case "capsule":
                return [Capsule(*points[0], *points[1], outline.radius)]
            case "line":
                width = 0.5 * self._line_width
                return [Capsule(*one, *other, width) for one, other in pairwise(points)]
        return [Polygon(part) for part in convex_parts(points)]


def _outlines(shaped: Shaped, frame: Frame) -> list[Outline]:
    """Seen from the upper left corner of the cell."""
    level = shaped.part.level
    if shaped.tile is not None and shaped.tile.shapes:
        return outlines_in_cell(level, shaped.tile, shaped.number & int(TURNED), frame)
    return [Outline("polygon", tuple(frame.point(*corner) for corner in outline_of_cell(level)))]


def _flag(words: Mapping[str, Any], key: str, usual: bool, where: str) -> bool:
    value = words.get(key, usual)
    if not isinstance(value, bool):
        raise FileError(f"{where} has {key} = {value!r}; make it a property of type bool")
    return value


def _bits(words: Mapping[str, Any], key: str, usual: int, where: str) -> int:
    value = words.get(key, usual)
    if type(value) is not int or not 0 <= value <= _EVERY_BIT:
        raise FileError(f"{where} has {key} = {value!r}; make it a property of type int, a set of 32 bits")
    return value
