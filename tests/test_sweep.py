"""Movement: worked cases for every response, corners, tunnelling, order, one-way tiles."""

import math

import numpy as np
import pytest
from sweep_scenes import around_boxes, go, overlaps, resolve

from broadphase import Box, Tile, TileMap
from broadphase.kernels.movement.sweep import MOST_TURNS
from broadphase.world.hits import Hit

WALL = (10, 0, 20, 100)
PLAYER = (0, 40, 4, 4)


# --- responses ----------------------------------------------------------------------------------------


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("response", "place"),
    [("slide", (6, 52)), ("touch", (6, 43)), ("cross", (24, 52)), ("bounce", (-12, 52))],
)
def test_responses(response, place):
    move = go(PLAYER, (24, 12), [WALL], response=response)
    assert (move.x, move.y) == place
    assert move.hits == (Hit(0, 0.25, (-1.0, 0.0), (6.0, 43.0), response),)
    assert move.blocked == (response != "cross")
    assert move.right == move.blocked
    assert (move.left, move.top, move.bottom) == (False, False, False)


@pytest.mark.smaller_set
def test_a_free_path():
    for response in ("slide", "touch", "cross", "bounce", lambda hit: "touch"):
        move = go(PLAYER, (5, -3), [WALL], response=response)
        assert (move.x, move.y, move.hits, move.blocked) == (5, 37, (), False)
    assert go(PLAYER, (0, 0), [WALL])[:3] == (0, 40, ())


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("motion", "place", "normal", "side"),
    [
        ((-30, 0), (12, 15), (1, 0), "left"),
        ((30, 0), (16, 15), (-1, 0), "right"),
        ((0, -30), (15, 12), (0, 1), "top"),
        ((0, 30), (15, 16), (0, -1), "bottom"),
    ],
)
def test_every_side(motion, place, normal, side):
    room = [(10, 10, 12, 22), (20, 10, 22, 22), (10, 10, 22, 12), (10, 20, 22, 22)]
    move = go((15, 15, 4, 4), motion, room)
    assert (move.x, move.y) == place
    assert [hit.normal for hit in move.hits] == [normal]
    assert [name for name in ("left", "right", "top", "bottom") if getattr(move, name)] == [side]


@pytest.mark.smaller_set
def test_slide_into_a_corner_stops_on_both_axes():
    move = go((0, 0, 2, 2), (20, 10), [(10, -50, 12, 50), (-50, 6, 50, 8)])
    assert (move.x, move.y) == (8, 4)
    assert [(hit.other, hit.time, hit.normal, hit.touch) for hit in move.hits] == [
        (0, 0.4, (-1.0, 0.0), (8.0, 4.0)),
        (1, 0.4, (0.0, -1.0), (8.0, 4.0)),
    ]
    assert move.right
    assert move.bottom


@pytest.mark.smaller_set
def test_bounce_keeps_the_length_of_the_path():
    corridor = [(-10, -50, 0, 50), (10, -50, 20, 50)]
    move = go((4, 0, 2, 2), (30, 5), corridor, response="bounce")
    # 4 to the right wall at 8, 8 back to 0, 8 again, 8 again, 2 of 30 left.
    assert (move.x, move.y) == (2, 5)
    assert [hit.other for hit in move.hits] == [1, 0, 1, 0]
    assert [hit.time for hit in move.hits] == pytest.approx([4 / 30, 12 / 30, 20 / 30, 28 / 30])
    assert [hit.touch[0] for hit in move.hits] == [8, 0, 8, 0]


@pytest.mark.smaller_set
def test_bounce_in_a_gap_of_its_own_size_ends():
    move = go((0, 0, 10, 2), (5, 3), [(-10, -50, 0, 50), (10, -50, 20, 50)], response="bounce")
    assert len(move.hits) == MOST_TURNS
    assert move.x == 0


@pytest.mark.smaller_set
def test_a_function_answers_each_hit():
    boxes = [(10, 0, 12, 100), (20, 0, 22, 100), (30, 0, 32, 100), (40, 0, 42, 100)]
    answers = ["cross", None, "bounce"]
    seen = []

    def response(hit):
        seen.append(hit)
        return answers[hit.other] if hit.other < 3 else "touch"

    move = go(PLAYER, (40, 0), boxes, response=response)
    # Through 0 and 1, back from 2 at 26, 14 left: to 12, through 1 again; 0 it does not reach.
    assert (move.x, move.y) == (12, 40)
    assert [(hit.other, hit.response) for hit in move.hits] == [(0, "cross"), (2, "bounce")]
    assert [hit.other for hit in seen] == [0, 1, 2, 1]
    assert all(hit.response == "" for hit in seen)


@pytest.mark.smaller_set
def test_an_error_in_the_function_reaches_the_caller():
    def response(hit):
        raise LookupError(hit.other)

    with pytest.raises(LookupError):
        go(PLAYER, (40, 0), [WALL], response=response)


