"""What is the grid's and the hash's own: clamping, what is binned again, tables, and advice on cells."""

from functools import partial

import numpy as np
import pytest
from cases import machine_settings
from index_scenes import NEEDED
from test_index_machine import IndexMachine

import broadphase as bp
from broadphase.indexes import cells, uniform_grid
from broadphase.methods.cells import fill

CLASSES = (bp.UniformGrid, bp.SpatialHash)


@pytest.fixture(params=CLASSES)
def kind(request):
    return request.param


def squares(seed, n, world=100.0, size=1.0, dim=2):
    low = np.random.default_rng(seed).random((n, dim)) * world
    return np.hstack((low, low + size))


def same_pairs(index, rows, **options):
    oracle = bp.BruteForce(touching=index.touching)
    oracle.insert_many(rows, **options)
    np.testing.assert_array_equal(index.pairs(), oracle.pairs())


@pytest.fixture
def entered(monkeypatch):
    """How many boxes were entered into empty cells, time by time."""
    counts = []

    def fill_and_count(boxes, ids, *rest):
        counts.append(len(ids))
        return fill(boxes, ids, *rest)

    monkeypatch.setattr(cells, "fill", fill_and_count)
    return counts


# ---- the machine, with other cells than those of `index_scenes`

OTHER_CELLS = {
    "uniform_grid": [
        lambda dim: {},
        lambda dim: {"bounds": [0.0] * 2 * dim, "cell_size": 3.0},
        lambda dim: {"bounds": [-1e6] * dim + [1e6] * dim},
        lambda dim: {"cell_size": 0.01},
    ],
    "spatial_hash": [
        lambda dim: {"cell_size": 2.0, "table_size": 5},
        lambda dim: {"cell_size": 1e-3},
        lambda dim: {"cell_size": 1e9, "table_size": 100},
    ],
}


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(
    ("name", "case"), [(n, c) for n, cases in OTHER_CELLS.items() for c in range(len(cases))]
)
def test_any_cells_do(name, case, dim, monkeypatch):
    # The machine copies and pickles at every turn: a gigabyte of empty cells would be most of its time.
    monkeypatch.setattr(uniform_grid, "MOST_CELLS", 2**18)
    monkeypatch.setitem(NEEDED, name, OTHER_CELLS[name][case])
    machine = type("Machine", (IndexMachine,), {"name": name, "dim": dim}).TestCase
    machine.settings = machine_settings(8, 30)
    machine().runTest()


# ---- bounds

small = pytest.mark.smaller_set


@small
def test_boxes_outside_are_clamped_to_the_edge():
    grid = bp.UniformGrid(bounds=[0, 0, 10, 10], cell_size=1.0)
    rows = [
        [-50, 4, -40, 5],
        [-45, 4.5, -44, 4.6],
        [-9, 4.5, -8, 4.6],
        [40, 40, 41, 41],
        [40.5, 40.5, 99, 99],
        [-np.inf, 3, 0, 4],
    ]
    grid.insert_many(rows)
    assert grid.pairs().tolist() == [[0, 1], [0, 5], [3, 4]]
    assert grid.stats.cells <= 100
    assert grid.query_box([-46, 4, -43, 9]).tolist() == [0, 1, 5]
    assert grid.raycast([100, 4.55], [-1, 0]) == (2, 108.0, (1.0, 0.0))
    assert grid.raycast([-100, 60], [1, -0.1]).id == 4
    assert grid.nearest([41, 30], 2).ids.tolist() == [3, 4]
    grid.validate()


@small
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0, 1], 1), r"bounds must have shape \(4,\).*got shape \(3,\)"),
        (([0, 0, 1, np.inf], 1), "must be finite; SpatialHash needs no bounds"),
        (([0, 2, 1, 1], 1), "min > max"),
        (([0, 0, 1e9, 1e9], 1), r"make 1e\+18 cells.*larger cells, or SpatialHash"),
        (([0, 0, 9, 9], 0), "cell_size must be positive"),
        (([0, 0, 9, 9], np.nan), "cell_size must be positive"),
    ],
)
def test_grids_that_can_not_be(arguments, message):
    bounds, size = arguments
    with pytest.raises(ValueError, match=message):
        bp.UniformGrid(bounds=bounds, cell_size=size)


