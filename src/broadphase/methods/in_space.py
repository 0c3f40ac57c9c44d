"""A search in a periodic world, in many environments, or in both, with any method.

*Few boxes* in a world of any kind are compared with each other in one call of a kernel.  Cost: as many
comparisons as there are pairs, 16 at a time.  It wins where there is a period, sets or environments, up to
some hundred boxes; without them it is no faster than `broadphase.methods.brute_force` from some tens of boxes
on.

The modules that search many boxes are imported when they are first needed, so plain calls do not pay for
them.
"""

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs.environments import Envs
from broadphase.inputs.periods import Period, as_period
from broadphase.inputs.search import GivenBoxes, GivenJoin, Space
from broadphase.kernels.boxes.few_boxes import MOST_TESTS, find_pairs_of_few
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.kernels.machine.kernel import try_call
from broadphase.methods import choose
from broadphase.methods.task import Found, Task
from broadphase.runtime.memory import PairArray

_pairs_of_few = try_call(find_pairs_of_few)
_OPEN = (math.inf,) * 3
_EVERY_BIT = 0xFFFFFFFF
_NONE: Any = np.empty(0, np.int64)
_NO_RULES = PairFilter(np.empty(0, np.uint8), _NONE, _NONE)


def _most_tests(period: Any, env: Any) -> int:
    return MOST_TESTS // 2 if period is env is None else MOST_TESTS


def pairs_of_few(given: GivenBoxes, touching: bool) -> PairArray | None:
    """All pairs of few boxes, in order; None if another search must say."""
    boxes, static, categories, masks, period, env = given
    n = len(boxes) if boxes.ndim == 2 else 0
    if not 0 < n * n <= _most_tests(period, env):
        return None
    rules = _NO_RULES
    if static is not None:
        if static.dtype != np.bool_:
            return None
        rules = rules._replace(classes=static.view(np.uint8))
    if categories is not None or masks is not None:
        categories = np.ones(n, np.int64) if categories is None else categories
        masks = np.full(n, _EVERY_BIT, np.int64) if masks is None else masks
        if categories.dtype.kind not in "iu" or masks.dtype.kind not in "iu":
            return None
        rules = _with_sets(rules, categories, masks)
    envs = _NONE if env is None else env
    return _found(boxes, boxes, True, touching, period, rules, envs, envs)


def join_of_few(given: GivenJoin, touching: bool) -> PairArray | None:
    """All rows of a and b that overlap, in order; None if another search must say."""
    a, b, period, env = given
    if a.ndim != 2 or b.ndim != 2 or not 0 < len(a) * len(b) <= _most_tests(period, env):
        return None
    if env is None:
        env = _NONE, _NONE
    elif type(env) is not tuple or len(env) != 2:
        return None
    return _found(a, b, False, touching, period, _NO_RULES, *env)


def _found(
    boxes: Any, others: Any, among: bool, touching: bool, period: Any, rules: PairFilter, *envs: Any
) -> PairArray | None:
    lengths = _OPEN
    if period is not None:
        try:
            given = as_period(period, boxes.shape[1] // 2)
        except (TypeError, ValueError):
            return None  # `as_period` names what is wrong
        lengths = _OPEN if given is None else tuple(given.tolist())
    found = _pairs_of_few(boxes, others, among, touching, lengths, rules, *envs)
    return None if found is None or found[1] < 0 else found[0]


def _with_sets(rules: PairFilter, categories: Any, masks: Any) -> PairFilter:
    """The rules with sets of one type."""
    return PairFilter(
        rules.classes, categories.astype(np.int64, copy=False), masks.astype(np.int64, copy=False)
    )


def find_few(task: Task, period: Period | None, env: Envs | None) -> Found | None:
    """The pairs of a task in a period and environments; None if there are many, or one has no place."""
    n = len(task.boxes)
    if not n * n <= _most_tests(period, env):
        return None
    lengths, envs = _OPEN if period is None else tuple(period.tolist()), _NONE if env is None else env
    rules = _with_sets(task.filter, task.filter.categories, task.filter.masks)
    rows, found = find_pairs_of_few(task.boxes, task.boxes, True, task.touching, lengths, rules, envs, envs)
    return None if found < 0 else Found([rows], found, n * (n - 1) // 2, ordered=True)


def find_in_space(method: str, task: Task, space: Space) -> Found:
    """Run a method by name in a periodic world, in many environments, or both."""
    few = find_few(task, space.period, space.env) if method == "auto" else None
    if few is not None:
        return few
    search = partial(search_in_envs, method, space.env)
    if space.period is None:
        return search(task, None)
    from broadphase.methods.periodic import find_periodic

    return find_periodic(task, space.period, search)


def search_in_envs(method: str, env: Envs | None, task: Task, rows: npt.NDArray[np.int32] | None) -> Found:
    """The pairs of a task, whose boxes are these ``rows`` of ``env``, or all of them."""
    if len(task.boxes) < 2:
        return Found([], 0, 0)
    if env is None:
        return choose.find(task, method)
    from broadphase.methods.environments import find_in_worlds

    row_envs = env if rows is None else env[rows]
    few = find_few(task, None, row_envs) if method == "auto" else None
    if few is not None:
        return few
    return find_in_worlds(
        task, row_envs, partial(choose.find, method=method), sweep=method in ("auto", "strips")
    )
