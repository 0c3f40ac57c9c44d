"""Every method on every scene, array for array against the oracle."""

import functools

import numpy as np
import oracle
import pytest
import scenes
from checks import assert_same, in_order
from hypothesis import given
from hypothesis import strategies as st
from method_checks import degenerate_boxes

import broadphase as bp

every_method = pytest.mark.parametrize("method", bp.METHODS)
both_dimensions = pytest.mark.parametrize("dim", [2, 3], ids=["2d", "3d"])
both_dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
touching_or_not = pytest.mark.parametrize("touching", [True, False], ids=["touching", "strict"])


@functools.lru_cache(maxsize=300)
def expected_pairs(name, n, dim, dtype, touching):
    return oracle.pairs(scenes.make(name, n, dim, dtype), touching)


@pytest.mark.covering(together=2)
@every_method
@touching_or_not
@both_dtypes
@both_dimensions
def test_pairs(dim, dtype, touching, method, each):
    def check(name):
        boxes = scenes.make(name, 300, dim, dtype)
        expected = expected_pairs(name, 300, dim, dtype, touching)
        assert_same(bp.pairs(boxes, method=method, touching=touching), expected)
        assert_same(in_order(bp.pairs(boxes, method=method, touching=touching, sort=False)), expected)
        assert bp.count_pairs(boxes, method=method, touching=touching) == len(expected)

    each(check, scenes.named(dim))


@pytest.mark.covering
@every_method
@both_dimensions
def test_pairs_of_many_boxes(dim, method, each):
    """Enough boxes for several threads, cells on many levels and more than one block of output."""

    def check(name):
        boxes = scenes.make(name, 2_500, dim, np.float32, seed=1)
        assert_same(bp.pairs(boxes, method=method), oracle.pairs(boxes))

    each(check, scenes.named(dim), of=11, turn=bp.METHODS.index(method) + 7 * (dim == 3))


@pytest.mark.smaller_set
@every_method
@touching_or_not
@both_dimensions
def test_pairs_of_few_boxes(dim, touching, method, each):
    def check(name):
        boxes = scenes.make(name, 17, dim, np.float32)
        assert_same(bp.pairs(boxes, method=method, touching=touching), oracle.pairs(boxes, touching))

    each(check, scenes.named(dim))


@pytest.mark.covering(together=2)
@every_method
@both_dtypes
@both_dimensions
def test_pairs_at_the_edges_of_simd_lanes(dim, dtype, method, each):
    def check(name, n):
        boxes = scenes.make(name, n, dim, dtype)
        assert_same(bp.pairs(boxes, method=method), oracle.pairs(boxes))

    names = ("uniform", "integers", "all_equal", "line_along_x")
    each(check, [(name, n) for name in names for n in scenes.LANE_EDGES])


@pytest.mark.covering(together=2)
@every_method
@touching_or_not
@both_dimensions
def test_join(dim, touching, method, each):
    def check(name):
        boxes = scenes.make(name, 240, dim, np.float32, seed=2)
        for a, b in ((boxes[:120], boxes[120:]), (boxes[:3], boxes[3:]), (boxes[:239], boxes[239:])):
            expected = oracle.join(a, b, touching)
            assert_same(bp.join(a, b, method=method, touching=touching), expected)
            assert_same(in_order(bp.join(a, b, method=method, touching=touching, sort=False)), expected)

    each(check, scenes.named(dim))


@pytest.mark.smaller_set
@every_method
@both_dtypes
@both_dimensions
def test_join_of_few_boxes(dim, dtype, method):
    boxes = scenes.make("integers", 24, dim, dtype)
    for cut in (0, 1, 12, 23, 24):
        a, b = boxes[:cut], boxes[cut:]
        assert_same(bp.join(a, b, method=method), oracle.join(a, b))


@every_method
@both_dimensions
def test_join_of_very_different_sizes(dim, method):
    many = scenes.make("power_law", 5_000, dim)
    few = scenes.make("uniform", 4, dim)
    assert_same(bp.join(many, few, method=method), oracle.join(many, few))
    assert_same(bp.join(few, many, method=method), oracle.join(few, many))


@pytest.mark.smaller_set
@every_method
@pytest.mark.parametrize("shape", [(0,), (0, 4), (0, 6)], ids=str)
def test_nothing_overlaps_nothing(shape, method):
    nothing = np.empty(shape)
    none = np.empty((0, 2), np.int32)
    dim = 3 if shape == (0, 6) else 2
    assert_same(bp.pairs(nothing, method=method), none)
    assert_same(bp.join(nothing, nothing, method=method), none)
    assert_same(bp.join(nothing, scenes.make("uniform", 5, dim), method=method), none)
    assert_same(bp.join(scenes.make("uniform", 5, dim), nothing, method=method), none)
    assert bp.count_pairs(nothing, method=method) == 0


@every_method
@given(boxes=degenerate_boxes(), touching=st.booleans())
def test_degenerate_coordinates(method, boxes, touching):
    assert_same(bp.pairs(boxes, method=method, touching=touching), oracle.pairs(boxes, touching))


@pytest.mark.smaller_set
@every_method
@given(boxes=degenerate_boxes(), cut=st.integers(0, 40), touching=st.booleans())
def test_degenerate_joins(method, boxes, cut, touching):
    a, b = boxes[:cut], boxes[cut:]
    assert_same(bp.join(a, b, method=method, touching=touching), oracle.join(a, b, touching))
