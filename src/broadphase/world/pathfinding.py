"""Pathfinding: the distance to a goal from every tile of a map, and the next step toward it."""

import math
from collections.abc import Iterator
from operator import index
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.arrays import settled
from broadphase.inputs.foreign import NUMBERS
from broadphase.kernels.tiles import pathfinding as kernel
from broadphase.kernels.tiles.grid import TileGrid
from broadphase.runtime.arrays import Floats
from broadphase.runtime.slices import ranges
from broadphase.world.arguments import as_points

Tiles = npt.NDArray[np.int64]

# A kernel cannot be interrupted; this many tiles take about 0.05 s.
_TILES_A_CALL = 1_000_000
_NO_WAY = -1
_STEPS = np.array(
    [*zip(kernel.COLUMN_STEPS, kernel.ROW_STEPS, strict=True), (0, 0)], np.int8
)  # the last for `_NO_WAY`


class Walker(NamedTuple):
    """The size of a walker, whether it may step diagonally, and how far it may walk."""

    wide: int
    high: int
    diagonal: bool
    max_distance: float


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

    __slots__ = ("_grid", "_steps", "distances", "size")

    def __init__(
        self, grid: TileGrid, size: tuple[int, int], distances: Floats, step_numbers: npt.NDArray[np.int8]
    ) -> None:
        self._grid, self._steps, self.distances, self.size = grid, step_numbers, distances, size
        distances.flags.writeable = step_numbers.flags.writeable = False

    @property
    def directions(self) -> npt.NDArray[np.int8]:
        """``[row, column, 2]``: the next step in columns and rows, -1, 0 or 1; zeros where there is none."""
        return _STEPS[self._steps]

    def distances_at(self, points: Any) -> Floats:
        """The distance to the goal of bodies with centres at ``points``; infinite if there is no path.

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
        kernel.distances_at(self._grid, *self.size, self.distances, middles, out)
        return out

    def ways_at(self, points: Any) -> Floats:
        """The directions from ``points``, the centres of bodies, to the centre of the next tile on the path.

        A body that is a little smaller than its tiles, by the length of a step, gets round every corner when
        `World.move` lets it slide.

        Parameters
        ----------
        points : array_like, shape (m, 2)

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` unit vectors; zeros at the goal and if there is no path.

        Examples
        --------
        >>> from broadphase import TileMap
        >>> field = TileMap([[False, False, False], [False, True, True]], 10).flow_field((2, 0))
        >>> field.ways_at([[5, 15], [12, 5]]).tolist(), field.distances_at([[5, 15], [12, 5]]).tolist()
        ([[0.0, -1.0], [1.0, 0.0]], [30.0, 10.0])
        """
        middles = self._middles(points)
        out = np.empty(middles.shape)
        kernel.directions_at(self._grid, *self.size, self._steps, middles, out)
        return out

    def path(self, start: Any) -> Tiles:
        """``(m, 2)``, column and row: the tiles of a shortest path from a tile to the goal, both included.

        Without rows if there is no path.

        Raises
        ------
        IndexError
            The tile lies outside the map.
        """
        ((column, row),) = as_tiles(start, "start", self.distances.shape).tolist()
        if not math.isfinite(self.distances[row, column]):
            return np.empty((0, 2), np.int64)
        count = kernel.trace(self._steps, column, row, np.empty((0, 2), np.int64))
        tiles = np.empty((count, 2), np.int64)
        kernel.trace(self._steps, column, row, tiles)
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


def as_tiles(values: Any, name: str, shape: tuple[int, ...]) -> Tiles:
    """``(m, 2)`` columns and rows that lie on a map of so many rows and columns."""
    given = settled(values, name, NUMBERS)
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
    tiles: Tiles = given.astype(np.int64)
    return tiles


def as_walker(size: Any, diagonal: Any, max_distance: Any) -> Walker:
    """The walker of a search, checked."""
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


def same_tiles(a: TileGrid, b: TileGrid) -> bool:
    """Whether paths over one map are paths over the other."""
    return all(
        np.array_equal(*some) for some in ((a.solid, b.solid), (a.one_way, b.one_way), (a.ground, b.ground))
    )


def copied(grid: TileGrid) -> TileGrid:
    """A copy of the tiles as they are now."""
    return grid._replace(solid=grid.solid.copy(), one_way=grid.one_way.copy(), ground=grid.ground.copy())


def search(grid: TileGrid, goals: Tiles, walker: Walker, target: int) -> FlowField:
    """Search from the goals outwards, in slices, until all tiles are reached, or the target is."""
    shape, size = grid.solid.shape, (walker.wide, walker.high)
    distances, step_numbers = np.full(shape, np.inf), np.full(shape, _NO_WAY, np.int8)
    is_free, steps = np.empty(shape, np.bool_), np.empty(shape, np.uint8)
    for begin, end in _row_ranges(shape, walker.wide * walker.high):
        kernel.find_free_tiles(grid, *size, begin, end, is_free)
    for begin, end in _row_ranges(shape, walker.wide + walker.high):
        kernel.find_steps(grid, *size, walker.diagonal, begin, end, is_free, steps)
    starts = _standing_on(goals, size, is_free)
    flat = distances.reshape(-1), step_numbers.reshape(-1), np.zeros(distances.size, np.bool_)
    flat[0][starts] = 0.0
    queues, ends = np.empty((3, distances.size), np.int64), np.zeros((3, 2), np.int64)
    queues[0, : len(starts)], ends[0, 1] = starts, len(starts)
    costs = grid.width, grid.height, math.hypot(grid.width, grid.height)
    arguments = steps.reshape(-1), shape[1], costs, walker.max_distance, target, _TILES_A_CALL
    while not kernel.flood(*arguments, *flat, queues, ends):
        pass  # a signal's handler runs between two calls
    return FlowField(grid, size, distances, step_numbers)


def _row_ranges(shape: tuple[int, ...], looks: int) -> Iterator[tuple[int, int]]:
    """All rows, about `_TILES_A_CALL` tiles at a time, each of which is looked at so often."""
    return ranges(0, shape[0], max(1, _TILES_A_CALL // max(shape[1] * looks, 1)))


def _standing_on(goals: Tiles, size: tuple[int, int], is_free: npt.NDArray[np.bool_]) -> Tiles:
    """The numbers of the tiles where a body fits and covers a goal, ascending."""
    back = np.stack(np.meshgrid(range(size[0]), range(size[1])), axis=-1).reshape(-1, 2)
    tiles = (goals[:, None] - back).reshape(-1, 2)
    tiles = tiles[(tiles >= 0).all(axis=1)]
    tiles = tiles[is_free[tiles[:, 1], tiles[:, 0]]]
    return np.unique(tiles[:, 1] * is_free.shape[1] + tiles[:, 0])
