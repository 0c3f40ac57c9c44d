"""`nearest`: the same as brute force says, ties by number, wherever the points are."""

import math
from itertools import product

import numpy as np
import point_scenes
import pytest

import broadphase as bp
from broadphase.inputs.points import as_query
from broadphase.points import nearest

N = 520  # so many that they are sorted, whatever is asked, also with half as many others
KINDS = list(product((2, 3), (np.float32, np.float64)))


def expect(found, right):
    np.testing.assert_array_equal(found.distances, right[1])
    np.testing.assert_array_equal(found.ids, right[0])
    assert found.ids.dtype == np.int32
    assert found.distances.dtype == right[1].dtype


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_every_scene(each, dim, dtype):
    def check(scene, k):
        points = point_scenes.points_of(scene, N, dim, dtype)
        right = point_scenes.nearest(points, k)
        expect(bp.nearest(points, k), right)  # few points are compared one by one
        expect(bp.nearest(points, k, env=np.zeros(len(points), int)), right)  # these are sorted along a curve

    each(check, product(point_scenes.SCENES, (1, 9, 40, N + 5)), of=5, turn=KINDS.index((dim, dtype)))


@pytest.mark.parametrize("scene", ["uniform", "clusters", "sizes within sizes"])
def test_threads_change_nothing(scene):
    points = point_scenes.points_of(scene, 12_000, 3, np.float64)
    whole = bp.nearest(points, 6, threads=1)
    cut = bp.nearest(points, 6, threads=2)
    np.testing.assert_array_equal(cut.ids, whole.ids)
    np.testing.assert_array_equal(cut.distances, whole.distances)


BAD = {
    "k must be at least 1": {"k": 0},
    r"k\[1\] must be at least 1; got 0": {"k": [1, 0]},
    "r = -1 is no distance": {"r": -1},
    "r must be one number": {"r": [1, 2]},
    r"points\[0\] has x = nan": {"points": [[np.nan, 1]]},
    r"period\[0\] = -1 is not positive": {"period": (-1, 1)},
    "one number for each of the 2 rows": {"env": [1, 2, 3]},
    "images must be 'nearest' or 'all'": {"images": "some"},
    "r_min = -1 is no distance": {"r_min": -1.0},
    "names row 3; there are 2 rows": {"exclude": [[0, 3]]},
    "do not span all of space": {"period": [None, [0.0, 0.0]]},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named(message):
    with pytest.raises(ValueError, match=message):
        bp.nearest(**{"points": [[0.0, 0.0], [1.0, 1.0]], "k": 1} | BAD[message])


def test_wrong_kinds_are_named():
    with pytest.raises(TypeError, match="k must be an int"):
        bp.nearest([[0.0, 0.0]], 1.5)


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e19), (np.float32, 1e38), (np.float64, 1e160)])
def test_with_a_few_points_far_away(dim, dtype, far):
    points = np.random.default_rng(5).random((N, dim)).astype(dtype)
    points[::50] *= dtype(far)
    points[1] = points[2]
    points[3:6] = points[6] + dtype(1e-4)
    for k in (3, N):
        expect(bp.nearest(points, k), point_scenes.nearest(points, k))
        expect(
            bp.nearest(points[:40], k, other=points[20:]),
            point_scenes.nearest(points[:40], k, points[20:]),
        )


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e19), (np.float64, 1e160)])
def test_one_point_far_away_does_not_make_all_others_look_at_all(dtype, far):
    """Squares of the others' distances are still numbers, so that boxes can be left out."""
    points = np.random.default_rng(6).random((20_000, 2)).astype(dtype)
    points[0] = far
    query = as_query(points, None, None, None)
    kind, scale = nearest._kind_and_scale(query)
    with np.errstate(over="raise", under="raise"):
        assert kind.type(1e-4 * scale) ** 2 > np.finfo(kind).tiny
        assert kind.type(2.0 * far * scale) ** 2 * kind.type(3) < np.finfo(kind).max


def test_thousands_of_points_at_one_place():
    """In 5 ms; all pairs of them, which once were compared, took 13 s."""
    found = bp.nearest(np.full((20_000, 2), 0.5), 3)
    assert (found.distances == 0.0).all()
    assert found.ids[0].tolist() == [1, 2, 3]
    assert found.ids[1].tolist() == [0, 2, 3]
    assert (found.ids[3:] == [0, 1, 2]).all()


