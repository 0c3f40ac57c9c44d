"""A few boxes among many: what is left out meets none of the few, and the answers stay what they are."""

import numpy as np
import oracle
import pytest
import scenes
from checks import assert_same

import broadphase as bp
from broadphase.methods.strips import boxes_near
from broadphase.runtime import thresholds
from broadphase.runtime.memory import Scratch

small = pytest.mark.smaller_set
CASES = [(name, dim) for name, dims in scenes._DIMENSIONS.items() for dim in dims]


@pytest.fixture
def few_enough(monkeypatch):
    """Try it on small scenes too, and where it leaves out little."""
    monkeypatch.setattr(thresholds, "MANY_BOXES", 0)
    monkeypatch.setattr(thresholds, "MOST_KEPT", np.inf)


def squares(n, world, seed, dim=2, dtype=np.float32):
    low = np.random.default_rng(seed).uniform(0.0, world, (n, dim))
    return np.hstack((low, low + 1.0)).astype(dtype)


@pytest.mark.covering
@small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "dim"), CASES)
def test_dropped_boxes_meet_none_of_the_few(name, dim, dtype, few_enough):
    boxes = scenes.make(name, 300, dim, dtype)
    chosen = np.random.default_rng(1).choice(300, 10, replace=False)
    few = np.ascontiguousarray(boxes[chosen])
    near = boxes_near(few, boxes, 2, Scratch())
    if near is None:
        assert np.abs(boxes).max() > 1e30  # no picture of what has no end, or nearly none
        return
    met = np.unique(oracle.join(few, boxes)[:, 1])
    assert np.isin(met, near.rows).all()
    assert (np.diff(near.rows) > 0).all()
    np.testing.assert_array_equal(near.few, few)
    np.testing.assert_array_equal(near.others, boxes[near.rows])


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_most_of_an_even_world_is_left_out(dim, threads):
    many = squares(40_000, 40_000 ** (1 / dim) * 1.5, 2, dim)
    near = boxes_near(many[:400], many, threads, Scratch())
    assert near is not None
    assert len(near.rows) < 0.2 * len(many)
    assert np.isin(np.unique(oracle.join(many[:400], many)[:, 1]), near.rows).all()


@pytest.mark.parametrize("few_first", [True, False])
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("sort", [True, False])
def test_join_of_a_few_with_many(few_first, touching, sort):
    # Whole numbers: many edges touch.
    many = np.round(squares(30_000, 250.0, 4, dtype=np.float64))
    few = np.round(squares(500, 250.0, 5, dtype=np.float64))
    a, b = (few, many) if few_first else (many, few)
    rows = bp.join(a, b, touching=touching, sort=sort)
    expected = bp.join(a, b, touching=touching, method="sort_and_sweep")
    assert len(expected) > 200
    assert boxes_near(few, many, 2, Scratch()) is not None
    assert_same(rows if sort else rows[np.lexsort((rows[:, 1], rows[:, 0]))], expected)


@pytest.mark.parametrize("movers_are", ["first", "last", "anywhere"])
def test_few_that_move_among_static_ones(movers_are):
    boxes = squares(30_000, 150.0, 6)
    at = {"first": np.arange(600), "last": np.arange(29_400, 30_000)}.get(
        movers_are, np.random.default_rng(7).choice(30_000, 600, replace=False)
    )
    static = np.ones(30_000, np.bool_)
    static[at] = False
    categories = np.random.default_rng(8).integers(1, 4, 30_000)
    rules = {"static": static, "categories": categories, "masks": np.full(30_000, 2)}
    expected = bp.pairs(boxes, method="sort_and_sweep", **rules)
    assert len(expected) > 600
    assert_same(bp.pairs(boxes, **rules), expected)
    assert bp.count_pairs(boxes, **rules) == len(expected)


def test_a_giant_that_no_sample_shows_is_taken():
    many = squares(30_000, 300.0, 9)
    many[12_345] = [0, 0, 300, 300]
    few = squares(50, 300.0, 10)
    joined = bp.join(few, many)
    assert (joined[:, 1] == 12_345).sum() == len(few)
