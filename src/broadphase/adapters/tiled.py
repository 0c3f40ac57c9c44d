"""Maps from the Tiled editor, as tile maps or as whole worlds; `broadphase.io.tiled` reads them."""

import warnings
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from broadphase.adapters.tiled_bodies import Maker, NewBody, TiledObject, TiledTile
from broadphase.io.tiled.level import (
    ENDINGS,
    Ground,
    Part,
    blocking_rules,
    cells_of,
    check_file,
    ground_of,
    height_of,
    named,
    warn_of_shapes,
)
from broadphase.io.tiled.maps import Placed, read_map, read_world
from broadphase.io.tiled.outlines import Frame
from broadphase.shapes.check import extent
from broadphase.world.bodies import Body
from broadphase.world.tiles import TileMap
from broadphase.world.world import World

__all__ = ["Loaded", "TiledMap", "TiledObject", "TiledTile", "load", "read"]

Map = TypeVar("Map", bound=TileMap)
_WORLD = ".world"


class TiledMap(NamedTuple):
    """A map that was read."""

    file: Path
    x: float
    y: float
    """Its upper left corner as Tiled shows it: where y points up that is the corner of the largest y."""
    orientation: str
    properties: dict[str, Any]


class Loaded(NamedTuple):
    """What `load` has put into a world."""

    world: World
    tiles: TileMap | None
    """The world's tile map; None where no tile blocks as a cell."""
    bodies: list[Body]
    """All that were made: of tiles, then of objects in their order."""
    objects: list[TiledObject]
    """All objects, also those that are no bodies: points to start from, texts."""
    maps: list[TiledMap]
    """One, or those of a ``.world``."""


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
    """Read the tiles of a Tiled map; `TileMap.from_tiled` is the usual way to call it.

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
        Where no tile and no layer has it, those tiles are solid that have collision shapes.
    one_way : str
        The name of a property of a tile, or of a layer, that names the sides on which it blocks, such as
        ``"top"`` or ``"left, right"``; it wins over ``solid``.  The sides of a tile turn with it.
    y_up : bool
        Turn the map over, for engines whose y points up; the top of a tile in Tiled is then the side of
        the larger y.
    shapes : {"warn", "fill", "refuse"}
        A tile whose collision shape fills its cell from the floor or the ceiling up to a line is a slope,
        see `TileMap.set_slope`.  What to do where it has a shape that no cell can have: it blocks as a whole
        cell, with a warning that names it; ``"fill"`` makes whole cells of all, slopes too, without a word;
        or the map is refused.

    Returns
    -------
    TileMap
        Its origin is where the map begins in Tiled: 0, 0 but for endless maps, and for layers that are moved.
        Turned over, an endless map keeps its zero, and any other stands on it.  An isometric map is flat,
        as its objects are: squares as high as its tiles.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FileError
        A ``ValueError``.  It is no Tiled map, a part of it or of its tilesets is damaged, its tiles are
        staggered or hexagons, or a side has another name; the message names file, element and value.
    MissingExtraError
        It is packed with zstd, and zstandard is not installed.
    ValueError
        The ending is another, a layer is not there, nothing in the map says what is solid, or a tile has
        a shape that was to be refused.

    Warns
    -----
    UserWarning
        Tiles with shapes that no cell can have become whole cells; a tileset is a part of Tiled itself.
    """
    return make.from_tiled(path, layers=layers, solid=solid, one_way=one_way, y_up=y_up, shapes=shapes)


