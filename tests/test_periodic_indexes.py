"""Every index with a period, through many changes: all its results against images in plain NumPy."""

import copy
import math
import pickle
from itertools import product

import numpy as np
import pytest
import space_oracle as oracle
from cases import machine_settings
from hypothesis import given
from hypothesis import strategies as st

import broadphase as bp

NAMES = bp.INDEXES


def make(name, dim, **options):
    own = {"bounds": (0,) * dim + (10,) * dim, "cell_size": 2} if name == "uniform_grid" else {}
    return bp.make_index(name, dim=dim, **own, **options)


def check_questions(index, inside, random, dim, dtype, lattice):
    """Boxes, points, circles, the nearest and rays, alone and in batches."""
    period, touching = index.period, index.touching
    queries = oracle.scene(random, 5, dim, dtype, lattice)
    found = np.argwhere(oracle.meet(oracle.carried(queries, period, touching), inside, period, touching))
    np.testing.assert_array_equal(index.query_box(queries), found)
    np.testing.assert_array_equal(index.query_box(queries[0]), found[found[:, 0] == 0, 1])
    points = random.uniform(-12, 22, (5, dim)).astype(dtype)
    points = np.round(points) if lattice else points
    at = oracle.carried(np.hstack((points, points)), period)
    found = np.argwhere(oracle.meet(at, inside, period, touching))
    np.testing.assert_array_equal(index.query_point(points), found)
    np.testing.assert_array_equal(index.query_point(points[1]), found[found[:, 0] == 1, 1])
    far = oracle.distances(at[:, :dim], inside, period)
    radii = np.round(random.uniform(0, 6, 5))
    near = far <= radii[:, None] if touching else far < radii[:, None]
    np.testing.assert_array_equal(index.query_radius(points, radii), np.argwhere(near))
    np.testing.assert_array_equal(index.query_radius(points[0], radii[0]), np.flatnonzero(near[0]))
    nearest = index.nearest(points, 4)
    for query in range(5):
        order = np.lexsort((np.arange(len(inside)), far[query]))[:4]
        np.testing.assert_array_equal(nearest.ids[query, : len(order)], order)
        np.testing.assert_array_equal(nearest.distances[query, : len(order)], far[query, order])
        np.testing.assert_array_equal(index.nearest(points[query], 4).ids, order)
    check_rays(index, inside, points, random, lattice)


def check_rays(index, inside, points, random, lattice):
    dim, period = index.dim, index.period
    motions = random.normal(size=points.shape)
    if lattice:
        motions = np.sign(np.round(motions))
        motions[~motions.any(axis=1)] = 1
    max_distance = random.uniform(0, 20, len(points))
    plain = bp.BruteForce(dim=dim, touching=index.touching)
    plain.insert_many(inside.astype(float))
    best = [{} for _ in points]
    for image in product(*[[0] if length is None else range(-4, 5) for length in period]):
        moved = points.astype(float) - [k * (length or 0) for k, length in zip(image, period, strict=True)]
        hits = plain.query_ray(moved, motions, max_distance)
        for (ray, box), distance in zip(hits.rows.tolist(), hits.distances.tolist(), strict=True):
            best[ray][box] = min(distance, best[ray].get(box, np.inf))
    all_hits, firsts = (
        index.query_ray(points, motions, max_distance),
        index.raycast(points, motions, max_distance),
    )
    wanted = [
        (ray, box, distance)
        for ray, hits in enumerate(best)
        for box, distance in sorted(hits.items(), key=lambda hit: (hit[1], hit[0]))
    ]
    got = zip(*all_hits.rows.T.tolist(), all_hits.distances.tolist(), strict=True)
    assert list(got) == wanted
    for ray, hits in enumerate(best):
        distance, box = min(((far, box) for box, far in hits.items()), default=(np.inf, -1))
        assert (firsts.ids[ray], firsts.distances[ray]) == (box, distance)
        alone = index.raycast(points[ray], motions[ray], max_distance[ray])
        assert (alone is None) == (box < 0)
        assert alone is None or (alone.id, alone.distance) == (box, distance)
        assert len(index.query_ray(points[ray], motions[ray], max_distance[ray]).ids) == len(hits)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dim", [2, 3])
