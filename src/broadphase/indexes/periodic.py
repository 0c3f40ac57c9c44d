"""An index in a periodic world: any structure, plus ghosts of the boxes that cross an edge (the seam).

Boxes are wrapped into the world when they are stored (`PeriodicReader`), and the structure keeps them as
any others.  A query searches the structure and the ghosts, and a box found in both counts once.  A ghost is
a copy of a box that crosses an edge, at the opposite edge.  Ghosts are kept in a separate tree, which is
small if few boxes cross.  It follows the boxes: if a few boxes move, their ghosts are replaced one by one,
and after a change of many, all ghosts are made again at the next query.  The rules are those of
`broadphase.pairs` with a period.

A query away from the edges meets no ghost and no image: it runs as in a plain index.

Rays wrap around until their maximum distance.  A ray is followed in legs, each so short that it crosses at
most one edge of an axis.  In each leg it is cast, in its full length, from every image of its origin that may
hit boxes there: the same test as in any index decides, from an origin that is moved by whole periods
(``origin - k * period``, rounded as any such computation).  Of several hits of one box the nearest counts.
Cost: a few queries for each period of the ray's length.
"""

from functools import partial
from operator import le, lt
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes import changes
from broadphase.indexes.arguments import NO_RULES, Floats, Given, Reader, Rows, Rules
from broadphase.indexes.box_tree import TreeStructure
from broadphase.indexes.protocol import NO_IDS, Structure, find_rows, search_anyhow
from broadphase.indexes.results import Nearest, PairChanges, RayHit, RayHits, RayRows
from broadphase.indexes.space import PlainSpace
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.inputs.boxes import BoxArray, check_sound
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.periods import Period, check_ray_lengths
from broadphase.kernels.boxes import periodic as periodic_kernels
from broadphase.kernels.boxes import queries
from broadphase.methods.in_space import search_in_envs
from broadphase.methods.periodic import Wrapped, find_across, period_of, wrapped_boxes
from broadphase.methods.task import Found, Task
from broadphase.runtime.memory import Scratch

# Distances are rounded; an image farther away than this factor is certainly farther.
_WIDER = 1.0 + 1e-6
# If more boxes than this change at once, making all ghosts again is faster.
MANY = 64
# Of a period: where a ray crosses an edge is rounded; a cast from one image too many does no harm.
_SLACK = 1e-9
# An origin farther away than so many periods is brought into the world.
_MANY_TURNS = 2.0**20


class PeriodicReader(Reader):
    """Reads boxes for an index with a period, and wraps them into the world."""

    def __init__(self, dim: int, dtype: "np.dtype[Any]", period: Period, touching: bool) -> None:
        super().__init__(dim, dtype)
        self._period = period
        self._touching = touching

    def __reduce__(self) -> tuple[Any, ...]:
        return PeriodicReader, (self.dim, self.dtype, self._period, self._touching)

    def box(self, box: Any, name: str = "box") -> Floats:
        one = np.array([super().box(box, name)], self.dtype)
        return tuple(self._wrapped(one, name).boxes[0].tolist())

    def rows(self, boxes: Any) -> BoxArray:
        rows = super().rows(boxes)
        check_sound(rows, "boxes")
        return self._wrapped(rows, "boxes").boxes

    def _wrapped(self, boxes: BoxArray, name: str) -> Wrapped:
        return wrapped_boxes(boxes, self._period, self._touching, np.empty_like(boxes), name=name)


