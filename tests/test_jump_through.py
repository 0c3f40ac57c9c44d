"""Jump-through bodies: as one-way tiles at the same place, and they may move and lean."""

import pickle

import pytest

import broadphase as bp


def test_a_lift_to_jump_through_carries_what_stands_on_it_and_pushes_nobody_below():
    world = bp.World()
    lift = world.add(bp.Box(0, 100, 60, 6), static=True)
    lift.one_way = "top"
    rider, below = world.add(bp.Box(10, 84, 10, 16)), world.add(bp.Box(40, 95, 10, 16))
    for k in range(200):
        pushed = world.push(lift, 0.3 if k % 40 < 20 else -0.3, -0.7)
        assert pushed.carried == [rider]
        assert not pushed.pushed
    assert below.position == (40, 95)
    assert rider.y == pytest.approx(84 - 140, abs=1e-9)
    assert world.grounded(rider).other is lift
    assert world.walk(rider, 0, 5).floor is lift
    jump = world.walk(below, 0, -300)
    assert not jump.blocked, "up through the lift"
    assert world.walk(below, 0, 400).floor is lift


@pytest.mark.covering
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("movers_block", [False, True])
@pytest.mark.parametrize(
    ("how", "period", "others"), [("step", None, 0), ("move_many", None, 30), ("step", 200, 0)]
)
def test_a_lift_carries_however_it_is_moved(how, period, others, movers_block, static):
    """As one that `push` moves: a rider, what stands on the rider, and against a wall it is left behind."""
    worlds = [bp.World(period=period and (period, period)) for _ in range(2)]
    bodies = []
    for world in worlds:
        world.add(bp.Box(60, 0, 5, 80), static=True)
        lift = world.add(bp.Box(10, 100, 60, 6), static=static)
        lift.one_way = "top"
        rider, hat = world.add(bp.Box(20, 84, 10, 16)), world.add(bp.Circle(25, 80, 4))
        below = world.add(bp.Box(50, 107, 10, 16))
        world.add_many([[150, y, 152, y + 2] for y in range(0, 3 * others, 3)])
        bodies.append((lift, rider, hat, below))
    (pushed, *_), (lift, rider, *_) = bodies
    for k in range(20):
        way = (4.5, -1.5) if k < 13 else (-6, 2.25)
        worlds[0].push(pushed, *way)
        if how == "step":
            lift.velocity = way
            worlds[1].step(1.0, movers_block=movers_block)
        else:
            crowd = [*worlds[1].bodies()][5:]
            ways = [way, *[(0.0, 0.0)] * len(crowd)]
            worlds[1].move_many([lift, *crowd], ways, movers_block=movers_block)
        for one, other in zip(*bodies, strict=True):
            assert other.position == pytest.approx(one.position, abs=1e-9)
        if k == 10:
            assert rider.bounds[2] == 60
    assert not worlds[1].query_shape(rider.shape, ignore=rider)


@pytest.mark.parametrize("falls", ["walk", "step", "move_many"])
@pytest.mark.parametrize("lift_first", [False, True])
def test_what_falls_lands_on_a_lift_that_rises(lift_first, falls):
    """Wherever the two are when they meet: it is not inside after a movement, to fall through."""
    for gap in (0.0, 0.25, 1.5, 2.0, 3.0, 4.75, 7.5):
        world = bp.World()
        boxes = [[0, 100, 60, 106], [10, 84 - gap, 20, 100 - gap]]
        bodies = world.add_many(boxes if lift_first else boxes[::-1])
        lift, hero = bodies if lift_first else reversed(bodies)
        lift.static, lift.one_way = True, "top"
        spared = world.add(bp.Box(40, 98, 2, 1))
        for k in range(1, 5):
            lift.velocity = (1, -3)
            if falls == "walk":
                world.step(1.0, ignore=spared)
                world.walk(hero, 0, 4)
            elif falls == "step":
                hero.velocity = (0, 4)
                world.step(1.0, ignore=spared)
            else:
                world.move_many([lift, hero], [(1, -3), (0, 4)], ignore=spared)
            assert lift.position == (k, 100 - 3 * k)
            assert hero.bounds[3] <= lift.y + 1e-9
        assert hero.bounds[3] == lift.y
        assert spared.position == (40, 98)


