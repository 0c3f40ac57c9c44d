"""The timing of ``broadphase bench``, for the scripts in this folder."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from broadphase.bench.timing import Search, best_of_searches


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
