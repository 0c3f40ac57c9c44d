"""Boxes in the order of one axis: insertion, and its limit."""

import numpy as np
import pytest
from test_index_machine import machine

import broadphase as bp
from broadphase.indexes import sort_and_sweep

smaller_set = pytest.mark.smaller_set
SORTED = [bp.SortAndSweep, bp.SweepAndPrune]


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
