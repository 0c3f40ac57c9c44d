"""The protocol of all structures: the methods that a new structure implements, and what they may rely on.

An index consists of boxes by id (`broadphase.indexes.storage`), a structure and a space.  All methods that
users call are written once, in `broadphase.indexes.base.Index`.  The space (`space`, `periodic`) handles
periods.  A structure finds boxes: it is a subclass of `Structure` that receives checked input and returns
results in any order.

How to write a structure
------------------------
1. Follow the boxes.  *Built lazily*: write ``refresh``, which runs before the next read after a change.
   *Kept up to date*: write ``leave`` and ``enter``, which are called around each change, and ``reset``, which
   starts again from the stored boxes.  A change that fails or is interrupted is never undone: the structure
   is marked as unsettled, and reset before the next read.
2. Write ``find_pairs``; for a method of `broadphase.methods`: ``return search_live(self, find, ...)``.
3. Queries are answered by a `broadphase.indexes.box_tree.QueryTree`, which the space builds when it is asked
   and keeps up to date.  If the structure has a way of its own for box queries, make it a `Searched` one and
   write ``find_in_boxes``.  The geometry is in `kernels.boxes.queries` and must be used as it is: the answers
   of all indexes are compared bit for bit.
4. Set ``changes_by_query = 0.1``, or the share of touched boxes at which a batch of ``find_in_boxes`` begins
   to cost more than ``find_pairs``: ``changes`` then costs what was touched.
5. Write ``counts`` for the statistics and ``check`` for the invariants.
6. Register it: CONTRIBUTING, *Adding an index*, lists all that belongs to an index.

What a structure may rely on
----------------------------
- ``self.store`` (`BoxStore`): ``boxes[id]``, ``alive``, ``classes``, ``categories``, ``masks`` by id; ``end``
  is one more than the largest id ever used; the rows of free ids hold NaN.  Its arrays are replaced when
  they grow: read them again in every call.
- Ids come as int32 arrays without repetition, ascending unless boxes move.
- ``copy``, pickling and files do not copy it: another one is made of the stored boxes.
- Many threads may read at once: a query has its own scratch memory and writes to no attribute.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import PairLimitExceeded
from broadphase.indexes.arguments import BoxRules, Given, Rows
from broadphase.indexes.changes import History
from broadphase.indexes.results import Distances, PairChanges, RayHits, expected_rows
from broadphase.indexes.storage import BoxStore, IdArray
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import thread_count
from broadphase.kernels.pairs.changes import name_pairs
from broadphase.methods.pair_order import joined_pairs, one_array, sort_rows_of_each
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.runtime import threads
from broadphase.runtime.arrays import first_of, rows_at
from broadphase.runtime.memory import PairArray, Scratch, borrowed_scratch

FirstHit = tuple[int, int, float, float, float, float]
"""The tests, the id that a ray hits first or -1, the distance, and the normal on three axes."""

Ids = tuple[IdArray, int]
"""Rows ``[query, id]``, and the tests made."""

FoundInBoxes = tuple[PairArray, IdArray, int, int]
"""``rows, ids, found, tests``, as the kernels return them (`broadphase.kernels.arrays.results`)."""

NearestIds = tuple[IdArray, Distances, int]
"""Ids, distances, and the tests made."""

Tree = tuple[BoxArray, IdArray, BoxArray, IdArray]
"""The edges and children of nodes (see `kernels.tree.dynamic_tree`), and by id the boxes and their names."""

NO_IDS = np.empty(0, np.int32)
NO_ROWS = np.empty((0, 2), np.int32)
"""What a single query is given in place of memory for rows."""
_NONE_AGAIN = np.empty(0, np.bool_)


class Shared(NamedTuple):
    """What an index shares with its structure."""

    store: BoxStore
    touching: bool
    sort: bool
    threads: int | None


class Structure(ABC):
    """Finds pairs."""

    sorts_rows: bool = False
    """Whether the rows of each query of `find_in_boxes` come sorted where the index sorts."""
    has_fast_box_queries: ClassVar[bool] = True
    """Whether a box query tests few boxes; ``join`` then queries the larger index."""
    has_worlds: ClassVar[bool] = False
    """Whether the last column of queries is the number of a world (`broadphase.indexes.environments`)."""
    changes_by_query: float = 0.0
    """Up to this share of touched boxes, ``changes`` queries `find_in_boxes` for them instead of finding all
    pairs again."""
    query_tree: "SearchTree"
    """The tree that answers queries of the index: the structure itself, or one that the space has made."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.store, self.touching, self.sort, self.threads = shared
        self._lock = Lock()
        self.settled = True
        """False if a change or a refresh failed or was interrupted: the next read starts from scratch."""
        self.stale = True
        """Whether `refresh` has to run before the next read."""
        self.reset()

    @property
    def dim(self) -> int:
        """2 or 3."""
        return self.store.dim

    @property
    def dtype(self) -> "np.dtype[Any]":
        """What the boxes are kept in."""
        return self.store.boxes.dtype

    def unsettle(self) -> None:
        """Discard the structure: the next read rebuilds it from the stored boxes."""
        self.settled = False
        self.stale = True

    def ready(self) -> None:
        """Bring the structure up to date.  Every read does this first."""
        if self.stale:
            with self._lock:
                if self.stale:
                    if not self.settled:
                        self.reset()
                    self.settled = False  # until it is done: it may be interrupted
                    self.refresh()
                    self.settled = True
                    self.stale = False

    # ---- the structure follows the boxes

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        """These ids are about to move to ``boxes``, or (None) to go; their rows are still there.

        ``ids is self.store.ids()`` when all live boxes are replaced at once.
        """
        self.stale = True

    def enter(self, ids: IdArray, fresh: bool) -> None:
        """These ids were added (``fresh``) or moved; their rows are written."""
        self.stale = True

    def moved_one(self, id: int) -> None:  # noqa: A002
        """One box moved, and its row is written; `leave` was not called, except of a `SearchTree`."""
        self.enter(np.array([id], np.int32), False)

    def reset(self) -> None:  # noqa: B027 - nothing to do is a good default
        """Start from scratch; stored boxes, if any, are read by the next ``refresh``."""

    def refresh(self) -> None:  # noqa: B027 - nothing to do is a good default
        """Bring a structure that is built lazily up to date.  One thread at a time runs this."""

    def reserve(self, capacity: int) -> None:  # noqa: B027 - nothing to do is a good default
        """Reserve memory for this many ids in all."""

    # ---- pairs

    @abstractmethod
    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """All pairs of ids that overlap and may count, in any order; the chunks are copied at once.

        Once more than ``limit`` are found, the search may stop.  The chunks may lie in ``scratch``.
        """

    def find_changes(self, history: History) -> tuple[PairChanges, int] | None:
        """Against the last call, and the tests made; afterwards no id is ``renewed``.

        None if the structure has no better way than comparing all pairs, or queries for the touched boxes.
        """
        return None

    def parts(self, view: Rows) -> Rows:
        """The boxes of its nodes or cells that may lie in a view, for pictures; none where it has neither.

        Unlike a search it is called before `ready`, which it calls if it has any.
        """
        return np.empty((0, 2 * self.dim))

    def in_shares(
        self, count: int, search: Callable[..., Any], *arrays: npt.NDArray[Any], cost: float = 1_000.0
    ) -> list[Any]:
        """Search by several threads, each a share and its rows of arrays, if there are enough queries."""
        spans = threads.shares(count, thread_count(self.threads), cost)
        if len(spans) == 1:  # of few queries the rest would take half of the time
            return [search(*spans[0], *arrays)]
        return threads.run_all(
            [partial(search, *span, *(array[slice(*span)] for array in arrays)) for span in spans]
        )

    def rows_in_shares(self, search: Callable[[Rows], Any], queries: Rows, cost: float = 1_000.0) -> Ids:
        """The rows ``[query, id]`` of ``search(part) -> rows, how many, tests``, and the tests."""

        def find(begin: int, _: int, part: Rows) -> tuple[PairArray, int]:
            rows, count, tests = search(part)
            if begin:
                rows[:count, 0] += begin
            return first_of(rows, count), tests

        found = self.in_shares(len(queries), find, queries, cost=cost)
        if len(found) == 1:
            return found[0]  # type: ignore[no-any-return]
        return joined_pairs([rows for rows, _ in found], len(found)), sum(tests for _, tests in found)

    # ---- about itself

    def counts(self) -> tuple[int, int]:
        """How many cells, nodes or strips are in use; and the swaps that the last read needed."""
        return 0, 0

    def check(self) -> None:  # noqa: B027 - nothing to do is a good default
        """Raise ``AssertionError`` (`broadphase.indexes.storage.expect`) if an invariant is broken."""


