"""`PointIndex`: what `neighbors` and `nearest` return with ``other=``, after any changes."""

import copy
import pickle
from itertools import product

import numpy as np
import point_scenes
import pytest

import broadphase as bp

KINDS = list(product((2, 3), (np.float32, np.float64)))


def expect_same(index, queries, r, k, period=None):
    """Each answer is that of the calls without an index, with ids in the place of rows."""
    points, ids = index.points, index.ids
    found = index.neighbors(queries, r, offsets=True)
    right = bp.neighbors(queries, r, other=points, period=period, offsets=True)
    np.testing.assert_array_equal(found.i, right.i)
    np.testing.assert_array_equal(found.j, ids[right.j])
    np.testing.assert_array_equal(found.distance, right.distance)
    np.testing.assert_array_equal(found.offset, right.offset)
    assert found.distance.dtype == right.distance.dtype
    assert found.shape == (len(queries), ids[-1] + 1 if len(ids) else 0)
    near = index.nearest(queries, k, r=r if np.ndim(r) == 0 else np.inf)
    other = bp.nearest(queries, k, other=points, period=period, r=r if np.ndim(r) == 0 else np.inf)
    rows = np.append(ids, np.int32(-1))[other.ids]
    np.testing.assert_array_equal(near.ids, rows)
    np.testing.assert_array_equal(near.distances, other.distances)
    assert near.ids.dtype == np.int32
    assert near.distances.dtype == other.distances.dtype


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_every_scene(each, dim, dtype):
    def check(scene, period):
        points, queries = (point_scenes.points_of(scene, n, dim, dtype, seed=n) for n in (300, 40))
        if period is not None:
            points, queries = np.mod(points, dtype(1)), np.mod(queries, dtype(1))
        index = bp.PointIndex(points, dim=dim, period=period)
        for r in point_scenes.SCENES[scene][1]:
            right = point_scenes.near(queries, r, points, period)
            found = index.neighbors(queries, r)
            for array, wanted in zip(found, right, strict=True):
                np.testing.assert_array_equal(array, wanted)
            expect_same(index, queries, r, 3, period)

    scenes = [(scene, None) for scene in point_scenes.SCENES]
    each(
        check, [*scenes, *((scene, (1.0, None, 2.0)[:dim]) for scene in ("uniform", "lattice", "all equal"))]
    )


