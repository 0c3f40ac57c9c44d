"""Pathfinding: the distance to a goal from every tile of a map, and the next step toward it."""

import math
from operator import index
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from broadphase.inputs import Place, RowsLike
from broadphase.inputs.arrays import NUMBERS, settled
from broadphase.inputs.numeric import not_negative
from broadphase.kernels.tiles import pathfinding as kernel
from broadphase.kernels.tiles.grid import TileGrid
from broadphase.runtime.arrays import Floats, distinct
from broadphase.world.arguments import as_points

Tiles = npt.NDArray[np.int64]
Diagonal: TypeAlias = bool | Literal["corners", "always"]
_DIAGONALS: dict[Any, int] = {
    False: kernel.STRAIGHT,
    True: kernel.BETWEEN_FREE,
    "corners": kernel.PAST_ONE_CORNER,
    "always": kernel.PAST_CORNERS,
}
_NO_COST = np.empty((0, 0))
_STEPS = np.array(
    [*zip(kernel.COLUMN_STEPS, kernel.ROW_STEPS, strict=True), (0, 0)], np.int8
)  # the last for -1, no step


class Walker(NamedTuple):
    """The size of a walker, which diagonal steps it may take, and how far it may walk."""

    wide: int
    high: int
    diagonal: int
    max_distance: float


class Window(NamedTuple):
    """The part of a map that a search can reach: its tiles, their cost, and column and row of its corner."""

    grid: TileGrid
    cost: Floats
    corner: tuple[int, int]


class FlowField:
    """The result of `TileMap.flow_field`: for each tile the distance to the goal, and the next step.

    It belongs to the map as it was then: after a change of tiles call `TileMap.flow_field` again.

    Attributes
    ----------
    distances : numpy.ndarray
        ``[row, column]``, float64: the length of the shortest path in world units; infinite if there is
        none.  A body of several tiles stands where its first tile is, that of the smallest column and row.
    size : (int, int)
        How many columns and rows of tiles the body covers.
    """

    __slots__ = ("_directions", "_distances", "_grid", "_whole", "_window", "size")

    def __init__(
        self,
        grid: TileGrid,
        window: Window,
        size: tuple[int, int],
        distances: Floats,
        steps: npt.NDArray[np.int8],
    ) -> None:
        self._grid, self._window, self.size = grid, window, size
        self._distances, self._directions = distances, steps
        self._whole: Floats | None = None
        distances.flags.writeable = steps.flags.writeable = False

    @property
    def distances(self) -> Floats:
        """``[row, column]``, float64: the length of the shortest path; infinite if there is none."""
        if self._whole is None:
            self._whole = self._on_map(self._distances, np.inf)
        return self._whole

    @property
    def directions(self) -> npt.NDArray[np.int8]:
        """``[row, column, 2]``: the next step in columns and rows, -1, 0 or 1; zeros where there is none."""
        steps: npt.NDArray[np.int8] = _STEPS[self._on_map(self._directions, -1)]
        return steps

    def _on_map(self, values: npt.NDArray[Any], elsewhere: float) -> npt.NDArray[Any]:
        """Values of the tiles that were searched, as an array of the whole map."""
        if values.shape == self._grid.solid.shape:
            return values
        whole = np.full(self._grid.solid.shape, elsewhere, values.dtype)
        column, row = self._window.corner
        whole[row : row + values.shape[0], column : column + values.shape[1]] = values
        whole.flags.writeable = False
        return whole

    def is_of(self, window: Window) -> bool:
        """Whether a search in this window would find the same."""
        mine, its = (
            (one.grid.solid, one.grid.one_way, one.grid.ground, one.cost) for one in (self._window, window)
        )
        return self._window.corner == window.corner and all(map(np.array_equal, mine, its))

    @overload
    def distances_at(self, points: Place) -> float: ...
    @overload
    def distances_at(self, points: RowsLike) -> Floats: ...
    def distances_at(self, points: Any) -> Any:
        """The distance to the goal of bodies with centres at ``points``; infinite if there is no path.

        Parameters
        ----------
        points : array_like, shape (2,) or (m, 2)
            In world units.

        Returns
        -------
        float, or numpy.ndarray
            ``(m,)``, in world units, tile by tile.
        """
        places = as_points(points, "points")
        middles = np.ascontiguousarray(np.atleast_2d(places))
        out = np.empty(len(middles))
        kernel.distances_at(self._grid, *self.size, self._window.corner, self._distances, middles, out)
        return out if places.ndim == 2 else out.item(0)

    def ways_at(self, points: Place | RowsLike) -> Floats:
        """The directions from ``points``, the centres of bodies, to the centre of the next tile on the path.

        A body that is a little smaller than its tiles, by the length of a step, gets round every corner when
        `World.move` lets it slide.

        Parameters
        ----------
        points : array_like, shape (2,) or (m, 2)
            In world units.

        Returns
        -------
        numpy.ndarray
            A unit vector for each, of the same shape; zeros at the goal and if there is no path.

        Examples
        --------
        >>> from broadphase import TileMap
        >>> field = TileMap([[False, False, False], [False, True, True]], 10).flow_field((2, 0))
        >>> field.ways_at([[5, 15], [12, 5]]).tolist(), field.distances_at([[5, 15], [12, 5]]).tolist()
        ([[0.0, -1.0], [1.0, 0.0]], [30.0, 10.0])
        """
        places = as_points(points, "points")
        middles = np.ascontiguousarray(np.atleast_2d(places))
        out = np.empty(middles.shape)
        kernel.directions_at(self._grid, *self.size, self._window.corner, self._directions, middles, out)
        return out.reshape(places.shape)

    def path(self, start: Any) -> Tiles:
        """``(m, 2)``, column and row: the tiles of a shortest path from a tile to the goal, both included.

        Without rows if there is no path.

        Raises
        ------
        IndexError
            The tile lies outside the map.
        """
        corner = self._window.corner
        column, row = as_tile(start, "start", self._grid.solid.shape)
        column, row = column - corner[0], row - corner[1]
        rows, columns = self._distances.shape
        inside = 0 <= column < columns and 0 <= row < rows
        if not (inside and math.isfinite(self._distances[row, column])):
            return np.empty((0, 2), np.int64)
        tiles: Tiles = kernel.trace(self._directions, column, row) + corner
        return tiles

    def __repr__(self) -> str:
        reached = int(np.isfinite(self._distances).sum())
        return f"<FlowField of {reached} of {self._grid.solid.size} tiles, for bodies of {self.size} tiles>"


