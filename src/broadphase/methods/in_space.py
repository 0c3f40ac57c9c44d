"""A search in a periodic world, in many environments, or in both, with any method.

The modules that do the work are imported when they are first needed, so plain calls do not pay for them.
"""

from functools import partial

import numpy as np
import numpy.typing as npt

from broadphase import methods
from broadphase.inputs.environments import Envs
from broadphase.inputs.search import Space
from broadphase.methods import choose
from broadphase.methods.few_boxes import find_few
from broadphase.methods.task import Found, Task


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
        return _find(method, task)
    from broadphase.methods.environments import find_in_worlds

    row_envs = env if rows is None else env[rows]
    few = find_few(task, None, row_envs) if method == "auto" else None
    if few is not None:
        return few
    return find_in_worlds(task, row_envs, partial(_find, method), sweep=method in ("auto", "strips"))


def _find(method: str, task: Task) -> Found:
    return methods.finder(choose.choose(task.boxes) if method == "auto" else method)(task)
