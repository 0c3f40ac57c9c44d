"""Slopes and ladders of a tile map: what walkers find in tiles that are not solid."""

import math
from collections.abc import Sequence
from operator import index
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.kernels.tiles.grid import TileGrid
from broadphase.kernels.tiles.ground import LADDER, PROFILE, Ground, cast_at_slopes, no_ground, slope_of
from broadphase.kernels.tiles.list import cells_of_box
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds, Polygon

Base: TypeAlias = Literal["bottom", "top"]
_BASES: dict[Base, float] = {"bottom": 0.0, "top": 1.0}


class Slope(NamedTuple):
    """The slope of a tile; see `TileMap.set_slope`."""

    left: float
    right: float
    base: Base = "bottom"


class GroundMap:
    """The part of `TileMap` that knows slopes and ladders."""

    _grid: TileGrid

    def __init__(self) -> None:
        super().__init__()  # what else a map knows
        self._ground = no_ground()
        self._profiles: dict[Slope, int] = {}
        self._sloped = 0
        """How many tiles have a slope."""
        self._shapes: dict[tuple[int, int], Polygon] = {}
        """The slopes that somebody asked for, until the next change."""

    def _inside(self, column: int, row: int) -> tuple[int, int]:
        raise NotImplementedError

    @property
    def ground(self) -> Ground:
        """What kernels take."""
        return self._ground

    @property
    def has_slopes(self) -> bool:
        """Whether a tile has a slope."""
        return self._sloped > 0

    def set_slope(self, column: int, row: int, left: float, right: float, *, base: Base = "bottom") -> None:
        """Let a tile that is not solid be filled up to a slanted line.

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
        at = self._inside(column, row)
        slope = Slope(finite(left, "left"), finite(right, "right"), base)
        if not (0.0 <= slope.left <= 1.0 and 0.0 <= slope.right <= 1.0):
            raise ValueError(f"left = {slope.left:g}, right = {slope.right:g} must be parts of a tile, 0..1")
        if base not in _BASES:
            raise ValueError(f"unknown base {base!r}; choose bottom or top")
        number = 0 if slope.left == slope.right == 0.0 else self._number_of(slope)
        if number or self._ground.cells.size:
            cells = self._cells()
            more = int(number > 0) - int(self._cell(column, row) & int(PROFILE) > 0)
            # No calls in these lines: nothing can come in between.
            cells[at] = (cells[at] & LADDER) | number
            self._sloped += more
        self._shapes.clear()

    def slope(self, column: int, row: int) -> Slope | None:
        """The slope of a tile; ``None`` where it has none."""
        number = self._cell(column, row) & int(PROFILE)
        if not number:
            return None
        left, right, hangs = self._ground.profiles[number - 1].tolist()
        return Slope(left, right, "top" if hangs else "bottom")

    def set_ladder(self, column: int, row: int, ladder: bool = True) -> None:
        """Make a tile a ladder, or none.

        `World.walk` says who is on a ladder, and lets walkers stand on the top of it; what to do there is
        the game's choice: usually no gravity.

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
        at = self._inside(column, row)
        if ladder:
            self._cells()[at] |= LADDER
        elif self._ground.cells.size:
            self._ground.cells[at] &= PROFILE

    def is_ladder(self, column: int, row: int) -> bool:
        """Whether a tile is a ladder; none is outside the map."""
        return bool(self._cell(column, row) & int(LADDER))

    # ---- what the world asks

    def slopes_in(self, bounds: Bounds) -> list[tuple[tuple[int, int], Polygon]]:
        """Tiles ``column, row`` with slopes that a box overlaps, row by row, with their shapes."""
        if not self.has_slopes:
            return []
        first, end, top, low = cells_of_box(self._grid, *bounds)
        numbers = self._ground.cells[top:low, first:end] & PROFILE
        numbers = np.where(self._grid.solid[top:low, first:end], 0, numbers)
        tiles = [(first + column, top + row) for row, column in np.argwhere(numbers).tolist()]
        return [(tile, self._shape(*tile)) for tile in tiles]

    def _slope_ahead(
        self, start: Sequence[float], way: Sequence[float], longest: float
    ) -> tuple[int, int, float, float, float, float, float] | None:
        """The first slope that a ray enters: ``column, row, distance, normal, point``."""
        if not self.has_slopes:
            return None
        column, row, distance, nx, ny = cast_at_slopes(
            self._grid, self._ground, start[0], start[1], way[0], way[1], float(longest)
        )
        if column < 0:
            return None
        largest = max(abs(way[0]), abs(way[1]))
        dx, dy = way[0] / largest, way[1] / largest
        part = distance / math.hypot(dx, dy)
        return column, row, distance, nx, ny, start[0] + part * dx, start[1] + part * dy

    def _slope_between(self, x: float, y: float, to_x: float, to_y: float) -> bool:
        """Whether the straight way between two points leads through a slope; the same in both directions."""
        if (to_x, to_y) < (x, y):
            x, y, to_x, to_y = to_x, to_y, x, y
        length = math.hypot(to_x - x, to_y - y)
        if length == 0.0:
            return False
        found = cast_at_slopes(self._grid, self._ground, x, y, to_x - x, to_y - y, length)
        return bool(found[0] >= 0 and found[2] < length)

    def _shape(self, column: int, row: int) -> Polygon:
        known = self._shapes.get((column, row))
        if known is None:
            left, top, right, bottom, from_y, to_y, hangs = slope_of(self._grid, self._ground, column, row)
            base = top if hangs else bottom
            corners = [(left, base), (right, base), (right, to_y), (left, from_y)]
            known = Polygon([at for k, at in enumerate(corners) if at != corners[k - 1]])
            self._shapes[column, row] = known
        return known

    def _cell(self, column: int, row: int) -> int:
        at_column, at_row = index(column), index(row)
        rows, columns = self._ground.cells.shape
        if 0 <= at_column < columns and 0 <= at_row < rows:
            return int(self._ground.cells[at_row, at_column])
        return 0

    def _cells(self) -> npt.NDArray[np.uint16]:
        """The cells, made when the first is needed."""
        if self._ground.cells.shape != self._grid.solid.shape:
            cells = np.zeros(self._grid.solid.shape, np.uint16)
            self._ground = self._ground._replace(cells=cells)
        return self._ground.cells

    def _number_of(self, slope: Slope) -> int:
        """Slopes that are alike share a number, counted from 1."""
        if slope not in self._profiles:
            number = len(self._ground.profiles) + 1
            if number > int(PROFILE):
                raise ValueError(f"there are {int(PROFILE)} different slopes; a map holds no more")
            row = (slope.left, slope.right, _BASES[slope.base])
            # The row first: should this be interrupted, one stands there that nobody has.
            self._ground = self._ground._replace(profiles=np.vstack((self._ground.profiles, row)))
            self._profiles[slope] = number
        return self._profiles[slope]

    def _copy_ground(self, other: "GroundMap") -> None:
        """The slopes and ladders of another map of the same size, in cells of one's own."""
        self._profiles, self._sloped = dict(other._profiles), other._sloped
        self._ground = Ground(other._ground.cells.copy(), other._ground.profiles)
        self._shapes.clear()

    def _take_ground(self, other: "GroundMap", chosen: tuple[npt.NDArray[np.int64], ...]) -> None:
        """The slopes and ladders of some cells of another map."""
        cells = other._ground.cells
        if cells.size:
            cells = cells[chosen]
        self._profiles, self._sloped = other._profiles, int(np.count_nonzero(cells & PROFILE))
        self._ground = Ground(cells, other._ground.profiles)
