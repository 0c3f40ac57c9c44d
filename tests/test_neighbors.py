"""`neighbors`: the same as brute force says, number for number, wherever the points are."""

import os
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import point_scenes
import pytest
from interrupting import call_interrupted

import broadphase as bp
from broadphase.points import fixed_radius

N = 520  # so many that they are sorted, whatever is asked, also with half as many others
KINDS = list(product((2, 3), (np.float32, np.float64)))


def expect(found, right):
    np.testing.assert_array_equal(found.i, right[0])
    np.testing.assert_array_equal(found.j, right[1])
    np.testing.assert_array_equal(found.distance, right[2])
    assert found.i.dtype == found.j.dtype == np.int32
    assert found.distance.dtype == right[2].dtype


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_every_scene(each, dim, dtype):
    def check(scene, r):
        points = point_scenes.points_of(scene, N, dim, dtype)
        right = point_scenes.near(points, r)
        expect(bp.neighbors(points, r), right)  # few points are compared one by one
        expect(bp.neighbors(points, r, env=np.zeros(len(points), int)), right)  # these are sorted into cells

    cases = [(scene, r) for scene, (_, some) in point_scenes.SCENES.items() for r in some]
    each(check, cases, of=2, turn=KINDS.index((dim, dtype)))


@pytest.mark.covering
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_a_few_giants_among_many(dim, dtype):
    random = np.random.default_rng(6)
    points, others = (random.random((n, dim)).astype(dtype) for n in (700, 400))
    radii, other_radii = ((random.random(n) * 0.02).astype(dtype) for n in (700, 400))
    radii[[3, 400, 699]] = 0.3, 0.7, 1e30
    other_radii[7] = 0.2
    env, other_env = random.integers(0, 3, 700), random.integers(0, 3, 400)
    for period in (None, (1.0, None, 1.0)[:dim]):
        for worlds in (None, env):
            found = bp.neighbors(points, radii, period=period, env=worlds)
            right = point_scenes.near(points, radii, period=period, env=worlds)
            expect(found, right)
            loose = bp.neighbors(points, radii, period=period, env=worlds, sort=False)
            assert set(zip(loose.i, loose.j, strict=True)) == set(zip(*right[:2], strict=True))
            assert len(loose) == len(right[0])
        both = {"other": others, "period": period, "env": (env, other_env)}
        for reach in ((radii, other_radii), radii):
            expect(bp.neighbors(points, reach, **both), point_scenes.near(points, reach, **both))
    limit = len(bp.neighbors(points, radii)) - 1
    with pytest.raises(bp.PairLimitExceeded, match="of points are within r") as refused:
        bp.neighbors(points, radii, max_pairs=limit)
    assert refused.value.max_pairs == limit


def test_a_giant_does_not_make_all_points_look_at_each_other(monkeypatch):
    reaches = []
    find_near = fixed_radius.find_near

    def watched(question, reach, *rest):
        reaches.append((reach.r, len(question.points)))
        return find_near(question, reach, *rest)

    monkeypatch.setattr(fixed_radius, "find_near", watched)
    radii = np.full(1000, 1e-3)
    radii[5] = 10.0
    assert len(bp.neighbors(np.random.default_rng(0).random((1000, 2)), radii)) >= 999
    assert not any(r > 0.01 for r, _ in reaches)


