"""Rays, nearest points and overlaps of shapes in many worlds, against shapely."""

from fractions import Fraction

import numpy as np
import pytest

import broadphase as bp

shapely = pytest.importorskip("shapely")
WORLDS, EACH = 6, 9


def shapes_and_geometries(chance):
    """Shapes of all kinds, and the same of shapely; circles have so many corners that 1e-6 is left."""
    for k in range(WORLDS * EACH):
        x, y = chance.uniform(0, 20, 2).tolist()
        size, angle = chance.uniform(0.5, 3), chance.uniform(0, 360)
        if k % 5 == 4:
            shape = bp.Capsule(x, y, x + size, y + 2 * (k % 2), 0)
            outline, grown = shapely.LineString(shape.ends), 0
        elif k % 4 == 0:
            shape, outline, grown = bp.Circle(x, y, size), shapely.Point(x, y), size
        elif k % 4 == 1:
            shape = bp.Box(x, y, size, 1).rotated(angle)
            outline, grown = shapely.Polygon(shape.points), 0
        elif k % 4 == 2:
            shape = bp.Capsule(x, y, x + size, y + 1, 0.4)
            outline, grown = shapely.LineString(shape.ends), 0.4
        else:
            shape = bp.Box(x, y, size, 2)
            outline, grown = shapely.box(*shape.bounds), 0
        yield shape, outline.buffer(grown, quad_segs=512) if grown else outline


@pytest.fixture(scope="module")
def scene():
    chance = np.random.default_rng(8)
    shapes, geometries = zip(*shapes_and_geometries(chance), strict=True)
    env = chance.permutation(np.repeat(np.arange(WORLDS), EACH))
    points, angles = chance.uniform(0, 20, (WORLDS, 25, 2)), chance.uniform(0, 7, (WORLDS, 25))
    ways = np.stack((np.cos(angles), np.sin(angles)), axis=2)
    return bp.ShapeIndex(shapes, env=env), np.array(geometries), env, points, ways


def test_first_hits_are_those_of_shapely(scene):
    index, geometries, env, points, ways = scene
    hits = index.raycast(points, ways, 12.0)
    assert hits.ids.shape == (WORLDS, 25)
    for world, ray in np.ndindex(hits.ids.shape):
        at, way, own = points[world, ray], ways[world, ray], np.flatnonzero(env == world)
        line = shapely.LineString([at, at + 12.0 * way])
        far = shapely.distance(shapely.Point(at), shapely.intersection(line, geometries[own]))
        far = np.where(np.isnan(far), np.inf, far)
        assert np.isclose(hits.distances[world, ray], far.min(), atol=1e-4)
        if np.isfinite(far.min()):
            place, normal = at + hits.distances[world, ray] * way, hits.normals[world, ray]
            assert shapely.distance(geometries[hits.ids[world, ray]], shapely.Point(place)) < 1e-4
            if far.min() > 0:
                check_normal(geometries[hits.ids[world, ray]], place, normal)
    alone = index.raycast(points[2, 3], ways[2, 3], 12.0, env=2)
    assert (-1 if alone is None else alone.id) == hits.ids[2, 3]
    past = index.raycast(points, ways, 12.0, ignore=hits.ids)
    assert not (past.ids == hits.ids)[hits.ids >= 0].any()
    assert (past.distances >= hits.distances).all()


def check_normal(geometry, place, normal):
    """A unit vector that leads straight out of the shape."""
    assert np.isclose(np.hypot(*normal), 1.0)
    assert np.isclose(geometry.distance(shapely.Point(place + 1e-2 * normal)), 1e-2, atol=1e-4)


def test_nearest_points_are_those_of_shapely(scene):
    index, geometries, env, points, _ = scene
    near = index.nearest(points)
    for world, k in np.ndindex(near.ids.shape):
        at, own = shapely.Point(points[world, k]), np.flatnonzero(env == world)
        assert np.isclose(near.distances[world, k], shapely.distance(geometries[own], at).min(), atol=1e-5)
        assert shapely.distance(geometries[near.ids[world, k]], shapely.Point(near.points[world, k])) < 1e-5
    outside = near.distances > 0
    assert 0.2 < outside.mean() < 1
    assert (near.normals[~outside] == 0).all()
    there = near.points + near.distances[..., None] * near.normals
    assert np.allclose(there, points)
    assert np.allclose(np.linalg.norm(near.normals, axis=2), outside)
    others = index.nearest(points, ignore=near.ids)
    for world, k in np.ndindex(near.ids.shape):
        own = np.flatnonzero((env == world) & (np.arange(len(env)) != near.ids[world, k]))
        far = shapely.distance(geometries[own], shapely.Point(points[world, k])).min()
        assert np.isclose(others.distances[world, k], far, atol=1e-5)
    single = index.nearest(points[1, 4], env=1)
    columns = zip((*single, single.points, single.normals), (*near, near.points, near.normals), strict=True)
    assert [np.array_equal(a, b[1, 4]) for a, b in columns] == [True] * 4


