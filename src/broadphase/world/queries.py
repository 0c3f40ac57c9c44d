"""Queries of a world: overlaps, bodies within a radius, nearest bodies and rays, one or thousands in a call.

They work like those of `broadphase.Index`, but are exact for circles and polygons and return bodies.  In a
periodic space a query is made for every image that counts, and the results are merged.

For a single query the broad phase gathers candidates, and one kernel tests them.  Thousands of queries are
arrays throughout; a single query would cost twenty times as much as an array of one.
"""

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.geometry.fans import as_angle, as_units, cones
from broadphase.geometry.shapes import Shape
from broadphase.geometry.table import columns_of, plain_columns
from broadphase.indexes import arguments
from broadphase.indexes.results import Nearest, RayHit, RayHits, in_axes
from broadphase.inputs.arrays import BOXES, POINTS, WAYS, settled
from broadphase.inputs.boxes import as_boxes
from broadphase.inputs.numeric import as_numpy, count, not_negative
from broadphase.kernels.machine.kernel import try_call
from broadphase.kernels.shapes import queries as kernel
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns, bound_rows
from broadphase.kernels.tiles.slopes import cast_rays
from broadphase.kernels.tree import shapes as in_trees
from broadphase.methods.pair_order import as_pairs, pair_keys
from broadphase.periods.images import WIDER, along, bounds_between, legs, nearest_around, unit_vectors
from broadphase.runtime.arrays import Floats, distinct
from broadphase.world.arguments import (
    PAIRS,
    RECTANGLES,
    as_bounds,
    as_points,
    as_shape,
    as_tags,
    as_two,
    checked_points,
    edges_of,
    is_plain,
    of_one_length,
)
from broadphase.world.bodies import ALL, Body, Rows
from broadphase.world.body_arrays import Bodies
from broadphase.world.outlines import AskedRays
from broadphase.world.space import MOST_TURNS, Space, moved_columns
from broadphase.world.state import State
from broadphase.world.tiles import Tile

Rules: TypeAlias = kernel.BodyRules
_Place = tuple[float, float]
_Numbers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]

# A box without limits, for a kernel that subtracts its edges: these must stay finite.
_FARTHEST = 1e300
_NONE, _NO_ROWS, _NO_BITS = np.empty(0, np.bool_), np.empty(0, np.int32), np.empty(0, np.uint32)
_NO_RADII, _NO_NUMBERS = np.empty(0), np.empty(0, np.int64)

_new: Any = tuple.__new__  # a named tuple in half the time


# Kernels that read a single query as it was given; they answer None to other types.
_try_ray, _try_nearest = map(try_call, (in_trees.raycast_shapes, in_trees.nearest_shapes))
# The same for queries in arrays; for the nearest of few, because it holds the GIL.
_FEW = 16
_try_each, _try_rays, _try_few_nearest = map(
    try_call, (in_trees.overlapping_each, in_trees.raycast_each, in_trees.nearest_of_few)
)


