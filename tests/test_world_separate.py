"""Crowds: `World.separate` pushes overlapping bodies apart, gently and through nothing."""

import itertools
import math

import numpy as np
import pytest

import broadphase as bp


def overlap_of(a, b):
    """The shortest way of shape a out of b: ``x, y``, or None where they do not overlap."""
    if isinstance(a, bp.Circle):
        dx, dy = a.x - b.x, a.y - b.y
        far = math.hypot(dx, dy)
        depth = a.radius + b.radius - far
        return (dx / far * depth, dy / far * depth) if depth > 0 else None
    ways = []
    for place, size, axis in (("x", "width", 0), ("y", "height", 1)):
        down = getattr(a, place) + getattr(a, size) - getattr(b, place)
        up = getattr(b, place) + getattr(b, size) - getattr(a, place)
        if down <= 0 or up <= 0:
            return None
        ways.append((min(down, up), axis, -down if down < up else up))
    _, axis, way = min(ways)
    return (way, 0.0) if axis == 0 else (0.0, way)


def expected(shapes, strength, max_step):
    """How far each is pushed, pair by pair."""
    pushes, counts = np.zeros((len(shapes), 2)), np.zeros(len(shapes))
    for (i, a), (j, b) in itertools.combinations(enumerate(shapes), 2):
        way = overlap_of(a, b)
        if way is not None:
            pushes[i] += np.multiply(way, strength / 2)
            pushes[j] -= np.multiply(way, strength / 2)
            counts[[i, j]] += 1
    pushes *= np.minimum(1, 4 / np.maximum(counts, 1))[:, None]
    far = np.hypot(*pushes.T)
    return pushes * np.minimum(1, max_step / np.where(far > 0, far, 1))[:, None]


def crowd_of(kind, count, side, seed=1):
    places = np.random.default_rng(seed).uniform(0, side, (count, 2)).tolist()
    return [bp.Circle(x, y, 5) if kind == "circle" else bp.Box(x, y, 10, 8) for x, y in places]


@pytest.mark.parametrize("kind", ["box", "circle"])
@pytest.mark.parametrize(
    ("strength", "max_step"), [(0.5, None), (1, 2.5), (0.2, 0.1), (0.5, math.inf), (0, 1)]
)
@pytest.mark.parametrize("side", [30, 100, 400])
def test_each_overlap_is_pushed_apart_by_its_share(kind, strength, max_step, side):
    world, shapes = bp.World(), crowd_of(kind, 60, side)
    bodies = world.add_many(shapes)
    before, other = bodies.positions, world.add(bp.Box(0, 0, side, side))
    moved = world.separate(bodies, strength, max_step)
    most = {"box": 4, "circle": 5}[kind] if max_step is None else max_step
    assert bodies.positions - before == pytest.approx(expected(shapes, strength, most), abs=1e-9)
    assert moved.places.tolist() == bodies.positions.tolist()
    assert other.position == (0, 0)
    assert (np.hypot(*(bodies.positions - before).T) <= most * (1 + 1e-9)).all()


def test_the_order_of_bodies_does_not_matter():
    places = []
    for order in (slice(None), slice(None, None, -1), np.random.default_rng(2).permutation(200)):
        world = bp.World()
        bodies = world.add_many([*crowd_of("box", 100, 90), *crowd_of("circle", 100, 90, 2)])
        wall = world.add(bp.Box(40, -50, 10, 300), static=True)
        for _ in range(3):
            given = bodies.ids[order]
            moved = world.separate(given)
            assert moved.places.tolist() == world.positions[given].tolist()
            assert (np.diff(moved.hits.movers) >= 0).all()
            assert set(moved.hits.others.tolist()) == {wall.id}
        places.append(world.positions.tolist())
    assert places[0] == places[1] == places[2]


def room(**period):
    """A room of thin walls, and one of tiles beside it."""
    world = bp.World(**period)
    for box in ((0, 0, 1, 100), (99, 0, 1, 100), (0, 0, 100, 1), (0, 99, 100, 1)):
        world.add(bp.Box(*box), static=True)
    solid = np.zeros((10, 10), bool)
    solid[[0, -1]] = solid[:, [0, -1]] = True
    world.tiles = bp.TileMap(solid, 10, origin=(200, 0))
    return world