class Ghosts:
    """The ghosts of the boxes of a store, and the box of each."""

    def __init__(
        self, store: BoxStore, lengths: npt.NDArray[np.floating[Any]], touching: bool, like: Any
    ) -> None:
        self._lengths = lengths
        self._touching = touching
        own = BoxStore(len(lengths), store.boxes.dtype)
        if store.envs is not None:
            own.use_envs()
        self.tree: Any = TreeStructure(None, own, touching, False, None)
        if like.has_worlds:
            self.tree = type(like)(self.tree)
        self._owners = np.empty(0, np.int32)
        self._ghosts_of: dict[int, list[int]] = {}
        # Queries are rounded: they must stay this far away from an edge.
        slack = 4.0 * np.finfo(lengths.dtype).eps * lengths.astype(np.float64)
        self._slack = np.where(np.isfinite(slack), slack, 0.0)
        self._over = np.where(np.isfinite(lengths), 0.0, -np.inf)
        self.origin = self._over.tolist()
        self.begin = (self._over + self._slack).tolist()
        self.end = (lengths - self._slack).tolist()
        """Between these on each axis there are only the boxes themselves, none of their images."""
        self._add(store, crossing_rows(store.boxes[: store.end], lengths, touching))
        self.tree.ready()

    def __len__(self) -> int:
        return int(self.tree.store.live)

    def follow(self, store: BoxStore, ids: IdArray) -> None:
        """Replace the ghosts of boxes that were added or moved."""
        self.forget(ids)
        crossing = crossing_rows(store.boxes[ids], self._lengths, self._touching)
        if len(crossing):
            self._add(store, ids[crossing])

    def forget(self, ids: IdArray) -> None:
        """Remove the ghosts of boxes that were removed."""
        gone = [ghost for box in ids.tolist() for ghost in self._ghosts_of.pop(box, ())]
        if gone:
            ids = np.sort(np.array(gone, np.int32))
            self.tree.leave(ids, None)
            self.tree.store.drop(ids)

    def owners(self, ghosts: IdArray) -> IdArray:
        """The ids of the boxes of these ghosts."""
        owners: IdArray = self._owners[ghosts]
        return owners

    def _add(self, store: BoxStore, crossing: IdArray) -> None:
        ghosts, sources = ghosts_of(store.boxes, crossing, self._lengths, self._touching)
        if not len(ghosts):
            return
        beyond = store.boxes[crossing, len(self._lengths) :] - self._lengths.astype(np.float64)
        self._over = np.maximum(self._over, beyond.max(axis=0))
        self.begin = (self._over + self._slack).tolist()
        sets = store.categories[sources], store.masks[sources]
        envs = None if store.envs is None else store.envs[sources]
        own = self.tree.store.add_many(ghosts, np.zeros(len(ghosts), np.bool_), *sets, envs)
        self.tree.enter(own, True)
        if self.tree.store.end > len(self._owners):
            larger = np.empty(2 * self.tree.store.end, np.int32)
            larger[: len(self._owners)] = self._owners
            self._owners = larger
        self._owners[own] = sources
        for box, ghost in zip(sources.tolist(), own.tolist(), strict=True):
            self._ghosts_of.setdefault(box, []).append(ghost)


