"""The same queries of shapely's and SciPy's trees."""

import functools

import numpy as np
import pytest
import scenes
import shapely
from checks import assert_same, in_order
from scipy.spatial import cKDTree

import broadphase as bp

every_method = pytest.mark.parametrize("method", bp.METHODS)
both_dimensions = pytest.mark.parametrize("dim", [2, 3], ids=["2d", "3d"])
FINITE_SCENES = ["uniform", "power_law", "integers", "tiles", "far_clusters", "core_and_halo", "long_walls"]


@functools.cache
def pairs_of_shapely(name):
    boxes = scenes.make(name, 2_000, 2, seed=3)
    shapes = shapely.box(*boxes.T)
    both_ways = in_order(shapely.STRtree(shapes).query(shapes, predicate="intersects").T.astype(np.int32))
    return boxes, both_ways[both_ways[:, 0] < both_ways[:, 1]]


@functools.cache
def join_of_shapely(name):
    boxes = scenes.make(name, 2_000, 2, seed=4)
    a, b = boxes[:500], boxes[500:]
    found = shapely.STRtree(shapely.box(*b.T)).query(shapely.box(*a.T), predicate="intersects")
    return a, b, in_order(found.T.astype(np.int32))


@every_method
def test_shapely_finds_the_same_pairs(method, each):
    def check(name):
        boxes, expected = pairs_of_shapely(name)
        assert_same(bp.pairs(boxes, method=method), expected)

    each(check, FINITE_SCENES)


@every_method
def test_shapely_finds_the_same_join(method, each):
    def check(name):
        a, b, expected = join_of_shapely(name)
        assert_same(bp.join(a, b, method=method), expected)

    each(check, FINITE_SCENES)


def equal_cubes(dim, seed):
    """Centres and half a side as multiples of 1/1024, so that every sum and difference is exact."""
    centres = np.random.default_rng([seed, dim]).integers(0, 1024, (3_000, dim)) / 1024
    half = {2: 8, 3: 32}[dim] / 1024
    return centres, half, np.hstack([centres - half, centres + half])


@every_method
@both_dimensions
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_scipy_finds_the_same_pairs_of_equal_boxes(dim, dtype, method):
    """Equal boxes overlap where the largest difference of their centres is at most a side."""
    centres, half, boxes = equal_cubes(dim, 1)
    tree = cKDTree(centres)
    for touching, reach in ((True, 2 * half), (False, 2 * half - 1 / 1024)):
        expected = in_order(tree.query_pairs(reach, p=np.inf, output_type="ndarray").astype(np.int32))
        found = bp.pairs(boxes.astype(dtype), method=method, touching=touching)
        assert_same(found, expected)


@every_method
@both_dimensions
def test_scipy_finds_the_same_join_of_equal_boxes(dim, method):
    centres, half, boxes = equal_cubes(dim, 2)
    near = cKDTree(centres[:1_000]).sparse_distance_matrix(
        cKDTree(centres[1_000:]), 2 * half, p=np.inf, output_type="ndarray"
    )
    expected = in_order(np.stack([near["i"], near["j"]], axis=1).astype(np.int32))
    assert_same(bp.join(boxes[:1_000], boxes[1_000:], method=method), expected)
