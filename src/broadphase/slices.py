"""Long work in slices, with a look at whether anybody still wants it between two of them.

A compiled kernel can not be interrupted.  So it runs for less than 0.1 s at a time, and what a signal's
handler raises, such as KeyboardInterrupt, is raised between two such calls.  There are three ways:

- Searches for pairs, and the building of a tree, stop by themselves, wherever they are, and go on there
  (`search_from`; the rules stand in `broadphase.kernels.arrays.emit`).
- Questions in batches are handed to a kernel so many at a time (`slices`); how many follows from how long the
  slice before took.
- What takes about the same for each row, such as copying boxes into strips, goes over so many rows at a time
  (`ranges`, and `broadphase.kernels.arrays.pieces`).
"""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import NamedTuple

import numpy as np

from broadphase.boxes import PairArray
from broadphase.kernels.arrays.emit import FIRST_ROOM, LEAST_ROOM
from broadphase.threads import GivenUp, given_up

GOAL = 0.08
"""Seconds that a slice may take; less than half of what a call may go on after it was interrupted."""
MOST = 50_000_000
"""Comparisons in a slice; they seldom take more than `GOAL`."""
FIRST = 2_000_000
"""Comparisons in the first slice, which shows what they take: ten times as much where memory is slow."""
MOST_ROWS = 4_000_000
"""Rows, of a range, that are copied or sorted at a time."""
MOST_ROOM = 1 << 22
"""Pairs for which memory is taken at a time."""
MOST_CHANGES = 20_000
"""Changes to a structure that are made at a time."""
FEW_QUESTIONS = 64
"""Questions of a batch that are asked first, to see what they take."""

Position = tuple[int, ...]
Resumable = Callable[[Position, int, PairArray, int, bool], tuple[Position, int, int]]
"""``kernel(at, end, out, most, store)`` returns ``at, found, tests``."""


class Part(NamedTuple):
    """What was found in a range of rows."""

    chunks: list[PairArray]
    pairs: int
    tests: int


def slices(begin: int, end: int, each: float) -> Iterator[tuple[int, int]]:
    """``range(begin, end)`` in slices for a kernel to run over, where each row takes so many comparisons.

    How many rows are in one also follows from how long the slice before took.

    Raises
    ------
    GivenUp
        In a helper, where the caller of `threads.run_all` was interrupted.

    Examples
    --------
    >>> list(slices(0, 1000, 10))
    [(0, 1000)]
    >>> list(slices(0, 5, MOST))
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    """
    at_most = max(1, int(MOST / max(each, 1e-9)))
    most = max(1, int(FIRST / max(each, 1e-9)))
    while end - begin > most:
        stop_if_unwanted()
        started = perf_counter()
        yield begin, begin + most
        took = perf_counter() - started
        begin += most
        most = min(at_most, int(most * GOAL / max(took, 1e-6)) + 1)
    if begin < end:
        yield begin, end


def stop_if_unwanted() -> None:
    """Leave, in a helper, where the caller of `threads.run_all` was interrupted.

    Raises
    ------
    GivenUp
        That is so.
    """
    if given_up():
        raise GivenUp


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
    most = int(min(MOST, FIRST))
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
        stop_if_unwanted()
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
        stop_if_unwanted()
        yield begin, begin + most
        begin += most
    yield begin, end


def growing(count: int) -> Iterator[tuple[int, int]]:
    """``range(count)`` in slices for a kernel, where nobody knows what a row takes: questions in a batch.

    The first slices are short; what they take says how long the next may be.

    Raises
    ------
    GivenUp
        As of `slices`.

    Examples
    --------
    >>> list(growing(FEW_QUESTIONS))
    [(0, 64)]
    """
    begin, most = 0, FEW_QUESTIONS
    while count - begin > most:
        started = perf_counter()
        yield begin, begin + most
        stop_if_unwanted()
        took = perf_counter() - started
        begin += most
        most = int(min(8 * most, most * GOAL / max(took, 1e-6))) + 1
    yield begin, count


def few_at_a_time(count: int) -> Iterator[tuple[int, int]]:
    """``range(count)`` in ranges, where each row is a change to a structure, which takes some microseconds.

    Examples
    --------
    >>> list(few_at_a_time(5))
    [(0, 5)]
    """
    return ranges(0, count, MOST_CHANGES)


def in_chunks(
    ask: Callable[[int, int, PairArray], tuple[int, int, int]], count: int, room: int
) -> tuple[PairArray, int]:
    """The rows that answer ``count`` questions, in their order, and the tests.

    ``ask(begin, end, out)`` answers those from ``begin`` on while there is room for the whole answer of one;
    it returns the question to go on with, how many rows it wrote to ``out``, and the tests.  ``room`` is a
    guess.
    """
    room = min(room, MOST_ROOM)
    out = np.empty((room, 2), np.int32)
    chunks = [out[:0]]
    tests = 0
    for begin, end in growing(count):
        at = begin
        while True:
            before = at
            at, rows, made = ask(before, end, out)
            chunks.append(out[:rows])
            out = out[rows:]
            tests += made
            if at == end:
                break
            if at == before and len(out) == room:  # it takes more to answer one
                room *= 4
            out = np.empty((room, 2), np.int32)
    return _side_by_side(chunks), tests


def _side_by_side(chunks: list[PairArray]) -> PairArray:
    """Chunks of which nearly always the first memory held all: then no copy."""
    first = chunks[0].base
    rows = sum(map(len, chunks))
    if first is not None and all(chunk.base is first for chunk in chunks):
        whole: PairArray = first[:rows]
        return whole
    return np.concatenate(chunks)
