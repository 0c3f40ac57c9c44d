"""A search in a periodic world, in many environments, or in both, with any method.

The modules that do the work are imported when they are first needed, so plain calls do not pay for them.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from broadphase import methods
from broadphase.inputs.environments import Envs
from broadphase.inputs.search import Space
from broadphase.kernels.boxes.overlap import SHARED
from broadphase.methods import choose
from broadphase.methods.task import NO_LIMIT, Found, Task

_FEW = 128  # boxes of which all pairs are compared in less time than grouping them by environment takes


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
    """Only the pairs of which both are in one environment, or one is in all."""
    ends = [(chunk, env[chunk[:, 0]], env[chunk[:, 1]]) for chunk in found.chunks]
    chunks = [chunk[(a == b) | (a == SHARED) | (b == SHARED)] for chunk, a, b in ends]
    return Found(chunks, sum(map(len, chunks)), found.tests, found.cells)


def _find(method: str, task: Task) -> Found:
    return methods.finder(choose.choose(task.boxes) if method == "auto" else method)(task)
