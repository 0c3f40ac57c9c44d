"""Maps from the Tiled editor: layers of tiles and of objects, tilesets, templates, and worlds of maps.

`read_map` and `read_world` return plain values (`Map`) as they are in the file; y points down, as in Tiled.
Everything that is only drawn (images, colours, animations, terrain) is ignored, and so are unknown fields.
"""

import base64
import binascii
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from reprlib import repr as shown
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError, need
from broadphase.io.tables import USUAL
from broadphase.io.tiled import documents
from broadphase.io.tiled.documents import Node, read_document

TileNumbers = npt.NDArray[np.uint32]

MOST_CELLS = USUAL.size // 4
"""The most cells of all layers read together: a compressed file of 1 MB could fill any memory."""
_ADVICE = "in Tiled, Map > Map Properties > Tile Layer Format is how a map is packed"

Point = tuple[float, float]
Form = Literal["box", "ellipse", "capsule", "polygon", "polyline", "point", "text", "tile"]

# The upper bits of a tile's number say how it is turned and mirrored.
NUMBER = np.uint32(0x0FFFFFFF)
TURNED = np.uint32(0xF0000000)
MIRRORED_X, MIRRORED_Y, TRANSPOSED, HEX_TURN = 0x80000000, 0x40000000, 0x20000000, 0x10000000
_FORMS: tuple[Form, ...] = ("ellipse", "capsule", "polygon", "polyline", "point", "text")
_MOST_POINTS = 10_000_000
"""The most points of all objects read together: objects count the polygon of a shared template each."""
_IN_TILED = (":/", "qrc:/")
"""The start of sources that are part of Tiled itself, such as the tiles of its automapping rules."""
ORIENTATIONS = ("orthogonal", "oblique", "isometric", "staggered", "hexagonal")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_INVOLVED = re.compile(r"\)[*+{]|\(\?(?!:|=|!|P<)")
"""A repeated group, and flags: with one of them, blanks may stand between a group and its repetition."""
_REPEAT = re.compile(r"[*+{]")
_CHOICE = re.compile(r"(?<!\()\?|\|")
_SETTLED = re.compile(r"\\d[*+]\)*(?:\\[^\w]|[^\\\d()\[\]{}.*+?|^$])(?![*+?{])")
"""Digits up to something that is not a digit: there is one way to match them."""
_BITS_OF_REPEAT = 8  # it matches from none to all letters of a name, which are at most 255
_MOST_BITS = 26
"""A pattern is tried in as many ways as its choices and repetitions have together: 2 to this power."""

# ---- the parts of a map


class Tile(NamedTuple):
    """A tile of a tileset."""

    where: str
    """Its name for messages, which begins with that of the file."""
    type: str
    properties: Mapping[str, Any]
    size: Point
    """The size of its image."""
    shapes: "tuple[Object, ...]"
    """From the collision editor, relative to its upper left corner."""
    tileset: "Tileset"


class Tileset(NamedTuple):
    """A tileset, as far as its tiles share it."""

    offset: Point
    """The offset with which its tiles are drawn."""
    alignment: str
    """The point of a tile object that is at its position; "unspecified" leaves it to the map."""
    fills_grid: bool
    """Whether its tiles are stretched to the cells of the map."""
    keeps_aspect: bool = False
    """Whether tiles that are stretched keep their aspect ratio, in the middle of their place."""


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
    """Of polygons and polylines, relative to ``x, y``."""
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
    cells: TileNumbers
    """``[row, column]``: numbers of tiles with the bits for their turns; 0 where there is no tile."""
    column: int
    row: int
    """Column and row are those of its first cell; layers of infinite maps begin anywhere."""
    offset: Point
    """In pixels, with the offsets of the groups that contain it."""


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
    """Columns and rows; meaningless for an infinite map."""
    tile_size: Point
    layers: list[TileLayer]
    object_layers: list[ObjectLayer]
    tiles: Mapping[int, Tile]
    """By number: the tiles that have an entry in their tileset."""
    endless: bool
    properties: Mapping[str, Any]
    stagger: tuple[str, str, int]
    """Axis, index, and the length of the side of a hexagon."""


# ---- the tiles of a layer: numbers in a list, as text, or compressed


