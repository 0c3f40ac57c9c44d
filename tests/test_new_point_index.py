"""An index that was just made of points answers as one that was filled, whatever it is asked first."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadphase as bp

SIZES = (0, 1, 2, 16, 17, 300, 2_000)


def filled(points):
    """An index of the same points that was empty before."""
    index = bp.PointIndex(dim=points.shape[1], dtype=points.dtype)
    index.insert_many(points)
    return index


def scene(random, n, dim, dtype):
    """Points, some of which are at one place."""
    points = random.random((n, dim)).astype(dtype)
    points[: n // 4] = points[-1:]
    return points


def same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


QUERIES = {
    "nearest": lambda index, points: index.nearest(tuple(points[0].tolist()), 3),
    "nearest of an array": lambda index, points: index.nearest(points[0], 1, r=0.3),
    "nearest of a list": lambda index, points: index.nearest(points[0].tolist(), [1, 4]),
    "nearest of many": lambda index, points: index.nearest(points, 4),
    "nearest of many rows": lambda index, points: index.nearest(points.tolist(), 2, r=0.2),
    "nearest of more than there are": lambda index, points: index.nearest(points[0], 70),
    "nearest of axes": lambda index, points: index.nearest(points[None], 2),
    "nearest but itself": lambda index, points: index.nearest(points, 2, exclude_self=True),
    "neighbors": lambda index, points: index.neighbors(tuple(points[0].tolist()), 0.3),
    "neighbors of an array": lambda index, points: index.neighbors(points[0], np.float32(0.3)),
    "neighbors of many": lambda index, points: index.neighbors(points, 0.1),
    "neighbors of radii": lambda index, points: index.neighbors(points, np.linspace(0, 0.2, len(points))),
    "neighbors farther": lambda index, points: index.neighbors(points[0], 0.5, r_min=0.2),
    "points": lambda index, points: (index.points, index.ids, index.envs),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3])
def test_whatever_is_asked_first(dim, dtype):
    random = np.random.default_rng(dim)
    for n in SIZES:
        points = scene(random, n, dim, dtype)
        for many in (1, 40, 700):
            asked = np.concatenate((points[:many], random.random((many, dim)).astype(dtype)))[:many]
            for query in QUERIES.values():
                same(query(bp.PointIndex(points), asked), query(filled(points), asked))


def test_as_brute_force_at_its_border():
    """Distances that there are, as the limit: rounding decides as in `neighbors`."""
    for dtype in (np.float32, np.float64):
        points = np.random.default_rng(5).random((200, 2)).astype(dtype)
        near = bp.neighbors(points[:1], 1.0, other=points)
        for r in near.distance.tolist():
            found = bp.PointIndex(points).neighbors(points[0], r)
            assert_array_equal(found.j, near.j[near.distance <= dtype(r)])
            count = np.count_nonzero(bp.PointIndex(points).nearest(points[0], 50, r=r).ids >= 0)
            assert count == min(len(found), 50)


def test_asked_often_it_makes_a_tree_and_says_the_same():
    random = np.random.default_rng(6)
    points = random.random((400, 3))
    index, other = bp.PointIndex(points), filled(points)
    for place in random.random((500, 3)):
        same(index.nearest(place, 2), other.nearest(place, 2))
        same(index.neighbors(place, 0.1), other.neighbors(place, 0.1))


def test_of_one_in_a_periodic_world():
    random = np.random.default_rng(7)
    points = random.random((3_000, 2))
    index = bp.PointIndex(points, period=(1.0, None))
    for place in random.random((200, 2)) * [1.0, 1.4] - [0.0, 0.2]:
        wanted = bp.nearest(place[None], 5, other=points, period=(1.0, None))
        same(index.nearest(place, 5), (wanted.ids[0], wanted.distances[0]))


def test_changes_and_copies():
    points = np.random.default_rng(8).random((30, 2))
    changes = {
        "insert": lambda index: index.insert((0.5, 0.5)),
        "insert_many": lambda index: index.insert_many([[0.5, 0.5], [0.1, 0.2]], env=[0, 3]),
        "move": lambda index: index.move(3, (0.1, 0.1)),
        "move_many": lambda index: index.move_many([3, 4], [[0.1, 0.1], [0.2, 0.2]]),
        "remove": lambda index: index.remove(7),
        "remove_many": lambda index: index.remove_many([7, 2]),
        "clear": lambda index: index.clear(),
    }
    for asked_before in (False, True):
        for change in changes.values():
            index, other = bp.PointIndex(points), filled(points)
            if asked_before:
                index.nearest((0.1, 0.1), 1)
            for one in (index, other):
                change(one)
            assert_array_equal(index.points, other.points)
            assert_array_equal(index.ids, other.ids)
            same(index.nearest((0.3, 0.3), 3), other.nearest((0.3, 0.3), 3))
    for copied in (copy.copy, copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))):
        index = bp.PointIndex(points)
        other = copied(index)
        index.remove(0)
        assert (len(index), len(other), 0 in index, 0 in other) == (29, 30, False, True)
        assert_array_equal(other.points, points)
    assert repr(bp.PointIndex(points)) == repr(filled(points))


def test_the_points_are_its_own():
    points = np.random.default_rng(9).random((30, 2))
    index, before = bp.PointIndex(points), points.copy()
    points[:] = 7.0
    assert index.nearest(before[5], 1).ids.tolist() == [5]
    assert_array_equal(index.points, before)


def test_what_is_wrong_is_named():
    points = np.random.default_rng(9).random((30, 2))
    index = bp.PointIndex(points)
    for call, said in (
        (lambda: index.nearest((np.nan, 0.0), 1), "finite"),
        (lambda: index.nearest((0.0, 0.0, 0.0), 1), "shape"),
        (lambda: index.nearest((0.0, 0.0), 0), "k must be at least 1"),
        (lambda: index.nearest((0.0, 0.0), 1, r=-1.0), "r = -1"),
        (lambda: index.nearest((0.0, 0.0), 1, threads=0), "threads must be at least 1"),
        (lambda: index.neighbors((0.0, 0.0), -1.0), "r = -1"),
        (lambda: index.neighbors([(0.0, np.inf)], 1.0), "finite"),
        (lambda: bp.PointIndex(np.array([[0.0, np.nan]])), "must be finite"),
        (lambda: bp.PointIndex(points, dim=3), "3-D"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    with pytest.raises(bp.PairLimitExceeded):
        index.neighbors(points[0], 2.0, max_pairs=29)
    with pytest.raises(AttributeError, match="no attribute 'near'"):
        index.near  # noqa: B018
