"""What an index does in slices: it finds the same, and where it is interrupted nothing has changed."""

import numpy as np
import pytest
from checks import assert_same
from method_checks import KINDS, scenes
from test_nothing_dropped import small_buffers

import broadphase as bp
from broadphase.kernels.tree import dynamic_tree

STRUCTURES = ["uniform_grid", "spatial_hash", "box_tree"]
INDEXES = bp.INDEXES


def made(name, boxes, **more):
    index = bp.make_index(name, dim=boxes.shape[1] // 2, dtype=boxes.dtype)
    index.insert_many(boxes, **more)
    return index


@pytest.mark.covering
@pytest.mark.smaller_set
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
@pytest.mark.parametrize("name", STRUCTURES)
def test_pairs_without_memory(monkeypatch, name, dim, dtype):
    for scene, boxes in scenes(dim, dtype, n=40):
        for rules in ({}, {"static": np.arange(40) % 3 == 0, "category": np.arange(40) % 4, "mask": 3}):
            index = made(name, boxes, **rules)
            right, tests = index.pairs(), index.stats.tests
            with monkeypatch.context() as patch:
                small_buffers(patch, 0)
                assert_same(index.pairs(), right)
                assert index.stats.tests == tests, scene


def interrupt(monkeypatch, after):
    """Let the kernels that change a tree be interrupted when they have done so many rows in all."""
    for name, place in (("insert_boxes", 4), ("remove_boxes", 2), ("move_boxes", 4)):
        original = getattr(dynamic_tree, name)

        def partly(*arguments, change=original, place=place):
            nonlocal after
            ids = arguments[place]
            if after >= len(ids):
                after -= len(ids)
                return change(*arguments)
            change(*arguments[:place], ids[:after].copy(), *arguments[place + 1 :])
            raise KeyboardInterrupt

        monkeypatch.setattr(dynamic_tree, name, partly)


def seen(index):
    index.validate()
    return index.ids.tolist(), index.boxes.tolist(), index.pairs().tolist(), index.query_box(HERE).tolist()


HERE = [0.0, 0.0, 4.0, 4.0]
CHANGES = {
    "insert_many": lambda index, boxes: index.insert_many(boxes[:30]),
    "remove_many": lambda index, boxes: index.remove_many(index.ids[1:25]),
    "move_many": lambda index, boxes: index.move_many(index.ids[::4], boxes[:50] + 3.0),
    "update": lambda index, boxes: index.update(boxes + (np.arange(200) % 5 == 0)[:, None] * 3.0),
}


@pytest.mark.smaller_set
@pytest.mark.parametrize("change", CHANGES)
def test_an_interrupted_change_changes_nothing(monkeypatch, change):
    """Of the tree, which follows each change; grids enter boxes when they are read."""
    name = "box_tree"
    low = np.random.default_rng(2).random((200, 2)) * 30
    boxes = np.hstack([low, low + 1.0])
    index = made(name, boxes)
    before, known = seen(index), len(index.changes().began)
    raised = 0
    for after in range(0, 600, 7):
        with monkeypatch.context() as patch:
            interrupt(patch, after)
            try:
                CHANGES[change](index, boxes)
                break
            except KeyboardInterrupt:
                raised += 1
        assert seen(index) == before
        changes = index.changes()
        assert (len(changes.began), len(changes.stayed), len(changes.ended)) == (0, known, 0)
    assert raised > 2
    index.validate()
    assert_same(index.pairs(), np.array(index.ids)[bp.pairs(index.boxes, method="brute_force")])
