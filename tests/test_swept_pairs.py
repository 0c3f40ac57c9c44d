"""Pairs that meet during a frame, against rational numbers."""

import pickle
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from cases import examples, machine_settings
from hypothesis import given
from hypothesis import strategies as st

import broadphase as bp


def meeting(starts, goals, i, j, touching):
    """The first moment at which two boxes overlap, a Fraction, or None."""
    dim = starts.shape[1] // 2
    sides = []
    for a, b in ((i, j), (j, i)):
        for axis in range(dim):
            ends = starts[a, axis], starts[b, dim + axis], goals[a, axis], goals[b, dim + axis]
            if np.isinf(ends[0]) or np.isinf(ends[1]):
                sides.append(
                    (Fraction(-1 if ends[0] < ends[1] else 1), Fraction(-1 if ends[0] < ends[1] else 1))
                )
            else:
                low, high, low_goal, high_goal = (Fraction(float(end)) for end in ends)
                sides.append((low - high, low_goal - high_goal))
    moments = {Fraction(0), Fraction(1)}
    moments |= {c / (c - d) for c, d in sides if c != d and 0 <= c / (c - d) <= 1}
    moments = sorted(moments)

    def together(t):
        values = [c + t * (d - c) for c, d in sides]
        return all(value <= 0 for value in values) if touching else all(value < 0 for value in values)

    for now, then in zip(moments, [*moments[1:], None], strict=True):
        if together(now) or (then is not None and together((now + then) / 2)):
            return now
    return None


def wanted(starts, goals, touching):
    found = {}
    for i, j in combinations(range(len(starts)), 2):
        when = meeting(starts, goals, i, j, touching)
        if when is not None:
            found[i, j] = when
    return found


def check(found, expected):
    assert list(map(tuple, found.pairs.tolist())) == sorted(expected)
    for pair, time in zip(found.pairs.tolist(), found.times.tolist(), strict=True):
        exact = expected[tuple(pair)]
        assert (time == 0) == (exact == 0)
        assert abs(Fraction(time) - exact) <= exact * Fraction(1, 2**50)
        assert 0 <= time <= 1


def moving(random, n, dim, dtype, lattice):
    low = random.uniform(0, 20, (n, dim))
    sides = random.choice([0, 0.01, 1, 4], (n, dim)) * random.random((n, dim))
    motion = random.normal(0, 12, (n, dim)) * (random.random((n, 1)) < 0.8)
    boxes = np.hstack((low, low + sides))
    if lattice:
        boxes, motion = np.round(boxes), np.round(motion)
    return boxes.astype(dtype), motion.astype(dtype)


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("touching", [True, False])
def test_as_rational_numbers_say(dim, touching, each):
    def one(dtype, lattice, seed):
        boxes, motion = moving(np.random.default_rng(seed), 16, dim, dtype, lattice)
        goals = boxes + np.hstack((motion, motion))
        expected = wanted(boxes, goals, touching)
        check(bp.swept_pairs(boxes, motion, touching=touching), expected)
        for name in ("strips", "brute_force"):
            index = bp.make_index(name, dim=dim, dtype=dtype, touching=touching)
            index.insert_many(boxes)
            check(index.swept_pairs(goals), expected)
            np.testing.assert_array_equal(index.boxes, boxes)

    each(one, product([np.float32, np.float64], [True, False], range(6)), of=3)


@given(st.data())
@machine_settings(30, 1)
def test_any_motions_on_a_lattice(data):
    number = st.integers(-4, 4)
    size = st.integers(0, 2)
    rows = data.draw(st.lists(st.tuples(number, number, size, size, number, number), min_size=2, max_size=5))
    table = np.array(rows, float) / data.draw(st.sampled_from([1, 3, 10]))
    boxes = np.hstack((table[:, :2], table[:, :2] + table[:, 2:4]))
    motion, touching = table[:, 4:], data.draw(st.booleans())
    goals = boxes + np.hstack((motion, motion))
    check(bp.swept_pairs(boxes, motion, touching=touching), wanted(boxes, goals, touching))


def test_moments_too_near_for_floats_are_decided():
    """Ways that pass a corner by less than a rounding, at a distance of a million."""
    for step in range(examples(30)):
        base = 1e6 + step / 7
        boxes = np.array([[0, 0, 0.1, 0.1], [base, base + 0.1, base + 1, base + 2]])
        for near in (0.0, np.spacing(base), -np.spacing(base)):
            motion = np.array([[2 * base + near, 2 * base], [0.0, 0.0]])
            goals = boxes + np.hstack((motion, motion))
            for touching in (True, False):
                found = bp.swept_pairs(boxes, motion, touching=touching)
                check(found, wanted(boxes, goals, touching))


