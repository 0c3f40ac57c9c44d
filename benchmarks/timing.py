"""Fair timing on a noisy machine: the contestants take turns, and the best of each counts.

`timeit`, pyperf and pytest-benchmark time one contestant after the other, so a machine that slows down half
way changes the ranking.  None of them takes turns with an untimed preparation before each run.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

_TURN = 0.002  # seconds


@dataclass(frozen=True)
class Search:
    """A contestant: what it does before, during and after the time that counts."""

    run: Callable[[Any], Any]
    """The timed call; its argument is the result of ``prepare``."""
    count: Callable[[Any], int] = len
    """The number of pairs in the result of ``run``; not timed."""
    prepare: Callable[[], Any] = lambda: None
    """Called before every run; not timed, but counted against the contestant's budget."""
    seconds: Callable[[Any], float] | None = None
    """Reads the time from the result, for a process that has its own clock."""

    def timed(self) -> tuple[float, float, Any]:
        """One run: the seconds that count, the seconds with preparation, and the result."""
        start = time.perf_counter()
        prepared = self.prepare()
        begin = time.perf_counter()
        result = self.run(prepared)
        end = time.perf_counter()
        counted = self.seconds(result) if self.seconds else end - begin
        return counted, end - start, result


def best_of_searches(
    searches: Mapping[str, Search], seconds: float
) -> tuple[dict[str, float], dict[str, float]]:
    """The best time of each in seconds, without and with preparation.

    They take turns for about this many seconds each, and each gets at least one turn.  A fast contestant is
    called several times per turn; otherwise it would run with the caches of its predecessor, and a slow one
    with its own.
    """
    best = {name: float("inf") for name in searches}
    whole = dict(best)
    spent = dict.fromkeys(searches, 0.0)
    for turn in range(1_000):
        for name, search in searches.items():
            in_turn = 0.0
            while in_turn < _TURN and (spent[name] < seconds or turn == in_turn == 0):
                counted, took, _ = search.timed()
                best[name] = min(best[name], counted)
                whole[name] = min(whole[name], took)
                in_turn += took
                spent[name] += took
        if all(used >= seconds for used in spent.values()):
            break
    return best, whole


def best_of(contestants: Mapping[str, Callable[[], Any]], seconds: float = 1.0) -> dict[str, float]:
    """The best time of each in seconds, after one call that does not count; they take turns."""
    for call in contestants.values():
        call()
    return best_of_searches(
        {name: Search(partial(_call, call)) for name, call in contestants.items()}, seconds
    )[0]


def _call(call: Callable[[], Any], prepared: None) -> Any:
    return call()


def best_of_steps(
    steps: Mapping[str, Callable[[], Any]], seconds: float = 1.0, seldom: str = ""
) -> dict[str, float]:
    """The best time of each step of a frame: all are called one after another for about this long.

    The step ``seldom`` is called in every eighth turn only, because it may flush the caches.
    """
    best = {name: float("inf") for name in steps}
    begin = time.perf_counter()
    for turn in range(1_000):
        for name, call in steps.items():
            if name == seldom and turn % 8 > 1:
                continue
            before = time.perf_counter()
            call()
            if turn > 0:
                best[name] = min(best[name], time.perf_counter() - before)
        if turn >= 4 and time.perf_counter() - begin >= seconds:
            break
    return best
