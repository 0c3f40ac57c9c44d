"""Box tree: a dynamic bounding volume hierarchy.

Every leaf holds up to 16 boxes that are close together, and every inner node up to 16 nodes and their
bounding boxes; a query descends only into nodes that it overlaps.  A single change never rebuilds the tree: a
new box goes to the leaf where it costs least, and a full node is split; a removed box leaves its leaf,
and nodes that run empty are merged.  All leaves have the same depth, so the tree is balanced for any order of
insertion.

Moving costs little because a box that moves gets a *margin*: its slot in the leaf is wider than the box, and
as long as the box stays within, nothing in the tree changes.  A slot only prunes; the exact box decides.
A box that has never moved has no margin.  Static boxes live in a tree of their own, which is never paired
with itself.

Source: Guttman's R-tree (1984) for the balance; the margins are those of the physics engines (the dynamic
trees of Bullet and Box2D).  Looking at 16 boxes at a time is what suits a processor of today.

Cost: ``log n`` for a query, an insert, a removal and a move beyond the margin.  Many boxes at once are built
into a tree from the top, as in `broadphase.methods.tree`.  It is the all-round index: no bounds, no cell
size, any mix of sizes.  It loses, by a constant factor, where all boxes move in every frame (to strips) or
lie evenly (to grids).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes import protocol
from broadphase.indexes.arguments import NO_RULES, BoxRules, Given, Rows
from broadphase.indexes.protocol import (
    NO_IDS,
    NO_ROWS,
    FirstHit,
    FoundInBoxes,
    Ids,
    NearestIds,
    SearchTree,
    Shared,
)
from broadphase.indexes.results import RayHits, expected_rows, hit_arrays
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import thread_count
from broadphase.kernels.boxes.overlap import STATIC
from broadphase.kernels.machine.kernel import try_call
from broadphase.kernels.tree import dynamic_tree as kernel
from broadphase.kernels.tree import queries
from broadphase.methods.nearest import order_along
from broadphase.methods.task import Found, Task
from broadphase.methods.tree import TreeArrays, pairs_of_trees
from broadphase.runtime import thresholds
from broadphase.runtime.memory import PairArray, Scratch

_MOST_LEVELS = 32
# The margin of a moving box is so many times its last step.
STEPS = 4.0
_NO_DISTANCES = np.empty((0, 0))
_NO_FLOATS = np.empty(0)
_try_boxes, _try_rays, _try_nearest, _try_move = map(
    try_call, (queries.search_boxes, queries.search_firsts, queries.search_nearest, queries.move_box)
)


class TreeStructure(SearchTree):
    """The trees of a `broadphase.BoxTree`.

    Parameters
    ----------
    margin : float or None
        As of `broadphase.BoxTree`, checked.
    kept : BoxStore, bool, bool, int or None
        As of `Structure`.
    """

    sorts_rows = True

    def __init__(self, margin: float | None, shared: Shared) -> None:
        store = shared.store
        # Finite in float32, too: a slot must not begin at inf - inf.
        most = float(np.finfo(store.boxes.dtype).max)
        self._reach = -1.0 if margin is None else min(margin, most)
        super().__init__(shared)

    @property
    def changes_by_query(self) -> float:  # type: ignore[override]
        return 0.1 if self.store.live >= thresholds.FEWEST_BOXES else 0.0

    # ---- the structure follows the boxes

    def reset(self) -> None:
        self._arrays = TreeArrays(self.dim, self.dtype)
        self._unbuilt = [self.store.live > 0] * 2
        self._leaving = protocol.NO_IDS
        self.stale = self.store.live > 0

    def _build_later(self, tree: int) -> None:
        arrays = self._arrays
        stack = np.empty(kernel.stack_size(arrays.children), np.int64)
        kernel.drop_tree(arrays.nodes, tree, stack)
        self._unbuilt[tree] = True
        self.stale = True

    def refresh(self) -> None:
        self._build_trees(kernel.MOVING, kernel.STATIC_TREE)

    def ready_static(self) -> None:
        """Bring the tree of static boxes up to date; that of moving ones may wait for `ready`."""
        if not self.settled or self._unbuilt[kernel.STATIC_TREE]:
            with self._lock:
                if not self.settled:
                    self.reset()
                self.settled = False  # until it is done: it may be interrupted
                self._build_trees(kernel.STATIC_TREE)
                self.settled = True

    @property
    def follows_moving(self) -> bool:
        """Whether the tree of moving boxes is built, and has to be told about changes."""
        return self.settled and not self._unbuilt[kernel.MOVING]

    def _build_trees(self, *wanted: int) -> None:
        if True in self._unbuilt:
            self._arrays.reserve_ids(self.store.end)
            for tree, ids in self._by_tree(self.store.ids()):
                if tree in wanted and self._unbuilt[tree]:
                    self._arrays.build(self.store.boxes, ids, tree)
                    self._unbuilt[tree] = False

    def _by_tree(self, ids: IdArray) -> list[tuple[int, IdArray]]:
        """The ids of the moving tree and those of the static one."""
        if not self.store.any_static:
            return [(kernel.MOVING, ids), (kernel.STATIC_TREE, ids[:0])]
        static = self.store.classes[ids] == STATIC
        return [(kernel.MOVING, ids[~static]), (kernel.STATIC_TREE, ids[static])]

    def _built(self, ids: IdArray) -> npt.NDArray[np.bool_]:
        """Which of the ids belong to a tree that will not be built again."""
        in_static = self.store.classes[ids] == STATIC
        return np.where(in_static, not self._unbuilt[kernel.STATIC_TREE], not self._unbuilt[kernel.MOVING])

    def _most_changes(self, tree: int) -> int:
        """How many boxes may be added or removed before building the tree again costs less."""
        held = int(self._arrays.children[0, kernel.HELD + tree])
        return max(held // thresholds.PART_REBUILT, thresholds.FEW_CHANGED)

    def enter(self, ids: IdArray, fresh: bool) -> None:
        if not fresh:
            ids, self._leaving = self._leaving, protocol.NO_IDS
        elif len(ids) > thresholds.FEW_CHANGED:
            for tree, ids_of_tree in self._by_tree(ids):
                if len(ids_of_tree) > self._most_changes(tree):
                    self._build_later(tree)
        if len(ids):
            self._insert(ids, fresh)

    def _insert(self, ids: IdArray, fresh: bool) -> None:
        store, arrays = self.store, self._arrays
        if len(arrays.where) < len(store.alive):
            arrays.reserve_ids(len(store.alive))
        if True in self._unbuilt:
            if fresh:
                arrays.reach[ids] = 0.0
            ids = ids[self._built(ids)]
        done = 0
        while done < len(ids):
            done = kernel.insert_boxes(
                arrays.nodes, store.boxes, arrays.reach, store.classes, ids, done, fresh, arrays.scratch
            )
            if done < len(ids):
                arrays.reserve_nodes(len(arrays.children) // 2 + _MOST_LEVELS)

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        if boxes is None:
            self._remove(ids[self._built(ids)] if True in self._unbuilt else ids)
            return
        self._leaving = protocol.NO_IDS
        if self.store.any_static or True in self._unbuilt:
            static, built = self.store.classes[ids] == STATIC, self._built(ids)
            for tree in (kernel.MOVING, kernel.STATIC_TREE):
                in_tree = built & (static == (tree == kernel.STATIC_TREE))
                if in_tree.any():
                    self._leaving = np.concatenate(
                        (self._leaving, self._move(tree, ids[in_tree], boxes[in_tree]))
                    )
        else:
            self._leaving = self._move(kernel.MOVING, ids, boxes)
        if len(self._leaving):
            self._remove(self._leaving)

    def _remove(self, ids: IdArray) -> None:
        kernel.remove_boxes(self._arrays.nodes, self.store.classes, ids)

    def _move(self, tree: int, ids: IdArray, boxes: BoxArray) -> IdArray:
        """Move boxes of one tree as far as they stay in their leaf; returns the others."""
        store, arrays = self.store, self._arrays
        most, places = self._most_changes(tree), np.empty(len(ids), np.int64)
        left = kernel.move_boxes(
            arrays.nodes, store.boxes, arrays.reach, tree, ids, boxes, self._reach, STEPS, places, most
        )
        if left >= most:
            self._build_later(tree)
            return protocol.NO_IDS
        return ids[places[:left]]

    def move_one(self, id: Any, box: Given) -> bool:  # noqa: A002
        store, arrays = self.store, self._arrays
        if store.any_static:
            return False
        done = _try_move(
            (arrays.edges, arrays.children, arrays.links, arrays.where), store.boxes, arrays.reach,
            store.alive, store.end, id, box, self._reach, STEPS,
        )  # fmt: skip  # `arrays.nodes` takes longer
        if done == queries.LEAVES:
            ids = np.array([id], np.int32)
            self._remove(ids)
            self._insert(ids, fresh=False)
        return done is not None and done != queries.REFUSED

    def reserve(self, capacity: int) -> None:
        self._arrays.reserve_ids(capacity)
        self._arrays.reserve_nodes(kernel.most_nodes(capacity))

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        chunks: list[PairArray] = []
        pairs = tests = 0
        moving, static = self._arrays.children[0, kernel.HELD : kernel.HELD + 2].tolist()
        for other in (kernel.MOVING, kernel.STATIC_TREE):
            few = other == kernel.STATIC_TREE and 0 < moving * thresholds.SPARSE < static
            found = self.pairs_with_static(limit) if few else self._pairs_with(other, limit)
            chunks += found.chunks
            pairs += found.pairs
            tests += found.tests
            if pairs > limit:
                break
        return Found(chunks, pairs, tests, self.counts()[0])

    def pairs_with_static(self, limit: int) -> Found:
        """Pairs of moving boxes with static ones: one query of the static tree for each moving box.

        With few moving boxes the leaves of their tree are large, and overlap many static ones in vain.
        """
        self.ready_static()
        store = self.store
        (_, movers), (_, statics) = self._by_tree(store.ids())

        def find(movers_boxes: Rows) -> Ids:
            rows, tests = protocol.find_rows(self, movers_boxes, self.touching, NO_RULES)
            return rows[store.classes[rows[:, 1]] == STATIC] if self.follows_moving else rows, tests

        pairs, tests = protocol.pairs_between(store, movers, len(statics), find, limit)
        return Found([pairs], len(pairs), tests)

    def _pairs_with(self, other: int, limit: int) -> Found:
        """Pairs of the moving tree with itself or the static one."""
        store = self.store
        # The two trees are the classes.
        rules = store.filter()._replace(classes=np.empty(0, np.uint8))
        task = Task(store.boxes, self.touching, rules, thread_count(self.threads), limit)
        return pairs_of_trees(self._arrays, task, other)

    # ---- queries: down both trees; a batch is shared out among threads

    def _search_arguments(self) -> tuple[npt.NDArray[Any], ...]:
        """The first arguments of every search by rules."""
        arrays, store = self._arrays, self.store
        return arrays.edges, arrays.children, store.boxes, store.categories, store.masks

    def find_in_boxes(
        self, boxes: Given | Rows, touching: bool, rules: BoxRules, out: PairArray = NO_ROWS
    ) -> FoundInBoxes | None:
        arrays, store, (category, mask) = self._arrays, self.store, rules
        return _try_boxes(  # type: ignore[no-any-return]  # with `*` in it the call takes 0.2 us more
            arrays.edges, arrays.children, store.boxes, store.categories, store.masks,
            boxes, touching, category, mask, self.sort, out,
        )  # fmt: skip

    def find_on_rays(self, rays: Rows, rules: BoxRules) -> Ids:
        first, how = self._search_arguments(), (self.touching, *rules)
        return self.rows_in_shares(
            lambda part: queries.search_rays(*first, part, *how, expected_rows(part)), rays
        )

    def tree(self, names: IdArray) -> protocol.Tree:
        if self.stale:
            self.ready()
        arrays = self._arrays
        return arrays.edges, arrays.children, self.store.boxes, names

    def parts(self, view: Rows) -> Rows:
        self.ready()
        arrays, parts = self._arrays, [super().parts(view)]
        for tree in (0, 1):
            places = np.array([tree], np.int64)
            for _ in range(int(arrays.children[0, kernel.HEIGHT + tree])):
                parts.append(arrays.slots(places).astype(np.float64))
                nodes = arrays.children.ravel()[places].astype(np.int64)
                places = (nodes[:, None] * kernel.WIDTH + np.arange(kernel.WIDTH))[arrays.used(nodes)]
        return np.concatenate(parts)

    def find_first_hit(self, ray: Given, rules: BoxRules) -> FirstHit | None:
        arrays, store, (category, mask) = self._arrays, self.store, rules
        return _try_rays(  # type: ignore[no-any-return]
            arrays.edges, arrays.children, store.boxes, store.categories, store.masks, ray,
            self.touching, category, mask, NO_IDS, NO_IDS, _NO_FLOATS, _NO_DISTANCES,
        )  # fmt: skip

    def find_first_hits(
        self, rays: Rows, ignored: IdArray, rules: BoxRules, out: RayHits | None = None
    ) -> tuple[RayHits, int]:
        first, how = self._search_arguments(), (self.touching, *rules)
        hits = hit_arrays(len(rays), self.dim if out is None else out.normals.shape[1])

        def search(_: int, __: int, part: Rows, *parts: Any) -> FirstHit:
            return queries.search_firsts(*first, part, *how, *parts)  # type: ignore[no-any-return]

        found = self.in_shares(len(rays), search, rays, ignored, *hits) if len(rays) else []
        return hits, sum(tests for tests, *_ in found)

    def find_nearest(self, points: Given | Rows, k: int, rules: BoxRules) -> NearestIds | None:
        if isinstance(points, tuple):
            arrays, store, (category, mask) = self._arrays, self.store, rules
            return _try_nearest(  # type: ignore[no-any-return]
                arrays.edges, arrays.children, store.boxes, store.categories, store.masks, points,
                category, mask, k, NO_ROWS, _NO_DISTANCES,
            )  # fmt: skip
        arguments = self._search_arguments()
        out = np.empty((len(points), k), np.int32), np.empty((len(points), k))
        order = order_along(points) if len(points) >= thresholds.ORDERED_POINTS else None
        in_order = points if order is None else points[order]

        def search(_: int, __: int, part: Rows, *parts: Any) -> NearestIds:
            return queries.search_nearest(*arguments, part, *rules, k, *parts)  # type: ignore[no-any-return]

        found_in_parts = self.in_shares(len(points), search, in_order, *out)
        for array in out if order is not None else ():
            array[order] = array.copy()
        return *out, sum(tests for *_, tests in found_in_parts)

    # ---- about itself

    def counts(self) -> tuple[int, int]:
        return int(self._arrays.children[0, kernel.NODES]), 0

    def check(self) -> None:
        arrays = self._arrays
        in_use = [_check_levels(arrays, self.store, tree) for tree in (0, 1)]
        nodes = np.concatenate([np.empty(0, np.int64), *in_use])
        used = int(arrays.children[0, kernel.USED])
        free: list[int] = []
        node = int(arrays.children[0, kernel.FREE])
        while node and len(free) < used:
            free.append(node)
            node = int(arrays.links[node, kernel.ABOVE])
        expect(sorted([*nodes.tolist(), *free]) == list(range(1, used)), "every node is in use or free")
        expect(int(arrays.children[0, kernel.NODES]) == len(nodes), "nodes are counted")


class QueryTree(TreeStructure):
    """The tree that answers queries of an index of another kind, which is not saved with it.

    It is built by the first query.  Then it follows small changes as they come.  Following a change of many
    boxes costs far less than building the tree again, but more than writing the boxes; so it follows such
    changes as long as something reads it in between, and some more, and is then discarded.
    """

    def __init__(self, shared: Shared) -> None:
        super().__init__(None, shared)
        self._unread = 0
        """How many large changes it has followed since something read it."""
        self.unsettle()

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        self._prepare(ids)
        if self._concern(ids):
            super().leave(ids, boxes)

    def enter(self, ids: IdArray, fresh: bool) -> None:
        if fresh:
            self._prepare(ids)
        if self._concern(ids):
            super().enter(ids, fresh)
            if self._are_many(ids):
                self.stale = True  # the next read clears it, which shows that there was one

    def _are_many(self, ids: IdArray) -> bool:
        return len(ids) > 1 + self.store.live // thresholds.FOLLOWED

    def _prepare(self, ids: IdArray) -> None:
        """Before a large change, discard the tree if nothing has read it for long."""
        if self.follows_moving and self._are_many(ids):
            self._unread = self._unread + 1 if self.stale else 0
            if self._unread > thresholds.UNREAD:
                self._unread = 0
                if self.store.any_static:
                    self._build_later(kernel.MOVING)
                else:
                    self.unsettle()

    def _concern(self, ids: IdArray) -> bool:
        """Whether the tree holds, or will hold, some of these ids before it is built again."""
        store = self.store
        static = self.settled and store.any_static and bool(store.classes[ids].any())
        return static or self.follows_moving

    def unsettle(self) -> None:
        super().unsettle()
        self._arrays = TreeArrays(self.dim, self.dtype)  # their memory is free until it is built again


def _check_levels(arrays: TreeArrays, store: BoxStore, tree: int) -> npt.NDArray[Any]:
    """Walk a tree level by level; returns its nodes."""
    root, height = int(arrays.children[0, tree]), int(arrays.children[0, kernel.HEIGHT + tree])
    wanted = store.ids()[store.classes[store.ids()] == tree]
    expect((root > 0) == (height > 0) == (len(wanted) > 0), "an empty tree has no root")
    expect(int(arrays.children[0, kernel.HELD + tree]) == len(wanted), "the boxes of a tree are counted")
    seen = [np.empty(0, np.int64)]
    level = np.array([root] if root else [], np.int64)
    places = np.array([tree] if root else [], np.int64)
    for depth in range(height):
        expect(np.array_equal(arrays.links[level, kernel.ABOVE], places), "a node knows its place")
        counts = arrays.links[level, kernel.COUNT]
        expect(bool(((counts >= 1) & (counts <= kernel.WIDTH)).all()), "no node is empty or overfull")
        expect(depth == height - 1 or depth > 0 or counts[0] > 1, "a root has several children")
        slots = arrays.used(level)
        edges = arrays.edges.reshape(-1, arrays.rows, kernel.WIDTH)[level]
        expect(bool((np.isnan(edges) == ~slots[:, None, :]).all()), "unused slots hold nan")
        above = arrays.slots(places)[:, None, :]
        expect(_inside(edges.transpose(0, 2, 1), above, slots), "a slot holds what is below it")
        seen.append(level)
        places = (level[:, None] * kernel.WIDTH + np.arange(kernel.WIDTH))[slots]
        level = arrays.children[level].astype(np.int64)[slots]
    if root:
        expect(np.array_equal(np.sort(level), wanted), "the leaves hold the boxes of their tree, each once")
        expect(np.array_equal(arrays.where[level], places), "an id knows its place")
        boxes = arrays.slots(places)
        expect(_inside(store.boxes[level], boxes, np.ones(len(level), bool)), "a slot holds its box")
        tight = bool((store.boxes[level] == boxes).all())
        expect(tight or bool(arrays.children[0, kernel.LOOSE + tree]), "a loose slot is known")
    return np.concatenate(seen)


def _inside(inner: npt.NDArray[Any], outer: npt.NDArray[Any], which: npt.NDArray[np.bool_]) -> bool:
    dim = inner.shape[-1] // 2
    inside = (outer[..., :dim] <= inner[..., :dim]) & (inner[..., dim:] <= outer[..., dim:])
    return bool(np.all(inside, axis=-1)[which].all())
