"""Shapes and the narrow phase, against exact arithmetic, against shapely and against itself."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from broadphase import (
    Box,
    Circle,
    Polygon,
    contact,
    contact_boxes,
    overlap,
)

small = st.integers(-12, 12)
lengths = st.integers(0, 10)
boxes = st.builds(Box, small, small, lengths, lengths)
solid_boxes = st.builds(Box, small, small, st.integers(1, 10), st.integers(1, 10))
circles = st.builds(Circle, small, small, st.integers(1, 8))


@st.composite
def polygons(draw):
    points = draw(st.lists(st.tuples(small, small), min_size=3, max_size=8, unique=True))
    hull = shapely.convex_hull(shapely.MultiPoint(points))
    assume(hull.geom_type == "Polygon")
    corners = list(hull.exterior.coords)[:-1]
    if draw(st.booleans()):
        corners.reverse()
    return Polygon(corners)


shapes = st.one_of(solid_boxes, circles, polygons())


def to_shapely(shape):
    if isinstance(shape, Box):
        return shapely.box(*shape.bounds)
    return shapely.Polygon(shape.points)


# --- values -------------------------------------------------------------------------------------------


@pytest.mark.smaller_set
def test_bounds_and_places():
    assert Box(1, 2, 3, 4).bounds == (1, 2, 4, 6)
    assert Circle(1, 2, 3).bounds == (-2, -1, 4, 5)
    triangle = Polygon([(1, 1), (5, 1), (1, 4)])
    assert triangle.bounds == (1, 1, 5, 4)
    assert (triangle.x, triangle.y) == (1, 1)
    assert triangle.moved_to(10, 0).bounds == (10, 0, 14, 3)
    assert Box(1, 2, 3, 4).moved_to(0, 0) == Box(0, 0, 3, 4)
    assert Circle(1, 2, 3).moved_to(0, 0) == Circle(0, 0, 3)


def test_shapes_are_values():
    for shape in (Box(1, 2, 3, 4), Circle(1, 2, 3), Polygon([(0, 0), (3, 1), (1, 4)])):
        again = pickle.loads(pickle.dumps(shape))
        assert again == shape
        assert hash(again) == hash(shape)
        assert repr(again) == repr(shape)
        assert shape != shape.moved_to(50, 50)
        with pytest.raises(AttributeError):
            shape.x = 5.0
    assert Polygon([(0, 0), (3, 1), (1, 4)]) != "a polygon"
    assert not Polygon([(0, 0), (3, 1), (1, 4)]).offsets.flags.writeable


def test_polygon_keeps_its_form_while_it_travels():
    shape = Polygon([(0.1, 0.2), (0.7, 0.3), (0.4, 0.9)])
    there_and_back = shape.moved_to(1e9, -1e9).moved_to(shape.x, shape.y)
    assert there_and_back == shape


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("step", [1, -1])
def test_either_winding_and_closed_rings(first, step):
    ring = [(0, 0), (4, 0), (4, 3), (0, 3)]
    corners = [ring[(first + step * k) % 4] for k in range(4)]
    for points in (corners, [*corners, corners[0]], np.array(corners), iter(corners)):
        polygon = Polygon(points)
        assert (polygon.x, polygon.y) == corners[0]
        assert polygon.bounds == (0, 0, 4, 3)
        assert contact(polygon, Box(3, 1, 9, 1))[2:] == ((-1.0, 0.0), 1.0)
        assert shapely.Polygon(polygon.points).exterior.is_ccw


def test_a_corner_may_be_on_a_straight_side():
    turn = math.radians(33)
    square = np.array([(0, 0), (1, 0), (2, 0), (2, 2), (1, 2), (0, 2)])
    rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    assert len(Polygon(square).points) == 6
    assert len(Polygon(square @ rotation.T).points) == 6


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_polygons_of_any_size(scale):
    a = Polygon([(0, 0), (2 * scale, 0), (0, 2 * scale)])
    b = Polygon([(scale / 2, scale / 2), (3 * scale, scale / 2), (scale / 2, 3 * scale)])
    assert contact(a, b).depth == pytest.approx(scale * math.sqrt(0.5))
    assert contact(a, Circle(-scale, scale, 1.5 * scale)).depth == pytest.approx(scale / 2)


def test_polygons_whose_corners_are_near_the_first_and_beyond_reach_of_each_other():
    wide = Polygon([(0, -1e308), (1e308, 0), (-1e308, 0)])
    assert np.isfinite(wide.axes).all()
    assert contact(wide, Box(-1e307, -1e307, 2e307, 2e307)) is not None
    assert contact(wide, Box(-1e307, 1e307, 2e307, 2e307)) is None


def test_what_is_convex_is_what_shapely_says(each):
    """A polygon is taken where the corners are those of their hull, in order, and no other is."""
    each(is_convex_where_shapely_says_so, range(200))


def is_convex_where_shapely_says_so(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (int(rng.integers(3, 7)), 2)).astype(float)
    distinct = (points[1:] != points[:-1]).any(axis=1).all()  # to shapely a corner may come twice
    ring = shapely.Polygon(points)
    hull = ring.convex_hull
    convex = distinct and ring.is_valid and ring.area > 0 and ring.equals(hull)
    try:
        polygon = Polygon(points)
    except ValueError:
        assert not convex
        return
    assert convex
    sides = np.roll(polygon.offsets, -1, axis=0) - polygon.offsets
    assert not (sides * polygon.axes).sum(axis=1).any()
    x, y = polygon.axes.T
    assert ((x > 0) | ((x == 0) & (y > 0))).all()
    assert not polygon.axes.flags.writeable


def test_rows_of_many_kinds():
    pairs = [(0, 0), (4, 0), (4, 3)]
    for kind in (list, np.array, np.float32):
        assert Polygon([kind(pair) for pair in pairs]) == Polygon(pairs)
    for kind in (set, frozenset, dict.fromkeys):
        with pytest.raises(TypeError, match="pairs of real numbers"):
            Polygon([kind((x + 0.5, float(y))) for x, y in pairs])


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "shape"),
        ([(0, 0), (1, 1)], "at least three"),
        ([(0, 0), (1, 1), (0, 0)], "at least three"),
        ([(0, 0), (1, 0), (2, 0)], "turn back"),
        ([(0, 0), (1, 0), (1, 0), (0, 1)], r"points\[2\] repeats points\[1\]"),
        ([(0, 0), (4, 0), (1, 1), (0, 4)], r"turns inwards at points\[2\]"),
        ([(0, 4), (1, 1), (4, 0), (0, 0)], r"turns inwards at points\[1\]"),
        ([(0, 3), (2, -3), (-3, 1), (3, 1), (-2, -3)], "crosses itself"),
        ([(0, 0), (2, 2), (2, 0), (0, 2)], "turns inwards"),
        ([(0, 0), (1, 0), (0, math.nan)], r"points\[2\]"),
        ([(0, 0), (1, 0), (0, math.inf)], r"points\[2\]"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], "shape"),
        ([(0, 0), (1, 0), (0,)], "different lengths"),
        ([(-1.7e308, 0), (1.7e308, 0), (0, 1)], "too far apart"),
    ],
)
def test_polygons_that_are_none(points, message):
    with pytest.raises(ValueError, match=message):
        Polygon(points)


def test_shapes_that_are_none():
    for make in (lambda v: Box(v, 0, 1, 1), lambda v: Box(0, 0, 1, v), lambda v: Circle(0, v, 1)):
        for value in (math.nan, math.inf, -math.inf):
            with pytest.raises(ValueError, match="must be finite"):
                make(value)
        for value in ("1", None, 1j, True, [1]):
            with pytest.raises(TypeError, match=r"must be a real number|takes x, y, width, height"):
                make(value)
    with pytest.raises(ValueError, match="width must not be negative; got -1"):
        Box(0, 0, -1, 1)
    with pytest.raises(ValueError, match="radius must not be negative"):
        Circle(0, 0, -1)
    with pytest.raises(ValueError, match="beyond the range"):
        Box(1.7e308, 0, 1.7e308, 1)
    with pytest.raises(ValueError, match="beyond the range"):
        Circle(1.7e308, 0, 1.7e308)
    with pytest.raises(TypeError, match="pairs of real numbers"):
        Polygon([("0", "0"), ("1", "0"), ("0", "1")])
    with pytest.raises(TypeError, match="must be a Box, Circle or Polygon"):
        contact(Box(0, 0, 1, 1), (0, 0, 1, 1))


# --- contacts: worked cases ---------------------------------------------------------------------------

DIAMOND = Polygon([(0, -2), (2, 0), (0, 2), (-2, 0)])
HALF = math.sqrt(0.5)


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("a", "b", "normal", "depth"),
    [
        (Box(0, 0, 10, 10), Box(8, 8, 10, 10), (-1, 0), 2),  # a tie goes to x
        (Box(0, 0, 10, 10), Box(0, 0, 10, 10), (-1, 0), 10),  # and to the smaller side
        (Box(4, 0, 2, 10), Box(0, 0, 10, 10), (1, 0), 6),  # the smaller box begins later: to larger x
        (Box(0, 0, 10, 10), Box(3, 5, 0, 0), (1, 0), 3),  # a point in a box
        (Circle(0, 0, 3), Circle(3, 4, 3), (-0.6, -0.8), 1),
        (Circle(1, 1, 2), Circle(1, 1, 3), (-1, 0), 5),
        (Circle(5, 5, 1), Box(0, 0, 10, 10), (-1, 0), 6),
        (Circle(0, 0, 0), Box(-1, -1, 3, 3), (-1, 0), 1),  # a point in a box
        (DIAMOND, Circle(2, 2, 2), (-HALF, -HALF), 2 - 2 * HALF),
        (DIAMOND, Circle(0.25, 0.25, 1), (-HALF, -HALF), 1 + 1.5 * HALF),
        (DIAMOND, DIAMOND.moved_to(3, -2), (-HALF, -HALF), HALF),
    ],
)
def test_contact(a, b, normal, depth):
    found = contact(a, b)
    assert (found.a, found.b) == (a, b)
    assert found.normal == pytest.approx(normal, abs=1e-15)
    assert found.depth == pytest.approx(depth)
    assert overlap(a, b)
    assert overlap(a, b, touching=True)


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Box(0, 0, 2, 2), Box(2, 0, 2, 2)),
        (Box(0, 0, 2, 2), Box(2, 2, 2, 2)),
        (Box(0, 0, 0, 0), Box(0, 0, 0, 0)),
        (Circle(0, 0, 2), Circle(3, 4, 3)),
        (Circle(-3, -4, 5), Box(0, 0, 10, 10)),
        (Circle(5, 10, 0), Box(0, 0, 10, 10)),
        (DIAMOND, Box(2, -1, 2, 2)),
        (DIAMOND, Polygon([(0, 2), (2, 0), (2, 2)])),
        (DIAMOND, Circle(4, 0, 2)),
        (DIAMOND, Circle(2, 0, 0)),
        (Circle(9, -6, 4), Polygon([(-3, -10), (9, -1), (0, 0)])),
    ],
)
def test_touching(a, b):
    assert not overlap(a, b)
    assert not overlap(b, a)
    assert contact(a, b, touching=True).depth == 0
    assert contact(b, a, touching=True).depth == 0


# --- contacts: properties -----------------------------------------------------------------------------

edges = st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e300, max_value=1e300)


@settings(deadline=None)
@given(st.tuples(edges, edges, edges, edges), st.tuples(edges, edges, edges, edges), st.booleans())
def test_boxes_are_exact(a, b, touching):
    a, b = ([*np.minimum(c[:2], c[2:]), *np.maximum(c[:2], c[2:])] for c in (a, b))
    exact_a, exact_b = ([Fraction(float(v)) for v in box] for box in (a, b))
    motions = {}
    for axis in (1, 0):
        motions[axis, 1.0] = exact_b[axis + 2] - exact_a[axis]
        motions[axis, -1.0] = exact_a[axis + 2] - exact_b[axis]
    expected = min(motions.values()) >= 0 if touching else min(motions.values()) > 0
    found = contact_boxes([a], [b], touching=touching)
    assert found.overlapping[0] == expected
    if expected:
        assert found.depths[0] == float(min(motions.values()))
        axis = int(np.flatnonzero(found.normals[0])[0])
        sign = float(found.normals[0, axis])
        assert abs(sign) == 1.0
        assert float(motions[axis, sign]) == found.depths[0]
        assert axis == 0 or float(min(motions[0, 1.0], motions[0, -1.0])) > found.depths[0]
    else:
        assert found.depths[0] == 0
        assert not found.normals.any()


@settings(deadline=None)
@given(shapes, shapes, st.booleans())
def test_exchange_turns_the_normal_round(a, b, touching):
    forth, back = contact(a, b, touching=touching), contact(b, a, touching=touching)
    if forth is None:
        assert back is None
        return
    assert forth.depth == back.depth
    if forth.normal == back.normal:  # the sides cannot be distinguished
        centre_a, centre_b = (np.add(s.bounds[:2], s.bounds[2:]) / 2 for s in (a, b))
        assert (centre_a == centre_b).any()
    else:
        assert forth.normal == (-back.normal[0], -back.normal[1])


@settings(deadline=None)
@given(st.one_of(boxes, polygons()), st.one_of(boxes, polygons()))
def test_corners_against_shapely(a, b):
    """On small whole numbers both are exact."""
    one, two = to_shapely(a), to_shapely(b)
    assert overlap(a, b, touching=True) == one.intersects(two)
    if one.area > 0 and two.area > 0:
        assert overlap(a, b) == (one.relate(two)[0] == "2")


@settings(deadline=None)
@given(circles, st.one_of(boxes, polygons()))
def test_circles_against_shapely(circle, other):
    distance = to_shapely(other).distance(shapely.Point(circle.x, circle.y))
    assume(abs(distance - circle.radius) > 1e-9)
    assert overlap(circle, other) == (distance < circle.radius)
    found = contact(circle, other)
    if distance > 0 and found is not None:
        assert found.depth == pytest.approx(circle.radius - distance)


@settings(deadline=None)
@given(shapes, shapes)
def test_the_contact_is_the_shortest_displacement(a, b):
    found = contact(a, b)
    assume(found is not None and found.depth > 1e-8)
    assert math.hypot(*found.normal) == pytest.approx(1.0, abs=1e-14)

    def pushed(direction, motion):
        return a.moved_to(a.x + direction[0] * motion, a.y + direction[1] * motion)

    assert not overlap(pushed(found.normal, found.depth + 1e-9), b)
    for k in range(48):
        direction = (math.cos(k * math.tau / 48), math.sin(k * math.tau / 48))
        assert overlap(pushed(direction, found.depth - 1e-9), b)
