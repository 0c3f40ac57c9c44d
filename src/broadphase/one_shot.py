"""Arrays in, arrays out: `pairs`, `join`, `count_pairs` and `explain`."""

from typing import Any

import numpy as np

from broadphase import choose, methods, threads
from broadphase.boxes import BoxArray, PairArray, as_boxes, as_filter, join_filter
from broadphase.errors import PairLimitExceeded
from broadphase.kernels.order import sorted_pairs
from broadphase.methods.task import NO_LIMIT, Found, Task

METHODS = (*methods.NAMES, "auto")
"""The names that ``method=`` takes."""


def pairs(
    boxes: Any,
    *,
    method: str = "auto",
    touching: bool = True,
    sort: bool = True,
    static: Any = None,
    categories: Any = None,
    masks: Any = None,
    threads: int | None = None,
    max_pairs: int | None = None,
) -> PairArray:
    """Every pair of boxes that overlap."""
    array = as_boxes(boxes)
    task = _task(array, touching, as_filter(len(array), static, categories, masks), threads, max_pairs)
    return _arranged(_search(method, task), task, sort)


def join(
    a: Any,
    b: Any,
    *,
    method: str = "auto",
    touching: bool = True,
    sort: bool = True,
    threads: int | None = None,
    max_pairs: int | None = None,
) -> PairArray:
    """Every row of ``a`` with every row of ``b`` that it overlaps."""
    first, second = as_boxes(a, "a"), as_boxes(b, "b")
    both = np.concatenate(_same_dimension(first, second))
    task = _task(both, touching, join_filter(len(first), len(second)), threads, max_pairs)
    result = _arranged(_search(method, task), task, sort)
    result[:, 1] -= len(first)
    return result


def count_pairs(
    boxes: Any,
    *,
    method: str = "auto",
    touching: bool = True,
    static: Any = None,
    categories: Any = None,
    masks: Any = None,
    threads: int | None = None,
) -> int:
    """How many pairs of boxes overlap, without storing them."""
    array = as_boxes(boxes)
    task = _task(
        array, touching, as_filter(len(array), static, categories, masks), threads, None, store=False
    )
    return _search(method, task).pairs


def explain(boxes: Any) -> Any:
    """What ``"auto"`` would pick for these boxes, and why."""
    return choose.choose(as_boxes(boxes))


def _task(
    boxes: BoxArray,
    touching: bool,
    pair_filter: Any,
    thread_count: int | None,
    max_pairs: int | None,
    store: bool = True,
) -> Task:
    return Task(boxes, bool(touching), pair_filter, threads.resolve(thread_count), _limit(max_pairs), store)


def _limit(max_pairs: int | None) -> int:
    if max_pairs is None:
        return NO_LIMIT
    if isinstance(max_pairs, bool) or not isinstance(max_pairs, (int, np.integer)):
        raise TypeError(f"max_pairs must be an int or None; got {max_pairs!r}")
    if max_pairs < 0:
        raise ValueError(f"max_pairs must not be negative; got {max_pairs}")
    return int(max_pairs)


def _search(method: str, task: Task) -> Found:
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; choose one of {', '.join(METHODS)}")
    if len(task.boxes) < 2:
        return Found([], 0, 0)
    name = choose.choose(task.boxes) if method == "auto" else method
    found = methods.finder(name)(task)
    if found.pairs > task.limit:
        raise PairLimitExceeded(task.limit)
    return found


def _arranged(found: Found, task: Task, sort: bool) -> PairArray:
    if not found.chunks:
        return np.empty((0, 2), np.int32)
    if sort:
        return sorted_pairs(found.chunks, len(task.boxes))
    return found.chunks[0] if len(found.chunks) == 1 else np.concatenate(found.chunks)


def _same_dimension(a: BoxArray, b: BoxArray) -> tuple[BoxArray, BoxArray]:
    if len(a) == 0:
        a = a[:, :0].reshape(0, b.shape[1])
    elif len(b) == 0:
        b = b[:, :0].reshape(0, a.shape[1])
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"a is {a.shape[1] // 2}-D and b is {b.shape[1] // 2}-D (shapes {a.shape} and {b.shape}); "
            "both sides of a join must have the same dimension"
        )
    return a, b
