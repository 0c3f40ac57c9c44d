"""Fair timing on a noisy machine: the contestants take turns, and the best of each counts."""

import time
from collections.abc import Callable, Mapping
from typing import Any


def best_of(contestants: Mapping[str, Callable[[], Any]], seconds: float = 1.0) -> dict[str, float]:
    """Best time of each in seconds, after one uncounted call; they take turns for about so long each."""
    best = {name: float("inf") for name in contestants}
    spent = dict.fromkeys(contestants, 0.0)
    for call in contestants.values():
        call()
    for _ in range(200):
        for name, call in contestants.items():
            if spent[name] < seconds:
                begin = time.perf_counter()
                call()
                took = time.perf_counter() - begin
                best[name] = min(best[name], took)
                spent[name] += took
        if min(spent.values()) >= seconds:
            break
    return best


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
