"""Strips where scenes alone do not lead: small worlds in many strips, crowded strips, worlds in one piece."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_checks import KINDS, assert_exact, odd_boxes, pairs_of, scenes, task

from broadphase.boxes import as_filter
from broadphase.kernels.strips.bin import HALF_ORIGIN, LAST, SCALE
from broadphase.kernels.strips.plan import IN_STRIPS
from broadphase.methods import strips


def cut_into(counts, form=strips.Cut):
    """A `cut_world` that cuts every cut axis into so many strips, however small the world is."""

    def cut_world(asked):
        cut = real_cut_world(asked)
        lattice = cut.lattice.copy()
        for c in range(len(lattice)):
            lows = asked.boxes[:, cut.cuts[c]].astype(float)
            lows = np.append(np.sort(lows[np.isfinite(lows)]), [0.0, 0.0])
            low, high = lows[len(lows) // 20] / 2, lows[-2 - len(lows) // 20] / 2
            lattice[c, HALF_ORIGIN] = low
            lattice[c, LAST] = counts - 1
            with np.errstate(over="ignore"):
                width = max(high - low, np.finfo(lattice.dtype).tiny)
                lattice[c, SCALE] = min(counts / width, np.finfo(lattice.dtype).max)
        return form(cut.swept, cut.cuts, np.full_like(cut.counts, counts), lattice, IN_STRIPS)

    return cut_world


real_cut_world = strips.cut_world


@pytest.mark.smaller_set
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_small_worlds_in_many_strips(dim, dtype, touching, monkeypatch):
    for counts in (2, 7):
        monkeypatch.setattr(strips, "cut_world", cut_into(counts))
        for _, boxes in scenes(dim, dtype, n=24):
            assert_exact(strips.find, boxes, touching)


@pytest.mark.covering
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_worlds_in_many_strips(dim, dtype, touching, monkeypatch, exhaustive):
    monkeypatch.setattr(strips, "cut_world", cut_into(13))
    for name, boxes in scenes(dim, dtype, n=700 if exhaustive else 250):
        rules = as_filter(len(boxes), static=np.arange(len(boxes)) % 3 == 0, categories=7, masks=3)
        assert_exact(strips.find, boxes, touching)
        assert_exact(strips.find, boxes, touching, rules)
        if name == "uniform":
            found = strips.find(task(boxes, touching))
            assert found.cells == 13 ** (dim - 1)


@given(st.data())
def test_any_world_in_many_strips(data):
    dim, dtype = data.draw(st.sampled_from(KINDS))
    boxes = data.draw(odd_boxes(dim, dtype))
    if len(boxes) < 2:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strips, "cut_world", cut_into(data.draw(st.integers(1, 9))))
        assert_exact(strips.find, boxes, data.draw(st.booleans()))


@pytest.mark.parametrize("counts", [None, 3])
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_crowds_far_apart(dim, dtype, counts, monkeypatch):
    """So many boxes in so few places that buckets of equal width hold nearly all of them."""
    if counts:
        monkeypatch.setattr(strips, "cut_world", cut_into(counts))
    random = np.random.default_rng(5)
    centres = random.random((1_500, dim)) + 1e6 * random.integers(0, 2, (1_500, 1))
    boxes = np.hstack((centres - 0.03, centres + 0.03)).astype(dtype)
    before = boxes.copy()
    for touching in (True, False):
        assert_exact(strips.find, boxes, touching)
    np.testing.assert_array_equal(boxes, before)


@pytest.mark.smaller_set
@pytest.mark.parametrize("dim", [2, 3])
def test_zeros_of_both_signs_touch_in_one_piece(dim):
    left = [-1.0] * dim + [-0.0] + [1.0] * (dim - 1)
    right = [0.0] + [-1.0] * (dim - 1) + [1.0] * dim
    found = strips.find(task(np.array([left, right], np.float32)))
    assert found.cells == 1
    assert pairs_of(found).tolist() == [[0, 1]]
    assert strips.find(task(np.array([left, right], np.float32), touching=False)).pairs == 0


def test_more_pairs_than_were_expected_in_one_piece():
    boxes = np.tile(np.array([0.0, 0.0, 1.0, 1.0]), (300, 1))
    assert_exact(strips.find, boxes)
