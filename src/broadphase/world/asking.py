"""What is here, near this, or in the way of that ray: the questions that one can ask a world.

As `broadphase.Index` answers them, but exact for circles and polygons too, and with bodies.
"""

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from broadphase.indexes import arguments
from broadphase.kernels.shapes.ask import distance_rows, overlap_rows, ray_rows
from broadphase.kernels.shapes.table import BOX
from broadphase.shapes.kinds import Box, Circle, Shape
from broadphase.shapes.table import columns_of
from broadphase.world.arguments import as_bounds, as_shape, as_two
from broadphase.world.body import Body
from broadphase.world.listeners import as_tags
from broadphase.world.state import State

_Rules = tuple[Any, int | None, int | None, bool, Body | None]
"""``tag, category, mask, tiles, ignore``"""

# A box without limits, for a kernel that subtracts its edges.
_FARTHEST = 1e300


class BodyHit(NamedTuple):
    """Where a ray enters a body or a tile."""

    other: Any
    """The `Body` or `Tile`."""
    distance: float
    """0 where the ray starts inside."""
    normal: tuple[float, float]
    """Unit vector out of what was hit; zeros where the ray starts inside."""
    point: tuple[float, float]

    @property
    def body(self) -> Body | None:
        """The body, or ``None`` for a tile."""
        return self.other if isinstance(self.other, Body) else None


class NearestBodies(NamedTuple):
    """The nearest bodies, by distance, then id."""

    bodies: list[Body]
    distances: list[float]


