"""What is the tree's own: depth whatever the order, margins, static boxes apart, nodes given back."""

import pickle

import numpy as np
import pytest
from cases import machine_settings
from index_scenes import NEEDED
from test_index_machine import IndexMachine

import broadphase as bp
from broadphase.kernels.tree.dynamic_tree import HEIGHT, LEAST, WIDTH
from broadphase.methods.tree import TreeArrays
from broadphase.runtime import thresholds


def squares(seed, n, world=100.0, size=1.0, dim=2):
    low = np.random.default_rng(seed).random((n, dim)) * world
    return np.hstack((low, low + size))


def filled(rows, **options):
    tree = bp.BoxTree(**options)
    tree.insert_many(rows)
    tree.validate()
    return tree


def heights(tree):
    return tree._structure._arrays.children[0, HEIGHT : HEIGHT + 2].tolist()


def slot(tree, i):
    """The slot of an id: wider than its box by the margin."""
    node, place = divmod(int(tree._structure._arrays.where[i]), WIDTH)
    return tree._structure._arrays.edges.reshape(-1, 2 * tree.dim, WIDTH)[node, :, place]


def nodes_of(tree):
    arrays = tree._structure._arrays
    return tuple(array.tobytes() for array in (arrays.edges, arrays.children, arrays.links, arrays.where))


# ---- the machine, with other margins, and with trees that are rebuilt more often

VARIANTS = {
    "no margin": ({"margin": 0.0}, 64),
    "a margin": ({"margin": 1.5}, 64),
    "a wide margin": ({"margin": 1e300}, 64),
    "built anew": ({}, 2),
}


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("variant", VARIANTS)
def test_any_margin_does(variant, dim, monkeypatch):
    options, few = VARIANTS[variant]
    monkeypatch.setattr(thresholds, "FEWEST_BOXES", 0)
    monkeypatch.setattr(thresholds, "FEW_CHANGED", few)
    monkeypatch.setitem(NEEDED, "box_tree", lambda dim: options)
    machine = type("Machine", (IndexMachine,), {"name": "box_tree", "dim": dim}).TestCase
    machine.settings = machine_settings(8, 30)
    machine().runTest()


# ---- balance


def in_order(n):
    return squares(1, n)[np.argsort(squares(1, n)[:, 0])]


def on_a_line(n):
    low = np.arange(n, dtype=float)
    return np.column_stack((low, 0 * low, low + 0.5, 0 * low))


