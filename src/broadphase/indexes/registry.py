"""Which indexes there are, and where each lives: nothing is imported before it is asked for."""

from importlib import import_module
from typing import Any, Literal

Name = Literal[
    "brute_force", "uniform_grid", "spatial_hash", "box_tree", "strips", "sort_and_sweep", "sweep_and_prune"
]
Choice = Literal[Name, "auto"]

CLASSES: dict[Name, str] = {
    "brute_force": "BruteForce",
    "uniform_grid": "UniformGrid",
    "spatial_hash": "SpatialHash",
    "box_tree": "BoxTree",
    "strips": "Strips",
    "sort_and_sweep": "SortAndSweep",
    "sweep_and_prune": "SweepAndPrune",
}
"""Class by name; the module of this package that holds the class bears the name."""


def class_named(name: str) -> type[Any]:
    """The class called ``name``; only its own file is imported."""
    if name not in CLASSES:
        raise ValueError(f"unknown index {name!r}; choose one of {', '.join(CLASSES)}")
    found: type[Any] = getattr(import_module(f"broadphase.indexes.{name}"), CLASSES[name])
    return found


def on_torus(plain: type[Any]) -> type[Any]:
    """The class of such indexes with a period."""
    made: type[Any] = import_module("broadphase.indexes.periodic").periodic(plain)
    return made


def of_many_worlds(plain: type[Any]) -> type[Any]:
    """The class of such indexes whose boxes are in different environments."""
    made: type[Any] = import_module("broadphase.indexes.many_worlds").many_worlds(plain)
    return made
