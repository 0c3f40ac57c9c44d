"""Batches of queries that find much: every index against a comparison of all with all, in any memory."""

import numpy as np
import pytest
from index_scenes import NAMES, make

from broadphase.indexes import box_tree, protocol
from broadphase.methods import batched_queries
from broadphase.runtime import slices

QUICK = [name for name in NAMES if name != "brute_force"]
SETS = np.array([1, 2, 3, 4, 6], np.uint32)


def scene(seed, count, dim):
    """Boxes of four sizes at quarters, so that many edges touch, some infinite; 0 to 60 from the origin."""
    random = np.random.default_rng(seed)
    low = random.integers(0, 240, (count, dim)) / 4.0
    high = low + random.choice((0.0, 0.25, 2.0, 20.0), (count, 1))
    boxes = np.hstack((low, high))
    boxes[random.integers(count), 0] = -np.inf
    boxes[random.integers(count), dim] = np.inf
    return boxes


def windows(seed, count, dim, sides=(0.0, 1.0, 5.0, 25.0, 60.0, 1e9)):
    """Queries from a point to all there is."""
    random = np.random.default_rng(seed)
    low = random.integers(-8, 240, (count, dim)) / 4.0
    high = low + random.choice(sides, (count, 1))
    requested = np.hstack((low, high))
    requested[-1] = [-np.inf] * dim + [np.inf] * dim
    return requested


def found_by_looking(boxes, requested, touching, may=True):
    dim = boxes.shape[1] // 2
    meets = np.full((len(requested), len(boxes)), True)
    for axis in range(dim):
        below, above = requested[:, None, axis], requested[:, None, dim + axis]
        low, high = boxes[None, :, axis], boxes[None, :, dim + axis]
        meets &= (low <= above) & (below <= high) if touching else (low < above) & (below < high)
    return np.argwhere(meets & may).astype(np.int32)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_windows_of_every_width(name, dim, touching, dtype, exhaustive):
    boxes = scene(1, 700 if exhaustive else 300, dim)
    requested = windows(2, 2_100, dim)  # more than threads are given 1,000 each of
    index = make(name, dim, touching=touching, dtype=dtype)
    index.insert_many(boxes)
    expected = found_by_looking(boxes, requested, touching)
    rows = index.query_box(requested)
    assert np.array_equal(rows, expected)
    assert rows.flags.c_contiguous
    for query in range(0, len(requested), 100):
        ids = expected[expected[:, 0] == query, 1].tolist()
        assert index.query_box(requested[query]).tolist() == ids
        assert index.query_box(tuple(requested[query].tolist())).tolist() == ids


@pytest.mark.smaller_set
@pytest.mark.parametrize("name", NAMES)
def test_rules_statics_and_any_order(name):
    boxes, requested = scene(3, 700, 2), windows(4, 300, 2)
    random = np.random.default_rng(5)
    categories, masks = random.choice(SETS, 700), random.choice(SETS, 700)
    index = make(name, sort=False)
    index.insert_many(boxes[:400], category=categories[:400], mask=masks[:400])
    index.insert_many(boxes[400:], static=True, category=categories[400:], mask=masks[400:])
    may = (masks & 2 != 0) & (categories & 6 != 0)
    rows = index.query_box(requested, category=2, mask=6)
    assert (np.diff(rows[:, 0]) >= 0).all()
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    assert np.array_equal(rows, found_by_looking(boxes, requested, True, may))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("room", [40, pytest.param(3_000, marks=pytest.mark.smaller_set), 40_000])
def test_answers_in_memory_that_runs_out(name, room, monkeypatch):
    """From too little memory for one query, to enough for the first ones to predict the rest."""
    boxes, requested = scene(6, 700, 2), windows(7, 900, 2)
    index = make(name)
    index.insert_many(boxes)
    index.query_box(requested[:2])  # its structure is built with unlimited memory
    monkeypatch.setattr(slices, "MAX_CAPACITY", room)
    monkeypatch.setattr(slices, "MOST_ROWS_OF_QUERIES", 4 * room)
    assert np.array_equal(index.query_box(requested), found_by_looking(boxes, requested, True))


