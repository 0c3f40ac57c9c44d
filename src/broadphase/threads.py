"""The shared pool: plain Python threads over kernels that release the GIL.

Not Numba's ``parallel=True``: its default layer aborts the process when two threads call in at once.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from numbers import Integral
from typing import TypeVar, cast

Result = TypeVar("Result")


@cache
def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, cores() - 1), thread_name_prefix="broadphase")


def resolve(threads: int | None) -> int:
    """How many threads ``threads=`` asks for; ``None`` is all cores."""
    if threads is None:
        return cores()
    if isinstance(threads, bool) or not isinstance(threads, Integral):  # NumPy's integers are welcome
        raise TypeError(f"threads must be an int or None; got {threads!r}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1; got {threads}")
    return int(threads)


def run_all(calls: list[Callable[[], Result]], limit: int | None = None) -> list[Result]:
    """Run the calls on up to ``limit`` threads (all cores by default); their results in order.

    The calling thread takes part, so one call costs no hand-over, and callers never wait for a pool
    that is busy with others: what no other thread has begun, the caller does itself.
    """
    workers = min(len(calls), limit or cores(), cores())
    if workers == 1:
        return [call() for call in calls]
    results: list[Result | None] = [None] * len(calls)
    undone = iter(range(len(calls)))  # `next` on it is atomic

    def work() -> None:
        for k in undone:
            results[k] = calls[k]()

    helpers = [_pool().submit(work) for _ in range(workers - 1)]
    try:
        work()
    finally:
        for _ in undone:
            pass  # after an error here, the others need not go on
        failures = [helper.exception() for helper in helpers if not helper.cancel()]
    for failure in failures:
        if failure is not None:
            raise failure
    return cast("list[Result]", results)


def shares(n: int, parts: int) -> list[tuple[int, int]]:
    """``range(n)`` cut into ``parts`` contiguous ranges of nearly equal length."""
    edges = [n * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _forget_pool_after_fork() -> None:
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool_after_fork)