def test_overlaps_are_those_of_shapely(scene):
    index, geometries, env, points, _ = scene
    boxes = np.concatenate((points, points + 2.0), axis=2)
    asked = np.repeat(np.arange(WORLDS), 25)
    for rows, wanted in (
        (index.query_box(boxes), shapely.box(*boxes.reshape(-1, 4).T)),
        (
            index.query_radius(points, 1.5),
            shapely.buffer(shapely.points(points.reshape(-1, 2)), 1.5, quad_segs=512),
        ),
    ):
        meets = shapely.intersects(wanted[:, None], geometries) & (asked[:, None] == env)
        assert np.array_equal(rows, np.argwhere(meets))
    assert np.array_equal(index.query_box(boxes[3, 0], env=3), index.query_box(boxes[3, :1], env=3)[:, 1])


@pytest.mark.parametrize("count", [0, 1, 2, 16, 17, WORLDS * EACH])
def test_pairs_are_those_that_overlap_one_by_one(count):
    chance = np.random.default_rng(count)
    shapes = [shape for shape, _ in shapes_and_geometries(chance)][:count]
    env = chance.integers(-1, 3, count)
    for worlds in (None, env):
        wanted = [
            [i, j]
            for i in range(count)
            for j in range(i + 1, count)
            if worlds is None or -1 in (env[i], env[j]) or env[i] == env[j]
            if bp.overlap(shapes[i], shapes[j])
        ]
        found = bp.ShapeIndex(shapes, env=worlds).pairs()
        assert found.dtype == np.int32
        assert found.tolist() == wanted
        assert wanted or worlds is not None or count < 16


def test_pairs_of_crossing_segments_and_of_shapes_that_only_touch():
    def segment(*ends):
        return bp.Capsule(*ends, 0)

    crossing = [segment(0, 1, 2, 1), segment(1, 0, 1, 2), segment(0, 0, 2, 2), segment(2, 2, 4, 4)]
    assert bp.ShapeIndex(crossing).pairs().tolist() == [[0, 1], [0, 2], [1, 2]]
    flush = [bp.Box(0, 0, 2, 2), bp.Box(2, 0, 2, 2), bp.Circle(1, 3, 1), bp.Box(1, 1, 2, 0.5)]
    index = bp.ShapeIndex(flush)
    assert index.pairs().tolist() == [[0, 3], [1, 3]]
    index.move_many([2], [[1, 2.75]])
    assert index.pairs().tolist() == [[0, 2], [0, 3], [1, 3]]


def test_shapes_that_move_and_turn_are_found_where_they_are():
    arena = bp.ShapeIndex([bp.Box(0, 0, 4, 2), bp.Circle(9, 9, 1)])
    arena.move_many([0, 1], [[10, 0], [-3, 1]], angles=[90, 0])
    assert arena.bounds.tolist() == [[11, -1, 13, 3], [-4, 0, -2, 2]]
    hits = arena.raycast([[0, 1], [0, 1]], [[1, 0], [-1, 0]])
    assert (hits.ids.tolist(), hits.distances.tolist()) == ([0, 1], [11, 2])
    assert arena.shape(0).rotated(-90) == bp.Polygon([(10, 0), (14, 0), (14, 2), (10, 2)])
    before = arena.bounds.copy()
    for bad in (([0, 0], [[1, 1], [2, 2]]), ([5], [[1, 1]]), ([0], [[1, np.nan]]), ([0, 1], [[1, 1]])):
        with pytest.raises((ValueError, KeyError)):
            arena.move_many(*bad)
    with pytest.raises(ValueError, match="angles"):
        arena.move_many([0], [[1, 1]], angles=[np.inf])
    assert np.array_equal(arena.bounds, before)


