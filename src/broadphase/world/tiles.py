"""The tile map: a grid of solid cells that may change at any time.

The array of solid cells is the map: nothing is merged, copied or indexed, so setting a cell is all that it
takes to open a door, and a map of 10,000 x 10,000 tiles costs its 100 MB of bool and not a byte more.
"""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from operator import index
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from broadphase.foreign import WAYS
from broadphase.kernels.tiles import list as list_tiles
from broadphase.kernels.tiles import walk as walk_tiles
from broadphase.kernels.tiles.grid import SIDES, Side, TileGrid
from broadphase.kernels.tiles.ground import cast_rays_at_slopes
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds
from broadphase.slices import whole
from broadphase.world.arguments import (
    as_bounds,
    as_cells,
    as_points,
    as_two,
    check_edges,
    is_plain,
    of_one_length,
)
from broadphase.world.ground import GroundMap
from broadphase.world.ways import Ways

_NO_ONE_WAY = np.empty((0, 0), np.uint8)


class Tile(NamedTuple):
    """A cell of a tile map."""

    column: int
    row: int


class Cells(NamedTuple):
    """A block of cells."""

    columns: range
    rows: range


class TileHit(NamedTuple):
    """Where a ray enters a solid tile."""

    tile: Tile
    distance: float
    """0 where the ray starts in the tile."""
    normal: tuple[float, float]
    """Unit axis vector out of the side that was hit; ``(0.0, 0.0)`` where the ray starts in the tile."""
    point: tuple[float, float]


class TileHits(NamedTuple):
    """Where many rays enter solid tiles, one row a ray."""

    tiles: npt.NDArray[np.int64]
    """``(m, 2)``: column and row; -1 where the ray hits nothing."""
    distances: npt.NDArray[np.float64]
    """Infinite where the ray hits nothing."""
    normals: npt.NDArray[np.float64]
    """``(m, 2)``"""