@pytest.mark.parametrize("lift_first", [False, True])
@pytest.mark.parametrize("others", [0, 20])
@pytest.mark.parametrize("fall", [-3, 30])
def test_a_rider_of_a_lift_may_have_a_velocity_itself(fall, others, lift_first):
    world = bp.World()
    shapes = [bp.Box(0, 100, 60, 6), bp.Box(10, 84, 10, 16)]
    bodies = world.add_many(shapes if lift_first else shapes[::-1])
    lift, rider = bodies if lift_first else reversed(bodies)
    lift.one_way = "top"
    for k in range(others):
        world.add(bp.Box(200 + 9 * k, 0, 5, 5)).velocity = (0, 1)
    for k in range(1, 11):
        lift.velocity, rider.velocity = (2, fall), (1, 5)
        stepped = world.step(1.0, movers_block=True)
        assert lift.position == (2 * k, 100 + fall * k)
        assert rider.position == (10 + 3 * k, 84 + fall * k)
        assert stepped.places[stepped.ids == rider.id].tolist() == [list(rider.position)]


def test_drop_and_blocker_and_casts_know_one_way_bodies():
    world = bp.World()
    plank = world.add(bp.Box(0, 50, 100, 5), static=True)
    plank.one_way = "top"
    hero = world.add(bp.Box(10, 34, 10, 16))
    assert world.walk(hero, 0, 3).floor is plank
    assert world.walk(hero, 0, 3, drop=True).floor is None
    assert world.walk(hero, 0, 3).floor is None, "it is inside now"
    assert world.blocker(hero) is None
    assert world.grounded(hero) is None
    assert world.shape_cast(bp.Circle(50, 20, 5), 0, 60).hits[0].other is plank
    assert not world.shape_cast(bp.Circle(50, 80, 5), 0, -60).hits
    plank.one_way = ()
    assert world.blocker(hero) is plank


def test_a_plank_that_lets_a_walker_through_is_an_edge_ahead():
    world = bp.World()
    world.add(bp.Box(0, 100, 30, 10), static=True)
    world.add(bp.Box(30, 97, 40, 6), static=True).one_way = "top"
    hero = world.add(bp.Box(10, 84, 10, 16))
    assert world.walk(hero, 8, 1, probe=8).edge
    world.walk(hero, 0, -20)
    world.walk(hero, 6, 3)
    world.walk(hero, 0, 40)
    assert not world.walk(hero, 1, 1, probe=8).edge, "it stands on the plank"
    level = bp.World()
    level.add(bp.Box(0, 100, 30, 10), static=True)
    level.add(bp.Box(30, 100, 40, 6), static=True).one_way = "top"
    hero = level.add(bp.Box(15, 84, 10, 16))
    assert [level.walk(hero, 2, 1, probe=8, drop=drop).edge for drop in (False, True)] == [False, True]


@pytest.mark.parametrize("many", [False, True])
def test_what_starts_in_a_wall_is_not_pushed_out_of_a_plank(many):
    world = bp.World()
    world.add(bp.Box(0, 50, 100, 30), static=True).one_way = "top"
    world.add(bp.Box(0, 0, 20, 100), static=True)
    hero = world.add(bp.Box(15, 60, 10, 10))
    if many:
        world.walk_many([hero], 0, 1)
    else:
        world.walk(hero, 0, 1)
    assert hero.position == (20, 61)


@pytest.mark.parametrize("shape", ["box", "circle"])
def test_a_slanted_plank_blocks_from_its_upper_side_only(shape):
    world = bp.World()
    plank = world.add(bp.Polygon([(0, 60), (80, 20), (80, 24), (0, 64)]), static=True)
    plank.one_way = "top"
    falls = bp.Box(36, 0, 8, 8) if shape == "box" else bp.Circle(40, 4, 4)
    hero = world.add(falls)
    world.move(hero, 0, 100, "touch")
    assert hero.bounds[3] < 44
    assert world.move(hero, 0, 5, "touch").hits[0].other is plank, "it rests on it, rounded"
    hero.shape = falls.moved_to(falls.x, 80)
    assert not world.move(hero, 0, -80).hits
    assert world.move(hero, 0, 100, "touch").hits[0].other is plank
    if shape == "box":
        hero.shape = falls.moved_to(10, 0)
        world.walk(hero, 0, 100)
        for _ in range(30):
            walk = world.walk(hero, 2, 3)
        assert walk.floor is plank, "it walks up"


@pytest.mark.parametrize("pickled", [False, True])
def test_snapshots_keep_it_and_rows_that_are_used_again_forget_it(pickled):
    world = bp.World()
    plank = world.add(bp.Box(0, 50, 100, 5))
    plank.one_way = ("top", "left")
    moment = world.snapshot()
    if pickled:
        moment = pickle.loads(pickle.dumps(moment))
    plank.one_way = ()
    plank.remove()
    assert plank.one_way == ()
    assert world.add(bp.Box(0, 0, 5, 5)).one_way == ()
    assert [body.one_way for body in world.add_many([[0, 0, 1, 1]])] == [()]
    world.restore(moment)
    assert world.body(0).one_way == ("left", "top")
    for wrong in ("up", ["top", "down"]):
        with pytest.raises(ValueError, match="choose from left, right, top, bottom"):
            world.body(0).one_way = wrong
