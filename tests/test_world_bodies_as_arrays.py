"""`Bodies`: several bodies as a sequence and as arrays, taken wherever bodies are; queries with ids."""

import math
import random

import numpy as np
import pytest

import broadphase as bp

SHAPES = [
    bp.Box(0, 0, 4, 2),
    bp.Circle(10, 1, 3),
    bp.Polygon([(20, 0), (26, 0), (20, 9)]),
    bp.Capsule(30, 0, 36, 2, 1),
    bp.Box(40, 0, 3, 5),
]


def crowd(count=6, **rules):
    world = bp.World()
    return world, world.add_many([[9 * k, 0, 9 * k + 4, 4] for k in range(count)], **rules)


def test_it_is_a_sequence():
    world, bodies = crowd(tag="a")
    listed = list(world)
    assert isinstance(bodies, bp.Bodies)
    assert len(bodies) == 6
    assert bodies
    assert bodies == listed
    assert listed == bodies
    assert bodies == world.bodies("a") == world.bodies()
    assert bodies != listed[1:]
    assert bodies != [*listed[1:], listed[0]]
    assert bodies != "bodies"
    assert bodies[0] is listed[0]
    assert bodies[-1] is listed[5]
    assert bodies[1:5:2] == [listed[1], listed[3]]
    assert isinstance(bodies[2:5], bp.Bodies)
    assert bodies[::-1].ids.tolist() == [5, 4, 3, 2, 1, 0]
    assert listed[3] in bodies
    assert listed[3] not in bodies[4:]
    assert "body" not in bodies
    assert bodies.index(listed[2]) == 2
    assert bodies.count(listed[2]) == 1
    assert list(reversed(bodies)) == listed[::-1]
    with pytest.raises(IndexError):
        bodies[6]
    for several in ([0, 2], np.array([True] * 6)):
        with pytest.raises(TypeError, match=r"bodies\.ids\[\.\.\.\] are the ids"):
            bodies[several]
    with pytest.raises(TypeError):
        hash(bodies)
    assert not world.bodies("b")
    assert world.bodies("b").positions.shape == (0, 2)
    assert world.bodies("b") == []
    assert not world.add_many([])
    assert repr(bodies) == "<6 bodies>"
    assert repr(bodies[:1]) == repr(listed[:1])
    assert random.Random(1).choice(bodies) in listed


def test_ids_are_as_given_also_where_rows_are_reused():
    world, bodies = crowd(6)
    world.remove_many(bodies[1:5:3])
    more = world.add_many([bp.Circle(k, 50, 1) for k in range(4)], tag="more")
    assert more.ids.dtype == np.int32
    assert more.ids.tolist() == [1, 4, 6, 7]
    assert [body.id for body in more] == [1, 4, 6, 7]
    assert world.bodies("more") == more
    assert more.positions.tolist() == [[0, 50], [1, 50], [2, 50], [3, 50]]
    again = world.bodies().ids
    again += 5
    assert world.bodies().ids.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(AttributeError):
        bodies.ids = again


@pytest.mark.parametrize("period", [None, (1000, 1000)])
def test_arrays_say_what_the_bodies_say(period):
    world = bp.World(period=period)
    bodies = world.add_many([*SHAPES, *SHAPES])
    bodies[5:].angles = [30, 40, 90, -20, 360]
    for k, body in enumerate(bodies):
        body.velocity = k, -k
    assert bodies.positions.tolist() == [[*body.position] for body in bodies]
    assert bodies.centers.tolist() == [[*body.center] for body in bodies]
    assert bodies.velocities.tolist() == [[*body.velocity] for body in bodies]
    assert bodies.angles.tolist() == [0, 0, 0, 0, 0, 30, 40, 90, -20, 360]


@pytest.mark.parametrize("period", [None, (100, 100)])
def test_setting_is_setting_each(period):
    worlds = bp.World(period=period), bp.World(period=period)
    many, single = (world.add_many(SHAPES) for world in worlds)
    places = np.random.default_rng(5).uniform(-300, 300, (5, 2))
    many.positions, many.velocities, many.angles = places, places / 7, places[:, 0]
    for body, place in zip(single, places.tolist(), strict=True):
        body.position, body.angle = place, place[0]
        body.velocity = place[0] / 7, place[1] / 7
    assert [body.shape for body in many] == [body.shape for body in single]
    assert many.velocities.tolist() == single.velocities.tolist()
    many.centers = places[::-1]
    for body, place in zip(single, places[::-1].tolist(), strict=True):
        body.center = place
    assert many.positions.tolist() == single.positions.tolist()
    worlds[0].validate()


