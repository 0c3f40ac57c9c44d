"""Maps of the Tiled editor as tile maps or as bodies of a world; `broadphase.io.tiled` reads the files."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from broadphase.errors import FileError
from broadphase.geometry.shapes import Box, Capsule, Circle, Polygon, Shape, extent
from broadphase.io.tiled.documents import known_names
from broadphase.io.tiled.level import (
    ENDINGS,
    BlockingRules,
    Frame,
    Ground,
    Outline,
    Part,
    Shaped,
    blocking_rules,
    check_file,
    corner_of,
    ground_of,
    height_of,
    in_cells,
    is_staggered,
    moved,
    named,
    outline_of_cell,
    outlines_in_cell,
    outlines_of,
    tags_of,
    tiles_of,
    warn_of_shapes,
)
from broadphase.io.tiled.maps import TURNED, Object, ObjectLayer, Placed, read_map, read_world
from broadphase.io.tiled.maps import Map as Level
from broadphase.world.bodies import Body
from broadphase.world.tiles import TileMap
from broadphase.world.world import World

# ---- bodies of tiles and objects

__all__ = ["Loaded", "TiledMap", "TiledObject", "TiledTile", "load", "read"]

Map = TypeVar("Map", bound=TileMap)
_WORLD = ".world"
_EVERY_BIT = 0xFFFFFFFF


class TiledTile(NamedTuple):
    """The ``data`` of a body that was made of a tile."""

    layer: str
    column: int
    row: int
    """Its cell in the map, as Tiled shows it."""
    type: str
    """Its class."""
    properties: Mapping[str, Any]
    """Those of its layer and its own; its own win."""


class TiledObject:
    """An object of a map: the ``data`` of its bodies.

    Attributes
    ----------
    id : int
        Its number in the map.
    name, type : str
        ``type`` is its class, or that of its tile or its layer if it has none.
    layer : str
        The name of its layer.
    form : str
        ``"box"``, ``"ellipse"``, ``"capsule"``, ``"polygon"``, ``"polyline"``, ``"point"``, ``"text"`` or
        ``"tile"``.
    x, y : float
        Its position in the world; for a tile usually the lower left corner.
    width, height : float
        As in Tiled, before rotation.
    rotation : float
        In degrees, from x towards y.
    points : tuple of (float, float)
        The corners of a polygon or polyline, in the world.
    text : str
        The text of a text object.
    visible : bool
        Whether Tiled shows it.
    properties : mapping
        Those of its layer, of its tile, and its own; later ones win.
    bodies : list of Body
        Empty for points and texts; several if the object is not convex.
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


class NewBody(NamedTuple):
    """A body to be added to a world."""

    shape: Shape
    rules: dict[str, Any]
    """The arguments of `World.add` besides the shape."""
    data: TiledObject | TiledTile


class Maker(NamedTuple):
    """Makes the bodies to be added to a world."""

    turn: Frame
    """Flips all maps if y points up."""
    static: bool
    line_width: float
    one_way: str
    """The name of the property that only tiles have."""

    # ---- objects

    def of_object(self, tiled_object: TiledObject, one: Object, frame: Frame, level: Level) -> list[NewBody]:
        """The bodies of an object."""
        words = tiled_object.properties
        if not _flag(words, "body", True, one.where):
            return []
        if level.orientation == "isometric" and one.tile is not None:
            return []  # a picture that stands on the map; its area on the ground is unknown
        rules = self._rules(tiled_object.type, words, self.static, one.where)
        if words.get(self.one_way):
            warnings.warn(
                f"{one.where} blocks on all sides: {self.one_way} is for tiles; draw it in a tile layer",
                stacklevel=4,
            )
        shapes = self._shapes(outlines_of(one, frame), one.where)
        return [NewBody(shape, rules, tiled_object) for shape in shapes]

    # ---- tiles

    def of_tiles(self, shaped: Shaped) -> Iterator[NewBody]:
        """The bodies of tiles whose shape a cell cannot have."""
        part, tile = shaped.part, shaped.tile
        level, layer = part.level, part.layer
        properties = {} if tile is None else tile.properties
        words = {**layer.properties, **properties}
        kind = (tile.type if tile else "") or layer.type
        where = layer.where if tile is None else tile.where
        rules = self._rules(kind, words, True, where)
        shapes = self._shapes(_outlines(shaped, self.turn._replace(y=0.0)), where)
        x, y = in_cells(level, layer.offset)
        for column, row in (shaped.places + np.array([layer.column, layer.row])).tolist():
            corner = column * level.tile_size[0], row * level.tile_size[1]
            if is_staggered(level):
                corner = corner_of(level, column, row)
            at_x, at_y = corner[0] + x + part.place[0], corner[1] + y + part.place[1]
            data = TiledTile(layer.name, column, row, kind, words)
            for shape in shapes:
                to_x, to_y = shape.x + at_x, shape.y + at_y * self.turn.y_y + self.turn.y
                yield NewBody(shape.moved_to(to_x, to_y), rules, data)

    # ---- both

    def _rules(self, kind: str, words: Mapping[str, Any], static: bool, where: str) -> dict[str, Any]:
        return {
            "tag": tags_of(kind, words) or None,
            "static": _flag(words, "static", static, where),
            "sensor": _flag(words, "sensor", False, where),
            "category": _bits(words, "category", 1, where),
            "mask": _bits(words, "mask", _EVERY_BIT, where),
        }

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
                width = 0.5 * self.line_width
                return [Capsule(*one, *other, width) for one, other in pairwise(points)]
        return [*Polygon.convex_parts(points)]


