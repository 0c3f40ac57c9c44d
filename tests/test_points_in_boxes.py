"""`join` of points and boxes, both as numbers: beside all comparisons in NumPy."""

import numpy as np
import pytest
from checks import assert_same

import broadphase as bp

both_dimensions = pytest.mark.parametrize("dim", [2, 3], ids=["2d", "3d"])
# Predicates with points first, and with boxes first; whether an edge counts.
POINTS_FIRST = {"within": False, "covered_by": True, "intersects": True}
BOXES_FIRST = {"contains": False, "contains_properly": False, "covers": True, "intersects": True}


def scene(dim, count):
    """On whole numbers, so that many points lie on edges and corners; some boxes are flat."""
    chance = np.random.default_rng(dim)
    low = chance.integers(0, 8, (count // 2, dim))
    points = chance.integers(0, 10, (count, dim))
    return points, np.hstack((low, low + chance.integers(0, 4, low.shape)))


def of_all(points, boxes, edges):
    dim = points.shape[1]
    low, high, at = boxes[:, :dim], boxes[:, dim:], points[:, None]
    inside = (low <= at) & (at <= high) if edges else (low < at) & (at < high)
    return np.argwhere(inside.all(axis=2)).astype(np.int32)


def turned(rows):
    return rows[np.lexsort((rows[:, 0], rows[:, 1]))][:, ::-1]


def test_tables_of_points():
    pandas = pytest.importorskip("pandas")
    places, areas = pandas.DataFrame({"name": ["a", "b"], "y": [1, 9], "x": [5, 5]}), [[4, 0, 6, 2]]
    assert bp.join(places, areas).tolist() == bp.join(areas, places).tolist() == [[0, 0]]
    assert bp.join(places.rename(columns={"x": "lon", "y": "lat"}), areas).tolist() == [[0, 0]]
    with pytest.raises(ValueError, match="neighbors"):
        bp.pairs(places)
    with pytest.raises(ValueError, match="no columns for the y axis"):
        bp.join(places.assign(width=1), areas)


@both_dimensions
@pytest.mark.parametrize("count", [0, 1, 2, 16, 17, 300])
@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
def test_which_boxes_hold_each_point(dim, count, kind):
    points, boxes = (array.astype(kind) for array in scene(dim, count))
    for edges in (True, False):
        expected = of_all(points, boxes, edges)
        assert len(expected) or count < 300
        assert_same(bp.join(points, boxes, touching=edges), expected)
        assert_same(bp.join(boxes, points, touching=edges), turned(expected))
        for predicate in (name for name, counts in POINTS_FIRST.items() if counts is edges):
            assert_same(bp.join(points, boxes, predicate=predicate), expected)
        for predicate in (name for name, counts in BOXES_FIRST.items() if counts is edges):
            assert_same(bp.join(boxes, points, predicate=predicate), turned(expected))


def test_lists_left_joins_periods_and_environments():
    areas = [[0, 0, 2, 2], [9, 0, 11, 2]]
    assert bp.join([(1, 1), (5, 5)], areas, how="left").tolist() == [[0, 0], [1, -1]]
    assert bp.join([(1, 1), (5, 5)], areas, predicate="within", how="left").tolist() == [[0, 0], [1, -1]]
    assert bp.join([(0.5, 1)], areas, period=(10, None)).tolist() == [[0, 0], [0, 1]]
    assert bp.join([(1, 1), (10, 1)], areas, env=([3, 4], [4, 4])).tolist() == [[1, 1]]
    worlds = np.array([[(1, 1)], [(10, 1)]])
    assert bp.join(worlds, np.array([areas, areas])).tolist() == [[0, 0], [1, 3]]


@pytest.mark.parametrize(
    ("a", "b", "options", "kind", "message"),
    [
        ([(1, 1)], [(0, 0, 2, 2)], {"predicate": "touches"}, ValueError, "choose one of within, covered_by"),
        (
            [(1, 1)],
            [(0, 0, 2, 2)],
            {"predicate": "contains"},
            ValueError,
            "for points in boxes; choose one of within",
        ),
        (
            [(0, 0, 2, 2)],
            [(1, 1)],
            {"predicate": "within"},
            ValueError,
            "for boxes around points; choose one of contains,",
        ),
        ([(0, 0, 2, 2)], [(0, 0, 2, 2)], {"predicate": "within"}, TypeError, "leave predicate out for boxes"),
        (
            [(1, 1, 1)],
            [(0, 0, 2, 2)],
            {"predicate": "within"},
            TypeError,
            "leave predicate out|must be a row",
        ),
        ([(1, 1)], [(0, 0, 2, 2)], {"predicate": "within", "distance": 1}, ValueError, "distance= is for"),
        ([(1, 1)], [(0, 0, 2, 2)], {"predicate": "inside"}, ValueError, "choose one of within"),
        ([(1, np.nan)], [(0, 0, 2, 2)], {}, ValueError, r"a\[0\] has min_y = nan"),
    ],
)
def test_what_is_wrong_is_named(a, b, options, kind, message):
    with pytest.raises(kind, match=message):
        bp.join(a, b, **options)
