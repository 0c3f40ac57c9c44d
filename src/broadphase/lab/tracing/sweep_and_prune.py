"""The sorted ends of sweep and prune, and what each moving end passed on its way to its new place."""

from bisect import bisect_left

import numpy as np

from broadphase import choose
from broadphase.indexes.sweep_and_prune import MOST_TOUCHED, SweepAndPrune
from broadphase.kernels.arrays.ordered_bits import bits_of, ordered_rows
from broadphase.kernels.sorted.gapped import DEAD
from broadphase.lab.tracing import brute_force
from broadphase.lab.tracing.told import Ids, Told


def ends(index: SweepAndPrune) -> list[Ids]:
    """For each axis its ends in order, ``2 * id`` for a lower and ``2 * id + 1`` for an upper one."""
    orders = index._orders
    rows = [items[: orders.slots] for items in orders.items]
    return [row[row != DEAD] for row in rows]


def was_rebuilt(index: SweepAndPrune, before: SweepAndPrune, patient: bool) -> bool:
    """Whether so much moved that all ends were sorted and all pairs found anew."""
    return before._whole or (not patient and len(_moved(index, before)) > MOST_TOUCHED * len(index))


def tests(index: SweepAndPrune, before: SweepAndPrune | None, patient: bool) -> Told | None:
    """The boxes whose ends were passed, box by box in the order in which they were moved.

    A box that goes very far is taken out and searched for anew, which is not retold: then the numbers
    do not add up.
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
        before._set.pairs(),
        np.array(swaps, np.int32).reshape(-1, 3),
    )


def _go(row: list[int], keys: list[int], item: int, key: int) -> list[int]:
    """Move one end to its new place; the ends that it passed, in passing order."""
    here = row.index(item)
    goal = bisect_left(keys, key + (item & 1))
    passed = row[here + 1 : goal] if goal > here else row[goal:here][::-1]
    del row[here], keys[here]
    # Of equal keys, lower ends come first.
    at = bisect_left(keys, key + (item & 1))
    row.insert(at, item)
    keys.insert(at, key)
    return passed


def _moved(index: SweepAndPrune, before: SweepAndPrune) -> Ids:
    moved: Ids = index.ids[(index.boxes != before.boxes).any(axis=1)]
    return moved
