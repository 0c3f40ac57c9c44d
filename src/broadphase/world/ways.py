"""What a tile map is asked for ways; `broadphase.world.flow` finds them.

Apart from it because most maps are never asked, and what searches is four files more.
"""

import math
from typing import TYPE_CHECKING, Any

from broadphase.kernels.tiles.grid import TileGrid

if TYPE_CHECKING:
    from broadphase.world.flow import FlowField, Tiles, Walker
_KEPT = 8


class Ways:
    """The part of `TileMap` that finds ways; it keeps the last few fields while no tile changes."""

    _grid: TileGrid

    def __init__(self) -> None:
        self._fields: dict[tuple[bytes, Walker], FlowField] = {}

    def flow_field(
        self, goal: Any, *, size: Any = 1, diagonal: bool = True, max_distance: float = math.inf
    ) -> "FlowField":
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
        from broadphase.world.flow import as_tiles, as_walker, copied, same_tiles, search

        goals = as_tiles(goal, "goal", self._grid.solid.shape)
        walker = as_walker(size, diagonal, max_distance)
        key = goals.tobytes(), walker
        known = self._fields.pop(key, None)
        if known is None or not same_tiles(known._grid, self._grid):
            known = search(copied(self._grid), goals, walker, -1)
            if len(self._fields) >= _KEPT:
                self._fields.pop(next(iter(self._fields)), None)
        self._fields[key] = known  # behind the others: the first is the one that was not asked for longest
        return known

    def find_path(self, a: Any, b: Any, *, size: Any = 1, diagonal: bool = True) -> "Tiles":
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
        from broadphase.world.flow import as_tiles, as_walker, search

        shape = self._grid.solid.shape
        ((column, row),) = as_tiles(a, "a", shape).tolist()
        walker = as_walker(size, diagonal, math.inf)
        target = row * shape[1] + column
        return search(self._grid, as_tiles(b, "b", shape), walker, target).path((column, row))