def test_it_is_exact_next_to_the_border():
    """Against rational arithmetic: what is not within rounding of ``r`` is decided as in exact arithmetic."""
    points = np.random.default_rng(5).random((80, 3))
    r = 0.35
    near = bp.neighbors(points, r)
    found = set(zip(near.i.tolist(), near.j.tolist(), strict=True))
    exact = [[Fraction(x) for x in row] for row in points.tolist()]
    for i, j in product(range(80), repeat=2):
        if i < j:
            square = sum((a - b) ** 2 for a, b in zip(exact[i], exact[j], strict=True))
            if abs(square / Fraction(r) ** 2 - 1) > Fraction(1, 10**14):
                assert ((i, j) in found) == (square < Fraction(r) ** 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_at_the_border_the_rounded_distance_decides(dtype):
    random = np.random.default_rng(6)
    points = random.random((60, 2)).astype(dtype)
    apart = point_scenes.distances(points, points)[np.triu_indices(60, 1)]
    for r in np.sort(apart)[::97]:
        assert len(bp.neighbors(points, r)) == np.count_nonzero(apart <= r)
        assert len(bp.neighbors(points, np.nextafter(r, dtype(0)))) == np.count_nonzero(apart < r)
        assert bp.neighbors(points[::-1], r).distance.max() == r


@pytest.mark.parametrize("centre", [0.0, 16.0])
@pytest.mark.parametrize("among", [True, False])
def test_float32_points_in_a_period_lose_nothing(centre, among):
    """Against rational numbers: what is brought in is not rounded to float32 before it is subtracted."""
    random = np.random.default_rng(31)
    places = centre + random.uniform(-16, 16, (60, 2)) * random.choice((1.0, 1e-2, 1e-4), (60, 1))
    points = np.vstack((places, places + random.normal(size=(60, 2)) * 1e-3)).astype(np.float32)
    other = None if among else points[::-1].copy()
    found = bp.neighbors(points, 0.5, other=other, period=(32, 32), offsets=True)
    nearest = bp.nearest(points, 3, other=other, r=0.5, period=(32, 32))
    assert found.distance.dtype == found.offset.dtype == nearest.distances.dtype == np.float32
    others = points if among else other
    rows = [(i, j, float(d)) for i, j, d in zip(found.i, found.j, found.distance, strict=True)]
    listed = np.argwhere(nearest.ids >= 0)
    rows += [(i, nearest.ids[i, k], float(nearest.distances[i, k])) for i, k in listed]
    assert len(rows) > 200
    for i, j, distance in rows:
        square = Fraction(0)
        for a, b in zip(points[i].tolist(), others[j].tolist(), strict=True):
            motion = abs(Fraction(a) - Fraction(b)) % 32
            square += min(motion, 32 - motion) ** 2
        right = float(square) ** 0.5
        assert abs(distance - right) <= 2 * np.spacing(np.float32(right))


def test_a_small_distance_between_negative_float32_points():
    points = np.float32([[-0.001, 0], [-0.002, 0]])
    right = np.float32(float(points[0, 0]) - float(points[1, 0]))
    found = bp.neighbors(points, 0.5, period=(32, 32), offsets=True)
    assert found.distance.tolist() == [right]
    assert found.offset.tolist() == [[-right, 0.0]]


@pytest.mark.parametrize("scene", ["uniform", "clusters", "all equal"])
def test_threads_and_capacities_change_nothing(monkeypatch, scene):
    points = point_scenes.points_of(scene, 25_000 if scene != "all equal" else 1200, 2, np.float32)
    r = {"uniform": 0.02, "clusters": 2e-4}.get(scene, 0.1)
    whole = bp.neighbors(points, r, threads=1)
    assert len(whole) > 8 * len(points) or scene == "clusters"
    unordered = bp.neighbors(points, r, sort=False)
    order = np.lexsort((unordered.j, unordered.i))
    for name in ("i", "j", "distance"):
        np.testing.assert_array_equal(getattr(unordered, name)[order], getattr(whole, name))
    monkeypatch.setattr(fixed_radius, "_USUAL", 0)
    cut = bp.neighbors(points, r, threads=2)
    for name in ("i", "j", "distance"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name))


def test_more_pairs_than_allowed():
    points = np.random.default_rng(9).random((30_000, 2))
    pairs = len(bp.neighbors(points, 0.01))
    assert len(bp.neighbors(points, 0.01, max_pairs=pairs)) == pairs
    with pytest.raises(bp.PairLimitExceeded):
        bp.neighbors(points, 0.01, max_pairs=pairs - 1)
    with pytest.raises(bp.PairLimitExceeded):  # 4.5e9 of them would not fit
        bp.neighbors(np.zeros((30_000, 2)), 1.0, max_pairs=1_000_000)


