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

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes.arguments import NO_RULE, Floats, Given, Rows
from broadphase.indexes.protocol import ENOUGH_FOR_PACKETS, Structure, find_in_parts, sample_of
from broadphase.indexes.results import Distances
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.kernels.boxes.filters import STATIC
from broadphase.kernels.machine.kernel import trial
from broadphase.kernels.tree.ask import LEAVES, REFUSED, ask_box, ask_move, ask_nearest, ask_ray
from broadphase.kernels.tree.build import build_tree
from broadphase.kernels.tree.insert import insert_boxes, insert_scratch
from broadphase.kernels.tree.leaf_pairs import join_leaves, leaves_that_meet
from broadphase.kernels.tree.move import move_boxes
from broadphase.kernels.tree.nearest import search_nearest
from broadphase.kernels.tree.nodes import (
    ABOVE,
    COUNT,
    FREE,
    HEIGHT,
    HELD,
    LOOSE,
    MOVING,
    NODES,
    STATIC_TREE,
    USED,
    WIDTH,
    clear_nodes,
    drop_tree,
    stack_room,
)
from broadphase.kernels.tree.pack import most_nodes, pack_nodes
from broadphase.kernels.tree.query import QUEUE_ROOM, query_scratch, search_boxes
from broadphase.kernels.tree.query_one import search_box_by_rules
from broadphase.kernels.tree.ray import search_first, search_firsts, search_rays
from broadphase.kernels.tree.remove import remove_boxes
from broadphase.memory import Scratch, SharedRows, pair_array
from broadphase.methods.task import Found, Task, search_in_shares
from broadphase.pair_order import joined_pairs
from broadphase.slices import few_at_a_time, growing, in_chunks

# Where more than a quarter of a tree's boxes come or leave their places at once, it is built anew.
_SHARE = 4
_FEW = 64
_MOST_LEVELS = 32
_ENOUGH_FOR_THREADS = 2_000
# With so many times as many static boxes, those that move are asked about one by one: 10,000 among 1,000,000
# take a quarter of the time, among 100,000 half (benchmarks/frames.py --parts static).
_SPARSE = 4
_FIRST_ROOM = 64
_ENOUGH_QUESTIONS = 200
_NONE = np.empty(0, np.int32)
_CACHE_LINE = 64
_FIRST_NODES = 16
# A box that moves may go on so many times before it leaves its margin.
STEPS = 4.0
_try_box, _try_ray, _try_nearest, _try_move = map(trial, (ask_box, ask_ray, ask_nearest, ask_move))