@small
def test_hashes_that_can_not_be():
    with pytest.raises(ValueError, match="table_size must be between 1 and"):
        bp.SpatialHash(table_size=0)
    with pytest.raises(TypeError, match=r"table_size must be an int or \"auto\"; got 2.5"):
        bp.SpatialHash(table_size=2.5)
    with pytest.raises(TypeError, match=r"cell_size must be a number or \"auto\"; got 'small'"):
        bp.SpatialHash(cell_size="small")
    with pytest.raises(TypeError, match="cell_size must be a number"):
        bp.SpatialHash(cell_size=[1])


@small
def test_options_are_shown_and_kept(tmp_path):
    for index in (
        bp.UniformGrid(bounds=[0, 0, 9, 9], cell_size=2),
        bp.UniformGrid(),
        bp.SpatialHash(cell_size=3, table_size=50),
    ):
        index.insert([1, 1, 2, 2])
        index.save(tmp_path / "file")
        assert repr(bp.Index.load(tmp_path / "file")) == repr(index)
    assert (index.cell_size, index.table_size) == (3.0, 50)
    assert bp.UniformGrid(bounds=[0, 0, 9, 9]).bounds == (0.0, 0.0, 9.0, 9.0)
    assert bp.UniformGrid().cell_size == bp.SpatialHash().table_size == "auto"


# ---- what is binned


@small
def test_single_changes_are_not_followed_by_entering_all(kind, entered):
    index = kind()
    for k in range(300):
        index.insert([k, k, k + 1.5, k + 1.5])
        assert len(index.query_point([k + 1.2, k + 1.2])) == 1
    for k in range(0, 300, 2):
        index.remove(k)
        assert len(index.query_point([k + 0.7, k + 0.7])) == 0
    assert sum(entered) <= 3 * 300
    assert len(index) == 150
    index.validate()


def test_static_boxes_cost_a_query_of_each_that_moves(kind):
    bounds = {} if kind is bp.SpatialHash else {"bounds": [0, 0, 400, 400]}
    index = kind(cell_size=2.5, **bounds)
    walls = squares(1, 20_000, 400.0)
    index.insert_many(walls, static=True)
    assert len(index.pairs()) == 0
    assert index.stats.tests == 0
    movers = squares(2, 100, 400.0)
    ids = index.insert_many(movers)
    index.pairs()
    assert 0 < index.stats.tests < 100 * 100  # a few leaves of 16 boxes for each
    oracle = bp.BruteForce()
    oracle.insert_many(walls, static=True)
    oracle.insert_many(movers)
    for _ in range(3):
        movers += 0.7
        index.move_many(ids, movers)
        oracle.move_many(ids, movers)
        np.testing.assert_array_equal(index.pairs(), oracle.pairs())
    index.move(5, [0, 0, 400, 400])  # a wall, after all
    oracle.move(5, [0, 0, 400, 400])
    np.testing.assert_array_equal(index.pairs(), oracle.pairs())
    index.validate()


# ---- crowds


def test_a_crowded_place_is_swept(kind):
    rows = squares(3, 3000, world=1.0, size=1e-4)
    index = kind(cell_size=1e3)
    index.insert_many(rows)
    same_pairs(index, rows)
    assert index.stats.tests < 3000 * 3000 / 100


def test_threads_find_the_same(kind):
    rows = np.vstack((squares(6, 6000), squares(7, 50, size=20.0), squares(8, 3, size=1e4)))
    one, two = kind(threads=1), kind(threads=2)
    one.insert_many(rows)
    two.insert_many(rows)
    np.testing.assert_array_equal(one.pairs(), two.pairs())
    assert one.stats == two.stats
    same_pairs(two, rows)


# ---- advice


