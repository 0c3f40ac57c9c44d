"""Queries of an index: the results of a structure, ranked, sorted and counted.

A plain space is unbounded: it forwards every query to the structure.  `broadphase.indexes.periodic` replaces
it in a periodic world.

A single query goes to the structure in one call, as the caller wrote it: the structure's kernels read and
check it.  If they refuse it, the query is read and checked in Python, which says what is wrong.
"""

from typing import Any

import numpy as np

from broadphase.indexes import changes
from broadphase.indexes.arguments import (
    NO_RULES,
    BoxRules,
    Given,
    Rows,
)
from broadphase.indexes.box_tree import QueryTree
from broadphase.indexes.protocol import (
    NO_ROWS,
    Searched,
    SearchTree,
    Structure,
    all_pairs,
    find_rows,
    may_pair,
)
from broadphase.indexes.results import Nearest, PairChanges, RayHit, RayHits, hits_of_rows
from broadphase.indexes.storage import BoxStore, IdArray
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.periods import as_period
from broadphase.inputs.search import Space
from broadphase.kernels.arrays.results import FEW
from broadphase.kernels.boxes import brute_force
from broadphase.kernels.boxes import queries as box_queries
from broadphase.kernels.boxes.checks import put_box
from broadphase.kernels.boxes.overlap import IN_A, IN_B, PairFilter
from broadphase.kernels.boxes.periodic import keep_rows_within
from broadphase.kernels.boxes.queries import keep_within
from broadphase.kernels.machine.kernel import try_call
from broadphase.methods.in_space import find_in_space
from broadphase.methods.nearest import find_nearest
from broadphase.methods.pair_order import joined_pairs, one_array, sorted_rows
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.runtime import thresholds
from broadphase.runtime.arrays import joined
from broadphase.runtime.memory import PairArray, Scratch, borrowed_scratch, check_room_for_nearest

NO_HIT = RayHit(-1, np.inf, ())
_NO_PERIOD = np.empty(0)
_try_around, _try_to_put = try_call(box_queries.box_around), try_call(put_box)
_scan_for_boxes, _scan_for_nearest = map(try_call, (brute_force.scan_for_boxes, brute_force.scan_for_nearest))
_NO_SETS = np.empty(0, np.uint32)
_new = tuple.__new__  # of a named tuple, in half the time that its own takes