def as_tiles(values: Any, name: str, shape: tuple[int, ...]) -> Tiles:
    """``(m, 2)`` columns and rows that lie on a map of so many rows and columns."""
    if hasattr(values, "center"):
        raise TypeError(f"{name} must be column and row of a tile; give tile_at(*its.center)")
    given = settled(values, name, NUMBERS)
    if given.ndim not in (1, 2) or given.shape[-1] != 2:
        raise ValueError(f"{name} must be (column, row) or have shape (m, 2); got shape {given.shape}")
    rows, columns = shape
    given = given.reshape(-1, 2)
    whole = np.isfinite(given) & (given == np.floor(given))
    if not whole.all():
        bad_row = int(np.flatnonzero(~whole.all(axis=1))[0])
        raise ValueError(
            f"{name}[{bad_row}] = {given[bad_row].tolist()} must be whole numbers, column and row"
        )
    inside = (given >= 0).all(axis=1) & (given[:, 0] < columns) & (given[:, 1] < rows)
    if not inside.all():
        bad_row = int(np.flatnonzero(~inside)[0])
        column, row = map(int, given[bad_row].tolist())
        raise IndexError(
            f"{name}[{bad_row}] = [{column}, {row}] lies outside the map of {columns} columns and {rows} "
            "rows; these are tiles, tile_at(x, y) is that of a place"
        )
    tiles: Tiles = given.astype(np.int64)
    return tiles