class TileMap(GroundMap, Ways):
    """Solid and one-way tiles on a grid.

    Parameters
    ----------
    solid : array_like of bool
        2-D, indexed ``[row, column]``.  A C-contiguous, writable array is used as it is: whoever holds it
        may write to it, and each cell counts at once.  Anything else is copied.
    tile_size : float or (float, float)
        Width and height of a tile.
    origin : (float, float)
        The min corner of tile 0, 0.
    one_way : array_like of uint8, optional
        Of the same shape: the sides on which a tile that is not solid blocks, see `set_one_way`.

    Raises
    ------
    TypeError
        ``solid`` is not an array of bool (write ``ids > 0``), or a number is none.
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
    """

    def __init__(
        self,
        solid: Any,
        tile_size: float | tuple[float, float],
        origin: tuple[float, float] = (0.0, 0.0),
        *,
        one_way: Any = None,
    ) -> None:
        super().__init__()
        cells = as_cells(solid, np.bool_, "solid", "bool; a map of tile numbers becomes one by ids > 0")
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

    @classmethod
    def from_tiled(cls, path: str | PathLike[str], **options: Any) -> Self:
        """Read a Tiled map: ``.tmx``, ``.tmj`` or ``.json``; see `broadphase.adapters.tiled.read`."""
        from broadphase.files.tiled.level import read_level  # few programs read maps

        tiles: Self = read_level(path, **options).into(cls)
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
        same._copy_ground(self)
        return same

    # --- cells ---------------------------------------------------------------------------------------

    def is_solid(self, column: int, row: int) -> bool:
        """Whether a tile is solid; outside the map none is.  One-way tiles are not solid."""
        solid = self._grid.solid
        rows, columns = solid.shape
        return 0 <= column < columns and 0 <= row < rows and solid.item(row, column)

    def set(self, column: int, row: int, solid: bool) -> None:
        """Make a tile solid or free; it counts at once.

        Raises
        ------
        IndexError
            The tile lies outside the map.
        """
        self._grid.solid[self._inside(column, row)] = bool(solid)

    def set_one_way(self, column: int, row: int, sides: Side | Iterable[Side]) -> None:
        """Let a tile that is not solid block on some sides only.

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
        at = self._inside(column, row)
        bits = 0
        for side in [sides] if isinstance(sides, str) else sides:
            if side not in SIDES:
                raise ValueError(f"unknown side {side!r}; choose from {', '.join(SIDES)}")
            bits |= int(SIDES[side])
        if self.one_way is None:
            if not bits:
                return
            self._grid = self._grid._replace(one_way=np.zeros(self.solid.shape, np.uint8))
        self._grid.one_way[at] = bits

    def one_way_sides(self, column: int, row: int) -> tuple[Side, ...]:
        """The sides on which a tile blocks if it is not solid."""
        if self.one_way is None or not (0 <= column < self.columns and 0 <= row < self.rows):
            return ()
        bits = self.one_way[row, column]
        return tuple(name for name, bit in SIDES.items() if bits & bit)

    def _inside(self, column: int, row: int) -> tuple[int, int]:
        at_row, at_column = index(row), index(column)
        rows, columns = self._grid.solid.shape
        if not (0 <= at_column < columns and 0 <= at_row < rows):
            raise IndexError(
                f"tile ({column}, {row}) lies outside the map of {columns} columns and {rows} rows"
            )
        return at_row, at_column

    # --- between tiles and coordinates ---------------------------------------------------------------

    def tile_at(self, x: float, y: float) -> Tile | None:
        """The tile that a point lies in, or ``None`` outside; on an edge the one of the larger numbers."""
        column, row = list_tiles.cell_of_point(self._grid, finite(x, "x"), finite(y, "y"))
        rows, columns = self._grid.solid.shape
        if not (0 <= column < columns and 0 <= row < rows):
            return None
        return Tile(column, row)

    def bounds_of(self, column: int, row: int) -> Bounds:
        """The box of a tile, ``min_x, min_y, max_x, max_y``; also of one outside the map."""
        bounds: Bounds = list_tiles.bounds_of_cell(self._grid, index(column), index(row))
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
        left, right, top, bottom = list_tiles.cells_of_box(self._grid, *as_bounds(box))
        return Cells(range(left, right), range(top, bottom))

    def tiles_in(self, box: Any) -> npt.NDArray[np.int64]:
        """``(m, 2)``, column and row: the solid tiles that a box overlaps, row by row; see `cells`."""
        ask = partial(list_tiles.solid_tiles, self._grid, *as_bounds(box))
        return whole(ask, np.empty((64, 2), np.int64))

    def first_blocker(self, box: Any) -> Tile | None:
        """The first solid tile that a box overlaps, row by row, or ``None``; see `cells`."""
        column, row = list_tiles.first_solid(self._grid, *as_bounds(box))
        return None if column < 0 else Tile(column, row)

    # --- rays ----------------------------------------------------------------------------------------

    def raycast(self, origin: Any, direction: Any, max_distance: float = math.inf) -> Any:
        """The first solid tile that a ray enters; one-way tiles let rays through.

        Tiles are open: a ray along an edge, or through a corner, is stopped only where the tiles on both
        sides are solid.

        Parameters
        ----------
        origin, direction : (float, float) or array_like
            Where the ray starts and where it goes, of any length but 0.  ``(m, 2)`` arrays cast m rays.
        max_distance : float
            How far it goes; a tile just so far away is hit.

        Returns
        -------
        TileHit or None, or TileHits
            The latter for arrays.

        Raises
        ------
        TypeError, ValueError
            The arguments are no finite numbers of these shapes, a direction is 0, or ``max_distance`` is
            negative or NaN.
        """
        if not max_distance >= 0.0:
            raise ValueError(f"max_distance must not be negative; got {max_distance}")
        if isinstance(origin, tuple) and isinstance(direction, tuple):
            return self._cast_one(as_two(origin, "origin"), as_two(direction, "direction"), max_distance)
        starts, ways = as_points(origin, "origin"), as_points(direction, "direction", WAYS)
        if starts.ndim == 1 and ways.ndim == 1:
            return self._cast_one(starts.tolist(), ways.tolist(), max_distance)
        starts, ways = of_one_length(starts, ways, "origin", "direction")
        if not ways.any(axis=1).all():
            raise ValueError(f"direction[{int(np.flatnonzero(~ways.any(axis=1))[0])}] has no length")
        found = TileHits(np.empty((len(starts), 2), np.int64), np.empty(len(starts)), np.empty(starts.shape))
        walk_tiles.cast_rays(self._grid, starts, ways, float(max_distance), *found)
        if self.has_slopes:
            cast_rays_at_slopes(self._grid, self._ground, starts, ways, float(max_distance), *found)
        return found

    def _cast_one(self, start: Sequence[float], way: Sequence[float], longest: float) -> TileHit | None:
        if way[0] == 0.0 and way[1] == 0.0:
            raise ValueError("direction has no length")
        column, row, distance, nx, ny, x, y = walk_tiles.cast_ray_far(
            self._grid, start[0], start[1], way[0], way[1], float(longest)
        )
        nearer = self._slope_ahead(start, way, min(longest, distance))
        if nearer is not None and nearer[2] < distance:  # of a tile and a slope as near, the tile
            column, row, distance, nx, ny, x, y = nearer
        return None if column < 0 else TileHit(Tile(column, row), distance, (nx, ny), (x, y))

    def line_of_sight(self, start: Any, end: Any) -> Any:
        """Whether no solid tile lies between two points; the same in both directions, see `raycast`.

        Parameters
        ----------
        start, end : (float, float) or array_like
            ``(m, 2)`` arrays ask for m lines; one point and many work too.

        Returns
        -------
        bool, or (m,) bool

        Raises
        ------
        TypeError, ValueError
            The arguments are no finite numbers of these shapes.

        Examples
        --------
        >>> level = TileMap([[False, True, False]], 32)
        >>> level.line_of_sight((16, 16), (80, 16)), level.line_of_sight((16, 16), (32, 0))
        (False, True)
        """
        if is_plain(start, 2) and is_plain(end, 2):
            (x, y), (to_x, to_y) = as_two(start, "start"), as_two(end, "end")
            seen: bool = walk_tiles.sees(self._grid, x, y, to_x, to_y)
            return seen and not (self.has_slopes and self._slope_between(x, y, to_x, to_y))
        starts, ends = as_points(start, "start"), as_points(end, "end")
        single = starts.ndim == 1 and ends.ndim == 1
        starts, ends = of_one_length(starts, ends, "start", "end")
        visible = np.empty(len(starts), np.bool_)
        walk_tiles.see(self._grid, starts, ends, visible)
        if self.has_slopes:
            for k in np.flatnonzero(visible).tolist():
                visible[k] = not self._slope_between(*starts[k].tolist(), *ends[k].tolist())
        return bool(visible[0]) if single else visible
