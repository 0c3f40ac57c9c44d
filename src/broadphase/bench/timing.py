"""Fair timing on a noisy machine: the contestants take turns, and the best of each counts.

`timeit`, pyperf and pytest-benchmark time one contestant after the other, so that a machine that slows down
half way changes the order; none takes turns, with preparation before each run that does not count.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_TURN = 0.002  # seconds


@dataclass(frozen=True)
class Search:
    """A contestant: what it does before the clock runs, while it runs, and afterwards."""

    run: Callable[[Any], Any]
    """What is timed; it is given what ``prepare`` returned."""
    count: Callable[[Any], int] = len
    """How many pairs the result of ``run`` holds; not timed."""
    prepare: Callable[[], Any] = lambda: None
    """Called before every run; not timed, but it uses up the contestant's time."""
    seconds: Callable[[Any], float] | None = None
    """Reads the time from the result, for what runs in a process of its own and has its own clock."""

    def timed(self) -> tuple[float, float, Any]:
        """Once through: seconds that count, seconds that it took with all around it, and the result."""
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
    """Best time of each in seconds, and the least that one turn took with all around it.

    They take turns for about so many seconds each, and each gets one turn at least.  Who is done quickly is
    called again in the same turn: else what takes microseconds would be timed with the caches of its
    predecessor, and what takes milliseconds with its own.
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
    """Best time of each in seconds, after one uncounted call; they take turns for about so long each."""
    for call in contestants.values():
        call()
    return best_of_searches({name: _plain(call) for name, call in contestants.items()}, seconds)[0]


def _plain(call: Callable[[], Any]) -> Search:
    return Search(lambda _: call())


def best_of_steps(
    steps: Mapping[str, Callable[[], Any]], seconds: float = 1.0, seldom: str = ""
) -> dict[str, float]:
    """Best time of each step of a frame: all are called in turn, over and over, for about so long.

    The step ``seldom`` only every eighth turn: it may be so large that it leaves nothing in the caches.
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
