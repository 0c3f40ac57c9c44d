"""The walk to the right along the sorted axis, and where each box's walk ends."""

from typing import NamedTuple

import numpy as np

from broadphase.indexes.sort_and_sweep import SortAndSweep
from broadphase.kernels.sorted.gapped import DEAD
from broadphase.lab.tracing.told import Ids, Numbers, Told, walks


class Order(NamedTuple):
    """The order that the index keeps."""

    axis: int
    ids: Ids
    """By lower edge."""
    stops: Numbers
    """For each place in the order the first place that its box does not reach any more."""


def order(index: SortAndSweep) -> Order:
    """The real index's order, and the early way out of each walk."""
    items = index._orders.items[0, : index._orders.slots]
    ids = items[items != DEAD]
    axis = index._orders.axes[0]
    lower, upper = index.boxes[_rows(index, ids), axis], index.boxes[_rows(index, ids), index.dim + axis]
    return Order(axis, ids, np.searchsorted(lower, upper, "right"))


def tests(index: SortAndSweep) -> Told:
    """The pairs compared, in order."""
    _, ids, stops = order(index)
    return Told(walks(ids, stops))


def _rows(index: SortAndSweep, ids: Ids) -> Numbers:
    """The rows of ``index.boxes`` that hold these ids."""
    return np.searchsorted(index.ids, ids)
