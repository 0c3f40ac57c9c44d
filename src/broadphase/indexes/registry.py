"""The names of all indexes."""

from typing import Literal

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
"""Class by name."""
