"""The parts of a map: plain values, as they stand in the file; y points down, as in Tiled."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.files.tiled.numbers import Cells

Point = tuple[float, float]
Form = Literal["box", "ellipse", "capsule", "polygon", "polyline", "point", "text", "tile"]

# The upper bits of a tile's number say how it is turned.
NUMBER = np.uint32(0x0FFFFFFF)
TURNED = np.uint32(0xF0000000)
MIRRORED_X, MIRRORED_Y, TRANSPOSED, HEX_TURN = 0x80000000, 0x40000000, 0x20000000, 0x10000000


class Tile(NamedTuple):
    """A tile of a tileset."""

    where: str
    """Its name for messages, which begins with that of the file."""
    type: str
    properties: Mapping[str, Any]
    size: Point
    """Of its picture."""
    shapes: "tuple[Object, ...]"
    """From the collision editor, seen from its upper left corner."""
    tileset: "Tileset"


class Tileset(NamedTuple):
    """What its tiles share."""

    name: str
    offset: Point
    """How far its tiles are drawn from where they are."""
    alignment: str
    """Which point of a tile object its place is; "unspecified" leaves it to the map."""
    fills_grid: bool
    """Whether its tiles are stretched to the cells of the map."""


class Object(NamedTuple):
    """An object of an object layer, or of the collision editor."""

    where: str
    id: int
    name: str
    type: str
    form: Form
    x: float
    y: float
    width: float
    height: float
    rotation: float
    """In degrees, clockwise, about ``x, y``."""
    visible: bool
    points: tuple[Point, ...]
    """Of polygons and polylines, seen from ``x, y``."""
    text: str
    properties: Mapping[str, Any]
    tile: Tile | None
    turned: int
    """The upper bits of the tile's number."""


class TileLayer(NamedTuple):
    """A tile layer."""

    where: str
    """Its name for messages, which begins with that of the file."""
    name: str
    type: str
    properties: Mapping[str, Any]
    cells: Cells
    """``[row, column]``: numbers of tiles and how these are turned; 0 where there is no tile."""
    column: int
    row: int
    """Where it begins; layers of endless maps begin anywhere."""
    offset: Point
    """In pixels, with that of the groups that it is in."""

    @property
    def numbers(self) -> npt.NDArray[np.uint32]:
        """The numbers of the tiles alone."""
        return self.cells & NUMBER


class ObjectLayer(NamedTuple):
    """An object layer."""

    where: str
    name: str
    type: str
    properties: Mapping[str, Any]
    objects: Sequence[Object]
    offset: Point


class Map(NamedTuple):
    """A map."""

    file: Path
    orientation: str
    size: tuple[int, int]
    """Columns and rows; of an endless map they say nothing."""
    tile_size: Point
    layers: list[TileLayer]
    object_layers: list[ObjectLayer]
    tiles: Mapping[int, Tile]
    """By number: those of which something is said."""
    endless: bool
    properties: Mapping[str, Any]
    stagger: tuple[str, str, int]
    """Axis, index, and the length of the side of a hexagon."""
