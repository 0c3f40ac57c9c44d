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


@pytest.mark.parametrize(
    ("boxes", "options", "error"),
    [
        ([(0, 0, np.nan, 1), (0, 0, 1, 1)], {"env": [0, 0]}, r"boxes\[0\] has max_x = nan"),
        ([(3, 0, 1, 1)], {"period": (4, 4)}, r"ends beyond it: max_x = 5"),
        ([(np.inf, 0, np.inf, 1)], {"period": (4, 4)}, "infinity is no place"),
        ([(1e30, 0, 1e30, 1)], {"period": (4, 4)}, "bring it nearer"),
        ([(0, 0, 1, 1)], {"period": (0, 4)}, r"period\[0\] = 0 is not positive"),
        ([(0, 0, 1, 1)], {"masks": [2**32]}, r"masks\[0\] = 4294967296 does not fit into 32 bits"),
        ([(0, 0, 1, 1)], {"categories": [-1]}, r"categories\[0\] = -1 does not fit"),
        ([(0, 0, 1, 1)], {"masks": [1, 2]}, "one entry for each of the 1 boxes"),
        ([(0, 0, 1, 1)], {"env": [1, 2]}, "one number for each of the 1 rows"),
        ([(0, 0, 1, 1)], {"static": [True, False]}, "one entry for each of the 1 boxes"),
    ],
)
def test_what_is_wrong_is_named_as_ever(boxes, options, error):
    options = {name: value if name == "period" else np.array(value) for name, value in options.items()}
    with pytest.raises(ValueError, match=error):
        bp.pairs(np.array(boxes), **options)


def test_more_pairs_than_allowed():
    boxes = np.zeros((4, 4))
    for options in ({}, {"period": (4, 4)}, {"env": np.zeros(4, np.int64)}):
        assert len(bp.pairs(boxes, max_pairs=6, **options)) == 6
        with pytest.raises(bp.PairLimitExceeded):
            bp.pairs(boxes, max_pairs=5, **options)
    with pytest.raises(bp.PairLimitExceeded):
        bp.join(boxes, boxes, max_pairs=15)
