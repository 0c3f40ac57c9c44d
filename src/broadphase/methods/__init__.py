"""The broad phases for one call: a `Task` in, its pairs out.

Each method is one module with a function ``find(task) -> Found``.  All methods find exactly the same
pairs; they differ in cost.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Literal, get_args

from broadphase.methods.task import Found, Task

# "auto" is not a method: `broadphase.methods.choose` picks one of these.
Name = Literal["brute_force", "sort_and_sweep", "uniform_grid", "spatial_hash", "tree", "strips"]
NAMES: tuple[Name, ...] = get_args(Name)


@cache
def finder(name: str) -> Callable[[Task], Found]:
    """The ``find`` of the method called ``name``; only its own kernels are imported."""
    find: Callable[[Task], Found] = import_module(f"broadphase.methods.{name}").find
    return find
