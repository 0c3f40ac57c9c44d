"""Every box with every later one."""

import numpy as np

from broadphase.indexes.base import Index
from broadphase.lab.tracing.told import Told


def tests(index: Index) -> Told:
    """The pairs compared, in order."""
    ids = index.ids
    first, second = np.triu_indices(len(ids), 1)
    return Told(np.column_stack([ids[first], ids[second]]))
