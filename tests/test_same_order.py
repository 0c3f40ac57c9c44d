"""The number of threads changes nothing but the time, and any thread may call at any time."""

import functools
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import oracle
import pytest
import scenes
from checks import assert_same

import broadphase as bp
from broadphase.kernels.arrays.spin_wait import watch
from broadphase.runtime import threads

every_method = pytest.mark.parametrize("method", bp.METHODS)
several_threads = pytest.mark.skipif(sys.platform == "emscripten", reason="a page has one thread")
both_dimensions = pytest.mark.parametrize("dim", [2, 3], ids=["2d", "3d"])


@functools.lru_cache(maxsize=2)
def world(name, n, dim):
    boxes = scenes.make(name, n, dim, np.float32)
    return boxes, bp.pairs(boxes, method="brute_force", threads=1)


@pytest.mark.covering
@every_method
@both_dimensions
@pytest.mark.parametrize("name", ["integers", "far_clusters", "one_giant", "power_law"])
def test_thread_counts_agree(name, dim, method):
    boxes, expected = world(name, 5_000, dim)
    for count in (1, 2, 5, None):
        assert_same(bp.pairs(boxes, method=method, threads=count), expected)
        assert bp.count_pairs(boxes, method=method, threads=count) == len(expected)


@pytest.mark.parametrize("method", [name for name in bp.METHODS if name != "brute_force"])
@both_dimensions
def test_thread_counts_agree_on_many_boxes(dim, method):
    """So many that strips are searched by several threads, in 3-D too."""
    boxes, expected = world("uniform", 45_000, dim)
    for count in (1, 2, 5):
        assert_same(bp.pairs(boxes, method=method, threads=count), expected)


@pytest.mark.covering
@every_method
@both_dimensions
def test_thread_counts_agree_in_a_join(dim, method):
    boxes = scenes.make("uniform", 6_000, dim)
    a, b = boxes[:2_000], boxes[2_000:]
    expected = oracle.join(a, b)
    for count in (1, 2, 5):
        assert_same(bp.join(a, b, method=method, threads=count), expected)


@pytest.mark.smaller_set
@every_method
def test_more_threads_than_boxes(method):
    boxes = scenes.make("all_equal", 3, 2)
    assert_same(bp.pairs(boxes, method=method, threads=64), oracle.pairs(boxes))


@several_threads
@every_method
def test_python_threads_may_call_at_once(method):
    """More callers than the pool has threads, each of which wants two: no caller waits forever.

    Large and small results at once: their recycled memory must not be handed to two callers.
    """
    callers = 6
    names = ["uniform", "long_walls", "core_and_halo"] * 2
    worlds = [scenes.make(name, 2_500, 2, np.float32, seed) for seed, name in enumerate(names)]
    expected = [bp.pairs(boxes, method="brute_force", threads=1) for boxes in worlds]
    start = Barrier(callers)

    def search(boxes):
        start.wait(timeout=60)
        return [bp.pairs(boxes, method=method, threads=2) for _ in range(3)]

    with ThreadPoolExecutor(callers) as pool:
        for answers, right in zip(pool.map(search, worlds, timeout=60), expected, strict=True):
            for answer in answers:
                assert_same(answer, right)


@pytest.mark.smaller_set
def test_an_error_in_one_share_reaches_the_caller():
    def fail():
        raise RuntimeError("in a share")

    with pytest.raises(RuntimeError, match="in a share"):
        threads.run_all([lambda: 1, fail, lambda: 3])
    assert threads.run_all([lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]


@pytest.mark.smaller_set
@pytest.mark.parametrize("parts", [1, 3, 10, 17])
@pytest.mark.parametrize("n", [0, 1, 10, 11])
def test_shares_cover_everything_once(n, parts):
    spans = threads.shares(n, parts)
    assert len(spans) == parts
    assert [i for begin, end in spans for i in range(begin, end)] == list(range(n))
    sizes = [end - begin for begin, end in spans]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_first_invalid_row_is_named_by_any_thread(count):
    boxes = scenes.make("uniform", 60_000, 2, np.float32)
    for row in (0, 29_999, 59_999):
        boxes[row, 1] = np.nan
    for row in (0, 29_999, 59_999):
        with pytest.raises(ValueError, match=rf"boxes\[{row}\]"):
            bp.pairs(boxes, threads=count)
        boxes[row] = 0
    assert_same(bp.pairs(boxes, threads=count), bp.pairs(boxes, threads=1, method="sort_and_sweep"))


@several_threads
def test_a_spinning_thread_sees_a_change_of_another_thread():
    words = np.zeros(16, np.int64)
    assert not watch(words, -1, 8, 0, 100, 0)
    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(watch, words, 0, 8, 0, 100_000_000, 5)
        while words[0] == 0:
            time.sleep(0.001)
        words[8] += 1
        assert seen.result(timeout=30)
    assert words[0] == 1


@pytest.mark.skipif(threads.cores() == 1, reason="there are no helpers with one core")
def test_work_is_shared_with_helpers_that_watch_and_with_those_that_sleep():
    for pause in (0, 0.002):
        done = []
        for _ in range(200):
            started = Barrier(2)
            done += threads.run_all([lambda start=started: start.wait(timeout=60)] * 2, 2)
            time.sleep(pause)
        assert sorted(done) == [0] * 200 + [1] * 200
