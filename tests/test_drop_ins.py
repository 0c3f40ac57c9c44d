"""The adapters for SciPy, freud and ASE: what these libraries themselves answer."""

import doctest
import importlib
import pickle

import numpy as np
import pytest
from later import Later

from broadphase.adapters.scipy import KDTree, cKDTree

ours_of_ase = Later("broadphase.adapters.ase")
ours_of_freud = Later("broadphase.adapters.freud")
ase = Later("ase")
build = Later("ase.build")
ases = Later("ase.neighborlist")
freud = Later("freud")
spatial = Later("scipy.spatial")

BOXES = {"plane": None, "torus": 1.0, "cylinder": [1.0, 0.0, 0.0]}


def trees(dim, box, n=300, seed=1):
    """The same points in both trees."""
    points = np.random.default_rng(seed).random((n, dim))
    boxsize = None if BOXES[box] is None else np.broadcast_to(BOXES[box], 3)[:dim]
    return KDTree(points, boxsize=boxsize), spatial.KDTree(points, boxsize=boxsize)


@pytest.fixture(params=[(dim, box) for dim in (1, 2, 3) for box in BOXES], ids=str)
def both(request):
    return trees(*request.param)


def test_the_nearest_are_those_of_scipy(both):
    ours, theirs = both
    queries = np.random.default_rng(2).random((4, 25, ours.m)) * 1.2 - 0.1
    for options in (
        {},
        {"k": 5},
        {"k": [1, 4]},
        {"k": [3]},
        {"k": 400},
        {"k": 7, "distance_upper_bound": 0.08, "workers": -1},
        {"k": 3, "p": 1.0},
        {"k": 3, "p": np.inf},
        {"k": 2, "distance_upper_bound": 0.0},
        {"k": 2, "distance_upper_bound": np.nan},
    ):
        for some in (queries, queries[0, 0], queries[:, :0]):
            for found, expected in zip(
                ours.query(some, **options), theirs.query(some, **options), strict=True
            ):
                assert np.shape(found) == np.shape(expected)
                np.testing.assert_allclose(found, expected, rtol=1e-12)
    at_once = ours.data[5] + [0.25] * ours.m
    r = theirs.query(ours.data[7] * 0 + at_once % 1.0)[0]
    assert ours.query(at_once % 1.0, distance_upper_bound=r * (1 - 1e-9))[1] == ours.n
    assert ours.query(at_once % 1.0, distance_upper_bound=r * (1 + 1e-9))[1] < ours.n


def test_neighbours_are_those_of_scipy(both):
    ours, theirs = both
    queries = np.random.default_rng(3).random((6, 7, ours.m))
    radii = np.random.default_rng(4).random((6, 7)) * 0.2
    for some, r in ((queries, 0.1), (queries, radii), (queries[0, 0], 0.2), (queries[0], radii[0])):
        expected = theirs.query_ball_point(some, r, return_sorted=True)
        found = ours.query_ball_point(some, r)
        assert type(found) is type(expected)
        assert np.asarray(found, object).tolist() == np.asarray(expected, object).tolist()
        lengths = ours.query_ball_point(some, r, return_length=True)
        np.testing.assert_array_equal(lengths, theirs.query_ball_point(some, r, return_length=True))
        found, expected = (tree.query_ball_point(some, 0.1, p=1, return_length=True) for tree in both)
        np.testing.assert_array_equal(found, expected)


