"""Cones of vision and fans of rays; expected values by shapely and by trigonometry."""

import math

import numpy as np
import pytest
from test_outlines import exact, scattered

import broadphase as bp

shapely = pytest.importorskip("shapely", reason="the extra bench is not installed")


def sector(x, y, way, angle, r):
    turns = np.radians(np.linspace(-angle / 2, angle / 2, 200)) + math.atan2(way[1], way[0])
    arc = np.column_stack((x + r * np.cos(turns), y + r * np.sin(turns)))
    return shapely.Polygon(arc if angle == 360 else [(x, y), *arc])


@pytest.mark.parametrize("angle", [2, 45, 90, 100, 179, 200, 360])
def test_a_cone_finds_what_shapely_finds(angle):
    world, rng = scattered(), np.random.default_rng(angle)
    origins, ways = rng.uniform(0, 400, (8, 2)), rng.normal(size=(8, 2))
    rows = world.query_cone(origins, ways, angle, 90)
    shapes, checked = np.array([exact(body.shape) for body in world]), 0
    for k, ((x, y), way) in enumerate(zip(origins.tolist(), ways.tolist(), strict=True)):
        inner, outer = sector(x, y, way, angle, 89.9), sector(x, y, way, angle, 90.05)
        surely = set(np.flatnonzero(shapely.area(shapely.intersection(shapes, inner)) > 0.5).tolist())
        perhaps = set(np.flatnonzero(shapely.intersects(shapes, outer)).tolist())
        found = set(rows[rows[:, 0] == k, 1].tolist())
        assert surely <= found <= perhaps
        assert [body.id for body in world.query_cone((x, y), way, angle, 90)] == sorted(found)
        checked += len(surely)
    assert checked > angle / 20 - 1
    assert np.array_equal(rows, np.unique(rows, axis=0))


def test_a_guard_does_not_see_itself_nor_through_walls():
    world = bp.World()
    world.tiles = bp.TileMap([[False] * 5, [False, False, True, False, False], [False] * 5], 20)
    guard, hidden = world.add(bp.Circle(10, 30, 4), tag="guard"), world.add(bp.Circle(90, 30, 4), tag="thief")
    seen = world.add(bp.Circle(50, 10, 4), tag="thief")
    cone = guard, (1, 0), 90, 100
    assert world.query_cone(*cone) == [hidden, seen]
    assert world.query_cone(*cone, sight=True, tag="thief") == [seen]
    assert world.query_cone(guard.center, (1, 0), 90, 100) == [guard, hidden, seen]
    assert world.query_cone(*cone, ignore=seen, as_ids=True).tolist() == [hidden.id]
    assert world.query_cone([guard.center], (1, 0), 90, [100], sight=True, ignore=guard).tolist() == [
        [0, seen.id]
    ]


def test_a_cone_reaches_across_the_edge_of_a_period():
    world = bp.World(period=(100, 100))
    near, far = world.add(bp.Circle(5, 50, 2)), world.add(bp.Circle(60, 50, 2))
    assert world.query_cone((90, 50), (1, 0), 30, 30) == [near]
    assert world.query_cone((90, 50), (-1, 0), 30, 40) == [far]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": (0, 0)}, "direction"),
        ({"direction": (np.nan, 0)}, "direction"),
        ({"direction": (1, 0, 0)}, "direction must be"),
        ({"angle": 0}, "angle = 0"),
        ({"angle": 361}, "angle = 361"),
        ({"r": -1}, "r = -1"),
        ({"r": np.inf}, "r = inf"),
        ({"r": [5, 6]}, "origin has 1 rows and r has 2"),
        ({"origin": (np.inf, 0)}, "origin"),
    ],
)
def test_a_cone_without_sense_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        bp.World().query_cone(**{"origin": (0, 0), "direction": (1, 0), "angle": 60, "r": 5} | change)


@pytest.mark.parametrize("angle", [1e-3, 30, 180, 359, 360])
def test_a_fan_is_spread_evenly_around_its_direction(angle):
    fan = bp.ray_fan((3, -3), angle, 8)
    turns = np.unwrap(np.arctan2(fan[:, 1], fan[:, 0]))
    step = angle / (8 if angle == 360 else 7)
    assert np.allclose(np.degrees(np.diff(turns)), step)
    assert np.isclose(np.degrees(turns[0]) % 360, (-45 - angle / 2) % 360)
    assert np.allclose(np.linalg.norm(fan, axis=1), 1)
    many = bp.ray_fan([[3, -3], [0, 9]], angle, 8)
    assert many.shape == (2, 8, 2)
    assert np.array_equal(many[0], fan)


def test_a_fan_without_sense_is_refused():
    for arguments, message in (
        (((0, 0), 90, 3), "direction"),
        (((1, 0), 90, 1), "count"),
        (((1, 0), -9, 3), "angle"),
    ):
        with pytest.raises(ValueError, match=message):
            bp.ray_fan(*arguments)


def test_bodies_that_overlap_a_body_are_found_without_it():
    world = bp.World()
    a, b = world.add(bp.Box(0, 0, 10, 10)), world.add(bp.Circle(12, 5, 4))
    assert world.query_shape(a) == [b]
    assert world.query_shape(a.shape) == [a, b]
    assert world.query_shape(a, ignore=b, as_ids=True).tolist() == []
    with pytest.raises(ValueError, match="shape"):
        bp.World().query_shape(a)