@pytest.mark.parametrize(("dtype", "beyond"), [(np.float32, 12), (np.float64, 24)])
def test_a_tie_where_the_first_search_ends(dtype, beyond):
    """A first search ends at 1.75 times the last distance: of two points there, equally far, it finds one.

    Their squares differ by one unit in the last place, of which the lower is the last that it looks at.
    """
    unit = np.spacing(dtype(1.75**2))
    outer, inner = ([1.75, np.sqrt(k * unit)] for k in (beyond + 1, beyond))
    others = np.array([outer, inner, [-4, 0]], dtype)
    points = np.array([[-3, 0], [0, 0]], dtype)
    right = point_scenes.nearest(points, 2, others)
    assert right[0][1].tolist() == [0, 1]
    assert right[1][1, 0] == right[1][1, 1]
    expect(bp.nearest(points, 1, other=others), (right[0][:, :1], right[1][:, :1]))


@pytest.mark.parametrize("k", [2, 40, [1, 3]])
def test_worlds_are_answered_in_their_shape(k):
    worlds, others = np.random.default_rng(32).random((2, 4, 30, 3))
    few, lengths = others[:, :5], np.linspace(0.5, 1, 12).reshape(4, 3)
    for other, periods in product((None, others, few), (None, np.ones((1, 3)), lengths)):
        found = bp.nearest(worlds, k, other=other, period=None if periods is None else np.squeeze(periods))
        for world, alone in enumerate(worlds):
            among = None if other is None else other[world]
            period = None if periods is None else np.broadcast_to(periods, (4, 3))[world]
            near = bp.nearest(alone, k, other=among, period=period)
            first = world * (30 if other is None else other.shape[1])
            np.testing.assert_array_equal(found.ids[world], np.where(near.ids < 0, -1, near.ids + first))
            np.testing.assert_array_equal(found.distances[world], near.distances)


def test_more_than_there_are_and_than_memory_holds():
    points = np.random.default_rng(33).random((5, 2))
    index = bp.BoxTree()
    index.insert_many(np.hstack((points, points)))
    whole = bp.nearest(points, 4)
    some = bp.nearest(points, [1, 10**12, 4, 5])  # as many columns as there are places
    np.testing.assert_array_equal(some.ids[:, [0, 2]], whole.ids[:, [0, 3]])
    np.testing.assert_array_equal(some.distances[:, [0, 2]], whole.distances[:, [0, 3]])
    assert (some.ids[:, [1, 3]] == -1).all()
    assert np.isinf(some.distances[:, [1, 3]]).all()
    for ask in (
        lambda k: bp.nearest(points, k),
        lambda k: bp.nearest(points, k, other=points, period=(1, 1)),
        lambda k: bp.nearest(points[None], k, period=[(1, 1)]),
        lambda k: bp.PointIndex(points).nearest(points, k),
        lambda k: index.nearest(points, k),
    ):
        with pytest.raises(MemoryError, match="1000000000000"):
            ask(10**12)


FAR = [(np.float32, 1e20), (np.float32, 1e37), (np.float64, 1e155), (np.float64, 1e300)]


@pytest.mark.parametrize(("kind", "far"), FAR)
def test_a_query_far_beyond_the_points_finds_them(kind, far):
    other = np.array([[0.5, 0.25], [0.75, 0.5], [-2.0, 0.0]], kind)
    queries = np.array([[0.5, 0.0], [far, 0.0], [0.0, -far], [0.75, 0.25]], kind)
    right = np.array(
        [[math.hypot(*(a - b).tolist()) for b in other.astype(float)] for a in queries.astype(float)]
    )
    for found in (bp.nearest(queries, 3, other=other), bp.PointIndex(other).nearest(queries, 3)):
        assert found.distances.tolist() == np.sort(right, axis=1).astype(kind).tolist()
        assert found.ids[1:3].tolist() == [[0, 1, 2], [0, 1, 2]]  # equally far, as numbers of this type
    assert bp.PointIndex(other).nearest(queries[1], 1).ids.tolist() == [0]


def test_points_that_are_far_smaller_than_the_query():
    tiny = np.array([[1e-100, 0], [0, 1e-100]])
    found = bp.nearest([[1.0, 1.0], [1e-100, 1e-100]], 2, other=tiny)
    assert found.ids.tolist() == [[0, 1], [0, 1]]
    assert found.distances.tolist() == [[math.sqrt(2.0)] * 2, [1e-100] * 2]
