"""Tiles of a world that begins again: the part of the map that somebody needs, as it goes on beyond the seam.

What moves is reckoned in coordinates that go on, see `periodic_moving`.  Whoever can not come near the seam
looks at the map itself.  For all others the tiles around their way are copied, the first column behind the
last, into a map of their own: the copy is as large as the way, and made anew each time, because a map may be
written to at any moment.
"""

import contextlib
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.shapes.kinds import Bounds, Shape
from broadphase.world.body_rows import Floats
from broadphase.world.going import Going
from broadphase.world.hits import NOTHING
from broadphase.world.probe import blocker_at
from broadphase.world.tiles import Tile, TileMap
from broadphase.world.torus import Torus

Integers = npt.NDArray[np.int64]

# A map may be longer or shorter than the period by so much of it: rounding, for tiles of 0.1.
_FITS = 1e-12
# What starts in a wall looks for a way out within a period, in steps that double.
_PERIODS_AROUND = 2.1


class Unrolled(NamedTuple):
    """A part of a map, and which of its columns and rows are the first."""

    tiles: TileMap | None
    first: tuple[int, int] = (0, 0)


class PeriodicTiles(Going):
    """The tiles of a world with a period."""

    _torus: Torus
    _whole: TileMap | None = None
    _first: tuple[int, int] = (0, 0)
    """Where the map begins that others look at, `_tiles`, in the whole."""

    @property
    def tiles(self) -> TileMap | None:
        """The map whose solid tiles block; on an axis with a period it reaches from 0 to its end."""
        return self._whole

    @tiles.setter
    def tiles(self, tiles: TileMap | None) -> None:
        if tiles is not None and not isinstance(tiles, TileMap):
            raise TypeError(f"tiles must be a TileMap or None; got {tiles!r}")
        if tiles is not None:
            _check_goes_around(tiles, self._torus)
        self._whole, self._tiles, self._first = tiles, tiles, (0, 0)

    @contextlib.contextmanager
    def _tiles_around(self, region: Bounds | None, *starts: Bounds) -> Iterator[None]:
        """For as long as this lasts, let ``_tiles`` be the tiles around a region, or the map as it is.

        Where something starts in a tile, those count too that it may be pushed to.
        """
        before = self._tiles, self._first
        part = self._unrolled(region, starts)
        self._tiles, self._first = part
        try:
            yield
        finally:
            if self._tiles is part.tiles:  # a callback may have set another map
                self._tiles, self._first = before

    def _unrolled(self, region: Bounds | None, starts: tuple[Bounds, ...] = ()) -> Unrolled:
        whole, torus = self._whole, self._torus
        if whole is None or region is None or _is_within(region, torus):
            return Unrolled(whole)
        part = _part(whole, torus, region)
        if part.tiles is None or not any(_is_in_tiles(part.tiles, start) for start in starts):
            return part
        far_x, far_y = (_PERIODS_AROUND * length for length in torus.lengths.tolist())
        left, top, right, bottom = region
        return _part(whole, torus, (left - far_x, top - far_y, right + far_x, bottom + far_y))

    def _numbered(self, tile: Tile) -> Tile:
        """A tile of `_tiles`, by its numbers in the whole map."""
        return Tile(*self._all_numbered(np.array([tile]))[0].tolist())

    def _named_as_seen(self, found: object) -> object:
        return self._numbered(found) if isinstance(found, Tile) else found

    def _all_numbered(self, tiles: Integers) -> Integers:
        """The same for ``(k, 2)``; what is -1 stays so."""
        if self._whole is None:
            return tiles
        size = (self._whole.columns, self._whole.rows)
        return np.where(tiles[:, :1] < 0, tiles, (tiles + self._first) % size)

    def _keep_off_tiles(self, row: int, normals: list[tuple[float, float]]) -> None:
        """Move a body by a hair where rounding, beyond the seam, lets it overlap tiles that stopped it."""
        store = self._store
        for nx, ny in normals:
            far = math.ulp(self._torus.largest)
            while far < _FITS * self._torus.largest and self._is_in_tiles(store.shape(row)):
                store.put(row, store.x.item(row) + nx * far, store.y.item(row) + ny * far)
                far *= 2.0

    def _is_in_tiles(self, shape: Shape) -> bool:
        return blocker_at(shape, lambda _: NOTHING, self._unrolled(shape.bounds).tiles) is not None


def _check_goes_around(tiles: TileMap, torus: Torus) -> None:
    """Raise ``ValueError`` where a map does not fill the world on an axis that begins again."""
    left, top, right, bottom = tiles.bounds
    for axis, low, high in (("x", left, right), ("y", top, bottom)):
        length = torus.lengths["xy".index(axis)]
        if length < math.inf and not (low == 0.0 and abs(high - length) <= _FITS * length):
            raise ValueError(
                f"tiles = {tiles!r} reach from {low:g} to {high:g} on axis {axis}, and the world begins "
                f"again after {length:g}: give a map from 0 to {length:g}, or a world with that period"
            )


def _is_within(region: Bounds, torus: Torus) -> bool:
    """Whether a region lies inside one period, off its ends."""
    left, top, right, bottom = region
    x, y = torus.lengths.tolist()
    return bool((x == math.inf or 0.0 < left <= right < x) and (y == math.inf or 0.0 < top <= bottom < y))


def _is_in_tiles(tiles: TileMap, bounds: Bounds) -> bool:
    return tiles.first_blocker(bounds) is not None or bool(tiles.slopes_in(bounds))


def _part(whole: TileMap, torus: Torus, region: Bounds) -> Unrolled:
    """The tiles that a region overlaps, and those beside them, as if the map went on."""
    (width, height), (x, y), (length_x, length_y) = whole.tile_size, whole.origin, torus.lengths.tolist()
    columns = _numbers(region[0] - x, region[2] - x, width, whole.columns, length_x < math.inf)
    rows = _numbers(region[1] - y, region[3] - y, height, whole.rows, length_y < math.inf)
    if not len(columns) or not len(rows):
        return Unrolled(None)
    first = int(columns[0]), int(rows[0])
    corner = x + first[0] * width, y + first[1] * height
    chosen = np.ix_(rows % whole.rows, columns % whole.columns)
    sides = None if whole.one_way is None else whole.one_way[chosen]
    part = TileMap(whole.solid[chosen], (width, height), corner, one_way=sides)
    part._take_ground(whole, chosen)
    return Unrolled(part, first)


def _numbers(low: float, high: float, size: float, count: int, goes_around: bool) -> Integers:
    """The numbers of columns, or rows, in an interval; of a map that ends, only those that it has."""
    if not goes_around:
        low, high = max(low, -size), min(high, (count + 1) * size)
    first, end = math.floor(low / size) - 1, math.floor(high / size) + 2
    if not goes_around:
        first, end = max(first, 0), min(end, count)
    return np.arange(first, max(first, end))


def union(regions: Floats) -> Bounds:
    """The box around all of ``(k, 4)``."""
    left, top = regions[:, :2].min(axis=0).tolist()
    right, bottom = regions[:, 2:].max(axis=0).tolist()
    return left, top, right, bottom
