"""Maps from the Tiled editor: which tiles are solid.

``.tmx`` is read through pytmx; ``.tmj``, ``.json`` and endless maps through pytiled-parser.  What is solid is
said in Tiled, by a custom property of a tile or of a whole layer, where a tile's own word wins; or here, by
the names of layers.  Only orthogonal maps have tiles that are boxes, so only those are read.
"""

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from broadphase.extras import need
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, SIDES, TOP

# The upper bits of a tile's number say how it is turned.
_NUMBER = 0x0FFFFFFF


class Level(NamedTuple):
    """What `broadphase.TileMap` is made of."""

    solid: npt.NDArray[np.bool_]
    tile_size: tuple[float, float]
    origin: tuple[float, float]
    one_way: npt.NDArray[np.uint8] | None


class _Layer(NamedTuple):
    name: str
    properties: Mapping[str, Any]
    numbers: npt.NDArray[np.int64]
    """``[row, column]``; 0 where there is no tile."""
    column: int
    row: int
    """Where it begins; layers of endless maps begin anywhere."""


class _Parsed(NamedTuple):
    tile_size: tuple[float, float]
    layers: list[_Layer]
    properties: Mapping[int, Mapping[str, Any]]
    """Of the tiles that have any, by number."""
    endless: bool


def read_level(
    path: str | PathLike[str],
    *,
    layers: Iterable[str] | None = None,
    solid: str = "solid",
    one_way: str = "one_way",
    y_up: bool = False,
) -> Level:
    """Which tiles of a map are solid; `broadphase.adapters.tiled.read` tells what the arguments mean."""
    file = Path(path)
    level = _level_of(file)
    chosen = level.layers if layers is None else _named(level.layers, layers, file)
    if layers is None and not _says(level, solid, one_way):
        raise ValueError(
            f"nothing in {file} says what is solid: give tiles or a layer the bool property {solid!r}, or "
            f"pass layers=; it has {', '.join(repr(layer.name) for layer in level.layers) or 'none'}"
        )
    left, top, right, bottom = _extent(chosen)
    cells = np.zeros((bottom - top, right - left), np.bool_)
    sides = np.zeros(cells.shape, np.uint8)
    for layer in chosen:
        rows = slice(layer.row - top, layer.row - top + layer.numbers.shape[0])
        columns = slice(layer.column - left, layer.column - left + layer.numbers.shape[1])
        for number in np.unique(layer.numbers[layer.numbers != 0]).tolist():
            here = layer.numbers == number
            words = {**layer.properties, **level.properties.get(number, {})}
            if one_way in words:
                sides[rows, columns][here] |= _bits(words[one_way])
            elif layers is not None or words.get(solid, False):
                cells[rows, columns] |= here
    if y_up:
        # An endless map turns about its zero, any other stands on it.
        cells, sides, top = cells[::-1].copy(), _upside_down(sides), -bottom if level.endless else 0
    origin = (left * level.tile_size[0], top * level.tile_size[1])
    return Level(cells, level.tile_size, origin, sides if sides.any() else None)


def _level_of(file: Path) -> _Parsed:
    if not file.is_file():
        raise FileNotFoundError(f"no Tiled map at {file}")
    readers = {".tmx": _read_tmx, ".tmj": _read_parsed, ".json": _read_parsed}
    if file.suffix.lower() not in readers:
        raise ValueError(f"{file} must end in {', '.join(readers)}")
    return readers[file.suffix.lower()](file)


def _says(level: _Parsed, solid: str, one_way: str) -> bool:
    """Whether any tile or layer has one of the two properties."""
    words = [layer.properties for layer in level.layers] + list(level.properties.values())
    return any(solid in some or one_way in some for some in words)


def _extent(layers: list[_Layer]) -> tuple[int, int, int, int]:
    """First column and row, and those behind the last."""
    return (
        min((layer.column for layer in layers), default=0),
        min((layer.row for layer in layers), default=0),
        max((layer.column + layer.numbers.shape[1] for layer in layers), default=0),
        max((layer.row + layer.numbers.shape[0] for layer in layers), default=0),
    )