def test_a_small_answer_holds_no_large_block():
    index = make("brute_force")
    index.insert_many(scene(8, 50, 2))
    rows = index.query_box(np.tile([1e6, 1e6, 1e6, 1e6], (100_000, 1)))
    held = rows
    while isinstance(held.base, np.ndarray):
        held = held.base
    assert held.nbytes <= 2 * rows.nbytes


@pytest.mark.smaller_set
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_circles_of_every_width(name, touching):
    boxes = scene(9, 500, 2)
    random = np.random.default_rng(10)
    centers, radii = random.integers(0, 240, (1_200, 2)) / 4.0, random.choice((0.0, 1.25, 5.0, 30.0), 1_200)
    index = make(name, touching=touching)
    index.insert_many(boxes)
    x, y = centers[:, None, 0], centers[:, None, 1]
    beside = np.maximum(np.maximum(boxes[:, 0] - x, x - boxes[:, 2]), 0.0)
    above = np.maximum(np.maximum(boxes[:, 1] - y, y - boxes[:, 3]), 0.0)
    distances = np.sqrt(beside * beside + above * above)
    near = distances <= radii[:, None] if touching else distances < radii[:, None]
    expected = np.argwhere(near).astype(np.int32)
    assert np.array_equal(index.query_radius(centers, radii), expected)
    for query in range(0, len(centers), 60):
        ids = expected[expected[:, 0] == query, 1].tolist()
        center, r = centers[query], float(radii[query])
        assert index.query_radius(center, r).tolist() == ids
        assert index.query_radius(tuple(center.tolist()), np.float64(r)).tolist() == ids
        assert index.query_radius(tuple(center.astype(np.float32)), r).tolist() == ids


@pytest.mark.smaller_set
@pytest.mark.parametrize("name", NAMES)
def test_a_ray_through_hundreds(name):
    boxes = np.array([[k / 4, -1.0, k / 4 + 9, 1.0] for k in range(400)])
    index = make(name)
    index.insert_many(boxes[:300])
    index.insert_many(boxes[300:], static=True)
    hits = index.query_ray([-2, 0], [1, 0])
    assert hits.ids.tolist() == list(range(400))
    assert hits.distances.tolist() == [k / 4 + 2 for k in range(400)]
    assert hits.normals.tolist() == [[-1.0, 0.0]] * 400
    assert len(index.query_ray([-2, 0], [-1, 0]).ids) == 0


@pytest.mark.parametrize("name", NAMES)
def test_circles_whose_edge_singles_cannot_hold(name):
    random = np.random.default_rng(11)
    boxes = random.random((400, 2)).astype(np.float32) * 50
    index, oracle = (make(which, dtype=np.float32) for which in (name, "brute_force"))
    for one in (index, oracle):
        one.insert_many(np.hstack((boxes, boxes)))
    for center in boxes[:100].astype(float) + random.normal(size=(100, 2)):
        # To the corner of a box exactly, where rounding decides.
        for other in boxes[:5].astype(float):
            r = float(np.sqrt(((center - other) ** 2).sum()))
            ids = index.query_radius(center, r).tolist()
            assert ids == oracle.query_radius(np.array([center]), r)[:, 1].tolist()
    for bad in ((1.0,), (1.0, 2.0, 3.0), ("a", 1.0), (np.nan, 1.0), (np.inf, 1.0), (10**400, 1.0)):
        with pytest.raises((TypeError, ValueError, OverflowError)) as short:
            index.query_radius(bad, 1.0)
        with pytest.raises(short.type, match="center"):
            index.query_radius(list(bad), 1.0, category=1)


# ---- in packets

FORCED = (1e-9, 1)  # hits a query, queries a packet
SIDE_BY_SIDE = (0.0, 1.0, 5.0, 25.0, 60.0)


