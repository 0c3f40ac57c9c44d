"""A pool of helper threads for kernels that release the GIL.

Not `concurrent.futures`: an exception may arrive at any instruction of a caller (Ctrl-C, an alarm), and a
lock that stays held would block every later call.

These invariants hold wherever such an exception arrives:

- A call leaves `run_all` when no helper works for it and none can start to.  The arrays of the call may then
  be used for something else.
- There is no lock that Python code acquires and must release.  Shared state is changed by single operations
  that are atomic, with the GIL and without: `append`, `popleft` and `clear` of a deque, `put` and `get` of a
  `queue.SimpleQueue`.
- No wake-up is lost: a thread that has spun in vain (`_Pool.words`) blocks until a queue wakes it.
- Helpers are optional.  If there are none (no thread can be started, the interpreter shuts down, all are
  busy with other calls) the caller does all the work itself.
"""

import math
import os
import sys
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from queue import Empty, SimpleQueue
from time import perf_counter
from types import BuiltinFunctionType
from typing import Any, Generic, TypeVar, cast

import numpy as np

from broadphase.kernels.arrays.spin_wait import watch
from broadphase.kernels.machine import interrupts

Result = TypeVar("Result")

# Offers that wait for a helper; if there are more, all helpers have been busy for long.
_MOST_OFFERS = 64
# A waiting caller checks again after this many seconds, in case an exception lost the wake-up.
_LOOK_AGAIN = 0.05
# A thread spins for this many seconds before it blocks.  A wake-up takes 60 microseconds, and a search for
# pairs has seven parallel steps: with spinning 100,000 boxes take 2.1 ms and not 2.6.
_WATCHED = 2e-4
# Seconds; a clock that ticks slower than the code that it times may report that no time has passed.
_TICK = 1e-7
# After an offer a caller needs this long to start its own work and release the GIL; a thread that wants the
# GIL earlier blocks.
_UNTIL_BEGUN = 6e-6
# Nanoseconds of work that pay for a thread: waking it takes half of them (`two_threads` and `watching` of
# ``python benchmarks/tricks.py``).
_PAYS = 100_000.0
# Indices of `_Pool.words`; each in its own cache line.
_OFFERED, _LEFT = 0, 8


class Cancelled(Exception):  # noqa: N818 - not an error: the work is no longer wanted
    """Ends a helper's work when its caller was interrupted."""


class _Job(Generic[Result]):
    """The work of one call: a thread that takes a piece owns it.

    A thread that works for it ends with `Cancelled` at its next check once ``cancelled`` is set.
    """

    cancelled = False

    def __init__(self, calls: Sequence[Callable[[], Result]]) -> None:
        self.parent: _Job[Any] | None = getattr(_inside, "job", None)
        self._results: list[Result | None] = [None] * len(calls)
        self._todo = deque(enumerate(calls))
        self._entered: deque[None] = deque()
        self._left: deque[None] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._failures: deque[BaseException] = deque()
        self._pool = _pool
        self._whole = False

    def work(self) -> None:
        """Take pieces until none is left."""
        todo, results = self._todo, self._results
        while True:
            try:
                k, call = todo.popleft()
            except IndexError:
                break
            results[k] = call()
        self._whole = True

    def help(self) -> None:
        """A helper's part: it reports that it has entered before it takes a piece, and that it has left."""
        self._entered.append(None)
        _inside.job = self
        try:
            self.work()
        except BaseException as error:  # the caller gets every kind of error
            self._failures.append(error)
            self._todo.clear()  # after an error the others need not continue
        finally:
            _inside.job = None
            self._left.append(None)
            self._bell.put(None)

    def close(self) -> None:
        """Hand out no more pieces, and return when all helpers have left.

        An exception that arrives in the meantime is raised at the end.
        """
        arrived: BaseException | None = None
        while True:
            try:
                if arrived is not None or not self._whole:
                    self.cancelled = True
                # A helper that enters from here on takes nothing; one that has taken a piece has entered
                # before.
                self._todo.clear()
                self._watch_helpers()
                while len(self._left) < len(self._entered) and self._pool is _pool:
                    with suppress(Empty):
                        self._bell.get(timeout=_LOOK_AGAIN)
                break
            except BaseException as error:
                arrived = error
        if arrived is not None:
            raise arrived

    def _watch_helpers(self) -> None:
        """Return when all helpers have left, or when nothing has happened for long."""
        words = self._pool.words
        while self._pool is _pool:
            seen = int(words[_LEFT])
            if len(self._left) >= len(self._entered):
                return
            if not watch(words, -1, _LEFT, seen, _turns(_WATCHED), 0):
                return

    def results(self) -> list[Result]:
        """The results of the calls, in order; raises the first failure of a helper."""
        if self._failures:
            raise self._failures.popleft()
        if self._pool is not _pool and len(self._left) < len(self._entered):
            raise RuntimeError("the process was forked in the middle of this call; call again in the child")
        return cast("list[Result]", self._results)


