"""Lists of tuples, vectors and rectangles give what the same numbers in an array give."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import broadphase as bp


@pytest.fixture
def rng():
    return np.random.default_rng(7)


COUNTS = (1, 2, 16, 17, 300)


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("kind", [tuple, list, "Vector2", "Vector3", "mixed"])
def test_points(rng, n, kind):
    points = rng.random((n, 3 if kind == "Vector3" else 2)) * n**0.5
    math_ = pytest.importorskip("pygame").math
    kinds = [tuple, list, math_.Vector2] if kind == "mixed" else [getattr(math_, str(kind), kind)]
    rows = [kinds[k % len(kinds)](row) for k, row in enumerate(points.tolist())]
    found, expected = bp.neighbors(rows, 0.7), bp.neighbors(points, 0.7)
    same(found.i, expected.i)
    same(found.j, expected.j)
    same(found.distance, expected.distance)
    same(bp.neighbors(tuple(rows), 0.7).j, expected.j)


def test_vectors_of_pyglet(rng):
    vec2 = pytest.importorskip("pyglet.math").Vec2
    points = rng.random((300, 2))
    same(bp.neighbors([vec2(*row) for row in points.tolist()], 0.1).j, bp.neighbors(points, 0.1).j)


def test_centers_of_bodies(rng):
    vector = pytest.importorskip("pygame").Vector2
    world = bp.World()
    flock = world.add_many([(0, 0, 2, 2)] * 30)
    places = rng.random((30, 2))
    flock.centers = [vector(row) for row in places.tolist()]
    np.testing.assert_allclose(flock.centers, places)


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("kind", ["Rect", "FRect", "sprite", "mixed"])
def test_rectangles(rng, n, kind):
    pygame = pytest.importorskip("pygame")
    side = int(4 * n**0.5) + 1
    edges = np.hstack((rng.integers(-side, side, (n, 2)), rng.integers(0, 6, (n, 2))))
    rects = [(pygame.FRect if kind == "FRect" else pygame.Rect)(*row) for row in edges.tolist()]
    if kind == "mixed":
        rects[::2] = map(pygame.FRect, rects[::2])
    boxes = edges.astype(float)
    boxes[:, 2:] += boxes[:, :2]
    if kind == "sprite":
        sprites = [pygame.sprite.Sprite() for _ in rects]
        for sprite, rect in zip(sprites, rects, strict=True):
            sprite.rect = rect
        rects = sprites
    same(bp.pairs(rects), bp.pairs(boxes))


def test_rectangles_that_are_refused():
    pygame = pytest.importorskip("pygame")
    good = pygame.Rect(0, 0, 2, 2)
    with pytest.raises(TypeError, match=r"boxes\[1\] = \(0, 0, 2, 2\) is no rectangle"):
        bp.pairs([good, (0, 0, 2, 2)])
    with pytest.raises(ValueError, match=r"boxes\[1\] has min_x = 0 > max_x = -2"):
        bp.pairs([good, pygame.Rect(0, 0, -2, 2)])
    with pytest.raises(TypeError, match="which is a box"):
        bp.neighbors([good], 1.0)


class Edges(NamedTuple):
    """As the rectangles of arcade: its numbers are not in the order of a box's edges."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def width(self):
        return self.right - self.left

    @property
    def height(self):
        return self.top - self.bottom


def test_named_tuples_with_edges_are_rectangles():
    same(
        bp.pairs([Edges(0, 3, 10, 12), Edges(2, 5, 11, 14), Edges(0, 3, 0, 1)]), np.array([[0, 1]], np.int32)
    )


@pytest.mark.parametrize(
    "rows",
    [
        [(True, False), (True, True)],
        [(True, 0.5), (1, 0.75)],
        [(2**62 + 1, 0), (2**62 + 513, 0)],
        [(2**63, 0), (2**63 + 2048, 0)],
        [(np.float32(0.1), np.float32(0.2)), (np.float32(0.3), np.float32(0.2))],
        [(np.float64(0.1), 1), (np.float64(0.3), 1)],
        [np.array((0.1, 0.2)), (0.3, 0.2)],
    ],
)
def test_numbers_of_other_kinds_are_as_in_an_array(rows):
    found, expected = bp.neighbors(rows, 1e4), bp.neighbors(np.array(rows), 1e4)
    same(found.distance, expected.distance)


def test_infinite_edges():
    same(bp.pairs([(0, 0, math.inf, 1), (5, 0, 6, 1)]), np.array([[0, 1]], np.int32))


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ([(0, 1), (0, math.nan)], ValueError, "nan"),
        ([(0, 1), (0, 1, 2)], ValueError, "rectangular array of numbers"),
        ([(0, 1), 5], ValueError, "rectangular array of numbers"),
        ([(0, 1), (0, "1")], TypeError, "real numbers"),
        ([(0, 1), (0, None)], TypeError, "row 1, column 1"),
        ([(0, 1), (0, 10**400)], ValueError, "1.8e308"),
        ([(0, 1), (0, 1j)], TypeError, "complex"),
        ([(), ()], ValueError, "shape"),
    ],
)
def test_rows_that_are_refused(rows, error, said):
    with pytest.raises(error, match=said):
        bp.neighbors(rows, 1.0)