def test_rows_and_graphs():
    points = np.random.default_rng(10).random((N, 2))
    found = bp.neighbors(points, 0.1)
    rows = found.csr()
    matrix = np.zeros((N, N))
    matrix[found.i, found.j] = matrix[found.j, found.i] = found.distance
    np.testing.assert_array_equal(found.to_scipy().toarray(), matrix)
    for i in range(N):
        mine = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
        np.testing.assert_array_equal(mine, np.flatnonzero(matrix[i]))
    for sort in (True, False):
        whole = bp.neighbors(points, 0.1, period=(1.0, 1.0), sort=sort, offsets=True).csr()
        plain = bp.neighbors(points, 0.1, period=(1.0, 1.0)).csr()
        for own, other in zip(whole[:3], plain, strict=True):
            np.testing.assert_array_equal(own, other)
        way = points[whole.indices] - points[np.repeat(np.arange(N), np.diff(whole.indptr))]
        np.testing.assert_allclose(whole.offsets, way - np.round(way), atol=1e-12)
    of_others = bp.neighbors(points[:5], 0.1, other=points, offsets=True)
    np.testing.assert_array_equal(of_others.csr().offsets, of_others.offset)
    unordered = bp.neighbors(points, 0.1, sort=False).csr()
    np.testing.assert_array_equal(unordered.indices, rows.indices)
    assert found.edge_index().shape == (2, len(found))
    assert found.edge_index(both=True).shape == (2, 2 * len(found))
    graph = found.to_networkx()
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (N, len(found))
    i, j = int(found.i[0]), int(found.j[0])
    assert graph.edges[i, j]["distance"] == found.distance[0]


def test_rows_of_points_and_others():
    random = np.random.default_rng(11)
    points, others = random.random((40, 2)), random.random((30, 2))
    found = bp.neighbors(points, 0.3, other=others)
    assert found.to_scipy().shape == found.shape == (40, 30)
    np.testing.assert_array_equal(found.csr().indices, found.j)
    assert found.to_networkx().number_of_edges() == len(found)
    with pytest.raises(ValueError, match="both=True"):
        found.edge_index(both=True)


POINTS = [[0.0, 0.0], [1.0, 1.0]]
BAD = {
    "points must have shape": {"points": [[1, 2, 3, 4]]},
    r"points\[1\] has y = nan": {"points": [[0, 0], [1, np.nan]]},
    r"points\[0\] has x = -inf": {"points": [[-np.inf, 0], [1, 1]]},
    r"other\[0\] has x = nan": {"other": [[np.nan, 0]]},
    "points are 2-D and other is 3-D": {"other": [[0, 0, 0]]},
    "r = -1 is no distance": {"r": -1},
    "r = nan is no distance": {"r": np.nan},
    r"r\[1\] = -2 is no radius": {"r": [1, -2]},
    "one for each of the 2 points": {"r": [1, 2, 3]},
    r"period\[1\] = 0 is not positive": {"period": (1, 0)},
    r"period\[0\] = nan is not positive": {"period": (np.nan, 1)},
    "for each of the 2 axes": {"period": (1, 1, 1)},
    "one number for each of the 2 rows": {"env": [1]},
    "env must be a pair": {"env": [1, 2, 3], "other": POINTS},
    r"points has shape \(1, 2, 2\), whose first axis is the environment": {"points": [POINTS], "env": [0, 0]},
    "give both as": {"points": [POINTS], "other": POINTS},
    "r_min = -1 is no distance": {"r_min": -1},
    "r_min must be one number": {"r_min": [0, 1]},
    "max_pairs must not be negative": {"max_pairs": -1},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named(message):
    with pytest.raises(ValueError, match=message):
        bp.neighbors(**{"points": POINTS, "r": 1.0} | BAD[message])


@pytest.mark.parametrize("bad", [{"env": [0.5, 1]}, {"r": "x"}, {"period": ("a", 1)}, {"threads": 1.5}])
def test_wrong_kinds_are_named(bad):
    with pytest.raises(TypeError, match=next(iter(bad))):
        bp.neighbors(**{"points": POINTS, "r": 1.0} | bad)


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_it_can_be_interrupted_and_called_again():
    together = np.zeros((60_000, 2), np.float32)
    with pytest.raises(KeyboardInterrupt):  # and not the limit, which comes much later
        call_interrupted(lambda: bp.neighbors(together, 1.0, max_pairs=100_000_000), 0.05)
    points = point_scenes.points_of("uniform", N, 2, np.float64)
    expect(bp.neighbors(points, 0.1), point_scenes.near(points, 0.1))


@pytest.mark.skipif(sys.platform != "linux", reason="free memory is not read from a file")
def test_what_a_signal_raises_while_free_memory_is_read_is_not_lost(monkeypatch):
    read = open

    def interrupted(file, *rest):
        if file == "/proc/meminfo":
            raise InterruptedError
        return read(file, *rest)

    points = np.random.default_rng(0).random((60_000, 2))
    monkeypatch.setattr("builtins.open", interrupted)
    with pytest.raises(InterruptedError):
        bp.neighbors(points, 0.01)


def test_counts_of_nothing_and_wrong_distances():
    assert bp.count_neighbors(np.zeros((0, 2)), [1.0]).tolist() == [0]
    assert bp.count_neighbors([[0.0, 0.0]], []).tolist() == []
    with pytest.raises(ValueError, match=r"r\[1\] = -1 is no distance"):
        bp.count_neighbors([[0.0, 0.0]], [1.0, -1.0])
    with pytest.raises(ValueError, match=r"r must be a number or a row of numbers; got shape \(1, 1\)"):
        bp.count_neighbors([[0.0, 0.0]], [[1.0]])


def test_a_result_can_be_unpacked_and_is_a_table():
    near = bp.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], 5.0)
    i, j, distance = near
    assert (i is near.i, j is near.j, distance is near.distance) == (True, True, True)
    table = near.to_pandas()
    assert table.columns.tolist() == ["i", "j", "distance"]
    assert table.to_numpy().tolist() == [[0.0, 1.0, 5.0], [0.0, 2.0, 1.0], [1.0, 2.0, 18**0.5]]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("size", [1e289, 1e291, 1e299, 1e305, 1e306, 8e307])
