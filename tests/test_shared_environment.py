"""Environment -1 is in every environment: two rows meet if theirs are equal or one is -1."""

import numpy as np
import pytest
import space_oracle as oracle

import broadphase as bp


def scene(n, dim, dtype=np.float64, seed=0, side=9.0):
    """Boxes in three environments and in the one that all share, in any order."""
    random = np.random.default_rng(seed)
    low = random.random((n, dim)) * side
    boxes = np.hstack((low, low + random.random((n, dim)) * 2)).astype(dtype)
    boxes[0, :dim], boxes[0, dim:] = -np.inf, 0.5
    env = random.choice([-1, 0, 1, 5, -3], n)
    env[0] = -1
    return boxes, env


@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize("period", [None, 10.0])
def test_pairs_counts_and_joins(n, period, each):
    def check(dim, dtype, method, touching):
        boxes, env = scene(n, dim, dtype)
        own = {"touching": touching, "period": period and (period,) * dim}
        wanted = oracle.pairs(boxes, own["period"], touching, env)
        np.testing.assert_array_equal(bp.pairs(boxes, method=method, env=env, **own), wanted)
        assert bp.count_pairs(boxes, method=method, env=env, **own) == len(wanted)
        half = n // 2
        across = wanted[(wanted[:, 0] < half) & (wanted[:, 1] >= half)] - [0, half]
        sides = boxes[:half], boxes[half:]
        joined = bp.join(*sides, method=method, env=(env[:half], env[half:]), **own)
        np.testing.assert_array_equal(joined, across[np.lexsort(across.T[::-1])])

    cases = [(2, np.float32), (3, np.float64)]
    each(check, [(*case, *how) for case in cases for how in (("auto", True), ("spatial_hash", False))])


def test_rules_and_limits_hold_for_what_is_shared():
    boxes, env = scene(300, 2)
    static, sets = np.arange(300) % 3 == 0, 1 + np.arange(300) % 4
    pairs = oracle.pairs(boxes, env=env)
    i, j = pairs.T
    wanted = pairs[~(static[i] & static[j]) & (sets[i] & sets[j] != 0)]
    rules = {"static": static, "categories": sets, "masks": sets, "env": env}
    np.testing.assert_array_equal(bp.pairs(boxes, **rules), wanted)
    np.testing.assert_array_equal(bp.pairs(boxes, max_pairs=len(wanted), **rules), wanted)
    with pytest.raises(bp.PairLimitExceeded):
        bp.pairs(boxes, max_pairs=len(wanted) - 1, **rules)
    np.testing.assert_array_equal(bp.pairs(boxes, env=-1), oracle.pairs(boxes))


def test_sweeps_against_a_ground():
    starts = np.array([[0, 5, 1, 6], [0, 5, 1, 6], [-9, -1, 9, 0]], float)
    motions = np.array([[0, -10], [0, -20], [0, 0]], float)
    found = bp.swept_pairs(starts, motions, env=[0, 1, -1])
    assert found.pairs.tolist() == [[0, 2], [1, 2]]
    assert found.times.tolist() == [0.5, 0.25]
    index = bp.Strips()
    index.insert_many(starts, env=[0, 1, -1])
    assert index.swept_pairs(starts + np.tile(motions, 2)).pairs.tolist() == [[0, 2], [1, 2]]


def test_a_list_with_a_skin_sees_who_is_shared_from_now_on():
    near = bp.VerletList(1.0, 0.5)
    places = [[0.0, 0.0], [0.5, 0.0], [0.9, 0.0]]
    assert near.neighbors(places, env=[0, 1, 1]).edge_index().tolist() == [[1], [2]]
    assert near.neighbors(places, env=[-1, 1, 1]).edge_index().tolist() == [[0, 0, 1], [1, 2, 2]]


def test_nearest_where_all_points_are_shared():
    near = bp.nearest([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]], 2, env=[-1, -1, -1])
    assert near.ids.tolist() == [[1, 2], [0, 2], [1, 0]]
    assert near.distances.tolist() == [[1.0, 3.0], [1.0, 2.0], [2.0, 3.0]]
