"""Objects and collision shapes of tiles as outlines at their places: turned, mirrored and stretched.

A shape that still is a box, a circle or a capsule afterwards stays one; other round shapes become polygons.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError
from broadphase.io.tiled.documents import known_names
from broadphase.io.tiled.maps import (
    HEX_TURN,
    MIRRORED_X,
    MIRRORED_Y,
    MOST_CELLS,
    NUMBER,
    TRANSPOSED,
    TURNED,
    Map,
    Object,
    Point,
    Tile,
    TileLayer,
    read_map,
)
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, SIDES, TOP

CORNERS = 32
"""Corners of a polygon that replaces an ellipse; they lie on the ellipse."""
_ANCHORS = {
    row + column or "center": (x, y)
    for y, row in ((0.0, "top"), (0.5, ""), (1.0, "bottom"))
    for x, column in ((0.0, "left"), (0.5, ""), (1.0, "right"))
}
"""The point of a tile object that is at its position; unless its tileset says it, the lower left corner."""
_QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


class Frame(NamedTuple):
    """An affine map of points: ``x_x * x + x_y * y + x`` and ``y_x * x + y_y * y + y``."""

    x_x: float = 1.0
    y_x: float = 0.0
    x_y: float = 0.0
    y_y: float = 1.0
    x: float = 0.0
    y: float = 0.0

    def point(self, x: float, y: float) -> Point:
        """The image of a point."""
        return self.x_x * x + self.x_y * y + self.x, self.y_x * x + self.y_y * y + self.y

    def then(self, other: "Frame") -> "Frame":
        """A map that applies this one first, then the other."""
        x, y = other.point(self.x, self.y)
        return Frame(
            other.x_x * self.x_x + other.x_y * self.y_x,
            other.y_x * self.x_x + other.y_y * self.y_x,
            other.x_x * self.x_y + other.x_y * self.y_y,
            other.y_x * self.x_y + other.y_y * self.y_y,
            x,
            y,
        )

    @property
    def keeps_boxes(self) -> bool:
        """Whether axis-aligned boxes stay axis-aligned."""
        return self.x_y == self.y_x == 0.0 or self.x_x == self.y_y == 0.0

    @property
    def scale(self) -> float | None:
        """The factor by which it stretches; None where that depends on the direction."""
        one, other = math.hypot(self.x_x, self.y_x), math.hypot(self.x_y, self.y_y)
        slanted = abs(self.x_x * self.x_y + self.y_x * self.y_y)
        return one if math.isclose(one, other, rel_tol=1e-12) and slanted <= 1e-12 * one * other else None


def moved(x: float, y: float) -> Frame:
    """A frame that only moves."""
    return Frame(x=x, y=y)


def stretched(x: float, y: float) -> Frame:
    """A frame that only stretches, or mirrors."""
    return Frame(x_x=x, y_y=y)


def turned(degrees: float) -> Frame:
    """A frame that turns clockwise on the screen; quarters are exact."""
    quarters, rest = divmod(degrees, 90.0)
    cosine, sine = _QUARTERS[int(quarters % 4)]
    if rest:
        cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return Frame(cosine, sine, -sine, cosine)


class Outline(NamedTuple):
    """An outline, from which one shape is made, or several for a line or a polygon that is not convex."""

    kind: Literal["box", "polygon", "circle", "capsule", "line"]
    points: tuple[Point, ...]
    """For a box the min corner and the size, for a circle its centre, for a capsule the ends of its line."""
    radius: float = 0.0


def outlines_of(one: Object, frame: Frame) -> Iterator[Outline]:
    """The outlines of an object; none for points and texts.

    Parameters
    ----------
    one : Object
    frame : Frame
        From the coordinates of the object to those of its outlines.
    """
    placement = turned(one.rotation).then(moved(one.x, one.y)).then(frame)
    width, height = one.width, one.height
    if one.tile is not None:
        yield from _tile_object(one, one.tile, placement)
    elif one.form in ("polygon", "polyline"):
        points = _without_repeats(placement.point(*point) for point in one.points)
        closed = one.form == "polygon" and len(points) > 2
        if len(points) > 1:
            yield Outline("polygon" if closed else "line", points)
    elif one.form in ("point", "text") or width == height == 0.0:
        return
    elif width == 0.0 or height == 0.0:
        yield Outline("line", (placement.point(0.0, 0.0), placement.point(width, height)))
    elif one.form == "ellipse":
        yield _ellipse(width, height, placement)
    elif one.form == "capsule":
        yield _capsule(width, height, placement)
    else:
        yield _box(width, height, placement)


def shapes_of_tile(tile: Tile, frame: Frame) -> Iterator[Outline]:
    """The collision shapes of a tile; the whole tile where it has none."""
    if not tile.shapes:
        yield _box(*tile.size, frame)
    for shape in tile.shapes:
        yield from outlines_of(shape, frame)


def frame_of_tile(tile: Tile, turned_by: int, size: Point | None, *, hexagonal: bool = False) -> Frame:
    """From a tile in its tileset to the same tile turned and mirrored, with its lower left corner at zero.

    Parameters
    ----------
    tile : Tile
    turned_by : int
        The upper bits of a tile's number.
    size : (float, float), optional
        The size to which it is stretched.
    hexagonal : bool
        Whether the bits are those of a hexagonal map.
    """
    width, height = tile.size
    frame = Frame()
    transposed = turned_by & TRANSPOSED and not hexagonal
    if transposed:
        frame, width, height = Frame(0.0, 1.0, 1.0, 0.0), height, width
    if turned_by & MIRRORED_X:
        frame = frame.then(stretched(-1.0, 1.0)).then(moved(width, 0.0))
    if turned_by & MIRRORED_Y:
        frame = frame.then(stretched(1.0, -1.0)).then(moved(0.0, height))
    if hexagonal and turned_by & (TRANSPOSED | HEX_TURN):
        degrees = 60.0 * bool(turned_by & TRANSPOSED) + 120.0 * bool(turned_by & HEX_TURN)
        middle = 0.5 * width, 0.5 * height
        frame = frame.then(moved(-middle[0], -middle[1])).then(turned(degrees)).then(moved(*middle))
    frame = frame.then(moved(0.0, -height))
    x, y = tile.tileset.offset
    if size is not None and width > 0.0 and height > 0.0:
        # A transposed tile is stretched before it is transposed, as Tiled does: it fills a box of H x W.
        box_width, box_height = (size[1], size[0]) if transposed else size
        across, down = box_width / width, box_height / height
        if tile.tileset.keeps_aspect:
            across = down = min(across, down)
        rest = 0.5 * (box_width - across * width), 0.5 * (down * height - box_height)
        frame = frame.then(stretched(across, down)).then(moved(*rest))
        x, y = (x * down, y * across) if transposed else (x * across, y * down)
    return frame.then(moved(x, y))


def _tile_object(one: Object, tile: Tile, placement: Frame) -> Iterator[Outline]:
    if not (one.width > 0.0 and one.height > 0.0):
        return
    x, y = _ANCHORS.get(tile.tileset.alignment, (0.0, 1.0))
    placed = moved(-x * one.width, (1.0 - y) * one.height).then(placement)
    yield from shapes_of_tile(tile, frame_of_tile(tile, one.turned, (one.width, one.height)).then(placed))


# ---- shapes as outlines


def _box(width: float, height: float, frame: Frame) -> Outline:
    corners = [frame.point(x, y) for x, y in ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))]
    if not frame.keeps_boxes:
        return Outline("polygon", tuple(corners))
    (ax, ay), (bx, by) = corners[0], corners[2]
    size = (abs(frame.x_x * width + frame.x_y * height), abs(frame.y_x * width + frame.y_y * height))
    return Outline("box", ((min(ax, bx), min(ay, by)), size))


def _ellipse(width: float, height: float, frame: Frame) -> Outline:
    scale = frame.scale
    if width == height and scale is not None:
        return Outline("circle", (frame.point(0.5 * width, 0.5 * height),), 0.5 * width * scale)
    if frame.keeps_boxes:
        (left, top), (across, down) = _box(width, height, frame).points
        if across == down:
            return Outline("circle", ((left + 0.5 * across, top + 0.5 * down),), 0.5 * across)
    around = [2.0 * math.pi * k / CORNERS for k in range(CORNERS)]
    points = (
        (0.5 * width * (1.0 + math.cos(angle)), 0.5 * height * (1.0 + math.sin(angle))) for angle in around
    )
    return Outline("polygon", tuple(frame.point(*point) for point in points))


def _capsule(width: float, height: float, frame: Frame) -> Outline:
    if width == height:
        return _ellipse(width, height, frame)
    radius, scale = 0.5 * min(width, height), frame.scale
    ends = ((radius, radius), (width - radius, height - radius))
    if scale is not None:
        return Outline("capsule", tuple(frame.point(*end) for end in ends), radius * scale)
    # Two half circles; the first begins at the side that has the line between the ends on its left.
    start = -0.5 * math.pi if width > height else 0.0
    points = []
    for half, (x, y) in enumerate((ends[1], ends[0])):
        for k in range(CORNERS // 2 + 1):
            angle = start + math.pi * (half + 2.0 * k / CORNERS)
            points.append((x + radius * math.cos(angle), y + radius * math.sin(angle)))
    return Outline("polygon", _without_repeats(frame.point(*point) for point in points))


def _without_repeats(points: Iterable[Point]) -> tuple[Point, ...]:
    """Without points that equal their neighbour, or the first point at the end."""
    kept: list[Point] = []
    for point in points:
        if not kept or point != kept[-1]:
            kept.append(point)
    if len(kept) > 3 and kept[0] == kept[-1]:
        kept.pop()
    return tuple(kept)


# -----------------------------------------------------------------------------------------------------------
# Which cells of a Tiled map block, and the `broadphase.TileMap` of them.
#
# A cell blocks as a whole, on some sides, up to a slope, or with a shape that no cell can have.  Whether it
# blocks follows from a custom property of its tile or of its whole layer, where that of the tile wins; or
# from the names of layers that the caller gives.  Without either, all tiles with collision shapes block.


ENDINGS = (".tmx", ".tmj", ".json")
ON_SHAPES = ("warn", "fill", "refuse")
MOST_SHAPED = 1_000_000
"""The most tiles with shapes of their own: each becomes a Python object."""
_AS_IT_IS = Frame()
Places = npt.NDArray[np.int64]

# ---- where cells lie


def cell_size(level: Map) -> Point:
    """The size of a cell in the coordinates of the map's objects.

    Isometric maps are flat in these coordinates: their cells are squares as high as a tile.
    """
    width, height = level.tile_size
    return (height, height) if level.orientation == "isometric" else (width, height)


def in_cells(level: Map, offset: Point) -> Point:
    """An offset on the screen, in the coordinates of the map's objects."""
    if level.orientation != "isometric":
        return offset
    (x, y), (width, height) = offset, level.tile_size
    return (x / width + y / height) * height, (y / height - x / width) * height


