"""What a `BoxTree` is asked: boxes, rays and nearest ids, one by one and in batches.

A question goes down both trees at once; a batch is shared out among threads.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.indexes.answering import ENOUGH_FOR_PACKETS, sample_of
from broadphase.indexes.arguments import Floats, Rows
from broadphase.indexes.base import Index
from broadphase.indexes.results import Distances
from broadphase.indexes.storage import IdArray
from broadphase.indexes.tree_arrays import TreeArrays
from broadphase.kernels.tree.nearest import search_nearest
from broadphase.kernels.tree.nodes import LOOSE, WIDTH, stack_room
from broadphase.kernels.tree.query import QUEUE_ROOM, query_scratch, search_boxes
from broadphase.kernels.tree.query_one import search_box_by_rules
from broadphase.kernels.tree.ray import search_first, search_firsts, search_rays
from broadphase.memory import SharedRows, pair_array
from broadphase.pair_order import joined_pairs
from broadphase.slices import growing, in_chunks

_FIRST_ROOM = 64
_ENOUGH_FOR_THREADS = 2_000
_ENOUGH_QUESTIONS = 200
_NONE = np.empty(0, np.int32)


class TreeQueries(Index):
    """The part of `broadphase.BoxTree` that answers questions."""

    _arrays: TreeArrays

    def _find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        found: tuple[IdArray, int] = search_box_by_rules(*self._asked(), box, touching, category, mask)
        return found

    def _asked(self) -> tuple[npt.NDArray[Any], ...]:
        """What every query is given."""
        arrays, store = self._arrays, self._store
        return arrays.edges, arrays.children, store.boxes, store.categories, store.masks

    def _find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        chunks, tests = self._search(boxes, 0, len(boxes), 8.0, (touching, category, mask))
        return chunks[0] if len(chunks) == 1 else joined_pairs(chunks), tests

    _find_some = _find_in_boxes  # the kernel sorts

    def _in_packets_from(self) -> tuple[float, int]:
        # Where boxes have moved, each hit has to be looked at.
        return (28, 9) if self._arrays.children[0, LOOSE : LOOSE + 2].any() else (48, 16)

    def _find_rows(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        if len(boxes) < _ENOUGH_FOR_THREADS:
            return self._find_in_boxes(boxes, touching, category, mask)
        rules = (touching, category, mask)
        # A few of the queries tell how much memory the answers take: growing costs more than asking.
        few = sample_of(boxes)
        sample, _ = self._find_some(few, *rules)
        if len(boxes) >= ENOUGH_FOR_PACKETS:
            in_packets = self._find_in_packets(boxes, *rules, few, sample)
            if in_packets is not None:
                return in_packets
        each = 1.2 * len(sample) / len(few)
        spans = threads.shares(len(boxes), threads.resolve(self._threads))
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
                    *self._asked(), self._store.end, *asked, scratch, rows[filled:]
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
        return query_scratch(2 * self.dim, self._arrays.edges.dtype, self._store.end, room)

    def _find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        asked = *self._asked(), np.array([ray]), 0, self._touching, category, mask, self._ray_scratch()
        out = np.empty((_FIRST_ROOM, 2), np.int32)
        while True:
            done, rows, tests = search_rays(*asked, out)
            if done == 1:
                return out[:rows, 1].copy(), tests
            out = np.empty((4 * len(out), 2), np.int32)

    def _find_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, IdArray, int]:
        rules = (self._touching, category, mask)

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

    def _find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        found: tuple[int, int] = search_first(*self._asked(), ray, self._touching, category, mask)
        if found[1] < 0:  # too tall a tree to be gone through on the stack
            ids, tests = self._find_first_on_rays(np.array([ray]), category, mask)
            return int(ids[0]), tests
        return found

    def _find_first_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, int]:
        return self._find_firsts(rays, _NONE, category, mask)

    def _find_first_but(
        self, rays: Rows, ignored: IdArray, category: int, mask: int
    ) -> tuple[IdArray, int] | None:
        return self._find_firsts(rays, ignored, category, mask)

    def _find_firsts(self, rays: Rows, ignored: IdArray, category: int, mask: int) -> tuple[IdArray, int]:
        out = np.empty(len(rays), np.int32)
        rules = (self._touching, category, mask, ignored)
        tests = self._shared_out(
            len(rays),
            lambda begin, end: search_firsts(
                *self._asked(), rays, begin, end, *rules, self._ray_scratch(), out
            ),
        )
        return out, sum(tests)

    def _find_nearest(
        self, point: Floats, k: int, category: int, mask: int
    ) -> tuple[IdArray, Distances, int]:
        room, ids = int(stack_room(self._arrays.children)), np.empty((1, k), np.int32)
        scratch = (np.empty(room, np.int64), np.empty(room), np.empty(WIDTH), np.empty(k))
        tests = search_nearest(*self._asked(), np.array([point]), 0, 1, category, mask, scratch, ids)
        found, distances = self._ranked(ids[ids >= 0], point)
        return found, distances, tests

    def _find_nearest_many(self, points: Rows, k: int, category: int, mask: int) -> tuple[IdArray, int]:
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
        parts = threads.resolve(self._threads) if count >= _ENOUGH_QUESTIONS else 1
        return threads.run_all([partial(search, *span) for span in threads.shares(count, parts)])