@pytest.mark.parametrize("period", [None, (1.0, 1.5)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_changes_in_any_order(dtype, period):
    random = np.random.default_rng(4)
    index, model = bp.PointIndex(dtype=dtype, period=period), {}

    def some():
        held = np.array(sorted(model), int)
        return random.permutation(held)[: random.integers(0, len(held) // 2 + 1)]

    def free(count):
        return [i for i in range(len(model) + count) if i not in model][:count]

    for turn in range(120):
        places = random.normal(size=(random.integers(0, 30), 2)).astype(dtype)
        action = turn % 6
        if action == 0:
            ids = index.insert_many(places)
            assert ids.tolist() == free(len(places))
            model.update(zip(ids.tolist(), places, strict=True))
        elif action == 1:
            (new,) = free(1)
            assert index.insert(tuple(range(2))) == new
            model[new] = np.array((0, 1), dtype)
        elif action == 2:
            gone = some()
            index.remove_many(gone)
            for i in gone.tolist():
                del model[i]
        elif action == 3:
            moved = some()
            places = random.normal(size=(len(moved), 2)).astype(dtype)
            index.move_many(moved, places)
            model.update(zip(moved.tolist(), places, strict=True))
        elif action == 4 and model:
            one = int(random.choice(sorted(model)))
            index.move(one, [2.5, turn])
            model[one] = np.array((2.5, turn), dtype)
        elif model:
            one = int(random.choice(sorted(model)))
            index.remove(one)
            del model[one]
            assert one not in index
        assert index.ids.tolist() == sorted(model)
        assert len(index) == len(model)
        if model:
            np.testing.assert_array_equal(index.points, [model[i] for i in sorted(model)])
            assert sorted(model)[0] in index
        if turn % 3 == 0:
            queries = random.normal(size=(8, 2)).astype(dtype)
            expect_same(index, queries, 0.3, 2, period)
            expect_same(index, queries, random.random(8).astype(dtype), [1, 4], period)
    index.clear()
    assert len(index) == 0
    assert index.insert((0, 0)) == 0
    assert index.dtype == dtype


def test_kept_cells_serve_many_distances():
    points = np.vstack(
        (point_scenes.points_of("clusters", 400, 2, np.float64), np.random.default_rng(0).random((400, 2)))
    )
    index = bp.PointIndex(points)
    for r in (0.1, 0.06, 0.04, 1e-3, 0.0, 2.0, 0.1, np.inf, 1e-9, 0.2, 0.11, 1e-3):
        right = point_scenes.near(points[:50], r, points)
        for array, wanted in zip(index.neighbors(points[:50], r), right, strict=True):
            np.testing.assert_array_equal(array, wanted)


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
@pytest.mark.parametrize("period", [None, 1.0])
def test_any_number_of_queries_is_answered_alike(dim, dtype, period):
    """Few are searched in one call once there are cells and a tree, many by other kernels."""
    rng = np.random.default_rng(dim)
    index = bp.PointIndex(np.round(rng.random((700, dim)), 2).astype(dtype), period=period)
    index.remove_many(range(0, 700, 7))
    index.neighbors(rng.random((500, dim)), 0.1)
    index.nearest(rng.random((500, dim)), 1)
    for n, k in ((0, 1), (1, 1), (2, 9), (16, 3), (48, 3), (49, 3), (64, [1, 2]), (128, 1), (129, 2)):
        expect_same(index, np.round(rng.random((n, dim)), 2).astype(dtype), 0.07, k, period)


@pytest.mark.parametrize("period", [None, (1.0, 1.0), ((1.0, 0.0), (0.3, 1.0))])
def test_distances_that_grow_slowly(period):
    points = np.random.default_rng(0).random((400, 2))
    index = bp.PointIndex(points, period=period)
    for r in 0.01 * 1.1 ** np.arange(50):
        right = bp.neighbors(points[:5], float(r), other=points, period=period)
        for array, wanted in zip(index.neighbors(points[:5], float(r)), right, strict=True):
            np.testing.assert_array_equal(array, wanted)


@pytest.mark.parametrize("period", [None, (1.0, None)])
def test_one_query_however_it_is_written(period):
    """Ids and offsets are those of rows; what is no plain point within the world takes another way."""
    points = np.random.default_rng(2).random((300, 2))
    index = bp.PointIndex(points, period=period)
    index.remove_many(np.arange(0, 300, 7))
    index.nearest((0.0, 0.0), 1)
    for query in ((0.5, 1), [True, 0], (-0.25, 7.5), (2.5, -3), np.array([1, 0])):
        row = np.array([query], np.float64)
        for r in (0.2, 1, np.float64(0.7)):
            one, many = index.neighbors(query, r), index.neighbors(row, r, offsets=True)
            for found, wanted in zip(one, many, strict=True):
                np.testing.assert_array_equal(found, wanted)
            np.testing.assert_allclose(one.unit * one.distance[:, None], many.offset)
            assert (one.shape, one.csr().indices.tolist()) == (many.shape, many.j.tolist())
            for found, wanted in zip(index.nearest(query, 4, r=r), index.nearest(row, 4, r=r), strict=True):
                np.testing.assert_array_equal(found, wanted[0])
    for wrong in ((0.5, np.nan), (10**400, 0.5), ("a", 0.5), (0.5, 0.5, 0.5), (0.5,)):
        with pytest.raises((ValueError, TypeError), match=r"^points\b"):
            index.neighbors(wrong, 0.1)
        with pytest.raises((ValueError, TypeError), match=r"^points\b"):
            index.nearest(wrong, 1)
    with pytest.raises(bp.PairLimitExceeded):
        index.neighbors((0.5, 0.5), 0.5, max_pairs=3)


def test_an_index_whose_points_were_all_removed_finds_nothing():
    index = bp.PointIndex([[0.0, 0.0], [1.0, 1.0]])
    index.remove_many([0, 1])
    for query in ((0.0, 0.0), [(0.0, 0.0)]):
        near = index.nearest(query, 2)
        assert np.ravel(near.ids).tolist() == [-1, -1]
        assert np.ravel(near.distances).tolist() == [np.inf, np.inf]
        assert len(index.neighbors(query, np.inf)) == 0


def test_dimension_and_dtype_are_those_of_the_first_points():
    index = bp.PointIndex()
    assert (index.dim, index.dtype, len(index)) == (2, np.float64, 0)
    assert index.nearest((0.0, 0.0, 0.0), 2).ids.tolist() == [-1, -1]
    assert len(index.neighbors([(0.0, 0.0)], 1.0)) == 0
    index.insert(np.zeros(3, np.float32))
    assert (index.dim, index.dtype) == (3, np.float32)
    index.remove(0)
    assert (index.dim, index.dtype) == (3, np.float32)
    with pytest.raises(ValueError, match="in this 3-D index"):
        index.insert((0, 0))
    given = bp.PointIndex(np.zeros((2, 3), np.float32), dtype=np.float64)
    assert (given.dim, given.dtype) == (3, np.float64)
    assert bp.PointIndex([(1, 2)], dim=2, dtype="float32").points.dtype == np.float32
    assert bp.PointIndex(period=(1, None, 2)).dim == 3
    assert bp.PointIndex([[0, 0]], period=4).period == (4.0, 4.0)
    typed = pickle.loads(pickle.dumps(bp.PointIndex(np.empty((0, 3), np.float32))))
    assert (typed.dim, typed.dtype) == (3, np.float32)
    assert bp.PointIndex([]).insert((1, 2, 3)) == 0


def test_copies_and_pickles_go_their_own_ways():
    index = bp.PointIndex(np.random.default_rng(3).random((50, 2)), period=(1, 1))
    index.remove_many([3, 9, 40])
    queries = np.random.default_rng(4).random((9, 2))
    before = index.nearest(queries, 3)
    others = [index.copy(), copy.copy(index), copy.deepcopy(index), pickle.loads(pickle.dumps(index))]
    index.clear()
    for other in others:
        assert len(other) == 47
        np.testing.assert_array_equal(other.nearest(queries, 3).ids, before.ids)
        assert other.period == (1.0, 1.0)
        assert other.insert((0.5, 0.5)) == 3
        expect_same(other, queries, 0.2, 3, (1, 1))


def test_what_is_handed_out_cannot_be_written():
    index = bp.PointIndex([[0.0, 0.0]])
    for array in (index.points, index.ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


BAD = {
    "dim must be 2 or 3; got 4": lambda index: bp.PointIndex(dim=4),
    "dtype must be float32 or float64; got int64": lambda index: bp.PointIndex(dtype=int),
    r"points must have shape .* in this 3-D index": lambda index: bp.PointIndex([[0, 0]], period=(1, 1, 1)),
    r"period must hold a length.* got 3": lambda index: bp.PointIndex(dim=2, period=(1, 1, 1)),
    r"period\[0\] = 0 is not positive": lambda index: bp.PointIndex(period=0),
    r"points\[1\] = \[1.0, nan\]: the coordinates must be finite": lambda index: index.insert_many(
        [[0, 0], [1, np.nan]]
    ),
    r"point = \(inf, 0.0\): the coordinates must be finite": lambda index: index.insert((np.inf, 0)),
    "point must be one point": lambda index: index.insert([[0, 0]]),
    r"points must have shape \(n, 2\)": lambda index: index.insert_many((0, 0)),
    "named twice; each point can be named once": lambda index: index.remove_many([1, 1]),
    "got 2 ids and 1 points": lambda index: index.move_many([0, 1], [[5, 5]]),
    r"points = \(nan, 0.0\)": lambda index: index.nearest((np.nan, 0), 1),
    "r = -1 is no distance": lambda index: index.neighbors((0, 0), -1),
    "k must be at least 1": lambda index: index.nearest((0, 0), 0),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named_and_changes_nothing(message):
    index = bp.PointIndex([[0.0, 0.0], [1.0, 1.0]])
    index.nearest((0, 0), 1)
    with pytest.raises(ValueError, match=message):
        BAD[message](index)
    assert index.points.tolist() == [[0, 0], [1, 1]]
    expect_same(index, np.zeros((1, 2)), 2.0, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda index: index.remove(2),
        lambda index: index.remove(-1),
        lambda index: index.move(7, (0, 0)),
        lambda index: index.remove_many([0, 5]),
        lambda index: index.move_many([0, 5], [[3, 3], [4, 4]]),
    ],
)
def test_an_unknown_id_is_named(call):
    index = bp.PointIndex([[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(KeyError, match="no point has the id"):
        call(index)
    assert index.points.tolist() == [[0, 0], [1, 1]]


def test_first_points_that_are_refused_decide_nothing():
    index = bp.PointIndex()
    with pytest.raises(ValueError, match="finite"):
        index.insert_many(np.full((1, 3), np.nan, np.float32))
    assert (index.dim, index.dtype) == (2, np.float64)
    assert index.insert((1, 2)) == 0


def test_more_pairs_than_allowed():
    index = bp.PointIndex(np.zeros((100, 2)))
    with pytest.raises(bp.PairLimitExceeded):
        index.neighbors(np.zeros((10, 2)), 1.0, max_pairs=999)
    assert len(index.neighbors(np.zeros((10, 2)), 1.0, max_pairs=1000)) == 1000


def test_points_of_worlds_and_indexes_without_environments():
    random = np.random.default_rng(13)
    worlds = random.random((3, 50, 2))
    index = bp.PointIndex(worlds)
    np.testing.assert_array_equal(index.envs, np.repeat([0, 1, 2], 50))
    asked = random.random((3, 4, 2))
    found = index.nearest(asked, 2).ids
    for world in range(3):
        right = bp.nearest(asked[world], 2, other=worlds[world]).ids + 50 * world
        np.testing.assert_array_equal(found[world], right)
    plain = bp.PointIndex(worlds[0])
    assert plain.nearest(asked[0], 1, env=[0, 1, 0, 0]).ids[1, 0] == -1
    np.testing.assert_array_equal(plain.nearest(asked[0], 1, env=0).ids, plain.nearest(asked[0], 1).ids)
    with pytest.raises(TypeError, match="env must be whole numbers"):
        plain.insert((0, 0), env=0.5)
    with pytest.raises(ValueError, match="env must hold one number for each of the 2 rows"):
        plain.insert_many([[0, 0], [1, 1]], env=[1, 2, 3])
    assert len(plain) == 50


# ---- an index that was just made of points: as one that was filled


def filled(points):
    """An index of the same points that was empty before."""
    index = bp.PointIndex(dim=points.shape[1], dtype=points.dtype)
    index.insert_many(points)
    return index


def same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
