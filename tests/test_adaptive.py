"""The adaptive index: whichever way it takes, the pairs are those of a search from scratch."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from interrupting import Interrupt
from oracle import pairs as expected_pairs

import broadphase as bp
from broadphase.indexes import adaptive
from broadphase.runtime import thresholds

SHARES = (0.0, 0.002, 0.05, 0.5, 1.0)


def world(random, n, dim, static):
    low = random.random((n, dim)) * 1.5 * n ** (1 / dim)
    return np.hstack((low, low + random.random((n, dim)) * 2)), random.random(n) < static


def moved(random, boxes, share, far):
    ids = np.flatnonzero(random.random(len(boxes)) < share)
    step = random.normal(size=(len(ids), boxes.shape[1] // 2)) * far
    return ids, boxes[ids] + np.hstack((step, step))


def in_order(pairs):
    return pairs[np.lexsort(pairs.T[::-1])]


@pytest.fixture(params=[None, 0.0], ids=["as measured", "the tree at once"])
def limits(request, monkeypatch):
    if request.param is not None:
        monkeypatch.setattr(adaptive, "CALM_READS", 0)
        monkeypatch.setattr(adaptive, "NS_AT_LEAST", request.param)
        monkeypatch.setattr(adaptive, "NS_TOUCHED", 1.0)
        monkeypatch.setattr(adaptive, "NS_KEPT", 0.0)
        monkeypatch.setattr(thresholds, "UNREAD", 1)
        monkeypatch.setattr(adaptive, "SPARSE", 1)
        monkeypatch.setattr(adaptive, "FEW_STATIC", 0)


@pytest.mark.usefixtures("limits")
@pytest.mark.covering
@pytest.mark.parametrize("n", [40, 400, 1_500])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("static", [0.0, 0.3, 0.95])
@pytest.mark.parametrize("sets", [False, True])
@pytest.mark.parametrize("touching", [True, False])
def test_the_pairs_of_frames_in_which_much_and_little_moves(n, dim, dtype, sort, static, sets, touching):
    random = np.random.default_rng([n, dim, sort, int(10 * static), sets])
    boxes, still = world(random, n, dim, static)
    bits = random.integers(1, 4, n) if sets else np.ones(n, int)
    index = bp.AdaptiveIndex(dim=dim, dtype=dtype, sort=sort, touching=touching)
    index.insert_many(boxes, static=still, category=bits, mask=bits)
    before = np.empty((0, 2), np.int32)
    for turn in range(40):
        share = SHARES[random.integers(len(SHARES))] if turn > 20 else 0.002
        ids, rows = moved(random, index.boxes.astype(float), share, (0.1, 3.0)[turn % 2])
        if len(ids) == n:
            index.update(rows)
        elif len(ids) == 1:
            index.move(ids[0], rows[0].tolist())
        elif len(ids):
            index.move_many(ids, rows)
        if turn % 11 == 10:
            index.query_box(boxes[:5])
        if turn % 9 == 8:  # ids that are used again
            index.remove_many(ids[:3])
            again = ids[:3]
            rules = {"static": still[again], "category": bits[again], "mask": bits[again]}
            assert index.insert_many(boxes[again], **rules).tolist() == again.tolist()
        wanted = expected_pairs(index.boxes, touching, still, bits, bits)
        if turn % 5 != 4:
            found = index.pairs()
            assert np.array_equal(found if sort else in_order(found), wanted)
            found[:] = -1  # the caller's own
        if turn % 3 == 0:
            began, stayed, ended = index.changes()
            assert np.array_equal(in_order(np.vstack((began, stayed))), wanted)
            assert len(stayed) + len(ended) == len(before)
            before = wanted
        index.validate()


@pytest.mark.parametrize("movers", [100, 600])
def test_pairs_with_many_static_boxes_are_in_order(movers):
    boxes, _ = world(np.random.default_rng(movers), 4_000, 2, 1.0)
    index = bp.AdaptiveIndex()
    index.insert_many(boxes, static=np.arange(4_000) >= movers)
    found = index.pairs()
    assert len(found) > 10
    assert np.array_equal(found, in_order(found))


def test_pairs_are_compared_only_where_something_has_changed():
    random = np.random.default_rng(3)
    boxes, _ = world(random, 20_000, 2, 0.0)
    index = bp.AdaptiveIndex()
    index.insert_many(boxes)
    for _ in range(2):
        index.pairs()
    assert index.stats.tests
    pairs = index.pairs()
    assert index.stats.tests == 0
    tests = []
    for turn in range(10):
        index.move_many([3, 5_000], boxes[[3, 5_000]] + turn)
        pairs = index.pairs()
        tests.append(index.stats.tests)
    assert tests[-1] * 50 < tests[0]
    assert np.array_equal(pairs, bp.pairs(index.boxes))


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize(("n", "dim", "side"), [(1_500, 2, 0.06), (1_000, 3, 0.2)])
def test_in_a_crowd_changes_compares_only_what_has_moved(n, dim, side, sort):
    """Where a box has many pairs, finding all of them costs more than the number of boxes says."""
    random = np.random.default_rng(4)
    middle = random.random((6, dim))[random.integers(0, 6, n)] + random.normal(scale=0.05, size=(n, dim))
    boxes = np.hstack((middle - side / 2, middle + side / 2))
    index = bp.make_index(boxes, sort=sort)
    known = index.changes().began
    assert len(known) > 30 * n
    for frame in range(10):
        ids = np.sort(random.choice(n, n // 100, replace=False))
        boxes[ids] += np.tile(random.normal(scale=side / 5, size=(len(ids), dim)), 2)
        index.move_many(ids, boxes[ids])
        began, stayed, ended = index.changes()
        found = bp.pairs(boxes)
        assert len(known) - len(ended) + len(began) == len(stayed) + len(began) == len(found)
        assert frame < 6 or index.stats.tests < len(found)
        known = found
    for frame in range(10):
        ids = np.sort(random.choice(n, n // 100, replace=False))
        boxes[ids] += np.tile(random.normal(scale=side / 5, size=(len(ids), dim)), 2)
        index.move_many(ids, boxes[ids])
        found = index.pairs()
        assert np.array_equal(in_order(found), bp.pairs(boxes))
        assert not sort or frame < 6 or index.stats.tests < len(found)


def test_a_limit_holds_whichever_way_the_pairs_are_found(limits):
    index = bp.AdaptiveIndex()
    index.insert_many(np.tile([0.0, 0.0, 1.0, 1.0], (600, 1)))
    every = 600 * 599 // 2
    for _ in range(3):
        assert len(index.pairs(max_pairs=every)) == every
        with pytest.raises(bp.PairLimitExceeded):
            index.pairs(max_pairs=every - 1)
        for turn in range(4):
            index.move(7, [0.0, 0.0, 2.0 + turn, 1.0])
            with pytest.raises(bp.PairLimitExceeded):
                index.pairs(max_pairs=500)
            assert len(index.pairs()) == every


def calm(random, n=900):
    """An index that keeps its pairs, and where its boxes are."""
    boxes, still = world(random, n, 2, 0.3)
    index = bp.AdaptiveIndex()
    index.insert_many(boxes, static=still)
    for turn in range(6):
        few = [turn, n // 2 + turn]
        index.move_many(few, boxes[few] + 0.1)
        index.pairs()
    return index, still


@pytest.mark.usefixtures("limits")
def test_many_threads_read_the_pairs_after_one_change():
    index, still = calm(np.random.default_rng(5))
    for turn in range(10):
        index.move_many([turn, 50], index.boxes[[50, turn]])
        wanted = expected_pairs(index.boxes, static=still)
        with ThreadPoolExecutor(8) as pool:
            for found in pool.map(lambda _: index.pairs(), range(16)):
                assert np.array_equal(found, wanted)


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("change", ["move_many", "remove_many", "insert_many", "pairs", "move"])
def test_pairs_are_right_wherever_a_call_was_interrupted(change):
    hit, moment = True, 0
    while hit:
        index, still = calm(np.random.default_rng(6), 300)
        far = index.boxes[[3, 4]] + 9.0
        act = {
            "move_many": lambda index=index, far=far: index.move_many([3, 4], far),
            "remove_many": lambda index=index: index.remove_many([3, 4]),
            "insert_many": lambda index=index, far=far: index.insert_many(far),
            "move": lambda index=index, far=far: index.move(3, far[0].tolist()),
            "pairs": index.pairs,
        }[change]
        index.move_many([7, 8], index.boxes[[8, 7]])
        try:
            with Interrupt(moment) as interrupt:
                act()
        except KeyboardInterrupt:
            pass
        hit = interrupt.hit
        static = np.append(still, [False] * 2)[index.ids]
        found = index.ids[expected_pairs(index.boxes, static=static)]
        for _ in range(3):
            assert np.array_equal(index.pairs(), found), moment
        assert np.array_equal(index.changes().began, found), moment
        index.validate()
        moment += 5


@pytest.mark.smaller_set
@pytest.mark.parametrize("pickled", [False, True])
def test_a_copy_of_an_index_that_was_loaded_follows_its_boxes(pickled, tmp_path):
    index = bp.AdaptiveIndex()
    index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3], [8, 8, 9, 9]])
    index.save(tmp_path / "file")
    loaded = bp.AdaptiveIndex.load(tmp_path / "file")
    twin = pickle.loads(pickle.dumps(loaded)) if pickled else loaded.copy()
    assert twin.pairs().tolist() == [[0, 1]]
    twin.move(2, [2, 2, 4, 4])
    assert twin.pairs().tolist() == [[0, 1], [0, 2], [1, 2]]
    assert twin.raycast([10, 3], [-1, 0]).id == 2


@pytest.mark.smaller_set
def test_readers_of_one_change_all_find_the_pairs_after_it(limits, monkeypatch):
    random = np.random.default_rng(3)
    low = random.random((600, 2)) * 60
    index, twin = bp.AdaptiveIndex(threads=1), bp.BruteForce()
    for each in (index, twin):
        each.insert_many(np.hstack((low, low + 2)))
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(30):
            ids = random.choice(600, 12, replace=False).astype(np.int32)
            moved = random.random((12, 2)) * 60
            for each in (index, twin):
                each.move_many(ids, np.hstack((moved, moved + 2)))
            wanted = twin.pairs()
            with ThreadPoolExecutor(4) as readers:
                for found in readers.map(lambda _: index.pairs(), range(12)):
                    np.testing.assert_array_equal(found, wanted)
    finally:
        sys.setswitchinterval(switch)