def test_nothing_tunnels_and_touching_is_a_choice():
    boxes = [[0, 0, 1, 1], [500, 0, 500.001, 1], [500, 1, 501, 2]]
    found = bp.swept_pairs(boxes, [[1e9, 0], [0, 0], [0, 0]])
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    found = bp.swept_pairs(boxes, [[1e9, 0], [0, 0], [0, 0]], touching=False)
    assert found.pairs.tolist() == [[0, 1]]
    point = [[0, 0, 0, 0], [1, -1, 1, 1]]  # neither is thick: they touch, and never overlap
    assert len(bp.swept_pairs(point, [[2, 0], [0, 0]]).pairs) == 1
    assert len(bp.swept_pairs(point, [[2, 0], [0, 0]], touching=False).pairs) == 0


def test_endless_boxes():
    boxes = np.array([[-np.inf, 5, np.inf, 6], [0, 0, 1, 1], [np.inf, 0, np.inf, 9]])
    found = bp.swept_pairs(boxes, [[3, 0], [0, 16], [0, 0]])
    assert found.pairs.tolist() == [[0, 1], [0, 2]]
    assert found.times.tolist() == [0.25, 0.0]
    assert bp.swept_pairs(boxes, [[3, 0], [0, 16], [0, 0]], touching=False).pairs.tolist() == [[0, 1]]


def test_rules_environments_and_limits():
    boxes = [[0, 0, 1, 1], [5, 0, 6, 1], [9, 0, 10, 1]]
    motion = [[10, 0], [0, 0], [0, 0]]
    assert bp.swept_pairs(boxes, motion, env=[1, 2, 1]).pairs.tolist() == [[0, 2]]
    assert bp.swept_pairs(boxes, motion, static=[True, True, False]).pairs.tolist() == [[0, 2]]
    assert bp.swept_pairs(boxes, motion, categories=[1, 2, 4], masks=[2, 7, 7]).pairs.tolist() == [[0, 1]]
    with pytest.raises(bp.PairLimitExceeded, match="pairs meet on their way; raise max_pairs") as reported:
        bp.swept_pairs(boxes, motion, max_pairs=1)
    assert str(pickle.loads(pickle.dumps(reported.value))) == str(reported.value)
    assert len(bp.swept_pairs(np.empty((0, 4)), np.empty((0, 2))).times) == 0


def test_many_agree_with_one_thread_and_with_small_steps():
    random = np.random.default_rng(9)
    low = random.random((30_000, 2)).astype(np.float32)
    boxes = np.hstack((low, low + np.float32(0.002)))
    motion = random.normal(0, 0.004, (30_000, 2)).astype(np.float32)
    found, one = bp.swept_pairs(boxes, motion), bp.swept_pairs(boxes, motion, threads=1)
    np.testing.assert_array_equal(found.pairs, one.pairs)
    np.testing.assert_array_equal(found.times, one.times)
    ends = boxes + np.hstack((motion, motion))
    known = set(map(tuple, found.pairs.tolist()))
    assert set(map(tuple, bp.pairs(boxes).tolist())) == {
        tuple(pair) for pair, time in zip(found.pairs.tolist(), found.times, strict=True) if time == 0
    }
    assert set(map(tuple, bp.pairs(ends).tolist())) <= known
    times = found.in_time().times
    assert (np.diff(times) >= 0).all()


@pytest.mark.parametrize(
    ("motion", "said"),
    [
        ([[1, 2]], r"motion must have shape \(2, 2\), a row for each box; got \(1, 2\)"),
        ([[1, 2], [np.nan, 0]], r"motion\[1\] = \[nan, 0.0\] is not finite"),
        ([[0, 0], [1.7e308, 0]], r"motion\[1\] brings max_x from 1e\+308 to inf"),
    ],
)
def test_bad_motions_are_named(motion, said):
    with pytest.raises(ValueError, match=said):
        bp.swept_pairs([[0, 0, 1, 1], [0, 0, 1e308, 1]], motion)


