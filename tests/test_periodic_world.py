"""Worlds without edges: worked cases, what is refused, and that shifting everything changes nothing."""

import math
from decimal import Decimal

import numpy as np
import periodic_oracle as oracle
import pytest

import broadphase as bp
from broadphase import Box, Circle, Polygon, World

# --- worked cases -------------------------------------------------------------------------------------


def test_a_floor_as_long_as_the_world_has_no_end():
    world = World(period=(64, None))
    floor = world.add(Box(10, 20, 64, 4), static=True)
    hero = world.add(Box(0, 10, 4, 10))
    for _ in range(100):
        walk = world.walk(hero, 7, 3)
        assert (walk.floor, walk.y, walk.blocked and (walk.left or walk.right)) == (floor, 10, False)
    assert hero.x == 700 % 64
    assert world.move(hero, 1000, 5).hits[0].normal == (0.0, -1.0)
    assert hero.position == (1700 % 64, 10)


def test_deep_in_an_endless_floor_depenetration_is_upward():
    world = World(period=(10, None))
    world.add(Box(0, 0, 10, 4), tag="floor", static=True)
    world.add(Box(9, -1, 2, 2.5), tag="hero")  # 2.5 deep to the side of either end, 1.5 deep
    world.on("floor", "hero")
    (contact,) = world.update().began
    assert (contact.normal, contact.depth) == ((0.0, 1.0), 1.5)


def test_one_movement_across_the_boundary():
    world = World(period=(100, 100))
    coin = world.add(Circle(5, 50, 2), sensor=True, tag="coin")
    wall = world.add(Box(20, 0, 10, 90), static=True)
    ball = world.add(Box(90, 49, 2, 2), tag="ball")
    passed = []
    world.on("ball", "coin", passed.append)
    move = world.move(ball, 60, 0)
    assert (move.x, move.y, move.right) == (18, 49, True)
    assert [(hit.other, hit.touch) for hit in move.hits] == [(wall, (18, 49))]
    assert [hit.other for hit in move.crossed] == [coin]
    world.update()
    assert len(passed) == 1
    assert world.try_move(ball, -70, 0) is None  # around the world in the other direction
    assert ball.x == 48


def test_flush_across_the_boundary_is_no_contact():
    """Rounded as it is, nothing overlaps afterwards what has stopped it, and it is free to go on along it."""
    rng = np.random.default_rng(4)
    for turn in range(150):
        period = float(rng.uniform(0.1, 1e3))
        world = World(period=(period, None))
        sizes = rng.uniform(0.05, 0.3, 2) * period
        x = rng.uniform(0, period)
        wall = world.add(Box(x, 0, sizes[0], 10), tag="a", static=bool(turn % 2))
        free = rng.uniform(0.01, 0.99) * (period - sizes.sum())
        mover = world.add(Box(x + sizes[0] + free, 2, sizes[1], 4), tag="a")
        world.on("a", "a")
        motion = math.copysign(period * 2, rng.uniform(-1, 1))
        move = world.move(mover, motion, 0)
        assert move.hits[0].other is wall
        stopped = world.update().began
        assert [one.depth for one in stopped] == [0.0]  # it was stopped; they do not overlap
        assert len(world.update().ended) == 1
        assert not world.move(mover, 0, 0.5).hits
        assert world.grounded(mover, (motion, 0)).other is wall
        assert (move.x, move.y) == (move.x % period, 2)


def test_a_lift_carries_and_pushes_across_the_boundary():
    world = World(period=(100, None))
    lift = world.add(Box(90, 20, 20, 5), static=True)
    rider = world.add(Box(4, 10, 5, 10))
    far = world.add(Box(18, 20, 5, 5))
    near = world.add(Box(12, 20, 5, 5))
    pushed = world.push(lift, 8, 0)
    assert (pushed.carried, pushed.pushed, pushed.squeezed) == ([rider], [far, near], [])
    assert (lift.x, rider.x, near.x, far.x) == (98, 12, 18, 23)


def test_bodies_turn_across_the_boundary():
    world = World(period=(100, None))
    wall = world.add(Box(2, 0, 5, 100), static=True)
    bar = world.add(Box(97, 20, 4, 30))
    assert world.try_turn(bar, 90) is wall
    assert bar.angle == 0
    wall.x = 50
    assert world.try_turn(bar, 90) is None