@pytest.mark.parametrize("share", [0.15, 0.4, 1.5])
def test_distances_near_the_largest_number(dim, size, share):
    """Points 2**1000 times smaller have the same neighbours: scaling by a power of two is exact."""
    places = np.random.default_rng(3).uniform(-size, size, (600, dim))
    results = []
    for scale in (1.0, 2.0**-1000):
        points, r = places * scale, share * size * scale
        index = bp.PointIndex(points)
        results.append(
            (
                bp.neighbors(points, r),
                bp.neighbors(points, r, env=np.zeros(600, int)),
                index.neighbors(points[:50], r),
                index.neighbors(points, r),
            )
        )
    for near, expected in zip(*results, strict=True):
        assert len(expected.i) > 5
        assert np.array_equal(near.i, expected.i)
        assert np.array_equal(near.j, expected.j)
    assert np.array_equal(results[0][0].j, results[0][1].j)


@pytest.mark.parametrize("n", [3, 1500])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_least_distances_are_rounded_alike_everywhere(kind, n):
    least = np.finfo(kind).smallest_subnormal
    points = np.zeros((n, 2), kind)
    points[:3] = np.array([[0, 0], [3, 4], [1, 1]]) * least
    points[3:, 0] = np.arange(n - 3) + 1
    # In units of the least number: 5, the root of 2, the root of 13; rounded to the nearest whole number.
    right = {(0, 1): 5, (0, 2): 1, (1, 2): 4}
    for units in range(7):
        r = kind(units * least)
        wanted = sorted(pair for pair, distance in right.items() if distance <= units)
        for radius in (float(r), np.full(n, r / 2 if units % 2 == 0 else r, kind)):
            if np.ndim(radius) and units % 2:
                continue  # half of it is no number
            near = bp.neighbors(points, radius)
            assert list(zip(near.i.tolist(), near.j.tolist(), strict=True)) == wanted
        assert bp.count_neighbors(points, float(r)) == len(wanted)
        near = bp.nearest(points, 2, r=float(r)).ids
        assert [(i, j) for i, j in right if j in near[i].tolist()] == [
            pair for pair in right if pair in wanted
        ]


@pytest.mark.parametrize("length", [1.0, 3.0, 10.0, 100.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_one_point_in_a_world_of_any_length_is_one_cell(length, dim):
    point, period = [[0.25 * length] * dim], (length,) * dim
    assert bp.count_neighbors(point, 0.0, period=period) == 0
    assert len(bp.PointIndex(point, dim=dim, period=period).neighbors(point, 0.1)) == 1
