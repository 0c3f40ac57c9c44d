"""Many rays in one call: to the last bit what a loop over single rays says."""

import math

import numpy as np
import pytest

import broadphase as bp
from broadphase import Box, Capsule, Circle, Polygon, RoundedBox, TileMap, World


def shape_of(kind, x, y, size, height):
    return [
        lambda: Box(x, y, size, height),
        lambda: Circle(x, y, size / 2),
        lambda: Polygon([(x, y), (x + size, y + 1), (x + size / 2, y + height + 1)]),
        lambda: Capsule(x, y, x + size, y + height, 1 + size / 4),
        lambda: RoundedBox(x, y, size + 2, height + 2, 1),
        lambda: Polygon([(x, y), (x + size, y), (x + size, y + height), (x, y + height)], radius=1.5),
        lambda: Box(x, y, 0, height),
    ][kind]()


def mixed_world(seed, count, spread=100.0, period=None):
    random = np.random.default_rng(seed)
    world = World(period=period)
    world.on("red", "blue")
    for k in range(count):
        x, y = random.uniform(0, spread, 2).round(1).tolist()
        size, height = random.uniform(1, 8, 2).round(1).tolist()
        body = world.add(
            shape_of(k % 7, x, y, size, height),
            tag=["red", "blue", "green", None][k % 4],
            static=k % 5 == 0,
            category=1 << k % 3,
            mask=[1, 3, 7][k % 3],
        )
        if k % 3 == 1 and k % 7 != 6:
            body.angle = float(random.integers(-360, 360))
    for body in list(world)[::11]:
        world.remove(body)
    return world, random


def with_slopes(world, random, spread=100.0):
    solid = random.random((12, 14)) < 0.06
    world.tiles = TileMap(solid, (spread / 14, spread / 12), (-0.5, 0.3))
    for column, row, left in random.integers(0, (14, 12, 2), (30, 3)).tolist():
        if not solid[row, column]:
            world.tiles.set_slope(column, row, left, 1 - left, base=["top", "bottom"][(column + row) % 2])


def check(world, origins, directions, max_distance=math.inf, ignore=None, each=None, **rules):
    """Every row against `World.raycast`, exactly."""
    hits = world.raycast(origins, directions, max_distance, ignore=ignore, **rules)
    columns = *hits, hits.tiles
    assert [column.dtype for column in columns] == [np.int32, np.float64, np.float64, np.int64]
    each = [ignore] * len(origins) if each is None else each
    lengths = np.broadcast_to(max_distance, len(origins)).tolist()
    kinds = set()
    for k, (start, motion) in enumerate(zip(origins.tolist(), directions.tolist(), strict=True)):
        hit = world.raycast(tuple(start), tuple(motion), lengths[k], ignore=each[k], **rules)
        row = [column[k].tolist() for column in columns]
        if hit is None:
            assert row == [-1, math.inf, [0.0, 0.0], [-1, -1]]
        elif hit.body is None:
            assert row == [-1, hit.distance, list(hit.normal), list(hit.other)]
        else:
            assert row == [hit.body.id, hit.distance, list(hit.normal), [-1, -1]]
        kinds.add("none" if hit is None else "tile" if hit.body is None else type(hit.body.shape).__name__)
    return kinds


def some_rays(random, count, low=-20.0, high=120.0):
    """Through the scene; on grid lines and along axes too."""
    origins = random.uniform(low, high, (count, 2))
    origins[::3] = origins[::3].round(1)
    directions = random.normal(size=(count, 2))
    directions[::5] = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])[random.integers(0, 4, len(origins[::5]))]
    return origins, directions * 10.0 ** random.integers(-200, 200, (count, 1))


RULES = [
    {},
    {"tag": ["red", "green"]},
    {"category": 2, "tiles": False},
    {"mask": 6},
    {"tag": "blue", "mask": 1},
]


@pytest.mark.parametrize("count", [0, 1, 40, 700])
def test_many_rays_are_single_rays(count):
    world, random = mixed_world(count, count, 30.0 + 4 * math.sqrt(count) * 3)
    kinds = set()
    for rules in RULES:
        origins, directions = some_rays(random, 80)
        kinds |= check(world, origins, directions, **rules)
        with_slopes(world, random)
        kinds |= check(world, origins, directions, random.uniform(0, 60, len(origins)), **rules)
    kinds |= check(world, origins, directions, 25.0)
    if count > 40:
        assert kinds >= {"none", "tile", "Box", "Circle", "Polygon", "Capsule", "RoundedBox"}


