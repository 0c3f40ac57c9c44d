"""Traces of the two methods that sort along axes: sort and sweep, and sweep and prune."""

from typing import NamedTuple

import numpy as np

from broadphase.indexes.classes import SortAndSweep, SweepAndPrune
from broadphase.indexes.sweep_and_prune import MOST_TOUCHED
from broadphase.kernels.arrays.sorting import bits_of, ordered_rows
from broadphase.lab.tracing.trace import Ids, Numbers, Trace, trace_brute_force, traces, walks
from broadphase.methods import choose

# ---- sort and sweep


class Order(NamedTuple):
    """The sorted order that the index keeps."""

    axis: int
    ids: Ids
    """By lower edge."""
    stops: Numbers
    """For each position in the order, the first later position that its box does not reach."""


def order(index: SortAndSweep) -> Order:
    """The order of the real index, and where the sweep of each box stops early."""
    ids = index._structure.ids[0, : len(index)]
    axis = index._structure.query_axis
    lower, upper = index.boxes[_rows(index, ids), axis], index.boxes[_rows(index, ids), index.dim + axis]
    return Order(axis, ids, np.searchsorted(lower, upper, "right"))


@traces("sort_and_sweep")
def trace_sweep(index: SortAndSweep) -> Trace:
    """Each box with the later ones up to its upper edge."""
    _, ids, stops = order(index)
    return Trace(walks(ids, stops))


def _rows(index: SortAndSweep, ids: Ids) -> Numbers:
    """The rows of ``index.boxes`` that hold these ids."""
    return np.searchsorted(index.ids, ids)


# ---- sweep and prune


def ends(index: SweepAndPrune) -> list[Ids]:
    """The ends of each axis in order: ``2 * id`` for a lower and ``2 * id + 1`` for an upper end."""
    ends = index._structure._ends
    if ends is None:  # no pairs were requested yet
        return [np.empty(0, np.int32)] * index.dim
    return [row[: ends.count] for row in ends.items]


def was_rebuilt(index: SweepAndPrune, before: SweepAndPrune, patient: bool) -> bool:
    """Whether so many boxes moved that all ends were sorted and all pairs searched from scratch."""
    return before._structure._ends is None or (
        not patient and len(_moved(index, before)) > MOST_TOUCHED * len(index)
    )


@traces("sweep_and_prune", needs_before=True)
def trace_swaps(index: SweepAndPrune, before: SweepAndPrune | None, patient: bool) -> Trace | None:
    """The boxes whose ends were passed, box by box in the order in which they moved.

    If an index had to swap so many ends that it sorted everything instead, this trace disagrees with its
    ``stats``.
    """
    if before is None:
        return None
    if was_rebuilt(index, before, patient):
        few = choose.choose(index.boxes) == "brute_force"
        return trace_brute_force(index) if few else None
    return _pass_ends(index, before)


def _pass_ends(index: SweepAndPrune, before: SweepAndPrune) -> Trace:
    rows = [row.tolist() for row in ends(before)]
    old = ordered_rows(bits_of(before._store.boxes[: before._store.end]), True).tolist()
    new = ordered_rows(bits_of(index._store.boxes[: index._store.end]), True).tolist()
    dim = index.dim
    keys = [[old[item >> 1][dim * (item & 1) + axis] for item in row] for axis, row in enumerate(rows)]
    passed: list[tuple[int, int]] = []
    swaps: list[tuple[int, int, int]] = []
    own = 0
    for i in _moved(index, before).tolist():
        for axis in range(dim):
            rises = new[i][dim + axis] > old[i][dim + axis]
            for end in (1, 0) if rises else (0, 1):
                key = new[i][dim * end + axis]
                if key == old[i][dim * end + axis]:
                    continue
                ends_passed = _insert_end(rows[axis], keys[axis], 2 * i + end, key)
                swaps += [(axis, 2 * i + end, other) for other in ends_passed]
                others = [other >> 1 for other in ends_passed]
                passed += [(i, other) for other in others if other != i]
                own += others.count(i)
    return Trace(
        np.array(passed, np.int32).reshape(-1, 2),
        own,
        before._structure._found.pairs(),
        np.array(swaps, np.int32).reshape(-1, 3),
    )


def _insert_end(row: list[int], keys: list[int], item: int, key: int) -> list[int]:
    """Swap one end with its neighbours until it is in order; returns the ends that it passed."""
    at, rank, passed = row.index(item), (key, item & 1), []
    down = at > 0 and rank < (keys[at - 1], row[at - 1] & 1)
    step = -1 if down else 1
    while 0 <= at + step < len(row):
        other, there = row[at + step], (keys[at + step], row[at + step] & 1)
        if not (rank < there if down else there < rank):
            break
        passed.append(other)
        row[at], keys[at] = other, keys[at + step]
        at += step
    row[at], keys[at] = item, key
    return passed


def _moved(index: SweepAndPrune, before: SweepAndPrune) -> Ids:
    moved: Ids = index.ids[(index.boxes != before.boxes).any(axis=1)]
    return moved
