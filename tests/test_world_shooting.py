"""Bullets, and whatever stops a body: what movement reports to listeners, and what it ignores."""

import numpy as np
import pytest

import broadphase as bp
from broadphase import Box, Circle, World

PERIODS = pytest.mark.parametrize("period", [None, (1_000, 1_000)])


def heard(world, a, b):
    calls = []
    phases = ("begin", "stay", "end")
    world.on(a, b, *(lambda contact, phase=phase: calls.append(phase) for phase in phases))
    return calls


def one(world, body, dx, dy, **more):
    move = world.move(body, dx, dy, **more)
    bodies = [hit.other.id for hit in move.hits if not isinstance(hit.other, bp.Tile)]
    return bodies, [hit.other.id for hit in move.crossed]


def asked(world, body, dx, dy):
    return one(world, body, dx, dy, response=lambda hit: "slide")


def many(world, body, dx, dy, **more):
    move = world.move_many([body], dx, dy, movers_block=True, **more)
    return move.hits.others.tolist(), move.crossed.others.tolist()


def walk(world, body, dx, dy):
    move = world.walk(body, dx, dy)
    return [hit.other.id for hit in move.hits], [hit.other.id for hit in move.crossed]


@pytest.mark.smaller_set
@PERIODS
@pytest.mark.parametrize("move", [one, many])
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("shape", [Circle(5, 5, 1), Box(4, 4, 2, 2)])
def test_a_bullet_that_is_a_sensor_hits(period, move, static, shape):
    world = World(period=period)
    calls = heard(world, "bullet", "mob")
    bullet = world.add(shape, tag="bullet", sensor=True)
    mob = world.add(Box(50, 0, 10, 10), tag="mob", static=static)
    assert move(world, bullet, 100, 0) == ([], [mob.id])
    world.update()
    assert calls == ["begin", "end"]
    world.update()
    assert calls == ["begin", "end"]


@pytest.mark.smaller_set
@PERIODS
@pytest.mark.parametrize("move", [one, many])
def test_tiles_stop_a_moving_sensor(period, move):
    world = World(period=period)
    world.tiles = bp.TileMap([[False] * 10 + [True] + [False] * 14] * 25, 40)
    bullet = world.add(Circle(5, 5, 1), sensor=True)
    world.add(Box(50, 0, 10, 10), sensor=True)
    move(world, bullet, 700, 0)
    assert bullet.x == 399


@pytest.mark.smaller_set
@PERIODS
@pytest.mark.parametrize("move", [one, asked, many, walk])
@pytest.mark.parametrize("static", [True, False])
def test_what_stops_a_body_is_a_contact_as_long_as_it_does(period, move, static):
    world = World(period=period)
    calls = heard(world, "player", "wall")
    player = world.add(Box(0, 0, 10, 10), tag="player")
    wall = world.add(Box(30, 0, 10, 10), tag="wall", static=static)
    if move is walk or static:
        world.update()
    assert move(world, player, 100, 0)[0] == [wall.id]
    began = world.update().began
    assert [(contact.normal, contact.depth) for contact in began] == [((-1.0, 0.0), 0.0)]
    assert move(world, player, 5, 0)[0] == [wall.id]
    assert move(world, player, 5, 0)[0] == [wall.id]
    world.update()
    world.update()
    assert calls == ["begin", "stay", "end"]


@pytest.mark.smaller_set
def test_stops_go_back_with_a_snapshot_and_with_an_interrupted_call():
    world = World()
    player = world.add(Box(0, 0, 10, 10), tag="player")
    world.add(Box(30, 0, 10, 10), tag="wall")
    world.on("player", "wall")
    world.move(player, 100, 0)
    moment = world.snapshot()
    assert len(world.update().began) == 1
    world.restore(moment)
    assert [len(found) for found in world.update()] == [1, 0, 0]
    player.x = 0

    def interrupt(hit):
        raise KeyboardInterrupt

    world.update()
    with pytest.raises(KeyboardInterrupt):
        world.move(player, 100, 0, interrupt)
    assert [len(found) for found in world.update()] == [0, 0, 0]


