"""Results grow while they are found: whatever memory there was at first, nothing is dropped."""

import sys

import numpy as np
import pytest
from method_checks import KINDS, scenes, task
from test_strips import cut_into

import broadphase as bp
from broadphase import methods
from broadphase.inputs.search import as_filter
from broadphase.kernels.arrays.results import LEAST_CAPACITY
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.methods import strips
from broadphase.methods.task import Task
from broadphase.runtime.memory import Scratch

METHODS = [name for name in bp.METHODS if name != "auto"]


def set_everywhere(monkeypatch, name, value):
    for module in [m for known, m in sys.modules.items() if known.startswith("broadphase")]:
        if hasattr(module, name):
            monkeypatch.setattr(module, name, value)


def small_buffers(monkeypatch, rows):
    """Memory for so many pairs at first."""
    set_everywhere(monkeypatch, "FIRST_CAPACITY", rows)
    monkeypatch.setattr(Scratch, "pairs", lambda self, wanted: np.empty((rows, 2), np.int32))
    array = Scratch.array

    def small(self, name, shape, dtype):
        return np.empty((rows, 2), np.int32) if name.startswith("pairs ") else array(self, name, shape, dtype)

    monkeypatch.setattr(Scratch, "array", small)


def answer(method, boxes, touching, rules, **more):
    """The pairs, one after the other as they were found, how many there are, and the tests."""
    queries = task(boxes, touching)
    queries.filter = as_filter(len(boxes)) if rules is None else rules
    for name, value in more.items():
        setattr(queries, name, value)
    found = methods.finder(method)(queries)
    pairs = np.concatenate([np.empty((0, 2), np.int32), *found.chunks])
    return pairs.tolist(), found.pairs, found.tests


def check_all(monkeypatch, dim, dtype, n, method):
    for name, boxes in scenes(dim, dtype, n=n):
        sets = as_filter(n, static=np.arange(n) % 3 == 0, categories=np.arange(n) % 4, masks=3)
        for rules in (None, sets):
            for store in (True, False):
                right = answer(method, boxes, True, rules, store=store)
                with monkeypatch.context() as patch:
                    small_buffers(patch, 0)
                    assert answer(method, boxes, True, rules, store=store) == right, name
                    assert answer(method, boxes, True, rules, store=store, threads=2)[1:] == right[1:], name


@pytest.mark.covering
@pytest.mark.smaller_set
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_few_boxes_without_memory(monkeypatch, method, dim, dtype, exhaustive):
    check_all(monkeypatch, dim, dtype, 24 if exhaustive else 18, method)


@pytest.mark.covering
@pytest.mark.smaller_set
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_many_strips_without_memory(monkeypatch, dim, dtype):
    monkeypatch.setattr(strips, "cut_world", cut_into(3))
    check_all(monkeypatch, dim, dtype, 30, "strips")


@pytest.mark.covering
@pytest.mark.smaller_set
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [0, 1, LEAST_CAPACITY, LEAST_CAPACITY + 1, 2 * LEAST_CAPACITY + 5])
def test_memory_of_any_size(monkeypatch, method, rows):
    boxes = np.tile([0.0, 0.0, 1.0, 1.0], (300, 1))
    boxes[::5] += 0.5
    right = answer(method, boxes, True, None)
    small_buffers(monkeypatch, rows)
    assert answer(method, boxes, True, None) == right
    assert right[1] == 300 * 299 // 2


def test_long_lists_of_pairs_are_sorted():
    boxes = np.random.default_rng(5).random((3_000, 4), np.float32)
    boxes[:, 2:] = boxes[:, :2] + 0.1
    right = bp.pairs(boxes)
    assert len(right) > 50_000
    for threads in (1, 2):
        assert np.array_equal(bp.pairs(boxes, threads=threads), right)
        unsorted = bp.pairs(boxes, threads=threads, sort=False)
        assert np.array_equal(unsorted[np.lexsort(unsorted.T[::-1])], right)


def unsound(dim, dtype, n=500):
    """Boxes as another thread may leave them behind after they were checked."""
    rng = np.random.default_rng(3)
    boxes = rng.random((n, 2 * dim)) * 50.0
    boxes[: n // 2, dim:] = boxes[: n // 2, :dim] + 1.0
    boxes[7::11, rng.integers(2 * dim)] = np.nan
    boxes[5::13, rng.integers(2 * dim)] = -np.inf
    boxes[3::17, rng.integers(2 * dim)] = 1e30
    boxes[::50] = np.nan
    return boxes.astype(dtype)


@pytest.mark.smaller_set
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
@pytest.mark.parametrize("method", ["brute_force", "sort_and_sweep", "strips"])  # the others take a copy
def test_unsound_boxes_do_no_harm(monkeypatch, method, dim, dtype):
    for touching in (True, False):
        for cut in (False, True):
            with monkeypatch.context() as patch:
                if cut and method == "strips":
                    patch.setattr(strips, "cut_world", cut_into(5))
                found = methods.finder(method)(Task(unsound(dim, dtype), touching, no_filter()))
            pairs = np.concatenate([np.empty((0, 2), np.int32), *found.chunks])
            assert (pairs >= 0).all()
            assert (pairs < 500).all()
