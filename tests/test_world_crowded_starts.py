"""A body that starts inside others that move, too, is pushed out gently: not far, and through nothing."""

import itertools
import tracemalloc

import numpy as np
import pytest
from cases import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

import broadphase as bp
from broadphase.world.movement import regions


def depth_of(a, b):
    found = bp.contact(a.shape, b.shape)
    return found.depth if found else 0.0


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.floats(-7, 7), min_size=8, max_size=8), st.sampled_from(["slide", "touch", "bounce"]))
def test_out_of_a_single_one_it_goes_all_the_way(numbers, response):
    x, y, width, height, *other = numbers
    world = bp.World()
    mover = world.add(bp.Box(x, y, abs(width) + 0.1, abs(height) + 0.1))
    crate = world.add(bp.Box(*other[:2], abs(other[2]) + 0.1, abs(other[3]) + 0.1))
    depth, before = depth_of(mover, crate), np.array(mover.position)
    move = world.move(mover, 0, 0, response)
    assert depth_of(mover, crate) == 0
    assert crate.position == tuple(other[:2])
    way = np.array(mover.position) - before
    assert np.abs(way).sum() == pytest.approx(depth, abs=1e-14)
    assert way.prod() == 0
    if depth:
        assert [(hit.other, hit.time, hit.touch) for hit in move.hits] == [(crate, 0, mover.position)]
        assert np.dot(move.hits[0].normal, way) == pytest.approx(depth, abs=1e-14)


@pytest.mark.parametrize("shape", [bp.Circle(8, 3, 4), bp.RoundedBox(7, 2, 4, 4, 1)])
def test_shapes_too(shape):
    world = bp.World()
    mover, crate = world.add(shape), world.add(bp.Box(0, 0, 10, 10))
    move = world.move(mover, 0, 0)
    assert depth_of(mover, crate) == 0
    assert move.y == shape.y
    assert mover.bounds[0] == pytest.approx(10, abs=1e-9)
    assert move.hits[0].normal == (1, 0)


def test_the_way_out_and_the_movement_are_one():
    world = bp.World()
    mover, _ = world.add(bp.Box(8, 0, 10, 10)), world.add(bp.Box(0, 0, 10, 10))
    assert world.move(mover, 30, 5)[:2] == (40, 5)
    mover.position = 8, 0
    assert world.move(mover, -30, 0)[:2] == (10, 0)


def packed(kind):
    """400 bodies that touch, and one in the middle of them."""
    world = bp.World()
    places = [(10 * x, 10 * y) for x in range(20) for y in range(20)]
    for x, y in places:
        world.add(bp.Box(x, y, 10, 10) if kind == "box" else bp.Circle(x + 5, y + 5, 5))
    return world, world.add(bp.Box(93, 94, 10, 10) if kind == "box" else bp.Circle(98, 99, 5))


@pytest.mark.parametrize("kind", ["box", "circle"])
@pytest.mark.parametrize("many", [True, False])
def test_a_newcomer_throws_nobody_across_the_room(kind, many):
    world, newcomer = packed(kind)
    before = world.positions
    for _ in range(5):
        if many:
            world.move_many(world.bodies(), 0, 0, movers_block=True)
        else:
            for body in world:
                world.move(body, 0, 0)
    far = np.hypot(*(world.positions - before).T)
    assert far.max() < 12
    assert far[newcomer.id] > 0.5
    world.validate()


@pytest.mark.parametrize("kind", ["box", "circle"])
def test_in_too_small_a_room_nobody_is_pushed_far_or_through_a_wall(kind):
    world, rng = bp.World(), np.random.default_rng(1)
    solid = np.zeros((6, 6), bool)
    solid[:, 0] = solid[0] = True
    world.tiles = bp.TileMap(solid, 20, origin=(-20, -20))
    for box in ((100, -20, 1, 200), (-20, 100, 200, 1)):
        world.add(bp.Box(*box), static=True)
    places = rng.uniform(0, 90, (200, 2)).tolist()
    bodies = world.add_many(
        [bp.Box(x, y, 10, 10) if kind == "box" else bp.Circle(x + 5, y + 5, 5) for x, y in places]
    )
    for _ in range(4):
        before = bodies.positions
        world.move_many(bodies, 0, 0, movers_block=True)
        assert np.hypot(*(bodies.positions - before).T).max() <= 10
        for left, top, right, bottom in (body.bounds for body in bodies):
            assert left >= -1e-9
            assert top >= -1e-9
            assert right <= 100 + 1e-9
            assert bottom <= 100 + 1e-9


