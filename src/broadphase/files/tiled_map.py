"""Maps from Tiled's files through pytiled-parser, as far as tiles and what is said of them go.

pytiled-parser reads images, objects and colours too, and for their sake it refuses some sound maps.  The way
out is in Tiled: change the map as the error says, or save it in the other format.

- In TMX: a layer that is moved along x alone (``offsetx`` without ``offsety``), an image layer without an
  image, an object with a width and no height, an empty layer of an endless map in CSV, tiles as XML elements,
  an object whose template is JSON.  In TMJ: an object whose template is XML.
- In both: a property of type color without a colour, a first line that is empty, an encoding other than
  UTF-8, and zstd without the package zstd.
- What leaves out fields that Tiled writes today, such as ``tiledversion`` or ``nextobjectid``: old maps, and
  maps of other programs.

In TMX it takes every bool that is not ``true`` for false.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from reprlib import repr as shown
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError
from broadphase.extras import need
from broadphase.files.tiled_errors import in_words

Numbers = npt.NDArray[np.int64]

# The upper bits of a tile's number say how it is turned.
_NUMBER = 0x0FFFFFFF
MOST_CELLS = 2**28
"""A map of more is taken for a damaged one."""
_LARGEST = 2**31 - 1  # of numbers in Tiled itself


class Layer(NamedTuple):
    """A tile layer."""

    where: str
    """Its name for messages, which begins with that of the file."""
    name: str
    properties: Mapping[str, Any]
    numbers: Numbers
    """``[row, column]``; 0 where there is no tile."""
    column: int
    row: int
    """Where it begins; layers of endless maps begin anywhere."""


class Tile(NamedTuple):
    """A tile of a tileset of which something is said."""

    where: str
    """Its name for messages, which begins with that of the file."""
    properties: Mapping[str, Any]
    shaped: bool
    """Whether it has a collision shape of its own that is not the whole tile."""


class Map(NamedTuple):
    """A map."""

    orientation: str
    tile_size: tuple[float, float]
    layers: list[Layer]
    tiles: Mapping[int, Tile]
    """By number."""
    endless: bool


def read_map(file: Path) -> Map:
    """Read a map and the tilesets that it names.

    Raises
    ------
    FileError
        It is no map, a part of it is damaged, or pytiled-parser does not read it; the message names file,
        element and value as far as they are known.
    """
    parser = need("pytiled_parser", extra="tiled", purpose="reading Tiled maps")
    with file.open("rb"):
        pass  # what cannot be opened raises OSError
    try:
        level = parser.parse_map(file, encoding="utf-8-sig")  # with or without a byte order mark
    except Exception as error:
        cause = error.__context__ if isinstance(error, parser.UnknownFormat) else None
        raise FileError(in_words(cause or error, file)) from (cause or error)
    size = level.tile_size
    width = _whole(size.width, str(file), "tilewidth", least=1)
    height = _whole(size.height, str(file), "tileheight", least=1)
    layers = [_layer(layer, level.infinite, file) for layer in _tile_layers(level.layers, parser)]
    tiles = _tiles(level.tilesets, file, parser)
    return Map(level.orientation, (float(width), float(height)), layers, tiles, bool(level.infinite))


# ---- layers


def _tile_layers(layers: Iterable[Any], parser: Any) -> Iterator[Any]:
    for layer in layers:
        if isinstance(layer, parser.LayerGroup):
            yield from _tile_layers(layer.layers or [], parser)
        elif isinstance(layer, parser.TileLayer):
            yield layer


def _layer(layer: Any, endless: bool, file: Path) -> Layer:
    where = f"{file}: layer {shown(layer.name)}"
    if not isinstance(layer.name, str):
        raise FileError(f"{where} has a name that is no text")
    chunks = [_chunk(chunk, where) for chunk in layer.chunks or []]
    if layer.data is None and not endless and not chunks:
        raise FileError(f"{where} has no 'data'")
    if layer.data is not None and not (endless and layer.data == [[]]):
        chunks.append((0, 0, _numbers(layer, where)))
    left = min((column for column, _, _ in chunks), default=0)
    top = min((row for _, row, _ in chunks), default=0)
    width = max((column + cells.shape[1] for column, _, cells in chunks), default=0) - left
    height = max((row + cells.shape[0] for _, row, cells in chunks), default=0) - top
    if width * height > MOST_CELLS:
        raise FileError(f"{where}: its chunks lie too far apart, {width} columns and {height} rows")
    numbers = np.zeros((height, width), np.int64)
    for column, row, cells in chunks:
        rows, columns = cells.shape
        numbers[row - top : row - top + rows, column - left : column - left + columns] = cells
    return Layer(where, layer.name, layer.properties or {}, numbers, left, top)


def _chunk(chunk: Any, where: str) -> tuple[int, int, Numbers]:
    place = chunk.coordinates
    return _whole(place.x, where, "x"), _whole(place.y, where, "y"), _numbers(chunk, where)


def _numbers(part: Any, where: str) -> Numbers:
    """The tiles of a layer or of one of its chunks."""
    if part.size is None:
        raise FileError(f"{where} has no 'width'")
    width = _whole(part.size.width, where, "width", least=0)
    height = _whole(part.size.height, where, "height", least=0)
    numbers = [number for row in part.data for number in row]
    if len(numbers) != width * height:
        raise FileError(f"{where} has {len(numbers)} tiles, where {width} x {height} belong")
    for number in numbers:
        if type(number) is not int or not 0 <= number < 2**32:
            raise FileError(f"{where} has {shown(number)}, where the number of a tile belongs")
    return np.array(numbers, np.int64).reshape(height, width) & _NUMBER


def _whole(value: Any, where: str, what: str, least: int = -_LARGEST) -> int:
    if type(value) is not int or not least <= value <= _LARGEST:
        belongs = f"a whole number from {least} to {_LARGEST}"
        raise FileError(f"{where} has {what} = {shown(value)}, where {belongs} belongs")
    return value


# ---- tilesets


def _tiles(tilesets: Mapping[Any, Any], file: Path, parser: Any) -> dict[int, Tile]:
    tiles = {}
    for first, tileset in tilesets.items():
        where = f"{file}: tileset {shown(tileset.name)}"
        _whole(first, where, "firstgid", least=1)
        for number, tile in (tileset.tiles or {}).items():
            _whole(number, f"{where}, a tile", "id", least=0)
            shaped = _has_own_shape(tile, tileset, parser)
            tiles[first + number] = Tile(f"{where}, tile {number}", tile.properties or {}, shaped)
    return tiles


def _has_own_shape(tile: Any, tileset: Any, parser: Any) -> bool:
    shapes = getattr(tile.objects, "tiled_objects", None) or []
    whole = ((0, 0), (tile.width or tileset.tile_width, tile.height or tileset.tile_height), 0)
    return bool(shapes) and not (
        len(shapes) == 1
        and isinstance(shapes[0], parser.tiled_object.Rectangle)
        and (shapes[0].coordinates, shapes[0].size, shapes[0].rotation) == whole
    )