def _outlines(shaped: Shaped, frame: Frame) -> list[Outline]:
    """The outlines of a tile, relative to the upper left corner of the cell."""
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


# ---- reading maps


class TiledMap(NamedTuple):
    """A map that was read."""

    file: Path
    x: float
    y: float
    """Its upper left corner in Tiled; with ``y_up`` that is the corner of the largest y."""
    orientation: str
    properties: dict[str, Any]


class Loaded(NamedTuple):
    """What `load` has added to a world."""

    world: World
    tiles: TileMap | None
    """The tile map of the world; None if no tile blocks as a cell."""
    bodies: list[Body]
    """All new bodies: those of tiles, then those of objects, in order."""
    objects: list[TiledObject]
    """All objects, including those without bodies, such as start points and texts."""
    maps: list[TiledMap]
    """One map, or those of a ``.world`` file."""


def read(path: str | PathLike[str], make: type[Map], **options: Any) -> Map:
    """Read the tiles of a Tiled map; `TileMap.from_tiled` is the usual way to call it.

    Parameters
    ----------
    path : str or path
        A ``.tmx``, ``.tmj`` or ``.json`` file.
    make : type
        `TileMap` or your own subclass.
    layers : iterable of str, optional
        Names of tile layers; every tile in them is solid, and other layers are ignored.
    solid : str
        Without ``layers``: the name of a bool property that makes a tile, or all tiles of a layer, solid.
        If no tile and no layer has it, the tiles with collision shapes are solid.
    one_way : str
        The name of a property of a tile or a layer that lists the sides on which it blocks, such as
        ``"top"`` or ``"left, right"``; it wins over ``solid``.  The sides of a tile turn with it.
    y_up : bool
        Flip the map, for engines whose y points up; the top of a tile in Tiled is then the side of the
        larger y.
    shapes : {"warn", "fill", "refuse"}
        A tile whose collision shape fills its cell from the floor or the ceiling up to a line is a slope,
        see `TileMap.set_slope`.  This option says what happens to a shape that a cell cannot have.
        ``"warn"``: the tile blocks as a whole cell, with a warning that names it.  ``"fill"``: all tiles
        with shapes, including slopes, become whole cells without a warning.  ``"refuse"``: an error.

    Returns
    -------
    TileMap
        Its origin is the upper left corner of the map in Tiled, which is 0, 0 except for infinite maps and
        layers with an offset.  When flipped, an infinite map keeps its zero, and any other has its lower edge
        at y = 0.  An isometric map becomes flat, as its objects are: squares as high as its tiles.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FileError
        A ``ValueError``: the file is no Tiled map, a part of it or of its tilesets is damaged, its tiles are
        staggered or hexagonal, or a side has an unknown name.  The message names file, element and value.
    MissingExtraError
        The map is compressed with zstd, and zstandard is not installed.
    ValueError
        The file name has another ending, a layer does not exist, nothing in the map says what is solid, or a
        tile has a shape that is to be refused.

    Warns
    -----
    UserWarning
        Tiles with shapes that a cell cannot have become whole cells, or a tileset is a part of Tiled itself.
    """
    return make.from_tiled(path, **options)


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
    """Add a Tiled map, or a world of maps, to a world: cells, slopes, tiles with shapes, and objects.

    Tiles that block become cells of ``world.tiles``.  Tiles whose collision shapes a cell cannot have become
    static bodies, and so do all tiles that block in staggered and hexagonal maps.  Objects become bodies
    where Tiled shows them, rotated and mirrored: rectangles, ellipses (a circle, or a polygon of 32 corners
    on it), capsules, polygons (several bodies if they are not convex), lines (a capsule for each segment) and
    tiles (their collision shapes, or the whole picture).  Points and texts are in ``objects`` only.

    The tags of a body are the class of its object and the names in its property ``tag``, separated by commas.
    The properties ``static``, ``sensor`` (bool), ``category`` and ``mask`` (int) are those of `World.add`.
    If the property ``body`` is false, no body is made.  The properties of a layer apply to everything in it
    that does not set them itself.

    Parameters
    ----------
    path : str or path
        A ``.tmx``, ``.tmj`` or ``.json`` file, or a ``.world``.
    world : World, optional
        By default a new one.  It must not have a tile map if tiles of this map block.
    layers, solid, one_way
        Which tiles block, see `read`; here the map need not say it.
    objects : iterable of str, optional
        Names of the object layers that become bodies; by default all.
    y_up : bool
        Flip everything, for engines whose y points up; a world of maps keeps its zero.
    static : bool
        Whether objects without a property ``static`` are static.
    line_width : float
        The width of the capsules that lines become.

    Returns
    -------
    Loaded
        ``world, tiles, bodies, objects, maps``.  The ``data`` of a body is its `TiledObject` or `TiledTile`.

    Raises
    ------
    FileError, FileNotFoundError, MissingExtraError, ValueError
        As of `read`; a property has the wrong type; or the maps of a world have no common grid.  Nothing was
        added.

    Warns
    -----
    UserWarning
        Nothing in the map says what is solid, so its tiles do not block; an object has the property
        ``one_way``, or a tile that is in no tileset; a tileset is a part of Tiled itself; a polygon crosses
        itself, so it becomes no body; shapes of one-way tiles, and of tiles of isometric maps, are treated as
        whole cells.

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
    maker = Maker(turn, static, width, one_way)
    parts = [Part(one.level, layer, one.place) for one in placed for layer in one.level.layers]
    every, parts = parts, named(parts, layers, str(file))
    words = blocking_rules(parts, solid, one_way, layers is not None)
    rules = words or BlockingRules(solid, one_way, False, False)
    ground = ground_of(parts, every, rules, str(file))
    new, ignored = _of_tiles(ground, maker)
    tiles, blocks = None, bool(ground.solid.any() or ground.one_way.any() or ground.slopes)
    if blocks or ground.kinds.any():
        tiles = tiles_of(ground, y_up, height, TileMap)
    found, of_objects = _of_objects(placed, maker, objects, str(file))
    blocks = blocks or not all(one.rules["sensor"] for one in new + of_objects)
    if words is None and not blocks and any(part.layer.cells.any() for part in parts):
        _warn_nothing_blocks(parts, solid, str(file))
    maps = [
        TiledMap(level.file, *turn.point(*place), level.orientation, dict(level.properties))
        for level, place in placed
    ]
    return _put(World() if world is None else world, tiles, new + of_objects, found, maps, ignored)


def _warn_nothing_blocks(parts: list[Part], solid: str, where: str) -> None:
    names = ", ".join(dict.fromkeys(repr(part.layer.name) for part in parts))
    warnings.warn(
        f"{where} blocks nothing: nothing in it says what is solid; name the tile layers that block in "
        f"layers= (it has {names}), or give tiles or a layer the bool property {solid!r} in Tiled",
        stacklevel=3,
    )


def _of_tiles(ground: Ground, maker: Maker) -> tuple[list[NewBody], list[str]]:
    """The bodies of tiles, and the names of tiles whose shapes are ignored."""
    new: list[NewBody] = []
    ignored = list(ground.ignored)
    for shaped in ground.shaped:
        if shaped.part.level.orientation == "isometric" and shaped.tile is not None:
            ground.fill(shaped)
            ignored.append(shaped.tile.where)
        else:
            new += maker.of_tiles(shaped)
    return new, ignored


def _of_objects(
    placed: list[Placed], maker: Maker, names: Iterable[str] | None, where: str
) -> tuple[list[TiledObject], list[NewBody]]:
    layers = [(one, layer) for one in placed for layer in one.level.object_layers]
    there = sorted({layer.name for _, layer in layers})
    wanted = there if names is None else known_names(names, there, "object layer", where)
    found: list[TiledObject] = []
    new: list[NewBody] = []
    for (level, place), layer in layers:
        x, y = in_cells(level, layer.offset)
        frame = moved(x + place[0], y + place[1]).then(maker.turn)
        for one in layer.objects:
            tiled_object = TiledObject(one, layer, frame)
            found.append(tiled_object)
            if layer.name in wanted:
                new += maker.of_object(tiled_object, one, frame, level)
    return found, new


def _put(
    world: World,
    tiles: TileMap | None,
    new: list[NewBody],
    objects: list[TiledObject],
    maps: list[TiledMap],
    ignored: list[str],
) -> Loaded:
    if tiles is not None:
        if world.tiles is not None:
            raise ValueError("the world has a tile map; load the map into a world without, or name no layer")
        world.tiles = tiles
    bodies = []
    for one in new:
        body = world.add(one.shape, **one.rules, data=one.data)
        bodies.append(body)
        if isinstance(one.data, TiledObject):
            one.data.bodies.append(body)
    warn_of_shapes(ignored, "warn", "one-way tiles and those of isometric maps have no other shape")
    return Loaded(world, tiles, bodies, objects, maps)
