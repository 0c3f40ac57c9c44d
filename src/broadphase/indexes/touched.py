"""Which ids were touched since a structure was last brought up to date."""

import numpy as np

from broadphase.indexes.storage import IdArray
from broadphase.kernels.arrays.radix_sort import argsort_keys
from broadphase.slices import FIRST_ROWS, rows_at


class Touched:
    """Ids, collected at next to no cost for each call and read once."""

    def __init__(self) -> None:
        self._parts: list[IdArray] = []
        self._total = 0

    def add(self, ids: IdArray, live: int) -> None:
        """Add ids; ``live`` is how many are in use, which bounds what is kept."""
        self._parts.append(ids.copy())  # the caller's array may be the user's by now
        self._total += len(ids)
        if self._total > 2 * live + 1000:
            self._parts = [self.ids()]
            self._total = len(self._parts[0])

    def ids(self) -> IdArray:
        """The ids, ascending, each once."""
        if len(self._parts) == 1:
            ids = self._parts[0]
            return np.sort(ids) if len(ids) <= FIRST_ROWS else rows_at(ids, argsort_keys(ids))
        ids = np.concatenate([np.empty(0, np.int32), *self._parts])
        if len(ids) <= FIRST_ROWS:
            return np.unique(ids)
        ids = rows_at(ids, argsort_keys(ids))
        each_once: IdArray = ids[np.append(True, ids[1:] != ids[:-1])]
        return each_once

    def clear(self) -> None:
        """Start again."""
        self._parts, self._total = [], 0

    def __len__(self) -> int:
        """How many, if none was named twice."""
        return self._total
