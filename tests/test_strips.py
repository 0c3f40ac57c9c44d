"""Strips where scenes alone do not lead: small worlds in many strips, crowded strips, worlds in one piece."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_checks import KINDS, assert_exact, degenerate_boxes, pairs_of, scenes, task

from broadphase.indexes.classes import Strips
from broadphase.inputs.search import as_filter
from broadphase.kernels.strips.bin import HALF_ORIGIN, IN_STRIPS, LAST, SCALE
from broadphase.methods import strips
from broadphase.runtime import thresholds

WAYS = ("in one call", "call by call")


def take(motion, patch, counts=None):
    """Search small worlds in this way only; with ``counts``, in this many strips on every cut axis."""
    if counts is not None:
        patch.setattr(strips, "cut_world", cut_into(counts))
    if motion == "call by call":
        patch.setattr(thresholds, "ONE_CALL", 0)
    elif counts is not None:
        patch.setattr(strips, "find_at_once", find_in_crowds)


def find_in_crowds(queries, plan):
    """A `find_at_once` in which strips may be crowded."""
    return real_find_at_once(queries, plan, np.inf)


def cut_into(counts):
    """A `cut_world` that cuts every cut axis into so many strips, however small the world is."""

    def cut_world(queries):
        plan, _ = real_cut_world(queries)
        lattice = plan.lattice.copy()
        for c in range(len(lattice)):
            lows = queries.boxes[:, plan.axes[1 + c]].astype(float)
            lows = np.append(np.sort(lows[np.isfinite(lows)]), [0.0, 0.0])
            low, high = lows[len(lows) // 20] / 2, lows[-2 - len(lows) // 20] / 2
            lattice[c, HALF_ORIGIN] = low
            lattice[c, LAST] = counts - 1
            with np.errstate(over="ignore"):
                width = max(high - low, np.finfo(lattice.dtype).tiny)
                lattice[c, SCALE] = min(counts / width, np.finfo(lattice.dtype).max)
        return plan._replace(lattice=lattice), IN_STRIPS

    return cut_world


real_cut_world, real_find_at_once = strips.cut_world, strips.find_at_once


@pytest.mark.smaller_set
@pytest.mark.parametrize("motion", WAYS)
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_small_worlds_in_many_strips(dim, dtype, touching, motion, monkeypatch):
    for counts in (2, 7):
        take(motion, monkeypatch, counts)
        for _, boxes in scenes(dim, dtype, n=24):
            assert_exact(strips.find, boxes, touching)


@pytest.mark.covering
@pytest.mark.parametrize("motion", WAYS)
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_worlds_in_many_strips(dim, dtype, touching, motion, monkeypatch, exhaustive):
    take(motion, monkeypatch, 13)
    for name, boxes in scenes(dim, dtype, n=700 if exhaustive else 250):
        rules = as_filter(len(boxes), static=np.arange(len(boxes)) % 3 == 0, categories=7, masks=3)
        assert_exact(strips.find, boxes, touching)
        assert_exact(strips.find, boxes, touching, rules)
        if name == "uniform":
            found = strips.find(task(boxes, touching))
            assert found.cells == 13 ** (dim - 1)


@given(st.data())
def test_any_world_in_many_strips(data):
    boxes = data.draw(degenerate_boxes())
    if len(boxes) < 2:
        return
    with pytest.MonkeyPatch.context() as patch:
        take(data.draw(st.sampled_from(WAYS)), patch, data.draw(st.integers(1, 9)))
        assert_exact(strips.find, boxes, data.draw(st.booleans()))


@pytest.mark.parametrize("motion", WAYS)
@pytest.mark.parametrize("counts", [None, 3])
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_crowds_far_apart(dim, dtype, counts, motion, monkeypatch):
    """So many boxes in so few places that buckets of equal width hold nearly all of them."""
    take(motion, monkeypatch, counts)
    random = np.random.default_rng(5)
    centres = random.random((1_500, dim)) + 1e6 * random.integers(0, 2, (1_500, 1))
    boxes = np.hstack((centres - 0.03, centres + 0.03)).astype(dtype)
    before = boxes.copy()
    for touching in (True, False):
        assert_exact(strips.find, boxes, touching)
    np.testing.assert_array_equal(boxes, before)


@pytest.mark.smaller_set
@pytest.mark.parametrize("motion", WAYS)
@pytest.mark.parametrize("dim", [2, 3])
def test_zeros_of_both_signs_touch_in_one_piece(dim, motion, monkeypatch):
    take(motion, monkeypatch)
    left = [-1.0] * dim + [-0.0] + [1.0] * (dim - 1)
    right = [0.0] + [-1.0] * (dim - 1) + [1.0] * dim
    found = strips.find(task(np.array([left, right], np.float32)))
    assert found.cells == 1
    assert pairs_of(found).tolist() == [[0, 1]]
    assert strips.find(task(np.array([left, right], np.float32), touching=False)).pairs == 0


@pytest.mark.parametrize("motion", WAYS)
@pytest.mark.parametrize("counts", [None, 5])
def test_more_pairs_than_were_expected(counts, motion, monkeypatch):
    take(motion, monkeypatch, counts)
    boxes = np.tile(np.array([0.0, 0.0, 1.0, 1.0]), (300, 1))
    boxes[::3, 1::2] += np.random.default_rng(2).random((100, 1))
    assert_exact(strips.find, boxes)
    there = len(pairs_of(strips.find(task(boxes))))
    assert there > 4 * len(boxes)
    assert strips.find(task(boxes, store=False)).pairs == there
    assert strips.find(task(boxes, limit=1_500)).pairs > 1_500


@pytest.mark.smaller_set
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_boxes_at_infinity_in_one_call(dim, dtype, touching, monkeypatch):
    random = np.random.default_rng(4)
    low = random.random((90, dim))
    boxes = np.hstack((low, low + 0.2)).astype(dtype)
    boxes[3, 0], boxes[4, dim] = -np.inf, np.inf  # half a world long
    boxes[5, :dim], boxes[5, dim:] = -np.inf, np.inf
    # Out there they touch each other, and all that reaches out.
    boxes[[6, 7], 0] = boxes[[6, 7], dim] = np.inf
    boxes[8, 1] = boxes[8, dim + 1] = -np.inf
    for counts in (None, 4):
        take("in one call", monkeypatch, counts)
        plan, _ = strips.cut_world(task(boxes, touching))
        assert strips.find_at_once(task(boxes, touching), plan) is not None
        assert_exact(strips.find, boxes, touching)


def test_more_copies_than_the_buffer_holds():
    """Each box covers five to seven of nine strips."""
    boxes = np.tile(np.array([0.0, 0.0, 1.0, 1.0]), (100, 1))
    boxes[:, 1] -= np.arange(100) / 1e3
    boxes[0, 3] = 9.0
    lattice = np.array([[-0.1, 40.0, 8.0]])
    assert real_find_at_once(task(boxes), strips.Division((0, 1), lattice, lattice[:, :0]), np.inf) is None
    assert_exact(strips.find, boxes)


def test_an_index_read_while_nearly_empty_is_divided_when_it_fills():
    random = np.random.default_rng(3)
    low = random.random((5_000, 2))
    boxes = np.hstack((low, low + 0.01))
    index = Strips()
    index.insert_many(boxes[:10])
    index.pairs()
    assert index._structure.counts()[0] == 1
    index.insert_many(boxes[10:])
    np.testing.assert_array_equal(index.pairs(), pairs_of(strips.find(task(boxes))))
    assert index._structure.counts()[0] > 5