def test_segments_are_walls_without_width():
    wall = bp.ShapeIndex([bp.Capsule(5, -2, 5, 2, 0), bp.Capsule(0, 6, 4, 6, 0)])
    hits = wall.raycast([[0, 0], [9, 1], [0, 2], [5, 9], [1, 9]], [[1, 0], [-1, 0], [1, 0], [0, -1], [0, -2]])
    assert hits.ids.tolist() == [0, 0, -1, -1, 1]  # past an end, and along the line: no hit
    assert hits.distances[[0, 1, 4]].tolist() == [5, 4, 3]
    assert hits.normals[[0, 1, 4]].tolist() == [[-1, 0], [1, 0], [0, 1]]
    near = wall.nearest([[5, 4], [3, 0], [-3, 10]])
    assert near.points.tolist() == [[5, 2], [5, 0], [0, 6]]
    assert near.distances.tolist() == [2, 2, 5]
    circles = wall.query_radius([[5, 4], [5, 4], [6, 0], [2, 6], [7, 6]], [1.9, 2.1, 1.1, 0.1, 2.9])
    assert circles.tolist() == [[1, 0], [2, 0], [3, 1]]
    assert wall.query_box([[4, -1, 6, 1], [5, 0, 6, 1], [1, 5, 2, 7]]).tolist() == [[0, 0], [2, 1]]
    cross, apart = bp.Capsule(4, 0, 6, 1, 0), bp.Capsule(5, 3, 5, 4, 0)
    assert [bp.overlap(one, bp.Capsule(5, -2, 5, 2, 0)) for one in (cross, apart)] == [True, False]


def test_what_only_touches_does_not_count_and_what_is_not_there_is_said():
    arena = bp.ShapeIndex([bp.Box(0, 0, 2, 2)], env=[4])
    assert arena.query_box([2, 0, 3, 1], env=4).tolist() == []
    assert arena.query_box([1, 0, 3, 1], env=4).tolist() == [0]
    nothing = arena.nearest([[5, 5]], env=[3])
    assert (nothing.ids.tolist(), nothing.distances.tolist()) == ([-1], [np.inf])
    assert arena.raycast([-1, 1], [1, 0], env=3) is None
    assert bp.ShapeIndex([]).nearest([[0, 0]]).ids.tolist() == [-1]
    with pytest.raises(TypeError, match=r"shapes\[0\] must be a Box, Circle or Polygon, a body .* got 3"):
        bp.ShapeIndex([3])


def test_hits_are_written_where_the_caller_wants_them(scene):
    index, _, _, points, ways = scene
    wanted = index.raycast(points, ways, 12.0)
    for kind in (np.float32, np.float64):
        out = np.empty((WORLDS, 25), np.int32), np.empty((WORLDS, 25), kind), np.empty((WORLDS, 25, 2), kind)
        found = index.raycast(points, ways, 12.0, out=out)
        assert all(one is given for one, given in zip(found, out, strict=True))
        for one, right in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, right.astype(one.dtype))
        found = index.raycast(points, ways, 12.0, out=out[:2], normals=False)
        assert found.distances is out[1]
        assert found.normals.shape == (WORLDS, 25, 0)
    short = index.raycast(points, ways, 12.0, dtype=np.float32, normals=False)
    np.testing.assert_array_equal(short.distances, wanted.distances.astype(np.float32))
    with pytest.raises(ValueError, match="out= is for a batch of rays"):
        index.raycast([0, 0], [1, 0], out=out)


def test_a_ground_that_all_worlds_share():
    ball, ground, wall = bp.Circle(0, 2, 1), bp.Capsule(-9, 0, 9, 0, 0), bp.Box(3, 0, 1, 5).rotated(10)
    arena = bp.ShapeIndex([ball, ball, wall, ground], env=[0, 1, 1, -1])
    apart = {
        0: (bp.ShapeIndex([ball, ground]), [0, 3]),
        1: (bp.ShapeIndex([ball, wall, ground]), [1, 2, 3]),
        2: (bp.ShapeIndex([ground]), [3]),
        -1: (bp.ShapeIndex([ball, ball, wall, ground]), [0, 1, 2, 3]),
    }
    chance, env = np.random.default_rng(1), np.repeat([0, 1, 2, -1], 20)
    points, ways = chance.uniform(-5, 5, (80, 2)), chance.normal(size=(80, 2))
    hits, near = arena.raycast(points, ways, env=env), arena.nearest(points, env=env)
    around, inside = (
        arena.query_radius(points, 1.5, env=env),
        arena.query_box(np.hstack((points, points + 1)), env=env),
    )
    for row, world in enumerate(env.tolist()):
        alone, ids = apart[world]
        hit, one = alone.raycast(points[row], ways[row]), alone.nearest(points[row])
        assert hits.ids[row] == (-1 if hit is None else ids[hit.id])
        assert (near.ids[row], near.distances[row]) == (ids[one.ids], one.distances)
        assert around[around[:, 0] == row, 1].tolist() == [
            ids[i] for i in alone.query_radius(points[row], 1.5)
        ]
        box = [*points[row], *(points[row] + 1)]
        assert inside[inside[:, 0] == row, 1].tolist() == [ids[i] for i in alone.query_box(box)]


