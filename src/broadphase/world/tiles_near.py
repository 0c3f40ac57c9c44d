"""The tiles near a path: the map itself or, across the edge (seam) of a period, a copy of the part needed.

Movement is computed in coordinates that continue beyond the edge.  A path that stays away from the edge uses
the map itself.  For others the tiles near the path are copied to a small map, with the first column after the
last.  The copy is as large as the path, and made anew for each call, because a map may be written to at any
time.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Bounds
from broadphase.kernels.tiles.grid import TileGrid
from broadphase.world.movement import NO_TILES
from broadphase.world.space import Floats, Space
from broadphase.world.tiles import Tile, TileMap

Integers = npt.NDArray[np.int64]

FITS = 1e-12
"""Of the period: by rounding, a map of tiles of 0.1 may be so much longer or shorter."""
# A body that starts in a wall searches for a free place within a period, in steps that double.
_PERIODS_AROUND = 2.1


class TilesNear(NamedTuple):
    """A map, or a part of one, which may continue beyond the edge of a period."""

    tiles: TileMap | None
    first: tuple[int, int] = (0, 0)
    """The column and row of the full map with which it begins."""
    size: tuple[int, int] = (0, 0)
    """How many columns and rows the full map has; zeros if this is the full map."""

    @property
    def grid(self) -> TileGrid:
        """As kernels take it."""
        return NO_TILES if self.tiles is None else self.tiles.grid

    @property
    def has_slopes(self) -> bool:
        """Whether any tile is a slope."""
        return self.tiles is not None and self.tiles.has_slopes

    def named(self, found: object) -> object:
        """A tile by its numbers in the full map; other objects unchanged."""
        if isinstance(found, Tile) and self.size[0]:
            return Tile(*self.numbered(np.array([found]))[0].tolist())
        return found

    def numbered(self, tiles: Integers) -> Integers:
        """`named` for ``(k, 2)``; -1 stays -1."""
        if not self.size[0]:
            return tiles
        return np.where(tiles[:, :1] < 0, tiles, (tiles + self.first) % self.size)


def tiles_near(
    full: TileMap | None, space: Space, region: Bounds, starts: tuple[Bounds, ...] = ()
) -> TilesNear:
    """The tiles that a movement may hit in a region.

    If one of ``starts`` overlaps a tile, also those around the places that it may be pushed out to.
    """
    if full is None or not space.periodic or _is_within(region, space):
        return TilesNear(full)
    part = _copied_part(full, space, region)
    if part.tiles is None or not any(_is_in_tiles(part.tiles, start) for start in starts):
        return part
    far_x, far_y = (_PERIODS_AROUND * length for length in space.lengths.tolist())
    left, top, right, bottom = region
    return _copied_part(full, space, (left - far_x, top - far_y, right + far_x, bottom + far_y))


def check_fills(tiles: TileMap, space: Space) -> None:
    """Raise ``ValueError`` if a map does not fill the world on an axis with a period."""
    left, top, right, bottom = tiles.bounds
    for axis, low, high in (("x", left, right), ("y", top, bottom)):
        length = space.lengths["xy".index(axis)]
        if length < math.inf and not (low == 0.0 and abs(high - length) <= FITS * length):
            raise ValueError(
                f"tiles = {tiles!r} reach from {low:g} to {high:g} on axis {axis}, and the world begins "
                f"again after {length:g}: give a map from 0 to {length:g}, or a world with that period"
            )


def union(regions: Floats) -> Bounds:
    """The box around all of ``(k, 4)``."""
    left, top = regions[:, :2].min(axis=0).tolist()
    right, bottom = regions[:, 2:].max(axis=0).tolist()
    return left, top, right, bottom


def _is_within(region: Bounds, space: Space) -> bool:
    """Whether a region lies inside one period, away from its edges."""
    left, top, right, bottom = region
    x, y = space.lengths.tolist()
    return bool((x == math.inf or 0.0 < left <= right < x) and (y == math.inf or 0.0 < top <= bottom < y))


def _is_in_tiles(tiles: TileMap, bounds: Bounds) -> bool:
    return tiles.first_blocker(bounds) is not None or bool(tiles.slopes_in(bounds))


def _copied_part(full: TileMap, space: Space, region: Bounds) -> TilesNear:
    """A copy of the tiles that a region overlaps, and those beside them, as if the map were repeated."""
    (width, height), (x, y), (length_x, length_y) = full.tile_size, full.origin, space.lengths.tolist()
    columns = _numbers(region[0] - x, region[2] - x, width, full.columns, length_x < math.inf)
    rows = _numbers(region[1] - y, region[3] - y, height, full.rows, length_y < math.inf)
    if not len(columns) or not len(rows):
        return TilesNear(None)
    first = int(columns[0]), int(rows[0])
    corner = x + first[0] * width, y + first[1] * height
    chosen = np.ix_(rows % full.rows, columns % full.columns)
    sides = None if full.one_way is None else full.one_way[chosen]
    part = TileMap(full.solid[chosen], (width, height), corner, one_way=sides)
    part._take_ground(full, chosen)
    return TilesNear(part, first, (full.columns, full.rows))


def _numbers(low: float, high: float, size: float, count: int, goes_around: bool) -> Integers:
    """The numbers of columns, or rows, in an interval; without a period, only those that exist."""
    if not goes_around:
        low, high = max(low, -size), min(high, (count + 1) * size)
    first, end = math.floor(low / size) - 1, math.floor(high / size) + 2
    if not goes_around:
        first, end = max(first, 0), min(end, count)
    return np.arange(first, max(first, end))
