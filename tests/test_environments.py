"""Indexes of many worlds: every answer is that of an index for each world."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest
import space_oracle as oracle

import broadphase as bp

NAMES = bp.INDEXES


def make(name, dim, **options):
    own = {"bounds": (0,) * dim + (20,) * dim, "cell_size": 2} if name == "uniform_grid" else {}
    return bp.make_index(name, dim=dim, **own, **options)


@pytest.mark.parametrize("name", NAMES)
def test_a_life_of_many_worlds(name, each, tmp_path):
    def check(dim, dtype, period):
        random = np.random.default_rng(3)
        period = period and [period] * dim
        index = make(name, dim, dtype=dtype, period=period)

        def some(n):
            low = random.random((n, dim)) * 20
            return np.hstack((low, low + random.random((n, dim)) * 3)).astype(dtype)

        boxes, envs, sets, seen = some(60), random.integers(-1, 4, 60), random.integers(1, 4, 60), set()
        index.insert_many(boxes[:20], env=envs[:20], category=sets[:20])
        for row in range(20, 24):
            index.insert(boxes[row], env=int(envs[row]), category=int(sets[row]))
        index.insert_many(boxes[24:], env=envs[24:], category=sets[24:])
        for step in range(5):
            if step == 1:
                boxes[:5] = some(5)
                index.move_many(np.arange(5), boxes[:5])
            elif step == 2:
                index.remove(9)
                boxes[9], envs[9], sets[9] = some(1)[0], 0, 1
                assert index.insert(boxes[9]) == 9
            elif step == 3:
                boxes = some(60)
                index.update(np.concatenate((boxes, some(0))))
                boxes[30:33] = some(3)
                for row in range(30, 33):
                    index.move(row, boxes[row])
            elif step == 4:
                index = pickle.loads(pickle.dumps(copy.deepcopy(index)))
                index.save(tmp_path / "worlds")
                index = type(index).load(tmp_path / "worlds")
            index.validate()
            np.testing.assert_array_equal(index.envs, envs)
            wanted = oracle.pairs(boxes, period, env=envs)  # whose masks let all pass
            np.testing.assert_array_equal(index.pairs(), wanted)
            began, stayed, _ = index.changes()
            assert set(map(tuple, stayed.tolist())) <= seen
            seen = set(map(tuple, wanted.tolist()))
            assert len(began) + len(stayed) == len(seen)
            compare_with_each_alone(index, boxes, envs, sets, np.arange(60), random, n=20)

    each(check, product([2, 3], [np.float32, np.float64], [None, 20.0]), of=8, turn=NAMES.index(name))


def worlds_of_all_kinds(dim, random):
    """Boxes of worlds in which an answer is easily missed, and the environment of each."""
    low = random.random((400, dim)) * 20
    some = np.hstack((low, low + random.random((400, dim))))
    corners = random.integers(0, 4, (40, dim))
    ties = np.hstack((corners, corners + random.integers(0, 3, (40, dim)))).astype(float)
    walls = np.repeat([[-np.inf] * dim + [np.inf] * dim], 4, axis=0)
    walls[0, 0], walls[1, dim], walls[2, :dim] = 3.0, -2.0, 1e38
    far_apart = np.tile(ties, (50, 1)) + np.repeat(random.integers(0, 50, (50, 1)), 40, axis=0)
    kinds = [
        *(some[:1], some[:16], some[:17], some, ties, np.tile(ties, (5, 1)), far_apart),
        *(np.repeat(low[:17], 2, axis=0).reshape(17, 2 * dim), np.zeros((20, 2 * dim)), some[:33] + 1e7),
        *(some[:20] * 1e30, some[:130] * 1e60, some[:20] * 1e-42, some[:40] * 1e-22, some[:200] * 1e-300),
        *(np.concatenate((walls, some[:14])), np.concatenate((some[:16], some[:1] * 1e25))),
    ]
    return np.concatenate(kinds), np.repeat(3 * np.arange(len(kinds)) - 7, [len(kind) for kind in kinds])


def questions_near(boxes, ids, dtype, random):
    """Points, ways and lengths, near and on what is in a world; many ways go along an axis, or nearly."""
    dim, n = boxes.shape[1] // 2, len(ids)
    edges = np.nan_to_num(boxes[ids].astype(float), posinf=5, neginf=-5)
    size = np.abs(edges[:, dim:] - edges[:, :dim]).max(axis=1, keepdims=True)
    on_edge = np.where(random.random((n, dim)) < 0.5, edges[:, :dim], edges[:, dim:])
    near = on_edge + random.normal(size=(n, dim)) * size * 3
    with np.errstate(over="ignore"):
        points = np.where(random.random((n, 1)) < 0.3, on_edge, near).astype(dtype).astype(float)
    points = np.nan_to_num(points, posinf=1e30, neginf=-1e30)
    ways = np.where(random.random((n, 1)) < 0.3, on_edge - points, random.normal(size=(n, dim)))
    for share, special in ((0.2, 0.0), (0.05, -0.0), (0.05, 1e-39), (0.05, 1e-200)):
        ways[random.random((n, dim)) < share] = special
    ways[~ways.any(axis=1)] = 1.0
    lengths = np.where(random.random(n) < 0.3, np.inf, np.abs(ways).max(axis=1))
    return points, ways, lengths, size[:, 0]


def test_hard_worlds_answer_as_each_alone(each):
    def check(dim, dtype, touching, gaps, seed):
        random = np.random.default_rng(seed)
        boxes, envs = worlds_of_all_kinds(dim, random)
        order = random.permutation(len(boxes))
        with np.errstate(over="ignore"):
            boxes = boxes[order].astype(dtype)
        envs = envs[order] * gaps
        sets, alive = random.integers(1, 4, len(boxes)), np.ones(len(boxes), bool)
        index = bp.BoxTree(dim=dim, dtype=dtype, touching=touching)
        index.insert_many(boxes, env=envs, category=sets)
        for step in range(4):
            if step == 1:
                some = random.choice(len(boxes), 40, replace=False)
                boxes[some] = boxes[random.permutation(some)]
                index.move_many(some, boxes[some])
            elif step == 2:
                gone = np.sort(random.choice(len(boxes), 30, replace=False))
                index.remove_many(gone)
                envs[gone[:9]] = random.choice(envs, 9)
                alive[gone[9:]] = False
                index.insert_many(boxes[gone[:9]], env=envs[gone[:9]], category=sets[gone[:9]])
            elif step == 3:
                with np.errstate(over="ignore"):
                    boxes += np.tile(random.normal(size=(len(boxes), dim)), 2).astype(dtype)
                index.update(boxes[alive])
            index.validate()
            compare_with_each_alone(index, boxes, envs, sets, np.flatnonzero(alive), random)

    each(check, product([2, 3], [np.float32, np.float64], [True, False], [1, 1 << 40], range(4)), of=13)


def test_rays_nearly_along_an_axis_hit_what_is_very_far_away():
    for dim in (2, 3):
        near, far = [0.0] * (dim - 1), [0.1] * (dim - 1)
        index = bp.Strips(dim=dim)
        index.insert_many([[2e38, *near, 3e38, *far], [1e38, *near, 1.1e38, *far]], env=[5, 5])
        hits = index.raycast([0.0] + [-0.05] * (dim - 1), [[1.0] + [1e-39] * (dim - 1)] * 2, env=[5, 6])
        assert hits.ids.tolist() == [1, -1]
        assert hits.distances.tolist() == [1e38, np.inf]
        index.insert([3.4e39, *near, 3.5e39, *far], env=7)
        index.insert([3.3e39, *near, 3.6e39, *far], env=7)
        assert index.raycast([0.0] + [0.05] * (dim - 1), [1.0] + [0.0] * (dim - 1), env=7).id == 3


def compare_with_each_alone(index, boxes, envs, sets, ids, random, n=60):
    dim, rules = index.dim, {"mask": 2} if random.random() < 0.5 else {}
    asked = random.choice(np.append(np.unique(envs[ids]), [99, -1]), n)
    near = np.array([random.choice(ids[envs[ids] == env]) if env in envs[ids] else 0 for env in asked])
    points, ways, lengths, size = questions_near(boxes, near, index.dtype, random)
    if index.period is not None:  # where no ray goes around for ever
        lengths = np.minimum(lengths, 30.0)
    with np.errstate(over="ignore"):
        queries = np.hstack((points, points + size[:, None] * random.random((n, dim)))).astype(index.dtype)
    queries[0, :dim], queries[0, dim:] = -np.inf, np.inf
    ignored = np.where(random.random(n) < 0.5, near, -1)
    found = {
        "box": index.query_box(queries, env=asked, **rules),
        "point": index.query_point(points, env=asked, **rules),
        "radius": index.query_radius(points, size, env=asked, **rules),
    }
    nearest = index.nearest(points, 3, env=asked, **rules)
    firsts = index.raycast(points, ways, lengths, env=asked, **rules)
    others = index.raycast(points, ways, lengths, env=asked, ignore=ignored, **rules)
    along = index.query_ray(points, ways, lengths, env=asked, **rules)
    worlds = {}
    for env in set(asked.tolist()):
        own = ids[oracle.same_env(envs[ids], env)]
        alone = bp.BruteForce(dim=dim, dtype=index.dtype, touching=index.touching, period=index.period)
        alone.insert_many(boxes[own], category=sets[own])
        worlds[env] = own, alone
    for k, env in enumerate(asked.tolist()):
        own, alone = worlds[env]
        ray = points[k], ways[k], lengths[k]
        wanted = {
            "box": alone.query_box(queries[k], **rules),
            "point": alone.query_point(points[k], **rules),
            "radius": alone.query_radius(points[k], size[k], **rules),
        }
        for name, rows in found.items():
            assert np.array_equal(rows[rows[:, 0] == k, 1], own[wanted[name]]), name
        assert np.array_equal(index.query_box(queries[k], env=env, **rules), own[wanted["box"]])
        one = index.query_radius(points[k], size[k], env=env, **rules)
        assert np.array_equal(one, own[wanted["radius"]])
        held = alone.nearest(points[k], 3, **rules)
        one = index.nearest(points[k], 3, env=env, **rules)
        for got in (nearest.ids[k][nearest.ids[k] >= 0], one.ids):
            assert np.array_equal(got, own[held.ids])
        assert np.array_equal(one.distances, held.distances)
        hits = alone.query_ray(*ray, **rules)
        mine = along.rows[:, 0] == k
        assert np.array_equal(along.rows[mine, 1], own[hits.ids])
        assert np.array_equal(along.distances[mine], hits.distances)
        assert np.array_equal(along.normals[mine], hits.normals)
        left = np.flatnonzero(own[hits.ids] != ignored[k])[:1]
        for got, first in ((firsts, np.arange(len(hits.ids))[:1]), (others, left)):
            assert got.ids[k] == (own[hits.ids[first[0]]] if len(first) else -1)
            assert got.distances[k] == (hits.distances[first[0]] if len(first) else np.inf)
            assert got.normals[k].tolist() == (hits.normals[first[0]].tolist() if len(first) else [0.0] * dim)
        hit = index.raycast(*ray, env=env, **rules)
        assert ((-1, np.inf) if hit is None else hit[:2]) == (firsts.ids[k], firsts.distances[k])


def test_joins_and_sweeps_stay_in_their_environment():
    a, b = bp.Strips(), bp.BoxTree()
    a.insert_many([[0, 0, 1, 1]] * 3, env=[0, 1, 2])
    b.insert_many([[0, 0, 1, 1]] * 2)
    assert a.join(b).tolist() == [[0, 0], [0, 1]]
    assert b.join(a).tolist() == [[0, 0], [1, 0]]
    a.insert([5, 0, 6, 1], env=2)
    found = a.swept_pairs([[10, 0, 11, 1]] * 3 + [[5, 0, 6, 1]])
    assert (found.pairs.tolist(), found.times.tolist()) == ([[2, 3]], [0.4])


def test_without_environments_all_is_environment_0():
    index = bp.BoxTree()
    index.insert_many([[0, 0, 1, 1], [5, 0, 6, 1]], env=[0, 0])
    assert type(index) is bp.BoxTree
    assert index.envs.tolist() == [0, 0]
    assert index.query_box([0, 0, 9, 9], env=0).tolist() == [0, 1]
    assert index.query_box([0, 0, 9, 9], env=1).tolist() == []
    assert index.query_point([0.5, 0.5], env=[0, 1, 0]).tolist() == [[0, 0], [2, 0]]
    index.insert([0, 0, 1, 1], env=-3)
    assert isinstance(index, bp.BoxTree)
    assert index.query_box([0, 0, 9, 9]).tolist() == [0, 1]
    assert index.raycast([-1, 0.5], [1, 0], env=-3).id == 2
    index.clear()
    assert index.insert([0, 0, 1, 1]) == 0
    assert index.envs.tolist() == [0]


def test_bad_environments_are_named_and_change_nothing():
    index = bp.BoxTree()
    index.insert([0, 0, 1, 1], env=4)
    with pytest.raises(ValueError, match="env must hold one number for each of the 2 rows"):
        index.insert_many([[0, 0, 1, 1]] * 2, env=[1, 2, 3])
    with pytest.raises(TypeError, match="env must be whole numbers"):
        index.insert([0, 0, 1, 1], env=0.5)
    with pytest.raises(ValueError, match="env must hold one number for each of the 2 rows"):
        index.query_point([[0, 0], [1, 1]], env=[4])
    assert len(index) == 1
    assert index.pairs().tolist() == []


def test_an_insert_that_fails_leaves_every_box_in_its_world(monkeypatch):
    index = bp.BoxTree()
    index.insert_many([[0, 0, 1, 1]] * 3, env=[0, 7, 9])
    with monkeypatch.context() as patched:
        patched.setattr(type(index._space), "enter", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            index.insert_many([[0, 0, 1, 1]] * 2, env=[7, 9])
    assert index.envs.tolist() == [0, 7, 9]
    index.insert_many([[0, 0, 1, 1]] * 2)
    assert index.envs.tolist() == [0, 7, 9, 0, 0]


def test_arrays_of_worlds_are_environments():
    low = np.random.default_rng(40).random((6, 50, 3)) * 4
    boxes = np.concatenate((low, low + 0.5), axis=2)
    rows, env = boxes.reshape(-1, 6), np.repeat(np.arange(6), 50)
    right = bp.pairs(rows, env=env)
    assert len(right)
    np.testing.assert_array_equal(bp.pairs(boxes), right)
    assert bp.count_pairs(boxes) == len(right)
    some = boxes[:, :9]
    joined = bp.join(some.reshape(-1, 6), rows, env=(np.repeat(np.arange(6), 9), env))
    np.testing.assert_array_equal(bp.join(some, boxes), joined)

    index = bp.BoxTree(dim=3)
    index.insert_many(np.zeros_like(boxes))
    index.update(boxes)
    np.testing.assert_array_equal(index.envs, env)
    np.testing.assert_array_equal(index.pairs(), right)
    np.testing.assert_array_equal(index.query_box(some), joined)
    places, own = some[..., :3], np.repeat(np.arange(6), 9)
    flat = places.reshape(-1, 3)
    np.testing.assert_array_equal(index.query_point(places), index.query_point(flat, env=own))
    np.testing.assert_array_equal(index.query_radius(places, 0.4), index.query_radius(flat, 0.4, env=own))
    near, wanted = index.nearest(places, 3), index.nearest(flat, 3, env=own)
    np.testing.assert_array_equal(near.ids, wanted.ids.reshape(6, 9, 3))
    np.testing.assert_array_equal(near.distances, wanted.distances.reshape(6, 9, 3))
    ways = np.ones_like(places)
    hits, wanted = index.raycast(places, ways, 3.0), index.raycast(flat, np.ones(3), 3.0, env=own)
    for found, right in zip(hits, wanted, strict=True):
        np.testing.assert_array_equal(found, right.reshape(6, 9, *right.shape[1:]))
    for found, right in zip(
        index.query_ray(places, ways, 3.0), index.query_ray(flat, np.ones(3), 3.0, env=own), strict=True
    ):
        np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("name", ["box_tree", "strips", "brute_force"])
@pytest.mark.parametrize("period", [None, (9, 8)])
def test_several_axes_are_a_batch_where_there_are_no_environments(name, period):
    """Robots and their rays: the answer has the axes of the question, as if asked row by row."""
    random = np.random.default_rng(7)
    low = random.uniform(0, 6, (30, 2))
    index = bp.make_index(name, period=period)
    index.insert_many(np.hstack((low, low + 0.5)))
    robots, ways = random.uniform(0, 8, (4, 1, 2)), random.normal(size=(4, 5, 2))
    reach, own = random.uniform(1, 9, (4, 1)), random.integers(-1, 30, (4, 1))
    rows = [
        (robots[i, 0], ways[i, j], float(reach[i, 0]), int(own[i, 0])) for i in range(4) for j in range(5)
    ]
    for ignore in (None, own):
        hits = index.raycast(robots, ways, reach, ignore=ignore)
        assert (hits.ids.shape, hits.distances.shape, hits.normals.shape) == ((4, 5), (4, 5), (4, 5, 2))
        for at, (origin, way, far, one) in enumerate(rows):
            hit = index.raycast(origin, way, far, ignore=None if ignore is None else one)
            found = hits.ids[at // 5, at % 5], hits.distances[at // 5, at % 5], *hits.normals[at // 5, at % 5]
            assert found == ((-1, np.inf, 0, 0) if hit is None else (hit.id, hit.distance, *hit.normal))
    assert (hits.ids >= 0).any()
    from_one = index.raycast((1, 1), ways.tolist(), 5.0).ids
    assert from_one.ravel().tolist() == index.raycast(np.ones((20, 2)), ways.reshape(-1, 2), 5.0).ids.tolist()
    places = random.uniform(0, 8, (2, 3, 4, 2))
    flat = places.reshape(-1, 2)
    assert index.nearest(places, 3).ids.tolist() == index.nearest(flat, 3).ids.reshape(2, 3, 4, 3).tolist()
    assert index.query_point(places).tolist() == index.query_point(flat).tolist()
    radii = random.uniform(0, 2, (3, 1))
    far = np.broadcast_to(radii, (2, 3, 4)).ravel()
    assert index.query_radius(places, radii).tolist() == index.query_radius(flat, far).tolist()
    boxes = np.concatenate((places, places + 0.3), axis=-1)
    assert index.query_box(boxes).tolist() == index.query_box(boxes.reshape(-1, 4)).tolist()
    found = index.query_ray(robots, ways, reach)
    wanted = index.query_ray(np.repeat(robots[:, 0], 5, axis=0), ways.reshape(-1, 2), np.repeat(reach, 5))
    assert all(np.array_equal(own, other) for own, other in zip(found, wanted, strict=True))


def test_points_and_worlds_keep_the_axes_of_a_question():
    random = np.random.default_rng(8)
    places, radii = random.uniform(0, 8, (2, 3, 4, 2)), random.uniform(0, 2, (3, 1))
    flat, far = places.reshape(-1, 2), np.broadcast_to(radii, (2, 3, 4)).ravel()
    points = bp.PointIndex(random.uniform(0, 8, (50, 2)), period=(8, None))
    for found, right in zip(points.nearest(places, [1, 3]), points.nearest(flat, [1, 3]), strict=True):
        np.testing.assert_array_equal(found, right.reshape(2, 3, 4, 2))
    for found, right in zip(points.neighbors(places, radii), points.neighbors(flat, far), strict=True):
        np.testing.assert_array_equal(found, right)
    assert points.neighbors(places, 1.0).shape == (24, 50)
    with pytest.raises(ValueError, match=r"points must have shape \(\.\.\., 2\); got shape \(2, 3, 4, 3\)"):
        points.nearest(np.zeros((2, 3, 4, 3)), 1)
    with pytest.raises(ValueError, match=r"points has shape \(2, 3, 4, 2\) and r has shape \(5, 1\)"):
        points.neighbors(places, np.ones((5, 1)))
    world = bp.World()
    world.add_many([bp.Box(x, y, 0.5, 0.5) for x, y in random.uniform(0, 8, (30, 2))])
    ways, own = random.normal(size=(2, 3, 1, 2)), random.integers(-1, 30, (3, 4))
    hits = world.raycast(places, ways, radii, ignore=own)
    right = world.raycast(
        flat,
        np.broadcast_to(ways, places.shape).reshape(-1, 2),
        far,
        ignore=np.broadcast_to(own, (2, 3, 4)).ravel(),
    )
    for found, wanted in zip(hits, right, strict=True):
        np.testing.assert_array_equal(found, wanted.reshape(2, 3, 4, *wanted.shape[1:]))
    assert (hits.ids >= 0).any()
    for found, wanted in zip(world.nearest(places, 3), world.nearest(flat, 3), strict=True):
        np.testing.assert_array_equal(found, wanted.reshape(2, 3, 4, 3))
    boxes = np.concatenate((places, places + 0.3), axis=-1)
    for found, wanted in (
        (world.query_point(places), world.query_point(flat)),
        (world.query_radius(places, radii), world.query_radius(flat, far)),
        (world.query_box(boxes), world.query_box(boxes.reshape(-1, 4))),
    ):
        np.testing.assert_array_equal(found, wanted)


def test_the_first_of_several_axes_is_the_environment_whichever_argument_has_it():
    index = bp.BoxTree()
    index.insert_many([[4, -1, 5, 1], [2, -1, 3, 1]], env=[0, 1])
    ways = np.broadcast_to((1.0, 0.0), (2, 3, 2))
    for origin in ((0, 0), np.zeros((2, 1, 2)), np.zeros((2, 3, 2))):
        hits = index.raycast(origin, ways)
        assert hits.ids.tolist() == [[0] * 3, [1] * 3]
        assert hits.distances.tolist() == [[4] * 3, [2] * 3]
    assert index.raycast((0, 0), ways[0]).ids.tolist() == [0] * 3
    assert index.nearest(np.zeros((3, 1, 2))).ids.tolist() == [[[0]], [[1]], [[-1]]]
    assert index.query_radius((0, 0), [[3], [3]]).tolist() == [[1, 1]]


def test_what_belongs_to_rows_of_worlds_has_their_shape():
    random = np.random.default_rng(41)
    low = random.random((4, 30, 2)) * 3
    boxes, ways, radii = np.concatenate((low, low + 0.5), axis=2), random.normal(size=(4, 30, 2)), low[..., 0]
    static, sets = random.random((4, 30)) < 0.3, random.integers(1, 8, (4, 30))
    rules = {"static": static, "categories": sets, "masks": sets}
    flat = {name: values.ravel() for name, values in rules.items()}
    right = bp.pairs(boxes, **flat)
    np.testing.assert_array_equal(bp.pairs(boxes, **rules), right)
    index = bp.BoxTree()
    index.insert_many(boxes, static=static, category=sets, mask=sets)
    np.testing.assert_array_equal(index.pairs(), right)
    for one, options in ((boxes, rules), (low, {"radii": radii})):
        found = bp.swept_pairs(one, ways, **options)
        options = {name: values.ravel() for name, values in options.items()}
        np.testing.assert_array_equal(found.pairs, bp.swept_pairs(one, ways.reshape(-1, 2), **options).pairs)
    others = low[:, :7]
    for r, rows, more in (
        (radii, radii.ravel(), {}),
        ((radii, others[..., 1]), (radii.ravel(), others[..., 1].ravel()), {"other": others}),
    ):
        found, right = (bp.neighbors(low, each, **more) for each in (r, rows))
        np.testing.assert_array_equal(found.edge_index(), right.edge_index())
        assert len(right)
    for period in (None, [(9, 9)] * 4):
        found, right = bp.VerletList(radii, 0.5, period=period), bp.neighbors(low, radii, period=period)
        np.testing.assert_array_equal(found.neighbors(low).edge_index(), right.edge_index())
    with pytest.raises(ValueError, match=r"one entry for each of the 120 boxes; got shape \(30, 4\)"):
        bp.pairs(boxes, static=static.T)


def test_arrays_of_worlds_that_do_not_fit_are_refused():
    boxes = np.zeros((2, 3, 4))
    index = bp.BruteForce()
    for call in (
        lambda: bp.pairs(boxes, env=[0] * 6),
        lambda: index.insert_many(boxes, env=1),
        lambda: index.query_box(boxes, env=0),
        lambda: bp.join(boxes, boxes, env=(0, 0)),
    ):
        with pytest.raises(ValueError, match="first axis is the environment; leave env= out"):
            call()
    for call, widths in (
        (lambda: bp.pairs(np.zeros((100, 2, 3))), r"4\) or \(worlds, n, 6"),
        (lambda: index.insert_many(np.zeros((100, 2, 3))), r"4\) or \(worlds, n, 6"),
        (lambda: bp.neighbors(np.zeros((100, 2, 4)), 1), r"2\) or \(worlds, n, 3"),
    ):
        with pytest.raises(ValueError, match=rf"\(worlds, n, {widths}\).*; got shape \(100, 2, [34]\)"):
            call()
    with pytest.raises(ValueError, match=r"may be the lattice vectors of one cell for all, or the lengths"):
        bp.neighbors(np.zeros((3, 4, 3)), 1, period=np.eye(3) * 5 + 1)
    for period in (np.eye(3) * 5, np.eye(3) * 5 + 1):
        assert len(bp.neighbors(np.zeros((2, 4, 3)), 1, period=period)) == 12
    with pytest.raises(ValueError, match="give both as"):
        bp.join(boxes, boxes[:1])
    with pytest.raises(ValueError, match=r"origin has shape \(2, 3, 2\) and direction has shape \(2, 4, 2\)"):
        index.raycast(boxes[..., :2], np.ones((2, 4, 2)))
    with pytest.raises(ValueError, match=r"point must have shape \(\.\.\., 2\); got shape \(2, 3"):
        index.nearest(boxes)
    assert len(index) == 0


class TensorOfMemory:
    """An array of another library: NumPy sees its memory."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("kind", [float, np.float32])