def is_staggered(level: Map) -> bool:
    """Whether its cells do not lie on a grid."""
    return level.orientation in ("staggered", "hexagonal")


def height_of(level: Map) -> float:
    """The height of a finite map, in the coordinates of its objects."""
    columns, rows = level.size
    if not is_staggered(level):
        return rows * cell_size(level)[1]
    last = max(corner_of(level, column, max(rows, 1) - 1)[1] for column in range(min(max(columns, 1), 2)))
    return last + _even(level.tile_size[1])


def corner_of(level: Map, column: int, row: int) -> Point:
    """The upper left corner of the box around a staggered cell."""
    axis, index, _ = level.stagger
    width, height = _even(level.tile_size[0]), _even(level.tile_size[1])
    x, y = _edges(level)
    odd_one = bool((column if axis == "x" else row) & 1) != (index == "even")
    if axis == "x":
        return column * (width - x), row * height + y * odd_one
    return column * width + x * odd_one, row * (height - y)


def outline_of_cell(level: Map) -> tuple[Point, ...]:
    """The corners of a staggered cell, relative to the upper left corner of the box around it."""
    width, height = _even(level.tile_size[0]), _even(level.tile_size[1])
    x, y = _edges(level)
    right, bottom = width - x, height - y
    upper = (0.0, y), (x, 0.0), (right, 0.0), (width, y)
    lower = (width, bottom), (right, height), (x, height), (0.0, bottom)
    ring = (*upper, *lower)
    return tuple(point for k, point in enumerate(ring) if point != ring[k - 1])


