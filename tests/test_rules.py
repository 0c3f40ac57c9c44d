"""Which pairs may count at all (``static``, ``categories``, ``masks``) and how many (``max_pairs``)."""

import pickle

import numpy as np
import oracle
import pytest
import scenes
from checks import assert_same

import broadphase as bp

pytestmark = pytest.mark.parametrize("method", bp.METHODS)
sizes = pytest.mark.parametrize("n", [pytest.param(20, marks=pytest.mark.smaller_set), 400])
both_dimensions = pytest.mark.parametrize("dim", [2, 3], ids=["2d", "3d"])
SCENES = ("integers", "infinite_boxes", "all_equal", "power_law")


@pytest.mark.covering(together=2)
@sizes
@both_dimensions
def test_two_static_boxes_are_never_paired(dim, n, method):
    for name in SCENES:
        boxes = scenes.make(name, n, dim)
        static = np.random.default_rng(5).random(n) < 0.6
        assert_same(bp.pairs(boxes, method=method, static=static), oracle.pairs(boxes, static=static))


@pytest.mark.covering(together=2)
@sizes
@both_dimensions
def test_categories_and_masks_must_agree_in_both_directions(dim, n, method):
    rng = np.random.default_rng(6)
    bits = np.array([0, 1, 2, 3, 1 << 16, 1 << 31, 0xFFFFFFFF], np.uint32)
    for name in SCENES:
        boxes = scenes.make(name, n, dim, np.float32)
        rules = {
            "categories": rng.choice(bits, n),
            "masks": rng.choice(bits, n),
            "static": rng.random(n) < 0.3,
        }
        expected = oracle.pairs(boxes, **rules)
        assert_same(bp.pairs(boxes, method=method, **rules), expected)
        assert bp.count_pairs(boxes, method=method, **rules) == len(expected)


@pytest.mark.smaller_set
def test_masks_alone_and_categories_alone_take_the_defaults(method):
    """A box is in category 1 and wants everything, unless it says otherwise."""
    boxes = scenes.make("all_equal", 4, 2)
    masks = [0, 1, 2, 0xFFFFFFFF]
    assert_same(bp.pairs(boxes, method=method, masks=masks), np.array([[1, 3]], np.int32))
    categories = [0, 1, 2, 0x80000000]
    assert_same(
        bp.pairs(boxes, method=method, categories=categories), np.array([[1, 2], [1, 3], [2, 3]], np.int32)
    )


@pytest.mark.smaller_set
def test_one_rule_for_all_boxes_may_be_a_scalar(method):
    boxes = scenes.make("all_equal", 6, 2)
    assert bp.count_pairs(boxes, method=method, static=True) == 0
    assert bp.count_pairs(boxes, method=method, static=False) == 15
    assert bp.count_pairs(boxes, method=method, categories=2, masks=1) == 0
    assert bp.count_pairs(boxes, method=method, categories=2, masks=2) == 15


@pytest.mark.covering(together=2)
@sizes
@both_dimensions
def test_max_pairs_may_be_reached_but_not_passed(dim, n, method):
    for name in ("integers", "all_equal"):
        boxes = scenes.make(name, n, dim)
        expected = oracle.pairs(boxes)
        assert_same(bp.pairs(boxes, method=method, max_pairs=len(expected)), expected)
        for limit in (len(expected) - 1, 1, 0):
            with pytest.raises(bp.PairLimitExceeded, match=f"more than max_pairs={limit} pairs") as caught:
                bp.pairs(boxes, method=method, max_pairs=limit)
            assert caught.value.max_pairs == limit


@pytest.mark.smaller_set
def test_max_pairs_of_a_join(method):
    a, b = scenes.make("all_equal", 5, 2), scenes.make("all_equal", 7, 2)
    assert len(bp.join(a, b, method=method, max_pairs=35)) == 35
    with pytest.raises(bp.PairLimitExceeded):
        bp.join(a, b, method=method, max_pairs=34)


@pytest.mark.smaller_set
def test_max_pairs_counts_what_the_rules_allow(method):
    """Excluded pairs do not fill the memory; no pairs at all need none."""
    boxes = scenes.make("all_equal", 6, 2)
    static = np.array([True] * 5 + [False])
    assert len(bp.pairs(boxes, method=method, static=static, max_pairs=5)) == 5
    assert len(bp.pairs(boxes, method=method, static=True, max_pairs=0)) == 0


@pytest.mark.parametrize("threads", [1, 5])
def test_max_pairs_raises_before_memory_is_gone(threads, method):
    """All 450 million pairs would fill 3.6 GB; the limit stops the search long before."""
    resource = pytest.importorskip("resource")
    boxes = scenes.make("all_equal", 30_000, 2, np.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(bp.PairLimitExceeded):
        bp.pairs(boxes, method=method, max_pairs=1_000, threads=threads)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 500_000, "kilobytes"


@pytest.mark.smaller_set
def test_the_error_survives_pickling_and_is_a_memory_error(method):
    with pytest.raises(MemoryError) as caught:
        bp.pairs(scenes.make("all_equal", 3, 2), method=method, max_pairs=2)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.max_pairs, str(again)) == (bp.PairLimitExceeded, 2, str(caught.value))