def test_a_life_in_a_periodic_world(name, dim, each):
    def check(period, dtype, touching, lattice):
        random = np.random.default_rng(dim)
        index = make(name, dim, dtype=dtype, touching=touching, period=period)
        live, seen = oracle.scene(random, 50, dim, dtype, lattice), set()
        index.insert_many(live)
        for step in range(4):
            if step == 1:
                some = random.choice(50, 4, replace=False)
                live[some] = oracle.scene(random, 4, dim, dtype, lattice)
                index.move_many(some, live[some])
            elif step == 2:
                live = oracle.scene(random, 50, dim, dtype, lattice)
                index.update(live)
            elif step == 3:
                live[7] = live[8] + dtype(5)
                index.remove(7)
                assert index.insert(live[7]) == 7
            index.validate()
            inside = oracle.carried(live, period, touching)
            np.testing.assert_array_equal(index.boxes, inside)
            wanted = oracle.pairs(live, period, touching)
            np.testing.assert_array_equal(index.pairs(), wanted)
            began, stayed, _ = index.changes()
            now = set(map(tuple, wanted.tolist()))
            again = {pair for pair in now & seen if step == 3 and 7 in pair}  # a new box with an old id
            assert set(map(tuple, began.tolist())) == now - seen | again
            assert set(map(tuple, stayed.tolist())) == now & seen - again
            seen = now
            if step != 1:
                check_questions(index, inside, random, dim, dtype, lattice)

    cases = product(oracle.periods(dim), [np.float32, np.float64], [True, False], [True, False])
    each(check, cases, of=21, turn=NAMES.index(name) + 7 * (dim == 3))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@machine_settings(6, 1)
def test_any_life_in_a_small_periodic_world(name, data):
    index, live = make(name, 2, period=(10, data.draw(st.sampled_from([None, 4])))), {}
    number = st.integers(-12, 24)
    box = st.tuples(number, number, st.integers(0, 12), st.integers(0, 12)).map(
        lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
    )
    for step in data.draw(st.lists(st.tuples(st.integers(0, 9), box), max_size=12)):
        which, new = step
        if which < 4 or not live:
            live[index.insert(new)] = new
        else:
            chosen = sorted(live)[which % len(live)]
            if which < 7:
                index.move(chosen, new)
                live[chosen] = new
            else:
                index.remove(chosen)
                del live[chosen]
        ids = np.array(sorted(live), np.int32)
        boxes = np.array([live[own] for own in ids.tolist()], float).reshape(-1, 4)
        np.testing.assert_array_equal(index.pairs(), ids[oracle.pairs(boxes, index.period)])
        queries = oracle.carried(np.array([new], float), index.period)
        inside = oracle.carried(boxes, index.period)
        found = np.flatnonzero(oracle.meet(queries, inside, index.period)[0])
        np.testing.assert_array_equal(index.query_box(new), ids[found])
    index.validate()


@pytest.mark.parametrize("name", NAMES)
def test_single_questions_are_answered_as_batches_of_one(name, each):
    """Queries off the boundary take a fast path, wherever they are and whatever boxes came near it since."""

    def check(dim, dtype, touching, seed):
        random = np.random.default_rng(seed)
        index = make(name, dim, dtype=dtype, touching=touching, period=(10, 10, None)[:dim])
        small = random.random((60, dim)) * 10
        index.insert_many(np.hstack((small, small + random.random((60, dim)))))
        for _ in range(40):
            low = np.round(random.uniform(-4, 12, dim), random.integers(3))
            box = (*low.tolist(), *(low + random.choice([0, 0.5, 3])).tolist())
            np.testing.assert_array_equal(index.query_box(box), index.query_box([box])[:, 1])
            at, motion = tuple(low.tolist()), tuple(random.choice([-1, 0, 1, 0.3], dim).tolist())
            np.testing.assert_array_equal(index.query_point(at), index.query_point([at])[:, 1])
            alone, batch = index.nearest(at, 3), index.nearest([at], 3)
            np.testing.assert_array_equal(alone.ids, batch.ids[0])
            np.testing.assert_array_equal(alone.distances, batch.distances[0])
            if any(motion):
                hit, hits = index.raycast(at, motion, 2), index.raycast([at], [motion], 2)
                assert (-1 if hit is None else hit.id) == hits.ids[0]
            index.move(int(random.integers(60)), box)
            if random.random() < 0.1:
                index.remove(int(random.choice(index.ids)))
                index.insert(box)
        index.validate()

    cases = product([2, 3], [np.float32, np.float64], [True, False], range(6))
    each(check, cases, of=24, turn=3 * NAMES.index(name))


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_index_has_no_nearest_box(name):
    index = make(name, 2, period=(10.0, 10.0))
    for _ in range(2):
        assert len(index.nearest((1, 1), 4).ids) == 0
        assert index.nearest([(1, 1)], 2).ids.tolist() == [[-1, -1]]
        index.remove(index.insert((0, 0, 1, 1)))


@pytest.mark.parametrize("wrong", [("a", 1, 2, 3), (np.nan, 1, 2, 3), (1, 2, 3), (None,) * 4, (3, 3, 2, 2)])
def test_invalid_boxes_are_refused_on_the_fast_path_too(wrong):
    index = bp.BoxTree(period=(10, 10))
    index.insert((1, 1, 2, 2))
    for call in (index.query_box, lambda box: index.move(0, box)):
        with pytest.raises((TypeError, ValueError)):
            call(wrong)
    assert index.boxes.tolist() == [[1, 1, 2, 2]]
    with pytest.raises(KeyError):
        index.move(7, (1, 1, 2, 2))


