"""Ways around corners: how far it is to a goal from every tile of a map, and which step leads there."""

import math
from operator import index
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_float_array
from broadphase.kernels.tiles.flood import flood
from broadphase.kernels.tiles.follow import distances_at, trace, ways_at
from broadphase.kernels.tiles.grid import TileGrid
from broadphase.kernels.tiles.steps import COLUMN_STEPS, ROW_STEPS, find_room, find_steps
from broadphase.world.arguments import as_points

Tiles = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# A kernel can not be interrupted: so many tiles take it about 0.05 s.
_TILES_A_CALL = 1_000_000
_NO_WAY = -1
_STEPS = np.array([*zip(COLUMN_STEPS, ROW_STEPS, strict=True), (0, 0)], np.int8)  # the last for `_NO_WAY`
_KEPT = 8


class Walker(NamedTuple):
    """Who is to walk, and what for."""

    wide: int
    high: int
    diagonal: bool
    max_distance: float


class FlowField:
    """What `TileMap.flow_field` returns: how far it is to the goal from each tile, and which step goes there.

    It belongs to the map as it was then: after a change of tiles ask `TileMap.flow_field` again.

    Attributes
    ----------
    distances : numpy.ndarray
        ``[row, column]``, float64: the length of the shortest way in world units; infinite where there is
        none.  A body of several tiles stands where its first tile is, that of the smallest column and row.
    size : (int, int)
        How many columns and rows of tiles the body covers.
    """

    __slots__ = ("_grid", "_ways", "distances", "size")

    def __init__(
        self, grid: TileGrid, size: tuple[int, int], distances: Floats, ways: npt.NDArray[np.int8]
    ) -> None:
        self._grid, self._ways, self.distances, self.size = grid, ways, distances, size
        distances.flags.writeable = ways.flags.writeable = False

    @property
    def directions(self) -> npt.NDArray[np.int8]:
        """``[row, column, 2]``: the next step in columns and rows, -1, 0 or 1; zeros where there is none."""
        return _STEPS[self._ways]

    def distances_at(self, points: Any) -> Floats:
        """How far bodies have to walk whose middles are at ``points``; infinite where there is no way.

        Parameters
        ----------
        points : array_like, shape (m, 2)

        Returns
        -------
        numpy.ndarray
            ``(m,)``, in world units, tile by tile.
        """
        middles = self._middles(points)
        out = np.empty(len(middles))
        distances_at(self._grid, *self.size, self.distances, middles, out)
        return out

    def ways_at(self, points: Any) -> Floats:
        """Which way bodies have to go whose middles are at ``points``: towards the middle of the next tile.

        A body that is a little smaller than its tiles, by the length of a step, gets round every corner when
        `World.move` lets it slide.

        Parameters
        ----------
        points : array_like, shape (m, 2)

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` unit vectors; zeros at the goal and where there is no way.

        Examples
        --------
        >>> from broadphase import TileMap
        >>> field = TileMap([[False, False, False], [False, True, True]], 10).flow_field((2, 0))
        >>> field.ways_at([[5, 15], [12, 5]]).tolist(), field.distances_at([[5, 15], [12, 5]]).tolist()
        ([[0.0, -1.0], [1.0, 0.0]], [30.0, 10.0])
        """
        middles = self._middles(points)
        out = np.empty(middles.shape)
        ways_at(self._grid, *self.size, self._ways, middles, out)
        return out

    def path(self, start: Any) -> Tiles:
        """``(m, 2)``, column and row: the tiles of a shortest way from one to the goal, both among them.

        No rows: there is no way.

        Raises
        ------
        IndexError
            The tile lies outside the map.
        """
        ((column, row),) = as_tiles(start, "start", self.distances.shape).tolist()
        if not math.isfinite(self.distances[row, column]):
            return np.empty((0, 2), np.int64)
        count = trace(self._ways, column, row, np.empty((0, 2), np.int64))
        tiles = np.empty((count, 2), np.int64)
        trace(self._ways, column, row, tiles)
        return tiles

    def __repr__(self) -> str:
        reached = int(np.isfinite(self.distances).sum())
        return f"<FlowField of {reached} of {self.distances.size} tiles, for bodies of {self.size} tiles>"

    @staticmethod
    def _middles(points: Any) -> Floats:
        middles = as_points(points, "points")
        if middles.ndim != 2:
            raise ValueError(f"points must have shape (m, 2); got {middles.shape}")
        return np.ascontiguousarray(middles)


