"""Queries worked out by hand, on every index."""

import math
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


def test_overlaps_of_the_interior_count_with_and_without_touching(name):
    index = holding(name, [UNIT], touching=False)
    assert index.query_box([0.5, 0.5, 0.5, 0.5]).tolist() == [0]
    assert index.query_point([0.5, 0.5]).tolist() == [0]
    assert index.query_radius([4, 5], 5.0000001).tolist() == [0]
    assert index.raycast([-1, 0.5], [1, 0], 1.0000001).id == 0
    assert index.raycast([0, 0.5], [1, 0]) == (0, 0.0, (-1.0, 0.0))
    assert index.raycast([0.5, 0.5], [1, 0], 0).id == 0


def test_ray_distances_are_world_units_whatever_the_direction(name):
    index = holding(name, [[3, 4, 9, 9]])
    for scale in (1e-320, 1e-3, 1, 7, 1e300):
        hit = index.raycast([0, 0], [3 * scale, 4 * scale])
        assert hit.id == 0
        assert hit.distance == pytest.approx(5, rel=1e-3 if scale < 1e-300 else 1e-15)
    assert index.raycast([0, 0], [300, 400], 4.999) is None


@pytest.mark.parametrize(
    ("direction", "normal"),
    [((1, 0), (-1, 0)), ((-1, 0), (1, 0)), ((0, 1), (0, -1)), ((0, -1), (0, 1)), ((-0.0, -2), (0, 1))],
)
def test_the_normal_is_of_the_face_that_is_entered(name, direction, normal):
    index = holding(name, [[-1, -1, 1, 1]])
    hit = index.raycast(-5 * np.array(direction) / np.abs(direction).max(), direction)
    assert hit == (0, 4.0, normal)
    assert str(hit.normal).count("-0.0") == 0


def test_normals_in_3d(name):
    index = holding(name, [[-1, -1, -1, 1, 1, 1]])
    for axis in range(3):
        towards = np.zeros(3)
        towards[axis] = 1
        assert index.raycast(-4 * towards, towards) == (0, 3.0, tuple(-towards))


def test_through_a_corner_the_lowest_axis_gives_the_normal(name):
    assert holding(name, [UNIT]).raycast([-1, -1], [1, 1]).normal == (-1.0, 0.0)


def test_a_ray_that_starts_inside_hits_at_once_without_a_normal(name):
    index = holding(name, [[-9, -9, 9, 9], [-np.inf, -np.inf, np.inf, np.inf], [2, -1, 3, 1]])
    hits = index.query_ray([0, 0], [1, 0])
    assert hits.ids.tolist() == [0, 1, 2]
    assert hits.distances.tolist() == [0, 0, 2]
    assert hits.normals.tolist() == [[0, 0], [0, 0], [-1, 0]]


def test_hits_come_by_distance_then_id(name):
    index = holding(name, [[5, 0, 6, 1], [2, 0, 3, 1], [5, 0, 7, 1], [2, 0, 9, 1]])
    hits = index.query_ray([0, 0.5], [1, 0])
    assert hits.ids.tolist() == [1, 3, 0, 2]
    assert hits.distances.tolist() == [2, 2, 5, 5]
    assert index.raycast([0, 0.5], [1, 0]).id == 1


@pytest.mark.parametrize("touching", [True, False])
def test_a_wall_of_no_thickness_stops_a_ray(name, touching):
    index = holding(name, [[5, -1, 5, 1]], touching=touching)
    assert index.raycast([0, 0], [1, 0]) == (0, 5.0, (-1.0, 0.0))
    assert (index.raycast([5, -3], [0, 1]) is not None) == touching  # along it
    assert (index.raycast([0, 1], [1, 0]) is not None) == touching  # past its end


@pytest.mark.parametrize("touching", [True, False])
def test_a_ray_that_meets_only_the_end_of_a_wall_or_a_dot(name, touching):
    for box in ([5, 0, 9, 0], [5, 0, 5, 0], [1, 0, 5, 0], [5, 0, 5, 9], [5, -9, 5, 0]):
        index = holding(name, [box], touching=touching)
        assert (index.raycast([0, -5], [1, 1]) is not None) == touching
        assert (index.raycast([10, 5], [-1, -1]) is not None) == touching
    index = holding(name, [[4, 0, 9, 0]], touching=touching)
    assert index.raycast([0, -5], [1, 1]).normal == (0.0, -1.0)


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