def as_tile(value: Any, name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """Column and row of one tile of a map of so many rows and columns."""
    if type(value) is tuple and len(value) == 2:  # 0.3 us; by an array 5
        column, row = value
        if type(column) is type(row) is int and 0 <= column < shape[1] and 0 <= row < shape[0]:
            return column, row
    tiles = as_tiles(value, name, shape)
    if len(tiles) != 1:
        raise ValueError(f"{name} must be one tile, column and row; got {len(tiles)}")
    ((column, row),) = tiles.tolist()
    return column, row


def as_walker(size: Any, diagonal: Any, max_distance: Any) -> Walker:
    """The walker of a search, checked."""
    given = tuple(size) if isinstance(size, (tuple, list, np.ndarray)) else (size, size)
    try:
        wide, high = map(index, given)
    except (TypeError, ValueError):
        raise TypeError(f"size must be one or two whole numbers of tiles; got {size!r}") from None
    if wide < 1 or high < 1:
        raise ValueError(f"size must be at least 1 tile; got {size!r}")
    if not isinstance(diagonal, (bool, np.bool_, str)) or diagonal not in _DIAGONALS:
        kind = ValueError if isinstance(diagonal, str) else TypeError
        raise kind(f'diagonal must be True, False, "corners" or "always"; got {diagonal!r}')
    return Walker(wide, high, _DIAGONALS[diagonal], not_negative(max_distance, "max_distance"))


def as_cost(values: Any, shape: tuple[int, ...]) -> Floats:
    """Factors of tiles, checked; an array without rows where there are none."""
    if values is None:
        return _NO_COST
    cost = settled(values, "cost", NUMBERS)
    if cost.shape != shape:
        raise ValueError(f"cost has shape {cost.shape}, the map [row, column] {shape}")
    cost = np.ascontiguousarray(cost, np.float64)
    is_wrong = ~(cost >= 1.0)
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0].tolist()
        raise ValueError(
            f"cost[{row}, {column}] = {cost[row, column]:g} must be at least 1; "
            "divide all by the smallest, or make the tile solid"
        )
    return cost


def window_of(grid: TileGrid, cost: Floats, goals: Tiles, walker: Walker) -> Window:
    """The tiles from which a goal may be reached within the walker's distance, as views."""
    rows, columns = grid.solid.shape
    first, last = [0, 0], [columns, rows]
    if len(goals) and walker.max_distance < math.inf:
        sizes = np.array([walker.wide, walker.high])
        reach = np.array([walker.max_distance / grid.width, walker.max_distance / grid.height])
        reach = np.minimum(reach, max(columns, rows)).astype(np.int64) + sizes
        first = np.maximum(goals.min(axis=0) - reach, 0).tolist()
        last = np.minimum(goals.max(axis=0) + reach + 1, (columns, rows)).tolist()
    part = slice(first[1], last[1]), slice(first[0], last[0])
    tiles = grid._replace(
        solid=grid.solid[part],
        one_way=grid.one_way[part] if grid.one_way.size else grid.one_way,
        ground=grid.ground[part] if grid.ground.size else grid.ground,
    )
    return Window(tiles, cost[part] if cost.size else cost, (first[0], first[1]))


def flow_field(grid: TileGrid, window: Window, goals: Tiles, walker: Walker) -> FlowField:
    """Search from the goals outwards, in a copy of the window, until all its tiles are reached."""
    size = (walker.wide, walker.high)
    cells = window.grid
    tiles = cells._replace(solid=cells.solid.copy(), one_way=cells.one_way.copy(), ground=cells.ground.copy())
    window = Window(tiles, np.ascontiguousarray(window.cost), window.corner)
    shape = tiles.solid.shape
    starts = _standing_on(goals - window.corner, size, shape)
    distances, steps = kernel.find_distances(
        tiles, *size, walker.diagonal, window.cost, starts, walker.max_distance
    )
    return FlowField(grid, window, size, distances.reshape(shape), steps.reshape(shape))


def path(grid: TileGrid, cost: Floats, start: tuple[int, int], goals: Tiles, walker: Walker) -> Tiles:
    """The tiles from one to the nearest goal."""
    size = (walker.wide, walker.high)
    starts = _standing_on(goals, size, grid.solid.shape)
    tiles: Tiles = kernel.find_path(grid, *size, walker.diagonal, cost, starts, *start)
    return tiles


def _standing_on(goals: Tiles, size: tuple[int, int], shape: tuple[int, ...]) -> Tiles:
    """The numbers of the tiles where a body covers a goal, ascending."""
    if size != (1, 1):
        back = np.stack(np.meshgrid(range(size[0]), range(size[1])), axis=-1).reshape(-1, 2)
        goals = (goals[:, None] - back).reshape(-1, 2)
        goals = goals[(goals >= 0).all(axis=1)]
    return distinct(goals[:, 1] * shape[1] + goals[:, 0])
