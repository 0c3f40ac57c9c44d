"""A Tiled map as the cells of a tile map; `ground` finds them."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError
from broadphase.files.tiled.ground import Ground, Part, Slope, ground_of, swapped, words_of
from broadphase.files.tiled.lattice import height_of, is_staggered
from broadphase.files.tiled.maps import read_map
from broadphase.kernels.tiles.grid import BOTTOM, TOP

ENDINGS = (".tmx", ".tmj", ".json")
ON_SHAPES = ("warn", "fill", "refuse")


class Level(NamedTuple):
    """What `broadphase.TileMap` is made of."""

    solid: npt.NDArray[np.bool_]
    tile_size: tuple[float, float]
    origin: tuple[float, float]
    one_way: npt.NDArray[np.uint8] | None
    slopes: dict[tuple[int, int], Slope]
    """By column and row."""

    def into(self, make: Callable[..., Any]) -> Any:
        """The tile map; ``make`` is its class, which stands above this."""
        tiles = make(self.solid, self.tile_size, self.origin, one_way=self.one_way)
        for (column, row), slope in self.slopes.items():
            tiles.set_slope(column, row, slope.left, slope.right, base=slope.base)
        return tiles


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
    if shapes not in ON_SHAPES:
        raise ValueError(f"shapes must be 'warn', 'fill' or 'refuse'; got {shapes!r}")
    file = Path(path)
    check_file(file, ENDINGS)
    level = read_map(file)
    if is_staggered(level):
        raise FileError(
            f"{file} is {level.orientation}, so its tiles are no grid; broadphase.adapters.tiled.load makes "
            "bodies of them"
        )
    parts = named([Part(level, layer, (0.0, 0.0)) for layer in level.layers], layers, str(file))
    words = words_of(parts, solid, one_way, layers is not None)
    if words is None:
        raise ValueError(
            f"nothing in {file} says what is solid: give tiles or a layer the bool property {solid!r}, or "
            f"pass layers=; it has {', '.join(repr(layer.name) for layer in level.layers) or 'none'}"
        )
    ground = ground_of(parts, words, str(file))
    if shapes == "fill":
        ground = _filled(ground)
    tell_of_shapes([one.tile.where for one in ground.shaped if one.tile] + ground.told, shapes)
    for shaped in ground.shaped:
        columns, rows = ground.cells_of(shaped).T
        ground.solid[rows, columns] = True
    return cells_of(ground, y_up, 0.0 if level.endless else height_of(level))


def check_file(file: Path, endings: Sequence[str]) -> None:
    """Raise where there is no file, or none with these endings."""
    if not file.is_file():
        raise FileNotFoundError(f"no Tiled map at {file}")
    if file.suffix.lower() in (".ldtk", ".ldtkl"):
        raise FileError(
            f"{file} is a file of LDtk, which is not read; in LDtk choose Project settings > Tiled export "
            "and save, then load the .tmx files that it writes beside the project, with layers="
        )
    if file.suffix.lower() not in endings:
        raise ValueError(f"{file} must end in {', '.join(endings)}")


def named(parts: list[Part], names: Iterable[str] | None, where: str) -> list[Part]:
    """Those layers that have one of these names; all without names."""
    if names is None:
        return parts
    wanted = [names] if isinstance(names, str) else list(names)
    there = {part.layer.name for part in parts}
    for name in wanted:
        if name not in there:
            names_there = ", ".join(map(repr, sorted(there))) or "none"
            raise ValueError(f"{where} has no tile layer {name!r}; it has {names_there}")
    return [part for part in parts if part.layer.name in wanted]


def cells_of(ground: Ground, y_up: bool, height: float) -> Level:
    """The cells, turned over where y is to point up: about zero and then moved by ``height``."""
    solid, sides, (x, y) = ground.solid, ground.one_way, ground.origin
    slopes = ground.slopes
    if y_up:
        rows = len(solid)
        solid = solid[::-1].copy()
        sides = np.ascontiguousarray(swapped(sides, [(TOP, BOTTOM)])[::-1])
        y = height - (y + rows * ground.cell[1])
        slopes = {
            (column, rows - 1 - row): slope._replace(base="top" if slope.base == "bottom" else "bottom")
            for (column, row), slope in slopes.items()
        }
    return Level(solid, ground.cell, (x, y), sides if sides.any() else None, slopes)


def _filled(ground: Ground) -> Ground:
    """With whole cells where there are shapes, without a word."""
    for column, row in ground.slopes:
        ground.solid[row, column] = True
    for shaped in ground.shaped:
        columns, rows = ground.cells_of(shaped).T
        ground.solid[rows, columns] = True
    return ground._replace(slopes={}, shaped=[], told=[])


def tell_of_shapes(places: Sequence[str], shapes: str, stacklevel: int = 4) -> None:
    """Warn of tiles whose shapes are not followed, or refuse them."""
    shaped = list(dict.fromkeys(places))
    if not shaped:
        return
    others = f" and {len(shaped) - 1} more tiles have" if len(shaped) > 1 else " has"
    if shapes == "refuse":
        raise ValueError(f"{shaped[0]}{others} a collision shape that no cell can have")
    warnings.warn(
        f"{shaped[0]}{others} a collision shape that no cell can have: the whole tile blocks; "
        'shapes="fill" says that this is meant, broadphase.adapters.tiled.load makes bodies of such shapes',
        stacklevel=stacklevel,
    )