class Budget:
    """Limits the cells of all layers that are read together."""

    def __init__(self) -> None:
        self._left = MOST_CELLS

    def take(self, width: int, height: int, refused: str) -> None:
        """Count these cells; raise `FileError`, whose message begins with ``refused``, beyond the limit."""
        self._left -= width * height
        if self._left < 0:
            raise FileError(
                f"{refused}, {width} columns and {height} rows; {MOST_CELLS:,} tiles are the limit"
            )


def unpack(data: Any, size: tuple[int, int], encoding: Any, compression: Any, where: str) -> TileNumbers:
    """The tiles ``[row, column]`` of a layer or a chunk; ``size`` is ``(width, height)``."""
    width, height = size
    if data is None:
        raise FileError(f"{where} has no 'data'")
    if isinstance(data, list):
        numbers = _checked(data, where)
    elif not isinstance(data, str):
        raise FileError(f"{where} has data of a wrong type: {shown(data)}")
    elif encoding in (None, "", "csv"):
        numbers = _checked(_split(data, where), where)
    elif encoding == "base64":
        numbers = _unpacked(data, width * height, compression, where)
    else:
        raise FileError(f"{where} has the unknown encoding {shown(encoding)}; {_ADVICE}")
    if len(numbers) != width * height:
        raise FileError(f"{where} has {len(numbers)} tiles, where {width} x {height} belong")
    return numbers.reshape(height, width)


def _split(data: str, where: str) -> list[int]:
    words = data.split(",") if data.strip() else []
    try:
        return list(map(int, words))
    except ValueError:  # decimal digits are refused where they are thousands
        wrong = next((word for word in words if not word.strip().isdecimal()), data)
        raise FileError(f"{where} has {shown(wrong)}, where the number of a tile belongs") from None


def _checked(data: list[Any], where: str) -> TileNumbers:
    try:
        if set(map(type, data)) <= {int}:
            numbers = np.array(data, np.int64)
            if not len(numbers) or (numbers.min() >= 0 and numbers.max() < 2**32):
                return numbers.astype(np.uint32)
    except OverflowError:
        pass
    wrong = next(one for one in data if type(one) is not int or not 0 <= one < 2**32)
    raise FileError(f"{where} has {shown(wrong)}, where the number of a tile belongs")


def _unpacked(data: str, count: int, compression: Any, where: str) -> TileNumbers:
    try:
        packed = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise FileError(f"{where} has data that is not base64: {error}") from error
    if compression in (None, "") or not packed:
        plain = packed
    elif compression in _UNPACK:
        plain = _UNPACK[compression](packed, 4 * count, where)
    else:
        raise FileError(f"{where} has the unknown compression {shown(compression)}; {_ADVICE}")
    if len(plain) != 4 * count:
        found = "more" if len(plain) > 4 * count else f"{len(plain)} bytes"
        raise FileError(f"{where} has {found} packed, where {4 * count} bytes, 4 a tile, belong")
    return np.frombuffer(plain, "<u4").astype(np.uint32)


def _deflated(packed: bytes, size: int, where: str, window: int) -> bytes:
    """Decompress; of data that is too long, only one byte beyond ``size`` is returned."""
    unpack_some = zlib.decompressobj(window)
    try:
        plain = unpack_some.decompress(packed, size + 1)
    except zlib.error as error:
        raise FileError(f"{where} cannot be unpacked: {error}") from error
    if len(plain) <= size and not unpack_some.eof:
        raise FileError(f"{where} cannot be unpacked: it ends too soon")
    return plain


def _zstd(packed: bytes, size: int, where: str) -> bytes:
    try:
        library: Any = import_module("compression.zstd")  # it comes with Python 3.14
        unpack_some = partial(library.ZstdDecompressor().decompress, packed)
    except ModuleNotFoundError:
        purpose = f"{where} is packed with zstd; {_ADVICE}; reading it as it is"
        library = need("zstandard", extra="tiled", purpose=purpose)
        unpack_some = library.ZstdDecompressor().stream_reader(packed).read
    try:
        return bytes(unpack_some(size + 1))
    except library.ZstdError as error:
        raise FileError(f"{where} cannot be unpacked: {error}") from error