@pytest.fixture
def in_packets(monkeypatch):
    """Batches are answered in packets, however small they are; what `packets.find` gave, call after call."""
    given = []
    find = batched_queries.find

    def noted(*arguments):
        given.append(find(*arguments))
        return given[-1]

    monkeypatch.setattr(batched_queries, "find", noted)
    monkeypatch.setattr(protocol, "ENOUGH_FOR_PACKETS", 100)
    monkeypatch.setattr(protocol, "ENOUGH_FOR_SAMPLE", 100)
    for kind in (protocol.Structure, box_tree.TreeStructure):
        monkeypatch.setattr(kind, "packets_from", FORCED)
    return given


@pytest.mark.smaller_set
@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", QUICK)
def test_windows_of_every_width_in_packets(name, dim, touching, dtype, in_packets):
    boxes, requested = scene(12, 500, dim), windows(13, 900, dim, SIDE_BY_SIDE)
    index = make(name, dim, touching=touching, dtype=dtype)
    index.insert_many(boxes)
    rows = index.query_box(requested)
    assert np.array_equal(rows, found_by_looking(boxes, requested, touching))
    assert rows.dtype == np.int32
    assert rows.flags.c_contiguous
    assert [answer is not None for answer in in_packets] == [True]


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("edge", [-np.inf, np.inf, 1e308, -1e308, 0.0, 5e-324])
def test_packets_of_odd_edges(name, edge, in_packets):
    """Where no cell is as wide as a query, and where nothing is less than an edge."""
    boxes = scene(14, 200, 2)
    boxes[::9, [0, 2]] = edge
    boxes[::7, [1, 3]] = -edge
    requested = windows(15, 300, 2, SIDE_BY_SIDE)
    requested[::5, [0, 2]] = edge
    requested[::3, [1, 3]] = -edge
    for touching in (True, False):
        index = make(name, touching=touching)
        index.insert_many(boxes)
        assert np.array_equal(index.query_box(requested), found_by_looking(boxes, requested, touching))
    assert in_packets


@pytest.mark.parametrize("scale", [1e-311, 1e-300, 1e300, 1e306])
def test_packets_of_tiny_and_huge_worlds(scale, in_packets):
    boxes, requested = scene(26, 300, 2) * scale, windows(27, 900, 2, SIDE_BY_SIDE) * scale
    index = make("box_tree")
    index.insert_many(boxes)
    assert np.array_equal(index.query_box(requested), found_by_looking(boxes, requested, True))
    assert in_packets  # where there is no lattice they say so


@pytest.mark.smaller_set
@pytest.mark.parametrize("name", QUICK)
def test_packets_of_equal_queries_and_points(name, in_packets):
    boxes = scene(16, 300, 2)
    index = make(name)
    index.insert_many(boxes)
    for one in ([10.0, 10.0, 14.0, 14.0], [10.0, 10.0, 10.0, 10.0], [-9.0, -9.0, -9.0, -9.0]):
        requested = np.tile(one, (700, 1))  # more than one packet of them
        assert np.array_equal(index.query_box(requested), found_by_looking(boxes, requested, True))
    points = np.random.default_rng(17).integers(0, 240, (400, 2)) / 4.0
    requested = np.hstack((points, points))
    assert np.array_equal(index.query_point(points), found_by_looking(boxes, requested, True))
    assert len(in_packets) == 3  # queries without hits take no path at all


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("threads", [1, 2])
def test_packets_with_rules_statics_circles_and_any_order(name, threads, in_packets):
    boxes, requested = scene(18, 700, 2), windows(19, 500, 2, SIDE_BY_SIDE)
    random = np.random.default_rng(20)
    categories, masks = random.choice(SETS, 700), random.choice(SETS, 700)
    index = make(name, sort=False, threads=threads)
    index.insert_many(boxes[:400], category=categories[:400], mask=masks[:400])
    index.insert_many(boxes[400:], static=True, category=categories[400:], mask=masks[400:])
    gone = random.permutation(700)[:50]
    index.remove_many(gone)
    may = (masks & 2 != 0) & (categories & 6 != 0)
    may[gone] = False
    rows = index.query_box(requested, category=2, mask=6)
    assert (np.diff(rows[:, 0]) >= 0).all()
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    assert np.array_equal(rows, found_by_looking(boxes, requested, True, may))
    centers = requested[:-1, :2]
    alone = [index.query_radius(center, 9.0) for center in centers]
    rows = index.query_radius(centers, 9.0)
    assert rows[:, 0].tolist() == np.repeat(np.arange(len(alone)), list(map(len, alone))).tolist()
    assert [sorted(rows[rows[:, 0] == k, 1].tolist()) for k in range(0, 499, 25)] == [
        sorted(ids.tolist()) for ids in alone[::25]
    ]
    assert None not in in_packets