def _edges(level: Map) -> Point:
    """The extents of the sloped sides of a cell in x and y."""
    axis, _, side = level.stagger
    width, height = _even(level.tile_size[0]), _even(level.tile_size[1])
    return (width - side * (axis == "x")) // 2, (height - side * (axis == "y")) // 2


def _even(length: float) -> float:
    """Rounded down to an even number, as Tiled does, so that halves are whole."""
    return length - length % 2


# ---- the cells that block


class Slope(NamedTuple):
    """How far a cell is filled, see `broadphase.TileMap.set_slope`."""

    left: float
    right: float
    base: Literal["bottom", "top"]


class Part(NamedTuple):
    """A layer of a map, and the position of the map."""

    level: Map
    layer: TileLayer
    place: Point


class BlockingRules(NamedTuple):
    """The rules for which tiles block."""

    solid: str
    one_way: str
    everything: bool
    """Whether all tiles block, because the caller named the layers."""
    by_shape: bool
    """Whether tiles with collision shapes block."""


class Shaped(NamedTuple):
    """Tiles of one kind whose shape no cell can have."""

    part: Part
    number: int
    """With the upper bits, which say how the tile is turned and mirrored."""
    tile: Tile | None
    """None where the tileset has no entry for it; then the whole cell blocks."""
    places: Places
    """``(m, 2)``: column and row, counted from the start of the layer."""


