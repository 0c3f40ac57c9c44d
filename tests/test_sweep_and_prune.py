"""What is special about `SweepAndPrune`: swaps, what a calm frame touches, when it starts afresh, ties."""

import numpy as np
import pytest
from test_index_machine import machine

import broadphase as bp
from broadphase.indexes import sweep_and_prune
from broadphase.indexes.sweep_and_prune import SweepStructure

smaller_set = pytest.mark.smaller_set


class Counting(SweepStructure):
    """Counts how often everything was made from scratch."""

    rebuilds = 0

    def _rebuild(self):
        self.rebuilds += 1
        super()._rebuild()


class Watched(bp.SweepAndPrune):
    def _make_structure(self, shared):
        return Counting(shared)

    @property
    def rebuilds(self):
        return self._structure.rebuilds

    @rebuilds.setter
    def rebuilds(self, rebuilds):
        self._structure.rebuilds = rebuilds


def row_of_boxes(n):
    """Side by side, with gaps; four ends every ten units."""
    left = np.arange(n) * 10.0
    return np.column_stack((left, np.zeros(n), left + 4, np.ones(n)))


@pytest.fixture
def row():
    index = Watched()
    index.insert_many(row_of_boxes(20))
    index.changes()
    index.rebuilds = 0
    return index


def lists(changes):
    return [part.tolist() for part in changes]


def random_index(cls, n, seed=0, **options):
    random = np.random.default_rng(seed)
    low = random.random((n, 2)) * 100
    index = cls(**options)
    index.insert_many(np.hstack((low, low + random.random((n, 2)) * 4)))
    return index, random


# ---- swaps


@smaller_set
@pytest.mark.parametrize(
    ("step", "swaps"),
    [
        (0.0, 0),  # nowhere
        (5.0, 0),  # its ends pass no others
        (6.0, 1),  # the upper end reaches the next box's lower end, and touches
        (
            10.0,
            1,
        ),  # it is flush with the next box: of equal ends, lower ones come first, and others do not swap
        (16.0, 5),  # both ends pass both of the next box's, and one reaches the box behind
        (-6.0, 1),
    ],
)
def test_swaps_are_the_ends_that_were_passed(row, step, swaps):
    box = row.box(5) + np.array([step, 0, step, 0])
    row.move(5, box)
    row.pairs()
    assert row.stats.swaps == swaps
    assert row.rebuilds == 0


@smaller_set
def test_a_frame_without_moves_costs_nothing(row):
    row.pairs()
    row.pairs()
    assert (row.stats.swaps, row.stats.tests) == (0, 0)
    row.changes()
    assert (row.stats.swaps, row.stats.tests) == (0, 0)


@smaller_set
def test_only_touched_boxes_are_looked_at(row, monkeypatch):
    moved = []
    original = sweep_and_prune.move_ends

    def watched(ids, *rest):
        moved.append(ids.tolist())
        return original(ids, *rest)

    monkeypatch.setattr(sweep_and_prune, "move_ends", watched)
    row.move(3, [31, 0, 35, 1])
    row.move(7, [71, 0, 75, 1])
    row.move(3, [32, 0, 36, 1])
    row.insert([500, 0, 501, 1])
    row.remove(20)
    row.pairs()
    assert moved == [[3, 7]]


@smaller_set
def test_swaps_grow_with_the_distance(row):
    row.move(0, [15.0, 0, 19.0, 1])
    row.pairs()
    near = row.stats.swaps
    row.move(0, [155.0, 0, 159.0, 1])
    row.pairs()
    assert near == 4
    assert row.stats.swaps == 14 * 4


# ---- starting afresh, or not


@smaller_set
def test_moving_much_starts_afresh(row):
    row.update(row.boxes + np.array([6.0, 0, 6.0, 0]))
    assert row.pairs().tolist() == []
    assert row.rebuilds == 1
    row.move_many(range(6), row.boxes[:6] + 1)
    row.pairs()
    assert row.rebuilds == 1


@smaller_set
def test_too_many_swaps_start_afresh(row, monkeypatch):
    monkeypatch.setattr(sweep_and_prune, "MOST_PASSED", 1)
    monkeypatch.setattr(sweep_and_prune, "ALWAYS_PASSED", 0)
    row.move(3, [32, 0, 36, 1])
    row.pairs()
    assert row.rebuilds == 0
    row.move_many([0, 1], [[191, 0, 195, 1], [186, 0, 191, 1]])
    assert row.pairs().tolist() == [[0, 1], [0, 19], [1, 19]]
    assert row.rebuilds == 1
    assert lists(row.changes()) == [[[0, 1], [0, 19], [1, 19]], [], []]


@smaller_set
def test_boxes_that_did_not_move_do_not_count(row):
    """An update names all boxes; few of them have gone anywhere."""
    boxes = row.boxes.copy()
    boxes[3] += [16, 0, 16, 0]
    row.update(boxes)
    assert lists(row.changes()) == [[[3, 5]], [], []]
    assert row.stats.swaps == 5
    row.update(boxes)
    assert row.pairs().tolist() == [[3, 5]]
    assert row.stats.swaps == 0
    assert row.rebuilds == 0


