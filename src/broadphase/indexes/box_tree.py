"""Box tree: a living tree of boxes around boxes.

Every leaf holds up to 16 boxes that lie close together, every node above up to 16 nodes and the boxes around
them; a question only goes down where it meets these.  The tree is never rebuilt for a single change: a new
box goes down to the leaf where it costs least, and a full node is cut in two; a removed box leaves its leaf,
and nodes that run empty are merged.  All leaves are equally deep, so no order of insertion makes it lopsided.

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

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes.arguments import NO_RULE
from broadphase.indexes.protocol import find_in_parts
from broadphase.indexes.storage import IdArray
from broadphase.indexes.tree_arrays import TreeArrays
from broadphase.indexes.tree_asking import STEPS, TreeAsking
from broadphase.indexes.tree_check import check_tree
from broadphase.indexes.tree_queries import TreeQueries
from broadphase.kernels.boxes.filters import STATIC
from broadphase.kernels.tree.build import build_tree
from broadphase.kernels.tree.insert import insert_boxes
from broadphase.kernels.tree.leaf_pairs import join_leaves, leaves_that_meet
from broadphase.kernels.tree.move import move_boxes
from broadphase.kernels.tree.nodes import HELD, LOOSE, MOVING, NODES, STATIC_TREE, drop_tree, stack_room
from broadphase.kernels.tree.pack import most_nodes, pack_nodes
from broadphase.kernels.tree.remove import remove_boxes
from broadphase.memory import Scratch
from broadphase.methods.task import Found, Task, search_in_shares
from broadphase.slices import few_at_a_time

# Where more than a quarter of a tree's boxes come or leave their places at once, it is built anew.
_SHARE = 4
_FEW = 64
_MOST_LEVELS = 32
_ENOUGH_FOR_THREADS = 2_000
# With so many times as many static boxes, those that move are asked about one by one: 10,000 among 1,000,000
# take a quarter of the time, among 100,000 half (benchmarks/frames.py --parts static).
_SPARSE = 4


class BoxTree(TreeAsking, TreeQueries):
    """A dynamic tree: the index for any scene, and for many questions.

    Parameters
    ----------
    margin : float, optional
        How far a box that moves may go, on every side, before the tree has to change.  By default each box
        gets four times the step that it made last, but no more than half its longest side.  0 keeps every
        slot as small as its box: best where queries are many and moves are few.
    dim, dtype, touching, sort, threads
        As of `broadphase.Index`.

    Examples
    --------
    >>> import broadphase as bp
    >>> tree = bp.BoxTree(margin=0.5)
    >>> tree.insert_many([[0, 0, 1, 1], [2, 0, 3, 1], [9, 9, 10, 10]])
    array([0, 1, 2], dtype=int32)
    >>> tree.move(1, [0.9, 0, 1.9, 1])
    >>> tree.pairs()
    array([[0, 1]], dtype=int32)
    >>> tree.nearest([5, 5], k=2)
    Nearest(ids=array([1, 0], dtype=int32), distances=array([5.06063237, 5.65685425]))
    """

    name = "box_tree"
    _changes_by_query = 0.1

    def __init__(self, *, margin: float | None = None, **common: Any) -> None:
        self._margin = _as_margin(margin)
        super().__init__(**common)
        # Never infinite, also in float32: a slot must not begin at inf - inf.
        self._reach = -1.0 if self._margin is None else min(self._margin, float(np.finfo(self.dtype).max))

    @property
    def margin(self) -> float | None:
        """How much wider than a box that moves its slot is made; None where its step decides."""
        return self._margin

    # ---- the structure follows the boxes

    def _reset(self) -> None:
        self._arrays = TreeArrays(self.dim, self.dtype)
        self._unbuilt = [False, False]
        self._leaving = np.empty(0, np.int32)
        if self._store.live:
            self._build_later(MOVING, STATIC_TREE)

    def _build_later(self, *trees: int) -> None:
        for tree in trees:
            self._unbuilt[tree] = True
        self._stale = True

    def _refresh(self) -> None:
        self._arrays.make_id_room(self._store.end)
        for tree, ids in self._by_tree(self._store.ids()):
            if self._unbuilt[tree]:
                self._build(tree, ids)
                self._unbuilt[tree] = False

    def _build(self, tree: int, ids: IdArray) -> None:
        store, arrays = self._store, self._arrays
        order = begin = after = ids[:0]
        if len(ids):
            order, begin, after, _ = build_tree(store.boxes[ids], np.empty(0, np.uint8))
            arrays.make_room(most_nodes(len(ids)))
        try:
            stack = np.empty(stack_room(arrays.children), np.int64)
            drop_tree(arrays.edges, arrays.children, arrays.links, tree, stack)
            if len(ids):
                nodes = (arrays.edges, arrays.children, arrays.links, arrays.where)
                pack_nodes(nodes, store.boxes, arrays.reach, ids[order], begin, after, tree)
        except BaseException:
            self._reset()  # nodes that hang nowhere
            raise

    def _by_tree(self, ids: IdArray) -> list[tuple[int, IdArray]]:
        """The ids of the moving tree and those of the static one."""
        if not self._store.any_static:
            return [(MOVING, ids), (STATIC_TREE, ids[:0])]
        static = self._store.classes[ids] == STATIC
        return [(MOVING, ids[~static]), (STATIC_TREE, ids[static])]

    def _built(self, ids: IdArray) -> npt.NDArray[np.bool_]:
        """Which of the ids belong to a tree that is not about to be built anew."""
        in_static = self._store.classes[ids] == STATIC
        return np.where(in_static, not self._unbuilt[STATIC_TREE], not self._unbuilt[MOVING])

    def _inserted(self, ids: IdArray) -> None:
        if len(ids) > _FEW:
            for tree, own in self._by_tree(ids):
                if len(own) > self._most_changes(tree):
                    self._build_later(tree)
        self._insert(ids, fresh=True)

    def _most_changes(self, tree: int) -> int:
        """How many boxes may come or go before it costs less to build a tree anew."""
        return max(int(self._arrays.children[0, HELD + tree]) // _SHARE, _FEW)

    def _insert(self, ids: IdArray, *, fresh: bool) -> None:
        store, arrays = self._store, self._arrays
        try:
            if len(arrays.where) < len(store.alive):
                arrays.make_id_room(len(store.alive))
            if self._stale:
                if fresh:
                    arrays.reach[ids] = 0.0
                ids = ids[self._built(ids)]
            for begin, end in few_at_a_time(len(ids)):
                done, some = 0, ids[begin:end]
                while done < len(some):
                    own = (store.boxes, arrays.reach, store.classes, some, done, fresh, arrays.scratch)
                    done = insert_boxes(arrays.edges, arrays.children, arrays.links, arrays.where, *own)
                    if done < len(some):
                        arrays.make_room(len(arrays.children) // 2 + _MOST_LEVELS)
        except BaseException:
            self._build_later(MOVING, STATIC_TREE)
            raise

    def _removing(self, ids: IdArray) -> None:
        arrays = self._arrays
        if self._stale:
            ids = ids[self._built(ids)]
        try:
            for begin, end in few_at_a_time(len(ids)):
                own = (arrays.where, self._store.classes, ids[begin:end])
                remove_boxes(arrays.edges, arrays.children, arrays.links, *own)
        except BaseException:
            self._build_later(MOVING, STATIC_TREE)
            raise

    def _moving(self, ids: IdArray, boxes: BoxArray) -> None:
        if self._store.any_static or self._stale:
            self._leaving = ids[:0]
            static, built = self._store.classes[ids] == STATIC, self._built(ids)
            for tree in (MOVING, STATIC_TREE):
                own = built & (static == (tree == STATIC_TREE))
                if own.any():
                    self._leaving = np.concatenate((self._leaving, self._move(tree, ids[own], boxes[own])))
        else:
            self._leaving = self._move(MOVING, ids, boxes)
        if len(self._leaving):
            self._removing(self._leaving)

    def _move(self, tree: int, ids: IdArray, boxes: BoxArray) -> IdArray:
        """Move boxes of one tree as far as they stay in their leaf; returns the others."""
        store, arrays = self._store, self._arrays
        nodes = (arrays.edges, arrays.children, arrays.links, arrays.where)
        most = self._most_changes(tree)
        leaving = [ids[:0]]
        left = 0
        try:
            for begin, end in few_at_a_time(len(ids)):
                some, places = ids[begin:end], np.empty(end - begin, np.int64)
                own = (store.boxes, arrays.reach, tree, some, boxes[begin:end], self._reach, STEPS, places)
                found = move_boxes(*nodes, *own, most - left)
                leaving.append(some[places[:found]])
                left += found
        except BaseException:
            self._build_later(MOVING, STATIC_TREE)
            raise
        if left >= most:
            self._build_later(tree)
            return ids[:0]
        return leaving[1] if len(leaving) == 2 else np.concatenate(leaving)

    def _moved(self, ids: IdArray) -> None:
        if len(self._leaving):
            self._insert(self._leaving, fresh=False)

    def _make_room(self, room: int) -> None:
        self._arrays.make_id_room(room)
        self._arrays.make_room(most_nodes(room))

    # ---- pairs

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        chunks: list[PairArray] = []
        pairs = tests = 0
        moving, static = self._arrays.children[0, HELD : HELD + 2].tolist()
        for other in (MOVING, STATIC_TREE):
            few = other == STATIC_TREE and 0 < moving * _SPARSE < static
            found = self._few_with_static(limit) if few else self._pairs_with(other, limit)
            chunks += found.chunks
            pairs += found.pairs
            tests += found.tests
            if pairs > limit:
                break
        return Found(chunks, pairs, tests, self._cell_count())

    def _few_with_static(self, limit: int) -> Found:
        """Pairs of the two trees where few move: each is asked about.

        The leaves of the moving tree reach far then, and meet many static ones for nothing.
        """
        store = self._store
        ids, statics = (own for _, own in self._by_tree(store.ids()))
        queries = store.boxes[ids].astype(np.float64, copy=False)

        def search(begin: int, end: int) -> tuple[PairArray, int]:
            rows, tests = self._find_rows(queries[begin:end], self._touching, NO_RULE, NO_RULE)
            movers, others = ids[begin:end][rows[:, 0]], rows[:, 1]
            kept = store.classes[others] == STATIC
            if store.any_sets:
                kept &= store.categories[movers] & store.masks[others] != 0
                kept &= store.categories[others] & store.masks[movers] != 0
            movers, others = movers[kept], others[kept]
            return np.column_stack((np.minimum(movers, others), np.maximum(movers, others))), tests

        pairs, tests = find_in_parts(search, len(ids), len(statics), limit)
        return Found([pairs], len(pairs), tests)

    def _pairs_with(self, other: int, limit: int) -> Found:
        """Pairs of the moving tree with itself or the static one."""
        store, arrays = self._store, self._arrays
        nodes = (arrays.edges, arrays.children, arrays.links)
        leaves, tests = leaves_that_meet(*nodes, other)
        count = leaves.shape[1]
        loose = arrays.children[0, LOOSE + MOVING] or arrays.children[0, LOOSE + other]
        exact = self._touching and not store.any_sets and not bool(loose)
        # The two trees are what the classes say.
        rules = store.filter()._replace(classes=np.empty(0, np.uint8))
        search = partial(join_leaves, *nodes, leaves, store.boxes, exact, self._touching, rules)
        parts = threads.resolve(self._threads) if count > _ENOUGH_FOR_THREADS else 1
        task = Task(store.boxes, self._touching, rules, parts, limit)
        found = search_in_shares(task, lambda: search, threads.shares(count, parts), ())
        return found._replace(tests=found.tests + tests)

    # ---- about itself

    def _options(self) -> dict[str, Any]:
        return {"margin": self._margin}

    def _cell_count(self) -> int:
        return int(self._arrays.children[0, NODES])

    def _check(self) -> None:
        check_tree(self._arrays, self._store)


def _as_margin(margin: Any) -> float | None:
    if margin is None:
        return None
    if isinstance(margin, bool) or not isinstance(margin, (int, float, np.integer, np.floating)):
        raise TypeError(f"margin must be a number or None; got {margin!r}")
    if not 0.0 <= margin < math.inf:
        raise ValueError(f"margin must be finite and not negative; got {margin}")
    return float(margin)