ORDERS = {
    "ascending": in_order,
    "descending": lambda n: in_order(n)[::-1],
    "on a line": on_a_line,
    "all equal": lambda n: np.tile([[1.0, 2.0, 3.0, 4.0]], (n, 1)),
    "all infinite": lambda n: np.tile([[-np.inf, -np.inf, np.inf, np.inf]], (n, 1)),
    "one inside the other": lambda n: np.arange(1, n + 1)[:, None] * np.array([[-1.0, -1.0, 1.0, 1.0]]),
    "doubling": lambda n: 2.0 ** (np.arange(n) % 1000)[:, None] * np.array([[1.0, 1.0, 2.0, 2.0]]),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("bulk", [True, False])
def test_no_order_makes_it_deep(order, bulk):
    rows = ORDERS[order](3000)
    tree = bp.BoxTree()
    if bulk:
        tree.insert_many(rows)
    else:
        for row in rows.tolist():
            tree.insert(row)
    tree.validate()
    assert heights(tree)[0] <= 1 + np.log(3000) / np.log(LEAST)
    assert tree.stats.cells <= 3000 / LEAST * 1.3
    assert len(tree.query_box(rows[7])) == np.sum(
        (rows[:, :2] <= rows[7, 2:]).all(axis=1) & (rows[7, :2] <= rows[:, 2:]).all(axis=1)
    )


@pytest.mark.parametrize("order", ["ascending", "descending", "on a line"])
def test_a_query_tests_few_boxes_for_any_insertion_order(order):
    rows = ORDERS[order](3000)
    tree = bp.BoxTree()
    for row in rows.tolist():
        tree.insert(row)
    for row in rows[::300]:
        tree.query_box(row)
        assert tree.stats.tests < 300
        tree.raycast(row[:2], (0.0, 1.0), 3.0)
        assert tree.stats.tests < 400
        tree.nearest(row[:2])
        assert tree.stats.tests < 300


def test_dust_is_found_quickly_among_giants():
    rows = squares(2, 3000, size=0.1)
    rows[::300] += [-50.0, -50.0, 50.0, 50.0]
    tree = bp.BoxTree()
    for row in rows.tolist():
        tree.insert(row)
    tests = []
    for row in rows[1:3000:100]:
        tree.query_box(row)
        tests.append(tree.stats.tests)
    assert np.mean(tests) < 400


@pytest.mark.smaller_set
def test_nodes_are_given_back():
    rows = squares(3, 400)
    tree = filled(rows)
    cells = tree.stats.cells
    order = np.random.default_rng(3).permutation(400).tolist()
    for i in order[:-8]:
        tree.remove(i)
    tree.validate()
    assert heights(tree) == [1, 0]
    assert tree.stats.cells == 1 < cells
    for i in order[-8:]:
        tree.remove(i)
    tree.validate()
    assert heights(tree) == [0, 0]
    assert tree.stats.cells == 0
    room = len(tree._structure._arrays.children)
    for _ in range(3):
        ids = [tree.insert(row) for row in rows.tolist()]
        tree.remove_many(ids)
    tree.validate()
    assert len(tree._structure._arrays.children) <= 4 * room


# ---- margins


@pytest.mark.smaller_set
def test_a_move_within_the_margin_changes_no_node():
    rows = squares(5, 60)
    tree = filled(rows, margin=5.0)
    tree.query_point((0, 0))
    tree.move(7, rows[7] + 1.0)
    assert slot(tree, 7).tolist() == (rows[7] + [-4.0, -4.0, 6.0, 6.0]).tolist()
    before = nodes_of(tree)
    tree.move(7, rows[7] + 5.9)
    tree.move_many([7], [rows[7] - 3.9])
    tree.validate()
    assert nodes_of(tree) == before
    assert tree.query_box(rows[7] - 3.9).tolist().count(7) == 1
    assert 7 not in tree.query_box(rows[7] + 1.1)
    tree.move(7, rows[7] + 6.1)
    assert nodes_of(tree) != before


@pytest.mark.smaller_set
def test_by_default_the_margin_is_four_steps_and_half_a_side_at_most():
    rows = squares(7, 60, size=8.0)
    tree = filled(rows)
    tree.query_point((0, 0))
    tree.move(3, rows[3] + [0.5, 0.25, 0.5, 0.25])
    np.testing.assert_allclose(slot(tree, 3), rows[3] + [0.5 - 2, 0.25 - 2, 0.5 + 2, 0.25 + 2])
    tree.move(3, rows[3] + 50.0)
    np.testing.assert_allclose(slot(tree, 3), rows[3] + [46.0, 46.0, 54.0, 54.0])
    tree.move(4, [-np.inf, 0, np.inf, 1])
    assert slot(tree, 4).tolist() == [-np.inf, 0.0, np.inf, 1.0]


@pytest.mark.smaller_set
def test_static_boxes_have_a_tree_of_their_own_and_no_margin():
    rows = np.vstack((squares(9, 60), squares(10, 60)))
    static = np.arange(120) >= 60
    tree = bp.BoxTree(margin=2.0)
    tree.insert_many(rows, static=static)
    tree.validate()
    pairs = tree.pairs()
    assert heights(tree)[1] > 0
    assert not (static[pairs[:, 0]] & static[pairs[:, 1]]).any()
    before = tree.stats.tests
    tree.move(70, rows[70] + 1)
    assert slot(tree, 70).tolist() == (rows[70] + 1).tolist()
    tree.remove_many(np.flatnonzero(~static))
    assert heights(tree)[0] == 0
    assert len(tree.pairs()) == 0
    assert tree.stats.tests == 0 < before


def test_many_moves_rebuild_the_tree_and_few_do_not():
    rows = squares(11, 2000)
    tree = filled(rows, margin=0.5)
    tree.move_many(np.arange(100), rows[:100] + 30.0)
    assert not tree._structure.stale
    tree.update(rows + 30.0)
    assert tree._structure.stale
    tree.remove(5)
    tree.insert([1, 1, 2, 2])
    tree.move(6, [3, 3, 4, 4])
    tree.validate()
    assert slot(tree, 7).tolist() == (rows[7] + [29.5, 29.5, 30.5, 30.5]).tolist()
    oracle = bp.BruteForce()
    oracle.insert_many(tree.boxes)
    np.testing.assert_array_equal(tree.pairs(), oracle.pairs())


@pytest.mark.smaller_set
@pytest.mark.parametrize("margin", [-1.0, np.nan, np.inf, -np.inf])
def test_a_senseless_margin_is_an_error(margin):
    with pytest.raises(ValueError, match="margin must be finite and not negative"):
        bp.BoxTree(margin=margin)


@pytest.mark.smaller_set
@pytest.mark.parametrize("margin", ["1", True, [1.0]])
def test_a_margin_is_a_number(margin):
    with pytest.raises(TypeError, match="margin must be a number or None"):
        bp.BoxTree(margin=margin)


@pytest.mark.smaller_set
def test_the_margin_is_kept(tmp_path):
    tree = filled(squares(12, 20), margin=1)
    tree.save(tmp_path / "tree")
    assert bp.Index.load(tmp_path / "tree").margin == tree.copy().margin == 1.0
    assert "margin=1.0" in repr(tree)
    assert bp.BoxTree().margin is None


# ---- results and memory


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_larger_than_all_scratch_memory(sort, dtype):
    rows = squares(13, 5000, world=1.0)
    static = np.arange(5000) % 3 == 0
    tree, oracle = bp.BoxTree(sort=sort, dtype=dtype), bp.BruteForce(dtype=dtype)
    for index in (tree, oracle):
        index.insert_many(rows, static=static)
    queries = np.vstack((rows[:9], squares(14, 9, world=2.0), [[9.0, 9.0, 9.0, 9.0]]))
    found, wanted = tree.query_box(queries), oracle.query_box(queries)
    assert len(wanted) > 50_000
    np.testing.assert_array_equal(found if sort else found[np.lexsort(found.T[::-1])], wanted)
    for query in queries:
        np.testing.assert_array_equal(np.sort(tree.query_box(query)), oracle.query_box(query))


def test_a_circle_whose_box_does_not_fit_into_float32():
    rows = squares(15, 500).astype(np.float32)
    tree, oracle = bp.BoxTree(dtype=np.float32), bp.BruteForce(dtype=np.float32)
    for index in (tree, oracle):
        index.insert_many(rows)
    centers = np.random.default_rng(15).random((50, 2)) * 100
    for r in (0.1, 0.3, 7.7, 1e-30, 1e300):
        for center in centers.tolist():
            assert tree.query_radius(center, r).tolist() == oracle.query_radius(center, r).tolist()
        np.testing.assert_array_equal(tree.query_radius(centers, r), oracle.query_radius(centers, r))


def test_running_out_of_memory_leaves_it_sound(monkeypatch):
    rows = squares(16, 300)
    tree = filled(rows[:40])
    with monkeypatch.context() as patched:
        patched.setattr(TreeArrays, "_resize", lambda self, room: (_ for _ in ()).throw(MemoryError()))
        with pytest.raises(MemoryError):
            list(map(tree.insert, rows[40:]))
    assert 40 < len(tree) < 300
    tree.validate()
    assert tree.query_box([-np.inf, -np.inf, np.inf, np.inf]).tolist() == list(range(len(tree)))


@pytest.mark.smaller_set
def test_a_copy_holds_only_what_is_in_use():
    tree = bp.BoxTree()
    tree.reserve(10_000)
    tree.insert_many(squares(17, 50))
    tree.pairs()
    assert len(pickle.dumps(tree)) < 30_000
    twin = tree.copy()
    twin.insert_many(squares(18, 50))
    twin.validate()
    tree.validate()
    assert len(tree) == 50


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("sets", [False, True])
def test_few_movers_among_many_static_boxes(dim, sets):
    random = np.random.default_rng(dim)
    low = random.integers(0, (14, 5)[dim - 2], (600, dim)).astype(float)
    boxes = np.hstack((low, low + random.integers(0, 3, (600, dim))))
    is_static = random.random(600) < 0.95
    rules = {"category": random.choice((1, 2, 3), 600), "mask": random.choice((1, 2, 3), 600)} if sets else {}
    for touching in (True, False):
        tree, twin = (kind(dim=dim, touching=touching) for kind in (bp.BoxTree, bp.BruteForce))
        for index in (tree, twin):
            index.insert_many(boxes, static=is_static, **rules)
            index.remove_many(range(0, 600, 7))
            movers = index.ids[~is_static[index.ids]]
            index.move_many(movers, boxes[movers] + 1)
        found = tree.pairs()
        assert len(found) > 20
        np.testing.assert_array_equal(found, twin.pairs())
        tree.validate()


@pytest.mark.parametrize("touching", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3])
def test_rays_that_rounding_could_lead_past_a_box(dim, dtype, touching, exhaustive):
    """Along edges, at corners, from faces, with the largest and smallest numbers, and after moves."""
    rng = np.random.default_rng(dim)
    most, least = np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal
    odd = np.array([0, -0.0, 1, -1, 0.1, 1e30, -1e-30, most, -most, most / 2, least, -3 * least], dtype)
    coordinates = (
        lambda shape: rng.choice(odd, shape),
        lambda shape: rng.integers(-4, 5, shape).astype(dtype),
        lambda shape: (1e6 + rng.random(shape)).astype(dtype),
    )
    odd_steps = np.array([0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 5e-324, -5e-324, 1e300])
    lengths = np.array([0, 1e-45, 1, 3, 1e38, 3.5e38, 1e308, np.inf])
    count = 0
    for turn in range(60 if exhaustive else 24):
        made = coordinates[turn % 3]
        corners = np.sort([made((150, dim)), made((150, dim))], axis=0)
        boxes = np.hstack(list(corners))
        tree = filled(boxes, dim=dim, dtype=dtype, touching=touching)
        reference = bp.BruteForce(dim=dim, dtype=dtype, touching=touching)
        reference.insert_many(boxes)
        if turn % 2:
            tree.query_box(boxes[0])
            for index in (tree, reference):
                index.move_many(np.arange(40), boxes[60:100])
        near = corners[rng.integers(2, size=(200, dim)), rng.integers(150, size=(200, 1)), np.arange(dim)]
        origins = np.where(rng.random((200, dim)) < 0.5, near, made((200, dim)))
        aimed = boxes[rng.integers(150, size=200), :dim] / 2.0 - origins / 2.0
        steps = np.where(rng.random((200, 1)) < 0.5, aimed, rng.choice(odd_steps, (200, dim)))
        steps[~steps.any(axis=1)] = 1.0
        rays = origins, steps, rng.choice(lengths, 200)
        for found, expected in zip(tree.raycast(*rays), reference.raycast(*rays), strict=True):
            np.testing.assert_array_equal(found, expected)
        for found, expected in zip(tree.query_ray(*rays), reference.query_ray(*rays), strict=True):
            np.testing.assert_array_equal(found, expected)
        one = origins[0], steps[0], float(rays[2][0])
        assert tree.raycast(*one) == reference.raycast(*one)
        count += len(found)
    assert count > 10_000