def test_hits_follow_from_what_is_near_first_and_from_all_the_rest():
    """Long rays in a wide world: those that hit at once, after a while, at the far end, never."""
    random = np.random.default_rng(9)
    world = World()
    for x, y in random.uniform(0, 5_000, (1_500, 2)).tolist():
        world.add(Circle(x, y, 3))
    world.add(Box(60_000, -60_000, 10, 120_000), static=True)
    origins, directions = some_rays(random, 150, 0.0, 5_000.0)
    kinds = check(world, origins, directions)
    assert kinds == {"none", "Box", "Circle"}


def test_bounds_that_are_near_do_not_hide_what_is_nearer_than_their_shape():
    world = World()
    for k in range(400):
        world.add(Circle(50.0 * (k % 20), 50.0 * (k // 20 + 2), 3))
    slanted = world.add(Polygon([(5, -300), (950, -300), (950, 10)]))
    between = world.add(Circle(700, 0, 3))
    start, motion = np.array([[0.0, 0.0]]), np.array([[1.0, 0.0]])
    assert world.raycast(start, motion).ids.tolist() == [between.id]
    assert world.raycast(start, motion, ignore=between).ids.tolist() == [slanted.id]


def test_fans_ignore_the_querying_body():
    world, random = mixed_world(6, 60)
    with_slopes(world, random)
    bodies = list(world)
    at = np.repeat(np.arange(len(bodies)), 6)
    each = [bodies[k] for k in at.tolist()]
    origins = np.array([body.shape.center for body in each])
    turns = np.tile(np.linspace(0, 2 * np.pi, 6, endpoint=False), len(bodies))
    directions = np.column_stack((np.cos(turns), np.sin(turns)))
    ids = world.ids[at]
    check(world, origins, directions, 50.0, ids, each)
    check(world, origins, directions, 50.0, each, each)
    check(world, origins, directions, 50.0, bodies[3])
    some = [None if k % 2 else body for k, body in enumerate(each)]
    check(world, origins, directions, math.inf, some, some)
    check(world, origins, directions, math.inf, np.where(np.arange(len(each)) % 2, -1, ids), some)
    assert (world.raycast(origins, directions, tiles=False).distances == 0.0).any()


def test_bad_rays_are_refused():
    world, other = World(), World()
    stranger, gone = other.add(Box(0, 0, 1, 1)), world.add(Box(0, 0, 1, 1))
    world.add(Box(0, 0, 1, 1))
    world.remove(gone)
    two, motions = np.zeros((2, 2)), np.ones((2, 2))
    for query, said in [
        (lambda: world.raycast(two, [[1, 0], [0, 0]]), r"direction\[1\] = \[0.0, 0.0\] points nowhere"),
        (lambda: world.raycast([[0, 0], [math.nan, 0]], motions), r"origin\[1\] = \[nan, 0.0\]"),
        (lambda: world.raycast(two, np.ones((3, 2))), "origin has 2 rows and direction has 3"),
        (lambda: world.raycast(two, motions, [1, 2, 3]), "max_distance has 3 rows and there are 2 rays"),
        (lambda: world.raycast(two, motions, [1, -1]), "max_distance"),
        (lambda: world.raycast(two, motions, ignore=[1, 0]), r"ignore\[1\] = 0 is the id of no body"),
        (lambda: world.raycast(two, motions, ignore=[1, 7]), r"ignore\[1\] = 7 is the id of no body"),
        (lambda: world.raycast(two, motions, ignore=[1]), "one for each of 2 rays"),
        (lambda: world.raycast(two, motions, ignore=[None, stranger]), r"ignore\[1\]"),
        (lambda: world.raycast(two, motions, ignore=gone), "ignore"),
        (lambda: world.raycast(two, motions, mask=-1), "mask"),
    ]:
        with pytest.raises(ValueError, match=said):
            query()
    for query in (
        lambda: world.raycast(two, motions, "far"),
        lambda: world.raycast(two, "east"),
        lambda: world.raycast(two, motions, ignore=["me", "you"]),
    ):
        with pytest.raises(TypeError):
            query()
    assert isinstance(world.raycast(two, motions), bp.RayHits)