class PeriodicSpace(PlainSpace):
    """A structure in a periodic world, and its queries."""

    def __init__(self, structure: Structure, reader: Reader, sort: bool, lengths: Period) -> None:
        super().__init__(structure, reader, sort)
        self._ghosts: Ghosts | None = None
        self._lock = Lock()
        self._lengths = period_of(lengths, reader.dtype)
        self._period = lengths
        self._wide = self._lengths.astype(np.float64)
        self.period = tuple(length if length < np.inf else None for length in self._wide.tolist())

    # ---- the ghosts follow the boxes

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        super().leave(ids, boxes)
        if boxes is None:
            self._follow(ids, gone=True)

    def enter(self, ids: IdArray, fresh: bool) -> None:
        super().enter(ids, fresh)
        self._follow(ids)

    def unsettle(self) -> None:
        super().unsettle()
        self._ghosts = None

    def _follow(self, ids: IdArray, gone: bool = False) -> None:
        # Discarded first, in case this is interrupted.
        ghosts, self._ghosts = self._ghosts, None
        if ghosts is not None and len(ids) <= MANY:
            if gone:
                ghosts.forget(ids)
            else:
                ghosts.follow(self.store, ids)
            self._ghosts = ghosts

    def _all_ghosts(self) -> Ghosts:
        """The ghosts, up to date; many threads may call this at once."""
        ghosts = self._ghosts
        if ghosts is None:
            with self._lock:
                ghosts = self._ghosts
                if ghosts is None:
                    ghosts = self._ghosts = Ghosts(self.store, self._lengths, self.touching, self.structure)
        if ghosts.tree.stale:
            ghosts.tree.ready()
        return ghosts

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key not in ("_ghosts", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._ghosts, self._lock = None, Lock()

    # ---- single queries and moves away from the edges: 3 microseconds instead of 60

    def _is_inner(self, low: Given, high: Given, far: float = 0.0) -> bool:
        """Whether no image across an edge is within ``far`` of these bounds."""
        ghosts = self._all_ghosts()
        try:
            return all(map(lt, ghosts.begin, [x - far for x in low])) and all(
                map(lt, [x + far for x in high], ghosts.end)
            )
        except (TypeError, OverflowError):  # no numbers, or none that a float can hold
            return False

    def in_box(self, call: str, box: Given, rules: Rules = NO_RULES) -> IdArray | None:
        dim = self.reader.dim
        if len(box) == 2 * dim and self._is_inner(box[:dim], box[dim:]):
            return super().in_box(call, box, rules)
        return None

    def in_circle(self, center: Floats, radius: float, rules: Rules = NO_RULES) -> IdArray | None:
        inner = self._is_inner(center, center, radius * _WIDER)
        return super().in_circle(center, radius, rules) if inner else None

    def first_hit(
        self, origin: Given, direction: Given, max_distance: float, rules: Rules = NO_RULES
    ) -> RayHit | None:
        if len(origin) != self.reader.dim or not self._is_inner(origin, origin, max_distance):
            return None
        return super().first_hit(origin, direction, max_distance, rules)

    def all_on_ray(self, ray: Floats, rules: Rules) -> RayHits | None:
        return None

    def nearest_one(self, point: Given, k: int, rules: Rules = NO_RULES) -> Nearest | None:
        if len(point) != self.reader.dim or not self._is_inner(point, point):
            return None
        found = super().nearest_one(point, k, rules)
        if found is None or len(found.ids) < min(k, self.store.live):
            return None
        return found if self._is_inner(point, point, found.distances.item(-1) * _WIDER) else None

    def move_one(self, id: Any, box: Given) -> bool:  # noqa: A002
        dim, boxes = self.reader.dim, self.store.boxes
        ghosts = self._all_ghosts()
        try:
            crosses = not all(map(lt, boxes[id, dim:].tolist(), ghosts.end))
            inner = all(map(le, ghosts.origin, box[:dim])) and all(map(lt, box[dim:], ghosts.end))
        except (TypeError, IndexError):
            return False
        return not crosses and inner and super().move_one(id, box)

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """The pairs of the boxes, and those across an edge (the seam)."""
        found = super().find_pairs(limit, scratch)
        if found.pairs > limit:
            return found
        store = self.store
        boxes = store.boxes[: store.end]
        rows = np.empty(store.end, np.int32)
        crossed, ghosts = periodic_kernels.crossing_rows(boxes, self._lengths, self.touching, rows)
        if not crossed:
            return found
        wrapped = Wrapped(boxes, self._lengths, self.touching, rows[:crossed], int(ghosts))
        task = Task(boxes, self.touching, store.filter(), thread_count(self.threads), limit)
        search = search_anyhow if store.envs is None else partial(search_in_envs, "auto", store.envs)
        more = find_across(task, wrapped, search, found.pairs)
        return Found(
            [*found.chunks, *more.chunks], found.pairs + more.pairs, found.tests + more.tests, found.cells
        )

    def find_changes(self, history: changes.History, journal: changes.Journal) -> tuple[PairChanges, int]:
        return changes.find_changes(self.structure, self.all_pairs, history, journal, 0.0)

    # ---- many boxes, points, radii

    def in_boxes(self, call: str, boxes: Rows, rules: Rules) -> IdArray:
        columns = 2 * self.reader.dim
        rows = np.array(boxes[:, :columns], self.reader.dtype)
        wrapped = wrapped_boxes(rows, self._period, self.touching, np.empty_like(rows), name="box")
        found, tests = self._find_pieces(wrapped, boxes[:, columns:], self.touching, rules)
        self.last = (call, tests, len(found))
        return found

    def _find_pieces(
        self, wrapped: Wrapped, worlds: Rows, touching: bool, rules: Rules
    ) -> tuple[IdArray, int]:
        """Sorted rows ``[query, id]`` for wrapped boxes: a query for each of their pieces, each row once.

        ``worlds``: the column after the edges (`broadphase.indexes.environments`), or none.
        """
        self.searched.ready()
        images = wrapped.boxes.astype(np.float64, copy=False)
        sources = np.arange(len(images), dtype=np.int32)
        if wrapped.ghosts:
            pieces, owners, _ = wrapped.make_ghosts()
            images, sources = np.concatenate((images, pieces)), np.concatenate((sources, owners))
        images = np.hstack((images, worlds[sources]))
        rows, tests = find_rows(self.searched, images, touching, rules)
        ghosts = self._all_ghosts()
        if len(ghosts):
            if self.searched.has_worlds:
                images = ghosts.tree.renumbered(images, self.searched)
            across, more = find_rows(ghosts.tree, images, touching, rules)
            across[:, 1] = ghosts.owners(across[:, 1])
            rows, tests = np.concatenate((rows, across)), tests + more
        keys = np.unique(sources[rows[:, 0]].astype(np.int64) << 32 | rows[:, 1])
        found = np.empty((len(keys), 2), np.int32)
        found[:, 0] = keys >> 32
        found[:, 1] = keys & 0xFFFFFFFF
        return found, tests

    def in_circles(self, centers: Rows, radii: Rows, rules: Rules) -> IdArray:
        points, worlds = self._wrapped(centers, "center")
        rows, tests = self._candidates(points, worlds, radii, rules)
        kept = periodic_kernels.keep_rows_within(
            self.store.boxes, rows, points, radii, self._wide, self.touching
        )
        self.last = ("query_radius", tests, int(kept))
        return rows[:kept]

    def _wrapped(self, points: Rows, name: str) -> tuple[Rows, Rows]:
        """Wrapped points, and the columns after their coordinates."""
        dim = self.reader.dim
        return wrap_points(points[:, :dim], self._lengths, name), points[:, dim:]

    def _candidates(self, points: Rows, worlds: Rows, radii: Rows, rules: Rules) -> tuple[IdArray, int]:
        """Rows ``[query, id]`` of all boxes that may lie within the radius of a point in the world."""
        widest = self._wide[np.isfinite(self._wide)].max()
        with np.errstate(over="ignore"):
            far = (radii + (np.abs(points).max(axis=1) + radii + widest) * 1e-14)[:, None]
            boxes = np.hstack((points - far, points + far))
        wrapped = wrapped_boxes(boxes, self._wide, True, np.empty_like(boxes), name="center")
        return self._find_pieces(wrapped, worlds, True, rules)

    def nearest_many(self, points: Rows, k: int, rules: Rules) -> Nearest:
        """Any ``k`` boxes bound the distance of the nearest; all boxes within that distance are ranked."""
        at, worlds = self._wrapped(points, "point")
        held = min(k, self.store.live)
        ids = np.full((len(at), k), -1, np.int32)
        distances = np.full(ids.shape, np.inf)
        self.last = ("nearest", 0, 0)
        if not held:
            return Nearest(ids, distances)
        some = super().nearest_many(np.hstack((at, worlds)), held, rules)
        tests, radii = self.last[1], np.empty(len(at))
        periodic_kernels.farthest_of(self.store.boxes, some.ids, at, self._wide, radii)
        radii[(some.ids < 0).any(axis=1)] = np.inf
        rows, more = self._candidates(at, worlds, radii, rules)
        own = np.full((len(at), held), -1, np.int32), np.full((len(at), held), np.inf)
        periodic_kernels.nearest_of_rows(self.store.boxes, rows, at, self._wide, *own)
        ids[:, :held], distances[:, :held] = own
        self.last = ("nearest", tests + more, int((ids >= 0).sum()))
        return Nearest(ids, distances)

    # ---- rays

    def first_hits(self, rays: Rows, ignored: IdArray, rules: Rules) -> RayHits | None:
        if len(ignored):
            return None
        of, hits, at, into, tests = self._cast_wrapped(rays, rules, True)
        ids, (distances, normals) = np.full(len(rays), -1, np.int32), self._no_hits(len(rays))
        first = np.append(True, of[1:] != of[:-1])[: len(of)]
        of = of[first]
        ids[of], distances[of], normals[of] = hits[first], at[first], into[first]
        self.last = ("raycast", tests, len(of))
        return RayHits(ids, distances, normals)

    def all_hits(self, rays: Rows, rules: Rules) -> RayRows:
        of, hits, at, into, tests = self._cast_wrapped(rays, rules, False)
        self.last = ("query_ray", tests, len(hits))
        return RayRows(np.column_stack((of.astype(np.int32), hits)), at, into)

    def _cast_wrapped(self, rays: Rows, rules: Rules, first: bool) -> tuple[Any, ...]:
        self.searched.ready()
        crossed = np.array([len(self._all_ghosts()) > 0] * self.reader.dim)
        wrapped_rays = WrappedRays(rays, self._wide, crossed, self.store.boxes)
        return wrapped_rays.hits(self.searched, rules, first)

    # ---- about itself

    def check(self) -> None:
        super().check()
        store, boxes = self.store, self.store.boxes[: self.store.end]
        low, high = boxes[store.ids(), : self.reader.dim], boxes[store.ids(), self.reader.dim :]
        inside = (low >= 0) & (low < self._lengths) | (low == -np.inf) | np.isinf(self._lengths)
        expect(bool(inside.all()), "boxes begin in the world, or cover it")
        expect(bool((low <= high).all()), "boxes are sound")
        crossing = crossing_rows(boxes, self._lengths, self.touching)
        made, owners = ghosts_of(boxes, crossing, self._lengths, self.touching)
        ghosts = self._all_ghosts()
        own = ghosts.tree.store.ids()
        found = np.column_stack((ghosts.owners(own), ghosts.tree.store.live_boxes()))
        wanted = np.column_stack((owners, made))
        in_place = np.array_equal(found[np.lexsort(found.T)], wanted[np.lexsort(wanted.T)])
        expect(in_place, "each ghost has its place")


def crossing_rows(boxes: BoxArray, lengths: npt.NDArray[Any], touching: bool) -> IdArray:
    """The rows of the boxes that reach over an edge."""
    rows = np.empty(len(boxes), np.int32)
    found, _ = periodic_kernels.crossing_rows(boxes, lengths, touching, rows)
    return rows[:found]


def ghosts_of(
    boxes: BoxArray, crossing: IdArray, lengths: npt.NDArray[Any], touching: bool
) -> tuple[BoxArray, IdArray]:
    """The ghosts of these rows, which cross, and the row of each."""
    scratch = np.empty(len(crossing), np.int32)
    _, count = periodic_kernels.crossing_rows(boxes[crossing], lengths, touching, scratch)
    wrapped = Wrapped(boxes, lengths, touching, crossing, int(count))
    ghosts, sources, _ = wrapped.make_ghosts()
    return ghosts, sources


def wrap_points(
    points: npt.NDArray[np.float64], lengths: npt.NDArray[Any], name: str
) -> npt.NDArray[np.float64]:
    """Points wrapped into the world, in the type of the index.

    Raises
    ------
    ValueError
        One is so many periods away that its place in the world is lost in rounding.
    """
    into = points.astype(lengths.dtype)
    row, axis = periodic_kernels.wrap_points(into, lengths)
    if row >= 0:
        raise ValueError(
            f"{name}[{row}] = {points[row].tolist()} is so many periods of {lengths[axis]:g} away from "
            "the world that its place there is lost in rounding; bring it nearer"
        )
    return into.astype(np.float64)


class WrappedRays:
    """Rays ``[origin..., direction..., max_distance]`` that wrap around a periodic world."""

    def __init__(
        self, rays: Rows, period: npt.NDArray[np.float64], crossed: npt.NDArray[np.bool_], boxes: BoxArray
    ) -> None:
        dim = len(period)
        around = np.where(np.isfinite(period), period, 1.0)
        with np.errstate(over="ignore"):
            far = np.isfinite(period) & (np.abs(rays[:, :dim]) > _MANY_TURNS * around)
        if far.any():  # else what is rounded there would reach over any number of images
            rays = rays.copy()
            rays[:, :dim] = np.where(far, np.mod(rays[:, :dim], around), rays[:, :dim])
        self._rays = rays
        self._period = period
        self._crossed = crossed
        self._boxes = boxes
        self._origins = rays[:, :dim]
        directions = rays[:, dim : 2 * dim]
        directions = directions / np.abs(directions).max(axis=1, keepdims=True)
        self._directions = directions / np.sqrt((directions * directions).sum(axis=1, keepdims=True))
        self._furthest = rays[:, 2 * dim]
        with np.errstate(divide="ignore", over="ignore"):
            legs = np.where(np.isfinite(period), period / np.abs(self._directions), np.inf)
        self._leg = legs.min(axis=1)
        check_ray_lengths(self._furthest, self._leg)

    def hits(self, structure: Structure, rules: Rules, first: bool) -> tuple[Any, ...]:
        """All hits, each box once; with ``first``, only as many as finding the first takes.

        Returns the ray of each, its id, distance and normal, in the order of a `RayRows`; and the tests.
        """
        n, dim = self._origins.shape
        parts: list[tuple[Any, ...]] = [(np.empty(0, np.int64), NO_IDS, np.empty(0), np.empty((0, dim)))]
        active, begun, nearest, tests = np.arange(n), np.zeros(n), np.full(n, np.inf), 0
        while len(active):
            ends = np.minimum(begun[active] + self._leg[active], self._furthest[active])
            images, of = self._images(active, begun[active], ends)
            hits, counts, made = _cast(structure, images, rules, first)
            tests += made
            at, into = np.full(len(hits), np.inf), np.zeros((len(hits), dim))
            borders = np.concatenate(([0], np.cumsum(counts)))
            queries.rank_hits(self._boxes, hits, borders, images, np.empty(images.shape[1]), at, into)
            parts.append((np.repeat(of, counts), hits, at, into))
            begun[active] = ends
            goes_on = ends < self._furthest[active]
            if first:
                np.minimum.at(nearest, parts[-1][0], at)
                goes_on &= ~(nearest[active] <= ends)
            active = active[goes_on]
        of, hits, at, into = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.lexsort((at, hits, of))
        is_new = np.append(True, (of[order][1:] != of[order][:-1]) | (hits[order][1:] != hits[order][:-1]))
        kept = order[is_new[: len(order)]]
        kept = kept[np.lexsort((hits[kept], at[kept], of[kept]))]
        return of[kept], hits[kept], at[kept], into[kept], tests

    def _images(
        self, active: npt.NDArray[np.int64], begun: Rows, ends: Rows
    ) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Rays from every image of the origins that may hit something in this leg, and the ray of each."""
        origins, directions = self._origins[active], self._directions[active]
        periodic = np.isfinite(self._period)
        period = np.where(periodic, self._period, 1.0)
        with np.errstate(invalid="ignore", over="ignore"):
            first = origins + np.where(directions != 0.0, directions * begun[:, None], 0.0)
            last = origins + np.where(directions != 0.0, directions * ends[:, None], 0.0)
            # Larger coordinates are rounded more.
            slack = _SLACK * period + 4e-15 * (np.abs(first) + np.abs(last))
            low = np.where(periodic, np.floor((np.minimum(first, last) - slack) / period), 0.0)
            high = np.where(periodic, np.floor((np.maximum(first, last) + slack) / period), 0.0)
        low -= periodic & self._crossed
        spans = (high - low + 1.0).astype(np.int64)
        counts = spans.prod(axis=1)
        of = np.repeat(np.arange(len(active)), counts)
        within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        images = self._rays[active][of]
        for axis in range(len(period)):
            if periodic[axis]:
                step = low[of, axis] + within % spans[of, axis]
                within = within // spans[of, axis]
                images[:, axis] -= step * period[axis]
        return images, active[of]


def _cast(
    structure: Structure, rays: Rows, rules: Rules, first: bool
) -> tuple[IdArray, npt.NDArray[Any], int]:
    """The ids that rays hit, ray by ray; how many each hits; and the tests."""
    if not first:
        return structure.find_on_rays(rays, rules)
    (ids, _, _), tests = structure.find_first_hits(rays, NO_IDS, rules)  # type: ignore[misc]
    return ids[ids >= 0], (ids >= 0).astype(np.int32), tests