@pytest.mark.parametrize(
    ("motion", "response", "error", "message"),
    [
        ((math.nan, 0), "slide", ValueError, "dx must be finite"),
        ((0, math.inf), "slide", ValueError, "dy must be finite"),
        (("1", 0), "slide", TypeError, "dx must be a real number"),
        ((1e301, 0), "slide", ValueError, "dx = 1e[+]301 leads beyond"),
        ((1, 0), "stop", ValueError, "unknown response 'stop'; choose one of slide, touch, cross, bounce"),
        ((1, 0), 3, ValueError, "unknown response 3"),
        ((40, 0), lambda hit: "stop", ValueError, "unknown response 'stop'"),
        ((40, 0), lambda hit: True, ValueError, "unknown response True"),
    ],
)
def test_bad_arguments_are_named(motion, response, error, message):
    with pytest.raises(error, match=message):
        go(PLAYER, motion, [WALL], response=response)


# --- order --------------------------------------------------------------------------------------------


@pytest.mark.smaller_set
def test_hits_come_by_time_then_in_the_order_given_then_tiles():
    tiles = TileMap([[True] * 4] * 3, 10, (30, 0))
    boxes = [(50, 0, 60, 9), (30, 2, 31, 3), (20, 0, 25, 9), (30, 1, 31, 2), (-9, 0, -5, 9)]
    move = go((0, 0, 4, 12), (60, 0), boxes, tiles, "cross")
    assert [hit.other for hit in move.hits] == [
        2,
        1,
        3,
        Tile(0, 0),
        Tile(0, 1),
        Tile(1, 0),
        Tile(1, 1),
        0,
        Tile(2, 0),
        Tile(2, 1),
        Tile(3, 0),
        Tile(3, 1),
    ]
    assert [hit.time for hit in move.hits] == sorted(hit.time for hit in move.hits)


@pytest.mark.smaller_set
def test_a_corner_yields_to_a_face():
    """At the same time the box lands on the floor and meets the corner of the next tile."""
    beside, floor = (4, 10, 14, 20), (-10, 10, 4, 20)
    for boxes in ([beside, floor], [floor, beside]):
        move = go((-4, 2, 4, 4), (8, 8), boxes)
        assert (move.x, move.y) == (4, 6)
        assert [boxes[hit.other] for hit in move.hits] == [floor]


@pytest.mark.smaller_set
def test_a_corner_alone_is_a_hit_on_its_side():
    for dx, dy in [(8, 8), (-8, 8), (8, -8), (-8, -8)]:
        box = (-6 if dx > 0 else 4, -6 if dy > 0 else 4, 2, 2)
        move = go(box, (dx, dy), [(-2, -2, 2, 2)])
        assert [(hit.time, hit.normal) for hit in move.hits] == [(0.25, (-math.copysign(1, dx), 0))]
        assert move.y == box[1] + dy


@pytest.mark.smaller_set
def test_grazing_is_no_hit():
    other = (10, 10, 20, 20)
    for box, motion in [
        ((0, 6, 4, 4), (50, 0)),  # along the edge
        ((6, 0, 4, 4), (0, 50)),
        ((0, 12, 4, 4), (6, 0)),  # flush at the goal
        ((2, 16, 4, 4), (12, 12)),  # past a corner
        ((0, 0, 4, 4), (6, 6)),  # onto a corner
    ]:
        assert go(box, motion, [other]).hits == ()


# --- nothing is jumped over ---------------------------------------------------------------------------


@pytest.mark.smaller_set
@pytest.mark.parametrize("thickness", [1.0, 1e-9, 0.0])
@pytest.mark.parametrize("speed", [11, 1e3, 1e9, 1e15, 1e100, 9e299])
@pytest.mark.parametrize("angle", [0, 3])
def test_no_tunnelling(thickness, speed, angle):
    wall = (10, -1e300, 10 + thickness, 1e300)
    for sign in (1, -1):
        box = (0, 0, 4, 4) if sign > 0 else (20, 0, 4, 4)
        move = go(box, (sign * speed, angle), [wall], response="touch")
        assert move.x == (6 if sign > 0 else wall[2])
        assert len(move.hits) == 1


@pytest.mark.smaller_set
def test_no_tunnelling_through_tiles():
    tiles = TileMap([[False] * 3, [True] * 3, [False] * 3], 0.5, (-0.5, 7))
    for speed in (15, 1e3, 1e9, 1e100):
        assert go((0, 0, 0.25, 0.25), (0, speed), tiles=tiles).y == 7.25
        assert go((0, 20, 0.25, 0.25), (0, -speed), tiles=tiles).y == 8
        move = go((-1e6, 7.6, 0.25, 0.25), (speed, 0), tiles=tiles)
        assert move.x == (-0.75 if speed >= 1e9 else -1e6 + speed)


@pytest.mark.smaller_set
def test_huge_blockers():
    half = (-1e299, -1e299, 0, 1e299)
    assert go((5, 5, 2, 2), (-50, 3), [half])[:2] == (0, 8)
    assert go((5, 5, 2, 2), (50, 3), [(1e299, 0, 1.1e299, 10)])[:2] == (55, 8)


