"""The nearest of many points at once: the same as brute force says, whatever the points are."""

import numpy as np
import point_scenes
import pytest

import broadphase as bp

N = 1500
SETS = np.where(np.arange(N) % 3 == 0, 2, 1)


def both(boxes, **options):
    dim = np.shape(boxes)[1] // 2
    indexes = [kind(dim=dim, **options) for kind in (bp.BoxTree, bp.BruteForce)]
    for index in indexes:
        index.insert_many(boxes, category=SETS[: len(boxes)])
    return indexes


def expect_the_same(indexes, points, k, **rules):
    found, right = (index.nearest(points, k, **rules) for index in indexes)
    np.testing.assert_array_equal(found.ids, right.ids)
    np.testing.assert_array_equal(found.distances, right.distances)
    assert found.ids.dtype == np.int32
    assert found.ids.shape == (len(points), k)
    assert indexes[0].stats.pairs == indexes[1].stats.pairs


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scene", point_scenes.SCENES)
def test_points_among_themselves(scene, dim, dtype):
    points = point_scenes.points_of(scene, N, dim, dtype)
    indexes = both(np.hstack((points, points)), dtype=dtype)
    expect_the_same(indexes, points, 9)
    expect_the_same(indexes, points, 1)
    expect_the_same(indexes, points, 20, mask=2)


@pytest.mark.parametrize("dim", [2, 3])
def test_query_points_far_and_near(dim):
    random = np.random.default_rng(6)
    points = random.random((N, dim))
    query_points = np.vstack((random.normal(size=(2_200, dim)) * 3, points[:5], np.full((2, dim), 1e140)))
    indexes = both(np.hstack((points, points)))
    for k in (1, 5, 40, 128, 129):  # more are not sorted by rank
        expect_the_same(indexes, query_points, k)
    query_points[-1] = 1e200  # squares overflow
    expect_the_same(indexes, query_points, 5)


@pytest.mark.parametrize("edges", [[2.0**500] * 2 + [np.inf] * 2, [np.inf] * 4, [0, 0, 1e200, 1]])
@pytest.mark.parametrize("dim", [2, 3])
def test_small_boxes_and_a_few_large_ones(dim, edges):
    random = np.random.default_rng(7)
    low = random.random((N, dim))
    boxes = np.hstack((low, low + random.random((N, dim)) * 0.3 / N ** (1 / dim)))
    boxes[3] = [-1.0] * dim + [1.5] * dim
    boxes[8] = [-np.inf] * dim + [0.1] * dim
    boxes[9] = [-np.inf] * dim + [np.inf] * dim
    boxes[10] = edges[:1] * (dim - 2) + edges[:2] + edges[3:] * (dim - 2) + edges[2:]
    indexes = both(boxes)
    for index in indexes:
        index.remove_many([0, 20, N - 1])
    expect_the_same(indexes, random.random((900, dim)), 6)
    expect_the_same(indexes, random.random((900, dim)), 6, category=1, mask=1)


@pytest.mark.parametrize("dim", [2, 3])
def test_boxes_of_all_sizes(dim):
    random = np.random.default_rng(12)
    low = random.random((N, dim))
    boxes = np.hstack((low, low + random.random((N, dim)) * 4.0 ** random.integers(-12, 2, (N, 1))))
    expect_the_same(both(boxes), random.random((700, dim)), 8)


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_more_are_wanted_than_there_are(n):
    points = np.random.default_rng(8).random((600, 2))
    boxes = np.random.default_rng(9).random((n, 2))
    indexes = both(np.hstack((boxes, boxes)))
    expect_the_same(indexes, points, 40)
    expect_the_same(indexes, points, 40, mask=2)


def test_one_nearest_of_more_than_one_thread():
    points = np.random.default_rng(10).random((12_000, 2))
    whole, cut = (bp.BoxTree(threads=count) for count in (1, 2))
    for index in (whole, cut):
        index.insert_many(np.hstack((points, points)))
    whole, cut = whole.nearest(points, 4), cut.nearest(points, 4)
    np.testing.assert_array_equal(cut.ids, whole.ids)
    np.testing.assert_array_equal(cut.distances, whole.distances)