def test_a_wall_counts_before_those_that_move():
    world = bp.World()
    wall = world.add(bp.Box(0, 0, 10, 100), static=True)
    crate = world.add(bp.Box(14, 40, 10, 10))
    mover = world.add(bp.Box(7, 40, 10, 10))
    move = world.move(mover, 0, 0)
    assert mover.bounds[0] >= 10
    assert {hit.other for hit in move.hits} == {wall, crate}
    assert move.hits[0].normal == (1, 0)
    assert all(hit.touch == mover.position for hit in move.hits)
    mover.position = 7, 40
    move = world.move(mover, 0, 0, lambda hit: None if hit.other is crate else "slide")
    assert mover.position == (10, 40)


@settings(deadline=None, max_examples=examples(30))
@given(
    st.integers(0, 999),
    st.sampled_from(["slide", "touch", "cross", "bounce"]),
    st.booleans(),
    st.sampled_from([20, 35, 60]),  # on one heap they are pushed far
    st.booleans(),
    st.booleans(),
)
@example(
    24, "slide", False, 20, False, False
)  # one ends in the way of another, far from where it was looked for
@example(0, "slide", False, 35, False, True)  # one of those that block no other is pushed far
def test_many_at_once_are_as_one_by_one(seed, response, with_round, wide, periodic, with_ignored):
    rng = np.random.default_rng(seed)
    worlds = [bp.World(period=(100, 100) if periodic else None) for _ in range(2)]
    draw = rng.uniform if seed % 2 else rng.integers
    places, ways = draw(0, wide, (60, 2)).tolist(), draw(-15, 15, (60, 2))
    for world in worlds:
        for k, (x, y) in enumerate(places):
            round_one = with_round and k % 4 == 1
            box = bp.Box(x, y, 8, 6) if k % 3 == 2 else bp.Box(x, y, 4, 3)
            world.add(bp.Circle(x, y, 3) if round_one else box, static=k % 3 == 2)
    movers = [k for k in range(60) if k % 3 != 2]  # so many that they do not move one by one
    ignored, alone = ([world.body(k) for k in movers[: 14 if with_ignored else 0]] for world in worlds)
    moved = worlds[0].move_many(
        np.array(movers), ways[movers], None, response, movers_block=True, ignore=ignored
    )
    hits = []
    for at, k in enumerate(movers):
        one = worlds[1].move(worlds[1].body(k), *ways[k].tolist(), response, ignore=alone)
        hits += [(at, hit.other.id, hit.time, *hit.normal, *hit.touch) for hit in one.hits]
    assert worlds[0].positions.tolist() == worlds[1].positions.tolist()
    arrays = moved.hits
    columns = (arrays.movers, arrays.others, arrays.times, arrays.normals, arrays.touches)
    found = [(*map(int, row[:2]), *row[2:]) for row in np.column_stack(columns).tolist()]
    assert found == hits


@settings(deadline=None, max_examples=examples(10))
@given(st.integers(0, 999))
@example(0)
def test_sensors_that_move_cross_what_was_pushed_far(seed):
    rng = np.random.default_rng(seed)
    places, ways = rng.uniform(0, 20, (60, 2)).tolist(), rng.uniform(-15, 15, (60, 2))
    worlds = bp.World(), bp.World()
    for world in worlds:
        for k, (x, y) in enumerate(places):
            kind = k % 3  # each meets the other two kinds
            rules = {"static": kind == 2, "sensor": kind == 1, "category": 1 << kind, "mask": 7 ^ 1 << kind}
            world.add(bp.Box(x, y, 8, 6), **rules)
    movers = [k for k in range(60) if k % 3 != 2]
    crossed = worlds[0].move_many(np.array(movers), ways[movers], None, "touch").crossed
    moves = [worlds[1].move(worlds[1].body(k), *ways[k].tolist(), "touch") for k in movers]
    assert worlds[0].positions.tolist() == worlds[1].positions.tolist()
    found = [*zip(crossed.movers.tolist(), crossed.others.tolist(), crossed.times.tolist(), strict=True)]
    assert found == [(at, hit.other.id, hit.time) for at, move in enumerate(moves) for hit in move.crossed]


