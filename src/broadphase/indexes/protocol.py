"""The one protocol of all indexes: what a new one has to say, and what it gets for it.

An index is a subclass of `broadphase.indexes.base.Index`.  Everything that users call is written there,
once, and behaves the same in every index: ids, arguments and their errors, sorting, ``changes``, batches,
``save``, ``copy``.  A subclass fills in the hooks below.  They are given checked input and return what they
found in any order.

How to write an index
---------------------
1. One file, opening with the idea, its source, its cost and when it loses.  A class with ``name`` and a
   constructor that sets its own options and *then* calls ``super().__init__(**common)``; ``_options``
   returns those options, for ``save`` and ``repr``.
2. Choose how the structure follows the boxes.

   *Built when asked for*: write ``_refresh``.  The default hooks note every change in ``_stale``, and
   ``_refresh`` runs once before the next read, under a lock.

   *Kept up to date*: override ``_inserted``, ``_removing``, ``_moving`` or ``_moved``, and ``_reset``, which
   builds everything from the stored boxes (it is called by the constructor, ``clear`` and ``load``).
3. ``_find_pairs``.  For a method that `broadphase.methods` has: ``return self._search_live(find, limit,
   scratch)``.
4. As many of the ``_find_...`` queries as the structure makes faster; the rest look at every box.
   The geometry is in `kernels.boxes.query_tests`, and must be used as it is: the answers of all indexes
   are compared bit for bit.  Prune with the same functions on a node's box (they are monotone).
5. ``_changes_by_query = 0.1``, or the share at which a batch of ``_find_in_boxes`` begins to cost more than
   ``_find_pairs``: ``changes`` then costs what was touched since the call before, not all pairs.  Nothing
   else is to be done for it: `broadphase.indexes.journal` notes what is touched, `incremental` compares.  The
   batch is asked by several threads at once, each with a part of it.
6. ``_ask_box``, ``_ask_ray``, ``_ask_nearest`` and ``_ask_move``, where one call must cost next to nothing:
   a kernel reads what the caller wrote.  Who has none gets it read by `arguments.Reader`, in Python.
7. ``_check`` for the invariants, ``_cell_count`` for the statistics.
8. One line in `CLASSES` of `broadphase.indexes.registry`, its name in ``Name`` there.  That enters the index
   into the stateful test, the error tests and the state tests.

What the hooks may rely on
--------------------------
- ``self._store`` (`broadphase.indexes.storage.BoxStore`): ``boxes[id]``, ``alive``, ``classes``,
  ``categories``, ``masks`` by id; ``end`` is one more than the largest id ever used; the rows of free ids
  hold NaN.  Its arrays are replaced when they grow: read them anew in every call, never keep one.
- Ids come as int32 arrays without repetition, ascending except in ``_moving`` and ``_moved``.
- ``copy`` and pickling copy the whole ``__dict__``: keep state in NumPy arrays, numbers and lists.  Mark what
  can be made again in ``_UNSAVED``.
- Many threads may read at once: a query keeps its scratch memory to itself (made for the call or taken from
  a pool), and writes to no attribute.
- A hook that fails for lack of memory must do so before it changed anything, or leave ``_stale`` set.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.errors import PairLimitExceeded
from broadphase.indexes.arguments import Floats, Given, Reader, Rows
from broadphase.indexes.journal import History, Journal
from broadphase.indexes.results import Distances, PairChanges
from broadphase.indexes.storage import BoxStore, IdArray
from broadphase.kernels.boxes import ranking, scan
from broadphase.memory import Scratch, borrowed_scratch
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.pair_order import one_array
from broadphase.slices import in_chunks

_FIRST_ROWS = 64


class Hooks(ABC):
    """What differs between indexes, nearly each with a default that is correct."""

    name: ClassVar[str]
    """What `broadphase.make_index` calls it."""
    answers_boxes_quickly: ClassVar[bool] = True
    """Whether a box query looks at few boxes; ``join`` asks the larger index then."""
    nearest_by_cells: ClassVar[bool] = True
    """Whether many points may ask `broadphase.methods.nearest` for their nearest boxes."""
    many: ClassVar[bool] = False
    """Whether boxes of it are in different environments: see `broadphase.indexes.many_worlds`."""
    _UNSAVED: ClassVar[frozenset[str]] = frozenset({"_lock"})
    """Attributes that neither copies nor pickles carry."""

    _store: BoxStore
    _reader: Reader
    _touching: bool
    _sort: bool
    _threads: int | None
    _stale: bool
    _lock: threading.Lock
    period: Any
    _history: History
    """The pairs at the last call of ``changes``."""
    _journal: Journal
    """The boxes that were touched since."""

    _changes_by_query: ClassVar[float] = 0.0
    """Up to this share of touched boxes, ``changes`` asks `_find_in_boxes` about them instead of finding
    all pairs anew."""

    _query_axis: int = 0
    """Neighbours in a batch of such queries are neighbours on this axis."""

    # ---- the structure follows the boxes

    def _inserted(self, ids: IdArray) -> None:
        """These ids were added; their rows are written."""
        self._stale = True

    def _removing(self, ids: IdArray) -> None:
        """These ids are about to go; their rows are still there."""
        self._stale = True

    def _moving(self, ids: IdArray, boxes: BoxArray) -> None:
        """``boxes`` are about to be written; the rows still hold where the boxes were.

        ``ids is self._store.ids()`` when all live boxes are replaced at once.
        """
        self._stale = True

    def _moved(self, ids: IdArray) -> None:  # noqa: B027 - nothing to do is a good default
        """The new rows are written: called after `_moving`, for an index that does not need the old."""

    def _reset(self) -> None:
        """Build everything from the stored boxes; there may be none."""
        self._stale = True

    def _refresh(self) -> None:  # noqa: B027 - nothing to do is a good default
        """Bring what is built when asked for up to date.  One thread at a time is in here."""

    def _make_room(self, room: int) -> None:  # noqa: B027 - nothing to do is a good default
        """``reserve`` was called for this many ids in all."""

    @abstractmethod
    def _take_envs(self, ids: IdArray, envs: npt.NDArray[np.int64]) -> None:
        """These ids, just written and not yet `_inserted`, are of such environments."""

    # ---- pairs

    @abstractmethod
    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """All pairs of ids that overlap and may count, in any order; the chunks are copied at once.

        Once more than ``limit`` are found, the search may stop.  The chunks may lie in ``scratch``.
        """

    @abstractmethod
    def _find_changes(self) -> tuple[PairChanges, int]:
        """Against the last call, and the tests made; afterwards no id is ``renewed``.

        `broadphase.indexes.base.Index` does it for all.  An index that knows what began and ended
        overrides this, `_baseline` and `_set_baseline`.
        """

    def _baseline(self) -> PairArray:
        """The sorted pairs at the last call of ``changes``, for ``save``."""
        return self._history.pairs()

    def _set_baseline(self, pairs: PairArray) -> None:
        """What `_baseline` returned, after ``load`` has filled the store and called `_reset`.

        It may name ids that are no longer in use, and pairs whose ids have been ``renewed`` since.
        """
        self._history = History(pairs)

    # ---- queries: `category` and `mask` are -1 where the caller set none

    def _find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Ids whose box overlaps ``box``, and the tests made; sorted if up to `FEW` were found.

        ``touching`` is not always the index's own: a radius first asks for the closed box around it.
        """
        store = self._store
        found: tuple[IdArray, int] = scan.scan_for_box(
            store.boxes, store.end, store.categories, store.masks, box, touching, category, mask
        )
        return found

    def _find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Rows ``[query, id]`` for a batch, ordered by query; and the tests made."""
        store = self._store

        def ask(begin: int, end: int, out: PairArray) -> tuple[int, int, int]:
            rows = (store.boxes, store.end, store.categories, store.masks)
            answer: tuple[int, int, int] = scan.scan_for_boxes(
                *rows, boxes[:end], begin, out, touching, category, mask
            )
            return answer

        return in_chunks(ask, len(boxes), 4 * len(boxes) + _FIRST_ROWS)

    def _in_packets_from(self) -> tuple[float, int]:
        """With how many hits a query, and queries a packet, a batch is answered sooner in packets.

        See `broadphase.methods.packets`; who looks at every box (`answers_boxes_quickly`) has none.
        """
        return 16, 5

    def _find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        """Ids of all boxes that the ray ``(origin..., direction..., max_distance)`` hits, and the tests."""
        store = self._store
        found: tuple[IdArray, int] = scan.scan_for_ray(
            store.boxes, store.end, store.categories, store.masks, ray, self._touching, category, mask
        )
        return found

    def _find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        """The id that is hit first, the lowest among equals, or -1; and the tests."""
        store = self._store
        found: tuple[int, int] = scan.scan_for_first(
            store.boxes, store.end, store.categories, store.masks, ray, self._touching, category, mask
        )
        return found

    def _find_nearest(
        self, point: Floats, k: int, category: int, mask: int
    ) -> tuple[IdArray, Distances, int]:
        """The ``k`` nearest by distance, then id (``1 <= k <= len``; fewer if the rules leave fewer).

        Ids, distances, and the tests.
        """
        store = self._store
        found: tuple[IdArray, Distances, int] = scan.scan_for_nearest(
            store.boxes, store.end, store.categories, store.masks, point, k, category, mask
        )
        return found

    def _ranked(self, ids: IdArray, point: Floats) -> tuple[IdArray, Distances]:
        """Some ids by distance, then id, and the distances."""
        distances = np.empty(len(ids))
        ranking.rank_nearest_one(self._store.boxes, ids, point, distances)
        return ids, distances

    # ---- at once, with what a caller wrote as tuples: None where there is no such way, or it is refused

    def _ask_box(self, values: Given) -> tuple[IdArray, int] | None:
        """As `_find_in_box`, with the index's own ``touching``; tests below 0: ask the ordinary way."""
        return None

    def _ask_ray(
        self, origin: Given, direction: Given, furthest: float
    ) -> tuple[int, int, float, float, float, float] | None:
        """As `_find_first_on_ray`, and the distance and the normal on three axes."""
        return None

    def _ask_nearest(self, point: Given, k: int) -> tuple[IdArray, Distances, int] | None:
        """As `_find_nearest`."""
        return None

    def _ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        """Move a box altogether, row and structure; False, and nothing has changed, where that is refused.

        Called only while nothing is ``_stale`` and the journal is closed.
        """
        return False

    # ---- batches: a subclass overrides these where a loop in a kernel pays

    def _find_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, IdArray, int]:
        """The ids hit by every ray, one ray's after the other's; how many each has; and the tests."""
        found = [self._find_on_ray(tuple(ray), category, mask) for ray in rays.tolist()]
        ids = np.concatenate([np.empty(0, np.int32), *(hits for hits, _ in found)])
        return ids, np.array([len(hits) for hits, _ in found], np.int32), sum(tests for _, tests in found)

    def _find_first_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, int]:
        """The id that each ray hits first, or -1; and the tests."""
        found = [self._find_first_on_ray(tuple(ray), category, mask) for ray in rays.tolist()]
        return np.array([hit for hit, _ in found], np.int32), sum(tests for _, tests in found)

    def _find_first_but(
        self, rays: Rows, ignored: IdArray, category: int, mask: int
    ) -> tuple[IdArray, int] | None:
        """The same without the box that each ray ignores, -1 for none; None where there is no such way."""
        return None

    def _find_nearest_many(self, points: Rows, k: int, category: int, mask: int) -> tuple[IdArray, int]:
        """The ``k`` nearest ids of each point in any order: ``(m, k)``, filled up with -1; and the tests."""
        ids = np.full((len(points), k), -1, np.int32)
        total = 0
        for row, point in enumerate(points.tolist()):
            found, _, tests = self._find_nearest(tuple(point), k, category, mask)
            ids[row, : len(found)] = found
            total += tests
        return ids, total

    # ---- about itself

    def _options(self) -> dict[str, Any]:
        """The constructor's arguments beyond the common ones, as JSON can hold them."""
        return {}

    def _cell_count(self) -> int:
        """How many cells, nodes or strips are in use."""
        return 0

    def _swap_count(self) -> int:
        """How many swaps the last read needed to bring a sorted order up to date."""
        return 0

    def _check(self) -> None:  # noqa: B027 - nothing to do is a good default
        """Raise ``AssertionError`` (`broadphase.indexes.storage.expect`) if an invariant is broken."""

    # ---- what the hooks may call

    def _ready(self) -> None:
        """Refresh what is stale.  Every public read has done this before a hook is called."""
        if self._stale:
            with self._lock:
                if self._stale:
                    self._refresh()
                    self._stale = False

    def _search_live(self, find: Callable[[Task], Found], limit: int, scratch: Scratch) -> Found:
        """Let a method of `broadphase.methods` search the live boxes, and turn its rows into ids."""
        store = self._store
        parts = threads.resolve(self._threads)
        found = find(
            Task(store.live_boxes(), self._touching, store.live_filter(), parts, limit, scratch=scratch)
        )
        if store.live == store.end:
            return found
        ids = store.ids()
        return found._replace(chunks=[ids[chunk] for chunk in found.chunks])

    def _pairs(self, *, sort: bool, limit: int = NO_LIMIT) -> tuple[PairArray, int]:
        """`_find_pairs` as an array of their own, and the tests made."""
        if self._store.live < 2:
            return np.empty((0, 2), np.int32), 0
        with borrowed_scratch() as scratch:
            found = self._find_pairs(limit, scratch)
            if found.pairs > limit:
                raise PairLimitExceeded(limit)
            parts = threads.resolve(self._threads)
            sorting = sort and not found.ordered
            return one_array(found.chunks, self._store.end, sorting, scratch, parts), found.tests


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
