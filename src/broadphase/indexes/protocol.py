"""The protocol of all structures: what a new one has to say, and what it gets for it.

An index is boxes by id (`broadphase.indexes.storage`), a structure and a space.  Everything that users call
is written in `broadphase.indexes.base.Index`, once, and behaves the same in every index: ids, arguments and
their errors, sorting, ``changes``, batches, ``save``, ``copy``.  The space (`plain_space`, `periodic_space`,
`environments`) says where the world begins again and who meets whom.  A structure says where boxes are: it is
a subclass of `Structure` and fills in what follows.  It is given checked input and returns what it found in
any order.

How to write a structure
------------------------
1. One file, opening with the idea, its source, its cost and when it loses.  A constructor that sets its own
   options and *then* calls ``super().__init__(*kept)``.
2. Choose how the structure follows the boxes.

   *Built when asked for*: write ``refresh``.  By default every change is noted in ``stale``, and ``refresh``
   runs once before the next read, under a lock.

   *Kept up to date*: override ``inserted``, ``removing``, ``moving`` or ``moved``, and ``reset``, which
   builds everything from the stored boxes (it is called by the constructor, ``clear`` and ``load``).

   A change that is interrupted leaves ``stale`` set, or is followed by ``reset``: nothing is undone by hand.
3. ``find_pairs``.  For a method that `broadphase.methods` has: ``return self.search_live(find, limit,
   scratch)``.
4. As many of the ``find_...`` queries as the structure makes faster; the rest look at every box.
   The geometry is in `kernels.boxes.query_tests`, and must be used as it is: the answers of all indexes
   are compared bit for bit.  Prune with the same functions on a node's box (they are monotone).
5. ``changes_by_query = 0.1``, or the share at which a batch of ``find_in_boxes`` begins to cost more than
   ``find_pairs``: ``changes`` then costs what was touched since the call before, not all pairs.  Nothing
   else is to be done for it: `broadphase.indexes.journal` notes what is touched, `incremental` compares.  The
   batch is asked by several threads at once, each with a part of it.
6. ``ask_box``, ``ask_ray``, ``ask_nearest`` and ``ask_move``, where one call must cost next to nothing:
   a kernel reads what the caller wrote.  Who has none gets it read by `arguments.Reader`, in Python.
7. ``check`` for the invariants, ``cell_count`` for the statistics.
8. A class of a few lines in `broadphase.indexes.classes`, which makes the structure and documents its
   options, and its name in `broadphase.indexes.registry`.  That enters the index into the stateful test, the
   error tests and the state tests.

What a structure may rely on
----------------------------
- ``self.store`` (`broadphase.indexes.storage.BoxStore`): ``boxes[id]``, ``alive``, ``classes``,
  ``categories``, ``masks`` by id; ``end`` is one more than the largest id ever used; the rows of free ids
  hold NaN.  Its arrays are replaced when they grow: read them anew in every call, never keep one.
- Ids come as int32 arrays without repetition, ascending except in ``moving`` and ``moved``.
- ``copy`` and pickling copy the whole ``__dict__``: keep state in NumPy arrays, numbers and lists.  Mark what
  can be made again in ``UNSAVED``.
- Many threads may read at once: a query keeps its scratch memory to itself (made for the call or taken from
  a pool), and writes to no attribute.
- A change that fails for lack of memory must do so before it changed anything, or leave ``stale`` set.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.errors import PairLimitExceeded
from broadphase.indexes.arguments import Floats, Given, Rows
from broadphase.indexes.journal import History
from broadphase.indexes.results import Distances, PairChanges
from broadphase.indexes.storage import BoxStore, IdArray
from broadphase.kernels.boxes import ranking, scan
from broadphase.memory import Scratch, borrowed_scratch
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.pair_order import joined_pairs, one_array, sort_rows_of_each
from broadphase.slices import in_chunks

_FIRST_ROWS = 64
# Fewer queries a thread than this are answered faster than they are handed over.
_SHARE = 1_000
ENOUGH_FOR_PACKETS = 4_000
_SAMPLE = 64


def sample_of(boxes: Rows) -> Rows:
    """A few of the queries, which tell what the others are like."""
    return np.ascontiguousarray(boxes[:: max(len(boxes) // _SAMPLE, 1)])


class Structure(ABC):
    """Where the boxes of an index are; nearly each part has a default that is correct."""

    answers_boxes_quickly: ClassVar[bool] = True
    """Whether a box query looks at few boxes; ``join`` asks the larger index then."""
    nearest_by_cells: ClassVar[bool] = True
    """Whether many points may ask `broadphase.methods.nearest` for their nearest boxes."""
    changes_by_query: ClassVar[float] = 0.0
    """Up to this share of touched boxes, ``changes`` asks `find_in_boxes` about them instead of finding all
    pairs again."""
    UNSAVED: ClassVar[frozenset[str]] = frozenset({"_lock"})
    """Attributes that neither copies nor pickles carry."""

    query_axis: int = 0
    """Neighbours in a batch of such queries are neighbours on this axis."""

    def __init__(self, store: BoxStore, touching: bool, sort: bool, threads: int | None) -> None:
        self.store, self.touching, self._sort, self.threads = store, touching, sort, threads
        self._lock = Lock()
        self.stale = False
        """Whether the boxes have changed since the structure followed them."""
        self.reset()

    @property
    def dim(self) -> int:
        """2 or 3."""
        return int(self.store.boxes.shape[1]) // 2

    @property
    def dtype(self) -> "np.dtype[Any]":
        """What the boxes are kept in."""
        return self.store.boxes.dtype

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in self.UNSAVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    # ---- the structure follows the boxes

    def inserted(self, ids: IdArray) -> None:
        """These ids were added; their rows are written."""
        self.stale = True

    def removing(self, ids: IdArray) -> None:
        """These ids are about to go; their rows are still there."""
        self.stale = True

    def moving(self, ids: IdArray, boxes: BoxArray) -> None:
        """``boxes`` are about to be written; the rows still hold where the boxes were.

        ``ids is self.store.ids()`` when all live boxes are replaced at once.
        """
        self.stale = True

    def moved(self, ids: IdArray) -> None:  # noqa: B027 - nothing to do is a good default
        """The new rows are written: called after `moving`, for an index that does not need the old."""

    def reset(self) -> None:
        """Build everything from the stored boxes; there may be none."""
        self.stale = True

    def refresh(self) -> None:  # noqa: B027 - nothing to do is a good default
        """Bring what is built when asked for up to date.  One thread at a time is in here."""

    def make_room(self, room: int) -> None:  # noqa: B027 - nothing to do is a good default
        """``reserve`` was called for this many ids in all."""

    # ---- pairs

    @abstractmethod
    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """All pairs of ids that overlap and may count, in any order; the chunks are copied at once.

        Once more than ``limit`` are found, the search may stop.  The chunks may lie in ``scratch``.
        """

    def find_changes(self, history: History) -> tuple[PairChanges, int] | None:
        """Against the last call, and the tests made; afterwards no id is ``renewed``.

        None where this structure knows no better than to compare all pairs, or to ask about what was touched.
        """
        return None

    def compare_all(self) -> None:  # noqa: B027 - nothing to do is a good default
        """What the last call of ``changes`` saw is not what this structure remembers."""

    # ---- queries: `category` and `mask` are -1 where the caller set none

    def find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Ids whose box overlaps ``box``, and the tests made; sorted if up to `FEW` were found.

        ``touching`` is not always the index's own: a radius first asks for the closed box around it.
        """
        store = self.store
        found: tuple[IdArray, int] = scan.scan_for_box(
            store.boxes, store.end, store.categories, store.masks, box, touching, category, mask
        )
        return found

    def find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Rows ``[query, id]`` for a batch, ordered by query; and the tests made."""
        store = self.store

        def ask(begin: int, end: int, out: PairArray) -> tuple[int, int, int]:
            rows = (store.boxes, store.end, store.categories, store.masks)
            answer: tuple[int, int, int] = scan.scan_for_boxes(
                *rows, boxes[:end], begin, out, touching, category, mask
            )
            return answer

        return in_chunks(ask, len(boxes), 4 * len(boxes) + _FIRST_ROWS)

    def in_packets_from(self) -> tuple[float, int]:
        """With how many hits a query, and queries a packet, a batch is answered sooner in packets.

        See `broadphase.methods.packets`; who looks at every box (`answers_boxes_quickly`) has none.
        """
        return 16, 5

    def find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        """Ids of all boxes that the ray ``(origin..., direction..., max_distance)`` hits, and the tests."""
        store = self.store
        found: tuple[IdArray, int] = scan.scan_for_ray(
            store.boxes, store.end, store.categories, store.masks, ray, self.touching, category, mask
        )
        return found

    def find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        """The id that is hit first, the lowest among equals, or -1; and the tests."""
        store = self.store
        found: tuple[int, int] = scan.scan_for_first(
            store.boxes, store.end, store.categories, store.masks, ray, self.touching, category, mask
        )
        return found

    def find_nearest(self, point: Floats, k: int, category: int, mask: int) -> tuple[IdArray, Distances, int]:
        """The ``k`` nearest by distance, then id (``1 <= k <= len``; fewer if the rules leave fewer).

        Ids, distances, and the tests.
        """
        store = self.store
        found: tuple[IdArray, Distances, int] = scan.scan_for_nearest(
            store.boxes, store.end, store.categories, store.masks, point, k, category, mask
        )
        return found

    def ranked(self, ids: IdArray, point: Floats) -> tuple[IdArray, Distances]:
        """Some ids by distance, then id, and the distances."""
        distances = np.empty(len(ids))
        ranking.rank_nearest_one(self.store.boxes, ids, point, distances)
        return ids, distances

    # ---- at once, with what a caller wrote as tuples: None where there is no such way, or it is refused

    def ask_box(self, values: Given) -> tuple[IdArray, int] | None:
        """As `find_in_box`, with the index's own ``touching``; tests below 0: ask the ordinary way."""
        return None

    def ask_ray(
        self, origin: Given, direction: Given, furthest: float
    ) -> tuple[int, int, float, float, float, float] | None:
        """As `find_first_on_ray`, and the distance and the normal on three axes."""
        return None

    def ask_nearest(self, point: Given, k: int) -> tuple[IdArray, Distances, int] | None:
        """As `find_nearest`."""
        return None

    def ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        """Move a box altogether, row and structure; False, and nothing has changed, where that is refused.

        Called only while nothing is ``_stale`` and the journal is closed.
        """
        return False

    # ---- batches: a subclass overrides these where a loop in a kernel pays

    def find_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, IdArray, int]:
        """The ids hit by every ray, one ray's after the other's; how many each has; and the tests."""
        found = [self.find_on_ray(tuple(ray), category, mask) for ray in rays.tolist()]
        ids = np.concatenate([np.empty(0, np.int32), *(hits for hits, _ in found)])
        return ids, np.array([len(hits) for hits, _ in found], np.int32), sum(tests for _, tests in found)

    def find_first_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, int]:
        """The id that each ray hits first, or -1; and the tests."""
        found = [self.find_first_on_ray(tuple(ray), category, mask) for ray in rays.tolist()]
        return np.array([hit for hit, _ in found], np.int32), sum(tests for _, tests in found)

    def find_first_but(
        self, rays: Rows, ignored: IdArray, category: int, mask: int
    ) -> tuple[IdArray, int] | None:
        """The same without the box that each ray ignores, -1 for none; None where there is no such way."""
        return None

    def find_nearest_many(self, points: Rows, k: int, category: int, mask: int) -> tuple[IdArray, int]:
        """The ``k`` nearest ids of each point in any order: ``(m, k)``, filled up with -1; and the tests."""
        ids = np.full((len(points), k), -1, np.int32)
        total = 0
        for row, point in enumerate(points.tolist()):
            found, _, tests = self.find_nearest(tuple(point), k, category, mask)
            ids[row, : len(found)] = found
            total += tests
        return ids, total

    def find_rows(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Rows for a batch of boxes in the order that was promised; threads share a large one."""
        if len(boxes) >= ENOUGH_FOR_PACKETS and self.answers_boxes_quickly:
            few = sample_of(boxes)
            rows, _ = self.find_some(few, touching, category, mask)
            in_packets = self._find_in_packets(boxes, touching, category, mask, few, rows)
            if in_packets is not None:
                return in_packets
        parts = max(min(threads.resolve(self.threads), len(boxes) // _SHARE), 1)

        def find(begin: int, end: int) -> tuple[IdArray, int]:
            rows, tests = self.find_some(boxes[begin:end], touching, category, mask)
            rows[:, 0] += begin
            return rows, tests

        found = threads.run_all([partial(find, *span) for span in threads.shares(len(boxes), parts)])
        if parts == 1:
            return found[0]
        return joined_pairs([rows for rows, _ in found], parts), sum(tests for _, tests in found)

    def find_some(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Rows for some boxes in the order that was promised."""
        rows, tests = self.find_in_boxes(boxes, touching, category, mask)
        if self._sort:
            sort_rows_of_each(rows, self.store.end)
        return rows, tests

    def _find_in_packets(
        self, boxes: Rows, touching: bool, category: int, mask: int, few: Rows, sample: PairArray
    ) -> tuple[IdArray, int] | None:
        """Rows for a batch that meets much, if the ``sample``, those for a few of its boxes, is so large."""
        hits, together = self.in_packets_from()
        if len(sample) < hits * len(few):
            return None
        from broadphase.methods import packets  # here: few programs need it

        ask = partial(self.find_some, touching=True, category=category, mask=mask)
        parts = threads.resolve(self.threads)
        return packets.find(ask, self.store.boxes, boxes, touching, few, sample, together, parts)

    # ---- about itself

    def cell_count(self) -> int:
        """How many cells, nodes or strips are in use."""
        return 0

    def swap_count(self) -> int:
        """How many swaps the last read needed to bring a sorted order up to date."""
        return 0

    def check(self) -> None:  # noqa: B027 - nothing to do is a good default
        """Raise ``AssertionError`` (`broadphase.indexes.storage.expect`) if an invariant is broken."""

    # ---- what the hooks may call

    def ready(self) -> None:
        """Refresh what is stale.  Every read does this first."""
        if self.stale:
            with self._lock:
                if self.stale:
                    self.refresh()
                    self.stale = False

    def search_live(self, find: Callable[[Task], Found], limit: int, scratch: Scratch) -> Found:
        """Let a method of `broadphase.methods` search the live boxes, and turn its rows into ids."""
        store = self.store
        parts = threads.resolve(self.threads)
        found = find(
            Task(store.live_boxes(), self.touching, store.live_filter(), parts, limit, scratch=scratch)
        )
        if store.live == store.end:
            return found
        ids = store.ids()
        return found._replace(chunks=[ids[chunk] for chunk in found.chunks])

    def all_pairs(
        self,
        *,
        sort: bool,
        limit: int = NO_LIMIT,
        find: Callable[[int, Scratch], Found] | None = None,
    ) -> tuple[PairArray, int]:
        """`find_pairs`, or what ``find`` finds in its place, as an array of their own; and the tests made."""
        if self.store.live < 2:
            return np.empty((0, 2), np.int32), 0
        with borrowed_scratch() as scratch:
            found = (find or self.find_pairs)(limit, scratch)
            if found.pairs > limit:
                raise PairLimitExceeded(limit)
            parts = threads.resolve(self.threads)
            sorting = sort and not found.ordered
            return one_array(found.chunks, self.store.end, sorting, scratch, parts), found.tests


def find_in_parts(
    find: Callable[[int, int], tuple[PairArray, int]], count: int, others: int, limit: int
) -> tuple[PairArray, int]:
    """Ask about ``count`` boxes, each of which may meet ``others``, without finding far more than ``limit``.

    ``find(begin, end)`` gives pairs and tests.  Without a limit it is called once.
    """
    each = count if limit == NO_LIMIT else max(limit // max(others, 1), 1)
    chunks = [np.empty((0, 2), np.int32)]
    found = tests = 0
    for begin in range(0, count, max(each, 1)):
        pairs, made = find(begin, min(begin + each, count))
        chunks.append(pairs)
        found += len(pairs)
        tests += made
        if found > limit:
            break
    return np.concatenate(chunks) if len(chunks) > 2 else chunks[-1], tests
