"""A search in a periodic world, in many environments, or in both, with any method.

The modules that do the work are imported when they are first needed, so plain calls do not pay for them.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import methods
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.space import Envs, Period, as_env, as_period
from broadphase.methods import choose
from broadphase.methods.task import NO_LIMIT, Found, Task

_FEW = 128  # boxes of which all pairs are compared in less time than grouping them by environment takes


class Space(NamedTuple):
    """The period and the environments of a search."""

    period: Period | None
    env: Envs | None


def as_space(period: Any, env: Any, boxes: BoxArray) -> Space | None:
    """Both arguments, checked; ``None`` for a plain world."""
    if period is None and env is None:
        return None
    return Space(as_period(period, boxes.shape[1] // 2), as_env(env, len(boxes)))


def as_envs(env: Any, rows_of_a: int, rows_of_b: int) -> Envs | None:
    """The environments of both sides of a join, for the rows of both."""
    if env is None:
        return None
    if not isinstance(env, (tuple, list)) or len(env) != 2:
        raise TypeError(f"env must be two, the environments of a and of b; got {type(env).__name__}")
    first, second = as_env(env[0], rows_of_a, "env[0]"), as_env(env[1], rows_of_b, "env[1]")
    if first is None or second is None:
        raise TypeError("env must be two, the environments of a and of b; one of them is None")
    return np.concatenate((first, second))


def find_in_space(method: str, task: Task, space: Space) -> Found:
    """Run a method by name in a periodic world, in many environments, or both."""
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
        return _find(method, task)
    from broadphase.methods.environments import find_in_worlds

    own = env if rows is None else env[rows]
    if method == "auto" and len(own) <= _FEW:
        return _in_one_env(own, _find("brute_force", replace(task, limit=NO_LIMIT, store=True)))
    return find_in_worlds(task, own, partial(_find, method), sweep=method in ("auto", "strips"))


def _in_one_env(env: Envs, found: Found) -> Found:
    """Only the pairs of which both are in one environment."""
    chunks = [chunk[env[chunk[:, 0]] == env[chunk[:, 1]]] for chunk in found.chunks]
    return Found(chunks, sum(map(len, chunks)), found.tests, found.cells)


def _find(method: str, task: Task) -> Found:
    return methods.finder(choose.choose(task.boxes) if method == "auto" else method)(task)
