"""The tree: its invariants, its pairs, and that no distribution makes it useless."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_checks import KINDS, around, assert_exact, odd_boxes, pairs_of, scenes, task

from broadphase.inputs.rules import as_filter, join_filter
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.kernels.tree.bvh import LEAF, build
from broadphase.kernels.tree.dynamic_tree import most_nodes
from broadphase.methods.tree import find


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


@pytest.mark.covering
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
@pytest.mark.parametrize("touching", [True, False])
def test_it_finds_what_brute_force_finds(dim, dtype, touching):
    for name, boxes in scenes(dim, dtype):
        try:
            assert_exact(find, boxes, touching)
            assert_sound(boxes)
        except AssertionError as error:
            raise AssertionError(name) from error


@pytest.mark.smaller_set
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_it_finds_what_brute_force_finds_on_small_scenes(dim, dtype):
    for _, boxes in scenes(dim, dtype, n=40):
        assert_exact(find, boxes, touching=True)
        assert_sound(boxes)


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
@given(data=st.data())
def test_odd_boxes(dim, dtype, data):
    boxes = data.draw(odd_boxes(dim, dtype))
    assert_exact(find, boxes, data.draw(st.booleans()))
    assert_sound(boxes)


def test_filters():
    random = np.random.default_rng(1)
    boxes = around(random.random((500, 2)), 0.1)
    static = random.random(500) < 0.5
    categories, masks = random.integers(0, 4, 500), random.integers(0, 4, 500)
    assert_exact(find, boxes, pair_filter=as_filter(500, static=static))
    assert_exact(find, boxes, pair_filter=as_filter(500, static, categories, masks))
    assert_exact(find, boxes, pair_filter=join_filter(100, 400))
    many_classes = random.choice(np.array([0, 1, 2, 4, 5, 6], np.uint8), 500)
    assert_exact(find, boxes, pair_filter=no_filter()._replace(classes=many_classes))


def test_static_boxes_cost_next_to_nothing():
    boxes = around(np.random.default_rng(3).random((20_000, 2)), 0.01)
    static = np.arange(20_000) >= 100
    found = find(task(boxes, pair_filter=as_filter(20_000, static=static)))
    assert found.tests < find(task(boxes)).tests / 10


@pytest.mark.parametrize("dim", [2, 3])
def test_no_scene_makes_it_useless(dim):
    n = 5000
    for name, boxes in scenes(dim, np.float64, n):
        if name not in ("all equal", "nested"):
            found = find(task(boxes, store=False))
            assert found.tests < 60 * n + 20 * found.pairs, name


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


def test_a_giant_does_not_blow_up_the_nodes_of_the_small():
    boxes = around(np.random.default_rng(5).random((20_000, 2)), 0.005)
    without = find(task(boxes)).tests
    boxes[:20] = around(np.random.default_rng(6).random((20, 2)), 0.5)
    found = find(task(boxes))
    assert found.tests < without + 3 * found.pairs


def test_any_number_of_threads_gives_the_same_pairs_in_the_same_order():
    boxes = around(np.random.default_rng(7).random((3000, 3)), 0.1)
    alone = find(task(boxes))
    for threads in (2, 3, 7):
        found = find(task(boxes, threads=threads))
        np.testing.assert_array_equal(np.concatenate(found.chunks), np.concatenate(alone.chunks))
        assert (found.tests, found.cells) == (alone.tests, alone.cells)


def test_the_search_ends_soon_after_the_limit():
    boxes = np.tile([0.0, 0.0, 1.0, 1.0], (3000, 1))
    found = find(task(boxes, limit=5000))
    assert 5000 < found.pairs < 5000 + 16 * 3000  # those of one more leaf
    assert len(pairs_of(find(task(boxes[:101], limit=5050)))) == 5050


@pytest.mark.smaller_set
@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_boxes(n):
    boxes = np.tile([0.0, 0.0, 1.0, 1.0], (n, 1))
    assert_sound(boxes)
    assert find(task(boxes)).pairs == (n == 2)


def test_cells_are_the_nodes():
    boxes = around(np.random.default_rng(8).random((300, 2)), 0.1)
    assert 300 / 16 < find(task(boxes)).cells <= most_nodes(300)