_UNPACK: dict[str, Callable[[bytes, int, str], bytes]] = {
    "zlib": partial(_deflated, window=zlib.MAX_WBITS),
    "gzip": partial(_deflated, window=zlib.MAX_WBITS + 16),
    "zstd": _zstd,
}


# ---- maps


def read_map(file: Path, *, named: str = "", budget: Budget | None = None) -> Map:
    """Read a map and the tilesets and templates that it names.

    Parameters
    ----------
    file : path
    named : str
        Its name for messages; by default the file.
    budget : Budget, optional
        The limit on cells, shared with other maps that are read together with this one.

    Raises
    ------
    FileError
        It is not a map, or a part of it is damaged; the message names file, element and value.
    """
    where = named or str(file)
    level = read_document(file, "map", where)
    orientation = documents.text(level, "orientation", where)
    if orientation not in ORIENTATIONS:
        raise FileError(
            f"{where} has the orientation {shown(orientation)}; those that can be read are "
            f"{', '.join(ORIENTATIONS)} (Map Properties in Tiled)"
        )
    width = documents.whole(level, "tilewidth", where, least=1)
    height = documents.whole(level, "tileheight", where, least=1)
    reader = _Reader(file.parent, budget or Budget())
    for tileset in documents.nodes(level, "tilesets", where, ": tileset"):
        reader.add_tileset(reader.numbered, tileset, file.parent, where)
    reader.infinite = documents.flag(level, "infinite", where, False)
    try:
        for layer in documents.parts(level, "layers", where):
            reader.add_layer(layer, where, (0.0, 0.0), first=True)
    except RecursionError as error:
        raise FileError(f"{where} is nested too deeply") from error
    return Map(
        file,
        orientation,
        (documents.whole(level, "width", where, least=0), documents.whole(level, "height", where, least=0)),
        (float(width), float(height)),
        reader.tile_layers,
        reader.object_layers,
        reader.numbered.tiles,
        reader.infinite,
        documents.properties(level, where),
        _stagger(level, orientation, where),
    )


def _stagger(level: Node, orientation: str, where: str) -> tuple[str, str, int]:
    axis = documents.text(level, "staggeraxis", where, "y")
    index = documents.text(level, "staggerindex", where, "odd")
    if axis not in ("x", "y") or index not in ("odd", "even"):
        raise FileError(f"{where} is staggered by {shown(axis)}, {shown(index)}; that is x or y, odd or even")
    side = documents.whole(level, "hexsidelength", where, 0, 0) if orientation == "hexagonal" else 0
    return axis, index, side


class _TileNumbers:
    """Tiles by the numbers that a map or a template gives them."""

    def __init__(self) -> None:
        self.tiles: dict[int, Tile] = {}
        """The tiles that have an entry in their tileset."""
        self.plain: dict[int, Tile] = {}
        """By the first number of a tileset, what stands for its tiles without an entry."""

    def tile(self, number: int, where: str) -> Tile:
        """The tile with this number."""
        if number in self.tiles:
            return self.tiles[number]
        firsts = [first for first in self.plain if first <= number]
        if not firsts:
            warnings.warn(
                f"{where} has the tile {number}, which is in no tileset: it is read without a picture",
                stacklevel=2,
            )
            return Tile(where, "", {}, (0.0, 0.0), (), Tileset((0.0, 0.0), "unspecified", False))
        return self.plain[max(firsts)]