def test_in_place():
    _, bodies = crowd(3)
    bodies.velocities = 6, -3
    bodies.velocities *= 2
    bodies.velocities += [[0, 0], [1, 1], [2, 2]]
    bodies.positions += bodies.velocities
    bodies.angles += 90
    bodies.angles *= [1, 2, 3]
    bodies.centers -= 1
    assert bodies.velocities.tolist() == [[12, -6], [13, -5], [14, -4]]
    assert bodies.positions.tolist() == [[11, -7], [21, -6], [31, -5]]
    assert bodies.angles.tolist() == [90, 180, 270]
    copied = bodies.velocities
    copied += 1
    assert bodies[0].velocity == (12, -6)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("positions", [[0, 0]], r"positions must have shape \(3, 2\)"),
        ("positions", [[0, 0], [1, math.nan], [2, 2]], r"positions\[1\] = \[1.0, nan\]"),
        ("positions", [[0, 0], [1, 1], [1e301, 2]], r"positions\[2\] = \[1e\+301, 2.0\]"),
        ("centers", [[0, 0], [math.inf, 1], [2, 2]], r"centers\[1\] = \[inf, 1.0\]"),
        ("centers", [0, 0, 0], r"centers must have shape \(3, 2\)"),
        ("velocities", [[0, 0], [1, 1]], "velocities has 2 rows for 3 bodies"),
        ("velocities", [[0, 0], [1, math.inf], [2, 2]], r"velocities\[1\] = \[1.0, inf\]"),
        ("angles", [1, 2], r"angles must be one number, or have shape \(3,\)"),
        ("angles", [1, 2, math.nan], r"angles\[2\] = nan must be finite"),
    ],
)
def test_what_is_set_is_checked(name, value, words):
    world, bodies = crowd(3)
    before = world.positions, bodies.velocities, bodies.angles
    with pytest.raises(ValueError, match=words):
        setattr(bodies, name, value)
    for was, now in zip(before, (world.positions, bodies.velocities, bodies.angles), strict=True):
        assert was.tolist() == now.tolist()


def test_move_walk_turn_remove():
    world, bodies = crowd(3)
    wall = world.add(bp.Box(-20, 0, 4, 100), static=True)
    floor = world.add(bp.Box(-100, 50, 300, 10), static=True)
    moved = bodies.move(-100, [0, 0, 0], "touch")
    assert moved.hits.others.tolist() == [wall.id] * 3
    bodies.positions = [[0, 0], [20, 0], [40, 0]]
    walks = bodies.walk(2, 80, snap=4)
    assert walks.floors[:, 0].tolist() == [floor.id] * 3
    assert bodies.positions.tolist() == [[2, 46], [22, 46], [42, 46]]
    bodies[1:].turn(45)
    assert bodies.angles.tolist() == [0, 45, 45]
    bodies.turn([0, 0, 90])
    assert bodies.angles.tolist() == [0, 0, 90]
    bodies[1:].remove()
    assert [body.alive for body in bodies] == [True, False, False]
    assert len(world) == 3


def test_it_is_taken_wherever_bodies_are():
    world, bodies = crowd(4)
    twin, listed = crowd(4)
    listed = list(listed)
    for one, some in ((world, bodies), (twin, listed)):
        one.move_all(some, [[0, 0], [10, 0], [20, 0], [30, 0]])
        one.turn_many(some[3:], 90)
        one.move_many(some[:2], 1, 2, ignore=some[2:])
        assert one.query_box((-99, -99, 99, 99), ignore=some[1:]) == [some[0]]
        assert one.raycast((-9, 3), (1, 0), ignore=some[:3]).other is some[3]
        one.remove_many(some[:2])
    assert world.positions.tolist() == twin.positions.tolist()
    found = [
        one.nearest([[0, 0], [0, 0]], ignore=some[2:]) for one, some in ((world, bodies), (twin, listed))
    ]
    assert found[0].ids.tolist() == found[1].ids.tolist() == [[3], [2]]


def test_one_that_was_removed_is_named():
    world, bodies = crowd(4, tag="a")
    last = bodies[3:]
    bodies[2].remove()
    newcomer = world.add(bp.Box(0, 0, 1, 1))
    assert newcomer.id == 2
    assert bodies.ids.tolist() == [0, 1, 2, 3]
    assert bodies[2] is not newcomer
    assert not bodies[2].alive
    assert newcomer not in bodies
    words = r"bodies\[2\] = <Body 2 'a': .*, removed> was removed from its world"
    for use in (
        lambda: bodies.positions,
        lambda: bodies.move(1, 0),
        lambda: setattr(bodies, "velocities", (1, 1)),
        lambda: world.move_all(bodies, np.zeros((4, 2))),
        bodies.remove,
    ):
        with pytest.raises(ValueError, match=words):
            use()
    with pytest.raises(ValueError, match=r"ignore\[2\] = <Body 2 'a'"):
        world.query_point((0, 0), ignore=bodies)
    assert newcomer.velocity == (0, 0)
    assert newcomer.alive
    assert bodies[:2].positions.tolist() == [[0, 0], [9, 0]]
    assert last.positions.tolist() == [[27, 0]]
    bodies[3].remove()
    with pytest.raises(ValueError, match=r"bodies\[0\] = <Body 3"):
        last.positions  # noqa: B018 - it is read
    with pytest.raises(ValueError, match=r"bodies\[0\] = <Body 0 .* belongs to another world"):
        bp.World().remove_many(bodies[:1])


