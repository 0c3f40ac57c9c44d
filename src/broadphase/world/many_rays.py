"""Rays by the hundred thousand: the first body or tile that each of them hits, as arrays."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.foreign import WAYS
from broadphase.indexes import arguments
from broadphase.kernels.shapes.rays import first_on_rays
from broadphase.kernels.tiles.rays import cast_rays_each
from broadphase.world.arguments import as_points, of_one_length
from broadphase.world.asking_many import AskingMany
from broadphase.world.body import Body

_Floats = npt.NDArray[np.float64]
_Rows = npt.NDArray[np.int32]

# So many rays are asked about at once: what they may hit must fit into memory, of any number of rays.
_AT_ONCE = 16_384
# Rays look this many times the usual gap between bodies ahead before they look at all of their way.
_LOOK_AHEAD = (8.0, 64.0)
# A hit counts at once up to this part of the look ahead: what is hit as soon has been seen for certain.
_CERTAIN = 0.99
# Nor may the look ahead be so short that it is lost in the rounding of places.
_SHORTEST = 1e-6


class BodyHits(NamedTuple):
    """Where many rays enter bodies or tiles, one row a ray; see `World.raycast_many`."""

    ids: _Rows
    """``(m,)``: the id of the body; -1 where the ray hits no body."""
    distances: _Floats
    """``(m,)``: 0 where the ray starts inside, infinite where it hits nothing."""
    normals: _Floats
    """``(m, 2)``: unit vectors out of what was hit; zeros where the ray starts inside, or hits nothing."""
    tiles: npt.NDArray[np.int64]
    """``(m, 2)``: column and row of the tile; -1 where the ray hits none."""


class ManyRays(AskingMany):
    """The part of `World` that casts many rays at once."""

    def raycast_many(
        self,
        origins: Any,
        directions: Any,
        max_distance: Any = math.inf,
        *,
        tag: Any = None,
        category: int | None = None,
        mask: int | None = None,
        tiles: bool = True,
        ignore: Any = None,
    ) -> BodyHits:
        """The first body or solid tile that each of many rays hits: the answers of `raycast`, as arrays.

        Parameters
        ----------
        origins, directions : array_like, shape (m, 2)
            Or one ``(x, y)`` for all rays.  Directions are of any length but 0.
        max_distance : float or array_like, shape (m,)
            In world units.
        tag, category, mask, tiles
            As of `raycast`, the same for all.
        ignore : Body, int, list of Body, or array_like of int, shape (m,), optional
            Who is asking: one body for all rays, or one for each, as bodies or ids; ``None`` or -1 where
            nothing is to be left out.  An array of ids is fastest.

        Returns
        -------
        BodyHits
            ``ids, distances, normals, tiles``: a ray hits a body, a tile or nothing.

        Raises
        ------
        TypeError, ValueError
            As of `raycast`; lengths do not match, or ``ignore`` names what is no body of this world.

        Examples
        --------
        Two robots look left and right, and neither sees itself:

        >>> import broadphase as bp
        >>> world = bp.World()
        >>> world.tiles = bp.TileMap([[True, False, False, False]], 10)
        >>> robots = [world.add(bp.Circle(x, 5, 2)) for x in (15, 30)]
        >>> hits = world.raycast_many(
        ...     [[15, 5], [15, 5], [30, 5], [30, 5]],
        ...     [[-1, 0], [1, 0], [-1, 0], [1, 0]],
        ...     ignore=[0, 0, 1, 1],
        ... )
        >>> hits.ids.tolist(), hits.distances.tolist()
        ([-1, 1, 0, -1], [5.0, 13.0, 13.0, inf])
        >>> hits.tiles[0].tolist(), hits.normals[1].tolist()
        ([0, 0], [-1.0, 0.0])
        """
        rays = _rays(origins, directions, max_distance)
        own = self._left_out(ignore, len(rays))
        fits = self._fitting(np.arange(len(self._store.bodies), dtype=np.int32), tag, category, mask)
        at, distances = np.full((len(rays), 2), -1), np.full(len(rays), math.inf)
        normals = np.zeros((len(rays), 2))
        if tiles and self._tiles is not None:
            self._first_tiles(rays, at, distances, normals)
            stopped = at[:, 0] >= 0
            rays[stopped, 4] = np.nextafter(distances[stopped], math.inf)  # a body that is as near goes first
        found, hits = self._first_bodies(rays, own, fits)
        is_body = found >= 0
        at[is_body] = -1
        distances[is_body], normals[is_body] = hits[is_body, 0], hits[is_body, 1:]
        return BodyHits(found, distances, normals, at)

    def _first_tiles(
        self, rays: _Floats, at: npt.NDArray[np.int64], distances: _Floats, normals: _Floats
    ) -> None:
        """Write down which tile each ray hits first, how far away, and the side."""
        assert self._tiles is not None
        cast_rays_each(self._tiles.grid, self._tiles.ground, rays, at, distances, normals)

    def _first_bodies(self, rays: _Floats, own: _Rows, fits: npt.NDArray[np.bool_]) -> tuple[_Rows, _Floats]:
        """The row that each ray hits first, -1 for none, with distance and normal.

        Most rays end soon: so they look a little ahead first, and not at all that lies on their line.
        """
        found, hits = np.full(len(rays), -1, np.int32), np.full((len(rays), 3), math.inf)
        self._layers.sync()
        table = self._store.table.columns
        waiting = np.arange(len(rays))
        for reach in (*self._looks_ahead(rays), math.inf):
            for begin in range(0, len(waiting), _AT_ONCE):
                asked = waiting[begin : begin + _AT_ONCE]
                ahead = rays[asked]
                np.minimum(ahead[:, 4], reach, out=ahead[:, 4])
                for ids, ends, rows in self._layers.near_rays(ahead):
                    first_on_rays(rays, asked, ends, ids, rows, table, fits, own, found, hits)
            waiting = waiting[(hits[waiting, 0] > _CERTAIN * reach) & (rays[waiting, 4] > reach)]
        return found, hits

    def _looks_ahead(self, rays: _Floats) -> list[float]:
        """How far rays look before they look at all of their way; nothing where that would not be sooner."""
        rows = self._store.rows()
        if not len(rows) or not len(rays):
            return []
        places = np.column_stack((self._store.x[rows], self._store.y[rows]))
        size = np.ptp(places, axis=0)
        gap = float(size.max()) / math.sqrt(len(rows))
        largest = max(float(np.abs(places).max()), float(np.abs(rays[:, :2]).max()))
        return [ahead * gap for ahead in _LOOK_AHEAD if _SHORTEST * largest < ahead * gap < float(size.max())]

    def _left_out(self, ignore: Any, count: int) -> _Rows:
        """The row that each ray passes through; -1 for none."""
        if ignore is None or isinstance(ignore, Body):
            return np.full(count, -1 if ignore is None else self._store.row(ignore, "ignore"), np.int32)
        named = np.asarray(ignore)
        if named.ndim == 0 and named.dtype.kind in "iu":
            named = np.broadcast_to(named, (count,))
        if named.shape != (count,):
            raise ValueError(
                f"ignore must be one body, or one for each of {count} rays; got shape {named.shape}"
            )
        if named.dtype.kind not in "iu":
            listed = enumerate(named.tolist())
            rows = [-1 if one is None else self._store.row(one, f"ignore[{k}]") for k, one in listed]
            return np.array(rows, np.int32)
        held = (named >= 0) & (named < len(self._store.bodies))
        held[held] = self._store.alive[named[held]]
        strange = np.flatnonzero(~held & (named != -1))
        if len(strange):
            at = int(strange[0])
            raise ValueError(f"ignore[{at}] = {named[at]} is the id of no body; -1 leaves nothing out")
        return named.astype(np.int32)


def _rays(origins: Any, directions: Any, max_distance: Any) -> _Floats:
    """``(m, 5)``: ``x, y``, a unit vector, and how far; to the last bit as `World.raycast` takes them."""
    starts, ways = of_one_length(
        as_points(origins, "origins"), as_points(directions, "directions", WAYS), "origins", "directions"
    )
    furthest = arguments.distance_or_distances(max_distance, "max_distance")
    if isinstance(furthest, np.ndarray) and len(furthest) != len(starts):
        raise ValueError(f"max_distance has {len(furthest)} rows and there are {len(starts)} rays")
    largest = np.abs(ways).max(axis=1, keepdims=True)
    nowhere = np.flatnonzero(largest == 0.0)
    if len(nowhere):
        at = int(nowhere[0])
        raise ValueError(
            f"directions[{at}] = {ways[at].tolist()} points nowhere; one component must not be zero"
        )
    ways = ways / largest
    lengths = np.sqrt(ways[:, 0] * ways[:, 0] + ways[:, 1] * ways[:, 1])
    return np.column_stack((starts, ways / lengths[:, None], np.broadcast_to(furthest, len(starts))))
