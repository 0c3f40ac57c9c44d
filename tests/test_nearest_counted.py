"""`nearest` with `r_min=`, `exclude=` and `images="all"`, and cells without a period along some vectors.

Brute force over all images is the oracle.
"""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadphase as bp


def cell_of(random, dim, periodic):
    """A skewed cell with zeros for the vectors that there are not, and the period as users give it."""
    cell = np.zeros((dim, dim))
    for axis in periodic:
        cell[axis] = random.normal(size=dim) * 0.2
        cell[axis, axis] = random.uniform(0.8, 2.5)
    return cell, [cell[axis].tolist() if axis in periodic else None for axis in range(dim)]


def all_distances(points, others, cell, most):
    """``(n, m, images)``, and which image has no shift."""
    steps = list(product(*(range(-most, most + 1) if row.any() else (0,) for row in cell)))
    away = (np.linalg.norm(others[None] + np.array(step) @ cell - points[:, None], axis=2) for step in steps)
    return np.stack(list(away), axis=2), steps.index((0,) * len(cell))


CASES = [(dim, count) for dim in (2, 3) for count in range(1, dim + 1)]


@pytest.mark.covering
@pytest.mark.parametrize(("dim", "count"), CASES)
@pytest.mark.parametrize("images", ["nearest", "all"])
@pytest.mark.parametrize("n", [5, 24])
def test_those_that_count(dim, count, images, n):
    random = np.random.default_rng((dim, count, n))
    for turn, among in product(range(4), (True, False)):
        cell, period = cell_of(random, dim, random.permutation(dim)[:count].tolist())
        points, others = random.uniform(-0.3, 1.3, (n, dim)), random.uniform(-0.3, 1.3, (20, dim))
        found = points if among else others
        m, k, r_min, r = len(found), (1, 3, 7, 2)[turn], (0.0, 0.3, 0.6, 0.0)[turn], (np.inf, 0.9)[turn % 2]
        exclude = np.stack((random.integers(0, n, 6), random.integers(0, m, 6)), axis=1)
        env = random.integers(0, 2, n), random.integers(0, 2, m)
        env = (env[0], env[0]) if among else env
        apart, unshifted = all_distances(points, found, cell, 5)
        own = np.arange(min(n, m))
        apart[exclude[:, 0], exclude[:, 1]] = np.inf
        if among:
            apart[exclude[:, 1], exclude[:, 0]] = np.inf
        apart[own, own, unshifted if images == "all" else slice(None)] = np.inf
        if turn:
            apart[env[0][:, None] != env[1]] = np.inf
        if images == "nearest":
            apart = apart.min(axis=2, keepdims=True)
        apart = np.where((apart >= r_min) & (apart <= r), apart, np.inf).reshape(n, -1)
        wanted = np.full((n, k), np.inf)
        nearest = np.sort(apart, axis=1)[:, :k]
        wanted[:, : nearest.shape[1]] = nearest
        how = {"r": r, "r_min": r_min, "exclude": exclude, "images": images, "period": period}
        if not among:
            how |= {"other": others, "exclude_self": True}
        if turn:
            how["env"] = env[0] if among else env
        near = bp.nearest(points, k, **how)
        assert_allclose(near.distances, wanted, atol=1e-12)
        assert_array_equal(near.ids < 0, np.isinf(wanted))
        assert (near.shift is None) == (images == "nearest")
        if near.shift is not None:
            i, place = np.nonzero(near.ids >= 0)
            ends = found[near.ids[i, place]] + near.shift[i, place] @ cell
            assert_allclose(np.linalg.norm(ends - points[i], axis=1), near.distances[i, place], atol=1e-12)
            places = bp.nearest(points, [1, k], **how)
            assert_array_equal(places.shift, near.shift[:, [0, k - 1]])


def test_images_are_sorted_by_distance_then_number_then_shift():
    near = bp.nearest([[0.0, 0.0], [0.5, 0.5]], 6, period=(1, 1), images="all", r=1.0)
    assert near.ids[0].tolist() == [1, 1, 1, 1, 0, 0]
    assert near.shift[0].tolist() == [[-1, -1], [-1, 0], [0, -1], [0, 0], [-1, 0], [0, -1]]
    one = bp.nearest((0.0, 0.0), 2, other=[[0.2, 0.0]], period=(1, 1), images="all")
    assert one.ids.tolist() == [0, 0]
    assert one.shift.tolist() == [[0, 0], [-1, 0]]


def test_distances_are_those_of_neighbors():
    random = np.random.default_rng(4)
    _, period = cell_of(random, 3, [0, 2])
    points = random.uniform(-2.0, 3.0, (40, 3)).astype(np.float32)
    near = bp.neighbors(points, 1.5, period=period, images="all", half=False)
    rows = zip(near.i.tolist(), near.j.tolist(), map(tuple, near.shift.tolist()), strict=True)
    known = dict(zip(rows, near.distance.tolist(), strict=True))
    found = bp.nearest(points, 8, r=1.5, period=period, images="all")
    assert found.distances.dtype == np.float32
    for i, place in np.argwhere(found.ids >= 0).tolist():
        key = i, int(found.ids[i, place]), tuple(found.shift[i, place].tolist())
        assert known[key] == found.distances[i, place]


