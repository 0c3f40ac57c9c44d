"""The scenes of ``broadphase bench``, for the scripts in this folder."""

from broadphase.bench.scenes import SCENES as SCENES
from broadphase.bench.scenes import Boxes as Boxes
from broadphase.bench.scenes import far_clusters as far_clusters
from broadphase.bench.scenes import line as line
from broadphase.bench.scenes import mixed_sizes as mixed_sizes
from broadphase.bench.scenes import uniform as uniform
from broadphase.bench.scenes import walls as walls