def test_what_is_no_shape_is_named():
    with pytest.raises(TypeError, match=r"shapes must be several, as \[shape\]; got Circle"):
        bp.ShapeIndex(bp.Circle(0, 0, 1))
    with pytest.raises(KeyError, match="no shape has the id 3"):
        bp.ShapeIndex([bp.Circle(0, 0, 1)]).shape(3)


def test_numbers_beyond_ids_ignore_nothing():
    index = bp.ShapeIndex([bp.Circle(0, 0, 1), bp.Circle(5, 0, 1)])
    for none in (2**32, -(2**32), np.uint64(2**32 + 1)):
        assert index.raycast([-3, 0], [1, 0], ignore=none) == (0, 2.0, (-1.0, 0.0))
        assert index.nearest([-3, 0], ignore=none).ids == 0


@pytest.mark.parametrize("count", [1, 16, 17, 300])
def test_few_queries_and_many_and_tuples_find_the_same(count):
    random = np.random.default_rng(count)
    places = random.integers(0, 60, (50, 2)).tolist()
    makers = (
        lambda x, y: bp.Box(x, y, 5, 3),
        lambda x, y: bp.Circle(x, y, 3),
        lambda x, y: bp.Capsule(x, y, x + 6, y, 0),
        lambda x, y: bp.Capsule(x, y, x + 2, y + 5, 1),
        lambda x, y: bp.Box(x, y, 4, 6).rotated(30),
    )
    shapes = [makers[k % 5](x, y) for k, (x, y) in enumerate(places)]
    plain, worlds = bp.ShapeIndex(shapes), bp.ShapeIndex(shapes, env=[0] * len(shapes))
    points = random.integers(0, 60, (count, 2)).astype(float)
    boxes = np.hstack((points, points + random.integers(0, 9, (count, 2))))
    ways, radii = random.integers(-2, 3, (count, 2)) + 0.5, random.integers(0, 9, count).astype(float)
    asks = [
        ("query_box", (boxes,)),
        ("query_radius", (points, radii)),
        ("query_radius", (points, 4.0)),
        ("raycast", (points, ways, 12.0)),
        ("nearest", (points,)),
    ]
    for name, given in asks:
        found, expected = (
            getattr(plain, name)(*given),
            getattr(worlds, name)(*given, env=np.zeros(count, np.int64)),
        )
        np.testing.assert_equal(found, expected)
        for k in range(min(count, 20)):
            one = [part[k] if np.ndim(part) else part for part in given]
            same = getattr(worlds, name)(*one, env=0)
            for kind in (tuple, list, np.array, lambda row: tuple(map(Fraction, row))):
                single = getattr(plain, name)(*(kind(x.tolist()) if np.ndim(x) else x for x in one))
                assert type(single) is type(same)
                np.testing.assert_equal(single, same)
                if name == "nearest":
                    np.testing.assert_equal(
                        (single.points, single.normals), (found.points[k], found.normals[k])
                    )
                    np.testing.assert_equal((single.points, single.normals), (same.points, same.normals))


def test_a_ray_and_an_array_of_one_way_are_an_array():
    index = bp.ShapeIndex([bp.Circle(5, 0, 1)])
    for origin, way in (((0, 0), np.array([[1.0, 0.0]])), (np.zeros((1, 2)), (1, 0))):
        assert index.raycast(origin, way).distances.tolist() == [4.0]


def test_what_is_as_far_as_a_ray_is_long_is_hit():
    for shape in (bp.Box(5, -1, 1, 2), bp.Circle(6, 0, 1)):
        index = bp.ShapeIndex([shape])
        assert index.raycast((0.0, 0.0), (1.0, 0.0), 5.0).distance == 5.0
        assert index.raycast([[0.0, 0.0]] * 2, [1.0, 0.0], 5.0).ids.tolist() == [0, 0]
        assert index.raycast((0.0, 0.0), (1.0, 0.0), 4.9) is None


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("query_box", [np.array([[3.0, 0, 1, 1]])]),
        ("query_box", [(3, 0, 1, 1)]),
        ("query_radius", [(0, 0), -1.0]),
        ("query_radius", [np.zeros((2, 2)), np.array([1.0, np.nan])]),
        ("raycast", [(0, 0), (0, 0)]),
        ("nearest", [(0, np.nan)]),
    ],
)
def test_bad_questions_of_few_are_refused(query, given):
    with pytest.raises(ValueError, match=r"min_x = 3|must not be negative|must be finite|points nowhere|nan"):
        getattr(bp.ShapeIndex([bp.Box(0, 0, 1, 1)]), query)(*given)
