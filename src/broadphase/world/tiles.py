"""The tile map: a grid of solid cells that may change at any time, with slopes, ladders and pathfinding.

The array of solid cells is the map: nothing is merged, copied or indexed.  Setting a cell opens a door, and
a map of 10,000 x 10,000 tiles takes the 100 MB of its array.  Slopes
and ladders lie in an array of their own, which is made when the first is set.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from operator import index
from os import PathLike
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.errors import hinting, instead, with_hints
from broadphase.geometry.shapes import Bounds, Polygon, finite
from broadphase.indexes.arguments import flag
from broadphase.inputs.arrays import WAYS
from broadphase.inputs.numeric import not_negative
from broadphase.kernels.tiles import grid as kernel
from broadphase.kernels.tiles import slopes
from broadphase.kernels.tiles.field_of_view import find_visible
from broadphase.kernels.tiles.grid import SIDES, Side, TileGrid
from broadphase.runtime.arrays import briefly
from broadphase.world import pathfinding
from broadphase.world.arguments import (
    as_bounds,
    as_cells,
    as_points,
    as_sides,
    as_tags,
    as_two,
    check_edges,
    is_plain,
    of_one_length,
)
from broadphase.world.pathfinding import (
    Diagonal,
    FlowField,
    Tiles,
    Walker,
    as_cost,
    as_tile,
    as_tiles,
    as_walker,
)

_NO_ONE_WAY = np.empty((0, 0), np.uint8)
_NO_KINDS = np.empty((0, 0), np.uint16)
# So many flow fields are kept.
_KEPT = 8

NO_TILES = kernel.no_tiles()

Base: TypeAlias = Literal["bottom", "top"]
_BASES: dict[Base, float] = {"bottom": 0.0, "top": 1.0}


class Tile(NamedTuple):
    """A cell of a tile map."""

    column: int
    row: int


class Cells(NamedTuple):
    """A block of cells."""

    columns: range
    rows: range


class Slope(NamedTuple):
    """The slope of a tile; see `TileMap.set_slope`."""

    left: float
    right: float
    base: Base = "bottom"


class TileData(NamedTuple):
    """What a tile is, apart from whether it blocks; see `TileMap.set_data`."""

    tags: frozenset[Any]
    properties: Mapping[str, Any]


_NO_DATA = TileData(frozenset(), {})


def _key_of(data: TileData) -> Hashable:
    """What data that is equal shares; values that have no hash are compared by `_same`."""
    return data.tags, frozenset((name, _hashable(word)) for name, word in data.properties.items())


def _hashable(word: Any) -> Hashable:
    try:
        hash(word)
    except TypeError:
        return repr(word)
    return word  # type: ignore[no-any-return]


def _same(one: TileData, other: TileData) -> bool:
    """Whether both are equal; those with different arrays, which no bool compares, are not."""
    try:
        return one == other
    except ValueError:
        return all(one.properties[name] is word for name, word in other.properties.items())


class TileHit(NamedTuple):
    """Where a ray enters a solid tile."""

    tile: Tile
    distance: float
    """0 where the ray starts in the tile."""
    normal: tuple[float, float]
    """Unit axis vector out of the side that was hit; ``(0.0, 0.0)`` where the ray starts in the tile."""
    point: tuple[float, float]


@briefly
class TileHits(NamedTuple):
    """Where many rays enter solid tiles, one row a ray."""

    tiles: npt.NDArray[np.int64]
    """``(m, 2)``: column and row; -1 where the ray hits nothing."""
    distances: npt.NDArray[np.float64]
    """Infinite where the ray hits nothing."""
    normals: npt.NDArray[np.float64]
    """``(m, 2)``"""


_OTHER_NAMES = {
    **dict.fromkeys(
        ["width", "height", "size", "shape"], "columns and rows are how many tiles, bounds where"
    ),
    **dict.fromkeys(["tile_width", "tile_height"], "tile_size has both"),
    **dict.fromkeys(["get", "at", "get_tile"], "tile_at(x, y) is the tile of a point, is_solid asks one"),
    **dict.fromkeys(["query_box", "first_blocker"], "tiles_in(box) has the solid tiles, row by row"),
    **dict.fromkeys(["set_solid", "a_star", "astar"], "it is set or find_path here"),
    **dict.fromkeys(["fov", "compute_fov", "field_of_view"], "it is visible_from(tile, radius) here"),
}


@hinting
@instead(_OTHER_NAMES)
class TileMap:
    """Solid and one-way tiles on a grid.

    Parameters
    ----------
    solid : array_like of bool, or sequence of str
        2-D, indexed ``[row, column]``.  A C-contiguous, writable array is used as it is: you may
        write to it, and each cell counts at once.  Anything else is copied.  Rows of text draw the map:
        each character but a space and ``.`` is a solid tile.
    tile_size : float or (float, float)
        Width and height of a tile.
    origin : (float, float)
        The min corner of tile 0, 0.
    one_way : array_like of uint8, optional
        Of the same shape: the sides on which a tile that is not solid blocks, see `set_one_way`.

    Raises
    ------
    TypeError
        ``solid`` is not an array of bool (write ``ids > 0``), or a number is not one.
    ValueError
        A shape is wrong, or the tiles are so small that their edges coincide in float64.

    Examples
    --------
    >>> level = TileMap([[False, False, True]], tile_size=32)
    >>> level.is_solid(2, 0), level.is_solid(1, 0), level.is_solid(7, 7)
    (True, False, False)
    >>> level.raycast((0, 16), (1, 0))
    TileHit(tile=Tile(column=2, row=0), distance=64.0, normal=(-1.0, 0.0), point=(64.0, 16.0))
    >>> level.set(1, 0, True)
    >>> level.raycast((0, 16), (1, 0)).tile
    Tile(column=1, row=0)
    >>> TileMap(["#####", "#...#", "#####"], tile_size=32).solid.sum()
    np.int64(12)
    """

    @with_hints("the map is one argument: an array of bool, or rows of text, solid but for ' ' and '.'")
    def __init__(
        self,
        solid: Any,
        tile_size: float | tuple[float, float],
        origin: tuple[float, float] = (0.0, 0.0),
        *,
        one_way: Any = None,
    ) -> None:
        drawn = _drawn(solid) if isinstance(solid, (str, list, tuple)) else solid
        cells = as_cells(
            drawn, np.bool_, "solid", "bool, or rows of text; a map of tile numbers becomes one by ids > 0"
        )
        width, height = as_two(tile_size, "tile_size", one_for_both=True)
        x, y = as_two(origin, "origin")
        check_edges(x, width, cells.shape[1], "tile_size")
        check_edges(y, height, cells.shape[0], "tile_size")
        sides = _NO_ONE_WAY
        if one_way is not None:
            sides = as_cells(one_way, np.uint8, "one_way", "uint8, sums of 1 left, 2 right, 4 top, 8 bottom")
            if sides.shape != cells.shape:
                raise ValueError(f"one_way has shape {sides.shape}, solid has {cells.shape}")
        self._grid = TileGrid(cells, sides, x, y, width, height)
        self._profiles: dict[Slope, int] = {}
        self._sloped = 0
        """How many tiles have a slope; of a part of a map, how many the whole map has."""
        self._kinds = _NO_KINDS
        """``[row, column]``: the number in ``_data`` of what each tile is; ``(0, 0)`` before the first."""
        self._data = [_NO_DATA]
        self._numbers: dict[Hashable, list[int]] = {}
        """The numbers of entries of ``_data`` by `_key_of`; empty until `set_data` needs them."""
        self._fields: dict[tuple[bytes, Walker], FlowField] = {}
        """The last few flow fields, good while no tile changes."""

    @classmethod
    def from_tiled(cls, path: str | PathLike[str], **options: Any) -> Self:
        """Read a Tiled map: ``.tmx``, ``.tmj`` or ``.json``; see `broadphase.adapters.tiled.read`."""
        from broadphase.io.tiled.level import read_tiles  # few programs read maps

        tiles: Self = read_tiles(path, cls, **options)
        return tiles

    @property
    def grid(self) -> TileGrid:
        """What kernels take."""
        return self._grid

    @property
    def solid(self) -> npt.NDArray[np.bool_]:
        """``[row, column]``: the map itself; writing to it changes the map."""
        return self._grid.solid

    @property
    def one_way(self) -> npt.NDArray[np.uint8] | None:
        """``[row, column]``: the blocking sides of tiles that are not solid; ``None`` before the first."""
        return self._grid.one_way if self._grid.one_way.shape == self.solid.shape else None

    @property
    def has_slopes(self) -> bool:
        """Whether a tile has a slope."""
        return self._sloped > 0

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return int(self.solid.shape[1])

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.solid.shape[0])

    @property
    def tile_size(self) -> tuple[float, float]:
        """Width and height of a tile."""
        return self._grid.width, self._grid.height

    @property
    def origin(self) -> tuple[float, float]:
        """The min corner of tile 0, 0."""
        return self._grid.x, self._grid.y

    @property
    def bounds(self) -> Bounds:
        """The box of the whole map."""
        return (*self.bounds_of(0, 0)[:2], *self.bounds_of(self.columns, self.rows)[:2])

    def __repr__(self) -> str:
        size, origin = self.tile_size, self.origin
        return f"<TileMap of {self.columns} x {self.rows} tiles of {size[0]:g} x {size[1]:g} at {origin}>"

    def copy(self) -> "TileMap":
        """The same map with cells of its own."""
        sides = None if self.one_way is None else self.one_way.copy()
        same = TileMap(self.solid.copy(), self.tile_size, self.origin, one_way=sides)
        same._take_ground(self)
        return same

    __copy__ = copy

    # --- cells ---------------------------------------------------------------------------------------

    def is_solid(self, column: int, row: int) -> bool:
        """Whether the tile in a column and row is solid; for a place see `tile_at`.

        Outside the map none is.  One-way tiles are not solid.

        Raises
        ------
        TypeError
            These are no whole numbers, but a place.
        """
        at_column, at_row = _numbers_of(column, row)
        solid = self._grid.solid
        rows, columns = solid.shape
        return 0 <= at_column < columns and 0 <= at_row < rows and solid.item(at_row, at_column)

    def set(self, column: int, row: int, solid: bool) -> None:
        """Make the tile in a column and row solid or free; it counts at once.

        Raises
        ------
        TypeError
            ``column`` and ``row`` are no whole numbers, or ``solid`` is not ``True`` or ``False``.
        IndexError
            The tile lies outside the map.
        """
        self._grid.solid[self._inside(column, row)] = flag(solid, "solid")

    @with_hints("column and row are two arguments: set_one_way(*tile, sides)")
    def set_one_way(self, column: int, row: int, sides: Side | Iterable[Side]) -> None:
        """Let a tile block on some sides only; one that was solid is not any more.

        A body that comes through another side, or is already inside, moves on freely: ``"top"`` makes the
        usual platform to stand on and to jump up through.

        Parameters
        ----------
        column, row : int
            The tile.
        sides : str or iterable of str
            ``"left"``, ``"right"``, ``"top"`` (the smaller y), ``"bottom"``, or several; ``()`` for none.

        Raises
        ------
        IndexError
            The tile lies outside the map.
        ValueError
            A side has another name.

        Examples
        --------
        >>> level = TileMap([[False]], 32)
        >>> level.set_one_way(0, 0, "top")
        >>> level.one_way_sides(0, 0)
        ('top',)
        """
        cell, bits = self._inside(column, row), as_sides(sides)
        if self.one_way is None:
            if not bits:
                return
            self._grid = self._grid._replace(one_way=np.zeros(self.solid.shape, np.uint8))
        self._grid.one_way[cell], self._grid.solid[cell] = bits, self._grid.solid[cell] and not bits

    def one_way_sides(self, column: int, row: int) -> tuple[Side, ...]:
        """The sides on which a tile blocks if it is not solid."""
        bits = _at(self._grid.one_way, column, row)
        return tuple(name for name, bit in SIDES.items() if bits & int(bit))

    def _inside(self, column: int, row: int) -> tuple[int, int]:
        at_column, at_row = _numbers_of(column, row)
        rows, columns = self._grid.solid.shape
        if not (0 <= at_column < columns and 0 <= at_row < rows):
            raise IndexError(
                f"tile ({column}, {row}) lies outside the map of {columns} columns and {rows} rows"
            )
        return at_row, at_column

    # --- slopes and ladders ---------------------------------------------------------------------------

    def set_slope(self, column: int, row: int, left: float, right: float, *, base: Base = "bottom") -> None:
        """Let a tile be filled up to a slanted line; one that was solid is not any more.

        Bodies walk on it (`World.walk`), are stopped by it (`World.move`), and rays end there.

        Parameters
        ----------
        column, row : int
            The tile.
        left, right : float
            How high it is filled at its left and right edge, in 0..1 of its height; 0 at both takes the
            slope away.
        base : str
            From where: ``"bottom"`` (the larger y), or ``"top"`` for what hangs from a ceiling.

        Raises
        ------
        IndexError
            The tile lies outside the map.
        ValueError
            A height is not in 0..1, or ``base`` has another name; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> level = bp.TileMap([[False, False], [True, True]], 32)
        >>> level.set_slope(1, 0, 0, 1)
        >>> level.slope(1, 0), level.slope(0, 0)
        (Slope(left=0.0, right=1.0, base='bottom'), None)
        >>> level.raycast((0, 16), (1, 0)).distance
        48.0
        """
        inside = self._inside(column, row)
        slope = Slope(finite(left, "left"), finite(right, "right"), base)
        if not (0.0 <= slope.left <= 1.0 and 0.0 <= slope.right <= 1.0):
            raise ValueError(f"left = {slope.left:g}, right = {slope.right:g} must be parts of a tile, 0..1")
        if base not in _BASES:
            raise ValueError(f"unknown base {base!r}; choose bottom or top")
        number = 0 if slope.left == slope.right == 0.0 else self._number_of(slope)
        if number or self._grid.ground.size:
            cells = self._cells()
            more = int(number > 0) - int(int(cells[inside]) & int(slopes.PROFILE) > 0)
            cell, solid = (cells[inside] & slopes.LADDER) | number, self._grid.solid
            stays_solid = bool(solid[inside]) and number == 0
            # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
            cells[inside] = cell
            solid[inside] = stays_solid
            self._sloped += more

    def slope(self, column: int, row: int) -> Slope | None:
        """The slope of a tile; ``None`` where it has none, as a solid tile."""
        number = _at(self._grid.ground, column, row) & int(slopes.PROFILE)
        if not number or self.is_solid(column, row):
            return None
        left, right, hangs = self._grid.profiles[number - 1].tolist()
        return Slope(left, right, "top" if hangs else "bottom")

    def set_ladder(self, column: int, row: int, ladder: bool = True) -> None:
        """Make a tile a ladder, or none.

        `World.walk` says whether a walker is on a ladder, and lets walkers stand on its top.  What to do
        there is the game's choice: usually no gravity.

        Raises
        ------
        IndexError
            The tile lies outside the map.

        Examples
        --------
        >>> import broadphase as bp
        >>> level = bp.TileMap([[False], [False], [True]], 32)
        >>> level.set_ladder(0, 1)
        >>> level.is_ladder(0, 1), level.is_ladder(0, 0)
        (True, False)
        """
        cell = self._inside(column, row)
        if ladder:
            self._cells()[cell] |= slopes.LADDER
        elif self._grid.ground.size:
            self._grid.ground[cell] &= slopes.PROFILE

    def is_ladder(self, column: int, row: int) -> bool:
        """Whether a tile is a ladder; none is outside the map."""
        return bool(_at(self._grid.ground, column, row) & int(slopes.LADDER))

    # --- what tiles are -------------------------------------------------------------------------------

    def set_data(
        self, column: int, row: int, tag: Any = None, properties: Mapping[str, Any] | None = None
    ) -> None:
        """Say what a tile is: water, lava, ice; `World.on_tile` listens for its tags.

        Whether it blocks is another question.  The class and properties of tiles in Tiled come here.

        Parameters
        ----------
        column, row : int
            The tile.
        tag : optional
            A tag, or several in a set, list or tuple.
        properties : mapping, optional
            Anything else about it, found again by `data`.

        Raises
        ------
        IndexError
            The tile lies outside the map.

        Examples
        --------
        >>> level = TileMap([[False, False]], 32)
        >>> level.set_data(1, 0, "water", {"depth": 2})
        >>> level.data(1, 0).properties["depth"], level.data_at(40, 9).tags, level.data_at(10, 9).tags
        (2, frozenset({'water'}), frozenset())
        >>> level.tagged("water").tolist()
        [[1, 0]]
        """
        cell = self._inside(column, row)
        new = TileData(as_tags(tag), dict(properties or {}))
        alike = self._alike(new)
        kind = next((kind for kind in alike if _same(self._data[kind], new)), len(self._data))
        if kind > np.iinfo(np.uint16).max:
            raise ValueError(f"there are {kind} different tiles; a map holds no more")
        if self._kinds.shape != self.solid.shape:
            self._kinds = np.zeros(self.solid.shape, np.uint16)
        if kind == len(self._data):
            self._data.append(new)
            alike.append(kind)
        self._kinds[cell] = kind

    def _alike(self, wanted: TileData) -> list[int]:
        """The numbers of the entries of ``_data`` that may equal one."""
        if not self._numbers:
            for kind, known in enumerate(self._data):
                self._numbers.setdefault(_key_of(known), []).append(kind)
        return self._numbers.setdefault(_key_of(wanted), [])

    def _take_data(
        self, kinds: npt.NDArray[np.uint16], data: Iterable[tuple[frozenset[Any], Mapping[str, Any]]]
    ) -> None:
        """`set_data` for all tiles: the number of each in a list, whose first entry is nothing."""
        self._kinds, self._data, self._numbers = kinds.copy(), [TileData(*one) for one in data], {}

    def _having(self, tag: Any) -> npt.NDArray[np.bool_]:
        """Which entries of ``_data`` have a tag."""
        return np.array([tag in known.tags for known in self._data])

    def data(self, column: int, row: int) -> TileData:
        """What a tile is; nothing outside the map."""
        return self._data[_at(self._kinds, column, row)]

    @with_hints("x and y are two arguments: data_at(*body.center)")
    def data_at(self, x: float, y: float) -> TileData:
        """What the tile is that a place ``x, y`` of the world lies in, see `tile_at`."""
        tile = self.tile_at(x, y)
        return self._data[0] if tile is None else self.data(*tile)

    def tagged(self, tag: Any, box: Any = None) -> npt.NDArray[np.int64]:
        """``(m, 2)``, column and row: the tiles with a tag, of all or of those that a box overlaps."""
        chosen = self._having(tag)
        columns, rows = self.cells((-math.inf, -math.inf, math.inf, math.inf) if box is None else box)
        kinds = self._kinds[rows.start : rows.stop, columns.start : columns.stop]
        found = np.argwhere(chosen[kinds])[:, ::-1]
        return np.add(found, (columns.start, rows.start))

    def slopes_in(self, bounds: Bounds) -> list[tuple[tuple[int, int], Polygon]]:
        """Tiles ``column, row`` with slopes that a box overlaps, row by row, with their shapes."""
        if not self.has_slopes:
            return []
        found = slopes.slope_tiles(self._grid, *bounds).tolist()
        return [((column, row), self._shape(column, row)) for column, row in found]

    def _shape(self, column: int, row: int) -> Polygon:
        left, top, right, bottom, from_y, to_y, hangs = slopes.slope_of(self._grid, column, row)
        base = top if hangs else bottom
        corners = [(left, base), (right, base), (right, to_y), (left, from_y)]
        return Polygon([corner for k, corner in enumerate(corners) if corner != corners[k - 1]])

    def _cells(self) -> npt.NDArray[np.uint16]:
        """The cells, made when the first is needed."""
        if self._grid.ground.shape != self._grid.solid.shape:
            self._grid = self._grid._replace(ground=np.zeros(self._grid.solid.shape, np.uint16))
        return self._grid.ground

    def _number_of(self, slope: Slope) -> int:
        """Slopes that are alike share a number, counted from 1."""
        if slope not in self._profiles:
            number = len(self._grid.profiles) + 1
            if number > int(slopes.PROFILE):
                raise ValueError(f"there are {int(slopes.PROFILE)} different slopes; a map holds no more")
            row = (slope.left, slope.right, _BASES[slope.base])
            # The row first: after an interrupt between the two there is one that no tile uses.
            self._grid = self._grid._replace(profiles=np.vstack((self._grid.profiles, row)))
            self._profiles[slope] = number
        return self._profiles[slope]

    def _take_cells(self, other: "TileMap") -> None:
        """All cells of another map of the same size; this one's arrays stay the same objects."""
        self.solid[:] = other.solid
        if other.one_way is not None and self.one_way is None:
            self._grid = self._grid._replace(one_way=other.one_way.copy())
        elif self.one_way is not None:
            self.one_way[:] = 0 if other.one_way is None else other.one_way
        self._take_ground(other)

    def _take_ground(self, other: "TileMap", chosen: Any = ...) -> None:
        """Copy the slopes and ladders of another map, or of some of its cells, and what its tiles are."""
        kinds, ground = (
            cells[chosen].copy() if cells.size else cells for cells in (other._kinds, other._grid.ground)
        )
        self._kinds, self._data, self._numbers = kinds, [*other._data], {}
        self._profiles, self._sloped = dict(other._profiles), other._sloped
        self._grid = self._grid._replace(ground=ground, profiles=other._grid.profiles)

    # --- between tiles and coordinates ---------------------------------------------------------------

    @with_hints("x and y are two arguments: tile_at(*body.center)")
    def tile_at(self, x: float, y: float) -> Tile | None:
        """The tile that a point lies in, or ``None`` outside; on an edge the one of the larger numbers."""
        column, row = kernel.cell_of_point(self._grid, finite(x, "x"), finite(y, "y"))
        rows, columns = self._grid.solid.shape
        if not (0 <= column < columns and 0 <= row < rows):
            return None
        return Tile(column, row)

    @with_hints("column and row are two arguments: bounds_of(*tile)")
    def bounds_of(self, column: int, row: int) -> Bounds:
        """The box of a tile, ``min_x, min_y, max_x, max_y``; also of one outside the map."""
        bounds: Bounds = kernel.bounds_of_cell(self._grid, *_numbers_of(column, row))
        return bounds

    def cells(self, box: Any) -> Cells:
        """The cells of the map that a box overlaps, solid or not; edges alone do not count.

        Parameters
        ----------
        box : Box, Circle, Polygon or four floats
            A shape counts by its bounds; four floats are ``min_x, min_y, max_x, max_y``.

        Examples
        --------
        >>> TileMap([[False] * 8] * 8, 32).cells((30, 0, 64, 32))
        Cells(columns=range(0, 2), rows=range(0, 1))
        """
        left, right, top, bottom = kernel.cells_of_box(self._grid, *as_bounds(box))
        return Cells(range(left, right), range(top, bottom))

    def tiles_in(self, box: Any) -> npt.NDArray[np.int64]:
        """``(m, 2)``, column and row: the solid tiles that a box overlaps, row by row; see `cells`."""
        tiles: npt.NDArray[np.int64] = kernel.solid_tiles(self._grid, *as_bounds(box))
        return tiles

    # --- rays ----------------------------------------------------------------------------------------

    def raycast(self, origin: Any, direction: Any, max_distance: float = math.inf) -> Any:
        """The first solid tile that a ray enters; one-way tiles let rays through.

        Tiles are open: a ray along an edge, or through a corner, is stopped only where the tiles on both
        sides are solid.

        Parameters
        ----------
        origin, direction : (float, float) or array_like
            The direction may have any length but 0.  ``(m, 2)`` arrays cast m rays.
        max_distance : float
            The length of the ray; a tile at exactly this distance is hit.

        Returns
        -------
        TileHit or None, or TileHits
            The latter for arrays.

        Raises
        ------
        TypeError, ValueError
            The arguments are not finite numbers of these shapes, a direction is 0, or ``max_distance`` is
            negative or NaN.
        """
        max_distance = not_negative(max_distance, "max_distance")
        if isinstance(origin, tuple) and isinstance(direction, tuple):
            return self._cast_one(as_two(origin, "origin"), as_two(direction, "direction"), max_distance)
        starts, directions = as_points(origin, "origin"), as_points(direction, "direction", WAYS)
        if starts.ndim == 1 and directions.ndim == 1:
            return self._cast_one(starts.tolist(), directions.tolist(), max_distance)
        starts, directions = of_one_length(starts, directions, "origin", "direction")
        if not directions.any(axis=1).all():
            raise ValueError(f"direction[{int(np.flatnonzero(~directions.any(axis=1))[0])}] has no length")
        found = TileHits(np.empty((len(starts), 2), np.int64), np.empty(len(starts)), np.empty(starts.shape))
        rays = np.column_stack((starts, directions, np.full(len(starts), float(max_distance))))
        slopes.cast_rays(self._grid, rays, *found)
        return found

    def _cast_one(self, start: Sequence[float], direction: Sequence[float], longest: float) -> TileHit | None:
        if direction[0] == 0.0 and direction[1] == 0.0:
            raise ValueError("direction has no length")
        ray = start[0], start[1], direction[0], direction[1], longest
        column, row, distance, nx, ny, x, y = slopes.cast_far(self._grid, *ray)
        return None if column < 0 else TileHit(Tile(column, row), distance, (nx, ny), (x, y))

    def line_of_sight(self, start: Any, end: Any) -> Any:
        """Whether no solid tile lies between two places of the world; the same in both directions.

        See `raycast` for what a line may pass.

        Parameters
        ----------
        start, end : (float, float) or array_like
            ``(m, 2)`` arrays test m lines; one point and many work too.

        Returns
        -------
        bool, or (m,) bool

        Raises
        ------
        TypeError, ValueError
            The arguments are not finite numbers of these shapes.

        Examples
        --------
        >>> level = TileMap([[False, True, False]], 32)
        >>> level.line_of_sight((16, 16), (80, 16)), level.line_of_sight((16, 16), (32, 0))
        (False, True)
        """
        if is_plain(start, 2) and is_plain(end, 2):
            return bool(slopes.see(self._grid, as_two(start, "start"), as_two(end, "end"))[0])
        starts, ends = as_points(start, "start"), as_points(end, "end")
        single = starts.ndim == 1 and ends.ndim == 1
        starts, ends = of_one_length(starts, ends, "start", "end")
        visible = slopes.see(self._grid, starts, ends)
        return bool(visible[0]) if single else visible

    # --- pathfinding ----------------------------------------------------------------------------------

    def flow_field(
        self,
        goal: Any,
        *,
        size: Any = 1,
        diagonal: Diagonal = True,
        max_distance: float = math.inf,
        cost: Any = None,
    ) -> FlowField:
        """The shortest paths to a goal from every tile, in one search: for hundreds that hunt one target.

        While the goal and the tiles stay as they are, the same field is returned without a search.

        Parameters
        ----------
        goal : (int, int) or array_like of int, shape (m, 2)
            Column and row of a tile, or of several: of these the nearest counts.  One that is solid can not
            be reached.
        size : int or (int, int)
            How many columns and rows of tiles a body covers: one of s units needs ``ceil(s / tile_size)``.
            It has reached the goal when it covers a tile of it.
        diagonal : bool or str
            Whether to step across corners too.  ``True``: never past the corner of a solid tile, both tiles
            beside the step must be free.  ``"corners"``: one of them must be free.  ``"always"``: none.
            Bodies that slide need ``True``; the other two are for bodies that step from tile to tile.
        max_distance : float
            How far to search, in world units; only tiles that near are looked at.
        cost : array_like of float, shape (rows, columns), optional
            How many times its length a step to a tile costs, at least 1: 3 for mud, infinite for what
            nobody enters.  A body of several tiles pays the largest of those that it covers.

        Returns
        -------
        FlowField
            ``distances`` and ``directions`` by tile, ``ways_at(points)`` for bodies, ``path(tile)``.

        Raises
        ------
        IndexError
            A goal lies outside the map.
        TypeError, ValueError
            An argument is not of these kinds.

        See Also
        --------
        find_path : for one that walks.

        Notes
        -----
        A path enters no one-way tile through a side that blocks, and does not leave the map.

        Examples
        --------
        >>> from broadphase import TileMap
        >>> level = TileMap(["   ", " ##", "   "], 10)
        >>> field = level.flow_field((2, 0))
        >>> field.distances.tolist()
        [[20.0, 10.0, 0.0], [30.0, inf, inf], [40.0, 50.0, 60.0]]
        >>> field.directions[2, 0].tolist(), field.path((0, 1)).tolist()
        ([0, -1], [[0, 1], [0, 0], [1, 0], [2, 0]])
        """
        goals = as_tiles(goal, "goal", self._grid.solid.shape)
        walker = as_walker(size, diagonal, max_distance)
        costs = as_cost(cost, self._grid.solid.shape)
        window = pathfinding.window_of(self._grid, costs, goals, walker)
        key = goals.tobytes(), walker
        known = self._fields.pop(key, None)
        if known is None or not known.is_of(window):
            known = pathfinding.flow_field(self._grid, window, goals, walker)
            if len(self._fields) >= _KEPT:
                self._fields.pop(next(iter(self._fields)), None)
        self._fields[key] = known  # last: the first is the least recently used
        return known

    def find_path(
        self, a: Any, b: Any, *, size: Any = 1, diagonal: Diagonal = True, cost: Any = None
    ) -> Tiles:
        """The tiles of a shortest path from one tile to another.

        What it takes depends on the tiles that must be looked at between the two, not on the map.

        Parameters
        ----------
        a, b : (int, int)
            Column and row; ``b`` may also be several tiles, see `flow_field`.
        size, diagonal, cost
            As of `flow_field`.

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` int64, column and row, from ``a`` to ``b``; no rows if there is no path.

        Raises
        ------
        IndexError
            A tile lies outside the map.
        TypeError, ValueError
            An argument is not of these kinds.

        Examples
        --------
        >>> import numpy as np
        >>> from broadphase import TileMap
        >>> level = TileMap([" # ", "   "], 32)
        >>> level.find_path((0, 0), (2, 0)).tolist()
        [[0, 0], [0, 1], [1, 1], [2, 1], [2, 0]]
        >>> level.find_path((0, 0), (2, 0), diagonal="corners").tolist()
        [[0, 0], [1, 1], [2, 0]]

        Mud that takes three times as long is walked around:

        >>> field = TileMap(np.zeros((2, 5), bool), 1)
        >>> field.find_path((0, 0), (4, 0), cost=[[1, 3, 3, 3, 1], [1, 1, 1, 1, 1]])[:, 1].tolist()
        [0, 1, 1, 1, 0]
        """
        shape = self._grid.solid.shape
        start, goals = as_tile(a, "a", shape), as_tiles(b, "b", shape)
        walker = as_walker(size, diagonal, math.inf)
        return pathfinding.path(self._grid, as_cost(cost, shape), start, goals, walker)

    # --- field of view --------------------------------------------------------------------------------

    def visible_from(self, place: Any, radius: float = math.inf) -> npt.NDArray[np.bool_]:
        """The tiles that can be seen from one: the field of view of roguelikes.

        By symmetric shadow casting: of two free tiles, either each sees the other or none does.
        Solid tiles that bound what is seen are seen.  One-way tiles and slopes let all light through.

        Parameters
        ----------
        place : (int, int)
            Column and row of the tile from which one looks.
        radius : float
            How far one sees, in tiles, from middle to middle.

        Returns
        -------
        numpy.ndarray
            ``[row, column]`` bool, of the whole map; ``place`` itself is ``True``.

        Raises
        ------
        IndexError
            The tile lies outside the map.
        TypeError, ValueError
            ``place`` is not one tile, or ``radius`` is negative or NaN.

        See Also
        --------
        line_of_sight : from point to point, with tiles as squares.

        Notes
        -----
        A. Ford, *Symmetric Shadowcasting*, 2017.  Solid tiles count as diamonds, so one sees along walls and
        between no two that share a corner.

        Examples
        --------
        >>> level = TileMap(["......", "..#...", "......"], 32)
        >>> level.visible_from((0, 1), radius=4).astype(int).tolist()
        [[1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0]]
        """
        column, row = as_tile(place, "place", self._grid.solid.shape)
        reach = not_negative(radius, "radius")
        visible: npt.NDArray[np.bool_] = find_visible(self._grid.solid, column, row, reach)
        return visible