def test_pairs_of_trees_are_those_of_scipy(both):
    ours, theirs = both
    others = [trees(ours.m, "plane", 80, 5)[k] for k in (0, 1)]
    if ours.boxsize is not None:
        others = [kind(others[0].data, boxsize=ours.boxsize) for kind in (KDTree, spatial.KDTree)]
    assert ours.query_pairs(0.1) == theirs.query_pairs(0.1)
    pairs = theirs.query_pairs(0.1, output_type="ndarray")
    np.testing.assert_array_equal(
        ours.query_pairs(0.1, output_type="ndarray"), pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    )
    lists = [sorted(row) for row in theirs.query_ball_tree(others[1], 0.1)]
    assert ours.query_ball_tree(others[0], 0.1) == lists
    for options in ({}, {"cumulative": False}, {"p": 1.0}, {"weights": (np.ones(300), np.ones(80))}):
        for r in ([0.05, 0.1, 0.3], 0.2):
            if np.ndim(r) == 0 and "cumulative" in options:
                continue
            found = ours.count_neighbors(others[0], r, **options)
            np.testing.assert_array_equal(found, theirs.count_neighbors(others[1], r, **options))
    for cumulative in (True, False):
        found = ours.count_neighbors(ours, 0.1, cumulative=cumulative)
        assert found == theirs.count_neighbors(theirs, 0.1, cumulative=cumulative)
        assert np.ndim(found) == 0
    assert ours.count_neighbors(others[1], 0.1) == theirs.count_neighbors(others[1], 0.1)
    for kind in ("dok_matrix", "coo_matrix"):
        found, expected = (
            tree.sparse_distance_matrix(other, 0.1, output_type=kind).toarray()
            for tree, other in zip(both, others, strict=True)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    found = ours.sparse_distance_matrix(others[0], 0.1, output_type="dict")
    assert found == pytest.approx(theirs.sparse_distance_matrix(others[1], 0.1, output_type="dict"))
    rows = ours.sparse_distance_matrix(others[0], 0.1, output_type="ndarray")
    assert {(i, j): v for i, j, v in rows.tolist()} == found


@pytest.mark.parametrize("argument", ["sqr_dists", "mask"])
def test_what_pykdtree_calls_an_argument_is_named(argument):
    with pytest.raises(TypeError, match=rf"'{argument}'; (distances are not squared|leave out the points)"):
        KDTree([[0, 1]]).query([0, 1], **{argument: None})


def test_what_else_a_tree_of_scipy_has():
    ours, theirs = trees(4, "plane")  # four axes are SciPy's
    np.testing.assert_array_equal(ours.query(ours.data, 3)[1], theirs.query(theirs.data, 3)[1])
    assert ours.query_pairs(0.2) == theirs.query_pairs(0.2)
    tree = KDTree([[0, 1], [2, 3]], leafsize=3)
    assert tree.maxes.tolist() == [2, 3]
    assert tree.leafsize == 3
    assert tree.tree.children == 2
    assert pickle.loads(pickle.dumps(tree)).query([2, 2])[1] == 1
    assert KDTree(np.empty((0, 2))).query([1, 2]) == (np.inf, 0)
    assert cKDTree is KDTree
    for values, options, kind, message in (
        ([[0, np.nan]], {}, ValueError, "data must be finite"),
        ([0, 1], {}, ValueError, r"data must have shape \(n, m\)"),
        ([[0, 1j]], {}, TypeError, "not complex data"),
        ([[0, 2.0]], {"boxsize": 2}, ValueError, "within the periodic box"),
    ):
        with pytest.raises(kind, match=message):
            KDTree(values, **options)
    with pytest.raises(ValueError, match=r"x must have 2 numbers a point.*got shape \(3,\)"):
        tree.query([1, 2, 3])
    with pytest.raises(ValueError, match="unknown output_type 'list'"):
        tree.query_pairs(1, output_type="list")
    with pytest.raises(ValueError, match="unknown output_type 'list'"):
        tree.sparse_distance_matrix(tree, 1, output_type="list")
    with pytest.raises(ValueError, match="r must not decrease"):
        tree.count_neighbors(tree, [2, 1], cumulative=False)
    with pytest.raises(AttributeError):
        tree.nonsense  # noqa: B018


@pytest.mark.parametrize("r_max", [0.7, 2.0, 4.0])
def test_tilted_boxes_of_freud(r_max):
    """Pairs at just the distance are left out: freud computes in float32."""
    box, random = freud.box.Box(10, 11, 12, xy=0.4, xz=-0.3, yz=0.2), np.random.default_rng(7)
    points = box.make_absolute(random.random((400, 3))).astype(np.float32)
    found, expected = (
        {
            (int(i), int(j)): float(distance)
            for (i, j), distance in zip(near[:], near.distances, strict=True)
            if abs(distance - r_max) > 1e-4
        }
        for near in (
            search(box, points).query(points, {"r_max": r_max, "exclude_ii": True}).toNeighborList()
            for search in (ours_of_freud.AABBQuery, freud.locality.AABBQuery)
        )
    )
    assert len(found) > 100
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("flat", [False, True], ids=["box", "plane"])
@pytest.mark.parametrize(
    "asked",
    [
        {"r_max": 2.0},
        {"r_max": 2.0, "r_min": 0.7, "exclude_ii": True},
        {"mode": "ball", "r_max": 4.9},
        {"num_neighbors": 6, "exclude_ii": True},
        {"mode": "nearest", "num_neighbors": 5, "r_max": 1.5},
        {"num_neighbors": 3, "r_min": 0.9, "exclude_ii": True},
    ],
    ids=str,
)
def test_freuds_neighbour_lists(flat, asked):
    box, random = freud.box.Box(10, 11, 0 if flat else 12, is2D=flat), np.random.default_rng(6)
    points, queries = (
        ((random.random((n, 3)) - 0.5) * [10, 11, 0 if box.is2D else 12]).astype(np.float32)
        for n in (400, 90)
    )
    # freud's other search finds fewer of the nearest where there is an r_min.
    theirs = freud.locality.LinkCell(box, points, 2.0).query(queries, asked)
    ours = ours_of_freud.LinkCell(box, points, 2.0).query(queries, asked)
    assert list(ours) == list(ours_of_freud.AABBQuery.from_system((box, points)).query(queries, asked))
    for by_distance in (False, True):
        found, expected = (each.toNeighborList(sort_by_distance=by_distance) for each in (ours, theirs))
        assert len(found) > 100
        np.testing.assert_array_equal(found[:], expected[:])
        np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-5)
    assert sorted((i, j) for i, j, _ in ours) == sorted((i, j) for i, j, _ in theirs)