class _Reader:
    """Reads the tilesets, templates and layers of one map."""

    def __init__(self, folder: Path, budget: Budget) -> None:
        self.numbered = _TileNumbers()
        self.infinite = False
        self.tile_layers: list[TileLayer] = []
        self.object_layers: list[ObjectLayer] = []
        self._folder = folder
        self._budget = budget
        self._tilesets: dict[Path, tuple[Node, str]] = {}
        self._templates: dict[Path, tuple[Node, _TileNumbers | None]] = {}
        self._points = 0

    # -- layers

    def add_layer(self, raw: Any, where: str, offset: Point, *, first: bool = False) -> None:
        """Add a layer, and the layers in it; ``offset`` is that of the group that contains it."""
        separator = ": " if first else ", "
        title = raw.get("name") if isinstance(raw, dict) else raw
        place = f"{where}{separator}layer {shown(title)}"
        layer = documents.node(raw, place)
        if not isinstance(title, str):
            raise FileError(f"{place} has a name that is no text")
        x, y = documents.point(layer, ("offsetx", "offsety"), place, 0.0)
        moved = offset[0] + x, offset[1] + y
        kind = documents.text(layer, "type", place)
        if kind == "group":
            for inner in documents.parts(layer, "layers", place):
                self.add_layer(inner, place, moved)
        elif kind == "tilelayer":
            self.tile_layers.append(self._tile_layer(layer, title, place, moved))
        elif kind == "objectgroup":
            objects = list(self._objects(layer, place, self._folder, self.numbered))
            self.object_layers.append(ObjectLayer(*_described(layer, title, place), objects, moved))
        elif kind != "imagelayer":
            raise FileError(f"{place} has the unknown type {shown(kind)}")

    def _tile_layer(self, layer: Node, name: str, where: str, offset: Point) -> TileLayer:
        chunks = list(self._chunks(layer, where))
        left = min((column for column, _, _ in chunks), default=0)
        top = min((row for _, row, _ in chunks), default=0)
        width = max((column + cells.shape[1] for column, _, cells in chunks), default=0) - left
        height = max((row + cells.shape[0] for _, row, cells in chunks), default=0) - top
        if len(chunks) == 1:
            cells = chunks[0][2]
        else:
            self._budget.take(width, height, f"{where}: its chunks lie too far apart")
            cells = np.zeros((height, width), np.uint32)
            for column, row, part in chunks:
                rows, columns = part.shape
                cells[row - top : row - top + rows, column - left : column - left + columns] = part
        return TileLayer(*_described(layer, name, where), cells, left, top, offset)

    def _chunks(self, layer: Node, where: str) -> Iterator[tuple[int, int, TileNumbers]]:
        chunks = documents.nodes(layer, "chunks", where, ", chunk")
        for chunk in chunks:
            place = documents.whole(chunk, "x", where), documents.whole(chunk, "y", where)
            yield *place, self._cells(chunk, layer, f"{where}, the chunk at {place[0]}, {place[1]}")
        if chunks:
            return
        data = layer.get("data")
        is_empty = data in (None, []) or (isinstance(data, str) and not data.strip())
        if not (self.infinite and is_empty):
            yield 0, 0, self._cells(layer, layer, where)

    def _cells(self, part: Node, layer: Node, where: str) -> TileNumbers:
        width = documents.whole(part, "width", where, least=0)
        height = documents.whole(part, "height", where, least=0)
        self._budget.take(width, height, f"{where} is too large")
        return unpack(
            part.get("data"), (width, height), layer.get("encoding"), layer.get("compression"), where
        )

    # -- tilesets, in the map or in files of their own

    def add_tileset(self, numbered: _TileNumbers, raw: Node, folder: Path, where: str) -> None:
        """Add the tiles of a tileset; names of files are relative to ``folder``."""
        tileset = raw
        source, source_name = raw.get("source"), where
        if isinstance(source, str) and source.startswith(_IN_TILED):
            warnings.warn(
                f"{where}: the tileset {shown(source)} is a part of Tiled and no file: nothing is known of "
                "its tiles, they are read without properties and shapes",
                stacklevel=2,
            )
            tileset = {"name": source}
        elif source is not None:
            file = folder / documents.text(raw, "source", f"{where}: tileset")
            if file not in self._tilesets:
                source_name = f"{where}: {file}"
                self._tilesets[file] = read_document(file, "tileset", source_name), source_name
            tileset, source_name = self._tilesets[file]
            folder = file.parent
        name = documents.text(tileset, "name", f"{source_name}: tileset")
        place = f"{source_name}: tileset {shown(name)}"
        first = documents.whole(raw, "firstgid", place, least=1)
        shared = _shared(tileset, place)
        size = documents.point(tileset, ("tilewidth", "tileheight"), place, 0.0, least=0.0)
        numbered.plain[first] = Tile(place, "", {}, size, (), shared)
        if not tileset.get("tiles") and tileset.get("tileproperties"):
            raise documents.before_lists(place)
        for tile in documents.nodes(tileset, "tiles", place, ", tile"):
            number = documents.whole(tile, "id", f"{place}, a tile", least=0)
            numbered.tiles[first + number] = self._tile(tile, f"{place}, tile {number}", size, shared, folder)

    def _tile(self, raw: Node, where: str, size: Point, shared: Tileset, folder: Path) -> Tile:
        group = raw.get("objectgroup")
        shapes: tuple[Object, ...] = ()
        outlines = tuple(
            documents.number(raw, side, where, documents.number(raw, f"image{side}", where, usual, least=0.0))
            for side, usual in zip(("width", "height"), size, strict=True)
        )
        if group is not None:
            layer = documents.node(group, f"{where}, its collision shapes")
            shapes = tuple(self._objects(layer, where, folder, None))
        return Tile(
            where,
            documents.class_of(raw, where, "class", "type"),
            documents.properties(raw, where),
            (outlines[0], outlines[1]),
            shapes,
            shared,
        )

    # -- objects, and the templates that they are made of

    def _objects(
        self, layer: Node, where: str, folder: Path, numbered: _TileNumbers | None
    ) -> Iterator[Object]:
        """The objects of a layer; names of templates are relative to ``folder``."""
        for part in documents.nodes(layer, "objects", where, ", object"):
            number = documents.whole(part, "id", f"{where}, object", default=0)
            name = documents.text(part, "name", f"{where}, object {number}", "")
            place = f"{where}, object {shown(name) if name else number}"
            tiles = numbered
            if part.get("template") is not None:
                source = documents.text(part, "template", place)
                template, own_tiles = self._template(folder / source, place)
                tiles = own_tiles if "gid" not in part else numbered
                part = _with_template(template, part, place)
            yield self._object(part, number, place, tiles)

    def _template(self, file: Path, where: str) -> tuple[Node, _TileNumbers | None]:
        if file not in self._templates:
            place = f"{where}: {file}"
            document = read_document(file, "template", place)
            if "object" not in document:
                raise FileError(f"{place} has no 'object'")
            numbered = None
            if document.get("tileset") is not None:
                numbered = _TileNumbers()
                tileset = documents.node(document["tileset"], place)
                self.add_tileset(numbered, tileset, file.parent, place)
            self._templates[file] = documents.node(document["object"], place), numbered
        return self._templates[file]

    def _object(self, raw: Node, number: int, where: str, numbered: _TileNumbers | None) -> Object:
        form: Form = next((kind for kind in _FORMS if raw.get(kind)), "box")
        tile, turned = None, 0
        if raw.get("gid") is not None:
            form = "tile"
            gid = documents.number(raw, "gid", where, least=0.0)
            if not gid.is_integer() or gid >= 2**32 or numbered is None:
                raise FileError(f"{where} has gid = {shown(raw['gid'])}, where the number of a tile belongs")
            turned = int(gid) & int(TURNED)
            tile = numbered.tile(int(gid) & int(NUMBER), where)
        usual = (0.0, 0.0) if tile is None else tile.size
        width = documents.number(raw, "width", where, usual[0], least=0.0)
        height = documents.number(raw, "height", where, usual[1], least=0.0)
        if tile is not None and tile.size == (0.0, 0.0):  # in no tileset, so the size of its image is unknown
            tile = tile._replace(size=(width, height))
        return Object(
            where,
            number,
            documents.text(raw, "name", where, ""),
            documents.class_of(raw, where, "class", "type"),
            form,
            *documents.point(raw, ("x", "y"), where),
            width,
            height,
            documents.number(raw, "rotation", where, 0.0),
            documents.flag(raw, "visible", where, True),
            self._points_of(raw, form, where),
            documents.text(documents.node(raw["text"], where), "text", where, "") if form == "text" else "",
            documents.properties(raw, where),
            tile,
            turned,
        )

    def _points_of(self, raw: Node, form: Form, where: str) -> tuple[Point, ...]:
        if form not in ("polygon", "polyline"):
            return ()
        points = documents.nodes(raw, form, where, f", {form}")
        self._points += len(points)
        if self._points > _MOST_POINTS:
            raise FileError(f"{where}: there are more than {_MOST_POINTS:,} points in all polygons")
        return tuple(documents.point(one, ("x", "y"), f"{where}, {form}") for one in points)


