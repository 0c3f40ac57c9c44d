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
N = 400


@every_method
@given(case=any_scene, seed=seeds, touching=st.booleans())
def test_shuffled_boxes_give_renamed_pairs(method, case, seed, touching):
    name, dim = case
    boxes = scenes.make(name, 200, dim, np.float32, seed)
    order = np.random.default_rng(seed).permutation(len(boxes))
    new_id = np.argsort(order)
    renamed = np.sort(new_id[bp.pairs(boxes, method=method, touching=touching)], axis=1).astype(np.int32)
    assert_same(bp.pairs(boxes[order], method=method, touching=touching), in_order(renamed))


def shifted(random, boxes, dim):
    shift = random.integers(-1_000_000, 1_000_001, dim)
    return boxes + np.tile(shift, 2).astype(np.float32)


def scaled(random, boxes, dim):
    return np.ldexp(boxes, random.integers(-80, 81))


def stretched(random, boxes, dim):
    return np.ldexp(boxes, np.tile(random.integers(-40, 41, dim), 2))


def with_swapped_axes(random, boxes, dim):
    axes = random.permutation(dim)
    return boxes[:, np.concatenate([axes, dim + axes])]


def mirrored(random, boxes, dim):
    return -np.roll(boxes, dim, axis=1)


# The scenes in which each change is exact; all for those that compute nothing.
CHANGES = {
    shifted: INTEGER_SCENES,
    scaled: ORDINARY_SCENES,
    stretched: ORDINARY_SCENES,
    with_swapped_axes: None,
    mirrored: None,
}


@every_method
@pytest.mark.parametrize("change", CHANGES)
@given(data=st.data(), dim=st.sampled_from([2, 3]), seed=seeds, touching=st.booleans())
def test_changed_boxes_give_the_same_pairs(method, change, data, dim, seed, touching):
    name = data.draw(st.sampled_from(CHANGES[change] or scenes.named(dim)))
    boxes = scenes.make(name, N, dim, np.float32, seed)
    changed = change(np.random.default_rng(seed), boxes, dim)
    assert_same(
        bp.pairs(changed, method=method, touching=touching), bp.pairs(boxes, method=method, touching=touching)
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