@smaller_set
def test_boxes_one_by_one_are_sorted_once():
    index = Watched()
    for box in row_of_boxes(200).tolist():
        index.insert(box)
    assert len(index.pairs()) == 0
    assert index.rebuilds == 1


def test_reading_after_each_insert_seldom_starts_afresh():
    index, random = random_index(Watched, 1)
    for _ in range(600):
        low = random.random(2) * 100
        index.insert([*low, *(low + 3)])
        index.pairs()
    for gone in random.permutation(600)[:500].tolist():
        index.remove(gone)
        index.pairs()
    index.validate()
    assert index.rebuilds < 10


@smaller_set
def test_an_interrupted_frame_is_made_good(row, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    row.move(3, [43, 0, 47, 1])
    with monkeypatch.context() as patch:
        patch.setattr(sweep_and_prune, "move_ends", interrupted)
        with pytest.raises(KeyboardInterrupt):
            row.pairs()
    assert row.pairs().tolist() == [[3, 4]]
    row.validate()
    assert lists(row.changes()) == [[[3, 4]], [], []]


# ---- ties


@smaller_set
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_edges_that_meet(touching, dtype, zero):
    index = Watched(touching=touching, dtype=dtype)
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
    assert index.rebuilds == 1
    index.validate()


@smaller_set
@pytest.mark.parametrize("touching", [True, False])
def test_infinite_boxes_come_and_go(touching):
    index = Watched(touching=touching)
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


def test_all_boxes_equal():
    index, _ = random_index(Watched, 100)
    index.update(np.tile([1.0, 1, 2, 2], (100, 1)))
    index.changes()
    index.move_many(range(5), np.tile([3.0, 1, 4, 2], (5, 1)))
    began, _, ended = index.changes()
    assert (len(began), len(ended)) == (0, 5 * 95)
    index.move_many(range(5), np.tile([2.0, 2, 4, 4], (5, 1)))
    assert len(index.changes().began) == 5 * 95
    assert index.rebuilds == 1
    index.validate()


# ---- the pair set


@smaller_set
def test_static_boxes_and_categories():
    index = Watched()
    index.insert_many(row_of_boxes(20))
    index.changes()
    index.insert([0, 0, 200, 1], static=True)
    assert len(index.changes().began) == 20
    index.insert([0, 0, 200, 1], static=True)
    assert [pair[1] for pair in index.changes().began.tolist()] == [21] * 20
    index.remove(3)
    assert index.insert([30, 0, 34, 1], category=4, mask=0) == 3
    assert lists(index.changes())[::2] == [[], [[3, 20], [3, 21]]]
    assert index.rebuilds == 1


@smaller_set
def test_there_and_back_is_no_change(row):
    where = row.box(5).copy()
    row.move(5, row.box(6) + 1)
    assert row.pairs().tolist() == [[5, 6]]
    row.move(5, where)
    row.pairs()
    assert lists(row.changes()) == [[], [], []]


@smaller_set
def test_a_reused_id_is_a_new_box(row):
    row.move(5, row.box(6) + 1)
    row.changes()
    row.remove(5)
    row.insert([61, 0, 65, 1])
    assert lists(row.changes()) == [[[5, 6]], [], [[5, 6]]]
    assert row.rebuilds == 0


def test_changes_that_are_never_read_are_not_kept():
    index, random = random_index(bp.SweepAndPrune, 300)
    index.changes()
    for _ in range(300):
        moved = random.choice(300, 60, replace=False)
        index.move_many(moved, index.boxes[moved] + np.tile(random.normal(size=(60, 2)), 2))
        index.pairs()
    assert index._structure._toggled is None
    twin = bp.BruteForce()
    twin.insert_many(random_index(bp.SweepAndPrune, 300)[0].boxes)
    twin.changes()
    twin.update(index.boxes)
    assert lists(index.changes()) == lists(twin.changes())


# ---- all that moves is followed


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
def test_ends_that_are_always_followed_do_what_the_model_does(dim, monkeypatch):
    """Else the machine would seldom see anything but a fresh start."""
    monkeypatch.setattr(sweep_and_prune, "MOST_TOUCHED", 10.0)
    machine("sweep_and_prune", dim)().runTest()


@smaller_set
def test_more_pairs_begin_at_one_place_than_the_buffer_holds(row, monkeypatch):
    monkeypatch.setattr(sweep_and_prune, "MOST_TOUCHED", 1.0)
    row.move_many(range(20), np.tile(row.box(19), (20, 1)))
    assert len(row.changes().began) == 20 * 19 // 2
    row.move_many(range(20), row_of_boxes(20))
    assert len(row.changes().ended) == 20 * 19 // 2
    assert row.rebuilds == 0
    row.validate()
