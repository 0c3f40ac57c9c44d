"""What is made of pairs: sums over the pairs of each point, both directions, unit vectors, earlier rows.

NumPy's ``add.at`` says the same.  Whole numbers are added, so that no order of the sums changes a digit.
"""

import pickle

import numpy as np
import pytest

import broadphase as bp

KINDS = [(2, np.float32), (2, np.float64), (3, np.float32), (3, np.float64)]


def scene(n, dim, dtype, seed=0):
    """Points in a periodic world, and a distance at which each has some neighbours."""
    places = np.random.default_rng((seed, n, dim)).random((n, dim)).astype(dtype)
    return places, float((6 / max(n, 6)) ** (1 / dim) * 0.8), (1.0,) * dim


def added(n, i, j, first, second):
    """Sums of the values that ``i`` gets, and of those that ``j`` gets, as `numpy.bincount` adds them."""
    sums = np.zeros((n, *first.shape[1:]))
    for column in np.ndindex(first.shape[1:]):
        sums[:, *column] = np.bincount(i, first[:, *column], n)
        if second is not None:
            sums[:, *column] += np.bincount(j, second[:, *column], n)
    return sums


def check_sums(n, dim, dtype, sort, shapes):
    places, r, period = scene(n, dim, dtype)
    near = bp.neighbors(places, r, period=period, sort=sort, offsets=True)
    i, j, _ = near
    random = np.random.default_rng(n)
    for shape in shapes:
        each = random.integers(-99, 99, (n, *shape)).astype(dtype)
        found = near.sum(each)
        np.testing.assert_array_equal(found, added(n, i, j, each[j], each[i]))
        assert (found.dtype, found.shape) == (dtype, each.shape)
        of_pairs = random.integers(-99, 99, (len(near), *shape)).astype(dtype)
        np.testing.assert_array_equal(near.scatter(of_pairs), added(n, i, j, of_pairs, of_pairs))
        right = added(n, i, j, of_pairs, -of_pairs)
        for values in (of_pairs, of_pairs.__getitem__):
            found = near.scatter(values, antisymmetric=True)
            np.testing.assert_array_equal(found, right)
            assert (found.dtype, found.shape) == (dtype, each.shape)
    strength = random.integers(-99, 99, len(near)).astype(dtype)
    vectors = random.integers(-9, 9, (len(near), dim)).astype(np.float32)
    product = strength[:, None] * vectors
    for values in (strength, strength.__getitem__):
        found = near.scatter(values, along=vectors, antisymmetric=True)
        np.testing.assert_array_equal(found, added(n, i, j, product, -product))
        assert (found.dtype, found.shape) == (dtype, (n, dim))


@pytest.mark.parametrize("n", [0, 1, 60, 1_000])
@pytest.mark.parametrize("sort", [True, False])
def test_sums(n, sort):
    for dim, dtype in KINDS:
        check_sums(n, dim, dtype, sort, ((), (1,), (2,), (3,), (5,), (2, 2), (0,)))


@pytest.mark.parametrize("sort", [True, False])
def test_sums_in_pieces(sort):
    check_sums(60_000, 2, np.float32, sort, ((3,),))


