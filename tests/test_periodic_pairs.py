"""``pairs``, ``join`` and ``count_pairs`` with periods and environments, against images in plain NumPy."""

from itertools import product

import numpy as np
import pytest
import space_oracle as oracle

import broadphase as bp

METHODS = list(bp.METHODS)


@pytest.mark.parametrize("most", [2**61, 2**62 - 1, 10**30])
def test_a_limit_of_any_size_is_a_limit(most):
    points = np.random.default_rng(2).random((600, 2))
    boxes, env, radii = np.hstack((points, points + 0.05)), np.arange(600) % 3, np.linspace(0.001, 0.2, 600)
    limit = {"max_pairs": most}
    for period in (None, (1, 1)):
        assert np.array_equal(bp.pairs(boxes, period=period, **limit), bp.pairs(boxes, period=period))
        near = (bp.neighbors(points, radii, env=env, period=period, **more) for more in (limit, {}))
        assert np.array_equal(*(one.i for one in near))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_methods_find_what_the_images_say(method, dim, dtype, each):
    def check(period, touching, lattice, worlds):
        random = np.random.default_rng(dim)
        for n in (0, 1, 2, 40, 300):
            boxes = oracle.scene(random, n, dim, dtype, lattice)
            env = random.integers(-2, worlds, n) if worlds else None
            wanted = oracle.pairs(boxes, period, touching, env)
            rules = {"method": method, "period": period, "touching": touching, "env": env}
            np.testing.assert_array_equal(bp.pairs(boxes, **rules), wanted)
            assert bp.count_pairs(boxes, **rules) == len(wanted)

    cases = product([*oracle.periods(dim), [7.3] * dim, None], [True, False], [True, False], [0, 3])
    kind = (dim == 3) + 2 * (dtype == np.float64)
    each(check, cases, of=14, turn=METHODS.index(method) + 7 * kind)


def test_join_and_its_environments(each):
    def check(dim, dtype, touching):
        random = np.random.default_rng(8)
        for period in (*oracle.periods(dim), None):
            a, b = (oracle.scene(random, n, dim, dtype, lattice=touching) for n in (60, 90))
            envs = random.integers(0, 3, 60), random.integers(0, 3, 90)
            inside = [oracle.carried(side, period or [None] * dim, touching) for side in (a, b)]
            together = oracle.meet(*inside, period or [None] * dim, touching)
            got = bp.join(a, b, period=period, touching=touching)
            np.testing.assert_array_equal(got, np.argwhere(together))
            got = bp.join(a, b, period=period, touching=touching, env=envs)
            np.testing.assert_array_equal(got, np.argwhere(together & (envs[0][:, None] == envs[1])))

    each(check, product([2, 3], [np.float32, np.float64], [True, False]))


def test_static_boxes_categories_and_limits_hold_across_the_boundary():
    boxes = np.array([[9, 0, 11, 1], [0, 0, 2, 1], [4, 0, 5, 1], [0.5, 0, 0.6, 1]], float)
    assert bp.pairs(boxes, period=(10, 10)).tolist() == [[0, 1], [0, 3], [1, 3]]
    static = np.array([True, True, False, False])
    assert bp.pairs(boxes, period=(10, 10), static=static).tolist() == [[0, 3], [1, 3]]
    rules = {"categories": np.array([1, 2, 1, 4]), "masks": np.array([4, 7, 7, 3])}
    assert bp.pairs(boxes, period=(10, 10), **rules).tolist() == [[0, 3], [1, 3]]
    assert len(bp.pairs(boxes, period=(10, 10), max_pairs=3)) == 3
    with pytest.raises(bp.PairLimitExceeded):
        bp.pairs(boxes, period=(10, 10), max_pairs=2)


def test_two_images_that_overlap_are_one_pair():
    wide = np.array([[1, 0, 9, 1], [8, 0, 12, 1], [0, 0, 30, 1], [-np.inf, 0, 3, 1]], float)
    assert len(bp.pairs(wide, period=(10, None))) == 6
    assert bp.count_pairs(wide, period=(10, None)) == 6


def test_a_box_as_long_as_the_world():
    boxes = np.array([[0, 0, 10, 1], [0, 0, 0, 1]], float)
    assert len(bp.pairs(boxes, period=(10, 10))) == 1
    assert len(bp.pairs(boxes, period=(10, 10), touching=False)) == 0  # only its two ends are there
    boxes[0, 2] = np.nextafter(10, 11)
    assert len(bp.pairs(boxes, period=(10, 10), touching=False)) == 1