@pytest.mark.parametrize("name", ["box_tree", "brute_force"])
@pytest.mark.parametrize("env", [None, np.repeat(np.arange(4), 5)], ids=["one world", "four"])
def test_rays_are_written_where_the_caller_wants_them(name, env, kind):
    chance = np.random.default_rng(3)
    low = chance.random((20, 2)) * 9
    index = bp.make_index(name)
    index.insert_many(np.hstack((low, low + 1)), env=env)
    origins, ways = chance.random((4, 1, 2)) * 9, chance.normal(size=(4, 30, 2))
    usual = index.raycast(origins, ways, 8.0, ignore=np.full((4, 30), 3))
    for tensor in (lambda array: array, TensorOfMemory):
        arrays = np.empty((4, 30), np.int32), np.empty((4, 30), kind), np.empty((4, 30, 2), kind)
        out = tuple(map(tensor, arrays))
        hits = index.raycast(origins, ways, 8.0, ignore=np.full((4, 30), 3), out=out)
        assert [*map(id, hits)] == [*map(id, out)]
        for got, all_digits in zip(arrays, usual, strict=True):
            assert np.array_equal(got, all_digits.astype(got.dtype))
    few = index.raycast(origins, ways, 8.0, ignore=np.full((4, 30), 3), normals=False, dtype=kind)
    assert few.normals.shape == (4, 30, 0)
    assert few.distances.dtype == kind
    assert np.array_equal(few.distances, arrays[1])
    assert np.array_equal(few.ids, arrays[0])
    again = index.raycast(origins, ways, 8.0, normals=False, out=out[:2])
    assert again.normals.shape == (4, 30, 0)
    assert again.ids is out[0]


