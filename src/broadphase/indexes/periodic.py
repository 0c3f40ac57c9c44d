"""An index in a periodic world: any structure, asked once for each image of a question.

Boxes are wrapped into the world when they are stored (`PeriodicReader`), and the structure keeps them as
any others.  A question is asked for each of its images that may meet a box (`broadphase.periods.images`): how
many there are follows from how far the boxes reach beyond an edge (the seam).  What is found by several
images counts once, and is tested exactly.  The rules are those of `broadphase.pairs` with a period.

A query away from the edges has one image: it runs as in a plain index.

A ray is followed in legs (`broadphase.periods.images`).  In each leg it is cast, in its full length, from
every image of its origin that may hit boxes there: the same test as in any index decides, from an origin
that is moved by whole periods (``origin - k * period``, rounded as any such computation).  Of several hits of
one box the nearest counts.  Cost: a few queries for each period of the ray's length.
"""

from functools import partial
from operator import le, lt
from typing import Any

import numpy as np

from broadphase.indexes import changes
from broadphase.indexes.arguments import NO_RULES, BoxRules, FloatTuple, Given, Reader, Rows
from broadphase.indexes.protocol import NO_IDS, Ids, SearchTree, Structure, find_rows
from broadphase.indexes.results import Nearest, PairChanges, RayHit, RayHits, hits_of_rows
from broadphase.indexes.space import PlainSpace
from broadphase.indexes.storage import IdArray, expect
from broadphase.inputs.boxes import BoxArray, check_sound
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.periods import Period
from broadphase.kernels.boxes import queries
from broadphase.kernels.boxes.periodic import keep_rows_meeting
from broadphase.methods.in_space import search_in_envs
from broadphase.methods.pair_order import as_pairs
from broadphase.methods.periodic import with_across
from broadphase.methods.task import Found, Task
from broadphase.periods.ghosts import Wrapped, period_of, wrap_points, wrapped_boxes
from broadphase.periods.images import (
    WIDER,
    Periodic,
    bounds_between,
    legs,
    nearest_around,
    unit_vectors,
    wrapped,
)
from broadphase.runtime import thresholds
from broadphase.runtime.memory import Scratch

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

    def box(self, box: Any) -> FloatTuple:
        one = np.array([super().box(box)], self.dtype)
        return tuple(self._wrapped(one, "box").boxes[0].tolist())

    def rows(self, boxes: Any) -> BoxArray:
        rows = super().rows(boxes)
        check_sound(rows, "boxes")
        return self._wrapped(rows, "boxes").boxes

    def _wrapped(self, boxes: BoxArray, name: str) -> Wrapped:
        return wrapped_boxes(boxes, self._period, self._touching, np.empty_like(boxes), name=name)


