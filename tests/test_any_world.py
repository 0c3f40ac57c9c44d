"""What must not change when the world is moved, turned, scaled or listed in another order.

No oracle: these hold at any size.  Every change of coordinates here is exact in floating point, so the
answer must stay the same to the last pair.
"""

import numpy as np
import pytest
import scenes
from checks import assert_same, in_order
from hypothesis import given
from hypothesis import strategies as st

import broadphase as bp

every_method = pytest.mark.parametrize("method", bp.METHODS)
seeds = st.integers(0, 2**32 - 1)
any_scene = st.sampled_from(scenes.CASES)
# Small integer coordinates: adding or subtracting integers is exact.
INTEGER_SCENES = ["integers", "points", "sheets", "tiles", "signed_zeros"]
# Coordinates of about 1: the exponent has a margin on both sides.
ORDINARY_SCENES = ["uniform", "negative", "integers", "core_and_halo", "long_walls", "tenths", "one_giant"]
N = 600


@every_method
@given(case=any_scene, seed=seeds, touching=st.booleans())
def test_shuffled_boxes_give_renamed_pairs(method, case, seed, touching):
    name, dim = case
    boxes = scenes.make(name, 200, dim, np.float32, seed)
    order = np.random.default_rng(seed).permutation(len(boxes))
    new_id = np.argsort(order)
    renamed = np.sort(new_id[bp.pairs(boxes, method=method, touching=touching)], axis=1).astype(np.int32)
    assert_same(bp.pairs(boxes[order], method=method, touching=touching), in_order(renamed))


@every_method
@given(
    name=st.sampled_from(INTEGER_SCENES),
    dim=st.sampled_from([2, 3]),
    seed=seeds,
    shift=st.lists(st.integers(-1_000_000, 1_000_000), min_size=3, max_size=3),
    touching=st.booleans(),
)
def test_shifted_boxes_give_the_same_pairs(method, name, dim, seed, shift, touching):
    boxes = scenes.make(name, N, dim, np.float32, seed)
    shifted = boxes + np.tile(shift[:dim], 2).astype(np.float32)
    assert_same(
        bp.pairs(shifted, method=method, touching=touching), bp.pairs(boxes, method=method, touching=touching)
    )


@every_method
@given(
    name=st.sampled_from(ORDINARY_SCENES),
    dim=st.sampled_from([2, 3]),
    seed=seeds,
    exponent=st.integers(-80, 80),
    touching=st.booleans(),
)
def test_boxes_scaled_by_a_power_of_two_give_the_same_pairs(method, name, dim, seed, exponent, touching):
    boxes = scenes.make(name, N, dim, np.float32, seed)
    scaled = np.ldexp(boxes, exponent)
    assert_same(
        bp.pairs(scaled, method=method, touching=touching), bp.pairs(boxes, method=method, touching=touching)
    )


@every_method
@given(
    name=st.sampled_from(ORDINARY_SCENES),
    dim=st.sampled_from([2, 3]),
    seed=seeds,
    exponents=st.lists(st.integers(-40, 40), min_size=3, max_size=3),
)
def test_each_axis_has_a_scale_of_its_own(method, name, dim, seed, exponents):
    boxes = scenes.make(name, N, dim, np.float32, seed)
    stretched = np.ldexp(boxes, np.tile(exponents[:dim], 2))
    assert_same(bp.pairs(stretched, method=method), bp.pairs(boxes, method=method))


@every_method
@given(case=any_scene, seed=seeds, touching=st.booleans(), data=st.data())
def test_swapped_axes_give_the_same_pairs(method, case, seed, touching, data):
    name, dim = case
    boxes = scenes.make(name, 200, dim, np.float32, seed)
    axes = np.array(data.draw(st.permutations(range(dim))))
    swapped = boxes[:, np.concatenate([axes, dim + axes])]
    assert_same(
        bp.pairs(swapped, method=method, touching=touching), bp.pairs(boxes, method=method, touching=touching)
    )


@every_method
@given(case=any_scene, seed=seeds, touching=st.booleans())
def test_mirrored_boxes_give_the_same_pairs(method, case, seed, touching):
    name, dim = case
    boxes = scenes.make(name, 200, dim, np.float32, seed)
    mirrored = -np.roll(boxes, dim, axis=1)
    assert_same(
        bp.pairs(mirrored, method=method, touching=touching),
        bp.pairs(boxes, method=method, touching=touching),
    )


@every_method
@given(case=any_scene, seed=seeds, first=st.integers(0, 200))
def test_the_first_boxes_alone_give_the_pairs_among_them(method, case, seed, first):
    """Neither a neighbour nor the bounds of the whole may change whether two boxes overlap."""
    name, dim = case
    boxes = scenes.make(name, 200, dim, np.float64, seed)
    found = bp.pairs(boxes, method=method)
    assert_same(bp.pairs(boxes[:first], method=method), found[found[:, 1] < first])


@every_method
@given(case=any_scene, seed=seeds, touching=st.booleans())
def test_a_join_with_itself_is_pairs_in_both_orders(method, case, seed, touching):
    """Only that a box without extent does not overlap itself where touching does not count."""
    name, dim = case
    boxes = scenes.make(name, 100, dim, np.float64, seed)
    found = bp.join(boxes, boxes, method=method, touching=touching)
    pairs = bp.pairs(boxes, method=method, touching=touching)
    assert_same(found[found[:, 0] < found[:, 1]], pairs)
    assert_same(in_order(found[found[:, 0] > found[:, 1]][:, ::-1]), pairs)
    extended = (boxes[:, :dim] < boxes[:, dim:]).all(axis=1)
    assert np.array_equal(found[found[:, 0] == found[:, 1], 0], np.flatnonzero(extended | touching))


@every_method
@given(case=any_scene, seed=seeds)
def test_strict_pairs_are_among_the_touching_ones(method, case, seed):
    name, dim = case
    boxes = scenes.make(name, 200, dim, np.float32, seed)
    touching = bp.pairs(boxes, method=method)
    a, b = boxes[touching[:, 0]], boxes[touching[:, 1]]
    strict = ((a[:, :dim] < b[:, dim:]) & (b[:, :dim] < a[:, dim:])).all(axis=1)
    assert_same(bp.pairs(boxes, method=method, touching=False), touching[strict])
