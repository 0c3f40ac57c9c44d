"""The questions of `queries` by the thousand: one call, arrays out."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import as_boxes
from broadphase.foreign import WAYS
from broadphase.indexes import arguments
from broadphase.indexes.results import Nearest
from broadphase.kernels.shapes.near import keep_overlapping_rows
from broadphase.kernels.shapes.rays import distances_of_rows, first_on_rays
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns
from broadphase.kernels.tiles.rays import cast_rays_each
from broadphase.numeric import as_numpy
from broadphase.space import check_ray_lengths
from broadphase.world.arguments import as_points, of_one_length
from broadphase.world.bodies import Floats, Rows
from broadphase.world.body import Body
from broadphase.world.broad_phase import ALL
from broadphase.world.listeners import as_tags
from broadphase.world.space import MOST_TURNS, PeriodicSpace, moved_columns
from broadphase.world.state import State
from broadphase.world.tiles_near import tiles_near, union

_Numbers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]

# What kernels subtract must stay finite.
_FARTHEST = 1e300
_NO_POINTS = np.empty((0, 2))
# So many rays are asked about at once: what they may hit must fit into memory, of any number of rays.
_RAYS = 16_384
# Rays look this many times the usual gap between bodies ahead before they look at all of their way.
_LOOK_AHEAD = (8.0, 64.0)
# A hit counts at once up to this part of the look ahead: what is hit as soon has been seen for certain.
_CERTAIN = 0.99
# Nor may the look ahead be so short that it is lost in the rounding of places.
_SHORTEST = 1e-6
# So many candidates of the nearest are looked at at once, whatever the number of points.
_CANDIDATES = 1 << 20
# By this factor more are looked at where those were not enough.
_MORE = 4


class BodyHits(NamedTuple):
    """Where many rays enter bodies or tiles, one row a ray; see `World.raycast_many`."""

    ids: Rows
    """``(m,)``: the id of the body; -1 where the ray hits no body."""
    distances: Floats
    """``(m,)``: 0 where the ray starts inside, infinite where it hits nothing."""
    normals: Floats
    """``(m, 2)``: unit vectors out of what was hit; zeros where the ray starts inside, or hits nothing."""
    tiles: npt.NDArray[np.int64]
    """``(m, 2)``: column and row of the tile; -1 where the ray hits none."""


def is_batch(values: Any) -> bool:
    """Whether it is rows of numbers, and not one row.

    Examples
    --------
    >>> is_batch((0, 0, 1, 1)), is_batch([[0, 0, 1, 1]]), is_batch(np.zeros((0, 4)))
    (False, True, True)
    """
    if isinstance(values, (list, tuple)):
        return len(values) > 0 and np.ndim(values[0]) == 1 and not hasattr(values, "_fields")
    if hasattr(type(values), "__dlpack__") and not hasattr(type(values), "ndim"):
        return as_numpy(values, "values").ndim == 2
    return getattr(values, "ndim", 0) == 2


class ManyQueries:
    """Answers many questions about the bodies and tiles of a world at once."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._space, self._store, self._broad_phase = state.space, state.store, state.broad_phase

    # ---- what is here

    def boxes(self, boxes: Any, rules: Any) -> Rows:
        """``[query, id]`` of the bodies that overlap each of ``(m, 4)`` boxes."""
        asked = as_boxes(boxes, "box").astype(np.float64, copy=False)
        if asked.shape[1] != 4:
            raise ValueError(f"box must have 4 columns, min_x, min_y, max_x, max_y; got shape {asked.shape}")
        near = np.clip(asked, -_FARTHEST, _FARTHEST)
        widths, heights = (near[:, 2:] - near[:, :2]).T
        return self.overlapping(asked, _columns(BOX, near[:, 0], near[:, 1], widths, heights), rules)

    def points(self, points: Any, rules: Any) -> Rows:
        """``[query, id]`` of the bodies whose inside holds each of ``(m, 2)`` points."""
        at = as_points(points, "point")
        nothing = np.zeros(len(at))
        shapes = _columns(BOX, at[:, 0], at[:, 1], nothing, nothing)
        return self.overlapping(np.hstack((at, at)), shapes, rules)

    def circles(self, centers: Any, r: Any, rules: Any) -> Rows:
        """``[query, id]`` of the bodies at less than ``r`` from each of ``(m, 2)`` points."""
        at = as_points(centers, "center")
        radii = np.asarray(arguments.distance_or_distances(r, "r"), np.float64)
        if radii.ndim and len(radii) != len(at):
            raise ValueError(f"center has {len(at)} rows and r has {len(radii)}")
        radii = np.broadcast_to(np.minimum(radii, _FARTHEST), (len(at),))
        reach = np.hstack((at - radii[:, None], at + radii[:, None]))
        return self.overlapping(reach, _columns(CIRCLE, at[:, 0], at[:, 1], radii, np.zeros(len(at))), rules)

    def overlapping(self, bounds: Floats, asked: ShapeColumns, rules: Any) -> Rows:
        """``[query, id]``, sorted, of the bodies that overlap each of the shapes that are asked about."""
        tag, category, mask, ignore = rules
        unseen, space = self._store.ignored(ignore), self._space
        of = None
        if isinstance(space, PeriodicSpace):
            bounds, asked = _once_around(space, np.array(bounds, np.float64), asked)
            of, turns = space.turns_near(bounds)
            shift = space.shift(turns)
            bounds, asked = bounds[of] - np.hstack((shift, shift)), moved_columns(asked, of, -shift)
        rows = np.ascontiguousarray(self._broad_phase.in_boxes(np.ascontiguousarray(bounds), ALL))
        rows = rows[: keep_overlapping_rows(rows, asked, self._store.table.columns)]
        rows = rows[self._fitting(rows[:, 1], tag, category, mask)]
        if unseen:
            rows = rows[~np.isin(rows[:, 1], list(unseen))]
        if of is not None:
            rows[:, 0] = of[rows[:, 0]]
            return np.unique(rows, axis=0)
        return rows[np.lexsort((rows[:, 1], rows[:, 0]))]

    def _fitting(self, rows: Rows, tag: Any, category: int | None, mask: int | None) -> _Flags:
        """Which bodies the rules of a question leave."""
        store = self._store
        fits = np.ones(len(rows), np.bool_)
        if tag is not None:
            wanted = as_tags(tag)
            tags = store.listeners.groups
            groups = [k for k, known in enumerate(tags) if not wanted.isdisjoint(known)]
            fits &= np.isin(store.group[rows], groups)
        if category is not None:
            fits &= store.mask[rows] & np.uint32(arguments.bit_set(category, "category")) != 0
        if mask is not None:
            fits &= store.category[rows] & np.uint32(arguments.bit_set(mask, "mask")) != 0
        return fits

    def _fit(self, tag: Any, category: int | None, mask: int | None) -> _Flags:
        """The same for all bodies, by row."""
        return self._fitting(np.arange(len(self._store.bodies), dtype=np.int32), tag, category, mask)

    # ---- rays

    def rays(self, origins: Any, directions: Any, max_distance: Any, tiles: bool, rules: Any) -> BodyHits:
        """See `World.raycast_many`."""
        tag, category, mask, ignore = rules
        rays = _rays(origins, directions, max_distance)
        own = self._left_out(ignore, len(rays))
        fits = self._fit(tag, category, mask)
        at, distances = np.full((len(rays), 2), -1), np.full(len(rays), math.inf)
        normals = np.zeros((len(rays), 2))
        if tiles:
            self.first_tiles(rays, at, distances, normals)
            stopped = at[:, 0] >= 0
            rays[stopped, 4] = np.nextafter(distances[stopped], math.inf)  # a body that is as near goes first
        found, hits = self._first_bodies(rays, own, fits)
        is_body = found >= 0
        at[is_body] = -1
        distances[is_body], normals[is_body] = hits[is_body, 0], hits[is_body, 1:]
        return BodyHits(found, distances, normals, at)

    def first_tiles(self, rays: Floats, at: _Numbers, distances: Floats, normals: Floats) -> None:
        """Write down which tile each ray hits first, how far away, and the side."""
        tiles, space = self._state.tiles, self._space
        if tiles is None:
            return
        if not isinstance(space, PeriodicSpace):
            cast_rays_each(tiles.grid, tiles.ground, rays, at, distances, normals)
            return
        legs = self.leg(rays[:, 2:4], rays[:, 4])
        active, begun = np.arange(len(rays)), np.zeros(len(rays))
        while len(active):
            asked = rays[active]
            ends = asked[:, 4] = np.minimum(begun[active] + legs[active], rays[active, 4])
            asked[:, :2] -= space.shift_to_inside(_along(asked, begun[active]))
            places = [_along(asked, far) for far in (begun[active], ends)]
            region = union(np.hstack((np.minimum(*places), np.maximum(*places))))
            found, far = np.full((len(active), 2), -1), np.full(len(active), math.inf)
            sides = np.zeros((len(active), 2))
            near = tiles_near(tiles, space, region)
            if near.tiles is not None:
                cast_rays_each(near.tiles.grid, near.tiles.ground, asked, found, far, sides)
            at[active] = near.numbered(found)
            distances[active], normals[active] = far, sides
            begun[active] = ends
            active = active[(ends < rays[active, 4]) & (found[:, 0] < 0)]

    def _first_bodies(self, rays: Floats, own: Rows, fits: _Flags) -> tuple[Rows, Floats]:
        """The row that each ray hits first, -1 for none, with distance and normal."""
        space = self._space
        if not isinstance(space, PeriodicSpace):
            return self._first_straight(rays, own, fits)
        legs = self.leg(rays[:, 2:4], rays[:, 4])
        rows, hits = np.full(len(rays), -1, np.int32), np.full((len(rays), 3), math.inf)
        active, begun = np.arange(len(rays)), np.zeros(len(rays))
        while len(active):
            ends = np.minimum(begun[active] + legs[active], rays[active, 4])
            places = [_along(rays[active], far) for far in (begun[active], ends)]
            of, turns = space.turns_near(np.hstack((np.minimum(*places), np.maximum(*places))))
            asked = rays[active][of]
            asked[:, :2] -= space.shift(turns)
            asked[:, 4] = ends[of]
            found, into = self._first_straight(asked, own[active][of], fits)
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

    def _first_straight(self, rays: Floats, own: Rows, fits: _Flags) -> tuple[Rows, Floats]:
        """The same without images.

        Most rays end soon: so they look a little ahead first, and not at all that lies on their line.
        """
        found, hits = np.full(len(rays), -1, np.int32), np.full((len(rays), 3), math.inf)
        table = self._store.table.columns
        waiting = np.arange(len(rays))
        for reach in (*self._looks_ahead(rays), math.inf):
            for begin in range(0, len(waiting), _RAYS):
                asked = waiting[begin : begin + _RAYS]
                ahead = rays[asked]
                np.minimum(ahead[:, 4], reach, out=ahead[:, 4])
                for ids, ends, rows in self._broad_phase.on_rays(ahead):
                    first_on_rays(rays, asked, ends, ids, rows, table, fits, own, found, hits)
            waiting = waiting[(hits[waiting, 0] > _CERTAIN * reach) & (rays[waiting, 4] > reach)]
        return found, hits

    def _looks_ahead(self, rays: Floats) -> list[float]:
        """How far rays look before they look at all of their way; nothing where that would not be sooner."""
        rows = self._store.rows()
        if not len(rows) or not len(rays):
            return []
        places = np.column_stack((self._store.x[rows], self._store.y[rows]))
        size = np.ptp(places, axis=0)
        gap = float(size.max()) / math.sqrt(len(rows))
        largest = max(float(np.abs(places).max()), float(np.abs(rays[:, :2]).max()))
        return [ahead * gap for ahead in _LOOK_AHEAD if _SHORTEST * largest < ahead * gap < float(size.max())]

    def leg(self, ways: Floats, furthest: Floats) -> Floats:
        """How far rays go until they are around once: ``(m,)``."""
        with np.errstate(divide="ignore"):
            around = np.where(ways != 0.0, self._space.lengths / np.abs(ways), np.inf)
        legs: Floats = around.min(axis=1)
        check_ray_lengths(furthest, legs)
        return legs

    # ---- what is near

    def nearest(self, points: Any, k: int, rules: Any) -> Nearest:
        """See `World.nearest_many`."""
        tag, category, mask, ignore = rules
        at = np.atleast_2d(as_points(points, "points"))
        most = arguments.count(k, "k", 1)
        own = self._left_out(ignore, len(at))
        fits = self._fit(tag, category, mask)
        space = self._space
        if not isinstance(space, PeriodicSpace):
            return self._nearest(at, most, own, fits)
        at = space.places(at)
        of, shifts = self.shifts_around(space, at)
        ids, far = self._nearest(at[of] - shifts, most, own[of], fits)
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

    def _nearest(self, at: Floats, most: int, own: Rows, fits: _Flags) -> Nearest:
        """The same without images."""
        ids, distances = np.full((len(at), most), -1, np.int32), np.full((len(at), most), math.inf)
        waiting, asked = np.arange(len(at)), most + bool((own >= 0).any())
        while len(waiting):
            each = max(_CANDIDATES // min(asked, max(self._store.live, 1)), 1)
            late = []
            for begin in range(0, len(waiting), each):
                some = waiting[begin : begin + each]
                rows, far, beyond = self._near_points(at[some], asked, own[some], fits)
                rows, far = rows[:, :most], far[:, :most]
                ids[some, : rows.shape[1]], distances[some, : rows.shape[1]] = rows, far
                # What was not found lies at least so far away; a body can only be farther than its bounds.
                last = far[:, -1] if far.shape[1] == most else np.full(len(some), math.inf)
                late.append(some[(beyond < math.inf) & ~(last < beyond)])
            waiting, asked = np.concatenate(late), asked * _MORE
        return Nearest(ids, distances)

    def _near_points(
        self, points: Floats, asked: int, own: Rows, fits: _Flags
    ) -> tuple[Rows, Floats, Floats]:
        """Bodies near points by distance, then row, -1 behind them; and how far all others are at least."""
        rows, beyond = self._broad_phase.nearest_many(points, asked)
        left_out = (rows < 0) | (rows == own[:, None])
        left_out[~left_out] = ~fits[rows[~left_out]]
        rows[left_out] = -1
        distances = np.full(rows.shape, math.inf)
        distances_of_rows(points, rows, self._store.table.columns, distances)
        order = np.lexsort((rows, distances), axis=1)
        return np.take_along_axis(rows, order, 1), np.take_along_axis(distances, order, 1), beyond

    def shifts_around(self, space: PeriodicSpace, points: Floats) -> tuple[_Numbers, Floats]:
        """How far the images are moved that may be the nearest of points: of which point, and ``(k, 2)``."""
        of, turns = space.turns_near(space.band(points))
        return of, space.shift(turns)

    def _left_out(self, ignore: Any, count: int) -> Rows:
        """The row that each question leaves out; -1 for none."""
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


def _once_around(space: PeriodicSpace, bounds: Floats, asked: ShapeColumns) -> tuple[Floats, ShapeColumns]:
    """The same questions, without the parts that ask for the same again.

    A box that is longer than the world holds everything on that axis; of two periods each place is
    within.  The nearest image of anything is no farther from the centre of a circle than half a period.
    """
    sides = [asked.x.copy(), asked.y.copy()], [asked.width.copy(), asked.height.copy()]
    circles = asked.kinds == CIRCLE
    for axis, length in enumerate(space.lengths.tolist()):
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


def _rays(origins: Any, directions: Any, max_distance: Any) -> Floats:
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


def _along(rays: Floats, far: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        gone = np.where(rays[:, 2:4] != 0.0, rays[:, 2:4] * far[:, None], 0.0)
    places: Floats = rays[:, :2] + gone
    return places


def _columns(kind: np.uint8, x: Floats, y: Floats, width: Floats, height: Floats) -> ShapeColumns:
    """Boxes or circles as kernels take them."""
    none = np.zeros(len(x), np.int64)
    kinds = np.full(len(x), kind)
    x, y, width, height = np.array((x, y, width, height), np.float64)
    return ShapeColumns(kinds, x, y, width, height, none, none, _NO_POINTS, _NO_POINTS)