def test_an_index_computes_the_goals_of_its_boxes():
    index = bp.BoxTree()
    index.insert_many([[0, 0, 1, 1], [0, 0, 0, 0], [5, 0, 6, 1]])
    index.remove(1)
    found = index.swept_pairs([[10, 0, 11, 1], [5, 0, 6, 1]])
    assert (found.pairs.tolist(), found.times.tolist()) == ([[0, 2]], [0.4])
    assert index.box(0).tolist() == [0, 0, 1, 1]  # `update` is another call
    with pytest.raises(ValueError, match="boxes has 1 rows, but the index holds 2"):
        index.swept_pairs([[0, 0, 1, 1]])
    with pytest.raises(ValueError, match=r"boxes\[1\] brings max_x from 6 to inf"):
        index.swept_pairs([[0, 0, 1, 1], [5, 0, np.inf, 1]])
    with pytest.raises(ValueError, match="period"):
        bp.BoxTree(period=(9, 9)).swept_pairs(np.empty((0, 4)))


def around(period, dim, most=3):
    """The shifts of images: all that matter where nothing goes around more than ``most`` times."""
    steps = [range(-most, most + 1) if np.isfinite(period[axis]) else (0,) for axis in range(dim)]
    lengths = np.where(np.isfinite(period), period, 0.0)
    return [np.array(turns) * lengths for turns in product(*steps)]


