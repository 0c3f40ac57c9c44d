"""Long work in slices, with a look at whether anybody still wants it between two of them.

A compiled kernel can not be interrupted.  So it runs for less than 0.1 s at a time, and what a signal's
handler raises, such as KeyboardInterrupt, is raised between two such calls.  There are three ways:

- Brute force, sort and sweep and strips stop by themselves, wherever they are, and go on there
  (`search_from`; the rules stand in `broadphase.kernels.arrays.emit`).
- The others (cells, trees) are handed a long range of rows in slices (`searches`).  Where to cut follows
  from how many comparisons the rows may take (`Work`), and from how long the slice before took.  Calls that
  are over in less than 0.1 s are not cut at all.
- What takes about the same for each row, such as copying boxes into strips, goes over so many rows at a time
  (`ranges`).

What remains, and runs to its end: a cell that holds most of a large world; the building of a tree; sorting
all boxes by one edge (sort and sweep, or a strip that holds all), some tenths of a second for ten million
boxes; one look at all boxes, to check them or leave some out; a box with very many partners whose pairs are
sorted.
"""

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from broadphase.boxes import PairArray
from broadphase.kernels.arrays.emit import FIRST_ROOM, LEAST_ROOM
from broadphase.threads import GivenUp, given_up

GOAL = 0.08
"""Seconds that a slice may take; less than half of what a call may go on after it was interrupted."""
MOST = 50_000_000
"""Comparisons in a slice; they seldom take more than `GOAL`."""
MOST_ROWS = 4_000_000
"""Rows, of a range, that are copied or sorted at a time."""
MOST_ROOM = 1 << 22
"""Pairs for which memory is taken at a time."""

Position = tuple[int, ...]
Resumable = Callable[[Position, int, PairArray, int, bool], tuple[Position, int, int]]
"""``kernel(at, end, out, most, store)`` returns ``at, found, tests``."""

Kernel = Callable[[int, int, PairArray], tuple[PairArray, int, int]]


class Work(NamedTuple):
    """About how many comparisons a range of rows takes: what cuts it into slices."""

    rows: npt.NDArray[np.floating[Any]]
    """Rising row numbers, from 0 to the end."""
    before: npt.NDArray[np.floating[Any]]
    """The comparisons of all rows before each; between two of them, in proportion."""

    @classmethod
    def even(cls, n: int, each: float) -> Self:
        """``n`` rows that all take the same."""
        return cls(np.array([0.0, n]), np.array([0.0, n * each]))

    @classmethod
    def sampled(cls, n: int, rows: npt.NDArray[Any], each: npt.NDArray[Any]) -> Self:
        """``n`` rows of which some, at even distances from row 0 on, take so many comparisons."""
        edges = np.append(rows, n).astype(np.float64)
        return cls(edges, np.append(0.0, np.cumsum(np.diff(edges) * each)))

    @property
    def total(self) -> float:
        """The comparisons of all rows."""
        return float(self.before[-1])

    def until(self, row: int) -> float:
        """The comparisons of all rows before this one."""
        return float(np.interp(row, self.rows, self.before))

    def row_at(self, comparisons: float) -> int:
        """The row before which so many are made."""
        return int(np.interp(comparisons, self.before, self.rows))


class Part(NamedTuple):
    """What was found in a range of rows."""

    chunks: list[PairArray]
    pairs: int
    tests: int


def slices(begin: int, end: int, work: Work) -> Iterator[tuple[int, int]]:
    """``range(begin, end)`` in slices for a kernel to run over.

    Raises
    ------
    GivenUp
        In a helper, where the caller of `threads.run_all` was interrupted.

    Examples
    --------
    >>> list(slices(0, 1000, Work.even(1000, each=10)))
    [(0, 1000)]
    >>> list(slices(0, 5, Work.even(5, each=MOST)))
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    """
    last = work.until(end)
    most, done = float(MOST), work.until(begin)
    while last - done > most:
        if given_up():
            raise GivenUp
        stop = min(max(begin + 1, work.row_at(done + most)), end)
        started = perf_counter()
        yield begin, stop
        took = perf_counter() - started
        before, begin, done = done, stop, work.until(stop)
        most = min(MOST, (done - before) * GOAL / max(took, 1e-6))
    if begin < end:
        yield begin, end


def search_from(kernel: Resumable, at: Position, end: int, out: PairArray, limit: int, store: bool) -> Part:
    """Let a kernel that can stop search from ``at`` to row ``end``, in as many calls as it takes.

    What it finds fills ``out``, then further chunks.  It ends early when there are more than ``limit`` pairs.

    Raises
    ------
    GivenUp
        In a helper, where the caller of `threads.run_all` was interrupted.
    """
    chunks: list[PairArray] = []
    pairs = tests = 0
    most = int(MOST)
    while True:
        if len(out) < LEAST_ROOM:
            out = np.empty((min(max(2 * pairs, FIRST_ROOM), MOST_ROOM), 2), np.int32)
        if len(out) > limit - pairs + LEAST_ROOM:  # so that it does not go far beyond
            out = out[: limit - pairs + LEAST_ROOM]
        started = perf_counter()
        at, found, more = kernel(at, end, out, most, store)
        pairs += int(found)
        tests += int(more)
        if store:
            chunks.append(out[:found])
            out = out[found:]
        if at[0] >= end or pairs > limit:
            return Part(chunks, pairs, tests)
        if given_up():
            raise GivenUp
        took = perf_counter() - started
        most = min(int(MOST), int(most * GOAL / max(took, 1e-6)) + 1)


def ranges(begin: int, end: int, most: int = MOST_ROWS) -> Iterator[tuple[int, int]]:
    """``range(begin, end)`` in ranges of at most so many rows.

    Raises
    ------
    GivenUp
        As of `slices`.

    Examples
    --------
    >>> list(ranges(0, 1000))
    [(0, 1000)]
    """
    while end - begin > most:
        if given_up():
            raise GivenUp
        yield begin, begin + most
        begin += most
    yield begin, end


def searches(kernel: Kernel, work: Work, limit: int, store: bool) -> Callable[[int, int, PairArray], Part]:
    """A search of a range of rows, in slices where that takes long: ``search(begin, end, out)``.

    ``kernel(begin, end, out)`` returns ``out, found, tests``, with a larger ``out`` if it had to be.
    """
    cut = partial(_in_slices, work=work) if work.total > MOST else _in_one
    return partial(cut, kernel, limit=limit, store=store)


def _in_one(kernel: Kernel, begin: int, end: int, out: PairArray, *, limit: int, store: bool) -> Part:
    filled, found, tests = kernel(begin, end, out)
    return Part([filled[:found]] if store else [], int(found), int(tests))


def _in_slices(
    kernel: Kernel, begin: int, end: int, out: PairArray, *, work: Work, limit: int, store: bool
) -> Part:
    """Each slice writes behind what the one before has found, while there is room."""
    chunks: list[PairArray] = []
    pairs = tests = 0
    room, own = out, False
    for first, last in slices(begin, end, work):
        filled, found, more = kernel(first, last, room)
        pairs += int(found)
        tests += int(more)
        own = own or filled is not room  # memory that a kernel made
        if store:
            # A short answer that needed a large array does not keep it.
            apart = own and last < end and 4 * found < len(filled)
            chunks.append(filled[:found].copy() if apart else filled[:found])
            room = filled if apart else filled[found:]
        if pairs > limit:
            break
    return Part(chunks, pairs, tests)