class Searched(Structure):
    """A structure that answers box queries; category and mask are -1 if the caller set none.

    A query is a tuple as its caller wrote it, which ``None`` or tests below 0 refuse, or a batch of rows.
    """

    @abstractmethod
    def find_in_boxes(
        self, boxes: Given | Rows, touching: bool, rules: BoxRules, out: PairArray = NO_ROWS
    ) -> FoundInBoxes | None:
        """The ids of one box, sorted if they are few, or rows ``[query, id]`` for a batch, ordered by query.

        Rows are written to ``out`` (`expected_rows`) if it is large enough.  Several threads may call this at
        the same time, each with a part of a large batch.
        """


class SearchTree(Searched):
    """A structure that answers rays and finds what is nearest, too."""

    @property
    @abstractmethod
    def follows_moving(self) -> bool:
        """Whether it has to be told about moving boxes."""

    def move_one(self, id: Any, box: Given) -> bool:  # noqa: A002
        """Move a box that a caller wrote, row and structure; False, and nothing has changed, if refused.

        Called only while it `follows_moving`, and no journal is kept.
        """
        return False

    @abstractmethod
    def find_on_rays(self, rays: Rows, rules: BoxRules) -> Ids:
        """Rows ``[ray, id]`` of all boxes that the rays hit, ordered by ray; and the tests.

        A ray is ``(origin..., direction..., max_distance)``.
        """

    @abstractmethod
    def find_first_hit(self, ray: Given, rules: BoxRules) -> FirstHit | None:
        """The first hit of one ray, the lowest id among equals."""

    @abstractmethod
    def find_first_hits(
        self, rays: Rows, ignored: IdArray, rules: BoxRules, out: RayHits | None = None
    ) -> tuple[RayHits, int]:
        """The first hit of each ray; ``out`` may be written to, and says if normals are wanted.

        ``ignored`` may hold, for each ray, an id that it passes through.
        """

    @abstractmethod
    def find_nearest(self, points: Given | Rows, k: int, rules: BoxRules) -> NearestIds | None:
        """The ``k`` nearest of one point or of each, by distance, then id; ids, distances, and the tests.

        ``1 <= k``.  Of one there are fewer if the rules leave fewer; rows are filled up with -1 and inf.
        """

    def tree(self, names: IdArray) -> Tree | None:
        """What kernels that search several trees in one call take of one; None: this is not a tree."""
        return None