@pytest.mark.parametrize("name", NAMES)
def test_files_pickles_and_copies_carry_the_period(name, tmp_path):
    index = make(name, 2, dtype=np.float32, period=(10, None))
    index.insert_many([[9, 0, 11, 1], [0, 0, 2, 1], [4, 0, 5, 1]])
    index.changes()
    index.save(tmp_path / "index")
    loaded = bp.Index.load(tmp_path / "index")
    for other in (loaded, pickle.loads(pickle.dumps(index)), copy.deepcopy(index), index.copy()):
        assert type(other) is type(index)
        assert other.period == index.period == (10, None)
        assert other.pairs().tolist() == [[0, 1]]
        assert len(other.changes().began) == 0
        other.move(2, [19, 0, 20, 1])
        other.validate()
        assert other.pairs().tolist() == [[0, 1], [0, 2], [1, 2]]
    assert isinstance(index, getattr(bp, type(index).__name__))
    assert "period=(10.0, None)" in repr(index)


def test_periodic_joins_need_one_period():
    a, b = bp.Strips(period=(10, 10)), bp.BoxTree(period=(10, 10))
    a.insert_many([[9, 0, 11, 1], [4, 0, 5, 1]])
    b.insert_many([[0.5, 0, 1, 1]])
    assert a.join(b).tolist() == [[0, 0]]
    with pytest.raises(ValueError, match=r"period=\(10.0, 10.0\) and the other period=None"):
        a.join(bp.BoxTree())


def test_rules_hold_across_the_boundary():
    index = bp.Strips(period=(10, 10))
    index.insert([9, 0, 11, 1], static=True)
    index.insert([0, 0, 2, 1], static=True)
    index.insert([0.5, 0, 1, 1], category=2)
    assert index.pairs().tolist() == [[0, 2], [1, 2]]
    assert index.query_box([10.5, 0, 10.6, 1], mask=2).tolist() == [2]
    assert index.query_point([0.6, 0.5], mask=1).tolist() == [0, 1]
    assert index.nearest([9.5, 0.5], 1, mask=2).ids.tolist() == [2]


def test_many_boxes_go_and_come():
    """More than are followed one by one."""
    random = np.random.default_rng(5)
    index = bp.BoxTree(period=(10, 10))
    boxes = oracle.scene(random, 500, 2, np.float64)
    index.insert_many(boxes)
    index.query_point([0, 0])
    index.remove_many(np.arange(100, 400))
    kept = np.delete(boxes, np.arange(100, 400), 0)
    np.testing.assert_array_equal(index.pairs(), index.ids[oracle.pairs(kept, (10, 10))])
    index.validate()
    index.clear()
    assert len(index.query_point([0, 0])) == 0


def test_unsupported_periodic_calls_raise_and_change_nothing():
    index = bp.BoxTree(period=(10, None))
    index.insert([9, 0, 11, 1])
    with pytest.raises(
        ValueError, match="max_distance = inf for ray 0, which goes along an axis with a period"
    ):
        index.raycast([5, 5], [1, 0])
    assert index.raycast([5, 5], [0, -1]) is None  # along an axis without a period
    assert index.raycast([0.5, 5], [0, -1]).distance == 4.0
    with pytest.raises(ValueError, match=r"box\[0\] has min_x = inf"):
        index.insert([np.inf, 0, np.inf, 0])
    with pytest.raises(ValueError, match=r"boxes\[1\] has min_x = 1e\+30"):
        index.insert_many([[0, 0, 1, 1], [1e30, 0, 1e30, 1]])
    with pytest.raises(ValueError, match="center"):
        index.query_radius([1e30, 0], 1)
    with pytest.raises(ValueError, match="period"):
        bp.BoxTree(period=(-1, 1))
    assert index.pairs().tolist() == []
    assert len(index) == 1


def test_a_world_without_a_period_is_an_ordinary_index():
    assert type(bp.BoxTree(period=(None, np.inf))) is bp.BoxTree
    assert bp.BoxTree(period=None).period is None


@pytest.mark.smaller_set
@pytest.mark.parametrize("max_distance", [2.0**63, 1e300, math.inf])
def test_rays_that_would_go_around_for_ever(max_distance):
    index = bp.BruteForce(period=(10.0, 10.0))
    index.insert((1, 1, 2, 2))
    world = bp.World(period=(10, 10))
    world.add(bp.Box(1, 1, 1, 1))
    for run_query in (index.query_ray, index.raycast, world.query_ray, world.raycast):
        with pytest.raises(ValueError, match=r"max_distance = .* give at most"):
            run_query((0, 0), (1, 0), max_distance)
        run_query((0, 0), (1, 0), 95.0)
    with pytest.raises(ValueError, match="max_distance"):
        world.raycast([(0, 0)], [(1, 0)], max_distance)