class TreeArrays:
    """The nodes of both trees (see `broadphase.kernels.tree.nodes`), and what is known of each id."""

    def __init__(self, dim: int, dtype: npt.DTypeLike) -> None:
        self.rows = 2 * dim
        self.scratch = insert_scratch(2 * dim, np.dtype(dtype))
        self.edges: BoxArray = np.empty((0, WIDTH), dtype)
        self.children = np.empty((0, WIDTH), np.int32)
        self.links = np.empty((0, 2), np.int32)
        self.where = np.empty(0, np.int32)
        """The place of each id's slot; -1 where it has none."""
        self.reach: npt.NDArray[np.floating[Any]] = np.empty(0, dtype)
        """How much wider than its box an id's slot is made on every side."""
        self.make_room(_FIRST_NODES)
        clear_nodes(self.edges, self.children, self.links)

    def make_room(self, nodes: int) -> None:
        """Let ``nodes`` more nodes be made."""
        old = len(self.children)
        room = (int(self.children[0, NODES]) if old else 0) + 1 + nodes
        if room > old:
            self._resize(max(room, old + old // 2))

    def make_id_room(self, room: int) -> None:
        """Take ids below ``room``."""
        old = len(self.where)
        if room > old:
            where = np.full(room, -1, np.int32)
            where[:old] = self.where
            reach = np.zeros(room, self.reach.dtype)
            reach[:old] = self.reach
            self.where, self.reach = where, reach

    def _resize(self, room: int) -> None:
        kept = min(len(self.children), room)
        # All arrays are made before one is replaced: memory may run out.
        edges = _aligned((room * self.rows, WIDTH), self.edges.dtype)
        children = _aligned((room, WIDTH), self.children.dtype)
        links = np.empty((room, 2), np.int32)
        edges[: kept * self.rows] = self.edges[: kept * self.rows]
        children[:kept] = self.children[:kept]
        links[:kept] = self.links[:kept]
        self.edges, self.children, self.links = edges, children, links

    def __getstate__(self) -> dict[str, Any]:
        used = int(self.children[0, USED])
        ids = int(np.flatnonzero(self.where >= 0).max(initial=-1)) + 1
        return self.__dict__ | {
            "where": self.where[:ids],
            "reach": self.reach[:ids],
            "edges": self.edges[: used * self.rows],
            "children": self.children[:used],
            "links": self.links[:used],
            "scratch": (),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.scratch = insert_scratch(self.rows, self.edges.dtype)
        self._resize(len(self.children))


class TreeStructure(Structure):
    """The trees of a `broadphase.BoxTree`.

    Parameters
    ----------
    margin : float or None
        As of `broadphase.BoxTree`, checked.
    kept : BoxStore, bool, bool, int or None
        As of `Structure`.
    """

    changes_by_query = 0.1

    def __init__(self, margin: float | None, *kept: Any) -> None:
        store: BoxStore = kept[0]
        # Never infinite, also in float32: a slot must not begin at inf - inf.
        most = float(np.finfo(store.boxes.dtype).max)
        self._reach = -1.0 if margin is None else min(margin, most)
        super().__init__(*kept)

    # ---- the structure follows the boxes

    def reset(self) -> None:
        self._arrays = TreeArrays(self.dim, self.dtype)
        self._unbuilt = [False, False]
        self._leaving = np.empty(0, np.int32)
        if self.store.live:
            self._build_later(MOVING, STATIC_TREE)

    def _build_later(self, *trees: int) -> None:
        for tree in trees:
            self._unbuilt[tree] = True
        self.stale = True

    def refresh(self) -> None:
        self._arrays.make_id_room(self.store.end)
        for tree, ids in self._by_tree(self.store.ids()):
            if self._unbuilt[tree]:
                self._build(tree, ids)
                self._unbuilt[tree] = False

    def _build(self, tree: int, ids: IdArray) -> None:
        store, arrays = self.store, self._arrays
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
            self.reset()  # nodes that hang nowhere
            raise

    def _by_tree(self, ids: IdArray) -> list[tuple[int, IdArray]]:
        """The ids of the moving tree and those of the static one."""
        if not self.store.any_static:
            return [(MOVING, ids), (STATIC_TREE, ids[:0])]
        static = self.store.classes[ids] == STATIC
        return [(MOVING, ids[~static]), (STATIC_TREE, ids[static])]

    def _built(self, ids: IdArray) -> npt.NDArray[np.bool_]:
        """Which of the ids belong to a tree that is not about to be built anew."""
        in_static = self.store.classes[ids] == STATIC
        return np.where(in_static, not self._unbuilt[STATIC_TREE], not self._unbuilt[MOVING])

    def inserted(self, ids: IdArray) -> None:
        if len(ids) > _FEW:
            for tree, own in self._by_tree(ids):
                if len(own) > self._most_changes(tree):
                    self._build_later(tree)
        self._insert(ids, fresh=True)

    def _most_changes(self, tree: int) -> int:
        """How many boxes may come or go before it costs less to build a tree anew."""
        return max(int(self._arrays.children[0, HELD + tree]) // _SHARE, _FEW)

    def _insert(self, ids: IdArray, *, fresh: bool) -> None:
        store, arrays = self.store, self._arrays
        try:
            if len(arrays.where) < len(store.alive):
                arrays.make_id_room(len(store.alive))
            if self.stale:
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

    def removing(self, ids: IdArray) -> None:
        arrays = self._arrays
        if self.stale:
            ids = ids[self._built(ids)]
        try:
            for begin, end in few_at_a_time(len(ids)):
                own = (arrays.where, self.store.classes, ids[begin:end])
                remove_boxes(arrays.edges, arrays.children, arrays.links, *own)
        except BaseException:
            self._build_later(MOVING, STATIC_TREE)
            raise

    def moving(self, ids: IdArray, boxes: BoxArray) -> None:
        if self.store.any_static or self.stale:
            self._leaving = ids[:0]
            static, built = self.store.classes[ids] == STATIC, self._built(ids)
            for tree in (MOVING, STATIC_TREE):
                own = built & (static == (tree == STATIC_TREE))
                if own.any():
                    self._leaving = np.concatenate((self._leaving, self._move(tree, ids[own], boxes[own])))
        else:
            self._leaving = self._move(MOVING, ids, boxes)
        if len(self._leaving):
            self.removing(self._leaving)

    def _move(self, tree: int, ids: IdArray, boxes: BoxArray) -> IdArray:
        """Move boxes of one tree as far as they stay in their leaf; returns the others."""
        store, arrays = self.store, self._arrays
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

    def moved(self, ids: IdArray) -> None:
        if len(self._leaving):
            self._insert(self._leaving, fresh=False)

    def make_room(self, room: int) -> None:
        self._arrays.make_id_room(room)
        self._arrays.make_room(most_nodes(room))

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
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
        return Found(chunks, pairs, tests, self.cell_count())

    def _few_with_static(self, limit: int) -> Found:
        """Pairs of the two trees where few move: each is asked about.

        The leaves of the moving tree reach far then, and meet many static ones for nothing.
        """
        store = self.store
        ids, statics = (own for _, own in self._by_tree(store.ids()))
        queries = store.boxes[ids].astype(np.float64, copy=False)

        def search(begin: int, end: int) -> tuple[PairArray, int]:
            rows, tests = self.find_rows(queries[begin:end], self.touching, NO_RULE, NO_RULE)
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
        store, arrays = self.store, self._arrays
        nodes = (arrays.edges, arrays.children, arrays.links)
        leaves, tests = leaves_that_meet(*nodes, other)
        count = leaves.shape[1]
        loose = arrays.children[0, LOOSE + MOVING] or arrays.children[0, LOOSE + other]
        exact = self.touching and not store.any_sets and not bool(loose)
        # The two trees are what the classes say.
        rules = store.filter()._replace(classes=np.empty(0, np.uint8))
        search = partial(join_leaves, *nodes, leaves, store.boxes, exact, self.touching, rules)
        parts = threads.resolve(self.threads) if count > _ENOUGH_FOR_THREADS else 1
        task = Task(store.boxes, self.touching, rules, parts, limit)
        found = search_in_shares(task, lambda: search, threads.shares(count, parts), ())
        return found._replace(tests=found.tests + tests)

    # ---- questions: down both trees at once; a batch is shared out among threads

    def find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        found: tuple[IdArray, int] = search_box_by_rules(*self._asked(), box, touching, category, mask)
        return found

    def _asked(self) -> tuple[npt.NDArray[Any], ...]:
        """What every query is given."""
        arrays, store = self._arrays, self.store
        return arrays.edges, arrays.children, store.boxes, store.categories, store.masks

    def find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        chunks, tests = self._search(boxes, 0, len(boxes), 8.0, (touching, category, mask))
        return chunks[0] if len(chunks) == 1 else joined_pairs(chunks), tests

    find_some = find_in_boxes  # the kernel sorts

    def in_packets_from(self) -> tuple[float, int]:
        # Where boxes have moved, each hit has to be looked at.
        return (28, 9) if self._arrays.children[0, LOOSE : LOOSE + 2].any() else (48, 16)

    def find_rows(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        if len(boxes) < _ENOUGH_FOR_THREADS:
            return self.find_in_boxes(boxes, touching, category, mask)
        rules = (touching, category, mask)
        # A few of the queries tell how much memory the answers take: growing costs more than asking.
        few = sample_of(boxes)
        sample, _ = self.find_some(few, *rules)
        if len(boxes) >= ENOUGH_FOR_PACKETS:
            in_packets = self._find_in_packets(boxes, *rules, few, sample)
            if in_packets is not None:
                return in_packets
        each = 1.2 * len(sample) / len(few)
        spans = threads.shares(len(boxes), threads.resolve(self.threads))
        rooms = [int(each * (end - begin)) + _FIRST_ROOM for begin, end in spans]
        # One array for all threads: what they find is moved together in it, not copied out of it.
        memory = SharedRows(rooms)
        found = threads.run_all(
            [
                partial(self._search, boxes, *span, each, rules, rows)
                for span, rows in zip(spans, memory.parts, strict=True)
            ]
        )
        tests = sum(made for _, made in found)
        if all(len(chunks) == 1 for chunks, _ in found):
            return memory.gathered([len(chunks[0]) for chunks, _ in found]), tests
        return joined_pairs([chunk for some, _ in found for chunk in some], len(spans)), tests

    def _search(
        self,
        boxes: Rows,
        begin: int,
        end: int,
        each: float,
        rules: tuple[bool, int, int],
        rows: PairArray | None = None,
    ) -> tuple[list[PairArray], int]:
        """What queries ``begin .. end - 1`` find, ``each`` about so much: rows in chunks; and the tests."""
        chunks: list[PairArray] = []
        tests = filled = 0
        first, scratch = begin, self._scratch(QUEUE_ROOM)
        for _, last in growing(end - begin):
            at = begin
            while at < first + last or rows is None:
                if rows is None:
                    rows, filled = pair_array(int(each * (end - at)) + _FIRST_ROOM), 0
                before = at
                asked = (boxes, at, first + last, *rules, self._sort)
                at, found, made, cramped = search_boxes(
                    *self._asked(), self.store.end, *asked, scratch, rows[filled:]
                )
                filled += found
                tests += made
                if cramped:
                    scratch = self._scratch(4 * scratch[1].shape[1])
                elif at < first + last:
                    chunks.append(rows[:filled])
                    rows = None
                    each = 2.0 * max(each, found / max(at - before, 1))
            begin = at
        if rows is not None:
            chunks.append(rows[:filled])
        return chunks, tests

    def _scratch(self, room: int) -> tuple[npt.NDArray[Any], ...]:
        return query_scratch(2 * self.dim, self._arrays.edges.dtype, self.store.end, room)

    def find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        asked = *self._asked(), np.array([ray]), 0, self.touching, category, mask, self._ray_scratch()
        out = np.empty((_FIRST_ROOM, 2), np.int32)
        while True:
            done, rows, tests = search_rays(*asked, out)
            if done == 1:
                return out[:rows, 1].copy(), tests
            out = np.empty((4 * len(out), 2), np.int32)

    def find_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, IdArray, int]:
        rules = (self.touching, category, mask)

        def search(first: int, last: int) -> tuple[PairArray, int]:
            some, scratch = rays[first:last], self._ray_scratch()

            def ask(begin: int, end: int, out: PairArray) -> tuple[int, int, int]:
                answer: tuple[int, int, int] = search_rays(
                    *self._asked(), some[:end], begin, *rules, scratch, out
                )
                return answer

            rows, tests = in_chunks(ask, len(some), 4 * len(some) + _FIRST_ROOM)
            rows[:, 0] += first
            return rows, tests

        found = self._in_shares(len(rays), search)
        rows = found[0][0] if len(found) == 1 else np.concatenate([some for some, _ in found])
        counts = np.bincount(rows[:, 0], minlength=len(rays)).astype(np.int32)
        return rows[:, 1].copy(), counts, sum(made for _, made in found)

    def _ray_scratch(self) -> tuple[npt.NDArray[Any], ...]:
        """Nodes, keys, times and a ray."""
        room = int(stack_room(self._arrays.children))
        return np.empty(room, np.int64), np.empty(room), np.empty((2, WIDTH)), np.empty(2 * self.dim + 1)

    def find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        found: tuple[int, int] = search_first(*self._asked(), ray, self.touching, category, mask)
        if found[1] < 0:  # too tall a tree to be gone through on the stack
            ids, tests = self.find_first_on_rays(np.array([ray]), category, mask)
            return int(ids[0]), tests
        return found

    def find_first_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, int]:
        return self._find_firsts(rays, _NONE, category, mask)

    def find_first_but(
        self, rays: Rows, ignored: IdArray, category: int, mask: int
    ) -> tuple[IdArray, int] | None:
        return self._find_firsts(rays, ignored, category, mask)

    def _find_firsts(self, rays: Rows, ignored: IdArray, category: int, mask: int) -> tuple[IdArray, int]:
        out = np.empty(len(rays), np.int32)
        rules = (self.touching, category, mask, ignored)
        tests = self._shared_out(
            len(rays),
            lambda begin, end: search_firsts(
                *self._asked(), rays, begin, end, *rules, self._ray_scratch(), out
            ),
        )
        return out, sum(tests)

    def find_nearest(self, point: Floats, k: int, category: int, mask: int) -> tuple[IdArray, Distances, int]:
        room, ids = int(stack_room(self._arrays.children)), np.empty((1, k), np.int32)
        scratch = (np.empty(room, np.int64), np.empty(room), np.empty(WIDTH), np.empty(k))
        tests = search_nearest(*self._asked(), np.array([point]), 0, 1, category, mask, scratch, ids)
        found, distances = self.ranked(ids[ids >= 0], point)
        return found, distances, tests

    def find_nearest_many(self, points: Rows, k: int, category: int, mask: int) -> tuple[IdArray, int]:
        out = np.empty((len(points), k), np.int32)
        order = None
        if len(points) >= _ENOUGH_QUESTIONS:
            from broadphase.methods.nearest import side_by_side  # here: four files that few need

            order = side_by_side(points)
        asked = points if order is None else points[order]
        room = int(stack_room(self._arrays.children))

        def search(begin: int, end: int) -> Any:
            scratch = (np.empty(room, np.int64), np.empty(room), np.empty(WIDTH), np.empty(k))
            return search_nearest(*self._asked(), asked, begin, end, category, mask, scratch, out)

        tests = self._shared_out(len(points), search)
        if order is not None:
            found, out = out, np.empty_like(out)
            out[order] = found
        return out, sum(tests)

    def _shared_out(self, count: int, search: Callable[[int, int], Any]) -> list[Any]:
        """Let several threads search, each a share of so many questions, where there are enough of them."""

        def some(begin: int, end: int) -> list[Any]:
            return [search(begin + first, begin + last) for first, last in growing(end - begin)]

        return [answer for part in self._in_shares(count, some) for answer in part]

    def _in_shares(self, count: int, search: Callable[[int, int], Any]) -> list[Any]:
        """The same, where each share is searched at once."""
        parts = threads.resolve(self.threads) if count >= _ENOUGH_QUESTIONS else 1
        return threads.run_all([partial(search, *span) for span in threads.shares(count, parts)])

    # ---- one question or one move, with what a caller wrote

    def ask_box(self, values: Given) -> tuple[IdArray, int] | None:
        arrays = self._arrays
        answer: tuple[IdArray, int] | None = _try_box(
            arrays.edges, arrays.children, self.store.boxes, values, self.touching
        )
        return answer

    def ask_ray(
        self, origin: Given, direction: Given, furthest: float
    ) -> tuple[int, int, float, float, float, float] | None:
        arrays = self._arrays
        answer: tuple[int, int, float, float, float, float] | None = _try_ray(
            arrays.edges, arrays.children, self.store.boxes, origin, direction, furthest, self.touching
        )
        return answer

    def ask_nearest(self, point: Given, k: int) -> tuple[IdArray, Distances, int] | None:
        arrays = self._arrays
        answer: tuple[IdArray, Distances, int] | None = _try_nearest(
            arrays.edges, arrays.children, self.store.boxes, point, k
        )
        return answer

    def ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        store, arrays = self.store, self._arrays
        if store.any_static:
            return False
        done = _try_move(
            arrays.edges, arrays.children, arrays.links, arrays.where, store.boxes, arrays.reach,
            store.alive, store.end, id, values, self._reach, STEPS,
        )  # fmt: skip
        if done == LEAVES:
            ids = np.array([id], np.int32)
            self.removing(ids)
            self._insert(ids, fresh=False)
        return done is not None and done != REFUSED

    # ---- about itself

    def cell_count(self) -> int:
        return int(self._arrays.children[0, NODES])

    def check(self) -> None:
        check_tree(self._arrays, self.store)


def _aligned(shape: tuple[int, int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """An array whose rows begin where cache lines do: else every vector of 64 bytes lies on two of them."""
    size = shape[0] * shape[1] * dtype.itemsize
    memory = np.empty(size + _CACHE_LINE, np.uint8)
    begin = -memory.ctypes.data % _CACHE_LINE
    return memory[begin : begin + size].view(dtype).reshape(shape)


def check_tree(arrays: TreeArrays, store: BoxStore) -> None:
    """Raise ``AssertionError`` where the nodes, the places and the boxes contradict each other."""
    in_use = [_check_levels(arrays, store, tree) for tree in (0, 1)]
    nodes = np.concatenate([np.empty(0, np.int64), *in_use])
    used = int(arrays.children[0, USED])
    free: list[int] = []
    node = int(arrays.children[0, FREE])
    while node and len(free) < used:
        free.append(node)
        node = int(arrays.links[node, ABOVE])
    expect(sorted([*nodes.tolist(), *free]) == list(range(1, used)), "every node is in use or free")
    expect(int(arrays.children[0, NODES]) == len(nodes), "nodes are counted")


def _check_levels(arrays: TreeArrays, store: BoxStore, tree: int) -> npt.NDArray[Any]:
    """Walk a tree level by level; returns its nodes."""
    root, height = int(arrays.children[0, tree]), int(arrays.children[0, HEIGHT + tree])
    wanted = store.ids()[store.classes[store.ids()] == tree]
    expect((root > 0) == (height > 0) == (len(wanted) > 0), "an empty tree has no root")
    expect(int(arrays.children[0, HELD + tree]) == len(wanted), "the boxes of a tree are counted")
    seen = [np.empty(0, np.int64)]
    level = np.array([root] if root else [], np.int64)
    places = np.array([tree] if root else [], np.int64)
    for depth in range(height):
        expect(np.array_equal(arrays.links[level, ABOVE], places), "a node knows its place")
        counts = arrays.links[level, COUNT]
        expect(bool(((counts >= 1) & (counts <= WIDTH)).all()), "no node is empty or overfull")
        expect(depth == height - 1 or depth > 0 or counts[0] > 1, "a root has several children")
        slots = np.arange(WIDTH) < counts[:, None]
        edges = arrays.edges.reshape(-1, arrays.rows, WIDTH)[level]
        expect(bool((np.isnan(edges) == ~slots[:, None, :]).all()), "unused slots hold nan")
        above = arrays.edges.reshape(-1, arrays.rows, WIDTH)[places // WIDTH, :, places % WIDTH]
        expect(_inside(edges.transpose(0, 2, 1), above[:, None, :], slots), "a slot holds what is below it")
        seen.append(level)
        places = (level[:, None] * WIDTH + np.arange(WIDTH))[slots]
        level = arrays.children[level].astype(np.int64)[slots]
    if root:
        expect(np.array_equal(np.sort(level), wanted), "the leaves hold the boxes of their tree, each once")
        expect(np.array_equal(arrays.where[level], places), "an id knows its place")
        boxes = arrays.edges.reshape(-1, arrays.rows, WIDTH)[places // WIDTH, :, places % WIDTH]
        expect(_inside(store.boxes[level], boxes, np.ones(len(level), bool)), "a slot holds its box")
        tight = bool((store.boxes[level] == boxes).all())
        expect(tight or bool(arrays.children[0, LOOSE + tree]), "a loose slot is known")
    return np.concatenate(seen)


def _inside(inner: npt.NDArray[Any], outer: npt.NDArray[Any], which: npt.NDArray[np.bool_]) -> bool:
    dim = inner.shape[-1] // 2
    inside = (outer[..., :dim] <= inner[..., :dim]) & (inner[..., dim:] <= outer[..., dim:])
    return bool(np.all(inside, axis=-1)[which].all())
