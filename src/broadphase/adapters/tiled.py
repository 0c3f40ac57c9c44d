"""Maps from the Tiled editor as tile maps; `broadphase.files.tiled` reads them."""

from collections.abc import Iterable
from os import PathLike
from typing import Literal, TypeVar

from broadphase.world.tiles import TileMap

Map = TypeVar("Map", bound=TileMap)


def read(
    path: str | PathLike[str],
    make: type[Map],
    *,
    layers: Iterable[str] | None = None,
    solid: str = "solid",
    one_way: str = "one_way",
    y_up: bool = False,
    shapes: Literal["warn", "fill", "refuse"] = "warn",
) -> Map:
    """Read a Tiled map; `TileMap.from_tiled` is the usual way to call it.

    Parameters
    ----------
    path : str or path
        A ``.tmx``, ``.tmj`` or ``.json`` file.
    make : type
        `TileMap`, or a class of yours made from it.
    layers : iterable of str, optional
        Names of tile layers; every tile in them is solid, and no other layer is looked at.
    solid : str
        Without ``layers``: the name of a bool property that makes a tile, or all tiles of a layer, solid.
    one_way : str
        The name of a property of a tile, or of a layer, that names the sides on which it blocks, such as
        ``"top"`` or ``"left, right"``; it wins over ``solid``.
    y_up : bool
        Turn the map over, for engines whose y points up; the top of a tile in Tiled is then the side of
        the larger y.
    shapes : {"warn", "fill", "refuse"}
        What to do where a tile that blocks has a collision shape of its own which is not the whole tile: a
        slope, half a tile.  It becomes a whole cell, with a warning that names it or without a word, or the
        map is refused.

    Returns
    -------
    TileMap
        Its origin is where the map begins in Tiled: 0, 0 but for endless maps.  Turned over, an endless
        map keeps its zero, and any other stands on it.

    Raises
    ------
    MissingExtraError
        pytiled-parser is not installed.
    FileNotFoundError
        There is no such file.
    FileError
        A ``ValueError``.  It is no Tiled map, a part of it or of its tilesets is damaged, the map is not
        orthogonal, or a side has another name; the message names file, element and value as far as they
        are known.
    ValueError
        The ending is another, a layer is not there, nothing in the map says what is solid, or a tile has
        a shape that was to be refused.

    Warns
    -----
    UserWarning
        Tiles with shapes of their own become whole cells.
    """
    return make.from_tiled(path, layers=layers, solid=solid, one_way=one_way, y_up=y_up, shapes=shapes)