class _Pool:
    """The helper threads of this process, and the work offered to them."""

    def __init__(self) -> None:
        self._offers: SimpleQueue[_Job[object]] = SimpleQueue()
        self._helpers: deque[None] = deque()
        self._no_more = False
        """Whether a thread could not be started: no other is tried in this process."""
        self.words = np.zeros(16, np.int64)
        """How often work was offered, and how often helpers left it, for threads that spin.

        Two simultaneous callers may count one offer; a helper that does not see it sleeps and is woken.
        """

    def offer(self, job: _Job[Result], helpers: int) -> None:
        """Offer the work to this many helpers; none need come."""
        ready = len(self._helpers)
        while ready < min(helpers, _most_helpers()) and not self._no_more:
            try:
                start_new_thread(self._serve, ())
            except (RuntimeError, MemoryError):
                self._no_more = True
                break
            ready += 1
        # Without helpers, nothing would remove the offer.
        for _ in range(min(helpers, ready)):
            if self._offers.qsize() < _MOST_OFFERS:
                self._offers.put(cast("_Job[object]", job))
        self.words[_OFFERED] += 1

    def _serve(self) -> None:
        # Helpers count themselves, so that the number is right even if starting one was interrupted.
        self._helpers.append(None)
        if len(self._helpers) > _most_helpers():
            self._helpers.pop()
            return
        offers, words, rung = self._offers, self.words, -1
        while True:
            seen = int(words[_OFFERED])
            # The signal that this helper has left is sent where the GIL is released, so that the waiting
            # thread continues at once.
            turns = _turns(_WATCHED) if offers.empty() else 0
            watch(words, rung, _OFFERED, seen, turns, _turns(_UNTIL_BEGUN))
            offers.get().help()  # without a name for the job, which would keep its memory alive
            rung = _LEFT


_pool = _Pool()
_inside = threading.local()


@cache
def cores() -> int:
    """How many processors this process may use; in a browser, which starts no threads, one."""
    if sys.platform == "emscripten":
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _turns(seconds: float) -> int:
    """How many turns of `watch` take this long; 0 if it is plain Python, which would hold the GIL."""
    if not isinstance(watch, BuiltinFunctionType):
        return 0
    words, took = np.zeros(1, np.int64), []
    for _ in range(4):
        started = perf_counter()
        watch(words, -1, 0, 0, 50, 0)
        took.append(perf_counter() - started)
    return int(50 * seconds / max(min(took), _TICK))


def _most_helpers() -> int:
    return max(1, cores() - 1)


def run_all(calls: Sequence[Callable[[], Result]], limit: int | None = None) -> list[Result]:
    """Run the calls on up to ``limit`` threads (all cores by default); their results in order.

    The calling thread takes part, so a single call needs no other thread, and a caller never waits for
    helpers that are busy elsewhere: it does the work that no other thread has begun.

    When this returns or raises, no other thread works on the calls.
    """
    workers = 1 if len(calls) == 1 else min(len(calls), limit or cores(), cores())
    if workers <= 1:
        return [call() for call in calls]
    return _run_with_helpers(calls, workers - 1)


def _run_with_helpers(calls: Sequence[Callable[[], Result]], helpers: int) -> list[Result]:
    job = _Job(calls)
    # A second exception may arrive just when `close` begins or handles the first; then the next `close`
    # completes the work.
    try:
        try:
            try:
                _pool.offer(job, helpers)
                job.work()
            finally:
                job.close()
        finally:
            job.close()
    finally:
        job.close()
    return job.results()


def stop_if_unwanted() -> None:
    """Raise, in a helper, if the caller of `run_all` was interrupted, or that of a call around it.

    Raises
    ------
    Cancelled
        The caller was interrupted.
    """
    job: _Job[Any] | None = getattr(_inside, "job", None)
    while job is not None:
        if job.cancelled:
            raise Cancelled
        job = job.parent


interrupts.checks.append(stop_if_unwanted)


def shares(n: int, parts: int, cost: float = math.inf, pieces: int = 1) -> list[tuple[int, int]]:
    """``range(n)`` cut into contiguous ranges of nearly equal length, ``pieces`` for each of some threads.

    There are fewer threads where they would not pay: a row takes ``cost`` nanoseconds.

    Examples
    --------
    >>> shares(9, 2), shares(9, 2, pieces=2), shares(9, 2, cost=100.0)
    ([(0, 4), (4, 9)], [(0, 2), (2, 4), (4, 6), (6, 9)], [(0, 9)])
    """
    if parts == 1 or n * cost < 2.0 * _PAYS:
        return [(0, n)]
    parts = pieces * int(min(parts, n * cost / _PAYS))
    edges = [n * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _forget_helpers_after_fork() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers_after_fork)