def test_a_batch_of_rays_answers_one_by_one(name):
    index = holding(name, [[2, -1, 3, 1], [6, -1, 7, 1]])
    firsts = index.raycast([[0, 0], [0, 5], [9, 0]], [[1, 0], [1, 0], [-1, 0]])
    assert firsts.ids.tolist() == [0, -1, 1]
    assert firsts.distances.tolist() == [2, np.inf, 2]
    assert firsts.normals.tolist() == [[-1, 0], [0, 0], [1, 0]]
    rows = index.query_ray([[0, 0], [0, 5], [9, 0]], [[1, 0], [1, 0], [-1, 0]])
    assert rows.rows.tolist() == [[0, 0], [0, 1], [2, 1], [2, 0]]
    assert rows.distances.tolist() == [2, 6, 2, 6]
    assert rows.rows.dtype == np.int32


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


def test_an_empty_index_answers(name):
    index = make(name, 3)
    assert index.pairs().shape == (0, 2)
    assert index.query_box([0] * 3 + [1] * 3).tolist() == []
    assert index.query_point([0, 0, 0]).tolist() == []
    assert index.query_radius([0, 0, 0], np.inf).tolist() == []
    assert index.raycast([0, 0, 0], [1, 0, 0]) is None
    assert index.query_ray([0, 0, 0], [1, 0, 0]).normals.shape == (0, 3)
    assert index.nearest([0, 0, 0], 4).ids.tolist() == []
    assert index.nearest([[0, 0, 0]], 2).ids.tolist() == [[-1, -1]]
    assert index.join(index).shape == (0, 2)
    assert [len(part) for part in index.changes()] == [0, 0, 0]


def test_nearest_is_by_distance_then_id(name):
    index = holding(name, [[3, 0, 4, 1], [-4, 0, -3, 1], [0, 0, 1, 1], [0, 0, 1, 1], [6, 5, 7, 9]])
    found = index.nearest([0, 1], 5)
    assert found.ids.tolist() == [2, 3, 0, 1, 4]
    assert found.distances.tolist() == [0, 0, 3, 3, math.sqrt(6 * 6 + 4 * 4)]
    assert index.nearest([0, 1], 3).ids.tolist() == [2, 3, 0]
    assert index.nearest([[0, 1], [7, 9]], 2).ids.tolist() == [[2, 3], [4, 0]]


def test_a_batch_of_nearest_is_filled_up(name):
    index = holding(name, [[3, 0, 4, 1], [1, 0, 2, 1]])
    found = index.nearest([[0, 0]], 4)
    assert found.ids.tolist() == [[1, 0, -1, -1]]
    assert found.distances.tolist() == [[1, 3, np.inf, np.inf]]
    assert index.nearest([0, 0], 4).ids.tolist() == [1, 0]


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


def test_a_circle_misses_the_corners_of_its_box(name):
    index = holding(name, [[-1, -1, 0, 0], [8, 8, 9, 9], [7, 7, 9, 9]])
    assert index.query_radius([0, 0], 10).tolist() == [0, 2]


def test_float32_rounds_a_question_as_it_rounds_its_boxes(name):
    index = holding(name, [[0.1, 0.1, 0.7, 0.7]], dtype=np.float32)
    assert index.query_point([0.1, 0.7]).tolist() == [0]
    assert index.query_point(np.array([[0.1, 0.7]])).tolist() == [[0, 0]]
    assert index.query_box([0.7, 0.7, 1e300, 1e300]).tolist() == [0]
    assert index.query_box([[0.7, 0.7, 1e300, 1e300]]).tolist() == [[0, 0]]
    assert index.raycast([0, 0.7], [1, 0]).id == 0


def test_rules_are_applied_in_the_search(name):
    index = make(name)
    for k in range(4):
        index.insert([k, 0, k + 0.5, 1], category=1 << k, mask=0b11 if k < 2 else 0b1000, static=k == 3)
    assert index.query_box([0, 0, 9, 9]).tolist() == [0, 1, 2, 3]
    assert index.query_box([0, 0, 9, 9], mask=0b0110).tolist() == [1, 2]
    assert index.query_box([0, 0, 9, 9], category=0b1000).tolist() == [2, 3]
    assert index.query_box([0, 0, 9, 9], category=0b1000, mask=0b0110).tolist() == [2]
    assert index.raycast([-1, 0.5], [1, 0], mask=0b1000) == (3, 4.0, (-1.0, 0.0))
    assert index.nearest([0, 0], 2, mask=0b1100).ids.tolist() == [2, 3]
    assert index.query_point([[0.2, 0.2], [2.2, 0.2]], mask=4).tolist() == [[1, 2]]
    assert index.query_radius([0, 0], 2, mask=6).tolist() == [1, 2]


def test_unsorted_results_are_the_same_sets(name):
    boxes = random_boxes(5, 200, 2)
    index, other = (holding(name, boxes, sort=sort) for sort in (True, False))
    everything = [-np.inf, -np.inf, np.inf, np.inf]
    assert sorted(other.query_box(everything).tolist()) == index.query_box(everything).tolist()
    assert sorted(other.pairs().tolist()) == index.pairs().tolist()


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