def test_without_movers():
    world = World(period=(64, 64))
    for blocks in (False, True):
        assert world.move_many([], [], [], movers_block=blocks).places.shape == (0, 2)
        assert world.walk_many([], [], [], movers_block=blocks).floors.shape == (0, 3)
    assert world.nearest(np.empty((0, 2))).ids.shape == (0, 1)
    assert world.raycast(np.empty((0, 2)), np.empty((0, 2)), 5.0).ids.shape == (0,)
    assert world.query_box(np.empty((0, 4))).shape == (0, 2)
    assert not world.update().began


def test_movers_pass_each_other_across_the_boundary():
    world = World(period=(64, 64))
    listener = world.on("a", "a")
    one, other = world.add(Box(60, 0, 2, 2), tag="a"), world.add(Box(2, 0, 2, 2), tag="a")
    moved = world.move_many([one, other], [10, 0], 0)
    assert moved.crossed.others.tolist() == [other.id]
    assert moved.crossed.touches.tolist() == [[0, 0]]
    world.move_all([one, other], [(60, 0), (62, 0)])  # now both end beyond the boundary
    for name in ("move_many", "walk_many"):
        moved = getattr(world, name)([one, other], [5, 5], 0)
        assert moved.places.tolist() == [[1, 0], [3, 0]]
        assert moved.crossed.others.tolist() == [other.id, one.id]
        world.move_all([one, other], [(60, 0), (62, 0)])
    listener.remove()


@pytest.mark.parametrize("many", [False, True])
def test_a_walker_pushed_out_across_the_boundary_crosses_what_is_there_only(many):
    world = World(period=(100, 100))
    world.add(Box(0, 0, 10, 20), static=True)
    far = world.add(Box(50, 0, 4, 20), sensor=True)
    near = world.add(Box(94, 0, 1, 20), sensor=True)
    hero = world.add(Box(1, 5, 4, 4))
    crossed = world.walk_many([hero], -3, 0).crossed.others if many else world.walk(hero, -3, 0).crossed
    assert hero.position == (93, 5)
    assert [*crossed] == ([near.id] if many else [hit for hit in crossed if hit.other is near])
    assert len(crossed) == 1
    assert far.id != near.id


def test_a_recording_says_where_bodies_are(tmp_path):
    world = World(period=(100, 100))
    ship = world.add(Circle(95, 50, 3))
    with bp.Recorder(world, tmp_path / "game.bprec"):
        for _ in range(4):
            world.move(ship, 4, 0)
            world.update()
    places = [frame.boxes.tolist() for frame in bp.Recording(tmp_path / "game.bprec")]
    assert places == [[[x - 3, 47, x + 3, 53]] for x in (99, 3, 7, 11)]


# --- what changes nothing -----------------------------------------------------------------------------


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("period", "error", "said"),
    [
        ((10,), ValueError, "each of the 2 axes; got 1"),
        ((10, 10, 10), ValueError, "got 3"),
        ((10, 0), ValueError, r"period\[1\] = 0 is not positive"),
        ((math.nan, 10), ValueError, r"period\[0\] = nan is not positive"),
        (-5, ValueError, r"period\[0\] = -5 is not positive"),
        (("wide", 10), TypeError, r"period\[0\] must be a number"),
        ((True, 10), TypeError, r"period\[0\] must be a number"),
        (object(), TypeError, "period must hold a length"),
    ],
)
def test_no_period(period, error, said):
    with pytest.raises(error, match=said):
        World(period=period)


@pytest.mark.parametrize("period", [None, (None, None), (math.inf, None), math.inf])
def test_a_world_without_a_period(period):
    world = World(period=period)
    assert (type(world), world.period) == (World, None)
    assert world.add(Box(-5, 0, 1, 1)).x == -5


