"""From step to step: which pair is which, boxes that change, and distances on the edge of ``r``."""

import warnings

import numpy as np
import pytest

import broadphase as bp

FCC = [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]]


@pytest.mark.parametrize("cell", [None, [[10.0, 0.0], [3.0, 9.0]], (10.0, 10.0)])
@pytest.mark.parametrize("n", [40, 3_000])
def test_a_float32_distance_finds_its_pair_again(cell, n):
    random = np.random.default_rng(n)
    points, other = (random.random((n, 2)).astype(np.float32) * np.float32(10) for _ in range(2))
    ids, far = bp.nearest(points, 1, other=other, period=cell)
    for row in range(0, n, n // 20):
        d, pair = float(far[row, 0]), (row, int(ids[row, 0]))
        for how in ({}, {"r_min": d}):
            near = bp.neighbors(points, d, other=other, period=cell, **how)
            assert pair in set(zip(near.i.tolist(), near.j.tolist(), strict=True))
        assert bp.nearest(points[row], 1, other=other, r=d, period=cell).ids[0] == pair[1]
        assert bp.count_neighbors(points[row], d, other=other, period=cell) >= 1
        assert (
            len(
                bp.neighbors(
                    points[row], np.nextafter(np.float32(d), np.float32(0)), other=other, period=cell
                )
            )
            == 0
        )


@pytest.mark.parametrize("env", [False, True])
def test_float32_radii_on_the_edge(env):
    random = np.random.default_rng(5)
    points = random.random((300, 2)).astype(np.float32)
    envs = random.integers(-1, 2, 300) if env else None
    radii = random.random(300).astype(np.float32) * np.float32(0.05)
    pairs = bp.neighbors(points, np.inf, period=(1, 1), env=envs)
    i, j, apart = pairs
    radii[:3] = 0
    for row in np.flatnonzero(i < 3):  # the radius of j is the distance of a pair
        radii[j[row]] = apart[row] if j[row] >= 3 else 0
    wanted = apart <= radii[i] + radii[j]
    found = bp.neighbors(points, radii, period=(1, 1), env=envs)
    assert (found.i.tolist(), found.j.tolist()) == (i[wanted].tolist(), j[wanted].tolist())
    most = bp.neighbors(points, radii, period=(1, 1), env=envs, max_pairs=len(found))
    assert len(most) == len(found)


def test_images_leave_as_edges_of_their_own():
    near = bp.neighbors([[0.0, 0, 0]], 2.6, period=FCC, images="all")
    with pytest.raises(ValueError, match="several images, and a sparse array"):
        near.to_scipy()
    table = near.to_pandas()
    np.testing.assert_array_equal(table[["shift_x", "shift_y", "shift_z"]], near.shift)
    graph = near.to_networkx()
    assert graph.number_of_edges() == len(near) == 6
    assert sorted(value["shift"] for *_, value in graph.edges(data=True)) == sorted(
        map(tuple, near.shift.tolist())
    )
    both = bp.neighbors([[0.0, 0, 0], [1.0, 1, 1]], 2.6, period=FCC, images="all", half=False)
    graph = both.to_networkx()
    edges = sorted((i, j, *value["shift"]) for i, j, value in graph.edges(data=True))
    assert edges == sorted(
        (i, j, *s) for i, j, s in zip(both.i.tolist(), both.j.tolist(), both.shift.tolist(), strict=True)
    )
    beside = bp.neighbors([[0.0, 0]], 1.5, other=[[0.5, 0]], period=(1, 1), images="all").to_networkx()
    assert set(beside) == {("point", 0), ("other", 0)}
    assert beside.number_of_edges() > 1


def test_pairs_of_other_points_are_not_mixed_up():
    points = np.random.default_rng(0).random((50, 2))
    before, now = bp.neighbors(points, 0.3), bp.neighbors(points[1:], 0.3)
    with pytest.raises(ValueError, match=r"shape is \(50, 50\), and not \(49, 49\).*ids="):
        now.rows_in(before)
    with pytest.raises(ValueError, match="one of both has ids"):
        bp.neighbors(points, 0.3, ids=range(50)).rows_in(before)


@pytest.mark.parametrize("how", [{}, {"sort": False}, {"half": False}, {"other": True}, {"period": (1, 1)}])
def test_pairs_by_ids(how):
    random, other = np.random.default_rng(1), how.get("other")
    names = random.permutation(10**10 + np.arange(200))
    places = dict(zip(names.tolist(), random.random((200, 2)).tolist(), strict=True))

    def step(some):
        points = np.array([places[name] for name in some.tolist()])
        if other:
            return bp.neighbors(
                points[::2], 0.1, **{**how, "other": points[1::2]}, ids=(some[::2], some[1::2])
            )
        return bp.neighbors(points, 0.1, **how, ids=some)

    def pairs(near):
        one, two = near.ids[0][near.i].tolist(), near.ids[1][near.j].tolist()
        ordered = how.get("half", True) and not other
        return [tuple(sorted(pair)) if ordered else pair for pair in zip(one, two, strict=True)]

    before, now = step(names[:150]), step(np.concatenate((names[180:], names[40:120][:: 1 if other else -1])))
    rows = {pair: row for row, pair in enumerate(pairs(before))}
    wanted = [rows.get(pair, -1) for pair in pairs(now)]
    assert max(wanted) >= 0
    assert now.rows_in(before).tolist() == wanted
    began, stayed, ended = now.changes(before)
    held = [set(map(frozenset, some.tolist())) for some in (began, stayed, ended)]
    old, new = (set(map(frozenset, pairs(one))) for one in (before, now))
    assert held == [new - old, new & old, old - new]


def test_ids_are_checked():
    points = [[0.0, 0], [1, 1], [2, 2]]
    with pytest.raises(ValueError, match=r"ids\[2\] = 7 is that of row 0"):
        bp.neighbors(points, 1.0, ids=[7, 8, 7])
    with pytest.raises(ValueError, match="ids must hold one number for each of the 3"):
        bp.neighbors(points, 1.0, ids=[7, 8])
    with pytest.raises(TypeError, match="ids must be whole numbers"):
        bp.neighbors(points, 1.0, ids=[7.5, 8, 9])
    with pytest.raises(ValueError, match="ids must be a pair with other="):
        bp.neighbors(points, 1.0, other=points, ids=[1, 2, 3])


def test_unit_is_computed_once():
    near = bp.neighbors(np.random.default_rng(0).random((100, 2)), 0.2)
    assert near.unit is near.unit


def test_a_verlet_list_has_no_other_attributes():
    near = bp.VerletList(1.0, 0.2, period=(10, 10))
    with pytest.raises(AttributeError, match=r"neighbors\(points, period=\)"):
        near.period = (9, 9)
    with pytest.raises(AttributeError):
        near.cutoff = 2.0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_verlet_list_in_a_box_that_changes(kind, mixed):
    random = np.random.default_rng(3)
    lengths, points = np.array([10.0, 8.0, 9.0]), random.random((400, 3))
    r = random.random(400) * 0.6 if mixed else 1.0
    near = bp.VerletList(r, 0.3)
    for step in range(60):
        lengths *= random.choice([0.997, 1.004, 1.0], 3) if step % 20 else [0.7, 1.4, 1.0]
        points += random.normal(size=points.shape) * 0.0005
        places = (points * lengths).astype(kind)
        found = near.neighbors(places, period=tuple(lengths), offsets=True)
        right = bp.neighbors(places, r, period=tuple(lengths), offsets=True)
        for name in ("i", "j", "distance", "offset"):
            np.testing.assert_array_equal(getattr(found, name), getattr(right, name))
    assert 3 <= near.searches <= 40


def test_a_verlet_list_whose_environments_change_their_boxes():
    random = np.random.default_rng(4)
    points, near = random.random((3, 50, 2)), bp.VerletList(0.1, 0.05)
    cells = np.array([[[1.0, 0], [0.3, 1]], [[1, 0], [0, 1]], [[1, 0.2], [0, 1]]])
    for period in (np.ones((3, 2)), np.ones((3, 2)) * [[0.99], [1.01], [0.6]], cells, cells * 1.01):
        found = near.neighbors(points, period=period)
        right = bp.neighbors(points, 0.1, period=period)
        assert (found.i.tolist(), found.j.tolist()) == (right.i.tolist(), right.j.tolist())
        np.testing.assert_array_equal(found.distance, right.distance)


@pytest.mark.parametrize("size", [1e150, 1e170, 1e300, 1.7e308])
def test_a_verlet_list_of_huge_numbers_warns_of_nothing(size):
    points, near = np.array([[0.0, 0], [1, 1], [0.5, 0.2]]) * size, bp.VerletList(size / 2, size / 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for factor in (1.0, 0.999, -1.0, 0.5):
            found = near.neighbors(points * factor)
            assert found.i.tolist() == bp.neighbors(points * factor, size / 2).i.tolist()


def test_a_motion_that_goes_around_for_ever_is_refused():
    with pytest.raises(ValueError, match=r"rows 0 and 1 pass .* divide the frame"):
        bp.swept_pairs([[0, 0, 1, 1], [3, 3, 4, 4]], [[1e6, 1e6], [0, 0]], period=(10, 10))


def test_pairs_that_do_not_fit_are_refused(monkeypatch):
    from broadphase.runtime import memory as room

    points, few = np.zeros((3_000, 2)), np.random.default_rng(0).random((3_000, 2))
    monkeypatch.setattr(room, "_ENOUGH_TO_ASK", 1 << 10)
    monkeypatch.setattr(room, "available_memory", lambda: 10_000_000)
    for search in (bp.neighbors, lambda points, r: bp.VerletList(r, 0.1).neighbors(points)):
        with pytest.raises(
            MemoryError, match=r"4498500 or more pairs of 3000 points within r = .* 0.01 GB are free"
        ):
            search(points, 1.0)
        for radii in (np.full(3_000, 0.5), np.append(np.full(2_999, 0.5), 50.0)):
            with pytest.raises(MemoryError, match=r"\d+ or more pairs of 3000 points .* 0.01 GB are free"):
                search(points, radii)
    monkeypatch.setattr(room, "available_memory", lambda: 130_000_000)  # of which pairs take 126
    assert len(bp.neighbors(points, 1.0)) == len(bp.neighbors(points, np.full(3_000, 0.5))) == 4_498_500
    with pytest.raises(MemoryError, match=r"results take .* GB more, and 0.13 GB are free"):
        bp.neighbors(np.zeros((3_000, 3)), 1.0, half=False, offsets=True)
    crowd = np.concatenate((few, np.zeros((900, 2))))  # many at one place, few elsewhere
    monkeypatch.setattr(room, "available_memory", lambda: 12_000_000)
    assert len(bp.neighbors(crowd, 1e-3)) >= 900 * 899 // 2


def test_a_cell_as_lengths_and_angles_is_told_how():
    points, cell = np.zeros((2, 3)), [10, 10, 10, 60, 75, 90]
    for search in (bp.neighbors, lambda points, _, period: bp.PointIndex(points, period=period)):
        with pytest.raises(ValueError, match="cellpar_to_cell"):
            search(points, 1.0, period=cell)