def test_sums_are_the_same_on_any_number_of_threads(exhaustive):
    n = 60_000 if exhaustive else 30_000
    places, r, period = scene(n, 2, np.float64)
    values, sums = np.random.default_rng(1).normal(size=(n, 2)), []
    for threads in (1, 2, 7):
        near = bp.neighbors(places, 2 * r, period=period, threads=threads, offsets=True)
        sums.append((near.sum(values), near.scatter(near.offset, antisymmetric=True), *near.csr()))
    for other in sums[1:]:
        for one, same in zip(sums[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("sort", [True, False])
def test_sums_among_others_count_for_the_points(sort):
    places, r, period = scene(3_000, 3, np.float64)
    others = scene(500, 3, np.float64, 1)[0]
    near = bp.neighbors(places, 2 * r, other=others, period=period, sort=sort)
    random = np.random.default_rng(2)
    each, of_pairs = random.integers(0, 99, 500), random.integers(0, 99, (len(near), 2))
    np.testing.assert_array_equal(near.sum(each), added(3_000, near.i, near.j, each[near.j], None))
    np.testing.assert_array_equal(near.scatter(of_pairs), added(3_000, near.i, near.j, of_pairs, None))
    with pytest.raises(ValueError, match="antisymmetric=True has no meaning with other="):
        near.scatter(of_pairs, antisymmetric=True)


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_both_directions(dim, dtype):
    places, r, period = scene(2_000, dim, dtype)
    half = bp.neighbors(places, r, period=period, offsets=True)
    full = bp.neighbors(places, r, period=period, offsets=True, half=False)
    i, j = np.concatenate((half.i, half.j)), np.concatenate((half.j, half.i))
    order = np.lexsort((j, i))
    np.testing.assert_array_equal(full.i, i[order])
    np.testing.assert_array_equal(full.j, j[order])
    np.testing.assert_array_equal(full.distance, np.tile(half.distance, 2)[order])
    np.testing.assert_array_equal(full.offset, np.concatenate((half.offset, -half.offset))[order])
    for rows in (half.csr(), full.csr(), bp.neighbors(places, r, period=period, half=False).csr()):
        np.testing.assert_array_equal(rows.indices, full.j)
        np.testing.assert_array_equal(np.repeat(np.arange(2_000), np.diff(rows.indptr)), full.i)
        np.testing.assert_array_equal(rows.distances, full.distance)
    np.testing.assert_array_equal(half.csr().offsets, full.offset)
    np.testing.assert_array_equal(half.csr().unit, full.unit)
    np.testing.assert_array_equal(full.edge_index(both=True), full.edge_index())
    assert full.to_scipy().nnz == len(full)
    each = np.arange(2_000.0)
    np.testing.assert_array_equal(full.sum(each), half.sum(each))
    np.testing.assert_array_equal(full.scatter(full.distance > 0), half.scatter(half.distance > 0))
    few = bp.neighbors(places[:20], 0.5, half=False)
    assert len(few) == 2 * len(bp.neighbors(places[:20], 0.5))
    assert (np.diff(few.i) >= 0).all()
    assert len(bp.neighbors(places, r, period=period, half=False, max_pairs=len(full))) == len(full)
    with pytest.raises(bp.PairLimitExceeded) as refused:
        bp.neighbors(places, r, period=period, half=False, max_pairs=len(full) - 1)
    assert refused.value.max_pairs == len(full) - 1


def test_unit_vectors():
    points = [[0.0, 0.0], [3.0, 4.0], [3.0, 4.0], [-6.0, 8.0]]
    near = bp.neighbors(points, 10.0, offsets=True)
    assert near.unit.tolist() == [[0.6, 0.8], [0.6, 0.8], [-0.6, 0.8], [0, 0], *2 * [near.unit[4].tolist()]]
    np.testing.assert_allclose(np.hypot(*near.unit[4]), 1.0)
    near = bp.neighbors(points, 3.0, period=(20.0, 20.0), images="all")
    with pytest.raises(ValueError, match="find the neighbours with offsets=True"):
        near.unit  # noqa: B018


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("n", [0, 60, 3_000])
def test_rows_in_an_earlier_list(n, sort):
    places, r, period = scene(n, 2, np.float64)
    moved = places + np.random.default_rng(3).normal(size=places.shape) * r / 5
    before = bp.neighbors(places, r, period=period, sort=sort)
    now = bp.neighbors(moved, r, period=period, sort=not sort)
    rows = {pair: row for row, pair in enumerate(zip(before.i.tolist(), before.j.tolist(), strict=True))}
    wanted = [rows.get(pair, -1) for pair in zip(now.i.tolist(), now.j.tolist(), strict=True)]
    assert now.rows_in(before).tolist() == wanted
    assert before.rows_in(before).tolist() == list(range(len(before)))
    none = bp.neighbors(np.zeros((0, 2)), r)
    assert none.rows_in(before).tolist() == []
    assert (now.rows_in(none) == -1).all()


def test_what_does_not_fit_is_named():
    near = bp.neighbors([[0, 0], [1, 1], [2, 2]], 2.0)
    with pytest.raises(ValueError, match=r"values must have 3 rows, one for each point; got shape \(2,\)"):
        near.sum([1, 2])
    with pytest.raises(ValueError, match=r"values must have 2 rows, one for each pair; got shape \(\)"):
        near.scatter(1.0)
    with pytest.raises(
        ValueError, match=r"return values of shape \(2, \.\.\.\) for rows 0 to 2; got shape \(3,"
    ):
        near.scatter(lambda rows: [1, 2, 3])
    with pytest.raises(
        ValueError, match=r"values must be one number for each pair with along=; got shape \(2, 1"
    ):
        near.scatter([[1], [2]], along=[[1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"along must have shape \(2, k\), a vector a pair; got \(2,\)"):
        near.scatter([1, 2], along=[1, 2])
    with pytest.raises(TypeError, match="values"):
        near.sum(["a", "b", "c"])
    with pytest.raises(TypeError, match="previous must be what neighbors returned; got list"):
        near.rows_in([])
    with pytest.raises(ValueError, match="found in the same way"):
        near.rows_in(bp.neighbors([[0, 0]], 2.0, other=[[1, 1]]))


def test_changes_of_spheres():
    places, r, period = scene(2_000, 2, np.float64)
    moved = places + np.random.default_rng(4).normal(size=places.shape) * r / 5
    before, now = (bp.neighbors(some, r, period=period) for some in (places, moved))
    sets = [set(zip(near.i.tolist(), near.j.tolist(), strict=True)) for near in (before, now)]
    began, stayed, ended = now.changes(before)
    assert [tuple(pair) for pair in began.tolist()] == sorted(sets[1] - sets[0])
    assert [tuple(pair) for pair in stayed.tolist()] == sorted(sets[1] & sets[0])
    assert [tuple(pair) for pair in ended.tolist()] == sorted(sets[0] - sets[1])
    began, stayed, ended = now.changes(None)
    assert len(began) == len(now)
    assert not len(stayed)
    assert not len(ended)


def test_what_cannot_be_excluded_is_named():
    places = [[0, 0], [1, 1], [2, 2]]
    with pytest.raises(TypeError, match="exclude must hold whole numbers, pairs of rows; got dtype float64"):
        bp.neighbors(places, 2.0, exclude=[[0.0, 1.0]])
    with pytest.raises(ValueError, match=r"exclude must have shape \(k, 2\), a pair a row; got shape \(2,\)"):
        bp.neighbors(places, 2.0, exclude=[0, 1])
    with pytest.raises(ValueError, match=r"exclude\[1\] = \[3, 0\] names row 3; there are 3 rows"):
        bp.neighbors(places, 2.0, exclude=[[0, 1], [3, 0]])
    assert len(bp.neighbors(places, 2.0, exclude=[])) == 2


@pytest.mark.covering
@pytest.mark.parametrize("period", [None, (1.0, None), (1.0, 1.0), [[1.0, 0.0], [0.25, 1.0]]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("radii", [False, True])
def test_a_list_with_a_skin_finds_what_a_search_finds(period, dtype, radii):
    places, r, _ = scene(300, 2, dtype)
    random = np.random.default_rng(6)
    env, reach = random.integers(-1, 2, 300), random.uniform(0.2, 1.0, 300) * r if radii else r
    bonds = random.integers(0, 300, (200, 2))
    near = bp.VerletList(reach, r / 4, period=period, exclude=bonds)
    for step in range(20):
        found = near.neighbors(places, env=env, offsets=True, half=step % 2 == 0)
        right = bp.neighbors(
            places, reach, period=period, env=env, exclude=bonds, offsets=True, half=step % 2 == 0
        )
        for column, wanted in zip((*found, found.offset), (*right, right.offset), strict=True):
            np.testing.assert_array_equal(column, wanted)
        assert found.distance.dtype == dtype
        places = places + random.normal(size=places.shape).astype(dtype) * dtype(r / 40)
    if not isinstance(period, list):
        assert 1 < near.searches < 15


def test_points_at_the_very_distance_and_the_very_skin():
    near = bp.VerletList(1.0, 0.5)
    assert len(near.neighbors([[0.0, 0.0], [1.5, 0.0], [9.0, 0.0]])) == 0
    assert len(near.neighbors([[0.25, 0.0], [1.25, 0.0], [9.0, 0.0]])) == 1
    assert near.searches == 1
    assert len(near.neighbors([[0.26, 0.0], [1.25, 0.0], [1.2, 0.0]])) == 3
    assert near.searches == 2
    assert len(near.neighbors(np.zeros((0, 2)))) == 0
    assert len(near.neighbors([[0, 0], [1, 0]])) == 1
    with pytest.raises(ValueError, match="skin = -1 is no distance"):
        bp.VerletList(1.0, -1)
    with pytest.raises(ValueError, match=r"points\[1\] has x = nan"):
        near.neighbors([[0, 0], [np.nan, 0]])


@pytest.mark.parametrize("n", [40, 3_000])
@pytest.mark.parametrize("period", [None, (1.0, 1.0), [[1.0, 0.0], [0.3, 1.0]]])
@pytest.mark.parametrize("how", [{}, {"half": False}, {"sort": False}, {"other": True}])
def test_unit_vectors_without_offsets_are_those_with(n, period, how):
    points = np.random.default_rng(n).random((n, 2))
    if "other" in how:
        how = {"other": points[::2] + 0.01}
    r = 0.3 if n < 100 else 0.03
    near = bp.neighbors(points, r, period=period, **how)
    with_offsets = bp.neighbors(points, r, period=period, offsets=True, **how)
    assert near.offset is None
    again = pickle.loads(pickle.dumps(near))
    for found in (near.unit, again.unit):
        order, wanted = np.lexsort((near.j, near.i)), np.lexsort((with_offsets.j, with_offsets.i))
        np.testing.assert_array_equal(found[order], with_offsets.unit[wanted])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("slab", [False, True])
def test_a_list_with_a_skin_in_a_tilted_cell(slab, dtype):
    random = np.random.default_rng(11)
    cell = [[6.0, 0.0, 0.0], [1.5, 5.0, 0.0], [-1.0, 0.5, 7.0]]
    period = [*cell[:2], None] if slab else cell
    points = random.random((400, 3)) @ cell
    for r in (1.1, rng_radii(random, 400)):
        verlet = bp.VerletList(r, 0.4, period=period)
        for step in range(25):
            points = points + random.normal(size=points.shape) * 0.012
            given = points.astype(dtype)
            half = step % 2 == 0
            near = verlet.neighbors(given, offsets=True, half=half)
            wanted = bp.neighbors(given, r, period=period, offsets=True, half=half)
            np.testing.assert_array_equal(near.i, wanted.i)
            np.testing.assert_array_equal(near.j, wanted.j)
            np.testing.assert_array_equal(near.distance, wanted.distance)
            np.testing.assert_array_equal(near.offset, wanted.offset)
        assert 1 < verlet.searches < 15
    searches = verlet.searches
    wider = [[1.01 * one for one in row] for row in cell]
    np.testing.assert_array_equal(
        verlet.neighbors(points, period=wider).j, bp.neighbors(points, r, period=wider).j
    )
    assert verlet.searches == searches + 1
    far = bp.VerletList(3.0, 0.4, period=cell)  # farther than half of the cell: each step is a search
    for _ in range(3):
        assert len(far.neighbors(points)) == len(bp.neighbors(points, 3.0, period=cell))
    assert far.searches == 3


def rng_radii(random, n):
    return random.uniform(0.2, 0.6, n)