@pytest.mark.parametrize("period", [(64.0, 64.0), (64.0, None)])
def test_packets_in_a_periodic_world(period, in_packets):
    random = np.random.default_rng(21)
    low, at = random.integers(0, 256, (400, 2)) / 4.0, random.integers(0, 256, (390, 2)) / 4.0
    boxes, requested = np.hstack((low, low + 3.0)), np.hstack((at, at + 5.0))
    for name in QUICK:
        index = make(name, period=period)
        index.insert_many(boxes)
        rows = index.query_box(requested)
        alone = [index.query_box(tuple(one)).tolist() for one in requested.tolist()]
        assert [[k, i] for k, ids in enumerate(alone) for i in ids] == rows.tolist()
    assert None not in in_packets


def test_a_crowd_between_the_queries_is_given_up(in_packets, monkeypatch):
    """Two rows of queries, a crowd between them that none of them meets."""
    monkeypatch.setattr(batched_queries, "MOST", 1_000)
    random = np.random.default_rng(22)
    crowd = np.hstack((random.random((3_000, 1)) * 100, random.random((3_000, 1)) + 10.0))
    boxes = np.vstack((np.hstack((crowd, crowd)), [[0.0, 0.0, 100.0, 30.0]]))
    low = np.column_stack((random.random(400) * 100, random.choice((0.0, 11.5, 14.0), 400)))
    requested = np.hstack((low, low + 9.0))
    index = make("box_tree")
    index.insert_many(boxes)
    expected = found_by_looking(boxes, requested, True)
    assert np.array_equal(index.query_box(requested), expected)
    assert in_packets == [None]


@pytest.mark.parametrize("name", NAMES)
def test_only_queries_with_many_hits_use_packets(name, monkeypatch):
    used = []
    find = batched_queries.find
    monkeypatch.setattr(batched_queries, "find", lambda *arguments: used.append(find(*arguments)) or used[-1])
    random = np.random.default_rng(23)
    low = random.random((4_000, 2)) * 100
    boxes = np.hstack((low, low + 2.0))
    index = make(name)
    index.insert_many(boxes)
    for side, much in ((0.1, False), (12.0, True)):
        low = random.random((6_000, 2)) * 90
        requested = np.hstack((low, low + side))
        used.clear()
        rows = index.query_box(requested)
        if name in QUICK:
            assert [answer is not None for answer in used] == [True] * much
        else:
            assert used == []  # the reference takes no other path
        expected = found_by_looking(boxes, requested[::100], True)
        some = rows[rows[:, 0] % 100 == 0]
        assert some[:, 1].tolist() == expected[:, 1].tolist()
        assert (some[:, 0] // 100).tolist() == expected[:, 0].tolist()


def test_interrupted_packets_are_searched_again(in_packets, monkeypatch):
    looks = []

    def look():
        looks.append(None)
        if len(looks) == stop:
            raise KeyboardInterrupt

    monkeypatch.setattr(slices, "stop_if_unwanted", look)
    monkeypatch.setattr(slices, "GOAL", 0.0)
    monkeypatch.setattr(batched_queries, "_FIRST", 1)
    boxes, requested = scene(24, 200, 2), windows(25, 200, 2, SIDE_BY_SIDE)
    index = make("uniform_grid", threads=1)
    index.insert_many(boxes)
    expected = found_by_looking(boxes, requested, True).tolist()
    stop, interrupted = 1, 0
    while True:
        looks.clear()
        try:
            assert index.query_box(requested).tolist() == expected
            break
        except KeyboardInterrupt:
            interrupted += 1
            stop += 1 + stop // 10
    assert interrupted > 20
    assert len(in_packets) == 1  # what was interrupted gave nothing
