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


def at(*places):
    return [[x, 0, 9, 9] for x in places]


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
