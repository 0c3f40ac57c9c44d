"""An index that is interrupted between any two slices of a call is as it was, and the next call works."""

import sys
from functools import partial

import numpy as np
import oracle
import pytest
import scenes
from index_scenes import NAMES
from numpy.testing import assert_array_equal as same_array

import broadphase as bp
from broadphase.kernels.machine.mode import PLAIN
from broadphase.methods import pair_order
from broadphase.runtime import slices

FINE = {
    "MOST_ROWS": 8,
    "FIRST_ROWS": 8,
    "FEW_QUERIES": 2,
    "GOAL": 0.0,
}


@pytest.fixture
def cut_finely(monkeypatch):
    """Slices of a few rows, of everything."""
    for module in [m for name, m in sys.modules.items() if name.startswith("broadphase")]:
        for name, value in FINE.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(slices.ranges, "__defaults__", (FINE["MOST_ROWS"],))
    monkeypatch.setattr(slices.growing, "__defaults__", (0, FINE["FEW_QUERIES"], sys.maxsize))


class Stops:
    """Raises KeyboardInterrupt between two slices: at the ``k``-th look for signals from now on."""

    def __init__(self, monkeypatch):
        self.looks, self.at = 0, -1
        for module in [m for name, m in sys.modules.items() if name.startswith("broadphase")]:
            if hasattr(module, "stop_if_unwanted"):
                monkeypatch.setattr(module, "stop_if_unwanted", self._look)

    def _look(self):
        self.looks += 1
        if self.looks == self.at:
            raise KeyboardInterrupt

    def interrupted(self, call):
        """Interrupt a call at each look, later at some of them; yield each time; then let it end."""
        self.at = 1
        while True:
            self.looks = 0
            try:
                self.result = call()
            except KeyboardInterrupt:
                yield
                self.at += 1 + self.at // 10
            else:
                break
        self.at = -1


@pytest.fixture
def stops(monkeypatch):
    return Stops(monkeypatch)


def made(name, boxes):
    bounds = {"bounds": [-50, -50, 50, 50], "cell_size": 2.0} if name == "uniform_grid" else {}
    index = bp.make_index(name, threads=1, **bounds)
    index.insert_many(boxes[:40])
    index.remove_many(np.arange(0, 20, 3))  # so that ids are free
    return index


def same(one, other):
    """Whether two indexes hold the same and answer the same."""
    one.validate()
    same_array(one.ids, other.ids)
    same_array(one.boxes, other.boxes)
    same_array(one.pairs(), other.pairs())


CALLS = {
    "insert_many": lambda index, boxes: index.insert_many(boxes[40:], static=np.arange(20) % 5 == 0),
    "update": lambda index, boxes: index.update(boxes[10 : 10 + len(index)]),
    "move_many": lambda index, boxes: index.move_many(index.ids[::2], boxes[: len(index.ids[::2])]),
    "remove_many": lambda index, boxes: index.remove_many(index.ids[::2]),
    "reserve": lambda index, boxes: index.reserve(500),
}
QUESTIONS = {
    "pairs": lambda index, boxes: index.pairs(),
    "query_box": lambda index, boxes: index.query_box(boxes),
    "raycast": lambda index, boxes: index.raycast(boxes[:, :2], [1.0, 0.5]).ids,
    "query_ray": lambda index, boxes: index.query_ray(boxes[:, :2], [1.0, 0.5]).rows,
    "nearest": lambda index, boxes: index.nearest(boxes[:, :2], k=3).ids,
    "join": lambda index, boxes: index.join(index),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_change_that_is_interrupted_has_not_happened(cut_finely, stops, name):
    boxes = scenes.make("uniform", 60, 2)
    for call in CALLS.values():
        for refreshed in (False, True):
            index = made(name, boxes)
            if refreshed:
                index.pairs()
            before = index.copy()
            for _ in stops.interrupted(lambda change=call, own=index: change(own, boxes)):
                same(index, before)
            call(before, boxes)
            same(index, before)
            same_array(index.pairs(), oracle_pairs(index))


def oracle_pairs(index):
    pairs = oracle.pairs(index.boxes, static=index._store.classes[index.ids] != 0)
    return index.ids[pairs]


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_query_is_repeated(cut_finely, stops, name):
    boxes = scenes.make("uniform", 60, 2)
    for question in QUESTIONS.values():
        index, again = made(name, boxes), made(name, boxes)
        index.update(boxes[5 : 5 + len(index)])
        again.update(boxes[5 : 5 + len(index)])
        for _ in stops.interrupted(partial(question, index, boxes)):
            index.validate()
        same_array(np.asarray(stops.result), np.asarray(question(again, boxes)))


@pytest.mark.parametrize("name", NAMES)
def test_interrupted_changes_are_reported_afterwards(cut_finely, stops, monkeypatch, name):
    monkeypatch.setattr("broadphase.indexes.changes.FEWEST_BOXES", 10)
    boxes = scenes.make("uniform", 60, 2)
    index, again = made(name, boxes), made(name, boxes)
    draw = np.random.default_rng(3)
    for turn in range(4):
        few = draw.choice(index.ids, 3 if turn % 2 else 25, replace=False)
        for each in (index, again):
            each.move_many(few, boxes[few] + turn)
            each.remove(int(each.ids[turn]))
            each.insert_many(boxes[turn : turn + 2])
        for _ in stops.interrupted(index.changes):
            pass
        for now, right in zip(stops.result, again.changes(), strict=True):
            same_array(now, right)
        same_array(stops.result.stayed, again_stayed(again, stops.result))


def again_stayed(index, changes):
    """All pairs but those that began."""
    began = {tuple(pair) for pair in changes.began.tolist()}
    return np.array([p for p in index.pairs().tolist() if tuple(p) not in began], np.int32).reshape(-1, 2)


@pytest.mark.parametrize("method", [name for name in bp.METHODS if name != "auto"])
def test_finely_cut_searches_find_the_same(cut_finely, stops, method):
    boxes = scenes.make("uniform", 150, 2)
    right = oracle.pairs(boxes)
    same_array(bp.pairs(boxes, method=method, threads=1), right)
    assert bp.count_pairs(boxes, method=method, threads=1) == len(right)
    joined = right[(right[:, 0] < 70) & (right[:, 1] >= 70)] - [0, 70]
    same_array(bp.join(boxes[:70], boxes[70:], method=method, threads=1), joined.astype(np.int32))


@pytest.mark.skipif(PLAIN, reason="takes minutes in plain Python")
def test_a_strip_of_more_boxes_than_are_sorted_at_once():
    n = 1_100_000
    low = np.random.default_rng(0).random(n, np.float32)
    boxes = np.column_stack((low, np.zeros(n), low + np.float32(1 / n), np.ones(n))).astype(np.float32)
    assert bp.count_pairs(boxes, method="strips") == bp.count_pairs(boxes, method="sort_and_sweep")


def test_helpers_of_slices(cut_finely):
    draw = np.random.default_rng(1)
    parts = [draw.integers(0, 9, (rows, 2)) for rows in (0, 3, 30)]
    whole = slices.joined(parts)
    same_array(whole, np.concatenate(parts))
    order = draw.permutation(33)
    same_array(slices.rows_at(whole, order), whole[order])
    rows = draw.integers(0, 20, (300, 2)).astype(np.int32)
    same_array(pair_order.sorted_rows(rows, 20, 20), rows[np.lexsort((rows[:, 1], rows[:, 0]))])