@small
@pytest.mark.parametrize(
    ("cell_size", "verdict", "reason"),
    [
        (2.5, "right", "others in a cell"),
        (30.0, "too large", "far fewer"),
        (0.1, "too small", "do not fit"),
        (0.6, "too small", "with 2.5 it would lie in fewer"),
    ],
)
def test_explain_judges_the_cells(kind, cell_size, verdict, reason):
    bounds = {} if kind is bp.SpatialHash else {"bounds": [0, 0, 60, 60]}
    index = kind(cell_size=cell_size, **bounds)
    rows = squares(9, 1500, 60.0)
    index.insert_many(rows)
    report = index.explain()
    assert report.verdict == verdict, report
    assert reason in report.reason
    assert report.suggested == pytest.approx(2.5)
    assert report.cell_size == pytest.approx(cell_size)
    assert report.boxes == 1500
    assert f"cells of {cell_size:.4g} are {verdict}" in str(report)
    after = index.tune()
    assert after.verdict == "right"
    assert index.cell_size == pytest.approx(cell_size if verdict == "right" else 2.5)
    same_pairs(index, rows)


@small
def test_explain_says_that_full_cells_are_swept_and_writes_numbers_out(kind):
    bounds = {} if kind is bp.SpatialHash else {"bounds": [0, 0, 60_000, 60_000]}
    index = kind(cell_size=60_000.0, **bounds)
    index.insert_many(1_000 * squares(9, 1500, 60.0))
    said = str(index.explain())
    assert said.startswith("cells of 60000 are too large: ")
    assert "with 2500" in said
    assert "; the boxes in such full cells are sorted and swept, which makes fewer tests" in said
    assert "swept" not in str(index.tune())
    assert "e+" not in said


@small
def test_crowds_of_equal_boxes_are_nobodys_fault(kind):
    index = kind()
    index.insert_many([[0, 0, 1, 1]] * 100)
    report = index.explain()
    assert report.verdict == "right"
    assert "would not part them" in report.reason


@small
def test_explain_an_empty_index_or_one_of_static_boxes(kind):
    index = kind()
    assert index.explain().verdict == "empty"
    index.insert_many(squares(1, 50), static=True)
    assert index.explain().boxes == 50
    index.insert_many(squares(2, 20))
    assert index.explain().boxes == 20


@small
def test_automatic_cells_follow_the_boxes(kind):
    index = kind()
    index.insert_many(squares(1, 200, 40.0))
    assert index.explain().cell_size == pytest.approx(2.5)
    index.update(squares(1, 200, 40.0, size=5.0))
    assert index.tune().cell_size == pytest.approx(12.5)
    assert index.cell_size == "auto"


@pytest.mark.parametrize("size", [1e150, 1e300, 1e304, 1e307, 8e307])
@pytest.mark.parametrize("options", [{}, {"cell_size": 1e300}, {"cell_size": 1e308}], ids=str)
def test_cells_near_the_end_of_float64_warn_of_nothing(kind, size, options):
    """Warnings are errors here: a program that sets them so must not fail where boxes are huge."""
    rows = [[-size, -size, size, size], [0, 0, size, size], [size / 2, size / 2, size, size]]
    index = kind(**options)
    index.insert_many(rows)
    same_pairs(index, rows)
    index.update(np.array(rows) / 2)
    assert index.query_point([size / 4, size / 4]).tolist() == [0, 1, 2]
    index.validate()


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    "make", [partial(bp.UniformGrid, bounds=(0, 0, 1_000, 1_000)), bp.SpatialHash], ids=["grid", "hash"]
)
@pytest.mark.parametrize("count", [20, 400])
def test_one_cell_for_all_boxes_is_too_large(make, count):
    lower = np.random.default_rng(0).random((count, 2)) * 990
    for size, verdict in ((1_100, "too large"), (5_000, "too large"), (25, "right")):
        grid = make(cell_size=size)
        grid.insert_many(np.hstack((lower, lower + 10)))
        report = grid.explain()
        assert (report.verdict, report.cell_size) == (verdict, size)
    alone = make(cell_size=1_100)
    alone.insert_many([[5, 5, 9, 9]] * 3)
    assert alone.explain().verdict == "right"