class Queries:
    """Queries of the bodies and tiles of a world."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._space, self._store, self._broad_phase = state.space, state.store, state.broad_phase
        self._free = kernel.BodyRules(_NO_BITS, _NO_BITS, _NO_ROWS, _NONE, _NONE, _NO_ROWS, -1, -1)
        """The rules that let all bodies through."""
        self.asked = AskedRays()
        """For pictures."""

    # ---- which bodies

    def rules(self, tag: Any = None, category: Any = None, mask: Any = None, ignore: Any = None) -> Rules:
        """The rules of a query, as kernels take them."""
        store, ignored = self._store, _NO_ROWS
        if self._free.category is not store.category:  # the arrays have grown
            known = store.category, store.mask, store.group, _NONE, _NONE, _NO_ROWS, -1, -1
            self._free = _new(kernel.BodyRules, known)
        nothing_ignored = ignore is None or (type(ignore) is tuple and not ignore)
        if tag is None and category is None and mask is None and nothing_ignored:
            return self._free
        if not nothing_ignored:
            ignored = np.sort(np.array([*store.ignored(ignore)], np.int32))
        groups = _NONE if tag is None else store.tag_sets.having(as_tags(tag))
        category_bits = -1 if category is None else store.bits(category, "category")
        mask_bits = -1 if mask is None else store.bits(mask, "mask")
        return kernel.BodyRules(*self._free[:3], groups, _NONE, ignored, category_bits, mask_bits)

    def _without(self, rules: Rules, *rows: int) -> Rules:
        """The same without some bodies."""
        ignored = {*rules.ignored.tolist(), *rows}
        return rules._replace(ignored=np.array(sorted(ignored), np.int32))

    def _place(self, place: Any, name: str, rules: Rules) -> tuple[_Place, Rules]:
        """A point, or the centre of a body, which then is not found itself; and the rules."""
        row, point = self._end(place, name)
        return point, rules if row < 0 else self._without(rules, row)

    # ---- overlaps

    def box(self, box: Any, rules: Rules, as_ids: bool) -> Any:
        """See `World.query_box`."""
        is_sized = type(box) in RECTANGLES
        given = box if is_sized or type(box) in (tuple, list) else edges_of(box)
        if given is not None and len(given) == 4:
            found = self._found_as_given(given, is_sized, -1.0, rules, as_ids)
            if found is not None:
                return found
        if is_batch(box):
            return self._boxes(box, rules)
        return self._of_one(self._boxes(np.array([as_bounds(box)]), rules), as_ids)

    def shape(self, shape: Shape | Body, rules: Rules, as_ids: bool) -> list[Body] | Rows:
        """See `World.query_shape`."""
        if isinstance(shape, Body):
            rules, shape = self._without(rules, self._store.row(shape, "shape")), shape.shape
        known = as_shape(shape)
        query, count = columns_of(known), -1
        if self._space.is_inner(known.bounds):
            trees, waiting = self._broad_phase.waiting_trees()
            rows, count = in_trees.overlapping_shape(trees, waiting, query, self._store.table.columns, rules)
        if count < 0:
            rows = self._overlapping_many(np.array([known.bounds]), query, rules)[:, 1].copy()
        return rows if as_ids else self._store.handles(rows)

    def point(self, point: Any, rules: Rules, as_ids: bool) -> Any:
        """See `World.query_point`."""
        if type(point) in PAIRS and len(point) == 2:
            found = self._found_as_given(point, False, -1.0, rules, as_ids)
            if found is not None:
                return found
        if is_batch(point):
            return self._points(point, rules)
        place, rules = self._place(point, "point", rules)
        return self._of_one(self._points(np.array([place]), rules), as_ids)

    def radius(self, center: Any, r: Any, rules: Rules, as_ids: bool) -> Any:
        """See `World.query_radius`."""
        if is_batch(center):
            return self._circles(center, r, rules)
        place, rules = self._place(center, "center", rules)
        radius = not_negative(r, "r")
        if radius >= _FARTHEST:
            return self.box((-math.inf, -math.inf, math.inf, math.inf), rules, as_ids)
        found = self._found_as_given(place, False, radius, rules, as_ids)
        return (
            self._of_one(self._circles(np.array([place]), radius, rules), as_ids) if found is None else found
        )

    def _found_as_given(self, place: Any, is_sized: bool, radius: float, rules: Rules, as_ids: bool) -> Any:
        """The bodies in a box, at a point or, with a radius, about it; None: ask in another way.

        ``place`` holds four or two numbers, see `put_overlapping`; a radius that counts is not negative.
        """
        store = self._store
        if self._space.periodic:
            if is_sized or not is_plain(place, len(place)) or not max(map(abs, place)) < _FARTHEST:
                return None
            left, top, right, bottom, reach = *place[:2], *place[-2:], max(radius, 0.0)
            if not self._space.is_inner((left - reach, top - reach, right + reach, bottom + reach)):
                return None
        found: list[Any] = []
        bodies = range(len(store.bodies)) if as_ids else store.bodies
        known = place, is_sized, radius, store.table.columns, rules, bodies, found
        if not in_trees.put_overlapping(*self._broad_phase.waiting_trees(), *known):
            return None
        return np.array(found, np.int32) if as_ids else found

    def _of_one(self, found: Rows, as_ids: bool) -> list[Body] | Rows:
        """The bodies that a single query has found, or their ids."""
        return found[:, 1].copy() if as_ids else self._store.handles(found[:, 1])

    def _boxes(self, boxes: Any, rules: Rules) -> Rows:
        """``[query, id]`` of the bodies that overlap each of ``(m, 4)`` boxes."""
        found = self._of_rows(boxes, 4, None, rules)
        if found is not None:
            return found
        (boxes,), _ = _in_rows((boxes, "box", 4))
        given = as_boxes(settled(boxes, "box", BOXES), "box").astype(np.float64, copy=False)
        if given.shape[1] != 4:
            raise ValueError(f"box must have 4 columns, min_x, min_y, max_x, max_y; got shape {given.shape}")
        clipped = np.clip(given, -_FARTHEST, _FARTHEST)
        widths, heights = (clipped[:, 2:] - clipped[:, :2]).T
        return self._overlapping_many(given, plain_columns(BOX, clipped[:, :2], widths, heights), rules)

    def _points(self, points: Any, rules: Rules) -> Rows:
        """``[query, id]`` of the bodies whose inside holds each of ``(m, 2)`` points."""
        found = self._of_rows(points, 2, None, rules)
        if found is not None:
            return found
        (points,), _ = _in_rows((points, "point", 2))
        places = as_points(points, "point")
        shapes = plain_columns(BOX, places, 0.0, 0.0)
        return self._overlapping_many(np.hstack((places, places)), shapes, rules)

    def _circles(self, centers: Any, r: Any, rules: Rules) -> Rows:
        """``[query, id]`` of the bodies at less than ``r`` from each of ``(m, 2)`` points."""
        found = self._of_rows(centers, 2, r, rules)
        if found is not None:
            return found
        centers = settled(centers, "center", POINTS)  # before any code of r can change them
        (centers, r), _ = _in_rows((centers, "center", 2), (arguments.settled_distance(r, "r"), "r", 0))
        middles, radii = _circles(checked_points(centers, "center"), r, "center")
        radii = np.minimum(radii, _FARTHEST)
        with np.errstate(over="ignore"):  # with infinite edges it is found all the same
            reach = np.hstack((middles - radii[:, None], middles + radii[:, None]))
        return self._overlapping_many(reach, plain_columns(CIRCLE, middles, radii, 0.0), rules)

    def _trees_for(self, values: Any) -> Any:
        """The trees to search for queries in an array of rows; None: ask in another way."""
        is_plain = type(values) is np.ndarray and values.ndim == 2 and not self._space.periodic
        return self._broad_phase.all_trees() if is_plain else None

    def _of_rows(self, values: Any, columns: int, r: Any, rules: Rules) -> Rows | None:
        """``[query, id]`` of the bodies that overlap shapes in an array of rows; None: ask in another way."""
        trees = self._trees_for(values)
        if trees is None or values.shape[1] != columns:
            return None
        radii, radius = _NO_RADII, -1.0
        if type(r) is np.ndarray:
            radii = r.copy()  # nothing else writes to an argument while it is searched for
        elif r is not None:
            if type(r) not in (float, int):
                return None
            radius = float(r)
            if not 0.0 <= radius < _FARTHEST:
                return None
        known = self._store.table.columns, rules
        found = _try_each(trees, values.copy(), radii, radius, *known)
        return None if found is None or found[1] < 0 else found[0].copy()  # without spare rows

    def cone(
        self, origin: Any, direction: Any, angle: Any, r: Any, sight: bool, rules: Rules, as_ids: bool
    ) -> Any:
        """See `World.query_cone`."""
        units, degrees = as_units(direction), as_angle(angle)
        if isinstance(origin, Body):
            origin, rules = self._place(origin, "origin", rules)
        single = not is_batch(origin) and units.ndim == 1 and np.ndim(r) == 0
        tips, units = of_one_length(as_points(origin, "origin"), units, "origin", "direction")
        tips, radii = _circles(tips, r, "origin")
        if not (radii < _FARTHEST).all():
            raise ValueError(f"r = {radii.max():g} must be less than {_FARTHEST:g}")
        shapes, sectors = cones(tips, units, degrees, radii)
        bounds = np.empty((len(shapes.x), 4))
        bound_rows(shapes, _NO_NUMBERS, bounds)
        found = self._overlapping_many(bounds, shapes, rules)
        found[:, 0] //= sectors
        rows: Rows = as_pairs(distinct(pair_keys([found])))
        if arguments.flag(sight, "sight") and len(rows):
            free, seen = self.rules()._replace(ignored=rules.ignored), rows[:, 1].tolist()
            others = [self._store.bodies[row] for row in seen]
            rows = rows[self._lines_of_sight(tips[rows[:, 0]], others, True, free)]
        return self._of_one(rows, as_ids) if single else rows

    def _overlapping_many(self, bounds: Floats, shapes: ShapeColumns, rules: Rules) -> Rows:
        """``[query, id]``, sorted, of the bodies that overlap each shape."""
        space, owners = self._space, None
        if space.periodic:
            bounds, shapes = _once_around(space, np.array(bounds, np.float64), shapes)
            owners, turns = space.turns_near(bounds)
            shift = space.shift(turns)
            bounds, shapes = bounds[owners] - np.hstack((shift, shift)), moved_columns(shapes, owners, -shift)
        rows = np.ascontiguousarray(self._broad_phase.in_boxes(np.ascontiguousarray(bounds), ALL))
        rows = rows[: kernel.keep_overlapping_rows(rows, shapes, self._store.table.columns, rules)]
        if owners is not None:
            rows[:, 0] = owners[rows[:, 0]]
            return as_pairs(distinct(pair_keys([rows])))
        return rows[np.lexsort((rows[:, 1], rows[:, 0]))]

    # ---- rays

    def ray_hits(
        self, origin: Any, direction: Any, max_distance: float, tiles: bool, rules: Rules
    ) -> RayHits:
        """All that a ray hits as arrays; see `World.query_ray`."""
        hits = self.ray(origin, direction, max_distance, tiles, rules)
        others = [hit.other for hit in hits]
        found = RayHits(
            np.array([hit.id for hit in hits], np.int32),
            np.array([hit.distance for hit in hits]),
            np.array([hit.normal for hit in hits]).reshape(-1, 2),
        )
        tiles_hit = [one if isinstance(one, Tile) else (-1, -1) for one in others]
        found.tiles = np.array(tiles_hit, np.int64).reshape(-1, 2)
        return found

    def first(
        self, origin: Any, direction: Any, max_distance: Any, tiles: bool, rules: Rules
    ) -> RayHit | None:
        """See `World.raycast`, for one ray."""
        store = self._store
        if (not tiles or self._state.tiles is None) and not (self.asked.wanted or self._space.periodic):
            known = origin, direction, max_distance, store.table.columns, rules
            found = _try_ray(self._broad_phase.all_trees(), *known)
            if found is not None and found[0] != in_trees.REFUSED:
                met: RayHit | None = self._body_hit(origin, found)
                return met
        start, way, length, rules = self._ray(origin, direction, max_distance, rules)
        hit = self._first(start, way, length, tiles, rules)
        if self.asked.wanted:
            self.asked.note((*start, *_unit(*way), length), math.inf if hit is None else hit.distance)
        return hit

    def ray(
        self, origin: Any, direction: Any, max_distance: float, tiles: bool, rules: Rules
    ) -> list[RayHit]:
        """All bodies that a ray hits, then the tile that ends it; see `World.query_ray`."""
        start, way, length, rules = self._ray(origin, direction, max_distance, rules)
        unit = _unit(*way)
        stop = self._tile_ahead(start, unit, length) if tiles else None
        hits = self._along_ray(start, unit, length if stop is None else stop.distance, rules)
        if self.asked.wanted:
            self.asked.note((*start, *unit, length), math.inf if stop is None else stop.distance)
        return hits if stop is None else [*hits, stop]

    def _ray(
        self, origin: Any, direction: Any, max_distance: Any, rules: Rules
    ) -> tuple[_Place, _Place, float, Rules]:
        """The arguments of a ray, checked."""
        (start, rules), (dx, dy) = self._place(origin, "origin", rules), as_two(direction, "direction")
        length = not_negative(max_distance, "max_distance")
        if dx == 0.0 and dy == 0.0:
            raise ValueError(f"direction = {direction} points nowhere; one component must not be zero")
        return start, (dx, dy), length, rules

    def _first(
        self, start: _Place, way: _Place, max_distance: float, tiles: bool, rules: Rules
    ) -> RayHit | None:
        """The first body or tile on a ray."""
        if self._space.periodic:
            ray = np.array([[*start, *_unit(*way), max_distance]])
            row, cell, distances, normals = self._first_each(ray, np.full((1, 1), -1, np.int32), tiles, rules)
            if not distances.item() < math.inf:
                return None
            place = self._space.place(*along(ray, distances)[0].tolist())
            met = Tile(*cell[0].tolist()) if row.item() < 0 else self._store.bodies[row.item()]
            return _hit(row.item(), met, distances.item(), tuple(normals[0].tolist()), place)
        stop = self._tile_ahead(start, _unit(*way), max_distance) if tiles else None
        length = max_distance if stop is None else stop.distance
        known = start, way, length, self._store.table.columns, rules
        found = self._body_hit(start, in_trees.raycast_shapes(self._broad_phase.all_trees(), *known))
        return stop if found is None else found

    def line_of_sight(self, a: Any, b: Any, tiles: bool, rules: Rules) -> Any:
        """Whether nothing lies between two bodies or points, or several; see `World.line_of_sight`."""
        if _are_several(a) or _are_several(b):
            return self._lines_of_sight(a, b, tiles, rules)
        (i, start), (j, end) = self._end(a, "a"), self._end(b, "b")
        return self._sees(start, end, i, j, tiles, self._opaque(rules))

    def _opaque(self, rules: Rules) -> Rules:
        """The rules without sensors, which do not block the view."""
        return rules._replace(sensor=self._store.sensor) if self._store.any_sensor else rules

    def _end(self, given: Any, name: str) -> tuple[int, _Place]:
        """The row of a body and its centre, or -1 and a point."""
        if isinstance(given, Body):
            return self._store.row(given, name), given.center
        return -1, as_two(given, name)

    def _sees(self, start: _Place, end: _Place, i: int, j: int, tiles: bool, rules: Rules) -> bool:
        """Whether nothing lies between two points, but for the bodies in rows ``i`` and ``j``; -1: none."""
        periodic, map_ = self._space.periodic, self._state.tiles if tiles else None
        is_free = not periodic and (map_ is None or start == end or map_.line_of_sight(start, end))
        if is_free:
            known = start, end, i, j, self._store.table.columns, rules
            is_free = bool(in_trees.shape_between(self._broad_phase.all_trees(), *known) < 0)
        if not (periodic or self.asked.wanted):
            return is_free
        start, end = sorted((start, end))  # the same rounding from both ends
        along_x, along_y = self._space.lengths.tolist()
        way = math.remainder(end[0] - start[0], along_x), math.remainder(end[1] - start[1], along_y)
        if way == (0.0, 0.0):
            return True
        # What begins where the line ends is not between.
        far, rules = math.hypot(*way), self._without(rules, *(row for row in (i, j) if row >= 0))
        hit = self._first(start, way, math.nextafter(far, 0.0), tiles, rules)
        is_free = is_free or (periodic and hit is None)
        if self.asked.wanted:
            blocked = math.inf if is_free else far if hit is None else hit.distance
            self.asked.note((*start, *_unit(*way), far), blocked)
        return is_free

    def _lines_of_sight(self, a: Any, b: Any, tiles: bool, rules: Rules) -> _Flags:
        """The same for many lines."""
        starts, from_rows, axes = self._ends(a, "a")
        ends, to_rows, more = self._ends(b, "b")
        count, known = len(ends) if len(starts) == 1 else len(starts), self._opaque(rules)
        if len(ends) not in (1, count):
            of_one_length(starts, ends, "a", "b")  # raises
        free, map_ = np.ones(count, np.bool_), self._state.tiles if tiles else None
        if self._space.periodic or self.asked.wanted:
            lines = [*np.broadcast_arrays(starts, ends), *np.broadcast_arrays(from_rows, to_rows)]
            listed = zip(*(column.tolist() for column in lines), strict=True)
            free[:] = [self._sees(tuple(x), tuple(y), i, j, tiles, known) for x, y, i, j in listed]
        elif count:
            if map_ is not None:
                free = map_.line_of_sight(starts, ends) | (starts == ends).all(axis=1)
            those = starts, ends, from_rows, to_rows, self._store.table.columns
            in_trees.shapes_between(self._broad_phase.all_trees(), *those, known, free)
        return free.reshape(axes if len(axes) >= len(more) else more)

    def _ends(self, given: Any, name: str) -> tuple[Floats, Rows, tuple[int, ...]]:
        """The points that bodies or points stand for, the rows of the bodies, -1 for none, and the axes."""
        store = self._store
        if _is_body(given) or is_plain(given, 2):
            row, place = self._end(given, name)
            return np.array([place]), np.array([row], np.int32), ()
        if isinstance(given, Bodies):
            rows = store.rows_of(given, name)
            return store.table.centers(rows), rows, (len(rows),)
        if isinstance(given, (list, tuple)) and any(map(_is_body, given)):
            ends = [self._end(end, f"{name}[{k}]") for k, end in enumerate(given)]
            owners = np.array([row for row, _ in ends], np.int32)
            return np.array([place for _, place in ends]), owners, (len(ends),)
        points = settled(given, name, POINTS)
        axes = points.shape[:-1]
        places = checked_points(points.reshape(-1, 2) if points.shape[-1:] == (2,) else points, name)
        return places, np.full(len(places), -1, np.int32), axes

    def _tile_ahead(self, start: _Place, unit: _Place, max_distance: float) -> RayHit | None:
        """The tile that ends a ray along a unit vector, if one does."""
        if self._state.tiles is None:
            return None
        if not self._space.periodic:
            stop = self._state.tiles.raycast(start, unit, max_distance)
            return stop and _hit(-1, stop.tile, stop.distance, stop.normal, stop.point)
        ray = np.array([[*start, *unit, max_distance]])
        tile, distances, normals = self._first_tiles(ray)
        if tile.item(0) < 0:
            return None
        (column, row), far, (nx, ny) = tile[0].tolist(), distances.item(), normals[0].tolist()
        point = self._space.place(*along(ray, distances)[0].tolist())
        return _hit(-1, Tile(column, row), far, (nx, ny), point)

    def _along_ray(self, start: _Place, unit: _Place, max_distance: float, rules: Rules) -> list[RayHit]:
        """All bodies that a ray hits, by distance, then id."""
        space, ray = self._space, np.array([[*start, *unit, math.nextafter(max_distance, math.inf)]])
        if not space.periodic:
            return self._straight(ray, rules)
        ray[0, :2] = space.place(*start)
        found: dict[Any, RayHit] = {}
        for _, begun, ends in legs(ray, space.lengths, np.zeros(1, np.bool_)):
            for shift in space.shift(space.turns_near(bounds_between(ray, begun, ends))[1]):
                image = np.array([[*(ray[0, :2] - shift), *unit, ends.item()]])
                for hit in self._straight(image, rules):
                    known = found.get(hit.other)
                    if known is None or hit.distance < known.distance:
                        hit.point = space.place(*hit.point)
                        found[hit.other] = hit
        return sorted(found.values(), key=lambda hit: (hit.distance, hit.other.id))

    def _straight(self, ray: Floats, rules: Rules) -> list[RayHit]:
        """The same without images."""
        rows, start = self._broad_phase.on_ray(ray), ray[0, :2].tolist()
        hits = np.empty((len(rows), 3))
        count = kernel.keep_on_ray(rows, self._store.table.columns, rules, *ray[0].tolist(), hits)
        order = np.lexsort((rows[:count], hits[:count, 0]))
        met: Any = zip(rows[order].tolist(), hits[order].tolist(), strict=True)
        return [self._body_hit(start, (row, *hit, *ray[0, 2:4].tolist())) for row, hit in met]

    def _body_hit(self, start: Any, found: Any) -> Any:
        """A hit from what `raycast_shapes` returns; None where there is no body."""
        row, distance, nx, ny, dx, dy = found
        if row < 0:
            return None
        point = start[0] + distance * dx, start[1] + distance * dy
        return _hit(row, self._store.bodies[row], distance, (nx, ny), point)

    def rays(
        self, origins: Any, directions: Any, max_distance: Any, tiles: bool, rules: Rules, ignore: Any
    ) -> RayHits:
        """See `World.raycast`, for many."""
        plain = self._rays_of_rows(origins, directions, max_distance, tiles, rules, ignore)
        if plain is not None:
            return plain
        (origins, directions, max_distance, ignore), axes = _in_rows(
            (origins, "origin", 2), (directions, "direction", 2), (max_distance, "max_distance", 0),
            (_no_empty(ignore), "ignore", 0),
        )  # fmt: skip
        rays = _rays(origins, directions, max_distance)
        ignored = self._left_out(ignore, len(rays), "rays")
        found, cells, distances, normals = self._first_each(rays, ignored, tiles, rules)
        if self.asked.wanted:
            self.asked.note(rays, distances)
        result = RayHits(found, distances, normals)
        result.tiles = cells
        return in_axes(result, axes)

    def _first_each(
        self, rays: Floats, ignored: Rows, tiles: bool, rules: Rules
    ) -> tuple[Rows, _Numbers, Floats, Floats]:
        """The body or tile that each ray hits first: rows and cells, -1 for none, distances and normals."""
        ahead = rays.copy()
        cells, distances = np.full((len(rays), 2), -1, np.int64), np.full(len(rays), math.inf)
        normals = np.zeros((len(rays), 2))
        if tiles and self._state.tiles is not None:
            cells, distances, normals = self._first_tiles(rays)
            ahead[:, 4] = np.minimum(rays[:, 4], distances)
        ahead[:, 4] = np.nextafter(ahead[:, 4], math.inf)  # a body that is as near as a tile goes first
        found, hits = self._first_bodies(ahead, ignored, rules)
        is_body = found >= 0
        cells[is_body] = -1
        distances[is_body], normals[is_body] = hits[is_body, 0], hits[is_body, 1:]
        return found, cells, distances, normals

    def _rays_of_rows(
        self, origins: Any, directions: Any, max_distance: Any, tiles: bool, rules: Rules, ignore: Any
    ) -> RayHits | None:
        """What rays in arrays of rows hit among bodies; None: ask in another way."""
        if _no_empty(ignore) is not None or self.asked.wanted or (tiles and self._state.tiles is not None):
            return None
        trees = self._trees_for(origins)
        if trees is None:
            return None
        if type(directions) is np.ndarray:
            directions = directions.copy()
        known = self._store.table.columns, rules
        found = _try_rays(trees, origins.copy(), directions, max_distance, *known)
        if found is None or not found[3]:
            return None
        ids, distances, normals, _ = found
        hits = RayHits(ids, distances, normals)
        hits.tiles = np.full((len(ids), 2), -1, np.int64)
        return hits

    def _first_tiles(self, rays: Floats) -> tuple[_Numbers, Floats, Floats]:
        """Which tile each ray hits first, -1 for none, how far away, and the side."""
        space, count = self._space, len(rays)
        cells, distances = np.full((count, 2), -1, np.int64), np.full(count, math.inf)
        normals, done = np.zeros((count, 2)), np.zeros(count, np.bool_)
        if not space.periodic:
            cast_rays(self._state.grid, rays, cells, distances, normals)
            return cells, distances, normals
        for active, begun, ends in legs(rays, space.lengths, done):
            ahead = rays[active]
            ahead[:, 4] = ends
            ahead[:, :2] -= space.shift_to_inside(along(ahead, begun))
            found, far = np.full((len(active), 2), -1, np.int64), np.full(len(active), math.inf)
            sides = np.zeros((len(active), 2))
            cast_rays(self._state.grid, ahead, found, far, sides)
            cells[active], distances[active], normals[active] = found, far, sides
            done[active] = found[:, 0] >= 0
        return cells, distances, normals

    def _first_bodies(self, rays: Floats, ignored: Rows, rules: Rules) -> tuple[Rows, Floats]:
        """The row that each ray hits first, -1 for none, with distance and normal."""
        space = self._space
        if not space.periodic:
            return self._first_straight(rays, ignored, rules)
        rows, hits = np.full(len(rays), -1, np.int32), np.full((len(rays), 3), math.inf)
        done = np.zeros(len(rays), np.bool_)
        for active, begun, ends in legs(rays, space.lengths, done):
            owners, turns = space.turns_near(bounds_between(rays[active], begun, ends))
            images = rays[active][owners]
            images[:, :2] -= space.shift(turns)
            images[:, 4] = ends[owners]
            found, normals = self._first_straight(images, ignored[active][owners], rules)
            # What an earlier leg has found takes part.
            rays_of = np.concatenate((active[owners], active))
            found, normals = np.concatenate((found, rows[active])), np.concatenate((normals, hits[active]))
            met = np.flatnonzero(found >= 0)
            met = met[np.lexsort((found[met], normals[met, 0], rays_of[met]))]
            met = met[np.diff(rays_of[met], prepend=-1) != 0]
            rows[rays_of[met]], hits[rays_of[met]] = found[met], normals[met]
            done[active] = hits[active, 0] <= ends
        return rows, hits

    def _first_straight(self, rays: Floats, ignored: Rows, rules: Rules) -> tuple[Rows, Floats]:
        """The same without images."""
        known = np.ascontiguousarray(rays), ignored, self._store.table.columns, rules
        found, hits = np.full(len(rays), -1, np.int32), np.full((len(rays), 3), math.inf)
        in_trees.first_shapes_on_rays(self._broad_phase.all_trees(), *known, found, hits)
        return found, hits

    # ---- nearest bodies

    def nearest(self, point: Any, k: int, rules: Rules) -> Nearest:
        """See `World.nearest`, for one point."""
        if type(point) is not tuple:
            point, rules = self._place(point, "point", rules)
        store, space = self._store, self._space
        most: int = k
        if type(k) is not int or not 0 < k <= store.live:
            most = min(count(k, "k"), max(store.live, 1))
        bodies: list[Any] = []
        found: Any = None
        if not space.periodic or (is_plain(point, 2) and all(abs(x) < _FARTHEST for x in point)):
            there = space.place(*point) if space.periodic else point
            known = most, store.table.columns, rules, store.bodies, bodies
            found = _try_nearest(self._broad_phase.all_trees(), there, *known)
        if space.periodic and found is not None and found[2] >= 0:
            (x, y), far = there, found[1][-1] * WIDER if len(found[1]) == most else math.inf
            if not space.is_inner((x - far, y - far, x + far, y + far)):  # an image may be as near
                found = None
        if found is None or found[2] < 0:
            (x, y), rules = self._place(point, "point", rules)
            place = np.array([space.place(x, y)])
            search = self._nearest_around if space.periodic else self._nearest_many
            rows, distances = search(place, most, np.full((1, 1), -1, np.int32), rules)
            found = rows[rows >= 0], distances[rows >= 0]
            bodies = [store.bodies[row] for row in found[0].tolist()]
        nearest: Nearest = _new(Nearest, (found[0], found[1]))
        nearest.bodies = bodies
        return nearest

    def nearest_many(self, points: Any, k: int, rules: Rules, ignore: Any) -> Nearest:
        """See `World.nearest`, for many points."""
        trees = self._trees_for(points) if _no_empty(ignore) is None else None
        if trees is not None and len(points) <= _FEW and type(k) is int and 0 < k <= _FEW:
            known = self._store.table.columns, rules
            few = _try_few_nearest(trees, points, k, *known)
            if few is not None and few[3]:
                return Nearest(few[0], few[1])
        (points, ignore), axes = _in_rows((points, "point", 2), (_no_empty(ignore), "ignore", 0))
        places = np.atleast_2d(as_points(points, "point"))
        most = count(k, "k")
        ignored = self._left_out(ignore, len(places), "points")
        if self._space.periodic:
            found = self._nearest_around(self._space.places(places), most, ignored, rules)
        else:
            found = self._nearest_many(places, most, ignored, rules)
        return in_axes(Nearest(*found), axes)

    def _nearest_around(self, places: Floats, most: int, ignored: Rows, rules: Rules) -> tuple[Rows, Floats]:
        """`_nearest_many` in a periodic space, for points in it."""
        return nearest_around(
            self._space, places, lambda rows, there: self._nearest_many(there, most, ignored[rows], rules)
        )

    def _nearest_many(self, places: Floats, most: int, ignored: Rows, rules: Rules) -> tuple[Rows, Floats]:
        """The same without images: ``(m, most)``, filled up with -1 and inf."""
        known = np.ascontiguousarray(places), ignored, self._store.table.columns, rules
        rows, distances = np.full((len(places), most), -1, np.int32), np.full((len(places), most), math.inf)
        in_trees.nearest_shapes_of_many(self._broad_phase.all_trees(), *known, rows, distances)
        return rows, distances

    def _left_out(self, ignore: Any, count: int, what: str) -> Rows:
        """``(count, 1)``: the row that each query ignores; -1 for none."""
        if ignore is None:
            return np.full((count, 1), -1, np.int32)
        if isinstance(ignore, Body):
            return np.full((count, 1), self._store.row(ignore, "ignore"), np.int32)
        given = self._store.rows_of(ignore, "ignore") if isinstance(ignore, Bodies) else ignore
        named: npt.NDArray[Any] = settled(given, "ignore")
        if named.ndim == 0 and named.dtype.kind in "iu":
            named = np.broadcast_to(named, (count,))
        if named.shape != (count,):
            raise ValueError(
                f"ignore must be one body, or one for each of {count} {what}; got shape {named.shape}"
            )
        if named.dtype.kind not in "iu":
            listed = enumerate(named.tolist())
            rows = [-1 if one is None else self._store.row(one, f"ignore[{k}]") for k, one in listed]
            return np.array(rows, np.int32)[:, None]
        known = (named >= 0) & (named < len(self._store.bodies))
        known[known] = self._store.alive[named[known]]
        strange = np.flatnonzero(~known & (named != -1))
        if len(strange):
            bad_row = int(strange[0])
            raise ValueError(
                f"ignore[{bad_row}] = {named[bad_row]} is the id of no body; -1 leaves nothing out"
            )
        return named.astype(np.int32)[:, None]


def _unit(dx: float, dy: float) -> _Place:
    """The unit vector of a direction that is not zero."""
    # Scaled first: the square of a component must not overflow or vanish.
    largest = max(dx, -dx, dy, -dy)
    dx, dy = dx / largest, dy / largest
    length = math.sqrt(dx * dx + dy * dy)
    return dx / length, dy / length


def _hit(row: int, other: Any, distance: float, normal: _Place, point: _Place) -> RayHit:
    """Where a ray enters a body, or with -1 a tile."""
    hit: RayHit = _new(RayHit, (row, distance, normal))
    hit.other, hit.point = other, point
    return hit


def _is_body(value: Any) -> bool:
    return isinstance(value, Body)


def _are_several(ends: Any) -> bool:
    """Whether it is several bodies or points."""
    if _is_body(ends):
        return False
    return isinstance(ends, Bodies) or is_batch(ends) or (isinstance(ends, list) and any(map(_is_body, ends)))


def is_batch(values: Any) -> bool:
    """Whether it is rows of numbers, and not one row.

    Examples
    --------
    >>> is_batch((0, 0, 1, 1)), is_batch([[0, 0, 1, 1]]), is_batch(np.zeros((0, 4)))
    (False, True, True)
    """
    if isinstance(values, (list, tuple)):
        if len(values) > 0 and type(values[0]) in (float, int):  # the usual case, in a tenth of the time
            return False
        return len(values) > 0 and np.ndim(values[0]) == 1 and not hasattr(values, "_fields")
    if hasattr(type(values), "__dlpack__") and not hasattr(type(values), "ndim"):
        return as_numpy(values, "values").ndim > 1
    return getattr(values, "ndim", 0) > 1


def _no_empty(ignore: Any) -> Any:
    """``None`` for an empty tuple, which ignores nothing."""
    return None if type(ignore) is tuple and not ignore else ignore


def _in_rows(*given: arguments.Named) -> tuple[list[Any], arguments.Axes | None]:
    """Arguments of a batch with several leading axes in rows, and these axes; others as they are."""
    if not any(getattr(one, "ndim", 0) > 1 + (width > 0) for one, _, width in given):
        return [one for one, _, _ in given], None
    rows, _, axes = arguments.in_rows(
        [(settled(one, name), name, width) for one, name, width in given], None, False
    )
    return rows, axes


def _once_around(space: Space, bounds: Floats, shapes: ShapeColumns) -> tuple[Floats, ShapeColumns]:
    """The same queries, cut so that no image is searched for twice.

    A box that is longer than the world overlaps everything on that axis: two periods suffice.  The nearest
    image of a body is at most half a period away from the centre of a circle.
    """
    sides = [shapes.x.copy(), shapes.y.copy()], [shapes.width.copy(), shapes.height.copy()]
    circles = shapes.kinds == CIRCLE
    for axis, length in enumerate(space.lengths.tolist()):
        if length == math.inf:
            continue
        (places, sizes), low, high = (side[axis] for side in sides), bounds[:, axis], bounds[:, axis + 2]
        long = (shapes.kinds == BOX) & (high - low > length)
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
    return bounds, shapes._replace(x=x, y=y, width=width, height=height)


def _circles(centers: Floats, r: Any, name: str) -> list[Floats]:
    """Centres and a radius for each."""
    return arguments.lined_up((centers, name, 2), (arguments.distances(r, "r"), "r", 0))[0]


def _rays(origins: Any, directions: Any, max_distance: Any) -> Floats:
    """``(m, 5)``: ``x, y``, a unit vector, and how far; to the last bit as `World.raycast` takes them."""
    starts, vectors = of_one_length(
        as_points(origins, "origin"), as_points(directions, "direction", WAYS), "origin", "direction"
    )
    max_distance = arguments.distances(max_distance, "max_distance")
    if max_distance.ndim and len(max_distance) != len(starts):
        raise ValueError(f"max_distance has {len(max_distance)} rows and there are {len(starts)} rays")
    nowhere = np.flatnonzero(~vectors.any(axis=1))
    if len(nowhere):
        bad_row = int(nowhere[0])
        raise ValueError(
            f"direction[{bad_row}] = {vectors[bad_row].tolist()} points nowhere; "
            "one component must not be zero"
        )
    return np.column_stack((starts, unit_vectors(vectors), np.broadcast_to(max_distance, len(starts))))
