"""A period or a cell for each environment: against all images of all pairs."""

import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadphase as bp
from broadphase.errors import PairLimitExceeded

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


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_each_world_has_its_own_period(dim, cells):
    points, env, periods = scene(dim, cells)
    others, other_env, _ = scene(dim, cells, 1)
    among, between = (apart(points, b, env, e, periods) for b, e in ((points, env), (others, other_env)))
    near = bp.neighbors(points, R, env=env, period=periods, offsets=True)
    i, j = np.nonzero(np.triu(among <= R, 1))
    assert_array_equal(np.column_stack((near.i, near.j)), np.column_stack((i, j)))
    assert_allclose(near.distance, among[i, j])
    assert_allclose(np.linalg.norm(near.offset, axis=1), near.distance)
    full = bp.neighbors(points, R, env=env, period=periods, half=False)
    assert_array_equal(
        np.column_stack((full.i, full.j)), np.argwhere((among <= R) & ~np.eye(len(points), dtype=bool))
    )
    both = bp.neighbors(points, R, other=others, env=(env, other_env), period=periods, exclude_self=True)
    wanted = (between <= R) & ~np.eye(len(points), dtype=bool)
    assert_array_equal(np.column_stack((both.i, both.j)), np.argwhere(wanted))
    assert bp.count_neighbors(points, [R, 0.5], env=env, period=periods).tolist() == [
        np.count_nonzero(np.triu(among <= r, 1)) for r in (R, 0.5)
    ]
    nearest = bp.nearest(points, 3, other=others, env=(env, other_env), period=periods)
    assert_allclose(nearest.distances, np.sort(between, axis=1)[:, :3])
    assert_allclose(np.take_along_axis(between, nearest.ids.astype(int), axis=1), nearest.distances)
    np.fill_diagonal(among, np.inf)
    assert_allclose(bp.nearest(points, [1, 4], env=env, period=periods).distances, np.sort(among)[:, [0, 3]])


def test_worlds_as_arrays_and_radii():
    points, env, periods = scene(2, False)
    order = np.argsort(env, kind="stable")
    worlds = points[order].reshape(WORLDS, N, 2)
    rows = bp.neighbors(points[order], R, env=env[order], period=periods)
    same = bp.neighbors(worlds, R, period=periods)
    for one, other in zip(rows, same, strict=True):
        assert_array_equal(one, other)
    radii = np.linspace(0.1, 0.6, len(points))
    near = bp.neighbors(points, radii, env=env, period=periods)
    among = apart(points, points, env, env, periods)
    assert_array_equal(
        np.column_stack((near.i, near.j)), np.argwhere(np.triu(among <= radii[:, None] + radii, 1))
    )
    with pytest.raises(PairLimitExceeded):
        bp.neighbors(points, R, env=env, period=periods, max_pairs=len(rows) - 1)
    assert len(bp.neighbors(points, R, env=env, period=periods, max_pairs=len(rows))) == len(rows)
    assert len(bp.neighbors(np.empty((0, 2)), R, env=[], period=periods)) == 0


def test_radii_of_both_sides():
    points, env, periods = scene(2, True)
    others, other_env, _ = scene(2, True, 1)
    radii = np.linspace(0.1, 0.6, len(others))
    between = apart(points, others, env, other_env, periods)
    for r in ((0.3, radii), (radii, 0.0), radii):
        own, theirs = r if isinstance(r, tuple) else (r, 0.0)
        near = bp.neighbors(points, r, other=others, env=(env, other_env), period=periods)
        wanted = between <= np.reshape(own, (-1, 1)) + theirs
        assert_array_equal(np.column_stack((near.i, near.j)), np.argwhere(wanted))


def test_nearest_are_sorted_before_distances_are_rounded():
    points = np.array([[0, 0], [1, 2**-13], [1, 0]], np.float32)
    for period in ([(8, 8)], [[(8, 0), (1, 8)]]):
        near = bp.nearest(points, 2, env=[0, 0, 0], period=period)
        assert near.ids[0].tolist() == [2, 1]
        assert near.distances[0].tolist() == [1, 1]


def test_unit_vectors_without_offsets():
    points, env, periods = scene(3, True)
    for half in (True, False):
        near, again = (
            bp.neighbors(points, R, env=env, period=periods, half=half, offsets=offsets)
            for offsets in (False, True)
        )
        assert_array_equal(pickle.loads(pickle.dumps(near)).unit, again.unit)


def test_one_point():
    points, env, periods = scene(3, True)
    between = apart(points[:1], points, [2], env, periods)[0]
    near = bp.neighbors(points[0], R, other=points, env=([2], env), period=periods)
    assert_array_equal(near.j, np.flatnonzero(between <= R))
    nearest = bp.nearest(points[0], 2, other=points, env=([2], env), period=periods)
    assert_allclose(nearest.distances, np.sort(between)[:2])
    assert_array_equal(nearest.ids, np.argsort(between)[:2])


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_index(cells, dtype):
    points, env, periods = scene(3, cells)
    queries, asked, _ = scene(3, cells, 1)
    points, queries = points.astype(dtype), queries.astype(dtype)
    index = bp.PointIndex(period=periods)
    index.insert_many(points[:-1], env=env[:-1])
    index.insert(points[-1], env=env[-1])
    assert (index.dim, index.period) == (3, tuple(tuple(map(totuple, one)) for one in periods.tolist()))
    for changed in range(2):
        ids = np.append(index.ids, -1)
        between = apart(queries, index.points, asked, index.envs, periods)
        right = {"other": index.points, "env": (asked, index.envs), "period": periods}
        found = index.neighbors(queries, R, env=asked, offsets=True)
        near = np.argwhere(between <= R)
        assert_array_equal(
            np.column_stack((found.i, found.j)), np.column_stack((near[:, 0], ids[near[:, 1]]))
        )
        same = bp.neighbors(queries, R, offsets=True, **right)
        assert_array_equal(found.distance, same.distance)
        assert_array_equal(found.offset, same.offset)
        nearest, wanted = index.nearest(queries, 3, env=asked), bp.nearest(queries, 3, **right)
        assert_array_equal(nearest.ids, ids[wanted.ids])
        assert_array_equal(nearest.distances, wanted.distances)
        assert nearest.distances.dtype == dtype
        one = index.neighbors(queries[5], R, env=int(asked[5]))
        assert_array_equal(one.j, found.j[found.i == 5])
        assert_array_equal(index.nearest(queries[5], 2, env=int(asked[5])).ids, nearest.ids[5, :2])
        assert len(index.neighbors(queries[:0], R)) == 0
        if not changed:
            index.remove_many([0, 17, 30])
            index.move(5, queries[0])
            index = pickle.loads(pickle.dumps(index))
    for call in (
        lambda: index.insert(points[0], env=WORLDS),
        lambda: index.insert_many(points[:2], env=[0, -1]),
        lambda: index.nearest(points[0], 1, env=WORLDS),
    ):
        with pytest.raises(ValueError, match="has no period: period holds those of the environments 0 to 3"):
            call()
    assert len(index) == len(points) - 3
    with pytest.raises(ValueError, match=r"period\[1\] = -1 is not positive"):
        bp.PointIndex(period=[[1, 1], [1, -1], [1, 1]])


def totuple(value):
    return tuple(value) if isinstance(value, list) else value


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
