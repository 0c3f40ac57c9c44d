"""The sorted ends of sweep and prune, and what each moving end passed on its way to its new place."""

import numpy as np

from broadphase import choose
from broadphase.indexes.classes import SweepAndPrune
from broadphase.indexes.sweep_and_prune import MOST_TOUCHED
from broadphase.kernels.arrays.ordered_bits import bits_of, ordered_rows
from broadphase.lab.tracing import brute_force
from broadphase.lab.tracing.told import Ids, Told


def ends(index: SweepAndPrune) -> list[Ids]:
    """For each axis its ends in order, ``2 * id`` for a lower and ``2 * id + 1`` for an upper one."""
    ends = index._structure._ends
    if ends is None:  # nobody has asked for pairs yet
        return [np.empty(0, np.int32)] * index.dim
    return [row[: ends.count] for row in ends.items]


def was_rebuilt(index: SweepAndPrune, before: SweepAndPrune, patient: bool) -> bool:
    """Whether so much moved that all ends were sorted and all pairs found anew."""
    return before._structure._ends is None or (
        not patient and len(_moved(index, before)) > MOST_TOUCHED * len(index)
    )


def tests(index: SweepAndPrune, before: SweepAndPrune | None, patient: bool) -> Told | None:
    """The boxes whose ends were passed, box by box in the order in which they were moved.

    Where so many ends were passed that the index gave up and sorted everything, which is not retold, the
    numbers do not add up.
    """
    if before is None:
        return None
    if was_rebuilt(index, before, patient):
        few = choose.choose(index.boxes) == "brute_force"
        return brute_force.tests(index) if few else None
    return _pass_ends(index, before)


def _pass_ends(index: SweepAndPrune, before: SweepAndPrune) -> Told:
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
                ends_passed = _go(rows[axis], keys[axis], 2 * i + end, key)
                swaps += [(axis, 2 * i + end, other) for other in ends_passed]
                others = [other >> 1 for other in ends_passed]
                passed += [(i, other) for other in others if other != i]
                own += others.count(i)
    return Told(
        np.array(passed, np.int32).reshape(-1, 2),
        own,
        before._structure._found.pairs(),
        np.array(swaps, np.int32).reshape(-1, 3),
    )


def _go(row: list[int], keys: list[int], item: int, key: int) -> list[int]:
    """Let one end change places with its neighbours until it is in order; those that it passed."""
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
