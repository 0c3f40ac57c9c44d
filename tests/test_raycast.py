"""`broadphase.raycast`: rays in one shot, beside brute force and beside indexes."""

import math

import numpy as np
import pytest

import broadphase as bp

both_dimensions = pytest.mark.parametrize("dim", [2, 3], ids=["2d", "3d"])


def scene(dim, count=300, rays=400):
    chance = np.random.default_rng(dim)
    low = chance.random((count, dim)) * 10
    boxes = np.hstack((low, low + chance.random((count, dim))))
    return boxes, chance.random((rays, dim)) * 10, chance.normal(size=(rays, dim))


def first_hit(boxes, origin, direction, reach):
    """By all boxes: id and distance, -1 and inf where nothing is hit."""
    unit = direction / np.linalg.norm(direction)
    times = (boxes.reshape(len(boxes), 2, -1) - origin) / unit
    enters = np.maximum(times.min(axis=1).max(axis=1), 0.0)
    leaves = np.minimum(times.max(axis=1).min(axis=1), reach)
    distances = np.where(enters <= leaves, enters, math.inf)
    row = int(distances.argmin())
    return (row, distances[row]) if distances[row] < math.inf else (-1, math.inf)


@both_dimensions
def test_each_ray_hits_what_is_first_among_all_boxes(dim):
    boxes, origins, directions = scene(dim)
    hits = bp.raycast(boxes, origins, directions, 4.0)
    wanted = [first_hit(boxes, *ray, 4.0) for ray in zip(origins, directions, strict=True)]
    assert hits.ids.tolist() == [row for row, _ in wanted]
    np.testing.assert_allclose(hits.distances, [distance for _, distance in wanted], rtol=1e-12)
    assert 0 < np.count_nonzero(hits.ids < 0) < len(hits.ids)
    for ray in range(5):
        one = bp.raycast(boxes, tuple(origins[ray]), tuple(directions[ray]), 4.0)
        if hits.ids[ray] < 0:
            assert one is None
        else:
            assert one == (hits.ids[ray], hits.distances[ray], tuple(hits.normals[ray]))


@both_dimensions
@pytest.mark.parametrize("count", [0, 1, 2, 16, 17, 300])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_it_answers_as_an_index(dim, count, kind):
    boxes, origins, directions = scene(dim, count)
    boxes, origins = boxes.astype(kind), origins.astype(kind)
    own, asked = np.arange(count) % 3, np.arange(len(origins)) % 3
    sets = {"categories": np.arange(count) % 2 + 1, "masks": np.arange(count) % 5 + 1}
    rules = [{}, {"category": 2}, {"mask": 2}, {"ignore": asked}]
    for touching, period in [(True, None), (False, None), (True, [10.0] * dim)]:
        index = bp.BruteForce(dim=dim, dtype=kind, touching=touching, period=period)
        index.insert_many(boxes, env=own, category=sets["categories"], mask=sets["masks"])
        how = {"touching": touching, "period": period, "env": (own, asked), **sets}
        for rule in rules:
            wanted = index.raycast(origins, directions, 9.0, env=asked, **rule)
            hits = bp.raycast(boxes, origins, directions, 9.0, **how, **rule, threads=2)
            for array, other in zip(hits, wanted, strict=True):
                np.testing.assert_array_equal(array, other)


@both_dimensions
def test_worlds_by_axes_and_arrays_to_write_to(dim):
    boxes, origins, directions = scene(dim)
    boxes, fan = boxes.reshape(30, 10, -1), directions[:8]
    hits = bp.raycast(boxes, origins[:30, None], fan, 5.0)
    assert hits.ids.shape == (30, 8)
    assert hits.normals.shape == (30, 8, dim)
    for world in range(30):
        some = bp.raycast(boxes[world], origins[world], fan, 5.0)
        hit = some.ids >= 0
        np.testing.assert_array_equal(hits.ids[world], np.where(hit, some.ids + 10 * world, -1))
        np.testing.assert_array_equal(hits.distances[world], some.distances)
    out = np.empty((30, 8), np.int32), np.empty((30, 8), np.float32)
    given = bp.raycast(boxes, origins[:30, None], fan, 5.0, normals=False, out=out)
    assert given.ids is out[0]
    assert given.distances is out[1]
    np.testing.assert_array_equal(out[0], hits.ids)
    np.testing.assert_array_equal(out[1], hits.distances.astype(np.float32))
    assert bp.raycast(boxes, origins[:30, None], fan, 5.0, dtype=np.float32).normals.dtype == np.float32


def test_nothing_to_hit_and_nothing_asked():
    assert bp.raycast([], (0, 0), (1, 0)) is None
    assert bp.raycast([], (0, 0, 0), (1, 0, 0)) is None
    assert bp.raycast(np.empty((0, 6)), [(0, 0, 0)], (1, 0, 0)).ids.tolist() == [-1]
    assert bp.raycast([[0, 0, 1, 1]], np.empty((0, 2)), np.empty((0, 2))).normals.shape == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([[4, -1, 5, 1]], (0, 0), (0, 0)), {}, "directions = .*points nowhere"),
        (([[4, -1, 5, 1]], [[0, 0]], [[0, 0]]), {}, r"directions\[0\] = .*points nowhere"),
        (([[4, -1, 5, 1]], (0, math.nan), (1, 0)), {}, "origins = .*must be finite"),
        (([[4, -1, 5, 1]], [(0, 0)] * 2, [(1, 0)] * 3), {}, "origins has 2 rows and directions has 3"),
        (([[4, -1, 5, 1]], (0, 0), (1, 0), -1), {}, "max_distance = -1 must not be negative"),
        (([[4, -1, 3, 1]], (0, 0), (1, 0)), {}, r"boxes\[0\] has min_x = 4 > max_x = 3"),
        (([[4, -1, 5]], (0, 0), (1, 0)), {}, "boxes must have shape"),
        (([[4, -1, 5, 1]], (0, 0, 0), (1, 0, 0)), {}, "origins must have shape"),
        (([[4, -1, 5, 1]], (0, 0), (1, 0)), {"env": 3}, "env must be two"),
        (([[4, -1, 5, 1]], (0, 0), (1, 0)), {"period": (9, 9)}, "max_distance = inf"),
    ],
)
def test_what_is_wrong_is_named(arguments, options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        bp.raycast(*arguments, **options)
