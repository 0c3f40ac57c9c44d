"""Sort and sweep, and the radix sort and the ordered integers under it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from method_checks import KINDS, around, assert_exact, odd_boxes, pairs_of, scenes, task

from broadphase.inputs.rules import as_filter, join_filter
from broadphase.kernels.arrays.sorting import bits_of, ordered_column, ordered_columns, stable_argsort
from broadphase.methods.sort_and_sweep import choose_axis, find

ODD = (-np.inf, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, np.inf)


@pytest.mark.covering
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
@pytest.mark.parametrize("touching", [True, False])
def test_it_finds_what_brute_force_finds(dim, dtype, touching):
    for name, boxes in scenes(dim, dtype):
        for axis in range(dim):
            try:
                assert_exact(lambda queries, axis=axis: find(queries, axis), boxes, touching)
            except AssertionError as error:
                raise AssertionError(f"{name}, axis {axis}") from error


@pytest.mark.smaller_set
@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_it_finds_what_brute_force_finds_on_small_scenes(dim, dtype):
    for _, boxes in scenes(dim, dtype, n=20):
        assert_exact(find, boxes, touching=True)
        assert_exact(find, boxes, touching=False)


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
@given(data=st.data())
def test_odd_boxes(dim, dtype, data):
    assert_exact(find, data.draw(odd_boxes(dim, dtype)), data.draw(st.booleans()))


def test_filters():
    random = np.random.default_rng(1)
    boxes = around(random.random((500, 2)), 0.1)
    static = random.random(500) < 0.5
    categories, masks = random.integers(0, 4, 500), random.integers(0, 4, 500)
    assert_exact(find, boxes, pair_filter=as_filter(500, static=static))
    assert_exact(find, boxes, pair_filter=as_filter(500, static, categories, masks))
    assert_exact(find, boxes, pair_filter=join_filter(100, 400))


@pytest.mark.smaller_set
@pytest.mark.parametrize("dim", [2, 3])
def test_tests_are_the_pairs_that_overlap_on_the_axis(dim):
    boxes = around(np.random.default_rng(2).random((60, dim)), 0.2)
    for axis in range(dim):
        low, high = boxes[:, axis], boxes[:, dim + axis]
        overlaps = (low[:, None] <= high) & (low <= high[:, None])
        assert find(task(boxes), axis).tests == (overlaps.sum() - 60) // 2


def test_any_number_of_threads_gives_the_same_pairs_in_the_same_order():
    boxes = around(np.random.default_rng(3).random((3000, 2)), 0.03)
    alone = find(task(boxes))
    for threads in (2, 3, 7):
        found = find(task(boxes, threads=threads))
        np.testing.assert_array_equal(np.concatenate(found.chunks), np.concatenate(alone.chunks))
        assert found.tests == alone.tests


def test_the_search_ends_soon_after_the_limit():
    boxes = np.tile([0.0, 0.0, 1.0, 1.0], (3000, 1))
    found = find(task(boxes, limit=5000))
    assert 5000 < found.pairs < 7000
    assert find(task(boxes[:101], limit=5050)).pairs == 5050
    assert len(pairs_of(find(task(boxes[:101], limit=5050)))) == 5050


@pytest.mark.smaller_set
def test_the_axis_with_the_widest_spread_in_units_of_the_extents():
    random = np.random.default_rng(4)
    wide = around(random.random((300, 3)) * [1, 20, 1], 0.2)
    assert choose_axis(wide, "auto") == 1
    # Spread over a thousand, but the boxes are as long as that: the short side separates them.
    walls = around(random.random((300, 2)) * [1000, 10], np.array([1000.0, 0.1]))
    assert choose_axis(walls, "auto") == 1


@pytest.mark.smaller_set
def test_infinite_boxes_and_outliers_do_not_choose_the_axis():
    boxes = around(np.random.default_rng(5).random((300, 2)) * [1, 20], 0.2)
    boxes[:5, [0, 2]] = [-np.inf, np.inf]
    boxes[5] = [1e300, 0, 1e300, 1]
    boxes[6] = [-1e300, 0, 1e300, 1]
    assert choose_axis(boxes, "auto") == 1


def test_the_axis_of_many_boxes_is_chosen_by_a_sample_that_falls_into_no_step():
    # 1,024 rows of 100: every hundredth box, a plain sample of a thousand, is in the same column.
    x, y = np.meshgrid(np.arange(100.0), np.arange(1024.0))
    posts = around(np.column_stack((x.ravel(), y.ravel())), np.array([0.9, 200.0]))
    assert choose_axis(posts, "auto") == 0
    assert choose_axis(posts[:, [1, 0, 3, 2]], "auto") == 1


@pytest.mark.smaller_set
@pytest.mark.parametrize("axis", [-1, 2, "x", True, None, 0.0])
def test_an_axis_that_is_none_is_refused(axis):
    with pytest.raises(ValueError, match=r"axis must be 'auto' or one of 0, 1; got "):
        find(task(np.zeros((2, 4))), axis)


@pytest.mark.smaller_set
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ordered_keys_compare_as_the_floats_do(dtype):
    info = np.finfo(dtype)
    values = np.array([*ODD, info.max, -info.max, info.tiny, info.smallest_subnormal], dtype)
    keys = ordered_column(bits_of(values).reshape(-1, 1), 0)
    np.testing.assert_array_equal(keys[:, None] <= keys, values[:, None] <= values)
    below = ordered_columns(
        bits_of(np.tile(values[:, None], 4)), np.arange(len(values), dtype=np.int32), 0, False
    )[0][2, : len(values)]
    np.testing.assert_array_equal(keys[:, None] <= below, values[:, None] < values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 300, 5000])  # 8 bits a pass, and 11
def test_the_radix_sort_is_numpys_stable_sort(dtype, n):
    random = np.random.default_rng(n)
    special = np.array([*ODD, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal])
    for values in (
        random.standard_normal(n),
        random.choice(special, n),
        random.integers(-3, 3, n),
        np.exp(random.normal(0, 60, n)) * random.choice([-1, 1], n),
        np.zeros(n),
    ):
        with np.errstate(over="ignore"):
            keys = values.astype(dtype)
        np.testing.assert_array_equal(stable_argsort(keys), np.argsort(keys, kind="stable"))


@pytest.mark.smaller_set
@given(st.lists(st.floats(allow_nan=False), max_size=30))
def test_the_radix_sort_of_any_floats(values):
    keys = np.array(values, np.float64)
    np.testing.assert_array_equal(stable_argsort(keys), np.argsort(keys, kind="stable"))