class PlainSpace:
    """A structure and its queries."""

    period: tuple[float | None, ...] | None = None

    def __init__(self, structure: Structure) -> None:
        self.use(structure)
        self.store, self.touching, self.sort, self.threads = structure.shared
        self.dim = structure.dim
        self.last = ("", 0, 0)
        """The last call, its tests and what it found."""

    def use(self, structure: Structure) -> None:
        """Search with this structure."""
        self.structure = structure
        self.tree = structure.query_tree = (
            structure if isinstance(structure, SearchTree) else QueryTree(structure.shared)
        )
        """What answers rays, and finds what is nearest."""
        self.searched: Searched = structure if isinstance(structure, Searched) else self.tree
        """What answers box queries."""
        self.followers = (structure,) if self.tree is structure else (structure, self.tree)

    # ---- the structures follow the boxes

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        """See `Structure.leave`."""
        for follower in self.followers:
            if follower.settled:
                follower.leave(ids, boxes)

    def enter(self, ids: IdArray, fresh: bool) -> None:
        """See `Structure.enter`."""
        for follower in self.followers:
            if follower.settled:
                follower.enter(ids, fresh)

    def move_one(self, id: Any, box: Given) -> bool:  # noqa: A002
        """Move a box that a caller wrote, row and structures; False, and nothing has changed, if refused."""
        structure, tree, store = self.structure, self.tree, self.store
        if structure is tree:
            return not tree.stale and tree.move_one(id, box)
        if store.any_static or not structure.settled:
            return False
        done = (
            tree.move_one(id, box)
            if tree.follows_moving
            else bool(_try_to_put(store.boxes, store.alive, store.end, id, box))
        )
        if done:
            structure.moved_one(id)
        return done

    def unsettle(self) -> None:
        """Discard the structures: the next read rebuilds them from the stored boxes."""
        for follower in self.followers:
            follower.unsettle()

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """See `Structure.find_pairs`."""
        self.structure.ready()
        return self.structure.find_pairs(limit, scratch)

    def all_pairs(self, *, sort: bool, limit: int = NO_LIMIT) -> tuple[PairArray, int]:
        """All pairs as an array of their own, and the tests made."""
        return all_pairs(self.store, self.threads, self.find_pairs, sort, limit)

    def find_changes(self, history: changes.History, journal: changes.Journal) -> tuple[PairChanges, int]:
        """The changes since the last call, and the tests made."""
        structure = self.structure
        structure.ready()
        found = structure.find_changes(history)
        if found is None:
            by_query = structure.changes_by_query
            found = changes.find_changes(self.searched, self.all_pairs, history, journal, by_query)
        return found

    # ---- queries: one, as its caller wrote it, which is refused by None; or many, which have been checked

    def in_boxes(self, call: str, boxes: Given | Rows, rules: BoxRules = NO_RULES) -> IdArray | None:
        """The boxes that overlap one box, or rows ``[query, id]`` for many.

        ``call`` is the name of the method that users called.
        """
        searched = self.searched
        if searched.stale:
            searched.ready()
        if type(boxes) is not tuple:
            ids, tests = find_rows(searched, boxes, self.touching, rules)  # type: ignore[arg-type]
        else:
            found = searched.find_in_boxes(boxes, self.touching, rules)
            if found is None or found[3] < 0:
                return None
            _, ids, _, tests = found
            if len(ids) > FEW and self.sort:
                ids.sort()
        self.last = call, tests, len(ids)
        return ids

    def in_circle(self, center: Given, radius: float, rules: BoxRules = NO_RULES) -> IdArray | None:
        """The boxes within a radius."""
        boxes = self.store.boxes
        around = _try_around(boxes, center, radius)
        if around is None or not around[0]:
            return None
        _, x0, y0, z0, x1, y1, z1 = around
        box = (x0, y0, x1, y1) if len(center) == 2 else (x0, y0, z0, x1, y1, z1)
        ids = PlainSpace.in_boxes(self, "query_radius", box, rules)
        if ids is not None:
            found = keep_within(boxes, ids, center, radius, self.touching)
            self.last = "query_radius", self.last[1], found
            ids = ids[:found]
        return ids

    def first_hit(self, ray: Given, rules: BoxRules = NO_RULES) -> RayHit | None:
        """The first hit of a ray ``(origin..., direction..., max_distance)``; `NO_HIT` if it hits nothing."""
        tree = self.tree
        if tree.stale:
            tree.ready()
        found = tree.find_first_hit(ray, rules)
        if found is None or found[0] < 0:
            return None
        tests, hit, distance, x, y, z = found
        self.last = "raycast", tests, int(hit >= 0)
        if hit < 0:
            return NO_HIT
        return _new(RayHit, (hit, distance, (x, y) if self.dim == 2 else (x, y, z)))

    def nearest_one(self, point: Given, k: int, rules: BoxRules = NO_RULES) -> Nearest | None:
        """The ``k`` nearest boxes of a point."""
        tree = self.tree
        if tree.stale:
            tree.ready()
        found = tree.find_nearest(point, k, rules)
        if found is None or found[2] < 0:
            return None
        ids, distances, tests = found
        self.last = "nearest", tests, len(ids)
        return _new(Nearest, (ids, distances))

    def in_circles(self, centers: Rows, radii: Rows, rules: BoxRules) -> IdArray:
        """The boxes within each radius: rows ``[query, id]``."""
        self.searched.ready()
        rows, tests = find_rows(
            self.searched, box_queries.boxes_around(centers, radii, self.dim), True, rules
        )
        return self._within(rows, tests, centers, radii, _NO_PERIOD)

    def _within(self, rows: PairArray, tests: int, centers: Rows, radii: Rows, period: Rows) -> IdArray:
        """Those of the rows ``[query, id]`` that are within the radius of their centre."""

        def keep(begin: int, end: int) -> PairArray:
            how = begin, end, centers, radii, period, self.touching
            return rows[begin : keep_rows_within(self.store.boxes, rows, *how)]

        kept = self.searched.in_shares(len(rows), keep, cost=4.0)
        found: PairArray = kept[0] if len(kept) == 1 else joined_pairs(kept, len(kept))
        self.last = ("query_radius", tests, len(found))
        return found

    def first_hits(
        self, rays: Rows, ignored: IdArray, rules: BoxRules, out: RayHits | None = None
    ) -> RayHits:
        """The first hit of each ray, except the box that it ignores; it may be written to ``out``."""
        self.tree.ready()
        hits, tests = self.tree.find_first_hits(rays, ignored, rules, out)
        self.last = ("raycast", tests, int(np.count_nonzero(hits.ids >= 0)))
        return hits

    def all_hits(self, rays: Rows, rules: BoxRules) -> RayHits:
        """All hits of each ray."""
        self.tree.ready()
        rows, tests = self.tree.find_on_rays(rays, rules)
        self.last = ("query_ray", tests, len(rows))
        return hits_of_rows(rows, *box_queries.rank_hits(self.store.boxes, rows, rays))

    def nearest_many(self, points: Rows, k: int, rules: BoxRules) -> Nearest:
        """The ``k`` nearest boxes of each point, filled up with -1 and inf."""
        store, tree, held, found = self.store, self.tree, min(k, self.store.live), None
        check_room_for_nearest(len(points), k, held)
        along_curve = held * len(points) >= thresholds.LEAST_RESULTS and not tree.has_worlds
        if along_curve:
            sets, parts = (store.categories, store.masks), thread_count(self.threads)
            found = find_nearest(store.boxes[: store.end], sets, rules, points, held, parts)
        if held and found is None:
            tree.ready()
            found = tree.find_nearest(points, held, rules)
        none = np.empty((len(points), 0), np.int32), np.empty((len(points), 0)), 0
        ids, distances, tests = found or none
        # Counting takes a sixth of the time of three queries.
        all_found = rules is NO_RULES and not (tree.has_worlds or along_curve)
        self.last = ("nearest", tests, ids.size if all_found else int(np.count_nonzero(ids >= 0)))
        if held < k:
            all_ids, far = np.full((len(points), k), -1, np.int32), np.full((len(points), k), np.inf)
            all_ids[:, :held], far[:, :held] = ids, distances
            ids, distances = all_ids, far
        return Nearest(ids, distances)

    # ---- about itself

    def check(self) -> None:
        """Raise ``AssertionError`` if an invariant is broken."""
        self.structure.ready()
        self.structure.check()
        if self.tree is not self.structure and self.tree.follows_moving:
            self.tree.ready()
            self.tree.check()


