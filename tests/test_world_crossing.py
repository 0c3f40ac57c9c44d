"""What a movement passes without being stopped, and what listeners hear of it."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadphase import ANY, Box, Circle, Polygon, World


def ids(hits):
    return [hit.other.id for hit in hits]


def reported(world, a=ANY, b=ANY):
    calls = []
    world.on(a, b, *(lambda contact, phase=phase: calls.append((phase, *contact)) for phase in range(3)))
    return calls


@pytest.mark.smaller_set
def test_a_coin_that_is_jumped_past_is_taken():
    world = World()
    player = world.add(Box(0, 0, 16, 24), tag="player")
    coin = world.add(Circle(100, 12, 6), tag="coin", sensor=True)
    calls = reported(world, "coin", "player")
    move = world.move(player, 160, 0)
    assert (move.hits, ids(move.crossed)) == ((), [coin.id])
    hit = move.crossed[0]
    assert (hit.time, hit.normal, hit.touch, hit.response) == (78 / 160, (-1, 0), (78, 0), "cross")
    events = world.update()
    assert (len(events.began), len(events.stayed), len(events.ended)) == (1, 0, 1)
    assert calls == [(0, coin, player, (1, 0), 0), (2, coin, player, (1, 0), 0)]
    assert (world.stats.contacts, world.stats.calls) == (0, 2)
    assert world.update() == ([], [], [])


@pytest.mark.smaller_set
def test_crossings_come_by_time_then_by_id():
    world = World()
    player = world.add(Box(0, 0, 10, 10))
    far, second, first = (world.add(Box(x, 0, 5, 5), sensor=True) for x in (60, 30, 30))
    beside = world.add(Box(30, 10, 5, 5), sensor=True)
    inside = world.add(Box(5, 5, 2, 2), sensor=True)
    ahead = world.add(Box(110, 0, 5, 5), sensor=True)
    move = world.move(player, 100, 0)
    assert ids(move.crossed) == [inside.id, second.id, first.id, far.id]
    assert [hit.time for hit in move.crossed] == [0, 0.2, 0.2, 0.5]
    assert beside.id not in ids(move.crossed)
    assert ids(world.move(player, 1, 0).crossed) == [ahead.id]


@pytest.mark.smaller_set
def test_only_the_path_that_was_moved_counts():
    world = World()
    player = world.add(Box(0, 0, 10, 10))
    world.add(Box(50, -100, 10, 200), static=True)
    behind = world.add(Box(55, 5, 5, 5), sensor=True)
    below = world.add(Box(40, 30, 5, 5), sensor=True)
    on_the_straight_way = world.add(Box(62, 36, 5, 5), sensor=True)
    slid = world.move(player, 80, 40)
    assert (slid.x, slid.y) == (40, 40)
    assert ids(slid.crossed) == [below.id]
    assert slid.crossed[0].time == 0.5
    assert {behind.id, on_the_straight_way.id}.isdisjoint(ids(slid.crossed))
    player.move_to(0, 0)
    there_and_back = world.move(player, 80, 0, "bounce")
    assert (there_and_back.x, there_and_back.crossed) == (0, ())
    gate = world.add(Box(20, 0, 2, 10), sensor=True)
    assert [(hit.other, hit.time) for hit in world.move(player, 80, 0, "bounce").crossed] == [(gate, 0.125)]


@pytest.mark.smaller_set
def test_categories_and_masks_hold_and_tags_do_not_matter():
    world = World()
    player = world.add(Box(0, 0, 5, 5), category=1, mask=1)
    near = world.add(Box(20, 0, 5, 5), sensor=True)
    world.add(Box(20, 0, 5, 5), sensor=True, category=2)
    world.add(Box(20, 0, 5, 5), sensor=True, mask=2)
    assert ids(world.move(player, 90, 0).crossed) == [near.id]
    assert world.update() == ([], [], [])


@pytest.mark.smaller_set
@pytest.mark.parametrize("response", ["cross", lambda hit: None, lambda hit: "cross"])
def test_what_is_let_pass_is_crossed(response):
    world = World()
    calls = reported(world)
    ghost = world.add(Box(0, 0, 5, 5))
    wall = world.add(Box(20, 0, 5, 5), static=True)
    move = world.move(ghost, 90, 0, response)
    assert ids(move.crossed) == [wall.id]
    world.update()
    assert [call[:3] for call in calls] == [(0, ghost, wall), (2, ghost, wall)]


@pytest.mark.smaller_set
def test_what_blocks_is_not_crossed():
    world = World()
    calls = reported(world)
    player = world.add(Box(0, 0, 5, 5))
    world.add(Box(20, 0, 5, 5), static=True)
    world.add(Box(2, 0, 5, 5), static=True)
    assert world.move(player, 90, 0).crossed == ()
    world.update()
    assert [call[0] for call in calls] == [0]  # it begins: of the wall that stopped it, and of nothing behind


@pytest.mark.smaller_set
def test_try_move_crosses_only_where_it_moves():
    world = World()
    calls = reported(world)
    player = world.add(Box(0, 0, 5, 5))
    world.add(Box(20, 0, 5, 5), sensor=True)
    wall = world.add(Box(60, 0, 5, 5), static=True)
    assert world.try_move(player, 90, 0) is wall
    world.update()
    assert calls == []
    assert world.try_move(player, 40, 0) is None
    world.update()
    assert [call[0] for call in calls] == [0, 2]


@pytest.mark.smaller_set
def test_putting_a_body_somewhere_crosses_nothing():
    world = World()
    calls = reported(world)
    player = world.add(Box(0, 0, 5, 5))
    world.add(Box(20, 0, 5, 5), sensor=True)
    player.move_to(90, 0)
    world.update()
    world.move_all([player], [[0, 0]])
    player.x = 90
    world.update()
    assert calls == []


@pytest.mark.smaller_set
def test_a_pair_in_contact_before_and_after_stays():
    world = World()
    calls = reported(world)
    player = world.add(Box(0, 0, 5, 5))
    gate = world.add(Box(2, 0, 5, 5), sensor=True)
    world.update()
    for motion in (90, -90):
        world.move(player, motion, 0)
    world.update()
    world.move(player, 90, 0)
    world.update()
    for motion in (-200, 200, -88):  # passed twice, in it at last
        world.move(player, motion, 0)
    world.update()
    assert [call[0] for call in calls] == [0, 1, 2, 0]
    assert calls[0][1:3] == (player, gate)


@pytest.mark.smaller_set
def test_removed_and_retagged_bodies_are_not_reported():
    world = World()
    calls = reported(world, "shot", "gate")
    gate = world.add(Box(20, 0, 5, 5), tag="gate", sensor=True)
    shots = [world.add(Box(0, 0, 5, 5), tag="shot", sensor=True) for _ in range(3)]
    for shot in shots:
        assert gate.id in ids(world.move(shot, 90, 0).crossed)
    world.remove(shots[0])
    shots[1].tag = "dud"
    again = world.add(Box(200, 0, 5, 5), tag="shot", sensor=True)
    assert again.id == shots[0].id
    world.update()
    assert [call[:2] for call in calls] == [(0, shots[2]), (2, shots[2])]


@pytest.mark.smaller_set
def test_a_body_removed_in_begin_only_gets_its_end():
    world = World()
    calls = []

    def take(contact):
        calls.append("begin")
        world.remove(contact.b)

    for _ in range(2):
        world.on("player", "coin", take, end=lambda contact: calls.append("end"))
    player = world.add(Box(0, 0, 5, 5), tag="player")
    world.add(Box(20, 0, 5, 5), tag="coin", sensor=True)
    world.move(player, 90, 0)
    world.update()
    world.update()
    assert calls == ["begin", "end"]


@pytest.mark.smaller_set
@pytest.mark.parametrize("count", [1, 40])
def test_a_contact_that_ended_and_a_new_body_that_passed_with_the_same_id(count):
    world = World()
    calls = reported(world, "a", "b")
    wall = world.add(Box(20, 0, 5, 5), tag="b", sensor=True)
    old = [world.add(Box(20, 0, 5, 5), tag="a") for _ in range(count)]
    world.update()
    for body in old:
        world.remove(body)
    new = [world.add(Box(0, 0, 5, 5), tag="a") for _ in range(count)]
    assert [body.id for body in new] == [body.id for body in old]
    world.move_many(new, 90, 0)
    events = world.update()
    both = [body for pair in zip(old, new, strict=True) for body in pair]
    assert [(one.a, one.b) for one in events.began] == [(body, wall) for body in new]
    assert [(one.a, one.b) for one in events.ended] == [(body, wall) for body in both]
    assert [call[:2] for call in calls] == [(0, body) for body in old + new] + [(2, body) for body in both]


@pytest.mark.smaller_set
def test_crossings_go_back_with_a_snapshot():
    world = World()
    calls = reported(world)
    player = world.add(Box(0, 0, 5, 5))
    world.add(Box(20, 0, 5, 5), sensor=True)
    before = world.snapshot()
    world.move(player, 90, 0)
    after = world.snapshot()
    world.restore(before)
    world.update()
    assert calls == []
    world.restore(after)
    world.update()
    assert [call[0] for call in calls] == [0, 2]


@pytest.mark.smaller_set
def test_a_platform_and_its_riders_cross_sensors_too():
    world = World()
    lift = world.add(Box(0, 20, 30, 5), static=True, tag="lift")
    rider = world.add(Box(10, 10, 5, 10), tag="rider")
    coin = world.add(Box(12, -30, 2, 2), sensor=True, tag="coin")
    calls = reported(world, ANY, "coin")
    assert world.push(lift, 0, -100).carried == [rider]
    world.update()
    assert [call[:3] for call in calls] == [
        (0, lift, coin),
        (0, rider, coin),
        (2, lift, coin),
        (2, rider, coin),
    ]


# ---- many


def flat(crossed):
    return [
        (mover, other, time, *normal, *touch)
        for mover, other, time, normal, touch in zip(
            crossed.movers.tolist(),
            crossed.others.tolist(),
            crossed.times.tolist(),
            crossed.normals.tolist(),
            crossed.touches.tolist(),
            strict=True,
        )
    ]


NUMBERS = st.integers(-20, 20).map(float)
SIZES = st.integers(0, 8).map(float)
SHAPES = (
    st.builds(Box, NUMBERS, NUMBERS, SIZES, SIZES)
    | st.builds(Circle, NUMBERS, NUMBERS, SIZES)
    | st.builds(lambda x, y, s: Polygon([(x, y), (x + s + 1, y), (x, y + s + 1)]), NUMBERS, NUMBERS, SIZES)
)
RESPONSES = st.sampled_from(("slide", "touch", "cross", "bounce"))


def furnished(items):
    world = World()
    bodies = [world.add(shape, sensor=sensor, static=static) for shape, sensor, static in items]
    return world, bodies


@given(
    st.lists(
        st.tuples(st.builds(Box, NUMBERS, NUMBERS, SIZES, SIZES), st.booleans(), st.booleans()), min_size=3
    )
    | st.lists(st.tuples(SHAPES, st.booleans(), st.booleans()), min_size=3),
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=3),
    RESPONSES,
    st.booleans(),
)
def test_many_cross_what_each_would_cross_alone(items, motions, response, listening):
    (one, alone), (other, together) = furnished(items), furnished(items)
    heard = []
    for world in (one, other):
        heard.append(reported(world) if listening else [])
    expected = []
    for mover, (dx, dy) in enumerate(motions):
        move = one.move(alone[mover], dx, dy, response)
        expected += [(mover, hit.other.id, hit.time, *hit.normal, *hit.touch) for hit in move.crossed]
    dx, dy = np.array(motions).T
    moved = other.move_many(together[:3], dx, dy, response, movers_block=True)
    assert flat(moved.crossed) == expected
    for world in (one, other):
        world.update()
        world.validate()
    said = [[(phase, a.id, b.id, depth) for phase, a, b, _, depth in calls] for calls in heard]
    assert said[0] == said[1]


def calls_of(call):
    """How many functions a call calls, of Python and of C: a cost that is the same on every machine."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("how", ["move", "walk"])
