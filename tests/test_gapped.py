"""The parts under `SortAndSweep` and `SweepAndPrune`: gapped columns, the keys of queries, the pair set."""

import numpy as np
import pytest
from cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_index_machine import machine

import broadphase as bp
from broadphase.boxes import as_filter
from broadphase.indexes import sort_and_sweep
from broadphase.indexes.pair_set import PairSet
from broadphase.kernels.arrays.ordered_bits import bits_of, ordered_rows
from broadphase.kernels.sorted import gapped as gapped_kernels
from broadphase.kernels.sorted import gapped_search, gapped_walk
from broadphase.kernels.sorted.gapped import FAN, lift_all, reach_room

smaller_set = pytest.mark.smaller_set


# ---- the keys of queries

SINGLES = st.floats(width=32, allow_nan=False)
DOUBLES = st.floats(allow_nan=False)
NEAR = st.tuples(SINGLES, st.sampled_from((0, 1, -1, 2**28, -(2**28), 2**29, -(2**29)))).map(
    lambda pair: float((np.array([pair[0]]).view(np.int64) + pair[1]).view(np.float64)[0])
)


@smaller_set
@settings(deadline=None, max_examples=examples(300))
@given(
    edge=SINGLES,
    query=SINGLES | DOUBLES | NEAR.filter(lambda value: value == value),
    dtype=st.sampled_from((np.float32, np.float64)),
    touching=st.booleans(),
    closed=st.booleans(),
)
def test_keys_decide_as_the_numbers_do(edge, query, dtype, touching, closed):
    """``touching`` is the query's rule, ``closed`` the one that the keys were made for."""
    keys = ordered_rows(bits_of(np.array([[edge, 0, edge, 0]], dtype)), closed)[0]
    single = dtype == np.float32
    meets = edge >= query if touching else edge > query
    assert (keys[2] >= gapped_search.low_key(query, single, touching, not closed)) == meets
    meets = edge <= query if touching else edge < query
    assert (keys[0] <= gapped_search.high_key(query, single, touching)) == meets


# ---- the tree of maxima


