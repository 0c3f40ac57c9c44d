"""`period=` as a matrix of lattice vectors: every pair at the distance of its nearest images.

Where coordinates and vectors are multiples of 1/8, nothing is rounded before the root: then brute force over
all images says the same to the bit.
"""

import tracemalloc
from itertools import product

import numpy as np
import pytest

import broadphase as bp

KINDS = list(product((2, 3), (np.float32, np.float64)))


def brute_force(points, others, cell, most=4):
    """All distances: the least over so many images that none could be nearer."""
    away = others[None].astype(float) - points[:, None].astype(float)
    away -= np.rint(away @ np.linalg.inv(cell)) @ cell
    axes = np.ascontiguousarray(np.moveaxis(away, 2, 0))
    squares = np.full(away.shape[:2], np.inf)
    for steps in product(range(-most, most + 1), repeat=len(cell)):
        moved = axes + (np.array(steps, float) @ cell)[:, None, None]
        moved *= moved
        np.minimum(squares, moved.sum(axis=0), out=squares)
    return np.sqrt(squares)


def pairs_within(apart, r, among, dtype=np.float64):
    """The pairs whose distances are at most ``r`` as numbers of the points' dtype."""
    near = apart.astype(dtype) <= r
    meets = np.triu(near, 1) if among else near
    i, j = np.nonzero(meets)
    return i, j, apart[i, j]


def expect(found, right, dtype):
    np.testing.assert_array_equal(found.i, right[0])
    np.testing.assert_array_equal(found.j, right[1])
    np.testing.assert_array_equal(found.distance, right[2].astype(dtype))
    assert found.distance.dtype == dtype


@pytest.mark.parametrize("dim", [2, 3])
def test_any_coordinates(dim, exhaustive):
    """Up to rounding: random numbers in random cells."""
    random = np.random.default_rng(dim)
    for _ in range(10 if exhaustive else 3):
        cell = random.normal(size=(dim, dim)) + 2 * np.eye(dim)
        points = random.uniform(-2, 3, (50, dim)) @ cell
        apart = brute_force(points, points, cell, 8)
        found = bp.neighbors(points, np.inf, period=cell)
        assert len(found) == 50 * 49 // 2
        np.testing.assert_allclose(found.distance, apart[found.i, found.j], atol=1e-13)
        full = found.to_scipy().toarray()
        near = bp.nearest(points, 49, period=cell)
        np.testing.assert_array_equal(np.take_along_axis(full, near.ids, 1), near.distances)
        swapped = bp.neighbors(points[::-1], np.inf, period=cell).to_scipy().toarray()
        np.testing.assert_array_equal(swapped[::-1, ::-1], full)


@pytest.mark.parametrize("dim", [2, 3])
def test_crowds_and_worlds_in_a_cell(dim):
    """Crowds at the corners, which are one place: cells of the search are in a hash table."""
    cell, random = np.array([[64.0, 0, 0], [16, 64, 0], [-16, 16, 64]])[:dim, :dim], np.random.default_rng(6)
    points = np.concatenate((random.random((100, dim)) @ cell, random.normal(size=(420, dim)) / 4))
    points, env = np.rint(64 * points) / 64 + random.integers(-1, 2, (520, dim)) @ cell, np.arange(520) % 2
    apart = brute_force(points, points, cell, 2)
    for near in (0.25, 1.5, 24.0):
        expect(bp.neighbors(points, near, period=cell), pairs_within(apart, near, True), float)
        meet = np.where(env[:, None] == env, apart, np.inf)
        found = bp.neighbors(points, near, period=cell, env=env, offsets=True)
        expect(found, pairs_within(meet, near, True), float)
        np.testing.assert_array_equal(np.sqrt((found.offset**2).sum(axis=1)), found.distance)
        right = len(pairs_within(meet, near, True)[0])
        assert bp.count_neighbors(points, near, period=cell, env=env) == right


