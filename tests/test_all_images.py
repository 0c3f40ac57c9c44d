"""`images="all"`: each image within reach is a neighbour, as ASE, vesin and matscipy-neighbours list them."""

import math
import tracemalloc
from itertools import product

import numpy as np
import pytest

import broadphase as bp


def as_dict(near):
    rows = zip(near.i.tolist(), near.j.tolist(), map(tuple, near.shift.tolist()), strict=True)
    return dict(zip(rows, near.distance.tolist(), strict=True))


@pytest.mark.parametrize("exponent", [-900, -520, 0, 520, 900])
@pytest.mark.parametrize("tilt", [0, 1])
@pytest.mark.parametrize("r", [1, 5])
def test_lengths_whose_squares_overflow_or_vanish(exponent, tilt, r):
    """Against fractions: coordinates are whole numbers of one unit, a power of two."""
    unit, random = 2.0**exponent, np.random.default_rng(exponent + 1000)
    cell, points = [[4, 0], [tilt, 5]], random.integers(-8, 9, (12, 2)).tolist()
    right = {}
    for x, y in product(range(-9, 10), repeat=2):
        for (i, a), (j, b) in product(enumerate(points), repeat=2):
            way = b[0] - a[0] + x * 4 + y * tilt, b[1] - a[1] + 5 * y
            if way[0] ** 2 + way[1] ** 2 <= r * r and (i < j or (i == j and (x, y) > (0, 0))):
                right[i, j, (x, y)] = unit * math.sqrt(way[0] ** 2 + way[1] ** 2)
    period = [[unit * one for one in row] for row in cell]
    near = bp.neighbors(np.array(points) * unit, r * unit, period=period, images="all")
    found = as_dict(near)
    turned = {
        (i, j, s) if i < j else (i, j, max(s, tuple(-one for one in s))): d for (i, j, s), d in found.items()
    }
    assert turned == right


def test_sums_and_limits_over_images():
    near = bp.neighbors([[0.0, 0.0]], 1.0, period=(1.0, 1.0), images="all")
    assert sorted(near.shift.tolist()) == [[0, 1], [1, 0]]
    assert near.sum([3.0]).tolist() == [12.0]
    points = np.random.default_rng(3).random((30, 2))
    near = bp.neighbors(points, 0.8, period=(1, 1), images="all")
    bonds = np.stack((near.j, near.i), axis=1)[:40]
    kept = bp.neighbors(points, 0.8, period=(1, 1), images="all", exclude=bonds, r_min=0.3)
    bonded = set(map(tuple, np.sort(bonds, axis=1).tolist()))
    right = [(i, j) not in bonded and d >= 0.3 for i, j, d in zip(*map(np.ndarray.tolist, near), strict=True)]
    np.testing.assert_array_equal(kept.distance, near.distance[right])
    assert len(bp.neighbors(points, 0.8, period=(1, 1), images="all", max_pairs=len(near))) == len(near)
    with pytest.raises(bp.PairLimitExceeded):
        bp.neighbors(points, 0.8, period=(1, 1), images="all", max_pairs=len(near) - 1)
    with pytest.raises(ValueError, match="several images"):
        near.rows_in(near)
    assert len(bp.neighbors(np.zeros((0, 3)), 2.0, period=(1, 1, 1), images="all")) == 0


def test_images_of_excluded_pairs_do_not_count_against_the_limit():
    points, excluded = [[0.1, 0.1], [0.4, 0.7], [0.8, 0.2]], [[0, 1], [0, 2], [1, 2]]
    steps = np.arange(-20, 21)
    squares = steps[:, None] ** 2 + steps**2
    own = 3 * (np.count_nonzero(squares <= 400) // 2)  # of each point with its own images, each pair once
    near = bp.neighbors(points, 20.0, period=(1, 1), images="all", exclude=excluded, max_pairs=own)
    assert len(near) == own
    with pytest.raises(bp.PairLimitExceeded, match=str(own - 1)):
        bp.neighbors(points, 20.0, period=(1, 1), images="all", exclude=excluded, max_pairs=own - 1)


def test_the_limit_bounds_memory_where_pairs_are_excluded_too():
    points = np.random.default_rng(5).random((300, 2))
    tracemalloc.start()
    try:
        with pytest.raises(bp.PairLimitExceeded):
            bp.neighbors(points, 4.0, period=(1, 1), images="all", exclude=[[0, 1]], max_pairs=100)
        assert tracemalloc.get_traced_memory()[1] < 2e7  # all two million pairs would take more than 1e8
    finally:
        tracemalloc.stop()


def test_what_has_no_images_is_named():
    points = np.zeros((3, 2))
    for more, said in (
        ({"images": "some"}, "images must be 'nearest' or 'all'; got 'some'"),
        ({"images": "all", "period": (1e291, 1)}, "too long or too short; give lengths between 1e-290"),
        ({"images": "all", "period": [[1, 0], [1e-291, 1e-291]]}, "too long or too short"),
        ({"images": "all", "period": [[1, 0], [2, 0]]}, "do not span all of space"),
        ({"images": "all", "period": [[1, 0], [2, 0, 0]]}, "matrix of 2 lattice vectors"),
        ({"period": [[1, 0, 0], None]}, "matrix of 2 lattice vectors"),
    ):
        with pytest.raises(ValueError, match=said):
            bp.neighbors(points, 1.0, **more)
    with pytest.raises(ValueError, match=r"other\[2\] = \[5e\+18, 0.0\] is so many lattice vectors away"):
        bp.neighbors(points, 1.0, other=[[0, 0], [1, 1], [5e18, 0]], period=(1, 1), images="all")
    for r in (np.inf, 1e300):
        with pytest.raises(ValueError, match="reaches over so many cells"):
            bp.neighbors(points, r, period=(1, 1), images="all")
