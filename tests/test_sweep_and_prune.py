"""What is special about `SweepAndPrune`: ties, and ends that are followed."""

import numpy as np
import pytest
from test_index_machine import machine

import broadphase as bp
from broadphase.indexes.sweep_and_prune import SweepStructure
from broadphase.runtime import thresholds

smaller_set = pytest.mark.smaller_set


def row_of_boxes(n):
    """Side by side, with gaps; four ends every ten units."""
    left = np.arange(n) * 10.0
    return np.column_stack((left, np.zeros(n), left + 4, np.ones(n)))


@pytest.fixture
def followed(monkeypatch):
    """All that moves is followed; else small scenes are sorted afresh."""
    monkeypatch.setattr(thresholds, "MOST_TOUCHED", 10.0)


def lists(changes):
    return [part.tolist() for part in changes]


def test_reading_after_each_insert_seldom_starts_afresh(monkeypatch):
    rebuilds, random, index = [], np.random.default_rng(0), bp.SweepAndPrune()
    rebuild = SweepStructure._rebuild
    monkeypatch.setattr(SweepStructure, "_rebuild", lambda self: (rebuilds.append(1), rebuild(self)))
    for _ in range(600):
        low = random.random(2) * 100
        index.insert([*low, *(low + 3)])
        index.pairs()
    for gone in random.permutation(600)[:500].tolist():
        index.remove(gone)
        index.pairs()
    index.validate()
    assert len(rebuilds) < 10


# ---- ties


@smaller_set
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_edges_that_meet(touching, dtype, zero, followed):
    index = bp.SweepAndPrune(touching=touching, dtype=dtype)
    index.insert_many([[-1, 0, zero, 1], [5, 0, 6, 1], [9, 0, 9, 1], *row_of_boxes(12) + 100])
    index.changes()
    meets = [[0, 1]] if touching else []
    index.move(1, [-zero, 0, 1, 1])  # comes from the right and stops at the edge
    assert lists(index.changes()) == [meets, [], []]
    index.move(1, [np.nextafter(dtype(0), dtype(-1)), 0, 1, 1])
    assert index.pairs().tolist() == [[0, 1]]
    index.move(1, [zero, 0, 1, 1])
    assert index.pairs().tolist() == meets
    index.move(1, [np.nextafter(dtype(0), dtype(1)), 0, 1, 1])
    assert index.pairs().tolist() == []
    index.move(1, [0, 1, 1, 2])  # over the corner
    assert index.pairs().tolist() == meets
    index.move(2, [-0.5, 0.5, -0.5, 0.5])  # a point inside
    assert index.pairs().tolist() == [*meets, [0, 2]]
    index.move(2, [zero, 0.5, -zero, 0.5])  # on the edge
    assert index.pairs().tolist() == ([*meets, [0, 2]] if touching else [])
    index.validate()


@smaller_set
@pytest.mark.parametrize("touching", [True, False])
def test_infinite_boxes_come_and_go(touching, followed):
    index = bp.SweepAndPrune(touching=touching)
    index.insert_many([[0, 0, 1, 1], [5, 5, 6, 6], [5, 5, 6, 6], *row_of_boxes(12) + 100])
    index.changes()
    for far in range(3, 15):
        index.remove(far)
    index.move(1, [-np.inf, -np.inf, np.inf, np.inf])
    assert lists(index.changes()) == [[[0, 1]], [[1, 2]], []]
    index.move(2, [np.inf, np.inf, np.inf, np.inf])
    assert index.pairs().tolist() == ([[0, 1], [1, 2]] if touching else [[0, 1]])
    index.move(1, [1, 1, np.inf, np.inf])
    assert index.pairs().tolist() == ([[0, 1], [1, 2]] if touching else [])
    index.validate()


# ---- all that moves is followed


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
def test_ends_that_are_always_followed_do_what_the_model_does(dim, followed):
    """Else the machine would seldom see anything but a fresh start."""
    machine("sweep_and_prune", dim)().runTest()


@smaller_set
def test_more_pairs_begin_at_one_place_than_the_buffer_holds(followed):
    index = bp.SweepAndPrune()
    index.insert_many(row_of_boxes(20))
    index.changes()
    index.move_many(range(20), np.tile(index.box(19), (20, 1)))
    assert len(index.changes().began) == 20 * 19 // 2
    index.move_many(range(20), row_of_boxes(20))
    assert len(index.changes().ended) == 20 * 19 // 2
    index.validate()