def test_arrays_that_cannot_be_written_are_refused():
    index = bp.BoxTree()
    index.insert([2, -1, 3, 1])
    rays = np.zeros((4, 2)), np.ones((4, 2))
    ids, distances, normals = np.full(4, 7, np.int32), np.zeros(4), np.zeros((4, 2))
    for out, said in (
        ((ids, distances), "out must be a tuple of arrays \\(ids, distances, normals\\)"),
        (([1] * 4, distances, normals), "out, ids must be an array; got list"),
        ((ids.astype(float), distances, normals), "ids int32 .* got ids float64"),
        ((ids, distances, normals.astype(np.float32)), "both alike; got .* normals float32"),
        ((ids, distances, np.empty((2, 4)).T), "out, normals must be writable and lie in one piece"),
        ((ids, distances[:3], normals), "out, distances must have shape \\(4,\\); got \\(3,\\)"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            index.raycast(*rays, out=out)
    for more in ({"dtype": float}, {"origin": rays[0][0], "direction": rays[1][0]}):
        with pytest.raises(ValueError, match="out= is for a batch of rays"):
            index.raycast(
                **{"origin": rays[0], "direction": rays[1], "out": (ids, distances, normals)} | more
            )
    with pytest.raises(ValueError, match="dtype must be float32 or float64; got int64"):
        index.raycast(*rays, dtype=np.int64)
    assert (ids == 7).all()


@pytest.mark.parametrize("env", [None, np.arange(20) % 3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rays_are_the_same_numbers_in_any_float(env, kind):
    random = np.random.default_rng(5)
    low = random.random((20, 2)) * 9
    index = bp.BoxTree(dtype=kind)
    index.insert_many(np.hstack((low, low + 1)), env=env)
    places, ways = (random.random((20, 2)).astype(np.float32) for _ in range(2))
    wanted = index.raycast(places.astype(float), ways.astype(float), 9.0, env=env)
    assert (wanted.ids >= 0).any()
    for at, to in (
        (places, ways),
        (places, ways.astype(float)),
        (places.astype(">f8"), ways[::-1].copy()[::-1]),
    ):
        for found, right in zip(index.raycast(at, to, 9.0, env=env), wanted, strict=True):
            np.testing.assert_array_equal(found, right)
    places[3, 1], ways[4] = np.nan, 0
    with pytest.raises(ValueError, match=r"origin\[3\]"):
        index.raycast(places, ways, env=env)
    with pytest.raises(ValueError, match=r"direction\[4\] = \[0.0, 0.0\] points nowhere"):
        index.raycast(places[0], ways, env=env)


@pytest.mark.parametrize("count", [0, 3])
def test_the_nearest_of_few_that_count_among_many_of_an_environment(count):
    """Those that do not count are passed over by nodes: all were kept, 19 ms for each point."""
    rng = np.random.default_rng(count)
    places, points = rng.random((6_000, 2)) * 100, rng.random((40, 2)) * 100
    category = np.full(6_000, 2)
    category[:count] = 1
    index = bp.make_index()
    index.insert_many(np.hstack((places, places)), category=category, env=np.arange(6_000) % 2)
    ids, _ = index.nearest(points, k=2, category=None, mask=1, env=np.zeros(40, int))
    ours = np.arange(count)[::2]
    far = np.hypot(*(points[:, None] - places[ours]).transpose(2, 0, 1))
    expected = np.full((40, 2), -1)
    expected[:, : len(ours)] = ours[np.argsort(far, axis=1)]
    assert ids.tolist() == expected.tolist()