@pytest.mark.smaller_set
@PERIODS
def test_ignored_bodies_neither_block_nor_are_found(period):
    world = World(period=period)
    calls = heard(world, "bullet", bp.ANY)
    shooter, friend = world.add(Box(0, 0, 10, 10)), world.add(Circle(25, 5, 5))
    mob = world.add(Box(50, 0, 10, 10), tag="mob")
    solid = world.add(Box(4, 4, 2, 2))
    assert world.move(solid, 100, 0, "touch", ignore=shooter).hits[0].other is friend
    solid.move_to(4, 4)
    assert world.try_move(solid, 100, 0, ignore=[shooter, friend]) is mob
    assert world.try_move(solid, 30, 0, ignore=(shooter, friend)) is None
    solid.move_to(500, 500)
    bullet = world.add(Circle(5, 5, 1), tag="bullet", sensor=True)
    crossed = world.move(bullet, 300, 0, ignore=[shooter, friend]).crossed
    assert [hit.other for hit in crossed] == [mob]
    world.update()
    assert calls == ["begin", "end"]
    world.remove(bullet)
    both = [shooter, friend]
    assert world.raycast((5, 5), (1, 0), 900, ignore=both).other is mob
    assert [hit.other for hit in world.query_ray((5, 5), (1, 0), 900, ignore=iter(both))] == [mob]
    assert world.query_box((0, 0, 60, 10), ignore=both) == [mob]
    assert world.query_box([(0, 0, 60, 10)], ignore=both).tolist() == [[0, mob.id]]
    assert world.query_radius((25, 5), 100, ignore=both) == [mob]
    assert world.query_radius([(25, 5)], 100, ignore=both).tolist() == [[0, mob.id]]
    assert world.query_point((25, 5), ignore=friend) == []
    assert world.query_point([(25, 5)], ignore=friend).tolist() == []
    assert world.query_shape(Box(0, 0, 60, 10), ignore=both) == [mob]
    assert world.nearest((5, 5), 3, ignore=[*both, solid]).bodies == [mob]
    for query in (world.move, world.try_move):
        with pytest.raises(TypeError, match="ignore"):
            query(solid, 1, 0, ignore=7)
        with pytest.raises(TypeError, match=r"ignore\[0\]"):
            query(solid, 1, 0, ignore=[7])
    with pytest.raises(ValueError, match="another world"):
        world.raycast((5, 5), (1, 0), 9, ignore=World().add(Box(0, 0, 1, 1)))


@pytest.mark.smaller_set
@PERIODS
def test_too_many_pairs_change_nothing(period):
    world = World(max_pairs=100, period=period)
    world.on("a", "a")
    crowd = world.add_many([[0, 0, 9, 9]] * 50, tag="a")
    for _ in range(2):
        with pytest.raises(bp.PairLimitExceeded):
            world.update()
    assert [len(found) for found in world.events] == [0, 0, 0]
    world.remove_many(crowd[10:])
    assert len(world.update().began) == 45
    with pytest.raises(TypeError, match="max_pairs"):
        World(max_pairs="many")


@pytest.mark.smaller_set
def test_mistakes_are_named_at_once_and_by_public_names():
    world = World()
    for phase in ("begin", "stay", "end"):
        with pytest.raises(TypeError, match=f"{phase} must be a function that takes a Contact"):
            world.on("a", "b", **{phase: lambda: 1})
    world.on("a", "b", begin=print, stay=lambda *contact: None, end=[].append)
    for period in (None, (10, 10)):
        world = World(period=period)
        with pytest.raises(TypeError, match=r"^World\.update\(\) takes 1"):
            world.update(1 / 60)
        with pytest.raises(TypeError, match=r"^World\.query_box\(\)"):
            world.query_box()
    for period in (None, (10, 10)):
        with pytest.raises(TypeError, match=r"^Index\.insert\(\)"):
            bp.BoxTree(period=period).insert()


