"""Contacts of whole arrays and of the table of mixed shapes: the same as for single shapes."""

import math

import numpy as np
import pytest

from broadphase import Box, Circle, contact, contact_boxes, contact_circles


@pytest.mark.smaller_set
def test_box_arrays_equal_single_boxes():
    random = np.random.default_rng(5)
    corners = random.integers(0, 10, (12, 2)).astype(float)
    sizes = random.integers(0, 5, (12, 2)).astype(float)
    rows = np.concatenate([corners, corners + sizes], axis=1)
    pairs = np.array([(i, j) for i in range(12) for j in range(12)])
    for touching in (False, True):
        found = contact_boxes(rows, rows, pairs, touching=touching)
        for (i, j), hit, normal, depth in zip(pairs, *found, strict=True):
            single = contact(Box(*corners[i], *sizes[i]), Box(*corners[j], *sizes[j]), touching=touching)
            assert hit == (single is not None)
            if single is not None:
                assert (tuple(normal), depth) == (single.normal, single.depth)


def test_circle_arrays_equal_single_circles():
    rows = np.random.default_rng(6).integers(0, 9, (40, 3)).astype(float)
    found = contact_circles(rows, rows[::-1])
    for a, b, hit, normal, depth in zip(rows, rows[::-1], *found, strict=True):
        single = contact(Circle(*a), Circle(*b))
        assert hit == (single is not None)
        assert (tuple(normal), depth) == (((0, 0), 0) if single is None else (single.normal, single.depth))


def test_boxes_in_3d():
    found = contact_boxes(
        [[0, 0, 0, 9, 9, 9]] * 3, [[1, 1, 8, 9, 9, 9], [1, 7, 1, 9, 9, 9], [9, 0, 0, 10, 9, 9]]
    )
    assert found.overlapping.tolist() == [True, True, False]
    assert found.normals.tolist() == [[0, 0, -1], [0, -1, 0], [0, 0, 0]]
    assert found.depths.tolist() == [1, 2, 0]


def test_float32_stays_float32():
    rows = np.array([[0, 0, 1, 1]], np.float32)
    found = contact_boxes(rows, rows)
    assert found.depths.dtype == found.normals.dtype == np.float32
    assert contact_boxes(rows, rows.astype(float)).depths.dtype == np.float64


def test_infinite_boxes():
    inf = math.inf
    everything = [[-inf, -inf, inf, inf]]
    found = contact_boxes(everything, [[3, 3, 4, 4]])
    assert found.overlapping[0]
    assert found.depths[0] == inf
    half = contact_boxes([[-inf, -inf, 0, inf]], [[-2, 0, inf, 1]])
    assert (half.normals[0].tolist(), half.depths[0]) == ([-1, 0], 2)
    far = contact_boxes([[inf, 0, inf, 1]], [[inf, 0, inf, 1]], touching=True)
    assert (far.overlapping[0], far.depths[0]) == (True, 0)


def test_empty_arrays():
    for found in (
        contact_boxes([], []),
        contact_circles([], []),
        contact_boxes([[0, 0, 1, 1]], [[0, 0, 1, 1], [1, 1, 2, 2]], []),
    ):
        assert found.overlapping.shape == found.depths.shape == (0,)
        assert found.normals.shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: contact_boxes([[0, 0, 1, 1]], []), ValueError, "a has 1 rows and b has 0"),
        (lambda: contact_boxes([[0, 0, 1, 1]], [[0] * 6]), ValueError, "same dimension"),
        (
            lambda: contact_boxes([[0, 0, 1, 1]], [[0, 0, 1, 1]], [[0, 1]]),
            ValueError,
            r"= \[0, 1\] names row 1",
        ),
        (
            lambda: contact_boxes([[0, 0, 1, 1]], [[0, 0, 1, 1]], [[-1, 0]]),
            ValueError,
            r"names row -1",
        ),
        (lambda: contact_boxes([[0, 0, 1, 1]], [[0, 0, 1, 1]], [[0.0, 0.0]]), TypeError, "whole numbers"),
        (lambda: contact_boxes([[0, 0, 1, 1]], [[0, 0, 1, 1]], [0, 0]), ValueError, "shape"),
        (lambda: contact_boxes([[2, 0, 1, 1]], [[0, 0, 1, 1]]), ValueError, r"a\[0\] has min_x"),
        (lambda: contact_circles([[0, 0, -1]], [[0, 0, 1]]), ValueError, r"a\[0\]"),
        (lambda: contact_circles([[0, 0, 1]], [[0, math.nan, 1]]), ValueError, r"b\[0\]"),
        (lambda: contact_circles([[0, 0]], [[0, 0, 1]]), ValueError, "shape"),
    ],
)
def test_bad_arrays_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- the table ----------------------------------------------------------------------------------------