class Ways:
    """The part of `TileMap` that finds ways; it keeps the last few fields while no tile changes."""

    _grid: TileGrid

    def __init__(self) -> None:
        self._fields: dict[tuple[bytes, Walker], FlowField] = {}

    def flow_field(
        self, goal: Any, *, size: Any = 1, diagonal: bool = True, max_distance: float = math.inf
    ) -> FlowField:
        """The shortest ways to a goal from everywhere at once: hundreds that hunt one are told by one search.

        While the goal and the tiles stay as they are, the same field is returned without a search.

        Parameters
        ----------
        goal : (int, int) or array_like of int, shape (m, 2)
            Column and row of a tile, or of several: of these the nearest counts.  One that is solid can not
            be reached.
        size : int or (int, int)
            How many columns and rows of tiles a body covers: one of s units needs ``ceil(s / tile_size)``.
            It has reached the goal when it covers a tile of it.
        diagonal : bool
            Whether to step across corners too, but never past the corner of a solid tile: both tiles beside
            the step must be free.
        max_distance : float
            How far to search, in world units.

        Returns
        -------
        FlowField
            ``distances`` and ``directions`` by tile, ``ways_at(points)`` for bodies, ``path(tile)``.

        Raises
        ------
        IndexError
            A goal lies outside the map.
        TypeError, ValueError
            An argument is none of these.

        See Also
        --------
        find_path : for one that walks.

        Notes
        -----
        One-way tiles are entered through no side that blocks.  Outside the map nobody walks.

        Examples
        --------
        >>> from broadphase import TileMap
        >>> level = TileMap([[False, False, False], [False, True, True], [False, False, False]], 10)
        >>> field = level.flow_field((2, 0))
        >>> field.distances.tolist()
        [[20.0, 10.0, 0.0], [30.0, inf, inf], [40.0, 50.0, 60.0]]
        >>> field.directions[2, 0].tolist(), field.path((0, 1)).tolist()
        ([0, -1], [[0, 1], [0, 0], [1, 0], [2, 0]])
        """
        goals = as_tiles(goal, "goal", self._grid.solid.shape)
        walker = _walker(size, diagonal, max_distance)
        key = goals.tobytes(), walker
        known = self._fields.pop(key, None)
        if known is None or not _same_tiles(known._grid, self._grid):
            known = _search(_snapshot(self._grid), goals, walker, -1)
            if len(self._fields) >= _KEPT:
                self._fields.pop(next(iter(self._fields)), None)
        self._fields[key] = known  # behind the others: the first is the one that was not asked for longest
        return known

    def find_path(self, a: Any, b: Any, *, size: Any = 1, diagonal: bool = True) -> Tiles:
        """The tiles of a shortest way from one tile to another.

        Parameters
        ----------
        a, b : (int, int)
            Column and row; ``b`` may also be several tiles, see `flow_field`.
        size, diagonal
            As of `flow_field`.

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` int64, column and row, from ``a`` to ``b``; no rows where there is no way.

        Raises
        ------
        IndexError
            A tile lies outside the map.
        TypeError, ValueError
            An argument is none of these.

        Examples
        --------
        >>> from broadphase import TileMap
        >>> level = TileMap([[False, True, False], [False, False, False]], 32)
        >>> level.find_path((0, 0), (2, 0)).tolist()
        [[0, 0], [0, 1], [1, 1], [2, 1], [2, 0]]
        """
        shape = self._grid.solid.shape
        ((column, row),) = as_tiles(a, "a", shape).tolist()
        walker = _walker(size, diagonal, math.inf)
        target = row * shape[1] + column
        return _search(self._grid, as_tiles(b, "b", shape), walker, target).path((column, row))


