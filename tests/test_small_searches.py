"""`neighbors` and `nearest` of few points, which are compared one by one: what brute force says."""

from itertools import product

import numpy as np
import point_scenes
import pytest

import broadphase as bp

KINDS = list(product((2, 3), (np.float32, np.float64)))
SIZES = ((1, 1), (5, 7), (33, 16), (90, 70))


def expect_pairs(found, right):
    for column, wanted in zip(found, right, strict=True):
        np.testing.assert_array_equal(column, wanted)
    assert found.distance.dtype == right[2].dtype


def expect_nearest(found, right):
    np.testing.assert_array_equal(found.ids, right[0])
    np.testing.assert_array_equal(found.distances, right[1])
    assert found.distances.dtype == right[1].dtype


@pytest.mark.parametrize("scene", point_scenes.SCENES)
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_every_scene(scene, dim, dtype):
    points = point_scenes.points_of(scene, 60, dim, dtype)
    for r in point_scenes.SCENES[scene][1]:
        expect_pairs(bp.neighbors(points, r, other=points[20:]), point_scenes.near(points, r, points[20:]))
        env = np.arange(len(points)) % 2
        expect_pairs(bp.neighbors(points, r, env=env), point_scenes.near(points, r, env=env))
    for k in (1, 9):
        expect_nearest(bp.nearest(points, k, other=points[20:]), point_scenes.nearest(points, k, points[20:]))


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_periods_worlds_and_radii(sizes, dim, dtype):
    random = np.random.default_rng(sum(sizes))
    points, others = ((random.random((n, dim)) * 3 - 1).astype(dtype) for n in sizes)
    radii, other_radii = ((random.random(n) * 0.3).astype(dtype) for n in sizes)
    env, other_env = (random.integers(-3, 4, n) for n in sizes)
    for period in (None, (1.25,) * dim, (None, 1.25, np.inf)[:dim]):
        inside = points if period is None else np.mod(points, dtype(1.25))
        among = others if period is None else np.mod(others, dtype(1.25))
        for r in (0.0, 0.4, 5.0, radii, (radii, other_radii)):
            expect_pairs(
                bp.neighbors(inside, r, other=among, period=period, env=(env, other_env)),
                point_scenes.near(inside, r, among, period, (env, other_env)),
            )
        for r in (0.3, radii):
            expect_pairs(bp.neighbors(inside, r, period=period), point_scenes.near(inside, r, period=period))
        for k in (1, 3):
            expect_nearest(
                bp.nearest(inside, k, period=period, env=env, r=0.6),
                point_scenes.nearest(inside, k, period=period, env=env, r=0.6),
            )
            expect_nearest(
                bp.nearest(inside, k, other=among, period=period),
                point_scenes.nearest(inside, k, among, period=period),
            )


def test_rows_of_numbers_are_points():
    rows = [(0.0, 0.0), (3, 4.0), (0.0, 1)]
    near = bp.neighbors(rows, 5)
    assert list(zip(near.i.tolist(), near.j.tolist(), near.distance.tolist(), strict=True)) == [
        (0, 1, 5.0),
        (0, 2, 1.0),
        (1, 2, 18**0.5),
    ]
    assert bp.nearest(rows, 1).ids.tolist() == [[2], [2], [0]]


def test_more_pairs_than_allowed():
    points = np.zeros((10, 2))
    with pytest.raises(bp.PairLimitExceeded, match="more than max_pairs=99 "):
        bp.neighbors(points, 1.0, other=points, max_pairs=99)
    assert len(bp.neighbors(points, 1.0, other=points, max_pairs=100)) == 100


CELL = ((9.0, 0.0, 0.0), (2.0, 8.0, 0.0), (1.0, -2.0, 10.0))


def all_ways(points, others, period):
    """From each point to the nearest image of each of the others."""
    ways = others[None] - points[:, None]
    if period is None:
        return ways
    dim = points.shape[1]
    cell = np.array(period)[:dim, :dim] if isinstance(period[0], tuple) else np.diag(period[:dim])
    steps = np.stack(np.meshgrid(*[[-2, -1, 0, 1, 2]] * dim), -1).reshape(-1, dim) @ cell
    images = ways[:, :, None] + steps
    best = (images**2).sum(axis=-1).argmin(axis=-1)
    return np.take_along_axis(images, best[..., None, None], 2)[:, :, 0]


@pytest.mark.parametrize("n", [1, 2, 5, 16, 17, 40])
@pytest.mark.parametrize("period", [None, (10.0, 12.0, 11.0), CELL])
@pytest.mark.parametrize("both", [False, True])
def test_all_that_a_call_of_few_may_say(n, period, both):
    random = np.random.default_rng((n, both))
    points, other = random.random((n, 3)) * 6, random.random((n + 3, 3)) * 6
    envs = random.integers(-1, 3, n), random.integers(-1, 3, n + 3)
    radii = random.random(n), random.random(n + 3)
    found = other if both else points
    ways = all_ways(points, found, period)
    apart = np.sqrt((ways**2).sum(axis=-1))
    env, size = (envs, radii) if both else (envs[0], radii[0])
    ones, twos = (envs if both else envs[:1] * 2), (radii if both else radii[:1] * 2)
    together = (ones[0][:, None] == ones[1]) | (ones[0][:, None] == -1) | (ones[1] == -1)
    how = {"period": period, "other": other if both else None}
    rows, columns = np.indices(apart.shape)
    for half in (True,) if both else (True, False):
        side = np.ones_like(together) if both else rows < columns if half else rows != columns
        for r, more, wanted in (
            (3.0, {}, apart <= 3.0),
            (3.0, {"env": env}, (apart <= 3.0) & together),
            (3.0, {"r_min": 2.0}, (apart <= 3.0) & (apart >= 2.0)),
            (size, {}, apart <= twos[0][:, None] + twos[1]),
            (3.0, {"exclude_self": True}, (apart <= 3.0) & (rows != columns)),
        ):
            near = bp.neighbors(points, r, half=half, **how, **more)
            i, j = np.nonzero(wanted & side)
            assert (near.i.tolist(), near.j.tolist()) == (i.tolist(), j.tolist())
            np.testing.assert_allclose(near.distance, apart[i, j], rtol=1e-9)
            np.testing.assert_allclose(near.unit * near.distance[:, None], ways[i, j], atol=1e-9)
            if half and not ({"r_min", "exclude_self"} & more.keys()) and r is not size:
                assert bp.count_neighbors(points, [r, 0.0], **how, **more)[0] == len(i)
    left = apart if both else np.where(np.eye(n, dtype=bool), np.inf, apart)
    for k in (1, 3):
        near = bp.nearest(points, k, r=3.0, **how)
        best = np.sort(np.where(left <= 3.0, left, np.inf), axis=1)[:, :k]
        best = np.hstack((best, np.full((n, k - best.shape[1]), np.inf)))
        np.testing.assert_allclose(near.distances, best, rtol=1e-9)
        held = near.ids >= 0
        np.testing.assert_allclose(left[np.nonzero(held)[0], near.ids[held]], near.distances[held], rtol=1e-9)
