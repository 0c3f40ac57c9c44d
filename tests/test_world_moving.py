"""Movement through a world: one body with every response, bodies that push, and the place that is free."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from world_helpers import world_with

from broadphase import Box, Capsule, Circle, Polygon, Tile, TileMap, World

STACK_CAPACITY = [[True] * 6, *[[True, False, False, False, False, True]] * 4, [True] * 6]


# ---- one body


@pytest.mark.smaller_set
def test_what_blocks_and_what_does_not():
    world = World()
    body = world.add(Box(0, 0, 10, 10), category=1, mask=0b110)
    world.add(Box(20, 0, 10, 10), sensor=True, category=2)
    world.add(Box(40, 0, 10, 10), category=8)
    world.add(Box(60, 0, 10, 10), category=2, mask=4)
    stop = world.add(Box(80, 0, 10, 10), category=4)
    assert world.move(body, 1000, 0).hits[0].other is stop
    assert body.x == 70
    world.remove(stop)
    assert world.move(body, 1000, 0).hits == ()


@pytest.mark.smaller_set
def test_a_live_tile_counts_at_once():
    tiles = TileMap(np.array(STACK_CAPACITY), 10)
    world = World()
    world.tiles = tiles
    body = world.add(Box(12, 12, 6, 6))
    assert world.try_move(body, 60, 0) == Tile(5, 1)
    assert body.x == 12
    tiles.set(5, 1, False)
    assert world.try_move(body, 60, 0) is None
    assert body.x == 72
    world.tiles = None
    assert world.try_move(body, 0, 1000) is None
    with pytest.raises(TypeError, match="tiles must be a TileMap"):
        world.tiles = [[True]]


@pytest.mark.smaller_set
def test_a_response_may_change_the_world():
    world, [door] = world_with(Box(20, 0, 5, 50))
    body = world.add(Box(0, 0, 10, 10))

    def open_door(hit):
        world.remove(hit.other)

    move = world.move(body, 100, 0, open_door)
    assert (body.x, move.hits, len(world)) == (100, (), 1)
    world.add(Box(150, 0, 5, 50))
    world.move(body, 100, 0, lambda hit: world.remove(body))
    assert not body.alive
    assert not door.alive


def _answered(seed, period, changes):
    """Movements that a function answers, which also changes the world or does not."""
    rng = np.random.default_rng(seed)
    world, moves = World(period=period), []
    for x, y, size in rng.uniform((0, 0, 3), (90, 70, 12), (40, 3)).tolist():
        shape = [Box(x, y, size, size), Circle(x, y, size / 2), Capsule(x, y, x + size, y, 2)][
            rng.integers(3)
        ]
        one = world.add(shape, static=rng.random() < 0.5, sensor=rng.random() < 0.2)
        one.one_way = "top" if rng.random() < 0.2 else ()
    hero = world.add(Circle(50, 40, 4) if seed % 2 else Box(50, 40, 6, 8))
    moment = world.snapshot()

    def answer(hit):
        others = [one for one in world if one is not hero]
        if changes and len(others) < 300:
            some = [others[k] for k in rng.integers(len(others), size=6).tolist()]
            world.move(some[0], *rng.uniform(-30, 30, 2).tolist(), response=lambda hit: "bounce")
            world.move_many([hero, some[1]], [[3.0, 4.0], [5.0, -6.0]])
            some[2].move_to(*rng.uniform(0, 90, 2).tolist())
            some[3].sensor = not some[3].sensor
            world.update()
            world.add_many(np.tile([20, 20, 90, 60], (70, 1)))
            some[5].remove()
        return ("slide", "touch", "cross", "bounce", None)[int(1e6 * (hit.time + sum(hit.normal))) % 5]

    for dx, dy in ((60, 25), (-40, 30), (20, -70)):
        x, y, hits, _, _ = world.move(hero, dx, dy, response=answer)
        assert hero.position == (x, y)
        again = World(period=period)
        same = {again.add(one.shape).id: one for one in world}
        found = [same[one.id] for one in again.query_box(hero.bounds)]
        assert world.query_box(hero.bounds) == sorted(found, key=lambda one: one.id)
        moves.append((x, y, [hit[1:] for hit in hits]))
        world.restore(moment)
    return moves


@pytest.mark.parametrize("period", [None, (128, 96)])
def test_what_a_function_changes_counts_from_the_next_movement_on(each, period):
    """With several threads, too, each with a world of its own."""

    def check(seed):
        assert _answered(seed, period, True) == _answered(seed, period, False)

    with ThreadPoolExecutor(3) as pool:
        each(lambda first: [*pool.map(check, range(first, first + 6))], range(0, 120, 6), of=20)


# ---- standing up, standing on


@pytest.mark.smaller_set
def test_resize_only_if_free():
    world, [beam] = world_with(Box(0, 0, 30, 10))
    body = world.add(Box(10, 12, 8, 8))
    assert world.resize(body, Box(10, 4, 8, 16)) is beam
    assert body.shape == Box(10, 12, 8, 8)
    assert world.resize(body, Circle(14, 15, 5)) is None
    assert body.shape == Circle(14, 15, 5)
    body.x = 100
    assert world.resize(body, Box(96, 4, 8, 16)) is None
    with pytest.raises(TypeError, match="must be a Box"):
        world.resize(body, None)


# ---- pushing


@pytest.mark.smaller_set
def test_a_lift_carries_riders_and_their_riders():
    world = World()
    lift = world.add(Box(0, 100, 50, 10), static=True)
    crate = world.add(Box(5, 90, 10, 10))
    cat = world.add(Box(7, 85, 5, 5))
    dog = world.add(Box(30, 90, 10, 10))
    bird = world.add(Box(30, 60, 5, 5))
    world.add(Box(45, 95, 3, 5), sensor=True)
    for _ in range(10):
        pushed = world.push(lift, 3, -2)
        assert pushed == ([crate, cat, dog], [], [])
    assert (lift.position, crate.position) == ((30, 80), (35, 70))
    assert (cat.position, dog.position, bird.position) == ((37, 65), (60, 70), (30, 60))
    for _ in range(10):
        assert world.push(lift, -3, 2).carried == [crate, cat, dog]
    assert (crate.position, cat.position, dog.position) == ((5, 90), (7, 85), (30, 90))


@pytest.mark.parametrize(("rows", "columns", "walled"), [(5, 30, True), (5, 30, False), (1, 1200, False)])
def test_a_crowd_is_pushed_at_once_also_before_a_wall(rows, columns, walled):
    """Each brick pushes two: without a limit to how often each is pushed this takes 2 to the 30."""
    world = World()
    bricks = [world.add(Box(2 * i, 2 * j + i % 2, 2, 2)) for i in range(columns) for j in range(rows)]
    press = world.add(Box(-5, 0, 5, 2 * rows + 1), static=True)
    if walled:
        world.add(Box(2 * columns, -5, 5, 2 * rows + 10), static=True)
    pushed = world.push(press, 1, 0)
    assert pushed == ([], bricks, bricks[:rows] if walled else [])
    assert bricks[-1].x == 2 * (columns - 1) + (not walled)


@pytest.mark.smaller_set
def test_a_press_pushes_obstacles_however_fast():
    world, [wall] = world_with(Box(200, -50, 10, 100))
    press = world.add(Box(0, 0, 10, 10), static=True)
    a, b = world.add(Box(30, 0, 10, 10)), world.add(Box(60, 2, 10, 10))
    assert world.push(press, 100, 0) == ([], [a, b], [])
    assert press.x == 100
    assert (a.x, b.x) == (110, 120)
    assert world.push(press, 75, 0).squeezed == [a]
    assert (a.x, b.x) == (180, 190)
    assert wall.x == 200


@pytest.mark.smaller_set
def test_a_carried_body_stops_at_a_wall_and_the_platform_continues():
    world, _ = world_with(Box(40, 0, 10, 10))
    belt = world.add(Box(0, 10, 100, 5), static=True)
    body = world.add(Box(20, 0, 10, 10))
    push = world.push(belt, 15, 0)
    assert (push.carried, push.squeezed, body.x, belt.x) == ([body], [], 30, 15)
    assert world.push(belt, 0, -4).squeezed == []
    assert body.y == -4


@pytest.mark.smaller_set
def test_a_ceiling_squeezes():
    world, _ = world_with(Box(0, 0, 100, 10))
    lift = world.add(Box(0, 30, 20, 5), static=True)
    body = world.add(Box(5, 20, 10, 10))
    assert world.push(lift, 0, -10).squeezed == []
    assert world.push(lift, 0, -5).squeezed == [body]
    assert body.y == 10


def test_what_leans_on_a_side_of_a_platform_is_pushed():
    """Its edge rests on the corner of the platform, at 86 degrees: it pushes on what is ahead of it."""
    world = World()
    lift = world.add(Box(68, 45, 2, 11), static=True)
    crate = world.add(Circle(59, 43, 2))
    leaning = world.add(Box(64, 43, 4, 2).rotated(3.959877284993877))
    world.push(lift, -3, 0)
    push = world.push(lift, -3, 0)
    assert (push.carried, push.pushed, push.squeezed) == ([], [crate, leaning], [])
    assert crate.x == pytest.approx(59 - 2.87591, abs=1e-4)


@pytest.mark.smaller_set
@pytest.mark.parametrize("period", [None, (640, 640)])
@pytest.mark.parametrize(
    ("rider", "ahead"),
    [
        (Box(6, -12, 8, 12), Box(20, -3, 8, 12)),
        (Circle(10, -6, 6), Circle(26, 2, 6)),
        (Capsule(10, -16, 10, -6, 6), Capsule(26, -5, 26, 2, 6)),
        (Polygon([(6, 0), (10, -8), (14, 0)]), Polygon([(20, -4), (30, 0), (20, 8)])),
    ],
)
def test_a_lift_at_any_speed_squeezes_nothing_that_has_room(period, rider, ahead):
    """A last bit is not "inside": each frame leaves the body flush but for rounding."""
    for speed in (k / 60 for k in range(1, 121, 14)):
        world = World(period=period)
        lift, carried = (
            world.add(Box(320, 320, 20, 4)),
            world.add(rider.moved_to(rider.x + 320, rider.y + 320)),
        )
        for _ in range(40):
            assert world.push(lift, 0, -speed) == ([carried], [], [])
        world = World(period=period)
        lift, pushed = (
            world.add(Box(320, 320, 20, 4)),
            world.add(ahead.moved_to(ahead.x + 320, ahead.y + 320)),
        )
        for _ in range(40):
            assert world.push(lift, speed, 0) == ([], [pushed], [])
        assert pushed.bounds[0] >= lift.bounds[2] - 1e-9
        place = pushed.position
        world.push(lift, -speed, 0)
        world.push(lift, 0, 0.5)
        assert pushed.position == place  # what leaves it does not draw it along


def test_a_platform_does_not_carry_bodies_on_tiles_next_to_it():
    world = World()
    world.tiles = TileMap([[False, False], [False, False], [True, False]], 10)
    lift = world.add(Box(10, 15, 5, 5), static=True)
    man = world.add(Box(0, 10, 10, 10))
    assert world.push(lift, 3, 0).carried == []
    assert man.x == 0


@pytest.mark.smaller_set
def test_a_platform_of_several_bodies_moves_as_one():
    world = World()
    parts = [world.add(Box(x, 100, 20, 10), static=True) for x in (0, 20, 60)]
    rider, other = world.add(Box(15, 90, 10, 10)), world.add(Box(62, 95, 5, 5))
    ahead = world.add(Box(81, 100, 5, 5))
    between = world.add(Box(42, 102, 5, 5))
    assert world.push(parts, 2, 0) == ([rider, other], [ahead], [])
    assert [body.x for body in (*parts, rider, other, ahead, between)] == [2, 22, 62, 17, 64, 82, 42]
    assert world.push(iter(parts[:2]), (0, -3)).carried == [rider]
    assert [body.y for body in (*parts, rider, other)] == [97, 97, 100, 87, 95]
    assert world.push([parts[0], parts[0]], 1, 0).carried == [rider]
    assert (parts[0].x, rider.x) == (3, 18)
    assert world.push([], 1, 1) == ([], [], [])
    assert world.push(parts[:2], 0, -100) == ([rider], [], [])
    assert (parts[0].y, rider.y) == (-3, -13)


@pytest.mark.smaller_set
def test_one_body_in_the_way_of_two_parts_is_pushed_once():
    world = World()
    parts = [world.add(Box(x, y, 10, 10), static=True) for x, y in ((0, 0), (2, 10))]
    crate = world.add(Box(15, 5, 5, 10))
    assert world.push(parts, 8, 0) == ([], [crate], [])
    assert crate.x == 20


@pytest.mark.smaller_set
def test_pusher_and_pushed_hear_of_it():
    world = World()
    calls = []
    for name in ("press", "crate"):
        world.on(
            name,
            "crate",
            begin=lambda a: calls.append((a.a, a.b, a.normal)),
            end=lambda a: calls.append("end"),
        )
    press = world.add(Box(0, 0, 10, 10), static=True, tag="press")
    first, second = (world.add(Box(x, 0, 10, 10), tag="crate") for x in (12, 24))
    world.update()
    world.push(press, 1, 0)
    world.update()
    assert calls == []
    world.push(press, 5, 0)
    world.update()
    assert calls == [(press, first, (-1, 0)), (first, second, (-1, 0))]
    world.push(press, -5, 0)
    world.update()
    assert calls[2:] == ["end", "end"]


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    "shape",
    [Box(4, 0, 8, 8), Circle(8, 4, 4), Box(4, 0, 8, 8).rotated(90), Polygon([(4, 0), (12, 0), (8, 8)])],
)
@pytest.mark.parametrize("floor", ["tiles", "body", "one way", "round"])
def test_sides_say_that_a_surface_is_reached_exactly(shape, floor):
    world = World()
    if floor in ("tiles", "one way"):
        world.tiles = TileMap(np.zeros((3, 3), np.bool_), 16)
        for column in range(3):
            world.tiles.set(column, 1, True) if floor == "tiles" else world.tiles.set_one_way(
                column, 1, "top"
            )
    else:
        world.add(Box(0, 16, 48, 16), static=True)
    if floor == "round":
        world.add(Circle(8, 24, 2), static=True)
    hero = world.add(shape)
    sides = []
    for dx, dy in ((0, 5), (0, 3), (0, 3), (1, 0), (0, -1), (2, 1)):
        move = world.move(hero, dx, dy)
        sides.append((move.bottom, move.left, move.right, move.top))
        assert move.blocked == (len(sides) == 3)
    assert [bottom for bottom, *_ in sides] == [False, True, True, False, False, True]
    assert not any(any(others) for _, *others in sides)
    assert not world.move(hero, 0, -3).bottom
    assert not world.move(hero, 0, 3, "cross").bottom
    assert world.try_move(hero, 0, -3) is None
    assert world.try_move(hero, 0, 3) is None


@pytest.mark.smaller_set
def test_a_corner_that_is_only_touched_is_no_side():
    world = World()
    world.add(Box(10, 10, 10, 10), static=True)
    hero = world.add(Box(0, 0, 5, 5))
    move = world.move(hero, 5, 5)
    assert (move.hits, move.right, move.bottom) == ((), False, False)


@pytest.mark.parametrize("call", ["walk", "grounded", "push"])
def test_the_first_call_may_meet_more_bodies_than_there_was_memory_for(call):
    for many in (60, 70, 300, 1000):
        world = World()
        for _ in range(many):
            world.add(Box(-2, -2, 20, 20), sensor=True, static=True)
        hero = world.add(Circle(5, 5, 4))
        floor = world.add(Box(-50, 9, 100, 4), static=True)
        if call == "walk":
            walk = world.walk(hero, 1, 1)
            assert (walk.floor, len(walk.crossed)) == (floor, many)
        elif call == "grounded":
            assert world.grounded(hero).other is floor
        else:
            assert world.push(hero, 1, 0) == ([], [], [])
            assert hero.position == (6, 5)