def as_tiles(values: Any, name: str, shape: tuple[int, ...]) -> Tiles:
    """``(m, 2)`` columns and rows that lie on a map of so many rows and columns."""
    given = as_float_array(values, name)
    if given.ndim not in (1, 2) or given.shape[-1] != 2:
        raise ValueError(f"{name} must be (column, row) or have shape (m, 2); got shape {given.shape}")
    rows, columns = shape
    given = given.reshape(-1, 2)
    whole = np.isfinite(given) & (given == np.floor(given))
    if not whole.all():
        at = int(np.flatnonzero(~whole.all(axis=1))[0])
        raise ValueError(f"{name}[{at}] = {given[at].tolist()} must be whole numbers, column and row")
    inside = (given >= 0).all(axis=1) & (given[:, 0] < columns) & (given[:, 1] < rows)
    if not inside.all():
        at = int(np.flatnonzero(~inside)[0])
        column, row = map(int, given[at].tolist())
        raise IndexError(
            f"{name}[{at}] = [{column}, {row}] lies outside the map of {columns} columns and {rows} rows"
        )
    return given.astype(np.int64)


def _walker(size: Any, diagonal: Any, max_distance: Any) -> Walker:
    given = tuple(size) if isinstance(size, (tuple, list, np.ndarray)) else (size, size)
    try:
        wide, high = map(index, given)
    except (TypeError, ValueError):
        raise TypeError(f"size must be one or two whole numbers of tiles; got {size!r}") from None
    if wide < 1 or high < 1:
        raise ValueError(f"size must be at least 1 tile; got {size!r}")
    if not isinstance(diagonal, (bool, np.bool_)):
        raise TypeError(f"diagonal must be True or False; got {diagonal!r}")
    farthest = float(max_distance)
    if not farthest >= 0.0:
        raise ValueError(f"max_distance must not be negative or nan; got {max_distance}")
    return Walker(wide, high, bool(diagonal), farthest)


def _same_tiles(a: TileGrid, b: TileGrid) -> bool:
    return np.array_equal(a.solid, b.solid) and np.array_equal(a.one_way, b.one_way)


def _snapshot(grid: TileGrid) -> TileGrid:
    return grid._replace(solid=grid.solid.copy(), one_way=grid.one_way.copy())


def _search(grid: TileGrid, goals: Tiles, walker: Walker, target: int) -> FlowField:
    """Search from the goals outwards, in slices, until all is reached or the target is."""
    shape, size = grid.solid.shape, (walker.wide, walker.high)
    distances, ways = np.full(shape, np.inf), np.full(shape, _NO_WAY, np.int8)
    room, steps = np.empty(shape, np.bool_), np.empty(shape, np.uint8)
    parts = _row_ranges(*shape)
    for begin, end in parts:
        find_room(grid, *size, begin, end, room)
    for begin, end in parts:
        find_steps(grid, *size, walker.diagonal, begin, end, room, steps)
    starts = _standing_on(goals, size, room)
    flat = distances.reshape(-1), ways.reshape(-1), np.zeros(distances.size, np.bool_)
    flat[0][starts] = 0.0
    queues, ends = np.empty((3, distances.size), np.int64), np.zeros((3, 2), np.int64)
    queues[0, : len(starts)], ends[0, 1] = starts, len(starts)
    costs = grid.width, grid.height, math.hypot(grid.width, grid.height)
    asked = steps.reshape(-1), shape[1], costs, walker.max_distance, target, _TILES_A_CALL
    while not flood(*asked, *flat, queues, ends):
        pass  # what a signal's handler raises comes between two calls
    return FlowField(grid, size, distances, ways)


def _row_ranges(rows: int, columns: int) -> list[tuple[int, int]]:
    """All rows, about `_TILES_A_CALL` tiles at a time."""
    step = max(1, _TILES_A_CALL // max(columns, 1))
    return [(begin, min(begin + step, rows)) for begin in range(0, rows, step)]


def _standing_on(goals: Tiles, size: tuple[int, int], room: npt.NDArray[np.bool_]) -> Tiles:
    """The numbers of the tiles where a body fits and covers a goal, ascending."""
    back = np.stack(np.meshgrid(range(size[0]), range(size[1])), axis=-1).reshape(-1, 2)
    tiles = (goals[:, None] - back).reshape(-1, 2)
    tiles = tiles[(tiles >= 0).all(axis=1)]
    tiles = tiles[room[tiles[:, 1], tiles[:, 0]]]
    return np.unique(tiles[:, 1] * room.shape[1] + tiles[:, 0])