def _described(layer: Node, name: str, where: str) -> tuple[str, str, str, Mapping[str, Any]]:
    """What tile layers and object layers have in common: place for messages, name, class, properties."""
    return where, name, documents.class_of(layer, where, "class"), documents.properties(layer, where)


def _shared(tileset: Node, where: str) -> Tileset:
    raw = documents.node(tileset.get("tileoffset") or {}, f"{where}, tileoffset")
    return Tileset(
        documents.point(raw, ("x", "y"), where, 0.0),
        documents.text(tileset, "objectalignment", where, "unspecified"),
        documents.text(tileset, "tilerendersize", where, "tile") == "grid",
        documents.text(tileset, "fillmode", where, "stretch") == "preserve-aspect-fit",
    )


def _with_template(template: Node, node: Node, where: str) -> Node:
    """An object with the fields of its template, where it has no others itself."""
    properties = {
        one.get("name"): one
        for owner in (template, node)
        for one in documents.nodes(owner, "properties", where, ", property")
    }
    place = {key: node.get(key, 0.0) for key in ("x", "y")}
    return {**template, **node, **place, "properties": list(properties.values())}


# ---- worlds: maps that lie side by side


class Placed(NamedTuple):
    """A map, and the place of its upper left corner."""

    level: Map
    place: Point


