"""What grids and hashes cost where a plain grid would fall into a trap, and the cells that they choose."""

import numpy as np
import pytest
from grid_scenes import (
    SCENES,
    agree,
    each_dim,
    each_method,
    far_clusters,
    make,
    on_a_line,
    one_giant,
    squares,
    task,
)

from broadphase.inputs.boxes import as_boxes
from broadphase.methods import cells as cell_search
from broadphase.methods import spatial_hash, uniform_grid
from broadphase.methods.cells import fill

# No trap: scenes on which a plain grid compares everything with everything.
BOUNDED = {
    "uniform": (lambda r, n, d: squares(r, n, d, n ** (-1 / d)), 60),
    "power law": (lambda r, n, d: squares(r, n, d, 10 ** r.uniform(-4, 0, (n, 1)) * n ** (-1 / d)), 60),
    "one giant": (lambda r, n, d: one_giant(r, n, d) * [1.0], 60),
    "on x": (lambda r, n, d: on_a_line(r, n, d, 0), 20),
    "on y": (lambda r, n, d: on_a_line(r, n, d, 1), 20),
    "points": (lambda r, n, d: squares(r, n, d, 0.0), 20),
    "far points": (lambda r, n, d: squares(r, n, d, 0.0, 1e200), 20),
    "strays": (
        lambda r, n, d: np.vstack((squares(r, n - 20, d, n ** (-1 / d)), squares(r, 20, d, 1.0, 1e30))),
        60,
    ),
    "endless columns": (lambda r, n, d: among_endless_columns(r, n, d, 0), 20),
    "boxes among endless columns": (lambda r, n, d: among_endless_columns(r, n, d, n // 2), 20),
}


def among_endless_columns(random, n, dim, small):
    boxes = on_a_line(random, n, dim, dim - 1)
    boxes[small:, 0], boxes[small:, dim] = -np.inf, np.inf
    return boxes


@each_method
@each_dim
@pytest.mark.parametrize(("scene", "most"), BOUNDED.values(), ids=BOUNDED.keys())
def test_tests_grow_with_the_boxes(method, dim, scene, most):
    n = 4_000
    boxes = make(scene, n, dim)
    if scene is BOUNDED["one giant"][0]:
        boxes[:, dim:] = np.where(boxes[:, dim:] < 1e8, boxes[:, :dim] + n ** (-1 / dim), boxes[:, dim:])
    found = method.find(task(boxes))
    assert found.tests <= most * n
    assert found.cells <= 12 * n


@each_method
def test_boxes_without_inside_are_not_all_compared(method):
    # All in one place, but nothing overlaps what has no inside when touching does not count.
    found = method.find(task(np.full((2_000, 4), 3.0), touching=False))
    assert (found.pairs, found.tests) == (0, 0)


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e12])
def test_the_hash_does_not_see_empty_space(distance):
    boxes = far_clusters(np.random.default_rng(1), 4_000, 2, distance, clusters=30)
    near = spatial_hash.find(task(boxes))
    assert near.tests <= 30 * 4_000
    assert near.pairs > 0


def test_a_grid_over_far_clusters_is_swept():
    boxes = far_clusters(np.random.default_rng(1), 4_000, 2, 1e9, clusters=2) * [300, 300, 300, 300]
    boxes[:, 2:] = boxes[:, :2] + 1.0
    found = agree(uniform_grid, boxes)
    assert found.tests < 4_000**2 / 2 / 20


@each_method
@each_dim
def test_cells_and_copies_are_bounded(method, dim, each):
    def check(scene):
        boxes = make(scene, 300, dim)
        lattice = method.lay_out(boxes)
        assert 0 < lattice.per_unit < np.inf
        bins = fill(boxes, np.arange(len(boxes), dtype=np.int32), lattice)
        assert len(bins.heads) <= 12 * max(len(boxes), 4)
        assert len(bins.small) + len(bins.large) == len(boxes)
        assert bins.places <= len(bins.entries) - 1 <= 32 * len(bins.small)

    each(check, SCENES)


@each_method
def test_boxes_over_a_billion_cells_cost_no_more_than_a_list(method):
    boxes = squares(np.random.default_rng(4), 20_000, 2, 1e-9)
    boxes[[1, 7]] = [0, 0, 1, 1]
    assert agree(method, boxes, cell_size=1e-9).tests <= 4 * len(boxes)


@pytest.mark.smaller_set
def test_cell_size_follows_the_middle_box():
    boxes = np.array([[0, 0, 2, 2]] * 3 + [[0, 0, 1000, 1000], [0, 0, 0, 0]], float)
    size, reason = cell_search.suggest_cell_size(boxes)
    assert size == 5.0
    assert "middle box, 2" in reason


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("boxes", "size", "words"),
    [
        ([[0, 0, 16, 1]] * 3, 10.0, "middle box, 4"),  # a wall: the square of its area
        ([[0, 0, 100, 0]] * 3, 62.5, "middle box, 25"),  # a line: a quarter of its length
        ([[0, 0, 0, 0], [8, 1, 8, 1], [3, 2, 3, 2], [4, 0, 4, 0]], 4.0, "spacing"),
        ([[7, 7, 7, 7]] * 2, 1.0, "any would do"),
        ([[-np.inf, -np.inf, np.inf, np.inf]] * 2, 1.0, "any would do"),
        (np.empty((0, 4)), 1.0, "any would do"),
    ],
)
def test_reasons(boxes, size, words):
    suggested = cell_search.suggest_cell_size(as_boxes(boxes))
    assert suggested.size == pytest.approx(size)
    assert words in suggested.reason


@pytest.mark.smaller_set
def test_cells_are_larger_where_the_world_would_have_too_many():
    boxes = as_boxes([[0, 0, 1, 1], [1e6, 1e6, 1e6 + 1, 1e6 + 1]])
    lattice = uniform_grid.lay_out(boxes)
    assert 1 / lattice.per_unit == pytest.approx(5e5, rel=1e-3)
    assert 1 / uniform_grid.lay_out(boxes[:1]).per_unit == pytest.approx(2.5)


@each_method
@pytest.mark.parametrize("size", [0, -1.0, np.nan, np.inf])
def test_a_cell_size_that_is_none(method, size):
    with pytest.raises(ValueError, match=r"^cell_size must be positive and finite; got"):
        method.find(task(np.zeros((2, 4))), cell_size=size)


@each_method
@pytest.mark.parametrize("size", ["1", True, [1.0]])
def test_a_cell_size_of_another_type(method, size):
    with pytest.raises(TypeError, match=r"^cell_size must be a number or None; got"):
        method.find(task(np.zeros((2, 4))), cell_size=size)


@pytest.mark.parametrize(
    ("size", "error", "words"),
    [
        (0, ValueError, "table_size must be between 1 and .*; got 0"),
        (2**41, ValueError, "table_size must be between 1 and .*; got 2199023255552"),
        (1.5, TypeError, "table_size must be an int or None; got 1.5"),
        (True, TypeError, "table_size must be an int or None; got True"),
    ],
)
def test_a_table_size_that_is_none(size, error, words):
    with pytest.raises(error, match=words):
        spatial_hash.find(task(np.zeros((2, 4))), table_size=size)