def test_moving_inside_a_large_sensor_takes_few_calls(how):
    costs = []
    for room in (False, True):
        world = World()
        body = world.add(Box(0, 0, 8, 8))
        world.add_many([[20 * k, 30, 20 * k + 10, 40] for k in range(-10, 10)], static=True)
        if room:
            world.add(Box(-500, -500, 1_000, 1_000), sensor=True, static=True)
        move = getattr(world, how)
        move(body, 1, 0)
        costs.append(calls_of(lambda move=move, body=body: move(body, -1, 0)))
    assert costs[1] < 4 * costs[0], costs


@given(SHAPES, SHAPES, NUMBERS, NUMBERS)
def test_a_sensor_is_crossed_where_it_would_have_blocked(shape, other, dx, dy):
    world = World()
    body = world.add(shape)
    world.add(other, sensor=True)
    solid = World()
    mover, _ = solid.add(shape), solid.add(other)
    hits = solid.move(mover, dx, dy, "cross").hits
    crossed = world.move(body, dx, dy).crossed
    assert [(hit.time, hit.touch) for hit in crossed] == [(hit.time, hit.touch) for hit in hits[:1]]


@pytest.mark.smaller_set
def test_movers_that_do_not_block_cross_each_other_if_there_is_a_listener():
    def play(listen):
        world = World()
        if listen:
            world.on("shot", "ship")
        shots = [world.add(Box(0, y, 2, 2), tag="shot") for y in (0, 10, 50)]
        ship = world.add(Box(50, 0, 5, 20), tag="ship")
        moved = world.move_many([*shots, ship], [100, 100, 100, 0], [0, 0, 0, 100])
        return moved, world.update(), ship

    moved, events, ship = play(True)
    assert moved.crossed.movers.tolist() == [0, 1]
    assert moved.crossed.others.tolist() == [ship.id] * 2
    assert moved.crossed.times.tolist() == [0.48, 0.48]
    assert moved.crossed.tiles.tolist() == [[-1, -1]] * 2
    assert (len(events.began), len(events.ended)) == (2, 2)
    moved, events, _ = play(False)
    assert len(moved.crossed.movers) == 0
    assert events == ([], [], [])


@pytest.mark.smaller_set
def test_each_of_many_meets_those_before_it_where_they_have_come_to():
    world = World()
    world.on("a", "a")
    first, second, third = (world.add(Box(x, 0, 5, 5), tag="a") for x in (0, 40, 80))
    moved = world.move_many([first, second, third], [30, 40, -70], 0)
    # The second ends where the third is; the third then starts in it and passes the first where that is now.
    crossed = list(zip(moved.crossed.movers.tolist(), moved.crossed.others.tolist(), strict=True))
    assert crossed == [(1, third.id), (2, second.id), (2, first.id)]
