"""Queries of a world, against brute force over the exact shapes."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import broadphase as bp
from broadphase import Box, Circle, Polygon, Tile, TileMap, World
from broadphase.geometry.narrow_phase import overlap


def mixed_world(seed, count=120, broadphase="auto", scale=1.0):
    rng = np.random.default_rng(seed)
    world = World(broadphase)
    world.on("red", "blue")
    for k in range(count):
        x, y = (rng.uniform(0, 100, 2).round(1) * scale).tolist()
        size, height = (rng.uniform(1, 12, 2).round(1) * scale).tolist()
        shape = [
            Box(x, y, size, height),
            Circle(x, y, size / 2),
            Polygon([(x, y), (x + size, y + scale), (x + size / 2, y + height + scale)]),
        ][k % 3]
        world.add(
            shape,
            tag=["red", "blue", "green", None][k % 4],
            static=k % 5 == 0,
            sensor=k % 7 == 0,
            category=1 << k % 3,
            mask=[1, 3, 7][k % 3],
        )
    return world, rng


RULES = [
    {},
    {"tag": "red"},
    {"tag": ["red", "green"]},
    {"category": 2},
    {"mask": 6},
    {"tag": "blue", "mask": 1},
]


def chosen(world, tag=None, category=None, mask=None):
    tags = None if tag is None else {tag} if isinstance(tag, str) else set(tag)
    return [
        body
        for body in world
        if (tags is None or tags & body.tags)
        and (category is None or category & body.mask)
        and (mask is None or mask & body.category)
    ]


def distance_to(body, point):
    """By sampling the outline finely is not needed: each kind has its own short formula."""
    x, y = point
    shape = body.shape
    if isinstance(shape, Circle):
        return max(math.dist((shape.x, shape.y), point) - shape.radius, 0.0)
    if isinstance(shape, Box):
        left, top, right, bottom = shape.bounds
        return math.hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom))
    if overlap(shape, Box(x, y, 0, 0)):
        return 0.0
    corners = shape.points
    best = math.inf
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        t = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
        t = min(max(t, 0.0), 1.0)
        best = min(best, math.dist(point, (ax + t * (bx - ax), ay + t * (by - ay))))
    return best


@pytest.mark.smaller_set
@pytest.mark.parametrize("rule", RULES)
def test_boxes_points_and_circles(rule):
    world, rng = mixed_world(1)
    bodies = chosen(world, **rule)
    for _ in range(15):
        x, y, width, height = rng.uniform(0, 60, 4).round(1).tolist()
        box = Box(x, y, width / 2, height / 2)
        assert world.query_box(box, **rule) == [body for body in bodies if overlap(box, body.shape)]
        assert world.query_box(box.bounds, **rule) == world.query_shape(box, **rule)
        circle = Circle(x, y, width / 3)
        expected = [body for body in bodies if overlap(circle, body.shape)]
        assert world.query_radius((x, y), width / 3, **rule) == expected
        assert world.query_shape(circle, **rule) == expected
        expected = [body for body in bodies if distance_to(body, (x, y)) == 0.0]
        assert world.query_point((x, y), **rule) == expected
    everything = (-math.inf, -math.inf, math.inf, math.inf)
    assert world.query_box(everything, **rule) == world.query_radius((0, 0), math.inf, **rule) == bodies


@pytest.mark.smaller_set
@pytest.mark.parametrize("rule", RULES)
def test_nearest(rule):
    world, rng = mixed_world(2)
    bodies = chosen(world, **rule)
    for _ in range(10):
        point = tuple(rng.uniform(-30, 130, 2).round(1).tolist())
        ranked = sorted((distance_to(body, point), body.id, body) for body in bodies)
        for k in (1, 3, 1000):
            found = world.nearest(point, k, **rule)
            assert found.distances == pytest.approx([distance for distance, _, _ in ranked[:k]], abs=1e-12)
            assert found.distances.tolist() == sorted(found.distances)
            assert len(set(found.bodies)) == len(found.bodies)
            assert found.ids.tolist() == [body.id for body in found.bodies]
            for body, distance in zip(found.bodies, found.distances, strict=True):
                assert distance == pytest.approx(distance_to(body, point), abs=1e-12)
    assert world.nearest((0, 0), ignore=ranked[0][2]).bodies != [ranked[0][2]]


@pytest.mark.smaller_set
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scale", [1.0, 1e-7, 3e9])
def test_the_first_hit_is_the_first_of_all_hits(rule, scale):
    """`raycast` looks for one body and `query_ray` for all: two searches, one answer, to the bit."""
    world, rng = mixed_world(11, 200, scale=scale)
    hit_something = 0
    for k in range(60):
        start = tuple((rng.uniform(-20, 120, 2) * scale).tolist())
        motion = [(1, 0), (0, -1), tuple(rng.normal(size=2).tolist())][min(k % 5, 2)]
        far = [math.inf, 20.0 * scale, 200.0 * scale][k % 3]
        ignored = [(), world.body(k), [world.body(k), world.body(k + 1)]][k % 3]
        every = world.query_ray(start, motion, far, ignore=ignored, **rule)
        assert world.raycast(start, motion, far, ignore=ignored, **rule) == (every[0] if every else None)
        hit_something += bool(every)
        end = start[0] + motion[0] * 50 * scale, start[1] + motion[1] * 50 * scale
        way = end[0] - start[0], end[1] - start[1]
        solid = [
            hit
            for hit in world.query_ray(start, way, math.hypot(*way), ignore=ignored, **rule)
            if not hit.body.sensor
        ]
        assert world.line_of_sight(start, end, ignore=ignored, **rule) == (not solid)
    assert hit_something > 10


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("shape", "distance", "normal"),
    [
        (Box(5, -2, 4, 4), 5, (-1, 0)),
        (Circle(7, 0, 2), 5, (-1, 0)),
        (Circle(7, 1.2, 2), 5.4, (-0.8, -0.6)),
        (Circle(7, 2, 2), None, None),  # only touched
        (Box(5, 0, 4, 4), None, None),
        (Polygon([(5, 0), (9, 0), (9, 4)]), None, None),
        (Polygon([(5, -2), (9, -2), (9, 2), (5, 2)]), 5, (-1, 0)),
        (Polygon([(5, 0), (9, -4), (9, 4)]), 5, None),
        (Box(-1, -1, 2, 2), 0, (0, 0)),
        (Circle(0.5, 0, 1), 0, (0, 0)),
        (Box(5, -2, 0, 4), 5, (-1, 0)),  # a wall without thickness
        (Box(-9, -2, 4, 4), None, None),  # behind
        (Box(20, -2, 4, 4), None, None),  # too far
        (Box(10, -2, 4, 4), 10, (-1, 0)),  # just so far
        (Circle(12, 0, 2), 10, (-1, 0)),
        (Box(0, -2, 4, 4), 0, (-1, 0)),
        (Box(0, -2, 0, 4), 0, (-1, 0)),  # it begins on a wall without thickness
    ],
)
def test_a_ray_meets_one_shape(shape, distance, normal):
    world = World()
    body = world.add(shape)
    hit = world.raycast((0, 0), (3, 0), 10)
    assert world.query_ray((0, 0), (3, 0), 10) == ([] if hit is None else [hit])
    if distance is None:
        assert hit is None
        return
    assert (hit.other, hit.body, hit.distance) == (body, body, pytest.approx(distance, abs=1e-12))
    if normal is not None:
        assert hit.normal == pytest.approx(normal)


@pytest.mark.smaller_set
@pytest.mark.parametrize("thick", [1e-9, 1e-11, 1e-13, 1e-16])
@pytest.mark.parametrize("far", [1.0, 1e3, 1e6, 1e9])
def test_rays_hit_walls_of_any_thickness(thick, far):
    """The wall is at ``far``, where a few units in the last place are thicker than it."""
    upright = [(far, -5), (far + thick, -5), (far + thick, 5), (far, 5)]
    across = np.array([3, -4]) / 5, np.array([4, 3]) / 5  # a wall at a slant, seen from the origin
    middle = across[1] * far
    slanted = [middle + 5 * across[0], middle - 5 * across[0]]
    slanted += [middle - 5 * across[0] + thick * across[1], middle + 5 * across[0] + thick * across[1]]
    walls = {
        "box": (bp.Box(far, -5, thick, 10), (1, 0)),
        "circle": (bp.Circle(far, 0, thick), (1, 0)),
        "capsule": (bp.Capsule(far, -5, far, 5, thick), (1, 0)),
    }
    if thick * 1e15 > far:  # else its corners are no polygon
        walls["polygon"] = bp.Polygon(upright), (1, 0)
        walls["slanted"] = bp.Polygon(slanted), tuple(across[1])
    for name, (shape, way) in walls.items():
        world = bp.World()
        body = world.add(shape)
        world.add(bp.Circle(far, 1e4, 1))
        hit = world.raycast((0, 0), way)
        assert hit is not None, name
        assert hit.other is body
        assert hit.distance == pytest.approx(far, rel=1e-12, abs=2 * thick)
        assert hit.normal == pytest.approx((-way[0], -way[1]), abs=1e-9)
        assert world.raycast([(0, 0)], [way]).ids.tolist() == [body.id]
        assert [one.other for one in world.query_ray((0, 0), way)] == [body]
        assert world.raycast((0, 0), (-way[0], -way[1])) is None
        assert world.raycast((0, 0), way, 0.999 * far) is None
        beside = (way[0] - way[1] * 6 / far, way[1] + way[0] * 6 / far)
        assert world.raycast((0, 0), beside, 2 * far + 20) is None, name


def test_a_wall_is_hit_from_however_far_away():
    world, index = bp.World(), bp.BoxTree()
    world.add(bp.Box(-1, -1, 2, 2))
    index.insert([-1, -1, 1, 1])
    for far in (1e3, 1e9, 1e15, 1e18, 1e100):
        hit, wanted = world.raycast((far, 0.5), (-1, 0)), index.raycast((far, 0.5), (-1, 0))
        assert (hit.distance, hit.normal) == (wanted.distance, wanted.normal)


def test_rays_and_tiles():
    world = World()
    world.tiles = TileMap([[False, False, False, True, False]], 10)
    near, far = world.add(Box(15, 0, 2, 10)), world.add(Box(45, 0, 2, 10))
    eye = world.add(Circle(3, 5, 2))
    hits = world.query_ray((3, 5), (1, 0), ignore=eye)
    assert [hit.other for hit in hits] == [near, Tile(3, 0)]
    assert hits[1] == (-1, 27, (-1, 0))
    assert (hits[0].id, hits[1].point) == (near.id, (30, 5))
    assert hits[1].body is None
    world.remove(near)
    assert world.raycast((3, 5), (1, 0), ignore=eye).other == Tile(3, 0)
    assert world.raycast((3, 5), (1, 0), 26, ignore=eye) is None
    assert world.raycast((3, 5), (1, 0), tiles=False, ignore=eye).other is far
    assert world.raycast((3, 5), (1, 0)).other is eye


@pytest.mark.smaller_set
def test_the_lower_id_wins_among_equals():
    world = World()
    a, b = world.add(Box(10, -5, 5, 5.5), static=True), world.add(Box(10, -0.5, 5, 5))
    assert [hit.other for hit in world.query_ray((0, 0), (1, 0))] == [a, b]
    world.remove(a)
    c = world.add(Circle(13, 0, 3))
    assert c.id == 0
    assert [hit.other for hit in world.query_ray((0, 0), (1, 0))] == [c, b]
    found = world.nearest((12.5, 0), 2)
    assert (found.bodies, found.distances.tolist()) == ([c, b], [0, 0])


@pytest.mark.smaller_set
@pytest.mark.parametrize("broadphase", ["brute_force", "spatial_hash", bp.BruteForce(touching=True)])
def test_every_index_gives_the_same_answers(broadphase):
    world, _ = mixed_world(4)
    other, _ = mixed_world(4, broadphase=broadphase)

    def ids(bodies):
        return [body.id for body in bodies]

    for x in range(0, 100, 9):
        for y in range(0, 100, 23):
            box = (x, y, x + 10, y + 10)
            assert ids(world.query_box(box)) == ids(other.query_box(box))
            assert ids(world.query_point((x, y))) == ids(other.query_point((x, y)))
            ours, theirs = world.nearest((x, y), 3), other.nearest((x, y), 3)
            assert ids(ours.bodies) == ours.ids.tolist() == theirs.ids.tolist()
            assert ours.distances.tolist() == theirs.distances.tolist()
            for ours, theirs in zip(
                world.query_ray((x, y), (1, y + 1)), other.query_ray((x, y), (1, y + 1)), strict=True
            ):
                assert ours == theirs
                assert ours.point == theirs.point
    other.validate()


@pytest.mark.parametrize("period", [None, (100.0, None)])
def test_a_world_that_is_asked_often_finds_what_moved_between(period):
    """Bodies that wait are looked at one by one, and after some queries those that stand are in the trees."""
    random, world = np.random.default_rng(5), World(period=period)
    tags = ["red", "blue"]
    for _ in range(400):
        bodies = list(world)
        if len(bodies) < 6 or random.random() < 0.05:
            shape = [Box, Circle][random.integers(2)]
            size = (5, 4) if shape is Box else (3,)
            place = random.integers(10, 80, 2).tolist()
            world.add(shape(*place, *size), tag=tags[random.integers(2)], static=random.random() < 0.5)
        elif random.random() < 0.05:
            bodies[random.integers(len(bodies))].move_to(*random.integers(10, 80, 2).tolist())
        elif random.random() < 0.02:
            bodies[random.integers(len(bodies))].remove()
        left, top = random.integers(0, 70, 2).tolist()
        area = Box(left, top, 25, 20)
        right = [body for body in world if overlap(body.shape, area)]
        corners = (left, top, left + 25, top + 20)
        for box in (corners, tuple(map(float, corners)), list(corners), np.array(corners), area):
            assert world.query_box(box) == right
        assert world.query_box(corners, as_ids=True).tolist() == [body.id for body in right]
        assert world.query_box(corners, tag="red") == [body for body in right if "red" in body.tags]
        point = (left + 0.5, top + 0.5)
        holds = [body for body in world if overlap(body.shape, Circle(*point, 1e-9))]
        assert world.query_point(point) == holds
        near = [body for body in world if overlap(body.shape, Circle(*point, 15))]
        assert world.query_radius(point, 15) == near
        assert world.query_radius(point, 15, as_ids=True).tolist() == [body.id for body in near]
    with pytest.raises(ValueError, match="does not fit into a float"):
        world.query_box((0, 0, 10**400, 1))
    with pytest.raises(ValueError, match="does not fit into a float"):
        world.query_point((0, 10**400))


@pytest.mark.smaller_set
def test_bad_questions_are_refused():
    world = World()
    world.add(Box(0, 0, 1, 1))
    bad = [
        lambda: world.query_box((1, 0, 0, 1)),
        lambda: world.query_box((0, 0, 1)),
        lambda: world.query_point((math.nan, 0)),
        lambda: world.query_radius((0, 0), -1),
        lambda: world.query_radius((0, 0), math.nan),
        lambda: world.raycast((0, 0), (0, 0)),
        lambda: world.raycast((0, math.inf), (1, 0)),
        lambda: world.raycast((0, 0), (1, 0), -1),
        lambda: world.nearest((0, 0), 0),
        lambda: world.query_point((0, 0), mask=-1),
    ]
    for call in bad:
        with pytest.raises(ValueError, match=r"box|point|r =|direction|origin|max_distance|k must|mask"):
            call()


def test_a_line_of_sight_and_tiles_sensors_and_the_edge_of_a_period():
    world = World(period=(100, None))
    left, right = world.add(Circle(5, 5, 1)), world.add(Circle(95, 5, 1))
    world.add(Box(40, 0, 10, 10))
    assert world.line_of_sight(left, right)  # across the edge, not through the box
    assert not world.line_of_sight(left, (54, 5))
    assert world.line_of_sight(left, left)
    zone = world.add(Box(98, 0, 1, 10), sensor=True)
    assert world.line_of_sight(left, right)
    zone.sensor = False
    assert not world.line_of_sight(left, right)
    assert world.line_of_sight(left, right, ignore=zone)
    walled = World()
    walled.tiles = TileMap([[False, True, False]], 10)
    assert not walled.line_of_sight((5, 5), (25, 5))
    assert walled.line_of_sight((5, 5), (25, 5), tiles=False)
    with pytest.raises(ValueError, match="b"):
        walled.line_of_sight((5, 5), left)
    with pytest.raises(TypeError, match="a must be"):
        walled.line_of_sight("here", (5, 5))


def test_queries_by_tags_that_come_and_go():
    world, rng = World(), np.random.default_rng(5)
    bodies = []
    for k in range(400):  # more tags than a world keeps without bodies
        body = world.add(Box(k % 7, 0, 2, 2), tag=(k % 5, f"once {k}") if k % 3 else k % 5)
        bodies.append(body)
        if len(bodies) > 12:
            bodies.pop(int(rng.integers(12))).remove()
        if k % 4 == 0:
            bodies[0].tag = "other"
        asked = bodies[-1].tags if k % 2 else {k % 5}
        for tag in asked:
            alive = sorted((one for one in bodies if tag in one.tags), key=lambda one: one.id)
            assert world.query_box((-9, -9, 99, 99), tag=tag) == alive
            assert world.query_radius((0, 0), 99, tag=(tag, "nowhere")) == alive
            assert world.bodies(tag) == alive
            ray = [hit.body for hit in world.query_ray((-9, 1), (1, 0), tag=tag)]
            assert sorted(ray, key=lambda one: one.id) == alive
        assert world.query_box((-9, -9, 99, 99), tag="nowhere") == []


class Rect:
    """What `World` needs of a ``pygame.Rect``."""

    def __init__(self, left, top, width, height):
        self.left, self.top, self.width, self.height = left, top, width, height
        self.right, self.bottom = left + width, top + height


@pytest.mark.parametrize("numbers", [(3, 4, 20, 30), (0.1, 0.2, 20.7, 30), (1e300, 0, 1, 1), (5, 5, 0, 0)])
def test_a_rect_is_the_box_of_its_numbers(numbers):
    world, _ = mixed_world(3)
    assert world.query_box(Rect(*numbers)) == world.query_box(Box(*numbers))


def test_rects_and_vectors_of_pygame_are_boxes_and_points_however_much_they_find():
    pygame = pytest.importorskip("pygame")
    world, rng = World(), np.random.default_rng(5)
    for x, y, static in rng.integers(0, 100, (400, 3)).tolist():
        world.add(Box(x, y, 6, 5), static=static < 50)
    for x, y, size in rng.integers(0, 60, (60, 3)).tolist():
        found = [body for body in world if overlap(Box(x, y, size, size), body.shape)]
        for rect in (pygame.Rect(x, y, size, size), pygame.FRect(x, y, size, size), Box(x, y, size, size)):
            assert world.query_box(rect) == found
            assert world.query_box(rect, as_ids=True).tolist() == [body.id for body in found]
        found = [body for body in world if overlap(Box(x, y, 0, 0), body.shape)]
        assert world.query_point(pygame.Vector2(x, y)) == world.query_point((x, y)) == found
    assert world.query_box(pygame.Rect(-9, -9, 200, 200)) == list(world)
    with pytest.raises(ValueError, match="width must not be negative"):
        world.query_box(pygame.Rect(50, 50, -9, 9))


@pytest.mark.parametrize("numbers", [(0, 0, -1, 1), (10**400, 0, 1, 1), (math.nan, 0, 1, 1), (0, "a", 1, 1)])
def test_a_rect_that_is_no_box_is_refused(numbers):
    world, _ = mixed_world(3)
    rect = Rect(0, 0, 1, 1)
    rect.left, rect.top, rect.width, rect.height = numbers
    rect.bottom = rect.top
    with pytest.raises((TypeError, ValueError), match=r"x (=|must)|y must|width"):
        world.query_box(rect)


@pytest.mark.smaller_set
def test_sight_is_the_same_from_both_ends_for_bodies_and_for_tiles():
    """To corners too; expected is exact arithmetic."""
    solid = np.zeros((3, 3), np.bool_)
    solid[1, 1] = True
    body, tiles = World(), World()
    body.add(Box(10, 10, 10, 10))
    tiles.tiles = TileMap(solid, 10)
    ends = [(10, 10), (20, 20), (10, 20), (20, 10), (13, 4), (4, 13), (25, 7), (0, 0), (15, 10), (14, 16)]
    for a in product(range(0, 31, 2), range(1, 31, 3)):
        for b in ends:
            enter, leave = Fraction(0), Fraction(1)
            for at, to in zip(a, b, strict=True):
                if at == to:
                    enter, leave = (enter, leave) if 10 < at < 20 else (1, 0)
                    continue
                first, last = sorted((Fraction(10 - at, to - at), Fraction(20 - at, to - at)))
                enter, leave = max(enter, first), min(leave, last)
            if a == b:
                continue
            free = not enter < leave
            for one, other in ((a, b), (b, a)):
                assert body.line_of_sight(one, other) == free
                assert tiles.line_of_sight(one, other) == free
                assert tiles.tiles.line_of_sight(one, other) == free
