"""No scene makes a one-shot method useless: how many tests it makes, how large its cells and trees get.

That they find what brute force finds is shown by `test_exact`.
"""

import numpy as np
import pytest
from method_checks import around, assert_exact, scenes, task

from broadphase.inputs.boxes import as_boxes
from broadphase.inputs.search import as_filter
from broadphase.kernels.tree.bvh import LEAF, build
from broadphase.methods import cells, sort_and_sweep, spatial_hash, tree, uniform_grid

GRIDS = {"uniform_grid": uniform_grid, "spatial_hash": spatial_hash}
each_grid = pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS.keys())
each_dim = pytest.mark.parametrize("dim", [2, 3])
smaller_set = pytest.mark.smaller_set


def squares(random, n, dim, size, world=1.0):
    low = random.random((n, dim)) * world
    return np.hstack((low, low + np.broadcast_to(size, (n, 1))))


def on_a_line(random, n, dim, axis):
    low = np.zeros((n, dim))
    low[:, axis] = random.random(n) * n
    return np.hstack((low, low + 2 * np.eye(dim)[axis]))


def far_clusters(random, n, distance, clusters):
    centres = random.integers(-clusters // 2, clusters // 2 + 1, (n, 2)) * distance
    return squares(random, n, 2, 1.0, world=6.0) + np.hstack((centres, centres))


def one_giant(random, n, dim):
    boxes = squares(random, n, dim, n ** (-1 / dim))
    boxes[n // 3, :dim], boxes[n // 3, dim:] = -1e9, 1e9
    return boxes


def among_endless_columns(random, n, dim, small):
    boxes = on_a_line(random, n, dim, dim - 1)
    boxes[small:, 0], boxes[small:, dim] = -np.inf, np.inf
    return boxes


# ---- grids


# Scenes on which a plain grid compares everything with everything, and tests for each box.
BOUNDED = {
    "uniform": (lambda r, n, d: squares(r, n, d, n ** (-1 / d)), 60),
    "power law": (lambda r, n, d: squares(r, n, d, 10 ** r.uniform(-4, 0, (n, 1)) * n ** (-1 / d)), 60),
    "one giant": (one_giant, 60),
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
    "all at one place": (lambda r, n, d: np.full((n, 2 * d), 3.0), 0),
}


@each_grid
@each_dim
@pytest.mark.parametrize(("scene", "most"), BOUNDED.values(), ids=BOUNDED.keys())
def test_tests_grow_with_the_boxes(grid, dim, scene, most):
    """Of what has no inside nothing overlaps where touching does not count, and nothing is compared."""
    n = 4_000
    found = grid.find(task(scene(np.random.default_rng(1), n, dim), touching=most > 0))
    assert found.tests <= most * n
    assert found.cells <= 12 * n


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e12])
def test_the_hash_does_not_see_empty_space(distance):
    near = spatial_hash.find(task(far_clusters(np.random.default_rng(1), 4_000, distance, clusters=30)))
    assert near.tests <= 30 * 4_000
    assert near.pairs > 0


def test_a_grid_over_far_clusters_is_swept():
    boxes = far_clusters(np.random.default_rng(1), 4_000, 1e9, clusters=2) * 300.0
    boxes[:, 2:] = boxes[:, :2] + 1.0
    assert assert_exact(uniform_grid.find, boxes).tests < 4_000**2 / 2 / 20


@smaller_set
@pytest.mark.parametrize(
    ("boxes", "size"),
    [
        ([[0, 0, 2, 2]] * 3 + [[0, 0, 1000, 1000], [0, 0, 0, 0]], 5.0),  # 2.5 times the middle box
        ([[0, 0, 16, 1]] * 3, 10.0),  # a wall: the square of its area
        ([[0, 0, 100, 0]] * 3, 62.5),  # a line: a quarter of its length
        ([[0, 0, 0, 0], [8, 1, 8, 1], [3, 2, 3, 2], [4, 0, 4, 0]], 4.0),  # the spacing
        ([[7, 7, 7, 7]] * 2, 1.0),  # any would do
        ([[-np.inf, -np.inf, np.inf, np.inf]] * 2, 1.0),
        (np.empty((0, 4)), 1.0),
    ],
)
def test_cell_sizes(boxes, size):
    assert cells.suggest_cell_size(as_boxes(np.array(boxes, float))) == pytest.approx(size)