# ---- all pairs


def all_pairs(
    store: BoxStore,
    most_threads: int | None,
    find: Callable[[int, Scratch], Found],
    sort: bool,
    limit: int = NO_LIMIT,
) -> tuple[PairArray, int]:
    """The pairs of ``find(limit, scratch)``, as an array of their own, and the tests made."""
    if store.live < 2:
        return np.empty((0, 2), np.int32), 0
    with borrowed_scratch() as scratch:
        found = find(limit, scratch)
        if found.pairs > limit:
            raise PairLimitExceeded(limit)
        parts = thread_count(most_threads)
        return one_array(found.chunks, store.end, sort and not found.ordered, scratch, parts), found.tests


def search_live(structure: Structure, find: Callable[[Task], Found], limit: int, scratch: Scratch) -> Found:
    """Let a method of `broadphase.methods` search the live boxes, and turn its rows into ids."""
    store, parts = structure.store, thread_count(structure.threads)
    rules = structure.touching, store.live_filter(), parts, limit
    found = find(Task(store.live_boxes(), *rules, sort=structure.sort, scratch=scratch))
    return renamed(found, store.ids())


def renamed(found: Found, ids: IdArray) -> Found:
    """Pairs of rows as pairs of ids, which ascend as the rows do."""
    if len(ids) and ids[-1] == len(ids) - 1:
        return found
    return found._replace(chunks=[ids[chunk] for chunk in found.chunks])


# ---- a batch of boxes, in parts for threads


def find_rows(structure: Searched, boxes: Rows, touching: bool, rules: BoxRules) -> Ids:
    """`Structure.find_in_boxes`, sorted if the index sorts; threads share a large batch."""

    def search(part: Rows) -> tuple[PairArray, int, int]:
        found = structure.find_in_boxes(part, touching, rules, expected_rows(part))
        assert found is not None
        rows, _, count, tests = found
        if structure.sort and not structure.sorts_rows:
            sort_rows_of_each(rows[:count], structure.store.end)
        return rows, count, tests

    return structure.rows_in_shares(search, boxes, cost=100.0)


def pairs_between(
    store: BoxStore,
    few: IdArray,
    others: int,
    find: Callable[[Rows], Ids],
    limit: int,
    found_too: npt.NDArray[np.bool_] | None = None,
) -> tuple[PairArray, int]:
    """Pairs of ``few`` boxes with overlapping ``others`` that the rules allow, and the tests made.

    ``find`` returns rows ``[query, id]`` for boxes.  It stops soon after ``limit`` pairs.  Its ids are not
    among the ``few``; where they may be, ``found_too`` says which of all ids are.
    """
    boxes = rows_at(store.boxes, few).astype(np.float64, copy=False)
    step = len(few) if limit == NO_LIMIT else max(limit // max(others, 1), 1)
    ruled = store.any_sets or (found_too is not None and store.any_static)
    again = _NONE_AGAIN if found_too is None else found_too
    chunks = [np.empty((0, 2), np.int32)]
    found = tests = 0
    for first in range(0, len(few), max(step, 1)):
        rows, made = find(boxes[first : first + step])
        sets = store.classes, store.categories, store.masks
        count = name_pairs(rows, few[first:], again, sets, ruled)
        chunks.append(rows[:count])
        found += count
        tests += made
        if found > limit:
            break
    return np.concatenate(chunks) if len(chunks) > 2 else chunks[-1], tests


def may_pair(first: BoxStore, second: BoxStore, rows: IdArray) -> npt.NDArray[np.bool_]:
    """Which rows ``[id in first, id in second]`` the rules of both sides allow."""
    i, j = rows[:, 0], rows[:, 1]
    may: npt.NDArray[np.bool_] = first.classes[i] & second.classes[j] == 0
    may &= first.categories[i] & second.masks[j] != 0
    may &= second.categories[j] & first.masks[i] != 0
    return may