class PeriodicSpace(PlainSpace):
    """A structure in a periodic world, and its queries."""

    def __init__(self, structure: Structure, lengths: Period) -> None:
        super().__init__(structure)
        self._reach: Periodic | None = None
        """How far boxes reach beyond the edges; None where that has to be found again."""
        self._lengths = period_of(lengths, structure.dtype)
        self._period = lengths
        self._wide = self._lengths.astype(np.float64)
        self._begin, self._end = np.where(np.isfinite(self._wide), 0.0, -np.inf).tolist(), self._wide.tolist()
        """A box between these is stored as it is."""
        self.period = tuple(length if length < np.inf else None for length in self._wide.tolist())

    # ---- how far boxes reach

    def enter(self, ids: IdArray, fresh: bool) -> None:
        super().enter(ids, fresh)
        # Discarded first, in case this is interrupted.
        around, self._reach = self._reach, None
        if around is not None and len(ids) <= thresholds.FEW_CHANGED:
            self._note(around, self.store.boxes[ids])

    def unsettle(self) -> None:
        super().unsettle()
        self._reach = None

    def _around(self) -> Periodic:
        """The world as far as boxes reach; many threads may call this at once."""
        return self._reach or self._note(Periodic(self._wide), self.store.boxes[: self.store.end])

    def _note(self, around: Periodic, boxes: BoxArray) -> Periodic:
        highs = boxes[:, self.dim :]
        # Boxes without an end are everywhere, and found by each image.
        highest = np.fmax.reduce(np.where(np.isinf(highs), -np.inf, highs), axis=0, initial=-np.inf)
        # Queries are rounded: they must stay this far away from an edge.
        eps = float(np.finfo(self._lengths.dtype).eps)
        slack = 4.0 * eps * np.where(np.isfinite(self._wide), self._wide, 0.0)
        around.reach_to(slack, np.maximum(highest - self._wide, 0.0) + slack)
        self._reach = around
        return around

    # ---- single queries and moves away from the edges: 3 microseconds instead of 60

    def _is_inner(self, low: Given, high: Given, distance: float = 0.0) -> bool:
        """Whether no image across an edge is within a distance of these bounds."""
        begin, end = self._around().inner
        try:
            far = distance * WIDER
            return all(map(lt, begin, [x - far for x in low])) and all(map(lt, [x + far for x in high], end))
        except (TypeError, OverflowError):  # no numbers, or none that a float can hold
            return False

    def in_circle(self, center: Given, radius: float, rules: BoxRules = NO_RULES) -> IdArray | None:
        inner = 0 <= radius < np.inf and self._is_inner(center, center, radius)
        return super().in_circle(center, radius, rules) if inner else None

    def first_hit(self, ray: Given, rules: BoxRules = NO_RULES) -> RayHit | None:
        dim = self.dim
        if len(ray) <= 2 * dim or not self._is_inner(ray[:dim], ray[:dim], ray[2 * dim]):
            return None
        return super().first_hit(ray, rules)

    def nearest_one(self, point: Given, k: int, rules: BoxRules = NO_RULES) -> Nearest | None:
        if len(point) != self.dim or not self._is_inner(point, point):
            return None
        found = super().nearest_one(point, k, rules)
        if found is None or not 0 < len(found.ids) >= min(k, self.store.live):
            return None
        return found if self._is_inner(point, point, found.distances.item(-1)) else None

    def move_one(self, id: Any, box: Given) -> bool:  # noqa: A002
        dim = self.dim
        try:
            inner = all(map(le, self._begin, box[:dim])) and all(map(lt, box[dim:], self._end))
        except TypeError:
            return False
        return inner and super().move_one(id, box)

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """The pairs of the boxes, and those across an edge (the seam)."""
        found = super().find_pairs(limit, scratch)
        if found.pairs > limit:
            return found
        store = self.store
        boxes = store.boxes[: store.end]
        wrapped = Wrapped.of(boxes, self._lengths, self.touching)
        if not wrapped.ghosts:
            return found
        task = Task(boxes, self.touching, store.filter(), thread_count(self.threads), limit)
        return with_across(task, wrapped, partial(search_in_envs, "auto", store.envs), found)

    def find_changes(self, history: changes.History, journal: changes.Journal) -> tuple[PairChanges, int]:
        return changes.find_changes(self.searched, self.all_pairs, history, journal, 0.0)

    # ---- many boxes, points, radii

    def in_boxes(self, call: str, boxes: Given | Rows, rules: BoxRules = NO_RULES) -> IdArray | None:
        columns = 2 * self.dim
        if isinstance(boxes, tuple):
            inner = len(boxes) >= columns and self._is_inner(
                boxes[: columns // 2], boxes[columns // 2 : columns]
            )
            return super().in_boxes(call, boxes, rules) if inner else None
        rows = np.array(boxes[:, :columns], self._lengths.dtype)
        wrapped = wrapped_boxes(rows, self._period, self.touching, np.empty_like(rows), name="box").boxes
        wide = wrapped.astype(np.float64, copy=False)
        found, tests = self._near(wide, boxes[:, columns:], self.touching, rules)
        held = self.store.boxes
        kept = keep_rows_meeting(held, found, wide, self._wide, self.touching)
        self.last = (call, tests, int(kept))
        return found[:kept]

    def _near(self, boxes: Rows, worlds: Rows, touching: bool, rules: BoxRules) -> tuple[IdArray, int]:
        """Sorted rows ``[query, id]``, each once, of what may overlap images of wrapped boxes; and the tests.

        ``worlds``: the column after the edges (`broadphase.indexes.environments`), or none.
        """
        self.searched.ready()
        around = self._around()
        owners, turns = around.turns_near(boxes)
        if len(owners) == len(boxes):
            return find_rows(self.searched, np.hstack((boxes, worlds)), touching, rules)
        shift, dim = around.shift(turns), self.dim
        with np.errstate(over="ignore"):  # infinite edges are found all the same
            images = boxes[owners] - np.hstack((shift, shift))
        # Rounded down: none is missed, and what does not meet is left out by an exact test.
        np.nextafter(images[:, :dim], -np.inf, out=images[:, :dim])
        rows, tests = find_rows(self.searched, np.hstack((images, worlds[owners])), touching, rules)
        keys = np.sort(owners[rows[:, 0]] << 32 | rows[:, 1], kind="stable")
        keys = keys[np.diff(keys, prepend=-1) != 0]
        return as_pairs(keys), tests

    def in_circles(self, centers: Rows, radii: Rows, rules: BoxRules) -> IdArray:
        points, worlds = self._wrapped(centers, "center")
        rows, tests = self._candidates(points, worlds, radii, rules)
        return self._within(rows, tests, points, radii, self._wide)

    def _wrapped(self, points: Rows, name: str) -> tuple[Rows, Rows]:
        """Wrapped points, and the columns after their coordinates."""
        dim = self.dim
        return wrap_points(points[:, :dim], self._lengths, name), points[:, dim:]

    def _candidates(self, points: Rows, worlds: Rows, radii: Rows, rules: BoxRules) -> tuple[IdArray, int]:
        """Rows ``[query, id]`` of all boxes that may lie within the radius of a point in the world."""
        widest = self._wide[np.isfinite(self._wide)].max()
        with np.errstate(over="ignore"):
            far = (radii + (np.abs(points).max(axis=1) + radii + widest) * 1e-14)[:, None]
            boxes = np.hstack((points - far, points + far))
        wrapped = wrapped_boxes(boxes, self._wide, True, np.empty_like(boxes), name="center")
        return self._near(wrapped.boxes.astype(np.float64, copy=False), worlds, True, rules)

    def nearest_many(self, points: Rows, k: int, rules: BoxRules) -> Nearest:
        """The nearest to points where they are say how far their images may be."""
        places, worlds = self._wrapped(points, "point")
        search, tests = super().nearest_many, 0

        def find(rows: Any, there: Rows) -> tuple[IdArray, Any]:
            nonlocal tests
            found = search(np.hstack((there, worlds[rows])), k, rules)
            tests += self.last[1]
            return found.ids, found.distances

        found = Nearest(*nearest_around(self._around(), places, find))
        self.last = ("nearest", tests, int((found.ids >= 0).sum()))
        return found

    # ---- rays

    def first_hits(
        self, rays: Rows, ignored: IdArray, rules: BoxRules, out: RayHits | None = None
    ) -> RayHits:
        owners, hits, entries, entry_normals, tests = self._cast_wrapped(rays, rules, ignored)
        ids, distances = np.full(len(rays), -1, np.int32), np.full(len(rays), np.inf)
        normals = np.zeros((len(rays), self.dim))
        first = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
        owners = owners[first]
        ids[owners], distances[owners], normals[owners] = hits[first], entries[first], entry_normals[first]
        self.last = ("raycast", tests, len(owners))
        return RayHits(ids, distances, normals)

    def all_hits(self, rays: Rows, rules: BoxRules) -> RayHits:
        owners, hits, entries, entry_normals, tests = self._cast_wrapped(rays, rules)
        self.last = ("query_ray", tests, len(hits))
        return hits_of_rows(np.column_stack((owners.astype(np.int32), hits)), entries, entry_normals)

    def _cast_wrapped(self, rays: Rows, rules: BoxRules, ignored: IdArray | None = None) -> tuple[Any, ...]:
        self.tree.ready()
        return _hits_around(rays, self._around(), self.store.boxes, self.tree, rules, ignored)

    # ---- about itself

    def check(self) -> None:
        super().check()
        store, boxes = self.store, self.store.boxes[: self.store.end]
        low, high = boxes[store.ids(), : self.dim], boxes[store.ids(), self.dim :]
        inside = (low >= 0) & (low < self._lengths) | (low == -np.inf) | np.isinf(self._lengths)
        expect(bool(inside.all()), "boxes begin in the world, or cover it")
        expect(bool((low <= high).all()), "boxes are sound")
        reach = self._around()
        beyond = (high <= self._wide + reach.high) | np.isinf(high)
        expect(bool(beyond.all()), "no box reaches farther than is noted")


def _hits_around(
    rays: Rows, around: Periodic, boxes: BoxArray, tree: SearchTree, rules: BoxRules, ignored: IdArray | None
) -> tuple[Any, ...]:
    """All hits of rays that wrap around, each box once; as many as finding the first takes, but for None.

    ``ignored`` is what each ray passes through, or empty.  Returns the ray of each hit, its id, distance and
    normal, in the order of its `RayHits`; and the tests.
    """
    n, dim, period = len(rays), len(around.lengths), around.lengths
    rays = rays.copy()
    # What is rounded far away would reach over any number of images.
    with np.errstate(over="ignore"):
        far = np.isfinite(period) & (np.abs(rays[:, :dim]) > _MANY_TURNS * period)
    rays[:, :dim] = np.where(far, wrapped(rays[:, :dim], period), rays[:, :dim])
    ahead = rays[:, : 2 * dim + 1].copy()  # the number of an environment may follow
    ahead[:, dim : 2 * dim] = unit_vectors(ahead[:, dim : 2 * dim])
    parts: list[tuple[Any, ...]] = [(np.empty(0, np.int64), NO_IDS, np.empty(0), np.empty((0, dim)))]
    nearest, done, tests = np.full(n, np.inf), np.zeros(n, np.bool_), 0
    for active, begun, ends in legs(ahead, period, done):
        region = bounds_between(ahead[active], begun, ends)
        slack = _SLACK * around.largest + 4e-15 * np.where(np.isfinite(region), np.abs(region), 0.0)
        slack[:, :dim] *= -1.0
        with np.errstate(over="ignore"):  # infinite edges are found all the same
            region += slack
        owners, turns = around.turns_near(region)
        images = rays[active][owners]
        images[:, :dim] -= around.shift(turns)
        numbers = active[owners]
        rows, made = _cast(
            tree, images, rules, ignored[numbers] if ignored is not None and len(ignored) else ignored
        )
        tests += made
        entries, entry_normals = queries.rank_hits(boxes, rows, images)
        parts.append((numbers[rows[:, 0]], rows[:, 1], entries, entry_normals))
        if ignored is not None:
            np.minimum.at(nearest, parts[-1][0], entries)
            done[active] = nearest[active] <= ends
    owners, hits, entries, entry_normals = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((entries, hits, owners))
    is_new = np.append(
        True, (owners[order][1:] != owners[order][:-1]) | (hits[order][1:] != hits[order][:-1])
    )
    kept = order[is_new[: len(order)]]
    kept = kept[np.lexsort((hits[kept], entries[kept], owners[kept]))]
    return owners[kept], hits[kept], entries[kept], entry_normals[kept], tests


def _cast(tree: SearchTree, rays: Rows, rules: BoxRules, ignored: IdArray | None) -> Ids:
    """Rows ``[ray, id]`` of what rays hit, and the tests."""
    if ignored is None:
        return tree.find_on_rays(rays, rules)
    (ids, _, _), tests = tree.find_first_hits(rays, ignored, rules)
    hitting = np.flatnonzero(ids >= 0).astype(np.int32)
    return np.column_stack((hitting, ids[hitting])), tests
