"""Boxes in the order of one axis: the keys of queries, the tree of maxima, insertion, and its limit."""

import numpy as np
import pytest
from cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_index_machine import machine

import broadphase as bp
from broadphase.indexes import sort_and_sweep
from broadphase.kernels import sorted as kernel
from broadphase.kernels.arrays.sorting import bits_of, ordered_columns
from broadphase.kernels.machine.simd import LANES

smaller_set = pytest.mark.smaller_set
SORTED = [bp.SortAndSweep, bp.SweepAndPrune]


# ---- the keys of queries

SINGLES = st.floats(width=32, allow_nan=False)
DOUBLES = st.floats(allow_nan=False)
NEAR = st.tuples(SINGLES, st.sampled_from((0, 1, -1, 2**28, -(2**28), 2**29, -(2**29)))).map(
    lambda pair: float((np.array([pair[0]]).view(np.int64) + pair[1]).view(np.float64)[0])
)


@smaller_set
@settings(deadline=None, max_examples=examples(300))
@given(
    edge=SINGLES,
    query=SINGLES | DOUBLES | NEAR.filter(lambda value: value == value),
    dtype=st.sampled_from((np.float32, np.float64)),
    touching=st.booleans(),
    closed=st.booleans(),
)
def test_keys_decide_as_the_numbers_do(edge, query, dtype, touching, closed):
    """``touching`` is the query's rule, ``closed`` the one that the keys were made for."""
    keys = ordered_columns(bits_of(np.array([[edge, 0, edge, 0]], dtype)), np.zeros(1, np.int32), 0, closed)[
        0
    ][:, 0]
    single = dtype == np.float32
    meets = edge >= query if touching else edge > query
    assert (keys[2] >= kernel.low_key(query, single, touching, not closed)) == meets
    meets = edge <= query if touching else edge < query
    assert (keys[0] <= kernel.high_key(query, single, touching)) == meets


# ---- the tree of maxima


@smaller_set
def test_a_giant_far_to_the_left_is_no_trap():
    """It begins before all others and ends after them: the boxes between are skipped all the same."""
    left = np.arange(2000.0)
    index = bp.SortAndSweep()
    index.insert_many([[-10, -10, 3000, 10], *np.column_stack((left, 0 * left, left + 0.5, left + 1))])
    assert index.query_box([1500, 0, 1500.2, 1]).tolist() == [0, 1501]
    assert index.stats.tests <= 3 * LANES


# ---- insertion


# ---- sort and sweep


@smaller_set
def test_swaps_are_the_places_that_boxes_went():
    index = bp.SortAndSweep(axis=0)
    left = np.arange(64.0)
    index.insert_many(np.column_stack((left, left, left + 0.5, left + 1)))
    index.pairs()
    assert index.stats.swaps == 0
    index.move(3, [3.2, 3, 3.7, 4])  # no box is overtaken
    index.pairs()
    assert index.stats.swaps == 0
    index.move(3, [6.2, 3, 6.7, 4])
    index.query_point([0, 0])
    index.move(5, [4.7, 3, 5.7, 4])
    index.pairs()
    assert index.stats.swaps == 3
    boxes = index.boxes.copy()
    boxes[[10, 11]] = boxes[[11, 10]]
    index.update(boxes)  # all a little: two neighbours change places
    index.pairs()
    assert index.stats.swaps == 1
    # All reversed: that would be 64 * 63 / 2 steps, and is none.
    index.update(index.boxes[::-1])
    index.pairs()
    assert index.stats.swaps == 0
    index.validate()


@smaller_set
def test_the_axis_is_chosen_or_given():
    left = np.arange(50.0)
    tower = np.column_stack((left * 0, left, left * 0 + 1, left + 0.5))
    index, other = bp.SortAndSweep(), bp.SortAndSweep(axis=0)
    for each in (index, other):
        each.insert_many(tower)
        assert len(each.pairs()) == 0
    assert index.stats.tests < 100 < other.stats.tests
    assert repr(other).endswith("axis=0>")
    with pytest.raises(ValueError, match="axis must be 'auto' or one of 0, 1; got 2"):
        bp.SortAndSweep(axis=2)


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", ["sort_and_sweep", "sweep_and_prune"])
@pytest.mark.parametrize("steps", [0, 10**6])
def test_always_or_never_by_insertion_does_what_the_model_does(dim, name, steps, monkeypatch):
    monkeypatch.setattr(sort_and_sweep, "MOST_STEPS", steps)
    machine(name, dim)().runTest()