def _upside_down(sides: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    flipped = sides & (LEFT | RIGHT)
    flipped[(sides & TOP) != 0] |= BOTTOM
    flipped[(sides & BOTTOM) != 0] |= TOP
    return np.ascontiguousarray(flipped[::-1])


def _named(layers: list[_Layer], names: Iterable[str], file: Path) -> list[_Layer]:
    wanted = [names] if isinstance(names, str) else list(names)
    there = {layer.name for layer in layers}
    for name in wanted:
        if name not in there:
            names_there = ", ".join(map(repr, sorted(there)))
            raise ValueError(f"{file} has no tile layer {name!r}; it has {names_there}")
    return [layer for layer in layers if layer.name in wanted]


def _bits(names: Any) -> np.uint8:
    bits = np.uint8(0)
    for name in str(names).replace(",", " ").split():
        if name not in SIDES:
            raise ValueError(f"unknown side {name!r} in the map; choose from {', '.join(SIDES)}")
        bits |= SIDES[name]
    return bits


def _check_orthogonal(orientation: str, file: Path) -> None:
    if orientation != "orthogonal":
        raise ValueError(f"{file} is {orientation}; only orthogonal maps have tiles that are boxes")


def _read_tmx(file: Path) -> _Parsed:
    if ElementTree.parse(file).getroot().get("infinite") == "1":
        return _read_parsed(file)  # pytmx does not know endless maps
    pytmx = need("pytmx", extra="tiled", purpose="reading .tmx maps")
    level = pytmx.TiledMap(str(file))
    _check_orthogonal(level.orientation, file)
    layers = [
        _Layer(layer.name, layer.properties, np.array(layer.data, np.int64), 0, 0)
        for layer in level.layers
        if isinstance(layer, pytmx.TiledTileLayer)
    ]
    properties = {number: words for number, words in level.tile_properties.items() if words}
    return _Parsed((float(level.tilewidth), float(level.tileheight)), layers, properties, False)


def _read_parsed(file: Path) -> _Parsed:
    parser = need("pytiled_parser", extra="tiled", purpose="reading .tmj, .json and endless maps")
    level = parser.parse_map(file)
    _check_orthogonal(level.orientation, file)
    properties = {
        first + number: tile.properties
        for first, tileset in level.tilesets.items()
        for number, tile in (tileset.tiles or {}).items()
        if tile.properties
    }
    size = (float(level.tile_size.width), float(level.tile_size.height))
    layers = [_tile_layer(layer) for layer in _tile_layers(level.layers, parser)]
    return _Parsed(size, layers, properties, bool(level.infinite))


def _tile_layers(layers: Iterable[Any], parser: Any) -> Iterator[Any]:
    for layer in layers:
        if isinstance(layer, parser.LayerGroup):
            yield from _tile_layers(layer.layers or [], parser)
        elif isinstance(layer, parser.TileLayer):
            yield layer


def _tile_layer(layer: Any) -> _Layer:
    chunks = [
        (int(chunk.coordinates.x), int(chunk.coordinates.y), np.array(chunk.data, np.int64) & _NUMBER)
        for chunk in layer.chunks or []
    ]
    if layer.data is not None:
        chunks.append((0, 0, np.array(layer.data, np.int64) & _NUMBER))
    left = min((column for column, _, _ in chunks), default=0)
    top = min((row for _, row, _ in chunks), default=0)
    right = max((column + data.shape[1] for column, _, data in chunks), default=0)
    bottom = max((row + data.shape[0] for _, row, data in chunks), default=0)
    numbers = np.zeros((bottom - top, right - left), np.int64)
    for column, row, data in chunks:
        numbers[row - top : row - top + data.shape[0], column - left : column - left + data.shape[1]] = data
    return _Layer(layer.name, layer.properties or {}, numbers, left, top)
