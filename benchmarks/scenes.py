"""Named scenes, the same on every run: all are seeded and hold ``n`` boxes of float32."""

import numpy as np
import numpy.typing as npt

Boxes = npt.NDArray[np.float32]


def _rows(low: npt.NDArray[np.float64], extent: npt.ArrayLike) -> Boxes:
    low32 = low.astype(np.float32)
    return np.hstack([low32, low32 + np.asarray(extent, np.float32)])


def _extent(n: int, dim: int) -> float:
    """Side of equal cubes in the unit cube that gives two pairs a box."""
    return float((4 / n) ** (1 / dim) / 2)


def uniform(n: int, dim: int) -> Boxes:
    """Equal squares or cubes, spread evenly, two pairs a box."""
    rng = np.random.default_rng(7)
    return _rows(rng.random((n, dim)), _extent(n, dim))


def mixed_sizes(n: int, dim: int) -> Boxes:
    """Sizes over four decades, as many boxes of each."""
    rng = np.random.default_rng(7)
    size = 10.0 ** rng.uniform(-4, 0, (n, 1))
    return _rows(rng.random((n, dim)), np.minimum(size * _extent(n, dim) * 2, 0.5))


def far_clusters(n: int, dim: int) -> Boxes:
    """A hundred crowds, about two pairs a box, in a world a million times as wide as one of them."""
    rng = np.random.default_rng(7)
    centres = rng.random((100, dim)) * 1e4
    low = centres[rng.integers(0, 100, n)] + 0.01 * rng.random((n, dim))
    return _rows(low, 0.01 * _extent(max(n // 100, 4), dim))


def line(n: int, dim: int) -> Boxes:
    """Everything on the last axis, two pairs a box."""
    rng = np.random.default_rng(7)
    low = np.zeros((n, dim))
    low[:, -1] = rng.random(n)
    return _rows(low, 2 / n)


def walls(n: int, dim: int) -> Boxes:
    """Small boxes, and one in a hundred a wall across a tenth of the world."""
    rng = np.random.default_rng(7)
    extent = np.full((n, dim), 0.3 * _extent(n, dim))
    walls = np.flatnonzero(rng.random(n) < 0.01)
    extent[walls, rng.integers(0, dim, len(walls))] = 0.1
    return _rows(rng.random((n, dim)), extent)


SCENES = {scene.__name__: scene for scene in (uniform, mixed_sizes, far_clusters, line, walls)}