# ---- the boxes of an index that was just made of them: rows and nothing else, which a few queries scan
#
# A program that makes an index in every frame and asks it once needs no structure, and none of the columns
# that follow boxes: making both takes 70 us for 100 boxes, and 1.7 ms for 10,000; a scan takes 0.4 us and
# 15 us.


class NewBoxes:
    """Answers single queries as `PlainSpace` does, until a tree would have paid."""

    __slots__ = ("_left", "_touching", "last", "rows")

    def __init__(self, rows: BoxArray, touching: bool) -> None:
        self.rows = rows
        """The boxes, sound, which belong to the index."""
        self._touching = touching
        self._left = thresholds.SCANNED_AT_LEAST + thresholds.SCANS * len(rows)
        self.last = ("", 0, 0)

    def in_boxes(self, call: str, boxes: Given, rules: BoxRules) -> IdArray | None:
        """The boxes that overlap one box; None if the index has to answer."""
        if self._left < 0 or rules is not NO_RULES:
            return None
        rows = self.rows, len(self.rows), _NO_SETS, _NO_SETS
        found = _scan_for_boxes(*rows, boxes, self._touching, *rules, NO_ROWS)
        if found is None or found[3] < 0:
            return None
        _, ids, count, tests = found
        self._left -= tests
        self.last = call, tests, count
        return ids  # type: ignore[no-any-return]

    def in_circle(self, *_: object) -> None:
        """None: the boxes are not scanned for a radius, or a ray."""

    first_hit = in_circle

    def nearest_one(self, point: Given, k: int, rules: BoxRules) -> Nearest | None:
        """The ``k`` nearest boxes of a point; None if the index has to answer."""
        n = len(self.rows)
        if self._left < 0 or rules is not NO_RULES or not n:
            return None
        found = _scan_for_nearest(self.rows, point, k if k < n else n)
        if found is None or found[2] < 0:
            return None
        ids, distances, tests = found
        self._left -= tests
        self.last = "nearest", tests, len(ids)
        return _new(Nearest, (ids, distances))


