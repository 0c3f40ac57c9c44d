"""Capsules, rounded boxes and grown polygons: values, contacts, rays, distances, movement."""

import math
import pickle

import numpy as np
import pytest
import shapely
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from broadphase import ANY, Box, Capsule, Circle, Polygon, RoundedBox, World, contact, overlap

small = st.integers(-9, 9)
sizes = st.integers(1, 8)
capsules = st.builds(
    lambda x, y, motion, radius: Capsule(x, y, x + motion[0], y + motion[1], radius),
    small,
    small,
    st.tuples(small, small).filter(any),
    st.integers(1, 4),
)
rounded_boxes = st.builds(
    lambda x, y, width, height, part: RoundedBox(x, y, width, height + 0.5, part * min(width, height)),
    small,
    small,
    sizes,
    sizes,
    st.sampled_from([0.1, 0.3, 0.5]),
)
grown = st.builds(
    lambda x, y, turn, radius: Polygon([(0, 0), (5, 0), (3, 4)], radius=radius).rotated(turn).moved_to(x, y),
    small,
    small,
    st.floats(0, 360),
    st.floats(0.1, 3),
)
rounded = st.one_of(capsules, rounded_boxes, grown)
plain = st.one_of(
    st.builds(Box, small, small, sizes, sizes),
    st.builds(Circle, small, small, sizes),
    st.builds(lambda x, y: Polygon([(x, y), (x + 4, y + 1), (x + 1, y + 5)]), small, small),
)
anything = st.one_of(rounded, plain)


def core_of(shape):
    """What is grown, and by how much."""
    if isinstance(shape, Box):
        return shapely.box(*shape.bounds), 0.0
    if isinstance(shape, Circle):
        return shapely.Point(shape.x, shape.y), shape.radius
    if len(shape.points) == 2:
        return shapely.LineString(shape.points), shape.radius
    return shapely.Polygon(shape.points), shape.radius


def gap(a, b):
    """How far two shapes are apart; negative where grown cores that are apart overlap."""
    (one, reach), (two, more) = core_of(a), core_of(b)
    return one.distance(two) - reach - more


@pytest.mark.smaller_set
def test_values():
    capsule = Capsule(1, 2, 4, 6, 2)
    assert capsule.bounds == (-1, 0, 6, 8)
    assert (capsule.x, capsule.y, capsule.center) == (1, 2, (2.5, 4))
    assert capsule.moved_to(0, 0) == Capsule(0, 0, 3, 4, 2)
    assert capsule.moved_to(0, 0).ends == ((0, 0), (3, 4))
    box = RoundedBox(1, 2, 10, 6, 3)
    assert box.bounds == (1, 2, 11, 8)
    assert (box.x, box.y, box.width, box.height, box.radius) == (1, 2, 10, 6, 3)
    for shape in (capsule, box, Polygon([(0, 0), (4, 0), (0, 3)], radius=1), box.rotated(33)):
        again = pickle.loads(pickle.dumps(shape))
        assert again == shape
        assert type(again) is type(shape)
        assert hash(again) == hash(shape)
        assert again.bounds == shape.bounds
    assert Polygon([(0, 0), (4, 0), (0, 3)], radius=1) != Polygon([(0, 0), (4, 0), (0, 3)])
    assert repr(box) == "RoundedBox(x=1.0, y=2.0, width=10.0, height=6.0, radius=3)" or "radius=3.0" in repr(
        box
    )


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Capsule(1, 2, 1, 2, 3), r"both ends of the capsule are 1, 2; use Circle\(1, 2, 3\)"),
        (lambda: Capsule(1, 2, 3, 4, -1), "radius must not be negative"),
        (lambda: World().add(Capsule(1, 2, 3, 4, 0)), "is a segment; in a world a capsule needs a radius"),
        (lambda: World().add_many([Capsule(1, 2, 3, 4, 0)]), r"shapes\[0\] = .* is a segment; in a world"),
        (lambda: Capsule(1, 2, math.nan, 4, 1), "to_x must be finite"),
        (lambda: RoundedBox(0, 0, 4, 4, 2.5), "radius = 2.5 is too large for a box of 4 x 4"),
        (lambda: RoundedBox(0, 0, 4, 4, 2), "or use Circle"),
        (lambda: Polygon([(0, 0), (1, 0), (0, 1)], radius=-1), "radius must not be negative"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("a", "b", "normal", "depth"),
    [
        (Capsule(0, 0, 0, 10, 3), Box(2, 0, 10, 10), (-1, 0), 1),
        (Capsule(0, 0, 0, 10, 3), Circle(0, 14, 2), (0, -1), 1),
        (Capsule(0, 0, 10, 0, 1), Capsule(5, -5, 5, 5, 1), (-1, 0), 7),  # a cross
        (Capsule(0, 0, 10, 0, 1), Capsule(11, 0, 20, 0, 1), (-1, 0), 1),  # in one line
        (Capsule(0, 0, 10, 0, 2), Capsule(3, 3, 8, 3, 2), (0, -1), 1),  # side by side
        (RoundedBox(0, 0, 10, 10, 3), Circle(12, 5, 3), (-1, 0), 1),
        (RoundedBox(0, 0, 10, 10, 5 - 1e-9), Circle(8, 9, 1), (-0.6, -0.8), 1),
        (
            Polygon([(0, 0), (4, 0), (0, 4)], radius=1),
            Box(3, 3, 9, 9),
            (-math.sqrt(0.5),) * 2,
            1 - math.sqrt(2),
        ),
    ],
)
def test_contact(a, b, normal, depth):
    found = contact(a, b)
    if depth <= 0:
        assert found is None
        return
    assert found.normal == pytest.approx(normal, abs=1e-8)
    assert found.depth == pytest.approx(depth, abs=1e-7)


