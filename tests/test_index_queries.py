"""Queries worked out by hand, on every index."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from index_model import Model
from index_scenes import NAMES, make, random_boxes

import broadphase as bp

pytestmark = pytest.mark.smaller_set

UNIT = [0.0, 0.0, 1.0, 1.0]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def holding(name, boxes, **options):
    index = make(name, len(boxes[0]) // 2, **options)
    index.insert_many(boxes)
    return index


@pytest.mark.parametrize("touching", [True, False])
def test_what_only_meets_an_edge_counts_with_touching_alone(name, touching):
    index = holding(name, [UNIT], touching=touching)
    hit = [0] if touching else []
    assert index.query_box([1, 0, 2, 1]).tolist() == hit
    assert index.query_box([1, 1, 2, 2]).tolist() == hit
    assert index.query_point([1, 0.5]).tolist() == hit
    assert index.query_radius([4, 5], 5).tolist() == hit
    assert index.query_ray([-1, 1], [1, 0]).ids.tolist() == hit
    assert index.query_ray([-1, 0.5], [1, 0], 1).ids.tolist() == hit
    assert index.query_ray([1, 0.5], [1, 0]).ids.tolist() == hit
    assert index.query_ray([2, 0], [-1, 1]).ids.tolist() == hit


def test_ray_distances_are_world_units_whatever_the_direction(name):
    index = holding(name, [[3, 4, 9, 9]])
    for scale in (1e-320, 1e-3, 1, 7, 1e300):
        hit = index.raycast([0, 0], [3 * scale, 4 * scale])
        assert hit.id == 0
        assert hit.distance == pytest.approx(5, rel=1e-3 if scale < 1e-300 else 1e-15)
    assert index.raycast([0, 0], [300, 400], 4.999) is None


def test_a_box_infinitely_far_away_is_not_hit(name):
    index = holding(name, [[np.inf, -1, np.inf, 1], [9, -np.inf, np.inf, np.inf]])
    assert index.query_ray([0, 0], [1, 0]).ids.tolist() == [1]
    assert index.query_ray([0, 0], [-1, 0]).ids.tolist() == []


def test_batches_in_any_order_of_memory(name):
    rows = random_boxes(2, 40, 2)
    index = holding(name, rows)
    for order in (np.asfortranarray, lambda rows: np.repeat(rows, 2, axis=1)[:, ::2]):
        assert np.array_equal(index.query_box(order(rows)), index.query_box(rows))
        assert np.array_equal(index.query_point(order(rows[:, :2])), index.query_point(rows[:, :2]))
        assert np.array_equal(index.nearest(order(rows[:, :2]), 3).ids, index.nearest(rows[:, :2], 3).ids)


def test_what_is_given_once_counts_for_the_whole_batch(name):
    index = holding(name, [[2, -1, 3, 1], [-7, -1, -6, 1]])
    assert index.raycast([0, 0], [[1, 0], [-1, 0]]).ids.tolist() == [0, 1]
    assert index.raycast([[0, 0], [-3, 0]], [1, 0], 3).ids.tolist() == [0, -1]
    assert index.raycast([0, 0], [1, 0], [1, 5]).ids.tolist() == [-1, 0]
    assert index.query_radius([0, 0], [2, 6, 1]).tolist() == [[0, 0], [1, 0], [1, 1]]
    assert index.query_radius([[0, 0], [2, 0]], 1).tolist() == [[1, 0]]


def test_empty_batches(name):
    for index in (make(name), holding(name, [UNIT])):
        nothing = np.empty((0, 2))
        assert index.query_box(np.empty((0, 4))).shape == (0, 2)
        assert index.query_point(nothing).shape == (0, 2)
        assert index.query_radius(nothing, 1).shape == (0, 2)
        assert index.raycast(nothing, nothing).normals.shape == (0, 2)
        assert index.query_ray(nothing, nothing).rows.shape == (0, 2)
        assert index.nearest(nothing, 3).ids.shape == (0, 3)


def test_distances_neither_overflow_nor_vanish(name):
    index = holding(name, [[3e200, 4e200, 9e200, 9e200], [-4e-200, -9e-200, -3e-200, -4e-200]])
    found = index.nearest([0, 0], 2)
    assert found.ids.tolist() == [1, 0]
    assert found.distances.tolist() == pytest.approx([5e-200, 5e200], rel=1e-15)
    assert index.query_radius([0, 0], 4.9e200).tolist() == [1]
    assert index.query_radius([0, 0], 5.1e200).tolist() == [0, 1]
    assert index.query_radius([0, 0], 4.9e-200).tolist() == []
    assert index.query_radius([0, 0], 5.1e-200).tolist() == [1]
    assert index.query_radius([0, 0], np.inf).tolist() == [0, 1]


def test_float32_rounds_a_question_as_it_rounds_its_boxes(name):
    index = holding(name, [[0.1, 0.1, 0.7, 0.7]], dtype=np.float32)
    assert index.query_point([0.1, 0.7]).tolist() == [0]
    assert index.query_point(np.array([[0.1, 0.7]])).tolist() == [[0, 0]]
    assert index.query_box([0.7, 0.7, 1e300, 1e300]).tolist() == [0]
    assert index.query_box([[0.7, 0.7, 1e300, 1e300]]).tolist() == [[0, 0]]
    assert index.raycast([0, 0.7], [1, 0]).id == 0


@pytest.mark.parametrize("dim", [2, 3])
def test_many_results_are_sorted_too(name, dim):
    boxes = random_boxes(7, 150, dim)
    index = holding(name, boxes)
    model = Model(dim, np.float64, True)
    for box in boxes:
        model.insert(box)
    everything = np.array([-np.inf] * dim + [np.inf] * dim)
    assert index.query_box(everything).tolist() == list(range(150))
    keep = model.counts(None, None)
    rows = index.query_box(np.vstack((everything, boxes[:40])))
    wanted = [(0, i) for i in range(150)]
    wanted += [(q + 1, i) for q in range(40) for i in model.in_box(boxes[q], keep).tolist()]
    assert rows.tolist() == [list(row) for row in wanted]


def test_a_large_batch_is_shared_out_and_put_together_again(name):
    boxes = random_boxes(11, 30, 2)
    index = holding(name, boxes, threads=3)
    many = np.tile(boxes, (70, 1))
    small = index.query_box(boxes)
    wanted = np.vstack([small + np.array([len(boxes) * k, 0]) for k in range(70)])
    assert np.array_equal(index.query_box(many), wanted)
    tests = index.stats.tests
    assert tests == 70 * (index.query_box(boxes), index.stats.tests)[1]
    circles = index.query_radius(many[:, :2], 3)
    assert np.array_equal(circles[circles[:, 0] < 30], index.query_radius(boxes[:, :2], 3))


def test_many_threads_may_read_at_once(name):
    boxes = random_boxes(3, 120, 2)
    index = holding(name, boxes)
    index.remove_many([3, 50, 119])

    def query(_):
        return (
            index.pairs().tolist(),
            index.query_box(boxes[:20]).tolist(),
            [part.tolist() for part in index.query_ray(boxes[:20, :2], [1, 0.5])],
            [part.tolist() for part in index.nearest(boxes[:20, :2], 5)],
            index.query_radius(boxes[0, :2], 30).tolist(),
        )

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(query, range(24)))
    assert all(answer == answers[0] for answer in answers)


def test_stats_are_about_the_last_call(name):
    index = holding(name, [UNIT, [0.5, 0.5, 2, 2], [7, 7, 8, 8]])
    index.pairs()
    stats = index.stats
    assert isinstance(stats, bp.Stats)
    assert (stats.method, stats.call, stats.boxes, stats.pairs) == (name, "pairs", 3, 1)
    assert 1 <= stats.tests <= 3
    index.query_box(UNIT)
    assert (index.stats.call, index.stats.pairs) == ("query_box", 2)
    assert index.stats.tests >= 2
    index.raycast([-1, 0.5], [1, 0])
    assert (index.stats.call, index.stats.pairs) == ("raycast", 1)
    alone = index.stats.tests
    assert index.raycast([-1, 0.5], [1, 0], ignore=0).id == 1
    assert (index.stats.call, index.stats.pairs) == ("raycast", 1)
    assert index.stats.tests >= alone, "what is tested to pass through a box counts too"
