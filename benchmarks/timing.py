"""The timing of ``broadphase bench``, for the scripts in this folder."""

from broadphase.bench.timing import best_of as best_of
from broadphase.bench.timing import best_of_steps as best_of_steps
