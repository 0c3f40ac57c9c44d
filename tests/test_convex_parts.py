"""Polygons cut into convex parts, held against shapely."""

import math

import numpy as np
import pytest
import shapely
from cases import examples

from broadphase import Polygon


def rings(seed):
    """Stars, combs, spirals, and points in any order, which mostly cross themselves."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 40))
    kind = seed % 4
    if kind == 0:
        angles = np.sort(rng.uniform(0, 2 * math.pi, count))
        reach = rng.uniform(0.1, 1, count)
        return np.column_stack((reach * np.cos(angles), reach * np.sin(angles)))
    if kind == 1:
        x = np.arange(2 * count, dtype=float)
        return np.vstack((np.column_stack((x, x % 2 * rng.uniform(1, 5))), [(2 * count, -1), (-1, -1)]))
    if kind == 2:
        angles = np.linspace(0, 12, count)
        motion = np.column_stack((angles * np.cos(angles), angles * np.sin(angles)))
        return np.vstack((motion + 0.01, motion[::-1] * 1.2 + (0.0, 0.003)))
    return rng.uniform(0, 1, (min(count, 8), 2))


def test_parts_cover_the_polygon_once():
    simple = crossing = 0
    for seed in range(examples(400)):
        points = rings(seed)
        ring = [tuple(point) for point in (points if seed % 3 else points[::-1]).tolist()]
        whole = shapely.Polygon(ring)
        if not whole.is_valid:
            with pytest.raises(ValueError, match="cross"):
                Polygon.convex_parts(ring)
            crossing += 1
            continue
        parts = [shapely.Polygon(part.points) for part in Polygon.convex_parts(ring)]
        assert math.isclose(sum(part.area for part in parts), whole.area, rel_tol=1e-9)
        # Corners are rounded, as a polygon keeps them relative to its first; on a grid GEOS overlooks that.
        assert math.isclose(shapely.unary_union(parts, grid_size=1e-9).area, whole.area, rel_tol=1e-6)
        inward = sum(_turns_inward(ring))
        assert len(parts) <= 2 * inward + 1
        simple += 1
    assert min(simple, crossing) > 20


def _turns_inward(ring):
    motion = 1 if shapely.LinearRing(ring).is_ccw else -1
    for k in range(len(ring)):
        (ax, ay), (bx, by), (cx, cy) = ring[k - 2], ring[k - 1], ring[k]
        yield motion * ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) < 0


def test_corners_on_straight_sides_and_spikes_are_dropped():
    square, triangle = [(0, 0), (4, 0), (4, 4), (0, 4)], [(0, 0), (4, 0), (4, 4)]
    assert Polygon.convex_parts([(0, 0), (2, 0), (4, 0), (4, 4), (0, 4)]) == [Polygon(square)]
    assert Polygon.convex_parts([(0, 0), (4, 0), (9, 0), (4, 0), (4, 4)]) == [Polygon(triangle)]


def test_arrays_closed_rings_and_what_is_convex_already():
    ring = np.array([(0, 0), (4, 0), (4, 2), (2, 2), (2, 4), (0, 4)])
    parts = Polygon.convex_parts(ring)
    assert len(parts) == 2
    assert Polygon.convex_parts([*ring.tolist(), (0, 0)]) == parts
    assert Polygon.convex_parts(parts[0].points) == parts[:1]
    for size in (5e-324, 2.0**-660, 2.0**1020):  # areas leave the range of float64
        assert Polygon.convex_parts(ring * size) == [Polygon(np.array(part.points) * size) for part in parts]
    with pytest.raises(ValueError, match=r"turns inwards at points\[3\]; Polygon.convex_parts"):
        Polygon(ring)


@pytest.mark.parametrize(
    ("ring", "wrong"),
    [
        ([(0, 0), (1, 1), (2, 2)], "on a line"),
        ([(0, 0), (1, 1)], "at least three different corners"),
        ([(0, 0), (1, 1), (2, math.inf)], r"points\[2\] = .* must be finite"),
        ([(0, 0), (1, 1), (1, 0), (0, 1)], "crosses itself"),
        ([(k, k % 2) for k in range(1_500)], "1500 corners; up to 1000"),
    ],
)
def test_what_can_not_be_cut(ring, wrong):
    with pytest.raises(ValueError, match=wrong):
        Polygon.convex_parts(ring)


def test_a_five_pointed_star_that_winds_twice():
    ring = [(math.cos(4 * math.pi * k / 5), math.sin(4 * math.pi * k / 5)) for k in range(5)]
    with pytest.raises(ValueError, match="cross"):
        Polygon.convex_parts(ring)