@pytest.mark.parametrize("period", [(40, None), (40, 100)])
def test_one_that_is_pushed_far_to_an_edge_stops_another_behind_it(period):
    ends = []
    for at_once in (True, False):
        world = bp.World(period=period)
        world.add_many([[x, y, x + 1, y + 1] for x in range(1, 20) for y in range(30)], static=True)
        places = [(8.5, 15.5), (38.5, 15.5), (20, 60), (24, 60), (28, 60)]
        movers = [world.add(bp.Box(*place, 1, 1)) for place in places]
        if at_once:
            ends.append(world.move_many(movers, 1, 0, movers_block=True).places.tolist())
        else:
            ends.append([[*world.move(mover, 1, 0)[:2]] for mover in movers])
    assert ends[0] == ends[1]
    assert ends[0][:2] == [[0, 15.5], [39, 15.5]]


def test_each_two_part_within_a_few_calls():
    world, rng = bp.World(), np.random.default_rng(4)
    bodies = world.add_many([bp.Box(x, y, 8, 8) for x, y in rng.uniform(0, 30, (12, 2)).tolist()])
    for _ in range(60):
        bodies.move(0, 0, movers_block=True)
    assert max(depth_of(a, b) for a, b in itertools.combinations(bodies, 2)) < 0.5


def test_one_mover_that_is_pushed_far_does_not_enlarge_the_search_of_all():
    places = np.random.default_rng(1).random((2000, 2)) * 89
    boxes, world = np.hstack((places, places + 1)), bp.World()
    movers = world.add_many(boxes[:1000])
    world.add_many(boxes[1000:], static=True)
    tracemalloc.start()
    try:
        world.move_many(movers.ids, (0.1, 0), movers_block=True)
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()


@settings(deadline=None, max_examples=examples(20))
@given(st.integers(0, 999), st.booleans(), st.booleans())
def test_many_walkers_at_once_are_as_one_by_one(seed, in_walls, in_a_heap):
    """In a heap they are pushed farther than was searched, into the ways of others."""
    rng = np.random.default_rng(seed)
    heap = rng.uniform(0, 50, (200 if in_a_heap else 0, 2)).tolist()
    places, ways = rng.uniform(0, 50, (20, 2)).tolist(), rng.uniform(-6, 6, (20, 2))
    worlds = bp.World(), bp.World()
    for world in worlds:
        for k, (x, y) in enumerate(places):
            is_wall = in_walls and k % 4 == 3
            world.add(bp.Circle(x, y, 4) if k % 3 == 2 else bp.Box(x, y, 8, 6), static=is_wall)
        world.add(bp.Box(-100, 60, 300, 10), static=True)
        world.add_many([bp.Box(x, y, 6, 6) for x, y in heap], static=True)
    walkers = [k for k in range(20) if k % 3 != 2]
    rules = {"snap": 3, "step": 2}
    walked = worlds[0].walk_many(np.array(walkers), ways[walkers], None, movers_block=True, **rules)
    hits = []
    for at, k in enumerate(walkers):
        one = worlds[1].walk(worlds[1].body(k), *ways[k].tolist(), **rules)
        hits += [(at, hit.other.id, hit.time, *hit.normal, *hit.touch) for hit in one.hits]
    assert worlds[0].positions.tolist() == worlds[1].positions.tolist()
    arrays = walked.hits
    columns = (arrays.movers, arrays.others, arrays.times, arrays.normals, arrays.touches)
    assert [(*map(int, row[:2]), *row[2:]) for row in np.column_stack(columns).tolist()] == hits
    assert any(time == 0 for _, _, time, *_ in hits)


