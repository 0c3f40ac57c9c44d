"""The promises of `broadphase.indexes.protocol` to authors of an index."""

import threading
import time

import numpy as np
import pytest
from index_scenes import random_boxes

import broadphase as bp
from broadphase.indexes.brute_force import NoStructure
from broadphase.indexes.protocol import search_live
from broadphase.methods import brute_force

pytestmark = pytest.mark.smaller_set


class Noting(NoStructure):
    """Records its calls, and what the store held then."""

    told_before_moves = True

    def __init__(self, heard, shared):
        self.heard = heard
        super().__init__(shared)

    def _note(self, hook, ids, *more):
        assert ids.dtype == np.int32
        self.heard.append((hook, ids.tolist(), self.store.boxes[ids, 0].tolist(), *more))

    def leave(self, ids, boxes):
        if boxes is None:
            self._note("removing", ids)
        else:
            assert boxes.dtype == self.dtype
            self._note("moving", ids, boxes[:, 0].tolist(), ids is self.store.ids())

    def enter(self, ids, fresh):
        self._note("inserted" if fresh else "moved", ids)

    def reset(self):
        self.heard.append(("reset", self.store.ids().tolist()))


class Witness(bp.BruteForce):
    def __init__(self, **common):
        self.heard = []
        super().__init__(**common)

    def _make_structure(self, shared):
        return Noting(self.heard, shared)


def at(*places):
    return [[x, 0, 9, 9] for x in places]


@pytest.fixture
def witness():
    witness = Witness(dtype=np.float32)
    assert witness.heard == [("reset", [])]
    witness.insert_many(at(0, 1, 2, 3, 4))
    witness.heard.clear()
    return witness


def test_hooks_hear_of_inserts_after_they_are_written(witness):
    witness.remove_many([1, 3])
    witness.heard.clear()
    witness.insert(at(7)[0])
    witness.insert_many(at(5, 6))
    witness.insert_many(np.empty((0, 4)))
    assert witness.heard == [("inserted", [1], [7]), ("inserted", [3, 5], [5, 6])]


def test_hooks_hear_of_removals_while_the_boxes_are_there_in_order_of_the_ids(witness):
    witness.remove(2)
    witness.remove_many([4, 0, 3])
    witness.remove_many([])
    assert witness.heard == [("removing", [2], [2]), ("removing", [0, 3, 4], [0, 3, 4])]


def test_hooks_hear_of_moves_before_and_after(witness):
    witness.move(2, at(8)[0])
    witness.move_many([3, 1], at(5, 6))
    assert witness.heard == [
        ("moving", [2], [2], [8], False),
        ("moved", [2], [8]),
        ("moving", [3, 1], [3, 1], [5, 6], False),
        ("moved", [3, 1], [5, 6]),
    ]
    witness.heard.clear()
    witness.remove(0)
    witness.update(at(1, 1, 1, 1))
    witness.update(witness.boxes)
    assert witness.heard[1:] == [
        ("moving", [1, 2, 3, 4], [6, 8, 5, 4], [1, 1, 1, 1], True),
        ("moved", [1, 2, 3, 4], [1, 1, 1, 1]),
        ("moving", [1, 2, 3, 4], [1, 1, 1, 1], [1, 1, 1, 1], True),
        ("moved", [1, 2, 3, 4], [1, 1, 1, 1]),
    ]


def test_reset_is_called_when_the_store_is_empty_or_filled(witness, tmp_path):
    witness.save(tmp_path / "file")
    witness.clear()
    assert witness.heard == [("reset", [])]


class Slow(NoStructure):
    """Built on first use, slowly, and counts how often."""

    built = 0

    def refresh(self):
        time.sleep(0.05)
        self.built += 1

    def find_pairs(self, limit, scratch):
        assert not self.stale
        return search_live(self, brute_force.find, limit, scratch)


class Late(bp.BruteForce):
    def _make_structure(self, shared):
        return Slow(shared)

    @property
    def built(self):
        return self._structure.built


def test_a_stale_structure_is_rebuilt_once_for_many_readers():
    index = Late()
    index.insert_many(at(0, 1, 2))
    threads = [threading.Thread(target=index.pairs) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert index.built == 1


@pytest.mark.covering
@pytest.mark.parametrize(
    "change",
    [
        lambda index: index.insert(at(0)[0]),
        lambda index: index.insert_many(at(0)),
        lambda index: index.remove(0),
        lambda index: index.remove_many([0]),
        lambda index: index.move(0, at(0)[0]),
        lambda index: index.move_many([0], at(0)),
        lambda index: index.update(index.boxes),
        lambda index: index.clear(),
    ],
)
@pytest.mark.parametrize(
    "read",
    [
        lambda index: index.pairs(),
        lambda index: index.changes(),
        lambda index: index.query_box(at(0)[0]),
        lambda index: index.query_box(at(0)),
        lambda index: index.query_point([0, 0]),
        lambda index: index.query_radius([0, 0], 1),
        lambda index: index.query_radius([[0, 0]], 1),
        lambda index: index.validate(),
    ],
)
def test_every_change_makes_it_stale_and_every_read_builds_it(change, read, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: None)
    index = Late()
    index.insert_many(at(0, 1, 2))
    read(index)
    read(index)
    assert index.built == 1
    change(index)
    read(index)
    assert index.built == 2


def test_a_copy_of_a_stale_index_is_stale():
    index = Late()
    index.insert_many(at(0, 1))
    twin = index.copy()
    assert twin.pairs().tolist() == [[0, 1]]
    assert (index.built, twin.built) == (0, 1)


class QuickStructure(NoStructure):
    has_fast_box_queries = True
    queries = False

    def find_in_boxes(self, *arguments):
        self.queries = True
        return super().find_in_boxes(*arguments)


class Quick(bp.BruteForce):
    def _make_structure(self, shared):
        return QuickStructure(shared)


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("touching", [True, False])
def test_a_join_queries_the_larger_index_with_the_rules_of_both(touching, sort):
    boxes = random_boxes(6, 80, 2)
    options = {"static": np.arange(80) % 3 == 0, "category": [1, 2, 3, 4] * 20, "mask": [7, 3, 1, 2, 6] * 16}
    slow = bp.BruteForce(touching=touching, sort=sort)
    quick = Quick(dtype=np.float32, touching=not touching, sort=sort)
    few = bp.BruteForce(touching=touching, sort=sort)
    few.insert_many(boxes[20:27], **{key: values[20:27] for key, values in options.items()})
    few.remove(2)
    for index in (slow, quick):
        index.insert_many(boxes.astype(np.float32), **options)
        index.remove(11)
    wanted = few.join(slow).tolist()
    assert len(wanted) > 3
    assert sorted(few.join(quick).tolist()) == sorted(wanted)
    assert quick._structure.queries
    if sort:
        assert few.join(quick).tolist() == wanted
    quick._space.touching = touching
    assert sorted(quick.join(few).tolist()) == sorted(slow.join(few).tolist())


def test_pair_rules_hold_for_every_pair_of_an_index_with_holes():
    index = bp.BruteForce()
    index.insert_many(at(0, 1, 2, 3), static=[True, True, False, False], category=[1, 1, 1, 2], mask=1)
    index.remove(0)
    assert index.pairs().tolist() == [[1, 2]]
    assert index.join(index).tolist() == [[1, 2], [2, 1], [2, 2]]