# ---- a join of two indexes


def join(mine: PlainSpace, there: PlainSpace, sort: bool) -> tuple[PairArray, int]:
    """Rows ``[id mine, id there]`` and the tests made.

    A few boxes against an index that holds many are a batch of box queries: the cost follows the few.
    Otherwise both sides go through the method that suits their number, as in `broadphase.join`.
    """
    few, many = (mine, there) if mine.store.live < there.store.live else (there, mine)
    if not few.store.live:
        return np.empty((0, 2), np.int32), 0
    plain = mine.period is None and mine.store.envs is None and there.store.envs is None
    far_fewer = few.store.live * thresholds.PAIRS_OF_A_QUERY < many.store.live
    if plain and far_fewer and many.searched.has_fast_box_queries:
        many.searched.ready()
        queries = few.store.live_boxes().astype(np.float64, copy=False)
        rows, tests = find_rows(many.searched, queries, mine.touching, NO_RULES)
        rows[:, 0] = few.store.ids()[rows[:, 0]]
        rows = rows if few is mine else rows[:, ::-1]
        rows = np.ascontiguousarray(rows[may_pair(mine.store, there.store, rows)])
        return sorted_rows([rows], max(mine.store.end, there.store.end)) if sort else rows, tests
    first, second = mine.store, there.store
    here_boxes, there_boxes = first.live_boxes(), second.live_boxes()
    kind = np.result_type(here_boxes, there_boxes)
    boxes = joined((here_boxes.astype(kind, copy=False), there_boxes.astype(kind, copy=False)))
    parts = thread_count(mine.threads)
    with borrowed_scratch() as scratch:
        task = Task(boxes, mine.touching, _both_filters(first, second), parts, scratch=scratch)
        several = first.envs is not None or second.envs is not None
        env = np.concatenate((first.live_envs(), second.live_envs())) if several else None
        found = find_in_space("auto", task, Space(as_period(mine.period, task.dim), env))
        rows = one_array(found.chunks, len(boxes), sort and not found.ordered, scratch, parts)
    rows[:, 0] = first.ids()[rows[:, 0]]
    rows[:, 1] = second.ids()[rows[:, 1] - first.live]
    return rows, found.tests


def _both_filters(first: BoxStore, second: BoxStore) -> PairFilter:
    """Two indexes as one set of rows: a box is paired with the other side only, by both sides' rules."""
    parts = []
    for store, side in ((first, IN_A), (second, IN_B)):
        ids = store.ids()
        parts.append((store.classes[ids] | side, store.categories[ids], store.masks[ids]))
    return PairFilter(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
