"""What a retelling consists of, and the step that most of them share."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import PairArray
from broadphase.indexes.results import Stats

Ids = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]


class Told(NamedTuple):
    """The comparisons of one search."""

    pairs: Ids
    """``(m, 2)``: the bodies compared with each other, in order; a pair may come several times."""
    others: int = 0
    """Comparisons with something that is no body: the bounds of a node."""
    known: PairArray = np.empty((0, 2), np.int32)
    """Pairs that were known from the frame before and needed no comparison."""
    swaps: Ids = np.empty((0, 3), np.int32)
    """``(m, 3)`` rows ``[axis, end, passed]``: the ends that changed places, in order; an end is
    ``2 * id + is upper``."""

    @property
    def tests(self) -> int:
        """What ``stats.tests`` should say."""
        return len(self.pairs) + self.others

    def candidates(self, end: int) -> int:
        """How many different pairs of bodies were compared; all ids are below ``end``."""
        return int(np.count_nonzero(self._met(end)))

    def adds_up(self, stats: Stats, found: PairArray, end: int) -> bool:
        """Whether the engine counted as many tests, and found no pair but those compared or known."""
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
    """From 0 up for each count, one after the other.

    >>> counting(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    ends = counts.cumsum()
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def walks(ids: Ids, stops: Numbers) -> Ids:
    """Each id with those behind it, up to where its walk stops.

    >>> walks(np.array([7, 8, 9], np.int32), np.array([3, 2, 3])).tolist()
    [[7, 8], [7, 9]]
    """
    begins = np.arange(len(ids)) + 1
    counts = np.maximum(stops - begins, 0)
    ends = counts.cumsum()
    pairs = np.empty((int(ends[-1]) if len(ends) else 0, 2), np.int32)
    pairs[:, 0] = np.repeat(ids, counts)
    pairs[:, 1] = ids[np.arange(len(pairs)) + np.repeat(begins - ends + counts, counts)]
    return pairs
