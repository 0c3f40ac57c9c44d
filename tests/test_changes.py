"""`changes` after few boxes were touched: by queries, and equal to the difference of all pairs."""

import numpy as np
import pytest

import broadphase as bp
from broadphase.indexes import changes
from broadphase.indexes.brute_force import NoStructure
from broadphase.indexes.changes import History


class Counted(NoStructure):
    """Brute force that records its queries."""

    changes_by_query = 0.25
    searches = queries = 0

    def find_pairs(self, limit, scratch):
        self.searches += 1
        return super().find_pairs(limit, scratch)

    def find_in_boxes(self, boxes, *rest):
        self.queries += len(boxes)
        return super().find_in_boxes(boxes, *rest)


class Counting(bp.BruteForce):
    def _make_structure(self, shared):
        return Counted(shared)


@pytest.fixture
def index():
    index = Counting(threads=1)
    index.insert_many(row_of_boxes(40))
    index.changes()
    index._structure.searches = index._structure.queries = 0
    return index


def row_of_boxes(n):
    """Each overlaps the next."""
    left = np.arange(n) * 10.0
    return np.column_stack((left, np.zeros(n), left + 11, np.ones(n)))


def lists(changes):
    return [part.tolist() for part in changes]


def all_pairs_but(*gone):
    return [[i, i + 1] for i in range(39) if i not in gone]


@pytest.mark.smaller_set
def test_few_queries_find_what_a_few_moves_change(index):
    """One for a box that has moved a little, two for one that has moved far, none for what came and went."""
    where, searches = index.box(5).copy(), index._structure

    def back_and_forth():
        for step in range(100):
            index.move(5, where + step)
        index.move(5, where)

    for change, queries, ended in (
        (lambda: index.move(5, where + np.array([2, 0, 2, 0])), 1, [[4, 5]]),
        (lambda: index.move(5, index.box(20)), 2, [[5, 6]]),
        (lambda: index.move(5, where), 2, [[5, 19], [5, 20], [5, 21]]),
        (back_and_forth, 1, []),
        (lambda: None, 0, []),
        (lambda: index.remove(index.insert([0, 0, 400, 1])), 0, []),
    ):
        searches.queries = 0
        change()
        changes = index.changes()
        assert (searches.searches, searches.queries) == (0, queries)
        assert changes.ended.tolist() == ended
        pairs = {*map(tuple, changes.began.tolist()), *map(tuple, changes.stayed.tolist())}
        assert pairs == set(map(tuple, index.pairs().tolist()))
        searches.searches = 0
    index.move_many(range(11), index.boxes[:11] + 1000)
    assert lists(index.changes())[2] == [[10, 11]]
    assert searches.searches == 1


@pytest.mark.smaller_set
def test_what_was_returned_is_the_callers(index):
    index.move(5, [1000, 0, 1001, 1])
    changes = index.changes()
    for part in changes:
        part[:] = 7
    index.move(5, [50, 0, 61, 1])
    assert lists(index.changes()) == [[[4, 5], [5, 6]], all_pairs_but(4, 5), []]


@pytest.mark.smaller_set
def test_the_history_is_kept_through_many_small_steps(monkeypatch):
    monkeypatch.setattr(changes, "_SMALLEST_MERGE", 5)
    random = np.random.default_rng(3)
    pairs = {(0, 1), (2, 5)}
    history = History(np.array(sorted(pairs), np.int32))
    requested = []
    for _ in range(200):
        began = {tuple(sorted(random.choice(9, 2, replace=False).tolist())) for _ in range(3)} - pairs
        ended = {pair for pair in pairs if random.random() < 0.1}
        step = history.advance(*(np.array(sorted(part), np.int32).reshape(-1, 2) for part in (began, ended)))
        pairs -= ended
        requested.append((step, sorted(pairs)))
        pairs |= began
        assert [tuple(pair) for pair in history.pairs().tolist()] == sorted(pairs)
    for step, stayed in requested:
        assert [tuple(pair) for pair in step.stayed.tolist()] == stayed


def test_a_large_scene_is_searched_by_several_threads():
    random = np.random.default_rng(8)
    corners = random.random((5000, 2)) * 100
    boxes = np.hstack((corners, corners + random.random((5000, 2)) * 3))
    index = Counting()
    ids = index.insert_many(boxes, static=random.random(5000) < 0.3, category=random.choice([1, 2, 3], 5000))
    twin = bp.BruteForce()
    twin.insert_many(boxes, static=index._store.classes[ids] == 1, category=index._store.categories[ids])
    for step in (0.0, 0.1, 50.0):
        moved = random.choice(ids, 900, replace=False)
        boxes[moved] += step
        index.move_many(moved, boxes[moved])
        twin.move_many(moved, boxes[moved])
        found, wanted = index.changes(), twin.changes()
        for part, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(part, other)
    assert index._structure.searches == 1
