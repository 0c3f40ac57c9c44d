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
