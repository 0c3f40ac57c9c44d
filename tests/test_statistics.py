"""What `stats` counts, against counts in NumPy."""

import numpy as np
import pytest
from oracle import pairs as expected_pairs

import broadphase as bp
from broadphase.indexes import CLASSES


def scattered(count, seed=1, size=6.0, room=100.0):
    low = np.random.default_rng(seed).random((count, 2)) * room
    return np.hstack((low, low + np.random.default_rng(seed + 1).random((count, 2)) * size))


def searched(index, boxes):
    """An index after a search among these boxes."""
    index.insert_many(boxes)
    assert np.array_equal(index.pairs(), expected_pairs(boxes))
    return index


def named(method):
    options = {"cell_size": 8.0} if method in ("uniform_grid", "spatial_hash") else {}
    return bp.make_index(method, **options)


@pytest.mark.smaller_set
@pytest.mark.parametrize("count", [10, 20, 70])
@pytest.mark.parametrize("method", CLASSES)
def test_every_pair_that_was_found_was_tested(method, count):
    index = searched(named(method), scattered(count, size=30.0))
    assert index.stats.tests >= len(expected_pairs(scattered(count, size=30.0))) > 0


@pytest.mark.parametrize("method", [name for name in CLASSES if name not in ("strips", "auto", "box_tree")])
def test_where_all_boxes_are_one_every_two_of_them_are_tested_once(method):
    boxes = np.tile([3.0, 3.0, 4.0, 4.0], (16, 1))
    assert searched(named(method), boxes).stats.tests == 16 * 15 // 2


def test_brute_force_tests_every_two():
    assert searched(bp.BruteForce(), scattered(90)).stats.tests == 90 * 89 // 2


@pytest.mark.parametrize("axis", [0, 1])
def test_sort_and_sweep_tests_what_overlaps_along_its_axis(axis):
    boxes = scattered(300)
    low, high = np.sort(boxes[:, axis]), boxes[np.argsort(boxes[:, axis]), 2 + axis]
    walks = np.searchsorted(low, high, side="right") - np.arange(300) - 1
    assert searched(bp.SortAndSweep(axis=axis), boxes).stats.tests == walks.sum()


def shared_cells(boxes, size):
    """The balls of each cell that has any."""
    cells = {}
    first, last = np.floor(boxes[:, :2] / size).astype(int), np.floor(boxes[:, 2:] / size).astype(int)
    for box in range(len(boxes)):
        for x in range(first[box, 0], last[box, 0] + 1):
            for y in range(first[box, 1], last[box, 1] + 1):
                cells.setdefault((x, y), []).append(box)
    return cells


@pytest.mark.parametrize("size", [4.0, 8.0, 25.0])
def test_a_grid_tests_every_two_in_each_cell(size):
    boxes = scattered(200)
    cells = shared_cells(boxes, size)
    for index in (
        bp.UniformGrid(bounds=(0, 0, 200, 200), cell_size=size),
        bp.SpatialHash(cell_size=size, table_size=1 << 20),
    ):
        stats = searched(index, boxes).stats
        assert stats.cells == len(cells)
        assert stats.tests == sum(len(cell) * (len(cell) - 1) // 2 for cell in cells.values())


def test_a_tiny_table_tests_balls_of_distant_cells():
    tests = [
        searched(bp.SpatialHash(cell_size=8.0, table_size=size), scattered(100)).stats.tests
        for size in (20, 5_000)
    ]
    assert tests[0] > 2 * tests[1]


def test_sweep_and_prune_counts_the_swaps_of_its_edges():
    boxes, moved = scattered(200), scattered(200)
    moved[7] += 3
    index = searched(bp.SweepAndPrune(), boxes)
    index.move(7, moved[7])
    assert np.array_equal(index.pairs(), expected_pairs(moved))
    passed = 0
    for axis in (0, 1):
        others = np.delete(boxes[:, axis::2], 7, axis=0).ravel()
        for side in (axis, axis + 2):
            passed += np.count_nonzero((others > boxes[7, side]) & (others < moved[7, side]))
    assert index.stats.swaps == passed > 0
    index.pairs()
    assert (index.stats.swaps, index.stats.tests) == (0, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_strips_of_a_world_as_narrow_as_floats_allow(dtype):
    """Its extent is far below the smallest number that has all digits: 1 / extent is no float."""
    low = np.random.default_rng(0).integers(0, 9, (20, 2)).astype(dtype) * np.finfo(dtype).smallest_subnormal
    searched(bp.Strips(dtype=dtype), np.hstack((low, low)))
