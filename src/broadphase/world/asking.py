"""What is here, near this, or in the way of that ray: the questions that one can ask a world.

As `broadphase.Index` answers them, but exact for circles and polygons too, and with bodies.
"""

import math
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np

from broadphase.indexes import arguments
from broadphase.kernels.shapes.near import FEW, keep_on_ray, keep_overlapping, rank_near
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns
from broadphase.shapes.kinds import Bounds, Circle, Shape
from broadphase.shapes.table import columns_of
from broadphase.world.arguments import as_bounds, as_shape, as_two
from broadphase.world.asking_many import is_batch
from broadphase.world.body import Body
from broadphase.world.listeners import as_tags
from broadphase.world.many_nearest import ManyNearest

_Tags: TypeAlias = Any
_Bits: TypeAlias = int | None
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


class Asking(ManyNearest):
    """The part of `World` that answers questions.

    All take the same rules: ``tag`` leaves the bodies that have it (or one of several), ``category`` those
    whose mask has one of its bits, ``mask`` those whose category has.  Bodies come by id.  Shapes are open
    sets: what only shares an edge or a point does not count.

    Boxes, points and centres may come as arrays, one row a question: the answer is then an ``(n, 2)`` int32
    array of rows ``[question, id of a body]``, sorted; see `World.body`.
    """

    @overload
    def query_box(
        self, box: Shape | Bounds, *, tag: _Tags = ..., category: _Bits = ..., mask: _Bits = ...
    ) -> list[Body]: ...
    @overload
    def query_box(self, box: Any, *, tag: _Tags = ..., category: _Bits = ..., mask: _Bits = ...) -> Any: ...
    def query_box(self, box: Any, *, tag: _Tags = None, category: _Bits = None, mask: _Bits = None) -> Any:
        """The bodies that overlap a box.

        Parameters
        ----------
        box : Box, (float, float, float, float) or array_like, shape (m, 4)
            Four numbers are ``min_x, min_y, max_x, max_y``; they may be infinite.  Of another shape the
            bounds count; for the shape itself there is `query_shape`.
        tag, category, mask
            See `Asking`.

        Returns
        -------
        list of Body, or numpy.ndarray
            Of an array of boxes ``(n, 2)`` rows ``[question, id]``, see `Asking`.

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
        >>> world.query_box([[4, 4, 9, 9], [3, 3, 9, 9]]).tolist() == [[1, ball.id]]
        True
        """
        if is_batch(box):
            return self._in_many_boxes(box, tag, category, mask)
        bounds = as_bounds(box)
        left, top, right, bottom = bounds
        if not -_FARTHEST <= left <= right <= _FARTHEST or not -_FARTHEST <= top <= bottom <= _FARTHEST:
            left, top, right, bottom = (min(max(edge, -_FARTHEST), _FARTHEST) for edge in bounds)
        asked = self._of_kind(BOX, left, top, right - left, bottom - top)
        return self._bodies(self._overlapping(bounds, asked), tag, category, mask)

    def query_shape(
        self, shape: Shape, *, tag: Any = None, category: int | None = None, mask: int | None = None
    ) -> list[Body]:
        """The bodies that overlap a shape; see `query_box`."""
        known = as_shape(shape)
        return self._bodies(self._overlapping(known.bounds, columns_of(known)), tag, category, mask)

    @overload
    def query_point(
        self, point: tuple[float, float], *, tag: _Tags = ..., category: _Bits = ..., mask: _Bits = ...
    ) -> list[Body]: ...
    @overload
    def query_point(
        self, point: Any, *, tag: _Tags = ..., category: _Bits = ..., mask: _Bits = ...
    ) -> Any: ...
    def query_point(
        self, point: Any, *, tag: _Tags = None, category: _Bits = None, mask: _Bits = None
    ) -> Any:
        """The bodies whose inside holds a point, or rows for points ``(m, 2)``; see `query_box`."""
        if is_batch(point):
            return self._at_many_points(point, tag, category, mask)
        x, y = as_two(point, "point")
        asked = self._of_kind(BOX, x, y, 0.0, 0.0)
        return self._bodies(self._overlapping((x, y, x, y), asked), tag, category, mask)

    @overload
    def query_radius(
        self,
        center: tuple[float, float],
        r: float,
        *,
        tag: _Tags = ...,
        category: _Bits = ...,
        mask: _Bits = ...,
    ) -> list[Body]: ...
    @overload
    def query_radius(
        self, center: Any, r: Any, *, tag: _Tags = ..., category: _Bits = ..., mask: _Bits = ...
    ) -> Any: ...
    def query_radius(
        self, center: Any, r: Any, *, tag: _Tags = None, category: _Bits = None, mask: _Bits = None
    ) -> Any:
        """The bodies at a distance of less than ``r`` from a point: who feels a blast; see `query_box`.

        Parameters
        ----------
        center : (float, float) or array_like, shape (m, 2)
        r : float or array_like, shape (m,)
            Not negative; infinity is legal.
        tag, category, mask
            See `Asking`.
        """
        if is_batch(center):
            return self._in_many_circles(center, r, tag, category, mask)
        x, y = as_two(center, "center")
        radius = _distance(r, "r")
        if radius >= _FARTHEST:
            return self.query_box(
                (-math.inf, -math.inf, math.inf, math.inf), tag=tag, category=category, mask=mask
            )
        bounds = Circle(x, y, radius).bounds
        asked = self._of_kind(CIRCLE, x, y, radius, 0.0)
        return self._bodies(self._overlapping(bounds, asked), tag, category, mask)

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
            count, beyond = self._layers.nearest((x, y), asked)
            room = self._layers.room
            count = rank_near(room.near, count, self._store.table.columns, x, y, own, room.hits)
            found = self._by_distance(count, tag, category, mask)[:most]
            # What was not found lies at least so far away; a body can only be farther than its bounds.
            if beyond == math.inf or (len(found) == most and found[-1][1][0] < beyond):
                bodies: list[Any] = self._store.bodies
                return NearestBodies([bodies[row] for row, _ in found], [hit[0] for _, hit in found])
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
        dx, dy = dx / largest, dy / largest
        length = math.sqrt(dx * dx + dy * dy)
        dx, dy = dx / length, dy / length
        last: list[BodyHit] = []
        if tiles and self._tiles is not None:
            stop = self._tiles.raycast(start, (dx, dy), furthest)
            if stop is not None:
                last = [BodyHit(stop.tile, stop.distance, stop.normal, stop.point)]
                furthest = math.nextafter(stop.distance, math.inf)
        self._layers.sync()
        own = -1 if ignore is None else self._store.row(ignore, "ignore")
        x, y = start
        count, room = self._layers.near_ray(start, (dx, dy), furthest), self._layers.room
        count = keep_on_ray(
            room.near, count, self._store.table.columns, x, y, dx, dy, furthest, own, room.hits
        )
        bodies: list[Any] = self._store.bodies
        return [
            BodyHit(bodies[row], distance, (nx, ny), (x + distance * dx, y + distance * dy))
            for row, (distance, nx, ny) in self._by_distance(count, tag, category, mask)[:most]
        ] + last

    def _by_distance(
        self, count: int, tag: Any, category: int | None, mask: int | None
    ) -> list[tuple[int, list[float]]]:
        """Rows that were found, by distance, with their hits; but for those that the rules leave out."""
        near, hits = self._layers.room.near[:count], self._layers.room.hits[:count, :3]
        if count > FEW:
            order = np.lexsort((near, hits[:, 0]))
            near, hits = near[order], hits[order]
        rows = near.tolist()
        found = list(zip(rows, hits.tolist(), strict=True))
        if tag is None and category is None and mask is None:
            return found
        kept = set(self._chosen(rows, tag, category, mask))
        return [one for one in found if one[0] in kept]

    def _bodies(self, rows: list[int], tag: Any, category: int | None, mask: int | None) -> list[Body]:
        """The bodies of rows that were found, but for those that the rules leave out."""
        if not (tag is None and category is None and mask is None):
            rows = self._chosen(rows, tag, category, mask)
        bodies: list[Any] = self._store.bodies
        return [bodies[row] for row in rows]

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

    def _overlapping(self, bounds: Bounds, asked: ShapeColumns) -> list[int]:
        """The rows of bodies that overlap a shape with these bounds, ascending."""
        layers = self._layers
        layers.sync()
        count = layers.near(bounds)
        count = keep_overlapping(layers.room.near, count, asked, self._store.table.columns)
        return layers.room.near[:count].tolist()  # type: ignore[no-any-return]

    def _of_kind(self, kind: np.uint8, x: float, y: float, width: float, height: float) -> ShapeColumns:
        """A shape that is asked about, as kernels take it."""
        asked = self._asked
        asked.kinds[0], asked.x[0], asked.y[0], asked.width[0], asked.height[0] = kind, x, y, width, height
        return asked


def _distance(value: Any, name: str) -> float:
    """A distance: not negative, not NaN, infinity is legal."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number; got {value!r}")
    number = float(value)
    if not number >= 0.0:
        raise ValueError(f"{name} = {number} must not be negative or nan")
    return number