@pytest.mark.covering
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("period", [(8.0, 8.0), (8.0, None), (None, 4.0), (4.0, 8.0, None)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_periodic_worlds(each, touching, period, dtype):
    """As rational numbers say of all images; coordinates are eighths, so that no image is rounded."""
    lengths = np.array([np.inf if one is None else one for one in period])
    dim = len(period)

    def check_one(seed):
        random = np.random.default_rng(seed)
        low = random.integers(-80, 80, (5, dim)) / 8
        starts = np.hstack((low, low + random.integers(0, 12, (5, dim)) / 8)).astype(dtype)
        motion = (random.integers(-40, 40, (5, dim)) * random.integers(0, 2, (5, 1)) / 8).astype(dtype)
        goals = starts + np.tile(motion, 2)
        expected, begun = {}, set()
        for i, j in combinations(range(5), 2):
            # Whichever way things lie around the world, images are this near to each other at some time.
            near = np.round((starts[i, :dim] - starts[j, :dim]) / lengths)
            whole = np.where(np.isfinite(lengths), near * np.where(np.isfinite(lengths), lengths, 0.0), 0.0)
            for shift in around(lengths, dim):
                both = np.tile(shift + whole, 2)
                pair = np.stack((starts[i], starts[j] + both)), np.stack((goals[i], goals[j] + both))
                when = meeting(*pair, 0, 1, touching)
                if when is not None:
                    expected[i, j] = min(when, expected.get((i, j), when))
                if meeting(pair[0], pair[0], 0, 1, touching) is not None:
                    begun.add((i, j))
        check(bp.swept_pairs(starts, motion, period=period, touching=touching), expected)
        # Without touching, flush boxes that move into each other meet at time 0, and do not overlap there.
        still = bp.pairs(starts, period=period, touching=touching)
        assert sorted(begun) == list(map(tuple, still.tolist()))

    each(check_one, range(12), of=4)


def test_what_covers_the_world_meets_all_there():
    boxes = [[0, 0, 20, 1], [3, 5, 4, 6], [3, 90, 4, 91]]
    found = bp.swept_pairs(boxes, [[50, 0], [0, -8], [0, 0]], period=(10, None))
    assert found.pairs.tolist() == [[0, 1]]
    assert found.times.tolist() == [0.5]
    thin = bp.swept_pairs([[0, 0, 1, 1], [5, 0, 6, 1]], [[1000, 0], [0, 0]], period=(10, 10))
    np.testing.assert_allclose(thin.times, [0.004])
    assert (
        bp.swept_pairs([[0, 0, 1, 1], [1e12, 0, 1e12 + 2, 1]], [[0, 0], [0, 0]], period=(10, 10)).times[0]
        == 0
    )
    nowhere, still = [[np.inf, 0, np.inf, 1]], [[0, 0]]
    with pytest.raises(ValueError, match=r"other\[0\] has min_x = inf, and infinity is no place"):
        bp.swept_pairs([[0, 0, 1, 1]], still, other=nowhere, other_motion=still, period=(9, 9))


@pytest.mark.parametrize("period", [None, (8.0, 8.0)])
def test_two_sets(period):
    random = np.random.default_rng(3)
    low = random.integers(0, 64, (40, 2)) / 8
    boxes, motion = np.hstack((low, low + 0.5)), random.integers(-16, 16, (40, 2)) / 8
    env = random.integers(0, 2, 40)
    for worlds in (None, env):
        sides = None if worlds is None else (env[:15], env[15:])
        found = bp.swept_pairs(
            boxes[:15], motion[:15], other=boxes[15:], other_motion=motion[15:], period=period, env=sides
        )
        right = bp.swept_pairs(boxes, motion, period=period, env=worlds)
        across = (right.pairs[:, 0] < 15) & (right.pairs[:, 1] >= 15)
        np.testing.assert_array_equal(found.pairs, right.pairs[across] - (0, 15))
        np.testing.assert_array_equal(found.times, right.times[across])
        assert len(found.pairs)
    with pytest.raises(ValueError, match="other and other_motion belong together"):
        bp.swept_pairs(boxes, motion, other=boxes)
    with pytest.raises(ValueError, match="static, categories and masks are not there with other="):
        bp.swept_pairs(boxes, motion, other=boxes, other_motion=motion, static=True)
    with pytest.raises(ValueError, match="give both in one dimension"):
        bp.swept_pairs(boxes, motion, other=np.zeros((1, 6)), other_motion=np.zeros((1, 3)))
    with pytest.raises(ValueError, match=r"other_motion must have shape \(25, 2\)"):
        bp.swept_pairs(boxes[:15], motion[:15], other=boxes[15:], other_motion=motion)


def meeting_spheres(start, goal, reach, touching):
    """When the distance is first at most ``reach``: None, or bounds of the moment, by halving."""

    def apart(t):
        return sum((a + t * (b - a)) ** 2 for a, b in zip(start, goal, strict=True)) - reach * reach

    def near(t):
        return apart(t) <= 0 if touching else apart(t) < 0

    if near(Fraction(0)):
        return Fraction(0), Fraction(0)
    way = [b - a for a, b in zip(start, goal, strict=True)]
    length = sum(one * one for one in way)
    if not length:
        return None
    lowest = -sum(a * b for a, b in zip(start, way, strict=True)) / length
    lowest = min(max(lowest, Fraction(0)), Fraction(1))
    if not near(lowest):
        return None
    before, after = Fraction(0), lowest
    for _ in range(60):
        middle = (before + after) / 2
        before, after = (before, middle) if near(middle) else (middle, after)
    return before, after


@pytest.mark.covering
@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("period", [None, (8.0, 8.0), (8.0, None, 4.0)])
def test_spheres(each, touching, period):
    dim = 2 if period is None else len(period)
    lengths = np.array([np.inf if one is None else one for one in period or (None, None)])

    def check_one(seed):
        random = np.random.default_rng(seed)
        places, motion = random.integers(-40, 40, (6, dim)) / 4, random.integers(-8, 9, (6, dim)) * 1.0
        motion[random.random(6) < 0.3] = 0.0
        radii = random.integers(0, 6, 6) / 4
        expected = {}
        for i, j in combinations(range(6), 2):
            near = np.round((places[i] - places[j]) / lengths) * np.where(np.isfinite(lengths), lengths, 0.0)
            for shift in around(lengths, dim):
                start = list(map(Fraction, places[j] + shift + near - places[i]))
                goal = [a + Fraction(b) for a, b in zip(start, motion[j] - motion[i], strict=True)]
                when = meeting_spheres(start, goal, Fraction(radii[i] + radii[j]), touching)
                if when is not None:
                    expected[i, j] = min(when, expected.get((i, j), when))
        found = bp.swept_pairs(places, motion, radii=radii, period=period, touching=touching)
        assert list(map(tuple, found.pairs.tolist())) == sorted(expected)
        for pair, time in zip(found.pairs.tolist(), found.times.tolist(), strict=True):
            before, after = map(float, expected[tuple(pair)])
            assert before - 1e-7 <= time <= after + 1e-7, "a grazing root is as exact as the root of rounding"
            assert (time == 0) == (after < 1e-15)

    each(check_one, range(24), of=4)


def test_spheres_of_any_size():
    for scale in (1e-200, 1e-8, 1.0, 1e8, 1e200):
        places, motion = np.array([[0, 0], [10, 1]]) * scale, np.array([[9, 0], [0, 0]]) * scale
        found = bp.swept_pairs(places, motion, radii=scale)
        np.testing.assert_allclose(found.times, [(10 - 3**0.5) / 9])
    graze = [[0.0, 0.0], [5.0, 2.0]], [[9.0, 0.0], [0.0, 0.0]]
    assert len(bp.swept_pairs(*graze, radii=1.0).pairs) == 1
    assert len(bp.swept_pairs(*graze, radii=1.0, touching=False).pairs) == 0
    assert len(bp.swept_pairs(*graze, radii=np.nextafter(1.0, 0)).pairs) == 0
    found = bp.swept_pairs([[0.0, 0]], [[8.0, 0]], other=[[5.0, 0]], other_motion=[[0, 0]], radii=(1.0, 0.0))
    assert found.times.tolist() == [0.5]
    with pytest.raises(ValueError, match=r"boxes must have shape \(n, 2\) or \(n, 3\) with radii="):
        bp.swept_pairs([[0, 0, 1, 1]], [[1, 0]], radii=1.0)
    with pytest.raises(ValueError, match=r"radii\[0\] = -1 is no radius"):
        bp.swept_pairs([[0, 0]], [[1, 0]], radii=[-1.0])
    with pytest.raises(ValueError, match=r"boxes\[0\] = \[inf, 0.0\] is not finite"):
        bp.swept_pairs([[np.inf, 0]], [[1, 0]], radii=1.0)


def closest_approach(before, after):
    """When two centres are closest and how far apart, by minimizing over the root of the derivative."""
    way = after - before
    length = way @ way
    time = 0.0 if length == 0 else min(max(-(before @ way) / length, 0.0), 1.0)
    return time, np.linalg.norm(before + time * way)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("spheres", [False, True])
@pytest.mark.parametrize("n", [0, 2, 17, 120])
def test_closest_approach(dtype, dim, spheres, n):
    random = np.random.default_rng((n, dim))
    centers, motion = (random.uniform(-5, 5, (n, dim)).astype(dtype) for _ in range(2))
    motion[::3] = 0
    boxes = centers if spheres else np.hstack((centers - 1, centers + 1))
    how = {"radii": 1.0} if spheres else {}
    plain, found = (bp.swept_pairs(boxes, motion, closest=closest, **how) for closest in (False, True))
    np.testing.assert_array_equal(found.pairs, plain.pairs)
    np.testing.assert_array_equal(found.times, plain.times)
    assert plain.closest_time is None
    assert plain.closest_distance is None
    assert len(found.closest_time) == len(found.closest_distance) == len(found.pairs)
    for (i, j), time, distance in zip(found.pairs, found.closest_time, found.closest_distance, strict=True):
        before, after = (
            places[j] - places[i] for places in (centers.astype(float), (centers + motion).astype(float))
        )
        expected = closest_approach(before, after)
        assert distance == pytest.approx(expected[1], abs=1e-5)
        assert 0 <= time <= 1
        assert np.linalg.norm(before + time * (after - before)) == pytest.approx(expected[1], abs=1e-5)
    in_time = found.in_time()
    order = np.argsort(found.times, kind="stable")
    np.testing.assert_array_equal(in_time.closest_time, found.closest_time[order])
    np.testing.assert_array_equal(in_time.closest_distance, found.closest_distance[order])
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.closest_time, found.closest_time)
    pairs, times = found
    assert pairs is found.pairs
    assert times is found.times


def test_closest_approach_across_the_edge_and_of_others():
    found = bp.swept_pairs(
        [[1.0, 5.0]],
        [[-4.0, 0.0]],
        other=[[9.0, 5.5]],
        other_motion=[[0, 0]],
        radii=1,
        period=(10, 10),
        closest=True,
    )
    assert (found.pairs.tolist(), found.closest_time.tolist(), found.closest_distance.tolist()) == (
        [[0, 0]],
        [0.5],
        [0.5],
    )
    # Twice around the world: the image that is met first counts.
    found = bp.swept_pairs(
        [[0.0, 0], [5.0, 0]], [[20.0, 0], [0, 0]], radii=0.5, period=(10, 10), closest=True
    )
    assert (found.times.tolist(), found.closest_time.tolist(), found.closest_distance.tolist()) == (
        [0.2],
        [0.25],
        [0.0],
    )
    huge = bp.swept_pairs([[0, 0], [1e300, 0]], [[2e300, 0], [0, 0]], radii=1e299, closest=True)
    assert huge.closest_time == pytest.approx([0.5])
    wall = bp.swept_pairs([[-np.inf, 0, np.inf, 1], [0, 3, 1, 4]], [[0, 0], [0, -4]], closest=True)
    assert np.isnan(wall.closest_distance).all()
    assert len(wall.pairs) == 1


@pytest.mark.parametrize("period", [None, (10, 10)])
def test_excluded_pairs_do_not_meet(period):
    random = np.random.default_rng(5)
    centers, motion = random.uniform(0, 10, (40, 2)), random.uniform(-5, 5, (40, 2))
    boxes = np.hstack((centers, centers + 1))
    every = bp.swept_pairs(boxes, motion, period=period, closest=True)
    out = every.pairs[::3]
    left = np.delete(np.arange(len(every.pairs)), np.s_[::3])
    for exclude in (out, out[:, ::-1]):
        found = bp.swept_pairs(
            boxes, motion, period=period, exclude=exclude, closest=True, max_pairs=len(left)
        )
        for name in ("pairs", "times", "closest_time", "closest_distance"):
            np.testing.assert_array_equal(getattr(found, name), getattr(every, name)[left])
    others = {"other": boxes[:9], "other_motion": motion[:9]}
    every = bp.swept_pairs(boxes, motion, period=period, **others)
    found = bp.swept_pairs(boxes, motion, period=period, exclude=every.pairs[1:], **others)
    np.testing.assert_array_equal(found.pairs, every.pairs[:1])
    assert len(bp.swept_pairs(boxes, motion, exclude=[]).pairs) == len(bp.swept_pairs(boxes, motion).pairs)
    with pytest.raises(ValueError, match=r"exclude\[0\] = \[0, 40\] names row 40; there are 40 rows"):
        bp.swept_pairs(boxes, motion, exclude=[[0, 40]])


def test_radii_of_others_have_a_name():
    balls, motion, others = [[0.0, 0], [0, 9]], [[9.0, 0], [9, 0]], [[5.0, 3.0], [5.0, 7.0]]
    how = {"other": others, "other_motion": np.zeros((2, 2))}
    expected = bp.swept_pairs(balls, motion, radii=([1.0, 2.0], [2.0, 0.5]), **how)
    found = bp.swept_pairs(balls, motion, radii=(1.0, 2.0), other_radii=[2.0, 0.5], **how)
    assert all(map(np.array_equal, found, expected))
    assert found.pairs.tolist() == [[0, 0], [1, 1]]
    with pytest.raises(ValueError, match=r"other_radii\[1\] = -1"):
        bp.swept_pairs(balls, motion, radii=1.0, other_radii=[1, -1], **how)
    with pytest.raises(ValueError, match="other_radii are those of other="):
        bp.swept_pairs(balls, motion, radii=1.0, other_radii=1.0)


@pytest.mark.parametrize("touching", [True, False])
def test_images_that_meet_by_a_hair_are_those_of_a_plain_world(touching):
    """Beside all images as boxes of their own; products of these numbers are rounded, sums are not."""
    unit = 1 + 2.0**-30
    for seed in range(examples(60)):
        random = np.random.default_rng(seed)
        low, size = random.integers(0, 6, (4, 2)), random.integers(0, 3, (4, 2))
        boxes, motion = np.hstack((low, low + size)) * unit, random.integers(-6, 7, (4, 2)) * unit
        turns = np.array(list(product(range(-3, 4), repeat=2))) * 6 * unit
        images = (boxes[:, None] + np.tile(turns, 2)).reshape(-1, 4)
        ways = np.repeat(motion, len(turns), axis=0)
        plain = bp.swept_pairs(boxes, motion, other=images, other_motion=ways, touching=touching)
        first = {}
        for (i, j), time in zip(plain.pairs.tolist(), plain.times.tolist(), strict=True):
            if i < j // len(turns):
                first[i, j // len(turns)] = min(time, first.get((i, j // len(turns)), 1.0))
        found = bp.swept_pairs(boxes, motion, period=(6 * unit, 6 * unit), touching=touching)
        times = dict(zip(map(tuple, found.pairs.tolist()), found.times.tolist(), strict=True))
        assert times.keys() == first.keys()
        np.testing.assert_allclose(list(times.values()), [first[pair] for pair in times], atol=1e-15)