TileData: TypeAlias = tuple[frozenset[str], Mapping[str, Any]]
"""Tags and properties of a tile."""


class Ground(NamedTuple):
    """The blocking cells of one or several maps; y points down."""

    solid: npt.NDArray[np.bool_]
    one_way: npt.NDArray[np.uint8]
    slopes: dict[tuple[int, int], Slope]
    """By column and row."""
    cell: Point
    first: tuple[int, int]
    """Column and row of its first cell, among the cells of all maps."""
    shift: Point
    """The upper left corner of cell 0, 0."""
    shaped: list[Shaped]
    ignored: list[str]
    """Tiles that block on some sides, whose shapes are ignored."""
    kinds: npt.NDArray[np.uint16]
    """The number in ``data`` of what each cell is."""
    data: list[TileData]
    ladders: npt.NDArray[np.bool_]

    def fill(self, shaped: Shaped) -> None:
        """Let the whole cells of tiles with shapes block."""
        column, row = _first_cell(shaped.part, self.cell, blocking=True)
        columns, rows = (shaped.places + np.array([column - self.first[0], row - self.first[1]])).T
        self.solid[rows, columns] = True

    @property
    def origin(self) -> Point:
        """The upper left corner."""
        (column, row), (width, height), (x, y) = self.first, self.cell, self.shift
        return column * width + x, row * height + y


def blocking_rules(parts: Sequence[Part], solid: str, one_way: str, everything: bool) -> BlockingRules | None:
    """The rules for which tiles block; None where nothing says it."""
    levels = {id(part.level): part.level for part in parts}.values()
    said: list[Mapping[str, Any]] = [part.layer.properties for part in parts]
    said += [tile.properties for level in levels for tile in level.tiles.values()]
    if everything or any(solid in rule_set or one_way in rule_set for rule_set in said):
        return BlockingRules(solid, one_way, everything, False)
    if any(tile.shapes for level in levels for tile in level.tiles.values()):
        return BlockingRules(solid, one_way, False, True)
    return None


def ground_of(parts: Sequence[Part], every: Sequence[Part], rules: BlockingRules, where: str) -> Ground:
    """The blocking cells in layers of one map, or of several maps on one grid, with what every layer says."""
    kinds = [_kinds_of(part, rules) for part in parts]
    grids = [(part, kind) for part, kind in zip(parts, kinds, strict=True) if not is_staggered(part.level)]
    cell = _one_cell(grids, where)
    shift = _one_shift(grids, cell, where)
    left, top, right, bottom = _extent(grids, cell, where)
    shape = bottom - top, right - left
    solid, ladders = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    sides, numbers = np.zeros(shape, np.uint8), np.zeros(shape, np.uint16)
    nothing: TileData = frozenset(), {}
    found = Ground(solid, sides, {}, cell, (left, top), shift, [], [], numbers, [nothing], ladders)
    for part, kind in zip(parts, kinds, strict=True):
        if is_staggered(part.level):
            for number in kind.numbers[kind.solid].tolist():
                tile = part.level.tiles.get(number & int(NUMBER))
                found.shaped.append(Shaped(part, number, tile, _places(part.layer, number)))
        else:
            _add(found, part, kind, left, top)
    if sum(len(one.places) for one in found.shaped) + len(found.slopes) > MOST_SHAPED:
        raise FileError(f"{where} has more than {MOST_SHAPED:,} tiles with shapes of their own")
    _add_data(found, every, rules, where)
    return found


