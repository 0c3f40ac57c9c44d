"""How questions are answered that have been checked: alone or many, with category and mask.

What users call is in `broadphase.indexes.queries`; an index on a torus answers in its own way
(`broadphase.indexes.periodic`).
"""

from functools import partial
from typing import Any

import numpy as np

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.indexes.arguments import Floats, Rows, around, around_many, distance_or_distances, lined_up
from broadphase.indexes.asking import Asking
from broadphase.indexes.results import Nearest, RayHit, RayHits, RayRows
from broadphase.indexes.storage import IdArray
from broadphase.kernels.arrays.found_ids import FEW
from broadphase.kernels.boxes import query_tests, ranking
from broadphase.pair_order import ENOUGH_FOR_THREADS, joined_pairs, sort_rows_of_each
from broadphase.slices import growing, paced

# Fewer queries a thread than this are answered faster than they are handed over.
_SHARE = 1_000
ENOUGH_FOR_PACKETS = 4_000
_SAMPLE = 64


def sample_of(boxes: Rows) -> Rows:
    """A few of the queries, which tell what the others are like."""
    return np.ascontiguousarray(boxes[:: max(len(boxes) // _SAMPLE, 1)])


class Answering(Asking):
    """What the queries of `broadphase.Index` share."""

    def _cast(self, rays: Floats | Rows, category: int, mask: int) -> RayHit | RayHits | None:
        rules = category, mask
        self._ready()
        if not isinstance(rays, tuple):
            return self._first_hits(rays, *rules)
        hit, tests = self._find_first_on_ray(rays, *rules)
        self._last = ("raycast", tests, int(hit >= 0))
        if hit < 0:
            return None
        distance, *normal = ranking.describe_first(self._store.boxes, hit, rays)
        return RayHit(int(hit), distance, tuple(normal[: self._reader.dim]))

    def _cast_all(self, rays: Floats | Rows, category: int, mask: int) -> RayHits | RayRows:
        rules = category, mask
        self._ready()
        boxes = self._store.boxes
        if isinstance(rays, tuple):
            ids, tests = self._find_on_ray(rays, *rules)
            self._last = ("query_ray", tests, len(ids))
            distances, normals = self._room_for_hits(len(ids))
            ends, ray = np.array([0, len(ids)]), np.empty(len(rays))
            ranking.rank_hits(boxes, ids, ends, np.array([rays]), ray, distances, normals)
            return RayHits(ids, distances, normals)
        ids, counts, tests = self._find_on_rays(rays, *rules)
        self._last = ("query_ray", tests, len(ids))
        distances, normals = self._room_for_hits(len(ids))
        ends, ray = np.concatenate(([0], np.cumsum(counts))), np.empty(rays.shape[1])
        for begin, end in growing(len(rays)):
            own = ends[begin : end + 1]
            ranking.rank_hits(boxes, ids, own, rays[begin:end], ray, distances, normals)
        queries = np.repeat(np.arange(len(rays), dtype=np.int32), counts)
        return RayRows(np.column_stack((queries, ids)), distances, normals)

    def _in_env(
        self, call: str, asked: tuple[Any, ...], env: Any, category: int | None, mask: int | None
    ) -> IdArray:
        from broadphase.indexes import in_env  # here: in most programs there is one world

        rules = {"category": category, "mask": mask}
        return in_env.ask_rows(self, call, asked, 0 if env is None else env, rules)

    def _world_of(self, env: int) -> tuple[Any, IdArray] | None:
        """The index of an environment, and the id here of each id there; ``None`` where nothing is in it."""
        return (self, np.arange(self._store.end, dtype=np.int32)) if env == 0 and self._store.live else None

    def _in_box(self, call: str, query: Floats | Rows, category: int, mask: int) -> IdArray:
        if self._stale:
            self._ready()
        if isinstance(query, tuple):
            ids, tests = self._find_in_box(query, self._touching, category, mask)
            self._last = (call, tests, len(ids))
            if len(ids) > FEW and self._sort:
                ids.sort()
            return ids
        rows, tests = self._find_rows(query, self._touching, category, mask)
        self._last = (call, tests, len(rows))
        return rows

    def _find_rows(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Rows for a batch of boxes in the order that was promised; threads share a large one."""
        if len(boxes) >= ENOUGH_FOR_PACKETS and self.answers_boxes_quickly:
            few = sample_of(boxes)
            rows, _ = self._find_some(few, touching, category, mask)
            in_packets = self._find_in_packets(boxes, touching, category, mask, few, rows)
            if in_packets is not None:
                return in_packets
        parts = max(min(threads.resolve(self._threads), len(boxes) // _SHARE), 1)

        def find(begin: int, end: int) -> tuple[IdArray, int]:
            rows, tests = self._find_some(boxes[begin:end], touching, category, mask)
            rows[:, 0] += begin
            return rows, tests

        found = threads.run_all([partial(find, *span) for span in threads.shares(len(boxes), parts)])
        if parts == 1:
            return found[0]
        return joined_pairs([rows for rows, _ in found], parts), sum(tests for _, tests in found)

    def _find_some(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Rows for some boxes in the order that was promised."""
        rows, tests = self._find_in_boxes(boxes, touching, category, mask)
        if self._sort:
            sort_rows_of_each(rows, self._store.end)
        return rows, tests

    def _find_in_packets(
        self, boxes: Rows, touching: bool, category: int, mask: int, few: Rows, sample: PairArray
    ) -> tuple[IdArray, int] | None:
        """Rows for a batch that meets much, if the ``sample``, those for a few of its boxes, is so large."""
        hits, together = self._in_packets_from()
        if len(sample) < hits * len(few):
            return None
        from broadphase.methods import packets  # here: few programs need it

        ask = partial(self._find_some, touching=True, category=category, mask=mask)
        parts = threads.resolve(self._threads)
        return packets.find(ask, self._store.boxes, boxes, touching, few, sample, together, parts)

    def _in_circle(self, center: Floats, radius: float, category: int, mask: int) -> IdArray:
        self._ready()
        candidates, tests = self._find_in_box(around(center, radius), True, category, mask)
        kept = query_tests.keep_within(self._store.boxes, candidates, center, radius, self._touching)
        ids: IdArray = candidates[:kept]
        self._last = ("query_radius", tests, len(ids))
        if self._sort and len(candidates) > FEW:
            ids.sort()
        return ids

    def _in_circles(self, centers: Rows, radii: Rows, category: int, mask: int) -> IdArray:
        self._ready()
        rows, tests = self._find_rows(around_many(centers, radii), True, category, mask)

        def keep(first: int, last: int) -> PairArray:
            end = first
            for begin, stop in paced(first, last):
                end = query_tests.keep_rows_within(
                    self._store.boxes, rows, begin, stop, end, centers, radii, self._touching
                )
            return rows[first:end]

        parts = threads.resolve(self._threads) if len(rows) >= ENOUGH_FOR_THREADS else 1
        kept = threads.run_all([partial(keep, *span) for span in threads.shares(len(rows), parts)])
        found = kept[0] if parts == 1 else joined_pairs(kept, parts)
        self._last = ("query_radius", tests, len(found))
        return found

    def _nearest_one(self, point: Floats, k: int, category: int, mask: int) -> Nearest:
        if k == 0:
            self._last = ("nearest", 0, 0)
            return Nearest(np.empty(0, np.int32), np.empty(0))
        ids, distances, tests = self._find_nearest(point, k, category, mask)
        self._last = ("nearest", tests, len(ids))
        return Nearest(ids, distances)

    def _nearest_many(self, points: Rows, k: int, category: int, mask: int) -> Nearest:
        store = self._store
        held = min(k, store.live)
        found = None
        if held and self.nearest_by_cells:
            from broadphase.methods.nearest import find_nearest  # here: four files that few need

            # Without `_ready`: cells are made of the boxes as they are.
            sets = store.categories, store.masks
            parts = threads.resolve(self._threads)
            boxes = store.boxes[: store.end]
            found = find_nearest(boxes, sets, (category, mask), points, held, parts)
        if found is not None:
            self._last = ("nearest", found.tests, found.found)
            if held == k:
                return Nearest(found.ids, found.distances)
        ids = np.full((len(points), k), -1, np.int32)
        distances = np.full(ids.shape, np.inf)
        if found is not None:
            ids[:, :held], distances[:, :held] = found.ids, found.distances
            return Nearest(ids, distances)
        self._ready()
        tests = 0
        if held:
            ids[:, :held], tests = self._find_nearest_many(points, held, category, mask)
        self._last = ("nearest", tests, int((ids >= 0).sum()))
        for begin, end in growing(len(ids)):
            ranking.rank_nearest(store.boxes, ids[begin:end], points[begin:end], distances[begin:end])
        return Nearest(ids, distances)

    def _first_hits(self, rays: Rows, category: int, mask: int) -> RayHits:
        return self._described(rays, *self._find_first_on_rays(rays, category, mask))

    def _cast_but(self, rays: Rows, ignored: IdArray, category: int, mask: int) -> RayHits | None:
        """The first hits but the box that each ray ignores; None where the index has no way for it."""
        self._ready()
        found = self._find_first_but(rays, ignored, category, mask)
        return None if found is None else self._described(rays, *found)

    def _described(self, rays: Rows, ids: IdArray, tests: int) -> RayHits:
        self._last = ("raycast", tests, int((ids >= 0).sum()))
        distances, normals = self._room_for_hits(len(ids))
        boxes, ray = self._store.boxes, np.empty(rays.shape[1])
        for begin, end in paced(0, len(ids)):
            at = slice(begin, end)
            ranking.describe_firsts(boxes, ids[at], rays[at], ray, distances[at], normals[at])
        return RayHits(ids, distances, normals)

    def _room_for_hits(self, n: int) -> tuple[Rows, Rows]:
        return np.full(n, np.inf), np.zeros((n, self._reader.dim))

    def _rays(self, origin: Any, direction: Any, max_distance: Any) -> Floats | Rows:
        """Origin, direction and greatest distance side by side."""
        at = self._reader.point_or_points(origin, "origin", finite=True)
        towards = self._reader.direction_or_directions(direction)
        furthest = distance_or_distances(max_distance, "max_distance")
        if isinstance(at, tuple) and isinstance(towards, tuple) and isinstance(furthest, float):
            return (*at, *towards, furthest)
        # The length decides for all three; a point given once is repeated by the second pass.
        if isinstance(at, tuple) and isinstance(towards, tuple):
            at, furthest = lined_up(at, furthest, "origin", "max_distance")
        at, towards = lined_up(at, towards, "origin", "direction")
        at, furthest = lined_up(at, furthest, "origin", "max_distance")
        return np.column_stack((at, towards, furthest))
