"""Every box with every later one."""

import numpy as np

from broadphase.indexes.base import Index
from broadphase.lab.tracing.told import Ids, Told


def tests(index: Index) -> Told:
    """The pairs compared, in order."""
    ids = index.ids
    first, second = np.triu_indices(len(ids), 1)
    return Told(np.column_stack([ids[first], ids[second]]))


def some(index: Index, most: int) -> tuple[Ids, int]:
    """So many of the pairs, evenly picked without making them all; and how many each stands for."""
    ids = index.ids
    n = len(ids)
    every = max(1, -(-(n * (n - 1) // 2) // most))
    # Pair number p of the pairs (j, i) with i < j, row by row: row j begins at j (j - 1) / 2.
    numbers = np.arange(0, n * (n - 1) // 2, every)
    later = ((1 + np.sqrt(8.0 * numbers + 1)) / 2).astype(np.int64)
    earlier = numbers - later * (later - 1) // 2
    return np.column_stack([ids[earlier], ids[later]]), every
