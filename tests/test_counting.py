"""`count_neighbors` counts boxes of points at once, and finds as many pairs as comparing all of them."""

from itertools import product

import numpy as np
import pytest

import broadphase as bp


def places(random, kind, n, dim, dtype):
    """Points spread evenly, on a coarse lattice, in crowds, or in one place; within 0 and 1."""
    if kind == "even":
        points = random.random((n, dim))
    elif kind == "lattice":
        points = random.integers(0, 9, (n, dim)) / 8
    elif kind == "crowds":
        points = np.clip(
            random.random((5, dim))[random.integers(0, 5, n)] + random.normal(size=(n, dim)) * 1e-3, 0, 1
        )
    else:
        points = np.full((n, dim), 0.3)
    return points.astype(dtype)


def all_distances(points, others, period):
    """As `neighbors` defines them; in float64 where there is a period, rounded in the end."""
    kind = points.dtype
    if period is not None:
        points, others = points.astype(float), others.astype(float)
    squares = np.zeros((len(points), len(others)), points.dtype)
    for axis in range(points.shape[1]):
        gap = np.abs(others[None, :, axis] - points[:, None, axis])
        if period is not None:
            gap = np.minimum(gap, period - gap)
        squares += gap * gap
    return np.sqrt(squares).astype(kind)


@pytest.mark.covering
@pytest.mark.parametrize("kind", ["even", "lattice", "crowds", "one place"])
@pytest.mark.parametrize(("dim", "dtype"), list(product((2, 3), (np.float32, np.float64))))
def test_as_many_as_there_are(kind, dim, dtype):
    random = np.random.default_rng((dim, len(kind)))
    n, m = 800, 500
    points, others = (places(random, kind, count, dim, dtype) for count in (n, m))
    env, other_env = random.integers(0, 3, n), random.integers(0, 3, m)
    for period, with_env in product((None, 1.0), (False, True)):
        among, between = (all_distances(points, one, period) for one in (points, others))
        among = among[np.triu_indices(n, 1)]
        own, both = (None, None) if not with_env else (env, (env, other_env))
        if with_env:
            among = among[(env[:, None] == env)[np.triu_indices(n, 1)]]
            between = between[env[:, None] == other_env]
        # Distances that there are, so that rounding decides; and others, none and all.
        some = random.choice(between.reshape(-1), 12)
        lengths = np.concatenate((some, np.nextafter(some, dtype(0)), [0.0, 0.05, 0.4, 3.0, np.inf]))
        how = {"period": None if period is None else (period,) * dim}
        for found, right in (
            (bp.count_neighbors(points, lengths, env=own, **how), among),
            (bp.count_neighbors(points, lengths, other=others, env=both, **how), between),
        ):
            wanted = np.searchsorted(np.sort(right.reshape(-1)), lengths.astype(dtype), "right")
            np.testing.assert_array_equal(found, wanted)
        assert bp.count_neighbors(points, some[0], env=own, **how) == np.count_nonzero(among <= some[0])


def test_crowds_are_counted_at_once():
    """Comparing all would take minutes."""
    points = np.concatenate((np.zeros((200_000, 3)), np.full((100_000, 3), 0.75)))
    each = [n * (n - 1) // 2 for n in (200_000, 100_000)]
    assert bp.count_neighbors(points, [0.0, 1.0, 2.0]).tolist() == [
        sum(each),
        sum(each),
        300_000 * 299_999 // 2,
    ]
    assert bp.count_neighbors(points, 0.25, other=[[0.75, 0.75, 0.5]]) == 100_000
    assert bp.count_neighbors(points, 0.5, period=(1, 1, 1)) == 300_000 * 299_999 // 2


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**-210, 2.0**210, 2.0**600])
def test_lengths_whose_squares_overflow_or_vanish(unit):
    points = np.random.default_rng(3).integers(0, 30, (600, 2)).astype(float)
    lengths = np.array([0.0, 1.0, 5.0, 13.0, 60.0])
    wanted = bp.count_neighbors(points, lengths)
    np.testing.assert_array_equal(bp.count_neighbors(points * unit, lengths * unit), wanted)