@smaller_set
@pytest.mark.parametrize("blocks", [1, 2, FAN, FAN + 1, 3 * FAN, FAN * FAN + 2])
def test_blocks_that_reach(blocks):
    random = np.random.default_rng(blocks)
    slots = blocks * FAN
    columns = random.integers(0, 1000, (4, slots)).astype(np.int32)
    columns[2] = np.where(random.random(slots) < 0.9, columns[2] // 2, columns[2])
    reach = np.empty(reach_room(slots), np.int32)
    lift_all(columns, 2, slots, reach)
    most = columns[2].reshape(blocks, FAN).max(axis=1)
    np.testing.assert_array_equal(reach[:blocks], most)
    for low in (0, 400, 600, 900, 990, 1001):
        good = np.flatnonzero(most >= low)
        for block in range(0, blocks, max(1, blocks // 40)):
            behind, ahead = good[good >= block], good[good <= block]
            assert gapped_search.next_block(reach, blocks, block, low) == (
                behind[0] if len(behind) else blocks
            )
            assert gapped_walk.previous_block(reach, blocks, block, low) == (ahead[-1] if len(ahead) else -1)


@smaller_set
def test_looking_from_any_place_finds_the_same():
    random = np.random.default_rng(4)
    columns = np.sort(random.integers(0, 30, (1, 64)), axis=1)
    for near in range(64):
        for key in range(-1, 32):
            wanted = int(np.searchsorted(columns[0], key))
            assert gapped_kernels.first_at_least_from(columns, 0, 64, near, key) == wanted


# ---- the order with gaps


def grown(cls, spots, **options):
    """An index whose boxes are put in one by one, read each time; the lower left corners given."""
    index = cls(**options)
    index.insert_many([[1000.0 + k, 0, 1001.0 + k, 1] for k in range(40)])
    index.pairs()
    for x, y in spots:
        index.insert([x, y, x + 1, y + 1])
        index.query_point([0, 0])
        if len(index) % 16 == 0:
            index.validate()
    return index


@pytest.mark.parametrize("cls", [bp.SortAndSweep, bp.SweepAndPrune])
@pytest.mark.parametrize("how", ["all at one place", "upwards", "downwards", "at random"])
def test_gaps_where_they_are_needed(cls, how):
    """Worst cases of a library sort: neighbourhoods that fill up."""
    count = 500
    x = {
        "all at one place": np.zeros(count),
        "upwards": np.arange(count) * 2.0,
        "downwards": np.arange(count) * -2.0,
        "at random": np.random.default_rng(1).random(count) * 500,
    }[how]
    index = grown(cls, np.column_stack((x, np.arange(count) * 3.0)))
    index.validate()
    twin = bp.BruteForce()
    twin.insert_many(index.boxes)
    np.testing.assert_array_equal(index.pairs(), twin.pairs())


@smaller_set
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("live", [0, 1, 2, 60, 150, 186])
@pytest.mark.parametrize("order", [0, 1])
def test_items_are_spread_out_in_place(dtype, live, order):
    """Two orders of which one is spread; its window is the second of three."""
    random = np.random.default_rng(live)
    dim, window, slots = 2, 192, 3 * 192
    lowest = np.iinfo(dtype).min
    columns = np.full((4 * dim, slots), lowest, dtype)
    items, places = np.full((2, slots), -1, np.int32), np.full((2, slots), -1, np.int32)
    lower, upper = (
        slice(2 * dim * order, 2 * dim * order + dim),
        slice(2 * dim * order + dim, 2 * dim * (order + 1)),
    )
    columns[lower] = np.sort(random.integers(-99, 99, (dim, slots)), axis=1)
    for begin, count in ((0, 50), (window, live), (2 * window, 50)):
        taken = begin + np.sort(random.permutation(window)[:count])
        items[order, taken] = random.permutation(window)[:count] + begin
        places[order, items[order, taken]] = taken
        columns[upper, taken] = random.integers(-99, 99, (dim, count))
    before = columns.copy(), items.copy(), places.copy()
    found = gapped_kernels.spread_around(columns, 2 * dim * order, dim, items, places, order, slots, 250)
    assert found == (window, 2 * window)
    inside = np.zeros(slots, bool)
    inside[window : 2 * window] = True
    for now, was in zip((columns, items, places), before, strict=True):
        np.testing.assert_array_equal(now[:, ~inside], was[:, ~inside])
    np.testing.assert_array_equal(items[1 - order], before[1][1 - order])
    were = window + np.flatnonzero(before[1][order, inside] >= 0)
    firsts = window + np.arange(live) * window // max(live, 1)
    np.testing.assert_array_equal(items[order, firsts], before[1][order, were])
    np.testing.assert_array_equal(places[order, items[order, firsts]], firsts)
    np.testing.assert_array_equal(np.flatnonzero(items[order, inside] >= 0) + window, firsts)
    np.testing.assert_array_equal(
        columns[lower.start : upper.stop, firsts], before[0][lower.start : upper.stop, were]
    )
    gaps = np.setdiff1d(np.flatnonzero(inside), firsts)
    assert (columns[upper, gaps] == lowest).all()
    if live:
        owners = firsts[np.searchsorted(firsts, gaps, side="right") - 1]
        np.testing.assert_array_equal(columns[lower, gaps], columns[lower, owners])
    else:
        assert (columns[lower.start, gaps] == columns[lower.start, window - 1]).all()


# ---- sort and sweep


@smaller_set
def test_a_little_is_moved_one_by_one_much_is_sorted(monkeypatch):
    index = bp.SortAndSweep(axis=0)
    left = np.arange(64.0)
    index.insert_many(np.column_stack((left, left, left + 0.5, left + 1)))
    index.pairs()
    assert index.stats.swaps == 0
    settled = []
    original = sort_and_sweep.settle_boxes
    monkeypatch.setattr(
        sort_and_sweep, "settle_boxes", lambda ids, *rest: settled.append(len(ids)) or original(ids, *rest)
    )
    index.move(3, [3.2, 3, 3.7, 4])
    index.move(3, [3.1, 3, 3.6, 4])
    index.pairs()
    assert settled == [1]
    # All a little: by insertion, two neighbours change places.
    boxes = index.boxes.copy()
    boxes[[10, 11]] = boxes[[11, 10]]
    index.update(boxes)
    index.pairs()
    assert settled == [1]
    assert index.stats.swaps == 1
    # All the other way round: that would be 64 * 63 / 2 steps, and is none.
    index.update(index.boxes[::-1])
    index.pairs()
    assert index.stats.swaps == 0
    index.validate()


@smaller_set
def test_the_axis_is_chosen_or_given():
    left = np.arange(50.0)
    tower = np.column_stack((left * 0, left, left * 0 + 1, left + 0.5))
    index, other = bp.SortAndSweep(), bp.SortAndSweep(axis=0)
    for each in (index, other):
        each.insert_many(tower)
        assert len(each.pairs()) == 0
    assert index.stats.tests < 100 < other.stats.tests
    assert repr(other).endswith("axis=0>")
    with pytest.raises(ValueError, match="axis must be 'auto' or one of 0, 1; got 2"):
        bp.SortAndSweep(axis=2)


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("few", [0.0, 10.0])
def test_one_by_one_or_all_at_once_do_what_the_model_does(dim, few, monkeypatch):
    monkeypatch.setattr(sort_and_sweep, "FEW_TOUCHED", few)
    machine("sort_and_sweep", dim)().runTest()


# ---- the pair set


@smaller_set
@pytest.mark.parametrize("seed", range(3))
def test_the_pair_set_is_a_set(seed):
    random = np.random.default_rng(seed)
    boxes = np.tile([0.0, 0, 1, 1], (12, 1))
    pair_set, wanted = PairSet(), {(0, 1), (3, 4)}
    pair_set.fill([np.array(sorted(wanted), np.int32)])
    for _ in range(60):
        i, j = np.sort(random.choice(12, 2, replace=False)).tolist()
        key = (i << 32) | j
        kind = random.integers(4)
        before = set(wanted)
        if kind < 2:
            wanted |= {(i, j)}
            toggled = pair_set.apply(np.array([key, key]), 12, boxes, True, as_filter(12))
        elif kind == 2:
            wanted -= {(i, j)}
            toggled = pair_set.apply(np.array([-key, -key]), 12, boxes, True, as_filter(12))
        elif random.random() < 0.5:
            pair_set.reserve(12, 0)
            wanted = {pair for pair in wanted if i not in pair}
            toggled = pair_set.drop_pairs_of(np.array([i], np.int32))
        else:  # box i has gone from all but one: its pairs are looked at again
            boxes[[i, j]] += 50
            wanted = {pair for pair in wanted if i not in pair or pair == (i, j)}
            toggled = pair_set.apply(np.array([(i << 32) | i]), 12, boxes, True, as_filter(12))
            boxes[[i, j]] -= 50
        assert {tuple(pair) for pair in pair_set.pairs().tolist()} == wanted
        assert {(key >> 32, key & 0xFFFFFFFF) for key in toggled.tolist()} == before ^ wanted
        pair_set.check()
