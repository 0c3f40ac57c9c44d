"""`pairs`, `join` and `count_pairs` of few boxes with all arguments: what every method finds."""

from itertools import product

import numpy as np
import pytest

import broadphase as bp

KINDS = list(product((2, 3), (np.float32, np.float64)))
SIZES = (1, 2, 16, 17, 60, 300)


def some_boxes(random, n, dim, dtype):
    """Boxes on a coarse grid, so that edges coincide; some without extent, some as long as the world."""
    low = random.integers(-8, 24, (n, dim)) / 4
    size = random.choice([0, 0.25, 0.5, 1, 4, 5], (n, dim), p=[0.1, 0.3, 0.3, 0.2, 0.05, 0.05])
    return np.hstack((low, low + size)).astype(dtype)


def options_of(random, n, dim):
    """Every combination of the arguments that say which pairs count."""
    chosen = {
        "period": (None, (4.0, 4.0, 4.0)[:dim], (4, None, 4)[:dim]),
        "env": (None, random.integers(-1, 3, n)),
        "static": (None, random.random(n) < 0.5),
        "categories": (None, random.integers(0, 2**32, n)),
        "masks": (None, random.integers(0, 4, n, np.int64)),
        "touching": (True, False),
    }
    for values in product(*chosen.values()):
        yield dict(zip(chosen, values, strict=True))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_pairs_with_all_arguments(n, dim, dtype):
    random = np.random.default_rng(n)
    boxes = some_boxes(random, n, dim, dtype)
    for options in options_of(random, n, dim):
        expected = bp.pairs(boxes, method="sort_and_sweep", **options)
        found = bp.pairs(boxes, **options)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.int32
        assert bp.count_pairs(boxes, **options) == len(expected)
    unsigned = random.integers(0, 4, n).astype(np.uint32)
    np.testing.assert_array_equal(bp.pairs(boxes, masks=unsigned), bp.pairs(boxes, masks=unsigned.tolist()))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 17), (60, 16), (300, 40)])
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_joins_with_all_arguments(n, m, dim, dtype):
    random = np.random.default_rng(n + m)
    a, b = (some_boxes(random, rows, dim, dtype) for rows in (n, m))
    envs = random.integers(-1, 3, n), random.integers(-1, 3, m)
    for period, env, touching in product(
        (None, (4,) * dim, (None, 4.0, 4.0)[:dim]), (None, envs), (True, False)
    ):
        options = {"period": period, "env": env, "touching": touching}
        expected = bp.join(a, b, method="uniform_grid", **options)
        np.testing.assert_array_equal(bp.join(a, b, **options), expected)
        np.testing.assert_array_equal(bp.join(a, b[:, :], sort=False, **options), expected)
