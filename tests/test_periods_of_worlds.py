"""A period or a cell for each environment: against all images of all pairs."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadphase as bp

WORLDS, N, R = 4, 30, 0.9


def scene(dim, cells, seed=0):
    """Points of four worlds in any order, their environments, and a period or cell for each."""
    rng = np.random.default_rng(seed)
    periods = rng.uniform(2.0, 5.0, (WORLDS, dim))
    if cells:
        vectors = periods[:, :, None] * np.eye(dim)
        vectors[:, 1, 0] = rng.uniform(-0.8, 0.8, WORLDS)
        periods = vectors
    env = rng.permutation(np.repeat(np.arange(WORLDS), N))
    return rng.random((WORLDS * N, dim)) * 6.0 - 0.5, env, periods


def apart(a, b, env, other_env, periods):
    """``(n, m)``: the distance of the nearest images; inf between worlds."""
    distances = np.full((len(a), len(b)), np.inf)
    for i, j in itertools.product(range(len(a)), range(len(b))):
        if env[i] == other_env[j]:
            vectors = periods[env[i]] if periods.ndim == 3 else np.diag(periods[env[i]])
            way = (b[j] - a[i]) @ np.linalg.inv(vectors)
            way -= np.round(way)
            steps = np.array(list(itertools.product((-1, 0, 1), repeat=a.shape[1])))
            distances[i, j] = np.linalg.norm((way + steps) @ vectors, axis=1).min()
    return distances


def test_nearest_are_sorted_before_distances_are_rounded():
    points = np.array([[0, 0], [1, 2**-13], [1, 0]], np.float32)
    for period in ([(8, 8)], [[(8, 0), (1, 8)]]):
        near = bp.nearest(points, 2, env=[0, 0, 0], period=period)
        assert near.ids[0].tolist() == [2, 1]
        assert near.distances[0].tolist() == [1, 1]


@pytest.mark.parametrize("cells", [False, True])
def test_an_index_knows_its_periods(cells):
    points, env, periods = scene(3, cells)
    index = bp.PointIndex(period=periods)
    index.insert_many(points, env=env)
    given = [tuple(tuple(row) if cells else row for row in one) for one in periods.tolist()]
    assert (index.dim, index.period) == (3, tuple(given))
    for call in (
        lambda: index.insert(points[0], env=WORLDS),
        lambda: index.insert_many(points[:2], env=[0, -1]),
        lambda: index.nearest(points[0], 1, env=WORLDS),
    ):
        with pytest.raises(ValueError, match="has no period: period holds those of the environments 0 to 3"):
            call()
    assert len(index) == len(points)
    with pytest.raises(ValueError, match=r"period\[1\] = -1 is not positive"):
        bp.PointIndex(period=[[1, 1], [1, -1], [1, 1]])


@pytest.mark.parametrize("cells", [False, True])
def test_a_verlet_list(cells):
    rng = np.random.default_rng(2)
    points, env, periods = scene(2, cells)
    radii = rng.uniform(0.2, 0.5, len(points))
    for r in (R, radii):
        near = bp.VerletList(r, 0.3, period=periods, exclude=[[0, 1], [3, 2]])
        for step in range(6):
            env = env if step < 4 else env[::-1]
            for options in ({}, {"offsets": True, "half": False}):
                right = bp.neighbors(points, r, env=env, period=periods, exclude=[[0, 1], [3, 2]], **options)
                found = near.neighbors(points, env=env, **options)
                for one, wanted in zip(found, right, strict=True):
                    assert_array_equal(one, wanted)
                if options:
                    assert_array_equal(found.offset, right.offset)
            points = points + rng.uniform(-0.03, 0.03, points.shape)
        assert cells or near.searches < 6


def test_what_is_wrong_is_named():
    points, env, periods = scene(3, False)
    with pytest.raises(ValueError, match=r"env\[0\] = 9 has no period: .* 0 to 3"):
        bp.neighbors(points, R, env=np.where(np.arange(len(env)) == 0, 9, env), period=periods)
    radii = np.where(np.arange(len(points)) == 7, -1.0, 0.5)
    with pytest.raises(ValueError, match=r"r\[7\] = -1 is no radius"):
        bp.neighbors(points, radii, env=env, period=periods)
    other_env = np.where(np.arange(len(env)) == 5, -1, env)
    with pytest.raises(ValueError, match=r"env\[0\]\[5\] = -1 has no period"):
        bp.nearest(points, 1, other=points, env=(other_env, env), period=periods)
    points[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"points\[7\]"):
        bp.nearest(points, 1, env=env, period=periods)


@pytest.mark.parametrize("dim", [2, 3])
def test_numbers_that_may_be_a_cell_or_lengths_are_refused(dim):
    points, env, periods = scene(dim, False)
    rows = np.concatenate([np.flatnonzero(env == one)[:10] for one in range(dim)])
    points, env, lengths = points[rows], env[rows], periods[:dim] + 6 * np.eye(dim)
    worlds, index = points.reshape(dim, 10, dim), bp.PointIndex(period=lengths)
    index.insert_many(points, env=env)
    for ask in (
        lambda period: bp.neighbors(points, R, env=env, period=period),
        lambda period: bp.neighbors(worlds, R, period=period),
        lambda period: bp.neighbors(points, R, other=points, env=(env, env), period=period),
        lambda period: bp.neighbors(points, R, env=env, period=period, images="all"),
        lambda period: bp.count_neighbors(points, R, env=env, period=period),
        lambda period: bp.nearest(points, 2, env=env, period=period),
        lambda period: bp.VerletList(R, 0.1, period=period).neighbors(points, env=env),
        lambda _: index.nearest(points[0], 1, env=0),
    ):
        with pytest.raises(ValueError, match=r"for the cell give -np\.array.*; for lengths.*np\.diag"):
            ask(lengths)
    # What the message says, and what can only be one of both.
    same = env[:, None] == env
    images = np.array(list(itertools.product((-3, -2, -1, 0, 1, 2, 3), repeat=dim))) @ lengths
    away = points[None, :, None] - points[:, None, None] + images
    right = {
        "cell": (np.linalg.norm(away, axis=3).min(axis=2), -lengths),
        "lengths": (apart(points, points, env, env, lengths), [np.diag(row) for row in lengths]),
        "an open axis": (
            apart(points, points, env, env, np.where(lengths == lengths[0, 0], 1e9, lengths)),
            [[None, *lengths[0, 1:]], *lengths[1:]],
        ),
    }
    for distances, period in right.values():
        i, j = np.nonzero(np.triu((distances <= R) & same, 1))
        near = bp.neighbors(points, R, env=env, period=period)
        assert_array_equal(np.column_stack((near.i, near.j)), np.column_stack((i, j)))
    cell = np.diag(lengths[0])
    for one in (bp.neighbors(worlds, R, period=cell), bp.neighbors(worlds, R, period=lengths[0])):
        assert len(one) == np.count_nonzero(
            np.triu(apart(points, points, env, env, np.array([lengths[0]] * dim)) <= R, 1)
        )