@smaller_set
def test_cells_are_larger_where_the_world_would_have_too_many():
    boxes = as_boxes([[0, 0, 1, 1], [1e6, 1e6, 1e6 + 1, 1e6 + 1]])
    finest = [cells.take_sample(rows) for rows in (boxes, np.repeat(boxes, 1000, axis=0), boxes[:1])]
    sizes = [1 / uniform_grid.lay_out(sample).per_unit for sample in finest]
    assert sizes == pytest.approx([1e6 / 32, 1.12e6 / 4000**0.5, 2.5], rel=1e-3)  # 1,024, or two a box


# ---- the tree


def assert_sound(boxes):
    """Every invariant that `build` documents; returns the depth."""
    order, begin, after = build(boxes)
    n, nodes = len(boxes), len(after)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert (len(begin), begin[-1]) == (nodes + 1, n)
    depth = np.zeros(nodes, int)
    for node, end in enumerate(after):
        inside = order[begin[node] : begin[end]]
        assert len(inside) > 0
        if end == node + 1:
            assert len(inside) <= LEAF
        else:
            first, second = node + 1, after[node + 1]
            assert begin[first] == begin[node]
            assert after[second] == end
            depth[[first, second]] = depth[node] + 1
    assert nodes == 0 or after[0] == nodes
    return depth.max(initial=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_depth_is_bounded_on_scenes_made_against_it(dtype):
    info = np.finfo(dtype)
    powers = np.ldexp(dtype(1), np.arange(info.minexp, info.maxexp - 1)).astype(dtype)
    powers = np.repeat(powers, 9)[:, None]
    side_by_side = np.hstack((powers, powers, powers + powers / 2, powers + powers / 2))
    around_one_point = np.hstack((-powers, -powers, powers, powers))
    one_far_out = around(np.random.default_rng(4).random((5000, 2)), 0.01, dtype)
    one_far_out[0] = [info.max] * 4
    for boxes in (side_by_side, around_one_point, one_far_out, np.ones((5000, 4), dtype)):
        assert assert_sound(boxes) <= 40
        assert len(build(boxes)[2]) <= len(boxes) // 2


@each_dim
def test_no_scene_makes_the_tree_useless(dim):
    n = 5000
    for name, boxes in scenes(dim, np.float64, n):
        found = tree.find(task(boxes, store=False))
        each = 200 if name == "long_walls" else 60  # walls through most of the world
        assert found.tests < each * n + 20 * found.pairs, name
        assert_sound(boxes[:400])


def test_static_boxes_and_giants_cost_little():
    boxes = around(np.random.default_rng(3).random((20_000, 2)), 0.01)
    without = tree.find(task(boxes)).tests
    static = np.arange(20_000) >= 100
    assert tree.find(task(boxes, pair_filter=as_filter(20_000, static=static))).tests < without / 10
    boxes[:20] = around(np.random.default_rng(6).random((20, 2)), 0.5)
    found = tree.find(task(boxes))
    assert found.tests < without + 3 * found.pairs


# ---- the axis of sort and sweep


@smaller_set
def test_the_axis_with_the_widest_spread_in_units_of_the_extents():
    random = np.random.default_rng(4)
    wide = around(random.random((300, 3)) * [1, 20, 1], 0.2)
    assert sort_and_sweep.choose_axis(wide, "auto") == 1
    # Spread over a thousand, but the boxes are as long as that: the short side separates them.
    walls = around(random.random((300, 2)) * [1000, 10], np.array([1000.0, 0.1]))
    assert sort_and_sweep.choose_axis(walls, "auto") == 1
    # What is infinite or far out does not count.
    boxes = around(random.random((300, 2)) * [1, 20], 0.2)
    boxes[:5, [0, 2]] = [-np.inf, np.inf]
    boxes[5:7] = [[1e300, 0, 1e300, 1], [-1e300, 0, 1e300, 1]]
    assert sort_and_sweep.choose_axis(boxes, "auto") == 1


def test_the_axis_of_many_boxes_is_chosen_by_a_sample_that_falls_into_no_step():
    # 1,024 rows of 100: every hundredth box, a plain sample of a thousand, is in the same column.
    x, y = np.meshgrid(np.arange(100.0), np.arange(1024.0))
    posts = around(np.column_stack((x.ravel(), y.ravel())), np.array([0.9, 200.0]))
    assert sort_and_sweep.choose_axis(posts, "auto") == 0
    assert sort_and_sweep.choose_axis(posts[:, [1, 0, 3, 2]], "auto") == 1
