"""Questions to a world that begins again: the plain ones, asked from every image that counts, made one."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes import arguments
from broadphase.indexes.results import Nearest
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns
from broadphase.shapes.kinds import Bounds
from broadphase.world.arguments import as_points, as_two
from broadphase.world.asking import Asking, BodyHit, NearestBodies, _distance
from broadphase.world.body import Body
from broadphase.world.periodic_tiles import PeriodicTiles, union
from broadphase.world.tiles import Tile
from broadphase.world.torus import MOST_TURNS, Floats, moved_columns

_Rows = npt.NDArray[np.int32]
_Numbers = npt.NDArray[np.int64]


class PeriodicAsking(PeriodicTiles, Asking):
    """What `World` answers where it has a period."""

    # ---- what is here

    def _overlapping(self, bounds: Bounds, asked: ShapeColumns) -> list[int]:
        if self._torus.is_inner(bounds):
            return super()._overlapping(bounds, asked)
        one = np.array([bounds])
        rows: list[int] = self._overlapping_many(one, asked, None, None, None)[:, 1].tolist()
        return rows

    def _overlapping_many(
        self, bounds: Floats, asked: ShapeColumns, tag: Any, category: int | None, mask: int | None
    ) -> _Rows:
        torus = self._torus
        bounds, asked = self._once_around(np.array(bounds, np.float64), asked)
        of, turns = torus.turns_near(bounds)
        shift = torus.shift(turns)
        rows = super()._overlapping_many(
            bounds[of] - np.hstack((shift, shift)), moved_columns(asked, of, -shift), tag, category, mask
        )
        rows[:, 0] = of[rows[:, 0]]
        return np.unique(rows, axis=0)

    def _once_around(self, bounds: Floats, asked: ShapeColumns) -> tuple[Floats, ShapeColumns]:
        """The same questions, without the parts that ask for the same again.

        A box that is longer than the world holds everything on that axis; of two periods each place is
        within.  The nearest image of anything is no farther from the centre of a circle than half a period.
        """
        lengths = self._torus.lengths
        sides = [asked.x.copy(), asked.y.copy()], [asked.width.copy(), asked.height.copy()]
        circles = asked.kinds == CIRCLE
        for axis, length in enumerate(lengths.tolist()):
            if length == math.inf:
                continue
            (places, sizes), low, high = (side[axis] for side in sides), bounds[:, axis], bounds[:, axis + 2]
            long = (asked.kinds == BOX) & (high - low >= length)
            low[long], high[long] = places[long], sizes[long] = 0.0, 2.0 * length
            far = circles & (high - low > length)
            low[far], high[far] = places[far] - 0.51 * length, places[far] + 0.51 * length
            often = np.flatnonzero(~(high - low <= MOST_TURNS * length))
            if len(often):
                raise ValueError(
                    f"shape is {high[often[0]] - low[often[0]]:g} long on axis {'xy'[axis]}, more than "
                    f"{MOST_TURNS} periods of {length:g}; ask with a box, which may be of any size"
                )
        (x, y), (width, height) = sides
        return bounds, asked._replace(x=x, y=y, width=width, height=height)

    # ---- rays

    def _hits(self, origin: Any, direction: Any, max_distance: float, rules: Any, most: int) -> list[BodyHit]:
        start, way = as_two(origin, "origin"), as_two(direction, "direction")
        furthest = _distance(max_distance, "max_distance")
        if way == (0.0, 0.0):
            return super()._hits(origin, direction, max_distance, rules, most)  # says what is wrong
        way = _unit(*way)
        start = self._torus.place(*start)
        rules, last = (
            (*rules[:3], False, rules[4]),
            self._tile_ahead(start, way, furthest) if rules[3] else [],
        )
        if last:
            furthest = math.nextafter(last[0].distance, math.inf)
        leg = self._leg(np.array([way]), np.array([furthest])).item()
        found: dict[Any, BodyHit] = {}
        begun = 0.0
        while True:
            end = min(begun + leg, furthest)
            ends = [
                [_at(place, part, far) for place, part in zip(start, way, strict=True)]
                for far in (begun, end)
            ]
            region = np.array([np.min(ends, axis=0), np.max(ends, axis=0)]).reshape(1, 4)
            for x, y in self._torus.shift(self._torus.turns_near(region)[1]).tolist():
                for hit in super()._hits((start[0] - x, start[1] - y), direction, end, rules, most):
                    known = found.get(hit.other)
                    if known is None or hit.distance < known.distance:
                        found[hit.other] = hit._replace(point=self._torus.place(*hit.point))
            hits = sorted(found.values(), key=lambda hit: (hit.distance, hit.other.id))[:most]
            if end >= furthest or (len(hits) == most and all(hit.distance <= end for hit in hits)):
                return hits + last
            begun = end

    def _tile_ahead(
        self, start: tuple[float, float], way: tuple[float, float], furthest: float
    ) -> list[BodyHit]:
        """The tile that ends a ray, if one does."""
        ray = np.array([[*start, *way, furthest]])
        at, distances, normals = np.full((1, 2), -1), np.full(1, math.inf), np.zeros((1, 2))
        if self._whole is not None:
            self._first_tiles(ray, at, distances, normals)
        if at.item(0) < 0:
            return []
        (column, row), far, (nx, ny) = at[0].tolist(), distances.item(), normals[0].tolist()
        point = self._torus.place(*(_at(place, part, far) for place, part in zip(start, way, strict=True)))
        return [BodyHit(Tile(column, row), far, (nx, ny), point)]

    def _first_tiles(self, rays: Floats, at: _Numbers, distances: Floats, normals: Floats) -> None:
        legs = self._leg(rays[:, 2:4], rays[:, 4])
        active, begun = np.arange(len(rays)), np.zeros(len(rays))
        while len(active):
            asked = rays[active]
            ends = asked[:, 4] = np.minimum(begun[active] + legs[active], rays[active, 4])
            asked[:, :2] -= self._torus.shift_to_inside(_along(asked, begun[active]))
            places = [_along(asked, far) for far in (begun[active], ends)]
            region = union(np.hstack((np.minimum(*places), np.maximum(*places))))
            found, far = np.full((len(active), 2), -1), np.full(len(active), math.inf)
            sides = np.zeros((len(active), 2))
            with self._tiles_around(region):
                if self._tiles is not None:
                    super()._first_tiles(asked, found, far, sides)
                at[active] = self._all_numbered(found)
            distances[active], normals[active] = far, sides
            begun[active] = ends
            active = active[(ends < rays[active, 4]) & (found[:, 0] < 0)]

    def _first_bodies(self, rays: Floats, own: _Rows, fits: npt.NDArray[np.bool_]) -> tuple[_Rows, Floats]:
        ways = rays[:, 2:4]
        legs = self._leg(ways, rays[:, 4])
        rows, hits = np.full(len(rays), -1, np.int32), np.full((len(rays), 3), math.inf)
        active, begun = np.arange(len(rays)), np.zeros(len(rays))
        while len(active):
            ends = np.minimum(begun[active] + legs[active], rays[active, 4])
            places = [_along(rays[active], far) for far in (begun[active], ends)]
            of, turns = self._torus.turns_near(np.hstack((np.minimum(*places), np.maximum(*places))))
            asked = rays[active][of]
            asked[:, :2] -= self._torus.shift(turns)
            asked[:, 4] = ends[of]
            found, into = super()._first_bodies(asked, own[active][of], fits)
            # What an earlier leg has found takes part.
            who = np.concatenate((active[of], active))
            found, into = np.concatenate((found, rows[active])), np.concatenate((into, hits[active]))
            met = np.flatnonzero(found >= 0)
            met = met[np.lexsort((found[met], into[met, 0], who[met]))]
            met = met[np.diff(who[met], prepend=-1) != 0]
            rows[who[met]], hits[who[met]] = found[met], into[met]
            begun[active] = ends
            active = active[(ends < rays[active, 4]) & ~(hits[active, 0] <= ends)]
        return rows, hits

    def _leg(self, ways: Floats, furthest: Floats) -> Floats:
        """How far rays go until they are around once: ``(m,)``."""
        with np.errstate(divide="ignore"):
            around = np.where(ways != 0.0, self._torus.lengths / np.abs(ways), np.inf)
        legs: Floats = around.min(axis=1)
        endless = np.flatnonzero(np.isinf(furthest) & np.isfinite(legs))
        if len(endless):
            raise ValueError(
                f"max_distance = inf for ray {endless[0]}, which goes along an axis with a period: it would "
                "go around for ever where it hits nothing; give it a finite one"
            )
        return legs

    # ---- what is near

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
        """See `World.nearest`."""
        at = self._torus.place(*as_two(point, "point"))
        found: dict[Body, float] = {}
        for x, y in self._shifts_around(np.array([at]))[1].tolist():
            bodies, distances = super().nearest(
                (at[0] - x, at[1] - y), k, tag=tag, category=category, mask=mask, ignore=ignore
            )
            for body, distance in zip(bodies, distances, strict=True):
                found[body] = min(distance, found.get(body, math.inf))
        order = sorted(found, key=lambda body: (found[body], body.id))[:k]
        return NearestBodies(order, [found[body] for body in order])

    def nearest_many(
        self,
        points: Any,
        k: int = 1,
        *,
        tag: Any = None,
        category: int | None = None,
        mask: int | None = None,
        ignore: Any = None,
    ) -> Nearest:
        """See `World.nearest_many`."""
        at = self._torus.places(np.ascontiguousarray(np.atleast_2d(as_points(points, "points"))))
        most = arguments.count(k, "k", 1)
        own = self._left_out(ignore, len(at))
        of, shifts = self._shifts_around(at)
        ids, far = super().nearest_many(
            at[of] - shifts, most, tag=tag, category=category, mask=mask, ignore=own[of]
        )
        found, distances = np.full((len(at), most), -1, np.int32), np.full((len(at), most), math.inf)
        held = ids >= 0
        which, near, apart = np.repeat(of, held.sum(axis=1)), ids[held], far[held]
        order = np.lexsort((apart, near, which))
        first = (np.diff(which[order], prepend=-1) != 0) | (np.diff(near[order], prepend=-1) != 0)
        order = order[first]
        order = order[np.lexsort((near[order], apart[order], which[order]))]
        starts = np.searchsorted(which[order], np.arange(len(at)))
        place = np.arange(len(order)) - starts[which[order]]
        order, place = order[place < most], place[place < most]
        found[which[order], place], distances[which[order], place] = near[order], apart[order]
        return Nearest(found, distances)

    def _shifts_around(self, points: Floats) -> tuple[_Numbers, Floats]:
        of, turns = self._torus.turns_near(self._torus.band(points))
        return of, self._torus.shift(turns)


def _unit(dx: float, dy: float) -> tuple[float, float]:
    largest = max(abs(dx), abs(dy))
    dx, dy = dx / largest, dy / largest
    length = math.sqrt(dx * dx + dy * dy)
    return dx / length, dy / length


def _at(place: float, part: float, far: float) -> float:
    """Where a ray is on an axis; far may be infinite on an axis along which it does not go."""
    return place + part * far if part else place


def _along(rays: Floats, far: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        gone = np.where(rays[:, 2:4] != 0.0, rays[:, 2:4] * far[:, None], 0.0)
    places: Floats = rays[:, :2] + gone
    return places
