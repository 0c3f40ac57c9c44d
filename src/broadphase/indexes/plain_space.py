"""Questions to an index: what a structure finds, ranked, sorted and described.

A plain space has no end and no environments: it hands everything on to the structure.  `periodic_space` and
`environments` are asked in its place where a world begins again, or where several lie in one index.
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes.arguments import (
    Floats,
    Given,
    Reader,
    Rows,
    around,
    around_many,
    as_given,
    distance_or_distances,
    lined_up,
    settled_distance,
)
from broadphase.indexes.incremental import find_changes
from broadphase.indexes.journal import History, Journal
from broadphase.indexes.protocol import Structure
from broadphase.indexes.results import Nearest, PairChanges, RayHit, RayHits, RayRows
from broadphase.indexes.storage import IdArray
from broadphase.kernels.arrays.found_ids import FEW
from broadphase.kernels.boxes import query_tests, ranking
from broadphase.kernels.boxes.query_tests import keep_within
from broadphase.methods.task import NO_LIMIT
from broadphase.pair_order import ENOUGH_FOR_THREADS, joined_pairs
from broadphase.slices import growing, paced

_NOTHING = (None,)
_ROUNDING_OF_SINGLES = 2.5e-7
_new = tuple.__new__  # of a named tuple, in half the time that its own takes


class PlainSpace:
    """A structure, and how it is asked."""

    has_envs = False
    """Whether boxes of it are in different environments."""
    period: tuple[float | None, ...] | None = None

    def __init__(self, structure: Structure, reader: Reader, sort: bool) -> None:
        self.structure, self.reader, self.sort = structure, reader, sort
        self.store, self.touching, self.threads = structure.store, structure.touching, structure.threads
        self.last = ("", 0, 0)
        """The last call, its tests and what it found."""

    @property
    def envs(self) -> npt.NDArray[np.int64]:
        """The environment of each box, in id order."""
        return np.zeros(self.store.live, np.int64)

    # ---- the structure follows the boxes

    def reset(self) -> None:
        """Follow the stored boxes, whatever came before."""
        self.structure.reset()

    def inserted(self, ids: IdArray) -> None:
        """See `Structure.inserted`."""
        self.structure.inserted(ids)

    def removing(self, ids: IdArray) -> None:
        """See `Structure.removing`."""
        self.structure.removing(ids)

    def moving(self, ids: IdArray, boxes: BoxArray) -> None:
        """See `Structure.moving`."""
        self.structure.moving(ids, boxes)

    def moved(self, ids: IdArray) -> None:
        """See `Structure.moved`."""
        self.structure.moved(ids)

    def ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        """See `Structure.ask_move`."""
        return not self.structure.stale and self.structure.ask_move(id, values)

    def make_room(self, room: int) -> None:
        """See `Structure.make_room`."""
        self.structure.make_room(room)

    # ---- pairs

    def all_pairs(self, *, sort: bool, limit: int = NO_LIMIT) -> tuple[PairArray, int]:
        """All pairs as an array of their own, and the tests made."""
        self.structure.ready()
        return self.structure.all_pairs(sort=sort, limit=limit)

    def find_changes(self, history: History, journal: Journal) -> tuple[PairChanges, int]:
        """Against the last call, and the tests made."""
        self.structure.ready()
        found = self.structure.find_changes(history)
        if found is not None:
            return found
        return find_changes(self.structure, self.all_pairs, history, journal, self.structure.changes_by_query)

    # ---- one question as a caller wrote it: a kernel reads it, checks it, searches and describes.
    # Each of these gives None where there is no such way: for a batch, for what the kernel refuses, in a
    # structure without one.  The question then goes the ordinary way, which also says what is wrong with it.

    def box_at_once(self, call: str, given: Given) -> IdArray | None:
        """`Index.query_box` or `Index.query_point`."""
        if self.structure.stale:
            self.structure.ready()
        try:
            answer = self.structure.ask_box(given)
        except OverflowError:  # an int that no float can hold
            return None
        if answer is None:
            return None
        ids, tests = answer
        if tests < 0:
            return None
        found = len(ids)
        self.last = call, tests, found
        if found > FEW and self.sort:
            ids.sort()
        return ids

    def circle_at_once(self, center: Any, r: Any) -> IdArray | None:
        """`Index.query_radius`."""
        at = self.reader.floats(center, self.reader.dim)
        if at is None or type(r) not in (float, int) or not r >= 0:
            return None
        if self.structure.stale:
            self.structure.ready()
        try:
            radius = float(r)
            # Wider than the circle by more than rounding takes: what touches it overlaps this box.
            if self.store.boxes.itemsize == 8:
                box = around(at, radius)
            elif 1e-30 < radius < 1e30 and max(map(abs, at)) < 1e30:
                box = around(at, radius, _ROUNDING_OF_SINGLES)
            else:
                return None  # singles have fewer digits there, or none
            answer = self.structure.ask_box(box)
        except OverflowError:
            return None
        if answer is None:
            return None
        ids, tests = answer
        if tests < 0:
            return None
        found = keep_within(self.store.boxes, ids, at, radius, self.touching)
        self.last = "query_radius", tests, found
        many = len(ids) > FEW and self.sort
        ids = ids[:found]
        if many:
            ids.sort()
        return ids

    def ray_at_once(self, origin: Any, direction: Any, furthest: Any) -> tuple[RayHit | None] | None:
        """`Index.raycast`."""
        at, towards = as_given(origin), as_given(direction)
        if at is None or towards is None or type(furthest) not in (float, int):
            return None
        if self.structure.stale:
            self.structure.ready()
        try:
            answer = self.structure.ask_ray(at, towards, float(furthest))
        except OverflowError:
            return None
        if answer is None:
            return None
        hit, tests, distance, x, y, z = answer
        if tests < 0:
            return None
        self.last = "raycast", tests, int(hit >= 0)
        if hit < 0:
            return _NOTHING
        return (_new(RayHit, (hit, distance, (x, y) if len(at) == 2 else (x, y, z))),)

    def nearest_at_once(self, point: Any, k: int) -> Nearest | None:
        """`Index.nearest`."""
        given, live = as_given(point), self.store.live
        if given is None or live == 0:
            return None
        if self.structure.stale:
            self.structure.ready()
        try:
            answer = self.structure.ask_nearest(given, k if k < live else live)
        except OverflowError:
            return None
        if answer is None:
            return None
        ids, distances, tests = answer
        if tests < 0:
            return None
        self.last = "nearest", tests, len(ids)
        return _new(Nearest, (ids, distances))

    # ---- questions that have been checked

    def cast(self, rays: Floats | Rows, category: int, mask: int) -> RayHit | RayHits | None:
        """What a ray, or each of many, hits first."""
        rules = category, mask
        self.structure.ready()
        if not isinstance(rays, tuple):
            return self._first_hits(rays, *rules)
        hit, tests = self.structure.find_first_on_ray(rays, *rules)
        self.last = ("raycast", tests, int(hit >= 0))
        if hit < 0:
            return None
        distance, *normal = ranking.describe_first(self.store.boxes, hit, rays)
        return RayHit(int(hit), distance, tuple(normal[: self.reader.dim]))

    def cast_all(self, rays: Floats | Rows, category: int, mask: int) -> RayHits | RayRows:
        """All that a ray, or each of many, hits."""
        rules = category, mask
        self.structure.ready()
        boxes = self.store.boxes
        if isinstance(rays, tuple):
            ids, tests = self.structure.find_on_ray(rays, *rules)
            self.last = ("query_ray", tests, len(ids))
            distances, normals = self._room_for_hits(len(ids))
            ends, ray = np.array([0, len(ids)]), np.empty(len(rays))
            ranking.rank_hits(boxes, ids, ends, np.array([rays]), ray, distances, normals)
            return RayHits(ids, distances, normals)
        ids, counts, tests = self.structure.find_on_rays(rays, *rules)
        self.last = ("query_ray", tests, len(ids))
        distances, normals = self._room_for_hits(len(ids))
        ends, ray = np.concatenate(([0], np.cumsum(counts))), np.empty(rays.shape[1])
        for begin, end in growing(len(rays)):
            own = ends[begin : end + 1]
            ranking.rank_hits(boxes, ids, own, rays[begin:end], ray, distances, normals)
        queries = np.repeat(np.arange(len(rays), dtype=np.int32), counts)
        return RayRows(np.column_stack((queries, ids)), distances, normals)

    def in_box(self, call: str, query: Floats | Rows, category: int, mask: int) -> IdArray:
        """What overlaps a box, or each of many; ``call`` is what users asked."""
        if self.structure.stale:
            self.structure.ready()
        if isinstance(query, tuple):
            ids, tests = self.structure.find_in_box(query, self.touching, category, mask)
            self.last = (call, tests, len(ids))
            if len(ids) > FEW and self.sort:
                ids.sort()
            return ids
        rows, tests = self.structure.find_rows(query, self.touching, category, mask)
        self.last = (call, tests, len(rows))
        return rows

    def in_circle(self, center: Floats, radius: float, category: int, mask: int) -> IdArray:
        """What lies within a radius."""
        self.structure.ready()
        candidates, tests = self.structure.find_in_box(around(center, radius), True, category, mask)
        kept = query_tests.keep_within(self.store.boxes, candidates, center, radius, self.touching)
        ids: IdArray = candidates[:kept]
        self.last = ("query_radius", tests, len(ids))
        if self.sort and len(candidates) > FEW:
            ids.sort()
        return ids

    def in_circles(self, centers: Rows, radii: Rows, category: int, mask: int) -> IdArray:
        """The same for many: rows ``[query, id]``."""
        self.structure.ready()
        rows, tests = self.structure.find_rows(around_many(centers, radii), True, category, mask)

        def keep(first: int, last: int) -> PairArray:
            end = first
            for begin, stop in paced(first, last):
                end = query_tests.keep_rows_within(
                    self.store.boxes, rows, begin, stop, end, centers, radii, self.touching
                )
            return rows[first:end]

        parts = threads.resolve(self.threads) if len(rows) >= ENOUGH_FOR_THREADS else 1
        kept = threads.run_all([partial(keep, *span) for span in threads.shares(len(rows), parts)])
        found = kept[0] if parts == 1 else joined_pairs(kept, parts)
        self.last = ("query_radius", tests, len(found))
        return found

    def nearest_one(self, point: Floats, k: int, category: int, mask: int) -> Nearest:
        """The ``k`` nearest boxes of a point."""
        if k == 0:
            self.last = ("nearest", 0, 0)
            return Nearest(np.empty(0, np.int32), np.empty(0))
        ids, distances, tests = self.structure.find_nearest(point, k, category, mask)
        self.last = ("nearest", tests, len(ids))
        return Nearest(ids, distances)

    def nearest_many(self, points: Rows, k: int, category: int, mask: int) -> Nearest:
        """The same for many."""
        store = self.store
        held = min(k, store.live)
        found = None
        if held and self.structure.nearest_by_cells:
            from broadphase.methods.nearest import find_nearest  # here: four files that few need

            # Without `_ready`: cells are made of the boxes as they are.
            sets = store.categories, store.masks
            parts = threads.resolve(self.threads)
            boxes = store.boxes[: store.end]
            found = find_nearest(boxes, sets, (category, mask), points, held, parts)
        if found is not None:
            self.last = ("nearest", found.tests, found.found)
            if held == k:
                return Nearest(found.ids, found.distances)
        ids = np.full((len(points), k), -1, np.int32)
        distances = np.full(ids.shape, np.inf)
        if found is not None:
            ids[:, :held], distances[:, :held] = found.ids, found.distances
            return Nearest(ids, distances)
        self.structure.ready()
        tests = 0
        if held:
            ids[:, :held], tests = self.structure.find_nearest_many(points, held, category, mask)
        self.last = ("nearest", tests, int((ids >= 0).sum()))
        for begin, end in growing(len(ids)):
            ranking.rank_nearest(store.boxes, ids[begin:end], points[begin:end], distances[begin:end])
        return Nearest(ids, distances)

    def _first_hits(self, rays: Rows, category: int, mask: int) -> RayHits:
        return self._described(rays, *self.structure.find_first_on_rays(rays, category, mask))

    def cast_but(self, rays: Rows, ignored: IdArray, category: int, mask: int) -> RayHits | None:
        """The first hits but the box that each ray ignores; None where the index has no way for it."""
        self.structure.ready()
        found = self.structure.find_first_but(rays, ignored, category, mask)
        return None if found is None else self._described(rays, *found)

    def _described(self, rays: Rows, ids: IdArray, tests: int) -> RayHits:
        self.last = ("raycast", tests, int((ids >= 0).sum()))
        distances, normals = self._room_for_hits(len(ids))
        boxes, ray = self.store.boxes, np.empty(rays.shape[1])
        for begin, end in paced(0, len(ids)):
            at = slice(begin, end)
            ranking.describe_firsts(boxes, ids[at], rays[at], ray, distances[at], normals[at])
        return RayHits(ids, distances, normals)

    def _room_for_hits(self, n: int) -> tuple[Rows, Rows]:
        return np.full(n, np.inf), np.zeros((n, self.reader.dim))

    def rays(self, origin: Any, direction: Any, max_distance: Any) -> Floats | Rows:
        """Origin, direction and greatest distance side by side."""
        origin = self.reader.settled_point(origin, "origin")
        direction = self.reader.settled_direction(direction)
        max_distance = settled_distance(max_distance, "max_distance")
        at = self.reader.point_or_points(origin, "origin", finite=True)
        towards = self.reader.direction_or_directions(direction)
        furthest = distance_or_distances(max_distance, "max_distance")
        if isinstance(at, tuple) and isinstance(towards, tuple) and isinstance(furthest, float):
            return (*at, *towards, furthest)
        # The length decides for all three; a point given once is repeated by the second pass.
        if isinstance(at, tuple) and isinstance(towards, tuple):
            at, furthest = lined_up(at, furthest, "origin", "max_distance")
        at, towards = lined_up(at, towards, "origin", "direction")
        at, furthest = lined_up(at, furthest, "origin", "max_distance")
        return np.column_stack((at, towards, furthest))

    # ---- about itself

    def cell_count(self) -> int:
        """See `Structure.cell_count`."""
        return self.structure.cell_count()

    def swap_count(self) -> int:
        """See `Structure.swap_count`."""
        return self.structure.swap_count()

    def check(self) -> None:
        """Raise ``AssertionError`` if an invariant is broken."""
        self.structure.ready()
        self.structure.check()