class Asking(State):
    """The part of `World` that answers questions.

    All take the same rules: ``tag`` leaves the bodies that have it (or one of several), ``category`` those
    whose mask has one of its bits, ``mask`` those whose category has.  Bodies come by id.  Shapes are open
    sets: what only shares an edge or a point does not count.
    """

    def query_box(
        self, box: Any, *, tag: Any = None, category: int | None = None, mask: int | None = None
    ) -> list[Body]:
        """The bodies that overlap a box.

        Parameters
        ----------
        box : Box or (float, float, float, float)
            Four numbers are ``min_x, min_y, max_x, max_y``; they may be infinite.  Of another shape the
            bounds count; for the shape itself there is `query_shape`.
        tag, category, mask
            See `Asking`.

        Raises
        ------
        TypeError, ValueError
            The box is none.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> ball = world.add(bp.Circle(0, 0, 5), tag="ball")
        >>> world.query_box((4, 4, 9, 9)), world.query_box((3, 3, 9, 9)) == [ball]
        ([], True)
        """
        bounds = as_bounds(box)
        self._layers.sync()
        rows = self._chosen(self._layers.in_box(bounds), tag, category, mask)
        if self._store.any_round:
            left, top, right, bottom = (min(max(edge, -_FARTHEST), _FARTHEST) for edge in bounds)
            rows = self._overlapping(rows, Box(left, top, right - left, bottom - top))
        return [self._body(row) for row in rows]

    def query_shape(
        self, shape: Shape, *, tag: Any = None, category: int | None = None, mask: int | None = None
    ) -> list[Body]:
        """The bodies that overlap a shape; see `query_box`."""
        known = as_shape(shape)
        self._layers.sync()
        rows = self._chosen(self._layers.in_box(known.bounds), tag, category, mask)
        return [self._body(row) for row in self._overlapping(rows, known)]

    def query_point(
        self, point: Any, *, tag: Any = None, category: int | None = None, mask: int | None = None
    ) -> list[Body]:
        """The bodies whose inside holds a point; see `query_box`."""
        x, y = as_two(point, "point")
        return self.query_shape(Box(x, y, 0.0, 0.0), tag=tag, category=category, mask=mask)

    def query_radius(
        self, center: Any, r: float, *, tag: Any = None, category: int | None = None, mask: int | None = None
    ) -> list[Body]:
        """The bodies at a distance of less than ``r`` from a point: who feels a blast; see `query_box`.

        Parameters
        ----------
        center : (float, float)
        r : float
            Not negative; infinity is legal.
        tag, category, mask
            See `Asking`.
        """
        x, y = as_two(center, "center")
        radius = _distance(r, "r")
        if radius >= _FARTHEST:
            return self.query_box(
                (-math.inf, -math.inf, math.inf, math.inf), tag=tag, category=category, mask=mask
            )
        return self.query_shape(Circle(x, y, radius), tag=tag, category=category, mask=mask)

    def raycast(
        self,
        origin: Any,
        direction: Any,
        max_distance: float = math.inf,
        *,
        tag: Any = None,
        category: int | None = None,
        mask: int | None = None,
        tiles: bool = True,
        ignore: Body | None = None,
    ) -> BodyHit | None:
        """The first body or solid tile that a ray hits; of several at one distance, the lowest id.

        Parameters
        ----------
        origin : (float, float)
        direction : (float, float)
            Of any length but 0.
        max_distance : float
            In world units.
        tag, category, mask
            See `Asking`.
        tiles : bool
            Whether tiles stop the ray.
        ignore : Body, optional
            Who is asking: a ray from inside a body would hit that first.

        Returns
        -------
        BodyHit or None
            ``other, distance, normal, point``

        Raises
        ------
        TypeError, ValueError
            A number is none or not finite, the direction is zero, or ``max_distance`` negative.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(10, -5, 1, 10), static=True)
        >>> hit = world.raycast((0, 0), (1, 0))
        >>> hit.other is wall, hit.distance, hit.normal
        (True, 10.0, (-1.0, 0.0))
        """
        hits = self._hits(origin, direction, max_distance, (tag, category, mask, tiles, ignore), 1)
        return hits[0] if hits else None

    def query_ray(
        self,
        origin: Any,
        direction: Any,
        max_distance: float = math.inf,
        *,
        tag: Any = None,
        category: int | None = None,
        mask: int | None = None,
        tiles: bool = True,
        ignore: Body | None = None,
    ) -> list[BodyHit]:
        """Everything that a ray hits, by distance, then id; it ends at the first solid tile.

        Parameters
        ----------
        origin, direction, max_distance, tag, category, mask, tiles, ignore
            As of `raycast`.
        """
        rules = (tag, category, mask, tiles, ignore)
        return self._hits(origin, direction, max_distance, rules, len(self._store.bodies))

    def nearest(
        self,
        point: Any,
        k: int = 1,
        *,
        tag: Any = None,
        category: int | None = None,
        mask: int | None = None,
        ignore: Body | None = None,
    ) -> NearestBodies:
        """The ``k`` bodies nearest to a point, by distance, then id; inside a body the distance is 0.

        Parameters
        ----------
        point : (float, float)
        k : int
            At least 1.
        tag, category, mask, ignore
            As of `raycast`.

        Returns
        -------
        NearestBodies
            ``bodies, distances``: two lists of up to ``k``.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> _ = [world.add(bp.Circle(x, 0, 1), tag="monster") for x in (5, 9, 20)]
        >>> found = world.nearest((0, 0), k=2, tag="monster")
        >>> [body.id for body in found.bodies], found.distances
        ([0, 1], [4.0, 8.0])
        """
        x, y = as_two(point, "point")
        most = arguments.count(k, "k", 1)
        own = -1 if ignore is None else self._store.row(ignore, "ignore")
        self._layers.sync()
        asked = most + (own >= 0)
        while True:
            found, beyond = self._layers.nearest((x, y), asked)
            rows = np.array([row for row in self._chosen(found, tag, category, mask) if row != own], np.int64)
            distances = np.empty(len(rows))
            distance_rows(self._store.table.columns, rows, x, y, distances)
            order = np.lexsort((rows, distances))[:most]
            # What was not found lies at least so far away; a body can only be farther than its bounds.
            if beyond == math.inf or (len(order) == most and distances[order[-1]] < beyond):
                return NearestBodies(
                    [self._body(row) for row in rows[order].tolist()], distances[order].tolist()
                )
            asked *= 4

    # ---- what the queries share

    def _hits(
        self, origin: Any, direction: Any, max_distance: float, rules: _Rules, most: int
    ) -> list[BodyHit]:
        """The first ``most`` bodies that a ray hits, then the tile that ends it."""
        start, (dx, dy) = as_two(origin, "origin"), as_two(direction, "direction")
        tag, category, mask, tiles, ignore = rules
        furthest = _distance(max_distance, "max_distance")
        if dx == 0.0 and dy == 0.0:
            raise ValueError(f"direction = {direction} points nowhere; one component must not be zero")
        # Scaled first: the square of a component must not overflow or vanish.
        largest = max(abs(dx), abs(dy))
        length = math.hypot(dx / largest, dy / largest)
        dx, dy = dx / largest / length, dy / largest / length
        last: list[BodyHit] = []
        if tiles and self._tiles is not None:
            stop = self._tiles.raycast(start, (dx, dy), furthest)
            if stop is not None:
                last = [BodyHit(stop.tile, stop.distance, stop.normal, stop.point)]
                furthest = math.nextafter(stop.distance, math.inf)
        self._layers.sync()
        rows = self._chosen(self._layers.on_ray(start, (dx, dy), furthest), tag, category, mask)
        if ignore is not None:
            own = self._store.row(ignore, "ignore")
            rows = [row for row in rows if row != own]
        array = np.array(rows, np.int64)
        distances, normals = np.empty(len(rows)), np.empty((len(rows), 2))
        ray_rows(self._store.table.columns, array, *start, dx, dy, furthest, distances, normals)
        hits = []
        met = np.flatnonzero(distances >= 0.0)
        for k in met[np.lexsort((array[met], distances[met]))[:most]].tolist():
            distance, normal = distances.item(k), tuple(normals[k].tolist())
            point = (start[0] + distance * dx, start[1] + distance * dy)
            hits.append(BodyHit(self._body(rows[k]), distance, normal, point))
        return hits + last

    def _chosen(self, rows: list[int], tag: Any, category: int | None, mask: int | None) -> list[int]:
        store = self._store
        if tag is not None:
            wanted = as_tags(tag)
            rows = [row for row in rows if not wanted.isdisjoint(store.tags(row))]
        if category is not None:
            bits = arguments.bit_set(category, "category")
            rows = [row for row in rows if int(store.mask[row]) & bits]
        if mask is not None:
            bits = arguments.bit_set(mask, "mask")
            rows = [row for row in rows if int(store.category[row]) & bits]
        return rows

    def _overlapping(self, rows: list[int], shape: Shape) -> list[int]:
        if not rows:
            return rows
        array = np.array(rows, np.int64)
        table = self._store.table.columns
        if isinstance(shape, Box) and (table.kinds[array] == BOX).all():
            return rows
        out = np.empty(len(rows), np.bool_)
        overlap_rows(columns_of(shape), table, array, out)
        return array[out].tolist()  # type: ignore[no-any-return]


def _distance(value: Any, name: str) -> float:
    """A distance: not negative, not NaN, infinity is legal."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number; got {value!r}")
    number = float(value)
    if not number >= 0.0:
        raise ValueError(f"{name} = {number} must not be negative or nan")
    return number