def _add_data(found: Ground, parts: Sequence[Part], rules: BlockingRules, where: str) -> None:
    """Add the class, tags and properties of all tiles to the cells; those of upper layers win."""
    known: dict[tuple[frozenset[str], str], int] = {}
    for part in parts:
        if is_staggered(part.level) or cell_size(part.level) != found.cell:
            continue
        column, row = np.subtract(_first_cell(part, found.cell, blocking=True), found.first).tolist()
        cells = part.layer.cells[max(-row, 0) :, max(-column, 0) :]
        (rows, columns), (top, left) = cells.shape, (max(row, 0), max(column, 0))
        region = slice(top, top + rows), slice(left, left + columns)
        below = found.kinds[region]
        cells = cells[: below.shape[0], : below.shape[1]]
        numbers, which = np.unique(cells, return_inverse=True)
        which = which.reshape(cells.shape)
        said = [_data_of(part, number, rules) for number in numbers.tolist()]
        ladders = np.array([_is_solid(words, "ladder", part.layer.where) for _, words in said], np.bool_)
        found.ladders[region] |= ladders[which]
        # Tiles that say the same over cells that were the same become one kind.
        both, which = np.unique(below.astype(np.int64) * len(numbers) + which, return_inverse=True)
        kinds = [
            _kind_of(found, known, number // len(numbers), said[number % len(numbers)])
            for number in both.tolist()
        ]
        if len(found.data) > np.iinfo(np.uint16).max:
            raise FileError(f"{where} has {len(found.data):,} kinds of tiles, more than a map holds")
        below[:] = np.array(kinds, np.uint16)[which.reshape(cells.shape)]


def _kind_of(found: Ground, known: dict[tuple[frozenset[str], str], int], below: int, said: TileData) -> int:
    """The number of what a cell is under a tile and by it."""
    (tags, words), (more, others) = found.data[below], said
    if not more and not others:
        return below
    new = tags | more, {**words, **others}
    key = new[0], repr(sorted(new[1].items()))
    if key not in known:
        known[key] = len(found.data)
        found.data.append(new)
    return known[key]


def _data_of(part: Part, number: int, rules: BlockingRules) -> TileData:
    """The tags of a tile, and its properties but for those that say how it blocks; nothing without a tile."""
    if not number & int(NUMBER):
        return frozenset(), {}
    tile, layer = part.level.tiles.get(number & int(NUMBER)), part.layer
    words = {**layer.properties, **(tile.properties if tile else {})}
    tags = tags_of((tile.type if tile else "") or layer.type, words)
    return tags, {
        name: word for name, word in words.items() if name not in (rules.solid, rules.one_way, "tag")
    }


def tags_of(kind: str, words: Mapping[str, Any]) -> frozenset[str]:
    """A class, and the names in the property ``tag``."""
    return frozenset({kind, *(word.strip() for word in str(words.get("tag", "")).split(","))} - {""})


# ---- which tiles of a layer block


class _Kinds(NamedTuple):
    """For each distinct number in a layer, ascending: how such a tile blocks."""

    numbers: npt.NDArray[np.uint32]
    solid: npt.NDArray[np.bool_]
    sides: npt.NDArray[np.uint8]
    blocks: bool


def _kinds_of(part: Part, rules: BlockingRules) -> _Kinds:
    numbers = np.unique(part.layer.cells)
    solid, sides = np.zeros(len(numbers), np.bool_), np.zeros(len(numbers), np.uint8)
    for place, number in enumerate(numbers.tolist()):
        if not number & int(NUMBER):
            continue
        tile = part.level.tiles.get(number & int(NUMBER))
        properties: Mapping[str, Any] = {} if tile is None else tile.properties
        where = (
            tile.where
            if tile is not None and (rules.one_way in properties or rules.solid in properties)
            else None
        )
        said = {**part.layer.properties, **properties}
        if rules.by_shape:
            solid[place] = tile is not None and bool(tile.shapes)
        elif rules.one_way in said:
            bits = _bits(said[rules.one_way], where or part.layer.where)
            sides[place] = _turned_sides(bits, number) if rules.one_way in properties else bits
            if bits and is_staggered(part.level):
                raise FileError(f"{where or part.layer.where} blocks on some sides; no staggered tile does")
        else:
            solid[place] = rules.everything or _is_solid(said, rules.solid, where or part.layer.where)
    return _Kinds(numbers, solid, sides, bool(solid.any() or sides.any()))


def _bits(names: Any, where: str) -> np.uint8:
    bits = np.uint8(0)
    for name in str(names).replace(",", " ").split():
        if name not in SIDES:
            raise FileError(f"{where} has the unknown side {name!r}; choose from {', '.join(SIDES)}")
        bits |= SIDES[name]
    return bits


def _is_solid(properties: Mapping[str, Any], solid: str, where: str) -> bool:
    value = properties.get(solid, False)
    if not isinstance(value, bool | int | float):
        raise FileError(f"{where} has {solid} = {value!r}; make it a property of type bool")
    return bool(value)


def _turned_sides(bits: np.uint8, number: int) -> np.uint8:
    """The sides of a turned tile: they turn with it."""
    swaps = [
        (TRANSPOSED, ((LEFT, TOP), (RIGHT, BOTTOM))),
        (MIRRORED_X, ((LEFT, RIGHT),)),
        (MIRRORED_Y, ((TOP, BOTTOM),)),
    ]
    for turn, pairs in swaps:
        if number & turn:
            bits = swapped(bits, pairs)
    return bits


def swapped(bits: Any, pairs: Iterable[tuple[np.uint8, np.uint8]]) -> Any:
    """Side bits, of one tile or an array, where each of ``pairs`` is exchanged."""
    for one, other in pairs:
        kept = bits & ~(one | other)
        bits = kept | ((bits & one) != 0) * other | ((bits & other) != 0) * one
    return bits


# ---- where the layers lie


def _first_cell(part: Part, cell: Point, *, blocking: bool) -> tuple[int, int]:
    """The column and row, among the cells of all maps, in which a layer begins.

    The offset of a layer counts only where it blocks: decoration may have any offset.
    """
    columns, _, rows, _ = _steps(part, cell, blocking)
    return part.layer.column + columns, part.layer.row + rows


def _steps(part: Part, cell: Point, blocking: bool) -> tuple[int, float, int, float]:
    """The offset of a layer: columns and a remainder, rows and a remainder."""
    dx, dy = in_cells(part.level, part.layer.offset) if blocking else (0.0, 0.0)
    columns, right = divmod(part.place[0] + dx, cell[0])
    rows, down = divmod(part.place[1] + dy, cell[1])
    return int(columns), right, int(rows), down


def _one_cell(grids: list[tuple[Part, _Kinds]], where: str) -> Point:
    sizes = list(dict.fromkeys(cell_size(part.level) for part, kind in grids if kind.blocks))
    if len(sizes) > 1:
        (width, height), (other_width, other_height) = sizes[:2]
        raise FileError(
            f"{where}: tiles of {width:g} x {height:g} and of {other_width:g} x {other_height:g} are on no "
            "common grid; read the maps or levels one by one"
        )
    return sizes[0] if sizes else (cell_size(grids[0][0].level) if grids else (1.0, 1.0))


def _one_shift(grids: list[tuple[Part, _Kinds]], cell: Point, where: str) -> Point:
    """The offset of the grid by a part of a cell, which all layers must share."""
    found: dict[Point, str] = {}
    for part, kind in grids:
        if kind.blocks:
            _, right, _, down = _steps(part, cell, blocking=True)
            found.setdefault((right, down), part.layer.where)
    if len(found) > 1:
        one, other = list(found.values())[:2]
        raise FileError(
            f"{where}: {one} and {other} are moved against each other by parts of a tile, so they are on no "
            "common grid; read those that are on one (layers=, of LDtk levels=), or move them by whole tiles"
        )
    return next(iter(found), (0.0, 0.0))


def _extent(grids: list[tuple[Part, _Kinds]], cell: Point, where: str) -> tuple[int, int, int, int]:
    """First column and row, and the column and row after the last."""
    boxes = []
    for part, kind in grids:
        column, row = _first_cell(part, cell, blocking=kind.blocks)
        rows, columns = part.layer.cells.shape
        if kind.blocks or rows * columns:
            boxes.append((column, row, column + columns, row + rows))
    if not boxes:
        return 0, 0, 0, 0
    corners = np.array(boxes)
    left, top = corners[:, :2].min(axis=0).tolist()
    right, bottom = corners[:, 2:].max(axis=0).tolist()
    if (right - left) * (bottom - top) > MOST_CELLS:
        raise FileError(
            f"{where}: its layers lie too far apart, {right - left} columns and {bottom - top} rows"
        )
    return left, top, right, bottom


# ---- filling the cells


def _add(found: Ground, part: Part, kinds: _Kinds, left: int, top: int) -> None:
    """Add the blocking tiles of a layer to the cells."""
    if not kinds.blocks:
        return
    column, row = _first_cell(part, found.cell, blocking=True)
    rows = slice(row - top, row - top + part.layer.cells.shape[0])
    columns = slice(column - left, column - left + part.layer.cells.shape[1])
    whole = kinds.solid.copy()
    special: list[tuple[int, Tile, Slope | None]] = []
    for place in np.flatnonzero(kinds.solid | (kinds.sides != 0)).tolist():
        number = int(kinds.numbers[place])
        tile = part.level.tiles.get(number & int(NUMBER))
        form = "whole" if tile is None else form_in_cell(part.level, tile, number & int(TURNED))
        if tile is None or form == "whole":
            continue
        if kinds.sides[place]:
            found.ignored.append(tile.where)
        else:
            whole[place] = False
            special.append((number, tile, form if isinstance(form, Slope) else None))
    kind_of = np.searchsorted(kinds.numbers, part.layer.cells)
    found.solid[rows, columns] |= whole[kind_of]
    found.one_way[rows, columns] |= kinds.sides[kind_of]
    for number, tile, slope in special:
        places = _places(part.layer, number)
        if slope is None:
            found.shaped.append(Shaped(part, number, tile, places))
        else:
            _add_slopes(found, Shaped(part, number, tile, places), slope, (column - left, row - top))


def _add_slopes(found: Ground, shaped: Shaped, slope: Slope, first: tuple[int, int]) -> None:
    """Add slopes; a cell has one slope, so where there is another already, the tile becomes a shape."""
    late = []
    for column, row in shaped.places.tolist():
        cell = column + first[0], row + first[1]
        if found.slopes.setdefault(cell, slope) != slope:
            late.append((column, row))
    if late:
        found.shaped.append(shaped._replace(places=np.array(late, np.int64)))


def _places(layer: TileLayer, number: int) -> Places:
    """``(m, 2)``: the columns and rows of all tiles with this number, from the start of the layer."""
    return np.argwhere(layer.cells == number)[:, ::-1]


def form_in_cell(level: Map, tile: Tile, turned_by: int) -> Slope | Literal["whole"] | None:
    """How the shapes of a tile fill its cell; None where no cell can have such a shape."""
    if not tile.shapes:
        return "whole"
    size = cell_size(level)
    if level.orientation not in ("orthogonal", "oblique"):
        width, height = tile.size
        boxes = [(one.form, one.x, one.y, one.width, one.height, one.rotation) for one in tile.shapes]
        return "whole" if ("box", 0.0, 0.0, width, height, 0.0) in boxes else None
    outlines = outlines_in_cell(level, tile, turned_by)
    forms = [_form(outline, size) for outline in outlines]
    if not forms or "whole" in forms:
        return "whole"
    return forms[0] if len(forms) == 1 else None


def outlines_in_cell(level: Map, tile: Tile, turned_by: int, then: Frame = _AS_IT_IS) -> list[Outline]:
    """The shapes of a tile of a layer, relative to the upper left corner of its cell."""
    size = level.tile_size if tile.tileset.fills_grid else None
    hexagonal = level.orientation == "hexagonal"
    frame = frame_of_tile(tile, turned_by, size, hexagonal=hexagonal).then(moved(0.0, level.tile_size[1]))
    return list(shapes_of_tile(tile, frame.then(then)))


def _form(outline: Outline, size: Point) -> Slope | Literal["whole"] | None:
    if outline.kind == "box":
        (left, top), (across, down) = outline.points
        right, bottom = left + across, top + down
        points: Sequence[Point] = ((left, top), (right, top), (right, bottom), (left, bottom))
    elif outline.kind == "polygon":
        points = outline.points
    else:
        return None
    width, height = size
    at_left = sorted(y for x, y in points if x == 0.0)
    at_right = sorted(y for x, y in points if x == width)
    if len(at_left) + len(at_right) != len(points) or not at_left or not at_right or len(points) > 4:
        return None
    if not (min(at_left[0], at_right[0]) >= 0.0 and max(at_left[-1], at_right[-1]) <= height):
        return None
    if at_left[-1] == at_right[-1] == height:
        left_part, right_part = 1.0 - at_left[0] / height, 1.0 - at_right[0] / height
        return "whole" if left_part == right_part == 1.0 else Slope(left_part, right_part, "bottom")
    if at_left[0] == at_right[0] == 0.0:
        return Slope(at_left[-1] / height, at_right[-1] / height, "top")
    return None


# ---- the tile map


def read_tiles(
    path: str | PathLike[str],
    make: Callable[..., Any],
    *,
    layers: Iterable[str] | None = None,
    solid: str = "solid",
    one_way: str = "one_way",
    y_up: bool = False,
    shapes: Literal["warn", "fill", "refuse"] = "warn",
) -> Any:
    """The tile map of a map; `broadphase.adapters.tiled.read` documents the arguments."""
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
    every = [Part(level, layer, (0.0, 0.0)) for layer in level.layers]
    parts = named(every, layers, str(file))
    rules = blocking_rules(parts, solid, one_way, layers is not None)
    if rules is None:
        raise ValueError(
            f"nothing in {file} says what is solid: give tiles or a layer the bool property {solid!r}, or "
            f"pass layers=; it has {', '.join(repr(layer.name) for layer in level.layers) or 'none'}"
        )
    ground = ground_of(parts, every, rules, str(file))
    if shapes == "fill":
        for column, row in ground.slopes:
            ground.solid[row, column] = True
        ground.slopes.clear()
    else:
        warn_of_shapes([one.tile.where for one in ground.shaped if one.tile] + ground.ignored, shapes)
    for shaped in ground.shaped:
        ground.fill(shaped)
    return tiles_of(ground, y_up, 0.0 if level.endless else height_of(level), make)


def check_file(file: Path, endings: Sequence[str]) -> None:
    """Raise where the file does not exist or has another ending."""
    if not file.is_file():
        raise FileNotFoundError(f"no Tiled map at {file}")
    if file.suffix.lower() in (".ldtk", ".ldtkl"):
        raise FileError(f"{file} is a file of LDtk, not of Tiled: broadphase.adapters.ldtk.load reads it")
    if file.suffix.lower() not in endings:
        raise ValueError(f"{file} must end in {', '.join(endings)}")


def named(parts: list[Part], names: Iterable[str] | None, where: str) -> list[Part]:
    """The layers with one of these names; without ``names`` all layers."""
    if names is None:
        return parts
    wanted = known_names(names, sorted({part.layer.name for part in parts}), "tile layer", where)
    return [part for part in parts if part.layer.name in wanted]


def tiles_of(ground: Ground, y_up: bool, height: float, make: Callable[..., Any]) -> Any:
    """The tile map; with ``y_up`` y is mirrored at zero and then ``height`` is added.

    ``make`` is its class, which lies in a higher layer and so is not imported here.
    """
    solid, sides, (x, y) = ground.solid, ground.one_way, ground.origin
    slopes, kinds, ladders = ground.slopes, ground.kinds, ground.ladders
    if y_up:
        rows = len(solid)
        solid, kinds, ladders = solid[::-1].copy(), kinds[::-1], ladders[::-1]
        sides = np.ascontiguousarray(swapped(sides, [(TOP, BOTTOM)])[::-1])
        y = height - (y + rows * ground.cell[1])
        slopes = {
            (column, rows - 1 - row): slope._replace(base="top" if slope.base == "bottom" else "bottom")
            for (column, row), slope in slopes.items()
        }
    tiles = make(solid, ground.cell, (x, y), one_way=sides if sides.any() else None)
    for (column, row), slope in slopes.items():
        if not tiles.solid[row, column]:  # a tile of another layer that fills the cell hides its slope
            tiles.set_slope(column, row, slope.left, slope.right, base=slope.base)
    if kinds.any():
        tiles._take_data(kinds, ground.data)
    for row, column in np.argwhere(ladders).tolist():
        tiles.set_ladder(column, row)
    return tiles


_FILL = 'shapes="fill" says that this is meant, broadphase.adapters.tiled.load makes bodies of such shapes'


def warn_of_shapes(places: Sequence[str], shapes: str, advice: str = _FILL) -> None:
    """Warn of tiles whose shapes are ignored, or raise."""
    shaped = list(dict.fromkeys(places))
    if not shaped:
        return
    others = f" and {len(shaped) - 1} more tiles have" if len(shaped) > 1 else " has"
    if shapes == "refuse":
        raise ValueError(f"{shaped[0]}{others} a collision shape that no cell can have")
    warnings.warn(
        f"{shaped[0]}{others} a collision shape that no cell can have: the whole tile blocks; {advice}",
        stacklevel=4,
    )