@settings(deadline=None)
@given(rounded, anything)
@example(  # the vector between two corners, equally long in both directions but rounded differently
    Polygon([(0, 0), (5, 0), (3, 4)], radius=1.0).rotated(1.0).moved_to(-5, 0), Capsule(1, -2, 1, 0, 1)
)
def test_contacts_against_shapely(a, b):
    apart = gap(a, b)
    assume(abs(apart) > 1e-9)
    found, back = contact(a, b), contact(b, a)
    assert (found is not None) == (back is not None) == (apart < 0)
    if found is None:
        return
    assert found.depth == back.depth
    if core_of(a)[0].distance(core_of(b)[0]) > 0:
        assert found.depth == pytest.approx(-apart)
        assert found.normal == (-back.normal[0], -back.normal[1])
    nx, ny = found.normal
    assert math.hypot(nx, ny) == pytest.approx(1)
    for more, together in ((1e-7, False), (-1e-7, True)):
        depth = found.depth + more * (1 + found.depth)
        assert overlap(a.moved_to(a.x + nx * depth, a.y + ny * depth), b) == together
    for angle in np.linspace(0, math.tau, 48):  # no displacement is shorter
        motion = 0.999 * found.depth
        assert overlap(a.moved_to(a.x + motion * math.cos(angle), a.y + motion * math.sin(angle)), b)


@settings(deadline=None)
@given(rounded, anything)
def test_in_a_world(a, b):
    world = World()
    world.on(ANY, ANY, begin=lambda contact: None)
    world.add(a), world.add(b)
    found, one = world.update().began, contact(a, b)
    if one is None:
        touch = overlap(a, b) or not _bounds_overlap(a, b)
        assert touch or not found
        return
    assert found.depths.tolist() == [one.depth]
    assert tuple(found.normals[0]) == one.normal


def _bounds_overlap(a, b):
    return a.bounds[0] < b.bounds[2] and b.bounds[0] < a.bounds[2] and a.bounds[1] < b.bounds[3]


@settings(deadline=None)
@given(rounded, st.tuples(small, small), st.floats(0, 6.28))
def test_rays_and_distances(shape, start, angle):
    world = World()
    body = world.add(shape)
    core, radius = core_of(shape)
    far = core.distance(shapely.Point(start)) - radius
    nearest = world.nearest(start)
    assert nearest.distances[0] == pytest.approx(max(far, 0.0), abs=1e-9)
    assume(abs(far) > 1e-9)
    hit = world.raycast(start, (math.cos(angle), math.sin(angle)))
    if far < 0:
        assert hit.distance == 0
        return
    line = shapely.LineString([start, (start[0] + 60 * math.cos(angle), start[1] + 60 * math.sin(angle))])
    least = core.distance(line) - radius
    assume(abs(least) > 1e-6)
    assert (hit is not None) == (least < 0)
    if hit is not None:
        assert hit.other is body
        point = shapely.Point(hit.point)
        assert core.distance(point) == pytest.approx(radius, abs=1e-7)
        before = shapely.LineString([start, hit.point])
        assert core.distance(before) == pytest.approx(radius, abs=1e-7)
        nx, ny = hit.normal
        assert core.distance(shapely.Point(hit.point[0] + nx, hit.point[1] + ny)) == pytest.approx(radius + 1)


@settings(deadline=None)
@given(anything, rounded, st.tuples(st.floats(-30, 30), st.floats(-30, 30)))
def test_movement_stops_where_they_touch(shape, other, motion):
    assume(gap(shape, other) > 1e-6)
    world = World()
    body = world.add(shape)
    world.add(other, static=True)
    move = world.move(body, *motion, response="touch")
    assert not overlap(body.shape, other)
    length = math.hypot(*motion)
    reached = math.hypot(move.x - shape.x, move.y - shape.y)
    steps = np.linspace(0, 1, 60) * (1.0 if not move.hits else reached / length if length else 0)
    for part in steps:
        place = shape.moved_to(shape.x + part * motion[0], shape.y + part * motion[1])
        found = contact(place, other)
        assert found is None or found.depth < 1e-9
    if move.hits:
        assert gap(body.shape, other) == pytest.approx(0, abs=1e-7)