def test_after_a_restore_bodies_are_in_it_again():
    world, bodies = crowd(4)
    before = world.snapshot()
    bodies[1:3].remove()
    others = world.add_many([[50, 50, 60, 60]] * 3)
    with pytest.raises(ValueError, match=r"bodies\[1\]"):
        bodies.positions  # noqa: B018 - it is read
    world.restore(before)
    assert bodies.positions.tolist() == [[0, 0], [9, 0], [18, 0], [27, 0]]
    with pytest.raises(ValueError, match=r"bodies\[0\] = <Body 1.* was removed"):
        others.positions += 1
    again = world.snapshot()
    bodies.remove()
    world.restore(again)
    assert bodies.positions[3].tolist() == [27, 0]


def test_boxes_of_an_array_are_shapes_like_others():
    boxes = np.random.default_rng(1).uniform(-5, 5, (30, 4))
    boxes[:, 2:] = boxes[:, :2] + np.abs(boxes[:, 2:])
    world, twin = bp.World(), bp.World()
    listed = [bp.Box(left, top, right - left, bottom - top) for left, top, right, bottom in boxes.tolist()]
    for one, shapes in ((world, boxes), (twin, listed)):
        one.remove_many(one.add_many(shapes[:10])[2:8])
        one.add_many(shapes[10:])
        one.bodies()[4:20].angles = np.arange(16)
        one.bodies()[6:9].angles = 0
    assert [body.shape for body in world] == [body.shape for body in twin]
    assert [body.bounds for body in world] == [body.bounds for body in twin]
    moment = world.snapshot()
    places, shapes = world.positions, [body.shape for body in world]
    world.bodies()[::2].remove()
    world.add_many(boxes[3:9])
    world.bodies()[:5].angles = 3
    world.restore(moment)
    world.validate()
    assert [body.shape for body in world] == shapes
    assert world.positions.tolist() == places.tolist()


def test_boxes_of_an_array_fit_into_a_periodic_world():
    world = bp.World(period=(100, None))
    bodies = world.add_many([[95, 0, 105, 5], [-30, 500, -20, 505]])
    assert bodies.positions.tolist() == [[95, 0], [70, 500]]
    assert world.query_point((2, 2)) == [bodies[0]]
    with pytest.raises(ValueError, match=r"shapes\[1\] = Box.* is 101 long on axis x"):
        world.add_many([[0, 0, 1, 1], [0, 0, 101, 1]])
    assert len(world) == 2


@pytest.mark.parametrize("period", [None, (60, 60)])
def test_queries_return_ids(period):
    world, rng = bp.World(period=period), np.random.default_rng(3)
    corners = rng.uniform(0, 50, (80, 2))
    bodies = world.add_many(np.hstack((corners, corners + rng.uniform(1, 4, (80, 2)))), tag="a", mask=3)
    world.add_many([bp.Circle(x, y, 2) for x, y in rng.uniform(0, 50, (40, 2)).tolist()], tag="b")
    world.tiles = bp.TileMap(np.eye(6, dtype=bool)[::-1], 10)
    for rules in (
        {},
        {"tag": "b"},
        {"category": 2},
        {"ignore": bodies[::3]},
        {"tag": "a", "ignore": bodies[7]},
    ):
        for ask in (
            lambda **more: world.query_box((10, -5, 30, 25), **more),
            lambda **more: world.query_box((-math.inf, 0, math.inf, 9), **more),
            lambda **more: world.query_shape(bp.Circle(30, 30, 12), **more),
            lambda **more: world.query_point((25, 25), **more),
            lambda **more: world.query_radius((5, 5), 20, **more),
        ):
            ids = ask(as_ids=True, **rules)
            assert ids.dtype == np.int32
            assert ids.tolist() == [body.id for body in ask(**rules)]
        for tiles in (True, False):
            ray = (1, 1), (1, 0.9), 70
            found, hits = (world.query_ray(*ray, tiles=tiles, as_ids=to, **rules) for to in (True, False))
            assert len(hits) > 2
            assert found.ids.tolist() == [-1 if hit.body is None else hit.body.id for hit in hits]
            assert found.distances.tolist() == [hit.distance for hit in hits]
            assert found.normals.tolist() == [[*hit.normal] for hit in hits]
            assert found.tiles.tolist() == [[-1, -1] if hit.body else [*hit.other] for hit in hits]
    assert world.query_point((-500, 3000), tag="a", category=1 << 9, as_ids=True).shape == (0,)