def test_too_long():
    world = World(period=(100, None))
    body = world.add(Box(0, 0, 80, 90))
    said = "101 long on axis x, and the world begins again after 100"
    for call in (
        lambda: world.add(Box(0, 0, 101, 1)),
        lambda: world.add_many([Box(0, 0, 1, 1), Box(0, 0, 101, 1)]),
        lambda: setattr(body, "shape", Box(0, 0, 101, 1)),
        lambda: world.resize(body, Box(0, 0, 101, 1)),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    for call in (
        lambda: body.turn_to(45),
        lambda: world.turn_many([body], 45),
        lambda: world.try_turn(body, 45),
    ):
        with pytest.raises(ValueError, match="angle 45 of body 0: shape"):
            call()
    assert (len(world), body.shape, body.angle) == (1, Box(0, 0, 80, 90), 0)
    world.add(Box(0.1, 0, 100, 1e9))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda world, body: world.move(body, 1e9, 0), "more than 100 times"),
        (lambda world, body: world.try_move(body, 1e9, 0), "more than 100 times"),
        (lambda world, body: world.move_many([body], [1e9], 0), "more than 100 times"),
        (lambda world, body: world.walk(body, -1e9, 0), "more than 100 times"),
        (lambda world, body: world.push(body, -1e9, 0), "more than 100 times"),
        (lambda world, body: world.raycast((0, 0), (1, 0)), "max_distance = inf for ray 0"),
        (lambda world, body: world.query_ray((0, 0), (1, 1)), "max_distance = inf for ray 0"),
        (lambda world, body: world.raycast([(0, 0)], [(1, 0)]), "max_distance = inf for ray 0"),
        (lambda world, body: world.raycast((0, 0), (0, 0), 5), "points nowhere"),
        (lambda world, body: setattr(world, "tiles", bp.TileMap([[True]], 99)), "give a map from 0 to 100"),
        (lambda world, body: world.query_shape(Polygon([(0, 0), (1e6, 0), (0, 5)])), "more than 100 periods"),
    ],
)
def test_refused(call, said):
    world = World(period=(100, None))
    body = world.add(Box(1, 2, 3, 4))
    with pytest.raises(ValueError, match=said):
        call(world, body)
    assert body.position == (1, 2)
    assert world.tiles is None


def test_the_oracle_finds_images_at_the_other_edge():
    """The copies that all is held against would notice a world without images."""
    world = World(period=(16, 12))
    world.add(Box(15, 0, 3, 3))
    flat_world, _ = oracle.unrolled(world)
    assert {body.data[0] for body in flat_world.query_point((1, 1))} == {0}


@pytest.mark.parametrize("shape", [bp.Box(9, 11, 6.5, 12), bp.Capsule(9, 11, 12, 11, 2)])
def test_no_free_place_anywhere(shape):
    """A body that reaches around leaves none: it is looked for in one period, and the body stays."""
    world = bp.World(period=(16, 12))
    body = world.add(shape)
    for x in (0, 5, 10):
        world.add(bp.Box(x, 0, 4.5, 12), static=True)
    move = world.move(body, 2, 3, "touch")
    assert {hit.time for hit in move.hits} >= {0.0}
    assert move[:2] == body.position


def test_a_function_that_lets_a_body_cross_what_it_starts_in_is_asked_of_its_next_image():
    world = bp.World(period=(16, 12))
    point = world.add(bp.Box(0, 0, 0, 0))
    tall = world.add(bp.Box(-0.25, -0.25, 6.25, 12))  # as long as the world: its images follow each other
    move = world.move(point, 0, -0.5, response=lambda hit: "cross")
    assert [(hit.other, hit.time, hit.normal) for hit in move.hits] == [
        (tall, 0.0, (-1.0, 0.0)),
        (tall, 0.5, (0.0, 1.0)),
    ]
    assert move[:2] == (0.0, 11.5)


@pytest.mark.parametrize("period", [(8.0, 8.0), (8.0, None), (None, 8.0)])
def test_a_query_as_long_as_the_period_does_not_find_what_it_only_touches(period):
    def overlaps(low, high, other_low, other_high, length):
        shifts = [k * (length or 0.0) for k in range(-4, 5)]
        return any(low < other_high + shift and other_low + shift < high for shift in shifts)

    random, flush = np.random.default_rng(8), 0
    for _ in range(60):
        world = bp.World(period=period)
        low = random.integers(-4, 12, (4, 2)).astype(float)
        size = random.choice([0.0, 0.0, 1.0, 8.0], (4, 2))
        bodies = [world.add(bp.Box(*box)) for box in np.hstack((low, size)).tolist()]
        begin, length = random.integers(-10, 12, 2).astype(float), random.choice([0.0, 4.0, 8.0, 9.0], 2)
        end = begin + length
        want = [
            body.id
            for body, one, sides in zip(bodies, low, size, strict=True)
            if all(map(overlaps, begin, end, one, one + sides, period))
        ]
        flush += len(world.query_box((*(begin - 0.25), *(end + 0.25)))) > len(want)
        assert [body.id for body in world.query_box((*begin, *end))] == want
        assert world.query_box(np.array([[*begin, *end]]))[:, 1].tolist() == want
        assert [body.id for body in world.query_shape(bp.Box(*begin, *length))] == want
    assert flush > 5


def test_a_walk_that_ends_where_it_began_leaves_a_body_where_queries_find_it():
    world = bp.World(period=(20, 20))
    world.add(bp.Circle(10.000000000000004, 18, 2))
    box = world.add(bp.Box(12, 18, 1, 2))
    world.validate()
    world.walk(box, -3, 0, down=(-1, 0))
    world.validate()