@pytest.mark.smaller_set
def test_a_huge_map_is_walked_not_scanned():
    solid = np.zeros((2_000, 2_000), np.bool_)
    solid[1_999, 1_998:] = True
    tiles = TileMap(solid, 16)
    move = go((0, 0, 10, 10), (32_000, 32_000), tiles=tiles, response="touch")
    assert [hit.other for hit in move.hits] == [Tile(1_998, 1_999)]
    assert move.hits[0].time == pytest.approx((1_999 * 16 - 10) / 32_000)


# --- one-way tiles ------------------------------------------------------------------------------------


def platform(*sides):
    tiles = TileMap(np.zeros((4, 6), np.bool_), 10)
    for column in range(1, 5):
        tiles.set_one_way(column, 2, sides)
    return tiles


@pytest.mark.smaller_set
def test_a_platform_to_jump_through():
    tiles = platform("top")
    up = go((22, 32, 6, 6), (0, -30), tiles=tiles)
    assert (up.y, up.hits) == (2, ())
    down = go((22, 2, 6, 6), (3, 30), tiles=tiles)
    assert (down.x, down.y, down.bottom) == (25, 14, True)
    assert down.hits[0].other == Tile(2, 2)
    walk = go((22, 14, 6, 6), (9, 2), tiles=tiles)
    assert (walk.x, walk.y) == (31, 14)
    within = go((22, 15, 6, 6), (0, 30), tiles=tiles)  # already below its edge
    assert (within.y, within.hits) == (45, ())
    across = go((-20, 22, 6, 6), (70, 0), tiles=tiles)
    assert (across.x, across.hits) == (50, ())
    half_way = go((22, 32, 6, 6), (0, -15), tiles=tiles)  # not pushed out
    assert go((22, half_way.y, 6, 6), (0, 0), tiles=tiles).y == half_way.y == 17


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("side", "box", "motion"),
    [
        ("top", (22, 2, 6, 6), (0, 30)),
        ("bottom", (22, 40, 6, 6), (0, -30)),
        ("left", (-10, 22, 6, 6), (70, 0)),
        ("right", (60, 22, 6, 6), (-70, 0)),
    ],
)
def test_each_side_blocks_alone(side, box, motion):
    assert len(go(box, motion, tiles=platform(side), response="touch").hits) == 1
    others = {"top", "bottom", "left", "right"} - {side}
    assert go(box, motion, tiles=platform(*others), response="touch").hits == ()
    assert go(box, motion, tiles=platform(), response="touch").hits == ()


@pytest.mark.smaller_set
def test_a_corner_of_a_platform_is_its_top():
    move = go((-1, 9, 6, 6), (10, 10), tiles=platform("top"))
    assert (move.x, move.y) == (9, 14)


# --- any numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [2.0**-1000, 1e-300, 1e-30, 1.0, 1e30, 1e290])
def test_any_scale(scale):
    box = (0.0, 0.0, 2 * scale, 2 * scale)
    move = resolve(Box(*box), 8 * scale, 3 * scale, around_boxes([(4 * scale, -scale, 5 * scale, 9 * scale)]))
    assert (move.x, move.y) == (2 * scale, 3 * scale)


@pytest.mark.smaller_set
def test_negative_zero():
    boxes = [(-5, -5, -0.0, 5)]
    for zero in (0.0, -0.0):
        assert go((zero, zero, 1, 1), (-3, zero), boxes).x == 0
        assert go((zero, zero, 1, 1), (3, zero), boxes).hits == ()


@pytest.mark.smaller_set
def test_boxes_without_size():
    point = (0, 0, 0, 0)
    assert go(point, (10, 0), [(4, -1, 5, 1)]).x == 4
    assert go(point, (10, 0), [(4, 0, 5, 1)]).hits == ()  # along an edge
    assert go((0, 0, 2, 2), (10, 0), [(4, 1, 4, 1)]).x == 2  # a point on the path
    tiles = TileMap([[False, True]], 4, (0, -2))
    assert go(point, (10, 0), tiles=tiles).x == 4


@pytest.mark.smaller_set
@pytest.mark.parametrize("speed", [4, 5, 1e3, 1e100])
def test_a_point_stops_before_a_line_and_stays_on_its_side(speed):
    line = [(4, -1, 4, 1)]
    for start, sign, stop in [(0, 1, math.nextafter(4, 0)), (8, -1, math.nextafter(4, 9))]:
        x = start
        for _ in range(3):
            move = go((x, 0, 0, 0), (sign * speed, 0), line)
            x = move.x
            assert (x, len(move.hits)) == (stop, 1)
        assert go((4, 0, 0, 0), (sign * speed, 0), line).x == 4 + sign * speed
        assert go((start, -1, 0, 0), (sign * speed, 0), line).hits == ()


@pytest.mark.smaller_set
def test_an_empty_tile_map():
    assert go(PLAYER, (5, 5), tiles=TileMap(np.zeros((0, 0), np.bool_), 8))[:2] == (5, 45)
    assert not overlaps(*PLAYER, WALL)
