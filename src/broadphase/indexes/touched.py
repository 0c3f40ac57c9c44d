"""Which ids were touched since a structure last read them."""

import numpy as np

from broadphase.indexes.storage import IdArray
from broadphase.runtime.arrays import distinct
from broadphase.runtime.slices import FIRST_ROWS


class Touched:
    """Which ids were touched since a structure was last brought up to date.

    They are collected at next to no cost for each call and read once.
    """

    def __init__(self) -> None:
        self._parts: list[IdArray] = []
        self._total = 0

    def add(self, ids: IdArray, live: int) -> None:
        """Add ids; ``live`` is how many are in use, which bounds what is kept."""
        self._parts.append(ids.copy())  # the user may write to the array later
        self._total += len(ids)
        if self._total > 2 * live + 1000:
            self._parts = [self.ids()]
            self._total = len(self._parts[0])

    def ids(self) -> IdArray:
        """The ids, ascending, each once."""
        if len(self._parts) == 1 and self._total <= FIRST_ROWS:
            return np.sort(self._parts[0])
        if self._total <= FIRST_ROWS:
            return distinct(np.concatenate([np.empty(0, np.int32), *self._parts]))
        # Many ids are marked instead of sorted: for ten million this takes a tenth of the time.
        named = np.zeros(1 + max(int(part.max(initial=0)) for part in self._parts), np.bool_)
        for part in self._parts:
            named[part] = True
        return np.flatnonzero(named).astype(np.int32)

    def clear(self) -> None:
        """Start again."""
        self._parts, self._total = [], 0

    def __len__(self) -> int:
        """How many were added; an id that was added twice may count twice."""
        return self._total