def read_world(file: Path) -> list[Placed]:
    """Read all maps of a world.

    Raises
    ------
    FileError
        It is not a world, names a map twice, or a map is damaged.
    """
    where, budget = str(file), Budget()
    document = read_document(file, "world", where)
    found: dict[Path, Placed] = {}
    for path, place in [*_listed(document, file, where), *_matching(document, file, where)]:
        known = path.resolve()
        if known in found:
            raise FileError(f"{where}: {path} is named twice")
        level = read_map(path, named=f"{where}: {path}", budget=budget)
        if level.orientation in ("isometric", "oblique"):
            raise FileError(
                f"{where}: {path} is {level.orientation}; its objects are on a flat map, but the world is on "
                "the screen"
            )
        found[known] = Placed(level, place)
    return list(found.values())


def _listed(document: Node, file: Path, where: str) -> Iterator[tuple[Path, Point]]:
    for part in documents.nodes(document, "maps", where, ": map"):
        name = documents.text(part, "fileName", f"{where}: a map")
        place = f"{where}: map {shown(name)}"
        yield file.parent / name, documents.point(part, ("x", "y"), place, 0.0)


def _matching(document: Node, file: Path, where: str) -> Iterator[tuple[Path, Point]]:
    """The maps in the same folder whose names match a pattern, which gives their places."""
    for part in documents.nodes(document, "patterns", where, ": pattern"):
        pattern = _compiled(documents.text(part, "regexp", f"{where}: a pattern"), where)
        steps = documents.point(part, ("multiplierX", "multiplierY"), where, 1.0)
        offsets = documents.point(part, ("offsetX", "offsetY"), where, 0.0)
        for name in sorted(path.name for path in file.parent.iterdir()):
            match = pattern.fullmatch(name)
            if match:
                x, y = (
                    _index(match[1 + axis], f"{where}: {name}") * steps[axis] + offsets[axis]
                    for axis in (0, 1)
                )
                yield file.parent / name, (x, y)


def _compiled(text: str, where: str) -> re.Pattern[str]:
    bare = _ESCAPED.sub("a", text)
    settled = len(_SETTLED.findall(text))
    repeats = len(_REPEAT.findall(bare)) - settled + bool(settled)
    bits = _BITS_OF_REPEAT * repeats + len(_CHOICE.findall(bare))
    if _INVOLVED.search(bare) or bits > _MOST_BITS or len(text) > 200:
        raise FileError(f"{where}: the pattern {shown(text)} is too involved; list the maps under 'maps'")
    try:
        pattern = re.compile(text, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise FileError(f"{where}: the pattern {shown(text)} cannot be read: {error}") from error
    if pattern.groups != 2:
        raise FileError(f"{where}: the pattern {shown(text)} has {pattern.groups} groups; x and y are two")
    return pattern


def _index(word: Any, where: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", word or "", re.ASCII):
        raise FileError(f"{where} matches with {shown(word)}, where a whole number belongs")
    return int(word)
