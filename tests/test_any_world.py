"""What must not change when the world is moved, turned or scaled.

No oracle: these hold at any size.  Every change of coordinates here is exact in floating point, so the
answer must stay the same to the last pair.
"""

import numpy as np
import pytest
import scenes
from checks import assert_same
from hypothesis import given
from hypothesis import strategies as st

import broadphase as bp

# Small integer coordinates: adding or subtracting integers is exact.
INTEGER_SCENES = ["integers", "points", "sheets", "tiles", "signed_zeros"]
# Coordinates of about 1: the exponent has a margin on both sides.
ORDINARY_SCENES = ["uniform", "negative", "integers", "core_and_halo", "long_walls", "tenths", "one_giant"]
N = 400


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


@pytest.mark.parametrize("method", bp.METHODS)
@pytest.mark.parametrize("change", CHANGES)
@given(data=st.data(), dim=st.sampled_from([2, 3]), seed=st.integers(0, 2**32 - 1), touching=st.booleans())
def test_changed_boxes_give_the_same_pairs(method, change, data, dim, seed, touching):
    name = data.draw(st.sampled_from(CHANGES[change] or scenes.named(dim)))
    boxes = scenes.make(name, N, dim, np.float32, seed)
    changed = change(np.random.default_rng(seed), boxes, dim)
    assert_same(
        bp.pairs(changed, method=method, touching=touching), bp.pairs(boxes, method=method, touching=touching)
    )