def load(
    path: str | PathLike[str],
    world: World | None = None,
    *,
    layers: Iterable[str] | None = None,
    objects: Iterable[str] | None = None,
    solid: str = "solid",
    one_way: str = "one_way",
    y_up: bool = False,
    static: bool = True,
    line_width: float = 1.0,
) -> Loaded:
    """Put a map of Tiled, or a world of maps, into a world: cells, slopes, shapes of tiles and objects.

    Tiles that block become cells of ``world.tiles``, those whose collision shapes no cell can have become
    static bodies, and so do all that block in staggered and hexagonal maps.  Objects become bodies where
    Tiled shows them, turned and mirrored: rectangles, ellipses (a circle, or a polygon of 32 corners on it),
    capsules, polygons (several bodies where they are not convex), lines (a capsule for each piece) and tiles
    (their collision shapes, or the whole picture).  Points and texts are in ``objects`` only.

    A body has its object's class as tag, and those that a property ``tag`` names, with commas between.
    The properties ``static``, ``sensor`` (bool), ``category`` and ``mask`` (int) are those of `World.add`;
    ``body``, where it is false, says that no body is to be made.  A layer's properties are good for all in it
    that say nothing else themselves.

    Parameters
    ----------
    path : str or path
        A ``.tmx``, ``.tmj`` or ``.json`` file, or a ``.world``.
    world : World, optional
        A new one if not given; it must have no tile map where tiles of this map block.
    layers, solid, one_way
        Which tiles block, see `read`; nothing needs to say it.
    objects : iterable of str, optional
        Names of object layers of which bodies are made; without, of all.
    y_up : bool
        Turn all over, for engines whose y points up; a world of maps keeps its zero.
    static : bool
        Whether objects are static that do not say it themselves.
    line_width : float
        Of the capsules that lines become.

    Returns
    -------
    Loaded
        ``world, tiles, bodies, objects, maps``.  The ``data`` of a body is its `TiledObject` or `TiledTile`.

    Raises
    ------
    FileError, FileNotFoundError, MissingExtraError, ValueError
        As of `read`; a property is of another type; maps of a world have tiles on no common grid.  Nothing
        was added.

    Warns
    -----
    UserWarning
        Nothing in the map says what is solid, so that it blocks nothing though it has tiles; an object has a
        tile that is in no tileset; a tileset is a part of Tiled itself; a polygon crosses itself, so that it
        is no body; shapes of one-way tiles, and of tiles of isometric maps, are taken for whole cells.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> level = '''<map orientation="orthogonal" width="4" height="2" tilewidth="16" tileheight="16">
    ...  <tileset firstgid="1" name="ground" tilewidth="16" tileheight="16"/>
    ...  <layer name="floor" width="4" height="2">
    ...   <properties><property name="solid" type="bool" value="true"/></properties>
    ...   <data encoding="csv">0,0,0,0, 1,1,1,1</data>
    ...  </layer>
    ...  <objectgroup name="things">
    ...   <object id="1" type="coin" x="32" y="4" width="8" height="8">
    ...    <properties><property name="sensor" type="bool" value="true"/></properties><ellipse/>
    ...   </object>
    ...   <object id="2" type="start" x="8" y="8"><point/></object>
    ...  </objectgroup>
    ... </map>'''
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "level.tmx").write_text(level)
    ...     loaded = load(Path(folder, "level.tmx"))
    >>> loaded.world
    <World of 1 bodies, <TileMap of 4 x 2 tiles of 16 x 16 at (0.0, 0.0)>>
    >>> loaded.bodies[0]
    <Body 0 'coin': Circle(x=36.0, y=8.0, radius=4.0)>
    >>> loaded.objects[1]
    <TiledObject 2 point 'start' at 8, 8>
    """
    width = extent(line_width, "line_width")
    if not width:
        raise ValueError("line_width = 0; a line needs a width to be a body")
    file = Path(path)
    check_file(file, (*ENDINGS, _WORLD))
    if file.suffix.lower() == _WORLD:
        placed, height = read_world(file), 0.0
    else:
        placed = [Placed(read_map(file), (0.0, 0.0))]
        height = 0.0 if placed[0].level.endless else height_of(placed[0].level)
    turn = Frame(y_y=-1.0, y=height) if y_up else Frame()
    maker = Maker(turn, static, width)
    parts = [Part(one.level, layer, one.place) for one in placed for layer in one.level.layers]
    parts = named(parts, layers, str(file))
    words = blocking_rules(parts, solid, one_way, layers is not None)
    ground = None if words is None else ground_of(parts, words, str(file))
    new, told = _of_tiles(ground, maker)
    tiles = None
    if ground is not None and (ground.solid.any() or ground.one_way.any() or ground.slopes):
        tiles = cells_of(ground, y_up, height).into(TileMap)
    found, of_objects = _of_objects(placed, maker, objects, str(file))
    blocks = tiles is not None or not all(one.rules.sensor for one in new + of_objects)
    if words is None and not blocks and any(part.layer.cells.any() for part in parts):
        _tell_of_nothing(parts, solid, str(file))
    return _put(world or World(), tiles, new + of_objects, found, _maps(placed, turn), told)


def _tell_of_nothing(parts: list[Part], solid: str, where: str) -> None:
    names = ", ".join(dict.fromkeys(repr(part.layer.name) for part in parts))
    warnings.warn(
        f"{where} blocks nothing: nothing in it says what is solid; name the tile layers that block in "
        f"layers= (it has {names}), or give tiles or a layer the bool property {solid!r} in Tiled",
        stacklevel=3,
    )


def _maps(placed: list[Placed], turn: Frame) -> list[TiledMap]:
    return [
        TiledMap(level.file, *turn.point(*place), level.orientation, dict(level.properties))
        for level, place in placed
    ]


def _of_tiles(ground: Ground | None, maker: Maker) -> tuple[list[NewBody], list[str]]:
    """The bodies of tiles, and tiles whose shapes are not followed."""
    if ground is None:
        return [], []
    new: list[NewBody] = []
    told = list(ground.ignored)
    for shaped in ground.shaped:
        if shaped.part.level.orientation == "isometric" and shaped.tile is not None:
            columns, rows = ground.cells_of(shaped).T
            ground.solid[rows, columns] = True
            told.append(shaped.tile.where)
        else:
            new += maker.of_tiles(shaped)
    return new, told


def _of_objects(
    placed: list[Placed], maker: Maker, names: Iterable[str] | None, where: str
) -> tuple[list[TiledObject], list[NewBody]]:
    layers = [(one, layer) for one in placed for layer in one.level.object_layers]
    there = sorted({layer.name for _, layer in layers})
    wanted = there if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in there:
            names_there = ", ".join(map(repr, there)) or "none"
            raise ValueError(f"{where} has no object layer {name!r}; it has {names_there}")
    found: list[TiledObject] = []
    new: list[NewBody] = []
    for (level, place), layer in layers:
        for thing, one, frame in maker.objects(level, place, layer):
            found.append(thing)
            if layer.name in wanted:
                new += maker.of_object(thing, one, frame, level)
    return found, new


def _put(
    world: World,
    tiles: TileMap | None,
    new: list[NewBody],
    objects: list[TiledObject],
    maps: list[TiledMap],
    told: list[str],
) -> Loaded:
    if tiles is not None:
        if world.tiles is not None:
            raise ValueError("the world has a tile map; load the map into a world without, or name no layer")
        world.tiles = tiles
    bodies = []
    for one in new:
        body = world.add(one.shape, **one.rules._asdict(), data=one.data)
        bodies.append(body)
        if isinstance(one.data, TiledObject):
            one.data.bodies.append(body)
    warn_of_shapes(told, "warn", stacklevel=4)
    return Loaded(world, tiles, bodies, objects, maps)