def test_counts_of_long_distances_store_few_pairs():
    points = np.random.default_rng(7).random((1_500, 2))
    tracemalloc.start()
    counts = bp.count_neighbors(points, [0.0, 99.0], period=[[1.0, 0.0], [0.3, 1.0]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts.tolist() == [0, 1_500 * 1_499 // 2]
    assert peak < 12 * counts[1]


@pytest.mark.parametrize("power", [-900, -550, 550, 900])
def test_cells_of_any_size(power):
    """Squares of such lengths overflow or vanish; by a power of two all numbers are the same."""
    for dim in (2, 3):
        vectors = np.array([[3.0, 0.25, -0.5], [121.0, 12.0, -20.5], [0.5, -1.0, 4.0]])[:dim, :dim]
        random, unit = np.random.default_rng(dim), 2.0**power
        points, others = (np.rint(8 * random.uniform(-1.5, 2.5, (n, dim)) @ vectors) / 8 for n in (60, 40))
        for r in (0.75, 2.5, np.inf):
            wanted = bp.neighbors(points, r, other=others, period=vectors, offsets=True)
            found = bp.neighbors(
                points * unit, r * unit, other=others * unit, period=vectors * unit, offsets=True
            )
            expect(found, (wanted.i, wanted.j, wanted.distance * unit), float)
            np.testing.assert_array_equal(found.offset, wanted.offset * unit)
            wanted = bp.nearest(points, 3, r=r, period=vectors)
            nearest = bp.nearest(points * unit, 3, r=r * unit, period=vectors * unit)
            np.testing.assert_array_equal(nearest.ids, wanted.ids)
            np.testing.assert_array_equal(nearest.distances, wanted.distances * unit)


@pytest.mark.parametrize("matrix", [np.diag([3.0, 5.0]), [[3, 0], [-300, 5]], [[0, 5], [-3, 0]]])
def test_vectors_along_the_axes_are_a_period_of_lengths(matrix):
    points = np.random.default_rng(9).normal(size=(300, 2)) * 4
    found = bp.neighbors(points, 0.4, period=matrix)
    expect(found, tuple(bp.neighbors(points, 0.4, period=(3, 5))), float)
    right = bp.nearest(points, 3, period=(3, 5))
    np.testing.assert_array_equal(bp.nearest(points, 3, period=matrix).distances, right.distances)


def test_many_points():
    random = np.random.default_rng(11)
    cell = np.array([[8.0, 0, 0], [3, 7, 0], [-2, 3, 9]])
    points = np.rint(1024 * random.random((9_000, 3)) @ cell) / 1024
    found = bp.neighbors(points, 0.5, period=cell)
    rows, nearest = found.csr(), bp.nearest(points, 5, period=cell)
    for row in (0, 77, 8_999):
        apart = brute_force(points[row : row + 1], points, cell)[0]
        mine = np.flatnonzero(apart <= 0.5)
        assert rows.indices[rows.indptr[row] : rows.indptr[row + 1]].tolist() == mine[mine != row].tolist()
        apart[row] = np.inf
        order = np.argsort(apart, kind="stable")[:5]
        assert nearest.ids[row].tolist() == order.tolist()
    assert len(bp.neighbors(points, 0.5, period=cell, max_pairs=len(found))) == len(found)
    with pytest.raises(bp.PairLimitExceeded) as refused:
        bp.neighbors(points, 0.5, period=cell, max_pairs=len(found) - 1)
    assert refused.value.max_pairs == len(found) - 1


POINTS = [[0.0, 0.0], [1.0, 1.0]]
BAD = {
    "matrix of 2 lattice vectors": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "one a row, of 2 numbers each": [[1, 0], [0, 1, 0]],
    "do not span all of space": [[1, 2], [2, 4]],
    r"period\[1\]\[0\] = inf must be finite": [[1, 0], [np.inf, 1]],
    "are too long or too short": [[1e300, 0], [1e299, 1e300]],
}


@pytest.mark.parametrize("message", BAD)
def test_bad_vectors_are_named(message):
    for call in (bp.neighbors, bp.nearest, bp.count_neighbors):
        with pytest.raises(ValueError, match=message):
            call(POINTS, 1, period=BAD[message])
    with pytest.raises(ValueError, match=message):
        bp.PointIndex(POINTS, dim=2, period=BAD[message])


def test_what_is_no_number_or_too_far_away_is_named():
    with pytest.raises(TypeError, match=r"period\[0\]\[1\] must be a number; got 'a'"):
        bp.neighbors(POINTS, 1, period=[[1, "a"], [0, 1]])
    with pytest.raises(ValueError, match=r"points\[1\] = .* rounding loses its place"):
        bp.neighbors([[0, 0], [1e30, 0]], 1, period=[[4, 0], [1, 4]])


def test_boxes_and_worlds_refuse_a_matrix():
    boxes, matrix = np.zeros((2, 4)), [[4, 0], [1, 4]]
    for call in (
        lambda: bp.pairs(boxes, period=matrix),
        lambda: bp.join(boxes, boxes, period=np.array(matrix)),
        lambda: bp.BoxTree(period=matrix),
        lambda: bp.World(period=matrix),
    ):
        with pytest.raises(TypeError, match="matrix of lattice vectors, which only neighbors, nearest"):
            call()
