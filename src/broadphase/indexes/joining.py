"""The boxes of one index with those of another.

Two ways.  A few boxes against an index that holds many are a batch of box queries: the cost follows the
few, and what the many are kept in was paid for before.  Otherwise both sides go through the method that
suits their number, as in `broadphase.join`.
"""

from typing import Any

import numpy as np

from broadphase import choose, methods, threads
from broadphase.boxes import PairArray
from broadphase.indexes.plain_space import PlainSpace
from broadphase.indexes.storage import BoxStore, IdArray
from broadphase.kernels.boxes.filters import IN_A, IN_B, PairFilter
from broadphase.memory import borrowed_scratch
from broadphase.methods.task import Found, Task
from broadphase.pair_order import joined_pairs, sorted_pairs, sorted_rows
from broadphase.slices import joined
from broadphase.space import as_period

# A box query costs as much as finding the pairs of about this many boxes anew.
_QUERY = 10


def join(here: PlainSpace, there: PlainSpace, sort: bool) -> tuple[PairArray, int]:
    """Rows ``[id here, id there]`` and the tests made."""
    few, many = sorted((here.store.live, there.store.live))
    if not few:
        return np.empty((0, 2), np.int32), 0
    if few * _QUERY < many and not _in_space(here, there):
        asked = there if there.store.live == many else here
        if asked.structure.answers_boxes_quickly:
            rows, tests = _by_queries(here if asked is there else there, asked, here.touching)
            rows = rows if asked is there else rows[:, ::-1]
            rows = np.ascontiguousarray(rows[_may_pair(here.store, there.store, rows)])
            return sorted_rows(rows, here.store.end, there.store.end) if sort else rows, tests
    return _anew(here, there, sort)


def _by_queries(few: PlainSpace, many: PlainSpace, touching: bool) -> tuple[IdArray, int]:
    """Rows ``[id of few, id of many]``, whatever the rules."""
    many.structure.ready()
    rows, tests = many.structure.find_rows(
        few.store.live_boxes().astype(np.float64, copy=False), touching, -1, -1
    )
    rows[:, 0] = few.store.ids()[rows[:, 0]]
    return rows, tests


def _may_pair(here: BoxStore, there: BoxStore, rows: IdArray) -> Any:
    """Which rows no rule of either side forbids."""
    i, j = rows[:, 0], rows[:, 1]
    may = here.classes[i] & there.classes[j] == 0
    may &= here.categories[i] & there.masks[j] != 0
    may &= there.categories[j] & here.masks[i] != 0
    return may


def _anew(here: PlainSpace, there: PlainSpace, sort: bool) -> tuple[PairArray, int]:
    first, second = here.store, there.store
    here_boxes, there_boxes = first.live_boxes(), second.live_boxes()
    kind = np.result_type(here_boxes, there_boxes)
    boxes = joined((here_boxes.astype(kind, copy=False), there_boxes.astype(kind, copy=False)))
    parts = threads.resolve(here.threads)
    with borrowed_scratch() as scratch:
        task = Task(boxes, here.touching, _both_filters(first, second), parts, scratch=scratch)
        found = _search_in_space(task, here, there) if _in_space(here, there) else search_anyhow(task)
        chunks = [chunk for chunk in found.chunks if len(chunk)]
        if not chunks:
            return np.empty((0, 2), np.int32), found.tests
        if found.ordered or not sort:
            rows = joined_pairs(chunks, parts)
        else:
            rows = sorted_pairs(chunks, len(boxes), scratch, parts)
    rows[:, 0] = first.ids()[rows[:, 0]]
    rows[:, 1] = second.ids()[rows[:, 1] - first.live]
    return rows, found.tests


def search_anyhow(task: Task, _: Any = None) -> Found:
    """Find the pairs of a task by what suits the number of its boxes."""
    return methods.finder(choose.choose(task.boxes))(task) if len(task.boxes) > 1 else Found([], 0, 0)


def _in_space(here: PlainSpace, there: PlainSpace) -> bool:
    """Whether there is more to it than boxes."""
    return here.period is not None or here.has_envs or there.has_envs


def _search_in_space(task: Task, here: Any, there: Any) -> Found:
    from broadphase.in_space import Space, find_in_space

    env = np.concatenate((here.envs, there.envs)) if here.has_envs or there.has_envs else None
    return find_in_space("auto", task, Space(as_period(here.period, task.dim), env))


def _both_filters(first: BoxStore, second: BoxStore) -> PairFilter:
    """Two indexes as one set of rows: a box is paired with the other side only, by both sides' rules."""
    parts = []
    for store, side in ((first, IN_A), (second, IN_B)):
        at: Any = slice(store.end) if store.live == store.end else store.ids()
        parts.append((store.classes[at] | side, store.categories[at], store.masks[at]))
    return PairFilter(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
