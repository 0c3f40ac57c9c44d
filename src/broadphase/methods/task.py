"""`Task` and `Found`: the input and the result of every method."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import whole
from broadphase.kernels.arrays.results import FIRST_CAPACITY, LEAST_CAPACITY
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.runtime import threads
from broadphase.runtime.memory import MOST_KEPT, PairArray, Scratch

NO_LIMIT = 2**62


def pair_limit(max_pairs: int | None) -> int:
    """A caller's ``max_pairs``, checked; `NO_LIMIT` for ``None``."""
    if max_pairs is None:
        return NO_LIMIT
    limit = whole(max_pairs, "max_pairs", "an int or None")
    if limit < 0:
        raise ValueError(f"max_pairs must not be negative; got {limit}")
    return min(limit, NO_LIMIT)


@dataclass(slots=True)  # not frozen: creating one would take 1.6 microseconds and not 0.6
class Task:
    """One search for overlapping pairs; everything in it has been checked."""

    boxes: BoxArray
    """``(n, 4)`` or ``(n, 6)``, C-contiguous, valid."""
    touching: bool
    """Whether boxes that share only an edge or a corner count."""
    filter: PairFilter
    """Which pairs may count at all (static, join, categories)."""
    threads: int = 1
    """The most threads to use."""
    limit: int = NO_LIMIT
    """Storing may stop once more pairs than this are found."""
    store: bool = True
    """False: only count."""
    sort: bool = False
    """Whether the pairs are wanted in the documented order; a method may leave that to its caller."""
    scratch: Scratch = field(default_factory=Scratch)
    """Scratch memory; chunks of the answer may be in it."""

    @property
    def dim(self) -> int:
        """2 or 3."""
        return int(self.boxes.shape[1]) // 2


class Found(NamedTuple):
    """The answer: pairs in chunks of ``(m, 2)`` int32 rows ``i < j``, in any order."""

    chunks: list[PairArray]
    pairs: int
    """How many pairs there are, stored or not; more than ``limit`` if the search gave up."""
    tests: int
    """How many comparisons of two boxes were made."""
    cells: int = 0
    """How many cells, slots, nodes or strips were in use."""
    ordered: bool = False
    """Whether the chunks, one after the other, are already in the documented order."""

    def and_more(self, more: "Found") -> "Found":
        """The same with what another search has found, in no order."""
        return together((self, more), self.cells)


Kernel = Callable[[int, int, PairArray, int, bool], tuple[PairArray, int, int]]
"""``kernel(begin, end, out, limit, store)``: pairs in ``out`` or a larger array, how many, and the tests."""


def find_in_shares(
    task: Task,
    kernel: Kernel,
    shares: list[tuple[int, int]],
    *,
    cells: int = 0,
    expected: int = 4,
    ordered: bool = False,
) -> Found:
    """Run a kernel on each share of the rows, on several threads; the pairs are in the order of the shares.

    The pairs are in memory that is kept between calls, at first for as many of each box as are ``expected``.
    """
    scratch, limit, store = task.scratch, task.limit, task.store
    if len(shares) == 1:  # most calls: the path is short
        out = scratch.pairs(expected * len(task.boxes) + LEAST_CAPACITY if store else LEAST_CAPACITY)
        rows, found, tests = kernel(*shares[0], out, limit, store)
        if rows is not out:
            scratch.pairs(min(found + LEAST_CAPACITY, _MAX_CAPACITY))  # so that they fit the next time
        return Found([rows[:found]] if store else [], found, tests, cells, ordered)
    names = [f"pairs {share}" for share in range(len(shares))]
    least = expected * len(task.boxes) // len(shares) + FIRST_CAPACITY if store else FIRST_CAPACITY
    lengths = [max(least, scratch.held(name) // 8) for name in names]
    memory = [scratch.array(name, (length, 2), np.int32) for name, length in zip(names, lengths, strict=True)]
    left = [limit]

    def search(begin: int, end: int, out: PairArray) -> Found:
        rows, found, tests = kernel(begin, end, out, left[0], store)
        left[0] -= found  # two threads may count at once: the limit then only ends the search later
        return Found([rows[:found]] if store else [], found, tests)

    parts = threads.run_all(
        [partial(search, *share, out) for share, out in zip(shares, memory, strict=True)], task.threads
    )
    for name, part in zip(names, parts, strict=True):
        scratch.reserve(name, 8 * part.pairs * store)
    return together(parts, cells, ordered)


def together(parts: Sequence[Found], cells: int, ordered: bool = False) -> Found:
    """The results of several searches, combined."""
    return Found(
        [chunk for part in parts for chunk in part.chunks],
        sum(part.pairs for part in parts),
        sum(part.tests for part in parts),
        cells,
        ordered,
    )


_MAX_CAPACITY = MOST_KEPT // 16
