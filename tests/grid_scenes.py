"""Scenes on which grids and hashes go wrong, and what both must do on them."""

import numpy as np
import pytest

from broadphase.inputs.boxes import as_boxes
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.methods import brute_force, spatial_hash, uniform_grid
from broadphase.methods.task import Task

METHODS = {"uniform_grid": uniform_grid, "spatial_hash": spatial_hash}

each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
each_dim = pytest.mark.parametrize("dim", [2, 3])


def task(boxes, touching=True, rules=None, **options):
    return Task(as_boxes(boxes), touching, no_filter() if rules is None else rules, **options)


def pairs(found):
    rows = np.concatenate([np.empty((0, 2), np.int32), *found.chunks])
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def agree(method, boxes, touching=True, rules=None, threads=1, **options):
    """The method finds what brute force finds, each pair once; returns what it found."""
    expected = pairs(brute_force.find(task(boxes, touching, rules)))
    found = method.find(task(boxes, touching, rules, threads=threads), **options)
    np.testing.assert_array_equal(pairs(found), expected)
    assert found.tests >= found.pairs == len(expected)
    return found


def squares(random, n, dim, size, world=1.0):
    low = random.random((n, dim)) * world
    return np.hstack((low, low + np.broadcast_to(size, (n, 1))))


def far_clusters(random, n, dim, distance=1e6, clusters=4, dtype=np.float64):
    centres = random.integers(-clusters // 2, clusters // 2 + 1, (n, dim)) * distance
    boxes = squares(random, n, dim, 1.0, world=6.0)
    return (boxes + np.hstack((centres, centres))).astype(dtype)


def on_a_line(random, n, dim, axis):
    low = np.zeros((n, dim))
    low[:, axis] = random.random(n) * n
    high = low.copy()
    high[:, axis] += 2
    return np.hstack((low, high))


def long_walls(random, n, dim):
    low = random.random((n, dim)) * 100
    high = low + 0.5
    high[np.arange(n), random.integers(0, dim, n)] += 90
    return np.hstack((low, high))


def power_law(random, n, dim):
    return squares(random, n, dim, 10 ** random.uniform(-4, 0, (n, 1)) * 0.3)


def with_infinite(random, n, dim):
    boxes = squares(random, n, dim, 0.1)
    low, high = boxes[:, :dim], boxes[:, dim:]
    low[random.random((n, dim)) < 0.04] = -np.inf
    high[random.random((n, dim)) < 0.04] = np.inf
    boxes[:2] = np.inf
    boxes[2:4] = -np.inf
    return boxes


def endless_columns(random, n, dim):
    boxes = squares(random, n, dim, 0.02)
    boxes[: n // 2, 1], boxes[: n // 2, dim + 1] = -np.inf, np.inf
    return boxes


def one_giant(random, n, dim):
    boxes = squares(random, n, dim, 0.05)
    boxes[n // 3, :dim], boxes[n // 3, dim:] = -1e9, 1e9
    return boxes


def with_strays(random, n, dim):
    boxes = squares(random, n, dim, 0.1)
    boxes[:3] *= 1e30
    boxes[3:5] = np.sort(-boxes[3:5] * 1e30, axis=1)[:, np.r_[:dim, dim : 2 * dim]]
    return boxes


def tiles(random, n, dim):
    low = random.integers(-4, 5, (n, dim)).astype(float)
    return np.hstack((low, low + random.integers(0, 3, (n, dim))))


def dust_and_planets(random, n, dim):
    return np.vstack(
        (
            squares(random, n // 2, dim, 1e-7, world=1e-5),
            squares(random, n // 4, dim, 1.0, world=8.0),
            squares(random, n // 4, dim, 3e4, world=2e5),
        )
    )


SCENES = {
    "uniform": lambda r, n, d: squares(r, n, d, 0.15),
    "sparse": lambda r, n, d: squares(r, n, d, 0.01, world=1000.0),
    "dense": lambda r, n, d: squares(r, n, d, 0.8),
    "negative": lambda r, n, d: squares(r, n, d, 0.15) - 7,
    "tiles": tiles,
    "all equal": lambda r, n, d: np.tile([1.5] * d + [2.5] * d, (n // 3, 1)),
    "on x": lambda r, n, d: on_a_line(r, n, d, 0),
    "on y": lambda r, n, d: on_a_line(r, n, d, 1),
    "on the last axis": lambda r, n, d: on_a_line(r, n, d, d - 1),
    "points": lambda r, n, d: squares(r, n, d, 0.0).round(1),
    "one point": lambda r, n, d: np.zeros((n // 3, 2 * d)),
    "signed zeros": lambda r, n, d: r.choice([0.0, -0.0], (n // 3, 2 * d)),
    "power law": power_law,
    "dust and planets": dust_and_planets,
    "far clusters": far_clusters,
    "very far clusters": lambda r, n, d: far_clusters(r, n, d, 1e15),
    "huge": lambda r, n, d: squares(r, n, d, 1e29, 1e30),
    "tiny": lambda r, n, d: squares(r, n, d, 1e-39, 1e-38),
    "infinite": with_infinite,
    "endless columns": endless_columns,
    "one giant": one_giant,
    "strays": with_strays,
    "walls": long_walls,
    "float32 limits": lambda r, n, d: np.sort(
        r.choice([-3.4028235e38, -1e30, -1, 0, 1e-45, 1, 1e30, 3.4028235e38, np.inf], (n, 2, d)), axis=1
    ).reshape(n, 2 * d),
    "one box": lambda r, n, d: squares(r, 1, d, 1.0),
    "two boxes": lambda r, n, d: squares(r, 2, d, 1.0),
    "no box": lambda r, n, d: np.empty((0, 2 * d)),
}


def make(scene, n, dim, dtype=np.float64, seed=1):
    """A scene of this name, or one that is no general one, by its function."""
    return SCENES.get(scene, scene)(np.random.default_rng(seed), n, dim).astype(dtype)