def test_worlds_large_and_small_crowded_and_endless(each):
    """Worlds that are swept together, and those that are not."""

    def check(sizes, dtype, shuffled):
        random = np.random.default_rng(2)
        parts = []
        for n in sizes:
            low = random.random((n, 2)) * [1, 50]
            if n % 2:
                low[:] = 3.0 + 1e-6 * low  # crowded
            box = np.hstack((low, low + 0.3))
            if n % 3 == 0 and n:
                box[0, 2] = np.inf
            parts.append(box)
        boxes = np.concatenate(parts).astype(dtype)
        env = np.repeat(np.arange(len(sizes)) * -7, sizes)
        if shuffled:
            order = random.permutation(len(env))
            boxes, env = boxes[order], env[order]
        wanted = [np.flatnonzero(env == own)[bp.pairs(boxes[env == own])] for own in np.unique(env)]
        wanted = np.concatenate(wanted)
        wanted = wanted[np.lexsort(wanted.T[::-1])]
        np.testing.assert_array_equal(bp.pairs(boxes, env=env), wanted)
        assert bp.count_pairs(boxes, env=env) == len(wanted)

    sizes = [[1, 1, 1], [2, 300, 301, 4], [1000] * 9, [3000, 5, 2, 6000, 999], [700, 701, 1]]
    each(check, product(sizes, [np.float32, np.float64], [False, True]))


@pytest.mark.covering
@pytest.mark.parametrize("step", [1, 3, 10**9, 2**62 // 40])
@pytest.mark.parametrize("columns", [4, 6])
def test_mixed_rows_of_worlds_with_any_numbers_and_rules(step, columns):
    random = np.random.default_rng(5)
    n, dim = 30_000, columns // 2  # enough for several threads
    low = random.random((n, dim))
    boxes = np.hstack((low, low + 0.1))
    env = (random.integers(0, 80, n) - 40) * step
    env[0], rules = (
        -(2**63) if step > 3 else env[0],
        {
            "static": random.random(n) < 0.3,
            "categories": random.integers(1, 4, n),
            "masks": random.integers(1, 4, n),
        },
    )
    order = np.argsort(env, kind="stable")
    for queries in ({}, rules):
        ordered = {name: column[order] for name, column in queries.items()}
        wanted = np.sort(order[bp.pairs(boxes[order], env=env[order], **ordered)], axis=1)
        wanted = wanted[np.lexsort(wanted.T[::-1])]
        for threads in (1, 3):
            got = bp.pairs(boxes, env=env, threads=threads, **queries)
            np.testing.assert_array_equal(got, wanted)
        assert len(wanted) == bp.count_pairs(boxes, env=env, **queries) > 1000


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"period": (0, 10)}, r"period\[0\] = 0 is not positive"),
        ({"period": (10, np.nan)}, r"period\[1\] = nan is not positive"),
        ({"period": (1, 2, 3)}, "each of the 2 axes; got 3"),
        ({"env": [1]}, r"env must hold one number for each of the 2 rows; got shape \(1,\)"),
    ],
)
def test_bad_worlds_are_named(rules, said):
    with pytest.raises(ValueError, match=said):
        bp.pairs([[0, 0, 1, 1], [0, 0, 1, 1]], **rules)


def test_places_that_the_world_does_not_have():
    with pytest.raises(ValueError, match=r"boxes\[1\] has min_x = inf, and infinity is no place"):
        bp.pairs([[0, 0, 1, 1], [np.inf, 0, np.inf, 1]], period=(10, 10))
    with pytest.raises(ValueError, match=r"boxes\[0\] has min_y = 1e\+30, so many periods of 10 away"):
        bp.pairs([[0, 1e30, 1, 1e30]], period=(10, 10))
    with pytest.raises(ValueError, match=r"period\[0\] = 1e-60 does not fit into float32"):
        bp.pairs(np.zeros((1, 4), np.float32), period=(1e-60, 10))
    with pytest.raises(TypeError, match="env must be whole numbers"):
        bp.pairs([[0, 0, 1, 1]], env=[0.5])
    with pytest.raises(TypeError, match="env must be two"):
        bp.join([[0, 0, 1, 1]], [[0, 0, 1, 1]], env=3)


def test_far_away_is_in_the_world_too():
    boxes = np.array([[1, 1, 2, 2], [10_001, -9_999, 10_002, -9_998]], float)
    assert len(bp.pairs(boxes, period=(10, 10))) == 1


def test_a_box_across_the_edge_that_ends_before_it_begins_is_told_how_to_be_written():
    across, other = [170, 0, -170, 5], [-179, 1, -178, 2]
    for call in (
        lambda: bp.pairs([other, across], period=(360, None)),
        lambda: bp.count_pairs([other, across], period=(360, None)),
        lambda: bp.join([other], [other, across], period=(360, None)),
    ):
        with pytest.raises(ValueError, match=r"\[1\] has min_x = 170 > max_x = -170; .* it: max_x = 190$"):
            call()
    assert bp.pairs([other, [170, 0, 190, 5]], period=(360, None)).tolist() == [[0, 1]]
    for rows in ([[0, 5, 1, -5]], [[170, np.nan, -170, 5]]):
        with pytest.raises(ValueError, match=r"not \[x, y, width, height\]|= nan"):
            bp.pairs(rows, period=(360, None))