def test_the_order_of_bodies_does_not_decide_what_they_cross():
    found = []
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        world = bp.World()
        boxes = [3, 1, 3, 2], [1, 0, 2, 3], [1, 0, 4, 4], [6, 1, 2, 1]
        bodies = [world.add(bp.Box(*box)) for box in boxes]
        bodies[3].category = bodies[3].mask = 2
        world.on(bp.ANY, bp.ANY)
        world.update()
        crossed = world.separate([bodies[k] for k in order], 1.0).crossed
        assert (np.diff(crossed.movers) >= 0).all()
        pairs = zip(np.array(order)[crossed.movers].tolist(), crossed.others.tolist(), strict=True)
        found.append((world.positions.tolist(), sorted(pairs), world.update().began.ids.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["box", "circle"])
@pytest.mark.parametrize("count", [60, 400])
def test_nobody_goes_through_walls_and_tiles(kind, count):
    world = room()
    shapes = crowd_of(kind, count, 20)
    crowds = [
        world.add_many([shape.moved_to(shape.x + x, shape.y + 20) for shape in shapes]) for x in (10, 220)
    ]
    for step in range(40):
        world.separate([*crowds[0], *crowds[1]], 0.5 if step % 2 else 1, None if step % 3 else math.inf)
    for crowd, (left, top, right, bottom) in zip(crowds, ((1, 1, 99, 99), (210, 10, 290, 90)), strict=True):
        bounds = np.array([body.bounds for body in crowd])
        assert (bounds[:, :2] >= (left - 1e-9, top - 1e-9)).all()
        assert (bounds[:, 2:] <= (right + 1e-9, bottom + 1e-9)).all()
    world.validate()


def deepest(bodies):
    depths = [
        hit.depth for a, b in itertools.combinations(bodies, 2) if (hit := bp.contact(a.shape, b.shape))
    ]
    return max(depths, default=0.0)


@pytest.mark.parametrize("kind", ["box", "circle"])
@pytest.mark.parametrize("strength", [0.5, 1])
def test_overlaps_fade(kind, strength):
    world = room()
    shapes = crowd_of(kind, 30, 30)
    bodies = world.add_many([shape.moved_to(shape.x + 30, shape.y + 30) for shape in shapes])
    before = deepest(bodies)
    for _ in range(300):
        world.separate(bodies, strength)
    assert before > 5
    assert deepest(bodies) < 0.05


@pytest.mark.parametrize(
    "shape", [bp.Box(50, 50, 4, 4), bp.Circle(50, 50, 2), bp.RoundedBox(50, 50, 4, 4, 1)]
)
def test_bodies_at_one_place_spread_to_all_sides(shape):
    world = room()
    bodies = world.add_many([shape] * 40)
    for _ in range(120):
        world.separate(bodies)
    spread = np.ptp(bodies.positions, axis=0)
    assert (spread > 12).all()
    assert (spread < 60).all()
    assert deepest(bodies) < 1.5


def test_too_many_at_one_place_are_not_too_much():
    world = bp.World()
    bodies = world.add_many([[0, 0, 4, 4]] * 3000)
    for _ in range(3):
        before = bodies.positions
        world.separate(bodies)
        assert (np.hypot(*(bodies.positions - before).T) <= 2 + 1e-9).all()
    assert len(np.unique(bodies.positions, axis=0)) > 2900


def test_who_takes_part():
    world = bp.World()
    rules = [
        {},
        {"category": 2, "mask": 2},
        {"category": 2, "mask": 2},
        {"sensor": True},
        {"static": True, "mask": 4, "category": 4},
    ]
    bodies = [world.add(bp.Box(k, 0, 10, 10), **rule) for k, rule in enumerate(rules)]
    left_out = world.add(bp.Box(1, 0, 10, 10))
    world.separate([*bodies, left_out], ignore=left_out)
    assert world.positions[:, 0].tolist() == [0, 1 - 2.25, 2 + 2.25, 3, 4, 1]
    world.separate([bodies[0], left_out])
    assert world.positions[[0, 5], 0].tolist() == [-2.25, 3.25]
    assert len(world.separate([])) == 3
    assert world.separate([]).places.shape == (0, 2)


@pytest.mark.parametrize("kind", ["box", "circle"])
def test_across_the_edge_of_a_period(kind):
    shapes = crowd_of(kind, 80, 90)
    for shift in ((0, 0), (55, 0), (31, 72)):
        world = bp.World(period=(100, 100))
        bodies = world.add_many([shape.moved_to(shape.x + shift[0], shape.y + shift[1]) for shape in shapes])
        middles = bodies.centers
        world.separate(bodies)
        pushed = (bodies.centers - middles + 50) % 100 - 50
        if shift == (0, 0):
            first = pushed
            assert np.abs(pushed).max() > 1
        assert pushed == pytest.approx(first, abs=1e-9)
    world = bp.World(period=(100, None))
    bodies = world.add_many([[96, 0, 106, 10], [-2, 0, 8, 10]])
    world.separate(bodies)
    assert bodies.positions.tolist() == [[94, 0], [0, 0]]


def test_a_wall_that_stops_one_is_a_contact():
    world = bp.World()
    wall = world.add(bp.Box(-5, 0, 5, 100), static=True, tag="wall")
    bodies = world.add_many([[0, 0, 10, 10], [4, 0, 14, 10]], tag="zombie")
    world.on("wall", "zombie")
    moved = world.separate(bodies)
    assert bodies.positions[:, 0].tolist() == [0, 5.5]
    assert moved.hits.others.tolist() == [wall.id]
    assert moved.hits.movers.tolist() == [0]
    assert [(hit.a, hit.b) for hit in world.update().began] == [(wall, bodies[0])]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"strength": 1.5}, ValueError, "strength = 1.5 must be within 0 and 1"),
        ({"strength": math.nan}, ValueError, "strength = nan must be within 0 and 1"),
        ({"strength": "much"}, TypeError, "strength"),
        ({"max_step": -1}, ValueError, "max_step = -1 must not be negative"),
        ({"max_step": math.nan}, ValueError, "max_step = nan must not be negative"),
        ({"bodies": [0, 1]}, TypeError, r"bodies\[0\] must be a Body"),
        ({"bodies": np.array([1, 0, 1])}, ValueError, "bodies names a body twice"),
        ({"bodies": np.array([1, 7])}, ValueError, r"bodies\[1\] = 7 is the id of no body"),
        ({"ignore": 3}, TypeError, "ignore must be a Body or several"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_moves(change, error, words):
    world = bp.World()
    bodies = world.add_many([[0, 0, 10, 10], [4, 0, 14, 10]])
    with pytest.raises(error, match=words):
        world.separate(**{"bodies": bodies, **change})
    assert bodies.positions.tolist() == [[0, 0], [4, 0]]
