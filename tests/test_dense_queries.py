"""Batches of queries that find much: every index against a comparison of all with all, in any memory."""

import numpy as np
import pytest
from index_scenes import NAMES, make

from broadphase.indexes import results

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
@pytest.mark.parametrize("room", [1, pytest.param(3_000, marks=pytest.mark.smaller_set), 40_000])
def test_answers_in_memory_that_runs_out(name, room, monkeypatch):
    """From too little memory for one query to enough for many."""
    boxes, requested = scene(6, 700, 2), windows(7, 900, 2)
    index = make(name)
    index.insert_many(boxes)
    index.query_box(requested[:2])  # its structure is built with unlimited memory
    rays = index.query_ray([-50.0, 30.0], [[1.0, step] for step in np.linspace(-0.1, 0.1, 300)])
    monkeypatch.setattr(results, "_MOST_ROWS", room)
    assert np.array_equal(index.query_box(requested), found_by_looking(boxes, requested, True))
    again = index.query_ray([-50.0, 30.0], [[1.0, step] for step in np.linspace(-0.1, 0.1, 300)])
    assert len(again.rows) > 3_000
    assert all(np.array_equal(one, other) for one, other in zip(again, rays, strict=True))


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
