"""What a trace consists of, the helpers that several tracers share, and the trace of brute force."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.indexes.base import Index
from broadphase.indexes.results import Stats
from broadphase.runtime.memory import PairArray

Ids = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]


class Trace(NamedTuple):
    """The comparisons of one search."""

    pairs: Ids
    """``(m, 2)``: the bodies that were compared, in order; a pair may occur several times."""
    others: int = 0
    """How many comparisons were with something else than a body: the bounds of a node."""
    known: PairArray = np.empty((0, 2), np.int32)
    """Pairs kept from the frame before, which needed no comparison."""
    swaps: Ids = np.empty((0, 3), np.int32)
    """``(m, 3)`` rows ``[axis, end, passed]``: the ends that were swapped, in order; an end is
    ``2 * id + is upper``."""

    @property
    def tests(self) -> int:
        """The number that ``stats.tests`` must have."""
        return len(self.pairs) + self.others

    def candidates(self, end: int) -> int:
        """How many distinct pairs of bodies were compared; all ids are below ``end``."""
        return int(np.count_nonzero(self._met(end)))

    def agrees(self, stats: Stats, found: PairArray, end: int) -> bool:
        """Whether the engine counted as many tests and found only pairs that were compared or known."""
        if self.tests != stats.tests:
            return False
        met = self._met(end)
        met[self.known[:, 0], self.known[:, 1]] = True
        return bool(met[found[:, 0], found[:, 1]].all())

    def _met(self, end: int) -> npt.NDArray[np.bool_]:
        met = np.zeros((end, end), np.bool_)
        met[self.pairs.min(axis=1), self.pairs.max(axis=1)] = True
        return met


def counting(counts: Numbers) -> Numbers:
    """0, 1, 2, ... up to each count, concatenated.

    >>> counting(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = counts.cumsum()
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def walks(ids: Ids, stops: Numbers) -> Ids:
    """Pair each id with the ids after it, up to its stop.

    >>> walks(np.array([7, 8, 9], np.int32), np.array([3, 2, 3])).tolist()
    [[7, 8], [7, 9]]
    """
    begins = np.arange(len(ids)) + 1
    counts = np.maximum(stops - begins, 0)
    return np.column_stack([np.repeat(ids, counts), ids[np.repeat(begins, counts) + counting(counts)]])


# ---- which tracer belongs to which index


_F = TypeVar("_F", bound="Callable[..., Trace | None]")


class Tracer(NamedTuple):
    """How the comparisons of an index are traced."""

    trace: Callable[..., Trace | None]
    needs_before: bool
    """Whether it takes a copy of the index from before the frame too, and whether boxes moved patiently."""


TRACERS: dict[str, Tracer] = {}
"""By the name of the index."""


def traces(*names: str, needs_before: bool = False) -> Callable[[_F], _F]:
    """Register the function below as the tracer of these indexes."""

    def register(function: _F) -> _F:
        TRACERS.update(dict.fromkeys(names, Tracer(function, needs_before)))
        return function

    return register


# ---- brute force


@traces("brute_force")
def trace_brute_force(index: Index) -> Trace:
    """Every box with every later one."""
    ids = index.ids
    first, second = np.triu_indices(len(ids), 1)
    return Trace(np.column_stack([ids[first], ids[second]]))


def some_pairs(index: Index, most: int) -> tuple[Ids, int]:
    """An even sample of at most ``most`` of all pairs, and how many pairs each stands for."""
    ids = index.ids
    n = len(ids)
    every = max(1, -(-(n * (n - 1) // 2) // most))
    # The pairs (j, i) with i < j are numbered row by row; row j starts at j (j - 1) / 2.
    numbers = np.arange(0, n * (n - 1) // 2, every)
    later = ((1 + np.sqrt(8.0 * numbers + 1)) / 2).astype(np.int64)
    earlier = numbers - later * (later - 1) // 2
    return np.column_stack([ids[earlier], ids[later]]), every
