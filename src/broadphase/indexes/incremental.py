"""Changes at the cost of what was touched: most frames move a few boxes among many.

A pair can only have begun or ended if one of its boxes is in the journal (`broadphase.indexes.journal`).  So
the index is asked, in one batch, what lies around the old and the new places of these boxes, and every find
is compared: did they overlap before, do they now?  Two boxes that are both in the journal are a case apart:
where the other one was, the index does not know any more, so the old boxes are paired among themselves.

Cost: one query for each touched box, and the changes.  Where more than a share of all boxes was touched
(`Structure.changes_by_query`), finding all pairs anew and merging the two lists is cheaper, and is done.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import choose, methods, threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.indexes.journal import History, Journal, by_id, changes_between, pair_keys
from broadphase.indexes.protocol import Structure
from broadphase.indexes.results import PairChanges
from broadphase.indexes.storage import BoxStore
from broadphase.kernels.arrays.radix_sort import stable_argsort
from broadphase.kernels.boxes.filters import PairFilter
from broadphase.kernels.pairs import journal as kernel
from broadphase.methods.task import Task
from broadphase.pair_order import sorted_pairs
from broadphase.slices import first_of, joined, rows_at

FindAll = Callable[..., tuple[PairArray, int]]
"""``find_all(sort=True)``: all pairs, and the tests made."""
Compared = tuple[PairArray, PairArray, int]
"""What began, what ended, and the tests made."""

# So few touched boxes are asked about by one thread; a second one costs as much to call.
_ENOUGH_FOR_THREADS = 200
_A_PART = 500  # queries: 5,000 at once take 1.3 times as long


def find_changes(
    structure: Structure, find_all: FindAll, history: History, journal: Journal, by_query: float
) -> tuple[PairChanges, int]:
    """Against the last call, and the tests made.

    Up to the share ``by_query`` of touched boxes the structure is asked about them, else ``find_all`` for all
    pairs.
    """
    store, state = structure.store, history.state()
    noted: Any = journal.entries()[0] if journal.open else slice(store.end)
    renewed = store.renewed[noted].copy()
    try:
        if not journal.open:
            changes, tests = from_all_pairs(store, find_all, history)
        else:
            began, ended, tests = _from_queries(structure, journal)
            changes = PairChanges(began, ended, history.advance(began, ended))
        journal.begin(store, by_query)
    except BaseException:  # memory, or the user's patience, ran out in between
        history.go_back(state)
        store.renewed[noted] = renewed
        journal.close()
        raise
    return changes, tests


def from_all_pairs(store: BoxStore, find_all: FindAll, history: History) -> tuple[PairChanges, int]:
    """By finding all pairs and comparing them with those of the last call."""
    now, tests = find_all(sort=True)
    began, ended = changes_between(history.pairs(), now, store.renewed)
    return PairChanges(began, ended, history.replace(now, began)), tests


def _from_queries(structure: Structure, journal: Journal) -> tuple[PairArray, PairArray, int]:
    store = structure.store
    kept = journal.entries()
    ids, old = kept[0], kept[1]
    queries = np.empty((2 * len(ids), old.shape[1]), np.float64)
    asked = np.empty(2 * len(ids), np.int32)
    planned = kernel.plan_queries(ids, len(ids), old, store.boxes, queries, asked)
    # Neighbours one after the other: what one query reads, the next one finds in the cache.
    order = stable_argsort(queries[:planned, structure.query_axis])
    queries, asked = rows_at(queries, order), rows_at(asked, order)
    marks = np.zeros((store.end >> 3) + 1, np.uint8)
    kernel.mark_noted(ids, len(ids), marks)
    columns = by_id(store)
    now, renewed = store.boxes.take(ids, 0), store.renewed.take(ids)
    ruled = store.any_static or store.any_sets

    def search(begin: int, end: int) -> Compared:
        rows, tests = structure.find_in_boxes(queries[begin:end], structure.touching, -1, -1)
        ended = np.empty_like(rows)
        come, gone = kernel.compare_found(
            *(rows, asked[begin:end], columns, marks, journal.slots, now, kept, renewed, ruled),
            *(structure.touching, ended),
        )
        return first_of(rows, come), first_of(ended, gone), tests

    def search_old() -> Compared:
        ended, tests = _ended_among(structure, kept, columns)
        return ended[:0], ended, tests

    # What a part finds is compared while it is in the near cache.
    parts = planned // _A_PART + 1
    calls: list[Callable[[], Compared]] = [search_old]
    calls += [partial(search, *span) for span in threads.shares(planned, parts)]
    most = threads.resolve(structure.threads) if planned > _ENOUGH_FOR_THREADS else 1
    found = threads.run_all(calls, most)
    return (
        _in_order([began for began, _, _ in found], store.end),
        _in_order([ended for _, ended, _ in found], store.end),
        sum(int(tests) for *_, tests in found),
    )


def _ended_among(
    structure: Structure, kept: tuple[npt.NDArray[Any], ...], columns: Any
) -> tuple[PairArray, int]:
    """Pairs of two boxes of the journal that have ended, and the tests made."""
    was_there = kept[1][:, 0] == kept[1][:, 0]
    if not was_there.all():
        kept = tuple(column[was_there] for column in kept)
    boxes: BoxArray = kept[1]
    if len(boxes) < 2:
        return np.empty((0, 2), np.int32), 0
    task = Task(boxes, structure.touching, PairFilter(*kept[2:]))
    found = methods.finder(choose.choose(boxes))(task)
    entries = joined([np.empty((0, 2), np.int32), *found.chunks])
    gone = kernel.compare_old(entries, columns, structure.store.renewed, kept, structure.touching)
    return entries[:gone], found.tests


def _in_order(chunks: list[PairArray], end: int) -> PairArray:
    count = sum(map(len, chunks))
    if count * 16 > end:
        return sorted_pairs(chunks, end)
    keys = np.sort(pair_keys(chunks))  # few pairs: the counting sort would look at every id
    out = np.empty((count, 2), np.int32)
    out[:, 0] = keys >> 32
    out[:, 1] = keys & 0xFFFFFFFF
    return out
