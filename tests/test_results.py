"""Results are ordinary arrays of the caller, although their memory is recycled when he drops them."""

import pickle

import numpy as np
import pytest
import scenes
from checks import assert_same

import broadphase as bp

pytestmark = pytest.mark.parametrize("method", bp.METHODS)
sort_or_not = pytest.mark.parametrize("sort", [True, False], ids=["sorted", "unsorted"])


@pytest.mark.smaller_set
@sort_or_not
def test_small_results_may_be_written_to(sort, method):
    boxes = scenes.make("all_equal", 5, 2)
    first = bp.pairs(boxes, method=method, sort=sort)
    first[:] = -1
    second = bp.pairs(boxes, method=method, sort=sort)
    assert (first == -1).all()
    assert len(second) == 10
    assert second.min() == 0


@sort_or_not
def test_later_calls_leave_earlier_results_alone(sort, method):
    """Large results, whose memory is reused: first while all are held, then while most are dropped."""
    worlds = [scenes.make("same_left_edge", 1_500, 2, np.float32, seed) for seed in range(4)]
    held = [bp.pairs(boxes, method=method, sort=sort) for boxes in worlds]
    assert min(len(result) for result in held) > 20_000
    before = [result.copy() for result in held]
    for boxes in worlds:
        bp.pairs(boxes[::-1], method=method, sort=sort)[:] = -1
    for result, copy in zip(held, before, strict=True):
        assert np.array_equal(result, copy)


def test_a_part_of_a_result_keeps_it_alive(method):
    boxes = scenes.make("same_left_edge", 1_500, 2, np.float32)
    firsts = bp.pairs(boxes, method=method)[:, 0]
    middle = bp.join(boxes, boxes, method=method)[1_000:3_000]
    before = firsts.copy(), middle.copy()
    for _ in range(4):
        bp.pairs(boxes, method=method)[:] = -1
        bp.join(boxes, boxes, method=method)[:] = -1
    assert np.array_equal(firsts, before[0])
    assert np.array_equal(middle, before[1])


def test_results_are_ordinary_arrays(method):
    boxes = scenes.make("same_left_edge", 1_500, 3)
    result = bp.pairs(boxes, method=method)
    assert type(result) is np.ndarray
    assert result.flags.c_contiguous
    assert result.flags.writeable
    assert result.flags.aligned
    assert_same(pickle.loads(pickle.dumps(result)), result)
    assert_same(result.copy(), result)