def test_what_was_searched_around_a_mover_does_not_decide_where_it_ends():
    ends = []
    for at_once in (True, False):
        world = bp.World(period=(100, 100))
        places = [20, 40, 60]
        movers = [
            world.add(bp.Box(59.50848651380202, 8.398159414410243, 6.740145324460064, 6.16859749764035)),
            world.add(bp.Circle(69.42134414617803, 11.22116560400311, 2.508219298163728)),
            *(world.add(bp.Circle(x, 60, 1)) for x in places),
        ]
        ways = [(-2.5969682476225557, 0), (-26.46134258024791, 0), (0, 0), (0, 0), (0, 0)]
        if at_once:
            ends.append(world.move_many(movers, ways, movers_block=True).places.tolist())
        else:
            ends.append([[*world.move(mover, *way)[:2]] for mover, way in zip(movers, ways, strict=True)])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("far", [60, -60, 30, 130, Decimal("30.5")])
@pytest.mark.parametrize("how", ["push", "move", "move_many", "step"])
def test_a_lift_that_goes_far_carries_what_stands_on_it(how, far):
    world = bp.World(period=(100, None))
    lift, rider = world.add(bp.Box(0, 10, 20, 2), static=True), world.add(bp.Box(5, 6, 4, 4))
    if far == 60:
        world.add(bp.Box(80, 0, 4, 9), static=True)  # around the edge, and not on the way
    lift.one_way = "top"
    lift.velocity = far, 0
    moves = {
        "push": lambda: world.push(lift, far, 0),
        "move": lambda: world.move(lift, far, 0),
        "move_many": lambda: world.move_many([lift], far, 0),
        "step": lambda: world.step(1.0),
    }
    moves[how]()
    assert (lift.x, rider.x) == (far % 100, (far + 5) % 100)


def test_a_lift_that_a_wall_stops_has_gone_so_far():
    world = bp.World(period=(100, None))
    lift, rider = world.add(bp.Box(0, 10, 20, 2)), world.add(bp.Box(5, 6, 4, 4))
    world.add(bp.Box(30, 10, 4, 2), static=True)
    lift.one_way = "top"
    world.move(lift, 60, 0)
    assert (lift.x, rider.x) == (10, 15)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("period", [None, (200, None), (110, None)])
def test_what_is_far_ahead_of_a_push_is_pushed_as_far_as_in_a_plain_world(sign, period):
    world = bp.World(period=period)
    plow = world.add(bp.Box(-5, 0, 10, 4), static=True)
    crates = [world.add(bp.Box(sign * x - 2, 0, 4, 4)) for x in (22, 72)]
    world.push(plow, sign * 80, 0)
    for body, x in zip((plow, *crates), (80, 87, 91), strict=True):
        center = body.center[0] if period is None else (body.center[0] + 50) % period[0] - 50
        wanted = sign * x if period is None else (sign * x + 50) % period[0] - 50
        assert center == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("x", [1.7e308, -1.79e308])
def test_what_is_nearest_to_a_place_far_outside(x):
    world = bp.World(period=(100, 100))
    world.add_many([[x, 50, x + 1, 51] for x in range(0, 100, 10)])
    near, inside = world.nearest((x, 50), 3), world.nearest((x % 100, 50), 3)
    assert near.ids.tolist() == inside.ids.tolist()
    assert near.distances == pytest.approx(inside.distances)


@pytest.mark.parametrize("period", [(40, 40), (40, None), (60, 20)])
def test_what_is_nearest_to_one_point_is_what_is_nearest_to_many(period):
    rng = np.random.default_rng(3)
    world, points = bp.World(period=period), rng.uniform(-50, 90, (60, 2))
    for k, (x, y) in enumerate(rng.uniform(0, 20, (30, 2)).tolist()):
        world.add(Box(x, y, 2, 1) if k % 2 else Circle(x, y, 1), tag="ab"[k % 3 > 0])
    for k in (1, 4, 40):
        for tag in (None, "a"):
            many = world.nearest(points, k, tag=tag)
            for point, ids, distances in zip(points.tolist(), many.ids, many.distances, strict=True):
                for given in (tuple(point), point):
                    one, held = world.nearest(given, k, tag=tag), ids >= 0
                    assert one.ids.tolist() == ids[held].tolist()
                    assert one.distances.tolist() == distances[held].tolist()
                    assert [body.id for body in one.bodies] == one.ids.tolist()
