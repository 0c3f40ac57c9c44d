"""Movement of circles and polygons: worked cases, rolling on tiles, and what holds for every scene."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweep_scenes import Around, around_boxes, boxes_of_tiles, resolve

from broadphase import Box, Capsule, Circle, Polygon, RoundedBox, Tile, TileMap, contact, overlap

HALF = math.sqrt(0.5)
DIAMOND = Polygon([(0, -2), (2, 0), (0, 2), (-2, 0)])


def go(shape, motion, others=(), tiles=None, response="slide"):
    return resolve(shape, *motion, Around(others), tiles, response)


# --- worked cases -------------------------------------------------------------------------------------


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("shape", "motion", "other", "time", "normal", "touch"),
    [
        (Circle(0, 0, 2), (20, 0), Box(10, -5, 4, 10), 0.4, (-1, 0), (8, 0)),
        (Circle(0, 0, 2), (0, -20), Box(-5, -14, 10, 4), 0.4, (0, 1), (0, -8)),
        (Circle(0, 0, 2), (20, 0), Circle(10, 0, 3), 0.25, (-1, 0), (5, 0)),
        (Circle(0, 3, 2), (20, 0), Circle(10, 0, 3), 0.3, (-0.8, 0.6), (6, 3)),
        (Circle(0, -3, 5), (20, 0), Box(14, 0, 9, 9), 0.5, (-0.8, -0.6), (10, -3)),  # onto a corner
        (Circle(0, 0, 0), (20, 0), Box(10, -5, 4, 10), 0.5, (-1, 0), (10, 0)),
        (Circle(0, 0, 0), (20, 0), Circle(10, 0, 3), 0.35, (-1, 0), (7, 0)),
        (Circle(0, -10, 1), (0, 20), DIAMOND, 0.35, (0, -1), (0, -3)),  # onto a corner
        (Circle(-1, -11, HALF), (0, 20), DIAMOND, 0.45, (-HALF, -HALF), (-1, -2)),  # onto a side
        (DIAMOND, (20, 0), Box(10, -5, 4, 10), 0.4, (-1, 0), (8, -2)),
        (DIAMOND, (20, 0), DIAMOND.moved_to(11, -1), 0.4, (-HALF, -HALF), (8, -2)),
        (DIAMOND, (20, 0), Circle(10, 0, 3), 0.25, (-1, 0), (5, -2)),
        (Box(0, 0, 2, 2), (20, 0), Circle(10, 1, 3), 0.25, (-1, 0), (5, 0)),
        (Box(0, 0, 2, 2), (20, 0), DIAMOND.moved_to(10, -1), 0.3, (-1, 0), (6, 0)),
        (Box(0, 0, 2, 2), (20, 0), DIAMOND.moved_to(10, -2.5), 0.325, (-HALF, HALF), (6.5, 0)),
    ],
)
def test_first_hit(shape, motion, other, time, normal, touch):
    place = (shape.x, shape.y)
    move = go(shape, motion, [other], response="touch")
    (hit,) = move.hits
    assert hit.time == pytest.approx(time)
    assert hit.normal == pytest.approx(normal, abs=1e-12)
    assert hit.touch == (move.x, move.y) == pytest.approx(touch, abs=1e-11)
    assert (move.x, move.y) == pytest.approx((place[0] + motion[0] * time, place[1] + motion[1] * time))
    assert not overlap(shape.moved_to(move.x, move.y), other)
    assert overlap(shape.moved_to(move.x + motion[0] * 1e-9, move.y + motion[1] * 1e-9), other)
    if 0 in hit.normal:
        mine, others = shape.moved_to(move.x, move.y).bounds, other.bounds
        assert any(mine[k] == others[(k + 2) % 4] for k in range(4))  # flush to the last bit


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("response", "place"),
    [("slide", (11, -9)), ("touch", (8, -6)), ("cross", (14, -6)), ("bounce", (8, -12))],
)
def test_responses_on_a_slope(response, place):
    """A circle of radius sqrt 2 meets a slope of 45 degrees half way."""
    slope = Polygon([(2, 2), (10, -6), (22, -6), (22, 2)])
    move = go(Circle(2, -6, 2 * HALF), (12, 0), [slope], response=response)
    assert (move.x, move.y) == pytest.approx(place)
    (hit,) = move.hits
    assert hit.time == pytest.approx(0.5)
    assert hit.normal == pytest.approx((-HALF, -HALF))
    assert hit.touch == pytest.approx((8, -6))


@pytest.mark.smaller_set
def test_a_wedge_holds_what_slides_into_it():
    left, right = Polygon([(-20, -20), (0, 0), (-20, 0)]), Polygon([(20, -20), (20, 0), (0, 0)])
    move = go(Circle(0, -30, 2), (1, 60), [left, right])
    assert (move.x, move.y) == pytest.approx((0, -2 / HALF), abs=1e-9)
    assert len(move.hits) <= 4
    again = go(Circle(move.x, move.y, 2), (0, 5), [left, right])
    assert (again.x, again.y) == pytest.approx((move.x, move.y), abs=1e-12)
    up = go(Circle(move.x, move.y, 2), (0, -5), [left, right])
    assert (up.x, up.y, up.hits) == (move.x, move.y - 5, ())


def test_no_wedge_makes_it_jitter():
    random = np.random.default_rng(2)
    for _ in range(100):
        left, right = np.tan(np.radians(random.uniform(5, 80, 2))) * -20
        wedge = [Polygon([(-20, left), (0, 0), (-20, 0)]), Polygon([(20, right), (20, 0), (0, 0)])]
        for shape in (Circle(0, -300, 2), Polygon([(0, -300), (2, -303), (-2, -303)])):
            shape = shape.moved_to(random.uniform(-5, 5), -300)
            for motion in [(random.uniform(-3, 3), 600), (3, 5), (-7, 5)]:
                move = go(shape, motion, wedge)
                assert len(move.hits) < 20
                shape = shape.moved_to(move.x, move.y)


@pytest.mark.smaller_set
def test_pressing_lightly_does_not_creep_in():
    slope = Polygon([(0, 10), (10, 0), (10, 10)])
    ball = Circle(-3, -3, 2)
    for motion in [(20, 20), *[(2e-13, 2e-13)] * 30]:
        move = go(ball, motion, [slope], response="touch")
        ball = ball.moved_to(move.x, move.y)
        assert not overlap(ball, slope)


@pytest.mark.smaller_set
def test_a_corner_yields_to_a_face():
    beside, floor = Box(4, 10, 10, 10), Box(-10, 10, 14, 10)
    square = Polygon([(0, 0), (4, 0), (4, 4), (0, 4)]).moved_to(-4, 2)
    for others in ([beside, floor], [floor, beside]):
        move = go(square, (8, 8), others)
        assert (move.x, move.y) == (4, 6)
        assert [others[hit.other] for hit in move.hits] == [floor]


@pytest.mark.smaller_set
def test_a_function_and_crossing():
    others = [Circle(10, 0, 2), Circle(20, 0, 2), Circle(30, 0, 2)]
    move = go(Circle(0, 0, 1), (50, 0), others, response="cross")
    assert (move.x, move.y) == (50, 0)
    assert [hit.other for hit in move.hits] == [0, 1, 2]
    assert not move.blocked
    answers = [None, "cross", "touch"]
    move = go(Circle(0, 0, 1), (50, 0), others, response=lambda hit: answers[hit.other])
    assert move.x == pytest.approx(27)
    assert [(hit.other, hit.response) for hit in move.hits] == [(1, "cross"), (2, "touch")]


@pytest.mark.parametrize("speed", [11, 1e3, 1e9, 1e15, 1e100])
def test_no_tunnelling(speed):
    for shape in (Circle(0, 0, 1), DIAMOND.moved_to(-1, -2), Circle(0, 0, 0)):
        for other in (Circle(10, 0, 1e-6), Box(10, -5, 0, 10), Polygon([(10, -5), (10.001, -5), (10, 5)])):
            if isinstance(shape, Circle) and shape.radius == 0 and other.bounds[0] == other.bounds[2]:
                continue  # a point and a line
            move = go(shape, (speed, 0), [other], response="touch")
            assert len(move.hits) == 1
            assert shape.moved_to(move.x, move.y).bounds[2] == pytest.approx(10)


@pytest.mark.smaller_set
def test_boxes_among_boxes_are_exact():
    walls = [Box(10, -50, 3, 100), Box(-50, 7.3, 100, 2)]
    move = go(Box(0.1, 0.2, 1.7, 2.9), (33.3, 21.1), walls)
    exact = resolve(Box(0.1, 0.2, 1.7, 2.9), 33.3, 21.1, around_boxes([wall.bounds for wall in walls]))
    assert move == exact


# --- on tiles -----------------------------------------------------------------------------------------


@pytest.mark.covering
@pytest.mark.parametrize("step", [0.1, 1 / 3, 1.0, 31.9, 100.1])
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize(
    "shape",
    [
        Circle(0, 0, 9.7),
        Circle(0, 0, 0.1),
        Polygon([(0, 0), (7, 0), (9, 4), (7, 9), (0, 9)]),
        DIAMOND,
        Capsule(0, 0, 1, 4, 3),
    ],
)
def test_rolling_on_a_floor_of_tiles(step, direction, shape):
    """With gravity pressing down: no tile of the floor blocks the next step."""
    columns = int(step * 30 / 3.3) + 20
    tiles = TileMap(np.ones((2, columns), np.bool_), 3.3, (-30, 100))
    start = 0.0 if direction > 0 else columns * 3.3 - 60
    shape = shape.moved_to(start, 40)
    fallen = go(shape, (0, 200), tiles=tiles)
    shape = shape.moved_to(fallen.x, fallen.y)
    assert shape.bounds[3] == pytest.approx(100)
    assert shape.bounds[3] <= 100
    for _ in range(30):
        for gravity in (step, 0.0):
            move = go(shape, (direction * step, gravity), tiles=tiles)
            assert move.x == shape.x + direction * step
            assert move.y == shape.y
            assert {hit.normal for hit in move.hits} == ({(0.0, -1.0)} if gravity else set())
        shape = shape.moved_to(move.x, move.y)


@pytest.mark.smaller_set
@pytest.mark.parametrize(("dx", "dy"), [(-9, -9), (-9, -5), (-5, -9)])
@pytest.mark.parametrize("first", [0, 1])
def test_in_a_corner_of_two_each_is_named_with_its_normal(dx, dy, first):
    others = [RoundedBox(0, -7, 7, 7, 1.75), Box(-14, -4, 10, 9)]
    move = go(Box(-4, 0, 6, 14), (dx, dy), others[:: -1 if first else 1])
    names = {hit.other: hit.normal for hit in move.hits}
    assert (move.x, move.y, names) == (-4, 0, {first: (0, 1), 1 - first: (1, 0)})


@pytest.mark.smaller_set
def test_one_way_tiles():
    tiles = TileMap(np.zeros((4, 6), np.bool_), 10)
    for column in range(1, 5):
        tiles.set_one_way(column, 2, "top")
    ball = Circle(25, 35, 4)
    assert go(ball, (0, -30), tiles=tiles)[:3] == (25, 5, ())
    down = go(ball.moved_to(25, 5), (2, 30), tiles=tiles)
    assert (down.x, down.y, down.hits[0].other) == (27, 16, Tile(2, 2))
    assert go(ball.moved_to(25, 18), (0, 30), tiles=tiles)[:3] == (25, 48, ())
    assert go(ball.moved_to(-10, 25), (70, 0), tiles=tiles)[:3] == (60, 25, ())


@pytest.mark.smaller_set
def test_a_hole_as_wide_as_the_ball():
    tiles = TileMap([[True, True, False, True, True]] * 2, 10, (0, 10))
    ball = Circle(25, 0, 5)
    fall = go(ball, (0, 50), tiles=tiles)
    assert (fall.x, fall.y, fall.hits) == (25, 50, ())


# --- out of what it starts in -------------------------------------------------------------------------


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("shape", "other", "place"),
    [
        (Circle(0, 0, 2), Circle(3, 0, 2), (-1, 0)),
        (Circle(0, 0, 2), Box(1, -5, 10, 10), (-1, 0)),
        (Circle(4, 4, 2), Box(0, 0, 20, 20), (-2, 4)),
        (DIAMOND, Box(0.5, 0.5, 10, 10), (-0.5, -2.5)),
        (Box(0, 0, 4, 4), Circle(2, 6, 3), (0, -1)),
    ],
)
def test_pushed_out(shape, other, place):
    move = go(shape, (0, 0), [other])
    assert (move.x, move.y) == pytest.approx(place, abs=1e-9)
    assert not overlap(shape.moved_to(move.x, move.y), other)
    (hit,) = move.hits
    assert (hit.other, hit.time, hit.touch) == (0, 0, (move.x, move.y))
    assert hit.normal == contact(shape, other).normal
    on = go(shape, (-7, -9), [other])
    assert (on.x, on.y) == pytest.approx((place[0] - 7, place[1] - 9), abs=1e-9)


@pytest.mark.smaller_set
def test_pushed_out_of_a_floor_and_from_deep_inside():
    tiles = TileMap(np.ones((10, 10), np.bool_), 10)
    for x in (35, 39.5, 40):
        assert go(Circle(x, -2, 5), (0, 0), tiles=tiles)[:2] == pytest.approx((x, -5))
    move = go(Circle(48, 53, 5), (0, 0), tiles=tiles)
    assert not tiles.tiles_in(Circle(move.x, move.y, 5)).size
    assert (move.x, move.y) == (48, 105)


@pytest.mark.smaller_set
def test_what_is_crossed_does_not_push():
    others = [Circle(3, 0, 2), Circle(-3, 0, 2)]
    assert go(Circle(0, 0, 2), (0, 0), others, response=lambda hit: None)[:3] == (0, 0, ())
    for answer in ("cross", None):
        move = go(Circle(0, 0, 2), (0, 0), others, response=lambda hit, a=answer: [a, "slide"][hit.other])
        assert (move.x, move.y) == pytest.approx((1, 0), abs=1e-9)
        assert [hit.other for hit in move.hits] == ([0, 1] if answer else [1])
    tiles = TileMap([[True]], 10)
    through = go(Circle(5, 5, 2), (1, 0), tiles=tiles, response="cross")
    assert (through.x, [hit.other for hit in through.hits]) == (6, [Tile(0, 0)])


# --- every scene --------------------------------------------------------------------------------------


def regular(x, y, turn, size, corners):
    angles = turn + np.arange(corners) * math.tau / corners
    return Polygon(np.stack([x + size * np.cos(angles), y + size * np.sin(angles)], axis=1))


small = st.integers(-20, 20)
shapes = st.one_of(
    st.builds(Box, small, small, st.integers(0, 8), st.integers(0, 8)),
    st.builds(Circle, small, small, st.integers(0, 6)),
    st.builds(regular, small, small, st.floats(0, 6), st.integers(2, 8), st.integers(3, 7)),
    st.builds(lambda x, y, dx, radius: Capsule(x, y, x + dx, y + 3, radius), small, small, small, st.just(2)),
)
motions = st.tuples(st.floats(-60, 60), st.floats(-60, 60))


@pytest.mark.smaller_set
@pytest.mark.parametrize("motion", [0.0, 1e-118, 1e-30, 1e-17, 1e-12, 1.0])
def test_a_shape_is_pushed_out_however_short_its_motion(motion):
    """Also if the motion is lost in the rounding of the place."""
    move = go(Circle(0, 1, 3), (0.0, motion), [Box(-3, -3, 7, 7)])
    assert (move.x, move.y) == (-6, 1 + motion)
    assert len(move.hits) == 1


@settings(deadline=None)
@given(
    shapes,
    st.lists(shapes, max_size=5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6),
    st.lists(motions, min_size=1, max_size=4),
    st.sampled_from(["slide", "touch", "bounce"]),
)
def test_never_inside_and_never_through(shape, others, cells, steps, response):
    tiles = TileMap(np.zeros((5, 5), np.bool_), 7, (-17, -17))
    for column, row in cells:
        tiles.set(column, row, True)
    blockers = others + [
        Box(left, top, right - left, bottom - top) for left, top, right, bottom in boxes_of_tiles(tiles)
    ]
    for motion in steps:
        inside = any(overlap(shape, other) for other in blockers)
        move = go(shape, motion, others, tiles, response)
        assert move == go(shape, motion, others, tiles, response)
        for other in blockers:
            deep = contact(shape.moved_to(move.x, move.y), other)
            assert deep is None or deep.depth < 1e-12
        stops = [hit.touch for hit in move.hits]
        stops = [*(stops[:1] if inside else [(shape.x, shape.y)]), *stops, (move.x, move.y)]
        for (x, y), (goal_x, goal_y) in list(pairwise(stops))[:6]:
            for part in (0.2, 0.5, 0.8):
                there = shape.moved_to(x + (goal_x - x) * part, y + (goal_y - y) * part)
                deep = max((found.depth for b in blockers if (found := contact(there, b))), default=0)
                assert deep < 1e-9
        shape = shape.moved_to(move.x, move.y)
