"""What is here, near this, or in the way of that ray: one question to a world.

As `broadphase.Index` answers them, but exact for circles and polygons too, and with bodies.  In a periodic
space a question is asked from every image that counts, and the answers are made one.
"""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from broadphase.indexes import arguments
from broadphase.kernels.shapes.near import FEW, keep_on_ray, keep_overlapping, rank_near
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns
from broadphase.numeric import real
from broadphase.shapes.kinds import Bounds, Box, Circle, Shape
from broadphase.shapes.table import columns_of
from broadphase.world.arguments import as_bounds, as_shape, as_two
from broadphase.world.bodies import Body
from broadphase.world.queries_many import ManyQueries, is_batch
from broadphase.world.space import PeriodicSpace
from broadphase.world.state import State
from broadphase.world.tags import as_tags
from broadphase.world.tiles import Tile

Rules: TypeAlias = tuple[Any, int | None, int | None, Any]
"""``tag, category, mask, ignore``"""
_Kept: TypeAlias = tuple[Any, int | None, int | None, frozenset[int]]
_Place = tuple[float, float]

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


class Queries:
    """Answers questions about the bodies and tiles of a world."""

    def __init__(self, state: State, many: ManyQueries) -> None:
        self._state, self._many = state, many
        self._space, self._store, self._broad_phase = state.space, state.store, state.broad_phase
        self._asked = columns_of(Box(0, 0, 0, 0))
        """The box or circle that is asked about, written over by each question."""

    # ---- what is here

    def box(self, box: Any, rules: Rules) -> Any:
        """See `World.query_box`."""
        if is_batch(box):
            return self._many.boxes(box, rules)
        bounds = as_bounds(box)
        left, top, right, bottom = bounds
        if not -_FARTHEST <= left <= right <= _FARTHEST or not -_FARTHEST <= top <= bottom <= _FARTHEST:
            left, top, right, bottom = (min(max(edge, -_FARTHEST), _FARTHEST) for edge in bounds)
        return self._overlapping(bounds, self._of_kind(BOX, left, top, right - left, bottom - top), rules)

    def shape(self, shape: Shape, rules: Rules) -> list[Body]:
        """See `World.query_shape`."""
        known = as_shape(shape)
        return self._overlapping(known.bounds, columns_of(known), rules)

    def point(self, point: Any, rules: Rules) -> Any:
        """See `World.query_point`."""
        if is_batch(point):
            return self._many.points(point, rules)
        x, y = as_two(point, "point")
        return self._overlapping((x, y, x, y), self._of_kind(BOX, x, y, 0.0, 0.0), rules)

    def radius(self, center: Any, r: Any, rules: Rules) -> Any:
        """See `World.query_radius`."""
        if is_batch(center):
            return self._many.circles(center, r, rules)
        x, y = as_two(center, "center")
        radius = _distance(r, "r")
        if radius >= _FARTHEST:
            return self.box((-math.inf, -math.inf, math.inf, math.inf), rules)
        return self._overlapping(Circle(x, y, radius).bounds, self._of_kind(CIRCLE, x, y, radius, 0.0), rules)

    def _overlapping(self, bounds: Bounds, asked: ShapeColumns, rules: Rules) -> list[Body]:
        """The bodies that overlap a shape with these bounds, by id."""
        tag, category, mask, ignore = rules
        unseen = self._store.ignored(ignore)
        rows: list[int]
        if self._space.is_inner(bounds):
            count = self._broad_phase.gather(bounds)
            near = self._broad_phase.room.near
            count = keep_overlapping(near, count, asked, self._store.table.columns)
            rows = near[:count].tolist()
        else:
            rows = self._many.overlapping(np.array([bounds]), asked, (None, None, None, ()))[:, 1].tolist()
        if unseen:
            rows = [row for row in rows if row not in unseen]
        if not (tag is None and category is None and mask is None):
            rows = self._chosen(rows, tag, category, mask)
        bodies: list[Any] = self._store.bodies
        return [bodies[row] for row in rows]

    def _of_kind(self, kind: np.uint8, x: float, y: float, width: float, height: float) -> ShapeColumns:
        """A shape that is asked about, as kernels take it."""
        asked = self._asked
        asked.kinds[0], asked.x[0], asked.y[0], asked.width[0], asked.height[0] = kind, x, y, width, height
        return asked

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

    # ---- rays

    def ray(
        self, origin: Any, direction: Any, max_distance: float, tiles: bool, rules: Rules, most: int
    ) -> list[BodyHit]:
        """The first ``most`` bodies that a ray hits, then the tile that ends it; see `World.query_ray`."""
        tag, category, mask, ignore = rules
        kept = tag, category, mask, self._store.ignored(ignore)
        start, (dx, dy) = as_two(origin, "origin"), as_two(direction, "direction")
        furthest = _distance(max_distance, "max_distance")
        if dx == 0.0 and dy == 0.0:
            raise ValueError(f"direction = {direction} points nowhere; one component must not be zero")
        # Scaled first: the square of a component must not overflow or vanish.
        largest = max(abs(dx), abs(dy))
        dx, dy = dx / largest, dy / largest
        length = math.sqrt(dx * dx + dy * dy)
        way = dx / length, dy / length
        if isinstance(self._space, PeriodicSpace):
            return self._around(self._space, start, way, furthest, tiles, kept, most)
        last: list[BodyHit] = []
        if tiles and self._state.tiles is not None:
            stop = self._state.tiles.raycast(start, way, furthest)
            if stop is not None:
                last = [BodyHit(stop.tile, stop.distance, stop.normal, stop.point)]
                furthest = math.nextafter(stop.distance, math.inf)
        return self._straight(start, way, furthest, kept, most) + last

    def _straight(self, start: _Place, way: _Place, furthest: float, kept: _Kept, most: int) -> list[BodyHit]:
        """The first bodies that a ray hits, not their images."""
        (x, y), (dx, dy) = start, way
        count, room = self._broad_phase.gather_on_ray(start, way, furthest), self._broad_phase.room
        count = keep_on_ray(room.near, count, self._store.table.columns, x, y, dx, dy, furthest, room.hits)
        bodies: list[Any] = self._store.bodies
        return [
            BodyHit(bodies[row], distance, (nx, ny), (x + distance * dx, y + distance * dy))
            for row, (distance, nx, ny) in self._by_distance(count, kept)[:most]
        ]

    def _around(
        self,
        space: PeriodicSpace,
        start: _Place,
        way: _Place,
        furthest: float,
        tiles: bool,
        kept: _Kept,
        most: int,
    ) -> list[BodyHit]:
        """The same where a ray goes around, leg by leg."""
        start = space.place(*start)
        last = self._tile_ahead(space, start, way, furthest) if tiles else []
        if last:
            furthest = math.nextafter(last[0].distance, math.inf)
        leg = self._many.leg(np.array([way]), np.array([furthest])).item()
        found: dict[Any, BodyHit] = {}
        begun = 0.0
        while True:
            end = min(begun + leg, furthest)
            ends = [
                [_at(place, part, far) for place, part in zip(start, way, strict=True)]
                for far in (begun, end)
            ]
            region = np.array([np.min(ends, axis=0), np.max(ends, axis=0)]).reshape(1, 4)
            for x, y in space.shift(space.turns_near(region)[1]).tolist():
                for hit in self._straight((start[0] - x, start[1] - y), way, end, kept, most):
                    known = found.get(hit.other)
                    if known is None or hit.distance < known.distance:
                        found[hit.other] = hit._replace(point=space.place(*hit.point))
            hits = sorted(found.values(), key=lambda hit: (hit.distance, hit.other.id))[:most]
            if end >= furthest or (len(hits) == most and all(hit.distance <= end for hit in hits)):
                return hits + last
            begun = end

    def _tile_ahead(self, space: PeriodicSpace, start: _Place, way: _Place, furthest: float) -> list[BodyHit]:
        """The tile that ends a ray, if one does."""
        ray = np.array([[*start, *way, furthest]])
        at, distances, normals = np.full((1, 2), -1), np.full(1, math.inf), np.zeros((1, 2))
        self._many.first_tiles(ray, at, distances, normals)
        if at.item(0) < 0:
            return []
        (column, row), far, (nx, ny) = at[0].tolist(), distances.item(), normals[0].tolist()
        point = space.place(*(_at(place, part, far) for place, part in zip(start, way, strict=True)))
        return [BodyHit(Tile(column, row), far, (nx, ny), point)]

    # ---- what is near

    def nearest(self, point: Any, k: int, rules: Rules) -> NearestBodies:
        """See `World.nearest`."""
        x, y = at = as_two(point, "point")
        most = arguments.count(k, "k", 1)
        tag, category, mask, ignore = rules
        kept = tag, category, mask, self._store.ignored(ignore)
        found: list[tuple[int, float]]
        if isinstance(self._space, PeriodicSpace):
            x, y = at = self._space.place(*at)
            distances: dict[int, float] = {}
            for shift_x, shift_y in self._many.shifts_around(self._space, np.array([at]))[1].tolist():
                for row, distance in self._nearest(x - shift_x, y - shift_y, most, kept):
                    distances[row] = min(distance, distances.get(row, math.inf))
            found = sorted(distances.items(), key=lambda one: (one[1], one[0]))[:most]
        else:
            found = self._nearest(x, y, most, kept)
        bodies: list[Any] = self._store.bodies
        return NearestBodies([bodies[row] for row, _ in found], [distance for _, distance in found])

    def _nearest(self, x: float, y: float, most: int, kept: _Kept) -> list[tuple[int, float]]:
        """The nearest bodies, not their images: rows and distances."""
        asked = most + len(kept[3])
        while True:
            count, beyond = self._broad_phase.gather_nearest((x, y), asked)
            room = self._broad_phase.room
            rank_near(room.near, count, self._store.table.columns, x, y, room.hits)
            found = self._by_distance(count, kept)[:most]
            # What was not found lies at least so far away; a body can only be farther than its bounds.
            if beyond == math.inf or (len(found) == most and found[-1][1][0] < beyond):
                return [(row, hit[0]) for row, hit in found]
            asked *= 4

    def _by_distance(self, count: int, kept: _Kept) -> list[tuple[int, list[float]]]:
        """Rows that were found, by distance, with their hits; but for those that the rules leave out."""
        tag, category, mask, unseen = kept
        near, hits = self._broad_phase.room.near[:count], self._broad_phase.room.hits[:count, :3]
        if count > FEW:
            order = np.lexsort((near, hits[:, 0]))
            near, hits = near[order], hits[order]
        rows = near.tolist()
        found = list(zip(rows, hits.tolist(), strict=True))
        if unseen:
            found = [one for one in found if one[0] not in unseen]
        if tag is None and category is None and mask is None:
            return found
        chosen = set(self._chosen(rows, tag, category, mask))
        return [one for one in found if one[0] in chosen]


def _at(place: float, part: float, far: float) -> float:
    """Where a ray is on an axis; far may be infinite on an axis along which it does not go."""
    return place + part * far if part else place


def _distance(value: Any, name: str) -> float:
    """A distance: not negative, not NaN, infinity is legal."""
    number = real(value, name)
    if not number >= 0.0:
        raise ValueError(f"{name} = {number} must not be negative or nan")
    return number
