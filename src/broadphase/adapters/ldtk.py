"""Projects of the LDtk editor as tile maps and bodies of a world.

An IntGrid layer says for each cell what it is: the name of its value becomes the tag of the tile, and `load`
is told which names block.  Tiles of other layers have the enum tags of their tileset.  Levels lie where LDtk
shows them in its world, on one map; y points down, as there.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from reprlib import repr as shown
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError
from broadphase.geometry.shapes import Box
from broadphase.io.tiled import documents
from broadphase.io.tiled.documents import Node
from broadphase.io.tiled.level import BlockingRules, Part, ground_of, tiles_of
from broadphase.io.tiled.maps import Budget, Map, Tile, TileLayer, Tileset
from broadphase.kernels.tiles.grid import SIDES, Side
from broadphase.world.bodies import Body
from broadphase.world.tiles import TileMap
from broadphase.world.world import World

__all__ = ["LdtkEntity", "LdtkLevel", "LdtkLoaded", "load"]


class LdtkLevel(NamedTuple):
    """A level of a project."""

    name: str
    x: float
    y: float
    """Its upper left corner in the world."""
    width: float
    height: float
    fields: Mapping[str, Any]


class LdtkEntity(NamedTuple):
    """An entity of a level, also the ``data`` of its body."""

    name: str
    """The identifier of its kind, such as ``"Player"``."""
    tags: frozenset[str]
    x: float
    y: float
    """Its position in the world, which is that of its pivot."""
    width: float
    height: float
    box: Box
    """Where LDtk shows it in the world."""
    fields: Mapping[str, Any]
    """Their values by name."""
    level: str
    layer: str


class LdtkLoaded(NamedTuple):
    """What `load` has added to a world."""

    world: World
    tiles: TileMap | None
    entities: list[LdtkEntity]
    bodies: list[Body]
    """Those of entities, in their order."""
    levels: list[LdtkLevel]


def load(
    path: str | PathLike[str],
    world: World | None = None,
    *,
    solid: Iterable[str] = ("solid", "wall", "walls"),
    one_way: Mapping[str, Side] | None = None,
    ladders: Iterable[str] = ("ladder", "ladders"),
    levels: Iterable[str] | None = None,
    bodies: Iterable[str] = (),
) -> LdtkLoaded:
    """Add an LDtk project to a world.

    Parameters
    ----------
    path : str or path
        A ``.ldtk`` file; levels in files of their own are read too.
    world : World, optional
        By default a new one.  It must not have a tile map.
    solid : iterable of str
        The names that block: of values of IntGrid layers, or of enum tags of tiles.  Upper and lower case are
        the same; a value without a name has its number, ``"1"``.
    one_way : mapping, optional
        Names of tiles that block on one side: ``{"platform": "top"}``.
    ladders : iterable of str
        The names of ladders.
    levels : iterable of str, optional
        The identifiers of the levels to load, of one world and depth; by default all.
    bodies : iterable of str
        The identifiers of the entities that become bodies: boxes with this tag and the tags of the entity.
        Bool fields ``static`` and ``sensor`` of an entity are those of `World.add`.

    Returns
    -------
    LdtkLoaded
        ``world, tiles, entities, bodies, levels``.  `TileMap.data` has the names of tiles as tags, written as
        in LDtk.

    Raises
    ------
    FileError, FileNotFoundError
        The file is no LDtk project, a part of it is damaged, or levels of several worlds or depths are on one
        map (name those of one in ``levels``); nothing was added.
    ValueError
        A name of ``levels`` or ``bodies`` is not in it, or the world has a tile map.

    Warns
    -----
    UserWarning
        No tile has a name that blocks; the warning lists the names that there are.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from broadphase.adapters import ldtk
    >>> ground = {"__identifier": "Ground", "__type": "IntGrid", "__gridSize": 16, "__cWid": 3, "__cHei": 2,
    ...           "layerDefUid": 1, "intGridCsv": [0, 0, 2, 1, 1, 1]}
    >>> names = [{"value": 1, "identifier": "wall"}, {"value": 2, "identifier": "water"}]
    >>> level = {"identifier": "Start", "worldX": 32, "worldY": 0, "pxWid": 48, "pxHei": 32,
    ...          "layerInstances": [ground]}
    >>> project = {"jsonVersion": "1.5.3", "levels": [level],
    ...            "defs": {"layers": [{"uid": 1, "intGridValues": names}]}}
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "game.ldtk").write_text(json.dumps(project))
    ...     loaded = ldtk.load(Path(folder, "game.ldtk"))
    >>> loaded.tiles, loaded.tiles.is_solid(0, 1), loaded.tiles.data(2, 0).tags
    (<TileMap of 3 x 2 tiles of 16 x 16 at (32.0, 0.0)>, True, frozenset({'water'}))
    """
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"no LDtk project at {file}")
    reader = _Reader(file)
    chosen = reader.chosen(levels)
    parts: list[Part] = []
    entities: list[LdtkEntity] = []
    found: list[LdtkLevel] = []
    for level, node in chosen:
        found.append(level)
        for layer in documents.nodes(node, "layerInstances", f"{file}: level {shown(level.name)}", ", layer"):
            reader.read_layer(layer, level, parts, entities)
    wanted = documents.known_names(bodies, sorted({one.name for one in entities}), "entity", str(file))
    sides = {name.lower(): side for name, side in (one_way or {}).items()}
    tiles = _map_of(reader, parts, _lower(solid), sides, _lower(ladders))
    those = [one for one in entities if one.name in wanted]
    flags = [
        {key: documents.flag(one.fields, key, f"{file}: entity {shown(one.name)}", False) for key in _FLAGS}
        for one in those
    ]
    home = World() if world is None else world
    if tiles is not None and home.tiles is not None:
        raise ValueError("the world has a tile map; load the project into a world without")
    if tiles is not None:
        home.tiles = tiles
    added = [
        home.add(one.box, tag=one.tags | {one.name}, data=one, **rules)
        for one, rules in zip(those, flags, strict=True)
    ]
    return LdtkLoaded(home, tiles, entities, added, found)


_FLAGS = ("static", "sensor")


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in documents.listed(names))


# ---- reading


class _Reader:
    """A project that is read."""

    def __init__(self, file: Path) -> None:
        self.file, self._budget = file, Budget()
        self.numbers: dict[frozenset[str], int] = {}
        """The number that each set of tags has in all layers."""
        self._map = Map(file, "orthogonal", (0, 0), (0.0, 0.0), [], [], {}, True, {}, ("y", "odd", 0))
        where = str(file)
        self._project = documents.node(
            documents.from_json(documents.content_of(file, "project", where), where), where
        )
        if "defs" not in self._project or not ("levels" in self._project or "worlds" in self._project):
            raise FileError(f"{file} is no LDtk project: it has no 'defs' and 'levels'")
        defs = documents.node(self._project["defs"], f"{where}: defs")
        self._values: dict[int, dict[int, frozenset[str]]] = {}
        """By the number of a layer's definition, the names of its values."""
        for one in self._nodes(defs, "layers"):
            values = self._nodes(one, "intGridValues")
            self._values[documents.whole(one, "uid", f"{where}: a layer")] = {
                (number := documents.whole(value, "value", where)): frozenset(
                    (documents.text(value, "identifier", where, "") or str(number),)
                )
                for value in values
            }
        self._tilesets: dict[int, dict[int, frozenset[str]]] = {}
        """By the number of a tileset, the enum tags of its tiles."""
        for one in self._nodes(defs, "tilesets"):
            tags: dict[int, frozenset[str]] = {}
            for tag in self._nodes(one, "enumTags"):
                name = documents.text(tag, "enumValueId", f"{where}: an enum tag")
                place = f"{where}: enum tag {shown(name)}"
                for tile in documents.parts(tag, "tileIds", place):
                    # Tiles are numbered from 0, cells without a tile are 0.
                    number = documents.whole({"tileIds": tile}, "tileIds", place) + 1
                    tags[number] = tags.get(number, frozenset()) | {name}
            self._tilesets[documents.whole(one, "uid", f"{where}: a tileset")] = tags

    def _nodes(self, owner: Node, key: str) -> list[Node]:
        return documents.nodes(owner, key, str(self.file), f": {key}")

    def chosen(self, names: Iterable[str] | None) -> list[tuple[LdtkLevel, Node]]:
        """The levels with these names, with what they hold."""
        found, maps = [], []
        for world, owner in enumerate((self._project, *self._nodes(self._project, "worlds"))):
            layout, end = owner.get("worldLayout"), [0.0, 0.0]
            for node in self._nodes(owner, "levels"):
                level = self._level(node)
                if layout == "LinearHorizontal":
                    level = level._replace(x=end[0], y=0.0)
                elif layout == "LinearVertical":
                    level = level._replace(x=0.0, y=end[1])
                end = [end[0] + level.width, end[1] + level.height]
                found.append((level, node))
                where = f"{self.file}: level {shown(level.name)}"
                maps.append((world, documents.whole(node, "worldDepth", where, default=0)))
        if names is not None:
            wanted = documents.known_names(names, [level.name for level, _ in found], "level", str(self.file))
            maps = [one for one, (level, _) in zip(maps, found, strict=True) if level.name in wanted]
            found = [one for one in found if one[0].name in wanted]
        for other, (level, _) in zip(maps, found, strict=True):
            if other != maps[0]:
                raise FileError(
                    f"{self.file}: levels {shown(found[0][0].name)} and {shown(level.name)} are of "
                    f"{'two worlds' if other[0] != maps[0][0] else 'two depths'}, which lie on top of each "
                    "other; name in levels= those of one"
                )
        return [(level, self._whole(level, node)) for level, node in found]

    def _level(self, node: Node) -> LdtkLevel:
        name = documents.text(node, "identifier", f"{self.file}: a level")
        where = f"{self.file}: level {shown(name)}"
        world_corner = documents.point(node, ("worldX", "worldY"), where)
        size = documents.point(node, ("pxWid", "pxHei"), where)
        return LdtkLevel(name, *world_corner, *size, self._fields(node, where))

    def _whole(self, level: LdtkLevel, node: Node) -> Node:
        """A level with its layers, which may be in a file of their own."""
        path = node.get("externalRelPath")
        if node.get("layerInstances") is not None or not isinstance(path, str):
            return node
        where = f"{self.file}: level {shown(level.name)} in {path}"
        content = documents.content_of(self.file.parent / path, "level", where)
        return documents.node(documents.from_json(content, where), where)

    def _fields(self, owner: Node, where: str) -> dict[str, Any]:
        fields = documents.nodes(owner, "fieldInstances", where)
        return {documents.text(one, "__identifier", where): one.get("__value") for one in fields}

    def read_layer(
        self, layer: Node, level: LdtkLevel, parts: list[Part], entities: list[LdtkEntity]
    ) -> None:
        """Add what is in a layer to the lists."""
        name = documents.text(layer, "__identifier", f"{self.file}: a layer")
        where = f"{self.file}: level {shown(level.name)}, layer {shown(name)}"
        x, y = documents.point(layer, ("__pxTotalOffsetX", "__pxTotalOffsetY"), where, 0.0)
        x, y = level.x + x, level.y + y
        entities += self._entities(layer, level.name, name, (x, y), where)
        rows, columns = (documents.whole(layer, key, where, 0) for key in ("__cHei", "__cWid"))
        size = documents.number(layer, "__gridSize", where, least=1.0)
        self._budget.take(columns, rows, f"{where} is too large")
        values = documents.parts(layer, "intGridCsv", where)
        if values:
            if len(values) != rows * columns or not all(
                type(value) is int and abs(value) <= documents.LARGEST for value in values
            ):
                raise FileError(
                    f"{where} has {len(values)} values, where {columns} x {rows} whole numbers belong"
                )
            numbers = np.array(values, np.int64).reshape(rows, columns)
            names = self._values.get(documents.whole(layer, "layerDefUid", where), {})
            unnamed = {number: frozenset((str(number),)) for number in np.unique(numbers).tolist() if number}
            parts += self._parts(where, (x, y), size, [numbers], unnamed | names)
        tags = self._tilesets.get(documents.whole(layer, "__tilesetDefUid", where, default=-1), {})
        for key in ("autoLayerTiles", "gridTiles"):
            tiles = documents.nodes(layer, key, where) if tags else []
            # Several tiles may lie on a cell: each goes on top of those before it.
            grids: list[npt.NDArray[np.int64]] = []
            for tile in tiles:
                number = documents.whole(tile, "t", where, 0) + 1
                column, row = (int(value // size) for value in _pair(tile, "px", where))
                if number not in tags or not (0 <= column < columns and 0 <= row < rows):
                    continue
                grid = next((grid for grid in grids if not grid[row, column]), None)
                if grid is None:
                    grid = np.zeros((rows, columns), np.int64)
                    grids.append(grid)
                grid[row, column] = number
            parts += self._parts(where, (x, y), size, grids, tags)

    def _parts(
        self,
        where: str,
        place: tuple[float, float],
        size: float,
        grids: list[npt.NDArray[np.int64]],
        names: Mapping[int, frozenset[str]],
    ) -> Iterator[Part]:
        """Layers of Tiled in place of these, but for those without tiles."""
        level = self._map._replace(tile_size=(size, size))
        for grid in filter(np.any, grids):
            found, which = np.unique(grid, return_inverse=True)
            known = [
                self.numbers.setdefault(names[number], len(self.numbers) + 1) if number else 0
                for number in found.tolist()
            ]
            cells = np.array(known, np.uint32)[which].reshape(grid.shape)
            yield Part(level, TileLayer(where, "", "", {}, cells, 0, 0, (0.0, 0.0)), place)

    def _entities(
        self, layer: Node, level: str, name: str, corner: tuple[float, float], where: str
    ) -> Iterator[LdtkEntity]:
        for one in documents.nodes(layer, "entityInstances", where):
            kind = documents.text(one, "__identifier", f"{where}: an entity")
            place = f"{where}, entity {shown(kind)}"
            x, y = (a + b for a, b in zip(corner, _pair(one, "px", place), strict=True))
            width, height = documents.point(one, ("width", "height"), place, least=0.0)
            left, top = _pair({"__pivot": [0, 0]} | dict(one), "__pivot", place)
            tags = frozenset(str(tag) for tag in documents.parts(one, "__tags", place))
            box = Box(x - left * width, y - top * height, width, height)
            yield LdtkEntity(kind, tags, x, y, width, height, box, self._fields(one, place), level, name)


def _pair(owner: Node, key: str, where: str) -> tuple[float, float]:
    values = documents.parts(owner, key, where)
    if len(values) != 2:
        raise FileError(f"{where} has {key} = {shown(values)}, where two numbers belong")
    x, y = (documents.number({key: value}, key, where) for value in values)
    return x, y


# ---- one map


def _map_of(
    reader: _Reader,
    parts: list[Part],
    solid: frozenset[str],
    one_way: Mapping[str, Side],
    ladders: frozenset[str],
) -> TileMap | None:
    """The tile map of all layers whose tiles have names: their tags say what a property says in Tiled."""
    for name, side in one_way.items():
        if side not in SIDES:
            raise ValueError(f"one_way = {{{name!r}: {side!r}}}; choose from {', '.join(SIDES)}")
    if not parts:
        return None
    tiles: dict[int, Tile] = {}
    for names, number in reader.numbers.items():
        words: dict[str, Any] = {"tag": ",".join(names)}
        lower = _lower(names)
        sides = [side for name, side in one_way.items() if name in lower]
        if not lower.isdisjoint(solid):
            words["solid"] = True
        elif sides:
            words["one_way"] = ",".join(sides)
        if not lower.isdisjoint(ladders):
            words["ladder"] = True
        tiles[number] = Tile(str(reader.file), "", words, (0.0, 0.0), (), _TILESET)
    parts = [part._replace(level=part.level._replace(tiles=tiles)) for part in parts]
    ground = ground_of(parts, parts, _RULES, str(reader.file))
    ground.one_way[ground.solid] = 0
    if not (ground.solid.any() or ground.one_way.any()):
        names_there = ", ".join(sorted(repr(name) for name in frozenset().union(*reader.numbers)))
        warnings.warn(
            f"{reader.file} blocks nothing: no tile is named {', '.join(sorted(solid))}; name in solid= what "
            f"blocks (it has {names_there})",
            stacklevel=3,
        )
    tiles_map: TileMap = tiles_of(ground, False, 0.0, TileMap)
    return tiles_map


_RULES = BlockingRules("solid", "one_way", False, False)
_TILESET = Tileset((0.0, 0.0), "unspecified", False)
