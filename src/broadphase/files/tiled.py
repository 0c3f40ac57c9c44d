"""Maps from the Tiled editor: which tiles are solid; `tiled_map` reads them and says what is refused.

What is solid is said in Tiled, by a custom property of a tile or of a whole layer, where a tile's own word
wins; or here, by the names of layers.  Only orthogonal maps have tiles that are boxes, so only those are
read.  A solid tile is its whole cell: shapes from Tiled's collision editor are not read, see ``shapes``.
"""

import warnings
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError
from broadphase.files.tiled_map import MOST_CELLS, Layer, Map, Tile, read_map
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, SIDES, TOP

_PLAIN = Tile("", {}, False)
_ENDINGS = (".tmx", ".tmj", ".json")


class Level(NamedTuple):
    """What `broadphase.TileMap` is made of."""

    solid: npt.NDArray[np.bool_]
    tile_size: tuple[float, float]
    origin: tuple[float, float]
    one_way: npt.NDArray[np.uint8] | None


def read_level(
    path: str | PathLike[str],
    *,
    layers: Iterable[str] | None = None,
    solid: str = "solid",
    one_way: str = "one_way",
    y_up: bool = False,
    shapes: Literal["warn", "fill", "refuse"] = "warn",
) -> Level:
    """Which tiles of a map are solid; `broadphase.adapters.tiled.read` tells what the arguments mean."""
    if shapes not in ("warn", "fill", "refuse"):
        raise ValueError(f"shapes must be 'warn', 'fill' or 'refuse'; got {shapes!r}")
    file = Path(path)
    level = _level_of(file)
    chosen = level.layers if layers is None else _named(level.layers, layers, file)
    if layers is None and not _says(level, solid, one_way):
        raise ValueError(
            f"nothing in {file} says what is solid: give tiles or a layer the bool property {solid!r}, or "
            f"pass layers=; it has {', '.join(repr(layer.name) for layer in level.layers) or 'none'}"
            + ("; the shapes of its collision editor are not read" if _any_shape(level) else "")
        )
    left, top, right, bottom = _extent(chosen, file)
    cells = np.zeros((bottom - top, right - left), np.bool_)
    sides = np.zeros(cells.shape, np.uint8)
    shaped: dict[str, None] = {}
    for layer in chosen:
        rows = slice(layer.row - top, layer.row - top + layer.numbers.shape[0])
        columns = slice(layer.column - left, layer.column - left + layer.numbers.shape[1])
        for number in np.unique(layer.numbers[layer.numbers != 0]).tolist():
            here = layer.numbers == number
            tile = level.tiles.get(number, _PLAIN)
            where = tile if one_way in tile.properties or solid in tile.properties else layer
            words = {**layer.properties, **tile.properties}
            if one_way in words:
                sides[rows, columns][here] |= _bits(words[one_way], where.where)
            elif layers is not None or _is_solid(words, solid, where.where):
                cells[rows, columns] |= here
            else:
                continue
            if tile.shaped:
                shaped[tile.where] = None
    _tell_of_shapes(list(shaped), shapes)
    if y_up:
        # An endless map turns about its zero, any other stands on it.
        cells, sides, top = cells[::-1].copy(), _upside_down(sides), -bottom if level.endless else 0
    origin = (left * level.tile_size[0], top * level.tile_size[1])
    return Level(cells, level.tile_size, origin, sides if sides.any() else None)


def _level_of(file: Path) -> Map:
    if not file.is_file():
        raise FileNotFoundError(f"no Tiled map at {file}")
    if file.suffix.lower() not in _ENDINGS:
        raise ValueError(f"{file} must end in {', '.join(_ENDINGS)}")
    level = read_map(file)
    if level.orientation != "orthogonal":
        raise FileError(f"{file} is {level.orientation}; only orthogonal maps have tiles that are boxes")
    return level


def _says(level: Map, solid: str, one_way: str) -> bool:
    """Whether any tile or layer has one of the two properties."""
    words = [layer.properties for layer in level.layers] + [tile.properties for tile in level.tiles.values()]
    return any(solid in some or one_way in some for some in words)


def _extent(layers: list[Layer], file: Path) -> tuple[int, int, int, int]:
    """First column and row, and those behind the last."""
    left = min((layer.column for layer in layers), default=0)
    top = min((layer.row for layer in layers), default=0)
    right = max((layer.column + layer.numbers.shape[1] for layer in layers), default=0)
    bottom = max((layer.row + layer.numbers.shape[0] for layer in layers), default=0)
    if (right - left) * (bottom - top) > MOST_CELLS:
        raise FileError(
            f"{file}: its layers lie too far apart, {right - left} columns and {bottom - top} rows"
        )
    return left, top, right, bottom


def _upside_down(sides: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    flipped = sides & (LEFT | RIGHT)
    flipped[(sides & TOP) != 0] |= BOTTOM
    flipped[(sides & BOTTOM) != 0] |= TOP
    return np.ascontiguousarray(flipped[::-1])


def _named(layers: list[Layer], names: Iterable[str], file: Path) -> list[Layer]:
    wanted = [names] if isinstance(names, str) else list(names)
    there = {layer.name for layer in layers}
    for name in wanted:
        if name not in there:
            names_there = ", ".join(map(repr, sorted(there)))
            raise ValueError(f"{file} has no tile layer {name!r}; it has {names_there}")
    return [layer for layer in layers if layer.name in wanted]


def _bits(names: Any, where: str) -> np.uint8:
    bits = np.uint8(0)
    for name in str(names).replace(",", " ").split():
        if name not in SIDES:
            raise FileError(f"{where} has the unknown side {name!r}; choose from {', '.join(SIDES)}")
        bits |= SIDES[name]
    return bits


def _is_solid(words: Mapping[str, Any], solid: str, where: str) -> bool:
    value = words.get(solid, False)
    if not isinstance(value, bool | int | float):
        raise FileError(f"{where} has {solid} = {value!r}; make it a property of type bool")
    return bool(value)


def _any_shape(level: Map) -> bool:
    return any(tile.shaped for tile in level.tiles.values())


def _tell_of_shapes(shaped: list[str], shapes: str) -> None:
    if not shaped or shapes == "fill":
        return
    others = f" and {len(shaped) - 1} more tiles have" if len(shaped) > 1 else " has"
    if shapes == "refuse":
        raise ValueError(f"{shaped[0]}{others} a collision shape that is not the whole tile")
    warnings.warn(
        f"{shaped[0]}{others} a collision shape of its own, which is not read: the whole tile blocks; "
        'shapes="fill" says that this is meant',
        stacklevel=4,
    )