def test_points_of_all_environments_and_a_cell_for_each():
    random = np.random.default_rng(6)
    points, env = random.random((30, 2)), random.integers(-1, 3, 30)
    apart, unshifted = all_distances(points, points, np.eye(2), 5)
    apart[np.arange(30), np.arange(30), unshifted] = np.inf
    apart[(env[:, None] != env) & (env[:, None] != -1) & (env != -1)] = np.inf
    near = bp.nearest(points, 6, env=env, period=(1, 1), images="all")
    assert_allclose(near.distances, np.sort(apart.reshape(30, -1), axis=1)[:, :6])
    listed = bp.neighbors(points, 0.7, env=env, period=(1, 1), images="all", half=False, offsets=True)
    assert_allclose(np.sort(listed.distance), np.sort(apart[apart <= 0.7]))
    ends = points[listed.j] + listed.shift - points[listed.i]
    assert_allclose(ends, listed.offset, atol=1e-12)
    cells = np.eye(2) * random.uniform(0.7, 1.5, (3, 2, 1)) + [[0.0, 0.2], [0.0, 0.0]]
    numbers = np.repeat(np.arange(3), 10)
    near = bp.nearest(points, 5, env=numbers, period=cells, images="all", r_min=0.1)
    listed = bp.neighbors(points, 1.3, env=numbers, period=cells, images="all")
    at = 0
    for world, cell in enumerate(cells):
        rows = np.flatnonzero(numbers == world)
        alone = bp.nearest(points[rows], 5, period=cell, images="all", r_min=0.1)
        assert_array_equal(near.ids[rows], rows[alone.ids])
        assert_array_equal(near.distances[rows], alone.distances)
        assert_array_equal(near.shift[rows], alone.shift)
        one = bp.neighbors(points[rows], 1.3, period=cell, images="all")
        some = slice(at, at + len(one))
        assert_array_equal(listed.i[some], rows[one.i])
        assert_array_equal(listed.j[some], rows[one.j])
        assert_array_equal(listed.shift[some], one.shift)
        at += len(one)
    assert at == len(listed)
    with pytest.raises(bp.PairLimitExceeded):
        bp.neighbors(points, 1.3, env=numbers, period=cells, images="all", max_pairs=at - 1)
    assert bp.count_neighbors(points, 1.3, env=numbers, period=cells, images="all") == at


@pytest.mark.parametrize(("dim", "count"), [(2, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize("n", [6, 60, 200])
def test_slabs(dim, count, n):
    random = np.random.default_rng((dim, count, n))
    for thick in (0.0, 0.4, 50.0):
        axes = random.permutation(dim)[:count].tolist()
        cell, period = cell_of(random, dim, axes)
        points = random.random((n, dim)) @ cell + random.normal(size=(n, dim)) * thick
        others = random.random((20, dim)) @ cell + random.normal(size=(20, dim)) * thick
        inverse = np.linalg.pinv(cell[axes])
        near_by = [one - np.floor(one @ inverse) @ cell[axes] for one in (points, others)]
        apart, between = (all_distances(near_by[0], one, cell, 3)[0].min(axis=2) for one in near_by)
        for r in (0.3, 1.7, np.inf):
            near = bp.neighbors(points, r, period=period, offsets=True)
            i, j = np.nonzero(np.triu(apart <= r, 1))
            assert_array_equal(near.i, i)
            assert_array_equal(near.j, j)
            assert_allclose(near.distance, apart[i, j], atol=1e-10)
            assert_allclose(np.linalg.norm(near.offset, axis=1), near.distance, atol=1e-10)
            assert bp.count_neighbors(points, r, period=period) == len(near)
        found = bp.neighbors(points, 0.8, other=others, period=period)
        assert_array_equal(np.column_stack((found.i, found.j)), np.argwhere(between <= 0.8))
        nearest = bp.nearest(points, 3, other=others, period=period)
        assert_allclose(nearest.distances, np.sort(between, axis=1)[:, :3], atol=1e-10)
        index = bp.PointIndex(others, period=period)
        assert_array_equal(index.nearest(points, 3).ids, nearest.ids)
        assert_array_equal(index.neighbors(points, 0.8).j, found.j)
    assert_array_equal(
        bp.neighbors(points[:, :2], 0.5, period=[[2, 0], None]).distance,
        bp.neighbors(points[:, :2], 0.5, period=(2, None)).distance,
    )


def test_what_is_wrong_is_named():
    points = np.zeros((3, 2))
    for more, said in (
        ({"images": "some"}, "images must be 'nearest' or 'all'"),
        ({"r_min": -1.0}, "r_min = -1 is no distance"),
        ({"exclude": [[0, 3]]}, "names row 3; there are 3 rows"),
        ({"period": [None, [0.0, 0.0]]}, "do not span all of space"),
    ):
        with pytest.raises(ValueError, match=said):
            bp.nearest(points, 1, **more)