def test_systems_as_of_freud():
    points = np.array([[1, 2, 3], [-1, 0, 2]], np.float32)
    theirs = freud.locality.AABBQuery(freud.box.Box.cube(9), points)
    for kind in (ours_of_freud.AABBQuery, ours_of_freud.LinkCell):
        ours = kind.from_system(theirs)
        assert type(ours) is kind
        assert (ours.box, ours.points.tolist()) == (theirs.box, points.tolist())
        assert kind.from_system(ours) is ours


@pytest.mark.parametrize("kind", ["cube", "square"])
def test_freuds_plot(kind):
    from matplotlib import pyplot

    box = getattr(freud.box.Box, kind)(9)
    points = [[1, 2, 0], [-1, 0, 0]]
    ours, theirs = (
        search(box, points).plot(title="atoms")
        for search in (ours_of_freud.AABBQuery, freud.locality.AABBQuery)
    )
    np.testing.assert_array_equal(ours[1].get_offsets(), theirs[1].get_offsets())
    assert ours[0].name == theirs[0].name
    pyplot.close("all")


def test_freuds_analyses_take_it():
    box, points = freud.data.make_random_system(10, 500, seed=1)
    asked = {"r_max": 2.0, "exclude_ii": True}
    mine = ours_of_freud.AABBQuery(box, points).query(points, asked).toNeighborList()
    found, expected = (
        freud.density.LocalDensity(2.0, 1.0).compute((box, points), neighbors=each).density
        for each in (mine, asked)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert (
        len(ours_of_freud.AABBQuery(box, points).query(points[:0].reshape(0, 3), asked).toNeighborList()) == 0
    )


def test_freuds_arguments_are_checked():
    tree = ours_of_freud.AABBQuery([10, 10, 10], [[0, 0, 0], [1, 1, 1]])
    for asked, kind, message in (
        ({"r_max": 6}, RuntimeError, "r_max = 6 is more than half of the box, 5"),
        ({"r_max": 1, "r_min": 1}, ValueError, "r_min = 1 must be at least 0 and less than r_max = 1"),
        ({"r_max": 1, "radius": 2}, ValueError, "unknown query arguments: radius"),
        ({"mode": "near", "r_max": 1}, ValueError, "unknown mode 'near'"),
        ({"mode": "ball", "num_neighbors": 1, "r_max": 1}, RuntimeError, "takes no num_neighbors"),
        ({"mode": "nearest", "r_max": 1}, RuntimeError, "needs num_neighbors"),
        ({}, RuntimeError, "needs r_max"),
    ):
        with pytest.raises(kind, match=message):
            tree.query(tree.points, asked)
    for points, message in (
        ([], r"points must have shape \(n, 3\)"),
        (np.empty((0, 3)), "at least one row"),
        ([[1, 2, 3]], "must have z = 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ours_of_freud.AABBQuery(freud.box.Box.square(5), points)
    slab = freud.box.Box.cube(5)
    slab.periodic = [True, True, False]
    with pytest.raises(ValueError, match="must be periodic along all axes"):
        ours_of_freud.AABBQuery(slab, [[0, 0, 0]])


def cell_of(random, kind):
    if kind == "orthogonal":
        return np.diag(3 + 4 * random.random(3))
    return np.diag(3 + 4 * random.random(3)) + random.normal(size=(3, 3)) * (0.5 if kind == "tilted" else 1.5)


@pytest.mark.covering
@pytest.mark.parametrize("kind", ["orthogonal", "tilted", "very tilted"])
@pytest.mark.parametrize("pbc", [False, True, (True, False, True), (False, True, False)], ids=str)
def test_ases_neighbour_lists(kind, pbc):
    random = np.random.default_rng(7)
    for n in (1, 2, 40):
        cell = cell_of(random, kind)
        atoms = ase.Atoms("CHO"[n % 3] * n, (4 * random.random((n, 3)) - 1.5) @ cell, cell=cell, pbc=pbc)
        atoms.numbers[::2] = 1
        for cutoff in (
            0.5,
            2.5,
            6.0,  # more than the cell
            random.random(n) * 2,
            {("H", "H"): 3.0, ("H", "C"): 2.0, (8, 1): 1.0},
        ):
            for own in (False, True):
                found = ours_of_ase.neighbor_list("ijdDS", atoms, cutoff, own)
                expected = ases.neighbor_list("ijdDS", atoms, cutoff, own)
                found, expected = (in_order(*each) for each in (found, expected))
                for mine, theirs in zip(found, expected, strict=True):
                    assert mine.dtype == theirs.dtype
                    np.testing.assert_allclose(mine, theirs, atol=1e-12)


def in_order(i, j, d, away, shifts):
    order = np.lexsort((*shifts.T, j, i))
    return i[order], j[order], d[order], away[order], shifts[order]


@pytest.mark.parametrize("cutoff", [-0.1, {("Cu", "Cu"): -0.1}, [-0.1]])
def test_no_atoms_are_nearer_than_a_negative_cutoff(cutoff):
    assert [len(found) for found in ours_of_ase.neighbor_list("ijS", build.bulk("Cu"), cutoff)] == [0, 0, 0]


# Systems of vesin's own tests (BSD-3-Clause), with how many rows ASE lists.
OF_VESIN = {
    "face-centred": ([[0, 0, 0]], [[0, 1.5, 1.5], [1.5, 0, 1.5], [1.5, 1.5, 0]], True, 3.0, 12),
    "smaller than the cutoff": ([[0, 0, 0]], np.diag([0.5, 0.5, 0.5]), True, 0.6, 6),
    "slanted": (
        [[1.42, 0, 0], [2.84, 0, 0], [3.55, -1.22975607, 0], [4.97, -1.22975607, 0]],
        [[4.26, -2.45951215, 0], [2.13, 1.22975607, 0], [0, 0, 50]],
        True,
        6.4,
        180,
    ),
    "a slab without height": ([[0, 2.5, 0], [2, 0, 0]], np.diag([4, 4.5, 0]), (True, True, False), 7.0, 36),
    "no cell": ([[3.9, 1.6, 7.1], [3.2, 1.6, 7.9], [5.0, 1.7, 5.8]], np.zeros((3, 3)), False, 8.0, 6),
}


@pytest.mark.parametrize("name", OF_VESIN)
def test_systems_of_vesins_tests(name):
    points, cell, pbc, cutoff, rows = OF_VESIN[name]
    # A rotation that also mirrors, and points outside of the cell.
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    turn *= -np.sign(np.linalg.det(turn))
    for place, vectors in ((points, cell), (points @ turn.T + [70, -30, 50], cell @ turn.T)):
        atoms = ase.Atoms(positions=place, cell=vectors, pbc=pbc)
        found = in_order(*ours_of_ase.neighbor_list("ijdDS", atoms, cutoff))
        expected = in_order(*ases.neighbor_list("ijdDS", atoms, cutoff))
        for mine, theirs in zip(found, expected, strict=True):
            assert len(mine) == rows
            np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_a_tube_has_one_vector():
    tube = build.nanotube(3, 3, length=2)
    for own, theirs in zip(
        ours_of_ase.neighbor_list("ij", tube, 1.6), ases.neighbor_list("ij", tube, 1.6), strict=True
    ):
        assert sorted(own.tolist()) == sorted(theirs.tolist())


def test_what_else_ase_is_asked():
    copper = build.bulk("Cu", "fcc", a=3.6)
    for cutoff in (3.0, {("Cu", 29): 3, ("C", "H"): 9}):
        assert ours_of_ase.neighbor_list("i", copper, cutoff).tolist() == [0] * 12
    found = ours_of_ase.neighbor_list("Dd", build.molecule("H2O"), 1.2)
    np.testing.assert_allclose(np.linalg.norm(found[0], axis=1), found[1])
    for letter, shape in zip("ijdDS", [(0,), (0,), (0,), (0, 3), (0, 3)], strict=True):
        assert ours_of_ase.neighbor_list(letter, ase.Atoms(), 1.0).shape == shape
    scaled = ours_of_ase.primitive_neighbor_list(
        "ij", True, np.eye(3) * 4, [[0, 0, 0], [0.9, 0, 0]], 0.5, use_scaled_positions=True
    )
    assert [each.tolist() for each in scaled] == [[0, 1], [1, 0]]
    for arguments, message in (
        (("k", copper, 1.0), "quantities must be letters of ijdDS; got 'k'"),
        (("i", copper, [1.0, 2.0]), r"a radius for each of the 1 atoms; got \(2,\)"),
        (("i", copper, np.nan), "cutoff is NaN"),
        (("i", copper, [np.nan]), r"cutoff\[0\] is NaN"),
        (("i", copper, {("Cu", 29): np.nan}), r"cutoff\[\('Cu', 29\)\] is NaN"),
        (("i", copper, {"Cu": 3}), "pairs of elements as keys.*got 'Cu'"),
        (("i", copper, {("Cu", "Uc"): 3}), r"got \('Cu', 'Uc'\)"),
    ):
        with pytest.raises(ValueError, match=message):
            ours_of_ase.neighbor_list(*arguments)
    with pytest.raises(ValueError, match=r"pbc = \[True, False, True\], but the cell has no vector along"):
        ours_of_ase.primitive_neighbor_list("i", (True, False, True), np.diag([1, 1, 0]), [[0, 0, 0]], 1)
    with pytest.raises(ValueError, match="needs numbers="):
        ours_of_ase.primitive_neighbor_list("i", False, np.eye(3), [[0, 0, 0]], {("H", "H"): 1})


@pytest.mark.parametrize("library", ["ase", "freud", "mesa"])
def test_the_examples(library):
    pytest.importorskip(library)
    failed, tried = doctest.testmod(importlib.import_module(f"broadphase.adapters.{library}"))
    assert (failed, tried > 0) == (0, True)