@pytest.mark.parametrize("many", [True, False])
def test_a_walker_is_pushed_out_of_another_and_walks_on(many):
    world = bp.World()
    world.add(bp.Box(-100, 10, 300, 10), static=True)
    walker, other = world.add(bp.Box(7, 0, 10, 10)), world.add(bp.Box(0, 0, 10, 10))
    if many:
        walked = world.walk_many([walker], 5, 2, movers_block=True)
        assert walked.hits.others.tolist()[0] == other.id
        assert walked.hits.touches.tolist()[0] == [10, 0]
    else:
        walk = world.walk(walker, 5, 2)
        assert (walk.hits[0].other, walk.hits[0].time, walk.hits[0].touch) == (other, 0, (10, 0))
    assert walker.position == (15, 0)
    assert other.position == (0, 0)


def test_a_rider_that_is_pushed_far_does_not_stop_its_lift():
    """Many at once, and the same without one that stays where it is: so few move one by one."""
    for seed in range(100):
        rng, worlds = np.random.default_rng(seed), (bp.World(), bp.World())
        walls, crates = rng.uniform(-10, 10, (10, 2)).tolist(), rng.uniform(-8, 14, (10, 2)).tolist()
        ways = rng.uniform(-6, 6, (5, 2)) - (0, 6)
        for world in worlds:
            world.add_many([bp.Box(x, y, 12, 9) for x, y in walls], static=True)
            world.add_many([bp.Box(x, y, 4, 4) for x, y in crates])
            movers = [*(world.add(bp.Box(x, 6, 4, 4)) for x in (-2, 2, 6)), world.add(bp.Box(0, 10, 10, 2))]
            movers[3].one_way = "top"
            if world is worlds[0]:
                movers.append(world.add(bp.Box(500, 0, 4, 4)))
            world.move_many(movers, ways[: len(movers)], movers_block=True)
        assert worlds[0].positions[:24].tolist() == worlds[1].positions.tolist(), seed


def test_a_crowd_moves_alike_where_little_memory_is_free(monkeypatch):
    """What is near all that are pushed far is then not kept at once."""
    places = np.random.default_rng(2).random((200, 2)) * 6
    worlds = bp.World(), bp.World()
    for world in worlds:
        bodies = world.add_many(np.hstack((places, places + 1)))
        world.move_many(bodies, 0.5, 0.25, movers_block=True)
        monkeypatch.setattr(regions, "usable_memory", lambda: 1_000)
    assert worlds[0].positions.tolist() == worlds[1].positions.tolist()


def test_many_walkers_near_many_floors_are_as_one_by_one():
    """One call of the kernel ends after about 500,000 obstacles, for Ctrl-C, and the next one goes on."""
    worlds = bp.World(), bp.World()
    for world in worlds:
        world.add_many([bp.Box(0, 10, 4_000, 10)] * 700, static=True)
        world.add_many([bp.Box(5 * k, 8, 2, 2) for k in range(790)], tag="walker")
    walkers, singly = (world.bodies("walker") for world in worlds)
    walked = worlds[0].walk_many(walkers, 1, 2, movers_block=True)
    walks = [worlds[1].walk(body, 1, 2) for body in singly]
    assert walkers.positions.tolist() == singly.positions.tolist()
    assert walked.floors[:, 0].tolist() == [walk.floor.id for walk in walks]
    assert len(walked.hits.movers) == sum(len(walk.hits) for walk in walks)


@pytest.mark.parametrize("name", ["move_many", "walk_many"])
def test_points_that_start_in_a_wall_are_pushed_out_without_a_warning(name):
    """At the origin a point that does not move has a region of hardly any width."""
    world = bp.World()
    world.add(bp.Box(-4, -6, 8, 12), static=True)
    points = world.add_many([bp.Box(0, 0, 0, 0)] * 6)
    with np.errstate(all="raise"):
        moved = getattr(world, name)(points, 0, 0)
    assert np.abs(moved.places[:, 0]).tolist() == [4.0] * 6
    assert moved.places[:, 1].tolist() == [0.0] * 6
