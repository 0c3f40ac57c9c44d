"""The walk to the right along the sorted axis, and where each box's walk ends."""

from typing import NamedTuple

import numpy as np

from broadphase.indexes.classes import SortAndSweep
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
    ids = index._structure.ids[0, : len(index)]
    axis = index._structure.query_axis
    lower, upper = index.boxes[_rows(index, ids), axis], index.boxes[_rows(index, ids), index.dim + axis]
    return Order(axis, ids, np.searchsorted(lower, upper, "right"))


def tests(index: SortAndSweep) -> Told:
    """The pairs compared, in order."""
    _, ids, stops = order(index)
    return Told(walks(ids, stops))


def _rows(index: SortAndSweep, ids: Ids) -> Numbers:
    """The rows of ``index.boxes`` that hold these ids."""
    return np.searchsorted(index.ids, ids)
