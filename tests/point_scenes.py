"""Points for the tests of `neighbors` and `nearest`, and what brute force says about them."""

import numpy as np
from space_oracle import same_env


def lattice(random, n, dim):
    side = int(np.ceil(n ** (1 / dim)))
    return np.stack(np.meshgrid(*[np.arange(side) / 8] * dim), -1).reshape(-1, dim)[:n]


def clusters(random, n, dim):
    return random.random((8, dim))[random.integers(0, 8, n)] + random.normal(size=(n, dim)) * 1e-3


def one_far_away(random, n, dim):
    return np.vstack((random.random((n - 1, dim)), np.full((1, dim), -1e30)))


# By name: points, and distances that are worth testing.
SCENES = {
    "uniform": (lambda random, n, dim: random.random((n, dim)), (0.03, 0.2)),
    "clusters": (clusters, (2e-4, 1e-3)),
    "lattice": (lattice, (0.125, 0.25)),
    "line": (lambda random, n, dim: np.repeat(random.random((n, 1)), dim, axis=1), (0.002, 0.02)),
    "upright line": (lambda random, n, dim: np.eye(dim)[-1] * random.random((n, 1)), (0.002, 0.02)),
    "all equal": (lambda random, n, dim: np.ones((n, dim)) * 0.3, (0.0, 1.0)),
    "few places": (lambda random, n, dim: random.integers(0, 4, (n, dim)) / 4.0, (0.0, 0.25)),
    "one far away": (one_far_away, (0.05, np.inf)),
    "negative": (lambda random, n, dim: random.normal(size=(n, dim)) - 5.0, (0.1, 0.5)),
    "huge": (lambda random, n, dim: random.normal(size=(n, dim)) * 1e30, (1e29, 5e29)),
    "tiny": (lambda random, n, dim: random.normal(size=(n, dim)) * 1e-30, (1e-31, 5e-31)),
    "sizes within sizes": (
        lambda random, n, dim: random.random((n, dim)) * 10.0 ** random.integers(-9, 9, (n, 1)),
        (1e-6, 1.0),
    ),
    "empty": (lambda random, n, dim: np.empty((0, dim)), (1.0,)),
    "one point": (lambda random, n, dim: np.zeros((1, dim)), (1.0,)),
}


def points_of(scene, n, dim, dtype, seed=0):
    return SCENES[scene][0](np.random.default_rng(seed), n, dim).astype(dtype)


def computed_in(period, *arrays):
    """The arrays as they are computed with: in a period all in float64."""
    return arrays if period is None else tuple(array.astype(np.float64) for array in arrays)


def distances(points, others, period=None):
    """The matrix of distances, step by step as the docstring of `neighbors` says."""
    points, others = computed_in(period, points, others)
    dtype = points.dtype
    around = [np.inf] * points.shape[1] if period is None else [np.inf if p is None else p for p in period]
    away = []
    for axis, length in enumerate(np.array(around, dtype)):
        motion = np.abs(others[None, :, axis] - points[:, None, axis])
        away.append(np.minimum(motion, length - motion))
    # By a power of two, so that no square overflows or vanishes.
    power = np.frexp(np.maximum.reduce(away))[1]
    scaled = [np.ldexp(motion, -power) for motion in away]
    square = scaled[0] * scaled[0] + scaled[1] * scaled[1]
    if points.shape[1] == 3:
        square = square + scaled[2] * scaled[2]
    return np.ldexp(np.sqrt(square), power)


def near(points, r, other=None, period=None, env=None):
    """``i, j, distance`` as brute force finds them."""
    others = points if other is None else other
    apart = distances(points, others, period)
    if isinstance(r, tuple):
        own, theirs = computed_in(period, *r)
        reach = own[:, None] + theirs[None, :]
    elif np.ndim(r):
        (r,) = computed_in(period, r)
        reach = r[:, None] + (r[None, :] if other is None else 0)
    else:
        reach = points.dtype.type(r)
    meets = apart <= reach
    if env is not None:
        first, second = (env, env) if other is None else env
        meets &= same_env(np.asarray(first)[:, None], np.asarray(second)[None, :])
    if other is None:
        meets = np.triu(meets, 1)
    i, j = np.nonzero(meets)
    return i, j, apart[i, j].astype(points.dtype)


def nearest(points, k, other=None, r=np.inf, period=None, env=None):
    """``ids, distances`` as brute force finds them."""
    others = points if other is None else other
    apart = distances(points, others, period)
    apart[apart > points.dtype.type(r)] = np.inf
    if env is not None:
        first, second = (env, env) if other is None else env
        apart[~same_env(np.asarray(first)[:, None], np.asarray(second)[None, :])] = np.inf
    if other is None:
        np.fill_diagonal(apart, np.inf)
    missing = max(k - len(others), 0)
    apart = np.hstack((apart, np.full((len(points), missing), np.inf, apart.dtype)))
    ids = np.argsort(apart, axis=1, kind="stable")[:, :k]
    values = np.take_along_axis(apart, ids, axis=1)
    return np.where(np.isinf(values), -1, ids), values.astype(points.dtype)