def _numbers_of(column: Any, row: Any) -> tuple[int, int]:
    """The column and row of a tile."""
    try:
        return index(column), index(row)
    except TypeError:
        raise TypeError(
            f"column and row of a tile are whole numbers; got {column!r}, {row!r}; "
            "the tile of a place is tile_at(x, y)"
        ) from None


def _at(cells: npt.NDArray[Any], column: int, row: int) -> int:
    """What an array ``[row, column]`` holds of a tile; 0 outside of it."""
    at_column, at_row = _numbers_of(column, row)
    rows, columns = cells.shape
    inside = 0 <= at_column < columns and 0 <= at_row < rows
    return int(cells.item(at_row, at_column)) if inside else 0


def _drawn(rows: Any) -> Any:
    """Rows of text as rows of bool; other values as they are."""
    if isinstance(rows, str):
        raise TypeError("solid is one text; give a list of its rows: text.splitlines()")
    if not any(isinstance(row, str) for row in rows):
        return rows
    for k, row in enumerate(rows):
        if not isinstance(row, str):
            raise TypeError(f"solid[{k}] must be text as the other rows; got {type(row).__name__}")
        if len(row) != len(rows[0]):
            raise ValueError(
                f"solid[{k}] has {len(row)} characters, solid[0] has {len(rows[0])}; fill up with spaces"
            )
    return np.array([[character not in " ." for character in row] for row in rows], np.bool_).reshape(
        len(rows), -1
    )