@pytest.mark.parametrize("period", [None, (400, 400)])
@pytest.mark.parametrize("shape", [Box(0, 100, 10, 10), bp.Circle(5, 105, 5)])
def test_what_is_ignored_is_nothing_to_thousands(period, shape):
    world = World(period=period)
    world.on("shot", "mob")
    walls = [world.add(Box(x, 90, 5, 30), static=True) for x in (40, 80)]
    mob = world.add(Box(20, 100, 5, 5), tag="mob")
    shot = world.add(shape, tag="shot")
    moment = world.snapshot()
    for ignore, x, crossed in (((), 30, [mob.id]), (walls[0], 70, [mob.id]), ([walls[0], mob], 70, [])):
        moved = world.move_many([shot], 100, 0, "touch", ignore=ignore)
        assert (shot.bounds[0], moved.hits.others.size) == (x, 1)
        assert moved.crossed.others.tolist() == crossed
        world.restore(moment)
    moved = world.move_many([shot], 100, 0, "touch", movers_block=True, ignore=[mob, *walls])
    assert shot.bounds[0] == 100
    assert not moved.hits.others.size


@pytest.mark.smaller_set
@pytest.mark.parametrize("period", [None, (400, 400)])
def test_what_is_ignored_is_nothing_to_walkers_and_platforms(period):
    world = World(period=period)
    floor = world.add(Box(0, 110, 200, 10), static=True)
    wall = world.add(Box(40, 90, 5, 20), static=True)
    hero = world.add(Box(10, 100, 10, 10))
    coin = world.add(Box(30, 100, 2, 2), sensor=True)
    moment = world.snapshot()
    walk = world.walk(hero, 60, 1)
    assert (walk.x, walk.floor, [hit.other for hit in walk.crossed]) == (30, floor, [coin])
    world.restore(moment)
    walk = world.walk(hero, 60, 1, ignore=[wall, coin])
    assert (walk.x, walk.floor, walk.crossed) == (70, floor, ())
    world.restore(moment)
    walks = world.walk_many([hero], 60, 1, ignore=[wall, coin])
    assert (walks.places.tolist(), walks.crossed.others.size) == ([[70, 100]], 0)
    world.restore(moment)
    assert world.grounded(hero).other is floor
    assert world.grounded(hero, ignore=floor) is None
    for ignore, carried in (((), [hero]), (hero, [])):
        assert world.push(floor, 5, 0, ignore=ignore).carried == carried
        world.restore(moment)
    pusher = world.add(Box(0, 100, 5, 10), static=True)
    assert world.push(pusher, 10, 0, ignore=hero).pushed == []
    assert hero.x == 10
    for query in (world.walk, world.push):
        with pytest.raises(TypeError, match="ignore"):
            query(hero, 1, 0, ignore=7)


@pytest.mark.smaller_set
def test_arguments_that_change_others_change_nothing_else():
    class Shrinks:
        def __init__(self, other, values):
            self.other, self.values = other, values

        def __array__(self, dtype=None, copy=None):
            self.other.resize(1, refcheck=False)
            return np.array(self.values, dtype)

    world = World()
    bodies = world.add_many(np.tile([0, 0, 1, 1], (500, 1)).astype(float))
    for call in (world.move_many, world.walk_many):
        ids = world.ids
        with pytest.raises(ValueError, match="shape"):
            call(ids, Shrinks(ids, np.ones(500)), 0.0)
        motion = np.zeros(500)  # is copied before the next argument is looked at
        moved = call(world.ids, motion, Shrinks(motion, np.zeros(500)))
        assert len(motion) == 1
        assert moved.places.shape == (500, 2)
    ids = world.ids
    with pytest.raises(ValueError, match="shape"):
        world.move_all(ids, Shrinks(ids, np.ones((500, 2))))
    with pytest.raises(ValueError, match="shape"):
        world.turn_many(ids := world.ids, Shrinks(ids, np.ones(500)))
    centers = np.zeros((500, 2))
    assert len(world.query_radius(centers, Shrinks(centers, np.ones(500)))) == 500 * 500
    assert {body.position for body in bodies} == {(0.0, 0.0)}
